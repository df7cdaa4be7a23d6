"""Macros that the file itself does not settle, and the conditions of ``#if`` that ask for them.

A compiler's ``-D`` may give them other values than those that annotune has read the text with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from annotune.frontend.clean import Clean, Test
from annotune.frontend.conditions import DEFINED, Conditions
from annotune.frontend.expand import Expander
from annotune.frontend.macro import Macro, body_words
from annotune.frontend.preprocess import without_comments
from annotune.frontend.tokens import IDENTIFIER, TOKEN, Tokens
from annotune.ir.region import Condition

# What tells a text how it is compiled; a target brings its own, and its own parallel text.
_LANGUAGES = frozenset({"_OPENMP", "_OPENACC", "__CUDACC__", "__CUDA_ARCH__", "__cplusplus"})
# Lines that make no text: annotune reads no pragma, as a compiler without its option.
_EMPTY_LINE = re.compile(
    r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|pragma)?\b(?:\\[ ]?\n|[^\n])*", re.MULTILINE
)


def is_open(clean: Clean, name: str, offset: int) -> bool:
    """Return whether something outside the file decides what a name means at `offset`.

    So it is where nothing defines it, or ``-D`` or the compiler does, or the file under an
    ``#if``. A macro of its body may be open still.
    """
    at, _ = in_force(clean, name, offset)
    if at <= 0 or any(test.opens < at < test.closes for test in clean.tests):
        return True
    header = next((one.clean for one in clean.included if one.end == at), None)
    return header is not None and _is_open_in(header, name)


def _is_open_in(header: Clean, name: str) -> bool:
    """Return whether a header lets ``-D`` decide what a name means after it.

    The test that keeps a header from being read twice asks nothing.
    """
    text = header.source.text
    guard = header.tests[0] if header.tests and _is_guard(header, header.tests[0]) else None
    own = replace(header, tests=tuple(test for test in header.tests if test is not guard))
    return in_force(header, name, len(text))[0] > 0 and is_open(own, name, len(text))


def _is_guard(header: Clean, test: Test) -> bool:
    """Return whether all of a header stands in ``#ifndef NAME``, ``#define NAME``."""
    first, *others = (one for one in header.directives if one.word != "include")
    is_whole = first.start == test.opens and bool(others) and others[-1].start == test.closes
    name = test.text.removeprefix("!defined").strip("() ")
    body = in_force(header, name, len(header.source.text))[1]
    return is_whole and test.text.startswith("!") and body is not None and body.body in ("", "1")


def reached(clean: Clean, names: Iterable[str], offset: int) -> frozenset[str]:
    """Return `names` with the identifiers in the bodies of all macros that they lead to."""
    found = set(names)
    waiting = list(found)
    while waiting:
        macro = in_force(clean, waiting.pop(), offset)[1]
        if macro is None:
            continue
        words = {word for word, _ in body_words(macro.body) if IDENTIFIER.match(word)}
        more = words - set(macro.parameters or ()) - found
        found |= more
        waiting += more
    return frozenset(found)


def in_force(clean: Clean, name: str, offset: int) -> tuple[int, Macro | None]:
    """Return the meaning of a name and the offset that gave it; -1 for what nothing defines."""
    given = [(at, macro) for at, macro in clean.macros.get(name, ()) if at <= offset]
    return given[-1] if given else (-1, None)


def open_conditions(clean: Clean, start: int, end: int) -> tuple[Condition, ...]:
    """Return the conditions between two offsets that may be decided otherwise at `start`.

    What the text between them defines is gone there, and stands expanded.
    """
    tests = [test for test in clean.tests if start <= test.start < end]
    text = without_comments(clean.source) if tests else ""
    found = (
        _condition(clean, test, start)
        for test in tests
        if _EMPTY_LINE.sub("", text[test.opens : test.closes]).strip()
    )
    return tuple(dict.fromkeys(condition for condition in found if condition is not None))


def branches_at(clean: Clean, offset: int) -> Iterator[Condition]:
    """Yield the conditions that made the text at `offset` one to be read."""
    for number, test in enumerate(clean.tests):
        is_guard = number == 0 and clean.directives[:1] and _is_guard(clean, test)
        if test.opens < offset < test.closes and not is_guard:
            yield Condition(test.text, test.holds)


def may_be_asked(clean: Clean, condition: Condition, offset: int) -> bool:
    """Return whether a condition is open at `offset` of a file, and holds there as it did."""
    words = {word for word in TOKEN.findall(condition.text) if IDENTIFIER.match(word)} - {"defined"}
    names = reached(clean, words, offset)
    if names & _LANGUAGES or not any(is_open(clean, name, offset) for name in names):
        return False
    found = Conditions(
        clean.source,
        lambda name: clean.macro(name, offset),
        lambda name: macro.value if (macro := clean.macro(name, offset)) else None,
    ).decide("if", condition.text)
    return found.value is not None and bool(found.value) == condition.holds


def _condition(clean: Clean, test: Test, start: int) -> Condition | None:
    """Return a test as it may be asked at `start`, None where its outcome is settled."""
    words = {word for word in TOKEN.findall(test.text) if IDENTIFIER.match(word)} - {"defined"}
    names = reached(clean, words, test.start)
    inner = {name for name in names if in_force(clean, name, test.start)[0] >= start}
    own = inner | (_LANGUAGES & names)
    if not any(is_open(clean, name, test.start) for name in names - own):
        return None

    def defined(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        is_there = in_force(clean, name, test.start)[1] is not None
        return str(int(is_there)) if name in own else found[0]

    def meaning(name: str, _: int) -> Macro | None:
        if name not in own:
            return None
        return in_force(clean, name, test.start)[1] or Macro(name, "0")

    text = DEFINED.sub(defined, test.text)
    tokens = Tokens.of(text)
    if own.isdisjoint(reached(clean, tokens.texts, test.start)):
        return Condition(text, test.holds)
    made = Expander(clean.source, meaning).expand(tokens, 0, len(tokens) - 1)
    return Condition(" ".join(made.texts), test.holds)
