"""What `check` and `emit` say to other programs; the fields are fixed in docs/results.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotune.codegen.listing import Listing
from annotune.codegen.target import Variant
from annotune.decide.decision import Decision
from annotune.decide.forecast import KernelForecast
from annotune.diagnostics import Diagnostic
from annotune.ir.text import print_expr
from annotune.report.check_text import recipe_of
from annotune.report.findings import CheckReport, RegionReport
from annotune.report.space_text import space_json

SCHEMA = 1


def check_json(report: CheckReport, spaces: Sequence[Mapping[str, Listing]] = ()) -> dict[str, Any]:
    """Return what `check --json` prints; `spaces` are the targets' of each region, if asked for."""
    regions = [_region(r) for r in report.regions]
    for region, listings in zip(regions, spaces, strict=False):
        if region.get("space") is not None:
            region["space"]["targets"] = {n: space_json(one) for n, one in listings.items()}
    return {
        "schema": SCHEMA,
        "regions": regions,
        "diagnostics": diagnostics_json(report.diagnostics),
    }


def emit_json(
    files: Iterable[str],
    reports: Sequence[RegionReport],
    variants: Sequence[Mapping[str, Variant]],
    diagnostics: Iterable[Diagnostic],
) -> dict[str, Any]:
    """Return what `emit --json` prints."""
    regions = []
    for report, made in zip(reports, variants, strict=True):
        regions.append(
            {
                "function": report.region.function,
                "index": report.region.index,
                "entry": report.region.entry,
                "plan": {name: dict(variant.config) for name, variant in made.items()},
                "by_size": _by_size(report, made),
            }
        )
    return {
        "schema": SCHEMA,
        "files": list(files),
        "regions": regions,
        "diagnostics": diagnostics_json(diagnostics),
    }


def _by_size(report: RegionReport, made: Mapping[str, Variant]) -> list[dict[str, Any]]:
    """Return the plans for each problem size, of the targets that have kernels for it."""
    out: list[dict[str, Any]] = []
    for one in report.by_size:
        plans = {
            name: dict(variant.config)
            for name, several in made.items()
            for variant in several.by_size
            if variant.analysis.region.sizes == one.region.sizes
        }
        out.append({"sizes": one.sizes, "plan": plans})
    return out


def refusal_json(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """Return what any command prints when it is refused as a whole."""
    empty: dict[str, Any] = {"schema": SCHEMA, "files": [], "regions": []}
    return empty | {"diagnostics": diagnostics_json(diagnostics)}


def diagnostics_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return diagnostics as plain values; notes stand in a list of their own."""
    return [
        {
            "code": d.code,
            "severity": str(d.severity),
            "file": d.span.file,
            "line": d.span.line,
            "column": d.span.column,
            "length": d.span.length,
            "message": d.message,
            "help": d.help,
            "notes": diagnostics_json(d.notes),
        }
        for d in diagnostics
    ]


def _region(report: RegionReport) -> dict[str, Any]:
    region = report.region
    space = report.space if report.has_kernels else None
    return {
        "function": region.function,
        "index": region.index,
        "line": report.place.line,
        "sizes": report.sizes,
        "tuned_for": [one.sizes for one in report.by_size],
        "recipe": recipe_of(report),
        "space": {"size": space.size, "legal": space.legal} if space is not None else None,
        "loops": _loops(report),
        "all_sizes": report.analysis.all_sizes if report.analysis is not None else None,
        "conditions": [
            print_expr(one) for one in (report.analysis.conditions if report.analysis else ())
        ],
        "decisions": _decisions(report, report.decision),
        "openacc_decisions": _decisions(report, report.openacc),
    }


def _predicted(kernel: KernelForecast, device: str) -> dict[str, Any]:
    return {
        "device": device,
        "time_s": kernel.prediction.time_s,
        "limit": kernel.prediction.limit,
        "registers": kernel.prediction.registers,
        "occupancy": kernel.prediction.occupancy,
        "roofline_s": kernel.roofline_s,
        "magma_s": kernel.magma_s,
        "why_no_magma": kernel.why_no_magma,
    }


def _decisions(report: RegionReport, decision: Decision | None) -> list[dict[str, Any]]:
    if decision is None or not report.has_kernels:
        return []
    forecast = report.forecast(decision)
    found = {} if forecast is None else {k.statements: k for k in forecast.kernels}
    return [
        {
            "statements": list(choice.statements),
            "reasons": [str(reason) for reason in choice.reasons],
            "predicted": (
                _predicted(found[choice.statements], forecast.device)
                if forecast is not None and choice.statements in found
                else None
            ),
        }
        for choice in decision.choices
    ]


def _loops(report: RegionReport) -> list[dict[str, Any]]:
    if report.analysis is None:
        return [
            {"name": loop.var, "line": loop.span.line, "kind": None, "private": []}
            for loop in report.region.nest.loops()
        ]
    return [
        {
            "name": facts.name,
            "line": facts.loop.span.line,
            "kind": str(facts.kind),
            "private": list(facts.private),
            "proof": facts.proof,
        }
        for facts in report.analysis.loops
    ]
