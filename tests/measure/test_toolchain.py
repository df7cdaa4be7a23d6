"""Compilers are found where a user names them, and proven by compiling."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here, wrapper

from annotune.files import WHOLE_FILE
from annotune.measure.toolchain import (
    Compiler,
    binary_utility,
    find_toolchains,
    nvcc_warnings,
)

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


@needs_gcc
def test_finds_the_c_compiler_and_what_it_can_do() -> None:
    tools = here()
    assert tools.c is not None
    assert Path(tools.c.path).name in ("gcc", "cc")
    assert any(character.isdigit() for character in tools.c.version)
    assert tools.openmp or "openmp" in tools.problems
    assert tools.asan == "" or Path(tools.asan).exists()


@needs_gcc
def test_an_answer_is_kept_for_the_process() -> None:
    assert find_toolchains(os.environ) is find_toolchains(dict(os.environ))


@needs_gcc
def test_cc_may_be_a_wrapper_with_arguments(tmp_path: Path) -> None:
    script = wrapper(tmp_path, "gcc")
    environ = {"PATH": os.environ["PATH"], "CC": f"/usr/bin/env {script} -pipe", "NVCC": "none"}
    tools = find_toolchains(environ)
    assert tools.c is not None
    assert tools.c.command == ("/usr/bin/env", str(script), "-pipe")
    assert tools.openmp


def test_a_cc_that_does_not_work_is_not_replaced_by_another() -> None:
    environ = {"PATH": os.environ["PATH"], "CC": "/no/such/compiler", "NVCC": "none"}
    tools = find_toolchains(environ)
    assert tools.c is None
    assert "/no/such/compiler" in tools.problems["c"]
    assert not tools.openmp
    assert tools.native == ()


def test_an_nvcc_that_fails_says_why(tmp_path: Path) -> None:
    script = tmp_path / "nvcc"
    script.write_text("#!/bin/sh\necho 'nvcc fatal: error: no licence' >&2\nexit 3\n")
    script.chmod(0o755)
    tools = find_toolchains({"PATH": os.environ["PATH"], "NVCC": str(script)})
    assert tools.nvcc is None
    assert "exit code 3" in tools.problems["nvcc"]
    assert "no licence" in tools.problems["nvcc"]


def test_nothing_at_all_is_an_answer() -> None:
    tools = find_toolchains({"PATH": "/nonexistent", "NVCC": "/nonexistent/nvcc"})
    assert tools.c is None
    assert tools.cxx is None
    assert {"c", "cxx", "nvcc", "nvc"} <= tools.problems.keys()


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_binary_utilities_are_found_on_path_before_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = _program(tmp_path / "packages/nvidia/cu13/bin/nvdisasm")
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    own = tmp_path / "bin"
    none = {"PATH": str(own), "NVCC": "/nonexistent/nvcc"}
    assert find_toolchains(none).nvdisasm == str(wheel)
    on_path = _program(tmp_path / "other/nvdisasm")
    assert find_toolchains({**none, "PATH": str(on_path.parent)}).nvdisasm == str(on_path)


def test_binary_utilities_stand_beside_nvcc(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    beside = _program(tmp_path / "bin/nvdisasm")
    nvcc = Compiler(("nvcc",), "13", include=str(tmp_path / "include"))
    assert binary_utility("nvdisasm", "/nonexistent", nvcc) == str(beside)
    assert binary_utility("nothing-of-this-name", "/nonexistent", nvcc) == ""


def test_the_wheels_of_this_python_give_an_nvcc() -> None:
    wheels = [Path(p) / "nvidia" for p in sys.path if p.endswith("site-packages")]
    if not any(list(w.glob("cu*/bin/nvcc")) for w in wheels):
        pytest.skip("nvidia-cuda-nvcc is not installed")
    gcc = shutil.which("g++")
    if not gcc:
        pytest.skip("no g++")
    # A PATH with the host compiler alone, so that an installed toolkit is not found.
    tools = find_toolchains({"PATH": "/usr/bin:/bin", "CUDA_HOME": "", "CUDA_PATH": ""})
    assert tools.nvcc is not None, tools.problems
    assert (Path(tools.nvcc.include) / "cuda_runtime.h").exists()
    assert tools.nvcc.link, tools.problems


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("Cuda compilation tools, release 12.4, V12.4.131", "12.4"),
        ("Cuda compilation tools, release 13.1, V13.1.115", "13.1"),
        ("Cuda compilation tools, release 13.2, V13.2.51", ""),
        ("Cuda compilation tools, release 14.0, V14.0.1", ""),
        ("what another compiler says", ""),
    ],
)
def test_an_nvcc_that_miscompiles_loops_is_told_of(version: str, release: str) -> None:
    tools = find_toolchains({"PATH": "/nowhere"})
    nvcc = Compiler(("nvcc",), version)
    found = nvcc_warnings(replace(tools, nvcc=nvcc), "f.c")
    assert [d.code for d in found] == (["AT621"] if release else [])
    assert all(f"nvcc {release} " in d.message for d in found)
    assert {d.code for d in found} <= WHOLE_FILE
    assert nvcc_warnings(replace(tools, nvcc=None), "f.c") == ()
