"""The order of a contraction's loops on a core, and the slices of its inputs worth copying.

A core runs a block over and over with the same slice of an input. In the array that slice is
scattered: each step of the reduction is a page or a power of two away, which few sets of a cache
hold, and lanes may have to be gathered. A copy in the order of use is none of this (Goto and
van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008).

Whether a core asks for the output of a later block while it computes one, and of which.

A block of few terms waits for memory: its elements are loaded once and stored once. Neighbouring
blocks in the order of the loops are strips of many rows, which no hardware prefetcher follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from annotune.analysis.facts import AccessFacts
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import accesses
from annotune.ir.nest import MemorySpace
from annotune.schedule.units import Unit
from annotune.strategies.core_blocks import (
    Block,
    Blocked,
    cut_tiles,
    free_loops,
    held_loop,
    output,
    own_band,
)
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.stage import Stage
from annotune.transforms.tile import tile_name
from annotune.transforms.tree import find_assign

# Elements of a copy, and of all copies that the order of loops aims at: 64 KiB of double, a
# quarter of the smallest second-level cache in use, so that what streams past leaves them there.
COPIES = 8192
# Elements of a copy that a block reads once from end to end, as a stream: half of a second-level
# cache of 1 MiB. The next line is on its way before it is asked for. A few of them fit the stack
# of a thread, 2 MiB and more.
PANEL = 65536
# Vector operations that a copied element must serve: it is loaded and stored once, a
# few elements at a time where the copy turns rows into columns.
LEAST_USES = 4
# Pieces of work that the threads share: enough that 64 threads are even within a quarter.
ENOUGH_PIECES = 256
# Fewer are shared where that saves a copy: enough for 4 threads to be even within a quarter.
FEW_PIECES = 16
# Rows of a copy start at multiples of the longest vector: 64 bytes of double.
ROW_DOUBLES = 8


@dataclass(frozen=True, slots=True)
class CutNest:
    """The loops of a statement once its block is cut: `order`, outermost first.

    `trips` are the counts of the loops of the text at the tuned sizes, `tiles` the sizes of
    those that are cut. `along` is the loop of the lanes, and `held` the first of the order that
    belongs to the block.
    """

    statement: int
    order: tuple[str, ...]
    trips: Mapping[str, int]
    tiles: Mapping[str, int]
    along: str
    held: str

    def count(self, loop: str) -> int:
        """Return the iterations of a loop of the order: of tiles, in a tile, or of the text."""
        if loop in self.tiles:
            return min(self.tiles[loop], self.trips[loop])
        if loop in self.trips:
            return self.trips[loop]
        inner = next(name for name in self.tiles if tile_name(name) == loop)
        return -(-self.trips[inner] // self.tiles[inner])

    def counts(self, loops: Iterable[str]) -> int:
        """Return the iterations of some loops together."""
        return prod(self.count(loop) for loop in loops)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The loops of a nest in order, outermost first, those that threads share, and the copies."""

    order: tuple[str, ...]
    cores: tuple[str, ...]
    staged: tuple[Stage, ...]


def inputs(unit: Unit, statement: int) -> tuple[AccessFacts, ...]:
    """Return what a statement reads that a copy could stand for.

    Nothing of the unit writes it, one element of the array is read in each iteration, and its
    place is known from the loops alone.
    """
    facts = unit.analysis.accesses[statement]
    written = {fact.access.array for fact in unit.writes}
    found = {f.access: f for f in facts if f.access.array not in written}
    arrays = [access.array for access in found]
    return tuple(
        fact
        for access, fact in found.items()
        if arrays.count(access.array) == 1
        and None not in fact.strides.values()
        and not any(accesses(index) for index in access.indices)
    )


def arranged(unit: Unit, statement: int, block: Block, count: int = 0) -> Arrangement | None:
    """Return how a core runs `block` on copies, None where some loop's count is not known.

    `count` is how many loops the threads are to share, 0 for as many as the rules say.

    The unit must be the statement's alone: others would need another order. Without a reduction
    only what the lanes would gather is copied.
    """
    trips = {name: unit.trip(statement, name) for name in unit.loops_around(statement)}
    known = {name: trip for name, trip in trips.items() if trip}
    held = held_loop(unit, statement)
    if output(unit, statement) is None:
        return None
    apart = unit.apart.get(statement)
    own = {statement} if apart is None else {n for group in apart.groups for n in group}
    if len(known) < len(trips) or own != set(unit.statements) or (held and not block.over):
        return None
    if held:
        return _least_scattered(unit, statement, block, known, count)
    band = [loop.var for loop in own_band(unit, statement)]
    band = sorted(band, key=lambda name: name != block.outer)
    order = (*(name for name in band if name != block.along), block.along)
    nest = CutNest(statement, order, known, {}, block.along, block.along)
    cores = _cores(unit, nest, count)
    if len(cores) < max(1, count):
        return None
    staged = copies(unit, nest, len(cores))
    read = {fact.access.array: fact for fact in inputs(unit, statement)}
    staged = tuple(c for c in staged if read[c.array].strides[block.along] not in (0, 1))
    return Arrangement(nest.order, cores, staged)


def _least_scattered(
    unit: Unit, statement: int, block: Block, trips: Mapping[str, int], count: int
) -> Arrangement | None:
    """Return the way to run a block that leaves least to load in steps of pages or rows."""
    best: tuple[int, Arrangement] | None = None
    for one in _blocked(unit, statement, block, trips, count):
        far = _scattered(unit, statement, block, one)
        if best is None or far < best[0]:
            best = far, one
        if far == 0:
            break
    return best[1] if best is not None else None


def _blocked(
    unit: Unit, statement: int, block: Block, trips: Mapping[str, int], count: int
) -> Iterator[Arrangement]:
    """Yield the ways to run `block` inside the reductions, and these inside all other loops.

    The first has all copies in the cache and pieces for many threads; the others give up one or
    both, or put another loop outermost.
    """
    tiles = dict(cut_tiles(unit, statement, block))
    inner = (block.over, block.along)
    free = free_loops(unit, statement)
    names = [name for name in free if name not in inner or name in tiles]
    outer = outer_order(unit, statement, names, trips)
    rest = [loop.var for loop in own_band(unit, statement) if loop.var not in free]
    held = held_loop(unit, statement)
    firsts = [outer, *((n, *(x for x in outer if x != n)) for n in outer[1:])]
    firsts = [loops for loops in firsts if block.outer in ("", *loops[:1])]
    for longest, loops in product((COPIES, PANEL), firsts):
        order = (*(tile_name(n) if n in tiles else n for n in loops), *rest, *inner)
        nest = CutNest(statement, order, trips, tiles, block.along, held)
        cores = _cores(unit, nest, count)
        while cores and len(cores) >= count:
            yield Arrangement(order, cores, copies(unit, nest, len(cores), longest))
            cores = cores[:-1] if nest.counts(cores[:-1]) >= FEW_PIECES else ()


def _scattered(unit: Unit, statement: int, block: Block, found: Arrangement) -> int:
    """Return how much a step of the reduction loads far from what the step before loaded.

    A whole vector counts as much as there are lanes, an element that they have in common as one.
    """
    copied = {copy.array for copy in found.staged}
    held = held_loop(unit, statement)
    total = 0
    for fact in inputs(unit, statement):
        is_gathered = fact.strides.get(block.along) not in (0, 1)
        is_far = is_gathered or fact.strides.get(held) not in (0, 1)
        if is_far and fact.access.array not in copied:
            total += block.lanes if fact.strides.get(block.along) else 1
    return total


def padded_loops(unit: Unit, statement: int, found: Arrangement) -> tuple[str, ...]:
    """Return the loops whose tiles may run whole where they end inside one.

    All that they move but the target are copies: the surplus of these is zeros, and what comes
    of it is not stored.
    """
    copied = {copy.array for copy in found.staged}
    facts = unit.analysis.accesses[statement]
    targets = [fact.access for fact in facts if fact.is_write]
    others = [f for f in facts if f.access not in targets and f.access.array not in copied]
    loops = unit.loops_around(statement)
    return tuple(n for n in loops if not any(f.strides.get(n) for f in others))


def _cores(unit: Unit, nest: CutNest, count: int) -> tuple[str, ...]:
    """Return the loops that threads share: the outermost, until there are enough pieces.

    At most `count` of them, if it says how many.
    """
    out: list[str] = []
    able = {*unit.parallel, *map(tile_name, unit.parallel)}
    for name in nest.order[: nest.order.index(nest.held)]:
        is_enough = len(out) == count if count else nest.counts(out) >= ENOUGH_PIECES
        if name not in able or is_enough:
            break
        out.append(name)
    return tuple(out)


def outer_order(
    unit: Unit, statement: int, names: Sequence[str], trips: Mapping[str, int]
) -> tuple[str, ...]:
    """Return the parallel loops outside a block in the order that lets copies serve longest.

    Outermost are the loops of the largest strides in the output, as many as make the slices of
    the inputs small enough; among them those of the largest slice come first, so that its
    copy stays. The rest keep the order of the output, which is then written in long pieces.
    """
    target = output(unit, statement)
    assert target is not None
    moved = [{n for n in trips if f.strides.get(n)} for f in inputs(unit, statement)]
    left = sorted(names, key=lambda name: -abs(target.strides[name] or 0))
    outer: list[str] = []

    def slice_of(loops: set[str]) -> int:
        return prod(trips[name] for name in loops if name not in outer)

    while left and sum(map(slice_of, moved)) > COPIES:
        outer.append(left.pop(0))
    sizes = {n: [slice_of(loops) for loops in moved if n in loops] for n in outer}
    # What moves every slice lets none of them stay, wherever it is.
    outer.sort(key=lambda n: (len(sizes[n]) < len(moved), -max(sizes[n], default=0)))
    return (*outer, *left)


def copies(unit: Unit, nest: CutNest, shared: int, longest: int = COPIES) -> tuple[Stage, ...]:
    """Return the copies that pay, each inside the `shared` outermost loops: the threads'.

    None has more elements than `longest`.
    """
    if find_assign(unit.body, nest.statement).guard is not None:
        return ()
    found = (_copy(nest, fact, shared, longest) for fact in inputs(unit, nest.statement))
    return tuple(copy for copy in found if copy is not None)


def _copy(nest: CutNest, fact: AccessFacts, shared: int, longest: int) -> Stage | None:
    """Return the copy of an input before the outermost loop that uses it again, if it pays."""
    own = {name for name in nest.trips if fact.strides.get(name)}
    own |= {tile_name(name) for name in own & nest.tiles.keys()}
    for place in range(shared, nest.order.index(nest.held)):
        inside = nest.order[place:]
        slice_ = [name for name in inside if name in own]
        if inside[0] in own or nest.counts(slice_) > longest:
            continue
        uses = nest.counts(inside) // nest.counts(slice_)
        # One load of what the lanes have in common serves them all.
        uses //= 1 if nest.along in own else nest.count(nest.along)
        if uses < LEAST_USES:
            return None
        layout = _layout(nest, slice_)
        return Stage(nest.statement, fact.access.array, inside[0], layout, MemorySpace.PRIVATE)
    return None


def _layout(nest: CutNest, loops: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return the distances in a copy whose loops nest as they do in the block's use of it."""
    out: list[tuple[str, int]] = []
    distance = 1
    for loop in reversed(loops):
        step = next((s for name, s in nest.tiles.items() if tile_name(name) == loop), 1)
        distance = -(-distance // step) * step
        out.append((loop, distance))
        distance *= nest.count(loop)
        if loop == nest.along:
            distance = -(-distance // ROW_DOUBLES) * ROW_DOUBLES
    return tuple(reversed(out))


# Bytes of a line of the cache, on every CPU that is in use for this.
LINE_BYTES = 64
# Blocks between the request and the use, each some 80 ns of multiply-adds: enough for memory that
# takes a microsecond under load.
LEAST_LEAD = 8
# Elements of the output between the two, 128 KiB of double: half of the smallest second-level
# cache in use.
MOST_LEAD = 16384
# Iterations of the loop: the last one asks for nothing new.
LEAST_TRIPS = 4
# Terms of a sum beyond which a block computes so long that loading it hardly counts.
MOST_TERMS = 128
# Elements of an output that lies in the second-level cache of 1 MiB in any case.
NEAR = 131072


def fetched_ahead(unit: Unit, block: Blocked, cores: Sequence[str]) -> Prefetch | None:
    """Return what asks before each block for the output of a later one, if that is worth it.

    That is the innermost one around it that is far enough ahead; its lanes must lie in lines, and
    what one iteration updates in one piece: pieces that lie apart gained nothing.
    """
    if not block.held or block.apart is not None or not block.order:
        return None
    target = output(unit, block.statement)
    if target is None or target.strides.get(block.simd) != 1:
        return None
    trips = {
        loop.var: unit.trip(block.statement, loop.var) or 1
        for loop in own_band(unit, block.statement)
    }
    nest = CutNest(block.statement, block.order, trips, dict(block.tiles), block.simd, block.held)
    if prod(n for name, n in trips.items() if target.strides.get(name)) <= NEAR:
        return None
    place = block.order.index(block.held)
    inside = block.order[place:]
    if nest.counts(n for n in inside if not target.strides.get(n)) > MOST_TERMS:
        return None
    size = nest.counts(n for n in inside if target.strides.get(n))
    line = LINE_BYTES // element_bytes(unit.analysis.region.arrays[target.access.array].element)
    for at in reversed(range(place)):
        name = block.order[at]
        if name in cores:
            break
        lead = nest.counts(block.order[at + 1 : place])
        is_able = bool(target.strides.get(name)) and nest.count(name) >= LEAST_TRIPS
        is_far = lead >= LEAST_LEAD and lead * size <= MOST_LEAD
        if is_able and is_far and _is_one_piece(target, nest, block.order[at + 1 :]):
            return Prefetch(block.statement, name, block.held, max(1, line))
    return None


def _is_one_piece(target: AccessFacts, nest: CutNest, inside: Sequence[str]) -> bool:
    """Return whether the elements that the loops `inside` pick are all neighbours."""
    length = 1
    for step, name in sorted((abs(target.strides.get(n) or 0), n) for n in nest.trips):
        own = [n for n in inside if n in (name, tile_name(name))]
        count = min(nest.counts(own), nest.trips[name])
        if step and count > 1:
            if step != length:
                return False
            length *= count
    return True
