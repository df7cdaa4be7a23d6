"""Pipeline: copies of later iterations under way while the present one is worked on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest, print_nest
from transforms.interpreter import run, touched
from transforms.products import MATMUL, analysed
from transforms.test_stage import SHARED, TILES, blocked

from annotune.analysis.facts import Analysis
from annotune.ir.nest import Await, Level, Loop, MemorySpace, Nest, Stmt, walk_stmts
from annotune.transforms.pipeline import Pipeline
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body

REGISTERS = MemorySpace.DEALT


def staged(tiles: tuple[tuple[str, int], ...] = TILES) -> Body:
    """Return the product with both inputs copied at the start of the loop over tiles of l."""
    sizes = dict(tiles)
    rows, columns = (("i", sizes["l"]), ("l", 1)), (("l", sizes["j"]), ("j", 1))
    body = blocked(tiles)
    for array, layout in (("A", rows), ("B", columns)):
        stage = Stage(0, array, "l", layout, space=SHARED)
        assert stage.why_not(body, Context(MATMUL)) is None
        body = stage.apply(body, Context(MATMUL))
    return body


def pipelined(pipeline: Pipeline, body: Body) -> Body:
    """Return the body with the pipeline, and what comes after it in a plan."""
    for step in (pipeline, Hold(0, "l_t"), Pad(0, ("i", "j"))):
        assert step.why_not(body, Context(MATMUL)) is None
        body = step.apply(body, Context(MATMUL))
    return body


def code_of(pipeline: Pipeline, body: Body, analysis: Analysis = MATMUL) -> str | None:
    refusal = pipeline.why_not(body, Context(analysis))
    return refusal.code if refusal is not None else None


@pytest.mark.parametrize(
    ("name", "pipeline"),
    [
        ("one", Pipeline(0, "l_t", 1)),
        ("two", Pipeline(0, "l_t")),
        ("three", Pipeline(0, "l_t", 3)),
        ("registers", Pipeline(0, "l_t", 2, REGISTERS)),
    ],
)
def test_the_copies_run_ahead(name: str, pipeline: Pipeline, golden: Golden) -> None:
    text = print_nest(Nest(pipelined(pipeline, staged())))
    golden.check(f"transforms/pipeline_{name}.nest", text)
    assert print_nest(parse_nest(text)) == text


@pytest.mark.parametrize(
    ("pipeline", "code"),
    [
        (Pipeline(7, "l_t"), "AT250"),
        (Pipeline(0, "q"), "AT251"),
        (Pipeline(0, "i"), "AT264"),
        (Pipeline(0, "l_t", 1), None),
        (Pipeline(0, "l_t", 1, REGISTERS), "AT289"),
        (Pipeline(0, "l_t", 5), "AT289"),
        (Pipeline(0, "l_t", 3, REGISTERS), "AT289"),
        # The copies stand in the loop over tiles, and not in that over one tile.
        (Pipeline(0, "l"), "AT288"),
        (Pipeline(0, "l_t"), None),
    ],
)
def test_refusals(pipeline: Pipeline, code: str | None) -> None:
    assert code_of(pipeline, staged()) == code


def test_refuses_a_loop_without_copies() -> None:
    assert code_of(Pipeline(0, "l_t"), blocked()) == "AT288"


def test_refuses_copies_that_do_not_stand_at_the_start() -> None:
    text = print_nest(Nest(staged()))
    loop = next(x for x in parse_nest(text).loops() if x.var == "l_t")
    work = next(s for s in loop.body if isinstance(s, Loop) and s.var == "l")
    behind = Nest((replace(loop, body=(work, *loop.body)),))
    assert code_of(Pipeline(0, "l_t"), behind.body) == "AT288"


def test_refuses_what_the_loop_itself_changes() -> None:
    analysis = analysed("v[j] += B[l][j];", "for (l = 0; l < k; l++) for (j = 0; j < 8; j++)")
    text = (
        "for l in 0:k\n  shared double t[8]\n  for s in 0:8 @cooperative\n    copy: t[s] = {}\n"
        "  for j in 0:8\n    S0: v[j] += t[j]\n"
    )
    for value, code in (("B[l][s]", None), ("v[s]", "AT296")):
        body = parse_nest(text.format(value)).body
        assert code_of(Pipeline(0, "l"), body, analysis) == code


def test_refuses_elements_that_no_instruction_copies() -> None:
    text = print_nest(Nest(staged())).replace("shared double", "shared double _Complex")
    body = parse_nest(text).body
    assert code_of(Pipeline(0, "l_t"), body) == "AT295"
    assert code_of(Pipeline(0, "l_t", 2, REGISTERS), body) is None


extents, tile = st.integers(1, 7), st.integers(1, 4)
ways = st.sampled_from([(1, SHARED), (2, SHARED), (3, SHARED), (2, REGISTERS)])


@tried(100)
@given(n=extents, m=extents, k=extents, i=tile, j=tile, c=tile, way=ways)
def test_a_pipeline_keeps_the_result_and_touches_nothing_else(
    n: int, m: int, k: int, i: int, j: int, c: int, way: tuple[int, MemorySpace]
) -> None:
    sizes, original = {"n": n, "m": m, "k": k}, MATMUL.region.nest.body
    pipeline = Pipeline(0, "l_t", *way)
    body = pipelined(pipeline, staged((("i", i), ("j", j), ("l", c))))
    assert run(body, sizes) == run(original, sizes)
    assert touched(body, sizes) == touched(original, sizes)


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_wait_for_one_group_less_is_seen(stages: int) -> None:
    """The law above would hold for any wait if copies arrived at once."""
    sizes = {"n": 4, "m": 4, "k": 7}
    body = pipelined(Pipeline(0, "l_t", stages), staged())
    assert run(body, sizes) == run(MATMUL.region.nest.body, sizes)
    with pytest.raises(KeyError):
        run(_waiting_less(body), sizes)


def _waiting_less(body: Body) -> Body:
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Await(newest):
                out.append(Await(newest + 1))
            case Loop():
                out.append(replace(stmt, body=_waiting_less(stmt.body)))
            case _:
                out.append(stmt)
    return tuple(out)


def test_every_copy_ahead_is_asynchronous_or_dealt() -> None:
    ring = pipelined(Pipeline(0, "l_t"), staged())
    levels = {s.place for s in walk_stmts(ring) if isinstance(s, Loop)}
    assert Level.ASYNC in levels
    assert Level.COOPERATIVE not in levels
    through = pipelined(Pipeline(0, "l_t", 2, REGISTERS), staged())
    assert Level.ASYNC not in {s.place for s in walk_stmts(through) if isinstance(s, Loop)}
