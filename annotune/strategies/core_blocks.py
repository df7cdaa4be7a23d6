"""How one core runs a statement: the block in its registers, the order of loops, and copies.

The block is that of a matrix product (Goto and van de Geijn, "Anatomy of High-Performance
Matrix Multiplication", ACM TOMS 34(3), 2008): lanes along the loop that is contiguous in the
output, rows along one that reuses what the lanes load, the reduction around both. A sum has lanes
that share it where that is worth it.

A core runs a block over and over with the same slice of an input. In the array that slice is
scattered: each step of the reduction is a page or a power of two away, which few sets of a cache
hold, and lanes may have to be gathered. A copy in the order of use is none of this (the same).

A block of few terms waits for memory: its elements are loaded once and stored once. Neighbouring
blocks in the order of the loops are strips of many rows, which no hardware prefetcher follows, so
the output of a later block may be asked for while one is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access, Int, Var, accesses
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import MemorySpace
from annotune.schedule.imperfect import ImperfectNest, distributed_block, shared_inside
from annotune.schedule.units import Unit
from annotune.strategies.hints import rows_of
from annotune.strategies.nests import free_loops, held_loop, output, own_band
from annotune.transforms.map import Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.presence import certain_reads, ends_seen
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile, name_is_taken, tile_name
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Transform, asked_once
from annotune.transforms.tree import (
    find_assign,
    numbers,
    path,
)
from annotune.transforms.unroll import divisors

# Below this many terms, combining the lanes costs as much as the sum itself.
FEW_TERMS = 16


def leaders(unit: Unit) -> tuple[int, ...]:
    """Return the first statement of each innermost nest that can have lanes of its own."""
    nests = dict.fromkeys(_beside(unit, statement) for statement in unit.statements)
    return tuple(n[0] for n in nests if len(n) == 1 or sum_lanes(unit, n[0]))


def is_alone(unit: Unit, statement: int) -> bool:
    """Return whether no other statement stands in the same loops."""
    return len(_beside(unit, statement)) == 1


def _beside(unit: Unit, statement: int) -> tuple[int, ...]:
    """Return the unit's statements in exactly the loops of `statement`, in text order."""
    return _same_loops(unit)[statement]


@asked_once
def _same_loops(unit: Unit) -> Mapping[int, tuple[int, ...]]:
    """Return for each of a unit's statements those in exactly the same loops, in text order."""
    found: dict[tuple[int, ...], list[int]] = {}
    for number in unit.statements:
        loops = tuple(id(loop) for loop in path(unit.body, number))
        found.setdefault(loops, []).append(number)
    return {number: tuple(own) for own in found.values() for number in own}


def sum_lanes(unit: Unit, statement: int) -> str:
    """Return the innermost loop of a statement where lanes may share its sum, else nothing.

    All that the loop reads is contiguous in it or stays in place: gathered lanes gain nothing.
    Statements beside it must be such sums too.
    """
    loops = path(unit.body, statement)
    if not loops or loops[-1].var in unit.host or loops[-1].step != 1:
        return ""
    inner = loops[-1].var
    trips = unit.trip(statement, inner)
    if trips is not None and trips < FEW_TERMS:
        return ""
    together = _beside(unit, statement)
    if numbers(loops[-1]) != frozenset(together):
        return ""
    return inner if all(_is_even_sum(unit, n, inner) for n in together) else ""


def _is_even_sum(unit: Unit, statement: int, loop: str) -> bool:
    strides = [access.strides.get(loop) for access in unit.inputs(statement)]
    is_even = all(stride in (0, 1) for stride in strides) and 1 in strides
    return is_even and _is_sum(unit, statement)


def _is_sum(unit: Unit, statement: int) -> bool:
    """Return whether the innermost loop does nothing for a statement but accumulate."""
    loop = path(unit.body, statement)[-1].var
    target = find_assign(unit.body, statement).target
    name = target.array if isinstance(target, Access) else target.name
    combined = unit.combined(statement, loop)
    return any(c.name == name for c in combined or ())


def runs_along(unit: Unit, statement: int, loop: str) -> bool:
    """Return whether nothing that is summed is contiguous in another loop of the statement.

    Lanes along that one would each have a sum of its own, and nothing to combine.
    """
    others = [x for x in unit.loops_around(statement) if x != loop]
    return not any(
        access.strides.get(other) == 1 for access in unit.inputs(statement) for other in others
    )


def kept_around(unit: Unit, statement: int, cores: tuple[str, ...]) -> tuple[str, ...]:
    """Return the loops that hold nothing but the innermost one, and stay around its lanes.

    A loop that lanes share would go to the outside of them. What the threads share has its place.
    """
    found: list[str] = []
    for outer in reversed(path(unit.body, statement)[:-1]):
        if len(outer.body) > 1 or outer.var in (*cores, *unit.host):
            break
        found.insert(0, outer.var)
    return tuple(found)


# Accumulators of one block: half of the 32 AVX-512 registers of eight doubles, so that the
# loads and factors of the next step find room.
BLOCK_DOUBLES = 128
# Two AVX-512 registers, or four of AVX2: one pair of loads per row of the block.
LANES = 16
MAX_LANES = 32
MAX_ROWS = 8


@dataclass(frozen=True, slots=True)
class RegisterBlock:
    """A register block: lanes of loop `along`, rows of loop `over`, empty for none.

    With `sums`, `along` is a reduction, each lane of which has a partial result. With `copied`
    the block reads copies of its inputs. Without lanes the nest stays as it is, for the compiler
    to arrange. `outer` is the loop outside the block that goes around the others, empty where the
    rules choose it. Without `ahead` no block asks for the output of a later one. `shared` is how
    many loops of the nest the threads share, 0 for as many as the rules say.
    """

    along: str = ""
    lanes: int = 0
    over: str = ""
    rows: int = 1
    sums: bool = False
    copied: bool = False
    outer: str = ""
    ahead: bool = True
    shared: int = 0

    def __str__(self) -> str:
        if not self.along:
            return "as written"
        if self.sums:
            return f"partial results along {self.along}"
        rows = f"{self.rows} {self.over} x " if self.over else ""
        return f"{rows}{self.lanes} {self.along}{' of copies' if self.copied else ''}"


@dataclass(frozen=True, slots=True)
class Blocked:
    """The perfect nest of a statement with its block cut out, as one core runs it.

    `tiles` are (loop, size), `order` its loops after them, outermost first, empty when they stay.
    `simd` is the loop whose iterations are lanes, and `held` the one over which a block of the
    target stays in registers; empty where there is none. `staged` are the copies of inputs,
    `padded` the loops that run whole tiles where they end inside one. With `from_zero` what is
    held is a sum that is added to the target at the end. `imperfect` is the nest that the statement
    leaves, inside the tiles. Before a block is held, `ahead` asks for what a later one updates.
    """

    statement: int
    tiles: tuple[tuple[str, int], ...] = ()
    order: tuple[str, ...] = ()
    simd: str = ""
    held: str = ""
    staged: tuple[Stage, ...] = ()
    padded: tuple[str, ...] = ()
    from_zero: bool = False
    imperfect: ImperfectNest | None = None
    ahead: Prefetch | None = None

    @property
    def inside(self) -> tuple[str, ...]:
        """Return the loops of the block that a distributed statement shares with its neighbours."""
        return (
            () if self.imperfect is None else shared_inside(self.imperfect, self.order, self.held)
        )

    def steps(self, analysis: Analysis) -> Iterator[Transform]:
        """Yield the steps that make it."""
        number, imperfect = self.statement, self.imperfect
        if imperfect is not None:
            yield from distributed_block(analysis, imperfect, self.tiles, self.order, self.held)
        else:
            yield from (Tile(number, loop, size) for loop, size in self.tiles)
            yield from (Permute(number, self.order),) if self.order else ()
        if self.simd:
            groups = ((number,),) if imperfect is None else imperfect.groups
            yield from (Vectorize(group[0], self.simd) for group in groups)
        yield from self.staged
        if self.ahead is not None:
            yield self.ahead
        # What leaves a nest as an array is not held once more.
        if self.held and not (imperfect is not None and isinstance(imperfect.target, Var)):
            yield Hold(number, self.held, self.from_zero)
        if self.padded:
            yield Pad(number, self.padded)


def first_block(unit: Unit, statement: int) -> RegisterBlock:
    """Return the block that hints or the rules choose for a statement, without lanes for none.

    Where C fixes every count the compiler unrolls and vectorises the nest itself, once the
    pointers are `restrict`: local_grad3 with 10 points runs three times as fast so.
    """
    summed = sum_lanes(unit, statement)
    if summed and runs_along(unit, statement, summed):
        return RegisterBlock(summed, sums=True)
    if not is_alone(unit, statement):
        # Two statements would need two blocks at once.
        return RegisterBlock()
    along, hinted = along_loop(unit, statement), hinted_blocks(unit, statement)
    if hinted:
        return hinted[0]
    if not along or is_fixed(unit, statement):
        return RegisterBlock()
    lanes = lanes_of(unit.trip(statement, along) or LANES)
    rows = {
        over: rows_for(unit.trip(statement, over) or 1, lanes)
        for over in over_loops(unit, statement, along)
    }
    # Most rows first: each load of the lanes then serves the most accumulators.
    over = max(rows, key=lambda name: rows[name], default="")
    return RegisterBlock(along, lanes, over, rows[over]) if over else RegisterBlock(along, lanes)


def hinted_blocks(unit: Unit, statement: int) -> tuple[RegisterBlock, ...]:
    """Return the blocks whose rows are what hints say of a loop that reuses what lanes load."""
    along = along_loop(unit, statement)
    if not along or not is_alone(unit, statement):
        return ()
    longest = unit.trip(statement, along) or MAX_LANES
    asked = [n for n in rows_of(unit, statement, along, min(longest, MAX_LANES)) if n % 8 == 0]
    lanes = asked or [lanes_of(longest)]
    return tuple(
        RegisterBlock(along, n, over, rows)
        for n in lanes
        for over in over_loops(unit, statement, along)
        for rows in rows_of(
            unit, statement, over, min(unit.trip(statement, over) or n, BLOCK_DOUBLES // n)
        )
    )


def along_loop(unit: Unit, statement: int) -> str:
    """Return the parallel loop along which the output is contiguous, else an input, else none."""
    target = output(unit, statement)
    if target is None and isinstance(find_assign(unit.body, statement).target, Var):
        return ""
    free = tuple(n for n in free_loops(unit, statement) if not name_is_taken(n, unit.analysis))
    known = () if target is None else (target,)
    for access in (*known, *unit.analysis.accesses[statement]):
        for loop in reversed(free):
            if access.strides.get(loop) == 1:
                return loop
    return ""


def strided_loop(unit: Unit, statement: int) -> str:
    """Return the parallel loop with the shortest steps in the output, none without a reduction.

    Its lanes are worth it where nothing is contiguous, if copies make what they load so.
    """
    target = output(unit, statement)
    if target is None or not held_loop(unit, statement):
        return ""
    free = [n for n in free_loops(unit, statement) if not name_is_taken(n, unit.analysis)]
    steps = {name: abs(target.strides.get(name) or 0) for name in free}
    return min((name for name in free if steps[name]), key=lambda name: steps[name], default="")


def over_loops(unit: Unit, statement: int, along: str) -> tuple[str, ...]:
    """Return the loops along which a block may have rows: they reuse what the lanes load.

    Without a reduction in the nest nothing is loaded twice, and there is none.
    """
    if not held_loop(unit, statement):
        return ()
    facts = unit.analysis.accesses[statement]
    target = output(unit, statement)
    assert target is not None
    lanes = [f for f in facts if not f.is_write and f.strides.get(along)]
    return tuple(
        loop
        for loop in free_loops(unit, statement)
        if loop != along
        and not name_is_taken(loop, unit.analysis)
        and target.strides.get(loop)
        and any(not f.strides.get(loop) for f in lanes if f.access != target.access)
    )


def cut_tiles(unit: Unit, statement: int, block: RegisterBlock) -> tuple[tuple[str, int], ...]:
    """Return the tiles of the loops of a block; a count that C fixes is one as it stands."""
    fixed = unit.analysis.region.constants
    band = {loop.var: loop for loop in own_band(unit, statement)}
    sizes = ((block.over, block.rows), (block.along, block.lanes))
    return tuple(
        (name, size)
        for name, size in sizes
        if name and fold(trip_count(band[name]), fixed) != Int(size)
    )


def lanes_of(trip: int) -> int:
    if trip <= MAX_LANES and trip % LANES:
        return trip
    return LANES


def rows_for(trip: int, lanes: int) -> int:
    """Return the most rows that divide the loop, or nearly even ones where few divide it."""
    most = max(1, min(MAX_ROWS, BLOCK_DOUBLES // lanes, trip))
    exact = max(d for d in divisors(max(trip, 1)) if d <= most)
    return exact if 2 * exact >= most else -(-trip // -(-trip // most))


def is_fixed(unit: Unit, statement: int) -> bool:
    """Return whether C fixes how often each loop of a statement's own nest runs.

    A long reduction does not count: no compiler unrolls it, nor keeps a block across it.
    """
    fixed = unit.analysis.region.constants
    held = held_loop(unit, statement)
    if held and (unit.trip(statement, held) or 0) > MAX_LANES:
        return False
    counts = [fold(trip_count(loop), fixed) for loop in own_band(unit, statement)]
    return all(isinstance(count, Int) for count in counts)


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


@asked_once
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


def arranged(
    unit: Unit, statement: int, block: RegisterBlock, count: int = 0
) -> Arrangement | None:
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
    imperfect = unit.imperfect.get(statement)
    own = {statement} if imperfect is None else {n for group in imperfect.groups for n in group}
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
    unit: Unit, statement: int, block: RegisterBlock, trips: Mapping[str, int], count: int
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
    unit: Unit, statement: int, block: RegisterBlock, trips: Mapping[str, int], count: int
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


def _scattered(unit: Unit, statement: int, block: RegisterBlock, found: Arrangement) -> int:
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
    others = [f for f in unit.inputs(statement) if f.access.array not in copied]
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
    assign, analysis = find_assign(unit.body, nest.statement), unit.analysis
    found = []
    for fact in inputs(unit, nest.statement):
        copy, name = _copy(nest, fact, shared, longest), fact.access.array
        is_whole = analysis.is_there(name) or ends_seen(analysis, name) is not None
        if copy is not None and fact.access in certain_reads(assign, is_whole):
            found.append(copy)
    return tuple(found)


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
    if not block.held or block.imperfect is not None or not block.order:
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
