"""Calls of several threads at the same time share the ring, and some of what they ask for fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.executed import run

from annotune.runtime.texts import CUDA_RUNTIME

# A device whose copies are made at once, of whose calls one in `rate` fails.
PROGRAM = r"""
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <emmintrin.h>
#include <vector>
typedef int cudaError_t;
typedef long *cudaEvent_t, *cudaStream_t;
enum { cudaSuccess, cudaErrorMemoryAllocation = 2 };
enum { cudaMemoryTypeUnregistered, cudaMemoryTypeHost };
enum { cudaMemoryTypeDevice = 2, cudaMemoryTypeManaged };
enum { cudaMemcpyDefault, cudaEventDisableTiming, cudaHostAllocPortable };
enum { cudaStreamNonBlocking };
struct cudaPointerAttributes { int type, device; };
static thread_local unsigned seed = 1;
static int rate = 0;
static bool bad() { return rate && rand_r(&seed) % rate == 0; }
#define F(e) if (bad()) return 7
static cudaError_t cudaGetDevice(int *d) { *d = 0; return 0; }
static cudaError_t cudaSetDevice(int) { return 0; }
static cudaError_t cudaMalloc(void **p, size_t n)
{
    *p = bad() ? NULL : malloc(n);
    return *p ? 0 : 2;
}
static cudaError_t cudaHostAlloc(void **p, size_t n, int)
{
    *p = bad() ? NULL : malloc(n);
    return *p ? 0 : 2;
}
static cudaError_t cudaFree(void *p) { free(p); return 0; }
static cudaError_t cudaFreeHost(void *p) { free(p); return 0; }
static cudaError_t cudaGetLastError() { return 0; }
static thread_local int type;
static cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *)
{
    *a = {type, 0};
    return 0;
}
static cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, int) { F(); *e = new long; return 0; }
static cudaError_t cudaEventDestroy(cudaEvent_t e) { delete e; return 0; }
static cudaError_t cudaEventSynchronize(cudaEvent_t) { F(); return 0; }
static cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { F(); return 0; }
static cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, int) { F(); *s = new long; return 0; }
static cudaError_t cudaStreamDestroy(cudaStream_t s) { delete s; return 0; }
static cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, int) { F(); return 0; }
static cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int, cudaStream_t)
{
    F();
    memcpy(to, from, n);
    return 0;
}
static cudaError_t cudaStreamSynchronize(cudaStream_t) { return 0; }
static cudaError_t cudaDeviceSynchronize() { return 0; }
#define __device__
#define __host__
#define __forceinline__ inline
static const char *cudaGetErrorString(int) { return "failed"; }
RUNTIME
static int wrong;
static void *work(void *given)
{
    const long me = (long)given;
    unsigned own = me * 77 + 5;
    seed = me + 1;
    for (int r = 0; r < 200; r++) {
        const size_t strip = rand_r(&own) % 2 ? 1 + rand_r(&own) % 70 : 0;
        const size_t rows = 1 + rand_r(&own) % 3, inner = 1 + rand_r(&own) % 3;
        const size_t outer = 1 + rand_r(&own) % 3, some = rand_r(&own) % 1500;
        const size_t steps = strip > 0 ? outer * inner : 1 + rand_r(&own) % 5;
        const size_t n = strip > 0 ? steps * rows * strip : some % 4 == 0 ? 0 : some;
        const size_t step = strip > 0 ? rows * strip : some % 2 ? n / steps : 0;
        const size_t off = rand_r(&own) % 9, pitch = inner * strip;
        type = rand_r(&own) % 2 ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
        std::vector<unsigned char> x(n + 32), y(n + 32), z(n + 32, 3);
        for (size_t i = 0; i < n + 32; i++)
            x[i] = rand_r(&own), y[i] = rand_r(&own);
        const auto x0 = x, y0 = y;
        const size_t s = strip, p = pitch;
        annotune_array a[] = {{x.data() + off, n, 0, n, true, false, step, false, s, p},
                              {y.data() + off, n, 16, n + 48, true, true, step, false, s, p},
                              {z.data() + off, n, 0, n, false, true, step, false, s, p}};
        const auto launch = [&](long first, long count) -> cudaError_t {
            F();
            /* What is left over belongs to the last iteration. */
            const size_t end = first + count == (long)steps ? n : step * (first + count);
            for (size_t k = step * first; k < (count == 0 ? n : end); k++) {
                const size_t i = a[0].place(k);
                a[1].device[16 + i] += a[0].device[i];
                a[2].device[i] = a[0].device[i] ^ 1;
            }
            return 0;
        };
        const cudaError_t status = annotune_call("work", a, 3, step > 0 ? steps : 0, launch);
        bool is_right = x == x0;
        for (size_t i = 0; i < n + 32; i++) {
            const bool is_inside = off <= i && i < off + n;
            const int sum = is_inside && status == 0 ? y0[i] + x0[i] : y0[i];
            is_right = is_right && y[i] == (unsigned char)sum;
            /* What is only written may be spoilt: the nest writes it again. */
            if (!is_inside || status == 0)
                is_right = is_right && z[i] == (is_inside ? x0[i] ^ 1 : 3);
        }
        if (!is_right)
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
        if (r % 50 == me)
            annotune_release();
    }
    return NULL;
}
int main(int, char **given)
{
    pthread_t threads[6];
    rate = atoi(given[1]);
    for (long k = 0; k < 6; k++)
        pthread_create(&threads[k], NULL, work, (void *)k);
    for (int k = 0; k < 6; k++)
        pthread_join(threads[k], NULL);
    annotune_release();
    return wrong > 0 || annotune_kept.first != NULL;
}
"""


@pytest.mark.alike(4)
@pytest.mark.parametrize("slots", [1, 3])
def test_calls_at_the_same_time(slots: int, tmp_path: Path) -> None:
    include = CUDA_RUNTIME.include()
    runtime = CUDA_RUNTIME.inlined(include, "ring.cu", {"annotune_run_in_parts"})
    (tmp_path / "ring.cpp").write_text(PROGRAM.replace("RUNTIME", runtime))
    sizes = (
        "-DANNOTUNE_CHUNK=64",
        f"-DANNOTUNE_SLOTS={slots}",
        "-DANNOTUNE_COPIERS=4",
        "-DANNOTUNE_PART=100",
    )
    flags = ("-std=c++17", "-D_GNU_SOURCE", "-O0", "-w", "-fsanitize=thread", "-DANNOTUNE_CPU")
    run("g++", *flags, *sizes, tmp_path / "ring.cpp", "-o", tmp_path / "ring", "-lpthread")
    for rate in ("0", "60", "8"):
        command = [tmp_path / "ring", rate]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (rate, done.stderr[:2000])
