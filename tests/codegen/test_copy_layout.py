"""How the threads of a block share a copy: every element once, with few idle threads."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried

from annotune.codegen.cuda.copies import CopyLayout, copy_layout
from annotune.ir.expr import Expr, Int
from annotune.ir.fold import fold

LOOPS = ("outer", "middle", "inner")
ROW = (("i", 16), ("j", 8))


def copied(team: CopyLayout, counts: dict[str, int]) -> list[tuple[int, ...]]:
    """Return the elements that the threads copy, as the generated loop runs."""
    found = []
    for thread in range(team.size):
        for turn in range(team.rounds):
            place = {name: value(v) for name, v in team.places(Int(thread), Int(turn))}
            idle = team.idle(Int(thread), team.size)
            if idle is None or value(fold(idle, place)):
                found.append(tuple(place[name] for name in counts))
    return found


def value(expr: Expr) -> int:
    found = fold(expr)
    assert isinstance(found, Int)
    return found.value


counts_of = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(
    lambda sizes: dict(zip(LOOPS[-len(sizes) :], sizes, strict=True))
)


@tried(90)
@given(counts=counts_of, threads=st.integers(1, 150))
def test_every_element_is_copied_once(counts: dict[str, int], threads: int) -> None:
    team = copy_layout(counts, threads)
    assert team.size <= threads
    every = [tuple(p) for p in product(*(range(n) for n in counts.values()))]
    assert sorted(copied(team, counts)) == every


@given(counts=counts_of, threads=st.integers(1, 300))
def test_a_quarter_of_the_threads_have_work_where_there_is_enough(
    counts: dict[str, int], threads: int
) -> None:
    assert 4 * copy_layout(counts, threads).size > min(threads, prod(counts.values()))


@pytest.mark.parametrize(
    ("counts", "threads", "team"),
    [
        # Sixteen by eight threads copy a row of the sum at a time.
        (
            {"k": 12, "j": 8, "i": 16},
            128,
            CopyLayout(128, (("i", 16), ("j", 8)), (("k", 12),), 1, 12),
        ),
        # Twelve do not divide the block; its last warp has no place in a row.
        ({"k": 8, "j": 8, "i": 12}, 128, CopyLayout(96, (("i", 12), ("j", 8)), (("k", 8),), 1, 8)),
        ({"k": 8, "j": 8, "i": 8}, 128, CopyLayout(128, (("i", 8), ("j", 8)), (("k", 4),), 2, 8)),
        ({"k": 3, "i": 200}, 128, CopyLayout(100, (), (("i", 2), ("k", 3)), 100, 200)),
        ({"k": 2, "i": 8}, 128, CopyLayout(16, (("i", 8), ("k", 2)))),
    ],
)
def test_the_places_of_threads(counts: dict[str, int], threads: int, team: CopyLayout) -> None:
    assert copy_layout(counts, threads) == team
