"""The jobs of a run: what a worker is asked to check, to measure, or to tell of itself."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.measure.ahead import compile_ahead
from annotune.measure.check import Checker, CheckPlan
from annotune.measure.check import Variant as Program
from annotune.measure.compile import KINDS
from annotune.measure.gpu import (
    VISIBLE_GPUS,
    Gpu,
    NoGpu,
    exclusive,
    find_gpu,
    foreign_processes,
    lock_folder,
)
from annotune.measure.machine import memory_limit_mib
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Trial
from annotune.tune.origin import CHECKERS, Origin, tools_text
from annotune.tune.rounds import Contestant, Course, Rounds, take_rounds

UNFIT_WORKER = Template(
    "AT619",
    "a worker on '{host}' cannot take part in this run: {reason}",
    "give every worker the annotune, the compilers and the devices of the run",
)

SHARED_WITH = "the GPU was shared with"
"""Whose processes computed on the GPU of a trial, in its facts."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker runs: its machine, its GPU, and what `tools_text` says of its compilers."""

    host: str
    gpu: Gpu | NoGpu
    tools: str


def place() -> Place:
    """Return where this process runs. Its GPU is the first that its environment lets it see."""
    return Place(socket.gethostname(), find_gpu(), tools_text(find_toolchains(os.environ)))


@dataclass(frozen=True, slots=True)
class Greeting:
    """Asks a worker where it runs."""

    def run(self, timeout_s: float) -> Place:
        """Return where this process runs."""
        return place()


@dataclass(frozen=True, slots=True)
class CheckHere:
    """A program to be checked by the process that has its checker."""

    checker: Checker
    program: Program
    plan: CheckPlan

    def run(self, timeout_s: float) -> Trial:
        """Return the fate of the program."""
        plan = replace(self.plan, run_limit_s=min(timeout_s, self.plan.run_limit_s))
        start = time.monotonic()
        trial = self.checker.check(self.program, plan)
        return replace(trial, compile_s=None, run_s=time.monotonic() - start)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """A program to be compiled and checked by any worker, and timed where `plan` says so."""

    origin: Origin
    program: Program
    plan: CheckPlan

    def run(self, timeout_s: float) -> Trial:
        """Return the fate of the program, and the device on which it was timed.

        Raises:
            AnnotuneError: This process is no worker for it: it has other compilers, no GPU, or no
                room on its disk.
        """
        own = place()
        with _unfit_is_refused(own):
            checker = _checker(self.origin, own)
            plan, gpu = self.plan, None
            if not self.origin.folder:
                plan = replace(plan, memory_mib=_memory_mib())
            if KINDS[self.program.kind].is_on_gpu:
                gpu = _gpu_of(own)
                # Which GPU is its own, the worker's environment says.
                kept = {k: v for k, v in plan.environ.items() if k != VISIBLE_GPUS}
                plan = replace(plan, device_name=gpu.name, arch=gpu.arch, environ=kept)
            start = time.monotonic()
            # Before the GPU is held: others measure on it meanwhile.
            compile_ahead([self.program], plan, checker.oracle)
            compile_s = time.monotonic() - start
            with _held(gpu):
                trial = CheckHere(checker, self.program, plan).run(timeout_s)
            others = _others_on(gpu) if gpu is not None else ""
            facts = {**trial.facts, **({SHARED_WITH: others} if others else {})}
            return replace(trial, compile_s=compile_s, facts=facts)


@dataclass(frozen=True, slots=True)
class FinalsJob:
    """Programs that were found right, to be timed in turns by one worker on its GPU."""

    origin: Origin
    contestants: tuple[Contestant, ...]
    course: Course
    budget_s: float

    def run(self, timeout_s: float) -> Rounds:
        """Return their turns.

        Raises:
            AnnotuneError: This process is no worker for it.
        """
        own = place()
        with _unfit_is_refused(own):
            oracle = _checker(self.origin, own).oracle
            gpu = _gpu_of(own)
            course = replace(self.course, arch=gpu.arch, environ={})
            with _held(gpu):
                taken = take_rounds(oracle, self.contestants, course, self.budget_s)
            return replace(taken, device=gpu.name)


def _checker(origin: Origin, own: Place) -> Checker:
    if own.tools != origin.tools:
        raise _unfit(own, f"it has '{own.tools}', and the run '{origin.tools}'")
    return CHECKERS.of(origin, find_toolchains(os.environ))


def _gpu_of(own: Place) -> Gpu:
    if isinstance(own.gpu, NoGpu):
        raise _unfit(own, f"it has no GPU: {own.gpu.reason}")
    return own.gpu


def _unfit(own: Place, reason: str) -> AnnotuneError:
    return AnnotuneError.of(UNFIT_WORKER.at(Span("--workers", 1, 1), host=own.host, reason=reason))


@contextmanager
def _unfit_is_refused(own: Place) -> Iterator[None]:
    """Make of a full or unreadable disk of a worker what the user is told of it."""
    try:
        yield
    except OSError as error:
        raise _unfit(own, f"{error.filename or 'its disk'}: {error.strerror or error}") from None


@contextmanager
def _held(gpu: Gpu | None) -> Iterator[None]:
    """Hold a GPU against all other measuring processes of its machine; nothing without one."""
    if gpu is None:
        yield
        return
    with exclusive(gpu, lock_folder()):
        yield


@lru_cache(maxsize=1)
def _others_on(gpu: Gpu) -> str:
    """Return who else computes on a GPU; asked once, since it takes as long as a short trial."""
    with exclusive(gpu, lock_folder()):
        return ", ".join(foreign_processes(gpu))


def _memory_mib() -> int:
    """Return what one run may hold on this machine, whose workers Parsl has counted."""
    count = os.environ.get("PARSL_WORKER_COUNT", "")
    return memory_limit_mib() // (int(count) if count.isdecimal() and int(count) else 1)
