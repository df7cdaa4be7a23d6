"""Unrolled loops are rolled up where they are just that."""

from __future__ import annotations

import pytest
from source_text import load_region
from support.nest_text import print_nest

MAIN = "for (i = m; i < n; i += 2)"
HEAD = "m = n % 2;"
PARTS = "{ a[i] += b[i]; a[i + 1] += b[i + 1]; }"
CLEAN = "for (i = 0; i < m; i++) a[i] += b[i];"
ROLLED = "for i in 0:n\n  S0: a[i] += b[i]\n"

ROLL = {
    "with a clean-up": f"{HEAD} {CLEAN} {MAIN} {PARTS}",
    "asked for": f"{HEAD} if (m) {CLEAN} {MAIN} {PARTS}",
    "asked for twice": f"{HEAD} if (m > 0 && m != 0) {CLEAN} {MAIN} {PARTS}",
    "copies reversed in the text of subscripts": f"{HEAD} {CLEAN} {MAIN} "
    "{ a[i] += b[i]; a[1 + i] += b[2 + i - 1]; }",
}


@pytest.mark.parametrize("name", ROLL)
def test_an_unrolled_loop_is_rolled_up(name: str) -> None:
    assert print_nest(load_region(ROLL[name]).nest) == ROLLED


KEPT = {
    "another rest": f"m = n % 3; {CLEAN} {MAIN} {PARTS}",
    "an unknown rest": f"{CLEAN} {MAIN} {PARTS}",
    "another element": f"{HEAD} {CLEAN} {MAIN} {{ a[i] += b[i]; a[i + 1] += b[i + 2]; }}",
    "another operation": f"{HEAD} {CLEAN} {MAIN} {{ a[i] += b[i]; a[i + 1] -= b[i + 1]; }}",
    "another order": f"{HEAD} {CLEAN} {MAIN} {{ a[i + 1] += b[i + 1]; a[i] += b[i]; }}",
    "one part more": f"{HEAD} {CLEAN} {MAIN} {{ a[i] += b[i]; a[i + 1] += b[i + 1]; b[i] = 0; }}",
    "a loop in it": f"{HEAD} {CLEAN} {MAIN} {{ for (j = 0; j < 2; j++) a[i + j] = 0; }}",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_only_looks_unrolled_stays(name: str) -> None:
    steps = [loop.step for loop in load_region(KEPT[name]).nest.loops()]
    assert 2 in steps


APART = {
    "another clean-up": f"{HEAD} for (i = 0; i < m; i++) a[i] += 2 * b[i]; {MAIN} {PARTS}",
    "another start": f"{HEAD} for (i = 1; i < m; i++) a[i] += b[i]; {MAIN} {PARTS}",
    "a statement between": f"{HEAD} {CLEAN} s = 1; {MAIN} {PARTS}",
    "asked for something else": f"{HEAD} if (x > 0) {CLEAN} {MAIN} {PARTS}",
}


@pytest.mark.parametrize("name", APART)
def test_a_loop_that_is_no_clean_up_stays(name: str) -> None:
    assert [loop.step for loop in load_region(APART[name]).nest.loops()] == [1, 1]


def test_a_sum_of_terms_is_that_of_one_after_the_other() -> None:
    text = f"{HEAD} for (i = 0; i < m; i++) s += b[i]; {MAIN} s = s + b[i] + b[i + 1];"
    assert print_nest(load_region(text).nest) == "for i in 0:n\n  S0: s += b[i]\n"


@pytest.mark.parametrize(
    "value", ["s + s*b[i] + b[i + 1]", "b[i] + s + b[i + 1]", "s + (b[i] + b[i + 1])"]
)
def test_other_sums_stay(value: str) -> None:
    text = f"{HEAD} {MAIN} s = {value};"
    assert [loop.step for loop in load_region(text).nest.loops()] == [2]


def test_a_sum_that_a_narrower_variable_cuts_in_the_end_alone_stays() -> None:
    text = f"{HEAD} {MAIN} f = f + b[i] + b[i + 1];"
    found = load_region(text, "float f = 0;", "a[0] = f;")
    assert [loop.step for loop in found.nest.loops()] == [2]


def test_loops_that_leave_an_iterator_that_is_read_stay_apart() -> None:
    found = load_region(f"{HEAD} {CLEAN} {MAIN} {PARTS}", after="a[0] = i;")
    assert [loop.step for loop in found.nest.loops()] == [1, 1]
