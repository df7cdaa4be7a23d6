"""Every point that a search may choose becomes a text, or is refused with a diagnostic."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import EXAMPLES
from support.regions import regions_of

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.ir.region import Region
from annotune.options import TARGET_NAMES
from annotune.space.decision import Base
from annotune.space.space import region_space

LISTED = 64
FEW_ITERATIONS = 16
FILES = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.c"))


def at_sizes(name: str) -> Iterator[Region]:
    """Yield the regions of a file as they are, and those that then change at few iterations."""
    as_given = regions_of(EXAMPLES / name)
    yield from as_given
    few = {
        size: min(FEW_ITERATIONS, region.sizes[size])
        for region in as_given
        for size in region.called_sizes
    }
    yield from (r for r in regions_of(EXAMPLES / name, few) if r not in as_given)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGET_NAMES)
@pytest.mark.parametrize("name", FILES)
def test_every_listed_point_becomes_a_text(name: str, target: str) -> None:
    writer = load_target(target)
    for region in at_sizes(name):
        try:
            base = Base.of(analyse(normalised(region)))
            listing = writer.points(base, region_space(base), load_device("h200")).listing(LISTED)
        except AnnotuneError:
            continue  # what a recipe says is not for this target
        tried = set[object]()
        for number, config in enumerate(listing.configs):
            # Points that differ in numbers alone take the same steps.
            words = tuple((k, v) for k, v in config.items() if isinstance(v, str))
            if words in tried:
                continue
            tried.add(words)
            try:
                variant = listing.variant(number)
            except AnnotuneError:
                assert number, config  # the first choice is legal
                continue
            assert writer.region(variant, resident=False).body, config
