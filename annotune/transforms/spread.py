"""The threads of a block share one iteration: its arrays, and the loops inside its work.

Or several iterations, a row of the threads for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, Expr, Int, Var, rewrite
from annotune.ir.fold import fold
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Level,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    map_assigns,
    rewritten,
    walk_places,
    walk_stmts,
)
from annotune.ir.region import flattened
from annotune.transforms.legality import (
    TEAM_LEVELS,
    missing,
    placement_refusal,
    shared_refusal,
)
from annotune.transforms.map import MAX_THREADS, PLACES, Team
from annotune.transforms.merge import Merge, merged_name
from annotune.transforms.messages import (
    NOT_BATCHED,
    NOT_BROUGHT,
    NOT_SHARED,
    NOT_SPREAD,
)
from annotune.transforms.tile import Tile
from annotune.transforms.transform import CUDA_GUIDE, Context, OnStatement, Word, takes
from annotune.transforms.tree import (
    Body,
    fresh_name,
    in_order,
    mapped,
    named_loop,
    path,
    replace_loop,
    target_name,
    top_of,
    turn,
)


@dataclass(frozen=True, slots=True)
class ShareArray(OnStatement):
    """Keep an array of one iteration of the blocks' loops in memory that all their threads reach.

    ``ShareArray(0, "t")``: ``for i @block.x: local double t[4]; …`` becomes ``for i @block.x:
    local shared double t[4]; …``. Only loops on blocks are around the array, so that a block has
    one at a time; it fits what every block has.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "share",
        "keep an array of a block's iteration in shared memory, where all its threads reach it",
        'share(0, "t")',
        CUDA_GUIDE,
    )
    array: str = takes(Kind.NAME)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the array cannot be the block's, or None when it can."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        nest = (body[top_of(body, self.statement)],)
        found = [(s, loops) for s, loops, _ in walk_places(nest) if self._is_it(s)]
        if len(found) != 1:
            reason = "is no array that the loops around the statement declare"
            return NOT_SHARED.at(self.span, array=self.array, reason=reason)
        ((array, around),) = found
        assert isinstance(array, LocalArray)
        if array.space is not MemorySpace.PRIVATE or array.stands_for:
            return NOT_SHARED.at(self.span, array=self.array, reason="has a place already")
        other = next((x.var for x in around if x.place not in PLACES["block"]), "")
        if other or not around:
            reason = f"belongs to an iteration of '{other}', which is on no block"
            return NOT_SHARED.at(self.span, array=self.array, reason=reason)
        made = self.apply(body, context)
        return shared_refusal(made[top_of(made, self.statement)], self.span)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the array in shared memory, which `why_not` has accepted."""

        def moved(stmt: Stmt) -> Body | None:
            if not self._is_it(stmt):
                return None
            assert isinstance(stmt, LocalArray)
            return (replace(stmt, space=MemorySpace.SHARED),)

        top = top_of(body, self.statement)
        return (*body[:top], *mapped((body[top],), moved), *body[top + 1 :])

    def _is_it(self, stmt: Stmt) -> bool:
        return isinstance(stmt, LocalArray) and stmt.name == self.array


@dataclass(frozen=True, slots=True)
class Batch(OnStatement):
    """Give a block `size` iterations of its loop at once, and in each nest inside a row of threads.

    ``Batch(0, "e", 2)``: ``for e @block.x: (local shared double t[4]; for i: t[i] = a[e]; for i:
    c[e] += t[i])`` becomes ``for e_t @block.x step 2: (local shared double t[2][4]; for e in
    e_t:min(e_t + 2, n) @thread.y: for i: t[e - e_t][i] = a[e]; for e … @thread.y: for i: …)``.
    The threads meet between the nests, as they did; `Spread` deals the loops of each to a row.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "batch",
        "let a block have several iterations of its loop at once, a row of threads for each",
        'batch(0, "e", 4)',
        "Abdelfattah et al. 2016, 4",
    )
    loop: str = takes(Kind.LOOP)
    size: int = takes(Kind.COUNT)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason a block cannot have several iterations, or None when it can."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        loop = named_loop(body, self.statement, self.loop)
        reason = self._reason(loop)
        if reason:
            return NOT_BATCHED.at(self.span, loop=self.loop, reason=reason)
        if refusal := Tile(self.statement, self.loop, self.size, span=self.span).why_not(
            body, context
        ):
            return refusal
        made = self.apply(body, context)
        if refusal := shared_refusal(made[top_of(made, self.statement)], self.span):
            return refusal
        help_ = f"leave each iteration of '{self.loop}' a block of its own"
        return placement_refusal("batch", made, context, self.span, help_)

    def _reason(self, loop: Loop) -> str:
        """Return in words why a loop has no rows of threads inside it, empty where it has."""
        if loop.place not in PLACES["block"]:
            return "is on no block"
        if loop.combines:
            return "adds up what its iterations have"
        if self.size < 2:
            return "needs two iterations or more for that"
        for stmt in loop.body:
            match stmt:
                case LocalArray(name=name, space=space):
                    if space is not MemorySpace.SHARED or stmt.stands_for:
                        return f"has an array of each thread, '{name}'"
                case Loop():
                    if any(
                        isinstance(s, Loop) and s.place is not Level.SERIAL
                        for s in walk_stmts((stmt,))
                    ):
                        return "has loops on threads inside it"
                case _:
                    return "has statements beside the nests inside it"
        return ""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with several iterations in a block, which `why_not` has accepted."""
        loop = named_loop(body, self.statement, self.loop)
        cut = Tile(self.statement, self.loop, self.size).apply((loop,), context)
        (tile,) = cut
        assert isinstance(tile, Loop)
        (inner,) = tile.body
        assert isinstance(inner, Loop)
        arrays = {s.name: s for s in loop.body if isinstance(s, LocalArray)}

        def own(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array not in arrays:
                return None
            indices = tuple(rewrite(index, own) for index in expr.indices)
            return Access(expr.array, (turn(inner), *indices), expr.span)

        nests = (s for s in loop.body if isinstance(s, Loop))
        rows = (
            replace(inner, place=Level.THREAD_Y, body=map_assigns((s,), lambda a: a.rewritten(own)))
            for s in nests
        )
        held = (
            replace(s, extents=(self.size, *s.extents), stands_for=s.name, own=len(s.extents))
            for s in arrays.values()
        )
        return replace_loop(body, loop, (replace(tile, place=loop.place, body=(*held, *rows)),))


@dataclass(frozen=True, slots=True)
class Bring(OnStatement):
    """Copy a small input, all of which every block may read, into the block's memory at its start.

    ``Bring(0, "b")``: ``for e @block.x: for i @thread.x: c[e] += b[i]; …`` becomes ``for e
    @block.x: (shared double b_tile[4]; for b_s in 0:4: b_tile[b_s] = b[b_s]; for i @thread.x: c[e]
    += b_tile[i]; …)``, the copying by all threads together. Where elements of it are read again and
    again, as those of an operator on every element are, the way there is shorter.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "bring",
        "copy a small input as a whole into the memory of every block",
        'bring(0, "B")',
        CUDA_GUIDE,
    )
    array: str = takes(Kind.NAME)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason a block cannot have the input, or None when it can."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        nest = body[top_of(body, self.statement)]
        reason = self._reason(nest, context)
        if reason:
            return NOT_BROUGHT.at(self.span, array=self.array, reason=reason)
        made = self.apply(body, context)
        return shared_refusal(made[top_of(made, self.statement)], self.span)

    def _reason(self, nest: Stmt, context: Context) -> str:
        """Return in words why the input is not to be had as a whole, empty where it is."""
        blocks = [x for x in path((nest,), self.statement) if x.place in PLACES["block"]]
        work = blocks[-1].body if blocks else ()
        teams = [s for s in walk_stmts(work) if isinstance(s, Loop) and s.place in TEAM_LEVELS]
        if not teams or work == (teams[0],):
            return "is not read by threads that share the work of a block"
        assigns = [s for s in walk_stmts((nest,)) if isinstance(s, Assign)]
        reads = {a.array for s in assigns for a in s.reads() if isinstance(a, Access)}
        if self.array not in reads or self.array not in context.analysis.region.arrays:
            return "is no array that the nest reads"
        if self.array in {target_name(s) for s in assigns}:
            return "is written in the nest"
        if not whole_length(context, self.array):
            return "has no length that is known, or not all of it need be there"
        return ""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copy at the start of a block's work."""
        blocks = [x for x in path(body, self.statement) if x.place in PLACES["block"]]
        arrays, length = context.analysis.region.arrays, whole_length(context, self.array)
        name = fresh_name(f"{self.array}_tile", body, context.names)
        at = fresh_name(f"{self.array}_s", body, context.names | {name})

        def brought(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array != self.array:
                return None
            flat = flattened(expr, arrays) or expr
            assert isinstance(flat, Access)
            return Access(name, (rewrite(flat.indices[0], brought),), expr.span)

        copy = Assign(
            NO_STATEMENT, Access(name, (Var(at),)), "=", Access(self.array, (Var(at),)), self.span
        )
        fill = Loop(at, Int(0), Int(length), (copy,), place=Level.COOPERATIVE)
        held = LocalArray(name, context.types[self.array], (length,), MemorySpace.SHARED)
        inner = blocks[-1]
        renewed = replace(inner, body=(held, fill, *rewritten(inner.body, brought)))
        return replace_loop(body, inner, (renewed,))


def whole_length(context: Context, array: str) -> int:
    """Return how many elements an array has at the tuned sizes, 0 where not all need be there."""
    shape = context.analysis.shapes.get(array)
    if shape is None or shape.touched is not None or not context.analysis.is_there(array):
        return 0
    length = context.folded(shape.length)
    return length.value if isinstance(length, Int) and fold(shape.lowest) == Int(0) else 0


@dataclass(frozen=True, slots=True)
class Spread(OnStatement):
    """Run nested loops inside a block's work as one, whose iterations are the block's threads.

    ``Spread(0, ("j", "k"))``: ``for i @block.x: for j in 0:4: for k in 0:6: S0`` becomes
    ``for i @block.x: for jk in 0:24 @thread.x: S0``, as `Merge` and `Team` would do it. A nest with
    more iterations than the block has threads runs on in strides of them. `threads` is how many
    there are at most, 0 for as many as the rules say.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "spread",
        "let the threads of a block share nested loops inside its work, flattened",
        'spread(0, ("j","k"))',
        "Abdelfattah et al. 2016, 4",
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)
    threads: int = takes(Kind.COUNT, 0, by_name=True)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the threads may not share the loops, or None when they may."""
        if self.threads > MAX_THREADS:
            reason = f"a block has {MAX_THREADS} threads at most"
            return NOT_SPREAD.at(self.span, loop=", ".join(self.loops), reason=reason)
        if absent := missing(body, self.statement, self.loops, self.span):
            return absent
        blocks = [x.place for x in path(body, self.statement) if x.place in PLACES["block"]]
        if len(set(blocks)) < max(1, len(blocks)):
            reason = "no loop around it is on blocks" if not blocks else "blocks share an axis"
            return NOT_SPREAD.at(self.span, loop=", ".join(self.loops), reason=reason)
        merged, team = self._merge, self._team
        if merged is not None:
            # Whether workers may share the loop is asked of the whole; here it keeps the order.
            placed = (x for x in walk_stmts(body) if isinstance(x, Loop))
            refusal = merged.why_not(in_order(body, frozenset(map(id, placed))), context)
            if refusal is not None:
                return refusal
            body = merged.apply(body, context)
        return team.why_not(body, context)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loops as one on threads, which `why_not` has accepted."""
        if self._merge is not None:
            body = self._merge.apply(body, context)
        return self._team.apply(body, context)

    @property
    def _merge(self) -> Merge | None:
        """Return the step that makes one loop of several."""
        if len(self.loops) < 2:
            return None
        return Merge(self.statement, self.loops, span=self.span)

    @property
    def _team(self) -> Team:
        """Return the step that puts the one loop on threads."""
        return Team(self.statement, merged_name(self.loops), Level.THREAD_X, span=self.span)
