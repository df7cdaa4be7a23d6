"""The part of each array that a region touches, as expressions over its sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import islpy as isl

from annotune.analysis.extremes import Bounds, Extreme
from annotune.analysis.facts import Shape
from annotune.analysis.messages import GATHER_EXTENT
from annotune.analysis.model import Model
from annotune.analysis.poly import ONE, ZERO, Poly, from_expr, product, to_expr
from annotune.analysis.shapes import declared_extents
from annotune.analysis.statements import Reference
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Access, Expr
from annotune.ir.fold import fold
from annotune.ir.region import Region
from annotune.ir.text import parse_nest, print_expr


class Unbounded(Exception):
    """Nothing proves where the accesses to an array end, for all sizes."""

    def __init__(self, reference: Reference, poly: Poly) -> None:
        super().__init__(reference.name)
        self.reference, self.poly = reference, poly


@dataclass(frozen=True, slots=True)
class Section:
    """The elements ``lowest .. lowest + length - 1`` of one array, counted flat.

    `is_assumed` says that only an access under a condition touches an end, where memory or a
    switch of the whole region decides it.
    """

    lowest: Poly
    length: Poly
    is_assumed: bool = False


def section(name: str, bounds: Bounds) -> Section:
    """Return the section of the array `name` that the region touches.

    A declaration with all its extents is taken whole where no access is seen to leave it.
    Otherwise both ends are touched: with a mere bound, a copy could leave the array.

    Raises:
        Unbounded: An extreme, or which of two is the greater, is not proven for all sizes.
        AnnotuneError: An index that memory decides reaches an array of unknown length.
    """
    model = bounds.model
    references = model.references[name]
    gather = next((r for r in references if r.unknown), None)
    if gather is not None:
        return _gathered(gather, bounds)
    flat = model.layouts[name].flat
    if flat is None:
        raise Unbounded(references[0], ZERO)
    found: dict[Reference, tuple[Extreme, Extreme]] = {}
    for reference, address in zip(references, flat, strict=True):
        extremes = bounds.extremes(reference, address)
        if extremes is None and model.all_sizes:
            raise Unbounded(reference, address)
        extremes = extremes or bounds.counted(reference, address)
        if extremes is not None:
            found[reference] = extremes
    whole = _declaration(name, tuple(found.values()), bounds)
    if whole is not None:
        return whole
    if not model.all_sizes:
        exact = {
            reference: bounds.counted(reference, address)
            for reference, address in zip(references, flat, strict=True)
            if any(not model.sizes.is_subset(e.touched) for e in found.get(reference, ()))
        }
        found = {r: e for r, e in {**found, **exact}.items() if e is not None}
    if not found:
        return Section(ZERO, ZERO)
    lows = dict.fromkeys(-low.address for low, _ in found.values())
    highs = dict.fromkeys(high.address for _, high in found.values())
    lowest = -_bound(tuple(lows), bounds, references[0])
    highest = _bound(tuple(highs), bounds, references[0])
    length = highest - lowest + ONE
    lower = [low for low, _ in found.values()]
    upper = [high for _, high in found.values()]
    for end, reached in ((lowest, lower), (highest, upper)):
        unreached = _unreached(end, reached, length, bounds)
        if not (unreached.is_empty() or bounds.demands.exclude(unreached)):
            raise Unbounded(references[0], flat[0])
    certain = [both for r, both in found.items() if bounds.is_certain(r)]
    is_assumed = not (
        _unreached(lowest, [low for low, _ in certain], length, bounds).is_empty()
        and _unreached(highest, [high for _, high in certain], length, bounds).is_empty()
    )
    return Section(lowest, length, is_assumed)


def _unreached(end: Poly, extremes: Iterable[Extreme], length: Poly, bounds: Bounds) -> isl.Set:
    """Return the sizes at which one end of a section that is not empty is not touched."""
    model = bounds.model
    nowhere = reached = isl.Set.empty(model.sizes.get_space())
    for extreme in extremes:
        if extreme.address == end and model.sizes.is_subset(extreme.touched):
            return nowhere
        text = model.space.text(f": {model.space.affine(extreme.address - end, {})} = 0")
        reached = reached.union(extreme.touched.intersect(isl.Set(text)))
    if not model.sizes.is_subset(reached) and bounds.signs.is_nonnegative(length):
        empty = isl.Set(model.space.text(f": {model.space.affine(length, {})} = 0"))
        reached = reached.union(empty)
    return model.sizes.subtract(reached)


def _gathered(gather: Reference, bounds: Bounds) -> Section:
    """Return the whole array that `gather` may reach anywhere."""
    whole = whole_length(gather.name, bounds.model)
    if whole is None:
        assert isinstance(gather.access, Access)
        index = next(
            print_expr(index)
            for index, poly in zip(gather.access.indices, gather.subscripts, strict=True)
            if poly.names & gather.unknown
        )
        raise AnnotuneError.of(GATHER_EXTENT.at(gather.span, array=gather.name, subscript=index))
    return Section(ZERO, whole)


def whole_length(name: str, model: Model) -> Poly | None:
    """Return the number of elements that C declares or the annotation states; else None."""
    dimensions = len(model.references[name][0].subscripts)
    declared = declared_extents(model.arrays.get(name), dimensions)
    known = [extent for extent in declared if extent is not None]
    if len(known) == len(declared):
        return product(known)
    stated = [from_expr(extent) for extent in stated_extents(name, model.region)]
    polys = [poly for poly in stated if poly is not None]
    return product(polys) if polys and len(polys) == len(stated) else None


def stated_extents(name: str, region: Region) -> tuple[Expr, ...]:
    """Return the extents of an array that ``def assume`` gives, as expressions."""
    texts = region.spec.assumptions.extents.get(name, ())
    # One statement of the text form holds the expression; there it is C.
    values = (parse_nest(f"length = {text}\n").assigns()[0].value for text in texts)
    return tuple(fold(value) for value in values)


def _declaration(
    name: str, found: Sequence[tuple[Extreme, Extreme]], bounds: Bounds
) -> Section | None:
    """Return the whole array as a section, None when an access may leave it."""
    whole = whole_length(name, bounds.model)
    if whole is None:
        return None
    room = {low.address for low, _ in found} | {whole - ONE - high.address for _, high in found}
    inside = all(bounds.signs.is_nonnegative(one) for one in room)
    return Section(ZERO, whole) if inside else None


def _bound(polys: Sequence[Poly], bounds: Bounds, reference: Reference) -> Poly:
    """Return the poly that is proven to be the greatest."""
    for one in polys:
        if all(bounds.signs.is_nonnegative(one - other) for other in polys):
            return one
    for one in polys:
        if bounds.are_nonnegative(one - other for other in polys):
            return one
    raise Unbounded(reference, polys[0])


def shape(name: str, found: Section, bounds: Bounds) -> Shape:
    """Return the shape of the array `name`, with the names of inner dimensions first."""
    extents = bounds.model.layouts[name].extents
    order: dict[str, None] = {}
    for extent in reversed(extents):
        if extent is not None:
            order.update(dict.fromkeys(sorted(extent.names)))
    for loop in (c for s in bounds.model.statements for c in reversed(s.loops)):
        order.update(dict.fromkeys(n for p in loop.upper for n in sorted(p.names)))
    return Shape(
        name,
        tuple(None if one is None else to_expr(one, order, bounds.rounded) for one in extents),
        to_expr(found.lowest, order, bounds.rounded),
        to_expr(found.length, order, bounds.rounded),
    )
