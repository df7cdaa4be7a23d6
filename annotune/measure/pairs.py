"""Finalists timed in turns, so that whatever changes on the machine changes for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from annotune.measure.bootstrap import LEAST_ROUNDS, is_equal, ratio_interval

MOST_ROUNDS = 20
"""How often each finalist has its turn at the most."""

FEWEST_ROUNDS = 2
"""How often, however little time there is: once would be no comparison."""

OUT_OF_THE_RACE = 1.05
"""Whoever takes longer than this times the fastest, for certain, needs no further turns."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn of one contestant took, in seconds per run, or the words of its failure."""

    time_s: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Turns:
    """A contestant's seconds in each round that it took part in, from the first, or a failure."""

    times_s: tuple[float, ...]
    problem: str = ""


def take_turns(
    contestants: int, turn: Callable[[int], Turn], is_over: Callable[[], bool]
) -> tuple[Turns, ...]:
    """Return the times of each contestant, taken in turns: first, second, …, first, second, ….

    Every other round goes backwards, so that nobody always follows the same one. Whoever is
    clearly behind, or fails, is left out of further rounds. It ends after `MOST_ROUNDS`, when
    nothing is left to be told, or when `is_over` between two rounds.
    """
    times: list[list[float]] = [[] for _ in range(contestants)]
    problems = ["" for _ in range(contestants)]
    racing = list(range(contestants))
    for number in range(MOST_ROUNDS):
        if number >= FEWEST_ROUNDS and is_over():
            break
        for one in racing if number % 2 == 0 else racing[::-1]:
            taken = turn(one)
            problems[one] = taken.problem
            times[one].append(taken.time_s)
        racing = [one for one in racing if not problems[one]]
        if number + 1 >= LEAST_ROUNDS:
            racing = _still_racing(racing, times)
        if len(racing) < 2:
            break
    return tuple(
        Turns((), problem) if problem else Turns(tuple(taken))
        for taken, problem in zip(times, problems, strict=True)
    )


def _still_racing(racing: Sequence[int], times: Sequence[Sequence[float]]) -> list[int]:
    """Return those that may still be the fastest, nobody where these are equal for certain."""
    if not racing:
        return []
    fastest = min(racing, key=lambda one: median(times[one]))
    ratios = {one: ratio_interval(times[one], times[fastest]) for one in racing}
    left = [one for one in racing if ratios[one].low <= OUT_OF_THE_RACE]
    return [] if all(is_equal(ratios[one]) for one in left) else left
