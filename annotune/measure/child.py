"""What happens inside a measuring child: load a library, run it, store what it left, tell of it.

Imports only what this needs: the process is forked again and again.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import mmap
import os
import resource
import struct
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from annotune.measure.timing import is_narrow, share_waited, waited_s

ROOM_BYTES = 8 << 20
"""Reserved and not held: pages come with what is written. A job tells a few kilobytes."""

_HEAD = struct.Struct("=II")


class Journal:
    """For each job a number, when it began in seconds of `time.monotonic`, and then its result."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, ROOM_BYTES)
        self._seed = int.from_bytes(os.urandom(4), "little")
        self._end = 0

    def begin(self) -> None:
        """Tell that the next job begins, so that it is known which one a crash belongs to."""
        self._tell(time.monotonic())

    def end(self, result: dict[str, Any]) -> None:
        """Tell what came of the job that began last."""
        self._tell(result)

    def read(self) -> tuple[list[float], list[dict[str, Any]], bool]:
        """Return when jobs began, their results, and whether all that was told is legible."""
        begun: list[float] = []
        results: list[dict[str, Any]] = []
        at = 0
        while at + _HEAD.size <= ROOM_BYTES:
            length, checksum = _HEAD.unpack_from(self._memory, at)
            if not length and not checksum:
                return begun, results, True
            at += _HEAD.size
            text = self._memory[at : at + length]
            if len(text) != length or zlib.crc32(text, self._seed) != checksum:
                return begun, results, False
            told = json.loads(text)
            if isinstance(told, float):
                begun.append(told)
            else:
                results.append(told)
            at += length
        return begun, results, False

    def close(self) -> None:
        self._memory.close()

    def _tell(self, told: float | dict[str, Any]) -> None:
        text = json.dumps(told).encode()
        at = self._end + _HEAD.size
        if at + len(text) + _HEAD.size > ROOM_BYTES:
            raise ValueError(f"a child has more to tell than {ROOM_BYTES} bytes")
        self._memory[at : at + len(text)] = text
        # Last, so that nobody finds half a record.
        _HEAD.pack_into(self._memory, self._end, len(text), zlib.crc32(text, self._seed))
        self._end = at + len(text)


_ROOM_BYTES = 256

# Where <fenv.h>'s fenv_t of glibc keeps its control words: offset, bytes, and which bits are modes
# and not flags that any operation may raise.
_WORDS = {
    "x86_64": ((0, 2, 0x0F3F), (28, 4, 0xFFC0)),
    "aarch64": ((0, 4, 0xFFFFFFFF),),
}.get(os.uname().machine, ())

try:
    _libm: ctypes.CDLL | None = ctypes.CDLL("libm.so.6") if _WORDS else None
except OSError:  # another C library
    _libm = None


class FloatMode:
    """The modes of this thread as they are now."""

    def __init__(self) -> None:
        self._all = ctypes.create_string_buffer(_ROOM_BYTES)
        if _libm is not None:
            _libm.fegetenv(self._all)

    def is_now(self) -> bool:
        """Return whether the modes are still these; so they are where it cannot be told."""
        return self._words() == FloatMode()._words()

    def restore(self) -> None:
        """Make these the modes of this thread again."""
        if _libm is not None:
            _libm.fesetenv(self._all)

    def _words(self) -> list[int]:
        raw = self._all.raw
        return [int.from_bytes(raw[at : at + size], "little") & modes for at, size, modes in _WORDS]


PAGE_BYTES = mmap.PAGESIZE

RED_ZONE_BYTES = 512
"""At least so much pattern lies on each side of an array: 64 doubles."""

# The upper half of a signalling NaN whether it is read as doubles or as floats; the lower
# half counts, so that a copied or shifted zone is seen too.
_PATTERN = 0x7FF4_DEAD_0000_0000

_libc = ctypes.CDLL(None, use_errno=True)


class GuardedMemory:
    """So many bytes, 64-byte aligned, with what lies around them watched.

    A write next to them changes the red zone; one further away ends in a page that may not be
    touched at all.
    """

    def __init__(self, size: int) -> None:
        inner = -(-(2 * RED_ZONE_BYTES + size) // PAGE_BYTES) * PAGE_BYTES
        self._map = mmap.mmap(-1, inner + 2 * PAGE_BYTES)
        whole = np.frombuffer(self._map, np.uint8)
        start = whole.ctypes.data
        for page in (start, start + PAGE_BYTES + inner):
            # Refused by a kernel without mprotect: the red zones remain.
            _libc.mprotect(ctypes.c_void_p(page), PAGE_BYTES, 0)
        first = PAGE_BYTES + RED_ZONE_BYTES
        self.bytes = whole[first : first + size]
        self.address = start + first
        self._zones = (whole[PAGE_BYTES:first], whole[first + size : PAGE_BYTES + inner])
        for zone in self._zones:
            zone[:] = _pattern(zone.size)

    def mark_zones(self, mark: Any) -> None:
        """Call the address sanitizer's `mark`, its poison or unpoison function, on the zones."""
        for zone in self._zones:
            mark(ctypes.c_void_p(zone.ctypes.data), ctypes.c_size_t(zone.size))

    def broken_zone(self) -> str:
        """Return ``before`` or ``after`` for a red zone that was written, else nothing."""
        for name, zone in zip(("before", "after"), self._zones, strict=True):
            if not np.array_equal(zone, _pattern(zone.size)):
                return name
        return ""


class GuardedArray:
    """`count` elements of `dtype` from byte `start` of a memory, which others may share."""

    def __init__(self, memory: GuardedMemory, dtype: np.dtype[Any], start: int, count: int) -> None:
        self.memory = memory
        self.address = memory.address + start
        end = start + count * dtype.itemsize
        self.values: npt.NDArray[Any] = memory.bytes[start:end].view(dtype)


def _pattern(size: int) -> npt.NDArray[np.uint8]:
    words = np.arange(-(-size // 8), dtype=np.uint64) + np.uint64(_PATTERN)
    return words.view(np.uint8)[:size]


SHORTEST_SAMPLE_S = 20e-6
"""Calls shorter than this are timed several at once, by one call through ctypes."""

CALL_S = 1e-6
"""What a call through ctypes takes by itself."""

LARGEST_BATCH = 64
"""So many calls at most between restorations, so that repeated updates stay finite."""

ROTATING_BYTES = 64 << 20
"""The buffers of the calls of one batch hold no more than this together."""

EVICTED_BYTES = 256 << 20
"""Of more than this, no cache holds what the next run begins with; emptying it would take long."""

CLEARLY_WORSE = 1.5
"""A variant whose fastest run takes this many times the best one's is given up."""


class Stopwatch:
    """Times the calls of a library as `plan` says.

    `pristine` are the arrays before a run, of which those in `written` are restored before each
    sample. `another` makes a further call on arrays of its own.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        plan: dict[str, Any],
        pristine: Sequence[npt.NDArray[Any]],
        written: Sequence[bool],
    ) -> None:
        self._plan, self._pristine, self._written = plan, pristine, written
        flush = getattr(library, "annotune_flush_l2", None)
        self._flush = flush if plan["is_cold"] else None
        self._kernel_clock = _seconds(library, "annotune_kernel_seconds")
        self._flush_clock = _seconds(library, "annotune_flush_seconds")
        self._bytes = sum(values.nbytes for values in pristine)
        self._evict: Any = None
        self._repeat: Any = None
        if plan["evictor"]:
            self._repeat = ctypes.CDLL(plan["evictor"]).annotune_repeat
        if plan["is_cold"] and flush is None and plan["evictor"] and self._bytes <= EVICTED_BYTES:
            self._evict = ctypes.CDLL(plan["evictor"]).annotune_evict
        # What is larger than every cache is as good as cold: each run ends with other data there.
        is_large = plan["is_cold"] and self._bytes > EVICTED_BYTES
        self._is_cold = is_large or self._flush is not None
        self._kernel_s: list[float] = []

    def times(
        self,
        call: _Call,
        first_s: float,
        another: Callable[[], _Call],
        first_waited: float | None = None,
    ) -> dict[str, Any]:
        """Return seconds per call, each from restored inputs, and how they were taken.

        The first call of all, for the outputs, took `first_s` and was one warm-up already, or all
        that there is; in a share `first_waited` of it some task waited for a processor. On a GPU
        the time in kernels is told apart. At the end `call` has run once from restored inputs.
        """
        plan = self._plan
        warm_s = first_s
        if self._kernel_clock is not None:
            self._kernel_clock()  # what the first call took is no part of a sample
        elif first_s > plan["once_s"]:
            return self._told([first_s], first_waited)
        for _ in range(plan["warm_ups"]):
            warm_s = min(warm_s, self._sample([call]))
        # On a GPU it is the kernels that may be too short to be timed one by one.
        warm_s = min((s for s in self._kernel_s if s > 0), default=warm_s)
        calls = self._batch(call, warm_s, another)
        give_up_s = CLEARLY_WORSE * plan["best_s"] if plan["best_s"] else math.inf
        times_s: list[float] = []
        self._kernel_s.clear()
        censored = False
        begin, waited = time.perf_counter(), waited_s()
        while len(times_s) < plan["runs"]:
            times_s.append(self._sample(calls))
            if len(times_s) < plan["least_runs"]:
                continue
            told = self._kernel_s or times_s
            censored = min(told) > give_up_s
            is_over = time.perf_counter() - begin > plan["budget_s"]
            if censored or is_over or is_narrow(told, plan["narrow"]):
                break
        found = self._told(times_s, share_waited(waited, time.perf_counter() - begin), censored)
        if calls.count(call) > 1:
            # Its arrays hold the work of several calls on top of each other.
            self._sample([call])
        return found

    def _told(
        self, times_s: list[float], waited: float | None, censored: bool = False
    ) -> dict[str, Any]:
        return {
            "times_s": times_s,
            "kernel_s": list(self._kernel_s),
            "censored": censored,
            "is_cold": self._is_cold,
            "waited": waited,
        }

    def _batch(self, call: _Call, warm_s: float, another: Callable[[], _Call]) -> list[_Call]:
        """Return the calls of one sample, so many that it is long enough to be timed.

        Where caches are to be cold each has arrays of its own, or all but the first were warm.
        """
        own_s = warm_s if self._repeat is None or not call.is_plain else warm_s - CALL_S
        batch = max(1, min(LARGEST_BATCH, math.ceil(SHORTEST_SAMPLE_S / max(own_s, 1e-9))))
        if self._evict is None and self._flush is None:
            return [call] * batch
        most = max(1, ROTATING_BYTES // max(1, self._bytes))
        return [call, *(another() for _ in range(min(batch, most) - 1))]

    def _sample(self, calls: Sequence[_Call]) -> float:
        """Return the seconds of one call, as the mean over `calls`."""
        for call in dict.fromkeys(calls):
            self._prepare(call)
        is_at_once = self._repeat is not None and self._flush is None and len(calls) > 1
        if is_at_once and all(call.is_plain for call in calls):
            arguments = _at_once(calls)
            start = time.perf_counter()
            self._repeat(*arguments)
        else:
            start = time.perf_counter()
            for call in calls:
                if self._flush is not None:
                    self._flush()
                call()
        flushing_s = 0.0 if self._flush_clock is None else self._flush_clock()
        time_s = max(0.0, time.perf_counter() - start - flushing_s) / len(calls)
        if self._kernel_clock is not None:
            self._kernel_s.append(self._kernel_clock() / len(calls))
        return time_s

    def _prepare(self, call: _Call) -> None:
        for values, start, is_written in zip(
            call.values, self._pristine, self._written, strict=True
        ):
            if is_written:
                values[:] = start
        call.restore()
        for values in call.values if self._evict is not None else ():
            address, size = ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes)
            self._is_cold = bool(self._evict(address, size))


def _at_once(calls: Sequence[_Call]) -> tuple[Any, ...]:
    """Return the arguments by which a library makes calls of one entry, one after the other."""
    place = ctypes.c_void_p * len(calls)
    each = [call.arguments() for call in calls]
    given = (place(*(ctypes.addressof(one[n]) for one in each)) for n in range(3))
    return (calls[0].entry, len(calls), *given)


def _seconds(library: ctypes.CDLL, name: str) -> Any:
    """Return a function that tells seconds since its last call, or None where there is none."""
    clock = getattr(library, name, None)
    if clock is not None:
        clock.restype = ctypes.c_double
    return clock


HELPER, BODY, DEVICE = MARKS = tuple(
    f"annotune_reached_{part}" for part in ("helper", "body", "device")
)
"""The arrays of marks in a library, for each of the texts of a variant."""

ROOM = 4096
"""So many blocks of a text are marked at the most."""

Job = dict[str, Any]
Arrays = list[GuardedArray]

ON_THIS_CPU = {"ACC_DEVICE_TYPE": "host"}
"""Builds hold no device code, so an OpenACC runtime that knows a GPU must not look for it."""

PINNED = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads"}
"""While it is timed, a thread stays where it is, and where its data are in the caches."""

PINNING = (*PINNED, "GOMP_CPU_AFFINITY", "KMP_AFFINITY")
"""Where the user has set one of these, it is the user who says where threads run."""

OUTPUT_ROOM_BYTES = 64 << 20
"""How much a variant may write to a file, such as what it prints."""


def run_jobs(task: Job, outputs: int, journal: Journal) -> None:
    """Run the jobs of `task` in this process, in order; all that a variant does happens here.

    `outputs` is an open file in which each job has its place for what it computes. All files are
    mapped before the library is loaded, and no descriptor but the standard ones is left to it.
    """
    _restrain()
    os.environ.update(ON_THIS_CPU)
    os.environ.update(task["environ"])
    os.environ["OMP_NUM_THREADS"] = str(task["threads"])
    plans = [job["timing"] for job in task["jobs"] if job["timing"]]
    # Not the others: children that run at once would all be bound to the first processor.
    if plans and not any(name in os.environ for name in PINNING):
        os.environ.update(PINNED)
    stored = mmap.mmap(outputs, task["outputs_bytes"]) if task["outputs_bytes"] else b""
    memory = [_Memory(job, stored) for job in task["jobs"]]
    evictors = [ctypes.CDLL(plan["evictor"]) for plan in plans if plan["evictor"]]
    words = os.fstat(1).st_ino
    _close_descriptors()
    library: ctypes.CDLL | None = None
    for job, own in zip(task["jobs"], memory, strict=True):
        # What earlier jobs printed says nothing of this one.
        with contextlib.suppress(OSError):
            if os.fstat(1).st_ino == words:
                os.ftruncate(1, 0)
                os.lseek(1, 0, os.SEEK_SET)
        journal.begin()
        if library is None:
            library = ctypes.CDLL(task["library"])
            # As it is loaded: -ffast-math makes a library set the modes at that moment.
            mode = FloatMode()
        journal.end(_run(library, task["entry"], job, own, mode))
    del evictors  # kept until here, since a library is loaded again only as long as it is there


def call_once(task: Job) -> None:
    """Call a library once, in this process as it is: nothing is watched and nothing is told.

    A profiler has descriptors and libraries of its own in it.
    """
    buffers = task["buffers"]
    size = max((b["offset"] + b["size_bytes"] for b in buffers if b["count"]), default=0)
    with open(task["inputs"], "rb") as file:
        inputs = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    arrays = _arrays(task, [_values(inputs, buffer) for buffer in buffers])
    _Call(ctypes.CDLL(task["library"]), task, arrays, task["entry"])()


class _Memory:
    """What a job reads, which nothing in this process can write to, and where it stores."""

    def __init__(self, job: Job, stored: Any) -> None:
        size = max((b["offset"] + b["size_bytes"] for b in job["buffers"] if b["count"]), default=0)
        inputs: Any = b""
        if size:
            with open(job["inputs"], "rb") as file:
                inputs = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
            # The map has one of its own, and there may be more jobs than descriptors.
            _close_descriptors()
        self._stored = stored
        self.pristine = [_values(inputs, buffer) for buffer in job["buffers"]]

    def store(self, job: Job, arrays: Arrays, at: int) -> None:
        """Keep what was computed, from byte `at` of the outputs on."""
        for buffer, array in zip(job["buffers"], arrays, strict=True):
            if buffer["is_written"]:
                _values(self._stored, buffer, at)[:] = array.values

    def holds(self, job: Job, arrays: Arrays) -> bool:
        """Return whether just this was computed in the first run, to the bit."""
        return all(
            _is_same(_values(self._stored, buffer, job["output_at"]), array.values)
            for buffer, array in zip(job["buffers"], arrays, strict=True)
            if buffer["is_written"]
        )


def _values(memory: Any, buffer: Job, start: int = 0) -> Any:
    """Return the place of one array in the inputs or outputs of a job, which begin at `start`."""
    if not buffer["count"]:
        return np.empty(0, buffer["dtype"])
    return np.frombuffer(memory, buffer["dtype"], buffer["count"], start + buffer["offset"])


def _close_descriptors() -> None:
    """Leave the standard ones alone, and no other: what is not there cannot be written to.

    The maps of files have some too, which Python would close with them; they are never closed.
    """
    for name in os.listdir("/proc/self/fd"):
        # One of them is that of this listing, closed already.
        with contextlib.suppress(OSError):
            if int(name) > 2:
                os.close(int(name))


def _run(library: ctypes.CDLL, entry: str, job: Job, memory: _Memory, mode: FloatMode) -> Job:
    """Return what one job has to tell, with its outputs stored."""
    pristine = memory.pristine
    arrays = _arrays(job, pristine)
    _set_order(library, job)
    call = _Call(library, job, arrays, entry)
    launched = _launches(library) or 0
    for array in arrays if _POISON else ():
        array.memory.mark_zones(_POISON)
    watched = _watched(library, arrays)
    start, waited = time.perf_counter(), waited_s()
    call()
    first_s = time.perf_counter() - start
    first_waited = share_waited(waited, first_s)
    has_mode = mode.is_now()
    for array in arrays if _UNPOISON else ():
        array.memory.mark_zones(_UNPOISON)
    computed = call.scalars()
    told: Job = {
        "computed": computed,
        "took_s": first_s,
        "zones": _broken_zones(job, arrays),
        "changed": _changed_inputs(job, arrays, pristine),
        "races": _races(library),
        "reached": _reached(library),
        "touched": [_touched(library, *one) for one in zip(watched, arrays, strict=False)],
        "times": None,
        "last": None,
    }
    memory.store(job, arrays, job["output_at"])
    if job["timing"]:
        written = [buffer["is_written"] for buffer in job["buffers"]]
        stopwatch = Stopwatch(library, job["timing"], pristine, written)

        def another() -> _Call:
            return _Call(library, job, _arrays(job, pristine), entry)

        told["times"] = stopwatch.times(call, first_s, another, first_waited)
        told["zones"] = told["zones"] or _broken_zones(job, arrays)
        if call.scalars() != computed or not memory.holds(job, arrays):
            memory.store(job, arrays, job["last_at"])
            told["last"] = call.scalars()
    told["has_mode"] = has_mode and mode.is_now()
    # Its times, and the next job's results, are of the modes in which it is checked.
    mode.restore()
    call.free()
    launches = _launches(library)
    told["launches"] = None if launches is None else launches - launched
    told.update(_device_words(library))
    return told


def _arrays(job: Job, pristine: list[Any]) -> Arrays:
    """Return arrays of our own with the inputs in them; those of one block share its memory."""
    blocks: dict[int, list[Job]] = {}
    for buffer in job["buffers"]:
        blocks.setdefault(buffer["block"], []).append(buffer)
    starts = {n: min(b["offset"] for b in sharing) for n, sharing in blocks.items()}
    ends = {n: max(b["offset"] + b["size_bytes"] for b in one) for n, one in blocks.items()}
    memories = {n: GuardedMemory(ends[n] - starts[n]) for n in blocks}
    arrays: Arrays = []
    for buffer, values in zip(job["buffers"], pristine, strict=True):
        block = buffer["block"]
        start = buffer["offset"] - starts[block]
        arrays.append(GuardedArray(memories[block], values.dtype, start, values.size))
        arrays[-1].values[:] = values
    return arrays


class _Call:
    """The library's entry with its arguments; each call starts from the same scalars.

    With `resident` data the entry gets pointers to memory of CUDA on the CPU, into which the
    arrays are copied before a call and from which they are copied back after it. OpenACC on the
    CPU has such copies of what lies at the arrays' own addresses.
    """

    def __init__(self, library: ctypes.CDLL, job: Job, arrays: Arrays, entry: str) -> None:
        self.entry = getattr(library, entry)
        self.entry.restype = None
        self._arrays = arrays
        is_acc = hasattr(library, "annotune_acc_keep")
        self._acc = library if job["resident"] and is_acc else None
        self._device = self._allocated(library, arrays) if job["resident"] and not is_acc else []
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

    def _allocated(self, library: ctypes.CDLL, arrays: Arrays) -> list[int]:
        allocate = library.annotune_cpu_device_malloc
        allocate.restype = ctypes.c_void_p
        self._free = library.annotune_cpu_device_free
        memories = list(dict.fromkeys(a.memory for a in arrays))
        self._given = [allocate(ctypes.c_size_t(max(8, m.bytes.nbytes))) for m in memories]
        starts = dict(zip(memories, self._given, strict=True))
        return [starts[a.memory] + a.address - a.memory.address for a in arrays]

    @property
    def is_plain(self) -> bool:
        """Return whether nothing is copied before or after a call."""
        return not self._device and self._acc is None

    def arguments(self) -> tuple[Any, Any, Any]:
        """Return what the entry is called with: arrays of pointers, integers and reals."""
        return self._pointers, self.integers, self.reals

    def free(self) -> None:
        """Give the device memory back, so that what is left is the variant's own."""
        for address in self._given if self._device else ():
            self._free(ctypes.c_void_p(address))
        self._device = []

    @property
    def values(self) -> list[Any]:
        return [array.values for array in self._arrays]

    def scalars(self) -> list[list[Any]]:
        """Return the integers and the reals as they are."""
        return [list(self.integers), list(self.reals)]

    def restore(self) -> None:
        self.integers[: len(self._start[0])] = self._start[0]
        self.reals[: len(self._start[1])] = self._start[1]

    def __call__(self) -> None:
        for address, array in zip(self._device, self._arrays, strict=False):
            ctypes.memmove(address, array.address, array.values.nbytes)
        if self._acc is not None:
            for array in self._arrays:
                self._acc.annotune_acc_keep(*_place(array))
        self.entry(*self.arguments())
        if self._acc is not None:
            for array in self._arrays:
                self._acc.annotune_acc_give_back(*_place(array))
        for address, array in zip(self._device, self._arrays, strict=False):
            ctypes.memmove(array.address, address, array.values.nbytes)


def _place(array: GuardedArray) -> tuple[ctypes.c_void_p, ctypes.c_longlong]:
    return ctypes.c_void_p(array.address), ctypes.c_longlong(array.values.nbytes)


def _restrain() -> None:
    """Forbid core dumps and endless output. Not the address space: sanitizers map terabytes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_ROOM_BYTES, OUTPUT_ROOM_BYTES))


def _sanitizer_function(word: str) -> Any:
    """Return a function of the address sanitizer, or None where it is not loaded."""
    return getattr(ctypes.CDLL(None), f"__asan_{word}_memory_region", None)


# Once for all children: a forker is started with the sanitizer's library or without it.
_POISON, _UNPOISON = _sanitizer_function("poison"), _sanitizer_function("unpoison")


def _broken_zones(job: Job, arrays: Arrays) -> list[list[str]]:
    named = zip(job["buffers"], arrays, strict=True)
    return [[b["name"], side] for b, array in named if (side := array.memory.broken_zone())]


def _changed_inputs(job: Job, arrays: Arrays, pristine: list[Any]) -> list[str]:
    """Return the arrays that the original only reads and this variant has written."""
    changed = []
    written = {buffer["block"] for buffer in job["buffers"] if buffer["is_written"]}
    for buffer, array, values in zip(job["buffers"], arrays, pristine, strict=True):
        if buffer["block"] not in written and not _is_same(array.values, values):
            changed.append(buffer["name"])
    return changed


def _is_same(own: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Return whether two arrays of a size hold the same bytes; NaN equals itself, 0.0 not -0.0.

    NumPy would allocate an array of truth values, which takes longer than to compare.
    """
    size = ctypes.c_size_t(own.nbytes)
    return not _libc.memcmp(
        ctypes.c_void_p(own.ctypes.data), ctypes.c_void_p(other.ctypes.data), size
    )


def _set_order(library: ctypes.CDLL, job: Job) -> None:
    """Tell a library that plays CUDA's or OpenMP's threads itself in which order to do so."""
    if hasattr(library, "annotune_cpu_set_order"):
        library.annotune_cpu_set_order(job["order"])
        library.annotune_cpu_set_seed(job["order_seed"])
        library.annotune_cpu_fail_at(job["fail_at"])
    if hasattr(library, "annotune_omp_set_order"):
        library.annotune_omp_set_order(job["order"], job["order_seed"])


def _watched(library: ctypes.CDLL, arrays: Arrays) -> list[int]:
    """Have a library that can tell what is touched watch the arrays; return their numbers there."""
    watch = getattr(library, "annotune_watch", None)
    return [] if watch is None else [watch(*_place(array)) for array in arrays]


def _touched(library: ctypes.CDLL, number: int, array: GuardedArray) -> list[int]:
    """Return the first element that was touched of an array and how many from there on were."""
    low, high = library.annotune_touched_low, library.annotune_touched_high
    low.restype = high.restype = ctypes.c_long
    size = array.values.itemsize
    first = low(number) // size
    count = -(-high(number) // size) - first
    return [first, count] if count > 0 else [0, 0]


def _launches(library: ctypes.CDLL) -> int | None:
    """Return how many kernels the library has launched so far, None where it counts none."""
    for name in ("annotune_gpu_launches", "annotune_cpu_launches"):
        if hasattr(library, name):
            return int(getattr(library, name)())
    return None


def _device_words(library: ctypes.CDLL) -> Job:
    """Return what a device on the CPU noticed: memory not freed, the last thing wrong."""
    if not hasattr(library, "annotune_cpu_message"):
        live = getattr(library, "annotune_acc_live_sections", int)()
        return {"leaks": live, "device_message": "", "device_zones": 0, "failing": []}
    # First, for it looks at the zones and says in the message what it found.
    broken = library.annotune_cpu_red_zone_violations()
    library.annotune_cpu_message.restype = ctypes.c_char_p
    # Before what is kept is given back, by calls that count.
    failing = (ctypes.c_int * 32)()
    return {
        "device_zones": broken,
        "failing": failing[: library.annotune_cpu_failing(failing)],
        "leaks": library.annotune_cpu_live_allocations(),
        "device_message": library.annotune_cpu_message().decode("utf-8", "replace"),
    }


def _reached(library: ctypes.CDLL) -> dict[str, list[int]]:
    """Return which blocks of each text have been run so far, where the texts have marks."""
    arrays = {m: (ctypes.c_ubyte * ROOM).in_dll(library, m) for m in MARKS if hasattr(library, m)}
    return {marks: [n for n, mark in enumerate(array) if mark] for marks, array in arrays.items()}


def _races(library: ctypes.CDLL) -> list[str]:
    """Return what a race-checking runtime has found, when the library has one linked in."""
    count = getattr(library, "annotune_race_count", None)
    if count is None:
        return []
    message = library.annotune_race_message
    message.restype = ctypes.c_char_p
    return [message(n).decode("utf-8", "replace") for n in range(min(count(), 32))]


if __name__ == "__main__":
    with open(sys.argv[1]) as given:
        call_once(json.load(given))
