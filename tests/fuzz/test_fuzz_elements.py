"""Random element nests and sums into one output: all targets executed, at points of the space."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.laws import IS_THOROUGH

from .choices import Seeded
from .driver import LONG
from .elements import element_nest
from .examine import examine
from .execute import Builder, execute
from .program import Loop, Program, statements

EXECUTED = 20 if IS_THOROUGH else 1


# The texts of a long product take the longest to be made.
MADE = [pytest.param(k, marks=pytest.mark.slow) if k == "products" else k for k in LONG]


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_texts_of_long_programs_run_as_the_original(kind: str, tmp_path: Path) -> None:
    drawn = [LONG[kind](Seeded("executed", k), f"f{k}") for k in range(EXECUTED)]
    ones = [examine(p.text(), k, bool(k % 2), with_claims=False) for k, p in enumerate(drawn)]
    assert not any(one.crashes for one in ones), [one.crashes for one in ones]
    ran = execute(ones, Builder(tmp_path), kind, races=True)
    assert not ran.faults, "\n".join(f"{f.text}{f.library}: {f.fault}" for f in ran.faults)
    assert not any(one.refused for one in ones)
    assert ran.executed["original"] == ran.executed["cuda"] == EXECUTED


@pytest.mark.slow
def test_the_nests_of_an_element_hand_on_arrays() -> None:
    """Half of the programs have one loop over elements around nests that share a work array."""
    drawn = [element_nest(Seeded("shapes", k), "f") for k in range(40)]
    joined = [p for p in drawn if len(p.body) == 1]
    assert 15 <= len(joined) < 40
    assert any(_has_work_array(p) for p in joined)
    assert all(sum(isinstance(s, Loop) for s in statements(p.body)) > 3 for p in drawn)


def _has_work_array(program: Program) -> bool:
    return any(a.name.startswith("W") and a.kind == "local" for a in program.arrays)
