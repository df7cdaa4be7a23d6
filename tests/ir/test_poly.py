"""Integer polynomials: the laws of arithmetic, and the way back to C."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotune.ir.expr import Binary, Int, Var, print_expr
from annotune.ir.poly import ONE, ZERO, Poly, from_expr, integer, to_expr, variable

NAMES = ("h3u", "h2u", "n")
monomials = st.lists(st.sampled_from(NAMES), max_size=3).map(lambda names: tuple(sorted(names)))
polys = st.dictionaries(monomials, st.integers(-4, 4), max_size=4).map(Poly.of)
values = st.fixed_dictionaries({name: st.integers(-5, 5) for name in NAMES})


def _value(poly: Poly, at: dict[str, int]) -> int:
    constant = poly.at(at).constant
    assert constant is not None
    return constant


@given(a=polys, b=polys, at=values)
def test_arithmetic_is_that_of_the_values(a: Poly, b: Poly, at: dict[str, int]) -> None:
    assert _value(a + b, at) == _value(a, at) + _value(b, at)
    assert _value(a - b, at) == _value(a, at) - _value(b, at)
    assert _value(a * b, at) == _value(a, at) * _value(b, at)


@given(a=polys, b=polys)
def test_division_gives_back_its_dividend(a: Poly, b: Poly) -> None:
    assume(not b.is_zero)
    quotient, remainder = a.divide(b)
    assert quotient * b + remainder == a


@given(a=polys, b=polys)
def test_an_exact_division_has_no_remainder(a: Poly, b: Poly) -> None:
    assume(not b.is_zero)
    assert (a * b).divide(b) == (a, ZERO)


@given(a=polys)
def test_the_way_back_from_c_is_the_way_there(a: Poly) -> None:
    assert from_expr(to_expr(a)) == a


def test_a_product_keeps_the_given_order() -> None:
    product = variable("h1u") * variable("h2u") * variable("h3u")
    assert print_expr(to_expr(product, ("h3u", "h2u", "h1u"))) == "h3u * h2u * h1u"


def test_zero_is_a_polynomial_and_not_false() -> None:
    assert ZERO.is_zero
    assert ZERO.constant == 0
    with pytest.raises(TypeError):
        bool(ZERO)
    assert integer(0) == ZERO == ONE - ONE


def test_division_of_constants_truncates_as_in_c() -> None:
    assert from_expr(Binary("/", Int(-7), Int(2))) == integer(-3)
    assert from_expr(Binary("%", Int(-7), Int(2))) == integer(-1)
    assert from_expr(Binary("/", Var("n"), Int(2))) is None
