"""What every transform is: a frozen value that says why not, then returns a new body."""

from __future__ import annotations

from typing import Protocol

from annotune.diagnostics import Diagnostic
from annotune.transforms.context import Context
from annotune.transforms.tree import Body


class Transform(Protocol):
    """One step of a schedule."""

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the step is illegal on `body`, or None when it is legal."""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` after the step, which `why_not` has accepted."""
