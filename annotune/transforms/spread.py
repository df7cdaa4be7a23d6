"""The threads of a block share one iteration: its arrays, and the loops inside its work.

Or several iterations, a row of the threads for each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.analysis.facts import AccessFacts
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, Binary, Expr, Int, Var, rewrite, substitute
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
from annotune.ir.poly import ZERO, from_expr
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
    numbers,
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
    """Copy what a block may read of an input into the block's memory, before it is read there.

    ``Bring(0, "b")``: ``for e @block.x: for i @thread.x: c[e] += b[i]; …`` becomes ``for e
    @block.x: (shared double b_tile[4]; for b_s in 0:4: b_tile[b_s] = b[b_s]; for i @thread.x: c[e]
    += b_tile[i]; …)``, the copying by all threads together. It is all of a small array, or of one
    with a part for each iteration of the blocks' loop, as ``a[4*e + i]`` reads, this part.
    Where elements of it are read again and again, the way there is shorter, and neighbours are
    copied by neighbouring threads, whoever reads them then.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "bring",
        "copy a small input, or its part for an iteration, into the memory of every block",
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
        """Return in words why there is nothing to bring, or not all is there; empty where it is."""
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
        if self._part(nest, context) is None:
            return "has no length that is known, or not all of it need be there"
        return ""

    def _part(self, nest: Stmt, context: Context) -> tuple[BlockPart, Loop | None] | None:
        """Return what a block reads of the array, and the loop on blocks that moves it.

        None where that is not known, or may not be there.
        """
        blocks = [x for x in path((nest,), self.statement) if x.place in PLACES["block"]]
        part = block_part(context, self.array, numbers(nest), [x.root for x in blocks])
        if part is None:
            return None
        if not part.loop:
            return part, None
        # The loop itself is on blocks, or is cut into the tiles that are.
        own = [x for x in blocks if part.loop in (x.var, x.tile_of)]
        return (part, own[0]) if len(own) == 1 else None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copy at the start of a block's work."""
        found = self._part(body[top_of(body, self.statement)], context)
        assert found is not None
        part, outer = found
        name = fresh_name(f"{self.array}_tile", body, context.names)

        def brought(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array != self.array:
                return None
            flat = flattened(expr, context.analysis.region.arrays) or expr
            assert isinstance(flat, Access)
            index = rewrite(flat.indices[0], brought)
            return Access(name, (part.within(index, outer),), expr.span)

        length = part.length if outer is None else part.length * outer.step
        held = LocalArray(name, context.types[self.array], (length,), MemorySpace.SHARED)
        inner = [x for x in path(body, self.statement) if x.place in PLACES["block"]][-1]
        fill = self._fill(body, name, part, outer, context)
        renewed = replace(inner, body=(held, fill, *rewritten(inner.body, brought)))
        return replace_loop(body, inner, (renewed,))

    def _fill(
        self, body: Body, name: str, part: BlockPart, outer: Loop | None, context: Context
    ) -> Loop:
        """Return the loop that copies a block's part to `name`, those of its iterations in a row.

        Where the block has fewer of them than its copy has room for, it copies no further.
        """
        at = fresh_name(f"{self.array}_s", body, context.names | {name})
        place, guard = Var(at), None
        source: Expr = place
        rows = 1
        if outer is not None:
            rows = outer.step
            start = Binary("*", Var(outer.var), Int(part.length))
            source = fold(Binary("+", start, place))
        if outer is not None and rows > 1:
            left = Binary("-", outer.upper, Var(outer.var))
            guard = Binary("<", place, Binary("*", Int(part.length), left))
        target, value = Access(name, (place,)), Access(self.array, (source,))
        copy = Assign(NO_STATEMENT, target, "=", value, self.span, guard)
        return Loop(at, Int(0), Int(rows * part.length), (copy,), place=Level.COOPERATIVE)


@dataclass(frozen=True, slots=True)
class BlockPart:
    """The `length` elements of an array that an iteration of the blocks' `loop` may read.

    They follow those of the iteration before. An empty `loop`: all of the array, in every block.
    """

    loop: str
    length: int

    def within(self, index: Expr, outer: Loop | None) -> Expr:
        """Return the place in a block's copy of an element of the array.

        `outer` is the loop on blocks; where it steps over several iterations, the copy has those
        of each of them.
        """
        if outer is None:
            return index
        own = fold(substitute(index, {self.loop: Int(0)}))
        if outer.var == self.loop:
            return own
        row = Binary("-", Var(self.loop), Var(outer.var))
        return fold(Binary("+", Binary("*", row, Int(self.length)), own))


def block_part(
    context: Context, array: str, statements: Collection[int], blocks: Sequence[str]
) -> BlockPart | None:
    """Return what a block reads of an input that is there, at any number of `blocks`, else None.

    It is all of it, of a length that is known, or as much for each iteration of one of these
    loops: no access of a statement goes beyond its own iteration's part, and all parts are there.
    """
    shape = context.analysis.shapes.get(array)
    if shape is None or shape.touched is not None or not context.analysis.is_there(array):
        return None
    if fold(shape.lowest) != Int(0):
        return None
    facts = [f for s in statements for f in context.analysis.accesses[s] if f.access.array == array]
    moved = {loop for f in facts for loop in blocks if f.strides.get(loop, 0) != 0}
    length = context.folded(shape.length)
    if not moved:
        return BlockPart("", length.value) if isinstance(length, Int) else None
    loop = min(moved)
    own = next(x for x in context.analysis.paths[facts[0].statement] if x.var == loop)
    each = facts[0].strides.get(loop)
    if len(moved) > 1 or own.step != 1 or each is None or each < 1:
        return None
    if not all(_stays_within(context, f, loop, each) for f in facts):
        return None
    first = context.folded(own.lower)
    end = from_expr(context.folded(Binary("-", shape.length, Binary("*", own.upper, Int(each)))))
    is_there = end is not None and end.constant is not None and end.constant >= 0
    return BlockPart(loop, each) if is_there and first == Int(0) else None


def _stays_within(context: Context, fact: AccessFacts, loop: str, each: int) -> bool:
    """Return whether an access reads one of the `each` elements of its iteration of `loop`."""
    flat = flattened(fact.access, context.analysis.region.arrays) or fact.access
    assert isinstance(flat, Access)
    found = from_expr(context.folded(flat.indices[0]))
    loops = context.analysis.paths[fact.statement]
    linear = None if found is None else found.linear_in([x.var for x in loops])
    if linear is None or linear[1].constant is None:
        return False
    low = high = linear[1].constant
    for inner in loops:
        factor = linear[0].get(inner.var, ZERO).constant
        if inner.var == loop:
            if factor != each:
                return False
            continue
        first, end = context.folded(inner.lower), context.folded(inner.upper)
        if factor is None:
            return False
        if factor == 0:
            continue
        if not isinstance(first, Int) or not isinstance(end, Int) or end.value <= first.value:
            return False
        ends = (factor * first.value, factor * (end.value - 1))
        low, high = low + min(ends), high + max(ends)
    return low >= 0 and high < each


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
