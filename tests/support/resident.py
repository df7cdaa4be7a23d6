"""Programs with blocks of Data, built for each target and called beside the C as written.

CUDA runs on the CPU and OpenACC with a memory of its own, so that what is not copied is wrong.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from annotune.codegen.target import load_target
from annotune.measure.compile import ACC_MEMORY, RUNTIME_FOLDER
from annotune.measure.cuda_text import translate
from annotune.measure.directives import with_memory
from annotune.pipeline import Emission, Settings, emit
from annotune.runtime.texts import ACC_RUNTIME, RUNTIME_TEXTS, standalone_files
from support.executed import SHARED, run
from support.laws import IS_THOROUGH
from support.python import python
from support.runtime import APART, cuda_player, cuda_runtime

LIMIT_S = 300
# Optimising, gcc warns of more, and takes most of the time of the tests that are run often.
_LEVEL = "-O1" if IS_THOROUGH else "-O0"
# What regions leave unset, and directives for others.
_PERHAPS = ("-Wno-maybe-uninitialized", "-Wno-unknown-pragmas")

_CHILD = """
import ctypes, json, os, sys
import numpy as np

original, made = (ctypes.CDLL(path) for path in sys.argv[1:3])
target = sys.argv[3]
MARGIN = 8


def counted(name):
    prefix = "annotune_cpu_" if target == "cuda" else "annotune_acc_"
    function = getattr(made, prefix + name)
    function.restype = ctypes.c_longlong if target == "openacc" else ctypes.c_long
    return int(function())


def called(library, job):
    # A region may be given a pointer before the first element, and use what is there.
    room = [np.zeros(n + MARGIN) for n in job["arrays"]]
    arrays = [one[MARGIN:] for one in room]
    for k, one in enumerate(arrays):
        one[:] = (np.arange(one.size) * 37 % 101) / 8 - k
    given = [*map(ctypes.c_int, job["sizes"]), *(ctypes.c_void_p(a.ctypes.data) for a in arrays)]
    function = getattr(library, job["function"])
    function.restype = ctypes.c_double
    results = [function(*given) for _ in range(job["calls"])]
    return [*arrays, np.array(results if job["returns"] else [])]


def run(job):
    if target == "cuda":
        made.annotune_cpu_reset()
    expected = called(original, job)
    if target == "cuda":
        made.annotune_cpu_fail_at(job["fail_at"])
        made.annotune_cpu_have(ctypes.c_size_t(job["memory"]))
    found = called(made, job)
    bound = {"rtol": job["rtol"], "atol": job["rtol"]}
    same = all(np.allclose(a, b, **bound) for a, b in zip(found, expected))
    counts = {}
    if target in ("cuda", "openacc"):
        counts = {name: counted(name) for name in ("bytes_in", "bytes_out")}
    if target == "cuda":
        names = "mallocs", "memcpys", "launches", "calls", "waits"
        names += "red_zone_violations", "live_allocations"
        counts |= {name: counted(name) for name in names}
    elif target == "openacc":
        counts["live_sections"] = counted("live_sections")
    print(json.dumps([bool(same), counts]), flush=True)


for job in json.load(sys.stdin):
    if not (own := os.fork()):
        run(job)
        os._exit(0)
    if os.waitpid(own, 0)[1]:
        print("null", flush=True)
"""


@dataclass(frozen=True)
class Job:
    """Calls of a function with integers and arrays of doubles, of which CUDA's `fail_at` fails.

    The device has `memory` bytes, 0 for as many as are asked for.
    """

    function: str
    sizes: tuple[int, ...]
    arrays: tuple[int, ...]
    returns: bool = False
    calls: int = 1
    fail_at: int = 0
    memory: int = 0
    rtol: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """Whether the results are those of the C as written, and what it took."""

    same: bool
    counts: Mapping[str, int]

    @property
    def moved(self) -> tuple[int, int]:
        """The bytes to the device and from it."""
        return self.counts["bytes_in"], self.counts["bytes_out"]


class Built:
    """Texts of a program as written, and as `emit` makes them for a target; `others` stay.

    With a `function` its regions alone are made.
    """

    def __init__(
        self,
        folder: Path,
        target: str,
        texts: Mapping[str, str],
        others: str = "",
        function: str = "",
    ) -> None:
        folder.mkdir(exist_ok=True, parents=True)
        self.folder, self.target = folder, target
        self.emissions: dict[str, Emission] = {}
        for name, text in texts.items():
            source = folder / f"{name}.c"
            source.write_text(text)
            settings = Settings(source, (target,), function=function)
            self.emissions[name] = emit(settings, [load_target(target)])
        (folder / "others.c").write_text(others)
        own = [folder / "others.c", *(folder / f"{name}.c" for name in texts)]
        run("gcc", "-O1", "-w", *SHARED, "-shared", *own, "-lm", "-o", folder / "original.so")
        getattr(self, f"_{target}")()

    def _made(self, name: str, text: str, *command: Any) -> Path:
        """Return the object of a text, which is compiled where it is another one than before."""
        source, made = self.folder / name, self.folder / f"{name}.o"
        if not made.exists() or source.read_text() != text:
            source.write_text(text)
            run(*command, *SHARED, "-c", source, "-o", made)
        return made

    def _host(self, suffix: str, *flags: str) -> list[Path]:
        """Return the objects of the C files, which are compiled without a warning."""
        seen = f"-I{RUNTIME_TEXTS}"
        strict = ("gcc", _LEVEL, "-Wall", "-Werror", "-Wno-unused", *_PERHAPS, seen, *flags)
        made = [self._made("others.c", (self.folder / "others.c").read_text(), "gcc", "-w")]
        for name, emission in self.emissions.items():
            text = emission.files[suffix]
            text = with_memory(text) if suffix == "_acc.c" else text
            made.append(self._made(f"{name}{suffix}", text, *strict))
        return made

    def _cuda(self) -> None:
        objects = self._host("_cuda.c")
        warned = ("g++", _LEVEL, "-Wall", "-Werror", "-Wno-unused", "-Wno-unknown-pragmas", *APART)
        for name, emission in self.emissions.items():
            objects.append(self._made(f"{name}.cu", translate(emission.files[".cu"]), *warned))
        objects += [cuda_runtime(), cuda_player()]
        run("g++", "-shared", *objects, "-o", self.folder / "made.so")

    def _openacc(self) -> None:
        flags = ("-fopenacc", "-foffload=disable")
        objects = self._host("_acc.c", *flags, *ACC_MEMORY)
        text = with_memory(ACC_RUNTIME.texts[ACC_RUNTIME.source])
        seen = ("gcc", _LEVEL, *flags, *ACC_MEMORY, f"-I{RUNTIME_TEXTS}")
        objects.append(self._made("runtime.c", text, *seen))
        text = (RUNTIME_FOLDER / "acc_memory.c").read_text()
        objects.append(self._made("memory.c", text, "gcc", _LEVEL))
        run("gcc", *flags, "-shared", *objects, "-lm", "-o", self.folder / "made.so")

    def _openmp(self) -> None:
        objects = self._host("_omp.c", "-fopenmp")
        run("gcc", "-fopenmp", "-shared", *objects, "-lm", "-o", self.folder / "made.so")

    def _openmp_target(self) -> None:
        flags = ("-fopenmp", "-foffload=disable")
        objects = self._host("_omp_target.c", *flags)
        run("gcc", *flags, "-shared", *objects, "-lm", "-o", self.folder / "made.so")

    def changed(self, old: str, new: str, suffix: str = "") -> Built:
        """Return the program with a pattern replaced in what the host runs, or in another file.

        The files then have the runtime in them.
        """
        suffix = suffix or {"cuda": "_cuda.c", "openacc": "_acc.c"}[self.target]
        other = copy(self)
        other.folder = self.folder / "changed"
        shutil.copytree(self.folder, other.folder, dirs_exist_ok=True)
        other.emissions = {}
        for name, emission in self.emissions.items():
            files = standalone_files(emission.files)
            text = re.sub(old, new, files[suffix], flags=re.MULTILINE)
            assert text != files[suffix], old
            other.emissions[name] = replace(emission, files={**files, suffix: text})
        getattr(other, f"_{self.target}")()
        return other

    def run(self, *jobs: Job) -> tuple[list[Outcome | None], str]:
        """Return what came of each job, None where its process died, and what they said."""
        given = json.dumps([asdict(job) for job in jobs])
        built = self.folder / "original.so", self.folder / "made.so", self.target
        child = python(_CHILD, *built, input=given, timeout=LIMIT_S)
        assert child.returncode == 0, child.stderr
        rows = map(json.loads, child.stdout.splitlines())
        return [None if row is None else Outcome(*row) for row in rows], child.stderr

    def outcomes(self, *jobs: Job) -> list[Outcome]:
        """Return what came of each job; each is right and leaves nothing behind."""
        found, said = self.run(*jobs)
        alive = [one for one in found if one is not None]
        assert len(alive) == len(jobs), said
        for job, one in zip(jobs, alive, strict=True):
            assert one.same, (job, one, said)
            for name in ("red_zone_violations", "live_sections"):
                assert one.counts.get(name, 0) == 0, (job, one)
        return alive
