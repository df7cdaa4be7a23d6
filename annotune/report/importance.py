"""Which parameters of a target's space matter to its time, learnt from its trials.

Source: permutation importance, L. Breiman, "Random Forests", Machine Learning 45, 2001,
doi:10.1023/A:1010933404324; half of the mean squared change over the variance estimates the
total-effect index, M. J. W. Jansen, "Analysis of variance designs for model output", Computer
Physics Communications 117, 1999, doi:10.1016/S0010-4655(98)00154-4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotune.measure.trial import Trial
from annotune.tune.search.points import Floats, Points

# With fewer trials a fifth of them says nothing of a forest fitted to the rest.
LEAST_TRIALS = 20
FOLDS = 5
TREES = 100
# Each axis is shuffled this often in each fold.
SHUFFLES = 10
SEED = 1
# A forest that explains less of trials it has not seen is not worth asking.
LEAST_EXPLAINED = 0.3


@dataclass(frozen=True, slots=True)
class Importance:
    """What share of the variance of the logarithm of the time depends on each axis.

    Alone or together with others, so the shares may add up to more than one. `shares` descend;
    `explained` is the share of the variance of `trials` unseen trials that the forest explains.
    Both are empty or None where `reason` says why.
    """

    shares: tuple[tuple[str, float], ...] = ()
    trials: int = 0
    explained: float | None = None
    reason: str = ""


def importance(trials: Iterable[Trial]) -> Importance:
    """Return the importance of each axis on which right trials, of one kind of time, differ.

    A forest is fitted to four fifths of the trials and asked for the last fifth, five times over;
    then again with the values of one axis shuffled among the trials.
    """
    known = [t for t in trials if t.time_s and not t.is_repeat]
    if len(known) < LEAST_TRIALS:
        reason = f"that takes {LEAST_TRIALS} right trials of different programs, and there are "
        return Importance(trials=len(known), reason=f"{reason}{len(known)}")
    points = Points(tuple(t.config for t in known))
    if not points.axes:
        return Importance(trials=len(known), reason="no parameter differs among the right trials")
    logs = np.log([t.time_s or 1.0 for t in known])
    if logs.max() == logs.min():
        return Importance(trials=len(known), reason="all right trials took the same time")
    variance = float(np.var(logs))
    error, rises = _errors(points.codes.astype(np.float64), logs)
    explained = 1 - error / variance
    if explained < LEAST_EXPLAINED:
        reason = (
            f"a forest fitted to the others explains {max(0.0, explained):.0%} of the variance of "
            f"trials that it has not seen; below {LEAST_EXPLAINED:.0%} its opinion is worthless"
        )
        return Importance(trials=len(known), explained=explained, reason=reason)
    shares = [max(0.0, float(rise) / (2 * variance)) for rise in rises]
    names = [axis.name for axis in points.axes]
    return Importance(_descending(names, shares), len(known), explained)


def _descending(names: Sequence[str], shares: Sequence[float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(zip(names, shares, strict=True), key=lambda one: -one[1]))


def _errors(codes: Floats, logs: Floats) -> tuple[float, Floats]:
    """Return the mean squared error on unseen trials, and how it rises with an axis shuffled.

    `codes` numbers each trial's value on each axis, shape (trials, axes).
    """
    # Slow to import, and needed here alone.
    from sklearn.ensemble import RandomForestRegressor

    random = np.random.default_rng(SEED)
    folds = random.permutation(len(logs)) % FOLDS
    error = 0.0
    rises = np.zeros(codes.shape[1])
    for fold in range(FOLDS):
        unseen = folds == fold
        forest = RandomForestRegressor(TREES, random_state=SEED)
        forest.fit(codes[~unseen], logs[~unseen])
        rest, truth = codes[unseen], logs[unseen]
        right = float(np.sum((forest.predict(rest) - truth) ** 2))
        error += right
        # One in so many shuffled trials keeps its own value, which must not count.
        moved_share = (len(truth) - 1) / len(truth)
        for axis in range(codes.shape[1]):
            moved = _with_shuffled(rest, axis, random)
            wrong = (forest.predict(moved) - np.tile(truth, SHUFFLES)) ** 2
            rises[axis] += (float(np.sum(wrong)) / SHUFFLES - right) / moved_share
    return error / len(logs), rises / len(logs)


def _with_shuffled(codes: Floats, axis: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Return `SHUFFLES` copies of the trials below one another, one axis shuffled in each."""
    moved = np.tile(codes, (SHUFFLES, 1))
    columns = [random.permutation(codes[:, axis]) for _ in range(SHUFFLES)]
    moved[:, axis] = np.concatenate(columns)
    return moved
