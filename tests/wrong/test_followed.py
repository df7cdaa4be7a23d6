"""Integers whose values follow from the iteration before, or that an ``if`` bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.laws import IS_THOROUGH

from annotune.analysis.facts import LoopKind
from annotune.pipeline import Settings, check
from wrong.called import PROGRAMS, Array, Call, Program

SOURCE = PROGRAMS / "followed.c"


def test_what_follows_does_what_the_c_does(tmp_path: Path) -> None:
    program, calls = Program(tmp_path, SOURCE), []
    for n in (-3, 0, 1, 2, 3, 5, 12, 15) if IS_THOROUGH else (0, 3, 12):
        arrays = Array("f8", 900), Array("f8", 900, seed=1)
        for name in ("norm", "backwards", "twice"):
            calls.append(Call(name, n, *arrays, returns="i4"))
        for w in (-1, 0, 1, 3, 20) if IS_THOROUGH else (0, 3):
            y, x = Array("f8", 90, offset=5), Array("f8", 900, seed=1, offset=40)
            for name in ("band", "ends"):
                calls.append(Call(name, n, w, y, x, returns="i4"))
    program.check(*calls)


def test_each_has_a_parallel_loop() -> None:
    for region in check(Settings(SOURCE)).regions:
        assert region.analysis is not None
        assert region.analysis.loops[0].kind is not LoopKind.SERIAL


# A start that is not between what iterations leave, two steps back, and choices that are neither
# the least nor the greatest.
NEAR = {
    "beyond": "int k; BEGIN k = 9; for (int i = 1; i <= n; i++) { for (int j = k; j < n; j++)"
    " y[i * n + j] = 1; k = i; }",
    "of another": "int k, l; BEGIN k = l = 1; for (int i = 1; i <= n; i++) {"
    " for (int j = k; j < n; j++) y[i * n + j] = 1; k = l; l = i; }",
    "where it holds": "int k; BEGIN k = 1; for (int i = 1; i <= n; i++) {"
    " for (int j = k; j < n; j++) y[i * n + j] = 1; if (x[i] > 3) k = i; }",
    "by another test": "int m; BEGIN for (int i = 1; i <= n; i++) { m = w; if (i < w - 2) m = i;"
    " for (int j = 0; j < m; j++) y[i * n + j] = 1; }",
    "by memory": "int m; BEGIN for (int i = 1; i <= n; i++) { m = w; if (x[i] > 3) m = i;"
    " for (int j = 0; j < m; j++) y[i * n + j] = 1; }",
}


@pytest.mark.parametrize("why", NEAR)
def test_what_does_not_follow_is_no_bound(why: str, tmp_path: Path) -> None:
    source = tmp_path / "near.c"
    begin = "/*@ begin PerfTuning ( def input_params { param n = 12; param w = 7; } ) @*/"
    source.write_text(
        "void f(int n, int w, double *restrict y, const double *restrict x)\n"
        f"{{ {NEAR[why].replace('BEGIN', begin)}\n/*@ end @*/ }}\n"
    )
    assert {d.code for d in check(Settings(source)).diagnostics} & {"AT203", "AT204"}
