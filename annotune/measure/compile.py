"""Every way to compile, as data, and one compilation: to a file or the compiler's words."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from annotune.codegen.build import OF_THE_HOSTS_SHARE
from annotune.frozen import dataclass
from annotune.measure.command import Finished, run_command
from annotune.measure.cuda_text import translate
from annotune.measure.toolchain import Compiler, Toolchains
from annotune.measure.trial import KernelFacts
from annotune.measure.values import ENTRY
from annotune.runtime.texts import RUNTIME_TEXTS, RUNTIMES, SharedRuntime

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

# Generated CUDA C++ as `annotune.measure.cuda_text` rewrites it. What it calls of the header is
# compiled once for all variants.
_HEADER = (f"-I{RUNTIME_FOLDER}", "-include", "cuda_on_cpu.h", "-DANNOTUNE_APART")
_CUDA_TEXT = ("-std=c++17", "-DANNOTUNE_CPU", *_HEADER)
_CALLED, _HERE = "cuda_on_cpu.cpp", "-DANNOTUNE_HERE"
# Where the header is that emitted texts include.
_EMITTED_RUNTIME = f"-I{RUNTIME_TEXTS}"


@dataclass(frozen=True, slots=True)
class CompileKind:
    """One way to compile: flags per language, what is linked, and what comes out.

    `compilers` maps a source's language to the compiler's role in `Toolchains`: ``c``,
    ``cxx`` or ``nvcc``. `runtime` names sources of `RUNTIME_FOLDER` that are linked in, C and C++,
    each compiled once for all variants. `native` asks for code for this very CPU.
    `fixed_optimisation` says that a variant's own ``-O`` flags must not replace this kind's.
    `beside` names C of `RUNTIME_FOLDER` that is compiled
    like the variant. What `is_on_gpu` counts the kernels that it launches there.
    `environ` is what a process that runs it finds in its environment. `settings` are macros of the
    runtime that emitted texts share, which is compiled as they are.
    """

    compilers: Mapping[str, str]
    flags: Mapping[str, tuple[str, ...]]
    link: tuple[str, ...] = ()
    suffix: str = ".so"
    runtime: tuple[str, ...] = ()
    native: bool = True
    fixed_optimisation: bool = False
    beside: tuple[str, ...] = ()
    is_on_gpu: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()

    @property
    def remembers(self) -> bool:
        """Return whether its run time finds traces of an earlier call in the same process."""
        return "race.cpp" in self.runtime

    @property
    def needs_asan(self) -> bool:
        """Return whether a child must be started with the address sanitizer's library."""
        return _ASAN[0] in self.link

    @property
    def is_ordered(self) -> bool:
        """Return whether it plays its threads, all of which is C++, in an order to be chosen."""
        return "c++" in self.compilers

    @property
    def has_device_memory(self) -> bool:
        """Return whether it plays a device whose memory arrays may lie in before a call."""
        return "c++" in self.flags or "acc_memory.c" in self.runtime

    @property
    def links_cudart(self) -> bool:
        """Return whether it is a library that calls the CUDA run-time library."""
        return "cuda" in self.compilers and self.suffix == ".so"


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


def _c_kind(*flags: str, runtime: tuple[str, ...] = ()) -> CompileKind:
    """Return a kind that compiles C to a shared object with `flags` besides the usual ones."""
    return CompileKind(_C, {"c": (*_SHARED, "-O2", *flags)}, (*flags, *_LINK), runtime=runtime)


def _c_asan(*flags: str, runtime: tuple[str, ...] = ()) -> CompileKind:
    """Return `_c_kind` under the address and undefined-behaviour sanitizers."""
    return CompileKind(
        _C,
        {"c": (*_ASAN_BUILD, *flags)},
        (*_ASAN, *flags, *_LINK),
        runtime=runtime,
        native=False,
        fixed_optimisation=True,
    )


# The detector must see what memcpy and memset touch, and when malloc reuses memory
# (docs/execution.md). -O0 keeps a private that nobody writes in memory that holds NaN.
_NO_BUILTIN = tuple(f"-fno-builtin-mem{name}" for name in ("cpy", "move", "set"))
_WRAPPED = "malloc calloc aligned_alloc posix_memalign memcpy memmove memset"
_WRAPS = tuple(f"-Wl,--wrap={name}" for name in _WRAPPED.split())


_DETECTING = ("-g1", "-O0", "-fsanitize=thread", *_NO_BUILTIN)


def _openmp_played(*flags: str, runtime: tuple[str, ...] = ()) -> CompileKind:
    """Return a kind that plays OpenMP's threads one after another; to `_DETECTING` races show."""
    return CompileKind(
        _C_AND_CXX,
        {"c": (*_SHARED, "-fopenmp", "-foffload=disable", *flags)},
        (*_WRAPS, *_LINK),
        runtime=("race.cpp", "openmp_check.cpp", *runtime),
        native=False,
        fixed_optimisation=True,
    )


# -foffload=disable: gcc's OpenACC and OpenMP then run on this host, whether or not an
# offload compiler is installed, and a broken one cannot fail the build.
_OPENMP = ("-fopenmp", "-foffload=disable")
_OPENACC = ("-fopenacc", "-foffload=disable")
# OpenACC's text has become one that brings its data to a memory of the device's own
# (`annotune.measure.directives`); of what stands around its directives gcc must not warn.
ACC_MEMORY = ("-include", str(RUNTIME_FOLDER / "acc_memory.h"), "-w")
_ACC_RUNTIME = ("acc_memory.c",)
# gcc 12's default is sm_35, which ptxas of CUDA 13 no longer knows.
_NVPTX = ("-fopenacc", "-foffload=nvptx-none", "-foffload-options=nvptx-none=-misa=sm_80")


# NVIDIA HPC SDK, nvc reference guide; these have not been run here.
_NVC = ("-acc=gpu", "-gpu=cc90", "-Minfo=accel")

_CUDA_CPU = CompileKind(
    _C_AND_CXX,
    {"c": (*_SHARED, "-O2"), "c++": (*_SHARED, "-O2", *_CUDA_TEXT)},
    _LINK,
)

_CUDA_GPU = CompileKind(
    {"c": "c", "cuda": "nvcc"},
    {"c": (*_SHARED, "-O2"), "cuda": ("-O3", "-Xcompiler", "-fPIC", "-Xptxas", "-v")},
    _LINK,
    native=False,
    is_on_gpu=True,
)
CUDA_CALLS = "cuda-calls"

_OPENMP_KIND = _c_kind(*_OPENMP)


# Those whose directives say what runs on a device and where its data are, and their flags.
DEVICE_LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "openacc": _OPENACC,
    "openmp_target": _OPENMP,
}


def _for_device(name: str) -> dict[str, CompileKind]:
    """Return the kinds that play a device of one of `DEVICE_LANGUAGES` by one thread."""
    flags = DEVICE_LANGUAGES[name]
    found = {
        name: _c_kind(*flags, *ACC_MEMORY, runtime=_ACC_RUNTIME),
        # In one memory with the host, where its marks are.
        f"{name}-marked": _c_kind(*flags),
        f"{name}-near-limits": _c_kind(*flags),
        f"{name}-asan": _c_asan(*flags, *ACC_MEMORY, runtime=_ACC_RUNTIME),
        # The directives have become OpenMP's for threads (`annotune.measure.directives`).
        f"{name}-race": _openmp_played(*_DETECTING, *ACC_MEMORY, runtime=_ACC_RUNTIME),
        f"{name}-ordered": _openmp_played("-O1", *ACC_MEMORY, runtime=_ACC_RUNTIME),
    }
    return {name: replace(kind, environ={"OMP_THREAD_LIMIT": "1"}) for name, kind in found.items()}


KINDS: Mapping[str, CompileKind] = {
    "c": _c_kind(),
    "c-asan": _c_asan(),
    # Says which part of each array it touches; gcc must not link a library that answers instead.
    "c-watched": CompileKind(
        _C,
        {"c": (*_SHARED, "-O0", "-fsanitize=thread")},
        ("-nodefaultlibs", *_LINK, "-lc", "-lgcc"),
        runtime=("touched.c",),
        native=False,
        fixed_optimisation=True,
    ),
    "openmp": _OPENMP_KIND,
    # With marks in its text (`annotune.measure.program`), as the others of this name.
    "openmp-marked": _OPENMP_KIND,
    # Its limits are near those of 16 bits (`annotune.measure.program`), as those of its like.
    "openmp-near-limits": _OPENMP_KIND,
    "openmp-asan": _c_asan(*_OPENMP),
    "openmp-race": _openmp_played(*_DETECTING),
    # As fast as without order, for what the detector would take too long for.
    "openmp-ordered": _openmp_played("-O1"),
    **{n: kind for language in DEVICE_LANGUAGES for n, kind in _for_device(language).items()},
    # What gcc chooses for a GPU is in the PTX that it leaves; nothing of it is run.
    "openacc-nvptx": CompileKind(
        _C,
        {"c": (*_SHARED, "-O2", *_NVPTX, "-save-temps")},
        (*_NVPTX, "-save-temps", *_LINK),
        native=False,
    ),
    "openacc-gpu": CompileKind(
        _C,
        {"c": (*_SHARED, "-O2", *_NVPTX)},
        (*_NVPTX, *_LINK, f"-Wl,-T,{RUNTIME_FOLDER / 'keep_offload.ld'}", "-ldl"),
        beside=("acc_clock.c",),
        native=False,
        is_on_gpu=True,
        environ={"ACC_DEVICE_TYPE": "nvidia"},
    ),
    "openacc-nvc": CompileKind(
        {"c": "nvc"},
        {"c": ("-fPIC", "-O2", "-c", *_NVC)},
        suffix=".o",
        native=False,
    ),
    "cuda-cpu": _CUDA_CPU,
    # Its text has smaller limits on a grid (`annotune.measure.cuda_text.with_small_grids`).
    "cuda-cpu-small": _CUDA_CPU,
    "cuda-cpu-marked": _CUDA_CPU,
    "cuda-cpu-near-limits": _CUDA_CPU,
    "cuda-cpu-asan": CompileKind(
        _C_AND_CXX,
        {"c": _ASAN_BUILD, "c++": (*_ASAN_BUILD, *_CUDA_TEXT)},
        (*_ASAN, *_LINK),
        native=False,
        fixed_optimisation=True,
    ),
    "cuda-cpu-race": CompileKind(
        _C_AND_CXX,
        {"c": (*_SHARED, "-O1"), "c++": (*_RACE_BUILD, *_CUDA_TEXT)},
        _LINK,
        runtime=("race.cpp",),
        native=False,
        fixed_optimisation=True,
    ),
    # Its text has a clock around each launch.
    "cuda-gpu": replace(_CUDA_GPU, settings=("-DANNOTUNE_MOST_PARTS=1",)),
    # Its text is the one that is handed out, with no clock in it: whole calls are timed.
    CUDA_CALLS: replace(
        _CUDA_GPU,
        # nvcc hands the host's share to the compiler of C with the flags that it was given itself.
        flags={
            "c": (*_SHARED, "-O3", *_OPENMP),
            "cuda": (*_CUDA_GPU.flags["cuda"], OF_THE_HOSTS_SHARE),
        },
        link=(*_CUDA_GPU.link, "-fopenmp"),
        native=True,
        environ={"OMP_WAIT_POLICY": "passive"},
    ),
    "cuda-cubin": CompileKind(
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

OFFLOADING = ("openacc-nvptx", "openacc-gpu")
"""Those whose C a compiler for the GPU takes as well."""

FOR_DEVICES = (*OPENACC, *DEVICE_LANGUAGES)
"""Those of a text in any of `DEVICE_LANGUAGES`: its data are brought to the device."""


COMPILE_LIMIT_S = 60.0
"""How long one compiler call may run: ptxas has been seen to take 2 s on one kernel."""

WORDS_LIMIT = 4000
"""How many characters of a compiler's output a failed trial keeps."""

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_STATIC = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")


def parse_ptxas(output: str) -> tuple[KernelFacts, ...]:
    """Return the facts of every kernel in the output of ``nvcc -Xptxas -v``, in its order."""
    kernels = []
    # A device function that was not inlined has a frame of its own and no "Used" line.
    for part in re.split(r"(?=ptxas info\s*: Compiling entry function)", output)[1:]:
        entry, used = _ENTRY.search(part), _USED.search(part)
        if not entry or not used:
            continue
        frame, static, barriers = (_numbers(p, part) for p in (_FRAME, _STATIC, _BARRIERS))
        kernels.append(KernelFacts(entry[1], entry[2], int(used[1]), *frame, *static, *barriers))
    return tuple(kernels)


def _numbers(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    """Return the numbers that a pattern finds, zeros where it finds nothing."""
    found = pattern.search(text)
    return tuple(map(int, found.groups())) if found else (0,) * pattern.groups


# gcc's nvptx back end (gcc/config/nvptx/nvptx.cc): it goes on with other dimensions than
# those asked for, so what would be measured is not the point that was asked for.
_GCC_IGNORES = re.compile(
    r"using '?(vector_length|num_workers|num_gangs) \((\d+)\)'?, ignoring ([^\n\[]+)"
)


def ignored_dimensions(output: str) -> str:
    """Return gcc's words when it used other OpenACC dimensions than asked for, else nothing."""
    plain = output.replace("\u2018", "'").replace("\u2019", "'")
    found = _GCC_IGNORES.search(plain)
    return found[0].strip() if found else ""


_RESULT = "result.json"
_SUFFIXES = {"c": ".c", "c++": ".cpp", "cuda": ".cu"}


@dataclass(frozen=True, slots=True)
class TranslationUnit:
    """One text to compile and its language: ``c``, ``c++`` or ``cuda``."""

    text: str
    language: str = "c"


@dataclass(frozen=True, slots=True)
class CompileJob:
    """Sources, a kind out of `KINDS`, and what a user or a variant adds.

    `flags` are the user's for C, each one word; ``-I`` and ``-D`` go to every language.
    `optimisation` replaces the kind's ``-O`` where the kind allows it, and may hold other flags
    for C. `arch` and the flags `nvcc` are for that compiler.
    """

    sources: tuple[TranslationUnit, ...]
    kind: str
    flags: tuple[str, ...] = ()
    optimisation: tuple[str, ...] = ()
    arch: str = "sm_90"
    limit_s: float = COMPILE_LIMIT_S
    nvcc: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"compile kind '{self.kind}' is none of {', '.join(KINDS)}")


@dataclass(frozen=True, slots=True)
class CompileResult:
    """What came of a job: the file at `path` when `ok`, and the compiler's words.

    `invalid` holds the compiler's words when it compiled something else than was asked for,
    such as another vector_length. `digest` is the hash of the texts and commands: equal
    digests are the same program. `entry` is the function of the library to call, and `reused`
    says that nothing was compiled for this answer.
    """

    ok: bool
    path: Path
    output: str
    digest: str
    timed_out: bool = False
    invalid: str = ""
    kernels: tuple[KernelFacts, ...] = ()
    time_s: float = 0.0
    reused: bool = False
    entry: str = ENTRY


def digest_of(job: CompileJob, tools: Toolchains) -> str:
    """Return the hash that stands for what `job` makes: its texts and its command lines."""
    kind = KINDS[job.kind]
    commands = []
    for source in job.sources:
        compiler = tools.role(kind.compilers[source.language])
        version = (compiler.command, compiler.version) if compiler else ((), "")
        commands.append((version, _flags(job, kind, tools, source.language)))
    parts = [(s.language, s.text.encode("utf-8", "surrogateescape").hex()) for s in job.sources]
    runtime = [str((RUNTIME_FOLDER / name).stat().st_mtime_ns) for name in kind.runtime]
    for one in _included_runtimes(job):
        runtime += [one.hashed_version(), *kind.settings]
    return hashlib.sha256(json.dumps([parts, commands, runtime]).encode()).hexdigest()


def compile_job(
    job: CompileJob, tools: Toolchains, folder: Path, niceness: int = 0
) -> CompileResult:
    """Return what compiling `job` gives, under ``folder/<digest>``.

    A compiler that is missing, refuses, crashes or hangs gives a result that is not `ok`.
    A good answer that already lies in `folder` is read again and nothing is compiled; a
    failure is not kept, for the next run may have a mended compiler or more time.
    """
    digest = digest_of(job, tools)
    known = recall(digest, folder)
    if known:
        return known
    name = f"out{KINDS[job.kind].suffix}"
    with _aside(folder, digest) as scratch:
        result = _compile(job, tools, scratch / name, digest, niceness)
        if result.ok:
            _write(scratch, name, result)
        return replace(result, path=folder / digest[:24] / name)


def compile_runtime(
    job: CompileJob, runtime: SharedRuntime, tools: Toolchains, folder: Path
) -> None:
    """Have the object of a `runtime` in `folder` for jobs like this, before the first one asks."""
    source = _emitted_runtime(runtime, job, KINDS[job.kind])
    if tools.role(source.role) is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compiling-", dir=folder) as scratch:
        _runtime_object(source, tools, job.limit_s, Path(scratch))


def keep(results: Sequence[CompileResult], folder: Path) -> None:
    """Have `compile_job` find in `folder` what came of other jobs, whose libraries lie there."""
    for result in results:
        with _aside(folder, result.digest) as scratch:
            _write(scratch, os.path.relpath(result.path, folder / result.digest[:24]), result)


@contextlib.contextmanager
def _aside(folder: Path, digest: str) -> Iterator[Path]:
    """Lend a folder that takes its place for `digest` at the end if it holds a whole answer.

    Aside and then renamed, so that another thread sees a whole answer or none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="compiling-", dir=folder))
    try:
        yield scratch
        if (scratch / _RESULT).exists():
            with contextlib.suppress(OSError):  # the same answer is there already
                scratch.rename(folder / digest[:24])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _write(place: Path, library: str, result: CompileResult) -> None:
    """Write what `recall` reads; `library` is the way to the file from the answer's folder."""
    words = {"library": library, "output": result.output, "time_s": result.time_s}
    (place / _RESULT).write_text(json.dumps({**words, "entry": result.entry}))


def recall(digest: str, folder: Path) -> CompileResult | None:
    """Return the good result that an earlier call left for `digest`, if it is whole."""
    place = folder / digest[:24]
    try:
        words = json.loads((place / _RESULT).read_text())
        path = Path(os.path.normpath(place / words["library"]))
        result = CompileResult(
            True, path, words["output"], digest, time_s=words["time_s"], entry=words["entry"]
        )
    except (OSError, ValueError, KeyError):
        return None
    return replace(_with_facts(result), reused=True) if path.exists() else None


def _with_facts(result: CompileResult) -> CompileResult:
    """Return `result` with what its output says about kernels and about other dimensions."""
    return replace(
        result,
        invalid=ignored_dimensions(result.output),
        kernels=parse_ptxas(result.output),
    )


def _flags(job: CompileJob, kind: CompileKind, tools: Toolchains, language: str) -> list[str]:
    """Return the flags for one source's language, the job's own last so that they win."""
    flags = list(kind.flags[language])
    if job.optimisation and not kind.fixed_optimisation and language != "cuda":
        flags = [flag for flag in flags if not flag.startswith("-O")] + list(job.optimisation)
    if language == "cuda":
        flags += [*job.nvcc, f"-arch={job.arch}"]
    elif kind.native and not any(flag.startswith("-march=") for flag in flags):
        flags += tools.native
    if language != "c":
        flags += [_EMITTED_RUNTIME, *kind.settings]
    elif any(one.is_included(source.text) for source in job.sources for one in RUNTIMES):
        flags.append(_EMITTED_RUNTIME)
    # The user's flags are for C: a -std=c99 means nothing to the others.
    return [*flags, *(f for f in job.flags if language == "c" or f[:2] in ("-D", "-I"))]


def _compile(
    job: CompileJob, tools: Toolchains, path: Path, digest: str, niceness: int
) -> CompileResult:
    """Return what the commands for `job` give; their working folder is that of `path`."""
    kind = KINDS[job.kind]
    output, time_s = "", 0.0

    def failed(finished: Finished) -> CompileResult:
        words = f"{shlex.join(finished.command[:1])}: {finished.ending()}\n{output}"
        return CompileResult(
            False, path, words[:WORDS_LIMIT].strip(), digest, finished.timed_out, time_s=time_s
        )

    linked = [*_linked_sources(job, kind)]
    roles = [kind.compilers[s.language] for s in job.sources]
    roles += [one.role for one in linked]
    for role in dict.fromkeys(roles):
        if tools.role(role) is None:
            words = f"no compiler for {role}: {tools.problems.get(role, 'none was found')}"
            return CompileResult(False, path, words, digest)
    runtime: list[Path] = []
    for one in linked:
        finished, made = _runtime_object(one, tools, job.limit_s, path.parent)
        time_s += finished.time_s if finished else 0.0
        if finished and not finished.ok:
            output += finished.output
            return failed(finished)
        runtime.append(made)
    has_cxx = any(one.role != "c" for one in linked)
    for step in _steps(job, kind, tools, path, runtime, has_cxx):
        finished = run_command(step, job.limit_s, path.parent, niceness=niceness)
        output += finished.output
        time_s += finished.time_s
        if not finished.ok:
            return failed(finished)
    if not path.exists():
        output += f"the compiler ended well and wrote no {path.name}"
        return CompileResult(False, path, output[-WORDS_LIMIT:], digest, time_s=time_s)
    return _with_facts(CompileResult(True, path, output, digest, time_s=time_s))


# The objects that this process has made, by all that they depend on. Who asks for one that another
# thread is making waits for it.
_RUNTIME_OBJECTS: dict[str, Path] = {}
_RUNTIME_LOCKS: dict[Path, threading.Lock] = {}


@dataclass(frozen=True, slots=True)
class _LinkedSource:
    """A source that is compiled once for all variants, with its compiler and flags."""

    name: str
    text: str
    role: str
    flags: tuple[str, ...]


def _linked_sources(job: CompileJob, kind: CompileKind) -> Iterator[_LinkedSource]:
    """Yield what is linked with the sources of a job."""
    for name in kind.runtime:
        role = "c" if name.endswith(".c") else "cxx"
        # Its headers are in the same folder.
        yield _LinkedSource(name, (RUNTIME_FOLDER / name).read_text(), role, RUNTIME_FLAGS[role])
    if "c++" in kind.flags:
        text = (RUNTIME_FOLDER / _CALLED).read_text()
        flags = (*_linked_flags(job, kind, "c++"), _HERE)
        yield _LinkedSource(_CALLED, text, kind.compilers["c++"], flags)
    for one in _included_runtimes(job):
        yield _emitted_runtime(one, job, kind)


def _included_runtimes(job: CompileJob) -> list[SharedRuntime]:
    """Return the runtimes of emitted texts that the sources of a job call."""
    if KINDS[job.kind].suffix != ".so":
        return []
    texts = [source.text for source in job.sources]
    return [one for one in RUNTIMES if any(one.is_included(t) and one.is_called(t) for t in texts)]


# Macros of the runtime, and what tells it whether each thread has a stream of its own.
_FOR_RUNTIMES = ("-DANNOTUNE_", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM")


def _emitted_runtime(runtime: SharedRuntime, job: CompileJob, kind: CompileKind) -> _LinkedSource:
    """Return the source of an emitted text's runtime, as a kind compiles it."""
    text, name = runtime.texts[runtime.source], runtime.source
    language = "c" if name.endswith(".c") else "cuda" if "cuda" in kind.compilers else "c++"
    flags = [*_linked_flags(job, kind, language)]
    if language == "cuda":
        flags += [f"-arch={job.arch}", *_stream_flags(job.nvcc)]
    elif language == "c++":
        text, name = translate(text), f"{Path(name).stem}.cpp"
    return _LinkedSource(name, text, kind.compilers[language], tuple(flags))


def _linked_flags(job: CompileJob, kind: CompileKind, language: str) -> Iterator[str]:
    """Yield the flags of what variants of a language share, all of which is of the same kind."""
    yield from (*kind.flags[language], _EMITTED_RUNTIME, *kind.settings)
    yield from (flag for flag in job.flags if flag.startswith(_FOR_RUNTIMES))


def _stream_flags(nvcc: Sequence[str]) -> Iterator[str]:
    """Yield the flags of nvcc that say which stream a thread's calls are in."""
    for flag, after in itertools.pairwise((*nvcc, "")):
        if flag.lstrip("-").startswith("default-stream"):
            yield flag
            if "=" not in flag:
                yield after


def _runtime_object(
    source: _LinkedSource, tools: Toolchains, limit_s: float, scratch: Path
) -> tuple[Finished | None, Path]:
    """Return the object file of a source that variants are linked with, and how its compiler ended.

    It is made in `scratch`, and lies beside that folder afterwards for all other compilations;
    of one that is there already, or that this process has made elsewhere, no compiler is asked.
    """
    name, compiler = source.name, tools.role(source.role)
    assert compiler is not None, source.role
    command = [*compiler.command, *compiler.flags, *source.flags]
    folders = RUNTIME_FOLDER, RUNTIME_TEXTS
    changed_ns = max(file.stat().st_mtime_ns for one in folders for file in one.iterdir())
    key = json.dumps([name, compiler.version, command, changed_ns])
    place = scratch.parent / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.o"
    with _RUNTIME_LOCKS.setdefault(place, threading.Lock()):
        if place.exists():
            return None, place
        made = scratch / f"{name}.o"
        with contextlib.suppress(OSError):
            shutil.copyfile(_RUNTIME_OBJECTS.get(key, place), made)
            made.replace(place)
            return None, place
        (scratch / name).write_text(source.text)
        finished = run_command([*command, "-c", name, "-o", str(made)], limit_s, scratch)
        if finished.ok:
            made.replace(place)
            _RUNTIME_OBJECTS[key] = place
        return finished, place


def _steps(
    job: CompileJob,
    kind: CompileKind,
    tools: Toolchains,
    path: Path,
    runtime: Sequence[Path],
    has_cxx: bool,
) -> list[list[str]]:
    """Return the command lines in order: one for a single source, else objects and a link.

    `runtime` are the objects that are linked in, some of which `has_cxx`.
    """
    texts = [
        (path.parent / f"source{n}{_SUFFIXES[s.language]}", s) for n, s in enumerate(job.sources)
    ]
    for file, source in texts:
        # The user's bytes, whatever their encoding, and their line ends as they are.
        file.write_bytes(source.text.encode("utf-8", "surrogateescape"))
    inputs = [
        ([*_start(tools, kind, s.language), *_flags(job, kind, tools, s.language)], file)
        for file, s in texts
    ]
    if kind.needs_asan:
        # A report then names the file of a #line by itself, without this scratch folder.
        inputs = [([*start, f"-ffile-prefix-map={path.parent}=."], file) for start, file in inputs]
    linked = [str(file) for file in runtime]
    if len(inputs) == 1 and not has_cxx:
        start, file = inputs[0]
        return [[*start, str(file), *linked, "-o", str(path), *kind.link]]
    objects = [str(path.parent / f"part{number}.o") for number in range(len(inputs))]
    steps = [
        [*start, "-c", str(file), "-o", name]
        for (start, file), name in zip(inputs, objects, strict=True)
    ]
    has_cxx = has_cxx or any(s.language == "c++" for s in job.sources)
    cudart: tuple[str, ...] = ()
    if kind.links_cudart and tools.nvcc:
        # nvcc's objects are of C++, whose compiler this kind asks for nothing else.
        cudart = tools.nvcc.link
        linker = tools.cxx.command if tools.cxx else _start(tools, kind, "c")
    else:
        linker = _start(tools, kind, "c++" if has_cxx else "c")
    return [*steps, [*linker, *objects, *linked, "-o", str(path), *kind.link, *cudart]]


def _start(tools: Toolchains, kind: CompileKind, language: str) -> tuple[str, ...]:
    """Return the words that start the compiler of `language`, which the caller knows is here."""
    compiler: Compiler | None = tools.role(kind.compilers[language])
    assert compiler is not None, language
    return (*compiler.command, *compiler.flags)
