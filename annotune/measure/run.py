"""A compiled variant run in a killable child: what it left, how it ended, how long it took."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import math
import os
import queue
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

from msgspec import convert

import annotune
from annotune.frozen import dataclass
from annotune.measure.command import signal_name
from annotune.measure.forker import MARK, MOST_WAITED, Channel, end_marked, is_stopped
from annotune.measure.inputs import PAGE_BYTES, Inputs
from annotune.measure.trial import Status
from annotune.measure.values import ENTRY

WORDS_LIMIT = 8000
"""How many characters of what a child printed are read."""

LOOK_EVERY_S = 0.25
"""How often the wait for a forker looks whether it is stopped."""

GRACE_S = 60.0
"""What a forker may take beyond the longest time that its jobs may."""

ENDED = "the measuring process ended"
STOPPED = "the measuring process was stopped"
SILENT = "the measuring process did not answer"


@dataclass(frozen=True, slots=True)
class Reply:
    """How a task ended: what its child printed, and what its forker tells of it.

    `problem` is what became of the forker where it told nothing. The others are described in
    `annotune.measure.forker`.
    """

    words: str
    problem: str = ""
    status: int | None = None
    used_mib: int = 0
    results: Sequence[dict[str, Any]] = ()
    is_legible: bool = True


class _Gone(Exception):
    """A forker of which no answer comes, in words."""


class Forker:
    """The client's end of one `annotune.measure.forker` process."""

    def __init__(self, preload: str) -> None:
        self._mark = secrets.token_hex(16)
        environ = dict(os.environ)
        root = str(Path(annotune.__file__).parent.parent)
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environ.get("PYTHONPATH")]))
        environ[MARK] = self._mark
        # A process with threads must not fork, and numpy's BLAS starts some on import.
        environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        if preload:
            environ["LD_PRELOAD"] = preload
            # Python leaks by design; an abort would hide the report behind a core dump.
            environ["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0:exitcode=86"
            environ["UBSAN_OPTIONS"] = "halt_on_error=1:exitcode=86"
            environ["PYTHONMALLOC"] = "malloc"
        own, theirs = socket.socketpair()
        self._until = 0.0
        self._channel = Channel(own, LOOK_EVERY_S, self._look)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "annotune.measure.forker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environ,
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )

    def ask(self, message: dict[str, Any], outputs: int, words: int) -> dict[str, Any]:
        """Return the forker's reply to one task.

        Raises:
            _Gone: It has ended, is stopped, or says nothing although all limits are over.
        """
        longest_s = (1 + MOST_WAITED) * message["limit_s"] * len(message["jobs"])
        self._until = time.monotonic() + longest_s + GRACE_S
        try:
            self._channel.send(message, (outputs, words))
            received = self._channel.receive()
        except OSError:
            received = None
        if received is None:
            raise _Gone(ENDED)
        return received[0]

    def _look(self) -> None:
        if is_stopped(self._process.pid):
            raise _Gone(STOPPED)
        if time.monotonic() > self._until:
            raise _Gone(SILENT)

    @property
    def is_fit(self) -> bool:
        """Return whether it can be asked."""
        return self._process.poll() is None and not is_stopped(self._process.pid)

    def close(self) -> None:
        """End the process, the child it may be waiting for and all that it has left behind."""
        self._channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            # At the end of its connection it kills its child and leaves.
            self._process.wait(0.0 if is_stopped(self._process.pid) else 2.0)
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        if self._process.returncode != 0:
            end_marked(self._mark)


class _Forkers:
    """The idle forkers of this process, by what they preload. Safe for many threads."""

    def __init__(self) -> None:
        self._idle: dict[str, queue.SimpleQueue[Forker]] = {}
        self._lock = threading.Lock()

    def ask(self, preload: str, message: dict[str, Any], outputs: int) -> Reply:
        """Return how a task ends in a child of a forker that nobody else uses meanwhile.

        A forker may be lost through somebody else, who has all processes of a batch job wait, say.
        So a task has a second one, and only what loses that one too is at fault.
        """
        reply = self._attempt(self._lent(preload), preload, message, outputs)
        if reply.problem in (ENDED, STOPPED):
            reply = self._attempt(Forker(preload), preload, message, outputs)
        return reply

    def _attempt(
        self, forker: Forker, preload: str, message: dict[str, Any], outputs: int
    ) -> Reply:
        # For each task its own: what somebody writes later is in nobody's way.
        words = os.memfd_create("annotune-words")
        is_fit = False
        try:
            told = forker.ask(message, outputs, words)
            is_fit = not told.pop("is_spent")
            return Reply(_read(words), **told)
        except _Gone as gone:
            return Reply(_read(words), str(gone))
        finally:
            os.close(words)
            if is_fit:
                self._idle[preload].put(forker)
            else:
                forker.close()

    def _lent(self, preload: str) -> Forker:
        with self._lock:
            idle = self._idle.setdefault(preload, queue.SimpleQueue())
        with contextlib.suppress(queue.Empty):
            while True:
                forker = idle.get_nowait()
                if forker.is_fit:
                    return forker
                forker.close()
        return Forker(preload)

    def close(self) -> None:
        """End every idle forker."""
        for idle in self._idle.values():
            with contextlib.suppress(queue.Empty):
                while True:
                    idle.get_nowait().close()


def _read(words: int) -> str:
    return os.pread(words, WORDS_LIMIT, 0).decode("utf-8", "replace")


@contextlib.contextmanager
def outputs_of(size_bytes: int) -> Iterator[tuple[int, Path]]:
    """Lend a file of so many zeros: its descriptor, and its name in this process.

    It is memory that no name in a file system refers to, so that nothing is left behind, however
    this process ends. Nobody can make it shorter than those who read it believe it to be.
    """
    memory = os.memfd_create("annotune-outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(memory, size_bytes)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, seals)
        yield memory, Path(f"/proc/self/fd/{memory}")
    finally:
        os.close(memory)


FORKERS = _Forkers()
atexit.register(FORKERS.close)


RUN_LIMIT_S = 30.0
# Of what takes so long one run is known to a percent, whatever the caches held before.
ONCE_S = 1.0
TOO_MUCH_MEMORY = "used more than"
OVERWRITTEN = "wrote over what its process tells of its runs"
REPORT_LINES = 6
"""How many lines of a sanitizer's report a failed trial keeps: what, where, and the access."""


class Order(IntEnum):
    """In which order a library plays its threads, as ``runtime/order.h`` numbers them."""

    FORWARD = 0
    REVERSE = 1
    SHUFFLED = 2


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """How long to measure: until the median is known to the share `narrow` of it.

    It ends as well when `budget_s` seconds are spent or `runs` runs are done. At least `least_runs`
    are done. With `is_cold` each begins with nothing of its data in a cache; `evictor` is the
    library that empties those of this processor, and makes several short calls at once. Where the
    first run of all takes more than `once_s` on a processor, that is the only one. A variant that
    is clearly worse than `best_s`, the best one's seconds per call, is given up and its time is
    censored; 0 means that there is none.
    """

    warm_ups: int = 1
    runs: int = 30
    least_runs: int = 3
    budget_s: float = 0.5
    best_s: float = 0.0
    narrow: float = 0.01
    once_s: float = ONCE_S
    is_cold: bool = True
    evictor: str = ""


@dataclass(frozen=True, slots=True)
class Child:
    """The library that a child loads, and what holds for all of its runs.

    `entry` is the library's function. `environ` is added to the child's environment; `preload` is
    a library that it is started with, such as libasan. `limit_s` is that of each run, and `most_s`
    that of all of them. A child that
    holds more than `memory_mib` of memory of its own is killed, with 0 none is. `remembers` says
    that the library's run time finds traces of earlier calls.
    """

    library: Path
    entry: str = ENTRY
    threads: int = 1
    limit_s: float = RUN_LIMIT_S
    environ: Mapping[str, str] = field(default_factory=dict)
    preload: str = ""
    memory_mib: int = 0
    remembers: bool = False
    most_s: float = math.inf


@dataclass(frozen=True, slots=True)
class RunJob:
    """One run of a library in a child.

    `order` and its seed are for libraries that play their threads one after another; `fail_at`
    makes that call of the CUDA run-time library fail, from 1, and a negative one also all requests
    for memory from that one on. With `resident` the region gets pointers into the memory of CUDA on
    the CPU, or finds its arrays in that of OpenACC.
    """

    inputs: Inputs
    timing: TimingPlan | None = None
    order: Order = Order.FORWARD
    order_seed: int = 1
    fail_at: int = 0
    resident: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """What a call has left: every written array in a file, and the scalars.

    The arrays begin at byte `start` of the file at `path`, laid out like the inputs.
    """

    path: Path
    start: int
    integers: tuple[int, ...]
    reals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CallTimes:
    """Seconds per call in the order they were taken, and how they were.

    `kernel_s` are the seconds in GPU kernels of each of those calls, empty on a CPU. `censored`
    says that they were cut short as clearly worse, `is_cold` that their data were in no cache, and
    `waited` for which share of the time some task on this machine waited for a processor, None
    where that is not known.
    """

    times_s: tuple[float, ...]
    kernel_s: tuple[float, ...]
    censored: bool
    is_cold: bool
    waited: float | None

    @property
    def tuned_s(self) -> tuple[float, ...]:
        """Return the times of what is tuned: on a GPU the kernels, without the copies around."""
        return self.kernel_s or self.times_s


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended. `CORRECT` says only that it ended well: nothing has been compared yet.

    `computed` is what the first call left, if it ended well; `last` the same of the last call that
    was timed, where that has left anything else. `launches` counts the CUDA kernels that ran, None
    where there are none to count. `reached` are the blocks of texts with marks that have been run,
    `touched` the first element and the number of them that a watched original has touched of each
    array. `failing` are calls of CUDA's library of each kind that the first call has made, for
    another run's `fail_at`. The first call took `took_s` seconds, whatever the caches held.
    """

    status: Status
    reason: str = ""
    computed: Computed | None = None
    last: Computed | None = None
    times: CallTimes | None = None
    launches: int | None = None
    reached: Mapping[str, Sequence[int]] = field(default_factory=dict)
    touched: tuple[tuple[int, int], ...] = ()
    failing: tuple[int, ...] = ()
    took_s: float = 0.0

    @property
    def left(self) -> Computed:
        """Return what the first call of a run that came to its end has left."""
        assert self.computed is not None, self.reason
        return self.computed


def run_checked(child: Child, job: RunJob, folder: Path) -> RunResult:
    """Return how `job` ended: a crash, a hang, a broken red zone or a race is a value too.

    What it computed is a file in `folder`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "output.run"
    with run_in_one_child(child, [job]) as (result,):
        if result.status is not Status.CORRECT:
            return result
        shutil.copyfile(result.left.path, path)
        return replace(result, computed=replace(result.left, path=path))


@contextlib.contextmanager
def run_in_one_child(child: Child, jobs: Sequence[RunJob]) -> Iterator[tuple[RunResult, ...]]:
    """Yield how `jobs` ended in one child, in order, up to the first that did not end well.

    A failure is that of the job which ran. The outputs are in memory, gone when the context ends.
    """
    starts, size = [], 0
    for job in jobs:
        starts.append(size)
        # Of those that are timed also what the last run leaves, where it is something else.
        size += (2 if job.timing else 1) * _room_bytes(job)
    with outputs_of(size) as (memory, path):
        task = {
            **asdict(child),
            "library": str(child.library),
            "outputs_bytes": size,
            "jobs": [_message(job, at) for job, at in zip(jobs, starts, strict=True)],
        }
        reply = FORKERS.ask(child.preload, task, memory)
        yield _results(child, reply, jobs, path, starts)


def task_of_one(child: Child, job: RunJob) -> dict[str, Any]:
    """Return what a process of its own must know to call a library once (`program_of_one`)."""
    return {"library": str(child.library), "entry": child.entry, **_message(job, 0)}


def program_of_one(task: Path) -> tuple[str, ...]:
    """Return the command that makes the call whose task is in a file, and tells nothing of it."""
    return (sys.executable, "-P", "-m", "annotune.measure.child", str(task))


def environ_of_one(child: Child) -> dict[str, str]:
    """Return what the environment of that command has to have."""
    root = str(Path(annotune.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": path, "OMP_NUM_THREADS": str(child.threads), **child.environ}


def _room_bytes(job: RunJob) -> int:
    return -(-job.inputs.size_bytes // PAGE_BYTES) * PAGE_BYTES


def may_be_followed(child: Child, job: RunJob) -> bool:
    """Return whether another run may follow `job` in `child`, and find nothing of it there.

    What looks for races remembers who touched which byte, and a sanitizer what was freed; a
    failure that was planned may leave something behind.
    """
    return not (child.preload or job.fail_at or child.remembers)


def _results(
    child: Child, reply: Reply, jobs: Sequence[RunJob], outputs: Path, starts: Sequence[int]
) -> tuple[RunResult, ...]:
    """Return how jobs ended in one child, up to the first that did not end well."""
    if reply.problem:
        words = f"{reply.problem}: {reply.words}".rstrip(": ")
        return (RunResult(Status.RUNTIME, words),)
    found = []
    for job, told, at in zip(jobs, reply.results, starts, strict=False):
        found.append(_finished(job, told, outputs, at))
        if found[-1].status is not Status.CORRECT:
            return tuple(found)
    if reply.status != 0 or not reply.is_legible:
        # After its last result too a child may die: of a thread that the region left behind.
        del found[len(jobs) - 1 :]
    if reply.used_mib:
        words = f"{TOO_MUCH_MEMORY} {child.memory_mib} MiB of memory"
        found.append(RunResult(Status.RUNTIME, words))
    elif reply.status is None:
        limit_s = min(child.limit_s, child.most_s)
        found.append(RunResult(Status.TIMEOUT, f"killed after {round(limit_s, 1):g} s"))
    elif not reply.is_legible:
        found.append(RunResult(Status.RUNTIME, OVERWRITTEN))
    elif reply.status != 0 or len(found) < len(jobs):
        # Code 0 too: the region has ended the process by itself.
        found.append(RunResult(Status.RUNTIME, _ending(reply.status, reply.words)))
    return tuple(found)


def _message(job: RunJob, output_at: int) -> dict[str, Any]:
    """Return what a child must know of one job, beside what it shares with the others."""
    return {
        "inputs": str(job.inputs.path),
        "buffers": [
            {**asdict(b), "size_bytes": b.size_bytes, "dtype": b.dtype.str}
            for b in job.inputs.buffers
        ],
        "integers": job.inputs.integers,
        "reals": job.inputs.reals,
        "order": int(job.order),
        "order_seed": job.order_seed,
        "fail_at": job.fail_at,
        "resident": job.resident,
        "timing": asdict(job.timing) if job.timing else None,
        "output_at": output_at,
        "last_at": output_at + _room_bytes(job),
    }


def _finished(job: RunJob, told: dict[str, Any], outputs: Path, start: int) -> RunResult:
    """Return the result of a job that came to its end, by what its child tells."""
    status, reason = _noticed(job, told)
    last_at = start + _room_bytes(job)
    return RunResult(
        status,
        reason,
        Computed(outputs, start, *map(tuple, told["computed"])),
        Computed(outputs, last_at, *map(tuple, told["last"])) if told["last"] else None,
        convert(told["times"], CallTimes | None),
        told["launches"],
        told["reached"],
        tuple((first, count) for first, count in told["touched"]),
        tuple(told["failing"]),
        told["took_s"],
    )


def _noticed(job: RunJob, told: dict[str, Any]) -> tuple[Status, str]:
    """Return whether a job ended well, or else what was noticed of it."""
    if told["races"]:
        more = len(told["races"]) - 1
        reason = f"data race: {told['races'][0]}" + (f" (and {more} more)" if more else "")
        return Status.CORRECTNESS, reason
    if told["changed"]:
        names = ", ".join(told["changed"])
        return Status.CORRECTNESS, f"wrote to {names}, which the original only reads"
    if told["zones"]:
        name, side = told["zones"][0]
        place = "before its first" if side == "before" else "after its last"
        return Status.RUNTIME, f"wrote to '{name}' {place} element"
    if not told["has_mode"]:
        return Status.RUNTIME, "left another floating-point mode behind"
    if told["device_message"] and not job.fail_at:
        return Status.RUNTIME, told["device_message"]
    if told["device_zones"]:
        return Status.RUNTIME, "wrote next to a device allocation"
    if told["leaks"]:
        return Status.RUNTIME, f"{told['leaks']} device allocations are not freed"
    return Status.CORRECT, ""


def _ending(status: int, words: str) -> str:
    """Return in words how a child ended, a sanitizer's report before anything else."""
    report = re.search(r"(?:==\d+==)?(ERROR: AddressSanitizer.*)", words, re.DOTALL)
    undefined = re.search(r"(\S+:\d+:\d+: runtime error: .*)", words)
    if report:
        return "\n".join(report[1].splitlines()[:REPORT_LINES])
    if undefined:
        return undefined[1]
    if os.WIFSIGNALED(status):
        ending = f"died of {signal_name(os.WTERMSIG(status))}"
    else:
        ending = f"ended with exit code {os.waitstatus_to_exitcode(status)}"
    last = "\n".join(words.strip().splitlines()[-3:])
    return f"{ending}: {last}" if last else ending
