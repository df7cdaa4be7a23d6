"""Keep a block of array elements in registers while a loop accumulates into them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.analysis.reductions import reduction_operator
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, Var, print_expr, variables
from annotune.ir.nest import Assign, Level, LocalArray, Loop
from annotune.transforms.copies import copy_refusal, other_user
from annotune.transforms.legality import missing
from annotune.transforms.messages import (
    NO_BLOCK,
    NO_REDUCTION,
    NOT_INVARIANT,
    READ_ELSEWHERE,
    ROUNDED_SUM,
)
from annotune.transforms.tiles import full_length, turn
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    bound_names,
    exchanged,
    find_assign,
    fresh_name,
    named_loop,
    nest_loops,
    path,
    replace_loop,
    target_name,
)
from annotune.transforms.value_type import drops_fractions, neutral
from annotune.transforms.word import KIM_2018, Word, takes


@dataclass(frozen=True, slots=True)
class Hold(OnStatement):
    """Load the elements that `statement` updates inside `loop` into a local array, store after.

    ``Hold(0, "k")``: ``for k: for i in i_t:i_t+4: c[i] += a[k]`` becomes
    ``double c_block[4]``, ``for i: c_block[i - i_t] = c[i]``,
    ``for k: for i: c_block[i - i_t] += a[k]`` and ``for i: c[i] = c_block[i - i_t]``. The
    loops inside `loop` that pick the element run a number of iterations that is known: tiles,
    or loops whose count fixed sizes tell. `Registers` is the case without any.

    With `from_zero` the block starts from zeros and is added to the elements at the end:
    ``for i: c_block[i - i_t] = -0.0`` and ``for i: c[i] += c_block[i - i_t]``. The loop then
    need not wait for the elements, which only a sum allows that nothing else in it reads.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "hold",
        "keep the block of elements that the statement updates in the loop in registers",
        'hold(0, "h7_t")',
        KIM_2018,
    )
    loop: str = takes(Kind.LOOP)
    from_zero: bool = takes(Kind.FLAG, False, by_name=True, exact=True)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copy would be wrong, or None when it is right."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        target = find_assign(body, self.statement).target
        if isinstance(target, Var):
            return NO_BLOCK.at(self.span, loop=self.loop, inner=target.name)
        loop = named_loop(body, self.statement, self.loop)
        used = _index_names(target)
        if loop.place != Level.SERIAL:
            return copy_refusal("hold", body, self.statement, loop, self.span)
        if self.loop in used:
            fixed = [x.var for x in path(body, self.statement) if x.var not in used]
            return NOT_INVARIANT.at(
                self.span,
                statement=self.statement,
                loop=self.loop,
                loops=", ".join(fixed) or "none",
            )
        inside = {x.var for x in self._inside(body)} | {self.loop}
        for inner in self._picking(body):
            if full_length(inner, context.sizes) is None or bound_names(inner) & inside:
                return NO_BLOCK.at(self.span, loop=self.loop, inner=inner.var)
        refusal = copy_refusal("hold", body, self.statement, loop, self.span)
        return refusal or (self._sum_refusal(body, context) if self.from_zero else None)

    def _sum_refusal(self, body: Body, context: Context) -> Diagnostic | None:
        """Return why the terms may not be added to each other before the target, or None."""
        assign = find_assign(body, self.statement)
        if reduction_operator(assign) != "+":
            return NO_REDUCTION.at(self.span, statement=self.statement, loop=self.loop)
        other = other_user(named_loop(body, self.statement, self.loop), assign)
        if other is not None:
            return READ_ELSEWHERE.at(
                self.span,
                statement=self.statement,
                target=print_expr(assign.target),
                other=f"it in statement {other}",
                loop=self.loop,
            )
        if drops_fractions(assign, context.types):
            return ROUNDED_SUM.at(
                self.span, statement=self.statement, type=context.types[target_name(assign)]
            )
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the block in a local array, which `why_not` has accepted."""
        assign = find_assign(body, self.statement)
        target = assign.target
        assert isinstance(target, Access)
        loop, picking = named_loop(body, self.statement, self.loop), self._picking(body)
        name = fresh_name(f"{target.array}_block", body, context.names)
        places = tuple(turn(x) for x in picking)
        held = Access(name, places)

        lengths = (full_length(x, context.sizes) for x in picking)
        extents = tuple(length for length in lengths if length is not None)
        start = neutral(context.types[target.array]) if self.from_zero else target
        load = Assign(assign.number, held, "=", start, assign.span)
        store = Assign(assign.number, target, "+=" if self.from_zero else "=", held, assign.span)
        return replace_loop(
            body,
            loop,
            (
                LocalArray(name, context.types[target.array], extents),
                *nest_loops(picking, (load,)),
                replace(loop, body=exchanged(loop.body, {target: held})),
                *nest_loops(picking, (store,)),
            ),
        )

    def _inside(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops around the statement that are inside `loop`, outermost first."""
        loops = path(body, self.statement)
        names = [x.var for x in loops]
        return loops[names.index(self.loop) + 1 :]

    def _picking(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops inside `loop` that pick the element, outermost first."""
        target = find_assign(body, self.statement).target
        assert isinstance(target, Access)
        used = _index_names(target)
        return tuple(x for x in self._inside(body) if x.var in used)


def _index_names(target: Access) -> frozenset[str]:
    return frozenset[str]().union(*(variables(index) for index in target.indices))
