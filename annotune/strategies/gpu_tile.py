"""Tiles of a contraction's output per block, a part of each in a thread's registers.

The strategy `two-level` gives each input's two loops a role: J. Kim et al., "A Code Generator for
High-Performance Tensor Contractions on GPUs", CGO 2019, section 3 (the roles of the loops);
"Optimizing Tensor Contractions in CCSD(T) for Efficient Execution on GPUs", ICS 2018, section 4
(staged inputs, outer products in registers).

`gemm` splits one loop of an input among blocks, threads and registers, for a matrix product has no
second one. Sources: F. X. Bayerl, "Treduda", thesis, University of Passau, 2012, sections 3.1 and
4.2.3.4 (elements that a thread has cyclic, adjacent, or one along each axis; which inputs are
staged); V. Volkov and J. W. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008
(outputs in registers).

Where the usual tiles end inside the loops, others leave little surplus. Two loops of the threads
may run as one, so that 16 neighbouring threads have work at any extents but for the last of all
tiles (index combining and dimension flattening in "Deep Dive into GPU Programming: Experience with
Optimizing Tensor Contractions", a talk at Pacific Northwest National Laboratory); and tiles may be
as long as some number that divides a loop or nearly does.

A recipe's ``contract`` asks for one tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import ceil, inf, prod

from annotune.analysis.facts import AccessFacts
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Var
from annotune.model.shape import moves
from annotune.model.traffic import SHARED_BYTES
from annotune.schedule.candidate import (
    NO_AXIS,
    Assignment,
    Candidate,
    ContractionTile,
    Extent,
    Reason,
    TileAxis,
    held_registers,
)
from annotune.schedule.imperfect import distributed_block
from annotune.schedule.launch_sizes import (
    LINE,
    MAX_ALONG_Z,
    MAX_BLOCKS_YZ,
    SM_BLOCKS,
    SM_REGISTERS,
    SM_THREADS,
    SURPLUS,
    WARP,
)
from annotune.schedule.units import Unit, as_merged, follow, with_merged
from annotune.strategies.copy_layout import MOST_PADDING, apart, copy_layout, fragment_layout
from annotune.strategies.nests import Contraction, contraction, stride
from annotune.transforms.language import Contract
from annotune.transforms.legality import TENSOR_SHARED_BYTES
from annotune.transforms.map import MAX_THREADS
from annotune.transforms.merge import merged_name
from annotune.transforms.permute import Permute
from annotune.transforms.presence import certain_reads
from annotune.transforms.registers import (
    DEPTH_LANES,
    DEPTHS,
    FRAGMENT,
    ROW_LANES,
    Hold,
    TensorCores,
    column_distance,
    multiplies_doubles,
)
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Cyclic, Tile, name_is_taken, tile_name
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Schedule, asked_once
from annotune.transforms.tree import find_assign
from annotune.transforms.unroll import Unroll

THREADS_Y = 8
# 64 accumulators are 128 registers of 32 bits; each of them is used with 16 loads from shared
# memory instead of 128, which that memory can feed.
REGISTERS = 8
# Strides that arrive at run time take registers for the address of each output: with more than
# 4 by 4 outputs, ptxas spills (seen for sm_90).
OPEN_REGISTERS = 4
# Elements of the contracted loop that are staged at a time, at most, where not all of it is.
STAGED = 16
# A contracted loop no longer than this is staged whole: nothing is waited for a second time.
WHOLE = 32
# With fewer outputs in a thread, or fewer products for each, staging does not pay.
LEAST_OUTPUTS = 16
LEAST_PRODUCTS = 4


def usual_tiles(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's choices for a unit, the rules' own first, or why it has none."""
    found = contraction(unit)
    if isinstance(found, str):
        return found
    if min(len(found.x), len(found.y)) < 2:
        return "an input has fewer than two loops of its own"
    return choices(unit, found, tuple(_tiles_tried(unit, found)))


def choices(
    unit: Unit, found: Contraction, every: Sequence[ContractionTile]
) -> tuple[Candidate, ...] | str:
    """Return the choices that carry tiles out, the rules' own first, or why it does not pay."""
    every = [tile for tile in dict.fromkeys(every) if has_own_sums(unit, found, tile)]
    if not every:
        return f"{unit.band[-1].var}, each iteration of which has a sum, is not in registers"
    fitting = tuple(tile for tile in every if fits(unit, found, tile))
    if not fitting:
        return "no tile fits the shared memory of a block"
    why = _pays_not(unit, found, fitting[0])
    return why or tuple(choose_tile(unit, found, tile) for tile in fitting)


def has_own_sums(unit: Unit, found: Contraction, tile: ContractionTile) -> bool:
    """Return whether a private sum, if there is one, has an element for each of its iterations."""
    registers = (tile.register_x[0], tile.register_y[0])
    return found.imperfect is None or unit.band[-1].var in registers


def _tiles_tried(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield the tiles worth a try, the rules' own first."""
    along = unit.trips[found.x[0]] or 1
    lanes = (LINE, along) if LINE < along <= 2 * LINE else (LINE,)
    registers = ((REGISTERS, REGISTERS), (REGISTERS, REGISTERS // 2), (4, 4))
    for pair, rows, staged, lane in product(
        registers, (THREADS_Y, 2 * THREADS_Y), (WHOLE, STAGED, STAGED // 2), lanes
    ):
        yield _even_tile(unit, found, pair, (lane, rows), staged)


def _even_tile(
    unit: Unit,
    found: Contraction,
    registers: tuple[int, int],
    threads: tuple[int, int],
    staged: int,
) -> ContractionTile:
    def trip(loop: str) -> int:
        return unit.trips[loop] or 1

    lanes, rows = min(threads[0], trip(found.x[0])), threads[1]
    # A short line leaves room for more rows, so that the block has its warps all the same.
    rows = even_length(trip(found.y[1]), 2 * THREADS_Y if lanes < LINE else rows)
    loop = found.contracted[0]
    return ContractionTile(
        (found.x[0], lanes),
        (found.y[1], rows),
        (found.x[1], even_length(trip(found.x[1]), registers[0])),
        (found.y[0], even_length(trip(found.y[0]), registers[1])),
        (loop, staged_steps(trip(loop), staged)),
    )


def even_length(trip: int, most: int) -> int:
    """Return the length of tiles of a loop: `most`, or less where much of that is surplus."""
    if trip <= most:
        return trip
    count = -(-trip // most)
    surplus = 1 - trip / (count * most)
    return most if surplus <= SURPLUS else -(-trip // count)


def staged_steps(trip: int, most: int) -> int:
    """Return how many steps of a sum to stage at once: all, a divisor, or the usual number."""
    if trip <= most:
        return trip
    most = min(most, STAGED)
    largest = next(d for d in range(most, 0, -1) if trip % d == 0)
    return largest if 2 * largest >= most else most


def fits(unit: Unit, found: Contraction, tile: ContractionTile) -> bool:
    """Return whether a block has the shared memory for its copies and registers for its outputs."""
    registers = held_registers(tile, _element(unit, found.target))
    room = SM_REGISTERS // tile.threads
    return copied_bytes(unit, found, tile) <= _most_shared(tile) and registers <= room


def _most_shared(tile: ContractionTile) -> int:
    """Return the bytes that the copies of one stage may take."""
    return TENSOR_SHARED_BYTES if tile.by_warps else SHARED_BYTES


def copied_bytes(unit: Unit, found: Contraction, tile: ContractionTile) -> int:
    """Return about what the copies of the inputs take of shared memory."""
    loop, depth = tile.contracted
    rows = (tile.y.length + tile.register_y[1]) * depth
    if tile.by_warps and found.b.strides.get(loop) == 1:
        # Steps of the sum are neighbours in the copy, too, in rows that are longer.
        rows = tile.y.length * (depth + MOST_PADDING)
    a = (tile.x.length + 1) * depth * _element(unit, found.a) * _at_once(found.a, tile)
    b = rows * _element(unit, found.b)
    return a * tile.stage_x + b * _at_once(found.b, tile) * tile.stage_y


def _at_once(access: AccessFacts, tile: ContractionTile) -> int:
    """Return how many parts of an input a block has at once, one for each iteration along z."""
    return prod(size for loop, size in tile.z if moves(access, loop))


def _pays_not(unit: Unit, found: Contraction, tile: ContractionTile) -> str:
    """Return why the tile is not worth its copies, empty when it is."""
    outputs = tile.register_x[1] * tile.register_y[1]
    products = prod(unit.trips[n] or 1 for n in found.contracted)
    if outputs < LEAST_OUTPUTS:
        return f"a thread would have {outputs} output{'s' if outputs > 1 else ''}"
    if products < LEAST_PRODUCTS:
        return f"each output has {products} products"
    return ""


def choose_tile(unit: Unit, found: Contraction, tile: ContractionTile) -> Candidate:
    """Return the choice that carries a tile out, with fewer outputs per thread at other sizes.

    These go without copies of what a condition may leave out, which need not be whole there.
    """
    x, y = tile.register_x, tile.register_y
    # Of rows and columns of one matrix one address and one stride tell all others.
    is_matrix = tile.by_warps and tile.x.is_split and tile.y.is_split
    room = max(x[1], y[1]) if is_matrix else OPEN_REGISTERS
    assign = find_assign(unit.body, found.statement)
    x_is_there, y_is_there = (
        one.access in certain_reads(assign, unit.analysis.is_there(one.access.array))
        for one in (found.a, found.b)
    )
    smaller = replace(
        tile,
        register_x=(x[0], min(x[1], room)),
        register_y=(y[0], min(y[1], room)),
        stage_x=tile.stage_x and x_is_there,
        stage_y=tile.stage_y and y_is_there,
        by_warps=tile.by_warps * (x_is_there and y_is_there),
    )
    choice = _carried_out(unit, found, tile)
    if smaller == tile:
        return choice
    return replace(choice, general=_carried_out(unit, found, smaller))


def _carried_out(unit: Unit, found: Contraction, tile: ContractionTile) -> Candidate:
    """Return the choice that carries a tile out."""
    own = {loop: axis for axis in (tile.x, tile.y) for loop, _ in axis.block_extents}
    along_z = tuple(loop for loop, _ in tile.z)
    external = sorted(
        (n for n in unit.loops_around(found.statement) if n not in found.contracted),
        key=lambda n: stride(found.target, n),
    )
    cut = {n: own[n].block_loop(n) for n in own} | {n: tile_name(n) for n in along_z}
    blocks = tuple(cut.get(n, n) for n in _longest_first(unit, external, tile))
    threads = (tile.x.thread_loop, tile.y.thread_loop, *along_z)
    inner = tile.contracted[0]
    summed = (*(n for n in found.contracted if n != inner), tile_name(inner))
    # The loop that a private sum belongs to stays innermost of those that pick its element.
    last = unit.band[-1].var
    picking = (tile.register_x[0], tile.register_y[0])
    if found.imperfect is not None:
        picking = (picking[1], picking[0]) if picking[0] == last else picking
    order = (*blocks, *threads, *summed, inner, *picking)
    tiles, cyclic = (
        (*tile.x.tiles, *tile.y.tiles, *tile.z, tile.contracted),
        (*tile.x.cyclic, *tile.y.cyclic),
    )
    number, imperfect = found.statement, found.imperfect
    if imperfect is None:
        shaping: Schedule = (
            *(Tile(number, loop, size) for loop, size in tiles),
            *(Cyclic(number, loop, workers) for loop, workers in cyclic),
            Permute(number, order),
        )
    else:
        shaping = distributed_block(unit.analysis, imperfect, tiles, order, summed[0], cyclic)
    # What leaves a nest as an array is not held once more.
    is_in_array = imperfect is not None and isinstance(imperfect.target, Var)
    # What nothing is added to need not be there to be loaded.
    is_conditional = find_assign(unit.body, number).guard is not None
    steps: Schedule = (
        *shaping,
        *_copies(unit, found, tile),
        *(() if is_in_array else (Hold(number, summed[0], is_conditional),)),
        Pad(number, (*threads, tile.register_x[0], tile.register_y[0])),
        *((TensorCores(number, inner, tile.by_warps),) if tile.by_warps else ()),
    )
    made = Candidate.of_axes(
        unit.parts, *steps, blocks=blocks, threads=threads, reasons=tuple(_reasons(found, tile))
    )
    return replace(made, contract=tile)


def _longest_first(unit: Unit, loops: Sequence[str], tile: ContractionTile) -> tuple[str, ...]:
    """Return the loops on blocks with one on x that no other axis has room for."""
    cut = dict(tile.outputs)
    counts = {n: -(-(unit.trips[n] or 1) // cut.get(n, 1)) for n in loops}
    longest = max(loops, key=lambda n: counts[n])
    if counts[longest] <= MAX_BLOCKS_YZ:
        return tuple(loops)
    return (longest, *(n for n in loops if n != longest))


def _copies(unit: Unit, found: Contraction, tile: ContractionTile) -> Iterator[Stage]:
    """Yield how the inputs are staged: filled in their own order, read without bank conflicts."""
    inputs = ((found.a, tile.x, tile.stage_x), (found.b, tile.y, tile.stage_y))
    for access, axis, is_staged in inputs:
        if not is_staged:
            continue
        # Neighbouring threads read neighbours; one step of the sum is one row of the copy.
        rows: tuple[Extent, ...] = (*axis.block_extents, tile.contracted)
        rows += tuple(row for row in tile.z if moves(access, row[0]))
        order = sorted(rows, key=lambda row: -stride(access, row[0]))
        if tile.by_warps:
            parts = tuple(part for row in order for part in _part_extents(row, axis))
            lanes = _lanes_of(tile, axis)
            yield Stage(
                found.statement,
                access.access.array,
                tile.contracted[0],
                fragment_layout(parts, lanes, _element(unit, access), _steps_of(axis)),
            )
            continue
        # Pairs of neighbours of one thread come by one load where every row starts at a pair.
        unit_of_rows = 2 if axis.is_split and not axis.cyclic else 1
        layout = copy_layout(rows, tuple(order), _element(unit, access), unit_of_rows)
        whole = tuple(part for row in layout for part in _in_parts(row, axis))
        for loop, _ in tile.z if len(rows) > len(axis.block_extents) + 1 else ():
            whole = apart(loop, whole, tile.on_threads, _element(unit, access), unit_of_rows)
        yield Stage(found.statement, access.access.array, tile.contracted[0], whole)


def _in_parts(row: Extent, axis: TileAxis) -> Iterator[Extent]:
    """Yield a loop of a layout with its distance, or the loops that it is split into."""
    loop, distance = row
    if not axis.is_split or loop != axis.thread[0]:
        yield row
        return
    yield from ((part, distance * steps) for part, steps in axis.parts)


def _part_extents(row: Extent, axis: TileAxis) -> Iterator[Extent]:
    """Yield a loop of a copy with its extent, or the loops that it is split into."""
    if not axis.is_split or row[0] != axis.thread[0]:
        yield row
        return
    extents = {axis.thread_loop: axis.thread[1], axis.register[0]: axis.register[1]}
    yield from ((part, extents[part]) for part, _ in axis.parts)


def _steps_of(axis: TileAxis) -> dict[str, int]:
    """Return the steps of the loops that a thread of an axis has to itself."""
    return {axis.register[0]: axis.thread[1]} if axis.cyclic else {}


def _lanes_of(tile: ContractionTile, axis: TileAxis) -> tuple[dict[str, int], ...]:
    """Return where each lane of a warp reads a copy along an axis, as `Fragments` has it."""
    lanes, x = ((lane % DEPTH_LANES, lane // DEPTH_LANES) for lane in range(WARP)), tile.x
    distance = column_distance(axis.register[1])
    thread, register, total = axis.thread_loop, axis.register[0], tile.contracted[0]
    if axis == x:
        return tuple({total: q, thread: g // 2, register: distance * (g % 2)} for q, g in lanes)
    return tuple({total: q, thread: g} for q, g in lanes)


def _reasons(found: Contraction, tile: ContractionTile) -> Iterator[Reason]:
    a, b = found.a.access.array, found.b.access.array
    kind = "gemm tile" if tile.x.is_split or tile.y.is_split else "two-level tile"
    kind += " on tensor cores" if tile.by_warps else ""
    yield Reason("strategy", kind, f"a contraction of {a} and {b}; each element is used again")
    loop, size = tile.thread_x
    lines = ": whole lines" if size % LINE == 0 else ""
    yield Reason("thread.x", f"{loop} by {size}", f"contiguous in the output{lines}")
    loop, size = tile.thread_y
    yield Reason("thread.y", f"{loop} by {size}", f"a loop of {b} alone")
    for loop, size in tile.z:
        yield Reason("thread.z", f"{loop} by {size}", "small tiles, several to a block")
    pair = f"{tile.register_x[0]} by {tile.register_x[1]}, {tile.register_y[0]} by "
    rule = f"one loop of {a} alone, one of {b}: an outer product"
    yield Reason("registers", f"{pair}{tile.register_y[1]}", rule)
    for axis in (tile.x, tile.y):
        if axis.is_split:
            rule = "neighbours at once" if axis.cyclic else "neighbours of its own"
            what = f"{axis.thread[0]} {axis.assignment}"
            yield Reason("assignment", what, f"its threads have {rule}")
    loop, size = tile.contracted
    rule = f"steps of {loop} in shared memory at a time"
    staged = [name for name, is_staged in ((a, tile.stage_x), (b, tile.stage_y)) if is_staged]
    if staged:
        yield Reason("staged", ", ".join(staged), f"{size} {rule}")


def free_along_z(unit: Unit, found: Contraction, tile: ContractionTile) -> tuple[str, ...]:
    """Return the loops of the output that the axes x and y of a tile leave, outermost first."""
    own = {loop for axis in (tile.x, tile.y) for loop, _ in axis.block_extents}
    names = unit.loops_around(found.statement)
    return tuple(n for n in names if n not in own and n not in found.contracted)


def taken_name(unit: Unit, tile: ContractionTile) -> str:
    """Return the name of a loop that the tile makes and the region has already, empty for none."""
    made = (*tile.x.made, *tile.y.made, *(tile_name(n) for n, _ in (*tile.z, tile.contracted)))
    return next((n for n in made if n in unit.analysis.region.names), "")


def _element(unit: Unit, access: AccessFacts) -> int:
    return element_bytes(unit.analysis.region.arrays[access.access.array].element)


CYCLIC, ADJACENT = Assignment.CYCLIC, Assignment.ADJACENT
# Outputs per thread along x and y, from those that use each copied element most.
REGISTER_TILES = ((REGISTERS, REGISTERS), (REGISTERS, REGISTERS // 2), (4, 4))

# A loop no longer than this is one tile: 8 threads or less have all of it.
MOST_ALONE = 64
NO_NEED = "both inputs have two loops of their own, and none that splits without a rest"
# Steps of a staged sum written out together: a product of 1024 took 145 us on an H200 one step at a
# time, which waits for each step's loads, and 122 us four at a time.
STEPS_AT_ONCE = 4
# Registers along columns and rows for the tensor cores, so that warps have 32 by 64 outputs, 16 by
# 128, 16 by 64, 32 by 32 and 16 by 32; and their number. With 48 columns some sizes leave fewer
# multiprocessors idle at the end, but for eight warps alone: a product of 1536 took 157 us of an
# H200, with four of 32 by 48 193, of 16 by 96 199, and with eight of these 216.
WARP_TILES = ((16, 4), (32, 2), (16, 2), (8, 4), (8, 2))
WARPS = (4, 8, 2)
TENSOR_TILES = (*product(WARP_TILES, WARPS), ((12, 2), 8))
# Steps of a stage at most.
TENSOR_STEPS = (STAGED, 2 * STAGED, STAGED // 2)
# With no more rows, or columns, a product of a batch is moved rather than multiplied.
SMALL = 32
# Elements of the output are moved in less time than so many products of each are multiplied: 16
# bytes at 4.3 TB/s, 2 flop at 33 TFLOP/s (an H200).
LONG = 64
# A sum that is shorter is over before its copies pay.
LEAST_BY_WARPS = 16
# The tensor cores multiply twice as fast as the vector units; moving takes its time all the same.
MORE_SURPLUS = 1.5
# What costs as much as one product by the tensor cores of an H200, which do 33e12 of them in a
# second: an element of an input that comes from L2, at 6.5 TB/s (6 to 8 measured, 2026-11-22), one
# that a warp loads from shared memory, at 33 TB/s (its preset), and the barrier of a stage, some
# 240 clocks of 128 products (products of 1024 take 49 us with 16 steps of a stage, 46 with 32).
TENSOR_L2_ELEMENT, TENSOR_OPERAND, TENSOR_BARRIER = 40.0, 8.0, 240 * 128.0
# Copies with a condition have some ten instructions each among those of the tensor cores.
TENSOR_CUT = 1.2
# What shared memory does for operands keeps others waiting a little where it is not the bound.
CONTENDED = 1 / 16
# What a warp loads keeps its own instructions waiting where its scheduler has no other: a product
# of 1024 took 51 us of an H200 with one for each, and 49 with two of half as many rows.
TENSOR_ALONE = 0.1
# Stages of a ring of copies for the tensor cores, and the shared memory of a multiprocessor of an
# H200.
RING, SM_SHARED_BYTES = 3, 227 * 1024
# Multiprocessors of an H200, and the parts of one with tensor cores of their own.
SMS, PARTS = 132, 4
# About as many blocks as the largest devices have multiprocessors (an H200: 132, an A100: 108).
ENOUGH_BLOCKS = 108


@asked_once
def gemm(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's choices for a unit, the rules' own first, or why it has none."""
    found = contraction(unit)
    if isinstance(found, str):
        return found
    if min(len(found.x), len(found.y)) > 1:
        every = tuple(exact_tiles(unit, found))
        return choices(unit, found, every) if every else NO_NEED

    def lack(tile: ContractionTile) -> tuple[bool, int]:
        # A device that is not full has all to win from smaller tiles, but for those too small.
        outputs = tile.register_x[1] * tile.register_y[1]
        return outputs < LEAST_OUTPUTS, max(0, ENOUGH_BLOCKS - _blocks(unit, found, tile))

    every = (
        *sorted(gemm_tiles(unit, found), key=lack),
        *further_tiles(unit, found),
    )
    by_warps = tensor_tiles(unit, found)
    lengths = (prod(unit.trips[n] or 1 for n in own) for own in (found.x, found.y))
    is_first = min(lengths) > SMALL and _pays_by_warps(unit, by_warps, every)
    every = (*by_warps, *every) if is_first else (*every, *by_warps)
    taken = next((name for tile in every if (name := taken_name(unit, tile))), "")
    if taken:
        return f"the region uses the name {taken}"
    fitting = choices(unit, found, every)
    if isinstance(fitting, str):
        return fitting
    return tuple(_several_steps(unit, choice) for choice in fitting)


def _several_steps(unit: Unit, choice: Candidate) -> Candidate:
    """Return a choice with some steps of its staged sum written out, where they come out even."""
    assert choice.contract is not None
    if choice.contract.by_warps:
        return choice
    loop, staged = choice.contract.contracted
    if staged % STEPS_AT_ONCE or (unit.trips[loop] or 1) % staged:
        return choice
    unroll = (Unroll(pad.statement, loop, STEPS_AT_ONCE) for pad in choice.of(Pad))
    rule = "the loads of the next step are on their way meanwhile"
    reason = Reason("unroll", f"{loop} by {STEPS_AT_ONCE}", rule)
    return choice.having(*unroll, why=reason)


def _blocks(unit: Unit, found: Contraction, tile: ContractionTile) -> int:
    """Return how many blocks the tiles of a contraction's output make."""
    cut = dict(tile.outputs)
    names = unit.loops_around(found.statement)
    external = (name for name in names if name not in found.contracted)
    return prod(-(-(unit.trips[name] or 1) // cut.get(name, 1)) for name in external)


def gemm_tiles(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield the tiles worth a try, the rules' own first.

    Neighbouring threads have neighbours along x, so that they store whole lines. All threads of a
    half-warp have one place along y, and neighbours of its own cost no thread a bank: two of
    them come by one load.
    """
    for registers, rows, staged, assigned in product(
        REGISTER_TILES, (THREADS_Y, 2 * THREADS_Y), (STAGED, STAGED // 2), (ADJACENT, CYCLIC)
    ):
        yield _split_tile(unit, found, registers, rows, staged, (CYCLIC, assigned))


def tensor_tiles(unit: Unit, found: Contraction) -> tuple[ContractionTile, ...]:
    """Return tiles for the tensor cores, those that should take least time first.

    None where they are no products of doubles, run under a condition, or are short sums.
    """
    loop, assign = found.contracted[0], find_assign(unit.body, found.statement)
    arrays = unit.analysis.region.arrays
    elements = {arrays[one.access.array].element for one in (found.target, found.a, found.b)}
    trip = unit.trips[loop] or 1
    types = unit.analysis.region.types
    if elements != {"double"} or assign.guard is not None or trip < LEAST_BY_WARPS:
        return ()
    if not multiplies_doubles(assign, types):
        return ()
    tiles: list[ContractionTile] = []
    for ((lanes, rows), warps), staged in product(TENSOR_TILES, TENSOR_STEPS):
        x = _fragment_axis(unit, found.x, DEPTH_LANES, lanes)
        y = _fragment_axis(unit, found.y[::-1], ROW_LANES * warps, rows)
        if x is None or y is None:
            continue
        roles = (x.thread, y.thread, x.register, y.register)
        steps = (loop, _whole_steps(trip, staged))
        tile = ContractionTile(*roles, steps, CYCLIC, CYCLIC, by_warps=DEPTH_LANES)
        if staged == STAGED or RING * copied_bytes(unit, found, tile) <= TENSOR_SHARED_BYTES:
            tiles.append(tile)
    found_tiles = sorted(dict.fromkeys(tiles), key=lambda tile: _tensor_cost(unit, found, tile))
    deeper = (replace(t, by_warps=steps) for t in found_tiles[:1] for steps in DEPTHS[1:])
    whole = (tile for tile in deeper if tile.contracted[1] % tile.by_warps == 0)
    return (*found_tiles[:MOST_TILES], *whole)


def _whole_steps(trip: int, most: int) -> int:
    """Return how many steps of a sum to stage: as instructions have them, all or a divisor."""
    if trip <= WHOLE:
        return trip
    even = (n for n in range(most, most // 2, -DEPTH_LANES) if trip % n == 0)
    return next(even, most)


def _tensor_cost(unit: Unit, found: Contraction, tile: ContractionTile) -> float:
    """Return what one product of a tile costs on tensor cores: the model's terms for an H200.

    Moving and multiplying hide each other but for the first tiles. Other blocks of a multiprocessor
    work while one meets at a barrier, and the more of them the less is waited for. Stages that do
    not divide the sum are multiplied with a test in each step.
    """
    blocks = _blocks(unit, found, tile)
    on_one = ceil(blocks / SMS)
    idle = on_one * SMS / blocks * max(1.0, PARTS / (on_one * tile.threads / WARP))
    moved = TENSOR_L2_ELEMENT * (1 / tile.x.length + 1 / tile.y.length)
    columns, rows = tile.register_x[1], tile.register_y[1]
    loaded = TENSOR_OPERAND * (1 / (DEPTH_LANES * columns) + 1 / (ROW_LANES * rows))
    multiplied = max(_surplus(unit, tile) * idle, loaded)
    threads = held_registers(tile, _element(unit, found.target)) * tile.threads
    ring = RING * copied_bytes(unit, found, tile)
    hidden = max(1, min(on_one, SM_REGISTERS // threads, SM_SHARED_BYTES // ring))
    # Of the blocks of a multiprocessor the last ones may be few.
    last = on_one % hidden or hidden
    is_alone = last * tile.threads / WARP < 2 * PARTS
    multiplied += TENSOR_ALONE * loaded * last / on_one if is_alone else 0
    depth = tile.contracted[1]
    trip = unit.trips[tile.contracted[0]] or 1
    awaited = TENSOR_BARRIER / (tile.x.length * tile.y.length * depth * hidden**2)
    first = min(1.0, (RING - 1) * depth / trip) * min(moved, multiplied)
    each = max(moved, multiplied) + awaited + CONTENDED * loaded
    each *= TENSOR_CUT if has_surplus(unit, tile) else 1.0
    return each * (1 + (trip % depth > 0)) + first


def _fragment_axis(
    unit: Unit, loops: Sequence[str], threads: int, registers: int
) -> TileAxis | None:
    """Return one axis of a tile for the tensor cores, None where a loop is much shorter.

    Registers are as many as leave little surplus, an even number along rows and two such numbers
    along columns (`column_distance`).
    """
    trips = [unit.trips[loop] or 1 for loop in loops]
    is_columns = threads == DEPTH_LANES
    if len(loops) > 1:
        # As in a two-level tile: of several loops the nearest ones.
        thread, register = (0, 1) if is_columns else (-2, -1)
        own = trips[register]
    else:
        thread = register = 0
        own = -(-trips[0] // threads)
    if 2 * trips[thread] <= threads:
        return None
    each, unit_of_each = -(-own // -(-own // registers)), FRAGMENT * (1 + is_columns)
    each = -(-each // unit_of_each) * unit_of_each
    return TileAxis((loops[thread], threads), (loops[register], each))


def _pays_by_warps(
    unit: Unit, by_warps: Sequence[ContractionTile], others: Sequence[ContractionTile]
) -> bool:
    """Return whether the tensor cores, twice as fast, do not compute twice the surplus."""
    if not by_warps or not others:
        return bool(by_warps)
    return _surplus(unit, by_warps[0]) <= MORE_SURPLUS * _surplus(unit, others[0])


def _surplus(unit: Unit, tile: ContractionTile) -> float:
    """Return how many outputs the blocks compute for one that there is."""
    trips = {loop: unit.trips[loop] or 1 for loop, _ in tile.outputs}
    return prod(ceil(trips[loop] / size) * size / trips[loop] for loop, size in tile.outputs)


def exact_tiles(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield tiles of a contraction with two loops in each input that one loop of y fills alone.

    Pieces of 8 do not divide a loop of 20 or 28, and one of two such loops is cut short in both
    ways. Split in its divisors, 4 threads with 7 of 28 each, one of them leaves no surplus.
    """
    (x, deep), y = found.x[:2], found.y[0]
    trips = {loop: unit.trips[loop] or 1 for loop in (x, deep, y, found.contracted[0])}
    if trips[y] % REGISTERS == 0 or trips[y] > MOST_ALONE:
        return
    lanes = trips[x] if LINE < trips[x] <= 2 * LINE else min(LINE, trips[x])
    step = (found.contracted[0], staged_steps(trips[found.contracted[0]], STAGED))
    for each in sorted(_pieces(trips[y]), reverse=True):
        held = max(_pieces(trips[deep]), default=even_length(trips[deep], REGISTERS))
        rows = trips[y] // each
        for assigned in (ADJACENT, CYCLIC):
            tile = ContractionTile((x, lanes), (y, rows), (deep, held), (y, each), step)
            if not taken_name(unit, tile):
                yield replace(tile, assign_y=assigned)


def _pieces(trip: int) -> tuple[int, ...]:
    """Return the lengths that fill a loop exactly, of those that registers have room for."""
    return tuple(each for each in range(4, REGISTERS + 1) if trip % each == 0)


def further_tiles(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield tiles adjacent along both axes, and with one input read where it is."""
    best = (REGISTERS, REGISTERS // 2)
    yield _split_tile(unit, found, (2, REGISTERS), THREADS_Y, STAGED, (ADJACENT, ADJACENT))
    for staged_inputs in ((True, False), (False, True)):
        yield _split_tile(unit, found, best, THREADS_Y, STAGED, (CYCLIC, ADJACENT), staged_inputs)


def _split_tile(
    unit: Unit,
    found: Contraction,
    registers: tuple[int, int],
    rows: int,
    staged: int,
    assigned: tuple[Assignment, Assignment],
    inputs: tuple[bool, bool] = (True, True),
) -> ContractionTile:
    x = _axis(unit, found.x, LINE, registers[0], assigned[0])
    # A short line leaves room for more rows, so that the block has its warps all the same.
    rows = 2 * THREADS_Y if x.thread[1] < LINE else rows
    y = _axis(unit, found.y[::-1], rows, registers[1], assigned[1])
    loop = found.contracted[0]
    steps = staged_steps(unit.trips[loop] or 1, staged)
    return ContractionTile(
        x.thread, y.thread, x.register, y.register, (loop, steps), *assigned, *inputs
    )


def _axis(
    unit: Unit, loops: Sequence[str], threads: int, registers: int, assigned: Assignment
) -> TileAxis:
    """Return what one axis of a tile makes of an input's loops; a single one is split."""
    trips = [unit.trips[loop] or 1 for loop in loops]
    if len(loops) > 1:
        # As in a two-level tile: of several loops the nearest ones.
        thread, register = (0, 1) if threads == LINE else (-2, -1)
        size = min(threads, trips[thread])
        return TileAxis(
            (loops[thread], size),
            (loops[register], even_length(trips[register], registers)),
            assigned,
        )
    size = min(threads, trips[0])
    each = even_length(-(-trips[0] // size), registers)
    return TileAxis((loops[0], size), (loops[0], each), assigned)


# Lengths of a tile in registers and of the rows of threads, tried where the usual 8 leave surplus.
REGISTER_LENGTHS = range(4, 11)
ROWS = range(4, 17)
# Outputs of a thread at most: each takes two registers of at most 255.
MOST_OUTPUTS = 64
# What costs as much as one multiplication of two doubles, added: the unit of `cost`. An H200
# does 33.5e12 of them in a second, reads half as many operands from shared memory when
# neighbours share them, brings 5.5 TB/s from L2 and 4.3 TB/s from memory (its preset).
OPERAND = 1.0
L2_ELEMENT = 48.0
OUTPUT = 124.0
OUTPUT_L2 = 97.0
# Registers that ptxas takes beyond those a tile needs, where nothing holds it back (measured
# for sm_90: 128 for 114, 138 for 116, 152 for 134, 191 for 168).
SPARE_REGISTERS = 24
# Points of the space beside the usual tiles, at most.
MOST_TILES = 8
# Among tiles that cost as much but for this share the first is the one that has the most outputs
# in registers and no surplus of them. Those count less where the threads along x have two loops as
# one that are no neighbours in the output, and store parts of its rows (measured at 24 for each
# extent on an H200: sd_t_d1_3 921 us, with 8 by 8 outputs, and 813 with 6 by 8 and rows as they
# are; sd_t_d1_1, whose rows are neighbours, 862 and 832).
NEAR, SCATTERED = 0.04, 0.7
# The usual tile is kept unless another one is better by this share.
GAIN = 0.05


@dataclass(frozen=True)
class _CostedTile:
    """A tile of a unit, some of whose loops may run as one, and its cost.

    It `is_scattered` where those that do are no neighbours in the output.
    """

    cost: float
    is_scattered: bool
    merges: tuple[tuple[str, ...], ...]
    unit: Unit
    found: Contraction
    tile: ContractionTile

    @property
    def whole_outputs(self) -> int:
        """Return the outputs of a thread, 0 where registers hold some that are none."""
        held = (self.tile.register_x, self.tile.register_y)
        whole = all((self.unit.trips[loop] or 1) % size == 0 for loop, size in held)
        return prod(size for _, size in held) if whole else 0

    @property
    def rank(self) -> float:
        """Return how good the tile is among those that cost about as much."""
        return self.whole_outputs * (SCATTERED if self.is_scattered else 1)

    def choice(self) -> Candidate:
        """Return the choice that carries the tile out."""
        made = choose_tile(self.unit, self.found, self.tile)
        reasons = (*made.reasons, *map(_reason, self.merges))
        return replace(as_merged(made, self.merges), reasons=reasons)


@asked_once
def two_level(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices of the two-level tile, those with little surplus first.

    Long sums are for the tensor cores, where elements of the output are few beside products.
    """
    usual = _on_vectors(unit)
    found = contraction(unit)
    if isinstance(usual, str) or isinstance(found, str):
        return usual
    own = usual[0].contract
    products = prod(unit.trips[n] or 1 for n in found.contracted)
    if own is None or products < LONG:
        return usual
    tiles = tensor_tiles(unit, found)
    by_warps = choices(unit, found, tiles)
    if isinstance(by_warps, str):
        return usual
    surplus = _surplus(with_merged(unit, usual[0].merges), own)
    is_first = bool(tiles) and _surplus(unit, tiles[0]) <= MORE_SURPLUS * surplus
    return (*by_warps, *usual) if is_first else (*usual, *by_warps)


def _on_vectors(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices of the two-level tile on the vector units."""
    usual = usual_tiles(unit)
    if isinstance(usual, str):
        return usual
    first = usual[0].contract
    assert first is not None
    if not has_surplus(unit, first):
        return usual
    every = sorted(_candidates(unit), key=lambda one: one.cost)
    least = every[0].cost if every else inf
    every.sort(key=lambda one: -one.rank if one.cost < (1 + NEAR) * least else 0)
    # Loops that run as one do so a fixed number of times.
    general = usual[0].general or usual[0]
    better = [replace(one.choice(), general=general) for one in every[:MOST_TILES]]
    if least > (1 - GAIN) * cost(unit, first):
        return (*usual, *better)
    return (*better, *usual)


def general_tile(unit: Unit) -> Candidate | None:
    """Return the choice for sizes that are not the tuned ones, None where there is none."""
    found = usual_tiles(unit)
    return None if isinstance(found, str) else found[0].general or found[0]


def has_surplus(unit: Unit, tile: ContractionTile) -> bool:
    """Return whether a tile ends inside one of the loops of the output."""
    return any((unit.trips[loop] or 1) % size for loop, size in tile.outputs)


def cost(unit: Unit, tile: ContractionTile, element_bytes: int = 8) -> float:
    """Return what one product of a tile costs: the model's terms at the rates of an H200.

    Moving and multiplying hide each other but for one part in as many as there are blocks on an
    SM; multiplications, operands and inputs count for surplus too.
    """
    rows, columns = tile.register_x[1], tile.register_y[1]
    trips = {loop: trip or 1 for loop, trip in unit.trips.items()}
    surplus = prod(ceil(trips[loop] / size) * size / trips[loop] for loop, size in tile.outputs)
    warps = ceil(tile.threads / WARP)
    idle = warps * WARP / tile.threads
    multiplied = surplus * idle * (1 + OPERAND * (rows + columns) / (rows * columns))
    sides = 1 / (tile.thread_x[1] * rows) + 1 / (tile.thread_y[1] * columns)
    summed = trips[tile.contracted[0]]
    moved = max(OUTPUT / summed, OUTPUT_L2 / summed + surplus * L2_ELEMENT * sides)
    room = SM_REGISTERS // (held_registers(tile, element_bytes) + SPARE_REGISTERS)
    resident = max(1, min(room, SM_THREADS) // (warps * WARP))
    hidden = min(resident, SM_BLOCKS)
    return max(moved, multiplied) + min(moved, multiplied) / hidden


def _candidates(unit: Unit) -> Iterator[_CostedTile]:
    """Yield the tiles worth a try, with loops as they are and with two of them as one."""
    as_written = contraction(unit)
    if isinstance(as_written, str):
        return
    for merges in ((), *flattenings(unit)):
        is_scattered = not all(follow(as_written.target, pair, unit.trips) for pair in merges)
        own = with_merged(unit, merges)
        found = contraction(own)
        if isinstance(found, str):
            continue
        for tile in _with_little_surplus(own, found):
            yield _CostedTile(cost(own, tile), is_scattered, merges, own, found, tile)


def flattenings(unit: Unit) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield the loops that may run as one to fill lines of threads, outermost first."""
    found = contraction(unit)
    if isinstance(found, str) or len(found.x) < 3:
        return
    along, *others = found.x
    if (unit.trips[along] or 1) % LINE == 0:
        return
    # Best a loop that is next in the output too, else one that is next in its input.
    best = sorted(
        others,
        key=lambda n: (
            not follow(found.target, (n, along), unit.trips),
            not follow(found.a, (n, along), unit.trips),
        ),
    )
    pair = (best[0], along)
    region, name = unit.analysis.region, merged_name(pair)
    taken = {*region.names, *(loop.var for loop in unit.band)}
    if name not in taken and not name_is_taken(name, unit.analysis):
        yield (pair,)


def _with_little_surplus(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield tiles of many lengths that fit a block and have few outputs too many."""

    def trip(loop: str) -> int:
        return unit.trips[loop] or 1

    x, y, deep, wide = found.x[0], found.y[1], found.x[1], found.y[0]
    lanes = [n for n in (LINE, trip(x)) if LINE <= n <= 2 * LINE and n <= trip(x)]
    step = staged_steps(trip(found.contracted[0]), WHOLE)
    for lane, row, a, b in product(
        dict.fromkeys(lanes),
        _lengths(trip(y), ROWS),
        *(_lengths(trip(n), REGISTER_LENGTHS) for n in (deep, wide)),
    ):
        if a * b > MOST_OUTPUTS:
            continue
        tile = ContractionTile(
            (x, lane), (y, row), (deep, a), (wide, b), (found.contracted[0], step)
        )
        if fits(unit, found, tile) and has_own_sums(unit, found, tile):
            yield tile


def _lengths(trip: int, lengths: range) -> list[int]:
    """Return the lengths of tiles worth a try: none longer than the loop is."""
    return sorted({min(trip, n) for n in lengths})


def _reason(loops: tuple[str, ...]) -> Reason:
    listed = f"{', '.join(loops)} as {merged_name(loops)}"
    return Reason("merged", listed, f"{LINE} does not divide the iterations of {loops[-1]}")


def wished(unit: Unit, wish: Contract, by_warps: int = 0) -> Candidate | str:
    """Return the choice for a tile that somebody asks for, or in words why it cannot be.

    The tensor cores multiply it `by_warps` steps of the sum at a time, 0 where they do not.
    """
    found = contraction(unit)
    if isinstance(found, str):
        return found
    tile = _as_wished(found, wish)
    if isinstance(tile, str):
        return tile
    tile = replace(tile, by_warps=by_warps)
    roles = (
        ((tile.thread_x, tile.register_x), found.x, found.a),
        ((tile.thread_y, tile.register_y), found.y, found.b),
    )
    for pair, loops, access in roles:
        names = [loop for loop, _ in pair if loop]
        if len(names) < 2 or not set(names) <= set(loops):
            own = " and ".join(names) or "none"
            return f"{own}: not two of the loops of {access.access.array} alone, {_list(loops)}"
    if not has_own_sums(unit, found, tile):
        return f"each iteration of {unit.band[-1].var} has a sum, so it must be in registers"
    taken = taken_name(unit, tile)
    if taken:
        return f"the region uses the name {taken}"
    if tile.contracted[0] not in found.contracted:
        return f"{tile.contracted[0]} is none of the summed loops: {_list(found.contracted)}"
    for loop, size in tile.z:
        if loop not in free_along_z(unit, found, tile):
            return f"{loop}: no loop of the output beside those of the tile"
        if size > MAX_ALONG_Z:
            return f"a block would have {size} threads along z, more than {MAX_ALONG_Z}"
    if tile.threads > MAX_THREADS:
        return f"a block would have {tile.threads} threads, more than {MAX_THREADS}"
    most = _most_shared(tile)
    if copied_bytes(unit, found, tile) > most:
        return f"the copies need more than {most // 1024} KiB of shared memory"
    return choose_tile(unit, found, tile)


def _as_wished(found: Contraction, wish: Contract) -> ContractionTile | str:
    """Return the tile that is asked for, or what of it is no input of the statement and no word.

    A role without a loop has an empty name.
    """
    wrong = next((word for word in wish.assign if word not in list(Assignment)), "")
    if wrong:
        return f"'{wrong}' is no assignment: {_list(tuple(Assignment))}"
    inputs = (found.a.access.array, found.b.access.array)
    staged = inputs if wish.stage is None else wish.stage
    other = next((name for name in staged if name not in inputs), "")
    if other:
        return f"{other} is no input of the statement: {_list(inputs)}"
    thread, register = (*wish.thread, "", "", "")[:3], (*wish.register, "", "")
    tile = ContractionTile(
        (thread[0], wish.thread_x),
        (thread[1], wish.thread_y),
        (register[0], wish.register_x),
        (register[1], wish.register_y),
        (wish.sum, wish.step),
        stage_x=inputs[0] in staged,
        stage_y=inputs[1] in staged,
        thread_z=(thread[2], wish.thread_z) if thread[2] else NO_AXIS,
    )
    usual = (tile.assign_x, tile.assign_y)
    assigned = (*map(Assignment, wish.assign), *usual[len(wish.assign) :])
    return replace(tile, assign_x=assigned[0], assign_y=assigned[1])


def _list(loops: Sequence[str]) -> str:
    return ", ".join(loops)
