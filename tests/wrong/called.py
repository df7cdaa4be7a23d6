"""A C file, and what every target makes of it, called with the same arguments.

    program = Program(tmp_path, PROGRAMS / "stale_scalar_int.c")
    program.check(Call("f", 6, 12, 15, Array("i4", 400)))

builds the file as written and as emitted (CUDA run on the CPU in three orders of its threads,
OpenACC by gcc and as OpenMP with several threads, both with a memory of the device's own, OpenMP),
calls all, and compares every byte of every array and the value that comes back. `make test` builds
CUDA, which takes longer than all others, of one in three programs that name no targets.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from support.executed import SHARED, run
from support.laws import IS_THOROUGH
from support.python import python
from support.runtime import APART, cuda_player, cuda_runtime

from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.measure.compile import ACC_MEMORY, RUNTIME_FOLDER
from annotune.measure.cuda_text import translate
from annotune.measure.directives import with_memory
from annotune.pipeline import Emission, Settings, emit
from annotune.runtime.texts import RUNTIME_TEXTS, standalone_files

PROGRAMS = Path(__file__).parent / "programs"
CHILD = Path(__file__).with_name("call_child.py")
# A limit for what hangs; nothing that works comes near it.
LIMIT_S = 300
GCC = ("gcc", "-std=gnu11", "-w", "-O0", *SHARED)
HOST_ACC = ("-fopenacc", "-foffload=disable")
THREADS = "3"


@dataclass(frozen=True)
class Array:
    """An array argument: numpy's name of the element type, how many, and what they hold.

    `values` are put at the beginning, as text where JSON has no such number (``"nan"``,
    ``"-0.0"``); the rest are small integers, others for another `seed`. The pointer given is that
    of element `offset`. Of a pointer to NULL `count` is None.
    """

    type: str
    count: int | None
    values: tuple[int | float | str, ...] = ()
    offset: int = 0
    seed: int = 0


class Call:
    """One call of a function; `returns` is numpy's name of its type, where it has a value.

    Integers are given as ``long``, floats as ``double``; in a pair with numpy's name of a type,
    ``("f4", 1.5)``, as that.
    """

    def __init__(
        self,
        function: str,
        *arguments: int | float | tuple[str, int | float] | Array,
        returns: str = "",
    ) -> None:
        self.function, self.arguments, self.returns = function, arguments, returns

    def __repr__(self) -> str:
        return f"{self.function}{self.arguments}"

    @property
    def job(self) -> dict[str, Any]:
        """Return the call as JSON."""
        given: list[Any] = []
        for argument in self.arguments:
            match argument:
                case Array():
                    given.append(asdict(argument))
                case (kind, value):
                    given.append([kind, value])
                case int():
                    given.append(["i8", argument])
                case _:
                    given.append(["f8", argument])
        return {"function": self.function, "arguments": given, "returns": self.returns}


def some(calls: Sequence[Call]) -> Sequence[Call]:
    """Return all calls where time allows, else of each function a third, and six at least."""
    if IS_THOROUGH:
        return calls
    by_function: dict[str, list[Call]] = {}
    for call in calls:
        by_function.setdefault(call.function, []).append(call)
    drawn = random.Random(1)
    return [
        call
        for every in by_function.values()
        for call in drawn.sample(every, min(len(every), max(6, len(every) // 3)))
    ]


class Program:
    """A C file built as written and as each target emits it.

    Headers of its folder are found; `flags` go to all compilers, `options` to `Settings`. With
    `resident` data OpenACC's builds have the arrays on the device before each call.
    """

    def __init__(
        self,
        folder: Path,
        source: Path,
        targets: Sequence[str] = (),
        flags: Sequence[str] = (),
        **options: Any,
    ) -> None:
        has_cuda = bool(targets) or IS_THOROUGH or crc32(source.read_bytes()) % 3 == 0
        targets = targets or DEFAULT_TARGETS
        self.folder, self._flags = folder, (*flags, "-I", folder)
        self._is_resident = bool(options.get("resident"))
        for header in source.parent.glob("*.h"):
            shutil.copy(header, folder)
        self.source = folder / source.name
        if source != self.source:
            shutil.copy(source, self.source)
        self.emission: Emission = emit(
            Settings(self.source, tuple(targets), **options), [load_target(t) for t in targets]
        )
        self._targets, self._has_cuda = targets, has_cuda
        self.build()

    def build(self) -> None:
        """Build all, also anew where a header of the folder has changed."""
        self.libraries = {"original": self._c("original", self.source.read_text())}
        for target in self._targets:
            if target != "cuda" or self._has_cuda:
                self._build(target)

    @property
    def files(self) -> dict[str, str]:
        """Return the emitted texts by suffix."""
        return dict(self.emission.files)

    def check(self, *calls: Call) -> None:
        """Assert that each call leaves, in every build, what the original leaves."""
        tried = some(calls)
        (_, wanted), *others = self._outcomes(self.libraries, tried)
        for library, faults in others:
            for order, number, got in faults:
                difference = _difference(got, wanted[number])
                raise AssertionError((library, order, tried[number], difference))

    def results(self, *calls: Call) -> list[Any]:
        """Return what the original leaves: for each call its arrays as hex, then its value."""
        ((_, found),) = self._outcomes({"original": self.libraries["original"]}, calls)
        return found

    def _build(self, target: str) -> None:
        files = self.files
        if target == "cuda":
            host, device = self.folder / "host.c", self.folder / "device.cu"
            host.write_text(files["_cuda.c"])
            device.write_text(translate(files[".cu"]))
            seen = f"-I{RUNTIME_TEXTS}"
            run(*GCC, *self._flags, seen, "-c", host, "-o", host.with_suffix(".o"))
            made = self.folder / "cuda.so"
            objects = host.with_suffix(".o"), cuda_runtime(), cuda_player()
            command = ("g++", "-w", "-O0", *SHARED, *self._flags, *objects)
            run(*command, *APART, "-shared", device, "-o", made)
            self.libraries["cuda"] = made
        elif target == "openacc":
            memory = (*ACC_MEMORY, RUNTIME_FOLDER / "acc_memory.c")
            alone = standalone_files(files)["_acc.c"]
            text, played = (with_memory(alone, is_openmp) for is_openmp in (False, True))
            if IS_THOROUGH:  # gcc runs it with one thread
                self.libraries["openacc"] = self._c("openacc", text, *HOST_ACC, *memory)
            self.libraries["openacc-played"] = self._c("acc_played", played, "-fopenmp", *memory)
        else:
            self.libraries["openmp"] = self._c("openmp", files["_omp.c"], "-fopenmp")

    def _c(self, name: str, text: str, *flags: str | Path) -> Path:
        source, made = self.folder / f"{name}_made.c", self.folder / f"{name}.so"
        source.write_text(text)
        run(*GCC, *self._flags, *flags, "-shared", source, "-o", made, "-lm")
        return made

    def _outcomes(
        self, libraries: Mapping[str, Path], calls: Sequence[Call]
    ) -> list[tuple[str, list[Any]]]:
        """Return what the child tells of each library."""
        request = {
            "libraries": {name: str(path) for name, path in libraries.items()},
            "jobs": [call.job for call in calls],
            "resident": self._is_resident,
        }
        child = python(
            CHILD,
            input=json.dumps(request),
            timeout=LIMIT_S,
            env={**os.environ, "OMP_NUM_THREADS": THREADS, "ACC_DEVICE_TYPE": "host"},
        )
        assert child.returncode == 0, (calls, child.returncode, child.stderr[-2000:])
        told = [json.loads(line) for line in child.stdout.splitlines()]
        for name, status, _ in told:
            assert status == 0, (name, calls, status, child.stderr[-2000:])
        return [(name, found) for name, _, found in told]


def _difference(got: list[str], wanted: list[str]) -> str:
    """Return where two outcomes differ first."""
    for number, (found, expected) in enumerate(zip(got, wanted, strict=True)):
        pairs = enumerate(zip(bytes.fromhex(found), bytes.fromhex(expected), strict=True))
        places = [place for place, (a, b) in pairs if a != b]
        if places:
            what = "the value returned" if number == len(got) - 1 else f"array {number}"
            at = 2 * (places[0] // 8 * 8)
            return (
                f"{what}, byte {places[0]}: {found[at : at + 16]} is not {expected[at : at + 16]}"
            )
    return ""
