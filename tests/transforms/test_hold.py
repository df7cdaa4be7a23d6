"""Hold: a block of the target in a local array."""

from __future__ import annotations

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from support.nests import known
from support.regions import find_annotations, nest_analysis
from transforms.interpreter import run
from transforms.products import MATMUL, analysed

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.frontend.load import load
from annotune.ir.nest import Level, Nest
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body


def blocked(rows: int, lanes: int, constants: dict[str, int]) -> Body:
    """Return the product with its two tiles around `l` and their loops inside it."""
    body = MATMUL.region.nest.body
    body = Tile(0, "i", rows).apply(body, Context(MATMUL, constants))
    body = Tile(0, "j", lanes).apply(body, Context(MATMUL, constants))
    order = Permute(0, ("i_t", "j_t", "l", "i", "j"))
    assert order.why_not(body, Context(MATMUL, constants)) is None
    return order.apply(body, Context(MATMUL, constants))


def code_of(hold: Hold, body: Body, one: Analysis | Context = MATMUL) -> str:
    refusal = hold.why_not(body, known(one))
    return refusal.code if refusal is not None else ""


def test_a_product_in_blocks_of_two_by_four(golden: Golden) -> None:
    hold = Hold(0, "l")
    body = blocked(2, 4, {"n": 6, "m": 8})
    assert hold.why_not(body, Context(MATMUL)) is None
    golden.check("transforms/hold_block.nest", print_nest(Nest(hold.apply(body, Context(MATMUL)))))


def test_blocks_that_may_be_cut_short(golden: Golden) -> None:
    golden.check(
        "transforms/hold_cut.nest",
        print_nest(Nest(Hold(0, "l").apply(blocked(4, 3, {}), Context(MATMUL)))),
    )


def test_a_block_that_starts_from_zero(golden: Golden) -> None:
    hold = Hold(0, "l", from_zero=True)
    body = blocked(2, 4, {"n": 6, "m": 8})
    assert hold.why_not(body, Context(MATMUL)) is None
    golden.check(
        "transforms/hold_from_zero.nest", print_nest(Nest(hold.apply(body, Context(MATMUL))))
    )


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("C[i][j] -= A[i][l] * B[l][j];", ""),
        ("C[i][j] = C[i][j] + A[i][l] * B[l][j];", ""),
        ("C[i][j] *= A[i][l] * B[l][j];", "AT272"),
        ("C[i][j] = A[i][l] > C[i][j] ? A[i][l] : C[i][j];", "AT272"),
    ],
)
def test_only_a_sum_starts_from_zero(statement: str, code: str) -> None:
    context = Context(analysed(statement), {"m": 8})
    body = Permute(0, ("i", "l", "j")).apply(context.analysis.region.nest.body, context)
    hold = Hold(0, "l", from_zero=True)
    assert code_of(hold, body, context) == code


def test_an_integer_that_drops_fractions_does_not_start_from_zero() -> None:
    analysis = analysed("q[j] += 1;", "for (l = 0; l < k; l++) for (j = 0; j < 8; j++)")
    body = parse_nest("for l in 0:k: for j in 0:8: q[j] += 0.5").body
    assert code_of(Hold(0, "l"), body, analysis) == ""
    assert code_of(Hold(0, "l", from_zero=True), body, analysis) == "AT275"


def test_a_count_that_is_known_is_a_block(golden: Golden) -> None:
    hold, context = Hold(0, "l"), Context(MATMUL, {"m": 8})
    body = Permute(0, ("i", "l", "j")).apply(MATMUL.region.nest.body, context)
    assert hold.why_not(body, context) is None
    golden.check("transforms/hold_whole.nest", print_nest(Nest(hold.apply(body, context))))


def test_refuses_a_loop_of_unknown_count_inside() -> None:
    body = Permute(0, ("i", "l", "j")).apply(MATMUL.region.nest.body, Context(MATMUL))
    assert code_of(Hold(0, "l"), body) == "AT269"


def test_refuses_a_loop_that_picks_the_element() -> None:
    assert code_of(Hold(0, "j"), MATMUL.region.nest.body) == "AT259"


def test_refuses_a_scalar() -> None:
    loops = "for (i = 0; i < n; i++) { double s; s = 0.0; for (l = 0; l < k; l++) s += A[i][l]; "
    analysis = analysed("", loops + "C[i][0] = s; }")
    assert code_of(Hold(1, "l"), analysis.region.nest.body, analysis) == "AT269"


def test_refuses_a_loop_or_statement_that_is_not_there() -> None:
    assert code_of(Hold(0, "q"), MATMUL.region.nest.body) == "AT251"
    assert code_of(Hold(7, "l"), MATMUL.region.nest.body) == "AT250"


def test_refuses_a_loop_that_is_mapped() -> None:
    body = Map(0, (("i", Level.CPU_THREAD),)).apply(MATMUL.region.nest.body, Context(MATMUL))
    assert code_of(Hold(0, "i"), body) == "AT264"


def test_refuses_when_another_element_is_read_inside() -> None:
    analysis = analysed(
        "v[i] += A[i][l] * v[l + n];", "for (i = 0; i < n; i++) for (l = 0; l < k; l++)"
    )
    assert code_of(Hold(0, "l"), analysis.region.nest.body, analysis) == "AT260"


def test_refuses_a_loop_that_may_run_no_iteration() -> None:
    analysis = analysed("v[i] += A[i][l];", "for (i = 0; i < n; i++) for (l = 0; l < i; l++)")
    assert code_of(Hold(0, "l"), analysis.region.nest.body, analysis) == "AT270"


def test_a_taken_name_is_left_alone() -> None:
    one = nest_analysis("for l in 0:C_block: for i in 0:4: C[i] += A[l]", {"C_block": 3})
    held = Hold(0, "l").apply(one.region.nest.body, Context(one))
    assert "local double C_block2[4]" in print_nest(Nest(held))


extents = st.integers(1, 7)
blocks = st.integers(1, 5)


@tried(100)
@given(n=extents, m=extents, k=extents, rows=blocks, lanes=blocks, from_zero=st.booleans())
def test_a_block_keeps_the_result(
    n: int, m: int, k: int, rows: int, lanes: int, from_zero: bool
) -> None:
    sizes = {"n": n, "m": m, "k": k}
    held = Hold(0, "l", from_zero=from_zero).apply(blocked(rows, lanes, {}), Context(MATMUL))
    assert run(held, sizes) == run(MATMUL.region.nest.body, sizes)


@pytest.mark.parametrize(("rows", "lanes"), [(1, 8), (3, 2), (6, 4)])
def test_a_block_of_known_sizes_keeps_the_result(rows: int, lanes: int) -> None:
    sizes = {"n": 6, "m": 8, "k": 5}
    held = Hold(0, "l").apply(blocked(rows, lanes, sizes), Context(MATMUL, sizes))
    assert run(held, sizes) == run(MATMUL.region.nest.body, sizes)


def test_refuses_what_a_condition_may_leave_out() -> None:
    one = Context(analysed("if (A[i][l] > 0.0) C[i][j] += A[i][l] * B[l][j];"), {"m": 8})
    body = Permute(0, ("i", "l", "j")).apply(one.analysis.region.nest.body, one)
    assert code_of(Hold(0, "l"), body, one) == "AT276"


GUARDED = analysed("if (A[i][l] > 0.0) C[i][j] += A[i][l] * B[l][j];")


def test_a_sum_from_zero_touches_what_it_adds_to(golden: Golden) -> None:
    one = Context(GUARDED, {"m": 8})
    body = Permute(0, ("i", "l", "j")).apply(GUARDED.region.nest.body, one)
    hold = Hold(0, "l", from_zero=True)
    assert hold.why_not(body, one) is None
    golden.check("transforms/hold_guarded.nest", print_nest(Nest(hold.apply(body, one))))


def test_what_is_touched_in_any_case_is_stored_in_any_case() -> None:
    statements = "C[i][j] += 1.0; if (A[i][l] > 0.0) C[i][j] += A[i][l] * B[l][j];"
    one = Context(analysed(statements), {"m": 8})
    body = Permute(1, ("i", "l", "j")).apply(one.analysis.region.nest.body, one)
    text = print_nest(Nest(Hold(1, "l").apply(body, one)))
    assert text.count("C[i][j] = C_block[j]\n") == 1


@tried(100)
@given(m=extents, k=extents, lanes=blocks, least=st.integers(20, 80))
def test_a_guarded_count_keeps_the_result(m: int, k: int, lanes: int, least: int) -> None:
    loops = "for (l = 0; l < k; l++) for (j = 0; j < m; j++)"
    one = analysed(f"if (B[l][j] >= {least}) q[j] += 2;", loops)
    body = Tile(0, "j", lanes).apply(one.region.nest.body, Context(one))
    body = Permute(0, ("j_t", "l", "j")).apply(body, Context(one))
    hold, sizes = Hold(0, "l", from_zero=True), {"n": 1, "m": m, "k": k}
    assert code_of(hold, body, one) == ""
    assert run(hold.apply(body, Context(one)), sizes) == run(one.region.nest.body, sizes)


def test_a_complex_sum_under_a_condition_stays_in_memory() -> None:
    text = (
        "#include <complex.h>\nvoid f(int k, double complex *restrict c, const double complex *b) {"
        " /*@ begin PerfTuning ( def input_params { param k = 5; } ) @*/"
        " for (int l = 0; l < k; l++) for (int j = 0; j < 8; j++)"
        " if (creal(b[l]) > 0) c[j] += b[l]; /*@ end @*/ }"
    )
    one = analyse(load("f.c", text, find_annotations(text, "f.c")).regions[0])
    assert code_of(Hold(0, "l", from_zero=True), one.region.nest.body, one) == "AT276"
