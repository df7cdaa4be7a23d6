"""Searches by Optuna's samplers: what they suggest is moved to the nearest legal point.

Source: T. Akiba et al., "Optuna: A Next-generation Hyperparameter Optimization Framework", KDD
2019, doi:10.1145/3292500.3330701. J. Bergstra et al., "Algorithms for Hyper-Parameter
Optimization", NIPS 2011 (tree of Parzen estimators). K. Deb et al., "A Fast and Elitist
Multiobjective Genetic Algorithm: NSGA-II", 2002, doi:10.1109/4235.996017 (with one objective: a
genetic algorithm). N. Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from annotune.tune.search.points import Known, Points

# So often a sampler may name known points before it gets another one that is near.
MOST_REPEATS = 20
START_SHARE = 0.2
MOST_START = 20
POPULATION_SHARE = 0.15
LEAST_POPULATION = 4
# A failed point counts as this many times slower than the slowest right one.
FAILED = 1.5


class Suggested:
    """Asks an Optuna sampler for values of the axes, and measures the nearest free point."""

    def __init__(self, points: Points, seed: int, sampler: Any) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.known = Known(points)
        self._study = optuna.create_study(sampler=sampler)
        self._distributions = {
            axis.name: self._distribution(optuna, len(axis.values), axis.is_ordered)
            for axis in points.axes
        }
        self._trials: dict[int, Any] = {}

    @staticmethod
    def _distribution(optuna: Any, count: int, is_ordered: bool) -> Any:
        if is_ordered:
            return optuna.distributions.IntDistribution(0, count - 1)
        return optuna.distributions.CategoricalDistribution(list(range(count)))

    def ask(self, count: int) -> tuple[int, ...]:
        """Return the nearest free points to what the sampler suggests."""
        found: list[int] = []
        while len(found) < count and len(self.known.free):
            found += self.known.take([self._next()])
        return tuple(found)

    def _next(self) -> int:
        points = self.known.points
        everything = self.known.free
        for attempt in range(MOST_REPEATS):
            trial = self._study.ask(self._distributions)
            codes = [trial.params[axis.name] for axis in points.axes]
            is_last = attempt == MOST_REPEATS - 1
            free = self.known.free
            # What a suggestion means is the nearest legal point, known or not.
            place = points.nearest(codes, free if is_last else self._every)
            if self.known.is_free(place):
                self._trials[place] = trial
                return place
            if self.known.times.get(place) is not None or place in self.known.times:
                self._study.tell(trial, self._value(self.known.times[place]))
            else:
                self._study.tell(trial, state=self._failed)
        return int(everything[0])

    @property
    def _every(self) -> Any:
        import numpy as np

        return np.arange(len(self.known.points))

    @property
    def _failed(self) -> Any:
        import optuna

        return optuna.trial.TrialState.FAIL

    def _value(self, time_s: float | None) -> float:
        from math import log

        right = self.known.right.values()
        worst = FAILED * max(right) if right else 1.0
        return log(worst if time_s is None else time_s)

    @property
    def foreseen(self) -> int:
        return 0

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point, and tell the sampler."""
        self.known.tell(point, time_s)
        trial = self._trials.pop(point, None)
        if trial is not None:
            self._study.tell(trial, self._value(time_s))

    def close(self) -> None:
        """Nothing runs."""


def _sampled(points: Points, seed: int, make: Callable[[Any], Any]) -> Suggested:
    import warnings

    import optuna

    with warnings.catch_warnings():
        # Some of their options are marked as experimental.
        warnings.simplefilter("ignore")
        return Suggested(points, seed, make(optuna.samplers))


def _start(budget: int) -> int:
    return max(LEAST_POPULATION, min(MOST_START, int(START_SHARE * budget)))


def tpe(points: Points, budget: int, seed: int) -> Suggested:
    """Return the search by a tree of Parzen estimators."""
    start = _start(budget)
    return _sampled(
        points,
        seed,
        lambda s: s.TPESampler(
            n_startup_trials=start, multivariate=True, constant_liar=True, seed=seed
        ),
    )


def genetic(points: Points, budget: int, seed: int) -> Suggested:
    """Return the search by a genetic algorithm."""
    size = max(LEAST_POPULATION, int(POPULATION_SHARE * budget))
    return _sampled(points, seed, lambda s: s.NSGAIISampler(population_size=size, seed=seed))


def cma_es(points: Points, budget: int, seed: int) -> Suggested:
    """Return the search by evolution of a covariance matrix; axes without an order at random."""
    start = _start(budget)
    return _sampled(
        points,
        seed,
        lambda s: s.CmaEsSampler(
            n_startup_trials=start, seed=seed, warn_independent_sampling=False
        ),
    )
