"""Factorisation cuts the operations of the papers' tensors to what is counted here by hand.

Counted are additions and multiplications of numbers in all iterations: of a sum of products of f
factors f each, of a product without a sum f - 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from support.regions import EXAMPLES

from annotune.tensor.minimise import Minimised, minimised
from annotune.tensor.translate import read_program

ELEMENTS = 1000
ORDERS = (2, 4, 8)


def factored(name: str, **sizes: int) -> Minimised:
    """Return what becomes of a tensor file at other sizes."""
    program = read_program(name, (EXAMPLES / f"tensor/{name}.tensor").read_text())
    assert sizes.keys() == {one.name for one in program.sizes}
    return minimised(
        replace(program, sizes=tuple(replace(s, value=sizes[s.name]) for s in program.sizes))
    )


# As written, every factor in all the iterations: for d dofs and q points along each side.
WRITTEN: dict[str, Callable[[int, int], int]] = {
    "assembly_2d": lambda d, q: 5 * d**4 * q**2,
    "assembly_3d": lambda d, q: 7 * d**6 * q**3,
    "action_2d": lambda d, q: 6 * d**4 * q**2,
    "action_3d": lambda d, q: 8 * d**6 * q**3,
}


def _assembly_2d(d: int, q: int) -> int:
    # B B of every point, two dofs; then one direction of the points after the other.
    return q * d**2 + ELEMENTS * 2 * (d**2 * q**2 + d**4 * q)


def _assembly_3d(d: int, q: int) -> int:
    return q * d**2 + ELEMENTS * 2 * (d**2 * q**3 + d**4 * q**2 + d**6 * q)


def _action_2d(d: int, q: int) -> int:
    # To the points, direction after direction, and back alike; between them, D.
    return ELEMENTS * (2 * 2 * (d**2 * q + d * q**2) + q**2)


def _action_3d(d: int, q: int) -> int:
    return ELEMENTS * (2 * 2 * (d**3 * q + d**2 * q**2 + d * q**3) + q**3)


BY_HAND: dict[str, Callable[[int, int], int]] = {
    "assembly_2d": _assembly_2d,
    "assembly_3d": _assembly_3d,
    "action_2d": _action_2d,
    "action_3d": _action_3d,
}


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", BY_HAND)
def test_finite_elements_take_one_direction_after_the_other(name: str) -> None:
    for order in ORDERS:
        d, q = order + 1, order + 2
        found = factored(name, elements=ELEMENTS, d=d, q=q)
        assert found.flop_before == ELEMENTS * WRITTEN[name](d, q)
        assert found.flop_after == BY_HAND[name](d, q), order


def test_the_action_falls_from_the_ninth_power_of_the_order_to_the_fourth() -> None:
    def growth(flop: Callable[[int, int], int]) -> float:
        return flop(200, 200) / flop(100, 100)

    assert growth(WRITTEN["action_3d"]) == 2**9
    assert 2**3.9 < growth(_action_3d) < 2**4.1


def test_the_curvature_tensor_has_one_product_and_not_two() -> None:
    # B[m,l,k] B[i,m,j] is the other product with j and l exchanged.
    n = 64
    found = factored("riemann_christoffel", n=n)
    assert found.flop_before == 4 * n**5 + 2 * n**4
    assert found.flop_after == 2 * n**5 + 3 * n**4
    (product,) = found.temporaries
    assert product.order == 4


def test_what_is_one_product_stays() -> None:
    m, n, k = 20, 30, 40
    found = factored("matrix_product", m=m, n=n, k=k)
    assert found.flop_before == found.flop_after == 2 * m * n * k + 3 * m * n
    assert factored("matrix_sum", m=m, n=n, k=k).flop_after == 2 * m * n * k + m * n
    elements, points = 7, 5
    nekbone = factored("nekbone_ax", elements=elements, n=points)
    assert nekbone.flop_after == elements * points**3 * (2 * 3 * points + 3 * 5 + 2 * 3 * points)
