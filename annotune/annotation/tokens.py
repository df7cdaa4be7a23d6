"""Text of the annotation language to tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from annotune.annotation.messages import MALFORMED_NUMBER, UNCLOSED_STRING, UNEXPECTED
from annotune.diagnostics import AnnotuneError, Span, Template


class ExpressionError(Exception):
    """A mistake at ``text[start:end]``; who knows the file makes a Diagnostic of it."""

    def __init__(self, template: Template, start: int, end: int, **values: object) -> None:
        super().__init__(template.code)
        self.template, self.start, self.end, self.values = template, start, end, values

    def at(self, span_of: Callable[[int, int], Span]) -> AnnotuneError:
        """Return the error to raise, where `span_of` maps two offsets to a Span."""
        return AnnotuneError.of(self.template.at(span_of(self.start, self.end), **self.values))


class Token(NamedTuple):
    """One token: kind is ``number``, ``string``, ``name``, ``op`` or ``end``."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        return f"'{self.text}'" if self.text else "the end"


_TOKEN = re.compile(
    r"(?P<skip>(?:[ \t\r\n\f\v]|\#[^\n]*)+)"
    r"|(?P<number>0[xX][A-Za-z0-9_]*|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[A-Za-z0-9_]*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>\*\*|//|==|!=|<=|>=|&&|\|\||[-+*/%<>!?:,()\[\]{};=])"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of `text`, last one of kind ``end``; raises ExpressionError."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at] in "\"'":
                line_end = (text + "\n").index("\n", at)
                raise ExpressionError(UNCLOSED_STRING, at, line_end)
            found = f"character {text[at]!r}"
            raise ExpressionError(UNEXPECTED, at, at + 1, found=found, hint="")
        kind = str(match.lastgroup)
        if kind != "skip":
            yield Token(kind, match.group(), at, match.end())
        at = match.end()
    yield Token("end", "", len(text), len(text) + 1)


def string_value(literal: str) -> str:
    """Return what a quoted string means; an unknown escape keeps its backslash."""
    return re.sub(
        r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), literal[1:-1], flags=re.DOTALL
    )


def number_value(token: Token) -> int | float:
    """Return what a number token means; raises ExpressionError for a malformed one."""
    text = token.text
    if re.fullmatch(r"0[xX][0-9A-Fa-f]{1,16}", text):
        return int(text, 16)
    if re.fullmatch(r"0+|[1-9][0-9]{0,18}", text):
        return int(text)
    if re.fullmatch(r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?", text):
        value = float(text)
        if value != float("inf"):
            return value
    hint = "integers have at most 19 digits, no suffix and no leading zero"
    raise ExpressionError(MALFORMED_NUMBER, token.start, token.end, text=text, hint=hint)
