"""Ways to move the data of a kernel whose tile is chosen: pipelines, vectors, streams.

Sources: CUDA C++ Programming Guide, Asynchronous Data Copies and Launch Bounds; J. Kim et al.,
"Optimizing Tensor Contractions in CCSD(T) for Efficient Execution on GPUs", ICS 2018, section 4
(the output is loaded early and its use hides behind the inputs); NVIDIA, CUTLASS, Efficient GEMM
in CUDA (pipelining, with registers or shared memory as the place of the next tile).

Whole tiles apart from those that are cut short: one more point of a strategy's space.

Sources: "Deep Dive into GPU Programming: Experience with Optimizing Tensor Contractions", a talk at
Pacific Northwest National Laboratory (interior and boundary code apart); M. Wolfe, "High
Performance Compilers for Parallel Computing", 1996, chapter 9 (index set splitting).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from math import ceil

from annotune.analysis.facts import AccessFacts
from annotune.diagnostics import NOWHERE, AnnotuneError
from annotune.ir.c_types import element_bytes
from annotune.ir.nest import MemorySpace
from annotune.model.shape import shape
from annotune.schedule.apply import Places
from annotune.schedule.candidate import (
    Candidate,
    ContractionTile,
    Extent,
    Moves,
    Reason,
    held_registers,
    pipeline_of,
    resident_of,
)
from annotune.schedule.launch_sizes import SM_BLOCKS, SM_REGISTERS, SM_THREADS, WARP
from annotune.schedule.messages import NO_MOVEMENT
from annotune.schedule.units import Unit, with_merged
from annotune.strategies.copy_layout import vector_layout
from annotune.transforms.cache import Resident
from annotune.transforms.language import Vectors, in_order, of_kind
from annotune.transforms.legality import SHARED_BYTES, TENSOR_SHARED_BYTES
from annotune.transforms.pipeline import WORDS, Pipeline, Stream, part_length
from annotune.transforms.registers import Hold
from annotune.transforms.stage import VECTORS, Stage
from annotune.transforms.tile import tile_name
from annotune.transforms.tile_ends import Pad, Peel
from annotune.transforms.transform import (
    Moving,
    Schedule,
    Transform,
    asked_once,
)

# What the rules take of the shared memory of a block, so that three of them fit on an H200.
USUAL_SHARED_BYTES = 64 * 1024
# The unit in which a thread is given registers (CUDA C++ Programming Guide).
REGISTER_UNIT = 8
# Bytes that a thread moves with one instruction at most.
VECTOR_BYTES = 16
# The commands of a recipe that speak of a movement.
MOVING = ("pipeline", "vectors", "stream", "resident")
_SHARED, _REGISTERS = MemorySpace.SHARED, MemorySpace.DEALT
_RING, _AHEAD = ((2, _SHARED), (3, _SHARED)), (2, _REGISTERS)


def moves(
    statement: int,
    stages: int = 0,
    through: MemorySpace = MemorySpace.SHARED,
    copied: int = 1,
    read: int = 1,
    streamed: bool = False,
    resident: int = 0,
) -> Moves:
    """Return what asks for a movement of a kernel's data, nothing for what is as usual."""
    wide = Vectors(statement, copied if copied > 1 else 0, read if read > 1 else 0)
    found: list[Moving] = []
    found += [Pipeline(statement, "", stages, through)] if stages else []
    found += [wide] if wide != Vectors(statement) else []
    found += [Stream(statement)] if streamed else []
    found += [Resident(statement, resident)] if resident else []
    return tuple(found)


def widths(known: Sequence[Moving]) -> tuple[int, int]:
    """Return how many neighbours a thread copies at once, and how many it reads at once."""
    wide = next(iter(of_kind(known, Vectors)), Vectors(0))
    return wide.copied or 1, wide.read or 1


def over(asked: Sequence[Moving], known: Sequence[Moving], statement: int) -> Moves:
    """Return a movement with what is asked of it in the place of what is known."""
    ring = pipeline_of(asked) or pipeline_of(known)
    wide = {
        name: value
        for step in (*of_kind(known, Vectors), *of_kind(asked, Vectors))
        for name, value in (("copied", step.copied), ("read", step.read))
        if value
    }
    every = (*known, *asked)
    return moves(
        statement,
        0 if ring is None else ring.stages,
        MemorySpace.SHARED if ring is None else ring.through,
        wide.get("copied", 1),
        wide.get("read", 1),
        bool(of_kind(every, Stream)),
        resident_of(asked) or resident_of(known),
    )


def described(known: Sequence[Moving]) -> str:
    """Return a movement in words: ``2 stages through shared, copies by 2``."""
    return ", ".join(_in_words(known)) or "plain"


def _in_words(known: Sequence[Moving]) -> Iterator[str]:
    ring, (copied, read) = pipeline_of(known), widths(known)
    if ring is not None and ring.stages == 1:
        yield "asynchronous copies"
    elif ring is not None:
        is_shared = ring.through is MemorySpace.SHARED
        yield f"{ring.stages} stages through {'shared' if is_shared else 'registers'}"
    if copied > 1:
        yield f"copies by {copied}"
    if read > 1:
        yield f"reads by {read}"
    if of_kind(known, Stream):
        yield "output streamed"
    if resident_of(known):
        yield f"{resident_of(known)} resident blocks"


def moved(
    unit: Unit,
    choice: Candidate,
    wanted: Moves,
    general: Callable[[Moves], Candidate | str] | None = None,
) -> Candidate | str:
    """Return `choice` with its data moved so, or in words why they cannot be.

    For sizes that are not the tuned ones, and may leave vectors unaligned, single elements are
    copied. Whoever asks for many movements of a choice may keep what `general` answers of it.
    """
    wordless = _wordless(unit, choice, wanted)
    if wordless:
        return f"no single instruction moves elements of type '{wordless}'"
    return _moved(unit, choice, wanted, general or _at_other_sizes(unit, choice))


def _at_other_sizes(unit: Unit, choice: Candidate) -> Callable[[Moves], Candidate | str]:
    """Return what moves the data of the choice for sizes that are not the tuned ones."""
    return partial(moved, unit, choice.general or choice)


def _moved(
    unit: Unit, choice: Candidate, wanted: Moves, general: Callable[[Moves], Candidate | str]
) -> Candidate | str:
    """Return what `moved` does, where an instruction moves the elements."""
    steps = _steps_of(unit, choice, wanted)
    return steps if isinstance(steps, str) else _with_steps(choice, wanted, steps, general)


def _steps_of(unit: Unit, choice: Candidate, wanted: Moves) -> Schedule | str:
    """Return what a choice does with its data moved so, in no order, or why it cannot."""
    tile = choice.contract or shape(with_merged(unit, choice.merges), choice)
    threads = tile.threads
    most = min(SM_BLOCKS, SM_THREADS // (WARP * ceil(threads / WARP)))
    ring, resident = pipeline_of(wanted), resident_of(wanted)
    if resident > most:
        asked = f"{resident} blocks of {threads} threads"
        return f"{asked}, of which a multiprocessor holds {most}"
    staged = choice.of(Stage)
    is_copying = ring is not None or widths(wanted) != (1, 1)
    if is_copying and (choice.contract is None or not staged):
        return "nothing is copied into shared memory"
    held = bool(choice.registers) or bool(choice.of(Hold))
    if of_kind(wanted, Stream) and not held:
        return "its output is not held in registers while it is summed"
    if ring is not None and ring.through is _REGISTERS and ring.stages != 2:
        return f"{ring.stages} stages through registers, expected 2"
    steps = _with_copies(unit, choice, wanted)
    needed = _copied_bytes(unit, choice.contract, steps)
    limit = TENSOR_SHARED_BYTES if choice.contract and choice.contract.by_warps else SHARED_BYTES
    if needed > limit:
        return f"the copies need {needed} bytes of shared memory, more than {limit}"
    return steps


def _with_steps(
    choice: Candidate,
    wanted: Moves,
    steps: Schedule,
    general: Callable[[Moves], Candidate | str],
) -> Candidate:
    """Return a choice with the steps that its movement comes to."""
    made, reasons = in_order(steps), choice.reasons
    if wanted:
        reasons += (Reason("movement", described(wanted), "another point of the space"),)
    if choice.general is None and widths(wanted) == (1, 1):
        return replace(choice, steps=made, moves=wanted, reasons=reasons)
    other = general(tuple(step for step in wanted if isinstance(step, (Pipeline, Stream))))
    known = choice.general if isinstance(other, str) else other
    return replace(choice, steps=made, moves=wanted, reasons=reasons, general=known)


def as_wished(unit: Unit, choice: Candidate, asked: Moves, places: Places) -> Candidate:
    """Return `choice` with its data moved as a recipe says, which stands at `places`.

    Raises:
        AnnotuneError: The choice has no such copies.
    """
    # The transforms say at the command what no instruction moves.
    wanted = over(asked, choice.moves, choice.leader)
    found = _moved(unit, choice, wanted, _at_other_sizes(unit, choice))
    if isinstance(found, str):
        spans = (places.of(name, s) for s in unit.statements for name in MOVING)
        place = next((span for span in spans if span != NOWHERE), NOWHERE)
        raise AnnotuneError.of(NO_MOVEMENT.at(place, statement=unit.leader, reason=found))
    return found


def usual(unit: Unit, choice: Candidate) -> Candidate:
    """Return a choice with its data moved as the rules have it, itself where that cannot be.

    Copies go past the registers while the output is on its way to them; where they are not of the
    whole sum, the next one begins before the present one is used. Measured for the triples on an
    H200: 0 to 3 % less time at 16 for each extent, 12 to 25 % less at 20, 24 and 28; for gemm 7 to
    8 % less (docs/hardware.md).
    """
    tile = choice.contract
    if tile is None or choice.moves:
        return choice
    steps = -(-(unit.trips[tile.contracted[0]] or 1) // tile.contracted[1])
    # Registers leave room for two blocks of four warps that fill the tensor cores.
    most, room = (3, TENSOR_SHARED_BYTES) if tile.by_warps else (2, USUAL_SHARED_BYTES)
    for stages in range(min(steps, most), 0, -1):
        for copied in (_widest(unit, choice), 1):
            found = moved(unit, choice, moves(choice.leader, stages, copied=copied))
            if isinstance(found, str) or shared_bytes(unit, found) > room:
                continue
            if copied == 1 or any(copy.width > 1 for copy in found.of(Stage)):
                return replace(found, reasons=(*choice.reasons, _why(found.moves)))
    return choice


def _why(known: Moves) -> Reason:
    rule, ring = "no way through registers, and the output arrives meanwhile", pipeline_of(known)
    if ring is not None and ring.stages > 1:
        rule = "a copy is on its way while another is used"
    return Reason("movement", described(known), rule)


def _widest(unit: Unit, choice: Candidate) -> int:
    """Return how many neighbours of an input a thread can copy at once."""
    copied = [copy.array for copy in choice.of(Stage)]
    if not {unit.analysis.region.arrays[name].element for name in copied} <= VECTORS.keys():
        return 1
    return VECTOR_BYTES // min((_element(unit, name) for name in copied), default=VECTOR_BYTES)


def _wordless(unit: Unit, choice: Candidate, wanted: Moves) -> str:
    """Return a type of elements that a movement would have one instruction move, and none does."""
    arrays = unit.analysis.region.arrays
    moved: list[str] = []
    ring = pipeline_of(wanted)
    if ring is not None and ring.through is _SHARED:
        moved += [copy.array for copy in choice.of(Stage)]
    if of_kind(wanted, Stream):
        moved += [facts.access.array for facts in unit.writes]
    types = [arrays[name].element for name in moved if name in arrays]
    return next((element for element in types if element not in WORDS), "")


def variants(unit: Unit, choice: Candidate) -> Iterator[Candidate]:
    """Yield a choice with other movements worth a try, the plain one left out."""
    return (make() for _, make in unmade_variants(unit, choice))


def unmade_variants(
    unit: Unit, choice: Candidate
) -> Iterator[tuple[Moves, Callable[[], Candidate]]]:
    """Yield the movements of `variants`, each with what makes the choice that has it.

    Whoever counts them need not make any.
    """
    tile = choice.contract
    if tile is None or choice.moves:
        return
    general = cache(_at_other_sizes(unit, choice))
    seen = {_shape(choice.steps)}
    for movement in _movements(unit, choice, tile):
        if _wordless(unit, choice, movement):
            continue
        steps = _steps_of(unit, choice, movement)
        if isinstance(steps, str) or _shape(steps) in seen:
            continue
        seen.add(_shape(steps))
        yield movement, partial(_with_steps, choice, movement, steps, general)


def _shape(steps: Schedule) -> tuple[object, ...]:
    """Return all of a movement that reaches the text of a kernel."""
    kinds: tuple[type[Transform], ...] = (Stage, Pipeline, Stream, Resident)
    own = [step for step in steps if isinstance(step, kinds)]
    return tuple(of_kind(own, kind) for kind in kinds)


def _movements(unit: Unit, choice: Candidate, tile: ContractionTile) -> Iterator[Moves]:
    steps = -(-(unit.trips[tile.contracted[0]] or 1) // tile.contracted[1])
    rings = [pair for pair in _RING if pair[0] <= steps]
    pipelines = [(0, _SHARED), (1, _SHARED), *rings, *([_AHEAD] if steps > 1 else [])]
    width, leader = _widest(unit, choice), choice.leader
    for streamed in (False, True):
        for stages, through in pipelines:
            yield moves(leader, stages, through, streamed=streamed)
            yield moves(leader, stages, through, copied=width, streamed=streamed)
            yield moves(leader, stages, through, read=width, streamed=streamed)
    most = resident_blocks(unit, tile)
    if most > 1:
        for stages, through in pipelines:
            yield moves(leader, stages, through, resident=most)


def resident_blocks(unit: Unit, tile: ContractionTile) -> int:
    """Return how many blocks fit on a multiprocessor with no more registers than a tile needs."""
    output = next(f for f in unit.writes)
    each = held_registers(tile, _element(unit, output.access.array))
    given = -(-each // REGISTER_UNIT) * REGISTER_UNIT
    return SM_REGISTERS // (given * tile.threads)


def shared_bytes(unit: Unit, choice: Candidate) -> int:
    """Return what the copies of a choice take of the shared memory of a block."""
    return _copied_bytes(unit, choice.contract, choice.steps)


def _copied_bytes(unit: Unit, tile: ContractionTile | None, steps: Schedule) -> int:
    total = 0
    extents = tile.copied_extents if tile is not None else {}
    rings = (ring for ring in of_kind(steps, Pipeline) if ring.through is MemorySpace.SHARED)
    stages = {ring.statement: ring.stages for ring in rings}
    for copy in of_kind(steps, Stage):
        reach = 1 + sum(each * (extents.get(loop, 1) - 1) for loop, each in copy.layout)
        parts = stages.get(copy.statement, 1)
        length = part_length(reach) if parts > 1 else reach
        total += parts * length * _element(unit, copy.array)
    return total


def _with_copies(unit: Unit, choice: Candidate, wanted: Moves) -> Schedule:
    """Return the steps of a choice with its copies and its output moved as told, in no order."""
    tile, copies, ring = choice.contract, choice.of(Stage), pipeline_of(wanted)
    found: list[Transform] = []
    without: tuple[type[Transform], ...] = ()
    if of_kind(wanted, Stream):
        found += map(Stream, choice.statements)
        without += (Stream,)
    if resident_of(wanted):
        found += of_kind(wanted, Resident)
        without += (Resident,)
    if tile is not None and copies:
        found += [_staged(unit, tile, copy, *widths(wanted)) for copy in copies]
        without += (Stage, Pipeline)
        if ring is not None:
            loop = tile_name(tile.contracted[0])
            found += [replace(ring, statement=s, loop=loop) for s in {c.statement for c in copies}]
    return (*(step for step in choice.steps if not isinstance(step, without)), *found)


@asked_once
def _staged(unit: Unit, tile: ContractionTile, copy: Stage, copied: int, read: int) -> Stage:
    """Return a copy laid out for the widest accesses that are proven to be aligned."""
    bytes_ = _element(unit, copy.array)
    facts = next(f for f in unit.reads if f.access.array == copy.array)
    wide = copy = replace(copy, width=1)
    if read > 1:
        wide = _laid_out(tile, copy, bytes_, read, is_read=True)
    if copied > 1 and _is_aligned(unit, facts, wide, tile, copied):
        if read == 1:
            wide = _laid_out(tile, copy, bytes_, copied, is_read=False)
        if _has_neighbours(wide, copied):
            wide = replace(wide, width=copied)
    return wide


def _laid_out(
    tile: ContractionTile, copy: Stage, element_bytes: int, width: int, is_read: bool
) -> Stage:
    """Return a copy in which neighbours are side by side, or the same where that costs passes."""
    if tile.by_warps or (not is_read and _has_neighbours(copy, width)):
        # What a warp reads for an instruction has its layout already.
        return copy
    extents = dict(tile.extents)
    order = tuple((loop, extents[loop]) for loop, _ in copy.layout if loop in extents)
    if len(order) < len(copy.layout):
        return copy
    threads = (tile.thread_x, tile.thread_y)
    registers = {tile.register_x[0], tile.register_y[0]}
    first: Extent | None = order[-1]
    if is_read:
        first = next((row for row in order if row[0] in registers), None)
    if first is None or first[1] % width:
        return copy
    layout = vector_layout(first, order, threads, element_bytes, width, width if is_read else 1)
    return copy if layout is None else replace(copy, layout=layout)


def _has_neighbours(copy: Stage, width: int) -> bool:
    """Return whether the loop that fills a copy innermost has its neighbours side by side."""
    others = (stride for _, stride in copy.layout[:-1])
    return copy.layout[-1][1] == 1 and all(stride % width == 0 for stride in others)


def _is_aligned(
    unit: Unit, facts: AccessFacts, copy: Stage, tile: ContractionTile, width: int
) -> bool:
    """Return whether all vectors of an input start at a multiple of their length.

    This is what the strides tell; `Stage` proves it from the subscripts, or refuses.
    """
    inner, length = copy.layout[-1][0], 0
    for axis in (tile.x, tile.y):
        if tile.by_warps and axis.cyclic and inner == axis.thread_loop:
            # Neighbours are those of the loop that is dealt out.
            inner, length = axis.thread
    lengths = {unit.trips.get(inner) or 1, length or dict(tile.extents).get(inner, 1)}
    if facts.strides.get(inner) != 1 or any(length % width for length in lengths):
        return False
    others = (stride for loop, stride in facts.strides.items() if loop != inner)
    return all(stride is not None and stride % width == 0 for stride in others)


def _element(unit: Unit, array: str) -> int:
    return element_bytes(unit.analysis.region.arrays[array].element)


def with_peeled(unit: Unit, choice: Candidate) -> Candidate | None:
    """Return `choice` with whole tiles apart, None where no tile of the nest is cut short.

    Neither is there any where threads combine a sum, which `Peel` refuses.

    The model predicts the same time for both: the conditions cost few instructions beside the
    loads that wait for them, and ptxas gives the kernel about as many registers (4 less to 10
    more, docs/strategies/primitives.md).
    """
    tiles = choice.tiles
    trips = with_merged(unit, choice.merges).trips
    cut = [loop for loop, size in tiles if (trips.get(loop) or 0) % size]
    if not cut or unit.sums or choice.team:
        return None
    padded = next(iter(choice.of(Pad)), None)
    loops = padded.loops if padded is not None else tuple(loop for loop, _ in tiles)
    first = padded.statement if padded is not None else choice.leader
    made = choice.having(Peel(first, loops), why=_reason(cut))
    general = choice.general
    other = None if general is None else with_peeled(unit, general) or general
    return replace(made, general=other)


def _reason(cut: list[str]) -> Reason:
    ends = ", ".join(dict.fromkeys(cut))
    rule = f"tiles of {ends} are cut short: whole ones run without conditions, in a second text"
    return Reason("peeled", "whole tiles", rule)
