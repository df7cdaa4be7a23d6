"""Which loops inside the work of a block its threads may share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.decide.partials import reductions_refused
from annotune.ir.nest import Combine, Level, Loop
from annotune.transforms.carried import carried_sums
from annotune.transforms.context import Context
from annotune.transforms.map import Map
from annotune.transforms.team import Team
from annotune.transforms.tree import Body, numbers, path

_BLOCKS = (Level.BLOCK_X, Level.BLOCK_Y, Level.BLOCK_Z)


@dataclass(frozen=True, slots=True)
class Shared:
    """The loops for blocks, and (statement, loop) for the threads of a block.

    `sums` are those of the latter that combine a reduction.
    """

    blocks: tuple[str, ...]
    loops: tuple[tuple[int, str], ...]
    sums: tuple[tuple[int, str], ...]


def shared_loops(
    analysis: Analysis,
    body: Body,
    statements: tuple[int, ...],
    blocks: Mapping[str, tuple[Combine, ...]],
    host: tuple[str, ...],
) -> Shared:
    """Return what the threads of a block share when the loops `blocks` are mapped to blocks.

    `blocks` gives what each of them combines. In each nest inside them one loop is taken.
    """
    levels = tuple(zip(blocks, _BLOCKS, strict=False))
    mapping, context = Map(statements[0], levels, host), Context(analysis)
    if mapping.why_not(body, context) is not None:
        return Shared((), (), ())
    body = mapping.apply(body, context)
    around = path(body, statements[0])
    inside = next(x for x in reversed(around) if x.place is not Level.SERIAL).body
    loops: list[tuple[int, str]] = []
    sums: list[tuple[int, str]] = []
    for nest, names in _candidates(analysis, inside):
        within = numbers(nest)
        for loop in names:
            step = Team(min(within), loop, Level.THREAD_X, host)
            if step.why_not(body, context) is not None:
                continue
            shared = step.apply(body, context)
            if reductions_refused(shared, context, statements) is None:
                body = shared
                loops.append((min(within), loop))
                sums += [(min(within), loop)] if carried_sums(analysis, within, loop) else []
                break
    return Shared(tuple(blocks), tuple(loops), tuple(sums))


def _candidates(analysis: Analysis, body: Body) -> Iterator[tuple[Loop, tuple[str, ...]]]:
    """Yield each nest in `body` with the loops that carry no order, the best for threads first.

    That is the one with the most accesses that are contiguous in it, a parallel one before a
    reduction, and an outer one before an inner one.
    """
    for stmt in body:
        if not isinstance(stmt, Loop):
            continue
        chain = [stmt]
        while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], Loop):
            chain.append(chain[-1].body[0])
        carried = {x.var: carried_sums(analysis, numbers(x), x.var) for x in chain}
        able = [name for name, sums in carried.items() if sums is not None]
        if able:
            rank = {x: (-_contiguous(analysis, numbers(stmt), x), bool(carried[x])) for x in able}
            yield stmt, tuple(sorted(able, key=lambda name: rank[name]))
        else:
            yield from _candidates(analysis, chain[-1].body)


def _contiguous(analysis: Analysis, statements: frozenset[int], loop: str) -> int:
    """Return how many accesses of `statements` have unit stride in `loop`."""
    return sum(a.strides.get(loop) == 1 for s in statements for a in analysis.accesses[s])
