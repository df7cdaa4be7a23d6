"""Tile a loop: run it in pieces of a fixed length."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import Kind, Slot
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Binary, Call, Expr, Int, Var
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop
from annotune.transforms.messages import ALREADY_TILED, DEALT_ALREADY
from annotune.transforms.tiles import NewLoop
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import Body, named_loop, path, replace_loop
from annotune.transforms.word import CHILL, Word, takes

_TILES = NewLoop("tile", "tiles", "_t", "2, 4, 8, …")


@dataclass(frozen=True, slots=True)
class Tile(OnStatement):
    """Cut a loop into tiles of `size` iterations; the order of iterations does not change.

    ``Tile(0, "k", 4)``: ``for k in 0:n`` becomes ``for k_t in 0:n step 4`` around
    ``for k in k_t:min(k_t + 4, n)``. Where fixed sizes
    show that `size` divides the trip count, the ``min`` is left out. A loop over tiles may be
    tiled in turn: both steps are over tiles of the one loop of the text.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "tile",
        "split the loop into tiles of the factor; `control` names the loop over tiles",
        'tile(0, "h7", 4)',
        CHILL,
        extra=(Slot("control", Kind.NAME, required=False),),
    )
    loop: str = takes(Kind.LOOP)
    size: int = takes(Kind.COUNT, name="factor")

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the loop cannot be tiled, or None. Tiling is always legal."""
        refusal = _TILES.why_not(body, context, self.statement, self.loop, self.size, self.span)
        if refusal is not None:
            return refusal
        loops = path(body, self.statement)
        if any(loop.var == tile_name(self.loop) and loop.tile_of for loop in loops):
            return ALREADY_TILED.at(self.span, loop=self.loop)
        if any(self.loop in (loop.deal_of, loop.var) and loop.deal_of for loop in loops):
            own = next(loop.root for loop in loops if loop.var == self.loop)
            return DEALT_ALREADY.at(self.span, loop=self.loop, own=own)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop in tiles, the tile loop directly around it."""
        loop = named_loop(body, self.statement, self.loop)
        tile = tile_name(self.loop)
        length = self.size * loop.step
        end: Expr = Binary("+", Var(tile), Int(length))
        trip = fold(trip_count(loop), context.sizes)
        if not (isinstance(trip, Int) and trip.value % self.size == 0):
            end = Call("min", (end, loop.upper))
        inner = replace(loop, lower=Var(tile), upper=end)
        outer = Loop(
            tile,
            loop.lower,
            loop.upper,
            (inner,),
            step=length,
            tile_of=loop.root,
            span=loop.span,
        )
        return replace_loop(body, loop, (outer,))


def tile_name(loop: str) -> str:
    """Return the name of the loop that steps over the tiles of `loop`."""
    return _TILES.name(loop)


def name_is_taken(loop: str, analysis: Analysis) -> bool:
    """Return whether the region has something of the name that the tiles of `loop` need."""
    return _TILES.is_taken(loop, analysis)
