"""From a schedule to a plan: its transforms applied in their order, each if it is legal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotune.analysis.facts import Analysis
from annotune.decide.partials import reductions
from annotune.decide.plan import HostLoop, Kernel, Plan, Step, holds_kernels, is_kernel
from annotune.diagnostics import NOWHERE, Diagnostic
from annotune.ir.nest import Loop, Stmt
from annotune.transforms.cache import Cache
from annotune.transforms.context import Context
from annotune.transforms.language import written
from annotune.transforms.map import Map
from annotune.transforms.messages import LATE_STEP
from annotune.transforms.team import Team
from annotune.transforms.transform import Schedule, Transform
from annotune.transforms.tree import Body, numbers, rebuilt


def apply(schedule: Schedule, context: Context) -> Plan | Diagnostic:
    """Return the plan that a schedule makes of a region, or why one of its steps is illegal.

    The steps that are inner come last. Before those of a kernel its reductions, which follow from
    the loops that are placed, get their partial results.
    """
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
        mapped = (s.span for s in outer if isinstance(s, Map | Team) and s.statement in own)
        span = next((span for span in mapped if span != NOWHERE), NOWHERE)
        mine = [step for step in inner if step.statement in own]
        done = _applied([*reductions(body, own, span), *mine], body, context)
        if isinstance(done, Diagnostic):
            return done
        body = done
    return Plan(_steps(context, body, scheduled, schedule), (), context.sizes, schedule)


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


def _steps(context: Context, body: Body, scheduled: Body, schedule: Schedule) -> tuple[Step, ...]:
    """Return the launches and the loops around them."""
    analysis, out = context.analysis, list[Step]()
    for group, before in _paired(body, scheduled):
        if isinstance(before, Loop) and _is_host(before):
            host = group[0]
            assert isinstance(host, Loop)
            inner = _steps(context, host.body, before.body, schedule)
            out.append(HostLoop(rebuilt(host, body=()), inner))
        else:
            own = tuple(sorted(numbers(before)))
            mine = tuple(step for step in schedule if step.statement in own)
            named = (step.cached(scheduled, context) for step in mine if isinstance(step, Cache))
            cached = tuple(section for found in named for section in found)
            out.append(Kernel(_name(analysis, own), own, group, (before,), mine, cached))
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
