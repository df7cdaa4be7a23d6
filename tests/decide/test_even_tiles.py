"""Tiles with little surplus: which are chosen, that they are right, and what a recipe may ask."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from decide.recipes import Decided, decided_example, decided_text
from decide.test_two_level import KERNELS, contraction
from support.executed import Call, Part, executable
from support.laws import sanitizes
from support.regions import EXAMPLES

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status
from annotune.pipeline import Emission, Settings, emit
from annotune.schedule.candidate import ContractionTile
from annotune.schedule.units import with_merged
from annotune.strategies.gpu_tile import cost, flattenings
from annotune.strategies.registry import AUTO

NAMES = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")
# Kim et al., ICS 2018, Table 2, size D, and the same with loops of one iteration in it.
SIZE_D = (16, 16, 15, 20, 20, 19, 20)
WITH_ONES = ((1, 16, 15, 1, 20, 9, 1), (17, 1, 1, 5, 1, 18, 20), (1, 1, 1, 1, 1, 1, 1))


def named(k: int, sizes: tuple[int, ...]) -> dict[str, int]:
    """Return the sizes of a triples kernel by name, in the order of `NAMES`."""
    return dict(zip((*NAMES[:-1], "h7u" if k == 1 else "p7u"), sizes, strict=True))


def triples(k: int, function: str, sizes: tuple[int, ...]) -> Decided:
    return decided_example(f"nwchem/sd_t_d{k}.c", function, AUTO, sizes=named(k, sizes))


CHOSEN = {
    (1, "sd_t_d1_1", 16): ((), [16, 8, 8, 8, 16]),
    # h2 and h3 are next to each other in t3 and in v2.
    (1, "sd_t_d1_1", 24): ((("h2", "h3"),), [16, 8, 8, 8, 24]),
    (1, "sd_t_d1_1", 28): ((("h2", "h3"),), [16, 10, 7, 7, 28]),
    (1, "sd_t_d1_1", 20): ((("h2", "h3"),), [16, 7, 5, 10, 20]),
    # In v2 alone: rows of the output stay whole, which threads would share parts of two of.
    (1, "sd_t_d1_2", 24): ((), [24, 8, 6, 8, 24]),
    # In neither, but both in t2.
    (1, "sd_t_d1_3", 15): ((("p4", "h1"),), [16, 8, 5, 5, 15]),
    (2, "sd_t_d2_2", 28): ((("h1", "h2"),), [16, 10, 7, 7, 28]),
}


@pytest.mark.alike(3)
@pytest.mark.parametrize(("k", "function", "n"), CHOSEN)
def test_the_first_choice_has_little_surplus(k: int, function: str, n: int) -> None:
    choice = triples(k, function, (n,) * 7).decision.choices[0]
    assert choice.contract is not None
    lengths = [size for _, size in choice.contract.extents]
    assert (choice.merges, lengths) == CHOSEN[k, function, n]
    said = [str(r) for r in choice.reasons if r.subject == "merged"]
    if choice.merges:
        ((outer, inner),) = choice.merges
        why = f"16 does not divide the iterations of {inner}"
        assert said == [f"merged: {outer}, {inner} as {outer}{inner} ({why})"]
        assert choice.general is not None
        assert choice.general.merges == ()


def test_a_tile_without_surplus_costs_less() -> None:
    (unit,) = triples(1, "sd_t_d1_1", (24,) * 7).base.apart
    (merges,) = flattenings(unit)
    usual = ContractionTile(("h3", 16), ("p5", 8), ("h2", 8), ("p4", 8), ("h7", 12))
    even = ContractionTile(("h2h3", 16), ("p5", 8), ("p6", 8), ("p4", 8), ("h7", 12))
    assert cost(with_merged(unit, merges), even) < cost(unit, usual)


def test_the_usual_tiles_stay_points_of_the_space() -> None:
    one = triples(1, "sd_t_d1_1", (24,) * 7)
    made = [c for point in one.space.points() for c in point.picked.values()]
    shapes = {(c.merges, *(size for _, size in c.contract.extents)) for c in made if c.contract}
    assert ((), 16, 8, 8, 8, 12) in shapes
    assert ((), 24, 8, 8, 4, 12) in shapes


def test_the_recipe_asks_for_the_same_plan() -> None:
    own = decided_text(contraction("", n=20), AUTO)
    assert own.recipe().startswith('merge(0, ("h2","h3"))\ncontract(0, thread={"h2h3","p5"}')
    pasted = decided_text(contraction(own.recipe(), n=20), AUTO)
    assert pasted.plan().steps == own.plan().steps
    assert pasted.recipe() == own.recipe()
    assert pasted.decision.choices[0].general == own.decision.choices[0].general


MERGED = (
    '{merge} contract(0, thread={{"{x}","p5"}}, register={{"{deep}","p4"}}, sum="h7",'
    " thread_x={lanes}, thread_y=2, register_x=3, register_y=2, step=2)\n"
)
STATEMENTS = {
    "adjacent in both": "T[p4][p5][p6][h1][h2][h3] -= t[h1][p5][p4][h7] * v[h7][p6][h2][h3];",
    "adjacent in the input": "T[p4][p5][p6][h2][h1][h3] -= t[h1][p5][p4][h7] * v[h7][p6][h2][h3];",
    "adjacent in neither": "T[p4][p5][p6][h2][h1][h3] -= t[h1][p5][p4][h7] * v[h7][h2][p6][h3];",
}


def recipe(lanes: int, outer: str = "h2", deep: str = "p6") -> str:
    merge = f'merge(0, ("{outer}","h3"))'
    return MERGED.format(merge=merge, x=f"{outer}h3", deep=deep, lanes=lanes)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_merged_loops_are_certified(kind: str) -> None:
    one = decided_text(contraction(recipe(8), STATEMENTS[kind], n=5), AUTO)
    certificate = certify(one.analysis, one.plan())
    assert verify(certificate) == ()
    placed = certificate.placed[0]
    assert "5*(i4 - (0)) + 1*(i5 - (0))" in placed.worker
    # A worker that takes the loops apart again runs iterations of others, or none.
    wrong = placed.worker.replace("5*(i4 - (0))", "4*(i4 - (0))")
    moved = {**certificate.placed, 0: replace(placed, worker=wrong)}
    assert verify(replace(certificate, placed=moved)) != ()


@pytest.mark.alike(4)
@pytest.mark.parametrize("kind", STATEMENTS)
def test_merged_loops_are_right_at_every_size(kind: str, tmp_path: Path) -> None:
    program = executable(tmp_path, contraction(recipe(8), STATEMENTS[kind], n=5), strategy=AUTO)
    program.check(
        *(
            Call("f", (size, Part(0), Part(1), Part(2), 1.5), (size**6 + 1, 4096, 4096))
            for size in (5, 1, 4)
        )
    )


REFUSED = {
    'merge(0, ("h2","h7"))\n': "merge: loop 'h7' may not run in parallel, or is none of the "
    "kernel's outer loops",
    'merge(0, ("h2","q"))\n': "statement 0 has no loop 'q'",
    'merge(0, ("h2"))\n': "merge: loop 'h2' is named alone, or twice",
    'merge(0, ("h2","h3")) merge(0, ("h3","h1"))\n': "statement 0 has no loop 'h3'",
    'merge(0, ("h2","h3"))\ncontract(0, thread={"h3","p5"}, register={"p6","p4"}, sum="h7",'
    " thread_x=8, thread_y=2, register_x=3, register_y=2, step=2)\n": "contract: statement 0 "
    "cannot have this tile: h3 and p6: not two of the loops of v alone, h2h3, p6",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_the_command(text: str) -> None:
    with pytest.raises(AnnotuneError) as refusal:
        decided_text(contraction(text, n=5), AUTO)
    (problem,) = refusal.value.diagnostics
    assert problem.message == REFUSED[text]
    assert problem.span.line in (5, 6, 7)


def test_a_merged_loop_may_be_mapped_without_a_tile(tmp_path: Path) -> None:
    text = contraction('merge(0, ("h2","h3")) cuda(0, block={"p6"}, thread={"h2h3","h1"})\n', n=5)
    one = decided_text(text, AUTO)
    assert verify(certify(one.analysis, one.plan())) == ()
    program = executable(tmp_path, text, strategy=AUTO)
    assert "h2h3 = threadIdx.x;" in program.cuda
    program.check(
        *(
            Call("f", (size, Part(0), Part(1), Part(2), 1.5), (size**6 + 1, 4096, 4096))
            for size in (5, 3)
        )
    )


def emitted(k: int, function: str, sizes: tuple[int, ...]) -> Emission:
    """Return what `emit` makes of a triples kernel tuned for these sizes."""
    return emit(
        Settings(
            EXAMPLES / f"nwchem/sd_t_d{k}.c",
            ("cuda",),
            sizes=named(k, sizes),
            function=function,
            strategy=AUTO,
        ),
        [load_target("cuda")],
    )


def assert_correct(made: Emission, folder: Path, plan: CheckPlan) -> None:
    analysis = made.reports[0].analysis
    assert analysis is not None
    tools = find_toolchains(os.environ)
    writer = load_target("cuda")
    code = writer.region(made.variants[0]["cuda"], resident=False)
    program = Program("cuda", "cuda-cpu", code, writer.device_file(code))
    trial = Checker(Oracle(made.source, analysis, tools, folder)).check(program, plan)
    assert trial.status is Status.CORRECT, trial.reason
    assert trial.verified


def tile_of(made: Emission) -> ContractionTile | None:
    return made.variants[0]["cuda"].tuned.choices[0].contract


def shortened(tile: ContractionTile, k: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return sizes at which loops that only pick the block are short."""
    # The name of loops that run as one is theirs in a row.
    tiled = {part for name, _ in tile.extents for part in re.findall(r"[a-z]\d", name)}
    pairs = zip(named(k, sizes).items(), sizes, strict=True)
    return tuple(size if name[:-1] in tiled else 2 for (name, _), size in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "function"), KERNELS)
def test_size_d_equals_the_original(k: int, function: str, tmp_path: Path) -> None:
    made = emitted(k, function, SIZE_D)
    assert_correct(made, tmp_path, CheckPlan((named(k, SIZE_D),)))


@pytest.mark.slow
@pytest.mark.parametrize(("k", "function"), KERNELS)
def test_the_tiles_of_size_d_are_clean(k: int, function: str, tmp_path: Path) -> None:
    tile = tile_of(emitted(k, function, SIZE_D))
    assert tile is not None
    short = shortened(tile, k, SIZE_D)
    made = emitted(k, function, short)
    assert tile_of(made) == tile
    plan = CheckPlan((named(k, short),), sanitize=sanitizes("cuda"), races=True)
    assert_correct(made, tmp_path, plan)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", WITH_ONES)
@pytest.mark.parametrize(("k", "function"), KERNELS)
def test_extents_of_one_are_clean(
    k: int, function: str, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    plan = CheckPlan(
        (named(k, sizes), named(k, (2, 3, 4, 5, 6, 7, 3))), sanitize=sanitizes("cuda"), races=True
    )
    assert_correct(emitted(k, function, sizes), tmp_path, plan)


# A few of them in every run, one with loops that run as one in t3 and one with them apart there.
@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("k", "function", "sizes"),
    [(1, "sd_t_d1_1", (15, 2, 1, 9, 9, 9, 4)), (2, "sd_t_d2_1", (1, 2, 15, 1, 9, 17, 4))],
)
def test_awkward_extents_are_clean(
    k: int, function: str, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    plan = CheckPlan((named(k, sizes),), sanitize=sanitizes("cuda"), races=True)
    assert_correct(emitted(k, function, sizes), tmp_path, plan)
