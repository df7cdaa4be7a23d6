"""The part of each array that a region touches, as expressions over its sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl

from annotune.analysis.domains import access_map, bound_facts
from annotune.analysis.facts import Shape
from annotune.analysis.model import Model
from annotune.analysis.poly import ONE, ZERO, Poly, integer, product, to_expr, variable
from annotune.analysis.shapes import declared_extents
from annotune.analysis.signs import Signs
from annotune.analysis.statements import Counted, Reference, Statement
from annotune.ir.expr import Binary, Expr, Int, Var


class Unbounded(Exception):
    """Nothing proves where the accesses to an array end, for all sizes."""

    def __init__(self, reference: Reference, poly: Poly) -> None:
        super().__init__(reference.name)
        self.reference, self.poly = reference, poly


@dataclass(frozen=True, slots=True)
class Section:
    """The elements ``lowest .. lowest + length - 1`` of one array, counted flat."""

    lowest: Poly
    length: Poly


@dataclass(frozen=True, slots=True)
class Extreme:
    """A bound of an address; `is_touched` when an instance is proven to touch it."""

    address: Poly
    is_touched: bool


@dataclass(frozen=True)
class Bounds:
    """Finds the extreme addresses of accesses for the sizes of a model.

    `rounded` has the expressions behind names that stand for a rounded division, which no
    polynomial can express.
    """

    model: Model
    signs: Signs
    rounded: dict[str, Expr] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> Bounds:
        """Return the bounds of `model`."""
        return cls(model, Signs.of(model))

    def rounded_expr(self, name: str) -> Expr:
        """Return the rounded division that `name` stands for, else the variable of that name."""
        return self.rounded.get(name, Var(name))

    def extremes(self, statement: Statement, address: Poly) -> tuple[Extreme, Extreme] | None:
        """Return bounds of `address` over the statement's instances, None where none is proven."""
        ranges = self._ranges(statement)
        if ranges is None:
            return None
        low = self._corner(statement, -address, ranges)
        high = self._corner(statement, address, ranges)
        if low is None or high is None:
            return None
        return Extreme(-low.address, low.is_touched), high

    def counted(self, statement: Statement, address: Poly) -> tuple[Extreme, Extreme]:
        """Return the extremes at the known sizes of the model, as numbers."""
        instances = self.model.domains[statement.number]
        touched = access_map(statement, (address,), self.model.space, instances).range()
        low, high = (
            Extreme(integer(int(value.to_python())), True)
            for value in (touched.dim_min_val(0), touched.dim_max_val(0))
        )
        return low, high

    def _corner(
        self, statement: Statement, address: Poly, ranges: dict[str, tuple[Poly, Poly]]
    ) -> Extreme | None:
        """Return an upper bound of `address`, None when none is proven."""
        chosen: dict[str, Poly] = {}
        for loop in reversed(statement.loops):
            split = address.linear_in((loop.var,))
            if split is None:
                return None
            factor = split[0].get(loop.var, ZERO)
            first, last = ranges[loop.var]
            if not self.signs.is_nonnegative(factor):
                if not self.signs.is_nonnegative(-factor):
                    return None
                last = first
            elif factor.is_zero:
                last = first
            chosen[loop.var] = last
            address = factor * last + split[1]
        return Extreme(address, self._is_instance(statement, chosen))

    def _is_instance(self, statement: Statement, chosen: dict[str, Poly]) -> bool:
        """Return whether the statement runs with these values of its loops, at all sizes."""
        if _is_box(statement):
            return True
        values: dict[str, Poly] = {}
        for loop in statement.loops:
            values[loop.var] = chosen[loop.var].substitute(values)
        facts = bound_facts(statement, self.model.space, values)
        inside = isl.Set(self.model.space.text(f": {' and '.join(facts)}"))
        return bool(self.model.sizes.is_subset(inside))

    def _ranges(self, statement: Statement) -> dict[str, tuple[Poly, Poly]] | None:
        """Return the first and last value of each loop, given that the inner loops run."""
        lower = {loop.var: list(loop.lower) for loop in statement.loops}
        upper = {loop.var: list(loop.upper) for loop in statement.loops}
        for loop in statement.loops:
            for begin in loop.lower:
                for end in loop.upper:
                    _tighten(end - begin - ONE, statement, lower, upper)
        ranges: dict[str, tuple[Poly, Poly]] = {}
        for loop in statement.loops:
            first = self._largest(lower[loop.var])
            end = -self._largest([-bound for bound in upper[loop.var]])
            last = self._last(loop, first, end, statement)
            if last is None:
                return None
            ranges[loop.var] = first, last
        return ranges

    def _last(self, loop: Counted, lower: Poly, upper: Poly, statement: Statement) -> Poly | None:
        step = loop.loop.step
        if step == 1:
            return upper - ONE
        span = (upper - ONE - lower).at(self.model.space.values)
        if span.constant is not None:
            return lower + integer(span.constant // step * step)
        if not span.names.isdisjoint(statement.iterators):
            return None
        name = f"({span})/{step}"
        self.rounded[name] = Binary("/", to_expr(span), Int(step))
        return lower + integer(step) * variable(name)

    def _largest(self, polys: Sequence[Poly]) -> Poly:
        """Return the one that is proven to be the greatest so far as any is."""
        best = polys[0]
        for poly in polys[1:]:
            if self.signs.is_nonnegative(poly - best):
                best = poly
        return best


def _is_box(statement: Statement) -> bool:
    """Return whether no loop of the statement depends on another, or has two bounds."""
    return all(
        len(loop.lower) == len(loop.upper) == 1
        and (loop.lower[0].names | loop.upper[0].names).isdisjoint(statement.iterators)
        for loop in statement.loops
    )


def _tighten(
    room: Poly, statement: Statement, lower: dict[str, list[Poly]], upper: dict[str, list[Poly]]
) -> None:
    """Add what ``room >= 0``, an inner loop that runs, says about one outer loop."""
    split = room.linear_in(statement.iterators)
    if split is None or len(split[0]) != 1:
        return
    ((var, factor),) = split[0].items()
    if factor.constant == -1:
        upper[var].append(split[1] + ONE)
    elif factor.constant == 1:
        lower[var].append(-split[1])


def section(name: str, bounds: Bounds) -> Section:
    """Return the section of the array `name` that the region touches.

    A declaration with all its extents is taken whole where no access is seen to leave it.
    Otherwise both ends are touched: with a mere bound, a copy could leave the array.

    Raises:
        Unbounded: An extreme, or which of two is the greater, is not proven for all sizes.
    """
    model = bounds.model
    references = model.references[name]
    flat = model.layouts[name].flat
    if flat is None:
        raise Unbounded(references[0], ZERO)
    found: list[tuple[Extreme, Extreme]] = []
    for reference, address in zip(references, flat, strict=True):
        statement = model.statement(reference.statement)
        extremes = bounds.extremes(statement, address)
        if extremes is None and not model.all_sizes:
            extremes = bounds.counted(statement, address)
        if extremes is None:
            raise Unbounded(reference, address)
        found.append(extremes)
    whole = _declaration(name, found, bounds)
    if whole is not None:
        return whole
    for place, (reference, address) in enumerate(zip(references, flat, strict=True)):
        if not all(extreme.is_touched for extreme in found[place]):
            if model.all_sizes:
                raise Unbounded(reference, address)
            found[place] = bounds.counted(model.statement(reference.statement), address)
    lows = dict.fromkeys(-low.address for low, _ in found)
    highs = dict.fromkeys(high.address for _, high in found)
    lowest = _bound(tuple(lows), bounds, references[0])
    highest = _bound(tuple(highs), bounds, references[0])
    return Section(-lowest, highest + lowest + ONE)


def _declaration(
    name: str, found: Sequence[tuple[Extreme, Extreme]], bounds: Bounds
) -> Section | None:
    """Return the declared array as a section, None when an access may leave it."""
    model = bounds.model
    dimensions = len(model.references[name][0].subscripts)
    declared = declared_extents(model.region.arrays.get(name), dimensions)
    known = [extent for extent in declared if extent is not None]
    if len(known) < len(declared):
        return None
    whole = product(known)
    room = {low.address for low, _ in found} | {whole - ONE - high.address for _, high in found}
    inside = all(bounds.signs.is_nonnegative(one) for one in room)
    return Section(ZERO, whole) if inside else None


def _bound(polys: Sequence[Poly], bounds: Bounds, reference: Reference) -> Poly:
    """Return the poly that is proven to be the greatest."""
    for one in polys:
        if all(bounds.signs.is_nonnegative(one - other) for other in polys):
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
