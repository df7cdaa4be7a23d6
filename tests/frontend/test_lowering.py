"""What the front end makes of a region: nests, names, sizes and places."""

from __future__ import annotations

import pytest
from source_text import CLOSE, OPEN, SIZES, load_region, load_text, region
from support.nest_text import print_nest
from support.regions import find_annotations

from annotune.diagnostics import Span
from annotune.frontend.load import load
from annotune.ir.expr import Int, Var

LOOP = "for (i = 0; i < n; i++)"
IN_LOOP = "for i in 0:n\n  "

# A region's body and its nest, without the final newline.
NESTS = {
    "plain": (f"{LOOP} a[i] = b[i];", IN_LOOP + "S0: a[i] = b[i]"),
    "declared iterator": (
        "for (int c = 0; c < n; ++c) a[c] = 0;",
        "for c in 0:n\n  S0: a[c] = 0",
    ),
    "size_t": ("for (size_t c = 2; c < n; c++) a[c] = 0;", "for c in 2:n\n  S0: a[c] = 0"),
    "up to": ("for (i = 1; i <= n; i++) a[i] = 0;", "for i in 1:n + 1\n  S0: a[i] = 0"),
    "up to minus": ("for (i = 1; i <= n - 1; i++) a[i] = 0;", "for i in 1:n\n  S0: a[i] = 0"),
    "up to constant": ("for (i = 0; i <= 9; i++) a[i] = 0;", "for i in 0:10\n  S0: a[i] = 0"),
    "mirrored": ("for (i = 0; n > i; i++) a[i] = 0;", "for i in 0:n\n  S0: a[i] = 0"),
    "mirrored up to": ("for (i = 0; n >= i; i++) a[i] = 0;", "for i in 0:n + 1\n  S0: a[i] = 0"),
    "plus one": ("for (i = 0; i < n; i += 1) a[i] = 0;", "for i in 0:n\n  S0: a[i] = 0"),
    "moved": ("for (i = 0; i < n; i = i + 2) a[i] = 0;", "for i in 0:n step 2\n  S0: a[i] = 0"),
    "moved right": ("for (i = 0; i < n; i = 3+i) a[i] = 0;", "for i in 0:n step 3\n  S0: a[i] = 0"),
    "minus minus": (
        "for (i = 0; i < n; i -= -2) a[i] = 0;",
        "for i in 0:n step 2\n  S0: a[i] = 0",
    ),
    "block": (
        f"{LOOP} {{ {{ a[i] = 1; }} ; b[i] = 2; }}",
        IN_LOOP + "S0: a[i] = 1\n  S1: b[i] = 2",
    ),
    "imperfect": (
        f"{LOOP} {{ s = 0; for (j = 0; j < m; j++) s += A[i][j]; a[i] = s; }}",
        "for i in 0:n\n  S0: s = 0\n  for j in 0:m\n    S1: s += A[i][j]\n  S2: a[i] = s",
    ),
    "two nests": (
        f"{LOOP} a[i] = 1; {LOOP} b[i] = 2;",
        "for i in 0:n\n  S0: a[i] = 1\nfor i in 0:n\n  S1: b[i] = 2",
    ),
    "a statement outside": (
        f"s = 0; {LOOP} s += a[i];",
        "S0: s = 0\nfor i in 0:n\n  S1: s += a[i]",
    ),
    "a local": (
        f"{LOOP} {{ const double t = 2.0 * b[i]; a[i] *= t; }}",
        IN_LOOP + "S0: t = 2.0 * b[i]\n  S1: a[i] *= t",
    ),
    "two locals": (
        f"{LOOP} {{ double t = 1, u; u = t; a[i] /= u; }}",
        IN_LOOP + "S0: t = 1\n  S1: u = t\n  S2: a[i] /= u",
    ),
    "operators": (
        f"{LOOP} a[i] -= -(b[i] + x) / (2 - (x - y)) * +3;",
        IN_LOOP + "S0: a[i] -= -(b[i] + x) / (2 - (x - y)) * 3",
    ),
    "increment": (f"{LOOP} {{ s++; --a[i]; }}", IN_LOOP + "S0: s += 1\n  S1: a[i] -= 1"),
    "comma": (f"{LOOP} a[i] = 1, b[i] = 2;", IN_LOOP + "S0: a[i] = 1\n  S1: b[i] = 2"),
    "sum written out": (f"{LOOP} s = s + a[i];", IN_LOOP + "S0: s += a[i]"),
    "sum of three": (f"{LOOP} s = s + a[i] + b[i];", IN_LOOP + "S0: s = s + a[i] + b[i]"),
    "pointer": (f"{LOOP} *(a + i) = *b;", IN_LOOP + "S0: a[i] = b[0]"),
    "pointer, other way": (f"{LOOP} *(i + a) = (b + 1)[i];", IN_LOOP + "S0: a[i] = b[1 + i]"),
    "pointer down": (f"{LOOP} *(a + n - i) = *(b - 1);", IN_LOOP + "S0: a[n - i] = b[-1]"),
    "row pointer": (f"{LOOP} *(A[i] + 2) = (*A)[i];", IN_LOOP + "S0: A[i][2] = A[0][i]"),
    "subscripts stay": (
        f"{LOOP} a[i*m + 0*i + (m+1) % 2 - 8/4] = 0;",
        IN_LOOP + "S0: a[i * m + 0 * i + (m + 1) % 2 - 8 / 4] = 0",
    ),
    "integer casts": (f"{LOOP} a[(size_t)i * (long)m + 1L] = 0;", IN_LOOP + "S0: a[i * m + 1] = 0"),
    "real casts": (f"{LOOP} a[i] = (double)b[i] + (double)2;", IN_LOOP + "S0: a[i] = b[i] + 2.0"),
    "shift": (f"{LOOP} a[i << 2] = 0;", IN_LOOP + "S0: a[i * 4] = 0"),
    "literals": (
        f"{LOOP} a[0x10] = 010 + 1.5e-3f + .5 + 2u;",
        IN_LOOP + "S0: a[16] = 8 + 1.5e-3f + .5 + 2",
    ),
    "an offset": (
        f"{LOOP} {{ off = i*m; a[off] = 0; off += 1; b[off] = 1; }}",
        IN_LOOP + "S0: a[i * m] = 0\n  S1: b[i * m + 1] = 1",
    ),
    "a local offset": (
        f"{LOOP} {{ const int o = i + 1; for (j = o; j < m; j++) A[o][j] = o; }}",
        "for i in 0:n\n  for j in i + 1:m\n    S0: A[i + 1][j] = i + 1",
    ),
    "an offset before": (f"off = n - 1; {LOOP} a[off - i] = 0;", IN_LOOP + "S0: a[n - 1 - i] = 0"),
    "a pragma": (f"#pragma omp parallel for\n{LOOP} a[i] = 0;", IN_LOOP + "S0: a[i] = 0"),
}


@pytest.mark.parametrize("name", NESTS)
def test_lowers(name: str) -> None:
    body, nest = NESTS[name]
    assert print_nest(load_region(body).nest) == nest + "\n"


def test_names_come_in_text_order() -> None:
    found = load_region(
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = x * b[j] + a[i];"
    )
    assert list(found.scalars) == ["i", "n", "j", "m", "x"]
    assert list(found.arrays) == ["A", "b", "a"]


def test_sizes_of_extents_are_named_too() -> None:
    found = load_region("for (i = 0; i < 4; i++) A[i][0] = 0;")
    assert list(found.scalars) == ["i", "n", "m"]


def test_a_constant_local_has_its_value() -> None:
    found = load_region(
        "for (i = 0; i < q; i++) a[i * w] = 0;", "const int q = 2*5; int w = q + 1;"
    )
    assert (found.scalars["q"].value, found.scalars["w"].value) == (10, 11)
    assert found.sizes == {**SIZES, "q": 10, "w": 11}


@pytest.mark.parametrize("change", ["if (n) q = 3;", "q++;", "g(&q);"])
def test_a_changed_local_has_no_value(change: str) -> None:
    found = load_region("for (i = 0; i < q; i++) a[i] = 0;", f"int q = 10; {change}")
    assert found.scalars["q"].value is None
    assert found.sizes.get("q") != 10


def test_later_sizes_win() -> None:
    body = "for (i = 0; i < N; i++) for (j = 0; j < n; j++) for (k = 0; k < m; k++) a[i] = 0;"
    text = "#define N 10\n" + region(body).replace(
        "PerfTuning ()", "PerfTuning ( def input_params { param n[] = [7, 8]; param m = 5; } )"
    )
    (found,) = load_text(text, {"m": 6}).regions
    assert found.sizes == {"N": 10, "n": 7, "m": 6}
    assert found.scalars["N"].is_macro
    assert found.scalars["n"].value is None


def test_file_scope_declarations_are_found() -> None:
    head = (
        "typedef double real8; enum { ROWS = 3, COLS };\n"
        "static const int depth = ROWS * 2;\nint shared;\nreal8 grid[ROWS][COLS];\n"
    )
    found = load_region("for (i = 0; i < depth; i++) grid[i][COLS - 1] = shared;", head=head)
    grid = found.arrays["grid"]
    assert (grid.element, grid.extents, grid.is_pointer) == (
        "double",
        (Var("ROWS"), Var("COLS")),
        False,
    )
    assert {n: found.scalars[n].value for n in ("depth", "COLS", "shared")} == {
        "depth": 6,
        "COLS": 4,
        "shared": None,
    }


ARRAYS = [
    ("double *a", (None,), True, False, False, "double *a"),
    ("const double *restrict a", (None,), True, True, True, "const double *a"),
    ("float const * __restrict__ a", (None,), True, True, True, "const float *a"),
    ("double a[]", (None,), True, False, False, "double a[]"),
    ("double a[n]", (Var("n"),), True, False, False, "double a[n]"),
    ("double a[static restrict 4]", (Int(4),), True, True, False, "double a[4]"),
    ("vector a", (None,), True, False, False, "double *a"),
    ("const vector a", (None,), True, False, False, "double *a"),
    ("__attribute__((aligned(64))) double *a", (None,), True, False, False, "double *a"),
]


@pytest.mark.parametrize("row", ARRAYS, ids=[row[0] for row in ARRAYS])
def test_array_parameters(row: tuple[str, tuple[object], bool, bool, bool, str]) -> None:
    declared, *expected = row
    text = (
        f"typedef double *vector;\nvoid f(int n, {declared}) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) s += a[i]; {CLOSE} }}"
    ).replace("{ /*", "{ double s = 0; /*", 1)
    (found,) = load_text(text).regions
    a = found.arrays["a"]
    assert [a.extents, a.is_pointer, a.is_restrict, a.is_const, a.parameter] == expected


@pytest.mark.parametrize(
    ("declared", "extents", "parameter"),
    [
        ("double A[][m]", (None, Var("m")), "double A[][m]"),
        ("double (*A)[m]", (None, Var("m")), "double (*A)[m]"),
        ("const double A[n][2*m]", (Var("n"), ...), "const double A[n][2 * m]"),
    ],
)
def test_matrix_parameters(declared: str, extents: tuple[object, ...], parameter: str) -> None:
    text = (
        f"void f(int n, int m, double *b, {declared}) {{ {OPEN} "
        f"for (int i = 0; i < n; i++) b[i] = A[i][0]; {CLOSE} }}"
    )
    (found,) = load_text(text).regions
    assert found.arrays["A"].parameter == parameter
    assert found.arrays["A"].extents[0] == extents[0]


READ_AFTER = {
    "": set(),
    "a[0] = s;": {"s"},
    "s = 0; a[0] = s;": set(),
    "s += 1;": {"s"},
    "for (i = 0; i < n; i++) a[i] = s;": {"s"},
    "if (n) s = 0; a[0] = s;": {"s"},
    "if (n) s = 0; else s = 1; a[0] = s;": set(),
    "while (n) { s = 0; n = i; } ": {"i"},
    "for (;;) { if (n) break; i = 0; } a[i] = 0;": {"i"},
    "for (;;) { i = 0; if (n) continue; n = i; }": set(),
    "{ double s = 1; a[0] = s; }": set(),
    "{ double s = 1; a[0] = s; } a[1] = s;": {"s"},
    "{ a[0] = 1; double s = 1; n = s; } a[1] = s;": {"s"},
    "{ n = i; int i = 1; a[i] = 0; }": {"i"},
    "{ int i = 1; a[i] = 0; } s = 0;": set(),
    "while (n) { int i = 1; if (n > 3) break; n = i; } a[i] = 0;": {"i"},
    "while (n) { double s = 1; if (n > 3) continue; n = s; } a[0] = s;": {"s"},
    "return; a[0] = s;": set(),
    "goto out; s = 0; out: a[0] = s; i = 0;": {"s"},
    "if (n) goto out; s = 0; i = 0; out: a[0] = s; n = i;": {"s", "i"},
    "s = 0; i = 0; again: a[0] = s; if (n-- > i) goto again;": set(),
    "goto in; again: n = i; in: s = 0; if (n) goto again;": {"i"},
    "goto in; while (n > 0) { a[0] = i; in: s = 0; }": {"i"},
    "goto in; { double s; in: s = 0; n = s; }": {"s", "i"},
    "g(&i); ": {"i"},
    "do { s = 0; } while (i < 3);": {"i"},
    "switch (n) { case 1: s = 0; } ": set(),
    "switch (n) { case 1: s = 0; } a[0] = s;": {"s"},
    "switch (n) { case 1: s = 0; case 2: a[0] = s; }": {"s"},
    "switch (n) { case 1: s = 0; a[0] = s; break; case 2: i = 0; }": set(),
    "switch (n) { s = 0; case 1: a[0] = s; default: n = i; }": {"s", "i"},
    "switch (n) { case 1: s = 0; for (;;) { a[0] = s; case 2: n++; } }": {"s"},
    "switch (n) { case 1: goto one; case 2: goto two; } one: i = 0; two: a[i] = 0;": {"i"},
    "switch (n) { case 1: goto one; case 2: goto two; } one: i = 0; a[i] = 0; two: s = 0;": set(),
    "for (;;) { i = 0; switch (n) { case 1: continue; default: s = 0; } n = i; }": set(),
    "for (;;) { switch (n) { case 1: i = 0; } switch (n) { case 2: n = i; } }": {"i"},
    "switch (n) { case 1: { double s = 1; a[0] = s; } }": set(),
    "switch (n) { case 1: while (n--) { case 2: { double s = 1; a[0] = s; } } }": {"s", "i"},
    "switch (n) { case 1: switch (i) { case 1: s = 0; break; default: n = s; } }": {"s", "i"},
    "a[0] = i = 1;": set(),
    "if ((i = n, i) > 3) a[i] = 0;": set(),
    "if ((i = n, i) > 3 && (s = a[i], s) > 0) a[0] = s;": {"s"},
    "a[0] = n ? (i = 1, i) : i;": {"i"},
    "while ((s = a[n], s) > 0) n = i;": {"i"},
    "do n = i; while ((i = n, i));": {"i"},
}


@pytest.mark.parametrize("after", READ_AFTER)
def test_what_is_read_after(after: str) -> None:
    found = load_region("for (i = 0; i < n; i++) s = s + a[i];", after=after)
    written = {name for name in ("s", "i") if found.scalars[name].read_after}
    assert written == READ_AFTER[after]


def test_an_outer_loop_reads_again() -> None:
    body = "for (i = 0; i < n; i++) s = a[i];"
    found = load_region(body, "for (j = 0; j < m; j++) { b[j] = s;", "}")
    assert found.scalars["s"].read_after
    assert not found.scalars["i"].read_after


def test_a_jump_back_over_the_region_reads_again() -> None:
    body = "for (i = 0; i < n; i++) s = a[i];"
    found = load_region(body, "again: b[j] = s;", "if (j++ < m) goto again;")
    assert found.scalars["s"].read_after
    assert not found.scalars["i"].read_after


def test_a_file_scope_variable_is_read_by_others() -> None:
    found = load_region("for (i = 0; i < n; i++) total += a[i];", head="double total;\n")
    assert found.scalars["total"].read_after


def test_places_are_exact() -> None:
    text = f"void f(int n, double *a)\r\n{{\r\n\t{OPEN}\r\n\tfor (int i = 0; i < n; i++)\r\n"
    text += f"\t\ta[ i ] += 2 * /* b */ a[i\r\n+1];\r\n\t{CLOSE}\r\n}}\r\n"
    (found,) = load_text(text).regions
    (loop,), (assign,) = found.nest.loops(), found.nest.assigns()
    assert loop.span == Span("t.c", 4, 2, 3)
    assert assign.target.span == Span("t.c", 5, 3, 6)
    assert assign.span == Span("t.c", 5, 3, 25)
    (second,) = [a for a in assign.reads() if a.span.column == 25]
    assert second.span.length == 3
    assert found.extent.indent == "\t"
    assert text[found.extent.start : found.extent.end].startswith(OPEN)
    assert text[found.extent.end :] == "\r\n}\r\n"


def test_function_start_is_the_line_of_the_definition() -> None:
    text = f"int x;\n/* f */\nstatic inline\nvoid f(int n, double *a) {{ {OPEN} "
    text += f"for (int i = 0; i < n; i++) a[i] = 0; {CLOSE} }} void g(int n, double *a) {{ {OPEN} "
    text += f"for (int i = 0; i < n; i++) a[i] = 0; {CLOSE} }}"
    first, second = load_text(text).regions
    assert text[first.extent.function_start :].startswith("static inline")
    assert text[second.extent.function_start :].startswith("void g")


def test_regions_count_within_their_function() -> None:
    block = f"{OPEN} for (int i = 0; i < n; i++) a[i] = 0; {CLOSE}\n"
    text = (
        f"void f(int n, double *a) {{ {block} {block} }}\nvoid g(int n, double *a) {{ {block} }}\n"
    )
    assert [r.entry for r in load_text(text).regions] == [
        "annotune_f_1",
        "annotune_f_2",
        "annotune_g_1",
    ]


def test_long_indices_are_noted() -> None:
    assert load_region("for (i = 0; i < n; i++) a[(long)i*n] = 0;").text.is_wide
    assert not load_region("for (i = 0; i < n; i++) a[i*n] = 0;").text.is_wide


OLD_STYLE = (
    '#include "f2c.h"\n'
    "int daxpy_(n, a, x, y)\ninteger *n; doublereal *a, *x; doublereal *y;\n"
    "{\n  integer i__1, i__;\n  doublereal d;\n  --x; --y;\n  i__1 = *n; d = *a;\n"
    f"  {OPEN}\n  for (i__ = 1; i__ <= i__1; ++i__) {{ y[i__] += d * x[i__]; }}\n  {CLOSE}\n"
    "  return 0;\n}\n"
)


def test_what_f2c_writes() -> None:
    (found,) = load_text(OLD_STYLE).regions
    assert print_nest(found.nest) == "for i__ in 1:n_ + 1\n  S0: y[i__] += d * x[i__]\n"
    assert found.scalars["i__"].type == "long"
    assert found.arrays["y"].element == "double"


# What stands around a function or a region without being part of it.
AROUND = {
    "extern C": ('#ifdef __cplusplus\nextern "C" {\n#endif\n', "", "", ""),
    "extern C, read": ('extern "C" {\n', "", "", "}\n"),
    "a macro without semicolon": ("DECLARE(x)\n", "", "", ""),
    "an attribute": ("__attribute__((noinline)) static inline __attribute__((hot))\n", "", "", ""),
    "an export macro": ("EXPORT ", "", "", ""),
    "a function of structs": (
        "struct S { int a; } g(void) { struct S s; return s; }\n",
        "",
        "",
        "",
    ),
    "assembly": ("", '__asm__ __volatile__ ("nop" : : "r"(n) : "memory");', "", ""),
    "unknown types": ("", "int z = (int) q_t; w_t *p2; k = (w_t) j; p = (v_t *) j;", "", ""),
    "an if": ("", "if (n) {", "} else { s = 1; }", ""),
    "an if without braces": ("", "if (n)", "else s = 1;", ""),
    "a case": ("", "switch (n) { case 1: s = 2;", "break; default: s = 1; }", ""),
    "a label": ("", "goto L; L:", "", ""),
    "a loop": ("", "while (n--) {", "}", ""),
    "a byte-order mark": ("\ufeff", "", "", ""),
    "bytes that are no UTF-8": ("/* \udce9 */", "", "", ""),
}


@pytest.mark.parametrize("name", AROUND)
def test_takes_what_stands_around(name: str) -> None:
    head, before, after, tail = AROUND[name]
    if name == "extern C":
        tail = "#ifdef __cplusplus\n}\n#endif\n"
    text = head + region("for (i = 0; i < n; i++) a[i] = 0;", before, after) + tail
    (found,) = load_text(text).regions
    assert print_nest(found.nest) == "for i in 0:n\n  S0: a[i] = 0\n"


def test_a_size_of_its_own_scope() -> None:
    found = load_region("for (i = 0; i < NN; i++) a[i] = 0;", "enum { NN = 5 };")
    assert found.scalars["NN"].value == 5


def test_unknown_names_outside_the_region_do_no_harm() -> None:
    before = (
        'FILE *out = fopen("x", "w"); foo_t q = {0}, *r = &q; MPI_Comm c; '
        "my_type *t = (my_type *)malloc(n * sizeof(my_type)); __extension__ int v = LIMIT;"
    )
    found = load_region("for (i = 0; i < n; i++) a[i] = 0;", before, "fclose(out); (void)r;")
    assert list(found.arrays) == ["a"]


@pytest.mark.slow
def test_a_thousand_functions_take_linear_time() -> None:
    import time

    def seconds(count: int) -> float:
        other = (
            "static int g%d(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n"
        )
        text = "".join(other % k for k in range(count)) + region(
            "for (i = 0; i < n; i++) a[i] = 0;"
        )
        blocks = find_annotations(text, "t.c")
        start = time.process_time()
        load("t.c", text, blocks)
        return time.process_time() - start

    seconds(100)
    # Quadratic time would be a hundredfold; the best of three, as other work disturbs.
    few, many = (min(seconds(count) for _ in range(3)) for count in (200, 2000))
    assert many < 40 * max(few, 0.002)
