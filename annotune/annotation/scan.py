"""Finds the annotations of a C text: the comments and pragmas that open and close them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from annotune.annotation.grammar import Origin, place
from annotune.annotation.messages import (
    COMMENT_NOT_CLOSED,
    MALFORMED,
    NO_PARENTHESIS,
    TEXT_AFTER,
    UNCLOSED_BRACKET,
)
from annotune.diagnostics import Diagnostic, Span

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
    start = match.start("inside")
    yield from _Annotation(text, file, match.start(), match.end(), start, inside).read()


def _in_pragma(
    match: re.Match[str], text: str, file: str
) -> Iterator[Opener | Closer | Diagnostic]:
    # The directive is one line to C: its continuations and comments are blanks here.
    inside = re.sub(r"\\(?=\r?\n)", " ", match["rest"])
    inside = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), inside, flags=re.DOTALL)
    # Orio closes with `#pragma Oiro`.
    inside = inside if inside.strip() or match["word"] == "Orio" else "end"
    start = match.start("rest")
    first = text.index("#", match.start("pragma"))
    yield from _Annotation(text, file, first, match.end(), start, inside).read()


@dataclass(frozen=True, slots=True)
class _Annotation:
    """The text of one annotation and where it stands: ``source[start:end]``."""

    source: str
    file: str
    start: int
    end: int
    inside_start: int
    inside: str

    def read(self) -> Iterator[Opener | Closer | Diagnostic]:
        match = _WORD.match(self.inside)
        assert match is not None
        keyword, name = match["keyword"], match["name"]
        rest = self.inside[match.end() :]
        if keyword == "end" or (not keyword and not name and not rest):
            if rest.strip():
                yield MALFORMED.at(self.place(match.end(), len(self.inside.rstrip())))
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
            yield NO_PARENTHESIS.at(self.place(*match.span("name")), name=name)
            close = None
        elif close is None:
            yield UNCLOSED_BRACKET.at(self.place(start, start + 1), bracket="(")
        if close is None:
            yield self.found(name, start, start, is_sound=False)
            return
        after = self.inside[close + 1 :]
        is_sound = not re.sub(r"#[^\n]*", "", after).strip()
        if not is_sound:
            first = len(self.inside) - len(after.lstrip())
            yield TEXT_AFTER.at(self.place(first, len(stripped)), name=name)
        yield self.found(name, start + 1, close, is_sound)

    def found(self, name: str, start: int, end: int, is_sound: bool) -> Opener:
        """Return the opener with the text ``inside[start:end]``."""
        origin = Origin.at(self.file, self.source, self.inside_start + start)
        text = self.inside[start:end]
        return Opener(name, text, origin, self.start, self.end, self.whole(), is_sound)

    def whole(self) -> Span:
        return place(self.file, self.source, self.start, self.end)

    def place(self, start: int, end: int) -> Span:
        at = self.inside_start
        return place(self.file, self.source, at + start, at + end)


def _closing(text: str, at: int) -> int | None:
    """Return the offset of the ')' for the '(' at `at`, outside strings and # comments."""
    depth = 0
    skipped = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*|.", re.DOTALL)
    for match in skipped.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None
