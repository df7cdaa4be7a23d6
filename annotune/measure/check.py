"""One variant checked against the original, and timed: text in, a trial out."""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotune.codegen.cuda.host import NOTHING_RUNS, TOO_LATE
from annotune.codegen.target import TUNED_SUFFIX
from annotune.measure.compile import (
    KINDS,
    OPENACC,
    REORDERING,
    CompileJob,
    CompileResult,
    SourceText,
    compile_job,
)
from annotune.measure.harness import REGION
from annotune.measure.messages import (
    GangGrid,
    asked_text,
    grids_of_feedback,
    grids_text,
    parse_func_map,
    parse_nvc_feedback,
)
from annotune.measure.oracle import Oracle, OracleResult
from annotune.measure.plan import CheckPlan as CheckPlan
from annotune.measure.plan import Run, runs_of, without_detectors, words_of
from annotune.measure.program import Program as Program
from annotune.measure.program import compile_job_of, taking_way_out, texts_of, told
from annotune.measure.run import RunJob, RunResult, may_share_a_child, run_in_one_child
from annotune.measure.toolchain import Toolchains
from annotune.measure.trial import NOTHING_COMPARED, Status, Timing, Trial

WAITED = "waited_for_processors"
"""Under this name a trial's facts have the share of its timed runs in which some task waited."""

NOT_LAUNCHED = "no kernel was launched: the original ran instead"

BRANCHES = "branches"
"""Under this name a winner's facts have which blocks of its text some run of its check reached."""

OUTPUTS_BYTES = 256 << 20
"""Runs whose outputs together are larger than this do not share a child and its memory."""


class Checker:
    """Checks variants of one region against its oracle; equal programs are run once.

    Safe for many threads: compilations and checks may overlap. Timed plans should come one
    at a time, or they measure each other.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self._known: dict[str, Trial] = {}
        self._lock = threading.Lock()

    def check(self, program: Program, plan: CheckPlan) -> Trial:
        """Return `program`'s fate. Nothing that it or a compiler does raises."""
        key = self._key(program, plan)
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return replace(known, config=dict(program.config), reused=True)
        trial = _check(program, plan, self.oracle)
        with self._lock:
            self._known[key] = trial
        return trial

    def _key(self, program: Program, plan: CheckPlan) -> str:
        """Return the hash of everything that can change the answer, `config` not among it."""
        texts = [program.code.body, program.code.helper, program.device_text]
        settings = [program.target, program.kind, program.optimisation, program.nvcc, repr(plan)]
        return hashlib.sha256(json.dumps([texts, settings]).encode()).hexdigest()


def _check(program: Program, plan: CheckPlan, oracle: Oracle) -> Trial:
    """Run everything that `plan` asks for; the first failure ends it."""
    trial = Trial(program.target, dict(program.config), Status.CORRECT, device=plan.device_name)
    found = _Found({**without_detectors(program, plan, oracle)})
    try:
        if plan.arch and program.device_text:
            cubin = _device_facts(program, plan, oracle)
            found.facts.update(_kernel_facts(cubin))
            trial = replace(trial, kernels=cubin.kernels)
        if plan.grids and program.kind in OPENACC:
            _grid_facts(program, plan, oracle, found.facts)
        _run_all(program, plan, oracle, found)
        if not found.compared:
            skipped = found.facts.get("skipped", "")
            raise _Failed(Status.RUNTIME, f"{NOTHING_COMPARED}: {skipped}")
        if _must_launch(program) and not plan.may_fall_back and not found.launches:
            raise _Failed(Status.CORRECTNESS, NOT_LAUNCHED)
    except _Failed as failure:
        trial = replace(trial, status=failure.status, reason=failure.reason.strip())
    else:
        trial = replace(_timed(trial, found), verified=True)
        if found.reached:
            found.facts[BRANCHES] = told(texts_of(program), found.reached)
    return replace(trial, facts=found.facts, compile_s=found.compile_s, run_s=found.run_s)


@dataclass(slots=True)
class _Found:
    """What a check has found so far: facts for the trial, counts, and seconds spent."""

    facts: dict[str, str | int | float]
    compared: int = 0
    launches: int = 0
    timed: RunResult | None = None
    reached: dict[str, set[int]] = field(default_factory=dict)
    compile_s: float = 0.0
    run_s: float = 0.0


def _run_all(program: Program, plan: CheckPlan, oracle: Oracle, found: _Found) -> None:
    """Compile and run `program` as `plan` says, and put what comes of it into `found`.

    Raises:
        _Failed: It does not compile, or does not end well, or is wrong.
    """
    wanted = runs_of(program, plan, oracle)
    for (kind, way_out), runs in itertools.groupby(wanted, lambda r: (r.kind, r.takes_way_out)):
        text = taking_way_out(program) if way_out else program
        built = _built(text, kind, plan, oracle)
        found.compile_s += built.time_s
        if kind == program.kind and not way_out:
            found.facts["digest"] = built.digest[:16]
        ready = (_ready(program, run, built, plan, oracle, found.facts) for run in runs)
        for together in _rounds(one for one in ready if one is not None):
            start = time.monotonic()
            try:
                for outcome in _compared(program, together, oracle):
                    found.compared += 1
                    found.launches += outcome.launches or 0
                    for marks, numbers in outcome.reached.items():
                        found.reached.setdefault(marks, set()).update(numbers)
                    found.timed = outcome if outcome.times_s else found.timed
            finally:
                found.run_s += time.monotonic() - start


def _timed(trial: Trial, found: _Found) -> Trial:
    """Return `trial` with its times, if any were taken."""
    timed, facts = found.timed, found.facts
    if timed is None:
        return trial
    facts["runs"] = len(timed.times_s)
    facts["cache"] = "cold" if timed.is_cold else "warm"
    if timed.waited is not None:
        facts[WAITED] = round(timed.waited, 3)
    if timed.censored:
        facts["censored"] = "clearly worse than the best"
    # On a GPU the kernels are what is tuned; the copies around them are told apart.
    timing = Timing(timed.kernel_s or timed.times_s)
    if timed.kernel_s:
        facts["end_to_end_s"] = Timing(timed.times_s).median_s
    return replace(trial, time_s=timing.median_s, spread_s=timing.spread_s, times_s=timing.times_s)


def _is_tuned(run: Run, oracle: Oracle) -> bool:
    """Return whether a run is at the sizes that the kernels are for, and nothing made to fail."""
    sizes = oracle.region.sizes
    if run.fail_at or run.overlap is not None:
        return False
    return all(sizes.get(name) == n for name, n in run.sizes.items())


def _must_launch(program: Program) -> bool:
    """Return whether a variant that launches no kernel is none."""
    return bool(program.device_text) or KINDS[program.kind].is_on_gpu


class _Failed(Exception):
    """A variant that did not pass, with the status and the words of its trial."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run, what makes it, and what it must leave."""

    run: Run
    job: RunJob
    reference: OracleResult


def _ready(
    program: Program,
    run: Run,
    built: CompileResult,
    plan: CheckPlan,
    oracle: Oracle,
    facts: dict[str, str | int | float],
) -> _Ready | None:
    """Return what there is to run; None where the original itself gives nothing to compare with.

    `facts` then says why.
    """
    try:
        reference = oracle.reference(run.sizes, plan.seed, run.values, run.overlap, run.is_narrow)
        problem = reference.problem
    except ValueError as refusal:  # C has no such arrays at these sizes
        problem = str(refusal)
    if problem:
        facts["skipped"] = words_of(run, problem)
        return None
    kind = KINDS[run.kind]
    job = RunJob(
        built.path,
        reference.inputs,
        oracle.folder,
        threads=plan.threads,
        limit_s=plan.run_limit_s,
        timing=plan.timing if run.is_timed else None,
        evictor=oracle.evictor() if run.is_timed and plan.timing and plan.timing.is_cold else "",
        environ={**kind.environ, **plan.environ},
        preload=oracle.tools.asan if kind.needs_asan else "",
        order=run.order,
        order_seed=plan.seed,
        fail_at=run.fail_at,
        resident=plan.resident and (bool(program.device_text) or program.kind == "openacc"),
        entry=built.entry,
        memory_mib=plan.memory_mib,
        has_memory=kind.remembers,
    )
    return _Ready(run, job, reference)


def _rounds(ready: Iterable[_Ready]) -> Iterator[list[_Ready]]:
    """Yield runs in order, those together that one child makes and whose outputs memory holds."""
    together: list[_Ready] = []
    size = 0
    for one in ready:
        size += one.job.inputs.size_bytes
        is_shared = bool(together) and may_share_a_child(one.job) and size <= OUTPUTS_BYTES
        if together and not (is_shared and may_share_a_child(together[-1].job)):
            yield together
            together, size = [], one.job.inputs.size_bytes
        together.append(one)
    if together:
        yield together


def _compared(program: Program, together: Sequence[_Ready], oracle: Oracle) -> Iterator[RunResult]:
    """Yield the outcomes of runs in one child that equal the original's.

    Raises:
        _Failed: The variant does not end well, or is wrong.
    """
    reorders = bool(REORDERING & {*program.optimisation, *oracle.flags})
    with run_in_one_child([one.job for one in together]) as outcomes:
        # The first that fails is the last there is.
        for one, outcome in zip(together, outcomes, strict=False):
            run = one.run
            if _has_stopped(one.job, outcome):
                yield outcome
                continue
            if outcome.status is not Status.CORRECT:
                raise _Failed(outcome.status, words_of(run, outcome.reason))
            wrong = oracle.mismatch(one.reference, outcome, reorders)
            if not wrong and outcome.last is not None:
                # What is timed is what was compared: nothing is left behind by earlier runs.
                wrong = oracle.mismatch(one.reference, outcome.last, reorders)
                wrong = f"in a later run {wrong}" if wrong else ""
            if wrong:
                raise _Failed(Status.CORRECTNESS, words_of(run, wrong))
            is_tuned = _must_launch(program) and _is_tuned(run, oracle)
            if is_tuned and not outcome.launches:
                raise _Failed(Status.CORRECTNESS, words_of(run, NOT_LAUNCHED))
            yield outcome


def _has_stopped(job: RunJob, outcome: RunResult) -> bool:
    """Return whether an entry ended the program, rightly: a call failed, and the data had changed.

    Only of data that stay on the device; from all other failures there is a way back.
    """
    is_told = any(words in outcome.reason for words in (TOO_LATE, NOTHING_RUNS))
    return job.resident and job.fail_at > 0 and outcome.status is Status.RUNTIME and is_told


def _built(program: Program, kind: str, plan: CheckPlan, oracle: Oracle) -> CompileResult:
    """Return `program` compiled as `kind`, or raise `_Failed` with the compiler's words."""
    try:
        job = compile_job_of(program, kind, oracle, plan.compile_limit_s, plan.arch)
    except ValueError as refusal:  # the text holds what the check on the CPU cannot execute
        raise _Failed(Status.COMPILE, str(refusal)) from refusal
    return _usable(oracle.compile(job))


def _usable(result: CompileResult) -> CompileResult:
    """Return `result`, or raise `_Failed` when it is not the program that was asked for."""
    if not result.ok:
        status = Status.TIMEOUT if result.timed_out else Status.COMPILE
        raise _Failed(status, result.output)
    if result.invalid:
        raise _Failed(Status.CONSTRAINTS, result.invalid)
    return result


def _device_facts(program: Program, plan: CheckPlan, oracle: Oracle) -> CompileResult:
    """Return what nvcc says about `program`'s kernels when it compiles them for `plan.arch`.

    Raises:
        _Failed: nvcc refuses them, crashes, or takes too long.
    """
    job = CompileJob(
        (SourceText(program.device_text, "cuda"),),
        "cuda-cubin",
        arch=plan.arch,
        limit_s=plan.compile_limit_s,
        nvcc=program.nvcc,
    )
    return _usable(oracle.compile(job))


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
    program: Program, plan: CheckPlan, oracle: Oracle, facts: dict[str, str | int | float]
) -> None:
    """Put the grids that OpenACC asks for into `facts`, and those that a compiler chooses.

    Raises:
        _Failed: The compiler says that it takes other sizes.
    """
    facts["grid_asked"] = asked_text(program.code.body)
    # Its text as it is: what a check puts around the kernels is not for a GPU.
    job = compile_job_of(program, "openacc-nvptx", oracle, plan.compile_limit_s)
    chosen = chosen_grids(job, REGION, oracle.tools, oracle.folder / "compiled")
    facts["grid_chosen"] = str(chosen)
    if chosen.invalid:
        raise _Failed(Status.CONSTRAINTS, chosen.invalid)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a compiler made of a text: its grids, or why they are not known.

    `invalid` are its words when it took other sizes than those asked for.
    """

    grids: tuple[GangGrid, ...] = ()
    compiler: str = ""
    reason: str = ""
    invalid: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"not available because {self.reason}"
        return f"{grids_text(self.grids)} ({self.compiler})"


def chosen_grids(job: CompileJob, function: str, tools: Toolchains, folder: Path) -> Chosen:
    """Return the grids that a compiler for the GPU chooses for `function` in the text of `job`."""
    if "nvptx-none" in tools.offload:
        built = compile_job(replace(job, kind="openacc-nvptx"), tools, folder)
        texts = (path.read_text(errors="replace") for path in _ptx(built))
        return _chosen(built, parse_func_map("\n".join(texts), function), "gcc")
    if tools.nvc is not None:
        built = compile_job(replace(job, kind="openacc-nvc"), tools, folder)
        feedback = parse_nvc_feedback(built.output)
        return _chosen(built, grids_of_feedback(feedback, function), "nvc")
    return Chosen(
        reason="no compiler here makes OpenACC code for a GPU: gcc has no nvptx-none, "
        "and there is no nvc"
    )


def _ptx(built: CompileResult) -> list[Path]:
    return sorted(built.path.parent.glob("*.mkoffload.s")) if built.ok else []


def _chosen(built: CompileResult, grids: tuple[GangGrid, ...], compiler: str) -> Chosen:
    if built.invalid:
        return Chosen(grids, compiler, invalid=built.invalid)
    if not built.ok:
        words = built.output.strip().splitlines()
        telling = next((line for line in words if "error" in line), words[0] if words else "")
        return Chosen(reason=f"{compiler} does not compile it for a GPU: {telling.strip()}")
    if not grids:
        return Chosen(reason=f"{compiler} has left no sizes")
    return Chosen(grids, compiler)
