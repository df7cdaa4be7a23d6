"""The one question every structural transform asks: does the new order break a dependence?"""

from __future__ import annotations

from annotune.analysis.facts import Analysis, LoopKind, Violation
from annotune.analysis.schedule import violations
from annotune.diagnostics import Diagnostic, Span, Template
from annotune.transforms.messages import (
    DEPENDENCE_NOTE,
    NO_SUCH_LOOP,
    NO_SUCH_STATEMENT,
    PARALLEL_DEPENDENCE,
    REVERSES_DEPENDENCE,
)
from annotune.transforms.tree import Body, numbers, path


def order_refusal(
    command: str, body: Body, analysis: Analysis, span: Span, help: str
) -> Diagnostic | None:
    """Return why `body` may not run in its order, at the command's place, or None."""
    return _refusal(REVERSES_DEPENDENCE, command, body, analysis, span, help)


def placement_refusal(
    command: str, body: Body, analysis: Analysis, span: Span, help: str
) -> Diagnostic | None:
    """Return why the placed loops of `body` may not run in parallel, or None."""
    return _refusal(PARALLEL_DEPENDENCE, command, body, analysis, span, help)


def _refusal(
    template: Template, command: str, body: Body, analysis: Analysis, span: Span, help: str
) -> Diagnostic | None:
    broken = violations(analysis, body)
    if not broken:
        return None
    first = broken[0]
    refusal = template.at(
        span,
        command=command,
        loop=first.loop,
        array=first.dependence.array,
        text=first.text,
        help=help,
    )
    return refusal.with_note(_note(first))


def _note(violation: Violation) -> Diagnostic:
    return DEPENDENCE_NOTE.at(violation.dependence.span, text=violation.text)


def kind_of(analysis: Analysis, statement: int, depth: int) -> LoopKind:
    """Return what the dependences of a statement's own loop at `depth` allow.

    Two nests may have loops of the same names, so the loop itself is looked for.
    """
    loop = analysis.paths[statement][depth]
    return next(facts.kind for facts in analysis.loops if facts.loop is loop)


def missing(body: Body, statement: int, names: tuple[str, ...], span: Span) -> Diagnostic | None:
    """Return the refusal of a command that names no such statement or loop, or None."""
    known = sorted(n for stmt in body for n in numbers(stmt))
    if statement not in known:
        return NO_SUCH_STATEMENT.at(span, statement=statement, last=known[-1])
    loops = [loop.var for loop in path(body, statement)]
    for name in names:
        if name not in loops:
            return NO_SUCH_LOOP.at(
                span, statement=statement, loop=name, loops=", ".join(loops) or "none"
            )
    return None
