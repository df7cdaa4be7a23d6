"""Loops as f2c and older authors wrote them, in all targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from wrong.called import PROGRAMS, Array, Call, Program

COUNTS = (-3, 0, 1, 2, 7, 33)
UNROLLED = (*range(-6, 14), 30, 31, 32, 33, 34, 35)


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
    "legacy_starts.c": (
        *(
            Call(name, one(n), reals(1, 3), x, one(incx), y, one(incy), returns=returns)
            for name, returns in (("chosen", ""), ("before", "i4"))
            for n in (-3, 0, 1, 2, 7, 33)
            for x, y in ((reals(99), reals(99)),)
            for incx in (-2, 0, 1, 3)
            for incy in (-3, -1, 0, 1, 2, 3)
        ),
        *(
            Call("goes_on", n, ("i8", k), reals(80), reals(33), returns="i8")
            for n in COUNTS
            for k in (1, 5)
        ),
        *(
            Call("chosen_twice", n, m, k, reals(50), reals(33))
            for n in COUNTS
            for m in (0, 1, 3)
            for k in (-2, 1, 2, 9)
        ),
    ),
    "legacy_steps.c": (
        *(
            Call("fortran", one(n1), one(n2), one(n3), reals(40, 0, -1), reals(40), returns="i4")
            for n1 in (1, 4, 33)
            for n2 in (-3, 0, 1, 3, 4, 5, 33, 34)
            for n3 in (-7, -2, -1, 0, 1, 2, 3, 40)
            if n3 or n1 > n2
        ),
        *(
            Call("scaled", one(n), reals(1, 3), reals(99), one(incx))
            for n in COUNTS
            for incx in (0, 1, 2, 3)
        ),
        *(
            Call("up", n, ("i8", s), reals(40), reals(80), returns="i8")
            for n in COUNTS
            for s in (-2, 0, 1, 2, 5, 50)
            if s > 0 or n <= 2
        ),
        *(
            Call("down", n, s, reals(40), reals(40), returns="i4")
            for n in COUNTS
            for s in (-2, 0, 1, 2, 5, 50)
            if s > 0 or n <= 1
        ),
        *(
            Call("at_least", n, s, m, reals(140), reals(40), returns="i4")
            for n in COUNTS
            for s in (-2, 0, 1, 2, 5, 50)
            for m in (0, 1, 4)
            if s > 0 or n < 0
        ),
        *(
            Call("butterflies", n, half, reals(64))
            for n, half in ((-3, 1), (0, 0), (0, 4), (1, 1), (8, 1), (24, 4), (33, 16), (2, 3))
        ),
    ),
    "legacy_reused.c": (
        *(
            Call("reused", one(n), one(m), reals(12 * 9), reals(12), reals(9), returns="i4")
            for n in (0, 1, 5, 12)
            for m in (1, 4, 9)
        ),
        *(
            Call("changed", n, m, k, reals(40), reals(40), returns="i4")
            for n in (0, 1, 5, 16)
            for m in (0, 1, 4, 8)
            for k in (0, 3)
        ),
    ),
    "legacy_unrolled.c": (
        *(Call("axpy4", one(n), reals(1, 3), reals(40), reals(40)) for n in UNROLLED),
        *(
            Call(name, one(n), reals(40), reals(40), returns="f8")
            for name in ("dot5", "dot5_alone")
            for n in UNROLLED
        ),
        *(Call("swap3", n, reals(40), reals(40, seed=2)) for n in UNROLLED),
        *(Call("near_misses", n, reals(50), reals(50)) for n in UNROLLED),
    ),
    "legacy_counted.c": (
        *(
            Call("packed", n, m, reals(150), reals(150), returns="i4")
            for n in COUNTS
            for m in (0, 1, 4)
        ),
        *(Call("strided", n, reals(40), reals(80), returns="i4") for n in COUNTS),
        *(Call("down", n, reals(40), reals(40)) for n in COUNTS),
    ),
    "legacy_narrow.c": (
        *(
            Call("shorts", n, m, reals(200), reals(40), returns="i4")
            for n in COUNTS
            for m in (-1, 0, 4)
        ),
        *(Call("chars", n, reals(80), reals(80), returns="i4") for n in (*COUNTS, 200, 256, 300)),
        *(
            Call("starts", n, reals(26010), reals(20), returns="i4")
            for n in (0, 3, 5, 7, 19, 20, 255, 256, 260, 40000, 65530)
        ),
    ),
}


@pytest.mark.alike(12)
@pytest.mark.parametrize("name", CALLS)
def test_every_target_computes_the_same(name: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAMS / name).check(*CALLS[name])
