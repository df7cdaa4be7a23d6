"""Certificates of OpenMP plans: those of the first choices hold, and wrong placements do not."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest
from codegen.emitted import EXAMPLES, example, source_of
from support.nest_text import parse_nest
from support.regions import text_of

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify_cores
from annotune.certify.versions import block_versions
from annotune.schedule.plan import Kernel, Plan
from annotune.space.decision import Base
from annotune.space.openmp import first_plan

NAMES = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("*/*.c"))
SUM = """
double f(int n, int m, const double *restrict a, double *restrict b)
{
    double s = 0.0;
    /*@ begin PerfTuning ( def input_params { param n = 50; param m = 70; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += a[i * m + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i] += a[i * m + j];
    /*@ end @*/
    return s;
}
"""


def first(analysis: Analysis) -> Plan:
    return first_plan(Base.of(analysis))


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", [n for n in NAMES if "main" not in n])
def test_the_first_choice_of_every_example_holds(name: str) -> None:
    # The triples of one file differ in the order of their indices alone; tests/test_cli.py asks
    # for the certificates of all.
    for region in example(name).regions[:2]:
        analysis = analyse(region)
        assert verify(certify_cores(analysis, first(analysis))) == ()


def test_sums_of_threads_and_of_lanes_are_combined() -> None:
    analysis = analyse(source_of(SUM).regions[0])
    plan = first(analysis)
    text = text_of(plan.scheduled())
    assert "@cpu_thread combines + s" in text
    assert "@simd combines + b" in text
    assert verify(certify_cores(analysis, plan)) == ()


def broken(analysis: Analysis, old: str, new: str) -> tuple[str, ...]:
    """Return what the checker says once the text of the first schedule is changed."""
    text = text_of(first(analysis).scheduled())
    assert old in text
    body = parse_nest(text.replace(old, new)).body
    kernels = tuple(Kernel(f"k{n}", (n,), (stmt,), (stmt,)) for n, stmt in enumerate(body))
    return verify(certify_cores(analysis, Plan(kernels, (), analysis.region.sizes)))


@pytest.mark.parametrize("sums", ["combines + s", "combines + b"])
def test_a_sum_that_is_not_combined_is_found(sums: str) -> None:
    analysis = analyse(source_of(SUM).regions[0])
    assert any("may lose their order" in fault for fault in broken(analysis, f" {sums}", ""))


@pytest.mark.parametrize("place", ["@cpu_thread", "@simd"])
def test_a_sum_on_workers_is_found(place: str) -> None:
    analysis = analyse(example("gemm/gemm.c").regions[0])
    assert broken(analysis, "0:k", "0:k ") == ()
    faults = broken(analysis, "0:k", f"0:k {place}")
    assert any("S1 and S1 conflict on sum" in fault for fault in faults)


CUT = """
for i_t in 0:n step 4 @cpu_thread tile_of i
  for j_t in 0:m step 8 tile_of j
    local double c[4][8]
    for i in i_t:min(i_t + 4, n)
      for j in j_t:min(j_t + 8, m) @simd
        S0: c[i - i_t][j - j_t] = b[i]
    for i in i_t:min(i_t + 4, n)
      for j in j_t:min(j_t + 8, m) @simd
        S0: b[i] += c[i - i_t][j - j_t]
"""


def test_full_blocks_of_registers_are_proven_to_do_as_the_others() -> None:
    region = analyse(source_of(SUM).regions[0]).region
    body = parse_nest(CUT).body
    plan = Plan((Kernel("k", (0,), body, body),), ())
    found = block_versions(region, plan)
    assert {version.what for version in found} == {"the end of i", "the end of j"}
    assert all(isl.Set(version.differs).is_empty() for version in found)
    weak = [replace(v, differs=v.differs.replace("(l1 + (8)) <=", "(l1 + (1)) <=")) for v in found]
    assert any(not isl.Set(version.differs).is_empty() for version in weak)
