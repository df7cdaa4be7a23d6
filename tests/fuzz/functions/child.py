"""Run in a process of its own: calls random functions in every build, and compares.

    python child.py jobs.json

A call goes to the instrumented original first, which tells what it touches and whether C defines
it. The others then get arrays of just that, which end at the border of a page with nothing
behind it, or begin at one. One line of JSON per call and library says how it ended.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import signal
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from batch_child import said

TYPES = {
    "double": np.float64,
    "float": np.float32,
    "int": np.int32,
    "long": np.int64,
    "short": np.int16,
    "signed char": np.int8,
    "char": np.int8,
    "unsigned char": np.uint8,
    "unsigned short": np.uint16,
    "unsigned": np.uint32,
    "unsigned long": np.uint64,
    "size_t": np.uint64,
    "long long": np.int64,
    "_Bool": np.uint8,
    "double complex": np.complex128,
    "float complex": np.complex64,
}
PAGE = mmap.PAGESIZE
LARGEST_SIZE = 512
"""A greater integer that is given is no size."""
REACH_BYTES = 2**32 * 16
"""Nothing lies so near an array: an unsigned index that goes round below 0 hits nothing."""
LEAST_ROOM = 4096
"""Elements on either side of where an array starts, for the original to go where it wants."""

OUT = "out_"
OUT_COUNT = 40
PATTERN = 0xA5
DEFINED = 0
ENDINGS = ("", "undefined", "too long", "crashed")
INEXACT, OVERFLOW = 1, 2
TOLERANCE = {"f": 1e-3, "d": 1e-8, "F": 1e-3, "D": 1e-8}
"""Of the largest magnitude, by numpy's letter of a type, where a sum may be in any order."""

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


PERIOD = 101


def filled(type_: str, count: int, start: int, style: str, salt: int) -> Any:
    """Return the elements `start` to `start + count` of an array's contents."""
    dtype = np.dtype(TYPES[type_])
    period = _period(type_, style, salt)
    shift = start % PERIOD
    repeats = -(-(count + shift) // PERIOD)
    return np.tile(period, repeats)[shift : shift + count].astype(dtype, copy=False)


@cache
def _period(type_: str, style: str, salt: int) -> Any:
    """Return the elements 0 to 100 of an array's contents, which repeat themselves."""
    dtype = np.dtype(TYPES[type_])
    mixed = (np.arange(PERIOD, dtype=np.int64) * 7919 + salt * 104729) % PERIOD
    if type_ == "_Bool":
        return (mixed % 2).astype(dtype)
    values = mixed % 5 - (0 if dtype.kind == "u" else 2)
    if dtype.kind not in "fc":
        made = values.astype(dtype)
        if style == "extreme":
            known = np.iinfo(dtype)
            made[mixed % 11 == 3] = known.max
            made[mixed % 13 == 5] = known.min
        return made
    real = values.astype(np.float64)
    if style == "zeros":
        real = np.where(mixed % 2 == 0, 0.0, -0.0)
    if style == "extreme":
        real[mixed % 17 == 3] = np.inf
        real[mixed % 19 == 4] = 1e30
    if style == "nan":
        real[mixed % 13 == 3] = np.nan
        real[mixed % 29 == 4] = np.inf
        real[mixed % 7 == 5] = -0.0
    if dtype.kind == "c":
        made = np.empty(PERIOD, dtype)
        made.real, made.imag = real, np.roll(values, 1)
        return made
    return real.astype(dtype)


class Memory:
    """Pages for one array, with nothing before and behind them as far as an index may stray."""

    def __init__(self, size: int) -> None:
        self.size = -(-size // PAGE) * PAGE
        self.whole = self.size + 2 * REACH_BYTES
        base = LIBC.mmap(None, self.whole, 0, PRIVATE, -1, 0)
        self.begin = base + REACH_BYTES
        self.end = self.begin + self.size
        if self.size:
            access = mmap.PROT_READ | mmap.PROT_WRITE
            assert LIBC.mprotect(self.begin, self.size, access) == 0
            ctypes.memset(self.begin, PATTERN, self.size)

    def put(self, address: int, values: Any) -> None:
        if values.nbytes:
            ctypes.memmove(address, np.ascontiguousarray(values).ctypes.data, values.nbytes)

    def read(self, address: int, type_: str, count: int) -> Any:
        made = np.empty(count, TYPES[type_])
        if made.nbytes:
            ctypes.memmove(made.ctypes.data, address, made.nbytes)
        return made

    def free(self) -> None:
        LIBC.munmap(self.begin - REACH_BYTES, self.whole)


class Library:
    """One build of a batch, and the run-time library that plays its threads."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.code = ctypes.CDLL(path)
        self.is_gpu = name.endswith("-gpu")
        self.has_orders = hasattr(self.code, "annotune_cpu_set_order")
        self.orders = 3 if self.has_orders else 1
        if self.has_orders:
            self.code.annotune_cpu_message.restype = ctypes.c_char_p

    def prepare(self, order: int) -> None:
        if self.is_gpu:
            said()
        if self.has_orders:
            self.code.annotune_cpu_reset()
            self.code.annotune_cpu_set_order(order)

    def complaint(self) -> str:
        """Return what the run-time library has noticed in the last call."""
        if self.is_gpu:
            # An entry that meets an error of CUDA says so, and runs the original nest.
            words = said()
            return f"said: {words}" if words else ""
        if not self.has_orders:
            return ""
        if self.code.annotune_cpu_red_zone_violations():
            return "device memory: " + self.code.annotune_cpu_message().decode("utf-8", "replace")
        return "device memory is not freed" if self.code.annotune_cpu_live_allocations() else ""

    def launches(self) -> int:
        return int(self.code.annotune_cpu_launches()) if self.has_orders else 0


class Job:
    """One call: its arguments, and what the original touches."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.slots: list[dict[str, str]] = job["slots"]
        self.fills: dict[str, dict[str, Any]] = job["arrays"]
        self.values = [self._value(slot) for slot in self.slots]
        self.hulls: dict[str, tuple[int, int]] = {}
        self.exceptions = 0
        # A static object remembers calls: every library is to have as many.
        self.repeats = 3 if job["repeats"] else 1

    def _value(self, slot: dict[str, str]) -> Any:
        if slot["kind"] == "array":
            return None
        text = self.job["values"][slot["name"]]
        dtype = np.dtype(TYPES[slot["type"]])
        number = complex(float(text)) if dtype.kind == "c" else float(text)
        return np.array([number if dtype.kind in "fc" else int(text)]).astype(dtype)

    def owners(self) -> list[tuple[int, dict[str, str]]]:
        """Return the arrays that have memory of their own."""
        return [
            (k, slot)
            for k, slot in enumerate(self.slots)
            if slot["kind"] == "array"
            and not self.fills[slot["name"]]["is_null"]
            and not self.fills[slot["name"]]["same"]
        ]

    def pointers(self, starts: dict[str, int], out: int) -> Any:
        """Return the argument vector, with arrays where `starts` has them."""
        made = []
        for slot, value in zip(self.slots, self.values, strict=True):
            fill = self.fills.get(slot["name"], {})
            if slot["kind"] == "value":
                made.append(value.ctypes.data)
            elif fill["is_null"]:
                made.append(0)
            elif fill["same"]:
                size = np.dtype(TYPES[slot["type"]]).itemsize
                made.append(starts[fill["same"]] + fill["offset"] * size)
            else:
                made.append(starts[slot["name"]])
        return (ctypes.c_void_p * (len(made) + 1))(*made, out)

    def objects(self, library: Library) -> list[tuple[str, int, str, int]]:
        place = getattr(library.code, f"{self.job['name']}_object")
        place.restype = ctypes.c_void_p
        return [(n, place(k), t, c) for k, (n, t, c) in enumerate(self.job["objects"])]

    def set_objects(self, library: Library, memory: Memory) -> None:
        for salt, (_, address, type_, count) in enumerate(self.objects(library)):
            style = "small" if count == 1 else self.job["style"]
            memory.put(address, filled(type_, count, 0, style, salt + 50))

    # The original ----------------------------------------------------------------------------

    def examine(self, library: Library) -> int:
        """Call the instrumented original; return how it ended, and keep what it touched."""
        code = library.code
        for name in ("touched_low", "touched_high"):
            getattr(code, name).restype = ctypes.c_void_p
        code.touched_forget()
        memories, starts, contents = {}, {}, {}
        whole = [int(v[0]) for v in self.values if v is not None and v.dtype.kind in "iu"]
        largest = max([0, *(value for value in whole if value <= LARGEST_SIZE)])
        for _, slot in self.owners():
            name, type_ = slot["name"], slot["type"]
            size = np.dtype(TYPES[type_]).itemsize
            fill = self.fills[name]
            # Three dimensions at the most, and a little on either side of each.
            count = -(-((largest + 6) ** 3 + LEAST_ROOM) // PAGE) * PAGE
            memory = Memory(2 * count * size)
            values = filled(type_, 2 * count, -count, fill["style"], fill["salt"])
            contents[name] = values
            memories[name], starts[name] = memory, memory.begin + count * size
            code.touched_zone(ctypes.c_void_p(memory.begin), ctypes.c_void_p(memory.end))
        out = Memory(OUT_COUNT * 8)
        exceptions = ctypes.c_int(0)
        arguments = self.pointers(starts, out.begin)
        call = getattr(code, f"{self.job['name']}_call")
        ended = DEFINED
        for _ in range(self.repeats):
            for name, memory in memories.items():
                memory.put(memory.begin, contents[name])
            self.set_objects(library, out)
            if ended == DEFINED:
                given = call, self.job["function"], arguments, ctypes.byref(exceptions)
                ended = int(code.touched_call(*given))
            self.exceptions |= exceptions.value
        for number, (_, slot) in enumerate(self.owners()):
            size = np.dtype(TYPES[slot["type"]]).itemsize
            low = int(code.touched_low(number) or 0) - starts[slot["name"]]
            high = int(code.touched_high(number) or 0) - starts[slot["name"]]
            touched = (0, 0) if low >= high else (low // size, -(-high // size))
            self.hulls[slot["name"]] = touched
        if ended == DEFINED:
            self._with_declared(code, arguments)
        for memory in (*memories.values(), out):
            memory.free()
        return ended

    def _with_declared(self, code: Any, arguments: Any) -> None:
        """Widen what is touched to what C says is there: declared extents, and whole rows."""
        extent = getattr(code, f"{self.job['name']}_extent")
        row = getattr(code, f"{self.job['name']}_row")
        extent.restype = row.restype = ctypes.c_long
        for k, slot in enumerate(self.slots):
            fill = self.fills.get(slot["name"])
            if fill is None or fill["is_null"]:
                continue
            owner = fill["same"] or slot["name"]
            offset = fill["offset"]
            low, high = self.hulls[owner]
            if low < high:
                together = max(1, int(row(self.job["function"], k, arguments)))
                low = (low - offset) // together * together + offset
                high = -(-(high - offset) // together) * together + offset
            declared = int(extent(self.job["function"], k, arguments))
            if declared > 0:
                low, high = (min(low, offset), max(high, declared + offset))
            self.hulls[owner] = low, high

    # The others ------------------------------------------------------------------------------

    def call(self, library: Library, at_end: bool) -> dict[str, Any]:
        """Return what arrays, objects and scalars hold after a call."""
        memories, starts = {}, {}
        for _, slot in self.owners():
            name, type_ = slot["name"], slot["type"]
            low, high = self.hulls[name]
            size = np.dtype(TYPES[type_]).itemsize
            memory = Memory((high - low) * size)
            first = memory.end - (high - low) * size if at_end else memory.begin
            fill = self.fills[name]
            memory.put(first, filled(type_, high - low, low, fill["style"], fill["salt"]))
            memories[name], starts[name] = memory, first - low * size
        out = Memory(OUT_COUNT * 8)
        out.put(out.begin, np.zeros(OUT_COUNT))
        self.set_objects(library, out)
        arguments = self.pointers(starts, out.begin)
        signal.setitimer(signal.ITIMER_PROF, self.job["limit_s"])
        getattr(library.code, f"{self.job['name']}_call")(self.job["function"], arguments)
        signal.setitimer(signal.ITIMER_PROF, 0)
        got: dict[str, Any] = {OUT: out.read(out.begin, "double", OUT_COUNT)}
        for _, slot in self.owners():
            name, (low, high) = slot["name"], self.hulls[slot["name"]]
            memory = memories[name]
            size = np.dtype(TYPES[slot["type"]]).itemsize
            first = starts[name] + low * size
            got[name] = memory.read(first, slot["type"], high - low)
            rest = memory.size - (high - low) * size
            slack = memory.begin if at_end else memory.end - rest
            got[f"slack of {name}"] = memory.read(slack, "unsigned char", rest)
            memory.free()
        for name, address, type_, count in self.objects(library):
            got[name] = out.read(address, type_, count)
        out.free()
        return got

    def differs(self, wanted: dict[str, Any], got: dict[str, Any]) -> str:
        """Return in words where two results differ, as far as C fixes them."""
        # Sums of large numbers of both signs may be exact in one order alone.
        cancels = self.job["far"] or any(f["style"] == "extreme" for f in self.fills.values())
        # So may the sums of 3.3 be.
        inexact = cancels or self.job["rounds"] or self.exceptions & (INEXACT | OVERFLOW)
        is_open = bool(self.job["sums"] and inexact)
        if is_open and (self.job["discrete"] or cancels or self.exceptions & OVERFLOW):
            return ""
        for name, right in wanted.items():
            found = got[name]
            if right.tobytes() == found.tobytes():
                continue
            kind = right.dtype.kind
            if kind not in "fc":
                if is_open and not name.startswith("slack"):
                    continue
                at = int(np.argmax(right != found))
            else:
                # What doubles are made of may have been floats' sums.
                limit = max(self.job["tolerance"], TOLERANCE[right.dtype.char])
                at = _differing(right, found, limit * is_open, self.job["zeros"])
                if at < 0:
                    continue
            low = self.hulls.get(name, (0, 0))[0]
            zero = kind in "fc" and bool(np.all(right[at] == found[at]))
            words = " (zero's sign)" if zero else ""
            nan = " (NaN)" if kind in "fc" and np.isnan(right[at]) else ""
            return f"{name}[{at + low}] is {found[at]!r}, expected {right[at]!r}{words}{nan}"
        return ""


def _differing(right: Any, found: Any, tolerance: float, zeros: bool) -> int:
    """Return the first place where real numbers differ, -1 where they do not.

    A `tolerance` that is not 0 is relative to the largest. `zeros` says that C fixes the signs of
    zeros.
    """
    if right.dtype.kind == "c":
        parts = [_differing(p(right), p(found), tolerance, zeros) for p in (np.real, np.imag)]
        return max(parts)
    same = right == found
    if zeros:
        same &= np.signbit(right) == np.signbit(found)
    same |= np.isnan(right) & np.isnan(found)
    if tolerance:
        finite = right[np.isfinite(right)]
        scale = float(np.abs(finite).max()) if finite.size else 0.0
        limit = tolerance * scale
        with np.errstate(all="ignore"):
            same |= np.abs(right - found) <= limit
            same |= ~np.isfinite(right)
    return -1 if same.all() else int(np.argmin(same))


def run(batch: dict[str, Any]) -> None:
    # Set before any runtime is loaded: one that knows a GPU looks for code that is not there.
    paths = batch["libraries"]
    device = "nvidia" if any(name.endswith("-gpu") for name in paths) else "host"
    os.environ.update(OMP_NUM_THREADS="3", OMP_WAIT_POLICY="passive", ACC_DEVICE_TYPE=device)
    original, examined = Library("original", paths["original"]), Library("exam", paths["exam"])
    others = {n: Library(n, p) for n, p in paths.items() if n not in ("original", "exam")}
    strayed: set[int] = set()
    raised: dict[int, int] = defaultdict(int)
    for record in batch["jobs"]:
        if record["number"] in strayed:
            continue
        job = Job(record)
        say(record, "exam", "begins")
        ended = job.examine(examined)
        say(record, "exam", ENDINGS[ended])
        if ended != DEFINED:
            # What it has left in static objects is not what the other builds have there.
            strayed |= {record["number"]} if job.repeats > 1 else set()
            continue
        repeats = job.repeats
        if repeats > 1:
            # A static sum of an earlier call may be what this one returns.
            raised[record["number"]] |= job.exceptions
            job.exceptions = raised[record["number"]]
        say(record, "original", "begins")
        at_end = record["index"] % 2 == 0
        most = max([repeats, *(one.orders for one in others.values())])
        if repeats == 1:
            wanted = [job.call(original, at_end)] * most
        else:
            wanted = [job.call(original, at_end) for _ in range(repeats)]
        say(record, "original", "")
        for name in record["targets"]:
            library = others[name]
            say(record, name, "begins")
            fault, launches = "", 0
            for order in range(max(repeats, library.orders)):
                library.prepare(order)
                got = job.call(library, at_end)
                launches = max(launches, library.launches())
                fault = fault or library.complaint() or job.differs(wanted[order], got)
            say(record, name, fault, launches)


def say(job: dict[str, Any], library: str, fault: str, launches: int = 0) -> None:
    print(json.dumps([job["number"], job["index"], library, fault, launches]), flush=True)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        run(json.load(file))
