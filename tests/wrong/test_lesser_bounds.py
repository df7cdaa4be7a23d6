"""Bounds that a branch limits: the smaller or the larger of two."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.pipeline import Settings, check
from wrong.called import PROGRAMS, Array, Call, Program

PROGRAM = PROGRAMS / "lesser_bounds.c"
SIZES = (-1, 0, 1, 2, 3, 7, 30, 40)


def reals(count: int, seed: int = 0) -> Array:
    return Array("f8", count, seed=seed)


CALLS: dict[str, tuple[Call, ...]] = {
    "back": tuple(
        Call("back", n, k, ld, reals(60), reals(60, 1), reals(60 * 60, 2))
        for n in SIZES
        for k in (0, 1, 2, 4, 9)
        for ld in (max(n, 1), 50)
    ),
    "window": tuple(
        Call("window", n, w, reals(60), reals(60, 1)) for n in SIZES for w in (-1, 0, 1, 3, 50)
    ),
    "types": tuple(
        Call("types", n, ("u4", u), ("i2", s), reals(60), reals(60, 1))
        for n in SIZES
        for u in (0, 7, 2**32 - 1)
        for s in (-3, 0, 5)
    ),
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("function", CALLS)
def test_every_target_goes_as_far(function: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAM, function=function).check(*CALLS[function])


LOOP = """
void f(int n, int m, double *restrict y, const double *restrict x)
{{
    int high = 0, i, k;
    /*@ begin PerfTuning ( def input_params {{ param n = 30; param m = 9; }} ) @*/
    for (i = 0; i < n; i++) {{
        {}
    }}
    /*@ end @*/
}}
"""
SUM = "for (k = i; k < high; k++) y[i] += x[k];"
REFUSED = {
    "one off": "high = i + 3; if (high > n - 2) high = n;" + SUM,
    "that of the iteration before": SUM + "high = i + 1; if (high > m) high = m;",
    "of what is read": "high = i + 1; if (x[i] > 2.0) high = m;" + SUM,
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_choices_are_no_bounds(name: str, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(LOOP.format(REFUSED[name]))
    assert {d.code for d in check(Settings(source)).diagnostics} == {"AT204"}
