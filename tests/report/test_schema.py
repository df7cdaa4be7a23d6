"""docs/results.md names every field that the JSON has, and no other, as does its schema."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import Golden
from jsonschema import Draft202012Validator
from sample_run import RUN

from annotune import pipeline
from annotune.diagnostics import Span, Template
from annotune.pipeline import Settings
from annotune.report.json_form import CheckJson, EmitJson, check_json, emit_json, refusal_json
from annotune.report.results_json import ResultsFile, results_json
from annotune.space.variants import Variant

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text()

SOURCE = """\
void scale(int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
  for (i = 0; i < n; i++) a[i] = 2.0 * b[i];
  /*@ end @*/
}
"""

# The tables of the page by the types that they tell of.
TABLES = {
    "ResultsFile": "results",
    "RegionResult": "region",
    "TargetModel": "model",
    "KernelModel": "kernel",
    "FormulationResult": "formulation",
    "CopiesCost": "copies",
    "CheckRegionJson": "check region",
    "EmitRegionJson": "emit region",
    "SizePlanJson": "size plan",
    "TargetSpaceJson": "target space",
}


def table_name(record: str) -> str:
    return TABLES.get(record, record.removesuffix("Json").lower())


def generated() -> dict[str, Any]:
    """Return the JSON schema of all that is printed, as the types have it, strictly."""
    roots, records = msgspec.json.schema_components(
        (ResultsFile, CheckJson, EmitJson), ref_template="#/$defs/{name}"
    )
    # What ptxas said of a trial stays in the process.
    del records["KernelFacts"], records["Trial"]["properties"]["kernels"]
    for record in records.values():
        if record.get("type") == "object":
            absent = {"proof", "targets"} & record["properties"].keys()
            record["required"] = [name for name in record["properties"] if name not in absent]
            record["additionalProperties"] = False
            for value in record["properties"].values():
                value.pop("default", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "anyOf": list(roots),
        "$defs": records,
    }


SCHEMA = generated()
RECORDS = {n: one for n, one in SCHEMA["$defs"].items() if one.get("type") == "object"}


def words(kind: dict[str, Any]) -> str:
    """Return how the page calls the type of a field."""
    match kind:
        case {"$ref": name}:
            record = name.rsplit("/", 1)[1]
            return table_name(record) if record in RECORDS else "string"
        case {"type": "array", "items": items}:
            return f"array of {words(items)}"
        case {"type": "object", "additionalProperties": values}:
            return f"object of {words(values)}"
        case {"anyOf": several}:
            each = [words(one) for one in several]
            return " or ".join(each) if each[-1] == "null" else "values"
        case {"type": name}:
            return str(name)
    raise AssertionError(kind)


def documented() -> dict[str, dict[str, str]]:
    """Return each table of the page: its name to its fields and their types."""
    tables: dict[str, dict[str, str]] = {}
    for part in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", part, re.MULTILINE)
        tables[part.split("\n", 1)[0]] = {name: re.sub(r"(\w)s\b", r"\1", t) for name, t in rows}
    return tables


def test_the_page_has_a_table_for_each_type_with_its_fields() -> None:
    types = {
        table_name(name): {
            field: re.sub(r"(\w)s\b", r"\1", words(kind))
            for field, kind in record["properties"].items()
        }
        for name, record in RECORDS.items()
    }
    assert documented() == types


def test_the_published_schema_is_that_of_the_types(golden: Golden) -> None:
    golden.check("../../docs/results.schema.json", json.dumps(SCHEMA, indent=1) + "\n")


def problems(value: dict[str, Any], record: str) -> list[str]:
    validator = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{record}"})
    return [e.message for e in validator.iter_errors(json.loads(json.dumps(value)))]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> pipeline.CheckReport:
    path = tmp_path_factory.mktemp("schema") / "scale.c"
    path.write_text(SOURCE)
    return pipeline.check(Settings(path))


def test_results() -> None:
    assert problems(results_json(RUN), "ResultsFile") == []


def test_check(checked: pipeline.CheckReport) -> None:
    found = check_json(checked, [{"openmp": 'target("openmp")\n'}])
    assert found["regions"][0]["decisions"]
    assert problems(found, "CheckJson") == []


def test_emit(checked: pipeline.CheckReport) -> None:
    (report,) = checked.regions
    assert report.analysis is not None
    assert report.plan is not None
    variant = Variant(report.analysis, report.plan, None, {"S0.thread": "i"})
    found = emit_json(["scale.cu"], [report], [{"cuda": variant}], checked.diagnostics)
    assert problems(found, "EmitJson") == []


def test_diagnostics() -> None:
    note = Template("AT999", "there").at(Span("a.c", 2, 3))
    found = refusal_json([Template("AT999", "here").at(Span("a.c", 1, 1)).with_note(note)])
    assert found["diagnostics"][0]["notes"][0]["line"] == 2
    assert problems(found, "EmitJson") == []


def test_the_check_would_notice() -> None:
    found = results_json(RUN)
    found["regions"][0]["rows"][0]["surprise"] = 1
    found["device"] = None
    del found["regions"][1]["flop"]
    assert sorted(problems(found, "ResultsFile")) == [
        "'flop' is a required property",
        "Additional properties are not allowed ('surprise' was unexpected)",
        "None is not of type 'string'",
    ]
