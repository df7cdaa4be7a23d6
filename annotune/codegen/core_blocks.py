"""What compilers need to see before they keep a block of a local array in registers.

Both are about gcc: the accumulators leave memory only where each is at a constant place in its
array once the loops are unrolled, and where no other access may touch it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from annotune.ir.expr import Access, Binary, Expr, Int, Var, substitute, variables
from annotune.ir.fold import fold
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Await,
    Fetch,
    Local,
    LocalArray,
    Loop,
    Stmt,
    map_assigns,
    walk_stmts,
)
from annotune.transforms.registers import fresh_name
from annotune.transforms.tree import Body, rebuilt, target_name


def for_registers(body: Body, taken: Iterable[str]) -> Body:
    """Return a body that declares local arrays as compilers make the most of it.

    New names are none of those in `taken`.
    """
    if not any(isinstance(stmt, LocalArray) for stmt in body):
        return body
    names = frozenset(taken)
    return _read_by_pointer(_counted_from_zero(body, frozenset(), names), names)


def _counted_from_zero(body: Body, inside: frozenset[str], taken: frozenset[str]) -> Body:
    """Return `body`, in the loops `inside` of it, with full tiles counted from zero.

    Unrolled, ``i - i_t`` in the first iteration is no constant before the compiler has
    simplified it, which it does too late.
    """
    out: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, Loop):
            out.append(stmt)
            continue
        loop = rebuilt(stmt, body=_counted_from_zero(stmt.body, inside | {stmt.var}, taken))
        length = fold(Binary("-", loop.upper, loop.lower))
        is_tile = isinstance(loop.lower, Var) and isinstance(length, Int) and loop.step == 1
        out.append(_moved(loop, length, taken) if is_tile and not _sets(inside, loop) else loop)
    return tuple(out)


def _sets(inside: frozenset[str], loop: Loop) -> bool:
    return bool(variables(loop.lower) & inside)


def _moved(loop: Loop, length: Expr, taken: frozenset[str]) -> Loop:
    """Return a loop over a tile counted from the start of the tile."""
    own = fresh_name(f"{loop.var}_r", (loop,), taken)
    place: dict[str, Expr] = {loop.var: Binary("+", loop.lower, Var(own))}

    def moved(stmt: Stmt) -> Stmt:
        match stmt:
            case Assign() | Fetch():
                return _at(stmt, place)
            case Loop():
                lower = fold(substitute(stmt.lower, place))
                upper = fold(substitute(stmt.upper, place))
                tests = tuple(fold(substitute(test, place)) for test in stmt.peeled)
                inner = tuple(map(moved, stmt.body))
                return rebuilt(stmt, lower=lower, upper=upper, body=inner, peeled=tests)
            case Local(name, type_, value):
                return Local(name, type_, None if value is None else substitute(value, place))
            case LocalArray() | Await():
                return stmt

    # The iterator has the type of the one that it stands for, as a loop over tiles does.
    body = tuple(map(moved, loop.body))
    return rebuilt(loop, var=own, lower=Int(0), upper=length, body=body, tile_of=loop.var)


def _at(stmt: Assign | Fetch, place: dict[str, Expr]) -> Assign | Fetch:
    """Return a statement with iterators replaced, its subscripts simplified."""

    def change(expr: Expr) -> Expr | None:
        if isinstance(expr, Access) and variables(expr) & place.keys():
            indices = (fold(substitute(index, place)) for index in expr.indices)
            return Access(expr.array, tuple(indices), expr.span)
        return place.get(expr.name) if isinstance(expr, Var) else None

    return stmt.rewritten(change)


def _read_by_pointer(body: Body, taken: frozenset[str]) -> Body:
    """Return `body` with each copy of an input read through a pointer of its own.

    A vectorised load from a local array is one from somewhere to gcc, perhaps from the block;
    one through a `restrict` pointer is not.
    """
    for declared in [stmt for stmt in body if isinstance(stmt, LocalArray)]:
        places = [k for k, stmt in enumerate(body) if _writers(stmt, declared.name)]
        writers = {number for k in places for number in _writers(body[k], declared.name)}
        if writers != {NO_STATEMENT} or len(declared.extents) != 1:
            continue
        name = fresh_name(f"{declared.name.removesuffix('_tile')}_in", body, taken)
        pointer = Local(name, f"const {declared.type} *restrict", Var(declared.name))
        filled = places[-1] + 1
        rest = map_assigns(body[filled:], partial(_renamed, old=declared.name, new=name))
        body = (*body[:filled], pointer, *rest)
    return body


def _renamed(assign: Assign, old: str, new: str) -> Assign:
    """Return a statement with the array `old` under the name `new`."""

    def change(expr: Expr) -> Expr | None:
        if isinstance(expr, Access) and expr.array == old:
            return Access(new, expr.indices, expr.span)
        return None

    return assign.rewritten(change)


def _writers(stmt: Stmt, array: str) -> set[int]:
    """Return the numbers of the assignments in a statement that write an array."""
    assigns = (s for s in walk_stmts((stmt,)) if isinstance(s, Assign))
    return {s.number for s in assigns if target_name(s) == array}
