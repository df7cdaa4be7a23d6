"""results.json: read after write changes nothing; a damaged file is refused with its place."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Golden
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_run import RUN, SD_T_D2, WON
from support.laws import tried

from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.files import write_files
from annotune.measure.trial import Final, Status, Trial, Verdict
from annotune.report.results_json import offset_of, read_results, results_file, results_json
from annotune.tuning.results import (
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

# A byte that is no UTF-8 comes as one of these (PEP 383).
texts = st.text(st.characters() | st.sampled_from("\udc80\udcff"), max_size=8)
figures = st.none() | st.floats(0, allow_nan=False, allow_infinity=False)
counts = st.integers(0, 10**25)
values = st.dictionaries(
    texts, texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False), max_size=3
)
finals = st.none() | st.builds(
    Final,
    st.sampled_from(Verdict),
    *(6 * [st.floats(0, 1e18)]),
    st.lists(st.floats(0, 1e18), max_size=3).map(tuple),
)
rows = st.builds(
    Row,
    st.sampled_from(ROW_NAMES),
    st.sampled_from(RowStatus),
    texts,
    *(5 * [figures]),
    st.booleans(),
    texts,
    values,
    figures,
    texts,
    *(3 * [figures]),
    finals,
)
trials = st.builds(
    Trial,
    texts,
    values,
    st.sampled_from(Status),
    figures,
    figures,
    st.booleans(),
    texts,
    st.booleans(),
    texts,
    st.booleans(),
    values,
    figures,
    st.lists(st.floats(0, 1e18), max_size=3).map(tuple),
    *(3 * [figures]),
    finals,
)
searches = st.builds(
    Searched,
    texts,
    texts,
    st.integers(),
    *(5 * [counts]),
    st.lists(texts, max_size=2).map(tuple),
    st.floats(0, 1e18),
)
roofs = st.builds(Roof, st.floats(0, 1e18), st.floats(0, 1e18))
kernels = st.builds(
    KernelModel,
    st.lists(st.integers(0, 99), max_size=2).map(tuple),
    st.floats(0, 1e18),
    texts,
    counts,
    st.booleans(),
    st.floats(0, 1e18),
    figures,
    texts,
)
models = st.builds(
    TargetModel,
    texts,
    texts,
    st.lists(kernels, max_size=2).map(tuple),
    figures,
    texts,
    counts,
    st.none() | st.floats(-1, 1),
    figures,
    texts,
)
at_sizes = st.builds(
    RegionResult,
    texts,
    counts,
    counts,
    st.dictionaries(texts, st.integers(), max_size=3),
    counts,
    counts,
    st.lists(rows, max_size=3).map(tuple),
    st.lists(trials, max_size=3).map(tuple),
    st.dictionaries(texts, roofs, max_size=2),
    st.lists(st.dictionaries(texts, st.integers(), max_size=2), max_size=2).map(tuple),
    st.lists(models, max_size=2).map(tuple),
    st.lists(searches, max_size=2).map(tuple),
)
regions = st.builds(
    lambda first, others: replace(first, by_size=tuple(others)),
    at_sizes,
    st.lists(at_sizes, max_size=2),
)
runs = st.builds(
    Results,
    texts,
    texts,
    texts,
    st.lists(regions, max_size=2).map(tuple),
    st.dictionaries(texts, texts, max_size=2),
    st.lists(texts, max_size=2).map(tuple),
    st.lists(texts, max_size=2).map(tuple),
)
ONE_FOLDER = settings(tried(90), suppress_health_check=[HealthCheck.function_scoped_fixture])


@ONE_FOLDER
@given(run=runs)
def test_read_after_write_is_identity(tmp_path: Path, run: Results) -> None:
    (path,) = write_files(tmp_path, {"results.json": results_file(run)})
    assert read_results(path) == run


def test_the_sample(tmp_path: Path, golden: Golden) -> None:
    golden.check("report/results.json", results_file(RUN))
    (path,) = write_files(tmp_path, {"results.json": results_file(RUN)})
    assert read_results(path) == replace(RUN, texts={})


@pytest.mark.parametrize("figure", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_becomes_null(figure: float) -> None:
    row = Row("cuda", RowStatus.MEASURED, "", *(5 * [figure]), config={"x": figure})
    region = replace(RUN.regions[0], rows=(row,), roofs={"d": Roof(figure, 1.0)})
    run = replace(RUN, regions=(region,))
    text = results_file(run)
    assert text.isascii()
    (found,) = json.loads(text, parse_constant=pytest.fail)["regions"][0]["rows"]
    assert {found[k] for k in ("time_s", "spread_s", "gflops", "speedup")} == {None}
    assert found["config"] == {"x": str(figure)}
    trial = Trial("cuda", {}, Status.CORRECT, times_s=(1.0, figure), at_s=figure)
    searched = Searched("cuda", "gp", 1, 1, 1, 1, time_s=figure)
    region = replace(region, trials=(trial,), searches=(searched,))
    found = json.loads(results_file(replace(run, regions=(region,))), parse_constant=pytest.fail)
    (written,) = found["regions"]
    assert (written["trials"][0]["times_s"], written["trials"][0]["at_s"]) == ([1.0], None)
    assert written["searches"][0]["time_s"] == 0


def refusal(path: Path, text: str) -> Diagnostic:
    """Return the one reason for which `text` is refused."""
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(AnnotuneError) as error:
        read_results(path)
    (found,) = error.value.diagnostics
    assert found.span.file == str(path)
    assert found.render(text)
    return found


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "1:1", "Expecting value"),
        ("\n{,", "2:2", "Expecting property name"),
        ("[1]", "1:1", "'schema' and 'annotune'"),
        ("null", "1:1", "'schema' and 'annotune'"),
        ('{"schema": 1}', "1:1", "'schema' and 'annotune'"),
        ('{"schema": NaN, "annotune": ""}', "1:1", "NaN is no JSON number"),
        ('{"schema": 1, "schema": 1}', "1:1", "'schema' is given twice"),
        ("[" * 100_000, "1:1", "nested too deeply"),
        ("1" * 10_000, "1:1", "digits"),
        ('{"a":\n "\udcff"}', "2:3", "no UTF-8"),
        ("%PDF-1.4\0", "1:1", "Expecting value"),
    ],
)
def test_a_foreign_file(tmp_path: Path, text: str, place: str, words: str) -> None:
    found = refusal(tmp_path / "results.json", text)
    assert found.code == "AT610"
    assert words in found.message
    assert str(found.span).endswith(f"results.json:{place}")


@pytest.mark.parametrize("schema", ["2", "0", '"1"', "null", "true", "1.5", "[]"])
def test_another_schema(tmp_path: Path, schema: str) -> None:
    text = f'{{\n  "annotune": "9.9",\n  "schema": {schema}\n}}'
    found = refusal(tmp_path / "results.json", text)
    assert (found.code, found.span.line, found.span.column) == ("AT611", 3, 13)
    assert found.message.startswith(f"these results have schema {schema};")
    assert "9.9" in found.help


DAMAGES: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("regions",), {}, "regions: expected an array, found an object"),
    (("regions", 0), 3, "regions[0]: expected an object, found 3"),
    (("regions", 1, "flop"), -1, "regions[1].flop: expected an integer >= 0, found -1"),
    (("regions", 0, "line"), True, "regions[0].line: expected an integer, found true"),
    (("regions", 0, "sizes", "h1u"), 1.5, "regions[0].sizes.h1u: expected an integer, found 1.5"),
    (("regions", 0, "rows", 2, "name"), "gpu", "regions[0].rows[2].name: expected one of sequ"),
    (("regions", 0, "rows", 1, "status"), None, "regions[0].rows[1].status: expected one of mea"),
    (("regions", 0, "rows", 1, "time_s"), "1", "regions[0].rows[1].time_s: expected a finite"),
    (("regions", 0, "rows", 1, "time_s"), -0.5, "regions[0].rows[1].time_s: expected a finite"),
    (("regions", 0, "rows", 1, "time_s"), 10**400, "regions[0].rows[1].time_s: expected a finite"),
    (("regions", 0, "rows", 1, "verified"), 1, "regions[0].rows[1].verified: expected true or"),
    (("regions", 0, "trials", 8, "status"), "ok", "regions[0].trials[8].status: expected one of"),
    (("regions", 0, "trials", 0, "config", "UF"), [], "regions[0].trials[0].config.UF: expected"),
    (("tools", "gcc"), None, "tools.gcc: expected a string, found null"),
    (("files",), "a", "files: expected an array, found 'a'"),
]


@pytest.mark.parametrize(("path", "value", "words"), DAMAGES)
def test_a_damaged_file(
    tmp_path: Path, path: tuple[str | int, ...], value: Any, words: str
) -> None:
    root: Any = json.loads(results_file(RUN))
    node = root
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    text = json.dumps(root, indent=1)
    found = refusal(tmp_path / "results.json", text)
    assert found.code == "AT612"
    assert found.message.startswith(words)
    line = text.split("\n")[found.span.line - 1]
    assert line[found.span.column - 1 :].startswith(json.dumps(value, indent=1).split("\n")[0])


def test_an_infinite_number_is_refused(tmp_path: Path) -> None:
    text = results_file(RUN).replace("0.3021", "1e999")
    assert refusal(tmp_path / "results.json", text).code == "AT612"


def fields(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the way to every value in `value`."""
    children = value.items() if isinstance(value, dict) else ()
    children = enumerate(value) if isinstance(value, list) else children
    return [path, *(p for key, child in children for p in fields(child, (*path, key)))]


# What files of a run may not have yet.
OF_REGIONS = ("formulations", "copies", "recorded", "digest", "recipes")
LATER = (*OF_REGIONS, "comparisons", "place", "reading", "spent", "standalone")
# Whose fields are the user's own names.
FREE = {"config", "facts", "sizes", "sizes_checked"}


def test_every_missing_field_of_an_object_is_named(tmp_path: Path) -> None:
    fixed = [p for p in fields(results_json(RUN)) if not FREE & set(p[:-1])]
    # One element of each array has all its fields.
    for path in {tuple(p for p in path if not isinstance(p, int)): path for path in fixed}.values():
        is_free = len(path) > 1 and path[-2] in (
            "tools",
            "roofs",
            "bytes_s",
            "calls_s",
            "break_even",
            "defines",
            "recipes",
            "comparisons",
        )
        is_free |= path[-1] in LATER if path else False
        if not path or isinstance(path[-1], int) or path[-1] in ("schema", "annotune") or is_free:
            continue
        root: Any = results_json(RUN)
        node = root
        for step in path[:-1]:
            node = node[step]
        del node[path[-1]]
        found = refusal(tmp_path / "results.json", json.dumps(root))
        assert found.code == "AT612"
        assert f"the field '{path[-1]}' is missing" in found.message


def test_a_file_from_before_there_were_some_fields_is_read(tmp_path: Path) -> None:
    root = results_json(RUN)
    for region in root["regions"]:
        for one in (region, *region["by_size"]):
            for name in OF_REGIONS:
                del one[name]
    del root["reading"]
    del root["spent"]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(root))
    regions = read_results(path).regions
    none: dict[str, Any] = {"formulations": (), "copies": (), "recorded": None, "digest": ""}
    none["recipes"] = {}
    assert regions == tuple(replace(one, **none) for one in RUN.regions)


def test_a_file_from_before_there_were_comparisons_has_those_of_its_rounds(tmp_path: Path) -> None:
    rows = [
        replace(row, final=replace(WON, times_s=times), comparisons={}, verified=True)
        for row, times in zip(
            SD_T_D2.rows[:2] + SD_T_D2.rows[3:4],
            ((0.3, 0.31, 0.29) * 3, (0.04, 0.09, 0.05) * 3, (0.014, 0.0141, 0.0139) * 3),
            strict=True,
        )
    ]
    alone = replace(rows[2], name="cuda", final=None)
    region = replace(SD_T_D2, rows=(*rows, alone), by_size=(), formulations=())
    root = results_json(replace(RUN, regions=(region,)))
    for row in root["regions"][0]["rows"]:
        del row["comparisons"]
    # So an earlier one has called a tie.
    root["regions"][0]["trials"][1]["final"]["verdict"] = "not distinguishable"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(root))
    (region,) = read_results(path).regions
    told = {row.name: {n: c.verdict for n, c in row.comparisons.items()} for row in region.rows}
    assert told == {
        "sequential": {},
        "openmp_naive": {},
        "openmp": {"sequential": Verdict.FASTER, "openmp_naive": Verdict.NOISY},
        "cuda": {"sequential": Verdict.UNKNOWN, "openmp_naive": Verdict.UNKNOWN},
    }
    assert region.trials[1].final is not None
    assert region.trials[1].final.verdict is Verdict.TIED


@given(
    value=st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    ),
    indent=st.sampled_from([None, 0, 2]),
)
def test_every_value_is_found_where_it_stands(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    for path in fields(value):
        node = value
        for step in path:
            node = node[step]
        found, _ = json.JSONDecoder().raw_decode(text, offset_of(text, path))
        assert found == node


@ONE_FOLDER
@given(at=st.integers(0, 5000), byte=st.integers(0, 255))
def test_a_changed_byte_is_read_or_refused(tmp_path: Path, at: int, byte: int) -> None:
    content = bytearray(results_file(RUN).encode())
    content[at % len(content)] = byte
    path = tmp_path / "results.json"
    path.write_bytes(content)
    codes = ["none"]
    try:
        read_results(path)
    except AnnotuneError as error:
        codes = [d.code for d in error.diagnostics]
    assert codes in (["none"], ["AT610"], ["AT611"], ["AT612"])
