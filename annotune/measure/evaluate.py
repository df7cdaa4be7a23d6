"""Integer expressions of the loop-nest language, computed for given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from annotune.codegen.c_expr import c_expr
from annotune.ir.expr import Expr, Int
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Nest, Stmt
from annotune.ir.region import Region


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the value of an integer expression, with C's division towards zero.

    Raises:
        ValueError: A name has no value, or the expression is not one of integers.
    """
    folded = fold(expr, values)
    if not isinstance(folded, Int):
        raise ValueError(f"'{c_expr(expr)}' has no value: '{c_expr(folded)}' is left of it")
    return folded.value


def known_values(region: Region, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the integers of `region` by name: `sizes`, and before them what C itself fixes."""
    fixed = {s.name: s.value for s in region.scalars.values() if s.value is not None}
    return {**region.sizes, **sizes, **fixed}


def iterations(nest: Nest, values: Mapping[str, int]) -> int:
    """Return about how many assignments the nest makes.

    Exact for rectangular nests; an inner loop whose bounds depend on an outer one is counted
    at the middle of the outer one's range.

    Raises:
        ValueError: A bound has no value.
    """
    return sum(_count(stmt, values) for stmt in nest.body)


def _count(stmt: Stmt, values: Mapping[str, int]) -> int:
    match stmt:
        case Assign():
            return 1
        case Local() | LocalArray() | Await() | Fetch():
            return 0
        case Loop(var, lower, upper, body, step):
            first, last = evaluate(lower, values), evaluate(upper, values)
            trips = max(0, -((first - last) // step))
            inside = {**values, var: (first + last) // 2}
            return trips * sum(_count(inner, inside) for inner in body) if trips else 0
        case _:
            assert_never(stmt)
