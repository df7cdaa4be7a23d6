"""Expressions as C text, with the precedence of C's operators."""

from __future__ import annotations

from typing import assert_never

from annotune.ir.expr import COMPARISONS, Access, Binary, Call, Expr, Int, Negate, Real, Select, Var
from annotune.ir.functions import c_name

# C11 6.5.5 to 6.5.15, loosest first.
SELECT = 1
PRECEDENCE = {
    **{"||": 2, "&&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5},
    **{"+": 6, "-": 6, "*": 7, "/": 7, "%": 7},
}
SUM = PRECEDENCE["+"]
_UNARY = 8


def print_expr(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, 0 for none.
    """
    match expr:
        case Int(value):
            return str(value) if value >= 0 or enclosing <= _UNARY else f"({value})"
        case Real(text):
            return text
        case Var(name):
            return name
        case Access(array, indices):
            return array + "".join(f"[{print_expr(index)}]" for index in indices)
        case Negate(operand):
            # One level above unary: -(-x) must not print as the operator of --x.
            text = f"-{print_expr(operand, _UNARY + 1)}"
            return f"({text})" if enclosing > _UNARY else text
        case Binary(op, left, right):
            own = PRECEDENCE[op]
            # C associates to the left, so only the right operand binds tighter:
            # (a - b) - c prints as a - b - c, but a - (b - c) keeps its parentheses.
            first, second = _clear(op, left, own), _clear(op, right, own + 1)
            text = f"{print_expr(left, first)} {op} {print_expr(right, second)}"
            return f"({text})" if own < enclosing else text
        case Call(function, arguments):
            return f"{c_name(function)}({', '.join(print_expr(a) for a in arguments)})"
        case Select(condition, if_true, if_false):
            choice = f"{print_expr(if_true)} : {print_expr(if_false, SELECT)}"
            text = f"{print_expr(condition, SELECT + 1)} ? {choice}"
            return f"({text})" if enclosing > SELECT else text
        case _:
            assert_never(expr)


def _clear(op: str, operand: Expr, least: int) -> int:
    """Return the precedence around an operand: parentheses also where compilers warn of none.

    These are ``(a < b) == c`` and ``a || (b && c)`` (gcc's -Wparentheses).
    """
    if op in COMPARISONS:
        return SUM
    return SUM if op == "||" and isinstance(operand, Binary) and operand.op == "&&" else least
