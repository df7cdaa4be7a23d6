"""The `reduction` strategy: threads share the terms of a sum and combine their parts in a tree.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007.
"""

from __future__ import annotations

from dataclasses import replace

from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.units import Unit
from annotune.strategies.direct import choose, may_team, team_axes, why_team

SHARED = "a block for each output, as another point of the space"


def reduction(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's choices for a unit, the rules' own first, or why it has none."""
    if not unit.sums and not (unit.parallel and unit.shared.sums):
        return "no loop is a reduction whose terms threads could share"
    if unit.sums:
        return (_named(choose(unit), f"no loop is parallel; {unit.sums[0]} is a reduction"),)
    why = why_team(unit)
    if why:
        return (_named(choose(unit), why),)
    if not may_team(unit):
        return "neighbouring outputs read neighbours, and there are enough of them for threads"
    return (_named(choose(unit, team_axes(unit, SHARED)), "its sums are long enough to share"),)


def why_reduced_later(unit: Unit, first: Candidate) -> str:
    """Return why the rules leave each sum to one thread, empty where they do not."""
    return "" if unit.sums or why_team(unit) else "enough outputs for a thread each"


def _named(choice: Candidate, rule: str) -> Candidate:
    return replace(choice, reasons=(Reason("strategy", "reduction", rule), *choice.reasons))
