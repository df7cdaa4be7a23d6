"""Searches that fit a model to the times so far and measure where it expects most.

Source: D. R. Jones, M. Schonlau and W. J. Welch, "Efficient Global Optimization of Expensive
Black-Box Functions", Journal of Global Optimization 13, 1998, doi:10.1023/A:1008306431147
(expected improvement); D. Ginsbourger, R. Le Riche and L. Carraro, "Kriging Is Well-Suited to
Parallelize Optimization", 2010, doi:10.1007/978-3-642-10701-6_6 (the "kriging believer" in
batches); F. Hutter, H. Hoos and K. Leyton-Brown, "Sequential Model-Based Optimization for General
Algorithm Configuration", LION 5, 2011 (forests).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import zip_longest
from math import erf, pi, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from annotune.tuning.search.points import Floats, Known, Listed, Points, Search, exhaustive

# Random points before the first model, for each feature; few where the budget is small.
START_PER_FEATURE = 1.0
LEAST_START = 5
MOST_START = 20
START_SHARE = 0.25
# Among more free points than this, the model judges a random part.
MOST_JUDGED = 20_000
# The best points of the analytical model measured before any other.
TRUSTED = 2


class Surrogate(Protocol):
    """A model of the logarithm of the time over features."""

    def fit(self, features: Floats, logs: Floats) -> None:
        """Learn from points, shape (n, features), and the logarithms of their times, (n,)."""

    def judge(self, features: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the logarithm at each of the points."""


class ModelBased:
    """Expected improvement over the free points of the list, several at a time.

    The start is the first choice of the rules, what the analytical model likes best, and points
    far from one another.
    """

    def __init__(
        self, points: Points, budget: int, seed: int, surrogate: Callable[[int], Surrogate]
    ) -> None:
        self.known = Known(points)
        self._random = np.random.default_rng(seed)
        self._surrogate = surrogate(seed)
        self._start = self._first_points(points, budget)
        self._waiting: list[int] = []

    def _first_points(self, points: Points, budget: int) -> list[int]:
        width = points.features.shape[1]
        count = int(START_PER_FEATURE * width) + 1
        count = max(LEAST_START, min(count, MOST_START, int(START_SHARE * budget)))
        count = min(count, len(points))
        start = [0, *_trusted(points)]
        return spread(points.features, list(dict.fromkeys(start)), count, self._random)

    def ask(self, count: int) -> tuple[int, ...]:
        """Return points of the start, then those of the greatest expected improvement."""
        found: list[int] = []
        while self._start and len(found) < count:
            found += self.known.take([self._start.pop(0)])
        if len(found) < count and len(self.known.right) < 2:
            # Nothing to fit yet: what is on its way will tell, or all of it failed.
            if not self._waiting and not found:
                found += self.known.take(int(p) for p in self.known.free[:count])
        elif len(found) < count:
            found += self._promising(count - len(found))
        self._waiting += found
        return tuple(found)

    @property
    def foreseen(self) -> int:
        return len(self._start)

    def also(self, found: Iterable[int]) -> tuple[int, ...]:
        """Mark points that another asks for as asked, and return those that were not before."""
        fresh = self.known.take(found)
        self._waiting += fresh
        return fresh

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point."""
        self.known.tell(point, time_s)
        if point in self._waiting:
            self._waiting.remove(point)

    def close(self) -> None:
        """Nothing runs."""

    def _promising(self, count: int) -> list[int]:
        """Return free points by expected improvement, each as if the ones before were as fast
        as expected."""
        judged = self.known.free
        if len(judged) > MOST_JUDGED:
            judged = self._random.choice(judged, MOST_JUDGED, replace=False)
        features = self.known.points.features
        places, logs = self._told()
        believed = [p for p in self._waiting if p not in self.known.times]
        found: list[int] = []
        for _ in range(min(count, len(judged))):
            self._surrogate.fit(features[[*places, *believed]], self._with(logs, believed))
            mean, deviation = self._surrogate.judge(features[judged])
            gain = expected_improvement(mean, deviation, float(logs.min()))
            gain[np.isin(judged, found)] = -1.0
            best = int(judged[int(np.argmax(gain))])
            found.append(best)
            believed.append(best)
        return list(self.known.take(found))

    def _told(self) -> tuple[list[int], Floats]:
        places = list(self.known.times)
        return places, np.log(np.array([self.known.cost_s(place) for place in places]))

    def _with(self, logs: Floats, believed: list[int]) -> Floats:
        """Return the known logarithms, and for points on their way what the model expects."""
        if not believed:
            return logs
        features = self.known.points.features
        places = list(self.known.times)
        self._surrogate.fit(features[places], logs)
        mean, _ = self._surrogate.judge(features[believed])
        return np.concatenate([logs, mean])


def _trusted(points: Points, count: int = TRUSTED) -> list[int]:
    """Return the points that the analytical model likes best, where it speaks of all."""
    times = [t for t in points.predicted_s if t is not None]
    if len(times) < len(points):
        return []
    return [int(p) for p in np.argsort(times, kind="stable")[:count]]


def spread(
    features: Floats, start: list[int], count: int, random: np.random.Generator
) -> list[int]:
    """Return `start` and more points, each as far as may be from those before it.

    The farthest of a random part, so that seeds differ and corners are not all that is seen.
    """
    chosen = start[:count]
    distance = np.full(len(features), np.inf)
    for point in chosen:
        distance = np.minimum(distance, _distances(features, point))
    while len(chosen) < count:
        part = random.choice(len(features), min(len(features), 64), replace=False)
        free = part[~np.isin(part, chosen)]
        if not len(free):
            free = np.setdiff1d(np.arange(len(features)), chosen)
        best = int(free[int(np.argmax(distance[free]))])
        chosen.append(best)
        distance = np.minimum(distance, _distances(features, best))
    return chosen


def _distances(features: Floats, point: int) -> Floats:
    away: Floats = np.linalg.norm(features - features[point], axis=1)
    return away


_ERF = np.vectorize(erf, otypes=[np.float64])


def expected_improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """Return by how much each normal variable is expected to fall below `best`.

    Where the deviation is zero it is ``max(best - mean, 0)``.
    """
    gain = best - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(deviation > 0, gain / deviation, 0.0)
    density = np.exp(-0.5 * z * z) / sqrt(2 * pi)
    below: NDArray[np.float64] = 0.5 * (1 + _ERF(z / sqrt(2)))
    found: Floats = np.where(deviation > 0, gain * below + deviation * density, np.maximum(gain, 0))
    return found


class GaussianProcess:
    """A Gaussian process with a Matérn kernel of its own length for each feature.

    Lengths are learned anew when the number of times has grown by a quarter; in between, the
    process takes in new times with the lengths it has.
    """

    GROWTH = 1.25

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._learned_at = 0
        self._known_kernel: object = None
        self._process: Any = None

    def fit(self, features: Floats, logs: Floats) -> None:
        """Learn from points and the logarithms of their times."""
        # Here alone: to import it takes as long as two trials, and a short search fits nothing.
        from sklearn.gaussian_process import GaussianProcessRegressor

        is_due = len(logs) >= self.GROWTH * self._learned_at or self._known_kernel is None
        kernel = _kernel(features.shape[1]) if is_due else self._known_kernel
        process = GaussianProcessRegressor(
            kernel,
            optimizer="fmin_l_bfgs_b" if is_due else None,
            normalize_y=True,
            random_state=self._seed,
        )
        with warnings.catch_warnings():
            # A length at its bound is what an axis without influence has.
            warnings.simplefilter("ignore")
            process.fit(features, logs)
        if is_due:
            self._learned_at, self._known_kernel = len(logs), process.kernel_
        self._process = process

    def judge(self, features: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the logarithm at each point."""
        mean, deviation = self._process.predict(features, return_std=True)
        return mean, deviation


def _kernel(width: int) -> Any:
    """Return the kernel of a process over so many features, before it has learned anything."""
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    scale = ConstantKernel(1.0, (1e-2, 1e2))
    lengths = Matern([0.5] * width, length_scale_bounds=(0.05, 20.0), nu=2.5)
    return scale * lengths + WhiteKernel(1e-3, (1e-6, 1e-1))


class Forest:
    """A random forest; its trees' disagreement is the deviation."""

    TREES = 64

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._forest: Any = None

    def fit(self, features: Floats, logs: Floats) -> None:
        """Learn from points and the logarithms of their times."""
        from sklearn.ensemble import RandomForestRegressor

        if self._forest is None:
            self._forest = RandomForestRegressor(
                self.TREES,
                min_samples_leaf=2,
                max_features=0.7,
                random_state=self._seed,
                n_jobs=1,
            )
        self._forest.fit(features, logs)

    def judge(self, features: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the trees at each point."""
        each = np.stack([tree.predict(features) for tree in self._forest.estimators_])
        return each.mean(axis=0), each.std(axis=0)


def gaussian_process(points: Points, budget: int, seed: int) -> ModelBased:
    """Return the search by expected improvement of a Gaussian process."""
    return ModelBased(points, budget, seed, GaussianProcess)


def forest(points: Points, budget: int, seed: int) -> ModelBased:
    """Return the search by expected improvement of a random forest."""
    return ModelBased(points, budget, seed, Forest)


# So much of the budget goes to the model before neighbours of the best are tried too.
MODEL_SHARE = 0.6
# Where no model chooses, this share is enough to know where to look.
BLIND_SHARE = 0.3
# Of so many points asked for after that, one is a neighbour of the best.
EVERY = 2


class Polished:
    """A search that after so many `early` points looks around the best one as well.

    A model smooths over what one axis alone does; the neighbours of the best, which differ from it
    in one value, show it.
    """

    def __init__(self, search: ModelBased | Listed, early: float) -> None:
        self._search = search
        self._early = early
        self._asked = 0

    def ask(self, count: int) -> tuple[int, ...]:
        """Return the model's points, later every other one a neighbour of the best."""
        found: list[int] = []
        while len(found) < count:
            one = self._neighbour() if self._is_late and self._asked % EVERY else ()
            one = one or self._search.ask(1 if self._is_late else count - len(found))
            if not one:
                break
            self._asked += len(one)
            found += one
        return tuple(found)

    @property
    def foreseen(self) -> int:
        return 0 if self._is_late else self._search.foreseen

    @property
    def _is_late(self) -> bool:
        return self._asked >= self._early

    def _neighbour(self) -> tuple[int, ...]:
        known = self._search.known
        if known.best is None:
            return ()
        near = (p for p in known.points.neighbours(known.best) if known.is_free(p))
        return self._search.also([p for p, _ in zip(near, range(1), strict=False)])

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point."""
        self._search.tell(point, time_s)

    def close(self) -> None:
        """End the search."""
        self._search.close()


def auto(points: Points, budget: int, seed: int) -> Search:
    """Return the search of all points where the budget holds them, else a polished one.

    That is by a Gaussian process where scikit-learn is installed. Without it the points come in the
    order of the analytical model, where that speaks of all, and as far apart as may be, in turns.
    """
    if len(points) <= budget:
        return exhaustive(points, budget, seed)
    if find_spec("sklearn") is not None:
        return Polished(gaussian_process(points, budget, seed), MODEL_SHARE * budget)
    random = np.random.default_rng(seed)
    apart = spread(points.features, [0], budget, random)
    liked = _trusted(points, budget)
    order = (point for pair in zip_longest(apart, liked) for point in pair if point is not None)
    return Polished(Listed(points, [*dict.fromkeys(order)]), BLIND_SHARE * budget)
