"""A variant's fate is a trial, whatever it does and whatever its compiler does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here, wrapper
from made_by_hand import matvec, scale

from annotune.codegen.target import RegionCode
from annotune.diagnostics import AnnotuneError
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckLimits, CheckPlan, Failures, Odd
from annotune.measure.program import Program, digest_of_variant
from annotune.measure.run import TimingPlan
from annotune.measure.sizes import awkward_sizes
from annotune.measure.toolchain import Compiler
from annotune.measure.trial import Status, Trial

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")

ROWS = (
    "for (i = 0; i < n; i++) {"
    " double s = 0; for (j = 0; j < m; j++) s += A[i][j] * x[j]; y[i] += s; }"
)
PLAN = CheckPlan(({"n": 20, "m": 30}, {"n": 1, "m": 1}, {"n": 2, "m": 3}))


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    """One oracle for the module: its references are made once."""
    source, analysis = matvec()
    return Checker(Oracle(source, analysis, here(), tmp_path_factory.mktemp("oracle")))


def variant(body: str, kind: str = "c", **settings: object) -> Program:
    return Program("openmp", kind, RegionCode(body), **settings)  # type: ignore[arg-type]


def test_a_right_variant_is_verified(checker: Checker) -> None:
    trial = checker.check(variant(ROWS, config={"UF": 4}), PLAN)
    assert (trial.status, trial.verified, trial.reason) == (Status.CORRECT, True, "")
    assert trial.config == {"UF": 4}
    assert trial.time_s is None


def test_the_same_program_is_measured_once(checker: Checker) -> None:
    plan = replace(PLAN, timing=TimingPlan(runs=3))
    first = checker.check(variant(ROWS, config={"UF": 1}), plan)
    second = checker.check(variant(ROWS, config={"UF": 2}), plan)
    assert first.time_s is not None
    assert first.time_s > 0
    assert (first.reused, second.reused) == (False, True)
    assert second.config == {"UF": 2}
    assert second.time_s == first.time_s


@pytest.mark.parametrize("is_cold", [False, True])
def test_what_is_wrong_from_a_later_run_on_is_wrong(checker: Checker, is_cold: bool) -> None:
    plan = replace(PLAN, timing=TimingPlan(runs=3, is_cold=is_cold))
    # The runs that are compared at each size come first, and the warm-up.
    late = f"static int runs; {ROWS} if (runs++ > 3) y[n - 1] += 1;"
    trial = checker.check(variant(late), plan)
    assert trial.status is Status.CORRECTNESS
    assert "in a later run y[19]" in trial.reason
    assert trial.time_s is None


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (ROWS.replace("i < n", "i < n - n / 2"), Status.CORRECTNESS, "10 of 20 elements are wrong"),
        (ROWS.replace("+= s", "+= s * (1 + 1e-13)"), Status.CORRECTNESS, "expected"),
        # Right wherever n is even: only the awkward sizes tell.
        (ROWS.replace("i < n", "i < n / 2 * 2"), Status.CORRECTNESS, "at n=1, m=1: y[0]"),
        (f"{ROWS} y[n] = 0;", Status.RUNTIME, "wrote to 'y' after"),
        (f"{ROWS} __builtin_trap();", Status.RUNTIME, "SIGILL"),
        (f"{ROWS} y[0] = 0.0 / (n - n);", Status.CORRECTNESS, "nan"),
        ("no C at all", Status.COMPILE, "error:"),
    ],
)
def test_every_failure_is_a_row(checker: Checker, body: str, status: Status, words: str) -> None:
    trial = checker.check(variant(body), PLAN)
    assert trial.status is status
    assert words in trial.reason
    assert not trial.verified
    assert trial.time_s is None


def test_a_hang_is_a_row(checker: Checker) -> None:
    plan = replace(PLAN, limits=CheckLimits(0.3))
    trial = checker.check(variant("for (;;) { volatile int k = 0; (void)k; }"), plan)
    assert trial.status is Status.TIMEOUT
    assert "killed after 0.3 s" in trial.reason


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("marker", "status", "words"),
    [
        ("MARK_FAIL", Status.COMPILE, "internal compiler error: boom"),
        ("MARK_CRASH", Status.COMPILE, "SIGSEGV"),
        ("MARK_HANG", Status.TIMEOUT, "killed after"),
        ("MARK_NOTHING", Status.COMPILE, "wrote no out.so"),
        ("MARK_WRONG", Status.CORRECTNESS, "elements are wrong"),
    ],
)
def test_a_compiler_that_misbehaves_for_one_variant(
    marker: str, status: Status, words: str, tmp_path: Path
) -> None:
    tools = here()
    assert tools.c is not None
    script = wrapper(tmp_path, tools.c.path)
    source, analysis = matvec()
    tools = replace(tools, c=Compiler((str(script),), tools.c.version))
    checker = Checker(Oracle(source, analysis, tools, tmp_path / "work"))
    # Only who hangs meets a limit, however busy the machine is.
    plan = replace(PLAN, limits=CheckLimits(compile_s=0.5 if status is Status.TIMEOUT else 60.0))
    trial = checker.check(variant(f"/* {marker} */ {ROWS}"), plan)
    assert trial.status is status
    assert words in trial.reason
    assert checker.check(variant(ROWS), PLAN).status is Status.CORRECT


def test_an_original_that_does_not_compile_refuses_the_run(tmp_path: Path) -> None:
    source, analysis = matvec()
    source = replace(source, text='#include "not-there.h"\n' + source.text)
    with pytest.raises(AnnotuneError) as refused:
        Oracle(source, analysis, here(), tmp_path)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "AT501"
    assert "not-there.h" in diagnostic.message


def test_outputs_that_are_only_written_must_all_be_written(tmp_path: Path) -> None:
    source, analysis = scale({"n": 50})
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    plan = CheckPlan((dict(analysis.region.sizes), *awkward_sizes(analysis)))
    right = "for (int i = n - 1; i >= 1; i--) b[i] = alpha * a[i];"
    assert checker.check(variant(right), plan).verified
    lazy = checker.check(variant(right.replace("i >= 1", "i >= 2")), plan)
    assert "b[1] is nan" in lazy.reason
    # The element before the first belongs to the caller.
    greedy = checker.check(variant(right + " b[0] = 1;"), plan)
    assert (greedy.status, "before its first" in greedy.reason) == (Status.RUNTIME, True)


@pytest.mark.skipif(not here().asan, reason="no address sanitizer")
def test_sizes_that_are_all_large_are_sanitized_too(tmp_path: Path) -> None:
    source, analysis = matvec()
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    plan = CheckPlan(({"n": 1100, "m": 1000},), sanitize=True)
    # Reads one element too many, which changes no result.
    body = f"{ROWS} if (A[n - 1][m] == 12.5) y[0] = 0;"
    assert checker.check(variant(body), replace(plan, sanitize=False)).verified
    assert "AddressSanitizer" in checker.check(variant(body), plan).reason


def test_a_trial_says_which_detectors_were_not_run(tmp_path: Path) -> None:
    source, analysis = matvec()
    tools = replace(here(), asan="")
    checker = Checker(Oracle(source, analysis, tools, tmp_path))
    plan = replace(PLAN, sanitize=True, races=True)
    facts = checker.check(variant(ROWS), plan).facts
    assert facts["sanitizers"] == "not run: no address sanitizer here"
    assert facts["race detector"] == "not run: there is none for 'c'"
    facts = checker.check(variant(ROWS), replace(PLAN, sanitize=False)).facts
    assert not {"sanitizers", "race detector"} & set(facts)


@pytest.mark.skipif(not here().asan, reason="no address sanitizer")
def test_a_nest_too_large_for_the_sanitizers_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, analysis = matvec()
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    monkeypatch.setattr("annotune.measure.plan.DETECT_AT_MOST", 599)
    monkeypatch.setattr("annotune.measure.plan.SANITIZE_ITERATIONS", 599)
    plan = CheckPlan(({"n": 20, "m": 30},), sanitize=True)
    trial = checker.check(variant(ROWS), plan)
    assert trial.verified
    assert trial.facts["sanitizers"] == "not run: more than 599 assignments at every size"


@pytest.mark.skipif(not here().openmp, reason="no OpenMP")
def test_a_missing_private_is_a_race(checker: Checker) -> None:
    body = f"\n#pragma omp parallel for private(j)\n{ROWS}\n"
    plan = replace(PLAN, races=True)
    assert checker.check(variant(body, "openmp"), plan).verified
    shared = checker.check(variant(body.replace(" private(j)", ""), "openmp"), plan)
    assert shared.status is Status.CORRECTNESS
    assert "data race" in shared.reason


CUDA = """\
#include <cuda_runtime.h>
__global__ void rows(int n, int m, const double *A, const double *x, double *y)
{
    __shared__ double sums[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    sums[threadIdx.x] = i < n ? y[i] : 0.0;
    __syncthreads();
    if (i < n) {
        double sum = sums[threadIdx.x];
        for (int j = 0; j < m; j++) sum += A[i * m + j] * x[j];
        y[i] = sum;
    }
}
extern "C" void annotune_f_1(int n, int m, const double *A, const double *x, double *y)
{
    double *dA, *dx, *dy;
    cudaMalloc(&dA, sizeof(double) * n * m);
    cudaMalloc(&dx, sizeof(double) * m);
    cudaMalloc(&dy, sizeof(double) * n);
    cudaMemcpy(dA, A, sizeof(double) * n * m, cudaMemcpyHostToDevice);
    cudaMemcpy(dx, x, sizeof(double) * m, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y, sizeof(double) * n, cudaMemcpyHostToDevice);
    rows<<<(n + 31) / 32, 32>>>(n, m, dA, dx, dy);
    cudaMemcpy(y, dy, sizeof(double) * n, cudaMemcpyDeviceToHost);
    cudaFree(dA);
    cudaFree(dx);
    cudaFree(dy);
}
"""
CUDA_CALL = (
    "void annotune_f_1(int, int, const double *, const double *, double *);\n"
    "annotune_f_1(n, m, &A[0][0], x, y);"
)
needs_cxx = pytest.mark.skipif(here().cxx is None, reason="no C++ compiler")


@pytest.fixture
def check_cuda(checker: Checker) -> Callable[..., Trial]:
    def check(device: str, **plan: object) -> Trial:
        cuda = Program("cuda", "cuda-cpu", RegionCode(CUDA_CALL, device=device))
        return checker.check(cuda, replace(PLAN, **plan))  # type: ignore[arg-type]

    return check


@needs_cxx
def test_a_right_kernel_passes(check_cuda: Callable[..., Trial]) -> None:
    trial = check_cuda(CUDA)
    assert trial.verified, trial.reason


@needs_cxx
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("= sums[threadIdx.x];", "= sums[threadIdx.x ^ 1];", "elements are wrong"),
        ("cudaFree(dA);", "", "1 device allocations are not freed"),
        ("/ 32, 32>>>", "/ 32, 2048>>>", "cannot launch"),
        ("rows<<<(n + 31) / 32, 32>>>(n, m, dA, dx, dy);", "for (;;);", "killed"),
    ],
)
def test_a_wrong_kernel_is_a_row(
    old: str, new: str, words: str, check_cuda: Callable[..., Trial]
) -> None:
    assert old in CUDA
    # Only who hangs meets a limit, however busy the machine is.
    trial = check_cuda(
        CUDA.replace(old, new), limits=CheckLimits(0.5 if words == "killed" else 60.0)
    )
    assert trial.status is not Status.CORRECT
    assert words in trial.reason


@needs_cxx
def test_a_missing_barrier_is_a_race(check_cuda: Callable[..., Trial]) -> None:
    text = CUDA.replace("__syncthreads();", "").replace(
        "= sums[threadIdx.x];", "= sums[threadIdx.x ^ 1 ^ 1] + 0 * sums[threadIdx.x ^ 1];"
    )
    trial = check_cuda(text, races=True)
    assert trial.status is Status.CORRECTNESS
    assert "data race" in trial.reason


@needs_cxx
def test_resident_arrays_are_device_pointers(check_cuda: Callable[..., Trial]) -> None:
    start = CUDA.index("    double *dA"), CUDA.index("    rows<<<")
    end = CUDA.index("    cudaMemcpy(y, dy")
    launch = CUDA[start[1] : end].replace("dA, dx, dy", "A, x, y")
    trial = check_cuda(f"{CUDA[: start[0]]}{launch}}}\n", resident=True)
    assert trial.verified, trial.reason
    # Host pointers given to the same text are found by the race build.
    host = check_cuda(f"{CUDA[: start[0]]}{launch}}}\n", races=True)
    assert host.status is not Status.CORRECT


@needs_cxx
def test_a_failing_cuda_call_must_not_spoil_the_result(check_cuda: Callable[..., Trial]) -> None:
    trial = check_cuda(CUDA, odd=Odd(failures=Failures.MEMORY))
    assert trial.status is not Status.CORRECT
    assert "after call 1 of the CUDA library failed" in trial.reason


@needs_cxx
def test_an_entry_that_launches_nothing_has_not_been_checked(
    checker: Checker,
) -> None:
    cuda = Program("cuda", "cuda-cpu", RegionCode(ROWS, device=CUDA))
    trial = checker.check(cuda, PLAN)
    assert trial.status is Status.CORRECTNESS
    assert "no kernel was launched" in trial.reason


@needs_cxx
def test_kernels_must_run_at_each_of_the_sizes_that_they_are_for(checker: Checker) -> None:
    body = f"if (m == 3) {{ {ROWS} }}\nelse {{ {CUDA_CALL} }}"
    cuda = Program("cuda", "cuda-cpu", RegionCode(body, device=CUDA))
    assert checker.check(cuda, PLAN).verified
    of_both = Checker(checker.oracle, [{"n": 20, "m": 30}, {"n": 2, "m": 3}])
    trial = of_both.check(cuda, PLAN)
    assert trial.status is Status.CORRECTNESS
    assert trial.reason == "at n=2, m=3: no kernel was launched: the original ran instead"


@pytest.mark.skipif(here().nvcc is None, reason="no nvcc")
@pytest.mark.parametrize(
    ("marker", "status", "words"),
    [
        ("MARK_FAIL", Status.COMPILE, "internal compiler error: boom"),
        ("MARK_HANG", Status.TIMEOUT, "killed after"),
    ],
)
def test_an_nvcc_that_misbehaves_for_one_variant(
    marker: str, status: Status, words: str, tmp_path: Path
) -> None:
    tools = here()
    assert tools.nvcc is not None
    nvcc = replace(tools.nvcc, command=(str(wrapper(tmp_path, tools.nvcc.path)),))
    source, analysis = matvec()
    oracle = Oracle(source, analysis, replace(tools, nvcc=nvcc), tmp_path / "work")
    code = RegionCode(CUDA_CALL, device=f"// {marker}\n{CUDA}")
    limit_s = 0.5 if status is Status.TIMEOUT else 60.0
    plan = replace(PLAN, arch="sm_90", limits=CheckLimits(compile_s=limit_s))
    trial = Checker(oracle).check(Program("cuda", "cuda-cpu", code), plan)
    assert trial.status is status
    assert words in trial.reason


@pytest.mark.skipif(here().nvcc is None, reason="no nvcc")
def test_registers_and_spills_come_with_the_trial(check_cuda: Callable[..., Trial]) -> None:
    trial = check_cuda(CUDA, arch="sm_90")
    assert trial.verified, trial.reason
    assert trial.facts["shared_bytes"] == 256
    assert trial.facts["spill_bytes"] == 0
    assert trial.facts["stack_bytes"] == 0
    assert int(trial.facts["registers"]) > 0


def test_a_digest_tells_programs_apart_without_running_them(checker: Checker) -> None:
    one, same, other = (
        digest_of_variant(variant(body, config={"n": number}), checker.oracle)
        for number, body in enumerate((ROWS, ROWS, ROWS + ";"))
    )
    assert one == same != other
    refused = Program("cuda", "cuda-cpu", RegionCode("", device='asm("nop");'))
    assert digest_of_variant(refused, checker.oracle) == ""


def test_scratch_files_of_passing_runs_are_gone(tmp_path: Path) -> None:
    source, analysis = matvec()
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    assert checker.check(variant(ROWS), PLAN).verified
    assert not [p for p in tmp_path.glob("check-*") if list(p.iterdir())]
