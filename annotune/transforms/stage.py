"""Copy a box of an array into fast memory before the loops that use it again and again.

Copies of which a thread moves several neighbours at once: where they are such, and aligned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import prod
from typing import ClassVar, TypeAlias

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import Kind
from annotune.annotation.messages import nearest
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Real,
    Select,
    Var,
    accesses,
    conjunction,
    rewrite,
    substitute,
)
from annotune.ir.fold import fold
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Level,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    expressions,
    map_assigns,
    rewritten,
    walk_paths,
    walk_places,
    walk_stmts,
)
from annotune.ir.poly import ONE, Poly, from_expr, integer, variable
from annotune.ir.region import flattened
from annotune.transforms.footprint import Footprint, Frame, Offset, Side, footprint
from annotune.transforms.legality import TEAM_LEVELS, TENSOR_SHARED_BYTES, missing, serial_refusal
from annotune.transforms.map import MAX_THREADS
from annotune.transforms.messages import (
    NO_SUCH_ARRAY,
    NOT_OVERLAID,
    NOT_STAGED_ARRAY,
    NOT_STAGED_BOX,
    STAGE_DIVERGES,
    STAGE_LAYOUT,
    STAGE_WIDTH,
    TOO_MANY_TOGETHER,
    TOO_MUCH_SHARED,
    WRITTEN_IN_KERNEL,
)
from annotune.transforms.presence import ends_seen
from annotune.transforms.transform import (
    KIM_2018,
    Context,
    Copying,
    Feature,
    Needed,
    OnStatement,
    PhaseRank,
    Schedule,
    SchedulePart,
    SettingGroup,
    StepPhase,
    StepSetting,
    Subject,
    Word,
    takes,
)
from annotune.transforms.tree import (
    Body,
    all_names,
    bound_names,
    cut_ends,
    fresh_name,
    full_length,
    mapped,
    may_not_run,
    path,
    picks_piece,
    replace_loop,
    target_name,
    top_of,
)

Layout: TypeAlias = tuple[tuple[str, int], ...]

MEMORIES = {"shared": MemorySpace.SHARED, "registers": MemorySpace.PRIVATE}


@dataclass(frozen=True, slots=True)
class Stage(Copying):
    """Copy what `statement` reads of `array` inside `loop` into a local array before it.

    ``Stage(0, "b", "k", (("k", 4), ("j", 1)))``: ``for k in k_t:k_t+8: for j in 0:4:
    c[j] += b[k][j]`` becomes ``double b_tile[32]``, ``for k_s in 0:8: for j_s in 0:4:
    b_tile[4*k_s + j_s] = b[k_t + k_s][j_s]`` and ``for k: for j: c[j] += b_tile[4*(k - k_t) + j]``.
    The loops that pick the element run a number of iterations that is known. Where a tile may be
    cut short, zeros fill the rest of the copy.

    Several accesses whose subscripts differ by constants share a copy with a halo: ``a[i - 1] +
    a[i + 1]`` reads a tile of four from six elements. The corners of the box that no access
    reads are zeros as well. Statements beside this one, in the same loops, read the copy too.

    Under a condition, ``if (b[k] != 0) c[j] += a[k][j]``, not all of the array need be there. A
    copy is made all the same of what the condition itself reads, and where the array is whole
    (`Analysis.is_there`, `Context.is_whole`); what is read of it in vain is not used. Memory that
    threads share is a device's, and where arrays were copied there, they have all elements.

    `layout` gives the distance in the copy of two neighbours along each of these loops, from the
    outermost loop of the copying to the innermost. In `SHARED` memory the loops on threads are
    among them: all threads of the block fill the copy together. So may be loops around the copy
    that accesses reach beyond; of one that is not, one plane is copied. Distances of 0 stand for
    rows one after the other, each `padding` elements longer than it need be; without a layout the
    rows are those of the array. An empty `loop` puts the copy before the statement itself, inside
    all its loops.

    With a `width` the innermost loop of the copying takes so many neighbours at once, as lanes:
    ``for j_s in 0:2: for j_v in 0:2 @simd: b_tile[2*j_s + j_v] = b[k][2*j_s + j_v]``. Neighbours
    must be such in the array and in the copy, and start at a multiple of the width in both.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 0)
    setting: ClassVar[StepSetting | None] = StepSetting("stage", SettingGroup.COPY, 0)
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.STAGING
    asked_with: ClassVar[tuple[str, ...]] = ("vectors",)
    word: ClassVar[Word] = Word(
        "stage",
        "copy what the statement reads of the array in the loop into shared memory before it",
        'stage(0, "v2", "h7", padding=1)',
        KIM_2018,
        slots=("statement", "array", "loop", "order", "padding", "memory", "width"),
        names=Subject.ARRAY,
    )
    array: str = takes(Kind.NAME)
    loop: str = takes(Kind.LOOP, "")
    layout: Layout = takes(Kind.ROWS, (), name="order", by_name=True)
    space: MemorySpace = takes(
        Kind.NAME, MemorySpace.SHARED, name="memory", by_name=True, words=MEMORIES
    )
    width: int = takes(Kind.COUNT, 1, by_name=True, exact=True)
    padding: int = takes(Kind.COUNT, 0, by_name=True)

    @property
    def needs(self) -> Collection[Needed]:
        """Return the memory of the copy."""
        return (self.space,)

    @property
    def set_to(self) -> str:
        """Return the array."""
        return self.array

    def mistakes(self, body: Body) -> Iterator[Diagnostic]:
        """Yield what is wrong with the array, which the statement has to read."""
        assigns = [assign for assign, _ in walk_paths(body) if assign.number == self.statement]
        known = sorted({a.array for s in assigns for e in s.sources() for a in accesses(e)})
        if assigns and self.array not in known:
            yield NO_SUCH_ARRAY.at(
                self.span,
                statement=self.statement,
                array=self.array,
                hint=nearest(self.array, known),
                known=", ".join(known) or "none",
            )

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copy would be wrong, or None when it is right."""
        if absent := missing(body, self.statement, (self.loop,) if self.loop else (), self.span):
            return absent
        loops = path(body, self.statement)
        loop = next((x for x in loops if x.var == self.loop), None)
        if loop and (refusal := serial_refusal("stage", body, self.statement, loop, self.span)):
            return refusal
        nest = body[top_of(body, self.statement)]
        written = {target_name(s) for s in walk_stmts((nest,)) if isinstance(s, Assign)}
        if self.array in written:
            return WRITTEN_IN_KERNEL.at(self.span, array=self.array, statement=self.statement)
        found = self._footprint(body, context)
        if found is None or not loops:
            return NOT_STAGED_ARRAY.at(self.span, array=self.array, statement=self.statement)
        refusal = self._box_refusal(body, found, context) or self._layout_refusal(found)
        refusal = refusal or (
            self._block_refusal(nest, found, context) if self._is_shared else None
        )
        wide = self.width > 1
        return refusal or (self._width_refusal(body, found, context) if wide else None)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copy before the loop, which `why_not` has accepted."""
        found = self._footprint(body, context)
        assert found is not None
        sides = {side.loop.var: side for side in found.sides}
        taken = context.names | all_names(body)
        name = fresh_name(f"{self.array}_tile", (), taken)
        taken |= {name}
        layout = self._layout(found)
        offsets = {var: fresh_name(f"{var}_s", (), taken) for var, _ in layout}
        at: dict[str, Expr] = {var: Var(offset) for var, offset in offsets.items()}
        first, inner, lane = dict(at), layout[-1][0] if layout else "", ""
        if self.width > 1:
            lane = fresh_name(f"{inner}_v", (), taken)
            first[inner] = Binary("*", Int(self.width), Var(offsets[inner]))
            at[inner] = Binary("+", first[inner], Var(lane))
        value: Expr = substitute(found.source, _moved(sides, at))
        # All lanes are inside the tile, or none: the first one tells.
        inside = _condition(self._tests(found, offsets, _moved(sides, first)))
        if inside is not None:
            # A long integer would not survive the way through a double.
            zero = Int(0) if is_integer_type(context.types[self.array]) else Real("0.0")
            value = Select(fold(inside, context.sizes), value, zero)
        filled = Access(name, (_place(layout, at),))
        nest: Body = (Assign(NO_STATEMENT, filled, "=", fold(value), self.span),)
        if self.width > 1:
            nest = (Loop(lane, Int(0), Int(self.width), nest, place=Level.SIMD),)
        level = Level.COOPERATIVE if self._is_shared else Level.SERIAL
        for var, _ in reversed(layout):
            extent = sides[var].extent
            assert extent is not None
            turns = extent // self.width if var == inner else extent
            nest = (Loop(offsets[var], Int(0), Int(turns), nest, place=level),)
        copies = {a: Access(name, (_read(layout, sides, o),)) for a, o in found.offsets.items()}

        def use_copy(stmt: Assign) -> Assign:
            if stmt.number not in found.statements:
                return stmt
            return stmt.rewritten(lambda e: copies.get(e) if isinstance(e, Access) else None)

        declared = LocalArray(name, context.types[self.array], (self._length(found),), self.space)
        loops = path(body, self.statement)
        if not self.loop:
            own = replace(loops[-1], body=(declared, *nest, *map_assigns(loops[-1].body, use_copy)))
            return replace_loop(body, loops[-1], (own,))
        loop = next(x for x in loops if x.var == self.loop)
        reusing = replace(loop, body=map_assigns(loop.body, use_copy))
        return replace_loop(body, loop, (declared, *nest, reusing))

    @property
    def _is_shared(self) -> bool:
        return self.space is MemorySpace.SHARED

    # What is copied ------------------------------------------------------------------------

    def _frame(self, body: Body, context: Context) -> Frame:
        loops = path(body, self.statement)
        inner = (k for k, x in enumerate(loops) if x.var == self.loop)
        return Frame(loops, next(inner, len(loops)), self.space, context.sizes)

    def _footprint(self, body: Body, context: Context) -> Footprint | None:
        named = (var for var, _ in self.layout)
        frame, is_whole = self._frame(body, context), self._is_whole(context)
        return footprint(body, self.statement, self.array, frame, named, is_whole)

    def _is_whole(self, context: Context) -> bool:
        """Return whether the array has what conditions leave out, wherever the copy is made."""
        analysis = context.analysis
        if analysis.is_there(self.array):
            return True
        if not context.is_whole or self.array not in analysis.shapes:
            return False
        return self._is_shared or ends_seen(analysis, self.array) is not None

    def _layout(self, found: Footprint) -> Layout:
        """Return the loops of the copying, outermost first, with their distances in the copy."""
        extents = {side.loop.var: side.extent or 1 for side in found.sides}
        layout = self.layout or tuple((var, 0) for var in found.rows())
        if any(stride for _, stride in layout):
            return layout
        out: list[tuple[str, int]] = []
        length = 1
        for var, _ in reversed(layout):
            out.append((var, length))
            length = length * extents.get(var, 1) + self.padding
        return tuple(reversed(out))

    def _length(self, found: Footprint) -> int:
        """Return the elements of the copy, those that only pad it among them."""
        extents = {side.loop.var: side.extent or 1 for side in found.sides}
        return 1 + sum(stride * (extents[var] - 1) for var, stride in self._layout(found))

    def _tests(
        self, found: Footprint, offsets: Mapping[str, str], moved: Mapping[str, Expr]
    ) -> Iterator[Expr | None]:
        """Yield for each box of offsets the test that a place of the copy is read with one of them.

        None where every place is.
        """
        order = list(offsets)
        short = [s.loop for s in found.sides if not s.is_outside and cut_ends(s.loop)]
        # Inside the end that may cut the loop over one tile, a place is inside those of the loops
        # that pick the tile.
        ends_of = {
            x.var: cut_ends(x) for x in short if not any(picks_piece(x, other) for other in short)
        }
        for low, high in found.boxes():
            tests: list[Expr] = []
            ends = zip(found.sides, low, high, strict=True)
            for side, first, last in sorted(ends, key=lambda end: order.index(end[0].loop.var)):
                var, count = side.loop.var, side.count or 1
                if first > side.behind:
                    tests.append(Binary("<=", Int(first - side.behind), Var(offsets[var])))
                if last < side.ahead:
                    end = Int(count + last - side.behind)
                    tests.append(Binary("<", Var(offsets[var]), end))
                for cut in ends_of.get(var, ()):
                    tests.append(Binary("<", moved[var], Binary("+", cut, Int(last))))
            yield conjunction(tests)

    # Why not ---------------------------------------------------------------------------------

    def _box_refusal(self, body: Body, found: Footprint, context: Context) -> Diagnostic | None:
        """Return why the elements are no box of a known size, the same for all threads, or None."""
        frame = self._frame(body, context)
        loops, depth = frame.loops, frame.depth
        for side in found.sides:
            has_halo = side.behind != side.ahead
            if side.count is None or (has_halo and side.loop.step != 1):
                return NOT_STAGED_BOX.at(self.span, array=self.array, loop=side.loop.var)
        idle = may_not_run(loops, depth)
        if idle is not None:
            return NOT_STAGED_BOX.at(self.span, array=self.array, loop=idle.var)
        if not self._is_shared:
            return None
        team = {x.var for x in loops if x.place in TEAM_LEVELS}
        for loop in loops[:depth]:
            is_apart = loop.place is Level.SERIAL and bound_names(loop) & team
            is_open = loop.place in TEAM_LEVELS and full_length(loop, context.sizes) is None
            if is_apart or is_open:
                return STAGE_DIVERGES.at(self.span, array=self.array, loop=loop.var)
        inner = next((x for x in loops[depth:] if x.place is not Level.SERIAL), None)
        if inner is not None:
            return STAGE_DIVERGES.at(self.span, array=self.array, loop=inner.var)
        return None

    def _layout_refusal(self, found: Footprint) -> Diagnostic | None:
        """Return why the layout gives two elements one place, or leaves a loop out; else None."""
        extents = {side.loop.var: side.extent or 1 for side in found.sides}
        refusal = STAGE_LAYOUT.at(self.span, array=self.array, loops=", ".join(extents) or "none")
        layout = self._layout(found)
        if sorted(var for var, _ in layout) != sorted(extents):
            return refusal
        steps = {side.loop.var: side.loop.step for side in found.sides}
        if any(stride % steps[var] for var, stride in layout):
            return refusal
        reach = 0
        for var, stride in sorted(layout, key=lambda pair: pair[1]):
            if extents[var] > 1 and stride <= reach:
                return refusal
            reach += stride * (extents[var] - 1)
        return None

    def _width_refusal(self, body: Body, found: Footprint, context: Context) -> Diagnostic | None:
        """Return why neighbours cannot be copied together, or None when they can."""
        layout, loops = self._layout(found), path(body, self.statement)
        why = _why_not_wide(found, layout, self.width, loops, context)
        if not why:
            return None
        return STAGE_WIDTH.at(
            self.span, width=self.width, array=self.array, loop=layout[-1][0], why=why
        )

    def _block_refusal(self, nest: Stmt, found: Footprint, context: Context) -> Diagnostic | None:
        """Return why a block cannot have the copy, with those that it has already, or None."""
        team = {x.var: x for x in walk_stmts((nest,)) if isinstance(x, Loop)}
        lengths = [full_length(x, context.sizes) or 1 for x in team.values() if _is_team(x)]
        if prod(lengths) > MAX_THREADS:
            return TOO_MANY_TOGETHER.at(
                self.span, array=self.array, threads=prod(lengths), limit=MAX_THREADS
            )
        used = self._length(found) * element_bytes(context.types[self.array])
        used += sum(prod(s.extents) * element_bytes(s.type) for s in shared_of(nest))
        limit = TENSOR_SHARED_BYTES
        if used > limit:
            return TOO_MUCH_SHARED.at(self.span, array=self.array, bytes=used, limit=limit)
        return None


def shared_of(nest: Stmt) -> tuple[LocalArray, ...]:
    """Return the arrays that blocks have in shared memory; one that is declared twice is one."""
    arrays = (s for s in walk_stmts((nest,)) if isinstance(s, LocalArray))
    return tuple(dict.fromkeys(s for s in arrays if s.space is MemorySpace.SHARED))


@dataclass(frozen=True, slots=True)
class Overlay(OnStatement):
    """Put the copies of `statement` where those of `other` are, whose loops are over by then.

    ``Overlay(1, 0)``: ``for k: {shared double a_tile[64]; copy; S0}, for l: {shared double
    b_tile[48]; copy; S1}`` becomes the same with ``a_tile`` for ``b_tile``, so that a block has
    both in the memory of one. The largest of one statement takes the place of the largest of the
    other, and so on; a place is as long as the longer of both. The threads wait for each other
    before the memory is filled anew, as they do between two steps of one sum.

    Source:
        Variables whose lives do not overlap have one place: Chaitin et al., "Register Allocation
        via Coloring", Computer Languages 6, 1981, doi:10.1016/0096-0551(81)90048-5.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 2)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.STAGING
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "overlay",
        "put the copies of the statement where those of another are, which is over by then",
        "overlay(1, 0)",
        "Chaitin et al. 1981",
        exact=True,
    )
    other: int = takes(Kind.STATEMENT)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copies need places of their own, or None when they do not."""
        for number in (self.statement, self.other):
            if absent := missing(body, number, (), self.span):
                return absent
        why = self._why_apart(body)
        if not why:
            return None
        return NOT_OVERLAID.at(self.span, statement=self.statement, other=self.other, why=why)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copies in one place, which `why_not` has accepted."""
        places = {mine.name: its for mine, its in self._pairs(body)}
        lengths = {
            its.name: max(mine.extents[0], its.extents[0]) for mine, its in self._pairs(body)
        }

        def moved(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array not in places:
                return None
            indices = tuple(rewrite(index, moved) for index in expr.indices)
            return Access(places[expr.array].name, indices, expr.span)

        def declared(stmt: Stmt) -> Body | None:
            if not isinstance(stmt, LocalArray):
                return None
            own = places.get(stmt.name, stmt)
            return (replace(own, extents=(lengths[own.name],)) if own.name in lengths else own,)

        top = top_of(body, self.statement)
        renewed = mapped(rewritten((body[top],), moved), declared)
        return (*body[:top], *renewed, *body[top + 1 :])

    def _why_apart(self, body: Body) -> str:
        """Return in words why no memory can serve both, empty when some can."""
        top = top_of(body, self.statement)
        if top != top_of(body, self.other) or self.statement == self.other:
            return "they do not stand in one kernel, each in loops of its own"
        for number in (self.statement, self.other):
            if not _copies_of(body, number):
                return f"statement {number} has no copies in shared memory"
        if len(_copies_of(body, self.statement)) > len(_copies_of(body, self.other)):
            return f"statement {self.other} has fewer copies"
        places = _places_of((body[top],))
        for mine, its in self._pairs(body):
            if mine.name == its.name:
                return f"'{mine.name}' serves both already"
            if mine.type != its.type or len(mine.extents) != 1 or len(its.extents) != 1:
                return f"'{mine.name}' and '{its.name}' are not of one kind"
            if not _live_apart(places[mine.name], places[its.name]):
                return f"'{its.name}' is still in use where '{mine.name}' is filled"
        return ""

    def _pairs(self, body: Body) -> tuple[tuple[LocalArray, LocalArray], ...]:
        """Return the copies of the statement with those of the other whose places they take."""
        both = (_copies_of(body, self.statement), _copies_of(body, self.other))
        return tuple(zip(*both, strict=False))


def _copies_of(body: Body, statement: int) -> tuple[LocalArray, ...]:
    """Return the copies in shared memory that a statement reads, the largest first."""
    nest = body[top_of(body, statement)]
    # A block that is held has its loads and stores under the statement's number, too.
    own = (s for s in walk_stmts((nest,)) if isinstance(s, Assign) and s.number == statement)
    used = {a.array for assign in own for source in assign.sources() for a in accesses(source)}
    found = (array for array in shared_of(nest) if array.name in used)
    return tuple(sorted(found, key=lambda array: -prod(array.extents)))


def _live_apart(first: Sequence[tuple[int, ...]], second: Sequence[tuple[int, ...]]) -> bool:
    """Return whether no statement of two arrays' lives runs between two of the other's.

    `first` and `second` are the places of all that declares or uses them. A life is one iteration
    of the loops around all of it, and begins with the declaration: what an array had in another
    iteration is gone.
    """
    depth = 0
    while len({place[depth] for place in (*first, *second)}) == 1:
        depth += 1
    one, two = ({place[depth] for place in some} for some in (first, second))
    return max(one) < min(two) or max(two) < min(one)


def _places_of(body: Body) -> Mapping[str, list[tuple[int, ...]]]:
    """Return for each array in the nests of a body where in the text it is declared or used."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for stmt, _, place in walk_places(body):
        if isinstance(stmt, LocalArray):
            found.setdefault(stmt.name, []).append(place)
        used = {a.array for part in expressions(stmt) for a in accesses(part)}
        for name in used:
            found.setdefault(name, []).append(place)
    return found


def is_integer_type(type_: str) -> bool:
    """Return whether a C type counts: it is neither real nor complex."""
    return not {"float", "double"} & set(type_.split())


def _is_team(loop: Loop) -> bool:
    return loop.place in TEAM_LEVELS


def _moved(sides: Mapping[str, Side], at: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return each loop's value at a distance along it, counted in its iterations."""
    moved: dict[str, Expr] = {}
    # A tile starts where the loop over the tiles has come to, so that one is first.
    for var, side in sides.items():
        start = Var(var) if side.is_outside else substitute(side.loop.lower, moved)
        ahead = Binary("*", Int(side.loop.step), at[var])
        moved[var] = fold(Binary("+", Binary("+", start, Int(side.behind)), ahead))
    return moved


def _read(layout: Layout, sides: Mapping[str, Side], offset: Offset) -> Expr:
    """Return the index in a copy of what an access reads that is ahead by `offset`."""
    at: dict[str, Expr] = {}
    for var, side in sides.items():
        reach = Int(offset.get(var, 0) - side.behind)
        within = Int(0) if side.is_outside else Binary("-", Var(var), side.loop.lower)
        at[var] = Binary("+", within, reach)
    # The layout counts iterations, an iterator steps.
    return _place(layout, at, {var: side.loop.step for var, side in sides.items()})


def _place(layout: Layout, at: Mapping[str, Expr], steps: Mapping[str, int] | None = None) -> Expr:
    """Return the index in a copy of the element `at` a distance along each loop.

    `steps` are what one iteration adds to these distances, 1 where there are none.
    """
    total: Expr = Int(0)
    for var, stride in layout:
        each = stride // (steps[var] if steps else 1)
        total = Binary("+", total, Binary("*", Int(each), at[var]))
    return fold(total)


def _condition(tests: Iterator[Expr | None]) -> Expr | None:
    """Return that one of `tests` holds, None when one always does."""
    every = list(tests)
    present = [test for test in every if test is not None]
    if len(present) < len(every):
        return None
    return reduce(lambda left, right: Binary("||", left, right), present)


def copied_whole(analysis: Analysis, schedule: Schedule) -> tuple[str, ...]:
    """Return the arrays that copies take to be whole though conditions leave elements out."""
    guarded = {a.number for a in analysis.region.nest.assigns() if a.guard is not None}
    copies = (s for s in schedule if isinstance(s, Stage) and s.statement in guarded)
    return tuple(dict.fromkeys(s.array for s in copies if not analysis.is_there(s.array)))


# The vectors of CUDA that a thread copies at once: 8 or 16 bytes.
VECTORS = {"double": (2,), "float": (2, 4)}


def _why_not_wide(
    copied: Footprint, layout: Layout, width: int, loops: Sequence[Loop], context: Context
) -> str:
    """Return in words why `width` neighbours cannot be copied together, empty when they can."""
    element = context.types[copied.source.array]
    sides = {side.loop.var: side for side in copied.sides}
    (inner, stride), others = layout[-1], (each for _, each in layout[:-1])
    side = sides[inner]
    if width not in VECTORS.get(element, ()):
        return f"there is no such vector of {element}"
    if any(one.behind or one.ahead for one in copied.sides):
        return "accesses reach beyond the tile"
    whole = (side.extent or 1) % width == 0 and side.loop.step == 1
    if stride != 1 or not whole or any(each % width for each in others):
        return "the copy has them apart"
    lanes = _start(copied, loops, context)
    linear = lanes.linear_in((inner,)) if lanes is not None else None
    if lanes is None or linear is None or linear[0].get(inner) != ONE:
        return "they are no neighbours in the array"
    # What is left of the place without the loop itself: a multiple in every copy.
    if not _is_multiple(lanes - variable(inner), width):
        return "they do not start at a multiple of that"
    for end in cut_ends(side.loop):
        length = _counted(Binary("-", end, side.loop.lower), loops, context)
        if length is None or not _is_multiple(length, width):
            return "they do not end at a multiple of that"
    return ""


def _start(copied: Footprint, loops: Sequence[Loop], context: Context) -> Poly | None:
    """Return the place of an element in memory from the first one that the region touches.

    `loops` are those around the copy, whose own iterators are counted from their tile's start.
    """
    flat = flattened(copied.source, context.analysis.region.arrays) or copied.source
    assert isinstance(flat, Access)
    own = (side.loop for side in copied.sides)
    ahead: dict[str, Expr] = {x.var: Binary("+", x.lower, Var(x.var)) for x in own if x.step == 1}
    place = substitute(flat.indices[0], ahead)
    lowest = context.analysis.shapes[copied.source.array].lowest
    return _counted(Binary("-", place, lowest), loops, context)


def _counted(place: Expr, loops: Sequence[Loop], context: Context) -> Poly | None:
    """Return a place with the iterators of tiles counted in tiles, so that what each
    contributes is a multiple of its coefficient; None where it is no polynomial."""
    found = from_expr(context.folded(place))
    # Where an inner loop starts is told by outer ones, whose turn comes then.
    for loop in reversed(loops):
        begin = from_expr(context.folded(loop.lower))
        if found is None or begin is None:
            return None
        if loop.step > 1:
            counted = begin + integer(loop.step) * variable(loop.var)
            found = found.substitute({loop.var: counted})
    return found


def _is_multiple(place: Poly, width: int) -> bool:
    return all(factor % width == 0 for _, factor in place.terms)
