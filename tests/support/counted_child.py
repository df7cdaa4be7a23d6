"""Run in a process of its own: calls a region again and again, and tells what each call asks CUDA.

    python counted_child.py TASK.json OUTPUTS

Each call gets arrays of its own with the same values. The first two are as they are, in each of the
others one of CUDA's calls fails. What the arrays hold then is in the files OUTPUTS.0, OUTPUTS.1, ….
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

COUNTERS = ("mallocs", "pins", "frees", "memcpys", "bytes_in", "bytes_out", "launches")


def counts(library: Any) -> dict[str, int]:
    """Return what has been counted since the library was reset."""
    found = {}
    for name in COUNTERS:
        function = getattr(library, f"annotune_cpu_{name}")
        function.restype = ctypes.c_long
        found[name] = int(function())
    return found


def called(library: Any, task: dict[str, Any], outputs: Path) -> dict[str, Any]:
    """Return what a call counts and computes; its arrays are in a file."""
    memory = np.fromfile(task["inputs"], np.uint8)
    starts = [b["offset"] - b["first"] * np.dtype(b["dtype"]).itemsize for b in task["buffers"]]
    pointers = (ctypes.c_void_p * max(1, len(starts)))(*(memory.ctypes.data + s for s in starts))
    integers = (ctypes.c_longlong * max(1, len(task["integers"])))(*task["integers"])
    reals = (ctypes.c_double * max(1, len(task["reals"])))(*task["reals"])
    before = counts(library)
    getattr(library, task["entry"])(pointers, integers, reals)
    counted = {name: n - before[name] for name, n in counts(library).items()}
    memory.tofile(outputs)
    scalars = [list(integers)[: len(task["integers"])], list(reals)[: len(task["reals"])]]
    return {"counted": counted, "scalars": scalars, "output": str(outputs)}


def main() -> None:
    """Print what each call comes to."""
    task = json.loads(Path(sys.argv[1]).read_text())
    library = ctypes.CDLL(task["library"])
    found = [called(library, task, Path(f"{sys.argv[2]}.0"))]
    failing = (ctypes.c_int * 32)()
    calls = failing[: library.annotune_cpu_failing(failing)]
    found.append(called(library, task, Path(f"{sys.argv[2]}.1")))
    found[-1]["wrong"] = library.annotune_cpu_red_zone_violations()
    for number, call in enumerate(calls, 2):
        library.annotune_cpu_reset()
        library.annotune_cpu_fail_at(call)
        found.append(called(library, task, Path(f"{sys.argv[2]}.{number}")))
        found[-1]["wrong"] = library.annotune_cpu_red_zone_violations()
        found[-1]["left"] = library.annotune_cpu_live_allocations()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
