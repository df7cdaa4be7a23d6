"""Unroll: its refusals, goldens, and the law."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.interpreter import assert_same
from support.nest_text import parse_nest
from support.nests import LAW, SIZES, accepted, analysed, assert_law, nests, refused
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.ir.expr import Access, Var
from annotune.ir.nest import Level, Local, LocalArray, Loop
from annotune.transforms.map import Map
from annotune.transforms.registers import Registers
from annotune.transforms.transform import Context
from annotune.transforms.unroll import Unroll, divisors

COMMAND = Span("t.c", 77, 3, 9)
SUM = "for i in 0:n: for k in 0:n: c[i] += a[k]"


def test_an_unknown_loop() -> None:
    one = nest_analysis(SUM)
    refusal = refused(Unroll(0, "j", 2, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT251", COMMAND)


def test_a_factor_that_is_not_positive() -> None:
    one = nest_analysis(SUM, {"n": 10})
    refusal = refused(Unroll(0, "k", 0, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT261", COMMAND)
    assert refusal.message == "unroll: factor 0 of loop 'k' is not positive"
    assert refusal.help == "use one of 1, 2, 5, 10"


def test_a_factor_that_does_not_divide() -> None:
    one = nest_analysis(SUM, {"n": 10})
    refusal = refused(Unroll(0, "k", 4, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT262", COMMAND)
    assert refusal.message == "unroll: factor 4 does not divide the 10 iterations of loop 'k'"
    assert refusal.help == "use one of 1, 2, 5, 10"


def test_a_loop_that_holds_loops() -> None:
    one = nest_analysis(SUM)
    refusal = refused(Unroll(0, "i", 2, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT263", COMMAND)
    assert refusal.message == "unroll: loop 'i' holds other loops"
    assert refusal.help == "unroll the innermost loop: 'k'"


def test_a_loop_on_threads() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    body = Map(0, (("i", Level.BLOCK_X),)).apply(one.region.nest.body, Context(one))
    refusal = refused(Unroll(0, "i", 2, span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT264", COMMAND)
    assert refusal.help == "name a loop that stays serial: none"


def test_an_unsigned_remainder_between_moving_bounds() -> None:
    one = nest_analysis(
        "for i in 0:n: for k in i + 2:n: c[i] += a[k]", {"n": 4}, types={"k": "unsigned long"}
    )
    refusal = refused(Unroll(0, "k", 2, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT271", COMMAND)
    assert refusal.message == (
        "unroll: loop 'k' counts in 'unsigned long' between bounds that 'i' sets"
    )


def test_terms_that_are_subtracted_keep_their_signs() -> None:
    # -0.0 - (0.0 + -0.0) is -0.0, but -0.0 - 0.0 - -0.0 is 0.0; and so is -0.0 - 1.0 - -1.0.
    one = nest_analysis("for i in 0:n: for m in 0:10: c[i] -= d[m*10 + i]*u[m]")
    assert text_of(Unroll(0, "m", 2).apply(one.region.nest.body, Context(one))) == (
        "for i in 0:n\n  for m in 0:10 step 2 unrolled 2\n"
        "    S0: c[i] += -(d[10 * m + i] * u[m]) - d[10 * (m + 1) + i] * u[m + 1]\n"
    )


def test_one_expression_for_the_terms_of_one_sum() -> None:
    one = nest_analysis("for i in 0:n: for m in 0:10: c[i] += d[m*10 + i]*u[m]")
    assert text_of(Unroll(0, "m", 2).apply(one.region.nest.body, Context(one))) == (
        "for i in 0:n\n  for m in 0:10 step 2 unrolled 2\n"
        "    S0: c[i] += d[10 * m + i] * u[m] + d[10 * (m + 1) + i] * u[m + 1]\n"
    )


def test_the_whole_loop_vanishes() -> None:
    one = nest_analysis("for i in 0:n: for k in 1:n+1: c[i] -= a[k]")
    after = Unroll(0, "k", 3).apply(one.region.nest.body, Context(one, {"n": 3}))
    assert text_of(after) == "for i in 0:n\n  S0: c[i] += -a[1] - a[2] - a[3]\n"


def test_a_remainder_follows_where_the_count_is_open() -> None:
    one = nest_analysis(SUM)
    assert text_of(Unroll(0, "k", 2).apply(one.region.nest.body, Context(one))) == (
        "for i in 0:n\n  for k in 0:n - n % 2 step 2 unrolled 2\n    S0: c[i] += a[k] + a[k + 1]\n"
        "  for k in n - n % 2:n\n    S0: c[i] += a[k]\n"
    )


@pytest.mark.parametrize("n", range(1, 12))
@pytest.mark.parametrize("factor", [2, 3, 4])
def test_a_remainder_of_a_longer_step_starts_on_the_step(n: int, factor: int) -> None:
    one = nest_analysis("for i in 0:n: for k in 1:n+1 step 2: c[i] += a[k]", {"n": 24})
    unroll = Unroll(0, "k", factor)
    assert unroll.why_not(one.region.nest.body, Context(one)) is None
    assert_same(unroll.apply(one.region.nest.body, Context(one)), one.region, {"n": n})


@pytest.mark.parametrize(
    ("statements", "merges"),
    [
        ("c[i] += a[k]\n    d[i] += a[k]", True),
        ("c[i] += a[k]\n    d[i] += c[i]", False),
        ("c[i] += a[k]\n    c[i] += 2.0*a[k]", False),
        ("c[i] += a[k]*c[i]", False),
        ("c[i] += a[k]\n    a[k + 1] = 1.0", False),
        ("s += a[k]\n    d[i] += s", False),
        ("c[i] *= a[k]", False),
        ("c[k] += a[i]", False),
    ],
)
def test_only_sums_that_nothing_else_reads_are_merged(statements: str, merges: bool) -> None:
    text = f"for i in 0:n\n  for k in 0:n\n    {statements}\n"
    one = nest_analysis(text, {"n": 4})
    after = Unroll(0, "k", 2).apply(one.region.nest.body, Context(one))
    count = sum(1 for line in text_of(after).splitlines() if ": c[" in line and "=" in line)
    assert_law(after, one)
    assert (" + a[k + 1]" in text_of(after)) is merges, count


def test_every_copy_has_its_own_locals() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:4: for k in 0:2: c[i*4 + j] += a[k + j]")
    body = Registers(0, "k").apply(one.region.nest.body, Context(one))
    body = Unroll(0, "k", 2).apply(body, Context(one))
    unroll = Unroll(0, "j", 2)
    assert unroll.why_not(body, Context(one)) is None
    after = unroll.apply(body, Context(one))
    assert text_of(after) == (
        "for i in 0:n\n  for j in 0:4 step 2 unrolled 2\n"
        "    local double c_acc = c[4 * i + j]\n    S0: c_acc += a[j] + a[j + 1]\n"
        "    S0: c[4 * i + j] = c_acc\n"
        "    local double c_acc2 = c[4 * i + j + 1]\n    S0: c_acc2 += a[j + 1] + a[j + 2]\n"
        "    S0: c[4 * i + j + 1] = c_acc2\n"
    )
    assert_same(after, one.region, {"n": 3})


HELD = """
for i in 0:n
  local double r[2]
  for k in 0:4
    for j in k:k + 2
      S0: r[j - k] += a[i + k]
"""


def test_loops_over_a_block_of_registers_are_copied_with_it() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:4: for j in k:k + 2: c[j] += a[i + k]")
    body = parse_nest(HELD).body
    unroll = Unroll(0, "k", 2)
    assert unroll.why_not(body, Context(one)) is None
    assert text_of(unroll.apply(body, Context(one))) == (
        "for i in 0:n\n  local double r[2]\n  for k in 0:4 step 2 unrolled 2\n"
        "    for j in k:k + 2\n      S0: r[j - k] += a[i + k]\n"
        "    for j in k + 1:k + 3\n      S0: r[j - k - 1] += a[i + k + 1]\n"
    )


def test_other_loops_inside_are_not_copied() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:4: for j in k:k + 2: c[j] += a[i + k]")
    assert refused(Unroll(0, "k", 2), one.region.nest.body, one).code == "AT263"
    open_body = parse_nest(HELD.replace("k:k + 2", "k:n")).body
    assert refused(Unroll(0, "k", 2), open_body, one).code == "AT263"


def test_a_copy_reads_its_own_local_in_the_loops_inside() -> None:
    (outer,) = parse_nest("for i in 0:4\n  for j in 0:2\n    S0: c[2*i + j] += s\n").body
    assert isinstance(outer, Loop)
    context = Context(nest_analysis("for i in 0:4: for j in 0:2: c[2*i + j] += b[i]"))
    place = Access("b", (Var("i"),))
    body = (replace(outer, body=(Local("s", "double", place), *outer.body)),)
    assert text_of(Unroll(0, "i", 2).apply(body, context)) == (
        "for i in 0:4 step 2 unrolled 2\n"
        "  local double s = b[i]\n  for j in 0:2\n    S0: c[2 * i + j] += s\n"
        "  local double s2 = b[i + 1]\n  for j in 0:2\n    S0: c[2 * (i + 1) + j] += s2\n"
    )


def test_local_arrays_are_renamed_too() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:4: c[i*4 + j] += a[j]")
    (outer,) = one.region.nest.body
    assert isinstance(outer, Loop)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    held = (LocalArray("b", "double", (2,)), Local("s", "double"), *inner.body)
    body = (replace(outer, body=(replace(inner, body=held),)),)
    text = text_of(Unroll(0, "j", 2).apply(body, Context(one)))
    assert "local double b[2]" in text
    assert "local double b2[2]" in text
    assert "local double s2\n" in text


@LAW
@given(
    text=nests(sums=True),
    statement=st.integers(0, 3),
    factor=st.integers(1, 6),
    fixed=st.booleans(),
)
def test_a_legal_factor_keeps_the_result(
    text: str, statement: int, factor: int, fixed: bool
) -> None:
    one = analysed(text)
    body = one.region.nest.body
    known = one.paths.get(statement)
    unroll = Unroll(statement, known[-1].var if known else "i", factor)
    after = accepted(unroll, body, one)
    if fixed:
        assert_same(after, one.region, SIZES, one.private, lambda: text_of(after))
    else:
        assert_law(after, one)


@given(number=st.integers(1, 500))
def test_divisors_are_those_that_leave_no_rest(number: int) -> None:
    assert divisors(number) == tuple(d for d in range(1, number + 1) if number % d == 0)


def test_divisors_of_many_terms() -> None:
    assert len(divisors(100_000_000)) == 81
