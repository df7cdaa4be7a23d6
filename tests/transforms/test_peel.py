"""Peel and what is left of whole tiles: refusals, goldens, and the same results at every extent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from support.nests import known
from support.regions import nest_analysis
from transforms.interpreter import run, touched, whole_tiles_run
from transforms.products import MATMUL, analysed

from annotune.analysis.domains import Premises
from annotune.analysis.facts import Analysis
from annotune.ir.expr import Expr
from annotune.ir.nest import Assign, Combine, Level, Loop, MemorySpace, Nest, Operator
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.tile_ends import Pad, Peel, whole_tiles
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body, path, replace_loop
from annotune.transforms.unroll import Unroll

SHARED = MemorySpace.SHARED


def tiled(i: int = 2, j: int = 4, c: int = 3) -> Body:
    """Return the product with tiles of i and j on blocks and threads, and tiles of the sum."""
    body = MATMUL.region.nest.body
    for loop, size in (("i", i), ("j", j), ("l", c)):
        body = Tile(0, loop, size).apply(body, Context(MATMUL))
    body = Permute(0, ("i_t", "j_t", "i", "l_t", "l", "j")).apply(body, Context(MATMUL))
    return Map(0, (("i_t", Level.BLOCK_X), ("j_t", Level.BLOCK_Y), ("i", Level.THREAD_X))).apply(
        body, Context(MATMUL)
    )


def done(steps: Sequence[Transform], body: Body, one: Analysis | Context = MATMUL) -> Body:
    for step in steps:
        assert step.why_not(body, known(one)) is None
        body = step.apply(body, known(one))
    return body


def said(peel: Peel, body: Body, analysis: Analysis = MATMUL) -> str:
    refusal = peel.why_not(body, Context(analysis))
    return "" if refusal is None else f"{refusal.code}: {refusal.message}"


def staged(i: int, j: int, c: int) -> tuple[Transform, ...]:
    """Return the steps of a product with both inputs in shared memory and outputs in registers."""
    return (
        Stage(0, "A", "l", (("i", c), ("l", 1)), space=SHARED),
        Stage(0, "B", "l", (("l", j), ("j", 1)), space=SHARED),
        Hold(0, "l_t"),
    )


def test_whole_tiles_of_blocks_are_apart(golden: Golden) -> None:
    body = done((*staged(2, 4, 3), Peel(0, ("i", "j")), Pad(0, ("i", "j"))), tiled())
    text = print_nest(Nest(body))
    golden.check("transforms/peel_blocks.nest", text)
    assert parse_nest(text) == Nest(body)
    (marked,) = (loop for loop in path(body, 0) if loop.peeled)
    known = Premises().inside(path(body, 0)[0]).inside(marked).where(marked.peeled)
    golden.check("transforms/peel_whole.nest", print_nest(Nest(whole_tiles(marked.body, known))))


def test_tiles_without_padding_lose_their_ends() -> None:
    body = Permute(0, ("i_t", "j", "l", "i")).apply(
        Tile(0, "i", 4).apply(MATMUL.region.nest.body, Context(MATMUL)), Context(MATMUL)
    )
    (outer,) = done((Peel(0, ("i",)),), body)
    assert isinstance(outer, Loop)
    text = print_nest(Nest((outer,)))
    assert text.startswith("for i_t in 0:n step 4 tile_of i peeled n - i_t >= 4\n")
    assert "for i in i_t:min(i_t + 4, n)" in text
    whole = whole_tiles(outer.body, Premises().inside(outer).where(outer.peeled))
    assert "for i in i_t:i_t + 4\n" in print_nest(Nest(whole))


def test_nothing_is_tested_where_nothing_is_cut() -> None:
    sizes = {"n": 6, "m": 8, "k": 5}
    body = MATMUL.region.nest.body
    for loop, size in (("i", 2), ("j", 4)):
        body = Tile(0, loop, size).apply(body, Context(MATMUL, sizes))
    assert Peel(0, ("i", "j")).apply(body, Context(MATMUL, sizes)) == body
    cut = Tile(0, "l", 3).apply(body, Context(MATMUL, sizes))
    text = print_nest(Nest(done((Peel(0, ("i", "j", "l")),), cut, Context(MATMUL, sizes))))
    assert text.count("peeled") == 1
    assert "peeled l_t + 3 <= 5" in text


def test_one_test_serves_the_tiles_of_tiles_and_of_workers() -> None:
    tiles = (Tile(0, "i", 8), Tile(0, "i_t", 4), Peel(0, ("i",)))
    text = print_nest(Nest(done(tiles, MATMUL.region.nest.body)))
    # 32 is a multiple of 8: no tile of 8 is cut by the end of a tile of 32.
    assert text.count("peeled") == 1
    assert "for i_t in i_t_t:min(i_t_t + 32, n) step 8 tile_of i peeled n - i_t >= 8\n" in text
    dealt = (Tile(0, "i", 8), Cyclic(0, "i", 4), Peel(0, ("i",)))
    text = print_nest(Nest(done(dealt, MATMUL.region.nest.body)))
    assert "tile_of i peeled n - i_t >= 8\n" in text


def test_a_second_peel_asks_for_more() -> None:
    body = done((Peel(0, ("i",)), Peel(0, ("l",)), Peel(0, ("i", "j"))), tiled())
    marks = {loop.var: len(loop.peeled) for loop in path(body, 0) if loop.peeled}
    assert marks == {"i_t": 1, "l_t": 1, "j_t": 2}


def test_an_unrolled_loop_is_peeled_no_longer() -> None:
    body = parse_nest("for i in 0:8 peeled i <= 4: C[i][0] = 0.0").body
    one = analysed("C[i][0] = 0.0;", "for (i = 0; i < 8; i++)")
    assert Unroll(0, "i", 2).why_not(body, Context(one)) is None
    assert "peeled" not in print_nest(Nest(Unroll(0, "i", 2).apply(body, Context(one))))


# Refusals ---------------------------------------------------------------------------------------


def test_refuses_what_is_not_there_and_what_is_no_tile() -> None:
    assert said(Peel(7, ("i",)), tiled()).startswith("AT250")
    assert said(Peel(0, ("q",)), tiled()).startswith("AT251")
    expected = "AT240: peel: loop '{}' is no loop over one tile"
    assert said(Peel(0, ("i_t",)), tiled()) == expected.format("i_t")
    assert said(Peel(0, ("j",)), MATMUL.region.nest.body) == expected.format("j")


def test_refuses_a_test_that_threads_answer_differently_around_barriers() -> None:
    tiles = (Tile(0, "i", 8), Tile(0, "l", 3))
    context = Context(MATMUL, {"n": 16, "m": 8, "k": 5})
    body = done(tiles, MATMUL.region.nest.body)
    body = Permute(0, ("i_t", "l_t", "l", "i", "j")).apply(body, context)
    body = Map(0, (("i_t", Level.THREAD_X),)).apply(body, context)
    assert said(Peel(0, ("i",)), body) == ""
    body = done((Stage(0, "B", "l", (("l", 8), ("j", 1)), space=SHARED),), body, context)
    assert said(Peel(0, ("i",)), body).startswith(
        "AT241: peel: the tiles of 'i_t' are a thread's own"
    )
    # The steps of the sum are the same for all of them.
    assert said(Peel(0, ("l",)), body) == ""


def test_refuses_workers_that_combine() -> None:
    body = tiled()
    loop = path(body, 0)[3]
    summed = replace(loop, place=Level.THREAD_Y, combines=(Combine(Operator.SUM, "C"),))
    body = replace_loop(body, loop, (summed,))
    assert said(Peel(0, ("i",)), body).startswith(
        "AT240: peel: loop 'l_t' is shared by workers that combine a sum"
    )


def test_refuses_ends_that_nobody_can_prove() -> None:
    nest = "for j in 0:n - 1: v[j] = 0.0"
    signed, unsigned = (
        nest_analysis(nest, {"n": 9}, types={"n": type_}) for type_ in ("int", "unsigned int")
    )
    body = Tile(0, "j", 4).apply(signed.region.nest.body, Context(signed))
    assert said(Peel(0, ("j",)), body, signed) == ""
    # Where n is 0 and has no sign, n - 1 is a number larger than all others.
    assert said(Peel(0, ("j",)), body, unsigned).startswith(
        "AT240: peel: loop 'j' may be cut short"
    )


# What is implied --------------------------------------------------------------------------------


def condition(text: str) -> Expr:
    (assign,) = parse_nest(f"x = 0.0 if {text}").body
    assert isinstance(assign, Assign)
    assert assign.guard is not None
    return assign.guard


def loop(text: str) -> Loop:
    (found,) = parse_nest(f"for {text}: x = 0.0").body
    assert isinstance(found, Loop)
    return found


INSIDE = (
    Premises({"five": 5})
    .inside(loop("i_t in 1:n step 8 tile_of i"))
    .where([condition("n - i_t >= 8")])
)
IMPLIED = INSIDE.inside(loop("i in i_t:i_t + 8")).inside(
    loop("k in max(2, i):min(i + five, m / 2)")
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("i < n", ""),
        ("i < n + 1 && 1 <= i", ""),
        ("i + 1 < n", "i + 1 < n"),
        ("(i - 1) / 8 * 8 < n", "(i - 1) / 8 * 8 < n"),
        ("k < m / 2", ""),
        ("k < m / 3", "k < m / 3"),
        ("k < i + 5 && k >= 2", ""),
        ("n * i < n * i + 1", ""),
        ("i < n && A[i] > 0.0", "A[i] > 0.0"),
        ("A[i] == A[i]", "A[i] == A[i]"),
        # Nothing says that t is an integer, and NaN is no number.
        ("t == t", "t == t"),
        ("i < 3 || i < n", ""),
        ("i < 3 && i < n || i < 4", "i < 3 || i < 4"),
    ],
)
def test_nothing_is_left_out_but_what_is_proven(text: str, left: str) -> None:
    found = IMPLIED.without(condition(text))
    assert found == (condition(left) if left else None)


def test_differences_of_unsigned_numbers_are_no_proof() -> None:
    known = Premises.of({"i": "unsigned int", "n": "int"}, {})
    inside = known.inside(loop("i_t in 0:n step 8 tile_of i")).inside(loop("i in i_t:n"))
    assert inside.without(condition("i < n")) is None
    assert inside.without(condition("i - 1 < n")) is not None
    assert inside.without(condition("i_t - 1 < n")) is not None


# The law ----------------------------------------------------------------------------------------

extents, sizes_of_tiles = st.integers(1, 9), st.integers(1, 4)


@tried(100)
@given(
    n=extents,
    m=extents,
    k=extents,
    i=sizes_of_tiles,
    j=sizes_of_tiles,
    c=sizes_of_tiles,
    with_copies=st.booleans(),
    padded=st.booleans(),
    peeled=st.sampled_from([("i", "j"), ("i",), ("i", "j", "l"), ("l",)]),
    fixed=st.booleans(),
)
def test_peeled_nests_keep_the_result_and_touch_nothing_else(
    n: int,
    m: int,
    k: int,
    i: int,
    j: int,
    c: int,
    with_copies: bool,
    padded: bool,
    peeled: tuple[str, ...],
    fixed: bool,
) -> None:
    sizes, original = {"n": n, "m": m, "k": k}, MATMUL.region.nest.body
    steps: list[Transform] = [*staged(i, j, c)] if with_copies else []
    steps.append(Peel(0, peeled))
    steps += [Pad(0, ("i", "j"))] if padded else []
    context = Context(MATMUL, sizes if fixed else {})
    body = done(steps, tiled(i, j, c), context)
    assert run(body, sizes) == run(original, sizes)
    assert touched(body, sizes) == touched(original, sizes)
    if not fixed and peeled == ("i", "j") and min(i, j) > 1:
        assert whole_tiles_run(body, sizes) == (n // i) * (m // j)
