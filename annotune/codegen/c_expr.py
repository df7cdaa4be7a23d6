"""Expressions as C."""

from __future__ import annotations

from annotune.ir.expr import Binary, Call, Expr, Select, rewrite
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
