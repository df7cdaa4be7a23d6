"""CUDA text executed on the CPU: right kernels pass in every order, broken ones are caught."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cpu_builds import ASAN, CUDA, SHARED, answers, asan_environ, build, child, run

from annotune.measure.cuda_text import translate

N = 64
# Every entry has the signature int entry(int n, const double *in, double *out).
TEXT = r"""
#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#define ENTRY extern "C" int

template <class Launch>
static int on_device(int n, const double *in, double *out, int outs, Launch launch) {
  double *a = NULL, *b = NULL;
  cudaError_t error = cudaMalloc(&a, n * sizeof(double));
  if (!error) error = cudaMalloc((void **)&b, outs * sizeof(double));
  if (!error) error = cudaMemcpy(a, in, n * sizeof(double), cudaMemcpyHostToDevice);
  if (!error) { launch(a, b); error = cudaGetLastError(); }
  if (!error) error = cudaDeviceSynchronize();
  if (!error) error = cudaMemcpy(out, b, outs * sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(b);
  cudaFree(a);
  return error;
}

__global__ void reversed(const double *a, double *b) {
  __shared__ double tile[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[i];
  __syncthreads();
  b[i] = tile[31 - threadIdx.x];
}
ENTRY right(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) { reversed<<<n / 32, 32>>>(a, b); });
}

__global__ void unsynced(const double *a, double *b) {
  extern __shared__ double tile[];
  tile[threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncwarp();
  b[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
ENTRY no_barrier(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) {
    unsynced<<<1, n, n * sizeof(double)>>>(a, b); });
}

template <int BEYOND> __global__ void shifted(int n, const double *a, double *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i + BEYOND] = a[i];
}
template <int BEYOND> __global__ void gathered(int n, const double *a, double *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i + BEYOND];
}
ENTRY plain(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) {
    shifted<0><<<dim3((n + 6) / 7), dim3(7)>>>(n, a, b); });
}
ENTRY write_beyond(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) { shifted<1><<<n, 1>>>(n, a, b); });
}
ENTRY write_before(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) { shifted<-1><<<n, 1>>>(n, a, b); });
}
ENTRY read_beyond(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) { gathered<1><<<n, 1>>>(n, a, b); });
}

__global__ void writes_past_shared(double *b) {
  extern __shared__ double tile[];
  tile[threadIdx.x + 1] = 1;
  __syncthreads();
  b[threadIdx.x] = tile[threadIdx.x];
}
ENTRY shared_beyond(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *, double *b) {
    writes_past_shared<<<1, n, n * sizeof(double)>>>(b); });
}

__global__ void reads_shared_unwritten(double *b) {
  __shared__ double tile[64];
  if (threadIdx.x % 2) tile[threadIdx.x] = 1;
  __syncthreads();
  b[threadIdx.x] = tile[threadIdx.x];
}
ENTRY shared_unwritten(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *, double *b) {
    reads_shared_unwritten<<<1, n>>>(b); });
}

__device__ double warp_sum(double x) {
  for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(~0u, x, by);
  return x;
}
__global__ void summed(const double *a, double *b) {
  __shared__ double sums[2];
  double x = warp_sum(a[threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
  __syncthreads();
  int positive = __syncthreads_count(a[threadIdx.x] > 0);
  unsigned odd = __ballot_sync(~0u, threadIdx.x % 2);
  if (threadIdx.x == 0) { b[0] = sums[0] + sums[1]; b[1] = positive; b[2] = odd; }
  if (threadIdx.x < 32) b[3 + threadIdx.x] = __shfl_xor_sync(~0u, (double)threadIdx.x, 5);
  atomicAdd(&b[60], 0.0);
}
ENTRY warps(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) {
    cudaMemset(b, 0, n * sizeof(double)); summed<<<1, n>>>(a, b); });
}

template <int PRIOR> __global__ void piped(int n, const double *a, double *b) {
  __shared__ double stage[2][8];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], &a[t], sizeof(double));
  __pipeline_commit();
  for (int k = 0; k < n / 8; k++) {
    if (k + 1 < n / 8) __pipeline_memcpy_async(&stage[(k + 1) % 2][t], &a[8 * (k + 1) + t], 8);
    __pipeline_commit();
    __pipeline_wait_prior(PRIOR);
    __syncthreads();
    b[8 * k + t] = stage[k % 2][7 - t];
    __syncthreads();
  }
}
ENTRY pipeline(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) { piped<1><<<1, 8>>>(n, a, b); });
}
ENTRY pipeline_waits_too_little(int n, const double *in, double *out) {
  return on_device(n, in, out, n, [=](double *a, double *b) { piped<2><<<1, 8>>>(n, a, b); });
}

__global__ void longer(const double *a, double *b) {
  int lane = threadIdx.x, row = lane / 4, step = lane % 4;
  double left[8], right[4], two[2], d[4] = {0, 0, 0, 0}, e[4] = {0, 0, 0, 0};
  for (int i = 0; i < 8; i++) left[i] = a[((row + i % 2 * 8) * 4 + step + i / 2 * 4) % 64];
  for (int i = 0; i < 4; i++) right[i] = step + 4 * i == row + 8;
  for (int i = 0; i < 2; i++) two[i] = step + 4 * i == 7 - row;
  const double few[4] = {left[0], left[1], left[2], left[3]};
  annotune_mma_m16n8k16(d, left, right);
  annotune_mma_m16n8k8(e, few, two);
  for (int i = 0; i < 4; i++)
    b[(row + i / 2 * 8) * 8 + step * 2 + i % 2] = d[i] + 1000 * e[i];
}
ENTRY longer_mma(int n, const double *in, double *out) {
  return on_device(n, in, out, 128, [=](double *a, double *b) { longer<<<1, 32>>>(a, b); });
}

#ifndef ANNOTUNE_CPU
__device__ void annotune_mma_m16n8k4(double (&d)[4], const double (&a)[2], double b) {
  asm volatile("mma.sync…" : : );
}
#endif
__global__ void tensor(const double *a, double *b) {
  int lane = threadIdx.x;
  const double left[2] = {a[lane / 4 * 4 + lane % 4], a[(lane / 4 + 8) * 4 + lane % 4]};
  double d[4] = {1, 1, 1, 1}, e[2] = {0, 0};
  annotune_mma_m16n8k4(d, left, lane % 4 == 0 ? lane / 4 : 0);
  annotune_mma_m8n8k4(e, left[0], lane % 4 == 1);
  for (int i = 0; i < 4; i++)
    b[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i] + (i < 2 ? 1000 * e[i] : 0);
}
ENTRY mma(int n, const double *in, double *out) {
  return on_device(n, in, out, 128, [=](double *a, double *b) { tensor<<<1, 32>>>(a, b); });
}

__global__ void branches(double *b) {
  if (threadIdx.x < 16) __syncthreads();
  b[threadIdx.x] = 1;
}
__global__ void two_barriers(double *b) {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncthreads();
  b[threadIdx.x] = 1;
}
__global__ void barrier_and_warp(double *b) {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncwarp();
  __syncthreads();
  b[threadIdx.x] = 1;
}
#define BROKEN(NAME) ENTRY diverges_##NAME(int n, const double *in, double *out)
BROKEN(branch) {
  return on_device(n, in, out, n, [=](double *, double *b) { branches<<<1, n>>>(b); });
}
BROKEN(lines) {
  return on_device(n, in, out, n, [=](double *, double *b) { two_barriers<<<1, n>>>(b); });
}
BROKEN(warp) {
  return on_device(n, in, out, n, [=](double *, double *b) { barrier_and_warp<<<1, n>>>(b); });
}

ENTRY leaks(int n, const double *in, double *out) {
  double *a;
  return cudaMalloc(&a, n * sizeof(double));
}
ENTRY configuration(int n, const double *in, double *out) {
  const unsigned shape[][6] = {{1, 1, 1, 1024, 1, 1}, {0, 1, 1, 32, 1, 1}, {1, 1, 1, 0, 1, 1},
      {1, 1, 1, 33, 32, 1}, {1, 1, 1, 1, 1, 65}, {1, 65536, 1, 1, 1, 1},
      {0x80000000u, 1, 1, 1, 1, 1}};
  for (int i = 0; i < 7; i++) {
    const unsigned *s = shape[i];
    shifted<0><<<dim3(s[0], s[1], s[2]), dim3(s[3], s[4], s[5])>>>(0, in, out);
    out[i] = cudaPeekAtLastError();
    if (cudaGetLastError() != out[i] || cudaGetLastError()) return 1;
  }
  unsynced<<<1, 32, 49 << 10>>>(in, out);
  out[7] = cudaGetLastError();
  cudaFuncSetAttribute(unsynced, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10);
  out[8] = cudaGetLastError();
  cudaFuncSetAttribute(reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10);
  out[9] = cudaGetLastError();
  return 0;
}
ENTRY copies(int n, const double *in, double *out) {
  double *a, host[8];
  cudaMalloc(&a, 8 * sizeof(double));
  out[0] = cudaMemcpy(a, host, 64, cudaMemcpyHostToDevice);
  out[1] = cudaMemcpy(a, host, 65, cudaMemcpyHostToDevice);
  out[2] = cudaMemcpy(host, a, 64, cudaMemcpyHostToDevice);
  out[3] = cudaMemcpy(host, host, 64, cudaMemcpyDeviceToHost);
  out[4] = cudaMemcpy(a + 1, a, 64, cudaMemcpyDeviceToDevice);
  out[5] = cudaMemcpy(host, a, 64, cudaMemcpyDefault);
  out[6] = cudaMemset(host, 0, 64);
  out[7] = cudaFree(host);
  out[8] = cudaFree(a);
  out[9] = cudaFree(a);
  cudaGetLastError();
  return 0;
}
__constant__ double factors[4];
__global__ void scaled(const double *a, double *b) { b[threadIdx.x] = factors[2] * a[threadIdx.x]; }
ENTRY constant(int n, const double *in, double *out) {
  const double values[4] = {1, 2, 3, 4};
  if (!cudaMemcpyToSymbol(factors, values, 40)) return 1;
  cudaGetLastError();
  cudaMemcpyToSymbol(factors, values, sizeof values);
  return on_device(n, in, out, n, [=](double *a, double *b) { scaled<<<1, n>>>(a, b); });
}
"""
VALUES = [float(i * i % 37 + 1) for i in range(N)]
RUN = f"n = {N}; values = {VALUES}\n"
IN_ALL_ORDERS = RUN + "for lib.mode in (0, 1, 2):\n    lib.annotune_cpu_set_order(lib.mode)\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    compiled = build(folder, "text.cu", translate(TEXT), CUDA)
    run("g++", "-shared", compiled, "-o", folder / "text.so")
    return folder / "text.so"


@pytest.fixture(scope="module")
def asan_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asan")
    compiled = build(folder, "text.cu", translate(TEXT), (*ASAN, *CUDA))
    run("g++", "-shared", *ASAN, compiled, "-o", folder / "text.so")
    return folder / "text.so"


def reversed_in_groups(size: int) -> list[float]:
    return [VALUES[i // size * size + size - 1 - i % size] for i in range(N)]


EXPECTED = {
    "right": reversed_in_groups(32),
    "plain": VALUES,
    "pipeline": reversed_in_groups(8),
    "constant": [3 * value for value in VALUES],
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("entry", EXPECTED)
def test_a_right_kernel_is_right_in_every_order(library: Path, entry: str) -> None:
    said = answers(library, IN_ALL_ORDERS + f"    say(*call('{entry}', n, values))")
    assert said == [[0, EXPECTED[entry]]] * 3


@pytest.mark.alike(4)
@pytest.mark.parametrize("entry", EXPECTED)
def test_a_right_kernel_is_right_under_the_sanitizers(asan_library: Path, entry: str) -> None:
    script = IN_ALL_ORDERS + f"    say(*call('{entry}', n, values))"
    assert answers(asan_library, script, asan_environ()) == [[0, EXPECTED[entry]]] * 3


def test_warps_vote_shuffle_and_add(library: Path) -> None:
    said = answers(library, IN_ALL_ORDERS + "    say(call('warps', n, values)[1][:35])")
    lanes = [float(lane ^ 5) for lane in range(32)]
    assert said == [[[sum(VALUES), float(N), float(0xAAAAAAAA), *lanes]]] * 3


def test_tensor_core_fragments_lie_as_ptx_says(library: Path) -> None:
    (said,) = answers(library, RUN + "say(call('mma', n, values, 128)[1])")
    # B of m16n8k4 is (0, column) in row 0; B of m8n8k4 is 1 in row 1, for the upper rows.
    upper = [
        1 + VALUES[4 * row] * column + (1000 * VALUES[4 * row + 1] if row < 8 else 0)
        for row in range(16)
        for column in range(8)
    ]
    assert said == [upper]
    # A is VALUES in rows of 4 that overlap; B picks column + 8 of 16 steps, and 7 - column of 8.
    (said,) = answers(library, RUN + "say(call('longer_mma', n, values, 128)[1])")
    picked = [
        VALUES[(4 * row + column + 8) % 64] + 1000 * VALUES[(4 * row + 7 - column) % 64]
        for row in range(16)
        for column in range(8)
    ]
    assert said == [picked]


@pytest.mark.parametrize(
    ("entry", "offset"), [("write_beyond", N * 8), ("write_before", -8)], ids=str
)
def test_a_red_zone_catches_a_write_outside(library: Path, entry: str, offset: int) -> None:
    script = f"call('{entry}', n, values)\nsay(lib.annotune_cpu_red_zone_violations())\n"
    script += "say(text('annotune_cpu_message'))"
    (count,), (message,) = answers(library, RUN + script)
    assert count == 1
    assert (
        message == f"shifted: device allocation 2 of 512 bytes was written at byte offset {offset}"
    )


def test_a_read_outside_is_not_a_number(library: Path) -> None:
    (said,) = answers(library, RUN + "x = call('read_beyond', n, values)[1]; say(x[-1] != x[-1])")
    assert said == [True]


@pytest.mark.parametrize("entry", ["write_beyond", "write_before", "read_beyond", "shared_beyond"])
def test_the_address_sanitizer_stops_an_access_outside(asan_library: Path, entry: str) -> None:
    done = child(asan_library, RUN + f"call('{entry}', n, values)", asan_environ())
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr
    assert "text.cu:" in done.stderr


def test_a_write_past_dynamic_shared_memory_aborts(library: Path) -> None:
    assert_aborts(child(library, RUN + "call('shared_beyond', n, values)"), "dynamic shared memory")


def test_unwritten_shared_memory_is_not_a_number_in_every_launch(library: Path) -> None:
    script = "for _ in (1, 2): say([x == x for x in call('shared_unwritten', n, values)[1]])"
    assert answers(library, RUN + script) == [[[False, True] * (N // 2)]] * 2


def test_a_wait_that_covers_too_little_gives_wrong_values(library: Path) -> None:
    script = IN_ALL_ORDERS + "    say(call('pipeline_waits_too_little', n, values)[1])"
    for (said,) in answers(library, script):
        assert said != EXPECTED["pipeline"]


@pytest.mark.parametrize("entry", ["branch", "lines", "warp"])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_a_divergent_barrier_aborts(library: Path, entry: str, mode: int) -> None:
    script = f"lib.annotune_cpu_set_order({mode})\ncall('diverges_{entry}', 32, values)"
    assert_aborts(child(library, RUN + script), "block (0,0,0) thread")


def assert_aborts(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert done.returncode == -6, done.stderr
    assert message in done.stderr


def test_counters_and_a_leak(library: Path) -> None:
    names = "mallocs", "memcpys", "frees", "launches", "live_allocations"
    counts = f"[getattr(lib, 'annotune_cpu_' + name)() for name in {names}]"
    script = f"call('right', n, values); say(*{counts}); call('leaks', n, values); say(*{counts})\n"
    script += f"lib.annotune_cpu_reset(); say(*{counts})"
    assert answers(library, RUN + script) == [[2, 2, 2, 1, 0], [3, 2, 2, 1, 1], [0, 0, 0, 0, 0]]


def test_every_call_can_be_made_to_fail_and_the_entry_still_frees(library: Path) -> None:
    script = """
for n_th in range(1, 9):
    lib.annotune_cpu_reset()
    lib.annotune_cpu_fail_at(n_th)
    say(call('right', n, values)[0], lib.annotune_cpu_live_allocations())
"""
    # malloc, malloc, copy, launch, synchronize, copy; then nothing is left to fail.
    errors = [2, 2, 999, 719, 719, 999, 0, 0]
    assert answers(library, RUN + script) == [[error, 0] for error in errors]


def test_an_invalid_configuration_is_an_error_as_on_a_device(library: Path) -> None:
    (said,) = answers(library, RUN + "say(call('configuration', n, values)[1][:10])")
    assert said == [[0, 9, 9, 9, 9, 9, 9, 1, 1, 0]]


def test_a_copy_to_the_wrong_side_or_beyond_is_an_error(library: Path) -> None:
    (said,) = answers(library, RUN + "say(call('copies', n, values)[1][:10])")
    assert said == [[0, 1, 1, 1, 1, 0, 1, 1, 0, 1]]


def test_resident_data_needs_no_counted_call(library: Path) -> None:
    script = """
lib.annotune_cpu_device_malloc.restype = ctypes.c_void_p
p = lib.annotune_cpu_device_malloc(ctypes.c_size_t(80))
say(lib.annotune_cpu_mallocs(), lib.annotune_cpu_live_allocations())
say(lib.annotune_cpu_device_free(ctypes.c_void_p(p)), lib.annotune_cpu_live_allocations())
"""
    assert answers(library, script) == [[0, 1], [1, 0]]


def test_the_portable_fibers_give_the_same(tmp_path: Path) -> None:
    compiled = build(tmp_path, "text.cu", translate(TEXT), ("-DANNOTUNE_UCONTEXT", *CUDA))
    run("g++", "-shared", *SHARED, compiled, "-o", tmp_path / "text.so")
    said = answers(tmp_path / "text.so", IN_ALL_ORDERS + "    say(*call('right', n, values))")
    assert said == [[0, EXPECTED["right"]]] * 3
