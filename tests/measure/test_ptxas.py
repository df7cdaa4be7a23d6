"""What compilers print about kernels becomes values."""

from __future__ import annotations

from annotune.measure.compile import ignored_dimensions, parse_ptxas
from annotune.measure.grids import LoopFeedback, parse_nvc_feedback
from annotune.measure.trial import KernelFacts

# nvcc 13.0 and 13.5 print this form.
PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k2' for 'sm_90'
ptxas info    : Function properties for k2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compile time = 14.825 ms
ptxas info    : Compiling entry function '_Z4gemmPdi' for 'sm_90'
ptxas info    : Function properties for _Z4gemmPdi
    208 bytes stack frame, 504 bytes spill stores, 616 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 208 bytes cumulative stack size, 4096 bytes smem
"""

# Older ptxas: constant banks on the same line, no barriers.
OLD_PTXAS = """\
ptxas info    : Compiling entry function 'k' for 'sm_35'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, 512 bytes smem, 328 bytes cmem[0]
"""


def test_registers_spills_and_shared_memory() -> None:
    plain, spilling = parse_ptxas(PTXAS)
    assert plain == KernelFacts("k2", "sm_90", 8)
    assert not plain.spills
    assert spilling == KernelFacts("_Z4gemmPdi", "sm_90", 64, 208, 504, 616, 4096, 1)
    assert spilling.spills


def test_older_output() -> None:
    assert parse_ptxas(OLD_PTXAS) == (KernelFacts("k", "sm_35", 12, shared_bytes=512),)


def test_nothing_to_find() -> None:
    assert parse_ptxas("error: expected a ';'\n") == ()


def test_gcc_says_that_it_uses_other_dimensions() -> None:
    warning = (
        "acc.c:2:9: warning: using \u2018vector_length (32)\u2019, ignoring 48\n"
        "    2 | #pragma acc parallel loop\n"
    )
    assert ignored_dimensions(warning) == "using 'vector_length (32)', ignoring 48"
    runtime = "x.c:1:1: warning: using 'num_workers (32)', ignoring runtime setting [-Wopenacc]\n"
    assert ignored_dimensions(runtime) == "using 'num_workers (32)', ignoring runtime setting"
    assert ignored_dimensions("x.c:1:1: warning: unused variable 'i'\n") == ""


def test_nvc_feedback() -> None:
    text = """\
gemm:
     12, Generating copyin(A[:m][:k],B[:k][:n])
         Generating copy(C[:m][:n])
     15, Loop is parallelizable
         Generating NVIDIA GPU code
         15, #pragma acc loop gang, vector(128) collapse(2) /* blockIdx.x threadIdx.x */
         18, #pragma acc loop seq
     18, Loop is parallelizable
"""
    at_12, at_15, at_18 = parse_nvc_feedback(text)
    assert at_12.notes == (
        "Generating copyin(A[:m][:k],B[:k][:n])",
        "Generating copy(C[:m][:n])",
    )
    assert (at_15.line, at_15.mapping) == (15, "gang, vector(128) collapse(2)")
    assert at_18 == LoopFeedback("gemm", 18, "seq", ("Loop is parallelizable",))
