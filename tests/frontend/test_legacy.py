"""Old and odd C: what stands around a region never hides it, and unknown types are told."""

from __future__ import annotations

import pytest
from source_text import CLOSE, OPEN, load_text, marked, refusals
from support.nest_text import print_nest

ADD = f"{OPEN}\n  for (int i = 0; i < n; i++) a[i] += 1;\n  {CLOSE}"
SUM = "for i in 0:n\n  S0: a[i] += 1\n"

# Anything that may stand before or after a function with a region.
NEIGHBOURS = {
    "old style": "int g(n, a) int n; double *a; { return n; }",
    "old style without types": "g(n, a) double a[]; { return n; }",
    "linkage": 'extern "C" double g(double);',
    "int128": "static __int128 wide; typedef unsigned __int128 u128;",
    "statement expression": "int g(int x) { return ({ int y = x; y; }); }",
    "assembly": 'asm(".globl g"); int h(void) __asm__("g");',
    "attributes": "__attribute__((constructor)) static void g(void) { }\n"
    "struct __attribute__((packed)) s { int a; } __attribute__((aligned(8)));",
    "pragmas": '#pragma once\n_Pragma("omp declare simd") double g(double);\n#pragma pack(push, 1)',
    "template": "template <class T> T largest(T a, T b) { return a > b ? a : b; }",
    "class": "class Grid { public: int n; Grid(int n) : n(n) {} };",
    "nested function": "int g(int n) { int h(int k) { return k; } return h(n); }",
    "typeof": "#define swap(a, b) do { typeof(a) t = a; a = b; b = t; } while (0)\n"
    "void g(int a, int b) { swap(a, b); }",
    "junk": "@ % ??? ;",
    "a lone macro": "MODULE_LICENSE(gpl)\nEXPORT(g);",
    "a missing brace": "void g(void) { if (1) { }",
    "designated": "static struct { int a[3]; } t = { .a = { [1] = 2 } };",
    "a table": "static double w[] = { 1.0, 2.0, /* three */ 3.0 };",
    "case ranges": "int g(int c) { switch (c) { case 0 ... 9: return 1; } return 0; }",
    "labels as values": "void g(void) { static void *to[] = { &&x }; goto *to[0]; x: ; }",
}


@pytest.mark.parametrize("name", NEIGHBOURS)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_neighbour_hides_nothing(name: str, is_first: bool) -> None:
    function = f"void f(int n, double *a)\n{{\n  {ADD}\n}}\n"
    if name == "a missing brace" and is_first:
        pytest.skip("the next function stands inside this one, as for a compiler")
    parts = [NEIGHBOURS[name], function] if is_first else [function, NEIGHBOURS[name]]
    (only,) = load_text("\n".join(parts)).regions
    assert print_nest(only.nest) == SUM
    assert only.function == "f"


# Functions with a region, in the styles of the last forty years.
FUNCTIONS = {
    "old style": f"int f(n, a)\nint n;\ndouble *a;\n{{\n  {ADD}\n}}",
    "f2c": f"/* Subroutine */ int f(integer n, doublereal *a)\n{{\n  {ADD}\n}}",
    "old f2c": f"int f(n, a)\ninteger n;\ndoublereal *a;\n{{\n  {ADD}\n}}",
    "linkage": f'extern "C" {{\nvoid f(int n, double *a)\n{{\n  {ADD}\n}}\n}}',
    "macro linkage": '#define BEGIN extern "C" {\n#define END }\nBEGIN\n'
    f"void f(int n, double *a) {{\n  {ADD}\n}}\nEND\n",
    "attributes": "__attribute__((noinline)) static __inline__ void\n"
    f"f(const int n, double * __restrict__ a __attribute__((aligned(64)))) {{ {ADD} }}",
    "typedefs": f"typedef double row[8]; typedef double *vec;\n"
    f"void f(int n, vec a) {{ row r; {ADD} }}",
    "a name macro": f"#define F77(x) x\nvoid F77(f)(int n, double *a) {{ {ADD} }}",
    "a header macro": f"#define KERNEL(x) void x(int n, double *a)\nKERNEL(f) {{ {ADD} }}",
    "register": f"void f(register int n, double *a) {{ register int k; {ADD} }}",
    "assembly around": f'void f(int n, double *a) {{ asm volatile ("" : : "r"(n) : "memory"); {ADD}'
    ' asm("nop"); }',
    "pragmas": f"void f(int n, double *a) {{\n#pragma scop\n{ADD}\n#pragma endscop\n}}",
    "pragma before a body": f"void f(int n, double *a) {{ {OPEN}\n#pragma omp parallel for\n"
    f"for (int i = 0; i < n; i++)\n#pragma omp simd\n  a[i] += 1;\n{CLOSE} }}",
    "_Pragma": f'void f(int n, double *a) {{ {OPEN}\n_Pragma("omp parallel for")\n'
    f'for (int i = 0; i < n; i++) _Pragma("unroll") a[i] += 1;\n{CLOSE} }}',
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_any_age(name: str) -> None:
    (only,) = load_text(FUNCTIONS[name]).regions
    assert print_nest(only.nest) == SUM
    assert only.function == "f"
    assert only.arrays["a"].element == "double"


# Types that nothing declares, used where they do not matter to the region.
UNKNOWN = {
    "variable": "myint k; T *p;",
    "cast": "void *p = (T) n; p = (T *) p; p = (const T *) p;",
    "loop": "for (T k = 0; k < 3; k++) ; for (T *q = 0; q; q++) ;",
    "row pointer": "T (*rows)[8] = (T (*)[8]) a;",
    "array": "static T t[3][4];",
    "sizeof": "T *p = (T *) malloc(n * sizeof(T));",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_types_are_recovered(name: str) -> None:
    text = (
        f"void f(int n, double *a, other *o, const thing t)\n{{\n  {UNKNOWN[name]}\n  {ADD}\n}}\n"
    )
    (only,) = load_text(text).regions
    assert print_nest(only.nest) == SUM


def test_an_unknown_type_that_matters_is_refused() -> None:
    text, place = marked(
        f"void f(int n, real8 *a)\n{{\n{OPEN} for (int i = 0; i < n; i++) «a»[i] = 1; {CLOSE}\n}}"
    )
    (only,) = refusals(text)
    assert (only.code, only.span) == ("AT121", place)


def test_what_asm_reads_lives_on_and_what_it_writes_changes() -> None:
    body = f"{OPEN} for (int i = 0; i < n; i++) {{ s = i; a[i] = s; }} {CLOSE}"
    text = "void f(int n, double *a) { double s; " + body + ' asm volatile ("" : : "x"(s)); }'
    assert load_text(text).regions[0].scalars["s"].read_after
    text = text.replace(': : "x"(s)', ': "=x"(a[0])')
    assert not load_text(text).regions[0].scalars["s"].read_after


PARTS = {
    "taken": ("#define FAST 1\n", "#if FAST\na[i] = 1;\n#else\na[i] = 2;\n#endif", "a[i] = 1"),
    "not taken": ("", "#ifdef FAST\na[i] = 1;\n#else\na[i] = 2;\n#endif", "a[i] = 2"),
    "by value": ("#define W 4\n", "#if W > 3 && defined(W)\na[i] = 1;\n#endif", "a[i] = 1"),
    "by a macro": (
        "#define GE(a, b) ((a) >= (b))\n#define W 4\n",
        "#if GE(W, 4)\na[i] = 1;\n#endif",
        "a[i] = 1",
    ),
    "own macro": (
        "",
        "#define T (n + 1)\n#define K 3\na[i] = T * K;\n#undef T",
        "a[i] = (n + 1) * 3",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_directives_in_a_region(name: str) -> None:
    head, body, nest = PARTS[name]
    text = (
        f"{head}void f(int n, double *a) {{\n{OPEN}\nfor (int i = 0; i < n; i++) {{\n{body}\n}}\n"
    )
    (only,) = load_text(f"{text}{CLOSE}\n}}\n").regions
    assert print_nest(only.nest) == f"for i in 0:n\n  S0: {nest}\n"


HALVES = {
    "else outside": ("{O}\n«#if 1»\n{L}\n{C}\n#endif\n", "AT114"),
    "endif inside": ("#if 1\n{O}\n{L}\n«#endif»\n{C}\n", "AT114"),
    "else inside": ("#if 1\n{O}\n{L}\n«#else»\n{L}\n{C}\n#endif\n", "AT114"),
    "needed after": ("{O}\n«#define T 1»\n{L}\n{C}\na[0] = T;\n", "AT118"),
    "needed by a macro": (
        "{O}\n«#define T 1»\n{L}\n{C}\n#define U T\na[0] = U;\n",
        "AT118",
    ),
}


@pytest.mark.parametrize("name", HALVES)
def test_refuses_half_a_directive(name: str) -> None:
    body, code = HALVES[name]
    body = body.replace("{O}", OPEN).replace("{C}", CLOSE)
    body = body.replace("{L}", "for (int i = 0; i < n; i++) a[i] = 1;")
    text, place = marked(f"void f(int n, double *a) {{\n{body}}}\n")
    first = refusals(text)[0]
    assert (first.code, first.span) == (code, place)


def test_a_benchmark_full_of_macros() -> None:
    text = """
#ifdef POLYBENCH_USE_C99_PROTO
# define SIZES(x, y) y
#else
# define SIZES(x, y) x
#endif
#define ARRAY_2D(var, d1, d2, v1, v2) var[SIZES(d1, v1)][SIZES(d2, v2)]
#define DATA_TYPE double
#define NI 100
#define NJ 120
#define _PB_NI SIZES(NI, ni)
#define _PB_NJ SIZES(NJ, nj)
#define SCALAR_VAL(x) x
static void kernel(int ni, int nj, DATA_TYPE alpha, DATA_TYPE ARRAY_2D(C, NI, NJ, ni, nj))
{
  int i, j;
  OPEN
  for (i = 0; i < _PB_NI; i++)
    for (j = 0; j < _PB_NJ; j++)
      C[i][j] *= SCALAR_VAL(2.0) * alpha;
  CLOSE
}
""".replace("OPEN", OPEN).replace("CLOSE", CLOSE)
    (fixed,) = load_text(text).regions
    assert print_nest(fixed.nest).startswith("for i in 0:NI\n  for j in 0:NJ\n")
    assert fixed.arrays["C"].parameter == "double C[NI][NJ]"
    (open_,) = load_text(text, defines={"POLYBENCH_USE_C99_PROTO": "1"}).regions
    assert print_nest(open_.nest) == (
        "for i in 0:ni\n  for j in 0:nj\n    S0: C[i][j] *= 2.0 * alpha\n"
    )
    assert open_.arrays["C"].parameter == "double C[ni][nj]"


def test_declarators_of_every_shape() -> None:
    text = f"""
typedef double vec3[3]; typedef double *line; typedef double grid[10][20];
void f(int n, double *a, vec3 *v, line p, grid g, double (*w)[n][2], double u[static 4]) {{
  double (*m)[n] = (double (*)[n]) a;
  {OPEN}
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      m[i][j] = v[i][j] + p[i] + g[i][j] + w[i][j][1] + u[j];
  {CLOSE}
}}
"""
    (only,) = load_text(text).regions
    shapes = {name: array.parameter for name, array in only.arrays.items()}
    assert shapes == {
        "m": "double (*m)[n]",
        "v": "double (*v)[3]",
        "p": "double *p",
        "g": "double g[10][20]",
        "w": "double (*w)[n][2]",
        "u": "double u[4]",
    }
