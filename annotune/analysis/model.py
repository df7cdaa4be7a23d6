"""A region as isl sees it: domains, layouts and access maps, for all sizes or for some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from annotune.analysis.conditions import Truth
from annotune.analysis.demands import Demand
from annotune.analysis.domains import Space
from annotune.analysis.named import with_values
from annotune.analysis.poly import Poly
from annotune.analysis.shapes import Layout
from annotune.analysis.statements import LocalArrays, Reference, Statement, named_sizes
from annotune.diagnostics import Diagnostic
from annotune.ir.region import Array, Region


@dataclass(frozen=True)
class Model:
    """The statements of a region with their instances and the elements they touch.

    `iterations` are the runs of the loops around each statement, `domains` those in which its
    guard may let it run, and `surely` those in which it runs for sure; `truths` has the same
    for references that are not made in every run. `rows` gives each array reference's indices
    in its array's layout, `maps` the same as isl maps; read-only arrays have no maps, since
    they take part in no dependence. `values` are all known sizes, named parts among them.
    `why_sizes` is the warning that says why the model holds for the region's sizes only, None
    when it holds for all. `demands` are conditions on sizes under which alone
    it holds: the context `sizes` has them beside what needs no test of its own.
    """

    region: Region
    statements: tuple[Statement, ...]
    space: Space
    values: Mapping[str, int]
    sizes: isl.Set
    iterations: Mapping[int, isl.Set]
    domains: Mapping[int, isl.Set]
    surely: Mapping[int, isl.Set]
    truths: Mapping[Reference, Truth]
    arrays: Mapping[str, Array]
    local: LocalArrays
    layouts: Mapping[str, Layout]
    references: Mapping[str, tuple[Reference, ...]]
    rows: Mapping[Reference, tuple[Poly, ...]]
    maps: Mapping[Reference, isl.Map]
    why_sizes: Diagnostic | None
    demands: tuple[Demand, ...] = ()

    @property
    def all_sizes(self) -> bool:
        return self.why_sizes is None

    def statement(self, number: int) -> Statement:
        """Return the statement with this number."""
        return next(one for one in self.statements if one.number == number)

    def instances(self, reference: Reference) -> isl.Set:
        """Return the runs of its statement in which `reference` may be made."""
        truth = self.truths.get(reference)
        return self.iterations[reference.statement] if truth is None else truth.maybe


def fixed_sizes(region: Region) -> dict[str, int]:
    """Return the sizes that the C text fixes."""
    return region.constants


def all_known_sizes(region: Region) -> dict[str, int]:
    """Return the sizes that have a value; C wins over the annotation."""
    return {**region.sizes, **fixed_sizes(region)}


def known_values(region: Region, statements: Sequence[Statement]) -> dict[str, int]:
    """Return the sizes that have a value, and those that follow from them, such as n / 2."""
    return with_values(all_known_sizes(region), named_sizes(statements))
