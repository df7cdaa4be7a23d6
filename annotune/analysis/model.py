"""A region as isl sees it: domains, layouts and access maps, for all sizes or for some.

The model holds for all sizes where that can be proven, else for the given ones; what cannot be
proven says so in the user's words. Where the sizes decide, such as ``ldc >= n``, emitted code tests
it at run time.

Delinearisation: the dimensions of an array are recovered from flat subscripts. The strides of an
array are the coefficients of the loop variables in all its subscripts together. Where each divides
the next, dividing a subscript by them, the largest first, gives one index per dimension. The
recovery is a guess until every inner index is proven to stay in its dimension; then equal elements
have equal indices, and the other way round.

Source:
    After Grosser, Ramanujam, Pouchet, Sadayappan and Pop, "Optimistic Delinearization of
    Parametrically Sized Arrays", ICS 2015, doi:10.1145/2751205.2751248.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import islpy as isl

from annotune.analysis.domains import (
    ConditionReader,
    IslSpace,
    NotLinear,
    Truth,
    access_map,
    any_instance,
    bound_facts,
    context,
    domain,
    ends,
    outside,
    parsed_map,
    poly_of,
    runs_inside,
)
from annotune.analysis.messages import (
    BOUND_NOT_AFFINE,
    DECLARED_FOR_THESE_SIZES,
    EMPTY_LOOP,
    FOR_THESE_SIZES,
    MISSING_SIZE,
    NOT_AFFINE,
    UNKNOWN_EXTENT,
    listed,
)
from annotune.analysis.packed import RowStarts, is_packed, packed_rows
from annotune.analysis.statements import (
    DataReference,
    NestStatement,
    Rounded,
    end_of,
    local_arrays,
    loops_of,
    may_be_computed,
    named_sizes,
    parts_within,
    with_values,
)
from annotune.annotation import expressions as ex
from annotune.annotation.expressions import parse_expression
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.c_types import is_integer_type
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Var,
    accesses,
    print_expr,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.identity import once_for_pairs
from annotune.ir.poly import ONE, ZERO, Poly, from_expr, integer, product, to_expr, variable
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
        return f"{space.affine(self.poly)} {'!=' if self.differs else '>='} 0"

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
        """Return demands of the same kind that grow by themselves."""
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
        if may_be_computed(expr, _is_extremum) and variables(expr) <= plain
    }
    return Demands(space, sizes, known, frozenset(plain | parts))


def _is_extremum(part: Call | Cast) -> bool:
    return isinstance(part, Call) and part.function in ("min", "max")


def fulfilled(demands: Sequence[Demand], space: IslSpace) -> isl.Set:
    """Return the sizes at which all `demands`, found over the same sizes, hold."""
    return space.having(demand.fact(space) for demand in demands)


def negative(poly: Poly, space: IslSpace) -> isl.Set | None:
    """Return the sizes at which `poly` is negative, None when it has an iterator in it."""
    try:
        return space.where(poly, "< 0")
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


SizesOutside: TypeAlias = dict[tuple[tuple[tuple[int, ...], ...], Poly, Poly], isl.Set]
"""The sizes at which an index leaves an extent, by the places of the loops around it."""


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """One array as dimensions: extents outermost first, and each reference's indices.

    `flat` has each reference's address in elements from the array's start, None when the
    declaration does not say how rows follow each other. `proven` holds when all inner
    indices stay in their dimensions; a layout with one dimension needs no proof. `offset` is
    the address of the element whose indices are all 0: 1 where rows are counted from 1. Rows of
    packed storage have no one extent: `starts` says where each begins.
    """

    extents: tuple[Poly | None, ...]
    rows: tuple[tuple[Poly, ...], ...]
    flat: tuple[Poly, ...] | None
    proven: bool
    offset: Poly = ZERO
    starts: RowStarts | None = None


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
    known: SizesOutside,
) -> ArrayLayout:
    """Return the layout of the array that all `references` name, proven or flat.

    `instances` are the runs of each reference, and `known` gathers what is found out for them. An
    unknown index is taken to stay in a dimension that C declares, and in no other. Where a proof
    for an array that is written lacks a condition on sizes, `demands` gets it.

    Raises:
        NotLinear: The address is not linear in the loops without values for more sizes, and
            no dimensions could be proven; raised only for an array that is written.
    """
    dimensions = len(references[0].subscripts)
    if dimensions == 0:
        return ArrayLayout((), ((),) * len(references), (ZERO,) * len(references), True)
    if is_packed(references, statements):
        return _packed_layout(references, statements, instances, space)
    moving = frozenset(v for r in references for v in statements[r.statement].moving)
    guess, is_declared = _guess(references, declared_extents(array, dimensions), moving)
    extents, rows, flat = guess.extents, guess.rows, guess.flat
    users = [statements[r.statement] for r in references]
    closed = _Proof(users, references, instances, space, is_declared, known)
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


@dataclass(frozen=True, slots=True)
class _Runs:
    """What is proven of polynomials over the runs of each reference of an array."""

    users: Sequence[NestStatement]
    instances: Sequence[isl.Set]
    space: IslSpace

    def least(self, which: int, value: Poly) -> Poly | None:
        """Return the least value over the runs, None where that is no polynomial of sizes."""
        user, runs = self.users[which], self.instances[which]
        try:
            both = ends(access_map(user, (value,), self.space, runs).range())
        except NotLinear:
            return None
        pieces: list[isl.MultiAff] = []
        if both is not None:
            first = both[0].gist_params(runs.params()).coalesce()
            first.foreach_piece(lambda _, at: pieces.append(at))
        if len(pieces) != 1:
            return None
        aff = pieces[0].get_at(0)
        is_whole = not aff.dim(isl.dim_type.div) and aff.get_denominator_val().is_one()
        return poly_of(aff) if is_whole else None

    def is_inside(self, which: int, value: Poly, extent: Poly) -> bool:
        """Return whether ``0 <= value < extent`` is proven for all runs."""
        user, runs = self.users[which], self.instances[which]
        try:
            return bool(outside(user, value, extent, self.space, runs).is_empty())
        except NotLinear:
            return False


def _packed_layout(
    references: Sequence[DataReference],
    statements: Mapping[int, NestStatement],
    instances: Sequence[isl.Set],
    space: IslSpace,
) -> ArrayLayout:
    """Return the rows of packed storage, or what is read as addresses that nothing is known of."""
    flat = tuple(r.subscripts[0] for r in references)
    users = [statements[r.statement] for r in references]
    found = packed_rows(references, statements, _Runs(users, instances, space))
    if found is not None:
        return ArrayLayout((None, None), found[1], flat, True, ZERO, found[0])
    if any(reference.is_write for reference in references):
        raise NotLinear(next(p for r in references for p in r.subscripts), frozenset())
    return ArrayLayout((None,), tuple((address,) for address in flat), flat, False)


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

    `assumes_unknown` lets an index that memory decides stay in its dimension unproven. `known` is
    what was found out for the same runs. With
    `demands` a proof may need a condition on sizes, which is added there.
    """

    users: Sequence[NestStatement]
    references: Sequence[DataReference]
    instances: Sequence[isl.Set]
    space: IslSpace
    assumes_unknown: bool
    known: SizesOutside
    demands: Demands | None = None

    def starts(self, rows: Sequence[tuple[Poly, ...]]) -> Iterator[tuple[Poly, ...]]:
        """Yield the least inner indices that a reference has, where sizes alone decide them."""
        for statement, row in zip(self.users, rows, strict=True):
            inner = [least_value(index, statement) for index in row[1:]]
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
                if not (self.assumes_unknown or self._stays(which, one[place], extent)):
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

    def _stays(self, which: int, index: Poly, extent: Poly) -> bool:
        """Return whether an index with an unknown in it stays in its dimension at both its ends."""
        unknown = index.names & self.references[which].unknown
        parts = self.users[which].parts
        ends = [end_of(index, unknown, parts, sign) for sign in (-1, 1)]
        return all(end is not None and self.carry(which, end, extent) == ZERO for end in ends)

    def carry(self, which: int, value: Poly, extent: Poly) -> Poly | None:
        """Return how many rows `value` is off: 0, or ±1 for a row counted from its end."""
        statement = self.users[which]
        if runs_inside(statement, value, extent):
            return Poly()
        wrong: dict[Poly, isl.Set] = {}
        try:
            for carry in (ZERO, -ONE, ONE):
                wrong[carry] = self._sizes_outside(which, value - carry * extent, extent)
                if wrong[carry].is_empty():
                    return carry
        except NotLinear:
            return None
        for carry, sizes in wrong.items():
            if self.demands is not None and self.demands.exclude(sizes, extent.names):
                return carry
        return None

    def _sizes_outside(self, which: int, value: Poly, extent: Poly) -> isl.Set:
        """Return the sizes at which a run has no ``0 <= value < extent``.

        Asked once for all references that are made in all runs of the same loops.

        Raises:
            NotLinear: As `outside`.
        """
        statement, runs = self.users[which], self.instances[which]
        if self.references[which].conditions:
            return outside(statement, value, extent, self.space, runs).params()
        key = tuple(loop.position for loop in statement.loops), value, extent
        if key not in self.known:
            found = outside(statement, value, extent, self.space, runs).params()
            self.known[key] = found
        return self.known[key]


def least_value(index: Poly, statement: NestStatement) -> Poly | None:
    """Return the least value of `index` over box loops, None where loops or sizes leave it open.

    Of a loop with several bounds the first counts: no value is less.
    """
    for loop in reversed(statement.loops):
        split = index.linear_in((loop.var,))
        factor = None if split is None else split[0].get(loop.var, ZERO).constant
        if split is None or factor is None:
            return None
        at = loop.lower[0] if factor > 0 else loop.upper[0] - ONE
        index = integer(factor) * at + split[1]
    return index if statement.moving.isdisjoint(index.names) else None


@dataclass(frozen=True)
class Model:
    """The statements of a region with their instances and the elements they touch.

    `iterations` are the runs of the loops around each statement, and `truths` says of references
    that are not made in all of them where they are. `maps` have the elements that the references
    of an array touch, in its layout; read-only arrays have none, since they take part in no
    dependence. `why_sizes` is the warning that says why the model holds for the region's sizes
    only, None when it holds for all. `demands` are conditions on sizes under which alone it holds:
    the context `sizes` has them beside what needs no test of its own.
    """

    region: Region
    statements: tuple[NestStatement, ...]
    space: IslSpace
    sizes: isl.Set
    iterations: Mapping[int, isl.Set]
    truths: Mapping[DataReference, Truth]
    layouts: Mapping[str, ArrayLayout]
    maps: Mapping[DataReference, isl.Map]
    why_sizes: Diagnostic | None
    demands: tuple[Demand, ...] = ()

    @cached_property
    def values(self) -> Mapping[str, int]:
        """Return all sizes that have a value, named parts among them."""
        return known_values(self.region, self.statements)

    @cached_property
    def arrays(self) -> Mapping[str, Array]:
        """Return the region's arrays, those that it declares among them."""
        return {**self.region.arrays, **local_arrays(self.region).arrays}

    @cached_property
    def references(self) -> Mapping[str, tuple[DataReference, ...]]:
        """Return the distinct references of each array and written scalar, in text order."""
        return references_of(self.statements)

    @cached_property
    def rows(self) -> Mapping[DataReference, tuple[Poly, ...]]:
        """Return the indices of each reference in its array's layout."""
        return {
            reference: row
            for name, used in self.references.items()
            for reference, row in zip(used, self.layouts[name].rows, strict=True)
        }

    @cached_property
    def addresses(self) -> Mapping[str, Mapping[DataReference, Poly]]:
        """Return the address of each reference in its array, none where rows have no length."""
        return {
            name: dict(zip(used, self.layouts[name].flat or (), strict=False))
            for name, used in self.references.items()
        }

    @property
    def all_sizes(self) -> bool:
        return self.why_sizes is None

    def statement(self, number: int) -> NestStatement:
        """Return the statement with this number."""
        return self._by_number[number]

    @cached_property
    def _by_number(self) -> Mapping[int, NestStatement]:
        return {one.number: one for one in self.statements}

    def inside(self, loop: tuple[int, ...]) -> tuple[NestStatement, ...]:
        """Return the statements in the loop at this position in the text."""
        return tuple(one for one in self.statements if one.position[: len(loop)] == loop)

    def box(self, sides: Sequence[tuple[Poly, Poly]]) -> isl.Set:
        """Return the indices with each one from a side's first to before its second value."""
        indices = [f"a{place}" for place in range(len(sides))]
        facts = [
            f"{self.space.affine(low)} <= {index} < {self.space.affine(high)}"
            for index, (low, high) in zip(indices, sides, strict=True)
        ]
        within = self.space.having(facts, f"[{', '.join(indices)}]")
        return within.intersect_params(self.sizes)

    def surely_runs(self, number: int) -> bool:
        """Return whether a statement runs at least once, at all sizes of the model."""
        return bool(self.sizes.is_subset(self.surely(number).params()))

    def surely(self, number: int) -> isl.Set:
        """Return the runs of a statement's loops in which it runs for sure."""
        truth = self.truths.get(self.statement(number).references[-1])
        return self.iterations[number] if truth is None else truth.surely

    def instances(self, reference: DataReference) -> isl.Set:
        """Return the runs of its statement in which `reference` may be made."""
        truth = self.truths.get(reference)
        return self.iterations[reference.statement] if truth is None else truth.maybe

    @cached_property
    def written(self) -> frozenset[str]:
        """Return the scalars that the region changes."""
        return self.region.nest.written_scalars()

    def switched_on(self, reference: DataReference, is_sure: bool = False) -> isl.Set:
        """Return the runs of a reference with all its switches on, or those that are sure then."""
        if not is_sure and not any(map(self.is_switch, reference.tests)):
            return self.instances(reference)
        runs = self.iterations[reference.statement]
        for truth in self._decided(reference):
            runs = runs.intersect(truth.surely if is_sure else truth.maybe)
        return runs

    def _decided(self, reference: DataReference) -> tuple[Truth, ...]:
        """Return where each test before a reference holds that is no switch."""
        statement = self.statement(reference.statement)
        made = ConditionReader(self.region, statement, self.space, is_strict=False)
        return tuple(made.truth(test) for test in reference.tests if not self.is_switch(test))

    def hangs_on_memory(self, reference: DataReference) -> bool:
        """Return whether more than loops, sizes and switches decides when `reference` is made."""
        return not all(truth.is_exact for truth in self._decided(reference))

    def is_certain(self, reference: DataReference) -> bool:
        """Return whether loops and sizes with a value alone decide when `reference` is made."""
        truth = self.truths.get(reference)
        is_exact = truth is None or truth.is_exact
        return is_exact and not any(map(self.is_switch, reference.tests))

    def is_known(self, reference: DataReference) -> bool:
        """Return whether loops and sizes with a value decide when and what a reference touches."""
        return not reference.unknown and self.is_certain(reference)

    def is_switch(self, condition: Expr) -> bool:
        """Return whether a scalar without a value turns something on for the whole region."""
        names = variables(condition)
        changing = self.region.nest.iterators() | self.written
        is_fixed = not accesses(condition) and names.isdisjoint(changing)
        return is_fixed and not names <= self.values.keys()

    def first_element(self, name: str) -> Poly | None:
        """Return the subscript from which `whole_length` counts, None where it is not known."""
        array = self.arrays.get(name)
        return ZERO if array is None else None if array.first is None else from_expr(array.first)

    def whole_length(self, name: str) -> Poly | None:
        """Return the number of elements that C declares or the annotation states; else None."""
        if self.first_element(name) is None:
            return None
        return stated_length(
            self.region, self.arrays, name, len(self.references[name][0].subscripts)
        )


def stated_length(
    region: Region, arrays: Mapping[str, Array], name: str, dimensions: int
) -> Poly | None:
    """Return the number of elements that C or the annotation gives an array; else None."""
    declared = declared_extents(arrays.get(name), dimensions)
    known = [extent for extent in declared if extent is not None]
    if len(known) == len(declared):
        return product(known)
    texts = region.spec.assumptions.extents.get(name, ())
    stated = [from_expr(fold(_stated(parse_expression(text)))) for text in texts]
    polys = [poly for poly in stated if poly is not None]
    return product(polys) if polys and len(polys) == len(stated) else None


def _stated(node: ex.Node) -> Expr:
    """Return arithmetic of the annotation, such as `is_c_size` accepts, as an expression."""
    match node:
        case ex.Literal(int(value)):
            return Int(value)
        case ex.Name(name):
            return Var(name)
        case ex.Unary(op, operand):
            return Negate(_stated(operand)) if op == "-" else _stated(operand)
        case ex.BinaryOp(op, left, right):
            return Binary(op, _stated(left), _stated(right))
    raise AssertionError(node)


def known_values(region: Region, statements: Sequence[NestStatement]) -> dict[str, int]:
    """Return the sizes that have a value, and those that follow from them, such as n / 2."""
    return with_values(region.known_sizes, named_sizes(statements))


def build_model(
    region: Region,
    statements: tuple[NestStatement, ...],
    at_sizes: tuple[DataReference, Poly] | None = None,
    demands: tuple[Demand, ...] = (),
) -> Model:
    """Return the model for all sizes where that can be proven, else for the region's sizes.

    `at_sizes` is a reference, with its address, that leaves no choice but the region's sizes.
    All sizes are those that fulfil `demands` and what the proofs add to them.

    Raises:
        AnnotuneError: Without a value for a size nothing can be proven, or a subscript or
            bound is not affine whatever the sizes.
    """
    if at_sizes is None and not demands:
        return _plain_model(region, statements)
    return _model(region, statements, at_sizes, demands)


# The passes before the analysis ask for the same model one after the other.
@once_for_pairs(1 << 3)
def _plain_model(region: Region, statements: tuple[NestStatement, ...]) -> Model:
    return _model(region, statements, None, ())


def _model(
    region: Region,
    statements: tuple[NestStatement, ...],
    at_sizes: tuple[DataReference, Poly] | None,
    demands: tuple[Demand, ...],
) -> Model:
    known = known_values(region, statements)
    # A loop that never runs leaves nothing to measure or to tune.
    _refuse_empty_loops(statements, IslSpace(known))
    if at_sizes is not None:
        reference, address = at_sizes
        where = next(s for s in statements if s.number == reference.statement)
        reason = f"which part of '{reference.name}' is touched at other sizes is not known"
        first = Unproven(where, reference, address, reason)
    else:
        try:
            return _for_all_sizes(region, statements, known, demands)
        except Unproven as unproven:
            first = unproven
    why = first.for_sizes(statements, region)
    try:
        return _Builder(region, statements, IslSpace(known), known, ()).model(why)
    except Unproven as unproven:
        raise AnnotuneError.of(unproven.refusal(known, region)) from None


def missing_sizes(region: Region, span: Span, missing: Sequence[str], reason: str) -> Diagnostic:
    """Return why the values of some sizes are needed, under the names that a user gives them."""
    named = [region.text.user_name(name) for name in missing]
    quoted = listed([f"'{name}'" for name in named])
    return MISSING_SIZE.at(span, names=quoted, reason=reason, example=named[0])


def _for_all_sizes(
    region: Region,
    statements: tuple[NestStatement, ...],
    known: Mapping[str, int],
    demands: tuple[Demand, ...],
) -> Model:
    """Return the model for all sizes that fulfil `demands` and what else its proofs need.

    Raises:
        Unproven: Something is not linear, or may be wrong whatever could be demanded.
    """
    space = IslSpace(with_values(region.constants, named_sizes(statements)))
    while True:
        builder = _Builder(region, statements, space, known, demands, is_open=True)
        model = builder.model(None)
        # What was demanded on the way must be a fact in all proofs, the earlier ones too.
        if set(model.demands) == set(demands):
            return model
        demands = model.demands


@dataclass(frozen=True, slots=True)
class _Under:
    """Where some conditions of a statement hold together, and what further ones add to them.

    The `inner` ones are found by the identities of the further conditions.
    """

    truth: Truth
    inner: dict[int, _Under]


@dataclass
class _Builder:
    """Makes the model of a region for the sizes of `space`; `known` are all that have a value.

    `given` are demands that it takes as facts; with `is_open` it may add to them.
    """

    region: Region
    statements: tuple[NestStatement, ...]
    space: IslSpace
    known: Mapping[str, int]
    given: tuple[Demand, ...]
    is_open: bool = False
    outside: SizesOutside = field(default_factory=dict)

    @cached_property
    def demands(self) -> Demands:
        """Return what the proofs demand of the sizes, the given demands first."""
        arrays = self.region.arrays.values()
        objects = _extents(array for array in arrays if not array.is_pointer)
        base = self.context(objects)
        named = named_sizes(self.statements)
        demands = demands_on(self.region, named, self.space, base, self.known)
        own = map(Demand, self.region.never_negative)
        given = list(dict.fromkeys((*own, *self.given)))
        demands = replace(demands, found=given, is_open=self.is_open)
        # Rows behind a pointer may have no elements, unless loops run along them.
        left = [e for e in _extents(a for a in arrays if a.is_pointer) if not demands.add(e - ONE)]
        return replace(demands, sizes=self.context([*objects, *left]))

    def context(self, extents: Iterable[Poly]) -> isl.Set:
        """Return the sizes for which loops run, arrays exist, and a range has two ends."""
        between = (
            f"{self.space.affine(variable(low))} <= {self.space.affine(variable(high))}"
            for low, high in self.region.index_ranges.values()
        )
        return context(self.statements, self.space, extents).intersect(self.space.having(between))

    @cached_property
    def by_number(self) -> Mapping[int, NestStatement]:
        return {statement.number: statement for statement in self.statements}

    def model(self, why_sizes: Diagnostic | None) -> Model:
        """Return the model.

        Raises:
            Unproven: Something is not linear with the sizes of `space`.
        """
        sizes = self.demands.context()
        iterations = {s.number: self.iterations(s, sizes) for s in self.statements}
        truths = {r: t for s in self.statements for r, t in self.truths(s, iterations[s.number])}
        runs = {
            r: truths[r].maybe if r in truths else iterations[s.number]
            for s in self.statements
            for r in s.told_apart
        }
        for statement in self.statements:
            self.check_parts(statement, runs[statement.references[-1]], sizes)
        arrays = {**self.region.arrays, **local_arrays(self.region).arrays}
        references = references_of(self.statements)
        layouts = {n: self.layout(arrays.get(n), used, runs) for n, used in references.items()}
        maps: dict[DataReference, isl.Map] = {}
        for name, used in references.items():
            if any(reference.is_write for reference in used):
                maps.update(self.maps(used, layouts[name], runs))
        return Model(
            region=self.region,
            statements=self.statements,
            space=self.space,
            sizes=sizes,
            iterations=iterations,
            truths=truths,
            layouts=layouts,
            maps=maps,
            why_sizes=why_sizes,
            demands=needed(self.demands.found, self.space, self.demands.sizes),
        )

    def layout(
        self,
        array: Array | None,
        used: tuple[DataReference, ...],
        runs: Mapping[DataReference, isl.Set],
    ) -> ArrayLayout:
        """Return the dimensions of what all references in `used` name."""
        if not isinstance(used[0].access, Access):
            return ArrayLayout((), ((),) * len(used), None, True)
        where = self.by_number[used[0].statement]
        try:
            own = [runs[reference] for reference in used]
            known = self.outside
            found = recover(array, used, self.by_number, own, self.space, self.demands, known)
        except NotLinear as no:
            raise Unproven(where, _first_with(used, no.poly), no.poly) from None
        if not found.proven and any(reference.is_write for reference in used):
            raise Unproven(where, used[0], None)
        return found

    def maps(
        self,
        used: tuple[DataReference, ...],
        layout: ArrayLayout,
        runs: Mapping[DataReference, isl.Set],
    ) -> dict[DataReference, isl.Map]:
        """Return the elements that each reference touches; equal references share a map."""
        shared: dict[object, isl.Map] = {}
        found: dict[DataReference, isl.Map] = {}
        for one, row in zip(used, layout.rows, strict=True):
            key = (one.statement, row, one.conditions)
            if key not in shared:
                where = self.by_number[one.statement]
                shared[key] = access_map(
                    where, row, self.space, runs[one], one.unknown, layout.extents
                )
            found[one] = shared[key]
        return found

    def iterations(self, statement: NestStatement, sizes: isl.Set) -> isl.Set:
        try:
            return domain(statement, self.space, sizes)
        except NotLinear as no:
            raise Unproven(statement, None, no.poly) from None

    def truths(
        self, statement: NestStatement, iterations: isl.Set
    ) -> Iterator[tuple[DataReference, Truth]]:
        """Yield where each reference under a condition is made, in the iterations."""
        loops = self.region.nest.iterators()
        made = ConditionReader(self.region, statement, self.space, is_strict=True)
        # What is behind an ``else if`` has the conditions of what is before it, and one more.
        shared = _Under(Truth(iterations, iterations), {})
        for reference in statement.told_apart:
            if not reference.conditions:
                continue
            under = shared
            for condition in reference.conditions:
                inner = under.inner.get(id(condition))
                if inner is None:
                    try:
                        truth = made.truth(condition)
                    except NotLinear as no:
                        if no.names <= self.known.keys() | loops:
                            reason = "a condition multiplies or divides a loop variable by a size"
                            raise Unproven(statement, None, no.poly, reason) from None
                        made = replace(made, is_strict=False, _known={})
                        truth = made.truth(condition)
                    inner = under.inner[id(condition)] = _Under(under.truth & truth, {})
                under = inner
            yield reference, under.truth

    def check_parts(self, statement: NestStatement, runs: isl.Set, sizes: isl.Set) -> None:
        """Raise for a rounded part whose numerator may be negative, where C rounds up.

        The bounds of a loop are evaluated in the loops around it, whether it runs or not.
        """
        outer: list[tuple[isl.Set, frozenset[str]]] = [(runs, frozenset(statement.parts))]
        for depth, loop in enumerate(statement.loops):
            names = frozenset(n for p in (*loop.lower, *loop.upper) for n in p.names)
            if names & statement.parts.keys():
                facts = bound_facts(statement, self.space, depth)
                around = self.space.instances_having(facts, statement).intersect_params(sizes)
                outer.append((around, parts_within(names, statement.parts)))
        for instances, names in outer:
            for name in sorted(names):
                part = statement.parts[name]
                if isinstance(part, Rounded) and not self.rounds_down(
                    statement, name, part, instances
                ):
                    users = (
                        r for r in statement.references for p in r.subscripts if name in p.names
                    )
                    raise Unproven(statement, next(users, None), variable(name))

    def rounds_down(
        self, statement: NestStatement, name: str, part: Rounded, instances: isl.Set
    ) -> bool:
        """Return whether the numerator of `part` is never negative, its divisor positive.

        A condition on sizes may make it so.
        """
        try:
            self.space.over(variable(name), statement)
            below = f"{self.space.over(part.left, statement)} < 0"
        except NotLinear:
            return False
        wrong = instances.intersect(self.space.instances_having([below], statement))
        return bool(wrong.is_empty()) or self.demands.exclude(wrong.params())


def _first_with(used: tuple[DataReference, ...], poly: Poly) -> DataReference:
    """Return the reference whose subscript is `poly`, the first one when none is."""
    return next((r for r in used if poly in r.subscripts), used[0])


def _extents(arrays: Iterable[Array]) -> list[Poly]:
    polys = [
        from_expr(extent) for array in arrays for extent in array.extents if extent is not None
    ]
    return [poly for poly in polys if poly is not None]


def agreeing(first: int, second: int, depth: int, *facts: str) -> isl.Map:
    """Return the pairs that agree on the loops outside `depth`, and of which `facts` hold.

    They are instances of statements inside so many loops, the `first` and the `second`.
    """
    equal = (f"i{d} = j{d}" for d in range(depth))
    pair = f"{any_instance(first)} -> {any_instance(second, 'j')}"
    return parsed_map(f"{{ {pair} : {' and '.join((*equal, *facts)) or 'true'} }}")


def references_of(statements: tuple[NestStatement, ...]) -> dict[str, tuple[DataReference, ...]]:
    """Return the distinct references of each array and written scalar, in text order."""
    found: defaultdict[str, dict[DataReference, None]] = defaultdict(dict)
    for statement in statements:
        for reference in statement.told_apart:
            found[reference.name].setdefault(reference)
    return {name: tuple(used) for name, used in found.items()}


def _refuse_empty_loops(statements: tuple[NestStatement, ...], space: IslSpace) -> None:
    empty = [
        EMPTY_LOOP.at(loop.loop.span, loop=loop.var)
        for loop in loops_of(statements)
        if any(_is_empty(upper - lower, space) for lower in loop.lower for upper in loop.upper)
    ]
    if empty:
        raise AnnotuneError.of(*empty)


def _is_empty(trip: Poly, space: IslSpace) -> bool:
    count = trip.at(space.values).constant
    return count is not None and count < 1


class Unproven(Exception):
    """A place that is not linear with the sizes known so far, or cannot be flattened.

    `what` is None for a bound or a condition. `reason` says why the claims hold for some sizes
    only, where that is not for the bound or the subscripts.
    """

    def __init__(
        self, where: NestStatement, what: DataReference | None, poly: Poly | None, reason: str = ""
    ) -> None:
        super().__init__(str(poly))
        self.where, self.what, self.poly = where, what, poly
        self.reason = reason

    def for_sizes(self, statements: Sequence[NestStatement], region: Region) -> Diagnostic:
        """Return the warning that the claims hold for the region's sizes only."""
        polys = [p for c in loops_of(statements) for p in (*c.lower, *c.upper)]
        polys += [p for s in statements for r in s.references for p in r.subscripts]
        used = {name for poly in polys for name in poly.names}
        known = region.known_sizes
        given = sorted(used & set(known) - set(region.constants))
        sizes = ", ".join(f"{name} = {known[name]}" for name in given)
        if self.what is None:
            span, array = self.where.assign.span, print_expr(self.where.assign.target)
            reason = "a loop bound is a product with an outer loop variable"
        else:
            span, array = self.what.span, self.what.name
            reason = f"the subscripts of '{array}' may overrun its rows at other sizes"
        known_array = region.arrays.get(array)
        is_declared = known_array is not None and None not in known_array.extents
        template = DECLARED_FOR_THESE_SIZES if is_declared else FOR_THESE_SIZES
        return template.at(
            span,
            sizes=sizes or "the numbers of the text",
            reason=self.reason or reason,
            array=array,
        )

    def refusal(self, known: Mapping[str, int], region: Region) -> Diagnostic:
        """Return why nothing can be proven: a size is missing, or a form is not affine."""
        iterators = frozenset(self.where.iterators)
        span = self.what.span if self.what is not None else self.where.assign.span
        if self.poly is None:
            assert self.what is not None
            return UNKNOWN_EXTENT.at(span, array=self.what.name)
        open_names = frozenset(
            name
            for monomial, _ in self.poly.terms
            if len(monomial) > 1 and not iterators.isdisjoint(monomial)
            for name in monomial
        )
        for name in parts_within(self.poly.names, self.where.parts):
            part = self.where.parts[name]
            open_names |= part.right.names if isinstance(part, Rounded) else frozenset()
        missing = sorted(open_names - iterators - set(known))
        if missing:
            reason = (
                "a loop bound multiplies it by an outer loop variable"
                if self.what is None
                else f"without it the rows of '{self.what.name}' cannot be proven apart"
            )
            return missing_sizes(region, span, missing, reason)
        if self.what is not None and isinstance(self.what.access, Access):
            return NOT_AFFINE.at(
                span,
                subscript=print_expr(self.what.access.indices[0]),
                array=self.what.name,
                iterators=listed(self.where.iterators),
            )
        loop = next(
            (one for one in self.where.loops if self.poly in (*one.lower, *one.upper)),
            self.where.loops[-1],
        )
        bound = str(self.poly)
        return BOUND_NOT_AFFINE.at(loop.loop.span, bound=bound, loop=loop.var)
