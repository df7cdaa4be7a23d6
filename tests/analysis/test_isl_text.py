"""Conditions and subscripts as isl text mean what C means by them."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest

from annotune.analysis.analyse import analyse
from annotune.certify.certificate import verify
from annotune.certify.isl_text import IslText, reads_of
from annotune.certify.kernels import certify
from annotune.ir.expr import Access, Expr, print_expr
from annotune.ir.nest import Level, Loop, Nest
from annotune.schedule.plan import Kernel, Plan

from .brute import Machine
from .regions import region

NAMES, SIZES = {"i": "i0", "j": "i1"}, {"n": 5, "m": 3}


def expression(text: str) -> Expr:
    return parse_nest(f"x = {text}").assigns()[0].value


values = st.recursive(
    st.sampled_from(["i", "j", "n", "m", "0", "1", "2", "-3"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-"), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from("/%"), st.sampled_from(["2", "m"])),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        st.builds("(2 * {})".format, inner),
        st.builds("({} < {} ? {} : {})".format, inner, inner, inner, inner),
    ),
    max_leaves=3,
)
conditions = st.recursive(
    st.builds(
        "{} {} {}".format, values, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), values
    ),
    lambda inner: st.one_of(
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["&&", "||"]), inner),
        st.builds("({}) == 0".format, inner),
    ),
    max_leaves=2,
)


@tried(120)
@given(text=conditions, i=st.integers(-4, 5), j=st.integers(-4, 5))
def test_a_condition_holds_where_it_does_in_c(text: str, i: int, j: int) -> None:
    condition = expression(text)
    maybe, surely = IslText(NAMES, SIZES).where(condition)
    assert maybe == surely
    point = isl.Set(f"{{ [i0, i1] : i0 = {i} and i1 = {j} and ({maybe}) }}")
    machine = Machine(region("for i in 0:n: x[i] = 1.0"), SIZES)
    assert point.is_empty() is not bool(machine.value(condition, {"i": i, "j": j}, set()))


@tried(120)
@given(text=values, i=st.integers(-4, 5), j=st.integers(-4, 5))
def test_a_value_is_the_one_in_c(text: str, i: int, j: int) -> None:
    cases = IslText(NAMES, SIZES).cases(expression(text))
    assert cases is not None
    union = "; ".join(f"[i0, i1] -> [{case.value}] : {case.where}" for case in cases)
    image = isl.Map(f"{{ {union} }}").intersect_domain(
        isl.Set(f"{{ [i0, i1] : i0 = {i} and i1 = {j} }}")
    )
    machine = Machine(region("for i in 0:n: x[i] = 1.0"), SIZES)
    expected = machine.value(expression(text), {"i": i, "j": j}, set())
    assert image.range().is_equal(isl.Set(f"{{ [{expected}] }}"))


def test_what_memory_decides_holds_maybe() -> None:
    text = IslText(NAMES, SIZES)
    maybe, surely = text.where(expression("i > 0 && a[i] > 0.0"))
    assert not isl.Set(f"{{ [i0] : i0 = 1 and {maybe} }}").is_empty()
    assert isl.Set(f"{{ [i0] : i0 = 0 and {maybe} }}").is_empty()
    assert isl.Set(f"{{ [i0] : {surely} }}").is_empty()
    assert text.cases(expression("col[i]")) is None


def test_reads_come_with_what_is_tested_before_them() -> None:
    found = {
        print_expr(place): [print_expr(c) for c in tested]
        for place, tested in reads_of(expression("i > 0 ? a[i-1] : (j < n || b[j] > c[j])"))
        if isinstance(place, Access)
    }
    assert found == {
        "a[i - 1]": ["i > 0"],
        "b[j]": ["(i > 0) == 0", "(j < n) == 0"],
        "c[j]": ["(i > 0) == 0", "(j < n) == 0"],
    }


# A parallel loop, and what to put into it so that its iterations depend on each other.
PLANS = {
    "a boundary": (
        "for i in 0:n\n  a[i] = b[i-1] if i > 0\n  a[i] = 0.0 if i == 0\n",
        ("a[i] = 0.0 if i == 0", "a[i - 1] = 0.0 if i != 0"),
    ),
    "a gather": ("for i in 0:n: a[i] = x[col[i]]", ("a[i]", "x[i]")),
    "halves": ("for i in 0:n: a[i] = b[i / 2] + b[i % 2]", ("b[", "a[")),
    "a last value": (
        "for i in 0:n\n  t = b[i]\n  a[i] = t\n  s = t if i == n - 1\n",
        ("i == n - 1", "i >= n - 2"),
    ),
    "a local array": (
        "for i in 0:n\n  local double t[4]\n  t[1] = b[i]\n  a[i] = t[1]\n",
        ("a[i]", "b[i+1]"),
    ),
    "memory": ("for i in 0:n: a[i] = b[i] if b[i] > 0.0", ("a[i] =", "b[i+1] =")),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_certificate_of_a_parallel_loop_holds_and_of_a_serial_one_does_not(name: str) -> None:
    text, (part, wrong) = PLANS[name]
    for is_right, nest in ((True, text), (False, text.replace(part, wrong))):
        one = region(
            nest, sizes={"n": 9}, extents={"x": (9,)}, types={"col": "int"}, read_after=["s"]
        )
        analysis = analyse(one)
        assert (analysis.loops[0].kind == "parallel") is is_right
        assert (verify(certify(analysis, _on_threads(one.nest))) == ()) is is_right


def _on_threads(nest: Nest) -> Plan:
    (loop,) = nest.body
    assert isinstance(loop, Loop)
    placed = (replace(loop, place=Level.THREAD_X),)
    numbers = tuple(assign.number for assign in nest.assigns())
    return Plan((Kernel("k", numbers, placed, placed),), (), {})
