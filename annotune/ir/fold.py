"""Integer expressions made simpler, and the trip count of a loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from annotune.ir.constants import exact_value
from annotune.ir.ctype import CType
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
    is_real,
    is_truth,
)
from annotune.ir.identity import once_for_each
from annotune.ir.nest import Loop

_NO_VALUES: Mapping[str, int] = {}


def fold(expr: Expr, values: Mapping[str, int] = _NO_VALUES) -> Expr:
    """Return an integer expression equal to `expr`, with known scalars put in.

    Constants are computed with C's truncation; sums are collected (``n - 1 + 1`` is ``n``),
    a constant factor leads its product and a constant summand ends its sum. A division by
    zero stays as it is. Operands that are reals or array elements are not reordered.
    """
    match expr:
        case Int() | Real():
            return expr
        case Var(name):
            return Int(values[name]) if name in values else expr
        case Access(array, indices, span):
            return Access(array, tuple(fold(i, values) for i in indices), span)
        case Negate() | Binary("+" | "-"):
            return _sum(expr, values)
        case Binary("*", left, right):
            return _product(fold(left, values), fold(right, values))
        case Binary(op, left, right) if op in COMPARISONS:
            return _comparison(op, fold(left, values), fold(right, values))
        case Binary(op, left, right) if op in CONNECTIVES:
            return _connective(op, fold(left, values), fold(right, values))
        case Binary(op, left, right):
            return _quotient(op, fold(left, values), fold(right, values))
        case Call(function, arguments):
            return _call(function, tuple(fold(a, values) for a in arguments))
        case Cast(type_, operand, is_bare):
            return Cast(type_, fold(operand, values), is_bare)
        case Select(condition, if_true, if_false):
            chosen = fold(condition, values)
            if isinstance(chosen, Int):
                return fold(if_true if chosen.value else if_false, values)
            return Select(chosen, fold(if_true, values), fold(if_false, values))
        case _:
            assert_never(expr)


@once_for_each(1 << 14)
def trip_count(loop: Loop) -> Expr:
    """Return how often `loop` runs, for an upper bound that is not below the lower one."""
    if loop.step == 1 and isinstance(loop.upper, Int) and isinstance(loop.lower, Int):
        return _at_least_zero(Int(loop.upper.value - loop.lower.value))
    distance = Binary("-", loop.upper, loop.lower)
    if loop.step == 1:
        return _at_least_zero(fold(distance))
    rounded_up = Binary("+", distance, Int(loop.step - 1))
    return _at_least_zero(fold(Binary("/", rounded_up, Int(loop.step))))


def exact_quotient(expr: Expr, divisor: int) -> Expr | None:
    """Return an integer expression over `divisor`, None where a term is no multiple of it.

    The terms must fit their type: in C, twice a number that wraps around is not twice a number.
    """
    if divisor == 0 or is_real(expr):
        return None
    terms: dict[Expr, int] = {}
    constant = _collect(expr, 1, _NO_VALUES, terms)
    if any(factor % divisor for factor in (constant, *terms.values())):
        return None
    total: Expr = Int(constant // divisor)
    for term, factor in reversed(terms.items()):
        total = Binary("+", Binary("*", Int(factor // divisor), term), total)
    return fold(total)


def _at_least_zero(count: Expr) -> Expr:
    return Int(max(0, count.value)) if isinstance(count, Int) else count


def _sum(expr: Negate | Binary, values: Mapping[str, int]) -> Expr:
    if is_real(expr):
        match expr:
            case Negate(operand):
                return Negate(fold(operand, values))
            case Binary(op, left, right):
                return Binary(op, fold(left, values), fold(right, values))
    terms: dict[Expr, int] = {}
    constant = _collect(expr, 1, values, terms)
    longs = [factor * v for term, factor in terms.items() if (v := _number(term)) is not None]
    if len(longs) == len(terms):
        return Int(constant + sum(longs))
    result: Expr | None = None
    # A positive term leads where there is one: n - i, not -i + n.
    ordered = sorted(terms.items(), key=lambda term: term[1] < 0)
    for term, factor in ordered if ordered and terms[next(iter(terms))] < 0 else terms.items():
        if factor == 0:
            continue
        if result is None:
            result = _scaled(factor, term)
        else:
            result = Binary("-" if factor < 0 else "+", result, _scaled(abs(factor), term))
    if result is None:
        return Int(constant)
    if constant == 0:
        return result
    return Binary("-" if constant < 0 else "+", result, Int(abs(constant)))


def _collect(expr: Expr, sign: int, values: Mapping[str, int], terms: dict[Expr, int]) -> int:
    """Add `sign` times `expr` to `terms` and return its constant part."""
    match expr:
        case Negate(operand):
            return _collect(operand, -sign, values, terms)
        case Binary("+" | "-" as op, left, right):
            constant = _collect(left, sign, values, terms)
            return constant + _collect(right, sign if op == "+" else -sign, values, terms)
    folded = fold(expr, values)
    match folded:
        case Int(value):
            return sign * value
        case Negate() | Binary("+" | "-"):
            return _collect(folded, sign, values, terms)
        case Binary("*", Int(factor), term):
            terms[term] = terms.get(term, 0) + sign * factor
        case _:
            terms[folded] = terms.get(folded, 0) + sign
    return 0


def _scaled(factor: int, term: Expr) -> Expr:
    if factor == 1:
        return term
    return Negate(term) if factor == -1 else Binary("*", Int(factor), term)


def _product(left: Expr, right: Expr) -> Expr:
    if is_real(left) or is_real(right):
        return Binary("*", left, right)
    left_factor, left_rest = _factor(left)
    right_factor, right_rest = _factor(right)
    factor = left_factor * right_factor
    if left_rest is None or right_rest is None:
        rest = left_rest if right_rest is None else right_rest
    else:
        rest = Binary("*", left_rest, right_rest)
    if rest is None or factor == 0:
        return Int(factor)
    # As Negate is folded: what is taken from 0 is collected, also of a sum.
    return _sum(Negate(rest), _NO_VALUES) if factor == -1 else _scaled(factor, rest)


def _factor(expr: Expr) -> tuple[int, Expr | None]:
    """Return the constant factor of `expr` and the rest, None when it is a constant."""
    match expr:
        case Int(value):
            return value, None
        case Negate(operand):
            return -1, operand
        case Binary("*", Int(value), rest):
            return value, rest
        case _:
            return 1, expr


def _comparison(op: str, left: Expr, right: Expr) -> Expr:
    one, other = _number(left), _number(right)
    found = None if one is None or other is None else exact_value(op, one, other)
    return Binary(op, left, right) if found is None else Int(found)


def _connective(op: str, left: Expr, right: Expr) -> Expr:
    """Return ``left && right`` or ``left || right``, decided by a constant where one stands."""
    deciding = op == "||"
    if isinstance(left, Int):
        if bool(left.value) == deciding:
            return Int(int(deciding))
        return Int(int(right.value != 0)) if isinstance(right, Int) else _truth(right)
    if isinstance(right, Int) and bool(right.value) != deciding:
        return _truth(left)
    return Binary(op, left, right)


def _truth(expr: Expr) -> Expr:
    return expr if is_truth(expr) else Binary("!=", expr, Int(0))


def _quotient(op: str, left: Expr, right: Expr) -> Expr:
    if isinstance(left, Int) and isinstance(right, Int):
        found = exact_value(op, left.value, right.value)
        return Binary(op, left, right) if found is None else Int(found)
    if right == Int(1) and not is_real(left):
        return left if op == "/" else Int(0)
    return Binary(op, left, right)


def _call(function: str, arguments: tuple[Expr, ...]) -> Expr:
    constants = [value for value in map(_number, arguments) if value is not None]
    if function in ("min", "max") and len(constants) == len(arguments):
        return Int(min(constants) if function == "min" else max(constants))
    if function in ("min", "max") and len(set(arguments)) == 1:
        return arguments[0]
    return Call(function, arguments)


def _number(expr: Expr) -> int | None:
    """Return the value of a constant, also of one that a cast gives another type than int."""
    match expr:
        case Int(value) | Cast(CType("long"), Int(value)):
            return value
    return None
