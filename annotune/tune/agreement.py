"""How well the model's order of the trials agrees with that of the clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from annotune.measure.trial import Status, Trial

# With two pairs a rank correlation is 1 or -1 whatever the model.
LEAST_PAIRS = 3


@dataclass(frozen=True, slots=True)
class Agreement:
    """The trials of one target that were both predicted and measured.

    `correlation` is Spearman's of both times, None where `reason` says why there is none;
    `error` the geometric mean of the larger over the smaller time of each pair, None for no pair.
    """

    target: str
    pairs: int
    correlation: float | None = None
    error: float | None = None
    reason: str = ""


def agreement(target: str, trials: Iterable[Trial]) -> Agreement:
    """Return how the predictions of a target's trials agree with the measured times."""
    own = [t for t in trials if t.target == target and t.status is Status.CORRECT]
    # One program counts once, also where several points have it.
    own = [t for t in own if not t.is_repeat]
    timed = [t for t in own if t.time_s and not t.is_predicted]
    both = [(t.predicted_s, t.time_s) for t in timed if t.predicted_s and t.time_s]
    if not timed:
        return Agreement(target, 0, reason="no trial was measured")
    if not both:
        return Agreement(target, 0, reason="no model predicts it")
    error = exp(sum(abs(log(predicted / time)) for predicted, time in both) / len(both))
    if len(both) < LEAST_PAIRS:
        reason = f"a rank correlation needs {LEAST_PAIRS} trials, and there are {len(both)}"
        return Agreement(target, len(both), None, error, reason)
    correlation = spearman([p for p, _ in both], [t for _, t in both])
    reason = "" if correlation is not None else "all predictions or all times are equal"
    return Agreement(target, len(both), correlation, error, reason)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, None where one side has a single rank.

    Equal values share the mean of their ranks, and the correlation is Pearson's of the ranks.

    Source:
        C. Spearman, "The Proof and Measurement of Association between Two Things", American
        Journal of Psychology 15(1), 1904.
    """
    one, two = _ranks(first), _ranks(second)
    mean = (len(one) + 1) / 2
    product = sum((a - mean) * (b - mean) for a, b in zip(one, two, strict=True))
    spread = sqrt(sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in two))
    return product / spread if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank from 1; equal ones share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for rank, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(rank)
    return [sum(places[value]) / len(places[value]) for value in values]
