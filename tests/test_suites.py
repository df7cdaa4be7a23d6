"""The runs of a suite: how they share the time, end early, and go on; what is run is made up."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from annotune import pipeline, suites
from annotune.diagnostics import AnnotuneError, Span
from annotune.measure.machine import Gpu, NoGpu
from annotune.measure.toolchain import find_toolchains
from annotune.pipeline import RunReport, Settings
from annotune.report.suite import load_suite
from annotune.suites import ENDED, NO_TIME, SuiteRun
from annotune.tuning.bench import Request
from annotune.tuning.config import RunConfig, Stop
from annotune.tuning.results import RegionResult, Results, Row, RowStatus, Searched
from annotune.tuning.store import STORE_FAILED

C_TEXT = """void scale(int n, double *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        x[i] *= 2.0;
    /*@ end @*/
}
"""
SUITE = """
targets: [openmp, cuda]
families:
  f: {file: a.c, functions: {scale: [n]}, sizes: {1: [100], 2: [200], 3: [300]}}
tables:
  - layout: versions
"""


@dataclass
class Runs:
    """Stands for `pipeline.run`: what it was asked, and what happens at a size."""

    asked: list[int] = field(default_factory=list)
    shares_s: list[float] = field(default_factory=list)
    steps: list[bool] = field(default_factory=list)
    budgets: list[int | None] = field(default_factory=list)
    profiles: list[bool] = field(default_factory=list)
    targets: set[str] = field(default_factory=set)
    at: dict[int, Callable[[], None]] = field(default_factory=dict)

    def __call__(self, settings: Settings, request: Request, *_: Any) -> RunReport:
        config, size = request.config, settings.sizes["n"]
        assert isinstance(size, int)
        self.targets |= {*settings.targets}
        self.asked.append(size)
        self.budgets.append(config.budget)
        self.profiles.append(config.profiles)
        self.steps.append(config.by_steps)
        assert config.time_s is not None
        self.shares_s.append(config.time_s)
        self.at.get(size, lambda: None)()
        row = Row("openmp", RowStatus.MEASURED, "A CPU", 1.0)
        searched = Searched("openmp", "auto", 0, 10, config.budget or 100, config.budget or 50)
        place = ("scale", 1, 3, {"n": size}, size, 1)
        region = RegionResult(*place, (row,), (), searches=(searched,))
        return RunReport(Results("0", "a.c", "", (region,)), ())


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(C_TEXT)
    Path("s.yaml").write_text(SUITE)
    fake = Runs()
    monkeypatch.setattr(pipeline, "run", fake)
    monkeypatch.setattr(suites, "find_gpu", lambda: NoGpu("none"))
    return fake


def results(time_s: float = 90.0, **given: Any) -> Mapping[str, str]:
    """Return why each workload has no run, by its name, empty where it has one."""
    suite = load_suite(Path("s.yaml"))
    base, config = Settings(suite.path), RunConfig(begun=time.monotonic())
    run = SuiteRun(suite, base, config, os.environ, Path("out"), time_s, **given)
    return {result.workload.name: result.why for result in run.results()}


def test_the_time_is_shared_by_what_is_left(runs: Runs) -> None:
    assert set(results().values()) == {""}
    assert runs.asked == [100, 200, 300]
    # What a run leaves over goes to those after it.
    assert runs.shares_s == pytest.approx([30, 45, 90], rel=0.1)


def test_what_a_gpu_or_a_profile_is_not_there_for_is_not_asked(runs: Runs) -> None:
    results()
    assert runs.targets == {"openmp"}
    assert runs.profiles == [False] * 3
    Path("s.yaml").write_text(SUITE.replace("versions", "profile"))
    results(is_fresh=True)
    assert runs.profiles == [False] * 3 + [True] * 3


def test_without_time_for_searches_every_row_has_the_first_choice(runs: Runs) -> None:
    short_s = 2.5 * suites.SEARCH_S
    assert set(results(short_s).values()) == {""}
    assert runs.budgets == [1, 1, 1]
    # Nothing more is found in the same time, and what has been found is not found again.
    results(short_s)
    assert runs.budgets == [1, 1, 1]
    # A command that has the time goes on from there.
    results(3.5 * suites.SEARCH_S)
    assert runs.budgets == [1, 1, 1, None, None, None]
    assert runs.asked == [100, 200, 300] * 2
    results(short_s)
    assert len(runs.budgets) == 6


def test_rows_that_an_earlier_command_left_empty_come_before_searches(runs: Runs) -> None:
    at = suites.SEARCH_S
    # The first command is ended after its second run.
    stop = Stop()
    runs.at[200] = stop.set
    results(2.5 * at, stop=stop)
    assert runs.asked == [100, 200]
    runs.at.clear()
    # There is time to search for the missing two, and not for the one that is known too.
    assert set(results(2.5 * at).values()) == {""}
    assert runs.asked == [100, 200, 200, 300]
    assert runs.budgets == [1] * 4


def test_one_who_asks_for_the_first_choice_alone_has_it_once(runs: Runs) -> None:
    for _ in range(2):
        suite = load_suite(Path("s.yaml"))
        config = RunConfig(begun=time.monotonic(), budget=1)
        SuiteRun(suite, Settings(suite.path), config, os.environ, Path("out"), 90.0).results()
    assert runs.budgets == [1, 1, 1]


@pytest.mark.parametrize(("offload", "is_run"), [((), False), (("nvptx-none",), True)])
def test_openacc_is_run_on_a_gpu_where_a_compiler_offloads_to_it(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, offload: tuple[str, ...], is_run: bool
) -> None:
    Path("s.yaml").write_text(SUITE.replace("cuda", "openacc, cuda"))
    gpu = Gpu(0, "NVIDIA H200", "GPU-5a1e", "sm_90", 150 << 30, 132, 50 << 20)
    monkeypatch.setattr(suites, "find_gpu", lambda: gpu)
    found = replace(find_toolchains(os.environ), offload=offload)
    monkeypatch.setattr(suites, "find_toolchains", lambda _: found)
    results()
    assert runs.targets == {"openmp", "cuda"} | ({"openacc"} if is_run else set())


def test_what_has_ended_is_not_run_again(runs: Runs) -> None:
    results()
    results()
    assert runs.asked == [100, 200, 300]
    results(is_fresh=True)
    assert runs.asked == [100, 200, 300] * 2
    Path("a.c").write_text(C_TEXT.replace("2.0", "3.0"))
    results()
    assert runs.asked == [100, 200, 300] * 3


def test_nothing_is_begun_when_the_time_is_used_up(runs: Runs) -> None:
    found = results(0.5)
    assert runs.asked == []
    assert set(found.values()) == {NO_TIME}


def test_after_a_signal_the_same_command_goes_on(runs: Runs) -> None:
    stop = Stop()
    runs.at[200] = stop.set
    found = results(stop=stop)
    # The run that was ended early has figures, and is not taken for a whole one.
    assert found == {"scale-1": "", "scale-2": "", "scale-3": ENDED}
    runs.at.clear()
    assert set(results().values()) == {""}
    assert runs.asked == [100, 200, 200, 300]


def test_a_refused_run_ends_nothing(runs: Runs) -> None:
    def refuse() -> None:
        raise AnnotuneError.of(
            suites.NOT_IN_FILE.at(Span("a.c", 3, 1), file=1, name=2, hint="", known=3)
        )

    runs.at[100] = refuse
    found = results()
    assert found["scale-1"].startswith("a.c:3:1: '1' has no annotated region")
    assert runs.asked == [100, 200, 300]
    assert not [*Path("out/runs").glob("scale-1-*")]


def test_a_full_disk_ends_all(runs: Runs) -> None:
    def fill() -> None:
        raise AnnotuneError.of(STORE_FAILED.at(Span("out", 1, 1), path="out", reason="no room"))

    runs.at[200] = fill
    with pytest.raises(AnnotuneError):
        results()
    assert runs.asked == [100, 200]


def test_a_damaged_file_of_results_is_run_again(runs: Runs) -> None:
    results()
    (kept,) = Path("out/runs").glob("scale-2-*/results.json")
    kept.write_text(kept.read_text()[:100] + '"annotune": ')
    results()
    assert runs.asked == [100, 200, 300, 200]


def test_steps_are_runs_of_their_own(runs: Runs) -> None:
    text = SUITE.replace("versions", "ablation\n    of: [openmp, cuda]\n    strategy: direct")
    Path("s.yaml").write_text(text)
    suite = load_suite(Path("s.yaml"))
    config = RunConfig(begun=time.monotonic())
    run = SuiteRun(suite, Settings(suite.path), config, os.environ, Path("out"), 90.0)
    found = run.results()
    assert runs.steps == [False] * 3 + [True] * 3
    first = found[0].first["direct"]
    assert first.run
    trials = [trial for regions in first.forecasts for one in regions for trial in one.trials]
    assert [trial.config for trial in trials] == [{"steps": "grid"}]
    assert all(trial.is_predicted and not trial.verified for trial in trials)
    assert first.grids["cuda"] == ("2", "64")


def test_a_prediction_of_each_device(runs: Runs) -> None:
    suite = replace(load_suite(Path("s.yaml")), devices=("k20", "h200"))
    config = RunConfig(begun=time.monotonic())
    run = SuiteRun(suite, Settings(suite.path), config, os.environ, Path("out"), 90.0)
    found = [one.device for one in run.results()[0].versions("cuda")]
    assert found == ["Tesla K20c", "NVIDIA H200"]


TENSORS = """outer
define:
  n = 8
variables:
  c: (n, n)
  a: (n)
operations:
  c: (i, j) += a: (i) * a: (j)
"""


def test_a_tensor_file_is_run_as_the_c_that_it_becomes(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("t.tensor").write_text(TENSORS)
    Path("bad.tensor").write_text("outer\nnothing\n")
    families = "".join(
        f"  {n}: {{file: {n}.tensor, functions: {{outer: []}}, sizes: {{8: []}}}}\n"
        for n in ("t", "bad")
    )
    Path("s.yaml").write_text(f"families:\n{families}tables: [{{layout: versions}}]\n")
    asked: list[Settings] = []

    def run(settings: Settings, *_: Any) -> RunReport:
        asked.append(settings)
        return RunReport(Results("0", "t.c", "", ()), ())

    monkeypatch.setattr(pipeline, "run", run)
    suite = load_suite(Path("s.yaml"))
    config = RunConfig(begun=time.monotonic())
    found = SuiteRun(suite, Settings(suite.path), config, os.environ, Path("out"), 90.0).results()
    assert "void outer(" in asked[0].text
    assert [one.device for one in found[0].versions("cuda")] == ["NVIDIA H200"]
    assert found[1].why.startswith("bad.tensor:2:")
    assert len(asked) == 1
