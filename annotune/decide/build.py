"""From the choices for each kernel to a plan: the transforms, applied in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from annotune.analysis.facts import Analysis
from annotune.decide.apply import apply
from annotune.decide.places import NO_PLACES, Places
from annotune.decide.plan import (
    KernelChoice,
    Plan,
)
from annotune.decide.thread_level import at_places, thread_level
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.nest import Level
from annotune.transforms.context import Context
from annotune.transforms.deal import Deal
from annotune.transforms.distribute import Distribute
from annotune.transforms.fuse import Fuse
from annotune.transforms.map import TILE, Map
from annotune.transforms.merge import Merge
from annotune.transforms.permute import Permute
from annotune.transforms.team import Team
from annotune.transforms.tile import Tile, tile_name
from annotune.transforms.transform import Schedule, Transform
from annotune.transforms.tree import Body
from annotune.transforms.vectorize import Vectorize

Placement = Callable[[KernelChoice], Mapping[str, Level]]

_BLOCKS = (Level.BLOCK_X, Level.BLOCK_Y, Level.BLOCK_Z)
_THREADS = (Level.THREAD_X, Level.THREAD_Y, Level.THREAD_Z)


def cuda_placement(choice: KernelChoice) -> Mapping[str, Level]:
    """Return the CUDA level of each loop that `choice` maps, blocks first.

    More loops on blocks than a grid has axes share the one that takes the most.
    """
    is_flat = len(choice.blocks) > len(_BLOCKS)
    axes = (Level.BLOCK_X,) * len(choice.blocks) if is_flat else _BLOCKS
    levels = dict(zip(choice.blocks, axes, strict=False))
    levels |= {loop: Level.THREAD_X for _, loop in choice.team}
    return levels | dict(zip(choice.threads, _THREADS, strict=False))


def base_body(analysis: Analysis, groups: Iterable[tuple[int, ...]]) -> Body:
    """Return the region with one nest per group of statements, unchecked."""
    return Distribute(tuple(groups)).apply(analysis.region.nest.body, Context(analysis))


def build(
    analysis: Analysis,
    choices: Sequence[KernelChoice],
    groups: Sequence[tuple[int, ...]],
    constants: Mapping[str, int],
    placement: Placement = cuda_placement,
    places: Places = NO_PLACES,
    command: str = "cuda",
) -> Plan | Diagnostic:
    """Return the plan that `choices` describe, or the reason a step of it is illegal.

    `groups` are the statements that cannot be taken apart; `constants` the sizes that the
    plan may rely on. `command` is the annotation's word for what `placement` does.
    """
    context, body = Context(analysis, constants), base_body(analysis, groups)
    for choice in choices:
        refusal = _refused_mapping(choice, body, context, placement(choice), places, command)
        if refusal is not None:
            return refusal
    found = apply(schedule(analysis, choices, groups, placement, places, command), context)
    return found if isinstance(found, Diagnostic) else replace(found, choices=tuple(choices))


def schedule(
    analysis: Analysis,
    choices: Sequence[KernelChoice],
    groups: Sequence[tuple[int, ...]],
    placement: Placement,
    places: Places,
    command: str,
) -> Schedule:
    """Return the schedule that `choices` describe: shapes, then places, then what a worker does."""
    steps: list[Transform] = [Distribute(tuple(groups))]
    for choice in choices:
        steps += _structure(choice, analysis, places)
    for choice in choices:
        span = _map_place(choice, places, command)
        steps += _mapped(choice, placement(choice), command, span)
        steps += choice.of(Vectorize)
    for choice in choices:
        steps += thread_level(choice, places)
    return tuple(steps)


def _map_place(choice: KernelChoice, places: Places, command: str) -> Span:
    """Return where the user mapped one of the kernel's statements, NOWHERE if nowhere."""
    spans = (places.of(command, statement) for statement in choice.statements)
    return next((span for span in spans if span != NOWHERE), NOWHERE)


def _mapped(
    choice: KernelChoice, levels: Mapping[str, Level], command: str, span: Span
) -> Iterable[Transform]:
    """Yield the transforms that place the loops of one kernel, which combine their reductions."""
    team = {loop for _, loop in choice.team}
    outer = {name: level for name, level in levels.items() if name not in team}
    if outer:
        yield _map(choice, outer, command, span)
    for statement, loop in choice.team:
        if loop in levels:
            yield Team(statement, loop, levels[loop], choice.host, span)


def _map(choice: KernelChoice, levels: Mapping[str, Level], command: str, span: Span) -> Map:
    """Return the step that places the outer loops of a kernel."""
    asked = choice.acc or Map(choice.leader, ())
    is_tile = choice.form is not None and choice.form.tile_clause
    return Map(
        choice.leader,
        tuple(levels.items()),
        choice.host,
        command,
        choice.max_blocks,
        choice.schedule,
        asked.num_gangs,
        asked.num_workers,
        asked.vector_length,
        TILE if is_tile else "",
        span,
    )


def _refused_mapping(
    choice: KernelChoice,
    body: Body,
    context: Context,
    levels: Mapping[str, Level],
    places: Places,
    command: str,
) -> Diagnostic | None:
    """Return why a mapping that the user wrote is illegal for a statement before any fusion.

    After fusion the same mistake would show as loops that no longer nest perfectly.
    """
    for part in choice.parts:
        named = next((s for s in part if places.of(command, s) != NOWHERE), None)
        if named is None or choice.tiles or choice.merges or choice.deals or not levels:
            continue
        team = {loop for _, loop in choice.team}
        outer = {name: level for name, level in levels.items() if name not in team}
        step = Map(
            named, tuple(outer.items()), choice.host, command, span=places.of(command, named)
        )
        refusal = step.why_not(body, context)
        if refusal is not None:
            return refusal
    return None


def _structure(choice: KernelChoice, analysis: Analysis, places: Places) -> Iterable[Transform]:
    """Yield the transforms that shape one kernel's nest before it is mapped."""
    span = places.of("merge", choice.leader)
    for part, loops in product(choice.parts, choice.merges):
        yield Merge(part[0], loops, span)
    # An order that names tiles is one of loops that are there only after tiling.
    is_late = any(tile_name(loop) in choice.order for loop, _ in choice.tiles)
    if choice.order and not is_late:
        for part in choice.parts:
            # A refusal names the statement of the user's own command.
            named = next((s for s in part if places.of("permute", s) != NOWHERE), part[0])
            yield Permute(named, choice.order, places.of("permute", named))
    if len(choice.parts) > 1:
        leaders = tuple(part[0] for part in choice.parts)
        yield Fuse(leaders, places.of("fuse", choice.leader))
    for loop, size in choice.tiles:
        span = places.of("tile", choice.leader)
        yield Tile(choice.leader, loop, size, span)
    for loop, workers in choice.deals:
        span = places.of("deal", choice.leader)
        yield Deal(choice.leader, loop, workers, span)
    if is_late:
        yield Permute(choice.leader, choice.order, places.of("permute", choice.leader))
    own = (step for step in choice.steps if not (step.is_inner or isinstance(step, Vectorize)))
    yield from at_places(own, places)
