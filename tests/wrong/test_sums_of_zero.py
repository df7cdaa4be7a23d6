"""Sums of 0.0 and -0.0: C's bits, whatever began and whoever added."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from wrong.called import Array, Call, Program

# What a statement does with t, an element, and what it adds to.
SCALAR = (
    "s += t;",
    "s -= t;",
    "s = s + t;",
    "s = t * 2 + s;",
    "s = s - t * b[i];",
    "if (b[i] < 2) s += t;",
)
ONE = """
TYPE fNUMBER(int n, TYPE s, TYPE *restrict a, const REAL *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = TUNED; } ) @*/
    for (int i = 0; i < n; i++) { STATEMENT }
    /*@ end @*/
    return s;
}
"""
SIZES = (0, 1, 7, 700)
ZEROS = ((0.0,), ("-0.0",), ("-0.0", "-0.0", 0.0), (0.0, "-0.0", "-0.0"), ("-0.0", -1.0, 1.0))


def programs(type_: str, tuned: int, behind: str) -> str:
    real = type_.split()[0]
    text = "#include <complex.h>\n#include <math.h>\n"
    for number, statement in enumerate(SCALAR):
        one = ONE.replace("NUMBER", str(number)).replace("TYPE", type_).replace("REAL", real)
        one = one.replace("STATEMENT", f"{statement.replace('t', 'a[i]')} {behind}")
        text += one.replace("TUNED", str(tuned))
    return text


@pytest.mark.alike(8)
@pytest.mark.parametrize(
    ("type_", "tuned", "behind"),
    [
        ("double", 5000, ""),
        ("float", 100, ""),
        # Behind such a loop nobody can add its terms once more.
        ("float", 100, "a[i] = 3;"),
        ("double", 5000, "a[i] += b[i];"),
    ],
)
def test_a_scalar(type_: str, tuned: int, behind: str, tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    source.write_text(programs(type_, tuned, behind))
    program = Program(made, source)
    kind = "f8" if type_ == "double" else "f4"
    calls = []
    for number, n, zeros, begin in itertools.product(range(len(SCALAR)), SIZES, ZEROS, (0.0, -0.0)):
        a = Array(kind, n, (zeros * n)[:n])
        b = Array(kind, n, tuple(1.0 + k % 2 for k in range(n)))
        calls.append(Call(f"f{number}", n, (kind, begin), a, b, returns=kind))
    negative = [
        c for c, one in zip(calls, program.results(*calls), strict=True) if is_minus(one[-1])
    ]
    # Of each form some, and of each size.
    assert {c.function for c in negative} == {f"f{k}" for k in range(len(SCALAR))}
    assert {c.arguments[0] for c in negative} == set(SIZES)
    program.check(*calls)


def is_minus(hexed: str) -> bool:
    """Return whether a number is -0.0, given as the hexadecimal digits of its bytes."""
    return hexed.endswith("80") and not int(hexed[:-2], 16)


PLACES = """
#include <complex.h>
void rows(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) y[i] += a[i*m + j] * x[j];
    /*@ end @*/
}
void columns(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) y[j] -= a[i*m + j] * x[i];
    /*@ end @*/
}
void scaled(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++) {
        y[i] = -1*y[i];
        for (int j = 0; j < m; j++) y[i] += a[i*m + j] * x[j];
    }
    /*@ end @*/
}
void product(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < m; j++) y[3*i + k] += a[i*m + j] * x[3*j + k];
    /*@ end @*/
}
void one(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) y[1] += a[i*m + j];
    /*@ end @*/
}
void two(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    double s = y[0], t = y[1];
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n*m; i++) {
        double p = 2*a[i];
        s += p;
        t -= p;
    }
    /*@ end @*/
    y[0] = s; y[1] = t;
}
void less(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 4; j++) y[3*i + k] -= a[i*m] * (j - 1.5);
    /*@ end @*/
}
void begun(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++) {
        double s = 0, t = -0.0;
        for (int j = 0; j < m; j++) { s += a[i*m + j] * x[j]; t += a[i*m + j]; }
        y[i] = s; y[n + i] = t;
    }
    /*@ end @*/
}
void none(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
    double s = y[0], t = y[2];
    /*@ begin PerfTuning ( SIZES ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            if (x[i] < 0) s += i + j + 1;
            for (int k = 0; k < i - 70; k++) t += k + 1;
        }
    /*@ end @*/
    y[0] = s; y[2] = t;
}
""".replace("SIZES", "def input_params { param n = 60; param m = 50; }")
FUNCTIONS = ("rows", "columns", "scaled", "product", "one", "two", "less", "begun", "none")


def test_wherever_the_sum_stands(tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    source.write_text(PLACES)
    program = Program(made, source)
    calls = []
    for (n, m), zeros, function in itertools.product(
        ((1, 1), (5, 130), (60, 50)), ZEROS, FUNCTIONS
    ):
        a = Array("f8", n * m, (zeros * n * m)[: n * m])
        x = Array("f8", 3 * (n + m), tuple(1.0 + k % 2 for k in range(3 * (n + m))))
        size = 3 * (n + m)
        y = Array("f8", size, tuple(("-0.0", 0.0, "-0.0", 1.0)[k % 4] for k in range(size)))
        calls.append(Call(function, n, m, a, x, y))
    program.check(*calls)


COMPLEX = """
#include <complex.h>
void scalar(int n, const TYPE complex *restrict a, const TYPE *restrict b, TYPE complex *restrict y)
{
    TYPE complex s = y[0], t = y[1], u = y[2];
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) { s += a[i]; t -= a[i]; u += b[i]; }
    /*@ end @*/
    y[0] = s; y[1] = t; y[2] = u;
}
void rows(int n, const TYPE complex *restrict a, const TYPE *restrict b, TYPE complex *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 40; j++) y[i] += a[40*i + j];
    /*@ end @*/
}
void less(int n, const TYPE complex *restrict a, const TYPE *restrict b, TYPE complex *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++) y[i] -= a[i + j];
        for (int j = 0; j < 4; j++) y[i] -= b[i] * (j - 1.5f);
    }
    /*@ end @*/
}
"""
NAMES = ("scalar", "rows", "less")


@pytest.mark.slow
def test_complex_numbers(tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    both = COMPLEX.replace("TYPE", "float")
    for name in NAMES:
        both = both.replace(f"void {name}(", f"void {name}f(")
    source.write_text(COMPLEX.replace("TYPE", "double") + both)
    program = Program(made, source)
    calls = []
    parts = ((0.0, "-0.0"), ("-0.0",), ("-0.0", 0.0), ("-0.0", "-0.0", "-0.0", 0.0), (0.0,))
    for (kind, suffix), n, zeros, begin in itertools.product(
        (("f8", ""), ("f4", "f")), (1, 7, 100), parts, parts
    ):
        size = 2 * n * 40
        a = Array(kind, size, (zeros * size)[:size])
        b, y = (
            Array(kind, n, (zeros * n)[:n]),
            Array(kind, 2 * n + 6, (begin * (n + 3) * 2)[: 2 * n + 6]),
        )
        calls += (Call(f"{name}{suffix}", n, a, b, y) for name in NAMES)
    program.check(*calls)


@pytest.mark.slow
def test_nothing_is_asked_where_no_sign_can_be_lost(tmp_path: Path) -> None:
    source = tmp_path / "s.c"
    for statement, assumed, is_asked in (
        ("s += a[i];", "", True),
        ("s += a[i] * a[i];", "", False),
        ("s -= a[i] * a[i];", "", True),
        ("s += fabs(a[i]);", "", False),
        ("s += a[i];", "def assume { arg finite = True; }", False),
    ):
        text = ONE.replace("NUMBER", "0").replace("TYPE", "double").replace("REAL", "double")
        text = text.replace("STATEMENT", statement).replace("TUNED", "100")
        source.write_text("#include <math.h>\n" + text.replace("def input", f"{assumed} def input"))
        for suffix, emitted in Program(tmp_path, source).files.items():
            clauses = suffix in ("_acc.c", "_omp.c")
            assert ("s_again" in emitted) == (is_asked and clauses), (statement, suffix)
