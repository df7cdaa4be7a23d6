"""This machine: its processor and memory, and which compilers, devices and packages are here."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from annotune.frozen import dataclass
from annotune.measure.command import Finished, run_command
from annotune.measure.toolchain import Compiler, Toolchains, find_toolchains

MEASURE_LIMIT_S = 30.0

_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
typedef double Vector __attribute__((vector_size(8 * WIDTH)));
enum { CHAINS = 12, STEPS = 1000000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* CHAINS independent multiply-adds hide the latency of each; they must stay in registers. */
static double multiply_add(double start)
{
    Vector factor, addend;
    for (int w = 0; w < WIDTH; w++) { factor[w] = 1.0 - 1e-9 * start; addend[w] = 1e-9 * start; }
    Vector a = addend, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5;
    Vector g = a + 6, h = a + 7, i = a + 8, j = a + 9, k = a + 10, l = a + 11;
    for (int s = 0; s < STEPS; s++) {
        a = a * factor + addend; b = b * factor + addend; c = c * factor + addend;
        d = d * factor + addend; e = e * factor + addend; f = f * factor + addend;
        g = g * factor + addend; h = h * factor + addend; i = i * factor + addend;
        j = j * factor + addend; k = k * factor + addend; l = l * factor + addend;
    }
    a += b + c + d + e + f + g + h + i + j + k + l;
    return a[0];
}

int main(void)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    long n = 4 * (cache > 0 ? cache : 0) / 24, least = 1L << 22, most = 1L << 24;
    n = n < least ? least : n > most ? most : n;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
    double copy = 1e9, triad = 1e9, peak = 1e9, sink = 0;
    int threads = 0;
    if (!a || !b || !c) return 1;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) { a[i] = 0; b[i] = 1; c[i] = 2; }
    for (int r = 0; r < 4; r++) {
        double t0 = now();
#pragma omp parallel for simd schedule(static)
        for (long i = 0; i < n; i++) a[i] = b[i];
        double t1 = now();
#pragma omp parallel for simd schedule(static)
        for (long i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
        double t2 = now();
        if (t1 - t0 < copy) copy = t1 - t0;
        if (t2 - t1 < triad) triad = t2 - t1;
    }
    for (int r = 0; r < 4; r++) {
        double t0 = now();
        threads = 0;
#pragma omp parallel reduction(+ : threads, sink)
        { threads += 1; sink += multiply_add(1.0 + r); }
        double t = now() - t0;
        if (t < peak) peak = t;
    }
    printf("copy %.6e\ntriad %.6e\npeak %.6e\nthreads %d\nsink %g\n", 16.0 * n / copy,
           24.0 * n / triad, 2.0 * CHAINS * WIDTH * STEPS * threads / peak, threads,
           sink + a[n / 2]);
    return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Cpu:
    """This machine's processor. Rates are measured, with all of its threads at once.

    `copy_bytes_s` and `triad_bytes_s` are STREAM's, in bytes/s, without the reads that a
    write may cause; `peak_flop_s` is that of independent double multiply-adds in registers,
    in flop/s. The rates are 0 when `problem` says why they could not be measured.
    """

    model: str
    cores: int
    copy_bytes_s: float = 0.0
    triad_bytes_s: float = 0.0
    peak_flop_s: float = 0.0
    problem: str = ""

    @property
    def bandwidth_bytes_s(self) -> float:
        """Return the better of the two sustained rates, bytes/s."""
        return max(self.copy_bytes_s, self.triad_bytes_s)


def cpu_facts(tools: Toolchains, threads: int = 0) -> Cpu:
    """Return what this processor is and does; measured once per process, in about 0.5 s.

    `threads` is how many are used, 0 for all that this process may run on.

    Source:
        McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance
        Computers", IEEE TCCA Newsletter, December 1995 (STREAM).
    """
    if tools.c is None:
        return Cpu(cpu_model(), usable_cores(), problem=f"no C compiler: {tools.problems.get('c')}")
    openmp = ("-fopenmp",) if tools.openmp else ()
    command = (*tools.c.command, "-O3", *tools.native, *openmp)
    return _measured(command, threads or usable_cores())


@lru_cache(maxsize=4)
def _measured(compiler: tuple[str, ...], threads: int) -> Cpu:
    model, cores = cpu_model(), usable_cores()
    with tempfile.TemporaryDirectory(prefix="annotune-stream-") as name:
        source, program = Path(name) / "stream.c", Path(name) / "stream"
        source.write_text(_PROGRAM)
        built = run_command([*compiler, str(source), "-o", str(program)], MEASURE_LIMIT_S)
        if not built.ok:
            return Cpu(model, cores, problem=f"{built.ending()}: {built.output[:200]}")
        environ = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        ran = run_command([str(program)], MEASURE_LIMIT_S, environ=environ)
    rates = {key: float(value) for key, value in re.findall(r"^(\w+) (\S+)$", ran.output, re.M)}
    if not ran.ok or not {"copy", "triad", "peak"} <= rates.keys():
        return Cpu(model, cores, problem=f"the measurement {ran.ending()}")
    return Cpu(model, cores, rates["copy"], rates["triad"], rates["peak"])


def cpu_model() -> str:
    """Return the processor's own name, or the machine's architecture where none is told."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return os.uname().machine
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else os.uname().machine


def usable_cores() -> int:
    """Return how many processors this process may run on."""
    return len(os.sched_getaffinity(0))


SHARE = 0.9
"""The part of the memory that all children may hold together; the rest is for everything else."""

_MEMINFO = Path("/proc/meminfo")
# The limits that a container or a batch system sets, in the two versions of control groups.
_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def memory_limit_mib() -> int:
    """Return the MiB that all measuring children may hold; 0, no limit, where none is known."""
    known = [*_meminfo_mib(_MEMINFO), *(mib for path in _GROUP_LIMITS for mib in _group_mib(path))]
    return int(SHARE * min(known)) if known else 0


def _meminfo_mib(path: Path) -> list[int]:
    try:
        found = re.search(r"^MemTotal:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return []
    return [int(found[1]) >> 10] if found else []


def _group_mib(path: Path) -> list[int]:
    """Return the limit in a file of a control group; ``max`` is none."""
    try:
        text = path.read_text().strip()
    except OSError:
        return []
    return [int(text) >> 20] if text.isdecimal() else []


VISIBLE_GPUS = "CUDA_VISIBLE_DEVICES"

FIND_LIMIT_S = 30.0
"""A driver that hangs on its first call is a known way for a node to be broken."""

# In a child: importing a driver's library may crash, hang, or print.
# pycuda does not tell UUIDs; the driver does, of a part of a GPU that of the whole.
_ASK = """\
import ctypes
import json
import uuid
import pycuda.driver as cuda
cuda.init()
driver = ctypes.CDLL("libcuda.so.1")
def uuid_of(number):
    handle, raw = ctypes.c_int(), (ctypes.c_ubyte * 16)()
    ask = getattr(driver, "cuDeviceGetUuid", None) or getattr(driver, "cuDeviceGetUuid_v2", None)
    if ask is None or driver.cuDeviceGet(ctypes.byref(handle), number) or ask(raw, handle):
        return ""
    return "GPU-" + str(uuid.UUID(bytes=bytes(raw)))
found = []
for number in range(cuda.Device.count()):
    device = cuda.Device(number)
    attribute = cuda.device_attribute
    found.append({
        "number": number,
        "name": device.name(),
        "uuid": uuid_of(number),
        "arch": "sm_%d%d" % device.compute_capability(),
        "memory_bytes": device.total_memory(),
        "multiprocessors": device.get_attribute(attribute.MULTIPROCESSOR_COUNT),
        "l2_bytes": device.get_attribute(attribute.L2_CACHE_SIZE),
    })
print("annotune " + json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU that answers. `arch` is what nvcc calls it, such as ``sm_90``."""

    number: int
    name: str
    uuid: str
    arch: str
    memory_bytes: int
    multiprocessors: int
    l2_bytes: int


NO_PYCUDA = "pycuda is not installed"


@dataclass(frozen=True, slots=True)
class NoGpu:
    """There is no GPU to measure on, and why."""

    reason: str

    @property
    def is_package_missing(self) -> bool:
        """Return whether nothing could look for a GPU for want of pycuda."""
        return self.reason == NO_PYCUDA


Ask = Callable[[], Finished]


def find_gpu() -> Gpu | NoGpu:
    """Return the first GPU that pycuda reaches, or the reason why there is none."""
    found = find_gpus()
    return found if isinstance(found, NoGpu) else found[0]


@lru_cache(maxsize=1)
def find_gpus() -> tuple[Gpu, ...] | NoGpu:
    """Return the GPUs that pycuda reaches, one at the least, or the reason why there is none.

    Asked once per process, in a child, so that a broken driver costs a time limit at most.
    """
    return named_gpus(lambda: run_command([sys.executable, "-c", _ASK], FIND_LIMIT_S))


def named_gpus(ask: Ask) -> tuple[Gpu, ...] | NoGpu:
    """Return the GPUs that `ask`'s child names, or the reason why it names none."""
    finished = ask()
    answer = re.search(r"^annotune (\[.*\])$", finished.output, re.MULTILINE)
    if finished.ok and answer:
        found = tuple(Gpu(**one) for one in json.loads(answer[1]))
        return found or NoGpu("the CUDA driver is here and names no device")
    if "No module named 'pycuda'" in finished.output:
        return NoGpu(NO_PYCUDA)
    last = (finished.output.strip().splitlines() or [""])[-1]
    return NoGpu(f"asking for devices: {finished.ending()}: {last}".rstrip(": "))


# Who computes on which GPU, as the driver's own tool tells it.
_PROCESSES = (
    "nvidia-smi",
    "--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory",
    "--format=csv,noheader,nounits",
)
# The name is a path, and may hold commas.
_PROCESS_ROW = re.compile(
    r"^(?P<uuid>[^,\n]+), *(?P<pid>\d+), *(?P<name>.*), *(?P<mib>[^,\n]+)$", re.MULTILINE
)


def foreign_processes(gpu: Gpu, ask: Ask | None = None) -> tuple[str, ...]:
    """Return each process that computes on `gpu` and is not this one, in words.

    Nothing where nobody can be asked: a machine without nvidia-smi is not refused for it.
    """
    finished = (ask or (lambda: run_command(_PROCESSES, FIND_LIMIT_S)))()
    if not finished.ok:
        return ()
    found = []
    for row in _PROCESS_ROW.finditer(finished.output):
        if is_same_uuid(row["uuid"], gpu) and int(row["pid"]) != os.getpid():
            held = f", {row['mib']} MiB" if row["mib"].isdecimal() else ""
            found.append(f"{row['name']} (process {row['pid']}{held})")
    return tuple(found)


def is_same_uuid(uuid: str, gpu: Gpu) -> bool:
    """Return whether a tool's row is of `gpu`; one that tells no UUID may be in any."""
    return not gpu.uuid or _plain(uuid) == _plain(gpu.uuid)


def _plain(uuid: str) -> str:
    """Return a UUID's digits: with and without ``GPU-`` and dashes it is the same."""
    return re.sub(r"[^0-9a-f]", "", uuid.lower().removeprefix("gpu-"))


def visible_alone(gpu: Gpu) -> dict[str, str]:
    """Return the environment in which a process sees `gpu` and no other."""
    return {VISIBLE_GPUS: gpu.uuid or str(gpu.number)}


def lock_folder() -> Path:
    """Return where the locks of this machine's GPUs lie."""
    return Path(tempfile.gettempdir()) / "annotune-locks"


@contextlib.contextmanager
def exclusive(
    gpu: Gpu, folder: Path, waits: Callable[[str], object] = lambda _: None
) -> Iterator[None]:
    """Hold `gpu` against every other measuring process that uses the same `folder`.

    A lock of the file system: it ends with the process that holds it, however that ends. Where
    another one has it, `waits` is told which before it is waited for, and nothing after it.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir(parents=True)
        # Every user of the machine measures on the same GPU, and takes the same locks.
        folder.chmod(0o1777)
    name = re.sub(r"\W+", "-", gpu.uuid or str(gpu.number))
    lock = _opened(folder / f"gpu-{name}.lock")
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waits(_holder(lock))
            fcntl.flock(lock, fcntl.LOCK_EX)
            waits("")
        yield
    finally:
        os.close(lock)


_LOCKS = Path("/proc/locks")


def _holder(lock: int) -> str:
    """Return which process holds the lock of an open file, as far as the system tells."""
    row = rf"^\d+: FLOCK .* (?P<pid>[1-9]\d*) \w+:\w+:{os.fstat(lock).st_ino} "
    with contextlib.suppress(OSError):
        found = re.search(row, _LOCKS.read_text(), re.MULTILINE)
        if found is not None:
            return f"process {found['pid']}"
    return "another process"


def _opened(path: Path) -> int:
    """Return a handle of the file, made when it is not there; no link is followed or written."""
    flags = os.O_RDONLY | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        return os.open(path, flags | os.O_CREAT, 0o644)


_CLOCKS = (
    "nvidia-smi",
    "--query-gpu=uuid,clocks.sm,clocks_throttle_reasons.active",
    "--format=csv,noheader,nounits",
)
_ROW = re.compile(r"^(?P<uuid>[^,\n]*), *(?P<mhz>\d+), *0x(?P<reasons>[0-9a-fA-F]+)$", re.MULTILINE)

# nvml.h, nvmlClocksThrottleReasons: those that mean less speed than asked for. An idle GPU, a
# clock that its owner has set and the clock of a display are no disturbance.
SLOWED: Mapping[int, str] = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clock of the multiprocessors in MHz, and in words what keeps it down."""

    sm_mhz: int
    slowed_by: tuple[str, ...]

    @property
    def words(self) -> str:
        """Return both for a reader."""
        return f"{', '.join(self.slowed_by) or 'nothing slows it'}, at {self.sm_mhz} MHz"


def read_clocks(gpu: Gpu, ask: Ask | None = None) -> Clocks | None:
    """Return the clocks of `gpu` now, None where nobody tells."""
    finished = (ask or (lambda: run_command(_CLOCKS, FIND_LIMIT_S)))()
    for row in _ROW.finditer(finished.output) if finished.ok else ():
        if is_same_uuid(row["uuid"], gpu):
            bits = int(row["reasons"], 16)
            return Clocks(int(row["mhz"]), tuple(w for bit, w in SLOWED.items() if bits & bit))
    return None


def clock_facts(before: Clocks | None, after: Clocks | None) -> dict[str, str | int | float]:
    """Return for a trial's facts the clocks before and after it was measured, as far as known."""
    facts: dict[str, str | int | float] = {}
    for when, clocks in (("before", before), ("after", after)):
        if clocks is not None:
            facts[f"sm_mhz_{when}"] = clocks.sm_mhz
            facts[f"slowed_{when}"] = ", ".join(clocks.slowed_by) or "no"
    return facts


class Need(StrEnum):
    """How much a missing thing matters: nothing works, something does not, or it is extra."""

    REQUIRED = "required"
    USEFUL = "useful"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that annotune can use.

    What is found is somewhere, and may tell its version. Otherwise `problem` says what was tried,
    `cost` what does not work without it, and `remedy` is the command that closes the gap, empty
    where no command does.
    """

    name: str
    need: Need
    where: str = ""
    version: str = ""
    problem: str = ""
    cost: str = ""
    remedy: str = ""

    @property
    def is_found(self) -> bool:
        return bool(self.where)


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


_WHEELS = "nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl"

# Of each thing what its absence costs, and the command that brings it.
_WITHOUT_MODEL = "`auto` follows the analytical model and the neighbours of the best"
_SEARCH_EXTRA = "pip install 'annotune[search]'"
_MISSING = (
    Item(
        "C compiler",
        Need.REQUIRED,
        cost="nothing can be checked or measured; `check` and `emit` still work",
        remedy="sudo apt install gcc",
    ),
    Item(
        "C++ compiler",
        Need.USEFUL,
        cost="CUDA kernels cannot be executed on the CPU, so they stay unchecked without a GPU",
        remedy="sudo apt install g++",
    ),
    Item(
        "OpenMP",
        Need.USEFUL,
        cost="the OpenMP versions, for cores and for a GPU, are neither checked nor measured",
        remedy="sudo apt install gcc libgomp1",
    ),
    Item(
        "OpenACC",
        Need.USEFUL,
        cost="the OpenACC version is neither compiled nor checked",
        remedy="sudo apt install gcc-12",
    ),
    Item(
        "OpenACC offloading",
        Need.OPTIONAL,
        cost="gcc runs OpenACC on this host alone; its speed on a GPU is predicted, not measured",
        remedy="sudo apt install gcc-12-offload-nvptx",
    ),
    Item(
        "sanitizers",
        Need.OPTIONAL,
        cost="accesses out of bounds are found by red zones alone, without their line",
        remedy="sudo apt install libasan8 libubsan1",
    ),
    Item(
        "nvcc",
        Need.USEFUL,
        cost="CUDA kernels are checked on the CPU but not compiled for a GPU: no registers, "
        "no spills",
        remedy=f"pip install {_WHEELS}",
    ),
    Item(
        "cudart",
        Need.OPTIONAL,
        cost="a program with the CUDA version cannot be linked here",
        remedy="pip install nvidia-cuda-runtime",
    ),
    Item(
        "nvc",
        Need.OPTIONAL,
        cost="OpenACC is checked with gcc alone",
        remedy="install the NVIDIA HPC SDK and set NVHPC to its folder",
    ),
    Item(
        "GPU",
        Need.OPTIONAL,
        cost="CUDA and OpenACC are ranked by the model and reported as predicted",
        remedy="pip install pycuda",
    ),
    Item(
        "pycuda",
        Need.OPTIONAL,
        cost="GPUs are not used, even where there are some",
        remedy="pip install pycuda",
    ),
    Item(
        "ncu",
        Need.OPTIONAL,
        cost="a GPU's counters are not read: no throughputs and no occupancy beside the model's",
        remedy="install NVIDIA Nsight Compute",
    ),
    Item(
        "scikit-learn",
        Need.OPTIONAL,
        cost=f"no `--search gp` and `rf`; {_WITHOUT_MODEL}",
        remedy=_SEARCH_EXTRA,
    ),
    Item(
        "scipy",
        Need.OPTIONAL,
        cost="no `--search annealing` and `simplex`",
        remedy=_SEARCH_EXTRA,
    ),
    Item(
        "optuna",
        Need.OPTIONAL,
        cost="no `--search tpe`, `genetic` and `cma-es`",
        remedy=_SEARCH_EXTRA,
    ),
    Item("cmaes", Need.OPTIONAL, cost="no `--search cma-es`", remedy=_SEARCH_EXTRA),
)


def examine(environ: Mapping[str, str]) -> Report:
    """Return what is here of everything that annotune can use; takes about a second."""
    return report(find_toolchains(environ), find_gpu())


def report(tools: Toolchains, gpu: Gpu | NoGpu) -> Report:
    """Return the report on `tools` and `gpu`, with this Python's packages."""
    problems = tools.problems
    found = {
        "C compiler": (*_compiler(tools.c), problems.get("c")),
        "C++ compiler": (*_compiler(tools.cxx), problems.get("cxx")),
        "OpenMP": (_compiler(tools.c)[0] if tools.openmp else "", "", problems.get("openmp")),
        "OpenACC": (_compiler(tools.c)[0] if tools.openacc else "", "", problems.get("openacc")),
        "OpenACC offloading": (
            ", ".join(tools.offload),
            "",
            "gcc has no offload compiler installed",
        ),
        "sanitizers": (tools.asan, "", problems.get("asan")),
        "nvcc": (*_compiler(tools.nvcc), problems.get("nvcc")),
        "cudart": (
            tools.nvcc.library if tools.nvcc and tools.nvcc.link else "",
            "",
            problems.get("cudart", "it comes with nvcc"),
        ),
        "nvc": (*_compiler(tools.nvc), problems.get("nvc")),
        "GPU": _gpu(gpu),
        "pycuda": _package("pycuda"),
        "ncu": (tools.ncu, "", "Nsight Compute is not installed"),
        "scikit-learn": _package("sklearn", "scikit-learn"),
        **{name: _package(name) for name in ("scipy", "optuna", "cmaes")},
    }
    items = [Item("processor", Need.REQUIRED, cpu_model(), f"{usable_cores()} usable cores")]
    for missing in _MISSING:
        where, version, problem = found[missing.name]
        item = Item(missing.name, missing.need, where, version)
        items.append(item if where else replace(missing, problem=problem or "not found"))
    if isinstance(gpu, NoGpu) and not gpu.is_package_missing:
        # No command brings a device; one brings the package that would look for it.
        items = [replace(item, remedy="") if item.name == "GPU" else item for item in items]
    return Report(tuple(items))


def _compiler(compiler: Compiler | None) -> tuple[str, str]:
    """Return where a compiler is, and its version."""
    return (shlex.join(compiler.command), compiler.version) if compiler else ("", "")


def _gpu(gpu: Gpu | NoGpu) -> tuple[str, str, str]:
    if isinstance(gpu, NoGpu):
        return "", "", gpu.reason
    return f"{gpu.name} ({gpu.uuid})", f"{gpu.arch}, {gpu.memory_bytes / 2**30:.0f} GiB", ""


def _package(module: str, name: str = "") -> tuple[str, str, str]:
    """Return where a module is, and the version of its package, which may have another name."""
    found = importlib.util.find_spec(module)
    if found is None:
        return "", "", "not installed"
    return found.origin or module, importlib.metadata.version(name or module), ""
