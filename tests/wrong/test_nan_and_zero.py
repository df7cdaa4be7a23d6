"""Maxima and minima of NaN, infinities and the two zeros: C's value, bit by bit."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.laws import IS_THOROUGH

from wrong.called import PROGRAMS, Array, Call, Program

# The statement of a loop over a, and whether C lets a library choose between zeros.
FORMS = {
    "if (a[i] > m) m = a[i];": False,
    "if (m <= a[i]) m = a[i];": False,
    "m = m > a[i] ? m : a[i];": False,
    "m = m >= a[i] ? m : a[i];": False,
    "m = m < a[i] ? a[i] : m;": False,
    "m = a[i] >= m ? a[i] : m;": False,
    "m = fmax(m, a[i]);": True,
    "m = fmin(a[i], m);": True,
    "if (a[i] < m) m = a[i];": False,
    "m = m < a[i] ? m : a[i];": False,
    "m = a[i] <= m ? a[i] : m;": False,
    "m = fabs(a[i]) >= m ? fabs(a[i]) : m;": False,
    "m = m > fabs(a[i]) ? m : fabs(a[i]);": False,
    "double t = a[i] * 2; if (t > m) m = t;": False,
    "if (a[i] < 3) { m = m > a[i] ? m : a[i]; }": False,
    "m = m > a[i] * .1 ? m : a[i] * .1;": False,
}
FUNCTION = """
{type} f{number}(int n, {type} m, const {type} *restrict a)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = {tuned}; }} ) @*/
    for (int i = 0; i < n; i++) {{ {statement} }}
    /*@ end @*/
    return m;
}}
"""
STARTS = ("nan", -9.0, 9.0, 0.0, -0.0, "inf", "-inf")
SPECIAL = ("nan", "-0.0", 0.0, "inf", "-inf")


def lists(sign: int) -> list[tuple[float | str, ...]]:
    """Return what the elements may be: few and many, special ones at every kind of place."""
    found: list[tuple[float | str, ...]] = [(), *((value,) for value in SPECIAL)]
    found += itertools.product(("nan", "-0.0", 0.0, -1.0 * sign), repeat=2)
    for count in (7, 130, 200):
        plain: list[float | str] = [-float(sign * (1 + k % 5)) for k in range(count)]
        for value, other in itertools.product(SPECIAL, ("-0.0", 0.0, "nan")):
            for place, second in ((0, count - 1), (count - 1, count // 2), (count // 2, 0)):
                made = list(plain)
                made[place], made[second] = value, other
                found.append(tuple(made))
        found += [tuple(plain), (*["nan"] * count,), (*["-0.0", 0.0] * (count // 2),)]
    return found


def in_floats(form: str) -> str:
    for double in ("fabs", "fmax", "fmin", ".1"):
        form = form.replace(double, f"{double}f")
    return form.replace("double", "float")


@pytest.mark.parametrize(
    ("type_", "tuned"), [("double", 5000), pytest.param("float", 100, marks=pytest.mark.slow)]
)
def test_every_form_gives_c_s_value(type_: str, tuned: int, tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    forms = dict([*FORMS.items()][:: 1 if IS_THOROUGH else 2])
    text = ["#include <math.h>\n"]
    for number, form in enumerate(forms):
        statement = form if type_ == "double" else in_floats(form)
        text.append(FUNCTION.format(type=type_, number=number, statement=statement, tuned=tuned))
    source.write_text("".join(text))
    program = Program(made, source)
    kind = "f8" if type_ == "double" else "f4"
    calls = []
    for number, (form, is_free) in enumerate(forms.items()):
        sign = -1 if "<" in form.split("?")[0].replace("<=", "<") and "m <" not in form else 1
        for k, values in enumerate(lists(sign)):
            start = STARTS[k % len(STARTS)] if k > 40 else STARTS[k % 3]
            if is_free:
                values = tuple("1" if v in (0.0, "-0.0") else v for v in values)
            array = Array(kind, len(values), values)
            begin = float(start)
            calls.append(Call(f"f{number}", len(values), (kind, begin), array, returns=kind))
    program.check(*calls)


ROWS = """
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void columns(int n, int m, const double *restrict a, double *restrict r)
{
    /*@ begin PerfTuning ( TUNED ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) r[j] = MAX(r[j], a[i*m + j]);
    /*@ end @*/
}
double all(int n, int m, const double *restrict a, double s)
{
    /*@ begin PerfTuning ( TUNED ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) if (a[i*m + j] >= s) s = a[i*m + j];
    /*@ end @*/
    return s;
}
double norm(int n, int m, const double *restrict a, double s)
{
    /*@ begin PerfTuning ( TUNED ) @*/
    for (int i = 0; i < n; i++) {
        double t = 0;
        for (int j = 0; j < m; j++) t += fabs(a[i*m + j]);
        s = MAX(s, t);
    }
    /*@ end @*/
    return s;
}
double overwritten(int n, int m, double *restrict a, double s)
{
    /*@ begin PerfTuning ( TUNED ) @*/
    for (int i = 0; i < n; i++) {
        s = MAX(s, a[i]);
        a[i] = 2*a[i];
    }
    /*@ end @*/
    return s;
}
double made(int n, int m, const double *restrict a, double *restrict b, double s)
{
    /*@ begin PerfTuning ( TUNED ) @*/
    for (int i = 0; i < n; i++) {
        double t = a[i]*3;
        b[i] = t - 1;
        if (a[i] < 4) { if (s <= b[i]) s = b[i]; }
    }
    /*@ end @*/
    return s;
}
""".replace("TUNED", "def input_params { param n = 100; param m = 50; }")


def test_wherever_the_loop_stands(tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    source.write_text(ROWS)
    program = Program(made, source)
    calls: list[Call] = []
    for k, (value, other) in enumerate(itertools.product(SPECIAL, ("nan", "-0.0", 0.0))):
        n, m = ((1, 1), (3, 70), (100, 50))[k % 3]
        plain: list[float | str] = [-1.0 - j % 3 for j in range(n * m)]
        for place in range(k % 4, n * m, 17):
            plain[place] = value if place % 2 else other
        a, start = Array("f8", n * m, tuple(plain)), float(STARTS[k % len(STARTS)])
        starts = Array("f8", m, tuple(STARTS[j % len(STARTS)] for j in range(m)))
        calls.append(Call("columns", n, m, a, starts))
        calls += (Call(name, n, m, a, start, returns="f8") for name in ("all", "norm"))
        calls.append(Call("overwritten", n, m, a, start, returns="f8"))
        calls.append(Call("made", n, m, a, Array("f8", n), start, returns="f8"))
    program.check(*calls)


def test_who_vouches_is_asked_nothing(tmp_path: Path) -> None:
    text = (PROGRAMS / "nan_rowmax.c").read_text()
    asked = "def assume { arg finite = True; }\n        def input_params"
    source = tmp_path / "vouched.c"
    source.write_text(text.replace("def input_params", asked))
    program = Program(tmp_path, source)
    assert all("again" not in made and "_nan" not in made for made in program.files.values())
    values = tuple(float(k % 7 - 9) for k in range(300))
    r = Array("f8", 10, tuple(-20.0 + 3 * k for k in range(10)))
    program.check(Call("f", 10, 30, Array("f8", 300, values), r))


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", ["max_nan_in.c", "nan_rowmax.c", "nan_start.c"])
def test_the_reproducers(name: str, tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / name)
    calls = []
    numbers = ("nan", 1, -2, "-0.0", "nan", 3.5)
    for n in (0, 1, 5, 100, 143):
        if name == "max_nan_in.c":
            calls.append(Call("max_nan_in", n, Array("f8", n), Array("f8", 4)))
        elif name == "nan_rowmax.c":
            a, r = Array("f8", 7 * n, (numbers * n)[: 7 * n]), Array("f8", n)
            calls += Call("f", n, 7, a, r), Call("f", n, 1, a, r)
        else:
            for q in (float("nan"), -1.5):
                a = Array("f8", n, numbers[: min(n, 6)])
                calls.append(Call("f", n, a, q, Array("f8", 1)))
    program.check(*calls)


# The types of m and of a's elements, and the statement.
MIXED = (
    ("float", "double", "m = m > a[i] ? m : a[i];"),
    ("float", "double", "m = a[i] * 1e-3 >= m ? a[i] * 1e-3 : m;"),
    ("double", "float", "if (a[i] > m) m = a[i];"),
    ("double", "long", "m = a[i] > m ? a[i] : m;"),
    ("unsigned", "int", "m = a[i] > m ? a[i] : m;"),
    ("unsigned", "unsigned", "if (m < a[i]) m = a[i];"),
    ("int", "int", "if (a[i] > m) m = a[i];"),
    ("int", "int", "m = m < a[i] ? m : a[i];"),
    ("long", "int", "if (a[i] <= m) m = a[i];"),
)
KINDS = {"float": "f4", "double": "f8", "int": "i4", "unsigned": "u4", "long": "i8"}
EDGES = {
    "f": ("nan", "-0.0", 0.0, 1e-60, -1e-60, 3e38, "inf", 0.1),
    "i": (-(2**31), 2**31 - 1, 0, -1),
    "u": (2**32 - 1, 0, 2**31),
}


@pytest.mark.slow
def test_values_of_two_types(tmp_path: Path) -> None:
    source, made = tmp_path / "s.c", tmp_path / "made"
    made.mkdir()
    text = ""
    for number, (own, element, statement) in enumerate(MIXED):
        one = FUNCTION.format(type=own, number=number, statement=statement, tuned=100)
        text += one.replace(f"const {own}", f"const {element}")
    source.write_text(text)
    program = Program(made, source)
    calls = []
    for number, (own, element, _) in enumerate(MIXED):
        kind, of = KINDS[own], KINDS[element]
        edges = [v for v in EDGES[of[0]] if of != "f4" or v not in (1e-60, -1e-60)]
        for n, start, place in itertools.product((1, 150), EDGES[kind[0]], range(len(edges))):
            values = [-abs(k % 7) if of[0] != "u" else k % 7 for k in range(n)]
            values[n // 2 :: 60] = edges[place : place + 1] * len(values[n // 2 :: 60])
            begin = float(start) if kind[0] == "f" else int(start)
            array = Array(of, n, tuple(values))
            calls.append(Call(f"f{number}", n, (kind, begin), array, returns=kind))
    program.check(*calls)


def test_a_second_maximum_of_one_variable_asks_for_nan_too(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "nan_twice.c")
    plain, special = Array("f8", 100), Array("f8", 100, (9.0, "nan", -3.0, -2.0))
    calls = itertools.product((plain, special), repeat=2)
    program.check(*(Call("nan_twice", 100, 4, -9.0, *one, returns="f8") for one in calls))


LIMITED = """
#include <math.h>
#define a 3
#define b 5
void f(int n, double *restrict x, const double *restrict y, float *restrict c,
       const float *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param n = 49; } ) @*/
    for (int i = 0; i < n; i++) {
        x[i] = fmax(fmin(x[i], y[i]), 2.0 * fmin(y[i], 1.0));
        c[i] = fminf(fmaxf(c[i], d[i]), 7);
    }
    /*@ end @*/
}
"""


def test_each_pair_of_numbers_has_c_s_lesser_and_greater(tmp_path: Path) -> None:
    """OpenMP has functions of its own for it, whatever macros there are."""
    source = tmp_path / "limited.c"
    source.write_text(LIMITED)
    # Of two zeros a compiler may take either, as C lets it.
    values = ("nan", 0.0, "inf", "-inf", 1.0, -1.0, "-nan")
    one, other = zip(*itertools.product(values, repeat=2), strict=True)
    arrays = [Array(kind, 49, held) for kind in ("f8", "f4") for held in (one, other)]
    program = Program(tmp_path, source)
    assert "annotune_f_1_fmaxf(float annotune_a, float annotune_b)" in program.files["_omp.c"]
    program.check(Call("f", 49, *arrays))
