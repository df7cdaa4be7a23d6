"""Distribute: its refusals, a golden, and the law."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.nests import LAW, accepted, analysed, assert_law, nests, refused
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.transforms.distribute import Distribute
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)
APART = ((0,), (1,))


def test_an_unknown_statement() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    refusal = refused(Distribute(((0,), (2,)), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT250", COMMAND)


def test_statements_that_feed_each_other_both_ways() -> None:
    one = nest_analysis("for i in 1:n\n  a[i] = b[i - 1]\n  b[i] = a[i]\n")
    refusal = refused(Distribute(APART, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)
    assert refusal.message == (
        "distribute: loop '' would break the order that 'b' needs: "
        "b needs statement 1 before statement 0"
    )
    assert refusal.help == "leave the two statements in one nest"
    assert [note.span.line for note in refusal.notes] == [3]


def test_statements_that_share_a_temporary() -> None:
    one = nest_analysis("for i in 0:n\n  s = a[i]\n  b[i] = s\n")
    refusal = refused(Distribute(APART, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)
    assert "s belongs to one iteration of i, whose statements are taken apart" in refusal.message


def test_a_nest_per_group() -> None:
    one = nest_analysis(
        "for e in 0:n\n  for i in 0:m\n    a[e*m + i] = 1.0\n    c[e*m + i] = 1.0\n"
        "  for i in 0:m\n    b[e*m + i] += a[e*m + i]\n"
    )
    groups = Distribute(((0, 1), (2,)))
    assert groups.why_not(one.region.nest.body, Context(one)) is None
    assert text_of(groups.apply(one.region.nest.body, Context(one))) == (
        "for e in 0:n\n  for i in 0:m\n    S0: a[e * m + i] = 1.0\n    S1: c[e * m + i] = 1.0\n"
        "for e in 0:n\n  for i in 0:m\n    S2: b[e * m + i] += a[e * m + i]\n"
    )


def test_a_statement_that_no_group_names_stays_with_the_one_before() -> None:
    one = nest_analysis("for i in 0:n\n  a[i] = 1.0\n  b[i] = 1.0\n  c[i] = 1.0\n")
    after = Distribute(((0,), (2,))).apply(one.region.nest.body, Context(one))
    assert text_of(after) == (
        "for i in 0:n\n  S0: a[i] = 1.0\n  S1: b[i] = 1.0\nfor i in 0:n\n  S2: c[i] = 1.0\n"
    )


@LAW
@given(text=nests(), cut=st.integers(1, 3))
def test_legal_groups_keep_the_result(text: str, cut: int) -> None:
    one = analysed(text)
    numbers = sorted(one.paths)
    groups = tuple(g for g in (tuple(numbers[:cut]), tuple(numbers[cut:])) if g)
    assert_law(accepted(Distribute(groups), one.region.nest.body, one), one)
    single = Distribute(tuple((n,) for n in numbers))
    if single.why_not(one.region.nest.body, Context(one)) is None:
        assert_law(single.apply(one.region.nest.body, Context(one)), one)


INNER = "for i in 0:n\n  for j in 0:m\n    a[i*m + j] = 1.0\n    b[i*m + j] = 2.0\n"


def test_an_inner_loop_for_each_group() -> None:
    one = nest_analysis(INNER)
    inner = Distribute(APART, loop="j")
    assert inner.why_not(one.region.nest.body, Context(one)) is None
    assert text_of(inner.apply(one.region.nest.body, Context(one))) == (
        "for i in 0:n\n  for j in 0:m\n    S0: a[i * m + j] = 1.0\n"
        "  for j in 0:m\n    S1: b[i * m + j] = 2.0\n"
    )


def test_an_unknown_inner_loop() -> None:
    one = nest_analysis(INNER)
    refusal = refused(Distribute(APART, loop="q", span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT251", COMMAND)


def test_an_inner_loop_that_feeds_itself_stays_whole() -> None:
    one = nest_analysis(
        "for i in 0:n\n  for j in 1:m\n    a[i*m + j] = b[i*m + j - 1]\n"
        "    b[i*m + j] = a[i*m + j]\n"
    )
    refusal = refused(Distribute(APART, loop="j", span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)


@LAW
@given(text=nests(), cut=st.integers(1, 3), depth=st.integers(0, 2))
def test_legal_groups_of_an_inner_loop_keep_the_result(text: str, cut: int, depth: int) -> None:
    one = analysed(text)
    numbers = sorted(one.paths)
    loops = one.paths[numbers[0]]
    loop = loops[min(depth, len(loops) - 1)].var
    groups = tuple(g for g in (tuple(numbers[:cut]), tuple(numbers[cut:])) if g)
    assert_law(accepted(Distribute(groups, loop=loop), one.region.nest.body, one), one)


def test_no_groups_leave_a_nest_as_it_is() -> None:
    one = nest_analysis("for i in 0:n\n  a[i] = 1.0\n")
    body, nothing = one.region.nest.body, Distribute(())
    assert nothing.why_not(body, Context(one)) is None
    assert nothing.apply(body, Context(one)) == body
