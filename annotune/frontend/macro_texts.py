"""Macros of which a region's text is made, where a compiler's ``-D`` may give them another one.

An integer keeps its name, and the emitted text tests its value. What else a macro stands for is in
the nest, where it is not to be seen any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotune.diagnostics import AnnotuneError
from annotune.frontend.expand import Expander
from annotune.frontend.filescope import Declaration, File
from annotune.frontend.macro import Macro
from annotune.frontend.names import Names
from annotune.frontend.open_macros import branches_at, in_force, is_open, may_be_asked, reached
from annotune.frontend.region_finder import Function
from annotune.frontend.symbols import Symbol
from annotune.frontend.tokens import IDENTIFIER, Tokens
from annotune.frontend.toplevel import TopLevel
from annotune.ir.region import Condition, MacroText

_BREAKS = frozenset({";", "{", "}"})


def values_read(
    names: Names, function: Function, start: int, end: int, erased: frozenset[str]
) -> tuple[Condition, ...]:
    """Return the conditions that integers are what the nest was made with, without their names.

    `erased` are macros that are gone with the region between `start` and `end`.
    """
    clean = names.file.clean
    inside = reached(clean, _words_between(names.file, start, end), end)
    lost = {n for n in inside if n in erased or not _keeps(names.file, n, start)}
    known = (s for scope in (names.file_scope.symbols, *names.scopes) for s in scope.values())
    meant = {symbol.name: symbol for symbol in known}
    counted = [meant[n] for n in sorted(names.fixed & meant.keys())]
    lost |= reached(clean, names.fixed | _words_of(names.file, function, counted), start)
    found = ((name, _value(names.file, name, start)) for name in _open(names.file, lost, start))
    return tuple(Condition(f"{name} == {v}", True) for name, v in found if v is not None)


def branches_read(names: Names, function: Function, start: int) -> tuple[Condition, ...]:
    """Return the conditions under which the region's variables have the types that were read."""
    file, used = names.file, tuple(names.meanings.values())
    here = _start(file, function.part)
    own = ((file.clean, s.start) for s in used if s.storage in ("parameter", "local"))
    types = _words_of(file, function, used)
    found = {s.name for s in used if s.storage == "file"} | types
    parts = (part for name in sorted(found) for part in file.declarations_of(name, here))
    others = ((p.file.clean, p.file.tokens.starts[p.part.first]) for p in parts)
    asked = (test for clean, at in (*own, *others) for test in branches_at(clean, at))
    return tuple(dict.fromkeys(c for c in asked if may_be_asked(file.clean, c, start)))


def texts_read(names: Names, function: Function, start: int, end: int) -> tuple[MacroText, ...]:
    """Return what macros stand for that are no integers, in the region and its declarations."""
    file = names.file
    words = _words_between(file, start, end) | _words_of(file, function, names.meanings.values())
    everything = reached(file.clean, words, start)
    made = [_macro_text(file, n, start) for n in _open(file, everything, start)]
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


def _words_between(file: File, start: int, end: int) -> frozenset[str]:
    tokens = file.tokens
    return frozenset(filter(IDENTIFIER.match, tokens.texts[tokens.at(start) : tokens.at(end)]))


def _words_of(file: File, function: Function, symbols: Iterable[Symbol]) -> frozenset[str]:
    """Return the words of the declarations of variables, and of the types in these."""
    tokens, here = file.tokens, _start(file, function.part)
    found: set[str] = set()
    for symbol in symbols:
        if symbol.storage == "file":
            found |= _declared(file, symbol.name, here)
        elif symbol.storage == "parameter":
            found |= set(_parameters(file, function))
        else:
            found |= set(_statement(tokens, tokens.at(symbol.start)))
    waiting = list(found)
    while waiting:
        more = _declared(file, waiting.pop(), here, "typedef") - found
        found |= more
        waiting += more
    return frozenset(filter(IDENTIFIER.match, found))


def _start(file: File, part: TopLevel) -> Declaration:
    """Return a function as what other declarations stand before."""
    return Declaration(file, part, (file.tokens.starts[part.first],), None)


def _declared(file: File, name: str, before: Declaration, word: str = "") -> set[str]:
    """Return the words of what may declare a name, where `word` is among them."""
    parts = (found.file.words(found.part) for found in file.declarations_of(name, before))
    return {one for words in parts if not word or word in words for one in words}


def _parameters(file: File, function: Function) -> Iterator[str]:
    """Yield the tokens from a function's parameters to its body."""
    texts, part = file.tokens.texts, function.part
    header = texts[part.first : part.body]
    yield from header[header.index("(") :] if "(" in header else header


def _statement(tokens: Tokens, at: int) -> list[str]:
    """Return the tokens of the declaration around a token."""
    first = last = min(at, len(tokens) - 1)
    while first and tokens.texts[first - 1] not in _BREAKS:
        first -= 1
    while last < len(tokens) and tokens.texts[last] not in _BREAKS:
        last += 1
    return tokens.texts[first:last]


def _macro_text(file: File, name: str, offset: int) -> MacroText | None:
    """Return what a macro stands for at `offset`, None where that is an integer."""
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
