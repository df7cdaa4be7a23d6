"""The launch grid of a kernel: how many blocks and threads each placed loop gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotune.decide.plan import Kernel
from annotune.ir.expr import Call, Expr, Int
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Level, Loop

BLOCKS = (Level.BLOCK_X, Level.BLOCK_Y, Level.BLOCK_Z)
THREADS = (Level.THREAD_X, Level.THREAD_Y, Level.THREAD_Z)

# Largest grid and block along each axis, the same on every device since compute capability
# 3.0 (CUDA C++ Programming Guide, Technical Specifications per Compute Capability).
GRID_LIMIT = {Level.BLOCK_X: 2147483647, Level.BLOCK_Y: 65535, Level.BLOCK_Z: 65535}
AXIS_LIMIT = {Level.THREAD_X: 1024, Level.THREAD_Y: 1024, Level.THREAD_Z: 64}
BLOCK_LIMIT = 1024
WARP = 32

CUDA_INDEX = {
    Level.BLOCK_X: ("blockIdx.x", "gridDim.x"),
    Level.BLOCK_Y: ("blockIdx.y", "gridDim.y"),
    Level.BLOCK_Z: ("blockIdx.z", "gridDim.z"),
    Level.THREAD_X: ("threadIdx.x", "blockDim.x"),
    Level.THREAD_Y: ("threadIdx.y", "blockDim.y"),
    Level.THREAD_Z: ("threadIdx.z", "blockDim.z"),
}


@dataclass(frozen=True, slots=True)
class Grid:
    """The launch of one kernel at the sizes it is tuned for.

    `threads` are the extents of a block (x, y, z). `trips` gives the trip count of each
    placed loop as an expression, and `tuned` as a number.
    """

    threads: tuple[int, int, int]
    trips: Mapping[Level, Expr]
    tuned: Mapping[Level, int]

    def is_exact(self, level: Level, loop: Loop, constants: Mapping[str, int]) -> bool:
        """Return whether each index of the axis runs exactly one iteration of `loop`."""
        trip = fold(trip_count(loop), constants)
        if not isinstance(trip, Int):
            return False
        if level in BLOCKS:
            return trip.value <= GRID_LIMIT[level]
        return trip.value == self.threads[THREADS.index(level)]


def grid(kernel: Kernel, sizes: Mapping[str, int]) -> Grid:
    """Return the launch grid of `kernel`, tuned for `sizes`.

    Threads that would exceed a block run over the rest of their loop in strides, the y axis
    giving way before the x axis.
    """
    placed = kernel.placed()
    trips = {level: fold(trip_count(loop)) for level, loop in placed.items()}
    tuned: dict[Level, int] = {}
    for level, loop in placed.items():
        count = fold(_own_count(loop), sizes)
        # A loop of the host may set the count: a warp of threads then runs over it in strides.
        tuned[level] = count.value if isinstance(count, Int) else WARP
    room = BLOCK_LIMIT
    threads: list[int] = []
    for level in THREADS:
        extent = max(1, min(tuned.get(level, 1), AXIS_LIMIT[level], room))
        threads.append(extent)
        room //= extent
    return Grid((threads[0], threads[1], threads[2]), trips, tuned)


def _own_count(loop: Loop) -> Expr:
    """Return the trip count of a loop; of a tile's inner loop, that of a full tile."""
    match loop.upper:
        case Call("min", (full, _)):
            return fold(trip_count(Loop(loop.var, loop.lower, full, (), loop.step)))
        case _:
            return fold(trip_count(loop))
