"""The user's text and the places in it, and generated text put between them.

The tokens of a text: their brackets, where statements end, and what numbers and operators are
worth.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeAlias

from annotune.diagnostics import Span


class SourceText:
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


TOKEN = re.compile(
    r"[A-Za-z_$]\w*"
    r"|\.?\d(?:[eEpP][-+]|[\w.])*"
    r"|L?\"(?:\\.|[^\"\\\n])*\"|L?'(?:\\.|[^'\\\n])*'"
    r"|\.\.\.|->|\+\+|--|<<=|>>=|<<|>>|&&|\|\||##|[-+*/%<>=!&|^]=|\S"
)
IDENTIFIER = re.compile(r"[A-Za-z_$]\w*\Z")
WORD = re.compile(r"[A-Za-z_]\w*")
# More digits than any 64-bit number has, its leading zeros included.
_MOST_DIGITS = 64


# C11, 6.4.4.4.
_CHARACTER = re.compile(r"""'(?:([^'\\\n])|\\(['"?\\abfnrtv])|\\([0-7]{1,3})|\\x([0-9a-fA-F]+))'""")
_ESCAPED = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


def character(text: str) -> int | None:
    """Return the value of a C character constant, or None when `text` is none.

    Nor has one a value here of which the compiler says what it is: several characters, and what is
    no character of ASCII, whose `char` may have a sign.
    """
    match = _CHARACTER.fullmatch(text)
    if match is None:
        return None
    plain, escaped, octal, hexadecimal = match.groups()
    if octal or hexadecimal:
        value = int(octal, 8) if octal else int(hexadecimal, 16)
    else:
        value = ord(plain or _ESCAPED.get(escaped, escaped))
    return value if value < 128 else None


def integer(text: str) -> int | None:
    """Return the value of a C integer literal or character, or None when `text` is none."""
    if text.startswith("'"):
        return character(text)
    digits = text.rstrip("uUlL")
    if len(digits) > _MOST_DIGITS:
        return None
    value: int | None = None
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", digits):
        value = int(digits, 16)
    elif re.fullmatch(r"0[0-7]*", digits):
        value = int(digits, 8)
    elif re.fullmatch(r"[1-9]\d*", digits):
        value = int(digits)
    return value if value is not None and value < 1 << 64 else None


_CLOSER = {"(": ")", "[": "]", "{": "}"}
_OPENER = {closer: opener for opener, closer in _CLOSER.items()}


# A token's text, where it starts and ends, and the root and the limit that order it.
PlacedToken: TypeAlias = tuple[str, int, int, int, int]


# What stands before the operand of an operator, and what may follow it as a part of it (C11 6.5.2).
_PREFIXES = frozenset({"*", "&", "+", "-", "!", "~", "++", "--", "sizeof"})
_POSTFIXES = frozenset({"[", "(", ".", "->", "++", "--"})


class Tokens:
    """A sequence of tokens: `texts`, `starts` and `ends` hold one entry for each.

    `match` gives for a bracket the index of its partner, -1 where it has none and for
    every other token. `roots` are the places that order the tokens: their own starts, or for
    those of a macro's expansion the start of its use; `limits` are the ends of those.
    """

    def __init__(self, rows: Sequence[PlacedToken]) -> None:
        self.rows = rows
        self.texts = [row[0] for row in rows]
        self.starts = [row[1] for row in rows]
        self.ends = [row[2] for row in rows]
        self.roots = [row[3] for row in rows]
        self.limits = [row[4] for row in rows]
        self.match = self._pair()

    @classmethod
    def of(cls, text: str) -> Tokens:
        """Return the tokens of a text."""
        return cls([(found[0], *found.span(), *found.span()) for found in TOKEN.finditer(text)])

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, offset: int) -> int:
        """Return the index of the first token that stands at `offset` or after it."""
        return bisect_left(self.roots, offset)

    def sizeof_end(self, index: int) -> int:
        """Return the index of the last token of the operand of the ``sizeof`` at `index`."""
        index += 1
        while self._text(index) in _PREFIXES:
            index += 1
        index = max(index, self.match[index])
        while (after := self._text(index + 1)) in _POSTFIXES:
            index = index + 2 if after in (".", "->") else max(index + 1, self.match[index + 1])
        return index

    def statement_end(self, index: int) -> int:
        """Return the index of the last token of the statement that starts at `index`."""
        while index < len(self.texts):
            index = self.after_labels(index)
            word = self._text(index)
            if word == "{":
                return self._after_brace(index)
            if word in ("for", "while", "if", "switch"):
                index = self._after_header(index)
                if word == "if":
                    last = self.statement_end(index)
                    if self._text(last + 1) != "else":
                        return last
                    index = last + 2
            elif word == "do":
                return self._semicolon(self.statement_end(index + 1) + 1)
            else:
                return self._semicolon(index)
        return len(self.texts) - 1

    def after_labels(self, index: int) -> int:
        """Return the index behind the labels, ``case``s too, before the statement at `index`."""
        while self._text(index) == "case" or self._text(index + 1) == ":":
            choices = 0
            while index < len(self.texts) - 1 and (self.texts[index] != ":" or choices):
                choices += (self.texts[index] == "?") - (self.texts[index] == ":")
                if self.texts[index] in _CLOSER and self.match[index] >= 0:
                    index = self.match[index]
                index += 1
            index += 1
        return index

    def _text(self, index: int) -> str:
        return self.texts[index] if index < len(self.texts) else ""

    def _after_brace(self, index: int) -> int:
        closer = self.match[index]
        return closer if closer >= 0 else len(self.texts) - 1

    def _after_header(self, index: int) -> int:
        if self._text(index + 1) == "(" and self.match[index + 1] >= 0:
            return self.match[index + 1] + 1
        return index + 1

    def _semicolon(self, index: int) -> int:
        while index < len(self.texts) - 1 and self.texts[index] != ";":
            if self.texts[index] in _CLOSER and self.match[index] >= 0:
                index = self.match[index]
            index += 1
        return min(index, len(self.texts) - 1)

    def _pair(self) -> list[int]:
        partners = [-1] * len(self.texts)
        open_at: list[int] = []
        for index, text in enumerate(self.texts):
            if text in _CLOSER:
                open_at.append(index)
            elif text in _OPENER:
                opener = _OPENER[text]
                # A brace closes whatever is open inside it, so that one missing
                # parenthesis does not spoil the functions after it.
                while text == "}" and open_at and self.texts[open_at[-1]] != "{":
                    open_at.pop()
                if open_at and self.texts[open_at[-1]] == opener:
                    partners[index] = open_at[-1]
                    partners[open_at.pop()] = index
        return partners
