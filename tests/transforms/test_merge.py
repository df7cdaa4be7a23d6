"""Merge: its refusals, goldens, the law, and what proofs make of a merged loop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.interpreter import assert_same
from support.nest_text import parse_nest
from support.nests import (
    LAW,
    SIZES,
    accepted,
    analysed,
    assume_one_band,
    nests,
    refused,
)
from support.regions import nest_analysis, text_of

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import violations
from annotune.diagnostics import Span
from annotune.ir.expr import Var
from annotune.ir.nest import Level
from annotune.transforms.map import Map
from annotune.transforms.merge import Merge
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Context
from annotune.transforms.unroll import Unroll

COMMAND = Span("t.c", 77, 3, 9)
FIXED = {"n": 4, "m": 3}
SUM = "for i in 0:n: for j in 0:m: for k in 0:n: c[i*m + j] += a[i*m + j] * b[k]"


def fixed(one: Analysis) -> Context:
    return Context(one, one.region.sizes)


def merge(*loops: str) -> Merge:
    return Merge(0, loops, span=COMMAND)


REFUSED = {
    ("for i in 0:n: for j in 0:m: a[i] += b[j]", ("i", "k")): "AT251",
    ("for i in 0:n: for j in 0:m: a[i] += b[j]", ("i",)): "loop 'i' is named alone, or twice",
    ("for i in 0:n: for j in 0:m: a[i] += b[j]", ("i", "i")): "loop 'i' is named alone, or twice",
    ("for i in 0:n step 2: for j in 0:m: a[i] += b[j]", ("i", "j")): "loop 'i' steps by 2",
    ("for i in 0:n: for j in 0:i+1: a[i] += b[j]", ("i", "j")): "loop 'i' is in the bounds of 'j'",
    ("for i in 0:n: for j in 0:m: for k in j:n: a[i] += b[k]", ("i", "j")): "loop 'j' is in the "
    "bounds of 'k'",
    ("for i in 0:n: for j in 0:q: a[i] += b[j]", ("i", "j")): "loop 'j' has a start or a number "
    "of iterations that is not fixed",
}


@pytest.mark.parametrize(("nest", "loops"), REFUSED)
def test_refusals(nest: str, loops: tuple[str, ...]) -> None:
    one = nest_analysis(nest, {"n": 4, "m": 3, "q": 2})
    # What a loop over q runs is not known.
    context = Context(one, FIXED)
    refusal = refused(merge(*loops), one.region.nest.body, context)
    assert refusal.span == COMMAND
    expected = REFUSED[nest, loops]
    assert expected in (refusal.code, refusal.message.removeprefix("merge: "))


def test_refuses_loops_of_two_nests() -> None:
    one = nest_analysis("for i in 0:n\n  a[i] = 1.0\n  for j in 0:m\n    c[j] += b[i]\n", FIXED)
    refusal = refused(Merge(1, ("i", "j"), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT252", COMMAND)
    assert refusal.message == "merge: loops i, j of statement 1 are not one perfect nest"


def test_refuses_what_is_tiled_placed_or_unrolled() -> None:
    one = nest_analysis(SUM, FIXED)
    body = one.region.nest.body
    tiled = refused(merge("i", "j"), Tile(0, "j", 2).apply(body, fixed(one)), fixed(one))
    assert tiled.message == "merge: loop 'j' is tiled already"
    placed = refused(merge("i", "j"), Map(0, (("i", Level.BLOCK_X),)).apply(body, fixed(one)), one)
    assert placed.message == "merge: loop 'i' is mapped, unrolled or merged already"
    unrolled = Unroll(0, "k", 2).apply(body, fixed(one))
    assert "unrolled" in refused(merge("j", "k"), unrolled, fixed(one)).message
    again = refused(
        Merge(0, ("ij", "k"), span=COMMAND), merge("i", "j").apply(body, fixed(one)), one
    )
    assert again.message == "merge: loop 'ij' is mapped, unrolled or merged already"


def test_refuses_a_name_that_is_used() -> None:
    for nest in (
        "for i in 0:n: for j in 0:m: ij[i] += b[j]",
        "for i in 0:n: for j in 0:m: a[ij] = 1.0",
    ):
        one = nest_analysis(nest, {**FIXED, "ij": 2})
        refusal = refused(merge("i", "j"), one.region.nest.body, fixed(one))
        assert (refusal.code, refusal.span) == ("AT297", COMMAND)
        assert refusal.message == (
            "merge: loop 'i' cannot be called 'ij' with the others, a name that is used already"
        )


def test_refuses_more_iterations_than_an_int_counts() -> None:
    many = {"n": 100_000, "m": 50_000}
    one = nest_analysis("for i in 0:n: for j in 0:m: a[i] += b[j]", many)
    refusal = refused(Merge(0, ("i", "j"), span=COMMAND), one.region.nest.body, fixed(one))
    assert refusal.message.startswith("merge: loop 'i' runs too often for an int")


def test_refuses_an_order_that_breaks_a_dependence() -> None:
    one = nest_analysis("for i in 1:n: for j in 0:m-1: a[m*i + j] = a[m*i - m + j + 1]", FIXED)
    body = one.region.nest.body
    assert merge("i", "j").why_not(body, fixed(one)) is None
    refusal = refused(merge("j", "i"), body, fixed(one))
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)


def test_adjacent_indices_are_found_without_division() -> None:
    one = nest_analysis(SUM, FIXED)
    assert text_of(merge("i", "j").apply(one.region.nest.body, fixed(one))) == (
        "for ij in 0:12 merges i from 0 by 3 merges j from 0 by 1\n"
        "  for k in 0:n\n"
        "    S0: c[ij] += a[ij] * b[k]\n"
    )


def test_other_indices_are_decoded() -> None:
    nest = "for i in 1:n+1: for j in 0-2:m-2: c[i] += a[5*i + j] * M[i][j+2] if j < 0"
    one = nest_analysis(nest, FIXED, {"M": (None, Var("m"))})
    body = one.region.nest.body
    merged = merge("i", "j").apply(body, fixed(one))
    assert text_of(merged) == (
        "for ij in 0:12 merges i from 1 by 3 merges j from -2 by 1\n"
        "  S0: c[ij / 3 + 1] += a[5 * (ij / 3 + 1) + (ij % 3 - 2)] * "
        "M[m + ij] if ij % 3 - 2 < 0\n"
    )


def test_three_loops_and_loops_between_them() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:m: for j in 0:m: c[i*m + j] += b[k]", FIXED)
    body = one.region.nest.body
    assert text_of(merge("i", "j").apply(body, fixed(one))) == (
        "for k in 0:m\n  for ij in 0:12 merges i from 0 by 3 merges j from 0 by 1\n"
        "    S0: c[ij] += b[k]\n"
    )
    assert text_of(merge("i", "j", "k").apply(body, fixed(one))) == (
        "for ijk in 0:36 merges i from 0 by 9 merges j from 0 by 3 merges k from 0 by 1\n"
        "  S0: c[ijk / 9 * m + ijk / 3 % 3] += b[ijk % 3]\n"
    )


def test_the_text_form_reads_back() -> None:
    one = nest_analysis("for i in 0-1:n: for j in 0:m: c[j] += a[i + 1]", FIXED)
    body = merge("i", "j").apply(one.region.nest.body, fixed(one))
    assert parse_nest(text_of(body)).body == body


@LAW
@given(
    text=nests(),
    loops=st.permutations("ijk").flatmap(lambda o: st.sampled_from((o, o[:2]))),
    size=st.integers(1, 5),
)
def test_merged_loops_and_their_tiles_keep_the_result(
    text: str, loops: list[str], size: int
) -> None:
    assume_one_band(text, loops)
    one = analysed(text)
    context, step = fixed(one), Merge(max(one.paths), tuple(loops))
    merged = accepted(step, one.region.nest.body, context)
    assert violations(one, merged) == ()
    tiled = accepted(Tile(max(one.paths), "".join(loops), size), merged, one)
    assert violations(one, tiled) == ()
    for body in (merged, tiled):
        assert_same(body, one.region, SIZES, one.private, lambda: text_of(body))  # noqa: B023


@LAW
@given(text=nests(perfect=True), place=st.sampled_from((Level.BLOCK_X, Level.THREAD_X)))
def test_a_merged_loop_runs_in_parallel_only_where_it_may(text: str, place: Level) -> None:
    one = analysed(text)
    context = fixed(one)
    merged = accepted(Merge(0, ("i", "j")), one.region.nest.body, fixed(one))
    mapped = accepted(Map(0, (("ij", place),)), merged, context)
    assert_same(mapped, one.region, SIZES, one.private, lambda: text_of(mapped))
