"""Macros that the file itself does not settle, and the conditions of ``#if`` that ask for them.

A compiler's ``-D`` may give them other values than those that annotune has read the text with.

Macros of which a region's text is made, where a compiler's ``-D`` may give them another one.

An integer keeps its name, and the emitted text tests its value. What else a macro stands for is in
the nest, where it is not to be seen any more.

What the file around a region says of names: which of ours it leaves free.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath

from annotune.diagnostics import AnnotuneError
from annotune.frontend.lower.names import Names
from annotune.frontend.read.filescope import Declaration, File, words_of_headers
from annotune.frontend.read.macros import STANDARD_MACROS, Expander, Macro, reached
from annotune.frontend.read.preprocess import (
    DEFINED,
    INCLUDE_LINE,
    Clean,
    Conditions,
    Range,
    Test,
    is_standard,
    without_comments,
)
from annotune.frontend.read.region_finder import ParsedFunction
from annotune.frontend.read.tokens import IDENTIFIER, TOKEN, Tokens
from annotune.frontend.types.symbols import Symbol, words_of_type
from annotune.ir.region import (
    Assertion,
    Condition,
    MacroText,
    Premise,
    Redefined,
    Surroundings,
)

# What tells a text how it is compiled; a target brings its own, and its own parallel text.
_LANGUAGES = frozenset({"_OPENMP", "_OPENACC", "__CUDACC__", "__CUDA_ARCH__", "__cplusplus"})
# Lines that make no text: annotune reads no pragma, as a compiler without its option.
_EMPTY_LINE = re.compile(
    r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|pragma)?\b(?:\\[ ]?\n|[^\n])*", re.MULTILINE
)


def is_open(clean: Clean, name: str, offset: int) -> bool:
    """Return whether something outside the file decides what a name means at `offset`.

    So it is where nothing defines it, or ``-D`` or the compiler does, or the file under an
    ``#if``, or a header of the user's, which is written anew for another size without the file's
    being touched. A macro of its body may be open still.
    """
    at, _ = in_force(clean, name, offset)
    if at <= 0 or any(test.opens < at < test.closes for test in clean.tests):
        return True
    return is_of_header(clean, name, offset)


def is_of_header(clean: Clean, name: str, offset: int) -> bool:
    """Return whether a header of the user's decides what a name means at `offset`."""
    at, _ = in_force(clean, name, offset)
    header = next((one.clean for one in clean.included if one.end == at), None)
    folder = PurePath(clean.source.path).parent
    return header is not None and not _is_settled_in(header, name, folder)


def _is_settled_in(header: Clean, name: str, folder: PurePath) -> bool:
    """Return whether a header that everybody has alike defines a name: f2c's, or one of C's own.

    None of C's is in the `folder` of the file. The test that keeps a header from being read twice
    asks nothing.
    """
    path, is_common = _is_common(header, folder)
    if is_common and path.name != "f2c.h":
        return True
    end = len(header.source.text)
    at, _ = in_force(header, name, end)
    inner = next((one.clean for one in header.included if one.end == at), None)
    if inner is not None:
        return _is_settled_in(inner, name, folder)
    if any(name in STANDARD_MACROS.get(one.name, {}) for one in header.unread):
        return True
    guard = header.tests[0] if header.tests and _is_guard(header, header.tests[0]) else None
    is_asked = any(t.opens < at < t.closes for t in header.tests if t is not guard)
    return path.name == "f2c.h" and at > 0 and not is_asked


def _is_common(header: Clean, folder: PurePath) -> tuple[PurePath, bool]:
    """Return a header's path, and whether it is f2c's or one of C's own, not in `folder`."""
    asked_for = INCLUDE_LINE.match(header.source.path)
    path = PurePath(asked_for[1] if asked_for else header.source.path)
    is_own = not asked_for and path.parent == folder
    is_c = is_standard(str(path) if asked_for else path.name) and not is_own
    return path, is_c or path.name == "f2c.h"


def _is_guard(header: Clean, test: Test) -> bool:
    """Return whether all of a header stands in ``#ifndef NAME``, ``#define NAME``."""
    first, *others = (one for one in header.directives if one.word != "include")
    is_whole = first.start == test.opens and bool(others) and others[-1].start == test.closes
    name = test.text.removeprefix("!defined").strip("() ")
    body = in_force(header, name, len(header.source.text))[1]
    return is_whole and test.text.startswith("!") and body is not None and body.body in ("", "1")


def words_reached(clean: Clean, names: Iterable[str], offset: int) -> frozenset[str]:
    """Return `names` with the identifiers in the bodies of all macros that they lead to."""

    def leads_to(name: str) -> frozenset[str]:
        macro = in_force(clean, name, offset)[1]
        return macro.names.difference(macro.parameters or ()) if macro else frozenset()

    return reached(names, leads_to)


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
    names = words_reached(clean, words, offset)
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
    names = words_reached(clean, words, test.start)
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
    if own.isdisjoint(words_reached(clean, tokens.texts, test.start)):
        return Condition(text, test.holds)
    made = Expander(clean.source, meaning).expand(tokens, 0, len(tokens) - 1)
    return Condition(" ".join(made.texts), test.holds)


_BREAKS = frozenset({";", "{", "}"})


def conditions_at(
    names: Names, start: int, end: int, erased: frozenset[str]
) -> tuple[Premise, ...]:
    """Return the conditions under which the region at `start` is what was read to its `end`.

    `erased` are macros that are gone with its text.
    """
    inside = open_conditions(names.function.file.clean, start, end)
    values = _values_read(names, start, end, erased)
    return (*inside, *values, *_branches_read(names, start), *_enumerators_read(names))


def _enumerators_read(names: Names) -> Iterator[Assertion]:
    """Yield that enumerators, and rows of arrays, are what the nest was made with."""
    scope = names.function.scope
    for name in sorted(names.used.fixed & scope.enumerators.keys()):
        if names.find(name) is None:
            spelled, value = scope.spelled(name), scope.enumerators[name]
            yield Assertion(f"{spelled} == {value}", f"{spelled} is {value}")
    yield from names.used.rows


def _values_read(names: Names, start: int, end: int, erased: frozenset[str]) -> Iterator[Condition]:
    """Yield the conditions that integers are what the nest was made with, without their names."""
    function = names.function
    file, clean = function.file, function.file.clean
    inside = words_reached(clean, words_between(file, start, end), end)
    lost = {n for n in inside if n in erased or not _keeps(file, n, start)}
    known = (s for scope in (function.scope.symbols, *names.scopes) for s in scope.values())
    meant = {symbol.name: symbol for symbol in known}
    fixed = names.used.fixed
    counted = [meant[n] for n in sorted(fixed & meant.keys())]
    lost |= words_reached(clean, fixed | words_declaring(function, counted), start)
    found = ((name, _value(file, name, start)) for name in _open(file, lost, start))
    return (Condition(f"{name} == {v}", True) for name, v in found if v is not None)


def _branches_read(names: Names, start: int) -> tuple[Condition, ...]:
    """Return the conditions under which the region's variables have the types that were read."""
    function, used = names.function, tuple(names.used.meanings.values())
    file, here = function.file, function.file.declaration(function.part)
    own = ((file.clean, s.start) for s in used if s.storage in ("parameter", "local"))
    types = words_declaring(function, used)
    found = {function.scope.spelled(s.name) for s in used if s.storage == "file"} | types
    parts = (part for name in sorted(found) for part in file.declarations_of(name, here))
    others = ((p.file.clean, p.file.tokens.starts[p.part.first]) for p in parts)
    asked = (test for clean, at in (*own, *others) for test in branches_at(clean, at))
    return tuple(dict.fromkeys(c for c in asked if may_be_asked(file.clean, c, start)))


def _texts_read(names: Names, start: int, end: int) -> tuple[MacroText, ...]:
    """Return what macros stand for that are no integers, in the region and its declarations."""
    file = names.function.file
    declared = words_declaring(names.function, names.used.meanings.values())
    everything = words_reached(file.clean, words_between(file, start, end) | declared, start)
    made = [macro_text(file, n, start) for n in _open(file, everything, start)]
    return tuple(one for one in made if one is not None)


def _open(file: File, names: Iterable[str], offset: int) -> list[str]:
    """Return those of `names` that are macros at `offset`, not settled by the file."""
    clean = file.clean
    return [
        name
        for name in sorted(names)
        if in_force(clean, name, offset)[1] is not None and is_open(clean, name, offset)
    ]


def _keeps(file: File, name: str, offset: int) -> bool:
    macro = file.clean.macro(name, offset)
    return macro is None or file.clean.keeps_to_end(name, macro)


def _value(file: File, name: str, offset: int) -> int | None:
    macro = file.clean.macro(name, offset)
    return macro.value if macro is not None else None


def words_between(file: File, start: int, end: int) -> frozenset[str]:
    """Return the words of a file's text between two offsets."""
    tokens = file.tokens
    return frozenset(filter(IDENTIFIER.match, tokens.texts[tokens.at(start) : tokens.at(end)]))


def words_declaring(
    function: ParsedFunction, symbols: Iterable[Symbol], is_alone: bool = False
) -> frozenset[str]:
    """Return the words of the declarations of variables, and of the types in these.

    Those of a parameter are all parameters', unless it `is_alone`.
    """
    file, here = function.file, function.file.declaration(function.part)
    tokens = file.tokens
    found: set[str] = set()
    for symbol in symbols:
        if symbol.storage == "file":
            found |= _words_of_declarations(file, function.scope.spelled(symbol.name), here)
        elif symbol.storage == "parameter" and is_alone:
            found |= set(_words_of_statement(tokens, tokens.at(symbol.start), _BREAKS | {",", "("}))
        elif symbol.storage == "parameter":
            # From the parameters to the body.
            header = tokens.texts[function.part.first : function.part.body]
            found.update(header[header.index("(") :] if "(" in header else header)
        else:
            found |= set(_words_of_statement(tokens, tokens.at(symbol.start)))
    return words_defining(function, found)


# What defines a type.
_DEFINING = frozenset({"typedef", "struct", "union", "enum"})


def words_defining(function: ParsedFunction, words: Iterable[str]) -> frozenset[str]:
    """Return `words` with those of the types that they name, and of the types in these."""
    file, here = function.file, function.file.declaration(function.part)
    typedefs = function.scope.types.typedefs

    def leads_to(word: str) -> set[str]:
        # The function may define one itself.
        own = words_of_type(typedefs[word]) if word in typedefs else set[str]()
        return own | _words_of_declarations(file, word, here, _DEFINING)

    return frozenset(filter(IDENTIFIER.match, reached(words, leads_to)))


def is_from_header(name: str, file: File, before: Declaration, is_type: bool = False) -> bool:
    """Return whether a header of the user's declares a name, or defines a type under it."""
    folder = PurePath(file.clean.source.path).parent
    found = (one for one in file.declarations_of(name, before) if one.file is not file)
    return any(
        not _is_common(one.file.clean, folder)[1]
        for one in found
        if not is_type or not _DEFINING.isdisjoint(one.file.words(one.part))
    )


def _words_of_declarations(
    file: File, name: str, before: Declaration, defining: frozenset[str] = frozenset()
) -> set[str]:
    parts = (found.file.words(found.part) for found in file.declarations_of(name, before))
    kept = (words for words in parts if not defining or not defining.isdisjoint(words))
    return {one for words in kept for one in words}


def _words_of_statement(tokens: Tokens, at: int, breaks: Collection[str] = _BREAKS) -> list[str]:
    """Return the tokens around one, as far as one of `breaks` that no brackets hold."""
    first = last = min(at, len(tokens) - 1)
    while first and tokens.texts[first - 1] not in breaks:
        partner = tokens.match[first - 1]
        first = partner if 0 <= partner < first - 1 else first - 1
    while last < len(tokens) and tokens.texts[last] not in breaks:
        last = max(last, tokens.match[last]) + 1
    return tokens.texts[first:last]


def macro_text(file: File, name: str, offset: int) -> MacroText | None:
    """Return what a macro that is no integer stands for at an offset, None for others."""
    clean = file.clean
    macro = clean.macro(name, offset)
    if macro is None or macro.value is not None:
        return None
    parameters = macro.parameters or ()
    if macro.is_variadic:
        parameters = (*parameters[:-1], "rest")
    use = f"{name}({', '.join(parameters)})" if macro.is_function else name

    def lookup(word: str, _: int) -> Macro | None:
        return _QUOTING.get(word) or in_force(clean, word, offset)[1]

    tokens = Tokens.of(f"{_EXPAND}({use})")
    try:
        found = Expander(clean.source, lookup).expand(tokens, 0, len(tokens) - 1)
    except AnnotuneError:
        return None
    return MacroText(use, "".join(found.texts))


# What quotes the text of its argument with all macros in it expanded.
_EXPAND, _QUOTE = "annotune_expand", "annotune_quote"
_QUOTING = {
    _EXPAND: Macro(_EXPAND, f"{_QUOTE}(__VA_ARGS__)", ("__VA_ARGS__",), is_variadic=True),
    _QUOTE: Macro(_QUOTE, "#__VA_ARGS__", ("__VA_ARGS__",), is_variadic=True),
}


# Headers that bring no text which reads ``errno``, as ``errno.h`` and others may.
_QUIET = frozenset(
    (
        *("assert.h", "complex.h", "f2c.h", "float.h", "inttypes.h", "limits.h", "math.h", "omp.h"),
        *("stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "tgmath.h"),
        "time.h",
    )
)
# What reads it: also what it is a macro for, and C's functions that print it.
_ERRORS = re.compile(r"errno|\bperror\b|%m")


def surroundings(names: Names, index: int, place: Range) -> Surroundings:
    """Return what the file says of names to region `index` of a function, at `place`."""
    function = names.function
    file = function.file
    start = file.tokens.starts[function.part.first]
    return Surroundings(
        _label(function, index),
        frozenset(file.clean.macros),
        tuple(_redefined(file.clean, start, place[0])),
        _texts_read(names, *place),
        tuple(_redefined(file.clean, len(file.source.text), place[0])),
        "register" in file.words(function.part),
        _ignores_errno(file.clean),
    )


def _ignores_errno(clean: Clean) -> bool:
    """Return whether nothing in a file or its headers reads ``errno``."""
    texts = clean.text, " ".join(words_of_headers(clean))
    return not any(map(_ERRORS.search, texts)) and {u.name for u in clean.unread} <= _QUIET


def _label(function: ParsedFunction, index: int) -> str:
    """Return what begins the names of a region's kernels and functions.

    Other files may have a static function of this name, and a region in it: the file's name
    tells the two apart. A name that the file has already is ours with ``own_`` before it.
    """
    file, part = function.file, function.part
    stem = re.sub(r"\W", "_", PurePath(file.source.path).stem, flags=re.ASCII)
    own = f"{part.function}_in_{stem}" if is_static(function) else part.function
    inside = file.plain_text(part)
    while _has(file, inside, own, index) or (
        own != part.function and file.definition(own) is not None
    ):
        own = f"own_{own}"
    return f"{own}_{index}"


def _has(file: File, inside: str, function: str, index: int) -> bool:
    """Return whether a name that a region of `function` would have means something already.

    A file may call the entry by itself. What is called so in the text `inside` of the function
    would hide it, and so would a macro.
    """
    label = f"{function}_{index}"
    entry = f"annotune_{label}"
    spelled = file.spelled
    return (
        any(spelled.beginning(f"{entry}_"))
        or any(re.match(r"\d", word[len(label) + 2 :]) for word in spelled.beginning(f"{label}_s"))
        or entry in spelled.uncalled
        or re.search(rf"\b{entry}\b", inside) is not None
        or entry in file.clean.macros
        or file.definition(entry) is not None
    )


def is_static(function: ParsedFunction) -> bool:
    """Return whether other files may define a function of this name for themselves."""
    file, declared = function.file, function.tree.decl
    if {"static", "inline"} & {*declared.storage, *declared.funcspec}:
        return True
    earlier = file.declarations_of(function.part.function, file.declaration(function.part))
    return any("static" in found.file.words(found.part) for found in earlier)


def _redefined(clean: Clean, start: int, region_start: int) -> Iterator[Redefined]:
    """Yield the names that a text at `start` must be given to see them as at `region_start`."""
    for name in sorted(clean.macros):
        (_, before), (_, here) = (in_force(clean, name, at) for at in (start, region_start))
        if before != here:
            yield Redefined(name, None if here is None else f"{here.use} {here.body}".rstrip())
