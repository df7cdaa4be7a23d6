"""The searches by name, made for a list of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from annotune.tune.search.asked import ORIO_NAMES, UnknownSearch, search_name
from annotune.tune.search.auto import auto
from annotune.tune.search.listed import at_random, exhaustive
from annotune.tune.search.model_based import forest, gaussian_process
from annotune.tune.search.points import Points
from annotune.tune.search.search import Search
from annotune.tune.search.stepwise import annealing, simplex
from annotune.tune.search.suggested import cma_es, genetic, tpe

__all__ = ["ORIO_NAMES", "SEARCHES", "UnknownSearch", "make_search", "search_name"]

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


def make_search(name: str, points: Points, budget: int, seed: int = 0) -> Search:
    """Return a search of `points` that expects `budget` measurements.

    Raises:
        UnknownSearch: There is none of that name.
        ValueError: The budget is below 1.
    """
    if budget < 1:
        raise ValueError(f"the budget is {budget}, expected at least 1")
    return SEARCHES[search_name(name)](points, budget, seed)
