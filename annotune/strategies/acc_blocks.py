"""Outputs of a contraction in the registers of an OpenACC lane: reuse without shared memory.

OpenACC has no barrier for the lanes of a gang, so no copy can be filled by them together. What is
left of the two-level tile is its inner level: a lane computes a small block of outputs, and what
it loads serves a row or a column of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.ir.expr import Access
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.units import Unit
from annotune.strategies.acc_levels import on_acc
from annotune.strategies.core_blocks import free_loops, held_loop
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold
from annotune.transforms.tile import name_is_taken, tile_name
from annotune.transforms.tree import bound_names, find_assign
from annotune.transforms.unroll import divisors

Extent = tuple[str, int]

REGISTERS = "registers"
# Lanes of a gang, at most: with twice as many, a compiler that does not know the registers of the
# device may ask for more than an SM has.
MAX_LANES = 256
# Four warps keep an SM's schedulers busy between two loads; fewer lanes take a further loop.
ENOUGH_LANES = 128
# Doubles of one line of memory, which neighbouring lanes then load at once.
LINE = 16
# Rows and columns of a lane's block, at most: 25 accumulators take 50 of the 255 registers of a
# thread. The rules' own come first.
SIZES = ((5, 5), (5, 2), (2, 2), (8, 5))
# Rows where a block has no columns.
ROWS_ALONE = (8, 4, 2)


@dataclass(frozen=True)
class _Nest:
    """A statement that accumulates into memory, alone under loops whose bounds are sizes.

    `along` is the parallel loop that is fastest in the output. `own` are the others that move the
    same inputs as it, `other` those that move other inputs alone, the smallest stride first, and
    `rest` all further ones. `summed` are the loops that leave the output in place, as in the text.
    """

    statement: int
    inputs: tuple[AccessFacts, ...]
    free: tuple[str, ...]
    along: str
    own: tuple[str, ...]
    other: tuple[str, ...]
    rest: tuple[str, ...]
    summed: tuple[str, ...]


def lane_blocks(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices with a block of outputs for each lane, or in words why there are none."""
    nest = _nest(unit)
    if isinstance(nest, str):
        return nest
    line = _line(unit, nest)
    rows = tuple(_rows(unit, nest, line))
    if not rows:
        return f"no loop but {', '.join(line)} lets a lane use again what it has loaded"
    lanes = _lanes(unit, nest, line, {loop for loop, _ in rows[0]})
    count = prod(size for _, size in lanes)
    if count < WARP:
        return f"its loops would leave {count} lanes, less than a warp of {WARP}"
    return tuple(_choice(unit, nest, lanes, block) for block in rows)


def _nest(unit: Unit) -> _Nest | str:
    if len(unit.statements) != 1:
        return f"the kernel has {len(unit.statements)} statements"
    if unit.host or not unit.parallel:
        return "a serial loop is around the parallel ones, or there are none"
    statement = unit.leader
    names = unit.loops_around(statement)
    if names != tuple(loop.var for loop in unit.band):
        return "the loops are no perfect nest"
    if any(bound_names(x) & set(names) or unit.count(x) is None or x.step != 1 for x in unit.band):
        return "the bounds of a loop use another loop, or it has a step"
    assign = find_assign(unit.body, statement)
    if assign.guard is not None or not isinstance(assign.target, Access):
        return "the statement is under a condition, or writes a scalar"
    if not held_loop(unit, statement):
        return "no loop sums up an element of an array: nothing is loaded twice"
    facts = unit.analysis.accesses[statement]
    target = next(f for f in facts if f.is_write)
    able = (n for n in free_loops(unit, statement) if n in unit.parallel)
    free = [n for n in able if target.strides.get(n) != 0]
    if not free:
        return "no parallel loop picks the output"
    along, *others = sorted(free, key=lambda n: _stride(target, n))
    inputs = tuple(f for f in facts if f.access != target.access)
    moved = {n: frozenset(f.access for f in inputs if f.strides.get(n) != 0) for n in free}
    own = [n for n in others if moved[n] == moved[along]]
    other = [n for n in others if moved[n] and not moved[n] & moved[along]]

    def reach(loop: str) -> int:
        return min(_stride(f, loop) for f in inputs if f.access in moved[loop])

    return _Nest(
        statement,
        inputs,
        (along, *others),
        along,
        tuple(sorted(own, key=reach)) if moved[along] else (),
        tuple(sorted(other, key=reach)),
        tuple(n for n in others if n not in own and n not in other),
        tuple(n for n in names if n not in free),
    )


def _line(unit: Unit, nest: _Nest) -> tuple[str, ...]:
    """Return the loops, fastest in the output first, that make a line of neighbouring lanes."""
    found: list[str] = []
    lanes = 1
    for loop in nest.free:
        if lanes >= LINE:
            break
        found.append(loop)
        lanes *= unit.trips[loop] or 1
    return tuple(found)


def _rows(unit: Unit, nest: _Nest, line: Sequence[str]) -> Iterator[tuple[Extent, ...]]:
    """Yield the rows, and columns, of a lane's block: a loop of either input, or of one.

    Each is the one with the smallest stride in its input: the next rows are near in memory.
    """
    able = [
        next((n for n in loops if n not in line and not name_is_taken(n, unit.analysis)), "")
        for loops in (nest.other, nest.own)
    ]
    found = [name for name in able if name and _saves(nest, name)]
    tried = [tuple(zip(found, sizes, strict=False)) for sizes in SIZES]
    if len(found) < 2:
        tried = [tuple((name, size) for name in found) for size in ROWS_ALONE]
    seen = set()
    for limits in tried:
        cut = ((loop, _divisor(unit.trips[loop] or 1, most)) for loop, most in limits)
        block = tuple((loop, size) for loop, size in cut if size > 1)
        if block and block not in seen:
            seen.add(block)
            yield block


def _saves(nest: _Nest, loop: str) -> bool:
    """Return whether some input is the same for all iterations of a loop."""
    return any(f.strides.get(loop) == 0 for f in nest.inputs)


def _lanes(unit: Unit, nest: _Nest, line: Sequence[str], taken: set[str]) -> tuple[Extent, ...]:
    """Return the loops of the vector, x first, until there are enough lanes.

    The first after the line is of the other input: a gang then reads as little of the one as of
    the other.
    """
    order = dict.fromkeys((*line, *nest.other, *nest.own, *nest.rest))
    found: list[Extent] = []
    for loop in (n for n in order if n not in taken):
        own = prod(n for _, n in found)
        room = MAX_LANES // own
        if room < 2 or own >= ENOUGH_LANES:
            break
        trip = unit.trips[loop] or 1
        sizes = [trip] if trip <= room else []
        if not name_is_taken(loop, unit.analysis):
            sizes += range(2, min(trip - 1, room) + 1)
        if sizes:
            found.append((loop, max(sizes, key=lambda n: (_filled(own, n, trip), n))))
    return tuple(found)


def _filled(own: int, size: int, trip: int) -> float:
    """Return the share of lanes that work when tiles of `size` join `own` lanes."""
    lanes = own * size
    whole = trip / (ceil(trip / size) * size)
    # Fewer lanes than are enough hide less of the latency of their loads.
    return lanes / (ceil(lanes / WARP) * WARP) * whole * min(1.0, lanes / ENOUGH_LANES)


def _divisor(trip: int, most: int) -> int:
    """Return the largest divisor of a trip count up to `most`: no lane's block is cut short."""
    return max(d for d in divisors(trip) if d <= most)


def _choice(unit: Unit, nest: _Nest, lanes: Sequence[Extent], rows: Sequence[Extent]) -> Candidate:
    """Return the choice in which each lane has the block `rows` of outputs."""
    # A loop that the lanes run whole needs no tiles; rows do, for their count to be a constant.
    whole = {loop for loop, size in lanes if size == unit.trips[loop]}
    cut = [(loop, size) for loop, size in (*lanes, *rows) if loop not in whole]
    names = {loop for loop, _ in (*lanes, *rows)}
    blocks = tuple(tile_name(n) if n in names else n for n in nest.free if n not in whole)
    threads = tuple(loop for loop, _ in lanes)
    inner = tuple(loop for loop, _ in rows)
    order = (*reversed(blocks), *reversed(threads), *nest.summed, *inner)
    made = Candidate.of_axes(
        unit.parts,
        Permute(nest.statement, order),
        Hold(nest.statement, nest.summed[0]),
        tiles=cut,
        blocks=blocks,
        threads=threads,
        reasons=tuple(_reasons(nest, lanes, rows)),
    )
    return replace(on_acc(made), shape=REGISTERS)


def _reasons(nest: _Nest, lanes: Sequence[Extent], rows: Sequence[Extent]) -> Iterator[Reason]:
    block = " x ".join(f"{size} {loop}" for loop, size in rows)
    again = {f.access.array for f in nest.inputs for loop, _ in rows if f.strides.get(loop) == 0}
    rule = f"what a lane loads of {', '.join(sorted(again))} serves several of them"
    yield Reason("registers", f"{block} outputs for each lane", rule)
    count = prod(size for _, size in lanes)
    names = ", ".join(f"{loop} by {size}" for loop, size in lanes)
    rule = f"{lanes[0][0]} is fastest in the output; one vector of {count} iterations"
    yield Reason("vector", names, rule)
    yield Reason("gang", "all other parallel loops, collapsed", "gangs are not bound to three axes")


def _stride(access: AccessFacts, loop: str) -> int:
    """Return the distance of neighbours along a loop, one not known as the longest there is."""
    stride = access.strides.get(loop)
    return 1 << 62 if stride is None else abs(stride)
