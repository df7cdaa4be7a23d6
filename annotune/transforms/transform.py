"""What every transform is: a frozen value that says why not, then returns a new body."""

from __future__ import annotations

from typing import Protocol

from annotune.analysis.facts import Analysis
from annotune.diagnostics import Diagnostic
from annotune.transforms.tree import Body


class Transform(Protocol):
    """One step of a schedule."""

    def why_not(self, body: Body, analysis: Analysis) -> Diagnostic | None:
        """Return the reason the step is illegal on `body`, or None when it is legal."""

    def apply(self, body: Body) -> Body:
        """Return `body` after the step, which `why_not` has accepted."""
