"""From the candidates of each kernel to a plan: their steps, applied in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.decide.apply import apply
from annotune.decide.places import NO_PLACES, Places
from annotune.decide.plan import Candidate, Plan
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.transforms.cache import Cache
from annotune.transforms.context import Context
from annotune.transforms.decode import Decode
from annotune.transforms.distribute import Distribute
from annotune.transforms.language import words_of
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.stage import Stage
from annotune.transforms.steps import together
from annotune.transforms.team import Team
from annotune.transforms.transform import Schedule, Transform
from annotune.transforms.tree import Body

# Commands that ask for a kind of step beside its own.
_ALSO: Mapping[type[Transform], tuple[str, ...]] = {
    Stage: ("vectors",),
    Cache: ("acc",),
    Decode: ("merge",),
}


def base_body(analysis: Analysis, groups: Iterable[tuple[int, ...]]) -> Body:
    """Return the region with one nest per group of statements, unchecked."""
    return Distribute(tuple(groups)).apply(analysis.region.nest.body, Context(analysis))


def build(
    analysis: Analysis,
    choices: Sequence[Candidate],
    groups: Sequence[tuple[int, ...]],
    constants: Mapping[str, int],
    places: Places = NO_PLACES,
) -> Plan | Diagnostic:
    """Return the plan that candidates describe, or the reason a step of it is illegal.

    `groups` are the statements that cannot be taken apart; `constants` the sizes that the
    plan may rely on.
    """
    context, body = Context(analysis, constants), base_body(analysis, groups)
    for choice in choices:
        refusal = _refused_mapping(choice, body, context, places)
        if refusal is not None:
            return refusal
    found = apply(schedule(choices, groups, places), context)
    return found if isinstance(found, Diagnostic) else replace(found, choices=tuple(choices))


def schedule(
    choices: Sequence[Candidate], groups: Sequence[tuple[int, ...]], places: Places = NO_PLACES
) -> Schedule:
    """Return the schedule of a region whose kernels are `choices`, spans where users ask for it."""
    kernels = (tuple(_at_places(choice, places)) for choice in choices)
    return (Distribute(tuple(groups)), *together(kernels))


def _at_places(choice: Candidate, places: Places) -> Iterator[Transform]:
    """Yield the steps of a candidate, each at the place of the command that asks for it, if any.

    A refusal names the statement of the user's own command.
    """
    for step in choice.steps:
        named = step.statement
        if isinstance(step, Map | Team):
            span = _mapped_at(choice, places, step.command)
        elif isinstance(step, Permute):
            part = next(part for part in choice.parts if step.statement in part)
            named = next((s for s in part if places.of("permute", s) != NOWHERE), named)
            span = places.of("permute", named)
            step = replace(step, statement=named)
        else:
            words = (*(word.name for word in words_of(type(step))), *_ALSO.get(type(step), ()))
            spans = (places.of(word, named) for word in words)
            span = next((span for span in spans if span != NOWHERE), NOWHERE)
        yield step if span == NOWHERE else replace(step, span=span)  # type: ignore[type-var]


def _mapped_at(choice: Candidate, places: Places, command: str) -> Span:
    """Return where the user mapped one of the kernel's statements, NOWHERE if nowhere."""
    spans = (places.of(command, statement) for statement in choice.statements)
    return next((span for span in spans if span != NOWHERE), NOWHERE)


def _refused_mapping(
    choice: Candidate, body: Body, context: Context, places: Places
) -> Diagnostic | None:
    """Return why a mapping that the user wrote is illegal for a statement before any fusion.

    After fusion the same mistake would show as loops that no longer nest perfectly.
    """
    step = choice.mapping
    if step is None or choice.tiles or choice.merges or choice.deals:
        return None
    for part in choice.parts:
        named = next((s for s in part if places.of(step.command, s) != NOWHERE), None)
        if named is not None:
            own = Map(named, step.levels, step.host, step.command)
            refusal = replace(own, span=places.of(step.command, named)).why_not(body, context)
            if refusal is not None:
                return refusal
    return None
