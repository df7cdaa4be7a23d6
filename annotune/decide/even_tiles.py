"""Tiles of a contraction that leave little surplus, where the usual ones end inside the loops.

Two loops of the threads may run as one, so that 16 neighbouring threads have work at any extents
but for the last of all tiles (index combining and dimension flattening in "Deep Dive into GPU
Programming: Experience with Optimizing Tensor Contractions", a talk at Pacific Northwest National
Laboratory); and tiles may be as long as some number that divides a loop or nearly does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, inf, prod

from annotune.decide import two_level
from annotune.decide.contraction_tile import ContractionTile, held_registers
from annotune.decide.merged import as_merged, with_merged
from annotune.decide.plan import Candidate, Reason
from annotune.decide.rules import SM_BLOCKS, SM_THREADS, WARP
from annotune.decide.two_level import LINE, REGISTERS_PER_BLOCK, WHOLE, Contraction, contraction
from annotune.decide.units import Unit, follow
from annotune.transforms.merge import merged_name
from annotune.transforms.tile import name_is_taken

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
# in registers and no surplus of them.
NEAR = 0.04
# The usual tile is kept unless another one is better by this share.
GAIN = 0.05


@dataclass(frozen=True)
class _Candidate:
    """A tile of a unit, some of whose loops may run as one, and its cost."""

    cost: float
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

    def choice(self) -> Candidate:
        """Return the choice that carries the tile out."""
        made = two_level.choose_tile(self.unit, self.found, self.tile)
        reasons = (*made.reasons, *map(_reason, self.merges))
        return replace(as_merged(made, self.merges), reasons=reasons)


def alternatives(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices of the two-level tile, those with little surplus first."""
    usual = two_level.alternatives(unit)
    if isinstance(usual, str):
        return usual
    first = usual[0].contract
    assert first is not None
    if not has_surplus(unit, first):
        return usual
    every = sorted(_candidates(unit), key=lambda one: one.cost)
    least = every[0].cost if every else inf
    every.sort(key=lambda one: -one.whole_outputs if one.cost < (1 + NEAR) * least else 0)
    # Loops that run as one do so a fixed number of times.
    general = usual[0].elsewhere or usual[0]
    better = [replace(one.choice(), elsewhere=general) for one in every[:MOST_TILES]]
    if least > (1 - GAIN) * cost(unit, first):
        return (*usual, *better)
    return (*better, *usual)


def general(unit: Unit) -> Candidate | None:
    """Return the choice for sizes that are not the tuned ones, None where there is none."""
    found = two_level.alternatives(unit)
    return None if isinstance(found, str) else found[0].elsewhere or found[0]


def has_surplus(unit: Unit, tile: ContractionTile) -> bool:
    """Return whether a tile ends inside one of the loops of the output."""
    return any((unit.trips[loop] or 1) % size for loop, size in tile.outputs)


def cost(unit: Unit, tile: ContractionTile, element_bytes: int = 8) -> float:
    """Return what one product of a tile costs: the model's terms at the rates of an H200.

    Moving and multiplying hide each other but for one part in as many as there are blocks on an
    SM; multiplications, operands and inputs count for surplus too.
    """
    rows, columns = tile.register_x[1], tile.register_y[1]
    trips = {loop: unit.trips[loop] or 1 for loop in unit.loops_around(unit.leader)}
    surplus = prod(ceil(trips[loop] / size) * size / trips[loop] for loop, size in tile.outputs)
    warps = ceil(tile.threads / WARP)
    idle = warps * WARP / tile.threads
    multiplied = surplus * idle * (1 + OPERAND * (rows + columns) / (rows * columns))
    sides = 1 / (tile.thread_x[1] * rows) + 1 / (tile.thread_y[1] * columns)
    summed = trips[tile.contracted[0]]
    moved = max(OUTPUT / summed, OUTPUT_L2 / summed + surplus * L2_ELEMENT * sides)
    room = REGISTERS_PER_BLOCK // (held_registers(tile, element_bytes) + SPARE_REGISTERS)
    resident = max(1, min(room, SM_THREADS) // (warps * WARP))
    hidden = min(resident, SM_BLOCKS)
    return max(moved, multiplied) + min(moved, multiplied) / hidden


def _candidates(unit: Unit) -> Iterator[_Candidate]:
    """Yield the tiles worth a try, with loops as they are and with two of them as one."""
    for merges in ((), *flattenings(unit)):
        own = with_merged(unit, merges)
        found = contraction(own)
        if isinstance(found, str):
            continue
        for tile in _tiles(own, found):
            yield _Candidate(cost(own, tile), merges, own, found, tile)


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


def _tiles(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield tiles of many lengths that fit a block and have few outputs too many."""

    def trip(loop: str) -> int:
        return unit.trips[loop] or 1

    x, y, deep, wide = found.x[0], found.y[1], found.x[1], found.y[0]
    lanes = [n for n in (LINE, trip(x)) if LINE <= n <= 2 * LINE and n <= trip(x)]
    step = two_level.staged_steps(trip(found.contracted[0]), WHOLE)
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
        fits = two_level.fits(unit, found, tile)
        if fits and two_level.has_own_sums(unit, found, tile):
            yield tile


def _lengths(trip: int, lengths: range) -> list[int]:
    """Return the lengths of tiles worth a try: none longer than the loop is."""
    return sorted({min(trip, n) for n in lengths})


def _reason(loops: tuple[str, ...]) -> Reason:
    listed = f"{', '.join(loops)} as {merged_name(loops)}"
    return Reason("merged", listed, f"{LINE} does not divide the iterations of {loops[-1]}")
