"""The reductions that a loop carries, and nothing else, so that its workers may combine them."""

from __future__ import annotations

from collections.abc import Collection

from annotune.analysis.facts import Analysis
from annotune.analysis.reductions import reduction_operator
from annotune.ir.nest import Combine, Operator


def carried_sums(
    analysis: Analysis, inside: Collection[int], loop: str
) -> tuple[Combine, ...] | None:
    """Return what a loop around the statements `inside` must combine to run in parallel.

    None when it carries more than reductions. `loop` is the name in the text; other statements
    in the text's loop are in nests of their own and do not count.
    """
    assigns = {a.number: a for a in analysis.region.nest.assigns()}
    own = {id(x) for number in inside for x in analysis.paths[number] if x.var == loop}
    found: dict[Combine, None] = {}
    for facts in analysis.loops:
        for dependence in facts.carried if id(facts.loop) in own else ():
            if dependence.source not in inside or dependence.sink not in inside:
                continue
            operator = reduction_operator(assigns[dependence.source])
            if not dependence.is_reduction or operator is None:
                return None
            found.setdefault(Combine(Operator(operator), dependence.array))
    # One array reduced in two ways has no partial result.
    return tuple(found) if len({c.name for c in found}) == len(found) else None
