"""Who wins the finals: a decided difference, else the first of the listing."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.program import Program
from annotune.measure.timing import FEWEST_ROUNDS, LEAST_ROUNDS, MOST_ROUNDS, Turns
from annotune.measure.trial import (
    EARLIER_RUN,
    END_TO_END,
    Comparison,
    Final,
    Status,
    Trial,
    Verdict,
)
from annotune.tuning.experiment import Tried
from annotune.tuning.jobs import Contestant
from annotune.tuning.region_run import comparisons_of
from annotune.tuning.tuner import (
    FEWEST,
    MOST,
    Finals,
    TargetResult,
    decided,
    finalists,
    first_of,
    further,
    in_so_many_rounds,
    undecided,
)
from annotune.tuning.verdict import compare

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
    beside = found.comparison("0", "sequential")
    assert beside is not None
    assert (beside.verdict, beside.speedup) == (Verdict.SLOWER, 0.5)
    assert found.of("sequential", "7") is None


def _results(own: Trial, first: Trial, **known: Comparison) -> dict[str, TargetResult]:
    """Return an original and a target's best, with what the finals say of the two."""
    return {
        "sequential": TargetResult((), Tried(0, first)),
        "openmp": TargetResult((), Tried(0, own), comparisons=known),
    }


ORIGINAL = Trial("sequential", {}, Status.CORRECT, 3.0, device="CPU", times_s=(3.0,) * ROUNDS)
BEST = Trial("openmp", {}, Status.CORRECT, 1.0, device="CPU", times_s=(1.0,) * ROUNDS)
OLD = replace(BEST, reused=True, facts={"reused": EARLIER_RUN})
FINAL = Final(Verdict.WINNER, 1.5, 1.5, 1.5, 1.0, 1.0, 1.0, (1.5,) * ROUNDS)


@pytest.mark.parametrize(
    ("best", "first", "verdict", "speedup"),
    [
        pytest.param(BEST, ORIGINAL, Verdict.FASTER, 3.0, id="both timed alone in this run"),
        pytest.param(
            replace(BEST, final=FINAL),
            replace(ORIGINAL, final=replace(FINAL, times_s=(6.0,) * ROUNDS)),
            Verdict.FASTER,
            4.0,
            id="both in the same finals",
        ),
        pytest.param(
            replace(BEST, final=FINAL), ORIGINAL, Verdict.FASTER, 2.0, id="one of them in finals"
        ),
        pytest.param(OLD, ORIGINAL, Verdict.UNKNOWN, None, id="a stored time"),
        pytest.param(
            replace(OLD, final=FINAL), ORIGINAL, Verdict.FASTER, 2.0, id="stored, and timed again"
        ),
        pytest.param(
            replace(OLD, facts={"reused": "the same text as another variant"}),
            ORIGINAL,
            Verdict.FASTER,
            3.0,
            id="the time of a twin in this run",
        ),
        pytest.param(
            BEST, replace(ORIGINAL, times_s=(3.0,)), Verdict.UNKNOWN, None, id="it ran once"
        ),
        pytest.param(
            replace(BEST, facts={END_TO_END: 2.0}),
            ORIGINAL,
            Verdict.UNKNOWN,
            None,
            id="kernels, which are no calls",
        ),
        pytest.param(
            replace(BEST, times_s=(1.0, 2.0) * 6), ORIGINAL, Verdict.NOISY, None, id="noise"
        ),
        pytest.param(
            BEST,
            replace(ORIGINAL, time_s=12.0, times_s=(), is_predicted=True),
            Verdict.FASTER,
            12.0,
            id="an estimate",
        ),
    ],
)
def test_what_a_row_is_compared_with(
    best: Trial, first: Trial, verdict: Verdict, speedup: float | None
) -> None:
    found = comparisons_of(_results(best, first), "openmp")["sequential"]
    assert found.verdict is verdict
    assert found.speedup == (None if speedup is None else pytest.approx(speedup))
    assert found.is_estimated is first.is_predicted


def test_the_rounds_of_the_finals_decide() -> None:
    decided = compare((1.0,) * ROUNDS, (9.0,) * ROUNDS)
    found = comparisons_of(_results(OLD, ORIGINAL, sequential=decided), "openmp")
    assert found == {"sequential": decided}


def test_a_prediction_is_compared_with_nothing() -> None:
    found = _results(replace(BEST, is_predicted=True), ORIGINAL)
    assert comparisons_of(found, "openmp") == {}
    assert comparisons_of(found, "sequential") == {}


@pytest.mark.parametrize(
    ("time_s", "budget_s", "rounds"),
    [
        pytest.param(1e-6, 5.0, MOST_ROUNDS, id="a short one takes part in all"),
        pytest.param(0.05, 5.0, 15, id="one that takes its share"),
        pytest.param(0.3, 5.0, LEAST_ROUNDS, id="one that has what a verdict needs"),
        pytest.param(0.9, 5.0, FEWEST_ROUNDS, id="one that takes more"),
        pytest.param(2.0, 5.0, FEWEST_ROUNDS, id="one whose first run is the only one"),
        pytest.param(2.6, 5.0, FEWEST_ROUNDS, id="one that takes longer than the finals"),
        pytest.param(5.1, 5.0, 0, id="one that takes much longer"),
        pytest.param(1e-6, 0.0, MOST_ROUNDS, id="a short one, however late it is"),
        pytest.param(1.1, 0.0, 0, id="no time for a longer one"),
        pytest.param(0.0, 5.0, MOST_ROUNDS, id="nobody knows how long"),
    ],
)
def test_the_original_has_as_many_rounds_as_there_is_time(
    time_s: float, budget_s: float, rounds: int
) -> None:
    own = Contestant("sequential", PROGRAM, time_s, 1)
    assert in_so_many_rounds(own, budget_s).rounds == rounds
    variant = replace(own, number=0)
    assert in_so_many_rounds(variant, budget_s) == variant


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
    far = {0: _trial(1.9), 1: _trial(1.0), 2: _trial(1.8), 3: _trial(1.7), 4: _trial(None)}
    assert finalists(far) == (1, 3, 2)
    assert len(finalists(far)) == FEWEST
    # What takes twice as long is beaten.
    assert finalists({0: _trial(2.1), 1: _trial(1.0), 2: _trial(1.8)}) == (1, 2)
    assert finalists({0: _trial(2.1), 1: _trial(1.0)}) == (1,)
    near = {n: _trial(1.0 + 0.01 * n) for n in range(20)}
    assert finalists(near) == tuple(range(MOST))
    assert finalists({1: _trial(0.5, Status.CORRECTNESS)}) == ()


def test_noise_puts_nothing_slower_in_the_place_of_the_fastest() -> None:
    # Not told apart by three rounds, and yet the second is to be taken.
    few = _held((1.2, 1.3, 1.1), (1.0, 1.1, 1.0))
    assert few.ranking == ("1", "0")
    other = few.of("0", "1")
    assert other is not None
    assert other.verdict is Verdict.UNKNOWN


def test_the_winner_and_the_original_have_further_rounds_where_those_were_few() -> None:
    few = ((1.0, 1.1), (1.2, 1.3))
    own = [Contestant(str(n), PROGRAM, 1.0, 1, n) for n in range(2)]
    short, long = (Contestant(n, PROGRAM, 1.0, 1, rounds=r) for n, r in (("a", 20), ("b", 2)))
    found = decided([*own, short, long], [Turns(one) for one in (*few, (2.0, 2.1), (9.0, 9.1))])
    asked = undecided([*own, short, long], found)
    assert [(one.name, one.rounds) for one in asked] == [("0", 6), ("a", 6)]
    told = further(found, asked, [Turns((1.0,) * 6), Turns((2.0,) * 6)])
    beside = told.comparison("0", "a")
    assert beside is not None
    assert (beside.runs, beside.verdict) == (LEAST_ROUNDS, Verdict.FASTER)
    # Nobody else has lost a round, and who fails now keeps those before.
    assert told.rounds_s["1"] == few[1]
    broken = further(found, asked, [Turns((1.0,) * 6), Turns((), "it broke")])
    assert broken.rounds_s["a"] == (2.0, 2.1)
    assert undecided([*own, short, long], told) == ()
    assert undecided(own, found) == ()
