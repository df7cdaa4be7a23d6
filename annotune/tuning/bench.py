"""What checks and measures the variants of a region, on the record of a store."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import cached_property
from math import inf
from pathlib import Path
from statistics import median
from typing import Protocol

from annotune import __version__
from annotune.codegen.build import optimised
from annotune.codegen.target import RegionCode, Target
from annotune.diagnostics import AnnotuneError, Span
from annotune.frozen import dataclass
from annotune.measure.check import WAITED, Checker
from annotune.measure.command import run_command
from annotune.measure.compile import COMPILE_LIMIT_S
from annotune.measure.machine import VISIBLE_GPUS
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckLimits, CheckPlan
from annotune.measure.program import Program, digest_of_variant
from annotune.measure.run import RUN_LIMIT_S, TOO_MUCH_MEMORY, TimingPlan
from annotune.measure.timing import BUSY, IDLE_LOAD
from annotune.measure.trial import EARLIER_RUN, Status, Trial
from annotune.space.variants import Variant
from annotune.tuning.config import NEVER, RunConfig, Stop
from annotune.tuning.jobs import CheckHere, Contestant, Rounds
from annotune.tuning.store import STORE_FAILED, Store, in_memory
from annotune.tuning.timetable import SearchTimes

# A variant is timed for this long at most, so that many are tried in a minute.
TRIAL_BUDGET_S = 0.3
# A run has room for the arrays as often as the child, a GPU played here and a sanitizer copy them,
# and for an interpreter and a compiler's runtime.
COPIES = 6
LEAST_MIB = 512


# A variant whose device this processor plays by one thread may run so many times as long as the
# original: kernels with copies of their own have taken twice as long.
SLOWER_PLAYED = 5.0


class Listener(Protocol):
    """Someone to be told how a run goes on; the command line's progress display."""

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
        """A new stage begins, with so many trials; `least_s` is the roofline's time, if known."""

    def trial(self, trial: Trial) -> None:
        """A trial has ended."""

    def waits(self, words: str) -> None:
        """The stage waits, as `words` say; it goes on where they are empty."""


class Elsewhere(Protocol):
    """Worker processes that do the work, `slots` at once; `is_here` on this machine."""

    is_here: bool

    @property
    def slots(self) -> int: ...

    def check(self, oracle: Oracle, program: Program, plan: CheckPlan, timeout_s: float) -> Trial:
        """Return the fate of a program of an oracle's region, and where it was timed."""

    def take_rounds(
        self,
        oracle: Oracle,
        contestants: Sequence[Contestant],
        plan: CheckPlan,
        budget_s: float,
        fewest: int,
    ) -> Rounds:
        """Return the turns of the contestants, taken on one GPU in at least `fewest` rounds."""


@dataclass(frozen=True)
class Request:
    """How and in what surroundings a run is to go: asked for once, by whoever begins it.

    `environ` is the environment in which compilers are looked for. `listener` is told of stages and
    trials, and `stop` ends the run early. Every trial is kept in `folder` for later runs, with None
    in none; one that `is_fresh` begins anew.
    """

    config: RunConfig = field(default_factory=RunConfig)
    environ: Mapping[str, str] = field(default_factory=dict)
    listener: Listener | None = None
    folder: Path | None = None
    is_fresh: bool = False
    stop: Stop = NEVER


@dataclass(frozen=True)
class Session:
    """What all regions of a run have in common.

    `cores` is the number of threads of the CPU targets, `memory_mib` the memory that all runs at
    once may hold, 0 for any. `store` knows the trials of earlier runs, `stop` whether the user has
    had enough. `crew` does what needs not be done by this process; without one this process does
    all. The run began at `start`, of `time.monotonic`.
    """

    config: RunConfig
    cores: int
    memory_mib: int = 0
    listener: Listener | None = None
    store: Store = field(default_factory=in_memory)
    stop: Stop = NEVER
    crew: Elsewhere | None = None
    start: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Smaller:
    """Sizes in the proportions of those to measure at, where a call is `factor` times as short.

    They are `for_all` targets, and not for this processor's alone, where the original is too long
    and nothing less than all of it can be compared with.
    """

    sizes: Mapping[str, int]
    factor: float
    for_all: bool = False

    def scaled(self, trial: Trial) -> Trial:
        """Return a trial at these sizes with the times that it is estimated to take."""
        if trial.time_s is None:
            return trial
        place = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        return replace(
            trial,
            time_s=self.factor * trial.time_s,
            spread_s=self.factor * (trial.spread_s or 0.0),
            times_s=tuple(self.factor * time_s for time_s in trial.times_s),
            is_predicted=True,
            reason=f"estimated from runs at {place}",
        )


@dataclass(frozen=True)
class Bench:
    """What checks and measures one region, and how hard.

    `sizes` are the sets to check at; the first is the one to measure at. At `others`, further
    problem sizes of the annotation, only what wins is checked, and nothing is measured.
    `device_name` names what the clock measures, `environ` is set in every child. `until` is the
    time (of `time.monotonic`) after which no new variant is begun, and `assured` that until which
    they are whatever proofs will take; at `last` what may be left out is ended. One compilation or
    run is given up after `limit_s`. One run of the original takes `original_s`, 0 where that is not
    known; a variant may take some times as long. Where it `is_long`, a sample of it is what others
    are compared with at the first sizes. Where checks are `brief`, what needs no clock is checked
    at the awkward sizes alone. What this processor runs is timed at `smaller` sizes where a variant
    would take long as well, None where it would not.
    """

    session: Session
    checker: Checker
    sizes: tuple[Mapping[str, int], ...]
    awkward: tuple[Mapping[str, int], ...]
    until: float
    device_name: str
    arch: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    limit_s: float = COMPILE_LIMIT_S
    others: tuple[Mapping[str, int], ...] = ()
    original_s: float = 0.0
    is_long: bool = False
    brief: bool = False
    smaller: Smaller | None = None
    assured: float = inf
    last: float = inf

    def plan(
        self, is_timed: bool, best_s: float = 0.0, budget_s: float = TRIAL_BUDGET_S
    ) -> CheckPlan:
        """Return how a CPU variant is checked, and timed with all cores when asked."""
        config, timing = self.session.config, None
        if is_timed:
            timing = TimingPlan(budget_s=budget_s, best_s=best_s, is_cold=config.is_cold)
        sizes = (*self.sizes, *self.awkward) if is_timed else (*self.awkward, *self._unclocked)
        return CheckPlan(
            sizes,
            threads=self.session.cores,
            timing=timing,
            device_name=self.device_name if is_timed else "",
            environ=self.environ,
            limits=CheckLimits(
                self._run_s,
                self.limit_s,
                self._share_mib(1 if is_timed else config.jobs),
            ),
        )

    @property
    def _unclocked(self) -> tuple[Mapping[str, int], ...]:
        """Return the sizes of the bench at which what is not timed is checked."""
        return () if self.brief and self.awkward else self.sizes

    @property
    def _run_s(self) -> float:
        """Return the seconds of one run: many for a long original, but not past the end of all."""
        usual_s = min(RUN_LIMIT_S, self.limit_s)
        long_s = SLOWER_PLAYED * self.original_s
        return max(usual_s, min(long_s, self.left_s) if self.is_long else long_s)

    def expected_s(self, plan: CheckPlan) -> float:
        """Return the seconds that a long original takes by a plan, 0 for a short one."""
        return sum(map(self.checker.oracle.expected_s, plan.sizes))

    def _share_mib(self, runs: int) -> int:
        """Return the memory that each of so many runs may hold, never too little for the arrays."""
        memory_mib = self.session.memory_mib
        if not memory_mib:
            return 0
        work = self.checker.oracle.analysis.total
        arrays_mib = (work.bytes_read + work.bytes_written) >> 20
        return max(memory_mib // runs, LEAST_MIB + COPIES * arrays_mib)

    @property
    def is_over(self) -> bool:
        """Return whether the time for this run is used up, or the user wants it to end."""
        return self.session.stop.is_set or time.monotonic() >= self.until

    @property
    def left_s(self) -> float:
        """Return the seconds that are left, 0 where none are."""
        return max(0.0, self.until - time.monotonic())

    def searching(self, times: SearchTimes) -> Bench:
        """Return the bench of a target whose search and finals end at such times."""
        return replace(self, until=times.until, assured=times.assured)

    def before(self, seconds: float) -> Bench:
        """Return the bench of what leaves so many seconds to what comes after it."""
        return replace(self, until=self.until - seconds, assured=self.assured - seconds)

    def tell(self, trial: Trial) -> Trial:
        """Pass a finished trial to the listener, and return it."""
        if self.session.listener is not None:
            self.session.listener.trial(trial)
        return trial

    def begin(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Tell the listener that a stage begins."""
        if self.session.listener is not None:
            self.session.listener.stage(text, total, least_s)


def program_of(target: Target, kind: str, variant: Variant, code: RegionCode) -> Program:
    """Return the program that a variant of a target is, to be built as `kind`."""
    device = target.device_file(code) if code.device else ""
    host, nvcc = variant.flags.host, variant.flags.nvcc
    # What plays a GPU on this CPU only has to be fast; the rest of the flags is nvcc's.
    fast = tuple(flag for flag in host if flag.startswith("-O"))
    flags = fast if code.device else optimised(host)
    config, both = dict(variant.config), variant.tuned.both
    launches = (variant.is_for_tuned_alone, both is not None and both.part in (None, 1.0))
    return Program(target.name, kind, code, device, flags, nvcc, config, *launches)


# A disk with less room than this is full.
LEAST_ROOM_BYTES = 1 << 20
# The limit that a trial ran into, in its facts.
MEMORY_LIMIT = "memory_limit_mib"


@dataclass(frozen=True, slots=True)
class TrialJob:
    """One program to be checked, and timed where `plan` says so.

    `key` is its hash in the store, `compile_s` the seconds that compiling it ahead has taken.
    """

    key: str
    program: Program
    plan: CheckPlan
    compile_s: float | None = None


class Recorder:
    """Has variants checked on the record of a store, which no other process writes.

    A `crew` does the work; without one this process.
    """

    def __init__(self, bench: Bench, crew: Elsewhere | None = None) -> None:
        self.checker, self.store = bench.checker, bench.session.store
        self.limit_s = bench.limit_s
        self._crew = crew

    def key(self, program: Program, plan: CheckPlan) -> str:
        """Return the hash of the region, the text, the compilers, and how it is checked.

        What depends on the trials before it, such as the best time so far, does not count.
        """
        oracle = self.checker.oracle
        timing = replace(plan.timing, best_s=0.0) if plan.timing else None
        # Nor does which of several GPUs of the same model it was.
        environ = {k: v for k, v in plan.environ.items() if k != VISIBLE_GPUS}
        plan = replace(plan, timing=timing, limits=CheckLimits(0.0, 0.0, 0))
        plan = replace(plan, environ=environ)
        region = [oracle.region.index, dict(oracle.region.sizes), self._included]
        if any(oracle.sample(sizes) for sizes in plan.sizes):
            region.append("a sample")
        if oracle.region.recorded:
            region.append([[one.digest, one.reals] for one in oracle.region.recorded])
        return _hash([__version__, self.text_key(program, plan.arch), region, repr(plan)])

    @cached_property
    def _included(self) -> str:
        """Return the hash of the original with all that it includes: a header may have changed."""
        oracle = self.checker.oracle
        compiler = oracle.tools.c
        assert compiler is not None, "the original has been compiled"
        path = oracle.folder / "included.c"
        path.write_bytes(oracle.source.text.encode("utf-8", "surrogateescape"))
        command = [*compiler.command, *compiler.flags, *oracle.flags, "-E", "-P", str(path)]
        return _hash([run_command(command, COMPILE_LIMIT_S).output])

    def text_key(self, program: Program, arch: str) -> str:
        """Return the hash of a program's text and commands: equal ones need one measurement.

        What stands for a GPU's build on this processor leaves out nvcc, which judges it too.
        """
        oracle = self.checker.oracle
        nvcc = oracle.tools.nvcc
        device = [program.device_text, program.nvcc, arch, nvcc.version if nvcc else ""]
        code = [program.code.body, program.code.helper, program.optimisation]
        return _hash([program.kind, digest_of_variant(program, oracle), code, device])

    def known(self, job: TrialJob) -> Trial | None:
        """Return how an earlier run's trial of the same program ended.

        One that ran into a limit is known only if that was no lower than it is now.
        """
        found = self.store.known(job.key, self.limit_s)
        if found is None:
            return None
        had_mib = found.facts.get(MEMORY_LIMIT)
        has_mib = job.plan.limits.memory_mib
        if isinstance(had_mib, int) and (not has_mib or had_mib < has_mib):
            return None
        config = job.program.config
        facts = {**found.facts, "reused": EARLIER_RUN}
        return replace(found, config=dict(config), reused=True, facts=facts)

    def prepare(self, plan: CheckPlan) -> None:
        """Have what a check by this plan begins with: what the original leaves at its sizes.

        Whatever fails here fails again in the check, which tells it.
        """
        if self._crew is not None:
            return
        oracle = self.checker.oracle
        for sizes in plan.sizes:
            with suppress(ValueError):
                oracle.reference(sizes, plan.seed)
        if plan.timing is not None:
            oracle.evictor()

    def check(self, job: TrialJob, timeout_s: float = COMPILE_LIMIT_S) -> Trial:
        """Return a variant's fate, its launch and its end written down.

        What is timed on another device than the plan's is of no use to the next run.

        Raises:
            AnnotuneError: The disk is full, or a worker does not fit the run.
        """
        program, plan = job.program, job.plan
        self.store.intend(job.key, program.config, program.target)
        with disk_full_is_refused(self.checker.oracle.folder):
            trial = self._checked(job, timeout_s)
            # A compiler's words, and nothing that the next run should know.
            if os.strerror(errno.ENOSPC) in trial.reason:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if TOO_MUCH_MEMORY in trial.reason:
            trial = replace(trial, facts={**trial.facts, MEMORY_LIMIT: job.plan.limits.memory_mib})
        if job.compile_s is not None:
            trial = replace(trial, compile_s=job.compile_s)
        if trial.device and trial.device != plan.device_name:
            self.store.forget(job.key)
        else:
            self.store.finish(job.key, trial, self.limit_s)
        return trial

    def _checked(self, job: TrialJob, timeout_s: float) -> Trial:
        program, plan = job.program, job.plan
        if self._crew is None:
            return CheckHere(self.checker, program, plan).run(timeout_s)
        try:
            return self._crew.check(self.checker.oracle, program, plan, timeout_s)
        except AnnotuneError:
            # The fault is the worker's.
            self.store.forget(job.key)
            raise

    def again(self, program: Program, plan: CheckPlan, timeout_s: float = COMPILE_LIMIT_S) -> Trial:
        """Return the fate of a variant, from an earlier run where that is known.

        That a run took more than `timeout_s` says nothing to a run that has more time.
        """
        known = self.known(TrialJob(self.key(program, plan), program, plan))
        return self.anew(program, plan, timeout_s) if known is None else known

    def anew(self, program: Program, plan: CheckPlan, timeout_s: float = COMPILE_LIMIT_S) -> Trial:
        """Return the fate of a variant as it is in this run, whatever an earlier one has found."""
        job = TrialJob(self.key(program, plan), program, plan)
        found = self.check(job, timeout_s)
        is_short = timeout_s < plan.limits.run_s or plan.limits.check_s < inf
        if found.status is Status.TIMEOUT and is_short:
            self.store.forget(job.key)
        return found


@contextmanager
def disk_full_is_refused(folder: Path) -> Iterator[None]:
    """Make of a full disk under the compilers and checks what the user is told of it.

    Raises:
        AnnotuneError: There was no room.
    """
    try:
        yield
    except OSError as error:
        # numpy says no number when it could write only a part.
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        if not is_full and (error.errno or shutil.disk_usage(folder).free > LEAST_ROOM_BYTES):
            raise
        where = Span(str(folder), 1, 1)
        reason = error.strerror or os.strerror(errno.ENOSPC)
        raise AnnotuneError.of(STORE_FAILED.at(where, path=folder, reason=reason)) from error


def _hash(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


BUSY_WORDS = "this machine had other work while it was measured"


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
    return (f"{BUSY_WORDS}: {words} on {cores} cores",)
