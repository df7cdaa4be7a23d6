"""Which arrays a region reads, writes, and overwrites before it reads them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from annotune.analysis.dependences import Carried
from annotune.analysis.facts import ArrayUse, DependenceKind
from annotune.analysis.model import Model
from annotune.analysis.poly import ONE, ZERO, Poly, product
from annotune.analysis.sections import Bounds, Section


def array_use(
    name: str, found: Section, bounds: Bounds, dependences: Sequence[Carried]
) -> ArrayUse:
    """Return how the region uses the array `name`, whose section is `found`."""
    references = bounds.model.references[name]
    is_read = any(not reference.is_write for reference in references)
    is_written = any(reference.is_write for reference in references)
    overwritten = (
        is_written
        and _reads_see_writes(name, bounds.model, dependences)
        and _writes_cover(name, found, bounds)
    )
    return ArrayUse(name, is_read, is_written, overwritten)


def _reads_see_writes(name: str, model: Model, dependences: Sequence[Carried]) -> bool:
    """Return whether each instance that reads has an earlier one that wrote the element."""
    for reference in model.references[name]:
        if reference.is_write:
            continue
        covered = isl.Set.empty(model.domains[reference.statement].get_space())
        for one in dependences:
            if one.sink == reference and one.dependence.kind is DependenceKind.FLOW:
                covered = covered.union(one.dependence.relation.range())
        if not model.domains[reference.statement].is_subset(covered):
            return False
    return True


def _writes_cover(name: str, found: Section, bounds: Bounds) -> bool:
    """Return whether every element of the section is written.

    The section must be whole rows of the layout: a box of indices, all of them written.
    """
    model = bounds.model
    values = model.space.values
    layout = model.layouts[name]
    inner = [extent for extent in layout.extents[1:] if extent is not None]
    if len(inner) != len(layout.extents) - 1:
        return False
    row = product(inner)
    first, rest = found.lowest.divide(row) if not row.is_zero else (ZERO, ONE)
    count, more = found.length.divide(row)
    if not rest.at(values).is_zero or not more.at(values).is_zero:
        return False
    written: isl.Set | None = None
    for reference in model.references[name]:
        if reference.is_write:
            image = model.maps[reference].range()
            written = image if written is None else written.union(image)
    assert written is not None
    section = _box([(first, first + count), *((ZERO, extent) for extent in inner)], model)
    return section is not None and bool(section.is_subset(written))


def _box(sides: Sequence[tuple[Poly, Poly]], model: Model) -> isl.Set | None:
    """Return the indices with each one from a side's first to before its second value."""
    indices = [f"a{place}" for place in range(len(sides))]
    facts = [
        f"{model.space.affine(low, {})} <= {index} < {model.space.affine(high, {})}"
        for index, (low, high) in zip(indices, sides, strict=True)
    ]
    if any("(" in name for side in sides for poly in side for name in poly.names):
        return None  # a rounded division is no size that isl knows
    text = f"[{', '.join(indices)}] : {' and '.join(facts)}"
    return isl.Set(model.space.text(text)).intersect_params(model.sizes)
