"""Which arrays a region reads, writes, and overwrites before it reads them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from annotune.analysis.dependences import Carried
from annotune.analysis.extremes import Bounds
from annotune.analysis.facts import ArrayUse, DependenceKind
from annotune.analysis.model import Model
from annotune.analysis.poly import ONE, ZERO, Poly, product
from annotune.analysis.sections import Section
from annotune.analysis.statements import Reference


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
        and _writes_cover(name, found.exact, bounds)
    )
    return ArrayUse(name, is_read, is_written, overwritten)


def _reads_see_writes(name: str, model: Model, dependences: Sequence[Carried]) -> bool:
    """Return whether each instance that reads has an earlier one that surely wrote the element."""
    for reference in model.references[name]:
        if reference.is_write:
            continue
        if reference.unknown:
            return False
        covered = isl.Set.empty(model.domains[reference.statement].get_space())
        for one in dependences:
            if one.sink == reference and one.dependence.kind is DependenceKind.FLOW:
                wrote = model.surely[one.dependence.source]
                covered = covered.union(one.dependence.relation.intersect_domain(wrote).range())
        if not model.instances(reference).is_subset(covered):
            return False
    return True


def _writes_cover(name: str, found: tuple[Poly, Poly] | None, bounds: Bounds) -> bool:
    """Return whether every element is written of what each call touches, as `Section.exact` has it.

    That must be whole rows of the layout: a box of indices, all of them written.
    """
    model = bounds.model
    values = model.space.values
    layout = model.layouts[name]
    if not layout.extents:
        return any(_always_runs(r, model) for r in model.references[name] if r.is_write)
    inner = [extent for extent in layout.extents[1:] if extent is not None]
    if len(inner) != len(layout.extents) - 1:
        return False
    if found is None:
        return False
    lowest, length = found
    row = product(inner)
    begin = lowest - layout.offset
    first, rest = begin.divide(row) if not row.is_zero else (ZERO, ONE)
    count, more = length.divide(row)
    if not rest.at(values).is_zero or not more.at(values).is_zero:
        return False
    written: isl.Set | None = None
    for reference in model.references[name]:
        if reference.is_write:
            wrote = model.surely[reference.statement]
            image = model.maps[reference].intersect_domain(wrote).range()
            # Of many strides isl would try each against each.
            written = image if written is None else written.union(image).coalesce()
    assert written is not None
    section = _box([(first, first + count), *((ZERO, extent) for extent in inner)], model)
    return bool(section.is_subset(written))


def _always_runs(reference: Reference, model: Model) -> bool:
    """Return whether a statement runs at least once, for all sizes of the model."""
    return bool(model.sizes.is_subset(model.surely[reference.statement].params()))


def _box(sides: Sequence[tuple[Poly, Poly]], model: Model) -> isl.Set:
    """Return the indices with each one from a side's first to before its second value."""
    indices = [f"a{place}" for place in range(len(sides))]
    facts = [
        f"{model.space.affine(low, {})} <= {index} < {model.space.affine(high, {})}"
        for index, (low, high) in zip(indices, sides, strict=True)
    ]
    text = f"[{', '.join(indices)}] : {' and '.join(facts)}"
    return isl.Set(model.space.text(text)).intersect_params(model.sizes)
