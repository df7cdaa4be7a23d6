"""Arrays that a region has for itself: what they hold is not compared, what comes of them is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compilers import here
from support.regions import text_source

from annotune.analysis.analyse import analyse
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

TEXT = """#include <stdlib.h>
void f(int n, double *restrict y, const double *restrict x)
{
  double *t = malloc(n * sizeof *t);
  if (!t) exit(1);
  /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
  for (int i = 0; i < n; i++) t[i] = 2.0 * x[i];
  for (int i = 0; i < n; i++) y[i] += t[n - 1 - i];
  /*@ end @*/
  free(t);
}
"""
PLAN = CheckPlan(({"n": 100}, {"n": 7}, {"n": 1}))

pytestmark = pytest.mark.skipif(here().cxx is None, reason="no C++ compiler")


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    source = text_source(TEXT, "f.c")
    analysis = analyse(source.regions[0])
    assert analysis.stays_on_device("t")
    return Checker(Oracle(source, analysis, here(), tmp_path_factory.mktemp("oracle")))


def program(name: str, kind: str, checker: Checker) -> Program:
    target, base = load_target(name), Base.of(checker.oracle.analysis)
    points = target.points(base, region_space(base), load_device("h200"))
    code = target.region(points.listing(1).variant(0), False)
    return Program(name, kind, code, target.device_file(code) if code.device else "")


@pytest.mark.alike(2)
@pytest.mark.parametrize(("name", "kind"), [("cuda", "cuda-cpu"), ("openacc", "openacc")])
def test_without_copies_the_results_are_right(name: str, kind: str, checker: Checker) -> None:
    one = program(name, kind, checker)
    trial = checker.check(one, replace(PLAN, sanitize=True, races=True))
    assert (trial.status, trial.reason) == (Status.CORRECT, "")


@pytest.mark.parametrize(("name", "kind"), [("cuda", "cuda-cpu"), ("openacc", "openacc")])
def test_what_comes_of_them_is_compared(name: str, kind: str, checker: Checker) -> None:
    one = program(name, kind, checker)
    # Nothing is brought to the device: what is not written there is no number.
    texts = (one.device_text, one.code.body)
    assert any("2.0 * x" in text for text in texts)
    device, body = (text.replace("= 2.0 * x", "= 3.0 * x") for text in texts)
    code = RegionCode(body, one.code.helper, one.code.device and device)
    wrong = replace(one, device=device, code=code)
    assert checker.check(wrong, PLAN).status is Status.CORRECTNESS


def test_when_a_call_fails_the_host_has_the_array(checker: Checker) -> None:
    one = program("cuda", "cuda-cpu", checker)
    plan = replace(PLAN, odd=Odd(failures=tuple(range(1, 12)), may_fall_back=True))
    assert checker.check(one, plan).status is Status.CORRECT


def test_on_the_host_they_may_hold_anything_too(checker: Checker) -> None:
    one = program("openmp", "openmp", checker)
    assert checker.check(one, PLAN).status is Status.CORRECT
    body = "{ for (int i = 0; i < n; i++) y[i] += 2.0 * x[n - 1 - i]; }"
    assert checker.check(replace(one, code=RegionCode(body)), PLAN).status is Status.CORRECT
    wrong = replace(one, code=RegionCode(body.replace("2.0", "3.0")))
    trial = checker.check(wrong, PLAN)
    assert trial.status is Status.CORRECTNESS
    assert "y[" in trial.reason


def test_what_is_read_afterwards_is_compared(tmp_path_factory: pytest.TempPathFactory) -> None:
    source = text_source(TEXT.replace("  free(t);", "  y[0] += t[0];\n  free(t);"), "f.c")
    folder = tmp_path_factory.mktemp("oracle")
    checker = Checker(Oracle(source, analyse(source.regions[0]), here(), folder))
    body = "{ for (int i = 0; i < n; i++) y[i] += 2.0 * x[n - 1 - i]; }"
    wrong = replace(program("openmp", "openmp", checker), code=RegionCode(body))
    trial = checker.check(wrong, PLAN)
    assert trial.status is Status.CORRECTNESS
    assert "t[" in trial.reason


def test_the_model_counts_no_copies_of_them(checker: Checker) -> None:
    assert copies(checker.oracle.analysis) == HostCopies(to_device=2 * 800, to_host=800)
