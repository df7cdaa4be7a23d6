"""Resident blocks: cases worked out by hand, and NVIDIA's own calculator where it is here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from annotune.annotation.devices import load_device
from annotune.measure.toolchain import find_toolchains
from annotune.model.traffic import Residency, residency

H200 = load_device("h200")
THREADS = (1, 31, 64, 96, 100, 256, 288, 512, 1024)
REGISTERS = (1, 16, 32, 33, 40, 64, 65, 96, 127, 128, 168, 255)
SHARED = (0, 1, 1024, 10000, 49152, 65536, 116736, 117000, 232448)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "expected"),
    [
        # 64 registers x 32 lanes = 2048 of 65536: 32 warps, 4 blocks of 8.
        (256, 64, 0, Residency(4, 0.5, "registers")),
        # 65 round up to 2304 per warp: 7 in each quarter of 16384, 28 warps, 3 blocks of 8.
        (256, 65, 0, Residency(3, 0.375, "registers")),
        (256, 32, 0, Residency(8, 1.0, "threads")),
        (32, 16, 0, Residency(32, 0.5, "blocks")),
        # 100 threads are 4 warps.
        (100, 32, 0, Residency(16, 1.0, "threads")),
        # 228 KiB hold two blocks of 100 KiB and the driver's 1 KiB each.
        (256, 32, 100 * 1024, Residency(2, 0.25, "shared memory")),
        # 227 KiB is the most that one block may have.
        (256, 32, 227 * 1024, Residency(1, 0.125, "shared memory")),
        (256, 32, 227 * 1024 + 1, Residency(0, 0.0, "shared memory")),
        # 1024 threads of 65 registers do not fit the file: the launch fails.
        (1024, 65, 0, Residency(0, 0.0, "registers")),
        (1025, 32, 0, Residency(0, 0.0, "threads")),
    ],
)
def test_by_hand(threads: int, registers: int, shared: int, expected: Residency) -> None:
    assert residency(H200, threads, registers, shared) == expected


_CALCULATOR = r"""
#include <climits>
#include <cstdio>
#include <cstring>
struct cudaDeviceProp;
#include "cuda_occupancy.h"
int main()
{
    cudaOccDeviceProp device;
    device.computeMajor = 9;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = 2048;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = 228 * 1024;
    device.numSms = 132;
    device.sharedMemPerBlockOptin = 227 * 1024;
    device.reservedSharedMemPerBlock = 1024;
    cudaOccDeviceState state;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    int threads, registers, shared;
    while (scanf("%d %d %d", &threads, &registers, &shared) == 3) {
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = registers;
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = 227 * 1024;
        kernel.numBlockBarriers = 1;
        cudaOccResult result;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(
                &result, &device, &kernel, &state, threads, shared) != CUDA_OCC_SUCCESS)
            return 1;
        printf("%d\n", result.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


def test_equals_the_toolkits_calculator(tmp_path: Path) -> None:
    tools = find_toolchains(os.environ)
    header = Path(tools.nvcc.include if tools.nvcc else "") / "cuda_occupancy.h"
    if tools.cxx is None or tools.nvcc is None or not header.is_file():
        pytest.skip("no C++ compiler, or no cuda_occupancy.h of a CUDA toolkit")
    source = tmp_path / "calculator.cpp"
    source.write_text(_CALCULATOR)
    program = tmp_path / "calculator"
    command = [*tools.cxx.command, f"-I{header.parent}", str(source), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    points = [(t, r, s) for t in THREADS for r in REGISTERS for s in SHARED]
    asked = "\n".join(" ".join(map(str, point)) for point in points)
    done = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    theirs = [int(line) for line in done.stdout.split()]
    assert [residency(H200, *point).blocks for point in points] == theirs
    assert len(set(theirs)) > 10
