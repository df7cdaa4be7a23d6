"""Emitted code whose proof needs a condition on sizes: right also where the condition is false.

Each function is called at sizes that fulfil its conditions, just and amply, and at sizes that
do not; what it leaves is compared with the original, and kernels run exactly where they may.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from support.executed import Call, Executable, Part, executable

from annotune.codegen.target import load_target
from annotune.pipeline import Settings, emit

TEXT = """\
void gemm(int m, int n, int k, int lda, int ldb, int ldc, const double *restrict A,
          const double *restrict B, double *restrict C)
{
    /*@ begin PerfTuning (
      def input_params {
        param m = 5; param n = 4; param k = 3; param lda = 3; param ldb = 6; param ldc = 5;
      }
      def assume { arg strides = True; }
    ) @*/
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                C[i * ldc + j] += A[i * lda + l] * B[l * ldb + j];
    /*@ end @*/
}

void ger_(int *m, int *n, double *x, double *y, double *a, int *lda)
{
    int a_dim1, a_offset, i__1, i__2, i__, j;
    --x;
    --y;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    /*@ begin PerfTuning ( def input_params { param m = 4; param n = 5; param lda = 4; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
        i__2 = *m;
        for (i__ = 1; i__ <= i__2; ++i__) {
            a[i__ + j * a_dim1] += x[i__] * y[j];
        }
    }
    /*@ end @*/
}

void call_ger(int m, int n, int lda, double *restrict a, double *restrict x, double *restrict y)
{
    ger_(&m, &n, x, y, a, &lda);
}

void halo(int lo, int hi, double *restrict a, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param lo = 1; param hi = 6; } ) @*/
    for (int k = lo; k <= hi; k++)
        for (int j = lo; j <= hi; j++)
            a[(hi + 4) * k + j - (lo - 2)] = 3 * b[(hi + 4) * k + j - (lo - 2)] + k;
    /*@ end @*/
}

void wide(unsigned n, long ld, int m, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 4; param ld = 4; param m = 3; } ) @*/
    for (int i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++)
            a[i * ld + j] = a[i * ld + j] + 1 + i;
    /*@ end @*/
}

void triangle(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 6; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            a[i * n + j] += i - j;
    /*@ end @*/
}

void lesser(int n, int m, int p, double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 6; param m = 4; param p = 3; } ) @*/
    for (int i = 0; i < n && i <= m; i++)
        for (int j = 0; j < p; j++)
            y[20 * i + j] += x[i] + n;
    /*@ end @*/
}

void near(int n, int m, double *x, double *y)
{
    /*@ begin PerfTuning ( def input_params { param n = 6; param m = 4; } ) @*/
    for (int i = 0; i < n && i < m; i++)
        y[i] = x[i] + 1;
    /*@ end @*/
}

void call_near(int n, int m, int off, double *x)
{
    near(n, m, x, x + off);
}

void greater(int n, int m, double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 6; param m = 4; } ) @*/
    for (int i = (n > m ? n : m); i < 10; i++)
        y[i] = x[i] + n;
    /*@ end @*/
}

void chosen(int n, int m, double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 6; param m = 30; } ) @*/
    for (int i = 0; i < (m > 20 ? n : 5 - n); i++)
        y[i] = x[i] + n;
    /*@ end @*/
}

void signs(int n, unsigned m, double *restrict x, double *restrict y)
{
    int i;
    /*@ begin PerfTuning ( def input_params { param n = 6; param m = 4; } ) @*/
    for (i = 0; i < n && i < m; i++)
        y[i] += x[i] + 1;
    y[40] = i;
    /*@ end @*/
}
"""


@dataclass(frozen=True)
class Case:
    """One call: its sizes, and whether the conditions of the function hold at them."""

    function: str
    sizes: tuple[int, ...]
    arrays: int
    fits: bool


def _cases() -> list[Case]:
    found = [
        Case("gemm", (m, n, k, lda, ldb, ldc), 3, ldc >= n and lda >= 0 and ldb >= 0)
        for m, n, k in ((5, 4, 3), (7, 9, 2), (1, 1, 1), (2, 3, 17))
        for lda, ldb, ldc in product((k, k - 2, 0, -2), (n, 1, -1), (n, n + 1, n - 1, 0, -3))
    ]
    found.append(Case("gemm", (0, 4, 3, 3, 6, 5), 3, False))
    for m, n in ((4, 5), (9, 3), (1, 2)):
        found += [Case("call_ger", (m, n, m + d), 3, d >= 0) for d in (-2, -1, 0, 1, 30)]
    for lo, hi in ((1, 6), (3, 9), (-3, 2), (-4, 2), (-5, -1), (-9, -6), (0, 0)):
        found.append(Case("halo", (lo, hi), 2, lo >= -3))
    for n, ld in product((4, 7), (-2, 0, 3, 4, 6, 7, 8)):
        found.append(Case("wide", (n, ld, 3), 1, ld >= n))
    found += [Case("triangle", (n,), 1, n >= 2) for n in (-1, 0, 1, 2, 3, 6, 17)]
    for n, m in product((-3, 0, 1, 6, 30), (-2, -1, 0, 4, 41)):
        # What is copied to a device is all that the loop could reach at m alone.
        found += [Case("lesser", (n, m, p), 2, n > m > -1 and p > 0) for p in (0, 3, 17)]
        found += [Case("call_near", (n, m, d), 1, 0 < m <= min(n, d)) for d in (1, 4, 60)]
        found.append(Case("greater", (n, m), 2, m <= n < 10))
        found.append(Case("chosen", (n, m), 2, (n if m > 20 else 5 - n) > 0))
        found.append(Case("signs", (n, abs(m)), 2, 0 < abs(m) <= min(n, 41)))
    return found


CASES = _cases()
FUNCTIONS = sorted({case.function for case in CASES})
# Room on both sides of the place to which a pointer goes: strides may be negative.
ROOM, PLACE = 1600, 700


@pytest.fixture(scope="module")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> Executable:
    return executable(tmp_path_factory.mktemp("conditions"), TEXT)


@pytest.mark.alike(3)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_kernels_run_where_the_conditions_hold_alone(cuda: Executable, function: str) -> None:
    for fits in (True, False):
        calls = [
            Call(
                function,
                (*case.sizes, *(Part(k, PLACE) for k in range(case.arrays))),
                (ROOM,) * case.arrays,
            )
            for case in CASES
            if case.function == function and case.fits is fits
        ]
        assert calls
        cuda.check(*calls, launches=fits)


def _library(folder: Path, name: str, text: str, *flags: str) -> ctypes.CDLL:
    source, made = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    command = ["gcc", "-O1", "-Wall", "-Werror", "-Wno-unused", *flags, "-shared", "-fPIC"]
    done = subprocess.run([*command, source, "-o", made], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(made))


def _result(library: ctypes.CDLL, case: Case) -> list[bytes]:
    source = random.Random(1)
    buffers = [
        (ctypes.c_double * ROOM)(*(source.randrange(8) for _ in range(ROOM)))
        for _ in range(case.arrays)
    ]
    places = [ctypes.c_void_p(ctypes.addressof(one) + 8 * PLACE) for one in buffers]
    getattr(library, case.function)(*map(ctypes.c_longlong, case.sizes), *places)
    return [bytes(one) for one in buffers]


@pytest.mark.slow
@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("target", "flags"),
    [("openmp", ("-fopenmp",)), ("openacc", ("-fopenacc", "-foffload=disable"))],
)
def test_c_targets_equal_the_original(target: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "user.c"
    path.write_text(TEXT)
    (text,) = emit(Settings(path, (target,)), [load_target(target)]).files.values()
    original = _library(tmp_path, "original", TEXT)
    made = _library(tmp_path, target, text, *flags)
    for case in CASES:
        assert _result(made, case) == _result(original, case), case


@pytest.mark.parametrize("target", ["openmp", "openacc"])
def test_the_tests_stand_in_the_text(target: str, tmp_path: Path) -> None:
    path = tmp_path / "user.c"
    path.write_text(TEXT)
    (text,) = emit(Settings(path, (target,)), [load_target(target)]).files.values()
    for test in (
        "ldc >= n && lda >= 0 && ldb >= 0",
        "lda_ >= m_",
        "lo >= -3",
        "(long)ld >= (long)n",
        "n >= 2",
        "0 < (n < m + 1 ? n : m + 1)",
        "(n > m ? n : m) < 10",
        "0 < (m > 20 ? n : -n + 5)",
        "0 < ((long)(n) < (long)(m) ? (long)(n) : (long)(m))",
    ):
        # Lines end where they are full.
        assert test in " ".join(text.split()), test
