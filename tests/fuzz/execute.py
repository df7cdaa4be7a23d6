"""Many functions of one batch compiled at once for every target, and run beside the original."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import settings
from support.quicker import HEADER, made_once
from support.runtime import APART, cuda_player, cuda_runtime

from annotune.measure.compile import ACC_MEMORY, KINDS, RUNTIME_FLAGS, RUNTIME_FOLDER
from annotune.measure.cuda_text import translate
from annotune.measure.directives import as_openmp_with_memory, with_memory
from annotune.runtime.texts import standalone_text

from .batch_child import scalar
from .c_reader import functions
from .contractions import einsum_of
from .examine import Examined, files
from .reference import Function, Number, Run

CHILD = Path(__file__).with_name("batch_child.py")
CHILD_LIMIT_S = 120
COMPILE_LIMIT_S = 300
EXACT = {"double": 2.0**53, "float": 2.0**24}
LARGEST = {"double": 2.0**1023, "float": 2.0**127}
TOLERANCE = 1e-6
# Without it gcc takes -(b * c) of complex numbers for -b * c, which gives zeros another sign.
SIGNS = "-frounding-math"
SHARED = ("-fPIC", "-fvisibility=default", "-fno-gnu-unique", "-w", "-g0", SIGNS)
# Most of the time of the few programs that every run of the tests draws is gcc's.
FAST = (*SHARED, "-O0" if settings.get_current_profile_name() == "laws" else "-O1")
# The bits of a CPU without fused operations.
NVCC = ("-arch=sm_90", "-O1", "--fmad=false", "-w", "-Xcompiler=-fPIC", "-cudart=shared")


@dataclass(frozen=True)
class Wrong:
    """One thing that went wrong: in which program, with which library, and how."""

    text: str
    library: str
    fault: str


@dataclass
class Ran:
    """What came of a batch: faults, and how many functions each library ran.

    `launched` counts the functions of which CUDA launched a kernel, `exact` those compared
    bit by bit.
    """

    faults: list[Wrong] = field(default_factory=list)
    executed: dict[str, int] = field(default_factory=dict)
    launched: int = 0
    exact: int = 0


def salt_value(salt: int, index: int) -> float:
    """Return the same number as `batch_child.fill` puts at `index` of an array."""
    from .batch_child import ZONE

    return float((((index + ZONE) * 7919 + salt * 104729) % 101) % 5 - 2)


def jobs(number: int, text: str, targets: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Yield a call of a function for each of its sizes, with what the reference computes."""
    (function,) = functions(text)
    salts = {p.name: k for k, p in enumerate(function.parameters)}
    salts |= {p.name: k + 50 for k, p in enumerate(function.objects)}

    def first(name: str, index: int) -> Number:
        return Number.of(salt_value(salts[name], index)) if name in salts else Number.of(1)

    reals = {p.name: Number.of(scalar(salts[p.name])) for p in function.parameters}
    factors = {name: number.value for name, number in reals.items()}
    for sizes in function.sizes:
        run = function.run(sizes, exact=False, first=first, reals=reals)
        lengths = function.lengths(sizes, run)
        elements = (set(function.types.values()) & set(EXACT)) or {"double"}
        is_exact = run.bound < min(EXACT[e] for e in elements)
        # 0 times 3 a hundred times is 0; 0 times a partial product of floats is 0 times infinity.
        has_limit = run.bound < min(LARGEST[e] for e in elements)
        yield {
            "number": number,
            "function": function.name,
            "targets": list(targets),
            "parameters": [_argument(p, sizes, lengths) for p in function.parameters],
            "objects": [[p.name, p.type, lengths[p.name]] for p in function.objects],
            "tolerance": 0.0 if is_exact else TOLERANCE if has_limit else math.inf,
            "expected": _expected(function, run) if is_exact else {},
            "einsum": einsum_of(text, sizes, factors) if is_exact else {},
        }


def _argument(parameter: Any, sizes: Mapping[str, int], lengths: Mapping[str, int]) -> list[Any]:
    name = parameter.name
    if parameter.is_array and parameter.type == "int":
        return [name, "int *", sizes[name]]
    if parameter.is_array:
        return [name, "array", [parameter.type, lengths[name]]]
    return [name, parameter.type, sizes.get(name, 0)]


def _expected(function: Function, run: Run) -> dict[str, Any]:
    arrays = [p.name for p in (*function.parameters, *function.objects) if p.is_array]
    return {
        name: [list(found), [value.value for value in found.values()]]
        for name, found in run.values(arrays).items()
    }


class Builder:
    """Compiles the texts of batches in one folder, CUDA's also for a GPU where `nvcc` is given."""

    def __init__(self, folder: Path, threads: int = 2, nvcc: str = "") -> None:
        self.folder, self.threads, self.nvcc = folder, threads, nvcc

    def header_flags(self, flags: Sequence[str]) -> list[str]:
        """Return the flag for CUDA's header compiled beforehand with the same flags."""
        plain = [f for f in flags if f not in ("-include", HEADER, "-x", "c++")]
        words = ("g++", *plain, "-x", "c++-header", str(RUNTIME_FOLDER / HEADER))
        made = made_once(words, f"{HEADER}.gch", self.folder)
        return [f"-I{made.parent}", f"-I{RUNTIME_FOLDER}"]

    def object(self, name: str) -> Path:
        """Return the object file of a source of the run-time folder."""
        compiler, role = ("gcc", "c") if name.endswith(".c") else ("g++", "cxx")
        flags = (*RUNTIME_FLAGS[role], "-fvisibility=default")
        words = (compiler, *flags, "-c", str(RUNTIME_FOLDER / name))
        return made_once(words, f"{name}.o", self.folder)

    def libraries(
        self, folder: Path, original: str, made: Mapping[str, Mapping[str, str]], races: bool
    ) -> dict[str, str]:
        """Return the shared objects of a batch: the original, each target, and race builds.

        Raises:
            BuildError: A compiler refuses one of the texts.
        """
        folder.mkdir(parents=True, exist_ok=True)
        steps: dict[str, list[list[str]]] = {"original": self._c(folder, "original", original, ())}
        if "cuda" in made:
            steps["cuda"] = self._cuda(folder, "cuda", made["cuda"], FAST, ())
            if self.nvcc:
                steps["cuda-gpu"] = self._cuda_gpu(folder, made["cuda"])
        if "openmp" in made:
            steps["openmp"] = self._c(folder, "openmp", made["openmp"]["_omp.c"], ("-fopenmp",))
        if "openacc" in made:
            flags = ("-fopenacc", *ACC_MEMORY, str(self.object("acc_memory.c")))
            steps["openacc"] = self._c(
                folder, "openacc", with_memory(made["openacc"]["_acc.c"]), flags
            )
        if races:
            steps |= self._races(folder, made)
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(lambda commands: [_run(c, folder) for c in commands], steps.values()))
        return {name: str(folder / f"{name}.so") for name in steps}

    def _races(self, folder: Path, made: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        steps = {}
        kind = KINDS["cuda-cpu-race"]
        if "cuda" in made:
            flags = tuple(f for f in kind.flags["c++"] if f.startswith(("-fsan", "-O")))
            runtime = [str(self.object(name)) for name in kind.runtime]
            steps["cuda-race"] = self._cuda(
                folder, "cuda-race", made["cuda"], (*SHARED, "-g1", *flags), runtime
            )
        texts = {"openmp": lambda: made["openmp"]["_omp.c"]}
        texts["openacc"] = lambda: as_openmp_with_memory(made["openacc"]["_acc.c"])
        for target, text in texts.items():
            if target in made:
                steps[f"{target}-race"] = self._omp_race(folder, f"{target}-race", text())
        return steps

    def _c(self, folder: Path, name: str, text: str, flags: Sequence[str]) -> list[list[str]]:
        source = folder / f"{name}.c"
        source.write_text(text)
        offload = ["-foffload=disable"] if flags else []
        command = ["gcc", *FAST, *flags, *offload, "-shared", str(source)]
        return [[*command, "-o", str(folder / f"{name}.so"), "-lm"]]

    def _omp_race(self, folder: Path, name: str, text: str) -> list[list[str]]:
        source, part = folder / f"{name}.c", folder / f"{name}.o"
        source.write_text(text)
        kind = KINDS[name]
        flags = [f for f in kind.flags["c"] if "visibility" not in f]
        link = [f for f in kind.link if "gc-sections" not in f]
        runtime = [str(self.object(n)) for n in kind.runtime]
        return [
            ["gcc", *flags, "-w", "-fvisibility=default", "-c", str(source), "-o", str(part)],
            ["g++", str(part), *runtime, "-o", str(folder / f"{name}.so"), *link],
        ]

    def _cuda(
        self,
        folder: Path,
        name: str,
        made: Mapping[str, str],
        flags: Sequence[str],
        runtime: Sequence[str],
    ) -> list[list[str]]:
        host, device = folder / f"{name}_host.c", folder / f"{name}_device.cpp"
        host.write_text(made["_cuda.c"])
        device.write_text(translate(made[".cu"]))
        first, second = folder / f"{name}_host.o", folder / f"{name}_device.o"
        header = self.header_flags((*flags, *APART))
        played = [one(*flags, otherwise=self.folder) for one in (cuda_runtime, cuda_player)]
        link = ["g++", "-shared", str(first), str(second), *map(str, played), *runtime]
        return [
            ["gcc", *FAST, "-c", str(host), "-o", str(first)],
            ["g++", *flags, *header, *APART, "-c", str(device), "-o", str(second)],
            [*link, "-o", str(folder / f"{name}.so"), "-lm"],
        ]

    def _cuda_gpu(self, folder: Path, made: Mapping[str, str]) -> list[list[str]]:
        host, device = folder / "gpu_host.c", folder / "gpu_device.cu"
        host.write_text(made["_cuda.c"])
        device.write_text(standalone_text(made[".cu"]))
        part = folder / "gpu_host.o"
        nvcc = [self.nvcc, *NVCC, "-shared", str(device), str(part)]
        return [
            ["gcc", *FAST, "-c", str(host), "-o", str(part)],
            [*nvcc, "-o", str(folder / "cuda-gpu.so"), "-lm"],
        ]


class BuildError(Exception):
    """A text that a compiler refuses, with its words."""


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=COMPILE_LIMIT_S, check=False
    )
    if done.returncode:
        raise BuildError(done.stderr[:3000])


def execute(ones: Sequence[Examined], builder: Builder, name: str, races: bool) -> Ran:
    """Return what comes of running the texts of many programs, each beside its original."""
    ran = Ran()
    ready = [one for one in ones if one.made]
    _execute(ready, builder, name, races, ran)
    return ran


def _execute(ones: Sequence[Examined], builder: Builder, name: str, races: bool, ran: Ran) -> None:
    if not ones:
        return
    folder = builder.folder / name
    try:
        libraries = _built(ones, builder, folder, races)
    except (BuildError, ValueError) as refusal:
        if len(ones) == 1:
            ran.faults.append(Wrong(ones[0].text, "compiler", str(refusal)))
            return
        # One text that no compiler takes must not hide the others.
        half = len(ones) // 2
        _execute(ones[:half], builder, f"{name}a", races, ran)
        _execute(ones[half:], builder, f"{name}b", races, ran)
        return
    _call(ones, libraries, folder, ran)


def _built(ones: Sequence[Examined], builder: Builder, folder: Path, races: bool) -> dict[str, str]:
    targets = list(dict.fromkeys(t for one in ones for t in one.made))
    made = {t: files([one for one in ones if t in one.made], t) for t in targets}
    original = "\n".join(one.text for one in ones)
    return builder.libraries(folder, original, made, races)


def _call(ones: Sequence[Examined], libraries: dict[str, str], folder: Path, ran: Ran) -> None:
    """Run the jobs in a child; after a crash, go on behind the function that crashed."""
    waiting = []
    for number, one in enumerate(ones):
        targets = [name for name in libraries if name.split("-")[0] in one.made]
        waiting += list(jobs(number, one.text, targets))
    ran.exact += len({j["number"] for j in waiting if not j["tolerance"]})
    done: dict[str, set[int]] = {}
    launched: set[int] = set()
    while waiting:
        path = folder / "jobs.json"
        path.write_text(json.dumps({"libraries": libraries, "jobs": waiting}))
        lines, ending = called(CHILD, path, folder, CHILD_LIMIT_S)
        last = -1
        for number, library, fault, launches in map(json.loads, lines):
            last = number
            if fault == "begins":
                current = library
                continue
            current = ""
            done.setdefault(library, set()).add(number)
            launched |= {number} if launches > 0 else set()
            if fault:
                ran.faults.append(Wrong(ones[number].text, library, fault))
        if not ending:
            break
        ran.faults.append(Wrong(ones[last].text, current or "child", ending))
        waiting = [job for job in waiting if job["number"] > last]
    for library, numbers in done.items():
        ran.executed[library] = ran.executed.get(library, 0) + len(numbers)
    ran.launched += len(launched)


def called(child: Path, path: Path, folder: Path, limit_s: float) -> tuple[list[str], str]:
    """Return the lines that a child wrote of the jobs at `path`, and how it died if it did."""
    out, errors = folder / "out.txt", folder / "errors.txt"
    errors.unlink(missing_ok=True)
    # The child reads what libraries say there, and empties it.
    with out.open("w") as file, errors.open("a+") as said:
        try:
            command = [sys.executable, str(child), str(path)]
            done = subprocess.run(command, stdout=file, stderr=said, timeout=limit_s, check=False)
            ending = f"died of {done.returncode}: " if done.returncode else ""
            ending += errors.read_text("utf-8", "replace")[-600:] if ending else ""
        except subprocess.TimeoutExpired:
            ending = f"ran longer than {limit_s} s"
    return [line for line in out.read_text().splitlines() if line.endswith("]")], ending
