"""Between which integers an expression lies, by the types and bounds of what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from annotune.frontend.symbols import INTEGERS
from annotune.ir.expr import (
    COMPARISONS,
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
)

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
        case Call(function, (operand,)) if (held := of_type(function.strip("()"))) is not None:
            inner = interval(operand, leaf)
            is_kept = inner is not None and held[0] <= inner[0] and inner[1] <= held[1]
            return inner if is_kept else held
        case Select(_, if_true, if_false):
            one, other = interval(if_true, leaf), interval(if_false, leaf)
            if one is None or other is None:
                return None
            return min(one[0], other[0]), max(one[1], other[1])
        case Real() | Call():
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
