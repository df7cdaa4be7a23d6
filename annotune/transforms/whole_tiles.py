"""What is left of a body where the tiles in it are known to be whole: no ends, no conditions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce

from annotune.analysis.conditions import Premises
from annotune.ir.expr import Binary, Call, Expr, Select, Var, rewrite
from annotune.ir.nest import Assign, Local, Loop, Stmt
from annotune.transforms.tiles import cut_ends, full_end
from annotune.transforms.tree import Body


def whole_tiles(body: Body, known: Premises) -> Body:
    """Return `body`, in which `known` holds, without what that makes true.

    A tile that cannot be cut short ends where a full one does, and a condition that is sure to
    hold is left out. Nothing else changes: the statements and loops are those of `body`, one for
    one.
    """
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Loop():
                loop = _full(stmt, known)
                here = known.inside(loop)
                tests = tuple(test for test in loop.peeled if not here.implies(test))
                out.append(replace(loop, body=whole_tiles(loop.body, here), peeled=tests))
            case Assign():
                out.append(_assign(stmt, known))
            case Local(name, type_, value) if value is not None:
                out.append(Local(name, type_, rewrite(value, partial(_chosen, known))))
            case _:
                out.append(stmt)
    return tuple(out)


def _full(loop: Loop, known: Premises) -> Loop:
    """Return a loop without the ends that do not cut it."""
    ends = cut_ends(loop)
    if not ends:
        return loop
    here = known.inside(replace(loop, upper=full_end(loop)))
    short = [end for end in ends if not here.implies(Binary("<", Var(loop.var), end))]
    if len(short) == len(ends):
        return loop
    bounds = (full_end(loop), *short)
    return replace(loop, upper=reduce(lambda end, full: Call("min", (full, end)), bounds[::-1]))


def _assign(assign: Assign, known: Premises) -> Assign:
    """Return a statement without the conditions that hold."""
    guard = None if assign.guard is None else known.without(assign.guard)
    value = rewrite(assign.value, partial(_chosen, known))
    return replace(assign, guard=guard, value=value)


def _chosen(known: Premises, expr: Expr) -> Expr | None:
    """Return what a choice comes to, None for what is no choice."""
    if not isinstance(expr, Select):
        return None
    choose = partial(_chosen, known)
    condition, if_true = known.without(expr.condition), rewrite(expr.if_true, choose)
    if condition is None:
        return if_true
    return Select(condition, if_true, rewrite(expr.if_false, choose))
