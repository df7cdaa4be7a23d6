"""The two-level tile of a contraction: when it applies, what it chooses, and that it is right."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from decide.recipes import decided, decided_example, decided_text, example
from hypothesis import given
from hypothesis import strategies as st
from support.executed import Call, Part, executable
from support.laws import in_turn

from annotune.ir.nest import Level, Loop, MemorySpace, walk_stmts
from annotune.schedule.candidate import ContractionTile
from annotune.strategies.copy_layout import copy_layout
from annotune.strategies.gpu_tile import has_surplus, usual_tiles
from annotune.strategies.registry import AUTO, DIRECT, STRATEGY_NAMES, Proposals, made
from annotune.transforms.stage import Stage

KERNELS = [(k, f"sd_t_d{k}_{number}") for k in (1, 2) for number in range(1, 10)]


def of_triples(k: int, function: str, n: int = 16) -> ContractionTile:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u" if k == 1 else "p7u")
    one = decided_example(f"nwchem/sd_t_d{k}.c", function, AUTO, sizes=dict.fromkeys(names, n))
    tile = one.decision.choices[0].contract
    assert tile is not None
    return tile


@pytest.mark.alike(6)
@pytest.mark.parametrize(("k", "function"), KERNELS)
def test_every_triples_kernel_has_a_tile(k: int, function: str) -> None:
    tile = of_triples(k, function)
    assert [size for _, size in tile.extents] == [16, 8, 8, 8, 16]
    assert tile.contracted[0] == ("h7" if k == 1 else "p7")


@pytest.mark.parametrize(("n", "sizes"), [(24, [16, 8, 8, 8, 24]), (28, [16, 10, 7, 7, 28])])
def test_larger_sizes_keep_whole_lines_and_even_outputs(n: int, sizes: list[int]) -> None:
    assert [size for _, size in of_triples(1, "sd_t_d1_1", n).extents] == sizes


@pytest.mark.parametrize(("n", "sizes"), [(10, [10, 10, 5, 5, 10]), (3, [3, 3, 3, 3, 3])])
def test_small_sizes_have_small_tiles(n: int, sizes: list[int]) -> None:
    if n == 3:
        one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=_all(n))
        reasons = [str(r) for r in one.decision.choices[0].reasons]
        assert reasons[0] == (
            "strategy: direct (two-level does not apply: a thread would have 9 outputs)"
        )
    else:
        assert [size for _, size in of_triples(1, "sd_t_d1_1", n).extents] == sizes


def _all(n: int) -> dict[str, int]:
    return dict.fromkeys(("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u"), n)


def test_the_recipe_asks_for_the_same_plan() -> None:
    region = example("nwchem/sd_t_d1.c", "sd_t_d1_1")
    one = decided(region, AUTO)
    assert one.recipe().startswith('contract(0, thread={"h3","p5"}, register={"h2","p4"}')
    pasted = decided_text(contraction(one.recipe()), AUTO)
    own = decided_text(contraction(""), AUTO)
    assert pasted.plan().steps == own.plan().steps
    assert pasted.recipe() == own.recipe() == one.recipe()


def contraction(recipe: str, statement: str = "", n: int = 16) -> str:
    """Return sd_t_d1_1 written with shaped arrays, or another statement under its loops."""
    statement = statement or "T[p4][p5][p6][h1][h2][h3] -= t[h1][p5][p4][h7] * v[h7][p6][h2][h3];"
    loops = "".join(
        f"for (int {x} = 0; {x} < n; {x}++)\n" for x in ("p4", "p5", "p6", "h1", "h2", "h3", "h7")
    )
    chill = f"/*@ begin CHiLL (\n{recipe}) @*/\n" if recipe else ""
    return (
        "void f(int n, double T[restrict n][n][n][n][n][n], double t[restrict n][n][n][n],\n"
        "       double v[restrict n][n][n][n], double w)\n{\n"
        f"/*@ begin PerfTuning ( def input_params {{ param n = {n}; }} ) @*/\n{chill}"
        f"{loops}{statement}\n{'/*@ end @*/' if recipe else ''}\n/*@ end @*/\n}}\n"
    )


ELSE = {
    "T[p4][p5][p6][h1][h2][h3] = t[h1][p5][p4][h7] * v[h7][p6][h2][h3];": "",
    "T[p4][p5][p6][h1][h2][h3] += t[h1][p5][p4][h7] + v[h7][p6][h2][h3];": "the statement does not "
    "accumulate a product of two array elements",
    "T[p4][p5][p6][h1][h2][h3] += t[h1][p5][p4][h7] * t[h7][p6][h2][h3];": "both factors are "
    "elements of t, of which a kernel has one staged copy",
    "T[p4][p5][p6][h1][h2][h3] += t[h1][p5][p4][h7] * v[h1][p6][h2][h3];": "a summed loop is in "
    "one input alone",
    "T[p4][p5][p6][h1][h2][h3] += t[h1][p5][p4][h3] * v[h7][p6][h2][h3];": "the output's "
    "contiguous loop h3 is not in exactly one input",
    "T[p4][p5][p6][h1][h2][h3] += t[p4][p4][p4][h7] * v[h7][p4][h2][h3];": "t has no loop "
    "of its own",
    "if (w > 0.0) T[p4][p5][p6][h1][h2][h3] += t[h1][p5][p4][h7] * v[h7][p6][h2][h3];": "the "
    "statement does not accumulate a product of two array elements",
}


@pytest.mark.parametrize("statement", [s for s in ELSE if ELSE[s]])
def test_the_reason_for_which_it_does_not_apply(statement: str) -> None:
    one = decided_text(contraction("", statement), AUTO)
    (unit,) = one.base.apart
    assert usual_tiles(unit) == ELSE[statement]
    first = one.decision.choices[0].reasons[0]
    assert str(first) == (
        f"strategy: direct (two-level, gemm and batched do not apply: {ELSE[statement]})"
    )


def test_a_scalar_is_no_output() -> None:
    text = """\
double f(int n, const double a[8], const double b[8])
{
    double t = 0.0;
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 1; j++)
            t += a[i] * b[i];
    /*@ end @*/
    return t;
}
"""
    (unit,) = decided_text(text, AUTO).base.apart
    assert unit.parallel == ("j",)
    assert usual_tiles(unit) == "the statement sums up into a scalar"


def test_a_factor_beside_the_elements_is_no_hindrance() -> None:
    statement = "T[p4][p5][p6][h1][h2][h3] -= w * t[h1][p5][p4][h7] * v[h7][p6][h2][h3];"
    assert decided_text(contraction("", statement), AUTO).decision.choices[0].contract


def test_another_strategy_leaves_it_out() -> None:
    (unit,) = decided_text(contraction(""), DIRECT).base.apart
    assert made(unit, DIRECT) == Proposals()
    assert made(unit, "two-level").first == made(unit, AUTO).first != ()
    contractions, others = (
        ("two-level", "gemm", "accumulate", "batched"),
        ("stencil", "elementwise", "reduction", "elements"),
    )
    assert ("auto", "direct", *contractions, *others) == STRATEGY_NAMES
    assert decided_text(contraction(""), DIRECT).decision.choices[0].contract is None


def test_both_inputs_are_staged_and_the_output_is_loaded_first() -> None:
    (kernel,) = decided_text(contraction(""), AUTO).plan().kernels()
    names = [s.name for s in walk_stmts(kernel.body) if getattr(s, "space", "") == "shared"]
    assert sorted(names) == ["t_tile", "v_tile"]
    body = kernel.band()[-1].body
    assert [getattr(s, "name", getattr(s, "var", "")) for s in body] == [
        *("v_tile", "t_tile", "T_block", "h2", "h7_t", "h2"),
    ]
    loads = [s for s in walk_stmts(body) if isinstance(s, Loop) and s.place is Level.ASYNC]
    # The innermost loop of each copy is the one that is contiguous in its input, two at a time.
    lanes = [x for x in loads if isinstance(x.body[0], Loop) and x.body[0].place is Level.SIMD]
    assert [x.var for x in lanes] == ["h3_s", "h7_s2"]


def banks_asked(words: list[int]) -> int:
    """Return the most different elements of 8 bytes that one of 16 pairs of banks is asked for."""
    return max(len({w for w in words if w % 16 == bank}) for bank in range(16))


# Every kernel at 24, which 16 does not divide, and at the others in turn.
AT = [
    pytest.param(*kernel, n, marks=(pytest.mark.slow,) if n != 24 and at % 3 else ())
    for at, kernel in enumerate(KERNELS)
    for n in (16, 24, 28)
]


@pytest.mark.alike(6)
@pytest.mark.parametrize(("k", "function", "n"), AT)
def test_no_bank_is_asked_twice_while_multiplying(k: int, function: str, n: int) -> None:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u" if k == 1 else "p7u")
    sizes = dict.fromkeys(names, n)
    one = decided_example(f"nwchem/sd_t_d{k}.c", function, AUTO, sizes=sizes)
    choice = one.decision.choices[0]
    tile = choice.contract
    assert tile is not None
    lanes = [
        {tile.thread_x[0]: x, tile.thread_y[0]: y}
        for y, x in product(range(tile.thread_y[1]), range(tile.thread_x[1]))
    ]
    # Rows of 24 lanes have half-warps in two rows, and 24 words cannot all have banks of their own.
    most = 1 if tile.thread_x[1] % 16 == 0 else 2
    for staging in choice.of(Stage):
        assert staging.space is MemorySpace.SHARED
        strides = dict(staging.layout)
        words = [sum(strides.get(v, 0) * i for v, i in lane.items()) for lane in lanes]
        for half in range(0, len(words), 16):
            assert banks_asked(words[half : half + 16]) <= most
        extents = dict(tile.extents)
        places = product(*(range(extents[loop]) for loop, _ in staging.layout))
        filled = [sum(s * i for (_, s), i in zip(staging.layout, p, strict=True)) for p in places]
        assert len(set(filled)) == len(filled)
        # Runs of the input that are no half-warp long may meet the next run once.
        assert banks_asked(filled[:16]) <= 2


extent = st.integers(1, 17)


@given(
    a=extent, b=extent, c=extent, order=st.permutations((0, 1, 2)), width=st.sampled_from((4, 8))
)
def test_a_layout_gives_each_element_a_place(
    a: int, b: int, c: int, order: list[int], width: int
) -> None:
    rows = (("x", a), ("y", b), ("z", c))
    layout = copy_layout(rows, tuple(rows[k] for k in order), width)
    assert [loop for loop, _ in layout] == [rows[k][0] for k in order]
    strides = dict(layout)
    assert strides["x"] == 1
    every = product(range(a), range(b), range(c))
    places = [strides["x"] * i + strides["y"] * j + strides["z"] * k for i, j, k in every]
    assert len(set(places)) == len(places)


SMALL = 'contract(0, thread={"h3","p5"}, register={"h2","p4"}, sum="h7", thread_x=4, thread_y=2,'
RUNS = {
    "whole": (f"{SMALL} register_x=2, register_y=4, step=4)\n", 4),
    "cut short": (f"{SMALL} register_x=3, register_y=2, step=2)\n", 5),
    "larger than the loops": (f"{SMALL} register_x=8, register_y=8, step=16)\n", 3),
}


@pytest.mark.slow
def test_tiles_of_any_length_are_right_at_every_size(tmp_path: Path) -> None:
    texts = [
        contraction(recipe, n=n).replace("void f(", f"void f{k}(")
        for k, (recipe, n) in enumerate(RUNS.values())
    ]
    program = executable(tmp_path, "".join(texts), strategy=AUTO)
    calls = [
        Call(f"f{k}", (size, Part(0), Part(1), Part(2), 1.5), (size**6 + 1, 4096, 4096))
        for k, (_, n) in enumerate(RUNS.values())
        for size in (n, *in_turn((1, 2, 6), k))
    ]
    program.check(*calls)


LADDER = """\
void f(int n, int m, double C[restrict n][n][n][n], const double A[restrict n][n][m],
       const double B[restrict m][n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = SIZE; param m = SUM; } ) @*/
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    for (int k = 0; k < m; k++)
                        C[a][b][i][j] -= A[a][b][k] * B[k][i][j];
    /*@ end @*/
}
"""


@pytest.mark.parametrize(("size", "total", "by_warps"), [(32, 64, 4), (32, 63, 0)])
def test_long_sums_are_for_the_tensor_cores(size: int, total: int, by_warps: int) -> None:
    text = LADDER.replace("SIZE", str(size)).replace("SUM", str(total))
    tile = decided_text(text, AUTO).decision.choices[0].contract
    assert tile is not None
    assert tile.by_warps == by_warps
    if by_warps:
        assert [loop for loop, _ in tile.extents] == ["j", "a", "i", "b", "k"]
        assert tile.thread_x == ("j", 4)


def test_long_sums_of_loops_that_would_run_as_one_are_for_the_tensor_cores() -> None:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u")
    sizes = {**dict.fromkeys(names, 24), "h7u": 64}
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=sizes)
    tile = one.decision.choices[0].contract
    assert tile is not None
    assert tile.by_warps


def test_rows_of_the_output_are_kept_whole_where_it_costs_little() -> None:
    tiles = (of_triples(1, f"sd_t_d1_{number}", 24) for number in (1, 3))
    along = [tile.thread_x for tile in tiles]
    # The loops of the first are neighbours in the output, those of the other are not.
    assert along == [("h2h3", 16), ("h1", 24)]


def test_a_sum_of_its_own_counts_the_steps_of_its_loop() -> None:
    """Where the usual tile has surplus, others are weighed against it."""
    loops = "".join(
        f"for (int {x} = 0; {x} < {n}; {x}++)\n" for x, n in zip("ibaj", (5, 5, 8, 14), strict=True)
    )
    one = decided_text(
        "void f(double C[restrict 14][8][5][5], double A[restrict 5][20][8],\n"
        "       double B[restrict 20][14][5])\n{\n/*@ begin PerfTuning ( ) @*/\n"
        f"{loops}{{ double t = 0.0;\nfor (int k = 0; k < 20; k++) t += A[i][k][a] * B[k][j][b];\n"
        "C[j][a][i][b] += t; }\n/*@ end @*/\n}\n",
        AUTO,
    )
    (unit,) = one.base.apart
    tile = one.decision.choices[0].contract
    assert tile is not None
    assert tile.contracted == ("k", 20)
    assert has_surplus(unit, tile)


def test_tensor_cores_are_right_at_every_size(tmp_path: Path) -> None:
    text = LADDER.replace("SIZE", "16").replace("SUM", "64")
    program = executable(tmp_path, text, strategy=AUTO)
    assert "annotune_mma_m16n8k4(annotune_sums" in program.cuda
    calls = [
        Call("f", (n, m, Part(0), Part(1), Part(2)), (n**4, n * n * m, m * n * n), orders=(2,))
        for n, m in ((16, 64), (5, 7), (1, 1), (9, 66))
    ]
    program.check(*calls, launches=True)
