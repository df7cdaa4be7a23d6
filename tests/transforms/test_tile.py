"""Tile: its refusals, goldens, and the law."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.nests import LAW, SIZES, accepted, analysed, assert_law, nests, refused
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.ir.expr import Var
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)
NEST = "for i in 0:n: for k in 1:n+1 step 2: c[i] += a[k]"


def test_an_unknown_loop() -> None:
    one = nest_analysis(NEST)
    refusal = refused(Tile(0, "j", 4, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT251", COMMAND)


def test_a_size_that_is_not_positive() -> None:
    one = nest_analysis(NEST)
    refusal = refused(Tile(0, "k", 0, span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT261", COMMAND)
    assert refusal.message == "tile: factor 0 of loop 'k' is not positive"
    assert refusal.help == "use one of 2, 4, 8, …"


def test_a_loop_that_is_tiled_already() -> None:
    one = nest_analysis(NEST)
    body = Tile(0, "k", 4).apply(one.region.nest.body, Context(one))
    refusal = refused(Tile(0, "k", 2, span=COMMAND), body, one)
    assert (refusal.code, refusal.span) == ("AT265", COMMAND)
    assert refusal.message == "tile: loop 'k' is already tiled"


def test_a_name_that_the_region_uses() -> None:
    as_size = nest_analysis("for i in 0:i_t: a[i] = 1.0")
    as_array = nest_analysis("for i in 0:n: i_t[i] = 1.0")
    rows = {"M": (None, Var("i_t"))}
    as_extent = nest_analysis("for i in 0:n: M[i][i] = 1.0", {"n": 4, "i_t": 4}, rows)
    for one in (as_size, as_array, as_extent):
        refusal = refused(Tile(0, "i", 4, span=COMMAND), one.region.nest.body, one)
        assert (refusal.code, refusal.span) == ("AT268", COMMAND)
        assert (
            refusal.message == "tile: the tiles of 'i' need the name 'i_t', which the region uses"
        )
        assert refusal.help == "rename 'i_t', or leave 'i' whole"


def test_the_last_tile_may_be_short() -> None:
    one = nest_analysis(NEST)
    assert text_of(Tile(0, "k", 4).apply(one.region.nest.body, Context(one))) == (
        "for i in 0:n\n  for k_t in 1:n + 1 step 8 tile_of k\n"
        "    for k in k_t:min(k_t + 8, n + 1) step 2\n      S0: c[i] += a[k]\n"
    )


def test_full_tiles_need_no_minimum() -> None:
    one = nest_analysis(NEST)
    assert text_of(Tile(0, "i", 4).apply(one.region.nest.body, Context(one, {"n": 8}))) == (
        "for i_t in 0:n step 4 tile_of i\n  for i in i_t:i_t + 4\n"
        "    for k in 1:n + 1 step 2\n      S0: c[i] += a[k]\n"
    )


@LAW
@given(
    text=nests(),
    loop=st.sampled_from("ijk"),
    then=st.sampled_from("ijk"),
    size=st.integers(1, 6),
    fixed=st.booleans(),
)
def test_tiles_keep_the_result(text: str, loop: str, then: str, size: int, fixed: bool) -> None:
    one = analysed(text)
    body = one.region.nest.body
    for statement in {0, max(one.paths)}:
        tiled = accepted(Tile(statement, loop, size), body, one)
        again = Tile(statement, then, 2)
        if again.why_not(tiled, Context(one, SIZES if fixed else {})) is None:
            tiled = again.apply(tiled, Context(one, SIZES if fixed else {}))
        if fixed:
            from support.interpreter import assert_same

            assert_same(tiled, one.region, SIZES, one.private, lambda: text_of(tiled))  # noqa: B023
        else:
            assert_law(tiled, one)
