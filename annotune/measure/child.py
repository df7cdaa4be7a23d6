"""What happens inside a measuring child: load a library, run it, time it, store what it left.

Imports only what this needs: the process is forked again and again.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from annotune.measure.buffers import GuardedArray
from annotune.measure.sampling import Clock

Job = dict[str, Any]

ON_THIS_CPU = {"ACC_DEVICE_TYPE": "host"}
"""Builds hold no device code, so an OpenACC runtime that knows a GPU must not look for it."""

PINNED = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads"}
"""While it is timed, a thread stays where it is, and where its data are in the caches."""

PINNING = (*PINNED, "GOMP_CPU_AFFINITY", "KMP_AFFINITY")
"""Where the user has set one of these, it is the user who says where threads run."""

OUTPUT_ROOM_BYTES = 64 << 20
"""How much a variant may write to files beyond its outputs, such as what it prints."""


def run_jobs(task: Job, tell: Callable[[str], None]) -> None:
    """Run the jobs of `task` in this process, in order; all that a variant does happens here.

    An empty line is told before each job, so that it is known which one a crash belongs to, and
    its result after it.
    """
    _restrain(task)
    os.environ.update(ON_THIS_CPU)
    os.environ.update(task["environ"])
    os.environ["OMP_NUM_THREADS"] = str(task["threads"])
    is_timed = any(job["timing"] for job in task["jobs"])
    # Not the others: children that run at once would all be bound to the first processor.
    if is_timed and not any(name in os.environ for name in PINNING):
        os.environ.update(PINNED)
    library: ctypes.CDLL | None = None
    for job in task["jobs"]:
        # What earlier jobs printed says nothing of this one.
        os.ftruncate(1, 0)
        os.lseek(1, 0, os.SEEK_SET)
        tell("")
        library = library or ctypes.CDLL(task["library"])
        tell(json.dumps(_run(library, task["entry"], job)))


def _run(library: ctypes.CDLL, entry: str, job: Job) -> Job:
    """Return what one job has to tell, with its outputs stored."""
    pristine = _pristine(job)
    arrays = _arrays(pristine)
    _set_order(library, job)
    call = _Call(library, job, arrays, entry)
    launched = _launches(library) or 0
    for array in arrays if _POISON else ():
        array.mark_zones(_POISON)
    start = time.perf_counter()
    call()
    first_s = time.perf_counter() - start
    for array in arrays if _UNPOISON else ():
        array.mark_zones(_UNPOISON)
    result: Job = {"first_s": first_s, "integers": list(call.integers), "reals": list(call.reals)}
    result["zones"] = _broken_zones(job, arrays)
    result["changed"] = _changed_inputs(job, arrays, pristine)
    result["races"] = _races(library)
    _store(job, arrays)
    if job["timing"]:
        written = [buffer["is_written"] for buffer in job["buffers"]]
        clock = Clock(library, job["timing"], pristine, written, job["evictor"])

        def another() -> _Call:
            return _Call(library, job, _arrays(pristine), entry)

        result.update(clock.times(call, first_s, another))
        result["zones"] = result["zones"] or _broken_zones(job, arrays)
    call.free()
    launches = _launches(library)
    result["launches"] = None if launches is None else launches - launched
    result.update(_device_words(library))
    return result


def _arrays(pristine: list[Any]) -> list[GuardedArray]:
    """Return arrays of our own with the inputs in them."""
    arrays = [GuardedArray(values.dtype, values.size) for values in pristine]
    for array, values in zip(arrays, pristine, strict=True):
        array.values[:] = values
    return arrays


class _Call:
    """The library's entry with its arguments; each call starts from the same scalars.

    With `resident` data the entry gets pointers to memory of CUDA on the CPU, into which the
    arrays are copied before a call and from which they are copied back after it.
    """

    def __init__(
        self, library: ctypes.CDLL, job: Job, arrays: list[GuardedArray], entry: str
    ) -> None:
        self._entry = getattr(library, entry)
        self._entry.restype = None
        self._arrays = arrays
        self._device = self._allocated(library, arrays) if job["resident"] else []
        starts = [
            address - buffer["first"] * array.values.itemsize
            for address, array, buffer in zip(
                self._device or [a.address for a in arrays], arrays, job["buffers"], strict=True
            )
        ]
        self._pointers = (ctypes.c_void_p * max(1, len(starts)))(*starts)
        self._start = (list(job["integers"]), list(job["reals"]))
        self.integers = (ctypes.c_longlong * max(1, len(self._start[0])))(*self._start[0])
        self.reals = (ctypes.c_double * max(1, len(self._start[1])))(*self._start[1])

    def _allocated(self, library: ctypes.CDLL, arrays: list[GuardedArray]) -> list[int]:
        allocate = library.annotune_cpu_device_malloc
        allocate.restype = ctypes.c_void_p
        self._free = library.annotune_cpu_device_free
        return [allocate(ctypes.c_size_t(max(8, a.values.nbytes))) for a in arrays]

    def free(self) -> None:
        """Give the device memory back, so that what is left is the variant's own."""
        for address in self._device:
            self._free(ctypes.c_void_p(address))
        self._device = []

    @property
    def values(self) -> list[Any]:
        return [array.values for array in self._arrays]

    def restore(self) -> None:
        self.integers[: len(self._start[0])] = self._start[0]
        self.reals[: len(self._start[1])] = self._start[1]

    def __call__(self) -> None:
        for address, array in zip(self._device, self._arrays, strict=False):
            ctypes.memmove(address, array.address, array.values.nbytes)
        self._entry(self._pointers, self.integers, self.reals)
        for address, array in zip(self._device, self._arrays, strict=False):
            ctypes.memmove(array.address, address, array.values.nbytes)


def _restrain(task: Job) -> None:
    """Forbid core dumps and endless output. Not the address space: sanitizers map terabytes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    room = task["outputs_bytes"] + OUTPUT_ROOM_BYTES
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def _pristine(job: Job) -> list[Any]:
    """Return the inputs, which nothing in this process can write to."""
    size = max((b["offset"] + b["size_bytes"] for b in job["buffers"] if b["count"]), default=0)
    whole: Any = b""
    if size:
        with open(job["inputs"], "rb") as file:
            whole = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    return [
        np.frombuffer(whole, buffer["dtype"], buffer["count"], buffer["offset"])
        if buffer["count"]
        else np.empty(0, buffer["dtype"])
        for buffer in job["buffers"]
    ]


def _sanitizer_function(word: str) -> Any:
    """Return a function of the address sanitizer, or None where it is not loaded."""
    return getattr(ctypes.CDLL(None), f"__asan_{word}_memory_region", None)


# Once for all children: a forker is started with the sanitizer's library or without it.
_POISON, _UNPOISON = _sanitizer_function("poison"), _sanitizer_function("unpoison")


def _broken_zones(job: Job, arrays: list[GuardedArray]) -> list[list[str]]:
    named = zip(job["buffers"], arrays, strict=True)
    return [[b["name"], side] for b, array in named if (side := array.broken_zone())]


def _changed_inputs(job: Job, arrays: list[GuardedArray], pristine: list[Any]) -> list[str]:
    """Return the arrays that the original only reads and this variant has written."""
    changed = []
    for buffer, array, values in zip(job["buffers"], arrays, pristine, strict=True):
        # As bytes: NaN equals nothing, and -0.0 is another number than 0.0 here.
        if not buffer["is_written"] and not np.array_equal(
            array.values.view(np.uint8), values.view(np.uint8)
        ):
            changed.append(buffer["name"])
    return changed


def _set_order(library: ctypes.CDLL, job: Job) -> None:
    """Tell a library that plays CUDA's or OpenMP's threads itself in which order to do so."""
    if hasattr(library, "annotune_cpu_set_order"):
        library.annotune_cpu_set_order(job["order"])
        library.annotune_cpu_set_seed(job["order_seed"])
        library.annotune_cpu_fail_at(job["fail_at"])
    if hasattr(library, "annotune_omp_set_order"):
        library.annotune_omp_set_order(job["order"], job["order_seed"])


def _launches(library: ctypes.CDLL) -> int | None:
    """Return how many kernels the library has launched so far, None where it counts none."""
    for name in ("annotune_gpu_launches", "annotune_cpu_launches"):
        if hasattr(library, name):
            return int(getattr(library, name)())
    return None


def _device_words(library: ctypes.CDLL) -> Job:
    """Return what CUDA on the CPU noticed: memory not freed, the last thing wrong."""
    if not hasattr(library, "annotune_cpu_message"):
        return {"leaks": 0, "device_message": "", "device_zones": 0}
    # First, for it looks at the zones and says in the message what it found.
    broken = library.annotune_cpu_red_zone_violations()
    library.annotune_cpu_message.restype = ctypes.c_char_p
    return {
        "device_zones": broken,
        "leaks": library.annotune_cpu_live_allocations(),
        "device_message": library.annotune_cpu_message().decode("utf-8", "replace"),
    }


def _races(library: ctypes.CDLL) -> list[str]:
    """Return what a race-checking runtime has found, when the library has one linked in."""
    count = getattr(library, "annotune_race_count", None)
    if count is None:
        return []
    message = library.annotune_race_message
    message.restype = ctypes.c_char_p
    return [message(n).decode("utf-8", "replace") for n in range(min(count(), 32))]


def _store(job: Job, arrays: list[GuardedArray]) -> None:
    """Write what was computed into the file of outputs, which has its length already."""
    with open(job["output"], "r+b") as file:
        for buffer, array in zip(job["buffers"], arrays, strict=True):
            if buffer["is_written"]:
                file.seek(job["output_at"] + buffer["offset"])
                array.values.tofile(file)
