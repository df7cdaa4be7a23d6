"""Who runs jobs: one small interface, whatever processes on whatever machines are behind it.

Worker processes of this machine, each with a GPU of its own where there are some.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Protocol, TypeVar

from pebble import ProcessExpired, ProcessPool

from annotune.measure.forker import wake_workers
from annotune.measure.machine import Gpu, NoGpu, visible_alone

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Job(Protocol[T_co]):
    """A plain value that any worker process can be sent, and all that it needs to do its work."""

    def run(self, timeout_s: float) -> T_co:
        """Do the work; no program under test gets more than `timeout_s` seconds for a run."""


class Workers(Protocol):
    """Something that does jobs, so many at once as it has `slots`.

    No engine cancels a hang, so the time limit lives in the worker: the job bounds every run of a
    variant by `timeout_s`, and kills the run's process group after it.
    """

    slots: int

    def submit(self, job: Job[T], timeout_s: float) -> Future[T]:
        """Have a job done; the future raises `WorkerDied` where its worker ended meanwhile."""

    def close(self) -> None:
        """Wait for what runs, and end."""


class WorkerDied(Exception):
    """The process that ran a job has ended without an answer."""


def perform(job: Job[T], timeout_s: float) -> T:
    """Do a job in this process; what engines call in theirs."""
    return job.run(timeout_s)


def watched(future: Future[T], deaths: tuple[type[BaseException], ...]) -> Future[T]:
    """Return a future like `future`, in which an engine's words for a death are `WorkerDied`."""
    own: Future[T] = Future()

    def pass_on(done: Future[T]) -> None:
        if done.cancelled():  # its workers were closed
            own.cancel()
            return
        error = done.exception()
        if error is None:
            own.set_result(done.result())
        elif isinstance(error, deaths):
            own.set_exception(WorkerDied(str(error)))
        else:
            own.set_exception(error)

    future.add_done_callback(pass_on)
    return own


WAKE_EVERY_S = 1.0
"""How often it is looked whether a worker is stopped; who stopped it does so for ever."""


def shared_out(gpus: Sequence[Gpu] | NoGpu, count: int) -> tuple[Gpu | None, ...]:
    """Return the GPU of each of so many workers, in turn; of several models the most frequent one.

    Workers that have to share a GPU measure one after the other, and compile meanwhile.
    """
    if isinstance(gpus, NoGpu):
        return (None,) * count
    (model, _), *_ = Counter(gpu.name for gpu in gpus).most_common(1)
    own = [gpu for gpu in gpus if gpu.name == model]
    return tuple(own[number % len(own)] for number in range(count))


class LocalWorkers:
    """A process for each GPU of `gpus`, or for each None in it."""

    def __init__(self, gpus: Sequence[Gpu | None]) -> None:
        self.slots = len(gpus)
        self._each = [_Process({} if gpu is None else visible_alone(gpu)) for gpu in gpus]
        self._lock = threading.Lock()
        self._is_closed = threading.Event()
        threading.Thread(target=self._keep_awake, daemon=True).start()

    def _keep_awake(self) -> None:
        """Wake workers that something under test has stopped: nobody else looks after them."""
        while not self._is_closed.wait(WAKE_EVERY_S):
            wake_workers()

    def submit(self, job: Job[T], timeout_s: float) -> Future[T]:
        """Have a job done by the process with the least to do, and where fewest jobs have died."""
        with self._lock:
            one = min(self._each, key=lambda each: (each.load, each.deaths))
            one.load += 1
            future = one.submit(job, timeout_s)
        future.add_done_callback(lambda done: self._ended(one, done))
        return future

    def _ended(self, one: _Process, done: Future[T]) -> None:
        with self._lock:
            one.load -= 1
            one.deaths += not done.cancelled() and isinstance(done.exception(), WorkerDied)

    def close(self) -> None:
        """End the processes."""
        self._is_closed.set()
        for one in self._each:
            one.close()


def _begin(environ: Mapping[str, str]) -> None:
    """Give a new process its environment, of which its own children know too."""
    os.environ.update(environ)


class _Process:
    """One process, and another one in its place where it has ended."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.load = 0
        self.deaths = 0
        self._environ = dict(environ)
        self._pool = self._begun()

    def _begun(self) -> ProcessPool:
        # Spawned: this process has threads, and a fork would copy locks that they hold.
        context = multiprocessing.get_context("spawn")
        return ProcessPool(1, initializer=_begin, initargs=[self._environ], context=context)

    def submit(self, job: Job[T], timeout_s: float) -> Future[T]:
        """Have a job done after those that were submitted before it."""
        try:
            future = self._pool.schedule(perform, args=[job, timeout_s])
        except RuntimeError:  # its process was killed while it had nothing to do
            self._pool.stop()  # type: ignore[no-untyped-call]  # Pebble's
            self._pool = self._begun()
            future = self._pool.schedule(perform, args=[job, timeout_s])
        return watched(future, (ProcessExpired, RuntimeError))

    def close(self) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]  # Pebble's
        self._pool.join()
