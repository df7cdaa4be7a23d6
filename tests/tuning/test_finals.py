"""Who wins the finals: a decided difference, else the first of the listing."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.program import Program
from annotune.measure.timing import Turns
from annotune.measure.trial import END_TO_END, Status, Trial, Verdict
from annotune.tuning.experiment import Tried
from annotune.tuning.jobs import Contestant
from annotune.tuning.region_run import does_not_beat
from annotune.tuning.tuner import FEWEST, MOST, Finals, TargetResult, decided, finalists, first_of

ROUNDS = 12
PROGRAM = cast(Program, None)


def _held(*times_s: tuple[float, ...], original: tuple[float, ...] = ()) -> Finals:
    """Return finals of variants in the listing's order, and of an original."""
    own = [Contestant(str(n), PROGRAM, 1.0, 1, n) for n in range(len(times_s))]
    if original:
        own.append(Contestant("sequential", PROGRAM, 1.0, 1))
    rounds = (*times_s, original) if original else times_s
    return decided(own, [Turns(one) for one in rounds])


def test_of_equals_the_first_of_the_listing_wins() -> None:
    found = _held((1.004,) * ROUNDS, (1.0,) * ROUNDS, (1.3,) * ROUNDS)
    assert found.ranking == ("0", "1", "2")
    other = found.of("1", "0")
    assert other is not None
    assert other.verdict is Verdict.TIED
    slower = found.of("2", "0")
    assert slower is not None
    assert (slower.verdict, slower.times_s) == (Verdict.SLOWER, (1.3,) * ROUNDS)
    assert slower.ratio_low > 1.2


def test_a_decided_difference_beats_the_order_of_the_listing() -> None:
    found = _held((1.1,) * ROUNDS, (1.0,) * ROUNDS)
    assert found.ranking == ("1", "0")


def test_the_original_wins_nothing_and_may_be_faster() -> None:
    found = _held((1.0,) * ROUNDS, (1.5,) * ROUNDS, original=(0.5,) * ROUNDS)
    assert found.ranking == ("0", "1")
    original = found.of("sequential", "0")
    assert original is not None
    assert (original.verdict, original.ratio) == (Verdict.FASTER, 0.5)
    assert found.of("sequential", "7") is None


@pytest.mark.parametrize(
    ("original", "best", "is_lost"),
    [
        ((0.5,) * ROUNDS, 1.0, True),
        ((1.01, 0.99) * (ROUNDS // 2), 1.0, True),
        ((2.0,) * ROUNDS, 1.0, False),
        # A disturbed machine tells nothing: what is far ahead by its median is taken.
        ((0.9, 5.0, 5.0), 1.0, False),
    ],
)
def test_what_does_not_beat_the_original_is_lost(
    original: tuple[float, ...], best: float, is_lost: bool
) -> None:
    found = _held((best,) * len(original), original=original)
    rival = found.of("sequential", "0")
    assert rival is not None
    own = Trial("openmp", {}, Status.CORRECT, time_s=best)
    first = TargetResult((), Tried(0, Trial("sequential", {}, Status.CORRECT, time_s=original[0])))
    targets = {
        "sequential": first,
        "openmp": TargetResult((), Tried(0, own), rivals={"sequential": rival}),
        # Without finals of both the times of the search decide, and predictions never do.
        "cuda": TargetResult((), Tried(0, replace(own, time_s=0.01))),
        "openacc": TargetResult((), Tried(0, replace(own, time_s=9.0))),
        # A call has its copies, too.
        "copying": TargetResult((), Tried(0, replace(own, time_s=0.01, facts={END_TO_END: 9.0}))),
        "copied": TargetResult((), Tried(0, replace(own, time_s=0.01, facts={END_TO_END: 0.02}))),
        "predicted": TargetResult((), Tried(0, replace(own, time_s=9.0, is_predicted=True))),
    }
    lost = [name for name in targets if name != "sequential" and does_not_beat(targets, name)]
    assert lost == [*(["openmp"] if is_lost else []), "openacc", "copying"]


def test_who_fails_in_the_finals_is_not_ranked() -> None:
    own = [Contestant(str(n), PROGRAM, 1.0, 1, n) for n in range(2)]
    found = decided(own, [Turns((), "it broke"), Turns((1.0,) * ROUNDS)])
    assert found.ranking == ("1",)
    assert found.of("0", "1") is None


@given(
    st.lists(
        st.lists(st.floats(0.5, 2), min_size=ROUNDS, max_size=ROUNDS).map(tuple),
        min_size=1,
        max_size=5,
    )
)
def test_the_ranking_is_that_of_winners_taken_away(times_s: list[tuple[float, ...]]) -> None:
    found = _held(*times_s)
    left = [str(n) for n in range(len(times_s))]
    for name in found.ranking:
        assert name == first_of(left, found.rounds_s)
        left.remove(name)
    assert not left


def _trial(time_s: float | None, status: Status = Status.CORRECT) -> Trial:
    return Trial("openmp", {}, status, time_s)


def test_finalists_are_the_best_and_whoever_was_near() -> None:
    far = {0: _trial(9.0), 1: _trial(1.0), 2: _trial(8.0), 3: _trial(7.0), 4: _trial(None)}
    assert finalists(far) == (1, 3, 2)
    assert len(finalists(far)) == FEWEST
    near = {n: _trial(1.0 + 0.01 * n) for n in range(20)}
    assert finalists(near) == tuple(range(MOST))
    assert finalists({1: _trial(0.5, Status.CORRECTNESS)}) == ()


def test_noise_puts_nothing_slower_in_the_place_of_the_fastest() -> None:
    # Not told apart by three rounds, and yet the second is to be taken.
    few = _held((1.2, 1.3, 1.1), (1.0, 1.1, 1.0))
    assert few.ranking == ("1", "0")
    other = few.of("0", "1")
    assert other is not None
    assert other.verdict is Verdict.TIED
