"""Cyclic: its refusals, goldens and law, and the other steps of a schedule on what is dealt out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from support.nests import LAW, SIZES, analysed, assert_law, nests, refused
from support.regions import nest_analysis, text_of
from transforms.interpreter import run, touched
from transforms.products import MATMUL

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.diagnostics import Span
from annotune.ir.expr import Binary, Int, Var
from annotune.ir.nest import Level, Loop, MemorySpace, Nest
from annotune.schedule.plan import Kernel, Plan
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body, path, replace_loop
from annotune.transforms.unroll import Unroll

COMMAND = Span("t.c", 77, 3, 9)
NEST = "for i in 0:n: for k in 1:n+1 step 2: c[i] += a[k]"


def refusal_of(loop: str, workers: int = 4, nest: str = NEST, *before: Transform) -> str:
    one = nest_analysis(nest)
    body = one.region.nest.body
    for step in before:
        body = step.apply(body, Context(one))
    refusal = refused(Cyclic(0, loop, workers, span=COMMAND), body, one)
    assert refusal.span == COMMAND
    return f"{refusal.code} {refusal.message}"


def test_refusals() -> None:
    assert refusal_of("j").startswith("AT251")
    assert refusal_of("k", 0) == "AT261 cyclic: factor 0 of loop 'k' is not positive"
    assert refusal_of("i", 4, NEST, Map(0, (("i", Level.BLOCK_X),))).startswith(
        "AT264 cyclic: loop 'i'"
    )
    text = "for i in 0:i_w: a[i] = 1.0"
    assert refusal_of("i", 4, text) == (
        "AT268 cyclic: the workers of 'i' need the name 'i_w', which the region uses"
    )
    tiled = Tile(0, "i", 4)
    assert refusal_of("i_t", 4, NEST, tiled) == "AT286 cyclic: loop 'i_t' runs over tiles of 'i'"
    dealt = Cyclic(0, "i", 4)
    assert refusal_of("i", 4, NEST, dealt) == "AT286 cyclic: loop 'i' is distributed already"
    assert refusal_of("i_w", 4, NEST, dealt) == "AT286 cyclic: loop 'i_w' runs over workers of 'i'"


def test_what_is_dealt_out_is_not_tiled() -> None:
    one = nest_analysis(NEST)
    body = Cyclic(0, "i", 4).apply(one.region.nest.body, Context(one))
    for loop in ("i", "i_w"):
        refusal = refused(Tile(0, loop, 4, span=COMMAND), body, one)
        assert (refusal.code, refusal.span) == ("AT287", COMMAND)
        assert (
            refusal.help == "`tile` 'i' first, then distribute the loop over one tile by `cyclic`"
        )


def test_refuses_to_break_an_order() -> None:
    text = "for i in 1:n: a[i] = a[i - 1] + 1.0"
    assert refusal_of("i", 4, text).startswith("AT253 cyclic: loop 'i_w' would break the order")
    # Dealt to as many as lie between two that depend on each other, each keeps its own.
    one = nest_analysis("for i in 4:n: a[i] = a[i - 4] + 1.0")
    body = one.region.nest.body
    assert Cyclic(0, "i", 4).why_not(body, Context(one)) is None
    assert Cyclic(0, "i", 2).why_not(body, Context(one)) is None
    assert refused(Cyclic(0, "i", 3), body, one).code == "AT253"
    dealt = Cyclic(0, "i", 4).apply(body, Context(one))
    assert Map(0, (("i_w", Level.THREAD_X),)).why_not(dealt, Context(one)) is None
    by_two = Cyclic(0, "i", 2).apply(body, Context(one))
    assert Map(0, (("i_w", Level.THREAD_X),)).why_not(by_two, Context(one)) is None
    both = {"i": Level.THREAD_X, "i_w": Level.BLOCK_X}
    assert refused(Map(0, tuple(both.items())), by_two, one).code == "AT258"


FORMS = {
    "open": (NEST, {}, 0, 4),
    "known": (NEST, {"n": 10}, 0, 4),
    "tiles cut short": (NEST, {}, 8, 4),
    "whole tiles": (NEST, {"n": 16}, 8, 4),
    "tiles of an odd length": (NEST, {}, 6, 4),
    "fewer than workers": (NEST, {"n": 3}, 0, 4),
}


def test_the_forms_of_the_loops(golden: Golden) -> None:
    parts = []
    for name, (nest, sizes, tile, workers) in FORMS.items():
        body = nest_analysis(nest).region.nest.body
        for loop in "ik":
            body = Tile(0, loop, tile).apply(body, Context(MATMUL, sizes)) if tile else body
            body = Cyclic(0, loop, workers).apply(body, Context(MATMUL, sizes))
        text = print_nest(Nest(body))
        assert parse_nest(text) == Nest(body)
        parts.append(f"{name}\n{text}")
    golden.check("transforms/deal.nest", "\n".join(parts))


@LAW
@given(
    text=nests(),
    loop=st.sampled_from("ijk"),
    workers=st.integers(1, 5),
    tile=st.integers(0, 6),
    factor=st.integers(1, 3),
    fixed=st.booleans(),
)
def test_a_legal_deal_keeps_the_result(
    text: str, loop: str, workers: int, tile: int, factor: int, fixed: bool
) -> None:
    from support.interpreter import assert_same

    one = analysed(text)
    sizes = SIZES if fixed else {}
    for statement in {0, max(one.paths)}:
        body = one.region.nest.body
        steps: list[Transform] = [Tile(statement, loop, tile)] if tile else []
        steps += [Cyclic(statement, loop, workers)]
        if factor > 1:
            steps.append(Unroll(statement, loop, factor))
        done = False
        for step in steps:
            if step.why_not(body, Context(one, sizes)) is None:
                body = step.apply(body, Context(one, sizes))
                done = done or isinstance(step, Cyclic)
        if not done:
            continue
        if fixed:
            assert_same(body, one.region, SIZES, one.private, lambda: text_of(body))  # noqa: B023
        else:
            assert_law(body, one)


# Three levels: blocks, threads, registers ---------------------------------------------------

SHARED = MemorySpace.SHARED


def three_levels(i: tuple[int, int], j: tuple[int, int], sizes: dict[str, int]) -> Body:
    """Return the product with i in tiles of tiles and j in tiles that are dealt out."""
    rows, each = i
    steps: tuple[Transform, ...] = (
        Tile(0, "i", each),
        Tile(0, "i_t", rows),
        Tile(0, "j", j[0] * j[1]),
        Cyclic(0, "j", j[0]),
        Tile(0, "l", 3),
        Permute(0, ("i_t_t", "j_t", "i_t", "j_w", "l_t", "l", "i", "j")),
        Map(
            0,
            (
                ("j_t", Level.BLOCK_X),
                ("i_t_t", Level.BLOCK_Y),
                ("j_w", Level.THREAD_X),
                ("i_t", Level.THREAD_Y),
            ),
        ),
    )
    return _done(steps, MATMUL.region.nest.body, sizes)


def in_fast_memory(i: tuple[int, int], j: tuple[int, int]) -> tuple[Transform, ...]:
    rows, each = i
    width = rows * each
    a_layout = (("i_t", each), ("i", 1), ("l", width + 1))
    b_layout = (("l", j[0] * j[1]), ("j", j[0]), ("j_w", 1))
    return (
        Stage(0, "A", "l", a_layout, space=SHARED),
        Stage(0, "B", "l", b_layout, space=SHARED),
        Hold(0, "l_t"),
        Pad(0, ("i_t", "i", "j_w", "j")),
    )


def _done(steps: tuple[Transform, ...], body: Body, sizes: dict[str, int]) -> Body:
    context = Context(MATMUL, sizes)
    for step in steps:
        assert step.why_not(body, context) is None, step
        body = step.apply(body, context)
    return body


def test_three_levels_with_copies_and_a_block(golden: Golden) -> None:
    body = three_levels((2, 2), (4, 2), {})
    body = _done(in_fast_memory((2, 2), (4, 2)), body, {})
    golden.check("transforms/deal_three_levels.nest", print_nest(Nest(body)))


def test_exact_sizes_need_no_conditions(golden: Golden) -> None:
    sizes = {"n": 8, "m": 16, "k": 3}
    body = three_levels((2, 2), (4, 2), sizes)
    body = _done(in_fast_memory((2, 2), (4, 2)), body, sizes)
    golden.check("transforms/deal_exact.nest", print_nest(Nest(body)))


def test_tiles_may_be_cut_short_where_the_loop_inside_is_not() -> None:
    sizes = {"n": 2, "m": 9, "k": 3}
    body = three_levels((3, 2), (4, 2), sizes)
    body = _done(in_fast_memory((3, 2), (4, 2)), body, sizes)
    before = MATMUL.region.nest.body
    assert run(body, sizes) == run(before, sizes)
    assert touched(body, sizes) == touched(before, sizes)


pairs = st.tuples(st.integers(1, 4), st.integers(1, 3))


@tried(40)
@given(
    i=pairs,
    j=pairs,
    n=st.integers(1, 9),
    m=st.integers(1, 13),
    k=st.integers(1, 5),
    is_fixed=st.booleans(),
)
def test_three_levels_keep_the_result(
    i: tuple[int, int], j: tuple[int, int], n: int, m: int, k: int, is_fixed: bool
) -> None:
    sizes = {"n": n, "m": m, "k": k}
    before = MATMUL.region.nest.body
    known = sizes if is_fixed else {}
    scheduled = three_levels(i, j, known)
    body = _done(in_fast_memory(i, j), scheduled, known)
    assert run(scheduled, sizes) == run(body, sizes) == run(before, sizes)
    assert touched(body, sizes) == touched(before, sizes)


# Certificates -----------------------------------------------------------------------------


def certified(body: Body) -> tuple[str, ...]:
    return verify(certify(MATMUL, Plan((Kernel("f", (0,), body, body),), ())))


@pytest.mark.parametrize("shape", [((2, 2), (4, 2)), ((4, 1), (3, 5)), ((1, 1), (1, 1))])
def test_the_certificate_of_three_levels_holds(shape: tuple[tuple[int, int], ...]) -> None:
    assert certified(three_levels(shape[0], shape[1], {})) == ()


def changed(body: Body, loop: str, **changes: object) -> Body:
    old = next(x for x in path(body, 0) if x.var == loop)
    return replace_loop(body, old, (replace(old, **changes),))


def worker_loop(body: Body) -> Loop:
    return next(x for x in path(body, 0) if x.var == "j_w")


def test_wrong_workers_are_rejected() -> None:
    body = three_levels((2, 2), (4, 2), {})
    assert "S0: some iterations run nowhere" in certified(changed(body, "j_w", upper=Int(3)))
    twice = certified(changed(body, "j_w", upper=Int(5)))
    assert "S0: some iterations run twice" in twice
    late = changed(body, "j_w", lower=Int(1))
    assert "S0: some iterations run nowhere" in certified(late)
    step = certified(changed(body, "j", step=3))
    assert "S0: some iterations run twice" in step
    sparse = certified(changed(body, "j", step=5))
    assert "S0: some iterations run nowhere" in sparse
    start = next(x for x in path(body, 0) if x.var == "j").lower
    shifted = changed(body, "j", lower=Binary("+", start, Int(1)))
    assert "S0: some iterations run nowhere" in certified(shifted)
    short = certified(changed(body, "j", upper=Binary("+", Var("j_t"), Int(7))))
    assert "S0: some iterations run nowhere" in short
