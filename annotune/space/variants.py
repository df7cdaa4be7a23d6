"""The points of a region's space for one target, as variants: numbered, planned when asked for.

A variant is planned for the tuned sizes and for all; what a search chooses from lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from annotune.analysis.facts import Analysis
from annotune.annotation.flags import Flags
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frozen import dataclass
from annotune.ir.region import Region
from annotune.model.predict import RegionModel
from annotune.schedule.apply import NO_PLACES, Places, build
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import Plan
from annotune.transforms.cache import AddOnHost, Both, adding
from annotune.transforms.distribute import Distribute, Expand
from annotune.transforms.map import Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Pipeline, Prefetch
from annotune.transforms.tile import Tile
from annotune.transforms.transform import (
    Copying,
    Transform,
)

RANKED = "those of {legal} legal points that the model ranks first"
ADMITTED = "those that --param and the constraints admit and the model ranks first"
# So ends the name of the setting that tells which arrays the host adds to.
ADDED = ".added"
SAMPLED = "drawn at random of {size} legal points, the same ones every time"


@dataclass(frozen=True)
class Listing:
    """What a search chooses from.

    `configs` are the settings of each point, the rules' first choice first. `predicted_s` are the
    model's times in seconds, None where no model speaks. Points fulfil the constraints;
    `variant` may still refuse one, but not the first. `note` says where the points are not all
    of the space, of which `size` points are before constraints and `legal` after them, None where
    nobody counted.
    """

    configs: tuple[Mapping[str, str | int], ...]
    predicted_s: tuple[float | None, ...]
    make: Callable[[int], Variant]
    note: str = ""
    size: int = 0
    legal: int | None = None

    @property
    def axes(self) -> Mapping[str, tuple[str | int, ...]]:
        """Return the axes that differ among the listed points, with their values."""
        names = dict.fromkeys(name for config in self.configs for name in config)
        found = {}
        for name in names:
            values = dict.fromkeys(c[name] for c in self.configs if name in c)
            numbers = [v for v in values if isinstance(v, int)]
            if len(values) > 1 or any(name not in c for c in self.configs):
                is_ordered = len(numbers) == len(values)
                found[name] = tuple(sorted(numbers)) if is_ordered else tuple(values)
        return found

    def __len__(self) -> int:
        return len(self.configs)

    def variant(self, number: int) -> Variant:
        """Return a point planned, without its text.

        Raises:
            AnnotuneError: A transformation that the point asks for is illegal.
        """
        return self.make(number)

    def with_second(self, other: Variant) -> Listing:
        """Return the listing with a variant after its first point."""

        def make(number: int) -> Variant:
            return other if number == 1 else self.make(number - (number > 1))

        one, *rest = self.configs
        first_s, *rest_s = self.predicted_s
        times = (first_s, other.predicted_s, *rest_s)
        legal = None if self.legal is None else self.legal + 1
        configs = (one, other.config, *rest)
        return Listing(configs, times, make, self.note, self.size, legal)

    def of(self, size: int, legal: int) -> Listing:
        """Return the listing as the model's best of a space of so many points, if it is not all."""
        note = RANKED.format(legal=legal) if len(self) < legal else ""
        return replace(self, note=note, size=size, legal=legal)

    def admitted(self, size: int, is_all: bool) -> Listing:
        """Return the listing as those points of a space that the user's limits admit.

        Where they are not all of these, nobody knows how many there are.
        """
        note, legal = ("", len(self)) if is_all else (ADMITTED, None)
        return replace(self, note=note, size=size, legal=legal)

    def cut(self, limit: int) -> Listing:
        """Return the first points of the listing."""
        return replace(self, configs=self.configs[:limit], predicted_s=self.predicted_s[:limit])

    def variants(self) -> Iterator[Variant]:
        """Yield every legal point planned, in order."""
        for number in range(len(self)):
            try:
                found = self.variant(number)
            except AnnotuneError:
                continue
            yield found


@dataclass(frozen=True, slots=True)
class Variant:
    """One point of the space for one region: its plan for the tuned sizes, and the rest.

    `general` is the same schedule without any size fixed but those of the C text; None
    where the claims behind the plan hold at the region's sizes alone, or where it fixes none but
    those itself. `predicted_s` is the model's time in seconds, and `model` what it came
    from; both are None where no model speaks for the target. `flags` are those of the
    annotation's build command at the point. `others` are variants of the region tuned for its
    other problem sizes; `general` serves beside them all (`annotune.codegen.several_sizes`).
    `partly` is the schedule with no size fixed but those that the annotation gives several values;
    None where the annotation gives no size several values or all of them, or where the general
    or the tuned plan is as good.
    """

    analysis: Analysis
    tuned: Plan
    general: Plan | None
    config: Mapping[str, str | int] = field(default_factory=dict)
    predicted_s: float | None = None
    model: RegionModel | None = None
    flags: Flags = field(default_factory=Flags)
    others: tuple[Variant, ...] = ()
    partly: Plan | None = None

    @property
    def is_for_tuned_alone(self) -> bool:
        """Return whether no plan serves sizes that a call may have beside those that are tuned."""
        is_open = self.general is not None or self.partly is not None
        return not is_open and not serves_all(self.tuned, self.analysis.region)

    @property
    def by_size(self) -> tuple[Variant, ...]:
        """Return the variants for each of the problem sizes, this one first."""
        return (self, *self.others)

    @property
    def size_cases(self) -> tuple[Variant, ...]:
        """Return a variant for each set of sizes that the text tells apart, the narrowest first.

        These are the problem sizes, and then what they have several values of with all else open.
        """
        if not self.others:
            return (self,)
        wider = [replace(v, tuned=v.partly) for v in self.by_size if v.partly is not None]
        return (*self.by_size, *wider)

    def plans(self) -> tuple[Plan, ...]:
        """Return every plan that the text holds, the general one last."""
        general = () if self.general is None else (self.general,)
        return (*(one.tuned for one in self.size_cases), *general)

    def shared(self, share: str, gpus: int) -> Variant:
        """Return the variant whose calls the host shares with GPUs, as a text says (`Both`)."""
        first = min(s for kernel in self.tuned.kernels() for s in kernel.statements)
        config = {**self.config, "both": share} | ({"gpus": gpus} if gpus > 1 else {})
        return replace(self.having(Both, Both(first, share, gpus)), config=config)

    def adding(self, arrays: Sequence[str]) -> Variant:
        """Return the variant with just these arrays' sums added on the host (`AddOnHost`)."""
        steps = [adding(self.analysis, name) for name in arrays]
        prefixes = {s: f"S{k.statements[0]}" for k in self.tuned.kernels() for s in k.statements}
        config = {name: own for name, own in self.config.items() if not name.endswith(ADDED)}
        for step in steps:
            name = prefixes[step.statement] + ADDED
            config[name] = f"{config[name]},{step.array}" if name in config else step.array
        return replace(self.having(AddOnHost, *steps), config=config)

    def having(self, kind: type[Transform], *steps: Transform) -> Variant:
        """Return the variant with `steps` for all of a kind, none of which changes a nest."""

        def plan(one: Plan) -> Plan:
            others = (step for step in one.schedule if not isinstance(step, kind))
            return replace(one, schedule=(*others, *steps))

        return self.rewritten(lambda one: one, plan)

    def rewritten(
        self, analysis: Callable[[Analysis], Analysis], plan: Callable[[Plan], Plan]
    ) -> Variant:
        """Return the variant with what `analysis` and `plan` make of each of its parts."""
        return replace(
            self,
            analysis=analysis(self.analysis),
            tuned=plan(self.tuned),
            general=None if self.general is None else plan(self.general),
            partly=None if self.partly is None else plan(self.partly),
            others=tuple(one.rewritten(analysis, plan) for one in self.others),
        )


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

    def built(
        own: Sequence[Candidate], constants: Mapping[str, int], is_whole: bool = False
    ) -> Plan | Diagnostic:
        return build(analysis, own, groups, constants, places, is_whole)

    is_general = has_general(analysis)
    # Arrays that are not whole are left to the general plan.
    sizes = region.tuned_constants if is_general else region.sizes
    tuned = _legal(built(choices, sizes, is_whole=is_general))
    if not is_general or serves_all(tuned, region):
        return Variant(analysis, tuned, None, settings or {})
    others = tuple(one for choice in choices for one in choice.at_other_sizes)
    made = built(others, region.constants)
    if isinstance(made, Diagnostic) and any(map(_inside, others)):
        # Its copies have a size that only the tuned sizes fix.
        bare = (choice.having(without=_inside(choice)) for choice in others)
        made = built(tuple(bare), region.constants)
    general = _legal(made)
    partly: Plan | None = None
    passed = region.called_sizes
    listed = {name: region.sizes[name] for name in region.varied if name in passed}
    known = {**region.constants, **listed}
    is_between = listed and listed.keys() != passed and known.keys() != tuned.constants.keys()
    if is_between and general.steps != tuned.steps:
        found = built(others, known)
        partly = found if isinstance(found, Plan) else None
    return Variant(analysis, tuned, general, settings or {}, partly=partly)


def _inside(choice: Candidate) -> tuple[type[object], ...]:
    """Return the kinds of the steps by which a worker has copies and blocks of its own."""
    kinds: tuple[type[object], ...] = (Copying, Pipeline, Prefetch)
    if choice.mapping is None or choice.cores:
        kinds = (*kinds, Tile, Permute, Vectorize, Expand, Distribute)
    return tuple(kind for kind in kinds if choice.of(kind))


def serves_all(plan: Plan, region: Region) -> bool:
    """Return whether a plan fixes no size but those that C does."""
    return plan.constants.keys() <= region.constants.keys()


def has_general(analysis: Analysis) -> bool:
    """Return whether a plan for all sizes stands beside the one for the tuned sizes."""
    return bool(analysis.region.called_sizes) and analysis.all_sizes


def _legal(plan: Plan | Diagnostic) -> Plan:
    if isinstance(plan, Diagnostic):
        raise AnnotuneError.of(plan)
    return plan
