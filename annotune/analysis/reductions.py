"""Statements that accumulate: ``x += …``, ``x = x + …`` and ``x = y > x ? y : x``."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.ir.expr import Access, Binary, Call, Expr, Select, Var, walk
from annotune.ir.nest import Assign

# The operator that combines partial results: a - b - c is a - (b + c).
_COMPOUND = {"+=": "+", "-=": "+", "*=": "*"}
_EXTREMA = {
    "min": "min",
    "fmin": "min",
    "fminf": "min",
    "max": "max",
    "fmax": "max",
    "fmaxf": "max",
}


def reduction_operator(assign: Assign) -> str | None:
    """Return ``+``, ``*``, ``min`` or ``max`` when `assign` accumulates into its target.

    None when the statement is no accumulation, or reads its target a second time: in its guard,
    it would depend on what is there already.
    """
    target = assign.target
    if assign.guard is not None and _reads(assign.guard, target):
        return None
    if assign.op != "=":
        return None if _reads(assign.value, target) else _COMPOUND.get(assign.op)
    value = assign.value
    match value:
        case Binary("+" | "-", _, _):
            return "+" if _appears_once(list(_terms(value, 1)), target) else None
        case Binary("*", _, _):
            return "*" if _appears_once([(1, f) for f in _factors(value)], target) else None
        case Call(function, arguments) if function in _EXTREMA:
            once = _appears_once([(1, argument) for argument in arguments], target)
            return _EXTREMA[function] if once else None
        case Select():
            return _chosen_extremum(value, target)
        case _:
            return None


def _chosen_extremum(choice: Select, target: Access | Var) -> str | None:
    """Return ``min`` or ``max`` for ``x > m ? x : m`` and the other spellings of it."""
    pair = (choice.if_true, choice.if_false)
    others = [part for part in pair if part != target]
    if len(others) != 1 or _reads(others[0], target):
        return None
    match choice.condition:
        case Binary("<" | "<=" | ">" | ">=" as op, left, right):
            if pair == (left, right):
                return "min" if op.startswith("<") else "max"
            if pair == (right, left):
                return "max" if op.startswith("<") else "min"
    return None


def _reads(expr: Expr, target: Access | Var) -> bool:
    return any(part == target for part in walk(expr))


def _appears_once(parts: list[tuple[int, Expr]], target: Access | Var) -> bool:
    """Return whether one part is `target` itself, not negated, and no other part reads it."""
    signs = [sign for sign, part in parts if part == target]
    return signs == [1] and sum(_reads(part, target) for _, part in parts) == 1


def _terms(expr: Expr, sign: int) -> Iterator[tuple[int, Expr]]:
    match expr:
        case Binary("+", left, right):
            yield from _terms(left, sign)
            yield from _terms(right, sign)
        case Binary("-", left, right):
            yield from _terms(left, sign)
            yield from _terms(right, -sign)
        case _:
            yield sign, expr


def _factors(expr: Expr) -> Iterator[Expr]:
    match expr:
        case Binary("*", left, right):
            yield from _factors(left)
            yield from _factors(right)
        case _:
            yield expr
