"""The `elements` strategy: a block for each iteration whose inner nests talk through its arrays.

The outer loop runs over elements, and what an element's nests hand on to each other is in arrays of
its own. The threads of a block share the loops of every nest, and the arrays are theirs together.

Source: A. Abdelfattah et al., "High-Performance Tensor Contractions for GPUs", ICCS 2016,
doi:10.1016/j.procs.2016.05.302, section 4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import prod

from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import variables
from annotune.ir.nest import Local, LocalArray, Loop, walk_stmts
from annotune.model.passes import MOST_KEPT, nest_accesses
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.launch_sizes import MAX_AXES, SM_BLOCKS, SM_REGISTERS, TEAM, WARP
from annotune.schedule.units import Unit
from annotune.strategies.direct import MAX_UNROLL, choose, registers, unrolls
from annotune.transforms.cache import Aligned, AnySize, Resident
from annotune.transforms.legality import OWN_SHARED_BYTES, SHARED_BYTES, carried_sums
from annotune.transforms.map import Map
from annotune.transforms.merge import Decode, merged_name
from annotune.transforms.registers import Registers
from annotune.transforms.spread import (
    Batch,
    BlockPart,
    Bring,
    Bulk,
    Keep,
    ShareArray,
    Spread,
    block_part,
    kept_part,
)
from annotune.transforms.tile import tile_name
from annotune.transforms.transform import Context, Transform, asked_once
from annotune.transforms.tree import Body, bound_names, numbers
from annotune.transforms.unroll import Unroll

# What of an iteration's arrays a thread can have in registers, of which it has 255 of 4 bytes.
THREAD_BYTES = 512
# Iterations of the longest nest that a block is worth: fewer leave half of a warp idle.
FEW_POINTS = WARP // 2
# Threads of a block beside the rules' own, as further points of the space.
BLOCK_SIZES = (32, 64, 128, 256, 512)
# A share of busy lanes that is enough for strips (assumption).
ENOUGH_BUSY = 0.75
# Shared memory of a multiprocessor, less what each block of the device takes for itself, and the
# unit in which it gives registers (CUDA C++ Programming Guide, compute capability 9.0).
MOST_SHARED, REGISTER_UNIT = 220 * 1024, 8
# Registers of a thread beside two for each double that it keeps over its strip: addresses, and
# what is on its way (nvcc 13.5 spills none of ax's for sm_90 with 96, 108 and 120 at 8, 10 and 12).
SPARE = 48
# Registers up to which ptxas finds a number itself that does not spill (nvcc 13.5 for sm_90, ax at
# 5 to 12 and the mass action; at 10 it takes 96 and spills).
GUESSED = 96
# A share of the passes from which on pairs of points are the first choice, for they leave half of
# the warps to hide what a block waits for (assumption).
CLEARLY = 0.8
# Why neighbouring nests have one kernel, and a block some arrays in its memory.
JOINED = "neighbouring nests of an element, nothing of which another one needs"
HANDED_ON = "what the nests of an element hand on"
UPDATED = "what a block adds to, loaded at once"
IN_BULK = "the device makes them by itself"
# Elements that a block has at once, as further points.
BATCHES = (2, 4, 8, 16)
# Iterations that the threads of a block have, one each, and the bytes of their parts of arrays up
# to which more of them are better: several such blocks are to fit on a multiprocessor.
ROWS_AT_ONCE, USUAL_ROWS = (128, 64, 32), 20 * 1024
# What one instruction loads for a thread: neighbours so few need no copy.
ONE_LOAD = 16


@dataclass(frozen=True, slots=True)
class InnerNest:
    """A nest inside an element: the statement that names it, and the loops that may be threads.

    `counts` are their iterations. Those `inside` a thread run there in order, as a strip. Of the
    loop `pair` a thread has two points, in each of these iterations.
    """

    statement: int
    outermost: Loop
    counts: Mapping[str, int]
    inside: tuple[str, ...] = ()
    pair: str = ""

    @property
    def loops(self) -> tuple[str, ...]:
        """Return the loops that run on threads, outermost first."""
        return tuple(name for name in self.counts if name not in self.inside)

    @property
    def points(self) -> int:
        """Return the iterations of the loops on threads together, pairs of them where it has."""
        return prod(self.counts[name] for name in self.loops) // (2 if self.pair else 1)


@asked_once
def elements(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return a block for each element with several sizes of blocks, or in words why not.

    It is asked for again and again: for joined nests, their space, and what `check` says of them.
    """
    together = _by_blocks(unit)
    if not isinstance(together, str) or unit.members:
        return together
    alone = by_threads(unit)
    return ", and ".join(filter(None, (together, alone))) if isinstance(alone, str) else alone


def _by_blocks(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices whose blocks have an iteration or several, or in words why not."""
    inside = unit.band[-1].body if unit.band else ()
    arrays = [s for s in inside if isinstance(s, LocalArray)]
    loops = [s for s in inside if isinstance(s, Loop)]
    if not unit.members and (not arrays or len(loops) < 2):
        return "no array of an iteration joins nests inside it"
    around = _around(unit)
    if isinstance(around, str):
        return around
    own = sum(prod(s.extents) * element_bytes(s.type) for s in arrays)
    if own <= THREAD_BYTES and not unit.members:
        return f"the {own} bytes of an iteration's arrays fit a thread's registers"
    if own > OWN_SHARED_BYTES:
        return f"the {own} bytes of an iteration's arrays are too many for a block"
    nests: list[InnerNest] = []
    for loop in loops:
        nest = _nest(unit, loop)
        if isinstance(nest, str):
            return nest
        nests.append(nest)
    if max(nest.points for nest in nests) < FEW_POINTS:
        longest = max(nest.points for nest in nests)
        return f"a nest inside an iteration has {longest} points at most, too few for a block"
    block = _Blocks(unit, tuple(loop.var for loop in around), arrays)
    flat = block.choices(nests)
    if isinstance(flat, str):
        return flat
    strips = _strips(block, nests)
    if unit.members and not strips:
        # What the nests have in common is read once.
        brought = block.brought(nests)
        strips = block.bringing(flat[0], brought, block.updated(brought))
    made = (*strips, *flat, *block.bringing(flat[0], block.operators))
    return tuple(one for choice in made for one in (*block.in_bulk(choice), choice))


def by_threads(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices whose threads have an iteration each, or in words why there are none.

    Where several loops are parallel, or none, there is nothing to say. Of an array in which
    neighbouring iterations have rows, neighbouring threads would ask for elements of as many lines.
    A block copies them as they lie, and its threads find their own. Blocks are of as many sizes as
    there is room for in their memory, the best first.
    """
    if len(unit.parallel) != 1 or unit.host or unit.sums:
        return ""
    (loop,) = unit.parallel
    count = unit.trips[loop]
    if count is not None and count < WARP:
        return f"{loop} has {count} iterations, too few for the threads of a block"
    parts = _parts_of_iterations(unit, loop)
    each = sum(_row_bytes(unit, array, part) for array, part in parts.items())
    if each <= ONE_LOAD:
        return f"no iteration of {loop} has rows of arrays for itself"
    written = {fact.access.array for fact in unit.writes}
    moves = [Keep(unit.leader, n) if n in written else Bring(unit.leader, n) for n in parts]
    usual = [n for n in ROWS_AT_ONCE if n * each <= USUAL_ROWS]
    larger = [n for n in reversed(ROWS_AT_ONCE) if USUAL_ROWS < n * each <= OWN_SHARED_BYTES]
    made = [_rows_of_threads(unit, loop, size, moves) for size in (*usual, *larger)]
    # Of a loop that counts down the rows begin where a size says, which is known at the tuned ones.
    made = [one.having(without=(AnySize,)) if _refused(unit, one) else one for one in made]
    refusals = [_refused(unit, one) for one in made]
    able = tuple(one for one, refusal in zip(made, refusals, strict=True) if not refusal)
    return able or next(iter(refusals), f"the rows of a warp are {WARP * each} bytes, too many")


def _parts_of_iterations(unit: Unit, loop: str) -> dict[str, BlockPart]:
    """Return the parts that each iteration of a loop has of arrays for itself, several elements."""
    statements, found = frozenset(unit.statements), dict[str, BlockPart]()
    written = {fact.access.array for fact in unit.writes}
    facts = [f for s in unit.statements for f in unit.analysis.accesses[s]]
    for array in dict.fromkeys(f.access.array for f in facts):
        if array not in unit.analysis.region.arrays:
            continue
        part_of = kept_part if array in written else block_part
        part = part_of(unit.context, array, statements, (loop,))
        if part is not None and part.loop == loop and part.length > 1:
            found[array] = part
    return found


def _row_bytes(unit: Unit, array: str, part: BlockPart) -> int:
    return (part.length | 1) * element_bytes(unit.analysis.region.arrays[array].element)


def _rows_of_threads(unit: Unit, loop: str, size: int, moves: Sequence[Transform]) -> Candidate:
    """Return the choice with so many iterations to a block."""
    arrays = ", ".join(one.set_to for one in moves if isinstance(one, Bring | Keep))
    reasons = (
        Reason("strategy", "elements", "each iteration has parts of arrays for itself"),
        Reason("thread.x", loop, "a thread has an iteration"),
        Reason("shared memory", arrays, "neighbouring threads copy neighbours"),
    )
    choice = Candidate.of_axes(
        unit.parts,
        *moves,
        tiles=((loop, size),),
        blocks=(tile_name(loop),),
        threads=(loop,),
        reasons=reasons,
    )
    return completed(unit, choice)


def _strips(block: _Blocks, nests: Sequence[InnerNest]) -> tuple[Candidate, ...]:
    """Return the choices whose threads run one loop of a nest each by themselves, if any."""
    brought = block.brought(nests)
    near = (*brought, *block.kept)
    strips = [_in_strip(block.unit, nest, near) for nest in nests]
    if not any(nest.inside for nest in strips):
        return ()
    alone = _ready(block, strips, brought)
    pairs = _in_pairs(block.unit, strips, near)
    if not pairs:
        return alone
    doubled = _ready(block, pairs, brought)
    is_less = _busy_banks(block.unit, pairs, near) < CLEARLY * _busy_banks(block.unit, strips, near)
    return (*doubled, *alone) if is_less else (*alone, *doubled)


def _busy_banks(unit: Unit, nests: Sequence[InnerNest], near: Sequence[str]) -> float:
    """Return how long the nests of an element keep shared memory and the cache busy, in passes."""
    return sum(
        nest_accesses(unit, nest.outermost, [*nest.counts], near).busy(nest.inside, nest.pair)
        for nest in nests
    )


def _in_pairs(
    unit: Unit, strips: Sequence[InnerNest], near: Sequence[str]
) -> tuple[InnerNest, ...]:
    """Return nests whose threads have pairs of points beside their strips, or none.

    What does not move from one of the two to the other is loaded once. Threads that have pairs in
    one nest alone would be idle in the others, so that all have them; a warp at least is left.
    """
    summed = {step[0] for step in unrolls(unit, apart=True)}
    found: list[InnerNest] = []
    for nest in strips:
        accesses = nest_accesses(unit, nest.outermost, [*nest.counts], near)
        made = [replace(nest, pair=name) for name in nest.loops if nest.counts[name] % 2 == 0]
        # One step of a statement names a loop that is written out.
        is_free = bool(nest.inside) and nest.statement not in summed
        able = [
            one
            for one in made
            if is_free and one.points >= WARP and accesses.kept(one.inside, one.pair) <= MOST_KEPT
        ]
        if not able:
            return ()
        found.append(
            min(
                able,
                key=lambda one: (
                    accesses.busy(one.inside, one.pair),
                    accesses.passes(one.inside, one.pair),
                ),
            )
        )
    return tuple(found)


def _ready(
    block: _Blocks, strips: Sequence[InnerNest], brought: tuple[str, ...]
) -> tuple[Candidate, ...]:
    """Return the choices of some strips, with what their blocks copy and the compiler is told."""
    made = block.choices(strips)
    near = (*brought, *block.kept)
    if isinstance(made, str):
        return ()
    far = scattered(block.unit, strips, near)
    rooms = (OWN_SHARED_BYTES, SHARED_BYTES)
    sets = [block.brought(strips, also, room) for also in ((), far) for room in rooms]
    sets += [block.operators, ()]
    found: list[Candidate] = []
    alone = next(one for one in made if not one.of(Batch))
    further = ((one, arrays) for arrays in sets for one in (made[0], alone))
    for choice, arrays in (*((one, brought) for one in made), *further):
        updated = block.updated(arrays) if arrays == brought else ()
        # Without any array to bring it is the choice itself.
        ready = block.bringing(choice, arrays, updated) if arrays else (choice,)
        for one in ready:
            found += _told(block, one, strips, (*arrays, *block.kept, *updated))
    return tuple({one.steps: one for one in found}.values())


def scattered(unit: Unit, nests: Sequence[InnerNest], near: Sequence[str]) -> frozenset[str]:
    """Return the inputs that warps of the nests ask for in twice the lines that they need."""
    found = (nest_accesses(unit, n.outermost, [*n.counts], near).scattered(n.inside) for n in nests)
    return frozenset[str]().union(*found)


def _told(
    block: _Blocks, choice: Candidate, nests: Sequence[InnerNest], near: Sequence[str]
) -> Iterator[Candidate]:
    """Yield a choice of strips with what the compiler is told, one with two points at a time first.

    It is told of aligned neighbours, and where threads want many registers, or shared memory leaves
    them many, how many blocks should fit on a multiprocessor: left alone, ptxas may spill rather
    than to have fewer of them, or for more than there can be. Of two points at a time a thread has
    what it loads from far on its way before it needs the first.
    """
    unit = block.unit
    accesses = [nest_accesses(unit, nest.outermost, [*nest.counts], near) for nest in nests]
    pairs = sorted(frozenset[str]().union(*(one.pairs for one in accesses)))
    every = (Aligned(unit.leader, array) for array in pairs)
    aligned = tuple(one for one in every if one.why_not(unit.body, unit.context) is None)
    rows = prod(step.size for step in choice.of(Batch))
    threads = rows * min(TEAM, max(nest.points for nest in nests))
    strips = [(nest, one) for nest, one in zip(nests, accesses, strict=True) if nest.inside]
    wanted = SPARE + 2 * max(one.kept(nest.inside, nest.pair) for nest, one in strips)
    told = choice.having(*aligned)
    by_memory = MOST_SHARED // max(1, rows * block.bytes_of(near))
    # One warp more on one of four parts would leave all of them fewer registers.
    by_memory -= by_memory % 4 if threads <= WARP and by_memory > 4 else 0
    if wanted > GUESSED or by_memory <= _fitting(GUESSED, threads):
        fitting = min(_fitting(wanted, threads), by_memory)
        told = told.having(Resident(unit.leader, max(1, fitting)))
    steps: list[Unroll] = []
    for nest, one in strips:
        (loop,) = nest.inside
        factor = next((n for n in (2, 3) if nest.counts[loop] % n == 0), 0)
        # One step names each loop that is written out: that of the sum has another statement.
        is_free = all(step.statement != nest.statement for step in choice.of(Unroll))
        if one.streamed(nest.inside) and factor and is_free:
            steps.append(Unroll(nest.statement, loop, factor))
    if steps:
        yield told.having(*steps)
    yield told


def _fitting(registers: int, threads: int) -> int:
    """Return how many blocks of threads with so many registers fit on a multiprocessor."""
    # Each of its four parts has warps of its own, and a quarter of the registers.
    each = SM_REGISTERS // 4 // (-(-registers // REGISTER_UNIT) * REGISTER_UNIT * WARP)
    return min(SM_BLOCKS, 4 * each // -(-threads // WARP))


@dataclass(frozen=True)
class _Blocks:
    """The blocks of a unit that have one iteration of the loops `around`, and its `arrays`."""

    unit: Unit
    around: tuple[str, ...]
    arrays: Sequence[LocalArray]

    @property
    def own(self) -> int:
        """Return the bytes of an iteration's arrays, and of its parts of others that are kept."""
        return self._declared + sum(map(self._kept_bytes, self.kept))

    @property
    def _declared(self) -> int:
        return sum(prod(s.extents) * element_bytes(s.type) for s in self.arrays)

    def bytes_of(self, brought: Sequence[str]) -> int:
        """Return the bytes that an iteration takes with its part of what is brought or kept."""
        return self.own + sum(map(self._part_bytes, {*brought} - {*self.kept}))

    def _part_bytes(self, array: str) -> int:
        part = block_part(self.unit.context, array, self._statements, self.around)
        return self._bytes(array, part)

    def _bytes(self, array: str, part: BlockPart | None) -> int:
        element = element_bytes(self.unit.analysis.region.arrays[array].element)
        return 0 if part is None else part.length * element

    @cached_property
    def _statements(self) -> frozenset[int]:
        return frozenset(self.unit.statements)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Return the arrays through which joined nests hand on what is the block's to keep."""
        room, found = OWN_SHARED_BYTES - self._declared, list[str]()
        for array in _handed_on(self.unit):
            size = self._kept_bytes(array)
            if 0 < size <= room:
                found.append(array)
                room -= size
        return tuple(found)

    def _kept_bytes(self, array: str) -> int:
        """Return the bytes of an iteration's own part of an array, 0 where it has none."""
        part = kept_part(self.unit.context, array, self._statements, self.around)
        return self._bytes(array, part)

    def _made(self, nests: Sequence[InnerNest], threads: int = 0, rows: int = 1) -> Candidate:
        names = [s.name for s in self.arrays]
        choice = _made(self.unit, self.around, names, nests, threads, rows)
        if not self.kept:
            return choice
        reason = Reason("shared memory", ", ".join(self.kept), HANDED_ON)
        return choice.having(*(Keep(self.unit.leader, name) for name in self.kept), why=reason)

    def choices(self, nests: Sequence[InnerNest]) -> tuple[Candidate, ...] | str:
        """Return blocks of several sizes whose threads share the nests so, or why they may not."""
        # A nest without a strip runs over the threads that those with one have.
        leading = [nest for nest in nests if nest.inside] or nests
        longest = max(nest.points for nest in leading)
        most = min(TEAM, -(-longest // WARP) * WARP)
        limit = most if len(leading) < len(nests) and leading[0].inside else 0
        # A thread that has several strips loads what stays in its registers for each of them.
        further = () if leading[0].inside else BLOCK_SIZES
        sizes = (most, *(n for n in further if n != most and n < longest + WARP))
        first = self._made(nests, limit)
        why = _refused(self.unit, first)
        if why:
            return why
        rows = [n for n in BATCHES if n * longest <= TEAM and n * self.own <= OWN_SHARED_BYTES]
        several = {n: self._made(nests, limit, n) for n in rows}
        made = {1: first}
        made |= {n: one for n, one in several.items() if not _refused(self.unit, one)}
        # The fewer lanes of the last warp are idle, the better. Blocks of strips have the registers
        # of a multiprocessor to themselves, and more elements in each make fewer blocks.
        best = max(made, key=lambda n: _busy(n * longest))
        if leading[0].inside:
            best = next((n for n in sorted(made) if _busy(n * longest) >= ENOUGH_BUSY), best)
        others = [self._made(nests, n) for n in sizes[1:]]
        return (made.pop(best), *others, *made.values())

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """Return the arrays that every element reads at the same places."""
        return _operators(self.unit, self.around)

    def brought(
        self, nests: Sequence[InnerNest], also: Collection[str] = (), most: int = SHARED_BYTES
    ) -> tuple[str, ...]:
        """Return what the block's memory should have of the inputs: operators, what its points
        read more than once of an element's own, and what there is `also`, as far as there is room
        in so many bytes at `most`.
        """
        unit, region = self.unit, self.unit.analysis.region
        accesses = [nest_accesses(unit, nest.outermost, [*nest.counts], ()) for nest in nests]
        reads = {array: sum(a.reads(array) for a in accesses) for array in region.arrays}
        room = most - self.own
        written = {fact.access.array for fact in unit.writes}
        found: list[str] = []
        for array in dict.fromkeys((*self.operators, *reads)):
            size = 0 if array in written else self._part_bytes(array)
            length = size // element_bytes(region.arrays[array].element)
            is_wanted = reads[array] > length or array in also or array in self.operators
            if size and reads[array] and is_wanted and size <= room:
                found.append(array)
                room -= size
        return tuple(found)

    def updated(self, brought: Sequence[str]) -> tuple[str, ...]:
        """Return the arrays that a block adds to, as far as there is room beside what is `brought`.

        Their loads are then on their way all at once, and no sum waits for its own.
        """
        unit = self.unit
        room = min(OWN_SHARED_BYTES - self.own, SHARED_BYTES - self.bytes_of(brought))
        reads = {
            f.access for s in unit.statements for f in unit.analysis.accesses[s] if not f.is_write
        }
        sums = {f.access.array for f in unit.writes if f.access in reads}
        found: list[str] = []
        for array in sorted(sums - {*self.kept}):
            size = self._kept_bytes(array)
            if 0 < size <= room:
                found.append(array)
                room -= size
        return tuple(found)

    def bringing(
        self, choice: Candidate, arrays: Sequence[str], updated: Sequence[str] = ()
    ) -> tuple[Candidate, ...]:
        """Return a choice whose blocks copy some inputs first, or none if that is refused.

        What is `updated` they have in their memory, too, while that is so.
        """
        if not arrays:
            return ()
        steps: list[Transform] = [Bring(self.unit.leader, name) for name in arrays]
        reason = Reason("shared memory", ", ".join(arrays), "what the points of a block share")
        made = choice.having(*steps, why=reason)
        if updated:
            kept = [Keep(self.unit.leader, name) for name in updated]
            made = made.having(*kept, why=Reason("shared memory", ", ".join(updated), UPDATED))
        return () if _refused(self.unit, made) else (made,)

    def in_bulk(self, choice: Candidate) -> tuple[Candidate, ...]:
        """Return a choice whose copies of an element's own parts the device makes, if it can."""
        copied = [s.array for s in choice.of(Bring)] + [s.array for s in choice.of(Keep)]
        own = [array for array in copied if array not in self.operators]
        found: list[str] = []
        for array in own:
            if not _refused(self.unit, choice.having(Bulk(self.unit.leader, array))):
                found.append(array)
        steps = [Bulk(self.unit.leader, array) for array in found]
        return (
            (choice.having(*steps, why=Reason("copies", ", ".join(found), IN_BULK)),)
            if found
            else ()
        )


def _in_strip(unit: Unit, nest: InnerNest, near: Sequence[str]) -> InnerNest:
    """Return a nest with the loop inside its threads that leaves the least for them to load.

    None is, where that is less, or too few threads would be left. What the loop does not move of
    the terms of a sum stays in registers, so that all of these are written out.
    """
    accesses = nest_accesses(unit, nest.outermost, [*nest.counts], near)
    if any(n > MAX_UNROLL for a in accesses.accesses for _, n in a.terms):
        return nest
    found = [nest]
    for name in nest.loops if len(nest.loops) > 1 else ():
        strip = replace(nest, inside=(name,))
        if strip.points >= FEW_POINTS and 0 < accesses.kept((name,), "") <= MOST_KEPT:
            found.append(strip)
    return min(found, key=lambda one: accesses.passes(one.inside, ""))


def _handed_on(unit: Unit) -> tuple[str, ...]:
    """Return the arrays that one of joined nests writes and another one reads."""
    written: dict[str, None] = {}
    read: set[str] = set()
    for member in unit.members:
        read |= {f.access.array for f in member.reads} & {*written}
        written |= dict.fromkeys(f.access.array for f in member.writes)
    return tuple(array for array in written if array in read)


def _operators(unit: Unit, around: Sequence[str]) -> tuple[str, ...]:
    """Return the arrays that every element reads at the same places, the same ones each."""
    facts = [f for s in unit.statements for f in unit.analysis.accesses[s]]
    inputs = dict.fromkeys(f.access.array for f in facts if not f.is_write)
    written = {f.access.array for f in facts if f.is_write}
    own = [f for f in facts if f.access.array in inputs.keys() - written]
    moved = {f.access.array for f in own if any(f.strides.get(x) != 0 for x in around)}
    return tuple(name for name in inputs if name not in written | moved)


def _busy(threads: int) -> float:
    """Return the share of their warps' lanes that so many threads are."""
    return threads / (-(-threads // WARP) * WARP)


def _around(unit: Unit) -> tuple[Loop, ...] | str:
    """Return the loops over elements, outermost first, or why there are none."""
    if unit.host or unit.sums or not unit.parallel:
        return "a serial loop is around the parallel ones, or there are none"
    if [loop.var for loop in unit.band] != list(unit.parallel) or len(unit.band) > MAX_AXES:
        return "the loops around all statements are not all parallel"
    inside = unit.band[-1].body
    if not all(isinstance(s, Loop | LocalArray | Local) for s in inside):
        return "a statement of an iteration stands in no nest inside it"
    return unit.band


def _nest(unit: Unit, outermost: Loop) -> InnerNest | str:
    """Return what of a nest inside an element runs on threads, or why nothing does."""
    chain = [outermost]
    while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], Loop):
        chain.append(chain[-1].body[0])
    inside = numbers(outermost)
    set_by = {
        name for s in walk_stmts((outermost,)) if isinstance(s, Loop) for name in bound_names(s)
    }
    taken = {loop.var for loop in chain}
    found = [
        loop
        for loop in chain
        if carried_sums(unit.analysis, inside, loop.var) == ()
        and unit.count(loop) is not None
        and not bound_names(loop) & taken
        and loop.var not in set_by
        and loop.step == 1
    ]
    if not found:
        return f"no loop of the nest of {outermost.var} inside an iteration can be threads"
    counts = {loop.var: unit.count(loop) or 1 for loop in found}
    return InnerNest(min(inside), outermost, counts)


def _made(
    unit: Unit,
    around: Sequence[str],
    arrays: Sequence[str],
    nests: Sequence[InnerNest],
    threads: int = 0,
    rows: int = 1,
) -> Candidate:
    """Return the choice with blocks of so many threads at most, 0 for what the rules say.

    With several `rows` of them a block has as many elements at once.
    """
    steps: list[Transform] = [ShareArray(unit.leader, name) for name in arrays]
    steps += [Batch(unit.leader, around[-1], rows)] if rows > 1 else []
    steps += [Spread(n.statement, n.loops, threads, n.pair) for n in nests]
    longest = max(nest.points for nest in nests)
    usual = min(TEAM, -(-longest // WARP) * WARP)
    several = f"{rows} rows of {longest}" if rows > 1 else ""
    blocks = f"{rows} elements for each block" if rows > 1 else "one element for each block"
    talk = "the nests of an iteration talk through its own arrays"
    reasons = (
        Reason("strategy", "elements", JOINED if unit.members else talk),
        Reason("blocks", ", ".join(around), blocks),
        *((Reason("shared memory", ", ".join(arrays), HANDED_ON),) if arrays else ()),
        Reason(
            "threads",
            several or f"{threads or usual}",
            "they share the loops of each nest, flattened",
        ),
    )
    choice = Candidate.of_axes(
        unit.parts, *steps, blocks=around, joined=unit.joined, reasons=reasons
    )
    return completed(unit, choice)


def completed(unit: Unit, choice: Candidate) -> Candidate:
    """Return a choice of blocks and spread loops with what a thread does, and one for other sizes.

    The parts of a flattened loop are worked out once, and its serial loops unrolled.
    """
    spread = choice.of(Spread)
    # What runs under a condition, as for the last element alone, is found by one division or none.
    always = {a.number for a in unit.analysis.region.nest.assigns() if a.guard is None}
    several = [step for step in spread if len(step.loops) > 1 and step.statement in always]
    flat = {merged_name(step.flattened): step.statement for step in several}
    paths = unit.analysis.paths
    on_threads = {id(x) for s in spread for x in paths[s.statement] if x.var in s.loops}

    def is_serial(statement: int, loop: str) -> bool:
        own = (x for x in paths[statement] if x.var == loop)
        return all(id(x) not in on_threads for x in own)

    held = (Registers(s, loop) for s, loop in registers(unit) if is_serial(s, loop))
    terms = (x for x in unrolls(unit, apart=True) if is_serial(x[0], x[1]))
    unrolled = (Unroll(s, loop, factors[-1]) for s, loop, factors in terms)
    decoded = (Decode(statement, name) for name, statement in flat.items())
    counts = (AnySize(unit.leader, name) for name in _counts(unit, choice))
    pairs = (Unroll(step.statement, step.pair, 2) for step in spread if step.pair)
    made = choice.having(*held, *unrolled, *pairs, *decoded, *counts)
    if unit.members:
        return replace(made, apart=tuple(map(choose, unit.members)))
    # Threads that have an iteration each do the same at every other size if its rows are as long.
    is_same = not spread and not _refused(unit, choice, frozenset(unit.analysis.region.sizes))
    return made if is_same else replace(made, general=choose(unit))


def _counts(unit: Unit, choice: Candidate) -> tuple[str, ...]:
    """Return the sizes that say how many blocks there are and nothing of what one does.

    A program has another number of elements than the one that is tuned, and wants these kernels.
    """
    region, blocks = unit.analysis.region, {*choice.blocks, *choice.threads}
    every = {a.number for a in region.nest.assigns()}
    if every != {*unit.statements} or not unit.analysis.all_sizes:
        return ()
    inside, around = set[str](), set[str]()
    for stmt in walk_stmts(unit.body):
        if isinstance(stmt, Loop):
            names = variables(stmt.lower) | variables(stmt.upper)
            (around if stmt.var in blocks else inside).update(names)
    return tuple(sorted(region.called_sizes & around - inside))


def asked(unit: Unit, mapping: Map | None, steps: Sequence[Transform]) -> Candidate:
    """Return the choice with the arrays and loops that a recipe gives to a block's threads.

    `mapping` is the recipe's own, None where the loops of the nest go to blocks by the rules.
    """
    blocks = unit.parallel if mapping is None else mapping.on("block")
    threads = () if mapping is None else mapping.on("thread")
    most = 0 if mapping is None else mapping.max_blocks
    reason = Reason("threads", "share loops of a block's work", "the recipe says so")
    choice = Candidate.of_axes(
        unit.parts,
        *steps,
        blocks=blocks,
        threads=threads,
        host=unit.host,
        max_blocks=most,
        joined=unit.joined,
        reasons=(reason,),
    )
    return completed(unit, choice)


def _refused(unit: Unit, choice: Candidate, left: frozenset[str] = frozenset()) -> str:
    """Return why the loops cannot be shared so, also with some sizes `left` open, empty if so."""
    left |= {step.size for step in choice.of(AnySize)}
    # Choices that begin with the same steps have come as far together.
    context, reached = _untouched(unit, left)
    for step in choice.steps:
        if step.is_inner and not isinstance(step, Bring | Keep | Bulk):
            continue
        reached = reached.after(step, context)
        if reached.refused:
            return reached.refused
    return ""


@asked_once
def _untouched(unit: Unit, left: frozenset[str]) -> tuple[Context, _BodyAfter]:
    """Return a unit's body before any step, and what is known with some sizes left open."""
    sizes = {n: size for n, size in unit.analysis.region.sizes.items() if n not in left}
    return Context(unit.analysis, sizes), _BodyAfter(unit.body)


@dataclass(frozen=True, slots=True)
class _BodyAfter:
    """A body that some steps have made, or why the last of them is `refused`, and what follows."""

    body: Body
    refused: str = ""
    further: dict[Transform, _BodyAfter] = field(default_factory=dict)

    def after(self, step: Transform, context: Context) -> _BodyAfter:
        """Return what one further step makes of it."""
        if step not in self.further:
            refusal = step.why_not(self.body, context)
            self.further[step] = (
                _BodyAfter(step.apply(self.body, context))
                if refusal is None
                else _BodyAfter(self.body, refusal.message)
            )
        return self.further[step]
