"""A ``switch`` in a region is branches, whatever falls through and wherever its breaks stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings, emit
from wrong.called import Array, Call, Program

TEXT = """\
enum mode { NONE, ADD = 3, NEGATE, LAST };
#define OPEN '('
void modes(int n, enum mode mode, const double *a, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        switch (mode) {
        case NONE: b[i] = a[i]; break;
        case ADD: case LAST: b[i] += a[i] * mode; break;
        default: b[i] = 0; break;
        case NEGATE: b[i] = -a[i];
        }
        b[i] += 1;
    }
    /*@ end @*/
}
void kinds(int n, const unsigned char *text, int *restrict kind)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        int k = 0;
        switch (text[i]) {
        case OPEN: case ')': k = 1; break;
        case '0': case '1': case '2': k += 5;
        case '-': if (i > 3) break; k += 2; break;
        case 200: { int twice = 2 * i; k = twice; } break;
        default: continue;
        }
        kind[i] = k * 10 + i;
    }
    /*@ end @*/
}
double around(int n, unsigned which, const double *a, double *restrict b)
{
    double s = 0;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    switch (which % 4) {
    case 0:
        for (int i = 0; i < n; i++) b[i] = a[i] * 2;
        break;
    case 1:
        for (int i = 0; i < n; i++) s += a[i] > 0;
    case 2:
        for (int i = 0; i < n; i++) b[i] = -a[i];
    }
    /*@ end @*/
    return s;
}
int computed(int *n, const int *way, double *restrict a)
{
    int i__1, i__, left = 0;
    --a; --way;
    i__1 = *n;
    /*@ begin PerfTuning ( def input_params { param i__1 = 64; } ) @*/
    for (i__ = 1; i__ <= i__1; ++i__) {
        switch (way[i__]) {
            case 1:  goto L10;
            case 2:  goto L20;
        }
        a[i__] = 3.;
        goto L30;
L10:
        a[i__] = 1.;
        goto L30;
L20:
        a[i__] = 2.;
L30:
        ;
    }
    /*@ end @*/
    return left + i__;
}
void nested(int n, int sign, const int *p, long *restrict q)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        switch (sign) {
        case -1:
            switch (p[i] & 3) { case 0: q[i]--; break; case 1: q[i] -= 2; case 3: q[i] *= 2; }
            break;
        case 1:
            for (int k = 0; k < 3; k++) { if (p[i] == k) q[i] += k; }
            break;
        }
    /*@ end @*/
}
void signs(int n, const int *p, const unsigned *u, long *restrict q)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        switch (u[i]) { case -1: q[i] += 7; break; case 0: q[i] += 5; }
        switch ((signed char)p[i]) { case -1: q[i] += 70; break; case 'a': q[i] += 50; }
    }
    /*@ end @*/
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("switches")
    (folder / "made").mkdir()
    (folder / "switches.c").write_text(TEXT)
    return Program(folder / "made", folder / "switches.c", ("cuda", "openacc", "openmp"))


def test_switches_are_branches(program: Program) -> None:
    assert not any("switch (" in text for text in program.files.values())
    a, b, q = Array("f8", 64), Array("f8", 64), Array("i8", 64)
    ways = Array("i4", 64, (1, 2, 0, 3, -1, 255, 97, -1))
    unsigned = Array("u4", 64, (0, 4294967295, 1))
    text = Array("u1", 64, (*b"(0a-)2 1--", 200))
    program.check(
        *(Call("modes", 50, mode, a, b) for mode in (0, 3, 4, 5, -2)),
        Call("kinds", 61, text, Array("i4", 64)),
        *(Call("around", 40, which, a, b, returns="f8") for which in range(4)),
        Call("computed", Array("i4", 1, (50,)), ways, a, returns="i4"),
        *(Call("nested", 40, sign, ways, q) for sign in (-1, 0, 1)),
        Call("signs", 61, ways, unsigned, q),
    )


REFUSED = {
    "a constant that the type of the value changes": "switch (p[i]) { case 4294967296: q[i] = 1; }",
    "a value that a call computes": "switch (next()) { case 1: q[i] = 1; }",
    "a jump into it": "if (p[i]) goto in; switch (p[i]) { case 1: q[i] = 1; in: q[i] = 2; }",
    "statements before the first label": "switch (p[i]) { int k; case 1: k = 2; q[i] = k; }",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_no_branches_say_is_refused(body: str, tmp_path: Path) -> None:
    source = tmp_path / "refused.c"
    nest = f"for (int i = 0; i < n; i++) {{ {body} }}"
    head = (
        "int next(void);\nvoid f(int n, int *p, int *restrict q)\n{\n/*@ begin PerfTuning ( ) @*/\n"
    )
    source.write_text(f"{head}{nest}\n/*@ end @*/\n}}\n")
    with pytest.raises(AnnotuneError, match=r"'switch' is not allowed|'goto' is not allowed"):
        emit(Settings(source, ("openmp",), sizes={"n": 8}), [load_target("openmp")])
