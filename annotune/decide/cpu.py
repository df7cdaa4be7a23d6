"""The choice for one nest on the cores of a CPU: threads outside, a register block inside.

The block is that of a matrix product (Goto and van de Geijn, "Anatomy of High-Performance
Matrix Multiplication", ACM TOMS 34(3), 2008): lanes along the loop that is contiguous in the
output, rows along one that reuses what the lanes load, the reduction around both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from annotune.analysis.facts import Analysis
from annotune.decide.cpu_groups import cpu_groups
from annotune.decide.hints import rows_of
from annotune.decide.plan import Blocking, KernelChoice, Reason
from annotune.decide.sum_lanes import is_alone, leaders, runs_along, stays_inside, sum_lanes
from annotune.decide.units import Unit, units
from annotune.ir.expr import Access, Int, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop
from annotune.transforms.copies import may_not_run
from annotune.transforms.tile import name_is_taken, tile_name
from annotune.transforms.tree import bands, bound_names, find_assign, numbers, path
from annotune.transforms.unroll import divisors

# Accumulators of one block: half of the 32 AVX-512 registers of eight doubles, so that the
# loads and factors of the next step find room.
BLOCK_DOUBLES = 128
# Two AVX-512 registers, or four of AVX2: one pair of loads per row of the block.
LANES = 16
MAX_LANES = 32
MAX_ROWS = 8
# Pieces of work that the threads share: enough that 64 threads are even within a quarter.
ENOUGH_PIECES = 256


@dataclass(frozen=True, slots=True)
class Block:
    """A register block: lanes of loop `along`, rows of loop `over`, empty for none.

    With `sums`, `along` is a reduction, each lane of which has a partial result. Without
    lanes the nest stays as it is, for the compiler to arrange.
    """

    along: str = ""
    lanes: int = 0
    over: str = ""
    rows: int = 1
    sums: bool = False

    def __str__(self) -> str:
        if not self.along:
            return "as written"
        if self.sums:
            return f"partial results along {self.along}"
        rows = f"{self.rows} {self.over} x " if self.over else ""
        return f"{rows}{self.lanes} {self.along}"


def cpu_units(analysis: Analysis) -> tuple[Unit, ...]:
    """Return the nests that the threads share, one after the other."""
    return units(analysis, cpu_groups(analysis), keeps_privates=True)


def choose_cpu(unit: Unit, blocks: Iterable[tuple[int, Block]] = ()) -> KernelChoice:
    """Return the choice for a unit, with the register block of some statements given."""
    given = dict(blocks)
    blocking: list[Blocking] = []
    reasons: list[Reason] = []
    summed: list[tuple[int, str]] = []
    for statement in leaders(unit):
        block = given.get(statement) or first_block(unit, statement)
        if block.sums:
            summed.append((statement, block.along))
        elif not block.along:
            reasons += _as_it_stands(unit, statement)
        else:
            blocking.append(_blocking(unit, statement, block))
            reasons.append(_reason(statement, block, blocking[-1].held))
    cores = _cores(unit, blocking)
    # A loop that the threads share has its lanes in each thread's own part.
    reasons = [r for r in reasons if not any(_is_for(r, b) for b in blocking if b.simd in cores)]
    blocking = [b for b in blocking if b.simd not in cores]
    team = tuple((s, loop) for s, loop in summed if stays_inside(unit, s, loop, cores))
    reasons += [_sum_reason(statement, loop) for statement, loop in team]
    own = _unit_lanes(unit, cores) if not blocking and not team else None
    if own is not None:
        blocking.append(own)
        cores = tuple(tile_name(n) if own.tiles and n == own.simd else n for n in cores)
        reasons.append(
            Reason("simd", own.simd, "innermost parallel loop, contiguous in the output")
        )
    if cores:
        rule = f"outermost parallel loops, at least {ENOUGH_PIECES} pieces where there are"
        if unit.sums:
            rule = "reduction loops; the threads' partial results are combined"
        reasons.insert(0, Reason("threads", ", ".join(cores), rule))
        reasons += _left(unit, cores, blocking)
    else:
        reasons.append(Reason("kernel", "one thread", "no loop of the nest may run in parallel"))
    return KernelChoice(
        unit.parts,
        host=unit.host,
        reasons=tuple(reasons),
        cores=cores,
        team=team,
        blocking=tuple(blocking),
    )


def cpu_points(
    analysis: Analysis,
) -> Iterator[tuple[Mapping[str, str], tuple[KernelChoice, ...]]]:
    """Yield (settings, choices) for every point of the CPU's space, the rules' own first.

    Statements take their alternatives together, the k-th of each: what suits one statement
    of a region suits its neighbours of the same form.
    """
    nests = cpu_units(analysis)
    options = {s: block_options(unit, s) for unit in nests for s in leaders(unit)}
    seen = set()
    for k in range(max(map(len, options.values()), default=1)):
        blocks = {s: found[min(k, len(found) - 1)] for s, found in options.items()}
        settings = {f"S{s}": str(block) for s, block in blocks.items() if len(options[s]) > 1}
        key = tuple(settings.items())
        if key not in seen:
            seen.add(key)
            yield settings, tuple(choose_cpu(unit, blocks.items()) for unit in nests)


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
    along, hinted = _along(unit, statement), hinted_blocks(unit, statement)
    if hinted:
        return hinted[0]
    if not along or _is_fixed(unit, statement):
        return Block()
    lanes = _lanes(unit.trip(statement, along) or LANES)
    rows = {
        over: _rows(unit.trip(statement, over) or 1, lanes)
        for over in _over(unit, statement, along)
    }
    # Most rows first: each load of the lanes then serves the most accumulators.
    over = max(rows, key=lambda name: rows[name], default="")
    return Block(along, lanes, over, rows[over]) if over else Block(along, lanes)


def block_options(unit: Unit, statement: int) -> tuple[Block, ...]:
    """Return the blocks worth trying for a statement, the rules' own first."""
    first = first_block(unit, statement)
    along, summed = _along(unit, statement), sum_lanes(unit, statement)
    out = [first, *([Block(), Block(summed, sums=True)] if summed else [])]
    if not along or not is_alone(unit, statement):
        return tuple(dict.fromkeys(out))
    longest = unit.trip(statement, along) or MAX_LANES
    out += [*hinted_blocks(unit, statement), Block(), Block(along, _lanes(longest))]
    for lanes in sorted({8, LANES, MAX_LANES, _lanes(longest)}):
        for over in _over(unit, statement, along):
            for rows in sorted({2, 4, MAX_ROWS, _rows(unit.trip(statement, over) or 1, lanes)}):
                fits = lanes <= longest
                if (
                    fits
                    and rows <= (unit.trip(statement, over) or rows)
                    and lanes * rows <= BLOCK_DOUBLES
                ):
                    out.append(Block(along, lanes, over, rows))
    return tuple(dict.fromkeys(out))


def hinted_blocks(unit: Unit, statement: int) -> tuple[Block, ...]:
    """Return the blocks whose rows are what hints say of a loop that reuses what lanes load."""
    along = _along(unit, statement)
    if not along or not is_alone(unit, statement):
        return ()
    longest = unit.trip(statement, along) or MAX_LANES
    asked = [n for n in rows_of(unit, statement, along, min(longest, MAX_LANES)) if n % 8 == 0]
    lanes = asked or [_lanes(longest)]
    return tuple(
        Block(along, n, over, rows)
        for n in lanes
        for over in _over(unit, statement, along)
        for rows in rows_of(
            unit, statement, over, min(unit.trip(statement, over) or n, BLOCK_DOUBLES // n)
        )
    )


def _own_band(unit: Unit, statement: int) -> tuple[Loop, ...]:
    """Return the perfect nest directly around a statement, less the loops run by the host.

    A loop around statements of other units is not the unit's own.
    """
    found = bands(unit.body, statement)
    if not found or not numbers(found[-1][0]) <= set(unit.statements):
        return ()
    return tuple(loop for loop in found[-1] if loop.var not in unit.host)


def _free(unit: Unit, statement: int) -> tuple[str, ...]:
    """Return the parallel loops of a statement's own band whose bounds no loop of it sets."""
    band = _own_band(unit, statement)
    set_by = {name for loop in band for name in bound_names(loop)}
    out = []
    for loop in band:
        bounded = bound_names(loop) & {other.var for other in band}
        is_parallel = unit.combined(statement, loop.var) == ()
        if is_parallel and not bounded and loop.var not in set_by and loop.step == 1:
            out.append(loop.var)
    return tuple(out)


def _along(unit: Unit, statement: int) -> str:
    """Return the parallel loop along which the output is contiguous, else an input, else none."""
    if not isinstance(find_assign(unit.body, statement).target, Access):
        return ""
    free = tuple(n for n in _free(unit, statement) if not name_is_taken(n, unit.analysis))
    facts = sorted(unit.analysis.accesses[statement], key=lambda f: not f.is_write)
    for access in facts:
        for loop in reversed(free):
            if access.strides.get(loop) == 1:
                return loop
    return ""


def _over(unit: Unit, statement: int, along: str) -> tuple[str, ...]:
    """Return the loops along which a block may have rows: they reuse what the lanes load.

    Without a reduction in the nest nothing is loaded twice, and there is none.
    """
    if not _held(unit, statement):
        return ()
    facts = unit.analysis.accesses[statement]
    target = next(f for f in facts if f.is_write)
    lanes = [f for f in facts if not f.is_write and f.strides.get(along)]
    return tuple(
        loop
        for loop in _free(unit, statement)
        if loop != along
        and not name_is_taken(loop, unit.analysis)
        and target.strides.get(loop)
        and any(not f.strides.get(loop) for f in lanes if f.access != target.access)
    )


def _held(unit: Unit, statement: int) -> str:
    """Return the outermost loop of the own band that leaves the target in place."""
    assign = find_assign(unit.body, statement)
    if not isinstance(assign.target, Access) or assign.op == "=":
        return ""
    used = frozenset[str]().union(*(variables(i) for i in assign.target.indices))
    free = _free(unit, statement)
    loops = path(unit.body, statement)
    for loop in _own_band(unit, statement):
        if loop.var not in used and loop.var not in free:
            # A copy must not touch what an empty loop would leave alone, nor hide a value.
            is_idle = may_not_run(loops, loops.index(loop)) is not None
            return "" if is_idle or unit.goes_stale(assign.target, loop.var) else loop.var
    return ""


def _lanes(trip: int) -> int:
    if trip <= MAX_LANES and trip % LANES:
        return trip
    return LANES


def _rows(trip: int, lanes: int) -> int:
    """Return the most rows that divide the loop, or nearly even ones where few divide it."""
    most = max(1, min(MAX_ROWS, BLOCK_DOUBLES // lanes, trip))
    exact = max(d for d in divisors(max(trip, 1)) if d <= most)
    return exact if 2 * exact >= most else -(-trip // -(-trip // most))


def _blocking(unit: Unit, statement: int, block: Block) -> Blocking:
    """Return the tiles and the order that make `block`: reductions outside its two loops."""
    free = _free(unit, statement)
    band = _own_band(unit, statement)
    inner = [name for name in (block.over, block.along) if name]
    sizes = {block.along: block.lanes} | ({block.over: block.rows} if block.over else {})
    fixed = unit.analysis.region.constants
    tiles = []
    for name in inner:
        loop = next(x for x in band if x.var == name)
        # A count that C fixes is a block as it stands.
        if fold(trip_count(loop), fixed) != Int(sizes[name]):
            tiles.append((name, sizes[name]))
    cut = {name for name, _ in tiles}
    held = _held(unit, statement)
    if not held:
        # Nothing is reused, so no block is kept: the lanes run over the whole loop.
        return Blocking(statement, (), _inner_last(band, free, block.along), block.along)
    outer = [tile_name(n) if n in cut else n for n in (x.var for x in band) if n in free]
    outer = [n for n in outer if n not in inner]
    rest = [x.var for x in band if x.var not in free]
    return Blocking(statement, tuple(tiles), (*outer, *rest, *inner), block.along, held)


def _inner_last(band: tuple[Loop, ...], free: tuple[str, ...], along: str) -> tuple[str, ...]:
    """Return the band's order with the lanes innermost, empty when it is so already."""
    names = [loop.var for loop in band]
    if names[-1] == along:
        return ()
    return (*(n for n in names if n != along), along)


def _cores(unit: Unit, blocking: list[Blocking]) -> tuple[str, ...]:
    """Return the loops that threads share: the outermost, until there are enough pieces."""
    lanes = {b.simd for b in blocking}
    tiles = {name: size for b in blocking for name, size in b.tiles}
    inside = {name for b in blocking if b.held for name in b.order[b.order.index(b.held) :]}
    own = set(blocking[0].order or unit.parallel) if blocking else set(unit.parallel)
    out: list[str] = []
    pieces = 1
    for name in unit.parallel or unit.sums:
        count = unit.trips[name] or 1
        if name in tiles:
            cut, count = tile_name(name), -(-count // tiles[name])
            if cut not in own:
                continue
        elif name in inside or (name in lanes and out):
            continue
        else:
            cut = name
        out.append(cut)
        pieces *= count
        if pieces >= ENOUGH_PIECES:
            break
    return tuple(out)


def _unit_lanes(unit: Unit, cores: tuple[str, ...]) -> Blocking | None:
    """Return lanes along the unit's innermost parallel loop, where it is contiguous.

    Where the threads need that very loop, they share its tiles.
    """
    if not unit.parallel or unit.parallel[-1] != unit.band[-1].var:
        return None
    loop = unit.band[-1]
    if loop.var not in cores:
        is_contiguous = any(f.strides.get(loop.var) == 1 for f in unit.writes)
        return Blocking(unit.leader, simd=loop.var) if is_contiguous else None
    facts = [f for s in unit.statements for f in unit.analysis.accesses[s]]
    is_even = all(f.strides.get(loop.var) in (0, 1) for f in facts)
    holds_loops = any(isinstance(stmt, Loop) for stmt in loop.body)
    is_long = (unit.trips[loop.var] or 0) >= 2 * LANES
    if not (is_even and holds_loops and is_long) or name_is_taken(loop.var, unit.analysis):
        return None
    return Blocking(unit.leader, ((loop.var, LANES),), simd=loop.var)


def _reason(statement: int, block: Block, held: str) -> Reason:
    if not held:
        return Reason(f"S{statement}", f"lanes of {block.along}", "contiguous in the output")
    what = f"{block.lanes} lanes of {block.along}"
    if not block.over:
        return Reason(f"S{statement}", what, "contiguous in the output; nothing reuses its loads")
    rule = f"{block.along} is contiguous in the output, {block.over} reuses what the lanes load"
    return Reason(f"S{statement}", f"{block.rows} rows of {block.over} x {what}", rule)


def _sum_reason(statement: int, loop: str) -> Reason:
    rule = f"{loop} is contiguous in what is summed; the lanes' partial results are combined"
    return Reason(f"S{statement}", f"lanes of {loop}", rule)


def _is_fixed(unit: Unit, statement: int) -> bool:
    """Return whether C fixes how often each loop of a statement's own nest runs."""
    fixed = unit.analysis.region.constants
    counts = [fold(trip_count(loop), fixed) for loop in _own_band(unit, statement)]
    return all(isinstance(count, Int) for count in counts)


def _is_for(reason: Reason, block: Blocking) -> bool:
    return reason.subject == f"S{block.statement}"


def _as_it_stands(unit: Unit, statement: int) -> tuple[Reason, ...]:
    """Return the reason for leaving a nest to the compiler, none where it has no own lanes."""
    if not _along(unit, statement) or not _is_fixed(unit, statement):
        return ()
    return (Reason(f"S{statement}", "as it stands", "C fixes every count; the compiler unrolls"),)


def _left(unit: Unit, cores: tuple[str, ...], blocking: list[Blocking]) -> list[Reason]:
    """Return the reason for the parallel loops that neither threads nor lanes nor rows run."""
    used = {*cores, *(b.simd for b in blocking)}
    used |= {name for b in blocking for name, _ in b.tiles}
    inner = (name for statement in unit.statements for name in _free(unit, statement))
    names = dict.fromkeys((*unit.parallel, *inner))
    left = [n for n in names if n not in used and tile_name(n) not in used]
    if not left:
        return []
    trips = dict(unit.trips) | {
        tile_name(name): -(-(unit.trips[name] or 1) // size)
        for b in blocking
        for name, size in b.tiles
    }
    pieces = prod(trips.get(n) or 1 for n in cores)
    return [Reason("serial", ", ".join(left), f"the shared loops give {pieces} pieces already")]
