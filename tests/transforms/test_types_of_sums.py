"""Whether terms may be added to each other first, by the types that C gives them."""

from __future__ import annotations

import pytest
from support.nest_text import parse_nest

from annotune.analysis.reductions import drops_fractions
from annotune.ir.ctype import FLOAT
from annotune.ir.expr import Cast, Int, Negate, Real
from annotune.ir.nest import Assign
from annotune.transforms.legality import is_no_narrower, neutral

TYPES = {"i": "int", "f": "float", "d": "double", "s": "short", "x": "float", "y": "double"}


def statement(text: str) -> Assign:
    (assign,) = parse_nest(text).body
    assert isinstance(assign, Assign)
    return assign


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d += y[0] * 2", True),
        ("d += x[0] * y[0]", True),
        ("d += x[0] * 2", False),
        ("d += x[0] * 0.5", True),
        ("f += x[0] * 0.5f", True),
        ("f += sqrt(x[0])", True),
        ("d += i * 2", False),
        ("d += users(y[0])", False),
        ("d += y[0] < 2", False),
    ],
)
def test_terms_are_no_narrower_than_their_sum(text: str, expected: bool) -> None:
    assert is_no_narrower(statement(text), TYPES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i += y[0]", True),
        ("s += x[0] * i", True),
        ("i += s * 2", False),
        ("i += y[0] < 2", False),
        # What a function of the user's gives is not known.
        ("i += users(y[0])", True),
        ("d += y[0]", False),
    ],
)
def test_an_integer_drops_the_fractions_of_reals(text: str, expected: bool) -> None:
    assert drops_fractions(statement(text), TYPES) == expected


def test_a_sum_begins_with_what_changes_nothing() -> None:
    def type_of_zero(element: str) -> str:
        zero = neutral(element)
        assert isinstance(zero, Negate)
        return str(zero.operand.type) if isinstance(zero.operand, Cast) else ""

    assert neutral("unsigned char") == Int(0)
    assert neutral("double") == Negate(Real("0.0"))
    assert neutral(FLOAT.name) == Negate(Real("0.0f"))
    assert type_of_zero("float complex") == "float _Complex"
    assert type_of_zero("double _Complex") == "double _Complex"
