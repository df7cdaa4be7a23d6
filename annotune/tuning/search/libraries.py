"""Searches by SciPy's minimisers and by Optuna's samplers.

A minimiser wants the value of a point before it names the next; what a sampler suggests is moved to
the nearest legal point.

Source: J. A. Nelder and R. Mead, "A Simplex Method for Function Minimization", The Computer Journal
7, 1965, doi:10.1093/comjnl/7.4.308; S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, "Optimization by
Simulated Annealing", Science 220, 1983, doi:10.1126/science.220.4598.671, in SciPy's generalised
form (C. Tsallis and D. A. Stariolo, 1996, doi:10.1016/S0378-4371(96)00271-3). T. Akiba et al.,
"Optuna: A Next-generation Hyperparameter Optimization Framework", KDD 2019,
doi:10.1145/3292500.3330701; J. Bergstra et al., "Algorithms for Hyper-Parameter Optimization", NIPS
2011 (tree of Parzen estimators); K. Deb et al., "A Fast and Elitist Multiobjective Genetic
Algorithm: NSGA-II", 2002, doi:10.1109/4235.996017 (with one objective: a genetic algorithm); N.
Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from math import log
from queue import SimpleQueue
from typing import Any

import numpy as np

from annotune.tuning.search.points import Floats, Known, Points

# A minimiser that names known points so often in a row gets a new start.
MOST_STEPS_BACK = 50

Minimise = Callable[[Callable[[Floats], float], Floats, np.random.Generator], None]


class _Ended(Exception):
    """Leaves a minimiser from inside the function that it minimises."""


class _Restart(Exception):
    """The same, to begin elsewhere."""


class Stepwise:
    """Runs a minimiser beside the caller, over values in [0, 1] for each axis.

    A vector means the legal point nearest to it. One point at a time is asked for.
    """

    def __init__(self, points: Points, seed: int, minimise: Minimise) -> None:
        self.known = Known(points)
        self._random = np.random.default_rng(seed)
        self._minimise = minimise
        self._every = np.arange(len(points))
        self._asked: SimpleQueue[int | None] = SimpleQueue()
        self._told: SimpleQueue[bool] = SimpleQueue()
        self._awaited: int | None = None
        self._repeats = 0
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def ask(self, count: int) -> tuple[int, ...]:
        """Return the next point that the minimiser wants, none while one is awaited."""
        if count < 1 or self._awaited is not None or not len(self.known.free):
            return ()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        else:
            self._told.put(True)
        self._awaited = self._asked.get()
        return () if self._awaited is None else self.known.take([self._awaited])

    @property
    def foreseen(self) -> int:
        return 0

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point."""
        self.known.tell(point, time_s)
        if point == self._awaited:
            self._awaited = None

    def close(self) -> None:
        """End the minimiser."""
        if self._thread is not None and self._thread.is_alive():
            self._is_closed = True
            self._told.put(False)
            self._thread.join()

    def _run(self) -> None:
        axes = len(self.known.points.axes)
        start = self._vector(0)
        try:
            while len(self.known.free):
                self._repeats = 0
                left = len(self.known.free)
                with suppress(_Restart):
                    # Points without an axis are all alike, and nothing leads from one to another.
                    if axes:
                        self._minimise(self._value, start, self._random)
                if len(self.known.free) == left:
                    self._measure(int(self._random.choice(self.known.free)))
                start = self._random.random(axes)
        except _Ended:
            return
        finally:
            # Whatever ended the minimiser, nobody waits for it in vain.
            self._asked.put(None)

    def _vector(self, point: int) -> Floats:
        codes = self.known.points.codes[point]
        spans = [len(axis.values) - 1 for axis in self.known.points.axes]
        return np.array([code / span for code, span in zip(codes, spans, strict=True)])

    def _value(self, vector: Floats) -> float:
        """Return the logarithm of the time at a vector, measured by the caller where new."""
        axes = self.known.points.axes
        inside = np.clip(vector, 0.0, 1.0)
        codes = [round(float(x) * (len(a.values) - 1)) for x, a in zip(inside, axes, strict=True)]
        point = self.known.points.nearest(codes, self._every)
        if self.known.is_free(point):
            self._repeats = 0
            self._measure(point)
        else:
            self._repeats += 1
            if self._repeats > MOST_STEPS_BACK:
                # Nothing new lies that way: a free point takes the next step.
                self._repeats = 0
                self._measure(int(self._random.choice(self.known.free)))
                raise _Restart
        return log(self.known.cost_s(point))

    def _measure(self, point: int) -> None:
        self._asked.put(point)
        if not self._told.get():
            raise _Ended
        if not len(self.known.free):
            raise _Ended


def _nelder_mead(value: Callable[[Floats], float], start: Floats, random: Any) -> None:
    from scipy.optimize import minimize

    # The corners of the first simplex lie along the axes, toward the farther end of each.
    corners = [start]
    for axis in range(len(start)):
        corner = start.copy()
        corner[axis] += 0.4 if start[axis] <= 0.5 else -0.4
        corners.append(corner)
    options = {"initial_simplex": np.array(corners), "xatol": 1e-3, "fatol": 1e-6}
    minimize(value, start, method="Nelder-Mead", options=options)


def _dual_annealing(
    value: Callable[[Floats], float], start: Floats, random: np.random.Generator
) -> None:
    from scipy.optimize import dual_annealing

    bounds = [(0.0, 1.0)] * len(start)
    seed = int(random.integers(2**31))
    dual_annealing(value, bounds, x0=start, no_local_search=True, rng=seed, maxiter=10_000)


def simplex(points: Points, budget: int, seed: int) -> Stepwise:
    """Return the search by the simplex of Nelder and Mead, begun anew where it ends."""
    return Stepwise(points, seed, _nelder_mead)


def annealing(points: Points, budget: int, seed: int) -> Stepwise:
    """Return the search by generalised simulated annealing."""
    return Stepwise(points, seed, _dual_annealing)


# So often a sampler may name known points before it gets another one that is near.
MOST_REPEATS = 20
START_SHARE = 0.2
MOST_START = 20
POPULATION_SHARE = 0.15
LEAST_POPULATION = 4


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
        self._failed = optuna.trial.TrialState.FAIL
        self._every = np.arange(len(points))

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
            if place in self.known.times:
                self._study.tell(trial, log(self.known.cost_s(place)))
            else:
                self._study.tell(trial, state=self._failed)
        return int(everything[0])

    @property
    def foreseen(self) -> int:
        return 0

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point, and tell the sampler."""
        self.known.tell(point, time_s)
        trial = self._trials.pop(point, None)
        if trial is not None:
            self._study.tell(trial, log(self.known.cost_s(point)))

    def close(self) -> None:
        """Nothing runs."""


def _sampled(points: Points, seed: int, make: Callable[[Any], Any]) -> Suggested:
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
