"""Nothing waits for an original that takes long: a sample of it and estimates take its place.

The originals here are short. That they take long is what their pace says, which is made up.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from seeded import listing_of
from support.cli import annotune
from support.little import tune_little
from support.regions import text_source

from annotune import api
from annotune.analysis.analyse import analyse
from annotune.codegen.several_sizes import TUNED_SUFFIX
from annotune.codegen.target import RegionCode, Target, load_target
from annotune.measure.check import SAMPLED, Checker
from annotune.measure.oracle import Asked, Oracle, OracleResult, Pace
from annotune.measure.parts.sample import work_of
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Trial
from annotune.report.summary import spent_text
from annotune.report.views import RunResults
from annotune.space.variants import Variant
from annotune.tuning import region_run, tuner
from annotune.tuning.bench import Bench, Recorder, Session
from annotune.tuning.config import Ledger, Phase, RunConfig, Wanted
from annotune.tuning.proving import EXECUTED_AT, NO_TIME_TO_PROVE
from annotune.tuning.results import Row, RowStatus
from annotune.tuning.tuner import measured

TOOLS = find_toolchains(os.environ)
pytestmark = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

PRODUCT = """\
void f(int n, double c[n][n], const double a[n][n], const double b[n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 120; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
    /*@ end @*/
}
"""
SWEEPS = """\
void f(int n, int t, double (*restrict a)[n], double (*restrict b)[n])
{
    /*@ begin PerfTuning ( def input_params { param n = 90; param t = 60; } ) @*/
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.5 * (a[i - 1][j] + a[i][j + 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = b[i][j];
    }
    /*@ end @*/
}
"""
# As if the original took ten minutes, where three seconds are left to it.
TAKES_S, WHOLE_S = 600.0, 3.0


def made_up(oracle: Oracle, sizes: dict[str, int], seed: int, left_s: float) -> Pace:
    """Return a pace by which the original takes `TAKES_S`, and a sample of a fiftieth fits."""
    return Pace(TAKES_S / work_of(oracle.analysis, sizes), 2, WHOLE_S, 8 * TAKES_S / 50)


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    tune_little(monkeypatch)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Return what the originals of a run are run for; all are said to take long."""
    return noted_runs(monkeypatch)


def noted_runs(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Have originals said to take long, and return what they are run for from now on."""
    found: list[Asked] = []
    referred = Oracle._referred

    def noted(self: Oracle, asked: Asked) -> OracleResult:
        found.append(asked)
        return referred(self, asked)

    monkeypatch.setattr(Oracle, "_referred", noted)
    monkeypatch.setattr(region_run, "original_pace", made_up)
    return found


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a source, and in `out` what a run has found of it for OpenMP."""
    folder = tmp_path_factory.mktemp("ran")
    with pytest.MonkeyPatch.context() as patch:
        noted_runs(patch)
        tune_little(patch)
        tuned(PRODUCT, folder, target="openmp")
    return folder


@pytest.fixture
def copied(ran: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return shutil.copytree(ran, tmp_path / "copied")


def row_of(results: RunResults, name: str) -> Row:
    """Return a row of the only region."""
    return next(row for row in results.regions[0].rows if row.name == name)


def tuned(text: str, folder: Path, **options: Any) -> RunResults:
    """Return a source tuned in a folder, with few variants."""
    source = folder / "f.c"
    source.write_text(text)
    return api.tune(source, output=folder / "out", budget=2, time=600, **options)


def test_a_long_original_is_estimated_and_variants_are_compared_with_a_sample(
    tmp_path: Path, runs: list[Asked]
) -> None:
    results = tuned(PRODUCT, tmp_path, target="openmp,cuda")
    first, own, cuda = (row_of(results, name) for name in ("sequential", "openmp", "cuda"))
    assert (first.status, first.reason) == (
        RowStatus.PREDICTED,
        "estimated from 2 runs of a part of its iterations",
    )
    assert first.time_s == pytest.approx(TAKES_S)
    assert row_of(results, "openmp_naive").status is RowStatus.UNAVAILABLE
    at_tuned = [asked for asked in runs if dict(asked.sizes) == {"n": 120}]
    assert at_tuned
    assert all(asked.sample is not None for asked in at_tuned), "the whole was waited for"
    assert own.verified
    assert cuda.verified
    assert own.status in (RowStatus.MEASURED, RowStatus.PREDICTED)
    trials = [t for t in results.regions[0].trials if t.target == "openmp" and t.verified]
    assert all("every" in str(trial.facts[SAMPLED]) for trial in trials if SAMPLED in trial.facts)
    assert any(SAMPLED in trial.facts for trial in trials)
    # Which checks were left is said once, with the command that makes them.
    left = [words for words in results.warnings if NO_TIME_TO_PROVE in words]
    assert {words.partition(":")[0] for words in left} == {"openmp", "cuda"}
    assert all("against the whole original at n=120" in words for words in left)
    assert {"f_omp.c", "f.cu"} <= set(results.files)


def test_verify_compares_with_the_whole_and_says_that_nothing_is_left(
    copied: Path, runs: list[Asked]
) -> None:
    assert "against the whole original" in (copied / "out" / "f_omp.c").read_text()
    done = annotune("verify", copied / "out", "-q")
    assert done.code == 0, done.err
    assert "f, region 1: openmp is right in all checks" in done.out
    assert any(dict(asked.sizes) == {"n": 120} and asked.sample is None for asked in runs)
    results = api.load_results(copied / "out")
    assert row_of(results, "openmp").reason == ""
    assert row_of(results, "openmp").verified
    assert not any(NO_TIME_TO_PROVE in words for words in results.warnings)
    assert NO_TIME_TO_PROVE not in (copied / "out" / "f_omp.c").read_text()
    done = annotune("verify", copied / "out", "-q")
    assert "nothing was left to be checked" in done.out


def test_verify_takes_what_is_wrong_out_of_the_files(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Trial("openmp", {}, Status.CORRECTNESS, reason="c[0] is 1, expected 2")
    monkeypatch.setattr(Checker, "check", lambda self, program, plan: wrong)
    (copied / "out" / "trials.sqlite").unlink()
    done = annotune("verify", copied / "out", "-q")
    assert done.code == 3
    assert "openmp is wrong: correctness: c[0] is 1, expected 2" in done.out
    assert not (copied / "out" / "f_omp.c").exists()
    row = row_of(api.load_results(copied / "out"), "openmp")
    assert not row.verified
    assert "c[0] is 1" in row.reason


def test_verify_says_where_the_source_is_missing(copied: Path) -> None:
    (copied / "f.c").rename(copied / "elsewhere.c")
    done = annotune("verify", copied / "out")
    assert done.code == 1
    assert "[AT684]" in done.err


def test_what_has_no_sample_is_timed_at_smaller_sizes(tmp_path: Path, runs: list[Asked]) -> None:
    results = tuned(SWEEPS, tmp_path, target="openmp")
    assert not any(dict(asked.sizes) == {"n": 90, "t": 60} for asked in runs)
    own = row_of(results, "openmp")
    assert own.status is RowStatus.PREDICTED
    assert own.verified
    timed = [t for t in results.regions[0].trials if t.target == "openmp" and t.time_s]
    assert all(trial.is_predicted for trial in timed)
    assert all(trial.reason.startswith("estimated from runs at ") for trial in timed)
    assert row_of(results, "sequential").time_s == pytest.approx(TAKES_S)
    assert "f_omp.c" in results.files
    # Its row tells of the estimate, and verify knows all the same what is left.
    done = annotune("verify", tmp_path / "out", "-q")
    assert "f, region 1: openmp is right in all checks" in done.out
    assert row_of(api.load_results(tmp_path / "out"), "openmp").reason == own.reason


LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {} }}\n"
SUM = "double s = c[i][j]; for (int k = 0; k < n; k++) s += a[i][k] * b[k][j]; c[i][j] = s;"
# Right at small sizes. At the tuned ones the last tile is not computed, or one row in eight.
WRONG = {
    "the last tile": f"if (n < 100 || i < n - 8 || j < n - 8) {{ {SUM} }}",
    "a place of each tile": f"if (n < 100 || i % 8 != 3) {{ {SUM} }}",
    "twice": f"{SUM} if (n == 120) c[i][j] += 1e-6;",
}


def long_bench(folder: Path) -> Bench:
    """Return a bench whose original is said to take long."""
    source = text_source(PRODUCT)
    oracle = Oracle(source, analyse(source.regions[0]), TOOLS, folder)
    oracle.pace = made_up(oracle, {"n": 120}, 1, 60.0)
    session = Session(RunConfig(), cores=1)
    until = time.monotonic() + 600
    sizes = (({"n": 120},), ({"n": 3}, {"n": 17}))
    return Bench(session, Checker(oracle), *sizes, until, "this CPU", is_long=True)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_at_the_tuned_sizes_alone_is_found_by_the_sample(
    name: str, tmp_path: Path
) -> None:
    codes = [RegionCode(LOOPS.format(body)) for body in (WRONG[name], SUM)]
    target, points = listing_of(codes)
    found = measured(long_bench(tmp_path), cast(Target, target), "openmp", points, Wanted())
    first, second = (one.trial for one in found.tried)
    assert first.status is Status.CORRECTNESS
    assert "at n=120" in first.reason
    assert second.status is Status.CORRECT
    assert [one.number for one in found.ranked] == [1]


def test_what_was_compared_with_a_sample_is_another_trial_than_with_the_whole(
    tmp_path: Path,
) -> None:
    bench = long_bench(tmp_path)
    program = Program("openmp", "openmp", RegionCode(LOOPS.format(SUM)))
    recorder, plan = Recorder(bench), bench.plan(True)
    sampled = recorder.key(program, plan)
    bench.checker.oracle.pace = None
    assert recorder.key(program, plan) != sampled


def test_a_ledger_tells_what_the_time_went_to_and_forgets_none_of_it() -> None:
    now = 100.0
    ledger = Ledger(98.0, lambda: now)
    with ledger.on(Phase.ORIGINAL):
        now += 5.0
    with ledger.on(Phase.VARIANTS):
        now += 20.0
        with ledger.on(Phase.FINALS):
            now += 4.0
        now += 1.0
    now += 0.5
    found = ledger.seconds()
    assert found == {
        "reading_s": 2.5,
        "original_s": 5.0,
        "variants_s": 21.0,
        "checks_s": 0.0,
        "finals_s": 4.0,
    }
    assert sum(found.values()) == now - 98.0


def test_a_run_says_where_its_time_went(ran: Path) -> None:
    line = spent_text(api.load_results(ran / "out"))
    assert "s parsing and analysis, " in line
    assert " compiled, " in line
    spent = json.loads((ran / "out" / "results.json").read_text())["spent"]
    assert all(seconds >= 0 for seconds in spent.values())
    assert spent["variants_s"] > 0
    assert spent["original_s"] > 0


LONG_TEXTS = {"sweeps": SWEEPS, "product": PRODUCT.replace("n = 120", "n = 1000")}


def with_fault(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """Have the kernels for the tuned sizes, and these alone, leave wrong values."""
    kind = type(load_target(target))
    written = kind.region

    def faulty(self: Any, variant: Variant, resident: bool) -> RegionCode:
        own = written(self, variant, resident)
        first, found, rest = own.device.partition(f"{TUNED_SUFFIX}(")
        assert found, "no kernel is for the tuned sizes alone"
        head, brace, body = rest.partition("{\n")
        # The last kernels are the general ones.
        special, general, last = body.partition("__global__")
        wrong = re.sub(r"(\w+\[.*\]) = (.*);", r"\1 = 1 + (\2);", special, count=1)
        assert wrong != special
        return replace(own, device=first + found + head + brace + wrong + general + last)

    monkeypatch.setattr(kind, "region", faulty)


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", LONG_TEXTS)
def test_what_only_the_tuned_sizes_take_is_run_at_smaller_ones(
    name: str, tmp_path: Path, runs: list[Asked]
) -> None:
    results = tuned(LONG_TEXTS[name], tmp_path, target="cuda")
    (own,) = (t for t in results.regions[0].trials if EXECUTED_AT in t.facts)
    assert row_of(results, "cuda").verified
    assert own.verified
    assert own.facts[EXECUTED_AT]


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", LONG_TEXTS)
def test_a_fault_in_the_kernels_for_the_tuned_sizes_is_found(
    name: str, tmp_path: Path, runs: list[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_fault(monkeypatch, "cuda")
    results = tuned(LONG_TEXTS[name], tmp_path, target="cuda")
    assert not row_of(results, "cuda").verified
    assert "f.cu" not in results.files
    trials = [trial for trial in results.regions[0].trials if trial.target == "cuda"]
    assert any(trial.status is Status.CORRECTNESS for trial in trials)
    assert not any(trial.verified for trial in trials)


def test_a_text_that_is_another_one_at_smaller_sizes_is_not_called_verified(
    tmp_path: Path, runs: list[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuner, "reduced_variant", lambda target, variant, code: None)
    results = tuned(LONG_TEXTS["sweeps"], tmp_path, target="cuda")
    own = row_of(results, "cuda")
    assert not own.verified
    assert "with its text for n=90, t=60 which nothing has run" in own.reason
