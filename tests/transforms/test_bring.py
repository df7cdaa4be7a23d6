"""Bring: a golden, its refusals, and the law."""

from __future__ import annotations

import pytest
from conftest import Golden
from support.interpreter import assert_same
from support.nests import refused
from support.regions import nest_analysis, text_of
from transforms.test_spread import BLOCKS, COMMAND, accepted

from annotune.analysis.facts import Analysis
from annotune.ir.expr import Int
from annotune.transforms.spread import Batch, Bring, ShareArray, Spread
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body

# An operator of two dimensions that both nests read, and one of the element's own.
TEXT = (
    "for e in 0:n\n"
    "  local double t[4][6]\n"
    "  for i in 0:4\n"
    "    for j in 0:6\n"
    "      t[i][j] = a[24*e + 6*i + j] * B[j][i]\n"
    "  for i in 0:6\n"
    "    for j in 0:4\n"
    "      c[24*e + 4*i + j] = t[j][i] * B[i][j]\n"
)


def spread(text: str = TEXT, rows: int = 1) -> tuple[Body, Analysis]:
    """Return the nest of an element on a block's threads."""
    one = nest_analysis(text, extents={"B": (Int(6), Int(4))})
    body = accepted(ShareArray(0, "t"), accepted(BLOCKS, one.region.nest.body, one), one)
    if rows > 1:
        body = accepted(Batch(0, "e", rows), body, one)
    for step in (Spread(0, ("i", "j")), Spread(1, ("i", "j"))):
        body = accepted(step, body, one)
    return body, one


@pytest.mark.parametrize("rows", [1, 2])
def test_an_operator_of_all_elements(rows: int, golden: Golden) -> None:
    body, one = spread(rows=rows)
    body = accepted(Bring(0, "B"), body, one)
    if rows == 1:
        golden.check("transforms/bring.nest", text_of(body))
    for count in (1, 2, 5):
        assert_same(body, one.region, {"n": count})


def test_what_is_no_operator() -> None:
    body, one = spread()
    whys = {
        "c": "is no array that the nest reads",
        "d": "is no array that the nest reads",
    }
    for array, why in whys.items():
        refusal = refused(Bring(0, array, span=COMMAND), body, one)
        assert (refusal.code, refusal.span) == ("AT340", COMMAND)
        assert refusal.message == f"bring: '{array}' {why}"
    text = TEXT.replace("c[24*e + 4*i + j] =", "B[0][0] =").replace("t[j][i] * B[i][j]", "1.0")
    one = nest_analysis(
        text.replace("for i in 0:6", "for i in 0:1"), extents={"B": (Int(6), Int(4))}
    )
    refusal = refused(Bring(0, "B"), one.region.nest.body, one)
    assert refusal.message.endswith("is not read by threads that share the work of a block")


@pytest.mark.parametrize("rows", [1, 2])
def test_an_iterations_own_part(rows: int, golden: Golden) -> None:
    body, one = spread(rows=rows)
    body = accepted(Bring(0, "a"), accepted(Bring(0, "B"), body, one), one)
    golden.check(f"transforms/bring_part_{rows}.nest", text_of(body))
    for count in (1, 2, 5):
        assert_same(body, one.region, {"n": count})


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    ("access", "length"),
    [
        ("a[24*e + 6*i + j + 1]", 24),
        # The parts overlap, or have others between them.
        ("a[23*e + 6*i + j]", 24),
        ("a[30*e + 20 - 6*i - j + 5]", 24),
        ("a[20*e + 6*i + j] * a[20*e + 4*j - i + 6]", 27),
    ],
)
def test_parts_at_any_distance(access: str, length: int, rows: int) -> None:
    body, one = spread(TEXT.replace("a[24*e + 6*i + j]", access), rows=rows)
    body = accepted(Bring(0, "a"), body, one)
    assert f"a_tile[{rows * length}]" in text_of(body)
    for count in (1, 2, 4):
        assert_same(body, one.region, {"n": count})


@pytest.mark.parametrize(
    ("access", "is_refused"),
    [
        # One iteration steps over elements that are its own all the same.
        ("a[24*e + 6*i - j + 5]", False),
        # From the end, one of three, and at two distances.
        ("a[24*n - 24*e - 6*i - j - 1]", True),
        ("a[72*e + 3*(6*i + j)]", True),
        ("a[24*e + 6*i + j] * a[e + i + j]", True),
    ],
)
def test_parts_that_are_not_known(access: str, is_refused: bool) -> None:
    body, one = spread(TEXT.replace("a[24*e + 6*i + j]", access))
    refusal = Bring(0, "a").why_not(body, Context(one))
    assert (refusal is not None) == is_refused


def test_an_operator_read_in_part() -> None:
    # Its first rows need not be there as far as the nest tells.
    body, one = spread(TEXT.replace("B[j][i]", "2.0").replace("B[i][j]", "B[5][j]"))
    body = accepted(Bring(1, "B"), body, one)
    assert "B_tile[4]" in text_of(body)
    assert_same(body, one.region, {"n": 2})


def test_one_that_is_written() -> None:
    text = TEXT.replace("c[24*e + 4*i + j] = t[j][i]", "a[24*e + 4*i + j] = t[j][i]")
    body, one = spread(text.replace("a[24*e + 6*i + j] *", "a[24*e + j] *"))
    assert refused(Bring(0, "a"), body, one).message.endswith("is written in the nest")


def test_no_block_shares_its_work() -> None:
    one = nest_analysis(TEXT, extents={"B": (Int(6), Int(4))})
    blocks = accepted(BLOCKS, one.region.nest.body, one)
    for body in (one.region.nest.body, blocks):
        refusal = refused(Bring(0, "B", span=COMMAND), body, one)
        assert refusal.message.endswith("is not read by threads that share the work of a block")


def test_one_too_large_for_the_blocks_memory() -> None:
    # A launch asks for what copies take beside the arrays that a block has by itself.
    body, one = spread(TEXT.replace("t[4][6]", "t[64][96]"))
    accepted(Bring(0, "B"), body, one)
    text = TEXT.replace("a[24*e + 6*i + j]", "1.0").replace("t[j][i] * B[i][j]", "a[13*i + j]")
    text = text.replace("24*e + 4*i + j", "13000*e + 13*i + j").replace("a[", "a[13000*e + ")
    text = text.replace("for i in 0:6", "for i in 0:1000").replace("for j in 0:4", "for j in 0:13")
    body, one = spread(text)
    refusal = refused(Bring(0, "a", span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT336", COMMAND)
    assert "104192 bytes" in refusal.message
