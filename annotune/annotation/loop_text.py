"""The text in ``begin Loop ( … )``: Orio's transformations, and the C between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from annotune.annotation import expression as ex
from annotune.annotation.c_declarations import c_tokens
from annotune.annotation.expression import parse_expression
from annotune.annotation.messages import UNCLOSED_BRACKET, UNEXPECTED
from annotune.annotation.origin import Origin
from annotune.annotation.tokens import ExpressionError, Token, tokens
from annotune.diagnostics import AnnotuneError, Span

_TRANSFORM = re.compile(r"\btransform\b")
_HEAD = re.compile(r"\s*([A-Za-z_]\w*)?\s*", re.ASCII)
# In C text: what a `transform` could seem to stand in.
_SKIPPED = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Operand:
    """One argument of a transformation: its tree, and its name when it has one."""

    name: str
    node: ex.Node
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Transformation:
    """``transform NAME(arguments)``. `for_index` counts the ``for`` before it, from 0.

    So it is the index of the first ``for`` after it; `loop_count` says how many there are
    in the whole text.
    """

    name: str
    operands: tuple[Operand, ...]
    for_index: int
    span: Span


@dataclass(frozen=True, slots=True)
class LoopText:
    """A Loop annotation's text.

    `c_text` is the text with every transformation blanked, newlines kept: C at the offsets
    of the annotation's own text. It is all blanks where the loops stand after the annotation.
    """

    transformations: tuple[Transformation, ...]
    c_text: str

    @property
    def has_loops(self) -> bool:
        return bool(self.c_text.strip())


def read_loop_text(text: str, origin: Origin) -> LoopText:
    """Return the transformations and the C of a Loop annotation.

    Raises:
        AnnotuneError: A transformation is malformed; the C is not looked at.
    """
    found: list[Transformation] = []
    shown = _without_comments(text)
    kept: list[str] = []
    at = loops = 0
    while (match := _TRANSFORM.search(shown, at)) is not None:
        start = match.start()
        loops += sum(token.text == "for" for token in c_tokens(shown[at:start]))
        one, end = _transformation(text, shown, start, loops, origin)
        found.append(one)
        kept += [text[at:start], re.sub(r"[^\n\r]", " ", text[start:end])]
        at = end
    return LoopText(tuple(found), "".join([*kept, text[at:]]))


def _without_comments(text: str) -> str:
    """Return `text` with C's comments blanked; strings too, as no command stands in one."""
    return _SKIPPED.sub(lambda match: re.sub(r"[^\n\r]", " ", match[0]), text)


def _transformation(
    text: str, shown: str, start: int, loops: int, origin: Origin
) -> tuple[Transformation, int]:
    """Return the transformation at `start`, and the offset after its ')'."""
    index = start + len("transform")
    head = _HEAD.match(shown, index)
    assert head is not None
    name = head[1] or ""
    open_ = head.end()
    if not name or shown[open_ : open_ + 1] != "(":
        found = f"'{shown[open_ : open_ + 1].strip() or 'end'}'"
        span = origin.span(open_ if name else index, open_ + 1)
        raise AnnotuneError.of(
            UNEXPECTED.at(span, found=found, hint="write `transform NAME(argument = value)`")
        )
    close = _closing(shown, open_)
    if close is None:
        raise AnnotuneError.of(UNCLOSED_BRACKET.at(origin.span(open_, open_ + 1), bracket="("))
    span = origin.span(start, close + 1)
    operands = tuple(_operands(text[open_ + 1 : close], open_ + 1, origin))
    return Transformation(name, operands, loops, span), close + 1


def loop_iterators(c_text: str) -> list[str]:
    """Return the iterator of each ``for`` of C text, "" where it has none of its own."""
    stream = c_tokens(c_text)
    found = []
    for index, token in enumerate(stream):
        if token.text != "for":
            continue
        head = [t for t in stream[index + 1 : index + 6] if t.kind in ("name", "op")]
        equal = next((k for k, t in enumerate(head) if t.text == "="), 0)
        is_named = equal and head[equal - 1].kind == "name"
        found.append(head[equal - 1].text if is_named else "")
    return found


def _closing(text: str, at: int) -> int | None:
    depth = 0
    for index in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return None


def _operands(text: str, start: int, origin: Origin) -> Iterator[Operand]:
    """Yield the arguments in ``tile = [('i',T,'ii')], unrolljam = (['i'],[U])``."""
    try:
        stream = [token for token in tokens(text) if token.kind != "end"]
        for first, last in _parts(stream):
            name = ""
            if last - first > 2 and stream[first].kind == "name" and stream[first + 1].text == "=":
                name = stream[first].text
                first += 2
            begin, end = stream[first].start, stream[last - 1].end
            try:
                node = parse_expression(text[begin:end])
            except ExpressionError as error:
                raise error.at(
                    lambda a, b, begin=begin: origin.span(start + begin + a, start + begin + b)  # type: ignore[misc]  # binds the loop's value
                ) from None
            yield Operand(name, node, text[begin:end], origin.span(start + begin, start + end))
    except ExpressionError as error:
        raise error.at(lambda a, b: origin.span(start + a, start + b)) from None


def _parts(stream: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield the first and last-but-one index of each part between commas of the outer level."""
    depth = first = 0
    for index, token in enumerate(stream):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            if index > first:
                yield first, index
            first = index + 1
    if first < len(stream):
        yield first, len(stream)
