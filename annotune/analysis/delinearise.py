"""Delinearisation: the dimensions of an array recovered from flat subscripts.

The strides of an array are the coefficients of the loop variables in all its subscripts
together. Where each divides the next, dividing a subscript by them, the largest first,
gives one index per dimension. The recovery is a guess until every inner index is proven
to stay in its dimension; then equal elements have equal indices, and the other way round.

Where the sizes decide that, such as ``ldc >= n``, emitted code tests it at run time.

Source:
    After Grosser, Ramanujam, Pouchet, Sadayappan and Pop, "Optimistic Delinearization of
    Parametrically Sized Arrays", ICS 2015, doi:10.1145/2751205.2751248.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import islpy as isl

from annotune.analysis.domains import IslSpace, NotLinear, outside, poly_of, runs_inside
from annotune.analysis.statements import DataReference, NestStatement, may_be_computed
from annotune.ir.c_types import is_integer_type
from annotune.ir.expr import Binary, Expr, variables
from annotune.ir.poly import ONE, ZERO, Poly, from_expr, integer, to_expr
from annotune.ir.region import Array, Region

# Tests before a nest, and terms in one of them: more would be no condition that a user reads.
MOST_DEMANDS = 12
_MOST_TERMS = 4

_PARAMETER = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Demand:
    """A condition on sizes: `poly` is never negative, or with `differs` never 0."""

    poly: Poly
    differs: bool = False

    def fact(self, space: IslSpace) -> str:
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

    space: IslSpace
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
    space: IslSpace,
    sizes: isl.Set,
    known: Mapping[str, int],
) -> Demands:
    """Return empty demands on the sizes of `region`; `named` are those without a name in C."""
    iterators = region.nest.iterators()
    plain = {
        scalar.name
        for scalar in region.scalars.values()
        if is_integer_type(scalar.type) and not scalar.is_local
    }
    plain -= iterators | region.nest.written_scalars()
    parts = {
        name
        for name, expr in named.items()
        if may_be_computed(expr, ("min", "max").__contains__) and variables(expr) <= plain
    }
    return Demands(space, sizes, known, frozenset(plain | parts))


def fulfilled(demands: Sequence[Demand], space: IslSpace) -> isl.Set:
    """Return the sizes at which all `demands`, found over the same sizes, hold."""
    facts = [demand.fact(space) for demand in demands]
    return isl.Set(space.text(f": {' and '.join(facts) or 'true'}"))


def negative(poly: Poly, space: IslSpace) -> isl.Set | None:
    """Return the sizes at which `poly` is negative, None when it has an iterator in it."""
    try:
        return isl.Set(space.text(f": {space.affine(poly, {})} < 0"))
    except NotLinear:
        return None


def needed(demands: Sequence[Demand], space: IslSpace, sizes: isl.Set) -> tuple[Demand, ...]:
    """Return `demands` without those that follow from the others in the context `sizes`."""
    kept = list(dict.fromkeys(demands))
    for one in reversed(tuple(kept)):
        others = [other for other in kept if other != one]
        if sizes.intersect(fulfilled(others, space)).is_subset(fulfilled([one], space)):
            kept = others
    return tuple(kept)


def _opposites(piece: isl.BasicSet, context: isl.Set, space: IslSpace) -> Iterator[Demand]:
    """Yield for each constraint of `piece` the condition that does not let it hold."""
    for constraint in piece.get_constraints():
        poly = poly_of(constraint.get_aff())
        if not constraint.is_equality():
            yield Demand(-poly - ONE)
            continue
        # One side alone where the context knows no other: n >= 2 rather than n != 1.
        sides = [Demand(poly - ONE), Demand(-poly - ONE)]
        possible = [s for s in sides if not context.intersect(fulfilled([s], space)).is_empty()]
        yield from possible if len(possible) == 1 else [Demand(poly, differs=True)]


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """One array as dimensions: extents outermost first, and each reference's indices.

    `flat` has each reference's address in elements from the array's start, None when the
    declaration does not say how rows follow each other. `proven` holds when all inner
    indices stay in their dimensions; a layout with one dimension needs no proof. `offset` is
    the address of the element whose indices are all 0: 1 where rows are counted from 1.
    """

    extents: tuple[Poly | None, ...]
    rows: tuple[tuple[Poly, ...], ...]
    flat: tuple[Poly, ...] | None
    proven: bool
    offset: Poly = ZERO


def strides(polys: Iterable[Poly], iterators: frozenset[str]) -> tuple[Poly, ...] | None:
    """Return the strides of the dimensions, smallest first, from 1; None when there are none.

    None also when a stride does not divide the next one: then nothing is recovered.
    """
    found: dict[Poly, None] = {}
    for poly in polys:
        split = poly.linear_in(iterators)
        if split is None:
            return None
        for factor in split[0].values():
            found.setdefault(factor.primitive())
    # A product before a sum of the same degree: i*n + i has the stride n + 1, which is n and
    # 1 together when another subscript shows the stride n.
    ordered = sorted(found, key=lambda p: (len(p.terms) > 1, len(p.leading[0]), str(p)))
    chain = [ONE]
    for factor in ordered:
        if _is_combination(factor, chain):
            continue
        if not factor.divide(chain[-1])[1].is_zero:
            return None
        chain.append(factor)
    return tuple(chain)


def _is_combination(factor: Poly, chain: Sequence[Poly]) -> bool:
    """Return whether `factor` is an integer combination of the strides in `chain`."""
    rest = factor
    for stride in reversed(chain[1:]):
        quotient, remainder = rest.divide(stride)
        if quotient.constant is not None:
            rest = remainder
    return rest.constant is not None


def split(address: Poly, chain: Sequence[Poly]) -> tuple[Poly, ...]:
    """Return the indices of `address` for the strides `chain`, outermost first."""
    row = []
    for stride in reversed(chain[1:]):
        quotient, address = address.divide(stride)
        row.append(quotient)
    return (*row, address)


def flat_addresses(
    references: Sequence[DataReference], extents: Sequence[Poly | None]
) -> tuple[Poly, ...] | None:
    """Return the address of each reference, None when an inner extent is not known."""
    addresses = []
    for reference in references:
        address, *inner = reference.subscripts
        for index, extent in zip(inner, extents[1:], strict=False):
            if extent is None:
                return None
            address = address * extent + index
        addresses.append(address)
    return tuple(addresses)


def declared_extents(array: Array | None, dimensions: int) -> tuple[Poly | None, ...]:
    """Return the extents that C states, padded with None to `dimensions`."""
    known = () if array is None else array.extents
    polys = [None if extent is None else from_expr(extent) for extent in known]
    return (*polys, *[None] * (dimensions - len(polys)))[:dimensions]


def recover(
    array: Array | None,
    references: Sequence[DataReference],
    statements: Mapping[int, NestStatement],
    instances: Sequence[isl.Set],
    space: IslSpace,
    demands: Demands,
) -> ArrayLayout:
    """Return the layout of the array that all `references` name, proven or flat.

    `instances` are the runs of each reference. An unknown index is taken to stay in a
    dimension that C declares, and in no other. Where a proof for an array that is written
    lacks a condition on sizes, `demands` gets it.

    Raises:
        NotLinear: The address is not linear in the loops without values for more sizes, and
            no dimensions could be proven; raised only for an array that is written.
    """
    dimensions = len(references[0].subscripts)
    if dimensions == 0:
        return ArrayLayout((), ((),) * len(references), (ZERO,) * len(references), True)
    moving = frozenset(v for r in references for v in statements[r.statement].moving)
    guess, is_declared = _guess(references, declared_extents(array, dimensions), moving)
    extents, rows, flat = guess.extents, guess.rows, guess.flat
    users = [statements[r.statement] for r in references]
    closed = _Proof(users, references, instances, space, is_declared)
    # A dimension that C declares starts where C says; a recovered one may start anywhere.
    first = (ZERO,) * len(extents)
    starts = (first,) if is_declared else tuple(dict.fromkeys((first, *closed.starts(rows))))
    for start in starts:
        proven = closed.inside(_moved(rows, start), extents)
        if proven is not None:
            return ArrayLayout(extents, proven, flat, True, _offset(start, extents))
    best: tuple[Demands, ArrayLayout] | None = None
    for start in starts if any(reference.is_write for reference in references) else ():
        trial = demands.copy()
        proven = replace(closed, demands=trial).inside(_moved(rows, start), extents)
        # Rows that count from 1 need `ldc >= n` from there, and `ldc > n` from 0.
        if proven is not None and (best is None or best[0].is_stricter(trial)):
            best = trial, ArrayLayout(extents, proven, flat, True, _offset(start, extents))
    if best is not None:
        demands.found = best[0].found
        return best[1]
    return _flat_layout(references, statements, flat, space)


def _guess(
    references: Sequence[DataReference], declared: tuple[Poly | None, ...], moving: frozenset[str]
) -> tuple[ArrayLayout, bool]:
    """Return a layout to be proven, and whether its dimensions are the `declared` ones."""
    flat = flat_addresses(references, declared)
    rows = tuple(r.subscripts for r in references)
    as_declared = ArrayLayout(declared, rows, flat, False)
    if flat is None or not any(_multiplies(poly, moving) for row in rows for poly in row):
        return as_declared, True
    chain = strides(flat, moving)
    if chain is None or len(chain) == 1:
        return as_declared, True
    inner = [big.divide(small)[0] for small, big in pairwise(chain)]
    outermost = declared[0] if len(declared) == 1 + len(inner) else None
    split_rows = tuple(split(address, chain) for address in flat)
    return ArrayLayout((outermost, *reversed(inner)), split_rows, flat, False), False


def _moved(
    rows: Sequence[tuple[Poly, ...]], start: tuple[Poly, ...]
) -> tuple[tuple[Poly, ...], ...]:
    """Return `rows` with each dimension counted from its `start`."""
    return tuple(tuple(i - s for i, s in zip(row, start, strict=True)) for row in rows)


def _offset(start: tuple[Poly, ...], extents: Sequence[Poly | None]) -> Poly:
    """Return the address of the element at `start`."""
    address = start[0]
    for index, extent in zip(start[1:], extents[1:], strict=True):
        assert extent is not None
        address = address * extent + index
    return address


def _multiplies(poly: Poly, iterators: frozenset[str]) -> bool:
    """Return whether a term of `poly` multiplies a loop variable by a size."""
    return any(len(m) > 1 and not iterators.isdisjoint(m) for m, _ in poly.terms)


def _flat_layout(
    references: Sequence[DataReference],
    statements: Mapping[int, NestStatement],
    flat: tuple[Poly, ...] | None,
    space: IslSpace,
) -> ArrayLayout:
    """Return the layout in one dimension, which needs no proof where addresses are linear."""
    if flat is None:
        rows = tuple(r.subscripts for r in references)
        return ArrayLayout((None,) * len(rows[0]), rows, None, False)
    if any(reference.is_write for reference in references):
        for reference, address in zip(references, flat, strict=True):
            if reference.unknown.isdisjoint(address.names):
                space.over(address, statements[reference.statement])
    return ArrayLayout((None,), tuple((address,) for address in flat), flat, True)


@dataclass(frozen=True, slots=True)
class _Proof:
    """Proves indices inside extents; `users` has the statement of each reference.

    `assumes_unknown` lets an index that memory decides stay in its dimension unproven. With
    `demands` a proof may need a condition on sizes, which is added there.
    """

    users: Sequence[NestStatement]
    references: Sequence[DataReference]
    instances: Sequence[isl.Set]
    space: IslSpace
    assumes_unknown: bool
    demands: Demands | None = None

    def starts(self, rows: Sequence[tuple[Poly, ...]]) -> Iterator[tuple[Poly, ...]]:
        """Yield the least inner indices that a reference has, where sizes alone decide them."""
        for statement, row in zip(self.users, rows, strict=True):
            inner = [_least(index, statement) for index in row[1:]]
            known = [one for one in inner if one is not None]
            if len(known) == len(inner):
                yield (ZERO, *known)

    def inside(
        self, rows: Sequence[tuple[Poly, ...]], extents: Sequence[Poly | None]
    ) -> tuple[tuple[Poly, ...], ...] | None:
        """Return `rows`, carried over where that helps, all inner indices proven; else None."""
        done = []
        for which, row in enumerate(rows):
            carried = self._carried(which, row, extents)
            if carried is None:
                return None
            done.append(carried)
        return tuple(done)

    def _carried(
        self, which: int, row: tuple[Poly, ...], extents: Sequence[Poly | None]
    ) -> tuple[Poly, ...] | None:
        statement, unknown = self.users[which], self.references[which].unknown
        one = list(row)
        for place in range(len(one) - 1, 0, -1):
            extent = extents[place]
            if extent is None:
                return None
            if not unknown.isdisjoint(one[place].names):
                if not self.assumes_unknown:
                    return None
                continue
            carry = self.carry(which, one[place], extent)
            if carry is None:
                return None
            one[place] = one[place] - carry * extent
            one[place - 1] = one[place - 1] + carry
        known = [index for index in one if unknown.isdisjoint(index.names)]
        moving = statement.moving
        return tuple(one) if all(self.space.is_linear(k, moving) for k in known) else None

    def carry(self, which: int, value: Poly, extent: Poly) -> Poly | None:
        """Return how many rows `value` is off: 0, or ±1 for a row counted from its end."""
        statement = self.users[which]
        if runs_inside(statement, value, extent):
            return Poly()
        runs, space = self.instances[which], self.space
        wrong: dict[Poly, isl.Set] = {}
        try:
            for carry in (ZERO, -ONE, ONE):
                shifted = value - carry * extent
                wrong[carry] = outside(statement, shifted, extent, space, runs)
                if wrong[carry].is_empty():
                    return carry
        except NotLinear:
            return None
        for carry, sizes in wrong.items():
            if self.demands is not None and self.demands.exclude(sizes.params(), extent.names):
                return carry
        return None


def _least(index: Poly, statement: NestStatement) -> Poly | None:
    """Return the least value of `index` over box loops, None where loops or sizes leave it open."""
    for loop in reversed(statement.loops):
        split = index.linear_in((loop.var,))
        factor = None if split is None else split[0].get(loop.var, ZERO).constant
        if split is None or factor is None:
            return None
        at = loop.lower[0] if factor > 0 else loop.upper[0] - ONE
        index = integer(factor) * at + split[1]
    return index if statement.moving.isdisjoint(index.names) else None
