"""Bank conflicts: cases counted by hand, and laws that any hardware of 32 banks obeys."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_code.bank_passes import ThreadLoop, access_passes, lanes

from annotune.ir.expr import Binary, Expr, Int, Var
from annotune.strategies.copy_layout import (
    BANKS,
    WARP,
    WORD_BYTES,
    Passes,
    warp_passes,
)

X32 = (ThreadLoop("x", 32),)
X, Y, K = Var("x"), Var("y"), Var("k")
WIDTHS = st.sampled_from((1, 2, 4, 8, 16))


def plus(left: Expr, right: Expr) -> Expr:
    return Binary("+", left, right)


def times(left: Expr, right: Expr) -> Expr:
    return Binary("*", left, right)


# Counted by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element_bytes", "row", "transactions", "ideal"),
    [
        # Doubles: a half-warp at a time, and each wants two banks.
        (8, 32, 32, 2),  # all 16 rows of a half start in bank 0
        (8, 33, 2, 2),  # padded by one: 16 pairs of banks, all different
        (8, 34, 4, 2),  # padded by two: rows 0 and 8 meet
        (8, 48, 32, 2),  # 96 words are a multiple of 32
        # Floats: a whole warp at a time.
        (4, 32, 32, 1),
        (4, 33, 1, 1),
        (4, 34, 2, 1),
    ],
)
def test_a_column_of_a_matrix(element_bytes: int, row: int, transactions: int, ideal: int) -> None:
    found = access_passes((32, row), element_bytes, (X, K), X32, {"k": 5})
    assert found == Passes(1, transactions, ideal)


@pytest.mark.parametrize(("element_bytes", "ideal"), [(4, 1), (8, 2), (16, 4)])
def test_a_row_of_a_matrix_is_free(element_bytes: int, ideal: int) -> None:
    found = access_passes((32, 32), element_bytes, (K, X), X32, {"k": 3})
    assert found == Passes(1, ideal, ideal)


@pytest.mark.parametrize(("element_bytes", "ideal"), [(4, 1), (8, 2), (16, 4)])
def test_one_element_for_all_is_free(element_bytes: int, ideal: int) -> None:
    found = access_passes((32, 32), element_bytes, (K, K), X32, {"k": 7})
    assert found == Passes(1, ideal, ideal)


def test_vectors_of_two_doubles() -> None:
    neighbours = access_passes((64,), 8, (times(Int(2), X),), X32, {}, vector=2)
    assert neighbours == Passes(1, 4, 4)
    # Every other vector: of eight lanes, each with four banks, the last four meet the first.
    apart = access_passes((128,), 8, (times(Int(4), X),), X32, {}, vector=2)
    assert apart == Passes(1, 8, 4)


def test_complex_doubles_are_as_wide_as_vectors() -> None:
    assert access_passes((32,), 16, (X,), X32, {}) == Passes(1, 4, 4)
    # Two of them at once are two accesses.
    two = access_passes((64,), 16, (times(Int(2), X),), X32, {}, vector=2)
    assert two == Passes(1, 16, 8)


def test_a_square_block_reads_a_row_by_x_and_a_column_by_y() -> None:
    block = (ThreadLoop("x", 16), ThreadLoop("y", 16))
    # b[k][x]: both halves of a warp read the same 16 doubles.
    assert access_passes((8, 16), 8, (K, X), block, {"k": 1}) == Passes(8, 16, 16)
    # a[k][y]: one element per half.
    assert access_passes((8, 16), 8, (K, Y), block, {"k": 1}) == Passes(8, 16, 16)
    # a[y][k] with x along the rows of another array: a column, once per half.
    assert access_passes((16, 16), 8, (X, K), block, {"k": 1}) == Passes(8, 256, 16)


def test_narrow_blocks_mix_rows_in_one_half() -> None:
    # Four columns by eight rows: a half has four rows, 16 doubles apart, so they all meet.
    block = (ThreadLoop("x", 4), ThreadLoop("y", 8))
    assert access_passes((8, 16), 8, (Y, X), block, {}) == Passes(1, 8, 2)
    assert access_passes((8, 20), 8, (Y, X), block, {}) == Passes(1, 2, 2)


def test_loops_that_share_an_axis_are_read_in_their_order() -> None:
    fast, slow = ThreadLoop("x", 4), ThreadLoop("y", 8)
    linear = (plus(times(Int(4), Y), X),)
    assert access_passes((32,), 8, linear, (fast, slow), {}) == Passes(1, 2, 2)
    places = [(p["x"], p["y"]) for p in lanes((fast, slow))]
    assert places[:5] == [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)]


def test_loops_start_and_step_where_they_say() -> None:
    assert [p["x"] for p in lanes((ThreadLoop("x", 3, lower=10, step=5),))] == [10, 15, 20]


def test_a_part_empty_warp_and_rounds_of_a_block() -> None:
    forty = (ThreadLoop("x", 40),)
    # One block of 40: a full warp and 8 lanes, which are one half.
    assert access_passes((40,), 8, (X,), forty, {}) == Passes(2, 3, 3)
    # Blocks of 20 come twice: 20 lanes each time, two halves.
    assert access_passes((40,), 8, (X,), forty, {}, block=20) == Passes(2, 4, 4)


# Refused -------------------------------------------------------------------------------------


def test_refuses_what_no_thread_can_access() -> None:
    with pytest.raises(ValueError, match="12 bytes"):
        warp_passes([0], 12)
    with pytest.raises(ValueError, match="33 lanes"):
        warp_passes([0] * 33, 4)
    with pytest.raises(ValueError, match="1 indices for 2 extents"):
        access_passes((2, 2), 8, (X,), X32, {})
    with pytest.raises(ValueError, match="no value"):
        access_passes((32,), 8, (plus(X, Var("n")),), X32, {})
    with pytest.raises(ValueError, match="0 threads"):
        ThreadLoop("x", 0)


# Laws --------------------------------------------------------------------------------------


@st.composite
def requests(draw: st.DrawFn) -> tuple[list[int | None], int]:
    """Aligned addresses of up to a warp's lanes, some of which may take no part."""
    width = draw(WIDTHS)
    places = st.none() | st.integers(0, 4096).map(lambda place: place * width)
    return draw(st.lists(places, max_size=WARP)), width


def served(addresses: list[int], width: int) -> int:
    """Return the passes of a memory that gives one word per bank and pass, played through."""
    left = {word for a in addresses for word in range(a // 4, (a + max(width, 1) - 1) // 4 + 1)}
    passes = 0
    while left:
        given_now = {word % BANKS: word for word in sorted(left)}
        left -= set(given_now.values())
        passes += 1
    return passes


@given(requests())
def test_equals_a_memory_played_pass_by_pass(request: tuple[list[int | None], int]) -> None:
    addresses, width = request
    size = {8: 16, 16: 8}.get(width, WARP)
    groups = [addresses[first : first + size] for first in range(0, len(addresses), size)]
    active = [[a for a in group if a is not None] for group in groups]
    found = warp_passes(addresses, width)
    assert found.transactions == sum(served(group, width) for group in active)
    assert found.ideal == sum(bool(group) for group in active)
    assert found.requests == int(any(active))
    assert found.transactions >= found.ideal


@given(requests(), st.integers(0, 1000))
def test_another_start_changes_nothing(request: tuple[list[int | None], int], start: int) -> None:
    addresses, width = request
    moved = [None if a is None else a + 16 * WORD_BYTES * start for a in addresses]
    assert warp_passes(moved, width) == warp_passes(addresses, width)


@given(st.lists(st.integers(0, 4096), max_size=WARP), st.randoms(use_true_random=False))
def test_the_order_of_lanes_that_are_served_together_is_free(
    words: list[int], random: Random
) -> None:
    addresses = [WORD_BYTES * word for word in words]
    shuffled = random.sample(addresses, len(addresses))
    assert warp_passes(shuffled, 4) == warp_passes(addresses, 4)


@given(st.integers(1, 63), st.sampled_from((4, 8)))
def test_an_odd_distance_between_lanes_is_free(half: int, element_bytes: int) -> None:
    row = 2 * half + 1
    found = access_passes((32, row), element_bytes, (X, Int(0)), X32, {})
    assert found.transactions == found.ideal


@given(st.integers(1, 32), st.integers(1, 6), st.integers(0, 7), st.integers(1, 80))
def test_serial_loops_move_all_lanes_alike(x: int, y: int, k: int, row: int) -> None:
    block = (ThreadLoop("x", x), ThreadLoop("y", y))
    indices = (plus(Y, K), X)
    found = access_passes((64, row), 8, indices, block, {"k": k})
    assert found == access_passes((64, row), 8, indices, block, {"k": 0})
    assert found.requests == -(-x * y // WARP)
    assert found.transactions >= found.ideal


@given(
    st.integers(-9, 9),
    st.integers(-9, 9),
    st.integers(1, 20),
    st.integers(1, 12),
    st.integers(0, 5),
)
def test_affine_indices_and_others_are_counted_alike(
    by_x: int, by_y: int, x: int, y: int, lower: int
) -> None:
    block = (ThreadLoop("x", x, lower, 2), ThreadLoop("y", y))
    affine = plus(plus(times(Int(by_x), X), times(Y, Int(by_y))), K)
    # The same value behind a division, which no step of one size describes.
    other = Binary("/", times(Int(3), affine), Int(3))
    found = access_passes((2000,), 8, (affine,), block, {"k": 300}, block=64)
    assert found == access_passes((2000,), 8, (other,), block, {"k": 300}, block=64)


def test_a_swizzled_index_is_no_plane() -> None:
    # Columns of 16 rows, each row turned by its number: free of conflicts without padding.
    turned = plus(times(Int(16), X), Binary("%", plus(X, K), Int(16)))
    found = access_passes((256,), 8, (turned,), (ThreadLoop("x", 16),), {"k": 3})
    assert found == Passes(1, 1, 1)
