"""How predictions and measurements of trials agree: by hand, against numpy, and with none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.trial import Status, Trial
from annotune.tuning.results import agreement, spearman

MEASURED = Trial("cuda", {}, Status.CORRECT, 1.0, predicted_s=2.0)


def trials(*pairs: tuple[float | None, float | None]) -> list[Trial]:
    """Return correct trials with (predicted, measured) seconds."""
    return [replace(MEASURED, predicted_s=p, time_s=t) for p, t in pairs]


def test_ranks_in_one_order_and_in_the_other() -> None:
    assert spearman([1, 2, 3], [10, 20, 21]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5 and 4 against 1, 2, 3 and 4.
    assert spearman([1, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert spearman([1, 1, 1], [1, 2, 3]) is None


values = st.integers(0, 5).map(float)


@given(pairs=st.lists(st.tuples(values, values), min_size=3, max_size=12))
def test_the_same_as_the_correlation_of_counted_ranks(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = spearman(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        ranks = [
            [sum((y < x) + (y == x) / 2 for y in side) for x in side] for side in (first, second)
        ]
        assert found == pytest.approx(float(np.corrcoef(*ranks)[0, 1]))


def test_trials_of_one_target_that_are_measured_count() -> None:
    others = [
        replace(MEASURED, target="openmp"),
        replace(MEASURED, status=Status.TIMEOUT),
        replace(MEASURED, reused=True),
        replace(MEASURED, is_predicted=True),
    ]
    found = agreement("cuda", [*others, *trials((1, 2), (2, 4), (5, 10))])
    assert (found.pairs, found.reason) == (3, "")
    assert found.correlation == pytest.approx(1)
    assert found.error == pytest.approx(2)


@pytest.mark.parametrize(
    ("found", "pairs", "reason"),
    [
        ([], 0, "no trial was measured"),
        ([replace(MEASURED, is_predicted=True)], 0, "no trial was measured"),
        (trials((None, 1)), 0, "no model predicts it"),
        (trials((1, 2), (2, 1)), 2, "a rank correlation needs 3 trials, and there are 2"),
        (trials((1, 2), (1, 1), (1, 3)), 3, "all predictions or all times are equal"),
    ],
)
def test_no_correlation_has_its_reason(found: list[Trial], pairs: int, reason: str) -> None:
    one = agreement("cuda", found)
    assert (one.pairs, one.correlation, one.reason) == (pairs, None, reason)
    assert (one.error is None) is (pairs == 0)
