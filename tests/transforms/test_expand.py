"""Scalar expansion: its refusals, a golden, its certificate, and the laws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.nest_text import parse_nest
from support.nests import LAW, SIZES, analysed, assert_law, known, nests, refused
from support.regions import nest_analysis, text_of

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import violations
from annotune.certify.certificate import Certificate, verify
from annotune.certify.kernels import certify
from annotune.diagnostics import Span
from annotune.ir.expr import Var
from annotune.ir.nest import Level, LocalArray
from annotune.schedule.plan import Kernel, Plan
from annotune.transforms.distribute import Distribute, Expand
from annotune.transforms.map import Map, Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body, path, replace_loop

COMMAND = Span("t.c", 77, 3, 9)
PRODUCT = """\
for i in 0:n
  for j in 0:m
    s = 0.0
    for l in 0:n
      s += a[i*n + l] * b[l*m + j]
    c[i*m + j] = 2.0*s + 3.0*c[i*m + j]
"""
MATMUL = nest_analysis(PRODUCT, SIZES)
FIXED = Context(MATMUL, SIZES)
APART = ((0,), (1,), (2,))
BLOCK = (
    Tile(1, "i", 4),
    Tile(1, "j", 3),
    Permute(1, ("i_t", "j_t", "i", "j")),
    Expand(1, "s", ("i", "j")),
    Distribute(APART, loop="i"),
    Permute(1, ("l", "i", "j")),
)


def applied(steps: Iterable[Transform], one: Analysis | Context) -> Body:
    """Return the region after some steps, none of which may be refused."""
    context = known(one)
    body = context.analysis.region.nest.body
    for step in steps:
        refusal = step.why_not(body, context)
        assert refusal is None, refusal.message
        body = step.apply(body, context)
    return body


def test_a_sum_becomes_a_register_block(golden: Golden) -> None:
    body = applied(BLOCK, MATMUL)
    golden.check("transforms/expand_block.nest", text_of(body))
    assert_law(body, MATMUL)


def test_the_array_alone_leaves_the_order(golden: Golden) -> None:
    golden.check("transforms/expand_order.nest", text_of(applied(BLOCK[:4], MATMUL)))


def test_a_loop_of_known_length_needs_no_tile() -> None:
    body = applied((Expand(1, "s", ("j",)), Distribute(APART, loop="j")), FIXED)
    assert "local double s_block[3] for s" in text_of(body)
    assert "S1: s_block[j] += a[i * n + l] * b[l * m + j]" in text_of(body)


@pytest.mark.parametrize(
    ("expand", "code"),
    [
        (Expand(1, "s", ("q",)), "AT251"),
        (Expand(7, "s", ("j",)), "AT250"),
        # An array, a scalar that is no one's, and an iterator.
        (Expand(1, "c", ("j",)), "AT290"),
        (Expand(1, "t", ("j",)), "AT290"),
        (Expand(1, "n", ("j",)), "AT290"),
        # The sum lives in an iteration of j, neither of i alone nor of l.
        (Expand(1, "s", ("i",)), "AT290"),
        (Expand(1, "s", ("j", "l")), "AT290"),
        (Expand(1, "s", ("j", "i")), "AT290"),
        (Expand(1, "s", ("j",)), "AT291"),
    ],
)
def test_refusals(expand: Expand, code: str) -> None:
    # Of a loop without a known length there is no array; the others are refused at any length.
    context = MATMUL if code == "AT291" else FIXED
    refusal = refused(replace(expand, span=COMMAND), MATMUL.region.nest.body, context)
    assert (refusal.code, refusal.span) == (code, COMMAND)


def test_refuses_to_expand_twice() -> None:
    assert refused(BLOCK[3], applied(BLOCK[:4], MATMUL), MATMUL).code == "AT290"


def test_refuses_tiles_whose_start_is_inside() -> None:
    body = applied((Tile(1, "j", 4),), MATMUL)
    assert refused(Expand(1, "s", ("j_t", "j")), body, MATMUL).code == "AT291"


def test_refuses_loops_that_are_mapped() -> None:
    body = Map(1, (("i", Level.CPU_THREAD),)).apply(MATMUL.region.nest.body, FIXED)
    assert refused(Expand(1, "s", ("i", "j")), body, MATMUL).code == "AT264"


def test_refuses_loops_with_statements_between_them() -> None:
    text = PRODUCT.replace("  for j", "  d[i] = 1.0\n  for j", 1)
    one = nest_analysis(text, SIZES)
    assert refused(Expand(2, "s", ("i", "j")), one.region.nest.body, one).code == ("AT290")


def test_without_the_array_the_statements_stay_together() -> None:
    body = applied(BLOCK[:3], MATMUL)
    refusal = refused(Distribute(APART, loop="i", span=COMMAND), body, MATMUL)
    assert (refusal.code, refusal.span) == ("AT253", COMMAND)
    assert "s belongs to one iteration of j, whose statements are taken apart" in refusal.message


def test_the_array_of_a_tile_does_not_reach_further_out() -> None:
    """The array is declared in j_t; nests taken apart outside it would each have another."""
    body = applied(BLOCK[:4], MATMUL)
    for loop in ("j_t", "i_t"):
        assert refused(Distribute(APART, loop=loop), body, MATMUL).code == "AT253"


def test_an_array_over_the_inner_loop_does_not_let_the_outer_one_go() -> None:
    steps = (*BLOCK[:3], Expand(1, "s", ("j",)))
    body = applied(steps, MATMUL)
    assert Distribute(APART, loop="j").why_not(body, Context(MATMUL)) is None
    assert refused(Distribute(APART, loop="i"), body, MATMUL).code == "AT253"


def test_an_index_that_tells_no_lives_apart_is_found() -> None:
    text = text_of(applied(BLOCK, MATMUL))
    wrong = parse_nest(text.replace("s_block[i - i_t][j - j_t]", "s_block[0][j - j_t]")).body
    assert {v.dependence.array for v in violations(MATMUL, wrong)} == {"s"}
    assert violations(MATMUL, parse_nest(text).body) == ()


def test_lanes_share_the_array_and_threads_do_not() -> None:
    body = applied(BLOCK, MATMUL)
    assert Vectorize(1, "j").why_not(body, FIXED) is None
    alone = applied((Expand(1, "s", ("j",)), Distribute(APART, loop="j")), FIXED)
    threads = Map(1, (("j", Level.THREAD_X),))
    assert threads.why_not(alone, FIXED) is not None


def test_refuses_a_scalar_that_sets_a_bound() -> None:
    body = MATMUL.region.nest.body
    inner = path(body, 1)[-1]
    bounded = replace_loop(body, inner, (replace(inner, upper=Var("s")),))
    refusal = refused(Expand(1, "s", ("j",)), bounded, FIXED)
    assert refusal.code == "AT292"


# The certificate ----------------------------------------------------------------------------


def certificate(body: Body) -> Certificate:
    mapped = Map(1, (("i_t", Level.BLOCK_X), ("j_t", Level.THREAD_X)))
    assert mapped.why_not(body, Context(MATMUL)) is None
    scheduled = mapped.apply(body, Context(MATMUL))
    kernel = Kernel("f", (0, 1, 2), scheduled, scheduled)
    return certify(MATMUL, Plan((kernel,), (), SIZES))


def test_the_certificate_shows_an_element_for_each_life() -> None:
    made = certificate(applied(BLOCK, MATMUL))
    assert len(made.stored) == 3
    assert "S1 has s of 0.0 in an array" in made.text()
    assert verify(made) == ()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("s_block[4][3]", "s_block[4][2]", "an element for s of 0.0 lies outside its array"),
        ("[i - i_t][j - j_t]", "[0][j - j_t]", "are not one for each of its lives"),
        ("S1: s_block[i - i_t]", "S1: s_block[3 - i + i_t]", "are not one for each of its lives"),
        ("S0: s_block[i - i_t][j - j_t]", "S0: s", "where the other statements do not find it"),
    ],
)
def test_the_certificate_finds_a_wrong_array(old: str, new: str, fault: str) -> None:
    mapped = Map(1, (("i_t", Level.BLOCK_X), ("j_t", Level.THREAD_X))).apply(
        applied(BLOCK, MATMUL), Context(MATMUL)
    )
    text = text_of(mapped)
    assert old in text
    wrong = parse_nest(text.replace(old, new)).body
    made = certify(MATMUL, Plan((Kernel("f", (0, 1, 2), wrong, wrong),), (), SIZES))
    assert any(fault in found for found in verify(made))


# The laws -----------------------------------------------------------------------------------


@LAW
@given(text=nests(), size=st.integers(1, 3), cut=st.integers(1, 3), outer=st.booleans())
def test_what_is_expanded_and_taken_apart_keeps_the_result(
    text: str, size: int, cut: int, outer: bool
) -> None:
    one = analysed(text.replace("s += 1.0", "s = 1.0"))
    lives = {n: home for n, home in one.homes.get("s", {}).items() if home}
    if not lives:
        one = analysed(f"{text}  s = a[i]\n  b[i + 20] = s\n")
        lives = dict(one.homes.get("s", {}))
    for statement, home in lives.items():
        loops = [x.var for x in one.paths[statement][: len(home)]]
        own = tuple(loops if outer else loops[-1:])
        body = one.region.nest.body
        for loop in own:
            body = accepted_or_same(Tile(statement, loop, size), body, one)
        tiles = (*(f"{x}_t" for x in own), *own)
        body = accepted_or_same(Permute(statement, tiles), body, one)
        body = accepted_or_same(Expand(statement, "s", own), body, one)
        assert_law(body, one)
        numbers = sorted(one.paths)
        groups = tuple(g for g in (tuple(numbers[:cut]), tuple(numbers[cut:])) if g)
        body = accepted_or_same(Distribute(groups, loop=groups_loop(body, groups)), body, one)
        assert_law(body, one)


def accepted_or_same(step: Transform, body: Body, analysis: Analysis) -> Body:
    return (
        step.apply(body, Context(analysis))
        if step.why_not(body, Context(analysis)) is None
        else body
    )


def groups_loop(body: Body, groups: tuple[tuple[int, ...], ...]) -> str:
    """Return the loop after the declaration of the array, else the outermost."""
    loops = path(body, groups[0][0])
    for loop in loops:
        if any(isinstance(stmt, LocalArray) for stmt in loop.body):
            return loops[loops.index(loop) + 1].var if loop is not loops[-1] else loop.var
    return loops[0].var if loops else ""


@LAW
@given(rows=st.integers(1, 4), lanes=st.integers(1, 4), swap=st.booleans())
def test_a_block_keeps_the_result(rows: int, lanes: int, swap: bool) -> None:
    order = ("j_t", "i_t", "i", "j") if swap else ("i_t", "j_t", "i", "j")
    steps = (Tile(1, "i", rows), Tile(1, "j", lanes), Permute(1, order), *BLOCK[3:])
    assert_law(applied(steps, MATMUL), MATMUL)


# Sums of what is dealt out ------------------------------------------------------------------

DEALT = (
    Tile(1, "i", 2),
    Tile(1, "i_t", 2),
    Tile(1, "j", 6),
    Cyclic(1, "j", 2),
    Permute(1, ("i_t_t", "j_t", "i_t", "j_w", "i", "j")),
    Map(
        1,
        (
            ("i_t_t", Level.BLOCK_Y),
            ("j_t", Level.BLOCK_X),
            ("i_t", Level.THREAD_Y),
            ("j_w", Level.THREAD_X),
        ),
    ),
    Expand(1, "s", ("i", "j")),
    Distribute(APART, loop="i"),
    Permute(1, ("l", "i", "j")),
)


def test_every_worker_has_its_sums_in_a_row() -> None:
    body = applied(DEALT, MATMUL)
    assert "S1: s_block[i - i_t][(j - j_t - j_w) / 2] += " in text_of(body)
    assert "local double s_block[2][3] for s" in text_of(body)
    assert_law(body, MATMUL)
    made = certify(MATMUL, Plan((Kernel("f", (0, 1, 2), body, body),), (), SIZES))
    assert len(made.stored) == 3
    assert verify(made) == ()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("s_block[2][3]", "s_block[2][1]", "an element for s of 0.0 lies outside its array"),
        ("(j - j_t - j_w) / 2", "(j - j_t - j_w) / 6", "are not one for each of its lives"),
    ],
)
def test_the_certificate_finds_a_wrong_row(old: str, new: str, fault: str) -> None:
    text = text_of(applied(DEALT, MATMUL))
    assert old in text
    wrong = parse_nest(text.replace(old, new)).body
    assert violations(MATMUL, wrong) or "s_block[2][1]" in new
    made = certify(MATMUL, Plan((Kernel("f", (0, 1, 2), wrong, wrong),), (), SIZES))
    assert any(fault in found for found in verify(made))
