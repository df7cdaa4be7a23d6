"""Packed and triangular storage: rows one after the other, each longer or shorter than the last.

``ap[j * (j - 1) / 2 + i]`` with ``0 <= i < j`` is row j, column i of a triangle. Row r starts at
A(r), a polynomial of the second degree in r alone, and has ``A(r + 1) - A(r)`` elements, which is
linear in r. Where all references of an array are such rows of one A, and every column is proven to
stay in its row, rows that are touched have elements, and so have those between them, since their
length is linear. Then A grows, rows lie apart, and equal addresses are equal rows and columns: an
array of two dimensions, in the order of addresses.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from annotune.analysis.statements import DataReference, Halved, NestStatement
from annotune.frozen import dataclass
from annotune.ir.poly import ZERO, Poly, integer, variable

# Rows, or elements, by which what a reference counts from may be off.
_NEAR = (0, -1, 1)


@dataclass(frozen=True, slots=True)
class RowStarts:
    """Where rows of packed storage start: half of ``square * r * r + slope * r + twice_first``."""

    square: int
    slope: Poly
    twice_first: Poly

    def twice(self, row: Poly) -> Poly:
        """Return two times the address at which a row starts."""
        return integer(self.square) * row * row + self.slope * row + self.twice_first

    def length(self, row: Poly) -> Poly | None:
        """Return the number of elements of a row, None where that is no polynomial."""
        return half(self.twice(row + integer(1)) - self.twice(row))


def half(twice: Poly) -> Poly | None:
    """Return half of a polynomial whose factors are even; None of any other."""
    return _over(twice, 2)


def twice(address: Poly, statement: NestStatement) -> Poly:
    """Return two times an address, with what its halves are halves of."""
    halves = {n: p.twice for n in address.names if isinstance(p := statement.parts.get(n), Halved)}
    split = address.linear_in(halves)
    assert split is not None, "a half is no factor of another part"
    total = integer(2) * split[1]
    for name, factor in split[0].items():
        total = total + factor * halves[name]
    return total


def is_packed(references: Sequence[DataReference], statements: Mapping[int, NestStatement]) -> bool:
    """Return whether halves of products of loops stand in the subscripts of an array."""
    return any(
        isinstance(statements[r.statement].parts.get(name), Halved)
        for r in references
        for poly in r.subscripts
        for name in poly.names
    )


class Proofs(Protocol):
    """What is proven of polynomials over the runs of a reference, by its number."""

    def least(self, which: int, value: Poly) -> Poly | None:
        """Return the least value over the runs, None where that is no polynomial of sizes."""

    def is_inside(self, which: int, value: Poly, extent: Poly) -> bool:
        """Return whether ``0 <= value < extent`` is proven for all runs."""


def packed_rows(
    references: Sequence[DataReference], statements: Mapping[int, NestStatement], proofs: Proofs
) -> tuple[RowStarts, tuple[tuple[Poly, Poly], ...]] | None:
    """Return how the rows of an array start, and the row and column of each reference.

    None where not all columns are proven to stay in their rows.
    """
    if any(len(r.subscripts) != 1 or r.unknown for r in references):
        return None
    split = []
    for reference in references:
        user = statements[reference.statement]
        split.append(_squares(twice(reference.subscripts[0], user), user))
    curves = [one for one in split if one is not None]
    if len(curves) < len(split) or len({one.square for one in curves}) > 1:
        return None
    for starts in _candidates(curves[0], proofs):
        rows = []
        for which, curve in enumerate(curves):
            found = _placed(which, curve, starts, proofs)
            if found is None:
                break
            rows.append(found)
        else:
            return starts, tuple(rows)
    return None


@dataclass(frozen=True, slots=True)
class _Curve:
    """Two times an address, `whole`, in which `var` is squared and no other loop is."""

    whole: Poly
    var: str
    square: int
    slope: Poly


def _squares(twice: Poly, user: NestStatement) -> _Curve | None:
    """Return the parts of two times an address in which one loop is squared; None for others."""
    squared = {m[0]: f for m, f in twice.terms if len(m) == 2 and m[0] == m[1]}
    squared = {name: factor for name, factor in squared.items() if name in user.iterators}
    if len(squared) != 1:
        return None
    ((var, square),) = squared.items()
    left = twice - integer(square) * variable(var) * variable(var)
    split = left.linear_in(user.iterators)
    if split is None or any(f.constant is None for v, f in split[0].items() if v != var):
        return None
    return _Curve(twice, var, square, split[0].get(var, ZERO))


def _candidates(first: _Curve, proofs: Proofs) -> Iterator[RowStarts]:
    """Yield what rows may start at: at the least column of a reference, or beside that.

    Rows may count up or down.
    """
    for sign, move in itertools.product((1, -1), _NEAR):
        starts = RowStarts(first.square, integer(sign) * first.slope, ZERO)
        row = integer(sign) * variable(first.var) + integer(move)
        column = half(first.whole - starts.twice(row))
        least = None if column is None else proofs.least(0, column)
        if least is None or starts.length(ZERO) is None:
            continue
        for offset in _NEAR:
            yield replace(starts, twice_first=integer(2) * (least + integer(offset)))


def _placed(
    which: int, curve: _Curve, starts: RowStarts, proofs: Proofs
) -> tuple[Poly, Poly] | None:
    """Return the row and the column of a reference; None where it is not proven to have them."""
    for sign, move in itertools.product((1, -1), _NEAR):
        shift = _over(integer(sign) * curve.slope - starts.slope, 2 * starts.square)
        if shift is None:
            continue
        row = integer(sign) * variable(curve.var) + shift + integer(move)
        column, length = half(curve.whole - starts.twice(row)), starts.length(row)
        if column is not None and length is not None and proofs.is_inside(which, column, length):
            return row, column
    return None


def _over(poly: Poly, divisor: int) -> Poly | None:
    """Return a polynomial over a number that divides its factors; None of any other."""
    if any(factor % divisor for _, factor in poly.terms):
        return None
    return Poly.of({monomial: factor // divisor for monomial, factor in poly.terms})
