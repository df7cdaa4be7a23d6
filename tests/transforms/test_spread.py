"""ShareArray and Spread: a golden, their refusals, and the law."""

from __future__ import annotations

import pytest
from conftest import Golden
from support.interpreter import assert_same
from support.nests import assert_law, refused
from support.regions import nest_analysis, text_of

from annotune.analysis.facts import Analysis
from annotune.diagnostics import Span
from annotune.ir.nest import Level
from annotune.transforms.map import Map, Team
from annotune.transforms.spread import ShareArray, Spread
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body
from annotune.transforms.unroll import Unroll


def accepted(step: Transform, body: Body, one: Analysis) -> Body:
    """Return `body` after a step, which must be legal."""
    assert step.why_not(body, Context(one)) is None
    return step.apply(body, Context(one))


COMMAND = Span("t.c", 77, 3, 9)
BLOCKS = Map(0, (("e", Level.BLOCK_X),))
TEXT = (
    "for e in 0:n\n"
    "  local double t[4][6]\n"
    "  for i in 0:4\n"
    "    for j in 0:6\n"
    "      t[i][j] = a[24*e + 6*i + j]\n"
    "  for i in 0:6\n"
    "    for j in 0:4\n"
    "      c[24*e + 4*i + j] = t[j][i]\n"
)


def test_the_nests_of_an_element(golden: Golden) -> None:
    one = nest_analysis(TEXT, extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    body = accepted(ShareArray(0, "t"), body, one)
    # Loops that are beside each other may have one name.
    for step in (Spread(0, ("i", "j")), Spread(1, ("i", "j"), 32)):
        body = accepted(step, body, one)
    golden.check("transforms/spread.nest", text_of(body))
    assert_law(body, one)


def test_one_loop_stays_as_it_is() -> None:
    one = nest_analysis("for e in 0:n: for i in 0:m: c[m*e + i] = a[i]")
    body = accepted(BLOCKS, one.region.nest.body, one)
    text = text_of(accepted(Spread(0, ("i",)), body, one))
    assert "for i in 0:m @thread.x" in text


def test_an_array_of_each_thread() -> None:
    one = nest_analysis(TEXT, extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    refusal = refused(Spread(0, ("i", "j"), span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT279", COMMAND)


def test_what_passes_between_the_threads() -> None:
    text = TEXT.replace("t[i][j] = a", "t[i][j] = t[i][j - 1] + a").replace("j in 0:6", "j in 1:6")
    one = nest_analysis(text, extents={})
    body = accepted(ShareArray(0, "t"), accepted(BLOCKS, one.region.nest.body, one), one)
    assert refused(Spread(0, ("i", "j")), body, one).code == "AT258"
    accepted(Spread(0, ("i",)), body, one)


def test_blocks_are_around_the_threads() -> None:
    one = nest_analysis(TEXT, extents={})
    serial = one.region.nest.body
    refusal = refused(Spread(0, ("i", "j"), span=COMMAND), serial, one)
    assert (refusal.code, refusal.span) == ("AT337", COMMAND)
    assert refusal.message == (
        "spread: the threads cannot share 'i, j': no loop around it is on blocks"
    )
    body = accepted(BLOCKS, serial, one)
    assert refused(Spread(0, ("i", "j"), 2000), body, one).code == "AT337"
    assert refused(Spread(0, ("i", "k")), body, one).code == "AT251"


def test_an_array_that_is_not_the_blocks() -> None:
    one = nest_analysis(TEXT, extents={})
    serial = one.region.nest.body
    refusal = refused(ShareArray(0, "t", span=COMMAND), serial, one)
    assert (refusal.code, refusal.span) == ("AT335", COMMAND)
    assert refusal.message == "share: 't' belongs to an iteration of 'e', which is on no block"
    threads = Map(0, (("e", Level.THREAD_X),)).apply(serial, Context(one))
    assert refused(ShareArray(0, "t"), threads, one).code == "AT335"
    body = accepted(BLOCKS, serial, one)
    assert refused(ShareArray(0, "a"), body, one).code == "AT335"
    twice = accepted(ShareArray(0, "t"), body, one)
    assert refused(ShareArray(0, "t"), twice, one).message == "share: 't' has a place already"


def test_an_array_too_long_for_a_block() -> None:
    one = nest_analysis(TEXT.replace("t[4][6]", "t[400][60]"), extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    refusal = refused(ShareArray(0, "t", span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT336", COMMAND)
    assert "192000 bytes" in refusal.message


def test_what_the_threads_combine_needs_room_beside_the_array() -> None:
    text = TEXT.replace("t[4][6]", "t[100][60]").replace("c[24*e + 4*i + j] =", "c[e] +=")
    one = nest_analysis(text, extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    body = accepted(ShareArray(0, "t"), body, one)
    team = Team(1, "i", Level.THREAD_X, span=COMMAND)
    refusal = refused(team, body, one)
    assert (refusal.code, "more than 40960" in refusal.message) == ("AT336", True)


@pytest.mark.parametrize(("pair", "turns"), [("i", "step 2"), ("j", "step 3")])
def test_threads_have_pairs_of_points(pair: str, turns: str) -> None:
    one = nest_analysis(TEXT, {"n": 3}, extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    body = accepted(ShareArray(0, "t"), body, one)
    body = accepted(Spread(0, ("i", "j"), pair=pair), body, one)
    text = text_of(body)
    # Half as many threads, each with two points that are half of the loop apart, innermost.
    assert "in 0:12 @thread.x" in text
    assert f"for {pair} in " in text
    assert turns in text
    body = accepted(Spread(1, ("i", "j"), pair="i"), body, one)
    written = Unroll(0, pair, 2)
    assert written.why_not(body, Context(one)) is None
    assert_same(written.apply(body, Context(one)), one.region, {"n": 3})
    assert_same(body, one.region, {"n": 3})


def test_points_that_make_no_pairs() -> None:
    one = nest_analysis(TEXT.replace("j in 0:6", "j in 0:5"), extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    body = accepted(ShareArray(0, "t"), body, one)
    refusal = refused(Spread(0, ("i", "j"), pair="j", span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT337", COMMAND)
    assert "no even number of iterations" in refusal.message
    assert refused(Spread(0, ("j",), pair="i"), body, one).code == "AT337"
    accepted(Spread(0, ("i", "j"), pair="i"), body, one)


def test_pairs_keep_the_order_of_what_depends() -> None:
    text = TEXT.replace("t[i][j] = a", "t[i][j] = t[i][j - 3] + a").replace("j in 0:6", "j in 2:6")
    one = nest_analysis(text, extents={})
    body = accepted(ShareArray(0, "t"), accepted(BLOCKS, one.region.nest.body, one), one)
    assert refused(Spread(0, ("i", "j"), pair="j"), body, one).code in {"AT252", "AT258"}
