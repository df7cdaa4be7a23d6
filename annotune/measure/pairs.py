"""Finalists timed in turns, so that whatever changes on the machine changes for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotune.measure.run import RunJob, TimingPlan, run_checked
from annotune.measure.trial import Timing

ROUNDS = 5
"""How often each finalist has its turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The times of one finalist over all rounds, or the words of the run that failed."""

    timing: Timing | None
    problem: str = ""


def time_in_turns(
    jobs: Sequence[RunJob], rounds: int = ROUNDS, plan: TimingPlan | None = None
) -> tuple[Turn, ...]:
    """Return the times of each job, taken a few at a time: first, second, …, first, second, ….

    Every other round goes backwards, so that nobody always follows the same one. A job that
    fails once has no timing.
    """
    each = plan or TimingPlan(runs=5, least_runs=2, budget_s=0.2)
    times: list[list[float]] = [[] for _ in jobs]
    problems = ["" for _ in jobs]
    for number in range(rounds):
        order = range(len(jobs)) if number % 2 == 0 else reversed(range(len(jobs)))
        for index in order:
            if problems[index]:
                continue
            outcome = run_checked(replace(jobs[index], timing=each))
            problems[index] = outcome.reason
            times[index] += outcome.kernel_s or outcome.times_s
    return tuple(
        Turn(None, problem) if problem else Turn(Timing(tuple(taken)))
        for taken, problem in zip(times, problems, strict=True)
    )


def are_distinguishable(first: Timing, second: Timing) -> bool:
    """Return whether the middle halves of two timings lie apart."""
    (low, high), (other_low, other_high) = _middle_half(first), _middle_half(second)
    return high < other_low or other_high < low


def _middle_half(timing: Timing) -> tuple[float, float]:
    """Return the quartiles in seconds, as `Timing.spread_s` takes them."""
    ordered = sorted(timing.times_s)
    quarter = len(ordered) // 4
    return ordered[quarter], ordered[-1 - quarter]
