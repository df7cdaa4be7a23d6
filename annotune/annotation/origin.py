"""Where a piece of annotation text comes from in the user's file."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import lru_cache

from annotune.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Origin:
    """Maps offsets of a text to places of the file it was taken from.

    `pieces` are pairs (offset of the text, offset of `source`), rising in both: from there
    on, text and source run alike. A text that is not a copy of the source, such as an
    escaped YAML scalar, has `whole`, the one place for all of it.
    """

    file: str
    source: str = field(repr=False)
    pieces: tuple[tuple[int, int], ...] = ((0, 0),)
    whole: Span | None = None

    @classmethod
    def at(cls, file: str, source: str, offset: int = 0) -> Origin:
        """Return the origin of a text that stands in `source` at `offset`."""
        return cls(file, source, ((0, offset),))

    def span(self, start: int, end: int | None = None) -> Span:
        """Return the place of ``text[start:end]``, cut at the end of its first line."""
        if self.whole is not None:
            return self.whole
        first = self.offset(start)
        last = self.offset(end - 1) + 1 if end is not None and end > start else first + 1
        return place(self.file, self.source, first, last)

    def offset(self, offset: int) -> int:
        """Return where the text's `offset` stands in `source`; not for a `whole` origin."""
        index = max(0, bisect_right(self.pieces, offset, key=lambda piece: piece[0]) - 1)
        text, source = self.pieces[index]
        return source + offset - text


def place(file: str, source: str, start: int, end: int) -> Span:
    """Return the Span of ``source[start:end]``, cut at the end of its first line."""
    start = max(0, min(start, len(source)))
    line_start = source.rfind("\n", 0, start) + 1
    line_end = source.find("\n", start)
    end = min(end, len(source) if line_end < 0 else line_end)
    # A carriage return belongs to the line's end, not to the text that is underlined.
    length = len(source[start:end].rstrip("\r"))
    line = bisect_left(_newlines(source), start) + 1
    return Span(file, line, start - line_start + 1, max(1, length))


@lru_cache(maxsize=4)
def _newlines(source: str) -> tuple[int, ...]:
    """Return where the lines of a text end; a file of many annotations asks for each of them."""
    return tuple(found.start() for found in re.finditer("\n", source))
