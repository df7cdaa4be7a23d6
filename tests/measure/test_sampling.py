"""How often a call is timed: laws of the interval, and a clock without a library."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.child import Stopwatch
from annotune.measure.run import TimingPlan
from annotune.measure.timing import is_narrow, waited_s

times = st.lists(st.floats(1e-7, 1e3), min_size=1, max_size=60)


@given(times)
def test_equal_times_are_narrow_once_there_are_six(own: list[float]) -> None:
    assert is_narrow([own[0]] * len(own), 0.0) == (len(own) >= 6)


@given(times, st.floats(0, 1))
def test_what_is_narrow_is_so_for_any_larger_share(own: list[float], share: float) -> None:
    assert not is_narrow(own, share) or is_narrow(own, 2 * share)


@given(times)
def test_two_sides_far_apart_are_never_narrow(own: list[float]) -> None:
    assert not is_narrow([*own, *(t + 2e3 for t in own)], 0.01)


class _Call:
    """A call that remembers from what it began."""

    def __init__(self) -> None:
        self.values = [np.zeros(3), np.ones(3)]
        self.began: list[float] = []

    def restore(self) -> None:
        pass

    def __call__(self) -> None:
        self.began.append(float(self.values[0][0]))
        self.values[0][0] += 1


class _Library:
    """Tells of kernels that take 2 s each."""

    def __init__(self) -> None:
        # On the instance: like a C function's, its attributes can be set.
        self.annotune_kernel_seconds = lambda: 2.0


def _clock(plan: TimingPlan, library: Any = None) -> Stopwatch:
    return Stopwatch(library, asdict(plan), [np.zeros(3), np.ones(3)], [True, False])


def test_each_sample_begins_from_restored_arrays() -> None:
    call = _Call()
    plan = TimingPlan(runs=4, budget_s=9.0, narrow=0.0)
    told = _clock(plan).times(call, 1.0, _Call)
    batch = len(call.began[1:]) // 4
    # At the end it has run once, whatever a sample holds.
    assert call.began[1:] == [*range(batch)] * 4 + [0] * (batch > 1)
    assert len(told["times_s"]) == 4
    assert (told["is_cold"], told["kernel_s"], told["censored"]) == (False, [], False)


def test_a_clear_median_ends_it_and_a_clear_loss_does() -> None:
    clocked = _Library()
    told = _clock(TimingPlan(runs=30, budget_s=9.0), clocked).times(_Call(), 1.0, _Call)
    assert len(told["kernel_s"]) == len(told["times_s"]) == 6
    worse = TimingPlan(runs=30, budget_s=9.0, best_s=1e-9)
    told = _clock(worse, clocked).times(_Call(), 1.0, _Call)
    assert told["censored"]
    assert len(told["times_s"]) == worse.least_runs


def test_the_time_that_tasks_waited_is_read_where_it_is_told(tmp_path: Any) -> None:
    path = tmp_path / "cpu"
    path.write_text("some avg10=1.00 avg60=0.10 avg300=0.00 total=2500000\nfull total=7\n")
    assert waited_s(str(path)) == 2.5
    assert waited_s(str(tmp_path / "none")) is None
    path.write_text("nothing\n")
    assert waited_s(str(path)) is None


class _Gpu(_Library):
    """Short kernels behind a cache that is emptied when asked."""

    def __init__(self) -> None:
        super().__init__()
        self.flushes = 0
        self.annotune_kernel_seconds = lambda: 5e-6
        self.annotune_flush_seconds = lambda: 1e-3

    def annotune_flush_l2(self) -> None:
        self.flushes += 1


def test_short_kernels_are_repeated_on_other_arrays_with_a_cold_cache_each() -> None:
    gpu, calls = _Gpu(), [_Call()]

    def another() -> _Call:
        calls.append(_Call())
        return calls[-1]

    plan = TimingPlan(warm_ups=1, runs=3, budget_s=9.0)
    told = _clock(plan, gpu).times(calls[0], 1.0, another)
    assert (told["is_cold"], len(calls)) == (True, 4)
    assert gpu.flushes == 1 + 3 * 4
    assert all(start == 0 for call in calls for start in call.began)
    # The flush is no part of a call's time, which here takes next to none.
    assert told["times_s"] == [0.0, 0.0, 0.0]
    assert told["kernel_s"] == [5e-6 / 4] * 3


def test_a_warm_cache_is_left_alone() -> None:
    gpu = _Gpu()
    told = _clock(TimingPlan(runs=3, is_cold=False), gpu).times(_Call(), 1.0, _Call)
    assert (told["is_cold"], gpu.flushes) == (False, 0)
