"""The types of values: conversions, casts, calls, complex numbers and chained assignments."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest
from source_text import CLOSE, OPEN, load_region, load_text
from support.nest_text import print_nest

from annotune.analysis.reductions import reduction_operator
from annotune.frontend.types.kinds import common, promoted
from annotune.frontend.types.symbols import INTEGERS
from annotune.ir.region import Region

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
    "p[i] >>= 1;": "p[i] = p[i] >= 0 ? p[i] / 2 : (p[i] + 1) / 2 - 1",
    "a[i >> 1] = 0;": "a[i / 2] = 0",
    "s++;": "s += 1",
    "a[i] = 1.5f * y;": "a[i] = 1.5f * y",
    "a[i] = x < 0x10 ? 07 : 1e3;": "a[i] = x < 16 ? 7 : 1e3",
    "if (i - 3 < 2u) s = 1;": "s = 1 if (unsigned int)(i - 3) < 2",
    "if (i < 2u) s = 1;": "s = 1 if i < 2",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement: str) -> None:
    nest = print_nest(load_region(f"{LOOP} {statement}", head="#include <stdlib.h>\n").nest)
    assert nest == f"for i in 0:n\n  S0: {STATEMENTS[statement]}\n"


def test_the_common_type_of_two_is_gccs(tmp_path: Path) -> None:
    kinds = [k for k in (*sorted(INTEGERS), "float", "double") if promoted(k) == k]
    pairs = list(itertools.product(kinds, repeat=2))
    cases = ", ".join(f'{kind}: "{kind}"' for kind in kinds)
    puts = [f"puts(_Generic(({a})0 + ({b})0, {cases}));" for a, b in pairs]
    source = tmp_path / "common.c"
    source.write_text(f"#include <stdio.h>\nint main(void) {{ {' '.join(puts)} }}\n")
    subprocess.run(["gcc", source, "-o", tmp_path / "common"], check=True)
    said = subprocess.run([tmp_path / "common"], check=True, capture_output=True, text=True)
    assert [common(a, b) for a, b in pairs] == said.stdout.splitlines()


@pytest.mark.parametrize("statement", ["m = m > w[i] ? m : w[i];", "if (w[i] > m) m = w[i];"])
def test_signed_maxima_of_unsigned_elements_are_none(statement: str) -> None:
    # As C compares, -1 is above each of them: such a maximum has no parts.
    head = "void f(int n, unsigned long *w, long long m)"
    text = f"{head} {{ {OPEN}\n for (int i = 0; i < n; i++) {statement}\n {CLOSE} w[0] = m; }}"
    (only,) = load_text(text).regions
    assert reduction_operator(only.nest.assigns()[0]) is None


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
    "z[i] = z[i] * (2.0 + 3.0 * I);": "z[i] *= 2.0 + 3.0 * I",
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


# Declarations and a statement of a loop over i, and what the nest says: a sum that C cuts to a
# truth, and a maximum that it cuts to fewer bits, at each step are no reductions.
CUT = {
    "_Bool v = 0;; v += p[i];": ("v = v + p[i] != 0", None),
    "_Bool v = 0;; v = v + a[i];": ("v = v + a[i] != 0", None),
    "_Bool v = 1;; v *= p[i];": ("v = v * p[i] != 0", None),
    "_Bool v = 1;; v = p[i] > 2;": ("v = p[i] > 2", None),
    "short v = 0;; v += p[i];": ("v = v + p[i]", "+"),
    "unsigned char v = 1;; v *= p[i];": ("v = v * p[i]", "*"),
    "short v = 0;; v = p[i] > v ? p[i] : v;": ("v = (short)(p[i] > v ? p[i] : v)", None),
    "short v = 0;; if (p[i] > v) v = p[i];": ("v = p[i] if p[i] > v", None),
    "short v = 0;; v = h[i] > v ? h[i] : v;": ("v = h[i] > v ? h[i] : v", "max"),
    "short v = 0;; if (h[i] < v) v = h[i];": ("v = h[i] < v ? h[i] : v", "min"),
    "int v = 0;; if (l[i] > v) v = l[i];": ("v = l[i] if l[i] > v", None),
    "int v = 0;; v = p[i] > v ? p[i] : v;": ("v = p[i] > v ? p[i] : v", "max"),
    "long v = 0;; if (p[i] > v) v = p[i];": ("v = p[i] > v ? p[i] : v", "max"),
    "int v = 0;; h[0] = p[i] > h[0] ? p[i] : h[0];": (
        "h[0] = (short)(p[i] > h[0] ? p[i] : h[0])",
        None,
    ),
}


@pytest.mark.parametrize("text", CUT)
def test_what_a_store_cuts(text: str) -> None:
    before, statement = text.split(";; ")
    head = "int f(int n, double *a, int *restrict p, short *restrict h, long *restrict l)\n{\n"
    loop = f"for (int i = 0; i < n; i++) {{ {statement} }}"
    (found,) = load_text(f"{head}{before}; {OPEN} {loop} {CLOSE} return v; }}").regions
    expected, operator = CUT[text]
    assert print_nest(found.nest) == f"for i in 0:n\n  S0: {expected}\n"
    (assign,) = found.nest.assigns()
    assert reduction_operator(assign) == operator


# Branches that store integers of two types: each is converted to that of the target.
BRANCHES = {
    "long": "v = p[i] < 0 ? (long)(p[i]) : (long)(u[i])",
    "int": "v = p[i] < 0 ? (int)(p[i]) : (int)(u[i])",
    "short": "v = p[i] < 0 ? (short)(p[i]) : (short)(u[i])",
}


@pytest.mark.parametrize("type_", BRANCHES)
def test_branches_of_two_types(type_: str) -> None:
    head = "void f(int n, double *restrict a, int *restrict p, unsigned *restrict u)\n{\n"
    loop = f"{{ {type_} v; if (p[i] < 0) v = p[i]; else v = u[i]; a[i] = v; }}"
    text = f"{head}{OPEN} for (int i = 0; i < n; i++) {loop} {CLOSE} }}"
    (found,) = load_text(text).regions
    assert print_nest(found.nest) == f"for i in 0:n\n  S0: {BRANCHES[type_]}\n  S1: a[i] = v\n"


def test_branches_of_a_narrow_type() -> None:
    head = "void f(int n, double *restrict a, short *restrict h)\n{\n"
    loop = "{ short v; if (a[i] < 0) v = 1; else v = 0.5; h[i] = v; }"
    (found,) = load_text(f"{head}{OPEN} for (int i = 0; i < n; i++) {loop} {CLOSE} }}").regions
    assert "S0: v = a[i] < 0 ? 1 : (short)(0.5)\n" in print_nest(found.nest)
