"""Sums shared by threads: the mistakes that a generator makes with clauses, and their trials."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import pytest
from compilers import here
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.target import RegionCode, load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status, Trial
from annotune.space.decision import Base
from annotune.space.space import region_space

pytestmark = pytest.mark.skipif(
    here().cxx is None or not here().openmp, reason="no C++ compiler with OpenMP"
)

TEXT = """\
#include <math.h>
double f(int n, const double *restrict x, const double *restrict w, double *restrict y)
{
    double s = 0.5, top = -1.0, t;
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 0; i < n; i++)
        s += x[i] * w[i];
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
    for (int i = 0; i < n; i++) {
        t = s * x[i];
        y[i] = t * t + top;
    }
    /*@ end @*/
    return s + top;
}
"""
PLAN = CheckPlan(({"n": 40}, {"n": 13}), threads=2, races=True)

TARGETS = ("openmp", "openacc", "openmp_target")

# (what is wrong, what stands in the text, what replaces it)
BOTH = (
    ("the sum has no clause", " reduction(+:s_sum)", ""),
    ("the maximum has no clause", " reduction(max:top_max)", ""),
    ("the operator is another one", "reduction(+:s_sum)", "reduction(*:s_sum)"),
    ("a minimum for a maximum", "reduction(max:top_max)", "reduction(min:top_max)"),
    ("a sum starts from one", "s_sum = -0.0", "s_sum = 1.0"),
    ("a maximum starts from nothing", "top_max = top", "top_max = 2.0"),
    ("the sum before is lost", "s += s_sum", "s = s_sum"),
    ("the sum is not stored", "s += s_sum;", ""),
    ("the sum is combined in the target", "s_sum += x[i]", "s += x[i]"),
    ("a temporary is shared", "double t;\n", ""),
    ("every thread writes the target", "s_sum += x[i] * w[i];", "s_sum += x[i] * w[i]; s = 1;"),
)
CASES = [
    pytest.param(target, old, new, id=f"{target}: {name}")
    for target in TARGETS
    for name, old, new in BOTH
]


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    source = text_source(TEXT, "user.c")
    folder = tmp_path_factory.mktemp("oracle")
    return Checker(Oracle(source, analyse(source.regions[0]), here(), folder))


@lru_cache
def generated() -> Mapping[str, RegionCode]:
    """Return the first choice of each target, as the generator writes it."""
    base = Base.of(analyse(text_source(TEXT, "user.c").regions[0]))
    space, device = region_space(base), load_device("h200")
    out = {}
    for name in TARGETS:
        target = load_target(name)
        out[name] = target.region(target.points(base, space, device).listing(1).variant(0), False)
    return out


def trial(checker: Checker, target: str, body: str) -> Trial:
    code = RegionCode(body, generated()[target].helper)
    return checker.check(Program(target, target, code), PLAN)


@pytest.mark.alike(3)
@pytest.mark.parametrize("target", TARGETS)
def test_the_generated_text_passes(target: str, checker: Checker) -> None:
    found = trial(checker, target, generated()[target].body)
    assert (found.status, found.reason) == (Status.CORRECT, "")


@pytest.mark.alike(4)
@pytest.mark.parametrize(("target", "old", "new"), CASES)
def test_a_mistake_does_not_pass(target: str, old: str, new: str, checker: Checker) -> None:
    body = generated()[target].body
    assert old in body, body
    found = trial(checker, target, body.replace(old, new, 1))
    assert found.status in (Status.CORRECTNESS, Status.RUNTIME, Status.COMPILE), found
    assert found.reason
