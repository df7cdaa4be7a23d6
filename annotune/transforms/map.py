"""Map loops onto the parallel levels of a target: blocks and threads, gangs and vectors, lanes.

`Map` places the outer loops of a nest, `Team` a loop inside the work of a block that its threads
share, `Vectorize` one whose iterations are lanes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from annotune.analysis.facts import Analysis, LoopKind
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.nest import (
    Combine,
    Level,
    LocalArray,
    Loop,
    MemorySpace,
    walk_paths,
    walk_stmts,
)
from annotune.transforms.legality import (
    TEAM_LEVELS,
    carried_sums,
    changed_nest,
    kind_of,
    missing,
    placement_refusal,
    serial_refusal,
    shared_refusal,
)
from annotune.transforms.messages import (
    ACC_SIZES,
    ALREADY_PLACED,
    ARRAY_BESIDE,
    BOUND_DEPENDS,
    NOT_ONE_BAND,
    TEAM_INSIDE,
    TOO_MANY_LOOPS,
    UNEVEN_BLOCKS,
)
from annotune.transforms.transform import (
    CHILL,
    THESIS,
    AskedOn,
    Context,
    Feature,
    Needed,
    OnStatement,
    PhaseRank,
    SchedulePart,
    StepPhase,
    Word,
    takes,
)
from annotune.transforms.tree import (
    Body,
    band_with,
    bound_names,
    named_loop,
    nest_loops,
    numbers,
    path,
    picks_piece,
    replace_loop,
    target_name,
    top_of,
)

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
# A thread block is full with so many threads on every device since Fermi (CUDA C++ Programming
# Guide, Technical Specifications per Compute Capability). So is a gang: gcc ignores larger sizes
# with a warning.
MAX_THREADS = 1024
# Lanes of a warp on every NVIDIA device; gcc takes no other multiple for a vector.
WARP = 32
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

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.PLACING, 0)
    is_decided: ClassVar[bool] = True
    asked_on: ClassVar[AskedOn] = AskedOn.KERNEL
    words: ClassVar[tuple[Word, ...]] = (
        Word(
            "cuda",
            "run loops as grid blocks and as threads, each x, y, z in this order",
            'cuda(0, block={"h2","p6"}, thread={"h3","h1"})',
            THESIS,
            slots=("statement", "max_blocks", "host"),
            places=("block", "thread"),
            kept=False,
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

    @property
    def asked_by(self) -> tuple[str, ...]:
        """Return the annotation's word for mappings of the target."""
        return (self.command,)

    @property
    def needs(self) -> Collection[Needed]:
        """Return the levels of the loops."""
        return tuple(level for _, level in self.levels)

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

    def mistakes(self, body: Body) -> Iterator[Diagnostic]:
        """Yield what is wrong with sizes and places; the parser has seen no parameters."""
        length, workers = self.vector_length or WARP, self.num_workers or 1
        if length % WARP or length * workers > MAX_THREADS:
            sizes = {"length": length, "workers": workers, "warp": WARP, "limit": MAX_THREADS}
            yield ACC_SIZES.at(self.span, **sizes)
        names = self.names
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        if twice is not None:
            yield ALREADY_PLACED.at(self.span, command=self.command, loop=twice)
        count, limit = len(self.on("thread")), len(PLACES["thread"])
        if count > limit:
            yield TOO_MANY_LOOPS.at(
                self.span, command="cuda", count=count, what="thread", limit=limit
            )

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
            changed_nest(body, self.apply(body, context), self.statement, context),
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
        for place, name in enumerate((*self.around, *self.names)):
            loop = by_name[name]
            setters = (bound_names(loop) & set(by_name)) - {*self.around[:place]}
            if name not in self.around:
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


# What may share a loop: the threads of a block, the lanes of a gang, those of a core, or its cores.
SHARING = {
    level.value: level
    for level in (
        Level.THREAD_X,
        Level.THREAD_Y,
        Level.THREAD_Z,
        Level.VECTOR,
        Level.SIMD,
        Level.CPU_THREAD,
    )
}
_ROWS = frozenset({Level.THREAD_Y, Level.THREAD_Z})
_WORDS = {Level.VECTOR: "acc", Level.SIMD: "threads", Level.CPU_THREAD: "threads"}


@dataclass(frozen=True, slots=True)
class Team(OnStatement):
    """Run the iterations of a loop around `statement` on the threads of the block around it.

    ``Team(1, "k", THREAD_X)``: ``for i @block.x: S0; for k: S1`` becomes ``for i @block.x: S0;
    for k @thread.x: S1``. The threads meet before and after the loop, so that the statements
    beside it keep their place in the order; one thread runs those. A loop that carries nothing but
    reductions combines them. The loop goes to the outside of the serial
    loops that hold nothing else, where these leave its bounds alone and are none of `host`.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.PLACING, 3)
    is_decided: ClassVar[bool] = True
    asked_on: ClassVar[AskedOn] = AskedOn.KERNEL
    word: ClassVar[Word] = Word(
        "team",
        "let the threads of a block, or the lanes of a core, share the loop inside its work",
        'team(1, "k", "thread.x")',
        "Harris 2007",
        exact=True,
    )
    loop: str = takes(Kind.LOOP)
    level: Level = takes(Kind.TEXT, words=SHARING)
    host: tuple[str, ...] = takes(Kind.LOOPS, (), by_name=True)

    @property
    def asked_by(self) -> tuple[str, ...]:
        """Return the annotation's word for mappings of the target."""
        return (self.command,)

    @property
    def needs(self) -> Collection[Needed]:
        """Return the level of the loop."""
        return (self.level,)

    @property
    def command(self) -> str:
        """Return the annotation's word for mappings of the target."""
        return _WORDS.get(self.level, "cuda")

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the threads may not share the loop, or None when they may."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        loop = named_loop(body, self.statement, self.loop)
        if refusal := serial_refusal(self.command, body, self.statement, loop, self.span):
            return refusal
        around = [x for x in path(body, self.statement) if x.place in TEAM_LEVELS]
        if around and not any(fits(body, loop, context) for fits in (self._is_row, self._is_lane)):
            return TEAM_INSIDE.at(
                self.span, command=self.command, inner=self.loop, outer=around[0].var
            )
        array = _array_beside(body, loop)
        if array:
            return ARRAY_BESIDE.at(self.span, command=self.command, loop=self.loop, array=array)
        made = self.apply(body, context)
        if refusal := shared_refusal(made[top_of(made, self.statement)], self.span):
            return refusal
        help_ = f"keep '{self.loop}' serial in the thread"
        own = changed_nest(body, made, self.statement, context)
        return placement_refusal(self.command, own, context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop shared, which `why_not` has accepted."""
        loop = named_loop(body, self.statement, self.loop)
        shared = replace(loop, place=self.level, combines=self._combined(body, loop, context))
        around = self._perfect(body, loop)
        if not around:
            return replace_loop(body, loop, (shared,))
        return replace_loop(body, around[0], nest_loops((shared, *around), loop.body))

    def _is_row(self, body: Body, loop: Loop, context: Context) -> bool:
        """Return whether the loop is all that rows of threads do, each of them on a slower axis.

        A sum is one of the whole block: no row has one.
        """
        nest = path(body, self.statement)
        last = next(k for k, x in enumerate(nest) if x is loop) - len(self._perfect(body, loop))
        first = next(k for k, x in enumerate(nest) if x.place in TEAM_LEVELS)
        rows = nest[first:last]
        are_rows = all(x.place in _ROWS and len(x.body) == 1 and not x.combines for x in rows)
        is_row = self.level is Level.THREAD_X and are_rows and len(rows) > 0
        return is_row and not self._combined(body, loop, context)

    def _is_lane(self, body: Body, loop: Loop, context: Context) -> bool:
        """Return whether the loop is all that lanes around it do, which share both as one.

        A level counts its loops together before any of them starts: no lane sets the bounds.
        """
        nest = path(body, self.statement)
        outer = nest[: next(k for k, x in enumerate(nest) if x is loop)]
        outer = outer[: len(outer) - len(self._perfect(body, loop))]
        lanes = [x for x in outer if x.place in TEAM_LEVELS]
        last = outer[len(outer) - len(lanes) :]
        are_lanes = all(
            x.place is Level.VECTOR is self.level and len(x.body) == 1 and not x.combines
            for x in last
        )
        is_free = not bound_names(loop) & {x.var for x in lanes}
        return are_lanes and is_free and not self._combined(body, loop, context)

    def _combined(self, body: Body, loop: Loop, context: Context) -> tuple[Combine, ...]:
        """Return the reductions of the loop and of the loops around it that its statements add to.

        A partial result of the block is a variable of each thread, even of a loop whose
        iterations never meet in one element.
        """
        around = path(body, self.statement)
        outer = around[: next(k for k, x in enumerate(around) if x is loop)]
        written = {target_name(assign) for assign, _ in walk_paths((loop,))}
        sums = (c for x in outer for c in x.combines if c.name in written)
        own = carried_sums(context.analysis, numbers(loop), loop.root) or ()
        return tuple(dict.fromkeys((*own, *sums)))

    def _perfect(self, body: Body, loop: Loop) -> tuple[Loop, ...]:
        """Return the serial loops directly around `loop` that it can trade places with."""
        loops = path(body, self.statement)
        outer = loops[: next(k for k, x in enumerate(loops) if x is loop)]
        found: list[Loop] = []
        for other in reversed(outer):
            is_perfect = other.place is Level.SERIAL and len(other.body) == 1
            if not is_perfect or other.var in self.host or other.var in bound_names(loop):
                break
            found.insert(0, other)
        return tuple(found)


def _array_beside(body: Body, loop: Loop) -> str:
    """Return a thread's array that `loop` does not declare itself and that stands around it."""
    arrays = (s for s in body if isinstance(s, LocalArray))
    declared = next((s.name for s in arrays if s.space is not MemorySpace.SHARED), "")
    for stmt in body:
        if stmt is loop:
            return declared
        if isinstance(stmt, Loop) and any(x is loop for x in walk_stmts((stmt,))):
            return declared or _array_beside(stmt.body, loop)
    return ""


@dataclass(frozen=True, slots=True)
class Vectorize(OnStatement):
    """Mark a loop around `statement` as one whose iterations are lanes; it stays in its place.

    ``Vectorize(0, "i")``: ``for k: for i: S0`` becomes ``for k: for i @simd: S0``.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.PLACING, 5)
    feature: ClassVar[str | None] = Feature.CORE_VECTORS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.VECTORS
    is_decided: ClassVar[bool] = True
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
        made = changed_nest(body, self.apply(body, context), self.statement, context)
        return placement_refusal("vectorize", made, context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop marked, which `why_not` has accepted."""
        loop = named_loop(body, self.statement, self.loop)
        return replace_loop(body, loop, (replace(loop, place=Level.SIMD),))
