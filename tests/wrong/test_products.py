"""Products: C's value where parts leave the range of their type, and C's zeros of complex ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from annotune.diagnostics import AnnotuneError
from wrong.called import Array, Call, Program

REALS = """
TYPE scalar(int n, TYPE p, const TYPE *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = TUNED; } ) @*/
    for (int i = 0; i < n; i++) p *= a[i];
    /*@ end @*/
    return p;
}
void rows(int n, int m, const TYPE *restrict a, TYPE *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 4; param m = TUNED; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) y[i] = y[i] * a[i*m + j];
    /*@ end @*/
}
void one(int n, int m, const TYPE *restrict a, TYPE *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 4; param m = TUNED; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (a[i*m + j] != 3) y[1] *= a[i*m + j];
    /*@ end @*/
}
"""


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("type_", "great", "tuned"), [("double", 2.0**400, 5000), ("float", 2.0**50, 100)]
)
def test_parts_beyond_the_range_of_the_type(
    type_: str, great: float, tuned: int, tmp_path: Path
) -> None:
    source, made = tmp_path / "p.c", tmp_path / "made"
    made.mkdir()
    source.write_text(REALS.replace("TYPE", type_).replace("TUNED", str(tuned)))
    program = Program(made, source)
    kind = "f8" if type_ == "double" else "f4"
    factors: tuple[tuple[float | str, ...], ...] = (
        (2.0,),
        (1 / great, great),
        (great, 1 / great),
        (0.5,),
        (1.0, "nan"),
        (0.0, "inf"),
    )
    calls: list[Call] = []
    starts: tuple[float | str, ...] = (0.0, "-0.0", 1.0, great, "inf")
    for n, values, begin in itertools.product((0, 1, 90, 1400), factors, starts):
        a = Array(kind, 4 * n, (values * 4 * n)[: 4 * n])
        start = (kind, float(begin))
        y = Array(kind, 4, (begin,) * 4)
        calls.append(Call("scalar", n, start, a, returns=kind))
        calls += (Call(name, 4, n, a, y) for name in ("rows", "one"))
    program.check(*calls)


COMPLEX = """
#include <complex.h>
void columns(int n, const TYPE complex *restrict a, const TYPE *restrict b,
             TYPE complex *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) y[i] = y[i] * a[j];
    /*@ end @*/
}
void rows(int n, const TYPE complex *restrict a, const TYPE *restrict b, TYPE complex *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++) y[i] *= b[i] * (j - 3);
    /*@ end @*/
}
"""


@pytest.mark.alike(2)
@pytest.mark.parametrize("type_", ["double", "float"])
def test_zeros_of_complex_products(type_: str, tmp_path: Path) -> None:
    source, made = tmp_path / "p.c", tmp_path / "made"
    made.mkdir()
    source.write_text(COMPLEX.replace("TYPE", type_))
    program = Program(made, source)
    kind = "f8" if type_ == "double" else "f4"
    parts = ((1.0, 1.0, -1.0, 0.0, "-0.0", 1.0), ("-0.0", 0.0), (1.0, "-0.0"), (-1.0, 0.0, 1.0))
    calls: list[Call] = []
    for n, values, begin in itertools.product((1, 3, 70), parts, parts):
        a = Array(kind, 2 * n, (values * n)[: 2 * n])
        b = Array(kind, n, (values * n)[:n])
        y = Array(kind, 2 * n + 4, (begin * (n + 2))[: 2 * n + 4])
        calls += (Call(name, n, a, b, y) for name in ("columns", "rows"))
    program.check(*calls)


ONE = """
#include <complex.h>
TYPE f(int n, TYPE s, const TYPE *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ASSUMED ) @*/
    for (int i = 0; i < n; i++) s *= a[i];
    /*@ end @*/
    return s;
}
"""


@pytest.mark.slow
def test_whoever_vouches_for_finite_numbers_has_all_orders(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(ONE.replace("TYPE", "double complex").replace("ASSUMED", ""))
    with pytest.raises(AnnotuneError, match="no loop of this region can run in parallel"):
        Program(tmp_path, source)
    for type_, assumed in (("double complex", True), ("double", True), ("double", False)):
        given = "def assume { arg finite = True; }" if assumed else ""
        source.write_text(ONE.replace("TYPE", type_).replace("ASSUMED", given))
        for suffix, emitted in Program(tmp_path, source).files.items():
            if suffix != "_cuda.c":
                assert "s_product" in emitted
                assert ("s_again" in emitted) != assumed, (type_, suffix)
