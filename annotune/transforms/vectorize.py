"""Run the iterations of a loop in the lanes of a vector unit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.nest import Level
from annotune.transforms.legality import missing, placement_refusal, serial_refusal
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import Body, named_loop, replace_loop
from annotune.transforms.word import CHILL, Word, takes


@dataclass(frozen=True, slots=True)
class Vectorize(OnStatement):
    """Mark a loop around `statement` as one whose iterations are lanes; it stays in its place.

    ``Vectorize(0, "i")``: ``for k: for i: S0`` becomes ``for k: for i @simd: S0``.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "vectorize",
        "run the loop with vector instructions",
        'vectorize(0, "i")',
        CHILL,
        exact=True,
    )
    loop: str = takes(Kind.LOOP)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the iterations may not run at once, or None when they may."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        loop = named_loop(body, self.statement, self.loop)
        if refusal := serial_refusal("vectorize", body, self.statement, loop, self.span):
            return refusal
        help_ = "name a loop that carries no dependence"
        return placement_refusal("vectorize", self.apply(body, context), context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop marked, which `why_not` has accepted."""
        loop = named_loop(body, self.statement, self.loop)
        return replace_loop(body, loop, (replace(loop, place=Level.SIMD),))
