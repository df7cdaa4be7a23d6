"""The nests of a region that can become kernels, and which of their loops may be mapped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from annotune.analysis.facts import AccessFacts, Analysis, Dependence, LoopKind
from annotune.analysis.schedule import violations
from annotune.ir.expr import Int, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Level, Loop
from annotune.transforms.distribute import Distribute
from annotune.transforms.fuse import Fuse
from annotune.transforms.legality import kind_of
from annotune.transforms.map import Map
from annotune.transforms.tree import Body, bands, bound_names, numbers, path


@dataclass(frozen=True)
class Unit:
    """A nest that is launched as one kernel.

    `groups` are the finest groups of the whole region, `parts` those of them in this nest.
    `band` is its perfect nest of loops, outermost first, `host` the serial ones of them
    that must stay around the launch, `parallel` those that may be mapped, outermost first.
    `trips` are trip counts at the region's sizes, None where a count depends on a loop.
    """

    analysis: Analysis
    groups: tuple[tuple[int, ...], ...]
    parts: tuple[tuple[int, ...], ...]
    band: tuple[Loop, ...]
    host: tuple[str, ...]
    parallel: tuple[str, ...]

    @property
    def statements(self) -> tuple[int, ...]:
        """Return the numbers of the unit's statements."""
        return tuple(n for part in self.parts for n in part)

    @property
    def leader(self) -> int:
        """Return the statement whose number names the unit in a recipe."""
        return self.parts[0][0]

    @cached_property
    def trips(self) -> Mapping[str, int | None]:
        sizes = self.analysis.region.sizes
        out: dict[str, int | None] = {}
        for statement in self.statements:
            for loop in self.analysis.paths[statement]:
                count = fold(trip_count(loop), sizes)
                out[loop.var] = count.value if isinstance(count, Int) else None
        return out

    @cached_property
    def reads(self) -> tuple[AccessFacts, ...]:
        """Return the inputs: what is read, without the targets of ``+=``."""
        out = []
        for statement in self.statements:
            facts = self.analysis.accesses[statement]
            targets = [f.access for f in facts if f.is_write]
            out += [f for f in facts if not f.is_write and f.access not in targets]
        return tuple(out)

    @cached_property
    def writes(self) -> tuple[AccessFacts, ...]:
        return tuple(f for s in self.statements for f in self.analysis.accesses[s] if f.is_write)

    def serial_loops(self, statement: int) -> tuple[str, ...]:
        """Return the loops of a statement that are reductions or carry dependences."""
        names = tuple(loop.var for loop in self.analysis.paths[statement])
        return tuple(
            name
            for depth, name in enumerate(names)
            if kind_of(self.analysis, statement, depth) != LoopKind.PARALLEL
        )


def atomic_groups(analysis: Analysis) -> tuple[tuple[int, ...], ...]:
    """Return the finest groups of statements whose loops may be distributed.

    Statements start apart; those whose order distribution would break join, with what
    stands between them.
    """
    order = [assign.number for assign in analysis.region.nest.assigns()]
    groups: list[tuple[int, ...]] = [(n,) for n in order]
    while len(groups) > 1:
        broken = violations(analysis, Distribute(tuple(groups)).apply(analysis.region.nest.body))
        if not broken:
            break
        merged = groups
        for violation in broken:
            together = _tied(analysis, violation.dependence)
            merged = _joined(merged, min(together), max(together))
        # The text's own order is legal, so what is broken stands in two groups or more.
        assert len(merged) < len(groups), "the original order breaks a dependence"
        groups = merged
    return tuple(groups)


def _tied(analysis: Analysis, dependence: Dependence) -> set[int]:
    """Return the statements that a broken dependence ties: its ends, or for a temporary all
    that use it."""
    if dependence.array not in analysis.private:
        return {dependence.source, dependence.sink}
    name = dependence.array
    out: set[int] = set()
    for assign in analysis.region.nest.assigns():
        if any(name in variables(e) for e in (*assign.sources(), assign.target)):
            out.add(assign.number)
    return out


def _joined(groups: list[tuple[int, ...]], low: int, high: int) -> list[tuple[int, ...]]:
    """Return the groups with all that touch the range ``low..high`` made one."""
    inside = [g for g in groups if not (max(g) < low or min(g) > high)]
    merged = tuple(sorted(n for g in inside for n in g))
    out = [g for g in groups if g not in inside]
    return sorted([*out, merged], key=min)


def units(analysis: Analysis, groups: tuple[tuple[int, ...], ...]) -> tuple[Unit, ...]:
    """Return the nests to launch, in text order, for a region distributed into `groups`."""
    body = Distribute(groups).apply(analysis.region.nest.body)
    out: list[Unit] = []
    for stmt in body:
        out += _units(analysis, groups, body, tuple(sorted(numbers(stmt))), 0)
    return tuple(out)


def _units(
    analysis: Analysis,
    groups: tuple[tuple[int, ...], ...],
    body: Body,
    statements: tuple[int, ...],
    depth: int,
) -> list[Unit]:
    """Return the kernels among `statements`, which share the band at `depth`."""
    own = bands(body, statements[0])
    if depth >= len(own):
        return [Unit(analysis, groups, (statements,), (), (), ())]
    band = own[depth]
    host, parallel = mappable(analysis, body, statements[0], band)
    if parallel or not isinstance(band[-1].body[0], Loop):
        return [Unit(analysis, groups, (statements,), band, host, parallel)]
    children = [tuple(sorted(numbers(child))) for child in band[-1].body]
    found = [u for child in children for u in _units(analysis, groups, body, child, depth + 1)]
    if any(unit.parallel for unit in found):
        return found
    return [Unit(analysis, groups, (statements,), band, (), ())]


def mappable(
    analysis: Analysis, body: Body, statement: int, band: tuple[Loop, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (host loops, parallel loops) of a band: what may run in parallel, all at once.

    A loop may be parallel only below a serial one that carries a dependence; then that one
    and what is around it stay on the host.
    """
    names = [loop.var for loop in path(body, statement)]
    able = [
        loop
        for loop in band
        if kind_of(analysis, statement, names.index(loop.var)) == LoopKind.PARALLEL
    ]
    free = _free(able, band, ())
    serial = [loop.var for loop in band if loop.var not in free]
    for count in range(len(serial) + 1):
        host = tuple(serial[:count])
        below = _below(band, host, _free(able, band, host))
        if below and _legal(analysis, body, statement, host, below):
            return host, below
    for name in free:
        if _legal(analysis, body, statement, (), (name,)):
            return (), (name,)
    return (), ()


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
    levels = dict.fromkeys(placed, Level.THREAD_X)
    return Map(statement, levels, host).why_not(body, analysis) is None


def fusible(
    analysis: Analysis, first: Unit, second: Unit, keep_parallel: bool = True
) -> Unit | None:
    """Return the two units as one when their nests may share a kernel, else None.

    With `keep_parallel`, every loop that may be mapped in the first must stay so.
    """
    if first.host or second.host or not first.parallel:
        return None
    parts = (*first.parts, *second.parts)
    body = Distribute(first.groups).apply(analysis.region.nest.body)
    fuse = Fuse(tuple(part[0] for part in parts), analysis.region.constants)
    if fuse.why_not(body, analysis) is not None:
        return None
    fused = fuse.apply(body)
    band = bands(fused, parts[0][0])[0]
    host, parallel = mappable(analysis, fused, parts[0][0], band)
    if host or not parallel or (keep_parallel and set(parallel) != set(first.parallel)):
        return None
    return Unit(analysis, first.groups, parts, band, (), parallel)
