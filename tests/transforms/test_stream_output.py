"""Stream: what is read and written once passes by the caches."""

from __future__ import annotations

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from support.regions import find_annotations
from transforms.interpreter import run, touched
from transforms.products import MATMUL, analysed
from transforms.test_hold import blocked

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.frontend.load import load
from annotune.ir.nest import Nest
from annotune.transforms.pipeline import Stream
from annotune.transforms.registers import Hold, Registers
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body


def held(rows: int, lanes: int, from_zero: bool = False) -> Body:
    return Hold(0, "l", from_zero=from_zero).apply(blocked(rows, lanes, {}), Context(MATMUL))


@pytest.mark.parametrize("from_zero", [False, True])
def test_the_load_and_the_store_of_a_block(from_zero: bool, golden: Golden) -> None:
    body = held(2, 4, from_zero)
    assert Stream(0).why_not(body, Context(MATMUL)) is None
    text = print_nest(Nest(Stream(0).apply(body, Context(MATMUL))))
    golden.check(f"transforms/stream{'_sum' if from_zero else ''}.nest", text)
    assert parse_nest(text) == parse_nest(print_nest(parse_nest(text)))
    assert parse_nest(text).body == Stream(0).apply(
        parse_nest(print_nest(Nest(body))).body, Context(MATMUL)
    )


def test_a_scalar_in_a_register_is_enough() -> None:
    body = Registers(0, "l").apply(MATMUL.region.nest.body, Context(MATMUL))
    assert Stream(0).why_not(body, Context(MATMUL)) is None
    assert print_nest(Nest(Stream(0).apply(body, Context(MATMUL)))).count("streamed") == 2


def code_of(stream: Stream, body: Body, analysis: Analysis = MATMUL) -> str | None:
    refusal = stream.why_not(body, Context(analysis))
    return refusal.code if refusal is not None else None


def test_refuses_what_every_iteration_reads_and_writes() -> None:
    assert code_of(Stream(0), MATMUL.region.nest.body) == "AT293"


def test_refuses_a_statement_that_is_not_there() -> None:
    assert code_of(Stream(7), held(2, 4)) == "AT250"


def test_refuses_a_scalar_and_what_is_read_again() -> None:
    loops = "for (i = 0; i < n; i++) { double s; s = 0.0; for (l = 0; l < k; l++) s += A[i][l]; "
    analysis = analysed("", loops + "C[i][0] = s; }")
    assert code_of(Stream(1), analysis.region.nest.body, analysis) == "AT293"
    twice = analysed("v[i] = v[i] + v[i];", "for (i = 0; i < n; i++)")
    assert code_of(Stream(0), twice.region.nest.body, twice) == "AT293"


def test_refuses_elements_that_no_instruction_moves() -> None:
    analysis = analysed("v[i] += A[i][l];", "for (i = 0; i < n; i++) for (l = 0; l < k; l++)")
    body = Registers(0, "l").apply(analysis.region.nest.body, Context(analysis))
    assert code_of(Stream(0), body, analysis) is None
    text = (
        "void f(int n, int k, double _Complex *restrict v, const double _Complex *restrict a)\n"
        "{\n  /*@ begin PerfTuning ( def input_params { param n = 6; param k = 5; } ) @*/\n"
        "  for (int i = 0; i < n; i++) for (int l = 0; l < k; l++) v[i] += a[l];\n"
        "  /*@ end @*/\n}\n"
    )
    wide = analyse(load("f.c", text, find_annotations(text, "f.c")).regions[0])
    body = Registers(0, "l").apply(wide.region.nest.body, Context(wide))
    assert code_of(Stream(0), body, wide) == "AT295"


extents, blocks = st.integers(1, 7), st.integers(1, 5)


@tried(100)
@given(n=extents, m=extents, k=extents, rows=blocks, lanes=blocks, from_zero=st.booleans())
def test_streams_keep_the_result(
    n: int, m: int, k: int, rows: int, lanes: int, from_zero: bool
) -> None:
    sizes, body = {"n": n, "m": m, "k": k}, held(rows, lanes, from_zero)
    streamed = Stream(0).apply(body, Context(MATMUL))
    assert run(streamed, sizes) == run(MATMUL.region.nest.body, sizes)
    assert touched(streamed, sizes) == touched(MATMUL.region.nest.body, sizes)
    assert print_nest(Nest(streamed)).replace(" streamed", "") == print_nest(Nest(body))
