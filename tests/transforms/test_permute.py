"""Permute: its refusals, the thesis's order, and the law."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.nests import LAW, accepted, analysed, assert_law, nests, refused
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.transforms.permute import Permute
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)


def test_an_unknown_statement() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    refusal = refused(Permute(3, ("i",), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT250", COMMAND)
    assert refusal.message == "there is no statement 3 in this region"
    assert refusal.help == "statements are numbered from 0 in text order; the last one here is 0"


def test_an_unknown_loop() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:n: a[i*n + j] = 1.0")
    refusal = refused(Permute(0, ("j", "k"), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT251", COMMAND)
    assert refusal.message == "statement 0 has no loop 'k'"
    assert refusal.help == "its loops are, outermost first: i, j"


def test_loops_of_two_bands() -> None:
    one = nest_analysis("for i in 0:n\n  a[i] = 1.0\n  for j in 0:n\n    b[i*n + j] = 1.0\n")
    refusal = refused(Permute(1, ("j", "i"), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT252", COMMAND)
    assert refusal.message == "permute: loops j, i of statement 1 are not one perfect nest"


def test_an_order_that_a_dependence_forbids() -> None:
    one = nest_analysis("for i in 1:n: for j in 0:n-1: a[i*n + j] = a[(i - 1)*n + j + 1]")
    refusal = refused(Permute(0, ("j", "i"), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)
    assert refusal.message == (
        "permute: loop 'j' would break the order that 'a' needs: a is carried by j (distance 1)"
    )
    assert refusal.help == "the text's order is (i, j)"
    (note,) = refusal.notes
    assert (note.code, note.message) == ("AT267", "the dependence: a is carried by j (distance 1)")
    assert note.span == Span("t.c", 3, 1)


def test_triangular_bounds_keep_their_setter_outside() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:i+1: a[i*n + j] = 1.0")
    refusal = refused(Permute(0, ("j", "i"), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT254", COMMAND)
    assert refusal.message == ("permute: the bounds of 'j' use 'i', which must stay outside it")
    assert refusal.help == "keep 'i' before 'j'"


def test_a_loop_named_twice() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:n: a[i*n + j] = 1.0")
    refusal = refused(Permute(0, ("j", "j"), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT255", COMMAND)
    assert refusal.message == "permute: (j, j) does not name each loop once"
    assert refusal.help == "name all of i, j, in the new order"


def test_a_temporary_that_iterations_would_share() -> None:
    one = nest_analysis(
        "for i in 0:n\n  for j in 0:n\n    s = a[j]\n    b[i*n + j] = s\n", {"n": 4}
    )
    body = one.region.nest.body
    assert Permute(0, ("j", "i")).why_not(body, Context(one)) is None


def test_the_order_of_the_thesis() -> None:
    one = nest_analysis(
        "for p4 in 0:4: for p5 in 0:4: for p6 in 0:4: for h1 in 0:4: for h2 in 0:4: "
        "for h3 in 0:4: for h7 in 0:4: t3[h3 + 4*h2 + 16*h1 + 64*p6 + 256*p5 + 1024*p4] -= "
        "t2[h7 + 4*p4 + 16*p5 + 64*h1]*v2[h3 + 4*h2 + 16*p6 + 64*h7]"
    )
    permute = Permute(0, ("p5", "p4", "p6", "h1", "h2", "h3", "h7"))
    body = one.region.nest.body
    assert permute.why_not(body, Context(one)) is None
    lines = [line.strip() for line in text_of(permute.apply(body, Context(one))).splitlines()]
    assert lines[:3] == ["for p5 in 0:4", "for p4 in 0:4", "for p6 in 0:4"]


def test_loops_left_out_keep_their_depth() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:n: for k in 0:n: a[i*n*n + j*n + k] = 1.0")
    after = Permute(0, ("k", "i")).apply(one.region.nest.body, Context(one))
    assert text_of(after) == (
        "for k in 0:n\n  for j in 0:n\n    for i in 0:n\n      S0: a[i * n * n + j * n + k] = 1.0\n"
    )


@LAW
@given(text=nests(), order=st.permutations("ijk"), drop=st.booleans())
def test_a_legal_order_keeps_the_result(text: str, order: list[str], drop: bool) -> None:
    one = analysed(text)
    names = [name for name in order if f"for {name} " in text]
    last = max(one.paths)
    for statement in {0, last}:
        known = {loop.var for loop in one.paths[statement]}
        wanted = tuple(name for name in names if name in known)[int(drop) :]
        if wanted:
            assert_law(accepted(Permute(statement, wanted), one.region.nest.body, one), one)
