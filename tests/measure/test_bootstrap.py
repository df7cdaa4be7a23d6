"""Laws of the intervals: what is equal is not told apart, and exchanging two sides inverts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.timing import (
    FEW_ROUNDS_RATIO,
    LEAST_ROUNDS,
    RESOLUTION,
    is_apart,
    is_equal,
    median_interval,
    ratio_interval,
)

times = st.floats(1e-7, 1e3)
samples = st.lists(times, min_size=1, max_size=24)
pairs = st.lists(st.tuples(times, times), min_size=1, max_size=24).map(
    lambda p: tuple(zip(*p, strict=True))
)


@given(samples)
def test_equal_samples_are_not_told_apart(own: list[float]) -> None:
    ratio = ratio_interval(own, own)
    assert (ratio.value, ratio.low, ratio.high) == (1.0, 1.0, 1.0)
    assert not is_apart(ratio)
    assert is_equal(ratio) == (len(own) >= LEAST_ROUNDS)


@given(samples, st.floats(1.6, 50.0))
def test_a_scaled_sample_is_told_apart(own: list[float], factor: float) -> None:
    ratio = ratio_interval([factor * t for t in own], own)
    assert ratio.value == pytest.approx(factor)
    assert is_apart(ratio)


@given(pairs)
def test_exchanging_the_sides_inverts_the_ratio(both: tuple[tuple[float, ...], ...]) -> None:
    one, other = both
    ratio, inverse = ratio_interval(one, other), ratio_interval(other, one)
    assert inverse.value == pytest.approx(1 / ratio.value)
    assert (inverse.low, inverse.high) == (
        pytest.approx(1 / ratio.high),
        pytest.approx(1 / ratio.low),
    )
    assert is_apart(ratio) == is_apart(inverse)


@given(samples)
def test_an_interval_holds_its_median_and_is_the_same_again(own: list[float]) -> None:
    found = median_interval(own)
    assert found.low <= found.value <= found.high
    assert found == median_interval(list(own))
    assert min(own) <= found.low
    assert found.high <= max(own)


@given(pairs, st.lists(times, max_size=5))
def test_rounds_without_a_partner_do_not_count(
    both: tuple[tuple[float, ...], ...], more: list[float]
) -> None:
    one, other = both
    assert ratio_interval([*one, *more], other) == ratio_interval(one, other)


def test_a_drift_that_both_share_hides_nothing() -> None:
    drift = np.geomspace(1.0, 10.0, 12)
    assert is_apart(ratio_interval(list(1.03 * drift), list(drift)))


def test_one_disturbed_round_tells_nothing_apart() -> None:
    calm = [1.0] * 12
    assert not is_apart(ratio_interval([*calm[1:], 50.0], calm))


def test_less_than_the_resolution_is_nothing() -> None:
    calm = [1.0] * 20
    assert not is_apart(ratio_interval([1 + 0.9 * RESOLUTION] * 20, calm))
    assert is_apart(ratio_interval([1 + 1.1 * RESOLUTION] * 20, calm))


def test_few_rounds_tell_only_a_large_difference() -> None:
    few = [1.0] * (LEAST_ROUNDS - 1)
    assert not is_apart(ratio_interval([0.95 * FEW_ROUNDS_RATIO] * len(few), few))
    assert is_apart(ratio_interval([1.05 * FEW_ROUNDS_RATIO] * len(few), few))


def test_noise_of_equals_is_rarely_told_apart() -> None:
    random = np.random.default_rng(5)
    wrong = sum(
        is_apart(ratio_interval(list(one), list(other)))
        for one, other in (np.exp(0.05 * random.standard_normal((2, 12))) for _ in range(400))
    )
    # At a level of 99% some 4 are expected; 16 would be very bad luck.
    assert wrong < 16
