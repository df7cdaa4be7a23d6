"""The strategy for the cores of a CPU: threads outside, a register block inside.

Before that it says which statements of a region one thread runs together: as in the text, or
taken apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from math import prod
from types import MappingProxyType

from annotune.analysis.facts import Analysis
from annotune.frozen import dataclass
from annotune.ir.nest import Level, Loop
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.imperfect import ImperfectNest
from annotune.schedule.units import Unit, atomic_groups, units
from annotune.strategies.core_blocks import (
    ENOUGH_PIECES,
    LANES,
    MAX_LANES,
    MAX_ROWS,
    Arrangement,
    Blocked,
    RegisterBlock,
    along_loop,
    arranged,
    cut_tiles,
    fetched_ahead,
    first_block,
    hinted_blocks,
    is_alone,
    is_fixed,
    kept_around,
    lanes_of,
    leaders,
    over_loops,
    padded_loops,
    strided_loop,
    sum_lanes,
)
from annotune.strategies.nests import free_loops, held_loop, is_held_sum, output, own_band
from annotune.transforms.map import STATIC, Map, Team
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.stage import Stage
from annotune.transforms.tile import name_is_taken, tile_name
from annotune.transforms.transform import Transform
from annotune.transforms.tree import bound_names, numbers

# Doubles of the longest vector, AVX-512's.
VECTOR = 8
# Vectors that a block on copies may keep of the 32 registers: each step needs one for each
# vector of the lanes, at most four, and one for a factor.
ACCUMULATORS = 24
# Rows of such a block at most.
MAX_COPIED_ROWS = 16
# Cycles of a multiply-add, of which some CPUs start two a cycle (Fog, "Instruction tables").
LATENCY = 8
# Cycles that counting a step costs.
STEP = 2
# Neighbours of a strip that no register holds: enough that no step waits for what the last one
# stored, and few enough for the first-level cache.
STRIP = 64
# A block that divides its loops leaves no shorter one at their ends, which compilers keep in
# memory, or which runs in vain: it may cost so much more by the count of cycles. So may one
# whose rows lie closer together.
EVEN = 1.1


def first_option(unit: Unit, statement: int) -> RegisterBlock:
    """Return the block that hints or the rules choose: one on copies where these pay."""
    plain = first_block(unit, statement)
    along = along_loop(unit, statement) or strided_loop(unit, statement)
    hinted = hinted_blocks(unit, statement)
    if not along or not is_alone(unit, statement) or (is_fixed(unit, statement) and not hinted):
        return plain
    found = (
        hinted[:1] or _copied_blocks(unit, statement, along) or [RegisterBlock(along, plain.lanes)]
    )
    copied = (replace(block, copied=True) for block in found)
    return next((block for block in copied if _pays(unit, statement, block)), plain)


def _copied_blocks(unit: Unit, statement: int, along: str) -> list[RegisterBlock]:
    """Return the blocks of whole vectors on copies, the best first.

    Last are those of fewer lanes: what a long sum reads of an input for many may be more than
    the largest copy.
    """
    most = range(MAX_LANES, 0, -VECTOR)
    found = (one for lanes in most for one in _blocks_within(unit, statement, along, lanes))
    return list(dict.fromkeys(found))


def _blocks_within(unit: Unit, statement: int, along: str, most: int) -> list[RegisterBlock]:
    """Return the blocks of at most so many lanes, the cheapest for each loop of rows first."""
    target = output(unit, statement)
    if target is None:
        return []
    length = unit.trip(statement, along) or LANES
    found: list[tuple[float, int, RegisterBlock]] = []
    for over in over_loops(unit, statement, along):
        count = unit.trip(statement, over) or MAX_ROWS
        blocks = [
            RegisterBlock(along, VECTOR * vectors, over, rows)
            for vectors in range(1, most // VECTOR + 1)
            for rows in range(1, min(count, MAX_COPIED_ROWS) + 1)
            if vectors * rows <= ACCUMULATORS
        ]
        best = _best(blocks, length, count)
        distance = abs(target.strides.get(over) or 0)
        found.append((_cost(best, length, count), distance, best))
    least = min((cost for cost, _, _ in found), default=0.0)

    def rank(one: tuple[float, int, RegisterBlock]) -> tuple[bool, float]:
        # Of nearly equal ones the rows that lie closest together, which keep to few pages.
        cost, distance, _ = one
        is_dear = cost > EVEN * least
        return is_dear, cost if is_dear else distance

    return [block for _, _, block in sorted(found, key=rank)]


def _best(blocks: Sequence[RegisterBlock], length: int, count: int) -> RegisterBlock:
    """Return the cheapest block, or one that divides its loops and costs little more.

    Next best divides the rows' alone: what lanes leave at the end is often padded,
    what rows leave seldom.
    """

    def cost(block: RegisterBlock) -> float:
        return _cost(block, length, count)

    best = min(blocks, key=cost)
    even = [block for block in blocks if count % block.rows == 0]
    whole = [block for block in even if length % block.lanes == 0]
    found = (min(some, key=cost) for some in (whole, even) if some)
    return next((block for block in found if cost(block) <= EVEN * cost(best)), best)


def _cost(block: RegisterBlock, length: int, count: int) -> float:
    """Return the cycles of one step of the reduction, for each element of the output.

    A core starts a multiply-add a cycle, and a load: of the lanes' vectors, and of what the lanes
    of each row have in common. Fewer accumulators than the latency of a multiply-add wait for it.
    """
    vectors = block.lanes // VECTOR
    step = max(block.rows * vectors, block.rows + vectors, LATENCY) + STEP
    tiles = -(-length // block.lanes) * -(-count // block.rows)
    return step * tiles / (length * count)


def _pays(unit: Unit, statement: int, block: RegisterBlock) -> bool:
    """Return whether copies are made for a block, of all that its lanes would have to gather."""
    found = arranged(unit, statement, block)
    if found is None or not found.staged:
        return False
    copied = {copy.array for copy in found.staged}
    facts = unit.analysis.accesses[statement]
    target = output(unit, statement)
    if target is not None and held_loop(unit, statement):
        # The block is loaded and stored once.
        facts = tuple(f for f in facts if f.access != target.access)
    return all(f.strides[block.along] in (0, 1) or f.access.array in copied for f in facts)


def likely(unit: Unit, statement: int) -> tuple[RegisterBlock, ...]:
    """Return the few blocks that are worth a trial before all others, the rules' own first."""
    first = first_option(unit, statement)
    along, summed = along_loop(unit, statement), sum_lanes(unit, statement)
    out = [first, *([RegisterBlock(), RegisterBlock(summed, sums=True)] if summed else [])]
    if along and is_alone(unit, statement):
        longest = unit.trip(statement, along) or MAX_LANES
        out += [*hinted_blocks(unit, statement), first_block(unit, statement)]
        out += [RegisterBlock(), RegisterBlock(along, lanes_of(longest))]
    return tuple(dict.fromkeys((*out, RegisterBlock())))


Groups = tuple[tuple[int, ...], ...]


def cpu_groups(analysis: Analysis) -> Groups:
    """Return the statements of each nest to make: those of the text, or fewer in each.

    What one thread touches stays in its cache, so the text's nests stay whole. One is taken
    apart where its own outer loop is serial and the parts' are not: threads that start once
    per iteration cost more than a second pass over the data. So it is where a sum has rows of a
    register block only by itself: it reads its inputs as many times less as there are rows.
    """
    # A loop without a statement, which only its variable's last value keeps, is in no group.
    nests = [tuple(sorted(numbers(stmt))) for stmt in analysis.region.nest.body]
    text = tuple(group for group in nests if group)
    if all(len(group) == 1 for group in text):
        return text
    starts = _starts(analysis, text)
    finest = atomic_groups(analysis)
    if finest == text:
        return text
    out: list[tuple[int, ...]] = []
    for group in text:
        parts = tuple(part for part in finest if set(part) <= set(group))
        if len(parts) < 2 or sorted(n for part in parts for n in part) != list(group):
            out.append(group)
            continue
        rest = tuple(n for n in finest if n not in parts)
        if starts[group] <= 1:
            out += _for_rows(analysis, group, parts, rest)
            continue
        joined = _joined(analysis, parts, rest)
        apart = _starts(analysis, tuple(sorted((*joined, *rest))))
        out += joined if sum(apart[part] for part in joined) < starts[group] else (group,)
    return tuple(out)


def _for_rows(analysis: Analysis, group: tuple[int, ...], parts: Groups, rest: Groups) -> Groups:
    """Return `group` with its parts alone that have rows of a block only so, others together."""
    whole = units(analysis, tuple(sorted((group, *rest))), keeps_privates=True)
    apart = units(analysis, tuple(sorted((*parts, *rest))), keeps_privates=True)
    able = [any(_has_rows(apart, n) and not _has_rows(whole, n) for n in part) for part in parts]
    out: list[tuple[int, ...]] = []
    for place, part in enumerate(parts):
        if out and not able[place] and not able[place - 1]:
            out[-1] = (*out[-1], *part)
        else:
            out.append(part)
    return tuple(out)


def _has_rows(found: Sequence[Unit], statement: int) -> bool:
    """Return whether a statement has a block with rows in its own one of some nests."""
    unit = next(unit for unit in found if statement in unit.statements)
    return statement in leaders(unit) and bool(first_option(unit, statement).over)


def _joined(analysis: Analysis, parts: Groups, rest: Groups) -> Groups:
    """Return `parts` with neighbours joined where threads then start less often.

    `rest` are the groups of the region's other statements.
    """
    out = [parts[0]]
    for part in parts[1:]:
        both = (*out[-1], *part)
        apart = _starts(analysis, tuple(sorted((*out, part, *_after(part, parts), *rest))))
        if sorted(both) == list(both) and both[-1] - both[0] == len(both) - 1:
            whole = (*out[:-1], both, *_after(part, parts), *rest)
            together = _starts(analysis, tuple(sorted(whole)))
            if together[both] < apart[out[-1]] + apart[part]:
                out[-1] = both
                continue
        out.append(part)
    return tuple(out)


def _after(part: tuple[int, ...], parts: Groups) -> Groups:
    return parts[parts.index(part) + 1 :]


def _starts(analysis: Analysis, groups: Groups) -> dict[tuple[int, ...], int]:
    """Return for each group how often threads start, with one thread for all that is serial.

    A nest on one thread counts as every one of its iterations.
    """
    found = dict.fromkeys(groups, 0)
    for unit in units(analysis, groups, keeps_privates=True):
        group = next(g for g in groups if unit.leader in g)
        found[group] += _of_unit(unit)
    return found


def _of_unit(unit: Unit) -> int:
    around = unit.loops_around(unit.leader)
    if unit.parallel or unit.sums:
        inside = {loop.var for loop in unit.band} - set(unit.host)
        first = next(k for k, name in enumerate(around) if name in inside)
        around = around[:first]
    return prod(max(1, unit.trips[name] or 1) for name in around)


def cpu_units(analysis: Analysis) -> tuple[Unit, ...]:
    """Return the nests that the threads share, one after the other."""
    return units(analysis, cpu_groups(analysis), keeps_privates=True)


def choose_cpu(
    unit: Unit, given: Mapping[int, RegisterBlock] = MappingProxyType({}), schedule: str = STATIC
) -> Candidate:
    """Return the choice for a unit, with the register blocks of some statements `given`."""
    count = max((given[n].shared for n in unit.statements if n in given), default=0)
    own = _own_blocks(unit, given, count)
    found, blocking, reasons = own.found, list(own.blocking), list(own.reasons)
    is_reordered = any(block.outer for block in given.values())
    cores = found.cores if found is not None else _cores(unit, blocking, count, is_reordered)
    quiet = {statement for statement, block in given.items() if not block.ahead}
    blocking = [
        b if b.statement in quiet else replace(b, ahead=fetched_ahead(unit, b, cores))
        for b in blocking
    ]
    reasons += [_ahead_reason(b.ahead) for b in blocking if b.ahead is not None]
    # A loop that the threads share has its lanes in each thread's own part.
    reasons = [r for r in reasons if not any(_is_for(r, b) for b in blocking if b.simd in cores)]
    blocking = [b for b in blocking if b.simd not in cores]
    team = tuple((s, loop) for s, loop in own.summed if loop not in cores)
    reasons += [_sum_reason(statement, loop) for statement, loop in team]
    lanes = _unit_lanes(unit, cores) if not blocking and not team else None
    if lanes is not None:
        blocking.append(lanes)
        cores = tuple(tile_name(n) if lanes.tiles and n == lanes.simd else n for n in cores)
        rule = "innermost parallel loop, contiguous in the output"
        reasons.append(Reason("simd", lanes.simd, rule))
    reasons = _with_kernel(unit, reasons, cores, blocking, count, bool(found and found.staged))
    placed = _placed(unit, cores, team, schedule)
    bare = Candidate.of_axes(unit.parts, *placed, reasons=reasons)
    choice = bare.having(*_steps(unit, blocking))
    if not any(block.staged for block in blocking):
        return choice
    # A copy is as long as the tuned sizes say, and only copies may be read beyond a loop's end.
    plain = (replace(block, staged=(), padded=(), ahead=None) for block in blocking)
    return replace(choice, general=bare.having(*_steps(unit, plain)))


@dataclass(frozen=True, slots=True)
class _OwnBlocks:
    """The blocks of a unit's statements, the loops in whose lanes sums are shared, and why.

    `found` says how copies have the loops, None where there are none.
    """

    blocking: tuple[Blocked, ...]
    summed: tuple[tuple[int, str], ...]
    found: Arrangement | None
    reasons: tuple[Reason, ...]


def _own_blocks(unit: Unit, given: Mapping[int, RegisterBlock], count: int) -> _OwnBlocks:
    """Return what each statement that leads a nest comes to, whatever loops the threads share."""
    blocking: list[Blocked] = []
    reasons: list[Reason] = []
    summed: list[tuple[int, str]] = []
    found: Arrangement | None = None
    for statement in leaders(unit):
        block = given.get(statement) or first_option(unit, statement)
        if block.sums:
            summed.append((statement, block.along))
        elif not block.along:
            reasons += _as_it_stands(unit, statement)
        else:
            found = arranged(unit, statement, block, count) if block.copied else None
            made = _blocking(unit, statement, block, found)
            # Nothing of a statement whose own loops alone make the block leaves its nest.
            is_alone = made.imperfect is not None and not made.inside
            blocking.append(Blocked(statement) if is_alone else made)
            is_near = along_loop(unit, statement) == block.along
            near = "is contiguous" if is_near else "has the shortest steps"
            reasons.append(_reason(statement, block, blocking[-1].held, near))
            reasons += _imperfect_reasons(blocking[-1])
            reasons += [_copy_reason(copy) for copy in blocking[-1].staged]
    # What leaves a nest takes its neighbours along.
    taken = {n for b in blocking if b.imperfect for n in b.imperfect.beside}
    kept = tuple(b for b in blocking if b.statement not in taken)
    why = tuple(r for r in reasons if r.subject not in {f"S{n}" for n in taken})
    return _OwnBlocks(kept, tuple(summed), found, why)


def _with_kernel(
    unit: Unit,
    reasons: Sequence[Reason],
    cores: tuple[str, ...],
    blocking: list[Blocked],
    count: int,
    is_staged: bool,
) -> list[Reason]:
    """Return the reasons with those for the loops that threads share, and for all others."""
    if not cores:
        alone = Reason("kernel", "one thread", "no loop of the nest may run in parallel")
        return [*reasons, alone]
    rule = f"outermost parallel loops, at least {ENOUGH_PIECES} pieces where there are"
    if is_staged and unit.pieces(cores, _sizes(blocking)) < ENOUGH_PIECES:
        rule = "outermost parallel loops, fewer of them so that a copy serves the others"
    if count:
        rule = f"the outermost {count}, as a point of the space"
    if unit.sums:
        rule = "reduction loops; the threads' partial results are combined"
    shared = Reason("threads", ", ".join(cores), rule)
    return [shared, *reasons, *_left(unit, cores, blocking)]


def _placed(
    unit: Unit, cores: tuple[str, ...], team: Sequence[tuple[int, str]], schedule: str
) -> Iterator[Transform]:
    """Yield the steps that let threads share loops, and lanes sums."""
    for statement, loop in team:
        around = kept_around(unit, statement, cores)
        yield Team(statement, loop, Level.SIMD, (*unit.host, *around))
    inside = {loop for _, loop in team}
    outer = tuple((name, Level.CPU_THREAD) for name in cores if name not in inside)
    if outer:
        yield Map(unit.leader, outer, unit.host, "threads", schedule=schedule)


def _steps(unit: Unit, blocking: Iterable[Blocked]) -> Iterator[Transform]:
    return (step for block in blocking for step in block.steps(unit.analysis))


def _has_outside(
    imperfect: ImperfectNest,
    free: Iterable[str],
    block: RegisterBlock,
    tiles: Iterable[tuple[str, int]],
) -> bool:
    """Return whether a loop is left around a block, for cores to share: its array is inside.

    Those that are not `free` go into the block, with the sum.
    """
    inside = {block.over, block.along} - {name for name, _ in tiles}
    return any(loop.var in free and loop.var not in inside for loop in imperfect.band)


def _blocking(
    unit: Unit, statement: int, block: RegisterBlock, found: Arrangement | None
) -> Blocked:
    """Return the tiles and the order that make `block`: reductions outside its two loops."""
    held = held_loop(unit, statement)
    free, band = free_loops(unit, statement), own_band(unit, statement)
    if not held:
        # Nothing is reused, so no block is kept: the lanes run over the whole loop.
        order = _inner_last(band, free, block.along)
        if block.outer:
            order = outside(block.outer, order or tuple(loop.var for loop in band))
        staged = found.staged if found is not None else ()
        return Blocked(statement, (), order, block.along, staged=staged)
    tiles = cut_tiles(unit, statement, block)
    from_zero = is_held_sum(unit, statement)
    if statement in unit.imperfect and not _has_outside(
        unit.imperfect[statement], free, block, tiles
    ):
        return Blocked(statement)
    if found is not None:
        padded = padded_loops(unit, statement, found) if from_zero else ()
        return Blocked(
            statement,
            tiles,
            found.order,
            block.along,
            held,
            found.staged,
            tuple(name for name, _ in tiles if name in padded),
            from_zero,
            imperfect=unit.imperfect.get(statement),
        )
    inner = [name for name in (block.over, block.along) if name]
    cut = {name for name, _ in tiles}
    outer = [tile_name(n) if n in cut else n for n in (x.var for x in band) if n in free]
    outer = list(outside(block.outer, [n for n in outer if n not in inner]))
    rest = [x.var for x in band if x.var not in free]
    order = (*outer, *rest, *inner)
    imperfect = unit.imperfect.get(statement)
    return Blocked(
        statement, tiles, order, block.along, held, from_zero=from_zero, imperfect=imperfect
    )


def outside(loop: str, order: Sequence[str]) -> tuple[str, ...]:
    """Return an order with a loop, or its tiles, around all others; as it is without that loop."""
    first = [name for name in order if name in (loop, tile_name(loop))][:1] if loop else []
    return (*first, *(name for name in order if name not in first))


def _inner_last(band: tuple[Loop, ...], free: tuple[str, ...], along: str) -> tuple[str, ...]:
    """Return the band's order with the lanes innermost, empty when it is so already."""
    names = [loop.var for loop in band]
    if names[-1] == along:
        return ()
    return (*(n for n in names if n != along), along)


def _cores(unit: Unit, blocking: list[Blocked], most: int, is_reordered: bool) -> tuple[str, ...]:
    """Return the loops that threads share: the outermost, until there are enough pieces.

    At most `most` where that is not 0; in the order of the block if the text's is not kept.
    """
    lanes = {b.simd for b in blocking}
    tiles = _sizes(blocking)
    inside = {name for b in blocking if b.held for name in b.order[b.order.index(b.held) :]}
    own = set(blocking[0].order or unit.parallel) if blocking else set(unit.parallel)
    out: list[str] = []
    count_so_far = 1
    names = unit.parallel or unit.sums
    if is_reordered and len(blocking) == 1:
        order = blocking[0].order
        places = {n: order.index(m) for n in names for m in (n, tile_name(n)) if m in order}
        names = tuple(sorted(names, key=lambda name: places.get(name, -1)))
    for name in names:
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
        count_so_far *= count
        is_enough = count_so_far >= ENOUGH_PIECES
        if len(out) == most or (not most and is_enough):
            break
    if not unit.sums or unit.may_combine(*out):
        return tuple(out)
    # Shared together, they would move the target of a sum; one alone, or two, do not.
    some = combinations_with_replacement(unit.sums, 2)
    return next(tuple(dict.fromkeys(pair)) for pair in some if unit.may_combine(*pair))


def _strip(unit: Unit, cores: tuple[str, ...]) -> Blocked | None:
    """Return strips of the contiguous parallel loop around the serial loops of one thread.

    Each step of those has a row of neighbours then, where one iteration of the loop goes from row
    to row: ``for k: for i: x[k][i] = f(x[k - 1][i])``. The loop may be one that threads share.
    """
    around = {*cores, *unit.host}
    inside = tuple(loop.var for loop in unit.band if loop.var not in around)
    if not set(inside) - {*unit.parallel} or any(isinstance(x, Loop) for x in unit.band[-1].body):
        return None
    facts = [f for s in unit.statements for f in unit.analysis.accesses[s]]
    for loop in unit.parallel:
        strides = {f.strides.get(loop) for f in facts}
        is_even = 1 in strides and strides <= {0, 1} and unit.may_have_lanes(loop)
        is_long = (unit.trips[loop] or 0) >= 2 * STRIP
        is_free = not any(loop in bound_names(x) for x in unit.band if x.var in inside)
        if is_even and is_long and is_free and not name_is_taken(loop, unit.analysis):
            names = dict.fromkeys((*cores, loop, *inside))
            order = (tile_name(n) if n == loop else n for n in names)
            return Blocked(unit.leader, ((loop, STRIP),), (*order, loop), simd=loop)
    return None


def _unit_lanes(unit: Unit, cores: tuple[str, ...]) -> Blocked | None:
    """Return lanes along the unit's innermost parallel loop, where it is contiguous.

    Where the threads need that very loop, they share its tiles.
    """
    strip = _strip(unit, cores)
    if strip is not None:
        return strip
    if not unit.parallel or unit.parallel[-1] != unit.band[-1].var:
        return None
    loop = unit.band[-1]
    if not unit.may_have_lanes(loop.var):
        return None
    if loop.var not in cores:
        is_contiguous = any(f.strides.get(loop.var) == 1 for f in unit.writes)
        return Blocked(unit.leader, simd=loop.var) if is_contiguous else None
    facts = [f for s in unit.statements for f in unit.analysis.accesses[s]]
    is_even = all(f.strides.get(loop.var) in (0, 1) for f in facts)
    holds_loops = any(isinstance(stmt, Loop) for stmt in loop.body)
    is_long = (unit.trips[loop.var] or 0) >= 2 * LANES
    if not (is_even and holds_loops and is_long) or name_is_taken(loop.var, unit.analysis):
        return None
    return Blocked(unit.leader, ((loop.var, LANES),), simd=loop.var)


def _reason(statement: int, block: RegisterBlock, held: str, near: str) -> Reason:
    if not held:
        return Reason(f"S{statement}", f"lanes of {block.along}", "contiguous in the output")
    what = f"{block.lanes} lanes of {block.along}"
    if not block.over:
        return Reason(f"S{statement}", what, "contiguous in the output; nothing reuses its loads")
    rule = f"{block.along} {near} in the output, {block.over} reuses what the lanes load"
    return Reason(f"S{statement}", f"{block.rows} rows of {block.over} x {what}", rule)


def _imperfect_reasons(block: Blocked) -> list[Reason]:
    """Return the reason for arrays of the scalars that a statement leaves its neighbours with."""
    if block.imperfect is None:
        return []
    loops, own = ", ".join(block.inside), ", ".join(x.var for x in block.imperfect.own)
    rule = f"so that {own} goes around the loops of the block"
    found = [f"an element of {name} for each {loops}" for name in block.imperfect.scalars]
    decision = "; ".join(found) or f"a nest of its own in a tile of {loops}"
    return [Reason(f"S{block.statement}", decision, rule)]


def _copy_reason(copy: Stage) -> Reason:
    rule = f"its slice is used again and again inside {copy.loop}, in the order of the copy"
    return Reason(f"S{copy.statement}", f"copy of {copy.array} before {copy.loop}", rule)


def _ahead_reason(step: Prefetch) -> Reason:
    rule = "few terms for each element: memory is asked while others are computed"
    return Reason(f"S{step.statement}", f"prefetch of the next {step.ahead}'s output", rule)


def _sum_reason(statement: int, loop: str) -> Reason:
    rule = f"{loop} is contiguous in what is summed; the lanes' partial results are combined"
    return Reason(f"S{statement}", f"lanes of {loop}", rule)


def _is_for(reason: Reason, block: Blocked) -> bool:
    return reason.subject == f"S{block.statement}"


def _as_it_stands(unit: Unit, statement: int) -> tuple[Reason, ...]:
    """Return the reason for leaving a nest to the compiler, none where it has no own lanes."""
    if not along_loop(unit, statement) or not is_fixed(unit, statement):
        return ()
    return (Reason(f"S{statement}", "as it stands", "C fixes every count; the compiler unrolls"),)


def _left(unit: Unit, cores: tuple[str, ...], blocking: list[Blocked]) -> list[Reason]:
    """Return the reason for the parallel loops that neither threads nor lanes nor rows run."""
    used = {*cores, *(b.simd for b in blocking)}
    used |= {name for b in blocking for name, _ in b.tiles}
    inner = (name for statement in unit.statements for name in free_loops(unit, statement))
    names = dict.fromkeys((*unit.parallel, *inner))
    left = [n for n in names if n not in used and tile_name(n) not in used]
    if not left:
        return []
    count = unit.pieces(cores, _sizes(blocking))
    return [Reason("serial", ", ".join(left), f"the shared loops give {count} pieces already")]


def _sizes(blocking: Iterable[Blocked]) -> dict[str, int]:
    return {name: size for block in blocking for name, size in block.tiles}
