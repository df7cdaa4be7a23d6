"""A unit as decisions see it once some of its loops run as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from annotune.analysis.facts import AccessFacts
from annotune.diagnostics import Diagnostic, Span
from annotune.ir.expr import Int
from annotune.ir.nest import Loop
from annotune.schedule.candidate import Candidate
from annotune.schedule.units import Unit
from annotune.transforms.merge import Decode, Merge, merged_name
from annotune.transforms.messages import NOT_MERGED
from annotune.transforms.transform import Context


def why_not_merged(unit: Unit, loops: Sequence[str], span: Span) -> Diagnostic | None:
    """Return why decisions cannot take loops for one, or None.

    What the transform says of them is another matter. All may run in parallel, or none: those
    that sum up stay in a thread.
    """
    inner = {loop.var for loop in unit.band} - {*unit.host, *unit.parallel, *unit.sums}
    serial = next((loop for loop in loops if loop not in unit.parallel), "")
    if not serial or inner.issuperset(loops):
        return None
    reason = "may not run in parallel, or is none of the kernel's outer loops"
    return NOT_MERGED.at(span, loop=serial, reason=reason)


def refused_merges(unit: Unit, merges: Sequence[tuple[str, ...]], span: Span) -> Diagnostic | None:
    """Return why loops that a recipe names cannot run as one, or None."""
    body, context = unit.body, Context(unit.analysis, unit.analysis.region.sizes)
    for loops in merges:
        step = Merge(unit.leader, loops, span=span)
        refusal = step.why_not(body, context) or why_not_merged(unit, loops, span)
        if refusal is not None:
            return refusal
        body = step.apply(body, context)
    return None


def with_merged(unit: Unit, merges: Sequence[Sequence[str]]) -> Unit:
    """Return a unit whose loops `merges`, each outermost first, are one loop each.

    A merged loop has the stride of its parts where an access sees them evenly apart. Elsewhere
    the distance of neighbours is that along the innermost of the parts, but for where it ends.
    """
    for loops in merges:
        unit = _with_one(unit, tuple(loops))
    return unit


def _with_one(unit: Unit, loops: tuple[str, ...]) -> Unit:
    name = merged_name(loops)
    count = prod(unit.trips[loop] or 1 for loop in loops)
    one = Loop(name, Int(0), Int(count), ())
    last = max(k for k, loop in enumerate(unit.band) if loop.var in loops)
    band = [one if k == last else loop for k, loop in enumerate(unit.band)]
    names = [one.var if n in loops else n for n in unit.parallel]
    accesses = {
        number: tuple(_with_stride(fact, name, loops) for fact in facts)
        for number, facts in unit.analysis.accesses.items()
    }
    return replace(
        unit,
        analysis=replace(unit.analysis, accesses=accesses),
        band=tuple(loop for loop in band if loop.var not in loops),
        parallel=tuple(dict.fromkeys(names)),
        merges=(*unit.merges, loops),
    )


def _with_stride(fact: AccessFacts, name: str, loops: tuple[str, ...]) -> AccessFacts:
    strides = dict(fact.strides)
    used = [loop for loop in loops if strides.get(loop) != 0]
    if used:
        strides[name] = strides.get(loops[-1]) if loops[-1] in used else None
    elif any(loop in strides for loop in loops):
        strides[name] = 0
    return replace(fact, strides=strides)


def as_merged(choice: Candidate, merges: Sequence[tuple[str, ...]]) -> Candidate:
    """Return a candidate for a unit with merged loops as one for the unit itself.

    The parts of such a loop are worked out once for all their uses, but where it is unrolled: each
    copy of its body has parts of its own.
    """
    unrolled = {loop for _, loop, _ in choice.unroll}
    names = (name for name in map(merged_name, merges) if name not in unrolled)
    return choice.having(
        *(Merge(part[0], loops) for part in choice.parts for loops in merges),
        *(Decode(choice.leader, name) for name in names),
    )
