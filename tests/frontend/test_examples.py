"""The project's own examples, as nests."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXAMPLES, Golden
from source_text import load_text
from support.nest_text import parse_nest, print_nest

FILES = sorted(p.relative_to(EXAMPLES) for p in EXAMPLES.glob("*/*.c"))


@pytest.mark.alike(3)
@pytest.mark.parametrize("file", FILES, ids=str)
def test_example(file: Path, golden: Golden) -> None:
    source = load_text((EXAMPLES / file).read_text())
    if not source.regions:
        return
    parts = []
    for region in source.regions:
        names = [f"{s.type} {s.name}" for s in region.scalars.values()]
        arrays = [a.parameter for a in region.arrays.values()]
        sizes = ", ".join(f"{name}={value}" for name, value in region.sizes.items())
        head = f"# {region.entry}({', '.join(arrays + names)})\n# {sizes}\n"
        parts.append(head + print_nest(region.nest))
        assert parse_nest(print_nest(region.nest)) == region.nest
    golden.check(
        f"frontend/{file.with_suffix('').as_posix().replace('/', '_')}.nest", "\n".join(parts)
    )
