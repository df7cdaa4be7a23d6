"""The `batched` strategy: many small products, several of them to a block.

A block has several iterations of an outer loop at once, threads along z for each. The small
matrices of a block lie one behind the other, so that its threads copy them into shared memory in
full lines however short their rows are, and each thread has a few outputs in registers.

Source: A. Abdelfattah et al., "High-Performance Tensor Contractions for GPUs", ICCS 2016,
doi:10.1016/j.procs.2016.05.302, section 4 (several small products to a block, each in registers and
shared memory).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import ceil, prod

from annotune.ir.c_types import WORD
from annotune.model.shape import moves, shape, traffic
from annotune.schedule.candidate import (
    NO_AXIS,
    Assignment,
    Candidate,
    ContractionTile,
    held_registers,
)
from annotune.schedule.launch_sizes import MAX_ALONG_Z, SM_BLOCKS, SM_REGISTERS, SM_THREADS, WARP
from annotune.schedule.units import Unit
from annotune.strategies.direct import choose
from annotune.strategies.gpu_tile import (
    ENOUGH_BLOCKS,
    SPARE_REGISTERS,
    WHOLE,
    choose_tile,
    copied_bytes,
    even_length,
    fits,
    free_along_z,
    has_own_sums,
    taken_name,
)
from annotune.strategies.movements import REGISTER_UNIT, moved, over, usual
from annotune.strategies.nests import Contraction, contraction, stride
from annotune.transforms.cache import Resident
from annotune.transforms.transform import asked_once

# Longer loops fill blocks with tiles of a single product.
SMALL = 32
# Outputs of a thread along a loop, and in all, at most.
ALONG, OUTPUTS = 8, 8
# Neighbouring doubles that make a sector of 32 bytes, the least that a store moves (CUDA C++ Best
# Practices Guide, Coalesced Access).
SECTOR = 4
# What an operand from shared memory costs beside an element from L2: an H200 moves 33 and 5.5 TB/s
# (its preset).
OPERAND = 1 / 6
# Threads of a block, and bytes of its copies: blocks enough on a multiprocessor that some of them
# copy while others multiply (an H200 has 227 KiB of shared memory for 32 blocks).
THREADS = 128
COPIED_BYTES = 32 * 1024
# Blocks of so many threads copy and multiply at more different times than larger ones.
FEW_THREADS = 64
# The same for further points of the space, and outputs of a thread along x and y.
OTHER_THREADS = (32, 256)
FEW_OUTPUTS = 8
OTHER_REGISTERS = ((2, 2), (2, 4), (4, 4), (8, 4))
# What an output in registers costs beside that, for they leave room for fewer threads: of 100,000
# products of 16 on an H200, 2 x 4 and 2 x 2 of a thread take 192 us, 4 x 4 215 and 8 x 4 261; of
# 32, 2 x 4 take 739, 2 x 2 816, 4 x 4 834 and 8 x 4 874. And what conditions at the ends of cut
# tiles cost, as a share of all else (an assumption).
REGISTER = 0.15
CUT = 0.25
# A cache gives a thread for each output what its warps ask for, up to so many times what is there:
# 100,000 products took 68 us at 8, where that is 1.8, 277 at 16 (3.7) and 1975 at 32 (11.3) on an
# H200, of which memory alone takes 48, 190 and 762; the tile with 2 x 2 outputs takes 54 at 8.
MORE_ASKED = 1.5
# Registers of a thread beside those of its outputs, in further points: 64 in all do for 16 by 16.
LESS_SPARE = 8


@asked_once
def batched(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return tiles of several small products to a block, the rules' own first, or why none."""
    found = contraction(unit)
    if isinstance(found, str):
        return found
    x, y = found.x[0], min(found.y, key=lambda loop: stride(found.target, loop))
    long = next((n for n in (x, y) if (unit.trips[n] or SMALL + 1) > SMALL), "")
    if long:
        return f"{long} has more than {SMALL} iterations, or none that are known"
    every = tuple(dict.fromkeys(_tiles(unit, found, x, y)))
    if not every:
        return f"no loop beside {y} and {x} makes {ENOUGH_BLOCKS} blocks of several products"
    taken = next((name for tile in every if (name := taken_name(unit, tile))), "")
    if taken:
        return f"the region uses the name {taken}"
    every = tuple(tile for tile in every if has_own_sums(unit, found, tile))
    if not every:
        return f"{unit.band[-1].var}, each iteration of which has a sum, is not in registers"
    choices = [choose_tile(unit, found, tile) for tile in every]
    first, *others = (_resident(unit, choice, SPARE_REGISTERS) for choice in choices)
    fuller = (_resident(unit, choice, LESS_SPARE) for choice in choices[:2])
    # The first tile alone comes with its data moved in every other way, too.
    return (first, *fuller, *others, choices[0])


def _resident(unit: Unit, choice: Candidate, spare: int) -> Candidate:
    """Return a choice with as many blocks on a multiprocessor as its outputs leave registers for.

    The compiler takes more for the addresses of unrolled copies (104 in place of 64 for 8 by 8
    matrices, nvcc 13.5 for sm_90), and half of the blocks have no place. `spare` are the registers
    beside those of outputs and operands.
    """
    made, tile = usual(unit, choice), choice.contract
    assert tile is not None
    registers = -(-(held_registers(tile, WORD) + spare) // REGISTER_UNIT) * REGISTER_UNIT
    # A quarter of a multiprocessor holds whole warps.
    warps = 4 * (SM_REGISTERS // 4 // (registers * WARP))
    blocks = min(warps // ceil(tile.threads / WARP), SM_BLOCKS, SM_THREADS // tile.threads)
    asked = (Resident(choice.leader, blocks),)
    found = moved(unit, made, over(asked, made.moves, choice.leader))
    if blocks < 2 or isinstance(found, str):
        return made
    # Strides that arrive at run time take registers of their own.
    return replace(found, general=found.general or made)


def why_batched_later(unit: Unit, first: Candidate) -> str:
    """Return why a batch waits: products that share an operand find it in a cache as it is."""
    if unit.analysis.region.spec.wishes:
        return "a transformation gives hints for the launch"
    found, tile = contraction(unit), first.contract
    if isinstance(found, str) or tile is None:
        return ""
    inputs = (found.a, found.b)
    if any(all(moves(f, n) for f in inputs) for n in free_along_z(unit, found, tile)):
        return _why_cached(unit)
    shared = next(f.access.array for f in inputs if not moves(f, _along(unit, found, tile)))
    return f"all products have the same {shared}"


def _why_cached(unit: Unit) -> str:
    """Return why a thread for each output does as well, empty where it does not.

    It does where the cache is not asked too often, and the blocks leave few lanes idle.
    """
    alone = choose(unit)
    asked = traffic(unit, alone)
    if asked.requested >= MORE_ASKED * asked.fetched or 2 * shape(unit, alone).threads <= WARP:
        return ""
    times = f"{asked.requested / asked.fetched:.1f} times"
    return f"a thread for each output asks the cache for all that is there {times} alone"


def _tiles(unit: Unit, found: Contraction, x: str, y: str) -> Iterator[ContractionTile]:
    """Yield the tiles that fit, the rules' own first."""
    trips = (unit.trips[x] or 1, unit.trips[y] or 1)
    own = _registers(trips, unit.trips[found.contracted[0]] or 1)
    tried = [(own, THREADS), *((own, n) for n in OTHER_THREADS)]
    tried += [(pair, THREADS) for pair in OTHER_REGISTERS]
    every = [_tile(unit, found, (x, y), pair, threads) for pair, threads in tried]
    fitting = [tile for tile in every if tile is not None and fits(unit, found, tile)]
    yield from fitting
    # Read where they are, no thread waits for others.
    for tile in fitting:
        if tile.register_x[1] * tile.register_y[1] <= FEW_OUTPUTS:
            yield replace(tile, stage_x=False, stage_y=False)


def _registers(trips: tuple[int, int], summed: int) -> tuple[int, int]:
    """Return how many outputs a thread should have along x and y, those that cost least.

    An output is loaded and stored, and each of its products takes its share of the operands that a
    thread loads from shared memory.
    """

    def cost(each: tuple[int, int]) -> float:
        lanes = ceil(trips[0] / each[0])
        filled = lanes / (ceil(lanes / SECTOR) * SECTOR)
        surplus = prod(ceil(n / own) * own / n for n, own in zip(trips, each, strict=True))
        is_cut = surplus > 1
        operands = summed * (1 / each[0] + 1 / each[1])
        moved = 2 / filled + OPERAND * operands + REGISTER * prod(each)
        return moved * surplus * (1 + CUT * is_cut)

    along, across = (range(1, min(n, ALONG) + 1) for n in trips)
    every = ((a, b) for a, b in product(along, across) if a * b <= OUTPUTS)
    return min(every, key=cost)


def _tile(
    unit: Unit, found: Contraction, loops: tuple[str, str], each: tuple[int, int], threads: int
) -> ContractionTile | None:
    """Return the tile with so many outputs of a thread, None where no loop is left for z.

    Along z it has as many products as leave the fewest lanes idle, of as many threads at most.
    """
    (x, y), inner = loops, found.contracted[0]
    trips = {loop: unit.trips[loop] or 1 for loop in (x, y, inner)}
    rows, columns = (even_length(trips[n], size) for n, size in zip(loops, each, strict=True))
    tile = ContractionTile(
        (x, ceil(trips[x] / rows)),
        (y, ceil(trips[y] / columns)),
        (x, rows),
        (y, columns),
        (inner, min(trips[inner], WHOLE)),
        assign_y=Assignment.ADJACENT,
    )
    along = _along(unit, found, tile)
    if not along:
        return None
    products = prod(unit.trips[loop] or 1 for loop in free_along_z(unit, found, tile))
    most = min(MAX_ALONG_Z, unit.trips[along] or 1, threads // tile.threads or 1)
    most = min(most, products // ENOUGH_BLOCKS)
    several = [replace(tile, thread_z=(along, n)) for n in range(1, most + 1)]
    few = [t for t in several if copied_bytes(unit, found, t) <= COPIED_BYTES] or several[:1]
    # One product fills the block, and needs no axis of its own.
    few = [replace(t, thread_z=NO_AXIS) if t.thread_z[1] == 1 else t for t in few]

    def worth(one: ContractionTile) -> tuple[float, bool, int]:
        is_cut = any((unit.trips[loop] or 1) % n for loop, n in one.z)
        lanes = ceil(one.threads / WARP) * WARP
        busy = one.threads / lanes - CUT * is_cut
        return busy, one.threads >= min(threads, FEW_THREADS), -one.threads

    return max(few, key=worth, default=None)


def _along(unit: Unit, found: Contraction, tile: ContractionTile) -> str:
    """Return the loop over products that a block has several of, empty where there is none."""
    free = free_along_z(unit, found, tile)
    if min(len(found.x), len(found.y)) > 1:
        # The loops of one input are for registers: a two-level tile.
        free = tuple(n for n in free if n not in found.x and n not in found.y)
    return max(free, key=lambda loop: unit.trips[loop] or 1, default="")
