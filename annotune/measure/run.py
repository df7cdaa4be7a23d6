"""A compiled variant run in a killable child: what it left, how it ended, how long it took."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

from annotune.measure.children import FORKERS, Reply, outputs_of
from annotune.measure.command import signal_name
from annotune.measure.harness import ENTRY
from annotune.measure.inputs import PAGE_BYTES, Inputs
from annotune.measure.trial import Status

RUN_LIMIT_S = 30.0
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
    are done. With `is_cold` each begins with nothing of its data in a cache. A variant that is
    clearly worse than `best_s`, the best one's seconds per call, is given up and its time is
    censored; 0 means that there is none.
    """

    warm_ups: int = 1
    runs: int = 30
    least_runs: int = 3
    budget_s: float = 0.5
    best_s: float = 0.0
    narrow: float = 0.01
    is_cold: bool = True


@dataclass(frozen=True, slots=True)
class RunJob:
    """One library, one set of inputs, and where the outputs go.

    `environ` is added to the child's environment. `preload` is a library the child is started
    with, such as libasan. `order` and its seed are for libraries that play their threads one
    after another; `fail_at` makes that call of the CUDA run-time library fail, from 1.
    With `resident` the region gets pointers into the memory of CUDA on the CPU, or finds its arrays
    in that of OpenACC. `entry` is the
    library's function. `has_memory` says that its runtime remembers earlier calls. A child that
    holds more than `memory_mib` of memory of its own is killed, with 0 none is. `evictor` is the
    library that empties this processor's caches, needed where runs are timed from cold ones.
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
    entry: str = ENTRY
    has_memory: bool = False
    memory_mib: int = 0
    evictor: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `CORRECT` says only that it ended well: nothing has been compared yet.

    `outputs` is a file that holds, from byte `outputs_at` on and laid out like the inputs, every
    written array as the first call left it; `integers` and `reals` are the scalars after it.
    `last` is the same of the last call that was timed, where that has left anything else.
    `times_s` are seconds per call in the order they were taken; `censored` says that they were
    cut short as clearly worse.
    `launches` counts the CUDA kernels that ran, None where there are none to count.
    `kernel_s` are the seconds in GPU kernels of each of those calls, empty on a CPU. `is_cold` says
    that their data were in no cache, and `waited` for which share of the time some task on this
    machine waited for a processor, None where that is not known. `reached` are the blocks of
    texts with marks that have been run, `touched` the first element and the number of them that
    a watched original has touched of each array.
    """

    status: Status
    reason: str = ""
    outputs: Path = Path()
    outputs_at: int = 0
    integers: tuple[int, ...] = ()
    reals: tuple[float, ...] = ()
    times_s: tuple[float, ...] = ()
    censored: bool = False
    launches: int | None = None
    kernel_s: tuple[float, ...] = ()
    is_cold: bool = False
    waited: float | None = None
    last: Outcome | None = None
    reached: Mapping[str, Sequence[int]] = field(default_factory=dict)
    touched: tuple[tuple[int, int], ...] = ()


def run_checked(job: RunJob) -> Outcome:
    """Return how `job` ended: a crash, a hang, a broken red zone or a race is a value too.

    The outputs are a file in the job's folder.
    """
    job.folder.mkdir(parents=True, exist_ok=True)
    path = job.folder / "output.run"
    with run_in_one_child([job]) as (outcome,):
        if outcome.status is not Status.CORRECT:
            return outcome
        shutil.copyfile(outcome.outputs, path)
        return replace(outcome, outputs=path)


@contextlib.contextmanager
def run_in_one_child(jobs: Sequence[RunJob]) -> Iterator[tuple[Outcome, ...]]:
    """Yield how `jobs` ended, in order, up to the first that did not end well.

    One child runs them all, so they must be of one library and differ only in what is run, not
    in where. A limit is that of each job, and a failure that of the job which ran. The outputs
    are in memory, gone when the context ends.
    """
    starts, size = [], 0
    for job in jobs:
        starts.append(size)
        # Of those that are timed also what the last run leaves, where it is something else.
        size += (2 if job.timing else 1) * _room_bytes(job)
    with outputs_of(size) as (memory, path):
        reply = FORKERS.ask(jobs[0].preload, _task(jobs, starts, size), memory)
        yield _outcomes(reply, jobs, path, starts)


def _room_bytes(job: RunJob) -> int:
    return -(-job.inputs.size_bytes // PAGE_BYTES) * PAGE_BYTES


def may_share_a_child(job: RunJob) -> bool:
    """Return whether another run may follow `job` in its child, and find nothing of it there.

    What looks for races remembers who touched which byte, and a sanitizer what was freed; a
    failure that was planned may leave something behind.
    """
    return not (job.preload or job.fail_at or job.has_memory)


def _task(jobs: Sequence[RunJob], starts: Sequence[int], outputs_bytes: int) -> dict[str, Any]:
    """Return what a forker must know of all jobs of one child."""
    first = jobs[0]
    return {
        "library": str(first.library),
        "entry": first.entry,
        "environ": dict(first.environ),
        "threads": first.threads,
        "limit_s": first.limit_s,
        "memory_mib": first.memory_mib,
        "outputs_bytes": outputs_bytes,
        "jobs": [_message(job, at) for job, at in zip(jobs, starts, strict=True)],
    }


def _outcomes(
    reply: Reply, jobs: Sequence[RunJob], outputs: Path, starts: Sequence[int]
) -> tuple[Outcome, ...]:
    """Return how jobs ended in one child, up to the first that did not end well."""
    first = jobs[0]
    if reply.problem:
        words = f"{reply.problem}: {reply.words}".rstrip(": ")
        return (Outcome(Status.RUNTIME, words),)
    found = []
    for job, result, at in zip(jobs, reply.results, starts, strict=False):
        found.append(_finished(result, outputs, at, is_failure_planned=job.fail_at > 0))
        if "last" in result:
            last = Outcome(
                Status.CORRECT,
                outputs=outputs,
                outputs_at=at + _room_bytes(job),
                integers=tuple(result["last"]["integers"]),
                reals=tuple(result["last"]["reals"]),
            )
            found[-1] = replace(found[-1], last=last)
        if found[-1].status is not Status.CORRECT:
            return tuple(found)
    if reply.status != 0:
        # After its last result too a child may die: of a thread that the region left behind.
        del found[len(jobs) - 1 :]
    if reply.used_mib:
        words = f"{TOO_MUCH_MEMORY} {first.memory_mib} MiB of memory"
        found.append(Outcome(Status.RUNTIME, words))
    elif reply.status is None:
        found.append(Outcome(Status.TIMEOUT, f"killed after {first.limit_s:g} s"))
    elif not reply.is_legible:
        del found[len(jobs) - 1 :]
        found.append(Outcome(Status.RUNTIME, OVERWRITTEN))
    elif reply.status != 0 or len(found) < len(jobs):
        # Code 0 too: the region has ended the process by itself.
        found.append(Outcome(Status.RUNTIME, _ending(reply.status, reply.words)))
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
        "evictor": job.evictor,
        "output_at": output_at,
        "last_at": output_at + _room_bytes(job),
    }


def _finished(
    result: dict[str, Any], outputs: Path, outputs_at: int, is_failure_planned: bool
) -> Outcome:
    """Return the outcome of a job that ended well, by what its child reports."""
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
    elif not result["has_mode"]:
        status, reason = Status.RUNTIME, "left another floating-point mode behind"
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
        outputs_at,
        tuple(result["integers"]),
        tuple(result["reals"]),
        tuple(result.get("times_s", ())),
        result.get("censored", False),
        result["launches"],
        tuple(result.get("kernel_s", ())),
        result.get("is_cold", False),
        result.get("waited"),
        reached=result["reached"],
        touched=tuple((first, count) for first, count in result["touched"]),
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
