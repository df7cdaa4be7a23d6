"""CUDA text becomes C++ on the same lines, or is refused with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.cuda_text import UnsupportedCuda, translate

KERNEL = "__global__ void k(int n) { n++; }\n"


def launch_line(text: str) -> str:
    return translate(text).rstrip("\n").rsplit("\n", 1)[1]


def test_a_launch_names_kernel_and_needs() -> None:
    assert launch_line(KERNEL + "void f() { k<<<dim3(4, n >> 1), 32>>>(n); }") == (
        'void f() { annotune_cpu::launch<k, annotune_cpu::PLAIN_LOOPS>("k", dim3(4, n >> 1), 32)'
        "(n); }"
    )


@pytest.mark.parametrize(
    "launch",
    ["k<2, (3 > 1)>\n<<<g,\n b>>>(n)", "ns::k <<<g, b, 8, s>>> (n)", "CHECK(k<<<g, b>>>(n))"],
)
def test_a_launch_may_be_templated_qualified_wrapped_and_broken(launch: str) -> None:
    text = (
        "namespace ns { template <int A, bool B>\n" + KERNEL + "}\nvoid f() { " + launch + "; }\n"
    )
    translated = translate(text)
    assert "<<<" not in translated
    assert translated.count("\n") == text.count("\n")
    assert 'PLAIN_LOOPS>("k", g,' in translated


@pytest.mark.parametrize(
    "waits",
    [
        *("__syncthreads()", "__syncwarp()", "x = __shfl_down_sync(~0u, x, 1)", "WAIT"),
        *("helper(x)", "outer<3>(x)", "__pipeline_commit()", "__ballot_sync(1, x)"),
        "annotune_mma_m8n8k4(d, a, b)",
    ],
)
def test_a_kernel_that_waits_itself_or_in_a_call_needs_fibers(waits: str) -> None:
    text = (
        "#define WAIT __syncthreads();\n"
        "__device__ double helper(double x) { WAIT return x; }\n"
        "template <int N> __device__ __forceinline__ double outer(double x) { return helper(x); }\n"
        f'extern "C" {{ __global__ void __launch_bounds__(256) k(double x) {{ {waits}; }} }}\n'
        "void f() { k<<<1, 2>>>(x); }"
    )
    assert "FIBERS" in launch_line(text)


def test_what_stands_beside_a_waiting_kernel_does_not_matter() -> None:
    text = "__global__ void w() { __syncthreads(); } struct S { int a; };\n" + KERNEL
    assert "PLAIN_LOOPS" in launch_line(text + "void f() { k<<<1, 2>>>(x); }")


def test_comments_strings_and_excluded_text_are_left_alone() -> None:
    text = (
        '// k<<<1, 2>>>(n);\n/* __shared__ */ const char *s = "k<<<1>>>(", c = \'"\';\n'
        '#ifndef ANNOTUNE_CPU\n__device__ void f() { asm("mma"); }\n#else\nint here;\n#endif\n'
        "#if !defined(ANNOTUNE_CPU)\nasm(1);\n#if X\nasm(2);\n#endif\n#endif\nint x = 1'000 << 3;\n"
    )
    assert translate(text) == text


def test_shared_variables_are_declared_to_the_block() -> None:
    text = "__global__ void k() { __shared__ __align__(16) double a[N][M + 1], b, c[f(1, 2)]; }"
    declared = "".join(f" annotune_cpu::declare_shared(&{v}, sizeof {v});" for v in "abc")
    assert translate(text) == text.replace("];", "];" + declared)


def test_dynamic_shared_memory_becomes_a_pointer() -> None:
    text = "__global__ void k() { extern __shared__ __align__(16) unsigned\n char raw[]; }"
    assert translate(text) == (
        "__global__ void k() { unsigned char *const raw = "
        "(unsigned char *)annotune_cpu::dynamic_shared\n; }"
    )


def test_headers_that_the_runtime_provides_are_not_included() -> None:
    assert translate("#include <cuda_runtime.h>\n#include <stdint.h>\n") == (
        "//#include <cuda_runtime.h>\n#include <stdint.h>\n"
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("#include <cooperative_groups.h>", "cooperative_groups.h"),
        ("#define RUN k<<<1, 2>>>(n)", "'<<<' inside a macro"),
        ("#define BUFFER __shared__ double", "'__shared__' inside a macro"),
        ("void f() { cudaLaunchKernel(k); }", "cudaLaunchKernel"),
        ("__device__ void f() { __shared__ int a; }", "outside a __global__"),
        ("__global__ void g() { extern __shared__ int a[3]; }", "extern __shared__ T name[]"),
        ("void f() { asm(1); }", "'asm'"),
        ("void f() { unknown<<<1, 2>>>(n); }", "'unknown'"),
        ("void f() { k<<<1, 2; }", "without '>>>'"),
        ("void f() { (p)<<<1, 2>>>(n); }", "kernel's name"),
        ("void f() {", "never closed"),
    ],
)
def test_refuses_what_does_not_run_and_says_where(text: str, named: str) -> None:
    with pytest.raises(UnsupportedCuda) as refusal:
        translate(KERNEL + "\n" + text + "\n")
    assert refusal.value.line == 3
    assert named in str(refusal.value)


@given(
    st.lists(
        st.sampled_from(["a", " ", "\n", "(", ")", "/*", "*/", "//", '"', "'", "1", "\\", "#", ";"])
    )
)
def test_text_without_cuda_is_returned_as_it_is(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert translate(text) == text
