"""Stage for accesses that reach beyond the loops: copies with a halo, and what fills them."""

from __future__ import annotations

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from support.regions import nest_analysis
from transforms.interpreter import run, touched
from transforms.products import MATMUL

from annotune.analysis.facts import Analysis
from annotune.ir.expr import Access, Binary, Int, Var
from annotune.ir.nest import Level, MemorySpace, Nest
from annotune.transforms.footprint import filled_boxes, offset_of
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body

SHARED = MemorySpace.SHARED
ROWS = dict.fromkeys("ACDE", (None, Var("m")))
FIVE = "A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]"


def sweep_text(value: str, *more: str) -> str:
    """Return a sweep over the inner points of a matrix."""
    lines = [f"    S{k}: {s}" for k, s in enumerate((f"C[i][j] = {value}", *more))]
    return "\n".join(["for i in 2:n", "  for j in 2:m", *lines, ""])


def sweep(value: str) -> Body:
    return parse_nest(sweep_text(value)).body


def in_tiles(body: Body, rows: int, lanes: int, one: Analysis = MATMUL) -> Body:
    """Return the sweep with tiles on blocks and their elements on threads."""
    for loop, size in (("i", rows), ("j", lanes)):
        body = Tile(0, loop, size).apply(body, Context(one))
    places = {"i_t": Level.BLOCK_Y, "j_t": Level.BLOCK_X}
    return Map(0, tuple({**places, "i": Level.THREAD_Y, "j": Level.THREAD_X}.items())).apply(
        body, Context(one)
    )


def staged(body: Body, *steps: Stage | Pad, one: Analysis = MATMUL) -> Body:
    for step in steps:
        assert step.why_not(body, Context(one)) is None
        body = step.apply(body, Context(one))
    return body


def code_of(stage: Stage, body: Body) -> str | None:
    refusal = stage.why_not(body, Context(MATMUL))
    return refusal.code if refusal is not None else None


def test_a_tile_with_its_halo_and_without_its_corners(golden: Golden) -> None:
    stage = Stage(0, "A", "", (("i", 7), ("j", 1)), space=SHARED)
    body = staged(in_tiles(sweep(FIVE), 2, 4), stage, Pad(0, ("i", "j")))
    text = print_nest(Nest(body))
    golden.check("transforms/stage_halo.nest", text)
    assert parse_nest(text) == Nest(body)


def test_one_plane_while_an_outer_loop_marches(golden: Golden) -> None:
    text = "C[i][j] = A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]"
    body = parse_nest(f"for i in 2:n\n  for j in 2:m\n    S0: {text}\n").body
    body = Tile(0, "j", 4).apply(body, Context(MATMUL))
    levels = {"j_t": Level.BLOCK_X, "j": Level.THREAD_X}
    body = Map(0, tuple(levels.items())).apply(body, Context(MATMUL))
    made = staged(body, Stage(0, "A", "", (("j", 1),), space=SHARED), Pad(0, ("j",)))
    golden.check("transforms/stage_plane.nest", print_nest(Nest(made)))
    # Named in the layout, the loop that stands around the copy gets its rows before and after.
    whole = staged(body, Stage(0, "A", "", (("i", 6), ("j", 1)), space=SHARED), Pad(0, ("j",)))
    assert "shared double A_tile[18]" in print_nest(Nest(whole))


def test_rows_in_the_registers_of_a_thread(golden: Golden) -> None:
    body = Tile(0, "i", 4).apply(sweep("A[i - 1][j] + A[i][j] + A[i + 1][j]"), Context(MATMUL))
    body = Permute(0, ("i_t", "j", "i")).apply(body, Context(MATMUL))
    made = staged(body, Stage(0, "A", "i", (("i", 1),), space=MemorySpace.PRIVATE), Pad(0, ("i",)))
    golden.check("transforms/stage_rows.nest", print_nest(Nest(made)))


def test_statements_in_the_same_loops_share_the_copy() -> None:
    text = sweep_text("A[i][j - 1]", "D[i][j] = A[i + 1][j]", "E[i][j] = A[j][i]")
    one = nest_analysis(text, {"n": 9, "m": 9}, ROWS)
    body = in_tiles(one.region.nest.body, 2, 4, one)
    stage = Stage(0, "A", "", (("i", 5), ("j", 1)), space=SHARED)
    text = print_nest(Nest(staged(body, stage, one=one)))
    assert "S0: C[i][j] = A_tile[5 * (i - i_t) + j - j_t]" in text
    assert "S1: D[i][j] = A_tile[5 * (i - i_t + 1) + j - j_t + 1]" in text
    # What differs by more than a constant stays in memory.
    assert "S2: E[i][j] = A[j][i]" in text


@pytest.mark.parametrize(
    ("value", "layout", "code"),
    [
        (FIVE, (("i", 7), ("j", 1)), None),
        (FIVE, (("i", 6), ("j", 1)), None),
        (FIVE, (("i", 5), ("j", 1)), "AT284"),
        (FIVE, (("j", 1),), "AT284"),
        ("A[i][j] + A[j][i]", (("i", 4), ("j", 1)), "AT280"),
        ("A[i][j] + A[i][2 * j]", (("i", 4), ("j", 1)), "AT280"),
        ("A[i][j] + A[i][n]", (("i", 4), ("j", 1)), "AT280"),
        ("A[i][j] + (C[0][0] < 1.0 ? A[i][j - 1] : 0.0)", (("i", 5), ("j", 1)), "AT280"),
    ],
)
def test_refusals(value: str, layout: tuple[tuple[str, int], ...], code: str | None) -> None:
    body = in_tiles(sweep(value), 2, 4)
    assert code_of(Stage(0, "A", "", layout, space=SHARED), body) == code


def test_refuses_a_halo_of_steps_and_tiles_of_unknown_length() -> None:
    body = parse_nest("for i in 2:n step 2\n  S0: C[i] = A[i] + A[i + 2]\n").body
    stage = Stage(0, "A", "i", (("i", 1),), space=MemorySpace.PRIVATE)
    assert code_of(stage, body) == "AT282"
    open_loop = Map(0, (("j", Level.THREAD_X),)).apply(sweep(FIVE), Context(MATMUL, {"n": 8}))
    assert code_of(Stage(0, "A", "", (("j", 1),), space=SHARED), open_loop) == "AT282"


def test_refuses_a_subscript_that_the_nest_sets() -> None:
    text = "for i in 0:4\n  S0: s = C[i][0]\n  S1: C[i][1] = A[i][s]\n"
    stage = Stage(1, "A", "", (("i", 1),), space=MemorySpace.PRIVATE)
    assert code_of(stage, parse_nest(text).body) == "AT280"
    outside = parse_nest(text.replace("  S0: s = C[i][0]\n", "")).body
    assert code_of(Stage(1, "A", "", (), space=MemorySpace.PRIVATE), outside) is None


def test_long_integers_do_not_become_reals() -> None:
    one = nest_analysis(sweep_text("A[i][j] + A[i][j + 1]"), extents=ROWS, types={"A": "long"})
    body = in_tiles(one.region.nest.body, 2, 4, one)
    stage = Stage(0, "A", "", (("i", 5), ("j", 1)), space=SHARED)
    text = print_nest(Nest(staged(body, stage, one=one)))
    assert "shared long A_tile[10]" in text
    assert "? A[i_t + i_s][j_t + j_s] : 0\n" in text


def test_before_a_statement_without_loops_nothing_can_be_staged() -> None:
    body = parse_nest("S0: c = A[0]\n").body
    assert code_of(Stage(0, "A", "", (), space=MemorySpace.PRIVATE), body) == "AT280"


def test_offsets_in_rows_without_brackets() -> None:
    row = Binary("*", Var("i"), Var("n"))

    def flat(*steps: tuple[str, int]) -> Access:
        index = Binary("+", row, Var("j"))
        for name, count in steps:
            extra = Int(count) if name == "1" else Binary("*", Int(count), Var(name))
            index = Binary("+", index, extra)
        return Access("u", (index,))

    own = flat()
    assert offset_of(flat(("n", 1), ("1", -1)), own, ("i", "j")) == {"i": 1, "j": -1}
    assert offset_of(flat(("1", 2)), own, ("i", "j")) == {"j": 2}
    assert offset_of(flat(("m", 1)), own, ("i", "j")) is None
    both = Access("u", (Var("i"), Var("i")))
    later = Access("u", (Binary("+", Var("i"), Int(1)), Var("i")))
    assert offset_of(later, both, ("i",)) is None


def test_a_row_of_known_length_takes_the_nearest_element() -> None:
    def at(extra: int) -> Access:
        index = Binary("+", Binary("*", Int(64), Var("i")), Var("j"))
        return Access("u", (Binary("+", index, Int(extra)),))

    assert offset_of(at(63), at(0), ("i", "j")) == {"i": 1, "j": -1}
    assert offset_of(at(-2), at(0), ("i", "j")) == {"j": -2}


points = st.frozensets(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=9)


@given(points)
def test_boxes_fill_their_points_and_nothing_else(found: frozenset[tuple[int, int]]) -> None:
    covered = {
        (x, y)
        for (x0, y0), (x1, y1) in filled_boxes(found)
        for x in range(x0, x1 + 1)
        for y in range(y0, y1 + 1)
    }
    assert covered == found


extents, tile = st.integers(3, 9), st.integers(1, 4)


@tried(60)
@given(found=points, n=extents, m=extents, rows=tile, lanes=tile, pad=st.integers(0, 2))
def test_a_halo_keeps_the_result_and_touches_nothing_else(
    found: frozenset[tuple[int, int]], n: int, m: int, rows: int, lanes: int, pad: int
) -> None:
    value = " + ".join(f"A[i + {x}][j + {y}]" for x, y in sorted(found)).replace("+ -", "- ")
    original, sizes = sweep(value), {"n": n, "m": m}
    body = in_tiles(original, rows, lanes)
    ys = [y for _, y in found]
    layout = (("i", lanes + max(ys) - min(ys) + pad), ("j", 1))
    made = staged(body, Stage(0, "A", "", layout, space=SHARED), Pad(0, ("i", "j")))
    assert run(made, sizes) == run(original, sizes)
    assert touched(made, sizes) == touched(original, sizes)
