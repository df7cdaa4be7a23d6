"""What a run is asked to do: by the command line, an annotation, and whoever ends it early."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from annotune.diagnostics import AnnotuneError, Diagnostic, Span, Template
from annotune.frozen import dataclass
from annotune.measure.command import kill_running
from annotune.tuning.search.names import UnknownSearch, refuse_unavailable, search_name

if TYPE_CHECKING:
    from annotune.ir.region import Region

DEFAULT_SEARCH = "auto"
DEFAULT_TIME_S = 90.0
DEFAULT_BUDGET = 100
ORIGINAL_S = 600.0
AUTO = "auto"

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
class Wish:
    """What ``--workers`` asks for: so many processes of this machine, or those of a file."""

    count: int = 0
    config: Path | None = None


class Phase(StrEnum):
    """What a run does with its time; each is a field of `annotune.tuning.results.Spent`."""

    READING = "reading_s"
    ORIGINAL = "original_s"
    VARIANTS = "variants_s"
    CHECKS = "checks_s"
    FINALS = "finals_s"


class Ledger:
    """Adds up where the time of a run goes, in the thread that leads it.

    From the beginning on the source is read.
    `clock` gives seconds, and `begun` is when the run began by it, None for now.
    """

    def __init__(
        self, begun: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._since = clock() if begun is None else begun
        self._phase = Phase.READING
        self._seconds = dict.fromkeys(Phase, 0.0)

    @contextmanager
    def on(self, phase: Phase) -> Iterator[None]:
        """Count what is done inside the ``with`` as `phase`, but for what is counted further in."""
        before = self._phase
        self._change(phase)
        try:
            yield
        finally:
            self._change(before)

    def _change(self, phase: Phase) -> None:
        now = self._clock()
        self._seconds[self._phase] += max(0.0, now - self._since)
        self._since, self._phase = now, phase

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each phase until now, by the names of the phases."""
        self._change(self._phase)
        return {str(phase): seconds for phase, seconds in self._seconds.items()}


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What the command line asks for; None for what it does not say of the search.

    `compilers` compilations and `jobs` checks run at once. With `is_cold` what is timed begins with
    nothing of its data in a cache. `workers` are processes of their own that are to do the checks;
    None for this one. One run of the original may take `original_s`, however short the search is to
    be. The command was `begun` at that time, of `time.monotonic`; None is now. `by_steps` asks for
    the first choice alone, one kind of its steps after the other. Without `checks_naive`, OpenACC
    as written is looked at only where a GPU can time it; without `profiles` no profiler is asked.

    `both` is how the host shares the calls of CUDA, as `Both` says it, empty where it does not;
    with `AUTO` several ways are tried.

    What is compiled lies in the folder `compiled`, where other runs find it; in one of its own with
    None. With `is_ahead` the first choices are compiled and proved, and nothing is timed. Where the
    time goes is recorded in the `ledger`.
    """

    search: str | None = None
    seed: int | None = None
    budget: int | None = None
    time_s: float | None = None
    compilers: int = 1
    jobs: int = 1
    is_cold: bool = True
    workers: Wish | None = None
    original_s: float = ORIGINAL_S
    begun: float | None = None
    by_steps: bool = False
    checks_naive: bool = True
    profiles: bool = True
    compiled: Path | None = None
    is_ahead: bool = False
    both: str = ""
    ledger: Ledger = field(default_factory=Ledger, compare=False)


# A run may take so much more than its time, since it ends what it has begun.
OVER = 1.2


def over_words(config: RunConfig, ended: float) -> tuple[str, ...]:
    """Return a warning where a command that `ended` then, by `time.monotonic`, took too long."""
    if config.time_s is None or config.begun is None:
        return ()
    took_s = ended - config.begun
    if took_s <= OVER * config.time_s:
        return ()
    return (
        f"the run took {took_s:.0f} s where --time gave it {config.time_s:.0f} s: a right variant "
        "of each target and its usual proofs are never left out",
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """How one region is to be searched: `budget` variants per target, in `time_s` seconds.

    These are a `share` of the run's.
    """

    search: str = DEFAULT_SEARCH
    seed: int = 0
    budget: int = DEFAULT_BUDGET
    time_s: float = DEFAULT_TIME_S
    share: float = 1.0


def wanted(config: RunConfig, region: Region, share: float = 1.0) -> Wanted:
    """Return how a region is searched; `share` of the command line's time is for it.

    ``def search`` counts where the command line is silent. Its `time_limit` is in minutes, as in
    Orio, and of this region alone; a negative one, like a `total_runs` of -1, is no limit there
    and none of ours here.

    Raises:
        AnnotuneError: The annotation names no search, or gives something else than a number.
    """
    given = region.spec.search
    problems: list[Diagnostic] = []
    search = config.search or DEFAULT_SEARCH
    if config.search is None and "algorithm" in given:
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

    budget, seed, time_s = config.budget, config.seed, config.time_s
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
    return Wanted(search, seed, budget, limit_s, share)


def refuse_missing_libraries(config: RunConfig, search: str, region: Region) -> None:
    """Refuse a search that cannot be made here, where the command line or the annotation asks.

    Raises:
        AnnotuneError: Its libraries are not installed.
    """
    span = region.span if config.search is None else Span("--search", 1, 1)
    refuse_unavailable(search, span)


# What shells report of a program that a signal has ended.
SIGNALLED = 128


class Stop:
    """Whether a run is to end, and the signal that says so; 0 while there is none."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.signal = 0

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self, number: int = 0) -> None:
        """Ask for the end; `number` is the signal that did, if any."""
        self.signal = number
        self._event.set()


NEVER = Stop()
"""That of a run which nobody interrupts: it is never set."""


@contextmanager
def interrupts(once: Callable[[], object], twice: Callable[[], object]) -> Iterator[Stop]:
    """Give a `Stop` that the first Ctrl-C or SIGTERM sets; a second one ends the process at once.

    `once` and `twice` are called then, to tell whoever watches. The handlers from before are back
    at the end.
    """
    stop = Stop()

    def handle(number: int, frame: FrameType | None) -> None:
        if not stop.is_set:
            stop.set(number)
            once()
            return
        twice()
        # Measuring children end with their standard input; compilers have groups of their own.
        kill_running()
        os._exit(SIGNALLED + number)

    before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
