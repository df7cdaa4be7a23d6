"""A space as the product of parts that know nothing of each other, listed or drawn from.

The points of a region's own parameters: what the constraints and the recipe leave of them.

Every alternative of the `direct` strategy, enumerable, with its constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, permutations, product
from math import prod
from operator import itemgetter
from random import Random
from typing import Generic, TypeVar

from annotune.annotation.commands import argument_of, before_targets
from annotune.annotation.devices import Device
from annotune.annotation.expressions import free_names, holds
from annotune.annotation.spec import Command, Constraint, Formula, Parameter, Value
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.model.predict import predict
from annotune.schedule.candidate import Candidate
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.units import Unit
from annotune.space.decision import (
    BY_LANES,
    JOINED,
    JOINT,
    Base,
    Point,
    RecipeSteps,
    kernel_choice,
    read_asked,
)
from annotune.space.limits import NO_LIMITS, AxisLimits, is_axis, is_of_axes, limits_of
from annotune.strategies.direct import (
    MAX_UNROLL,
    choose,
    first_axes,
    grid,
    may_team,
    team_axes,
    tiles,
    unrolls,
)
from annotune.strategies.hints import hinted, launched
from annotune.strategies.registry import ELEMENTS, Proposals, made
from annotune.transforms.map import MAX_THREADS
from annotune.transforms.registers import TensorCores
from annotune.transforms.tile import name_is_taken, tile_name
from annotune.transforms.transform import Copying, Shaping, Sharing
from annotune.transforms.unroll import Unroll

T = TypeVar("T")
# Points beyond which a space is not listed whole: more than any search measures, and some 100 MB
# of settings.
MOST_LISTED = 200_000
# Share of the time of separate kernels that joined ones may be predicted to take: for 1000 elements
# the model is up to 21% below what an H200 takes for blocks of elements (docs/hardware.md).
WORTH_JOINING = 0.8
# The same of kernels in which statements accumulate together, where their own rules are against it.
WORTH_SHARING = 0.5
# Draws for each point that is wanted, before what the constraints leave counts as found.
MOST_DRAWS = 50


@dataclass(frozen=True)
class Product(Generic[T]):
    """All ways to take one alternative of each part; the first of each make the first."""

    parts: tuple[Sequence[T], ...]

    @property
    def size(self) -> int:
        """Return how many there are; more than `len` could say."""
        return prod(map(len, self.parts))

    @property
    def is_listed(self) -> bool:
        """Return whether there are few enough to go through them all."""
        return self.size <= MOST_LISTED

    def every(self) -> Iterator[tuple[T, ...]]:
        """Yield all of them, the first choice first and the last part fastest."""
        yield from product(*self.parts)

    def diagonal(self) -> Iterator[tuple[T, ...]]:
        """Yield the k-th alternatives of all parts together, the last ones of those with fewer.

        What suits one nest of a region suits its neighbours of the same form.
        """
        for k in range(max(map(len, self.parts), default=0)):
            yield tuple(part[min(k, len(part) - 1)] for part in self.parts)

    def drawn(self, seed: int, count: int) -> Iterator[tuple[T, ...]]:
        """Yield points at random, each as likely as any other, the same ones for a seed.

        At most `MOST_DRAWS` for each of the `count` that are wanted; one may come again.
        """
        random = Random(seed)
        for _ in range(MOST_DRAWS * count):
            yield tuple(part[random.randrange(len(part))] for part in self.parts)


Values = Mapping[str, tuple[Value, ...]]

# More points of the annotation's own parameters than this are not listed at once.
MAX_PARAMETER_POINTS = 100_000


def parameter_points(base: Base, params: Sequence[Parameter]) -> tuple[Mapping[str, Value], ...]:
    """Return the values that the parameters of a region may have together, the rules' own first.

    Raises:
        AnnotuneError: The constraints leave none, or no values let the recipe be read.
    """
    spec = base.analysis.region.spec
    sizes: dict[str, Value] = dict(base.analysis.region.sizes)
    factors = _unroll_factors(spec.commands)
    values = {p.name: _tried_first(p) if p.name in factors else p.values for p in params}
    constraints = tuple(c for c in spec.constraints if not is_of_axes(c))
    # However many points there are, those that constraints speak of tell whether there is none.
    for some, own in _connected(values, constraints):
        if next(fulfilling(some, own, sizes), None) is None:
            every = (dict(zip(some, point, strict=True)) for point in product(*some.values()))
            found = AxisLimits((), own, sizes).why_empty(islice(every, MAX_PARAMETER_POINTS))
            raise AnnotuneError.of(found)
    points = list(islice(fulfilling(values, constraints, sizes), MAX_PARAMETER_POINTS))
    return _placeable(base, points)


def fulfilling(
    values: Values, constraints: Sequence[Constraint], sizes: Mapping[str, Value]
) -> Iterator[Mapping[str, Value]]:
    """Yield the points of the product of `values` that fulfil the constraints, in its order.

    A constraint is asked as soon as all that it names is known, and those before it: what it
    removes is not gone through.
    """
    names = tuple(values)
    due: list[list[Constraint]] = [[] for _ in range(len(names) + 1)]
    depth = 0
    for one in constraints:
        needed = free_names(one.formula)
        depth = max([depth, *(names.index(name) + 1 for name in needed if name in values)])
        due[depth].append(one)

    def extended(known: dict[str, Value]) -> Iterator[Mapping[str, Value]]:
        if not all(holds(one.formula, {**sizes, **known}) for one in due[len(known)]):
            return
        if len(known) == len(names):
            yield known
            return
        name = names[len(known)]
        for value in values[name]:
            yield from extended({**known, name: value})

    return extended({})


def _connected(
    values: Values, constraints: Sequence[Constraint]
) -> Iterator[tuple[Values, tuple[Constraint, ...]]]:
    """Yield the parameters that constraints tie together, with these constraints.

    What they say of one group they say whatever the others are.
    """
    left = [
        (one, {name for name in free_names(one.formula) if name in values}) for one in constraints
    ]
    while left:
        first, group = left.pop(0)
        own = [first]
        while more := [pair for pair in left if pair[1] & group]:
            left = [pair for pair in left if not pair[1] & group]
            group = group.union(*(names for _, names in more))
            own += [one for one, _ in more]
        in_order = tuple(one for one in constraints if one in own)
        yield {name: found for name, found in values.items() if name in group}, in_order


def _unroll_factors(commands: Sequence[Command]) -> frozenset[str]:
    """Return the parameters that stand as the factor of an ``unroll``."""
    found = (argument_of(c, "factor") for c in commands if c.name == "unroll")
    return frozenset(a.value.text for a in found if a is not None and isinstance(a.value, Formula))


def _tried_first(param: Parameter) -> tuple[Value, ...]:
    """Return unroll factors largest first, the order of the decision algorithm's own."""
    numbers = [v for v in param.values if isinstance(v, int)]
    if len(numbers) < len(param.values):
        return param.values
    within = sorted((n for n in numbers if n <= MAX_UNROLL), reverse=True)
    return (*within, *sorted(n for n in numbers if n > MAX_UNROLL))


def _placeable(
    base: Base, points: Sequence[Mapping[str, Value]]
) -> tuple[Mapping[str, Value], ...]:
    """Return the points at which no command gives a loop two places.

    Raises:
        AnnotuneError: There is none; what is wrong with the first.
    """
    body = base.analysis.region.nest.body
    commands = before_targets(base.analysis.region.spec.commands)
    refused: dict[object, AnnotuneError | None] = {}
    kept = []
    for point in points:
        # A number names no loop: points that differ in numbers alone are alike here.
        key = tuple((k, v) for k, v in point.items() if not isinstance(v, int | float))
        if key not in refused:
            try:
                read_asked(commands, point, body)
                refused[key] = None
            except AnnotuneError as error:
                refused[key] = error
        if refused[key] is None:
            kept.append(point)
    if not kept:
        raise next(error for error in refused.values() if error is not None)
    return tuple(kept)


NONE = ""
NO_PROPOSALS = Proposals()
# Why a point of the space has it, where no rule chose it.
SHARED = "a block for each output, as another point of the space"


@dataclass(frozen=True, slots=True)
class SpaceAxis:
    """One parameter of the space and the values it may take."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class UnitSpace:
    """The alternatives for one kernel: the axes of its loops, the unroll factors, and the launches.

    An axis has a mappable loop or none; each loop has one axis; a block has at most 1024
    threads; a warp is not left part-empty when another choice of threads fills it. Launches
    come from hints, and are varied for the rules' own axes. `is_free` says that the recipe leaves
    the shape of the kernel open, so that `made` may hold whole choices of strategies.
    """

    unit: Unit
    axes: tuple[SpaceAxis, ...]
    mapped: tuple[Candidate, ...]
    factors: tuple[Mapping[int, int], ...]
    launches: tuple[Candidate, ...] = ()
    made: Proposals = NO_PROPOSALS
    is_free: bool = False

    @property
    def is_whole(self) -> bool:
        """Return whether strategies alone have choices; `direct` knows no order for its loops."""
        return bool(self.unit.joint or (self.unit.joined and self.is_free))

    def direct(self) -> Iterator[tuple[Sequence[Candidate], Sequence[Mapping[int, int]]]]:
        """Yield what the choices of `direct` begin with, each with all of some factors.

        Where the recipe maps the loops, only factors are left.
        """
        every = self.factors[::-1]  # the largest first
        for number, axes in enumerate(self.mapped or (Candidate(self.unit.parts),)):
            # What is shared among threads is not unrolled as well.
            is_shared = bool(self.mapped) and bool(self.unit.sums or axes.team)
            starts = self.launches if self.mapped and not number and self.launches else (axes,)
            yield starts, every[:1] if is_shared else every

    @cached_property
    def size(self) -> int:
        """Return the number of points before constraints."""
        own = 0 if self.is_whole else prod(len(axis.values) for axis in self.axes)
        return own + len(self.made)

    @cached_property
    def legal(self) -> int:
        """Return the number of points that the constraints leave."""
        is_whole = bool(self.unit.joined or self.unit.joint)
        if not (self.mapped or is_whole):
            return 0
        if self.is_whole:
            return len(self.made.first)
        # What `_options` yields, none of which need be made for it.
        own = sum(len(starts) * len(factors) for starts, factors in self.direct())
        return own + len(self.made)


def unit_space(
    unit: Unit, is_mapped: bool, is_unrolled: bool, made: Proposals = NO_PROPOSALS
) -> UnitSpace:
    """Return the alternatives for a unit that the recipe leaves open.

    `made` are those of strategies other than `direct`.
    """
    if unit.joint:
        return UnitSpace(unit, (), (), ({},), (), made)
    prefix = f"S{unit.leader}."
    axes: list[SpaceAxis] = []
    mapped: tuple[Candidate, ...] = ()
    if unit.sums and not is_mapped:
        mapped = _sum_axes(unit)
        axes.append(SpaceAxis(prefix + "thread_x", _values(_text(r)[0] for r in mapped)))
        axes.append(SpaceAxis(prefix + "block_x", _values(_text(r)[2] for r in mapped)))
    elif unit.parallel and not is_mapped:
        loops = tuple(unit.parallel)
        optional = (NONE, *loops)
        mapped = _legal_axes(unit, loops)
        axes += [
            SpaceAxis(prefix + "thread_x", _values((*loops, *(_text(r)[0] for r in mapped)))),
            SpaceAxis(prefix + "thread_y", optional),
            SpaceAxis(prefix + "block_x", optional),
            SpaceAxis(prefix + "block_y", optional),
        ]
    factors: list[Mapping[int, int]] = [{}]
    if not is_unrolled:
        for statement, loop, values in unrolls(unit):
            axes.append(SpaceAxis(f"{prefix}unroll_{loop}_S{statement}", values))
            factors = [{**known, statement: f} for known in factors for f in values]
    tried: tuple[Candidate, ...] = ()
    if mapped:
        own = choose(unit, mapped[0])
        asked = hinted(unit, own)
        axes += [SpaceAxis(prefix + name, found) for name, found in asked.axes() if len(found) > 1]
        launches = launched(unit, own, asked)
        tried = launches if launches != (own,) else ()
    return UnitSpace(unit, tuple(axes), mapped, tuple(factors), tried, made)


def _legal_axes(unit: Unit, loops: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Return the legal assignments of loops to axes, the thesis's own first."""
    found: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for x, y in [*product(loops, (NONE,)), *permutations(loops, 2)]:
        left = [name for name in loops if name not in (x, y)]
        for count in range(min(len(left), 2) + 1):
            threads = _threads(unit, x, y, count)
            if threads <= MAX_THREADS:
                blocks = permutations(left, count)
                found[threads >= WARP] += ((x, y, *on, NONE, NONE)[:4] for on in blocks)
    legal = found[True] or found[False]
    first = first_axes(unit)
    others = [_grid(unit, axes) for axes in legal]
    if not first.team and may_team(unit):
        others.append(team_axes(unit, SHARED))
    return (first, *_sorted(others, first))


def _sorted(others: Iterable[Candidate], first: Candidate) -> tuple[Candidate, ...]:
    """Return the candidates that place the loops otherwise than the first, by their places."""
    known = sorted(((_text(one), one) for one in others), key=itemgetter(0))
    return tuple(one for text, one in known if text != _text(first))


def _grid(unit: Unit, axes: Sequence[str]) -> Candidate:
    x, y, *blocks = axes
    return grid(unit, [n for n in (x, y) if n], [n for n in blocks if n])


def _sum_axes(unit: Unit) -> tuple[Candidate, ...]:
    """Return the ways to spread the reductions of a unit without a parallel loop."""
    first = first_axes(unit)
    pairs = [(x, block) for x in unit.sums for block in (NONE, *unit.sums)]
    found = [(x, block) for x, block in pairs if unit.may_combine(block, x)]
    tiled = ((x, block) for x, block in found if x == block)
    whole = ((x, block) for x, block in found if x != block)
    free = [(x, block) for x, block in tiled if not name_is_taken(x, unit.analysis)]
    every = (_grid(unit, (x, NONE, block)) for x, block in (*free, *whole))
    return (first, *_sorted(every, first))


def _values(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _threads(unit: Unit, x: str, y: str, blocks: int) -> int:
    """Return the threads of a block; a loop that would be tiled counts with its tile."""
    used = [n for n in (x, y) if n]
    cut = dict(tiles(unit, used, blocks))
    return prod(cut.get(n, unit.trips.get(n) or 1) for n in used)


def _text(axes: Candidate) -> tuple[str, ...]:
    """Return the loops of threads x and y and of blocks x and y, and whether a team shares one."""
    cut = {tile_name(loop): loop for loop, _ in axes.tiles}
    threads = (*axes.shared[:1], NONE, NONE) if axes.team else (*axes.threads, NONE, NONE)
    blocks = (*(cut.get(name, name) for name in axes.blocks), NONE, NONE)
    return (*threads[:2], *blocks[:2], "team" if axes.team else "")


@dataclass(frozen=True)
class Space:
    """All points of one region: the annotation's parameters, fusions, roles and factors.

    `params` are the legal points of the annotation's own parameters. `branches` gives, for
    each distinct way of fusing, the spaces of its kernels. `limits` are what the user says of axes
    that the annotation does not declare.
    """

    base: Base
    axes: tuple[SpaceAxis, ...]
    params: tuple[Mapping[str, Value], ...]
    branches: tuple[tuple[str, tuple[UnitSpace, ...]], ...]
    limits: AxisLimits = NO_LIMITS

    def on(self, device: Device) -> Space:
        """Return the points that a device can have: without tensor cores none is for them.

        Nests that may be joined are so in the first where the model takes less time for it.
        """
        if device.fp64_tensor_tflops:
            return self.joined_first(device).accumulated_first(device)
        branches = tuple(
            (fusion, tuple(replace(u, made=u.made.without(TensorCores)) for u in units))
            for fusion, units in self.branches
        )
        return replace(self, branches=branches).joined_first(device)

    @property
    def size(self) -> int:
        """Return the number of points before constraints."""
        own = prod(len(axis.values) for axis in self.axes)
        return own * sum(prod(u.size for u in units) for _, units in self.branches)

    @property
    def legal(self) -> int:
        """Return the number of points that the constraints leave."""
        each = (prod(max(1, u.legal) for u in units) for _, units in self.branches)
        return len(self.params) * sum(each)

    @property
    def first(self) -> Point:
        """The decision algorithm's own point, without a look at any other."""
        fusion, units = self.branches[0]
        picked = tuple(next(_options(unit)) for unit in units)
        return _point(self.params[0], fusion, units, picked)

    def joined_first(self, device: Device | None = None) -> Space:
        """Return the space with joined nests before others, where there are such and it pays."""
        first, *others = self.branches
        joined = next((branch for branch in others if branch[0] == JOINED), None)
        if joined is None:
            return self
        limit = 0.0 if device is None else WORTH_JOINING * self._first_s(first, device)
        pays = device is not None and self._first_s(joined, device) < limit
        if not pays and self.base.strategy != ELEMENTS:
            return self
        rest = (branch for branch in self.branches if branch is not joined)
        return replace(self, branches=(joined, *rest))

    def accumulated_first(self, device: Device) -> Space:
        """Return the space with kernels of several statements first where the model says so.

        What their rules are wrong about, as for few blocks, is a matter of many times. Kernels
        for lanes of their own come before one for all where they take less time.
        """
        ways = dict(self.branches)
        first = best = self.branches[0]
        if first[0] != JOINT and JOINT in ways:
            joint = (JOINT, ways[JOINT])
            limit = WORTH_SHARING * self._first_s(first, device)
            best = joint if self._first_s(joint, device) < limit else first
        if best[0] == JOINT and BY_LANES in ways:
            apart = (BY_LANES, ways[BY_LANES])
            best = min(apart, best, key=lambda branch: self._first_s(branch, device))
        rest = (branch for branch in self.branches if branch[0] != best[0])
        return self if best is first else replace(self, branches=(best, *rest))

    def _first_s(self, branch: tuple[str, tuple[UnitSpace, ...]], device: Device) -> float:
        """Return the predicted seconds of the first choice of a way of fusing."""
        fusion, units = branch
        params = self.params[0]
        firsts = ((unit, tuple(islice(_options(unit), 1))) for unit in units)
        alone = (self._best(unit, one, params, fusion, device) for unit, one in firsts)
        return sum(time_s for ((time_s, _),) in alone)

    def points(self) -> Iterator[Point]:
        """Yield every legal point, the decision algorithm's own first."""
        for params in self.params:
            for fusion, units in self.branches:
                options = Product(tuple(tuple(_options(unit)) for unit in units))
                for picked in options.every():
                    yield _point(params, fusion, units, picked)

    def variety(self) -> Iterator[Point]:
        """Yield points that have between them every axis: one kernel's settings at a time.

        Of very many parameters' values some are looked at, as far apart as can be.
        """
        apart = max(1, len(self.params) // MOST_LOOKED_AT)
        for number, params in enumerate(self.params[::apart]):
            for fusion, units in self.branches:
                for unit in units:
                    # Parameters change the values of axes; all else is seen at the first of them.
                    for option in islice(_options(unit), 1 if number else None):
                        yield _point(params, fusion, (unit,), (option,))

    def enough(self, limit: int) -> int:
        """Return how many points to rank so that some `limit` of them fulfil the user's limits."""
        return max(limit, MOST_RANKED) if self.limits else limit

    def ranked(self, device: Device, limit: int) -> tuple[Point, ...]:
        """Return at most `limit` points: the first choice, then the model's best.

        Kernels run one after another, so their predicted times add up and each kernel's
        best few alternatives are combined, not all of them.
        """
        first = self.first
        if limit == 1:
            return (first,)
        if self.legal <= limit:
            return tuple(self.points())
        scored: list[tuple[float, Point]] = []
        for params in self.params:
            # A nest is the same whatever its neighbours do.
            known: dict[tuple[object, ...], list[tuple[float, Candidate]]] = {}
            kinds = {_nests_of(unit.unit) for _, units in self.branches for unit in units}
            share = max(FEWEST_PREDICTED, MOST_PREDICTED // max(1, len(kinds)))
            for fusion, units in self.branches:
                for unit in units:
                    if (key := _nests_of(unit.unit)) not in known:
                        every = _spread(list(_options(unit)), share)
                        known[key] = self._best(unit, every, params, fusion, device)[:limit]
                best = tuple(known[_nests_of(unit.unit)] for unit in units)
                # The k-th best of every kernel together.
                for picked in Product(best).diagonal():
                    time = sum(t for t, _ in picked)
                    choice = tuple(option for _, option in picked)
                    scored.append((time, _point(params, fusion, units, choice)))
        scored.sort(key=lambda pair: pair[0])
        others = [point for _, point in scored if point != first]
        return (first, *others[: max(0, limit - 1)])

    def _best(
        self,
        space: UnitSpace,
        options: Sequence[Candidate],
        params: Mapping[str, Value],
        fusion: str,
        device: Device,
    ) -> list[tuple[float, Candidate]]:
        """Return some alternatives of a kernel, best first, with seconds."""
        scored = []
        asked = read_asked(self._commands, params, self.base.analysis.region.nest.body)
        for option in options:
            point = _point(params, fusion, (space,), (option,))
            choice = kernel_choice(space.unit, point, asked)
            scored.append((predict(space.unit, choice, device).time_s, option))
        return sorted(scored, key=lambda pair: pair[0])

    @property
    def _commands(self) -> tuple[Command, ...]:
        return before_targets(self.base.analysis.region.spec.commands)


def _nests_of(unit: Unit) -> tuple[object, ...]:
    """Return what tells units of a region apart, in whatever branch they are."""
    return (unit.parts, unit.joined, unit.joint)


def _spread(options: Sequence[Candidate], most: int) -> Sequence[Candidate]:
    """Return at most some options, the first ones and others as far apart as can be."""
    if len(options) <= most:
        return options
    first = most // 2
    apart = -(-(len(options) - first) // (most - first))
    return (*options[:first], *options[first::apart])


def _options(space: UnitSpace) -> Iterator[Candidate]:
    """Yield the first steps of every alternative of a kernel, the rules' own first."""
    yield from space.made.leading
    yield from space.made.first[len(space.made.leading) :]
    if space.is_whole:
        return
    for starts, every in space.direct():
        for factors in every:
            for start in starts:
                yield with_factors(start, factors)
    yield from space.made.after_direct


def with_factors(axes: Candidate, factors: Mapping[int, int]) -> Candidate:
    """Return axes with the factors of some statements' innermost loops.

    The loops of such that `direct` still has to complete are for it to name.
    """
    loops = {statement: loop for statement, loop, _ in axes.unroll}
    named = {s: loops.get(s, "") for s in factors if s in loops or not axes.origin}
    kept = (s for s in axes.steps if not isinstance(s, Unroll) or s.statement not in named)
    steps = (Unroll(statement, loop, factors[statement]) for statement, loop in named.items())
    return replace(axes, steps=(*kept, *steps))


def _point(
    params: Mapping[str, Value],
    fusion: str,
    units: tuple[UnitSpace, ...],
    picked: tuple[Candidate, ...],
) -> Point:
    pairs = zip(units, picked, strict=True)
    return Point(params, fusion, {space.unit.leader: option for space, option in pairs})


def region_space(base: Base) -> Space:
    """Return the space of a region.

    Nests that may be joined are so in its first point where somebody asks for the strategy that
    does it.

    Raises:
        AnnotuneError: The recipe is wrong, or the constraints leave no point.
    """
    spec = base.analysis.region.spec
    own = tuple(p for p in spec.performance_params if not is_axis(p.name))
    axes = tuple(SpaceAxis(p.name, p.values) for p in own)
    params = parameter_points(base, own)
    asked = read_asked(before_targets(spec.commands), params[0], base.analysis.region.nest.body)
    branches: list[tuple[str, tuple[UnitSpace, ...]]] = []
    seen: set[tuple[object, ...]] = set()
    # A nest that several ways of fusing leave alone has one space.
    known: dict[int, UnitSpace] = {}
    for fusion in base.fusions:
        nests = base.nests(fusion, asked)
        key = tuple(map(_nests_of, nests))
        if key in seen:
            continue
        seen.add(key)
        for unit in nests:
            if id(unit) not in known:
                known[id(unit)] = _open_space(base, unit, asked)
        branches.append((fusion, tuple(known[id(unit)] for unit in nests)))
    limits = limits_of(spec, {**base.analysis.region.sizes})
    space = Space(base, axes, params, tuple(branches), limits)
    return space.joined_first()


def _open_space(base: Base, unit: Unit, asked: RecipeSteps) -> UnitSpace:
    """Return the alternatives for a unit that the recipe leaves open."""
    own = unit.statements
    is_mapped, is_unrolled = asked.settles_loops(own), not asked.unrolled.isdisjoint(own)
    is_shaped = any(asked.of(kind, own) for kind in SHAPING) or bool(asked.as_given(own))
    is_free = not (is_mapped or is_unrolled or is_shaped)
    found = made(unit, base.strategy) if is_free else NO_PROPOSALS
    if unit.joined and is_free:
        return UnitSpace(unit, (), (), ({},), (), found, is_free)
    if {*own} & {*asked.moves}:
        found = found.moving(())
    return replace(unit_space(unit, is_mapped, is_unrolled, found), is_free=is_free)


# What a recipe says of a kernel that leaves a strategy nothing whole to make.
SHAPING = (Shaping, Sharing, Copying)
# Points of the annotation's own parameters that are looked through for the names of axes.
MOST_LOOKED_AT = 200
# Kernels of a region that the model is asked of when points are ranked, and of one of its nests:
# some 2 ms each.
MOST_PREDICTED, FEWEST_PREDICTED = 8000, 100
# Points ranked for a user who admits but some of them.
MOST_RANKED = 20_000
