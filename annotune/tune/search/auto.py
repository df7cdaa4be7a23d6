"""The search that fits the budget: all points, or a model with a polish at the end."""

from __future__ import annotations

from annotune.tune.search.listed import exhaustive
from annotune.tune.search.model_based import ModelBased, gaussian_process
from annotune.tune.search.points import Points
from annotune.tune.search.search import Search

# So much of the budget goes to the model before neighbours of the best are tried too.
MODEL_SHARE = 0.6
# Of so many points asked for after that, one is a neighbour of the best.
EVERY = 2


class Polished:
    """A model-based search that late in its budget looks around the best point as well.

    A model smooths over what one axis alone does; the neighbours of the best, which differ from it
    in one value, show it.
    """

    def __init__(self, search: ModelBased, budget: int) -> None:
        self._search = search
        self._budget = budget
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
        return self._asked >= MODEL_SHARE * self._budget

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
    """Return the search of all points where the budget holds them, else the polished model."""
    if len(points) <= budget:
        return exhaustive(points, budget, seed)
    return Polished(gaussian_process(points, budget, seed), budget)
