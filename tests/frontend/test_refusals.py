"""What the front end refuses, each with its code and the exact place."""

from __future__ import annotations

import pytest
from source_text import CLOSE, OPEN, load_text, marked, refusals, region

from annotune.annotation.spec import Spec
from annotune.diagnostics import AnnotuneError, Span
from annotune.frontend.load import load

# The start of a file whose sizes others may change; N is global.
SHARED = "int N; void g(void);\nvoid f(double x[N][N], int m, int *p, int *q)\n{\n"
STRUCT = "struct s { int nx, *t; double v; };\nvoid f(struct s *p, double *a, int *q, int k)\n{\n"
UNION = "union u { int i[8]; double d[4]; };\nvoid f(union u *p, double *a, int n)\n{\n"
ROWS = "for (int i = 0; i < N; i++) x[i][0] = 0;"
TO_NX = "for (int i = 0; i < «p->nx»; i++)"
PURE = "/*@ begin PerfTuning (def assume { arg pure = ['g']; }) @*/"
# Whole files.
ADD = "for (int i = 0; i < n; i++) a[i] += 1;"
FILES = {
    "a size that a call may change": (
        SHARED.replace(" x[", " «x»[") + f"g(); {OPEN} {ROWS} {CLOSE} }}",
        "AT128",
        "'N' changes after 'x'",
    ),
    "a size that a store may change": (
        SHARED.replace(" x[", " «x»[") + f"*p = 3; {OPEN} {ROWS} {CLOSE} }}",
        "AT128",
        "'N' changes after 'x'",
    ),
    "a size whose address is kept": (
        f"void f(int m)\n{{ int *p = &m; double «y»[m]; *p = 3; {OPEN} "
        f"for (int i = 0; i < m; i++) y[i] = 0; {CLOSE} }}",
        "AT128",
        "'m' changes after 'y'",
    ),
    "a member that a store may reach": (
        STRUCT + f"{OPEN} {TO_NX} q[i] = i; {CLOSE} }}",
        "AT158",
        "'p->nx'",
    ),
    "a member that a counter may reach": (
        STRUCT + f"{OPEN} {TO_NX} q[i]++; {CLOSE} }}",
        "AT158",
        "'p->nx'",
    ),
    "a member that another member may reach": (
        STRUCT + f"{OPEN} {TO_NX} p->t[i] = i; {CLOSE} }}",
        "AT158",
        "'p->nx'",
    ),
    "a pointer member that characters may reach": (
        STRUCT.replace("double *a", "char *a")
        + f"{OPEN} for (int i = 0; i < k; i++) a[i] = «p->t»[i]; {CLOSE} }}",
        "AT158",
        "'p->t' may also be an element of 'a'",
    ),
    "a global scalar that characters may reach": (
        "int width;\nvoid f(int n, double *restrict y, char *«a»)\n{\n"
        f"{OPEN} for (int i = 0; i < n; i++) {{ a[i] = 1; y[i] = width; }} {CLOSE} }}",
        "AT158",
        "'width' may also be an element of 'a'",
    ),
    "a global scalar that the unsigned form of its type may reach": (
        "int width;\nvoid f(int n, double *restrict y, unsigned *«a»)\n{\n"
        f"{OPEN} for (int i = 0; i < n; i++) {{ a[0] += i; y[i] = width; }} {CLOSE} }}",
        "AT158",
        "'width' may also be an element of 'a'",
    ),
    "a global pointer that characters may reach": (
        "double *shared;\nvoid f(int n, unsigned char *«a»)\n{\n"
        f"{OPEN} for (int i = 0; i < n; i++) {{ a[i] = 1; shared[i] = i; }} {CLOSE} }}",
        "AT158",
        "'shared' may also be an element of 'a'",
    ),
    "a scalar whose address a pointer has": (
        "void f(int n, double *restrict a)\n{ double x = 1, *«q» = n > 3 ? &x : a;\n"
        f"{OPEN} for (int i = 0; i < n; i++) q[i] = x; {CLOSE} }}",
        "AT158",
        "'x' may also be an element of 'q'",
    ),
    "a global scalar that a pointer may reach": (
        "double total;\nvoid f(int n, double *restrict a, double *«q»)\n{\n"
        f"{OPEN} for (int i = 0; i < n; i++) *q += total * a[i]; {CLOSE} }}",
        "AT158",
        "'total' may also be an element of 'q'",
    ),
    "arrays of a union": (
        UNION + f"{OPEN} for (int i = 0; i < n; i++) a[i] = «p->i»[i]; {CLOSE} }}",
        "AT124",
        "'p->i'",
    ),
    "a function pointer of a known name": (
        "void f(int n, double *a, double (*sqrt)(double))\n{\n"
        f"{OPEN} for (int i = 0; i < n; i++) a[i] = «sqrt»(a[i]); {CLOSE} }}",
        "AT167",
        "'sqrt' is not the function that annotune knows under this name: a variable",
    ),
    "a name of ours": (
        "void f(int n, double *a, double annotune_if_1)\n{\n"
        f"{OPEN} for (int i = 0; i < n; i++) a[i] = «annotune_if_1»; {CLOSE} }}",
        "AT126",
        "'annotune_if_1'",
    ),
    "unknown type": (
        f"void f(int n, real8 *a) {{ {OPEN} for (int i = 0; i < n; i++) «a»[i] = 1; {CLOSE} }}",
        "AT121",
        "unknown type 'real8' of 'a'",
    ),
    "long doubles": (
        f"void f(int n, long double *a) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) «a[i]» = 1; {CLOSE} }}",
        "AT122",
        "long double",
    ),
    "order of complex numbers": (
        f"void f(int n, double _Complex *a) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) if (a[i] «<» 2) a[i] = 1; {CLOSE} }}",
        "AT133",
        "operator '<'",
    ),
    "long double complex": (
        f"void f(int n, long double _Complex *a) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) «a[i]» = 1; {CLOSE} }}",
        "AT122",
        "long double complex",
    ),
    "long double": (
        f"void f(int n, long double *a) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) «a[i]» = 1; {CLOSE} }}",
        "AT122",
        "long double",
    ),
    "rows": (
        f"void f(int n, double **a, int *p) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) «a[p[i]][0]» = 1; {CLOSE} }}",
        "AT125",
        "pointer to pointers",
    ),
    "member of element": (
        "typedef struct { double *r; } z;\n"
        f"void f(int n, z *q, double *a) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) a[i] = «q[i].r»[0]; {CLOSE} }}",
        "AT124",
        "'q[i].r'",
    ),
    "volatile": (
        f"void f(int n, volatile double *a) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) «a»[i] = 1; {CLOSE} }}",
        "AT129",
        "volatile",
    ),
    "long double scalar": (
        f"void f(int n, double *a, long double c) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) a[i] = «c»; {CLOSE} }}",
        "AT123",
        "long double",
    ),
    "size changes": (
        f"void f(int n, double «A»[n][n]) {{ n = 5; {OPEN} "
        f"for (int i = 0; i < 5; i++) A[i][0] = 1; {CLOSE} }}",
        "AT128",
        "'n' changes after 'A'",
    ),
    "needed after": (
        f"int f(int n, double *a) {{ int k; {OPEN} for (int i = 0; i < n; i++) "
        f"for («k» = n; k > i; k--) a[k] = 1; {CLOSE} return k; }}",
        "AT151",
        "'k'",
    ),
    "needed after a condition": (
        f"int f(int n, double *a) {{ int k; {OPEN} "
        f"if (n > 3) for («k» = 0; k < n; k++) a[k] = 1; {CLOSE} return k; }}",
        "AT151",
        "'k'",
    ),
    "vouched for, but nowhere declared": (
        f"void f(int n, double *a) {{ {PURE} "
        f"for (int i = 0; i < n; i++) a[i] = «g»(a[i]); {CLOSE} }}",
        "AT120",
        "'g' is not declared",
    ),
    "vouched for, but void": (
        f"void g(double); void f(int n, double *a) {{ {PURE} "
        f"for (int i = 0; i < n; i++) a[i] = «g»(a[i]); {CLOSE} }}",
        "AT157",
        "returns 'void'",
    ),
    "a function of the user with a known name": (
        f"static double fabs(double x) {{ return x; }} void f(int n, double *a) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) a[i] = «fabs»(a[i]); {CLOSE} }}",
        "AT167",
        "'fabs' is not the function that annotune knows under this name: the program defines",
    ),
    "file scope": (f"int n; double a[5];\n«{OPEN}»\n{CLOSE}\n", "AT110", "not inside a function"),
    "left out": (
        f"void f(int n, double *a) {{\n#ifdef NEVER\n{OPEN}\n{ADD}\n{CLOSE}\n#endif\n}}",
        "AT113",
        "leaves the annotated region out",
    ),
    "cuts the end": (
        f"void f(int n, double *a) {{ {OPEN} for (int i = 0; i < n; i++) «{{» a[i] = 1; "
        f"{CLOSE} }} }}",
        "AT111",
        "cuts a statement",
    ),
    "cuts the start": (
        f"void f(int n, double *a) {{ for (int i = 0; i < n; i++) {{ {OPEN} a[i] = 1; «}}» "
        f"{CLOSE} }}",
        "AT111",
        "cuts a statement",
    ),
    "cuts the header": (
        f"void f(int n, double *a) {{ for (int i = 0; {OPEN} i < n; i++«)» a[i] = 1; {CLOSE} }}",
        "AT111",
        "cuts a statement",
    ),
    "cuts a body": (
        f"void f(int n, double *a) {{ for (int j = 0; j < n; j++) {OPEN} «for» "
        f"(int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] = 1; {CLOSE} }}",
        "AT111",
        "cuts a statement",
    ),
    "syntax": (
        f"void f(int n, double *a) {{ {OPEN} for (int i = 0; i < n; i++) a[i] = 1 + «;» {CLOSE} }}",
        "AT105",
        "unexpected ';'",
    ),
    "not C": (f"def f(a):\n    {OPEN}\n    pass\n    {CLOSE}\n", "AT110", "not inside a function"),
    "fortran": (
        f"void f(int n, double *a) {{ {OPEN} do i = 1, n {CLOSE} «}}»",
        "AT105",
        "unexpected '}'",
    ),
    "unclosed": (
        f"void f(int n, double *a) {{ {OPEN} {ADD} {CLOSE} «+»",
        "AT105",
        "ends too early",
    ),
    "the first error counts": (
        f"void f(int n, double *a) {{ FORALL(j, n) «a»[j] = 0; {OPEN} {ADD} {CLOSE} }}",
        "AT105",
        "unexpected 'a'",
    ),
    "hidden size": (
        f"void f(int n, double «A»[n][n]) {{ {{ int n = 5; {OPEN} "
        f"for (int i = 0; i < 3; i++) A[i][i] = 1; {CLOSE} }} }}",
        "AT126",
        "'n' means two",
    ),
    "endif": ("int x;\n«#endif»\nint y;", "AT106", "'#endif' without its '#if'"),
    "if": ("int x;\n«#ifdef A»\nint y;", "AT106", "'#if' without its '#endif'"),
}


@pytest.mark.parametrize("name", FILES)
def test_refuses_a_file(name: str) -> None:
    marked_text, code, words = FILES[name]
    text, place = marked(marked_text)
    first = refusals(text)[0]
    assert first.code == code, first
    assert words in first.message
    if place is not None:
        assert first.span == place, first.render(text)


@pytest.mark.parametrize(
    ("text", "code", "span"),
    [
        ("", "AT101", Span("t.c", 1, 1, 1)),
        (" \n\n", "AT101", Span("t.c", 1, 1, 1)),
        ("int x;\nab\0cd", "AT102", Span("t.c", 2, 3, 1)),
        ("int x;\n  /* never closed\n", "AT104", Span("t.c", 2, 3, 2)),
    ],
)
def test_refuses_what_is_no_source(text: str, code: str, span: Span) -> None:
    with pytest.raises(AnnotuneError) as raised:
        load("t.c", text, ())
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, diagnostic.span) == (code, span)


def test_collects_independent_refusals_in_text_order() -> None:
    text = region(
        "for (i = 0; i < n; i++) {\n a[i] = f(i);\n if (s & 1) a[i] = 0;\n a[i] = q + q;\n}\n"
        "for (j = n; j < 0; j--) { break; }"
    )
    assert [d.code for d in refusals(text)] == ["AT130", "AT133", "AT120", "AT143", "AT131"]


def test_both_branches_are_read() -> None:
    text = region("for (i = 0; i < n; i++) if (i > 2) a[i] = h(i); else a[i] = o(i);")
    assert [d.message.split("'")[1] for d in refusals(text)] == ["h", "o"]


def test_a_misspelt_function_is_named() -> None:
    (found,) = refusals(region("for (i = 0; i < n; i++) a[i] = sqr(b[i]);"))
    assert "did you mean 'sqrt'?" in found.help
    assert "arg pure = ['sqr'];" in found.help


def test_one_refused_region_does_not_hide_another() -> None:
    one = f"void f(int n, double *a) {{ {OPEN} for (int i = 0; i < n; i++) g(); {CLOSE} }}\n"
    text = one + one.replace("f(", "h(").replace("g()", "k()")
    assert [d.message.split("'")[1] for d in refusals(text)] == ["g", "k"]


def test_an_odd_function_hides_no_other() -> None:
    text = (
        f"void odd(void) {{ ??? }}\n@ junk;\nvoid f(int n, double *a) {{ {OPEN} {ADD} {CLOSE} }}\n"
    )
    (only,) = load_text(text).regions
    assert only.function == "f"
    assert isinstance(only.spec, Spec)


# Members and variables that no store of the region reaches.
APART = {
    "restrict": STRUCT.replace("double *a", "double *restrict a") + "a[0] += p->v * i;",
    "another type": STRUCT.replace("double *a", "float *a") + "a[0] += p->v * i;",
    "a struct of the function's own": STRUCT.replace("struct s *p", "struct s p")
    + "{ a[0] += p.v * i; q[i] = p.nx; }",
    "an array of another type": "double scale;\nvoid f(int k, float *a)\n{\na[0] += scale * i;",
    "a pointer itself": "struct c { char *t; };\nvoid f(int k, struct c *p)\n{\np->t[i] = i;",
    "a constant": "const double scale = 3;\nvoid f(int k, double *a)\n{\na[0] += scale * i;",
}


@pytest.mark.parametrize("name", APART)
def test_what_no_store_reaches(name: str) -> None:
    head, statement = APART[name].split("{\n", 1) if "{\n" in APART[name] else ("", "")
    loop = f"for (int i = 0; i < k; i++) {statement}"
    assert refusals(f"{head}{{\n{OPEN} {loop} {CLOSE} }}") == ()
