"""What a text must stand before it is handed to a user, beyond what each trial of it stood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.measure.inputs import Values
from annotune.measure.overlaps import overlaps
from annotune.measure.plan import CheckPlan
from annotune.measure.sizes import border_sizes, condition_sizes
from annotune.measure.variant import Variant

Sizes = Mapping[str, int]

# What of the CUDA run-time library a text calls, each of which may fail.
_CALLS = re.compile(r"\bcuda(?:Malloc|Mem|DeviceSynchronize|GetLastError|Func)\w*\s*\(|<<<")


def proofs(
    variant: Variant, analysis: Analysis, plan: CheckPlan, awkward: Sequence[Sizes]
) -> Iterator[CheckPlan]:
    """Yield what a text that is about to win must stand, the cheap proofs first.

    `plan` is the one by which it was tried. Right values in the order in which threads happened to
    run say nothing of another order, at one size nothing of others, and of usual values nothing of
    equal ones; a branch that nothing has run is not known to be right.
    """
    plan = replace(plan, timing=None, device_name="", environ={}, arch="", grids=False)
    small = tuple(awkward) or plan.sizes
    borders = border_sizes(analysis)
    if borders:
        yield replace(plan, sizes=borders, may_fall_back=True)
    yield replace(plan, sizes=small, values=Values.EQUAL)
    # A detector is slow at the tuned sizes, which have been checked.
    yield replace(plan, sizes=(*small, *condition_sizes(analysis)), sanitize=True, races=True)
    unequal = small[1:2] or small[:1]
    found = () if plan.resident else overlaps(analysis, unequal[0])
    if found:
        yield replace(plan, sizes=unequal, overlaps=found, races=True, may_fall_back=True)
    if variant.device_text:
        yield replace(plan, sizes=small, has_small_grids=True)
        calls = len(_CALLS.findall(variant.device_text))
        yield replace(plan, sizes=unequal, failures=tuple(range(1, calls + 1)))
