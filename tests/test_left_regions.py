"""A region that is refused keeps its nest in every file, and the others are written."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support.cli import CLOSE, annotune, function, region
from support.little import tune_little

GOOD = "for (int i = 0; i < n; i++) a[i] += 2.0 * b[i];"
SERIAL = "for (int i = 1; i < n; i++) a[i] = a[i-1] + b[i];"
UNKNOWN = "for (int i = 0; i < n; i++) a[i] += seen(b[i]);"
MAIN = """\
#include <stdio.h>
static double seen(double x) { static int calls; return x + calls++; }
%s
int main(void)
{
    double a[50], b[50];
    for (int i = 0; i < 50; i++) { a[i] = i %% 7; b[i] = i %% 5; }
    f(50, a, b);
    for (int i = 0; i < 50; i++) printf("%%g ", a[i]);
    return 0;
}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tune_little(monkeypatch)


def output(name: str, *flags: str) -> str:
    """Return what the program of a file says."""
    words = ["gcc", "-w", *flags, name, "-lm"]
    subprocess.run(words, check=True, timeout=60)
    return subprocess.run(["./a.out"], capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_others_are_written_and_the_program_is_the_same(newline: str) -> None:
    regions = "\n".join(map(region, (GOOD, SERIAL, UNKNOWN, GOOD)))
    text = MAIN % function(regions)
    Path("user.c").write_text(text, newline=newline)
    done = annotune("emit", "user.c", "-o", "out")
    assert done.code == 0, done.err
    said = [line for line in done.err.splitlines() if "[AT623]" in line]
    assert [line.split(":")[3].strip() for line in said] == ["warning", "warning"]
    assert "error" not in done.err
    before = output("user.c")
    for ending, flag in (("_omp", "-fopenmp"), ("_acc", "-fopenacc")):
        made = Path(f"out/user{ending}.c").read_bytes().decode()
        assert made.count(newline) == made.count("\n")
        assert made.count("annotune: as written: ") == 2
        assert region(SERIAL).strip().replace("\n", newline) in made
        assert output(f"out/user{ending}.c", flag) == before
    cuda = Path("out/user_cuda.c").read_text()
    assert "annotune_f_1(" in cuda
    assert "annotune_f_4(" in cuda
    assert "annotune_f_2(" not in cuda


def test_what_one_target_refuses_the_others_write() -> None:
    # A variable of the host.
    own = "static double scale = 2.0;\nstatic double twice(double x) { return scale * x; }\n"
    loops = "for (int i = 0; i < n; i++) a[i] += twice(b[i]);"
    called = region(loops).replace("(def", "(def assume { arg pure = ['twice']; } def")
    text = own + function(f"{region(GOOD)}\n{called}")
    Path("user.c").write_text(text)
    done = annotune("emit", "user.c", "-o", "out", "--json")
    assert done.code == 0, done.err
    codes = [(d["code"], d["severity"]) for d in done.json["diagnostics"]]
    assert ("AT623", "warning") in codes
    assert "stays as it is written in the file of cuda: " in done.err
    assert [sorted(one["plan"]) for one in done.json["regions"]] == [
        ["cuda", "openacc", "openmp"],
        ["openacc", "openmp"],
    ]
    assert "annotune: as written: " in Path("out/user_cuda.c").read_text()
    assert "annotune: as written: " not in Path("out/user_omp.c").read_text()
    # With nothing left of it there is no file, and without any file a refusal.
    Path("user.c").write_text(own + function(called))
    done = annotune("emit", "user.c", "-o", "other")
    assert done.code == 0, done.err
    assert sorted(p.name for p in Path("other").iterdir()) == ["user_acc.c", "user_omp.c"]
    done = annotune("emit", "user.c", "-o", "third", "--target", "cuda")
    assert done.code == 1
    assert not Path("third").exists()


def test_nothing_is_written_where_no_region_is_left() -> None:
    Path("user.c").write_text(MAIN % function("\n".join(map(region, (SERIAL, UNKNOWN)))))
    for command in ("emit", "run"):
        done = annotune(command, "user.c", "-o", "out")
        assert done.code == 1
        assert "[AT301]" in done.err or "[AT130]" in done.err
        assert "[AT623]" not in done.err
        assert not Path("out").exists()


def test_a_mistake_in_the_words_of_an_annotation_refuses_the_file() -> None:
    wrong = region(GOOD).replace("input_params", "input_parms")
    Path("user.c").write_text(function(f"{region(GOOD)}\n{wrong}"))
    assert annotune("emit", "user.c", "-o", "out").code == 1
    assert not Path("out").exists()


@pytest.mark.slow
def test_a_run_leaves_what_is_refused() -> None:
    Path("user.c").write_text(MAIN % function("\n".join(map(region, (SERIAL, GOOD)))))
    options = ("--target", "cuda", "--budget", "1", "--time", "20s", "-o", "out", "--json")
    done = annotune("run", "user.c", *options)
    assert done.code == 0, done.err
    assert [one["index"] for one in done.json["regions"]] == [2]
    assert any("stays as it is written" in words for words in done.json["warnings"])
    assert "annotune: as written: " in Path("out/user_cuda.c").read_text()
    assert json.loads(Path("out/results.json").read_text())["commands"]["cuda"]


@pytest.mark.slow
def test_a_region_without_a_right_variant_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    # A compiler that refuses the second region's kernels.
    wrapper = Path("g++").absolute()
    wrapper.write_text(
        '#!/bin/sh\nfor word in "$@"; do grep -qs f_2_s0 "$word" && exit 1; done\n'
        'exec /usr/bin/env g++ "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", str(wrapper))
    Path("user.c").write_text(MAIN % function("\n".join(map(region, (GOOD, GOOD)))))
    options = ("--target", "cuda", "--budget", "1", "--time", "20s", "-o", "out", "--json")
    done = annotune("run", "user.c", *options)
    assert done.code == 0, done.err
    text = Path("out/user_cuda.c").read_text()
    assert "annotune: as written: no variant passed its check" in text
    assert "f, region 2: as written" in text
    assert text.count(CLOSE) == 1
    assert "annotune_f_1(" in text
    assert any("stays as it is written" in words for words in done.json["warnings"])
