"""The demands of Orio's ``transform CUDA(…)``: that the loop after it runs in parallel.

Hints of Orio's transformations: the numbers that somebody found worth trying for a loop.

A command of a recipe is kept or refused. A hint is followed where it is legal and means
something for the kernel that the rules make of its loop; elsewhere the rules' choice stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, product
from math import prod

from annotune.analysis.facts import Analysis, LoopFacts, LoopKind
from annotune.annotation.spec import LoopWish, WishKind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.expr import Access, variables
from annotune.ir.nest import Assign, Loop, walk_stmts
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.launch_sizes import MAX_AXES, TEAM, TILE_ALONE, TILE_X
from annotune.schedule.messages import ASKED_FOR_SERIAL, CARRIED_HERE
from annotune.schedule.units import Unit
from annotune.transforms.map import MAX_THREADS
from annotune.transforms.tile import Tile, name_is_taken, tile_name


def refused_wishes(analysis: Analysis) -> Iterator[Diagnostic]:
    """Yield a refusal for each loop that must run in parallel and carries a dependence.

    It names the loops of the same nest that may run in parallel instead.
    """
    for wish in analysis.region.spec.wishes:
        if wish.kind is not WishKind.PARALLEL:
            continue
        facts = asked_loop(analysis, wish)
        if facts is None or not _is_refused(facts):
            continue
        inside = [stmt for stmt in walk_stmts(facts.loop.body) if isinstance(stmt, Loop)]
        kinds = {one.name: one.kind for one in analysis.loops if any(one.loop is x for x in inside)}
        others = [name for name, kind in kinds.items() if kind is LoopKind.PARALLEL]
        others = others or [name for name, kind in kinds.items() if kind is LoopKind.REDUCTION]
        instead = " or ".join(f"'{name}'" for name in others)
        help = (
            f"inside it {instead} may run in parallel: put the transformation before that loop"
            if others
            else "no loop of this nest may run in parallel; leave the transformation out"
        )
        refusal = ASKED_FOR_SERIAL.at(wish.span, loop=wish.loop, proof=facts.proof, help=help)
        yield refusal.with_note(CARRIED_HERE.at(facts.loop.span, loop=wish.loop))


def _is_refused(facts: LoopFacts) -> bool:
    """Return whether a loop cannot run in parallel as it stands.

    A sum over it can, into a scalar or one element. A sum of whole rows cannot: its inner
    loops go through the elements, and threads would meet at each of them.
    """
    if facts.kind is not LoopKind.REDUCTION:
        return facts.kind is LoopKind.SERIAL
    summed = {dependence.array for dependence in facts.carried}
    body = list(walk_stmts(facts.loop.body))
    inner = {stmt.var for stmt in body if isinstance(stmt, Loop)}
    return any(
        isinstance(stmt, Assign)
        and isinstance(stmt.target, Access)
        and stmt.target.array in summed
        and any(variables(index) & inner for index in stmt.target.indices)
        for stmt in body
    )


def asked_loop(analysis: Analysis, wish: LoopWish) -> LoopFacts | None:
    """Return the loop that a wish names: that at its place, else the first of its name."""
    loops = analysis.region.nest.loops()
    at_place = loops[wish.index] if 0 <= wish.index < len(loops) else None
    named = [one for one in analysis.loops if one.name == wish.loop]
    here = [one for one in named if one.loop is at_place]
    return next(iter((*here, *named)), None)


# More launches of one kernel than this are not tried: each costs a prediction.
MAX_LAUNCHES = 1000
RULE = "the transformation's hint"
# Where the axes and tiles of a kernel come from.
HINTS = "hints"


@dataclass(frozen=True, slots=True)
class Hint:
    """A wish, and the loop of the nest that it speaks of."""

    wish: LoopWish
    loop: Loop


def hints(unit: Unit, kind: WishKind) -> Iterator[Hint]:
    """Yield the wishes of a kind for loops around statements of a unit."""
    inside = [loop for s in unit.statements for loop in unit.analysis.paths[s]]
    for wish in unit.analysis.region.spec.wishes:
        facts = asked_loop(unit.analysis, wish)
        if wish.kind is kind and facts is not None and any(x is facts.loop for x in inside):
            yield Hint(wish, facts.loop)


def factors_of(unit: Unit, loop: Loop, *kinds: WishKind) -> tuple[int, ...]:
    """Return the numbers from 2 that hints of these kinds give for a loop, each once."""
    found = (hint for kind in kinds for hint in hints(unit, kind) if hint.loop is loop)
    numbers = dict.fromkeys(number for hint in found for number in hint.wish.factors)
    return tuple(number for number in numbers if number > 1)


def rows_of(unit: Unit, statement: int, name: str, most: int) -> tuple[int, ...]:
    """Return the numbers up to `most` that hints give for a loop of a statement, largest first.

    A core's block of registers has so many rows or lanes of the loop: unrolled and jammed, or
    the smallest of tiles.
    """
    loops = [loop for loop in unit.analysis.paths[statement] if loop.var == name]
    found = (factors_of(unit, x, WishKind.UNROLL, WishKind.TILE) for x in loops)
    return tuple(sorted({n for numbers in found for n in numbers if n <= most}, reverse=True))


def unroll_factors(unit: Unit, loop: Loop, trip: int, longest: int) -> tuple[int, ...]:
    """Return the hinted factors that divide `trip`, the one to try first at the end.

    That is the largest up to `longest`; longer bodies are tried after all others.
    """
    legal = [n for n in factors_of(unit, loop, WishKind.UNROLL) if trip and trip % n == 0]
    short = sorted(n for n in legal if n <= longest)
    return (*sorted((n for n in legal if n > longest), reverse=True), *short)


@dataclass(frozen=True, slots=True)
class Hinted:
    """What hints ask of the launch of one kernel: for each axis its values, the first ones first.

    `tiles` are the lists of (loop, size) of the loops that threads run, one for each loop and empty
    where that is not cut, `threads` the threads of a block, and `blocks` the most blocks of the
    grid, of which each then runs several iterations; 0 is for what the rules say.
    """

    tiles: tuple[tuple[tuple[tuple[str, int], ...], ...], ...] = ()
    threads: tuple[int, ...] = (0,)
    blocks: tuple[int, ...] = (0,)

    def axes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the axes of more than one value with these."""
        for every in self.tiles:
            loop = next(name for one in every for name, _ in one)
            yield f"tile_{loop}", tuple(dict(one).get(loop, 0) for one in every)
        yield "threads", self.threads
        yield "max_blocks", self.blocks


def hinted(unit: Unit, choice: Candidate) -> Hinted:
    """Return what the hints for a unit's loops ask for, the first choice first.

    `choice` is the rules' own; the first launch has the sizes that are nearest to it.
    """
    wanted: dict[str, set[int]] = {}
    for hint in hints(unit, WishKind.TILE):
        wanted.setdefault(hint.loop.var, set()).update(hint.wish.factors)
    tiles: list[tuple[tuple[tuple[str, int], ...], ...]] = []
    for loop, sizes in wanted.items():
        usual = dict(choice.tiles).get(loop, TILE_X if choice.threads[1:] else TILE_ALONE)
        legal = [n for n in sizes if n > 1 and not why_not_tile(unit, choice, loop, n)]
        # A tile of one iteration is none: the rules' own choice is then among the values.
        own: list[tuple[tuple[str, int], ...]] = [()] if 1 in sizes or not legal else []
        if legal:
            tiles.append((*(((loop, n),) for n in _nearest(legal, usual)), *own))
    asked = [hint.wish for hint in hints(unit, WishKind.PARALLEL)]
    given = {n for wish in asked for n in wish.threads}
    threads = _nearest([n for n in given if not why_not_threads(unit, choice, n)], TILE_ALONE)
    blocks = sorted({n for wish in asked for n in wish.blocks}, reverse=True)
    return Hinted(tuple(tiles), tuple(threads) or (0,), tuple(blocks) or (0,))


def launched(unit: Unit, choice: Candidate, asked: Hinted) -> tuple[Candidate, ...]:
    """Return a choice with each of the launches that hints ask for, the first one first.

    It stands alone where they ask for none.
    """
    if asked == Hinted():
        return (choice,)
    every = islice(product(product(*asked.tiles), asked.threads, asked.blocks), MAX_LAUNCHES)
    return tuple(
        _with_launch(unit, choice, tuple(tile for one in cut for tile in one), threads, blocks)
        for cut, threads, blocks in every
    )


def _nearest(numbers: Iterable[int], usual: int) -> list[int]:
    """Return `numbers` by their distance from the rules' own, nearest first."""
    return sorted(numbers, key=lambda n: (abs(n - usual), n))


def _with_launch(
    unit: Unit,
    choice: Candidate,
    tiles: tuple[tuple[str, int], ...],
    threads: int,
    blocks: int,
) -> Candidate:
    """Return `choice` with the parts of a launch that are legal for it."""
    for loop, size in tiles:
        if not why_not_tile(unit, choice, loop, size):
            choice = _cut(choice, loop, size)
    if threads and choice.threads and not why_not_threads(unit, choice, threads):
        size = threads // _other_threads(unit, choice)
        if choice.threads[0] not in dict(tiles) and size != unit.trips[choice.threads[0]]:
            choice = _cut(choice, choice.threads[0], size)
    if blocks and choice.blocks:
        reason = Reason("blocks", f"{blocks} at most", RULE)
        choice = choice.placed(max_blocks=blocks)
        choice = replace(choice, reasons=(*choice.reasons, reason))
    return replace(choice, origin=HINTS) if tiles or threads or blocks else choice


def why_not_threads(unit: Unit, choice: Candidate, threads: int) -> str:
    """Return why a block of a kernel cannot have so many threads, empty when it can."""
    if not choice.threads:
        return "the threads of a block share a sum" if choice.team else "nothing runs on threads"
    others, loop = _other_threads(unit, choice), choice.threads[0]
    if not others or threads % others:
        return f"'{choice.threads[1]}' takes {others or 'all of the'} threads as well"
    if threads // others == unit.trips[loop]:
        return ""
    return why_not_tile(unit, choice, loop, threads // others)


def why_not_tile(unit: Unit, choice: Candidate, loop: str, size: int) -> str:
    """Return why a block's threads cannot run tiles of a loop, empty when they can."""
    if loop not in choice.threads:
        return f"'{loop}' does not run on threads"
    trip, cut = unit.trips[loop], dict(choice.tiles)
    if trip is None:
        return f"how often '{loop}' runs is not known"
    if size >= trip:
        return f"'{loop}' runs {trip} times only"
    if unit.sums and loop not in cut and choice.blocks:
        return "the blocks combine another loop"
    if loop not in cut and name_is_taken(loop, unit.analysis):
        return f"the region has something called '{tile_name(loop)}'"
    if loop not in cut and len(choice.blocks) >= MAX_AXES:
        return "every axis of the grid has its loop"
    others = prod(unit.extent(choice, name) for name in choice.threads if name != loop)
    most = TEAM if unit.sums else MAX_THREADS
    return f"a block has {most} threads at most" if size * others > most else ""


def _other_threads(unit: Unit, choice: Candidate) -> int:
    return prod(unit.extent(choice, name) for name in choice.threads[1:])


def _cut(choice: Candidate, loop: str, size: int) -> Candidate:
    """Return `choice` with the threads of `loop` running tiles of `size`, and blocks over these."""
    tiles, blocks = choice.tiles, choice.blocks
    if loop in dict(tiles):
        tiles = tuple((name, size if name == loop else own) for name, own in tiles)
    else:
        tiles, blocks = (*tiles, (loop, size)), (*blocks, tile_name(loop))
    known = tuple(
        r for r in choice.reasons if not (r.subject == "tile" and r.decision.startswith(f"{loop} "))
    )
    reason = Reason("tile", f"{loop} by {size}", RULE)
    steps = (Tile(choice.leader, *one) for one in tiles)
    made = choice.placed(blocks).having(*steps, without=(Tile,))
    return replace(made, reasons=(*known, reason))
