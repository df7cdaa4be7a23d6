"""Decode: its refusals, goldens and the law, and where the divisions stand in CUDA."""

from __future__ import annotations

import pytest
from conftest import Golden
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
from annotune.ir.nest import Level
from annotune.transforms.map import Map
from annotune.transforms.merge import Decode, Merge
from annotune.transforms.registers import Hold
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Context
from annotune.transforms.unroll import Unroll

COMMAND = Span("t.c", 77, 3, 9)
FIXED = {"n": 4, "m": 3}
SUM = "for i in 0:n: for j in 0:m: for k in 0:n: c[i*m + j] += a[j*n + i] * b[k*m + j]"
MERGED = Merge(0, ("i", "j"))


def fixed(one: Analysis) -> Context:
    return Context(one, one.region.sizes)


def decode(loop: str = "ij") -> Decode:
    return Decode(0, loop, span=COMMAND)


def test_refuses_what_has_no_parts() -> None:
    one = nest_analysis(SUM, FIXED)
    body = one.region.nest.body
    assert refused(decode("l"), body, fixed(one)).code == "AT251"
    plain = refused(decode("k"), MERGED.apply(body, fixed(one)), one)
    assert (plain.code, plain.span) == ("AT297", COMMAND)
    assert plain.message == "decode: loop 'k' runs no other loops"


def test_refuses_copies_of_a_body() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:m: c[i] += a[j]", FIXED)
    body = Unroll(0, "ij", 2).apply(MERGED.apply(one.region.nest.body, fixed(one)), fixed(one))
    unrolled = refused(decode(), body, fixed(one))
    assert unrolled.message == (
        "decode: loop 'ij' is unrolled: each copy of its body has parts of its own"
    )


def test_refuses_a_name_that_something_inside_has() -> None:
    one = nest_analysis(SUM, FIXED)
    body = parse_nest(
        "for ij in 0:12 merges i from 0 by 3 merges j from 0 by 1\n"
        "  for j in 0:n\n    S0: c[ij] += a[ij % 3]\n"
    ).body
    assert refused(decode(), body, fixed(one)).message == "decode: loop 'ij' holds another 'j'"


def test_parts_are_known_before_the_loops_inside(golden: Golden) -> None:
    one = nest_analysis(SUM, FIXED)
    body = MERGED.apply(one.region.nest.body, fixed(one))
    texts = [text_of(decode().apply(body, fixed(one)))]
    # Threads of a tile, and an index further in: the parts stand inside all that is placed.
    tiled = Tile(0, "ij", 2).apply(body, fixed(one))
    mapped = Map(0, (("ij_t", Level.BLOCK_X), ("ij", Level.THREAD_X))).apply(tiled, fixed(one))
    texts.append(text_of(decode().apply(mapped, fixed(one))))
    # A block in registers is loaded, updated and stored, in a loop over parts each time.
    blocked = nest_analysis(
        "for k in 0:n: for i in 0:n: for j in 0:m: c[4*j + i] += a[j*n + i] * b[k]", FIXED
    )
    held = Hold(0, "k").apply(MERGED.apply(blocked.region.nest.body, fixed(blocked)), fixed(one))
    texts.append(text_of(decode().apply(held, fixed(one))))
    golden.check("transforms/decode.nest", "\n".join(texts))


def test_neighbours_need_no_parts() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:m: c[i*m + j] = a[i*m + j]", FIXED)
    body = MERGED.apply(one.region.nest.body, fixed(one))
    assert decode().apply(body, fixed(one)) == body


def test_the_text_form_reads_back() -> None:
    one = nest_analysis(SUM, FIXED)
    body = decode().apply(MERGED.apply(one.region.nest.body, fixed(one)), fixed(one))
    assert parse_nest(text_of(body)).body == body


@pytest.mark.slow
@LAW
@given(
    text=nests(),
    loops=st.permutations("ijk").flatmap(lambda o: st.sampled_from((o, o[:2]))),
    size=st.integers(1, 5),
    place=st.sampled_from((None, Level.BLOCK_X, Level.THREAD_X)),
)
def test_known_parts_keep_the_result(
    text: str, loops: list[str], size: int, place: Level | None
) -> None:
    assume_one_band(text, loops)
    one = analysed(text)
    context, number, name = fixed(one), max(one.paths), "".join(loops)
    merged = Merge(number, tuple(loops))
    body = accepted(merged, one.region.nest.body, context)
    body = accepted(Tile(number, name, size), body, context)
    if place is not None:
        body = accepted(Map(number, ((f"{name}_t", place),)), body, context)
    known = accepted(Decode(number, name), body, context)
    assert violations(one, known) == ()
    assert_same(known, one.region, SIZES, one.private, lambda: text_of(known))


@pytest.mark.parametrize("loops", [("i", "j"), ("j", "i")])
def test_a_sum_takes_both_parts_from_one_place(loops: tuple[str, ...]) -> None:
    one = nest_analysis("for i in 0:n: for j in 0:m: c[j] += a[j*n + i] * a[i] if i < 3", FIXED)
    body = Merge(0, loops).apply(one.region.nest.body, fixed(one))
    text = text_of(Decode(0, "".join(loops)).apply(body, fixed(one)))
    assert text.count("/") == text.count("%") == 1
