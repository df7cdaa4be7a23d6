"""Enumerations: gcc and clang give one without numbers below 0 an unsigned type (C11 6.7.2.2).

Its elements are passed to what is emitted as what they are, and computed with without a sign.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings, emit
from wrong.called import Array, Call, Program

HEADER = """\
typedef enum { AIR, WATER, ICE = 7, ROCK } material;
enum side { LEFT = -1, MIDDLE, RIGHT };
enum wide { ALL = 1L << 40 };
typedef struct { double t; material m; enum side s; int n; } site;
typedef struct { int n; material *m; enum side (*s)[4]; enum side own; } grid;
typedef struct { double w[4]; struct { double g[3][2]; } in; } weights;
"""
TEXT = """\
#include "kinds.h"
static material table[16];
static enum side sides[3][4];
void elements(int n, material *m, enum side *s, double *x)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        x[i] += (m[i] - 1) / 2;
        x[i] += m[i] - 2 < 0;
        x[i] += (s[i] - 1) / 2;
        m[i] = m[i] == AIR ? ROCK : (material)(m[i] - 1);
        s[i] = s[i] - 1 < 0 ? RIGHT : LEFT;
    }
    /*@ end @*/
}
void rows(int n, int k, material a[n][k], enum side (*b)[3], double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; param k = 32; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            material here = a[i][j];
            enum side beside = b[i][j % 3];
            y[i * k + j] = here * 2.0 + beside + (here - 3) / 2;
        }
    /*@ end @*/
}
void structs(int n, site *s, double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        x[i] = s[i].m == ICE ? 1.5 : s[i].m - 9;
    /*@ end @*/
}
void members(int n, material *m, enum side *s, double *restrict x)
{
    grid g = {n, m, (enum side (*)[4])s, RIGHT};
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < g.n; i++) {
        if (g.m[i] == WATER) x[i] *= 2;
        if (g.s[i][2] < 0) x[i] -= g.own;
    }
    /*@ end @*/
}
double sums(int n, int first)
{
    double s = 0;
    for (int i = 0; i < 12; i++)
        table[i] = (i + first) % 9, sides[i / 4][i % 4] = i % 3 - 1;
    /*@ begin PerfTuning ( def input_params { param n = 3; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            s += (table[i * 4 + j] - 1) * 1.0 + sides[i][j];
    /*@ end @*/
    return s;
}
void constant(int n, const weights *c, double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++)
            x[i] += c->w[j] + c->in.g[j][1];
    /*@ end @*/
}
void counted(double w[9], double *restrict y)
{
    /*@ begin PerfTuning ( ) @*/
    for (material m = AIR; m <= ROCK; m++)
        y[m] += w[m] * (m - 1);
    /*@ end @*/
}
void moved(int n, material *a, material *restrict b)
{
    material *p = a + 1;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        b[i] = p[i];
    /*@ end @*/
}
double number(int n, material m, enum side s, enum wide w, double *restrict x)
{
    double t = 0;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        x[i] += (m - 1) / 2 + (s - 1) / 2;
        t += w;
    }
    /*@ end @*/
    return t;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "made").mkdir()
    (folder / "kinds.c").write_text(TEXT)
    (folder / "kinds.h").write_text(HEADER)
    return Program(folder / "made", folder / "kinds.c", ("cuda", "openacc", "openmp"))


def test_elements_and_numbers_have_the_type_that_compilers_choose(program: Program) -> None:
    material = Array("u4", 40, (0, 1, 2, 7, 8, 0, 3))
    side = Array("i4", 40, (-1, 0, 1, -1, 1, 0))
    x = Array("f8", 40)
    # A site is 6 ints: a double, a material, a side, an int and a gap.
    site = Array("u4", 60, (0, 0, 7, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 8, 1, 0, 0))
    program.check(
        Call("elements", 9, material, side, x),
        Call("rows", 5, 6, material, side, x),
        Call("structs", 10, site, x),
        Call("members", 7, material, side, x),
        Call("sums", 3, 2, returns="f8"),
        Call("constant", 9, Array("f8", 10), x),
        Call("counted", x, Array("f8", 9)),
        Call("moved", 20, material, Array("u4", 20)),
        *(Call("number", 4, m, -1, 2**40, x, returns="f8") for m in (0, 7)),
    )


def test_pointers_are_of_the_type_that_is_asked_for(program: Program) -> None:
    """As gcc 14 wants it, which refuses others."""
    for suffix in ("_cuda.c", "_acc.c", "_omp.c"):
        made = program.folder / f"made{suffix}"
        made.write_text(program.files[suffix])
        command = ["gcc", "-fsyntax-only", "-fopenacc", "-fopenmp", "-Wno-unknown-pragmas"]
        done = subprocess.run([*command, "-Werror", made], capture_output=True, text=True)
        assert not done.returncode, (suffix, done.stderr)


def test_an_enumeration_that_nothing_defines_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "unknown.c"
    text = "void f(int n, enum kind *k)\n{\n/*@ begin PerfTuning ( ) @*/\n"
    text += "for (int i = 0; i < n; i++) k[i] = 0;\n/*@ end @*/\n}\n"
    source.write_text(text)
    with pytest.raises(AnnotuneError, match="unknown type 'enum kind' of 'k'"):
        emit(Settings(source, ("openmp",)), [load_target("openmp")])
