"""A recipe that says all that is done for a target makes the same text again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from decide.recipes import example_files
from decide.test_accumulate import UNLIKE, triples
from support.laws import IS_THOROUGH
from support.regions import find_annotations, regions_of, text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.commands import parse_recipe
from annotune.annotation.devices import load_device
from annotune.annotation.grammar import Origin
from annotune.codegen.recipes import exact_recipe, first_variant, listing_of, variant_of
from annotune.codegen.several_sizes import at_other_sizes, combined
from annotune.codegen.target import TARGET_NAMES, RegionCode, load_target
from annotune.diagnostics import AnnotuneError
from annotune.ir.region import Region
from annotune.space.decision import Base
from annotune.space.space import Space, region_space
from annotune.space.variants import Listing, Variant

DEVICE = load_device("h200")
# Found by their annotations: to read them all takes seconds.
REGIONS = [
    (path, number)
    for path in example_files()
    for number, _ in enumerate(find_annotations(path.read_text(), str(path)))
]
# 200 random points of each target over all examples: so many tests of so many points.
PARTS, POINTS = 25, 8 if IS_THOROUGH else 1
# Of one example after the other.
TURN = 2


@dataclass
class Chosen:
    """A region with its space."""

    region: Region

    def __post_init__(self) -> None:
        self.base = Base.of(analyse(normalised(self.region)))
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


def test_the_first_choice_alone_tells_of_how_many_it_is_the_first() -> None:
    path, number = REGIONS[0]
    chosen = Chosen(regions_of(path)[number])
    for name in ("cuda", "openacc"):
        target = load_target(name)
        every = chosen.listing(name, 2)
        one = listing_of(target, chosen.base, chosen.space, DEVICE, 100, first_alone=True)
        assert one.configs == every.configs[:1]
        assert (one.size, one.legal) == (every.size, every.legal)


def drawn(chosen: Chosen, target: str, random: Random) -> Iterator[Variant]:
    """Yield the legal points of a region but the first, in random order."""
    try:
        listing = chosen.listing(target, 500)
    except AnnotuneError:
        # What only the recipe of an example asks for.
        assert chosen.region.spec.commands
        return
    others = range(1, len(listing))
    for number in random.sample(others, len(others)):
        with contextlib.suppress(AnnotuneError):
            yield listing.variant(number)


def is_made_again(chosen: Chosen, target: str, variant: Variant) -> bool:
    """Return whether the recipe that a variant prints, read back, makes the same text."""
    text = load_target(target).region(variant, resident=False)
    return chosen.by(exact_recipe(target, variant)).text(target) == text


@pytest.mark.alike(82)
@pytest.mark.parametrize(
    ("path", "number"), [pytest.param(p, n, id=f"{p.stem}-{n}") for p, n in REGIONS]
)
@pytest.mark.parametrize("target", TARGET_NAMES)
def test_the_recipe_of_a_first_choice_makes_its_text_again(
    path: Path, number: int, target: str
) -> None:
    chosen = Chosen(regions_of(path)[number])
    try:
        first = chosen.listing(target, 1).variant(0)
    except AnnotuneError:
        assert chosen.region.spec.commands
        return
    assert is_made_again(chosen, target, first)


@pytest.mark.slow
def test_the_recipe_of_kernels_with_lanes_of_their_own_makes_their_text_again() -> None:
    (region,) = text_source(triples(64, UNLIKE, p4=7, p5=7, p6=7, h7=64, p7=64)).regions
    chosen = Chosen(region)
    first = chosen.listing("cuda", 1).variant(0)
    assert "late=1" in exact_recipe("cuda", first)
    assert is_made_again(chosen, "cuda", first)


SEVERAL = """\
void mm(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n[] = [24, 32, 40]; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i*n + j] += a[i*n + k] * b[k*n + j];
    /*@ end @*/
}
"""


@pytest.mark.alike(3)
@pytest.mark.parametrize("won", [(0, 1, 2), (1, 2), (2, 0), (1,)])
@pytest.mark.parametrize("target", ["cuda", "openmp"])
def test_winners_at_some_of_several_sizes_come_back(won: tuple[int, ...], target: str) -> None:
    (region,) = text_source(SEVERAL).regions
    first = Chosen(region)
    every = (first, *map(Chosen, at_other_sizes(region, first.base.analysis)))
    variant = combined([every[number].listing(target, 1).variant(0) for number in won])
    recipe = exact_recipe(target, variant)
    at_sizes = [(one.base.analysis, {}) for one in every]
    own = load_target(target)
    again = variant_of(own, recipe, Origin.at("f.c", recipe), at_sizes)
    assert again is not None
    assert own.region(again, resident=False) == own.region(variant, resident=False)
    assert variant_of(own, recipe, Origin.at("f.c", recipe), at_sizes[:0]) is None


@pytest.mark.alike(100)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("target", TARGET_NAMES)
def test_the_recipes_of_random_points_make_their_texts_again(part: int, target: str) -> None:
    random, compared = Random(part), 0
    first = part * POINTS // TURN % len(REGIONS)
    for path, number in (*REGIONS[first:], *REGIONS[:first]):
        chosen = Chosen(regions_of(path)[number])
        for variant in islice(drawn(chosen, target, random), min(TURN, POINTS - compared)):
            assert is_made_again(chosen, target, variant), exact_recipe(target, variant)
            compared += 1
        if compared == POINTS:
            break
    assert compared == POINTS
