"""A search: all points, the last of the listing first."""

from __future__ import annotations

from annotune.tuning.search.points import Known, Points


class Backwards:
    """Asks for every point from the last one on."""

    def __init__(self, points: Points) -> None:
        self.known = Known(points)

    @property
    def foreseen(self) -> int:
        """Return how many of the next points do not depend on what is told: all."""
        return len(self.known.points)

    def ask(self, count: int) -> tuple[int, ...]:
        """Return the next points, at most `count`."""
        left = [p for p in reversed(range(len(self.known.points))) if self.known.is_free(p)]
        return self.known.take(left[:count])

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point."""
        self.known.tell(point, time_s)

    def close(self) -> None:
        """End nothing: nothing is kept running."""


def backwards(points: Points, budget: int, seed: int) -> Backwards:
    """Return the search of `points`."""
    return Backwards(points)
