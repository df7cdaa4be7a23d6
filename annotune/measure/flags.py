"""The command lines of every way to compile, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

RUNTIME_FOLDER = Path(__file__).parent / "runtime"
"""Where the headers and sources lie that run CUDA, OpenMP and OpenACC on this CPU."""

# Position-independent, and with every function that the wrapper does not reach dropped: the
# user's file may call functions of other files, which a shared object must not need to load.
_SHARED = ("-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections")
_LINK = ("-shared", "-Wl,--gc-sections", "-lm")
# Not bounds: legacy code leaves a row and stays in its array on purpose, and a variant may
# do as its original does; the address sanitizer sees what leaves the array.
# Without no-recover UBSan prints and goes on, and a child that ends well looks right.
_ASAN = (
    "-fsanitize=address,undefined",
    "-fno-sanitize=bounds",
    "-fno-sanitize-recover=undefined",
)
_ASAN_BUILD = (*_SHARED, "-g1", "-O1", "-fno-omit-frame-pointer", *_ASAN)
# gcc's own thread library is not linked: runtime/race.cpp answers the calls instead.
_RACE_BUILD = (*_SHARED, "-g1", "-O1", "-fsanitize=thread")

# Generated CUDA C++ as `annotune.measure.cuda_text` rewrites it.
_CUDA_TEXT = ("-std=c++17", "-DANNOTUNE_CPU", f"-I{RUNTIME_FOLDER}", "-include", "cuda_on_cpu.h")


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to compile: flags per language, what is linked, and what comes out.

    `compilers` maps a source's language to the compiler's role in `Toolchains`: ``c``,
    ``cxx`` or ``nvcc``. `runtime` names sources of `RUNTIME_FOLDER` that are linked in, C and C++,
    each compiled once for all variants. `needs_asan` says that a child must be started with the
    address sanitizer's library. `native` asks for code for this very CPU. `is_ordered` says
    that the library plays its threads in an order that can be chosen. `fixed_optimisation`
    says that a variant's own ``-O`` flags must not replace this kind's, `links_cudart` that
    the CUDA run-time library is linked. `beside` names C of `RUNTIME_FOLDER` that is compiled
    like the variant. What `is_on_gpu` counts the kernels that it launches there, and times them.
    `environ` is what a process that runs it finds in its environment.
    """

    compilers: Mapping[str, str]
    flags: Mapping[str, tuple[str, ...]]
    link: tuple[str, ...] = ()
    suffix: str = ".so"
    runtime: tuple[str, ...] = ()
    needs_asan: bool = False
    native: bool = True
    is_ordered: bool = False
    fixed_optimisation: bool = False
    links_cudart: bool = False
    beside: tuple[str, ...] = ()
    is_on_gpu: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def remembers(self) -> bool:
        """Return whether its run time finds traces of an earlier call in the same process."""
        return "race.cpp" in self.runtime


RUNTIME_FLAGS = {
    "c": (*_SHARED, "-O2", f"-I{RUNTIME_FOLDER}"),
    "cxx": (*_SHARED, "-O2", "-std=c++17", f"-I{RUNTIME_FOLDER}"),
}
"""How the sources of a kind's `runtime` are compiled, by the compiler's role."""

REORDERING = frozenset(
    {"-Ofast", "-ffast-math", "-fassociative-math", "-funsafe-math-optimizations"}
)
"""Flags that let a compiler compute sums in another order, so that zeros lose their signs."""

_C = {"c": "c"}
_C_AND_CXX = {"c": "c", "c++": "cxx"}


def _c_kind(*flags: str, runtime: tuple[str, ...] = ()) -> Kind:
    """Return a kind that compiles C to a shared object with `flags` besides the usual ones."""
    return Kind(_C, {"c": (*_SHARED, "-O2", *flags)}, (*flags, *_LINK), runtime=runtime)


def _c_asan(*flags: str, runtime: tuple[str, ...] = ()) -> Kind:
    """Return `_c_kind` under the address and undefined-behaviour sanitizers."""
    return Kind(
        _C,
        {"c": (*_ASAN_BUILD, *flags)},
        (*_ASAN, *flags, *_LINK),
        runtime=runtime,
        needs_asan=True,
        native=False,
        fixed_optimisation=True,
    )


# The detector must see what memcpy and memset touch, and when malloc reuses memory
# (docs/execution.md). -O0 keeps a private that nobody writes in memory that holds NaN.
_NO_BUILTIN = tuple(f"-fno-builtin-mem{name}" for name in ("cpy", "move", "set"))
_WRAPPED = "malloc calloc aligned_alloc posix_memalign memcpy memmove memset"
_WRAPS = tuple(f"-Wl,--wrap={name}" for name in _WRAPPED.split())


_DETECTING = ("-g1", "-O0", "-fsanitize=thread", *_NO_BUILTIN)


def _openmp_played(*flags: str, runtime: tuple[str, ...] = ()) -> Kind:
    """Return a kind that plays OpenMP's threads one after another; to `_DETECTING` races show."""
    return Kind(
        _C_AND_CXX,
        {"c": (*_SHARED, "-fopenmp", "-foffload=disable", *flags)},
        (*_WRAPS, *_LINK),
        runtime=("race.cpp", "openmp_check.cpp", *runtime),
        native=False,
        is_ordered=True,
        fixed_optimisation=True,
    )


# -foffload=disable: gcc's OpenACC and OpenMP then run on this host, whether or not an
# offload compiler is installed, and a broken one cannot fail the build.
_OPENMP = ("-fopenmp", "-foffload=disable")
_OPENACC = ("-fopenacc", "-foffload=disable")
# OpenACC's text has become one that brings its data to a memory of the device's own
# (`annotune.measure.acc_memory`); of what stands around its directives gcc must not warn.
ACC_MEMORY = ("-include", str(RUNTIME_FOLDER / "acc_memory.h"), "-w")
_ACC_RUNTIME = ("acc_memory.c",)
# gcc 12's default is sm_35, which ptxas of CUDA 13 no longer knows.
_NVPTX = ("-fopenacc", "-foffload=nvptx-none", "-foffload-options=nvptx-none=-misa=sm_80")


@dataclass(frozen=True, slots=True)
class OtherCompiler:
    """The flags of a compiler whose command lines are known and have not been run here."""

    openacc: tuple[str, ...]
    openmp: tuple[str, ...]
    feedback: tuple[str, ...] = field(default=())


# NVIDIA HPC SDK, nvc reference guide: -acc=gpu|host, -gpu=cc90, -Minfo=accel.
NVC = OtherCompiler(
    openacc=("-acc=gpu", "-gpu=cc90"),
    openmp=("-mp",),
    feedback=("-Minfo=accel",),
)

_CUDA_CPU = Kind(
    _C_AND_CXX,
    {"c": (*_SHARED, "-O2"), "c++": (*_SHARED, "-O2", *_CUDA_TEXT)},
    _LINK,
    is_ordered=True,
)

_OPENMP_KIND = _c_kind(*_OPENMP)

KINDS: Mapping[str, Kind] = {
    "c": _c_kind(),
    "c-asan": _c_asan(),
    # Says which part of each array it touches; gcc must not link a library that answers instead.
    "c-watched": Kind(
        _C,
        {"c": (*_SHARED, "-O0", "-fsanitize=thread")},
        ("-nodefaultlibs", *_LINK, "-lc", "-lgcc"),
        runtime=("touched.c",),
        native=False,
        fixed_optimisation=True,
    ),
    "openmp": _OPENMP_KIND,
    # With marks in its text (`annotune.measure.branches`), as the others of this name.
    "openmp-marked": _OPENMP_KIND,
    # Its limits are near those of 16 bits (`annotune.measure.near_limits`), as those of its like.
    "openmp-near-limits": _OPENMP_KIND,
    "openmp-asan": _c_asan(*_OPENMP),
    "openmp-race": _openmp_played(*_DETECTING),
    # As fast as without order, for what the detector would take too long for.
    "openmp-ordered": _openmp_played("-O1"),
    "openacc": _c_kind(*_OPENACC, *ACC_MEMORY, runtime=_ACC_RUNTIME),
    # In one memory with the host, where its marks are.
    "openacc-marked": _c_kind(*_OPENACC),
    "openacc-near-limits": _c_kind(*_OPENACC),
    "openacc-asan": _c_asan(*_OPENACC, *ACC_MEMORY, runtime=_ACC_RUNTIME),
    # What gcc chooses for a GPU is in the PTX that it leaves; nothing of it is run.
    "openacc-nvptx": Kind(
        _C,
        {"c": (*_SHARED, "-O2", *_NVPTX, "-save-temps")},
        (*_NVPTX, "-save-temps", *_LINK),
        native=False,
    ),
    "openacc-gpu": Kind(
        _C,
        {"c": (*_SHARED, "-O2", *_NVPTX)},
        (*_NVPTX, *_LINK, f"-Wl,-T,{RUNTIME_FOLDER / 'keep_offload.ld'}", "-ldl"),
        beside=("acc_clock.c",),
        native=False,
        is_on_gpu=True,
        environ={"ACC_DEVICE_TYPE": "nvidia"},
    ),
    "openacc-nvc": Kind(
        {"c": "nvc"},
        {"c": ("-fPIC", "-O2", "-c", *NVC.openacc, *NVC.feedback)},
        suffix=".o",
        native=False,
    ),
    # The directives have become OpenMP's by then (`annotune.measure.acc_text`).
    "openacc-race": _openmp_played(*_DETECTING, *ACC_MEMORY, runtime=_ACC_RUNTIME),
    "openacc-ordered": _openmp_played("-O1", *ACC_MEMORY, runtime=_ACC_RUNTIME),
    "cuda-cpu": _CUDA_CPU,
    # Its text has smaller limits on a grid (`annotune.measure.cuda_text.with_small_grids`).
    "cuda-cpu-small": _CUDA_CPU,
    "cuda-cpu-marked": _CUDA_CPU,
    "cuda-cpu-near-limits": _CUDA_CPU,
    "cuda-cpu-asan": Kind(
        _C_AND_CXX,
        {"c": _ASAN_BUILD, "c++": (*_ASAN_BUILD, *_CUDA_TEXT)},
        (*_ASAN, *_LINK),
        needs_asan=True,
        native=False,
        is_ordered=True,
        fixed_optimisation=True,
    ),
    "cuda-cpu-race": Kind(
        _C_AND_CXX,
        {"c": (*_SHARED, "-O1"), "c++": (*_RACE_BUILD, *_CUDA_TEXT)},
        _LINK,
        runtime=("race.cpp",),
        native=False,
        is_ordered=True,
        fixed_optimisation=True,
    ),
    "cuda-gpu": Kind(
        {"c": "c", "cuda": "nvcc"},
        {"c": (*_SHARED, "-O2"), "cuda": ("-O3", "-Xcompiler", "-fPIC", "-Xptxas", "-v")},
        _LINK,
        native=False,
        links_cudart=True,
        is_on_gpu=True,
    ),
    "cuda-cubin": Kind(
        {"cuda": "nvcc"},
        {"cuda": ("-cubin", "-Xptxas", "-v")},
        suffix=".cubin",
        native=False,
    ),
}
"""Every way to compile by name.

``…-asan`` adds the address and undefined sanitizers, ``…-race`` the race detector of
``runtime/race.cpp``; ``…-ordered`` has its order of threads without it.
"""

OPENACC = ("openacc", "openacc-gpu")
"""The kinds of a text with OpenACC's directives as it is, on the host and on a GPU."""
