"""What random functions showed: small programs of each kind."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from .called import PROGRAMS, Array, Call, Program

SIZES = (0, 1, 12, 16, 37)


def double(count: int, seed: int = 0) -> Array:
    return Array("f8", max(count, 1), seed=seed)


# Each program with its call at one size; `s` is its square.
CALLS = {
    "register_scalars": lambda n, s: Call(
        "registers", n, 1.5, double(n), double(n, 1), returns="f8"
    ),
    "read_in_vain": lambda n, s: Call("in_vain", n, double(s), double(n, 1), Array("u4", s + 1)),
    "steps_unsigned": lambda n, s: Call("steps", n, 5, ("u4", 2), double(n), returns="i8"),
    "vouched_way_out": lambda n, s: Call(
        "vouched", n, double(s), double(n, 1), double(n, 2), returns="f8"
    ),
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("name", CALLS)
def test_every_text_leaves_what_the_original_leaves(name: str, tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / f"{name}.c")
    program.check(*(CALLS[name](n, n * n) for n in SIZES))


def test_loops_that_a_test_leaves_out_are_not_counted_through(tmp_path: Path) -> None:
    """With an unsigned iterator and a size below 0 they would have no end."""
    program = Program(tmp_path, PROGRAMS / "endless_where_skipped.c")
    sizes = ((0, 1), (-3, 0), (-1, -5), (1, 2), (16, 0), (16, 12), (37, 4))
    names = ("skipped", "changed", "in_an_array", "of_32_bits")
    program.check(
        *(
            Call(name, n, ("i4", mx), double(4 * n), double(n, 1), returns="i4")
            for name in names
            for n, mx in sizes
        )
    )


def test_infinities_of_complex_numbers_are_those_of_c(tmp_path: Path) -> None:
    """All pairs of numbers with parts that are infinite, NaN, zero or ordinary."""
    parts = ("inf", "-inf", "nan", "-0.0", 1.0)
    pairs = tuple(part for pair in product(parts, parts) for part in pair)
    n = len(pairs) // 2
    numbers = [Array("f8", 2 * n, values) for values in (pairs, pairs[::-1])]
    program = Program(tmp_path, PROGRAMS / "complex_infinities.c")
    narrow, reals = Array("f4", 2 * n, pairs), Array("f8", n, pairs[::2])
    results = Array("f8", 16 * n * n), Array("f4", 8 * n * n)
    program.check(Call("products", n, *numbers, narrow, reals, *results))
