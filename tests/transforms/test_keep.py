"""Keep: goldens, its refusals, and the law."""

from __future__ import annotations

import pytest
from conftest import Golden
from support.interpreter import assert_same
from support.nests import refused
from support.regions import nest_analysis, text_of
from transforms.test_spread import BLOCKS, COMMAND, accepted

from annotune.analysis.facts import Analysis
from annotune.transforms.spread import Batch, Keep, Spread
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body

# What the first nest leaves in t the second reads, and the third adds to.
TEXT = (
    "for e in 0:n\n"
    "  for i in 0:4\n"
    "    for j in 0:6\n"
    "      t[24*e + 6*i + j] = a[24*e + 6*i + j]\n"
    "  for i in 0:6\n"
    "    for j in 0:4\n"
    "      c[24*e + 4*i + j] = t[24*e + 6*j + i]\n"
    "  for i in 0:24\n"
    "    t[24*e + i] += c[24*e + 23 - i]\n"
)
STEPS = (Spread(0, ("i", "j")), Spread(1, ("i", "j")), Spread(2, ("i",)))


def spread(text: str = TEXT, rows: int = 1) -> tuple[Body, Analysis]:
    """Return the nests of an element on a block's threads."""
    one = nest_analysis(text, extents={})
    body = accepted(BLOCKS, one.region.nest.body, one)
    if rows > 1:
        # A block has rows where its arrays are its own.
        body = accepted(Batch(0, "e", rows), body, one)
    for step in STEPS:
        body = accepted(step, body, one)
    return body, one


@pytest.mark.parametrize("rows", [1, 3])
def test_a_part_of_each_element(rows: int, golden: Golden) -> None:
    body, one = spread(rows=rows)
    body = accepted(Keep(0, "t"), body, one)
    golden.check(f"transforms/keep_{rows}.nest", text_of(body))
    body = accepted(Keep(0, "c"), body, one)
    for count in (1, 2, 3, 5):
        assert_same(body, one.region, {"n": count})


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    "text",
    [
        # It adds to what it finds, and leaves elements as they are.
        TEXT.replace("t[24*e + 6*i + j] =", "t[24*e + 6*i + j] +="),
        TEXT.replace("for i in 0:4\n", "for i in 1:4\n"),
        # There are others between the parts.
        TEXT.replace("t[24*e", "t[30*e + 3"),
        TEXT.replace("t[24*e + ", "t[24*e + 23 - ").replace("6*i + j] = a", "(6*i + j)] = a"),
    ],
)
def test_parts_of_other_forms(text: str, rows: int) -> None:
    body, one = spread(text.replace("23 - 6*j + i", "23 - 6*j - i"), rows)
    body = accepted(Keep(0, "t"), body, one)
    for count in (1, 2, 5):
        assert_same(body, one.region, {"n": count})


@pytest.mark.parametrize(
    ("array", "last"),
    [
        # It is no output; one element of three is; two nests have it at two distances.
        ("a", "    c[24*e + i] += 1.0\n"),
        ("d", "    d[72*e + 3*i] = 1.0\n"),
        ("d", "    d[24*e + i] = d[n - e]\n"),
    ],
)
def test_what_has_no_part(array: str, last: str) -> None:
    first, _, _ = TEXT.rpartition("    t[")
    one = nest_analysis(first + last, extents={})
    body = BLOCKS.apply(one.region.nest.body, Context(one))
    for step in STEPS:
        body = step.apply(body, Context(one))
    refusal = refused(Keep(0, array, span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT342", COMMAND)


def test_no_block_shares_its_work() -> None:
    one = nest_analysis(TEXT, extents={})
    blocks = accepted(BLOCKS, one.region.nest.body, one)
    for body in (one.region.nest.body, blocks):
        refusal = refused(Keep(0, "t", span=COMMAND), body, one)
        assert refusal.message.endswith("is not written by threads that share the work of a block")


def test_one_too_large_for_the_blocks_memory() -> None:
    text = TEXT.replace("i in 0:4", "i in 0:1200").replace("24*e + 6*i", "7200*e + 6*i")
    body, one = spread(text.replace("t[24*e", "t[7200*e"))
    refusal = refused(Keep(0, "t", span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT336", COMMAND)
