"""Points of the space as variants: planned for the tuned sizes and for all, and predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.annotation.flags import Flags, code_flags_at
from annotune.codegen.target import Listing, Variant
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.ir.region import Region
from annotune.model.predict import RegionModel
from annotune.schedule.apply import NO_PLACES, Places, build
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import Plan
from annotune.space.decision import Base, Decision, Point, decide
from annotune.space.limits import Limits
from annotune.space.recipe import config
from annotune.space.space import Space
from annotune.transforms.distribute import Distribute
from annotune.transforms.expand import Expand
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Pipeline
from annotune.transforms.prefetch import Prefetch
from annotune.transforms.steps import COPYING
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Transform
from annotune.transforms.vectorize import Vectorize


def planned(
    analysis: Analysis,
    choices: Sequence[Candidate],
    groups: Sequence[tuple[int, ...]],
    places: Places = NO_PLACES,
    settings: Mapping[str, str | int] | None = None,
) -> Variant:
    """Return the choices as a variant: its plan at the tuned sizes, and one for all sizes.

    Raises:
        AnnotuneError: A choice is illegal; at the command that asks for it.
    """
    region = analysis.region

    def built(own: Sequence[Candidate], constants: Mapping[str, int]) -> Plan | Diagnostic:
        return build(analysis, own, groups, constants, places)

    tuned = _legal(built(choices, region.sizes))
    passed = open_sizes(region)
    if not (passed and analysis.all_sizes):
        return Variant(analysis, tuned, None, settings or {})
    others = tuple(choice.elsewhere or choice for choice in choices)
    made = built(others, region.constants)
    if isinstance(made, Diagnostic) and any(map(_inside, others)):
        # Its copies have a size that only the tuned sizes fix.
        bare = (choice.having(without=_inside(choice)) for choice in others)
        made = built(tuple(bare), region.constants)
    general = _legal(made)
    partly: Plan | None = None
    listed = {name: region.sizes[name] for name in region.varied if name in passed}
    if listed and listed.keys() != passed and general.steps != tuned.steps:
        found = built(others, {**region.constants, **listed})
        partly = found if isinstance(found, Plan) else None
    return Variant(analysis, tuned, general, settings or {}, partly=partly)


def _inside(choice: Candidate) -> tuple[type[Transform], ...]:
    """Return the kinds of the steps by which a worker has copies and blocks of its own."""
    kinds: tuple[type[Transform], ...] = (*COPYING, Pipeline, Prefetch)
    if choice.mapping is None or choice.cores:
        kinds = (*kinds, Tile, Permute, Vectorize, Expand, Distribute)
    return tuple(kind for kind in kinds if choice.of(kind))


def open_sizes(region: Region) -> frozenset[str]:
    """Return the sizes that a call decides."""
    own = region.scalars.values()
    return frozenset(s.name for s in own if s.value is None and s.name in region.sizes)


def _legal(plan: Plan | Diagnostic) -> Plan:
    if isinstance(plan, Diagnostic):
        raise AnnotuneError.of(plan)
    return plan


@dataclass(frozen=True)
class GpuPoints:
    """How a target makes variants of points for a GPU, and what it shows of them before.

    `deciding` says what a point means for the target, `command` is the annotation's word for its
    mapping.
    """

    base: Base
    device: Device
    deciding: Callable[[Base, Point], Decision] = decide
    command: str = "cuda"

    def listing(self, points: Iterable[Point], limits: Limits, limit: int) -> Listing:
        """Return the first points that the user's limits admit, the first of them legal.

        Points whose recipe is illegal are left out, and so is a first one that turns out illegal
        where it is a strategy's own; where no point is left, the rules of `direct` take their
        place.

        Raises:
            AnnotuneError: The first choice is illegal, as only a recipe can make it; or the limits
                leave no point.
        """
        found: list[_Decided] = []
        illegal: list[Point] = []
        seen: list[Mapping[str, str | int]] = []
        first: Variant | None = None
        for point in points:
            try:
                one = self._decided(point)
                seen.append(one.config)
                if not limits.admit(one.config):
                    continue
                first = first or self.variant(one)
            except AnnotuneError:
                # A strategy's whole choice is nobody's demand: what comes next will do.
                if found or illegal or any(map(point.whole, point.picked)):
                    illegal.append(point)
                    continue
                raise
            found.append(one)
            if len(found) == limit:
                break
        if first is None and illegal:
            first = _by_rules(illegal[0], lambda point: self.variant(self._decided(point)))
            return Listing((first.config,), (first.predicted_s,), {0: first}.__getitem__)
        if first is None:
            raise AnnotuneError.of(limits.why_empty(seen))
        configs = tuple(one.config for one in found)
        times = tuple(one.predicted_s for one in found)
        return Listing(configs, times, self._made(tuple(found), first))

    def listing_of(self, space: Space, points: Iterable[Point], limit: int) -> Listing:
        """Return the listing of `points`, the best of a space, with how many there are of it.

        Raises:
            AnnotuneError: As `listing` does.
        """
        found = self.listing(points, space.limits, limit)
        if not space.limits:
            return found.of(space.size, space.legal)
        is_all = len(found) < limit and space.legal <= space.enough(limit)
        return found.admitted(space.size, is_all)

    def axes(self, points: Iterable[Point]) -> Iterator[str]:
        """Yield the names of the axes that some points have, as often as they come."""
        for point in points:
            try:
                decision = self.deciding(self.base, point)
            except AnnotuneError:
                continue
            yield from self._settings(decision, point)

    def _settings(self, decision: Decision, point: Point) -> Mapping[str, str | int]:
        """Return what tables show of a point."""
        flags = code_flags_at(self.base.analysis.region.spec, point.params)
        given = flags.nvcc if self.command == "cuda" else flags.host
        return {**config(decision, point), **shown_flags(given)}

    def _made(self, found: Sequence[_Decided], first: Variant) -> Callable[[int], Variant]:
        return lambda number: first if number == 0 else self.variant(found[number])

    def _decided(self, point: Point) -> _Decided:
        """Return what a point means, with its prediction; nothing is planned yet.

        Raises:
            AnnotuneError: The recipe is illegal at the point.
        """
        decision = self.deciding(self.base, point)
        units = self.base.nests(point.fusion, decision.asked)
        analysis = self.base.analysis
        flags = code_flags_at(analysis.region.spec, point.params)
        model = RegionModel(analysis, tuple(units), decision.choices, self.device)
        settings = self._settings(decision, point)
        return _Decided(decision, settings, model, model.forecast().kernels_s, flags)

    def variant(self, one: _Decided) -> Variant:
        """Return a decided point planned.

        Raises:
            AnnotuneError: A choice is illegal.
        """
        decision = one.decision
        found = planned(
            self.base.analysis,
            decision.choices,
            decision.groups,
            decision.places,
            one.config,
        )
        return replace(found, predicted_s=one.predicted_s, model=one.model, flags=one.flags)


@dataclass(frozen=True)
class _Decided:
    """A point with what it means and what is shown of it."""

    decision: Decision
    config: Mapping[str, str | int]
    model: RegionModel
    predicted_s: float
    flags: Flags


def _by_rules(first: Point, variant: Callable[[Point], Variant]) -> Variant:
    """Return what `direct` makes of a point whose whole choices are all illegal.

    What the point fuses may be illegal too, and is then left apart.

    Raises:
        AnnotuneError: `direct` is illegal too, as only a recipe can make it.
    """
    rules = replace(first, picked={})
    try:
        return variant(rules)
    except AnnotuneError:
        return variant(replace(rules, fusion="apart"))


def shown_flags(flags: Sequence[str]) -> Mapping[str, str]:
    """Return compiler flags as a part of a variant's configuration, empty for none."""
    return {"flags": " ".join(flags)} if flags else {}
