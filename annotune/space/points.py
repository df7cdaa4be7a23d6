"""The points that a region's space has for each target, listed by one rule for all of them.

The first choice of the rules comes first, then what ranks best; all are planned when asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import ClassVar, Generic, TypeAlias, TypeVar

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.annotation.flags import Flags, code_flags_at
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.model.bounds import need_not_be_sent
from annotune.model.predict import RegionModel
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.plan import Plan
from annotune.schedule.units import Unit
from annotune.space.decision import (
    FUSIONS,
    JOINED,
    Base,
    Decision,
    Point,
    RecipeSteps,
    common,
    decide,
)
from annotune.space.limits import AxisLimits
from annotune.space.recipe import config, form_settings
from annotune.space.space import Product, Space, UnitSpace
from annotune.space.variants import Listing, Variant, planned
from annotune.strategies.openacc import acc_shapes, as_asked, in_form, other_level
from annotune.strategies.registry import Proposals
from annotune.transforms.cache import AddOnHost, Both, Cache, adding, why_not_added
from annotune.transforms.language import of_kind
from annotune.transforms.messages import ACC_FORM
from annotune.transforms.tree import find_assign, target_name

P = TypeVar("P")


@dataclass(frozen=True)
class ListedPoint:
    """A point as a listing shows it, and what plans it, given reasons against points before it."""

    config: Mapping[str, str | int]
    predicted_s: float | None
    variant: Callable[[tuple[Reason, ...]], Variant]


class TargetPoints(ABC, Generic[P]):
    """The points that a region's space has for one target, each of them a `P`."""

    @property
    @abstractmethod
    def limits(self) -> AxisLimits:
        """Return what the user says of the axes."""

    @abstractmethod
    def points(self, limit: int) -> Iterator[P]:
        """Yield points, the first choice first, as many as fill a listing of `limit` points."""

    @abstractmethod
    def listed(self, point: P) -> ListedPoint:
        """Return what a point comes to; nothing is planned yet.

        Raises:
            AnnotuneError: The recipe is illegal at the point.
        """

    @abstractmethod
    def is_asked(self, point: P) -> bool:
        """Return whether the recipe alone makes the point, so that no other may take its place."""

    @abstractmethod
    def by_rules(self, refused: P, error: AnnotuneError) -> Variant:
        """Return what takes the place of points none of which is legal; `refused` is the first.

        Raises:
            AnnotuneError: There is nothing, for what `error` says of the point, or the like.
        """

    def against(self, refused: P, error: AnnotuneError) -> tuple[Reason, ...]:
        """Return what the reasons of the first legal point say of one before it."""
        return ()

    @abstractmethod
    def counted(self, found: Listing, limit: int) -> Listing:
        """Return a listing with how many points there are, and which of them it has."""

    @abstractmethod
    def axes(self) -> Iterator[str]:
        """Yield the names of the axes, as often as they come.

        They are those before what the user says of them. Whoever looks for a name stops there.
        """

    def listing(self, limit: int) -> Listing:
        """Return at most `limit` points, the first choice of the rules first.

        The first point is planned, all others when they are asked for.

        Raises:
            AnnotuneError: The first choice is illegal, as only a recipe can make it; or what the
                user says of the axes leaves no point.
        """
        return self.counted(self.first_of(self.points(limit), limit), limit)

    def first_alone(self, limit: int) -> Listing:
        """Return the first point of a listing and, where to rank them takes long, no other.

        Raises:
            AnnotuneError: As `listing` does.
        """
        return self.listing(limit)

    def first_of(self, points: Iterable[P], limit: int) -> Listing:
        """Return the first points that the user's limits admit, the first of them legal.

        Points whose recipe is illegal are left out, and so is a first one that turns out illegal
        where it is nobody's demand: what comes next will do.
        """
        found: list[ListedPoint] = []
        refused: tuple[P, AnnotuneError] | None = None
        seen: list[Mapping[str, str | int]] = []
        left_out: tuple[Reason, ...] = ()
        first: Variant | None = None
        for point in points:
            try:
                one = self.listed(point)
                seen.append(one.config)
                if not self.limits.admit(one.config):
                    continue
                first = first or one.variant(left_out)
            except AnnotuneError as error:
                if not found and refused is None and self.is_asked(point):
                    raise
                refused = refused or (point, error)
                left_out += self.against(point, error)
                continue
            found.append(one)
            if len(found) == limit:
                break
        if first is None and refused is not None:
            rules = self.by_rules(*refused)
            return Listing((rules.config,), (rules.predicted_s,), {0: rules}.__getitem__)
        if first is None:
            raise AnnotuneError.of(self.limits.why_empty(seen))
        return _listing(found, first)


def _listing(found: Sequence[ListedPoint], first: Variant) -> Listing:
    configs, times = (tuple(one.config for one in found), tuple(one.predicted_s for one in found))
    return Listing(configs, times, lambda k: first if k == 0 else found[k].variant(()))


@dataclass(frozen=True)
class GpuPoints(TargetPoints[Point]):
    """The points of a region for a GPU: the decision algorithm's choice, then the model's best.

    With `stages_copies` the copies of a user's arrays go through pinned memory.
    """

    base: Base
    space: Space
    device: Device
    stages_copies: ClassVar[bool] = True

    @classmethod
    def of(cls, base: Base, space: Space, device: Device) -> GpuPoints:
        """Return the points of a region that a device can have."""
        return cls(base, space.on(device), device)

    @property
    def limits(self) -> AxisLimits:
        """Return what the user says of the axes."""
        return self.space.limits

    def points(self, limit: int) -> Iterator[Point]:
        """Yield points, the first choice first (`TargetPoints.points`)."""
        yield from self.ranked(self.space.enough(limit))

    def ranked(self, limit: int) -> Iterable[Point]:
        """Return the first choice, and then at most `limit` points that the model ranks best."""
        return self.space.ranked(self.device, limit)

    def decided(self, point: Point) -> Decision:
        """Return what a point means for the target.

        Raises:
            AnnotuneError: The recipe names what is not there, or asks for what is illegal.
        """
        return adding_on_host(decide(self.base, point), self._sums)

    @cached_property
    def _sums(self) -> tuple[AddOnHost, ...]:
        return sums_on_host(self.base.analysis, self.device)

    def flags(self, flags: Flags) -> Sequence[str]:
        """Return those flags of the annotation's that the target's compiler gets."""
        return flags.nvcc

    def listed(self, point: Point) -> ListedPoint:
        """Return what a point comes to, with its prediction (`TargetPoints.listed`)."""
        decision, analysis = self.decided(point), self.base.analysis
        units = self.base.nests(point.fusion, decision.asked)
        made = (analysis, tuple(units), decision.choices, self.device)
        model = RegionModel(*made, self.stages_copies)
        flags = code_flags_at(analysis.region.spec, point.params)
        settings, predicted_s = self._settings(decision, point), model.forecast().kernels_s

        def variant(_: tuple[Reason, ...]) -> Variant:
            choices, groups, places = decision.choices, decision.groups, decision.places
            found = planned(analysis, choices, groups, places, settings)
            return replace(found, predicted_s=predicted_s, model=model, flags=flags)

        return ListedPoint(settings, predicted_s, variant)

    def is_asked(self, point: Point) -> bool:
        """Return whether no strategy has a whole choice in the point."""
        return not any(map(point.whole, point.picked))

    def by_rules(self, refused: Point, error: AnnotuneError) -> Variant:
        """Return what `direct` makes of the point; what that fuses may have to be left apart.

        Raises:
            AnnotuneError: `direct` is illegal too, as only a recipe can make it.
        """
        fusion = refused.fusion if refused.fusion in FUSIONS else FUSIONS[0]
        rules = replace(refused, picked={}, fusion=fusion)
        try:
            return self.listed(rules).variant(())
        except AnnotuneError:
            return self.listed(replace(rules, fusion="apart")).variant(())

    def counted(self, found: Listing, limit: int) -> Listing:
        """Return a listing with the size of the space (`TargetPoints.counted`)."""
        space = self.space
        if limit == 1:
            return found  # nothing is chosen among one, and counting lists them all
        if not space.limits:
            return found.of(space.size, space.legal)
        is_all = len(found) < limit and space.legal <= space.enough(limit)
        return found.admitted(space.size, is_all)

    def first_alone(self, limit: int) -> Listing:
        """Return the first point; the model ranks no other (`TargetPoints.first_alone`)."""
        if self.space.limits:
            return self.listing(limit)  # how many points the limits admit only a listing tells
        return self.listing(1).of(self.space.size, self.space.legal)

    def axes(self) -> Iterator[str]:
        """Yield the names of the axes that some points have (`TargetPoints.axes`)."""
        for point in self.space.variety():
            try:
                decision = self.decided(point)
            except AnnotuneError:
                continue
            yield from self._settings(decision, point)

    def _settings(self, decision: Decision, point: Point) -> Mapping[str, str | int]:
        """Return what tables show of a point, compiler flags among it where there are any."""
        given = self.flags(code_flags_at(self.base.analysis.region.spec, point.params))
        return {**config(decision, point), **({"flags": " ".join(given)} if given else {})}


ADDED = "it is only added to, and to send it takes the bus longer than to begin at nothing"


# The steps by which the host adds sums to arrays.
HostSums: TypeAlias = Sequence[AddOnHost]


def sums_on_host(analysis: Analysis, device: Device) -> tuple[AddOnHost, ...]:
    """Return the sums that the rules have the host add to arrays."""
    long = (name for name in analysis.uses if need_not_be_sent(analysis, name, device))
    return tuple(adding(analysis, name) for name in long if not why_not_added(analysis, name))


def adding_on_host(found: Decision, sums: HostSums) -> Decision:
    """Return a decision with the sums that the host adds, those of the recipe before the rules'."""
    asked = found.asked.of(AddOnHost)
    named = {step.array for step in asked}
    choices = []
    for choice in found.choices:
        choice = choice.having(*of_kind(asked, AddOnHost, choice.statements))
        choice = choice.having(*of_kind(found.asked.of(Both), Both, choice.statements))
        for step in of_kind(sums, AddOnHost, choice.statements):
            if step.array not in named:
                choice = choice.having(step, why=Reason(step.array, "added on the host", ADDED))
        choices.append(choice)
    return replace(found, choices=tuple(choices))


APART = (
    "outputs of their own; fused, compilers have chosen other grids than those asked for "
    "(Rivera 2014, section 5.5)"
)


def acc_space(space: Space) -> Space:
    """Return the space of a region in OpenACC's shapes, its rules' own fusion first."""
    base = space.base
    asked = decide(base, Point(space.params[0])).asked
    branches = [
        (fusion, tuple(_shaped(unit, base, asked) for unit in units))
        for fusion, units in space.branches
        if fusion != JOINED and not any(one.unit.joint for one in units)
    ]
    few = sorted(branches, key=lambda pair: len(pair[1]))
    # What the recipe fuses stays so.
    first = next((pair for pair in few if all(map(_may_share, pair[1]))), branches[0])
    return replace(space, branches=(first, *(pair for pair in branches if pair is not first)))


def _shaped(space: UnitSpace, base: Base, asked: RecipeSteps) -> UnitSpace:
    """Return the alternatives for a unit with whole shapes where the recipe leaves them open."""
    is_free = space.is_free and not {*space.unit.statements} & {*asked.mapped("acc")}
    found = acc_shapes(space.unit, space.made, base.strategy) if is_free else ()
    return replace(space, made=Proposals(found))


def _may_share(space: UnitSpace) -> bool:
    """Return whether the rules let a unit's parts share a kernel: they write one array, or one
    variable that is not an iteration's own."""
    unit = space.unit
    if len(unit.parts) == 1:
        return True
    written = [{target_name(find_assign(unit.body, n)) for n in part} for part in unit.parts]
    return bool(set.intersection(*written) - unit.analysis.private)


def decide_acc(base: Base, point: Point) -> Decision:
    """Return the choices at one point, each in a form of OpenACC's.

    Raises:
        AnnotuneError: The recipe names what is not there, or asks for an illegal fusion.
    """
    found = decide(base, point)
    units = base.nests(point.fusion, found.asked)
    pairs = zip(units, found.choices, strict=True)
    choices = [_formed(unit, choice, found.asked) for unit, choice in pairs]
    if len(units) > 1 and point.fusion == "apart" and base.nests("all", found.asked) != units:
        why = Reason("kernels", "apart", APART)
        choices = [replace(c, reasons=(why, *c.reasons)) for c in choices]
    return replace(found, choices=tuple(choices))


def _formed(unit: Unit, choice: Candidate, asked: RecipeSteps) -> Candidate:
    """Return a choice in a shape of OpenACC's: what the recipe's ``acc`` asks for, or the rules'.

    Raises:
        AnnotuneError: OpenACC cannot say what is asked.
    """
    step = common(unit, asked.mapped("acc"), "acc", asked)
    if step is None:
        return in_form(unit, choice)
    cached = common(unit, asked.by_statement(Cache), "acc", asked)
    made = as_asked(unit, choice, step, () if cached is None else cached.arrays)
    if isinstance(made, str):
        raise AnnotuneError.of(ACC_FORM.at(step.span, statement=step.statement, reason=made))
    return made


@dataclass(frozen=True)
class AccPoints(GpuPoints):
    """The points of a region in OpenACC: the rules' shapes in their order, then what ranks best.

    `space` is one of OpenACC's (`acc_space`).
    """

    stages_copies: ClassVar[bool] = False

    @classmethod
    def of(cls, base: Base, space: Space, device: Device) -> AccPoints:
        """Return the points of a region whose space for CUDA is `space`."""
        return cls(base, acc_space(space), device)

    def listing(self, limit: int) -> Listing:
        """Return at most `limit` points, the first of them legal (`TargetPoints.listing`).

        Where a recipe maps the loops, the same with thread y on the other level follows at once.
        """
        found = super().listing(limit)
        # The rules' own shapes have the other level among them.
        is_shaped = any(unit.made.first for unit in self.space.branches[0][1])
        other = None if is_shaped or limit == 1 else _other_level(found.variant(0), self.base)
        if other is None or not self.space.limits.admit(other.config):
            return found
        return found.with_second(other).cut(limit)

    def ranked(self, limit: int) -> Iterator[Point]:
        """Yield the rules' own shapes in their order, then at most `limit` of the model's best.

        The model cannot tell one form of a grid from another, so the shapes come first.
        """
        seen: list[Point] = []
        for point in _in_turn(self.space):
            seen.append(point)
            yield point
        others = self.space.ranked(self.device, limit)
        yield from (point for point in others if point not in seen)

    def decided(self, point: Point) -> Decision:
        """Return what a point means, in OpenACC's forms (`decide_acc`)."""
        return decide_acc(self.base, point)

    def flags(self, flags: Flags) -> Sequence[str]:
        """Return those flags of the annotation's that the host's compiler gets."""
        return flags.host


def _in_turn(space: Space) -> Iterator[Point]:
    """Yield the points of the first fusion whose kernels all have the k-th of their shapes."""
    yield space.first
    fusion, units = space.branches[0]
    made = {unit.unit.leader: unit.made.first for unit in units if unit.made.first}
    together = Product(tuple(made.values())).diagonal()
    for shapes in islice(together, 1, None):
        yield Point(space.params[0], fusion, dict(zip(made, shapes, strict=True)))


def first_acc_plan(analysis: Analysis, decision: Decision) -> Plan:
    """Return the plan of a decision of OpenACC's, for the tuned sizes.

    Raises:
        AnnotuneError: A choice is illegal.
    """
    choices, groups, places = decision.choices, decision.groups, decision.places
    return planned(analysis, choices, groups, places).tuned


def _other_level(first: Variant, base: Base) -> Variant | None:
    """Return `first` with workers where it has one vector, and the other way round.

    None where there are neither, or the other is illegal.
    """
    choices = tuple(map(other_level, first.tuned.choices))
    if choices == first.tuned.choices:
        return None
    settings = dict(first.config)
    for choice in choices:
        settings |= form_settings(choice)
    try:
        other = planned(base.analysis, choices, base.groups, settings=settings)
    except AnnotuneError:
        return None
    return replace(other, predicted_s=first.predicted_s, model=first.model, flags=first.flags)
