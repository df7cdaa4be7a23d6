"""The types of values: conversions, casts, calls, complex numbers and chained assignments."""

from __future__ import annotations

import pytest
from source_text import CLOSE, OPEN, load_region, load_text

from annotune.ir.region import Region
from annotune.ir.text import print_nest

LOOP = "for (i = 0; i < n; i++)"

STATEMENTS = {
    "a[i] = (double) i;": "a[i] = (double)(i)",
    "a[i] = (float) b[i] * 2;": "a[i] = (float)(b[i]) * 2",
    "a[i] = (int) b[i];": "a[i] = (int)(b[i])",
    "a[i] = (long) i * n;": "a[i] = (long)(i) * n",
    "a[i] = (double) 3 + (float) 2;": "a[i] = 3.0 + 2.0f",
    "a[(int) b[i]] = 0;": "a[(int)(b[i])] = 0",
    "a[i] = i > 2;": "a[i] = i > 2",
    "a[i] = !n + !x;": "a[i] = (n == 0) + (x == 0)",
    "a[i] = n && x;": "a[i] = n != 0 && x != 0",
    "a[i] = i > 2 ? x : s;": "a[i] = i > 2 ? x : s",
    "a[i] = x > y ? i < 2 ? 1 : 2 : 3;": "a[i] = x > y ? i < 2 ? 1 : 2 : 3",
    "a[i > 0 ? i - 1 : 0] = 0;": "a[i > 0 ? i - 1 : 0] = 0",
    "a[i < n ? i : n] = 0;": "a[min(i, n)] = 0",
    "a[i] = sqrt(b[i]);": "a[i] = sqrt(b[i])",
    "a[i] = sqrt(i);": "a[i] = sqrt((double)(i))",
    "a[i] = sqrt(y) + sqrtf(x);": "a[i] = sqrt((double)(y)) + sqrtf((float)(x))",
    "a[i] = abs(x) + abs(i);": "a[i] = abs((int)(x)) + abs(i)",
    "a[i] = pow(x, 2);": "a[i] = pow(x, 2.0)",
    "a[i] = fmax(fabs(x), b[i]);": "a[i] = fmax(fabs(x), b[i])",
    "p[i] += 2;": "p[i] += 2",
    "p[i] += x;": "p[i] = (int)(p[i] + x)",
    "p[i] = x;": "p[i] = (int)(x)",
    "p[i] %= 3;": "p[i] = p[i] % 3",
    "p[i] <<= 3;": "p[i] = p[i] * 8",
    "p[i] >>= 1;": "p[i] = p[i] >= 0 ? p[i] / 2 : -((1 - p[i]) / 2)",
    "a[i >> 1] = 0;": "a[i / 2] = 0",
    "s++;": "s += 1",
    "a[i] = 1.5f * y;": "a[i] = 1.5f * y",
    "a[i] = x < 0x10 ? 07 : 1e3;": "a[i] = x < 16 ? 7 : 1e3",
    "if (i - 3 < 2u) s = 1;": "s = 1 if (unsigned int)(i - 3) < 2",
    "if (i < 2u) s = 1;": "s = 1 if i < 2",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement: str) -> None:
    nest = print_nest(load_region(f"{LOOP} {statement}").nest)
    assert nest == f"for i in 0:n\n  S0: {STATEMENTS[statement]}\n"


CHAINS = {
    "a[i] = b[i] = 0;": ["b[i] = 0", "a[i] = 0"],
    "a[i] = b[i] = x;": ["b[i] = x", "a[i] = b[i]"],
    "a[i] = p[i] = 1.5;": ["p[i] = (int)(1.5)", "a[i] = p[i]"],
    "a[i] += s = b[i];": ["s = b[i]", "a[i] += s"],
    "a[i] = b[i] += 2;": ["b[i] += 2", "a[i] = b[i]"],
    "k = off = i; a[k] = off;": ["a[i] = i"],
}


@pytest.mark.parametrize("chain", CHAINS)
def test_chained_assignments(chain: str) -> None:
    nest = load_region(f"{LOOP} {{ {chain} }}").nest
    lines = [line.split(": ")[1] for line in print_nest(nest).splitlines()[1:]]
    assert lines == CHAINS[chain]


def complex_region(body: str) -> Region:
    text = (
        "#include <complex.h>\n"
        f"void f(int n, double complex *z, float complex *w, double *a) {{\n{OPEN}\n"
        f"for (int i = 0; i < n; i++) {body}\n{CLOSE}\n}}\n"
    )
    (found,) = load_text(text).regions
    return found


COMPLEX = {
    "z[i] = z[i] * (2.0 + 3.0 * I);": "z[i] = z[i] * (2.0 + 3.0 * I)",
    "a[i] = creal(z[i]) + cimag(w[i]);": "a[i] = creal(z[i]) + cimag((double complex)(w[i]))",
    "a[i] = cabs(z[i]);": "a[i] = cabs(z[i])",
    "z[i] = conj(z[i]) + a[i];": "z[i] = conj(z[i]) + a[i]",
    "a[i] = z[i];": "a[i] = creal(z[i])",
    "a[i] += z[i];": "a[i] = creal(a[i] + z[i])",
    "z[i] = a[i] > 0 ? z[i] : 1.0;": "z[i] = a[i] > 0 ? z[i] : (double complex)(1.0)",
    "if (z[i] == 0.0) a[i] = 1;": "a[i] = 1 if z[i] == 0.0",
}


@pytest.mark.parametrize("statement", COMPLEX)
def test_complex_numbers(statement: str) -> None:
    found = complex_region(statement)
    assert print_nest(found.nest) == f"for i in 0:n\n  S0: {COMPLEX[statement]}\n"


def test_complex_elements() -> None:
    found = complex_region("{ double complex t = z[i]; z[i] = t * t; w[i] = t; }")
    assert {a.name: a.element for a in found.arrays.values()} == {
        "z": "double complex",
        "w": "float complex",
    }
    assert found.scalars["t"].type == "double complex"


def test_a_variable_named_like_the_imaginary_unit() -> None:
    found = load_region(f"double I = 2; {LOOP} a[i] = I;", head="#include <complex.h>\n")
    assert found.scalars["I"].type == "double"


def test_integer_arrays() -> None:
    text = (
        f"void f(int n, int *a, unsigned char *c, long b[n]) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) a[i] = b[i] / 2 + c[i]; {CLOSE} }}"
    )
    (found,) = load_text(text).regions
    elements = {a.name: a.element for a in found.arrays.values()}
    assert elements == {"a": "int", "b": "long", "c": "unsigned char"}


PURE = "/*@ begin PerfTuning (def assume { arg pure = ['g', 'h']; }) @*/"


def test_functions_that_the_user_vouches_for() -> None:
    text = (
        "double g(double x, int k);\nstatic int h(int k) { return 2 * k; }\n"
        f"void f(int n, double *a) {{ {PURE} "
        f"for (int i = 0; i < n; i++) a[i] = g(a[i], h(i)); {CLOSE} }}"
    )
    (found,) = load_text(text).regions
    assert [function.name for function in found.functions] == ["h", "g"]
    assert [bool(function.body) for function in found.functions] == [True, False]
    assert print_nest(found.nest) == ("for i in 0:n\n  S0: a[i] = (double)(g(a[i], (int)(h(i))))\n")


def test_what_f2c_calls_is_known() -> None:
    text = (
        '#include "f2c.h"\nint f(integer n, doublereal *a, doublereal d) {\n  integer i;\n'
        f"  {OPEN}\n  for (i = 0; i < n; ++i) a[i] = max(a[i], d) + abs(a[i]) + dmin(d, 1.);\n"
        f"  {CLOSE}\n  return 0;\n}}\n"
    )
    (found,) = load_text(text).regions
    assert print_nest(found.nest) == (
        "for i in 0:n\n  S0: a[i] = (a[i] >= d ? a[i] : d) + (a[i] >= 0 ? a[i] : -a[i])"
        " + (d <= 1. ? d : 1.)\n"
    )
