"""The `direct` strategy: the decision algorithm of Rivera's thesis, chapter 3."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from annotune.analysis.facts import Analysis
from annotune.decide.hints import unroll_factors
from annotune.decide.plan import Candidate, Reason
from annotune.decide.rules import first_axes, serial_order, tiles
from annotune.decide.units import Unit, fusible
from annotune.ir.expr import Access, variables
from annotune.ir.nest import Loop
from annotune.transforms import tree
from annotune.transforms.copies import is_surely_touched, may_not_run
from annotune.transforms.registers import Registers
from annotune.transforms.tile import tile_name
from annotune.transforms.unroll import Unroll, divisors

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
    shared = frozenset(choice.shared)
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


def unrolls(unit: Unit) -> tuple[tuple[int, str, tuple[int, ...]], ...]:
    """Return (statement, loop, factors) for each innermost serial loop with a known count.

    The factors are those of a transformation's hint, else the divisors of the trip count up to
    `MAX_UNROLL` (section 3.1.4); the one to try first is the last.
    Statements that share the loop are unrolled with the first of them.
    """
    out: list[tuple[int, str, tuple[int, ...]]] = []
    seen: set[tuple[str, ...]] = set()
    for statement in unit.statements:
        path = unit.analysis.paths[statement]
        if not path:
            continue
        loop, name = path[-1], unit.loops_around(statement)[-1]
        key = tuple(x.var for x in path)
        trip = unit.trip(statement, name)
        if name in unit.parallel or name in unit.host or trip is None or key in seen:
            continue
        if name not in unit.serial_loops(statement) or _holds_loops(unit, statement):
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


def _holds_loops(unit: Unit, statement: int) -> bool:
    """Return whether the innermost loop of `statement` holds further loops beside it."""
    inner = unit.analysis.paths[statement][-1]
    return any(isinstance(stmt, Loop) for stmt in inner.body)


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
class Footprint:
    """What one thread block touches of an array: per dimension, the block loops that pick a
    place and the other loops that run over it."""

    array: str
    dimensions: tuple[tuple[frozenset[str], bool], ...]


def footprints(unit: Unit, blocks: frozenset[str]) -> frozenset[Footprint]:
    """Return the footprints per thread block of all arrays that the unit touches."""
    loops = {name for s in unit.statements for name in _loop_names(unit.analysis, s)}
    out: set[Footprint] = set()
    for access in (*unit.reads, *unit.writes):
        dimensions = []
        for index in access.indices:
            used = variables(index) & loops
            dimensions.append((frozenset(used & blocks), bool(used - blocks)))
        out.add(Footprint(access.access.array, tuple(dimensions)))
    return frozenset(out)


def fuse_by_footprint(analysis: Analysis, nests: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Return the units with neighbours merged that share arrays and touch them alike.

    Two kernels fuse when every array that both use has the same footprint in a thread block
    under the first one's mapping (section 3.1.3): Ur and Us of local_grad3 read one plane
    of u, while Ut reads across planes and stays alone.
    """
    out: list[Unit] = []
    for unit in nests:
        last = out[-1] if out else None
        fused = fusible(analysis, last, unit) if last is not None else None
        if last is not None and fused is not None and same_footprints(last, unit):
            out[-1] = fused
        else:
            out.append(unit)
    return tuple(out)


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
