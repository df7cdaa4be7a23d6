"""Who checks variants: one small interface, and the threads of this process behind it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from annotune.measure.check import CheckPlan
from annotune.measure.check import Variant as Program
from annotune.measure.trial import Trial


@dataclass(frozen=True, slots=True)
class TrialJob:
    """One program to be checked, and timed where `plan` says so.

    `key` is its hash in the store, `compile_s` the seconds that compiling it ahead has taken.
    """

    key: str
    program: Program
    plan: CheckPlan
    compile_s: float | None = None


class Workers(Protocol):
    """Something that runs trials, so many at once as it has `slots`.

    No engine cancels a hang, so the time limit lives in the worker: `timeout_s` bounds every run
    of the variant, and the worker kills the run's process group after it.
    """

    slots: int

    def submit(self, job: TrialJob, timeout_s: float) -> Future[Trial]:
        """Have a trial run, and return what will be its fate."""

    def close(self) -> None:
        """Wait for what runs, and end."""


class LocalWorkers:
    """Threads of this process, each of which has one measuring child at a time."""

    def __init__(self, check: Callable[[TrialJob], Trial], slots: int) -> None:
        self.slots = slots
        self._check = check
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="trial")

    def submit(self, job: TrialJob, timeout_s: float) -> Future[Trial]:
        """Run a trial in the next free thread."""
        plan = replace(job.plan, run_limit_s=min(timeout_s, job.plan.run_limit_s))
        return self._pool.submit(self._check, replace(job, plan=plan))

    def close(self) -> None:
        """Wait for the trials that run."""
        self._pool.shutdown(cancel_futures=True)
