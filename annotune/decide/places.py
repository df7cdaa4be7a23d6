"""Where commands of a recipe stand, for messages about the transforms that they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotune.diagnostics import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Places:
    """Where the user wrote the command behind each part of a choice, if anywhere."""

    spans: Mapping[tuple[str, int], Span]

    def of(self, command: str, statement: int) -> Span:
        """Return the place of a command on a statement, NOWHERE for our own decision."""
        return self.spans.get((command, statement), NOWHERE)


NO_PLACES = Places({})
