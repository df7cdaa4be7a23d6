"""Between which integers an expression lies, by the types and bounds of what it is made of.

The C types of values, and how C converts them (C11 6.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from annotune.frontend.types.symbols import INTEGERS, REALS
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED
from annotune.ir.ctype import LONG, CType, named
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    children,
    walk,
)
from annotune.ir.functions import FUNCTIONS

# The least and the greatest value.
Interval: TypeAlias = tuple[int, int]


def width(kind: str) -> int:
    """Return the bits of an integer type, as on 64-bit Linux."""
    if kind == "_Bool":
        return 1
    return 8 if "char" in kind else 16 if "short" in kind else 64 if "long" in kind else 32


def of_type(kind: str) -> Interval | None:
    """Return the values that an integer type holds, None for another type."""
    if kind not in INTEGERS:
        return None
    bits = width(kind)
    if kind.startswith("unsigned") or kind == "_Bool":
        return 0, 2**bits - 1
    # A plain char may be signed or not.
    return -(2 ** (bits - 1)), 2**bits - 1 if kind == "char" else 2 ** (bits - 1) - 1


def interval(expr: Expr, leaf: Callable[[Var | Access], Interval | None]) -> Interval | None:
    """Return between which integers `expr` lies, computed without an overflow; None if unknown.

    `leaf` says it of variables and elements.
    """
    match expr:
        case Int(value):
            return value, value
        case Var() | Access():
            return leaf(expr)
        case Negate(operand):
            inner = interval(operand, leaf)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return 0, 1
        case Binary(op, left, right):
            one, other = interval(left, leaf), interval(right, leaf)
            return None if one is None or other is None else _combined(op, one, other)
        case Call("min" | "max" as function, arguments):
            parts = [interval(argument, leaf) for argument in arguments]
            known = [part for part in parts if part is not None]
            choose = min if function == "min" else max
            if len(known) < len(parts):
                return None
            return choose(low for low, _ in known), choose(high for _, high in known)
        case Cast(type_, operand) if (held := of_type(type_.name)) is not None:
            inner = interval(operand, leaf)
            is_kept = inner is not None and held[0] <= inner[0] and inner[1] <= held[1]
            return inner if is_kept else held
        case Select(_, if_true, if_false):
            one, other = interval(if_true, leaf), interval(if_false, leaf)
            if one is None or other is None:
                return None
            return min(one[0], other[0]), max(one[1], other[1])
        case Real() | Call() | Cast():
            return None


def _combined(op: str, one: Interval, other: Interval) -> Interval | None:
    match op:
        case "+":
            return one[0] + other[0], one[1] + other[1]
        case "-":
            return one[0] - other[1], one[1] - other[0]
        case "*":
            corners = [a * b for a in one for b in other]
            return min(corners), max(corners)
        # A divisor of 0 has no value, so that a range that starts there starts at 1.
        case "/" if one[0] >= 0 and other[0] >= 0 and other[1] > 0:
            return one[0] // other[1], one[1] // max(other[0], 1)
        case "%" if one[0] >= 0 and other[0] >= 0 and other[1] > 0:
            return 0, min(one[1], other[1] - 1)
    return None


# By conversion rank, as on 64-bit Linux: each of a pair goes to the later one.
_RANKED = (
    *("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"),
    *("float", "double"),
)
_RANK = {kind: rank for rank, kind in enumerate(_RANKED)}
COMPLEX = frozenset({"float complex", "double complex"})
# Element types of arrays.
ELEMENTS = frozenset(_RANKED) | COMPLEX | PROMOTED
_NUMBERS = REALS | COMPLEX | INTEGERS


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression with the C type of its value, after C's integer promotion."""

    expr: Expr
    kind: str


def is_integer(kind: str) -> bool:
    """Return whether values of a promoted type are integers."""
    return _RANK.get(kind, _RANK["float"]) < _RANK["float"]


def is_unsigned(kind: str) -> bool:
    """Return whether a type holds no negative number."""
    return kind.startswith("unsigned")


def promoted(kind: str) -> str:
    """Return the type in which C computes with a value of type `kind`."""
    return "int" if kind in PROMOTED else kind


def common(left: str, right: str) -> str:
    """Return the type of ``left op right``, by C's usual arithmetic conversions."""
    if left in COMPLEX or right in COMPLEX:
        parts = {kind.removesuffix(" complex") for kind in (left, right)}
        return "double complex" if "double" in parts else "float complex"
    lower, higher = sorted((left, right), key=lambda kind: _RANK[kind])
    if is_unsigned(lower) and is_integer(higher) and not keeps_values(lower, higher):
        # long long ranks above an unsigned long, but holds no more of what this does.
        return f"unsigned {higher}"
    return higher


def keeps_values(source: str, target: str) -> bool:
    """Return whether every value of the one type is one of the other."""
    if source == target:
        return True
    if target in COMPLEX:
        return keeps_values(source.removesuffix(" complex"), target.removesuffix(" complex"))
    if source in COMPLEX or target in PROMOTED:
        return False
    if target == "double":
        return source in ("int", "unsigned int", "float")
    if not is_integer(source) or not is_integer(target):
        return False
    if is_unsigned(target) and not is_unsigned(source):
        return False
    return width(source) < width(target) or (
        width(source) == width(target) and is_unsigned(source) == is_unsigned(target)
    )


def type_of(expr: Expr, types: Mapping[str, str]) -> str | None:
    """Return the C type of an expression's value, promoted, None where it is not known.

    `types` are those of variables and arrays.
    """
    match expr:
        case Int(value):
            return "int" if -(2**31) < value < 2**31 else None
        case Real("I"):
            return "float complex"
        case Real(text):
            end = text[-1].lower()
            is_hex = text.lower().startswith("0x")
            return None if is_hex or end == "l" else "float" if end == "f" else "double"
        case Var(name) | Access(name, _):
            return promoted(types[name]) if types.get(name) in _NUMBERS else None
        case Negate(operand):
            return type_of(operand, types)
        case Cast(type_, _):
            return promoted(type_.name) if type_.name in _NUMBERS else None
        case Call(function, _):
            return FUNCTIONS[function].result if function in FUNCTIONS else None
        case Binary(op, left, right) | Select(op, left, right):
            kinds = type_of(left, types), type_of(right, types)
            if isinstance(op, str) and op in COMPARISONS | CONNECTIVES:
                return "int"
            return None if kinds[0] is None or kinds[1] is None else common(kinds[0], kinds[1])


def literal_type(text: str, value: int) -> str:
    """Return the type of an integer constant, as C11 6.4.4.1 has it."""
    suffix = text[len(text.rstrip("uUlL")) :].lower()
    is_decimal = text[0] != "0"
    for size, bits in (("int", 31), ("long", 63)):
        if size == "int" and "l" in suffix:
            continue
        if "u" not in suffix and value < 2**bits:
            return size
        if ("u" in suffix or not is_decimal) and value < 2 ** (bits + 1):
            return f"unsigned {size}"
    return "unsigned long"


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


# Casts that no integer of a smaller type is changed by.
_WIDENING = frozenset({"long", "long long"})


def may_wrap(expr: Expr) -> bool:
    """Return whether a cast in `expr` may change an integer."""
    return any(
        isinstance(part, Cast) and part.type.is_integer and part.type.name not in _WIDENING
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


def is_truth(expr: Expr) -> bool:
    """Return whether an expression is 0 or 1 by its operator."""
    return isinstance(expr, Binary) and expr.op in COMPARISONS | CONNECTIVES


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
