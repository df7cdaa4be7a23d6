"""What transforms may know of the region that they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotune.analysis.facts import Analysis
from annotune.ir.expr import Expr
from annotune.ir.fold import fold
from annotune.transforms.value_type import region_types


@dataclass(frozen=True)
class Context:
    """A region's analysis, and the `sizes` that hold wherever what is made of the region runs.

    Those are sizes that C fixes, and the tuned ones where a plan is for these alone.
    """

    analysis: Analysis
    sizes: Mapping[str, int] = field(default_factory=dict)

    def folded(self, expr: Expr) -> Expr:
        """Return an expression with the sizes put in."""
        return fold(expr, self.sizes)

    @property
    def tuned(self) -> Mapping[str, int]:
        """Return the sizes that the region is tuned for, which need not hold."""
        return self.analysis.region.sizes

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that nothing new may have."""
        return self.analysis.region.names

    @cached_property
    def types(self) -> Mapping[str, str]:
        """Return the C types of the region's names, of an array that of its elements."""
        return region_types(self.analysis.region)

    @cached_property
    def extents(self) -> Mapping[str, Sequence[Expr | None]]:
        """Return the extents of the arrays, which lie flat in memory, outermost first."""
        return {a.name: a.extents for a in self.analysis.region.arrays.values()}
