"""Several devices on the CPU: each thread of the host has one in use, and memory belongs to one."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpu_builds import CUDA, answers, build, child, run

from annotune.measure.cuda_text import translate

VALUES = [float(k) for k in range(8)]
TEXT = r"""
#include <cuda_runtime.h>
#include <pthread.h>
#define ENTRY extern "C" int

__global__ void twice(const double *a, double *b) { b[threadIdx.x] = 2 * a[threadIdx.x]; }

static int on(int device, int n, const double *in, double *out) {
  double *a = NULL, *b = NULL;
  cudaSetDevice(device);
  cudaMalloc((void **)&a, n * sizeof(double));
  cudaMalloc((void **)&b, n * sizeof(double));
  cudaMemcpy(a, in, n * sizeof(double), cudaMemcpyHostToDevice);
  twice<<<1, n>>>(a, b);
  const cudaError_t status = cudaGetLastError();
  cudaMemcpy(out, b, n * sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  return status;
}
struct half { int device, n; const double *in; double *out; };
static void *of_half(void *given) {
  const half &own = *(half *)given;
  on(own.device, own.n, own.in, own.out);
  return NULL;
}
ENTRY in_threads(int n, const double *in, double *out) {
  pthread_t threads[2];
  half halves[2];
  for (int k = 0; k < 2; k++) {
    halves[k] = {k, n / 2, in + k * (n / 2), out + k * (n / 2)};
    pthread_create(&threads[k], NULL, of_half, &halves[k]);
  }
  for (pthread_t one : threads) pthread_join(one, NULL);
  int device = -1;
  cudaGetDevice(&device);
  return device;
}
ENTRY no_such_device(int n, const double *in, double *out) { return cudaSetDevice(2); }
ENTRY memory_of_another(int n, const double *in, double *out) {
  double *a = NULL, *b = NULL;
  cudaMalloc((void **)&a, n * sizeof(double));
  cudaSetDevice(1);
  cudaMalloc((void **)&b, n * sizeof(double));
  twice<<<1, n>>>(a, b);
  return cudaDeviceSynchronize();
}
ENTRY stream_of_another(int n, const double *in, double *out) {
  double *a = NULL;
  cudaStream_t stream = NULL;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaSetDevice(1);
  cudaMalloc((void **)&a, n * sizeof(double));
  twice<<<1, n, 0, stream>>>(a, a);
  return cudaGetLastError();
}
ENTRY event_of_another(int n, const double *in, double *out) {
  cudaEvent_t event = NULL;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaSetDevice(1);
  return cudaEventRecord(event, 0);
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("devices")
    compiled = build(folder, "text.cu", translate(TEXT), ("-DANNOTUNE_DEVICES=2", *CUDA))
    run("g++", "-shared", compiled, "-o", folder / "text.so")
    return folder / "text.so"


def test_each_thread_has_a_device_in_use(library: Path) -> None:
    script = f"say(*call('in_threads', 8, {VALUES}), lib.annotune_cpu_devices_used())"
    assert answers(library, script) == [[0, [2 * one for one in VALUES], 3]]


@pytest.mark.parametrize(
    ("entry", "error"),
    [("no_such_device", 101), ("stream_of_another", 400), ("event_of_another", 400)],
)
def test_what_is_of_another_device_is_refused(entry: str, error: int, library: Path) -> None:
    assert answers(library, f"say(call('{entry}', 8, {VALUES})[0])") == [[error]]


def test_memory_of_another_device_faults(library: Path) -> None:
    assert child(library, f"say(call('memory_of_another', 8, {VALUES})[0])").returncode < 0
