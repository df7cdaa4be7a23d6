"""Expressions as C."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.analysis.named import is_unsigned_type
from annotune.ir.expr import Binary, Call, Expr, Select, rewrite, variables
from annotune.ir.text import print_expr

_CHOOSES = {"min": "<", "max": ">"}


def c_expr(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, of `annotune.ir.text.PRECEDENCE`,
    0 for none; one more for the right operand. The text form of the nest language is C already.
    """
    return print_expr(expr, enclosing)


def plain_c(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C that needs no function of ours: C itself has no integer `min`."""
    return c_expr(without_extrema(expr), enclosing)


def of_one_sign(expr: Expr, types: Mapping[str, str]) -> Expr:
    """Return `expr` with ``min`` and ``max`` of numbers that C compares by their values.

    `types` are those of the scalars. The lesser of an int -1 and a ``size_t`` is the latter in C.
    """

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in _CHOOSES:
            return None
        signs = {is_unsigned_type(types[name]) for name in variables(part) if name in types}
        arguments = tuple(rewrite(argument, change) for argument in part.arguments)
        if len(signs) > 1:
            arguments = tuple(Call("(long)", (argument,)) for argument in arguments)
        return Call(part.function, arguments)

    return rewrite(expr, change)


def without_extrema(expr: Expr) -> Expr:
    """Return `expr` with ``min(a, b)`` as ``a < b ? a : b``, and `max` alike."""

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in _CHOOSES:
            return None
        first, *others = (without_extrema(a) for a in part.arguments)
        for other in others:
            first = Select(Binary(_CHOOSES[part.function], first, other), first, other)
        return first

    return rewrite(expr, change)
