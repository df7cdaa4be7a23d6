"""Which polynomials over sizes are never negative, for all sizes of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from annotune.analysis.demands import Demand, negative
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
        if self._has_no_negative_term(poly, {}):
            return True
        demands = self.model.demands
        if demands and self._has_no_negative_term(poly, _in_slacks(demands)):
            return True
        wrong = negative(poly, self.model.space) if demands else None
        return wrong is not None and bool(self.model.sizes.intersect(wrong).is_empty())

    def _has_no_negative_term(self, poly: Poly, slacks: Mapping[str, Poly]) -> bool:
        """Return whether sizes of at least 1 and `slacks` of at least 0 add up to no less."""
        known = poly.substitute(slacks).at(self.model.space.values)
        for factors in self.products:
            known = _with_name(known, factors)
        least_one = self.positive | {"*".join(factors) for factors in self.products}
        if not known.names <= least_one | {_slack(name) for name in slacks}:
            return False
        # n = 1 + m with m >= 0: then a sum without negative terms is never negative.
        shifted = known.substitute({n: variable(n) + ONE for n in known.names & least_one})
        return all(factor >= 0 for _, factor in shifted.terms)


def _in_slacks(demands: Sequence[Demand]) -> dict[str, Poly]:
    """Return sizes as what `demands` say: with ``ldc - n >= 0``, ldc is n and a slack."""
    found: dict[str, Poly] = {}
    for demand in demands:
        terms = () if demand.differs else demand.poly.terms
        for name in (m[0] for m, factor in terms if len(m) == 1 and factor == 1):
            rest = variable(name) - demand.poly
            used = frozenset(found).union(*(one.names for one in found.values()))
            if name not in rest.names | used and rest.names.isdisjoint(found):
                found[name] = rest + variable(_slack(name))
                break
    return found


def _slack(name: str) -> str:
    return f"{name} beyond its least"


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
