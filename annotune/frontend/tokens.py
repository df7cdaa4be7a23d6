"""The tokens of a text, their brackets, and where statements end."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

TOKEN = re.compile(
    r"[A-Za-z_$]\w*"
    r"|\.?\d(?:[eEpP][-+]|[\w.])*"
    r"|L?\"(?:\\.|[^\"\\\n])*\"|L?'(?:\\.|[^'\\\n])*'"
    r"|\.\.\.|->|\+\+|--|<<=|>>=|<<|>>|&&|\|\||##|[-+*/%<>=!&|^]=|\S"
)
IDENTIFIER = re.compile(r"[A-Za-z_$]\w*\Z")
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_OPENER = {closer: opener for opener, closer in _CLOSER.items()}


class Tokens:
    """A sequence of tokens: `texts`, `starts` and `ends` hold one entry for each.

    `match` gives for a bracket the index of its partner, -1 where it has none and for
    every other token. `roots` are the places that order the tokens: their own starts, or for
    those of a macro's expansion the start of its use; `limits` are the ends of those.
    """

    def __init__(
        self,
        texts: list[str],
        starts: list[int],
        ends: list[int],
        roots: Sequence[int] = (),
        limits: Sequence[int] = (),
    ) -> None:
        self.texts = texts
        self.starts = starts
        self.ends = ends
        self.roots = roots or starts
        self.limits = limits or ends
        self.match = self._pair()

    @classmethod
    def of(cls, text: str) -> Tokens:
        """Return the tokens of a text."""
        found = list(TOKEN.finditer(text))
        return cls([f[0] for f in found], [f.start() for f in found], [f.end() for f in found])

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, offset: int) -> int:
        """Return the index of the first token that stands at `offset` or after it."""
        return bisect_left(self.roots, offset)

    def statement_end(self, index: int) -> int:
        """Return the index of the last token of the statement that starts at `index`."""
        while index < len(self.texts):
            word = self.texts[index]
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

    def _text(self, index: int) -> str:
        return self.texts[index] if index < len(self.texts) else ""

    def _after_brace(self, index: int) -> int:
        closer = self.match[index]
        return closer if closer >= 0 else len(self.texts) - 1

    def _after_header(self, index: int) -> int:
        """Return the index of the first token of the body of ``for (…)`` at `index`."""
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
