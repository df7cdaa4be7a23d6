"""Ask for the elements that a later iteration updates while this one is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, Binary, Expr, Int, Select, Var, substitute, variables
from annotune.ir.nest import Fetch, Level, Loop
from annotune.transforms.legality import missing
from annotune.transforms.messages import NO_PREFETCH
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    bound_names,
    find_assign,
    nest_loops,
    path,
    replace_loop,
)
from annotune.transforms.word import Word, takes


@dataclass(frozen=True, slots=True)
class Prefetch(OnStatement):
    """Before `inside`, ask for what `statement` updates there in the next iteration of `ahead`.

    ``Prefetch(0, "i", "k", 8)``: ``for i: for k: for j in 0:16: c[i][j] += …`` gets
    ``for j in 0:16 step 8: fetch c[i + 1][j]`` before ``for k``; the last iteration of `i` asks
    for its own row. The elements are those of `line` steps of the innermost loop that picks
    them: as many lie in a line of the cache. Only elements that the nest touches in any case are
    asked for, so `ahead` must not set the bounds of a loop inside it.

    Source:
        Mowry, Lam and Gupta, "Design and Evaluation of a Compiler Algorithm for Prefetching",
        ASPLOS 1992, doi:10.1145/143365.143488.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "prefetch",
        "ask before the second loop for what the next iteration of the first updates there",
        'prefetch(0, "i_t", "k", 8)',
        "Mowry, Lam and Gupta 1992",
        exact=True,
    )
    ahead: str = takes(Kind.LOOP)
    inside: str = takes(Kind.LOOP)
    line: int = takes(Kind.COUNT, 1)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the elements are not those of a later iteration, or None."""
        if absent := missing(body, self.statement, (self.ahead, self.inside), self.span):
            return absent
        why = self._why_no_element(body) or self._why_no_next(body)
        if not why:
            return None
        return NO_PREFETCH.at(self.span, statement=self.statement, loop=self.ahead, why=why)

    def _why_no_element(self, body: Body) -> str:
        """Return why the statement may update no element of an array, empty if it does."""
        assign = find_assign(body, self.statement)
        target = assign.target
        if isinstance(target, Var):
            return f"'{target.name}' is no element of an array"
        if assign.guard is not None:
            return "the statement runs under a condition"
        return ""

    def _why_no_next(self, body: Body) -> str:
        """Return why the next iteration touches no other elements like these, empty if it does."""
        loops = path(body, self.statement)
        names = [loop.var for loop in loops]
        target = find_assign(body, self.statement).target
        ahead = loops[names.index(self.ahead)]
        if names.index(self.ahead) >= names.index(self.inside):
            return f"'{self.inside}' is not inside it"
        if ahead.place is not Level.SERIAL:
            return f"its iterations run as {ahead.place}"
        if self.ahead not in variables(target):
            return "it picks no element"
        for loop in loops[names.index(self.ahead) + 1 :]:
            if self.ahead in bound_names(loop):
                return f"it sets the bounds of '{loop.var}'"
        picking = self._picking(body)
        kept = {loop.var for loop in picking}
        for loop in picking:
            left_out = bound_names(loop) & set(names[names.index(self.inside) :]) - kept
            if left_out:
                return f"'{min(left_out)}' sets the bounds of '{loop.var}'"
        return ""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the requests, which `why_not` has accepted."""
        loops = path(body, self.statement)
        target = find_assign(body, self.statement).target
        assert isinstance(target, Access)
        ahead = next(loop for loop in loops if loop.var == self.ahead)
        inside = next(loop for loop in loops if loop.var == self.inside)
        following = _following(ahead)
        indices = tuple(substitute(index, {self.ahead: following}) for index in target.indices)
        picking = [replace(x, place=Level.SERIAL, combines=()) for x in self._picking(body)]
        if picking:
            last = picking[-1]
            picking[-1] = replace(last, step=last.step * self.line)
        fetch = Fetch(Access(target.array, indices, target.span))
        return replace_loop(body, inside, (*nest_loops(picking, (fetch,)), inside))

    def _picking(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops from `inside` on that pick the element, outermost first."""
        loops = path(body, self.statement)
        names = [loop.var for loop in loops]
        used = variables(find_assign(body, self.statement).target)
        return tuple(x for x in loops[names.index(self.inside) :] if x.var in used)


def _following(loop: Loop) -> Expr:
    """Return the value of a loop's iterator in its next iteration; the last one's own there."""
    own = Var(loop.var)
    after = Binary("+", own, Int(loop.step))
    return Select(Binary("<", after, loop.upper), after, own)
