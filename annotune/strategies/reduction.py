"""The `reduction` strategy: threads share the terms of a sum and combine their parts in a tree.

Where a sum is long, a thread has several terms at once, as far apart as the block has threads:
their loads are all on their way before the first is added.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007 (kernel 7: several terms
for each thread, neighbours of neighbouring ones).
"""

from __future__ import annotations

from dataclasses import replace

from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.launch_sizes import COMBINING_BLOCKS, TEAM
from annotune.schedule.units import Unit
from annotune.strategies.direct import choose, may_team, team_axes, why_team
from annotune.transforms.tile import Cyclic, Tile, tile_name, worker_name
from annotune.transforms.unroll import Unroll

SHARED = "a block for each output, as another point of the space"
# Terms of a thread at once, those tried first in front: with one the loads of all threads that an
# H200 runs are 4.2 MB, about what it moves while one of them is on its way.
TERMS = (4, 5, 6, 3, 8, 2)


def reduction(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's choices for a unit, the rules' own first, or why it has none."""
    if not unit.sums and not (unit.parallel and unit.shared.sums):
        return "no loop is a reduction whose terms threads could share"
    if unit.sums:
        one = _named(choose(unit), f"no loop is parallel; {unit.sums[0]} is a reduction")
        return (*_with_several_terms(unit, one), one)
    why = why_team(unit)
    if why:
        return (_named(choose(unit), why),)
    if not may_team(unit):
        return "neighbouring outputs read neighbours, and there are enough of them for threads"
    return (_named(choose(unit, team_axes(unit, SHARED)), "its sums are long enough to share"),)


def why_reduced_later(unit: Unit, first: Candidate) -> str:
    """Return why the rules leave each sum to one thread, empty where they do not."""
    return "" if unit.sums or why_team(unit) else "enough outputs for a thread each"


def _with_several_terms(unit: Unit, one: Candidate) -> tuple[Candidate, ...]:
    """Return the choices with several terms for each thread where a choice has one.

    They are for a sum in tiles, long enough to fill the blocks that combine it with whole ones.
    """
    (loop, *others) = one.threads or ("",)
    if others or one.tiles != ((loop, TEAM),) or one.blocks != (tile_name(loop),):
        return ()
    if worker_name(loop) in unit.analysis.region.names:
        return ()
    trip = unit.trips[loop] or 0
    even = (n for n in TERMS if trip % (n * TEAM) == 0 and trip >= n * TEAM * COMBINING_BLOCKS)
    return tuple(_several_terms(unit, one, loop, n) for n in even)


def _several_terms(unit: Unit, one: Candidate, loop: str, terms: int) -> Candidate:
    """Return the choice with so many terms for each thread, a block's threads apart."""
    made = Candidate.of_axes(
        unit.parts,
        Tile(one.leader, loop, terms * TEAM),
        Cyclic(one.leader, loop, TEAM),
        Unroll(one.leader, loop, terms),
        blocks=one.blocks,
        threads=(worker_name(loop),),
        host=one.host,
    )
    rule = "their loads are on their way at once"
    reasons = (*one.reasons, Reason("terms", f"{terms} of {loop} for each thread", rule))
    return replace(made, reasons=reasons, general=one)


def _named(choice: Candidate, rule: str) -> Candidate:
    return replace(choice, reasons=(Reason("strategy", "reduction", rule), *choice.reasons))
