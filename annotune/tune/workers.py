"""Who runs jobs: one small interface, whatever processes on whatever machines are behind it."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol, TypeVar

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
