"""Integer expressions made simpler keep their value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nest_text import parse_nest

from annotune.ir.constants import divide, remainder
from annotune.ir.expr import Access, Binary, Call, Expr, Int, Negate, Real, Var, print_expr, walk
from annotune.ir.fold import exact_quotient, fold, trip_count
from annotune.ir.nest import Assign, Loop

VALUES = {"i": 3, "j": -4, "n": 7}


def expression(text: str) -> Expr:
    (assign,) = parse_nest(f"x = {text}").body
    assert isinstance(assign, Assign)
    return assign.value


FOLDS = {
    "n - 1 + 1": "n",
    "n + (m - n)": "m",
    "2*3 + 4": "10",
    "2*n*3": "6 * n",
    "n*2 + n": "3 * n",
    "1*n + 0": "n",
    "0*n": "0",
    "-i + n": "n - i",
    "-(n - 1)": "-n + 1",
    "-i - n": "-i - n",
    "n/1 + n%1": "n",
    "-7/2": "-3",
    "-7%2": "-1",
    "n/0": "n / 0",
    "(n + 1 - 1)/2": "n / 2",
    "min(3, 4) + max(1, 2)": "5",
    "min(n, n + 0)": "n",
    "a[n - 1 + 1]": "a[n]",
    "x[0]*1.0 + 0": "x[0] * 1.0 + 0",
    "1.0 - -(x[i + 0])": "1.0 - -x[i]",
    "2 < 3": "1",
    "0 && n < 3": "0",
    "1 && n < 3": "n < 3",
    "n < 3 || 0": "n < 3",
    "1 && n": "n != 0",
    "n || 2": "n || 2",
    "3 > 2 ? n + 0 : m": "n",
    "sqrt(x) + y + sqrt(x)": "sqrt(x) + y + sqrt(x)",
}


@pytest.mark.parametrize("text", FOLDS)
def test_folds(text: str) -> None:
    assert print_expr(fold(expression(text))) == FOLDS[text]


QUOTIENTS = {
    "8*i": "2 * i",
    "8*i - 4*(j + 3)": "2 * i - j - 3",
    "-4*i": "-i",
    "12": "3",
    "0": "0",
    "8*i + 2": None,
    "6*i": None,
    "4*x[0]": None,
}


@pytest.mark.parametrize("text", QUOTIENTS)
def test_a_quotient_that_leaves_nothing(text: str) -> None:
    found = exact_quotient(expression(text), 4)
    assert (found and print_expr(found)) == QUOTIENTS[text]
    assert exact_quotient(expression(text), 0) is None


def test_puts_values_in() -> None:
    assert fold(expression("n*n - i + a[n]"), {"n": 4, "i": 1}) == expression("15 + a[4]") or (
        print_expr(fold(expression("n*n - i"), {"n": 4, "i": 1})) == "15"
    )


INTEGERS = st.recursive(
    st.integers(-9, 9).map(Int) | st.sampled_from(sorted(VALUES)).map(Var),
    lambda inner: (
        st.builds(Binary, st.sampled_from("+-*/%"), inner, inner)
        | st.builds(Negate, inner)
        | st.builds(Call, st.sampled_from(["min", "max"]), st.tuples(inner, inner))
    ),
    max_leaves=12,
)


def value(expr: Expr) -> int | None:
    """Return what C computes, None after a division by zero."""
    match expr:
        case Int(number):
            return number
        case Var(name):
            return VALUES[name]
        case Negate(operand):
            inner = value(operand)
            return None if inner is None else -inner
        case Binary(op, first, second):
            left, right = value(first), value(second)
            if left is None or right is None or (op in "/%" and right == 0):
                return None
            return {
                "+": lambda: left + right,
                "-": lambda: left - right,
                "*": lambda: left * right,
                "/": lambda: divide(left, right),
                "%": lambda: remainder(left, right),
            }[op]()
        case Call(name, arguments):
            numbers = [value(a) for a in arguments]
            known = [n for n in numbers if n is not None]
            pick = min if name == "min" else max
            return pick(known) if len(known) == len(numbers) else None
        case Access() | Real():
            raise AssertionError(expr)


@given(INTEGERS)
def test_keeps_the_value(expr: Expr) -> None:
    before = value(expr)
    if before is not None:
        assert value(fold(expr)) == before
        assert fold(expr, VALUES) == Int(before)


def test_a_sum_times_minus_one_is_collected() -> None:
    turned = fold(Binary("*", Int(-1), Binary("+", Int(1), Var("i"))))
    assert turned == Binary("-", Negate(Var("i")), Int(1)) == fold(turned)


@given(INTEGERS)
def test_folding_twice_changes_nothing(expr: Expr) -> None:
    once = fold(expr)
    assert fold(once) == once


@given(INTEGERS)
def test_does_not_grow(expr: Expr) -> None:
    # A distributed sign is all that may be added.
    assert len(list(walk(fold(expr)))) <= 2 * len(list(walk(expr)))


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        ("0:n", "n"),
        ("1:n + 1", "n"),
        ("2:10", "8"),
        ("5:2", "0"),
        ("i:n", "n - i"),
        ("0:10 step 4", "3"),
        ("0:n step 2", "(n + 1) / 2"),
    ],
)
def test_trip_count(loop: str, count: str) -> None:
    (parsed,) = parse_nest(f"for k in {loop}: x = 1").body
    assert isinstance(parsed, Loop)
    assert print_expr(trip_count(parsed)) == count
