"""A region as isl sees it: domains, layouts and access maps, for all sizes or for some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from annotune.analysis.domains import NotLinear, Space, access_map, context, domain
from annotune.analysis.messages import (
    BOUND_NOT_AFFINE,
    EMPTY_LOOP,
    FOR_THESE_SIZES,
    MISSING_SIZE,
    NOT_AFFINE,
    UNKNOWN_EXTENT,
)
from annotune.analysis.poly import Poly, from_expr
from annotune.analysis.shapes import Layout, recover
from annotune.analysis.statements import Reference, Statement, loops_of
from annotune.analysis.text import listed
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.ir.expr import Access
from annotune.ir.region import Region
from annotune.ir.text import print_expr


@dataclass(frozen=True)
class Model:
    """The statements of a region with their instances and the elements they touch.

    `rows` gives each array reference's indices in its array's layout, `maps` the same as isl
    maps; read-only arrays have no maps, since they take part in no dependence. `why_sizes`
    is the warning that says why the model holds for the region's sizes only, None when it
    holds for all.
    """

    region: Region
    statements: tuple[Statement, ...]
    space: Space
    sizes: isl.Set
    domains: Mapping[int, isl.Set]
    layouts: Mapping[str, Layout]
    references: Mapping[str, tuple[Reference, ...]]
    rows: Mapping[Reference, tuple[Poly, ...]]
    maps: Mapping[Reference, isl.Map]
    why_sizes: Diagnostic | None

    @property
    def all_sizes(self) -> bool:
        return self.why_sizes is None

    def statement(self, number: int) -> Statement:
        """Return the statement with this number."""
        return next(one for one in self.statements if one.number == number)


def fixed_sizes(region: Region) -> dict[str, int]:
    """Return the sizes that the C text fixes."""
    return region.constants


def all_known_sizes(region: Region) -> dict[str, int]:
    """Return the sizes that have a value; C wins over the annotation."""
    return {**region.sizes, **fixed_sizes(region)}


def build_model(
    region: Region,
    statements: tuple[Statement, ...],
    at_sizes: tuple[Reference, Poly] | None = None,
) -> Model:
    """Return the model for all sizes where that can be proven, else for the region's sizes.

    `at_sizes` is a reference, with its address, that leaves no choice but the region's sizes.

    Raises:
        AnnotuneError: Without a value for a size nothing can be proven, or a subscript or
            bound is not affine whatever the sizes.
    """
    # A loop that never runs leaves nothing to measure or to tune.
    _refuse_empty_loops(statements, Space(all_known_sizes(region)))
    if at_sizes is not None:
        reference, address = at_sizes
        where = next(s for s in statements if s.number == reference.statement)
        first = _Unproven(where, reference, address)
        first.is_section = True
    else:
        try:
            return _build(region, statements, Space(fixed_sizes(region)), None)
        except _Unproven as unproven:
            first = unproven
    known = all_known_sizes(region)
    try:
        return _build(region, statements, Space(known), first.for_sizes(statements, region))
    except _Unproven as unproven:
        raise AnnotuneError.of(unproven.refusal(known)) from None


class _Unproven(Exception):
    """A place that is not linear with the sizes known so far, or cannot be flattened."""

    def __init__(self, where: Statement, what: Reference | None, poly: Poly | None) -> None:
        super().__init__(str(poly))
        self.where, self.what, self.poly = where, what, poly
        self.is_section = False

    def for_sizes(self, statements: Sequence[Statement], region: Region) -> Diagnostic:
        """Return the warning that the claims hold for the region's sizes only."""
        polys = [p for c in loops_of(statements) for p in (*c.lower, *c.upper)]
        polys += [p for s in statements for r in s.references for p in r.subscripts]
        used = {name for poly in polys for name in poly.names}
        given = sorted(used & set(all_known_sizes(region)) - set(fixed_sizes(region)))
        known = all_known_sizes(region)
        sizes = ", ".join(f"{name} = {known[name]}" for name in given)
        if self.what is None:
            span, array = self.where.assign.span, print_expr(self.where.assign.target)
            reason = "a loop bound is a product with an outer loop variable"
        elif self.is_section:
            span, array = self.what.span, self.what.name
            reason = f"which part of '{array}' is touched at other sizes is not known"
        else:
            span, array = self.what.span, self.what.name
            reason = f"the subscripts of '{array}' may overrun its rows at other sizes"
        return FOR_THESE_SIZES.at(span, sizes=sizes, reason=reason, array=array)

    def refusal(self, known: Mapping[str, int]) -> Diagnostic:
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
        missing = sorted(open_names - iterators - set(known))
        if missing:
            quoted = listed([f"'{name}'" for name in missing])
            reason = (
                "a loop bound multiplies it by an outer loop variable"
                if self.what is None
                else f"without it the rows of '{self.what.name}' cannot be proven apart"
            )
            return MISSING_SIZE.at(span, names=quoted, reason=reason, example=missing[0])
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


def _build(
    region: Region,
    statements: tuple[Statement, ...],
    space: Space,
    why_sizes: Diagnostic | None,
) -> Model:
    sizes = context(statements, space, _extents(region))
    domains: dict[int, isl.Set] = {}
    for statement in statements:
        try:
            domains[statement.number] = domain(statement, space, sizes)
        except NotLinear as no:
            raise _Unproven(statement, None, no.poly) from None
    by_number = {statement.number: statement for statement in statements}
    references = _references(statements)
    layouts: dict[str, Layout] = {}
    rows: dict[Reference, tuple[Poly, ...]] = {}
    maps: dict[Reference, isl.Map] = {}
    for name, used in references.items():
        where = by_number[used[0].statement]
        layout = Layout((), ((),) * len(used), None, True)
        if isinstance(used[0].access, Access):
            try:
                layout = recover(region.arrays.get(name), used, by_number, domains, space)
            except NotLinear as no:
                raise _Unproven(where, _first_with(used, no.poly), no.poly) from None
        layouts[name] = layout
        rows.update(zip(used, layout.rows, strict=True))
        if not any(reference.is_write for reference in used):
            continue
        if not layout.proven:
            raise _Unproven(where, used[0], None)
        shared: dict[tuple[int, tuple[Poly, ...]], isl.Map] = {}
        for reference, row in zip(used, layout.rows, strict=True):
            number = reference.statement
            if (number, row) not in shared:
                shared[number, row] = access_map(by_number[number], row, space, domains[number])
            maps[reference] = shared[number, row]
    return Model(
        region, statements, space, sizes, domains, layouts, references, rows, maps, why_sizes
    )


def _first_with(used: tuple[Reference, ...], poly: Poly) -> Reference:
    """Return the reference whose subscript is `poly`, the first one when none is."""
    return next((r for r in used if poly in r.subscripts), used[0])


def _extents(region: Region) -> list[Poly]:
    polys = [
        from_expr(extent)
        for array in region.arrays.values()
        for extent in array.extents
        if extent is not None
    ]
    return [poly for poly in polys if poly is not None]


def _references(statements: tuple[Statement, ...]) -> dict[str, tuple[Reference, ...]]:
    """Return the distinct references of each array and written scalar, in text order."""
    found: defaultdict[str, dict[Reference, None]] = defaultdict(dict)
    for statement in statements:
        for reference in statement.references:
            found[reference.name].setdefault(reference)
    return {name: tuple(used) for name, used in found.items()}


def _refuse_empty_loops(statements: tuple[Statement, ...], space: Space) -> None:
    empty = [
        EMPTY_LOOP.at(loop.loop.span, loop=loop.var)
        for loop in loops_of(statements)
        if any(_is_empty(upper - lower, space) for lower in loop.lower for upper in loop.upper)
    ]
    if empty:
        raise AnnotuneError.of(*empty)


def _is_empty(trip: Poly, space: Space) -> bool:
    count = trip.at(space.values).constant
    return count is not None and count < 1
