"""What every transform is, a frozen value that says why not and then returns a new body; and what
it may know of the region that it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, TypeAlias

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import Kind
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.expr import Expr
from annotune.ir.fold import fold
from annotune.transforms.tree import Body
from annotune.transforms.value_type import region_types
from annotune.transforms.word import takes


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


class Transform(Protocol):
    """One step of a schedule. Its fields are the arguments of its command, and its place.

    One that `is_inner` changes what a worker does, others which worker does what.
    """

    is_inner: ClassVar[bool]

    @property
    def statement(self) -> int:
        """Return the statement that names the step, one of the kernel that it changes."""

    @property
    def span(self) -> Span:
        """Return where the user asks for the step, NOWHERE for our own decision."""

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the step is illegal on `body`, or None when it is legal."""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` after the step, which `why_not` has accepted."""


@dataclass(frozen=True, slots=True)
class OnStatement:
    """A step that names its nest by one `statement` in it; `span` is where the user asks for it."""

    statement: int = takes(Kind.STATEMENT)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


# What is done to a region, in the order in which it is done.
Schedule: TypeAlias = tuple[Transform, ...]
