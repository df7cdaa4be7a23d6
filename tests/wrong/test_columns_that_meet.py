"""Sizes at which loops are serial that are parallel at those that are tuned for."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.analysis.facts import LoopKind
from annotune.pipeline import Settings, check
from wrong.called import PROGRAMS, Array, Call, Program

PROGRAM = PROGRAMS / "columns_that_meet.c"


def reals(count: int, seed: int = 0) -> Array:
    return Array("f8", count, seed=seed)


CALLS: dict[str, tuple[Call, ...]] = {
    "update": tuple(
        Call("update", n, lda, k, reals(1600))
        for n in (0, 1, 2, 7, 20, 33)
        for k in (0, 1, 3)
        for lda in (1, 2, n - k - 2, n - k - 1, n - k, n, 40)
        if lda > 0
    ),
    "moved": tuple(
        Call("moved", n, m, reals(120))
        for n in (0, 1, 20, 33)
        for m in (0, 1, 5, n - 1, n, 30)
        if m >= 0
    ),
    "behind": tuple(
        Call("behind", n, m, reals(120)) for n in (0, 1, 20, 33) for m in (-30, -3, -1, 0, 1, 2, 30)
    ),
    "rows": tuple(
        Call("rows", n, m, d, reals(1600), reals(40, 1))
        for n in (0, 1, 9, 17)
        for m in (0, 1, 5, 8)
        for d in (0, 1, m, m + 1, 2 * m - 1, 2 * m, 16, 30)
    ),
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("function", CALLS)
def test_every_target_asks_for_them(function: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAM, function=function).check(*CALLS[function])


def test_the_outer_loops_are_parallel() -> None:
    for one in check(Settings(PROGRAM)).regions:
        assert one.analysis is not None
        assert one.analysis.loops[0].kind is LoopKind.PARALLEL, one.region.function
        assert one.analysis.all_sizes, one.region.function
