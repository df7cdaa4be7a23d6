"""Which polynomials over sizes are never negative, for all sizes of a model."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from annotune.analysis.model import Model
from annotune.analysis.poly import ONE, Monomial, Poly, variable


@dataclass(frozen=True, slots=True)
class Signs:
    """Names known to be at least 1, and products of other names that are.

    A product of its own is the trip count of a collapsed loop, ``j < lx*ly``.
    """

    model: Model
    positive: frozenset[str]
    products: tuple[Monomial, ...]

    @classmethod
    def of(cls, model: Model) -> Signs:
        """Return what the context of `model` says about its sizes."""
        # An inner dimension that holds its indices has an element, a loop that runs a trip.
        polys = [p for s in model.statements for loop in s.loops for p in loop.upper]
        for layout in model.layouts.values():
            if layout.proven:
                polys += [extent for extent in layout.extents[1:] if extent is not None]
        names = {name for poly in polys for name in poly.names}
        positive = {name for name in names if _is_positive((name,), model)}
        while True:
            more = {name for poly in polys for name in _last_factor(poly, positive, model)}
            if more <= positive:
                break
            positive |= more
        products = {
            poly.terms[0][0]
            for poly in polys
            if len(poly.terms) == 1 and not poly.names <= positive
        }
        own = sorted(monomial for monomial in products if _is_positive(monomial, model))
        return cls(model, frozenset(positive), tuple(own))

    def is_nonnegative(self, poly: Poly) -> bool:
        """Return whether `poly` is proven to be at least 0."""
        known = poly.at(self.model.space.values)
        for factors in self.products:
            known = _with_name(known, factors)
        if not known.names <= self.positive | {"*".join(factors) for factors in self.products}:
            return False
        # n = 1 + m with m >= 0: then a sum without negative terms is never negative.
        shifted = known.substitute({name: variable(name) + ONE for name in known.names})
        return all(factor >= 0 for _, factor in shifted.terms)


def _with_name(poly: Poly, factors: Monomial) -> Poly:
    """Return `poly` with the product of `factors` under a name of its own."""
    quotient, remainder = poly.divide(Poly.of({factors: 1}))
    return quotient * variable("*".join(factors)) + remainder


def _last_factor(poly: Poly, positive: set[str], model: Model) -> frozenset[str]:
    """Return the one name left when a positive product has positive factors otherwise."""
    if len(poly.terms) != 1 or poly.terms[0][1] != 1:
        return frozenset()
    monomial = poly.terms[0][0]
    left = [name for name in monomial if name not in positive]
    if len(left) == 1 and _is_positive(monomial, model):
        return frozenset(left)
    return frozenset()


def _is_positive(monomial: Monomial, model: Model) -> bool:
    """Return whether the sizes of the context make a product at least 1."""
    poly = Poly.of({monomial: 1}).at(model.space.values)
    if poly.constant is not None:
        return poly.constant >= 1
    text = model.space.text(f": {model.space.affine(poly, {})} >= 1")
    return bool(model.sizes.is_subset(isl.Set(text)))
