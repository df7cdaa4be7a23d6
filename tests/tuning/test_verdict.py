"""The verdict on two samples of times: what is concluded, and what never is."""

from __future__ import annotations

from statistics import median

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.timing import LEAST_ROUNDS
from annotune.measure.trial import Comparison, Timing, Verdict
from annotune.tuning.verdict import FAR_APART, MOST_SPREAD, compare, compare_with_estimate

MS, US = 1e-3, 1e-6
ROUNDS = 12
OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}

TIMES = st.floats(1e-8, 1e3)
SAMPLES = st.lists(TIMES, max_size=20)
# Times as a clock tells them: about one, more or less.
CALM = st.lists(st.floats(0.9, 1.1), min_size=2, max_size=20)
PAIRS = st.lists(st.tuples(TIMES, TIMES), min_size=2, max_size=20)


def _about(time_s: float, spread: float = 0.02, rounds: int = ROUNDS) -> tuple[float, ...]:
    """Return times around one, in the same order in every sample."""
    return tuple(time_s * (1 + spread * ((7 * n) % 5 - 2) / 2) for n in range(rounds))


@pytest.mark.parametrize(
    ("own", "other", "verdict"),
    [
        pytest.param(_about(1.2 * MS), _about(3.8 * MS), Verdict.FASTER, id="three times"),
        pytest.param(_about(1.9 * MS), _about(1.2 * MS), Verdict.SLOWER, id="it lost"),
        pytest.param(_about(1.00 * MS), _about(1.005 * MS), Verdict.TIED, id="half a percent"),
        pytest.param(_about(1.5 * US), _about(3.1 * US), Verdict.FASTER, id="microseconds"),
        pytest.param(_about(30.0, rounds=2), _about(90.0, rounds=2), Verdict.FASTER, id="2 rounds"),
        pytest.param((1.0, 1.1, 0.98), (1.05, 1.02, 1.06), Verdict.TIED, id="3 rounds"),
        pytest.param(_about(1.0), _about(1.05), Verdict.FASTER, id="five percent, decided"),
    ],
)
def test_a_calm_machine_gives_a_verdict(
    own: tuple[float, ...], other: tuple[float, ...], verdict: Verdict
) -> None:
    found = compare(own, other)
    assert found.verdict is verdict
    assert compare(other, own).verdict is OPPOSITE.get(verdict, verdict)
    assert found.runs == len(own)
    assert found.speedup == pytest.approx(median(other) / median(own), rel=0.03)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        # 17.1 +- 15.5 ms.
        pytest.param((17.1 * MS, 9.4 * MS, 24.9 * MS) * 4, _about(19.5 * MS), id="own times"),
        pytest.param(_about(19.5 * MS), (203 * US, 500 * US, 90 * US) * 4, id="the original's"),
        pytest.param((1.0, 1.5) * 6, (4.0, 4.1) * 6, id="although every round says the same"),
        pytest.param((1.0, 1.0, 9.0), _about(5.0, rounds=3), id="one of three rounds"),
        pytest.param((3e-6, 2e-2) * 6, _about(1.4e-6), id="threads that wait for a processor"),
        pytest.param(_about(1.0, 0.9), _about(1.0, 0.9), id="both, alike"),
    ],
)
def test_times_that_spread_give_none(own: tuple[float, ...], other: tuple[float, ...]) -> None:
    found = compare(own, other)
    assert (found.verdict, found.speedup, found.low, found.high) == (Verdict.NOISY, *[None] * 3)
    assert found.spread is not None
    assert found.spread > MOST_SPREAD


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize(
    ("own", "other"),
    [
        # 2.67 ms once, which made "272x as fast" of 148 elements.
        pytest.param(_about(9.82 * US), (2.67 * MS,), id="the original ran once"),
        pytest.param((9.82 * US,), _about(2.67 * MS), id="the variant ran once"),
        pytest.param((1.0,), (2.0,), id="both ran once"),
        pytest.param(_about(1.0), (), id="the original was not timed"),
        pytest.param((), _about(1.0), id="the variant was not timed"),
        pytest.param(_about(1.0), (0.0,) * ROUNDS, id="the clock has told nothing"),
    ],
)
def test_one_run_is_no_sample(
    own: tuple[float, ...], other: tuple[float, ...], is_paired: bool
) -> None:
    found = compare(own, other, is_paired)
    assert (found.verdict, found.speedup) == (Verdict.UNKNOWN, None)


@pytest.mark.parametrize("rounds", [2, 3, 5, 7])
def test_a_few_rounds_are_neither_a_tie_nor_a_win(rounds: int) -> None:
    found = compare(_about(1.0, rounds=rounds), _about(1.45, rounds=rounds))
    assert (found.verdict, found.speedup) == (Verdict.UNKNOWN, None)
    assert compare(_about(1.0), _about(1.45)).verdict is Verdict.FASTER


def test_what_one_side_has_more_is_left_out_of_rounds() -> None:
    # The original has left after two rounds, in which both were slow.
    found = compare((2.0, 2.0, 1.0, 1.0, 1.0), (8.0, 8.0))
    assert (found.runs, found.time_s, found.speedup) == (2, 2.0, pytest.approx(4.0))


def test_runs_that_are_no_rounds_must_lie_apart() -> None:
    own, other = _about(1.0, 0.2), _about(1.15, 0.2)
    assert compare(own, other).verdict is Verdict.FASTER
    assert compare(own, other, is_paired=False).verdict is Verdict.TIED
    assert compare(own, _about(2.0, 0.2), is_paired=False).verdict is Verdict.FASTER


def test_an_estimate_decides_only_what_is_far_apart() -> None:
    own = _about(0.1)
    found = compare_with_estimate(own, 1.2)
    assert (found.verdict, found.is_estimated) == (Verdict.FASTER, True)
    assert found.speedup == pytest.approx(12.0, rel=0.03)
    assert compare_with_estimate(own, 0.19).verdict is Verdict.UNKNOWN
    assert compare_with_estimate(own, 0.06).verdict is Verdict.UNKNOWN
    assert compare_with_estimate(own, 0.04).verdict is Verdict.SLOWER
    assert compare_with_estimate((0.1, 0.2), 5.0).verdict is Verdict.NOISY
    # One run of what takes seconds, where the original would take minutes.
    assert compare_with_estimate((4.38,), 491.0).speedup == pytest.approx(112.1, rel=0.01)
    assert compare_with_estimate((), 5.0).verdict is Verdict.UNKNOWN
    assert compare_with_estimate(own, 0.0).verdict is Verdict.UNKNOWN


def test_what_an_earlier_annotune_called_a_tie_is_read_as_one() -> None:
    assert msgspec.convert("not distinguishable", Verdict) is Verdict.TIED
    assert msgspec.convert("statistical tie", Verdict) is Verdict.TIED
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert("a draw", Verdict)


@given(SAMPLES, SAMPLES, st.booleans())
def test_every_conclusion_has_its_grounds(
    own: list[float], other: list[float], is_paired: bool
) -> None:
    found = compare(own, other, is_paired)
    is_concluded = found.verdict not in (Verdict.NOISY, Verdict.UNKNOWN)
    assert (found.speedup is not None) is is_concluded
    assert found.runs == min(len(own), len(other))
    if found.runs < 2:
        assert found.verdict is Verdict.UNKNOWN
        return
    if is_paired:
        own, other = own[: found.runs], other[: found.runs]
    each = [Timing(tuple(one)).spread_s / median(one) for one in (own, other)]
    if max(each) > MOST_SPREAD:
        assert found.verdict is Verdict.NOISY
    times = median(other) / median(own)
    if found.verdict is Verdict.UNKNOWN:
        assert found.runs < LEAST_ROUNDS
        assert max(times, 1 / times) <= FAR_APART
    if max(times, 1 / times) > FAR_APART:
        assert found.verdict is not Verdict.TIED
    if found.verdict is Verdict.FASTER:
        assert times > 1 < _low(found)
    if found.verdict is Verdict.SLOWER:
        assert times < 1


def _low(found: Comparison) -> float:
    assert found.low is not None
    return found.low


@given(CALM, CALM, st.floats(2.6, 1e6), st.booleans())
def test_medians_far_apart_with_little_spread_are_told_apart(
    own: list[float], other: list[float], times: float, is_paired: bool
) -> None:
    found = compare(own, [times * one for one in other], is_paired)
    assert found.verdict is Verdict.FASTER


@given(PAIRS, st.booleans())
def test_the_other_side_sees_the_opposite(
    pairs: list[tuple[float, float]], is_paired: bool
) -> None:
    own, other = zip(*pairs, strict=True)
    one, two = compare(own, other, is_paired), compare(other, own, is_paired)
    assert two.verdict is OPPOSITE.get(one.verdict, one.verdict)


@given(CALM, CALM, st.integers(-20, 20))
def test_the_unit_of_time_does_not_matter(own: list[float], other: list[float], power: int) -> None:
    # A power of two, so that nothing is rounded otherwise.
    unit = 2.0**power
    there = compare([unit * one for one in own], [unit * one for one in other])
    here = compare(own, other)
    assert there.verdict is here.verdict
    if here.speedup is not None:
        assert there.speedup == pytest.approx(here.speedup)
