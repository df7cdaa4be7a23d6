"""Outputs of a contraction in the registers of an OpenACC lane: reuse without shared memory.

OpenACC has no barrier for the lanes of a gang, so no copy can be filled by them together. What is
left of the two-level tile is its inner level: a lane computes a small block of outputs, and what
it loads serves a row or a column of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.decide.cpu_blocks import free_loops, held_loop
from annotune.decide.placement import WARP
from annotune.decide.plan import AccForm, Blocking, KernelChoice, Reason
from annotune.decide.units import Unit
from annotune.ir.expr import Access
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
# Rows and columns of a lane's block, at most: 16 accumulators take 32 of the 255 registers, and
# no compiler has been asked for more here. The rules' own come first.
SIZES = ((4, 4), (4, 2), (2, 2), (8, 4))
# Rows where a block has no columns.
ROWS_ALONE = (8, 4, 2)


@dataclass(frozen=True)
class _Nest:
    """A statement that accumulates into memory, alone under loops whose bounds are sizes.

    `free` are its parallel loops, the fastest in the output first; `summed` the others, as in the
    text.
    """

    statement: int
    target: AccessFacts
    inputs: tuple[AccessFacts, ...]
    free: tuple[str, ...]
    summed: tuple[str, ...]


def lane_blocks(unit: Unit) -> tuple[KernelChoice, ...] | str:
    """Return the choices with a block of outputs for each lane, or in words why there are none."""
    nest = _nest(unit)
    if isinstance(nest, str):
        return nest
    lanes = _lanes(unit, nest)
    blocks = tuple(_blocks(unit, nest, lanes))
    if not blocks:
        names = ", ".join(loop for loop, _ in lanes)
        return f"no loop but those of the lanes ({names}) uses what a lane has loaded again"
    return tuple(_choice(unit, nest, lanes, rows) for rows in blocks)


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
    free = [n for n in free_loops(unit, statement) if target.strides.get(n) != 0]
    return _Nest(
        statement,
        target,
        tuple(f for f in facts if f.access != target.access),
        tuple(sorted(free, key=lambda n: _stride(target, n))),
        tuple(n for n in names if n not in free),
    )


def _lanes(unit: Unit, nest: _Nest) -> tuple[Extent, ...]:
    """Return the loops of the vector, x first: the output's fastest, until there are enough."""
    found: list[Extent] = []
    for loop in nest.free:
        room = MAX_LANES // prod(n for _, n in found)
        if room < 2 or prod(n for _, n in found) >= ENOUGH_LANES:
            break
        trip = unit.trips[loop] or 1
        sizes = [trip] if trip <= room else []
        if not name_is_taken(loop, unit.analysis):
            sizes += range(2, min(trip - 1, room) + 1)
        if sizes:
            own = prod(n for _, n in found)
            found.append((loop, max(sizes, key=lambda n: (_filled(own, n, trip), n))))
    return tuple(found)


def _filled(own: int, size: int, trip: int) -> float:
    """Return the share of lanes that work when tiles of `size` join `own` lanes."""
    lanes = own * size
    whole = trip / (ceil(trip / size) * size)
    # Fewer lanes than are enough hide less of the latency of their loads.
    return lanes / (ceil(lanes / WARP) * WARP) * whole * min(1.0, lanes / ENOUGH_LANES)


def _blocks(
    unit: Unit, nest: _Nest, lanes: Sequence[Extent]
) -> Iterator[tuple[Extent, ...]]:
    """Yield the rows, and columns, of a lane's block: two loops that reuse different inputs."""
    taken = {loop for loop, _ in lanes}
    reused = {
        loop: frozenset(f.access for f in nest.inputs if f.strides.get(loop) == 0)
        for loop in nest.free
        if loop not in taken and not name_is_taken(loop, unit.analysis)
    }
    able = sorted(
        (loop for loop, inputs in reused.items() if inputs), key=lambda n: _reach(nest, n)
    )
    if not able:
        return
    pairs = [(a, b) for k, a in enumerate(able) for b in able[k + 1 :] if reused[a] != reused[b]]
    seen = set()
    tried: list[tuple[tuple[str, int], ...]] = [((able[0], n),) for n in ROWS_ALONE]
    if pairs:
        # The pair whose inputs lie closest together.
        one, two = pairs[0]
        tried = [((two, rows), (one, columns)) for rows, columns in SIZES]
    for limits in tried:
        cut = ((loop, _divisor(unit.trips[loop] or 1, most)) for loop, most in limits)
        block = tuple((loop, size) for loop, size in cut if size > 1)
        if block and block not in seen:
            seen.add(block)
            yield block


def _reach(nest: _Nest, loop: str) -> int:
    """Return the distance of neighbours along a loop in the input that it moves least."""
    moved = [f for f in nest.inputs if f.strides.get(loop) != 0]
    return min((_stride(f, loop) for f in moved), default=0)


def _divisor(trip: int, most: int) -> int:
    """Return the largest divisor of a trip count up to `most`: no lane's block is cut short."""
    return max(d for d in divisors(trip) if d <= most)


def _choice(
    unit: Unit, nest: _Nest, lanes: Sequence[Extent], rows: Sequence[Extent]
) -> KernelChoice:
    """Return the choice in which each lane has the block `rows` of outputs."""
    # A loop that the lanes run whole needs no tiles; rows do, for their count to be a constant.
    whole = {loop for loop, size in lanes if size == unit.trips[loop]}
    cut = [(loop, size) for loop, size in (*lanes, *rows) if loop not in whole]
    names = {loop for loop, _ in (*lanes, *rows)}
    blocks = tuple(
        tile_name(n) if n in names else n for n in nest.free if n not in whole
    )
    threads = tuple(loop for loop, _ in lanes)
    inner = tuple(loop for loop, _ in rows)
    order = (*reversed(blocks), *reversed(threads), *nest.summed, *inner)
    blocking = Blocking(nest.statement, (), order, held=nest.summed[0])
    return KernelChoice(
        unit.parts,
        tiles=tuple(cut),
        blocks=blocks,
        threads=threads,
        reasons=tuple(_reasons(nest, lanes, rows)),
        blocking=(blocking,),
        form=AccForm(REGISTERS),
    )


def _reasons(nest: _Nest, lanes: Sequence[Extent], rows: Sequence[Extent]) -> Iterator[Reason]:
    block = " x ".join(f"{size} {loop}" for loop, size in rows)
    again = {f.access.array for f in nest.inputs for loop, _ in rows if f.strides.get(loop) == 0}
    rule = f"what a lane loads of {', '.join(sorted(again))} serves several outputs"
    yield Reason("registers", f"{block} outputs for each lane", rule)
    count = prod(size for _, size in lanes)
    names = ", ".join(f"{loop} by {size}" for loop, size in lanes)
    yield Reason("vector", names, f"fastest in the output; one vector of {count} iterations")
    yield Reason("gang", "all other parallel loops, collapsed", "gangs are not bound to three axes")


def _stride(access: AccessFacts, loop: str) -> int:
    """Return the distance of neighbours along a loop, one not known as the longest there is."""
    stride = access.strides.get(loop)
    return 1 << 62 if stride is None else abs(stride)
