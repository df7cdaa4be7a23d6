"""Searches by SciPy's minimisers, which want the value of a point before they name the next.

Source: J. A. Nelder and R. Mead, "A Simplex Method for Function Minimization", The Computer Journal
7, 1965, doi:10.1093/comjnl/7.4.308; S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, "Optimization by
Simulated Annealing", Science 220, 1983, doi:10.1126/science.220.4598.671, in SciPy's generalised
form (C. Tsallis and D. A. Stariolo, 1996, doi:10.1016/S0378-4371(96)00271-3).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from math import log
from queue import SimpleQueue
from typing import Any

import numpy as np

from annotune.tune.search.points import Floats, Known, Points

# A failed point counts as this many times slower than the slowest right one.
FAILED = 1.5
# A minimiser that names known points so often in a row gets a new start.
MOST_REPEATS = 50

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
            if self._repeats > MOST_REPEATS:
                # Nothing new lies that way: a free point takes the next step.
                self._repeats = 0
                self._measure(int(self._random.choice(self.known.free)))
                raise _Restart
        right = self.known.right
        time_s = self.known.times.get(point)
        if time_s is None:
            time_s = FAILED * max(right.values(), default=1.0)
        return log(time_s)

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
