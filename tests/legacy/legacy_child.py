"""Run in a process of its own: calls routines of some libraries and prints what they leave wrongly.

    python legacy_child.py < {"beside": PATH, "libraries": {"original": PATH, …}, "jobs": […]}

The first library is right. Each is called in a fork, so that one that dies is named.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import sys
from typing import Any

import numpy as np

# Elements before and behind each argument, which no call may touch.
ZONE = 64
ROUNDING = {"f8": 1e-11, "f4": 1e-4}


def filled(name: str, dtype: str, count: int, values: list[float], seed: int) -> Any:
    """Return the elements of an argument between its zones."""
    if dtype.startswith("i"):
        elements = np.ones(count + 2 * ZONE, dtype)
    else:
        numbers = (np.arange(count + 2 * ZONE) * 7919 + seed * 104729 + 13) % 101 % 9
        elements = (numbers - 4).astype(dtype)
        # Scalars are factors, which 0 would hide things behind.
        elements[ZONE] = elements[ZONE] or 3
    elements[ZONE : ZONE + len(values)] = values
    return elements


def called(library: Any, job: dict[str, Any]) -> list[Any]:
    """Return what a call leaves: the arguments, the COMMON blocks, and the value."""
    arrays = [filled(*one, seed) for seed, one in enumerate(job["arguments"])]
    places = [ctypes.c_void_p(a.ctypes.data + ZONE * a.itemsize) for a in arrays]
    blocks = []
    for symbol, members in job["commons"].items():
        types = np.dtype([(name, dtype, (count,)) for name, dtype, count in members], align=True)
        block = np.zeros(1, types)
        for seed, (name, dtype, count) in enumerate(members, 50):
            block[name][0] = filled(name, dtype, count, [], seed)[ZONE : ZONE + count]
        try:
            place = ctypes.addressof(ctypes.c_char.in_dll(library, symbol))
        except ValueError:  # no routine that is left uses it
            continue
        ctypes.memmove(place, block.ctypes.data, block.nbytes)
        blocks.append((place, block, [name for name, _, _ in members]))
    function = getattr(library, job["function"])
    returns = job["returns"]
    function.restype = {"": ctypes.c_int, "i4": ctypes.c_int, "f8": ctypes.c_double}[returns]
    value = function(*places)
    for place, block, _ in blocks:
        ctypes.memmove(block.ctypes.data, place, block.nbytes)
    shared = [block[name][0] for _, block, names in blocks for name in names]
    return [*arrays, *shared, np.array([value], returns) if returns else np.zeros(0)]


def left(path: str, jobs: list[dict[str, Any]]) -> list[tuple[int, int, list[Any]]]:
    """Return the order of the threads, the number of the call, and what it leaves."""
    library = ctypes.CDLL(path)
    is_cuda = hasattr(library, "annotune_cpu_set_order")
    found = []
    for order in (0, 1, 2) if is_cuda else (0,):
        for number, job in enumerate(jobs):
            if is_cuda:
                library.annotune_cpu_reset()
                library.annotune_cpu_set_order(order)
            found.append((order, number, called(library, job)))
            if is_cuda:
                assert library.annotune_cpu_red_zone_violations() == 0, job["function"]
                assert library.annotune_cpu_live_allocations() == 0, job["function"]
    return found


def in_a_fork(path: str, jobs: list[dict[str, Any]]) -> tuple[int, Any]:
    """Return how a fork ended that makes the calls, and what they leave."""
    end, begin = os.pipe()
    child = os.fork()
    if not child:
        os.close(end)
        with os.fdopen(begin, "wb") as answer:
            pickle.dump(left(path, jobs), answer)
        os._exit(0)
    os.close(begin)
    with os.fdopen(end, "rb") as answer:
        told = answer.read()
    status = os.waitpid(child, 0)[1]
    return status, None if status else pickle.loads(told)


def difference(got: Any, wanted: Any, before: int) -> str:
    """Return where two arrays differ first, counted behind `before` elements, "" for nowhere."""
    if wanted.dtype.kind == "f":
        finite = np.abs(wanted[np.isfinite(wanted)])
        most = ROUNDING[wanted.dtype.str[1:]] * max(1.0, finite.max(initial=0.0))
        same = np.isclose(got, wanted, rtol=0, atol=most, equal_nan=True)
    else:
        same = got == wanted
    places = np.flatnonzero(~same)
    if not len(places):
        return ""
    first = places[0]
    return f"[{first - before}] is {got[first]}, not {wanted[first]} ({len(places)} differ)"


def main() -> None:
    given = json.load(sys.stdin)
    ctypes.CDLL(given["beside"], ctypes.RTLD_GLOBAL)
    jobs = given["jobs"]
    wanted: list[Any] = []
    for name, path in given["libraries"].items():
        status, found = in_a_fork(path, jobs)
        if status:
            print(f"{name}: died of {status}", flush=True)
            continue
        if not wanted:
            wanted = [arrays for _, _, arrays in found]
            continue
        for order, number, arrays in found:
            job = jobs[number]
            names = [one[0] for one in job["arguments"]]
            names += [one[0] for of in job["commons"].values() for one in of]
            for place, (got, right) in enumerate(zip(arrays, wanted[number], strict=True)):
                what = names[place] if place < len(arrays) - 1 else "the value"
                fault = difference(got, right, ZONE if place < len(job["arguments"]) else 0)
                if fault:
                    call = f"{job['function']} call {job['number']}"
                    print(f"{name}, order {order}, {call}: {what}{fault}", flush=True)


if __name__ == "__main__":
    main()
