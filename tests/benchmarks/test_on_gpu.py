"""`gpu.py` without a GPU: its goals are of its workloads, and libraries are asked for the same work
as the C text, numpy standing for them."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from numpy.typing import NDArray
from on_gpu import peers
from on_gpu.peers import PeerTime

from annotune.annotation.devices import load_device
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.pipeline import Settings, accepted
from annotune.report.suite import Workload, load_suite

SUITE = load_suite(gpu.HERE / "suite.yaml")
SMALL = {"elements": 3, "nelt": 3, "lx": 4, "d": 3, "q": 4, "batch": 3, "m": 4, "n": 5, "k": 6}
H200 = load_device("h200").vendor_name


class NumPy:
    """The library that the C text is compared with."""

    name = "NumPy"

    def array(self, values: NDArray[np.float64]) -> Any:
        return values.copy()

    def einsum(self, subscripts: str, *inputs: Any) -> Any:
        return np.einsum(subscripts, *inputs)

    def accumulate(self, subscripts: str, first: Any, second: Any, output: Any, sign: int) -> None:
        output += sign * self.einsum(subscripts, first, second)

    def product(self, output: Any, first: Any, second: Any, alpha: float, beta: float) -> None:
        output[...] = alpha * (first @ second) + beta * output

    def scalar(self, first: Any, second: Any) -> Any:
        return np.dot(first, second)

    def triad(self, output: Any, first: Any, factor: float, second: Any) -> None:
        output[...] = first + factor * second


def _small(work: Workload) -> Mapping[str, int]:
    return {name: SMALL.get(name, 2 + n % 3) for n, name in enumerate(work.values)}


def _called(
    work: Workload, values: Mapping[str, int], given: Mapping[str, Any], folder: Path
) -> tuple[dict[str, NDArray[np.float64]], float]:
    """Return the arrays after a call of the C text, and what it returns."""
    text, library = work.file.read_text(), folder / "f.so"
    defines = [f"-D{n}={v}" for n, v in values.items()] if work.is_macro else []
    words = ["gcc", "-O1", "-w", "-fPIC", "-shared", *defines, str(work.file)]
    subprocess.run([*words, "-lm", "-o", str(library)], check=True)
    head = re.search(rf"\b(void|double) {work.function}\(([^)]*)\)", text)
    assert head is not None
    arrays = {name: one.copy() for name, one in given.items()}
    arguments: list[object] = []
    for parameter in head[2].split(","):
        found = re.findall(r"\w+", re.sub(r"\[.*", "", parameter))
        name = found[-1]
        if name in arrays:
            arguments.append(ctypes.c_void_p(arrays[name].ctypes.data))
        elif name in values:
            arguments.append(ctypes.c_int(values[name]))
        else:
            arguments.append(ctypes.c_double(peers.BETA if name == "beta" else peers.ALPHA))
    function = getattr(ctypes.CDLL(str(library)), work.function)
    function.restype = ctypes.c_double if head[1] == "double" else None
    return arrays, function(*arguments)


FUNCTIONS = {work.function: work for work in SUITE.workloads}
# No library has the energy of the triples; eighteen terms take minutes.
ONE_OF_EACH = [
    pytest.param(work, id=name, marks=[pytest.mark.slow] if name.startswith("ccsd_t") else [])
    for name, work in FUNCTIONS.items()
    if not re.search("^sd_t.*_[^3]$|_energy$", name)
]


@pytest.mark.slow
@pytest.mark.parametrize("work", ONE_OF_EACH)
def test_a_library_is_asked_for_what_the_c_text_computes(work: Workload, tmp_path: Path) -> None:
    values = _small(work)
    settings = Settings(work.file, ("cuda",), function=work.function, sizes=dict(values))
    if work.is_macro:
        search = HeaderSearch(defines={name: str(n) for name, n in values.items()})
        settings = replace(settings, sizes={}, search=search)
    analysis = accepted(settings).regions[0].analysis
    assert analysis is not None
    given = peers.filled(analysis)
    call, arrays = peers.call_of(work.function, analysis, given, NumPy())
    returned = call()
    right, result = _called(work, values, given, tmp_path)
    written = [name for name, use in analysis.uses.items() if use.is_written and name in arrays]
    for name in written:
        own = np.asarray(arrays[name]).reshape(-1)
        if not analysis.stays_on_device(name):
            np.testing.assert_allclose(own, right[name], rtol=1e-12, atol=1e-12)
    is_changed = any((right[name] != given[name]).any() for name in written)
    assert is_changed or returned == pytest.approx(result, rel=1e-12)


def test_goals_are_of_workloads() -> None:
    assert gpu.goals().keys() <= {work.name for work in SUITE.workloads}


def test_a_goal_is_met_missed_or_not_known() -> None:
    goal = gpu.Goal(12.0, "by hand", 10.0)
    names = {"CUDA, first, warm": 11e-6, "CUDA, best, warm": 9e-6, "CUDA, first, cold": 1e-6}
    own = {name: gpu.Cell(time_s) for name, time_s in names.items()}
    row = gpu.GpuRow("w", own, (PeerTime("a", 2.0, 3.0), PeerTime("b", problem="none")), 5e-6, goal)
    assert (row.best_s, row.is_missed) == (9e-6, False)
    slow = replace(row, own={"CUDA, first, warm": gpu.Cell(11e-6)})
    assert slow.is_missed
    guessed = replace(row, own={"CUDA, first, warm": gpu.Cell(11e-6, is_predicted=True)})
    assert (guessed.best_s, guessed.is_missed) == (None, False)
    late = {**own, "CUDA, first, warm": gpu.Cell(11e-6), "CUDA, best, warm": gpu.Cell(why="why")}
    text = gpu.table([row, replace(row, name="x", own=late)], "about")
    assert re.search(r"^x +11 ", text, re.MULTILINE)
    assert "x (CUDA, best, warm): why" in text
    assert "10 missed" in text
    assert "w, x: b: none" in text


def test_without_a_gpu_the_model_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "usable_cores", lambda: 0)  # no processes of their own
    assert gpu.main(["--only", "triad", "-o", str(tmp_path), "--time", "30"]) == 0
    out = capsys.readouterr().out
    assert f"predicted for {H200}" in out
    assert re.search(r"triad-1e8( +\(~[\d.]+\)){4}", out)
    assert (tmp_path / "gpu.json").is_file()


# Stands for nvcc: a program that says what it is asked to, or none.
NVCC = """\
#!/bin/sh
case "$3" in *-1.cu) echo "no such thing" >&2; exit 1;; esac
printf '#!/bin/sh\\necho run >> "%s.runs"\\nprintf "x\\\\t%s\\\\n"\\n' "$5" 'SAID' > "$5"
chmod +x "$5"
"""


@pytest.mark.slow
@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("said", "cells"),
    [
        ("540.5\t1e-14\tno error\t551.0", "540.5 +551 +540.5"),
        ("540.5\t1e-3\tno error\t551.0", "- +- +-"),
        ("0.0\t0\tan illegal memory access\t0.0", "- +- +-"),
    ],
)
def test_programs_are_compiled_and_run_once(
    said: str,
    cells: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiler = tmp_path / "bin" / "nvcc"
    compiler.parent.mkdir()
    compiler.write_text(NVCC.replace("SAID", said.replace("\t", "\\\\t")))
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent), prepend=":")
    one = gpu.Gpu(0, H200, "", "sm_90", 1 << 37, 132, 50 << 20)
    monkeypatch.setattr(gpu, "find_gpu", lambda: one)
    monkeypatch.setattr(gpu, "timed_peers", lambda *_: {})
    monkeypatch.setattr(peers, "copy_bytes_s", lambda: None)
    words = ["--only", "triad", "--targets", "cuda", "--points", "2", "-o", str(tmp_path / "o")]
    for _ in range(2):
        assert gpu.main(words) == 0
    out = capsys.readouterr().out
    assert f"measured on {H200}" in out
    assert re.search(rf"^triad-1e8 +{cells} ", out, re.MULTILINE), out
    if cells.startswith("-"):
        assert "differs from the nest as written by 1.0e-03" in out or "illegal memory" in out
    runs = [*(tmp_path / "o").glob("*.runs")]
    assert [one.read_text() for one in runs] == ["run\n"]


def test_an_unknown_family_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(["--only", "nothing", "-o", str(tmp_path)]) == 2
    assert "no family is called nothing; there are local_grad3, ax" in capsys.readouterr().err
