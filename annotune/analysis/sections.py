"""The part of each array that a region touches, over its sizes, and how the region uses it.

A section is the same for all calls. Where one call may touch less, as behind ``if (beta != 0)``, or
of ``a[n][n]`` in a triangle alone, isl says which indices are the first and the last: dimensions
are proven to hold their indices, and so the order of indices is that of addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from annotune.analysis.bounds import Bounds, Extreme
from annotune.analysis.delinearise import ArrayLayout, declared_extents
from annotune.analysis.dependences import Carried, sees_writes
from annotune.analysis.domains import (
    IntoC,
    NotLinear,
    TooHard,
    access_map,
    ends,
    floored,
    in_long,
    poly_of,
)
from annotune.analysis.facts import ArrayShape, ArrayUse, ElementRange
from annotune.analysis.messages import GATHER_EXTENT
from annotune.analysis.statements import DataReference, may_be_computed
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import (
    Binary,
    Expr,
    Int,
    Select,
    negated,
    print_expr,
)
from annotune.ir.fold import fold
from annotune.ir.poly import ONE, ZERO, Poly, from_expr, product

# Cases of one expression, at most: more would be no test that a user reads.
MOST_PIECES = 4
_PARAMETER = isl.dim_type.param
_SWITCH = "s_"
_PLAIN_CALLS = frozenset({"min", "max", "abs", "labs", "fabs", "fabsf", "isnan"})


class Unbounded(Exception):
    """Nothing proves where the accesses to an array end, for all sizes."""

    def __init__(self, reference: DataReference, poly: Poly) -> None:
        super().__init__(reference.name)
        self.reference, self.poly = reference, poly


@dataclass(frozen=True, slots=True)
class ArraySection:
    """The elements ``lowest .. lowest + length - 1`` of one array, counted flat.

    `is_assumed` says that memory decides whether both ends are touched: what a call touches is
    to be looked for before it is copied. One call may touch less: `touched`, with `ends` as its
    first element and length where these are polynomials.
    """

    lowest: Poly
    length: Poly
    is_assumed: bool = False
    touched: ElementRange | None = None
    ends: tuple[Poly, Poly] | None = None

    @property
    def exact(self) -> tuple[Poly, Poly] | None:
        """Return the first element that each call touches and the length, None where it differs."""
        return (self.lowest, self.length) if self.touched is None else self.ends


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
    if gather is not None:
        return _gathered(gather, bounds)
    flat = model.layouts[name].flat
    if flat is None:
        raise Unbounded(references[0], ZERO)
    found: dict[DataReference, tuple[Extreme, Extreme]] = {}
    for reference, address in zip(references, flat, strict=True):
        extremes = bounds.extremes(reference, address)
        if extremes is None and model.all_sizes:
            raise Unbounded(reference, address)
        extremes = extremes or bounds.counted(reference, address)
        if extremes is not None:
            found[reference] = extremes
    whole = _declaration(name, tuple(found.values()), bounds)
    if not model.all_sizes:
        exact = {
            reference: bounds.counted(reference, address)
            for reference, address in zip(references, flat, strict=True)
            if any(not model.sizes.is_subset(e.touched) for e in found.get(reference, ()))
        }
        found = {r: e for r, e in {**found, **exact}.items() if e is not None}
    if whole is not None:
        return _declared(name, whole, found, bounds)
    if not found:
        return ArraySection(ZERO, ZERO)
    lowest, length = _ends(found, references[0], flat[0], bounds)
    section = ArraySection(
        lowest, length, _is_open(found, lowest, length, bounds, bounds.is_certain)
    )
    if not section.is_assumed:
        return section
    assumptions = model.region.spec.assumptions
    section = _of_a_call(name, section, bounds)
    return replace(section, is_assumed=section.is_assumed and not assumptions.whole)


def _ends(
    found: Mapping[DataReference, tuple[Extreme, Extreme]],
    reference: DataReference,
    address: Poly,
    bounds: Bounds,
) -> tuple[Poly, Poly]:
    """Return the lowest element and the length of what references touch between their extremes.

    Raises:
        Unbounded: Which is the least is not proven, or whether it is touched at all.
    """
    lows = dict.fromkeys(-low.address for low, _ in found.values())
    highs = dict.fromkeys(high.address for _, high in found.values())
    lowest = -_bound(tuple(lows), bounds, reference)
    length = _bound(tuple(highs), bounds, reference) - lowest + ONE
    for unreached in _unreached_ends(found.values(), lowest, length, bounds):
        if not (unreached.is_empty() or bounds.demands.exclude(unreached)):
            raise Unbounded(reference, address)
    return lowest, length


def _unreached_ends(
    found: Iterable[tuple[Extreme, Extreme]], lowest: Poly, length: Poly, bounds: Bounds
) -> Iterator[isl.Set]:
    """Yield the sizes at which the first, and those at which the last element is not touched."""
    both = tuple(found)
    yield _unreached(lowest, [low for low, _ in both], length, bounds)
    yield _unreached(lowest + length - ONE, [high for _, high in both], length, bounds)


def _is_open(
    found: Mapping[DataReference, tuple[Extreme, Extreme]],
    lowest: Poly,
    length: Poly,
    bounds: Bounds,
    counts: Callable[[DataReference], bool],
) -> bool:
    """Return whether an end might not be touched by the references that count."""
    counted = [both for reference, both in found.items() if counts(reference)]
    return not all(one.is_empty() for one in _unreached_ends(counted, lowest, length, bounds))


def _declared(
    name: str, whole: Poly, found: Mapping[DataReference, tuple[Extreme, Extreme]], bounds: Bounds
) -> ArraySection:
    """Return the section of an array with all its extents; what a call touches may be less."""
    everything = ArraySection(ZERO, whole)
    if not found:
        return replace(everything, touched=ElementRange(Int(0), Int(0), may_be_none=True))
    closed = replace(bounds, demands=replace(bounds.demands, is_open=False))
    reference = next(iter(found))
    try:
        lowest, length = _ends(found, reference, ZERO, closed)
        if not _is_open(found, lowest, length, closed, bounds.is_certain):
            if (lowest, length) == (ZERO, whole):
                return everything
            to_c = bounds.in_c(name)
            part = ElementRange(fold(to_c(lowest)), fold(to_c(length)))
            return replace(everything, touched=part, ends=(lowest, length))
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
    return replace(section, touched=hull.part, ends=hull.ends)


def _unreached(end: Poly, extremes: Iterable[Extreme], length: Poly, bounds: Bounds) -> isl.Set:
    """Return the sizes at which one end of a section that is not empty is not touched."""
    model = bounds.model
    nowhere = reached = isl.Set.empty(model.sizes.get_space())
    for extreme in extremes:
        if extreme.address == end and model.sizes.is_subset(extreme.touched):
            return nowhere
        text = model.space.text(f": {model.space.affine(extreme.address - end, {})} = 0")
        reached = reached.union(extreme.touched.intersect(isl.Set(text)))
    if not model.sizes.is_subset(reached) and bounds.signs.is_nonnegative(length):
        empty = isl.Set(model.space.text(f": {model.space.affine(length, {})} = 0"))
        reached = reached.union(empty)
    return model.sizes.subtract(reached)


def _gathered(gather: DataReference, bounds: Bounds) -> ArraySection:
    """Return the whole array that `gather` may reach anywhere."""
    whole = bounds.model.whole_length(gather.name)
    if whole is None:
        index = print_expr(gather.unknown_index)
        raise AnnotuneError.of(GATHER_EXTENT.at(gather.span, array=gather.name, subscript=index))
    return ArraySection(ZERO, whole)


def _declaration(
    name: str, found: Sequence[tuple[Extreme, Extreme]], bounds: Bounds
) -> Poly | None:
    """Return the length of the whole array, None when an access may leave it."""
    whole = bounds.model.whole_length(name)
    if whole is None:
        return None
    room = {low.address for low, _ in found} | {whole - ONE - high.address for _, high in found}
    inside = all(bounds.signs.is_nonnegative(one) for one in room)
    return whole if inside else None


def _bound(polys: Sequence[Poly], bounds: Bounds, reference: DataReference) -> Poly:
    """Return the poly that is proven to be the greatest."""
    for one in polys:
        if all(bounds.signs.is_nonnegative(one - other) for other in polys):
            return one
    for one in polys:
        if bounds.are_nonnegative(one - other for other in polys):
            return one
    raise Unbounded(reference, polys[0])


def shape(name: str, found: ArraySection, bounds: Bounds) -> ArrayShape:
    """Return the shape of the array `name`, with the names of inner dimensions first."""
    to_c = bounds.in_c(name)
    extents = bounds.model.layouts[name].extents
    return ArrayShape(
        name,
        tuple(None if one is None else to_c(one) for one in extents),
        to_c(found.lowest),
        to_c(found.length),
        found.touched,
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
    if found.is_assumed and found.touched is not None:
        return rows_of(found.touched, to_c(row))
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
    assert found.touched is not None
    return rows_of(found.touched, to_c(row))


def _may_be_null(name: str, found: ArraySection, bounds: Bounds) -> bool:
    """Return whether memory decides if anything is touched behind a pointer."""
    model = bounds.model
    array, references = model.arrays.get(name), model.references[name]
    if array is None or not array.is_pointer or found.is_assumed:
        return False
    for reference in references:
        runs = model.instances(reference).params()
        if bounds.is_certain(reference) and model.sizes.is_subset(runs):
            return False
    is_told = found.touched is not None and found.touched.may_be_none
    return not is_told or any(map(bounds.hangs_on_memory, references))


def array_use(
    name: str, found: ArraySection, bounds: Bounds, dependences: Sequence[Carried]
) -> ArrayUse:
    """Return how the region uses the array `name`, whose section is `found`."""
    references = bounds.model.references[name]
    is_read = any(not reference.is_write for reference in references)
    is_written = any(reference.is_write for reference in references)
    overwritten = (
        is_written
        and all(
            r.is_write or (not r.unknown and sees_writes(r, bounds.model, dependences))
            for r in references
        )
        and _writes_cover(name, found.exact, bounds)
    )
    return ArrayUse(name, is_read, is_written, overwritten)


def _writes_cover(name: str, found: tuple[Poly, Poly] | None, bounds: Bounds) -> bool:
    """Return whether every element of `found`, what each call touches, is written.

    That must be whole rows of the layout: a box of indices, all of them written.
    """
    model = bounds.model
    values = model.space.values
    layout = model.layouts[name]
    if not layout.extents:
        return any(model.surely_runs(r.statement) for r in model.references[name] if r.is_write)
    inner = [extent for extent in layout.extents[1:] if extent is not None]
    if len(inner) != len(layout.extents) - 1:
        return False
    if found is None:
        return False
    lowest, length = found
    row = product(inner)
    begin = lowest - layout.offset
    first, rest = begin.divide(row) if not row.is_zero else (ZERO, ONE)
    count, more = length.divide(row)
    if not rest.at(values).is_zero or not more.at(values).is_zero:
        return False
    written: isl.Set | None = None
    for reference in model.references[name]:
        if reference.is_write:
            wrote = model.surely(reference.statement)
            image = model.maps[reference].intersect_domain(wrote).range()
            # Of many strides isl would try each against each.
            written = image if written is None else written.union(image).coalesce()
    assert written is not None
    section = model.box([(first, first + count), *((ZERO, extent) for extent in inner)])
    return bool(section.is_subset(written))


@dataclass(frozen=True, slots=True)
class Hull:
    """A part, and as polynomials its first element and its length where they are some."""

    part: ElementRange
    ends: tuple[Poly, Poly] | None = None


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
    def of(cls, name: str, bounds: Bounds, is_sure: bool = False) -> Touched | None:
        """Return what calls touch of the array `name`; None where no isl set can say it.

        Where memory decides, it is taken to be touched, or with `is_sure` to be left alone.
        """
        model, layout = bounds.model, bounds.model.layouts[name]
        if not layout.proven or any(extent is None for extent in layout.extents[1:]):
            return None
        switches: dict[Expr, str] = {}
        elements: isl.Set | None = None
        context = model.sizes
        for reference in model.references[name]:
            statement = model.statement(reference.statement)
            runs = bounds.switched_on(reference, statement, is_sure)
            try:
                found = access_map(statement, model.rows[reference], model.space, runs).range()
            except NotLinear:
                return None
            for one in reference.tests:
                if not bounds.is_switch(one):
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
            return Hull(ElementRange(Int(0), Int(0), may_be_none=True))
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
        total, sum_ = offset, None
        for aff, poly, stride in zip(affs, polys, strides, strict=True):
            if poly is not None:
                total = total + poly * stride
                continue
            term = fold(Binary("*", self._c.value(aff), self._expr(stride)))
            sum_ = term if sum_ is None else Binary("+", sum_, term)
        return total if sum_ is None else fold(Binary("+", sum_, self._expr(total)))

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


def _may_call(function: str) -> bool:
    return function in _PLAIN_CALLS or function[:1] == "("


def _size(aff: isl.Aff) -> Poly | None:
    """Return an affine expression over sizes as a polynomial, None for one that rounds."""
    if aff.dim(isl.dim_type.div) or int(aff.get_denominator_val().to_python()) != 1:
        return None
    names = [aff.get_dim_name(_PARAMETER, place) for place in range(aff.dim(_PARAMETER))]
    for place, name in enumerate(names):
        if (name or "").startswith(_SWITCH) and aff.involves_dims(_PARAMETER, place, 1):
            return None
    return poly_of(aff)
