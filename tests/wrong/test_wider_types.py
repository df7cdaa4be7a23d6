"""Accumulations that C computes in a wider type are reductions, and have C's value bit by bit."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import LoopKind
from annotune.analysis.normal_form.normalised import normalised
from annotune.ir.expr import Cast, Expr, Real, Select, walk
from annotune.ir.region import Region
from wrong.called import Array, Call, Program
from wrong.test_nan_and_zero import SPECIAL, STARTS

F2C = Path(__file__).parent.parent / "legacy/f2c.h"
HEAD = """
#include <math.h>
#include "f2c.h"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define WIDE(a, b) ((double)MAX(a, b))
"""
FUNCTION = """
{type} f{number}(int n, {type} m, const {element} *restrict a)
{{
    int i; real r__1, r__2, r__3; doublereal d__1;
    /*@ begin PerfTuning ( def input_params {{ param n = 5000; }} ) @*/
    for (i = 0; i < n; i++) {{ {statement} }}
    /*@ end @*/
    return m;
}}
"""
# The statement of a loop over floats a, and whether C lets a library choose between zeros.
FORMS = {
    "r__2 = m, r__1 = a[i]; m = dmax(r__2, r__1);": False,
    "r__2 = m, r__1 = a[i]; m = dmin(r__1, r__2);": False,
    "r__2 = m, r__3 = (r__1 = a[i], dabs(r__1)); m = dmax(r__2, r__3);": False,
    "m = WIDE(m, a[i]);": False,
    "m = (float)WIDE(a[i], (double)m);": False,
    "m = fmax(m, a[i]);": True,
    "m = (float)fmin(fabs(a[i]), m);": True,
    "if ((double)a[i] > m) m = a[i];": False,
    "float t = a[i]; if (m >= (double)t && i != 3) m = t;": False,
    "double t = m, u = a[i]; m = u > t ? u : t;": False,
    "double u = a[i] > 1.5 ? a[i] : 1.5; m = u < m ? m : u;": False,
    "d__1 = m; m = a[i] >= d__1 ? a[i] : (double)m;": False,
}
# The same of other types, a start, and elements.
OTHERS = (
    ("int", "int", "long t = m; m = MAX(t, a[i]);"),
    ("int", "short", "if ((long)a[i] >= m) m = a[i];"),
    ("long", "int", "m = (long)MAX((long long)m, (long long)a[i]);"),
    ("double", "float", "m = WIDE(m, a[i]);"),
)
# What rounds in each iteration is no reduction.
SERIAL = (
    ("double", "float", "float t = m; m = MAX(t, a[i]);"),
    ("int", "float", "m = (float)m + a[i];"),
    ("float", "float", "m = WIDE(m + 1, a[i]);"),
)
KINDS = {"float": "f4", "double": "f8", "int": "i4", "long": "i8", "short": "i2"}


def every() -> list[tuple[str, str, str]]:
    return [*(("float", "float", form) for form in FORMS), *OTHERS]


def text_of(forms: list[tuple[str, str, str]]) -> str:
    found = (
        FUNCTION.format(type=type_, element=element, number=number, statement=statement)
        for number, (type_, element, statement) in enumerate(forms)
    )
    return HEAD + "".join(found)


@pytest.mark.parametrize("is_serial", [False, True])
def test_only_what_keeps_the_value_is_a_reduction(is_serial: bool) -> None:
    forms = [*SERIAL] if is_serial else every()
    wanted = LoopKind.SERIAL if is_serial else LoopKind.REDUCTION
    regions = text_source(text_of(forms)).regions
    for form, region in zip(forms, regions, strict=True):
        (loop,) = analyse(normalised(region)).loops
        assert loop.kind is wanted, (form, loop.proof)


@pytest.mark.parametrize("type_", ["double", "float"])
@pytest.mark.parametrize(
    "condition",
    [
        *("i - 1 <= 3", "i - 1 <= (short)3", "(unsigned)i - 1 <= 3", "i - 2 < 3u", "i - 1L != 3"),
        *("i < 4 && 2 - i <= 1", "(i - 1 > 1 ? i : n) == 2", "i == n - 1 || !(n - 3 > i)"),
    ],
)
def test_integers_beside_a_real_accumulator_are_compared_as_integers(
    condition: str, type_: str
) -> None:
    kept = f"m = {condition} ? m : a[i];"
    (region,) = text_source(text_of([(type_, type_, kept)])).regions
    (assign,) = normalised(region).nest.assigns()
    assert isinstance(assign.value, Select)
    assert assign.value.condition == written_condition(region)
    assert not any(isinstance(part, Real) for part in walk(assign.value.condition))


def written_condition(region: Region) -> Expr:
    (assign,) = region.nest.assigns()
    value = assign.value.operand if isinstance(assign.value, Cast) else assign.value
    assert isinstance(value, Select)
    return value.condition


def test_every_form_gives_c_s_value(tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    shutil.copy(F2C, tmp_path)
    source.write_text(text_of(every()))
    program = Program(made, source)
    calls = []
    for number, (type_, element, form) in enumerate(every()):
        kind = KINDS[type_]
        for k, (value, other) in enumerate(itertools.product(SPECIAL, ("nan", "-0.0", 0.0))):
            count = (1, 7, 200)[k % 3]
            values: list[float | str] = [(j % 5 - 2.0) * (-1) ** k for j in range(count)]
            start: float = float(STARTS[k % len(STARTS)])
            if "f" in kind and not FORMS.get(form):
                values[k % count], values[count // 2] = value, other
            elif "f" not in kind:
                start = k % 5 - 2
            else:
                start = start or 1.0
                values = [one or 1.0 for one in values]
            array = Array(KINDS[element], count, tuple(values))
            begin = start if "f" in kind else int(start)
            calls.append(Call(f"f{number}", count, (kind, begin), array, returns=kind))
    program.check(*calls)


ROWS = """
#include "f2c.h"
void rows(int m, int n, const real *restrict x, real *restrict r, double *restrict w)
{
    int i, j; real r__1, r__2; doublereal d__1;
    /*@ begin PerfTuning ( def input_params { param m = 60; param n = 70; } ) @*/
    for (i = 0; i < m; i++) {
        r[i] = -1.f;
        w[i] = 0.;
        for (j = 0; j < n; j++) {
            r__1 = r[i], r__2 = x[i * n + j];
            r[i] = dmax(r__1, r__2);
            d__1 = x[i * n + j];
            if (d__1 < w[i]) w[i] = d__1;
        }
    }
    /*@ end @*/
}
real all(int m, int n, const real *restrict x, real s)
{
    int i, j; real r__1, r__2, t;
    /*@ begin PerfTuning ( def input_params { param m = 60; param n = 70; } ) @*/
    for (j = 0; j < n; j++)
        for (i = 0; i < m; i++) {
            t = x[i * n + j] * 2.f;
            r__1 = t;
            s = dmax(s, r__1);
        }
    /*@ end @*/
    return s;
}
"""


def test_maxima_of_rows_and_of_all(tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    shutil.copy(F2C, tmp_path)
    source.write_text(ROWS)
    program = Program(made, source)
    calls: list[Call] = []
    for k, (m, n) in enumerate(((1, 1), (5, 67), (60, 70), (60, 0))):
        values: list[float | str] = [j % 13 - 6.5 for j in range(m * n)]
        for place in range(k, m * n, 37):
            values[place] = ("nan", "-0.0", "inf")[place % 3]
        x = Array("f4", m * n, tuple(values))
        calls.append(Call("rows", m, n, x, Array("f4", m), Array("f8", m)))
        calls.append(Call("all", m, n, x, ("f4", -3.5), returns="f4"))
    program.check(*calls)
