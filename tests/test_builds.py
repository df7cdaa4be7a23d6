"""A project of CMake's, and one of Make's, that has annotune write its files; nothing is tuned."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import annotune
from support.little import tune_little

from annotune import __version__

SOURCE = """\
#include "scale.h"

void saxpy(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] += SCALE * EXTRA * x[i];
    /*@ end @*/
}
"""
MAIN = """\
#include <stdio.h>
void saxpy(int n, double *restrict y, const double *restrict x);
int main(void)
{
    double y[3] = {1, 2, 3}, x[3] = {1, 1, 1};
    saxpy(3, y, x);
    printf("%g %g %g\\n", y[0], y[1], y[2]);
    return 0;
}
"""
LISTS = """\
cmake_minimum_required(VERSION 3.20)
project(demo C)
find_package(annotune {version} REQUIRED)
add_executable(demo main.c saxpy.c)
target_include_directories(demo PRIVATE headers)
target_compile_definitions(demo PRIVATE EXTRA=1.5)
annotune_add(demo saxpy.c {how})
"""
MAKEFILE = """\
include $(shell annotune build-dir)/annotune.mk
ANNOTUNE_EMITFLAGS = -Iheaders -DEXTRA=1.5
ANNOTUNE_CFLAGS = -O2 -Iheaders -DEXTRA=1.5
$(eval $(call annotune_add,saxpy.c,{how}))
program: main.o $(ANNOTUNE_OBJECTS)
	$(CC) -o $@ $^ $(ANNOTUNE_LDLIBS)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a small project, the current one, with the command on PATH."""
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers/scale.h").write_text("#define SCALE 2.0\n")
    (tmp_path / "saxpy.c").write_text(SOURCE)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/annotune"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m annotune "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return results that have OpenACC alone, whose times are predicted: no clock decides."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "saxpy.c").write_text(SOURCE)
    (folder / "scale.h").write_text("#define SCALE 2.0\n")
    how = ("-q", "--target", "openacc", "--budget", "1", "--time", "600s", "-D", "EXTRA=1.5")
    with pytest.MonkeyPatch.context() as patch:
        tune_little(patch)
        done = annotune("run", folder / "saxpy.c", "-o", folder / "out", *how)
    assert done.code == 0, done.err
    return (folder / "out/results.json").read_text()


def called(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on PATH")


def configured(
    how: str = "", generator: str = "Ninja", version: str = __version__
) -> subprocess.CompletedProcess[str]:
    needs("cmake", "ninja", "make", "gcc")
    Path("CMakeLists.txt").write_text(LISTS.format(how=how, version=version))
    folder = annotune("build-dir").out.strip()
    return called("cmake", "-G", generator, "-B", "b", f"-Dannotune_DIR={folder}")


@pytest.mark.alike(2)
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_cmake_builds_first_choices_and_nothing_twice(generator: str) -> None:
    made = configured("TARGETS cuda openmp FLAGS -O2", generator)
    assert made.returncode == 0, made.stderr
    built = called("cmake", "--build", "b", "-v")
    assert built.returncode == 0, built.stdout + built.stderr
    assert re.search(r" -O2 -fopenmp .*saxpy_omp\.c", built.stdout)
    assert called("b/demo").stdout == "4 5 6\n"
    assert " emit " not in called("cmake", "--build", "b", "-v").stdout
    Path("saxpy.c").write_text(SOURCE.replace("+=", "-="))
    assert called("cmake", "--build", "b").returncode == 0
    assert called("b/demo").stdout == "-2 -1 0\n"
    Path("headers/scale.h").write_text("#define SCALE 4.0\n")
    assert called("cmake", "--build", "b").returncode == 0
    assert called("b/demo").stdout == "-5 -4 -3\n"


@pytest.mark.slow
@pytest.mark.usefixtures("project")
def test_cmake_builds_what_results_have(kept: str) -> None:
    Path("saxpy.json").write_text(kept)
    made = configured("TARGETS openmp openacc RESULTS saxpy.json")
    assert made.returncode == 0, made.stderr
    if "compiled as it is written" in made.stdout:
        pytest.skip("the C compiler has no OpenACC")
    built = called("cmake", "--build", "b")
    assert built.returncode == 0, built.stdout + built.stderr
    text = Path("b/annotune/demo/saxpy/saxpy_acc.c").read_text()
    assert "us predicted for" in text
    assert called("b/demo").stdout == "4 5 6\n"
    Path("saxpy.c").write_text(SOURCE.replace("+=", "-="))
    refused = called("cmake", "--build", "b")
    assert refused.returncode != 0
    assert "[AT672]" in refused.stdout + refused.stderr


@pytest.mark.usefixtures("project")
def test_where_the_original_won_cmake_builds_it(kept: str) -> None:
    Path("saxpy.json").write_text(kept)
    made = configured("RESULTS saxpy.json")
    assert "saxpy.c is compiled as it is written" in made.stdout
    assert called("cmake", "--build", "b").returncode == 0
    assert called("b/demo").stdout == "4 5 6\n"
    assert not Path("b/annotune").exists()


@pytest.mark.usefixtures("project")
def test_cmake_measured_flags_are_those_of_the_results(kept: str) -> None:
    found = json.loads(kept)
    found["files"] = ["saxpy_omp.c"]
    commands = "gcc -Ofast -march=native -fopenmp -foffload=disable -DA=1 main.c saxpy_omp.c -lm"
    found["commands"] = {"openmp": [commands]}
    Path("saxpy.json").write_text(json.dumps(found))
    assert configured("RESULTS saxpy.json").returncode == 0
    ninja = Path("b/build.ninja").read_text()
    assert re.search(r"FLAGS = +-Ofast -march=native -fopenmp\n", ninja)


@pytest.mark.alike(2)
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("TARGETS opencl", "'opencl' is none of cuda, openacc, openmp, openmp_target"),
        ("RESULTS none.json", "there are no results"),
        ("RESULTS main.c", "is no results.json of annotune"),
        ("other.c", "there is no file"),
    ],
)
def test_cmake_tells_what_is_wrong(how: str, said: str) -> None:
    made = configured(how)
    assert made.returncode != 0
    assert said in " ".join(made.stderr.split())


@pytest.mark.usefixtures("project")
def test_cmake_knows_the_version() -> None:
    assert configured(version="99.0").returncode != 0
    assert configured(version="0.0.1").returncode == 0


@pytest.mark.usefixtures("project")
def test_make_builds_first_choices_and_nothing_twice() -> None:
    needs("make", "gcc")
    Path("Makefile").write_text(MAKEFILE.format(how=""))
    built = called("make", "CC=gcc")
    assert built.returncode == 0, built.stderr
    assert called("./program").stdout == "4 5 6\n"
    assert "up to date" in called("make", "CC=gcc").stdout
    Path("saxpy.c").write_text(SOURCE.replace("+=", "-="))
    assert called("make", "CC=gcc").returncode == 0
    assert called("./program").stdout == "-2 -1 0\n"
    Path("headers/scale.h").write_text("#define SCALE 4.0\n")
    assert called("make", "CC=gcc").returncode == 0
    assert called("./program").stdout == "-5 -4 -3\n"


@pytest.mark.usefixtures("project")
def test_make_builds_what_results_have(kept: str) -> None:
    needs("make", "gcc")
    Path("saxpy.json").write_text(kept)
    Path("Makefile").write_text(MAKEFILE.format(how="openacc,saxpy.json"))
    built = called("make", "CC=gcc")
    assert built.returncode == 0, built.stderr
    assert "us predicted for" in Path("annotune-build/saxpy_acc.c").read_text()
    assert called("./program").stdout == "4 5 6\n"
    text = MAKEFILE.format(how="cuda")
    Path("Makefile").write_text(text)
    planned = called("make", "-n", "NVCC=nvcc").stdout
    assert "nvcc -O3 -c annotune-build/saxpy.cu -o annotune-build/saxpy.o" in planned
    assert "annotune-build/saxpy_cuda.o" in planned
