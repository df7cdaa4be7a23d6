"""The sizes of an OpenACC launch: gangs, workers and the length of a vector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from annotune.analysis.facts import Analysis
from annotune.decide.placement import GANG_LIMIT, WARP
from annotune.decide.plan import Kernel
from annotune.ir.expr import Binary, Call, Int
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Level, Loop
from annotune.transforms.tree import rebuilt

# A grid has at most 2^31 - 1 blocks (CUDA C++ Programming Guide).
GANGS_LIMIT = 2147483647


@dataclass(frozen=True, slots=True)
class Shape:
    """What the clauses ask for; the loops keep their own bounds whatever it is."""

    gangs: int
    workers: int
    vector: int

    def clauses(self) -> str:
        """Return the clauses of ``parallel loop``."""
        return f"num_gangs({self.gangs}) num_workers({self.workers}) vector_length({self.vector})"


def shape(kernel: Kernel, analysis: Analysis) -> Shape:
    """Return the launch of `kernel` at the sizes it is tuned for.

    A vector is a multiple of the warp, the only lengths that gcc takes.
    """
    band = kernel.band()
    sizes = _ends_of_serial_loops(kernel, analysis)
    gangs = _iterations((x for x in band if x.place == Level.GANG), sizes)
    lanes = _iterations((x for x in band if x.place == Level.VECTOR), sizes)
    vector = min(GANG_LIMIT, WARP * -(-lanes // WARP))
    workers = _iterations((x for x in band if x.place == Level.WORKER), sizes)
    if not any(x.place == Level.GANG for x in band):
        # Threads alone: the gangs share what one vector cannot take.
        gangs = -(-lanes // vector)
    return Shape(min(gangs, GANGS_LIMIT), max(1, min(workers, GANG_LIMIT // vector)), vector)


def _ends_of_serial_loops(kernel: Kernel, analysis: Analysis) -> tuple[dict[str, int], ...]:
    """Return the sizes with all serial loops of the nest in their first iteration, and in the last.

    Serial loops may set the bounds of the placed ones: the launch is sized once, for the
    longest that either end shows.
    """
    placed = {loop.var for loop in kernel.band()}
    first, last = dict(analysis.region.sizes), dict(analysis.region.sizes)
    for loop in analysis.paths[kernel.statements[0]]:
        if loop.var in placed:
            continue
        for sizes, end in ((first, loop.lower), (last, Binary("-", loop.upper, Int(1)))):
            value = fold(end, sizes)
            if isinstance(value, Int):
                sizes[loop.var] = value.value
    return first, last


def _iterations(loops: Iterable[Loop], sizes: tuple[dict[str, int], ...]) -> int:
    """Return how many iterations the loops have together, whole tiles for those of a tile."""
    return prod(max(1, *(_count(loop, known) for known in sizes)) for loop in loops)


def _count(loop: Loop, sizes: dict[str, int]) -> int:
    if isinstance(loop.upper, Call):
        loop = rebuilt(loop, upper=loop.upper.arguments[0])
    count = fold(trip_count(loop), sizes)
    assert isinstance(count, Int), f"trip count of '{loop.var}' is not a number"
    return count.value
