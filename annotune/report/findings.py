"""What `check` and `emit` found, as values that the reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.diagnostics import Diagnostic, Severity, Span
from annotune.ir.region import Region, SourceFile
from annotune.model.predict import Forecast, RegionModel
from annotune.schedule.plan import Plan
from annotune.space.decision import FUSIONS, Base, Decision, Point
from annotune.space.space import Space
from annotune.space.variants import Variant


@dataclass(frozen=True)
class RegionReport:
    """How far one region came: analysed, decided, planned, or why it stopped.

    `decision` is that for CUDA, `openacc` the one by OpenACC's own rules, `device` what their
    kernels are predicted for. `others` are the region at its other problem sizes, for each of
    which it is tuned as well.
    """

    region: Region
    analysis: Analysis | None
    base: Base | None
    space: Space | None
    point: Point | None
    decision: Decision | None
    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    openacc: Decision | None = None
    device: Device | None = None
    others: tuple[RegionReport, ...] = ()

    @property
    def by_size(self) -> tuple[RegionReport, ...]:
        """Return the reports of every problem size that is tuned for, this one first."""
        return (self, *self.others)

    @property
    def is_refused(self) -> bool:
        """Return whether any diagnostic of the region is an error."""
        return any(d.severity == Severity.ERROR for d in self.diagnostics)

    @property
    def place(self) -> Span:
        """Return where the region stands in the C file; a sidecar's span is elsewhere."""
        loops = list(self.region.nest.loops())
        in_c = not loops or loops[0].span.file == self.region.span.file
        return self.region.span if in_c else loops[0].span

    @property
    def has_kernels(self) -> bool:
        """Return whether there is a plan, and some loop runs in parallel under it."""
        return self.plan is not None and any(kernel.placed() for kernel in self.plan.kernels())

    def forecast(self, decision: Decision) -> Forecast | None:
        """Return what the model says of a decision, None without kernels or amount of work."""
        if self.base is None or self.device is None:
            return None
        work = self.base.analysis.total
        if not self.has_kernels or not (work.flop or work.bytes_read or work.bytes_written):
            return None
        # Each target fuses by rules of its own.
        parts = [choice.parts for choice in decision.choices]
        fused = (self.base.nests(fusion, decision.asked) for fusion in FUSIONS)
        units = next((found for found in fused if [u.parts for u in found] == parts), None)
        if units is None:
            return None
        return RegionModel(self.base.analysis, units, decision.choices, self.device).forecast()

    @property
    def sizes(self) -> dict[str, int]:
        """Return the values taken for the sizes that C uses here."""
        return {k: v for k, v in self.region.sizes.items() if k in self.region.scalars}


@dataclass(frozen=True)
class CheckReport:
    """What `check` found in a file, with everything to tell about it."""

    text: str
    source: SourceFile
    regions: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_refused(self) -> bool:
        """Return whether any diagnostic is an error."""
        return any(d.severity == Severity.ERROR for d in self.diagnostics)


@dataclass(frozen=True)
class Emission:
    """What `emit` makes: files by suffix, the variants behind them, and warnings."""

    text: str
    source: SourceFile
    files: Mapping[str, str]
    variants: tuple[Mapping[str, Variant], ...]
    reports: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]
