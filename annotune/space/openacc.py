"""The space of OpenACC: fusions in an order of its own, and every shape of every kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.annotation.flags import Flags
from annotune.diagnostics import AnnotuneError
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.plan import Plan
from annotune.schedule.units import Unit
from annotune.space.decision import Base, Decision, Point, RecipeSteps, common, decide
from annotune.space.recipe import form_settings
from annotune.space.space import Space, UnitSpace
from annotune.space.variants import GpuPoints, Listing, Variant, planned
from annotune.strategies.openacc import acc_shapes, as_asked, in_form, other_level
from annotune.strategies.registry import Made
from annotune.transforms.cache import Cache
from annotune.transforms.map import Map
from annotune.transforms.messages import ACC_FORM

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
    ]
    few = sorted(branches, key=lambda pair: len(pair[1]))
    # What the recipe fuses stays so.
    first = next((pair for pair in few if all(map(_may_share, pair[1]))), branches[0])
    return replace(space, branches=(first, *(pair for pair in branches if pair is not first)))


def _shaped(space: UnitSpace, base: Base, asked: RecipeSteps) -> UnitSpace:
    """Return the alternatives for a unit with whole shapes where the recipe leaves them open."""
    is_free = space.is_free and not {*space.unit.statements} & {*asked.by_statement(Map, "acc")}
    found = acc_shapes(space.unit, base.strategy) if is_free else ()
    return replace(space, made=Made(found))


def _may_share(space: UnitSpace) -> bool:
    """Return whether the rules let a unit's parts share a kernel: they write one array."""
    unit = space.unit
    if len(unit.parts) == 1:
        return True
    written = [
        {f.access.array for n in part for f in unit.analysis.accesses[n] if f.is_write}
        for part in unit.parts
    ]
    return bool(set.intersection(*written))


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
    step = common(unit, asked.by_statement(Map, "acc"), "acc", asked)
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

    @classmethod
    def of(cls, base: Base, space: Space, device: Device) -> AccPoints:
        """Return the points of a region whose space for CUDA is `space`."""
        return cls(base, acc_space(space), device)

    def listing(self, limit: int) -> Listing:
        """Return at most `limit` points, the first of them legal (`Points.listing`).

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
    yield next(space.points())
    fusion, units = space.branches[0]
    made = {unit.unit.leader: unit.made.first for unit in units if unit.made.first}
    for k in range(1, max(map(len, made.values()), default=0)):
        picked = {leader: shapes[min(k, len(shapes) - 1)] for leader, shapes in made.items()}
        yield Point(space.params[0], fusion, picked)


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
