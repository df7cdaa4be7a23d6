"""What C does by itself as it stores a value: conversions, and operators that a nest lacks."""

from __future__ import annotations

from typing import Any

from annotune.frontend import messages
from annotune.frontend.expressions import Expressions
from annotune.frontend.kinds import (
    COMPLEX,
    Typed,
    cast,
    is_integer,
    promoted,
    unwrapped,
    without_type,
)
from annotune.ir.expr import Access, Var

# What a statement of a nest may do; other assignments are written out.
_OWN = frozenset({"=", "+=", "-=", "*=", "/="})
ASSIGNMENTS = _OWN | {"%=", "<<=", ">>="}


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
    if op == "=":
        value = without_type(Typed(unwrapped(value, place, base), value.kind))
    if op in _OWN and not (op != "=" and loses_part):
        return op, Typed(cast(value, base), base) if loses_part else value
    if op not in _OWN and not (is_whole and is_integer(value.kind)):
        raise expressions.refuse(messages.OPERATOR, node, op=op)
    old = Typed(place, promoted(base))
    new = expressions.computed(op[:-1], old, value, node)
    return "=", Typed(cast(new, base), base) if loses_part else new
