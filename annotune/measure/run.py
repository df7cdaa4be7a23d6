"""A compiled variant run in a killable child: what it left, how it ended, how long it took."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import annotune
from annotune.measure.command import signal_name
from annotune.measure.inputs import Inputs
from annotune.measure.trial import Status

RUN_LIMIT_S = 30.0
TOO_MUCH_MEMORY = "used more than"
WORDS_LIMIT = 8000
"""How many characters of what a child printed are read."""

REPORT_LINES = 6
"""How many lines of a sanitizer's report a failed trial keeps: what, where, and the access."""


class Order(IntEnum):
    """In which order a library plays its threads, as ``runtime/order.h`` numbers them."""

    FORWARD = 0
    REVERSE = 1
    SHUFFLED = 2


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """How long to measure: until `budget_s` seconds are spent or `runs` runs are done.

    At least `least_runs` are done. A variant that is clearly worse than `best_s`, the best
    one's seconds per call, is given up and its time is censored; 0 means that there is none.
    """

    warm_ups: int = 1
    runs: int = 20
    least_runs: int = 3
    budget_s: float = 0.5
    best_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RunJob:
    """One library, one set of inputs, and where the outputs go.

    `environ` is added to the child's environment. `preload` is a library the child is started
    with, such as libasan. `order` and its seed are for libraries that play their threads one
    after another; `fail_at` makes that call of the CUDA run-time library fail, from 1.
    With `resident` the region gets pointers into the memory of CUDA on the CPU. A child that holds
    more than `memory_mib` of memory of its own is killed, with 0 none is.
    """

    library: Path
    inputs: Inputs
    folder: Path
    threads: int = 1
    limit_s: float = RUN_LIMIT_S
    timing: TimingPlan | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    preload: str = ""
    order: Order = Order.FORWARD
    order_seed: int = 1
    fail_at: int = 0
    resident: bool = False
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `CORRECT` says only that it ended well: nothing has been compared yet.

    `outputs` is a file laid out like the inputs, with every written array as the first call
    left it; `integers` and `reals` are the scalars after it. `times_s` are seconds per call
    in the order they were taken; `censored` says that they were cut short as clearly worse.
    `launches` counts the CUDA kernels that ran, None where there are none to count.
    `kernel_s` are the seconds in GPU kernels of each of those calls, empty on a CPU.
    """

    status: Status
    reason: str = ""
    outputs: Path = Path()
    integers: tuple[int, ...] = ()
    reals: tuple[float, ...] = ()
    times_s: tuple[float, ...] = ()
    censored: bool = False
    launches: int | None = None
    kernel_s: tuple[float, ...] = ()


def run_checked(job: RunJob) -> Outcome:
    """Return how `job` ended: a crash, a hang, a broken red zone or a race is a value too."""
    job.folder.mkdir(parents=True, exist_ok=True)
    files = {name: job.folder / f"{name}.run" for name in ("output", "result", "words")}
    for path in files.values():
        path.unlink(missing_ok=True)
    limit_s = job.limit_s
    message = {
        "library": str(job.library),
        "inputs": str(job.inputs.path),
        "buffers": [
            {**asdict(b), "size_bytes": b.size_bytes, "dtype": b.dtype.str}
            for b in job.inputs.buffers
        ],
        "integers": job.inputs.integers,
        "reals": job.inputs.reals,
        "environ": dict(job.environ),
        "threads": job.threads,
        "order": int(job.order),
        "order_seed": job.order_seed,
        "fail_at": job.fail_at,
        "resident": job.resident,
        "limit_s": limit_s,
        "memory_mib": job.memory_mib,
        "timing": asdict(job.timing) if job.timing else None,
        **{name: str(path) for name, path in files.items()},
    }
    with _children.lent(job.preload) as forker:
        reply = forker.ask(message)
    words = _words(files["words"])
    if reply is None:
        return Outcome(Status.RUNTIME, f"the measuring process ended: {words}".rstrip(": "))
    if reply["used_mib"]:
        return Outcome(Status.RUNTIME, f"{TOO_MUCH_MEMORY} {job.memory_mib} MiB of memory")
    if reply["status"] is None:
        return Outcome(Status.TIMEOUT, f"killed after {limit_s:g} s")
    if reply["status"] != 0:
        return Outcome(Status.RUNTIME, _ending(reply["status"], words))
    result = json.loads(files["result"].read_text())
    return _finished(result, files["output"], is_failure_planned=job.fail_at > 0)


def _finished(result: dict[str, Any], outputs: Path, is_failure_planned: bool) -> Outcome:
    """Return the outcome of a child that ended well, by what it reports."""
    status, reason = Status.CORRECT, ""
    if result["races"]:
        more = len(result["races"]) - 1
        reason = f"data race: {result['races'][0]}" + (f" (and {more} more)" if more else "")
        status = Status.CORRECTNESS
    elif result["changed"]:
        names = ", ".join(result["changed"])
        status, reason = Status.CORRECTNESS, f"wrote to {names}, which the original only reads"
    elif result["zones"]:
        name, side = result["zones"][0]
        place = "before its first" if side == "before" else "after its last"
        status, reason = Status.RUNTIME, f"wrote to '{name}' {place} element"
    elif result["device_message"] and not is_failure_planned:
        status, reason = Status.RUNTIME, result["device_message"]
    elif result["device_zones"]:
        status, reason = Status.RUNTIME, "wrote next to a device allocation"
    elif result["leaks"]:
        status, reason = Status.RUNTIME, f"{result['leaks']} device allocations are not freed"
    return Outcome(
        status,
        reason,
        outputs,
        tuple(result["integers"]),
        tuple(result["reals"]),
        tuple(result.get("times_s", ())),
        result.get("censored", False),
        result["launches"],
        tuple(result.get("kernel_s", ())),
    )


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


def _words(path: Path) -> str:
    try:
        return path.read_bytes()[:WORDS_LIMIT].decode("utf-8", "replace")
    except OSError:
        return ""


class _Forker:
    """The client's end of one `annotune.measure.forker` process."""

    def __init__(self, preload: str) -> None:
        environ = dict(os.environ)
        root = str(Path(annotune.__file__).parent.parent)
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environ.get("PYTHONPATH")]))
        # A process with threads must not fork, and numpy's BLAS starts some on import.
        environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        if preload:
            environ["LD_PRELOAD"] = preload
            # Python leaks by design; an abort would hide the report behind a core dump.
            environ["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0:exitcode=86"
            environ["UBSAN_OPTIONS"] = "halt_on_error=1:exitcode=86"
            environ["PYTHONMALLOC"] = "malloc"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "annotune.measure.forker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            text=True,
            start_new_session=True,
        )

    def ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the forker's reply to one job, or None when it has ended itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else None

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End the process and the child it may be waiting for."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            # At the end of its input it kills its child and leaves.
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


class _Children:
    """The idle forkers of this process, by what they preload. Safe for many threads."""

    def __init__(self) -> None:
        self._idle: dict[str, queue.SimpleQueue[_Forker]] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lent(self, preload: str) -> Any:
        with self._lock:
            idle = self._idle.setdefault(preload, queue.SimpleQueue())
        try:
            forker = idle.get_nowait()
        except queue.Empty:
            forker = _Forker(preload)
        try:
            yield forker
        except BaseException:
            forker.close()
            raise
        if forker.is_alive:
            idle.put(forker)
        else:
            forker.close()

    def close(self) -> None:
        """End every idle forker."""
        for idle in self._idle.values():
            with contextlib.suppress(queue.Empty):
                while True:
                    idle.get_nowait().close()


_children = _Children()
atexit.register(_children.close)
