"""The blocks of a statement worth trying on a core, the best guess first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotune.decide.cpu_blocks import (
    LANES,
    MAX_LANES,
    MAX_ROWS,
    Block,
    along_loop,
    first_block,
    held_loop,
    hinted_blocks,
    is_fixed,
    lanes_of,
    output,
    over_loops,
    strided_loop,
)
from annotune.decide.cpu_copies import arranged
from annotune.decide.sum_lanes import is_alone, sum_lanes
from annotune.decide.units import Unit

# Doubles of the longest vector, AVX-512's.
VECTOR = 8
# Vectors that a block on copies may keep of the 32 registers: each step needs one for each
# vector of the lanes, at most four, and one for a factor.
ACCUMULATORS = 24
MAX_COPIED_ROWS = 16
# Cycles of a multiply-add, of which some CPUs start two a cycle (Fog, "Instruction tables").
LATENCY = 8
# Cycles that counting a step costs.
STEP = 2
# A block that divides its loops leaves no shorter one at their ends, which compilers keep in
# memory, or which runs in vain: it may cost so much more by the count of cycles. So may one
# whose rows lie closer together.
EVEN = 1.1


def first_option(unit: Unit, statement: int) -> Block:
    """Return the block that hints or the rules choose: one on copies where these pay."""
    plain = first_block(unit, statement)
    along = along_loop(unit, statement) or strided_loop(unit, statement)
    hinted = hinted_blocks(unit, statement)
    if not along or not is_alone(unit, statement) or (is_fixed(unit, statement) and not hinted):
        return plain
    found = hinted[:1] or _copied_blocks(unit, statement, along) or [Block(along, plain.lanes)]
    copied = (replace(block, copied=True) for block in found)
    return next((block for block in copied if _pays(unit, statement, block)), plain)


def _copied_blocks(unit: Unit, statement: int, along: str) -> list[Block]:
    """Return the blocks of whole vectors on copies, the best first.

    Last are those of fewer lanes: what a long sum reads of an input for many may be more than
    the largest copy.
    """
    most = range(MAX_LANES, 0, -VECTOR)
    found = (one for lanes in most for one in _blocks_within(unit, statement, along, lanes))
    return list(dict.fromkeys(found))


def _blocks_within(unit: Unit, statement: int, along: str, most: int) -> list[Block]:
    """Return the blocks of at most so many lanes, the cheapest for each loop of rows first."""
    target = output(unit, statement)
    if target is None:
        return []
    length = unit.trip(statement, along) or LANES
    found: list[tuple[float, int, Block]] = []
    for over in over_loops(unit, statement, along):
        count = unit.trip(statement, over) or MAX_ROWS
        blocks = [
            Block(along, VECTOR * vectors, over, rows)
            for vectors in range(1, most // VECTOR + 1)
            for rows in range(1, min(count, MAX_COPIED_ROWS) + 1)
            if vectors * rows <= ACCUMULATORS
        ]
        best = _best(blocks, length, count)
        distance = abs(target.strides.get(over) or 0)
        found.append((_cost(best, length, count), distance, best))
    least = min((cost for cost, _, _ in found), default=0.0)

    def rank(one: tuple[float, int, Block]) -> tuple[bool, float]:
        # Of nearly equal ones the rows that lie closest together, which keep to few pages.
        cost, distance, _ = one
        is_dear = cost > EVEN * least
        return is_dear, cost if is_dear else distance

    return [block for _, _, block in sorted(found, key=rank)]


def _best(blocks: Sequence[Block], length: int, count: int) -> Block:
    """Return the cheapest block, or one that divides its loops and costs little more.

    Next best divides the rows' alone: what lanes leave at the end is often padded,
    what rows leave seldom.
    """

    def cost(block: Block) -> float:
        return _cost(block, length, count)

    best = min(blocks, key=cost)
    even = [block for block in blocks if count % block.rows == 0]
    whole = [block for block in even if length % block.lanes == 0]
    found = (min(some, key=cost) for some in (whole, even) if some)
    return next((block for block in found if cost(block) <= EVEN * cost(best)), best)


def _cost(block: Block, length: int, count: int) -> float:
    """Return the cycles of one step of the reduction, for each element of the output.

    A core starts a multiply-add a cycle, and a load: of the lanes' vectors, and of what the lanes
    of each row have in common. Fewer accumulators than the latency of a multiply-add wait for it.
    """
    vectors = block.lanes // VECTOR
    step = max(block.rows * vectors, block.rows + vectors, LATENCY) + STEP
    tiles = -(-length // block.lanes) * -(-count // block.rows)
    return step * tiles / (length * count)


def _pays(unit: Unit, statement: int, block: Block) -> bool:
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


def likely(unit: Unit, statement: int) -> tuple[Block, ...]:
    """Return the few blocks that are worth a trial before all others, the rules' own first."""
    first = first_option(unit, statement)
    along, summed = along_loop(unit, statement), sum_lanes(unit, statement)
    out = [first, *([Block(), Block(summed, sums=True)] if summed else [])]
    if along and is_alone(unit, statement):
        longest = unit.trip(statement, along) or MAX_LANES
        out += [*hinted_blocks(unit, statement), first_block(unit, statement)]
        out += [Block(), Block(along, lanes_of(longest))]
    return tuple(dict.fromkeys((*out, Block())))
