"""The searches by name: ours, Orio's, and those of other packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from annotune import plugins
from annotune.diagnostics import AnnotuneError, Span, Template

if TYPE_CHECKING:
    # Not imported before a search begins: numpy takes its time.
    from annotune.tuning.search.points import Points, Search

    MakeSearch: TypeAlias = Callable[[Points, int, int], Search]

NO_LIBRARY = Template(
    "AT649",
    "the search '{name}' needs {missing}, not installed here",
    "pip install 'annotune[search]', or take a search that needs no library: {others}",
)

_HERE = "annotune.tuning.search"
# Where each stands.
SEARCHES: Mapping[str, str] = {
    "auto": f"{_HERE}.model_based:auto",
    "exhaustive": f"{_HERE}.points:exhaustive",
    "random": f"{_HERE}.points:at_random",
    "gp": f"{_HERE}.model_based:gaussian_process",
    "rf": f"{_HERE}.model_based:forest",
    "tpe": f"{_HERE}.libraries:tpe",
    "cma-es": f"{_HERE}.libraries:cma_es",
    "genetic": f"{_HERE}.libraries:genetic",
    "annealing": f"{_HERE}.libraries:annealing",
    "simplex": f"{_HERE}.libraries:simplex",
}
# What some of them cannot do without, by the names that one imports.
_LIBRARIES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("gp", "rf"), ("sklearn",)),
    **dict.fromkeys(("tpe", "genetic"), ("optuna",)),
    **dict.fromkeys(("annealing", "simplex"), ("scipy",)),
    "cma-es": ("optuna", "cmaes"),
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
    make: MakeSearch
    if known in SEARCHES:
        module, _, name = SEARCHES[known].partition(":")
        make = getattr(import_module(module), name)
    else:
        make = plugins.loaded(plugins.SEARCHES)[known]
    return make(points, budget, seed)


def refuse_unavailable(name: str, span: Span) -> None:
    """Refuse a search whose libraries are not installed.

    Raises:
        AnnotuneError: At the place that asks for it.
    """
    missing = [one for one in _LIBRARIES.get(name, ()) if find_spec(one) is None]
    if missing:
        others = ", ".join(one for one in SEARCHES if one not in _LIBRARIES)
        names = " and ".join(missing)
        raise AnnotuneError.of(NO_LIBRARY.at(span, name=name, missing=names, others=others))
