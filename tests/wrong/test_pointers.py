"""Pointers that a region moves: what they write, and where they are afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from wrong.called import PROGRAMS, Array, Call, Program

ALL = ("cuda", "openacc", "openmp", "openmp_target")


def test_moving_pointers(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "moving_pointers.c", ALL)
    a, b, f = Array("f8", 400), Array("f8", 400, seed=1), Array("f4", 100)
    calls = [
        call
        for n in (-1, 0, 1, 5, 37)
        for call in (
            Call("scale", ("i4", n), a, b, returns="f8"),
            *(Call("rows", ("i4", min(n, 17)), ("i4", m), ("i4", 12), a, b) for m in (0, 1, 9)),
            Call("rows", ("i4", 7), ("i4", 9), ("i4", n // 4), a, b),
            *(Call("own", ("i4", n), ("i4", m), a, b) for m in (0, 1, 9)),
            Call("end", ("i4", n), a, returns="f8"),
            Call("before", ("i4", n), a, b),
            Call("structs", ("i4", n), a, b),
            Call("together", ("i4", n), f, returns="f4"),
            *(Call("set_twice", ("i4", n), ("i4", m), a, b) for m in (0, 1, 9)),
        )
    ]
    program.check(*calls)


@pytest.mark.slow
def test_rows_behind_pointers(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "row_pointers.c", ALL)
    assert "if (c_even && a_even && b_even)" in program.files["_omp.c"]
    arrays = [Array("f8", 1600, seed=seed) for seed in range(3)]
    reals = [Array("f4", 1600, seed=seed) for seed in range(2)]
    calls = [
        call
        for n, m in ((-1, 3), (0, 0), (1, 1), (1, 9), (2, 5), (5, 0), (7, 4), (17, 9), (23, 11))
        for kind in range(6)
        for call in (
            Call("multiplied", ("i4", kind), ("i4", n), ("i4", m), *arrays),
            Call("smoothed", ("i4", kind), ("i4", n), ("i4", m), *reals),
            Call("counted", ("i4", kind), ("i4", n), ("i4", m), arrays[0]),
            Call("local_rows", ("i4", n), ("i4", m), arrays[0]),
        )
    ]
    program.check(*calls)


def test_pointers_that_name_rows(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "named_rows.c", ALL)
    a, b = Array("f8", 800), Array("f8", 800, seed=1)
    of = Array("i4", 40, (0, 0, 1, 2))
    sizes = ((-1, 3), (0, 0), (1, 1), (1, 9), (2, 5), (3, 3), (7, 4), (17, 9), (23, 11))
    calls = [
        call
        for n, m in sizes
        for call in (
            Call("smooth", ("i4", n), ("i4", m), a, b),
            Call("statics", ("i4", n), a),
            Call(
                "deep",
                ("i4", 3),
                ("i4", max(n, 0)),
                ("i4", m),
                Array("f8", 1600),
                Array("f8", 1600),
            ),
            Call("members", ("i4", n), Array("f8", 300), b),
            Call("gathered", ("i4", min(n, 4)), ("i4", m), of, a, b),
            Call("either", ("i4", n), ("i4", m), a, b),
            Call("call_behind", ("i4", n), ("i4", m), a, b),
            Call("by_table", ("i4", n), a, b),
            Call("beyond", ("i4", n), ("i4", m), a, b),
            *(Call("call_grid", ("i4", kind), ("i4", n), ("i4", m), a, b) for kind in range(4)),
        )
    ]
    program.check(*calls)


@pytest.mark.slow
def test_pointers_that_change_places(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "swapped_pointers.c", ALL)
    a, b, c = (Array("f8", 400, seed=seed) for seed in range(3))
    calls = [
        call
        for n, m in ((0, 3), (1, 1), (3, 3), (5, 9), (17, 9))
        for steps in (-3, -2, 0, 1, 2, 3, 4, 7)
        for call in (
            Call("call_jacobi", ("i4", n), ("i4", m), ("i4", steps), a, b),
            Call("call_later", ("i4", n), ("i4", m), ("i4", steps), a, b, returns="f8"),
            Call("call_wave", ("i4", n), ("i4", steps), a, b, c),
            Call("call_heat", ("i4", n), ("i4", steps), a, b),
        )
    ]
    program.check(*calls)
