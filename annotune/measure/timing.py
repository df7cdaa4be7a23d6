"""How often a call is timed and from which caches, and what the times of several variants say.

A measuring child imports this, so it imports little itself.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import numpy.typing as npt

from annotune.frozen import dataclass

PRESSURE = "/proc/pressure/cpu"
"""Linux's pressure stall information, documented in its admin-guide/psi.rst; absent elsewhere."""

BUSY = 0.1
"""Tasks that wait for a processor in more than this share of a time disturb what is timed in it."""

IDLE_LOAD = 0.5
"""A load average above this share of the processors, before anything is measured, is a busy one."""


def waited_s(path: str = PRESSURE) -> float | None:
    """Return the seconds since the start of the machine in which a task waited for a processor.

    None where the system does not tell.
    """
    try:
        with open(path) as file:
            found = re.search(r"^some .*\btotal=(\d+)", file.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1e-6 if found else None


def load_average() -> float | None:
    """Return how many tasks ran or waited in the last minute, on average."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def share_waited(before: float | None, wall_s: float) -> float | None:
    """Return the share of a time in which a task waited for a processor, None if unknown."""
    now = waited_s()
    if before is None or now is None or wall_s <= 0:
        return None
    return min(1.0, max(0.0, now - before) / wall_s)


_NORMAL_95 = 1.96


def is_narrow(times_s: Sequence[float], share: float) -> bool:
    """Return whether the median is known to this share of it, at 95%.

    The interval is between two of the sorted times, whatever their distribution. Source: W. J.
    Conover, "Practical Nonparametric Statistics", 1999, section 3.2.
    """
    count = len(times_s)
    first = math.floor((count - _NORMAL_95 * math.sqrt(count)) / 2)
    if first < 0 or count < 6:
        return False
    ordered = sorted(times_s)
    return ordered[count - 1 - first] - ordered[first] <= share * ordered[count // 2]


LEVEL = 0.99
"""The confidence level of every interval: high, as several variants are compared with one."""

RESAMPLES = 2000
SEED = 1993
"""The random numbers are the same in every run: the same times give the same interval."""

LEAST_ROUNDS = 8
"""With fewer pairs no interval of this level exists: all on one side happens in 2^(1-n)."""

RESOLUTION = 0.01
"""A difference below this share says nothing: where code and data happen to lie is as much.

Source: T. Mytkowicz et al., "Producing Wrong Data Without Doing Anything Obviously Wrong!",
ASPLOS 2009, doi:10.1145/1508244.1508275, where such chances change times by more than that.
"""

FEW_ROUNDS_RATIO = 1.5
"""With fewer than `LEAST_ROUNDS` pairs, only this much in each of them tells two apart."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and the interval in which it lies, of so many samples."""

    value: float
    low: float
    high: float
    samples: int


def median_interval(times_s: Sequence[float]) -> Interval:
    """Return the median of at least one time, in seconds, and its interval."""
    return _median(np.asarray(times_s, float))


def ratio_interval(times_s: Sequence[float], others_s: Sequence[float]) -> Interval:
    """Return the median ratio of times to others of the same rounds, and its interval.

    Pairs are by position; what one side has more is left out. All times are above 0.
    """
    both = min(len(times_s), len(others_s))
    logs = np.log(np.asarray(times_s[:both], float)) - np.log(np.asarray(others_s[:both], float))
    found = _median(logs)
    value, low, high = map(math.exp, (found.value, found.low, found.high))
    return Interval(value, low, high, both)


def is_apart(ratio: Interval) -> bool:
    """Return whether a ratio of times tells two variants apart: one is faster for certain."""
    margin = 1.0 + RESOLUTION if ratio.samples >= LEAST_ROUNDS else FEW_ROUNDS_RATIO
    return ratio.low > margin or ratio.high < 1.0 / margin


def is_equal(ratio: Interval) -> bool:
    """Return whether further rounds would say nothing new: the two differ by next to nothing."""
    margin = 1.0 + RESOLUTION
    return ratio.samples >= LEAST_ROUNDS and 1.0 / margin < ratio.low <= ratio.high < margin


def _median(values: npt.NDArray[np.float64]) -> Interval:
    """Return the median and its interval; with few values the interval is their range."""
    value = float(np.median(values))
    if values.size < LEAST_ROUNDS:
        return Interval(value, float(values.min()), float(values.max()), values.size)
    random = np.random.default_rng(SEED)
    picked = random.integers(0, values.size, (RESAMPLES, values.size))
    # Ranks counted from either end alike, so that the negatives have the negative interval.
    medians = np.sort(np.median(values[picked], axis=1))
    cut = math.floor((1.0 - LEVEL) / 2 * RESAMPLES)
    return Interval(value, float(medians[cut]), float(medians[-1 - cut]), values.size)


MOST_ROUNDS = 20
"""How often each finalist has its turn at the most."""

FEWEST_ROUNDS = 2
"""How often, however little time there is: once would be no comparison."""

OUT_OF_THE_RACE = 1.05
"""Whoever takes longer than this times the fastest, for certain, needs no further turns."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a run took in one turn of one contestant, in seconds, or the words of its failure.

    The whole turn took `whole_s`, with all that comes before and after the runs in it.
    """

    time_s: float
    problem: str = ""
    whole_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Turns:
    """A contestant's seconds in each round that it took part in, from the first, or a failure."""

    times_s: tuple[float, ...]
    problem: str = ""


NO_TURN = "no time was left for its turns"


def take_turns(
    limits: Sequence[int],
    turn: Callable[[int], Turn],
    is_over: Callable[[float], bool],
    fewest: int = FEWEST_ROUNDS,
    spare: Sequence[int] = (),
) -> tuple[Turns, ...]:
    """Return the times of each contestant, taken in turns: first, second, …, first, second, ….

    Every other round goes backwards, so that nobody always follows the same one. Whoever is
    clearly behind, or fails, is left out of further rounds, and each after as many as `limits` has
    for it. It ends after `MOST_ROUNDS`, when nothing is left to be told, or where another round,
    of as many seconds as `is_over` is asked about, would end too late. Whoever does not fail has
    `fewest` rounds, for one time is no sample; but those in `spare` have none at all where so many
    would end too late.
    """
    times: list[list[float]] = [[] for _ in limits]
    whole_s = [0.0 for _ in limits]
    problems = ["" for _ in limits]
    racing = list(range(len(limits)))
    for number in range(MOST_ROUNDS):
        if number >= fewest:
            racing = [one for one in racing if number < limits[one]]
            if len(racing) < 2 or is_over(sum(whole_s[one] for one in racing)):
                break
        for one in racing if number % 2 == 0 else racing[::-1]:
            if number == 0 and one in spare and is_over(_fewest_s(one, whole_s, fewest, spare)):
                problems[one] = NO_TURN
                continue
            taken = turn(one)
            problems[one], whole_s[one] = taken.problem, taken.whole_s
            times[one].append(taken.time_s)
        racing = [one for one in racing if not problems[one]]
        if number + 1 >= LEAST_ROUNDS:
            racing = _still_racing(racing, times)
    return tuple(
        Turns((), problem) if problem else Turns(tuple(taken))
        for taken, problem in zip(times, problems, strict=True)
    )


def _fewest_s(one: int, whole_s: Sequence[float], fewest: int, spare: Sequence[int]) -> float:
    """Return the seconds of what is left of the `fewest` rounds in whose first `one` is next.

    Of those whose turns are still to come it has as long ones as the longest before it.
    """
    owed = sum(1 for other in range(one + 1, len(whole_s)) if other not in spare)
    ahead_s = (1 + owed) * max(whole_s)
    return ahead_s + (fewest - 1) * (sum(whole_s) + ahead_s)


def _still_racing(racing: Sequence[int], times: Sequence[Sequence[float]]) -> list[int]:
    """Return those that may still be the fastest, nobody where these are equal for certain."""
    if not racing:
        return []
    fastest = min(racing, key=lambda one: median(times[one]))
    ratios = {one: ratio_interval(times[one], times[fastest]) for one in racing}
    left = [one for one in racing if ratios[one].low <= OUT_OF_THE_RACE]
    return [] if all(is_equal(ratios[one]) for one in left) else left
