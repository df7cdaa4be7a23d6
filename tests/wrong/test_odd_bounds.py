"""Ends of loops that several comparisons make, each in a type of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from wrong.called import PROGRAMS, Array, Call, Program

BELOW_AND_ABOVE = (-7, -1, 0, 1, 2, 7, 33)
JOINED = (
    *("up_to_an_int", "as_sizes", "of_a_cast", "of_longs", "until_met"),
    *("less_of_two", "in_guards", "under_another"),
)
DOWN = (
    *("sizes", "joined", "mixed", "wraps", "longs"),
    *("below_zero", "triangle", "up_to_none"),
)
CALLS: dict[str, tuple[Call, ...]] = {
    "unsigned_bound_and.c": (
        *(Call("f", n, Array("f8", 8)) for n in BELOW_AND_ABOVE),
        *(
            Call("unless", n, Array("f8", 33), Array("f8", 5, (1.0, 2.0, 3.0, test, 0.5)))
            for n in BELOW_AND_ABOVE
            for test in (0.0, 1.0)
            if n >= 0 or not test
        ),
        Call("asked_later", 3, 0, Array("i4", 4, (1, 0)), Array("f8", 40)),
        # Where k is 0 and no iteration of the other loop looks, c need not be there.
        Call("under_two", 0, 0, *(Array("f8", 9), Array("f8", 9), Array("f8", None))),
        *(
            Call("under_two", n, k, *(Array("f8", 9), Array("f8", 9)), Array("f8", 6))
            for n in (0, 8, 9)
            for k in (0, 1)
        ),
    ),
    "bounds_joined.c": tuple(
        Call(name, n, m, Array("f8", 40))
        for name in JOINED
        for n in BELOW_AND_ABOVE
        for m in (-3, 5, 9)
    ),
    "unsigned_down.c": (
        *(
            Call(name, ("i8", bound), m, Array("f8", 40))
            for name in DOWN
            for bound in (-1, 0, 2, 8, 9, 10, 33)
            for m in (-7, 1, 9)
            if name != "below_zero" or bound >= 0
        ),
        *(Call("left_unmoved", ("u4", m), Array("f8", 8)) for m in (0, 1, 8)),
        *(
            Call("wider", ("u4", m), ("u8", end), Array("f8", 40))
            for m, end in ((0, 2**32 - 1), (0, 2**40), (1, 0), (8, 3))
        ),
    ),
    "unsigned_switch.c": tuple(
        Call("switched", n, Array("f8", 12), Array("i4", 60), Array("f8", 12))
        for n in (0, 1, 8, 12)
    ),
    "narrow_beside_wide.c": (
        *(Call("rows", n, m, Array("f8", 180, offset=1)) for n in (0, 1, 9, 12) for m in (0, 1, 9)),
        *(
            Call("columns", n, Array("f8", 40, offset=3), Array("f8", 150, offset=6))
            for n in (0, 1, 12, 20)
        ),
    ),
    "unsigned_less_one.c": (
        *(
            Call("casts", ("u4", n), ("u8", m), Array("f8", 12), Array("f8", 12), returns="f8")
            for n in (0, 1, 2, 8)
            for m in (0, 1, 2, 9)
        ),
        *(
            Call("doubled", ("u4", n), ("u2", 1), Array("f8", 40), returns="f8")
            for n in (0, 1, 8, 12)
        ),
        *(
            Call("from_one", n, ("u8", m), 1, Array("f8", 99), Array("f8", 12), returns="f8")
            for n in (0, 8)
            for m in (0, 1, 2, 9)
        ),
    ),
    "wide_from_narrow.c": (
        *(
            Call("left", ("u4", n), ("u4", m), Array("f8", 3), returns="f8")
            for n in (0, 1, 5, 12)
            for m in (0, 5, 6)
        ),
        *(
            Call("touched", ("u4", n), ("u4", m), Array("f8", 9), Array("f8", 9), returns="f8")
            for n in (0, 1, 6, 12)
            for m in (0, 1, 2, 7)
        ),
    ),
    "signed_from_unsigned.c": (
        *(
            Call("minus", ("u4", u), n, Array("i4", 6))
            for u in (0, 9, 2**32 - 40, 2**31)
            for n in (-3, 2, 8)
        ),
        *(
            Call("less_a_great_one", ("u1", n), 3, Array("f8", 12), returns="i4")
            for n in (0, 1, 8, 12)
        ),
        *(
            Call("beyond_all", n, ("i8", m), Array("i4", 9), Array("i4", 9))
            for n in (0, 8, 9)
            for m in (-3, -2, -1, 0, 12)
        ),
        *(
            Call("halves", ("u8", great), n, Array("u4", 6))
            for great in (0, 9, 2**64 - 1, 2**63)
            for n in (-1, 0, 2, 8)
        ),
        *(Call("of_a_local", n, Array("f8", 12)) for n in (3, 8, 11)),
        *(
            Call("of_a_long", ("i8", t), m, Array("i8", 6))
            for t in (0, 5, 2**32 + 3, 2**63 - 2, -(2**32))
            for m in (0, 12)
        ),
        *(Call("asked", most, Array("f8", 12)) for most in (-3, 0, 1, 20, 21)),
        *(
            Call("sizes", ("u4", n), ("u4", m), ("u8", s), Array("f8", 7), Array("f8", 42))
            for n in (0, 1, 6)
            for m in (0, 1, 7)
            for s in (0, 1, 4)
        ),
    ),
    "met_without_a_sign.c": (
        *(
            Call("met", ("u8", ld), ("u8", 7), ("i8", 3), Array("f8", 9), returns="u8")
            for ld in (0, 1, 4, 20, 23)
        ),
        *(
            Call("ends_below_zero", n, ("u8", first), Array("f8", 16))
            for n in (-2, 0, 3, 16)
            for first in (0, 12)
        ),
        *(
            Call("halved", ("u4", n), m, Array("f8", 24), returns="i4")
            for n in (0, 1, 9, 12)
            for m in (0, 5, 8)
        ),
    ),
    "products_of_ints.c": (
        *(
            Call("last", n, m, Array("f8", 6), Array("f8", 7), returns="i8")
            for n, m in ((300, 60), (50_000, 50_000), (65_536, 65_536), (2, 3))
        ),
        *(Call("far", n, m, Array("f8", 6)) for n, m in ((300, 60), (50_000, 50_000))),
        *(
            Call("of_unsigned", ("u4", n), ("u4", m), Array("f8", 5))
            for n, m in ((300, 60), (50_000, 50_000), (2**31, 2), (2**16, 2**16))
        ),
        *(
            Call("values", n, m, ("u4", u), Array("f8", 9), Array("i4", 9))
            for n, m in ((300, 60), (50_000, 50_000), (-50_000, 50_000))
            for u in (4, 2**31, 2**32 - 1)
        ),
        *(
            Call("summed", n, m, Array("f8", 9), returns="i8")
            for n, m in ((300, 60), (50_000, 50_000), (-50_000, 50_000))
        ),
        *(
            Call("of_narrow", ("i1", n), ("u2", m), Array("f8", 50_000), Array("f8", 50_000))
            for n, m in ((6, 9), (-100, 9), (0, 1), (127, 50_000))
        ),
        *(
            Call("left_behind", n, m, 77, Array("i4", 3), returns="i4")
            for n, m in ((6, 9), (-100, 9), (12, 0))
        ),
        *(
            Call("two_unsigned", ("u4", u), ("u4", v), Array("f8", 40))
            for u, v in ((7, 8), (5, 2**32 - 1), (2**31, 2**31), (2**32 - 1, 2**32 - 1))
        ),
        *(Call("far_below", n, Array("f8", 40)) for n in (7, -(2**31), 4 - 2**31)),
        *(Call("compared", n, Array("f8", 3), Array("f8", 40)) for n in (1, 12, 13)),
        *(Call("left_in_an_iterator", ("u1", n), ("u2", 7), Array("f8", 40)) for n in (2, 12, 33)),
        *(
            Call("of_a_choice", n, m, ("u4", s), Array("f8", 7), returns="i4")
            for n, m in ((3, 4), (-3, 4))
            for s in (0, 12, 13)
        ),
    ),
    "far_apart.c": (
        *(
            Call("counted", s, n, Array("f8", 8), returns="i4")
            for s, n in ((2**31 - 1, -3), (-3, -5), (5, 8), (0, 8), (2**31 - 1, 2**31 - 9))
        ),
        *(
            Call("summed", s, n, Array("f8", 8), returns="f8")
            for s, n in ((-(2**31), 8), (12, 8), (2, 5))
        ),
        *(
            Call("counted_long", ("i8", s), ("i8", n), Array("f8", 8), returns="i8")
            for s, n in ((2**63 - 1, -3), (-3, -5), (5, 8), (0, 8), (2**63 - 1, 2**63 - 9))
        ),
        *(
            Call("summed_long", ("i8", s), ("i8", n), Array("f8", 8), returns="f8")
            for s, n in ((-(2**63), 8), (12, 8), (2, 5))
        ),
    ),
    "stepped_triangle.c": tuple(
        Call("stage", n, step, Array("f8", 90, offset=8), Array("f8", 90, seed=1))
        for n in (-3, 0, 1, 17, 64)
        for step in (4, 5, 1, -1)
    ),
    "unsigned_before.c": (
        *(
            Call("before", ("u4", n), Array("f8", 60, offset=30), Array("f8", 40))
            for n in (0, 1, 8, 30)
        ),
        *(
            Call("where_asked", n, *(Array("f8", 100, offset=1, seed=k) for k in range(2)))
            for n in (0, 1, 8, 9)
        ),
        *(Call("rows_before", ("u4", n), Array("f8", 90, offset=9)) for n in (0, 1, 7, 8)),
    ),
}


@pytest.mark.alike(15)
@pytest.mark.parametrize("name", CALLS)
def test_calls_leave_what_the_original_leaves(name: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAMS / name).check(*CALLS[name])
