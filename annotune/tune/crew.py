"""The workers of a whole run: started once, greeted, and lent to every region and target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from concurrent.futures import CancelledError, Future, TimeoutError
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.measure.machine import Gpu, find_gpus
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.timing import Turns
from annotune.measure.trial import Status, Trial
from annotune.tune.ending import Stop
from annotune.tune.jobs import (
    CheckJob,
    Contestant,
    Course,
    FinalsJob,
    Greeting,
    Origin,
    Place,
    Rounds,
    origin_of,
)
from annotune.tune.workers import LocalWorkers, WorkerDied, Workers, shared_out

T = TypeVar("T")

# A job whose worker ends is done again by another one, and not a third time.
CHANCES = 2
# So often finals may come to a GPU of another model before the times of the search stand.
FINALS_SENT = 3
# What a worker may take for a run of which nothing else is known, in seconds.
RUN_LIMIT_S = 30.0
# How often the wait for the first worker looks whether the user has had enough.
LOOK_EVERY_S = 0.2

NO_WORKER = Template(
    "AT620",
    "no worker has begun: {reason}",
    "Parsl's own log, in its run_dir, and that of the batch system say more",
)


@dataclass(frozen=True, slots=True)
class Wish:
    """What ``--workers`` asks for: so many processes of this machine, or those of a file."""

    count: int = 0
    config: Path | None = None


@dataclass
class Crew:
    """The workers of a run, the first of which is at `home`: what has its GPU's model may win.

    `is_here` says that they are on the machine that leads the run.
    """

    workers: Workers
    home: Place
    is_here: bool
    _origins: MutableMapping[Oracle, Origin] = field(default_factory=WeakKeyDictionary)
    _lock: Lock = field(default_factory=Lock)

    @property
    def slots(self) -> int:
        return self.workers.slots

    def check(self, oracle: Oracle, program: Program, plan: CheckPlan, timeout_s: float) -> Trial:
        """Return the fate of a program of an oracle's region, and where it was timed.

        A worker that ends takes nothing with it but the work it had done on this one.
        """
        job = CheckJob(self._origin(oracle), program, plan)
        for chance in range(1, CHANCES + 1):
            try:
                return self.workers.submit(job, timeout_s).result()
            except WorkerDied as death:
                reason = f"{chance} workers ended while they ran it; the last: {death}"
        return Trial(program.target, dict(program.config), Status.RUNTIME, reason=reason)

    def take_rounds(
        self, oracle: Oracle, contestants: Sequence[Contestant], course: Course, budget_s: float
    ) -> Rounds:
        """Return the turns of the contestants, taken on one GPU of the home model.

        None of them has any where no worker on such a one could be had.
        """
        job = FinalsJob(self._origin(oracle), tuple(contestants), course, budget_s)
        problem = ""
        for _ in range(FINALS_SENT):
            try:
                found = self.workers.submit(job, RUN_LIMIT_S).result()
            except WorkerDied as death:
                problem = str(death)
                continue
            if isinstance(self.home.gpu, Gpu) and found.device == self.home.gpu.name:
                return found
            problem = f"they came to {found.device}"
        return Rounds(tuple(Turns((), problem) for _ in contestants))

    def _origin(self, oracle: Oracle) -> Origin:
        with self._lock:
            if oracle not in self._origins:
                self._origins[oracle] = origin_of(oracle, self.is_here)
            return self._origins[oracle]


@contextmanager
def crew_of(wish: Wish | None, stop: Stop, wait: Callable[[], None]) -> Iterator[Crew | None]:
    """Start the workers that a user wishes for, and end them; none where there is no wish.

    `wait` is called before the first worker is waited for.

    Raises:
        AnnotuneError: There are no such workers.
    """
    if wish is None:
        yield None
        return
    workers: Workers
    if wish.config is None:
        workers = LocalWorkers(shared_out(find_gpus(), wish.count))
    else:
        from annotune.tune.parsl_workers import parsl_workers

        workers = parsl_workers(wish.config)
    try:
        wait()
        yield Crew(workers, _home(workers, stop), wish.config is None)
    finally:
        workers.close()


def _home(workers: Workers, stop: Stop) -> Place:
    """Return where the first worker is, however long a queue takes to start it.

    Raises:
        AnnotuneError: It cannot be started, or the user does not wait for it.
    """
    reason = ""
    for _ in range(CHANCES):
        try:
            return _answer(workers.submit(Greeting(), RUN_LIMIT_S), stop)
        except (WorkerDied, CancelledError) as death:
            reason = str(death)
        except AnnotuneError:
            raise
        except Exception as error:
            # An engine's own words for workers that it cannot start.
            reason = str(error)
            break
    raise _no_worker(reason)


def _answer(future: Future[T], stop: Stop) -> T:
    while not stop.is_set:
        try:
            return future.result(LOOK_EVERY_S)
        except TimeoutError:
            if future.done():
                raise
    raise _no_worker("the run was ended while it waited for the first one")


def _no_worker(reason: str) -> AnnotuneError:
    return AnnotuneError.of(NO_WORKER.at(Span("--workers", 1, 1), reason=reason))
