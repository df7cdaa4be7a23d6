"""Trials by the hash of all that decides them: looked up, launched on the record, written down."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from annotune import __version__
from annotune.diagnostics import AnnotuneError, Span
from annotune.measure.check import Checker
from annotune.measure.command import run_command
from annotune.measure.compile import COMPILE_LIMIT_S
from annotune.measure.machine import VISIBLE_GPUS
from annotune.measure.plan import CheckLimits, CheckPlan
from annotune.measure.program import Program, digest_of_variant
from annotune.measure.run import TOO_MUCH_MEMORY
from annotune.measure.trial import EARLIER_RUN, Trial
from annotune.tune.crew import Crew
from annotune.tune.jobs import CheckHere
from annotune.tune.store import STORE_FAILED, Store

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

    `limit_s` is what one run has at the most. A `crew` does the work; without one this process.
    """

    def __init__(
        self, checker: Checker, store: Store, limit_s: float, crew: Crew | None = None
    ) -> None:
        self.checker, self.store, self.limit_s = checker, store, limit_s
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
        if plan.timing is not None and plan.timing.is_cold:
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

    def again(self, program: Program, plan: CheckPlan) -> Trial:
        """Return the fate of a variant, from an earlier run where that is known."""
        key = self.key(program, plan)
        job = TrialJob(key, program, plan)
        known = self.known(job)
        return known if known is not None else self.check(job)


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
