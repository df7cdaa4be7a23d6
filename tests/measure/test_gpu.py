"""GPUs are asked for in a child; kernels are timed by text around each launch."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from queue import Queue

import pytest
from compilers import here
from support.runtime import CALLS_THE_RUNTIME
from test_check import CUDA, CUDA_CALL

from annotune.codegen.target import RegionCode
from annotune.measure import machine
from annotune.measure.command import Finished, run_command
from annotune.measure.compile import CompileJob, TranslationUnit, compile_job
from annotune.measure.cuda_text import timed_device_text
from annotune.measure.machine import (
    VISIBLE_GPUS,
    Clocks,
    Gpu,
    NoGpu,
    clock_facts,
    exclusive,
    find_gpu,
    foreign_processes,
    named_gpus,
    read_clocks,
    visible_alone,
)
from annotune.measure.program import variant_source
from annotune.runtime.texts import cuda_head

PATIENCE_S = 60.0
H200 = Gpu(0, "NVIDIA H200", "GPU-5a1e", "sm_90", 150 << 30, 132, 50 << 20)


def answering(output: str, returncode: int | None = 0) -> Callable[[], Finished]:
    return lambda: Finished(("python",), returncode, output, 1.0)


def test_all_devices_are_told_in_their_order() -> None:
    other = {**asdict(H200), "number": 1}
    answer = f"noise of a driver\nannotune {json.dumps([asdict(H200), other])}\n"
    assert named_gpus(answering(answer)) == (H200, Gpu(**other))


@pytest.mark.parametrize(
    ("output", "returncode", "reason"),
    [
        ("annotune []\n", 0, "names no device"),
        ("ModuleNotFoundError: No module named 'pycuda'\n", 1, "pycuda is not installed"),
        ("Traceback\npycuda.LogicError: cuInit failed: no device\n", 1, "cuInit failed"),
        ("", -11, "died of SIGSEGV"),
        ("", None, "killed after 1.0 s"),
    ],
)
def test_no_device_has_its_reason(output: str, returncode: int | None, reason: str) -> None:
    found = named_gpus(answering(output, returncode))
    assert isinstance(found, NoGpu)
    assert reason in found.reason


def test_this_machine_is_asked_once() -> None:
    assert find_gpu() is find_gpu()


def test_others_on_the_gpu_are_named() -> None:
    answer = (
        "GPU-5a1e, 4242, /opt/a, b/python3, 1024\n"
        "GPU-0000, 4243, elsewhere, 10\n"
        f"GPU-5a1e, {os.getpid()}, annotune, 300\n"
        "GPU-5A1E, 4244, hidden, [N/A]\n"
    )
    assert foreign_processes(H200, answering(answer)) == (
        "/opt/a, b/python3 (process 4242, 1024 MiB)",
        "hidden (process 4244)",
    )


@pytest.mark.parametrize(
    ("output", "returncode"),
    [("", 0), ("No running processes found\n", 0), ("GPU-5a1e, 1, x, 2\n", 9), ("", None)],
)
def test_where_nobody_tells_of_others_there_are_none(output: str, returncode: int | None) -> None:
    assert foreign_processes(H200, answering(output, returncode)) == ()


def test_a_uuid_is_the_same_with_and_without_its_prefix() -> None:
    plain = replace(H200, uuid="5a1e")
    assert foreign_processes(plain, answering("GPU-5a1e, 7, x, 1\n")) == ("x (process 7, 1 MiB)",)
    # A driver that tells no UUID leaves every process suspect.
    assert foreign_processes(replace(H200, uuid=""), answering("GPU-9, 7, x, 1\n"))


def test_a_tool_on_the_path_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU-5a1e, 4242, python3, 512'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert foreign_processes(H200) == ("python3 (process 4242, 512 MiB)",)


def test_events_stand_around_every_launch() -> None:
    text = timed_device_text(
        "void f() {\n  if (n > 0)\n    rows<double, 4><<<dim3(n, 2), dim3(32), 0, s>>>(\n"
        "        n, g(m));\n  last<<<1, 1>>>();\n}\n"
    )
    assert text.count("annotune_before_launch(); ") == 2
    assert "{ annotune_before_launch(); last<<<1, 1>>>(); annotune_after_launch(); }" in text
    assert "n, g(m)); annotune_after_launch(); }" in text


@pytest.mark.skipif(here().nvcc is None or not here().nvcc.link, reason="no nvcc with cudart")
def test_the_timed_text_compiles_links_and_loads(tmp_path: Path) -> None:
    from made_by_hand import matvec

    source, analysis = matvec()
    wrapper = variant_source(source, analysis.region, RegionCode(CUDA_CALL))
    sources = (TranslationUnit(wrapper), TranslationUnit(timed_device_text(CUDA), "cuda"))
    result = compile_job(CompileJob(sources, "cuda-gpu"), here(), tmp_path)
    assert result.ok, result.output
    names = result.path.read_bytes()
    assert b"annotune_kernel_seconds" in names
    assert b"annotune_flush_seconds" in names
    assert b"annotune_call" in names
    assert [k.shared_bytes for k in result.kernels] == [256]


@pytest.mark.skipif(here().nvcc is None or not here().nvcc.link, reason="no nvcc with cudart")
@pytest.mark.parametrize(
    "flags",
    [(), pytest.param(("-default-stream", "per-thread", "-O1"), marks=pytest.mark.slow)],
)
def test_a_library_for_a_gpu_has_the_runtime_that_it_calls(
    flags: tuple[str, ...], tmp_path: Path
) -> None:
    device = cuda_head(CALLS_THE_RUNTIME) + CALLS_THE_RUNTIME
    sources = (TranslationUnit("int x;\n"), TranslationUnit(timed_device_text(device), "cuda"))
    result = compile_job(CompileJob(sources, "cuda-gpu", nvcc=flags), here(), tmp_path)
    assert result.ok, result.output
    ctypes.CDLL(str(result.path))


def test_one_process_holds_a_gpu(tmp_path: Path) -> None:
    with exclusive(H200, tmp_path):
        assert (tmp_path / "gpu-GPU-5a1e.lock").exists()
    with exclusive(H200, tmp_path):
        pass


def test_who_waits_for_a_gpu_is_told_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: Queue[str] = Queue()

    def second() -> None:
        with exclusive(H200, tmp_path, told.put):
            told.put("it holds")

    with ThreadPoolExecutor(1) as pool:
        for whose in (f"process {os.getpid()}", "another process"):
            with exclusive(H200, tmp_path):
                pool.submit(second)
                assert told.get(timeout=PATIENCE_S) == whose
                assert told.empty()
            assert [told.get(timeout=PATIENCE_S) for _ in range(2)] == ["", "it holds"]
            monkeypatch.setattr(machine, "_LOCKS", tmp_path / "none")


SLOWED = "GPU-77, 210, 0x0000000000000001\nGPU-5a1e, 1755, 0x0000000000000044\n"


def test_clocks_are_those_of_this_gpu_and_say_what_slows_it() -> None:
    found = read_clocks(H200, answering(SLOWED))
    assert found == Clocks(1755, ("power cap", "hardware thermal slowdown"))
    idle = read_clocks(replace(H200, uuid="77"), answering(SLOWED))
    assert idle == Clocks(210, ())
    assert clock_facts(idle, found) == {
        "sm_mhz_before": 210,
        "slowed_before": "no",
        "sm_mhz_after": 1755,
        "slowed_after": "power cap, hardware thermal slowdown",
    }
    assert clock_facts(None, None) == {}


@pytest.mark.parametrize(
    ("output", "returncode"),
    [("", 0), ("GPU-5a1e, [N/A], [N/A]\n", 0), (SLOWED, 9), ("", None), ("GPU-6, 1, 0x0\n", 0)],
)
def test_where_nobody_tells_of_clocks_there_are_none(output: str, returncode: int | None) -> None:
    assert read_clocks(H200, answering(output, returncode)) is None


def test_clocks_are_asked_of_the_tool_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text('#!/bin/sh\ncase "$*" in *clocks.sm*) echo "GPU-5a1e, 1980, 0x0" ;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert read_clocks(H200) == Clocks(1980, ())


def uuids(environ: Mapping[str, str]) -> list[str]:
    """Return the UUIDs that a process with `environ` finds, none without a GPU."""
    ask = (
        "from annotune.measure.machine import NoGpu, find_gpus\n"
        "found = find_gpus()\n"
        "print(*(() if isinstance(found, NoGpu) else [gpu.uuid for gpu in found]))\n"
    )
    # The tests hide the machine's own.
    others = {k: v for k, v in os.environ.items() if k != VISIBLE_GPUS}
    found = run_command([sys.executable, "-c", ask], 60.0, environ={**others, **environ})
    assert found.ok, found.output
    return found.output.split()


def test_a_process_that_sees_one_gpu_alone_knows_it_by_the_same_uuid() -> None:
    all_here = uuids({})
    if not all_here:
        pytest.skip("no GPU")
    assert len(set(all_here)) == len(all_here)
    listed = run_command(["nvidia-smi", "-L"], 30.0).output
    for uuid in all_here:
        assert f"UUID: {uuid})" in listed
        assert uuids(visible_alone(replace(H200, uuid=uuid))) == [uuid]
