"""`annotune run` as a whole: its table and files, and compilers that fail for one variant."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cli import annotune
from support.little import tune_little

SOURCE = """\
void mm(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 96; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i*n + j] += a[i*n + k] * b[k*n + j];
    /*@ end @*/
}
"""

# A compiler that does something else to the texts that hold a marker.
WRAPPER = """\
#!{python}
import os, signal, subprocess, sys, time
arguments = sys.argv[1:]
for number, name in enumerate(arguments):
    if not os.path.isfile(name) or {marker!r} not in open(name, errors="ignore").read():
        continue
    if {deed!r} == "fail":
        sys.exit("this compiler does not like " + {marker!r})
    if {deed!r} == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if {deed!r} == "hang":
        time.sleep(3600)
    text = open(name).read()
    wrong = os.path.join(os.path.dirname(name), "wrong-" + os.path.basename(name))
    open(wrong, "w").write(text.replace("+= a[", "-= a["))
    arguments[number] = wrong
os.execv({real!r}, [{real!r}, *arguments])
"""

# The budget ends a run, and never the time, however busy the machine is.
TIME = "600s"
# The first choice for the CPU is a block of 8 by 16; that for a GPU stages a copy of b, its second
# choice stages nothing.
OPENMP_MARK = "c_block[8][16]"
CUDA_MARK = "(32 * k_t_first"


def run(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    source = folder / "mm.c"
    source.write_text(SOURCE)
    command = [sys.executable, "-m", "annotune", "run", str(source), "-o", str(folder / "out")]
    return subprocess.run(
        [*command, "--json", *arguments],
        capture_output=True,
        text=True,
        timeout=1200,
        env={**os.environ, **environ},
        check=False,
    )


def wrapper(folder: Path, tool: str, marker: str, deed: str) -> str:
    real = shutil.which(tool)
    assert real is not None
    path = folder / f"{tool}-{deed}"
    text = WRAPPER.format(python=sys.executable, marker=marker, deed=deed, real=real)
    path.write_text(text)
    path.chmod(0o755)
    return shlex.quote(str(path))


def trials(region: dict[str, Any], target: str) -> list[dict[str, Any]]:
    return [t for t in region["trials"] if t["target"] == target]


def row(region: dict[str, Any], name: str) -> dict[str, Any]:
    return next(r for r in region["rows"] if r["name"] == name)


@pytest.mark.slow
def test_a_run_writes_six_files_and_tells_where_each_figure_comes_from(tmp_path: Path) -> None:
    cc = wrapper(tmp_path, "gcc", OPENMP_MARK, "fail")
    done = run(tmp_path, "--budget", "2", "--time", TIME, CC=cc)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    costs_the_first_openmp_variant(results, "compile")
    names = {p.name for p in (tmp_path / "out").iterdir()}
    (region,) = results["regions"]
    # On a busy machine the second choice may lose to the original, which is kept then.
    written = {"mm_omp.c"} if not row(region, "openmp")["reason"] else set()
    kept = {"results.json", "report.html", "trials.sqlite"}
    assert names == {"mm.cu", "mm_cuda.c", "mm_acc.c", *written, *kept}
    assert json.loads((tmp_path / "out/results.json").read_text()) == results
    assert [r["name"] for r in region["rows"]] == [
        "sequential",
        "openmp_naive",
        "openacc_naive",
        "openmp",
        "openacc",
        "cuda",
    ]
    assert row(region, "openmp")["status"] == "measured"
    assert row(region, "openmp")["verified"] is True
    for name in ("openacc", "cuda"):
        told = row(region, name)
        if told["status"] == "predicted":
            assert told["device"] == "NVIDIA H200"
            assert told["speedup"] is None
    assert region["flop"] == 2 * 96**3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "status"),
    [
        ("fail", "compile"),
        ("crash", "compile"),
        ("hang", "timeout"),
        ("miscompile", "correctness"),
    ],
)
def test_a_c_compiler_that_errs_for_one_variant_costs_that_variant(
    tmp_path: Path, deed: str, status: str
) -> None:
    cc = wrapper(tmp_path, "gcc", OPENMP_MARK, deed)
    done = run(tmp_path, "--target", "openmp", "--budget", "2", "--time", TIME, CC=cc)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    costs_the_first_openmp_variant(json.loads(done.stdout), status)


def costs_the_first_openmp_variant(results: dict[str, Any], status: str) -> None:
    """Assert that one variant ends so and another one wins."""
    (region,) = results["regions"]
    first, *others = trials(region, "openmp")
    assert first["status"] == status
    assert first["reason"]
    assert first["time_s"] is None
    assert any(t["status"] == "correct" for t in others)
    assert row(region, "openmp")["verified"] is True
    assert row(region, "openmp")["config"] != first["config"]


@pytest.mark.parametrize(
    ("deed", "status"),
    [
        pytest.param("fail", "compile", marks=pytest.mark.slow),
        pytest.param("hang", "timeout", marks=pytest.mark.slow),
    ],
)
def test_an_nvcc_that_errs_for_one_variant_costs_that_variant(
    tmp_path: Path, deed: str, status: str
) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc on PATH to wrap")
    nvcc = wrapper(tmp_path, "nvcc", CUDA_MARK, deed)
    done = run(tmp_path, "--target", "cuda", "--budget", "2", "--time", TIME, NVCC=nvcc)
    assert done.returncode == 0, done.stderr
    (region,) = json.loads(done.stdout)["regions"]
    first, second = trials(region, "cuda")
    assert first["status"] == status
    assert second["status"] == "correct"
    assert row(region, "cuda")["config"] == second["config"]


def test_no_right_variant_at_all_exits_with_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune_little(monkeypatch)
    monkeypatch.setenv("CXX", wrapper(tmp_path, "g++", "mm_1_s0", "fail"))
    source = tmp_path / "mm.c"
    source.write_text(SOURCE)
    options = ("--target", "cuda", "--budget", "1", "--time", TIME, "--data", "resident")
    done = annotune("run", source, "-o", tmp_path / "out", "--json", *options)
    assert done.code == 3, done.err
    results = done.json
    assert any("--data resident is left out" in words for words in results["warnings"])
    (region,) = results["regions"]
    told = row(region, "cuda")
    assert told["status"] == "unavailable"
    assert told["verified"] is False
    assert "no variant passed its check" in told["reason"]
    assert not (tmp_path / "out/mm.cu").exists()


def test_a_refused_file_leaves_no_folder(tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text(SOURCE.replace("c[i*n + j]", "c[i*i]"))
    command = [sys.executable, "-m", "annotune", "run", str(source)]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "deep/out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "AT201" in done.stderr
    assert not (tmp_path / "deep").exists()


TRIAD = """\
void triad(int n, double *restrict a, const double *restrict b, const double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 300000; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 3.0 * c[i];
    /*@ end @*/
}
"""


@pytest.mark.slow
def test_copies_that_cost_what_the_kernels_gain_are_told(tmp_path: Path) -> None:
    (tmp_path / "triad.c").write_text(TRIAD)
    command = [sys.executable, "-m", "annotune"]
    limits = ("--target", "cuda", "--budget", "1", "--time", TIME)
    done, checked = (
        subprocess.run(
            [*command, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for words in (("run", "triad.c", "--json", *limits), ("check", "triad.c"))
    )
    (region,) = json.loads(done)["regions"]
    (cost,) = region["copies"]
    cuda = row(region, "cuda")
    assert (cost["target"], cuda["status"]) == ("cuda", "predicted")
    assert cost["copies_s"] + cost["kernels_s"] == pytest.approx(cuda["end_to_end_s"])
    assert cost["original_s"] == row(region, "sequential")["time_s"]
    assert cost["kernels_s"] < cost["original_s"] < cuda["end_to_end_s"]
    assert sorted(cost["arrays"]) == ["a", "b", "c"]
    # What is moved grows as what is computed.
    assert cost["break_even"] == {}
    (line,) = (one for one in checked.splitlines() if one.strip().startswith("CUDA: "))
    assert "predicted to lose with its copies to the original, measured on " in line
    assert line.endswith("; by an estimate, at no larger sizes a call pays")
