"""Arrays of one call that share memory, where C lets a caller pass such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from annotune.analysis.facts import Analysis
from annotune.ir.c_types import may_share, may_share_unchanged
from annotune.ir.expr import Binary, Expr, Int, walk
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.ir.region import Array, Region
from annotune.measure.elements import Family, family_of
from annotune.measure.evaluate import known_values
from annotune.measure.index_values import index_ranges

WHOLE, ENDING = -1, -2


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two arrays in one piece of memory: the last `shared` elements of `first` begin `second`.

    With none they touch, with `WHOLE` both begin at one place, with `ENDING` both end at one.
    """

    first: str
    second: str
    shared: int

    def __str__(self) -> str:
        if self.shared == WHOLE:
            return f"'{self.first}' and '{self.second}' at one place"
        if self.shared == ENDING:
            return f"'{self.first}' and '{self.second}' with one end"
        how = "overlapping by one element" if self.shared else "side by side"
        return f"'{self.first}' and '{self.second}' {how}"


def overlaps(
    analysis: Analysis, sizes: Mapping[str, int], has_inputs: bool = False
) -> tuple[Overlap, ...]:
    """Return how arrays of `analysis` may share memory, and how they just do not.

    Only of one type, for what is a number in one need not be any in the other; and none of those
    whose values must stay indices, at `sizes` as at others. With `has_inputs` also pairs of which
    none is written, which matter to what copies each into another memory in which both must be
    present; two of integers may have two types then.
    """
    try:
        indices = index_ranges(analysis, known_values(analysis.region, sizes))
    except ValueError:  # no inputs are known to be right, shared or not
        return ()
    return tuple(_pairs(analysis, frozenset(indices), has_inputs))


def _pairs(analysis: Analysis, indices: frozenset[str], has_inputs: bool) -> Iterator[Overlap]:
    region = analysis.region
    for one, two in permutations(region.arrays.values(), 2):
        if indices & {one.name, two.name}:
            continue
        is_written = analysis.uses[one.name].is_written or analysis.uses[two.name].is_written
        if not (may_share if is_written else may_share_unchanged)(one, two):
            continue
        is_of_one_type = one.element == two.element
        if not (is_of_one_type if is_written else has_inputs):
            continue
        if is_of_one_type:
            yield Overlap(one.name, two.name, 0)
            yield Overlap(one.name, two.name, 1)
        elif not _are_integers_both(one, two, region):
            continue
        if one.name < two.name:
            yield Overlap(one.name, two.name, WHOLE)
            if not is_written:
                yield Overlap(one.name, two.name, ENDING)


def _are_integers_both(one: Array, two: Array, region: Region) -> bool:
    """Return whether the bytes of small integers of the one type are such of the other too.

    Among them are zeros, by which nothing must be divided.
    """
    are_integers = all(family_of(array.element) is Family.INTEGER for array in (one, two))
    return are_integers and all(isinstance(divisor, Int) for divisor in _divisors(region))


def _divisors(region: Region) -> Iterator[Expr]:
    """Yield what a region divides by."""
    for stmt in walk_stmts(region.nest.body):
        exprs: tuple[Expr, ...] = ()
        if isinstance(stmt, Assign):
            exprs = stmt.sources()
            if stmt.op in ("/=", "%="):
                yield stmt.value
        elif isinstance(stmt, Local) and stmt.value is not None:
            exprs = (stmt.value,)
        for part in (part for expr in exprs for part in walk(expr)):
            if isinstance(part, Binary) and part.op in ("/", "%"):
                yield part.right
