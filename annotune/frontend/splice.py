"""Generated text put between the offsets of a user's file."""

from __future__ import annotations

from collections.abc import Sequence

Replacement = tuple[int, int, str]


def splice(text: str, replacements: Sequence[Replacement]) -> str:
    """Return `text` with each ``text[start:end]`` replaced by its new text.

    Everything outside the replacements is unchanged; new text takes the file's newlines.
    Insertions at one place keep the order in which they are given.

    Raises:
        ValueError: Two replacements overlap, or one lies outside the text.
    """
    newline = newline_of(text)
    parts, at = [], 0
    for start, end, new in sorted(replacements, key=lambda r: (r[0], r[1])):
        if not at <= start <= end <= len(text):
            raise ValueError(f"replacement {start}..{end} overlaps or leaves the text")
        parts += [text[at:start], new.replace("\r\n", "\n").replace("\n", newline)]
        at = end
    return "".join([*parts, text[at:]])


def newline_of(text: str) -> str:
    """Return how most lines of `text` end: CR LF or LF."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf * 2 > text.count("\n") else "\n"
