"""What every transform is: a frozen value that says why not, then returns a new body."""

from __future__ import annotations

from typing import ClassVar, Protocol, TypeAlias

from annotune.diagnostics import Diagnostic, Span
from annotune.transforms.context import Context
from annotune.transforms.tree import Body


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


# What is done to a region, in the order in which it is done.
Schedule: TypeAlias = tuple[Transform, ...]
