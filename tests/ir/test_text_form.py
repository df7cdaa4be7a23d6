"""The text form of nests: a law, and what is no nest."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nest_text import parse_nest, print_nest

from annotune.ir.expr import Access, Binary, Call, Expr, Int, Negate, Real, Select, Var
from annotune.ir.nest import Assign, Combine, Level, Local, Loop, Nest, Operator, Stmt

OPERATORS = [*"+-*/%<>", "<=", ">=", "==", "!=", "&&", "||"]
NAMES = st.sampled_from(["i", "j", "n", "h3u", "Ur", "e1", "S0x"])
LEAVES = (
    st.integers(-5, 10**6).map(Int)
    | st.sampled_from(["0.5", "1e-3", "2.", ".5f", "1.0e+10"]).map(Real)
    | NAMES.map(Var)
)


def _negated(operand: Expr) -> Expr:
    # A negative constant is one Int.
    return (
        Int(-operand.value) if isinstance(operand, Int) and operand.value > 0 else Negate(operand)
    )


def _compound(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    some = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return (
        st.builds(Binary, st.sampled_from(OPERATORS), inner, inner)
        | st.builds(Select, inner, inner, inner)
        | inner.map(_negated)
        | st.builds(Access, NAMES, some)
        | st.builds(Call, st.sampled_from(["min", "max"]), some)
    )


EXPRESSIONS = st.recursive(LEAVES, _compound, max_leaves=12)
TARGETS = NAMES.map(Var) | st.builds(
    Access, NAMES, st.lists(EXPRESSIONS, min_size=1, max_size=2).map(tuple)
)
LOCALS = st.builds(
    Local, NAMES, st.sampled_from(["double", "unsigned long"]), st.none() | EXPRESSIONS
)


@st.composite
def assigns(draw: st.DrawFn) -> Assign:
    op = draw(st.sampled_from(["=", "+=", "-=", "*=", "/="]))
    guard = draw(st.none() | EXPRESSIONS)
    return Assign(draw(st.integers(0, 99)), draw(TARGETS), op, draw(EXPRESSIONS), guard=guard)


def _loops(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    return st.builds(
        Loop,
        NAMES,
        EXPRESSIONS,
        EXPRESSIONS,
        st.lists(inner, max_size=3).map(tuple),
        st.integers(1, 4),
        st.sampled_from(Level),
        st.just("") | NAMES,
        st.integers(1, 4),
        combines=st.lists(st.builds(Combine, st.sampled_from(Operator), NAMES), max_size=2).map(
            tuple
        ),
    )


STATEMENTS: st.SearchStrategy[Stmt] = st.recursive(assigns() | LOCALS, _loops, max_leaves=6)


@given(st.lists(STATEMENTS, max_size=3).map(tuple))
def test_parse_undoes_print(body: tuple[Stmt, ...]) -> None:
    nest = Nest(body)
    assert parse_nest(print_nest(nest)) == nest


def test_one_line_and_indented_forms_agree() -> None:
    short = parse_nest("for i in 1:n: for j in 0:n-1: a[i][j] = a[i-1][j+1]")
    long = parse_nest("""
        for i in 1:n
          for j in 0:n - 1:
            S0: a[i][j] = a[i - 1][j + 1]
    """)
    assert short == long


def test_statements_are_numbered_in_text_order() -> None:
    nest = parse_nest("x = 1\nS4: y = 2\nfor i in 0:n: z += 1")
    assert [a.number for a in nest.assigns()] == [0, 4, 5]


def test_loops_keep_their_attributes() -> None:
    text = "for ii in 0:n step 4 @block.x tile_of i unrolled 2\n  S0: x = -(-y) - (a - b)\n"
    assert print_nest(parse_nest(text)) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("for i in 0", "line 1: expected ':'"),
        ("for i of 0:n", "line 1: expected 'in'"),
        ("for i in 0:n @nowhere", "nowhere"),
        ("x = ", "line 1: expected"),
        ("x = 1 2", "line 1: expected the end of the line"),
        ("x < 1", "line 1: expected"),
        ("1 = x", "line 1: expected an array element or a scalar"),
        ("x = 1\n  y = 2", "line 2: unexpected indentation"),
        ("  x = 1\ny = 2", "line 2: indented less"),
        ("local t", "line 1: expected a type and a name"),
        ("x = (1", "line 1: expected ')'"),
        ("for i in 0:n step n", "line 1: expected an integer"),
    ],
)
def test_says_where_the_text_is_wrong(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_nest(text)
