"""One variant checked against the original, and timed: text in, a trial out."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotune.codegen.code import TUNED_SUFFIX
from annotune.measure.acc_grid import asked_text, chosen_grids
from annotune.measure.compile import CompileJob, CompileResult, Source, compile_job
from annotune.measure.evaluate import iterations, known_values
from annotune.measure.flags import KINDS
from annotune.measure.harness import REGION
from annotune.measure.oracle import Oracle
from annotune.measure.run import RUN_LIMIT_S, Order, Outcome, RunJob, TimingPlan, run_checked
from annotune.measure.trial import Status, Timing, Trial
from annotune.measure.variant import Variant as Variant
from annotune.measure.variant import compile_job_of

SANITIZE_ITERATIONS = 1_000_000
"""Sizes with more assignments than this are not run under a sanitizer, 2-20 times slower."""

RACE_ITERATIONS = 50_000
"""Sizes with more assignments than this are not searched for races, 50 times slower."""

DETECT_AT_MOST = 100_000_000
"""Assignments beyond which no detector runs at all: it would take a minute and more."""

OPENACC = "openacc"
NOT_LAUNCHED = "no kernel was launched: the original ran instead"

_ALL_ORDERS = (Order.FORWARD, Order.REVERSE, Order.SHUFFLED)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Where and how hard a variant is checked.

    `sizes` are checked in order; with `timing` the first of them is measured too. `sanitize`
    and `races` add runs under the sanitizers and the race detector at the sizes that are
    small enough. For each number in `failures` that call of the CUDA run-time library fails
    once, after which the entry must still leave the right result. `resident` gives CUDA
    variants device pointers, as ``--data resident`` says. `arch` is set to have CUDA compiled
    for that GPU as well, for nvcc's own words on registers and spills, `grids` to have OpenACC
    compiled for a GPU, for the grids that its compiler chooses. `device_name` is what
    the trial says it was measured on; `environ` is set in every child, such as
    CUDA_VISIBLE_DEVICES or OMP_PROC_BIND. A run that holds more than `memory_mib` is killed; 0 is
    no limit.
    """

    sizes: tuple[Mapping[str, int], ...]
    seed: int = 1
    threads: int = 1
    timing: TimingPlan | None = None
    sanitize: bool = False
    races: bool = False
    failures: tuple[int, ...] = ()
    resident: bool = False
    arch: str = ""
    grids: bool = False
    device_name: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    run_limit_s: float = RUN_LIMIT_S
    compile_limit_s: float = 60.0
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class _Run:
    """One run to make: how it is compiled, at which sizes, in which order of threads."""

    kind: str
    sizes: Mapping[str, int]
    order: Order = Order.FORWARD
    is_timed: bool = False
    fail_at: int = 0


class Checker:
    """Checks variants of one region against its oracle; equal programs are run once.

    Safe for many threads: compilations and checks may overlap. Timed plans should come one
    at a time, or they measure each other.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self._known: dict[str, Trial] = {}
        self._lock = threading.Lock()
        self._folders = itertools.count()

    def check(self, variant: Variant, plan: CheckPlan) -> Trial:
        """Return `variant`'s fate. Nothing that it or a compiler does raises."""
        key = self._key(variant, plan)
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return replace(known, config=dict(variant.config), reused=True)
        trial = _check(variant, plan, self.oracle, self._folder())
        with self._lock:
            self._known[key] = trial
        return trial

    def _folder(self) -> Path:
        with self._lock:
            return self.oracle.folder / f"check-{next(self._folders)}"

    def _key(self, variant: Variant, plan: CheckPlan) -> str:
        """Return the hash of everything that can change the answer, `config` not among it."""
        texts = [variant.code.body, variant.code.helper, variant.device_text]
        settings = [variant.target, variant.kind, variant.optimisation, variant.nvcc, repr(plan)]
        return hashlib.sha256(json.dumps([texts, settings]).encode()).hexdigest()


def check_variant(variant: Variant, plan: CheckPlan, oracle: Oracle) -> Trial:
    """Return `variant`'s fate without remembering it; `Checker` remembers."""
    return Checker(oracle).check(variant, plan)


def _check(variant: Variant, plan: CheckPlan, oracle: Oracle, folder: Path) -> Trial:
    """Run everything that `plan` asks for; the first failure ends it."""
    trial = Trial(variant.target, dict(variant.config), Status.CORRECT, device=plan.device_name)
    facts: dict[str, str | int | float] = {**_without_detectors(variant, plan, oracle)}
    try:
        if plan.arch and variant.device_text:
            cubin = _device_facts(variant, plan, oracle)
            facts.update(_kernel_facts(cubin))
            trial = replace(trial, kernels=cubin.kernels)
        if plan.grids and variant.kind == OPENACC:
            _grid_facts(variant, plan, oracle, facts)
        compared, launches = 0, 0
        timed: Outcome | None = None
        for number, run in enumerate(_runs(variant, plan, oracle)):
            outcome = _run(variant, run, plan, oracle, folder / str(number), facts)
            if outcome is None:
                continue
            compared += 1
            launches += outcome.launches or 0
            if variant.device_text and not outcome.launches and _is_tuned(run, oracle):
                raise _Failed(Status.CORRECTNESS, _words(run, NOT_LAUNCHED))
            timed = outcome if outcome.times_s else timed
        if not compared:
            raise _Failed(Status.RUNTIME, f"nothing could be compared: {facts.get('skipped', '')}")
        if variant.device_text and not launches:
            raise _Failed(Status.CORRECTNESS, NOT_LAUNCHED)
    except _Failed as failure:
        return replace(trial, status=failure.status, reason=failure.reason.strip(), facts=facts)
    if timed is None:
        return replace(trial, verified=True, facts=facts)
    facts["runs"] = len(timed.times_s)
    if timed.censored:
        facts["censored"] = "clearly worse than the best"
    # On a GPU the kernels are what is tuned; the copies around them are told apart.
    timing = Timing(timed.kernel_s or timed.times_s)
    if timed.kernel_s:
        facts["end_to_end_s"] = Timing(timed.times_s).median_s
    return replace(
        trial,
        verified=True,
        facts=facts,
        time_s=timing.median_s,
        spread_s=timing.spread_s,
        times_s=timing.times_s,
    )


def _is_tuned(run: _Run, oracle: Oracle) -> bool:
    """Return whether a run is at the sizes that the kernels are for, and nothing made to fail."""
    sizes = oracle.region.sizes
    return not run.fail_at and all(sizes.get(name) == n for name, n in run.sizes.items())


class _Failed(Exception):
    """A variant that did not pass, with the status and the words of its trial."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def _run(
    variant: Variant,
    run: _Run,
    plan: CheckPlan,
    oracle: Oracle,
    folder: Path,
    facts: dict[str, str | int | float],
) -> Outcome | None:
    """Return the outcome of one run that equals the original's.

    None where the original itself gives nothing to compare with; `facts` then says why.

    Raises:
        _Failed: The variant does not compile, or does not end well, or is wrong.
    """
    built = _built(variant, run.kind, plan, oracle)
    if run.kind == variant.kind:
        facts["digest"] = built.digest[:16]
    try:
        reference = oracle.reference(run.sizes, plan.seed)
        problem = reference.problem
    except ValueError as refusal:  # C has no such arrays at these sizes
        problem = str(refusal)
    if problem:
        facts["skipped"] = _words(run, problem)
        return None
    outcome = run_checked(
        RunJob(
            built.path,
            reference.inputs,
            folder,
            threads=plan.threads,
            limit_s=plan.run_limit_s,
            timing=plan.timing if run.is_timed else None,
            environ=plan.environ,
            preload=oracle.tools.asan if KINDS[run.kind].needs_asan else "",
            order=run.order,
            order_seed=plan.seed,
            fail_at=run.fail_at,
            resident=plan.resident and bool(variant.device_text),
            memory_mib=plan.memory_mib,
        )
    )
    if outcome.status is not Status.CORRECT:
        raise _Failed(outcome.status, _words(run, outcome.reason))
    wrong = oracle.mismatch(reference, outcome)
    if wrong:
        raise _Failed(Status.CORRECTNESS, _words(run, wrong))
    # Nothing reads the outputs again, and at the tuned sizes they are large.
    shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _built(variant: Variant, kind: str, plan: CheckPlan, oracle: Oracle) -> CompileResult:
    """Return `variant` compiled as `kind`, or raise `_Failed` with the compiler's words."""
    try:
        job = compile_job_of(variant, kind, oracle, plan.compile_limit_s, plan.arch)
    except ValueError as refusal:  # the text holds what the check on the CPU cannot execute
        raise _Failed(Status.COMPILE, str(refusal)) from refusal
    return _usable(compile_job(job, oracle.tools, oracle.folder / "compiled"))


def _usable(result: CompileResult) -> CompileResult:
    """Return `result`, or raise `_Failed` when it is not the program that was asked for."""
    if not result.ok:
        status = Status.TIMEOUT if result.timed_out else Status.COMPILE
        raise _Failed(status, result.output)
    if result.invalid:
        raise _Failed(Status.CONSTRAINTS, result.invalid)
    return result


def _runs(variant: Variant, plan: CheckPlan, oracle: Oracle) -> Iterator[_Run]:
    """Yield the runs of `plan`: small sizes under the detectors first, as they say most."""
    for kind, limit in _detectors(variant, plan, oracle):
        for sizes in _small_enough(plan.sizes, oracle, limit):
            yield _Run(kind, sizes, Order.REVERSE)
    orders = _ALL_ORDERS if KINDS[variant.kind].is_ordered else (Order.FORWARD,)
    for number, sizes in enumerate(plan.sizes):
        for order in orders:
            is_timed = number == 0 and order is Order.FORWARD
            yield _Run(variant.kind, sizes, order, is_timed)
    if variant.device_text:
        smallest = _small_enough(plan.sizes, oracle, 0)
        for call, sizes in itertools.product(plan.failures, smallest):
            yield _Run(variant.kind, sizes, fail_at=call)


def _detectors(variant: Variant, plan: CheckPlan, oracle: Oracle) -> Iterator[tuple[str, int]]:
    """Yield (kind, limit) of the detectors that `plan` wants and that are here.

    `limit` is the number of assignments up to which every size is run under the detector.
    """
    asan, race = f"{variant.kind}-asan", f"{variant.kind}-race"
    if plan.sanitize and oracle.tools.asan and asan in KINDS:
        yield asan, SANITIZE_ITERATIONS
    if plan.races and oracle.tools.cxx and race in KINDS:
        yield race, RACE_ITERATIONS


def _without_detectors(variant: Variant, plan: CheckPlan, oracle: Oracle) -> dict[str, str]:
    """Return why a detector that `plan` wants is not run, by its name in the trial's facts."""
    too_large = f"not run: more than {DETECT_AT_MOST:,} assignments at every size"
    found: dict[str, str] = {}
    for word, is_wanted, kind, tool, problem in (
        ("sanitizers", plan.sanitize, "asan", oracle.tools.asan, "no address sanitizer here"),
        ("race detector", plan.races, "race", oracle.tools.cxx, "no C++ compiler here"),
    ):
        if not is_wanted:
            continue
        if f"{variant.kind}-{kind}" not in KINDS:
            found[word] = f"not run: there is none for '{variant.kind}'"
        elif not tool:
            found[word] = f"not run: {problem}"
        elif not _small_enough(plan.sizes, oracle, DETECT_AT_MOST):
            found[word] = too_large
    return found


def _small_enough(
    candidates: tuple[Mapping[str, int], ...], oracle: Oracle, limit: int
) -> list[Mapping[str, int]]:
    """Return the sizes with at most `limit` assignments; the smallest where none has so few.

    C may fix the sizes, and a detector that takes seconds is better than none.
    """
    region = oracle.region
    counts = [iterations(region.nest, known_values(region, sizes)) for sizes in candidates]
    found = [sizes for sizes, count in zip(candidates, counts, strict=True) if count <= limit]
    if found or not counts or min(counts) > DETECT_AT_MOST:
        return found
    return [candidates[counts.index(min(counts))]]


def _device_facts(variant: Variant, plan: CheckPlan, oracle: Oracle) -> CompileResult:
    """Return what nvcc says about `variant`'s kernels when it compiles them for `plan.arch`.

    Raises:
        _Failed: nvcc refuses them, crashes, or takes too long.
    """
    job = CompileJob(
        (Source(variant.device_text, "cuda"),),
        "cuda-cubin",
        arch=plan.arch,
        limit_s=plan.compile_limit_s,
        nvcc=variant.nvcc,
    )
    return _usable(compile_job(job, oracle.tools, oracle.folder / "compiled"))


def _kernel_facts(cubin: CompileResult) -> dict[str, str | int | float]:
    """Return the largest figures over the kernels of one file that run at the tuned sizes.

    Those for all other sizes, where there are such, keep more in registers for addresses.
    """
    kernels = [k for k in cubin.kernels if TUNED_SUFFIX in k.name] or cubin.kernels
    return {
        "registers": max((k.registers for k in kernels), default=0),
        "spill_bytes": max((k.spill_store_bytes + k.spill_load_bytes for k in kernels), default=0),
        "stack_bytes": max((k.stack_bytes for k in kernels), default=0),
        "shared_bytes": max((k.shared_bytes for k in kernels), default=0),
        "kernels": len(cubin.kernels),
    }


def _grid_facts(
    variant: Variant, plan: CheckPlan, oracle: Oracle, facts: dict[str, str | int | float]
) -> None:
    """Put the grids that OpenACC asks for into `facts`, and those that a compiler chooses.

    Raises:
        _Failed: The compiler says that it takes other sizes.
    """
    facts["grid_asked"] = asked_text(variant.code.body)
    job = compile_job_of(variant, variant.kind, oracle, plan.compile_limit_s)
    chosen = chosen_grids(job, REGION, oracle.tools, oracle.folder / "compiled")
    facts["grid_chosen"] = str(chosen)
    if chosen.invalid:
        raise _Failed(Status.CONSTRAINTS, chosen.invalid)


def _words(run: _Run, reason: str) -> str:
    """Return `reason` after the sizes and the order of threads at which it was seen."""
    sizes = ", ".join(f"{name}={value}" for name, value in run.sizes.items())
    place = f"at {sizes}: " if sizes else ""
    order = "" if run.order is Order.FORWARD else f"threads in {run.order.name.lower()} order: "
    planned = f"after call {run.fail_at} of the CUDA library failed: " if run.fail_at else ""
    return place + order + planned + reason
