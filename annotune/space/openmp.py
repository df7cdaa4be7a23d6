"""The axes of one nest on a CPU: what each point sets, and which settings go together.

The axes are independent; what makes a setting legal are constraints over a few of them. The last
one asks the decision itself whether it does what a point says.

The space of a region on a CPU: the axes of its nests, schedules, and compiler flags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from math import prod

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.annotation.flags import Flags as CodeFlags
from annotune.annotation.flags import code_flags_at
from annotune.annotation.spec import Value
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frozen import dataclass
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.plan import Plan
from annotune.schedule.units import Unit
from annotune.space.decision import Base
from annotune.space.limits import NO_LIMITS, AxisLimits
from annotune.space.points import ListedPoint, TargetPoints
from annotune.space.space import Product, Space, SpaceAxis
from annotune.space.variants import SAMPLED, Listing, Variant, planned
from annotune.strategies.core_blocks import (
    COPIES,
    ENOUGH_PIECES,
    FEW_PIECES,
    MAX_LANES,
    MAX_ROWS,
    RegisterBlock,
    along_loop,
    is_alone,
    lanes_of,
    leaders,
    over_loops,
    rows_for,
    strided_loop,
    sum_lanes,
)
from annotune.strategies.nests import free_loops, own_band
from annotune.strategies.openmp import (
    ACCUMULATORS,
    MAX_COPIED_ROWS,
    VECTOR,
    choose_cpu,
    cpu_groups,
    cpu_units,
    first_option,
    likely,
)
from annotune.transforms.map import DYNAMIC, GUIDED, STATIC, Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile, tile_name
from annotune.transforms.unroll import divisors

NONE = "-"
# Pieces that threads fetch one by one: each costs some 100 ns, a millisecond for them all.
MOST_FETCHED = 16384
# Divisors of a loop's count that leave out no shape of a block; else powers of two are tried.
ENOUGH_DIVISORS = 3

Shown = Mapping[str, str | int]
Flags = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AxisValue:
    """One value of a part of a region, as a table shows it, and what it asks for.

    That is the block of a statement, the schedule of the loops that threads share, or compiler
    flags.
    """

    shown: Shown
    asks: RegisterBlock | str | Flags


@dataclass(frozen=True)
class BlockAxes:
    """The axes of a statement's block; with `is_sharing`, of how many loops threads share too.

    That is so where the statement is the nest's only one: then the order of loops depends on both.
    """

    unit: Unit
    statement: int
    is_sharing: bool

    @property
    def along(self) -> str:
        """Return the loop of the lanes, empty where there can be none."""
        if not is_alone(self.unit, self.statement):
            return ""
        near = along_loop(self.unit, self.statement)
        return near or strided_loop(self.unit, self.statement)

    def axes(self) -> tuple[SpaceAxis, ...]:
        """Return the axes and their values before any constraint, those of one value left out."""
        unit, statement, along = self.unit, self.statement, self.along
        values: dict[str, Sequence[Value]] = {}
        if sum_lanes(unit, statement):
            values["sums"] = (0, 1)
        if along:
            over = over_loops(unit, statement, along)
            values |= {
                "lanes": self._lanes(along),
                "rows": sorted({n for loop in over for n in self._rows(loop)} | {1}),
                "over": (NONE, *over),
                "copies": (0, 1),
                "ahead": (0, 1),
                "outer": self._outer(),
            }
        if self.is_sharing:
            values["shared"] = range(1, len(unit.parallel) + 1)
        first = self.first.shown
        named = {name: dict.fromkeys((*found, first[name])) for name, found in values.items()}
        return tuple(SpaceAxis(name, tuple(v)) for name, v in named.items() if len(v) > 1)

    def _lanes(self, along: str) -> list[int]:
        longest = self.unit.trip(self.statement, along) or MAX_LANES
        widths = (VECTOR, 2 * VECTOR, 3 * VECTOR, MAX_LANES, lanes_of(longest))
        return sorted({0, *(n for n in widths if n <= longest)})

    def _rows(self, over: str) -> set[int]:
        count = self.unit.trip(self.statement, over) or MAX_COPIED_ROWS
        most = min(count, MAX_COPIED_ROWS)
        even = {n for n in divisors(count) if n <= most}
        powers = {n for n in (2, 4, 8) if n <= most}
        return (even if len(even) > ENOUGH_DIVISORS else even | powers) | {
            rows_for(count, 2 * VECTOR)
        }

    def _outer(self) -> tuple[str, ...]:
        """Return the loops that may go around the others, where the order counts.

        What a nest touches may be near whatever the order.
        """
        unit, statement = self.unit, self.statement
        around = unit.loops_around(statement)
        own = {loop.var for loop in own_band(unit, statement)}
        trips = {n: unit.trip(statement, n) or MAX_LANES for n in around if n in own}
        moved = (
            prod(n for name, n in trips.items() if fact.strides.get(name))
            for fact in unit.analysis.accesses[statement]
        )
        if sum(moved) <= COPIES:
            return ()
        return tuple(n for n in free_loops(unit, statement) if n != self.along)

    @property
    def first(self) -> AxisValue:
        """Return what the rules choose, as a point of the space."""
        return self.of(first_option(self.unit, self.statement))

    def likely(self) -> Iterator[AxisValue]:
        """Yield the rules' choice and others worth a trial before the rest."""
        seen = []
        for block in likely(self.unit, self.statement):
            found = self.of(block)
            if found.shown not in seen:
                seen.append(found.shown)
                yield found

    def of(self, block: RegisterBlock) -> AxisValue:
        """Return what a block comes to once it is carried out."""
        return AxisValue(self._shown(block, self._choice(block)), block)

    def _choice(self, block: RegisterBlock) -> Candidate:
        others = {s: RegisterBlock() for s in leaders(self.unit) if s != self.statement}
        return choose_cpu(self.unit, {**others, self.statement: block})

    def _shown(self, block: RegisterBlock, choice: Candidate) -> dict[str, str | int]:
        """Return what a choice does with a statement, whatever was asked for."""
        own = (self.statement,)
        is_block = block.along in {step.loop for step in choice.of(Vectorize, own)}
        shaped = next(iter(choice.of(Permute, own)), None)
        order = shaped.order if shaped is not None and is_block else ()
        names = order or tuple(loop.var for loop in own_band(self.unit, self.statement))
        made = {tile_name(loop): loop for loop in self.unit.loops_around(self.statement)}
        is_summed = any(s == self.statement for s, _ in choice.team)
        return {
            "sums": int(is_summed),
            "lanes": block.lanes if is_block else 0,
            "rows": block.rows if is_block else 1,
            "over": (block.over if is_block else "") or NONE,
            "copies": int(is_block and bool(choice.of(Stage, own))),
            "ahead": int(is_block and bool(choice.of(Prefetch, own))),
            "outer": made.get(names[0], names[0]) if names else NONE,
            "shared": len(choice.cores),
        }

    def legal(self, axes: Sequence[SpaceAxis]) -> Iterator[AxisValue]:
        """Yield every legal setting of `axes`, the likely ones first."""
        yield from (found for found in self.likely() if _is_among(found.shown, axes))
        if not all(axis.values for axis in axes):
            return
        # It brings processes with it, and nobody lists the points of a region that is only read.
        from constraint import Problem

        known = [found.shown for found in self.likely()]
        problem = Problem()
        for axis in axes:
            problem.addVariable(axis.name, list(axis.values))
        names = [axis.name for axis in axes]
        for needed, constraint in (
            (("sums", "lanes"), lambda sums, lanes: not (sums and lanes)),
            (("rows", "over"), lambda rows, over: (rows > 1) == (over != NONE)),
            (("lanes", "rows"), _fits_registers),
            (("rows", "over"), self._is_within),
            (("lanes", "rows", "copies", "ahead"), _needs_lanes),
        ):
            # What an axis of one value says is part of the whole below.
            if set(needed) <= set(names):
                problem.addConstraint(constraint, needed)
        if not names:
            return
        fixed = self.first.shown
        made: dict[tuple[Value, ...], AxisValue] = {}

        def is_done(*values: Value) -> bool:
            asked = {**fixed, **dict(zip(names, values, strict=True))}
            found = self._asked(asked)
            if found is None:
                return False
            made[values] = found
            return True

        problem.addConstraint(is_done, names)
        for point in problem.getSolutions():
            found = made[tuple(point[name] for name in names)]
            if found.shown not in known:
                yield found

    def _asked(self, asked: Mapping[str, Value]) -> AxisValue | None:
        """Return the block that does all that is asked, None where there is none."""
        lanes, rows, over = asked["lanes"], asked["rows"], str(asked["over"])
        count = asked["shared"] if self.is_sharing else 0
        if not (isinstance(lanes, int) and isinstance(rows, int) and isinstance(count, int)):
            return None
        outer = str(asked["outer"])
        block = RegisterBlock(shared=count)
        if asked["sums"]:
            summed = sum_lanes(self.unit, self.statement)
            block = RegisterBlock(summed, sums=True, shared=count)
        elif lanes:
            copied, ahead = bool(asked["copies"]), bool(asked["ahead"])
            own = over if over != NONE else ""
            outer = outer if outer != NONE else ""
            block = RegisterBlock(self.along, lanes, own, rows, False, copied, outer, ahead, count)
        choice = self._choice(block)
        found = self._shown(block, choice)
        if not self.is_sharing:
            found["shared"] = self.first.shown["shared"]
        if found != asked or (count and not self._is_shared_well(choice)):
            return None
        return AxisValue(found, block)

    def _is_shared_well(self, choice: Candidate) -> bool:
        """Return whether the shared loops make pieces for a few threads, and no more than needed.

        Without the innermost of them there would not be enough for many threads.
        """
        tiles = _sizes(choice)
        before = self.unit.pieces(choice.cores[:-1], tiles)
        every = self.unit.pieces(choice.cores, tiles)
        most = prod(self.unit.trips[name] or 1 for name in self.unit.parallel)
        return before < ENOUGH_PIECES and every >= min(FEW_PIECES, most)

    def _is_within(self, rows: int, over: str) -> bool:
        if over == NONE:
            return True
        count = self.unit.trip(self.statement, over)
        return rows <= min(count or MAX_COPIED_ROWS, max(MAX_ROWS, MAX_COPIED_ROWS))


def _sizes(choice: Candidate) -> dict[str, int]:
    return {step.loop: step.size for step in choice.of(Tile)}


def _fits_registers(lanes: int, rows: int) -> bool:
    return -(-lanes // VECTOR) * rows <= ACCUMULATORS


def _needs_lanes(lanes: int, rows: int, copies: int, ahead: int) -> bool:
    return bool(lanes) or (rows, copies, ahead) == (1, 0, 0)


def _is_among(settings: Shown, axes: Sequence[SpaceAxis]) -> bool:
    return all(settings[axis.name] in axis.values for axis in axes)


def schedules(unit: Unit) -> tuple[str, ...]:
    """Return the schedules worth trying for the loops that the threads of a nest share.

    Parts that shrink are for pieces that differ.
    """
    choice = choose_cpu(unit)
    if not choice.cores or unit.pieces(choice.cores, _sizes(choice)) > MOST_FETCHED:
        return (STATIC,)
    is_uneven = any(count is None for count in unit.trips.values())
    return (STATIC, DYNAMIC, *((GUIDED,) if is_uneven else ()))


# What compilers are given beside their usual flags: none of them changes what a sum is.
OWN_FLAGS = (("-O3",), ("-O3", "-funroll-loops"), ("-O2",))
# A square root is a call beside an instruction where it may have to set ``errno``, of which no
# compiler makes vectors. No result depends on it.
WITHOUT_ERRNO = ("-O3", "-fno-math-errno")
# The axis that changes no text, only the compiler's command.
FLAGS = "flags"
# Points that are listed before all others: the k-th settings of all nests together.
LIKELY = 32
SEED = 20140901
# Points drawn of a space too large to list, to say what leaves none of it.
SAMPLE = 1000

Parts = tuple[AxisValue, ...]
"""A point: a block for each statement that leads a nest, a schedule for each nest, and flags."""


def shown(parts: Parts) -> Shown:
    """Return the settings of a point."""
    return {name: value for part in parts for name, value in part.shown.items()}


@dataclass(frozen=True)
class CpuSpace:
    """All points of a region on a CPU.

    `flags` are the lists of compiler flags that the annotation gives, none for our own. `limits`
    are what the user says of the axes.
    """

    analysis: Analysis
    flags: Sequence[Flags] = ()
    limits: AxisLimits = NO_LIMITS

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return cpu_units(self.analysis)

    @cached_property
    def _blocks(self) -> tuple[tuple[BlockAxes, tuple[SpaceAxis, ...]], ...]:
        """The axes of each statement that leads a nest of its own, as the user limits them."""
        found = []
        for unit in self.units:
            own = leaders(unit)
            for statement in own:
                block = BlockAxes(unit, statement, bool(unit.parallel) and len(own) == 1)
                found.append((block, self._limited(f"S{statement}", block.axes())))
        return tuple(found)

    def _limited(self, prefix: str, axes: Iterable[SpaceAxis]) -> tuple[SpaceAxis, ...]:
        out = []
        for axis in axes:
            given = self.limits.values(f"{prefix}.{axis.name}")
            out.append(replace(axis, values=_fitting(axis, given)) if given else axis)
        return tuple(out)

    @cached_property
    def _others(self) -> tuple[tuple[AxisValue, ...], ...]:
        """The schedules of each nest, and the compiler flags."""
        parts: list[tuple[AxisValue, ...]] = []
        for unit in self.units:
            name = f"S{unit.leader}.schedule"
            given, words = self.limits.values(name), schedules(unit)
            is_open = len(words) > 1
            parts.append(
                tuple(
                    AxisValue({name: word} if is_open else {}, word)
                    for word in words
                    if not given or word in given
                )
            )
        region = self.analysis.region
        is_rooted = bool({"sqrt", "sqrtf"} & region.called) and region.around.ignores_errno
        own = (WITHOUT_ERRNO, *OWN_FLAGS) if is_rooted else OWN_FLAGS
        lists = tuple(dict.fromkeys(self.flags or own))
        given = self.limits.values(FLAGS)
        found = ((" ".join(one) or "-", one) for one in lists)
        parts.append(
            tuple(
                AxisValue({FLAGS: text} if len(lists) > 1 or one else {}, one)
                for text, one in found
                if not given or text in given
            )
        )
        return tuple(parts)

    def choices(self, parts: Parts) -> tuple[Candidate, ...]:
        """Return the choice for each nest at a point; without parts that of the rules."""
        asked = [part.asks for part in parts]
        led = (block.statement for block, _ in self._blocks)
        blocks = dict(
            zip(led, (one for one in asked if isinstance(one, RegisterBlock)), strict=False)
        )
        words = iter([one for one in asked if isinstance(one, str)])
        return tuple(choose_cpu(unit, blocks, next(words, STATIC)) for unit in self.units)

    @cached_property
    def axes(self) -> tuple[SpaceAxis, ...]:
        """The axes by their full names with the values before any constraint."""
        out = [
            SpaceAxis(f"S{block.statement}.{axis.name}", axis.values)
            for block, axes in self._blocks
            for axis in axes
        ]
        for part in self._others:
            names = dict.fromkeys(name for one in part for name in one.shown)
            out += [SpaceAxis(n, tuple(dict.fromkeys(one.shown[n] for one in part))) for n in names]
        return tuple(out)

    @property
    def size(self) -> int:
        """Return the number of points before constraints."""
        return prod(len(axis.values) for axis in self.axes)

    @cached_property
    def legal(self) -> Product[AxisValue]:
        """The points that the rules of each nest leave, before what the user says."""
        found = [
            tuple(_named(block, axes, one) for one in block.legal(axes))
            for block, axes in self._blocks
        ]
        return Product((*found, *self._others))

    @cached_property
    def admitted(self) -> int | None:
        """How many legal points the user's constraints leave, None where nobody counts them."""
        if not self.limits.constraints:
            return self.legal.size
        if not self.legal.is_listed:
            return None
        return sum(self.limits.admit(shown(p)) for p in self.legal.every())

    def is_sampled(self, count: int) -> bool:
        """Return whether so many listed points are some of the space drawn at random."""
        if count <= LIKELY and "legal" not in self.__dict__:
            # Nobody has looked further than the likely ones.
            return False
        return not self.legal.is_listed or count < (self.admitted or 0)

    def likely(self) -> Iterator[Parts]:
        """Yield the rules' own choice and few others, without a look at the rest of the space."""
        parts = [
            tuple(_named(block, axes, one) for one in block.likely())
            for block, axes in self._blocks
        ]
        if not all(self._others):
            return
        usual = tuple(part[0] for part in self._others)
        for blocks in islice(Product(tuple(parts)).diagonal(), LIKELY) if parts else ((),):
            if self.limits.admit(shown((*blocks, *usual))):
                yield (*blocks, *usual)

    def points(self, limit: int, spare: int = 0) -> Iterator[Parts]:
        """Yield at most `limit` points, likely ones first and then all, or some at random.

        There are `spare` ones more for those that turn out illegal.

        Raises:
            AnnotuneError: What the user says leaves none.
        """
        seen: set[tuple[object, ...]] = set()
        for point in self._in_turn(limit):
            key = tuple(shown(point).items())
            if key not in seen:
                seen.add(key)
                yield point
                if len(seen) == limit + spare:
                    return
        if not seen:
            raise AnnotuneError.of(self._why_empty())

    def _in_turn(self, limit: int) -> Iterator[Parts]:
        yield from self.likely()
        if not all(map(len, self.legal.parts)):
            return
        is_whole = self.legal.is_listed and (self.admitted or 0) <= limit
        rest = self.legal.every() if is_whole else self.legal.drawn(SEED, limit)
        yield from (point for point in rest if self.limits.admit(shown(point)))
        if not is_whole and self.legal.is_listed:
            # A constraint that few points fulfil leaves nothing to chance.
            every = self.legal.every()
            yield from (point for point in every if self.limits.admit(shown(point)))

    def _why_empty(self) -> Diagnostic:
        """Return the refusal that names what leaves no point of the space as the rules span it."""
        free = CpuSpace(self.analysis, self.flags)
        points = free.legal.every() if free.legal.is_listed else free.legal.drawn(SEED, SAMPLE)
        return self.limits.why_empty(map(shown, points))


def _fitting(axis: SpaceAxis, given: Iterable[Value]) -> tuple[Value, ...]:
    """Return those of `given` that may stand on an axis: counts, where its own values are."""
    words = dict.fromkeys(map(str, given))
    if all(isinstance(own, int) for own in axis.values):
        return tuple(int(word) for word in words if word.isascii() and word.isdecimal())
    return tuple(own for own in axis.values if str(own) in words)


def _named(block: BlockAxes, axes: Sequence[SpaceAxis], one: AxisValue) -> AxisValue:
    """Return an alternative with its settings under their full names."""
    named = {f"S{block.statement}.{axis.name}": one.shown[axis.name] for axis in axes}
    return AxisValue(named, one.asks)


# Points that are planned in vain before the region is refused: one nest as written is legal.
MOST_SKIPPED = 64


@dataclass(frozen=True)
class CpuPoints(TargetPoints[Parts]):
    """The points of a region's space on the cores of a CPU, the rules' own first."""

    space: CpuSpace

    @classmethod
    def of(cls, base: Base, space: Space, device: Device) -> CpuPoints:
        """Return the points of a region whose space for CUDA is `space`, as the user limits them.

        Each list of compiler flags that the annotation gives is tried instead of our own ones.
        """
        spec = base.analysis.region.spec
        found = tuple(dict.fromkeys(code_flags_at(spec, p).host for p in space.params))
        # One empty list is a build command that says nothing.
        return cls(CpuSpace(base.analysis, found if any(found) else (), space.limits))

    @property
    def limits(self) -> AxisLimits:
        """Return what the user says of the axes."""
        return self.space.limits

    def points(self, limit: int) -> Iterator[Parts]:
        """Yield points, the rules' own choice first (`TargetPoints.points`)."""
        yield from self.space.points(limit, MOST_SKIPPED)

    def listed(self, point: Parts) -> ListedPoint:
        """Return what a point comes to; no model speaks of it."""
        return ListedPoint(shown(point), None, partial(self._variant, point))

    def _variant(self, point: Parts, left_out: tuple[Reason, ...]) -> Variant:
        """Return a point planned; `left_out` are reasons against others. Flags change no plan."""
        settings = shown(point)
        key = left_out, tuple((name, n) for name, n in settings.items() if name != FLAGS)
        if key not in self._plans:
            first, *others = self.space.choices(point)
            choices = (replace(first, reasons=(*left_out, *first.reasons)), *others)
            analysis = self.space.analysis
            self._plans[key] = planned(analysis, choices, cpu_groups(analysis))
        flags = next((part.asks for part in point if isinstance(part.asks, tuple)), ())
        return replace(self._plans[key], config=settings, flags=CodeFlags(flags))

    @cached_property
    def _plans(self) -> dict[object, Variant]:
        return {}

    def is_asked(self, point: Parts) -> bool:
        """Return False: no recipe speaks of the cores of a CPU without saying all."""
        return False

    def against(self, refused: Parts, error: AnnotuneError) -> tuple[Reason, ...]:
        """Return why the rules' choice, or another point before the first legal one, is none."""
        what = "; ".join(f"{name} {value}" for name, value in shown(refused).items())
        named = what or "the rules' choice"
        return tuple(Reason("left out", named, one.message) for one in error.diagnostics)

    def by_rules(self, refused: Parts, error: AnnotuneError) -> Variant:
        """Raise what is wrong with the first choice: the rules have made all points already."""
        raise error

    def counted(self, found: Listing, limit: int) -> Listing:
        """Return a listing with the size of the space (`TargetPoints.counted`)."""
        if limit == 1:
            # Nobody needs the rest of the space for the rules' choice.
            return found
        own = self.space
        note = SAMPLED.format(size=own.legal.size) if own.is_sampled(len(found)) else ""
        return replace(found, note=note, size=own.size, legal=own.admitted)

    def axes(self) -> Iterator[str]:
        """Yield the names of the axes of the CPU's space (`TargetPoints.axes`)."""
        return (axis.name for axis in replace(self.space, limits=NO_LIMITS).axes)


def first_plan(base: Base) -> Plan:
    """Return what the rules choose for the cores of a CPU, and why not what they would rather.

    Raises:
        AnnotuneError: No choice is legal.
    """
    return CpuPoints(CpuSpace(base.analysis)).listing(1).variant(0).tuned
