"""From a schedule to a plan: its transforms applied in their order, each if it is legal.

Reductions that a mapped nest combines get their partial results on the way. The schedule of a
region is made of the candidates for its kernels, with the places of the commands that ask for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotune.analysis.facts import Analysis
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.nest import CachedSection, Loop, Stmt, walk_paths
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import HostLoop, Kernel, Plan, Step, holds_kernels, is_kernel
from annotune.transforms.distribute import Distribute
from annotune.transforms.language import (
    together,
    written,
)
from annotune.transforms.map import Map
from annotune.transforms.messages import LATE_STEP
from annotune.transforms.reduce import Reduce
from annotune.transforms.transform import (
    AskedOn,
    Context,
    Schedule,
    Transform,
)
from annotune.transforms.tree import Body, numbers, target_name, top_of


def reductions_refused(
    body: Body, context: Context, statements: Collection[int]
) -> Diagnostic | None:
    """Return why a reduction that placed loops combine has no partial results, or None."""
    refusals = (step.why_not(body, context) for step in reductions(body, statements))
    return next((refusal for refusal in refusals if refusal is not None), None)


def reductions(body: Body, statements: Collection[int], span: Span = NOWHERE) -> Iterator[Reduce]:
    """Yield a `Reduce` for each target of `statements` in `body` that a placed loop combines.

    One is for all statements that accumulate into the target in that loop. `span` is the place of
    the command that maps the loops, if the user wrote one.
    """
    done = set[int]()
    tops = sorted({top_of(body, number) for number in statements})
    for assign, loops in walk_paths(tuple(body[top] for top in tops)):
        name = target_name(assign)
        over = tuple(x.var for x in loops if any(c.name == name for c in x.combines))
        if over and assign.number in statements and assign.number not in done:
            step = Reduce(assign.number, over, span)
            done |= {member.number for member in step.members(body)}
            yield step


def apply(schedule: Schedule, context: Context) -> Plan | Diagnostic:
    """Return the plan that a schedule makes of a region, or why one of its steps is illegal.

    The steps that are inner come last. Before those of a kernel its reductions, which follow from
    the loops that are placed, get their partial results.
    """
    context = _with_open_sizes(schedule, context)
    body: Body = context.analysis.region.nest.body
    outer = [step for step in schedule if not step.is_inner]
    inner = [step for step in schedule if step.is_inner]
    if (*outer, *inner) != schedule:
        first = schedule.index(inner[0])
        late = next(step for step in schedule[first:] if not step.is_inner)
        return LATE_STEP.at(late.span, name=written(late).name)
    done = _applied(outer, body, context)
    if isinstance(done, Diagnostic):
        return done
    scheduled = body = done
    for own in _kernels(scheduled):
        mapped = (s.span for s in outer if s.asked_on is AskedOn.KERNEL and s.statement in own)
        span = next((span for span in mapped if span != NOWHERE), NOWHERE)
        mine = [step for step in inner if step.statement in own]
        done = _applied([*reductions(body, own, span), *mine], body, context)
        if isinstance(done, Diagnostic):
            return done
        body = done
    cached = [(step.statement, step.cached(scheduled, context)) for step in schedule]
    return Plan(_steps(context, body, scheduled, schedule, cached), (), context.sizes, schedule)


def _with_open_sizes(schedule: Schedule, context: Context) -> Context:
    """Return what steps may know of the region, without the sizes that a schedule leaves open."""
    left = {size for step in schedule for size in step.left_open}
    left -= context.analysis.region.constants.keys()
    sizes = {name: size for name, size in context.sizes.items() if name not in left}
    return replace(context, sizes=sizes)


def _applied(steps: Sequence[Transform], body: Body, context: Context) -> Body | Diagnostic:
    """Return `body` after `steps`, or the reason one of them is illegal."""
    for step in steps:
        refusal = step.why_not(body, context)
        if refusal is not None:
            return refusal
        body = step.apply(body, context)
    return body


def _is_host(stmt: Stmt) -> bool:
    """Return whether a statement is a serial loop around launches."""
    return isinstance(stmt, Loop) and not is_kernel(stmt) and holds_kernels(stmt)


def _kernels(body: Body) -> Iterator[tuple[int, ...]]:
    """Yield the statements of each launch."""
    for stmt in body:
        if isinstance(stmt, Loop) and _is_host(stmt):
            yield from _kernels(stmt.body)
        else:
            yield tuple(sorted(numbers(stmt)))


def _steps(
    context: Context,
    body: Body,
    scheduled: Body,
    schedule: Schedule,
    cached: Sequence[tuple[int, tuple[CachedSection, ...]]],
) -> tuple[Step, ...]:
    """Return the launches and the loops around them.

    `cached` are the sections that each step names for the kernel of its statement.
    """
    analysis, out = context.analysis, list[Step]()
    for group, before in _paired(body, scheduled):
        if isinstance(before, Loop) and _is_host(before):
            host = group[0]
            assert isinstance(host, Loop)
            inner = _steps(context, host.body, before.body, schedule, cached)
            out.append(HostLoop(replace(host, body=()), inner))
        else:
            own = tuple(sorted(numbers(before)))
            mine = tuple(step for step in schedule if step.statement in own)
            kept = tuple(one for number, named in cached if number in own for one in named)
            out.append(Kernel(_name(analysis, own), own, group, (before,), mine, kept))
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


@dataclass(frozen=True, slots=True)
class Places:
    """Where the user wrote the command behind each part of a choice, if anywhere."""

    spans: Mapping[tuple[str, int], Span]

    def of(self, command: str, statement: int) -> Span:
        """Return the place of a command on a statement, NOWHERE for our own decision."""
        return self.spans.get((command, statement), NOWHERE)


NO_PLACES = Places({})


def base_body(analysis: Analysis, groups: Iterable[tuple[int, ...]]) -> Body:
    """Return the region with one nest per group of statements, unchecked."""
    return Distribute(tuple(groups)).apply(analysis.region.nest.body, Context(analysis))


def build(
    analysis: Analysis,
    choices: Sequence[Candidate],
    groups: Sequence[tuple[int, ...]],
    constants: Mapping[str, int],
    places: Places = NO_PLACES,
    is_whole: bool = False,
) -> Plan | Diagnostic:
    """Return the plan that candidates describe, or the reason a step of it is illegal.

    `groups` are the statements that cannot be taken apart; `constants` the sizes that the
    plan may rely on, and with `is_whole` on what `Context` says of it.
    """
    context, body = Context(analysis, constants, is_whole), base_body(analysis, groups)
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
    if not places.spans:
        yield from choice.steps
        return
    for step in choice.steps:
        named = step.statement
        if step.asked_on is AskedOn.KERNEL:
            own = choice.statements
        elif step.asked_on is AskedOn.NEST:
            own = next(part for part in choice.parts if named in part)
        else:
            own = (named,)
        spans = ((s, places.of(word, s)) for s in own for word in step.asked_by)
        asked_at, span = next(((s, at) for s, at in spans if at != NOWHERE), (named, NOWHERE))
        found: dict[str, Any] = {"span": span}
        found |= {"statement": asked_at} if step.asked_on is AskedOn.NEST else {}
        yield step if span == NOWHERE else replace(step, **found)  # type: ignore[type-var]


def _refused_mapping(
    choice: Candidate, body: Body, context: Context, places: Places
) -> Diagnostic | None:
    """Return why a mapping that the user wrote is illegal for a statement before any fusion.

    After fusion the same mistake would show as loops that no longer nest perfectly.
    """
    step = choice.mapping
    if step is None or choice.tiles or choice.merges or choice.cyclic:
        return None
    for part in choice.parts:
        named = next((s for s in part if places.of(step.command, s) != NOWHERE), None)
        if named is not None:
            own = Map(named, step.levels, step.host, step.command)
            refusal = replace(own, span=places.of(step.command, named)).why_not(body, context)
            if refusal is not None:
                return refusal
    return None
