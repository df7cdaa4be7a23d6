"""Chapter 3 of the thesis as named rules: which loop gets which place in the grid.

Source: A. Rivera, "Using Autotuning for Accelerating Tensor Contraction on Graphics
Processing Units", University of Utah, 2014, sections 3.1.2 and 3.1.3.

The `direct` strategy: the decision algorithm of Rivera's thesis, chapter 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import prod

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.frozen import dataclass
from annotune.ir.expr import Access, variables
from annotune.ir.nest import Level, Loop
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.launch_sizes import (
    DEVICE_THREADS,
    ENOUGH_BLOCKS,
    MAX_AXES,
    TEAM,
    TILE_ALONE,
    TILE_X,
    TILE_Y,
    WARP,
    WIDE_AXIS,
)
from annotune.schedule.units import Unit, fusible
from annotune.strategies.hints import unroll_factors
from annotune.transforms import tree
from annotune.transforms.map import MAX_THREADS, Team
from annotune.transforms.registers import Registers
from annotune.transforms.tile import name_is_taken, tile_name, worker_name
from annotune.transforms.transform import asked_once
from annotune.transforms.tree import find_assign, is_surely_touched, may_not_run, path
from annotune.transforms.unroll import Unroll, divisors

# Fewer outputs than this leave most of a device idle with one thread for each, while sums of
# this many terms and more feed a block each. An H200 runs 270,000 threads at once.
FEW_OUTPUTS = 1024
LONG_SUM = 256
# A single block combines a sum of this many terms before a second launch could have begun
# (assumption: some 3 us for the launch, against 16 dependent loads).
ONE_BLOCK_SUM = 16 * TEAM


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
        is_sum = (statement, loop) in unit.shared.sums
        if not is_sum and unit.trip(statement, loop) is None and _fills_warp(unit, statement, loop):
            return f"{loop} is parallel too; its bounds depend on the block's loops"
    for statement, loop in unit.shared.sums:
        terms = unit.trip(statement, loop)
        if not _fills_warp(unit, statement, loop):
            continue
        if _runs_along(unit, loop) and _is_read_once(unit, loop):
            return f"every input runs along {loop}, none along a parallel loop, and none is reused"
        outputs = _outputs(unit, statement)
        if outputs is not None and outputs <= FEW_OUTPUTS and (terms or 0) >= LONG_SUM:
            return f"{outputs} outputs leave a device idle; each sums {terms} terms"
    return ""


def _fills_warp(unit: Unit, statement: int, loop: str) -> bool:
    """Return whether a loop inside a block's work has an iteration for each lane of a warp.

    One whose length varies is at times twice as long as it is on average.
    """
    terms = unit.trip(statement, loop)
    return terms >= WARP if terms is not None else 2 * unit.mean_trips.get(loop, WARP) >= WARP


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
    if longest := _longest_left(unit, blocks, threads):
        blocks.insert(0, longest)
        reasons.append(Reason("block.x", longest, "longer than the others, which fill no device"))
    return grid(unit, threads, blocks, reasons)


def _longest_left(unit: Unit, blocks: Sequence[str], threads: Sequence[str]) -> str:
    """Return a loop for which the thesis has no axis and which should have one, empty for none.

    Five loops around the sum of an element leave those over its elements to each thread: there are
    ten thousand of them, and no more threads than outputs of one. Loops that are no longer than
    those on blocks stay where the thesis leaves them.
    """
    trips = {name: count or 0 for name, count in unit.trips.items()}
    left = [name for name in unit.parallel if name not in (*blocks, *threads)]
    longest = max(left, key=lambda name: trips[name], default="")
    is_full = prod(trips[name] for name in (*blocks, *threads)) >= DEVICE_THREADS
    if not longest or is_full:
        return ""
    return longest if all(trips[longest] > trips[name] for name in blocks) else ""


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


# An unrolled body longer than this fills the instruction cache without hiding more latency
# (the thesis tries up to 16, its largest trip count); a short loop may vanish whole.
MAX_UNROLL = 16


def choose(unit: Unit, axes: Candidate | None = None) -> Candidate:
    """Return the choices for one unit: the thesis's own axes, or those given, completed."""
    if not unit.parallel and not unit.sums:
        reason = Reason("kernel", "one thread", "no loop of the nest may run in parallel")
        return Candidate.of_axes(unit.parts, reasons=(reason,))
    axes = axes if axes is not None and axes.shared else first_axes(unit)
    if axes.team or unit.sums:
        # Threads share reductions: inside a block, or in the whole grid.
        return thread_level(unit, replace(axes, origin="").having(without=(Unroll,)))
    cut = tiles(unit, axes.threads, len(axes.blocks))
    taken = (*axes.threads, *axes.blocks)
    order = serial_order(unit, taken)
    names = tuple(loop.var for loop in unit.band)
    choice = Candidate.of_axes(
        unit.parts,
        order=order if order != names else (),
        tiles=cut,
        blocks=(*axes.blocks, *(tile_name(loop) for loop, _ in cut)),
        threads=axes.threads,
        host=unit.host,
        reasons=(*axes.reasons, *_why(unit, taken, order, names, cut)),
    )
    return thread_level(unit, choice)


def thread_level(unit: Unit, choice: Candidate) -> Candidate:
    """Return `choice` with what one thread holds in registers and unrolls, by the rules."""
    placed = {*choice.blocks, *choice.threads, *(loop for _, loop in choice.team)}
    shared = frozenset(choice.shared) | {
        loop for loop, _ in choice.cyclic if worker_name(loop) in choice.shared
    }
    held = tuple(
        Registers(statement, loop)
        for statement, loop in registers(unit)
        # A partial result is in a register by itself.
        if loop not in placed and not _combines(unit, statement, shared)
    )
    unrolled = (Unroll(s, x, factors[-1]) for s, x, factors in unrolls(unit) if x not in placed)
    why = (
        Reason("registers", f"S{step.statement} over {step.loop}", "the target stays in place")
        for step in held
    )
    made = choice.having(*held, *unrolled, without=(Registers, Unroll))
    return replace(made, reasons=(*choice.reasons, *why))


def _combines(unit: Unit, statement: int, shared: frozenset[str]) -> bool:
    """Return whether the threads combine what a statement accumulates."""
    return any(unit.combined(statement, n) for n in unit.loops_around(statement) if n in shared)


def registers(unit: Unit) -> tuple[tuple[int, str], ...]:
    """Return (statement, loop) for every accumulation that a register can hold.

    The loop is the outermost of the statement's innermost loops that leave its target in place,
    always run, and use no other element of the array. Under a condition the element may be none
    that the program has.
    """
    out: list[tuple[int, str]] = []
    for statement in unit.statements:
        assign = next(a for a in unit.analysis.region.nest.assigns() if a.number == statement)
        if not unit.is_in_memory(assign.target) or assign.op == "=":
            continue
        if assign.guard is not None and not _is_touched(unit, statement, assign.target):
            continue
        used = frozenset[str]().union(*(variables(i) for i in assign.target.indices))
        held = ""
        path = unit.analysis.paths[statement]
        depths = {loop.var: depth for depth, loop in enumerate(path)}
        for name in reversed(unit.loops_around(statement)):
            parts = unit.parts_of(name)
            if used & {*parts} or name in unit.parallel or name in unit.host:
                break
            if any(may_not_run(path, depths[part]) is not None for part in parts):
                break
            if any(unit.goes_stale(assign.target, part) for part in parts):
                break
            held = name
        if held:
            out.append((statement, held))
    return tuple(out)


def _is_touched(unit: Unit, statement: int, target: Access) -> bool:
    """Return whether each iteration around a statement uses its target under no condition."""
    loops = tree.path(unit.body, statement)
    return bool(loops) and is_surely_touched(loops[-1].body, target)


def unrolls(unit: Unit, apart: bool = False) -> tuple[tuple[int, str, tuple[int, ...]], ...]:
    """Return (statement, loop, factors) for each innermost serial loop with a known count.

    The factors are those of a transformation's hint, else the divisors of the trip count up to
    `MAX_UNROLL` (section 3.1.4); the one to try first is the last.
    Statements that share the loop are unrolled with the first of them; loops of the same names in
    nests beside each other are one where these are fused, and not where they are `apart`.
    """
    out: list[tuple[int, str, tuple[int, ...]]] = []
    seen: set[tuple[str | int, ...]] = set()
    for statement in unit.statements:
        around = unit.analysis.paths[statement]
        if not around:
            continue
        loop, name = around[-1], unit.loops_around(statement)[-1]
        key = tuple(id(x) if apart else x.var for x in around)
        trip = unit.trip(statement, name)
        if name in unit.parallel or name in unit.host or trip is None or key in seen:
            continue
        if name not in unit.serial_loops(statement) or _holds_loops(unit, statement, apart):
            continue
        if not unit.is_followed(name):
            # Each copy of the body would work out the parts anew.
            continue
        seen.add(key)
        hinted = unroll_factors(unit, loop, trip, MAX_UNROLL)
        factors = hinted or tuple(d for d in divisors(trip) if d <= MAX_UNROLL)
        if factors and factors != (1,):
            out.append((statement, name, factors))
    return tuple(out)


def _holds_loops(unit: Unit, statement: int, apart: bool) -> bool:
    """Return whether the innermost loop of `statement` holds further loops beside it.

    It may hold those of other nests, unless these stay `apart`.
    """
    inner = [unit.analysis.paths[statement][-1]]
    inner += [] if apart else [path(unit.body, statement)[-1]]
    return any(isinstance(stmt, Loop) for loop in inner for stmt in loop.body)


def _why(
    unit: Unit,
    taken: Collection[str],
    order: tuple[str, ...],
    names: tuple[str, ...],
    cut: tuple[tuple[str, int], ...],
) -> tuple[Reason, ...]:
    """Return the reasons for what the axes do not say: the rest of the loops, and the tiles."""
    out: list[Reason] = []
    left = [n for n in order if n in unit.parallel and n not in taken]
    if left:
        out.append(Reason("serial", ", ".join(left), "parallel, but every axis has its loop"))
    if order != names:
        out.append(Reason("order", ", ".join(order), "largest input stride outermost"))
    for loop, size in cut:
        out.append(Reason("tile", f"{loop} by {size}", "too long for one thread axis"))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class BlockFootprint:
    """What one thread block touches of an array: per dimension, the block loops that pick a
    place and the other loops that run over it."""

    array: str
    dimensions: tuple[tuple[frozenset[str], bool], ...]


def footprints(unit: Unit, blocks: frozenset[str]) -> frozenset[BlockFootprint]:
    """Return the footprints per thread block of all arrays that the unit touches."""
    found = (_footprints_of(unit.analysis, statement, blocks) for statement in unit.statements)
    return frozenset[BlockFootprint]().union(*found)


@asked_once
def _footprints_of(
    analysis: Analysis, statement: int, blocks: frozenset[str]
) -> frozenset[BlockFootprint]:
    loops = {*_loop_names(analysis, statement)}
    out: set[BlockFootprint] = set()
    for access in analysis.accesses[statement]:
        dimensions = []
        for index in access.indices:
            used = variables(index) & loops
            dimensions.append((frozenset(used & blocks), bool(used - blocks)))
        out.add(BlockFootprint(access.access.array, tuple(dimensions)))
    return frozenset(out)


def fuse_by_footprint(analysis: Analysis, nests: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Return the units with neighbours merged that share arrays and touch them alike.

    Two kernels fuse when every array that both use has the same footprint in a thread block
    under the first one's mapping (section 3.1.3): Ur and Us of local_grad3 read one plane
    of u, while Ut reads across planes and stays alone. So do two that add to the same scalars,
    which have one partial result then.
    """
    out: list[Unit] = []
    for unit in nests:
        last = out[-1] if out else None
        fused = fusible(analysis, last, unit) if last is not None else None
        if last is None or fused is None:
            out.append(unit)
        elif same_footprints(last, unit) or _same_sums(last, unit):
            out[-1] = fused
        else:
            out.append(unit)
    return tuple(out)


def _same_sums(first: Unit, second: Unit) -> bool:
    """Return whether two units accumulate into the same variables, and write nothing else."""
    one, two = (
        {find_assign(unit.body, n).target for n in unit.statements} for unit in (first, second)
    )
    return one == two and bool(first.sums and second.sums)


def same_footprints(first: Unit, second: Unit) -> bool:
    """Return whether a block of the first unit's mapping touches shared arrays alike in both."""
    axes = first_axes(first)
    cut = {tile_name(loop): loop for loop, _ in axes.tiles}
    blocks = frozenset(cut.get(name, name) for name in axes.blocks)
    one, two = footprints(first, blocks), footprints(second, blocks)
    shared = {f.array for f in one} & {f.array for f in two}
    return bool(shared) and {f for f in one if f.array in shared} == {
        f for f in two if f.array in shared
    }


def _loop_names(analysis: Analysis, statement: int) -> tuple[str, ...]:
    return tuple(loop.var for loop in analysis.paths[statement])
