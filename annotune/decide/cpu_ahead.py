"""Whether a core asks for the output of a later block while it computes one, and of which.

A block of few terms waits for memory: its elements are loaded once and stored once. Neighbouring
blocks in the order of the loops are strips of many rows, which no hardware prefetcher follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from annotune.analysis.facts import AccessFacts
from annotune.decide.cpu_blocks import Blocked, output, own_band
from annotune.decide.cpu_copies import CutNest
from annotune.decide.units import Unit
from annotune.ir.c_types import element_bytes
from annotune.transforms.prefetch import Prefetch
from annotune.transforms.tile import tile_name

# Bytes of a line of the cache, on every CPU that is in use for this.
LINE_BYTES = 64
# Blocks between the request and the use, each some 80 ns of multiply-adds: enough for memory that
# takes a microsecond under load.
LEAST_LEAD = 8
# Elements of the output between the two, 128 KiB of double: half of the smallest second-level
# cache in use.
MOST_LEAD = 16384
# Iterations of the loop: the last one asks for nothing new.
LEAST_TRIPS = 4
# Terms of a sum beyond which a block computes so long that loading it hardly counts.
MOST_TERMS = 128
# Elements of an output that lies in the second-level cache of 1 MiB in any case.
NEAR = 131072


def fetched_ahead(unit: Unit, block: Blocked, cores: Sequence[str]) -> Prefetch | None:
    """Return what asks before each block for the output of a later one, if that is worth it.

    That is the innermost one around it that is far enough ahead; its lanes must lie in lines, and
    what one iteration updates in one piece: pieces that lie apart gained nothing.
    """
    if not block.held or block.apart is not None or not block.order:
        return None
    target = output(unit, block.statement)
    if target is None or target.strides.get(block.simd) != 1:
        return None
    trips = {
        loop.var: unit.trip(block.statement, loop.var) or 1
        for loop in own_band(unit, block.statement)
    }
    nest = CutNest(block.statement, block.order, trips, dict(block.tiles), block.simd, block.held)
    if prod(n for name, n in trips.items() if target.strides.get(name)) <= NEAR:
        return None
    place = block.order.index(block.held)
    inside = block.order[place:]
    if nest.counts(n for n in inside if not target.strides.get(n)) > MOST_TERMS:
        return None
    size = nest.counts(n for n in inside if target.strides.get(n))
    line = LINE_BYTES // element_bytes(unit.analysis.region.arrays[target.access.array].element)
    for at in reversed(range(place)):
        name = block.order[at]
        if name in cores:
            break
        lead = nest.counts(block.order[at + 1 : place])
        is_able = bool(target.strides.get(name)) and nest.count(name) >= LEAST_TRIPS
        is_far = lead >= LEAST_LEAD and lead * size <= MOST_LEAD
        if is_able and is_far and _is_one_piece(target, nest, block.order[at + 1 :]):
            return Prefetch(block.statement, name, block.held, max(1, line))
    return None


def _is_one_piece(target: AccessFacts, nest: CutNest, inside: Sequence[str]) -> bool:
    """Return whether the elements that the loops `inside` pick are all neighbours."""
    length = 1
    for step, name in sorted((abs(target.strides.get(n) or 0), n) for n in nest.trips):
        own = [n for n in inside if n in (name, tile_name(name))]
        count = min(nest.counts(own), nest.trips[name])
        if step and count > 1:
            if step != length:
                return False
            length *= count
    return True
