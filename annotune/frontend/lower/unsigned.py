"""Arithmetic of unsigned types, where targets may compute with other integers than C does."""

from __future__ import annotations

from annotune.frontend.lower.names import Names
from annotune.frontend.types.kinds import (
    Typed,
    goes_round,
    is_unsigned,
    modular,
    width,
    without_type,
)
from annotune.ir.ctype import LONG, UNSIGNED_INT, CType, named
from annotune.ir.expr import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Var,
    accesses,
    rewrite,
    subtracts,
    variables,
    walk,
)

# Its sums and differences go round at 2^32, far below what a subscript may be.
UNSIGNED = UNSIGNED_INT.name


def arithmetic(op: str, left: Typed, right: Typed, kind: str, names: Names) -> Typed:
    """Return unsigned arithmetic, which a cast keeps in its type where it may go round."""
    if op in ("/", "%"):
        a, b = (converted(e, kind, names) for e in (left, right))
        return Typed(Binary(op, a, b), kind)
    a, b = (_bare(without_type(side).expr, kind, names) for side in (left, right))
    if _stays(Binary(op, a, b), kind, names):
        return Typed(Binary(op, a, b), kind)
    if all(map(names.may_be_int, (a, b))):
        # Two ints may overflow, which C leaves undefined, before a cast to unsigned.
        a = Cast(named(kind), a)
        if isinstance(b, Int):
            return Typed(Binary(op, a, b), kind)
    elif all(_is_narrower(side, kind, names) for side in (a, b)):
        # C has the one of 64 bits before it computes, not what is left of it.
        a = Cast(named(kind), a)
    return Typed(modular(Typed(Binary(op, a, b), kind)), kind)


def _bare(expr: Expr, kind: str, names: Names) -> Expr:
    """Return an operand without the cast that another one around the whole repeats."""
    match expr:
        case Cast(type_, Binary() as inner) if type_.name == kind:
            if names.range_of(inner) is not None and not names.may_be_int(inner):
                return inner
    return expr


def _stays(expr: Expr, kind: str, names: Names) -> bool:
    """Return whether an expression of an unsigned type is the same among all the integers.

    For 64 bits, sizes and iterators are taken to be far smaller.
    """
    span = names.range_of(expr)
    if span is None or span[0] < 0:
        return False
    if isinstance(expr, Var | Access | Int) or span[1] < 2**31:
        return True
    if width(kind) == 64:
        whole = names.resolved(expr)
        return _is_size(whole) and _bits_of(whole, names) == LONG.bits
    counts = names.spans.keys()
    if names.may_be_int(expr) and (accesses(expr) or not variables(expr) <= counts):
        # As an int of the emitted code it would overflow.
        return False
    # An iterator is made a long.
    names.used.is_wide |= span[1] < 2**32
    return span[1] < 2**32


def _is_narrower(expr: Expr, kind: str, names: Names) -> bool:
    """Return whether the emitted C may compute an operand in less bits than a type has."""
    own = _bits_of(expr, names)
    return own is not None and own < width(kind)


def _bits_of(expr: Expr, names: Names) -> int | None:
    type_ = names.type_of(expr)
    return None if type_ is None else type_.bits


def _is_size(expr: Expr) -> bool:
    """Return whether an integer is made of sizes and iterators as one computes with sizes."""
    match expr:
        case Int() | Var():
            return True
        case Binary("+" | "*" | "/" | "%", left, right):
            return _is_size(left) and _is_size(right) and not goes_round(expr)
        case Call("min" | "max", arguments):
            return all(map(_is_size, arguments))
    return False


def converted(value: Typed, kind: str, names: Names) -> Expr:
    """Return an operand of an unsigned operation as C converts it."""
    if value.kind == kind or _stays(value.expr, kind, names):
        return value.expr
    return Cast(named(kind), value.expr)


def signed(expr: Expr, names: Names, is_far: bool = False) -> Expr:
    """Return a distance, computed in longs where unsigned numbers in it would make it go round.

    One that `is_far` may be more than an int holds.
    """

    def change(part: Expr) -> Expr | None:
        match part:
            case Var(name) if name in names.used.scalars:
                kind = names.used.scalars[name].type
                is_cast = is_unsigned(kind) or (is_far and width(kind) < width("long"))
                return Cast(LONG, part) if is_cast else None
            case Access() | Cast(CType("long")):
                return Cast(LONG, part) if names.type_of(part) == UNSIGNED_INT else part
            case Binary(op) if op in COMPARISONS:
                # As C compares.
                return part
            case Binary("/" | "%", left, _) if not subtracts(left) or _is_made_unsigned(left):
                # As C divides: with a sign, half of a great number would be another.
                return Cast(LONG, part) if _reads_unsigned(part, names) else None
            case Cast(type_) if type_.is_unsigned:
                return Cast(LONG, part)
        return None

    return rewrite(expr, change)


def may_go_round(expr: Expr, names: Names) -> bool:
    """Return whether C computes in 32 bits without a sign what may be below 0."""
    if names.type_of(expr) != UNSIGNED_INT:
        return False
    return subtracts(expr) or any(names.type_of(Var(n)) != UNSIGNED_INT for n in variables(expr))


def widened(value: Typed, names: Names) -> Typed:
    """Return a number as C has it where a wider type takes what has gone round below 0.

    Subscripts do without: elsewhere than in a bound such a number is one of nothing.
    """

    def change(part: Expr) -> Expr | None:
        match part:
            case Cast(CType("long"), operand) if may_go_round(operand, names):
                return _from_unsigned(operand)
        return None

    expr = rewrite(value.expr, change)
    if width(value.kind) == 64 and may_go_round(expr, names):
        expr = _from_unsigned(expr)
    return Typed(expr, value.kind)


def _from_unsigned(number: Expr) -> Expr:
    return Cast(LONG, Cast(named(UNSIGNED), number))


def _is_made_unsigned(expr: Expr) -> bool:
    return isinstance(expr, Cast) and expr.type.is_unsigned


def _reads_unsigned(expr: Expr, names: Names) -> bool:
    kinds = [
        names.used.scalars[name].type for name in variables(expr) if name in names.used.scalars
    ]
    return any(map(is_unsigned, kinds)) or any(map(_is_made_unsigned, walk(expr)))
