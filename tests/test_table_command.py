"""`annotune table` on this machine: it runs, keeps what it has run, and survives a failed file."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import annotune
from support.laws import IS_THOROUGH
from support.little import tune_little

C_TEXT = """void scale(int n, double *restrict x, const double *restrict y)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        x[i] = 2.0 * y[i];
    /*@ end @*/
}
"""
SERIAL = """void chain(int n, double *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 1; i < n; i++)
        x[i] += x[i - 1];
    /*@ end @*/
}
"""
# CUDA takes as long as all else; a GPU that is played has it in a suite, too.
TARGETS = ("openmp", "cuda") if IS_THOROUGH else ("openmp",)
SUITE = """
title: Two files
targets: [TARGETS]
families:
  bad: {file: bad.c, functions: {chain: [n]}, sizes: {small: [1000]}}
  worse: {file: worse.c, functions: {g: [n]}, sizes: {small: [1000]}}
  good: {file: good.c, functions: {scale: [n]}, sizes: {small: [1000]}}
tables:
  - {layout: versions, title: Rates}
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.c").write_text(C_TEXT)
    Path("bad.c").write_text(SERIAL)
    Path("worse.c").write_text(C_TEXT.replace("scale", "g").replace("2.0 *", "2.0 * /"))
    Path("suite.yaml").write_text(SUITE.replace("TARGETS", ", ".join(TARGETS)))


def test_a_suite_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tune_little(monkeypatch)
    command = ("table", "suite.yaml", "--time", "90s", "--budget", "1")
    first = annotune(*command)
    assert first.code == 0, first.err
    assert "tuned OpenMP" in first.out
    assert ("tuned CUDA          NVIDIA H200" in first.out) is ("cuda" in TARGETS)
    assert "bad.c:4:5: no loop of this region can run in parallel: x[i] is written" in first.out
    assert "[AT105]" in first.out
    (kept,) = Path("annotune-out/suite/runs").glob("scale-small-*/results.json")
    before = kept.read_text()
    if IS_THOROUGH:
        assert annotune(*command).out == first.out
    cells = annotune(*command, "--json").json["cells"]
    assert kept.read_text() == before
    predicted = {"predicted"} if "cuda" in TARGETS else set()
    assert {cell["status"] for cell in cells} == {"measured", "unavailable"} | predicted


def test_a_refused_suite_is_told_as_json() -> None:
    Path("suite.yaml").write_text(Path("suite.yaml").read_text().replace("scale", "scael"))
    done = annotune("table", "suite.yaml", "--json")
    assert done.code == 1
    assert [one["code"] for one in done.json["diagnostics"]] == ["AT635"]
