"""Texts ask nothing that has been decided, and only behind what decides it.

What they compute is run by `tests/legacy` (daxpys), at strides of both signs and of 0.
"""

from __future__ import annotations

import pytest
from codegen.emitted import analysed_text, variants

from annotune.codegen.target import DEFAULT_TARGETS, load_target

STRIDED = """
void axpy(int n, double a, const double *restrict x, int incx, double *restrict y, int incy)
{
    int i, ix, iy;
    /*@ begin PerfTuning ( def input_params { param n = 999; param incx = 2; param incy = 1; } ) @*/
    ix = 1;
    iy = 1;
    if (incx < 0) ix = (-n + 1) * incx + 1;
    if (incy < 0) iy = (-n + 1) * incy + 1;
    for (i = 1; i <= n; i++) {
        y[iy] += a * x[ix];
        ix += incx;
        iy += incy;
    }
    /*@ end @*/
}
"""
PLAIN = "y[1 + (i - 1) * incy] += a * x[1 + (i - 1) * incx];"
ASKING = "const int y_index = incy < 0 ? (1 - n) * incy + 1 : 1;"


def text(target_name: str, source: str, resident: bool = False) -> str:
    target = load_target(target_name)
    code = target.region(variants(target, analysed_text(source), 1)[0], resident)
    return "\n".join([code.helper, code.body, code.device])


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("target", [*DEFAULT_TARGETS, "openmp_target"])
def test_kernels_do_not_ask_what_is_tested(target: str, resident: bool) -> None:
    found = text(target, STRIDED, resident)
    lines = found.split("\n")
    assert any(PLAIN in line for line in lines)
    # The nest as written is for other strides.
    original = [line for line in lines if ASKING in line]
    assert len(original) == 1
    asking = [line for line in lines if "incy < 0" in line and ASKING not in line]
    # So are the clauses that find its arrays.
    assert (asking == []) or resident


STEPPED = """
void add(int n, int s, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 999; param s = 1; }
        def assume { arg strides = True; } ) @*/
    for (int i = 1; s < 0 ? i >= n : i <= n; i += s)
        y[i] += x[i];
    /*@ end @*/
}
"""


def test_nothing_divides_by_0_before_it_is_tested() -> None:
    found = text("cuda", STEPPED)
    lines = [line for line in found.split("\n") if "/ s" in line]
    assert "fits = fits && s != 0;" in found
    # How many elements there are is computed before.
    assert [line for line in lines if "return" in line and "s != 0 ?" not in line] == []


JOINED = """
void scale(int n, int m, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 99; param m = 9; } ) @*/
    for (int i = 0; i < n + 1 - 1; i++)
        for (int j = 1; j < m; j++)
            if (!(x[i] == 0.))
                y[i * (m + 2 - 0 - 1) + j - 1 + 1] = x[i - 0 * m] + y[i * (m + 1) + j];
    /*@ end @*/
}
"""


@pytest.mark.parametrize("target", DEFAULT_TARGETS)
def test_sums_are_said_once(target: str) -> None:
    found = text(target, JOINED)
    assert "y[i * (m + 1) + j] = x[i] + y[i * (m + 1) + j];" in found
    assert "x[i] != 0." in found
    assert "- 0" not in found


CLAMPED = """
void clamp(int n, int m, double *restrict y, const double *restrict x, const double *restrict t)
{
    /*@ begin PerfTuning ( def input_params { param n = 99; param m = 9; } ) @*/
    for (int i = 0; i < n; i++) {
        int k = (int)t[i];
        k = k >= 1 ? k : 1;
        k = k <= m - 1 ? k : m - 1;
        y[i] = x[k - 1] + x[k] * (x[i * m + k] - t[i] >= 0 ? x[i * m + k] - t[i] : t[i]);
    }
    /*@ end @*/
}
"""


@pytest.mark.parametrize("target", DEFAULT_TARGETS)
def test_what_is_asked_and_chosen_has_a_name(target: str) -> None:
    lines = [line.strip() for line in text(target, CLAMPED).split("\n")]
    assert "y[i] = x[x_index - 1] + x[x_index] * (y_term >= 0 ? y_term : t[i]);" in lines
    assert "const double y_term = x[i * m + x_index] - t[i];" in lines
    assert "const int x_index_term = (int)(t[i]) > 1 ? (int)(t[i]) : 1;" in lines
    assert "const int x_index = x_index_term < m - 1 ? x_index_term : m - 1;" in lines


ROWS = """
void rows(int n, int m, int k, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 999; param m = 99; param k = 9; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            if (i != k && j != k)
                y[i * m + j] += y[i * m + j - 1];
    /*@ end @*/
}
"""


@pytest.mark.parametrize("target", DEFAULT_TARGETS)
def test_what_a_loop_does_not_change_is_asked_before_it(target: str) -> None:
    lines = [line.strip() for line in text(target, ROWS).split("\n")]
    heads = [n for n, line in enumerate(lines) if line.startswith("for (int j = 1;")]
    assert len(heads) > 1
    for head in heads:
        before = next(line for line in lines[head - 1 :: -1] if not line.startswith("#"))
        assert (before, lines[head + 1]) == ("if (i != k) {", "if (j != k) {")


APART = """
void both(int n, double *y, float *z, const double *x, double (*w)[3])
{
    /*@ begin PerfTuning ( def input_params { param n = 999; } ) @*/
    for (int i = 1; i <= n; i++) {
        y[i] = x[i] + w[i][1];
        z[i] = x[i];
    }
    /*@ end @*/
}
"""


def test_only_pointers_of_two_types_are_compared_as_bytes() -> None:
    found = text("openmp", APART)
    assert "if (n >= 1 && " in found.replace("\n            && ", " && ")
    assert "(y + (n + 1) <= x + 1 || x + (n + 1) <= y + 1)" in found
    assert "(const char *)(y + (n + 1)) <= (const char *)(z + 1)" in found
    assert "(const char *)(y + (n + 1)) <= (const char *)((const double *)w + 4)" in found
