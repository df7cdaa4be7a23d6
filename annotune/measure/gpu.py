"""A GPU, when there is one: which it is, its clocks, and the text by which its kernels are timed.

A variant of kind ``cuda-gpu`` is compiled with `timed_device_text`, and checked and timed like
any other. Written without a GPU at hand: the texts compile, link and load, and the parsing is
tested; nothing here has been run on hardware yet.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from annotune.measure.command import Finished, run_command

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


def find_gpus() -> tuple[Gpu, ...] | NoGpu:
    """Return the GPUs that pycuda reaches, one at the least, or the reason why there is none.

    Asked once per process, in a child, so that a broken driver costs a time limit at most.
    """
    return _found_once()


@lru_cache(maxsize=1)
def _found_once() -> tuple[Gpu, ...] | NoGpu:
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


# Kernel time is the sum over the launches, each between two events; the entry's copies and
# allocations are in the end-to-end time, which the caller takes around the call.
_TIMER = r"""
#include <cuda_runtime.h>
#include <time.h>
static cudaEvent_t annotune_begin, annotune_end;
static double annotune_kernel_s;
static int annotune_launched;
static int annotune_flush_wanted;
static double annotune_flush_s;

/* Overwrites the L2, so that the next kernel finds nothing of its own there. */
static void annotune_flush(void)
{
    static void *scratch;
    static size_t bytes;
    if (!scratch) {
        int l2 = 0;
        cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0);
        bytes = 2 * (size_t)l2;
        if (cudaMalloc(&scratch, bytes) != cudaSuccess) return;
    }
    cudaMemset(scratch, 0, bytes);
    cudaDeviceSynchronize();
}

static void annotune_before_launch(void)
{
    if (annotune_flush_wanted) {
        /* Here, for the copies to the device have left their data in the L2. */
        timespec before, after;
        annotune_flush_wanted = 0;
        cudaDeviceSynchronize();
        clock_gettime(CLOCK_MONOTONIC, &before);
        annotune_flush();
        clock_gettime(CLOCK_MONOTONIC, &after);
        annotune_flush_s += (double)(after.tv_sec - before.tv_sec)
            + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    }
    if (!annotune_begin) { cudaEventCreate(&annotune_begin); cudaEventCreate(&annotune_end); }
    cudaEventRecord(annotune_begin);
}
static void annotune_after_launch(void)
{
    float ms = 0;
    cudaEventRecord(annotune_end);
    cudaEventSynchronize(annotune_end);
    if (cudaEventElapsedTime(&ms, annotune_begin, annotune_end) != cudaSuccess) return;
    annotune_kernel_s += 1e-3 * ms;
    annotune_launched++;
}
#define ANNOTUNE_EXPORTED extern "C" __attribute__((visibility("default")))
/* Seconds in kernels since the last call of this function. */
ANNOTUNE_EXPORTED double annotune_kernel_seconds(void)
{
    double seconds = annotune_kernel_s;
    annotune_kernel_s = 0;
    return seconds;
}
ANNOTUNE_EXPORTED int annotune_gpu_launches(void) { return annotune_launched; }
/* Has the L2 overwritten before the first kernel of the next call. */
ANNOTUNE_EXPORTED void annotune_flush_l2(void) { annotune_flush_wanted = 1; }
/* Seconds that this took since the last call of this function: no part of a call's time. */
ANNOTUNE_EXPORTED double annotune_flush_seconds(void)
{
    double seconds = annotune_flush_s;
    annotune_flush_s = 0;
    return seconds;
}
"""

# A launch statement of generated text, on one or more lines.
_LAUNCH = re.compile(r"\b\w+(?:<[^<>;{}]*>)?\s*<<<[^;{}]*?>>>\s*\([^;{}]*\)\s*;")


def timed_device_text(device: str) -> str:
    """Return ``S.cu`` with a pair of events around every launch, for kernel time alone.

    Launches that overlap in streams are put in sequence by it: end-to-end time tells of those.
    """
    body = _LAUNCH.sub(
        lambda launch: f"{{ annotune_before_launch(); {launch[0]} annotune_after_launch(); }}",
        device,
    )
    return _TIMER + "#line 1\n" + body


def visible_alone(gpu: Gpu) -> dict[str, str]:
    """Return the environment in which a process sees `gpu` and no other."""
    return {VISIBLE_GPUS: gpu.uuid or str(gpu.number)}


def lock_folder() -> Path:
    """Return where the locks of this machine's GPUs lie."""
    return Path(tempfile.gettempdir()) / "annotune-locks"


@contextlib.contextmanager
def exclusive(gpu: Gpu, folder: Path) -> Iterator[None]:
    """Hold `gpu` against every other measuring process that uses the same `folder`.

    A lock of the file system: it ends with the process that holds it, however that ends.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir(parents=True)
        # Every user of the machine measures on the same GPU, and takes the same locks.
        folder.chmod(0o1777)
    name = re.sub(r"\W+", "-", gpu.uuid or str(gpu.number))
    lock = _opened(folder / f"gpu-{name}.lock")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


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
