"""What `check` and `emit` say to other programs: JSON, of which docs/results.md tells, and SARIF.

Source of SARIF 2.1.0, which editors and code-review services read: OASIS Standard, "Static Analysis
Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import UNSET, Struct, UnsetType, to_builtins

from annotune import __version__
from annotune.codegen.recipes import exact_recipe
from annotune.diagnostics import Diagnostic, Severity, Span, page_of
from annotune.files import WHOLE_FILE
from annotune.ir.expr import print_expr
from annotune.model.predict import KernelForecast
from annotune.printable import printable
from annotune.report.findings import CheckReport, RegionReport, recipe_of
from annotune.space.decision import Decision
from annotune.space.variants import Listing, Variant
from annotune.tensor.minimise import Minimised
from annotune.tensor.rules import bytes_of
from annotune.tensor.text import operation_text
from annotune.tensor.translate import Translated

SCHEMA = 1
NO_COMMANDS: Mapping[str, Sequence[str]] = {}


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


class StepJson(Struct):
    """A change of the nest that was made before the analysis."""

    line: int
    proof: str


class CheckRegionJson(Struct):
    function: str
    index: int
    line: int
    sizes: dict[str, int]
    tuned_for: list[dict[str, int]]
    recipe: str
    recipes: dict[str, str]
    space: SpaceJson | None
    steps: list[StepJson]
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


class TemporaryJson(Struct):
    """A tensor of the function's own; `bytes` where its sizes are known."""

    name: str
    sizes: list[str | int]
    bytes: int | None


class TensorJson(Struct):
    """What became of a tensor file; sizes known at run time alone count as in `assumed`."""

    schema: int
    function: str
    files: list[str]
    flop_before: int
    flop_after: int
    bytes_before: int
    bytes_after: int
    assumed: dict[str, int]
    temporaries: list[TemporaryJson]
    operations: list[str]
    diagnostics: list[DiagnosticJson]


class FormulationJson(Struct):
    """One formulation of a tensor file, as in `tensor`; `around` are the common loops."""

    name: str
    what: str
    flop: int
    bytes: int
    around: list[str]
    temporaries: list[TemporaryJson]


class FormulationsJson(Struct):
    """What `tensor --formulations` lists, the usual one first."""

    schema: int
    function: str
    assumed: dict[str, int]
    formulations: list[FormulationJson]


class EmitJson(Struct):
    """What `emit` says, and any command that is refused as a whole."""

    schema: int
    files: list[str]
    commands: dict[str, list[str]]
    regions: list[EmitRegionJson]
    diagnostics: list[DiagnosticJson]


def check_json(
    report: CheckReport,
    recipes: Sequence[Mapping[str, str]],
    spaces: Sequence[Mapping[str, Listing]] = (),
) -> dict[str, Any]:
    """Return what `check --json` prints.

    `recipes` are the targets' of each region, and `spaces` theirs too, if these are asked for.
    """
    listings = spaces or len(report.regions) * (None,)
    found = zip(report.regions, recipes, listings, strict=True)
    regions = [_region(*one) for one in found]
    return _plain(CheckJson(SCHEMA, regions, diagnostic_records(report.diagnostics)))


def emit_json(
    files: Iterable[str],
    reports: Sequence[RegionReport],
    variants: Sequence[Mapping[str, Variant]],
    diagnostics: Iterable[Diagnostic],
    commands: Mapping[str, Sequence[str]] = NO_COMMANDS,
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
    said = {name: list(found) for name, found in commands.items()}
    return _plain(EmitJson(SCHEMA, list(files), said, regions, diagnostic_records(diagnostics)))


def tensor_json(made: Translated, files: Iterable[Path]) -> dict[str, Any]:
    """Return what `tensor` says of a tensor file."""
    cost, program = made.made, made.program
    return _plain(
        TensorJson(
            SCHEMA,
            program.name,
            [str(path) for path in files],
            cost.flop_before,
            cost.flop_after,
            cost.bytes_before,
            cost.bytes_after,
            dict(cost.assumed),
            _temporaries(cost),
            [operation_text(one) for one in program.operations],
            diagnostic_records(made.diagnostics),
        )
    )


def formulations_json(made: Translated) -> dict[str, Any]:
    """Return what `tensor --formulations` says of a tensor file."""
    listed = [
        FormulationJson(
            one.formulation.name,
            one.formulation.words,
            one.made.flop_after,
            one.made.bytes_after,
            list(one.program.around),
            _temporaries(one.made),
        )
        for one in made.every
    ]
    return _plain(FormulationsJson(SCHEMA, made.program.name, dict(made.made.assumed), listed))


def _temporaries(made: Minimised) -> list[TemporaryJson]:
    own = made.program
    return [TemporaryJson(t.name, list(t.lengths), bytes_of(own, t)) for t in made.temporaries]


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


def diagnostic_records(diagnostics: Iterable[Diagnostic]) -> list[DiagnosticJson]:
    """Return diagnostics as their fields, with those of their notes."""
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
            diagnostic_records(d.notes),
        )
        for d in diagnostics
    ]


def _region(
    report: RegionReport, recipes: Mapping[str, str], listings: Mapping[str, Listing] | None
) -> CheckRegionJson:
    region, analysis = report.region, report.analysis
    return CheckRegionJson(
        function=region.function,
        index=region.index,
        line=report.place.line,
        sizes=report.sizes,
        tuned_for=[one.sizes for one in report.by_size],
        recipe=recipe_of(report),
        recipes=dict(recipes),
        space=_space(report, listings),
        steps=_steps(report),
        loops=loop_records(report),
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


def _steps(report: RegionReport) -> list[StepJson]:
    steps = () if report.analysis is None else report.analysis.region.steps
    return [StepJson(step.span.line, step.proof) for step in steps]


def loop_records(report: RegionReport) -> list[LoopJson]:
    """Return the loops of a region in the order of the text, and what is proven of each."""
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


SARIF_VERSION = "2.1.0"
SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_LAST_OF_THE_FIRST_PLANE = 0xFFFF


def sarif_log(
    diagnostics: Sequence[Diagnostic], texts: Mapping[str, str], exit_code: int
) -> dict[str, Any]:
    """Return the log of one run of annotune.

    `texts` holds the text of each file that a diagnostic points into, by name: columns are
    counted there in UTF-16 code units. A file that is not in it is named without a region.
    """
    codes = list(dict.fromkeys(d.code for d in diagnostics))
    driver = {
        "name": "annotune",
        "version": __version__,
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "invocations": [{"executionSuccessful": exit_code == 0, "exitCode": exit_code}],
        "results": [_sarif_result(d, codes.index(d.code), texts) for d in diagnostics],
    }
    return {"$schema": SARIF_SCHEMA, "version": SARIF_VERSION, "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    page = page_of(code)
    if page is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.meaning},
        "help": {"text": page.text, "markdown": page.text},
    }


def _sarif_result(diagnostic: Diagnostic, rule: int, texts: Mapping[str, str]) -> dict[str, Any]:
    help_ = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    is_whole = diagnostic.code in WHOLE_FILE
    found: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": printable(diagnostic.message + help_)},
        "locations": [_location(diagnostic.span, texts, is_whole)],
    }
    if diagnostic.notes:
        found["relatedLocations"] = [
            {
                "id": number,
                **_location(note.span, texts),
                "message": {"text": printable(note.message)},
            }
            for number, note in enumerate(diagnostic.notes)
        ]
    return found


def _location(span: Span, texts: Mapping[str, str], is_whole: bool = False) -> dict[str, Any]:
    if span.file.startswith("--"):
        # An option of the command line is a place without a file.
        return {"logicalLocations": [{"fullyQualifiedName": span.file}]}
    place: dict[str, Any] = {"artifactLocation": {"uri": file_uri(span.file)}}
    text = "" if is_whole else texts.get(span.file, "")
    lines = text.split("\n")
    if text and span.line <= len(lines):
        place["region"] = _sarif_region(span, lines[span.line - 1].rstrip("\r"))
    return {"physicalLocation": place}


def _sarif_region(span: Span, line: str) -> dict[str, int]:
    # A byte-order mark is no character of the text that an editor shows.
    first = 1 if span.line == 1 and line.startswith("\ufeff") else 0
    start = utf16_units(line[first : span.column - 1])
    length = utf16_units(line[max(first, span.column - 1) :][: span.length])
    return {
        "startLine": span.line,
        "startColumn": start + 1,
        "endLine": span.line,
        "endColumn": start + max(1, length) + 1,
    }


def utf16_units(text: str) -> int:
    """Return the length of `text` in UTF-16 code units; an undecodable byte counts as one."""
    return sum(2 if ord(char) > _LAST_OF_THE_FIRST_PLANE else 1 for char in text)


def file_uri(name: str) -> str:
    """Return the URI of a file: relative as the user named it, its bytes percent-encoded."""
    if Path(name).is_absolute():
        return "file://" + quote(os.fsencode(name))
    return quote(os.fsencode(name))
