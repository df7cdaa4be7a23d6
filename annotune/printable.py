"""Foreign texts as a terminal or a page shows them: nothing in them is obeyed."""

from __future__ import annotations

import unicodedata

# Control characters, reversed writing, undecodable bytes, and separators of lines.
_OBEYED = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
_WITHOUT_WIDTH = frozenset({"Mn", "Me"})


def printable(text: str) -> str:
    """Return `text` without what a terminal or a page would obey rather than show.

    Control characters, reversed writing and undecodable bytes become U+FFFD; newlines and
    tabs stay. The words of compilers, user programs and file names come through here.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or _is_shown(c) else "\ufffd" for c in text)


def one_line(text: str) -> str:
    """Return `text` printable and on one line, runs of white space made one space."""
    return printable(" ".join(text.split()))


def in_comment(text: str) -> str:
    """Return `text` so that it can stand in a C comment and never end or begin one."""
    shown = "".join(c if c == "\t" or _is_shown(c) else "\ufffd" for c in text)
    return shown.replace("*/", "* /").replace("/*", "/ *")


def cells(char: str) -> int:
    """Return how many columns of a terminal `char` takes: 2 for wide East Asian letters."""
    if unicodedata.category(char) in _WITHOUT_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _is_shown(char: str) -> bool:
    return unicodedata.category(char) not in _OBEYED
