"""The user's text and the places in it."""

from __future__ import annotations

from bisect import bisect_right

from annotune.diagnostics import Span


class Source:
    """A file as read: its path, its text, and lines and columns for offsets."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def span(self, start: int, end: int) -> Span:
        """Return the place of ``text[start:end]``, cut at the end of its first line."""
        start = min(start, len(self.text))
        line = bisect_right(self._starts, start)
        line_start = self._starts[line - 1]
        line_end = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
        # A carriage return belongs to the line's end, not to what is underlined.
        length = max(1, len(self.text[start : min(end, line_end)].rstrip("\r")))
        return Span(self.path, line, start - line_start + 1, length)

    def line_start(self, offset: int) -> int:
        """Return the offset at which the line of `offset` starts."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def indent(self, offset: int) -> str:
        """Return the white space at the start of the line of `offset`."""
        start = self.line_start(offset)
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip(" \t"))]
