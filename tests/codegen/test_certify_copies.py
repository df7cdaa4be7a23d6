"""The certificate names the copies from which statements read their inputs."""

from __future__ import annotations

import pytest
from decide.recipes import decided_text
from decide.test_two_level import SMALL, contraction

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.strategies.registry import AUTO, DIRECT

TILE = f"{SMALL} register_x=2, register_y=2, step=2)\n"
BLOCKS = "p4_t, p5_t, p6, h1, h2_t, h3_t"


def listed(recipe: str, strategy: str = AUTO) -> list[str]:
    one = decided_text(contraction(recipe, n=6), strategy)
    made = certify(one.analysis, one.plan())
    assert verify(made) == ()
    text = made.text().splitlines()
    assert all(str(copy) in text for copy in made.copied)
    return [f"{c.statements} {c.array} {c.name} {c.space} {sorted(c.loops)}" for c in made.copied]


@pytest.mark.parametrize("way", ["", "pipeline(0, 2)", 'pipeline(0, 2, "registers")'])
def test_shared_copies_of_both_inputs_are_named(way: str) -> None:
    loops = sorted([*BLOCKS.split(", "), "h7_t"])
    found = listed(TILE + way)
    for array in "tv":
        assert f"(0,) {array} {array}_tile shared memory {loops}" in found


def test_a_plan_without_copies_names_none() -> None:
    assert listed("", DIRECT) == []
