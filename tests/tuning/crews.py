"""Workers of a run for tests: opened without a command line, and watched from outside."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from annotune.tuning.config import NEVER, Wish
from annotune.tuning.workers import Crew, Job, crew_of

PATIENCE_S = 600.0


@contextmanager
def crew(wish: Wish) -> Iterator[Crew]:
    """Give the workers of a wish."""
    with crew_of(wish, NEVER, lambda: None) as found:
        assert found is not None
        yield found


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until something holds, and fail where it never does."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def running() -> dict[int, int]:
    """Return the parent of every process that has not ended."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(folder.name)] = int(parent)
    return parents


def forkers_of(worker: int) -> set[int]:
    """Return what a worker has begun itself."""
    return {pid for pid, parent in running().items() if parent == worker}


def variants_of(workers: set[int]) -> dict[int, int]:
    """Return the processes that have loaded a variant, and the worker behind each."""
    parents = running()
    found = {}
    for pid, parent in parents.items():
        worker = parents.get(parent, 0)
        if worker in workers and "/compiled/" in maps_of(pid):
            found[pid] = worker
    return found


def maps_of(pid: int) -> str:
    """Return what a process has loaded, nothing where it has just ended."""
    try:
        return Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return ""


def pids_of(crew: Crew) -> set[int]:
    """Return the processes of all workers."""
    with tempfile.TemporaryDirectory() as folder:
        pid = Pid(Path(folder), crew.slots)
        asked = [crew.workers.submit(pid, PATIENCE_S) for _ in range(crew.slots)]
        return {one.result() for one in asked}


@dataclass(frozen=True)
class Pid:
    """Asks a worker for its process, when as many workers have been asked in the same folder."""

    folder: Path
    workers: int = 1

    def run(self, timeout_s: float) -> int:
        (self.folder / str(os.getpid())).touch()
        wait_for(lambda: len(list(self.folder.iterdir())) >= self.workers)
        return os.getpid()


@dataclass(frozen=True)
class KillsItsWorker:
    """Ends the process that does it."""

    def run(self, timeout_s: float) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class StopsItsWorker:
    """Stops the process that does it, as a variant may stop the parent of its parent."""

    def run(self, timeout_s: float) -> int:
        os.kill(os.getpid(), signal.SIGSTOP)
        return os.getpid()


@dataclass(frozen=True)
class Raises:
    """Has a fault of its own."""

    def run(self, timeout_s: float) -> None:
        raise KeyError("no such thing")


@dataclass(frozen=True)
class Unreadable:
    """A job that brings itself, which the process that leads the run cannot read."""

    leader: int

    def run(self, timeout_s: float) -> Unreadable:
        return self

    def __setstate__(self, state: dict[str, int]) -> None:
        if state["leader"] == os.getpid():
            raise RuntimeError("not here")
        self.__dict__.update(state)


@dataclass(frozen=True)
class Unsendable:
    """A job that no worker can be sent."""

    def run(self, timeout_s: float) -> None: ...

    def __getstate__(self) -> None:
        raise RuntimeError("not from here")


class _TwoWords(Exception):
    """An error that cannot be made again of what pickle keeps of it."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


@dataclass(frozen=True)
class RaisesUnreadable:
    """Has a fault that no other process can read."""

    def run(self, timeout_s: float) -> None:
        raise _TwoWords("no", "such")


@contextmanager
def one_killed(workers: set[int]) -> Iterator[None]:
    """Kill the first of some workers that is seen to run a variant, which hangs or is about to end.

    Wait until nothing of the trial is left.
    """

    def kill() -> None:
        while not (seen := variants_of(workers)):
            time.sleep(0.01)
        (variant, worker), *_ = seen.items()
        begun = {variant, *forkers_of(worker)}
        os.kill(worker, signal.SIGKILL)
        # Nothing of the trial outlives it.
        wait_for(lambda: not begun & running().keys())

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(kill)
        yield
        done.result(PATIENCE_S)


def raises_each(crew: Crew) -> None:
    """Have jobs done of which something cannot cross from one process to another."""
    faults: tuple[tuple[Job[object], type[Exception], str], ...] = (
        (Unsendable(), RuntimeError, "not from here"),
        (Unreadable(os.getpid()), RuntimeError, "not here"),
        (RaisesUnreadable(), TypeError, "'other'"),
        (Raises(), KeyError, "no such thing"),
    )
    for job, kind, words in faults:
        with pytest.raises(kind, match=words):
            crew.workers.submit(job, 1.0).result(PATIENCE_S)
