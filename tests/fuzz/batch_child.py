"""Run in a process of its own: calls every function of a batch in every library, and compares.

    python batch_child.py jobs.json

For each job the original is called, then each other library on the same bytes, in each order
of its threads. One line of JSON per job and library says how it ended.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

import numpy as np

ZONE = 64
# Where functions leave their scalars.
OUT = "out"
TYPES = {"double": np.float64, "float": np.float32, "int": np.int32}


def fill(count: int, element: str, salt: int) -> Any:
    """Return `count` small integers between zones, as numbers of the element's type."""
    index = np.arange(count + 2 * ZONE, dtype=np.int64)
    return (((index * 7919 + salt * 104729) % 101) % 5 - 2).astype(TYPES[element])


def scalar(salt: int) -> float:
    return float(salt % 3 + 1)


def inputs(job: dict[str, Any]) -> dict[str, Any]:
    """Return fresh arrays for the parameters of a job."""
    return {
        name: fill(value[1], value[0], salt)
        for salt, (name, kind, value) in enumerate(job["parameters"])
        if kind == "array"
    }


class Library:
    """One build of the batch: its functions, and the run-time library that plays threads."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.is_gpu = name.endswith("-gpu")
        self.code = ctypes.CDLL(path)
        self.orders = [0]
        if hasattr(self.code, "annotune_cpu_set_order"):
            self.code.annotune_cpu_message.restype = ctypes.c_char_p
            self.orders = [0, 1, 2]
        elif hasattr(self.code, "annotune_omp_set_order"):
            self.orders = [1]
        if hasattr(self.code, "annotune_race_count"):
            self.code.annotune_race_message.restype = ctypes.c_char_p
            self.orders = [1]

    def prepare(self, order: int) -> None:
        if self.is_gpu:
            said()
        if hasattr(self.code, "annotune_cpu_set_order"):
            self.code.annotune_cpu_reset()
            self.code.annotune_cpu_set_order(order)
        if hasattr(self.code, "annotune_omp_set_order"):
            self.code.annotune_omp_set_order(order, 1)
        if hasattr(self.code, "annotune_race_reset"):
            self.code.annotune_race_reset()

    def complaint(self) -> str:
        """Return what the run-time library has noticed in the last call."""
        code = self.code
        if self.is_gpu:
            # An entry that meets an error of CUDA says so, and runs the original nest.
            words = said()
            return f"said: {words}" if words else ""
        if hasattr(code, "annotune_race_count") and code.annotune_race_count():
            return "race: " + code.annotune_race_message(0).decode("utf-8", "replace")
        has_device = hasattr(code, "annotune_cpu_red_zone_violations")
        if has_device and code.annotune_cpu_red_zone_violations():
            return "device memory: " + code.annotune_cpu_message().decode("utf-8", "replace")
        if has_device and code.annotune_cpu_live_allocations():
            return "device memory is not freed"
        return ""

    def launches(self) -> int:
        has = hasattr(self.code, "annotune_cpu_launches")
        return int(self.code.annotune_cpu_launches()) if has else -1

    def call(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the bytes of every array after a call on fresh inputs."""
        arrays = inputs(job)
        arguments: list[Any] = []
        for salt, (name, kind, value) in enumerate(job["parameters"]):
            if kind == "array":
                place = arrays[name].ctypes.data + ZONE * arrays[name].itemsize
                arguments.append(ctypes.c_void_p(place))
            elif kind == "int":
                arguments.append(ctypes.c_int(value))
            elif kind == "int *":
                arguments.append((ctypes.c_int * 1)(value))
            elif kind == "float":
                arguments.append(ctypes.c_float(scalar(salt)))
            else:
                arguments.append(ctypes.c_double(scalar(salt)))
        objects = []
        for salt, (name, element, count) in enumerate(job["objects"]):
            place = getattr(self.code, f"{name}_place")
            place.restype = ctypes.c_void_p
            inside = fill(count, element, salt + 50)[ZONE:-ZONE].copy()
            address = place()
            ctypes.memmove(address, inside.ctypes.data, inside.nbytes)
            objects.append((name, inside, address))
        getattr(self.code, job["function"])(*arguments)
        for name, inside, address in objects:
            ctypes.memmove(inside.ctypes.data, address, inside.nbytes)
            arrays[name] = inside
        return arrays


def said() -> str:
    """Return what has been written to the standard error output since the last call of this."""
    size = os.fstat(2).st_size
    if not size:
        return ""
    text = os.pread(2, size, 0).decode("utf-8", "replace")
    os.ftruncate(2, 0)
    return text.strip()


def differs(job: dict[str, Any], expected: dict[str, Any], got: dict[str, Any]) -> str:
    """Return in words where two results differ; bit by bit where the job's tolerance is 0."""
    tolerance = job["tolerance"]
    if tolerance == np.inf:
        return ""
    objects = {name for name, _, _ in job["objects"]}
    largest = {name: _largest(values) for name, values in expected.items()}
    for name, wanted in expected.items():
        found = got[name]
        if wanted.tobytes() == found.tobytes():
            continue
        # One number alone may be what is left of a sum over others that cancel.
        scale = max(largest.values()) if name == OUT else largest[name]
        with np.errstate(all="ignore"):
            apart = np.abs(wanted.astype(np.float64) - found.astype(np.float64))
            limit = tolerance * scale
            wrong = ~((apart <= limit) | (np.isnan(wanted) & np.isnan(found)) | (wanted == found))
        if tolerance and not np.isfinite(wanted).all():
            continue
        if wrong.any():
            at = int(np.argmax(wrong))
            index = at if name in objects else at - ZONE
            return f"{name}[{index}] is {found[at]!r}, expected {wanted[at]!r}"
    return ""


def _largest(values: Any) -> float:
    """Return the largest magnitude of the finite values of an array, 0 where there is none."""
    finite = values[np.isfinite(values)]
    return float(np.abs(finite.astype(np.float64)).max()) if finite.size else 0.0


def surprise(job: dict[str, Any], got: dict[str, Any]) -> str:
    """Return how the original differs from what the reference in Python computed, if it did."""
    objects = {name for name, _, _ in job["objects"]}
    for name, (places, values) in job["expected"].items():
        found = got[name] if name in objects else got[name][ZONE:]
        for place, value in zip(places, values, strict=True):
            if found[place] != value:
                return f"{name}[{place}] is {found[place]!r} in C, {value!r} in the reference"
    return ""


def contraction(job: dict[str, Any], started: dict[str, Any], got: dict[str, Any]) -> str:
    """Return how the original differs from numpy's einsum, for a job that is a contraction."""
    spec = job.get("einsum")
    if not spec:
        return ""
    views = []
    for name, offset, shape, strides in spec["tensors"]:
        start = started[name][ZONE + offset :]
        bytes_ = [s * start.itemsize for s in strides]
        views.append(np.lib.stride_tricks.as_strided(start, shape, bytes_).astype(np.float64))
    target, *inputs = views
    result = spec["factor"] * np.einsum(spec["formula"], *inputs)
    expected = result if spec["op"] == "=" else target + (result if spec["op"] == "+=" else -result)
    name, offset, shape, strides = spec["tensors"][0]
    start = got[name][ZONE + offset :]
    found = np.lib.stride_tricks.as_strided(start, shape, [s * start.itemsize for s in strides])
    if np.array_equal(found.astype(np.float64), expected):
        return ""
    return f"{name} is not what numpy.einsum gives"


def run(batch: dict[str, Any]) -> None:
    # Set before any runtime is loaded: one that knows a GPU looks for code that is not there.
    os.environ.update(OMP_NUM_THREADS="2", ACC_DEVICE_TYPE="host")
    original = Library("original", batch["libraries"].pop("original"))
    others = [Library(name, path) for name, path in batch["libraries"].items()]
    for job in batch["jobs"]:
        say(job, "original", "begins")
        expected = original.call(job)
        say(job, "original", surprise(job, expected) or contraction(job, inputs(job), expected))
        for library in others:
            if library.name not in job["targets"]:
                continue
            say(job, library.name, "begins")
            launches, fault = 0, ""
            for order in library.orders:
                library.prepare(order)
                got = library.call(job)
                launches = max(launches, library.launches())
                fault = fault or library.complaint()
                fault = fault or differs(job, expected, got)
            say(job, library.name, fault, launches)


def say(job: dict[str, Any], library: str, fault: str, launches: int = -1) -> None:
    print(json.dumps([job["number"], library, fault, launches]), flush=True)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        run(json.load(file))
