"""The partial results of the reductions that a mapped nest combines."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.nest import walk_paths
from annotune.transforms.context import Context
from annotune.transforms.reduce import Reduce
from annotune.transforms.tree import Body, target_name


def reductions_refused(
    body: Body, context: Context, statements: Collection[int]
) -> Diagnostic | None:
    """Return why a reduction that placed loops combine has no partial results, or None."""
    refusals = (step.why_not(body, context) for step in reductions(body, statements))
    return next((refusal for refusal in refusals if refusal is not None), None)


def reductions(body: Body, statements: Collection[int], span: Span = NOWHERE) -> Iterator[Reduce]:
    """Yield a `Reduce` for each of `statements` in `body` whose target a placed loop combines.

    `span` is the place of the command that maps the loops, if the user wrote one.
    """
    for assign, loops in walk_paths(body):
        name = target_name(assign)
        over = tuple(x.var for x in loops if any(c.name == name for c in x.combines))
        if over and assign.number in statements:
            yield Reduce(assign.number, over, span)
