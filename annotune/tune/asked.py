"""What a search is to be: the command line's wishes, then the annotation's, then our own."""

from __future__ import annotations

from dataclasses import dataclass

from annotune.diagnostics import AnnotuneError, Diagnostic, Template
from annotune.ir.region import Region
from annotune.tune.search.names import UnknownSearch, search_name

DEFAULT_SEARCH = "auto"
DEFAULT_TIME_S = 90.0
DEFAULT_BUDGET = 100

UNKNOWN_SEARCH = Template(
    "AT645",
    "'def search': {problem}",
    "correct `arg algorithm`, or choose a search with --search",
)
BAD_SEARCH_VALUE = Template(
    "AT646",
    "'def search': {name} is {given}, expected {expected}",
    "correct the annotation, or give {option} on the command line",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line's wishes; None for what it does not say."""

    search: str | None = None
    seed: int | None = None
    budget: int | None = None
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """How one region is to be searched: `budget` variants per target, in `time_s` seconds."""

    search: str = DEFAULT_SEARCH
    seed: int = 0
    budget: int = DEFAULT_BUDGET
    time_s: float = DEFAULT_TIME_S


def wanted(asked: Asked, region: Region, share: float = 1.0) -> Wanted:
    """Return how a region is searched; `share` of the command line's time is for it.

    ``def search`` counts where the command line is silent. Its `time_limit` is in minutes, as in
    Orio, and of this region alone; a negative one, like a `total_runs` of -1, is no limit there
    and none of ours here.

    Raises:
        AnnotuneError: The annotation names no search, or gives something else than a number.
    """
    given = region.spec.search
    problems: list[Diagnostic] = []
    search = asked.search or DEFAULT_SEARCH
    if asked.search is None and "algorithm" in given:
        try:
            search = search_name(str(given["algorithm"]))
        except UnknownSearch as error:
            problems.append(UNKNOWN_SEARCH.at(region.span, problem=error))

    def number(name: str, option: str, kinds: tuple[type, ...], least: int) -> float | None:
        value = given.get(name)
        if value is None or (type(value) in kinds and value == -1):
            return None
        if type(value) not in kinds or not isinstance(value, int | float) or value < least:
            expected = f"a {'whole ' if kinds == (int,) else ''}number from {least}"
            values = {"name": name, "given": repr(value), "expected": expected, "option": option}
            problems.append(BAD_SEARCH_VALUE.at(region.span, **values))
            return None
        return value

    budget, seed, time_s = asked.budget, asked.seed, asked.time_s
    if budget is None:
        own = number("budget", "--budget", (int,), 1) or number("total_runs", "--budget", (int,), 1)
        budget = int(own) if own else DEFAULT_BUDGET
    if seed is None:
        seed = int(number("seed", "--seed", (int,), 0) or 0)
    if time_s is None:
        minutes = number("time_limit", "--time", (int, float), 0)
        limit_s = 60.0 * minutes if minutes else DEFAULT_TIME_S * share
    else:
        limit_s = time_s * share
    if problems:
        raise AnnotuneError(tuple(problems))
    return Wanted(search, seed, budget, limit_s)
