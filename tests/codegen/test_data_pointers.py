"""Host code in blocks of Data whose pointers leave their arrays, and to which jumps lead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.resident import Built, Job

ON_DEVICES = ("cuda", "openacc")
DOUBLE = 8
HEAD = """
#include <stdlib.h>
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wdangling-else"
static void scaled(int n, double *restrict a, double c)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = c * a[i] + 1.0;
    /*@ end @*/
}
"""
DATA = '/*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/'
END = "/*@ end @*/"
# As f2c and Numerical Recipes write them.
CALLED = """
static int scal(int *n, double *alpha, double *a)
{
    int i__1, i__;
    --a;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__)
        a[i__] = *alpha * a[i__];
    return 0;
}
static int around(int *n, double *alpha, double *a)
{
    --a;
    scal(n, alpha, &a[1]);
    if (*n > 0)
        a[*n] += 1;
    return 0;
}
static int columns(int *m, int *n, double *a)
{
    int a_dim1, a_offset, i__, j, i__1, i__2;
    a_dim1 = *m;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
        i__2 = *m;
        for (i__ = 1; i__ <= i__2; ++i__)
            a[i__ + j * a_dim1] += i__ - j;
    }
    return 0;
}
static void recipe(double *v, int n)
{
    for (int i = 1; i <= n; i++)
        v[i] += i;
}
static double *before(double *a) { return a - 1; }
static double *vector(int nl, int nh)
{
    double *v = malloc((nh - nl + 2) * sizeof *v);
    return v - nl + 1;
}
struct box { int n; double *v; };
static double total(struct box *b)
{
    double s = 0;
    for (int i = 1; i <= b->n; i++)
        s += b->v[i];
    return s;
}
static double *shared;
"""
# What stands before the block, in each of its rounds, and behind it.
POINTERS = {
    "f2c": ("double half = 0.5;", "scal(&n, &half, x);", ""),
    "f2c_called": ("double half = 0.5;", "around(&n, &half, x);", ""),
    "f2c_columns": ("int one = 1;", "columns(&n, &one, x); columns(&one, &n, x);", ""),
    "recipe": ("", "recipe(x - 1, n);", ""),
    "before_block": ("double *p = x - 1;", "for (int i = 1; i <= n; i++) p[i] += 2;", ""),
    "in_steps": ("double *p = x; --p; p -= k;", "for (int i = 1; i <= n; i++) p[i + k] += 2;", ""),
    "assigned": (
        "double *p;",
        "p = (r & 1 ? x : y) - 1; for (int i = 1; i <= n; i++) p[i] += 2;",
        "",
    ),
    "symbolic": ("double *p = x + k;", "p -= k + n; p[k + n - k] += 1; p += k + n;", ""),
    "behind": ("double *p = x + n;", "p[-1] += 1;", ""),
    "far_behind": ("double *p = x + n + 3;", "p[-4] += 1;", ""),
    "backwards": ("double *e = x + n;", "for (double *q = e; q > x; ) *--q += 0.5;", ""),
    "middle": ("double *p = x + n / 2;", "*p += 1; p[-(n / 2)] += 2;", ""),
    "address": ("double *p = &x[-1], *q = &(x - 1)[0];", "p[1] += 1; q[n] += 1;", ""),
    "member": ("struct box b = { n, x - 1 };", "b.v[1] += 2; y[0] += total(&b);", ""),
    "named_member": ("struct box b = { .v = x - 1 };", "b.v[1] += 2;", ""),
    "literal": ("struct box b;", "b = (struct box){ n, x - 1 }; b.v[1] += 2;", ""),
    "stored": ("double *p, **q = &p; *q = x - 1;", "p[1] += 2; (*q)[n] += 1;", ""),
    "global": ("shared = x; --shared;", "shared[1] += 2;", ""),
    "result": ("double *p = before(x);", "p[1] += 2; y[0] += p[n];", ""),
    "hidden": (
        "",
        "{ double *p = x - 1; { double *q = p; p = y; p[0] += 1; q[1] += 3; } }"
        " { double *p = y; p[0] += 1; { double *x = p - n; x[n] += 1; } }",
        "",
    ),
    "in_the_block": ("", "if (!r) x -= 1; x[1] += 4; y[0] += x[1]; if (r == k - 1) x += 1;", ""),
    # The element before the first of one is the last of the other.
    "neighbours": (
        "double *a = malloc(2 * n * sizeof *a), *u = x, *v = y, half = 0.5;"
        " for (int i = 0; i < n; i++) a[i] = x[i], a[n + i] = y[i]; x = a, y = a + n;",
        "scal(&n, &half, y); recipe(y - 1, n); scaled(n, y, 0.5); recipe(x - 1, n); x[0] += y[0];",
        "for (int i = 0; i < n; i++) u[i] = x[i], v[i] = y[i]; free(a);",
    ),
    # Each is an array of its own on the device, though C has one.
    "halves": (
        "double *a = malloc(2 * n * sizeof *a), *u = x, *v = y;"
        " for (int i = 0; i < n; i++) a[i] = x[i], a[n + i] = y[i];"
        " x = a, y = a + n; double *h = a + n, *p = h - 1, *q = a + n;",
        "p[1] += 1; scaled(n, y, 0.5); p[n] += 2; scaled(n, y, 0.5); q[0] += 1;",
        "for (int i = 0; i < n; i++) u[i] = x[i], v[i] = y[i]; free(a);",
    ),
    "halves_before_a_label": (
        "double *a = malloc(2 * n * sizeof *a), *u = x, *v = y;"
        " for (int i = 0; i < n; i++) a[i] = x[i], a[n + i] = y[i];"
        " x = a, y = a + n; double *h = a + n, *p = h - 1;",
        "p[1] += 1; scaled(n, y, 0.5); if (r) goto next; p[n] += 2; next: x[0] += 1;",
        "for (int i = 0; i < n; i++) u[i] = x[i], v[i] = y[i]; free(a);",
    ),
    "halves_behind_a_label": (
        "double *a = malloc(2 * n * sizeof *a), *u = x, *v = y;"
        " for (int i = 0; i < n; i++) a[i] = x[i], a[n + i] = y[i];"
        " if (k > 1) goto on; x[0] += 1; on: x = a, y = a + n; double *h = a + n, *p = h - 1;",
        "p[1] += 1; scaled(n, y, 0.5); p[n] += 2;",
        "for (int i = 0; i < n; i++) u[i] = x[i], v[i] = y[i]; free(a);",
    ),
    "halves_set_again": (
        "double *a = malloc(2 * n * sizeof *a), *u = x, *v = y;"
        " for (int i = 0; i < n; i++) a[i] = x[i], a[n + i] = y[i];"
        " x = a, y = a + n; double *h = a, *p; h = h + n; p = h - 1;",
        "p[1] += 1; scaled(n, y, 0.5); p[n] += 2;",
        "for (int i = 0; i < n; i++) u[i] = x[i], v[i] = y[i]; free(a);",
    ),
    "allocated": (
        "double *v = vector(1, n), *u = x;"
        " for (int i = 1; i <= n; i++) v[i] = x[i - 1]; x = v + 1;",
        "v[1] += 2; y[0] += v[n];",
        "for (int i = 1; i <= n; i++) u[i - 1] = v[i]; free(v);",
    ),
}
REGION = """
/*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
for (int i = 0; i < n; i++)
    y[i] += x[i];
/*@ end @*/
"""
JUMPS = """
static double *rows[4];
static double *at(int k) { return rows[k]; }
static void over(int n, double *x) { if (n > 2) goto done; x[0] += 1; done: x[n - 1] += 2; }
static void into(int n, double *x)
{
    int i = 0;
    if (n > 2) goto in;
    for (i = 0; i < n; i++) {
        x[i] += 1;
in:     x[n - 1] += 2;
    }
}
static int cases(int n, int k, double *x)
{
    switch (k) {
    case 0: x[0] += 1;
    case 1: return 1;
    case 2:
    default: x[n - 1] += k > 1 ? 2 : 1;
    }
    return 0;
}
"""
STATEMENTS = {
    "over": ("", "over(n, x);", ""),
    "into": ("", "into(n, x);", ""),
    "cases": ("", "y[0] += cases(n, r, x);", ""),
    "label_before": ("if (n > 2) goto on; y[0] = 1; on: there: y[n - 1] += 1;", "x[0] += 1;", ""),
    "label": ("", "if (r) goto next; y[0] += x[n - 1]; next: x[0] += 1;", ""),
    "label_of_block": (
        "",
        "if (r) { x[0] += 1; goto next; } next: { y[0] += 1; } x[0] += y[0];",
        "",
    ),
    "label_of_branch": ("", "if (r == 0) goto here; else here: x[0] += 2;", ""),
    "switch": (
        "",
        "switch (r) { case 0: scaled(n, x, 0.25); x[0] += 1; break;"
        " case 1 ? 1 : 7: x[n - 1] += 1; scaled(n, y, 0.5); y[0] += 1; lab: default: x[0] -= 1; }",
        "",
    ),
    "switch_alone": ("", "switch (r) case 1: x[0] += 1;", ""),
    # Several statements, of which one is a region, end at one place.
    "ends": ("", f"if (r > 1) x[0] += 1; else if (x[0] > 1) {REGION} y[0] += x[0];", ""),
    "ends_twice": (
        "for (int i = 0; i < 4; i++) rows[i] = i & 1 ? x : y;",
        f"if (r > 3) x[0] += 1; else if (at(r)[0] < 1) if (x[0] > 1) {REGION} y[0] += x[0];",
        "",
    ),
}


def program(head: str, cases: dict[str, tuple[str, str, str]]) -> str:
    """Return a function for each case, with regions around what the host does."""
    rows = [HEAD, head]
    for name, (first, each, last) in cases.items():
        rows.append(f"void f_{name}(int n, int k, double *x, double *y)\n{{\n{first}\n{DATA}")
        rows.append("for (int r = 0; r < k; r++) {\nscaled(n, x, 0.5);\nscaled(n, y, 0.25);")
        rows.append(f"{each}\nscaled(n, x, 0.5);\nscaled(n, y, 0.5);\n}}\n{END}\n{last}\n}}")
    return "\n".join(rows)


def wanted(cases: dict[str, tuple[str, str, str]]) -> list[Job]:
    sizes = [(n, k) for n in (1, 5, 16) for k in (0, 1, 3)]
    return [Job(f"f_{name}", size, (size[0], size[0])) for name in cases for size in sizes]


@pytest.mark.alike(3)
@pytest.mark.parametrize("target", ON_DEVICES)
@pytest.mark.parametrize("head", [CALLED, JUMPS], ids=["pointers", "jumps"])
def test_the_host_finds_what_regions_have_made(head: str, target: str, tmp_path: Path) -> None:
    cases = POINTERS if head == CALLED else STATEMENTS
    built = Built(tmp_path, target, {"program": program(head, cases)})
    assert all(region.is_resident for region in built.emissions["program"].source.regions)
    built.outcomes(*wanted(cases))


@pytest.mark.parametrize("target", ON_DEVICES)
def test_a_routine_of_f2c_brings_back_its_own_array_alone(target: str, tmp_path: Path) -> None:
    text = program(CALLED, {"f2c": POINTERS["f2c"]})
    (outcome,) = Built(tmp_path, target, {"program": text}).outcomes(
        Job("f_f2c", (64, 3), (64, 64))
    )
    # x goes back in each round and at the end, and comes again each time; y once each way.
    assert outcome.moved == (64 * DOUBLE * (4 + 1), 64 * DOUBLE * (4 + 1))


def test_a_parameter_is_kept_as_it_was_given_where_it_is_asked_for(tmp_path: Path) -> None:
    text = program(CALLED, {name: POINTERS[name] for name in ("f2c", "recipe", "behind")})
    emission = Built(tmp_path, "cuda", {"program": text}).emissions["program"]
    written = emission.files["_cuda.c"]
    assert re.findall(
        r"^    const void \*const (\w+) = (\w+);\n    int", written, re.MULTILINE
    ) == [("annotune_given_a", "a")]
    said = [d.message for d in emission.diagnostics if "outside" in d.message]
    assert said == [
        "all arrays come back to the host for this statement: 'v' may point outside of its array"
    ]
