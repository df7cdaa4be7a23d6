"""results.json: a run as values for other programs, and back; docs/results.md fixes the fields."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotune.diagnostics import AnnotuneError, Diagnostic, Span, Template
from annotune.files import read_source
from annotune.measure.trial import Status, Trial
from annotune.report.final_json import final_json, read_final
from annotune.report.json_reader import Node, Unexpected, offset_of, parse_strict, path_text
from annotune.tune.results import (
    ROW_NAMES,
    KernelModel,
    RegionResult,
    Results,
    Roof,
    Row,
    RowStatus,
    Searched,
    TargetModel,
)

SCHEMA = 1
RESULTS_FILE = "results.json"

NOT_RESULTS = Template(
    "AT610",
    "this is no results file of annotune: {problem}",
    "name a results.json that `annotune run` wrote",
)
OTHER_SCHEMA = Template(
    "AT611",
    "these results have schema {found}; this annotune reads schema {known}",
    "read them with the annotune that wrote them, {writer}, or run it again",
)
DAMAGED = Template(
    "AT612",
    "{where}: {problem}",
    "the file was changed after `annotune run` wrote it; run it again, or restore the file",
)


def results_json(results: Results) -> dict[str, Any]:
    """Return a run as plain values for strict JSON; `Results.texts` is left out.

    A figure that is not finite becomes null; in a configuration, its name as a string.
    """
    return {
        "schema": SCHEMA,
        "annotune": results.version,
        "source": results.source,
        "device": results.device,
        "regions": [_region(region) for region in results.regions],
        "tools": dict(results.tools),
        "files": list(results.files),
        "warnings": list(results.warnings),
    }


def results_file(results: Results) -> str:
    """Return the text of results.json, ASCII alone, so that any program can read it."""
    return json.dumps(results_json(results), indent=2, allow_nan=False) + "\n"


def read_results(path: Path) -> Results:
    """Return the run that `results_file` wrote to `path`; its `texts` are empty.

    Raises:
        AnnotuneError: The file cannot be read, is not ours, has another schema, or is damaged.
    """
    text = read_source(path)
    try:
        # Undecodable bytes are surrogates here; what annotune writes is ASCII.
        text.encode("utf-8")
        root = Node(parse_strict(text))
    except json.JSONDecodeError as error:
        raise _refusal(NOT_RESULTS, path, text, error.pos, problem=error.msg) from error
    except UnicodeEncodeError as error:
        raise _refusal(NOT_RESULTS, path, text, error.start, problem="no UTF-8") from error
    except ValueError as error:
        raise _refusal(NOT_RESULTS, path, text, 0, problem=error) from error
    _refuse_foreign(path, text, root.value)
    try:
        return _results(root)
    except Unexpected as error:
        at = offset_of(text, error.path)
        values = {"where": path_text(error.path), "problem": error.problem}
        raise _refusal(DAMAGED, path, text, at, **values) from error


def _refuse_foreign(path: Path, text: str, root: Any) -> None:
    """Raise unless `root` has annotune's marks and the schema that this module reads."""
    if not isinstance(root, dict) or "schema" not in root or "annotune" not in root:
        problem = "it has no 'schema' and 'annotune'"
        raise _refusal(NOT_RESULTS, path, text, 0, problem=problem)
    schema = root["schema"]
    if schema != SCHEMA or not isinstance(schema, int) or isinstance(schema, bool):
        at = offset_of(text, ("schema",))
        found = json.dumps(schema)[:40]
        writer = str(root["annotune"])[:40]
        raise _refusal(OTHER_SCHEMA, path, text, at, found=found, known=SCHEMA, writer=writer)


def _refusal(template: Template, path: Path, text: str, at: int, **values: Any) -> AnnotuneError:
    """Return the error for the character `at` of the file."""
    before = text[:at]
    line = before.count("\n") + 1
    column = at - (before.rfind("\n") + 1) + 1
    found: Diagnostic = template.at(Span(str(path), line, column), **values)
    return AnnotuneError.of(found)


def _region(region: RegionResult) -> dict[str, Any]:
    return {
        "function": region.function,
        "index": region.index,
        "line": region.line,
        "sizes": dict(region.sizes),
        "sizes_checked": [dict(sizes) for sizes in region.sizes_checked],
        "flop": region.flop,
        "bytes": region.bytes,
        "rows": [_row(row) for row in region.rows],
        "trials": [_trial(trial) for trial in region.trials],
        "roofs": {
            device: {
                "peak_flop_s": roof.peak_flop_s,
                "bandwidth_bytes_s": roof.bandwidth_bytes_s,
            }
            for device, roof in region.roofs.items()
            if math.isfinite(roof.peak_flop_s) and math.isfinite(roof.bandwidth_bytes_s)
        },
        "models": [_model(model) for model in region.models],
        "searches": [_searched(searched) for searched in region.searches],
        "by_size": [_region(other) for other in region.by_size],
    }


def _model(model: TargetModel) -> dict[str, Any]:
    return {
        "target": model.target,
        "device": model.device,
        "kernels": [
            {
                "statements": list(kernel.statements),
                "predicted_s": kernel.predicted_s,
                "limit": kernel.limit,
                "registers": kernel.registers,
                "is_compiled": kernel.is_compiled,
                "roofline_s": kernel.roofline_s,
                "magma_s": _finite(kernel.magma_s),
                "why_no_magma": kernel.why_no_magma,
            }
            for kernel in model.kernels
        ],
        "copies_s": _finite(model.copies_s),
        "why_no_copies": model.why_no_copies,
        "pairs": model.pairs,
        "correlation": _finite(model.correlation),
        "error": _finite(model.error),
        "why_no_correlation": model.why_no_correlation,
    }


def _searched(searched: Searched) -> dict[str, Any]:
    return {
        "target": searched.target,
        "search": searched.search,
        "seed": searched.seed,
        "legal": searched.legal,
        "budget": searched.budget,
        "evaluated": searched.evaluated,
        "duplicates": searched.duplicates,
        "reused": searched.reused,
        "inert": list(searched.inert),
        "time_s": _finite(searched.time_s) or 0.0,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "status": str(row.status),
        "device": row.device,
        "time_s": _finite(row.time_s),
        "spread_s": _finite(row.spread_s),
        "gflops": _finite(row.gflops),
        "roofline_share": _finite(row.roofline_share),
        "speedup": _finite(row.speedup),
        "verified": row.verified,
        "reason": row.reason,
        "config": _values(row.config),
        "predicted_s": _finite(row.predicted_s),
        "predicted_for": row.predicted_for,
        "speedup_low": _finite(row.speedup_low),
        "speedup_high": _finite(row.speedup_high),
        "end_to_end_s": _finite(row.end_to_end_s),
        "final": final_json(row.final),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "target": trial.target,
        "config": _values(trial.config),
        "status": str(trial.status),
        "time_s": _finite(trial.time_s),
        "spread_s": _finite(trial.spread_s),
        "is_predicted": trial.is_predicted,
        "device": trial.device,
        "verified": trial.verified,
        "reason": trial.reason,
        "reused": trial.reused,
        "facts": _values(trial.facts),
        "predicted_s": _finite(trial.predicted_s),
        "times_s": [time for time in trial.times_s if math.isfinite(time)],
        "compile_s": _finite(trial.compile_s),
        "run_s": _finite(trial.run_s),
        "at_s": _finite(trial.at_s),
        "final": final_json(trial.final),
    }


def _finite(figure: float | None) -> float | None:
    return figure if figure is not None and math.isfinite(figure) else None


def _values(values: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


def _results(root: Node) -> Results:
    return Results(
        version=root["annotune"].text(),
        source=root["source"].text(),
        device=root["device"].text(),
        regions=root["regions"].items(_read_region),
        tools=root["tools"].mapping(Node.text),
        files=root["files"].items(Node.text),
        warnings=root["warnings"].items(Node.text),
    )


def _read_region(node: Node) -> RegionResult:
    # One problem size has no others inside, however a file may nest them.
    return replace(_read_at_size(node), by_size=node["by_size"].items(_read_at_size))


def _read_at_size(node: Node) -> RegionResult:
    return RegionResult(
        function=node["function"].text(),
        index=node["index"].count(),
        line=node["line"].count(),
        sizes=node["sizes"].mapping(Node.integer),
        flop=node["flop"].count(),
        bytes=node["bytes"].count(),
        rows=node["rows"].items(_read_row),
        trials=node["trials"].items(_read_trial),
        roofs=node["roofs"].mapping(_read_roof),
        sizes_checked=node["sizes_checked"].items(lambda sizes: sizes.mapping(Node.integer)),
        models=node["models"].items(_read_model),
        searches=node["searches"].items(_read_searched),
    )


def _read_searched(node: Node) -> Searched:
    return Searched(
        target=node["target"].text(),
        search=node["search"].text(),
        seed=node["seed"].integer(),
        legal=node["legal"].count(),
        budget=node["budget"].count(),
        evaluated=node["evaluated"].count(),
        duplicates=node["duplicates"].count(),
        reused=node["reused"].count(),
        inert=node["inert"].items(Node.text),
        time_s=node["time_s"].figure(),
    )


def _read_model(node: Node) -> TargetModel:
    return TargetModel(
        target=node["target"].text(),
        device=node["device"].text(),
        kernels=node["kernels"].items(_read_kernel),
        copies_s=node["copies_s"].figure_or_none(),
        why_no_copies=node["why_no_copies"].text(),
        pairs=node["pairs"].count(),
        correlation=node["correlation"].signed_or_none(),
        error=node["error"].figure_or_none(),
        why_no_correlation=node["why_no_correlation"].text(),
    )


def _read_kernel(node: Node) -> KernelModel:
    return KernelModel(
        statements=node["statements"].items(Node.count),
        predicted_s=node["predicted_s"].figure(),
        limit=node["limit"].text(),
        registers=node["registers"].count(),
        is_compiled=node["is_compiled"].flag(),
        roofline_s=node["roofline_s"].figure(),
        magma_s=node["magma_s"].figure_or_none(),
        why_no_magma=node["why_no_magma"].text(),
    )


def _read_roof(node: Node) -> Roof:
    return Roof(node["peak_flop_s"].figure(), node["bandwidth_bytes_s"].figure())


def _read_row(node: Node) -> Row:
    return Row(
        name=node["name"].one_of(str, iter(ROW_NAMES)),
        status=node["status"].one_of(RowStatus, iter(RowStatus)),
        device=node["device"].text(),
        time_s=node["time_s"].figure_or_none(),
        spread_s=node["spread_s"].figure_or_none(),
        gflops=node["gflops"].figure_or_none(),
        roofline_share=node["roofline_share"].figure_or_none(),
        speedup=node["speedup"].figure_or_none(),
        verified=node["verified"].flag(),
        reason=node["reason"].text(),
        config=node["config"].mapping(Node.scalar),
        predicted_s=node["predicted_s"].figure_or_none(),
        predicted_for=node["predicted_for"].text(),
        speedup_low=node["speedup_low"].figure_or_none(),
        speedup_high=node["speedup_high"].figure_or_none(),
        end_to_end_s=node["end_to_end_s"].figure_or_none(),
        final=node["final"].read_or_none(read_final),
    )


def _read_trial(node: Node) -> Trial:
    return Trial(
        target=node["target"].text(),
        config=node["config"].mapping(Node.scalar),
        status=node["status"].one_of(Status, iter(Status)),
        time_s=node["time_s"].figure_or_none(),
        spread_s=node["spread_s"].figure_or_none(),
        is_predicted=node["is_predicted"].flag(),
        device=node["device"].text(),
        verified=node["verified"].flag(),
        reason=node["reason"].text(),
        reused=node["reused"].flag(),
        facts=node["facts"].mapping(Node.scalar),
        predicted_s=node["predicted_s"].figure_or_none(),
        times_s=node["times_s"].items(Node.figure),
        compile_s=node["compile_s"].figure_or_none(),
        run_s=node["run_s"].figure_or_none(),
        at_s=node["at_s"].figure_or_none(),
        final=node["final"].read_or_none(read_final),
    )
