"""Data that stay on the device: what an entry does when a launch fails behind others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan, Failures, Odd
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.space.decision import Base
from annotune.space.space import region_space

STEPS = """
void f(int n, double *restrict a, double *restrict b)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (int t = 0; t < 2; t++) {
    for (int i = 0; i < n; i++) a[i] = a[i] + b[n - 1 - i];
    for (int i = 0; i < n; i++) b[i] = a[n - 1 - i] * 2;
  }
  /*@ end @*/
}
"""


@pytest.mark.skipif(here().cxx is None, reason="no C++ compiler")
def test_the_nest_runs_while_nothing_has_been_written(tmp_path: Path) -> None:
    source = text_source(STEPS, "f.c")
    base, target = Base.of(analyse(source.regions[0])), load_target("cuda")
    listed = target.points(base, region_space(base), load_device("h200")).listing(1).variants()
    code = target.region(next(iter(listed)), True)
    text = target.device_file(code)
    checker = Checker(Oracle(source, base.analysis, here(), tmp_path))
    program = Program("cuda", "cuda-cpu", code, text)
    # The first launch fails, or the last one.
    plan = CheckPlan(({"n": 8},), resident=True, odd=Odd(failures=Failures.EACH_KIND))
    assert checker.check(program, plan).status is Status.CORRECT
    for old, new in (
        ("abort();", "return;"),
        ("f_1_original<<<1, 1>>>(", "if (n > 9) f_1_original<<<1, 1>>>("),
    ):
        assert old in text
        found = checker.check(replace(program, device=text.replace(old, new)), plan)
        assert found.is_wrong, new
