"""A part of the original's iterations, where all of them would take long.

A `Sample` has results like the whole: it runs every n-th iteration of loops around all statements
whose iterations have no written element in common, so that what such an iteration leaves does not
depend on which others are run. An `Excerpt` has a time like the whole: it runs neighbouring
iterations of the outermost loops, whatever they leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Protocol

import islpy as isl

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import plain_c
from annotune.frozen import dataclass
from annotune.ir.expr import SUM
from annotune.ir.nest import Loop
from annotune.measure.sizes import Sizes, evaluate, iterations, known_values

STRIDES = (5, 7, 11, 13, 17, 23, 31, 43, 61, 89, 127, 181, 257, 367, 521, 743, 1049, 1481, 2099)
"""Numbers without the factors 2 and 3, each about 1.4 times the one before.

The iterations kept then meet every place in a tile, whose lengths are made of these factors.
"""

MOST_OVER = 16
"""A sample with more than this many times the work that was wanted is none."""


class Part(Protocol):
    """Some iterations of a nest, in which a loop has a depth of so many loops around it."""

    def trips(self, loop: Loop, depth: int, trips: int) -> tuple[int, int]:
        """Return how many of a loop's iterations are run, and how many tests are made for it."""

    def left_out(self, loop: Loop, depth: int) -> str:
        """Return in C whether an iteration of a loop is left out; nothing where none is."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Every `stride`-th iteration of each of `loops`, and its last one."""

    loops: tuple[str, ...]
    stride: int

    def trips(self, loop: Loop, depth: int, trips: int) -> tuple[int, int]:
        """Return how many of a loop's iterations are run, and how many tests are made for it."""
        if loop.var not in self.loops:
            return trips, 0
        return min(trips, -(-trips // self.stride) + 1), trips

    def left_out(self, loop: Loop, depth: int) -> str:
        """Return in C whether an iteration of a loop is left out; nothing where none is."""
        if loop.var not in self.loops:
            return ""
        is_last = f"{loop.var} + {loop.step} >= {plain_c(loop.upper, SUM)}"
        return f"{_number_in(loop)} % {self.stride} != 0 && !({is_last})"

    def __str__(self) -> str:
        return f"every {self.stride}th iteration of {', '.join(self.loops)}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """So many iterations, in the middle, of the outermost loops, of those inside them, and so on.

    The middle of a loop stands for all of it where the bounds of an inner one depend on it.
    """

    counts: tuple[int, ...]

    def trips(self, loop: Loop, depth: int, trips: int) -> tuple[int, int]:
        """Return how many of a loop's iterations are run, and how many tests are made for it."""
        return (min(trips, self.counts[depth]), 0) if depth < len(self.counts) else (trips, 0)

    def left_out(self, loop: Loop, depth: int) -> str:
        """Return in C whether an iteration of a loop is left out; nothing where none is."""
        if depth >= len(self.counts):
            return ""
        count, number = self.counts[depth], _number_in(loop)
        length = f"({plain_c(loop.upper, SUM)} - ({plain_c(loop.lower)}) + {loop.step - 1})"
        spare = f"({length} / {loop.step} - {count})"
        first = f"({spare} > 0 ? {spare} / 2 : 0)"
        return f"{number} < {first} || {number} >= {first} + {count}"


def _number_in(loop: Loop) -> str:
    """Return in C the number of an iteration in its loop, from 0."""
    return f"({loop.var} - ({plain_c(loop.lower)})) / {loop.step}"


def work_of(analysis: Analysis, sizes: Sizes, part: Part | None = None) -> int:
    """Return about how many assignments, and tests of its own, a part of the nest makes.

    Raises:
        ValueError: A bound has no value.
    """
    values = known_values(analysis.region, sizes)
    if part is None:
        return iterations(analysis.region.nest, values)
    return iterations(analysis.region.nest, values, part.trips)


def sliced_loops(analysis: Analysis) -> tuple[str, ...]:
    """Return the loops around all statements whose iterations share no element that one writes."""
    paths = tuple(analysis.paths.values())
    columns = zip(*paths, strict=False)
    same = takewhile(lambda loops: all(one is loops[0] for one in loops), columns)
    return tuple(
        loops[0].var
        for depth, loops in enumerate(same)
        if all(_keeps_place(one.relation, depth) for one in analysis.dependences)
    )


def _keeps_place(relation: isl.Map, depth: int) -> bool:
    """Return whether instances in a relation are of one iteration of the loop at a depth."""
    alike = relation.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)
    return bool(relation.is_subset(alike))


def sample_of(analysis: Analysis, sizes: Sizes, most: float) -> Sample | None:
    """Return the largest sample with at most so many assignments, None where none is small enough.

    What was proved under conditions, or for other sizes, says nothing where these do not hold.
    """
    loops = sliced_loops(analysis)
    if not loops or not _is_proved_at(analysis, sizes):
        return None
    samples = [Sample(loops, stride) for stride in STRIDES]
    for found in samples:
        if work_of(analysis, sizes, found) <= most:
            return found
    return samples[-1] if work_of(analysis, sizes, samples[-1]) <= MOST_OVER * most else None


def _is_proved_at(analysis: Analysis, sizes: Sizes) -> bool:
    """Return whether the claims of an analysis hold at some sizes."""
    region, values = analysis.region, known_values(analysis.region, sizes)
    if not analysis.all_sizes and any(values.get(n) != v for n, v in region.sizes.items()):
        return False
    try:
        return all(evaluate(one, values) for one in analysis.conditions)
    except ValueError:
        return False


def excerpt_of(analysis: Analysis, sizes: Sizes, wanted: float) -> Excerpt | None:
    """Return the smallest excerpt with so many assignments; None where the whole has fewer."""
    deepest = max((len(loops) for loops in analysis.paths.values()), default=0)
    counts: list[int] = []
    for _ in range(deepest):
        # The longest excerpt with one iteration of a further depth that is still too short.
        if work_of(analysis, sizes, Excerpt((*counts, 1))) <= wanted:
            break
        counts.append(1)
    else:
        return Excerpt(tuple(counts)) if counts else None
    for count in _growing():
        found = Excerpt((*counts, count))
        if work_of(analysis, sizes, found) >= wanted:
            return found
        if work_of(analysis, sizes, found) >= work_of(analysis, sizes, Excerpt(tuple(counts))):
            return None
    raise AssertionError("numbers do not end")


def _growing() -> Iterator[int]:
    """Yield numbers from 1 on, each about a quarter larger than the one before."""
    number = 1
    while True:
        yield number
        number = max(number + 1, number * 5 // 4)
