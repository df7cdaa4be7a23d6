"""The `two-level` strategy: a tile of the output per block, a part of it in a thread's registers.

Sources: J. Kim et al., "A Code Generator for High-Performance Tensor Contractions on GPUs", CGO
2019, section 3 (the roles of the loops); "Optimizing Tensor Contractions in CCSD(T) for Efficient
Execution on GPUs", ICS 2018, section 4 (staged inputs, outer products in registers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from annotune.analysis.facts import AccessFacts
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access, Binary, Expr, Int, Negate, Real, Var
from annotune.ir.nest import Assign
from annotune.model.traffic import SHARED_BYTES
from annotune.schedule.apart import Apart, apart_blocks, statements_apart
from annotune.schedule.candidate import (
    Candidate,
    ContractionTile,
    Extent,
    Reason,
    TileAxis,
    held_registers,
)
from annotune.schedule.units import Unit
from annotune.strategies.copy_layout import copy_layout
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Deal, Tile, name_is_taken, tile_name
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Schedule
from annotune.transforms.tree import bound_names, find_assign, target_name

# Sixteen doubles are one line of 128 bytes, which a half-warp then stores at once.
LINE = 16
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
# 32-bit registers that the threads of a block have together (CUDA C++ Programming Guide).
REGISTERS_PER_BLOCK = 64 * 1024
# A tile's surplus above this share of it is worth a shorter tile.
SURPLUS = 0.2
# With fewer outputs in a thread, or fewer products for each, staging does not pay.
LEAST_OUTPUTS = 16
LEAST_PRODUCTS = 4


@dataclass(frozen=True)
class Contraction:
    """A statement ``C += A * B`` and its loops: x are those of A alone, y those of B alone.

    It may add to a private scalar that another statement stores in C; `apart` then takes it out of
    the loops that they share.

    A has the output's contiguous loop, which `x` begins with. The loops of `x` and `y` are in the
    order of their strides in their input, those of `contracted` as they should be staged.
    """

    statement: int
    target: AccessFacts
    a: AccessFacts
    b: AccessFacts
    x: tuple[str, ...]
    y: tuple[str, ...]
    contracted: tuple[str, ...]
    apart: Apart | None = None


def contraction(unit: Unit) -> Contraction | str:
    """Return the contraction that a unit is, or in words why it is none with a two-level tile."""
    if unit.host or not unit.parallel:
        return "a serial loop is around the parallel ones, or there are none"
    apart = _product_apart(unit) if len(unit.statements) > 1 else None
    if len(unit.statements) > 1 and apart is None:
        return f"the kernel has {len(unit.statements)} statements"
    statement = unit.leader if apart is None else apart.statement
    inputs = _factors(find_assign(unit.body, statement))
    if inputs is None:
        return "the statement does not accumulate a product of two array elements"
    loops = (*unit.band, *(() if apart is None else apart.own))
    names = unit.loops_around(statement)
    if names != tuple(loop.var for loop in loops):
        return "the loops are no perfect nest"
    inner = set(names)
    if any(bound_names(loop) & inner or unit.count(loop) is None for loop in loops):
        return "the bounds of a loop use another loop"
    if any(loop.step != 1 for loop in loops):
        return "a loop has a step"
    taken = next((n for n in names if name_is_taken(n, unit.analysis)), "")
    if taken:
        return f"the region uses the name {tile_name(taken)}"
    facts = unit.analysis.accesses[statement]
    target = next((f for f in facts if f.is_write), None) if apart is None else apart.output
    if target is None:
        return "the statement sums up into a scalar"
    found = [next(f for f in facts if f.access == a) for a in inputs]
    written = {f.access.array for f in unit.writes}
    if any(f.access.array in written for f in found):
        return "an input is written as well"
    made = _by_role(unit, statement, target, found, names)
    return made if isinstance(made, str) else replace(made, apart=apart)


def _product_apart(unit: Unit) -> Apart | None:
    """Return how the one statement with a loop of its own leaves a nest, None if it cannot."""
    analysis, body = unit.analysis, unit.body
    every = statements_apart(analysis, body, unit.statements, unit.host).values()
    found = [one for one in every if _factors(find_assign(body, one.statement)) is not None]
    if len(found) != 1 or isinstance(found[0].target, Access):
        return None
    (apart,) = found
    return apart if apart.beside | {apart.statement} == set(unit.statements) else None


def _by_role(
    unit: Unit,
    statement: int,
    target: AccessFacts,
    inputs: Sequence[AccessFacts],
    names: tuple[str, ...],
) -> Contraction | str:
    external = [n for n in names if target.strides.get(n, 0) != 0]
    contracted = [n for n in names if n not in external]
    if not external:
        return "no loop picks the output"
    if not set(external) <= set(unit.parallel) or not contracted:
        return "the loops of the output are not all parallel, or no other loop is left"
    along = min(external, key=lambda n: _stride(target, n))
    owners = [f for f in inputs if f.strides.get(along) != 0]
    if len(owners) != 1:
        return f"the output's contiguous loop {along} is not in exactly one input"
    a = owners[0]
    b = next(f for f in inputs if f is not a)
    if any(f.strides.get(n) == 0 for f in inputs for n in contracted):
        return "a summed loop is in one input alone"
    # A loop in both inputs, or in none, picks the block.
    own = [n for n in external if b.strides.get(n) == 0 != a.strides.get(n) and n != along]
    x = (along, *sorted(own, key=lambda n: _stride(a, n)))
    other = [n for n in external if a.strides.get(n) == 0 != b.strides.get(n)]
    y = sorted(other, key=lambda n: _stride(b, n))
    if not y:
        return f"{b.access.array} has no loop of its own"
    # What is contiguous in an input is staged by neighbouring threads.
    inner = sorted(contracted, key=lambda n: min(_stride(a, n), _stride(b, n)))
    return Contraction(statement, target, a, b, x, tuple(y), tuple(inner))


def usual_tiles(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's choices for a unit, the rules' own first, or why it has none."""
    found = contraction(unit)
    if isinstance(found, str):
        return found
    if min(len(found.x), len(found.y)) < 2:
        return "an input has fewer than two loops of its own"
    return choices(unit, found, tuple(tiles(unit, found)))


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
    return found.apart is None or unit.band[-1].var in registers


def tiles(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield the tiles worth a try, the rules' own first."""
    along = unit.trips[found.x[0]] or 1
    lanes = (LINE, along) if LINE < along <= 2 * LINE else (LINE,)
    registers = ((REGISTERS, REGISTERS), (REGISTERS, REGISTERS // 2), (4, 4))
    for pair, rows, staged, lane in product(
        registers, (THREADS_Y, 2 * THREADS_Y), (WHOLE, STAGED, STAGED // 2), lanes
    ):
        yield _tile(unit, found, pair, (lane, rows), staged)


def _tile(
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
    room = REGISTERS_PER_BLOCK // tile.threads
    return copied_bytes(unit, found, tile) <= SHARED_BYTES and registers <= room


def copied_bytes(unit: Unit, found: Contraction, tile: ContractionTile) -> int:
    """Return about what the copies of the inputs take of shared memory."""
    depth = tile.contracted[1]
    a = (tile.x.length + 1) * depth * _element(unit, found.a)
    b = (tile.y.length + tile.register_y[1]) * depth * _element(unit, found.b)
    return a * tile.stage_x + b * tile.stage_y


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
    """Return the choice that carries a tile out, with fewer outputs per thread at other sizes."""
    x, y = tile.register_x, tile.register_y
    smaller = replace(
        tile,
        register_x=(x[0], min(x[1], OPEN_REGISTERS)),
        register_y=(y[0], min(y[1], OPEN_REGISTERS)),
    )
    choice = _carried_out(unit, found, tile)
    if smaller == tile:
        return choice
    return replace(choice, elsewhere=_carried_out(unit, found, smaller))


def _carried_out(unit: Unit, found: Contraction, tile: ContractionTile) -> Candidate:
    """Return the choice that carries a tile out."""
    own = {loop: axis for axis in (tile.x, tile.y) for loop, _ in axis.block_extents}
    external = sorted(
        (n for n in unit.loops_around(found.statement) if n not in found.contracted),
        key=lambda n: _stride(found.target, n),
    )
    blocks = tuple(own[n].block_loop(n) if n in own else n for n in external)
    threads = (tile.x.thread_loop, tile.y.thread_loop)
    inner = tile.contracted[0]
    summed = (*(n for n in found.contracted if n != inner), tile_name(inner))
    # The loop that a private sum belongs to stays innermost of those that pick its element.
    last = unit.band[-1].var
    picking = (tile.register_x[0], tile.register_y[0])
    if found.apart is not None:
        picking = (picking[1], picking[0]) if picking[0] == last else picking
    order = (*blocks, *threads, *summed, inner, *picking)
    tiles, deals = (*tile.x.tiles, *tile.y.tiles, tile.contracted), (*tile.x.deals, *tile.y.deals)
    number, apart = found.statement, found.apart
    if apart is None:
        shaping: Schedule = (
            *(Tile(number, loop, size) for loop, size in tiles),
            *(Deal(number, loop, workers) for loop, workers in deals),
            Permute(number, order),
        )
    else:
        shaping = apart_blocks(unit.analysis, apart, tiles, order, summed[0], deals)
    # What leaves a nest as an array is not held once more.
    is_in_array = apart is not None and isinstance(apart.target, Var)
    steps: Schedule = (
        *shaping,
        *_copies(unit, found, tile),
        *(() if is_in_array else (Hold(number, summed[0]),)),
        Pad(number, (*threads, tile.register_x[0], tile.register_y[0])),
    )
    made = Candidate.of_axes(
        unit.parts, *steps, blocks=blocks, threads=threads, reasons=tuple(_reasons(found, tile))
    )
    return replace(made, contract=tile)


def _copies(unit: Unit, found: Contraction, tile: ContractionTile) -> Iterator[Stage]:
    """Yield how the inputs are staged: filled in their own order, read without bank conflicts."""
    inputs = ((found.a, tile.x, tile.stage_x), (found.b, tile.y, tile.stage_y))
    for access, axis, is_staged in inputs:
        if not is_staged:
            continue
        # Neighbouring threads read neighbours; one step of the sum is one row of the copy.
        rows: tuple[Extent, ...] = (*axis.block_extents, tile.contracted)
        order = sorted(rows, key=lambda row: -_stride(access, row[0]))
        # Pairs of neighbours of one thread come by one load where every row starts at a pair.
        unit_of_rows = 2 if axis.is_split and not axis.deals else 1
        layout = copy_layout(rows, tuple(order), _element(unit, access), unit_of_rows)
        whole = (part for row in layout for part in _in_parts(row, axis))
        yield Stage(found.statement, access.access.array, tile.contracted[0], tuple(whole))


def _in_parts(row: Extent, axis: TileAxis) -> Iterator[Extent]:
    """Yield a loop of a layout with its distance, or the loops that it is split into."""
    loop, distance = row
    if not axis.is_split or loop != axis.thread[0]:
        yield row
        return
    yield from ((part, distance * steps) for part, steps in axis.parts)


def _reasons(found: Contraction, tile: ContractionTile) -> Iterator[Reason]:
    a, b = found.a.access.array, found.b.access.array
    kind = "gemm tile" if tile.x.is_split or tile.y.is_split else "two-level tile"
    yield Reason("strategy", kind, f"a contraction of {a} and {b}; each element is used again")
    loop, size = tile.thread_x
    lines = ": whole lines" if size % LINE == 0 else ""
    yield Reason("thread.x", f"{loop} by {size}", f"contiguous in the output{lines}")
    loop, size = tile.thread_y
    yield Reason("thread.y", f"{loop} by {size}", f"a loop of {b} alone")
    pair = f"{tile.register_x[0]} by {tile.register_x[1]}, {tile.register_y[0]} by "
    rule = f"one loop of {a} alone, one of {b}: an outer product"
    yield Reason("registers", f"{pair}{tile.register_y[1]}", rule)
    for axis in (tile.x, tile.y):
        if axis.is_split:
            rule = "neighbours at once" if axis.deals else "neighbours of its own"
            what = f"{axis.thread[0]} {axis.assignment}"
            yield Reason("assignment", what, f"its threads have {rule}")
    loop, size = tile.contracted
    rule = f"steps of {loop} in shared memory at a time"
    staged = [name for name, is_staged in ((a, tile.stage_x), (b, tile.stage_y)) if is_staged]
    if staged:
        yield Reason("staged", ", ".join(staged), f"{size} {rule}")


def taken_name(unit: Unit, tile: ContractionTile) -> str:
    """Return the name of a loop that the tile makes and the region has already, empty for none."""
    made = (*tile.x.made, *tile.y.made, tile_name(tile.contracted[0]))
    return next((n for n in made if n in unit.analysis.region.names), "")


def _factors(assign: Assign) -> tuple[Access, Access] | None:
    """Return the two elements that a statement multiplies, None when it does something else."""
    if assign.op not in ("+=", "-=") or assign.guard is not None:
        return None
    factors = list(_product(assign.value))
    if any(f is None for f in factors):
        return None
    elements = [f for f in factors if isinstance(f, Access)]
    if len(elements) != 2 or len({target_name(assign), *(e.array for e in elements)}) != 3:
        return None
    return elements[0], elements[1]


def _product(expr: Expr) -> Iterator[Expr | None]:
    """Yield the factors of a product, None for what is no factor of one."""
    match expr:
        case Binary("*", left, right):
            yield from _product(left)
            yield from _product(right)
        case Negate(operand):
            yield from _product(operand)
        case Access() | Real() | Int() | Var():
            yield expr
        case _:
            yield None


def _stride(access: AccessFacts, loop: str) -> int:
    """Return the distance of neighbours along a loop, one not known as the longest there is."""
    stride = access.strides.get(loop)
    return 1 << 62 if stride is None else abs(stride)


def _element(unit: Unit, access: AccessFacts) -> int:
    return element_bytes(unit.analysis.region.arrays[access.access.array].element)
