"""Intervals of medians and of ratios of times, and when two variants can be told apart.

Source: B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13: the
percentile interval. It is used for the median of logarithms of ratios, paired by round, so that
one disturbed round moves little and exchanging the two sides gives the inverse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
