"""Sums taken apart and triangles turned, beside what must stay as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.pipeline import Settings, check
from wrong.called import PROGRAMS, Array, Call, Program

PROGRAM = PROGRAMS / "turned_triangles.c"
SIZES = (-1, 0, 1, 2, 3, 7, 16, 33)


def reals(count: int, seed: int = 0) -> Array:
    return Array("f8", count, seed=seed)


def triangles(name: str, *first: float) -> tuple[Call, ...]:
    """Return calls of a function of a matrix with rows of a length of their own."""
    return tuple(
        Call(name, n, lda, *first, reals(40), reals(40, 1), reals(40 * 40, 2))
        for n in SIZES
        for lda in (max(n, 1), 40)
    )


CALLS: dict[str, tuple[Call, ...]] = {
    "lower": triangles("lower", 0.5),
    "downwards": triangles("downwards"),
    "half": triangles("half", 0.5),
    "skipped": triangles("skipped"),
    "band": tuple(
        Call("band", m, n, kl, ku, Array("f4", 40), reals(40, 1), reals(40 * 40, 2))
        for m, n in ((0, 5), (5, 0), (1, 1), (16, 14), (7, 33), (33, 7))
        for kl in (0, 1, 3, 8)
        for ku in (0, 2, 5)
    ),
    "slopes": tuple(
        Call("slopes", n, m, s, reals(80), reals(80, 1), reals(80, 2))
        for n in SIZES
        for m in (0, 1, 9, 18, 40)
        for s in (0, 1, 2, 5)
    ),
    "both": tuple(
        Call("both", n, m, k, Array("c16", 40), Array("c16", 40, seed=1))
        for n in SIZES
        for m in (0, 2, 12, 33)
        for k in (-1, 0, 1, 3, 9)
    ),
    "mirrored": tuple(
        Call("mirrored", n, m, reals(40), reals(40, 1), reals(40 * 40, 2))
        for n in SIZES
        for m in (0, 1, 12, 33)
    ),
    "of_shorts": tuple(Call("of_shorts", n, Array("i2", 40), reals(40, 1)) for n in SIZES),
    **{
        name: tuple(Call(name, n, reals(40), reals(40, 1)) for n in SIZES)
        for name in ("reads_another", "asks_another", "scaled")
    },
    "steps": tuple(Call("steps", n, reals(80), reals(80, 1), reals(40, 2)) for n in SIZES),
    "left_behind": tuple(
        Call("left_behind", n, reals(40), reals(40, 1), returns="i4") for n in SIZES
    ),
}
TURNED = {"lower", "band", "slopes", "both", "half", "skipped"}
APART = {"half", "mirrored"}


@pytest.mark.alike(16)
@pytest.mark.parametrize("function", CALLS)
def test_every_target_adds_the_same(function: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAM, function=function).check(*CALLS[function])


def test_what_is_taken_apart_and_turned() -> None:
    regions = [one.analysis.region for one in check(Settings(PROGRAM)).regions if one.analysis]
    proofs = {r.function: " ".join(step.proof for step in r.steps) for r in regions}
    assert {name for name, proof in proofs.items() if "goes around" in proof} == TURNED
    assert {name for name, proof in proofs.items() if "runs 2 times" in proof} == APART
