"""The place of a loop that a sidecar names, found without parsing."""

from __future__ import annotations

from annotune.annotation.messages import nearest
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frontend.filescope import File
from annotune.frontend.headers import Search
from annotune.frontend.load import open_file
from annotune.frontend.messages import NO_FUNCTION, NO_LOOP
from annotune.frontend.parse import expanded
from annotune.frontend.tokens import Tokens
from annotune.frontend.toplevel import TopLevel

_NO_SEARCH = Search()


def locate_loop(
    text: str,
    function: str,
    loop: str = "",
    occurrence: int = 1,
    path: str = "<source>",
    search: Search = _NO_SEARCH,
) -> tuple[int, int]:
    """Return the offsets at which a loop of a function starts and ends.

    `loop` is the loop's iterator, empty for any; `occurrence` counts such loops from 1 in
    text order. `search` says what the compiler is told.

    Raises:
        AnnotuneError: There is no such function or loop; the help names those there are.
    """
    file = open_file(path, text, search)
    part = next((p for p in file.parts if p.function == function), None)
    if part is None:
        names = [p.function for p in file.parts if p.function]
        known, hint = ", ".join(names) or "none", nearest(function, names)
        span = file.source.span(0, 1)
        raise AnnotuneError.of(NO_FUNCTION.at(span, function=function, known=known, hint=hint))
    # Macros make loops too; the place of such a loop is that of the macro's use.
    tokens = expanded(file.clean, file.tokens, part.first, part.last, True)
    found = _loops(tokens)
    matching = [index for name, index in found if loop in ("", name)]
    if not 1 <= occurrence <= len(matching):
        names = [name for name, _ in found]
        raise AnnotuneError.of(_no_loop(file, part, names, loop, occurrence))
    first = matching[occurrence - 1]
    return tokens.roots[first], tokens.limits[tokens.statement_end(first)]


def _loops(tokens: Tokens) -> list[tuple[str, int]]:
    """Return the iterator and the token index of each ``for`` of a function."""
    found = []
    for index in range(len(tokens) - 2):
        if tokens.texts[index] == "for" and tokens.texts[index + 1] == "(":
            at = index + 2
            while at < len(tokens) - 1 and tokens.texts[at] not in ("=", ";", ")"):
                at += 1
            found.append((tokens.texts[at - 1], index))
    return found


def _no_loop(
    file: File, part: TopLevel, names: list[str], loop: str, occurrence: int
) -> Diagnostic:
    known, hint = ", ".join(names) or "none", "" if loop in names else nearest(loop, names)
    # A name that a macro pastes together stands nowhere.
    header = range(part.first, part.body)
    name = next((i for i in header if file.tokens.texts[i] == part.function), part.first)
    span = file.source.span(file.tokens.starts[name], file.tokens.ends[name])
    shown = {"loop": loop or "for", "occurrence": occurrence, "known": known, "hint": hint}
    return NO_LOOP.at(span, function=part.function, **shown)
