"""What a process does for a run, this one or a worker: check programs, and time them in turns.

Workers elsewhere are sent plain values alone, from which they make the checker of a region.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from annotune import __version__
from annotune.analysis.analyse import analyse
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.frozen import dataclass
from annotune.ir.region import Region, SourceFile
from annotune.measure.check import Checker
from annotune.measure.command import run_command
from annotune.measure.compile import COMPILE_LIMIT_S, KINDS
from annotune.measure.machine import (
    VISIBLE_GPUS,
    Gpu,
    NoGpu,
    exclusive,
    find_gpu,
    foreign_processes,
    lock_folder,
    memory_limit_mib,
)
from annotune.measure.oracle import Oracle, Pace
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program, compile_ahead, compile_job_of
from annotune.measure.run import RUN_LIMIT_S, Child, RunJob, TimingPlan, run_in_one_child
from annotune.measure.timing import (
    FEWEST_ROUNDS,
    MOST_ROUNDS,
    Turn,
    Turns,
    share_waited,
    take_turns,
    waited_s,
)
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.measure.trial import Status, Trial

# One turn: a few runs within a time that lets the next one come soon.
# Where the first run of a child takes longer than `ALONE_S` it is the one that counts.
ALONE_S = 0.2
TURN = TimingPlan(warm_ups=1, runs=20, least_runs=1, budget_s=0.04, once_s=ALONE_S)
# The first run of a child warms it up already; where one takes long that must do.
LONG_RUN_S = 0.01


@dataclass(frozen=True)
class Contestant:
    """A program that was compiled and found right, and its time in the search.

    `number` is its place in the listing, which breaks ties; None for the original and its like,
    which can win nothing. It takes part in so many `rounds` at most; one that `is_spare` in none
    where there is no time for all. On a GPU its kernels are timed, and whole calls with their
    copies where it `is_whole`.
    """

    name: str
    program: Program
    time_s: float
    threads: int
    number: int | None = None
    rounds: int = MOST_ROUNDS
    is_whole: bool = False
    is_spare: bool = False


@dataclass(frozen=True)
class Rounds:
    """The turns of each contestant, and on which device they were taken, where one is named.

    In a share `waited` of the time some task of that machine waited for a processor; None where
    that is not known.
    """

    turns: tuple[Turns, ...]
    waited: float | None = None
    device: str = ""


def take_rounds(
    oracle: Oracle,
    contestants: Sequence[Contestant],
    plan: CheckPlan,
    budget_s: float,
    fewest: int = FEWEST_ROUNDS,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Rounds:
    """Return the turns of the contestants at the first sizes, for about `budget_s` seconds.

    However long they take, there are `fewest` rounds.
    """
    jobs = [(*job_of(oracle, one, plan), one.is_whole) for one in contestants]
    until = time.monotonic() + budget_s

    def is_over(next_s: float) -> bool:
        return is_stopped() or time.monotonic() + next_s >= until

    begin, waited = time.perf_counter(), waited_s()
    limits = [one.rounds for one in contestants]
    spare = [number for number, one in enumerate(contestants) if one.is_spare]
    turns = take_turns(limits, lambda number: _turn(*jobs[number]), is_over, fewest, spare)
    return Rounds(turns, share_waited(waited, time.perf_counter() - begin))


def _turn(child: Child, job: RunJob, is_whole: bool) -> Turn:
    begin = time.monotonic()
    with run_in_one_child(child, [job]) as (outcome,):
        pass  # what it computes is known to be right
    if outcome.status is not Status.CORRECT or outcome.times is None:
        return Turn(0.0, outcome.reason or "no run was timed")
    times = outcome.times
    # The least of them: what other work on the machine adds is never negative. Source: J. Chen and
    # J. Revels, "Robust benchmarking in noisy environments", 2016, arXiv:1608.04295.
    taken_s = min(times.times_s if is_whole else times.tuned_s)
    return Turn(taken_s, whole_s=time.monotonic() - begin)


def job_of(oracle: Oracle, one: Contestant, plan: CheckPlan) -> tuple[Child, RunJob]:
    """Return the library of a contestant in a child, and a timed run of it at the first sizes."""
    assert plan.timing is not None
    job = compile_job_of(one.program, one.program.kind, oracle, arch=plan.arch)
    built = oracle.compile(job)
    reference = oracle.reference(plan.sizes[0], plan.seed)
    warm_ups = TURN.warm_ups if one.time_s < LONG_RUN_S else 0
    is_cold = plan.timing.is_cold
    timing = replace(TURN, warm_ups=warm_ups, is_cold=is_cold, evictor=oracle.evictor())
    environ = {**KINDS[one.program.kind].environ, **plan.environ}
    limit_s = max(RUN_LIMIT_S, plan.limits.run_s)
    child = Child(built.path, built.entry, one.threads, limit_s, environ)
    return child, RunJob(reference.inputs, timing)


PREFIX = "annotune-run-"
_LOCK = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder that goes at the end, or with the next run where this one is killed."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # Locked before it has the name that other runs look for.
        lock = os.open(folder / "new-lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.rename(folder / "new-lock", folder / _LOCK)
            yield folder
        finally:
            os.close(lock)


def _remove_abandoned(place: Path) -> None:
    """Remove our user's scratch folders in `place` whose process is no more.

    A lock of the file system ends with the process that holds it.
    """
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


_FOLDER_FLAG = re.compile(r"(-I|-iquote)(/.*)")


@dataclass(frozen=True)
class RegionParcel:
    """One region, and all that its checker is made from.

    `flags` are those of the oracle, `tools` what `tools_text` says of the run's compilers.
    `headers` are the user's own that the source includes, by absolute path: no file system has to
    be shared. Workers on the run's own machine find the libraries that it has compiled in `folder`,
    which is empty for others. `name` is there once. A worker compares with a sample of an original
    whose `pace` says that it takes long.
    """

    name: str
    source: SourceFile
    region: Region
    flags: tuple[str, ...]
    tools: str
    headers: Mapping[str, str]
    folder: str = ""
    pace: Pace | None = None


def parcel_of(oracle: Oracle, is_here: bool) -> RegionParcel:
    """Return what a worker on this machine, or on another one, makes an oracle's checker from."""
    return RegionParcel(
        uuid.uuid4().hex,
        oracle.source,
        oracle.region,
        oracle.flags,
        tools_text(oracle.tools),
        {} if is_here else _headers(oracle),
        str(oracle.folder) if is_here else "",
        oracle.pace,
    )


def tools_text(tools: Toolchains) -> str:
    """Return what must be the same wherever the trials of one run are compiled."""
    found = [tools.role(role) for role in ("c", "cxx", "nvcc")]
    versions = (tool.version if tool is not None else "none" for tool in found)
    return f"annotune {__version__}; " + "; ".join(versions)


def _headers(oracle: Oracle) -> dict[str, str]:
    """Return the texts of what the source includes and no system folder holds."""
    compiler = oracle.tools.c
    assert compiler is not None, "the original has been compiled"
    path = oracle.folder / "origin.c"
    path.write_bytes(oracle.source.text.encode("utf-8", "surrogateescape"))
    command = [*compiler.command, *compiler.flags, *oracle.flags, "-MM", str(path)]
    finished = run_command(command, COMPILE_LIMIT_S)
    # A rule of make: the goal, a colon, and files with a backslash before a space in a name.
    _, _, listed = finished.output.partition(":")
    names = re.findall(r"(?:\\[ #]|\$\$|[^\s\\$])+", listed) if finished.ok else []
    files = [Path(re.sub(r"\\([ #])", r"\1", name).replace("$$", "$")) for name in names]
    return {
        str(file.absolute()): file.read_bytes().decode("utf-8", "surrogateescape")
        for file in files
        if file != path
    }


class _Checkers:
    """The checker of the region at hand in this worker process; that of the one before is dropped.

    Regions come one after the other. Safe for many threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._name = ""
        self._checker: Checker | None = None
        self._open = ExitStack()

    def of(self, parcel: RegionParcel, tools: Toolchains) -> Checker:
        """Return the checker of `parcel`, made where it is not the one at hand."""
        with self._lock:
            if self._checker is None or self._name != parcel.name:
                self._end()
                self._checker = self._made(parcel, tools)
                self._name = parcel.name
            return self._checker

    def close(self) -> None:
        """Drop the checker at hand, with its folder."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        self._checker = None
        self._open.close()

    def _made(self, parcel: RegionParcel, tools: Toolchains) -> Checker:
        if parcel.folder:
            scratch = Path(parcel.folder) / f"worker-{os.getpid()}"
            scratch.mkdir()
            # Checks look here for what is compiled; the same machine makes the same of a text.
            (scratch / "compiled").symlink_to(Path(parcel.folder) / "compiled")
        else:
            scratch = self._open.enter_context(scratch_folder())
            self._open.enter_context(_removed_after_us(scratch))
        flags = _with_headers(parcel, scratch / "headers")
        # What is known of a region holds objects of isl, which do not travel.
        analysis = analyse(parcel.region)
        oracle = Oracle(parcel.source, analysis, tools, scratch, flags)
        oracle.pace = parcel.pace
        return Checker(oracle)


CHECKERS = _Checkers()
# While modules are there still: what ends with the interpreter ends without them.
atexit.register(CHECKERS.close)


# Waits for the end of its input, which is that of the process that began it, however that ends.
_REMOVER = "import shutil, sys; sys.stdin.read(); shutil.rmtree(sys.argv[1], ignore_errors=True)"


@contextmanager
def _removed_after_us(folder: Path) -> Iterator[None]:
    """Have a folder removed when this process ends: engines kill their workers."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", _REMOVER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):
        yield


def _with_headers(parcel: RegionParcel, root: Path) -> tuple[str, ...]:
    """Write an parcel's headers below `root`, and return the flags with which they are found."""
    for name, text in parcel.headers.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    if not parcel.headers:
        return parcel.flags
    # The same tree below another root, so that headers find each other as they did.
    moved = (_FOLDER_FLAG.fullmatch(flag) for flag in parcel.flags)
    return (*(f"{one[1]}{root}{one[2]}" for one in moved if one), *parcel.flags)


UNFIT_WORKER = Template(
    "AT619",
    "a worker on '{host}' cannot take part in this run: {reason}",
    "give every worker the annotune, the compilers and the devices of the run",
)

SHARED_WITH = "the GPU was shared with"
"""Whose processes computed on the GPU of a trial, in its facts."""


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """Where a worker runs: its machine, its GPU, and what `tools_text` says of its compilers."""

    host: str
    gpu: Gpu | NoGpu
    tools: str


def place() -> WorkerPlace:
    """Return where this process runs. Its GPU is the first that its environment lets it see."""
    return WorkerPlace(socket.gethostname(), find_gpu(), tools_text(find_toolchains(os.environ)))


@dataclass(frozen=True, slots=True)
class Greeting:
    """Asks a worker where it runs."""

    def run(self, timeout_s: float) -> WorkerPlace:
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
        limits = self.plan.limits
        limits = replace(limits, run_s=min(timeout_s, limits.run_s))
        plan = replace(self.plan, limits=limits)
        start = time.monotonic()
        trial = self.checker.check(self.program, plan)
        return replace(trial, compile_s=None, run_s=time.monotonic() - start)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """A program to be compiled and checked by any worker, and timed where `plan` says so."""

    parcel: RegionParcel
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
            checker = _checker(self.parcel, own)
            plan, gpu = self.plan, None
            if not self.parcel.folder:
                limits = replace(plan.limits, memory_mib=_memory_mib())
                plan = replace(plan, limits=limits)
            if KINDS[self.program.kind].is_on_gpu:
                gpu = _gpu_of(own)
                # Which GPU is its own, the worker's environment says.
                kept = {k: v for k, v in plan.environ.items() if k != VISIBLE_GPUS}
                plan = replace(plan, device_name=gpu.name, arch=gpu.arch, environ=kept)
            start = time.monotonic()
            # Before the GPU is held: others measure on it meanwhile.
            compile_ahead([self.program], checker.oracle, plan.limits.compile_s, plan.arch)
            compile_s = time.monotonic() - start
            with _held(gpu):
                trial = CheckHere(checker, self.program, plan).run(timeout_s)
            others = _others_on(gpu) if gpu is not None else ""
            facts = {**trial.facts, **({SHARED_WITH: others} if others else {})}
            return replace(trial, compile_s=compile_s, facts=facts)


@dataclass(frozen=True, slots=True)
class FinalsJob:
    """Programs that were found right, to be timed in turns by one worker on its GPU."""

    parcel: RegionParcel
    contestants: tuple[Contestant, ...]
    plan: CheckPlan
    budget_s: float
    fewest: int = FEWEST_ROUNDS

    def run(self, timeout_s: float) -> Rounds:
        """Return their turns.

        Raises:
            AnnotuneError: This process is no worker for it.
        """
        own = place()
        with _unfit_is_refused(own):
            oracle = _checker(self.parcel, own).oracle
            gpu = _gpu_of(own)
            plan = replace(self.plan, arch=gpu.arch, environ={})
            with _held(gpu):
                taken = take_rounds(oracle, self.contestants, plan, self.budget_s, self.fewest)
            return replace(taken, device=gpu.name)


def _checker(parcel: RegionParcel, own: WorkerPlace) -> Checker:
    if own.tools != parcel.tools:
        raise _unfit(own, f"it has '{own.tools}', and the run '{parcel.tools}'")
    return CHECKERS.of(parcel, find_toolchains(os.environ))


def _gpu_of(own: WorkerPlace) -> Gpu:
    if isinstance(own.gpu, NoGpu):
        raise _unfit(own, f"it has no GPU: {own.gpu.reason}")
    return own.gpu


def _unfit(own: WorkerPlace, reason: str) -> AnnotuneError:
    return AnnotuneError.of(UNFIT_WORKER.at(Span("--workers", 1, 1), host=own.host, reason=reason))


@contextmanager
def _unfit_is_refused(own: WorkerPlace) -> Iterator[None]:
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
