"""Loops as f2c and older authors wrote them, in all targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from wrong.called import PROGRAMS, Array, Call, Program

COUNTS = (-3, 0, 1, 2, 7, 33)


def reals(count: int, *values: float, seed: int = 0) -> Array:
    return Array("f8", count, values, seed=seed)


def one(value: int) -> Array:
    """Return an integer by reference, as Fortran passes it."""
    return Array("i4", 1, (value,))


CALLS: dict[str, tuple[Call, ...]] = {
    "legacy_jumps.c": (
        *(Call("roots", one(n), reals(33, 0, -1, 4), reals(33)) for n in COUNTS),
        *(
            Call("three_ways", one(n), one(m), reals(33, 0, -1, 4, 0), reals(33))
            for n in COUNTS
            for m in (0, 4)
        ),
        *(
            Call("left_behind", n, reals(33), reals(33, 1, 2), Array("i4", 33), returns="i4")
            for n in COUNTS
        ),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_target_computes_the_same(name: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAMS / name).check(*CALLS[name])
