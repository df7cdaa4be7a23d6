"""Points of the space as variants: planned for the tuned sizes and for all, and predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.annotation.flags import code_flags_at
from annotune.codegen.target import Variant
from annotune.decide.build import Placement, build
from annotune.decide.decision import Base, Decision, Point, decide
from annotune.decide.forecast import RegionModel
from annotune.decide.places import NO_PLACES, Places
from annotune.decide.plan import KernelChoice, Plan
from annotune.decide.settings_of import config
from annotune.decide.space import Space
from annotune.decide.units import Unit
from annotune.diagnostics import AnnotuneError, Diagnostic

Adjust = Callable[[Unit, KernelChoice], KernelChoice]


def planned(
    analysis: Analysis,
    choices: Sequence[KernelChoice],
    groups: Sequence[tuple[int, ...]],
    placement: Placement,
    places: Places = NO_PLACES,
    settings: Mapping[str, str | int] | None = None,
    command: str = "cuda",
) -> Variant:
    """Return the choices as a variant: its plan at the tuned sizes, and one for all sizes.

    Raises:
        AnnotuneError: A choice is illegal; at the command that asks for it.
    """
    region = analysis.region
    tuned = _built(analysis, choices, groups, region.sizes, placement, places, command)
    is_open = any(s.value is None and s.name in region.sizes for s in region.scalars.values())
    general: Plan | None = None
    if is_open and analysis.all_sizes:
        others = tuple(choice.elsewhere or choice for choice in choices)
        constants = region.constants
        if any(choice.blocking for choice in others):
            made = build(analysis, others, groups, constants, placement, places, command)
            if isinstance(made, Diagnostic):
                # Its copies have a size that only the tuned sizes fix.
                others = tuple(replace(choice, blocking=()) for choice in others)
        general = _built(analysis, others, groups, constants, placement, places, command)
    return Variant(analysis, tuned, general, settings or {})


def _built(
    analysis: Analysis,
    choices: Sequence[KernelChoice],
    groups: Sequence[tuple[int, ...]],
    constants: Mapping[str, int],
    placement: Placement,
    places: Places,
    command: str,
) -> Plan:
    plan = build(analysis, choices, groups, constants, placement, places, command)
    if isinstance(plan, Diagnostic):
        raise AnnotuneError.of(plan)
    return plan


def gpu_variants(
    base: Base,
    space: Space,
    device: Device,
    limit: int,
    placement: Placement,
    adjust: Adjust | None = None,
    command: str = "cuda",
) -> Iterator[Variant]:
    """Yield at most `limit` variants for a GPU, the first choice and then the model's best.

    `adjust` is what a target changes in each kernel's choice; for the rest see `point_variants`.
    """

    def deciding(base: Base, point: Point) -> Decision:
        found = decide(base, point)
        if adjust is None:
            return found
        pairs = zip(base.nests(point.fusion, found.wishes), found.choices, strict=True)
        return replace(found, choices=tuple(adjust(unit, choice) for unit, choice in pairs))

    points = space.ranked(device, limit)
    yield from point_variants(base, points, device, placement, deciding, command)


def point_variants(
    base: Base,
    points: Iterable[Point],
    device: Device,
    placement: Placement,
    deciding: Callable[[Base, Point], Decision] = decide,
    command: str = "cuda",
) -> Iterator[Variant]:
    """Yield the variants of `points` for a GPU, the first of which is the first choice.

    `deciding` says what a point means for a target, `command` is the annotation's word for its
    mapping. A later point that turns out illegal is left out, and so is a strategy's own choice;
    where no point is left, the rules of `direct` take their place.

    Raises:
        AnnotuneError: The first choice is illegal, as only a recipe can make it.
    """

    def variant(point: Point) -> Variant:
        decision = deciding(base, point)
        units = base.nests(point.fusion, decision.wishes)
        choices = decision.choices
        found = planned(
            base.analysis,
            choices,
            decision.groups,
            placement,
            decision.places,
            config(decision, point),
            command,
        )
        flags = code_flags_at(base.analysis.region.spec, point.params)
        model = RegionModel(base.analysis, tuple(units), tuple(choices), device)
        given = flags.nvcc if command == "cuda" else flags.host
        return replace(
            found,
            config={**found.config, **shown_flags(given)},
            predicted_s=model.forecast().kernels_s,
            model=model,
            flags=flags,
        )

    illegal: list[Point] = []
    is_owed = True
    for number, point in enumerate(points):
        try:
            found = variant(point)
        except AnnotuneError:
            # A strategy's whole choice is nobody's demand: what comes next will do.
            if number or point.made:
                illegal.append(point)
                continue
            raise
        is_owed = False
        yield found
    if is_owed:
        yield _by_rules(illegal[0], variant)


def _by_rules(first: Point, variant: Callable[[Point], Variant]) -> Variant:
    """Return what `direct` makes of a point whose whole choices are all illegal.

    What the point fuses may be illegal too, and is then left apart.

    Raises:
        AnnotuneError: `direct` is illegal too, as only a recipe can make it.
    """
    rules = replace(first, made={})
    try:
        return variant(rules)
    except AnnotuneError:
        return variant(replace(rules, fusion="apart"))


def shown_flags(flags: Sequence[str]) -> Mapping[str, str]:
    """Return compiler flags as a part of a variant's configuration, empty for none."""
    return {"flags": " ".join(flags)} if flags else {}
