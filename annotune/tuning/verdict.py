"""The verdict on two samples of times: the one place where it is decided which program is faster.

Whatever a report says of two programs, in a table, a sentence, JSON or a file's header, is read
from a `Comparison`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

from annotune.measure.timing import (
    LEAST_ROUNDS,
    Interval,
    is_apart,
    median_interval,
    ratio_interval,
)
from annotune.measure.trial import Comparison, Timing, Verdict

MOST_SPREAD = 0.25
"""Of times whose interquartile range is a larger share of their median nothing is concluded."""

FAR_APART = 2.0
"""Medians further apart than this are never called a statistical tie."""

LEAST_RUNS = 2
"""One run of a program is no sample: it may be the cold one, or the one that was disturbed."""


def compare(
    times_s: Sequence[float], others_s: Sequence[float], is_paired: bool = True
) -> Comparison:
    """Return the verdict on a program's times, in seconds, beside those of another program.

    Where `is_paired` both have the same place in the same round, and what one side has more is left
    out; else the intervals of the two medians must not meet.
    """
    runs = min(len(times_s), len(others_s))
    own, other = (tuple(t[:runs] if is_paired and runs else t) for t in (times_s, others_s))
    time_s, other_s = (median(t) if t else None for t in (own, other))
    known: dict[str, Any] = {"time_s": time_s, "other_s": other_s, "runs": runs}
    known["is_paired"] = is_paired
    if runs < LEAST_RUNS or not _are_times((*own, *other)):
        return Comparison(Verdict.UNKNOWN, **known)
    known["spread"] = max(_relative_spread(own), _relative_spread(other))
    ratio = ratio_interval(other, own) if is_paired else _quotient_interval(other, own)
    verdict = _verdict(ratio, median(own), median(other), known["spread"])
    if verdict in (Verdict.NOISY, Verdict.UNKNOWN):
        return Comparison(verdict, **known)
    return Comparison(verdict, speedup=ratio.value, low=ratio.low, high=ratio.high, **known)


def compare_with_estimate(times_s: Sequence[float], other_s: float) -> Comparison:
    """Return the verdict on a program's times beside an estimate of another one's, in seconds.

    An estimate decides nothing unless the two are far apart; then one run of the program will do,
    which may take seconds where the other one would take minutes.
    """
    known: dict[str, Any] = {"time_s": median(times_s) if times_s else None, "other_s": other_s}
    known |= {"runs": len(times_s), "is_estimated": True}
    if not times_s or not _are_times((*times_s, other_s)):
        return Comparison(Verdict.UNKNOWN, **known)
    known["spread"] = _relative_spread(times_s)
    if known["spread"] > MOST_SPREAD:
        return Comparison(Verdict.NOISY, **known)
    speedup = other_s / median(times_s)
    if 1 / FAR_APART <= speedup <= FAR_APART:
        return Comparison(Verdict.UNKNOWN, **known)
    return Comparison(Verdict.FASTER if speedup > 1 else Verdict.SLOWER, speedup=speedup, **known)


def _verdict(ratio: Interval, own_s: float, other_s: float, spread: float) -> Verdict:
    """Return the verdict by the ratio of the other's times to a program's own."""
    if spread > MOST_SPREAD:
        return Verdict.NOISY
    if not is_apart(ratio):
        if max(own_s, other_s) > FAR_APART * min(own_s, other_s):
            return Verdict.NOISY
        # All on one side, in too few rounds to be sure.
        is_open = ratio.samples < LEAST_ROUNDS and not ratio.low <= 1 <= ratio.high
        return Verdict.UNKNOWN if is_open else Verdict.TIED
    is_faster = ratio.low > 1
    # Rounds that contradict the medians of the same rounds prove nothing.
    if (own_s < other_s) is not is_faster:
        return Verdict.NOISY
    return Verdict.FASTER if is_faster else Verdict.SLOWER


def _are_times(times_s: Sequence[float]) -> bool:
    """Return whether a clock has told all of them: 0 is no time."""
    return all(math.isfinite(t) and t > 0 for t in times_s)


def _relative_spread(times_s: Sequence[float]) -> float:
    return Timing(tuple(times_s)).spread_s / median(times_s)


def _quotient_interval(times_s: Sequence[float], others_s: Sequence[float]) -> Interval:
    """Return the quotient of two medians, between those of the ends of their intervals."""
    one, two = median_interval(times_s), median_interval(others_s)
    ends = one.low / two.high, one.high / two.low
    return Interval(one.value / two.value, *ends, min(one.samples, two.samples))
