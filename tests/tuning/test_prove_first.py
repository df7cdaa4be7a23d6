"""What is done of a run before anything is timed: the run finds it, and does it not again."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.little import time_little

from annotune import pipeline
from annotune.measure import compile as compiling
from annotune.measure.compile import CompileJob, CompileResult
from annotune.measure.trial import Trial
from annotune.tuning.bench import Recorder, Request, TrialJob
from annotune.tuning.config import RunConfig
from annotune.tuning.results import FIRST_ALONE

C_TEXT = """void rows(int m, int n, double *restrict y, const double *restrict A)
{
    /*@ begin PerfTuning ( def input_params { param m = 300; param n = 40; } ) @*/
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y[i] += A[i*n + j];
    /*@ end @*/
}
"""


class Watched:
    """Counts what is compiled, and the checks: whether each was timed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kinds: list[str] = []
        self.timed: list[bool] = []
        make, check = compiling._compile, Recorder.check

        def made(job: CompileJob, *how: object) -> CompileResult:
            self.kinds.append(job.kind)
            return make(job, *how)  # type: ignore[arg-type]

        def checked(recorder: Recorder, job: TrialJob, timeout_s: float = 60.0) -> Trial:
            self.timed.append(job.plan.timing is not None)
            return check(recorder, job, timeout_s)

        monkeypatch.setattr(compiling, "_compile", made)
        monkeypatch.setattr(Recorder, "check", checked)

    def begin(self) -> None:
        self.kinds.clear()
        self.timed.clear()


def test_a_run_finds_its_first_choice_compiled_and_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time_little(monkeypatch)
    source, folder, compiled = tmp_path / "a.c", tmp_path / "out", tmp_path / "compiled"
    source.write_text(C_TEXT)
    folder.mkdir()
    compiled.mkdir()
    settings = pipeline.Settings(source, ("openmp",))
    config = RunConfig(budget=FIRST_ALONE, time_s=60.0, compiled=compiled, checks_naive=False)
    watched = Watched(monkeypatch)
    ahead = replace(config, is_ahead=True)
    pipeline.run(settings, Request(ahead, os.environ, None, folder))
    assert watched.timed
    assert not any(watched.timed)
    assert {"c", "openmp", "openmp-asan", "openmp-race"} <= {*watched.kinds}
    watched.begin()
    found = pipeline.run(settings, Request(config, os.environ, None, folder))
    # Only what empties the caches between timed runs was not asked for before.
    assert watched.kinds in ([], ["c"])
    assert watched.timed == [True]
    row = next(row for row in found.results.regions[0].rows if row.name == "openmp")
    assert row.verified
    assert row.time_s


@pytest.mark.slow
def test_cuda_is_proved_on_this_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, folder = tmp_path / "a.c", tmp_path / "out"
    source.write_text(C_TEXT)
    folder.mkdir()
    settings = pipeline.Settings(source, ("cuda",))
    config = RunConfig(budget=FIRST_ALONE, time_s=120.0, checks_naive=False)
    watched = Watched(monkeypatch)
    pipeline.run(settings, Request(replace(config, is_ahead=True), os.environ, None, folder))
    assert watched.timed
    watched.begin()
    found = pipeline.run(settings, Request(config, os.environ, None, folder))
    assert watched.timed == []
    row = next(row for row in found.results.regions[0].rows if row.name == "cuda")
    assert (row.verified, row.status) == (True, "predicted")
