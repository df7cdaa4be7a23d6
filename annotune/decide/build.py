"""From the choices for each kernel to a plan: the transforms, applied in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from annotune.analysis.facts import Analysis
from annotune.decide.apart import Apart, taken_apart
from annotune.decide.partials import reductions
from annotune.decide.places import NO_PLACES, Places
from annotune.decide.plan import (
    Blocking,
    HostLoop,
    Kernel,
    KernelChoice,
    Plan,
    Step,
    holds_kernels,
    is_kernel,
)
from annotune.decide.thread_level import thread_level
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.nest import Level, Loop, Stmt
from annotune.transforms.context import Context
from annotune.transforms.deal import Deal
from annotune.transforms.distribute import Distribute
from annotune.transforms.fuse import Fuse
from annotune.transforms.map import Map
from annotune.transforms.merge import Merge
from annotune.transforms.permute import Permute
from annotune.transforms.team import Team
from annotune.transforms.tile import Tile, tile_name
from annotune.transforms.transform import Transform
from annotune.transforms.tree import Body, numbers, rebuilt
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
    steps: list[Transform] = []
    for choice in choices:
        refusal = _refused_mapping(choice, body, context, placement(choice), places, command)
        if refusal is not None:
            return refusal
        steps += _structure(choice, analysis, places)
    done = _applied(steps, body, context)
    if isinstance(done, Diagnostic):
        return done
    body, steps = done, []
    for choice in choices:
        span = _map_place(choice, places, command)
        steps += _mapped(choice, placement(choice), command, span)
        for block in choice.blocking:
            span = places.of("vectorize", block.statement)
            groups = ((block.statement,),) if block.apart is None else block.apart.groups
            if block.simd:
                steps += [Vectorize(group[0], block.simd, span) for group in groups]
    done = _applied(steps, body, context)
    if isinstance(done, Diagnostic):
        return done
    body = done
    scheduled = body
    for choice in choices:
        span = _map_place(choice, places, command)
        inner = [
            *reductions(body, choice.statements, span),
            *thread_level(choice, places),
        ]
        done = _applied(inner, body, context)
        if isinstance(done, Diagnostic):
            return done
        body = done
    limits = {
        s: (choice.max_blocks, choice.movement.resident)
        for choice in choices
        for s in choice.statements
    }
    return Plan(_steps(analysis, body, scheduled, limits), tuple(choices), constants)


def _applied(steps: Iterable[Transform], body: Body, context: Context) -> Body | Diagnostic:
    """Return `body` after `steps`, or the reason one of them is illegal."""
    for step in steps:
        refusal = step.why_not(body, context)
        if refusal is not None:
            return refusal
        body = step.apply(body, context)
    return body


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
        yield Map(choice.leader, outer, choice.host, command, span)
    for statement, loop in choice.team:
        if loop in levels:
            yield Team(statement, loop, levels[loop], choice.host, command, span)


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
        step = Map(named, outer, choice.host, command, places.of(command, named))
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
    for block in choice.blocking:
        if block.apart is not None:
            yield from _apart(block, block.apart, analysis)
            continue
        for loop, size in block.tiles:
            span = places.of("tile", block.statement)
            yield Tile(block.statement, loop, size, span)
        for loop, workers in block.deals:
            span = places.of("deal", block.statement)
            yield Deal(block.statement, loop, workers, span)
        if block.order:
            span = places.of("permute", block.statement)
            yield Permute(block.statement, block.order, span)


def _apart(block: Blocking, apart: Apart, analysis: Analysis) -> Iterable[Transform]:
    """Yield the transforms that give a statement a nest of its own in a block, in its order."""
    place = block.order.index(block.held)
    order = (*block.order[:place], *block.inside)
    yield from taken_apart(analysis, apart, block.tiles, order, block.inside, block.deals)
    yield Permute(block.statement, block.order[place:])


def _steps(
    analysis: Analysis, body: Body, scheduled: Body, limits: Mapping[int, tuple[int, int]]
) -> tuple[Step, ...]:
    """Return the launches and the loops around them.

    `limits` are, by statement, the bound of the blocks, and those that should be resident.
    """
    out: list[Step] = []
    for group, before in _paired(body, scheduled):
        if isinstance(before, Loop) and not is_kernel(before) and holds_kernels(before):
            host = group[0]
            assert isinstance(host, Loop)
            inner = _steps(analysis, host.body, before.body, limits)
            out.append(HostLoop(rebuilt(host, body=()), inner))
        else:
            own = tuple(sorted(numbers(before)))
            blocks, resident = map(max, zip(*(limits.get(n, (0, 0)) for n in own), strict=True))
            name = _name(analysis, own)
            out.append(Kernel(name, own, group, (before,), blocks, resident))
    return tuple(out)


def _paired(body: Body, scheduled: Body) -> list[tuple[Body, Stmt]]:
    """Return each scheduled statement with what registers and unrolling made of it.

    A serial top-level loop may have become several statements; those that run the same
    assignments belong together, and a local belongs with what follows it.
    """
    out: list[tuple[Body, Stmt]] = []
    rest = list(body)
    for stmt in scheduled:
        own = numbers(stmt)
        part: list[Stmt] = []
        while rest and (owned := next((n for s in rest if (n := numbers(s))), own)) <= own:
            part.append(rest.pop(0))
            assert owned
        out.append((tuple(part), stmt))
    return out


def _name(analysis: Analysis, statements: tuple[int, ...]) -> str:
    """Return the kernel's name: the function, the region, and its first statement."""
    region = analysis.region
    return f"{region.label}_s{statements[0]}"
