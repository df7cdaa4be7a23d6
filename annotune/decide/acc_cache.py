"""What OpenACC's ``cache`` directive may name under a choice."""

from __future__ import annotations

from annotune.decide.build import schedule
from annotune.decide.placement import acc_placement
from annotune.decide.places import NO_PLACES
from annotune.decide.plan import KernelChoice
from annotune.decide.units import Unit
from annotune.transforms.cache import sections
from annotune.transforms.context import Context


def cacheable(unit: Unit, choice: KernelChoice) -> tuple[str, ...]:
    """Return the arrays of which a gang reads a box more than once, none for an illegal choice."""
    analysis = unit.analysis
    body, context = analysis.region.nest.body, Context(analysis, analysis.region.sizes)
    for step in schedule(analysis, (choice,), unit.groups, acc_placement, NO_PLACES, "acc"):
        if step.is_inner:
            continue
        if step.why_not(body, context) is not None:
            return ()
        body = step.apply(body, context)
    return tuple(section.array for section in sections(body, context, choice.leader))
