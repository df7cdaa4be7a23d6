"""Bounds on a kernel's time, MAGMA's beside the roofline, and the copies around it."""

from __future__ import annotations

import pytest
from decide.recipes import decided, decided_example, decided_text, example

from annotune.annotation.devices import load_device
from annotune.model.bounds import (
    BatchedProducts,
    HostCopies,
    batched_products,
    copies,
    copy_time,
    magma_time,
    widest_real,
)
from annotune.model.predict import RegionModel
from annotune.model.traffic import Compiled
from annotune.schedule.units import Unit

H200 = load_device("h200")
HEAD = "void f(double C[restrict {n}][{n}][{n}], double A[restrict {n}][{n}][{n}], "
LOOPS = "for (int b = 0; b < {n}; b++) for (int i = 0; i < {n}; i++) for (int j = 0; j < {n}; j++) "


def unit(statement: str, n: int = 8, more: str = "for (int l = 0; l < {n}; l++) ") -> Unit:
    """Return the only kernel of a statement under loops b, i, j and what `more` adds."""
    text = HEAD + "double B[restrict {n}][{n}][{n}]) {{\n/*@ begin PerfTuning () @*/\n"
    text += LOOPS + more + f"{statement}\n/*@ end @*/\n}}}}\n"
    (found,) = decided_text(text.format(n=n)).base.apart
    return found


def test_square_products_have_the_papers_bound() -> None:
    # "P_max = n B / 16 in DP": 2 n^3 flop, four matrices of n^2 doubles.
    found = unit("C[b][i][j] += A[b][i][l] * B[b][l][j];")
    assert batched_products(found, 0, H200) == BatchedProducts(8, 8, 8, 8, 4 * 64 * 8)
    bandwidth = H200.sustained_bandwidth_gb_s * 1e9
    bound = magma_time(found, H200)
    assert isinstance(bound, float)
    assert 8 * 2 * 8**3 / bound == pytest.approx(8 * bandwidth / 16)


def test_a_shared_operator_counts_for_each_product() -> None:
    region = example("nekbone/local_grad3.c", defines={"lx": "10", "nelt": "1000"})
    first, second = decided(region).base.nests("footprint", decided(region).decision.asked)
    # Ur: D, 10 by 10, times an element, 10 by 100, for each of 1000.
    assert batched_products(first, 0, H200) == BatchedProducts(
        1000, 10, 100, 10, 8 * (100 + 1000 + 2 * 1000)
    )
    bounds = [magma_time(one, H200) for one in (first, second)]
    # The first kernel has two statements, each a batch of its own.
    assert isinstance(bounds[0], float)
    assert bounds[0] == pytest.approx(2 * bounds[1])


@pytest.mark.parametrize(
    ("statement", "n", "more", "reason"),
    [
        ("C[b][i][j] = A[b][i][j] + B[b][i][j];", 8, "", "does not accumulate a product"),
        ("C[b][i][j] += A[b][i][l] + B[b][l][j];", 8, None, "does not accumulate a product"),
        ("C[b][i][j] += A[b][i][j] * B[b][i][j];", 8, "", "sums over no loop"),
        ("C[b][i][j] += A[b][i][l] * B[b][l][j];", 200, None, "too large for one block's memory"),
        ("C[i][j][b] += A[b][i][l] * B[0][l][j];", 8, None, "is one matrix product"),
        ("C[0][b][i] += A[0][b][j] * B[0][j][i];", 8, "", "is one matrix product"),
    ],
)
def test_other_kernels_have_a_reason(statement: str, n: int, more: str | None, reason: str) -> None:
    found = unit(statement, n) if more is None else unit(statement, n, more)
    said = magma_time(found, H200)
    assert isinstance(said, str)
    assert said.startswith("statement 0 ")
    assert reason in said


def test_copies_are_what_comes_in_and_what_goes_out() -> None:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", sizes=dict.fromkeys(names, 16))
    small, large = 16**4 * 8, 16**6 * 8
    moved = copies(one.analysis)
    assert moved == HostCopies(2 * small + large, large)
    assert isinstance(moved, HostCopies)
    assert copy_time(moved, H200) == pytest.approx((2 * small + 2 * large) / 10e9)
    # The first MiB of either direction is as slow; what follows keeps the bus busy.
    assert copy_time(HostCopies(1 << 20, 0), H200, is_staged=True) == pytest.approx(2**20 / 10e9)
    long = HostCopies(1 << 30, 1 << 30)
    rest = 2 * (2**30 - 2**20) / (0.87 * 55e9)
    assert copy_time(long, H200, is_staged=True) == pytest.approx(2 * 2**20 / 10e9 + rest)
    model = RegionModel(one.analysis, one.base.apart, one.decision.choices, H200)
    found = model.forecast()
    assert found.copies_s is not None
    assert found.end_to_end_s == pytest.approx(found.kernels_s + found.copies_s)
    # What a compiler says is of the kernel that its statement leads.
    assert not found.kernels[0].prediction.is_compiled
    assert model.forecast({0: Compiled(90)}).kernels[0].prediction.registers == 90
    assert model.forecast({1: Compiled(90)}) == found


def test_the_widest_reals_set_the_peak() -> None:
    text = "void f(float a[9], {} b[9]) {{\n/*@ begin PerfTuning () @*/\n"
    text += "for (int i = 0; i < 9; i++) a[i] = b[i];\n/*@ end @*/\n}}\n"
    for kind, size in (("float", 4), ("double", 8), ("int", 4)):
        assert widest_real(decided_text(text.format(kind)).region) == size
