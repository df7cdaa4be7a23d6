"""Fuse: its refusals, a golden, and the law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nests import LAW, SIZES, accepted, analysed, assert_law, nests, refused
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.transforms.distribute import Distribute, Fuse
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)
BOTH = Fuse((0, 1), span=COMMAND)


def test_an_unknown_statement() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    refusal = refused(BOTH, one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT250", COMMAND)


def test_loops_of_other_names() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0\nfor j in 0:n: b[j] = 1.0\n")
    refusal = refused(BOTH, one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT256", COMMAND)
    assert refusal.message == "fuse: statements 0 and 1 have no outer loop in common"
    assert refusal.help == (
        "their outermost loops are 'i' and 'j'; loops fuse when name, bounds and step are equal"
    )


def test_loops_of_other_bounds_unless_the_sizes_make_them_equal() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0\nfor i in 0:m: b[i] = 1.0\n", SIZES)
    body = one.region.nest.body
    assert refused(BOTH, body, one).code == "AT256"
    assert Fuse((0, 1)).why_not(body, Context(one, {"n": 4, "m": 4})) is None


def test_a_statement_outside_all_loops() -> None:
    one = nest_analysis("s = 1.0\nfor i in 0:n: b[i] = s\n")
    refusal = refused(BOTH, one.region.nest.body, one)
    assert refusal.code == "AT256"
    assert "their outermost loops are 'none' and 'i'" in refusal.help


def test_a_value_that_is_read_ahead_of_its_writing() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0\nfor i in 0:n: b[i] = a[n - 1 - i]\n")
    refusal = refused(BOTH, one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)
    assert refusal.message.startswith("fuse: loop 'i' would break the order that 'a' needs:")
    assert refusal.help == "leave the statements in their own nests"
    assert len(refusal.notes) == 1


def test_merges_as_deep_as_the_nests_agree() -> None:
    one = nest_analysis(
        "for e in 0:n\n  for i in 0:m\n    a[e*m + i] = 1.0\n"
        "for e in 0:n\n  for i in 0:m\n    for k in 0:m\n      b[e*m + i] += a[e*m + i]\n"
    )
    body = one.region.nest.body
    assert BOTH.why_not(body, Context(one)) is None
    assert text_of(BOTH.apply(body, Context(one))) == (
        "for e in 0:n\n  for i in 0:m\n    S0: a[e * m + i] = 1.0\n    for k in 0:m\n"
        "      S1: b[e * m + i] += a[e * m + i]\n"
    )


HANDED_ON = (
    "for e in 0:n\n  for i in 0:m\n    a[e*m + i] = u[e*m + i]\n"
    "for e in 0:n\n  for i in 0:m\n    b[e*m + i] = a[e*m + m - 1 - i]\n"
)


def test_nests_that_are_joined_down_to_a_loop() -> None:
    one = nest_analysis(HANDED_ON)
    body = one.region.nest.body
    assert refused(BOTH, body, one).code == "AT253"
    step = Fuse((0, 1), "e")
    assert step.why_not(body, Context(one)) is None
    joined = step.apply(body, Context(one))
    assert text_of(joined) == (
        "for e in 0:n\n  for i in 0:m\n    S0: a[e * m + i] = u[e * m + i]\n  for i in 0:m\n"
        "    S1: b[e * m + i] = a[e * m + m - 1 - i]\n"
    )
    assert_law(joined, one)
    assert text_of(Fuse((0, 1), "e").apply(joined, Context(one))) == text_of(joined)


def test_nests_that_share_no_loop_of_the_name() -> None:
    one = nest_analysis(HANDED_ON.replace("i in 0:m\n    b", "i in 1:m\n    b"))
    body = one.region.nest.body
    refusal = refused(Fuse((0, 1), "i", span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT256", COMMAND)
    assert refusal.message == "fuse: statements 0 and 1 have no outer loops down to 'i' in common"
    assert refused(Fuse((0, 1), "k"), body, one).code == "AT251"


def test_a_nest_between_stays_after_the_merged_one() -> None:
    one = nest_analysis(
        "for i in 0:n: a[i] = 1.0\nfor j in 0:n: c[j] = 2.0\nfor i in 0:n: b[i] = a[i]\n"
    )
    fuse = Fuse((0, 2))
    assert fuse.why_not(one.region.nest.body, Context(one)) is None
    assert text_of(fuse.apply(one.region.nest.body, Context(one))) == (
        "for i in 0:n\n  S0: a[i] = 1.0\n  S2: b[i] = a[i]\nfor j in 0:n\n  S1: c[j] = 2.0\n"
    )


def test_a_nest_between_that_the_second_needs() -> None:
    one = nest_analysis(
        "for i in 0:n: a[i] = 1.0\nfor j in 0:n: c[j] = a[j]\nfor i in 0:n: b[i] = c[i]\n"
    )
    assert refused(Fuse((0, 2)), one.region.nest.body, one).code == "AT253"


SUMS = (
    "for i in 0:n: for k in 0:n: a[i] += b[k]\n"
    "for j in 0:n: for k in 0:n: a[j] -= c[k]\n"
    "for i in 0:n: for k in 0:n: a[i] += d[k]\n"
)


@pytest.mark.parametrize("late", [False, True])
def test_nests_that_add_to_the_same_may_swap(late: bool) -> None:
    one = nest_analysis(SUMS)
    fuse = Fuse((0, 2), loop="i", late=late)
    assert fuse.why_not(one.region.nest.body, Context(one)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[j] -= c[k]", "a[j] = c[k]"),
        ("a[j] -= c[k]", "a[j] *= c[k]"),
        ("a[j] -= c[k]", "a[j] = c[k] - a[j]"),
        ("a[j] -= c[k]", "a[j] += c[k] * a[j]"),
        ("a[j] -= c[k]", "c[j] += a[k]"),
        ("a[i] += d[k]", "a[i] = fmax(a[i], d[k])"),
        ("a[i] += d[k]", "a[i] += d[k] * a[k]"),
    ],
)
def test_others_keep_their_order(old: str, new: str) -> None:
    one = nest_analysis(SUMS.replace(old, new))
    step = Fuse((0, 2), loop="i", late="d[k]" not in new)
    assert refused(step, one.region.nest.body, one).code == "AT253"


BETWEEN = (
    "for i in 0:n: a[i] = 1.0\nfor j in 0:n: c[j] = 2.0\nfor i in 0:n: b[i] = a[i] + c[n - 1 - i]\n"
)


def test_a_nest_that_the_last_one_needs_stays_before_the_merged_one() -> None:
    one = nest_analysis(BETWEEN)
    body = one.region.nest.body
    assert refused(Fuse((0, 2)), body, one).code == "AT253"
    fuse = Fuse((0, 2), late=True)
    assert fuse.why_not(body, Context(one)) is None
    late = fuse.apply(body, Context(one))
    assert text_of(late) == (
        "for j in 0:n\n  S1: c[j] = 2.0\n"
        "for i in 0:n\n  S0: a[i] = 1.0\n  S2: b[i] = a[i] + c[n - 1 - i]\n"
    )
    assert_law(late, one)


@pytest.mark.parametrize("line", ["c[j] = a[j]", "a[j] = 2.0", "u[j] = 2.0"])
def test_a_nest_that_comes_later_is_not_left_behind(line: str) -> None:
    one = nest_analysis(BETWEEN.replace("c[j] = 2.0", line).replace("1.0", "u[i]", 1))
    refusal = refused(Fuse((0, 2), late=True, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)


def test_nests_are_joined_late_down_to_a_loop() -> None:
    text = HANDED_ON.split("for e")
    one = nest_analysis(f"for e{text[1]}for j in 0:m: c[j] = 2.0\nfor e{text[2]}")
    fuse = Fuse((0, 2), "e", late=True)
    assert fuse.why_not(one.region.nest.body, Context(one)) is None
    joined = fuse.apply(one.region.nest.body, Context(one))
    assert text_of(joined).startswith("for j in 0:m\n  S1: c[j] = 2.0\nfor e in 0:n\n")
    assert_law(joined, one)


@LAW
@given(first=nests(), second=nests(), data=st.data())
def test_legal_fusion_keeps_the_result(first: str, second: str, data: st.DataObject) -> None:
    header = first.splitlines()[0]
    text = first + "\n".join([header, *second.splitlines()[1:]]) + "\n"
    one = analysed(text)
    body = one.region.nest.body
    tops = [min(n for n in one.paths if one.paths[n][0] is loop) for loop in body]  # type: ignore[comparison-overlap]
    is_late = data.draw(st.booleans())
    assert_law(accepted(Fuse(tuple(tops), late=is_late), body, one), one)
    apart = Distribute(tuple((n,) for n in sorted(one.paths)))
    if apart.why_not(body, Context(one)) is None:
        alone = apart.apply(body, Context(one))
        chosen = data.draw(st.permutations(sorted(one.paths)))[:2]
        fuse = Fuse(tuple(sorted(chosen)), late=is_late)
        if fuse.why_not(alone, Context(one)) is None:
            assert_law(fuse.apply(alone, Context(one)), one)
