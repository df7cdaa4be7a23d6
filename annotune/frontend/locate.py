"""The place of a loop that a sidecar names, found without parsing."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frontend.filescope import File
from annotune.frontend.load import open_file
from annotune.frontend.messages import NO_FUNCTION, NO_LOOP
from annotune.frontend.tokens import Tokens
from annotune.frontend.toplevel import TopLevel

_NO_DEFINES: Mapping[str, str] = {}


def locate_loop(
    text: str,
    function: str,
    loop: str = "",
    occurrence: int = 1,
    path: str = "<source>",
    defines: Mapping[str, str] = _NO_DEFINES,
) -> tuple[int, int]:
    """Return the offsets at which a loop of a function starts and ends.

    `loop` is the loop's iterator, empty for any; `occurrence` counts such loops from 1 in
    text order. `defines` are macros as of ``-D``.

    Raises:
        AnnotuneError: There is no such function or loop; the help names those there are.
    """
    file = open_file(path, text, defines)
    part = next((p for p in file.parts if p.function == function), None)
    if part is None:
        known = ", ".join(p.function for p in file.parts if p.function) or "none"
        span = file.source.span(0, 1)
        raise AnnotuneError.of(NO_FUNCTION.at(span, function=function, known=known))
    found = _loops(file.tokens, part)
    matching = [index for name, index in found if loop in ("", name)]
    if not 1 <= occurrence <= len(matching):
        raise AnnotuneError.of(_no_loop(file, part, loop, occurrence))
    tokens, first = file.tokens, matching[occurrence - 1]
    return tokens.starts[first], tokens.ends[tokens.statement_end(first)]


def _loops(tokens: Tokens, part: TopLevel) -> list[tuple[str, int]]:
    """Return the iterator and the token index of each ``for`` of a function."""
    found = []
    for index in range(part.body, part.last):
        if tokens.texts[index] == "for" and tokens.texts[index + 1] == "(":
            at = index + 2
            while at < part.last and tokens.texts[at] not in ("=", ";", ")"):
                at += 1
            found.append((tokens.texts[at - 1], index))
    return found


def _no_loop(file: File, part: TopLevel, loop: str, occurrence: int) -> Diagnostic:
    known = ", ".join(name for name, _ in _loops(file.tokens, part)) or "none"
    name = part.body - 1
    while file.tokens.texts[name] != part.function:
        name -= 1
    span = file.source.span(file.tokens.starts[name], file.tokens.ends[name])
    return NO_LOOP.at(
        span, function=part.function, loop=loop or "for", occurrence=occurrence, known=known
    )
