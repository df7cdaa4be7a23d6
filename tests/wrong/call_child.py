"""Run in a process of its own: calls functions of one library and prints what they leave.

    python call_child.py LIBRARY RESIDENT < jobs.json

A line of JSON for each order of the threads, with a list for each call: what every array argument
holds afterwards, red zones included, and the value returned, all in hexadecimal. Where RESIDENT is
1, the memory of a device of OpenACC's has the arrays before a call, and gives them back after it.
"""

from __future__ import annotations

import ctypes
import json
import sys
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
    for place, value in enumerate(array["values"]):
        elements[ZONE + place] = float(value) if isinstance(value, str) else value
    return elements


def call(library: ctypes.CDLL, job: dict[str, Any], is_resident: bool = False) -> list[str]:
    """Return what a call leaves."""
    arrays, arguments = [], []
    for argument in job["arguments"]:
        if isinstance(argument, list):
            arguments.append(C_TYPES[argument[0]](argument[1]))
        elif argument["count"] is None:
            arguments.append(ctypes.c_void_p(None))
        else:
            elements = filled(argument)
            start = elements.ctypes.data + (ZONE + argument["offset"]) * elements.itemsize
            arguments.append(ctypes.c_void_p(start))
            arrays.append(elements)
    function = getattr(library, job["function"])
    function.restype = C_TYPES[job["returns"]] if job["returns"] else None
    kept = [(elements.ctypes.data_as(ctypes.c_void_p), elements.nbytes) for elements in arrays]
    for place, size in kept if is_resident else ():
        library.annotune_acc_keep(place, ctypes.c_longlong(size))
    value = function(*arguments)
    for place, size in kept if is_resident else ():
        library.annotune_acc_give_back(place, ctypes.c_longlong(size))
    returned = np.array(value, job["returns"]).tobytes().hex() if job["returns"] else ""
    return [*(elements.tobytes().hex() for elements in arrays), returned]


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    jobs = json.load(sys.stdin)
    is_cuda = hasattr(library, "annotune_cpu_set_order")
    is_resident = sys.argv[2] == "1" and hasattr(library, "annotune_acc_keep")
    for order in (0, 1, 2) if is_cuda else (0,):
        left = []
        for job in jobs:
            if is_cuda:
                library.annotune_cpu_reset()
                library.annotune_cpu_set_order(order)
            left.append(call(library, job, is_resident))
            if is_cuda:
                assert library.annotune_cpu_red_zone_violations() == 0, job
                assert library.annotune_cpu_live_allocations() == 0, job
        print(json.dumps(left), flush=True)


if __name__ == "__main__":
    main()
