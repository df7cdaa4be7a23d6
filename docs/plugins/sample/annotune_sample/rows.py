"""A strategy: one thread block for each iteration of the outermost parallel loop."""

from __future__ import annotations

from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.units import Unit
from annotune.strategies.registry import Strategy


def rows(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's one candidate for a unit, or why it has none."""
    if len(unit.parallel) < 2:
        return "fewer than two parallel loops"
    outer, *_, inner = unit.parallel
    reason = Reason("strategy", "rows", f"a block for each {outer}")
    return (
        Candidate.of_axes(
            unit.parts, blocks=(outer,), threads=(inner,), host=unit.host, reasons=(reason,)
        ),
    )


ROWS = Strategy("rows", "a block for each iteration of the outermost parallel loop", rows)
