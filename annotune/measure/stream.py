"""This machine's processor for its roofline: name, cores, memory bandwidth, arithmetic peak."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from annotune.measure.command import run_command
from annotune.measure.toolchain import Toolchains

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
