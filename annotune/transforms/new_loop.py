"""The loop that cutting another one makes, around it: over its tiles, or over its workers."""

from __future__ import annotations

from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.diagnostics import Diagnostic, Span
from annotune.transforms.context import Context
from annotune.transforms.legality import missing
from annotune.transforms.messages import FACTOR_TOO_SMALL, NAME_TAKEN
from annotune.transforms.tree import Body


@dataclass(frozen=True, slots=True)
class NewLoop:
    """What a `command` puts around a loop: a loop over `what`, which has its name and a suffix.

    `usual` are numbers that one may ask for.
    """

    command: str
    what: str
    suffix: str
    usual: str

    def name(self, loop: str) -> str:
        """Return the name of the new loop around `loop`."""
        return loop + self.suffix

    def is_taken(self, loop: str, analysis: Analysis) -> bool:
        """Return whether the region has something of the name that the new loop needs."""
        return self.name(loop) in analysis.region.names

    def why_not(
        self, body: Body, context: Context, statement: int, loop: str, count: int, span: Span
    ) -> Diagnostic | None:
        """Return why no such loop can be there, whatever `loop` is like, or None."""
        absent = missing(body, statement, (loop,), span)
        if absent is not None:
            return absent
        if count < 1:
            return FACTOR_TOO_SMALL.at(
                span, command=self.command, factor=count, loop=loop, factors=self.usual
            )
        if self.is_taken(loop, context.analysis):
            return NAME_TAKEN.at(
                span, command=self.command, what=self.what, loop=loop, name=self.name(loop)
            )
        return None
