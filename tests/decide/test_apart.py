"""Statements that leave an imperfect nest inside a register block, and those that must not."""

from __future__ import annotations

from pathlib import Path

import pytest
from codegen.emitted import analysed, checked, here, source_of, variants
from conftest import Golden
from support.blocks import nests
from support.regions import text_of

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.codegen.openmp import OpenMpTarget
from annotune.measure.trial import Status
from annotune.schedule.imperfect import ImperfectNest
from annotune.schedule.units import Unit
from annotune.space.openmp import CpuSpace
from annotune.space.variants import planned
from annotune.strategies.openmp import choose_cpu, cpu_groups, cpu_units

needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")


def text(body: str, arrays: str = "double C[restrict n][n]") -> str:
    return (
        f"void f(int n, double alpha, {arrays}, const double A[restrict n][n],\n"
        "       const double B[restrict n][n], double D[restrict n][n])\n{\n"
        "    /*@ begin PerfTuning ( def input_params { param n = 256; } ) @*/\n"
        f"    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {{\n{body}"
        "        }\n    /*@ end @*/\n}\n"
    )


# Products that are not one perfect nest, each a body of i and j.
PRODUCTS = {
    "a sum in the target": """
            C[i][j] *= alpha;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
""",
    "rows with rows": """
            double s = 0.0;
            for (int k = 0; k < n; k++)
                s += A[i][k] * B[j][k];
            C[i][j] = s;
""",
    "columns with columns": """
            double s = C[i][j];
            for (int k = 0; k < n; k++)
                s -= A[k][i] * B[k][j];
            C[i][j] = s;
""",
    "a scalar that waits": """
            double old = C[i][j], s = 0.0;
            for (int k = 0; k < n; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
            D[i][j] = old - s;
""",
    "two loops of a sum": """
            double s = 1.0;
            for (int k = 0; k < n; k++)
                for (int l = 0; l < 3; l++)
                    s += A[i][k] * B[k][j];
            C[i][j] = s * alpha;
""",
    "the greatest": """
            double s = A[i][0] + B[0][j];
            for (int k = 1; k < n; k++)
                s = s > A[i][k] + B[k][j] ? s : A[i][k] + B[k][j];
            C[i][j] = s;
""",
}
# One of each kind of array; the others take as long again.
QUICK = ("a scalar that waits",)
RUNS = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PRODUCTS]
# What keeps the statements together.
TOGETHER = {
    "two sums": """
            double s = 0.0, t = 0.0;
            for (int k = 0; k < n; k++)
                s += A[i][k] * B[k][j];
            for (int k = 0; k < n; k++)
                t += A[i][k] * B[k][j];
            C[i][j] = s + t;
""",
    "a bound that the scalar sets": """
            int m = j + 1;
            for (int k = 0; k < m; k++)
                C[i][j] += A[i][k];
            D[i][j] = m;
""",
    "an inner loop that is no sum": """
            double s = alpha * A[i][j];
            for (int k = 0; k < 1; k++)
                D[i][j] = s * B[k][j];
            C[i][j] = s;
""",
}


def unit_of(body: str) -> Unit:
    (unit,) = cpu_units(analyse(source_of(text(body)).regions[0]))
    return unit


def only(analysis: Analysis) -> ImperfectNest:
    (unit,) = cpu_units(analysis)
    (found,) = unit.imperfect.values()
    return found


def test_a_private_sum_is_an_element_for_each_output() -> None:
    found = only(analysed("gemm/gemm.c"))
    assert [loop.var for loop in found.band] == ["i", "j"]
    assert [loop.var for loop in found.own] == ["l"]
    assert (found.scalars, found.groups) == (("sum",), ((0,), (1,), (2,)))
    assert found.output.access.array == "C"
    assert found.beside == {0, 2}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_gets_a_block_of_rows_and_lanes(name: str) -> None:
    unit = unit_of(PRODUCTS[name])
    (block,) = nests(choose_cpu(unit))
    assert block.is_apart
    assert (block.simd, block.order[-2:]) == ("j", ("i", "j"))
    assert len(block.tiles) == 2


@pytest.mark.parametrize("name", TOGETHER)
def test_other_nests_stay_together(name: str) -> None:
    assert all(not block.is_apart for block in nests(choose_cpu(unit_of(TOGETHER[name]))))


@pytest.mark.parametrize("name", RUNS)
def test_every_point_of_a_product_is_legal(name: str) -> None:
    analysis = analyse(source_of(text(PRODUCTS[name])).regions[0])
    groups = cpu_groups(analysis)
    space = CpuSpace(analysis)
    points = list(space.points(12))
    assert len(points) == 12
    for point in points:
        planned(analysis, space.choices(point), groups)


def test_the_nests_of_a_product(golden: Golden) -> None:
    analysis = analyse(source_of(text(PRODUCTS["a scalar that waits"])).regions[0])
    (unit,) = cpu_units(analysis)
    made = planned(analysis, [choose_cpu(unit)], cpu_groups(analysis))
    assert made.general is not None
    golden.check("decide/apart.nest", text_of(made.general.scheduled()))


@needs_gcc
@pytest.mark.parametrize("name", RUNS)
def test_products_equal_the_original(name: str, tmp_path: Path) -> None:
    source = source_of(text(PRODUCTS[name]))
    analysis = analyse(source.regions[0])
    target = OpenMpTarget()
    found = variants(target, analysis, 1)
    codes = {str(v.config): target.region(v, False) for v in found}
    sizes = ({"n": 256}, {"n": 1}, {"n": 19})
    trials = checked(source, analysis, "openmp", codes, sizes, tmp_path)
    assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


def test_a_block_with_nothing_around_it_is_not_taken_apart() -> None:
    # Both i and l sum up, and C fixes how often ii runs: the array would stand outside all loops.
    text = (
        "void f(int m, int n, double c[restrict 4], double b[restrict n][4],\n"
        "       const double d[restrict n], double s)\n{\n"
        "  /*@ begin PerfTuning ( def input_params { param m = 9; param n = 6; } ) @*/\n"
        "  for (int i = 0; i < n; i++)\n    for (int ii = 0; ii < 3; ii++) {\n"
        "      for (int l = 0; l < m; l++) c[ii] += s + i;\n"
        "      double t = ii + d[i];\n      b[i][ii] -= t;\n    }\n  /*@ end @*/\n}\n"
    )
    found = variants(OpenMpTarget(), analyse(source_of(text).regions[0]), 50)
    assert found
    assert not any(block.is_apart for one in found for c in one.tuned.choices for block in nests(c))
