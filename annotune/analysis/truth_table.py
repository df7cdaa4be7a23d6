"""Conditions at listed iterations, as far as loops and sizes decide them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from annotune.ir.expr import (
    COMPARISONS,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Var,
    accesses,
    negated,
    variables,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[np.int64]
    Truths: TypeAlias = NDArray[np.bool_] | bool

_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def names_decided(condition: Expr) -> frozenset[str]:
    """Return the scalars that decide a condition, so far as no element of an array does."""
    match condition:
        case Binary("&&" | "||", left, right):
            return names_decided(left) | names_decided(right)
        case Binary("==", Binary() as inner, Int(0)):
            return names_decided(inner)
        case _:
            return frozenset() if accesses(condition) else variables(condition)


def bounds_of_truth(
    condition: Expr, columns: Mapping[str, Column], sizes: Mapping[str, int]
) -> tuple[Truths, Truths]:
    """Return where a condition surely holds, and where it may, row by row of the columns."""
    match condition:
        case Binary("&&" | "||" as op, left, right):
            one = bounds_of_truth(left, columns, sizes)
            two = bounds_of_truth(right, columns, sizes)
            if op == "&&":
                return one[0] & two[0], one[1] & two[1]
            return one[0] | two[0], one[1] | two[1]
        case Binary("==", _, Int(0)) if negated(condition) != Binary("==", condition, Int(0)):
            surely, maybe = bounds_of_truth(negated(condition), columns, sizes)
            return _not(maybe), _not(surely)
        case Binary(op, left, right) if op in COMPARISONS:
            value = _compared(op, left, right, columns, sizes)
        case _:
            value = _compared("!=", condition, Int(0), columns, sizes)
    return (False, True) if value is None else (value, value)


def _not(truths: Truths) -> Truths:
    return not truths if isinstance(truths, bool) else ~truths


def _compared(
    op: str, left: Expr, right: Expr, columns: Mapping[str, Column], sizes: Mapping[str, int]
) -> Truths | None:
    one, two = _value(left, columns, sizes), _value(right, columns, sizes)
    if one is None or two is None:
        return None
    truths: Truths = _COMPARE[op](one, two)
    return truths


def _value(
    expr: Expr, columns: Mapping[str, Column], sizes: Mapping[str, int]
) -> Column | int | None:
    """Return an integer expression at each row; None when memory decides it."""
    match expr:
        case Int(value):
            return value
        case Var(name):
            return columns[name] if name in columns else sizes.get(name)
        case Negate(operand):
            inner = _value(operand, columns, sizes)
            return None if inner is None else -inner
        case Binary("+" | "-" | "*" | "/" | "%" as op, left, right):
            one, two = _value(left, columns, sizes), _value(right, columns, sizes)
            return None if one is None or two is None else _arithmetic(op, one, two)
        case Call("min" | "max" as function, (first, second)):
            import numpy as np

            one, two = _value(first, columns, sizes), _value(second, columns, sizes)
            if one is None or two is None:
                return None
            smaller: Column = np.minimum(one, two)
            return smaller if function == "min" else one + two - smaller
        case _:
            return None


def _arithmetic(op: str, one: Column | int, two: Column | int) -> Column | int | None:
    import numpy as np

    match op:
        case "+":
            return one + two
        case "-":
            return one - two
        case "*":
            return one * two
    if not np.all(two):
        return None
    # Towards zero, as in C.
    quotient: Column = np.sign(one) * np.sign(two) * (np.abs(one) // np.abs(two))
    return quotient if op == "/" else one - two * quotient
