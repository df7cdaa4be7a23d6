"""Chapter 3 of the thesis as named rules: which loop gets which place in the grid.

Source: A. Rivera, "Using Autotuning for Accelerating Tensor Contraction on Graphics
Processing Units", University of Utah, 2014, sections 3.1.2 and 3.1.3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod

from annotune.analysis.facts import AccessFacts
from annotune.decide.plan import Candidate, Reason
from annotune.decide.units import Unit
from annotune.ir.nest import Level
from annotune.transforms.team import Team
from annotune.transforms.tile import name_is_taken, tile_name

# A thread block is full with 1024 threads on every device since Fermi (CUDA C++ Programming
# Guide, Technical Specifications per Compute Capability).
MAX_THREADS = 1024
# Lanes of a warp on every NVIDIA device.
WARP = 32
# Threads and blocks on a multiprocessor at most, of compute capability 8.0 or 9.0 (CUDA C++
# Programming Guide, Technical Specifications per Compute Capability).
SM_THREADS = 2048
SM_BLOCKS = 32
# A grid and a block have the axes x, y and z.
MAX_AXES = 3
# A loop that would fill a block alone is cut into tiles of one warp, the unit that loads
# coalesce over; the second axis adds warps up to 256 threads, the usual start for occupancy.
TILE_X = 32
TILE_Y = 8
# Without a second axis the tile is the whole block, or two warps of a loop that is shorter.
TILE_ALONE = 256
# More iterations than this on one thread axis are tiled when a block axis is free.
WIDE_AXIS = 64
# Threads that combine one sum, at most: enough to hide the latency of their loads, and few
# enough that the tree over them is short.
TEAM = 256
# Fewer outputs than this leave most of a device idle with one thread for each, while sums of
# this many terms and more feed a block each. An H200 runs 270,000 threads at once.
FEW_OUTPUTS = 1024
LONG_SUM = 256
# A single block combines a sum of this many terms before a second launch could have begun
# (assumption: some 3 us for the launch, against 16 dependent loads).
ONE_BLOCK_SUM = 16 * TEAM
# Outer iterations that make as many blocks of their own.
ENOUGH_BLOCKS = 64


def grid(
    unit: Unit,
    threads: Sequence[str],
    blocks: Sequence[str] = (),
    reasons: Sequence[Reason] = (),
) -> Candidate:
    """Return the axes of a grid for loops of a unit, x first, and no more than that.

    A unit without any parallel loop has its reductions here; the one loop on blocks and on threads
    is cut into tiles.
    """
    cut = [(loop, TEAM) for loop in blocks if loop in threads]
    names = [tile_name(loop) if loop in threads else loop for loop in blocks]
    return Candidate.of_axes(
        unit.parts, tiles=cut, blocks=names, threads=threads, host=unit.host, reasons=reasons
    )


def contiguous_access(unit: Unit) -> tuple[str, AccessFacts | None, str]:
    """Return (thread-x loop, contiguous tensor, rule) of a unit with parallel loops.

    The contiguous tensor is the input in which the innermost parallel loop has unit stride
    (section 3.1.2). Where no input has one, the output's contiguous loop leads.
    """
    for loop in reversed(unit.parallel):
        for access in unit.reads:
            if access.strides.get(loop) == 1:
                return loop, access, f"innermost parallel loop contiguous in {_name(access)}"
    for loop in reversed(unit.parallel):
        for access in unit.writes:
            if access.strides.get(loop) == 1:
                tensor = _narrowest(unit, loop)
                return loop, tensor, f"innermost parallel loop contiguous in {_name(access)}"
    loop = unit.parallel[-1]
    return loop, _narrowest(unit, loop), "innermost parallel loop; nothing is contiguous"


def _narrowest(unit: Unit, loop: str) -> AccessFacts | None:
    """Return the input that steps least with `loop`, but does step."""
    moving = [a for a in unit.reads if a.strides.get(loop)]
    return min(moving, key=lambda a: abs(a.strides[loop] or 0), default=None)


def first_axes(unit: Unit) -> Candidate:
    """Return the first choice of axes for a unit with a loop that may be mapped."""
    if unit.sums:
        return sum_axes(unit)
    why = why_team(unit)
    return team_axes(unit, why) if why else thesis_axes(unit)


def sum_axes(unit: Unit) -> Candidate:
    """Return the axes of a unit of reductions alone: neighbouring threads take neighbours.

    An outer loop makes the blocks where it is long enough, else tiles of the same loop.
    """
    inner = [name for _, name in unit.shared.loops if name not in unit.sums]
    if inner:
        loop = inner[0]
        rule = "a loop inside the reduction, whose bounds or statements depend on it"
        return shared_axes(unit, unit.sums[:1], (Reason("thread.x", loop, rule),))
    ordered = sorted(
        unit.sums, key=lambda name: (-_unit_strides(unit, name), -unit.sums.index(name))
    )
    return next(found for loop in ordered for found in _sum_axes_along(unit, loop))


def _sum_axes_along(unit: Unit, loop: str) -> Iterator[Candidate]:
    """Yield the axes with threads along a reduction loop that may be, the best first."""
    rule = "reduction loop, contiguous in most inputs; its partial results are combined"
    reason = Reason("thread.x", loop, rule)
    others = [name for name in unit.sums if name != loop and unit.may_combine(name, loop)]
    longest = sorted(others, key=lambda name: -(unit.trips[name] or 0))
    both = [
        grid(
            unit,
            (loop,),
            (outer,),
            (reason, Reason("block.x", outer, "the other reduction loop")),
        )
        for outer in longest[:1]
    ]
    if both and (unit.trips[longest[0]] or 0) >= ENOUGH_BLOCKS:
        yield from both
    if unit.may_combine(loop):
        is_long = (unit.trips[loop] or 0) > ONE_BLOCK_SUM
        if is_long and not name_is_taken(loop, unit.analysis):
            rule = f"tiles of {TEAM}: more than {ONE_BLOCK_SUM} terms"
            yield grid(unit, (loop,), (loop,), (reason, Reason("block.x", loop, rule)))
        yield grid(unit, (loop,), (), (reason,))
    yield from both


def _unit_strides(unit: Unit, loop: str) -> int:
    return sum(access.strides.get(loop) == 1 for access in unit.reads)


def team_axes(unit: Unit, rule: str) -> Candidate:
    """Return the axes that give each block an output, whose sum its threads share."""
    names = list(dict.fromkeys(loop for _, loop in unit.shared.loops))
    reasons = (
        Reason("blocks", ", ".join(unit.shared.blocks), "one block for each output"),
        Reason("thread.x", ", ".join(names), rule),
    )
    return shared_axes(unit, unit.shared.blocks[:2], reasons)


def shared_axes(unit: Unit, blocks: Sequence[str], reasons: Sequence[Reason]) -> Candidate:
    """Return the axes with which the threads of a block share loops inside its work."""
    team = (Team(s, loop, Level.THREAD_X, unit.host) for s, loop in unit.shared.loops)
    return Candidate.of_axes(unit.parts, *team, blocks=blocks, host=unit.host, reasons=reasons)


def why_team(unit: Unit) -> str:
    """Return the rule by which the threads of a block share a loop, empty when none holds."""
    for statement, loop in unit.shared.loops:
        if (statement, loop) not in unit.shared.sums and unit.trip(statement, loop) is None:
            return f"{loop} is parallel too; its bounds depend on the block's loops"
    for statement, loop in unit.shared.sums:
        terms = unit.trip(statement, loop)
        if terms is not None and terms < WARP:
            continue
        if _runs_along(unit, loop) and _is_read_once(unit, loop):
            return f"every input runs along {loop}, none along a parallel loop, and none is reused"
        outputs = _outputs(unit, statement)
        if outputs is not None and outputs <= FEW_OUTPUTS and (terms or 0) >= LONG_SUM:
            return f"{outputs} outputs leave a device idle; each sums {terms} terms"
    return ""


def may_team(unit: Unit) -> bool:
    """Return whether a block for each output is worth a try: rows are read, or outputs are few."""
    return any(
        _runs_along(unit, loop) or (_outputs(unit, statement) or FEW_OUTPUTS + 1) <= FEW_OUTPUTS
        for statement, loop in unit.shared.sums
    )


def _outputs(unit: Unit, statement: int) -> int | None:
    """Return how many outputs a statement has, None where a count is not known."""
    counts = [unit.trips[n] for n in unit.loops_around(statement) if n in unit.parallel]
    known = [n for n in counts if n is not None]
    return prod(known) if len(known) == len(counts) else None


def _moving(unit: Unit, loop: str) -> list[AccessFacts]:
    """Return the inputs that move with `loop`."""
    return [access for access in unit.reads if access.strides.get(loop, 0) != 0]


def _runs_along(unit: Unit, loop: str) -> bool:
    """Return whether the inputs are contiguous in `loop`, and in no parallel loop."""
    moving = _moving(unit, loop)
    return (
        bool(moving)
        and all(access.strides[loop] in (1, -1) for access in moving)
        and not any(a.strides.get(name) == 1 for a in moving for name in unit.parallel)
    )


def _is_read_once(unit: Unit, loop: str) -> bool:
    """Return whether an input moves with every loop: no output uses an element of another."""
    moving = _moving(unit, loop)
    own = [name for name in unit.parallel if any(name in access.strides for access in moving)]
    return any(all(access.strides.get(name, 0) != 0 for name in own) for access in moving)


def thesis_axes(unit: Unit) -> Candidate:
    """Return the thesis's first choice of axes for a unit with at least one parallel loop."""
    thread_x, tensor, rule = contiguous_access(unit)
    reasons = [Reason("thread.x", thread_x, rule)]
    inner_first = tuple(reversed(unit.parallel))
    own = [n for n in inner_first if n != thread_x and tensor and tensor.strides.get(n)]
    others = [n for n in inner_first if n != thread_x and n not in own]
    blocks = own[:2]
    if own:
        reasons.append(
            Reason("blocks", ", ".join(blocks), f"other loops of {_name(tensor)}, inner to outer")
        )
    thread_y = others[0] if others else ""
    if thread_y:
        reasons.append(Reason("thread.y", thread_y, "innermost loop of the other input"))
    spare = [n for n in (*others[1:], *own[2:]) if n not in blocks]
    while len(blocks) < 2 and spare:
        blocks.append(spare.pop(0))
        reasons.append(Reason("blocks", blocks[-1], "a free block axis takes the next loop"))
    if len(blocks) == 2 and (unit.trips[blocks[1]] or 0) > (unit.trips[blocks[0]] or 0):
        blocks.reverse()
        reasons.append(
            Reason("block.x", blocks[0], "the longer loop: only block.x takes over 65535 blocks")
        )
    threads = (thread_x, thread_y) if thread_y else (thread_x,)
    return grid(unit, threads, blocks, reasons)


def tiles(unit: Unit, on_threads: Sequence[str], blocks: int) -> tuple[tuple[str, int], ...]:
    """Return the tiles that make thread axes fit a block, while axes are free beside `blocks`.

    A loop longer than `WIDE_AXIS` on a thread axis is cut, its tiles becoming blocks; so is one
    whose length a loop of the host sets, and any loop while the block has more than
    `MAX_THREADS`. With no free axis the threads run over the rest of their loop in strides
    instead.
    """
    free = MAX_AXES - blocks
    out: list[tuple[str, int]] = []
    threads = prod(unit.trips[n] or 1 for n in on_threads)
    sizes = (TILE_X if on_threads[1:] else 0, TILE_Y)
    for loop, size in zip(on_threads, sizes, strict=False):
        if not free or name_is_taken(loop, unit.analysis):
            continue
        trip = unit.trips[loop]
        # Sizes that arrive at run time need more than one block, whatever the tuned ones are.
        size = size or (TILE_ALONE if trip is None or trip > TILE_ALONE else WIDE_AXIS)
        if trip is None:
            threads *= size
        elif trip > size and (trip > WIDE_AXIS or threads > MAX_THREADS):
            threads = threads // trip * size
        else:
            continue
        out.append((loop, size))
        free -= 1
    return tuple(out)


def serial_order(unit: Unit, taken: Collection[str]) -> tuple[str, ...]:
    """Return the band's loops with those left in the thread permuted for the layout.

    Among the parallel loops that are not `taken` by an axis, the one with the largest stride in the
    inputs goes outermost, so that consecutive iterations touch near elements (3.1.3).
    """
    left = [n for n in unit.parallel if n not in taken]

    def reach(loop: str) -> int:
        return max((abs(a.strides.get(loop) or 0) for a in unit.reads), default=0)

    ordered = iter(sorted(left, key=reach, reverse=True))
    names = tuple(loop.var for loop in unit.band)
    return tuple(next(ordered) if name in left else name for name in names)


def _name(access: AccessFacts | None) -> str:
    return access.access.array if access is not None else "no input"
