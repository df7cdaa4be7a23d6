"""The shapes of a kernel in OpenACC, by rules of its own: compilers treat it otherwise than CUDA.

Gangs, workers and vectors for the loops of a candidate; blocks of outputs in the registers of a
lane; what a ``cache`` directive may name; and the form that a recipe's ``acc`` asks for, kept or
refused.

Source: A. Rivera, "Using Autotuning for Accelerating Tensor Contraction on Graphics Processing
Units", University of Utah, 2014, section 5.5 and Tables 5.3 and 5.4: OpenACC won by 1.32 with
other shapes than CUDA's, and compilers chose other grids than those asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, prod

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.annotation.spec import WishKind
from annotune.frozen import dataclass
from annotune.ir.expr import Access
from annotune.ir.nest import Level
from annotune.schedule.apply import schedule
from annotune.schedule.candidate import Candidate, Extent, Reason
from annotune.schedule.launch_sizes import LINE, WARP
from annotune.schedule.units import Unit
from annotune.strategies.direct import choose, thread_level
from annotune.strategies.elements import elements
from annotune.strategies.hints import hints
from annotune.strategies.nests import SumLoops, free_loops, held_loop, roles, stride, why_uneven
from annotune.strategies.registry import AUTO, Proposals
from annotune.transforms.cache import Cache, Resident, sections
from annotune.transforms.language import of_kind
from annotune.transforms.map import PLACES, TILE, Map, Team
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Stream
from annotune.transforms.registers import Hold, Registers
from annotune.transforms.spread import Batch, Keep, ShareArray, Spread
from annotune.transforms.tile import Tile, name_is_taken, tile_name, worker_name
from annotune.transforms.transform import (
    Context,
    Copying,
    Schedule,
    Transform,
    asked_once,
)
from annotune.transforms.tree import Body, bound_names, find_assign
from annotune.transforms.unroll import Unroll, divisors

# Threads of which each may have all of 255 registers; libgomp ends a program that asks for more.
SAFE_GANG = 256


def on_acc(
    choice: Candidate, workers: Sequence[str] = (), clause: str = "", asked: Map | None = None
) -> Candidate:
    """Return a candidate of CUDA's with its loops on gangs, workers and vectors.

    Block loops share the gangs. Thread x is innermost, so that neighbouring lanes run
    neighbouring iterations; the other threads join the vector, but for `workers`, outermost first,
    any of these loops. `asked` is the mapping of a recipe, taken as it is.
    """
    owners = {worker_name(loop): tile_name(loop) for loop, _ in choice.cyclic}
    if asked is not None:
        levels = dict(asked.levels)
    else:
        gangs = [loop for loop in reversed(choice.blocks) if loop not in workers]
        lanes = [loop for loop in reversed(choice.threads) if loop not in workers]
        levels = dict.fromkeys(gangs, Level.GANG) | dict.fromkeys(workers, Level.WORKER)
        levels |= {loop: Level.VECTOR for _, loop in choice.team}
        levels |= dict.fromkeys(lanes, Level.VECTOR)
    levels = dict(_inside_own_tiles(levels, owners))
    known = choice.mapping or Map(choice.leader, ())
    sizes = asked or Map(choice.leader, ())
    team = {loop for _, loop in choice.team}
    outer = tuple((name, level) for name, level in levels.items() if name not in team)
    mapped = Map(
        choice.leader,
        outer,
        known.host,
        "acc",
        known.max_blocks,
        num_gangs=sizes.num_gangs,
        num_workers=sizes.num_workers,
        vector_length=sizes.vector_length,
        clause=clause,
    )
    teams = (
        Team(step.statement, step.loop, levels[step.loop], step.host)
        for step in choice.of(Team)
        if step.loop in levels
    )
    return choice.having(*((mapped,) if outer else ()), *teams, without=(Map, Team))


def acc_levels(choice: Candidate) -> Mapping[str, Level]:
    """Return gang, worker and vector for the loops that a candidate of OpenACC's maps."""
    levels = dict(choice.mapping.levels) if choice.mapping is not None else {}
    return levels | {step.loop: step.level for step in choice.of(Team)}


def _inside_own_tiles(
    levels: Mapping[str, Level], owners: Mapping[str, str]
) -> Mapping[str, Level]:
    """Return the levels without loops whose tiles run at the same level or further inside.

    `owners` are the loops over the tiles that are dealt out to workers.

    A loop can only stand inside the one that chooses its tile, while gangs hold workers, these
    vectors, and one level counts its loops together before any of them starts. Such a loop
    stays serial.
    """
    order = (Level.GANG, Level.WORKER, Level.VECTOR)

    def is_inside(name: str) -> bool:
        outer = levels.get(owners.get(name, tile_name(name)))
        return outer is None or order.index(outer) < order.index(levels[name])

    return {name: level for name, level in levels.items() if is_inside(name)}


REGISTERS = "registers"
# Lanes of a gang, at most: with twice as many, a compiler that does not know the registers of the
# device may ask for more than an SM has.
MOST_LANES = 256
# Four warps keep an SM's schedulers busy between two loads; fewer lanes take a further loop.
ENOUGH_LANES = 128
# Rows and columns of a lane's block, at most: 25 accumulators take 50 of the 255 registers of a
# thread. The rules' own come first.
SIZES = ((5, 5), (5, 2), (2, 2), (8, 5))
# Rows where a block has no columns.
ROWS_ALONE = (8, 4, 2)


@dataclass(frozen=True)
class _Nest:
    """A statement that accumulates into memory, alone under loops whose bounds are sizes.

    `free` are the parallel loops that pick its output, the fastest in that first, `summed` those
    that leave it in place, as in the text.
    """

    statement: int
    inputs: tuple[AccessFacts, ...]
    free: tuple[str, ...]
    roles: SumLoops
    summed: tuple[str, ...]


def lane_blocks(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices with a block of outputs for each lane, or in words why there are none.

    OpenACC has no barrier for the lanes of a gang, so no copy can be filled by them together. What
    is left of the two-level tile is its inner level: a lane computes a small block of outputs, and
    what it loads serves a row or a column of them.
    """
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
    return tuple(_block_choice(unit, nest, lanes, block) for block in rows)


def _nest(unit: Unit) -> _Nest | str:
    if len(unit.statements) != 1:
        return f"the kernel has {len(unit.statements)} statements"
    if unit.host or not unit.parallel:
        return "a serial loop is around the parallel ones, or there are none"
    statement = unit.leader
    names = unit.loops_around(statement)
    if names != tuple(loop.var for loop in unit.band):
        return "the loops are no perfect nest"
    if uneven := why_uneven(unit, unit.band):
        return uneven
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
    free.sort(key=lambda n: stride(target, n))
    inputs = unit.inputs(statement)
    found = roles(inputs, free[0], free[1:])
    summed = tuple(n for n in names if n not in free)
    return _Nest(statement, inputs, tuple(free), found, summed)


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
        for loops in (nest.roles.other, nest.roles.own)
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
    by_input = nest.roles
    order = dict.fromkeys((*line, *by_input.other, *by_input.own, *by_input.rest))
    found: list[Extent] = []
    for loop in (n for n in order if n not in taken):
        own = prod(n for _, n in found)
        room = MOST_LANES // own
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


def _block_choice(
    unit: Unit, nest: _Nest, lanes: Sequence[Extent], rows: Sequence[Extent]
) -> Candidate:
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


def cacheable(unit: Unit, choice: Candidate) -> tuple[str, ...]:
    """Return the arrays of which a gang reads a box more than once, none for an illegal choice."""
    analysis = unit.analysis
    body, context = analysis.region.nest.body, Context(analysis, analysis.region.sizes)
    for number, step in enumerate(schedule((choice,), unit.groups)):
        if step.is_inner:
            continue
        # The first step takes the nests of the region apart, the same ones for each of them.
        after = _applied_first(analysis, step) if number == 0 else _applied(body, context, step)
        if after is None:
            return ()
        body = after
    return tuple(section.array for section in sections(body, context, choice.leader))


@asked_once
def _applied_first(analysis: Analysis, step: Transform) -> Body | None:
    context = Context(analysis, analysis.region.sizes)
    return _applied(analysis.region.nest.body, context, step)


def _applied(body: Body, context: Context, step: Transform) -> Body | None:
    """Return a body after a step, None where that is illegal."""
    return None if step.why_not(body, context) is not None else step.apply(body, context)


NO_BARRIER = (
    "a shared tile does not apply: the lanes of a gang have no barrier in OpenACC, so they cannot "
    "fill a copy together"
)
SUBJECT = "shape"
# The shape that a recipe asks for.
RECIPE = "recipe"
ELEMENTS = "elements"
# Gangs that give each SM of an H200 one (132 of them).
ENOUGH_GANGS = 128


def acc_shapes(unit: Unit, proposed: Proposals, strategy: str = AUTO) -> tuple[Candidate, ...]:
    """Return the shapes that a unit may have, the rules' own first.

    `proposed` is what strategies make of the unit for CUDA. `strategy` is one of `STRATEGY_NAMES`;
    only without a name are there blocks for each lane.
    None where hints speak of the unit's loops: they are for the `direct` strategy.
    """
    if any(next(hints(unit, kind), None) is not None for kind in WishKind):
        return ()
    found = [replace(one, origin="openacc") for one in _shapes(unit, proposed, strategy)]
    return tuple(c for k, c in enumerate(found) if c not in found[:k])


def _shapes(unit: Unit, proposed: Proposals, strategy: str) -> Iterator[Candidate]:
    direct = choose(unit)
    plain = in_form(unit, direct)
    if not unit.parallel or direct.team or not direct.threads:
        yield plain
        return
    wide = in_form(unit, collapsed(unit, direct))
    yield from _elements(unit, proposed)
    # At other sizes tiles would be cut short.
    blocks = lane_blocks(unit) if strategy == AUTO else f"--strategy {strategy} is asked for"
    found = () if isinstance(blocks, str) else tuple(replace(c, general=wide) for c in blocks)
    why_not = blocks if isinstance(blocks, str) else _idle(unit, found[0], wide)
    if why_not:
        reason = Reason("registers", "one output for each lane", why_not)
        wide = replace(wide, reasons=(*wide.reasons, reason))
    first, *later = (wide, *found) if why_not else found
    if any(choice.contract is not None for choice in proposed.leading):
        reason = Reason(SUBJECT, first.shape or "direct", NO_BARRIER)
        first = replace(first, reasons=(reason, *first.reasons))
    yield first
    yield cached(unit, first)
    if not why_not:
        yield wide
    yield other_level(wide)
    yield plain
    yield from tile_clause(unit, direct)
    yield from later
    yield from separate(unit, wide)


def _elements(unit: Unit, proposed: Proposals) -> Iterator[Candidate]:
    """Yield a gang for each element, whose vector shares the loops of every nest inside it.

    What the nests hand on is in arrays of the gang. Its lanes wait for each other at the end of
    each loop that they share (OpenACC 3.3, section 2.9.4), so that the next nest finds it there.
    """
    found = elements(unit) if any(c.of(Spread) for c in proposed.leading) else ""
    # What several kernels have in common, or blocks copy, is CUDA's.
    flat = [c for c in found if not isinstance(c, str) and not c.of(Batch) and not c.of(Keep)]
    if not flat or unit.members:
        return
    block = max(flat, key=lambda one: sum(len(step.loops) for step in one.of(Spread)))
    teams = (
        Team(step.statement, loop, Level.THREAD_X, unit.host)
        for step in block.of(Spread)
        for loop in step.loops
    )
    held: Schedule = (*block.of(Registers), *block.of(Unroll))
    kept: Schedule = (*block.of(ShareArray), *held, *teams)
    arrays = ", ".join(step.array for step in block.of(ShareArray))
    why = (
        Reason("gang", ", ".join(block.blocks), "one element for each gang"),
        Reason("private", arrays, "what the nests of an element hand on is its gang's"),
        Reason("vector", "the loops of each nest", "lanes wait at the end of what they share"),
    )
    made = on_acc(Candidate.of_axes(unit.parts, *kept, blocks=block.blocks, host=unit.host))
    made = replace(made, shape=ELEMENTS, reasons=why)
    if _is_legal(unit, made):
        yield made


def _is_legal(unit: Unit, choice: Candidate) -> bool:
    """Return whether all steps of a choice are right."""
    body, context = unit.analysis.region.nest.body, Context(unit.analysis)
    for step in schedule((choice,), unit.groups):
        if step.why_not(body, context) is not None:
            return False
        body = step.apply(body, context)
    return True


def _idle(unit: Unit, block: Candidate, wide: Candidate) -> str:
    """Return why blocks of outputs leave a device idle that `wide` fills, empty if they do not."""
    few, many = (unit.pieces(choice.blocks, dict(choice.tiles)) for choice in (block, wide))
    if few >= ENOUGH_GANGS or many <= few:
        return ""
    return f"blocks would leave {few} gangs, fewer than the {ENOUGH_GANGS} that keep a device busy"


def in_form(unit: Unit, choice: Candidate, asked: Map | None = None) -> Candidate:
    """Return a choice of CUDA's or of a recipe in the form that the rules give it in OpenACC.

    Thread y is of one vector with thread x, but workers where thread x fills whole warps by
    itself. In place of copies that threads share it has the choice of the `direct` strategy. What
    the recipe's own ``acc`` maps is `asked`, and left as it says.
    """
    # How the threads of a block move data is CUDA's.
    choice = replace(choice, moves=()).having(without=(Stream, Resident))
    if choice.shape:
        return choice
    is_shared = bool(of_kind(choice.steps, Spread))
    if choice.contract is not None or choice.merges or is_shared:
        reason = Reason(SUBJECT, "direct", NO_BARRIER)
        choice = choose(unit)
        choice = replace(choice, reasons=(reason, *choice.reasons))
    choice = choice.having(without=(Copying,))
    if asked is not None:
        return on_acc(choice, asked=asked)
    if len(choice.threads) < 2:
        return replace(on_acc(choice), shape="vector")
    fastest, *others = choice.threads
    extent = unit.extent(choice, fastest)
    whole = extent > 0 and extent % WARP == 0
    decision = f"{', '.join(others)} as worker" if whole else "one vector of both thread loops"
    rule = f"{fastest} has {extent} iterations, {'' if whole else 'not '}whole warps of {WARP}"
    reasons = (*choice.reasons, Reason(SUBJECT, decision, rule))
    made = on_acc(choice, tuple(reversed(others)) if whole else ())
    return replace(made, shape="workers" if whole else "merged", reasons=reasons)


def other_level(choice: Candidate) -> Candidate:
    """Return a choice with workers where it has one vector, and the other way round.

    Where there is only one thread loop it stays as it is.
    """
    step, threads = choice.mapping, choice.threads
    if step is None or not choice.shape or choice.shape == RECIPE or len(threads) < 2:
        return choice
    if step.on("worker"):
        return _in(_at_levels(choice, "vector"), "merged", f"one vector of {', '.join(threads)}")
    decision = f"{', '.join(reversed(threads[1:]))} as worker"
    return _in(_at_levels(choice, "worker"), "workers", decision)


def _at_levels(choice: Candidate, place: str) -> Candidate:
    """Return a candidate with all its threads but x on a level, and x on the vector."""
    step = choice.mapping
    assert step is not None
    others = (*step.on("worker"), *step.on("vector"))[:-1]
    (level,) = PLACES[place]
    levels = tuple((name, level if name in others else own) for name, own in step.levels)
    return choice.having(replace(step, levels=levels), without=(Map,))


def collapsed(unit: Unit, choice: Candidate) -> Candidate:
    """Return a choice with all parallel loops that lanes do not run on gangs, collapsed.

    A grid has three axes in CUDA, and gangs are one: no loop need stay in a lane for that. Loops
    whose bounds others set stay.
    """
    taken = {*choice.threads, *choice.blocks, *(name for name, _ in choice.tiles)}
    band = {loop.var: loop for loop in unit.band}
    left = [
        name
        for name in reversed(unit.parallel)
        if name not in taken and not bound_names(band[name]) & set(band)
    ]
    if not left:
        return choice
    reasons = tuple(r for r in choice.reasons if r.subject not in ("serial", "order", "registers"))
    why = Reason("gang", ", ".join(left), "parallel too; gangs are not bound to three axes")
    bare = choice.placed(blocks=(*choice.blocks, *left)).having(without=(Permute,))
    return thread_level(unit, replace(bare, reasons=(*reasons, why)))


def separate(unit: Unit, choice: Candidate) -> Iterator[Candidate]:
    """Yield the ways not to collapse the gangs: one loop of them as workers, or in the lane."""
    step = choice.mapping
    if step is None or len(choice.blocks) < 2 or not choice.shape or step.on("worker"):
        return
    fastest, *others = choice.blocks
    tiled = {tile_name(loop) for loop, _ in choice.tiles}
    if fastest not in tiled:
        yield _in(_as_worker(choice, step, fastest), "gang and worker", f"{fastest} as worker")
    inside = [name for name in choice.blocks[:-1] if name not in tiled]
    if inside and len(inside) == len(choice.blocks) - 1:
        levels = tuple(pair for pair in step.levels if pair[0] not in choice.blocks[:-1])
        bare = choice.having(replace(step, levels=levels), without=(Map, Permute))
        alone = thread_level(unit, bare)
        yield _in(alone, "one gang loop", f"{', '.join(others[-1:])} alone on gangs")


def _as_worker(choice: Candidate, step: Map, gang: str) -> Candidate:
    """Return a candidate with a loop of its gangs as the worker inside them."""
    gangs = [pair for pair in step.levels if pair[0] != gang and pair[1] is Level.GANG]
    lanes = [pair for pair in step.levels if pair[1] is not Level.GANG]
    levels = (*gangs, (gang, Level.WORKER), *lanes)
    return choice.having(replace(step, levels=levels), without=(Map,))


def tile_clause(unit: Unit, choice: Candidate) -> Iterator[Candidate]:
    """Yield the choice with the ``tile`` clause, where its tiles are all that the gangs run.

    The clause cuts loops that nest directly, and gcc knows no order inside an iteration of its
    lanes.
    """
    tiles = tuple(tile_name(loop) for loop in choice.threads)
    cut = dict(choice.tiles)
    if set(choice.blocks) != set(tiles) or set(cut) != set(choice.threads) or choice.max_blocks:
        return
    if prod(cut.values()) % WARP or not all(unit.may_have_lanes(n) for n in choice.threads):
        return
    band = {loop.var: loop for loop in unit.band}
    if any(bound_names(band[name]) & set(band) for name in choice.threads):
        return
    sizes = ", ".join(f"{loop} by {cut[loop]}" for loop in choice.threads)
    # Tiles in the order of their loops, as the clause has them.
    made = on_acc(choice.placed(blocks=tiles), clause=TILE)
    yield _in(made, "tile clause", f"{sizes} by the compiler")


def cached(unit: Unit, choice: Candidate) -> Candidate:
    """Return a choice with what its gangs read again and again in ``cache``, if there is any."""
    # What a worker has of a loop is no section.
    arrays = () if choice.cyclic or not choice.shape else cacheable(unit, choice)
    if not arrays:
        return choice
    # The length of a section is that of the tuned sizes.
    made = choice.having(Cache(choice.leader, arrays))
    other = _in(made, f"{choice.shape}, cache", f"cache of {', '.join(arrays)}")
    return replace(other, general=choice.general or choice)


def _in(choice: Candidate, shape: str, decision: str) -> Candidate:
    """Return a choice in another shape, which is a further point of the space."""
    reasons = tuple(r for r in choice.reasons if r.subject != SUBJECT)
    why = Reason(SUBJECT, decision, "another point of the space")
    return replace(choice, shape=shape, reasons=(*reasons, why))


def as_asked(unit: Unit, choice: Candidate, asked: Map, arrays: tuple[str, ...]) -> Candidate | str:
    """Return a choice whose loops ``acc`` names in the form that it asks for, or why it cannot be.

    Tiles that it does not name are left out. `arrays` are those that it has in its ``cache``.
    """
    made = in_form(unit, choice, asked)
    own = (step for step in made.of(Tile) if tile_name(step.loop) in asked.names)
    made = made.having(*own, without=(Tile,))
    if not asked.clause and not arrays:
        return made
    if asked.clause:
        why_not = _why_no_clause(unit, made, asked, arrays)
        if why_not:
            return why_not
        made = on_acc(made, clause=TILE, asked=asked)
    known = cacheable(unit, made) if arrays else ()
    for array in arrays:
        if array not in known:
            what = f"a gang does not read one box of '{array}' again and again"
            return f"{what}; of these it does: {', '.join(known) or 'none'}"
    made = replace(made, shape=RECIPE)
    # The lengths of a section are those of the tuned sizes.
    return replace(made.having(Cache(made.leader, arrays)), general=made) if arrays else made


def _why_no_clause(unit: Unit, choice: Candidate, asked: Map, arrays: tuple[str, ...]) -> str:
    """Return why the ``tile`` clause cannot say the loops of an ``acc``, empty when it can."""
    if asked.clause != TILE:
        return f"there is no clause '{asked.clause}', only '{TILE}'"
    lanes = asked.on("vector")
    tiles = [tile_name(loop) for loop in lanes]
    cut = [tile_name(loop) for loop, _ in choice.tiles]
    if asked.on("worker") or list(asked.on("gang")) != tiles or not set(tiles) <= set(cut):
        wanted = _listed(tiles)
        return f"`{TILE}` needs the vector's loops in tiles, and these as gangs: gang={wanted}"
    if arrays:
        return f"`{TILE}` and `cache` do not go together: a gang has no loop of its own"
    if not all(unit.may_have_lanes(loop) for loop in lanes):
        return "lanes of these loops would lose the order inside an iteration"
    return ""


def _listed(names: Sequence[str]) -> str:
    return "{" + ",".join(f'"{name}"' for name in names) + "}"
