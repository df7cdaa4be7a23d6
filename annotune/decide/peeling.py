"""Whole tiles apart from those that are cut short: one more point of a strategy's space.

Sources: "Deep Dive into GPU Programming: Experience with Optimizing Tensor Contractions", a talk at
Pacific Northwest National Laboratory (interior and boundary code apart); M. Wolfe, "High
Performance Compilers for Parallel Computing", 1996, chapter 9 (index set splitting).
"""

from __future__ import annotations

from dataclasses import replace

from annotune.decide.merged import with_merged
from annotune.decide.plan import Candidate, Reason
from annotune.decide.units import Unit
from annotune.transforms.pad import Pad
from annotune.transforms.peel import Peel


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
    elsewhere = choice.elsewhere
    made = choice.having(Peel(first, loops), why=_reason(cut))
    other = None if elsewhere is None else with_peeled(unit, elsewhere) or elsewhere
    return replace(made, elsewhere=other)


def _reason(cut: list[str]) -> Reason:
    ends = ", ".join(dict.fromkeys(cut))
    rule = f"tiles of {ends} are cut short: whole ones run without conditions, in a second text"
    return Reason("peeled", "whole tiles", rule)
