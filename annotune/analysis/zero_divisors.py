"""Integer divisions by what is 0 at the region's sizes: C gives them no value (6.5.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotune.analysis.messages import DIVIDES_BY_ZERO
from annotune.analysis.model import all_known_sizes
from annotune.analysis.named import value_at
from annotune.diagnostics import Diagnostic, Span
from annotune.ir.c_types import is_integer_type
from annotune.ir.expr import (
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    children,
)
from annotune.ir.functions import is_integer
from annotune.ir.nest import Assign, Loop, Stmt
from annotune.ir.region import Region
from annotune.ir.text import print_expr


def zero_divisors(region: Region) -> list[Diagnostic]:
    """Return a refusal for each bound, subscript and value that surely divides by 0.

    What stands behind a condition may never be computed.
    """
    finder = _Finder(region)
    found = finder.statements(region.nest.body)
    return list(dict.fromkeys(found))


class _Finder:
    def __init__(self, region: Region) -> None:
        self.region = region
        self.sizes: Mapping[str, int] = all_known_sizes(region)
        written = {a.target.name for a in region.nest.assigns() if isinstance(a.target, Var)}
        inner = written | {loop.var for loop in region.nest.loops()}
        self.sizes = {name: value for name, value in self.sizes.items() if name not in inner}

    def statements(self, body: tuple[Stmt, ...]) -> Iterator[Diagnostic]:
        for stmt in body:
            if isinstance(stmt, Loop):
                yield from self.divisions(stmt.lower, stmt.span)
                yield from self.divisions(stmt.upper, stmt.span)
                yield from self.statements(stmt.body)
            elif isinstance(stmt, Assign) and stmt.guard is not None:
                yield from self.divisions(stmt.guard, stmt.span)
            elif isinstance(stmt, Assign):
                yield from self.divisions(stmt.target, stmt.span)
                yield from self.divisions(stmt.value, stmt.span)
                if stmt.op == "/=" and self.is_zero(stmt.value) and self.is_whole(stmt.target):
                    yield self.problem(Binary("/", stmt.target, stmt.value), stmt.span)

    def divisions(self, expr: Expr, span: Span) -> Iterator[Diagnostic]:
        """Yield the divisions by 0 in all that computing an expression surely computes."""
        match expr:
            case Select(condition, if_true, if_false):
                chosen = value_at(condition, self.sizes)
                yield from self.divisions(condition, span)
                if chosen is not None:
                    yield from self.divisions(if_true if chosen else if_false, span)
                return
            case Binary(op, left, right) if op in CONNECTIVES:
                yield from self.divisions(left, span)
                decided = value_at(left, self.sizes)
                if decided is not None and bool(decided) == (op == "&&"):
                    yield from self.divisions(right, span)
                return
            case Binary("/" | "%", left, right) if self.is_zero(right) and self.is_whole(left):
                yield self.problem(expr, span)
            case Access(_, _, own):
                span = own
        for child in children(expr):
            yield from self.divisions(child, span)

    def is_zero(self, expr: Expr) -> bool:
        """Return whether an expression is the integer 0 at the region's sizes."""
        return self.is_whole(expr) and value_at(expr, self.sizes) == 0

    def is_whole(self, expr: Expr) -> bool:
        """Return whether an expression is known to be an integer."""
        match expr:
            case Int():
                return True
            case Real():
                return False
            case Var(name):
                scalar = self.region.scalars.get(name)
                return scalar is not None and is_integer_type(scalar.type)
            case Access(name, _):
                array = self.region.arrays.get(name)
                return array is not None and is_integer_type(array.element)
            case Call(function, _):
                return is_integer(function)
            case Select(_, if_true, if_false):
                return self.is_whole(if_true) and self.is_whole(if_false)
            case Negate() | Binary():
                return all(map(self.is_whole, children(expr)))

    def problem(self, expr: Binary, span: Span) -> Diagnostic:
        divisor = print_expr(expr.right)
        return DIVIDES_BY_ZERO.at(span, expression=print_expr(expr), divisor=divisor)
