"""Passes over banks and lines, and what stays in registers, counted by hand for nekbone's ax."""

from __future__ import annotations

from functools import cache

import pytest
from support.regions import EXAMPLES, text_regions

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.normalised import normalised
from annotune.ir.expr import Access, Var
from annotune.ir.nest import Loop
from annotune.model.passes import NestAccess, NestAccesses, nest_accesses
from annotune.space.decision import Base


@pytest.mark.parametrize(
    ("stride", "width", "is_near", "passes"),
    [
        (0, 8, True, 1),  # one word for all lanes
        (1, 8, True, 2),  # 256 bytes, 128 in each pass
        (1, 4, True, 1),
        (2, 8, True, 4),  # every other pair of banks
        (9, 8, True, 2),  # an odd stride meets all of them
        (16, 8, True, 32),
        (1, 8, False, 2),  # lines of 128 bytes
        (6, 8, False, 12),
        (100, 8, False, 32),
    ],
)
def test_the_passes_of_one_access(stride: int, width: int, is_near: bool, passes: int) -> None:
    access = NestAccess(Access("a", (Var("i"),)), False, is_near, width, {"i": stride}, ())
    assert access.passes([{"i": lane} for lane in range(32)]) == passes


@cache
def of_ax(nest: int, near: tuple[str, ...] = ("D", "u")) -> NestAccesses:
    """Return the accesses of one of ax's two nests, with 8 points a side."""
    text = (EXAMPLES / "nekbone/ax.c").read_text().replace("param n = 10", "param n = 8")
    (region,) = text_regions(text)
    unit, *_ = Base.of(analyse(normalised(region))).apart
    loop = [stmt for stmt in unit.band[-1].body if isinstance(stmt, Loop)][nest]
    return nest_accesses(unit, loop, ("k", "j", "i"), near)


def test_what_stays_in_registers() -> None:
    first, second = of_ax(0), of_ax(1)
    # Rows of D for i and for j and a column of u; columns of D for both and one of ut.
    assert [first.kept(("k",)), second.kept(("k",))] == [24, 24]
    # All that a point of its own loads.
    assert [first.kept(()), second.kept(())] == [8 * 6 + 6, 8 * 6]
    assert first.reads("u") == 3 * 8**4
    assert first.reads("g") == 6 * 8**3


def test_the_passes_of_a_nest() -> None:
    # Of each of two warps before the loop: rows of D, in pairs, for eight i and for four j, and the
    # column of u; in each of its 8 iterations rows of u in pairs for four j, eight of its
    # elements along i, a row of D in pairs for all, six factors of g that are 48 bytes apart
    # between lanes, and three results.
    before = 4 * 4 + 4 * 2 + 8 * 2
    inside = 4 * 2 + 8 * 1 + 4 * 1 + 6 * 12 + 3 * 2
    whole = of_ax(0).passes(("k",))
    assert whole == 2 * (before + 8 * inside)
    assert whole < min(of_ax(0).passes(()), of_ax(0).passes(("j",)), of_ax(0).passes(("i",)))
    assert of_ax(0).scattered(("k",)) == {"g"}
    assert of_ax(0, ()).scattered(("i",)) >= {"g", "u"}


def test_pairs_of_points_load_once_what_both_need() -> None:
    second = of_ax(1)
    # Two columns of D along j for one, and one along i; the column of ut moves with j, too.
    assert second.kept(("k",), "j") == 2 * 8 + 8 + 2 * 8
    assert second.passes(("k",), "j") < second.passes(("k",))
    # A thread has two points: what it asks for is more than for one, and less than for two.
    single, both = second.instructions(("k",)), second.instructions(("k",), "j")
    assert single < both < 2 * single
    # Each lane gets its own words, those that lanes share, too.
    assert second.busy(("k",)) > second.passes(("k",))
    assert second.busy(("k",), "j") < second.busy(("k",))
