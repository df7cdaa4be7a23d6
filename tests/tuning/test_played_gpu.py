"""A run on a GPU from its first proof to its profile, the GPU being played by this processor.

What is of a GPU alone, its clocks and its other users, is made up; what is launched, timed and
profiled is real.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from support.little import time_little, tune_little
from test_profiling import FAKE, KERNELS, csv_of

from annotune import pipeline, suites
from annotune.measure.check import Checker
from annotune.measure.machine import Gpu, exclusive
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Trial
from annotune.report.layouts import tables_of
from annotune.report.suite import load_suite
from annotune.suites import SuiteRun
from annotune.tuning import region_run, tuner
from annotune.tuning import run as tuning
from annotune.tuning.bench import Recorder, Request, TrialJob
from annotune.tuning.config import NEVER, RunConfig, Stop
from annotune.tuning.jobs import CheckHere, Contestant, Rounds, place, take_rounds
from annotune.tuning.profiling import NO_NCU
from annotune.tuning.region_run import NOT_ASKED
from annotune.tuning.results import FIRST_ALONE, Profile, RegionResult

pytestmark = pytest.mark.skipif(find_toolchains(os.environ).cxx is None, reason="no C++ compiler")

# Without a name for nvcc nothing is compiled for it.
GPU = Gpu(0, "NVIDIA H200", "GPU-5a1e", "", 150 << 30, 132, 50 << 20)
C_TEXT = """void scale(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] = 2.0 * x[i];
    /*@ end @*/
}
"""
SUITE = """
devices: [h200]
targets: [openmp, openacc, cuda]
families:
  f: {file: a.c, functions: {scale: [n]}, sizes: {1: [500], 2: [1000]}}
  g: {file: a.c, functions: {scale: [n]}, sizes: {1: [500]}}
tables:
  - {layout: versions, families: f}
  - {layout: profile, families: g, of: [cuda]}
"""


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    time_little(monkeypatch)
    Path("a.c").write_text(C_TEXT)
    monkeypatch.setitem(region_run.ON_GPU, "cuda", "cuda-cpu")
    monkeypatch.setattr(region_run, "read_clocks", lambda _: None)
    monkeypatch.setattr(region_run, "foreign_processes", lambda _: ())
    monkeypatch.setattr(region_run, "lock_folder", lambda: tmp_path / "locks")
    monkeypatch.setattr(tuning, "find_gpu", lambda: GPU)
    monkeypatch.setattr(suites, "find_gpu", lambda: GPU)
    given = {"python": sys.executable, "csv": csv_of(*KERNELS)}
    ncu = tmp_path / "bin" / "ncu"
    ncu.parent.mkdir()
    ncu.write_text(FAKE.format(**given, is_allowed=True, code=0))
    ncu.chmod(0o755)
    return {**os.environ, "PATH": f"{ncu.parent}:{os.environ['PATH']}"}


CONFIG = RunConfig(budget=FIRST_ALONE, time_s=60.0, checks_naive=False)


def region_of(config: RunConfig, environ: dict[str, str], stop: Stop = NEVER) -> RegionResult:
    settings = pipeline.Settings(Path("a.c"), ("cuda",))
    (found,) = pipeline.run(settings, Request(config, environ, stop=stop)).results.regions
    return found


def profile_of(region: RegionResult) -> Profile:
    (found,) = region.profiles
    assert (found.target, found.device) == ("cuda", GPU.name)
    return found


def test_the_winner_is_measured_and_profiled(environ: dict[str, str]) -> None:
    region = region_of(CONFIG, environ)
    row = next(row for row in region.rows if row.name == "cuda")
    assert (row.status, row.device, row.verified) == ("measured", GPU.name, True)
    # Its whole calls in turns with the original, which runs on another device than its kernels.
    beside = row.comparisons["sequential"]
    assert (beside.is_paired, beside.runs > 1) == (True, True)
    assert set(row.comparisons) == {"sequential", "openmp_naive"}
    found = profile_of(region)
    assert (found.reason, found.time_s) == ("", pytest.approx(4e-4))


def test_where_there_is_no_time_for_rounds_of_both_their_calls_are_compared(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = tuner.in_so_many_rounds

    def never_the_original(one: Contestant, budget_s: float) -> Contestant:
        return usual(one, budget_s) if one.number is not None else replace(one, rounds=0)

    monkeypatch.setattr(tuner, "in_so_many_rounds", never_the_original)
    region = region_of(CONFIG, environ)
    (row,) = (row for row in region.rows if row.name == "cuda")
    beside = row.comparisons["sequential"]
    assert (beside.is_paired, beside.runs > 1) == (False, True)
    # The times are those of calls, and not of kernels.
    assert beside.time_s != row.time_s


class _CrewHere:
    """A worker that is this process, and what it was asked to time in turns."""

    is_here = True
    slots = 1

    def __init__(self) -> None:
        self.home = replace(place(), gpu=GPU)
        self.timed: list[tuple[str, ...]] = []

    def check(self, oracle: Oracle, program: Program, plan: CheckPlan, timeout_s: float) -> Trial:
        return CheckHere(Checker(oracle), program, plan).run(timeout_s)

    def take_rounds(
        self,
        oracle: Oracle,
        contestants: Sequence[Contestant],
        plan: CheckPlan,
        budget_s: float,
        fewest: int,
    ) -> Rounds:
        self.timed.append(tuple(one.name for one in contestants if one.is_whole))
        return take_rounds(oracle, contestants, plan, budget_s, fewest)


def test_a_worker_compares_whole_calls_with_the_original_beside_it(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    crew = _CrewHere()
    monkeypatch.setattr(tuning, "crew_of", lambda *_: nullcontext(crew))
    region = region_of(CONFIG, environ)
    (row,) = (row for row in region.rows if row.name == "cuda")
    beside = row.comparisons["sequential"]
    assert (beside.is_paired, beside.runs > 1) == (True, True)
    assert ("cuda", "sequential", "openmp_naive") in crew.timed


class _Hears:
    """Gives a GPU back once it is told that it is waited for."""

    def __init__(self, give_back: Callable[[], object]) -> None:
        self.give_back = give_back
        self.heard: list[str] = []

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None: ...

    def trial(self, trial: Trial) -> None: ...

    def waits(self, words: str) -> None:
        self.heard.append(words)
        self.give_back()


def test_a_run_that_has_to_wait_for_the_gpu_says_for_whom(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tune_little(monkeypatch)
    settings = pipeline.Settings(Path("a.c"), ("cuda",))
    with ExitStack() as held:
        held.enter_context(exclusive(GPU, region_run.lock_folder()))
        listener = _Hears(held.close)
        pipeline.run(settings, Request(CONFIG, environ, listener))
    waited = f"waiting for process {os.getpid()}, which measures on {GPU.name}"
    assert listener.heard == [waited, ""]


@pytest.mark.slow
def test_what_is_proved_ahead_is_not_proved_again(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[bool] = []
    check = Recorder.check

    def checked(recorder: Recorder, job: TrialJob, timeout_s: float = 60.0) -> Trial:
        timed.append(job.plan.timing is not None)
        return check(recorder, job, timeout_s)

    monkeypatch.setattr(Recorder, "check", checked)
    settings = pipeline.Settings(Path("a.c"), ("cuda",))
    folder = Path("out")
    folder.mkdir()
    pipeline.run(settings, Request(replace(CONFIG, is_ahead=True), environ, None, folder))
    assert timed
    assert not any(timed)
    timed.clear()
    pipeline.run(settings, Request(CONFIG, environ, None, folder))
    assert timed == [True]


@pytest.mark.slow
def test_no_profiler_is_asked_for_what_no_table_is_about(environ: dict[str, str]) -> None:
    found = profile_of(region_of(replace(CONFIG, profiles=False), environ))
    assert (found.reason, found.time_s) == (NOT_ASKED, None)


@pytest.mark.slow
def test_without_a_profiler_the_reason_is_kept(environ: dict[str, str]) -> None:
    found = profile_of(region_of(CONFIG, {**environ, "PATH": os.environ["PATH"]}))
    assert (found.reason, found.time_s) == (NO_NCU, None)


@pytest.mark.slow
def test_a_text_for_the_tuned_sizes_alone_stands_its_proofs(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Too many assignments for a detector, which then runs at other sizes only.
    monkeypatch.setattr("annotune.measure.plan.SANITIZE_ITERATIONS", 999)
    region = region_of(replace(CONFIG, by_steps=True), environ)
    row = next(row for row in region.rows if row.name == "cuda")
    assert (row.status, row.verified) == ("measured", True)


@pytest.mark.slow
def test_without_a_winner_there_is_no_profile(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = region_run.measured

    def lost(*args: object, **kwargs: object) -> object:
        return replace(measured(*args, **kwargs), ranked=())  # type: ignore[arg-type]

    monkeypatch.setattr(region_run, "measured", lost)
    assert region_of(CONFIG, environ).profiles == ()


@pytest.mark.slow
def test_a_suite_measures_on_it_and_predicts_what_no_compiler_offloads(
    environ: dict[str, str],
) -> None:
    Path("s.yaml").write_text(SUITE)
    suite = load_suite(Path("s.yaml"))
    config = RunConfig(begun=time.monotonic(), budget=FIRST_ALONE)
    base = pipeline.Settings(suite.path)
    run = SuiteRun(suite, base, config, environ, Path("out"), 120.0)
    results = run.results()
    versions, profiled = tables_of(suite, results, "0").tables
    statuses = {line.about[1]: [cell.status for cell in line.cells] for line in versions.lines}
    assert statuses["tuned CUDA"] == ["measured"] * 2
    assert statuses["tuned OpenMP"] == ["measured"] * 2
    assert statuses["sequential"] == ["measured"] * 2
    assert statuses["tuned OpenACC"] == ["predicted"] * 2
    assert statuses["OpenACC as written"] == ["unavailable"] * 2
    counted, model = profiled.lines
    assert counted.about[3] == f"counted on {GPU.name}"
    assert model.about[3] == f"model of {GPU.name}"
    assert counted.cells[0].status == "measured"
    # The size that no table of profiles is about.
    (other,) = (one for one in results if one.workload.label == "2")
    assert profile_of(other.run[0]).reason == NOT_ASKED
