"""The time of a run is shared so that most of it belongs to the variants, and it is kept."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.tuning.timetable import LATE, LEAST, LEAST_S, SEARCHES, Timetable

TIMES = (15.0, 30.0, 60.0, 300.0)


def played(
    time_s: float, weights: list[float], before_s: float, proofs_s: float, proofs_reserved: bool
) -> tuple[float, float, float]:
    """Return when all searches end, all in all, and what they have had.

    Each takes all the time that it may, and the least that it may where proofs are to come; those
    before them take `before_s` of the time, and what comes after them `proofs_s`.
    """
    times, now, searched_s = Timetable.of(time_s, 0.0), before_s, 0.0
    for number, _ in enumerate(weights):
        found = times.search(weights, number, searched_s, proofs_s, now)
        assert now < found.assured <= found.until
        end = found.assured if proofs_reserved else found.until
        searched_s += end - now
        now = end
    return now, now + proofs_s, searched_s


shares = st.lists(st.sampled_from([1.0, 2.0]), min_size=1, max_size=3)
parts = st.floats(0.0, 1.0)


@given(st.sampled_from(TIMES), shares, parts, parts, st.booleans())
def test_a_run_ends_a_little_after_its_time_at_the_latest(
    time_s: float, weights: list[float], before: float, after: float, reserved: bool
) -> None:
    # What is done in any case takes no more than is left beside the least of each target.
    room_s = (1 + LATE - LEAST * SEARCHES) * time_s
    before_s = 0.5 * before * room_s
    after_s = after * (room_s - before_s)
    _, end, _ = played(time_s, weights, before_s, after_s, reserved)
    assert end <= max((1 + LATE) * time_s, LEAST_S) + 1e-6


@given(st.sampled_from(TIMES), shares, parts, parts, st.booleans())
def test_variants_have_most_of_the_time_where_the_rest_leaves_it(
    time_s: float, weights: list[float], before: float, after: float, reserved: bool
) -> None:
    room_s = (1 + LATE - SEARCHES) * time_s
    before_s = before * room_s
    after_s = after * (room_s - before_s)
    end, _, searched_s = played(time_s, weights, before_s, after_s, reserved)
    assert searched_s >= SEARCHES * time_s - 1e-6
    # Nor is any time left over: what is not of the rest is theirs.
    if not reserved:
        assert end >= time_s - after_s - 1e-6


@given(st.sampled_from(TIMES), shares, st.floats(0.0, 10.0), st.floats(0.0, 10.0))
def test_every_target_has_a_part_however_late_it_is(
    time_s: float, weights: list[float], before: float, after: float
) -> None:
    *_, searched_s = played(time_s, weights, before * time_s, after * time_s, True)
    assert searched_s >= LEAST * SEARCHES * time_s - 1e-6


@pytest.mark.parametrize("time_s", TIMES)
def test_targets_of_one_weight_have_the_same(time_s: float) -> None:
    times = Timetable.of(time_s, 0.0)
    first = times.search([1.0, 1.0], 0, 0.0, 0.0, 0.0)
    second = times.search([1.0, 1.0], 1, first.until, 0.0, first.until)
    assert first.until == pytest.approx(time_s / 2)
    assert second.until == pytest.approx(time_s)


def test_time_without_an_end_is_shared_without_one() -> None:
    assert Timetable.of(inf, 0.0).search([1.0, 2.0], 0, 0.0, 7.0, 3.0).until == inf


@given(st.sampled_from(TIMES), st.integers(1, 12))
def test_all_regions_together_have_no_more_time_than_one(time_s: float, count: int) -> None:
    late_s = Timetable.of(time_s, 0.0).last
    each = [Timetable.of(time_s / count, 0.0, 1 / count).last for _ in range(count)]
    assert sum(each) == pytest.approx(late_s)
