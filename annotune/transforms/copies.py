"""When a copy of an array element may stand for it while a loop runs."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Select,
    Var,
    accesses,
    children,
    names_read,
)
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Assign, Loop, walk_stmts
from annotune.transforms.legality import serial_refusal
from annotune.transforms.messages import GUARDED, MAY_NOT_RUN, OTHER_ACCESS
from annotune.transforms.tree import (
    Body,
    bound_names,
    find_assign,
    path,
    picks_piece,
    place_name,
    target_name,
)


def copy_refusal(
    command: str, body: Body, statement: int, loop: Loop, span: Span
) -> Diagnostic | None:
    """Return why a copy of the statement's target around `loop` would be wrong, or None.

    The copy is loaded before the loop and stored after it, so the loop must touch that element
    in any case, must run in one worker, and must use no other element of the array.
    """
    assign = find_assign(body, statement)
    target = assign.target
    assert isinstance(target, Access)
    loops = path(body, statement)
    if refusal := serial_refusal(command, body, statement, loop, span):
        return refusal
    idle = may_not_run(loops, next(k for k, x in enumerate(loops) if x is loop))
    if idle is not None:
        # The copy would touch elements that the loop never does, perhaps none at all.
        outer = bound_names(idle) & {x.var for x in loops}
        return MAY_NOT_RUN.at(
            span, array=target.array, loop=idle.var, outer=", ".join(sorted(outer))
        )
    if assign.guard is not None and not is_surely_touched(loops[-1].body, target):
        return GUARDED.at(span, statement=statement, array=target.array)
    for other in array_accesses(loop):
        # Only the very same element, written the same way, is known to be the copy.
        if other.array == target.array and other != target:
            return OTHER_ACCESS.at(
                other.span if span is NOWHERE else span,
                array=target.array,
                other=shown(other),
                loop=loop.var,
            )
    return None


def is_surely_touched(body: Body, target: Access | Var) -> bool:
    """Return whether a statement of `body` itself touches `target` whenever `body` runs."""
    return any(
        isinstance(stmt, Assign)
        and stmt.guard is None
        and (stmt.target == target or target in surely_read(stmt.value))
        for stmt in body
    )


def beside(body: Body, loop: Loop) -> Body:
    """Return the statements among which `loop` stands."""
    if any(stmt is loop for stmt in body):
        return body
    inner = (beside(stmt.body, loop) for stmt in body if isinstance(stmt, Loop))
    return next((found for found in inner if found), ())


def surely_read(expr: Expr) -> Iterator[Access | Var]:
    """Yield the elements and scalars that `expr` reads whatever holds."""
    match expr:
        case Select(condition, _, _):
            yield from surely_read(condition)
        case Binary("&&" | "||", left, _):
            yield from surely_read(left)
        case _:
            if isinstance(expr, Access | Var):
                yield expr
            for child in children(expr):
                yield from surely_read(child)


def names_in(expr: Expr) -> frozenset[str]:
    """Return the names of scalars and arrays that an expression uses; of a target, its index's."""
    if isinstance(expr, Access):
        return frozenset[str]().union(*map(names_read, expr.indices))
    return names_read(expr)


def array_accesses(loop: Loop) -> list[Access]:
    """Return every array element that the assignments in `loop` read or write."""
    out: list[Access] = []
    for stmt in walk_stmts((loop,)):
        if isinstance(stmt, Assign):
            out += [r for r in stmt.reads() if isinstance(r, Access)]
            if isinstance(stmt.target, Access):
                out.append(stmt.target)
                out += [a for index in stmt.target.indices for a in accesses(index)]
    return out


def other_user(loop: Loop, assign: Assign) -> int | None:
    """Return another statement of a loop that uses the array, or scalar, of a target; or None."""
    name = target_name(assign)
    others = (s for s in walk_stmts(loop.body) if isinstance(s, Assign))
    for other in others:
        used = map(place_name, (*other.reads(), other.target))
        if other.number != assign.number and name in used:
            return other.number
    return None


def may_not_run(loops: tuple[Loop, ...], depth: int) -> Loop | None:
    """Return the first of `loops` from `depth` on that an outer one may leave without iterations.

    A bound that uses sizes alone is tested before the kernel runs, and a tile is never empty.
    """
    iterators = {loop.var for loop in loops}
    for loop in loops[depth:]:
        setters = bound_names(loop) & iterators
        setters -= {x.var for x in loops if picks_piece(x, loop)}
        count = fold(trip_count(loop))
        if setters and not (isinstance(count, Int) and count.value > 0):
            return loop
    return None


def shown(access: Access) -> str:
    """Return an element as a message names it."""
    return access.array + "[…]" * len(access.indices)
