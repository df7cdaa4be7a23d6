"""Copy a box of an array into fast memory before the loops that use it again and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from annotune.analysis.facts import Analysis
from annotune.analysis.poly import ONE, Poly, from_expr, integer, variable
from annotune.diagnostics import NOWHERE, Diagnostic, Span
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
    substitute,
    variables,
)
from annotune.ir.flat import flattened
from annotune.ir.fold import fold
from annotune.ir.nest import NO_STATEMENT, Assign, Level, LocalArray, Loop, MemorySpace, walk_stmts
from annotune.transforms.copies import may_not_run, surely_read
from annotune.transforms.legality import TEAM_LEVELS, missing
from annotune.transforms.messages import (
    NOT_STAGED_ARRAY,
    NOT_STAGED_BOX,
    PLACED,
    STAGE_DIVERGES,
    STAGE_LAYOUT,
    STAGE_WIDTH,
    WRITTEN_IN_KERNEL,
)
from annotune.transforms.registers import fresh_name
from annotune.transforms.tiles import cut_ends, full_length
from annotune.transforms.tree import (
    Body,
    bound_names,
    find_assign,
    map_assigns,
    path,
    picks_piece,
    rebuilt,
    replace_loop,
    target_name,
    top_of,
)


@dataclass(frozen=True, slots=True)
class Stage:
    """Copy what `statement` reads of `array` inside `loop` into a local array before it.

    ``Stage(0, "b", "k", (("k", 4), ("j", 1)))``: ``for k in k_t:k_t+8: for j in 0:4:
    c[j] += b[k][j]`` becomes ``double b_tile[32]``, ``for k_s in 0:8: for j_s in 0:4:
    b_tile[4*k_s + j_s] = b[k_t + k_s][j_s]`` and ``for k: for j: c[j] += b_tile[4*(k - k_t) + j]``.
    The loops that pick the element run a number of iterations that is known. Where a tile may be
    cut short, zeros fill the rest of the copy.

    `layout` gives the distance in the copy of two neighbours along each of these loops, from the
    outermost loop of the copying to the innermost. In `SHARED` memory the loops on threads are
    among them: all threads of the block fill the copy together. The local array takes no name in
    `taken`.

    With a `width` the innermost loop of the copying takes so many neighbours at once, as lanes:
    ``for j_s in 0:2: for j_v in 0:2 @simd: b_tile[2*j_s + j_v] = b[k][2*j_s + j_v]``. Neighbours
    must be such in the array and in the copy, and start at a multiple of the width in both.
    """

    statement: int
    array: str
    loop: str
    layout: tuple[tuple[str, int], ...]
    element: str = "double"
    space: MemorySpace = MemorySpace.PRIVATE
    constants: Mapping[str, int] = field(default_factory=dict)
    span: Span = field(default=NOWHERE, compare=False)
    taken: frozenset[str] = frozenset()
    width: int = 1

    def why_not(self, body: Body, analysis: Analysis) -> Diagnostic | None:
        """Return the reason the copy would be wrong, or None when it is right."""
        absent = missing(body, self.statement, (self.loop,), self.span)
        if absent is not None:
            return absent
        loop = self._loop(body)
        if loop.place is not Level.SERIAL:
            serial = [x.var for x in path(body, self.statement) if x.place is Level.SERIAL]
            return PLACED.at(
                self.span,
                command="stage",
                loop=loop.var,
                place=loop.place,
                loops=", ".join(serial) or "none",
            )
        refusal = self._array_refusal(body) or self._box_refusal(body)
        refusal = refusal or self._layout_refusal(body)
        return refusal or (self._width_refusal(body, analysis) if self.width > 1 else None)

    def apply(self, body: Body) -> Body:
        """Return `body` with the copy before the loop, which `why_not` has accepted."""
        loop, source = self._loop(body), self._access(body)
        assert source is not None
        boxes = {x.var: x for x in self._box(body)}
        name = fresh_name(f"{self.array}_tile", body, self.taken)
        taken = self.taken | {name}
        offsets = {var: fresh_name(f"{var}_s", body, taken) for var, _ in self.layout}
        inner, lane = self.layout[-1][0], fresh_name(f"{self.layout[-1][0]}_v", body, taken)
        at: dict[str, Expr] = {var: Var(offset) for var, offset in offsets.items()}
        first = dict(at)
        if self.width > 1:
            first[inner] = Binary("*", Int(self.width), Var(offsets[inner]))
            at[inner] = Binary("+", first[inner], Var(lane))
        moved = _moved(boxes, at)
        value: Expr = substitute(source, moved)
        # All lanes are inside the tile, or none: the first one tells.
        starts = _moved(boxes, first)
        inside = conjunction(_inside({v: boxes[v] for v, _ in self.layout}, starts))
        if inside is not None:
            value = Select(fold(inside, self.constants), value, Real("0.0"))
        filled = Access(name, (self._place(at),))
        nest: Body = (Assign(NO_STATEMENT, filled, "=", fold(value), self.span),)
        if self.width > 1:
            nest = (Loop(lane, Int(0), Int(self.width), nest, place=Level.SIMD),)
        level = Level.COOPERATIVE if self.space is MemorySpace.SHARED else Level.SERIAL
        for var, _ in reversed(self.layout):
            extent = self._extents(body)[var] // (self.width if var == inner else 1)
            nest = (Loop(offsets[var], Int(0), Int(extent), nest, place=level),)
        within = {v: Binary("-", Var(v), boxes[v].lower) for v, _ in self.layout}
        # The layout counts iterations, an iterator steps.
        steps = {var: box.step for var, box in boxes.items()}
        copy = Access(name, (self._place(within, steps),))

        def use_copy(stmt: Assign) -> Assign:
            if stmt.number != self.statement:
                return stmt
            return stmt.rewritten(lambda e: copy if e == source else None)

        reusing = rebuilt(loop, body=map_assigns(loop.body, use_copy))
        declared = LocalArray(name, self.element, (self._length(body),), self.space)
        return replace_loop(body, loop, (declared, *nest, reusing))

    # What is copied ------------------------------------------------------------------------

    def _loop(self, body: Body) -> Loop:
        return next(x for x in path(body, self.statement) if x.var == self.loop)

    def _access(self, body: Body) -> Access | None:
        """Return the one element of the array that the statement reads, None for none or more."""
        assign = find_assign(body, self.statement)
        sources = (a for source in assign.sources() for a in accesses(source))
        found = {a for a in sources if a.array == self.array}
        return found.pop() if len(found) == 1 else None

    def _box(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops over the copy: those that pick the element here or on other threads.

        Of a tile that starts inside the loop, the loop over the tiles is one as well.
        """
        source = self._access(body)
        used = frozenset[str]().union(*map(variables, source.indices)) if source else frozenset()
        loops = path(body, self.statement)
        depth = next(k for k, x in enumerate(loops) if x.var == self.loop)
        is_shared = self.space is MemorySpace.SHARED
        team = [x for x in loops[:depth] if is_shared and x.place in TEAM_LEVELS]
        for inner in reversed(loops[depth:]):
            used |= bound_names(inner) if inner.var in used else frozenset()
        return tuple(x for x in (*team, *loops[depth:]) if x.var in used)

    def _extents(self, body: Body) -> dict[str, int]:
        lengths = {x.var: full_length(x, self.constants) for x in self._box(body)}
        return {var: length for var, length in lengths.items() if length is not None}

    def _length(self, body: Body) -> int:
        """Return the elements of the copy, those that only pad it among them."""
        extents = self._extents(body)
        return 1 + sum(stride * (extents[var] - 1) for var, stride in self.layout)

    def _place(self, at: Mapping[str, Expr], steps: Mapping[str, int] | None = None) -> Expr:
        """Return the index in the copy of the element `at` a distance along each loop.

        `steps` are what one iteration adds to these distances, 1 where there are none.
        """
        total: Expr = Int(0)
        for var, stride in self.layout:
            each = stride // (steps[var] if steps else 1)
            total = Binary("+", total, Binary("*", Int(each), at[var]))
        return fold(total)

    # Why not ---------------------------------------------------------------------------------

    def _array_refusal(self, body: Body) -> Diagnostic | None:
        """Return why the array's elements cannot be copied beforehand, or None."""
        source = self._access(body)
        nest = body[top_of(body, self.statement)]
        written = {target_name(s) for s in walk_stmts((nest,)) if isinstance(s, Assign)}
        if self.array in written:
            return WRITTEN_IN_KERNEL.at(self.span, array=self.array, statement=self.statement)
        assign = find_assign(body, self.statement)
        is_sure = assign.guard is None and source in set(surely_read(assign.value))
        # An index that is itself an element would be copied with elements nobody chose.
        if source is None or not is_sure or any(accesses(i) for i in source.indices):
            return NOT_STAGED_ARRAY.at(self.span, array=self.array, statement=self.statement)
        return None

    def _box_refusal(self, body: Body) -> Diagnostic | None:
        """Return why the elements are no box of a known size, the same for all threads, or None."""
        loops = path(body, self.statement)
        box = self._box(body)
        depth = next(k for k, x in enumerate(loops) if x.var == self.loop)
        for loop in box:
            if full_length(loop, self.constants) is None:
                return NOT_STAGED_BOX.at(self.span, array=self.array, loop=loop.var)
        idle = may_not_run(loops, depth)
        if idle is not None:
            return NOT_STAGED_BOX.at(self.span, array=self.array, loop=idle.var)
        if self.space is MemorySpace.PRIVATE:
            return None
        team = {x.var for x in loops if x.place in TEAM_LEVELS}
        for loop in loops[:depth]:
            is_apart = loop.place is Level.SERIAL and bound_names(loop) & team
            is_open = loop.place in TEAM_LEVELS and full_length(loop, self.constants) is None
            if is_apart or is_open:
                return STAGE_DIVERGES.at(self.span, array=self.array, loop=loop.var)
        inner = next((x for x in loops[depth:] if x.place is not Level.SERIAL), None)
        if inner is not None:
            return STAGE_DIVERGES.at(self.span, array=self.array, loop=inner.var)
        return None

    def _layout_refusal(self, body: Body) -> Diagnostic | None:
        """Return why the layout gives two elements one place, or leaves a loop out; else None."""
        extents = self._extents(body)
        if sorted(var for var, _ in self.layout) != sorted(extents):
            return STAGE_LAYOUT.at(self.span, array=self.array, loops=", ".join(extents))
        steps = {x.var: x.step for x in self._box(body)}
        if any(stride % steps[var] for var, stride in self.layout):
            return STAGE_LAYOUT.at(self.span, array=self.array, loops=", ".join(extents))
        reach = 0
        for var, stride in sorted(self.layout, key=lambda pair: pair[1]):
            if extents[var] > 1 and stride <= reach:
                return STAGE_LAYOUT.at(self.span, array=self.array, loops=", ".join(extents))
            reach += stride * (extents[var] - 1)
        return None

    def _width_refusal(self, body: Body, analysis: Analysis) -> Diagnostic | None:
        """Return why neighbours cannot be copied together, or None when they can."""
        (inner, stride), boxes = self.layout[-1], {x.var: x for x in self._box(body)}
        others = (each for _, each in self.layout[:-1])

        def refused(why: str) -> Diagnostic:
            return STAGE_WIDTH.at(
                self.span, width=self.width, array=self.array, loop=inner, why=why
            )

        if self.width not in VECTORS.get(self.element, ()):
            return refused(f"there is no such vector of {self.element}")
        whole = self._extents(body)[inner] % self.width == 0 and boxes[inner].step == 1
        if stride != 1 or not whole or any(each % self.width for each in others):
            return refused("the copy has them apart")
        source = self._access(body)
        assert source is not None
        lanes = self._start(source, body, analysis)
        offset = variable(inner)
        linear = lanes.linear_in((inner,)) if lanes is not None else None
        if lanes is None or linear is None or linear[0].get(inner) != ONE:
            return refused("they are no neighbours in the array")
        # What is left of the place without the loop itself: a multiple in every copy.
        if not _is_multiple(lanes - offset, self.width):
            return refused("they do not start at a multiple of that")
        for end in cut_ends(boxes[inner]):
            length = self._counted(Binary("-", end, boxes[inner].lower), body)
            if length is None or not _is_multiple(length, self.width):
                return refused("they do not end at a multiple of that")
        return None

    def _start(self, source: Access, body: Body, analysis: Analysis) -> Poly | None:
        """Return the place of an element in memory from the first one that the region touches.

        The iterators of the copy are counted from their tile's start.
        """
        flat = flattened(source, analysis.region.arrays) or source
        assert isinstance(flat, Access)
        ahead = {
            box.var: Binary("+", box.lower, Var(box.var))
            for box in self._box(body)
            if box.step == 1
        }
        place = substitute(flat.indices[0], ahead)
        return self._counted(Binary("-", place, analysis.shapes[self.array].lowest), body)

    def _counted(self, place: Expr, body: Body) -> Poly | None:
        """Return a place with the iterators of tiles counted in tiles, so that what each
        contributes is a multiple of its coefficient; None where it is no polynomial."""
        found = from_expr(fold(place, self.constants))
        # Where an inner loop starts is told by outer ones, whose turn comes then.
        for loop in reversed(path(body, self.statement)):
            begin = from_expr(fold(loop.lower, self.constants))
            if found is None or begin is None:
                return None
            if loop.step > 1:
                counted = begin + integer(loop.step) * variable(loop.var)
                found = found.substitute({loop.var: counted})
        return found


# The vectors of CUDA that a thread copies at once: 8 or 16 bytes.
VECTORS = {"double": (2,), "float": (2, 4)}


def _is_multiple(place: Poly, width: int) -> bool:
    return all(factor % width == 0 for _, factor in place.terms)


def _moved(boxes: Mapping[str, Loop], at: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return each loop's value at a distance along it, counted in its iterations."""
    moved: dict[str, Expr] = {}
    # A tile starts where the loop over the tiles has come to, so that one is first.
    for var, box in boxes.items():
        ahead = Binary("*", Int(box.step), at[var])
        moved[var] = fold(Binary("+", substitute(box.lower, moved), ahead))
    return moved


def _inside(boxes: Mapping[str, Loop], at: Mapping[str, Expr]) -> Iterator[Expr]:
    """Yield the conditions for a place in full tiles to be inside tiles cut short.

    Inside the end that may cut the loop over one tile, it is inside those of the loops that pick
    the tile.
    """
    short = [loop for loop in boxes.values() if cut_ends(loop)]
    for loop in short:
        if not any(picks_piece(loop, other) for other in short):
            yield from (Binary("<", at[loop.var], end) for end in cut_ends(loop))
