"""The annotations of a C text, and their texts' trees by the grammar file, each at its place."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import field, replace
from functools import lru_cache
from typing import TypeAlias

from lark import Token, Tree
from lark.exceptions import UnexpectedToken

from annotune.annotation.expressions import ExpressionError, Lexeme, grammar, lexemes, placed
from annotune.annotation.messages import (
    COMMENT_NOT_CLOSED,
    MALFORMED,
    NO_PARENTHESIS,
    TEXT_AFTER,
    UNCLOSED_BRACKET,
    UNEXPECTED,
    WRONG_BRACKET,
    did_you_mean,
)
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """Maps offsets of a text to places of the file it was taken from.

    `pieces` are pairs (offset of the text, offset of `source`), rising in both: from there
    on, text and source run alike. A text that is not a copy of the source, such as an
    escaped YAML scalar, has `whole`, the one place for all of it. `start` is where in that text
    the offsets begin that are asked for.
    """

    file: str
    source: str = field(repr=False)
    pieces: tuple[tuple[int, int], ...] = ((0, 0),)
    whole: Span | None = None
    start: int = 0

    @classmethod
    def at(cls, file: str, source: str, offset: int = 0) -> Origin:
        """Return the origin of a text that stands in `source` at `offset`."""
        return cls(file, source, ((0, offset),))

    def part(self, start: int) -> Origin:
        """Return the origin of the part of the text that begins at `start`."""
        return replace(self, start=self.start + start)

    def span(self, start: int, end: int | None = None) -> Span:
        """Return the place of ``text[start:end]``, cut at the end of its first line."""
        if self.whole is not None:
            return self.whole
        first = self.offset(start)
        last = self.offset(end - 1) + 1 if end is not None and end > start else first + 1
        return place(self.file, self.source, first, last)

    def offset(self, offset: int) -> int:
        """Return where the text's `offset` stands in `source`; not for a `whole` origin."""
        offset += self.start
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


# Everything in which an annotation could seem to stand comes first, so that it is skipped.
_PIECE = re.compile(
    r'"(?:\\.|\\\r?\n|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'"
    r"|//(?:\\\r?\n|[^\n])*"
    r"|(?P<comment>/\*(?P<at>@?)(?P<inside>.*?)(?P<end>\*/|\Z))"
    r"|(?P<pragma>(?:(?<=\n)|\A)[ \t]*\#[ \t]*pragma[ \t]+(?P<word>Orio|Oiro)\b"
    r"(?P<rest>(?:\\\r?\n|[^\n])*))",
    re.DOTALL,
)
_WORD = re.compile(r"\s*(?:(?P<keyword>begin|end)\b\s*)?(?P<name>[A-Za-z_]\w*)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Opener:
    """``begin NAME ( text )``; `start` and `end` bound the whole comment or pragma.

    One whose text could not be told is not sound; its closer is still expected.
    """

    name: str
    text: str
    origin: Origin
    start: int
    end: int
    span: Span
    is_sound: bool = True


@dataclass(frozen=True, slots=True)
class Closer:
    """``end`` or ``end NAME``."""

    name: str
    start: int
    end: int
    span: Span


def annotations_of(text: str, file: str) -> Iterator[Opener | Closer | Diagnostic]:
    """Yield the annotations of `text` in its order, and what is malformed in them."""
    for match in _PIECE.finditer(text):
        if match["comment"] is not None:
            yield from _in_comment(match, text, file)
        elif match["pragma"] is not None:
            yield from _in_pragma(match, text, file)


def _in_comment(
    match: re.Match[str], text: str, file: str
) -> Iterator[Opener | Closer | Diagnostic]:
    """Yield the annotation in a comment; none in a plain comment or one of other tools."""
    inside, closer = match["inside"], match["end"]
    ours = re.match(r"\s*(begin|end)\b", inside)
    if not match["at"] or not (ours or (inside.endswith("@") and closer)):
        return
    if not closer:
        # It runs to the end of the file; its beginning is the better place.
        at = match.start()
        yield COMMENT_NOT_CLOSED.at(place(file, text, at, at + len("/*@")))
        return
    if not inside.endswith("@"):
        at = match.end() - len(closer)
        yield COMMENT_NOT_CLOSED.at(place(file, text, at, match.end()))
    inside = inside.removesuffix("@")
    origin = Origin.at(file, text, match.start("inside"))
    yield from _Annotation(inside, origin, match.start(), match.end()).read()


def _in_pragma(
    match: re.Match[str], text: str, file: str
) -> Iterator[Opener | Closer | Diagnostic]:
    # The directive is one line to C: its continuations and comments are blanks here.
    inside = re.sub(r"\\(?=\r?\n)", " ", match["rest"])
    inside = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), inside, flags=re.DOTALL)
    # Orio closes with `#pragma Oiro`.
    inside = inside if inside.strip() or match["word"] == "Orio" else "end"
    origin = Origin.at(file, text, match.start("rest"))
    first = text.index("#", match.start("pragma"))
    yield from _Annotation(inside, origin, first, match.end()).read()


@dataclass(frozen=True, slots=True)
class _Annotation:
    """The text in one annotation, which takes ``source[start:end]`` of the file in `origin`."""

    inside: str
    origin: Origin
    start: int
    end: int

    def read(self) -> Iterator[Opener | Closer | Diagnostic]:
        match = _WORD.match(self.inside)
        assert match is not None
        keyword, name = match["keyword"], match["name"]
        rest = self.inside[match.end() :]
        if keyword == "end" or (not keyword and not name and not rest):
            if rest.strip():
                yield MALFORMED.at(self.origin.span(match.end(), len(self.inside.rstrip())))
            yield Closer(name or "", self.start, self.end, self.whole())
        elif not name:
            yield MALFORMED.at(self.whole())
        else:
            yield from self.opener(name, match)

    def opener(self, name: str, match: re.Match[str]) -> Iterator[Opener | Diagnostic]:
        """Yield the opener, whose text is in brackets from the end of `match` on."""
        start = match.end()
        stripped = self.inside.rstrip()
        close = _closing(self.inside, start)
        if close is None and stripped.endswith(")") and len(stripped) > start + 1:
            # The last ')' is the annotation's own; what is open inside is found later.
            close = len(stripped) - 1
        if not self.inside.startswith("(", start):
            yield NO_PARENTHESIS.at(self.origin.span(*match.span("name")), name=name)
            close = None
        elif close is None:
            yield UNCLOSED_BRACKET.at(self.origin.span(start), bracket="(")
        if close is None:
            yield self.found(name, start, start, is_sound=False)
            return
        after = self.inside[close + 1 :]
        is_sound = not re.sub(r"#[^\n]*", "", after).strip()
        if not is_sound:
            first = len(self.inside) - len(after.lstrip())
            yield TEXT_AFTER.at(self.origin.span(first, len(stripped)), name=name)
        yield self.found(name, start + 1, close, is_sound)

    def found(self, name: str, start: int, end: int, is_sound: bool) -> Opener:
        """Return the opener with the text ``inside[start:end]``."""
        text, origin = self.inside[start:end], self.origin.part(start)
        return Opener(name, text, origin, self.start, self.end, self.whole(), is_sound)

    def whole(self) -> Span:
        return place(self.origin.file, self.origin.source, self.start, self.end)


def _closing(text: str, at: int) -> int | None:
    """Return the offset of the ')' for the '(' at `at`, outside strings and # comments."""
    depth = 0
    skipped = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*|.", re.DOTALL)
    for match in skipped.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None


Parsed: TypeAlias = Tree[Token]

_KEYWORDS = ("def", "let", "param", "arg", "constraint", "decl", "option", "import", "spec")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def parse_tree(text: str, start: str, origin: Origin) -> Parsed:
    """Return the tree of `text`, where `start` is ``perf_tuning``, ``spec_file``, ``recipe`` or
    ``data``.

    Raises:
        AnnotuneError: The text does not follow the grammar.
    """
    with placed(origin.span):
        _refuse_brackets(text)
    try:
        return grammar().parse(text, start=start)
    except UnexpectedToken as error:
        raise AnnotuneError.of(_unexpected(text, error, origin)) from None


def _refuse_brackets(text: str) -> None:
    """Refuse the first closer without its opener, else the last opener without its closer."""
    opened: list[Lexeme] = []
    for token in lexemes(text):
        if token.kind != "op":
            continue
        if token.text in _PAIRS.values():
            opened.append(token)
        elif token.text in _PAIRS:
            if not opened or opened[-1].text != _PAIRS[token.text]:
                hint = f"'{opened[-1].text}' is open" if opened else ""
                raise ExpressionError(WRONG_BRACKET, token, bracket=token.text, hint=hint)
            opened.pop()
    if opened:
        raise ExpressionError(UNCLOSED_BRACKET, opened[-1], bracket=opened[-1].text)


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
        "LBRACE": "'{'",
        "RSQB": "']'",
        "STRING": "a string",
        "NUMBER": "a number",
    }
    shown = [text for name, text in names.items() if name in expected]
    return f"expected {' or '.join(shown)}" if shown else ""
