"""Loops of which nvcc is told to write out no iterations: rests of others, and recurrences."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.executed import emitted

from annotune.strategies.registry import DIRECT

TEXT = """\
void f(int nj, int nk, int ni, double *c, const double *a, const double *b)
{{
    int i, j, k;
    /*@ begin PerfTuning (
        def input_params {{ param nj = {nj}; param nk = {nk}; param ni = {ni}; }}
    ) @*/
    for (j = 1; j <= nj; j++)
        for (k = 1; k <= nk; k++)
            for (i = 1; i <= ni; i++)
                c[k] += a[j + (i + k * ni) * nj] * b[j + i * nj];
    /*@ end @*/
}}
"""


@pytest.mark.parametrize(
    ("text", "is_team"),
    [
        pytest.param(TEXT.format(nj=3, nk=6, ni=3), False, id="each thread a sum"),
        pytest.param(TEXT.format(nj=60, nk=2, ni=3), True, id="a block's threads one sum"),
    ],
)
def test_what_unrolling_leaves_stays_a_loop(text: str, is_team: bool, tmp_path: Path) -> None:
    made = emitted(tmp_path, text).files[".cu"]
    assert ("annotune_combined<" in made) == is_team
    lines = [line.strip() for line in made.splitlines()]
    rests = [n for n, line in enumerate(lines) if line.startswith("for (int i = ni - ni % 3 + 1;")]
    assert rests
    assert all(lines[n - 1] == "#pragma unroll 1" for n in rests)
    assert lines.count("#pragma unroll 1") == len(rests)


RECURRENCE = """\
void f(int n, int m, double *restrict x, const double *restrict a)
{{
    /*@ begin PerfTuning (def input_params {{ param n = {n}; param m = {m}; }}) @*/
    for (int j = 0; j < n; j++)
        for (int k = {first}; k < m; k++)
            {statement}
    /*@ end @*/
}}
"""
# Each iteration reads what the one before it has written; and one element that all read.
CARRIED = "x[j * m + k] = x[j * m + k - 1] * a[k];"
SHARED = "x[j * m + k] *= x[j * m + j] + k;"


@pytest.mark.parametrize(
    "text",
    [
        RECURRENCE.format(n=300, m=60, first="1", statement=CARRIED),
        RECURRENCE.format(n=12, m=12, first="j + 1", statement=SHARED),
    ],
    ids=["one thread", "the threads of a block"],
)
def test_a_loop_that_reads_an_array_that_it_writes_is_not_unrolled(
    text: str, tmp_path: Path
) -> None:
    lines = [line.strip() for line in emitted(tmp_path, text).files[".cu"].splitlines()]
    start = next(n for n, line in enumerate(lines) if "__global__" in line)
    kernels = lines[start : next(n for n, line in enumerate(lines) if "f_1_original(" in line)]
    loops = [n for n, line in enumerate(kernels) if line.startswith("for (int k")]
    assert loops
    assert all(kernels[n - 1] == "#pragma unroll 1" for n in loops)
    assert kernels.count("#pragma unroll 1") == len(loops)


def test_a_loop_that_reads_only_what_it_writes_is_left_to_nvcc(tmp_path: Path) -> None:
    text = RECURRENCE.format(n=12, m=12, first="j + 1", statement="x[j * m + k] *= a[k];")
    assert "#pragma unroll" not in emitted(tmp_path, text).files[".cu"]


OWN = """\
void f(int n, double *restrict y, const double *restrict x)
{{
    /*@ begin PerfTuning (def input_params {{ param n = 4096; }}) @*/
    for (int e = 0; e < n; e++) {{
        double t[{m}][{m}];
        for (int i = 0; i < {m}; i++)
            for (int j = 0; j < {m}; j++)
                t[i][j] = x[e * {m} * {m} + j * {m} + i] * 2.0;
        for (int i = 0; i < {m}; i++)
            for (int j = 0; j < {m}; j++)
                y[e * {m} * {m} + i * {m} + j] = t[i][j] + t[j][i];
    }}
    /*@ end @*/
}}
"""


@pytest.mark.parametrize(("m", "are_rolled"), [(3, False), (8, False), (9, True)])
def test_loops_around_an_array_that_registers_do_not_hold_stay_loops(
    m: int, are_rolled: bool, tmp_path: Path
) -> None:
    made = emitted(tmp_path, OWN.format(m=m), strategy=DIRECT).files[".cu"]
    lines = [line.strip() for line in made.splitlines()]
    start = next(n for n, line in enumerate(lines) if "__global__" in line)
    kernels = lines[start : next(n for n, line in enumerate(lines) if "f_1_original(" in line)]
    loops = [n for n, line in enumerate(kernels) if line.startswith("for (int i = 0;")]
    assert loops
    assert all((kernels[n - 1] == "#pragma unroll 1") == are_rolled for n in loops)
    assert kernels.count("#pragma unroll 1") == are_rolled * len(loops)


def test_the_line_stands_between_a_test_and_its_loop(tmp_path: Path) -> None:
    # The last iteration copies the array to the user's, which is read behind the region.
    declared = "        double t[9][9];\n"
    text = OWN.format(m=9).replace(declared, "").replace("{\n", "{\n    double t[9][9];\n", 1)
    text = text.replace("/*@ end @*/", "/*@ end @*/\n    y[0] += t[0][0];")
    made = emitted(tmp_path, text, strategy=DIRECT).files[".cu"]
    lines = [line.strip() for line in made.splitlines()]
    rolled = [n for n, line in enumerate(lines) if line == "#pragma unroll 1"]
    assert "if (e == n - 1) {" in {lines[n - 1] for n in rolled}
    assert all(lines[n + 1].startswith("for (") for n in rolled)
