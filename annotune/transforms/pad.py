"""Run whole tiles also where a loop ends inside one: the surplus touches no memory of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Real,
    Select,
    Var,
    accesses,
    conjunction,
    variables,
)
from annotune.ir.nest import Assign, Level, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.transforms.legality import TEAM_LEVELS, missing
from annotune.transforms.messages import NOT_PADDED
from annotune.transforms.tiles import cut_end, cut_ends, full_end, full_length
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    bound_names,
    only_fetches,
    path,
    picks_piece,
    top_of,
)
from annotune.transforms.word import KIM_2019, Word, takes

# Iterations that one worker runs itself, in order or in lanes.
_OWN = (Level.SERIAL, Level.SIMD)


@dataclass(frozen=True, slots=True)
class Pad(OnStatement):
    """Give every tile of some loops around `statement` its full length.

    ``Pad(0, ("i",))``: ``for i in i_t:min(i_t + 4, n): c[i] += s`` becomes
    ``for i in i_t:i_t + 4: c[i] += s if i < n``. What reads or writes memory beside local
    arrays keeps the condition; what a local array holds of the surplus iterations is zero when
    loaded, and never stored. So loops over registers have a constant length, and all threads
    of a block come to the same barriers.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "pad",
        "run tiles in full where a loop ends inside one, without touching what lies beyond",
        'pad(0, ("h3","h2"))',
        KIM_2019,
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason a loop has no full length, or None. Padding breaks no order."""
        if absent := missing(body, self.statement, self.loops, self.span):
            return absent
        for loop in path(body, self.statement):
            if loop.var not in self.loops or cut_end(loop) is None:
                continue
            is_own = loop.place in _OWN or loop.place in TEAM_LEVELS
            if not is_own or loop.combines or full_length(loop, context.sizes) is None:
                return NOT_PADDED.at(self.span, loop=loop.var)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with full tiles, which `why_not` has accepted."""
        place = top_of(body, self.statement)
        nest = body[place]
        local = {s.name for s in walk_stmts(body) if isinstance(s, LocalArray)}
        return (*body[:place], *self._padded((nest,), (), local, context), *body[place + 1 :])

    def _padded(self, body: Body, cut: tuple[Loop, ...], local: set[str], context: Context) -> Body:
        """Return `body`, which stands in the padded loops `cut`."""
        out: list[Stmt] = []
        for stmt in body:
            match stmt:
                case Loop(place=Level.COOPERATIVE | Level.ASYNC):
                    # The threads fill it together, whatever their own iterations are.
                    out.append(stmt)
                case Loop() if only_fetches(stmt):
                    # What lies beyond the end need not be near.
                    out.append(stmt)
                case Loop():
                    is_cut = stmt.var in self.loops and cut_end(stmt) is not None
                    within = (*cut, stmt) if is_cut else cut
                    upper = full_end(stmt) if is_cut else stmt.upper
                    inner = self._padded(stmt.body, within, local, context)
                    out.append(replace(stmt, upper=upper, body=inner))
                case Assign():
                    out.append(_guarded(stmt, cut, local, context))
                case Local(name, type_, value) if value is not None and _memory(value, local):
                    out.append(Local(name, type_, _or_zero(value, cut, context)))
                case _:
                    out.append(stmt)
        return tuple(out)


def _guarded(assign: Assign, cut: tuple[Loop, ...], local: set[str], context: Context) -> Assign:
    """Return a statement that does no harm in surplus iterations of the loops `cut`."""
    target = assign.target
    is_own = isinstance(target, Access) and target.array in local
    if is_own:
        cut = tuple(x for x in cut if _may_harm(assign, x, local))
    condition = _condition(cut, context)
    if condition is None:
        return assign
    if is_own and assign.op == "=" and assign.guard is None:
        value = _or_zero(assign.value, cut, context)
        return Assign(assign.number, target, "=", value, assign.span)
    guard = conjunction((condition, assign.guard))
    return Assign(assign.number, target, assign.op, assign.value, assign.span, guard)


def _or_zero(value: Expr, cut: tuple[Loop, ...], context: Context) -> Expr:
    condition = _condition(cut, context)
    return value if condition is None else Select(condition, value, Real("0.0"))


def _condition(cut: tuple[Loop, ...], context: Context) -> Expr | None:
    """Return the condition for an iteration of full tiles to be one of the original's."""
    # Where the loop over one tile is inside its bounds, those that pick the tile are.
    own = [x for x in cut if not any(picks_piece(x, other) for other in cut)]
    tests = (Binary("<", Var(x.var), end) for x in own for end in cut_ends(x))
    found = conjunction(tests)
    return None if found is None else context.folded(found)


def _may_harm(assign: Assign, loop: Loop, local: set[str]) -> bool:
    """Return whether surplus iterations of `loop` may do harm to a local array, or elsewhere.

    Not where each has an element of its own and loads nothing but what others do as well.
    """
    if loop.place in _OWN and loop.var not in variables(assign.target):
        return True
    read = [a for source in assign.sources() for a in accesses(source) if a.array not in local]
    inner = (stmt for stmt in walk_stmts(loop.body) if isinstance(stmt, Loop))
    if any(loop.var in bound_names(x) for x in inner):
        # What these loops come to in a surplus iteration they may come to nowhere else.
        return bool(read)
    return any(loop.var in variables(access) for access in read)


def _memory(expr: Expr, local: set[str]) -> bool:
    """Return whether an expression reads an array that others see."""
    return any(access.array not in local for access in accesses(expr))
