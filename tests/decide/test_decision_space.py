"""The space: counted as it is listed, legal as brute force says, right at random points."""

from __future__ import annotations

import random
from itertools import product
from math import prod

import pytest
from recipes import Decided, decided, decided_example, decided_text, example, random_point
from support.interpreter import assert_same, plan_body
from support.laws import few

TRIPLES = {"h3u": 3, "h2u": 2, "h1u": 2, "p6u": 2, "p5u": 3, "p4u": 2, "h7u": 4}
POINTS = few(200)


def small(text: str) -> Decided:
    return decided_text(text)


GEMM = """
void f(double *restrict c, const double *restrict a, const double *restrict b) {
  /*@ begin PerfTuning () @*/
  for (int i = 0; i < 48; i++) for (int j = 0; j < 40; j++) for (int k = 0; k < 6; k++)
    c[i*40+j] += a[i*6+k] * b[k*40+j];
  /*@ end @*/
}
"""


def padded(loops: tuple[str, ...]) -> tuple[str, str]:
    return (*loops, "", "")[:2]  # type: ignore[return-value]


def test_what_is_listed_is_what_is_counted() -> None:
    for one in (small(GEMM), decided_example("gemm/gemm.c")):
        points = list(one.space.points())
        assert len(points) == one.space.legal
        seen = {(p.fusion, tuple(p.picked.items())) for p in points}
        assert len(seen) == len(points)


def test_legal_roles_are_those_that_a_filter_of_all_leaves() -> None:
    one = small(GEMM)
    ((_, (unit,)),) = one.space.branches
    every = [
        (x, y, bx, by)
        for x, y, bx, by in product(("i", "j"), *[("", "i", "j")] * 3)
        if len([n for n in (x, y, bx, by) if n]) == len({n for n in (x, y, bx, by) if n})
        and (bx or not by)
        # 48 x 40 threads are too many for a block: the rules cut both loops.
    ]
    listed = {(*padded(r.threads), *padded(r.blocks)) for r in unit.mapped}
    assert listed == set(every)
    assert one.space.size == 2 * 3**3 * 4
    assert one.space.legal == len(every) * 4


def test_the_thesis_counts() -> None:
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1")
    assert one.space.size == 6 * 7**3 * 5
    assert one.space.legal == len(list(one.space.points()))
    first = one.space.first
    (axes,) = first.picked.values()
    assert (axes.threads, axes.blocks) == (("h3", "h1"), ("h2", "p6"))


def test_a_space_too_large_to_list_is_counted() -> None:
    one = decided_example("nekbone/local_grad3.c")
    branches = [prod(unit.legal for unit in units) for _, units in one.space.branches]
    assert one.space.legal == sum(branches) > 10**6


def check_points(one: Decided, seed: int, count: int, others: tuple[dict[str, int], ...]) -> None:
    source = random.Random(seed)
    for number in range(count):
        at = one.at(random_point(one.space, source))
        assert_same(plan_body(at.plan()), one.region, None, one.analysis.private, at.recipe)
        if others and one.analysis.all_sizes:
            sizes = others[number % len(others)]
            assert_same(plan_body(at.plan({})), one.region, sizes, one.analysis.private, at.recipe)


def test_random_points_of_the_triples() -> None:
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", sizes=TRIPLES)
    check_points(one, 1, POINTS, ({"h7u": 5, "h3u": 1}, {"p6u": 3, "h7u": 1}))


@pytest.mark.slow
def test_random_points_of_the_gradient() -> None:
    region = example("nekbone/local_grad3.c", defines={"lx": "4", "nelt": "2"})
    check_points(decided(region), 2, POINTS, ())


def test_random_points_of_a_matrix_product() -> None:
    one = decided_example("gemm/gemm.c", sizes={"m": 70, "n": 3, "k": 6})
    check_points(one, 3, 12, ({"m": 5, "n": 2, "k": 7},))


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", ["sd_t_d1_4", "sd_t_d1_7", "sd_t_d1_9"])
def test_random_points_of_other_triples(name: str) -> None:
    one = decided_example("nwchem/sd_t_d1.c", name, sizes=TRIPLES)
    check_points(one, 4, 10, ({"h7u": 3},))


ROWS = """
void f(int n, int m, double y[restrict n], double A[restrict n][m], double x[restrict m])
{
  /*@ begin PerfTuning (def input_params { param n = 3000; param m = 500; }) @*/
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];
  /*@ end @*/
}
"""


def test_a_block_for_each_row_is_a_point_and_the_first() -> None:
    one = decided_text(ROWS)
    ((_, (unit,)),) = one.space.branches
    (team,) = [axes for axes in unit.mapped if axes.team]
    assert (team.shared, team.blocks) == (("j",), ("i",))
    assert unit.mapped[0] == team
    assert [(r.threads, r.blocks) for r in unit.mapped[1:]] == [(("i",), ())]
    points = list(one.space.points())
    assert len(points) == one.space.legal == 1 + len(unit.factors)
    # Columns are read along the parallel loop already.
    columns = decided_text(
        ROWS.replace("A[restrict n][m]", "A[restrict m][n]").replace("A[i][j]", "A[j][i]")
    )
    ((_, (unit,)),) = columns.space.branches
    assert not any(roles.team for roles in unit.mapped)


def test_every_way_to_spread_a_sum() -> None:
    text = ROWS.replace("y[i]", "y[0]").replace("n = 3000", "n = 70")
    one = decided_text(text)
    ((_, (unit,)),) = one.space.branches
    listed = {(r.threads, r.blocks) for r in unit.mapped}
    some = {"": (), "i": ("i",), "j": ("j",)}
    ways = {((x,), some[block]) for x in "ij" for block in some if block != x}
    assert listed == {*ways, (("i",), ("i_t",)), (("j",), ("j_t",))}
    # Rows are neighbours in memory; 70 of them are enough blocks.
    assert (unit.mapped[0].threads, unit.mapped[0].blocks) == (("j",), ("i",))
