"""Serial loops of the host around launches, and the scalars of an iteration that pass between."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.pipeline import Settings, check
from wrong.called import PROGRAMS, Array, Call, Program

PROGRAM = PROGRAMS / "passed_between_launches.c"
SIZES = (-1, 0, 1, 2, 7, 16, 33)


def reals(count: int, seed: int = 0) -> Array:
    return Array("f8", count, seed=seed)


CALLS: dict[str, tuple[Call, ...]] = {
    "solve": tuple(
        Call("solve", n, lda, unit, reals(40), reals(40 * 40, 1))
        for n in SIZES
        for lda in (max(n, 1), 40)
        for unit in (0, 1)
    ),
    "kept": tuple(Call("kept", n, *(reals(40, k) for k in range(4))) for n in SIZES),
    "types": tuple(
        Call("types", n, m, Array("i4", 40), Array("f4", 40 * 40), Array("i2", 40), returns="i4")
        for n in SIZES
        for m in (0, 1, 16, 33)
    ),
    "lives": tuple(Call("lives", n, *(reals(40, k) for k in range(3))) for n in SIZES),
    "passed": tuple(
        Call("passed", n, m, reals(40 * 40), reals(40, 1), reals(41, 2))
        for n in SIZES
        for m in (0, 1, 16, 33)
    ),
    "symmetric": tuple(
        Call("symmetric", n, lda, 0.5, reals(40), reals(40, 1), reals(40 * 40, 2))
        for n in SIZES
        for lda in (max(n, 1), 40)
    ),
}


@pytest.mark.alike(6)
@pytest.mark.parametrize("function", CALLS)
def test_every_target_passes_them_on(function: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAM).check(*CALLS[function])


def test_only_what_has_one_life_is_kept_in_memory() -> None:
    reports = {one.region.function: one for one in check(Settings(PROGRAM)).regions}
    assert [name for name, one in reports.items() if not one.has_kernels] == ["lives"]
