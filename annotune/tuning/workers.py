"""Who does the jobs of a run: processes of this machine, or those that Parsl starts elsewhere."""

from __future__ import annotations

import importlib.util
import math
import multiprocessing
import os
import pickle
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import CancelledError, Future, TimeoutError
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from pebble import ProcessExpired, ProcessPool

from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.measure.forker import wake_workers
from annotune.measure.machine import Gpu, NoGpu, find_gpus, visible_alone
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.timing import Turns
from annotune.measure.trial import Status, Trial
from annotune.tuning.config import Stop, Wish
from annotune.tuning.jobs import (
    CheckJob,
    Contestant,
    FinalsJob,
    Greeting,
    RegionParcel,
    Rounds,
    WorkerPlace,
    parcel_of,
)

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


def perform(packed: bytes, timeout_s: float) -> bytes:
    """Do a job in this process, and return its value and what it raised; what engines call.

    All is packed here and not by the engine: what cannot be packed or unpacked ends the thread with
    which an engine sends and takes what comes, and all that is under way is waited for in vain.
    """
    try:
        return pickle.dumps((pickle.loads(packed).run(timeout_s), None))
    except Exception as error:
        error.add_note(f"in a worker:\n{traceback.format_exc()}")
        return pickle.dumps((None, error))


def watched(future: Future[bytes], deaths: tuple[type[BaseException], ...]) -> Future[Any]:
    """Return the future of what `future` brings packed; an engine's words for a death are ours."""
    own: Future[Any] = Future()

    def pass_on(done: Future[bytes]) -> None:
        if done.cancelled():  # its workers were closed
            own.cancel()
            return
        problem = done.exception()
        if isinstance(problem, deaths):
            problem = WorkerDied(str(problem))
        found = None
        if problem is None:
            try:
                found, problem = pickle.loads(done.result())
            except BaseException as error:
                problem = error
        if problem is None:
            own.set_result(found)
        else:
            own.set_exception(problem)

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
    """A process for each GPU of `gpus`, or for each None in it; `environ` is set in all."""

    def __init__(
        self, gpus: Sequence[Gpu | None], environ: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.slots = len(gpus)
        seen = ({} if gpu is None else visible_alone(gpu) for gpu in gpus)
        self._each = [_Process({**environ, **own}) for own in seen]
        self._lock = threading.Lock()
        self._is_closed = threading.Event()
        threading.Thread(target=self._keep_awake, daemon=True).start()

    def _keep_awake(self) -> None:
        """Wake workers that something under test has stopped: nobody else looks after them."""
        while not self._is_closed.wait(WAKE_EVERY_S):
            wake_workers()

    def submit(self, job: Job[T], timeout_s: float) -> Future[T]:
        """Have a job done by the process with the least to do, and where fewest jobs have died."""
        packed = pickle.dumps(job)
        with self._lock:
            one = min(self._each, key=lambda each: (each.load, each.deaths))
            one.load += 1
            future = one.submit(packed, timeout_s)
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

    def submit(self, packed: bytes, timeout_s: float) -> Future[Any]:
        """Have a job done after those that were submitted before it."""
        try:
            future = self._pool.schedule(perform, args=[packed, timeout_s])
        except RuntimeError:  # its process was killed while it had nothing to do
            self._pool.stop()  # type: ignore[no-untyped-call]  # Pebble's
            self._pool = self._begun()
            future = self._pool.schedule(perform, args=[packed, timeout_s])
        return watched(future, (ProcessExpired, RuntimeError))

    def close(self) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]  # Pebble's
        self._pool.join()


BAD_CONFIG = Template(
    "AT618",
    "'{path}' configures no workers: {reason}",
    "{hint}",
)
_WHAT = (
    "the file assigns a parsl.Config, or a function that returns one, to `config`; "
    "annotations/clusters/ has examples"
)


class ParslWorkers:
    """The workers that `config`, a parsl.Config, describes, on a cluster.

    Parsl is imported here alone, when it is used. The configuration is the user's own Python, the
    only file that annotune runs.
    """

    def __init__(self, config: Any) -> None:
        from parsl.app.python import PythonApp
        from parsl.dataflow.dflow import DataFlowKernel
        from parsl.executors.high_throughput.errors import ManagerLost, WorkerLost

        self.slots = slots_of(config)
        self._deaths = (ManagerLost, WorkerLost)
        self._kernel = DataFlowKernel(config)
        self._app = PythonApp(perform, data_flow_kernel=self._kernel)  # type: ignore[no-untyped-call]  # Parsl's

    def submit(self, job: Job[T], timeout_s: float) -> Future[T]:
        """Have a job done wherever Parsl sends it."""
        return watched(self._app(pickle.dumps(job), timeout_s), self._deaths)

    def close(self) -> None:
        """Give back what the cluster has lent."""
        self._kernel.cleanup()


def parsl_workers(path: Path) -> ParslWorkers:
    """Return the workers that the file at `path` describes, which is run as Python.

    Raises:
        AnnotuneError: Parsl is not installed, or the file describes no workers.
    """
    if importlib.util.find_spec("parsl") is None:
        raise _bad(path, "Parsl is not installed", "pip install 'annotune[cluster]'")
    config = read_config(path)
    try:
        return ParslWorkers(config)
    except Exception as error:
        raise _bad(path, f"Parsl cannot start them: {_words(error)}") from error


def read_config(path: Path) -> Any:
    """Return the parsl.Config of the file at `path`, which is run as Python.

    Raises:
        AnnotuneError: It cannot be read or run, or has no such value.
    """
    from parsl.config import Config

    if not path.is_file():
        raise _bad(path, "there is no such file")
    spec = importlib.util.spec_from_file_location("annotune_workers", path.absolute())
    if spec is None or spec.loader is None:
        raise _bad(path, "its name does not end with .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        config = getattr(module, "config", None)
        config = config() if callable(config) and not isinstance(config, Config) else config
    except Exception as error:
        raise _bad(path, _words(error)) from error
    if not isinstance(config, Config):
        raise _bad(path, f"its `config` is {type(config).__name__} and no parsl.Config")
    return config


def slots_of(config: Any) -> int:
    """Return how many jobs the workers of a parsl.Config do at once.

    Raises:
        ValueError: It does not say.
    """
    return sum(_workers_of(executor) for executor in config.executors)


def _workers_of(executor: Any) -> int:
    """Return how many jobs an executor runs at once when all that it may ask for is there.

    Raises:
        ValueError: The file leaves that to the nodes.
    """
    if hasattr(executor, "max_threads"):
        return int(executor.max_threads)
    # Parsl itself takes one for the answer where nothing tells.
    is_told = math.isfinite(getattr(executor, "max_workers_per_node", 1))
    if not is_told and not getattr(executor, "available_accelerators", ()):
        raise ValueError(f"'{executor.label}' has neither max_workers_per_node nor GPUs")
    provider = executor.provider
    return int(provider.max_blocks * provider.nodes_per_block * executor.workers_per_node)


def _words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ")


def _bad(path: Path, reason: str, hint: str = _WHAT) -> AnnotuneError:
    where = Span(str(path), 1, 1)
    return AnnotuneError.of(BAD_CONFIG.at(where, path=path, reason=reason, hint=hint))


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


@dataclass
class Crew:
    """The workers of a run, the first of which is at `home`: what has its GPU's model may win.

    `is_here` says that they are on the machine that leads the run.
    """

    workers: Workers
    home: WorkerPlace
    is_here: bool
    _parcels: MutableMapping[Oracle, RegionParcel] = field(default_factory=WeakKeyDictionary)
    _lock: Lock = field(default_factory=Lock)

    @property
    def slots(self) -> int:
        return self.workers.slots

    def check(self, oracle: Oracle, program: Program, plan: CheckPlan, timeout_s: float) -> Trial:
        """Return the fate of a program of an oracle's region, and where it was timed.

        A worker that ends takes nothing with it but the work it had done on this one.
        """
        job = CheckJob(self._parcel(oracle), program, plan)
        for chance in range(1, CHANCES + 1):
            try:
                return self.workers.submit(job, timeout_s).result()
            except WorkerDied as death:
                reason = f"{chance} workers ended while they ran it; the last: {death}"
        return Trial(program.target, dict(program.config), Status.RUNTIME, reason=reason)

    def take_rounds(
        self,
        oracle: Oracle,
        contestants: Sequence[Contestant],
        plan: CheckPlan,
        budget_s: float,
        fewest: int,
    ) -> Rounds:
        """Return the turns of the contestants, taken on one GPU of the home model.

        None of them has any where no worker on such a one could be had.
        """
        job = FinalsJob(self._parcel(oracle), tuple(contestants), plan, budget_s, fewest)
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

    def _parcel(self, oracle: Oracle) -> RegionParcel:
        with self._lock:
            if oracle not in self._parcels:
                self._parcels[oracle] = parcel_of(oracle, self.is_here)
            return self._parcels[oracle]


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
        workers = parsl_workers(wish.config)
    try:
        wait()
        yield Crew(workers, _home(workers, stop), wish.config is None)
    finally:
        workers.close()


def _home(workers: Workers, stop: Stop) -> WorkerPlace:
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
