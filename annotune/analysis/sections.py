"""The part of each array that a region touches, as expressions over its sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import islpy as isl

from annotune.analysis.conditions import rooms
from annotune.analysis.domains import NotLinear, access_map, tuple_text
from annotune.analysis.facts import Shape
from annotune.analysis.messages import GATHER_EXTENT
from annotune.analysis.model import Model
from annotune.analysis.poly import ONE, ZERO, Poly, from_expr, integer, product, to_expr, variable
from annotune.analysis.shapes import declared_extents
from annotune.analysis.signs import Signs
from annotune.analysis.statements import (
    Counted,
    Reference,
    Statement,
    moving_parts,
    named_sizes,
    written_scalars,
)
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Access, Binary, Expr, Int, Var
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

    `is_assumed` says that only an access under a condition on memory touches an end.
    """

    lowest: Poly
    length: Poly
    is_assumed: bool = False


@dataclass(frozen=True, slots=True)
class Extreme:
    """A bound of an address; `touched` are the sizes at which an instance is proven to touch it."""

    address: Poly
    touched: isl.Set


@dataclass(frozen=True)
class Bounds:
    """Finds the extreme addresses of accesses for the sizes of a model.

    `rounded` has the expressions behind names that stand for a rounded division, which no
    polynomial can express; `found` what has been asked before.
    """

    model: Model
    signs: Signs
    written: frozenset[str]
    rounded: dict[str, Expr] = field(default_factory=dict)
    found: dict[object, tuple[Extreme, Extreme] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> Bounds:
        """Return the bounds of `model`."""
        sizes = named_sizes(model.statements)
        return cls(model, Signs.of(model), written_scalars(model.region), sizes)

    def rounded_expr(self, name: str) -> Expr:
        """Return the rounded division that `name` stands for, else the variable of that name."""
        return self.rounded.get(name, Var(name))

    def extremes(self, reference: Reference, address: Poly) -> tuple[Extreme, Extreme] | None:
        """Return bounds of `address` over the runs of `reference`, None where none is proven."""
        statement = self.model.statement(reference.statement)
        loops = statement.loops[-1].position if statement.loops else ()
        key = (loops, reference.conditions, address)
        if key not in self.found:
            self.found[key] = self._extremes(statement, reference, address)
        return self.found[key]

    def _extremes(
        self, statement: Statement, reference: Reference, address: Poly
    ) -> tuple[Extreme, Extreme] | None:
        ranges = self._ranges(statement, reference)
        if ranges is None:
            return None
        low = self._corner(reference, -address, ranges)
        high = self._corner(reference, address, ranges)
        if low is None or high is None:
            return None
        return Extreme(-low.address, low.touched), high

    def counted(self, reference: Reference, address: Poly) -> tuple[Extreme, Extreme] | None:
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
        self, reference: Reference, address: Poly, ranges: dict[str, tuple[Poly, Poly]]
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
            if not self.signs.is_nonnegative(factor):
                if not self.signs.is_nonnegative(-factor):
                    return None
                last = first
            elif factor.is_zero:
                last = first
            chosen[loop.var] = last
            address = factor * last + split[1]
        return Extreme(address, self._made(reference, statement, chosen))

    def _made(self, reference: Reference, statement: Statement, chosen: dict[str, Poly]) -> isl.Set:
        """Return the sizes at which the reference is made with these values of its loops.

        Where memory decides, it counts as made.
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
        return point.intersect(self.model.instances(reference)).params()

    def _ranges(
        self, statement: Statement, reference: Reference
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

    def _last(self, loop: Counted, upper: Poly, statement: Statement) -> Poly | None:
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
        and (loop.lower[0].names | loop.upper[0].names).isdisjoint(statement.moving)
        for loop in statement.loops
    )


def _tighten(
    room: Poly, statement: Statement, lower: dict[str, list[Poly]], upper: dict[str, list[Poly]]
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
        if not _is_reached(end, reached, length, bounds):
            raise Unbounded(references[0], flat[0])
    certain = [both for r, both in found.items() if _is_certain(r, model)]
    is_assumed = not (
        _is_reached(lowest, [low for low, _ in certain], length, bounds)
        and _is_reached(highest, [high for _, high in certain], length, bounds)
    )
    return Section(lowest, length, is_assumed)


def _is_reached(end: Poly, extremes: Iterable[Extreme], length: Poly, bounds: Bounds) -> bool:
    """Return whether one end of a section is touched, or the section empty, for all sizes."""
    model = bounds.model
    reached = isl.Set.empty(model.sizes.get_space())
    for extreme in extremes:
        if extreme.address == end and model.sizes.is_subset(extreme.touched):
            return True
        text = model.space.text(f": {model.space.affine(extreme.address - end, {})} = 0")
        reached = reached.union(extreme.touched.intersect(isl.Set(text)))
    if model.sizes.is_subset(reached):
        return True
    if not bounds.signs.is_nonnegative(length):
        return False
    empty = isl.Set(model.space.text(f": {model.space.affine(length, {})} = 0"))
    return bool(model.sizes.is_subset(reached.union(empty)))


def _is_certain(reference: Reference, model: Model) -> bool:
    truth = model.truths.get(reference)
    return truth is None or truth.is_exact


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
