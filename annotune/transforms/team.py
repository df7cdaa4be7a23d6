"""Share a loop inside the work of a block among the threads of that block."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.nest import Combine, Level, LocalArray, Loop, walk_paths, walk_stmts
from annotune.transforms.legality import (
    TEAM_LEVELS,
    carried_sums,
    missing,
    placement_refusal,
    serial_refusal,
)
from annotune.transforms.messages import ARRAY_BESIDE, TEAM_INSIDE
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    bound_names,
    named_loop,
    nest_loops,
    numbers,
    path,
    replace_loop,
    target_name,
)
from annotune.transforms.word import Word, takes

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

    is_inner: ClassVar[bool] = False
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
        if around:
            return TEAM_INSIDE.at(
                self.span, command=self.command, inner=self.loop, outer=around[0].var
            )
        array = _array_beside(body, loop)
        if array:
            return ARRAY_BESIDE.at(self.span, command=self.command, loop=self.loop, array=array)
        help_ = f"keep '{self.loop}' serial in the thread"
        return placement_refusal(self.command, self.apply(body, context), context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop shared, which `why_not` has accepted."""
        loop = named_loop(body, self.statement, self.loop)
        shared = replace(loop, place=self.level, combines=self._combined(body, loop, context))
        around = self._perfect(body, loop)
        if not around:
            return replace_loop(body, loop, (shared,))
        return replace_loop(body, around[0], nest_loops((shared, *around), loop.body))

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
    """Return a local array that `loop` does not declare itself and that stands around it."""
    declared = next((s.name for s in body if isinstance(s, LocalArray)), "")
    for stmt in body:
        if stmt is loop:
            return declared
        if isinstance(stmt, Loop) and any(x is loop for x in walk_stmts((stmt,))):
            return declared or _array_beside(stmt.body, loop)
    return ""
