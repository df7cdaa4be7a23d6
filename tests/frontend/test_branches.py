"""Conditions: guards of statements, choices of values, and minima and maxima."""

from __future__ import annotations

import pytest
from source_text import CLOSE, load_region, load_text
from support.nest_text import print_nest

LOOP = "for (i = 0; i < n; i++)"
INNER = "for (j = 0; j < m; j++)"

NESTS = {
    "a guard": (f"{LOOP} if (i > 2) a[i] = 0;", "S0: a[i] = 0 if i > 2"),
    "integers turn round": (
        f"{LOOP} if (i < n - 1) {{ a[i] = 0; b[i] = 1; }} else b[i] = 2;",
        "S0: a[i] = 0 if i < n - 1\nS1: b[i] = 1 if i < n - 1\nS2: b[i] = 2 if i >= n - 1",
    ),
    "reals do not": (
        f"{LOOP} if (!(a[i] < x)) s = 0; else y = 1;",
        "S0: s = 0 if (a[i] < x) == 0\nS1: y = 1 if a[i] < x",
    ),
    "equality of reals does": (
        f"{LOOP} if (!(a[i] == x)) b[i] = 0;",
        "S0: b[i] = 0 if a[i] != x",
    ),
    "De Morgan": (
        f"{LOOP} if (!(i < 2 || p[i] && x > y)) b[i] = 0;",
        "S0: b[i] = 0 if i >= 2 && (p[i] == 0 || (x > y) == 0)",
    ),
    "numbers as conditions": (
        f"{LOOP} {{ if (n) a[i] = 0; if (x) b[i] = 0; if (!y) s = 1; }}",
        "S0: a[i] = 0 if n != 0\nS1: b[i] = 0 if x != 0\nS2: s = 1 if y == 0",
    ),
    "nested": (
        f"{LOOP} if (i) {{ a[i] = 0; if (x > 0) {{ b[i] = 1; s = 2; }} }}",
        "S0: a[i] = 0 if i != 0\nS1: b[i] = 1 if i != 0 && x > 0\nS2: s = 2 if i != 0 && x > 0",
    ),
    "dangling else": (
        f"{LOOP} if (i) if (n > 3) a[i] = 1; else s = 2;",
        "S0: a[i] = 1 if i != 0 && n > 3\nS1: s = 2 if i != 0 && n <= 3",
    ),
    "a loop inside": (
        f"{LOOP} if (x > 0) {{ {INNER} A[i][j] = 0; }}",
        "for j in 0:m\n  S0: A[i][j] = 0 if x > 0",
    ),
    "a bound that may fail": (
        f"{LOOP} if (m) for (j = 0; j < n / m; j++) A[i][j] = 0;",
        "for j in 0:(m != 0 ? n / m : 0)\n  S0: A[i][j] = 0 if m != 0",
    ),
    "a constant": (f"{LOOP} if (1) a[i] = 1; else b[i] = 2;", "S0: a[i] = 1"),
    "a constant, not": (f"{LOOP} {{ s = 1; if (!4) a[i] = 1; }}", "S0: s = 1"),
    "the condition changes": (
        f"{LOOP} if (a[i] > 0) {{ a[i] = 1; s = a[i]; }} else s = 2;",
        "S0: annotune_if_1 = a[i] > 0\nS1: a[i] = 1 if annotune_if_1\n"
        "S2: s = a[i] if annotune_if_1\nS3: s = 2 if annotune_if_1 == 0",
    ),
    "it changes last": (
        f"{LOOP} if (a[i] > 0) {{ s = a[i]; a[i] = 1; }}",
        "S0: s = a[i] if a[i] > 0\nS1: a[i] = 1 if a[i] > 0",
    ),
    "it changes in a loop": (
        f"{LOOP} if (s > 0) {INNER} s -= A[i][j];",
        "S0: annotune_if_1 = s > 0\nfor j in 0:m\n  S1: s -= A[i][j] if annotune_if_1",
    ),
    "one stored in another's branch": (
        f"{LOOP} if (i) {{ if (a[i] > 0) {{ a[i] = 1; s = 3; }} else s = 4; b[i] = 2; }}",
        "S0: annotune_if_1 = i != 0 && a[i] > 0\nS1: a[i] = 1 if annotune_if_1\n"
        "S2: s = 3 if annotune_if_1\nS3: s = 4 if i != 0 && annotune_if_1 == 0\n"
        "S4: b[i] = 2 if i != 0",
    ),
    "a choice": (
        f"{LOOP} if (x > 0) a[i] = 1; else a[i] = 2.0;",
        "S0: a[i] = x > 0 ? 1 : 2.0",
    ),
    "a choice of several": (
        f"{LOOP} if (x > 0) {{ a[i] = 1; s = x; }} else {{ a[i] = 2; s = b[i]; }}",
        "S0: a[i] = x > 0 ? 1 : 2\nS1: s = x > 0 ? x : b[i]",
    ),
    "else if": (
        f"{LOOP} if (i == 0) a[i] = 1; else if (i == n - 1) a[i] = 2; else a[i] = b[i];",
        "S0: a[i] = i == 0 ? 1 : i == n - 1 ? 2 : b[i]",
    ),
    "a choice that reads what it sets": (
        f"{LOOP} if (a[i] > 0) a[i] = 1; else a[i] = x;",
        "S0: a[i] = a[i] > 0 ? 1 : x",
    ),
    "no choice of other types": (
        f"{LOOP} if (x > 0) a[i] = n * 1L; else a[i] = x;",
        "S0: a[i] = n * (long)(1) if x > 0\nS1: a[i] = x if (x > 0) == 0",
    ),
    "maximum": (f"{LOOP} if (a[i] > s) s = a[i];", "S0: s = a[i] > s ? a[i] : s"),
    "maximum, mirrored": (f"{LOOP} if (s < a[i]) s = a[i];", "S0: s = s < a[i] ? a[i] : s"),
    "minimum": (f"{LOOP} {{ if (s >= a[i]) {{ s = a[i]; }} }}", "S0: s = s >= a[i] ? a[i] : s"),
    "maximum of a float in double": (
        f"{LOOP} if (y > s) s = y;",
        "S0: s = y > s ? y : s",
    ),
    "no maximum where it narrows": (
        f"float g = 0; {LOOP} if (a[i] > g) g = a[i];",
        "S0: g = 0\nfor i in 0:n\n  S1: g = a[i] if a[i] > g",
    ),
    "a guarded maximum": (
        f"{LOOP} if (i > 2) if (a[i] > s) s = a[i];",
        "S0: s = a[i] > s ? a[i] : s if i > 2",
    ),
    "the place of a maximum": (
        f"k = 0; {LOOP} if (a[i] > s) {{ s = a[i]; k = i; }} a[k] = 1;",
        "S0: k = 0\nfor i in 0:n\n  S1: annotune_if_1 = a[i] > s\n"
        "  S2: s = a[i] if annotune_if_1\n  S3: k = i if annotune_if_1\nS4: a[k] = 1",
    ),
    "a branch of formulas": (
        f"{LOOP} if (i) {{ int o = i - 1; a[o] = 1; }} else {{ int o = n; a[o] = 2; }}",
        "S0: a[i - 1] = 1 if i != 0\nS1: a[n] = 2 if i == 0",
    ),
    "around loops": (
        f"if (n > 3) {{ {LOOP} a[i] = 0; }}",
        "for i in 0:n\n  S0: a[i] = 0 if n > 3",
    ),
}


@pytest.mark.parametrize("name", NESTS)
def test_lowers(name: str) -> None:
    body, expected = NESTS[name]
    if not expected.startswith("for i") and "\nfor i" not in expected:
        expected = "\n".join(["for i in 0:n", *(f"  {line}" for line in expected.split("\n"))])
    assert print_nest(load_region(body).nest) == expected + "\n"


def test_a_stored_condition_is_a_local_integer() -> None:
    found = load_region(f"{LOOP} if (a[i] > 0) {{ a[i] = 1; s = a[i]; }}")
    stored = found.scalars["annotune_if_1"]
    assert (stored.type, stored.is_local, stored.read_after) == ("int", True, False)


DISJOINT = "def assume { arg disjoint = True; }"


@pytest.mark.parametrize(
    ("declared", "assumed", "is_stored"),
    [
        ("double *a, double *b", "", True),
        ("double *restrict a, double *b", "", False),
        ("double *a, double *b", DISJOINT, False),
        # Where memory has no declared type, a float may be stored over a double that was read.
        ("double *a, float *b", "", True),
        ("double *a, unsigned char *b", "", True),
        ("double *restrict w, double *restrict b", "", True),
    ],
)
def test_what_overlaps_may_change_the_condition(
    declared: str, assumed: str, is_stored: bool
) -> None:
    made = "double *a = b + 1;" if " a" not in declared else ""
    text = (
        f"void f(int n, {declared}) {{ double s; {made} /*@ begin PerfTuning ({assumed}) @*/ "
        f"for (int i = 0; i < n; i++) if (a[i] > 0) {{ b[i] = 1; s = 2; }} {CLOSE} }}"
    )
    (found,) = load_text(text).regions
    assert ("annotune_if_1" in found.scalars) == is_stored


@pytest.mark.parametrize(
    ("declared", "is_stored"),
    [
        ("double g[9], h[9];", False),
        ("double g[9], *h;", True),
        ("double g[9]; float *h;", False),
        ("unsigned g[9]; int *h;", True),
        ("double g[9]; char *h;", True),
    ],
)
def test_array_objects_have_a_type(declared: str, is_stored: bool) -> None:
    found = load_region(f"{LOOP} if (g[i] > 0) {{ h[i] = 1; s = 2; }}", head=f"{declared}\n")
    assert ("annotune_if_1" in found.scalars) == is_stored


def test_the_place_of_a_stored_condition_is_the_condition() -> None:
    found = load_region(f"{LOOP} if (a[i] > 0) {{ a[i] = 1; s = a[i]; }}")
    (span,) = [s.span for s in found.nest.assigns() if "annotune" in str(s.target)]
    assert (span.line, span.length) == (7, len("a[i] > 0"))
