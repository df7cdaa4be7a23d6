"""The certificate of a plan for the cores of a CPU: threads share loops, lanes run in step.

The checker knows blocks, which meet when a kernel ends, and threads, which meet inside. Iterations
of a loop that threads share never meet before its end, as blocks; where they combine a sum they
do, as threads. Lanes are threads: they meet at the ends of their loop.

The certificate of an OpenACC plan: gangs share loops apart, workers and vectors meet.

For the checker the iterations that gangs share are blocks, and those of workers and lanes are the
threads of a block, whatever the sizes of the launch are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.certify.certificate import Certificate
from annotune.certify.isl_schedule import Maker
from annotune.certify.kernels import certify
from annotune.certify.versions import block_versions
from annotune.codegen.cuda.grid import own_count
from annotune.ir.expr import Int
from annotune.ir.fold import fold
from annotune.ir.nest import Level, Loop, walk_paths
from annotune.schedule.plan import Kernel, Plan

# Places in (block x, y, z, thread x, y, z).
BLOCK, THREAD = 0, 3
AXES = 3
# A count that a loop around sets is below this; what leaves its own loop is found by the coverage.
MANY = 1 << 40


class CoreMaker(Maker):
    """Collects the relations of kernels whose loops are shared by threads, or lanes.

    `APART` are the levels whose workers do not meet before the end of their loop, `TOGETHER`
    those whose workers do.
    """

    APART = frozenset({Level.CPU_THREAD})
    TOGETHER = frozenset({Level.SIMD})

    def kernel(self, kernel: Kernel, outer: tuple[str, ...], loops: tuple[Loop, ...]) -> None:
        for assign, around in walk_paths(kernel.scheduled):
            number = assign.number
            value = self.values(number, (*loops, *around))
            worker, extents = ["0"] * (2 * AXES), [1] * (2 * AXES)
            for place, axis in self.places(around).items():
                worker[place] = self.index(axis, number, value)
                extents[place] = self.extent(axis)
            order = self.serial(kernel.scheduled, number, value)
            self.meetings(kernel.scheduled, number, around, value, ())
            self.combine(number, around)
            self.launch[number] = self.relation(number, [value.get(o, o) for o in outer])
            self.worker[number] = self.relation(number, worker)
            self.time[number] = self.relation(number, order)
            self.grids[number] = tuple(extents)

    def places(self, around: tuple[Loop, ...]) -> Mapping[int, tuple[Loop, ...]]:
        """Return the loops on each place of a worker's coordinates, the outermost first.

        More loops than axes share the last one.
        """
        shared = [loop for loop in around if loop.place in self.APART]
        lanes = [loop for loop in around if loop.place in self.TOGETHER]
        meeting = [loop for loop in shared if loop.combines]
        apart = [loop for loop in shared if not loop.combines]
        return {**_axes(apart, BLOCK), **_axes([*meeting, *lanes], THREAD)}

    def extent(self, axis: tuple[Loop, ...]) -> int:
        """Return how many iterations the loops of an axis have together."""
        total = 1
        for loop in axis:
            count = fold(own_count(loop), self.analysis.region.sizes)
            total *= count.value if isinstance(count, Int) else MANY
        return total

    def combine(self, number: int, around: tuple[Loop, ...]) -> None:
        """Record over which places each worker has a partial result of its own."""
        places = self.places(around)
        for one in {c for loop in around for c in loop.combines}:
            found = [p for p, axis in places.items() if any(one in x.combines for x in axis)]
            self.combined[number, one.name] = tuple(sorted(found))


def _axes(loops: list[Loop], first: int) -> dict[int, tuple[Loop, ...]]:
    alone = loops[: AXES - 1] if len(loops) > AXES else loops
    found: dict[int, tuple[Loop, ...]] = {first + k: (x,) for k, x in enumerate(alone)}
    if len(loops) > AXES:
        found[first + AXES - 1] = tuple(reversed(loops[AXES - 1 :]))
    return found


def certify_cores(analysis: Analysis, plan: Plan) -> Certificate:
    """Return the certificate of an OpenMP plan at the region's sizes."""
    made = certify(analysis, plan, CoreMaker)
    # The text has blocks of registers twice wherever their tiles may be cut short.
    return replace(made, versions=block_versions(analysis.region, plan))


class AccMaker(CoreMaker):
    """Collects the relations of kernels whose loops are on gangs, workers and vectors."""

    APART = frozenset({Level.GANG})
    TOGETHER = frozenset({Level.WORKER, Level.VECTOR})


def certify_acc(analysis: Analysis, plan: Plan) -> Certificate:
    """Return the certificate of an OpenACC plan at the region's sizes."""
    return certify(analysis, plan, AccMaker)
