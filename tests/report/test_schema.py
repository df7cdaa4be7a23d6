"""docs/results.md names every field that the JSON has, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_run import RUN

from annotune import pipeline
from annotune.codegen.target import Variant
from annotune.diagnostics import Span, Template
from annotune.report.json_form import check_json, diagnostics_json, emit_json
from annotune.report.results_json import results_json
from annotune.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text()

SOURCE = """\
void scale(int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
  for (i = 0; i < n; i++) a[i] = 2.0 * b[i];
  /*@ end @*/
}
"""

# How a value of each documented type looks in Python; what is not here is a table of its own.
TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "null": (type(None),),
    "values": (str, int, float),
    "integers": (int,),
    "strings": (str,),
    "objects": (dict,),
}


def documented() -> dict[str, dict[str, str]]:
    """Return each table of the page: its name to its fields and their types."""
    tables: dict[str, dict[str, str]] = {}
    for part in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        name = part.split("\n", 1)[0]
        tables[name] = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", part, re.MULTILINE))
    return tables


TABLES = documented()


def problems(value: Any, kind: str, place: str) -> Iterator[str]:
    """Yield where `value` is not what the page says of `kind`."""
    if kind in TABLES:
        fields = TABLES[kind]
        if set(value) != set(fields):
            yield f"{place}: {sorted(set(value) ^ set(fields))}"
        for name in value.keys() & fields.keys():
            yield from problems(value[name], fields[name], f"{place}.{name}")
        return
    if kind.startswith("array of "):
        assert isinstance(value, list), place
        for item in value:
            yield from problems(item, kind.removeprefix("array of "), place)
        return
    if kind.startswith("object of "):
        assert isinstance(value, dict), place
        for name, item in value.items():
            yield from problems(item, kind.removeprefix("object of "), f"{place}.{name}")
        return
    if kind == "final or null":
        yield from problems(value, "final", place) if value is not None else ()
        return
    allowed = [t for word in kind.split(" or ") for t in TYPES[word]]
    if type(value) not in allowed:
        yield f"{place}: {value!r} is no {kind}"


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> pipeline.CheckReport:
    path = tmp_path_factory.mktemp("schema") / "scale.c"
    path.write_text(SOURCE)
    return pipeline.check(Settings(path))


def test_results() -> None:
    assert list(problems(results_json(RUN), "results", "results")) == []


def test_check(checked: pipeline.CheckReport) -> None:
    found = check_json(checked)
    assert found["regions"][0]["decisions"]
    assert list(problems(found, "check", "check")) == []
    assert list(problems(found["regions"][0]["space"], "space", "space")) == []


def test_emit(checked: pipeline.CheckReport) -> None:
    (report,) = checked.regions
    assert report.analysis is not None
    assert report.plan is not None
    variant = Variant(report.analysis, report.plan, None, {"S0.thread": "i"})
    found = emit_json(["scale.cu"], [report], [{"cuda": variant}], checked.diagnostics)
    assert list(problems(found, "emit", "emit")) == []


def test_diagnostic() -> None:
    note = Template("AT999", "there").at(Span("a.c", 2, 3))
    (found,) = diagnostics_json([Template("AT999", "here").at(Span("a.c", 1, 1)).with_note(note)])
    assert list(problems(found, "diagnostic", "diagnostic")) == []


def test_the_check_would_notice() -> None:
    found = results_json(RUN)
    found["regions"][0]["rows"][0]["surprise"] = 1
    found["device"] = None
    del found["regions"][1]["flop"]
    assert set(problems(found, "results", "results")) == {
        "results.device: None is no string",
        "results.regions.rows: ['surprise']",
        "results.regions: ['flop']",
    }
