"""Scalar expansion: give a private scalar an element for each iteration of some loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, Var
from annotune.ir.nest import Level, LocalArray, Loop, walk_stmts
from annotune.transforms.legality import missing, serial_refusal
from annotune.transforms.messages import NO_ARRAY, NOT_PRIVATE, SETS_BOUNDS
from annotune.transforms.tiles import full_length, turn
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    band_with,
    bound_names,
    exchanged,
    find_assign,
    fresh_name,
    numbers,
    path,
    replace_loop,
)
from annotune.transforms.word import Word, takes


@dataclass(frozen=True, slots=True)
class Expand(OnStatement):
    """Make the private `scalar` of `statement` a local array with an index for each of `loops`.

    ``Expand(0, "s", ("i",))``: ``for i in i_t:i_t+4: (s = 0; for k: s += a[i][k]; c[i] = s)``
    becomes ``double s_block[4]``, ``for i: (s_block[i - i_t] = 0; for k: s_block[i - i_t] +=
    a[i][k]; c[i] = s_block[i - i_t])``. The loops, outermost first, follow each other in a perfect
    nest, and the last of them owns the scalar. They run a number of iterations that is known:
    tiles, or loops whose count fixed sizes tell.

    The order stays, so nothing can break. What it is for is ``Distribute(groups, loop="i")``,
    which now may take the statements apart, and then an order for each: with the sum's loop
    outside the loops that pick its elements, the array is a register block. All of `loops` run in
    one worker, on a core or in a thread of a GPU: expand after tiling and permuting, before
    mapping.

    Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.3.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "expand",
        "give a private scalar an element for each iteration of the loops",
        'expand(0, "s", ("i","j"))',
        "Allen and Kennedy 2001, 5.3",
        exact=True,
    )
    scalar: str = takes(Kind.NAME)
    loops: tuple[str, ...] = takes(Kind.LOOPS)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the scalar cannot become an array, or None when it can."""
        if absent := missing(body, self.statement, self.loops, self.span):
            return absent
        if not self._is_private(body, context.analysis):
            return NOT_PRIVATE.at(
                self.span,
                scalar=self.scalar,
                loop=self.loops[-1],
                loops=", ".join(self.loops),
                statement=self.statement,
            )
        band = self._band(body)
        inside = [stmt for stmt in walk_stmts((band[0],)) if isinstance(stmt, Loop)]
        placed = next((x for x in inside if x.place is not Level.SERIAL), None)
        if placed is not None:
            return serial_refusal("expand", body, self.statement, placed, self.span)
        for inner in band:
            is_known = full_length(inner, context.sizes) is not None
            if not is_known or bound_names(inner) & set(self.loops):
                return NO_ARRAY.at(
                    self.span, scalar=self.scalar, inner=inner.var, loop=self.loops[0]
                )
        counted = next((x for x in inside if self.scalar in bound_names(x)), None)
        if counted is not None:
            return SETS_BOUNDS.at(self.span, scalar=self.scalar, loop=counted.var)
        return None

    def _is_private(self, body: Body, analysis: Analysis) -> bool:
        """Return whether the loops are one perfect nest, and the scalar lives in the last."""
        users = analysis.homes.get(self.scalar, {})
        home = users.get(self.statement)
        if home is None or self.scalar not in analysis.region.scalars:
            return False
        if analysis.paths[self.statement][len(home) - 1].var != self.loops[-1]:
            return False
        band = self._band(body)
        if not band_with(body, self.statement, self.loops):
            return False
        if self.loops != tuple(x.var for x in band):
            return False
        own = [number for number, where in users.items() if where == home]
        if not set(own) <= numbers(band[-1]):
            return False
        uses = (find_assign(body, number) for number in own)
        return all(Var(self.scalar) in (use.target, *use.reads()) for use in uses)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the array in place of the scalar, which `why_not` has accepted."""
        band = self._band(body)
        name = fresh_name(f"{self.scalar}_block", body, context.names)
        place = Access(name, tuple(turn(x) for x in band))
        lengths = (full_length(x, context.sizes) for x in band)
        extents = tuple(length for length in lengths if length is not None)

        inside = exchanged((band[0],), {Var(self.scalar): place})
        array = LocalArray(name, context.types[self.scalar], extents, stands_for=self.scalar)
        return replace_loop(body, band[0], (array, *inside))

    def _band(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops around the statement from the first of `loops` to the last."""
        around = path(body, self.statement)
        names = [x.var for x in around]
        return around[names.index(self.loops[0]) : names.index(self.loops[-1]) + 1]
