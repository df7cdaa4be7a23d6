"""A text of C, C++ or CUDA as the tokens that a mistake may change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
  | (?P<pragma>^[ \t]*\#[ \t]*pragma[ \t]+(?:omp|acc)\b(?:\\\n|[^\n])*)
  | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<sign><<<|>>>|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|[^\sA-Za-z_0-9])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its place: `kind` is ``name``, ``number``, ``sign``, ``string`` or ``pragma``."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens(text: str) -> list[Token]:
    """Return the tokens of `text` without comments and other directives than pragmas."""
    return [
        Token(match.lastgroup or "", match.group(), match.start())
        for match in _TOKEN.finditer(text)
        if match.lastgroup not in ("comment", "directive")
    ]


def closing(found: Sequence[Token], opening: int) -> int:
    """Return the number of the token that closes the bracket at `opening`."""
    depth = 0
    for number in range(opening, len(found)):
        if found[number].kind == "sign":
            depth += (found[number].text in _OPENING) - (found[number].text in _OPENING.values())
        if depth == 0:
            return number
    raise ValueError(f"'{found[opening].text}' at {found[opening].start} is never closed")


def calls(found: Sequence[Token], *names: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the brackets around the arguments of each call of `names`."""
    for number, token in enumerate(found[:-1]):
        if token.kind == "name" and token.text in names and found[number + 1].text == "(":
            yield number + 1, closing(found, number + 1)


def parts(found: Sequence[Token], first: int, last: int, between: str) -> list[tuple[int, int]]:
    """Return the ranges of tokens from `first` up to `last` that `between` separates."""
    out, depth, start = [], 0, first
    for number in range(first, last):
        text = found[number].text
        if depth == 0 and text == between:
            out.append((start, number))
            start = number + 1
        depth += (text in _OPENING) - (text in _OPENING.values())
    return [*out, (start, last)]
