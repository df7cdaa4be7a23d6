"""The baselines: directives in the user's own text, compiled and run against the original."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from codegen.emitted import RUNS, SIZES, analysed, checked, example, here, source_of, warnings
from conftest import Golden
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.private_copies import with_private_arrays
from annotune.codegen.baseline import naive_openacc, naive_openmp
from annotune.codegen.target import Provenance, RegionCode
from annotune.codegen.users_file import assembled
from annotune.ir.region import SourceFile
from annotune.measure.trial import Status

needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")


def whole(source: SourceFile, code: RegionCode) -> str:
    """Return the file with its first region replaced and the others as they are."""
    one = SourceFile(source.path, source.text, source.regions[:1])
    return assembled(one, [code], Provenance("0", source.path))


def test_openmp_reads_as_one_would_write_it(golden: Golden) -> None:
    name = "nekbone/local_grad3.c"
    golden.check("codegen/naive_omp.c", naive_openmp(example(name), analysed(name)).body)


@pytest.mark.parametrize("way", ["kernels", "parallel loop"])
def test_openacc_reads_as_one_would_write_it(way: str, golden: Golden) -> None:
    name = "nekbone/local_grad3.c"
    code = naive_openacc(example(name), analysed(name))[way]
    golden.check(f"codegen/naive_acc_{way.replace(' ', '_')}.c", code.body)


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", SIZES)
def test_nothing_but_directives_is_added(name: str) -> None:
    source = example(name)
    place = source.regions[0].extent
    written = source.text[place.body_start : place.body_end].split()
    codes = naive_openacc(source, analysed(name))
    for code in (naive_openmp(source, analysed(name)), *codes.values()):
        plain = re.sub(r"#pragma (?:\\\n|.)*", "", code.body)
        assert [w for w in plain.split() if w not in "{}"] == [w for w in written if w not in "{}"]


@needs_gcc
@pytest.mark.parametrize("name", RUNS)
def test_baselines_equal_the_original(name: str, tmp_path: Path) -> None:
    source, analysis = example(name), analysed(name)
    openmp = {"parallel for": naive_openmp(source, analysis)}
    for kind, codes in (("openmp", openmp), ("openacc", naive_openacc(source, analysis))):
        folder = tmp_path / kind
        folder.mkdir()
        # The race detector nests three parallel regions, and ``kernels`` marks every loop.
        deep = kind == "openacc" and name != "gemm/gemm.c"
        trials = checked(source, analysis, kind, codes, SIZES[name][:2], folder, not deep)
        assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


@needs_gcc
@pytest.mark.alike(3)
@pytest.mark.parametrize("name", SIZES)
def test_baselines_compile_without_a_warning(name: str, tmp_path: Path) -> None:
    source, analysis = example(name), analysed(name)
    flags = ("-fopenmp",)
    assert warnings(whole(source, naive_openmp(source, analysis)), flags, tmp_path) == ""
    for code in naive_openacc(source, analysis).values():
        flags = ("-fopenacc", "-foffload=disable")
        assert warnings(whole(source, code), flags, tmp_path) == ""


ONE_LINE = (
    "int f(int n, double *restrict a)\r\n{\r\n  int i, j;\r\n"
    "  /*@ begin PerfTuning ( def input_params { param n = 9; } ) @*/\r\n"
    "  for (i = 0; i < n; i++) for (j = 0; j < 4; j++) { double t; t = a[4*i + j];"
    " a[4*i + j] = t * t; }\r\n"
    "  /*@ end @*/\r\n  return i + j;\r\n}\r\n"
)


@needs_gcc
def test_loops_on_one_line_and_dos_line_ends(tmp_path: Path) -> None:
    source = source_of(ONE_LINE)
    analysis = analyse(source.regions[0])
    codes = naive_openacc(source, analysis)
    lines = [line.strip() for line in codes["kernels"].body.splitlines()]
    assert "#pragma acc loop independent private(j)" in lines
    assert "#pragma acc loop independent" in lines
    openmp = {"parallel for": naive_openmp(source, analysis)}
    for kind, found in (("openmp", openmp), ("openacc", codes)):
        folder = tmp_path / kind
        folder.mkdir()
        trials = checked(source, analysis, kind, found, ({"n": 9}, {"n": 1}), folder)
        assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


LEGACY = Path(__file__).parent.parent / "kernels"


def legacy(file: str, function: str) -> str:
    """Return the OpenMP baseline of one function of the legacy kernels."""
    path = LEGACY / file
    source = text_source(path.read_text(), str(path))
    (region,) = (r for r in source.regions if r.function == function)
    return naive_openmp(source, analyse(region)).body


def test_integers_that_only_the_text_sets_are_each_threads_own() -> None:
    text = legacy("f2c.c", "dgemm_")
    assert "#pragma omp parallel for private(i__, l, temp) firstprivate(i__1, i__2, i__3)" in text
    assert "*n" not in text


def test_a_text_that_counts_on_stays_in_order() -> None:
    assert "#pragma" not in legacy("f2c.c", "dger_")


# Bodies and the directives of their OpenMP text: a macro hides what a loop counts on, and a
# comment only looks like it.
COUNTS = {
    "k = 0; for (i = 0; i < n; i++) { a[k] = b[i]; INC(k); }": (),
    "for (i = 0; i < n; i++) { int w = 0; for (j = 0; j < 4; j++) { a[i] += b[w]; INC(w); } }": (),
    "/* k++ */ k = 3; for (i = 0; i < n; i++) a[k + i] = b[i];": ("firstprivate(k)",),
    "a[n] = k; for (i = 0; i < n; i++) { k = 2 * i; a[k / 2] = b[i]; }": ("firstprivate(k)",),
    "for (i = 0; i < n; i++) { k = i; INC(k); a[k] = b[i]; }": ("firstprivate(k)",),
    "for (i = 0; i < n; i++) { for (j = 0; j < 3; j++) ; a[i] = b[i]; }": ("firstprivate(j)",),
    "for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) t[j] = b[i] + j; /* t_own */ "
    # The first loop inside.
    "for (j = 0; j < 4; j++) a[i] += t[j] * t[3 - j]; }": ("",),
}


@pytest.mark.alike(8)
@pytest.mark.parametrize("body", COUNTS)
def test_what_the_nest_alone_has_for_each_iteration(body: str, tmp_path: Path) -> None:
    text = (
        "#define INC(k) k++\nvoid f(int n, int k, double *restrict a, const double *restrict b)\n"
        "{\n  int i, j;\n  double t[4];\n"
        f"  /*@ begin PerfTuning ( def input_params {{ param n = 9; }} ) @*/\n{body}\n"
        "  /*@ end @*/\n}\n"
    )
    source = source_of(text)
    analysis = analyse(with_private_arrays(source.regions[0]))
    code = naive_openmp(source, analysis)
    found = [line for line in code.body.splitlines() if "#pragma" in line]
    assert [f"#pragma omp parallel for {clause}".rstrip() for clause in COUNTS[body]] == found
    if here().c is not None:
        sizes = ({"n": 40, "k": 2}, {"n": 1, "k": 0})
        trials = checked(source, analysis, "openmp", {"parallel for": code}, sizes, tmp_path)
        assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


F2C_LU = """
int lu_(int *n, double *a, int *lda)
{
    int a_dim1, a_offset, i__1, i__2, i__3, i__, j, k;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    /*@ begin PerfTuning ( def input_params { param n = 20; param lda = 23; } ) @*/
    i__1 = *n - 1;
    for (k = 1; k <= i__1; ++k) {
        i__2 = *n;
        for (i__ = k + 1; i__ <= i__2; ++i__)
            a[i__ + k * a_dim1] /= a[k + k * a_dim1] + 9.;
        i__2 = *n;
        for (j = k + 1; j <= i__2; ++j) {
            i__3 = *n; /* of the loop } inside */
            for (i__ = k + 1; i__ <= i__3; ++i__)
                a[i__ + j * a_dim1] -= a[i__ + k * a_dim1] * a[k + j * a_dim1];
        }
    }
    /*@ end @*/
    return 0;
}
"""


@needs_gcc
def test_loops_nest_perfectly_only_where_the_text_does(tmp_path: Path) -> None:
    source = source_of(F2C_LU)
    analysis = analyse(source.regions[0])
    openmp = {"parallel for": naive_openmp(source, analysis)}
    openacc = naive_openacc(source, analysis)
    sizes = ({"n_": 9, "lda_": 9}, {"n_": 1, "lda_": 4})
    for kind, codes in (("openmp", openmp), ("openacc", openacc)):
        folder = tmp_path / kind
        folder.mkdir()
        assert not any("collapse" in code.body for code in codes.values())
        trials = checked(source, analysis, kind, codes, sizes, folder, False)
        assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


# Of a stencil's inner part, and of what only conditions touch: at some sizes nothing is copied.
PARTS = """\
void f(int n, double *restrict a, const double *restrict b, const int *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 2; i < n - 2; i++)
        for (int j = 1; j < n - 1; j++)
            if (c[i] > 0)
                a[(i - 2) * n + j] = b[i * n + j - 1] + b[i * n + j + 1];
    /*@ end @*/
}
"""


@needs_gcc
def test_no_section_is_shorter_than_nothing(tmp_path: Path) -> None:
    source = text_source(PARTS)
    analysis = analyse(source.regions[0])
    sizes = tuple({"n": n} for n in (1, 2, 3, 4, 5, 9))
    found = checked(source, analysis, "openacc", naive_openacc(source, analysis), sizes, tmp_path)
    for trial in found.values():
        assert trial.status is Status.CORRECT, trial.reason


MACROS = """\
#define FOR(i) for (int i = 0; i < n; i++)
#define BOTH(i, j) FOR(i) FOR(j)
void f(int n, double *restrict a, const double *restrict b)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int k = 0; k < n; k++)
        FOR(i) { t = b[k]; FOR(j) a[(k*n + i)*n + j] = t * b[i*n + j]; }
    /*@ end @*/
}
"""


def test_loops_of_macros_are_not_taken_for_a_perfect_nest() -> None:
    source = text_source(MACROS)
    body = naive_openmp(source, analyse(source.regions[0])).body
    assert "#pragma omp parallel for private(t)" in body
    assert "collapse" not in body
