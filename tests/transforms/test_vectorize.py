"""Vectorize: the iterations of a loop as lanes."""

from __future__ import annotations

from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.nest_text import print_nest
from transforms.interpreter import run
from transforms.test_hold import MATMUL, analysed

from annotune.ir.nest import Level, Nest
from annotune.transforms.map import Map, Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.transform import Context


def test_lanes_stay_where_the_loop_stands(golden: Golden) -> None:
    body = Permute(0, ("i", "l", "j")).apply(MATMUL.region.nest.body, Context(MATMUL))
    body = Map(0, (("i", Level.CPU_THREAD),)).apply(body, Context(MATMUL))
    lanes = Vectorize(0, "j")
    assert lanes.why_not(body, Context(MATMUL)) is None
    golden.check("transforms/vectorize.nest", print_nest(Nest(lanes.apply(body, Context(MATMUL)))))


def test_refuses_a_reduction() -> None:
    refusal = Vectorize(0, "l").why_not(MATMUL.region.nest.body, Context(MATMUL))
    assert refusal is not None
    assert refusal.code == "AT258"
    assert "C is carried by l" in refusal.message


def test_refuses_a_carried_dependence() -> None:
    analysis = analysed("v[i + 1] = v[i];", "for (i = 0; i < n; i++)")
    refusal = Vectorize(0, "i").why_not(analysis.region.nest.body, Context(analysis))
    assert refusal is not None
    assert refusal.code == "AT258"


def test_refuses_a_loop_that_is_mapped_already() -> None:
    body = Map(0, (("j", Level.CPU_THREAD),)).apply(MATMUL.region.nest.body, Context(MATMUL))
    refusal = Vectorize(0, "j").why_not(body, Context(MATMUL))
    assert refusal is not None
    assert refusal.code == "AT264"


def test_refuses_a_loop_that_is_not_there() -> None:
    refusal = Vectorize(0, "q").why_not(MATMUL.region.nest.body, Context(MATMUL))
    assert refusal is not None
    assert refusal.code == "AT251"


@given(n=st.integers(1, 5), m=st.integers(1, 5), k=st.integers(1, 5))
def test_a_mark_changes_no_order(n: int, m: int, k: int) -> None:
    sizes = {"n": n, "m": m, "k": k}
    body = MATMUL.region.nest.body
    assert run(Vectorize(0, "j").apply(body, Context(MATMUL)), sizes) == run(body, sizes)
