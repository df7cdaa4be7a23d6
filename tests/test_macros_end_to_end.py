"""A benchmark full of macros with its types in a header: checked, written, compiled and run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.cli import annotune
from support.little import tune_little

HEADER = """\
#ifndef KERNEL_H
#define KERNEL_H
#ifdef SINGLE
typedef float real_t;
#else
typedef double real_t;
#endif
#define AT(p, i, j) p[(i)*WIDTH + (j)]
#define FOR(i, low, high) for (int i = (low); i < (high); i++)
#endif
"""
SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <kernel.h>
#ifndef WIDTH
#define WIDTH 37
#endif
#define STAR(p, i, j) (AT(p, i, j) + AT(p, (i) - 1, j) + AT(p, (i) + 1, j) \\
                     + AT(p, i, (j) - 1) + AT(p, i, (j) + 1))

void sweep(int rows, real_t *restrict out, const real_t *restrict in)
{
    /*@ begin PerfTuning ( def input_params { param rows = 29; } ) @*/
    FOR(i, 1, rows - 1) {
        FOR(j, 1, WIDTH - 1)
#ifdef SCALED
            AT(out, i, j) = SCALED * STAR(in, i, j);
#else
            AT(out, i, j) = STAR(in, i, j);
#endif
    }
    /*@ end @*/
}

int main(void)
{
    real_t *in = malloc(29 * WIDTH * sizeof *in), *out = calloc(29 * WIDTH, sizeof *out);
    double sum = 0;
    FOR(k, 0, 29 * WIDTH) in[k] = k % 11;
    sweep(29, out, in);
    FOR(k, 0, 29 * WIDTH) sum += out[k] * (k % 7);
    printf("%.6f\\n", sum);
    return 0;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "include/kernel.h").write_text(HEADER)
    path = tmp_path / "star.c"
    path.write_text(SOURCE)
    return path


def test_check_needs_the_header_and_says_so(source: Path) -> None:
    done = annotune("check", source)
    assert done.code == 1
    assert "star.c:3:1: note: 'kernel.h' was not read" in done.err
    found = annotune("check", source, "-I", source.parent / "include", "--json")
    assert found.code == 0, found.err
    (only,) = found.json["regions"]
    assert [loop["kind"] for loop in only["loops"]] == ["parallel", "parallel"]


@pytest.mark.alike(3)
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("defines", [(), ("-DWIDTH=23", "-DSCALED=0.25"), ("-DSINGLE",)])
def test_what_is_written_computes_the_same(source: Path, defines: tuple[str, ...]) -> None:
    flags = ["-I", str(source.parent / "include"), *defines]
    out = source.parent / "out"
    done = annotune("emit", source, "--target", "openmp,openacc", "-o", out, *flags)
    assert done.code == 0, done.err
    results = []
    for file, extra in ((source, []), (out / "star_omp.c", ["-fopenmp"]), (out / "star_acc.c", [])):
        program = source.parent / file.stem
        command = ["gcc", "-O1", *extra, *flags, str(file), "-o", str(program)]
        subprocess.run(command, check=True, timeout=600)
        results.append(subprocess.run([program], capture_output=True, timeout=600).stdout)
    assert results[0] == results[1] == results[2] != b""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_run_compiles_the_original_with_the_users_folders(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune_little(monkeypatch)
    flags = ["-I", source.parent / "include", "-DSCALED=2.0"]
    limits = ["--budget", "1", "--time", "5s", "--target", "openmp"]
    done = annotune("run", source, *flags, *limits, "-o", source.parent / "out", "--json")
    assert done.code == 0, done.err
    rows = {row["name"]: row for row in done.json["regions"][0]["rows"]}
    assert rows["openmp"]["verified"]
