"""The `elements` strategy: when it applies, what it makes, and that it is right at every size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from recipes import decided, pasted
from support.executed import Call, Part, emitted, executable
from support.regions import EXAMPLES, text_regions

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.normalised import normalised
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Access, Binary, Expr, Int, Var
from annotune.ir.nest import LocalArray, Loop, map_assigns
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import Kernel
from annotune.space.decision import Base
from annotune.space.variants import planned
from annotune.strategies.elements import elements
from annotune.strategies.registry import AUTO
from annotune.transforms.cache import Aligned, AnySize, Resident
from annotune.transforms.spread import Batch, Bring, Bulk, ShareArray, Spread
from annotune.transforms.unroll import Unroll

NESTS = """\
void f(int m, int n, double *restrict u, const double *restrict v, double x)
{
    double s[n * n];
    /*@ begin PerfTuning ( def input_params { param m = 6; param n = 9; } ) @*/
    for (int e = 0; e < m; e++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                s[i * n + j] = v[(e * n + i) * n + j] + x;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                u[(e * n + i) * n + j] = s[j * n + i] * x;
    }
    /*@ end @*/
}
"""
OWN = """\
void f(int m, double u[restrict m][9][9], const double v[restrict m][9][9])
{
    /*@ begin PerfTuning ( def input_params { param m = 6; } ) @*/
    for (int e = 0; e < m; e++) {
        double s[9][9];
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                s[i][j] = v[e][i][j] + v[e][0][0];
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                u[e][i][j] = s[j][i] + s[i][j];
    }
    /*@ end @*/
}
"""
OPERATOR = OWN.replace("[9][9])\n", "[9][9], const double b[restrict 9][9])\n")
OPERATOR = OPERATOR.replace("s[j][i] +", "b[i][j] * s[j][i] +").replace("v[e][0][0]", "b[j][i]")
# Three dimensions: threads have a plane, and each of them the points along the third.
CUBES = """\
void f(int m, int n, double u[restrict m][n][n][n], const double v[restrict m][n][n][n],
       const double b[restrict n][n])
{
    double s[n][n][n];
    /*@ begin PerfTuning ( def input_params { param m = 5; param n = 6; } ) @*/
    for (int e = 0; e < m; e++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++) {
                    double sum = 0.0, other = 0.0;
                    for (int l = 0; l < n; l++) {
                        sum += b[k][l] * v[e][i][j][l];
                        other += b[i][l] * v[e][l][j][k];
                    }
                    s[i][j][k] = sum - other;
                }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++) {
                    double sum = 0.0;
                    for (int l = 0; l < n; l++)
                        sum += b[l][j] * s[i][l][k];
                    u[e][i][j][k] = sum;
                }
    }
    /*@ end @*/
}
"""
SIZE = 9
# 100 iterations leave 28 lanes of four warps idle, and twice as many 24 of seven.
ROWS = NESTS.replace("m = 6; param n = 9", "m = 5; param n = 10")


def found(text: str) -> tuple[Candidate, ...] | str:
    """Return what the strategy makes of the first kernel of a text."""
    (region,) = text_regions(text)
    unit, *_ = Base.of(analyse(normalised(region))).apart
    return elements(unit)


def test_what_a_block_has() -> None:
    choices = found(NESTS)
    assert not isinstance(choices, str)
    first, *others = choices
    assert first.blocks == ("e",)
    assert [step.array for step in first.of(ShareArray)] == ["s_own"]
    assert [(s.loops, s.threads) for s in first.of(Spread)][:2] == [(("i", "j"), 0)] * 2
    # 81 iterations fill three warps, and twice as many six.
    assert {step.threads for one in others for step in one.of(Spread)} == {0, 32, 64}
    assert [step.size for one in choices for step in one.of(Batch)] == [2]
    assert first.general is not None
    assert not first.general.of(Spread)


def test_several_elements_of_a_block_leave_fewer_lanes_idle() -> None:
    choices = found(ROWS)
    assert not isinstance(choices, str)
    assert [[step.size for step in one.of(Batch)] for one in choices] == [[2], [], [], []]
    assert "2 elements for each block" in {reason.rule for reason in choices[0].reasons}
    # The operators of all elements may be in the block's memory, too.
    (region, _) = text_regions((EXAMPLES / "fem/mass_action.c").read_text())
    unit, *_ = Base.of(analyse(normalised(region))).apart
    small = elements(unit)
    assert not isinstance(small, str)
    assert [step.size for one in small for step in one.of(Batch)] == [4, 2, 4]
    assert [[step.array for step in one.of(Bring)] for one in small] == [[], [], [], [], ["B"]]


@pytest.mark.parametrize("m", [5, 6, 1])
def test_the_rows_of_a_block_are_proven(m: int) -> None:
    (region,) = text_regions(ROWS.replace("m = 5", f"m = {m}"))
    one = decided(normalised(region), AUTO)
    assert one.decision.choices[0].of(Batch)
    assert verify(certify(one.analysis, one.plan())) == ()


def test_rows_that_share_an_array_are_refuted() -> None:
    (region,) = text_regions(ROWS)
    one = decided(normalised(region), AUTO)
    plan = one.plan()
    (kernel,) = plan.steps
    assert isinstance(kernel, Kernel)
    (tile,) = (s for s in kernel.scheduled if isinstance(s, Loop))
    array, *rows = tile.body
    assert isinstance(array, LocalArray)
    e, e_t = Var("e"), Var("e_t")

    def first(expr: Expr) -> Expr | None:
        if isinstance(expr, Access) and expr.array == array.name:
            assert expr.indices[0] == Binary("-", e, e_t)
            return Access(expr.array, (Int(0), *expr.indices[1:]))
        return None

    wrong = map_assigns(tuple(rows), lambda assign: assign.rewritten(first))
    body = (replace(tile, body=(array, *wrong)),)
    broken = replace(plan, steps=(replace(kernel, scheduled=body),))
    assert verify(certify(one.analysis, broken)) != ()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("s[9][9]", "s[7][9]", "the 504 bytes of an iteration's arrays fit a thread's registers"),
        ("s[9][9]", "s[99][99]", "the 78408 bytes of an iteration's arrays are too many"),
        ("s[j][i] + s", "s[j][i] * u[e][i][j] + s", ""),
        (
            "u[e][i][j] = s[j][i] + s[i][j];",
            "u[e][0][0] = u[e][0][0] * 0.5 + s[i][j];",
            "no loop of the nest of i inside an iteration can be threads",
        ),
        ("u[e][i][j] = s[j][i] + s[i][j];", "if (i > j) u[e][i][j] = s[j][i];", ""),
        (
            "u[e][i][j] = s[j][i] + s[i][j];",
            "u[e][i][j] = s[j][i];\n        s[0][0] = v[e][1][1];\n        u[e][0][0] = s[0][0];",
            "a statement of an iteration stands in no nest inside it",
        ),
        ("double s[9][9];", "double t;", "no array of an iteration joins nests inside it"),
    ],
)
def test_when_it_applies(old: str, new: str, why: str) -> None:
    assert old in OWN
    text = OWN.replace(old, new)
    if "double t;" in text:
        text = text.replace("s[i][j] = ", "u[e][i][j] = ").replace("s[j][i] + s[i][j]", "1.0")
    choices = found(text)
    if why:
        assert isinstance(choices, str)
        assert why in choices
    else:
        assert not isinstance(choices, str), choices


@pytest.mark.alike(3)
@pytest.mark.parametrize("path", ["fem/mass_action.c", "fem/interpolation.c", "nekbone/ax.c"])
def test_the_operators_of_elements_have_it_first(path: str) -> None:
    text = (EXAMPLES / path).read_text()
    for region in text_regions(text):
        (first,) = decided(normalised(region), AUTO).decision.choices
        assert first.origin == "elements"


@pytest.mark.alike(2)
@pytest.mark.parametrize("text", [NESTS, ROWS], ids=["an element a block", "several"])
def test_the_text_is_right_at_the_tuned_sizes_and_at_others(text: str, tmp_path: Path) -> None:
    program = executable(tmp_path, text)
    own = (6, SIZE) if text is NESTS else (5, SIZE + 1)
    for elements_, n in (own, (1, SIZE), (0, SIZE), (7, SIZE - 1), (3, 1), (2, SIZE + 2)):
        size = max(1, elements_ * n * n)
        program.check(Call("f", (elements_, n, Part(0), Part(1), 2.0), (size, size)))


def test_a_block_for_an_element_serves_any_number_of_them() -> None:
    (region,) = text_regions(NESTS)
    one = decided(normalised(region), AUTO)
    (first,) = one.decision.choices
    assert [step.size for step in first.of(AnySize)] == ["m"]
    assert dict(one.plan().constants) == {"n": SIZE}
    # Where C fixes what is inside, there is one plan for all calls.
    (region,) = text_regions(OWN)
    one = decided(normalised(region), AUTO)
    variant = planned(one.analysis, one.decision.choices, one.decision.groups)
    assert (dict(variant.tuned.constants), variant.general) == ({}, None)
    assert not variant.is_for_tuned_alone


def test_the_text_says_that_any_number_will_do(tmp_path: Path) -> None:
    text = emitted(tmp_path, OWN).files[".cu"]
    assert "; for any m. */" in text
    # One kernel, which no test of sizes comes before.
    assert text.count("__global__") == 1


def test_a_number_that_is_inside_too_stays_fixed() -> None:
    text = OWN.replace(
        "i < 9; i++)\n            for (int j = 0; j < 9; j++)\n                u",
        "i < m + 3; i++)\n            for (int j = 0; j < 9; j++)\n                u",
    )
    choices = found(text)
    assert not isinstance(choices, str)
    assert choices[0].of(AnySize) == ()


@pytest.mark.parametrize("text", [NESTS, OWN, ROWS])
def test_the_pasted_recipe_asks_for_the_same(text: str) -> None:
    (region,) = text_regions(text)
    one = decided(normalised(region), AUTO)
    (again,) = text_regions(pasted(text, region, one.recipe()))
    other = decided(normalised(again), AUTO)
    assert other.plan().steps == one.plan().steps
    (own,), (its,) = one.decision.choices, other.decision.choices
    assert own.general is not None
    assert its.general is not None
    assert its.general.steps == own.general.steps


@pytest.mark.alike(2)
@pytest.mark.parametrize("m", [5, 6])
def test_with_an_operator_it_is_right_and_proven(m: int, tmp_path: Path) -> None:
    text = OPERATOR.replace("m = 6", f"m = {m}")
    (region,) = text_regions(text)
    one = decided(normalised(region), AUTO)
    recipe = f'{one.recipe()}bring(0, "b")\n'
    asked = pasted(text, region, recipe)
    (again,) = text_regions(asked)
    other = decided(normalised(again), AUTO)
    assert [step.array for step in other.decision.choices[0].of(Bring)] == ["b"]
    assert verify(certify(other.analysis, other.plan())) == ()
    program = executable(tmp_path, asked)
    for count in (m, 1, 0, 7):
        size = max(1, count * 81)
        program.check(Call("f", (count, Part(0), Part(1), Part(2)), (size, size, 81)))


def test_a_thread_has_a_strip_of_points() -> None:
    choices = found(CUBES)
    assert not isinstance(choices, str)
    first, *others = choices
    assert [step.loops for step in first.of(Spread)] == [("j", "k"), ("j", "k")]
    assert [step.array for step in first.of(Bring)] == ["b", "v"]
    # 36 threads leave 28 lanes of two warps idle, and two rows of them 24 of three.
    whole = [one for one in choices if len(one.of(Bring)) > 1 and not one.of(Bulk)]
    assert [[step.size for step in one.of(Batch)] for one in whole] == [[2], [], [4]]
    # What is an element's own the device may copy; rows of two are not whole where one is left.
    bulk = [one for one in choices if one.of(Bulk)]
    assert [[step.array for step in one.of(Bulk)] for one in bulk] == [["v"]]
    # 12 doubles need no more registers than the compiler takes by itself, and 30 do.
    assert first.of(Resident) == ()
    (region,) = text_regions((EXAMPLES / "nekbone/ax.c").read_text())
    (ax,) = decided(normalised(region), AUTO).decision.choices
    assert [step.blocks for step in ax.of(Resident)] == [4]
    assert [(s.loop, s.factor) for s in ax.of(Unroll)][-1] == ("k", 2)
    plain = [one for one in others if not one.of(Bulk)]
    assert [step.loops for step in plain[-1].of(Spread)] == [("i", "j", "k")] * 2
    # All terms of the sums are written out, so that what the strip does not move stays.
    assert {(step.loop, step.factor) for step in first.of(Unroll)} == {("l", 6)}
    assert len(first.of(Unroll)) == 2


@pytest.mark.slow
def test_neighbours_of_a_point_come_at_once(tmp_path: Path) -> None:
    text = CUBES.replace("v[restrict m][n][n][n]", "v[restrict m][n][n][n][2]")
    text = text.replace("v[e][i][j][l]", "v[e][i][j][l][0]").replace(
        "sum - other", "sum * v[e][i][j][k][0] - other * v[e][i][j][k][1]"
    )
    text = text.replace("v[e][l][j][k]", "v[e][l][j][k][1]")
    choices = found(text)
    assert not isinstance(choices, str)
    # Where they are not in the block's memory, the compiler is told that they are aligned.
    told = [one for one in choices if one.of(Aligned)]
    assert {(one.array, len(c.of(Bring))) for c in told for one in c.of(Aligned)} == {
        ("v", 0),
        ("v", 1),
    }
    # Then two points at a time are a choice, too.
    assert any(step.loop == "i" for one in told for step in one.of(Unroll))
    (region,) = text_regions(text)
    recipe = decided(normalised(region), AUTO).recipe().replace('bring(0, "v")', 'aligned(0, "v")')
    asked = pasted(text, region, recipe + 'unroll(0, "i", 2)\n')
    assert "__builtin_assume((size_t)v % 16 == 0);" in emitted(tmp_path, asked).files[".cu"]
    (again,) = text_regions(asked)
    other = decided(normalised(again), AUTO)
    assert verify(certify(other.analysis, other.plan())) == ()
    program = executable(tmp_path, asked)
    for count, n in ((5, 6), (1, 6), (2, 3)):
        size = count * n**3
        program.check(Call("f", (count, n, Part(0), Part(1), Part(2)), (size, 2 * size, n**2)))


@pytest.mark.slow
def test_copies_beyond_what_a_block_has_by_itself(tmp_path: Path) -> None:
    # Three arrays of 13,824 bytes and one as long to copy.
    text = (EXAMPLES / "nekbone/ax.c").read_text().replace("param n = 10", "param n = 12")
    files = emitted(tmp_path, text).files
    # What threads write stays where nvcc tells it from the copies.
    assert "__shared__ double ut_own[12][12][12];" in files[".cu"]
    assert "double *const u_tile = (double *)annotune_shared;" in files[".cu"]
    assert "cudaFuncAttributeMaxDynamicSharedMemorySize" in files[".cu"]
    program = executable(tmp_path, text)
    for count, n in ((2, 12), (1, 3)):
        size = count * n**3
        arrays = (Part(0), Part(1), Part(2), Part(3))
        program.check(Call("ax", (n, count, *arrays), (size, size, 6 * size, n**2)))


@pytest.mark.slow
@pytest.mark.alike(2)
@pytest.mark.parametrize("n", [6, 5])
def test_strips_are_right_and_proven(n: int, tmp_path: Path) -> None:
    text = CUBES.replace("n = 6", f"n = {n}")
    (region,) = text_regions(text)
    one = decided(normalised(region), AUTO)
    assert one.decision.choices[0].of(Bring)
    assert verify(certify(one.analysis, one.plan())) == ()
    (again,) = text_regions(pasted(text, region, one.recipe()))
    assert decided(normalised(again), AUTO).plan().steps == one.plan().steps
    program = executable(tmp_path, text)
    for count, own in ((5, n), (1, n), (0, n), (8, n), (2, 1), (3, n + 1)):
        size = max(1, count * own**3)
        program.check(Call("f", (count, own, Part(0), Part(1), Part(2)), (size, size, own**2)))


def test_nothing_else_is_asked_beside_it() -> None:
    recipe = 'cuda(0, block={"e"})\nshare(0, "s")\nspread(0, ("i","j"))\ntile(0, "i", 4)\n'
    (region,) = text_regions(OWN)
    (again,) = text_regions(pasted(OWN, region, recipe))
    with pytest.raises(AnnotuneError) as raised:
        decided(normalised(again), AUTO)
    assert [one.code for one in raised.value.diagnostics] == ["AT337"]


def interpolation(d: int, q: int) -> str:
    """Return the example tuned for `d` points a side to `q`, of any number of elements."""
    text = (EXAMPLES / "fem/interpolation.c").read_text()
    old = "param d = 8; param q = 8;"
    assert old in text
    return text.replace(old, f"param d = {d}; param q = {q};")


@pytest.mark.slow
def test_a_thread_has_pairs_of_points() -> None:
    choices = found(interpolation(8, 8))
    assert not isinstance(choices, str)
    first = choices[0]
    # Rows of U, columns of R, and rows of B, each once for both of them.
    assert [step.pair for step in first.of(Spread)] == ["k3", "k2", "k2"]
    assert [(s.loop, s.factor) for s in first.of(Unroll)][-3:] == [("k3", 2), ("k2", 2), ("k2", 2)]
    # One point at a time is a further one.
    assert any(not any(step.pair for step in one.of(Spread)) for one in choices)
    # An odd number of points has no pairs, and 18 threads would leave half of a warp idle.
    for text in (interpolation(9, 9), CUBES):
        choices = found(text)
        assert not isinstance(choices, str)
        assert not any(step.pair for one in choices for step in one.of(Spread))
    # What has far more to keep, or to load from far, keeps a point a thread.
    (region,) = text_regions((EXAMPLES / "nekbone/ax.c").read_text())
    (ax,) = decided(normalised(region), AUTO).decision.choices
    assert not any(step.pair for step in ax.of(Spread))


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("d", "q"), [(8, 12), (9, 9), *(pytest.param(n, n, marks=pytest.mark.slow) for n in (8, 10))]
)
def test_pairs_are_right_and_proven(d: int, q: int, tmp_path: Path) -> None:
    text = interpolation(d, q)
    (region,) = text_regions(text)
    one = decided(normalised(region), AUTO)
    assert any(step.pair for step in one.decision.choices[0].of(Spread)) == (d != 9)
    assert verify(certify(one.analysis, one.plan())) == ()
    (again,) = text_regions(pasted(text, region, one.recipe()))
    assert decided(normalised(again), AUTO).plan().steps == one.plan().steps
    program = executable(tmp_path, text)
    for count, own, its in ((5, d, q), (1, d, q), (0, d, q), (2, 1, 1), (3, 3, 4), (1, d, q + 1)):
        sizes = (max(1, count * its**3), its * own, max(1, count * own**3))
        program.check(Call("interpolate", (count, own, its, Part(0), Part(1), Part(2)), sizes))
