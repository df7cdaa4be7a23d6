"""A region as isl sees it: domains, layouts and access maps, for all sizes or for some.

The model holds for all sizes where that can be proven, else for the given ones; what cannot be
proven says so in the user's words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from annotune.analysis.conditions import ConditionReader, Truth
from annotune.analysis.delinearise import (
    ArrayLayout,
    Demand,
    Demands,
    declared_extents,
    demands_on,
    needed,
    recover,
)
from annotune.analysis.domains import (
    IslSpace,
    NotLinear,
    access_map,
    bound_facts,
    context,
    domain,
    tuple_text,
)
from annotune.analysis.messages import (
    BOUND_NOT_AFFINE,
    EMPTY_LOOP,
    FOR_THESE_SIZES,
    MISSING_SIZE,
    NOT_AFFINE,
    UNKNOWN_EXTENT,
    listed,
)
from annotune.analysis.statements import (
    DataReference,
    NestStatement,
    Rounded,
    local_arrays,
    loops_of,
    named_sizes,
    parts_within,
    with_values,
)
from annotune.annotation import expressions as ex
from annotune.annotation.expressions import parse_expression
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.ir.expr import Access, Binary, Expr, Int, Negate, Var, print_expr
from annotune.ir.fold import fold
from annotune.ir.poly import ONE, Poly, from_expr, product, variable
from annotune.ir.region import Array, Region


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

    @property
    def all_sizes(self) -> bool:
        return self.why_sizes is None

    def statement(self, number: int) -> NestStatement:
        """Return the statement with this number."""
        return next(one for one in self.statements if one.number == number)

    def inside(self, loop: tuple[int, ...]) -> tuple[NestStatement, ...]:
        """Return the statements in the loop at this position in the text."""
        return tuple(one for one in self.statements if one.position[: len(loop)] == loop)

    def box(self, sides: Sequence[tuple[Poly, Poly]]) -> isl.Set:
        """Return the indices with each one from a side's first to before its second value."""
        indices = [f"a{place}" for place in range(len(sides))]
        facts = [
            f"{self.space.affine(low, {})} <= {index} < {self.space.affine(high, {})}"
            for index, (low, high) in zip(indices, sides, strict=True)
        ]
        text = f"[{', '.join(indices)}] : {' and '.join(facts)}"
        return isl.Set(self.space.text(text)).intersect_params(self.sizes)

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

    def whole_length(self, name: str) -> Poly | None:
        """Return the number of elements that C declares or the annotation states; else None."""
        dimensions = len(self.references[name][0].subscripts)
        declared = declared_extents(self.arrays.get(name), dimensions)
        known = [extent for extent in declared if extent is not None]
        if len(known) == len(declared):
            return product(known)
        texts = self.region.spec.assumptions.extents.get(name, ())
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
        raise AnnotuneError.of(unproven.refusal(known)) from None


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

    @cached_property
    def demands(self) -> Demands:
        """Return what the proofs demand of the sizes, the given demands first."""
        arrays = self.region.arrays.values()
        objects = _extents(array for array in arrays if not array.is_pointer)
        base = context(self.statements, self.space, objects)
        named = named_sizes(self.statements)
        demands = demands_on(self.region, named, self.space, base, self.known)
        demands = replace(demands, found=list(self.given), is_open=self.is_open)
        # Rows behind a pointer may have no elements, unless loops run along them.
        left = [e for e in _extents(a for a in arrays if a.is_pointer) if not demands.add(e - ONE)]
        return replace(demands, sizes=context(self.statements, self.space, [*objects, *left]))

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
            for r in s.references
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
            found = recover(array, used, self.by_number, own, self.space, self.demands)
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
        shared: dict[tuple[Expr, ...], Truth] = {}
        for reference in statement.references:
            if not reference.conditions:
                continue
            if reference.conditions not in shared:
                truth = Truth(iterations, iterations)
                for condition in reference.conditions:
                    try:
                        truth &= made.truth(condition)
                    except NotLinear as no:
                        if no.names <= self.known.keys() | loops:
                            reason = "a condition multiplies or divides a loop variable by a size"
                            raise Unproven(statement, None, no.poly, reason) from None
                        made = replace(made, is_strict=False, _known={})
                        truth &= made.truth(condition)
                shared[reference.conditions] = truth
            yield reference, shared[reference.conditions]

    def check_parts(self, statement: NestStatement, runs: isl.Set, sizes: isl.Set) -> None:
        """Raise for a rounded part whose numerator may be negative, where C rounds up.

        The bounds of a loop are evaluated in the loops around it, whether it runs or not.
        """
        outer: list[tuple[isl.Set, frozenset[str]]] = [(runs, frozenset(statement.parts))]
        for depth, loop in enumerate(statement.loops):
            names = frozenset(n for p in (*loop.lower, *loop.upper) for n in p.names)
            if names & statement.parts.keys():
                facts = " and ".join(bound_facts(statement, self.space, depth)) or "true"
                text = self.space.text(f"{tuple_text(statement)} : {facts}")
                around = isl.Set(text).intersect_params(sizes)
                outer.append((around, parts_within(names, statement.parts)))
        for instances, names in outer:
            for name in names:
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
            below = f"{tuple_text(statement)} : {self.space.over(part.left, statement)} < 0"
        except NotLinear:
            return False
        wrong = instances.intersect(isl.Set(self.space.text(below)))
        return bool(wrong.is_empty()) or self.demands.exclude(wrong.params())


def _first_with(used: tuple[DataReference, ...], poly: Poly) -> DataReference:
    """Return the reference whose subscript is `poly`, the first one when none is."""
    return next((r for r in used if poly in r.subscripts), used[0])


def _extents(arrays: Iterable[Array]) -> list[Poly]:
    polys = [
        from_expr(extent) for array in arrays for extent in array.extents if extent is not None
    ]
    return [poly for poly in polys if poly is not None]


def references_of(statements: tuple[NestStatement, ...]) -> dict[str, tuple[DataReference, ...]]:
    """Return the distinct references of each array and written scalar, in text order."""
    found: defaultdict[str, dict[DataReference, None]] = defaultdict(dict)
    for statement in statements:
        for reference in statement.references:
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
        return FOR_THESE_SIZES.at(
            span,
            sizes=sizes or "the numbers of the text",
            reason=self.reason or reason,
            array=array,
        )

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
        for name in parts_within(self.poly.names, self.where.parts):
            part = self.where.parts[name]
            open_names |= part.right.names if isinstance(part, Rounded) else frozenset()
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
