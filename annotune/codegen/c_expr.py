"""Expressions as C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotune.ir.c_types import is_unsigned_type
from annotune.ir.ctype import INT, LONG, UNSIGNED_INT, CType, named
from annotune.ir.expr import (
    AS_NAMED,
    CHOOSES,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Select,
    Var,
    is_truth,
    print_expr,
    rewrite,
    variables,
    without_extrema,
)
from annotune.ir.typing import ctype


def c_expr(expr: Expr, enclosing: int = 0, texts: Mapping[str, str] = AS_NAMED) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, of `annotune.ir.expr.PRECEDENCE`,
    0 for none; one more for the right operand. `texts` are as `print_expr` has them. The text form
    of the nest language is C already, but that it has no ``!``.
    """
    return print_expr(rewrite(expr, _not), enclosing, texts)


def _not(part: Expr) -> Expr | None:
    """Return ``!(a < b)`` for what the nest has as ``(a < b) == 0``."""
    if isinstance(part, Binary) and part.op == "==" and part.right == Int(0):
        return Call("!", (rewrite(part.left, _not),)) if is_truth(part.left) else None
    return None


def plain_c(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C that needs no function of ours: C itself has no integer `min`."""
    return c_expr(without_extrema(expr), enclosing)


def of_one_sign(expr: Expr, types: Mapping[str, str]) -> Expr:
    """Return `expr` with ``min`` and ``max`` of numbers that C compares by their values.

    `types` are those of the scalars. The lesser of an int -1 and a ``size_t`` is the latter in C.
    """

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in CHOOSES:
            return None
        signs = {is_unsigned_type(types[name]) for name in unwidened(part) if name in types}
        arguments = tuple(rewrite(argument, change) for argument in part.arguments)
        if len(signs) > 1:
            arguments = tuple(Cast(LONG, argument) for argument in arguments)
        return Call(part.function, arguments)

    return rewrite(expr, change)


def unwidened(expr: Expr) -> frozenset[str]:
    """Return the scalars that `expr` reads in their own types: not those of ``(long)n``."""
    return variables(
        rewrite(expr, lambda part: Int(0) if isinstance(part, Cast) and part.is_bare else None)
    )


def in_64_bits(expr: Expr, narrow: Mapping[str, str]) -> Expr:
    """Return `expr` with what it computes of `narrow` scalars computed as longs: ``(long)n * m``.

    `narrow` are names with their types, ``int`` or ``unsigned int``. Where C computes with ints in
    32 bits no number is beyond these, so that this is the same number. Of unsigned ones products
    and their own sums are taken so: differences, and sums with what is below 0, may go round.
    In what C compares, only subscripts are changed.
    """
    if not narrow:
        return expr

    def type_of(part: Expr) -> CType:
        found = ctype(part, lambda name: named(narrow.get(name, LONG.name)))
        return LONG if found is None or found not in (INT, UNSIGNED_INT) else found

    def change(part: Expr) -> Expr | None:
        match part:
            case Binary("+" | "-" | "*" as op, left, right):
                return computed(op, rewrite(left, change), rewrite(right, change))
            case Select(condition, one, other) if not is_of_ints(condition):
                condition = rewrite(condition, change_subscripts)
                return Select(condition, rewrite(one, change), rewrite(other, change))
        return None

    def computed(op: str, left: Expr, right: Expr) -> Expr:
        types = type_of(left), type_of(right)
        if LONG in types or (isinstance(left, Int) and isinstance(right, Int)):
            return Binary(op, left, right)
        if op != "*" and UNSIGNED_INT in types:
            signed = (e for e, type_ in zip((left, right), types, strict=True) if type_ == INT)
            if op == "-" or not all(isinstance(e, Int) and e.value >= 0 for e in signed):
                return Binary(op, left, right)
        if isinstance(left, Int):
            return Binary(op, left, cast_to_long(right))
        return Binary(op, cast_to_long(left), right)

    def change_subscripts(part: Expr) -> Expr | None:
        if not isinstance(part, Access):
            return None
        return replace(part, indices=tuple(rewrite(index, change) for index in part.indices))

    def is_of_ints(condition: Expr) -> bool:
        return all(narrow.get(name) == INT.name for name in variables(condition))

    return rewrite(expr, change)


def cast_to_long(expr: Expr) -> Expr:
    """Return ``(long)expr``."""
    return Cast(LONG, expr, is_bare=isinstance(expr, Var))
