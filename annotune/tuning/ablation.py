"""What each kind of step adds: the first choice's schedule with one kind after the other.

A schedule is a tuple of steps in the order in which they are done. A point is the steps of its
first kinds, and nothing completes it: neither rules nor a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotune.annotation.devices import Device
from annotune.codegen.recipes import first_variant
from annotune.codegen.target import Target
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.model.predict import RegionModel
from annotune.schedule.apply import apply
from annotune.schedule.candidate import Candidate
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.space.variants import Listing, Variant
from annotune.transforms.transform import (
    Context,
    Schedule,
    SchedulePart,
    Transform,
)

STEPS_AXIS = "steps"
KINDS = tuple(map(str, SchedulePart))
"""The kinds in the order in which a kernel's steps are done, the loops and their places first."""


def kind_of(step: Transform) -> SchedulePart:
    """Return the kind of a step."""
    return step.schedule_part or (SchedulePart.OTHERS if step.is_inner else SchedulePart.GRID)


def steps_in_turn(target: Target, base: Base, space: Space, device: Device) -> Listing:
    """Return the first choice of a target as points, each with the steps of one kind more.

    The last is all of it. A point may be illegal, as copies are without the loops that read them.

    Raises:
        AnnotuneError: The first choice itself is illegal, or its grid alone.
    """
    whole = first_variant(target, base, space, device)
    said = tuple(_names(whole.tuned.schedule))
    variants = {number: _with_first(whole, said[: number + 1]) for number in range(len(said))}
    times = tuple(
        variant.predicted_s if isinstance(variant, Variant) else None
        for variant in variants.values()
    )

    def make(number: int) -> Variant:
        found = variants[number]
        if isinstance(found, Diagnostic):
            raise AnnotuneError.of(found)
        return found

    make(0)
    configs = tuple({STEPS_AXIS: ", ".join(said[: number + 1])} for number in variants)
    return Listing(configs, times, make).of(len(said), len(said))


def _names(schedule: Schedule) -> Iterator[str]:
    """Yield the kinds of a schedule's steps in their order; there is always a grid."""
    present = {kind_of(step) for step in schedule}
    yield from (name for name in KINDS if name in present or name == SchedulePart.GRID)


def _with_first(whole: Variant, names: Sequence[str]) -> Variant | Diagnostic:
    """Return a variant with the steps of some kinds alone, for the tuned sizes."""
    steps = tuple(step for step in whole.tuned.schedule if kind_of(step) in names)
    config = {STEPS_AXIS: ", ".join(names)}
    region = whole.analysis.region
    # Nothing is general here: for other sizes runs the nest as it is written.
    plan = apply(steps, Context(whole.analysis, region.sizes))
    if isinstance(plan, Diagnostic):
        return plan
    model = whole.model
    if model is not None and steps != whole.tuned.schedule:
        model = _bare(model, names)
    predicted_s = model.forecast().kernels_s if model is not None else None
    return Variant(whole.analysis, plan, None, config, predicted_s, model, whole.flags)


def _bare(model: RegionModel, names: Sequence[str]) -> RegionModel | None:
    """Return the model of some kinds of steps, None where it knows of all of them alone.

    So it does of a contraction's tile.
    """
    if any(choice.contract is not None for choice in model.choices):
        return None

    def bare(choice: Candidate) -> Candidate:
        steps = tuple(step for step in choice.steps if kind_of(step) in names)
        kept: tuple[object, ...] = steps
        moves = tuple(move for move in choice.moves if move in kept)
        return replace(choice, steps=steps, moves=moves, shape="", general=None)

    return replace(model, choices=tuple(map(bare, model.choices)))
