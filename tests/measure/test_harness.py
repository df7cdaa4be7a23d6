"""The text around a region: the user's own file, unchanged, and a wrapper that calls it."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from compilers import here
from made_by_hand import CLOSE, OPEN, Use, integers, made, matvec, scale
from support.regions import text_source

from annotune.analysis.facts import Analysis
from annotune.codegen.target import RegionCode
from annotune.ir.region import Scalar, SourceFile
from annotune.measure.compile import CompileJob, TranslationUnit, compile_job
from annotune.measure.program import array_parameter, oracle_source, variant_source
from annotune.measure.values import integer_names, signature

needs_c = pytest.mark.skipif(here().c is None, reason="no C compiler")


def call(
    text: str, folder: Path, arrays: list[np.ndarray], integers: list[int], reals: list[float]
) -> tuple[list[int], list[float]]:
    """Run the wrapper of `text` in this process and return its scalars."""
    result = compile_job(CompileJob((TranslationUnit(text),), "c"), here(), folder)
    assert result.ok, result.output
    library = ctypes.CDLL(str(result.path))
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    whole = (ctypes.c_longlong * max(1, len(integers)))(*integers)
    real = (ctypes.c_double * max(1, len(reals)))(*reals)
    library.annotune_call(pointers, whole, real)
    return list(whole), list(real)


@needs_c
def test_the_oracle_runs_the_users_region(tmp_path: Path) -> None:
    source, analysis = matvec()
    random = np.random.default_rng(1)
    y, a, x = random.random(3), random.random((3, 4)), random.random(4)
    expected = y + a @ x
    names = signature(analysis.region)
    assert names.arrays == ("y", "A", "x")
    assert names.integers == ("n", "m", "i", "j")
    call(oracle_source(source, analysis.region), tmp_path, [y, a, x], [3, 4, 0, 0], [])
    assert y == pytest.approx(expected)


def test_the_users_text_stands_unchanged_and_its_lines_are_named() -> None:
    source, analysis = matvec()
    text = oracle_source(source, analysis.region)
    assert text.startswith(f'#line 1 "user.c"\n{source.text}')
    body = source.text[source.text.index(OPEN) + len(OPEN) : source.text.index(CLOSE)]
    # The region starts on line 6 of the file, behind the annotation's 29 columns.
    assert f'#line 6 "user.c"\n{" " * (2 + len(OPEN))}{body}\n' in text


def test_a_path_with_quotes_is_still_one_name() -> None:
    source, analysis = matvec()
    odd = SourceFile('a "b"\\c.c', source.text, source.regions)
    assert '#line 1 "a \\"b\\"\\\\c.c"\n' in oracle_source(odd, analysis.region)


@needs_c
def test_a_variants_helper_stands_before_its_body(tmp_path: Path) -> None:
    source, analysis = scale()
    code = RegionCode(
        body="  annotune_scale(n, alpha, a, b);",
        helper="static void annotune_scale(int n, double s, const double *a, double *b)\n"
        "{ for (int i = 1; i < n; i++) b[i] = s * a[i]; }",
    )
    b, a = np.zeros(5), np.arange(5.0)
    call(variant_source(source, analysis.region, code), tmp_path, [b, a], [5], [3.0])
    assert b.tolist() == [0, 3, 6, 9, 12]


@needs_c
def test_written_scalars_come_back(tmp_path: Path) -> None:
    text = (
        "double f(int n, const double *a)\n{\n  double total = 0; int i;\n"
        f"  {OPEN}\n  for (i = 0; i < n; i++) total += a[i];\n  {CLOSE}\n"
        "  return total + i;\n}\n"
    )
    source, analysis = made(
        text,
        "for i in 0:n: total += a[i]",
        {"a": Use("const double *a", "n")},
        (
            Scalar("n", "int"),
            Scalar("i", "int", read_after=True),
            Scalar("total", "double", read_after=True),
        ),
        {"n": 4},
    )
    names = signature(analysis.region)
    assert names.written == {"i", "total"}
    got = call(oracle_source(source, analysis.region), tmp_path, [np.arange(4.0)], [4, 99], [10.0])
    assert got == ([4, 4], [16.0])


def shadowed() -> tuple[SourceFile, Analysis]:
    """Return a region on file-scope arrays whose sizes are macros."""
    text = (
        "#define N 3\n#define TWICE(x) (2 * (x))\nstatic float A[N][N + 1];\n"
        f"void f(void)\n{{\n  {OPEN}\n"
        "  for (int i = 0; i < N; i++) for (int j = 0; j <= N; j++) A[i][j] = TWICE(A[i][j]);\n"
        f"  {CLOSE}\n}}\n"
    )
    return made(
        text,
        "for i in 0:N: for j in 0:N+1: A[i][j] = 2*A[i][j]",
        {"A": Use("", "N*(N+1)", "rw", ("N", "N+1"), is_pointer=False, element="float")},
        (
            Scalar("N", "int", value=3, is_macro=True),
            Scalar("i", "int", is_local=True),
            Scalar("j", "int", is_local=True),
        ),
        {},
    )


@needs_c
def test_a_file_scope_array_is_shadowed_by_the_callers(tmp_path: Path) -> None:
    source, analysis = shadowed()
    assert array_parameter(analysis.region.arrays["A"]) == "float (*A)[N + 1]"
    values = np.ones((3, 4), np.float32)
    call(oracle_source(source, analysis.region), tmp_path, [values], [], [])
    assert values.tolist() == [[2.0] * 4] * 3


@pytest.mark.parametrize(
    ("file_scope", "parameters", "passed"),
    [
        ("", "double *restrict y, const double *restrict x", "double *| y, const double *| x"),
        ("", "double *restrict y, const double *x", "double *| y, const double *| x"),
        ("", "double *y, const double *x", "double *y, const double *x"),
        ("", "double y[restrict 9], double x[restrict 9]", "double *| y, double *| x"),
        ("double y[9], x[9];", "int m", "double *| y, double *| x"),
        ("double y[9];", "double *x", "double y[9], double *x"),
        ("int x[9];", "double *y", "double *| y, int *| x"),
    ],
)
def test_what_the_users_c_says_of_shared_memory_is_said_where_it_is_measured(
    file_scope: str, parameters: str, passed: str
) -> None:
    """Without it gcc does not run several iterations of the original's outer loop at once."""
    source = text_source(
        f"{file_scope}\nvoid f({parameters})\n{{\n  {OPEN}\n"
        f"  for (int i = 0; i < 9; i++) y[i] = x[i];\n  {CLOSE}\n}}\n"
    )
    text = oracle_source(source, source.regions[0])
    declared = text.partition("annotune_region(")[2].partition("long long")[0]
    assert " ".join(declared.split()) == passed.replace("|", "__restrict") + ","


def test_integers_are_told_by_type_or_by_use() -> None:
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        "for i in 0:n: a[i + off] = w * a[i + off]",
        {"a": Use("real *a", "n", "rw")},
        (Scalar("n", "index_t"), Scalar("off", "index_t"), Scalar("w", "real"), *integers("i")),
        {"n": 3, "off": 1},
    )
    assert integer_names(analysis.region) == {"n", "off", "i"}
    assert signature(analysis.region).reals == ("w",)
