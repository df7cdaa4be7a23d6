"""Which loops of a band may be mapped: parallel ones, or reductions that combine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement

from annotune.analysis.facts import Analysis
from annotune.decide.partials import reductions_refused
from annotune.ir.nest import Level, Loop
from annotune.transforms.carried import carried_sums
from annotune.transforms.context import Context
from annotune.transforms.map import Map
from annotune.transforms.tree import Body, bound_names, numbers, top_of


def mappable(
    analysis: Analysis, body: Body, statements: tuple[int, ...], band: tuple[Loop, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (host loops, parallel loops) of a band: what may run in parallel, all at once.

    A loop may be parallel only below a serial one that carries a dependence; then that one
    and what is around it stay on the host.
    """
    first = statements[0]
    able = [x for x in band if carried_sums(analysis, statements, x.var) == ()]
    free = _free(able, band, ())
    serial = [loop.var for loop in band if loop.var not in free]
    for count in range(len(serial) + 1):
        host = tuple(serial[:count])
        below = _below(band, host, _free(able, band, host))
        if below and _legal(analysis, body, first, host, below):
            return host, below
    for name in free:
        if _legal(analysis, body, first, (), (name,)):
            return (), (name,)
    return (), ()


def summable(
    analysis: Analysis, body: Body, statements: tuple[int, ...], band: tuple[Loop, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (host loops, reduction loops) of a band: what may run in parallel if it combines.

    Every loop inside the outermost of them must be one, for a partial result belongs to a
    worker as a whole. One or two of them may then be threads and blocks (`may_combine`).
    """
    carried = {x.var: carried_sums(analysis, statements, x.var) for x in band}
    for start in range(len(band)):
        host = tuple(x.var for x in band[:start])
        able = [x for x in band[start:] if carried[x.var]]
        free = _below(band, host, _free(able, band, host))
        if not free or free[0] != band[start].var or len(able) < len(band) - start:
            continue
        pairs = combinations_with_replacement(free, 2)
        if any(may_combine(analysis, body, statements, host, pair) for pair in pairs):
            return host, free
    return (), ()


def may_combine(
    analysis: Analysis,
    body: Body,
    statements: tuple[int, ...],
    host: tuple[str, ...],
    loops: Iterable[str],
) -> bool:
    """Return whether the loops may all run in parallel, with partial results for each reduction.

    They nest as they are named, and the other loops of the band run inside them.
    """
    statement = statements[0]
    levels = tuple((loop, Level.BLOCK_X) for loop in dict.fromkeys(loops))
    mapping, context = Map(statement, levels, host), Context(analysis)
    if mapping.why_not(body, context) is not None:
        return False
    mapped = mapping.apply(body, context)
    return reductions_refused(mapped, context, numbers(mapped[top_of(mapped, statement)])) is None


def _free(able: list[Loop], band: tuple[Loop, ...], host: tuple[str, ...]) -> list[str]:
    """Return the loops of `able` whose bounds no loop of the band sets but those of the host."""
    around = {loop.var for loop in band} - set(host)
    return [loop.var for loop in able if not bound_names(loop) & around]


def _below(band: tuple[Loop, ...], host: tuple[str, ...], free: list[str]) -> tuple[str, ...]:
    """Return the loops of `free` that stand inside all the host loops."""
    names = [loop.var for loop in band]
    start = names.index(host[-1]) + 1 if host else 0
    # A parallel loop around a host loop would be run by the host too; it is left to it.
    return tuple(name for name in names[start:] if name in free)


def _legal(
    analysis: Analysis,
    body: Body,
    statement: int,
    host: tuple[str, ...],
    placed: tuple[str, ...],
) -> bool:
    levels = tuple((loop, Level.THREAD_X) for loop in placed)
    return Map(statement, levels, host).why_not(body, Context(analysis)) is None
