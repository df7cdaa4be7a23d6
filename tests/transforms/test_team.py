"""Team: its refusals, a golden, and the law."""

from __future__ import annotations

from itertools import product

from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.nests import (
    LAW,
    accepted,
    analysed,
    assert_law,
    assume_around,
    combined,
    nests,
    refused,
)
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.ir.nest import Level
from annotune.transforms.map import Map, Team
from annotune.transforms.reduce import Reduce
from annotune.transforms.transform import Context
from annotune.transforms.tree import numbers

COMMAND = Span("t.c", 77, 3, 9)
X, Y = Level.THREAD_X, Level.BLOCK_X
ROWS = "for i in 0:n\n  c[i] = 0.0\n  for k in 0:m\n    c[i] += a[i*m + k]*b[k]\n  d[i] = c[i]\n"


def test_a_row_for_each_block(golden: Golden) -> None:
    one = nest_analysis(ROWS)
    body = Map(0, (("i", Y),)).apply(one.region.nest.body, Context(one))
    team = Team(1, "k", X)
    assert team.why_not(body, Context(one)) is None
    body = team.apply(body, Context(one))
    reduce = Reduce(1, ("k",))
    assert reduce.why_not(body, Context(one)) is None
    body = reduce.apply(body, Context(one))
    golden.check("transforms/team_rows.nest", text_of(body))
    assert_law(body, one)


def test_a_recurrence() -> None:
    one = nest_analysis(ROWS.replace("c[i] += a[i*m + k]*b[k]", "c[i] = a[i*m + k] - c[i]"))
    body = Map(0, (("i", Y),)).apply(one.region.nest.body, Context(one))
    refusal = refused(Team(1, "k", X, span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT258", COMMAND)
    assert refusal.message == (
        "cuda: loop 'k' cannot run in parallel: c is carried by k (distance 1 and more)"
    )
    assert refusal.help == "keep 'k' serial in the thread"


def test_statements_beside_the_loop_keep_their_order() -> None:
    # The threads meet before and after the loop: c[i] is complete when d[i] takes it.
    text = "for i in 0:n\n  for k in 0:m\n    e[i*m + k] = b[k]\n  d[i] = e[i*m]\n"
    one = nest_analysis(text)
    body = Map(0, (("i", Y),)).apply(one.region.nest.body, Context(one))
    assert Team(0, "k", X).why_not(body, Context(one)) is None
    # Blocks do not meet.
    assert refused(Map(0, (("k", Level.BLOCK_Y),)), body, one).code == "AT258"


def test_what_passes_between_the_threads_of_one_loop() -> None:
    text = "for i in 0:n\n  for k in 1:m\n    e[i*m + k] = e[i*m + k - 1]\n  d[i] = 1.0\n"
    one = nest_analysis(text)
    body = Map(0, (("i", Y),)).apply(one.region.nest.body, Context(one))
    assert refused(Team(0, "k", X), body, one).code == "AT258"


def test_refuses_what_no_block_can_do() -> None:
    one = nest_analysis(
        "for i in 0:n: for j in 0:n\n  c[i*n + j] = 0.0".replace(": for j", "\n  for j").replace(
            "\n  c", "\n    c"
        )
    )
    body = one.region.nest.body
    assert refused(Team(0, "k", X, span=COMMAND), body, one).code == "AT251"
    assert (
        refused(Team(0, "i", X), Map(0, (("i", Y),)).apply(body, Context(one)), one).code == "AT264"
    )
    refusal = refused(
        Team(0, "j", X, span=COMMAND), Map(0, (("i", X),)).apply(body, Context(one)), one
    )
    assert (refusal.code, refusal.span) == ("AT278", COMMAND)
    assert refusal.message == "cuda: threads run 'i' already, and cannot share 'j' inside it"


def test_a_local_array_belongs_to_one_thread() -> None:
    text = (
        "for i in 0:n\n  local double t[2]\n  t[0] = b[i]\n  for k in 0:m\n    e[i*m + k] = t[0]\n"
    )
    one = nest_analysis(text, extents={})
    body = Map(0, (("i", Y),)).apply(one.region.nest.body, Context(one))
    refusal = refused(Team(1, "k", X, span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT279", COMMAND)


def test_goes_outside_the_serial_loops_around_it() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:n: for j in 0:n: c[i*n + j] += a[k*n + j]")
    body = Map(0, (("i", Y),)).apply(one.region.nest.body, Context(one))
    team = Team(0, "j", X)
    assert team.why_not(body, Context(one)) is None
    assert text_of(team.apply(body, Context(one))) == (
        "for i in 0:n @block.x\n  for j in 0:n @thread.x\n    for k in 0:n\n"
        "      S0: c[i * n + j] += a[k * n + j]\n"
    )
    # But never outside one that the host runs, or one that sets its bounds.
    host = Team(0, "j", X, host=("k",)).apply(body, Context(one))
    assert text_of(host).index("for k") < text_of(host).index("for j")
    bounds = nest_analysis(
        "for i in 0:n: for k in 0:n: for j in 0:k+1: c[i*n + j] += a[k*n + j]", {"n": 4}
    )
    body = Map(0, (("i", Y),)).apply(bounds.region.nest.body, Context(bounds))
    text = text_of(Team(0, "j", X).apply(body, Context(bounds)))
    assert text.index("for k") < text.index("for j")


@LAW
@given(text=nests(sums=True), loop=st.sampled_from("jk"), at=st.integers(0, 3))
def test_a_legal_team_keeps_the_result(text: str, loop: str, at: int) -> None:
    assume_around(text, at, "i", loop)
    one = analysed(text)
    body = accepted(Map(at, (("i", Y),)), one.region.nest.body, one)
    body = accepted(Team(at, loop, X), body, one)
    assert_law(combined(body, one), one)


GANG, LANES = Level.GANG, Level.VECTOR


def test_lanes_share_nested_loops_as_one() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:n: for k in 0:m: c[i*n*m + j*m + k] = a[k]")
    body = Map(0, (("i", GANG),), (), "acc").apply(one.region.nest.body, Context(one))
    for loop in "jk":
        team = Team(0, loop, LANES)
        assert team.why_not(body, Context(one)) is None
        body = team.apply(body, Context(one))
    assert text_of(body) == (
        "for i in 0:n @gang\n  for j in 0:n @vector\n    for k in 0:m @vector\n"
        "      S0: c[i * n * m + j * m + k] = a[k]\n"
    )


def test_what_lanes_may_not_share_as_one() -> None:
    # One sets the other's bounds; there is more in the outer one; the inner one is a sum.
    nests = (
        "for i in 0:n: for j in 0:m: for k in 0:j+1: c[i*m*m + j*m + k] = a[k]",
        "for i in 0:n: for j in 0:m\n  d[i*m + j] = 1.0\n  for k in 0:m\n"
        "    c[i*m*m + j*m + k] = a[k]",
        "for i in 0:n: for j in 0:m: for k in 0:m: c[i*m + j] += a[k]",
    )
    for text in nests:
        one = nest_analysis(text, {"n": 4, "m": 4})
        body = Map(0, (("i", GANG),), (), "acc").apply(one.region.nest.body, Context(one))
        body = Team(0, "j", LANES).apply(body, Context(one))
        last = max(n for stmt in body for n in numbers(stmt))
        assert refused(Team(last, "k", LANES), body, one).code == "AT278"


STATEMENTS = (
    *("c[i*m*m + j*m + k] = a[k]", "c[i*m*m + k*m + j] += a[j]", "c[j*m + k] = a[k]"),
    *("e[i*m*m + j*m + k] = c[i*m*m + k*m + j]", "e[i*m*m + j*m] += c[i*m*m + j*m + k]"),
    "c[i*m*m + j*m + k] = e[i*m*m + (m - 1 - j)*m + k]",
)


@LAW
@given(written=st.lists(st.sampled_from(STATEMENTS), min_size=2, max_size=2), data=st.data())
def test_legal_lanes_of_two_loops_keep_the_result(written: list[str], data: st.DataObject) -> None:
    heads = {"jk": "for j in 0:m: for k in 0:m: ", "kj": "for k in 0:m: for j in 0:m: "}
    rows = [f"  {heads[data.draw(st.sampled_from(sorted(heads)))]}{s}\n" for s in written]
    one = nest_analysis("for i in 0:n\n" + "".join(rows), {"n": 3, "m": 4})
    body = accepted(Map(0, (("i", GANG),), (), "acc"), one.region.nest.body, one)
    for statement, loop in product((0, 1), data.draw(st.permutations("jk"))):
        body = accepted(Team(statement, loop, LANES), body, one)
    assert_law(combined(body, one), one)
