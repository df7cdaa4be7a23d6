"""Accesses to shared memory in a planned kernel, with bank conflicts counted by hand."""

from __future__ import annotations

import pytest
from machine_code.shared import SharedAccess, conflict_factor, shared_accesses
from support.nest_text import parse_nest

from annotune.schedule.plan import Kernel
from annotune.strategies.copy_layout import Passes

# A tile of 16 by 16 elements of C, one to a thread, over eight products at a time; the copy of A
# has `ROW` elements from one row to the next.
PRODUCT = """\
for i_t in 0:n step 16 @block.x tile_of i
  for j_t in 0:n step 16 @block.y tile_of j
    for i in i_t:i_t + 16 @thread.x
      for j in j_t:j_t + 16 @thread.y
        for l_t in 0:n step 8 tile_of l
          shared double A_tile[256]
          for i_s in 0:16 @cooperative
            for l_s in 0:8 @cooperative
              S0: A_tile[ROW*i_s + l_s] = A[i_t + i_s][l_t + l_s]
          shared double B_tile[128]
          for l_s2 in 0:8 @cooperative
            for j_s in 0:16 @cooperative
              S0: B_tile[16*l_s2 + j_s] = B[l_t + l_s2][j_t + j_s]
          for l in l_t:l_t + 8
            S0: C[i][j] += A_tile[ROW*(i - i_t) + l - l_t] * B_tile[16*(l - l_t) + j - j_t]
"""


def kernel(text: str) -> Kernel:
    body = parse_nest(text).body
    return Kernel("f_1_s0", (0,), body, body)


def accesses(row: int) -> dict[tuple[str, bool], SharedAccess]:
    found = shared_accesses(kernel(PRODUCT.replace("ROW", str(row))), {"n": 64})
    assert len(found) == 4
    return {(one.text.partition("[")[0], one.is_write): one for one in found}


@pytest.mark.parametrize(
    ("row", "use", "fill"),
    [
        # From one row to the next there are 16 banks: every other row meets, eight of a half.
        # Two rows of eight are filled at a time, in the order of memory.
        (8, 8, 1),
        # 32 banks: all rows meet, and so do the two that are filled at a time.
        (16, 16, 2),
        # 18 banks: no two of 16 rows meet. Of the two that are filled, 16 banks each, the second
        # ends where the first begins.
        (9, 1, 2),
        # 34 banks, which are as good as two.
        (17, 1, 2),
    ],
)
def test_a_row_for_each_thread(row: int, use: int, fill: int) -> None:
    found = accesses(row)
    # Eight warps, two halves each.
    assert found["A_tile", False].passes == Passes(8, 16 * use, 16)
    # 128 elements: the first half of the block fills them, at one round.
    assert found["A_tile", True].passes == Passes(4, 8 * fill, 8)
    # One element for all threads of a half, and a fill in the order of memory.
    assert found["B_tile", False].passes == Passes(8, 16, 16)
    assert found["B_tile", True].passes == Passes(4, 8, 8)
    assert found["A_tile", True].is_filling
    assert not found["A_tile", False].is_filling


def test_factors_of_a_kernel_keep_use_and_filling_apart() -> None:
    found = tuple(accesses(9).values())
    assert conflict_factor(found, filling=False) == 1.0
    assert conflict_factor(found, filling=True) == (16 + 8) / (8 + 8)
    assert conflict_factor((), filling=True) is None


def test_a_fill_of_several_rounds_counts_them_all() -> None:
    text = """\
for i in 0:4 @block.x
  for j in 0:20 @thread.x
    shared float t[50]
    for j_s in 0:50 @cooperative
      S0: t[j_s] = a[i][j_s]
    S0: b[i][j] = t[j]
"""
    fill, use = shared_accesses(kernel(text), {})
    # 20, 20 and 10 threads: one pass each.
    assert fill.passes == Passes(3, 3, 3)
    assert use.passes == Passes(1, 1, 1)


def test_private_arrays_are_no_shared_memory() -> None:
    text = """\
for i in 0:4 @thread.x
  local double t[4]
  S0: t[0] = a[i]
  S1: b[i] = t[0]
"""
    assert shared_accesses(kernel(text), {}) == ()
