"""The extreme addresses of accesses as polynomials over sizes, and the signs of polynomials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from annotune.analysis.conditions import ConditionReader, rooms
from annotune.analysis.delinearise import Demand, Demands, demands_on, negative
from annotune.analysis.domains import NotLinear, access_map, tuple_text
from annotune.analysis.model import Model
from annotune.analysis.statements import (
    Counted,
    DataReference,
    NestStatement,
    moving_parts,
    named_sizes,
)
from annotune.ir.expr import Binary, Expr, Int, Var, accesses, variables
from annotune.ir.poly import ONE, ZERO, Monomial, Poly, integer, to_expr, variable


@dataclass(frozen=True, slots=True)
class Extreme:
    """A bound of an address; `touched` are the sizes at which an instance is proven to touch it."""

    address: Poly
    touched: isl.Set


@dataclass(frozen=True)
class Bounds:
    """Finds the extreme addresses of accesses for the sizes of a model.

    `demands` gets the conditions on sizes without which there is no answer for all sizes: the
    model must be made anew with them as facts. `rounded` has the expressions behind names that
    stand for a rounded division, which no polynomial can express; `found` what has been asked
    before.
    """

    model: Model
    signs: Signs
    written: frozenset[str]
    demands: Demands
    rounded: dict[str, Expr] = field(default_factory=dict)
    found: dict[object, tuple[Extreme, Extreme] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> Bounds:
        """Return the bounds of `model`."""
        named = named_sizes(model.statements)
        demands = demands_on(model.region, named, model.space, model.sizes, model.values)
        demands.is_open, demands.found = model.all_sizes, list(model.demands)
        return cls(model, Signs.of(model), model.region.nest.written_scalars(), demands, named)

    def are_nonnegative(self, polys: Iterable[Poly]) -> bool:
        """Return whether no one of `polys` is ever negative, if need be by demands on the sizes."""
        trial = self.demands.copy()
        for poly in polys:
            wrong = negative(poly, self.model.space)
            if not self.signs.is_nonnegative(poly) and (
                wrong is None or not trial.exclude(wrong, poly.names)
            ):
                return False
        self.demands.found = trial.found
        return True

    def in_c(self, name: str) -> Callable[[Poly], Expr]:
        """Return what writes a polynomial over the sizes of the array `name` as C.

        Inner dimensions come first in a product, then what loops end at.
        """
        order: dict[str, None] = {}
        for extent in reversed(self.model.layouts[name].extents):
            if extent is not None:
                order.update(dict.fromkeys(sorted(extent.names)))
        for loop in (c for s in self.model.statements for c in reversed(s.loops)):
            order.update(dict.fromkeys(n for p in loop.upper for n in sorted(p.names)))
        return lambda poly: to_expr(poly, order, self.rounded)

    def rounded_expr(self, name: str) -> Expr:
        """Return the rounded division that `name` stands for, else the variable of that name."""
        return self.rounded.get(name, Var(name))

    def extremes(self, reference: DataReference, address: Poly) -> tuple[Extreme, Extreme] | None:
        """Return bounds of `address` over the runs of `reference`, None where none is proven."""
        statement = self.model.statement(reference.statement)
        loops = statement.loops[-1].position if statement.loops else ()
        key = (loops, reference.conditions, address)
        if key not in self.found:
            self.found[key] = self._extremes(statement, reference, address)
        return self.found[key]

    def _extremes(
        self, statement: NestStatement, reference: DataReference, address: Poly
    ) -> tuple[Extreme, Extreme] | None:
        ranges = self._ranges(statement, reference)
        if ranges is None:
            return None
        low = self._corner(reference, -address, ranges)
        high = self._corner(reference, address, ranges)
        if low is None or high is None:
            return None
        return Extreme(-low.address, low.touched), high

    def counted(self, reference: DataReference, address: Poly) -> tuple[Extreme, Extreme] | None:
        """Return the extremes at the known sizes of the model; None when nothing is touched."""
        statement = self.model.statement(reference.statement)
        instances = self.model.instances(reference)
        touched = access_map(statement, (address,), self.model.space, instances).range()
        if touched.is_empty():
            return None
        low, high = (
            Extreme(integer(int(value.to_python())), self.model.sizes)
            for value in (touched.dim_min_val(0), touched.dim_max_val(0))
        )
        return low, high

    def _corner(
        self, reference: DataReference, address: Poly, ranges: dict[str, tuple[Poly, Poly]]
    ) -> Extreme | None:
        """Return an upper bound of `address`, None when none is proven."""
        statement = self.model.statement(reference.statement)
        chosen: dict[str, Poly] = {}
        if not address.names.isdisjoint(moving_parts(statement.parts)):
            return None
        for loop in reversed(statement.loops):
            split = address.linear_in((loop.var,))
            if split is None:
                return None
            factor = split[0].get(loop.var, ZERO)
            first, last = ranges[loop.var]
            if factor.is_zero or self.signs.is_nonnegative(-factor):
                last = first
            elif not self.are_nonnegative([factor]):
                if not self.are_nonnegative([-factor]):
                    return None
                last = first
            chosen[loop.var] = last
            address = factor * last + split[1]
        return Extreme(address, self._made(reference, statement, chosen))

    def _made(
        self, reference: DataReference, statement: NestStatement, chosen: dict[str, Poly]
    ) -> isl.Set:
        """Return the sizes at which the reference is made with these values of its loops.

        Where memory or a switch decides, it counts as made.
        """
        sizes = self.model.sizes
        if not reference.conditions and _is_box(statement):
            return sizes
        values: dict[str, Poly] = {}
        for loop in statement.loops:
            values[loop.var] = chosen[loop.var].substitute(values)
        space = self.model.space
        try:
            at = [
                f"i{depth} = {space.affine(values[loop.var], {})}"
                for depth, loop in enumerate(statement.loops)
            ]
        except NotLinear:
            return isl.Set.empty(sizes.get_space())
        point = isl.Set(space.text(f"{tuple_text(statement)} : {' and '.join(at) or 'true'}"))
        return point.intersect(self.switched_on(reference, statement)).params()

    def switched_on(
        self, reference: DataReference, statement: NestStatement, is_sure: bool = False
    ) -> isl.Set:
        """Return the runs of a reference with all its switches on, or those that are sure then."""
        model, parts = self.model, reference.tests
        decided = [one for one in parts if not self.is_switch(one)]
        if len(decided) == len(parts) and not is_sure:
            return model.instances(reference)
        made = ConditionReader(model.region, statement, model.space, is_strict=False)
        runs = model.iterations[statement.number]
        for condition in decided:
            truth = made.truth(condition)
            runs = runs.intersect(truth.surely if is_sure else truth.maybe)
        return runs

    def hangs_on_memory(self, reference: DataReference) -> bool:
        """Return whether more than loops, sizes and switches decides when `reference` is made."""
        model = self.model
        statement = model.statement(reference.statement)
        made = ConditionReader(model.region, statement, model.space, is_strict=False)
        decided = (c for c in reference.tests if not self.is_switch(c))
        return not all(made.truth(condition).is_exact for condition in decided)

    def is_certain(self, reference: DataReference) -> bool:
        """Return whether loops and sizes with a value alone decide when `reference` is made."""
        truth = self.model.truths.get(reference)
        is_exact = truth is None or truth.is_exact
        return is_exact and not any(map(self.is_switch, reference.tests))

    def is_switch(self, condition: Expr) -> bool:
        """Return whether a scalar without a value turns something on for the whole region."""
        names = variables(condition)
        changing = self.model.region.nest.iterators() | self.written
        is_fixed = not accesses(condition) and names.isdisjoint(changing)
        return is_fixed and not names <= self.model.values.keys()

    def _ranges(
        self, statement: NestStatement, reference: DataReference
    ) -> dict[str, tuple[Poly, Poly]] | None:
        """Return the first and last value of each loop, given that the inner loops run."""
        lower = {loop.var: list(loop.lower) for loop in statement.loops}
        upper = {loop.var: list(loop.upper) for loop in statement.loops}
        for loop in statement.loops:
            for begin in loop.lower:
                for end in loop.upper:
                    _tighten(end - begin - ONE, statement, lower, upper)
        for room in rooms(reference.conditions, self.model.region, self.written):
            _tighten(room, statement, lower, upper)
        moving = moving_parts(statement.parts)
        ranges: dict[str, tuple[Poly, Poly]] = {}
        for loop in statement.loops:
            first = self._largest(lower[loop.var])
            end = -self._largest([-bound for bound in upper[loop.var]])
            last = self._last(loop, end, statement)
            if last is None or not moving.isdisjoint(first.names | last.names):
                return None
            ranges[loop.var] = first, last
        return ranges

    def _last(self, loop: Counted, upper: Poly, statement: NestStatement) -> Poly | None:
        step = loop.loop.step
        if step == 1:
            return upper - ONE
        if len(loop.lower) > 1:
            return None
        # Counted from where the loop starts, although no value there may be of interest.
        span = (upper - ONE - loop.lower[0]).at(self.model.space.values)
        if span.constant is not None:
            return loop.lower[0] + integer(span.constant // step * step)
        if not span.names.isdisjoint(statement.moving):
            return None
        name = f"({span})/{step}"
        whole = to_expr(span, opaque=self.rounded)
        self.rounded[name] = Binary("/", whole, Int(step))
        return loop.lower[0] + integer(step) * variable(name)

    def _largest(self, polys: Sequence[Poly]) -> Poly:
        """Return the one that is proven to be the greatest, or seems so at the known sizes."""
        best = polys[0]
        for poly in polys[1:]:
            more = (poly - best).at(self.model.values).constant
            is_less = self.signs.is_nonnegative(best - poly)
            if self.signs.is_nonnegative(poly - best) or (not is_less and (more or 0) > 0):
                best = poly
        return best


def _is_box(statement: NestStatement) -> bool:
    """Return whether no loop of the statement depends on another, or has two bounds."""
    return all(
        len(loop.lower) == len(loop.upper) == 1
        and (loop.lower[0].names | loop.upper[0].names).isdisjoint(statement.moving)
        for loop in statement.loops
    )


def _tighten(
    room: Poly, statement: NestStatement, lower: dict[str, list[Poly]], upper: dict[str, list[Poly]]
) -> None:
    """Add what ``room >= 0``, an inner loop that runs or a condition, says about one loop."""
    split = room.linear_in(statement.moving)
    if split is None or len(split[0]) != 1:
        return
    ((var, factor),) = split[0].items()
    if var not in lower:
        return
    if factor.constant == -1:
        upper[var].append(split[1] + ONE)
    elif factor.constant == 1:
        lower[var].append(-split[1])


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
