"""Prefetch: what the next iteration updates is asked for while this one is computed."""

from __future__ import annotations

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from transforms.interpreter import fetched, run
from transforms.products import MATMUL, analysed

from annotune.analysis.facts import Analysis
from annotune.ir.nest import Level, Nest
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.registers import Hold
from annotune.transforms.tile import Tile
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body


def strips(rows: int, lanes: int, analysis: Analysis = MATMUL) -> Body:
    """Return the product with tiles of `j` outermost, in each the rows one after the other."""
    body = Tile(0, "j", lanes).apply(analysis.region.nest.body, Context(analysis))
    body = Tile(0, "l", rows).apply(body, Context(analysis))
    return Permute(0, ("j_t", "i", "l_t", "l", "j")).apply(body, Context(analysis))


def code_of(prefetch: Prefetch, body: Body, analysis: Analysis = MATMUL) -> str:
    refusal = prefetch.why_not(body, Context(analysis))
    return refusal.code if refusal is not None else ""


def message_of(prefetch: Prefetch, body: Body, analysis: Analysis = MATMUL) -> str:
    refusal = prefetch.why_not(body, Context(analysis))
    assert refusal is not None
    assert refusal.code == "AT315"
    return refusal.message


def test_the_next_row_before_the_sum_of_this_one(golden: Golden) -> None:
    prefetch, body = Prefetch(0, "i", "l_t", 8), strips(2, 16)
    assert prefetch.why_not(body, Context(MATMUL)) is None
    ahead = prefetch.apply(body, Context(MATMUL))
    hold = Hold(0, "l_t", from_zero=True)
    assert hold.why_not(ahead, Context(MATMUL)) is None
    text = print_nest(Nest(hold.apply(ahead, Context(MATMUL))))
    golden.check("transforms/prefetch.nest", text)
    assert print_nest(parse_nest(text)) == text


def test_padding_leaves_what_is_asked_for(golden: Golden) -> None:
    body = Hold(0, "l_t").apply(
        Prefetch(0, "i", "l_t", 4).apply(strips(2, 16), Context(MATMUL)), Context(MATMUL)
    )
    golden.check(
        "transforms/prefetch_padded.nest",
        print_nest(Nest(Pad(0, ("j",)).apply(body, Context(MATMUL)))),
    )


def test_refuses_a_statement_or_loop_that_is_not_there() -> None:
    assert code_of(Prefetch(7, "i", "l"), MATMUL.region.nest.body) == "AT250"
    assert code_of(Prefetch(0, "q", "l"), MATMUL.region.nest.body) == "AT251"
    assert code_of(Prefetch(0, "i", "q"), MATMUL.region.nest.body) == "AT251"


@pytest.mark.parametrize(
    ("ahead", "inside", "why"),
    [
        ("l_t", "i", "'i' is not inside it"),
        ("l_t", "l_t", "'l_t' is not inside it"),
        ("j_t", "l_t", "it picks no element"),
        ("l_t", "l", "it picks no element"),
    ],
)
def test_refuses_a_loop_without_a_next_element(ahead: str, inside: str, why: str) -> None:
    assert message_of(Prefetch(0, ahead, inside), strips(2, 4)).endswith(f"updates: {why}")


def test_refuses_iterations_that_are_not_in_order() -> None:
    body = Map(0, (("i", Level.CPU_THREAD),)).apply(MATMUL.region.nest.body, Context(MATMUL))
    why = message_of(Prefetch(0, "i", "l"), body)
    assert why.endswith("its iterations run as cpu_thread")


def test_refuses_elements_that_may_not_be_touched() -> None:
    analysis = analysed("if (A[i][l] > 0.0) C[i][j] += B[l][j];")
    why = message_of(Prefetch(0, "i", "l"), analysis.region.nest.body, analysis)
    assert why.endswith("the statement runs under a condition")


def test_refuses_a_scalar() -> None:
    loops = "for (i = 0; i < n; i++) { double s; s = 0.0; for (l = 0; l < k; l++) s += A[i][l]; "
    analysis = analysed("", loops + "C[i][0] = s; }")
    body = analysis.region.nest.body
    assert message_of(Prefetch(1, "i", "l"), body, analysis).endswith(
        "'s' is no element of an array"
    )


def test_refuses_bounds_that_change_from_one_iteration_to_the_next() -> None:
    below = "for (i = 0; i < n; i++) for (l = 0; l < k; l++) for (j = i; j < m; j++)"
    analysis = analysed("C[i][j] += A[i][l] * B[l][j];", below)
    why = message_of(Prefetch(0, "i", "l"), analysis.region.nest.body, analysis)
    assert why.endswith("it sets the bounds of 'j'")


def test_refuses_bounds_that_are_set_where_the_block_is_held() -> None:
    below = "for (i = 0; i < n; i++) for (l = 0; l < k; l++) for (j = l; j < m; j++)"
    analysis = analysed("C[i][j] += A[i][l] * B[l][j];", below)
    why = message_of(Prefetch(0, "i", "l"), analysis.region.nest.body, analysis)
    assert why.endswith("'l' sets the bounds of 'j'")


extents = st.integers(1, 7)


@tried(100)
@given(
    n=extents,
    m=extents,
    k=extents,
    lanes=st.integers(1, 5),
    line=st.integers(1, 4),
    pads=st.booleans(),
)
def test_a_request_changes_no_value_and_leaves_no_array(
    n: int, m: int, k: int, lanes: int, line: int, pads: bool
) -> None:
    sizes = {"n": n, "m": m, "k": k}
    body = Prefetch(0, "i", "l_t", line).apply(strips(2, lanes), Context(MATMUL))
    body = Hold(0, "l_t", from_zero=True).apply(body, Context(MATMUL))
    body = Pad(0, ("j",)).apply(body, Context(MATMUL)) if pads else body
    written = run(MATMUL.region.nest.body, sizes)
    assert run(body, sizes) == written
    assert set(fetched(body, sizes)) <= written.keys()


@tried(100)
@given(n=extents, m=extents, lanes=st.integers(1, 5), step=st.integers(1, 3))
def test_every_row_but_the_first_is_asked_for(n: int, m: int, lanes: int, step: int) -> None:
    sizes = {"n": n * step, "m": m, "k": 1}
    rows = f"for (i = 0; i < n; i += {step}) for (j = 0; j < m; j++) for (l = 0; l < k; l++)"
    analysis = analysed("C[i][j] += A[i][l] * B[l][j];", rows)
    body = Prefetch(0, "i", "l_t").apply(strips(2, lanes, analysis), Context(analysis))
    asked = {place for _, place in fetched(body, sizes)}
    assert {row for row, _ in asked} >= set(range(step, n * step, step))
