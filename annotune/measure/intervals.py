"""Between which values an integer expression lies, for iterators and arrays that have ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Select,
    Var,
)
from annotune.ir.fold import divide
from annotune.ir.functions import is_integer
from annotune.ir.nest import Loop

Interval: TypeAlias = tuple[int, int]
"""The least and the greatest value."""

Ranges: TypeAlias = Mapping[str, Interval]


def interval(expr: Expr, names: Ranges, arrays: Ranges) -> Interval | None:
    """Return an interval that holds every value of `expr`, None where none is known.

    `names` are the ranges of scalars, `arrays` those of the elements of arrays.
    """
    match expr:
        case Int(value):
            return value, value
        case Var(name):
            return names.get(name)
        case Access(array, _):
            return arrays.get(array)
        case Negate(operand):
            inner = interval(operand, names, arrays)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return 0, 1
        case Binary(op, left, right):
            return _combined(op, interval(left, names, arrays), interval(right, names, arrays))
        case Select(_, if_true, if_false):
            return _hull(interval(if_true, names, arrays), interval(if_false, names, arrays))
        case Call(function, arguments):
            return _call(function, [interval(a, names, arrays) for a in arguments])
        case _:
            return None


def loop_ranges(loops: tuple[Loop, ...], values: Mapping[str, int]) -> dict[str, Interval] | None:
    """Return the range of every iterator of nested `loops`, None where one runs no iteration.

    `values` are the sizes. An iterator whose bounds are not known is left out.
    """
    names: dict[str, Interval] = {name: (value, value) for name, value in values.items()}
    for loop in loops:
        lower, upper = (interval(e, names, {}) for e in (loop.lower, loop.upper))
        names.pop(loop.var, None)
        if lower is None or upper is None:
            continue
        if lower[0] >= upper[1]:
            return None
        names[loop.var] = lower[0], upper[1] - 1
    return names


def _hull(left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    return min(left[0], right[0]), max(left[1], right[1])


def _combined(op: str, left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    match op:
        case "+":
            return left[0] + right[0], left[1] + right[1]
        case "-":
            return left[0] - right[1], left[1] - right[0]
        case "*":
            corners = [a * b for a in left for b in right]
            return min(corners), max(corners)
        case "/" if right[0] > 0:
            corners = [divide(a, b) for a in left for b in right]
            return min(corners), max(corners)
        case "%" if right[0] > 0:
            # C's remainder has the sign of the dividend.
            most = right[1] - 1
            return (0 if left[0] >= 0 else -most), (0 if left[1] <= 0 else min(most, left[1]))
        case _:
            return None


def _call(function: str, arguments: list[Interval | None]) -> Interval | None:
    known = [a for a in arguments if a is not None]
    if len(known) != len(arguments) or not known:
        return None
    if function in ("min", "max"):
        choose = min if function == "min" else max
        return choose(a[0] for a in known), choose(a[1] for a in known)
    if function.startswith("(") and is_integer(function):
        return known[0]
    if function in ("abs", "labs"):
        low, high = known[0]
        return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    return None
