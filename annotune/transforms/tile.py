"""Cut a loop: into tiles of a fixed length, or into the cyclic shares of workers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import Kind, Slot
from annotune.diagnostics import Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import Binary, Call, Expr, Int, Var
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop
from annotune.transforms.legality import changed_nest, missing, order_refusal, serial_refusal
from annotune.transforms.messages import (
    ALREADY_TILED,
    CYCLIC_ALREADY,
    FACTOR_TOO_SMALL,
    NAME_TAKEN,
    NOT_CYCLIC,
)
from annotune.transforms.transform import (
    CHILL,
    NESTS,
    Context,
    Feature,
    PhaseRank,
    Shaping,
    StepPhase,
    Subject,
    Word,
    takes,
)
from annotune.transforms.tree import (
    Body,
    cut_end,
    full_end,
    full_length,
    named_loop,
    path,
    replace_loop,
)


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
        if absent := missing(body, statement, (loop,), span):
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


_TILES = NewLoop("tile", "tiles", "_t", "2, 4, 8, …")


@dataclass(frozen=True, slots=True)
class Tile(Shaping):
    """Cut a loop into tiles of `size` iterations; the order of iterations does not change.

    ``Tile(0, "k", 4)``: ``for k in 0:n`` becomes ``for k_t in 0:n step 4`` around
    ``for k in k_t:min(k_t + 4, n)``. Where fixed sizes
    show that `size` divides the trip count, the ``min`` is left out. A loop over tiles may be
    tiled in turn: both steps are over tiles of the one loop of the text.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 6)
    word: ClassVar[Word] = Word(
        "tile",
        "split the loop into tiles of the factor; `control` names the loop over tiles",
        'tile(0, "h7", 4)',
        CHILL,
        extra=(Slot("control", Kind.NAME, required=False),),
        names=Subject.LOOP,
    )
    loop: str = takes(Kind.LOOP)
    size: int = takes(Kind.COUNT, name="factor")

    @property
    def made_loops(self) -> tuple[str, ...]:
        """Return the loop over the tiles."""
        return (tile_name(self.loop),)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return the loop over the tiles, whose order is settled once it is there."""
        return (tile_name(self.loop),)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether steps change which nests there are: it stays where it is among these."""
        return NESTS in awaited

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
            return CYCLIC_ALREADY.at(self.span, loop=self.loop, own=own)
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


_WORKERS = NewLoop("cyclic", "workers", "_w", "8, 16, …")


@dataclass(frozen=True, slots=True)
class Cyclic(Shaping):
    """Let each of `workers` workers run every so-manieth iteration of a loop.

    ``Cyclic(0, "i", 16)``: ``for i in i_t:i_t + 128`` becomes ``for i_w in 0:16`` around
    ``for i in i_t + i_w:i_t + i_w + 128 step 16``, the cyclic distribution of High Performance
    Fortran. Mapped to threads, the workers run neighbours at the same time, where two `Tile`s
    give each worker neighbours of its own (the distribution by blocks). A worker has at least one
    iteration, and all have as many but for the last turn, which the end of the loop may cut
    short: ``for i in 0:n`` becomes ``for i_w in 0:min(16, n)`` around
    ``for i in i_w:n step 16``.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 7)
    feature: ClassVar[str | None] = Feature.DEVICE_THREADS
    word: ClassVar[Word] = Word(
        "cyclic",
        "give each of the workers every so-manieth iteration; `i_w` is the loop over those of `i`",
        'cyclic(0, "j", 16)',
        "High Performance Fortran 2.0, CYCLIC",
        old="deal",
        names=Subject.LOOP,
    )
    loop: str = takes(Kind.LOOP)
    workers: int = takes(Kind.COUNT)

    @property
    def made_loops(self) -> tuple[str, ...]:
        """Return the loop over the workers."""
        return (worker_name(self.loop),)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether steps change which nests there are: it stays where it is among these."""
        return NESTS in awaited

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the loop cannot be distributed, or None when it can."""
        refusal = _WORKERS.why_not(
            body, context, self.statement, self.loop, self.workers, self.span
        )
        if refusal is not None:
            return refusal
        loops = path(body, self.statement)
        loop = next(x for x in loops if x.var == self.loop)
        if loop.tile_of or loop.deal_of:
            reason = f"runs over {'tiles' if loop.tile_of else 'workers'} of '{loop.root}'"
            return NOT_CYCLIC.at(self.span, loop=self.loop, reason=reason)
        if any(x.deal_of == self.loop for x in loops):
            return NOT_CYCLIC.at(self.span, loop=self.loop, reason="is distributed already")
        if refusal := serial_refusal("cyclic", body, self.statement, loop, self.span):
            return refusal
        help_ = f"leave '{self.loop}' in its order"
        made = changed_nest(body, self.apply(body, context), self.statement, context)
        return order_refusal("cyclic", made, context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop distributed, the loop over the workers directly around it."""
        loop = named_loop(body, self.statement, self.loop)
        worker = Var(worker_name(self.loop))
        lower = fold(Binary("+", loop.lower, Binary("*", Int(loop.step), worker)))
        inner = replace(
            loop,
            lower=lower,
            upper=self._upper(loop, lower, context.sizes),
            step=loop.step * self.workers,
        )
        outer = Loop(
            worker.name,
            Int(0),
            self._workers(loop, context.sizes),
            (inner,),
            deal_of=self.loop,
            span=loop.span,
        )
        return replace_loop(body, loop, (outer,))

    def _workers(self, loop: Loop, sizes: Mapping[str, int]) -> Expr:
        """Return how many workers have an iteration: all, or less where the loop is short."""
        full = full_length(loop, sizes)
        end = cut_end(loop)
        if full is not None and end is None:
            return Int(min(self.workers, full))
        count = Binary("-", loop.upper if end is None or full is None else end, loop.lower)
        if loop.step > 1:
            count = Binary("/", Binary("+", count, Int(loop.step - 1)), Int(loop.step))
        most = self.workers if full is None else min(self.workers, full)
        return Call("min", (Int(most), fold(count)))

    def _upper(self, loop: Loop, lower: Expr, sizes: Mapping[str, int]) -> Expr:
        """Return the end of one worker's iterations: the same distance for all, where it is known.

        A loop whose workers all have as many iterations then has a length that says so.
        """
        full = full_length(loop, sizes)
        if full is None:
            return loop.upper
        turns = -(-full // self.workers)
        reach = fold(Binary("+", lower, Int(turns * self.workers * loop.step)))
        length = fold(Binary("-", full_end(loop), loop.lower), sizes)
        # A full tile then ends where the turns of its workers do.
        is_even = length == Int(turns * self.workers * loop.step)
        end = cut_end(loop) if is_even else loop.upper
        return reach if end is None else Call("min", (reach, end))


def worker_name(loop: str) -> str:
    """Return the name of the loop over the workers that have the iterations of `loop`."""
    return _WORKERS.name(loop)
