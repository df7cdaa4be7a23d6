"""The copies of a call: through the ring, straight or not at all, in order, and nothing is lost.

Chunks are small here and slots are few, so that each slot has many turns. Calls of the size that
kernels are tuned for run in parts, others as one.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass, replace
from itertools import chain, product
from pathlib import Path

import pytest
from support.executed import CUDA, SHARED, Call, Executable, Part, emitted, run
from support.laws import IS_THOROUGH
from support.python import python
from support.runtime import APART, cuda_player

from annotune.measure.cuda_text import translate
from annotune.runtime.texts import standalone_text

TEXT = """\
void f(int n, double *restrict y, double *restrict z, const double *restrict x)
{
    /*@ begin PerfTuning (def input_params { param n = 768; }) @*/
    for (int i = 0; i < n; i++) {
        y[i] += 3.0 * x[i];
        z[i] = 2.0 * x[i];
    }
    /*@ end @*/
}
"""
PAGEABLE, PINNED, MANAGED, DEVICE, ODD = "pageable", "pinned", "managed", "device", "odd"
N, CHUNK, SLOTS = 700, 512, 3
TUNED, PARTS = 768, 3
LENGTHS = {N: 1, TUNED: PARTS}
FAR = 100_000
LIMIT_S = 120

_CHILD = """
import ctypes, json, os, sys
import numpy as np
import numpy.ctypeslib  # else each fork does

lib = ctypes.CDLL(sys.argv[1])
lib.annotune_cpu_message.restype = ctypes.c_char_p
for name in ("device", "managed"):
    function = getattr(lib, f"annotune_cpu_{name}_malloc")
    function.restype, function.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
lib.annotune_cpu_pin.argtypes = ctypes.c_void_p, ctypes.c_size_t
lib.annotune_cpu_unpin.argtypes = lib.annotune_cpu_device_free.argtypes = (ctypes.c_void_p,)
for name in ("bytes_in", "bytes_out"):
    getattr(lib, f"annotune_cpu_{name}").restype = ctypes.c_long


class Memory:
    def __init__(self, kind, values):
        self.kind, self.size = kind, values.nbytes
        shift = 8 if kind == "odd" else 0
        if kind in ("pageable", "pinned"):
            self.kept = values.copy()
            self.begin = self.kept.ctypes.data
        else:
            make = lib.annotune_cpu_managed_malloc if kind == "managed" else None
            self.begin = (make or lib.annotune_cpu_device_malloc)(self.size + shift)
        self.first = self.begin + shift
        if kind == "pinned":
            lib.annotune_cpu_pin(self.first, self.size)
        ctypes.memmove(self.first, values.ctypes.data, self.size)

    def values(self):
        return np.ctypeslib.as_array((ctypes.c_double * (self.size // 8)).from_address(self.first))

    def free(self):
        if self.kind == "pinned":
            lib.annotune_cpu_unpin(self.first)
        elif self.kind != "pageable":
            lib.annotune_cpu_device_free(self.begin)


def called(memory, n, shift):
    lib.f(n, *(ctypes.c_void_p(one.first - 8 * shift) for one in memory))


def run(job):
    lib.annotune_cpu_reset()
    n = job["n"]
    y, z, x = given = [np.arange(n) % 7.0 + k for k in range(3)]
    memory = [Memory(kind, one) for kind, one in zip(job["kinds"], given)]
    lib.annotune_cpu_fail_at(job["fail_at"])
    for _ in range(job["calls"]):
        before = lib.annotune_cpu_pins() + lib.annotune_cpu_mallocs()
        called(memory, n, job["shift"])
        y += 3.0 * x
    z = 2.0 * x
    last = lib.annotune_cpu_pins() + lib.annotune_cpu_mallocs() - before
    launches, count = lib.annotune_cpu_launches(), lib.annotune_cpu_calls()
    moved = lib.annotune_cpu_bytes_in(), lib.annotune_cpu_bytes_out()
    wrong = lib.annotune_cpu_red_zone_violations()
    words = lib.annotune_cpu_message().decode() if wrong else ""
    same = all((one.values() == wanted).all() for one, wanted in zip(memory, (y, z, x)))
    for one in memory:
        one.free()
    left = lib.annotune_cpu_live_allocations()
    print(json.dumps([bool(same), wrong, left, launches, count, moved, last, words]), flush=True)


# Each in a process of its own: where there is no way back the program ends.
for job in json.load(sys.stdin):
    if not (own := os.fork()):
        run(job)
        os._exit(0)
    if os.waitpid(own, 0)[1]:
        print("null", flush=True)
"""


@dataclass(frozen=True)
class Job:
    """Calls of `f` with arrays in memory of some kinds, of which CUDA's call `fail_at` fails.

    The function gets pointers so many elements before the arrays as `shift` says.
    """

    kinds: tuple[str, str, str]
    n: int = N
    fail_at: int = 0
    calls: int = 1
    shift: int = 0


@dataclass(frozen=True)
class Outcome:
    """What the calls of a job have done; `allocations` are those of the last one."""

    same: bool
    violations: int
    left: int
    launches: int
    counted: int
    moved: list[int]
    allocations: int
    message: str

    @property
    def is_right(self) -> bool:
        return self.same and self.violations == 0 and self.left == 0


class Library:
    """The text for CUDA with the runtime, built to run here."""

    def __init__(self, folder: Path, device: str, host: str, *flags: str | Path) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "host.c").write_text(host)
        (folder / "device.cu").write_text(translate(standalone_text(device)))
        run("gcc", "-O0", *SHARED, "-c", folder / "host.c", "-o", folder / "host.o")
        sizes = f"-DANNOTUNE_CHUNK={CHUNK}", f"-DANNOTUNE_SLOTS={SLOTS}"
        made = ("-shared", folder / "device.cu", "-o", folder / "made.so")
        objects = folder / "host.o", cuda_player()
        run("g++", "-O0", *sizes, *flags, *SHARED, *objects, *APART, *made)
        self.path = folder / "made.so"

    def run(self, *jobs: Job) -> tuple[list[Outcome | None], str]:
        """Return what each job has done, None where its process died, and what they said."""
        given = json.dumps([asdict(job) for job in jobs])
        child = python(_CHILD, self.path, input=given, timeout=LIMIT_S)
        assert child.returncode == 0, child.stderr
        rows = map(json.loads, child.stdout.splitlines())
        return [None if row is None else Outcome(*row) for row in rows], child.stderr

    def outcomes(self, *jobs: Job) -> list[Outcome]:
        """Return what each job has done; none may die."""
        found, said = self.run(*jobs)
        alive = [one for one in found if one is not None]
        assert len(alive) == len(jobs), said
        return alive

    def every_failure(self, job: Job) -> list[Job]:
        """Return `job` with each of its calls of the CUDA library failing."""
        (plain,) = self.outcomes(job)
        return [replace(job, fail_at=k) for k in range(1, plain.counted + 1)]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    files = emitted(tmp_path_factory.mktemp("text"), TEXT).files
    return standalone_text(files[".cu"]), files["_cuda.c"]


@pytest.fixture(scope="module")
def library(texts: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("right"), *texts)


@pytest.mark.alike(2)
@pytest.mark.parametrize("n", LENGTHS)
def test_wherever_the_arrays_are(n: int, library: Library) -> None:
    kinds = PAGEABLE, PINNED, MANAGED, DEVICE, ODD
    jobs = [Job(one, n) for one in product(kinds, repeat=3)]
    size = 8 * n
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)
        # Where nothing is copied there are no parts.
        is_there = all(kind in (MANAGED, DEVICE) for kind in job.kinds)
        assert outcome.launches == (1 if is_there else LENGTHS[n])
        y, z, x = (kind in (PAGEABLE, PINNED) for kind in job.kinds)
        # What is on the device already stays there.
        assert outcome.moved == [size * (y + x), size * (y + z)], job


@pytest.mark.alike(2)
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 192, 193])
def test_of_all_lengths(n: int, library: Library) -> None:
    for outcome in library.outcomes(Job((PAGEABLE,) * 3, n), Job((PINNED,) * 3, n)):
        assert outcome.is_right, outcome


def test_the_second_call_allocates_nothing(library: Library) -> None:
    kinds = product((PAGEABLE, PINNED, MANAGED), repeat=3)
    jobs = [Job(one, n, calls=2) for one in kinds for n in LENGTHS]
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)
        assert outcome.allocations == 0, job


@pytest.mark.alike(2)
@pytest.mark.parametrize("kind", [PAGEABLE, PINNED])
def test_whatever_fails_nothing_of_the_hosts_is_lost(kind: str, library: Library) -> None:
    kinds = (kind, PAGEABLE, PAGEABLE), (kind,) * 3
    jobs = [j for one in {*kinds} for n in LENGTHS for j in library.every_failure(Job(one, n))]
    assert len(jobs) > 75 * len({*kinds})
    jobs = jobs[:: 1 if IS_THOROUGH else 3]
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)


def test_the_call_after_a_failed_one_is_made_by_the_device(library: Library) -> None:
    jobs = [j for n in LENGTHS for j in library.every_failure(Job((PAGEABLE,) * 3, n))]
    twice = [replace(job, calls=2) for job in jobs[:: 1 if IS_THOROUGH else 3]]
    for job, outcome in zip(twice, library.outcomes(*twice), strict=True):
        assert outcome.is_right, (job, outcome)
        assert outcome.moved[1] >= 2 * 8 * job.n, (job, outcome)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ((MANAGED, PAGEABLE, PAGEABLE), "the device's data are changed already, stopping"),
        ((PAGEABLE, PAGEABLE, DEVICE), "an array is in memory of the device; stopping"),
        ((ODD, PAGEABLE, PAGEABLE), "stopping"),
    ],
)
def test_data_on_the_device_are_never_left_wrong(
    kinds: tuple[str, str, str], words: str, library: Library
) -> None:
    jobs = [job for n in LENGTHS for job in library.every_failure(Job(kinds, n))]
    found, said = library.run(*jobs)
    for job, one in zip(jobs, found, strict=True):
        assert one is None or one.same, job
    assert 0 < found.count(None) == said.count("stopping\n")
    assert words in said


def test_an_array_that_begins_before_its_memory_is_known_by_an_element(tmp_path: Path) -> None:
    text = TEXT.replace("int i = 0; i < n", f"int i = {FAR}; i < n + {FAR}")
    files = emitted(tmp_path, text).files
    library = Library(tmp_path / "far", files[".cu"], files["_cuda.c"])
    job = Job((PAGEABLE, PAGEABLE, DEVICE), shift=FAR)
    (plain,) = library.outcomes(job)
    assert plain.is_right, plain
    found, said = library.run(replace(job, fail_at=plain.counted))
    assert found == [None]
    assert "an array is in memory of the device; stopping" in said


def test_files_built_with_other_figures_share_one_ring(
    texts: tuple[str, str], tmp_path: Path
) -> None:
    device, host = texts
    small, made = tmp_path / "small.cu", tmp_path / "small.o"
    small.write_text(translate(device.replace("f_1", "g_1")))
    run("g++", "-DANNOTUNE_CHUNK=64", "-DANNOTUNE_SLOTS=2", *SHARED, *CUDA, "-c", small, "-o", made)
    call = "annotune_f_1(n, y, x, z);\n"
    assert call in host
    halves = (
        "annotune_g_1(n / 2, y, x, z);\nannotune_f_1(n - n / 2, y + n / 2, x + n / 2, z + n / 2);\n"
    )
    prototype = "void annotune_g_1(int, double *, const double *, double *);\n"
    both = Library(tmp_path / "both", device, prototype + host.replace(call, halves), made)
    for outcome in both.outcomes(*[Job((PAGEABLE,) * 3, n=5000, calls=2)] * 3):
        assert outcome.is_right, outcome


@pytest.mark.slow
def test_several_threads_copy(texts: tuple[str, str], tmp_path: Path) -> None:
    library = Library(tmp_path / "threads", *texts, "-DANNOTUNE_COPIERS=6", "-O2")
    jobs = [Job((kind, PAGEABLE, PAGEABLE), n=20000, calls=20) for kind in (PAGEABLE, PINNED)]
    for outcome in library.outcomes(*jobs, *jobs, *jobs):
        assert outcome.is_right, outcome


MAIN = f"""\
#include <stdlib.h>
void f(int, double *, double *, const double *);
void annotune_release(void);
int annotune_cpu_red_zone_violations(void);
int main(void)
{{
    enum {{ N = {20 * N} }};
    double *y = calloc(N, 8), *z = calloc(N, 8), *x = calloc(N, 8);
    for (int i = 0; i < N; i++)
        x[i] = i % 5;
    for (int k = 1; k <= 20; k++) {{
        f(N, y, z, x);
        for (int i = 0; i < N; i++)
            if (y[i] != 3.0 * k * (i % 5) || z[i] != 2.0 * (i % 5))
                return 1;
        if (k % 7 == 0)
            annotune_release();
    }}
    return annotune_cpu_red_zone_violations();
}}
"""


def test_the_threads_have_no_race(texts: tuple[str, str], tmp_path: Path) -> None:
    device, host = texts
    (tmp_path / "host.c").write_text(host)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "device.cu").write_text(translate(device))
    for name in ("host", "main"):
        run("gcc", "-O1", "-c", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.o")
    # gcc's own detector, and not the one for kernels that stands in its place elsewhere.
    flags = ("-O0", "-fsanitize=thread", "-U__SANITIZE_THREAD__")
    sizes = (f"-DANNOTUNE_CHUNK={CHUNK}", f"-DANNOTUNE_SLOTS={SLOTS}", "-DANNOTUNE_COPIERS=6")
    given = (tmp_path / "host.o", tmp_path / "main.o", *CUDA, tmp_path / "device.cu")
    run("g++", *flags, *sizes, *given, "-o", tmp_path / "program")
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[:2000]


BOUND = """\
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void f(int, double *, double *, const double *);
int main(void)
{
    enum { N = 100000 };
    f(N, calloc(N, 8), calloc(N, 8), calloc(N, 8));
    cpu_set_t own;
    sched_getaffinity(0, sizeof own, &own);
    printf("%d %d\\n", omp_get_num_procs(), CPU_COUNT(&own));
    fflush(stdout);
    return system("cat /proc/$PPID/task/*/status | grep Cpus_allowed:");
}
"""


def test_threads_copy_on_all_of_openmp_s_processors(texts: tuple[str, str], tmp_path: Path) -> None:
    processors = len(os.sched_getaffinity(0))
    if processors < 2:
        pytest.skip("there is one processor, and no second thread copies")
    device, host = texts
    (tmp_path / "host.c").write_text(host)
    (tmp_path / "main.c").write_text("#define _GNU_SOURCE\n" + BOUND)
    (tmp_path / "device.cu").write_text(translate(device))
    for name in ("host", "main"):
        run("gcc", "-fopenmp", "-c", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.o")
    given = (tmp_path / "host.o", tmp_path / "main.o", *CUDA, tmp_path / "device.cu")
    run("g++", "-fopenmp", "-DANNOTUNE_COPIERS=6", *given, "-o", tmp_path / "program")
    environ = {**os.environ, "OMP_PROC_BIND": "true", "OMP_PLACES": "threads"}
    done = subprocess.run(
        [tmp_path / "program"], env=environ, capture_output=True, text=True, timeout=LIMIT_S
    )
    counts, *masks = done.stdout.splitlines()
    assert counts.split() == [str(processors), "1"]
    allowed = [bin(int(one.split()[1].replace(",", ""), 16)).count("1") for one in masks]
    assert sorted(allowed) == [1, *(min(6, processors) - 1) * [processors]]


OTHER = """
static cudaStream_t annotune_other(void)
{
    static cudaStream_t one = NULL;
    if (one == NULL)
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    return one;
}
"""
RECORDED = """\
    const cudaError_t status = cudaMemcpyAsync(to, from, chunk.bytes(), cudaMemcpyDefault, stream);
    if (status != cudaSuccess)
        return status;
    return cudaEventRecord(slot.event, stream);
"""
BEFORE = """\
    const cudaError_t status = cudaEventRecord(slot.event, stream);
    if (status != cudaSuccess)
        return status;
    return cudaMemcpyAsync(to, from, chunk.bytes(), cudaMemcpyDefault, stream);
"""
LAUNCHED = """\
        found = {};
        return found == cudaSuccess ? {} : found;
"""
COMPUTED = "cudaEventRecord(ring.computed[part % ANNOTUNE_COMPUTED], 0)"
MISTAKES = {
    "a slot is filled before the device has read it": (
        "        status = cudaEventSynchronize(slot.event);\n",
        "        status = cudaSuccess;\n",
    ),
    "a chunk leaves before it has been copied": (
        "        annotune_end_copy(slot);\n        if (chunk.array().saved",
        "        if (chunk.array().saved",
    ),
    "a result is copied before it has come": (
        "const cudaError_t status = cudaEventSynchronize(slot.event);",
        "const cudaError_t status = cudaSuccess;",
    ),
    "a slot is overwritten before it has been emptied": (
        "    cudaError_t status = cudaSuccess;\n    annotune_end_copy(slot);\n",
        "    cudaError_t status = cudaSuccess;\n",
    ),
    "the call returns before the last copies": (
        "        annotune_end_copy(ring.slots[k]);\n",
        "        ;\n",
    ),
    "the event is recorded before the copy": (RECORDED, BEFORE),
    "the event of another slot": (
        "cudaEventRecord(slot.event, stream)",
        "cudaEventRecord(annotune_slot_of(&slot - annotune_copies.slots + 1).event, stream)",
    ),
    "the copies are in another stream than the kernels": (
        "chunk.bytes(), cudaMemcpyDefault, stream)",
        "chunk.bytes(), cudaMemcpyDefault, annotune_other())",
    ),
    "the kernels are in another stream than the copies": (
        "<<<blocks, threads>>>",
        "<<<blocks, threads, 0, annotune_other()>>>",
    ),
    "both are, and nothing waits": (
        RECORDED,
        RECORDED.replace(", stream)", ", is_sent ? annotune_other() : stream)"),
    ),
    "what was there is not kept": (
        "return array().saved != NULL && !is_staged();",
        "return false;",
    ),
    "what was there is kept too late": (
        "fetches.part < ready();",
        "fetches.part < sends.part;",
    ),
    "what was there is not put back": (
        "            annotune_restore(array, array.saved, array.kept);\n",
        "            ;\n",
    ),
    "of what was there more is put back than was kept": (
        "array.kept",
        "array.bytes",
    ),
    "nothing waits for kernels whose results stay": (
        "last = cudaStreamSynchronize(0);",
        "last = cudaSuccess;",
    ),
    "memory is not left for later calls": (
        "            annotune_free(array.device, status);\n",
        "            ;\n",
    ),
    "a chunk begins where the one before it did": (
        "array().device + array().before + array().place(from);",
        "array().device + array().before;",
    ),
    "a part is computed before it has come": (
        "            found = cudaStreamWaitEvent(0, ring.sent, 0);\n",
        "            ;\n",
    ),
    "a part is fetched before it has been computed": (
        "cudaStreamWaitEvent(stream, computed, 0);",
        "cudaSuccess;",
    ),
    "the event of a part is recorded before its launch": (
        LAUNCHED.format("launch(first, parts.end(part) - first)", COMPUTED),
        LAUNCHED.format(COMPUTED, "launch(first, parts.end(part) - first)"),
    ),
    "a part is launched before all is sent for it": (
        "launched < behind.ready())",
        "launched < behind.ready() + 1 && launched < behind.sends.parts.count)",
    ),
    "a part is fetched that is not launched": (
        "chunk.part >= launched)",
        "chunk.part > launched)",
    ),
    "a part ends where the next one does": (
        "return iterations * (part + 1) / count;",
        "return iterations * (part + 2) / count;",
    ),
    "less is sent than a part needs": (
        "array.step * (size_t)(iterations - end(part));",
        "array.step * (size_t)(iterations - end(part) + 1);",
    ),
    "more is fetched than a part has computed": (
        "array.step * (size_t)end(part);",
        "array.step * (size_t)(end(part) + 1);",
    ),
    "the call does not wait for the last part": (
        "one == NULL ? cudaSuccess : cudaStreamSynchronize(one);",
        "cudaSuccess;",
    ),
    "all parts begin at the first": ("annotune_first * 256", "0 * 256"),
}


@pytest.mark.alike(7)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(
    name: str, texts: tuple[str, str], library: Library, tmp_path: Path
) -> None:
    old, new = MISTAKES[name]
    device, host = texts
    assert old in device
    wrong = device.replace(old, new)
    place = wrong.index("enum annotune_way")
    made = Library(tmp_path / "wrong", wrong[:place] + OTHER + wrong[place:], host)
    kinds = (PAGEABLE,) * 3, (PINNED,) * 3, (DEVICE, MANAGED, PAGEABLE)
    plain = [Job(one, n) for n in LENGTHS for one in kinds]
    # Most are found at once.
    failing = (library.every_failure(one) for one in plain if DEVICE not in one.kinds)
    for jobs in chain([plain], failing):
        try:
            outcomes, _ = made.run(*jobs)
        except subprocess.TimeoutExpired:
            return
        if not all(one is not None and one.is_right for one in outcomes):
            return
    pytest.fail("every call left what the original leaves")


SUM = """\
int f(int n, const double *x)
{
    double s = 1.5;
    /*@ begin PerfTuning (def input_params { param n = 131072; }) @*/
    for (int i = 0; i < n; i++)
        s += x[i];
    /*@ end @*/
    return (int)s;
}
"""
UNSEEN = {
    "": "",
    "memcpy(array.device + array.before, array.first, array.bytes);": ";",
    "memcpy(array.first, array.device + array.before, array.bytes);": ";",
    "last = cudaStreamSynchronize(0);": "last = cudaSuccess;",
}


@pytest.mark.alike(2)
@pytest.mark.parametrize("right", UNSEEN)
def test_a_sum_is_left_where_the_host_sees_it(right: str, tmp_path: Path) -> None:
    files = dict(emitted(tmp_path, SUM).files)
    files[".cu"] = standalone_text(files[".cu"])
    assert right in files[".cu"]
    files[".cu"] = files[".cu"].replace(right, UNSEEN[right] or right)
    program = Executable(tmp_path, SUM, files)
    calls = [Call("f", (n, Part(0)), (n,)) for n in (131072, 3000)]
    for call, (one, *_) in zip(calls, program.outcomes(*calls, returns=True), strict=True):
        assert one.same is (right == ""), one
        # The bus carries the array in chunks, and nothing else.
        assert one.counted["memcpys"] == -(-8 * call.buffers[0] // 16384)
        assert one.launches == 2
