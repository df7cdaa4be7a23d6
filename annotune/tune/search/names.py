"""Searches that need no times: all points in order, or in a random one.

The search that fits the budget: all points, or a model with a polish at the end.

The searches by name, ours and Orio's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

import numpy as np

from annotune import plugins
from annotune.tune.search.model_based import ModelBased, forest, gaussian_process
from annotune.tune.search.points import Known, Points, Search
from annotune.tune.search.stepwise import annealing, simplex
from annotune.tune.search.suggested import cma_es, genetic, tpe


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


MakeSearch = Callable[[Points, int, int], Search]

SEARCHES: Mapping[str, MakeSearch] = {
    "auto": auto,
    "exhaustive": exhaustive,
    "random": at_random,
    "gp": gaussian_process,
    "rf": forest,
    "tpe": tpe,
    "cma-es": cma_es,
    "genetic": genetic,
    "annealing": annealing,
    "simplex": simplex,
}

# What the algorithms of Orio 0.6 (orio/main/tuner/search) are nearest to here.
ORIO_NAMES: Mapping[str, str] = {
    "exhaustive": "exhaustive",
    "randomsearch": "random",
    "randomlocal": "annealing",
    "randomsimple": "random",
    "simplex": "simplex",
    "msimplex": "simplex",
    "annealing": "annealing",
    "genetic": "genetic",
    "mlsearch": "rf",
    "hybrid": "auto",
}


class UnknownSearch(Exception):
    """There is no search of a name; the message says which there are."""


def search_name(name: str) -> str:
    """Return our name for a search, which may be Orio's; case does not count.

    Raises:
        UnknownSearch: There is none of that name.
    """
    plain = name.strip().lower()
    if plain in SEARCHES or plain in plugins.names(plugins.SEARCHES):
        return plain
    if plain in ORIO_NAMES:
        return ORIO_NAMES[plain]
    every = (*SEARCHES, *plugins.names(plugins.SEARCHES))
    near = get_close_matches(plain, [*every, *ORIO_NAMES], 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise UnknownSearch(f"there is no search '{name}'; {hint}searches: {', '.join(every)}")


def make_search(name: str, points: Points, budget: int, seed: int = 0) -> Search:
    """Return a search of `points` that expects `budget` measurements.

    Raises:
        UnknownSearch: There is none of that name.
        ValueError: The budget is below 1.
    """
    if budget < 1:
        raise ValueError(f"the budget is {budget}, expected at least 1")
    known = search_name(name)
    make: MakeSearch = SEARCHES.get(known) or plugins.loaded(plugins.SEARCHES)[known]
    return make(points, budget, seed)
