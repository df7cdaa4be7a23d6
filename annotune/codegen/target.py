"""The text that a target writes for one region and for one file.

The numbered points of a region's space for one target, each made a variant when asked for.

What a target is, and the table of the targets there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Protocol

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.annotation.flags import Flags
from annotune.diagnostics import AnnotuneError
from annotune.ir.nest import Level, MemorySpace
from annotune.ir.region import Condition, SourceFile
from annotune.model.predict import RegionModel
from annotune.printable import in_comment
from annotune.schedule.plan import Plan
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.transforms.transform import Transform

TUNED_SUFFIX = "_tuned"
"""Ends the name of a kernel for the tuned sizes, where another one is there for all sizes."""


@dataclass(frozen=True, slots=True)
class RegionCode:
    """What one target writes for one region.

    `body` replaces the annotated text in the user's file, from the first annotation's opener
    to the last one's closer. `helper` is C that must stand at file scope before the
    enclosing function, empty when there is none. `device` is the region's part of ``S.cu``,
    empty for the targets that stay in C; `functions` are definitions before it, which ``S.cu``
    holds once, whatever regions call them. The text is right under `conditions` alone, beside
    those of the region.
    """

    body: str
    helper: str = ""
    device: str = ""
    functions: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


RANKED = "those of {legal} legal points that the model ranks first"
ADMITTED = "those that --param and the constraints admit and the model ranks first"
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
    where the claims behind the plan hold at the region's sizes alone, or where the C text
    fixes every size. `predicted_s` is the model's time in seconds, and `model` what it came
    from; both are None where no model speaks for the target. `flags` are those of the
    annotation's build command at the point. `others` are variants of the region tuned for its
    other problem sizes; `general` serves beside them all (`annotune.codegen.several_sizes`).
    `partly` is the schedule with no size fixed but those that the annotation gives several values;
    None where the annotation gives no size several values or all of them, or where the general
    plan is as good.
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
    def by_size(self) -> tuple[Variant, ...]:
        """Return the variants for each of the problem sizes, this one first."""
        return (self, *self.others)

    @property
    def told_apart(self) -> tuple[Variant, ...]:
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
        return (*(one.tuned for one in self.told_apart), *general)

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


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a generated file says of its origin: free of paths and of the time of day."""

    version: str
    source: str
    lines: tuple[str, ...] = ()

    def comment(self) -> str:
        """Return the C comment that heads a generated text."""
        rows = [f"Generated by annotune {self.version} from {self.source}.", *self.lines]
        return "\n".join(["/*", *(f" * {in_comment(row)}".rstrip() for row in rows), " */", ""])


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a target prints of a schedule: levels of loops, memories of copies, and other steps."""

    levels: frozenset[Level]
    memories: frozenset[MemorySpace]
    steps: tuple[type[Transform], ...]


class Target(Protocol):
    """A language annotune can write."""

    name: str
    vocabulary: Vocabulary

    def listing(self, base: Base, space: Space, device: Device, limit: int) -> Listing:
        """Return at most `limit` points of a region's space, the first choice of the rules first.

        The first point is planned, all others when they are asked for.

        Raises:
            AnnotuneError: The first choice is illegal, as only a recipe can make it; or what the
                user says of the axes leaves no point.
        """

    def axes(self, base: Base, space: Space, device: Device) -> Iterator[str]:
        """Yield the names of the axes of a region's space, as often as they come.

        They are those before what the user says of them. Whoever looks for a name stops there.
        """

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the text for one region. `resident`: arrays are on the device already."""

    def files(
        self, source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance
    ) -> Mapping[str, str]:
        """Return the files for a whole source, suffix such as ``"_acc.c"`` to text.

        `codes` holds one entry per region of `source`, in order.
        """

    def standalone(self, code: RegionCode) -> str:
        """Return the text for the device compiler that holds one region, empty if there is
        none."""


_TARGETS = {
    "cuda": "annotune.codegen.cuda.target:CudaTarget",
    "openacc": "annotune.codegen.openacc:OpenAccTarget",
    "openmp": "annotune.codegen.openmp:OpenMpTarget",
}

TARGET_NAMES = tuple(_TARGETS)


def load_target(name: str) -> Target:
    """Return the target called `name`; KeyError when there is none."""
    module, _, attribute = _TARGETS[name].partition(":")
    target: Target = getattr(import_module(module), attribute)()
    return target
