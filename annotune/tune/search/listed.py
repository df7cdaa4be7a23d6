"""Searches that need no times: all points in order, or in a random one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotune.tune.search.points import Points
from annotune.tune.search.search import Known


class Listed:
    """Asks for points in a fixed order."""

    def __init__(self, points: Points, order: Sequence[int]) -> None:
        self.known = Known(points)
        self._left = [int(p) for p in reversed(order)]

    def ask(self, count: int) -> tuple[int, ...]:
        """Return the next points of the order."""
        found: list[int] = []
        while self._left and len(found) < count:
            found += self.known.take([self._left.pop()])
        return tuple(found)

    @property
    def foreseen(self) -> int:
        return len(self._left)

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time; the order stays."""
        self.known.tell(point, time_s)

    def close(self) -> None:
        """Nothing runs."""


def exhaustive(points: Points, budget: int, seed: int) -> Listed:
    """Return the search of all points in their own order, the rules' first choice first."""
    return Listed(points, range(len(points)))


def at_random(points: Points, budget: int, seed: int) -> Listed:
    """Return the search in an order drawn from `seed`."""
    order = np.random.default_rng(seed).permutation(len(points))
    return Listed(points, [int(p) for p in order])
