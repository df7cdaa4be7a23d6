"""The `gemm` strategy: one loop of an input is split among blocks, threads and registers.

A matrix product has one loop of its own in each input, where `two_level` needs two. Sources:
F. X. Bayerl, "Treduda", thesis, University of Passau, 2012, sections 3.1 and 4.2.3.4 (elements
that a thread has cyclic, adjacent, or one along each axis; which inputs are staged); V. Volkov and
J. W. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008 (outputs in registers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from annotune.decide.contraction_tile import Assignment, ContractionTile, TileAxis
from annotune.decide.plan import Candidate, Reason
from annotune.decide.two_level import (
    LEAST_OUTPUTS,
    LINE,
    REGISTERS,
    STAGED,
    THREADS_Y,
    Contraction,
    choices,
    contraction,
    even_length,
    staged_steps,
    taken_name,
)
from annotune.decide.units import Unit
from annotune.transforms.pad import Pad
from annotune.transforms.unroll import Unroll

CYCLIC, ADJACENT = Assignment.CYCLIC, Assignment.ADJACENT
# Outputs per thread along x and y, from those that use each copied element most.
REGISTER_TILES = ((REGISTERS, REGISTERS), (REGISTERS, REGISTERS // 2), (4, 4))

# A loop no longer than this is one tile: 8 threads or less have all of it.
MOST_ALONE = 64
NO_NEED = "both inputs have two loops of their own, and none that splits without a rest"
# Steps of a staged sum written out together: a product of 1024 took 145 us on an H200 one step at a
# time, which waits for each step's loads, and 122 us four at a time.
STEPS_AT_ONCE = 4
# About as many blocks as the largest devices have multiprocessors (an H200: 132, an A100: 108).
ENOUGH_BLOCKS = 108


def alternatives(unit: Unit) -> tuple[Candidate, ...] | str:
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

    every = (*sorted(tiles(unit, found), key=lack), *further_tiles(unit, found))
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


def tiles(unit: Unit, found: Contraction) -> Iterator[ContractionTile]:
    """Yield the tiles worth a try, the rules' own first.

    Neighbouring threads have neighbours along x, so that they store whole lines. All threads of a
    half-warp have one place along y, and neighbours of its own cost no thread a bank: two of
    them come by one load.
    """
    for registers, rows, staged, assigned in product(
        REGISTER_TILES, (THREADS_Y, 2 * THREADS_Y), (STAGED, STAGED // 2), (ADJACENT, CYCLIC)
    ):
        yield _tile(unit, found, registers, rows, staged, (CYCLIC, assigned))


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
    yield _tile(unit, found, (2, REGISTERS), THREADS_Y, STAGED, (ADJACENT, ADJACENT))
    for staged_inputs in ((True, False), (False, True)):
        yield _tile(unit, found, best, THREADS_Y, STAGED, (CYCLIC, ADJACENT), staged_inputs)


def _tile(
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
