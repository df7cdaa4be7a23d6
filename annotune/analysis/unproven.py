"""What the model of a region cannot prove for all sizes, and how it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotune.analysis.messages import (
    BOUND_NOT_AFFINE,
    FOR_THESE_SIZES,
    MISSING_SIZE,
    NOT_AFFINE,
    UNKNOWN_EXTENT,
)
from annotune.analysis.model import all_known_sizes, fixed_sizes
from annotune.analysis.named import Rounded, parts_within
from annotune.analysis.poly import Poly
from annotune.analysis.statements import Reference, Statement, loops_of
from annotune.analysis.text import listed
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access
from annotune.ir.region import Region
from annotune.ir.text import print_expr


class Unproven(Exception):
    """A place that is not linear with the sizes known so far, or cannot be flattened."""

    def __init__(self, where: Statement, what: Reference | None, poly: Poly | None) -> None:
        super().__init__(str(poly))
        self.where, self.what, self.poly = where, what, poly
        self.is_section = self.is_condition = False

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
            if self.is_condition:
                reason = "a condition multiplies or divides a loop variable by a size"
        elif self.is_section:
            span, array = self.what.span, self.what.name
            reason = f"which part of '{array}' is touched at other sizes is not known"
        else:
            span, array = self.what.span, self.what.name
            reason = f"the subscripts of '{array}' may overrun its rows at other sizes"
        return FOR_THESE_SIZES.at(
            span, sizes=sizes or "the numbers of the text", reason=reason, array=array
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
