"""Sizes at the greatest values of their types, which tiles and strides must not go beyond.

The arrays hold a few elements: the pointers passed are those of elements far before them.
"""

from __future__ import annotations

from pathlib import Path

from wrong.called import PROGRAMS, Array, Call, Program

INT_MAX, UINT_MAX = 2**31 - 1, 2**32 - 1
# Signed sums beyond a type stop the call, in the text that is made as in the one written.
TRAPS = ("-fsanitize=signed-integer-overflow", "-fsanitize-undefined-trap-on-error")


def near(function: str, last: int, *, more: int = 0) -> list[Call]:
    """Return calls with an upper bound of `last` for the elements below it, and `more`."""
    return [
        Call(function, last - count, last, Array("i1", count + more, offset=count - last))
        for count in (1, 7, 300)
    ]


SMALL = [
    Call(name, 0, n, Array("i1", 1200))
    for name in ("ints", "unsigneds", "inclusive", "steps", "down", "longs")
    for n in (0, 1, 257, 1000, 1100)
]
LARGE = [
    *(call for k in (0, 1, 254, 255, 256, 2**20, 2**26) for call in near("ints", INT_MAX - k)),
    *(call for k in (0, 255, 2**26) for call in near("unsigneds", UINT_MAX - k)),
    *(call for k in (1, 256) for call in near("inclusive", INT_MAX - k, more=1)),
    # Beyond these the loop of the text itself overflows.
    *(call for k in (2, 3, 768) for call in near("steps", INT_MAX - k)),
    *(call for k in (0, 255, 256) for call in near("down", INT_MAX - k)),
    *(call for k in (-300, 0, 255) for call in near("longs", INT_MAX - k)),
]


def test_tiles_near_the_end_of_a_type_leave_what_the_original_leaves(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "near_type_limits.c", flags=TRAPS)
    program.check(*SMALL, *LARGE)
    # 64 bits hold every tile; no test is needed.
    longs = program.files["_acc.c"].split("void longs")[1]
    assert "if (lo < n) {" in longs


def test_sizes_far_from_the_end_need_no_other_nest(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "near_type_limits.c", ("cuda", "openacc"))
    acc, cuda = program.files["_acc.c"], program.files[".cu"]
    assert f"if (lo < n && n <= {INT_MAX - 255})" in acc
    assert f"if (lo < n && n <= {UINT_MAX - 255})" in acc
    # 2**26 iterations of all blocks at once, and one of each thread.
    assert f"fits = fits && n <= {INT_MAX - 2**26 + 1};" in cuda


def test_fixed_rows_of_any_number_lie_beyond_an_int(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "many_rows.c", ("cuda",), TRAPS, resident=True)
    program.check(
        *(
            Call(name, last - count, last, Array("i1", 81 * count, offset=81 * (count - last)))
            for name in ("points", "unsized")
            for count in (1, 7, 300)
            for last in (count, INT_MAX // 81 + 1, 2**28)
        )
    )


SHIFTS = """
void shifts(int n, int *restrict k, long *restrict l, short *restrict h)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 0; i < n; i++) {
        k[i] = k[i] >> 3;
        l[i] >>= 1;
        h[i] = (h[i] >> 2) + (k[i] >> 30);
    }
    /*@ end @*/
}
"""


def test_shifts_of_the_least_numbers(tmp_path: Path) -> None:
    source = tmp_path / "shifts.c"
    source.write_text(SHIFTS)
    program = Program(tmp_path, source, flags=TRAPS)
    arrays = (
        Array(kind, 50, (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, *range(-9, 9)))
        for kind, bits in (("i4", 32), ("i8", 64), ("i2", 16))
    )
    program.check(Call("shifts", ("i4", 45), *arrays))
