"""Accesses that are one another some iterations later: how many, and the boxes that they fill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from annotune.ir.expr import Access, Binary, Expr, Int, Var, substitute
from annotune.ir.fold import fold
from annotune.ir.poly import Poly, from_expr, integer

Offset: TypeAlias = Mapping[str, int]
Point: TypeAlias = tuple[int, ...]
Box: TypeAlias = tuple[Point, Point]


def offset_of(access: Access, reference: Access, loops: Sequence[str]) -> Offset | None:
    """Return by how many iterations of each loop `access` is ahead of `reference`.

    ``A[i + 1][j]`` is one iteration of ``i`` ahead of ``A[i][j]``. Loops along which it is not are
    left out. None where no number of iterations turns one into the other.
    """
    if access.array != reference.array or len(access.indices) != len(reference.indices):
        return None
    found: dict[str, int] = {}
    for own, base in zip(access.indices, reference.indices, strict=True):
        ahead = _ahead(own, base, loops)
        if ahead is None or any(found.get(v, n) != n for v, n in ahead.items()):
            return None
        found |= ahead
    # A loop in two dimensions moves both.
    later: dict[str, Expr] = {v: Binary("+", Var(v), Int(n)) for v, n in found.items()}
    pairs = zip(access.indices, reference.indices, strict=True)
    same = all(_is_zero(Binary("-", substitute(base, later), own)) for own, base in pairs)
    return found if same else None


def _ahead(own: Expr, base: Expr, loops: Sequence[str]) -> dict[str, int] | None:
    """Return the iterations between two subscripts of one dimension, the longest strides first."""
    one, two = from_expr(own), from_expr(base)
    if one is None or two is None:
        return {} if own == base else None
    split, other = one.linear_in(loops), two.linear_in(loops)
    if split is None or other is None or split[0] != other[0]:
        return None
    rest = split[1] - other[1]
    found: dict[str, int] = {}
    for loop, stride in sorted(
        split[0].items(), key=lambda item: length_key(item[1]), reverse=True
    ):
        count = _times(rest, stride)
        if count:
            found[loop] = count
            rest = rest - integer(count) * stride
    return found if rest.is_zero else None


def length_key(stride: Poly) -> tuple[int, int]:
    """Return a key that is larger for a stride of more sizes, or of a larger number."""
    return max(len(m) for m, _ in stride.terms), abs(stride.constant or 0)


def _times(distance: Poly, stride: Poly) -> int:
    """Return how many strides come closest to a distance, 0 where none does."""
    step, length = stride.constant, distance.constant
    if step is not None and length is not None:
        nearest = (2 * abs(length) + abs(step) - 1) // (2 * abs(step))
        return nearest if (step > 0) == (length > 0) else -nearest
    return distance.divide(stride)[0].constant or 0


def _is_zero(expr: Expr) -> bool:
    poly = from_expr(fold(expr))
    return poly is not None and poly.is_zero


def filled_boxes(points: Iterable[Point]) -> tuple[Box, ...]:
    """Return boxes, lowest and highest corner, that together are exactly `points`.

    The points of a cross of five are its two lines.
    """
    known = frozenset(points)
    boxes = [(a, b) for a in known for b in known if _is_filled(a, b, known)]
    # The largest first; of equal ones those that begin first, so that texts stay the same.
    boxes.sort(key=lambda box: (-len(tuple(_inside(*box))), box))
    left, chosen = set(known), []
    while left:
        best = max(boxes, key=lambda box: sum(p in left for p in _inside(*box)))
        chosen.append(best)
        left -= set(_inside(*best))
    return tuple(chosen)


def _inside(low: Point, high: Point) -> Iterable[Point]:
    return product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))


def _is_filled(low: Point, high: Point, known: frozenset[Point]) -> bool:
    lengths = [b - a + 1 for a, b in zip(low, high, strict=True)]
    if min(lengths, default=1) < 1 or prod(lengths) > len(known):
        return False
    return all(point in known for point in _inside(low, high))
