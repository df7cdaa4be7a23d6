"""Sums of zeros have C's sign: which inputs show it, where C says it, and what is found by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compilers import here
from support.regions import analysis_of, text_source

from annotune.analysis.analyse import analyse
from annotune.codegen.target import RegionCode
from annotune.measure.check import Checker
from annotune.measure.inputs import ZERO_VALUES, Values, make_inputs
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckLimits, CheckPlan, near_limits, proofs
from annotune.measure.program import Program, TextForm, with_near_limits
from annotune.measure.tolerance import compare
from annotune.measure.trial import Status
from annotune.measure.values import bears_zeros, fixes_zeros, negative_names

ROWS = """\
#include <complex.h>
#include <math.h>
void f(int n, double alpha, const double *restrict x, const double *restrict z, double *restrict y)
{
    double s = y[0];
    /*@ begin PerfTuning ( ASSUME def input_params { param n = 12; } ) @*/
    for (int i = 0; i < n; i++) STATEMENT
    /*@ end @*/
    y[0] = s;
}
"""


def text(statement: str, assume: str = "") -> str:
    return ROWS.replace("STATEMENT", statement).replace("ASSUME", assume)


@pytest.mark.parametrize(
    ("statement", "negative"),
    [
        ("s += x[i];", {"s", "x"}),
        ("s -= x[i];", {"s"}),
        ("s = s + x[i] * z[i];", {"s", "x"}),
        ("s -= alpha * x[i] * z[i];", {"s"}),
        ("y[i] += -2 * x[i];", {"y"}),
        ("{ double t = alpha * x[i]; s += t + z[i]; }", {"s", "t", "alpha", "z"}),
        ("y[i] = x[i];", {"y"}),
    ],
)
def test_what_is_negative_makes_sums_so(statement: str, negative: set[str]) -> None:
    assert negative_names(analysis_of(text(statement)).region) == negative


@pytest.mark.parametrize(
    ("statement", "assume", "is_fixed"),
    [
        ("s += x[i];", "", True),
        ("s += fmax(x[i], z[i]);", "", False),
        ("s += x[i] / z[i];", "", False),
        ("s += x[i];", "def assume { arg finite = True; }", False),
    ],
)
def test_signs_are_asked_for_where_c_says_them(statement: str, assume: str, is_fixed: bool) -> None:
    analysis = analysis_of(text(statement, assume))
    assert fixes_zeros(analysis) is is_fixed
    assert bears_zeros(analysis) is is_fixed
    assert not bears_zeros(analysis_of(text("y[i] = x[i];")))


def test_zeros_are_of_both_signs_and_negative_where_sums_begin(tmp_path: Path) -> None:
    analysis = analysis_of(text("s += x[i] * z[i];"))
    for values in ZERO_VALUES:
        made = make_inputs(analysis, {"n": 40}, 1, tmp_path, values)
        signs = {b.name: {*np.signbit(made.read(b)).tolist()} for b in made.buffers}
        assert all(not made.read(b).any() for b in made.buffers)
        assert signs["x"] == ({True, False} if values is Values.ZEROS else {True})
        assert str(made.reals[-1]) == "-0.0"


def test_zeros_of_two_signs_differ_where_it_is_asked() -> None:
    zero, nothing = np.zeros(1), np.zeros(1)
    assert compare("a", zero, -zero, nothing) is None
    assert compare("a", zero, -zero, nothing, has_signs=True) is not None
    assert compare("a", -zero, -zero, nothing, has_signs=True) is None


SUM = """\
{
    double s_sum = 0.0;
    #pragma omp parallel for reduction(+ : s_sum)
    for (int i = 0; i < n; i++)
        s_sum += x[i];
    int again = s_sum == 0.0 && s == 0.0 && 1.0 / s < 0.0;
    for (int i = 0; i < (again ? n : 0); i++)
        s += x[i];
    if (!again)
        s += s_sum;
}
"""


@pytest.mark.alike(2)
@pytest.mark.skipif(not here().openmp, reason="no compiler with OpenMP")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("int again = s", "int again = 0 && s"),
        ("    s += x[i];\n    if", "    s = x[i];\n    if"),
    ],
)
def test_a_sum_that_loses_its_sign_does_not_win(old: str, new: str, tmp_path: Path) -> None:
    source = text_source(text("s += x[i];"), "f.c")
    analysis = analyse(source.regions[0])
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    assert old in SUM
    variant = Program("openmp", "openmp", RegionCode(SUM.replace(old, new)))
    plan = CheckPlan(({"n": 12},), threads=2)
    assert checker.check(variant, plan).status is Status.CORRECT
    sizes = ({"n": 3},)
    on_zeros = [p for p in proofs(variant, analysis, plan, sizes) if p.odd.values == ZERO_VALUES]
    (proof,) = (p for p in on_zeros if p.odd.form is not TextForm.MARKED)
    found = checker.check(variant, proof)
    assert found.is_wrong is bool(old)
    assert not old or "on zeros" in found.reason


STEPS = """\
{
    if (0 < n && n <= 2147483632) {
        for (int i_t = 0; i_t < n; i_t += 16)
            for (int i = i_t; i < (i_t + 16 < n ? i_t + 16 : n); i++)
                s += x[i];
    } else
        for (int i = 0; i < n; i++)
            s += x[i];
}
"""


def test_a_limit_near_2_to_31_is_brought_near_2_to_15() -> None:
    near = with_near_limits(STEPS)
    assert "n <= 32752" in near
    assert "for (short i_t = 0;" in near
    assert "for (int i = i_t;" in near
    assert with_near_limits("for (unsigned int j = 1; j < m; j += 2)").startswith("for (unsigned ")
    assert (
        with_near_limits("m <= 1147483632 && 2147483632 <= m")
        == "m <= 1147483632 && 2147483632 <= m"
    )
    # 65,536 blocks of 256 threads, of which fewer do as well; 1024 of them, which stay.
    assert with_near_limits("n <= 2130706432") == "n <= 32512"
    assert with_near_limits("n <= 2147221504") == "n <= 2147221504"
    sizes = near_limits([STEPS], analysis_of(text("s += x[i];")))
    assert sizes == ({"n": 32752}, {"n": 32753})


@pytest.mark.skipif(not here().openmp, reason="no compiler with OpenMP")
@pytest.mark.parametrize("limit", ["2147483632", "2147483633"])
def test_a_limit_that_is_one_more_does_not_win(limit: str, tmp_path: Path) -> None:
    source = text_source(text("s += x[i];"), "f.c")
    analysis = analyse(source.regions[0])
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    variant = Program("openmp", "openmp", RegionCode(STEPS.replace("2147483632", limit)))
    plan = CheckPlan(({"n": 12},), limits=CheckLimits(1.0))
    (proof,) = (
        p
        for p in proofs(variant, analysis, plan, ({"n": 3},))
        if p.odd.form is TextForm.NEAR_LIMITS
    )
    assert checker.check(variant, proof).is_wrong is (limit == "2147483633")
