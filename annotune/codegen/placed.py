"""Loops that run in parallel, wherever they stand in a kernel, and the scalars they combine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from annotune.analysis.facts import Analysis
from annotune.codegen.names import temporaries
from annotune.ir.nest import Level, Loop, Stmt, walk_stmts
from annotune.ir.region import Scalar
from annotune.transforms.tree import Body


def is_placed(stmt: Stmt) -> bool:
    """Return whether `stmt` is a loop that does not run in order."""
    return isinstance(stmt, Loop) and stmt.place is not Level.SERIAL


def holds(stmt: Stmt, levels: frozenset[Level]) -> bool:
    """Return whether a loop of one of `levels` stands in `stmt`, or is it."""
    return any(isinstance(s, Loop) and s.place in levels for s in walk_stmts((stmt,)))


def band_from(loop: Loop, levels: frozenset[Level]) -> tuple[Loop, ...]:
    """Return `loop` and the loops of `levels` perfectly nested in it, outermost first."""
    out = [loop]
    while len(out[-1].body) == 1:
        inner = out[-1].body[0]
        if not isinstance(inner, Loop) or inner.place not in levels:
            break
        out.append(inner)
    return tuple(out)


def outside_placed(body: Body) -> Iterator[Stmt]:
    """Yield the statements of `body` that stand in no placed loop of it."""
    for stmt in body:
        if not isinstance(stmt, Loop):
            yield stmt
        elif not is_placed(stmt):
            yield from outside_placed(stmt.body)


def declared_in(
    analysis: Analysis, body: Body, known: frozenset[str] = frozenset()
) -> tuple[Scalar, ...]:
    """Return the temporaries to declare around `body`: all but those of placed loops in it.

    What the iterations of a placed loop assign is their own, and declared in there. `known`
    are declared around `body` already.
    """
    own = temporaries(analysis, outside_placed(body))
    return tuple(scalar for scalar in own if scalar.name not in known)


def reduction_clauses(loops: Iterable[Loop]) -> str:
    """Return the clauses for what `loops` combine, alike in OpenACC and OpenMP."""
    names: dict[str, list[str]] = {}
    for loop in loops:
        for combined in loop.combines:
            found = names.setdefault(str(combined.op), [])
            if combined.name not in found:
                found.append(combined.name)
    return "".join(f" reduction({op}:{', '.join(found)})" for op, found in names.items())


def combined_names(loops: Sequence[Loop]) -> tuple[str, ...]:
    """Return the scalars that `loops` combine, in order."""
    return tuple(dict.fromkeys(c.name for loop in loops for c in loop.combines))
