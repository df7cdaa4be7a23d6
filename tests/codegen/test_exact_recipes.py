"""A recipe that says all that is done for a target makes the same text again."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from decide.recipes import example_files
from support.regions import regions_of

from annotune.analysis.analyse import analyse
from annotune.analysis.private_copies import with_last_values, with_private_arrays
from annotune.annotation.commands import parse_recipe
from annotune.annotation.devices import load_device
from annotune.annotation.grammar import Origin
from annotune.codegen.recipes import exact_recipe, first_variant, listing_of
from annotune.codegen.target import TARGET_NAMES, RegionCode, load_target
from annotune.diagnostics import AnnotuneError
from annotune.ir.region import Region
from annotune.space.decision import Base
from annotune.space.space import Space, region_space
from annotune.space.variants import Listing

DEVICE = load_device("h200")
REGIONS = [
    (path, region.function, number)
    for path in example_files()
    for number, region in enumerate(regions_of(path))
]
# Of each example and target: more than 200 points of every target.
POINTS = 8


@dataclass
class Chosen:
    """A region with its space."""

    region: Region

    def __post_init__(self) -> None:
        self.base = Base.of(analyse(with_private_arrays(with_last_values(self.region))))
        self.space: Space = region_space(self.base)

    def listing(self, target: str, limit: int) -> Listing:
        return listing_of(load_target(target), self.base, self.space, DEVICE, limit)

    def by(self, recipe: str) -> Chosen:
        """Return the region with a recipe in place of its own."""
        commands = parse_recipe(recipe, Origin.at("f.c", recipe)).commands
        return Chosen(replace(self.region, spec=replace(self.region.spec, commands=commands)))

    def text(self, target: str) -> RegionCode:
        made = first_variant(load_target(target), self.base, self.space, DEVICE)
        return load_target(target).region(made, resident=False)


def differs(chosen: Chosen, target: str, points: int, seed: int) -> list[str]:
    """Return the recipes of the first choice and of random points that give another text."""
    try:
        listing = chosen.listing(target, 500 if points else 1)
    except AnnotuneError:
        # What only the recipe of an example asks for.
        assert chosen.region.spec.commands
        return []
    others = range(1, len(listing))
    drawn = random.Random(seed).sample(others, min(points, len(others)))
    found = []
    for number in (0, *drawn):
        try:
            variant = listing.variant(number)
            text = load_target(target).region(variant, resident=False)
        except AnnotuneError:
            continue
        recipe = exact_recipe(target, variant)
        if chosen.by(recipe).text(target) != text:
            found.append(recipe)
    return found


EVERY = pytest.mark.parametrize(
    ("path", "number"), [pytest.param(p, n, id=f"{p.stem}-{f}") for p, f, n in REGIONS]
)


@pytest.mark.alike(4)
@EVERY
@pytest.mark.parametrize("target", TARGET_NAMES)
def test_a_recipe_makes_its_text_again(path: Path, number: int, target: str) -> None:
    assert differs(Chosen(regions_of(path)[number]), target, 1, seed=number) == []


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("target", TARGET_NAMES)
def test_the_recipes_of_many_points_make_their_texts_again(
    path: Path, number: int, target: str
) -> None:
    assert differs(Chosen(regions_of(path)[number]), target, POINTS, seed=number + 1) == []
