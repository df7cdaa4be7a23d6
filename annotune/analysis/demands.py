"""What proofs demand of the sizes, so that emitted code can test it at run time.

A proof that fails leaves the set of sizes at which it does: with ``j < n`` the rows of
``C[i*ldc + j]`` overlap where ``ldc < n``. Each piece of such a set is excluded by the
opposite of one of its constraints, ``ldc >= n``: a sufficient condition on scalars alone,
and one that holds at the sizes of the annotation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from annotune.analysis.domains import NotLinear, Space, monomial_of
from annotune.analysis.poly import ONE, Monomial, Poly, integer, to_expr
from annotune.analysis.statements import written_scalars
from annotune.ir.c_types import is_integer_type
from annotune.ir.expr import Access, Binary, Call, Expr, Int, variables, walk
from annotune.ir.region import Region

# Tests before a nest, and terms in one of them: more would be no condition that a user reads.
MOST_DEMANDS = 12
_MOST_TERMS = 4

_PARAMETER = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Demand:
    """A condition on sizes: `poly` is never negative, or with `differs` never 0."""

    poly: Poly
    differs: bool = False

    def fact(self, space: Space) -> str:
        """Return the condition in isl's syntax."""
        return f"{space.affine(self.poly, {})} {'!=' if self.differs else '>='} 0"

    def holds(self, known: Mapping[str, int]) -> bool:
        """Return whether the condition holds for sure at the `known` sizes."""
        value = self.poly.at(known).constant
        return value is not None and (value != 0 if self.differs else value >= 0)

    def expr(self, opaque: Mapping[str, Expr]) -> Expr:
        """Return the condition as C would write it: ``ldc >= n``, ``n > 1``, ``m <= 3``."""
        constant = sum(factor for monomial, factor in self.poly.terms if not monomial)
        left = Poly.of({m: f for m, f in self.poly.terms if m and f > 0})
        right = Poly.of({m: -f for m, f in self.poly.terms if m and f < 0})
        sign = "!=" if self.differs else ">="
        if left.is_zero:
            left, right, constant = right, left, -constant
            sign = "!=" if self.differs else "<="
        if sign == ">=" and constant == -1 and not right.is_zero:
            sign, constant = ">", 0
        right = right - integer(constant)
        return Binary(sign, to_expr(left, (), opaque), to_expr(right, (), opaque))


@dataclass(slots=True)
class Demands:
    """Collects the conditions on sizes that proofs need.

    `sizes` is the context that needs no such test, `known` the sizes that have a value, and
    `testable` the names that emitted code can evaluate before the nest. `found` grows. Without
    `is_open` nothing may be demanded.
    """

    space: Space
    sizes: isl.Set
    known: Mapping[str, int]
    testable: frozenset[str]
    found: list[Demand] = field(default_factory=list)
    is_open: bool = True

    def copy(self) -> Demands:
        """Return demands of the same kind that grow apart from these."""
        return replace(self, found=list(self.found))

    def exclude(self, wrong: isl.Set, prefer: frozenset[str] = frozenset()) -> bool:
        """Return whether sizes in `wrong` can be excluded, and demand that they are.

        `prefer` are the names that a condition should speak of, where there is a choice.
        """
        if not self.is_open:
            return False
        trial = self.copy()
        context = trial.context()
        # Without divisions the set only grows: more is excluded than need be.
        pieces = wrong.intersect(context).coalesce().remove_divs().gist(context)
        for piece in sorted(pieces.get_basic_sets(), key=lambda p: p.n_constraint()):
            if not trial._exclude_piece(isl.Set.from_basic_set(piece), piece, prefer):
                return False
        self.found = trial.found
        return True

    def add(self, poly: Poly) -> bool:
        """Return whether `poly` is never negative by what is known, or by a demand added here."""
        demand = Demand(poly)
        if self.context().is_subset(fulfilled([demand], self.space)):
            return True
        value = poly.at(self.known).constant
        is_possible = poly.names <= self.testable and (value is None or value >= 0)
        if not self.is_open or not is_possible or len(self.found) == MOST_DEMANDS:
            return False
        self.found.append(demand)
        return True

    def _exclude_piece(self, piece: isl.Set, basic: isl.BasicSet, prefer: frozenset[str]) -> bool:
        context = self.context()
        if piece.intersect(context).is_empty():
            return True
        if len(self.found) == MOST_DEMANDS:
            return False
        allowed = [
            one
            for one in _opposites(basic, context, self.space)
            if self._is_allowed(one)
            # A constraint with a division in it says more than its opposite here does.
            and piece.intersect(fulfilled([one], self.space)).intersect(context).is_empty()
        ]
        if not allowed:
            return False
        self.found.append(min(allowed, key=lambda one: _rank(one, prefer)))
        return True

    def context(self) -> isl.Set:
        """Return the sizes at which all that is demanded holds."""
        return self.sizes.intersect(fulfilled(self.found, self.space))

    def is_stricter(self, other: Demands) -> bool:
        """Return whether `other` holds wherever these demands do, and at more sizes."""
        mine, its = self.context(), other.context()
        return bool(mine.is_subset(its)) and not its.is_subset(mine)

    def _is_allowed(self, demand: Demand) -> bool:
        """Return whether a demand can be tested, may be read, and holds at the known sizes."""
        poly = demand.poly
        is_plain = len(poly.terms) <= _MOST_TERMS and poly.names <= self.testable
        return is_plain and demand.holds(self.known)


def _rank(demand: Demand, prefer: frozenset[str]) -> tuple[bool, int, str]:
    """Return a key by which the conditions that say more to a user come first."""
    poly = demand.poly
    return prefer.isdisjoint(poly.names), len(poly.terms), str(poly)


def demands_on(
    region: Region,
    named: Mapping[str, Expr],
    space: Space,
    sizes: isl.Set,
    known: Mapping[str, int],
) -> Demands:
    """Return empty demands on the sizes of `region`; `named` are those without a name in C."""
    iterators = {loop.var for loop in region.nest.loops()}
    plain = {
        scalar.name
        for scalar in region.scalars.values()
        if is_integer_type(scalar.type) and not scalar.is_local
    }
    plain -= iterators | written_scalars(region)
    parts = {name for name, expr in named.items() if _is_safe(expr, plain)}
    return Demands(space, sizes, known, frozenset(plain | parts))


def _is_safe(expr: Expr, plain: set[str]) -> bool:
    """Return whether C may evaluate `expr` although the nest would not run."""
    for part in walk(expr):
        match part:
            case Access():
                return False
            case Binary("/" | "%", _, divisor) if not isinstance(divisor, Int) or divisor == Int(0):
                return False
            case Call(function, _) if function not in ("min", "max"):
                return False
    return variables(expr) <= plain


def fulfilled(demands: Sequence[Demand], space: Space) -> isl.Set:
    """Return the sizes at which all `demands`, found over the same sizes, hold."""
    facts = [demand.fact(space) for demand in demands]
    return isl.Set(space.text(f": {' and '.join(facts) or 'true'}"))


def negative(poly: Poly, space: Space) -> isl.Set | None:
    """Return the sizes at which `poly` is negative, None when it has an iterator in it."""
    try:
        return isl.Set(space.text(f": {space.affine(poly, {})} < 0"))
    except NotLinear:
        return None


def needed(demands: Sequence[Demand], space: Space, sizes: isl.Set) -> tuple[Demand, ...]:
    """Return `demands` without those that follow from the others in the context `sizes`."""
    kept = list(dict.fromkeys(demands))
    for one in reversed(tuple(kept)):
        others = [other for other in kept if other != one]
        if sizes.intersect(fulfilled(others, space)).is_subset(fulfilled([one], space)):
            kept = others
    return tuple(kept)


def _opposites(piece: isl.BasicSet, context: isl.Set, space: Space) -> Iterator[Demand]:
    """Yield for each constraint of `piece` the condition that does not let it hold."""
    for constraint in piece.get_constraints():
        poly = _poly(constraint)
        if not constraint.is_equality():
            yield Demand(-poly - ONE)
            continue
        # One side alone where the context knows no other: n >= 2 rather than n != 1.
        sides = [Demand(poly - ONE), Demand(-poly - ONE)]
        possible = [s for s in sides if not context.intersect(fulfilled([s], space)).is_empty()]
        yield from possible if len(possible) == 1 else [Demand(poly, differs=True)]


def _poly(constraint: isl.Constraint) -> Poly:
    terms: dict[Monomial, int] = {(): int(constraint.get_constant_val().to_python())}
    for place in range(constraint.dim(_PARAMETER)):
        factor = int(constraint.get_coefficient_val(_PARAMETER, place).to_python())
        name = constraint.get_dim_name(_PARAMETER, place)
        assert name is not None, "parameters of a context have names"
        if factor:
            terms[monomial_of(name)] = factor
    return Poly.of(terms)
