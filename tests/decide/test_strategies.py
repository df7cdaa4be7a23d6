"""Strategies for nests that are no contraction: where they apply, what they choose, and runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from decide.recipes import Decided, decided, decided_text
from support.executed import Call, Part, executable
from support.interpreter import assert_same, plan_body
from support.regions import regions_of

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.ir.nest import Assign, LocalArray, walk_stmts
from annotune.model.shape import Traffic, traffic
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import Plan
from annotune.schedule.units import Unit
from annotune.space.decision import Point
from annotune.space.recipe import config
from annotune.strategies.pointwise import elementwise, stencil
from annotune.strategies.reduction import reduction
from annotune.strategies.registry import AUTO, DIRECT, made
from annotune.transforms.stage import Stage

KERNELS = Path(__file__).parents[1] / "kernels"


def nest(statement: str, loops: str = "ij", n: int = 2000, bounds: str = "1 n-1") -> str:
    """Return a text with one statement under loops over matrices or cubes."""
    first, last = bounds.split()
    fors = "".join(f"for (int {x} = {first}; {x} < {last}; {x}++) " for x in loops)
    cube = "[n][n]" if len(loops) > 2 else "[n]"
    return (
        f"void f(int n, double A[restrict n]{cube}, const double B[restrict n]{cube},\n"
        "       double *restrict v, const double *restrict w, const int *restrict q)\n{\n"
        f"/*@ begin PerfTuning ( def input_params {{ param n = {n}; }} ) @*/\n"
        f"{fors}{statement}\n/*@ end @*/\n}}\n"
    )


FIVE = "A[i][j] = B[i][j] + B[i][j-1] + B[i][j+1] + B[i-1][j] + B[i+1][j];"
SEVEN = (
    "A[i][j][k] = B[i][j][k] + B[i][j][k-1] + B[i][j][k+1] + B[i][j-1][k] + B[i][j+1][k]"
    " + B[i-1][j][k] + B[i+1][j][k];"
)
ACROSS = "A[i][j] = 2.0 * B[j][i];"


def choices_of(text: str, strategy: str) -> tuple[Candidate, ...]:
    """Return what a strategy makes of the only kernel of a text."""
    (unit,) = decided_text(text).base.apart
    return made(unit, strategy).first


@pytest.mark.parametrize(
    ("strategy", "statement", "why"),
    [
        (stencil, "A[i][j] = B[i][j];", "no array is read at several places around one"),
        (stencil, "A[i][j] = A[i][j-1] + 1.0;", "not every loop of the nest is parallel"),
        (stencil, "A[i][j] = B[i][q[j]];", "no array is read at several places around one"),
        (elementwise, FIVE, "an array is read at several places around one"),
        (elementwise, "A[i][0] += B[i][j];", "not every loop of the nest is parallel"),
        (elementwise, "A[2*j][2*i] = B[2*j][0];", "no loop is contiguous in an array"),
        (reduction, "A[i][j] = B[i][j];", "no loop is a reduction whose terms"),
        (reduction, "v[j] += B[i][j] * w[i];", "neighbouring outputs read neighbours"),
    ],
)
def test_the_reason_for_which_one_does_not_apply(
    strategy: Callable[[Unit], object], statement: str, why: str
) -> None:
    (unit,) = decided_text(nest(statement)).base.apart
    found = strategy(unit)
    assert isinstance(found, str), found
    assert found.startswith(why)


def test_a_name_that_tiles_need_and_loops_that_depend_on_each_other() -> None:
    text = nest("A[i][j] = B[i][j];").replace("double *restrict v", "double *restrict j_t")
    text = text.replace("= B[i][j]", "= B[i][j] * j_t[0]")
    (unit,) = decided_text(text).base.apart
    assert elementwise(unit) == "the region uses the name j_t"
    found = [elementwise(u) for u in kernel("solvers", "lu_right_looking").base.apart]
    assert found == ["the bounds of a loop use another loop"] * 2
    (unit,) = decided_text(nest("A[i][j] = B[i][j];").replace("j++", "j += 2")).base.apart
    assert elementwise(unit) == "a loop has a step"


def first(text: str, strategy: str = AUTO) -> Candidate:
    (choice,) = decided_text(text, strategy).decision.choices
    return choice


def test_tiles_of_a_stencil_come_first_where_they_fetch_less() -> None:
    choice = first(nest(FIVE))
    assert (choice.tiles, choice.threads) == ((("j", 32), ("i", 8)), ("j", "i"))
    assert str(choice.reasons[0]) == "strategy: stencil (reads around a point of B)"
    # Twelve by twelve points are few blocks: one each for the rows keeps more of a device busy.
    small = first(nest(FIVE, n=14))
    assert (small.blocks, small.threads) == (("i",), ("j",))
    assert any("stencil comes later: " in str(reason) for reason in small.reasons)


def test_planes_of_a_cube() -> None:
    found = choices_of(nest(SEVEN, "ijk", 200), "stencil")
    assert found[0].blocks == ("k_t", "j_t", "i_t")
    assert found[0].tiles == (("k", 64), ("j", 4), ("i", 6))
    assert found[0].general is not None
    assert found[0].general.blocks == ("k_t", "j_t", "i")
    # 197 planes come out even in no number of them.
    (odd, *_) = choices_of(nest(SEVEN, "ijk", 199), "stencil")
    assert odd.blocks == ("k_t", "j_t", "i")
    marching = [c for c in found if ("i", 8) in c.tiles and c.of(Stage)]
    assert [c.threads for c in marching] == [("k", "j")] * 2
    (kernel,) = plan_at(nest(SEVEN, "ijk", 200), marching[0]).kernels()
    (tile,) = (s for s in walk_stmts(kernel.body) if isinstance(s, LocalArray))
    # One plane of 8 by 32 points with one more on each side; its neighbours are in the cache.
    assert tile.extents == (34 * 10,)


def test_threads_at_the_end_of_a_row_test_whether_they_have_a_point() -> None:
    text = nest(SEVEN, "ijk", 203)
    (choice, *_) = choices_of(text, "stencil")
    (kernel,) = plan_at(text, choice).kernels()
    (assign,) = (s for s in walk_stmts(kernel.body) if isinstance(s, Assign))
    assert assign.guard is not None


def test_rows_fill_the_block_of_a_short_loop() -> None:
    text = nest("A[i][j] = B[i][j];", n=20000).replace("j < n-1", "j < 13")
    choice = first(text)
    assert choice.tiles == (("j", 12), ("i", 21))
    assert "thread.y: i by 21 (fills the block)" in map(str, choice.reasons)
    assert not first(text, DIRECT).tiles


def test_a_transposed_input_goes_through_a_padded_tile() -> None:
    choice = first(nest(ACROSS))
    assert choice.tiles == (("j", 16), ("i", 16))
    (copy,) = choice.of(Stage)
    assert (copy.array, copy.padding) == ("B", 1)
    one = decided_text(nest(ACROSS), AUTO)
    assert 'stage(0, "B", padding=1)' in one.recipe()


def test_a_condition_keeps_an_input_in_memory() -> None:
    found = choices_of(nest("if (w[i] > 0.0) A[i][j] = B[j][i];"), "elementwise")
    assert found
    assert not any(choice.of(Stage) for choice in found)


def test_hints_of_a_transformation_come_before_a_strategy() -> None:
    text = nest(ACROSS).replace(
        ") @*/\nfor", ") @*/\n/*@ begin Loop ( transform CUDA(threadCount=64)\n) @*/\nfor"
    )
    text = text.replace("/*@ end @*/", "/*@ end @*/\n/*@ end @*/")
    choice = first(text)
    assert not choice.of(Stage)
    assert any("hints for the launch" in str(reason) for reason in choice.reasons)


def test_sums_that_threads_share() -> None:
    text = nest("v[i] += B[i][j] * w[j];")
    choice = first(text)
    assert choice.team == ((0, "j"),)
    assert str(choice.reasons[0]).startswith("strategy: reduction (every input runs along j")
    assert choice.team == first(text, DIRECT).team
    few = nest("v[j] += B[i][j] * w[i];", n=900)
    assert any("reduction" in str(reason) for reason in first(few).reasons)


def test_traffic_is_less_only_where_nothing_that_matters_is_worse() -> None:
    base = Traffic(100, 100, 300, 200)
    assert Traffic(99, 100, 300, 200).is_less(base)
    assert Traffic(100, 90, 300, 64).is_less(base)
    assert Traffic(100, 100, 200, 64).is_less(base)
    assert not Traffic(100, 100, 300, 200).is_less(base)
    assert not Traffic(50, 101, 300, 200).is_less(base)
    assert not Traffic(50, 50, 50, 63).is_less(base)


def test_traffic_of_rows_counted_by_hand() -> None:
    (unit,) = decided_text(nest("A[i][j] = B[i][j];", n=1026)).base.apart
    found = traffic(unit, Candidate.of_axes(unit.parts, blocks=("i",), threads=("j",)))
    # 1024 doubles are 256 sectors, and one more where a row begins inside a sector.
    assert found.fetched == 2 * 1024 * 257
    assert found.requested == 2 * 1024 * 32 * 8


# Every point of a strategy is right -------------------------------------------------------------


def plan_at(text: str, choice: Candidate) -> Plan:
    one = decided_text(text)
    return one.at(Point(picked={choice.leader: choice})).plan()


ROUND_TRIPS = [
    ("stencil", nest(FIVE)),
    ("stencil", nest(SEVEN, "ijk", 200)),
    ("elementwise", nest(ACROSS)),
    ("elementwise", nest("A[i][j] = 2.0 * B[i][j];")),
    ("elementwise", nest("v[i] = 2.0 * w[i];", "i", 100000)),
]


@pytest.mark.alike(3)
@pytest.mark.parametrize(("strategy", "text"), ROUND_TRIPS)
def test_the_recipe_of_a_point_asks_for_the_same_plan(strategy: str, text: str) -> None:
    one = decided_text(text)
    found = choices_of(text, strategy)
    assert len(found) > 3
    for choice in found[::2]:
        own = one.at(Point(picked={0: choice}))
        again = decided_text(with_recipe(text, own.recipe()), AUTO)
        assert again.plan().steps == own.plan().steps
        assert again.recipe() == own.recipe()


def test_no_two_points_have_the_same_settings() -> None:
    text = nest(SEVEN, "ijk", 200)
    one = decided_text(text)
    points = [Point(picked={0: choice}) for choice in choices_of(text, "stencil")]
    found = [config(one.at(point).decision, point) for point in points]
    assert all(found.count(settings) == 1 for settings in found)
    assert {"S0.tile_k": 32, "S0.tile_j": 8, "S0.tile_i": 16}.items() <= found[-3].items()
    assert next(one for one in found if "S0.stage" in one)["S0.stage"] == "B"


def with_recipe(text: str, recipe: str) -> str:
    text = text.replace("@*/\nfor", f"@*/\n/*@ begin CHiLL (\n{recipe}) @*/\nfor")
    return text.replace("/*@ end @*/", "/*@ end @*/\n/*@ end @*/")


@cache
def kernel(file: str, function: str) -> Decided:
    regions = {r.function: r for r in regions_of(KERNELS / f"{file}.c")}
    return decided(regions[function])


POINTS = [
    ("stencils", "jacobi_1d", "stencil"),
    ("stencils", "jacobi_2d", "stencil"),
    ("stencils", "fdtd_2d", "stencil"),
    ("stencils", "fdtd_2d", "elementwise"),
    ("stencils", "heat_3d", "stencil"),
    ("blas", "gemver", "elementwise"),
    ("blas", "gemver", "reduction"),
    ("blas", "atax", "reduction"),
    ("blas", "mvt", "reduction"),
    ("datamining", "correlation", "reduction"),
    ("datamining", "correlation", "elementwise"),
]
# Many points, and the largest.
LONG = {"heat_3d", "fdtd_2d", "correlation"}


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("file", "function", "strategy"),
    [pytest.param(*p, marks=(pytest.mark.slow,) if p[1] in LONG else ()) for p in POINTS],
)
def test_every_point_does_the_same_and_has_a_certificate(
    file: str, function: str, strategy: str
) -> None:
    one = kernel(file, function)
    found = {unit.leader: made(unit, strategy).first for unit in one.base.apart}
    assert any(found.values())
    for turn in range(max(map(len, found.values()))):
        picked = {s: c[turn % len(c)] for s, c in found.items() if c}
        plan = one.at(Point(fusion="apart", picked=picked)).plan()
        assert_same(plan_body(plan), one.region, private=one.analysis.homes)
        assert verify(certify(one.analysis, plan)) == ()


RUNS = {
    "stencil": (FIVE, "ij"),
    "elementwise": (ACROSS, "ij"),
}


@pytest.mark.alike(2)
@pytest.mark.parametrize("strategy", RUNS)
def test_generated_text_is_right_at_every_size(strategy: str, tmp_path: Path) -> None:
    statement, loops = RUNS[strategy]
    text = nest(statement, loops, n=50)
    if strategy == "stencil":
        staged = next(c for c in choices_of(text, strategy) if c.of(Stage))
        text = with_recipe(text, decided_text(text).at(Point(picked={0: staged})).recipe())
    program = executable(tmp_path, text, strategy=strategy)
    assert "__shared__ double B_tile" in program.cuda
    matrices = (Part(0), Part(1), Part(2), Part(3), Part(4))
    program.check(
        *(Call("f", (n, *matrices), (n * n, n * n, n, n, n)) for n in (50, 2, 3, 35, 66)),
    )
