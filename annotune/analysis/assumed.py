"""What the analysis says of arrays whose accesses depend on memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotune.analysis.extremes import Bounds
from annotune.analysis.looks import Looked
from annotune.analysis.messages import ASSUMED_IN_RANGE, LOOKED_FOR
from annotune.analysis.model import Model
from annotune.analysis.poly import to_expr
from annotune.analysis.sections import Section, whole_length
from annotune.analysis.statements import Reference
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access
from annotune.ir.text import print_expr


def assumption_warnings(
    bounds: Bounds, sections: Mapping[str, Section], found: Looked
) -> tuple[Diagnostic, ...]:
    """Return the warnings about gathers in range and about elements that a condition guards.

    ``def assume { arg extent = [...]; }`` with the array's length silences both.
    """
    model = bounds.model
    stated = model.region.spec.assumptions.extents
    warnings: list[Diagnostic] = []
    for name in sections:
        if name not in stated:
            warnings += _in_range(name, model)
        if name in found.parts:
            warnings += _looked_for(name, bounds)
    return (*warnings, *found.unseen)


def _in_range(name: str, model: Model) -> Iterator[Diagnostic]:
    gather = next((r for r in model.references[name] if r.unknown), None)
    if gather is None:
        return
    whole = whole_length(name, model)
    assert whole is not None, "a gather from an array of unknown length is refused"
    extents = f"[{print_expr(to_expr(whole))}]"
    index = _unknown_index(gather)
    yield ASSUMED_IN_RANGE.at(gather.span, subscript=index, array=name, extents=extents)


def _unknown_index(gather: Reference) -> str:
    assert isinstance(gather.access, Access)
    pairs = zip(gather.access.indices, gather.subscripts, strict=True)
    return next(print_expr(index) for index, poly in pairs if poly.names & gather.unknown)


def _looked_for(name: str, bounds: Bounds) -> Iterator[Diagnostic]:
    for reference in bounds.model.references[name]:
        if not bounds.is_certain(reference):
            condition = next(c for c in reference.conditions[::-1])
            yield LOOKED_FOR.at(reference.span, array=name, condition=print_expr(condition))
            return
