"""Reductions in CUDA: combined by threads, by blocks, beside statements; run on the CPU.

Every nest runs under the sanitizers and the race detector, at sizes of one, of primes, of more
than a block, and at the tuned ones; the general kernels run at all sizes but the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Golden
from emitted import here, source_of, variants
from support.laws import sanitizes

from annotune.analysis.analyse import analyse
from annotune.codegen.cuda.target import CudaTarget
from annotune.codegen.target import RegionCode
from annotune.ir.region import SourceFile
from annotune.measure.check import Checker
from annotune.measure.compile import CompileJob, TranslationUnit, compile_job
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status

HEAD = (
    "#include <math.h>\n#include <complex.h>\n#include <stdlib.h>\n"
    "double f(int n, int m, double A[restrict n][m], double *restrict a, double *restrict b,\n"
    "    float *restrict c, int *restrict d, long *restrict e, double complex *restrict z,\n"
    "    float complex *restrict w)\n{\n"
)
TUNED = {"n": 300, "m": 40}


def text(nest: str, recipe: str = "", before: str = "", sizes: dict[str, int] | None = None) -> str:
    params = " ".join(f"param {k} = {v};" for k, v in {**TUNED, **(sizes or {})}.items())
    opened = f"/*@ begin PerfTuning (def input_params {{ {params} }}) @*/\n"
    closed = "\n/*@ end @*/\n"
    if recipe:
        opened += f"/*@ begin CHiLL (\n{recipe}\n) @*/\n"
        closed = "\n/*@ end @*/" + closed
    return f"{HEAD}double s = 0.5, t = 2.0;\n{before}\n{opened}{nest}{closed}return s + t;\n}}\n"


# The nest, a recipe where the rules would choose another mapping, and words of the CUDA text.
NESTS = {
    "one block": (
        "for (int i = 0; i < n; i++) s += a[i]*b[i];",
        "",
        ("annotune_combined<annotune_sum>",),
    ),
    "many blocks": (
        "for (int i = 0; i < n; i++) s -= a[i]*b[i];",
        'tile(0, "i", 64) cuda(0, block={"i_t"}, thread={"i"})',
        ("_last<<<1, threads>>>", "annotune_s_sum[blockIdx.x"),
    ),
    "blocks alone": (
        "for (int i = 0; i < n; i++) s += a[i]*b[i];",
        'cuda(0, block={"i"})',
        ("if (threadIdx.x == 0)", "_last<<<"),
    ),
    "both loops": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += A[i][j];",
        "",
        ("i on block.x, j on thread.x", "_last<<<"),
    ),
    "two axes of threads": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += A[i][j];",
        'cuda(0, thread={"j","i"})',
        ("j on thread.x, i on thread.y",),
    ),
    "blocks, and two axes of threads": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 3; k++)\n"
        "s += A[i][j]*b[k];",
        'cuda(0, block={"i"}, thread={"k","j"})',
        ("annotune_k = threadIdx.x + 32 * threadIdx.y",),
    ),
    "two axes of blocks": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += A[i][j];",
        'cuda(0, block={"i","j"})',
        ("32", "_last<<<"),
    ),
    "a triangle": (
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) s += a[j];",
        "",
        ("i on block.x, j on thread.x",),
    ),
    "extrema": (
        "for (int i = 0; i < n; i++) { s = fmax(s, a[i]); t = b[i] < t ? b[i] : t; }",
        "",
        ("annotune_greatest", "annotune_least"),
    ),
    "an element": (
        "for (int i = 0; i < n; i++) b[3] += a[i];",
        "",
        ("annotune_combined<annotune_sum>",),
    ),
    "under a condition": (
        "for (int i = 0; i < n; i++) if (a[i] > 0.0) d[2] += 1;",
        'cuda(0, block={"i"})',
        ("int d_any = 0;", "annotune_greatest", "if (d_any)"),
    ),
    "rows": (
        "for (int i = 0; i < n; i++) { a[i] = 0.0; for (int j = 0; j < m; j++) a[i] += "
        "A[i][j]*b[j]; c[i] = a[i]*2.0; }",
        "",
        ("i on block.x, j on thread.x", "a[i] = 0.0;"),
    ),
    "two sums in a row": (
        "for (int i = 0; i < n; i++) { double u = 1.0, v = 0.0; for (int j = 0; j < m; j++) "
        "{ u += A[i][j]; v += A[i][j]*A[i][j]; } a[i] = u*v; }",
        "",
        ("u_sum", "v_sum", "i on block.x"),
    ),
    "a row is normalised": (
        "for (int i = 0; i < n; i++) { double u = 1.0; for (int j = 0; j < m; j++) "
        "u += fabs(A[i][j]); for (int j = 0; j < m; j++) A[i][j] = A[i][j]/u; "
        "for (int j = 0; j < m; j++) b[i] += A[i][m - 1 - j]; }",
        "",
        ("__syncthreads();", "i on block.x"),
    ),
    "sums of sums": (
        "for (int i = 0; i < n; i++) { double u = 0.0; for (int j = 0; j < m; j++) "
        "u += A[i][j]*b[j]; s += u*u; }",
        "",
        ("_last<<<", "u_sum = annotune_combined"),
    ),
    "a sum on each step": (
        "for (int k = 1; k < 4; k++) { for (int i = 0; i < n; i++) s += a[i]; "
        "for (int i = 0; i < n; i++) a[i] = a[i]*0.5 + s*1e-3; }",
        "",
        ("for (int k = 1; k < 4; k++)",),
    ),
    "triangular rows": (
        "for (int i = 0; i < m; i++) { for (int j = 0; j <= i; j++) A[i][j] *= 2.0; "
        "for (int k = 0; k < m; k++) for (int j = 0; j <= i; j++) A[i][j] += a[k]*b[j]; }",
        "",
        ("i on block.x, j on thread.x", "__syncthreads();"),
    ),
    "integers": (
        "for (int i = 0; i < n; i++) { d[0] += d[i + 1]; e[0] = d[i + 1] > e[0] ? d[i + 1] : "
        "e[0]; }\nfor (int i = 0; i < n; i++) c[i] = c[i]*0.5f;",
        "",
        ("int d_sum = 0;",),
    ),
    "complex numbers": (
        "for (int i = 0; i < n; i++) z[n] += z[i]*conj(z[i])*a[i];\n"
        "for (int i = 0; i < n; i++) z[i] = 2*z[i]/(3.0 + I*cabs(z[i])) - creal(z[i]);\n"
        "for (int i = 0; i < n; i++) w[i] = w[i]*w[i] - 0.5f*I + (float)cimag(w[i]);",
        "",
        ("annotune_complex z_sum = -(annotune_complex)(0.0);", "annotune_i()", "annotune_complexf"),
    ),
}
SIZES = ({"n": 1, "m": 1}, {"n": 7, "m": 5}, {"n": 259, "m": 67}, TUNED)


def fates(
    source: SourceFile, codes: Mapping[str, RegionCode], folder: Path, *sizes: Mapping[str, int]
) -> dict[str, str]:
    """Return what is wrong with each code, empty where it equals the user's own nest."""
    target = CudaTarget()
    checker = Checker(Oracle(source, analyse(source.regions[0]), here(), folder))
    plan = CheckPlan(sizes, sanitize=sanitizes("cuda"), races=True)
    out = {}
    for name, code in codes.items():
        program = Program("cuda", "cuda-cpu", code, target.device_file(code))
        trial = checker.check(program, plan)
        out[name] = "" if trial.status is Status.CORRECT else trial.reason
    return out


# The first, as each is built several times.
RUNS = [pytest.param(name, marks=(pytest.mark.slow,) if k else ()) for k, name in enumerate(NESTS)]


@pytest.mark.parametrize("name", RUNS)
def test_equals_the_original(name: str, tmp_path: Path) -> None:
    nest, recipe, words = NESTS[name]
    source = source_of(text(nest, recipe))
    analysis = analyse(source.regions[0])
    target = CudaTarget()
    (first,) = variants(target, analysis, 1)
    code = target.region(first, resident=False)
    for word in words:
        assert word in code.device
    assert fates(source, {name: code}, tmp_path, *SIZES) == {name: ""}


@pytest.mark.slow
def test_every_point_of_a_sum_is_right(tmp_path: Path) -> None:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += A[i][j]*b[j];"
    source = source_of(text(nest))
    analysis = analyse(source.regions[0])
    target = CudaTarget()
    made = variants(target, analysis, 20)
    codes = {str(v.config): target.region(v, resident=False) for v in made}
    assert len(codes) == 6
    assert set(fates(source, codes, tmp_path, {"n": 33, "m": 70}).values()) == {""}


def test_what_the_kernels_look_like(golden: Golden) -> None:
    nest = (
        "for (int i = 0; i < n; i++) { a[i] = 0.0; for (int j = 0; j < m; j++) "
        "a[i] += A[i][j]*b[j]; c[i] = a[i]; }\n"
        "for (int i = 0; i < n; i++) { s += a[i]; t = fmax(t, a[i]); }"
    )
    source = source_of(text(nest, sizes={"n": 100000}))
    (first,) = variants(CudaTarget(), analyse(source.regions[0]), 1)
    golden.check("codegen/sums.cu", CudaTarget().region(first, resident=False).device)


# Many blocks: what they leave is of one type, of two, and of one that has a constructor.
LEFT = {
    "one": "for (int i = 0; i < n; i++) b[0] += a[i];",
    "two": "for (int i = 0; i < n; i++) { b[0] += a[i]; d[0] += i % 7; }",
    "complex": "for (int i = 0; i < n; i++) z[0] += a[i] * (2.0 * I);",
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", LEFT)
def test_on_resident_data_no_call_allocates_what_blocks_leave(name: str, tmp_path: Path) -> None:
    source, target = source_of(text(LEFT[name], sizes={"n": 5000})), CudaTarget()
    analysis = analyse(source.regions[0])
    (first,) = variants(target, analysis, 1)
    code = target.region(first, resident=True)
    device = target.device_file(code)
    assert "annotune_allocate(" not in device
    assert device.count("const annotune_turn ") == 1
    assert device.count("static __device__ __align__") == device.count("cudaGetSymbolAddress(") > 0
    if here().nvcc is not None:
        compiles(device, tmp_path / "there")
    checker = Checker(Oracle(source, analysis, here(), tmp_path / "here"))
    sizes = tuple({"n": n, "m": 1} for n in (5000, 1, 4099))
    plan = CheckPlan(sizes, resident=True, sanitize=sanitizes("cuda"), races=True)
    trial = checker.check(Program("cuda", "cuda-cpu", code, device), plan)
    assert trial.status is Status.CORRECT, trial.reason


def test_where_nothing_is_left_no_call_waits_for_its_turn() -> None:
    nest = "for (int i = 0; i < n; i++) b[i] += a[i];"
    (first,) = variants(CudaTarget(), analyse(source_of(text(nest)).regions[0]), 1)
    assert "annotune_turn" not in CudaTarget().region(first, resident=True).device


@pytest.mark.slow
def test_nvcc_takes_it_without_a_warning(tmp_path: Path) -> None:
    nvcc = here().nvcc
    if nvcc is None:
        pytest.skip(f"no nvcc: {here().problems.get('nvcc')}")
    target = CudaTarget()
    for name in ("many blocks", "extrema", "a row is normalised", "complex numbers", "integers"):
        nest, recipe, _ = NESTS[name]
        (first,) = variants(target, analyse(source_of(text(nest, recipe)).regions[0]), 1)
        device = target.device_file(target.region(first, resident=False))
        compiles(device, tmp_path / name)


def compiles(device: str, folder: Path) -> None:
    job = CompileJob((TranslationUnit(device, "cuda"),), "cuda-cubin", arch="sm_90")
    result = compile_job(job, here(), folder)
    assert result.ok, result.output
    assert "warning" not in result.output


ROW = """
void inf(int n, int m, const double *restrict a, double *restrict top)
{
    /*@ begin PerfTuning (def input_params { param n = 12; param m = 40; }) @*/
    for (int i = 0; i < n; i++) {
        double most = a[i*m];
        for (int j = 1; j < m; j++) most = a[i*m + j] > most ? a[i*m + j] : most;
        top[i] = most;
    }
    /*@ end @*/
}
"""


def test_nobody_waits_for_who_only_reads_and_no_name_brings_complex_numbers() -> None:
    analysis = analyse(source_of(ROW).regions[0])
    target = CudaTarget()
    (device,) = (target.region(one, False).device for one in variants(target, analysis, 1))
    again = device[device.index("_again ?") :]
    # The loop that runs again reads what no thread writes, by each thread for itself.
    assert "__syncthreads" not in again[: again.index("_again == 0")]
    assert "annotune_inf_1(" in device
    assert "annotune_parts" not in device
