"""Programs that time points: written, and run on the CPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from machine_code.workloads import Workload
from measure.compilers import here
from point_programs import main, write
from support.executed import CUDA

from annotune.measure.cuda_text import translate

SMALL = Workload("batched_gemm-4", "gemm/batched.c", "batched_gemm", "set", {"batch": 9, "n": 4})


# One with arrays that only the nest as written has, and one with a number as its result.
FEW = Workload("ax-3", "nekbone/ax.c", "ax", "set", {"n": 3, "elements": 4})
SUM = Workload("glsc3-9", "nekbone/cg.c", "glsc3", "set", {"n": 9})


@pytest.mark.slow
@pytest.mark.alike(3)
@pytest.mark.skipif(here().cxx is None, reason="no C++ compiler")
@pytest.mark.parametrize("workload", [SMALL, FEW, SUM], ids=lambda one: one.function)
def test_a_program_compares_and_times(workload: Workload, tmp_path: Path) -> None:
    lines = write(workload, 2, "", tmp_path)
    names = [f"{workload.name}-0", f"{workload.name}-1"]
    assert [line.split("\t")[0] for line in lines] == names
    text = tmp_path / "translated.cu"
    text.write_text(translate((tmp_path / f"{names[1]}.cu").read_text()))
    program = tmp_path / "program"
    command = ["g++", "-O0", *CUDA, text, "-o", program]
    subprocess.run([str(word) for word in command], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    name, time_us, error, status, cold_us = done.stdout.strip().split("\t")
    assert name == names[1]
    assert float(time_us) > 0
    assert float(cold_us) > 0
    assert float(error) == 0
    assert status == "no error"


@pytest.mark.slow
def test_points_of_a_kind(tmp_path: Path) -> None:
    words = ["--workloads", "ax-8", "--points", "3", "--containing", "bulk", "-o", str(tmp_path)]
    assert main(words) == 0
    first, *others = (tmp_path / "points.tsv").read_text().splitlines()[1:]
    assert first.startswith("ax-8-0\t")
    assert len(others) == 2
    assert all("bulk=" in line for line in others)
    assert (tmp_path / "run.sh").read_text().startswith("#!/bin/sh\n")
    assert main(["--workloads", "ax-9", "-o", str(tmp_path)]) == 2
