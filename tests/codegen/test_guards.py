"""The tests before generated code as one condition: each of them holds where it does."""

from __future__ import annotations

import pytest
from codegen.emitted import analysed_text, variants
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.nest_text import parse_nest

from annotune.codegen.guards import joined
from annotune.codegen.target import load_target
from annotune.ir.expr import (
    COMPARISONS,
    Binary,
    Call,
    Expr,
    Int,
    Select,
    Var,
    conjuncts,
    without_extrema,
)
from annotune.ir.nest import Assign, Loop

SIZES = st.integers(0, 9).map(Int) | st.sampled_from("nml").map(Var)


def _compared(operands: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.builds(Binary, st.sampled_from(sorted(COMPARISONS)), operands, operands)


NUMBERS = st.recursive(
    SIZES,
    lambda inner: (
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner)
        | st.builds(Call, st.sampled_from(["min", "max"]), st.tuples(inner, inner))
        | st.builds(Select, _compared(inner), inner, inner)
    ),
    max_leaves=6,
)
TESTS = st.recursive(
    _compared(NUMBERS) | st.builds(Select, _compared(SIZES), NUMBERS, NUMBERS),
    lambda inner: st.builds(Binary, st.sampled_from(["&&", "||"]), inner, inner),
    max_leaves=3,
)


def _read(condition: str) -> Expr:
    (loop,) = parse_nest(f"for i in 0:n: a[i] = 0.0 if {condition}").body
    assert isinstance(loop, Loop)
    (assign,) = loop.body
    assert isinstance(assign, Assign)
    assert assign.guard is not None
    return assign.guard


@given(st.lists(TESTS, min_size=1, max_size=4))
def test_a_conjunction_reads_back_as_its_tests(tests: list[Expr]) -> None:
    meant = [one for test in tests for one in conjuncts(without_extrema(test))]
    assert list(conjuncts(_read(joined(tests)))) == meant


LEAST = """\
void f(int n, int m, const double *x, double *y)
{
    /*@ begin PerfTuning ( def input_params { param n = 600; param m = 500; } ) @*/
    for (int i = 0; i < n && i <= m; i++)
        y[i] += x[i];
    /*@ end @*/
}
"""


@pytest.mark.parametrize("name", ["openmp", "openacc", "cuda"])
def test_a_nest_up_to_the_lesser_of_two(name: str, golden: Golden) -> None:
    target = load_target(name)
    code = target.region(variants(target, analysed_text(LEAST), 1)[0], False)
    golden.check(f"codegen/least_{name}.txt", f"{code.body}\n{code.helper}\n{code.device}")


CONDITION = """\
void f(int n, int flag, unsigned u, double alpha, const double *restrict x, double *restrict y)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 600; }} ) @*/
    for (size_t i = 0; i < n; i++) {{
        if ({condition})
            y[i] += x[i];
        {more}
    }}
    /*@ end @*/
}}
"""


@pytest.mark.parametrize("name", ["openmp", "openacc", "cuda"])
@pytest.mark.parametrize(
    ("condition", "more", "is_asked_first"),
    [
        ("flag != 0", "", True),
        ("alpha != 0.0", "", True),
        # Not what some statement does without, nor what is compared in another type or in memory.
        ("flag != 0", "y[i] *= 2.0;", False),
        ("u > 3", "", False),
        ("x[0] != 0.0", "", False),
    ],
)
def test_a_condition_of_all_statements_is_asked_before_the_kernels(
    name: str, condition: str, more: str, is_asked_first: bool
) -> None:
    text = CONDITION.format(condition=condition, more=more)
    target = load_target(name)
    code = target.region(variants(target, analysed_text(text), 1)[0], False)
    made = f"{code.body}\n{code.helper}\n{code.device}"
    head = made if name == "cuda" else made.split("{")[1]
    asked = f"fits && {condition};" if name == "cuda" else f"&& {condition}"
    assert (asked in head) == is_asked_first
    # The nest as written asks, and the kernels only what has not been tested.
    kernels = made.split("_original(" if name == "cuda" else "/* As written")[0]
    assert (f"if ({condition})" in kernels) != is_asked_first
