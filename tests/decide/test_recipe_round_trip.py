"""The printed recipe, pasted back into the annotation, asks for the very same plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from recipes import decided, example_files, pasted
from support.regions import EXAMPLES, find_annotations, regions_of, text_regions

from annotune.schedule.candidate import Candidate
from annotune.space.decision import Point

# Found by their annotations: to read them all takes seconds.
REGIONS = [
    (path, number)
    for path in example_files()
    for number, block in enumerate(find_annotations(path.read_text(), str(path)))
    if not block.spec.commands
]


def _marks(path: Path) -> tuple[pytest.MarkDecorator, ...]:
    """Return the marks of a file: regions of so many statements take half a minute each."""
    return (pytest.mark.slow,) if path.stem == "ccsd_t" else ()


@pytest.mark.alike(24)
@pytest.mark.parametrize(
    ("path", "number"),
    [pytest.param(p, n, id=f"{p.stem}-{n}", marks=_marks(p)) for p, n in REGIONS],
)
def test_the_pasted_recipe_gives_an_identical_plan(path: Path, number: int) -> None:
    text = path.read_text()
    region = regions_of(path)[number]
    one = decided(region)
    again = text_regions(pasted(text, region, one.recipe()), str(path))[number]
    other = decided(again)
    factors = {s: f for c in one.decision.choices for s, _, f in c.unroll}
    params = {f"UF{s}": factors[s] for s in one.factors() if s in factors}
    other = other.at(Point({**dict(other.space.params[0]), **params}))
    assert other.plan().steps == one.plan().steps
    assert other.plan({}).steps == one.plan({}).steps
    assert _commands(other.decision.choices) == _commands(one.decision.choices)


def test_there_are_as_many_regions_as_the_examples_promise() -> None:
    triples = [r for r in REGIONS if r[0].parent == EXAMPLES / "nwchem"]
    assert len(triples) == 29
    assert {p.stem for p, _ in REGIONS} >= {"local_grad3", "gemm"}


def _commands(choices: tuple[Candidate, ...]) -> list[tuple[object, ...]]:
    """Return what the choices ask for, without the reasons."""
    return [
        (c.parts, c.order, c.tiles, c.blocks, c.threads, c.host, c.registers, c.unroll)
        for c in choices
    ]
