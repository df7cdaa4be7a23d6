"""Whether a machine had other work while it was measured, in words for the user.

What checks and measures the variants of a region, and the programs that they are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Protocol

from annotune.codegen.target import RegionCode, Target
from annotune.measure.check import WAITED, Checker
from annotune.measure.compile import COMPILE_LIMIT_S
from annotune.measure.plan import CheckLimits, CheckPlan
from annotune.measure.program import Program
from annotune.measure.run import RUN_LIMIT_S, TimingPlan
from annotune.measure.timing import BUSY, IDLE_LOAD
from annotune.measure.trial import Trial
from annotune.space.variants import Variant
from annotune.tune.crew import Crew
from annotune.tune.ending import NEVER, Stop
from annotune.tune.store import Store, in_memory


def busy_words(
    trials: Iterable[Trial], finals: float | None, load_before: float | None, cores: int
) -> tuple[str, ...]:
    """Return a warning where this machine had other work while `trials` were timed.

    Where the system tells how long tasks waited for a processor, that decides, and the load of
    the minute before in its place where it does not. `finals` is the share of the finals.
    """
    shares = [
        float(share)
        for trial in trials
        if not trial.reused and (share := trial.facts.get(WAITED)) is not None
    ]
    busiest = median(shares) if shares else None
    if finals is not None:
        busiest = max(finals, busiest or 0.0)
    if busiest is not None and busiest <= BUSY:
        return ()
    if busiest is None and (load_before is None or load_before <= IDLE_LOAD * cores):
        return ()
    load = "" if load_before is None else f"a load of {load_before:.1f} before the search"
    waited = ""
    if busiest is not None:
        waited = f"tasks waited for a processor in {busiest:.0%} of the timed runs"
    words = " and ".join(filter(None, (waited, load)))
    return (f"this machine had other work while it was measured: {words} on {cores} cores",)


# A variant is timed for this long at most, so that many are tried in a minute.
TRIAL_BUDGET_S = 0.3
# A run has room for the arrays as often as the child, a GPU played here and a sanitizer copy them,
# and for an interpreter and a compiler's runtime.
COPIES = 6
LEAST_MIB = 512


class Listener(Protocol):
    """Someone to be told how a run goes on; the command line's progress display."""

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
        """A new stage begins, with so many trials; `least_s` is the roofline's time, if known."""

    def trial(self, trial: Trial) -> None:
        """A trial has ended."""


@dataclass(frozen=True)
class Bench:
    """What checks and measures, and how hard.

    `sizes` are the sets to check at; the first is the one to measure at. `device_name` names
    what the clock measures, `environ` is set in every child. `cores` is the number of threads
    of the CPU targets, `jobs` how many checks run at once, `compilers` how many compilations.
    `until` is the time (of `time.monotonic`) after which no new variant is begun, `start` that at
    which the run began, `limit_s` the time after which one compilation or run is given up, and
    `memory_mib` the memory that all runs at once may hold, 0 for any; the region's own arrays take
    `arrays_mib` of it. At `others`, further problem sizes of the annotation, only what wins is
    checked, and nothing is measured. `store` knows the trials of earlier runs, `stop` whether the
    user has had enough. `crew` does what needs not be done by this process; without one this
    process does all.
    """

    checker: Checker
    sizes: tuple[Mapping[str, int], ...]
    awkward: tuple[Mapping[str, int], ...]
    cores: int
    jobs: int
    until: float
    device_name: str
    arch: str = ""
    listener: Listener | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    limit_s: float = COMPILE_LIMIT_S
    others: tuple[Mapping[str, int], ...] = ()
    compilers: int = 1
    start: float = field(default_factory=time.monotonic)
    memory_mib: int = 0
    arrays_mib: int = 0
    store: Store = field(default_factory=in_memory)
    stop: Stop = NEVER
    is_cold: bool = True
    crew: Crew | None = None

    def plan(
        self, is_timed: bool, best_s: float = 0.0, budget_s: float = TRIAL_BUDGET_S
    ) -> CheckPlan:
        """Return how a CPU variant is checked, and timed with all cores when asked."""
        timing = None
        if is_timed:
            timing = TimingPlan(budget_s=budget_s, best_s=best_s, is_cold=self.is_cold)
        sizes = (*self.sizes, *self.awkward) if is_timed else (*self.awkward, *self.sizes)
        return CheckPlan(
            sizes,
            threads=self.cores,
            timing=timing,
            device_name=self.device_name if is_timed else "",
            environ=self.environ,
            limits=CheckLimits(
                min(RUN_LIMIT_S, self.limit_s),
                self.limit_s,
                self._share_mib(1 if is_timed else self.jobs),
            ),
        )

    def _share_mib(self, runs: int) -> int:
        """Return the memory that each of so many runs may hold, never too little for the arrays."""
        least_mib = LEAST_MIB + COPIES * self.arrays_mib
        return max(self.memory_mib // runs, least_mib) if self.memory_mib else 0

    @property
    def is_over(self) -> bool:
        """Return whether the time for this run is used up, or the user wants it to end."""
        return self.stop.is_set or time.monotonic() >= self.until

    def share(self, parts: int) -> Bench:
        """Return the bench with one of so many equal parts of the time that is left."""
        now = time.monotonic()
        return replace(self, until=now + max(0.0, self.until - now) / parts)

    def tell(self, trial: Trial) -> Trial:
        """Pass a finished trial to the listener, and return it."""
        if self.listener is not None:
            self.listener.trial(trial)
        return trial

    def begin(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Tell the listener that a stage begins."""
        if self.listener is not None:
            self.listener.stage(text, total, least_s)


def program_of(target: Target, kind: str, variant: Variant, code: RegionCode) -> Program:
    """Return the program that a variant of a target is, to be built as `kind`."""
    device = target.standalone(code) if code.device else ""
    host, nvcc = variant.flags.host, variant.flags.nvcc
    # What plays a GPU on this CPU only has to be fast; the rest of the flags is nvcc's.
    fast = tuple(flag for flag in host if flag.startswith("-O"))
    flags = fast if code.device else ("-O3", *host)
    return Program(target.name, kind, code, device, flags, nvcc, dict(variant.config))
