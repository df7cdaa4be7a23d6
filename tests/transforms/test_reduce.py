"""Reduce: its refusals, goldens, and the law."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.nests import LAW, accepted, analysed, assert_law, combined, nests, refused
from support.regions import nest_analysis, text_of

from annotune.analysis.facts import Analysis
from annotune.diagnostics import Span
from annotune.ir.nest import Combine, Level, Loop, Operator
from annotune.transforms.legality import carried_sums
from annotune.transforms.map import Map
from annotune.transforms.reduce import Reduce
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body

COMMAND = Span("t.c", 77, 3, 9)
X, Y = Level.THREAD_X, Level.BLOCK_X


def made(analysis: Analysis, *steps: Transform) -> Body:
    """Return the region's body after steps that must be legal."""
    body = analysis.region.nest.body
    for step in steps:
        assert step.why_not(body, Context(analysis)) is None
        body = step.apply(body, Context(analysis))
    return body


def test_a_sum_in_the_whole_grid(golden: Golden) -> None:
    one = nest_analysis("for i in 0:n: for j in 0:m: s -= a[i*m + j]*b[j]")
    mapping = Map(0, (("i", Y), ("j", X)))
    body = made(one, mapping, Reduce(0, ("i", "j")))
    golden.check("transforms/reduce_grid.nest", text_of(body))
    assert_law(body, one)


def test_two_sums_and_a_product_in_one_nest(golden: Golden) -> None:
    text = (
        "for i in 0:n\n  c[i] = 0.0\n  for k in 0:m\n    c[i] += a[k]*b[i]\n"
        "    d[i] = d[i]*b[k]\n    s = s + b[k]\n  c[i] = c[i]*2.0\n"
    )
    one = nest_analysis(text, {"n": 4, "m": 3})
    body = made(one, *(Reduce(number, ("k",)) for number in (1, 2, 3)))
    golden.check("transforms/reduce_three.nest", text_of(body))
    assert_law(body, one)


def test_several_statements_have_one_partial_result(golden: Golden) -> None:
    text = (
        "for i in 0:n\n  c[i] -= b[i]\n  for k in 0:m\n    s += a[k]*b[i]\n    d[k] = d[k]*b[i]\n"
        "    s -= a[k] if b[k] > 0.0\n  s = s + b[i] + c[i]\n"
    )
    one = nest_analysis(text, {"n": 4, "m": 3})
    body = made(one, Reduce(1, ("i",)))
    golden.check("transforms/reduce_several.nest", text_of(body))
    assert_law(body, one)
    inner = made(one, Reduce(3, ("k",)))
    assert "S1: s_sum += a[k] * b[i]" in text_of(inner)
    assert "S4: s = s + b[i] + c[i]" in text_of(inner)
    assert_law(inner, one)


def test_several_extrema_keep_the_form_of_each() -> None:
    one = nest_analysis("for k in 0:n\n  s = fmax(s, a[k])\n  s = b[k] < s ? s : b[k]\n")
    assert text_of(made(one, Reduce(0, ("k",)))) == (
        "local double s_max = s\nlocal double s_nan = 0.0\n"
        "for k in 0:n combines max s_max combines max s_nan\n"
        "  S0: s_max = fmax(s_max, a[k])\n  S1: s_max = b[k] < s_max ? s_max : b[k]\n"
        "  S1: s_nan = b[k] != b[k] ? 1.0 : s_nan\n"
        "local int s_again = s_nan != 0.0 || s != s || s_max == 0.0\n"
        "for k in 0:(s_again ? n : 0)\n"
        "  copy: s = fmax(s, a[k])\n  copy: s = b[k] < s ? s : b[k]\n"
        "S0: s = s_max if s_again == 0\n"
    )


def test_workers_that_share_a_loop_would_each_add_what_stands_beside_it() -> None:
    text = "for i in 0:n\n  s += b[i]\n  for k in 0:m: s += a[k]*b[i]\n"
    one = nest_analysis(text, {"n": 4, "m": 3})
    (outer,) = one.region.nest.body
    assert isinstance(outer, Loop)
    plain, inner = outer.body
    assert isinstance(inner, Loop)
    # Only a thread each runs b's term; as many run a's terms.
    body = (replace(outer, body=(plain, replace(inner, place=X))),)
    refusal = refused(Reduce(0, ("i",), span=COMMAND), body, one)
    assert (refusal.code, "also uses it in statement 1" in refusal.message) == ("AT274", True)


def test_extrema_start_from_the_target() -> None:
    one = nest_analysis("for k in 0:n\n  s = fmax(s, a[k])\n  t = a[k] < t ? a[k] : t\n")
    assert text_of(made(one, Reduce(0, ("k",)), Reduce(1, ("k",)))) == (
        "local double s_max = s\nlocal double t_min = t\n"
        "for k in 0:n combines max s_max combines min t_min\n"
        "  S0: s_max = fmax(s_max, a[k])\n  S1: t_min = a[k] < t_min ? a[k] : t_min\n"
        "local int t_again = t_min == 0.0 && t_min < t\n"
        "for k in 0:(t_again ? n : 0)\n  copy: t = a[k] < t ? a[k] : t\n"
        "S1: t = t_min < t ? t_min : t if t_again == 0\n"
        "local int s_again = s != s\n"
        "for k in 0:(s_again ? n : 0)\n  copy: s = fmax(s, a[k])\n"
        "S0: s = s_max if s_again == 0\n"
    )


def test_a_flag_tells_whether_the_element_was_reached() -> None:
    one = nest_analysis("for k in 0:n: c[0] += a[k] if b[k] > 0.0", types={"c": "double"})
    body = made(one, Reduce(0, ("k",)))
    assert text_of(body) == (
        "local double c_sum = -0.0\nlocal int c_any = 0\n"
        "for k in 0:n combines + c_sum combines max c_any\n"
        "  S0: c_sum += a[k] if b[k] > 0.0\n  S0: c_any = 1 if b[k] > 0.0\n"
        "S0: c[0] += c_sum if c_any\n"
    )
    assert_law(body, one)
    # A scalar is always there, and so is an element that the same iteration writes anyway.
    scalar = nest_analysis("for k in 0:n: s += a[k] if b[k] > 0.0")
    assert "any" not in text_of(made(scalar, Reduce(0, ("k",))))
    written = "for i in 0:n\n  c[i] = 0.0\n  for k in 0:n\n    c[i] += a[k] if b[k] > 0.0\n"
    assert "any" not in text_of(made(nest_analysis(written), Reduce(1, ("k",))))


def test_a_loop_that_may_not_run_leaves_the_element_alone() -> None:
    one = nest_analysis("for i in 0:n: for k in i+1:n: c[i] += a[k]", {"n": 4})
    body = made(one, Reduce(0, ("k",)))
    assert "S0: c[i] += c_sum if c_any" in text_of(body)
    assert_law(body, one)


def test_names_and_types_are_the_users() -> None:
    text = "for k in 0:n: c[n] += a[k]*c_sum"
    one = nest_analysis(text, types={"c": "float"})
    assert "local float c_sum2 = -0.0f" in text_of(made(one, Reduce(0, ("k",))))
    counted = nest_analysis("for k in 0:n: c[0] *= k", types={"c": "int"})
    assert "local int c_product = 1" in text_of(made(counted, Reduce(0, ("k",))))


REFUSED = {
    "the sum so far is multiplied": (
        "for i in 0:n\n  s += a[i]\n  s *= b[i]\n",
        ("i",),
        "AT274",
        "'i' also uses s",
    ),
    "no such loop": ("for i in 0:n: s += a[i]", ("k",), "AT251", "has no loop 'k'"),
    "no accumulation": ("for i in 0:n: s = a[i]", ("i",), "AT272", "no reduction over 'i'"),
    "its sum is subtracted from": ("for i in 0:n: s = a[i] - s", ("i",), "AT272", "no reduction"),
    "a condition that reads the sum": (
        "for i in 0:n: s += a[i] if s < 3.0",
        ("i",),
        "AT272",
        "no reduction over 'i'",
    ),
    "another element for each iteration": (
        "for i in 0:n: for k in 0:n: c[k] += a[i]",
        ("i",),
        "AT273",
        "the target of statement 0 changes with 'k', inside 'i'",
    ),
    "the sum so far is used": (
        "for i in 0:n\n  s += a[i]\n  b[i] = s\n",
        ("i",),
        "AT274",
        "'i' also uses s",
    ),
    "another element is the same one": (
        "for i in 0:n: for k in 0:n: c[0] += c[i]",
        ("k",),
        "AT274",
        "'k' also uses c[…]",
    ),
    "fractions are dropped": (
        "for i in 0:n: s += 0.5",
        ("i",),
        "AT275",
        "adds reals to a value of type 'int'",
    ),
    "an extremum of what may not be there": (
        "for i in 0:n: c[0] = fmax(c[0], a[i]) if b[i] > 0.0",
        ("i",),
        "AT270",
        "'i' may run no iteration",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str) -> None:
    text, loops, code, message = REFUSED[name]
    types = {"s": "int"} if "fractions" in name else None
    one = nest_analysis(text, {"n": 4}, types=types)
    refusal = refused(Reduce(0, loops, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == (code, COMMAND)
    assert message in refusal.message


def test_what_other_elements_do_is_no_matter() -> None:
    # Row i reads what earlier rows have, never its own sum.
    text = "for i in 0:n: for k in 0:i: c[i] -= a[k]*c[k]"
    one = nest_analysis(text, {"n": 4})
    assert_law(made(one, Reduce(0, ("k",))), one)


def test_what_a_loop_must_combine() -> None:
    text = "for i in 0:n: for k in 0:n\n  s += a[k]\n  c[i] = c[i]*b[k]\n  d[k] = a[k]\n"
    one = nest_analysis(
        text.replace(": for k", "\n  for k")
        .replace("\n  s", "\n    s")
        .replace("\n  c", "\n    c")
        .replace("\n  d", "\n    d")
    )
    both = (Combine(Operator.SUM, "s"), Combine(Operator.PRODUCT, "c"))
    assert carried_sums(one, (0, 1), "k") == both
    assert carried_sums(one, (0,), "i") == both[:1]
    assert carried_sums(one, (1,), "i") == ()
    # Each i writes all of d again.
    assert carried_sums(one, (2,), "i") is None


@LAW
@given(
    text=nests(sums=True), first=st.sampled_from("ijk"), more=st.booleans(), at=st.integers(0, 3)
)
def test_a_legal_reduction_keeps_the_result(text: str, first: str, more: bool, at: int) -> None:
    one = analysed(text)
    loops = (first, *(["k"] if more and first != "k" else []))
    body = accepted(Reduce(at, loops), one.region.nest.body, one)
    assert_law(body, one)
    other = Reduce(max(one.paths), loops)
    if other.why_not(body, Context(one)) is None:
        assert_law(other.apply(body, Context(one)), one)


@LAW
@given(text=nests(sums=True, perfect=True), placed=st.sampled_from([("i",), ("j",), ("i", "j")]))
def test_a_legal_reduction_on_threads_keeps_the_result(text: str, placed: tuple[str, ...]) -> None:
    one = analysed(text)
    levels = dict(zip(placed, (Y, X), strict=False))
    body = accepted(Map(0, tuple(levels.items())), one.region.nest.body, one)
    assert_law(combined(body, one), one)
