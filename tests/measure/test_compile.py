"""A compilation ends in a file or in the compiler's words, never in an exception."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compilers import here, wrapper
from support.runtime import CALLS_THE_RUNTIME

from annotune.measure import compile as compiling
from annotune.measure.command import NOT_STARTED, Finished, run_command
from annotune.measure.compile import CompileJob, TranslationUnit, compile_job, compile_runtime
from annotune.measure.cuda_text import translate
from annotune.measure.toolchain import Compiler, Toolchains
from annotune.runtime.texts import CUDA_RUNTIME, cuda_head

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")

GOOD = '__attribute__((visibility("default"))) int one(void) { return 1; }\n'


@pytest.fixture
def wrapped(tmp_path: Path) -> Toolchains:
    tools = here()
    assert tools.c is not None
    script = wrapper(tmp_path, tools.c.path)
    return replace(tools, c=Compiler((str(script),), tools.c.version))


def job(text: str, limit_s: float = 20.0) -> CompileJob:
    return CompileJob((TranslationUnit(text),), "c", limit_s=limit_s)


def test_a_second_answer_is_the_first_one(tmp_path: Path) -> None:
    first = compile_job(job(GOOD), here(), tmp_path)
    second = compile_job(job(GOOD), here(), tmp_path)
    assert first.ok
    assert first.path.exists()
    assert (first.reused, second.reused) == (False, True)
    assert first.digest == second.digest
    assert compile_job(job(GOOD + "\n"), here(), tmp_path).digest != first.digest


def test_an_error_comes_back_in_the_compilers_words(tmp_path: Path) -> None:
    result = compile_job(job("int f( { return 1; }\n"), here(), tmp_path)
    assert not result.ok
    assert "exit code 1" in result.output
    assert "error:" in result.output
    assert list(tmp_path.iterdir()) == []  # nothing half-made is left


def test_a_compiler_that_crashes(wrapped: Toolchains, tmp_path: Path) -> None:
    result = compile_job(job(GOOD + "// MARK_CRASH\n"), wrapped, tmp_path / "out")
    assert not result.ok
    assert "SIGSEGV" in result.output


def test_a_compiler_that_hangs_is_killed(wrapped: Toolchains, tmp_path: Path) -> None:
    result = compile_job(job(GOOD + "// MARK_HANG\n", 0.3), wrapped, tmp_path / "out")
    assert result.timed_out
    assert not result.ok


def test_a_compiler_that_writes_nothing(wrapped: Toolchains, tmp_path: Path) -> None:
    result = compile_job(job(GOOD + "// MARK_NOTHING\n"), wrapped, tmp_path / "out")
    assert not result.ok
    assert "wrote no" in result.output


def test_a_failure_is_not_remembered(wrapped: Toolchains, tmp_path: Path) -> None:
    assert not compile_job(job("// MARK_FAIL\n"), wrapped, tmp_path / "out").ok
    assert not compile_job(job("// MARK_FAIL\n"), wrapped, tmp_path / "out").reused


@pytest.mark.skipif(here().cxx is None, reason="no C++ compiler")
def test_what_plays_cuda_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    run_one = compiling.run_command

    def run(command: Sequence[str], *args: Any, **kwargs: Any) -> Finished:
        asked.append(" ".join(command))
        return run_one(command, *args, **kwargs)

    monkeypatch.setattr(compiling, "run_command", run)
    monkeypatch.setattr(compiling, "_RUNTIME_OBJECTS", {})
    for value in "12":
        text = (
            f"void kernel(int *x) {{ *x = {value}; __syncthreads(); }}\n"
            'extern "C" __attribute__((visibility("default"))) void entry(int *x) {\n'
            '    annotune_cpu::launch<kernel, annotune_cpu::FIBERS>("kernel", 1, 1)(x);\n}\n'
        )
        made = compile_job(
            CompileJob((TranslationUnit(text, "c++"),), "cuda-cpu"), here(), tmp_path
        )
        assert made.ok, made.output
        number = ctypes.c_int()
        ctypes.CDLL(str(made.path)).entry(ctypes.byref(number))
        assert number.value == int(value)
    assert sum("-c cuda_on_cpu.cpp" in command for command in asked) == 1
    assert len(asked) == 1 + 2 * 2  # each variant's text is compiled, and linked


def test_a_missing_compiler_is_a_result(tmp_path: Path) -> None:
    tools = replace(here(), nvcc=None, problems={"nvcc": "not on PATH"})
    result = compile_job(CompileJob((TranslationUnit("", "cuda"),), "cuda-cubin"), tools, tmp_path)
    assert not result.ok
    assert "not on PATH" in result.output


def test_an_unknown_kind_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="'opencl' is none of"):
        CompileJob((TranslationUnit(""),), "opencl")


def test_bytes_that_are_not_utf8_reach_the_compiler(tmp_path: Path) -> None:
    text = b"/* caf\xe9 */\r\n".decode("utf-8", "surrogateescape") + GOOD
    assert compile_job(job(text), here(), tmp_path).ok


def test_tuned_optimisation_replaces_the_kinds_own(tmp_path: Path) -> None:
    plain = compile_job(job(GOOD), here(), tmp_path)
    tuned = compile_job(replace(job(GOOD), optimisation=("-O3",)), here(), tmp_path)
    assert tuned.ok
    assert tuned.digest != plain.digest


def test_flags_reach_the_compilers_that_they_are_for(tmp_path: Path) -> None:
    text = "#ifdef __FAST_MATH__\n#error hasty\n#endif\n" + GOOD
    hasty = compile_job(replace(job(text), optimisation=("-O3", "-ffast-math")), here(), tmp_path)
    assert "hasty" in hasty.output
    assert compile_job(replace(job(text), nvcc=("-use_fast_math",)), here(), tmp_path).ok
    if here().nvcc is None:
        return
    terms = " + ".join(f"a[{k}]*a[{k + 1}]" for k in range(40))
    text = f'extern "C" __global__ void sum(double *a) {{ a[threadIdx.x + 99] = {terms}; }}\n'
    plain = CompileJob(
        (TranslationUnit(text, "cuda"),), "cuda-cubin", optimisation=("-ffast-math",)
    )
    most = compile_job(plain, here(), tmp_path).kernels[0].registers
    few = compile_job(replace(plain, nvcc=("-maxrregcount=24",)), here(), tmp_path)
    assert few.kernels[0].registers <= 24 < most


def test_a_chosen_processor_is_not_replaced_by_this_one(tmp_path: Path) -> None:
    text = "#ifdef __AVX__\n#error new\n#endif\n" + GOOD
    old = replace(job(text), optimisation=("-march=x86-64",))
    assert compile_job(old, here(), tmp_path).ok


def test_a_cubin_comes_with_its_registers(tmp_path: Path) -> None:
    if here().nvcc is None:
        pytest.skip("no nvcc")
    text = 'extern "C" __global__ void twice(double *a) { a[threadIdx.x] *= 2; }\n'
    result = compile_job(
        CompileJob((TranslationUnit(text, "cuda"),), "cuda-cubin"), here(), tmp_path
    )
    assert result.ok, result.output
    assert [k.name for k in result.kernels] == ["twice"]
    assert result.kernels[0].registers > 0


def test_a_program_that_is_not_there_does_not_raise() -> None:
    finished = run_command(["/no/such/program"], 1.0)
    assert finished.returncode == NOT_STARTED
    assert "No such file" in finished.output


def test_a_grandchild_that_keeps_the_output_open_does_not_delay() -> None:
    finished = run_command(["/bin/sh", "-c", "sleep 600 & echo $!"], 300.0)
    assert finished.ok
    # It is still there: nobody has waited for its end.
    os.kill(int(finished.output), signal.SIGKILL)


def test_what_a_command_has_begun_is_killed_with_it(tmp_path: Path) -> None:
    told = tmp_path / "fifo"
    os.mkfifo(told)
    reader = os.open(told, os.O_RDONLY | os.O_NONBLOCK)
    # Both hold the other end of the fifo, which ends with the last of them.
    finished = run_command(["/bin/sh", "-c", f"exec 3>{told}; sleep 600 & wait"], 0.5)
    assert finished.timed_out
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_the_environment_is_the_one_given() -> None:
    environ = {"PATH": os.environ["PATH"], "GREETING": "hello"}
    assert (
        run_command(["/bin/sh", "-c", "echo $GREETING"], 5.0, environ=environ).output == "hello\n"
    )


@pytest.mark.skipif(here().cxx is None, reason="no C++ compiler")
def test_a_runtime_that_is_made_ahead_is_the_one_that_a_variant_is_linked_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = cuda_head(CALLS_THE_RUNTIME) + CALLS_THE_RUNTIME
    text = translate(device)
    one = CompileJob((TranslationUnit("int x;\n"), TranslationUnit(text, "c++")), "cuda-cpu")
    with ThreadPoolExecutor(2) as beside:
        # Whoever comes second waits for it.
        for _ in range(2):
            beside.submit(compile_runtime, one, CUDA_RUNTIME, here(), tmp_path)
    (made,) = tmp_path.glob("*.o")
    before = made.stat().st_mtime_ns
    assert compile_job(one, here(), tmp_path).ok
    assert made.stat().st_mtime_ns == before
    assert [*tmp_path.glob("annotune_runtime*.o")] == [made]
