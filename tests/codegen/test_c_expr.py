"""Expressions printed as C: what a compiler reads back is what was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nest_text import parse_nest
from support.regions import find_annotations

from annotune.codegen.c_expr import c_expr
from annotune.frontend.load import load
from annotune.ir.expr import PRECEDENCE, Access, Binary, Expr, Int, Negate, Real, Var

_FILE = (
    "void f(int n, int i, int j, double x, double *a, double A[n][n], double *out) {{\n"
    "/*@ begin PerfTuning () @*/\nfor (int k = 0; k < n; k++) out[0] = {};\n/*@ end @*/\n}}\n"
)


def read_back(text: str) -> Expr:
    """Return the expression that the front end reads in C text."""
    source = _FILE.format(text)
    (region,) = load("t.c", source, find_annotations(source, "t.c")).regions
    (assign,) = region.nest.assigns()
    return assign.value


def _negated(operand: Expr) -> Expr:
    return (
        Int(-operand.value) if isinstance(operand, Int) and operand.value > 0 else Negate(operand)
    )


INTEGERS = st.recursive(
    st.integers(-99, 99).map(Int) | st.sampled_from("nijk").map(Var),
    lambda inner: st.builds(Binary, st.sampled_from("+-*/%"), inner, inner) | inner.map(_negated),
    max_leaves=6,
)
REALS = st.recursive(
    st.sampled_from(["0.5", "1e-3", "2.", "3.0f"]).map(Real)
    | st.just(Var("x"))
    | INTEGERS.map(lambda index: Access("a", (index,)))
    | st.tuples(INTEGERS, INTEGERS).map(lambda indices: Access("A", indices)),
    lambda inner: (
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner | INTEGERS) | inner.map(_negated)
    ),
    max_leaves=6,
)


@given(INTEGERS | REALS)
def test_reads_back_as_the_same(expr: Expr) -> None:
    assert read_back(c_expr(expr)) == expr


PRINTED = [
    "a[i] - (x - 2.0)",
    "a[i] - x - 2.0",
    "a[i] / (x * 2.0)",
    "a[i] / x * 2.0",
    "(a[i] + x) * 2.0",
    "-(a[i] + x)",
    "-a[i] * x",
    "-(-x)",
    "x - -2",
    "x * -2",
    "i % (n * j) / 2",
    "i * (n % j)",
    "A[i][j - 1]",
    "x + (1.0 + 2.0)",
]


@pytest.mark.parametrize("text", PRINTED)
def test_keeps_only_the_parentheses_that_c_needs(text: str) -> None:
    assert c_expr(read_back(text)) == text


CONDITIONS = [
    "i < n && (j >= 0 || x == 1.0)",
    "(i < j) + 1",
    "i || (j && x > 0.0) || y",
    "x > 0.0 ? x : -x",
    "(x > 0.0 ? x : y) + 1.0",
    "i ? j ? x : y : x",
    "(i ? j : k) ? x : y",
    "sqrt(x * x + y)",
]


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_keep_only_the_parentheses_that_c_needs(text: str) -> None:
    (assign,) = parse_nest(f"z = {text}").assigns()
    assert c_expr(assign.value) == text


def test_what_does_not_hold_has_c_s_own_operator() -> None:
    assert c_expr(read_back("(i < n) == 0")) == "!(i < n)"
    assert c_expr(read_back("i > 2 && (i < n && (j > 0.) == 0) == 0")) == (
        "i > 2 && !(i < n && !(j > 0.))"
    )
    assert c_expr(read_back("i == 0")) == "i == 0"


def test_inside_another_operator() -> None:
    product = PRECEDENCE["*"]
    assert c_expr(Binary("+", Var("n"), Int(1)), product) == "(n + 1)"
    assert c_expr(Binary("*", Var("n"), Int(2)), product) == "n * 2"
