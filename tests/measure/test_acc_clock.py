"""OpenACC's kernels on a GPU: found by libgomp, counted, and timed by events of the driver."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from codegen.emitted import analysed, example, here, variants

from annotune.codegen.openacc import OpenAccTarget
from annotune.measure.check import NOT_LAUNCHED, Checker
from annotune.measure.compile import KINDS, RUNTIME_FOLDER, compile_job
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program, compile_job_of
from annotune.measure.trial import Status

TOOLS = here()
CLOCK = RUNTIME_FOLDER / "acc_clock.c"
pytestmark = pytest.mark.skipif(TOOLS.c is None or not TOOLS.openacc, reason="no OpenACC")
needs_offload = pytest.mark.skipif(
    "nvptx-none" not in TOOLS.offload, reason="gcc has no nvptx-none here"
)

# A run time that keeps who listens, and goes through a launch as libgomp does.
RUN_TIME = """\
#include <acc_prof.h>
static acc_prof_callback heard[acc_ev_last];
void acc_prof_register(acc_event_t event, acc_prof_callback callback, acc_register_t how)
{
    (void)how;
    heard[event] = callback;
}
void construct(int is_on_gpu)
{
    if (is_on_gpu) heard[acc_ev_enqueue_launch_start](0, 0, 0);
    if (is_on_gpu) heard[acc_ev_enqueue_launch_end](0, 0, 0);
    heard[acc_ev_compute_construct_end](0, 0, 0);
}
"""

# A driver on which every kernel takes 2.5 ms, and whose clock stands still but for launches.
DRIVER = """\
#include <stddef.h>
static char events[2];
static int made;
static size_t set_bytes;
int cuEventCreate(void **event, unsigned flags)
{
    *event = &events[made++ % 2];
    return flags != 0;
}
int cuEventRecord(void *event, void *stream) { (void)stream; return event == 0; }
int cuEventSynchronize(void *event) { return event != &events[1]; }
int cuEventElapsedTime(float *ms, void *a, void *b)
{
    *ms = 2.5f;
    return a != &events[0] || b != &events[1];
}
int cuMemAlloc_v2(unsigned long long *at, size_t bytes)
{
    *at = 64;
    return bytes == 0;
}
int cuMemsetD8_v2(unsigned long long at, unsigned char c, size_t n)
{
    set_bytes += n;
    return at != 64 || c != 0;
}
int cuCtxSynchronize(void) { return 0; }
int cuCtxGetDevice(int *device) { *device = 0; return 0; }
int cuDeviceGetAttribute(int *value, int what, int device)
{
    *value = 50 << 20;
    return what != 38 || device != 0;
}
size_t overwritten(void) { return set_bytes; }
"""

STORY = """\
import ctypes, sys
run_time = ctypes.CDLL("./librun.so", ctypes.RTLD_GLOBAL)
clock = ctypes.CDLL("./clock.so")
clock.annotune_kernel_seconds.restype = ctypes.c_double
clock.annotune_flush_seconds.restype = ctypes.c_double
run_time.construct(0)
assert (clock.annotune_gpu_launches(), clock.annotune_kernel_seconds()) == (0, 0.0)
for _ in range(3):
    run_time.construct(1)
assert clock.annotune_gpu_launches() == 3
assert abs(clock.annotune_kernel_seconds() - 7.5e-3) < 1e-9
assert clock.annotune_kernel_seconds() == 0.0
driver = ctypes.CDLL("libcuda.so.1")
driver.overwritten.restype = ctypes.c_size_t
assert driver.overwritten() == 0
clock.annotune_flush_l2()
run_time.construct(1)
run_time.construct(1)
assert driver.overwritten() == 100 << 20
assert clock.annotune_flush_seconds() > 0
assert clock.annotune_flush_seconds() == 0
"""


def built(folder: Path, text: str, name: str) -> None:
    assert TOOLS.c is not None
    source = folder / f"{name}.c"
    source.write_text(text)
    command = [*TOOLS.c.command, "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared"]
    subprocess.run([*command, str(source), "-o", str(folder / name), "-ldl"], check=True)


def test_launches_are_counted_and_timed_and_the_l2_overwritten_once(tmp_path: Path) -> None:
    built(tmp_path, RUN_TIME, "librun.so")
    built(tmp_path, DRIVER, "libcuda.so.1")
    built(tmp_path, CLOCK.read_text(), "clock.so")
    environ = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", STORY],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_without_a_driver_nothing_is_counted(tmp_path: Path) -> None:
    built(tmp_path, RUN_TIME, "librun.so")
    built(tmp_path, CLOCK.read_text(), "clock.so")
    story = STORY[: STORY.index("for _ in")] + "run_time.construct(1)\n"
    story += "assert clock.annotune_gpu_launches() == 0\n"
    subprocess.run([sys.executable, "-c", story], cwd=tmp_path, check=True)


@needs_offload
def test_the_table_of_kernels_outlives_the_linker(tmp_path: Path) -> None:
    source, analysis = example("gemm/gemm.c"), analysed("gemm/gemm.c")
    target = OpenAccTarget()
    (first,) = variants(target, analysis, 1)
    code = target.region(first, False)
    oracle = Oracle(source, analysis, TOOLS, tmp_path)
    made = compile_job(
        compile_job_of(Program("openacc", "openacc-gpu", code), "openacc-gpu", oracle),
        TOOLS,
        tmp_path / "compiled",
    )
    assert made.ok, made.output
    headers = subprocess.run(
        ["readelf", "-SW", str(made.path)], capture_output=True, text=True, check=True
    ).stdout
    (row,) = (line for line in headers.splitlines() if ".gnu.offload_funcs" in line)
    size = int(row.split("PROGBITS")[1].split()[2], 16)
    assert size == 8 * (code.body + code.helper).count("#pragma acc parallel")


@needs_offload
@pytest.mark.parametrize(
    ("device", "status", "reason"),
    [
        ("host", Status.CORRECTNESS, NOT_LAUNCHED),
        # No GPU can be seen by a test.
        ("nvidia", Status.RUNTIME, "libgomp: "),
    ],
)
def test_what_launches_nothing_is_not_right(
    tmp_path: Path, device: str, status: Status, reason: str
) -> None:
    source, analysis = example("gemm/gemm.c"), analysed("gemm/gemm.c")
    target = OpenAccTarget()
    (first,) = variants(target, analysis, 1)
    one = Program("openacc", "openacc-gpu", target.region(first, False))
    plan = CheckPlan(({"m": 512, "n": 512, "k": 512},), environ={"ACC_DEVICE_TYPE": device})
    trial = Checker(Oracle(source, analysis, TOOLS, tmp_path)).check(one, plan)
    assert trial.status is status
    assert reason in trial.reason


def test_what_is_timed_on_a_gpu_says_so() -> None:
    timed = {name for name, kind in KINDS.items() if kind.is_on_gpu}
    assert timed == {"cuda-gpu", "cuda-calls", "openacc-gpu"}
