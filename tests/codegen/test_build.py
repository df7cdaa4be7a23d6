"""The commands in the headers of emitted files make programs of them."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from support.cli import annotune, function, region

from annotune.codegen.build import (
    BuildCommand,
    Compilers,
    CompilerUse,
    Project,
    Told,
    commands,
    has_main,
    header_lines,
    optimised,
)

LOOPS = "for (int i = 0; i < n; i++) a[i] += SCALE * b[i];"
MAIN = """\
#include <stdio.h>
void f(int n, double *restrict a, const double *b);
int main(void) {
    double a[64], b[64];
    for (int i = 0; i < 64; i++) { a[i] = i; b[i] = 1; }
    f(64, a, b);
    printf("%g\\n", a[63]);
    return 0;
}
"""


def command_of(text: str) -> list[str]:
    """Return the words of the command in a file's header."""
    (found,) = re.findall(r"^ *\* Build[^:\n]*: (gcc (?:.*\\\n)*.*)$", text, re.MULTILINE)
    return shlex.split(re.sub(r"\\\n *\* ", "", found))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CC", raising=False)


def ran(words: list[str], folder: Path) -> str:
    """Return what the program says that a command makes in a folder."""
    built = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    return subprocess.run(
        ["./a.out"], cwd=folder, capture_output=True, text=True, timeout=60
    ).stdout


def test_the_command_in_a_header_makes_the_program() -> None:
    Path("near.h").write_text("#define SCALE (TWICE * 1.5)\n")
    Path("user.c").write_text(f'#include "near.h"\n{function(region(LOOPS))}')
    done = annotune("emit", "user.c", "-DTWICE=2.0", "--target", "openmp", "-o", "out")
    assert done.code == 0, done.err
    text = Path("out/user_omp.c").read_text()
    words = command_of(text)
    assert words[:5] == ["gcc", "-O3", "-march=native", "-fopenmp", "-DTWICE=2.0"]
    Path("out/main.c").write_text(MAIN)
    assert ran(words, Path("out")) == "66\n"
    said = done.err.splitlines()[-1]
    assert shlex.split(said)[-3:] == ["main.c", "out/user_omp.c", "-lm"]


@pytest.mark.parametrize(
    ("place", "source", "seen"),
    [
        (".", "src/user.c", "../src"),
        ("src", "user.c", ".."),
        ("build", "../src/user.c", "../../src"),
    ],
)
def test_a_project_that_moves_is_compiled_by_the_same_command(
    place: str, source: str, seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    for name in ("src", "headers", "build"):
        (project / name).mkdir(parents=True)
    (project / "src/near.h").write_text('#include "far.h"\n')
    (project / "headers/far.h").write_text("#define SCALE 3\n")
    (project / "src/user.c").write_text(f'#include "near.h"\n{function(region(LOOPS))}')
    monkeypatch.chdir(project / place)
    folder = "../headers" if place != "." else "headers"
    done = annotune("emit", source, "-I", folder, "--target", "openmp", "-o", "out")
    assert done.code == 0, done.err
    out = project / place / "out"
    text = (out / "user_omp.c").read_text()
    words = command_of(text)
    assert words[words.index("-iquote") + 1] == seen
    assert "Build in the folder of this file: gcc " in text
    assert str(tmp_path) not in text
    (project / place / "main.c").write_text(MAIN)
    said = shlex.split(done.err.splitlines()[-1])
    assert ran(said, project / place) == "66\n"
    (out / "main.c").write_text(MAIN)
    moved = tmp_path / "moved"
    project.rename(moved)
    assert ran(command_of(text), moved / place / "out") == "66\n"


def test_what_lies_outside_of_the_project_has_its_absolute_name(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    project = Project(tmp_path / "here", tmp_path / "here", tmp_path / "here/out")
    assert project.seen_from_home(str(tmp_path / "lib")) == str(tmp_path / "lib")
    assert project.seen_from_home(str(tmp_path / "here/inc")) == "../inc"
    assert project.seen_from_here(str(tmp_path / "here/inc")) == "inc"
    elsewhere = Project(tmp_path / "here", tmp_path / "here", tmp_path / "there")
    assert elsewhere.seen_from_home(str(tmp_path / "here")) == str(tmp_path / "here")


def test_a_file_with_a_main_is_a_whole_program() -> None:
    rest = MAIN.replace("#include", "\n#include")
    Path("user.c").write_text(f"#define SCALE 3\n{function(region(LOOPS))}{rest}")
    done = annotune("emit", "user.c", "--target", "openmp", "-o", "out")
    assert done.code == 0, done.err
    words = command_of(Path("out/user_omp.c").read_text())
    assert "main.c" not in words
    assert ran(words, Path("out")) == "66\n"


def test_json_has_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc -pipe")
    Path("user.c").write_text(f"#define SCALE 3\n{function(region(LOOPS))}")
    found = annotune("emit", "user.c", "-o", "out", "--json").json["commands"]
    assert found == {
        "cuda": [
            "nvcc -O3 -arch=sm_90 main.c out/user.cu out/user_cuda.c out/annotune_runtime.cu -lm"
        ],
        "openacc": [
            "nvc -O3 -acc=gpu -gpu=cc90 main.c out/user_acc.c -lm",
            "gcc -pipe -O3 -fopenacc -foffload=nvptx-none "
            "-foffload-options=nvptx-none=-misa=sm_80 main.c out/user_acc.c -lm",
        ],
        "openmp": ["gcc -pipe -O3 -march=native -fopenmp main.c out/user_omp.c -lm"],
    }


def test_flags_of_a_variant_are_those_it_was_measured_with() -> None:
    uses = (CompilerUse("c", ("-fopenmp",), is_native=True), CompilerUse("nvcc", ("-arch={arch}",)))
    told = Told(("-DN=3",), "/my headers", ("-O2", "-march=haswell"), ("-Xptxas", "-dlcm=cg"))
    first, second = commands(uses, ["x.c"], Compilers(arch="sm_80"), told, "")
    assert first.text() == (
        "gcc -O2 -march=haswell -fopenmp -DN=3 -iquote '/my headers' main.c x.c -lm"
    )
    assert second.text("a b") == (
        "nvcc -O2 -Xptxas -dlcm=cg -arch=sm_80 -DN=3 -I '/my headers' main.c 'a b/x.c' -lm"
    )
    assert optimised(()) == ("-O3",)
    assert optimised(("-funroll-loops",)) == ("-O3", "-funroll-loops")


def test_without_files_there_is_nothing_to_say() -> None:
    assert header_lines(()) == ()
    whole = BuildCommand(("gcc",), ("x.c",), is_whole=True)
    assert header_lines((whole.text(),)) == ("Build: gcc x.c -lm",)
    long = replace(whole, start=("gcc", *(f"-DSOME_NAME{n}='two words'" for n in range(5))))
    first, *others = header_lines((whole.text(), long.text()))
    assert first == "Build: gcc x.c -lm"
    assert others[0].startswith("Or: gcc ")
    assert all(line.endswith(" \\") for line in others[:-1])
    assert max(map(len, others)) <= 97
    said = shlex.split("\n".join(others).replace("\\\n", "").removeprefix("Or: "))
    assert said == shlex.split(long.text())
    assert [has_main(t) for t in ("int main(void) {}", "int domain(int n);")] == [True, False]
