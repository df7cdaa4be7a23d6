"""Expressions and storage as f2c writes them, in all targets."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.executed import SHARED, run

from wrong.called import PROGRAMS, Array, Call, Program

ALL = ("cuda", "openacc", "openmp", "openmp_target")
LIBRARY = Path(__file__).parent.parent / "legacy" / "f2c_calls.c"
COUNTS = (-1, 0, 1, 5, 37)


def one(value: int) -> Array:
    """Return an integer by reference, as Fortran passes it."""
    return Array("i4", 1, (value,))


@pytest.mark.slow
def test_expressions_of_f2c(tmp_path: Path) -> None:
    library = tmp_path / "f2c_calls.so"
    run("gcc", "-w", *SHARED, "-shared", LIBRARY, "-o", library, "-lm")
    linked = ("-Wl,--no-as-needed", str(library))
    program = Program(tmp_path, PROGRAMS / "f2c_expressions.c", ALL, linked)
    for function in ("temps_", "library_", "complex_", "common_", "equiv_"):
        assert f"annotune_{function}_1(" in program.files["_cuda.c"], function
        assert "of the region at line" in program.files["_omp.c"]
    for suffix, flag in (("_omp.c", "-fopenmp"), ("_acc.c", "-fopenacc"), ("_cuda.c", "-O1")):
        # What f2c declares for itself is used nowhere else.
        text = tmp_path / f"warned{suffix}"
        text.write_text(program.files[suffix])
        run("gcc", "-Wall", "-Werror", "-c", flag, text, "-o", tmp_path / "warned.o")
    a, b, c, w = (Array("f8", 80, seed=seed) for seed in range(4))
    x, y, z = (Array("f8", 40, (0.0, -0.0, -2.5, "nan"), seed=seed) for seed in (4, 5, 6))
    many, k = Array("f8", 400, seed=7), Array("i4", 40, seed=8)
    calls = [
        call
        for n in COUNTS
        for call in (
            Call("temps_", one(n), x, Array("f8", 40, seed=5), z, Array("f8", 1, (1.5,)), k),
            Call("library_", one(n), Array("f8", 40, seed=1), y, k, one(3), z),
            Call("library_", one(n), Array("f8", 40, (1.0,), seed=2), y, k, one(0), z),
            Call("complex_", one(n), a, b, c, w),
            Call("common_", one(n), many, Array("f8", 400)),
            Call("equiv_", one(n), Array("f8", 1, (1.5,)), Array("f8", 100)),
        )
    ]
    program.check(*calls)
