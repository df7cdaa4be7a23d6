"""The demands of Orio's ``transform CUDA(…)``: that the loop after it runs in parallel."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.analysis.facts import Analysis, LoopFacts, LoopKind
from annotune.annotation.spec import LoopWish, WishKind
from annotune.decide.messages import ASKED_FOR_SERIAL, CARRIED_HERE
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, variables
from annotune.ir.nest import Assign, Loop, walk_stmts


def refused_wishes(analysis: Analysis) -> Iterator[Diagnostic]:
    """Yield a refusal for each loop that must run in parallel and carries a dependence.

    It names the loops of the same nest that may run in parallel instead.
    """
    for wish in analysis.region.spec.wishes:
        if wish.kind is not WishKind.PARALLEL:
            continue
        facts = asked_loop(analysis, wish)
        if facts is None or not _is_refused(facts):
            continue
        inside = [stmt for stmt in walk_stmts(facts.loop.body) if isinstance(stmt, Loop)]
        kinds = {one.name: one.kind for one in analysis.loops if any(one.loop is x for x in inside)}
        others = [name for name, kind in kinds.items() if kind is LoopKind.PARALLEL]
        others = others or [name for name, kind in kinds.items() if kind is LoopKind.REDUCTION]
        instead = " or ".join(f"'{name}'" for name in others)
        help = (
            f"inside it {instead} may run in parallel: put the transformation before that loop"
            if others
            else "no loop of this nest may run in parallel; leave the transformation out"
        )
        refusal = ASKED_FOR_SERIAL.at(wish.span, loop=wish.loop, proof=facts.proof, help=help)
        yield refusal.with_note(CARRIED_HERE.at(facts.loop.span, loop=wish.loop))


def _is_refused(facts: LoopFacts) -> bool:
    """Return whether a loop cannot run in parallel as it stands.

    A sum over it can, into a scalar or one element. A sum of whole rows cannot: its inner
    loops go through the elements, and threads would meet at each of them.
    """
    if facts.kind is not LoopKind.REDUCTION:
        return facts.kind is LoopKind.SERIAL
    summed = {dependence.array for dependence in facts.carried}
    body = list(walk_stmts(facts.loop.body))
    inner = {stmt.var for stmt in body if isinstance(stmt, Loop)}
    return any(
        isinstance(stmt, Assign)
        and isinstance(stmt.target, Access)
        and stmt.target.array in summed
        and any(variables(index) & inner for index in stmt.target.indices)
        for stmt in body
    )


def asked_loop(analysis: Analysis, wish: LoopWish) -> LoopFacts | None:
    """Return the loop that a wish names: that at its place, else the first of its name."""
    loops = analysis.region.nest.loops()
    at_place = loops[wish.index] if 0 <= wish.index < len(loops) else None
    named = [one for one in analysis.loops if one.name == wish.loop]
    here = [one for one in named if one.loop is at_place]
    return next(iter((*here, *named)), None)
