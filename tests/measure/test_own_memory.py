"""Arrays that a function declares for a region alone: kernels have them, no caller's address has.

At each target, for arrays of the host and of the device: right results, none from a wrong text.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from compilers import here
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.devices import load_device
from annotune.codegen.target import RegionCode, load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan, Odd
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.model.bounds import HostCopies, copies
from annotune.space.decision import Base
from annotune.space.space import region_space

pytestmark = pytest.mark.skipif(here().cxx is None, reason="no C++ compiler")

HEAD = """\
void f(int n, int m, double *restrict y, const double *restrict x)
{
    double t[m][2];
    /*@ begin PerfTuning ( def input_params { param n = 60; param m = 9; } ) @*/
"""
# One that all nests share, and one that each iteration has for itself.
SHARED = """\
    for (int i = 0; i < m; i++)
        for (int k = 0; k < 2; k++)
            t[i][k] = 2.0 * x[2 * i + k];
    for (int e = 0; e < n; e++)
        for (int i = 0; i < m; i++)
            y[e * m + i] += t[m - 1 - i][0] + t[i][1];
    /*@ end @*/
}
"""
OF_EACH = """\
    for (int e = 0; e < n; e++) {
        for (int i = 0; i < m; i++)
            for (int k = 0; k < 2; k++)
                t[i][k] = 2.0 * x[e * m + i] + k;
        for (int i = 0; i < m; i++)
            y[e * m + i] += t[m - 1 - i][0] + t[i][1];
    }
    /*@ end @*/
}
"""
TEXTS = {"shared": HEAD + SHARED, "of each": HEAD + OF_EACH}
# The tuned sizes, smaller ones, and more than there is room for in the array of an iteration.
SIZES = ({"n": 60, "m": 9}, {"n": 5, "m": 4}, {"n": 7, "m": 11})
KINDS = {"cuda": "cuda-cpu", "openacc": "openacc", "openmp": "openmp"}


class Case:
    """The checker of a text, and the first texts that targets make of it."""

    def __init__(self, text: str, folder: object) -> None:
        source = text_source(text, "f.c")
        analysis = analyse(normalised(source.regions[0]))
        self.checker = Checker(Oracle(source, analysis, here(), folder))  # type: ignore[arg-type]

    def program(self, name: str, resident: bool) -> Program:
        target, base = load_target(name), Base.of(self.checker.oracle.analysis)
        points = target.points(base, region_space(base), load_device("h200"))
        code = target.region(points.listing(1).variant(0), resident)
        text = target.device_file(code) if code.device else ""
        return Program(name, KINDS[name], code, text)


@pytest.fixture(scope="module", params=TEXTS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(TEXTS[request.param], tmp_path_factory.mktemp("oracle"))


@pytest.mark.alike(7)
@pytest.mark.parametrize("resident", [False, True], ids=["host", "resident"])
@pytest.mark.parametrize("name", KINDS)
def test_each_target_is_right(name: str, resident: bool, case: Case) -> None:
    program = case.program(name, resident)
    plan = CheckPlan(SIZES, resident=resident, sanitize=True, races=True)
    trial = case.checker.check(program, plan)
    assert (trial.status, trial.reason) == (Status.CORRECT, "")


@pytest.mark.alike(6)
@pytest.mark.parametrize("resident", [False, True], ids=["host", "resident"])
@pytest.mark.parametrize("name", KINDS)
def test_what_comes_of_them_is_compared(name: str, resident: bool, case: Case) -> None:
    one = case.program(name, resident)
    texts = (one.device_text, one.code.helper, one.code.body)
    assert any("2.0 * x" in text for text in texts)
    device, helper, body = (text.replace("= 2.0 * x", "= 3.0 * x") for text in texts)
    code = RegionCode(body, helper, one.code.device and device)
    wrong = replace(one, device=device, code=code)
    trial = case.checker.check(wrong, CheckPlan(SIZES, resident=resident))
    assert trial.status is Status.CORRECTNESS


def test_on_resident_data_no_call_has_their_address(case: Case) -> None:
    one = case.program("cuda", True)
    assert "void annotune_f_1(long, long, const double *, double *);" in one.code.body


@pytest.mark.parametrize("resident", [False, True], ids=["host", "resident"])
def test_when_a_call_fails_the_nest_as_written_has_one(resident: bool, case: Case) -> None:
    one = case.program("cuda", resident)
    # On the device what fails for the kernels may fail for the nest as written.
    failures = (1,) if resident else tuple(range(1, 12))
    plan = CheckPlan(SIZES, resident=resident, odd=Odd(failures=failures, may_fall_back=True))
    trial = case.checker.check(one, plan)
    assert (trial.status, trial.reason) == (Status.CORRECT, "")


def test_the_nest_as_written_needs_all_that_is_declared(case: Case) -> None:
    one = case.program("cuda", True)
    text = one.device_text
    (count,) = (line for line in text.splitlines() if "return m * 2" in line or "2 * m" in line)
    short = replace(one, device=text.replace(count, count.replace("m", "(m - 1)")))
    plan = CheckPlan(({"n": 7, "m": 11},), resident=True, sanitize=True)
    assert case.checker.check(short, plan).is_wrong


def test_an_array_of_each_iteration_has_no_memory_of_the_device(case: Case) -> None:
    one = case.program("cuda", False)
    is_shared = "t_own" not in one.device_text
    assert ("{NULL, 0, 0, t_bytes, false, false}" in one.device_text) == is_shared
    assert (" create(t[0:m][0:2])" in case.program("openacc", False).code.body) == is_shared
    given = 8 * (18 if is_shared else 540)
    assert copies(case.checker.oracle.analysis) == HostCopies(given + 4320, 4320)
