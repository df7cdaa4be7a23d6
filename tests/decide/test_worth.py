"""From which sizes on a call with its copies is faster than the original."""

from __future__ import annotations

import pytest
from support.regions import analysis_of

from annotune.annotation.devices import load_device
from annotune.model.bounds import HostCopies, copies
from annotune.model.worth import CallSeconds, break_even

H200 = load_device("h200")
PRODUCT = """\
void f(int n, double *restrict c, const double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    /*@ end @*/
}
"""
TRIAD = """\
void f(int n, int m, double s, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000; param m = 5; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = s * b[i];
    /*@ end @*/
}
"""
FIXED = TRIAD.replace("int n, int m, ", "").replace("i < n", "i < 1000")
FIXED = FIXED.replace("param n = 1000; param m = 5;", "")


def test_work_that_grows_faster_than_the_copies_pays_from_some_size_on() -> None:
    # The original takes n / 64 times as long beside the copies: half of these at 64, all at 128.
    assert break_even(analysis_of(PRODUCT), CallSeconds(0.0, 2.0, 1.0), H200) == {"n": 134}
    assert break_even(analysis_of(PRODUCT), CallSeconds(0.5, 2.0, 1.0), H200) == {"n": 267}
    # It does already.
    assert break_even(analysis_of(PRODUCT), CallSeconds(0.1, 0.2, 1.0), H200) == {"n": 64}


def test_work_that_grows_as_the_copies_never_does() -> None:
    assert break_even(analysis_of(TRIAD), CallSeconds(0.1, 2.0, 1.0), H200) == {}


def test_nothing_pays_where_the_kernels_lose() -> None:
    assert break_even(analysis_of(PRODUCT), CallSeconds(2.0, 0.1, 1.0), H200) == {}


def test_sizes_that_c_fixes_do_not_grow() -> None:
    assert break_even(analysis_of(FIXED), CallSeconds(0.1, 2.0, 1.0), H200) is None


def test_a_size_that_no_loop_has_is_left_out() -> None:
    assert break_even(analysis_of(TRIAD), CallSeconds(0.1, 0.2, 1.0), H200) == {"n": 1000}


@pytest.mark.parametrize("factor", [1, 2])
def test_the_arrays_that_cross_are_those_that_are_long(factor: int) -> None:
    moved = copies(analysis_of(PRODUCT), {"n": 64 * factor})
    assert isinstance(moved, HostCopies)
    matrix = 8 * (64 * factor) ** 2
    assert moved.of == {"c": 2 * matrix, "a": matrix, "b": matrix}
    assert moved.most() == ("c", "a", "b")
    assert HostCopies(1000, 0, {"d": 8, "u": 992}).most() == ("u",)
