"""Registers: its refusals, goldens, and the law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nests import LAW, accepted, analysed, assert_law, nests, refused
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.ir.nest import Level
from annotune.transforms.map import Map
from annotune.transforms.registers import Registers
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)


def test_an_unknown_loop() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    refusal = refused(Registers(0, "k", span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT251", COMMAND)


def test_a_target_that_the_loop_moves() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:n: for k in 0:n: c[i*n + j] += a[k]")
    for loop in "ij":
        refusal = refused(Registers(0, loop, span=COMMAND), one.region.nest.body, one)
        assert (refusal.code, refusal.span) == ("AT259", COMMAND)
        assert refusal.message == f"registers: the target of statement 0 changes with '{loop}'"
        assert refusal.help == ("name a loop that does not stand in the subscript of the target: k")


@pytest.mark.parametrize(
    "statement", ["c[i] += c[k]*2.0", "c[i] += a[k] + c[i + 1]", "c[i] += a[k]\n    c[k] = 1.0"]
)
def test_another_element_of_the_same_array(statement: str) -> None:
    one = nest_analysis(f"for i in 0:n\n  for k in 0:n\n    {statement}\n", {"n": 4})
    refusal = refused(Registers(0, "k", span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT260", COMMAND)
    assert refusal.message == "registers: 'c' is also used as c[…] inside 'k'"
    assert refusal.help == "a register copy would go stale; leave the array in memory for this loop"


def test_our_own_choice_is_refused_at_the_other_access() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:n: c[i] += c[k]", {"n": 4})
    assert refused(Registers(0, "k"), one.region.nest.body, one).span == Span("t.c", 3, 1)


def test_a_loop_on_threads() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:n: c[i] += a[k]")
    body = Map(0, (("i", Level.THREAD_X),)).apply(one.region.nest.body, Context(one))
    refusal = refused(Registers(0, "i", span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT264", COMMAND)
    assert refusal.message == (
        "registers: loop 'i' is mapped to thread.x, so it is no loop of the thread"
    )
    assert refusal.help == "name a loop that stays serial: k"


@pytest.mark.parametrize("lower", ["i", "i + 1"])
def test_a_loop_that_may_not_run(lower: str) -> None:
    # In the last iteration of i the loop over k is empty and c[n - 2 - i] is c[-1].
    one = nest_analysis(f"for i in 0:n: for k in {lower}:n - 1: c[n - 2 - i] += a[k]", {"n": 4})
    refusal = refused(Registers(0, "k", span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT270", COMMAND)
    assert refusal.message == (
        "registers: 'k' may run no iteration, so 'c' need not have the element to copy"
    )
    assert refusal.help == "the bounds of 'k' use 'i'; leave the array in memory for this loop"


def test_a_moving_loop_of_fixed_length_always_runs() -> None:
    one = nest_analysis("for i in 0:n: for k in i:i+3: c[i] += a[k]", {"n": 4})
    assert Registers(0, "k").why_not(one.region.nest.body, Context(one)) is None


def test_a_scalar_stays_as_it_is() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:n: s += a[k]")
    body = one.region.nest.body
    assert Registers(0, "k").why_not(body, Context(one)) is None
    assert Registers(0, "k").apply(body, Context(one)) == body


def test_load_before_and_store_after() -> None:
    text = "for i in 0:n: for j in 0:m: for k in 0:n: c[i] += a[k] + c[i]"
    one = nest_analysis(text, types={"c": "float"})
    assert text_of(Registers(0, "j").apply(one.region.nest.body, Context(one))) == (
        "for i in 0:n\n  local float c_acc = c[i]\n  for j in 0:m\n    for k in 0:n\n"
        "      S0: c_acc += a[k] + c_acc\n  S0: c[i] = c_acc\n"
    )


def test_a_name_of_its_own() -> None:
    one = nest_analysis(
        "for i in 0:n\n  c_acc4 = 1.0\n  for k in 0:c_acc: c[i*c_acc2] += c_acc3*a[k]",
        {"n": 4, "c_acc": 4, "c_acc2": 3},
    )
    registers = Registers(1, "k")
    text = text_of(registers.apply(one.region.nest.body, Context(one)))
    assert "local double c_acc5 = c[i * c_acc2]" in text


def test_two_targets_in_one_loop() -> None:
    one = nest_analysis("for i in 0:n\n  for k in 0:n\n    c[i] += a[k]\n    d[i] -= a[k]\n")
    body = Registers(0, "k").apply(one.region.nest.body, Context(one))
    second = Registers(1, "k")
    assert second.why_not(body, Context(one)) is None
    assert text_of(second.apply(body, Context(one))) == (
        "for i in 0:n\n  local double c_acc = c[i]\n  local double d_acc = d[i]\n  for k in 0:n\n"
        "    S0: c_acc += a[k]\n    S1: d_acc -= a[k]\n  S1: d[i] = d_acc\n  S0: c[i] = c_acc\n"
    )


@LAW
@given(text=nests(sums=True), loop=st.sampled_from("jk"), statement=st.integers(0, 3))
def test_a_legal_copy_keeps_the_result(text: str, loop: str, statement: int) -> None:
    one = analysed(text)
    body = accepted(Registers(statement, loop), one.region.nest.body, one)
    assert_law(body, one)
    other = Registers(max(one.paths), loop)
    if other.why_not(body, Context(one)) is None:
        assert_law(other.apply(body, Context(one)), one)


@LAW
@given(text=nests(sums=True, perfect=True), size=st.integers(1, 5), outer=st.booleans())
def test_a_legal_copy_around_tiles_keeps_the_result(text: str, size: int, outer: bool) -> None:
    one = analysed(text)
    loop = one.paths[0][-1].var
    body = accepted(Tile(0, loop, size), one.region.nest.body, one)
    assert_law(accepted(Registers(0, f"{loop}_t" if outer else loop), body, one), one)


def test_a_condition_may_leave_the_element_out() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:n: c[i] += a[k] if a[k] > 0.0")
    refusal = refused(Registers(0, "k", span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT276", COMMAND)
    # Where each iteration reads or writes the element anyway, it is there.
    for other, code in (
        ("c[i] *= 2.0", ""),
        ("d[k] = c[i]", ""),
        ("d[k] = a[k] > 0.0 ? c[i] : 0.0", "AT276"),
        ("d[k] = c[i] if a[k] > 0.0", "AT276"),
    ):
        text = f"for i in 0:n\n  for k in 0:n\n    c[i] += a[k] if a[k] > 0.0\n    {other}\n"
        one = nest_analysis(text)
        found = Registers(0, "k").why_not(one.region.nest.body, Context(one))
        assert (found.code if found is not None else "") == code
