"""Run the iterations of a loop in the lanes of a vector unit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.nest import Level, Loop
from annotune.transforms.legality import missing, placement_refusal
from annotune.transforms.messages import PLACED
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body, path, replace_loop
from annotune.transforms.word import CHILL, Word, takes


@dataclass(frozen=True, slots=True)
class Vectorize:
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
    statement: int = takes(Kind.STATEMENT)
    loop: str = takes(Kind.LOOP)
    span: Span = field(default=NOWHERE, compare=False)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the iterations may not run at once, or None when they may."""
        absent = missing(body, self.statement, (self.loop,), self.span)
        if absent is not None:
            return absent
        loop = self._loop(body)
        if loop.place != Level.SERIAL:
            serial = [x.var for x in path(body, self.statement) if x.place == Level.SERIAL]
            return PLACED.at(
                self.span,
                command="vectorize",
                loop=self.loop,
                place=loop.place,
                loops=", ".join(serial) or "none",
            )
        help_ = "name a loop that carries no dependence"
        return placement_refusal("vectorize", self.apply(body, context), context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop marked, which `why_not` has accepted."""
        loop = self._loop(body)
        return replace_loop(body, loop, (replace(loop, place=Level.SIMD),))

    def _loop(self, body: Body) -> Loop:
        return next(x for x in path(body, self.statement) if x.var == self.loop)
