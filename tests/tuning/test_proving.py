"""What there is no time to prove is named, and nothing else is left out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf

from support.regions import analysis_of

from annotune.measure.plan import (
    LONG_BYTES,
    USUAL,
    CheckLimits,
    CheckPlan,
    Odd,
    Values,
    takes_long,
)
from annotune.measure.plan import SHORT as SHORT_SIZE
from annotune.measure.trial import Status, Trial
from annotune.tuning.proving import NOT_PROVED, Proved, Proving

ANALYSIS = analysis_of(
    """\
void f(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 9; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
    /*@ end @*/
}
"""
)
SHORT = CheckPlan(({"n": 9},))
LONG = replace(SHORT, sizes=({"n": 10**9},), odd=Odd(values=(Values.EQUAL,)))
DETECTED = replace(LONG, sanitize=True, races=True)
PATIENCE_S = 600.0
RIGHT = Trial("openmp", {}, Status.CORRECT, verified=True)
WRONG = replace(RIGHT, status=Status.CORRECTNESS, verified=False, reason="y[0] is 0")
HANGS = replace(WRONG, status=Status.TIMEOUT, reason="killed after 2 s")


def _proved(
    plans: list[CheckPlan],
    fate: Callable[[CheckPlan], Trial],
    left_s: float,
    at_once: int = 1,
    late_s: float = 10 * PATIENCE_S,
) -> tuple[Proved, list[CheckPlan]]:
    """Return what comes of proofs with so much time, and so much more for short ones."""
    begun: list[CheckPlan] = []

    def check(plan: CheckPlan) -> Trial:
        begun.append(replace(plan, limits=replace(plan.limits, check_s=inf)))
        return fate(plan)

    until = time.monotonic() + left_s
    proving = Proving(check, until, at_once, until + late_s)
    return proving.of(plans, ANALYSIS), begun


def test_what_takes_long_is_left_out_where_no_time_is_left_but_for_the_detectors() -> None:
    assert [takes_long(p, ANALYSIS) for p in (SHORT, LONG, DETECTED)] == [False, True, False]
    found, begun = _proved([SHORT, LONG, DETECTED], lambda _: RIGHT, left_s=0.0)
    assert begun == [SHORT, DETECTED]
    assert found.wrong is None
    assert found.unfinished == ("on equal values",)
    assert found.facts[NOT_PROVED] == "on equal values"
    found, begun = _proved([SHORT, LONG, DETECTED], lambda _: RIGHT, left_s=PATIENCE_S)
    assert begun == [SHORT, LONG, DETECTED]
    assert found.unfinished == ()
    assert NOT_PROVED not in found.facts


def test_large_arrays_take_long_however_little_is_computed_of_them() -> None:
    many = LONG_BYTES // (2 * 8)
    plan = replace(SHORT, sizes=({"n": many},))
    assert not takes_long(plan, ANALYSIS)
    assert takes_long(replace(plan, sizes=({"n": many + 1},)), ANALYSIS)
    assert takes_long(replace(plan, odd=Odd(values=(Values.EQUAL, Values.ZEROS))), ANALYSIS)


def test_a_mistake_ends_the_proofs() -> None:
    plans = [replace(SHORT, seed=seed) for seed in range(20)]
    found, begun = _proved(plans, lambda plan: WRONG if plan.seed == 3 else RIGHT, PATIENCE_S)
    assert [plan.seed for plan in begun] == [0, 1, 2, 3]
    assert found.wrong is WRONG


def test_of_two_mistakes_the_first_is_told() -> None:
    both = threading.Barrier(2, timeout=PATIENCE_S)

    def fate(plan: CheckPlan) -> Trial:
        both.wait()
        return replace(WRONG, reason="the second" if plan.seed else "the first")

    plans = [replace(SHORT, seed=seed) for seed in range(2)]
    found, _ = _proved(plans, fate, PATIENCE_S, at_once=2)
    assert found.wrong is not None
    assert found.wrong.reason == "the first"


def test_what_hangs_is_wrong_unless_it_had_less_than_the_usual_time() -> None:
    for limit_s, is_wrong in ((30.0, True), (3 * PATIENCE_S, False)):
        plan = replace(LONG, limits=CheckLimits(limit_s))
        found, _ = _proved([plan], lambda _: HANGS, 2 * PATIENCE_S, late_s=0.0)
        assert (found.wrong is not None) is is_wrong
        assert bool(found.unfinished) is not is_wrong
    found, _ = _proved([replace(SHORT, limits=CheckLimits(30.0))], lambda _: HANGS, 0.0)
    assert found.wrong is HANGS


EQUAL = replace(SHORT, odd=Odd(values=(Values.EQUAL,)))
LARGE = replace(SHORT, sizes=({"n": SHORT_SIZE + 1},), odd=Odd(may_fall_back=True))


def test_what_may_be_left_out_is_neither_begun_nor_goes_on_after_the_last_moment() -> None:
    plans = [SHORT, EQUAL, LARGE, replace(DETECTED, odd=USUAL)]
    given: list[float] = []

    def fate(plan: CheckPlan) -> Trial:
        given.append(plan.limits.check_s)
        return RIGHT

    found, begun = _proved(plans, fate, 0.0, late_s=0.0)
    assert begun == [plans[0], plans[3]]
    assert found.unfinished == ("on equal values", "at 256 and more iterations")
    assert given == [inf, inf]
    given.clear()
    found, begun = _proved(plans, fate, 0.0, late_s=PATIENCE_S)
    assert begun == plans
    assert found.unfinished == ()
    # Two have what is left, and those that are owed what they take.
    assert given[0] == given[3] == inf
    assert PATIENCE_S / 2 < given[1] <= PATIENCE_S
    assert PATIENCE_S / 2 < given[2] <= PATIENCE_S


def test_the_last_is_made_beside_the_others_and_told_after_them() -> None:
    plans = [replace(SHORT, seed=seed) for seed in range(4)]
    found, begun = _proved(plans, lambda plan: replace(RIGHT, time_s=float(plan.seed)), 1.0, 2)
    assert {plan.seed for plan in begun} == {0, 1, 2, 3}
    assert [trial.time_s for trial in found.trials] == [0.0, 1.0, 2.0, 3.0]
