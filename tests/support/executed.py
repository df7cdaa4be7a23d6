"""Generated CUDA text, executed on the CPU beside the user's own file.

The user's functions are called twice on the same random inputs: once as written, once from the
generated pair of files, with the threads in three orders. Inputs are small integers held in
doubles, so the order of a sum does not matter and results are compared bit by bit.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotune.codegen.cuda.target import CudaTarget
from annotune.measure.cuda_text import translate
from annotune.pipeline import Emission, Settings, emit
from annotune.runtime.texts import CUDA_RUNTIME, RUNTIME_TEXTS
from support.python import python
from support.quicker import quicker
from support.runtime import APART, CUDA, SHARED, cuda_player, cuda_runtime

__all__ = ["CUDA", "SHARED"]

CHILD_LIMIT_S = 600

FORWARDS, BACKWARDS, SHUFFLED = 0, 1, 2
ORDERS = (FORWARDS, BACKWARDS, SHUFFLED)


@dataclass(frozen=True)
class Part:
    """A pointer argument: `offset` elements into the buffer `buffer` of a call."""

    buffer: int
    offset: int = 0


@dataclass(frozen=True)
class Call:
    """One call: the function, its arguments, and the memory they point into.

    `buffers` are lengths, in elements of the type of the argument that points there
    (``double``; ``float`` for those in `floats`). `fail_at` makes that CUDA call fail.
    """

    function: str
    arguments: tuple[int | float | Part, ...]
    buffers: tuple[int, ...]
    floats: tuple[int, ...] = ()
    orders: tuple[int, ...] = ORDERS
    fail_at: int = 0


@dataclass(frozen=True)
class Outcome:
    """What one call did in one order.

    `same` says that every byte of every buffer, and the returned int, are the original's.
    """

    same: bool
    launches: int
    live_allocations: int
    broken_zones: int
    counted: Mapping[str, int]
    message: str


_CHILD = """
import ctypes, functools, json, random, sys
original, generated = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
generated.annotune_cpu_message.restype = ctypes.c_char_p
KINDS = {"d": ctypes.c_double, "f": ctypes.c_float}
ZONE = 64

@functools.lru_cache(64)
def filled(kind, count, seed):
    made = random.Random(seed).randbytes(count + 2 * ZONE)
    return (KINDS[kind] * len(made))(*(one % 8 for one in made))

def fill(kind, count, seed):
    first = filled(kind, count, seed)
    return type(first).from_buffer_copy(first)

def call(library, job):
    buffers = [fill(kind, count, k) for k, (kind, count) in enumerate(job["buffers"])]
    arguments = []
    for argument in job["arguments"]:
        if argument[0] == "p":
            buffer = buffers[argument[1]]
            size = ctypes.sizeof(buffer._type_)
            place = ctypes.addressof(buffer) + (ZONE + argument[2]) * size
            arguments.append(ctypes.c_void_p(place))
        elif argument[0] == "i":
            arguments.append(ctypes.c_longlong(argument[1]))
        else:
            arguments.append(ctypes.c_double(argument[1]))
    function = getattr(library, job["function"])
    function.restype = ctypes.c_int
    got = function(*arguments)
    return [bytes(b) for b in buffers], got if job["returns"] else 0

for job in json.load(sys.stdin):
    expected = call(original, job)
    for order in job["orders"]:
        generated.annotune_cpu_reset()
        generated.annotune_cpu_set_order(order)
        generated.annotune_cpu_fail_at(job["fail_at"])
        got = call(generated, job)
        zones = generated.annotune_cpu_red_zone_violations()
        names = "mallocs", "memcpys", "frees", "pins", "calls"
        counted = {name: getattr(generated, "annotune_cpu_" + name)() for name in names}
        print(json.dumps([got == expected, generated.annotune_cpu_launches(),
            generated.annotune_cpu_live_allocations(), zones, counted,
            generated.annotune_cpu_message().decode()]), flush=True)
"""


def emitted(folder: Path, text: str, **options: Any) -> Emission:
    """Return what `emit` makes of a C text for CUDA."""
    source = folder / "user.c"
    source.write_text(text)
    return emit(Settings(source, ("cuda",), **options), [CudaTarget()])


def run(*command: str | Path) -> None:
    """Run a compiler, which must succeed."""
    words = quicker([str(part) for part in command])
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Executable:
    """The user's text and the CUDA made of it, built side by side, to run on some `devices`."""

    def __init__(
        self, folder: Path, text: str, files: Mapping[str, str], *flags: str, devices: int = 1
    ) -> None:
        self.cuda, self.host = files[".cu"], files["_cuda.c"]
        (folder / "original.c").write_text(text)
        (folder / "host.c").write_text(self.host)
        (folder / "device.cu").write_text(translate(self.cuda))
        strict = (*flags, "-O0", "-Wall", "-Werror", "-Wno-unused", "-Wno-maybe-uninitialized")
        run("gcc", *strict, *SHARED, "-shared", folder / "original.c", "-o", folder / "original.so")
        seen = (*strict, f"-I{RUNTIME_TEXTS}")
        run("gcc", *seen, *SHARED, "-c", folder / "host.c", "-o", folder / "host.o")
        there = f"-DANNOTUNE_DEVICES={devices}"
        device = (
            "g++",
            "-O0",
            there,
            *SHARED,
            folder / "host.o",
            *([cuda_runtime(there)] if CUDA_RUNTIME.is_included(self.cuda) else []),
            cuda_player(there),
            *APART,
            "-shared",
            folder / "device.cu",
        )
        run(*device, "-o", folder / "made.so")
        self._folder = folder

    def outcomes(self, *calls: Call, returns: bool = False) -> list[list[Outcome]]:
        """Return for each call what happened in each of its orders."""
        jobs = [self._job(call, returns) for call in calls]
        libraries = self._folder / "original.so", self._folder / "made.so"
        child = python(_CHILD, *libraries, input=json.dumps(jobs), timeout=CHILD_LIMIT_S)
        assert child.returncode == 0, f"died of {child.returncode}: {child.stderr[-2000:]}"
        rows = iter(Outcome(*json.loads(line)) for line in child.stdout.splitlines())
        return [[next(rows) for _ in call.orders] for call in calls]

    def check(
        self, *calls: Call, returns: bool = False, launches: bool | None = None
    ) -> list[list[Outcome]]:
        """Assert that every call in every order gives what the original gives.

        `launches` also asserts whether any kernel ran. Returns what happened.
        """
        found = self.outcomes(*calls, returns=returns)
        for call, outcomes in zip(calls, found, strict=True):
            for outcome in outcomes:
                assert outcome.same, (call, outcome)
                assert outcome.live_allocations == 0, (call, outcome)
                assert outcome.broken_zones == 0, (call, outcome)
                if launches is not None:
                    assert (outcome.launches > 0) is launches, (call, outcome)
        return found

    @staticmethod
    def _job(call: Call, returns: bool) -> dict[str, Any]:
        arguments: list[Sequence[Any]] = []
        for value in call.arguments:
            if isinstance(value, Part):
                arguments.append(("p", value.buffer, value.offset))
            else:
                arguments.append(("i" if isinstance(value, int) else "d", value))
        return {
            "function": call.function,
            "arguments": arguments,
            "buffers": [("f" if k in call.floats else "d", n) for k, n in enumerate(call.buffers)],
            "orders": call.orders,
            "fail_at": call.fail_at,
            "returns": returns,
        }


def executable(folder: Path, text: str, **options: Any) -> Executable:
    """Return `text` and the CUDA that `emit` makes of it, built and ready to be called."""
    return Executable(folder, text, emitted(folder, text, **options).files)
