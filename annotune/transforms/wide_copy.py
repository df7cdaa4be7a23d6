"""Copies of which a thread moves several neighbours at once: where they are such, and aligned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotune.ir.expr import Access, Binary, Expr, Var, substitute
from annotune.ir.fold import fold
from annotune.ir.nest import Loop
from annotune.ir.poly import ONE, Poly, from_expr, integer, variable
from annotune.ir.region import Array, flattened
from annotune.transforms.footprint import Footprint
from annotune.transforms.tiles import cut_ends

# The vectors of CUDA that a thread copies at once: 8 or 16 bytes.
VECTORS = {"double": (2,), "float": (2, 4)}


def why_not_wide(
    copied: Footprint,
    layout: Sequence[tuple[str, int]],
    width: int,
    element: str,
    place: Place,
) -> str:
    """Return in words why `width` neighbours cannot be copied together, empty when they can."""
    sides = {side.loop.var: side for side in copied.sides}
    (inner, stride), others = layout[-1], (each for _, each in layout[:-1])
    side = sides[inner]
    if width not in VECTORS.get(element, ()):
        return f"there is no such vector of {element}"
    if any(one.behind or one.ahead for one in copied.sides):
        return "accesses reach beyond the tile"
    whole = (side.extent or 1) % width == 0 and side.loop.step == 1
    if stride != 1 or not whole or any(each % width for each in others):
        return "the copy has them apart"
    lanes = place.start(copied)
    linear = lanes.linear_in((inner,)) if lanes is not None else None
    if lanes is None or linear is None or linear[0].get(inner) != ONE:
        return "they are no neighbours in the array"
    # What is left of the place without the loop itself: a multiple in every copy.
    if not _is_multiple(lanes - variable(inner), width):
        return "they do not start at a multiple of that"
    for end in cut_ends(side.loop):
        length = place.counted(Binary("-", end, side.loop.lower))
        if length is None or not _is_multiple(length, width):
            return "they do not end at a multiple of that"
    return ""


class Place:
    """Where elements are in memory, by the loops around a copy."""

    def __init__(
        self,
        arrays: Mapping[str, Array],
        lowest: Expr,
        loops: Sequence[Loop],
        constants: Mapping[str, int],
    ) -> None:
        self._arrays, self._lowest = arrays, lowest
        self._loops, self._constants = loops, constants

    def start(self, copied: Footprint) -> Poly | None:
        """Return the place of an element in memory from the first one that the region touches.

        The iterators of the copy are counted from their tile's start.
        """
        flat = flattened(copied.source, self._arrays) or copied.source
        assert isinstance(flat, Access)
        loops = (side.loop for side in copied.sides)
        ahead: dict[str, Expr] = {
            x.var: Binary("+", x.lower, Var(x.var)) for x in loops if x.step == 1
        }
        place = substitute(flat.indices[0], ahead)
        return self.counted(Binary("-", place, self._lowest))

    def counted(self, place: Expr) -> Poly | None:
        """Return a place with the iterators of tiles counted in tiles, so that what each
        contributes is a multiple of its coefficient; None where it is no polynomial."""
        found = from_expr(fold(place, self._constants))
        # Where an inner loop starts is told by outer ones, whose turn comes then.
        for loop in reversed(self._loops):
            begin = from_expr(fold(loop.lower, self._constants))
            if found is None or begin is None:
                return None
            if loop.step > 1:
                counted = begin + integer(loop.step) * variable(loop.var)
                found = found.substitute({loop.var: counted})
        return found


def _is_multiple(place: Poly, width: int) -> bool:
    return all(factor % width == 0 for _, factor in place.terms)
