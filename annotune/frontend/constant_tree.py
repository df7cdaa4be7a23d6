"""The value of an integer constant expression as a syntax tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from annotune.frontend.constant import compute, integer
from annotune.frontend.syntax import c_ast


def value_of_tree(node: Any, value_of: Callable[[Any], int | None]) -> int | None:
    """Return the value of an expression, None when it is not an integer constant.

    `value_of` gives the value of an identifier's node, None when it has none.
    """
    try:
        return _value(node, value_of)
    except (ZeroDivisionError, ValueError, RecursionError):
        return None


def _value(node: Any, value_of: Callable[[Any], int | None]) -> int | None:
    match node:
        case c_ast.Constant():
            return integer(node.value)
        case c_ast.ID():
            return value_of(node)
        case c_ast.UnaryOp(op="-" | "+" | "!" | "~"):
            inner = _value(node.expr, value_of)
            if inner is None:
                return None
            return {"-": -inner, "+": inner, "!": int(not inner), "~": ~inner}[node.op]
        case c_ast.BinaryOp():
            left, right = _value(node.left, value_of), _value(node.right, value_of)
            return None if left is None or right is None else compute(node.op, left, right)
        case c_ast.TernaryOp():
            condition = _value(node.cond, value_of)
            if condition is None:
                return None
            return _value(node.iftrue if condition else node.iffalse, value_of)
    return None
