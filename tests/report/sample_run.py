"""A run made by hand: measured, predicted, unavailable and unverified rows, hostile words."""

from __future__ import annotations

from annotune.measure.trial import Comparison, Final, Status, Trial, Verdict
from annotune.tuning.results import (
    FormulationResult,
    KernelModel,
    Profile,
    Reading,
    RegionResult,
    Results,
    Roof,
    Row,
    RowStatus,
    Searched,
    TargetModel,
)
from annotune.tuning.verdict import compare

CPU = "AMD EPYC 9534, 8 threads"
GPU = "NVIDIA H200"
HOSTILE = "<script>alert('x')</script> & \x1b[31mred\x07 [bold]no[/bold] \u202eevil \udcff"
BLOCK = {"UF": 8, "S0.block": "h2,p6", "S0.thread": "h3,h1", "S0.unroll_h7": 8}

WON = Final(Verdict.WINNER, 0.01402, 0.0139, 0.0141, 1.0, 1.0, 1.0, (0.0139, 0.01402, 0.0141) * 3)
TIED = Final(Verdict.TIED, 0.0141, 0.0138, 0.0145, 1.005, 0.991, 1.02, (0.0138, 0.0141, 0.0145) * 3)


def beside(own_s: float, other_s: float, name: str = "sequential") -> dict[str, Comparison]:
    """Return how a row compares with one of the original's, both timed on a quiet machine."""
    return {name: compare((own_s,) * 12, (other_s,) * 12)}


# 2 * 16^7 flop on 16^6 results and two inputs of 16^4: tensors of NWChem's sd_t_d2.
FLOP, BYTES = 536_870_912, 269_484_032

SD_T_D2 = RegionResult(
    function="sd_t_d2_1",
    index=1,
    line=14,
    sizes={"h1u": 16, "h2u": 16, "h3u": 16, "p4u": 16, "p5u": 16, "p6u": 16, "p7u": 16},
    flop=FLOP,
    bytes=BYTES,
    rows=(
        Row("sequential", RowStatus.MEASURED, CPU, 0.3021, 0.0013, 1.777, 0.018, 1.0),
        Row("openmp_naive", RowStatus.MEASURED, CPU, 0.0498, 0.0021, 10.78, 0.109, 6.066, True),
        Row(
            "openacc_naive",
            RowStatus.UNAVAILABLE,
            reason="no compiler here makes GPU code of OpenACC: nvc is not on PATH or under NVHPC",
        ),
        Row(
            "openmp",
            RowStatus.MEASURED,
            CPU,
            0.01402,
            0.00031,
            38.29,
            0.387,
            21.55,
            True,
            "",
            BLOCK,
            speedup_low=21.3,
            speedup_high=21.8,
            final=WON,
            comparisons={
                "sequential": Comparison(
                    Verdict.FASTER, 0.01402, 0.3021, 21.55, 21.3, 21.8, 9, 0.014, True
                ),
                **beside(0.01402, 0.0498, "openmp_naive"),
            },
        ),
        Row(
            "openacc",
            RowStatus.PREDICTED,
            GPU,
            0.000412,
            None,
            1303.0,
            0.152,
            None,
            True,
            "",
            BLOCK,
        ),
        Row(
            "cuda",
            RowStatus.PREDICTED,
            GPU,
            0.0000921,
            None,
            5829.0,
            0.68,
            None,
            False,
            "at h3u=17: triplesx[3][0] is 1.25, expected 1.5",
            BLOCK,
            0.0000921,
            GPU,
        ),
    ),
    trials=(
        Trial(
            "openmp",
            BLOCK,
            Status.CORRECT,
            0.01402,
            0.00031,
            device=CPU,
            verified=True,
            times_s=(0.0144, 0.01402, 0.0139),
            compile_s=0.41,
            run_s=1.2,
            at_s=2.5,
            final=WON,
        ),
        Trial(
            "openmp",
            {"UF": 4},
            Status.CORRECT,
            0.0163,
            0.0004,
            device=CPU,
            verified=True,
            at_s=3.9,
            final=TIED,
        ),
        Trial("openmp", {"UF": 2}, Status.CORRECT, 0.0163, device=CPU, verified=True, reused=True),
        Trial("openmp", {"UF": 16}, Status.COMPILE, reason="S.c:4: error: expected ')'\n" * 12),
        Trial("openmp", {"UF": 32}, Status.TIMEOUT, reason="still running after 60 s"),
        Trial(
            "openacc",
            BLOCK,
            Status.CORRECT,
            0.000412,
            None,
            True,
            GPU,
            True,
            facts={
                "registers": 40,
                "grid_asked": "4096 x 1 x 256",
                "grid_chosen": "not available because gcc has no nvptx-none, and there is no nvc",
            },
        ),
        Trial("cuda", BLOCK, Status.CORRECTNESS, reason="triplesx[3][0] is 1.25, expected 1.5"),
        Trial("cuda", {"UF": 4}, Status.RUNTIME, reason=HOSTILE),
        Trial("cuda", {"UF": 3}, Status.CONSTRAINTS, reason="divides: 16 % 3 is not 0"),
    ),
    roofs={CPU: Roof(4.1e11, 5.0e10), GPU: Roof(33.5e12, 4.3e12)},
    models=(
        TargetModel(
            "cuda",
            GPU,
            (
                KernelModel(
                    *((0,), 8.01e-5, "device memory", 165, True, 6.27e-5, None, HOSTILE),
                    occupancy=0.5,
                    bytes_s={"device memory": 3.4e12, "L2": 5.1e12},
                ),
                KernelModel(
                    *((1, 2), 1.2e-5, "L2", 68, False, 4.0e-6, 5.9e-6),
                    occupancy=0.25,
                    bytes_s={"device memory": 1.7e12, "L2": 6.0e12},
                ),
            ),
            0.0269,
            pairs=12,
            correlation=-0.731,
            error=1.164,
        ),
        TargetModel(
            "openacc",
            GPU,
            (KernelModel((0,), 0.000412, "latency", 60, False, 6.27e-5, None, "it is large"),),
            None,
            "the length of t3 is not known",
            why_no_correlation="no trial was measured",
        ),
    ),
    searches=(
        Searched("openmp", "gp", 7, 4536, 5, 5, 1, 0, ("S0.unroll_h7",), 64.2),
        Searched("cuda", "exhaustive", 0, 3, 100, 3, time_s=8.5),
    ),
    profiles=(
        Profile(
            *(8.2e-5, {"device memory": 3.1e12, "L2": 5.4e12, "shared memory": 9.9e12}),
            *(0.997, 0.44, "", "cuda", GPU),
        ),
        Profile(reason="ncu is not installed", target="openacc", device=GPU),
    ),
    formulations=(
        FormulationResult(
            "usual",
            FLOP,
            BYTES,
            (
                Row("openmp", RowStatus.MEASURED, CPU, 0.0166, 0.0004, verified=True),
                Row("openacc", RowStatus.UNAVAILABLE, reason=HOSTILE),
                Row("cuda", RowStatus.PREDICTED, GPU, 8.2e-5, verified=True),
            ),
            ("openmp", "openacc", "cuda"),
            {"sequential": 0.31, "openmp": 0.0191},
            ("cuda",),
        ),
        FormulationResult(
            HOSTILE,
            FLOP,
            BYTES,
            (
                Row("openmp", RowStatus.MEASURED, CPU, 0.01402, 0.0003, verified=True),
                Row("cuda", RowStatus.PREDICTED, GPU, 4.1e-4, reason="not tried: it is slow"),
            ),
            ("openmp",),
            {"openmp": 0.0151},
            ("openmp",),
        ),
    ),
    digest="0123456789abcdef" * 4,
    recipes={"openmp": 'target("openmp")\nthreads(0, core={"p6"})\n'},
)

COPY = RegionResult(
    function="scale",
    index=2,
    line=71,
    sizes={},
    sizes_checked=({"n": 12},),
    flop=0,
    bytes=0,
    rows=(
        Row("sequential", RowStatus.MEASURED, CPU, 8.1e-8, 1e-12),
        Row("cuda", RowStatus.UNAVAILABLE, reason=HOSTILE),
    ),
    trials=(),
)

CUDA_TEXT = """\
/*
 * Generated by annotune 0.1.0 from sd_t_d2.c.
 */
#include <cuda_runtime.h>
static __global__ void sd_t_d2_1_k1(double *t3, const double *t2, int h3u) {
    const int h3 = threadIdx.x; // </script><script>alert("no")</script>
    t3[h3] -= t2[0] * 2.0; /* "quoted" & 'plain' */
    if (h3 < h3u && t3[h3] > 1e-9) { puts("<b>not bold</b>"); }
}
"""

RUN = Results(
    version="0.1.0",
    source="nwchem/sd_t_d2.c",
    device="h200",
    regions=(SD_T_D2, COPY),
    tools={"gcc": "gcc (Debian 12.2.0-14) 12.2.0", "nvcc": "13.0.48", "nvc": "not found"},
    files=("sd_t_d2.cu", "sd_t_d2_omp.c", "results.json"),
    warnings=("sd_t_d2.c:3:1: t3 and t2 have no restrict; the entry guards against overlap",),
    texts={"sd_t_d2.cu": CUDA_TEXT},
    commands={"openmp": ("gcc -O3 -march=native -fopenmp main.c sd_t_d2_omp.c -lm",)},
    reading=Reading(
        "sd_t_d2_1", {"h1u": 16}, {"TILE": "8"}, ("../headers",), "t.yaml", "", "usual"
    ),
)
