"""How many instances a statement has and how many distinct elements its accesses touch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from annotune.analysis.named import Part, Rounded, plain_names
from annotune.analysis.poly import ZERO, Poly
from annotune.analysis.statements import Counted, Statement, moving_parts
from annotune.analysis.truth_table import bounds_of_truth, names_decided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[np.int64]

# Instances, and bytes of a map of touched elements, above which a footprint is bounded
# rather than counted: about 50 ms of numpy.
ENUMERATION_LIMIT = 4_000_000
MAP_LIMIT = 64_000_000


@dataclass(frozen=True, slots=True)
class Progression:
    """The addresses ``offset + sum(stride * 0..count-1)``; strides positive and ascending."""

    offset: int
    sides: tuple[tuple[int, int], ...]

    @property
    def last(self) -> int:
        return self.offset + sum(stride * (count - 1) for stride, count in self.sides)

    @property
    def points(self) -> int:
        return prod(count for _, count in self.sides)

    @property
    def is_distinct(self) -> bool:
        """Return whether all points are proven to be different addresses."""
        reach = 0
        for stride, count in self.sides:
            if stride <= reach:
                return False
            reach += stride * (count - 1)
        return True

    @property
    def is_interval(self) -> bool:
        return self.sides in ((), *(((1, count),) for _, count in self.sides))


def progression(offset: int, sides: Sequence[tuple[int, int]]) -> Progression:
    """Return the same addresses with positive strides, merged where they join without gaps."""
    merged: list[tuple[int, int]] = []
    for stride, count in sides:
        if stride < 0:
            offset += stride * (count - 1)
    for stride, count in sorted((abs(s), c) for s, c in sides if s != 0 and c > 1):
        if merged:
            small, have = merged[-1]
            if stride % small == 0 and stride // small <= have:
                merged[-1] = (small, have + stride // small * (count - 1))
                continue
        merged.append((stride, count))
    return Progression(offset, tuple(merged))


def box(statement: Statement, sizes: Mapping[str, int]) -> list[tuple[int, int, int]] | None:
    """Return first value, step and trip count of each loop; None when one depends on another."""
    sides = []
    for loop in statement.loops:
        lower = [bound.at(sizes).constant for bound in loop.lower]
        upper = [bound.at(sizes).constant for bound in loop.upper]
        if None in lower or None in upper:
            return None
        first = max(value for value in lower if value is not None)
        end = min(value for value in upper if value is not None)
        step = loop.loop.step
        sides.append((first, step, max(0, -(-(end - first) // step))))
    return sides


def instance_count(statement: Statement, sizes: Mapping[str, int]) -> int:
    """Return how often `statement` runs.

    A guard counts as far as loops and sizes decide it; where memory does, it counts as true.
    An estimate where more than `ENUMERATION_LIMIT` iterations of loops decide how often
    inner ones run: the middle iteration then stands for all.
    """
    guard = statement.assign.guard
    sides = box(statement, sizes)
    if sides is not None and guard is None:
        return prod(count for _, _, count in sides)
    import numpy as np

    bounds = [b.names for loop in statement.loops for b in (*loop.lower, *loop.upper)]
    used = plain_names({name for names in bounds for name in names}, statement.parts)
    used |= frozenset() if guard is None else names_decided(guard)
    columns: dict[str, Column] = {}
    weights = np.ones(1, dtype=np.int64)
    is_complete = True
    for loop in statement.loops:
        first, trips = _first_and_trips(loop, columns, len(weights), sizes, statement.parts)
        if loop.var in used and int(trips.sum()) <= ENUMERATION_LIMIT:
            columns, rows = _unfold(loop, columns, first, trips)
            weights = weights[rows]
        elif loop.var in used:
            columns[loop.var] = first + np.maximum(trips, 1) // 2 * loop.loop.step
            weights = weights * trips
            is_complete = False
        else:
            weights = weights * trips
    if guard is not None and is_complete:
        _, may_hold = bounds_of_truth(guard, columns, sizes)
        weights = weights * may_hold
    return int(weights.sum())


def _first_and_trips(
    loop: Counted,
    columns: Mapping[str, Column],
    rows: int,
    sizes: Mapping[str, int],
    parts: Mapping[str, Part],
) -> tuple[Column, Column]:
    import numpy as np

    first = np.maximum.reduce([_values(b, columns, rows, sizes, parts) for b in loop.lower])
    end = np.minimum.reduce([_values(b, columns, rows, sizes, parts) for b in loop.upper])
    return first, np.maximum(0, -(-(end - first) // loop.loop.step))


def _unfold(
    loop: Counted, columns: Mapping[str, Column], first: Column, trips: Column
) -> tuple[dict[str, Column], Column]:
    """Return the columns with one row per iteration of `loop`, and each row's old row."""
    import numpy as np

    rows = np.repeat(np.arange(len(trips)), trips)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(trips) - trips, trips)
    unfolded = {name: column[rows] for name, column in columns.items()}
    unfolded[loop.var] = first[rows] + place * loop.loop.step
    return unfolded, rows


def _values(
    poly: Poly,
    columns: Mapping[str, Column],
    rows: int,
    sizes: Mapping[str, int],
    parts: Mapping[str, Part],
) -> Column:
    import numpy as np

    total = np.zeros(rows, dtype=np.int64)
    for monomial, factor in poly.at(sizes).terms:
        term = np.full(rows, factor, dtype=np.int64)
        for name in monomial:
            part = parts.get(name)
            if isinstance(part, Rounded):
                left = _values(part.left, columns, rows, sizes, parts)
                right = _values(part.right, columns, rows, sizes, parts)
                # The model has shown that nothing here is negative.
                term = term * (left // right if part.op == "/" else left % right)
            else:
                term = term * columns[name]
        total = total + term
    return total


def distinct_elements(addresses: Sequence[tuple[Statement, Poly]], sizes: Mapping[str, int]) -> int:
    """Return how many different elements all `addresses` touch together.

    Exact for boxes whose strides nest and for anything small enough to list; otherwise an
    upper bound, the sum of the parts or the span between the outermost addresses.
    """
    parts: dict[Progression, None] = {}
    listed: list[Column] = []
    unknown = 0
    for statement, address in addresses:
        sides = box(statement, sizes)
        is_plain = moving_parts(statement.parts).isdisjoint(address.names)
        column = None if sides is not None and is_plain else _list(statement, address, sizes)
        if column is None and not is_plain:
            unknown += instance_count(statement, sizes)
        elif column is None:
            parts.setdefault(_part(statement, address, sides or hull(statement, sizes), sizes))
        else:
            listed.append(column)
    if len(parts) == 1 and not listed:
        (only,) = parts
        if only.is_distinct:
            return unknown + only.points
    if not listed and all(part.is_interval for part in parts):
        return unknown + _union_of_intervals(parts)
    return unknown + _count(tuple(parts), listed)


def _part(
    statement: Statement,
    address: Poly,
    sides: Sequence[tuple[int, int, int]],
    sizes: Mapping[str, int],
) -> Progression:
    split = address.at(sizes).linear_in(statement.iterators)
    assert split is not None
    offset = split[1].constant
    assert offset is not None, "a size without a value"
    steps = []
    for var, (first, step, count) in zip(statement.iterators, sides, strict=True):
        factor = split[0].get(var, ZERO).constant
        assert factor is not None, "a size without a value"
        offset += factor * first
        steps.append((factor * step, count))
    return progression(offset, steps)


def hull(statement: Statement, sizes: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Return a box around all instances: first value, step and trip count of each loop."""
    ranges: dict[str, tuple[int, int]] = {}
    sides = []
    for loop in statement.loops:
        lows = [_extremes(bound, ranges, sizes, statement.parts)[0] for bound in loop.lower]
        ends = [_extremes(bound, ranges, sizes, statement.parts)[1] for bound in loop.upper]
        first, end = max(lows), min(ends)
        # Rows of a triangle need not start on one step, so the hull takes every value.
        sides.append((first, 1, max(0, end - first)))
        ranges[loop.var] = (first, max(first, end - 1))
    return sides


def _extremes(
    poly: Poly,
    ranges: Mapping[str, tuple[int, int]],
    sizes: Mapping[str, int],
    parts: Mapping[str, Part],
) -> tuple[int, int]:
    """Return bounds of a polynomial that is linear in the names of `ranges` and in parts."""
    low = high = 0
    for monomial, factor in poly.at(sizes).terms:
        least, greatest = 1, 1
        part = parts.get(monomial[0]) if monomial else None
        if isinstance(part, Rounded):
            first, last = _extremes(part.left, ranges, sizes, parts)
            divisor = part.right.at(sizes).constant
            assert divisor is not None, "a size without a value"
            least, greatest = first // divisor, last // divisor
            if part.op == "%":
                least, greatest = 0, min(last, divisor - 1)
        elif monomial:
            least, greatest = ranges[monomial[0]]
        low += min(factor * least, factor * greatest)
        high += max(factor * least, factor * greatest)
    return low, high


def _list(statement: Statement, address: Poly, sizes: Mapping[str, int]) -> Column | None:
    """Return the distinct addresses of a nest whose loops depend on each other.

    None when there are too many to list.
    """
    import numpy as np

    columns: dict[str, Column] = {}
    rows = 1
    parts = statement.parts
    used = set(plain_names(address.names, parts))
    for loop in reversed(statement.loops):
        if loop.var in used:
            names = {n for b in (*loop.lower, *loop.upper) for n in b.names}
            used |= plain_names(names, parts)
    for loop in statement.loops:
        if loop.var not in used:
            continue
        first, trips = _first_and_trips(loop, columns, rows, sizes, parts)
        if int(trips.sum()) > ENUMERATION_LIMIT:
            return None
        columns, _ = _unfold(loop, columns, first, trips)
        rows = int(trips.sum())
    return np.unique(_values(address, columns, rows, sizes, parts))


def _union_of_intervals(parts: Iterable[Progression]) -> int:
    total, reached = 0, None
    for part in sorted(parts, key=lambda p: p.offset):
        begin = part.offset if reached is None else max(part.offset, reached)
        total += max(0, part.last + 1 - begin)
        reached = part.last + 1 if reached is None else max(reached, part.last + 1)
    return total


def _count(parts: Sequence[Progression], listed: Sequence[Column]) -> int:
    import numpy as np

    ends = [(part.offset, part.last) for part in parts]
    ends += [(int(column[0]), int(column[-1])) for column in listed if len(column)]
    if not ends:
        return 0
    lowest, span = min(a for a, _ in ends), max(b for _, b in ends) - min(a for a, _ in ends) + 1
    points = sum(part.points for part in parts) + sum(len(column) for column in listed)
    if span > MAP_LIMIT or points > ENUMERATION_LIMIT * 4:
        return min(points, span)
    touched = np.zeros(span, dtype=bool)
    for part in parts:
        shape = tuple(count for _, count in part.sides)
        strides = tuple(stride for stride, _ in part.sides)
        start = touched[part.offset - lowest :]
        np.lib.stride_tricks.as_strided(start, shape, strides)[...] = True
    for column in listed:
        touched[column - lowest] = True
    return int(touched.sum())
