"""Structs: members of elements of arrays, members that a region writes, structs of an iteration."""

from __future__ import annotations

from pathlib import Path

import pytest

from wrong.called import PROGRAMS, Array, Call, Program

ALL = ("cuda", "openacc", "openmp", "openmp_target")


@pytest.mark.slow
def test_arrays_of_structs(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "array_of_structs.c", ALL)
    assert "sizeof(p[0]) == 32" in program.files["_omp.c"]
    calls = [
        call
        for n in (-1, 0, 1, 5, 37)
        for call in (
            Call("forces", ("i4", n), 0.5, Array("f8", 160), Array("f8", 160, seed=1)),
            Call("first", ("i4", n), Array("f8", 160)),
            Call("cells", ("i4", n), Array("f8", 480), Array("f8", 40, seed=1)),
            Call("shift", ("i4", n), ("i4", 5), Array("f8", 800)),
            Call("inner", ("i4", n), Array("f8", 480), Array("f8", 40, seed=1), returns="f8"),
            Call("grey", ("i4", n), Array("u1", 120), Array("u1", 40)),
            Call("through_macro", ("i4", n), Array("f8", 40), Array("f8", 160, seed=1)),
        )
    ]
    program.check(*calls)


@pytest.mark.slow
def test_structs_of_an_iteration_and_members_that_change(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "struct_variables.c", ALL)
    a, b, c = Array("f8", 160), Array("f8", 160, seed=1), Array("f8", 160, seed=2)
    calls = [
        call
        for n in (-1, 0, 1, 5, 37)
        for call in (
            Call("cross", ("i4", n), a, b),
            Call("zaxpy", ("i4", n), a, b, c),
            Call("kept", ("i4", n), a, b, returns="f8"),
            Call("step", ("i4", n), a, b, returns="f8"),
            Call("overlapping", ("i4", n), a),
            *(
                Call("counted", ("i4", n), a, Array("i4", 1), Array("i4", 1, (n,)), Array("i4", 1))
                for _ in (0,)
            ),
            Call("pun", ("i4", n), a, b, returns="f8"),
        )
    ]
    program.check(*calls)


def test_whole_structs(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "whole_structs.c", ALL)
    a, b, c = Array("f8", 400), Array("f8", 400, seed=1), Array("f8", 400, seed=2)
    calls = [
        call
        for n in (-1, 0, 1, 2, 5, 37)
        for call in (
            Call("energy", ("i4", n), a, b),
            Call("forces", ("i4", n), a, b),
            Call("moved", ("i4", n), a, b),
            *(Call("same", ("i4", n), ("i4", by), a) for by in (0, 1, 3)),
            Call("linked", ("i4", n), Array("i4", 160, (0,) * 160), Array("i4", 40)),
            Call("one_type", ("i4", n), a, b),
        )
    ]
    links = [link for k in range(37) for link in ((k * 7 + 3) % 37, k, k * k, 3 * k - 5)]
    calls.append(Call("linked", ("i4", 37), Array("i4", 160, tuple(links)), Array("i4", 40)))
    program.check(*calls, Call("moved", ("i4", 9), c, c))
