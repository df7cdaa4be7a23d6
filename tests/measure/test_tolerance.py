"""The bound passes what rounding explains and nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried

from annotune.measure.tolerance import (
    LARGEST_RELATIVE,
    UNIT_ROUNDOFF,
    bound,
    capped,
    compare,
    gamma,
    relative_bound,
)

U = UNIT_ROUNDOFF["double"]


def test_gamma_is_highams() -> None:
    assert gamma(np.array([0.0, 1.0, 100.0]), U) == pytest.approx([0, U, 100 * U], rel=1e-12)
    assert math.isinf(gamma(np.array([1 / U]), U)[0])


@tried(90)
@given(st.integers(1, 400), st.integers(0, 2**32 - 1), st.sampled_from(["double", "float"]))
def test_a_sum_in_any_order_passes(n: int, seed: int, element: str) -> None:
    random = np.random.default_rng(seed)
    dtype = np.float64 if element == "double" else np.float32
    x, y = (random.uniform(-1, 1, n).astype(dtype) for _ in range(2))
    terms = x * y
    order = random.permutation(n)
    forward, shuffled = np.zeros(1, dtype), np.zeros(1, dtype)
    for i in range(n):
        forward[0] += terms[i]
        shuffled[0] += terms[order[i]]
    limit = bound(np.array([np.abs(terms).sum()]), np.array([n + 1.0]), element)
    assert compare("s", forward, shuffled, limit) is None
    assert compare("s", forward, np.array([terms.sum(dtype=dtype)]), limit) is None


@given(st.integers(1, 10_000), st.floats(1e-3, 1e3))
def test_twice_the_bound_fails(n: int, magnitude: float) -> None:
    expected = np.array([magnitude / 3])
    error = 4 * float(gamma(np.array([float(n)]), U)[0]) * magnitude
    limit = bound(np.array([magnitude]), np.array([float(n)]), "double")
    found = compare("a", expected, expected + 1.01 * error + 2 * U * magnitude, limit)
    assert found is not None
    assert found.wrong == 1


def test_nan_equals_nothing() -> None:
    nan = np.array([np.nan])
    assert compare("a", np.zeros(1), nan, np.array([np.inf])) is not None
    assert compare("a", nan, nan, np.array([1.0])) is not None


def test_equal_infinities_are_equal() -> None:
    infinite = np.array([np.inf, -np.inf])
    assert compare("a", infinite, infinite.copy(), np.zeros(2)) is None
    assert compare("a", infinite, -infinite, np.ones(2)) is not None


def test_untouched_elements_keep_their_very_bits() -> None:
    bits = np.array([0x7FFA0BADC0DE0000, 0x7FF8000000000000], np.uint64)
    poison, other = bits[:1].view(np.float64), bits[1:].view(np.float64)
    untouched = np.array([True])
    assert compare("a", poison, poison.copy(), np.zeros(1), untouched) is None
    assert compare("a", poison, other, np.zeros(1), untouched) is not None
    assert compare("a", poison, np.zeros(1), np.zeros(1), untouched) is not None


def test_the_worst_element_is_named_with_the_count() -> None:
    expected = np.zeros(5)
    got = np.array([0.0, 1.0, 0.0, -7.0, 0.0])
    found = compare("t3", expected, got, np.full(5, 0.5))
    assert found is not None
    assert (found.index, found.wrong, found.total) == (3, 2, 5)
    assert str(found) == "t3[3] is -7, expected 0 within 0.5; 2 of 5 elements are wrong"


def test_no_tolerance_is_without_limit() -> None:
    expected = np.array([1.0, -4.0])
    assert capped(np.array([np.inf, np.nan]), expected).tolist() == [4 * LARGEST_RELATIVE] * 2
    huge = relative_bound(expected, np.array([1e18, 10.0]), "double")
    assert huge[0] == 4 * LARGEST_RELATIVE
    assert 0 < huge[1] < 1e-10


def test_nothing_is_right() -> None:
    empty = np.empty(0)
    assert compare("a", empty, empty, empty) is None
