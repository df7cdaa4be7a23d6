"""Map loops onto the parallel levels of a target: blocks and threads, gangs and vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.analysis.facts import Analysis, LoopKind
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.nest import Combine, Level, Loop
from annotune.transforms.legality import (
    TEAM_LEVELS,
    carried_sums,
    kind_of,
    missing,
    placement_refusal,
)
from annotune.transforms.messages import BOUND_DEPENDS, NOT_ONE_BAND, UNEVEN_BLOCKS
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    band_with,
    bound_names,
    nest_loops,
    numbers,
    picks_piece,
    replace_loop,
)
from annotune.transforms.word import THESIS, Word, takes

# How the threads of a CPU get their shares of a loop, in OpenMP's words: each its part at once, the
# next piece when it has done one, or parts that shrink.
STATIC, DYNAMIC, GUIDED = "static", "dynamic", "guided"
# The places of a recipe, and their axes from x on.
PLACES = {
    "block": (Level.BLOCK_X, Level.BLOCK_Y, Level.BLOCK_Z),
    "thread": (Level.THREAD_X, Level.THREAD_Y, Level.THREAD_Z),
    "gang": (Level.GANG,),
    "worker": (Level.WORKER,),
    "vector": (Level.VECTOR,),
    "core": (Level.CPU_THREAD,),
}
# OpenACC's clause by which the compiler cuts the loops of a vector.
TILE = "tile"


@dataclass(frozen=True, slots=True)
class Map(OnStatement):
    """Give loops around `statement` their places, and put them outside its serial loops.

    ``Map(0, (("j", THREAD_X),))``: ``for i: for j: S0`` becomes ``for j @thread.x: for i: S0``.
    The loops in `host` stay serial outside the placed ones, so the host runs them around
    the launch. A placed loop that carries nothing but reductions combines them; `Reduce` gives
    each its partial results. `command` is the annotation's word for this mapping. Of `max_blocks`
    blocks each runs its share of all of them, 0 for as many blocks as there are.

    A CPU's threads get their shares by `schedule`. OpenACC's launch has the sizes `num_gangs`,
    `num_workers` and `vector_length`, 0 for what the loops need, and by the `clause` `TILE` the
    compiler cuts the loops whose tiles are the gangs.
    """

    is_inner: ClassVar[bool] = False
    words: ClassVar[tuple[Word, ...]] = (
        Word(
            "cuda",
            "run loops as grid blocks and as threads, each x, y, z in this order",
            'cuda(0, block={"h2","p6"}, thread={"h3","h1"})',
            THESIS,
            slots=("statement", "max_blocks", "host"),
            places=("block", "thread"),
        ),
        Word(
            "acc",
            "run loops as OpenACC gangs, workers and vectors, collapsed where several are named",
            'acc(0, gang={"e"}, worker={"j"}, vector={"k"})',
            "OpenACC 3.3, 2.9",
            slots=(
                "statement",
                "num_gangs",
                "num_workers",
                "vector_length",
                "clause",
                "max_blocks",
                "host",
            ),
            places=("gang", "worker", "vector"),
            also={"cache": "cache"},
        ),
        Word(
            "threads",
            "let the threads of a CPU share the loops, collapsed where several are named",
            'threads(0, core={"p6"}, schedule="dynamic")',
            "OpenMP 5.2, 11.5",
            slots=("statement", "schedule", "host"),
            places=("core",),
            exact=True,
        ),
    )
    levels: tuple[tuple[str, Level], ...] = takes(Kind.LOOPS)
    host: tuple[str, ...] = takes(Kind.LOOPS, (), by_name=True, exact=True)
    command: str = "cuda"
    max_blocks: int = takes(Kind.COUNT, 0, by_name=True)
    schedule: str = takes(Kind.NAME, STATIC, by_name=True)
    num_gangs: int = takes(Kind.COUNT, 0, by_name=True)
    num_workers: int = takes(Kind.COUNT, 0, by_name=True)
    vector_length: int = takes(Kind.COUNT, 0, by_name=True)
    clause: str = takes(Kind.NAME, "", by_name=True)

    def on(self, place: str) -> tuple[str, ...]:
        """Return the loops on one of the `PLACES`, x first."""
        return tuple(name for name, level in self.levels if level in PLACES[place])

    @property
    def names(self) -> tuple[str, ...]:
        """Return the loops that are placed, as they are named."""
        return tuple(name for name, _ in self.levels)

    @property
    def around(self) -> tuple[str, ...]:
        """Return the loops that the host runs: none that a user has placed all the same."""
        return tuple(name for name in self.host if name not in self.names)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason a loop may not run where it is put, or None when all may."""
        names = (*self.around, *self.names)
        if absent := missing(body, self.statement, names, self.span):
            return absent
        band = band_with(body, self.statement, names)
        if band is None:
            return NOT_ONE_BAND.at(
                self.span,
                command=self.command,
                loops=", ".join(names),
                statement=self.statement,
            )
        late = self._late_bound(band)
        if late is not None:
            return late
        uneven = self._uneven_blocks(self._combines(band, context))
        if uneven is not None:
            return uneven
        return placement_refusal(
            self.command,
            self.apply(body, context),
            context,
            self.span,
            self._advice(context.analysis),
        )

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loops placed, which `why_not` has accepted."""
        band = band_with(body, self.statement, (*self.around, *self.names))
        assert band is not None
        by_name, combines = {loop.var: loop for loop in band}, self._combines(band, context)
        levels = dict(self.levels)
        placed = [
            replace(by_name[name], place=levels[name], combines=combines[name])
            for name in self._outside_in(by_name)
        ]
        host = [by_name[name] for name in self.around]
        serial = [b for b in band if b.var not in levels and b.var not in self.host]
        renewed = nest_loops([*host, *placed, *serial], band[-1].body)
        return replace_loop(body, band[0], renewed)

    def _combines(
        self, band: tuple[Loop, ...], context: Context
    ) -> Mapping[str, tuple[Combine, ...]]:
        """Return the reductions that each placed loop carries and combines.

        Threads combine what a whole block has: none of them do where some have another loop.
        """
        inside, by_name = numbers(band[-1]), {loop.var: loop for loop in band}
        carried = {
            name: carried_sums(context.analysis, inside, by_name[name].root) or ()
            for name in self.names
        }
        teams = [name for name, level in self.levels if level in TEAM_LEVELS]
        if not all(carried[name] for name in teams):
            carried |= dict.fromkeys(teams, ())
        return carried

    def _outside_in(self, band: Mapping[str, Loop]) -> tuple[str, ...]:
        """Return the placed loops outermost first: as they are named, tiles around their loops.

        Threads x and y may run over a loop and over its tiles, and the tile is chosen first;
        so is the worker before what is dealt to it.
        """
        out: list[str] = []

        def put(name: str) -> None:
            around = (x for x in self.names if picks_piece(band[x], band[name]))
            for other in sorted(around):
                if other in bound_names(band[name]):
                    put(other)
            if name not in out:
                out.append(name)

        for name in self.names:
            put(name)
        return tuple(out)

    def _late_bound(self, band: tuple[Loop, ...]) -> Diagnostic | None:
        """Return the refusal of a host's or placed loop whose bounds a loop inside it sets."""
        by_name = {loop.var: loop for loop in band}
        known: set[str] = set()
        for name in self.around:
            setters = (bound_names(by_name[name]) & set(by_name)) - known
            if setters:
                return BOUND_DEPENDS.at(
                    self.span, command=self.command, inner=name, outer=min(setters)
                )
            known.add(name)
        for name in self.names:
            loop = by_name[name]
            setters = (bound_names(loop) & set(by_name)) - known
            setters -= {other for other in self.names if picks_piece(by_name[other], loop)}
            if setters:
                return BOUND_DEPENDS.at(
                    self.span, command=self.command, inner=name, outer=min(setters)
                )
        return None

    def _uneven_blocks(self, combines: Mapping[str, tuple[Combine, ...]]) -> Diagnostic | None:
        """Return the refusal of blocks that combine beside loops that do not.

        Blocks do not wait for each other: what they have in common is combined when all of
        them have ended, and then nothing is left to do it once per iteration of another loop.
        """
        levels = dict(self.levels)
        sums = [name for name in self.names if combines[name]]
        sums = [name for name in sums if levels[name] not in TEAM_LEVELS]
        others = [name for name in self.names if not combines[name]]
        if not sums or not others:
            return None
        return UNEVEN_BLOCKS.at(self.span, command=self.command, loop=sums[0], other=others[0])

    def _advice(self, analysis: Analysis) -> str:
        """Return the loops that may run in parallel, for the help of a refusal."""
        names = tuple(loop.var for loop in analysis.paths[self.statement])
        parallel = [
            name
            for depth, name in enumerate(names)
            if kind_of(analysis, self.statement, depth) == LoopKind.PARALLEL
        ]
        return f"loops that may be mapped here: {', '.join(parallel) or 'none'}"
