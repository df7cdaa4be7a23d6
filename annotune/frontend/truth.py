"""Conditions: what ``if``, ``?:``, ``!`` and ``&&`` ask of a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from annotune.frontend.kinds import COMPLEX, Typed, common, is_integer, is_unsigned, without_type
from annotune.frontend.syntax import c_ast
from annotune.ir.expr import COMPARISONS, CONNECTIVES, Binary, Call, Expr, Int

if TYPE_CHECKING:
    from annotune.frontend.expressions import Expressions

_OPPOSITE: Mapping[str, str] = {
    **{"<": ">=", "<=": ">", ">": "<=", ">=": "<"},
    **{"==": "!=", "!=": "=="},
}
_OTHER = {"&&": "||", "||": "&&"}


def condition(node: Any, holds: bool, expressions: Expressions) -> Expr:
    """Return an expression that is 1 where the condition `node` is as `holds` says, else 0.

    Comparisons of integers are turned round; for reals ``!(a < b)`` is not ``a >= b``, since
    both are false for NaN.
    """
    match node:
        case c_ast.UnaryOp(op="!"):
            return condition(node.expr, not holds, expressions)
        case c_ast.BinaryOp(op="&&" | "||"):
            left = condition(node.left, holds, expressions)
            right = condition(node.right, holds, expressions)
            return Binary(node.op if holds else _OTHER[node.op], left, right)
        case c_ast.BinaryOp() if node.op in COMPARISONS:
            return _comparison(node, holds, expressions)
    value = expressions.exact_value(node)
    match without_type(value).expr:
        case Int(constant):
            return Int(int((constant != 0) == holds))
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES and holds:
            return value.expr
    return Binary("!=" if holds else "==", value.expr, Int(0))


def _comparison(node: Any, holds: bool, expressions: Expressions) -> Expr:
    left, right = expressions.exact_value(node.left), expressions.exact_value(node.right)
    kind = common(left.kind, right.kind)
    is_ordered = node.op not in ("==", "!=")
    if kind in COMPLEX and is_ordered:
        raise expressions.operator(node, node.op)
    a, b = (compared(without_type(side), kind, expressions) for side in (left, right))
    if holds:
        return Binary(node.op, a, b)
    if is_integer(kind) or not is_ordered:
        return Binary(_OPPOSITE[node.op], a, b)
    return Binary("==", Binary(node.op, a, b), Int(0))


def compared(side: Typed, kind: str, expressions: Expressions) -> Expr:
    """Return one side of a comparison made in type `kind`.

    C turns a negative number into a large one where the other side is unsigned; a cast says so,
    and keeps every later stage from taking the comparison for one of integers.
    """
    changes = is_unsigned(kind) and not is_unsigned(side.kind)
    if changes and not expressions.is_nonnegative(side.expr):
        return Call(f"({kind})", (side.expr,))
    return side.expr
