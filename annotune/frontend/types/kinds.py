"""The C types of values by their names, and how C converts them (C11 6.3.1)."""

from __future__ import annotations

from annotune.frontend.types.symbols import INTEGERS, REALS
from annotune.frozen import dataclass
from annotune.ir import ctype, typing
from annotune.ir.c_types import PROMOTED
from annotune.ir.ctype import LONG, TYPES, CType, named
from annotune.ir.expr import (
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    children,
    is_truth,
    walk,
)
from annotune.ir.typing import Interval


def width(kind: str) -> int:
    """Return the bits of an integer type, as on 64-bit Linux."""
    return named(kind).bits


def of_type(kind: str) -> Interval | None:
    """Return the values that an integer type holds, None for another type."""
    return TYPES[kind].limits if kind in TYPES else None


COMPLEX = frozenset({"float complex", "double complex"})
# Element types of arrays.
ELEMENTS = REALS | COMPLEX | INTEGERS


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression with the C type of its value, after C's integer promotion."""

    expr: Expr
    kind: str


def is_integer(kind: str) -> bool:
    """Return whether values of a type are integers."""
    return kind in TYPES and TYPES[kind].is_integer


def is_unsigned(kind: str) -> bool:
    """Return whether a type holds no negative number."""
    return kind in TYPES and TYPES[kind].is_unsigned


def promoted(kind: str) -> str:
    """Return the type in which C computes with a value of type `kind`."""
    return ctype.promoted(TYPES[kind]).name if kind in TYPES else kind


def common(left: str, right: str) -> str:
    """Return the type of ``left op right``, by C's usual arithmetic conversions."""
    return ctype.common(named(left), named(right)).name


def keeps_values(source: str, target: str) -> bool:
    """Return whether every value of the one type is one of the other."""
    if source == target:
        return True
    return target not in PROMOTED and ctype.keeps_values(named(source), named(target))


def literal_type(text: str, value: int) -> str:
    """Return the type of an integer constant, as C11 6.4.4.1 has it."""
    return typing.integer_type(text, value).name


def constant(value: int, kind: str) -> Expr:
    """Return an integer constant, with a cast where ``10L`` would become the int 10."""
    is_small = kind == "long" and value < 2**31
    return Cast(LONG, Int(value)) if is_small else Int(value)


def without_type(value: Typed) -> Typed:
    """Return `value`, a constant without its cast: for places where only the number counts."""
    match value:
        case Typed(Cast(CType("long"), Int() as digits), "long"):
            return Typed(digits, "long")
    return value


def modular(value: Typed) -> Expr:
    """Return a value of an unsigned type, with the cast that makes it go round like one.

    Targets compute with 64-bit integers where C may not.
    """
    return Cast(named(value.kind), value.expr) if is_unsigned(value.kind) else value.expr


def unwrapped(value: Typed, place: Expr, base: str) -> Expr:
    """Return what to store at a `place` of type `base`: that C converts a sum need not be said."""
    match value.expr:
        case Cast(type_, inner) if is_unsigned(base) and type_.name == base:
            return inner if place in walk(inner) else value.expr
    return value.expr


# Sizes and strides are smaller; what hashes and random numbers are multiplied by is not.
_LARGEST_FACTOR = 4096


def goes_round(expr: Expr) -> bool:
    """Return whether a formula looks as if it were meant to wrap around, in an unsigned type.

    This chooses between two right ways to compute a value, and proves nothing of its range.
    """
    return any(
        (isinstance(part, Int) and part.value >= 2**31)
        or (
            isinstance(part, Binary)
            and part.op == "*"
            and any(isinstance(f, Int) and abs(f.value) > _LARGEST_FACTOR for f in children(part))
        )
        for part in walk(expr)
    )


def without_casts(expr: Expr, base: str) -> Expr:
    """Return sums and products without the casts that change nothing of what type `base` keeps.

    A cast to ``unsigned int`` stays: stored in a signed type, a sum may have gone round in it.
    """
    match expr:
        case Cast(CType(kind) as type_, operand) if type_.is_integer:
            is_kept = kind == base or (width(kind) == 64 and width(base) <= 64)
            return without_casts(operand, base) if is_kept else expr
        case Negate(operand):
            return Negate(without_casts(operand, base))
        case Binary("+" | "-" | "*" as op, left, right):
            return Binary(op, without_casts(left, base), without_casts(right, base))
    return expr


def cast(value: Typed, kind: str) -> Expr:
    """Return `value` converted to type `kind`, by a cast where it is of another one."""
    if value.kind == kind:
        return value.expr
    value = without_type(value)
    if kind == "_Bool":
        # C++ has no _Bool; what becomes of a sum in it is no sum.
        return value.expr if is_truth(value.expr) else Binary("!=", value.expr, Int(0))
    is_small = isinstance(value.expr, Int) and 0 <= value.expr.value < 2**24
    if kind in REALS and is_small:
        assert isinstance(value.expr, Int)
        return Real(f"{value.expr.value}.0{'f' if kind == 'float' else ''}")
    if value.kind in COMPLEX and kind not in COMPLEX:
        part = Call("creal", (cast(value, "double complex"),))
        return cast(Typed(part, "double"), kind)
    return Cast(named(kind), value.expr)
