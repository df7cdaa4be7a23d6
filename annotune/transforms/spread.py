"""The threads of a block share one iteration: its arrays, and the loops inside its work.

Or several iterations, a row of the threads for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from annotune.analysis.facts import AccessFacts
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access, Binary, Expr, Int, Var, rewrite, substitute
from annotune.ir.fold import fold, trip_count
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
from annotune.ir.poly import ZERO, Poly, from_expr, integer, to_expr, variable
from annotune.ir.region import flattened
from annotune.transforms.cache import NO_START, starts_on_device
from annotune.transforms.legality import (
    OWN_SHARED_BYTES,
    TEAM_LEVELS,
    changed_nest,
    missing,
    placement_refusal,
    shared_refusal,
)
from annotune.transforms.map import MAX_THREADS, PLACES, Team
from annotune.transforms.merge import Merge, merged_name
from annotune.transforms.messages import (
    NOT_BATCHED,
    NOT_BROUGHT,
    NOT_IN_BULK,
    NOT_KEPT,
    NOT_SHARED,
    NOT_SPREAD,
)
from annotune.transforms.permute import Permute
from annotune.transforms.tile import Cyclic, Tile, worker_name
from annotune.transforms.transform import (
    CUDA_GUIDE,
    Context,
    Feature,
    PhaseRank,
    SettingGroup,
    Sharing,
    StepPhase,
    StepSetting,
    Subject,
    Word,
    asked_once,
    takes,
)
from annotune.transforms.tree import (
    Body,
    all_names,
    band_with,
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

# What the device copies by itself begins at a multiple of so many bytes, and is one (PTX ISA,
# cp.async.bulk).
BULK_BYTES = 16
# The share of a part that a block may copy and not touch (assumption).
FEW_UNUSED = 0.5


@dataclass(frozen=True, slots=True)
class ShareArray(Sharing):
    """Keep an array of one iteration of the blocks' loops in memory that all their threads reach.

    ``ShareArray(0, "t")``: ``for i @block.x: local double t[4]; …`` becomes ``for i @block.x:
    local shared double t[4]; …``. Only loops on blocks are around the array, so that a block has
    one at a time; it fits what every block has.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.PLACING, 1)
    feature: ClassVar[str | None] = Feature.DEVICE_THREADS
    word: ClassVar[Word] = Word(
        "share",
        "keep an array of a block's iteration in shared memory, where all its threads reach it",
        'share(0, "t")',
        CUDA_GUIDE,
        names=Subject.ARRAY,
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
        at_blocks = (*PLACES["block"], *PLACES["gang"])
        other = next((x.var for x in around if x.place not in at_blocks), "")
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
class Batch(Sharing):
    """Give a block `size` iterations of its loop at once, and in each nest inside a row of threads.

    ``Batch(0, "e", 2)``: ``for e @block.x: (local shared double t[4]; for i: t[i] = a[e]; for i:
    c[e] += t[i])`` becomes ``for e_t @block.x step 2: (local shared double t[2][4]; for e in
    e_t:min(e_t + 2, n) @thread.y: for i: t[e - e_t][i] = a[e]; for e … @thread.y: for i: …)``.
    The threads meet between the nests, as they did; `Spread` deals the loops of each to a row.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.PLACING, 2)
    setting: ClassVar[StepSetting | None] = StepSetting("batch", SettingGroup.BLOCK, 1)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "batch",
        "let a block have several iterations of its loop at once, a row of threads for each",
        'batch(0, "e", 4)',
        "Abdelfattah et al. 2016, 4",
        kept=False,
    )
    loop: str = takes(Kind.LOOP)
    size: int = takes(Kind.COUNT)

    @property
    def set_to(self) -> int:
        """Return how many iterations a block has at once."""
        return self.size

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
        own = changed_nest(body, made, self.statement, context)
        return placement_refusal("batch", own, context, self.span, help_)

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
class Bring(Sharing):
    """Copy what a block may read of an input into the block's memory, before it is read there.

    ``Bring(0, "b")``: ``for e @block.x: for i @thread.x: c[e] += b[i]; …`` becomes ``for e
    @block.x: (shared double b_tile[4]; for b_s in 0:4: b_tile[b_s] = b[b_s]; for i @thread.x: c[e]
    += b_tile[i]; …)``, the copying by all threads together. It is all of a small array, or of one
    with a part for each iteration of the blocks' loop, as ``a[4*e + i]`` reads, this part.
    Where elements of it are read again and again, the way there is shorter, and neighbours are
    copied by neighbouring threads, whoever reads them then.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 7)
    setting: ClassVar[StepSetting | None] = StepSetting("brought", SettingGroup.BLOCK, 2)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "bring",
        "copy a small input, or its part for an iteration, into the memory of every block",
        'bring(0, "B")',
        CUDA_GUIDE,
        names=Subject.ARRAY,
        kept=False,
    )
    array: str = takes(Kind.NAME)

    @property
    def set_to(self) -> str:
        """Return the array."""
        return self.array

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
        if not _shares_work(nest, self.statement):
            return "is not read by threads that share the work of a block"
        assigns = [s for s in walk_stmts((nest,)) if isinstance(s, Assign)]
        reads = {a.array for s in assigns for a in s.reads() if isinstance(a, Access)}
        if self.array not in reads or self.array not in context.analysis.region.arrays:
            return "is no array that the nest reads"
        if self.array in {target_name(s) for s in assigns}:
            return "is written in the nest"
        if _placed_part(nest, self.statement, self.array, context) is None:
            return "has no length that is known, or not all of it need be there"
        return ""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copy at the start of a block's work."""
        nest = body[top_of(body, self.statement)]
        found = _placed_part(nest, self.statement, self.array, context)
        assert found is not None
        copy = BlockCopy.of(self.array, *found, body, context)
        fill = copy.moved(copy.element, copy.source, self.span)
        inner = _innermost_block(nest, self.statement)
        renewed = replace(inner, body=(copy.held, fill, *rewritten(inner.body, copy.used)))
        return replace_loop(body, inner, (renewed,))


@dataclass(frozen=True, slots=True)
class Keep(Sharing):
    """Have what a block's iteration writes of an array in the block's memory while it works.

    ``Keep(0, "t")``: ``for e @block.x: (for i @thread.x: t[4*e + i] = …; for i @thread.x: c[4*e +
    i] = t[4*e + 3 - i])`` becomes ``for e @block.x: (shared double t_tile[4]; for i @thread.x:
    t_tile[i] = …; for i @thread.x: c[4*e + i] = t_tile[3 - i]; for t_s in 0:4: t[4*e + t_s] =
    t_tile[t_s])``. Each iteration has a part of the array that no other one touches, most of it
    from its first element to its last.

    Nests hand on what they compute through the array, and only the last of what they write goes to
    memory: nothing of an array that nobody reads afterwards (`Analysis.stays_on_device`). Where an
    iteration may read what it has not written, or leave elements as they are, the part is copied
    first.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 8)
    setting: ClassVar[StepSetting | None] = StepSetting("kept", SettingGroup.BLOCK, 4)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "keep",
        "have what a block writes of an array in its memory while it works",
        'keep(0, "w")',
        CUDA_GUIDE,
        names=Subject.ARRAY,
        kept=False,
    )
    array: str = takes(Kind.NAME)

    @property
    def set_to(self) -> str:
        """Return the array."""
        return self.array

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason a block cannot keep its part of the array, or None when it can."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        nest = body[top_of(body, self.statement)]
        reason = self._reason(nest, context)
        if reason:
            return NOT_KEPT.at(self.span, array=self.array, reason=reason)
        made = self.apply(body, context)
        return shared_refusal(made[top_of(made, self.statement)], self.span)

    def _reason(self, nest: Stmt, context: Context) -> str:
        """Return in words why a block has no part of its own, empty where it has."""
        if not _shares_work(nest, self.statement):
            return "is not written by threads that share the work of a block"
        assigns = [s for s in walk_stmts((nest,)) if isinstance(s, Assign)]
        written = {target_name(s) for s in assigns}
        if self.array not in written or self.array not in context.analysis.region.arrays:
            return "is no array that the nest writes"
        blocks = [x for x in path((nest,), self.statement) if x.place in PLACES["block"]]
        part = kept_part(context, self.array, numbers(nest), tuple(x.root for x in blocks))
        if part is None or _mover(part, blocks) is None:
            return "has no part of a known length that one iteration alone touches, as a whole"
        return ""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the part in the block's memory, and what is copied there and back."""
        nest = body[top_of(body, self.statement)]
        blocks = [x for x in path((nest,), self.statement) if x.place in PLACES["block"]]
        part = kept_part(context, self.array, numbers(nest), tuple(x.root for x in blocks))
        assert part is not None
        copy = BlockCopy.of(self.array, part, _mover(part, blocks), body, context)
        first = [copy.moved(copy.element, copy.source, self.span)] if part.copied_first else []
        last = [copy.moved(copy.source, copy.element, self.span)] if part.copied_back else []
        inner = blocks[-1]
        work = rewritten(inner.body, copy.used)
        return replace_loop(body, inner, (replace(inner, body=(copy.held, *first, *work, *last)),))


@dataclass(frozen=True, slots=True)
class Bulk(Sharing):
    """Have the device copy by itself what `Bring` or `Keep` moves of an array.

    ``Bulk(0, "u")``: ``for e @block.x: (shared double u_tile[4]; for u_s in 0:4 @cooperative:
    u_tile[u_s] = u[4*e + u_s]; …)`` has the loop ``@bulk``: one thread asks for the copy, and all
    of them wait before one touches it first. What a block loads is under way at once, without
    registers or instructions of its threads; what it leaves may be on its way while they go on.

    Before sm_90 the threads copy.

    Source: CUDA C++ Programming Guide, Asynchronous Data Copies using the Tensor Memory
    Accelerator; PTX ISA, ``cp.async.bulk``.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 9)
    setting: ClassVar[StepSetting | None] = StepSetting("bulk", SettingGroup.BLOCK, 5)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "bulk",
        "have the device copy by itself what `bring` or `keep` moves of an array",
        'bulk(0, "u")',
        CUDA_GUIDE,
        names=Subject.ARRAY,
        kept=False,
    )
    array: str = takes(Kind.NAME)

    @property
    def set_to(self) -> str:
        """Return the array."""
        return self.array

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the device cannot copy it by itself, or None when it can."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        copies = self._copies(body)
        reason = "has no copy that the threads of a block make together"
        if copies:
            reasons = (self._reason(loop, context) for loop in copies)
            reason = next(filter(None, reasons), "")
        return NOT_IN_BULK.at(self.span, array=self.array, reason=reason) if reason else None

    def _copies(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops with which a block copies a part of the array, to it or from it."""
        nest = body[top_of(body, self.statement)]
        if not _shares_work(nest, self.statement):
            return ()
        return tuple(
            stmt
            for stmt in _innermost_block(nest, self.statement).body
            if isinstance(stmt, Loop)
            and stmt.place is Level.COOPERATIVE
            and self.array in {a.array for s in walk_stmts(stmt.body) for a in _places(s)}
        )

    def _reason(self, loop: Loop, context: Context) -> str:
        """Return in words why the device cannot make one of the copies, empty where it can."""
        each = element_bytes(context.analysis.region.arrays[self.array].element)
        match loop:
            case Loop(body=(Assign(guard=None) as move,), upper=Int(count)) if Var(loop.var) in (
                a.indices[0] for a in _places(move)
            ):
                pass
            case _:
                return "is not copied whole in each iteration"
        if count * each % BULK_BYTES:
            return f"is copied in {count} elements, which are no multiple of {BULK_BYTES} bytes"
        (source,) = (a for a in _places(move) if a.array == self.array)
        start = from_expr(context.folded(substitute(source.indices[0], {loop.var: Int(0)})))
        if start is None or any(factor * each % BULK_BYTES for _, factor in start.terms):
            return f"is copied from where no multiple of {BULK_BYTES} bytes need be"
        return "" if starts_on_device(context, self.array) else NO_START

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copies made by the device."""
        for loop in self._copies(body):
            body = replace_loop(body, loop, (replace(loop, place=Level.BULK),))
        return body


def _places(stmt: Stmt) -> tuple[Access, ...]:
    """Return the elements that a plain copy has on both sides."""
    if not isinstance(stmt, Assign):
        return ()
    return tuple(a for a in (stmt.target, stmt.value) if isinstance(a, Access))


def _innermost_block(nest: Stmt, statement: int) -> Loop:
    """Return the innermost of the loops on blocks around a statement."""
    return [x for x in path((nest,), statement) if x.place in PLACES["block"]][-1]


def _shares_work(nest: Stmt, statement: int) -> bool:
    """Return whether the threads of a block share loops inside its work."""
    blocks = [x for x in path((nest,), statement) if x.place in PLACES["block"]]
    work = blocks[-1].body if blocks else ()
    teams = [s for s in walk_stmts(work) if isinstance(s, Loop) and s.place in TEAM_LEVELS]
    return bool(teams) or any(x.place in PLACES["thread"] for x in path((nest,), statement))


def _placed_part(
    nest: Stmt, statement: int, array: str, context: Context
) -> tuple[BlockPart, Loop | None] | None:
    """Return what a block reads of an input, and the loop on blocks that moves it, None if none.

    None where that is not known, or may not be there.
    """
    blocks = [x for x in path((nest,), statement) if x.place in PLACES["block"]]
    part = block_part(context, array, numbers(nest), tuple(x.root for x in blocks))
    if part is None or not part.loop:
        return None if part is None else (part, None)
    outer = _mover(part, blocks)
    return None if outer is None else (part, outer)


@dataclass(frozen=True, slots=True)
class BlockPart:
    """The `length` neighbours of an array that an iteration of the blocks' `loop` may touch.

    `first` is where they begin in the flat array. An empty `loop`: the same ones in every block.
    Of an array that a block writes, whether they are `copied_first`, and `copied_back`.
    """

    loop: str
    length: int
    first: Poly = ZERO
    copied_first: bool = True
    copied_back: bool = False


def _mover(part: BlockPart, blocks: Sequence[Loop]) -> Loop | None:
    """Return the loop on blocks that moves a part: its own, or that over tiles of it."""
    own = [x for x in blocks if part.loop in (x.var, x.tile_of)]
    return own[0] if len(own) == 1 else None


@dataclass(frozen=True, slots=True)
class BlockCopy:
    """A copy of a part in a block's memory, with the counter `at` of its elements.

    `outer` is the loop on blocks that moves the part, None where none does. Where it steps over
    several iterations, the copy has the parts of each of them, `pitch` elements from one to the
    next; `inside` tells of an element whether its iteration is there, None if always.
    """

    held: LocalArray
    at: str
    source: Access
    inside: Expr | None
    part: BlockPart
    pitch: int
    outer: Loop | None
    context: Context

    @classmethod
    def of(
        cls, array: str, part: BlockPart, outer: Loop | None, body: Body, context: Context
    ) -> BlockCopy:
        """Return the copy of a part of an array, with names that `body` does not have."""
        taken = context.names | all_names(body)
        name = fresh_name(f"{array}_tile", (), taken)
        at = fresh_name(f"{array}_s", (), taken | {name})
        pitch, parts = _pitch(part, outer), 1 if outer is None else outer.step
        held = LocalArray(name, context.types[array], (pitch * parts,), MemorySpace.SHARED)
        source, inside = _source(part, outer, Var(at))
        return cls(held, at, Access(array, (source,)), inside, part, pitch, outer, context)

    @property
    def element(self) -> Access:
        """Return the element that the counter stands for."""
        at, length = Var(self.at), Int(self.part.length)
        if self.pitch == self.part.length:
            return Access(self.held.name, (at,))
        row = Binary("*", Binary("/", at, length), Int(self.pitch))
        return Access(self.held.name, (Binary("+", row, Binary("%", at, length)),))

    def moved(self, target: Access, value: Access, span: Span) -> Loop:
        """Return the loop in which all threads move the part from one place to another."""
        move = Assign(NO_STATEMENT, target, "=", value, span, self.inside)
        count = self.part.length * (1 if self.outer is None else self.outer.step)
        return Loop(self.at, Int(0), Int(count), (move,), place=Level.COOPERATIVE)

    def used(self, expr: Expr) -> Expr | None:
        """Return the element of the copy that stands for one of the array, for `rewrite`."""
        if not isinstance(expr, Access) or expr.array != self.source.array:
            return None
        flat = flattened(expr, self.context.analysis.region.arrays) or expr
        assert isinstance(flat, Access)
        index = self._within(rewrite(flat.indices[0], self.used))
        return Access(self.held.name, (index,), expr.span)

    def _within(self, index: Expr) -> Expr:
        """Return where the copy has what stands at `index` in the flat array."""
        if self.part.first.is_zero:
            return index
        opaque: dict[str, Expr] = {}

        def named(expr: Expr) -> Poly:
            # Counters that are divided, of which the part's beginning has none.
            name = next((n for n, known in opaque.items() if known == expr), f"#{len(opaque)}")
            opaque[name] = expr
            return variable(name)

        poly = from_expr(self.context.folded(index), named)
        assert poly is not None
        found = to_expr(poly - self.part.first, opaque=opaque)
        if self.outer is None or self.outer.var == self.part.loop:
            return found
        row = Binary("-", Var(self.part.loop), Var(self.outer.var))
        return fold(Binary("+", Binary("*", row, Int(self.pitch)), found))


def _pitch(part: BlockPart, outer: Loop | None) -> int:
    """Return how far apart the parts of two iterations are in a block's memory.

    Where threads have an iteration each, neighbours are to ask for different banks.
    """
    inside = () if outer is None else walk_stmts(outer.body)
    own = (x for x in inside if isinstance(x, Loop) and x.var == part.loop)
    return part.length | 1 if any(x.place is Level.THREAD_X for x in own) else part.length


def _source(part: BlockPart, outer: Loop | None, at: Expr) -> tuple[Expr, Expr | None]:
    """Return where a place of the copy comes from, and the test that it comes from anywhere."""
    first = to_expr(part.first)
    if outer is None or outer.var == part.loop:
        return fold(Binary("+", first, at)), None
    length, start = Int(part.length), Var(outer.var)
    end = Binary("*", length, Binary("-", outer.upper, start))
    inside = Binary("<", at, fold(end))
    if dict(part.first.terms).get((part.loop,)) == part.length:
        # The parts lie one after the other.
        return fold(Binary("+", substitute(first, {part.loop: start}), at)), inside
    own = Binary("+", start, Binary("/", at, length))
    first = substitute(first, {part.loop: own})
    return fold(Binary("+", first, Binary("%", at, length))), inside


@asked_once
def block_part(
    context: Context, array: str, statements: frozenset[int], blocks: tuple[str, ...]
) -> BlockPart | None:
    """Return what a block reads of an input that is there, at any number of `blocks`, else None.

    It is all that the statements read in one iteration of these loops, if they leave little out
    from the first element to the last; or as much as one step of a loop passes, if that is there
    for each iteration, and no access goes beyond; or the whole array, of a length that is known.
    """
    if array not in context.analysis.shapes or not context.analysis.is_there(array):
        return None
    facts = [f for s in statements for f in context.analysis.accesses[s] if f.access.array == array]
    near = _part_of(context, facts, blocks)
    return near or _between_steps(context, facts, array, blocks)


@asked_once
def kept_part(
    context: Context, array: str, statements: frozenset[int], blocks: tuple[str, ...]
) -> BlockPart | None:
    """Return the part of an array that one iteration on `blocks` alone touches, else None."""
    analysis = context.analysis
    if array not in analysis.shapes or not analysis.is_there(array) or len(blocks) != 1:
        return None
    every = [f for s in analysis.accesses for f in analysis.accesses[s] if f.access.array == array]
    facts = [f for f in every if f.statement in statements]
    part = _part_of(context, facts, blocks)
    step = 0 if part is None else abs(dict(part.first.terms).get((blocks[0],), 0))
    if part is None or not part.loop or step < part.length:
        return None
    guarded = {a.number for a in analysis.region.nest.assigns() if a.guard is not None}
    sure = [f for f in facts if f.is_write and f.statement not in guarded]
    written = set[int]().union(
        *(places for _, places in _reaches(context, sure, blocks, surely=True))
    )
    is_alone, use = len(facts) == len(every), analysis.uses[array]
    is_new = is_alone and (use.starts_new or use.overwritten) and len(written) == part.length
    back = not (is_alone and analysis.stays_on_device(array))
    return replace(part, copied_first=not is_new, copied_back=back)


def _part_of(
    context: Context, facts: Sequence[AccessFacts], blocks: Sequence[str]
) -> BlockPart | None:
    """Return what accesses touch in one iteration, from the first element to the last.

    What lies between two elements of an array is there, too; a copy of it may come back as it was.
    """
    known = [*_reaches(context, facts, blocks)]
    if not known or len(known) < len(facts) or len({first for first, _ in known}) > 1:
        return None
    touched = frozenset[int]().union(*(places for _, places in known))
    first, low = known[0][0], min(touched)
    length = max(touched) - low + 1
    if len(first.names) > 1 or length - len(touched) > FEW_UNUSED * length:
        return None
    loop = next(iter(first.names), "")
    steps = [x.step for f in facts for x in context.analysis.paths[f.statement] if x.var == loop]
    if any(step != 1 for step in steps):
        return None
    return BlockPart(loop, length, first + integer(low))


def _reaches(
    context: Context, facts: Sequence[AccessFacts], blocks: Sequence[str], surely: bool = False
) -> Iterator[tuple[Poly, frozenset[int]]]:
    """Yield where `blocks` take each access, and the places that it has from there on.

    They are those that it may have, or has `surely`. Nothing for one of which that is not known, or
    depends on more than loops, or is more than a block has.
    """
    for fact in facts:
        flat = flattened(fact.access, context.analysis.region.arrays) or fact.access
        assert isinstance(flat, Access)
        poly = from_expr(context.folded(flat.indices[0]))
        loops = {x.var: x for x in context.analysis.paths[fact.statement]}
        linear = None if poly is None else poly.linear_in(loops)
        if linear is None or linear[1].constant is None:
            continue
        moved = {n: x for n, x in linear[0].items() if n in blocks and x.constant is not None}
        inner = [x for x in loops.values() if x.var not in moved]
        steps = {name: factor for name, factor in linear[0].items() if name not in moved}
        first = sum((x * variable(name) for name, x in moved.items()), start=ZERO)
        places = _visited(context, inner, steps, linear[1].constant, surely)
        if places:
            yield first, places


def _visited(
    context: Context, loops: Sequence[Loop], steps: Mapping[str, Poly], start: int, surely: bool
) -> frozenset[int]:
    """Return the places that loops, the outermost first, make of one by their steps.

    Bounds may follow the loops around. A loop that moves nothing is left out, whether it runs or
    not, unless the places are those that are `surely` visited. Nothing where this is not known, or
    is more than a block has.
    """
    ends = {x.var: [from_expr(context.folded(end)) for end in (x.lower, x.upper)] for x in loops}
    follows = {
        n: frozenset[str]().union(*(p.names for p in own if p is not None))
        for n, own in ends.items()
    }
    needed = {x.var for x in loops} if surely else {*steps}
    for loop in reversed(loops):
        needed |= follows[loop.var] if loop.var in needed else frozenset()
    if needed - {*follows}:
        return frozenset()
    # By the iterations so far that later bounds follow, the places in them.
    found: dict[frozenset[tuple[str, int]], set[int]] = {frozenset(): {start}}
    for number, loop in enumerate(loops):
        if loop.var not in needed:
            continue
        later = frozenset[str]().union(*(follows[x.var] for x in loops[number + 1 :]))
        step = steps.get(loop.var, ZERO).constant
        turned: dict[frozenset[tuple[str, int]], set[int]] = {}
        for around, places in found.items():
            low, high = (None if p is None else p.at(dict(around)).constant for p in ends[loop.var])
            if step is None or low is None or high is None:
                return frozenset()
            if max(high - low, 0) * len(places) > OWN_SHARED_BYTES:
                return frozenset()
            for at in range(low, high, loop.step):
                own = frozenset(one for one in (*around, (loop.var, at)) if one[0] in later)
                turned.setdefault(own, set()).update(place + step * at for place in places)
        found = turned
    return frozenset[int]().union(*found.values())


def _between_steps(
    context: Context, facts: Sequence[AccessFacts], array: str, blocks: Sequence[str]
) -> BlockPart | None:
    """Return what one step of a loop on blocks passes of an array, or all of it, else None."""
    shape = context.analysis.shapes[array]
    if shape.touched is not None or fold(shape.lowest) != Int(0):
        return None
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
    if not is_there or first != Int(0):
        return None
    return BlockPart(loop, each, integer(each) * variable(loop))


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
class Spread(Sharing):
    """Run nested loops inside a block's work as one, whose iterations are the block's threads.

    ``Spread(0, ("j", "k"))``: ``for i @block.x: for j in 0:4: for k in 0:6: S0`` becomes
    ``for i @block.x: for jk in 0:24 @thread.x: S0``, as `Merge` and `Team` would do it. A nest with
    more iterations than the block has threads runs on in strides of them. `threads` is how many
    there are at most, 0 for as many as the rules say.

    Of the loop `pair` each thread has two points, half of the loop apart: with ``pair="j"`` the
    nest becomes ``for j_wk in 0:12 @thread.x: for j in j_w:j_w + 4 step 2: S0``, as `Cyclic` and
    `Permute` would do it first. Written out by `Unroll`, they load what both need once.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.PLACING, 4)
    setting: ClassVar[StepSetting | None] = StepSetting("threads", SettingGroup.BLOCK, 0)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "spread",
        "let the threads of a block share nested loops inside its work, flattened",
        'spread(0, ("j","k"))',
        "Abdelfattah et al. 2016, 4",
        names=Subject.LOOP,
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)
    threads: int = takes(Kind.COUNT, 0, by_name=True)
    pair: str = takes(Kind.LOOP, "", by_name=True)

    @property
    def set_to(self) -> int:
        """Return how many threads share the loops, 0 for the usual."""
        return self.threads

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
        if self.pair:
            if reason := self._unpaired(body, context):
                return NOT_SPREAD.at(self.span, loop=", ".join(self.loops), reason=reason)
            halved = Cyclic(self.statement, self.pair, self._half(body, context), span=self.span)
            refusal = halved.why_not(_unplaced(body), context)
            if refusal is not None:
                return refusal
            body = halved.apply(body, context)
            last = self._last(body)
            refusal = last.why_not(_unplaced(body), context)
            if refusal is not None:
                return refusal
            body = last.apply(body, context)
        merged, team = self._merge, self._team
        if merged is not None:
            # Whether workers may share the loop is asked of the whole; here it keeps the order.
            refusal = merged.why_not(_unplaced(body), context)
            if refusal is not None:
                return refusal
            body = merged.apply(body, context)
        return team.why_not(body, context)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loops as one on threads, which `why_not` has accepted."""
        if self.pair:
            half = self._half(body, context)
            body = Cyclic(self.statement, self.pair, half).apply(body, context)
            body = self._last(body).apply(body, context)
        if self._merge is not None:
            body = self._merge.apply(body, context)
        return self._team.apply(body, context)

    @property
    def flattened(self) -> tuple[str, ...]:
        """Return the loops that are one, outermost first: of a pair's loop that over its halves."""
        return tuple(worker_name(x) if x == self.pair else x for x in self.loops)

    def _unpaired(self, body: Body, context: Context) -> str:
        """Return in words why threads cannot have pairs of points, empty where they can."""
        if self.pair not in self.loops:
            return f"'{self.pair}', of which each is to have two points, is none of them"
        count = context.folded(trip_count(named_loop(body, self.statement, self.pair)))
        if not isinstance(count, Int) or count.value < 2 or count.value % 2:
            return f"'{self.pair}' has no even number of iterations that is known"
        return ""

    def _half(self, body: Body, context: Context) -> int:
        count = context.folded(trip_count(named_loop(body, self.statement, self.pair)))
        assert isinstance(count, Int)
        return count.value // 2

    def _last(self, body: Body) -> Permute:
        """Return the step that puts the two points of a thread inside all loops of the nest."""
        band = band_with(body, self.statement, (worker_name(self.pair), self.pair)) or ()
        others = [x.var for x in band if x.place is Level.SERIAL and x.var != self.pair]
        return Permute(self.statement, (*others, self.pair), span=self.span)

    @property
    def _merge(self) -> Merge | None:
        """Return the step that makes one loop of several."""
        if len(self.loops) < 2:
            return None
        return Merge(self.statement, self.flattened, span=self.span)

    @property
    def _team(self) -> Team:
        """Return the step that puts the one loop on threads."""
        name = merged_name(self.flattened)
        return Team(self.statement, name, Level.THREAD_X, span=self.span)


def _unplaced(body: Body) -> Body:
    """Return `body` with all loops in their order."""
    placed = (x for x in walk_stmts(body) if isinstance(x, Loop))
    return in_order(body, frozenset(map(id, placed)))


def block_parts(
    steps: Iterable[object],
    context: Context,
    statements: frozenset[int],
    blocks: tuple[str, ...],
) -> dict[str, BlockPart]:
    """Return what a block has of each array that its steps bring, or keep, in its memory."""
    found: dict[str, BlockPart | None] = {}
    for step in steps:
        if isinstance(step, Bring):
            found[step.array] = block_part(context, step.array, statements, blocks)
        elif isinstance(step, Keep):
            found[step.array] = kept_part(context, step.array, statements, blocks)
    return {array: part for array, part in found.items() if part is not None}
