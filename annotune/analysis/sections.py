"""The part of each array that a region touches, over its sizes.

The extreme addresses of accesses, as polynomials over sizes whose signs are proven, bound a section
that is the same for all calls. Where one call may touch less, as behind ``if (beta != 0)``, or of
``a[n][n]`` in a triangle alone, isl says which indices are the first and the last: dimensions are
proven to hold their indices, and so the order of indices is that of addresses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

import islpy as isl

from annotune.analysis.domains import (
    IntoC,
    NotLinear,
    TooHard,
    access_map,
    ends,
    floored,
    poly_of,
    rooms,
    tuple_text,
)
from annotune.analysis.facts import ArrayShape, ElementRange
from annotune.analysis.messages import GATHER_EXTENT
from annotune.analysis.model import (
    ArrayLayout,
    Demand,
    Demands,
    Model,
    declared_extents,
    demands_on,
    negative,
)
from annotune.analysis.packed import RowStarts, half, is_packed
from annotune.analysis.statements import (
    Counted,
    DataReference,
    NestStatement,
    may_be_computed,
    moving_parts,
    named_sizes,
    range_of,
)
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.ir.ctype import LONG
from annotune.ir.expr import (
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Select,
    Var,
    children,
    negated,
    print_expr,
    rewrite,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.poly import (
    ONE,
    ZERO,
    Monomial,
    Poly,
    from_expr,
    integer,
    product,
    to_expr,
    variable,
)
from annotune.ir.typing import in_long


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
    before. Where numbers without a value decide which part of an array a call touches, sections
    are mere bounds of it if they may be `is_by_call`.
    """

    model: Model
    signs: Signs
    demands: Demands
    rounded: dict[str, Expr] = field(default_factory=dict)
    found: dict[object, tuple[Extreme, Extreme] | None] = field(default_factory=dict)
    is_by_call: bool = False

    @classmethod
    def of(cls, model: Model, is_by_call: bool = False) -> Bounds:
        """Return the bounds of `model`."""
        named = named_sizes(model.statements)
        demands = demands_on(model.region, named, model.space, model.sizes, model.values)
        demands.is_open, demands.found = model.all_sizes, list(model.demands)
        return cls(model, Signs.of(model), demands, named, is_by_call=is_by_call)

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

    def variables_of(self, name: str) -> frozenset[str]:
        """Return the variables of the rounded division that `name` stands for, else the name."""
        return variables(self.rounded[name]) if name in self.rounded else frozenset({name})

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
        # Of a number without a value, which is no size, a call may reach less.
        low, high = (
            Extreme(integer(int(value.to_python())), touched.fix_val(_SET, 0, value).params())
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
                f"i{depth} = {space.affine(values[loop.var])}"
                for depth, loop in enumerate(statement.loops)
            ]
        except NotLinear:
            return isl.Set.empty(sizes.get_space())
        point = space.having(at, tuple_text(statement))
        return point.intersect(self.model.switched_on(reference)).params()

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
        for room in rooms(reference.conditions, self.model.region, self.model.written):
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
    return bool(model.sizes.is_subset(model.space.where(poly, ">= 1")))


# Cases of one expression, at most: more would be no test that a user reads.
MOST_PIECES = 4
_PARAMETER, _SET = isl.dim_type.param, isl.dim_type.set
_SWITCH = "s_"
_PLAIN_CALLS = frozenset({"min", "max", "abs", "labs", "fabs", "fabsf", "isnan"})


class Unbounded(Exception):
    """Nothing proves where the accesses to an array end, for all sizes."""

    def __init__(self, reference: DataReference, poly: Poly) -> None:
        super().__init__(reference.name)
        self.reference, self.poly = reference, poly


@dataclass(frozen=True, slots=True)
class Hull:
    """What one call touches, and as polynomials the first and the length where they are some."""

    part: ElementRange
    ends: tuple[Poly, Poly] | None = None


Place: TypeAlias = tuple[DataReference, Poly]
"""A reference, and one of the addresses between which it touches one."""

_NOTHING = Hull(ElementRange(Int(0), Int(0), may_be_none=True))


@dataclass(frozen=True, slots=True)
class ArraySection:
    """The elements ``lowest .. lowest + length - 1`` of one array, counted flat.

    `is_assumed` says that memory decides whether both ends are touched: what a call touches is
    to be looked for before it is copied. One call may touch less: `touched`.
    """

    lowest: Poly
    length: Poly
    is_assumed: bool = False
    touched: Hull | None = None

    @property
    def part(self) -> ElementRange | None:
        """Return what one call touches where it is less than the section."""
        return None if self.touched is None else self.touched.part

    @property
    def exact(self) -> tuple[Poly, Poly] | None:
        """Return the first element that each call touches and the length, None where it differs."""
        return (self.lowest, self.length) if self.touched is None else self.touched.ends


def section(name: str, bounds: Bounds) -> ArraySection:
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
    flat = model.layouts[name].flat
    if is_packed(references, {s.number: s for s in model.statements}):
        return _packed(name, bounds)
    if gather is not None and (flat is None or model.whole_length(name) is not None):
        return _gathered(gather, bounds)
    if flat is None:
        raise Unbounded(references[0], ZERO)
    return _of_addresses(name, flat, bounds)


def _of_addresses(name: str, flat: Sequence[Poly], bounds: Bounds) -> ArraySection:
    """Return the section from the least to the greatest of addresses, as `section` does."""
    model = bounds.model
    references = model.references[name]
    places: list[Place] = []
    for reference, address in zip(references, flat, strict=True):
        places += [(reference, one) for one in _possible(reference, address, bounds)]
        if not places or places[-1][0] != reference:
            return _gathered(reference, bounds)
    found: dict[Place, tuple[Extreme, Extreme]] = {}
    for reference, address in places:
        extremes = bounds.extremes(reference, address)
        if extremes is None and model.all_sizes:
            raise Unbounded(reference, address)
        extremes = extremes or bounds.counted(reference, address)
        if extremes is not None:
            found[reference, address] = extremes
    whole = _declaration(name, tuple(found.values()), bounds)
    if not model.all_sizes:
        exact = {
            place: bounds.counted(*place)
            for place in places
            if any(not model.sizes.is_subset(e.touched) for e in found.get(place, ()))
        }
        found = {place: e for place, e in {**found, **exact}.items() if e is not None}
    if whole is not None:
        return _declared(name, whole, found, bounds)
    if not found:
        return ArraySection(ZERO, ZERO)
    lowest, length = _ends(found, *places[0], bounds)
    section = ArraySection(lowest, length, _is_open(found, lowest, length, bounds))
    unreached = _unreached_sizes(found, lowest, length, bounds)
    if unreached is not None:
        if bounds.is_by_call:
            section = _of_a_call(name, section, bounds)
        if section.touched is None:
            raise Unbounded(*places[0])
    if not section.is_assumed:
        return section
    if any(_has_range(one, bounds) for one in references):
        # The user vouches for what conditions leave out, not for what an index may mean.
        is_open = _is_open(found, lowest, length, bounds, lambda one: not one.unknown)
    else:
        section = _of_a_call(name, section, bounds)
        is_open = False
    is_vouched = model.region.spec.assumptions.whole and not is_open
    return replace(section, is_assumed=section.is_assumed and not is_vouched)


def _ends(
    found: Mapping[Place, tuple[Extreme, Extreme]],
    reference: DataReference,
    address: Poly,
    bounds: Bounds,
) -> tuple[Poly, Poly]:
    """Return the lowest element and the length of what references touch between their extremes.

    Raises:
        Unbounded: Which is the least, or the greatest, is not proven.
    """
    # Where an index from memory may be the end or not, it shall not be.
    ordered = sorted(found, key=lambda place: _has_range(place[0], bounds))
    lows = dict.fromkeys(-found[place][0].address for place in ordered)
    highs = dict.fromkeys(found[place][1].address for place in ordered)
    lowest = -_bound(tuple(lows), bounds, reference)
    return lowest, _bound(tuple(highs), bounds, reference) - lowest + ONE


def _unreached_sizes(
    found: Mapping[Place, tuple[Extreme, Extreme]], lowest: Poly, length: Poly, bounds: Bounds
) -> isl.Set | None:
    """Return sizes at which an end of a section is not touched, which no demand excludes.

    An index from memory counts as touched: what a call touches is looked for.
    """
    if any(_has_range(one, bounds) for one, _ in found):
        return None
    for unreached in _unreached_ends(found.values(), lowest, length, bounds):
        if not (unreached.is_empty() or bounds.demands.exclude(unreached)):
            return unreached
    return None


def _has_range(reference: DataReference, bounds: Bounds) -> bool:
    """Return whether two sizes say between what an index lies that memory decides."""
    parts = bounds.model.statement(reference.statement).parts
    return any(range_of(name, parts) is not None for name in reference.unknown)


def _unreached_ends(
    found: Iterable[tuple[Extreme, Extreme]], lowest: Poly, length: Poly, bounds: Bounds
) -> Iterator[isl.Set]:
    """Yield the sizes at which the first, and those at which the last element is not touched."""
    both = tuple(found)
    yield _unreached(lowest, [low for low, _ in both], length, bounds)
    yield _unreached(lowest + length - ONE, [high for _, high in both], length, bounds)


def _packed(name: str, bounds: Bounds) -> ArraySection:
    """Return the section of packed storage, from the first row's element to the last one's.

    Raises:
        Unbounded: No polynomial is the first or the last element at all sizes.
        AnnotuneError: The rows are not proven to lie apart, and the length is not known.
    """
    model = bounds.model
    references = model.references[name]
    if model.layouts[name].starts is None:
        return _gathered(references[0], bounds)
    before = len(bounds.demands.found)
    touched = Touched.of(name, bounds, has_switches=False)
    hull = None if touched is None else touched.part()
    if hull is None or hull.ends is None:
        if len(bounds.demands.found) > before:
            # With these as facts the model is made anew, and the ends are found.
            return ArraySection(ZERO, ZERO)
        raise Unbounded(references[0], ZERO)
    section = ArraySection(*hull.ends, not all(map(model.is_known, references)))
    whole, first = model.whole_length(name), model.first_element(name)
    if whole is not None and first is not None:
        room = (section.lowest - first, first + whole - section.lowest - section.length)
        if all(map(bounds.signs.is_nonnegative, room)):
            return replace(ArraySection(first, whole), touched=hull)
    section = _of_a_call(name, section, bounds) if section.is_assumed else section
    is_vouched_for = model.region.spec.assumptions.whole
    return replace(section, is_assumed=section.is_assumed and not is_vouched_for)


def _possible(reference: DataReference, address: Poly, bounds: Bounds) -> list[Poly]:
    """Return addresses between which `reference` touches one; none where nothing is known.

    An address is linear in what memory decides: it lies between those at the ends of that.
    """
    if reference.unknown.isdisjoint(address.names):
        return [] if reference.unknown else [address]
    statement = bounds.model.statement(reference.statement)
    unknown = sorted(reference.unknown & address.names)
    between = [statement.between.get(n) or range_of(n, statement.parts) for n in unknown]
    known = [ends for ends in between if ends is not None]
    if len(known) < len(unknown) or address.linear_in(unknown) is None:
        return []
    choices = itertools.product(*known)
    found = [address.substitute(dict(zip(unknown, one, strict=True))) for one in choices]
    moving = reference.unknown | moving_parts(statement.parts)
    return found if all(moving.isdisjoint(one.names) for one in found) else []


def _is_open(
    found: Mapping[Place, tuple[Extreme, Extreme]],
    lowest: Poly,
    length: Poly,
    bounds: Bounds,
    counts: Callable[[DataReference], bool] | None = None,
) -> bool:
    """Return whether loops and sizes leave open that an end is touched by what `counts`."""
    counts = counts or bounds.model.is_known
    counted = [both for (reference, _), both in found.items() if counts(reference)]
    return not all(one.is_empty() for one in _unreached_ends(counted, lowest, length, bounds))


def _declared(
    name: str, whole: Poly, found: Mapping[Place, tuple[Extreme, Extreme]], bounds: Bounds
) -> ArraySection:
    """Return the section of an array with all its extents; what a call touches may be less."""
    first = bounds.model.first_element(name)
    assert first is not None, "what has a length has a first element"
    everything = ArraySection(first, whole)
    if not found:
        return replace(everything, touched=_NOTHING)
    closed = replace(bounds, demands=replace(bounds.demands, is_open=False))
    reference, _ = next(iter(found))
    try:
        lowest, length = _ends(found, reference, ZERO, closed)
        unreached = _unreached_sizes(found, lowest, length, closed)
        if unreached is None and not _is_open(found, lowest, length, closed):
            if (lowest, length) == (first, whole):
                return everything
            to_c = bounds.in_c(name)
            part = ElementRange(fold(to_c(lowest)), fold(to_c(length)))
            return replace(everything, touched=Hull(part, (lowest, length)))
    except Unbounded:
        pass
    return _of_a_call(name, everything, bounds)


def _of_a_call(name: str, section: ArraySection, bounds: Bounds) -> ArraySection:
    """Return a section with what one call touches of it, if it can be said, and if that is sure."""
    touched = Touched.of(name, bounds)
    hull = None if touched is None else touched.part()
    if touched is None or hull is None:
        return section
    sure = Touched.of(name, bounds, is_sure=True)
    is_sure = sure is not None and touched.is_within(sure)
    section = replace(section, is_assumed=section.is_assumed and not is_sure)
    if hull.ends == (section.lowest, section.length):
        return section
    return replace(section, touched=hull)


def _unreached(end: Poly, extremes: Iterable[Extreme], length: Poly, bounds: Bounds) -> isl.Set:
    """Return the sizes at which one end of a section that is not empty is not touched."""
    model = bounds.model
    nowhere = reached = isl.Set.empty(model.sizes.get_space())
    for extreme in extremes:
        if extreme.address == end and model.sizes.is_subset(extreme.touched):
            return nowhere
        is_end = model.space.where(extreme.address - end, "= 0")
        reached = reached.union(extreme.touched.intersect(is_end))
    if not model.sizes.is_subset(reached) and bounds.signs.is_nonnegative(length):
        reached = reached.union(model.space.where(length, "= 0"))
    return model.sizes.subtract(reached)


def _gathered(gather: DataReference, bounds: Bounds) -> ArraySection:
    """Return the whole array that `gather` may reach anywhere."""
    whole = bounds.model.whole_length(gather.name)
    if whole is None:
        index = print_expr(gather.unknown_index if gather.unknown else children(gather.access)[0])
        raise AnnotuneError.of(GATHER_EXTENT.at(gather.span, array=gather.name, subscript=index))
    first = bounds.model.first_element(gather.name)
    assert first is not None, "what has a length has a first element"
    return ArraySection(first, whole)


def _declaration(
    name: str, found: Sequence[tuple[Extreme, Extreme]], bounds: Bounds
) -> Poly | None:
    """Return the length of the whole array, None when an access may leave it."""
    whole, first = bounds.model.whole_length(name), bounds.model.first_element(name)
    if whole is None or first is None:
        return None
    last = first + whole - ONE
    room = {low.address - first for low, _ in found} | {last - high.address for _, high in found}
    inside = all(bounds.signs.is_nonnegative(one) for one in room)
    return whole if inside else None


def _bound(polys: Sequence[Poly], bounds: Bounds, reference: DataReference) -> Poly:
    """Return the poly that is proven to be the greatest."""
    likely = _greatest_poly(polys, bounds)
    if likely is not None:
        return likely
    for one in polys:
        if all(bounds.signs.is_nonnegative(one - other) for other in polys):
            return one
    for one in polys:
        if bounds.are_nonnegative(one - other for other in polys):
            return one
    raise Unbounded(reference, polys[0])


def _greatest_poly(polys: Sequence[Poly], bounds: Bounds) -> Poly | None:
    """Return the first poly that is greater than all others by its signs, None if that is open.

    The one that no later one beats is compared with all, instead of each with each.
    """
    is_nonnegative = bounds.signs.is_nonnegative
    place = 0
    for number, other in enumerate(polys):
        if number and is_nonnegative(other - polys[place]):
            place = number
    likely = polys[place]
    if not all(is_nonnegative(likely - other) for other in polys):
        return None
    # Of two that are as great the first counts.
    is_first = not any(is_nonnegative(other - likely) for other in polys[:place])
    return likely if is_first else None


def shape(name: str, found: ArraySection, bounds: Bounds) -> ArrayShape:
    """Return the shape of the array `name`, with the names of inner dimensions first."""
    to_c = bounds.in_c(name)
    extents = bounds.model.layouts[name].extents
    return ArrayShape(
        name,
        tuple(None if one is None else to_c(one) for one in extents),
        to_c(found.lowest),
        to_c(found.length),
        found.part,
        _rows(name, found, bounds),
        _may_be_null(name, found, bounds),
        found.is_assumed,
    )


def _rows(name: str, found: ArraySection, bounds: Bounds) -> ElementRange | None:
    """Return the rows that a call touches of an array of rows, None of any other array."""
    array = bounds.model.arrays.get(name)
    if array is None or len(array.extents) < 2:
        return None
    inner = [from_expr(extent) for extent in array.extents[1:] if extent is not None]
    row = product(poly for poly in inner if poly is not None)
    if len(inner) < len(array.extents) - 1 or any(poly is None for poly in inner) or row.is_zero:
        return None
    to_c = bounds.in_c(name)
    if found.is_assumed and found.part is not None:
        return rows_of(found.part, to_c(row))
    if found.exact is not None:
        lowest, length = (poly.at(bounds.model.space.values) for poly in found.exact)
        row = row.at(bounds.model.space.values)
        (first, before), (end, behind) = lowest.divide(row), (lowest + length).divide(row)
        if before.is_zero and behind.is_zero:
            return ElementRange(fold(to_c(first)), fold(to_c(end - first)))
    is_gathered = any(r.unknown for r in bounds.model.references[name])
    if declared_rows(name, bounds) and not is_gathered:
        touched = Touched.of(name, bounds)
        hull = None if touched is None else touched.rows()
        if hull is not None:
            return replace(hull.part, is_whole=False)
    if found.exact is not None:
        return rows_of(ElementRange(to_c(lowest), to_c(length)), to_c(row))
    assert found.part is not None
    return rows_of(found.part, to_c(row))


def _may_be_null(name: str, found: ArraySection, bounds: Bounds) -> bool:
    """Return whether memory decides if anything is touched behind a pointer."""
    model = bounds.model
    array, references = model.arrays.get(name), model.references[name]
    if array is None or not array.is_pointer or found.is_assumed:
        return False
    for reference in references:
        runs = model.instances(reference).params()
        if bounds.model.is_certain(reference) and model.sizes.is_subset(runs):
            return False
    is_told = found.part is not None and found.part.may_be_none
    return not is_told or any(map(model.hangs_on_memory, references))


@dataclass(frozen=True)
class Touched:
    """The indices that calls touch of one array, over sizes and switches.

    `switches` are the conditions that one call decides for all its iterations, by the name of a
    parameter that is 1 where they hold. `context` has the sizes of the model and all switches;
    `size` writes a polynomial over sizes as C.
    """

    elements: isl.Set
    context: isl.Set
    switches: Mapping[str, Expr]
    layout: ArrayLayout
    bounds: Bounds
    size: Callable[[Poly], Expr]

    @classmethod
    def of(
        cls, name: str, bounds: Bounds, is_sure: bool = False, has_switches: bool = True
    ) -> Touched | None:
        """Return what calls touch of the array `name`; None where no isl set can say it.

        Where memory decides, it is taken to be touched, or with `is_sure` to be left alone; without
        `has_switches` so is what switches turn on.
        """
        model, layout = bounds.model, bounds.model.layouts[name]
        has_extents = layout.starts is not None or None not in layout.extents[1:]
        if not layout.proven or not has_extents:
            return None
        if any(reference.unknown for reference in model.references[name]):
            return None
        switches: dict[Expr, str] = {}
        elements: isl.Set | None = None
        context = model.sizes
        for reference in model.references[name]:
            statement = model.statement(reference.statement)
            runs = model.switched_on(reference, is_sure)
            try:
                found = access_map(statement, model.rows[reference], model.space, runs).range()
            except NotLinear:
                return None
            for one in reference.tests:
                if not has_switches or not bounds.model.is_switch(one):
                    continue
                if not may_be_computed(one, _may_call):
                    found = isl.Set.empty(found.get_space()) if is_sure else found
                    continue
                # Both branches of one `if` hang on one switch.
                is_off = negated(negated(one)) == one and negated(one) in switches
                test = negated(one) if is_off else one
                number = switches.setdefault(test, f"{_SWITCH}{len(switches)}")
                found = found.intersect_params(_at(number, f"= {int(not is_off)}"))
            elements = found if elements is None else elements.union(found)
        for number in switches.values():
            context = context.intersect(_at(number, ">= 0")).intersect(_at(number, "<= 1"))
        if elements is None:
            return None
        return cls(
            elements.intersect_params(context),
            context,
            {number: one for one, number in switches.items()},
            layout,
            bounds,
            bounds.in_c(name),
        )

    def is_certain(self) -> bool:
        """Return whether each call touches something, if need be by a demand on the sizes."""
        nowhere = self.context.subtract(self.elements.params())
        if nowhere.is_empty():
            return True
        never = self.bounds.model.sizes.subtract(_of_sizes(self.elements.params()))
        if not never.is_empty():
            self.bounds.demands.exclude(never)
        return False

    def is_within(self, sure: Touched) -> bool:
        """Return whether at each call `sure` has the first and the last of these elements."""
        both = ends(self.elements)
        return both is not None and all(
            isl.Set.from_pw_multi_aff(end).is_subset(sure.elements) for end in both
        )

    def part(self) -> Hull | None:
        """Return the elements from the first to the last; None where that is too long to say."""
        if self.layout.starts is not None:
            return self._part(self.elements, [ONE, ONE], ZERO)
        strides = [product(_known(self.layout.extents[k + 1 :])) for k in range(self._depth)]
        return self._part(self.elements, strides, self.layout.offset)

    def rows(self) -> Hull | None:
        """Return the indices of the outermost dimension from the first to the last."""
        set_ = isl.dim_type.set
        outermost = self.elements.project_out(set_, 1, self._depth - 1)
        return self._part(outermost, [ONE], ZERO)

    @property
    def _depth(self) -> int:
        return len(self.layout.extents)

    def _part(self, elements: isl.Set, strides: Sequence[Poly], offset: Poly) -> Hull | None:
        if elements.is_empty():
            return _NOTHING
        both = ends(elements)
        if both is None:
            return None
        try:
            first, last = (self._corner(end, strides, offset) for end in both)
            is_certain = self.is_certain()
            if isinstance(first, Poly) and isinstance(last, Poly):
                length = last - first + ONE
                part = ElementRange(fold(self._expr(first)), fold(self._expr(length)))
                if is_certain:
                    return Hull(part, (first, length))
            else:
                count = Binary("-", self._expr(last), self._expr(first))
                part = ElementRange(fold(self._expr(first)), fold(Binary("+", count, Int(1))))
                if is_certain:
                    return Hull(part)
            is_any = self._c.condition(self.elements.params())
        except TooHard:
            return None
        return Hull(replace(part, count=Select(is_any, part.count, Int(0)), may_be_none=True))

    def _corner(self, corner: isl.PwMultiAff, strides: Sequence[Poly], offset: Poly) -> Poly | Expr:
        """Return the address of the indices that `corner` gives, as a polynomial if it is one."""
        pieces: list[tuple[isl.Set, isl.MultiAff]] = []
        corner.gist_params(self.context).coalesce().foreach_piece(
            lambda where, indices: pieces.append((where, indices))
        )
        if not 0 < len(pieces) <= MOST_PIECES:
            raise TooHard
        found = [self._address(indices, strides, offset) for _, indices in pieces]
        if len(found) == 1:
            return found[0]
        value = self._expr(found[-1])
        for (where, _), address in reversed(list(zip(pieces[:-1], found[:-1], strict=True))):
            value = Select(self._c.condition(where.params()), self._expr(address), value)
        return value

    def _address(self, indices: isl.MultiAff, strides: Sequence[Poly], offset: Poly) -> Poly | Expr:
        affs = [indices.get_at(k) for k in range(len(strides))]
        polys = [_size(aff) for aff in affs]
        if self.layout.starts is not None and len(strides) > 1:
            return self._in_row(self.layout.starts, polys)
        total, sum_ = offset, None
        for aff, poly, stride in zip(affs, polys, strides, strict=True):
            if poly is not None:
                total = total + poly * stride
                continue
            term = fold(Binary("*", self._c.value(aff), self._expr(stride)))
            sum_ = term if sum_ is None else Binary("+", sum_, term)
        return total if sum_ is None else fold(Binary("+", sum_, self._expr(total)))

    def _in_row(self, starts: RowStarts, indices: Sequence[Poly | None]) -> Poly:
        """Return the address of a column in a row of packed storage."""
        row, column = indices
        if row is None or column is None:
            raise TooHard
        twice = starts.twice(row) + integer(2) * column
        whole = half(twice)
        if whole is not None:
            return whole
        name = f"({twice})/2"
        longs = rewrite(self.size(twice), lambda e: Cast(LONG, e) if isinstance(e, Var) else None)
        self.bounds.rounded[name] = Binary("/", longs, Int(2))
        return variable(name)

    def _expr(self, address: Poly | Expr) -> Expr:
        return self.size(address) if isinstance(address, Poly) else address

    @property
    def _c(self) -> IntoC:
        return IntoC(self.context, self.switches, self.size)


def declared_rows(name: str, bounds: Bounds) -> bool:
    """Return whether the rows of an array's layout are those that C declares."""
    array, layout = bounds.model.arrays.get(name), bounds.model.layouts[name]
    declared = declared_extents(array, len(layout.extents))
    is_alike = array is not None and len(array.extents) == len(layout.extents)
    return is_alike and layout.offset.is_zero and declared[1:] == layout.extents[1:]


def rows_of(part: ElementRange, row: Expr) -> ElementRange:
    """Return the rows, each of `row` elements, that hold the elements of `part`."""
    last = Binary("-", Binary("+", part.first, part.count), Int(1))
    first = fold(floored([part.first, row]))
    count = fold(Binary("+", Binary("-", floored([last, row]), first), Int(1)))
    if part.may_be_none:
        count = Select(Binary(">", in_long(part.count), Int(0)), count, Int(0))
    return ElementRange(first, count, part.may_be_none, is_whole=False)


def _known(extents: Iterable[Poly | None]) -> list[Poly]:
    return [extent for extent in extents if extent is not None]


def _at(switch: str, relation: str) -> isl.Set:
    return isl.Set(f"[{switch}] -> {{ : {switch} {relation} }}")


def _of_sizes(sizes: isl.Set) -> isl.Set:
    """Return the sizes at which there is a setting of the switches."""
    for place in reversed(range(sizes.dim(_PARAMETER))):
        if (sizes.get_dim_name(_PARAMETER, place) or "").startswith(_SWITCH):
            sizes = sizes.project_out(_PARAMETER, place, 1)
    return sizes


def _may_call(part: Call | Cast) -> bool:
    return isinstance(part, Cast) or part.function in _PLAIN_CALLS


def _size(aff: isl.Aff) -> Poly | None:
    """Return an affine expression over sizes as a polynomial, None for one that rounds."""
    if aff.dim(isl.dim_type.div) or int(aff.get_denominator_val().to_python()) != 1:
        return None
    names = [aff.get_dim_name(_PARAMETER, place) for place in range(aff.dim(_PARAMETER))]
    for place, name in enumerate(names):
        if (name or "").startswith(_SWITCH) and aff.involves_dims(_PARAMETER, place, 1):
            return None
    return poly_of(aff)
