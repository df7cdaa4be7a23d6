"""The part of each array that a region touches, as expressions over its sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl

from annotune.analysis.facts import Shape
from annotune.analysis.model import Model
from annotune.analysis.poly import ONE, ZERO, Monomial, Poly, integer, product, to_expr, variable
from annotune.analysis.shapes import declared_extents
from annotune.analysis.statements import Counted, Reference, Statement
from annotune.ir.expr import Binary, Expr, Int


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


@dataclass(frozen=True)
class Bounds:
    """Finds extreme values of subscripts for the sizes of a model.

    `positive` are the names known to be at least 1, and `products` the products of other
    names that are, such as the trip count of a collapsed loop. `rounded` has the expressions behind
    names that stand for a rounded division, which no polynomial can express.
    """

    model: Model
    positive: frozenset[str]
    products: tuple[Monomial, ...] = ()
    rounded: dict[str, Expr] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> Bounds:
        """Return the bounds of `model`, whose context says which sizes are positive."""
        # An inner dimension that holds its indices has an element, a loop that runs a trip.
        products = [loop.upper for s in model.statements for loop in s.loops]
        products += [
            tuple(extent for extent in layout.extents[1:] if extent is not None)
            for layout in model.layouts.values()
            if layout.proven
        ]
        polys = [poly for group in products for poly in group]
        names = {name for poly in polys for name in poly.names}
        positive = {name for name in names if _is_positive_product((name,), model)}
        while True:
            more = {name for poly in polys for name in _last_factor(poly, positive, model)}
            if more <= positive:
                break
            positive |= more
        collapsed = {
            poly.terms[0][0]
            for poly in polys
            if len(poly.terms) == 1 and not poly.names <= positive
        }
        positive_products = sorted(m for m in collapsed if _is_positive_product(m, model))
        return cls(model, frozenset(positive), tuple(positive_products))

    def is_nonnegative(self, poly: Poly) -> bool:
        """Return whether `poly` is proven to be at least 0 for all sizes of the model."""
        known = poly.at(self.model.space.values)
        for factors in self.products:
            known = _with_name(known, factors)
        if not known.names <= self.positive | {"*".join(factors) for factors in self.products}:
            return False
        # n = 1 + m with m >= 0: then a sum without negative terms is never negative.
        shifted = known.substitute({name: variable(name) + ONE for name in known.names})
        return all(factor >= 0 for _, factor in shifted.terms)

    def extremes(self, statement: Statement, poly: Poly) -> tuple[Poly, Poly] | None:
        """Return the least and greatest value of `poly` over the statement's instances."""
        low = high = poly
        ranges = self._ranges(statement)
        for loop in reversed(statement.loops):
            first, last = ranges[loop.var]
            down = self._replace(low, loop.var, first, last)
            up = self._replace(high, loop.var, last, first)
            if down is None or up is None:
                return None
            low, high = down, up
        return low, high

    def _replace(self, poly: Poly, var: str, if_rising: Poly, if_falling: Poly) -> Poly | None:
        split = poly.linear_in((var,))
        if split is None:
            return None
        factor = split[0].get(var, ZERO)
        if factor.is_zero:
            return poly
        if self.is_nonnegative(factor):
            return factor * if_rising + split[1]
        return factor * if_falling + split[1] if self.is_nonnegative(-factor) else None

    def _ranges(self, statement: Statement) -> dict[str, tuple[Poly, Poly]]:
        """Return the first and last value of each loop, given that the inner loops run."""
        lower = {loop.var: list(loop.lower) for loop in statement.loops}
        upper = {loop.var: list(loop.upper) for loop in statement.loops}
        for loop in statement.loops:
            for begin in loop.lower:
                for end in loop.upper:
                    _tighten(end - begin - ONE, statement, lower, upper)
        return {
            loop.var: self._first_and_last(
                loop, self._largest(lower[loop.var]), self._smallest(upper[loop.var])
            )
            for loop in statement.loops
        }

    def _first_and_last(self, loop: Counted, lower: Poly, upper: Poly) -> tuple[Poly, Poly]:
        step = loop.loop.step
        if step == 1:
            return lower, upper - ONE
        span = (upper - ONE - lower).at(self.model.space.values)
        if span.constant is not None:
            return lower, lower + integer(span.constant // step * step)
        name = f"({span})/{step}"
        self.rounded[name] = Binary("/", to_expr(span), Int(step))
        return lower, lower + integer(step) * variable(name)

    def _largest(self, polys: Sequence[Poly]) -> Poly:
        best = polys[0]
        for poly in polys[1:]:
            if self.is_nonnegative(poly - best):
                best = poly
        return best

    def _smallest(self, polys: Sequence[Poly]) -> Poly:
        return -self._largest([-poly for poly in polys])


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


def _with_name(poly: Poly, factors: Monomial) -> Poly:
    """Return `poly` with the product of `factors` under a name of its own."""
    divisor = Poly.of({factors: 1})
    quotient, remainder = poly.divide(divisor)
    return quotient * variable("*".join(factors)) + remainder


def _last_factor(poly: Poly, positive: set[str], model: Model) -> frozenset[str]:
    """Return the one name left when a positive product has positive factors otherwise."""
    if len(poly.terms) != 1 or poly.terms[0][1] != 1:
        return frozenset()
    monomial = poly.terms[0][0]
    left = [name for name in monomial if name not in positive]
    if len(left) == 1 and _is_positive_product(monomial, model):
        return frozenset(left)
    return frozenset()


def _is_positive_product(monomial: Monomial, model: Model) -> bool:
    """Return whether the sizes of the context make a product at least 1."""
    poly = Poly.of({monomial: 1}).at(model.space.values)
    if poly.constant is not None:
        return poly.constant >= 1
    text = model.space.text(f": {model.space.affine(poly, {})} >= 1")
    return bool(model.sizes.is_subset(isl.Set(text)))


def section(name: str, bounds: Bounds) -> Section:
    """Return the section of the array `name` that the region touches.

    A declaration with all its extents is taken whole where no access is seen to leave it.

    Raises:
        Unbounded: A subscript's extremes, or which of two is the greater, is not proven.
    """
    model = bounds.model
    references = model.references[name]
    flat = model.layouts[name].flat
    if flat is None:
        raise Unbounded(references[0], ZERO)
    lows: dict[Poly, None] = {}
    highs: dict[Poly, None] = {}
    for reference, address in zip(references, flat, strict=True):
        found = bounds.extremes(model.statement(reference.statement), address)
        if found is None:
            raise Unbounded(reference, address)
        lows.setdefault(found[0])
        highs.setdefault(found[1])
    declared = declared_extents(model.region.arrays.get(name), len(references[0].subscripts))
    known = [extent for extent in declared if extent is not None]
    if len(known) == len(declared):
        whole = product(known)
        inside = [*lows, *(whole - ONE - high for high in highs)]
        if all(bounds.is_nonnegative(one) for one in inside):
            return Section(ZERO, whole)
    lowest = _bound([-low for low in lows], bounds, references[0])
    highest = _bound(list(highs), bounds, references[0])
    return Section(-lowest, highest + lowest + ONE)


def _bound(polys: Sequence[Poly], bounds: Bounds, reference: Reference) -> Poly:
    """Return the poly that is proven to be the greatest."""
    for one in polys:
        if all(bounds.is_nonnegative(one - other) for other in polys):
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
