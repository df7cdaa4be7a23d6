"""Run in a process of its own: calls functions of some libraries and prints what numpy finds wrong.

    python workload_child.py < {"libraries": {"cuda": PATH, …}, "jobs": […], "orders": [0, 1, 2]}

A job is a function, its prototype's parameters, and its sizes; orders are those of CUDA's threads.
Numbers are small integers, so that sums are exact in any order.
"""

from __future__ import annotations

import ctypes
import json
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
from workload_references import REFERENCES

# Elements before and behind each array, which no call may touch.
ZONE = 64
SCALARS = {
    "int": ctypes.c_int,
    "long": ctypes.c_long,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
TYPES = {"float": np.float32, "double": np.float64}


class Argument:
    """A parameter of C with what it is called with: a size, a number or an array."""

    def __init__(self, given: list[Any], sizes: dict[str, int], seed: int) -> None:
        self.name, self.type, extents = given
        self.value: Any
        if extents is None:
            number = sizes[self.name] if self.type in ("int", "long") else seed % 3 + 2
            self.value, self.passed = number, SCALARS[self.type](number)
            return
        shape = [int(n) if n.isdigit() else sizes[n] for n in extents]
        count = int(np.prod(shape))
        drawn = np.random.default_rng(seed).integers(-3, 4, count + 2 * ZONE)
        self.memory = drawn.astype(TYPES[self.type])
        self.before = self.memory.copy()
        self.value = self.before[ZONE : ZONE + count].reshape(shape)
        self.passed = ctypes.c_void_p(self.memory.ctypes.data + ZONE * self.memory.itemsize)

    def fault(self, wanted: Any) -> str:
        """Return where the array is not as wanted, or changed around it; "" for nowhere."""
        right = self.before.copy()
        right[ZONE : len(right) - ZONE] = wanted.ravel()
        size = max(1.0, float(np.abs(right).max()))
        rounding = float(np.finfo(right.dtype).eps) * 16
        places = np.flatnonzero(~(np.abs(self.memory - right) <= rounding * size))
        if not len(places):
            return ""
        first = places[0]
        found = f"[{first - ZONE}] is {self.memory[first]}, not {right[first]}"
        return f"{self.name}{found} ({len(places)} differ)"


def faults(library: Any, job: dict[str, Any]) -> list[str]:
    """Return what a call leaves otherwise than numpy."""
    arguments = [Argument(one, job["sizes"], 1 + n) for n, one in enumerate(job["parameters"])]
    given = SimpleNamespace(**{one.name: one.value for one in arguments})
    function = getattr(library, job["function"])
    function.restype = SCALARS.get(job["returns"])
    value = function(*(one.passed for one in arguments))
    outcome = REFERENCES[job["function"]](given)
    found = []
    if "return" in outcome and not np.isclose(value, outcome["return"], rtol=1e-14, atol=0):
        found.append(f"{value} comes back, not {outcome['return']}")
    arrays = [one for one in arguments if hasattr(one, "memory")]
    return found + [w for one in arrays if (w := one.fault(outcome.get(one.name, one.value)))]


COUNTERS = ("mallocs", "frees", "memcpys", "bytes_in", "bytes_out")


def counts(library: Any) -> list[int]:
    """Return what calls of the CUDA library there have been, and the bytes that they copied."""
    found = []
    for name in COUNTERS:
        function = getattr(library, f"annotune_cpu_{name}")
        function.restype = ctypes.c_long
        found.append(function())
    return found


def counted(library: Any, job: dict[str, Any]) -> tuple[list[int], list[int], list[str]]:
    """Return what the first and the second call of a function count, and what is wrong."""
    library.annotune_cpu_reset()
    every, wrong = [counts(library)], []
    for _ in range(2):
        wrong += faults(library, job)
        every.append(counts(library))
    first, second = ([b - a for a, b in zip(*pair, strict=True)] for pair in (every[:2], every[1:]))
    if second[:2] != [0, 0] or second[2:] != first[2:] or first[1]:
        wrong.append(f"{first} of {COUNTERS} in the first call and {second} in the second")
    library.annotune_cpu_reset()
    for failing in range(1, 1 + first[0]):
        # Memory that cannot be had once is asked for again; what a call has had goes back.
        library.annotune_cpu_fail_at(failing)
        wrong += faults(library, job)
        if library.annotune_cpu_live_allocations():
            wrong.append(f"memory is not given back after failure {failing}")
    return first, second, wrong


def main() -> None:
    """Print a line for each fault, one of what calls count, and at last how many there were."""
    given = json.load(sys.stdin)
    calls = 0
    for name, path in given["libraries"].items():
        library = ctypes.CDLL(path)
        is_cuda = hasattr(library, "annotune_cpu_set_order")
        for order in given["orders"] if is_cuda else (0,):
            for job in given["jobs"]:
                if is_cuda:
                    library.annotune_cpu_reset()
                    library.annotune_cpu_set_order(order)
                for fault in faults(library, job):
                    print(f"{name}, order {order}, {job['function']} {job['sizes']}: {fault}")
                if not is_cuda:
                    calls += 1
                    continue
                if library.annotune_cpu_live_allocations():
                    print(f"{name}, {job['function']}: memory is not given back")
                if order == given["orders"][0]:
                    first, second, wrong = counted(library, job)
                    for fault in wrong:
                        print(f"{name}, {job['function']} {job['sizes']}: {fault}")
                    print(f"# {job['function']} {job['sizes']}: {first}, then {second}")
                calls += 1
    print(calls)


if __name__ == "__main__":
    main()
