"""The space of a region on a CPU: the axes of its nests, schedules, and compiler flags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from annotune.analysis.facts import Analysis
from annotune.annotation.spec import Value
from annotune.decide.cpu import choose_cpu, cpu_units
from annotune.decide.cpu_axes import Alternative, BlockAxes, Settings, schedules
from annotune.decide.cpu_blocks import Sharing
from annotune.decide.limits import NO_LIMITS, Limits
from annotune.decide.plan import Candidate
from annotune.decide.product import Product
from annotune.decide.space import Axis
from annotune.decide.sum_lanes import leaders
from annotune.decide.units import Unit
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.transforms.map import STATIC

# What compilers are given beside their usual flags: none of them changes what a sum is.
OWN_FLAGS = ((), ("-O3",), ("-O3", "-funroll-loops"))
# The axis that changes no text, only the compiler's command.
FLAGS = "flags"
# Points that are listed before all others: the k-th settings of all nests together.
LIKELY = 32
SEED = 20140901
# Points drawn of a space too large to list, to say what leaves none of it.
SAMPLE = 1000

NOTHING_OPEN = Alternative({})

Flags = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class CpuPoint:
    """A point: its settings, and the alternative of each part that made them."""

    parts: tuple[Alternative, ...]

    @property
    def settings(self) -> Settings:
        return {name: value for part in self.parts for name, value in part.settings.items()}

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the flags that the C compiler gets."""
        return tuple(flag for part in self.parts for flag in part.flags)

    def choices(self, units: Iterable[Unit]) -> tuple[Candidate, ...]:
        """Return the choice for each nest."""
        blocks = {s: block for part in self.parts for s, block in part.blocks.items()}
        counts = {s: count for part in self.parts for s, count in part.counts.items()}
        named = {s: name for part in self.parts for s, name in part.schedules.items()}
        return tuple(
            choose_cpu(
                unit,
                blocks.items(),
                Sharing(counts.get(unit.leader, 0), named.get(unit.leader, STATIC)),
            )
            for unit in units
        )


@dataclass(frozen=True)
class CpuSpace:
    """All points of a region on a CPU.

    `flags` are the lists of compiler flags that the annotation gives, none for our own. `limits`
    are what the user says of the axes.
    """

    analysis: Analysis
    flags: Flags = ()
    limits: Limits = NO_LIMITS

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return cpu_units(self.analysis)

    @cached_property
    def _blocks(self) -> tuple[tuple[BlockAxes, tuple[Axis, ...]], ...]:
        """The axes of each statement that leads a nest of its own, as the user limits them."""
        found = []
        for unit in self.units:
            own = leaders(unit)
            for statement in own:
                block = BlockAxes(unit, statement, bool(unit.parallel) and len(own) == 1)
                found.append((block, self._limited(f"S{statement}", block.axes())))
        return tuple(found)

    def _limited(self, prefix: str, axes: Iterable[Axis]) -> tuple[Axis, ...]:
        out = []
        for axis in axes:
            given = self.limits.values(f"{prefix}.{axis.name}")
            out.append(replace(axis, values=_fitting(axis, given)) if given else axis)
        return tuple(out)

    @cached_property
    def _others(self) -> tuple[tuple[Alternative, ...], ...]:
        """The schedules of each nest, and the compiler flags."""
        parts = []
        for unit in self.units:
            name = f"S{unit.leader}.schedule"
            given = self.limits.values(name)
            words = tuple(w for w in schedules(unit) if not given or w in given)
            shown = {w: {name: w} if len(schedules(unit)) > 1 else {} for w in words}
            parts.append(tuple(Alternative(shown[w], schedules={unit.leader: w}) for w in words))
        lists = tuple(dict.fromkeys(self.flags or OWN_FLAGS))
        given = self.limits.values(FLAGS)
        shown_flags = [(" ".join(one) or "-", one) for one in lists]
        parts.append(
            tuple(
                Alternative({FLAGS: text} if len(lists) > 1 or one else {}, flags=one)
                for text, one in shown_flags
                if not given or text in given
            )
        )
        return tuple(parts)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes by their full names with the values before any constraint."""
        out = [
            Axis(f"S{block.statement}.{axis.name}", axis.values)
            for block, axes in self._blocks
            for axis in axes
        ]
        for part in self._others:
            names = dict.fromkeys(name for one in part for name in one.settings)
            out += [Axis(n, tuple(dict.fromkeys(one.settings[n] for one in part))) for n in names]
        return tuple(out)

    @property
    def size(self) -> int:
        """Return the number of points before constraints."""
        return prod(len(axis.values) for axis in self.axes)

    @cached_property
    def legal(self) -> Product[Alternative]:
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
        return sum(self.limits.admit(CpuPoint(p).settings) for p in self.legal.every())

    def is_sampled(self, count: int) -> bool:
        """Return whether so many listed points are some of the space drawn at random."""
        if count <= LIKELY and "legal" not in self.__dict__:
            # Nobody has looked further than the likely ones.
            return False
        return not self.legal.is_listed or count < (self.admitted or 0)

    def likely(self) -> Iterator[CpuPoint]:
        """Yield the rules' own choice and few others, without a look at the rest of the space."""
        parts = [
            tuple(_named(block, axes, one) for one in block.likely())
            for block, axes in self._blocks
        ] or [(NOTHING_OPEN,)]
        if not all(self._others):
            return
        usual = tuple(part[0] for part in self._others)
        for blocks in Product(tuple(parts)).diagonal(LIKELY):
            point = CpuPoint((*blocks, *usual))
            if self.limits.admit(point.settings):
                yield point

    def points(self, limit: int) -> Iterator[CpuPoint]:
        """Yield at most `limit` points, likely ones first and then all, or some at random.

        Raises:
            AnnotuneError: What the user says leaves none.
        """
        seen: set[tuple[object, ...]] = set()
        for point in self._in_turn(limit):
            key = tuple(point.settings.items())
            if key not in seen:
                seen.add(key)
                yield point
                if len(seen) == limit:
                    return
        if not seen:
            raise AnnotuneError.of(self._why_empty())

    def _in_turn(self, limit: int) -> Iterator[CpuPoint]:
        yield from self.likely()
        if not all(map(len, self.legal.parts)):
            return
        is_whole = self.legal.is_listed and (self.admitted or 0) <= limit
        rest = self.legal.every() if is_whole else self.legal.drawn(SEED, limit)
        for parts in rest:
            point = CpuPoint(parts)
            if self.limits.admit(point.settings):
                yield point
        if not is_whole and self.legal.is_listed:
            # A constraint that few points fulfil leaves nothing to chance.
            yield from (
                point
                for point in map(CpuPoint, self.legal.every())
                if self.limits.admit(point.settings)
            )

    def _why_empty(self) -> Diagnostic:
        """Return the refusal that names what leaves no point of the space as the rules span it."""
        free = CpuSpace(self.analysis, self.flags)
        points = free.legal.every() if free.legal.is_listed else free.legal.drawn(SEED, SAMPLE)
        return self.limits.why_empty(CpuPoint(p).settings for p in points)


def _fitting(axis: Axis, given: Iterable[Value]) -> tuple[Value, ...]:
    """Return those of `given` that may stand on an axis: counts, where its own values are."""
    words = dict.fromkeys(map(str, given))
    if all(isinstance(own, int) for own in axis.values):
        return tuple(int(word) for word in words if word.isascii() and word.isdecimal())
    return tuple(own for own in axis.values if str(own) in words)


def _named(block: BlockAxes, axes: Sequence[Axis], one: Alternative) -> Alternative:
    """Return an alternative with its settings under their full names."""
    shown = {f"S{block.statement}.{axis.name}": one.settings[axis.name] for axis in axes}
    return Alternative(shown, one.blocks, one.counts)
