"""What a search is: it asks for points, is told their times, and never asks for one twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotune.tune.search.points import Points


class Search(Protocol):
    """Chooses which points of a space to measure next."""

    def ask(self, count: int) -> tuple[int, ...]:
        """Return at most `count` points to measure, none of them asked for before.

        Fewer come where the search must hear of some first; none, with nothing left to be told,
        means that it is done.
        """

    @property
    def foreseen(self) -> int:
        """Return how many of the points it asks for next do not depend on what it is told."""

    def tell(self, point: int, time_s: float | None) -> None:
        """Take the time of a point in seconds, or None where it failed.

        Points that were not asked for are known too from then on.
        """

    def close(self) -> None:
        """End what the search keeps running."""


class Known:
    """The points asked for and told so far, which every search keeps."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.times: dict[int, float | None] = {}
        self._is_free = np.ones(len(points), dtype=bool)

    def take(self, found: Iterable[int]) -> tuple[int, ...]:
        """Mark points as asked for, and return those that were not before."""
        fresh = tuple(p for p in dict.fromkeys(found) if self._is_free[p])
        self._is_free[list(fresh)] = False
        return fresh

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point, None for a failure."""
        self._is_free[point] = False
        self.times[point] = time_s

    def is_free(self, point: int) -> bool:
        """Return whether a point was neither asked for nor told."""
        return bool(self._is_free[point])

    @property
    def free(self) -> NDArray[np.int64]:
        """Return the points neither asked for nor told, ascending."""
        return np.flatnonzero(self._is_free)

    @property
    def right(self) -> dict[int, float]:
        """Return the points that have a time."""
        return {p: t for p, t in self.times.items() if t is not None}

    @property
    def best(self) -> int | None:
        """Return the fastest point so far, the first of equals."""
        return min(self.right, key=lambda p: self.right[p], default=None)
