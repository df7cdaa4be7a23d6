"""Which compilers, devices and optional packages are here, and what each gap costs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from annotune.measure.gpu import Gpu, NoGpu, find_gpu
from annotune.measure.stream import cpu_model, usable_cores
from annotune.measure.toolchain import Compiler, Toolchains, find_toolchains


class Need(StrEnum):
    """How much a missing thing matters: nothing works, something does not, or it is extra."""

    REQUIRED = "required"
    USEFUL = "useful"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that annotune can use.

    When `is_found`, `where` and `version` say which one; otherwise `problem` says what was
    tried, `cost` what does not work without it, and `remedy` is the command that closes
    the gap, empty where no command does.
    """

    name: str
    need: Need
    is_found: bool
    where: str = ""
    version: str = ""
    problem: str = ""
    cost: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was looked for, in the order in which a reader should see it."""

    items: tuple[Item, ...] = field(default=())

    @property
    def is_usable(self) -> bool:
        """Return whether all that `annotune run` cannot do without is here."""
        return all(item.is_found for item in self.items if item.need is Need.REQUIRED)

    def missing(self) -> tuple[Item, ...]:
        """Return what was not found, the most needed first."""
        order = list(Need)
        gaps = [item for item in self.items if not item.is_found]
        return tuple(sorted(gaps, key=lambda item: order.index(item.need)))


@dataclass(frozen=True, slots=True)
class _Gap:
    """What it costs when a thing is missing, and the command that brings it."""

    need: Need
    cost: str
    remedy: str


_WHEELS = "nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl"

_GAPS: Mapping[str, _Gap] = {
    "C compiler": _Gap(
        Need.REQUIRED,
        "nothing can be checked or measured; `check` and `emit` still work",
        "sudo apt install gcc",
    ),
    "C++ compiler": _Gap(
        Need.USEFUL,
        "CUDA kernels cannot be executed on the CPU, so they stay unchecked without a GPU",
        "sudo apt install g++",
    ),
    "OpenMP": _Gap(
        Need.USEFUL,
        "the OpenMP version is neither checked nor measured",
        "sudo apt install gcc libgomp1",
    ),
    "OpenACC": _Gap(
        Need.USEFUL,
        "the OpenACC version is neither compiled nor checked",
        "sudo apt install gcc-12",
    ),
    "OpenACC offloading": _Gap(
        Need.OPTIONAL,
        "gcc runs OpenACC on this host alone; its speed on a GPU is predicted, not measured",
        "sudo apt install gcc-12-offload-nvptx",
    ),
    "sanitizers": _Gap(
        Need.OPTIONAL,
        "accesses out of bounds are found by red zones alone, without their line",
        "sudo apt install libasan8 libubsan1",
    ),
    "nvcc": _Gap(
        Need.USEFUL,
        "CUDA kernels are checked on the CPU but not compiled for a GPU: no registers, no spills",
        f"pip install {_WHEELS}",
    ),
    "cudart": _Gap(
        Need.OPTIONAL,
        "a program with the CUDA version cannot be linked here",
        "pip install nvidia-cuda-runtime",
    ),
    "nvc": _Gap(
        Need.OPTIONAL,
        "OpenACC is checked with gcc alone",
        "install the NVIDIA HPC SDK and set NVHPC to its folder",
    ),
    "GPU": _Gap(
        Need.OPTIONAL,
        "CUDA and OpenACC are ranked by the model and reported as predicted",
        "pip install pycuda",
    ),
}

_PACKAGES: Mapping[str, tuple[str, str]] = {
    "pycuda": ("pycuda", "GPUs are not used, even where there are some"),
}
"""Optional packages by import name: what pip calls them, and what is lost without them."""


def examine(environ: Mapping[str, str]) -> Report:
    """Return what is here of everything that annotune can use; takes about a second."""
    return report(find_toolchains(environ), find_gpu())


def report(tools: Toolchains, gpu: Gpu | NoGpu) -> Report:
    """Return the report on `tools` and `gpu`, with this Python's packages."""
    problems = tools.problems
    items = [
        Item("processor", Need.REQUIRED, True, cpu_model(), f"{usable_cores()} usable cores"),
        _compiler("C compiler", tools.c, problems.get("c", "")),
        _compiler("C++ compiler", tools.cxx, problems.get("cxx", "")),
        _ability("OpenMP", tools.openmp, _path(tools.c), problems.get("openmp", "")),
        _ability("OpenACC", tools.openacc, _path(tools.c), problems.get("openacc", "")),
        _ability(
            "OpenACC offloading",
            bool(tools.offload),
            ", ".join(tools.offload),
            "gcc has no offload compiler installed",
        ),
        _ability("sanitizers", bool(tools.asan), tools.asan, problems.get("asan", "")),
        _compiler("nvcc", tools.nvcc, problems.get("nvcc", "")),
        _ability(
            "cudart",
            bool(tools.link_cudart),
            tools.nvcc.library if tools.nvcc else "",
            problems.get("cudart", "it comes with nvcc"),
        ),
        _compiler("nvc", tools.nvc, problems.get("nvc", "")),
        _gpu(gpu),
        *(_package(module) for module in _PACKAGES),
    ]
    return Report(tuple(items))


def _path(compiler: Compiler | None) -> str:
    return shlex.join(compiler.command) if compiler else ""


def _compiler(name: str, compiler: Compiler | None, problem: str) -> Item:
    if compiler is None:
        return _missing(name, problem)
    return Item(name, _GAPS[name].need, True, _path(compiler), compiler.version)


def _ability(name: str, is_found: bool, where: str, problem: str) -> Item:
    if not is_found:
        return _missing(name, problem)
    return Item(name, _GAPS[name].need, True, where)


def _missing(name: str, problem: str) -> Item:
    gap = _GAPS[name]
    return Item(
        name, gap.need, False, problem=problem or "not found", cost=gap.cost, remedy=gap.remedy
    )


def _gpu(gpu: Gpu | NoGpu) -> Item:
    if isinstance(gpu, NoGpu):
        missing = _missing("GPU", gpu.reason)
        # No command brings a device; one brings the package that would look for it.
        return missing if gpu.is_package_missing else replace(missing, remedy="")
    memory = f"{gpu.memory_bytes / 2**30:.0f} GiB"
    return Item("GPU", Need.OPTIONAL, True, f"{gpu.name} ({gpu.uuid})", f"{gpu.arch}, {memory}")


def _package(module: str) -> Item:
    name, cost = _PACKAGES[module]
    found = importlib.util.find_spec(module)
    if found is None:
        remedy = f"pip install {name}"
        return Item(name, Need.OPTIONAL, False, problem="not installed", cost=cost, remedy=remedy)
    version = importlib.metadata.version(name)
    return Item(name, Need.OPTIONAL, True, found.origin or "", version)
