"""Finalists take turns; what cannot be told apart is said not to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilers import here
from test_run import LOOPS, job

from annotune.measure.pairs import are_distinguishable, time_in_turns
from annotune.measure.run import TimingPlan
from annotune.measure.trial import Timing


@pytest.mark.skipif(here().c is None, reason="no C compiler")
def test_a_slower_one_is_told_from_a_faster_one(tmp_path: Path) -> None:
    slow = f"{LOOPS} for (volatile int k = 0; k < 200000; k++);"
    fast, slower, broken = (
        job(body, tmp_path / name)
        for name, body in (("a", LOOPS), ("b", slow), ("c", "__builtin_trap();"))
    )
    plan = TimingPlan(runs=3, budget_s=0.1)
    first, second, third = time_in_turns((fast, slower, broken), rounds=2, plan=plan)
    assert first.timing is not None
    assert second.timing is not None
    assert len(first.timing.times_s) == 6
    assert are_distinguishable(first.timing, second.timing)
    assert third.timing is None
    assert "SIGILL" in third.problem


def test_overlapping_times_are_not_distinguishable() -> None:
    near = Timing((1.0, 1.1, 1.2, 1.3))
    assert not are_distinguishable(near, Timing((1.15, 1.2, 1.25, 1.3)))
    assert are_distinguishable(near, Timing((1.5, 1.5, 1.5, 9.0)))
    assert are_distinguishable(Timing((2.0,)), Timing((1.0,)))
