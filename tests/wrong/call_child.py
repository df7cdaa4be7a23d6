"""Run in a process of its own: calls functions of some libraries and prints what they leave.

    python call_child.py < {"libraries": {"original": PATH, …}, "jobs": […], "resident": false}

A line of JSON for each library: its name, and how the fork of this process ended that called it;
for the first one, what each call leaves: what every array argument holds afterwards, red zones
included, and the value returned, all in hexadecimal; for the others the number of the order of
threads, that of the call, and what it leaves, where that is not the same. With "resident" data the
memory of a device of OpenACC's has the arrays before a call, and gives them back after it.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

# Elements before and behind each array, which no call may touch.
ZONE = 32
C_TYPES = {
    "i1": ctypes.c_int8,
    "u1": ctypes.c_uint8,
    "i2": ctypes.c_int16,
    "u2": ctypes.c_uint16,
    "i4": ctypes.c_int32,
    "u4": ctypes.c_uint32,
    "i8": ctypes.c_int64,
    "u8": ctypes.c_uint64,
    "f4": ctypes.c_float,
    "f8": ctypes.c_double,
}


def filled(array: dict[str, Any]) -> Any:
    """Return the elements of an array argument between its zones."""
    count = array["count"]
    numbers = (np.arange(count + 2 * ZONE) * 7919 + array["seed"] * 104729 + 13) % 101 % 9
    signed = np.dtype(array["type"]).kind in "ifc"
    elements = (numbers - 4 * signed).astype(array["type"])
    values = [float(v) if isinstance(v, str) else v for v in array["values"]]
    elements[ZONE : ZONE + len(values)] = values
    return elements


class Job:
    """One call, with the arrays as they are before it."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.function, self.returns, self.job = job["function"], job["returns"], job
        self._given: list[Any] = []
        for argument in job["arguments"]:
            if isinstance(argument, list):
                self._given.append(C_TYPES[argument[0]](argument[1]))
            elif argument["count"] is None:
                self._given.append(ctypes.c_void_p(None))
            else:
                self._given.append((filled(argument), ZONE + argument["offset"]))

    def call(self, library: ctypes.CDLL, is_resident: bool) -> list[bytes]:
        """Return what the call leaves."""
        arrays, arguments = [], []
        for given in self._given:
            if isinstance(given, tuple):
                elements = given[0].copy()
                start = elements.ctypes.data + given[1] * elements.itemsize
                arguments.append(ctypes.c_void_p(start))
                arrays.append(elements)
            else:
                arguments.append(given)
        function = getattr(library, self.function)
        function.restype = C_TYPES[self.returns] if self.returns else None
        kept = [(elements.ctypes.data_as(ctypes.c_void_p), elements.nbytes) for elements in arrays]
        for place, size in kept if is_resident else ():
            library.annotune_acc_keep(place, ctypes.c_longlong(size))
        value = function(*arguments)
        for place, size in kept if is_resident else ():
            library.annotune_acc_give_back(place, ctypes.c_longlong(size))
        returned = np.array(value, self.returns).tobytes() if self.returns else b""
        return [*(elements.tobytes() for elements in arrays), returned]


def left(path: str, jobs: list[Job], is_resident: bool) -> Iterator[list[list[bytes]]]:
    """Yield for each order of the threads what each call leaves."""
    library = ctypes.CDLL(path)
    is_cuda = hasattr(library, "annotune_cpu_set_order")
    is_resident = is_resident and hasattr(library, "annotune_acc_keep")
    for order in (0, 1, 2) if is_cuda else (0,):
        found = []
        for job in jobs:
            if is_cuda:
                library.annotune_cpu_reset()
                library.annotune_cpu_set_order(order)
            found.append(job.call(library, is_resident))
            if is_cuda:
                assert library.annotune_cpu_red_zone_violations() == 0, job.job
                assert library.annotune_cpu_live_allocations() == 0, job.job
        yield found


def differing(
    path: str, jobs: list[Job], is_resident: bool, wanted: list[list[bytes]] | None
) -> list[Any]:
    """Return what a library leaves, or where it is not what is wanted."""
    orders = left(path, jobs, is_resident)
    if wanted is None:
        return next(orders)
    return [
        (order, number, got)
        for order, found in enumerate(orders)
        for number, got in enumerate(found)
        if got != wanted[number]
    ]


def in_a_fork(*given: Any) -> tuple[int, list[Any]]:
    """Return how a fork ended that looks what differs, and what it found."""
    end, begin = os.pipe()
    child = os.fork()
    if not child:
        os.close(end)
        with os.fdopen(begin, "wb") as answer:
            pickle.dump(differing(*given), answer)
        os._exit(0)
    os.close(begin)
    with os.fdopen(end, "rb") as answer:
        told = answer.read()
    status = os.waitpid(child, 0)[1]
    return status, [] if status else pickle.loads(told)


def hexed(value: Any) -> Any:
    """Return a value of JSON with bytes in hexadecimal."""
    if isinstance(value, list | tuple):
        return [hexed(one) for one in value]
    return value.hex() if isinstance(value, bytes) else value


def main() -> None:
    given = json.load(sys.stdin)
    jobs = [Job(job) for job in given["jobs"]]
    wanted: list[list[bytes]] | None = None
    for name, path in given["libraries"].items():
        status, found = in_a_fork(path, jobs, given["resident"], wanted)
        print(json.dumps([name, status, hexed(found)]), flush=True)
        if wanted is None:
            wanted = found


if __name__ == "__main__":
    main()
