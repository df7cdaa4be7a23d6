"""What `check` and `emit` say to other programs; docs/results.md tells what the fields mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, to_builtins

from annotune.codegen.recipes import exact_recipe
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import print_expr
from annotune.model.predict import KernelForecast
from annotune.report.check_text import recipe_of
from annotune.report.findings import CheckReport, RegionReport
from annotune.space.decision import Decision
from annotune.space.variants import Listing, Variant

SCHEMA = 1


class DiagnosticJson(Struct):
    code: str
    severity: str
    file: str
    line: int
    column: int
    length: int
    message: str
    help: str
    notes: list[DiagnosticJson]


class LoopJson(Struct):
    """A loop; without an analysis it is of no kind, and there is no proof."""

    name: str
    line: int
    kind: str | None
    private: list[str]
    proof: str | UnsetType = UNSET


class ForecastJson(Struct):
    device: str
    time_s: float
    limit: str
    registers: int
    occupancy: float
    roofline_s: float
    magma_s: float | None
    why_no_magma: str


class DecisionJson(Struct):
    statements: list[int]
    reasons: list[str]
    predicted: ForecastJson | None


class TargetSpaceJson(Struct):
    size: int
    legal: int | None
    listed: int
    note: str
    axes: dict[str, list[str | int]]


class SpaceJson(Struct):
    """A region's space; `targets` are there where they are asked for."""

    size: int
    legal: int
    targets: dict[str, TargetSpaceJson] | UnsetType = UNSET


class CheckRegionJson(Struct):
    function: str
    index: int
    line: int
    sizes: dict[str, int]
    tuned_for: list[dict[str, int]]
    recipe: str
    space: SpaceJson | None
    loops: list[LoopJson]
    all_sizes: bool | None
    conditions: list[str]
    decisions: list[DecisionJson]
    openacc_decisions: list[DecisionJson]


class CheckJson(Struct):
    schema: int
    regions: list[CheckRegionJson]
    diagnostics: list[DiagnosticJson]


class SizePlanJson(Struct):
    sizes: dict[str, int]
    plan: dict[str, dict[str, str | int]]


class EmitRegionJson(Struct):
    function: str
    index: int
    entry: str
    plan: dict[str, dict[str, str | int]]
    by_size: list[SizePlanJson]
    recipes: dict[str, str]


class EmitJson(Struct):
    """What `emit` says, and any command that is refused as a whole."""

    schema: int
    files: list[str]
    regions: list[EmitRegionJson]
    diagnostics: list[DiagnosticJson]


def check_json(report: CheckReport, spaces: Sequence[Mapping[str, Listing]] = ()) -> dict[str, Any]:
    """Return what `check --json` prints; `spaces` are the targets' of each region, if asked for."""
    listings = spaces or len(report.regions) * (None,)
    regions = [_region(r, found) for r, found in zip(report.regions, listings, strict=True)]
    return _plain(CheckJson(SCHEMA, regions, _diagnostics(report.diagnostics)))


def emit_json(
    files: Iterable[str],
    reports: Sequence[RegionReport],
    variants: Sequence[Mapping[str, Variant]],
    diagnostics: Iterable[Diagnostic],
) -> dict[str, Any]:
    """Return what `emit --json` prints."""
    regions = [
        EmitRegionJson(
            function=report.region.function,
            index=report.region.index,
            entry=report.region.entry,
            plan={name: dict(variant.config) for name, variant in made.items()},
            by_size=[SizePlanJson(one.sizes, _plans(one, made)) for one in report.by_size],
            recipes={name: exact_recipe(name, one) for name, one in made.items()},
        )
        for report, made in zip(reports, variants, strict=True)
    ]
    return _plain(EmitJson(SCHEMA, list(files), regions, _diagnostics(diagnostics)))


def refusal_json(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """Return what any command prints when it is refused as a whole."""
    return emit_json((), (), (), diagnostics)


def _plain(record: Struct) -> dict[str, Any]:
    found: dict[str, Any] = to_builtins(record)
    return found


def _plans(report: RegionReport, made: Mapping[str, Variant]) -> dict[str, dict[str, str | int]]:
    """Return the plans for one problem size, of the targets that have kernels for it."""
    return {
        name: dict(variant.config)
        for name, several in made.items()
        for variant in several.by_size
        if variant.analysis.region.sizes == report.region.sizes
    }


def _diagnostics(diagnostics: Iterable[Diagnostic]) -> list[DiagnosticJson]:
    return [
        DiagnosticJson(
            d.code,
            d.severity,
            d.span.file,
            d.span.line,
            d.span.column,
            d.span.length,
            d.message,
            d.help,
            _diagnostics(d.notes),
        )
        for d in diagnostics
    ]


def _region(report: RegionReport, listings: Mapping[str, Listing] | None) -> CheckRegionJson:
    region, analysis = report.region, report.analysis
    return CheckRegionJson(
        function=region.function,
        index=region.index,
        line=report.place.line,
        sizes=report.sizes,
        tuned_for=[one.sizes for one in report.by_size],
        recipe=recipe_of(report),
        space=_space(report, listings),
        loops=_loops(report),
        all_sizes=None if analysis is None else analysis.all_sizes,
        conditions=[print_expr(one) for one in (analysis.conditions if analysis else ())],
        decisions=_decisions(report, report.decision),
        openacc_decisions=_decisions(report, report.openacc),
    )


def _space(report: RegionReport, listings: Mapping[str, Listing] | None) -> SpaceJson | None:
    if report.space is None or not report.has_kernels:
        return None
    found = SpaceJson(report.space.size, report.space.legal)
    if listings is not None:
        found.targets = {
            name: TargetSpaceJson(
                one.size,
                one.legal,
                len(one),
                one.note,
                {axis: list(values) for axis, values in one.axes.items()},
            )
            for name, one in listings.items()
        }
    return found


def _loops(report: RegionReport) -> list[LoopJson]:
    if report.analysis is None:
        loops = report.region.nest.loops()
        return [LoopJson(loop.var, loop.span.line, None, []) for loop in loops]
    return [
        LoopJson(facts.name, facts.loop.span.line, facts.kind, list(facts.private), facts.proof)
        for facts in report.analysis.loops
    ]


def _decisions(report: RegionReport, decision: Decision | None) -> list[DecisionJson]:
    if decision is None or not report.has_kernels:
        return []
    forecast = report.forecast(decision)
    kernels = {} if forecast is None else {k.statements: k for k in forecast.kernels}
    return [
        DecisionJson(
            list(choice.statements),
            [str(reason) for reason in choice.reasons],
            _predicted(kernels.get(choice.statements), "" if forecast is None else forecast.device),
        )
        for choice in decision.choices
    ]


def _predicted(kernel: KernelForecast | None, device: str) -> ForecastJson | None:
    if kernel is None:
        return None
    return ForecastJson(
        device=device,
        time_s=kernel.prediction.time_s,
        limit=kernel.prediction.limit,
        registers=kernel.prediction.registers,
        occupancy=kernel.prediction.occupancy,
        roofline_s=kernel.roofline_s,
        magma_s=kernel.magma_s,
        why_no_magma=kernel.why_no_magma,
    )
