"""A new user's first minutes: a C program of one's own, annotated, tuned, linked, and run again."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """\
/* c += a b for square matrices, in rows. */
void mm(int n, double *restrict c, const double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] += sum;
        }
}
"""

# Integers in doubles: their sums are exact in any order.
PROGRAM = """\
#include <stdio.h>
#define N 200
static double a[N * N], b[N * N], c[N * N];
void mm(int n, double *restrict c, const double *restrict a, const double *restrict b);

int main(void)
{
    double sum = 0.0;
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 7;
        b[i] = i % 11;
        c[i] = i % 3;
    }
    mm(N, c, a, b);
    mm(N - 1, c, b, a);
    for (int i = 0; i < N * N; i++)
        sum += c[i] * (i % 5);
    printf("%.17g\\n", sum);
    return 0;
}
"""


def ran(folder: Path, *words: str) -> str:
    """Return what a command prints in a folder, as somebody who has just come here gives it."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="it takes gcc")
def test_from_an_unannotated_file_to_a_program_that_computes_the_same(tmp_path: Path) -> None:
    (tmp_path / "mm.c").write_text(KERNEL)
    (tmp_path / "main.c").write_text(PROGRAM)
    ran(tmp_path, "gcc", "-O2", "main.c", "mm.c", "-o", "original")
    expected = ran(tmp_path, "./original")

    annotune = (sys.executable, "-m", "annotune")
    said = ran(tmp_path, *annotune, "init", "mm.c", "--yes", "--size", "n=200")
    (next_command,) = re.findall(r"next: annotune (.*)", said)
    words = (*shlex.split(next_command), "--target", "openmp", "--time", "10s", "--budget", "4")
    said = ran(tmp_path, *annotune, *words)
    (link,) = re.findall(r"; link: (.*)", said)
    assert "mm_omp.c" in link
    ran(tmp_path, *shlex.split(link), "-o", "tuned")
    assert ran(tmp_path, "./tuned") == expected
    # The original compiles and runs as before: what was put into it are comments.
    ran(tmp_path, "gcc", "-O2", "main.c", "mm.c", "-o", "original")
    assert ran(tmp_path, "./original") == expected
