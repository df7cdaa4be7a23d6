"""The partial results of the reductions that a mapped nest combines."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from annotune.analysis.facts import Analysis
from annotune.analysis.nan_and_zero import (
    doubt,
    may_leave_range,
    may_stay_negative_zero,
    needed,
)
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.expr import Access, Var
from annotune.ir.nest import Assign, Level, walk_paths
from annotune.transforms.reduce import Reduce
from annotune.transforms.tree import Body, target_name

# Workers whose partial sums begin at 0.0, as clauses have it.
_BY_CLAUSE = frozenset({Level.GANG, Level.WORKER, Level.VECTOR, Level.CPU_THREAD, Level.SIMD})


def reductions_refused(
    body: Body, analysis: Analysis, statements: Collection[int]
) -> Diagnostic | None:
    """Return why a reduction that placed loops combine has no partial results, or None."""
    for step in reductions(body, analysis, statements):
        refusal = step.why_not(body, analysis)
        if refusal is not None:
            return refusal
    return None


def reductions(
    body: Body, analysis: Analysis, statements: Collection[int], span: Span = NOWHERE
) -> Iterator[Reduce]:
    """Yield a `Reduce` for each of `statements` in `body` whose target a placed loop combines.

    `span` is the place of the command that maps the loops, if the user wrote one.
    """
    outer = analysis.region.names
    for assign, loops in walk_paths(body):
        name = target_name(assign)
        over = tuple(x.var for x in loops if any(c.name == name for c in x.combines))
        if over and assign.number in statements:
            element = element_of(analysis, assign.target)
            doubted = doubt(analysis.region, assign)
            again = needed(analysis.region.nest.assigns(), assign)
            by_clause = any(x.place in _BY_CLAUSE for x in loops if x.var in over)
            loses = by_clause and may_stay_negative_zero(analysis.region, assign)
            if loses and not _runs_again(analysis, assign):
                # Of a complex number each part would want a flag of its own.
                again, loses = frozenset(), "omplex" not in element
            loses |= may_leave_range(analysis.region, assign)
            yield Reduce(assign.number, over, element, span, outer, doubted, again, loses)


def _runs_again(analysis: Analysis, assign: Assign) -> bool:
    """Return whether the loops of a sum may compute its terms a second time."""
    own = (d for d in analysis.dependences if d.is_reduction and d.source == assign.number)
    return all(d.may_run_again for d in own)


def element_of(analysis: Analysis, target: Access | Var) -> str:
    """Return the C type of what a statement writes."""
    if isinstance(target, Var):
        return analysis.region.scalars[target.name].type
    return analysis.region.arrays[target.array].element
