"""Where a piece of annotation text comes from in the user's file.

Text to a parse tree by the grammar file, with a user's mistakes as diagnostics.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from annotune.annotation.expression import placed, tokens
from annotune.annotation.messages import (
    UNCLOSED_BRACKET,
    UNEXPECTED,
    WRONG_BRACKET,
    did_you_mean,
)
from annotune.diagnostics import AnnotuneError, Diagnostic, Span


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


Parsed: TypeAlias = Tree[Token]

_KEYWORDS = ("def", "let", "param", "arg", "constraint", "decl", "option", "import", "spec")
_PAIRS = {")": "(", "]": "[", "}": "{"}


@cache
def _parser() -> Lark:
    """Return the parser, its tables kept beside the byte code, and trusted as that is."""
    kept = str(Path(cache_from_source(__file__)).with_suffix(".tables"))
    return Lark.open(
        "annotation.lark",
        rel_to=__file__,
        start=["perf_tuning", "spec_file", "recipe"],
        parser="lalr",
        # A keyword is a keyword everywhere, so that a missing ';' before one is found.
        lexer="basic",
        propagate_positions=True,
        cache=False if sys.dont_write_bytecode else kept,
    )


def parse_tree(text: str, start: str, origin: Origin) -> Parsed:
    """Return the tree of `text`, where `start` is ``perf_tuning``, ``spec_file`` or ``recipe``.

    Raises:
        AnnotuneError: The text does not follow the grammar.
    """
    with placed(origin.span):
        mistake = _bracket_mistake(text, origin)
    if mistake is not None:
        raise AnnotuneError.of(mistake)
    try:
        return _parser().parse(text, start=start)
    except UnexpectedToken as error:
        raise AnnotuneError.of(_unexpected(text, error, origin)) from None
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        found = f"character {text[at]!r}"
        span = origin.span(at, at + 1)
        raise AnnotuneError.of(UNEXPECTED.at(span, found=found, hint="")) from None


def _bracket_mistake(text: str, origin: Origin) -> Diagnostic | None:
    """Return the first closer without its opener, else the last opener without its closer."""
    opened: list[tuple[str, int]] = []
    for token in tokens(text):
        if token.kind != "op":
            continue
        if token.text in _PAIRS.values():
            opened.append((token.text, token.start))
        elif token.text in _PAIRS:
            if not opened or opened[-1][0] != _PAIRS[token.text]:
                hint = f"'{opened[-1][0]}' is open" if opened else ""
                span = origin.span(token.start, token.end)
                return WRONG_BRACKET.at(span, bracket=token.text, hint=hint)
            opened.pop()
    if not opened:
        return None
    bracket, at = opened[-1]
    return UNCLOSED_BRACKET.at(origin.span(at, at + 1), bracket=bracket)


def _unexpected(text: str, error: UnexpectedToken, origin: Origin) -> Diagnostic:
    token = error.token
    at_end = token.type == "$END"
    # The end of the text has no place of its own: point at the last thing in it.
    start = max(0, len(text.rstrip()) - 1) if at_end else int(token.start_pos or 0)
    end = start + 1 if at_end else start + len(token)
    found = "end of the annotation" if at_end else f"'{token}'"
    hint = _hint(str(token), set(error.expected))
    return UNEXPECTED.at(origin.span(start, end), found=found, hint=hint)


def _hint(word: str, expected: set[str]) -> str:
    """Return what should stand instead of `word`, given the terminals that could."""
    keywords = [keyword for keyword in _KEYWORDS if keyword.upper() in expected]
    if keywords:
        close = did_you_mean(word, keywords)
        return close if close.startswith("did") else f"expected one of: {', '.join(keywords)}"
    if word == "=" and "LPAR" in expected:
        return "a list is written `NAME[] = [1,2,4];`"
    if "SEMICOLON" in expected and "OPERATOR" in expected:
        return "a ';' is missing before it"
    if {"COMMA", "RPAR"} <= expected:
        return "expected ',' or ')'"
    names = {
        "NAME": "a name",
        "SEMICOLON": "';'",
        "EQUAL": "'='",
        "LPAR": "'('",
        "LBRACE": "'{{'",
        "RSQB": "']'",
        "STRING": "a string",
        "NUMBER": "a number",
    }
    shown = [text.replace("{{", "{") for name, text in names.items() if name in expected]
    return f"expected {' or '.join(shown)}" if shown else ""
