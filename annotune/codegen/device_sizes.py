"""The sizes of a launch on a device, as many gangs, workers and lanes as its loops have use for."""

from __future__ import annotations

from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.frozen import dataclass
from annotune.ir.expr import Binary, Call, Int
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Level, Loop, walk_stmts
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.plan import Kernel
from annotune.strategies.openacc import SAFE_GANG
from annotune.transforms.tree import Body, numbers

# libgomp keeps the sizes of a launch in 16 bits: 65536 gangs arrive as 0, its own choice, and
# 65537 as one (seen with gcc 12; plugin-nvptx.c).
GANGS_LIMIT = 65535


@dataclass(frozen=True, slots=True)
class LaunchSizes:
    """What the clauses of a launch ask for; the loops keep their own bounds whatever it is."""

    gangs: int
    workers: int
    vector: int


def launch_sizes(launched: Loop, kernel: Kernel, analysis: Analysis) -> LaunchSizes:
    """Return the launch of the loop `launched` of `kernel` at the sizes it is tuned for.

    A vector is a multiple of the warp, the only lengths that gcc takes.
    """
    sizes = _ends_of_serial_loops(launched, kernel, analysis)
    gangs, workers, lanes = (
        _iterations((launched,), level, sizes) for level in (Level.GANG, Level.WORKER, Level.VECTOR)
    )
    vector = min(SAFE_GANG, WARP * -(-lanes // WARP))
    if launched.place != Level.GANG:
        # Threads alone: the gangs share what one vector cannot take.
        gangs = -(-lanes // vector)
    most = min(gangs, kernel.max_blocks or gangs)
    return LaunchSizes(_even(most, GANGS_LIMIT), max(1, min(workers, SAFE_GANG // vector)), vector)


def _even(gangs: int, most: int) -> int:
    """Return at most `most` gangs that take the iterations of `gangs` in equal turns, or nearly."""
    return -(-gangs // -(-gangs // most))


def _ends_of_serial_loops(
    launched: Loop, kernel: Kernel, analysis: Analysis
) -> tuple[dict[str, int], ...]:
    """Return the sizes with all loops around the launch in their first iteration, and in the last.

    Serial loops may set the bounds of the placed ones: the launch is sized once, for the
    longest that either end shows.
    """
    inside = {launched.var, *(s.var for s in walk_stmts(launched.body) if isinstance(s, Loop))}
    first, last = dict(analysis.region.sizes), dict(analysis.region.sizes)
    statement = next((n for n in sorted(numbers(launched))), kernel.statements[0])
    for loop in analysis.paths[statement]:
        if loop.var not in inside:
            _set_ends(loop, first, last)
    return first, last


def _set_ends(loop: Loop, first: dict[str, int], last: dict[str, int]) -> None:
    for sizes, end in ((first, loop.lower), (last, Binary("-", loop.upper, Int(1)))):
        value = fold(end, sizes)
        if isinstance(value, Int):
            sizes[loop.var] = value.value


def _iterations(body: Body, level: Level, sizes: tuple[dict[str, int], ...]) -> int:
    """Return how many iterations the loops of `level` have together, the longest of siblings.

    A loop over one tile counts as a whole one.
    """
    most = 1
    for stmt in body:
        if not isinstance(stmt, Loop):
            continue
        own = max(1, *(_count(stmt, known) for known in sizes)) if stmt.place == level else 1
        first, last = (dict(known) for known in sizes)
        # Serial loops inside a launch may set bounds as well.
        _set_ends(stmt, first, last)
        most = max(most, own * _iterations(stmt.body, level, (first, last)))
    return most


def _count(loop: Loop, sizes: dict[str, int]) -> int:
    if isinstance(loop.upper, Call) and loop.upper.function == "min" and loop.tile_of == "":
        loop = _whole_tile(loop)
    count = fold(trip_count(loop), sizes)
    # A bound that only the device knows: a warp is what any vector holds.
    return count.value if isinstance(count, Int) else WARP


def _whole_tile(loop: Loop) -> Loop:
    """Return a loop over a tile that may be cut short with the tile's own end."""
    assert isinstance(loop.upper, Call)
    inner = replace(loop, upper=loop.upper.arguments[0])
    return inner if isinstance(fold(trip_count(inner)), Int) else loop
