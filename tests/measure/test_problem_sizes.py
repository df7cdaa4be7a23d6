"""The other problem sizes of an annotation: which a call decides, and that they are checked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.regions import analysis_of

from annotune.measure.sizes import other_sizes

TEXT = """\
#define W 4
void f(int n, int m, double *restrict y, const double *restrict x, const int *restrict p)
{{
    int k = 2 * n;
    /*@ begin PerfTuning (def input_params {{ {params} }}) @*/
    for (int i = 0; i < k; i++)
        for (int j = 0; j < m; j++)
            for (int w = 0; w < W; w++)
                y[i] += p[j] * x[i + j + w];
    /*@ end @*/
}}
"""


def sizes(params: str) -> tuple[dict[str, int], ...]:
    return other_sizes(analysis_of(TEXT.format(params=params)))


def test_every_combination_but_the_first_is_checked() -> None:
    assert sizes("param n[] = [8,16]; param m[] = [3,5];") == (
        {"n": 8, "m": 5},
        {"n": 16, "m": 3},
        {"n": 16, "m": 5},
    )
    assert sizes("param n = 8; param m = 3;") == ()


def test_what_c_fixes_and_what_takes_too_long_is_left_out() -> None:
    assert sizes("param n = 8; param m[] = [3,9,90000000]; param W[] = [4,5];") == (
        {"n": 8, "m": 9},
    )


@pytest.mark.slow
def test_a_run_says_where_else_its_winners_are_right(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(TEXT.format(params="param n[] = [8,16]; param m = 3;"))
    command = [sys.executable, "-m", "annotune", "run", str(source), "-o", str(tmp_path / "out")]
    done = subprocess.run(
        [*command, "--target", "openmp,cuda", "--budget", "1", "--time", "6s"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (region,) = json.loads((tmp_path / "out" / "results.json").read_text())["regions"]
    assert region["sizes_checked"] == [{"n": 16, "m": 3}]
    assert "also checked at n=16, m=3" in done.stdout
