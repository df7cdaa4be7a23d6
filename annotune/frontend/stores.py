"""What C does by itself as it stores a value: conversions, and operators that a nest lacks."""

from __future__ import annotations

from typing import Any

from annotune.frontend import messages
from annotune.frontend.expressions import Expressions
from annotune.frontend.kinds import (
    COMPLEX,
    Typed,
    cast,
    common,
    is_integer,
    is_unsigned,
    promoted,
    unwrapped,
    without_type,
)
from annotune.frontend.ranges import of_type
from annotune.frontend.syntax import c_ast
from annotune.ir.expr import Access, Call, Expr, Select, Var

# What a statement of a nest may do; other assignments are written out.
_OWN = frozenset({"=", "+=", "-=", "*=", "/="})
ASSIGNMENTS = _OWN | {"%=", "<<=", ">>="}
# Operators that a store shares with a value; of the first two either operand may stand first.
_COMMUTE = frozenset({"+", "*"})
_COMPOUND = _COMMUTE | {"-", "/"}


def compound(target: Any, value: Any) -> tuple[str, Any]:
    """Return ``+=`` and e for a store of ``x + e`` or ``e + x`` in x, else ``=`` and the value.

    C11 6.5.16.2 makes ``x += e`` the same as ``x = x + (e)``, conversions included, but for how
    often x is evaluated; what the front end takes has no side effects. A sum or a product is that
    of its operands in either order, rounded once. ``x - a + b`` is no such value: it takes a off
    first.
    """
    if isinstance(value, c_ast.BinaryOp) and value.op in _COMPOUND:
        if _alike(value.left, target):
            return f"{value.op}=", value.right
        if value.op in _COMMUTE and _alike(value.right, target):
            return f"{value.op}=", value.left
    return "=", value


def _alike(one: Any, other: Any) -> bool:
    """Return whether two syntax trees are the same but for where they stand."""
    if type(one) is not type(other):
        return False
    if any(getattr(one, name) != getattr(other, name) for name in one.attr_names):
        return False
    parts, others = dict(one.children()), dict(other.children())
    return parts.keys() == others.keys() and all(_alike(parts[n], others[n]) for n in parts)


def holds(base: str, expr: Expr, expressions: Expressions) -> bool:
    """Return whether type `base` holds all that an integer expression, or its choices, may be."""
    sides = (expr.if_true, expr.if_false) if isinstance(expr, Select) else (expr,)
    held = of_type(base)
    spans = [expressions.range_of(side) for side in sides]
    return held is not None and all(s and held[0] <= s[0] <= s[1] <= held[1] for s in spans)


def stored_value(value: Typed, place: Access | Var, base: str, expressions: Expressions) -> Typed:
    """Return what a store of `value` at a `place` of type `base` leaves, as far as it shows.

    C converts one integer to another by itself, and a sum cut to fewer bits at each step is that
    of its terms cut at the end. Not so a minimum or maximum, which such a step may make smaller,
    and not what becomes of a sum in a _Bool: a cast keeps later stages from taking them for one.
    """
    if base == "_Bool" or not is_integer(value.kind):
        return Typed(cast(value, base), promoted(base))
    expr = unwrapped(value, place, base)
    is_choice = isinstance(expr, Select) and place in (expr.if_true, expr.if_false)
    if is_choice and value.kind != base and not holds(base, expr, expressions):
        return Typed(Call(f"({base})", (expr,)), promoted(base))
    return Typed(expr, value.kind)


def _divides_unsigned(op: str, base: str, value: Typed) -> bool:
    """Return whether C makes an unsigned number of an integer before it divides it."""
    own = promoted(base)
    if op != "/=" or not (is_integer(own) and is_integer(value.kind)):
        return False
    return is_unsigned(common(own, value.kind)) and common(own, value.kind) != own


def converted(
    node: Any, place: Access | Var, base: str, op: str, value: Typed, expressions: Expressions
) -> tuple[str, Typed]:
    """Return the operator and the value to store in an element or variable of type `base`.

    A cast says where a real is stored as an integer: a sum that is cut to an integer after each
    step is no sum of its terms.
    """
    is_whole = is_integer(promoted(base))
    loses_part = (value.kind in COMPLEX and base not in COMPLEX) or (
        is_whole and not is_integer(value.kind)
    )
    if op == "=" and is_whole and is_integer(value.kind):
        return op, stored_value(without_type(value), place, base, expressions)
    if op == "=":
        value = without_type(value)
    if op in _OWN and not (op != "=" and (loses_part or _divides_unsigned(op, base, value))):
        return op, Typed(cast(value, base), base) if loses_part else value
    if op not in _OWN and not (is_whole and is_integer(value.kind)):
        raise expressions.refuse(messages.OPERATOR, node, op=op)
    old = Typed(place, promoted(base))
    new = expressions.computed(op[:-1], old, value, node)
    return "=", Typed(cast(new, base), base) if loses_part else new
