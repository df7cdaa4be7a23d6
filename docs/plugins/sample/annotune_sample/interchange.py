"""A transform: two loops of a perfect nest change places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.transforms.permute import Permute
from annotune.transforms.transform import Context, OnStatement, Word, takes
from annotune.transforms.tree import Body, path


@dataclass(frozen=True, slots=True)
class Interchange(OnStatement):
    """Let the loops `first` and `second` around `statement` change places.

    ``Interchange(0, "i", "j")``: ``for i: for j: S0`` becomes ``for j: for i: S0``.
    """

    word: ClassVar[Word] = Word(
        "interchange",
        "let two loops of a perfect nest change places",
        'interchange(0, "i", "j")',
        "Wolfe 1996, 9",
    )
    first: str = takes(Kind.LOOP)
    second: str = takes(Kind.LOOP)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the loops may not change places, or None when they may."""
        return self._permuted(body).why_not(body, context)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loops in each other's places."""
        return self._permuted(body).apply(body, context)

    def _permuted(self, body: Body) -> Permute:
        places = {self.first: self.second, self.second: self.first}
        names = [loop.var for loop in path(body, self.statement) if loop.var in places]
        order = tuple(places[name] for name in names) if len(names) == 2 else (*places,)
        return Permute(self.statement, order, span=self.span)
