"""Stage and Pad: copies of inputs in fast memory, and whole tiles where a loop ends inside one."""

from __future__ import annotations

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from support.nests import known
from transforms.interpreter import run, touched
from transforms.products import MATMUL, analysed

from annotune.analysis.facts import Analysis
from annotune.ir.nest import Level, MemorySpace, Nest
from annotune.transforms.map import Map, Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body

SHARED = MemorySpace.SHARED
TILES = (("i", 2), ("j", 4), ("l", 3))
A_LAYOUT = (("i", 5), ("l", 1))
B_LAYOUT = (("l", 4), ("j", 1))


def blocked(
    tiles: tuple[tuple[str, int], ...] = TILES, constants: dict[str, int] | None = None
) -> Body:
    """Return the product with tiles of i on blocks and threads, tiles of l around the rest."""
    body = MATMUL.region.nest.body
    context = Context(MATMUL, constants or {})
    for loop, size in tiles:
        body = Tile(0, loop, size).apply(body, context)
    body = Permute(0, ("i_t", "j_t", "i", "l_t", "l", "j")).apply(body, context)
    levels = {"i_t": Level.BLOCK_X, "j_t": Level.BLOCK_Y, "i": Level.THREAD_X}
    return Map(0, tuple(levels.items())).apply(body, context)


def code_of(
    step: Stage | Pad, body: Body | None = None, one: Analysis | Context = MATMUL
) -> str | None:
    refusal = step.why_not(blocked() if body is None else body, known(one))
    return refusal.code if refusal is not None else None


def done(
    steps: tuple[Stage | Hold | Pad, ...], body: Body, sizes: dict[str, int] | None = None
) -> Body:
    context = Context(MATMUL, sizes or {})
    for step in steps:
        assert step.why_not(body, context) is None
        body = step.apply(body, context)
    return body


def steps(
    layout_a: tuple[tuple[str, int], ...], layout_b: tuple[tuple[str, int], ...]
) -> tuple[Stage | Hold | Pad, ...]:
    """Return the steps of a product with both inputs in shared memory."""
    return (
        Stage(0, "A", "l", layout_a, space=SHARED),
        Stage(0, "B", "l", layout_b, space=SHARED),
        Hold(0, "l_t"),
        Pad(0, ("i", "j")),
    )


def test_both_inputs_in_shared_memory(golden: Golden) -> None:
    body = done(steps(A_LAYOUT, B_LAYOUT), blocked())
    text = print_nest(Nest(body))
    golden.check("transforms/stage_shared.nest", text)
    assert parse_nest(text) == Nest(body)


def test_sizes_that_tiles_divide_need_no_conditions(golden: Golden) -> None:
    sizes = {"n": 6, "m": 8, "k": 5}
    whole = (("i", 2), ("j", 4), ("l", 5))
    body = blocked(whole, sizes)
    made = (Stage(0, "A", "l", (("i", 5), ("l", 1)), space=SHARED),)
    text = print_nest(Nest(done((*made, Pad(0, ("i", "j"))), body, sizes)))
    golden.check("transforms/stage_exact.nest", text)


def test_a_private_copy_leaves_the_loops_outside_alone(golden: Golden) -> None:
    sizes = {"m": 8}
    body = Tile(0, "l", 3).apply(MATMUL.region.nest.body, Context(MATMUL, sizes))
    body = Permute(0, ("l_t", "i", "l", "j")).apply(body, Context(MATMUL, sizes))
    made = done((Stage(0, "B", "i", (("l", 8), ("j", 1)), space=MemorySpace.PRIVATE),), body, sizes)
    golden.check("transforms/stage_private.nest", print_nest(Nest(made)))


def rows_of_tiles(rows: int, lanes: int, sizes: dict[str, int]) -> Body:
    """Return the product with a block of tiles inside `l`, and lanes, as a core runs it."""
    context = Context(MATMUL, sizes)
    body = Tile(0, "i", rows).apply(MATMUL.region.nest.body, context)
    body = Tile(0, "j", lanes).apply(body, context)
    body = Permute(0, ("i_t", "j_t", "l", "i", "j")).apply(body, context)
    return Vectorize(0, "j").apply(body, context)


def panels(lanes: int, sizes: dict[str, int]) -> tuple[Stage | Hold | Pad, ...]:
    """Return the steps of a product that reads all of B as panels, one for each tile of j."""
    layout = (("j_t", sizes["k"] * lanes), ("l", lanes), ("j", 1))
    return (
        Stage(0, "B", "i_t", layout, space=MemorySpace.PRIVATE),
        Stage(0, "A", "l", (("l", 4), ("i", 1)), space=MemorySpace.PRIVATE),
        Hold(0, "l", from_zero=True),
        Pad(0, ("i", "j")),
    )


def test_a_copy_of_all_tiles_has_the_loop_over_them(golden: Golden) -> None:
    sizes = {"n": 6, "m": 10, "k": 5}
    body = done(panels(4, sizes), rows_of_tiles(4, 4, sizes), sizes)
    golden.check("transforms/stage_panels.nest", print_nest(Nest(body)))


def test_refuses_a_distance_between_tiles_that_is_no_whole_number_of_steps() -> None:
    sizes = {"n": 6, "m": 10, "k": 5}
    stage = Stage(0, "B", "i_t", (("j_t", 22), ("l", 4), ("j", 1)), space=MemorySpace.PRIVATE)
    assert code_of(stage, rows_of_tiles(4, 4, sizes), Context(MATMUL, sizes)) == "AT284"


@pytest.mark.parametrize(
    ("stage", "code"),
    [
        (Stage(7, "A", "l", A_LAYOUT, space=MemorySpace.PRIVATE), "AT250"),
        (Stage(0, "A", "q", A_LAYOUT, space=MemorySpace.PRIVATE), "AT251"),
        (Stage(0, "A", "i", A_LAYOUT, space=MemorySpace.PRIVATE), "AT264"),
        (Stage(0, "C", "l", A_LAYOUT, space=MemorySpace.PRIVATE), "AT281"),
        (Stage(0, "v", "l", A_LAYOUT, space=MemorySpace.PRIVATE), "AT280"),
        # The rows of i are those of other threads, and of no private copy.
        (Stage(0, "A", "l", A_LAYOUT, space=MemorySpace.PRIVATE), "AT284"),
        (Stage(0, "A", "l", (("i", 3), ("l", 1)), space=SHARED), None),
        (Stage(0, "A", "l", (("i", 2), ("l", 1)), space=SHARED), "AT284"),
        (Stage(0, "A", "l", (("l", 1),), space=SHARED), "AT284"),
        (Stage(0, "B", "l", (("l", 1), ("j", 1)), space=SHARED), "AT284"),
    ],
)
def test_refusals_of_stage(stage: Stage, code: str | None) -> None:
    assert code_of(stage) == code


def test_refuses_a_box_of_unknown_size() -> None:
    body = Permute(0, ("i", "l", "j")).apply(MATMUL.region.nest.body, Context(MATMUL))
    assert code_of(Stage(0, "B", "l", B_LAYOUT, space=MemorySpace.PRIVATE), body) == "AT282"


@pytest.mark.parametrize(
    ("statement", "array", "code"),
    [
        ("if (v[j] > 0.0) C[i][j] += B[l][j];", "B", "AT280"),
        ("C[i][j] += v[j] > 0.0 ? B[l][j] : 1.0;", "B", "AT280"),
        ("C[i][j] += B[l][j] * B[l][0];", "B", "AT280"),
        ("C[i][j] += B[l][j];", "B", None),
    ],
)
def test_refuses_what_is_not_read_in_every_iteration(
    statement: str, array: str, code: str | None
) -> None:
    context = Context(analysed(statement), {"k": 5, "m": 8})
    body = Permute(0, ("i", "l", "j")).apply(context.analysis.region.nest.body, context)
    stage = Stage(0, array, "l", (("l", 8), ("j", 1)), space=MemorySpace.PRIVATE)
    assert code_of(stage, body, context) == code


def test_refuses_threads_that_do_not_come_together() -> None:
    loops = (
        "for (i = 0; i < n; i++) for (j = 0; j < 8; j++)"
        " for (l = j; l < k; l++) for (int q = 0; q < 3; q++)"
    )
    analysis = analysed("C[i][j] += B[l][q];", loops)
    body = Map(0, (("i", Level.BLOCK_X), ("j", Level.THREAD_X))).apply(
        analysis.region.nest.body, Context(analysis)
    )
    assert code_of(Stage(0, "B", "q", (("q", 1),), space=SHARED), body, analysis) == "AT283"


def test_pad_refuses_blocks_and_what_is_not_there() -> None:
    assert code_of(Pad(0, ("q",))) == "AT251"
    body = Map(0, (("i", Level.BLOCK_X),)).apply(
        Tile(0, "i", 4).apply(MATMUL.region.nest.body, Context(MATMUL)), Context(MATMUL)
    )
    assert code_of(Pad(0, ("i",)), body) == "AT285"


def test_pad_keeps_the_condition_where_memory_is_touched() -> None:
    body = Tile(0, "j", 4).apply(MATMUL.region.nest.body, Context(MATMUL))
    text = print_nest(Nest(done((Pad(0, ("j",)),), body)))
    assert "for j in j_t:j_t + 4\n" in text
    assert "C[i][j] += A[i][l] * B[l][j] if j < m" in text


def one_panel(lanes: int, padded: tuple[str, ...]) -> tuple[Pad | Hold | Stage, ...]:
    """Return the steps of a product that reads B alone as a copy."""
    return (
        Stage(0, "B", "i_t", (("l", lanes), ("j", 1)), space=MemorySpace.PRIVATE),
        Hold(0, "l", from_zero=True),
        Pad(0, padded),
    )


def columns_first(rows: int, lanes: int, sizes: dict[str, int]) -> Body:
    return Permute(0, ("j_t", "i_t")).apply(rows_of_tiles(rows, lanes, sizes), Context(MATMUL))


def test_pad_asks_nothing_of_what_surplus_iterations_share_with_others() -> None:
    sizes = {"n": 6, "m": 10, "k": 5}
    body = done(one_panel(4, ("i", "j")), columns_first(4, 4, sizes), sizes)
    text = print_nest(Nest(body))
    # A moves with i alone, and the copy of B with j.
    assert "C_block[i - i_t][j - j_t] += A[i][l] * B_tile[4 * l + j - j_t] if i < 6\n" in text


def test_pad_keeps_the_condition_of_a_loop_that_sets_another() -> None:
    text = (
        "for i_t in 0:n step 4 tile_of i\n  local double s[4]\n  for i in i_t:min(i_t + 4, n)\n"
        "    for l in 0:i\n      S0: s[i - i_t] += A[l][0]\n"
    )
    body = Pad(0, ("i",)).apply(parse_nest(text).body, Context(MATMUL))
    assert "s[i - i_t] += A[l][0] if i < n" in print_nest(Nest(body))


WIDE = (("i", 2), ("j", 4), ("l", 4))
EVEN = {"n": 6, "m": 8, "k": 12}
ROWS = (("l", 4), ("j", 1))


def wide(array: str = "B", layout: tuple[tuple[str, int], ...] = ROWS) -> Stage:
    return Stage(0, array, "l", layout, SHARED, width=2)


def test_neighbours_are_copied_at_once(golden: Golden) -> None:
    body = blocked(WIDE, EVEN)
    made = (wide("A", (("i", 6), ("l", 1))), wide())
    golden.check("transforms/stage_wide.nest", print_nest(Nest(done(made, body, EVEN))))


def wide_code(stage: Stage, tiles: tuple[tuple[str, int], ...], sizes: dict[str, int]) -> str:
    refusal = stage.why_not(blocked(tiles, sizes), Context(MATMUL, sizes))
    return "" if refusal is None else f"{refusal.code}: {refusal.message.split(': ', 2)[-1]}"


@pytest.mark.parametrize(
    ("stage", "sizes", "said"),
    [
        (wide(), EVEN, ""),
        (wide(layout=(("l", 6), ("j", 1))), EVEN, ""),
        (wide(layout=(("l", 5), ("j", 1))), EVEN, "AT294: the copy has them apart"),
        (wide(layout=(("l", 8), ("j", 2))), EVEN, "AT294: the copy has them apart"),
        (wide(layout=(("j", 4), ("l", 1))), EVEN, "AT294: they are no neighbours in the array"),
        # Rows of 9 begin at an odd element every second time, and end with a single one.
        (wide(), {**EVEN, "m": 9}, "AT294: they do not start at a multiple of that"),
        (wide("A", (("i", 4), ("l", 1))), {**EVEN, "k": 13}, "AT294: they do not start at"),
        # What sizes are not known to be, nobody can prove.
        (wide(), {}, "AT294: they do not start at a multiple of that"),
    ],
)
def test_refuses_neighbours_that_are_not_proven_to_be_aligned(
    stage: Stage, sizes: dict[str, int], said: str
) -> None:
    assert wide_code(stage, WIDE, sizes).startswith(said)
    assert bool(wide_code(stage, WIDE, sizes)) is bool(said)


def test_refuses_neighbours_that_no_vector_holds() -> None:
    loops = "for (i = 0; i < n; i++) for (l = 0; l < k; l++) for (j = 0; j < 8; j++)"
    analysis = analysed("v[i] += A[i][l] * q[j];", loops)
    stage = Stage(0, "q", "l", (("j", 1),), width=2, space=MemorySpace.PRIVATE)
    refusal = stage.why_not(analysis.region.nest.body, Context(analysis))
    assert refusal is not None
    assert refusal.message.endswith("there is no such vector of int")


def test_refuses_neighbours_of_an_array_that_the_region_enters_at_an_odd_element() -> None:
    loops = "for (i = 0; i < n; i++) for (l = 0; l < k; l++) for (j = 0; j < 8; j++)"
    for first, code in ((0, None), (1, None), (2, None)):
        analysis = analysed(f"v[i] += A[i][l] * w[j + {first}];", loops)
        stage = Stage(0, "w", "l", (("j", 1),), width=2, space=MemorySpace.PRIVATE)
        # The lowest element that is touched is where the memory on the device begins.
        assert code_of(stage, analysis.region.nest.body, analysis) == code
    apart = "B[l][j] * B[l][j] + w[1]"
    analysis = analysed(f"v[i] += A[i][l] * {apart} * w[j + 2];", loops)
    stage = Stage(0, "w", "l", (("j", 1),), width=2, space=MemorySpace.PRIVATE)
    assert code_of(stage, analysis.region.nest.body, analysis) == "AT280"


even, whole = st.integers(1, 4).map(lambda x: 2 * x), st.sampled_from((2, 4))


@tried(100)
@given(n=st.integers(1, 7), m=even, k=even, i=st.integers(1, 4), j=whole, c=whole, pad=whole)
def test_copies_of_neighbours_keep_the_result_and_touch_nothing_else(
    n: int, m: int, k: int, i: int, j: int, c: int, pad: int
) -> None:
    sizes, original = {"n": n, "m": m, "k": k}, MATMUL.region.nest.body
    body = blocked((("i", i), ("j", j), ("l", c)), sizes)
    made = (
        Stage(0, "A", "l", (("i", c + pad), ("l", 1)), SHARED, width=2),
        Stage(0, "B", "l", (("l", j + pad), ("j", 1)), SHARED, width=2),
        Hold(0, "l_t"),
        Pad(0, ("i", "j")),
    )
    body = done(made, body, sizes)
    assert run(body, sizes) == run(original, sizes)
    assert touched(body, sizes) == touched(original, sizes)


extents, tile = st.integers(1, 7), st.integers(1, 4)


@tried(100)
@given(n=extents, m=extents, k=extents, rows=tile, lanes=tile, both=st.booleans())
def test_one_panel_keeps_the_result_and_touches_nothing_else(
    n: int, m: int, k: int, rows: int, lanes: int, both: bool
) -> None:
    sizes, original = {"n": n, "m": m, "k": k}, MATMUL.region.nest.body
    made = one_panel(lanes, ("i", "j") if both else ("j",))
    body = done(made, columns_first(rows, lanes, sizes), sizes)
    assert run(body, sizes) == run(original, sizes)
    assert touched(body, sizes) == touched(original, sizes)


@tried(100)
@given(n=extents, m=extents, k=extents, rows=tile, lanes=tile)
def test_panels_keep_the_result_and_touch_nothing_else(
    n: int, m: int, k: int, rows: int, lanes: int
) -> None:
    sizes, original = {"n": n, "m": m, "k": k}, MATMUL.region.nest.body
    body = done(panels(lanes, sizes), rows_of_tiles(rows, lanes, sizes), sizes)
    assert run(body, sizes) == run(original, sizes)
    assert touched(body, sizes) == touched(original, sizes)


@tried(100)
@given(n=extents, m=extents, k=extents, i=tile, j=tile, c=tile, pad=st.integers(0, 2))
def test_copies_keep_the_result_and_touch_nothing_else(
    n: int, m: int, k: int, i: int, j: int, c: int, pad: int
) -> None:
    sizes, original = {"n": n, "m": m, "k": k}, MATMUL.region.nest.body
    body = blocked((("i", i), ("j", j), ("l", c)))
    body = done(steps((("i", c + pad), ("l", 1)), (("l", j + pad), ("j", 1))), body)
    assert run(body, sizes) == run(original, sizes)
    assert touched(body, sizes) == touched(original, sizes)
