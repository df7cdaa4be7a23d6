"""Sums in the lanes of a vector unit: which innermost reductions are worth it on a CPU.

The register blocks of a core that suit a statement: lanes along one loop, rows along another.

The block is that of a matrix product (Goto and van de Geijn, "Anatomy of High-Performance
Matrix Multiplication", ACM TOMS 34(3), 2008): lanes along the loop that is contiguous in the
output, rows along one that reuses what the lanes load, the reduction around both.

The blocks of a statement worth trying on a core, the best guess first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.analysis.reductions import reduction_operator
from annotune.ir.expr import Access, Int, Var, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop
from annotune.schedule.apart import Apart, apart_blocks, shared_inside
from annotune.schedule.units import Unit
from annotune.strategies.hints import rows_of
from annotune.transforms.legality import drops_fractions
from annotune.transforms.map import Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile, name_is_taken
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import (
    bands,
    bound_names,
    find_assign,
    may_not_run,
    numbers,
    other_user,
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
    loops = [id(loop) for loop in path(unit.body, statement)]
    return tuple(n for n in unit.statements if [id(x) for x in path(unit.body, n)] == loops)


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
    strides = [access.strides.get(loop) for access in _terms(unit, statement)]
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
        access.strides.get(other) == 1 for access in _terms(unit, statement) for other in others
    )


def stays_inside(unit: Unit, statement: int, loop: str, cores: tuple[str, ...]) -> bool:
    """Return whether `loop` keeps its place under the loops that the threads share.

    A loop that lanes share goes to the outside of serial loops that hold nothing else.
    """
    if loop in cores:
        return False
    outer = path(unit.body, statement)[:-1]
    return not outer or len(outer[-1].body) > 1 or outer[-1].var in (*cores, *unit.host)


def _terms(unit: Unit, statement: int) -> list[AccessFacts]:
    """Return what a statement reads beside its own target."""
    facts = unit.analysis.accesses[statement]
    targets = [f.access for f in facts if f.is_write]
    return [f for f in facts if not f.is_write and f.access not in targets]


# Accumulators of one block: half of the 32 AVX-512 registers of eight doubles, so that the
# loads and factors of the next step find room.
BLOCK_DOUBLES = 128
# Two AVX-512 registers, or four of AVX2: one pair of loads per row of the block.
LANES = 16
MAX_LANES = 32
MAX_ROWS = 8


@dataclass(frozen=True, slots=True)
class Block:
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
    held is a sum that is added to the target at the end. `apart` says how the statement leaves an
    imperfect nest, inside the tiles. Before a block is held, `ahead` asks for what a later one
    updates.
    """

    statement: int
    tiles: tuple[tuple[str, int], ...] = ()
    order: tuple[str, ...] = ()
    simd: str = ""
    held: str = ""
    staged: tuple[Stage, ...] = ()
    padded: tuple[str, ...] = ()
    from_zero: bool = False
    apart: Apart | None = None
    ahead: Prefetch | None = None

    @property
    def inside(self) -> tuple[str, ...]:
        """Return the loops of the block that a statement apart shares with its neighbours."""
        return () if self.apart is None else shared_inside(self.apart, self.order, self.held)

    def steps(self, analysis: Analysis) -> Iterator[Transform]:
        """Yield the steps that make it."""
        number, apart = self.statement, self.apart
        if apart is not None:
            yield from apart_blocks(analysis, apart, self.tiles, self.order, self.held)
        else:
            yield from (Tile(number, loop, size) for loop, size in self.tiles)
            yield from (Permute(number, self.order),) if self.order else ()
        if self.simd:
            groups = ((number,),) if apart is None else apart.groups
            yield from (Vectorize(group[0], self.simd) for group in groups)
        yield from self.staged
        if self.ahead is not None:
            yield self.ahead
        # What leaves a nest as an array is not held once more.
        if self.held and not (apart is not None and isinstance(apart.target, Var)):
            yield Hold(number, self.held, self.from_zero)
        if self.padded:
            yield Pad(number, self.padded)


def first_block(unit: Unit, statement: int) -> Block:
    """Return the block that hints or the rules choose for a statement, without lanes for none.

    Where C fixes every count the compiler unrolls and vectorises the nest itself, once the
    pointers are `restrict`: local_grad3 with 10 points runs three times as fast so.
    """
    summed = sum_lanes(unit, statement)
    if summed and runs_along(unit, statement, summed):
        return Block(summed, sums=True)
    if not is_alone(unit, statement):
        # Two statements would need two blocks at once.
        return Block()
    along, hinted = along_loop(unit, statement), hinted_blocks(unit, statement)
    if hinted:
        return hinted[0]
    if not along or is_fixed(unit, statement):
        return Block()
    lanes = lanes_of(unit.trip(statement, along) or LANES)
    rows = {
        over: rows_for(unit.trip(statement, over) or 1, lanes)
        for over in over_loops(unit, statement, along)
    }
    # Most rows first: each load of the lanes then serves the most accumulators.
    over = max(rows, key=lambda name: rows[name], default="")
    return Block(along, lanes, over, rows[over]) if over else Block(along, lanes)


def hinted_blocks(unit: Unit, statement: int) -> tuple[Block, ...]:
    """Return the blocks whose rows are what hints say of a loop that reuses what lanes load."""
    along = along_loop(unit, statement)
    if not along or not is_alone(unit, statement):
        return ()
    longest = unit.trip(statement, along) or MAX_LANES
    asked = [n for n in rows_of(unit, statement, along, min(longest, MAX_LANES)) if n % 8 == 0]
    lanes = asked or [lanes_of(longest)]
    return tuple(
        Block(along, n, over, rows)
        for n in lanes
        for over in over_loops(unit, statement, along)
        for rows in rows_of(
            unit, statement, over, min(unit.trip(statement, over) or n, BLOCK_DOUBLES // n)
        )
    )


def own_band(unit: Unit, statement: int) -> tuple[Loop, ...]:
    """Return the perfect nest directly around a statement, less the loops run by the host.

    That of a statement that may be taken apart begins with the loops around its neighbours. A
    loop around statements of other units is not the unit's own.
    """
    apart = unit.apart.get(statement)
    if apart is not None:
        return (*apart.band, *apart.own)
    found = bands(unit.body, statement)
    if not found or not numbers(found[-1][0]) <= set(unit.statements):
        return ()
    return tuple(loop for loop in found[-1] if loop.var not in unit.host)


def free_loops(unit: Unit, statement: int) -> tuple[str, ...]:
    """Return the parallel loops of a statement's own band whose bounds no loop of it sets."""
    band = own_band(unit, statement)
    set_by = {name for loop in band for name in bound_names(loop)}
    out = []
    for loop in band:
        bounded = bound_names(loop) & {other.var for other in band}
        is_parallel = unit.combined(statement, loop.var) == ()
        if is_parallel and not bounded and loop.var not in set_by and loop.step == 1:
            out.append(loop.var)
    return tuple(out)


def output(unit: Unit, statement: int) -> AccessFacts | None:
    """Return the array element that a statement's result becomes.

    None for what its loops declare and keep.
    """
    apart = unit.apart.get(statement)
    if apart is not None:
        return apart.output
    return next((f for f in unit.analysis.accesses[statement] if f.is_write), None)


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


def cut_tiles(unit: Unit, statement: int, block: Block) -> tuple[tuple[str, int], ...]:
    """Return the tiles of the loops of a block; a count that C fixes is one as it stands."""
    fixed = unit.analysis.region.constants
    band = {loop.var: loop for loop in own_band(unit, statement)}
    sizes = ((block.over, block.rows), (block.along, block.lanes))
    return tuple(
        (name, size)
        for name, size in sizes
        if name and fold(trip_count(band[name]), fixed) != Int(size)
    )


def held_loop(unit: Unit, statement: int) -> str:
    """Return the outermost loop of the own band that leaves the target in place."""
    assign = find_assign(unit.body, statement)
    apart = unit.apart.get(statement)
    if apart is not None and isinstance(assign.target, Var):
        return apart.own[0].var
    if not unit.is_in_memory(assign.target) or assign.op == "=":
        return ""
    used = frozenset[str]().union(*(variables(i) for i in assign.target.indices))
    free = free_loops(unit, statement)
    loops = path(unit.body, statement)
    for loop in own_band(unit, statement):
        if loop.var not in used and loop.var not in free:
            # A copy must not touch what an empty loop would leave alone, nor hide a value.
            is_idle = may_not_run(loops, loops.index(loop)) is not None
            return "" if is_idle or unit.goes_stale(assign.target, loop.var) else loop.var
    return ""


def is_sum(unit: Unit, statement: int, held: str) -> bool:
    """Return whether all that loop `held` does with a statement's target is to add to it."""
    assign = find_assign(unit.body, statement)
    types = Context(unit.analysis).types
    if reduction_operator(assign) != "+" or drops_fractions(assign, types):
        return False
    loop = next(loop for loop in path(unit.body, statement) if loop.var == held)
    return other_user(loop, assign) is None


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
