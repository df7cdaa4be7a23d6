"""Contestants take turns; who fails or falls behind is left out, equals are soon recognised."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.timing import FEWEST_ROUNDS, LEAST_ROUNDS, MOST_ROUNDS, Turn, take_turns


def _played(
    times_s: Sequence[float], noise: float = 0.0
) -> tuple[list[int], Callable[[int], Turn]]:
    """Return who was asked, in order, and turns of constant times, every other one longer."""
    asked: list[int] = []

    def turn(one: int) -> Turn:
        asked.append(one)
        longer = 1 + noise * (asked.count(one) % 2)
        return Turn(times_s[one] * longer) if times_s[one] else Turn(0.0, "it broke")

    return asked, turn


def _never(_: float) -> bool:
    return False


def test_every_other_round_goes_backwards() -> None:
    asked, turn = _played((1.0, 1.02, 1.01))
    take_turns((MOST_ROUNDS,) * 3, turn, _never)
    assert asked[:9] == [0, 1, 2, 2, 1, 0, 0, 1, 2]


def test_who_fails_has_no_time_and_no_further_turn() -> None:
    asked, turn = _played((1.0, 0.0, 1.02))
    first, broken, last = take_turns((MOST_ROUNDS,) * 3, turn, _never)
    assert (broken.times_s, broken.problem) == ((), "it broke")
    assert asked.count(1) == 1
    assert len(first.times_s) == len(last.times_s) >= LEAST_ROUNDS


def test_who_is_clearly_behind_has_no_further_turn() -> None:
    asked, turn = _played((1.0, 3.0, 1.02), noise=0.04)
    near, far, _ = take_turns((MOST_ROUNDS,) * 3, turn, _never)
    assert len(far.times_s) == asked.count(1) == LEAST_ROUNDS
    assert len(near.times_s) == MOST_ROUNDS


def test_equals_end_it() -> None:
    asked, turn = _played((1.0, 1.001))
    take_turns((MOST_ROUNDS,) * 2, turn, _never)
    assert len(asked) == 2 * LEAST_ROUNDS


def test_one_that_is_far_ahead_ends_it() -> None:
    asked, turn = _played((2.0, 1.0))
    take_turns((MOST_ROUNDS,) * 2, turn, _never)
    assert len(asked) == 2 * LEAST_ROUNDS


@given(st.lists(st.floats(0, 2), max_size=5))
def test_without_time_there_are_the_fewest_rounds(times_s: list[float]) -> None:
    asked, turn = _played(times_s)
    found = take_turns([MOST_ROUNDS] * len(times_s), turn, lambda _: True)
    assert [bool(one.problem) for one in found] == [not time_s for time_s in times_s]
    assert all(asked.count(one) <= FEWEST_ROUNDS for one in range(len(times_s)))
    # One time is no sample, of one contestant alone neither.
    assert {len(one.times_s) for one in found if not one.problem} <= {FEWEST_ROUNDS}


def test_who_takes_long_has_fewer_rounds_and_the_others_go_on() -> None:
    asked, turn = _played((1.0, 1.02, 1.01), noise=0.04)
    found = take_turns((MOST_ROUNDS, 3, MOST_ROUNDS), turn, _never)
    assert [len(one.times_s) for one in found] == [MOST_ROUNDS, 3, MOST_ROUNDS]
    asked.clear()
    found = take_turns((MOST_ROUNDS, 3), turn, _never)
    assert [len(one.times_s) for one in found] == [3, 3]
    found = take_turns((MOST_ROUNDS, 1), turn, _never)
    assert [len(one.times_s) for one in found] == [FEWEST_ROUNDS] * 2


class _Clock:
    """A clock that the turns of some contestants move by so many seconds each."""

    def __init__(self, whole_s: Sequence[float], budget_s: float) -> None:
        self.now_s, self._whole_s, self._budget_s = 0.0, whole_s, budget_s

    def turn(self, one: int) -> Turn:
        self.now_s += self._whole_s[one]
        return Turn(1.0 + self.now_s % 0.1, whole_s=self._whole_s[one])

    def is_over(self, next_s: float) -> bool:
        return self.now_s + next_s > self._budget_s


@given(st.lists(st.integers(1, 5).map(float), min_size=1, max_size=5), st.integers(0, 60))
def test_no_round_is_begun_that_would_end_too_late(whole_s: list[float], budget_s: int) -> None:
    clock = _Clock(whole_s, budget_s)
    found = take_turns([MOST_ROUNDS] * len(whole_s), clock.turn, clock.is_over)
    assert clock.now_s <= max(budget_s, FEWEST_ROUNDS * sum(whole_s))
    assert all(len(one.times_s) >= FEWEST_ROUNDS for one in found)


@given(st.integers(2, 6), st.integers(1, 5).map(float), st.integers(0, 40), st.data())
def test_spare_ones_have_the_fewest_rounds_or_none(
    count: int, turn_s: float, budget_s: int, data: st.DataObject
) -> None:
    spare = data.draw(st.sets(st.integers(1, count - 1)))
    clock = _Clock([turn_s] * count, budget_s)
    limits = [MOST_ROUNDS] * count
    found = take_turns(limits, clock.turn, clock.is_over, FEWEST_ROUNDS, sorted(spare))
    owed_s = FEWEST_ROUNDS * turn_s * (count - len(spare))
    assert clock.now_s <= max(budget_s, owed_s)
    for number, one in enumerate(found):
        if one.problem:
            assert number in spare
            assert one.times_s == ()
        else:
            assert len(one.times_s) >= FEWEST_ROUNDS
    # What fits is not left out.
    if budget_s >= FEWEST_ROUNDS * turn_s * count:
        assert not any(one.problem for one in found)


def test_further_rounds_may_be_none() -> None:
    asked, turn = _played((1.0, 1.0))
    found = take_turns((MOST_ROUNDS,) * 2, turn, lambda _: True, 0)
    assert asked == []
    assert [one.times_s for one in found] == [(), ()]
