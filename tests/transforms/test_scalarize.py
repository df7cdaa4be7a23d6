"""Array contraction: its refusals, a golden, the law, and that nothing takes its scalar apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import assume, given
from hypothesis import strategies as st
from support.interpreter import ORDERS, run
from support.nest_text import parse_nest
from support.nests import LAW, OTHERS, SIZES, accepted, refused
from support.regions import nest_region, text_of

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.diagnostics import AnnotuneError, Span
from annotune.ir.nest import Level
from annotune.transforms.distribute import Distribute, Fuse, Scalarize
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body
from annotune.transforms.unroll import Unroll

COMMAND = Span("t.c", 77, 3, 9)
STEP = Scalarize(0, "t", span=COMMAND)
ROWS = "for i in 0:n\n  for j in 0:m\n"
HANDED_ON = (
    f"{ROWS}    t[i*m + j] = 2.0*a[i*m + j]\n{ROWS}    t[i*m + j] -= b[j]\n"
    f"{ROWS}    c[i*m + j] += t[i*m + j]*t[i*m + j]\n"
)
TOGETHER = Fuse((0, 1, 2), late=True)


def scratch(text: str, types: dict[str, str] | None = None) -> Analysis:
    """Return the analysis of a nest whose function has `t` and `u` for itself alone."""
    region = nest_region(text, SIZES, types=types)
    own = {n: replace(region.arrays[n], is_scratch=True) for n in {"t", "u"} & {*region.arrays}}
    return analyse(replace(region, arrays={**region.arrays, **own}))


def applied(one: Analysis, *steps: Transform) -> Body:
    """Return the region after some steps, none of which may be refused."""
    body, context = one.region.nest.body, Context(one)
    for step in steps:
        refusal = step.why_not(body, context)
        assert refusal is None, refusal.message
        body = step.apply(body, context)
    return body


def assert_same_but(gone: Iterable[str], body: Body, one: Analysis) -> None:
    """Assert that `body` leaves what the region leaves, but for arrays that it no longer has."""
    for sizes in (SIZES, *(OTHERS if one.all_sizes else ())):
        expected = run(one.region.nest.body, one.region, sizes).values
        left = {name: values for name, values in expected.items() if name not in gone}
        for order in ORDERS:
            assert run(body, one.region, sizes, order).values == left, (order, sizes, text_of(body))


def test_what_nests_hand_on_becomes_a_scalar(golden: Golden) -> None:
    one = scratch(HANDED_ON)
    body = applied(one, TOGETHER, STEP)
    golden.check("transforms/scalarize.nest", text_of(body))
    assert_same_but("t", body, one)


def test_a_chain_of_two() -> None:
    text = HANDED_ON.replace("b[j]", "u[i*m + j]")
    one = scratch(f"{ROWS}    u[i*m + j] = b[j]\n{text}")
    body = applied(one, Fuse((0, 1, 2, 3), late=True), Scalarize(0, "u"), Scalarize(1, "t"))
    assert "t_own -= u_own" in text_of(body)
    assert_same_but("tu", body, one)


@pytest.mark.parametrize("element", ["float", "int", "double"])
def test_the_scalar_rounds_as_the_array_does(element: str) -> None:
    one = scratch(HANDED_ON, {"t": element})
    assert f"local {element} t_own\n" in text_of(applied(one, TOGETHER, STEP))


def test_a_name_that_is_taken() -> None:
    one = scratch(HANDED_ON.replace("a[i*m", "t_own[i*m"))
    assert "t_own2 = 2.0 * t_own[i * m + j]" in text_of(applied(one, TOGETHER, STEP))


def test_a_condition_on_what_does_not_set_it() -> None:
    one = scratch(HANDED_ON.replace("-= b[j]", "-= b[j] if b[j] > 3.0"))
    body = applied(one, TOGETHER, STEP)
    assert "t_own -= b[j] if b[j] > 3.0" in text_of(body)
    assert_same_but("t", body, one)


APART = "its elements are read after the region, or before they are written"
OUTSIDE = "it is used outside the loop 'j' as well"
SEVERAL = "its statements use several elements in one iteration"
NOT_SET = "statement 0 does not set the element before all others use it"
PICKED = "what its element is picked by changes within an iteration"


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ("a[i*m + j] = 1.0", "no loop around the statement uses it"),
        ("t[i*m + j] += 1.0; a[i*m + j] = t[i*m + j]", APART),
        ("t[i*m + j] = 1.0 if b[j] > 3.0; a[i*m + j] = t[i*m + j]", APART),
        ("t[i*m + j] = 1.0; t[i*m + j + 1] = 1.0; a[i*m + j] = t[i*m + j]", SEVERAL),
        ("t[i*m + j] = 1.0; a[i*m + j] = t[i*m]", SEVERAL),
        ("t[i*m + j] = 1.0; a[i*m + j] = b[j]\n  c[i] = t[i*m]", OUTSIDE),
        (f"t[i*m + j] = 1.0; a[i*m + j] = t[i*m + j]\n{ROWS}    c[j] += t[i*m + j]", OUTSIDE),
        ("t[i*m + j] = 1.0 if b[j] > 3.0; t[i*m + j] = 2.0; a[i*m + j] = t[i*m + j]", NOT_SET),
    ],
)
def test_refusals(statements: str, why: str) -> None:
    one = scratch(ROWS + "\n".join(f"    {line}" for line in statements.split("; ")) + "\n")
    refusal = refused(STEP, one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT248", COMMAND)
    assert refusal.message == f"scalarize: 't' stays in memory: {why}"


def test_refuses_an_array_that_others_see() -> None:
    one = analyse(nest_region(HANDED_ON, SIZES))
    body = applied(one, TOGETHER)
    refusal = refused(STEP, body, one)
    assert (refusal.code, refusal.message) == (
        "AT248",
        f"scalarize: 't' stays in memory: {APART}",
    )


def test_refuses_an_index_that_changes() -> None:
    one = scratch("for i in 0:n\n  t[i] = a[i]\n  k = 2*i\n  c[i] = t[i]\n", {"k": "int"})
    # Where the user promises that iterations are independent, memory may decide which element.
    body = parse_nest(text_of(one.region.nest.body).replace("t[i]", "t[k]")).body
    assert PICKED in refused(STEP, body, one).message
    assert STEP.why_not(one.region.nest.body, Context(one)) is None


def test_refuses_an_unknown_statement_and_what_is_gone() -> None:
    one = scratch(HANDED_ON)
    body = applied(one, TOGETHER, STEP)
    assert refused(Scalarize(7, "t"), body, one).code == "AT250"
    assert refused(STEP, body, one).code == "AT248"


def test_statements_with_a_scalar_stay_together() -> None:
    one = scratch(HANDED_ON)
    body = applied(one, TOGETHER, STEP)
    apart = Distribute(((0, 1), (2,)), span=COMMAND)
    assert apart.why_not(applied(one, TOGETHER), Context(one)) is None
    refusal = refused(apart, body, one)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)
    assert "t_own belongs to one iteration of j, whose statements are taken" in refusal.message
    assert refused(Distribute(((0,), (1, 2)), loop="j"), body, one).code == "AT253"


def test_what_shares_no_scalar_may_be_taken_apart() -> None:
    one = scratch(f"{HANDED_ON}{ROWS}    d[i*m + j] = a[i*m + j]\n")
    body = applied(one, Fuse((0, 1, 2, 3)), STEP, Distribute(((0, 1, 2), (3,))))
    assert text_of(body).count("local double t_own") == 1
    assert_same_but("t", body, one)


def test_loops_are_cut_turned_unrolled_and_placed_around_it() -> None:
    one = scratch(HANDED_ON)
    steps = (TOGETHER, STEP, Tile(0, "j", 2), Permute(0, ("j_t", "i", "j")))
    body = applied(one, *steps)
    assert_same_but("t", body, one)
    unrolled = applied(one, *steps, Unroll(0, "j", 2))
    assert "t_own2 -= b[j + 1]" in text_of(unrolled)
    assert_same_but("t", unrolled, one)
    assert_same_but("t", applied(one, *steps, Map(0, (("i", Level.THREAD_X),))), one)


# The law ------------------------------------------------------------------------------------

_PLACES = (*("t[i*m + j]",) * 9, "t[i*m + m - 1 - j]")


@st.composite
def _statements(draw: st.DrawFn) -> str:
    place = draw(st.sampled_from(_PLACES))
    return draw(
        st.sampled_from(
            [
                f"{place} = a[i*m + j]",
                f"{place} += 2.0*b[j]",
                f"{place} *= b[j] if b[j] > 3.0",
                f"c[i*m + j] += {place}",
                f"d[i*m + j] = {place} + c[i*m + j]",
            ]
        )
    )


@LAW
@given(lines=st.lists(_statements(), min_size=1, max_size=3), is_late=st.booleans())
def test_a_scalar_keeps_the_result(lines: list[str], is_late: bool) -> None:
    every = ["t[i*m + j] = a[j]", *lines]
    try:
        one = scratch("".join(f"{ROWS}    {line}\n" for line in every))
    except AnnotuneError:
        assume(False)
        raise
    body = accepted(Fuse((*range(len(every)),), late=is_late), one.region.nest.body, one)
    assert_same_but("t", accepted(STEP, body, one), one)
