"""Regions at the places where statements stand: beside each other, behind labels and `else`."""

from __future__ import annotations

from pathlib import Path

from support.executed import run

from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.pipeline import Settings, check, emit
from wrong.called import PROGRAMS, Array, Call, Program


def test_sizes_that_are_members_are_declared_nowhere(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "member_sizes.c")
    assert not any("const int n =" in text for text in program.files.values())
    arrays = Array("f8", 40), Array("f8", 40, seed=1)
    program.check(*(Call("member_sizes", n, *arrays) for n in (-1, 0, 1, 3, 12, 33)))


def test_constants_that_the_text_lacks_hold_for_their_region(tmp_path: Path) -> None:
    """The original does not compile: it is read as if the sizes stood there as macros."""
    source = tmp_path / "missing_sizes.c"
    source.write_text((PROGRAMS / "missing_sizes.c").read_text())
    files = emit(Settings(source), [load_target(name) for name in DEFAULT_TARGETS]).files
    for suffix, text in files.items():
        if suffix.endswith(".c"):
            assert all(f"{{ const int m = {m}; " in text for m in (12, 7, 5))
            (tmp_path / "emitted.c").write_text(text)
            run("gcc", "-std=gnu11", "-fsyntax-only", "-w", tmp_path / "emitted.c")


def test_registers_are_kept_in_memory_where_a_text_needs_their_address(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "register_sums.c")
    arrays = Array("f8", 60), Array("f8", 60, seed=1)
    sizes = ((-1, 3), (0, 0), (1, 1), (40, 9), (57, 33))
    program.check(*(Call("register_sums", *size, *arrays, returns="f8") for size in sizes))


def test_the_nest_as_written_calls_copies_of_functions_too(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "pure_in_original.c")
    arrays = Array("i2", 60), Array("i4", 320), Array("i2", 64, seed=1), Array("f8", 1)
    program.check(*(Call("pure_in_original", size, *arrays) for size in (1, 6, 33)))


def test_lengths_count_from_where_a_pointer_was_before_it_moved(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "gathers_from_moved.c")
    at = Array("i4", 40, tuple(k * 7 % 12 + 1 for k in range(12)))
    program.check(Call("declared", 12, Array("f8", 12), Array("f8", 12, seed=1), at))
    at = Array("i4", 40, tuple(k * 7 % 24 + 1 for k in range(20)))
    size = Array("i4", 1, (6,)), Array("i4", 1, (4,))
    program.check(Call("stated", *size, Array("f8", 24), Array("f8", 20, seed=1), at))
    at = Array("i4", 40, tuple(k * 7 % 12 for k in range(12)))
    program.check(Call("set_anew", 12, Array("f8", 20), Array("f8", 12, seed=1), at))


def test_a_length_is_nothing_where_the_pointer_moves_elsewhere(tmp_path: Path) -> None:
    for moves in ("if (n > 3) --x;", "for (int k = 0; k < n; k++) x++;", "x = y;", "move(&x);"):
        source = tmp_path / "user.c"
        source.write_text(
            f"void move(double **p);\nvoid f(int n, double x[n], double *y, int *at)\n{{\n{moves}\n"
            "/*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/\n"
            "for (int i = 0; i < n; i++) y[i] = x[at[i]];\n/*@ end @*/\n}\n"
        )
        codes = [d.code for d in check(Settings(source)).diagnostics]
        assert "AT214" in codes, (moves, codes)
