"""The whole of ``benchmarks/static.py``: what it prints, and what it says where tools lack."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import static
from machine_code.judge import Judge, WorkloadRow
from machine_code.table import HEADINGS, table
from machine_code.workloads import all_workloads, chosen

from annotune.measure.toolchain import Toolchains, find_toolchains

TOOLS = find_toolchains(os.environ)
needs_nvcc = pytest.mark.skipif(TOOLS.nvcc is None, reason="no nvcc")


def rows(tools: Toolchains, folder: Path, *names: str) -> list[WorkloadRow]:
    judge = Judge(tools, "h200", folder)
    return [judge.row(workload) for workload in chosen(names, all_workloads())]


@pytest.mark.slow
@needs_nvcc
def test_what_ptxas_says_needs_no_disassembler(tmp_path: Path) -> None:
    (row,) = rows(replace(TOOLS, nvdisasm=""), tmp_path, "local_grad3-10")
    assert [kernel.threads for kernel in row.kernels] == [128]
    for kernel in row.kernels:
        assert 16 <= kernel.facts.registers <= 80
        assert not kernel.facts.spills
        assert kernel.facts.stack_bytes == 0
        assert kernel.residency.blocks == 6
        assert kernel.hot is None
        assert "pip install nvidia-cuda-nvdisasm" in kernel.why_not
    assert row.predicted_s is not None
    assert 0 < row.predicted_s < 1e-3
    text = table([row])
    assert text.count("not available because no nvdisasm") == 1
    assert len(text.splitlines()) == 2 + 1 + 1


@pytest.mark.slow
@needs_nvcc
@pytest.mark.skipif(not TOOLS.nvdisasm, reason="no nvdisasm")
def test_machine_code_is_read(tmp_path: Path) -> None:
    (row,) = rows(TOOLS, tmp_path, "sd_t_d1_1-A")
    (kernel,) = row.kernels
    assert kernel.hot is not None
    assert kernel.hot.mix.fused_total >= 15
    assert kernel.why_not == ""


def test_without_nvcc_a_workload_has_its_reason(tmp_path: Path) -> None:
    (row,) = rows(replace(TOOLS, nvcc=None), tmp_path, "sd_t_s1_1-A")
    assert row.kernels == ()
    assert "no compiler for nvcc" in row.problem
    assert "sd_t_s1_1-A: not available because no compiler for nvcc" in table([row])


@pytest.mark.slow
@needs_nvcc
def test_a_run_prints_a_line_per_kernel_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    # In the last one several loops have parts of one name.
    names = ["sd_t_s1_1-A", "gemm-256", "interpolate-8to8"]
    code = static.main(["--workloads", *names, "--json", str(out)])
    printed = capsys.readouterr().out.splitlines()
    assert code == 0
    assert printed[0].startswith("predicted for NVIDIA H200, compiled for sm_90, nvcc: ")
    assert [line.split()[0] for line in printed[1:6]] == ["workload", "kernel", *names]
    found = json.loads(out.read_text())
    assert found["predicted_for"] == "NVIDIA H200"
    (first, second, _) = found["workloads"]
    assert second["sizes"] == {"m": 256, "n": 256, "k": 256}
    assert first["kernels"][0]["ptxas"]["arch"] == "sm_90"
    assert 0 < first["predicted_roofline_share"] < 1


@pytest.mark.slow
@needs_nvcc
def test_another_device_has_another_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    assert static.main(["--workloads", "gemm-512", "--device", "a100"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("predicted for NVIDIA A100-SXM4-80GB, compiled for sm_80")
    assert static.main(["--workloads", "gemm-512"]) == 0
    other = capsys.readouterr().out
    predicted = [text.splitlines()[3].split()[-2] for text in (printed, other)]
    assert float(predicted[0]) > float(predicted[1])


@pytest.mark.slow
@needs_nvcc
def test_a_strategy_is_judged_by_its_own_kernels(tmp_path: Path) -> None:
    (workload,) = chosen(["sd_t_d1_1-A"], all_workloads())
    tools = replace(TOOLS, nvdisasm="")
    (direct,) = Judge(tools, "h200", tmp_path, "direct").row(workload).kernels
    (tile,) = Judge(tools, "h200", tmp_path, "two-level").row(workload).kernels
    assert direct.facts.shared_bytes == 0
    assert direct.shared == ()
    assert tile.facts.shared_bytes > 0
    assert {one.is_filling for one in tile.shared} == {True, False}
    for one in tile.shared:
        assert one.passes.transactions >= one.passes.ideal > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workloads", "gem"], "there is no workload 'gem'"),
        (["--device", "h20"], "h20"),
        (["--device", "v100"], "v100 has compute capability 7.0"),
    ],
)
def test_wrong_usage_is_said_in_a_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert static.main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_names_and_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert static.main(["--workloads", "gemm-*", "--list"]) == 0
    assert capsys.readouterr().out.split() == [
        f"gemm-{size}" for size in (256, 512, 1024, 1536, 2048, 4096)
    ]
    assert static.main(["--workloads", "gemm-256", "--commands"]) == 0
    assert capsys.readouterr().out.startswith("gemm/gemm.c --function gemm --set m=256")
    assert static.main(["--list"]) == 0
    names = capsys.readouterr().out.split()
    assert len(names) == 18 * 3 + 4 * 2 + 9 + 6 + 3 + 2 + 1 + 3 + 2 * 7 + 3 + 2 * 3 + 8


@needs_nvcc
@pytest.mark.slow
def test_a_table_has_a_cell_for_every_heading(tmp_path: Path) -> None:
    row = rows(replace(TOOLS, nvdisasm=""), tmp_path, "sd_t_s1_1-A")[0]
    line = table([row]).splitlines()[2]
    # The name has two words, as the occupancy's limit may have.
    assert len(line.split()) in (len(HEADINGS) + 1, len(HEADINGS) + 2)
