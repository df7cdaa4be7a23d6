"""What OpenACC's ``cache`` directive may name under a candidate."""

from __future__ import annotations

from annotune.decide.build import schedule
from annotune.decide.plan import Candidate
from annotune.decide.units import Unit
from annotune.transforms.cache import sections
from annotune.transforms.context import Context


def cacheable(unit: Unit, choice: Candidate) -> tuple[str, ...]:
    """Return the arrays of which a gang reads a box more than once, none for an illegal choice."""
    analysis = unit.analysis
    body, context = analysis.region.nest.body, Context(analysis, analysis.region.sizes)
    for step in schedule((choice,), unit.groups):
        if step.is_inner:
            continue
        if step.why_not(body, context) is not None:
            return ()
        body = step.apply(body, context)
    return tuple(section.array for section in sections(body, context, choice.leader))
