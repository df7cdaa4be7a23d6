"""The C types of values, as far as the order and the grouping of additions depend on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
)
from annotune.ir.functions import FUNCTIONS
from annotune.ir.nest import Assign
from annotune.ir.region import Region

# C11 6.3.1.8: an operation is done in the wider type of its operands.
_INTEGER, _FLOAT, _DOUBLE = range(3)


def is_no_narrower(assign: Assign, types: Mapping[str, str]) -> bool:
    """Return whether the value is of a type at least as wide as the accumulator's.

    Then terms may be added to each other first. Terms of integers could overflow where each
    one does not, and terms of float would lose the digits of an accumulator of double.
    `types` are the C types of names; one that is not in it is a double.
    """
    target = assign.target
    name = target.array if isinstance(target, Access) else target.name
    value = _rank(assign.value, types)
    return value != _INTEGER and value >= _rank_of(types.get(name, "double"))


def drops_fractions(assign: Assign, types: Mapping[str, str]) -> bool:
    """Return whether an integer accumulates reals, each step of which rounds to an integer."""
    target = assign.target
    name = target.array if isinstance(target, Access) else target.name
    if _rank_of(types.get(name, "double")) != _INTEGER:
        return False
    return _rank(assign.value, types) != _INTEGER


def neutral(element: str) -> Expr:
    """Return what a sum of some C type may begin with: x + -0.0 is x, also where x is -0.0."""
    if "complex" in element or "_Complex" in element:
        # C's -0.0 alone has an imaginary part of 0.0.
        part = "float" if "float" in element else "double"
        return Negate(Call(f"({part} _Complex)", (Real("0.0"),)))
    if _rank_of(element) == _INTEGER:
        return Int(0)
    return Negate(Real("0.0f" if element == "float" else "0.0"))


def region_types(region: Region) -> dict[str, str]:
    """Return the C types of a region's names, of an array that of its elements."""
    return {
        **{scalar.name: scalar.type for scalar in region.scalars.values()},
        **{array.name: array.element for array in region.arrays.values()},
    }


def _rank(expr: Expr, types: Mapping[str, str]) -> int:
    match expr:
        case Int():
            return _INTEGER
        case Real(text):
            return _FLOAT if text[-1] in "fF" else _DOUBLE
        case Var(name) | Access(array=name):
            return _rank_of(types.get(name, "double"))
        case Negate(operand):
            return _rank(operand, types)
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return _INTEGER
        case Binary(_, left, right):
            return max(_rank(left, types), _rank(right, types))
        case Call(function, _):
            known = FUNCTIONS.get(function)
            return _rank_of(function if known is None else known.result)
        case Select(_, if_true, if_false):
            return max(_rank(if_true, types), _rank(if_false, types))
        case _:
            assert_never(expr)


def _rank_of(type_: str) -> int:
    """Return the rank of a C type or of a cast to one; a function of ours gives integers."""
    if "double" in type_:
        return _DOUBLE
    return _FLOAT if "float" in type_ else _INTEGER
