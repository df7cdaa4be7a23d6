"""Expressions as C."""

from __future__ import annotations

from annotune.ir.expr import Expr
from annotune.ir.text import print_expr


def c_expr(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, of `annotune.ir.text.PRECEDENCE`,
    0 for none; one more for the right operand. The text form of the nest language is C already.
    """
    return print_expr(expr, enclosing)
