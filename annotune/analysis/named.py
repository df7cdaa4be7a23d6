"""Integer parts of subscripts and bounds that are no polynomials, under names of their own.

``n / 2`` is a size like any other, ``j % 8`` a value that each iteration has, ``col[i]`` one
that only the run knows. A polynomial holds such a part as a name, the part's C text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from annotune.analysis.poly import Poly, from_expr, variable
from annotune.frontend.ranges import of_type
from annotune.ir.c_types import is_integer_type, is_unsigned_type
from annotune.ir.expr import (
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    accesses,
    children,
    variables,
    walk,
)
from annotune.ir.fold import fold
from annotune.ir.functions import is_integer
from annotune.ir.region import Region
from annotune.ir.text import print_expr


@dataclass(frozen=True, slots=True)
class Size:
    """A part that is the same for the whole region: ``n / 2``, ``min(n, m)``."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Rounded:
    """``left / right`` or ``left % right``, rounded as C does, at the iterations of a loop."""

    op: str
    left: Poly
    right: Poly
    expr: Expr


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part that memory decides, ``col[i]``, or of a form that no stage can follow."""

    expr: Expr


Part: TypeAlias = Size | Rounded | Unknown

# Casts that bounds and subscripts are read without, as no integer in them is taken to overflow.
WIDE_CASTS = frozenset({"(int)", "(long)", "(long long)"})


class Namer:
    """Reads integer expressions of one region as polynomials and keeps the parts it names."""

    def __init__(self, region: Region, written: frozenset[str], iterators: frozenset[str]) -> None:
        self.region, self.written, self.iterators = region, written, iterators
        self.parts: dict[str, Part] = {}

    def poly(self, expr: Expr) -> Poly | None:
        """Return `expr` as a polynomial with names for its other parts; None when it is real."""
        return from_expr(expr, self._other)

    def unknown(self, expr: Expr) -> Poly:
        """Return the name of an expression that is not looked into."""
        return self._named(Unknown(expr))

    def _other(self, expr: Expr) -> Poly | None:
        if not self._is_integer(expr):
            return None
        names = variables(expr)
        if accesses(expr) or names & self.written:
            return self.unknown(expr)
        if not names & self.iterators:
            return self._named(Size(fold(expr)))
        match expr:
            case Call(function, (operand,)) if function in WIDE_CASTS:
                return self.poly(operand)
            case Binary("/" | "%" as op, left, right):
                numerator, divisor = self.poly(left), self.poly(right)
                if numerator is None or divisor is None:
                    return None
                inside = numerator.names | divisor.names
                if any(isinstance(self.parts.get(name), Unknown) for name in inside):
                    return self.unknown(expr)
                if not (variables(right) & self.iterators):
                    return self._named(Rounded(op, numerator, divisor, expr))
        return self.unknown(expr)

    def _is_integer(self, expr: Expr) -> bool:
        """Return whether nothing in `expr` is known to be a real outside of subscripts."""
        scalars = self.region.scalars
        for part in walk(expr):
            match part:
                case Real():
                    return False
                case Var(name) if name in scalars and not is_integer_type(scalars[name].type):
                    return False
                case Call(function, _) if not is_integer(function):
                    return False
        return True

    def _named(self, part: Part) -> Poly:
        text = print_expr(part.expr)
        if isinstance(part, Size) and isinstance(part.expr, Int | Var):
            folded = from_expr(part.expr)
            assert folded is not None
            return folded
        self.parts[text] = part
        return variable(text)


def sizes_among(parts: Mapping[str, Part]) -> dict[str, Expr]:
    """Return the parts that are sizes, with their expressions."""
    return {name: part.expr for name, part in parts.items() if isinstance(part, Size)}


def with_values(known: Mapping[str, int], sizes: Mapping[str, Expr]) -> dict[str, int]:
    """Return the `known` values and those of the named sizes that follow from them."""
    values = dict(known)
    for name, expr in sizes.items():
        value = value_at(expr, known)
        if value is not None:
            values[name] = value
    return values


def value_at(expr: Expr, known: Mapping[str, int]) -> int | None:
    """Return the value of an integer expression at known sizes, None where it is not known.

    A cast is made as C makes it; what is computed from one has no value here where the type of
    the cast might not hold it.
    """
    match expr:
        case Var(name):
            return known.get(name)
        case Select(condition, if_true, if_false):
            chosen = value_at(condition, known)
            return None if chosen is None else value_at(if_true if chosen else if_false, known)
        case Binary("&&" | "||" as connective, left, right):
            decided = value_at(left, known)
            if decided is None or bool(decided) == (connective == "||"):
                return None if decided is None else int(connective == "||")
            other = value_at(right, known)
            return None if other is None else int(other != 0)
    operands = [value_at(child, known) for child in children(expr)]
    values = [Int(value) for value in operands if value is not None]
    if len(values) < len(operands):
        return None
    match expr:
        case Call(function, _) if (held := of_type(function.strip("()"))) is not None:
            return (values[0].value - held[0]) % (held[1] - held[0] + 1) + held[0]
        case Call("abs" | "labs", _):
            return abs(values[0].value)
        case Call(function, _):
            found = fold(Call(function, tuple(values)))
        case Binary(op, _, _):
            found = fold(Binary(op, values[0], values[1]))
        case Negate():
            found = fold(Negate(values[0]))
        case _:
            found = expr
    if not isinstance(found, Int):
        return None
    casts = set(_casts(expr))
    least = 0 if any(map(is_unsigned_type, casts)) else -(2**31)
    return found.value if not casts or least <= found.value < 2**31 else None


def _casts(expr: Expr) -> Iterator[str]:
    """Yield the types, other than long, of casts in which an expression is computed."""
    if isinstance(expr, Call) and expr.function[0] == "(":
        if expr.function not in ("(long)", "(long long)"):
            yield expr.function.strip("()")
        return
    for child in children(expr):
        yield from _casts(child)


def parts_within(names: Iterable[str], parts: Mapping[str, Part]) -> frozenset[str]:
    """Return those of `names` that are parts, and the parts inside them."""
    found: set[str] = set()
    open_names = [name for name in names if name in parts]
    while open_names:
        name = open_names.pop()
        part = parts[name]
        found.add(name)
        if isinstance(part, Rounded):
            inner = part.left.names | part.right.names
            open_names += [n for n in inner if n in parts and n not in found]
    return frozenset(found)


def plain_names(names: Iterable[str], parts: Mapping[str, Part]) -> frozenset[str]:
    """Return the scalars of C behind `names`."""
    found: set[str] = set()
    for name in names:
        found |= variables(parts[name].expr) if name in parts else {name}
    return frozenset(found)
