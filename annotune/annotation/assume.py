"""``def assume``: what the user vouches for, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from annotune.annotation import expression as ex
from annotune.annotation.expression import ExpressionError, Node, parse_expression
from annotune.annotation.messages import UNKNOWN_ASSUMPTION, WRONG_ASSUMPTION, did_you_mean
from annotune.annotation.spec import Assumptions, Value
from annotune.diagnostics import AnnotuneError, Span

ASSUMPTIONS = ("disjoint", "extent", "finite", "pure", "strides", "whole")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_EXTENT = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:\[[^\[\]]+\]\s*)+)", re.ASCII)


def assumptions(arguments: Mapping[str, Value], spans: Mapping[str, Span]) -> Assumptions:
    """Return what the ``arg`` statements of ``def assume`` say; `spans` are their places.

    Raises:
        AnnotuneError: An assumption is unknown, or a name in one is no name of C.
    """
    for name in arguments:
        if name not in ASSUMPTIONS:
            hint = did_you_mean(name, ASSUMPTIONS)
            raise AnnotuneError.of(UNKNOWN_ASSUMPTION.at(spans[name], name=name, hint=hint))
    reader = _Reader(arguments, spans)
    return Assumptions(
        reader.truth("disjoint"),
        reader.truth("strides"),
        reader.names("pure"),
        reader.extents(),
        reader.truth("finite"),
        reader.truth("whole"),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    arguments: Mapping[str, Value]
    spans: Mapping[str, Span]

    def wrong(self, name: str, wanted: str, hint: str) -> AnnotuneError:
        span = self.spans[name]
        return AnnotuneError.of(WRONG_ASSUMPTION.at(span, name=name, wanted=wanted, hint=hint))

    def truth(self, name: str) -> bool:
        value = self.arguments.get(name, False)
        if not isinstance(value, bool):
            raise self.wrong(name, "True or False", f"write `arg {name} = True;`")
        return value

    def texts(self, name: str, example: str) -> tuple[str, ...]:
        value = self.arguments.get(name, ())
        items = value if isinstance(value, tuple) else (value,)
        texts = tuple(item for item in items if isinstance(item, str))
        if len(texts) < len(items):
            raise self.wrong(name, "a list of strings", f"write `arg {name} = {example};`")
        return texts

    def names(self, name: str) -> tuple[str, ...]:
        found = self.texts(name, "['f']")
        for text in found:
            if not _NAME.fullmatch(text):
                raise self.wrong(name, "a list of functions' names", f"'{text}' is no name of C")
        return found

    def extents(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for text in self.texts("extent", "['x[n]']"):
            match = _EXTENT.fullmatch(text)
            extents = re.findall(r"\[([^\[\]]+)\]", match[2]) if match else []
            if match is None or not all(map(is_c_size, extents)):
                hint = f"'{text}' is not like 'x[n]' or 'x[n][2*m+1]'"
                raise self.wrong("extent", "a list of arrays with their extents", hint)
            found[match[1]] = tuple(extent.strip() for extent in extents)
        return found


def is_c_size(text: str) -> bool:
    """Return whether `text` is arithmetic of names and whole numbers, as C writes it too."""
    # A comment of the annotation language is a directive in C, and a newline may begin one.
    if not text.isprintable() or "#" in text:
        return False
    try:
        return _is_size(parse_expression(text))
    except ExpressionError:
        return False


def _is_size(node: Node) -> bool:
    match node:
        case ex.Literal(value):
            return type(value) is int
        case ex.Name():
            return True
        case ex.Unary("-" | "+", operand):
            return _is_size(operand)
        case ex.Binary("+" | "-" | "*" | "/" | "%", left, right):
            return _is_size(left) and _is_size(right)
        case _:
            return False
