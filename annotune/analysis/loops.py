"""What each loop's dependences allow, with the proof in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotune.analysis.dependences import Carried, distance
from annotune.analysis.facts import DependenceKind, LoopFacts, LoopKind
from annotune.analysis.model import Model
from annotune.analysis.privatise import Lifetime
from annotune.analysis.statements import Counted, Statement, loops_of
from annotune.analysis.text import listed
from annotune.ir.text import print_expr


def classify(
    model: Model, dependences: Sequence[Carried], lifetimes: Mapping[str, Lifetime]
) -> tuple[LoopFacts, ...]:
    """Return the facts of every loop, in text order."""
    return tuple(_facts(model, loop, dependences, lifetimes) for loop in loops_of(model.statements))


def _facts(
    model: Model,
    loop: Counted,
    dependences: Sequence[Carried],
    lifetimes: Mapping[str, Lifetime],
) -> LoopFacts:
    depth = len(loop.position) - 1
    inside = [s for s in model.statements if s.position[: depth + 1] == loop.position]
    numbers = {statement.number for statement in inside}
    carried = [d for d in dependences if depth in d.pieces and d.dependence.source in numbers]
    lives = [life for life in lifetimes.values() if life.is_private_to(loop.position)]
    private = tuple(life.name for life in lives if not life.is_array)
    against = [d for d in carried if not d.dependence.is_reduction]
    if against:
        kind = LoopKind.SERIAL
        proof = _why_serial(min(against, key=_interest), loop.var, depth)
    elif carried:
        kind = LoopKind.REDUCTION
        targets = dict.fromkeys(d.dependence.array for d in carried)
        verb = "is" if len(targets) == 1 else "are"
        proof = f"{listed(list(targets))} {verb} accumulated over {loop.var}"
    else:
        kind = LoopKind.PARALLEL
        proof = _why_parallel(loop.var, inside, tuple(life.name for life in lives))
    if not model.all_sizes:
        proof += " (at these sizes)"
    path = inside[0].iterators[: depth + 1]
    return LoopFacts(loop.loop, path, kind, private, proof, tuple(d.dependence for d in carried))


def _interest(carried: Carried) -> int:
    """Rank what best explains a serial loop: a value that travels, then an order of writes."""
    return list(DependenceKind).index(carried.dependence.kind)


def _why_serial(carried: Carried, var: str, depth: int) -> str:
    """Return such as ``a[i] is written at i and read as a[i - 1] at i+1 (distance 1)``."""
    first, then = {
        DependenceKind.FLOW: ("written", "read"),
        DependenceKind.ANTI: ("read", "written"),
        DependenceKind.OUTPUT: ("written", "written again"),
    }[carried.dependence.kind]
    source, sink = print_expr(carried.source.access), print_expr(carried.sink.access)
    name = "" if source == sink else f" as {sink}"
    apart = distance(carried, depth)
    if apart is None:
        return f"{source} is {first} in one iteration of {var} and {then}{name} in a later one"
    return f"{source} is {first} at {var} and {then}{name} at {var}+{apart} (distance {apart})"


def _why_parallel(var: str, inside: Sequence[Statement], private: tuple[str, ...]) -> str:
    references = [r for statement in inside for r in statement.references]
    written = dict.fromkeys(r.name for r in references if r.is_write and r.name not in private)
    # Where iterations may read one element together, only its writing is exclusive.
    targets = {statement.assign.target for statement in inside}
    shared = any(r.name in written and r.access not in targets for r in references)
    names = listed(list(written), "or")
    own = listed(list(private))
    proof = f"each iteration of {var} has its own {own}" if own else ""
    if not names:
        return proof
    joined = f"{proof}, and " if proof else ""
    if shared:
        return f"{joined}no iteration of {var} touches an element of {names} that another writes"
    return f"{joined}no two iterations of {var} touch the same element of {names}"
