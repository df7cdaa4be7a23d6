"""Outer products: all loops but one as one, and a few elements along that one for each thread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from decide.recipes import decided_text
from decide.test_flat import text_of
from support.executed import ORDERS, Call, Part, executable
from support.interpreter import assert_same, plan_body
from support.laws import IS_THOROUGH

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.model.shape import shape
from annotune.schedule.candidate import Candidate
from annotune.schedule.units import with_merged
from annotune.space.decision import Point
from annotune.strategies.pointwise import elementwise
from annotune.strategies.registry import AUTO, DIRECT

# i is the slowest index of C, and v has it; t has it not.
OUTER = (
    "double C[restrict ni][nj][nk][nl], const double t[restrict nl][nj], "
    "const double v[restrict ni][nk]",
    "C[i][j][k][l] += t[l][j] * v[i][k];",
)
LARGE = {"ni": 64, "nj": 20, "nk": 50, "nl": 24}


def outer(recipe: str = "", **sizes: int) -> str:
    return text_of("ijkl", *OUTER, recipe, **sizes)


def first(strategy: str = AUTO, **sizes: int) -> Candidate:
    return decided_text(outer(**sizes), strategy).decision.choices[0]


def test_a_thread_keeps_what_its_elements_share() -> None:
    choice = first(**LARGE)
    assert choice.merges == (("j", "k", "l"),)
    assert choice.tiles == (("jkl", 256), ("i", 4))
    assert (choice.blocks, choice.threads) == (("jkl_t", "i_t"), ("jkl",))
    assert choice.general is not None
    assert choice.general.merges == ()
    assert first(DIRECT, **LARGE).merges == ()


@pytest.mark.parametrize(("length", "count"), [(64, 4), (63, 3), (62, 2), (61, 4)])
def test_as_many_elements_as_divide_the_loop(length: int, count: int) -> None:
    assert dict(first(**{**LARGE, "ni": length}).tiles)["i"] == count


def test_no_loop_is_left_to_a_thread_and_each_element_counts() -> None:
    one = decided_text(outer(**{**LARGE, "nk": 64}), AUTO)
    (unit,) = one.base.apart
    choice = one.decision.choices[0]
    form = shape(with_merged(unit, choice.merges), choice)
    assert form.serial == (("i", 4),)
    assert form.blocks * form.threads * 4 == 64 * 20 * 64 * 24


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param({**LARGE, "nj": 4, "nk": 5}, id="too few threads for the device"),
        pytest.param({**LARGE, "ni": 1, "nj": 1280}, id="a loop of one element"),
        pytest.param({"ni": 300000, "nj": 3, "nk": 5, "nl": 1}, id="others that fill no block"),
    ],
)
def test_where_it_does_not_pay(sizes: dict[str, int]) -> None:
    (unit,) = decided_text(outer(**sizes)).base.apart
    found = elementwise(unit)
    assert not isinstance(found, str)
    assert not any(dict(choice.tiles).get("i") and choice.merges for choice in found)


def test_inputs_with_every_loop_leave_nothing_to_keep() -> None:
    parameters = "double A[restrict ni][nj][nk][nl], const double B[restrict ni][nj][nk][nl]"
    text = text_of("ijkl", parameters, "A[i][j][k][l] += B[i][j][k][l];", **LARGE)
    (unit,) = decided_text(text).base.apart
    found = elementwise(unit)
    assert not isinstance(found, str)
    assert not any(len(choice.tiles) > 1 and choice.merges for choice in found)


def test_it_is_certified_and_does_the_same() -> None:
    one = decided_text(outer(ni=5, nj=3, nk=2, nl=3))
    (unit,) = decided_text(outer(**LARGE)).base.apart
    found = elementwise(unit)
    assert not isinstance(found, str)
    plan = one.at(Point(picked={0: replace(found[0], origin="elementwise")})).plan()
    assert plan.choices[0].merges == (("j", "k", "l"),)
    assert verify(certify(one.analysis, plan)) == ()
    assert_same(plan_body(plan), one.region, private=one.analysis.homes)


def test_the_recipe_asks_for_the_same_plan() -> None:
    one = decided_text(outer(**LARGE), AUTO)
    again = decided_text(outer(one.recipe(), **LARGE), AUTO)
    assert again.plan().steps == one.plan().steps


def test_generated_text_is_right_at_every_size(tmp_path: Path) -> None:
    program = executable(tmp_path, outer(**LARGE), strategy=AUTO)
    assert "for (long i = i_t; i < i_t + 4; i++) {" in program.cuda
    sizes = (tuple(LARGE.values()), (1, 1, 1, 1), (5, 3, 2, 4), (61, 4, 5, 6))
    program.check(
        *(
            Call(
                "f",
                (*n, Part(0), Part(1), Part(2)),
                (n[0] * n[1] * n[2] * n[3], n[3] * n[1], n[0] * n[2]),
                orders=ORDERS if IS_THOROUGH or n != sizes[0] else ORDERS[-1:],
            )
            for n in sizes
        )
    )
