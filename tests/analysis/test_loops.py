"""What loops may do, and the words that say why."""

from __future__ import annotations

import pytest

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis

from .regions import D1_1, D1_1_SIZES, GRAD3, GRAD3_SIZES, region


def _kinds(analysis: Analysis) -> list[str]:
    return [f"{facts.name} {facts.kind}" for facts in analysis.loops]


def test_a_triples_kernel() -> None:
    analysis = analyse(region(D1_1, sizes=D1_1_SIZES))
    *outer, h7 = analysis.loops
    assert {facts.kind for facts in outer} == {"parallel"}
    assert outer[-1].proof == "no two iterations of h3 touch the same element of t3"
    assert (h7.kind, h7.proof) == ("reduction", "t3 is accumulated over h7")
    assert all(dependence.is_reduction for dependence in analysis.dependences)


def test_local_grad3() -> None:
    analysis = analyse(region(GRAD3, fixed=GRAD3_SIZES))
    inner = ["i parallel", "j parallel", "k parallel", "m reduction"]
    assert _kinds(analysis) == ["e parallel", *inner * 3]


PROOFS = {
    "a value travels": (
        "for i in 1:n: a[i] = a[i-1]",
        ["i serial"],
        "a[i] is written at i and read as a[i - 1] at i+1 (distance 1)",
    ),
    "a value is read before it is overwritten": (
        "for i in 0:n: a[i] = a[i+2]",
        ["i serial"],
        "a[i + 2] is read at i and written as a[i] at i+2 (distance 2)",
    ),
    "every iteration writes one element": (
        "for i in 0:n: a[0] = b[i]",
        ["i serial"],
        "a[0] is written in one iteration of i and written again in a later one",
    ),
    "a sum over everything": (
        "for i in 0:n: s += a[i]",
        ["i reduction"],
        "s is accumulated over i",
    ),
    "a sum written out": (
        "for i in 0:n: s = b[i] + s - c[i]",
        ["i reduction"],
        "s is accumulated over i",
    ),
    "a product": ("for i in 0:n: s = s * a[i]", ["i reduction"], "s is accumulated over i"),
    "a difference the wrong way round": (
        "for i in 0:n: s = a[i] - s",
        ["i serial"],
        "s is written in one iteration of i and read in a later one",
    ),
    "a sum that reads itself": (
        "for i in 0:n: s += s * a[i]",
        ["i serial"],
        "s is written in one iteration of i and read in a later one",
    ),
    "a scalar of each iteration": (
        "for i in 0:n\n  t = a[i]\n  b[i] = t * t\n",
        ["i parallel"],
        "each iteration of i has its own t, and no two iterations of i touch the same element of b",
    ),
    "a scalar read above its write": (
        "for i in 0:n\n  b[i] = t\n  t = a[i]\n",
        ["i serial"],
        "t is written in one iteration of i and read in a later one",
    ),
    "zero is a subscript": (
        "for i in 0:n: a[i-i] += b[i]",
        ["i reduction"],
        "a is accumulated over i",
    ),
    "rows that shift": (
        "for i in 1:n: for j in 0:n-1: a[i*n + j] = a[(i-1)*n + j + 1]",
        ["i serial", "j parallel"],
        "a[i * n + j] is written at i and read as a[(i - 1) * n + j + 1] at i+1 (distance 1)",
    ),
}


@pytest.mark.parametrize("name", PROOFS)
def test_proof(name: str) -> None:
    text, kinds, proof = PROOFS[name]
    analysis = analyse(region(text))
    assert analysis.all_sizes
    assert _kinds(analysis) == kinds
    assert analysis.loops[0].proof == proof


def test_an_accumulator_is_private_to_the_loop_that_starts_it() -> None:
    text = (
        "for i in 0:n\n  for j in 0:n\n    s = 0.0\n    for k in 0:n\n"
        "      s += a[i*n + k]\n    b[i*n + j] = s\n"
    )
    analysis = analyse(region(text))
    assert _kinds(analysis) == ["i parallel", "j parallel", "k reduction"]
    assert [facts.private for facts in analysis.loops] == [("s",), ("s",), ()]


def test_a_scalar_set_by_an_inner_loop_is_not_private() -> None:
    """The inner loop may run no iteration."""
    text = "for i in 0:n\n  for j in 0:i+1\n    t = a[j]\n  b[i] = t\n"
    analysis = analyse(region(text))
    assert analysis.private == frozenset()
    assert _kinds(analysis) == ["i serial", "j serial"]


def test_one_scalar_with_two_lives() -> None:
    text = (
        "for e in 0:n\n"
        "  for i in 0:n\n    t = a[i]\n    b[e*n + i] = t\n"
        "  for j in 0:n\n    t = b[e*n + j]\n    c[e*n + j] = t\n"
    )
    analysis = analyse(region(text))
    assert _kinds(analysis) == ["e parallel", "i parallel", "j parallel"]
    assert [facts.private for facts in analysis.loops] == [("t",)] * 3


def test_a_value_that_leaves_its_loop_is_not_private_to_it() -> None:
    text = (
        "for e in 0:n\n  t = a[e]\n  for i in 0:n\n    t = b[i]\n    c[e*n + i] = t\n  d[e] = t\n"
    )
    analysis = analyse(region(text))
    assert _kinds(analysis) == ["e parallel", "i serial"]
    assert [facts.private for facts in analysis.loops] == [("t",), ()]


def test_a_time_loop_is_serial_and_its_sweeps_are_parallel() -> None:
    text = (
        "for t in 0:T\n"
        "  for i in 1:n-1\n    b[i] = a[i-1] + a[i+1]\n"
        "  for i in 1:n-1\n    a[i] = b[i]\n"
    )
    assert _kinds(analyse(region(text))) == ["t serial", "i parallel", "i parallel"]
