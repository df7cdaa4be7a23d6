"""Elements of shaped arrays as elements of the flat memory under them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from annotune.ir.expr import Access, Binary, Expr
from annotune.ir.region import Array


def flattened(expr: Expr, arrays: Mapping[str, Array]) -> Expr | None:
    """Return an element of a shaped array as one of the flat array under it, else None.

    ``A[i][j]`` of ``double A[m][n]`` is ``A[i*n + j]`` (C11 6.5.2.1).
    """
    # A local array of our own is none of the region's and keeps its shape.
    if not isinstance(expr, Access) or len(expr.indices) < 2 or expr.array not in arrays:
        return None
    extents = arrays[expr.array].extents
    assert len(extents) == len(expr.indices)

    def step(offset: Expr, pair: tuple[Expr, Expr | None]) -> Expr:
        index, extent = pair
        assert extent is not None, "only the outermost extent may be open"
        return Binary("+", Binary("*", offset, extent), index)

    inner = list(zip(expr.indices[1:], extents[1:], strict=True))
    offset: Expr = reduce(step, inner, expr.indices[0])
    return Access(expr.array, (offset,), expr.span)
