"""Tries the variants of one region: checks them all, measures or predicts, keeps the best."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from annotune.codegen.code import RegionCode
from annotune.codegen.target import Target, Variant
from annotune.decide.forecast import Forecast
from annotune.measure.check import Checker, CheckPlan
from annotune.measure.check import Variant as Program
from annotune.measure.compile import COMPILE_LIMIT_S, compile_job
from annotune.measure.pairs import time_in_turns
from annotune.measure.run import RUN_LIMIT_S, RunJob, TimingPlan
from annotune.measure.trial import Status, Trial
from annotune.measure.variant import compile_job_of
from annotune.tune.forecasting import forecast_of, predicted_trial
from annotune.tune.local_memory import not_in_registers

# A variant is timed for this long at most, so that many are tried in a minute.
TRIAL_BUDGET_S = 0.3
# What is checked on this machine in the place of a build for the GPU.
_CHECKED_AS = {"cuda-gpu": "cuda-cpu"}
# The best few are measured again, in turns, before one of them is named.
FINALISTS = 3
FINAL_BUDGET_S = 0.6


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
    of the CPU targets, `jobs` how many checks run at once, `until` the time (of
    `time.monotonic`) after which no new variant is begun, `limit_s` the time after which one
    compilation is given up. At `others`, further problem sizes of the annotation, only what wins is
    checked, and nothing is measured.
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

    def plan(
        self, is_timed: bool, best_s: float = 0.0, budget_s: float = TRIAL_BUDGET_S
    ) -> CheckPlan:
        """Return how a CPU variant is checked, and timed with all cores when asked."""
        timing = TimingPlan(budget_s=budget_s, best_s=best_s) if is_timed else None
        sizes = (*self.sizes, *self.awkward) if is_timed else (*self.awkward, *self.sizes)
        return CheckPlan(
            sizes,
            threads=self.cores,
            timing=timing,
            device_name=self.device_name if is_timed else "",
            environ=self.environ,
            compile_limit_s=self.limit_s,
            run_limit_s=min(RUN_LIMIT_S, self.limit_s),
        )

    @property
    def is_over(self) -> bool:
        """Return whether the time for this run is used up."""
        return time.monotonic() >= self.until

    def tell(self, trial: Trial) -> Trial:
        """Pass a finished trial to the listener, and return it."""
        if self.listener is not None:
            self.listener.trial(trial)
        return trial

    def begin(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Tell the listener that a stage begins."""
        if self.listener is not None:
            self.listener.stage(text, total, least_s)


@dataclass(frozen=True)
class Outcome:
    """The trials of one target, the best of them, and the code behind it.

    `sizes` are the others of the bench at which that was compared with the original, `forecast`
    what the model says of it, None where no model speaks for the target.
    """

    trials: tuple[Trial, ...] = ()
    best: Trial | None = None
    variant: Variant | None = None
    code: RegionCode | None = None
    note: str = ""
    sizes: tuple[Mapping[str, int], ...] = ()
    forecast: Forecast | None = None


@dataclass(frozen=True)
class Tried:
    """One candidate with its code and its fate."""

    variant: Variant
    code: RegionCode
    trial: Trial


def measured(bench: Bench, target: Target, kind: str, variants: Iterable[Variant]) -> Outcome:
    """Return the fastest right variant by the clock, one variant at a time.

    The first wins ties; finalists are measured again in turns, so that a passing disturbance
    does not choose.
    """
    tried: list[Tried] = []
    best_s = 0.0
    for variant in variants:
        # One right variant is owed, however long the failures before it took.
        if bench.is_over and best_s:
            break
        code = target.region(variant, resident=False)
        program = _program(target, kind, variant, code)
        # What is built for the GPU is built for this one, and asked for its registers.
        plan = replace(bench.plan(True, best_s), arch=bench.arch if code.device else "")
        trial = predicted_trial(variant, bench.checker.check(program, plan))
        tried.append(Tried(variant, code, bench.tell(trial)))
        if trial.status is Status.CORRECT and trial.time_s and not trial.reused:
            best_s = min(best_s or trial.time_s, trial.time_s)
    right = sorted(
        (
            t
            for t in tried
            if t.trial.status is Status.CORRECT and t.trial.time_s and not t.trial.reused
        ),
        key=lambda t: t.trial.time_s or float("inf"),
    )
    finals = _finals(bench, target, kind, right[:FINALISTS])
    timed = {id(t.variant): t for t in finals}
    ranked = sorted(
        (timed.get(id(t.variant), t) for t in right), key=lambda t: t.trial.time_s or float("inf")
    )
    return _outcome(bench, target, kind, tried, ranked)


def _outcome(
    bench: Bench, target: Target, kind: str, tried: Sequence[Tried], ranked: Sequence[Tried]
) -> Outcome:
    """Return the first of `ranked` that also passes the sanitizers and the race detector.

    Right values in the order in which threads happened to run say nothing of another order.
    Neither do those at one problem size of another, so the winner is run at all of them.
    """
    fates = {id(t.variant): t.trial for t in tried}
    kind = _CHECKED_AS.get(kind, kind)
    for one in ranked:
        plan = replace(bench.plan(False), sanitize=True, races=True)
        # The tuned sizes have been checked, and a detector is slow there.
        plan = replace(plan, sizes=bench.awkward or bench.sizes, device_name="", environ={})
        program = _program(target, kind, one.variant, one.code)
        found = bench.checker.check(program, plan)
        right: list[Mapping[str, int]] = []
        for sizes in bench.others if found.status is Status.CORRECT else ():
            plan = replace(plan, sizes=(sizes,), sanitize=False, races=False)
            there = bench.checker.check(program, plan)
            # Where the original itself gives nothing to compare with, nothing is wrong either.
            if there.verified:
                right.append(sizes)
            elif "skipped" not in there.facts:
                found = there
                break
        if found.status is Status.CORRECT:
            trials = tuple(fates.values())
            forecast = forecast_of(one.variant, one.trial.kernels)
            return Outcome(
                trials, one.trial, one.variant, one.code, sizes=tuple(right), forecast=forecast
            )
        fates[id(one.variant)] = replace(
            fates[id(one.variant)],
            status=found.status,
            reason=found.reason,
            verified=False,
            time_s=None,
            spread_s=None,
        )
    trials = tuple(fates.values())
    return Outcome(trials, note=_why_none(trials))


def _finals(bench: Bench, target: Target, kind: str, right: Sequence[Tried]) -> list[Tried]:
    """Measure the best few again in turns, and return them with the new times.

    Where a second measurement fails, the first one's time stays.
    """
    if len(right) < 2 or bench.is_over:
        return list(right)
    turns = time_in_turns([_final_job(bench, target, kind, one) for one in right])
    out: list[Tried] = []
    for one, turn in zip(right, turns, strict=True):
        if turn.timing is None:
            out.append(one)
            continue
        trial = replace(one.trial, time_s=turn.timing.median_s, spread_s=turn.timing.spread_s)
        out.append(replace(one, trial=trial))
    return out


def _final_job(bench: Bench, target: Target, kind: str, one: Tried) -> RunJob:
    """Return the run of a variant that has already been compiled and found right."""
    oracle = bench.checker.oracle
    program = _program(target, kind, one.variant, one.code)
    job = compile_job_of(program, kind, oracle, arch=bench.arch)
    built = compile_job(job, oracle.tools, oracle.folder / "compiled")
    reference = oracle.reference(bench.sizes[0], CheckPlan(bench.sizes).seed)
    folder = oracle.folder / f"final-{built.digest[:16]}"
    return RunJob(built.path, reference.inputs, folder, threads=bench.cores, environ=bench.environ)


def predicted(
    bench: Bench, target: Target, kind: str, variants: Sequence[Variant], device: str
) -> Outcome:
    """Return the variant with the least predicted time among those that pass their checks.

    Variants come best first; all are compiled and executed on the CPU, several at once. The
    first choice of the decision algorithm and the winner are additionally run under the
    sanitizers and the race detector.
    """

    found = threading.Event()

    def check(numbered: tuple[int, Variant]) -> Tried | None:
        number, variant = numbered
        if bench.is_over and found.is_set():
            return None
        code = target.region(variant, resident=False)
        plan = replace(
            bench.plan(False),
            arch=bench.arch if code.device else "",
            grids=True,
            sanitize=number == 0,
            races=number == 0,
        )
        trial = bench.checker.check(_program(target, kind, variant, code), plan)
        if trial.status is Status.CORRECT and (lost := not_in_registers(variant, trial)):
            reason = f"{lost}, compiled for {bench.arch}"
            trial = replace(trial, status=Status.CONSTRAINTS, reason=reason)
        if trial.status is Status.CORRECT:
            found.set()
            trial = predicted_trial(variant, trial)
            trial = replace(trial, time_s=trial.predicted_s, is_predicted=True, device=device)
        return Tried(variant, code, bench.tell(trial))

    with ThreadPoolExecutor(max_workers=bench.jobs) as pool:
        results = list(pool.map(check, enumerate(variants)))
    tried = [t for t in results if t is not None]
    right = [t for t in tried if t.trial.status is Status.CORRECT]
    ranked = sorted(right, key=lambda t: t.trial.time_s or float("inf"))
    return _outcome(bench, target, kind, tried, ranked)


def baseline(
    bench: Bench, name: str, kind: str, codes: Mapping[str, RegionCode], threads: int
) -> Outcome:
    """Return the fastest of a few ways to write the original, measured with `threads`."""
    trials: list[Trial] = []
    for label, code in codes.items():
        program = Program(name, kind, code, config={"as written": label}, optimisation=("-O3",))
        plan = replace(bench.plan(True, budget_s=FINAL_BUDGET_S), threads=threads, grids=True)
        trials.append(bench.tell(bench.checker.check(program, plan)))
    right = [t for t in trials if t.status is Status.CORRECT and t.time_s]
    if not right:
        return Outcome(tuple(trials), note=_why_none(tuple(trials)))
    return Outcome(tuple(trials), min(right, key=lambda t: t.time_s or float("inf")))


def _program(target: Target, kind: str, variant: Variant, code: RegionCode) -> Program:
    device = target.standalone(code) if code.device else ""
    host, nvcc = variant.flags.host, variant.flags.nvcc
    # What plays a GPU on this CPU only has to be fast; the rest of the flags is nvcc's.
    fast = tuple(flag for flag in host if flag.startswith("-O"))
    flags = fast if code.device else ("-O3", *host)
    return Program(target.name, kind, code, device, flags, nvcc, dict(variant.config))


def _why_none(trials: Sequence[Trial]) -> str:
    """Return why no variant may be used: the first failure's words."""
    failed = next((t for t in trials if t.status is not Status.CORRECT), None)
    if failed is None and trials:
        return f"nothing to time: {trials[0].facts.get('skipped', 'no run was timed')}"
    if failed is None:
        return "there was no time to try a variant"
    first = (failed.reason or "no reason was given").splitlines()[0]
    return f"no variant passed its check; the first: {failed.status}: {first}"


@dataclass
class Tally:
    """Counts trials by status, for progress displays."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, trial: Trial) -> None:
        """Count one trial."""
        self.counts[str(trial.status)] = self.counts.get(str(trial.status), 0) + 1
