"""Integers that a region computes: formulas, closed forms, and variables of the nest."""

from __future__ import annotations

import pytest
from source_text import load_region, refusals, region
from support.nest_text import print_nest

LOOP = "for (i = 0; i < n; i++)"
INNER = "for (j = 0; j < m; j++)"

# A region's body, what stands after it, and the nest.
NESTS = {
    "counted up": (
        f"k = 0; {LOOP} {INNER} {{ a[k] = b[j]; k++; }}",
        "",
        "for i in 0:n\n  for j in 0:m\n    S0: a[i * m + j] = b[j]",
    ),
    "by a stride": (
        f"k = 3; {LOOP} {{ a[k] = 0; k += m; }}",
        "",
        "for i in 0:n\n  S0: a[i * m + 3] = 0",
    ),
    "down": (
        f"k = n; {LOOP} {{ k = k - 2; a[k] = 0; }}",
        "",
        "for i in 0:n\n  S0: a[n - 2 * i - 2] = 0",
    ),
    "with a step": (
        "k = 0; for (i = 4; i < n; i += 2) { a[k] = 0; k += 6; }",
        "",
        "for i in 4:n step 2\n  S0: a[3 * (i - 4)] = 0",
    ),
    "from its value before": (
        f"{LOOP} {{ a[k] = 0; k++; }}",
        "",
        "for i in 0:n\n  S0: a[k + i] = 0",
    ),
    "in the header": (
        "for (i = 0, k = 5; i < n; i++, k += 2) a[k] = 0;",
        "",
        "for i in 0:n\n  S0: a[2 * i + 5] = 0",
    ),
    "declared in the header": (
        "for (int e = 1, w = 0; e < n; e++, w += 3) a[w] = e;",
        "",
        "for e in 1:n\n  S0: a[3 * (e - 1)] = e",
    ),
    "in two loops inside": (
        f"k = 0; {LOOP} {{ {INNER} {{ a[k] = 0; k++; }} "
        "for (j = 0; j < 2; j++) { b[k] = 0; k++; } }",
        "",
        "for i in 0:n\n  for j in 0:m\n    S0: a[i * (m + 2) + j] = 0\n"
        "  for j in 0:2\n    S1: b[i * (max(0, m) + 2) + max(0, m) + j] = 0",
    ),
    "where a loop may not run": (
        f"k = 0; {LOOP} {{ a[k] = 0; {INNER} k++; }}",
        "",
        "for i in 0:n\n  S0: a[i * max(0, m)] = 0",
    ),
    "triangular": (
        f"k = 0; {LOOP} for (j = 0; j <= i; j++) {{ s += a[k]; k++; }}",
        "",
        "for i in 0:n\n  for j in 0:i + 1\n    S0: s += a[(long)i * ((long)i + 1) / 2 + j]",
    ),
    "under a condition": (
        f"k = 0; {LOOP} if (b[i] > 0) {{ k++; a[i] = k; }}",
        "",
        "S0: k = 0\nfor i in 0:n\n  S1: k = k + 1 if b[i] > 0\n  S2: a[i] = k if b[i] > 0",
    ),
    "set in both branches": (
        f"{LOOP} {{ if (b[i] > 0) k = i; else k = 2 * i; a[i] = b[k]; }}",
        "",
        "for i in 0:n\n  S0: k = b[i] > 0 ? i : 2 * i\n  S1: a[i] = b[k]",
    ),
    "set in one branch": (
        f"{LOOP} {{ k = i; if (b[i] > 0) k = 0; a[i] = b[k]; }}",
        "",
        "for i in 0:n\n  S0: k = i\n  S1: k = 0 if b[i] > 0\n  S2: a[i] = b[k]",
    ),
    "the trap of one branch": (
        f"{LOOP} {{ if (b[i] > 0) k = 1; else k = 2; if (x > y) k = 3; A[i][0] = b[k]; }}",
        "",
        "for i in 0:n\n  S0: k = b[i] > 0 ? 1 : 2\n  S1: k = 3 if x > y\n  S2: A[i][0] = b[k]",
    ),
    "from the iteration before": (
        f"{LOOP} {{ a[i] = b[k]; k = i; }}",
        "",
        "for i in 0:n\n  S0: a[i] = b[k]\n  S1: k = i",
    ),
    "reused": (
        f"k = 1; {LOOP} a[i] = k; k = 2; {LOOP} b[i] = k;",
        "",
        "for i in 0:n\n  S0: a[i] = 1\nfor i in 0:n\n  S1: b[i] = 2",
    ),
    "from an integer array": (
        f"{LOOP} {{ k = p[i]; a[i] = b[k] + b[k + 1]; }}",
        "",
        "for i in 0:n\n  S0: a[i] = b[p[i]] + b[p[i] + 1]",
    ),
    "from an array that changes": (
        f"{LOOP} {{ k = p[i]; p[i] = 0; a[i] = b[k]; }}",
        "",
        "for i in 0:n\n  S0: k = p[i]\n  S1: p[i] = 0\n  S2: a[i] = b[k]",
    ),
    "an indirect write": (f"{LOOP} a[p[i]] = 0;", "", "for i in 0:n\n  S0: a[p[i]] = 0"),
    "what f2c writes": (
        "int i__1 = n, i__2; for (j = 1; j <= i__1; ++j) { i__2 = m; "
        "for (i = 1; i <= i__2; ++i) a[i + j * 4] = 0.; }",
        "",
        "for j in 1:n + 1\n  for i in 1:m + 1\n    S0: a[i + j * 4] = 0.",
    ),
    "an iterator after its loop": (
        f"{LOOP} a[i] = 0; b[i] = 1;",
        "",
        "for i in 0:n\n  S0: a[i] = 0\nS1: b[max(0, n)] = 1",
    ),
    "an iterator in another loop that runs as often": (
        "for (i = 1; i <= n; i++) a[i] = 0; for (j = 2; j < n + 2; j++) b[i + j] = 1; b[i] = 2;",
        "",
        "for i in 1:n + 1\n  S0: a[i] = 0\nfor j in 2:n + 2\n  S1: b[n + 1 + j] = 1\n"
        "S2: b[max(1, n + 1)] = 2",
    ),
    "a counter less what it counts": (
        f"k = 0; {LOOP} {{ for (j = 2; j < m; j++) k += 2; k = k - (m - 2); "
        "for (j = 3; j <= m; j++) b[k + j] = 1; }",
        "",
        "for i in 0:n\n  for j in 3:m + 1\n"
        "    S0: b[i * (2 * (m - 2) - m + 2) + 2 * (m - 2) - (m - 2) + j] = 1",
    ),
    "a counter in a condition": (
        f"{LOOP} {{ {INNER} a[j] = i; if (b[j] > 0 && j > 3) a[j] = j; }}",
        "",
        "for i in 0:n\n  for j in 0:m\n    S0: a[j] = i\n"
        "  S1: a[max(0, m)] = max(0, m) if b[max(0, m)] > 0 && max(0, m) > 3",
    ),
    "read after the region": (
        f"k = 0; {LOOP} {{ a[k] = 0; k += m; }}",
        "b[0] = k;",
        "for i in 0:n\n  S0: a[i * m] = 0\nS1: k = max(0, n) * m",
    ),
    "a condition's integer, read after": (
        f"{LOOP} if (b[i] > 0) k = i;",
        "b[0] = k;",
        "for i in 0:n\n  S0: k = i if b[i] > 0",
    ),
    "counting down": (
        "for (i = n - 1; i >= 0; i--) a[i] = a[i + 1];",
        "",
        "for i in 0:n\n  S0: a[n - i - 1] = a[n - i - 1 + 1]",
    ),
    "counting down, read after": (
        "for (i = n; i > 2; i -= 2) a[i] = 0;",
        "b[0] = i;",
        "for annotune_i in 0:n - 2 step 2\n  S0: a[n - annotune_i] = 0\n"
        "S1: i = n - 2 * max(0, (n - 1) / 2)",
    ),
    "a loop that goes on": (
        "for (i = 0; i < 3; i++) a[i] = 1; for (; i < n; i++) a[i] = 2;",
        "",
        "for i in 0:3\n  S0: a[i] = 1\nfor i in 3:n\n  S1: a[i] = 2",
    ),
}


@pytest.mark.parametrize("name", NESTS)
def test_lowers(name: str) -> None:
    body, after, expected = NESTS[name]
    assert print_nest(load_region(body, after=after).nest) == f"{expected}\n"


BOUNDS = {
    "i = 0; i < n && i < m; i++": "0:min(n, m)",
    "i = 0; m >= i && i < n; i++": "0:min(m + 1, n)",
    "i = 0; i < (n < m ? n : m); i++": "0:min(n, m)",
    "i = (n > m ? n : m); i < 9; i++": "max(n, m):9",
    "i = 0; i < min(n, m); i++": "0:min(n, m)",
    "i = 0; i < n / 2; i++": "0:n / 2",
    "i = 0; i < n % 4; i++": "0:n % 4",
    "i = 0; i < n >> 1; i++": "0:n / 2",
    "i = 0; i != n; i++": "0:n",
    "i = 0; i != 8; i += 2": "0:8 step 2",
    "i = n; i != n + 6; i += 3": "n:n + 6 step 3",
    "register int e = 0; e < n; e++": "0:n",
    "unsigned e = 0; e != n; e++": "0:n",
    "size_t e = n; e > 0; e--": "0:n",
    "long e = n - 1; e >= 2; e -= 3": "0:n - 2 step 3",
    "i = n - 1; i >= 0 && i > m; --i": "0:min(n, n - m - 1)",
}


@pytest.mark.parametrize("header", BOUNDS)
def test_bounds(header: str) -> None:
    found = load_region(
        f"for ({header}) s += 1;", head="#define min(x, y) ((x) < (y) ? (x) : (y))\n"
    )
    line = print_nest(found.nest).split("\n")[0]
    assert line.split(" in ")[1] == BOUNDS[header]


def test_a_loop_without_effect_is_left_out() -> None:
    found = load_region(f"for (k = 0; k < m; k++); {LOOP} a[i] = k;")
    assert print_nest(found.nest) == "for i in 0:n\n  S0: a[i] = max(0, m)\n"


def test_an_integer_of_another_type_keeps_its_conversion() -> None:
    found = load_region(f"unsigned w = 0; {LOOP} {{ w = i - 1; a[i] = w; b[w] = 1; }}")
    assert print_nest(found.nest) == (
        "for i in 0:n\n  S0: a[i] = (unsigned int)(i - 1)\n  S1: b[i - 1] = 1\n"
    )


def test_a_narrow_integer_is_a_variable() -> None:
    found = load_region(f"short w; {LOOP} {{ w = i * 9; a[i] = w; }}")
    assert print_nest(found.nest) == "for i in 0:n\n  S0: w = i * 9\n  S1: a[i] = w\n"
    assert found.scalars["w"].type == "short"


def test_a_static_variable_is_read_by_the_next_call_only_where_it_may_be() -> None:
    body = f"{LOOP} {{ w = b[i]; a[i] = w; }}"
    assert not load_region(body, "static double w;").scalars["w"].read_after
    assert load_region(body, "static double w; a[0] = w;").scalars["w"].read_after
    assert load_region(body, "static double w; if (n) w = 1; a[0] = w;").scalars["w"].read_after


def test_a_counter_that_a_condition_reads_after_its_change_stays_exact() -> None:
    found = load_region(f"k = 0; {LOOP} {{ if (k < 3) {{ a[k] = 1; k = k + 1; b[i] = k; }} }}")
    assert print_nest(found.nest) == (
        "S0: k = 0\nfor i in 0:n\n  S1: annotune_if_1 = k < 3\n  S2: a[k] = 1 if annotune_if_1\n"
        "  S3: k = k + 1 if annotune_if_1\n  S4: b[i] = k if annotune_if_1\n"
    )


def test_a_real_start_is_refused() -> None:
    (found,) = refusals(region("for (i = x; i < n; i++) a[i] = 0;"))
    assert found.code == "AT149"
