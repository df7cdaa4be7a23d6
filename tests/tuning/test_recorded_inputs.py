"""A region checked, timed and tuned on the calls that a program has recorded."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.cli import Outcome, annotune
from support.little import tune_little
from support.regions import text_source

from annotune import pipeline
from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.codegen.target import RegionCode, load_target
from annotune.diagnostics import AnnotuneError
from annotune.ir.recorded import RecordedCall
from annotune.ir.region import SourceFile
from annotune.measure.capture.chosen import with_recorded
from annotune.measure.capture.records import AtSizes, RecordedRegion
from annotune.measure.check import Checker
from annotune.measure.inputs import Inputs, Values, make_inputs
from annotune.measure.oracle import Oracle
from annotune.measure.plan import SEED, CheckPlan, proofs, words_of_proof
from annotune.measure.program import Program
from annotune.measure.sizes import awkward_sizes, tuned_sizes
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status
from annotune.pipeline import Settings
from annotune.rebuild import Earlier
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.tuning.bench import Bench, Recorder, Session
from annotune.tuning.config import RunConfig
from annotune.tuning.digest import digest
from annotune.tuning.run import Ready, region_shares, size_shares

TOOLS = find_toolchains(os.environ)
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
needs_openmp = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

# Element k of call r is 1000 r + k; rows of 4 columns lie where `col` says.
ROWS = """\
void rows(int n, double a, const int *col, const double *x, double *y)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            if (x[col[4 * i + k]] > 0.0)
                y[i] += a * x[col[4 * i + k]];
    /*@ end @*/
}
"""
MAIN = """\
#include <math.h>
void rows(int n, double a, const int *col, const double *x, double *y);
static int col[20000];
static double x[5000], y[5000];
int main(void)
{
    for (int r = 1; r <= 5; r++) {
        int n = r == 3 ? 50 : r == 4 ? 7 : 4000;
        for (int i = 0; i < 4 * n; i++) col[i] = (i * 13 + r) % n;
        for (int i = 0; i < n; i++) { x[i] = 1000 * r + i; y[i] = -r; }
        x[0] = -x[0];
        x[1] = NAN;
        rows(n, 0.1 * r, col, x, y);
    }
    return 0;
}
"""
LARGE, SMALL = 4000, 50


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the program's file and its records."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "rows.c").write_text(ROWS)
    (folder / "main.c").write_text(MAIN)
    build = f"cd {folder} && gcc -O2 {{file}} main.c -o program"
    done = annotune(
        *("capture", folder / "rows.c", "-o", folder / "records", "--build", build),
        *("--", folder / "program"),
    )
    assert done.code == 0, done.err
    return folder


def settings_with(folder: Path, **sizes: int) -> Settings:
    return Settings(folder / "rows.c", sizes=sizes, inputs=folder / "records")


def found_of(folder: Path, **sizes: int) -> pipeline.CheckReport:
    return pipeline.accepted(settings_with(folder, **sizes))


@pytest.fixture(scope="module")
def analysis(folder: Path) -> Analysis:
    (report,) = found_of(folder).regions
    assert report.analysis is not None
    return report.analysis


@pytest.fixture(scope="module")
def source(folder: Path) -> SourceFile:
    return found_of(folder).source


def test_the_sizes_that_took_longest_are_tuned_for(analysis: Analysis) -> None:
    region = analysis.region
    assert region.sizes["n"] == LARGE
    assert (region.sizes["col_low"], region.sizes["col_high"]) == (0, LARGE - 1)
    assert [call.number for call in region.recorded_at(tuned_sizes(region))] == [1, 2, 5]
    assert region.recorded[0].share > 0.5


def elements(inputs: Inputs) -> dict[str, np.ndarray]:
    return {buffer.name: inputs.read(buffer) for buffer in inputs.buffers}


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_inputs_are_those_of_a_recorded_call(analysis: Analysis, tmp_path: Path, seed: int) -> None:
    sizes = tuned_sizes(analysis.region)
    made = make_inputs(analysis, sizes, seed, tmp_path)
    r = {1: 1, 2: 2, 4: 1}[seed]
    found, order = elements(made), np.arange(4 * LARGE)
    np.testing.assert_array_equal(found["col"], (order * 13 + r) % LARGE)
    np.testing.assert_array_equal(found["x"][2:], 1000 * r + np.arange(2, LARGE))
    assert found["x"][0] == -1000 * r
    assert np.isnan(found["x"][1])
    np.testing.assert_array_equal(found["y"], np.full(LARGE, -r))
    assert made.reals == (0.1 * r,)
    assert made.is_recorded


def test_what_is_not_recorded_is_made(analysis: Analysis, tmp_path: Path) -> None:
    sizes = tuned_sizes(analysis.region)
    others = [
        make_inputs(analysis, sizes, 1, tmp_path / "equal", Values.EQUAL),
        make_inputs(analysis, {**sizes, "n": 9, "col_high": 8}, 1, tmp_path / "small"),
        make_inputs(analysis, {**sizes, "col_high": LARGE - 2}, 1, tmp_path / "border"),
    ]
    for made in others:
        assert not made.is_recorded
        assert np.all(np.abs(elements(made)["x"]) <= 1.0)


@pytest.fixture(scope="module")
def oracle(
    source: SourceFile, analysis: Analysis, tmp_path_factory: pytest.TempPathFactory
) -> Oracle:
    return Oracle(source, analysis, TOOLS, tmp_path_factory.mktemp("oracle"))


RIGHT = """\
for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
        if (x[col[4 * i + k]] > 0.0)
            y[i] += a * x[col[4 * i + k]];
"""


def program(body: str) -> Program:
    return Program("openmp", "c", RegionCode(body))


def test_what_is_wrong_on_recorded_values_alone_is_wrong(oracle: Oracle) -> None:
    sizes = tuned_sizes(oracle.region)
    plan = CheckPlan((sizes, *awkward_sizes(oracle.analysis)))
    checker = Checker(oracle)
    assert checker.check(program(RIGHT), plan).verified
    # Each call has this number once: those of annotune's own are at most 1.
    wrong = checker.check(program(RIGHT.replace("> 0.0", "> 0.0 && x[2] != 1002.0")), plan)
    assert wrong.status is Status.CORRECTNESS
    assert "at n=4000" in wrong.reason.replace("col_low=0, col_high=3999, ", "")
    # NaN where the original has none is wrong, and it is right where that has it.
    nan = checker.check(program(RIGHT + "y[3] += x[1];"), plan)
    assert nan.status is Status.CORRECTNESS


def test_the_proofs_have_the_other_recorded_calls(oracle: Oracle) -> None:
    late = program(RIGHT.replace("> 0.0", "> 0.0 && x[2] != 2002.0"))
    plan = CheckPlan((tuned_sizes(oracle.region),))
    checker = Checker(oracle)
    assert checker.check(late, plan).verified
    own = [one for one in proofs(late, oracle.analysis, plan, ()) if one.seed != SEED]
    assert [words_of_proof(one) for one in own] == ["on further recorded calls"] * len(own)
    assert {one.seed for one in own} == {2, 3}
    trials = [checker.check(late, one) for one in own]
    assert [trial.status for trial in trials] == [Status.CORRECTNESS, Status.CORRECT]


def test_trials_on_other_values_are_not_reused(oracle: Oracle) -> None:
    def key(one: Oracle) -> str:
        bench = Bench(Session(RunConfig(), 1), Checker(one), (), (), 0.0, "cpu")
        return Recorder(bench).key(program(RIGHT), CheckPlan(({"n": 4},)))

    other = replace(oracle.region, recorded=())
    (oracle.folder / "other").mkdir()
    without = Oracle(oracle.source, analyse(other), TOOLS, oracle.folder / "other")
    assert key(oracle) == key(oracle)
    assert key(oracle) != key(without)


def test_each_size_and_region_has_its_share_of_the_time(analysis: Analysis) -> None:
    def ready(n: int, time_s: float) -> Ready:
        region = analysis.region
        (call, *_) = region.recorded
        integers = {**call.integers, "n": n}
        own = replace(call, integers=integers, time_s=time_s, region_s=time_s)
        sizes = {**region.sizes, "n": n}
        base = Base.of(replace(analysis, region=replace(region, sizes=sizes, recorded=(own,))))
        return Ready(base, region_space(base))

    for of in (size_shares, region_shares):
        assert of([ready(10, 30.0), ready(20, 10.0)]) == [0.75, 0.25]
        assert of([ready(10, 1.0), ready(20, 0.0)]) == pytest.approx([8 / 9, 1 / 9])
        assert of([ready(10, 0.0)]) == [1.0]
        bare = ready(10, 0.5)
        without = replace(bare.base.analysis, region=replace(analysis.region, recorded=()))
        assert of([bare, Ready(Base.of(without), bare.space)]) == [0.5, 0.5]


def test_sizes_that_are_asked_for_choose_among_the_recorded(folder: Path) -> None:
    (report,) = found_of(folder, n=SMALL).regions
    assert report.analysis is not None
    region = report.analysis.region
    assert (region.sizes["n"], region.other_sizes) == (SMALL, ())
    assert {call.sizes["n"] for call in region.recorded} == {SMALL}
    with pytest.raises(AnnotuneError, match="no call of this region was recorded at the sizes"):
        found_of(folder, n=8)


def test_code_for_recorded_sizes_is_for_all_ranges_of_indices(folder: Path) -> None:
    emission = pipeline.emit(settings_with(folder), [load_target("cuda")])
    text = emission.files[".cu"]
    assert "tuned for col_low=0, col_high=3999, n=4000" in text
    assert "col_high" in text
    assert not re.search(r"col_(low|high) == ", text)


def recorded_at(n: int, time_s: float, kept: int = 1) -> AtSizes:
    integers = {"n": n, "col_low": 0, "col_high": n - 1}
    calls = [RecordedCall(Path("x"), k, {"n": n}, integers, (), ()) for k in range(1, kept + 1)]
    return AtSizes({"n": n}, 10, time_s, kept=tuple(calls))


def test_few_sizes_are_tuned_for_and_the_others_told(source: SourceFile) -> None:
    region = replace(source.regions[0], recorded=())
    times_s = {10: 4.0, 20: 3.0, 30: 1.0, 40: 0.75, 50: 0.75, 60: 0.5}
    at = tuple(recorded_at(n, time_s) for n, time_s in times_s.items())
    found, said = with_recorded(region, RecordedRegion("rows", 1, "", 60, 10.0, at), {})
    assert [sizes["n"] for sizes in (found.sizes, *found.other_sizes)] == [10, 20, 30, 40]
    assert [sizes["col_high"] for sizes in found.other_sizes] == [19, 29, 39]
    assert (found.varied, found.varying) == (("n",), {"col_low", "col_high"})
    assert [(call.sizes["n"], call.time_s, call.region_s) for call in found.recorded] == [
        *((n, times_s[n], 10.0) for n in (10, 20, 30, 40))
    ]
    (told,) = said
    assert told.code == "AT698"
    assert told.message == (
        "not tuned for 2 further recorded sizes, which took 12% of this region's time"
    )


def test_offsets_are_no_sizes_that_code_is_made_for() -> None:
    text = """\
void part(int n, int first, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        y[first + i] += 2.0 * x[first + i];
    /*@ end @*/
}
"""
    (region,) = text_source(text).regions
    kept = [
        RecordedCall(Path("x"), k, {"n": 64}, {"n": 64, "first": 64 * k}, (), ())
        for k in range(1, 20)
    ]
    at = AtSizes({"n": 64}, 99, 1.0, kept=tuple(kept))
    found, said = with_recorded(region, RecordedRegion("part", 1, "", 99, 1.0, (at,)), {})
    assert (found.sizes, found.tuned_constants, said) == ({"n": 64, "first": 64}, {"n": 64}, ())
    assert tuned_sizes(found) == found.sizes
    assert [call.number for call in found.recorded_at(found.sizes)] == [1]
    # Of many calls those of all processes count, and the others are for the proofs.
    assert [call.number for call in found.recorded] == [1, 5, 9, 13, 17]
    plan = CheckPlan((tuned_sizes(found),))
    own = [one for one in proofs(program(""), analyse(found), plan, ()) if one.seed != SEED]
    offsets = [sizes["first"] for one in own for sizes in one.sizes]
    assert offsets == [64 * k for k in (5, 9, 13, 17)]


def test_sizes_that_take_little_are_not_tuned_for(source: SourceFile) -> None:
    region = replace(source.regions[0], recorded=())
    at = (recorded_at(10, 0.97), recorded_at(20, 0.03))
    found, said = with_recorded(region, RecordedRegion("rows", 1, "", 20, 1.0, at), {})
    assert (found.sizes["n"], found.other_sizes, said) == (10, (), ())
    # Where no clock has told them apart the first one will do.
    at = (recorded_at(10, 0.0), recorded_at(20, 0.0, kept=0))
    found, said = with_recorded(region, RecordedRegion("rows", 1, "", 20, 0.0, at), {"n": 20})
    assert (found.sizes["n"], found.other_sizes, found.recorded) == (20, (), ())
    assert [one.code for one in said] == ["AT697"]


def run(folder: Path, *options: str) -> Outcome:
    return annotune(
        *("run", folder / "rows.c", "--inputs", folder / "records", "-o", folder / "out"),
        *("--target", "openmp", "--budget", "2", "--time", "5s", "-q", *options),
    )


@needs_openmp
def test_run_says_that_its_inputs_were_recorded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune_little(monkeypatch)
    done = run(folder, "--json")
    assert done.code in (0, 3), done.err
    (region,) = json.loads(done.out)["regions"]
    assert region["sizes"]["n"] == LARGE
    assert region["recorded"]["calls"] == 3
    assert 0.5 < region["recorded"]["share"] <= 1.0
    rows = {row["name"]: row for row in region["rows"]}
    assert rows["sequential"]["status"] == "measured"
    page = (folder / "out" / "report.html").read_text()
    shown = annotune("report", folder / "out").out
    for text in (page, shown):
        assert "on 3 recorded calls (" in text
    # The results are of these sizes, also where nobody has the records any more.
    settings = Settings(folder / "rows.c")
    earlier = Earlier.read(folder / "out")
    found = pipeline.accepted(earlier.read_as(settings)).regions[0].region
    assert dict(found.sizes) == region["sizes"]
    assert digest(found) == region["digest"]
    assert digest(pipeline.accepted(settings_with(folder)).regions[0].region) == region["digest"]


# What cannot be used is told ------------------------------------------------------------------


def copied(folder: Path, tmp_path: Path, change: Callable[[str], str]) -> Path:
    """Return a copy of the program's folder with another text of its file."""
    (tmp_path / "rows.c").write_text(change(ROWS))
    shutil.copytree(folder / "records", tmp_path / "records")
    return tmp_path


def test_records_of_another_text_are_refused(folder: Path, tmp_path: Path) -> None:
    done = run(copied(folder, tmp_path, lambda text: text.replace("k < 4", "k < 3")))
    assert done.code == 1
    assert "rows.c:3:5: error: the records in " in done.err
    assert "are of another text of this region [AT695]" in done.err


def test_a_folder_without_records_is_refused(folder: Path, tmp_path: Path) -> None:
    own = copied(folder, tmp_path, str)
    shutil.rmtree(own / "records")
    done = run(own)
    assert done.code == 1
    assert "has no records of 'rows.c' [AT692]" in done.err


def test_a_damaged_record_is_refused(folder: Path, tmp_path: Path) -> None:
    own = copied(folder, tmp_path, str)
    path = min((own / "records").glob("*.bin"))
    path.write_bytes(path.read_bytes()[:-1])
    done = run(own)
    assert done.code == 1
    assert f"'{path}' is no whole record: " in done.err


SECOND = """\
void never(int n, double *restrict y)
{
    /*@ begin PerfTuning (def input_params { param n = 100; }) @*/
    for (int i = 0; i < n; i++)
        y[i] *= 2.0;
    /*@ end @*/
}
"""


def test_a_region_that_was_not_called_has_inputs_of_its_own(folder: Path, tmp_path: Path) -> None:
    own = copied(folder, tmp_path, lambda text: text + SECOND)
    found = found_of(own)
    first, second = (report.region for report in found.regions)
    assert first.recorded
    assert (second.recorded, dict(second.sizes)) == ((), {"n": 100})
    said = [d.message for d in found.diagnostics if d.code == "AT697"]
    assert said == [
        "the program that was recorded did not call this region: annotune makes values of its own"
    ]


def test_calls_that_did_not_fit_leave_their_sizes(folder: Path, tmp_path: Path) -> None:
    done = annotune(
        *("capture", folder / "rows.c", "-o", tmp_path, "--max-bytes", "8K"),
        *("--", folder / "program"),
    )
    assert done.code == 0
    found = pipeline.accepted(Settings(folder / "rows.c", inputs=tmp_path))
    (region,) = (report.region for report in found.regions)
    assert region.sizes["n"] == LARGE
    assert not region.recorded_at(tuned_sizes(region))
    assert any(
        d.code == "AT697" and d.message.startswith("no call at n=4000 was kept: ")
        for d in found.diagnostics
    )


def test_records_are_of_c_files(tmp_path: Path) -> None:
    done = annotune("run", tmp_path / "a.tensor", "--inputs", tmp_path)
    assert done.code == 2
    assert "--inputs is of C files" in done.err
