"""Hold, Fuse and Overlay together: a block in registers over the loops of several statements."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import print_nest
from support.regions import nest_analysis
from transforms.interpreter import run

from annotune.analysis.facts import Analysis
from annotune.ir.nest import Level, Loop, Nest, walk_stmts
from annotune.transforms.distribute import Fuse
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Pipeline, Relay
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Overlay, Stage
from annotune.transforms.tile import Tile
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body

FIRST = "for i in 0:n: for k in 0:m: C[i] += A[k*n + i]\n"
SECOND = "for i in 0:n: for l in 0:o: C[i] -= B[l*n + i]*D[l]\n"
SIZES = {"n": 8, "m": 3, "o": 5}
JOINT = Hold(0, "k", others=(1,))


def blocked(
    text: str = FIRST + SECOND, rows: int = 4, inner: tuple[str, ...] = ()
) -> tuple[Body, Context]:
    """Return nests in the loop over tiles of i, each with the loop over a tile inside its sum.

    `inner` are the loops of the sums, their own innermost ones if not given, empty for none.
    """
    context = Context(nest_analysis(text, SIZES), {})
    body = context.analysis.region.nest.body
    inner = inner or tuple(path[-1].var for path in context.analysis.paths.values())
    numbers = range(len(inner))
    steps: list[Transform] = [Tile(number, "i", rows) for number in numbers]
    steps += [Permute(k, tuple(filter(None, ("i_t", inner[k], "i")))) for k in numbers]
    steps.append(Fuse(tuple(numbers), loop="i_t"))
    return done(steps, body, context), context


def done(steps: list[Transform], body: Body, context: Context) -> Body:
    for step in steps:
        assert step.why_not(body, context) is None, step
        body = step.apply(body, context)
    return body


def code_of(step: Transform, body: Body, context: Context) -> str:
    refusal = step.why_not(body, context)
    return "" if refusal is None else refusal.code


def test_one_block_for_two_sums(golden: Golden) -> None:
    body, context = blocked()
    golden.check("transforms/hold_joint.nest", print_nest(Nest(done([JOINT], body, context))))


def test_sums_share_no_loop_inside_the_named_one() -> None:
    text = FIRST + FIRST.replace("A", "B")
    context = Context(nest_analysis(text, SIZES), {})
    body = context.analysis.region.nest.body
    # Terms of both in turns are another order of one sum; of two loops each has its own inside.
    assert code_of(Fuse((0, 1)), body, context) == ""
    whole = Fuse((0, 1)).apply(body, context), Fuse((0, 1), loop="i").apply(body, context)
    loops = (len([x for x in walk_stmts(one) if isinstance(x, Loop)]) for one in whole)
    assert [*loops] == [2, 3]
    assert code_of(Fuse((0, 1), loop="i"), body, context) == ""
    assert code_of(Fuse((0, 1), loop="q"), body, context) == "AT251"


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (SECOND.replace("C[i]", "C[i + n]"), "it updates C[i + n], not C[i]"),
        (SECOND.replace("C[i]", "E[i]"), "it updates E[i], not C[i]"),
        (SECOND.replace("D[l]", "D[l] if D[l] > 0"), "one of them runs under a condition"),
    ],
)
def test_refuses_statements_without_a_common_block(second: str, why: str) -> None:
    body, context = blocked(FIRST + second)
    refusal = JOINT.why_not(body, context)
    assert refusal is not None
    assert (refusal.code, why in refusal.message) == ("AT245", True), refusal.message


def test_refuses_loops_of_another_place() -> None:
    body, context = blocked()
    assert code_of(Hold(1, "l", others=(0,)), body, context) == "AT245"
    assert code_of(Hold(0, "k", others=(0,)), body, context) == "AT245"
    assert code_of(Hold(0, "k", others=(7,)), body, context) == "AT250"


def test_refuses_other_uses_between_the_sums() -> None:
    between = "for i in 0:n: for q in 0:m: E[q*n + i] = C[i]\n"
    body, context = blocked(FIRST + between + SECOND)
    assert code_of(Hold(0, "k", others=(2,)), body, context) == "AT245"
    assert code_of(Hold(0, "k"), body, context) == ""


def test_refuses_blocks_of_other_lengths() -> None:
    context = Context(nest_analysis(FIRST + SECOND, SIZES), {})
    steps: list[Transform] = [Tile(0, "i", 8), Tile(1, "i", 4), Tile(1, "i_t", 2)]
    steps += [Permute(0, ("i_t", "k", "i")), Permute(1, ("i_t_t", "l", "i_t", "i"))]
    body = done(steps, context.analysis.region.nest.body, context)
    assert code_of(JOINT, body, context) == "AT245"


def test_refuses_to_start_from_zero_what_is_no_sum() -> None:
    body, context = blocked(FIRST + SECOND.replace("-=", "*="))
    assert code_of(JOINT, body, context) == ""
    assert code_of(Hold(0, "k", from_zero=True, others=(1,)), body, context) == "AT272"


def staged(stages: int = 0) -> list[Transform]:
    """Return copies of A and B for the threads of a block, in a ring of so many parts."""
    steps: list[Transform] = []
    for number, array, loop in ((0, "A", "k"), (1, "B", "l")):
        steps.append(Stage(number, array, loop, ((loop, 9), ("i", 1))))
        steps += [Pipeline(number, f"{loop}_t", stages)] if stages else []
    return steps


def mapped(
    rows: int, depth: int, fixed: dict[str, int] | None = None, text: str = FIRST + SECOND
) -> tuple[Body, Context]:
    """Return two sums with a block for each tile, a thread for each element of one."""
    context = Context(nest_analysis(text, SIZES), fixed or {})
    steps: list[Transform] = []
    for number, loop in ((0, "k"), (1, "l")):
        steps += [Tile(number, "i", rows), Tile(number, loop, depth)]
        steps.append(Permute(number, ("i_t", "i", f"{loop}_t", loop)))
    levels = (("i_t", Level.BLOCK_X), ("i", Level.THREAD_X))
    steps += [Fuse((0, 1), loop="i"), Map(0, levels)]
    return done(steps, context.analysis.region.nest.body, context), context


def test_copies_of_two_sums_in_one_place(golden: Golden) -> None:
    body, context = mapped(4, 2)
    text = print_nest(Nest(done([*staged(), Overlay(1, 0)], body, context)))
    assert "B_tile" not in text
    golden.check("transforms/overlay.nest", text)


def test_refuses_copies_that_are_there_at_once() -> None:
    body, context = mapped(4, 2)
    assert code_of(Overlay(1, 0), body, context) == "AT246"
    body = done(staged(), body, context)
    assert code_of(Overlay(0, 0), body, context) == "AT246"
    assert code_of(Overlay(1, 7), body, context) == "AT250"
    again = Overlay(1, 0).apply(body, context)
    assert code_of(Overlay(1, 0), again, context) == "AT246"


def test_refuses_copies_of_one_loop() -> None:
    text = "for i in 0:n\n  for k in 0:m\n    C[i] += A[k*n + i]\n    E[i] += B[k*n + i]\n"
    context = Context(nest_analysis(text, SIZES), {})
    steps: list[Transform] = [Tile(0, "i", 4), Map(0, (("i_t", Level.BLOCK_X),))]
    steps += [Stage(0, "A", "i", (("i", 1),)), Stage(1, "B", "i", (("i", 1),))]
    body = context.analysis.region.nest.body
    steps.insert(1, Permute(0, ("i_t", "k", "i")))
    body = done(steps, body, context)
    refusal = Overlay(1, 0).why_not(body, context)
    assert refusal is not None
    assert "'A_tile' is still in use where 'B_tile' is filled" in refusal.message


def relayed(
    rows: int = 4, depth: int = 2, fixed: dict[str, int] | None = None, text: str = FIRST + SECOND
) -> tuple[Body, Context]:
    """Return two sums with their copies in one place, each in a loop over tiles."""
    body, context = mapped(rows, depth, SIZES if fixed is None else fixed, text)
    return done([*staged(), Overlay(1, 0)], body, context), context


@pytest.mark.parametrize(("name", "depth"), [("whole", 5), ("steps", 2)])
def test_copies_of_the_next_sum_begin_before_it(name: str, depth: int, golden: Golden) -> None:
    body, context = relayed(depth=depth)
    text = print_nest(Nest(done([Relay(0, (1,))], body, context)))
    golden.check(f"transforms/relay_{name}.nest", text)


def test_copies_that_cannot_begin_before_their_loop() -> None:
    body, context = relayed()
    assert code_of(Relay(0, (1,)), body, context) == ""
    assert code_of(Relay(0, (7,)), body, context) == "AT250"
    # In another order, or in the same loop.
    assert code_of(Relay(1, (0,)), body, context) == "AT247"
    assert code_of(Relay(0, (0,)), body, context) == "AT247"
    # Once they run ahead they are no longer at the start.
    again = Relay(0, (1,)).apply(body, context)
    assert code_of(Relay(0, (1,)), again, context) == "AT247"
    ring = Pipeline(1, "l_t").apply(body, context)
    assert code_of(Relay(0, (1,)), ring, context) == "AT247"


@pytest.mark.parametrize(
    ("fixed", "loop"), [({}, "k_t"), ({"m": 3}, "l_t"), ({"m": 3, "o": 0}, "l_t")]
)
def test_loops_that_may_not_run_begin_no_copies(fixed: dict[str, int], loop: str) -> None:
    body, context = relayed(fixed=fixed)
    refusal = Relay(0, (1,)).why_not(body, context)
    assert refusal is not None
    assert f"'{loop}' runs a number of times not known" in refusal.message


def test_copies_of_what_is_written_between() -> None:
    body, context = relayed(text=FIRST + SECOND + "for q in 0:n: B[q] = 2\n")
    assert code_of(Relay(0, (1,)), body, context) == ""
    moved = with_statement_between(body)
    assert code_of(Relay(0, (1,)), moved, context) == "AT296"


def with_statement_between(body: Body) -> Body:
    """Return the kernel with what stands behind it in front of its second sum."""
    (kernel, *others) = body
    assert isinstance(kernel, Loop)
    (threads,) = kernel.body
    assert isinstance(threads, Loop)
    first, *rest = threads.body
    inner = replace(threads, body=(first, *others, *rest))
    return (replace(kernel, body=(inner,)),)


READER = "for i in 0:n: E[i] = 2*C[i] + E[i]\n"


def test_a_reader_finds_the_block(golden: Golden) -> None:
    zero = "for i in 0:n: C[i] = 0\n"
    body, context = blocked(zero + FIRST + READER, inner=("", "k", ""))
    made = done([Hold(0, "i", others=(1, 2))], body, context)
    golden.check("transforms/hold_reader.nest", print_nest(Nest(made)))


@pytest.mark.parametrize(
    ("reader", "code"),
    [
        (READER, ""),
        (READER.replace("2*C[i]", "2*C[i - 1]"), "AT245"),
        (READER.replace("2*C[i]", "C[i]*C[i - 1]"), "AT245"),
        (READER.replace("2*C[i] + E[i]", "C[i] if E[i] > 0"), ""),
    ],
)
def test_what_may_read_a_block(reader: str, code: str) -> None:
    body, context = blocked(FIRST + reader, inner=("k", ""))
    assert code_of(Hold(0, "k", others=(1,)), body, context) == code
    # Until the end the block is not what the elements are.
    assert code_of(Hold(0, "k", True, others=(1,)), body, context) == "AT245"


def test_refuses_elements_that_two_iterations_add_to() -> None:
    text = "for k in 0:n: for i in 0:4: for j in 0:4: C[i + j] += A[k]\n"
    context = Context(nest_analysis(text, SIZES), {})
    assert code_of(Hold(0, "k"), context.analysis.region.nest.body, context) == "AT269"


extents = st.integers(1, 7)


@tried(60)
@given(n=extents, m=extents, o=extents, rows=st.integers(1, 5))
def test_a_block_that_is_read_keeps_the_result(n: int, m: int, o: int, rows: int) -> None:
    zero, summed = "for i in 0:n: C[i] = 3\n", "for i in 0:n: F[0] += C[i]\n"
    body, context = blocked(zero + FIRST + READER + SECOND + summed, rows, ("", "k", "", "l", ""))
    held = done([Hold(0, "i", others=(1, 2, 3, 4))], body, context)
    assert_same(held, context.analysis, {"n": n, "m": m, "o": o})


@tried(60)
@given(n=extents, m=extents, o=extents, rows=st.integers(1, 5), from_zero=st.booleans())
def test_a_joint_block_keeps_the_result(n: int, m: int, o: int, rows: int, from_zero: bool) -> None:
    body, context = blocked(rows=rows)
    held = done([Hold(0, "k", from_zero, others=(1,))], body, context)
    assert_same(held, context.analysis, {"n": n, "m": m, "o": o})


@tried(60)
@given(
    n=extents,
    m=extents,
    o=extents,
    rows=st.integers(1, 5),
    depth=st.integers(1, 4),
    stages=st.integers(0, 3),
)
def test_copies_in_one_place_keep_the_result(
    n: int, m: int, o: int, rows: int, depth: int, stages: int
) -> None:
    body, context = mapped(rows, depth)
    steps: list[Transform] = [*staged(stages), Overlay(1, 0), Hold(0, "k_t", others=(1,))]
    made = done([*steps, Pad(0, ("i",))], body, context)
    assert_same(made, context.analysis, {"n": n, "m": m, "o": o})


@tried(60)
@given(
    n=extents,
    m=extents,
    o=extents,
    rows=st.integers(1, 5),
    depth=st.integers(1, 4),
    is_held=st.booleans(),
)
def test_relayed_copies_keep_the_result(
    n: int, m: int, o: int, rows: int, depth: int, is_held: bool
) -> None:
    body, context = mapped(rows, depth, {"n": n, "m": m, "o": o})
    steps: list[Transform] = [*staged(), Overlay(1, 0)]
    steps += [Hold(0, "k_t", others=(1,))] if is_held else []
    made = done([*steps, Relay(0, (1,)), Pad(0, ("i",))], body, context)
    assert_same(made, context.analysis, {"n": n, "m": m, "o": o})


def assert_same(body: Body, analysis: Analysis, sizes: dict[str, int]) -> None:
    assert run(body, sizes) == run(analysis.region.nest.body, sizes)
