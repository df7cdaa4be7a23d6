"""Bulk: what it marks, its refusals, and the law."""

from __future__ import annotations

import pytest
from support.interpreter import assert_same
from support.nests import refused
from support.regions import text_of
from transforms.test_bring import TEXT as INPUTS
from transforms.test_bring import spread as with_operator
from transforms.test_keep import spread
from transforms.test_spread import COMMAND, accepted

from annotune.transforms.spread import Bring, Bulk, Keep


def test_both_ways_of_what_is_kept() -> None:
    body, one = spread()
    body = accepted(Bulk(0, "t"), accepted(Keep(0, "t"), body, one), one)
    assert text_of(body).count("bulk") == 1, "the copy back alone: it is written before it is read"
    for count in (1, 2, 5):
        assert_same(body, one.region, {"n": count})


def test_an_input_and_an_operator() -> None:
    body, one = with_operator()
    for array in ("a", "B"):
        body = accepted(Bulk(0, array), accepted(Bring(0, array), body, one), one)
    assert text_of(body).count("bulk") == 2
    for count in (1, 2, 5):
        assert_same(body, one.region, {"n": count})


@pytest.mark.parametrize(
    ("access", "rows", "why"),
    [
        ("a[23*e + 6*i + j]", 1, "is copied from where no multiple of 16 bytes need be"),
        ("a[24*e + 6*i + j + 1]", 1, "is copied from where no multiple of 16 bytes need be"),
        ("a[24*e + 5*i + j]", 1, "is copied in 21 elements, which are no multiple of 16 bytes"),
        ("a[24*e + 6*i + j]", 2, "is not copied whole in each iteration"),
    ],
)
def test_what_is_no_copy_of_whole_pairs(access: str, rows: int, why: str) -> None:
    body, one = with_operator(INPUTS.replace("a[24*e + 6*i + j]", access), rows)
    body = accepted(Bring(0, "a"), body, one)
    refusal = refused(Bulk(0, "a", span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT348", COMMAND)
    assert refusal.message == f"bulk: 'a' {why}"


def test_what_is_not_copied() -> None:
    body, one = with_operator()
    refusal = refused(Bulk(0, "a"), body, one)
    assert refusal.message == "bulk: 'a' has no copy that the threads of a block make together"
