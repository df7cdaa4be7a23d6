"""Batch: a golden, its refusals, and the law."""

from __future__ import annotations

import pytest
from conftest import Golden
from support.interpreter import assert_same
from support.nests import assert_law, refused
from support.regions import nest_analysis, text_of
from transforms.test_spread import BLOCKS, COMMAND, TEXT, accepted

from annotune.analysis.facts import Analysis
from annotune.ir.nest import Level
from annotune.transforms.map import Team
from annotune.transforms.spread import Batch, ShareArray, Spread
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body


def shared(text: str = TEXT, **sizes: int) -> tuple[Body, Analysis]:
    """Return the nest of an element on blocks, its array in shared memory."""
    one = nest_analysis(text, sizes, extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    return accepted(ShareArray(0, "t"), body, one), one


def test_the_rows_of_a_block(golden: Golden) -> None:
    body, one = shared()
    for step in (Batch(0, "e", 2), Spread(0, ("i", "j")), Spread(1, ("i", "j"))):
        body = accepted(step, body, one)
    golden.check("transforms/batch.nest", text_of(body))
    assert_law(body, one)


@pytest.mark.parametrize("count", [1, 2, 4, 5, 6, 7])
def test_elements_that_fill_no_block(count: int) -> None:
    body, one = shared(n=count)
    context = Context(one, one.region.sizes)
    for step in (Batch(0, "e", 3), Spread(0, ("i", "j")), Spread(1, ("i", "j"))):
        assert step.why_not(body, context) is None
        body = step.apply(body, context)
    assert_same(body, one.region, {"n": count})


def test_threads_of_a_row_have_no_others_inside() -> None:
    body, one = shared()
    body = accepted(Spread(0, ("i", "j")), accepted(Batch(0, "e", 2), body, one), one)
    # A row is a loop on y; x is inside it, and nothing is inside x.
    again = Team(1, "i", Level.THREAD_Y, span=COMMAND)
    assert refused(again, body, one).code == "AT278"
    inside = Team(1, "i", Level.THREAD_X)
    assert refused(Team(1, "j", Level.THREAD_X), accepted(inside, body, one), one).code == "AT278"


def test_a_row_adds_up_nothing() -> None:
    text = TEXT.replace("c[24*e + 4*i + j] = t[j][i]", "c[e] += t[j][i]")
    body, one = shared(text)
    accepted(Team(1, "i", Level.THREAD_X), body, one)
    rows = accepted(Batch(0, "e", 2), body, one)
    assert refused(Team(1, "i", Level.THREAD_X, span=COMMAND), rows, one).code == "AT278"


def test_a_loop_that_stays_around_the_threads_of_a_row() -> None:
    text = TEXT.replace("for j in 0:4", "for j in i:4")
    body, one = shared(text)
    accepted(Team(1, "j", Level.THREAD_X), body, one)
    rows = accepted(Batch(0, "e", 2), body, one)
    assert refused(Team(1, "j", Level.THREAD_X), rows, one).code == "AT278"
    accepted(Team(1, "i", Level.THREAD_X), rows, one)


WRONG = {
    "no block": ((), "is on no block"),
    "one iteration": ((BLOCKS, ShareArray(0, "t")), "needs two iterations or more for that"),
    "an array of each thread": ((BLOCKS,), "has an array of each thread, 't'"),
    "threads inside": (
        (BLOCKS, ShareArray(0, "t"), Spread(0, ("i", "j"))),
        "has loops on threads inside it",
    ),
    "twice": ((BLOCKS, ShareArray(0, "t"), Batch(0, "e", 2)), "is on no block"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_has_no_rows(case: str) -> None:
    steps, why = WRONG[case]
    one = nest_analysis(TEXT, extents={})
    body = one.region.nest.body
    for step in steps:
        body = accepted(step, body, one)
    refusal = refused(Batch(0, "e", 1 if "one" in case else 2, span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT338", COMMAND)
    assert refusal.message == (
        f"batch: a block cannot have several iterations of 'e': the loop {why}"
    )


def test_a_statement_beside_the_nests() -> None:
    text = TEXT.replace("  for i in 0:4", "  t[0][0] = a[24*e]\n  for i in 0:4", 1)
    one = nest_analysis(text.replace("for j in 0:6", "for j in 1:6"), extents={})
    body = accepted(ShareArray(0, "t"), accepted(BLOCKS, one.region.nest.body, one), one)
    refusal = refused(Batch(0, "e", 2), body, one)
    assert refusal.message.endswith("the loop has statements beside the nests inside it")


def test_rows_too_many_for_the_blocks_memory() -> None:
    body, one = shared(TEXT.replace("t[4][6]", "t[40][60]"))
    assert accepted(Batch(0, "e", 2), body, one)
    refusal = refused(Batch(0, "e", 4, span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT336", COMMAND)
    assert "76800 bytes" in refusal.message
    assert refused(Batch(0, "i", 2), body, one).code == "AT338"
    assert refused(Batch(0, "k", 2), body, one).code == "AT251"
