"""Makes the model of a region: for all sizes where that can be proven, else for the given ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from annotune.analysis.conditions import Conditions, Truth
from annotune.analysis.demands import Demand, Demands, demands_on, needed
from annotune.analysis.domains import (
    NotLinear,
    Space,
    access_map,
    bound_facts,
    context,
    domain,
    tuple_text,
)
from annotune.analysis.messages import EMPTY_LOOP
from annotune.analysis.model import Model, fixed_sizes, known_values
from annotune.analysis.named import Rounded, parts_within, with_values
from annotune.analysis.poly import ONE, Poly, from_expr, variable
from annotune.analysis.shapes import Layout, recover
from annotune.analysis.statements import (
    Reference,
    Statement,
    local_arrays,
    loops_of,
    named_sizes,
    written_scalars,
)
from annotune.analysis.unproven import Unproven
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.ir.expr import Access, Expr
from annotune.ir.region import Array, Region


def build_model(
    region: Region,
    statements: tuple[Statement, ...],
    at_sizes: tuple[Reference, Poly] | None = None,
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
    _refuse_empty_loops(statements, Space(known))
    if at_sizes is not None:
        reference, address = at_sizes
        where = next(s for s in statements if s.number == reference.statement)
        first = Unproven(where, reference, address)
        first.is_section = True
    else:
        try:
            return _for_all_sizes(region, statements, known, demands)
        except Unproven as unproven:
            first = unproven
    why = first.for_sizes(statements, region)
    try:
        return _Builder(region, statements, Space(known), known, ()).model(why)
    except Unproven as unproven:
        raise AnnotuneError.of(unproven.refusal(known)) from None


def _for_all_sizes(
    region: Region,
    statements: tuple[Statement, ...],
    known: Mapping[str, int],
    demands: tuple[Demand, ...],
) -> Model:
    """Return the model for all sizes that fulfil `demands` and what else its proofs need.

    Raises:
        Unproven: Something is not linear, or may be wrong whatever could be demanded.
    """
    space = Space(with_values(fixed_sizes(region), named_sizes(statements)))
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
    statements: tuple[Statement, ...]
    space: Space
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
    def by_number(self) -> Mapping[int, Statement]:
        return {statement.number: statement for statement in self.statements}

    def model(self, why_sizes: Diagnostic | None) -> Model:
        """Return the model.

        Raises:
            Unproven: Something is not linear with the sizes of `space`.
        """
        statements = self.statements
        local = local_arrays(self.region)
        arrays = {**self.region.arrays, **local.arrays}
        sizes = self.demands.context()
        iterations = {s.number: self.iterations(s, sizes) for s in statements}
        truths: dict[Reference, Truth] = {}
        domains, surely = dict(iterations), dict(iterations)
        for statement in statements:
            self.truths_of(statement, iterations[statement.number], truths)
            writes = truths.get(statement.references[-1])
            if writes is not None:
                domains[statement.number] = writes.maybe
                surely[statement.number] = writes.surely
            self.check_parts(statement, domains[statement.number], sizes)
        references = _references(statements)
        runs = {
            r: truths[r].maybe if r in truths else iterations[r.statement]
            for used in references.values()
            for r in used
        }
        layouts = {n: self.layout(arrays.get(n), used, runs) for n, used in references.items()}
        rows: dict[Reference, tuple[Poly, ...]] = {}
        maps: dict[Reference, isl.Map] = {}
        for name, used in references.items():
            rows.update(zip(used, layouts[name].rows, strict=True))
            if any(reference.is_write for reference in used):
                maps.update(self.maps(used, layouts[name], runs))
        return Model(
            region=self.region,
            statements=statements,
            space=self.space,
            values=self.known,
            sizes=sizes,
            iterations=iterations,
            domains=domains,
            surely=surely,
            truths=truths,
            arrays=arrays,
            local=local,
            layouts=layouts,
            references=references,
            rows=rows,
            maps=maps,
            why_sizes=why_sizes,
            demands=needed(self.demands.found, self.space, self.demands.sizes),
        )

    def layout(
        self,
        array: Array | None,
        used: tuple[Reference, ...],
        runs: Mapping[Reference, isl.Set],
    ) -> Layout:
        """Return the dimensions of what all references in `used` name."""
        if not isinstance(used[0].access, Access):
            return Layout((), ((),) * len(used), None, True)
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
        used: tuple[Reference, ...],
        layout: Layout,
        runs: Mapping[Reference, isl.Set],
    ) -> dict[Reference, isl.Map]:
        """Return the elements that each reference touches; equal references share a map."""
        shared: dict[object, isl.Map] = {}
        found: dict[Reference, isl.Map] = {}
        for one, row in zip(used, layout.rows, strict=True):
            key = (one.statement, row, one.conditions)
            if key not in shared:
                where = self.by_number[one.statement]
                shared[key] = access_map(
                    where, row, self.space, runs[one], one.unknown, layout.extents
                )
            found[one] = shared[key]
        return found

    def iterations(self, statement: Statement, sizes: isl.Set) -> isl.Set:
        try:
            return domain(statement, self.space, sizes)
        except NotLinear as no:
            raise Unproven(statement, None, no.poly) from None

    def truths_of(
        self, statement: Statement, iterations: isl.Set, truths: dict[Reference, Truth]
    ) -> None:
        """Add where each reference under a condition is made, in the iterations."""
        written = written_scalars(self.region)
        loops = frozenset(loop.var for loop in self.region.nest.loops())
        made = Conditions(self.region, statement, self.space, written, loops, True)
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
                            unproven = Unproven(statement, None, no.poly)
                            unproven.is_condition = True
                            raise unproven from None
                        made = replace(made, is_strict=False, _known={})
                        truth &= made.truth(condition)
                shared[reference.conditions] = truth
            truths[reference] = shared[reference.conditions]

    def check_parts(self, statement: Statement, runs: isl.Set, sizes: isl.Set) -> None:
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
                    where = next((r for r in statement.references if _uses(r, name)), None)
                    raise Unproven(statement, where, variable(name))

    def rounds_down(
        self, statement: Statement, name: str, part: Rounded, instances: isl.Set
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


def _uses(reference: Reference, name: str) -> bool:
    return any(name in poly.names for poly in reference.subscripts)


def _first_with(used: tuple[Reference, ...], poly: Poly) -> Reference:
    """Return the reference whose subscript is `poly`, the first one when none is."""
    return next((r for r in used if poly in r.subscripts), used[0])


def _extents(arrays: Iterable[Array]) -> list[Poly]:
    polys = [
        from_expr(extent) for array in arrays for extent in array.extents if extent is not None
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
