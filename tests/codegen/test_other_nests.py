"""Nests that are no contraction through both C targets and the baselines: each equals the original.

Reductions to scalars and elements, conditions, integers and complex numbers, indirect reads,
stencils and factorizations, at the tuned sizes and at awkward ones, under the detectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from codegen.emitted import checked, here, source_of, variants, warnings
from codegen.test_c_targets_edge import FLAGS, codes_of
from conftest import Golden

from annotune.analysis.analyse import analyse
from annotune.codegen.target import Provenance, load_target
from annotune.codegen.users_file import assembled
from annotune.measure.trial import Status

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")

SIZES = ({"n": 40, "m": 48}, {"n": 7, "m": 5}, {"n": 1, "m": 1}, {"n": 0, "m": 0})


def function(
    parameters: str, nest: str, before: str = "", result: str = "", recipe: str = "", head: str = ""
) -> str:
    """Return a function of n and m around `nest` that gives `result`, ``double s`` for one."""
    kind, _, name = result.rpartition(" ")
    inner = f"/*@ begin CHiLL ( {recipe} ) @*/\n{nest}\n/*@ end @*/" if recipe else nest
    sizes = "int n, int m" if "m" in nest.replace("fmax", "") else "int n"
    return (
        f"{head}{kind or 'void'} f({sizes}, {parameters})\n{{\n{before}\n"
        "/*@ begin PerfTuning ( def input_params { param n = 40; param m = 48; } ) @*/\n"
        f"{inner}\n/*@ end @*/\n{f'return {name};' if name else ''}\n}}\n"
    )


A = "const double *restrict A"
XY = "const double *restrict x, double *restrict y"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i*m+j] * x[j];"
SQUARES = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += A[i*m+j] * A[i*m+j];"
ATAX = """for (int i = 0; i < n; i++) {
    z[i] = 0.0;
    for (int j = 0; j < m; j++) z[i] += A[i*m+j] * x[j];
    for (int j = 0; j < m; j++) y[j] += A[i*m+j] * z[i];
}"""
BICG = """for (int i = 0; i < n; i++) {
    q[i] = 0.0;
    for (int j = 0; j < m; j++) { s[j] += r[i] * A[i*m+j]; q[i] += A[i*m+j] * p[j]; }
}"""
MVT = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i*n+j] * y[j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) z[i] += A[j*n+i] * w[j];"""
GESUMMV = """for (int i = 0; i < n; i++) {
    double t = 0.0, u = 0.0;
    for (int j = 0; j < n; j++) { t += A[i*n+j] * x[j]; u += B[i*n+j] * x[j]; }
    y[i] = 1.5 * t + 0.5 * u;
}"""
PRODUCT = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    double t = 0.0;
    for (int k = 0; k < m; k++) t += A[i][k] * B[k][j];
    C[i][j] = t;
}"""
MOMENTS = """for (int j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++) mean[j] += D[i][j];
    mean[j] /= n;
    dev[j] = 0.0;
    for (int i = 0; i < n; i++) dev[j] += (D[i][j] - mean[j]) * (D[i][j] - mean[j]);
    dev[j] = sqrt(dev[j] / n);
    dev[j] = dev[j] <= 0.1 ? 1.0 : dev[j];
}"""
POWER = """for (int t = 0; t < 3; t++) {
    double s = 0.0;
    for (int i = 0; i < n; i++) { y[i] = 0.0; for (int j = 0; j < n; j++) y[i] += A[i*n+j] * x[j]; }
    for (int i = 0; i < n; i++) s += y[i] * y[i];
    for (int i = 0; i < n; i++) x[i] = y[i] / s;
}"""
HEAT = """for (int t = 0; t < 3; t++) {
    for (int i = 1; i < n-1; i++) for (int j = 1; j < n-1; j++)
        b[i][j] = 0.2 * (a[i][j] + a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1]);
    for (int i = 1; i < n-1; i++) for (int j = 1; j < n-1; j++) a[i][j] = b[i][j];
}"""
LU = """for (int k = 0; k < n; k++) {
    for (int i = k+1; i < n; i++) A[i][k] = A[i][k] / A[k][k];
    for (int i = k+1; i < n; i++) for (int j = k+1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
}"""
TRIANGLE = """for (int i = 0; i < n; i++) {
    double t = 0.0;
    for (int j = 0; j < i; j++) t += L[i][j] * x[j];
    y[i] = t;
}"""
CHOICE = "for (int i = 0; i < n; i++) { if (x[i] > 0.0) y[i] = 2.0 * x[i]; else { y[i] = -x[i]; } }"
GUARDED = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (A[i*m+j] > 0.1) s += A[i*m+j];"
)
MATH = "#include <math.h>\n"
COMPLEX = "#include <complex.h>\n"

CASES: Mapping[str, str] = {
    "norm": function(A, SQUARES, "double s = 0.5;", "double s"),
    "rows": function(f"{A}, {XY}", ROWS),
    "atax": function(f"{A}, {XY}, double *restrict z", ATAX),
    "bicg": function(
        f"{A}, const double *restrict p, double *restrict q, const double *restrict r,"
        " double *restrict s",
        BICG,
    ),
    "mvt": function(
        f"{A}, double *restrict x, const double *restrict y, double *restrict z,"
        " const double *restrict w",
        MVT,
    ),
    "gesummv": function(f"{A}, const double *restrict B, {XY}", GESUMMV),
    "private_sum": function("double A[n][m], double B[m][n], double C[n][n]", PRODUCT),
    "moments": function("double D[n][m], double mean[m], double dev[m]", MOMENTS, head=MATH),
    "power": function(f"{A}, double *restrict x, double *restrict y", POWER),
    "heat": function("double a[n][n], double b[n][n]", HEAT),
    "lu": function("double A[n][n]", LU),
    "triangle": function("double L[n][n], const double *restrict x, double *restrict y", TRIANGLE),
    "choice": function(XY, CHOICE),
    "guarded_sum": function(A, GUARDED, "double s = 0.0;", "double s"),
    "maximum": function(
        "const double *restrict x",
        "for (int i = 0; i < n; i++) top = fmax(top, x[i]);",
        "double top = -1e30;",
        "double top",
        head=MATH,
    ),
    "chosen_maximum": function(
        "const float *restrict x",
        "for (int i = 0; i < n; i++) if (x[i] > top) top = x[i];",
        "float top = 0.1f;",
        "float top",
    ),
    "product": function(
        "const double *restrict x",
        "for (int i = 0; i < n; i++) s *= 1.0 + 0.01 * x[i];",
        "double s = 1.0;",
        "double s",
    ),
    "integers": function(
        "const int *restrict k, long *restrict h",
        "for (int i = 0; i < n; i++) { h[i] = h[i] + 3 * k[i]; s += k[i]; }",
        "long s = 7;",
        "long s",
    ),
    "complex_dot": function(
        "const double complex *restrict a, const double complex *restrict b",
        "for (int i = 0; i < n; i++) s += a[i] * conj(b[i]);",
        "double complex s = 0.0;",
        "double complex s",
        head=COMPLEX,
    ),
    "gather": function(
        "double *restrict y, const double x[n], const int col[n]",
        "for (int i = 0; i < n; i++) y[i] += x[col[i]];",
    ),
    "counting_down": function(
        XY, "for (i = n; i > 2; i -= 3) y[i-1] = 2.0 * x[i-1];", "int i;", "int i"
    ),
    "window": function(
        XY,
        "for (int i = 0; i < n; i++)\n"
        "for (int j = i - 2 > 0 ? i - 2 : 0; j < n && j < i + 3; j++) y[i] += x[j];",
    ),
    "sum_on_gangs_and_lanes": function(
        A, SQUARES, "double s = 0.5;", "double s", 'acc(0, gang={"i"}, vector={"j"})'
    ),
    "sum_on_lanes": function(f"{A}, {XY}", ROWS, recipe='acc(0, gang={"i"}, vector={"j"})'),
}
QUICK = ("complex_dot",)
RUNS = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


@pytest.mark.parametrize("name", RUNS)
def test_every_text_equals_the_original(name: str, tmp_path: Path) -> None:
    source = source_of(CASES[name])
    analysis = analyse(source.regions[0])
    sizes = tuple({k: v for k, v in s.items() if k in analysis.region.scalars} for s in SIZES)
    for way, kind, codes in codes_of(source, analysis):
        folder = tmp_path / way
        folder.mkdir()
        # The race detector nests three parallel regions, and ``kernels`` marks every loop.
        trials = checked(source, analysis, kind, codes, sizes, folder, way != "openacc as written")
        failed = {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT}
        assert failed == {}, way
        for code in codes.values():
            text = assembled(source, [code], Provenance("0", "user.c"))
            assert warnings(text, FLAGS[kind], folder) == "", way


def body_of(name: str, target_name: str) -> str:
    """Return the helpers and the block of a target's first choice."""
    target = load_target(target_name)
    analysis = analyse(source_of(CASES[name]).regions[0])
    code = target.region(variants(target, analysis, 1)[0], False)
    return code.helper + code.body


@pytest.mark.parametrize(
    ("name", "target"),
    [("power", "openmp"), ("atax", "openmp"), ("sum_on_gangs_and_lanes", "openacc")],
)
def test_sums_read_well(name: str, target: str, golden: Golden) -> None:
    golden.check(f"codegen/sums_{target}_{name}.c", body_of(name, target))


@pytest.mark.parametrize("target", ["openmp", "openacc"])
def test_what_stays_on_the_device_is_moved_once(target: str) -> None:
    body = body_of("heat", target)
    loop = body.index("t = 0; t < 3; t++")
    if target == "openacc":
        assert body.index("#pragma acc data copy(") < loop
        assert "copy" not in body[loop : body.index("As written")]
    else:
        assert body[loop:].count("#pragma omp parallel for") == 2


def test_a_nest_is_taken_apart_where_threads_would_start_in_each_iteration() -> None:
    body = body_of("atax", "openmp")
    call = body.index("if (0 < n && 0 < m")
    assert "for (int i = 0; i < n; i++) {" not in body[call : body.index("As written")]
    assert "#pragma omp simd reduction(+:z_sum)" in body


def test_several_sums_of_one_loop_share_its_lanes() -> None:
    assert "#pragma omp simd reduction(+:t_sum, u_sum)" in body_of("gesummv", "openmp")


def test_every_level_that_a_sum_spans_names_it() -> None:
    body = body_of("sum_on_gangs_and_lanes", "openacc")
    assert "#pragma acc parallel loop gang reduction(+:s_sum)" in body
    assert "#pragma acc loop vector reduction(+:s_sum)" in body
    assert "copy(s_sum)" in body


def test_complex_types_need_no_header() -> None:
    assert "double _Complex s_sum = -(double _Complex)(0.0);" in body_of("complex_dot", "openmp")
