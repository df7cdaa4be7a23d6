"""One variant checked against the original, and timed: text in, a trial out."""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from annotune.codegen.cuda.host import NOTHING_RUNS, TOO_LATE
from annotune.codegen.several_sizes import TUNED_SUFFIX
from annotune.frozen import dataclass
from annotune.measure.compile import (
    KINDS,
    OPENACC,
    REORDERING,
    CompileJob,
    CompileKind,
    CompileResult,
)
from annotune.measure.grids import Chosen, asked_text, chosen_grids
from annotune.measure.oracle import NothingToCompare, Oracle, OracleResult
from annotune.measure.plan import CheckPlan, Run, runs_of, without_detectors, words_of
from annotune.measure.program import (
    REGION,
    Program,
    compile_job_of,
    cubin_job,
    taking_way_out,
    texts_of,
    told,
)
from annotune.measure.run import (
    CallTimes,
    Child,
    RunJob,
    RunResult,
    may_be_followed,
    run_in_one_child,
)
from annotune.measure.trial import (
    END_TO_END,
    NOTHING_COMPARED,
    KernelFacts,
    Status,
    Timing,
    Trial,
)

WAITED = "waited_for_processors"
"""Under this name a trial's facts have the share of its timed runs in which some task waited."""

NOT_LAUNCHED = "no kernel was launched: the original ran instead"

BRANCHES = "branches"
"""Under this name a winner's facts have which blocks of its text some run of its check reached."""

SAMPLED = "compared_with"
"""Under this name a trial's facts have which iterations of a long original it was compared with."""

OUTPUTS_BYTES = 256 << 20
"""Runs whose outputs together are larger than this do not share a child and its memory."""


class Checker:
    """Checks variants of one region against its oracle; equal programs are run once.

    They have kernels for the `tuned` sizes, by default those of the region, at which these must run
    where it is kernels that are checked.

    Safe for many threads: compilations and checks may overlap. Timed plans should come one
    at a time, or they measure each other.
    """

    def __init__(self, oracle: Oracle, tuned: Sequence[Mapping[str, int]] = ()) -> None:
        self.oracle = oracle
        self._tuned = tuple(tuned) or (oracle.region.sizes,)
        self._known: dict[str, Trial] = {}
        self._lock = threading.Lock()

    def check(self, program: Program, plan: CheckPlan) -> Trial:
        """Return `program`'s fate. Nothing that it or a compiler does raises."""
        key = self._key(program, plan)
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return replace(known, config=dict(program.config), reused=True)
        trial = _Check(program, plan, self.oracle, self._tuned).trial()
        with self._lock:
            self._known[key] = trial
        return trial

    def _key(self, program: Program, plan: CheckPlan) -> str:
        """Return the hash of everything that can change the answer, `config` not among it."""
        texts = [program.code.body, program.code.helper, program.device_text]
        settings = [program.target, program.kind, program.optimisation, program.nvcc, repr(plan)]
        return hashlib.sha256(json.dumps([texts, settings]).encode()).hexdigest()


LATE = "the time for this check is over"
"""Why a check is given up that has taken all the seconds that it had."""


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


@dataclass(slots=True)
class _Check:
    """One check and what it has found so far: facts for the trial, counts, and seconds spent."""

    program: Program
    plan: CheckPlan
    oracle: Oracle
    tuned: Sequence[Mapping[str, int]]
    facts: dict[str, str | int | float] = field(default_factory=dict)
    kernels: tuple[KernelFacts, ...] = ()
    compared: int = 0
    launches: int = 0
    times: CallTimes | None = None
    failing: tuple[int, ...] = ()
    reached: dict[str, set[int]] = field(default_factory=dict)
    compile_s: float = 0.0
    run_s: float = 0.0
    begun: float = field(default_factory=time.monotonic)

    def trial(self) -> Trial:
        """Run everything that the plan asks for; the first failure ends it."""
        program, plan = self.program, self.plan
        trial = Trial(program.target, dict(program.config), Status.CORRECT, device=plan.device_name)
        self.facts.update(without_detectors(program, plan, self.oracle))
        try:
            if plan.arch and program.device_text:
                self._look_at_kernels()
            if plan.grids and program.kind in OPENACC:
                self._look_at_grids()
            self._run_all()
            if not self.compared:
                skipped = self.facts.get("skipped", "")
                raise _Failed(Status.RUNTIME, f"{NOTHING_COMPARED}: {skipped}")
            may_fall_back = plan.odd.may_fall_back or program.for_tuned_alone
            if self._must_launch and not may_fall_back and not self.launches:
                raise _Failed(Status.CORRECTNESS, NOT_LAUNCHED)
        except _Failed as failure:
            trial = replace(trial, status=failure.status, reason=failure.reason.strip())
        else:
            trial = replace(self._timed(trial), verified=True)
            if self.reached:
                self.facts[BRANCHES] = told(texts_of(program), self.reached)
        return replace(
            trial,
            facts=self.facts,
            kernels=self.kernels,
            compile_s=self.compile_s,
            run_s=self.run_s,
        )

    def _run_all(self) -> None:
        """Compile and run the variant as the plan says.

        Raises:
            _Failed: It does not compile, or does not end well, or is wrong.
        """
        wanted = runs_of(self.program, self.plan, self.oracle, lambda: self.failing)
        for (kind, way_out), runs in itertools.groupby(wanted, lambda r: (r.kind, r.takes_way_out)):
            built = self._built(kind, way_out)
            self.compile_s += built.time_s
            if kind == self.program.kind and not way_out:
                self.facts["digest"] = built.digest[:16]
            child = self._child(KINDS[kind], built)
            ready = (self._ready(run) for run in runs)
            for together in _rounds(child, (one for one in ready if one is not None)):
                start = time.monotonic()
                try:
                    self._compare(replace(child, most_s=self._left_s()), together)
                finally:
                    self.run_s += time.monotonic() - start

    def _left_s(self) -> float:
        """Return the seconds that are left for this check.

        Raises:
            _Failed: There are none.
        """
        left_s = self.plan.limits.check_s - (time.monotonic() - self.begun)
        if left_s <= 0:
            raise _Failed(Status.TIMEOUT, LATE)
        return left_s

    def _built(self, kind: str, way_out: bool) -> CompileResult:
        """Return the variant compiled as `kind`, or raise `_Failed` with the compiler's words."""
        program = taking_way_out(self.program) if way_out else self.program
        limit_s = min(self.plan.limits.compile_s, self._left_s())
        try:
            job = compile_job_of(program, kind, self.oracle, limit_s, self.plan.arch)
        except ValueError as refusal:  # the text holds what the check on the CPU cannot execute
            raise _Failed(Status.COMPILE, str(refusal)) from refusal
        return self._usable(job)

    def _usable(self, job: CompileJob) -> CompileResult:
        """Return what comes of `job`, or raise `_Failed` when it is not what was asked for."""
        result = self.oracle.compile(job)
        if not result.ok:
            status = Status.TIMEOUT if result.timed_out else Status.COMPILE
            raise _Failed(status, result.output)
        if result.invalid:
            raise _Failed(Status.CONSTRAINTS, result.invalid)
        return result

    def _look_at_kernels(self) -> None:
        """Have nvcc tell of the kernels, compiled for the GPU of the plan.

        Raises:
            _Failed: nvcc refuses them, crashes, or takes too long.
        """
        job = cubin_job(self.program, self.plan.arch, self.plan.limits.compile_s)
        self.kernels = self._usable(job).kernels
        # Kernels for all other sizes, where there are such, keep more in registers for addresses.
        tuned = [k for k in self.kernels if TUNED_SUFFIX in k.name] or self.kernels
        self.facts |= {
            "registers": max((k.registers for k in tuned), default=0),
            "spill_bytes": max(
                (k.spill_store_bytes + k.spill_load_bytes for k in tuned), default=0
            ),
            "stack_bytes": max((k.stack_bytes for k in tuned), default=0),
            "shared_bytes": max((k.shared_bytes for k in tuned), default=0),
            "kernels": len(self.kernels),
        }

    def _look_at_grids(self) -> None:
        """Tell the grids that OpenACC asks for, and those that a compiler chooses.

        Raises:
            _Failed: The compiler says that it takes other sizes.
        """
        self.facts["grid_asked"] = asked_text(self.program.code.body)
        chosen = grids_of(self.program, self.oracle, self.plan.limits.compile_s)
        self.facts["grid_chosen"] = str(chosen)
        if chosen.invalid:
            raise _Failed(Status.CONSTRAINTS, chosen.invalid)

    def _child(self, kind: CompileKind, built: CompileResult) -> Child:
        plan = self.plan
        return Child(
            built.path,
            built.entry,
            plan.threads,
            plan.limits.run_s,
            {**kind.environ, **plan.environ},
            self.oracle.tools.asan if kind.needs_asan else "",
            plan.limits.memory_mib,
            kind.remembers,
        )

    def _ready(self, run: Run) -> _Ready | None:
        """Return what there is to run; None where the original gives nothing to compare with.

        The facts then say why.
        """
        plan, oracle = self.plan, self.oracle
        try:
            reference = oracle.reference(
                run.sizes, plan.seed, run.values, run.overlap, run.is_narrow
            )
            problem = reference.problem
        except ValueError as refusal:  # C has no such arrays at these sizes
            problem = str(refusal)
        if problem:
            self.facts["skipped"] = words_of(run, problem)
            return None
        if reference.asked.sample is not None:
            self.facts[SAMPLED] = str(reference.asked.sample)
        timing = plan.timing if run.is_timed else None
        if timing is not None:
            timing = replace(timing, evictor=oracle.evictor())
        resident = plan.resident and KINDS[run.kind].has_device_memory
        order = (run.order, plan.seed)
        job = RunJob(reference.inputs, timing, *order, run.fail_at, resident)
        return _Ready(run, job, reference)

    def _compare(self, child: Child, together: Sequence[_Ready]) -> None:
        """Make runs in one child and compare what they leave with what the original does.

        Raises:
            _Failed: The variant does not end well, or is wrong.
        """
        with run_in_one_child(child, [one.job for one in together]) as results:
            # The first that fails is the last there is.
            for one, result in zip(together, results, strict=False):
                self.failing = result.failing
                try:
                    if not _has_stopped(one.job, result):
                        self._judge(one, result)
                except NothingToCompare as none:
                    self.facts["skipped"] = words_of(one.run, str(none))
                    continue
                self.compared += 1
                self.launches += result.launches or 0
                for marks, numbers in result.reached.items():
                    self.reached.setdefault(marks, set()).update(numbers)
                self.times = result.times or self.times

    def _judge(self, one: _Ready, result: RunResult) -> None:
        if result.status is not Status.CORRECT:
            raise _Failed(result.status, words_of(one.run, result.reason))
        # In another order of a sum no zero has a sign for certain.
        reorders = bool(REORDERING & {*self.program.optimisation, *self.oracle.flags})
        wrong = self.oracle.mismatch(one.reference, result.left, reorders)
        if not wrong and result.last is not None:
            # What is timed is what was compared: nothing is left behind by earlier runs.
            wrong = self.oracle.mismatch(one.reference, result.last, reorders)
            wrong = f"in a later run {wrong}" if wrong else ""
        if not wrong and self._must_launch and self._is_tuned(one.run) and not result.launches:
            wrong = NOT_LAUNCHED
        if wrong:
            raise _Failed(Status.CORRECTNESS, words_of(one.run, wrong))

    def _timed(self, trial: Trial) -> Trial:
        """Return `trial` with its times, if any were taken."""
        times, facts = self.times, self.facts
        if times is None:
            return trial
        facts["runs"] = len(times.times_s)
        facts["cache"] = "cold" if times.is_cold else "warm"
        if times.waited is not None:
            facts[WAITED] = round(times.waited, 3)
        if times.censored:
            facts["censored"] = "clearly worse than the best"
        timing = Timing(times.tuned_s)
        if times.kernel_s:
            facts[END_TO_END] = Timing(times.times_s).median_s
        return replace(
            trial, time_s=timing.median_s, spread_s=timing.spread_s, times_s=timing.times_s
        )

    def _is_tuned(self, run: Run) -> bool:
        """Return whether a run is at the sizes that the kernels are for, nothing made to fail."""
        if run.fail_at or run.overlap is not None:
            return False
        own = run.sizes.items()
        return any(all(sizes.get(name) == n for name, n in own) for sizes in self.tuned)

    @property
    def _must_launch(self) -> bool:
        """Return whether a variant that launches no kernel is none."""
        if self.program.may_launch_none:
            return False
        return bool(self.program.device_text) or KINDS[self.program.kind].is_on_gpu


def grids_of(program: Program, oracle: Oracle, limit_s: float) -> Chosen:
    """Return the grids that a compiler for a GPU chooses for a variant in OpenACC."""
    # Its text as it is: what a check puts around the kernels is not for a GPU.
    job = compile_job_of(program, "openacc-nvptx", oracle, limit_s)
    return chosen_grids(job, REGION, oracle.tools, oracle.compiled)


def _rounds(child: Child, ready: Iterable[_Ready]) -> Iterator[list[_Ready]]:
    """Yield runs in order, those together that one child makes and whose outputs memory holds."""
    together: list[_Ready] = []
    size = 0
    for one in ready:
        is_alone = not may_be_followed(child, one.job)
        size += one.job.inputs.size_bytes
        if together and (is_alone or size > OUTPUTS_BYTES):
            yield together
            together, size = [], one.job.inputs.size_bytes
        together.append(one)
        if is_alone:
            # At once: what is planned next may depend on what it tells.
            yield together
            together, size = [], 0
    if together:
        yield together


def _has_stopped(job: RunJob, result: RunResult) -> bool:
    """Return whether an entry ended the program, rightly: a call failed, and the data had changed.

    Only of data that stay on the device; from all other failures there is a way back.
    """
    is_told = any(words in result.reason for words in (TOO_LATE, NOTHING_RUNS))
    return job.resident and job.fail_at != 0 and result.status is Status.RUNTIME and is_told
