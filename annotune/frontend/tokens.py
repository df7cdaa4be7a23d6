"""The tokens of a preprocessed file, its brackets, and where its statements end."""

from __future__ import annotations

import re
from bisect import bisect_left

_TOKEN = re.compile(
    r"[A-Za-z_$]\w*"
    r"|\.?\d(?:[eEpP][-+]|[\w.])*"
    r"|L?\"(?:\\.|[^\"\\\n])*\"|L?'(?:\\.|[^'\\\n])*'"
    r"|\.\.\.|->|\+\+|--|<<=|>>=|<<|>>|&&|\|\||[-+*/%<>=!&|^]=|\S"
)
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_OPENER = {closer: opener for opener, closer in _CLOSER.items()}


class Tokens:
    """The tokens of a text: `texts`, `starts` and `ends` hold one entry for each.

    `match` gives for a bracket the index of its partner, -1 where it has none and for
    every other token.
    """

    def __init__(self, text: str) -> None:
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        for found in _TOKEN.finditer(text):
            self.texts.append(found[0])
            self.starts.append(found.start())
            self.ends.append(found.end())
        self.match = self._pair()

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, offset: int) -> int:
        """Return the index of the first token that starts at `offset` or after it."""
        return bisect_left(self.starts, offset)

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
