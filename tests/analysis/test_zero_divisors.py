"""Divisions by what is 0 at the region's sizes, and those that may never be made."""

from __future__ import annotations

import pytest

from annotune.analysis.analyse import analyse
from annotune.diagnostics import AnnotuneError
from annotune.ir.constants import value_at
from annotune.ir.ctype import INT, UNSIGNED_INT, named
from annotune.ir.expr import Binary, Cast, Int, Var

from .regions import region

SIZES = {"n": 16, "z": 0}
# The type of each name that is no double.
TYPES = {"p": "int"}

# A nest, the division in it and the divisor.
DIVIDES = {
    "for i in 0:n/z: a[i] = 1.0": ("n / z", "z"),
    "for i in n%0:n: a[i] = 1.0": ("n % 0", "0"),
    "for i in 0:n: for j in 0:i/(2*z): a[j] = 1.0": ("i / (2 * z)", "2 * z"),
    "for i in 0:n: a[i] = b[i/z]": ("i / z", "z"),
    "for i in 0:n: a[i%z] = 1.0": ("i % z", "z"),
    "for i in 0:n: a[i] = i % z": ("i % z", "z"),
    "for i in 0:n: p[i] /= z": ("p[i] / z", "z"),
    "for i in 0:n: a[i] = p[i] / (n - 16)": ("p[i] / (n - 16)", "n - 16"),
    "for i in 0:n: a[i] = i if n / z > 1": ("n / z", "z"),
}
FINE = [
    "for i in 0:n: a[i] = b[i] / z",
    "for i in 0:n: a[i] /= z",
    "for i in 0:n: a[i] = z != 0 ? i / z : 0",
    "for i in 0:n: a[i] = z != 0 && i / z > 2",
    "for i in 0:n: p[i] = i / z if z > 0",
    "for i in 0:n: a[i] = i / n",
]


@pytest.mark.parametrize("text", DIVIDES)
def test_divides_by_zero(text: str) -> None:
    with pytest.raises(AnnotuneError) as refused:
        analyse(region(text, sizes=SIZES, types=TYPES))
    (problem,) = refused.value.diagnostics
    division, divisor = DIVIDES[text]
    assert problem.code == "AT215"
    assert problem.message == f"'{division}' divides by '{divisor}', which is 0"


@pytest.mark.parametrize("text", FINE)
def test_may_not_divide_by_zero(text: str) -> None:
    assert analyse(region(text, sizes=SIZES, types=TYPES)).region.sizes == SIZES


def test_the_value_of_a_cast_is_that_of_its_type() -> None:
    cast = Cast(UNSIGNED_INT, Binary("-", Var("n"), Int(1)))
    assert value_at(cast, {"n": 5}) == 4
    assert value_at(cast, {"n": 0}) == 2**32 - 1
    assert value_at(Binary("/", cast, Int(2)), {"n": 0}) == 2**31 - 1
    assert value_at(Cast(named("signed char"), Int(200)), {}) == -56
    # In what type the difference is computed does not show.
    assert value_at(Binary("-", Cast(UNSIGNED_INT, Var("n")), Int(1)), {"n": 0}) is None
    assert value_at(cast, {}) is None
    signed = Binary("-", Cast(INT, Var("n")), Int(9))
    assert value_at(signed, {"n": 3}) == -6
    # Where the cast's type does not hold it, C computes it in a wider one or not at all.
    assert value_at(Binary("-", signed, Int(2**31)), {"n": 3}) == -6 - 2**31
