"""The launch grid of a kernel: how many blocks and threads the placed loops get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from annotune.frozen import dataclass
from annotune.ir.ctype import LONG
from annotune.ir.expr import Binary, Call, Cast, Expr, Int
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import COPY_LEVELS, Level, LocalArray, Loop, Stmt, walk_stmts
from annotune.schedule.launch_sizes import COMBINING_BLOCKS, PART_BLOCKS, TEAM
from annotune.schedule.plan import Kernel, band_of
from annotune.transforms.tree import bound_names, picks_piece

BLOCKS = (Level.BLOCK_X, Level.BLOCK_Y, Level.BLOCK_Z)
THREADS = (Level.THREAD_X, Level.THREAD_Y, Level.THREAD_Z)

# Largest grid and block along each axis, the same on every device since compute capability
# 3.0 (CUDA C++ Programming Guide, Technical Specifications per Compute Capability).
GRID_LIMIT = {Level.BLOCK_X: 2147483647, Level.BLOCK_Y: 65535, Level.BLOCK_Z: 65535}
AXIS_LIMIT = {Level.THREAD_X: 1024, Level.THREAD_Y: 1024, Level.THREAD_Z: 64}
BLOCK_LIMIT = 1024
WARP = 32
# What a root of a whole number may be short of it.
ROUNDING = 1e-9
# Iterations that the blocks of an axis run at once, at most, where sizes are open: the next ones
# must fit the iterator's type. No device has as many threads by far.
LONGEST_STRIDE = 2**26

CUDA_INDEX = {
    Level.BLOCK_X: ("blockIdx.x", "gridDim.x"),
    Level.BLOCK_Y: ("blockIdx.y", "gridDim.y"),
    Level.BLOCK_Z: ("blockIdx.z", "gridDim.z"),
    Level.THREAD_X: ("threadIdx.x", "blockDim.x"),
    Level.THREAD_Y: ("threadIdx.y", "blockDim.y"),
    Level.THREAD_Z: ("threadIdx.z", "blockDim.z"),
}


@dataclass(frozen=True, slots=True)
class LaunchGrid:
    """The launch of one kernel at the sizes it is tuned for.

    `threads` are the extents of a block (x, y, z). `trips` gives the trip count of each axis
    of the grid as an expression, `tuned` that of each placed level as a number (the largest
    there may be where loops around set it), and `limits` the most blocks along each axis. Loops
    that share an axis, one in `flat`, have one trip count together. No more than `partials` blocks
    leave a partial result each.
    """

    threads: tuple[int, int, int]
    trips: Mapping[Level, Expr]
    tuned: Mapping[Level, int]
    limits: Mapping[Level, int]
    flat: frozenset[Level] = frozenset()
    partials: int = COMBINING_BLOCKS

    @property
    def block_size(self) -> int:
        """Return how many threads a block has."""
        return prod(self.threads)

    def most_blocks(self, level: Level, step: int) -> int:
        """Return the most blocks along an axis where the trip count of its loop is open."""
        if level in self.flat:
            return self.limits[level]
        return min(self.limits[level], max(COMBINING_BLOCKS, LONGEST_STRIDE // step))

    def beyond(self, loop: Loop) -> int:
        """Return how far past its greatest value the iterator of a loop may go, at any size."""
        if loop.place in self.flat or loop.place in (Level.SERIAL, Level.SIMD):
            return loop.step // loop.unrolled
        if loop.place in BLOCKS:
            return loop.step * self.most_blocks(loop.place, loop.step)
        if loop.place in THREADS:
            return loop.step * self.threads[THREADS.index(loop.place)]
        return loop.step * BLOCK_LIMIT

    def is_exact(self, level: Level, loop: Loop, constants: Mapping[str, int]) -> bool:
        """Return whether each index of the axis runs exactly one iteration of `loop`."""
        trip = fold(trip_count(loop), constants)
        if not isinstance(trip, Int):
            return False
        if level in BLOCKS:
            return trip.value <= self.limits[level]
        return trip.value == self.threads[THREADS.index(level)]

    def spared(self, loop: Loop, constants: Mapping[str, int]) -> int:
        """Return how many indices of an axis of threads run one iteration of `loop` each.

        0 where all of them do, or some have several, as far as is known.
        """
        trip = fold(trip_count(loop), constants)
        if not isinstance(trip, Int) or loop.place not in THREADS:
            return 0
        return trip.value if 0 < trip.value < self.threads[THREADS.index(loop.place)] else 0

    def is_covered(self, level: Level, constants: Mapping[str, int]) -> bool:
        """Return whether each index of an axis runs exactly one of all its iterations."""
        trip = fold(self.trips[level], constants)
        if not isinstance(trip, Int):
            return False
        if level in BLOCKS:
            return trip.value <= self.limits[level]
        return trip.value == self.threads[THREADS.index(level)]


def grid(kernel: Kernel, sizes: Mapping[str, int]) -> LaunchGrid:
    """Return the launch grid of `kernel`, tuned for `sizes`.

    Threads that would exceed a block run over the rest of their loop in strides, the y axis
    giving way before the x axis. So do those that combine a sum, beyond `TEAM` of them, and
    blocks beyond those that the kernel may have, the x axis giving way first.
    """
    trips: dict[Level, Expr] = {}
    tuned, wanted = dict[Level, int](), dict[Level, int]()
    # Where each thread has its part of a tile, the sum that they combine asks for no others.
    parts = next(filter(is_thread_nest, kernel.body), None)
    band = kernel.band() if parts is None else band_of((parts,))
    has_rows = any(map(_is_rows, kernel.placed()))
    for loop in kernel.placed():
        level = loop.place
        count = fold(own_count(loop), sizes)
        is_team = (bool(loop.combines) and parts is None) or not any(x is loop for x in band)
        # A loop around it may set the count: threads then run over it in strides.
        unknown = TEAM if is_team else WARP
        own = count.value if isinstance(count, Int) else unknown
        most = own if isinstance(count, Int) else GRID_LIMIT[Level.BLOCK_X]
        shared = [x for x in band if x.place == level]
        if len(shared) > 1 and loop is not shared[0]:
            tuned[level], wanted[level] = tuned[level] * most, wanted[level] * own
            trips[level] = fold(Binary("*", trips[level], fold(own_count(loop))))
            continue
        tuned[level] = max(most, tuned.get(level, 1))
        whole = own if has_rows else -(-own // WARP) * WARP
        threads = min(kernel.team or TEAM, whole) if is_team else own
        wanted[level] = max(threads, wanted.get(level, 1))
        if level in BLOCKS or len(shared) > 1:
            # No block knows before the launch how long its tile is; a full one is longest.
            is_inside = any(
                picks_piece(outer, loop) for outer in band if outer.var in bound_names(loop)
            )
            trips[level] = own_count(loop) if is_inside else fold(trip_count(loop))
    room = BLOCK_LIMIT
    extents: list[int] = []
    for level in THREADS:
        extent = max(1, min(wanted.get(level, 1), AXIS_LIMIT[level], room))
        extents.append(extent)
        room //= extent
    partials = COMBINING_BLOCKS if parts is None else PART_BLOCKS
    limits = _limits(kernel, tuned, partials)
    flat = frozenset(loops[0].place for loops in axes_of(band) if len(loops) > 1)
    shape = extents[0], extents[1], extents[2]
    return LaunchGrid(shape, trips, tuned, limits, flat, partials)


def _limits(kernel: Kernel, tuned: Mapping[Level, int], partials: int) -> dict[Level, int]:
    """Return the most blocks along each axis; those that combine leave so many `partials`."""
    combining = {x.place for x in kernel.placed() if x.combines and x.place in BLOCKS}
    share = int(partials ** (1 / max(1, len(combining))) + ROUNDING)
    limits = {level: share if level in combining else GRID_LIMIT[level] for level in BLOCKS}
    room = kernel.max_blocks
    for level in reversed(BLOCKS) if room else ():
        limits[level] = max(1, min(limits[level], room))
        room //= min(tuned.get(level, 1), limits[level])
    return limits


def is_thread_nest(stmt: Stmt) -> bool:
    """Return whether all placed loops of a nest are around all of its work, as one thread does it.

    So written are nests whose threads have arrays, or copies to make together.
    """
    band = band_of((stmt,))
    every = [x for x in walk_stmts((stmt,)) if isinstance(x, Loop)]
    placed = [x for x in every if x.place not in (Level.SERIAL, *COPY_LEVELS)]
    arrays = (stmt for stmt in walk_stmts((stmt,)) if isinstance(stmt, LocalArray))
    has_threads = any(x.place in THREADS for x in band)
    return has_threads and len(placed) == len(band) and any(arrays)


def _is_rows(loop: Loop) -> bool:
    """Return whether each iteration of a loop inside a block's work has a row of threads.

    Rows are as long as their work, so that the lanes of a warp may be of two.
    """
    inner = loop.body[0]
    is_band = len(loop.body) == 1 and isinstance(inner, Loop) and inner.place in THREADS
    return is_band and loop.place in THREADS and not loop.combines


def axes_of(band: Sequence[Loop]) -> tuple[tuple[Loop, ...], ...]:
    """Return placed loops by the axis they run on, those that share one together."""
    out: dict[Level, list[Loop]] = {}
    for loop in band:
        out.setdefault(loop.place, []).append(loop)
    return tuple(map(tuple, out.values()))


def wide(count: Expr) -> Expr:
    """Return a count computed in 64 bits: loops that share an axis may be many together."""
    match count:
        case Binary(op, left, right):
            return Binary(op, wide(left), right)
        case Int():
            return count
        case _:
            return Cast(LONG, count)


def own_count(loop: Loop) -> Expr:
    """Return the trip count of a loop; of a tile's inner loop, that of a full tile."""
    match loop.upper:
        case Call("min", (full, _)):
            count = fold(trip_count(Loop(loop.var, loop.lower, full, (), loop.step)))
            if isinstance(count, Int):
                return count
    return fold(trip_count(loop))
