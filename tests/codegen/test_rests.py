"""The iterations that an unrolled loop leaves: nvcc is told to write none of them out."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.executed import emitted

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
