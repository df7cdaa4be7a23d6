"""The searches by name, ours and Orio's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from annotune.tune.search.auto import auto
from annotune.tune.search.listed import at_random, exhaustive
from annotune.tune.search.model_based import forest, gaussian_process
from annotune.tune.search.points import Points
from annotune.tune.search.search import Search
from annotune.tune.search.stepwise import annealing, simplex
from annotune.tune.search.suggested import cma_es, genetic, tpe

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
    if plain in SEARCHES:
        return plain
    if plain in ORIO_NAMES:
        return ORIO_NAMES[plain]
    near = get_close_matches(plain, [*SEARCHES, *ORIO_NAMES], 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise UnknownSearch(f"there is no search '{name}'; {hint}searches: {', '.join(SEARCHES)}")


def make_search(name: str, points: Points, budget: int, seed: int = 0) -> Search:
    """Return a search of `points` that expects `budget` measurements.

    Raises:
        UnknownSearch: There is none of that name.
        ValueError: The budget is below 1.
    """
    if budget < 1:
        raise ValueError(f"the budget is {budget}, expected at least 1")
    return SEARCHES[search_name(name)](points, budget, seed)
