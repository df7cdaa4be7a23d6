"""The nests of a region that can become kernels, and which of their loops may be mapped.

Those are parallel ones, or reductions that combine; inside the work of a block its threads may
share further ones. A unit also says how it is seen once some of its loops run as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import prod
from typing import TypeGuard, cast

from annotune.analysis.facts import AccessFacts, Analysis, Dependence
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.schedule import keeps_order, violations
from annotune.diagnostics import Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Int, Real, Var, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Combine, Level, LocalArray, Loop
from annotune.schedule.apply import reductions_refused
from annotune.schedule.candidate import Candidate
from annotune.schedule.imperfect import ImperfectNest, imperfect_nests
from annotune.transforms.distribute import Distribute, Fuse, Scalarize
from annotune.transforms.legality import carried_sums
from annotune.transforms.map import Map, Team
from annotune.transforms.merge import Decode, Merge, merged_name
from annotune.transforms.messages import NOT_MERGED
from annotune.transforms.permute import Permute
from annotune.transforms.tile import tile_name, worker_name
from annotune.transforms.transform import Answers, Context, Transform, asked_once
from annotune.transforms.tree import (
    Body,
    bands,
    bound_names,
    find_assign,
    numbers,
    path,
    top_of,
)

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


# A launch per iteration of one serial loop may pay for a sum; of two, it costs more than that.
MAX_LOOPS_AROUND_SUM = 1
# A grid's axes take two loops; the third axis is for the tiles of one of them.
MAX_BLOCK_LOOPS = 2


@dataclass(frozen=True)
class Unit:
    """A nest that is launched as one kernel.

    `groups` are the finest groups of the whole region, `parts` those of them in this nest.
    `band` is its perfect nest of loops, outermost first, `host` the serial ones of them
    that must stay around the launch, `parallel` those that may be mapped, outermost first.
    Where none may be, `sums` are the reduction loops that may be mapped if they combine.
    Where `members` are joined, their nests share the loops of `band` and stay apart inside it.
    `trips` are trip counts at the region's sizes, None where a count depends on a loop, or
    where loops of one name differ in it. `merges` are loops that run as one, outermost first;
    `band` and `parallel` have the merged ones. `joint` are the loops, outermost first, that pick
    an output into which all statements of several nests accumulate, empty for other units. Such a
    nest stands where the first of them stood, with `late` where the last did.
    """

    analysis: Analysis
    groups: tuple[tuple[int, ...], ...]
    parts: tuple[tuple[int, ...], ...]
    band: tuple[Loop, ...]
    host: tuple[str, ...]
    parallel: tuple[str, ...]
    sums: tuple[str, ...] = ()
    merges: tuple[tuple[str, ...], ...] = ()
    members: tuple[Unit, ...] = ()
    joint: tuple[str, ...] = ()
    late: bool = False

    @property
    def joined(self) -> str:
        """Return the innermost loop that joined units share, empty where there are none."""
        return self.band[-1].var if self.members else ""

    @property
    def statements(self) -> tuple[int, ...]:
        """Return the numbers of the unit's statements."""
        return tuple(n for part in self.parts for n in part)

    @property
    def leader(self) -> int:
        """Return the statement whose number names the unit in a recipe."""
        return self.parts[0][0]

    @property
    def place(self) -> int:
        """Return the first statement of the nest of the text where the unit stands."""
        return (max if self.late else min)(part[0] for part in self.parts)

    @cached_property
    def added(self) -> tuple[int, ...]:
        """Return the statements that accumulate into the element that the `joint` loops pick."""
        target = find_assign(self.body, self.leader).target
        first = (part[0] for part in self.parts)
        return tuple(n for n in first if find_assign(self.body, n).target == target)

    @property
    def passed(self) -> tuple[str, ...]:
        """Return the arrays that parts of statements with a `joint` loop have in scalars."""
        parts = self.parts if self.joint else ()
        return tuple(array for part in parts for array in _handed_on(self.analysis, part))

    @cached_property
    def answers(self) -> Answers:
        return {}

    @cached_property
    def context(self) -> Context:
        """Return what transforms know of the region at the sizes that it is tuned for."""
        return Context(self.analysis, self.analysis.region.sizes)

    @cached_property
    def trips(self) -> Mapping[str, int | None]:
        found: dict[str, set[int | None]] = {}
        for statement in self.statements:
            for loop in self.analysis.paths[statement]:
                found.setdefault(loop.var, set()).add(self.count(loop))
        for loop in self.band:
            found.setdefault(loop.var, set()).add(self.count(loop))
        return {name: next(iter(c)) if len(c) == 1 else None for name, c in found.items()}

    @cached_property
    def mean_trips(self) -> Mapping[str, int]:
        """`trips` with a mean where a count varies, the same for all such loops of a statement.

        With loops of that length the statement runs as often as it does.
        """
        found = {name: count for name, count in self.trips.items() if count is not None}
        for statement in self.statements:
            loops = {x.var for x in self.analysis.paths[statement]}
            counts = {name: self.trip(statement, name) for name in loops}
            varied = [name for name, count in counts.items() if count is None]
            if varied:
                runs = self.analysis.work[statement].runs / prod(c or 1 for c in counts.values())
                mean = max(1, round(runs ** (1 / len(varied))))
                found |= {name: max(mean, found.get(name, 1)) for name in varied}
        return {name: found.get(name, 1) for name in self.trips}

    def trip(self, statement: int, name: str) -> int | None:
        """Return how often the loop `name` around a statement runs, None as in `trips`."""
        if (statement, name) not in self._known_trips:
            parts = self.parts_of(name)
            counts = [self.count(x) for x in self.analysis.paths[statement] if x.var in parts]
            known = [n for n in counts if n is not None]
            is_known = len(known) == len(counts)
            self._known_trips[statement, name] = prod(known) if is_known else None
        return self._known_trips[statement, name]

    @cached_property
    def _known_trips(self) -> dict[tuple[int, str], int | None]:
        return {}

    def parts_of(self, name: str) -> tuple[str, ...]:
        """Return the loops of the text that a loop runs: itself, or those that are merged in it."""
        return next((loops for loops in self.merges if merged_name(loops) == name), (name,))

    def count(self, loop: Loop) -> int | None:
        """Return how often `loop` runs at the region's sizes, None where that varies."""
        count = fold(trip_count(loop), self.analysis.region.sizes)
        return count.value if isinstance(count, Int) else None

    def extent(self, choice: Candidate, loop: str) -> int:
        """Return the iterations of a loop, of its tile or its workers if it has such; 0 unknown."""
        workers = {worker_name(name): count for name, count in choice.cyclic}
        return {**dict(choice.tiles), **workers}.get(loop) or self.trips.get(loop) or 0

    def pieces(self, loops: Iterable[str], tiles: Mapping[str, int]) -> int:
        """Return the iterations of loops together; those over `tiles` have one for each tile."""
        cut = {tile_name(name): -(-(self.trips[name] or 1) // size) for name, size in tiles.items()}
        return prod(cut.get(name) or self.trips.get(name) or 1 for name in loops)

    def is_followed(self, name: str) -> bool:
        """Return whether iterations of a loop, merged or not, are evenly apart in every access."""
        parts = self.parts_of(name)
        return len(parts) == 1 or all(
            follow(fact, parts, self.trips)
            for n in self.statements
            for fact in self.analysis.accesses[n]
        )

    def in_parts(self, name: str, index: int) -> Iterator[tuple[str, int]]:
        """Yield how far each loop of the text has come in an iteration of a loop, by its number."""
        parts = self.parts_of(name)
        if len(parts) == 1:
            yield name, index
            return
        for part in reversed(parts):
            count = self.trips[part] or 1
            yield part, index % count
            index //= count

    def goes_stale(self, target: Access, loop: str) -> bool:
        """Return whether a statement inside `loop` uses another element of the target's array."""
        inside = [s for s in self.statements if loop in self.loops_around(s)]
        found = (fact.access for s in inside for fact in self.analysis.accesses[s])
        return any(access.array == target.array and access != target for access in found)

    @cached_property
    def reads(self) -> tuple[AccessFacts, ...]:
        """Return the inputs of all statements."""
        return tuple(fact for s in self.statements for fact in self.inputs(s))

    def inputs(self, statement: int) -> tuple[AccessFacts, ...]:
        """Return what a statement reads, without the target of a ``+=``."""
        facts = self.analysis.accesses[statement]
        targets = [f.access for f in facts if f.is_write]
        return tuple(f for f in facts if not f.is_write and f.access not in targets)

    @cached_property
    def writes(self) -> tuple[AccessFacts, ...]:
        return tuple(f for s in self.statements for f in self.analysis.accesses[s] if f.is_write)

    def loops_around(self, statement: int) -> tuple[str, ...]:
        """Return the names of the loops around a statement, outermost first."""
        names = [loop.var for loop in self.analysis.paths[statement]]
        for loops in self.merges:
            last = max((names.index(n) for n in loops if n in names), default=None)
            if last is not None:
                names[last] = merged_name(loops)
            names = [n for n in names if n not in loops]
        return tuple(names)

    def serial_loops(self, statement: int) -> tuple[str, ...]:
        """Return the loops of a statement that are reductions or carry dependences."""
        names = self.loops_around(statement)
        return tuple(name for name in names if self.combined(statement, name) != ())

    def combined(self, statement: int, loop: str) -> tuple[Combine, ...] | None:
        """Return what a loop of a statement must combine to run in parallel, None if it must not.

        The loops of other units, into which the text's loop is distributed, do not count.
        """
        key = statement, loop
        if key not in self._combined:
            self._combined[key] = self._what_combines(statement, loop)
        return self._combined[key]

    @cached_property
    def _combined(self) -> dict[tuple[int, str], tuple[Combine, ...] | None]:
        # Every point of the space asks, and each answer is a walk over the nest.
        return {}

    def _what_combines(self, statement: int, loop: str) -> tuple[Combine, ...] | None:
        found: dict[Combine, None] = {}
        for part in self.parts_of(loop):
            own = next(x for x in self.analysis.paths[statement] if x.var == part)
            paths = self.analysis.paths
            inside = [n for n in self.statements if any(x is own for x in paths[n])]
            sums = carried_sums(self.analysis, inside, part)
            if sums is None:
                return None
            found |= dict.fromkeys(sums)
        return tuple(found) if len({c.name for c in found}) == len(found) else None

    def is_in_memory(self, target: Access | Var) -> TypeGuard[Access]:
        """Return whether a target is an element of an array of the user's, not of one iteration."""
        return isinstance(target, Access) and target.array in self.analysis.region.arrays

    def may_have_lanes(self, loop: str) -> bool:
        """Return whether lanes of a loop keep the order of what they hold."""
        around = self.loops_around(self.leader)
        names = around[: around.index(loop) + 1]
        inside = [n for n in self.statements if loop in self.loops_around(n)]
        return keeps_order(self.analysis, inside, names)

    def shares(self, first: int, second: int, loop: str) -> bool:
        """Return whether two statements stand in one loop of the unit."""
        own = [x for x in path(self.body, first) if x.var == loop]
        return any(x is y for x in path(self.body, second) for y in own)

    def may_combine(self, *loops: str) -> bool:
        """Return whether some of `sums`, outermost first, may be mapped and the others not."""
        names = dict.fromkeys(name for name in loops if name)
        return may_combine(self.analysis, self.body, self.statements, self.host, names)

    @cached_property
    def shared(self) -> Shared:
        """What the threads of a block may share, once outer loops are mapped to blocks."""
        return shared_loops(
            self.analysis, self.body, self.statements, self._for_blocks(), self.host
        )

    def _for_blocks(self) -> dict[str, tuple[Combine, ...]]:
        """Return the loops that become blocks around a team, the longest first."""
        if self.sums:
            outer = self.sums[0]
            return {outer: carried_sums(self.analysis, self.statements, outer) or ()}
        longest = sorted(self.parallel, key=lambda name: -(self.trips[name] or 0))
        return dict.fromkeys(longest[:MAX_BLOCK_LOOPS], ())

    @cached_property
    def imperfect(self) -> Mapping[int, ImperfectNest]:
        """The statements that may leave an imperfect nest inside a block, and how."""
        return imperfect_nests(self.analysis, self.body, self.statements, self.host)

    @cached_property
    def body(self) -> Body:
        """The region distributed, with this unit's nests fused."""
        context = _fixed(self.analysis)
        body = _distributed(context, self.groups)
        if self.joint:
            for step in gathering(self.analysis, self.parts, self.joint, self.late):
                body = step.apply(body, _sized(self.analysis))
        elif len(self.parts) > 1:
            body = Fuse(tuple(part[0] for part in self.parts), self.joined).apply(body, context)
        return body


@asked_once
def _fixed(analysis: Analysis) -> Context:
    """Return what holds at all sizes."""
    return Context(analysis, analysis.region.constants)


@asked_once
def _distributed(context: Context, groups: tuple[tuple[int, ...], ...]) -> Body:
    """Return the region with one nest for each group of statements."""
    return Distribute(groups).apply(context.analysis.region.nest.body, context)


@asked_once
def atomic_groups(analysis: Analysis) -> tuple[tuple[int, ...], ...]:
    """Return the finest groups of statements whose loops may be distributed.

    Statements start apart; those whose order distribution would break join, with what
    stands between them.
    """
    order = [assign.number for assign in analysis.region.nest.assigns()]
    groups: list[tuple[int, ...]] = [(n,) for n in order]
    while len(groups) > 1:
        apart = Distribute(tuple(groups)).apply(analysis.region.nest.body, _fixed(analysis))
        broken = violations(analysis, apart)
        if not broken:
            break
        merged = _joined(groups, (_tied(analysis, violation.dependence) for violation in broken))
        # The text's own order is legal, so what is broken stands in two groups or more.
        assert len(merged) < len(groups), "the original order breaks a dependence"
        groups = merged
    return tuple(groups)


def _tied(analysis: Analysis, dependence: Dependence) -> set[int]:
    """Return the statements that a broken dependence ties: its ends, or for a temporary all
    that use it."""
    users = analysis.homes.get(dependence.array)
    return {dependence.source, dependence.sink} if users is None else set(users)


def _joined(
    groups: Sequence[tuple[int, ...]], tied: Iterable[Collection[int]]
) -> list[tuple[int, ...]]:
    """Return groups, each a range of numbers, with those made one that what is `tied` spans."""
    last: dict[int, int] = {}
    for together in (*groups, *tied):
        low, high = min(together), max(together)
        last[low] = max(high, last.get(low, high))
    joined: list[list[int]] = []
    end = -1
    for number in sorted(n for group in groups for n in group):
        if number > end:
            joined.append([])
        joined[-1].append(number)
        end = max(end, last[number]) if number in last else end
    return [tuple(group) for group in joined]


def launched(analysis: Analysis, groups: tuple[tuple[int, ...], ...]) -> tuple[Unit, ...]:
    """Return the nests to launch on a device for a region distributed into `groups`.

    ``for j: (t = x[j]; for i < j: x[i] -= t * a[j][i])`` has a parallel loop inside a serial one,
    but t passes from one launch to the next. Where a region has no other kernel than for one
    thread, such scalars are kept in memory. That is exact: what is private to an iteration of a
    loop is one variable in the text, of which the iterations, run in order by the host, have one
    value after the other. A scalar that is private to the iterations of another loop as well, which
    may then run in parallel, has no single place and stays with one thread.
    """
    found = units(analysis, groups)
    if any(unit.parallel or unit.sums for unit in found):
        return found
    passing = units(analysis, groups, keeps_privates=True)
    places = [(n, {home}) for n, home in _passed(analysis, [unit.statements for unit in passing])]
    is_one = all({*analysis.homes[name].values()} == own for name, own in places)
    return passing if is_one else found


def units(
    analysis: Analysis, groups: tuple[tuple[int, ...], ...], keeps_privates: bool = False
) -> tuple[Unit, ...]:
    """Return the nests to launch, in text order, for a region distributed into `groups`.

    `keeps_privates` says that a private scalar passes from one nest to the next, as it does
    where all of them are in one function.
    """
    return _units_apart(analysis, groups, keeps_privates)


@asked_once
def _units_apart(
    analysis: Analysis, groups: tuple[tuple[int, ...], ...], keeps_privates: bool
) -> tuple[Unit, ...]:
    body = _distributed(_fixed(analysis), groups)
    out: list[Unit] = []
    for stmt in body:
        inside = tuple(sorted(numbers(stmt)))
        out += _units(analysis, groups, body, inside, 0, keeps_privates)
    return tuple(out)


def _units(
    analysis: Analysis,
    groups: tuple[tuple[int, ...], ...],
    body: Body,
    statements: tuple[int, ...],
    depth: int,
    keeps_privates: bool,
) -> list[Unit]:
    """Return the kernels among `statements`, which share the band at `depth`."""
    own = bands(body, statements[0])
    if depth >= len(own):
        return [Unit(analysis, groups, (statements,), (), (), ())]
    band = own[depth]
    host, parallel = mappable(analysis, body, statements, band)
    if parallel:
        return [Unit(analysis, groups, (statements,), band, host, parallel)]
    host, sums = summable(analysis, body, statements, band)
    around = len(path(body, statements[0])) - sum(map(len, own[depth:])) + len(host)
    if sums and around <= MAX_LOOPS_AROUND_SUM:
        return [Unit(analysis, groups, (statements,), band, host, (), sums)]
    if not any(isinstance(stmt, Loop) for stmt in band[-1].body):
        return [Unit(analysis, groups, (statements,), band, (), ())]
    # An array that the loop declares would be none of the kernels'.
    declares = any(isinstance(stmt, LocalArray) for stmt in band[-1].body)
    children = [tuple(sorted(numbers(child))) for child in band[-1].body]
    if declares or (not keeps_privates and any(_passed(analysis, children))):
        return [Unit(analysis, groups, (statements,), band, (), ())]
    found: list[Unit] = []
    for child in children:
        found += _units(analysis, groups, body, child, depth + 1, keeps_privates)
    if any(unit.parallel or unit.sums for unit in found):
        return found
    return [Unit(analysis, groups, (statements,), band, (), ())]


def _passed(
    analysis: Analysis, parts: Sequence[tuple[int, ...]]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each private variable of which several parts use one life, with the loop that owns it.

    No launch keeps it for the next one.
    """
    owner = {number: place for place, part in enumerate(parts) for number in part}
    for name, users in analysis.homes.items():
        inside = {(home, owner[number]) for number, home in users.items() if number in owner}
        homes = [home for home, _ in inside]
        yield from ((name, home) for home in dict.fromkeys(homes) if homes.count(home) > 1)


def fusible(
    analysis: Analysis, first: Unit, second: Unit, keep_parallel: bool = True
) -> Unit | None:
    """Return the two units as one when their nests may share a kernel, else None.

    With `keep_parallel`, every loop that may be mapped in the first must stay so. Ways of fusing
    ask the same of most neighbours.
    """
    # With the second unit itself, so that no other gets its identity.
    key = fusible, id(second), keep_parallel
    if key not in first.answers:
        first.answers[key] = second, _fused(analysis, first, second, keep_parallel)
    return cast(tuple[Unit, Unit | None], first.answers[key])[1]


def _fused(analysis: Analysis, first: Unit, second: Unit, keep_parallel: bool) -> Unit | None:
    if first.host or second.host or not (first.parallel or first.sums):
        return None
    parts = (*first.parts, *second.parts)
    context = _fixed(analysis)
    if first.joint or first.joined or len(second.parts) > 1:
        body = _distributed(context, first.groups)
        fuse = Fuse(tuple(part[0] for part in parts))
    else:
        # The first unit has its nests in one already.
        body, fuse = first.body, Fuse((first.leader, second.leader))
    if fuse.why_not(body, context) is not None:
        return None
    fused = fuse.apply(body, context)
    # At the tuned sizes more loops may agree, and share what must stay in order.
    tuned = Context(analysis, analysis.region.sizes)
    if fuse.apply(body, tuned) != fused and fuse.why_not(body, tuned) is not None:
        return None
    band = bands(fused, parts[0][0])[0]
    statements = tuple(n for part in parts for n in part)
    if first.sums:
        host, sums = summable(analysis, fused, statements, band)
        if host or sums != first.sums or sums != second.sums:
            return None
        return Unit(analysis, first.groups, parts, band, (), (), sums)
    host, parallel = mappable(analysis, fused, statements, band)
    if host or not parallel or (keep_parallel and set(parallel) != set(first.parallel)):
        return None
    return Unit(analysis, first.groups, parts, band, (), parallel)


def join(analysis: Analysis, first: Unit, second: Unit, loop: str) -> Unit | None:
    """Return two units as one whose nests share the loops down to `loop`, or None.

    All of these are parallel, so that what one nest hands to the next stays within an iteration.
    """
    if first.host or second.host or not {loop} <= {*first.parallel} & {*second.parallel}:
        return None
    parts, context = (*first.parts, *second.parts), _fixed(analysis)
    if len(second.parts) > 1 or (len(first.parts) > 1 and first.joined != loop):
        body = _distributed(context, first.groups)
        fuse = Fuse(tuple(part[0] for part in parts), loop)
    else:
        # The first unit has its nests joined already.
        body, fuse = first.body, Fuse((first.leader, second.leader), loop)
    if fuse.why_not(body, context) is not None:
        return None
    fused = fuse.apply(body, context)
    around = path(fused, parts[0][0])
    band = around[: [x.var for x in around].index(loop) + 1]
    names = tuple(x.var for x in band)
    statements = tuple(n for part in parts for n in part)
    if mappable(analysis, fused, statements, band) != ((), names):
        return None
    members = (*(first.members or (first,)), second)
    return Unit(analysis, first.groups, parts, band, (), names, members=members)


def gathering(
    analysis: Analysis, parts: Sequence[tuple[int, ...]], loops: tuple[str, ...], late: bool
) -> Iterator[Transform]:
    """Yield the steps that give statements of several nests `loops` in common, and no other.

    They stand where the first of them stood, with `late` where the last did. A part may be several
    nests, the last of which alone reads what the others write.
    """
    for statement, *_ in parts:
        inner = (x.var for x in analysis.paths[statement] if x.var not in loops)
        yield Permute(statement, (*loops, *inner))
    yield from passing(analysis, parts, loops)
    yield Fuse(tuple(part[0] for part in parts), loop=loops[-1], late=late)


def passing(
    analysis: Analysis, parts: Sequence[tuple[int, ...]], loops: tuple[str, ...]
) -> Iterator[Transform]:
    """Yield the steps that make one nest of each part, its loops in one order.

    Scalars are handed on in it.
    """
    for part in parts:
        if len(part) > 1:
            around = {n: tuple(x.var for x in analysis.paths[n]) for n in part}
            yield from (Permute(n, loops) for n in part if around[n] != loops)
            yield Fuse(part, late=True)
            yield from (Scalarize(part[0], array) for array in _handed_on(analysis, part))


def _handed_on(analysis: Analysis, part: tuple[int, ...]) -> tuple[str, ...]:
    """Return the arrays that the statements of a part write, but for the last one."""
    facts = (fact for n in part[:-1] for fact in analysis.accesses[n])
    return tuple(dict.fromkeys(fact.access.array for fact in facts if fact.is_write))


def accumulating(analysis: Analysis, nests: Sequence[Unit], late: bool = False) -> Unit | None:
    """Return nests as one unit where they accumulate into the same elements.

    Each is one statement in a perfect nest, and its loops that pick the element are parallel. They
    may stand in other orders: they get that of the first nest. The first may set the elements to a
    number, and the last ones may only read them, in those loops alone: each for itself, or for a
    sum of all. Nests of the same loops, wherever they stand, whose results the last one alone reads
    are one part with it. None where a dependence forbids it.
    """
    feeders = _feeders(analysis, nests)
    nests = [unit for unit in nests if unit not in feeders]
    found = [picking(unit) for unit in nests]
    target, loops = found[0]
    if target is None or not loops:
        return None
    added = [k for k, one in enumerate(found) if one[0] == target and {*one[1]} == {*loops}]
    readers = nests[len(added) :]
    if added != [*range(len(added))] or not all(_only_reads(u, target, loops) for u in readers):
        return None
    if feeders and not (readers and all(_may_feed(unit, target, loops) for unit in feeders)):
        return None
    parts, context = [part for unit in nests for part in unit.parts], _sized(analysis)
    parts[-1] = (*(unit.leader for unit in feeders), *parts[-1])
    body = _distributed(context, nests[0].groups)
    for step in gathering(analysis, parts, loops, late):
        if step.why_not(body, context) is not None:
            return None
        body = step.apply(body, context)
    band = bands(body, parts[0][0])[0]
    statements = tuple(n for part in parts for n in part)
    if tuple(loop.var for loop in band) != loops or not {*statements} <= numbers(band[-1]):
        return None
    if any(unit.sums for unit in readers):
        able = may_combine(analysis, body, statements, (), loops)
    else:
        host, parallel = mappable(analysis, body, statements, band)
        able = not host and {*parallel} == {*loops}
    groups = nests[0].groups
    unit = Unit(analysis, groups, tuple(parts), band, (), loops, joint=loops, late=late)
    return unit if able else None


def _feeders(analysis: Analysis, nests: Sequence[Unit]) -> list[Unit]:
    """Return those nests, each of one statement, whose results the last nest alone needs.

    They write arrays that nobody reads afterwards, and run no loop beside those of an element.
    """
    found = [unit for unit in nests[:-1] if feeds(unit)]
    reader, is_changed = nests[-1], True
    while is_changed:
        inside = {n for unit in (*found, reader) for n in unit.statements}
        kept = [unit for unit in found if analysis.users(unit.writes[0].access.array) <= inside]
        is_changed, found = len(kept) < len(found), kept
    # What the last nest reads beside them is what all others accumulate into.
    return found if len(found) < len(nests) - 1 else []


@asked_once
def feeds(unit: Unit) -> bool:
    """Return whether a unit is one statement in a perfect nest, whose results nests alone read."""
    return bool(
        len(unit.statements) == 1
        and {*unit.parallel} == {x.var for x in unit.band} == {*unit.loops_around(unit.leader)}
        and all(unit.analysis.stays_on_device(f.access.array) for f in unit.writes)
        and unit.writes
    )


def most_accumulating(nests: Sequence[Unit]) -> int:
    """Return how many of the first nests `accumulating` may make one unit, at most.

    A nest ends what can be one that neither adds to the element of the first, nor reads it alone,
    nor feeds others.
    """
    if feeds(nests[0]):
        return len(nests)
    target, loops = picking(nests[0])
    if target is None or not loops:
        return 1
    for count, unit in enumerate(nests):
        other, around = picking(unit)
        is_added = other == target and {*around} == {*loops}
        if not (is_added or feeds(unit) or _only_reads(unit, target, loops)):
            return count
    return len(nests)


def _may_feed(unit: Unit, target: Access, loops: tuple[str, ...]) -> bool:
    """Return whether a unit runs in the loops that pick an element, which it does not touch."""
    touched = {fact.access.array for fact in unit.analysis.accesses[unit.leader]}
    return {*unit.parallel} == {*loops} and target.array not in touched


@asked_once
def _only_reads(unit: Unit, target: Access, loops: tuple[str, ...]) -> bool:
    """Return whether a unit's one statement reads an element, in the loops that pick it alone.

    It reads no other of the array: that would be in memory, and what is there is not the newest.
    """
    if len(unit.statements) > 1 or unit.host or len(bands(unit.body, unit.leader)) > 1:
        return False
    assign = find_assign(unit.body, unit.leader)
    own = {x.var for x in unit.band}
    is_even = not any(bound_names(x) & own or x.step != 1 for x in unit.band)
    read = {a for a in assign.reads() if isinstance(a, Access) and a.array == target.array}
    return is_even and own == {*loops} and read == {target}


@asked_once
def picking(unit: Unit) -> tuple[Access | None, tuple[str, ...]]:
    """Return the element that a unit's one statement adds to, or sets, and the loops that pick it.

    Nothing where the unit is no such nest.
    """
    number = unit.leader
    if len(unit.statements) > 1 or unit.host or unit.sums or len(bands(unit.body, number)) > 1:
        return None, ()
    assign = find_assign(unit.body, number)
    target = assign.target
    is_set = assign.op == "=" and isinstance(assign.value, Real | Int)
    is_sum = is_set or reduction_operator(assign) == "+"
    if not is_sum or assign.guard is not None or not unit.is_in_memory(target):
        return None, ()
    used = frozenset[str]().union(*map(variables, target.indices))
    loops = tuple(x.var for x in unit.band if x.var in used)
    inside = {x.var for x in unit.band}
    is_even = not any(bound_names(x) & inside or x.step != 1 for x in unit.band)
    is_free = {*loops} <= {*unit.parallel}
    return (target, loops) if is_even and is_free else (None, ())


@asked_once
def _sized(analysis: Analysis) -> Context:
    """Return what holds where claims are proven: for the tuned sizes alone, or for all."""
    sizes = analysis.region.constants if analysis.all_sizes else analysis.region.known_sizes
    return Context(analysis, sizes)


def follow(fact: AccessFacts, loops: Sequence[str], trips: Mapping[str, int | None]) -> bool:
    """Return whether an access sees loops, outermost first, as one: all evenly apart, or none."""
    strides = [fact.strides.get(loop) for loop in loops]
    if all(stride == 0 for stride in strides):
        return True
    expected = strides[-1]
    for loop, outer in zip(reversed(loops), reversed(strides[:-1]), strict=False):
        trip = trips[loop]
        if expected is None or trip is None or outer != expected * trip:
            return False
        expected = outer
    return expected is not None


def why_not_merged(unit: Unit, loops: Sequence[str], span: Span) -> Diagnostic | None:
    """Return why decisions cannot take loops for one, or None.

    What the transform says of them is another matter. All may run in parallel, or none: those
    that sum up stay in a thread.
    """
    inner = {loop.var for loop in unit.band} - {*unit.host, *unit.parallel, *unit.sums}
    serial = next((loop for loop in loops if loop not in unit.parallel), "")
    if not serial or inner.issuperset(loops):
        return None
    reason = "may not run in parallel, or is none of the kernel's outer loops"
    return NOT_MERGED.at(span, loop=serial, reason=reason)


def refused_merges(unit: Unit, merges: Sequence[tuple[str, ...]], span: Span) -> Diagnostic | None:
    """Return why loops that a recipe names cannot run as one, or None."""
    body, context = unit.body, unit.context
    for loops in merges:
        step = Merge(unit.leader, loops, span=span)
        refusal = step.why_not(body, context) or why_not_merged(unit, loops, span)
        if refusal is not None:
            return refusal
        body = step.apply(body, context)
    return None


def with_merged(unit: Unit, merges: Sequence[Sequence[str]]) -> Unit:
    """Return a unit whose loops `merges`, each outermost first, are one loop each.

    A merged loop has the stride of its parts where an access sees them evenly apart. Elsewhere
    the distance of neighbours is that along the innermost of the parts, but for where it ends.
    """
    for loops in merges:
        unit = _with_one(unit, tuple(loops))
    return unit


def _with_one(unit: Unit, loops: tuple[str, ...]) -> Unit:
    name = merged_name(loops)
    count = prod(unit.trips[loop] or 1 for loop in loops)
    one = Loop(name, Int(0), Int(count), ())
    last = max(k for k, loop in enumerate(unit.band) if loop.var in loops)
    band = [one if k == last else loop for k, loop in enumerate(unit.band)]
    names = [one.var if n in loops else n for n in unit.parallel]
    accesses = {
        number: tuple(_with_stride(fact, name, loops) for fact in facts)
        for number, facts in unit.analysis.accesses.items()
    }
    return replace(
        unit,
        analysis=replace(unit.analysis, accesses=accesses),
        band=tuple(loop for loop in band if loop.var not in loops),
        parallel=tuple(dict.fromkeys(names)),
        merges=(*unit.merges, loops),
    )


def _with_stride(fact: AccessFacts, name: str, loops: tuple[str, ...]) -> AccessFacts:
    strides = dict(fact.strides)
    used = [loop for loop in loops if strides.get(loop) != 0]
    if used:
        strides[name] = strides.get(loops[-1]) if loops[-1] in used else None
    elif any(loop in strides for loop in loops):
        strides[name] = 0
    return replace(fact, strides=strides)


def as_merged(choice: Candidate, merges: Sequence[tuple[str, ...]]) -> Candidate:
    """Return a candidate for a unit with merged loops as one for the unit itself.

    The parts of such a loop are worked out once for all their uses, but where it is unrolled: each
    copy of its body has parts of its own.
    """
    unrolled = {loop for _, loop, _ in choice.unroll}
    names = (name for name in map(merged_name, merges) if name not in unrolled)
    return choice.having(
        *(Merge(part[0], loops) for part in choice.parts for loops in merges),
        *(Decode(choice.leader, name) for name in names),
    )
