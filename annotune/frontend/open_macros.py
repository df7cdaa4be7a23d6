"""Macros that the file itself does not settle, and the conditions of ``#if`` that ask for them.

A compiler's ``-D`` may give them other values than those that annotune has read the text with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from annotune.frontend.clean import Clean, Test
from annotune.frontend.conditions import DEFINED
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
    return at <= 0 or any(test.opens < at < test.closes for test in clean.tests)


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
