"""Unrolled loops as the loops that their authors unrolled, the clean-up before them a part of them.

    m = n % 4;
    for (i = 1; i <= m; i++) S(i);
    for (i = m + 1; i <= n; i += 4) { S(i); S(i + 1); S(i + 2); S(i + 3); }

is ``for (i = 1; i <= n; i++) S(i);``: the same statements in the same order, for any `n`. From
``m + 1`` to `n` there are ``n - n % 4`` iterations, a multiple of 4, and none in either loop where
`n` is below 0. A sum of several terms, ``s = s + x(i) + x(i + 1)``, is that of each one after the
other, as C adds from left to right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from annotune.frontend.lower.names import Names
from annotune.ir.expr import Access, Binary, Expr, Int, Var, conjuncts, names_read, rewrite
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Loop, Stmt


def rolled(body: tuple[Stmt, ...], exact: Collection[int], names: Names) -> tuple[Stmt, ...]:
    """Return statements with unrolled loops rolled up, and joined with their clean-up.

    `exact` are the assignments whose values are of their target's type. Loops that leave a value
    which is read later stay apart: where neither runs, it is not the first start.
    """
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            stmt = replace(stmt, body=rolled(stmt.body, exact, names))
            stmt = _rolled(stmt, exact) or stmt
        before = out[-1] if out else None
        joined = None
        symbol = names.find(stmt.var) if isinstance(stmt, Loop) else None
        if isinstance(stmt, Loop) and not (symbol and names.may_be_read_after(symbol)):
            joined = _joined(before, stmt)
        if joined is not None:
            out.pop()
        out.append(joined or stmt)
    return tuple(out)


def _rolled(loop: Loop, exact: Collection[int]) -> Loop | None:
    """Return a loop that runs the parts of each iteration as iterations, None without parts."""
    step, whole = loop.step, fold(Binary("-", loop.upper, loop.lower))
    if step == 1 or _multiple(whole) != step:
        return None
    stmts: list[Assign] = []
    for stmt in loop.body:
        if not isinstance(stmt, Assign):
            return None
        stmts += _terms(stmt) if stmt.number in exact else [stmt]
    length, rest = divmod(len(stmts), step)
    if rest or not length:
        return None
    first = stmts[:length]
    for part in range(1, step):
        there = stmts[part * length : (part + 1) * length]
        if [_at(s, loop.var, part) for s in first] != [_at(s, loop.var, 0) for s in there]:
            return None
    return replace(loop, step=1, body=tuple(first))


def _multiple(count: Expr) -> int | None:
    """Return u of ``n - n % u``, which u divides; None for other numbers."""
    match count:
        case Binary("-", whole, Binary("%", left, Int(unit))) if whole == left and unit > 1:
            return unit
    return None


def _terms(stmt: Assign) -> Iterator[Assign]:
    """Yield ``s += x``, ``s += y`` for ``s = s + x + y``; any other statement as it is."""
    target, value, terms = stmt.target, stmt.value, list[Expr]()
    asked = frozenset[str]() if stmt.guard is None else names_read(stmt.guard)
    while isinstance(target, Var) and stmt.op == "=" and isinstance(value, Binary):
        if value.op != "+" or target.name in asked | names_read(value.right):
            break
        terms.insert(0, value.right)
        value = value.left
    if not terms or value != target:
        yield stmt
        return
    for term in terms:
        yield replace(stmt, op="+=", value=term)


def _at(stmt: Assign, var: str, by: int) -> Assign:
    """Return a statement, without its number, as it is `by` iterations later."""

    def change(part: Expr) -> Expr | None:
        match part:
            case Var(name) if name == var:
                return fold(Binary("+", part, Int(by)))
            case Access(array, indices):
                return Access(array, tuple(fold(rewrite(index, change)) for index in indices))
        return None

    return replace(stmt.rewritten(change), number=0)


def _joined(first: Stmt | None, then: Loop) -> Loop | None:
    """Return two loops as one that goes on where the first has ended, None if they are no such.

    The first runs ``n % u`` times and the second ``n - n % u``, so that both have the sign of n.
    """
    if not isinstance(first, Loop) or (first.var, first.step, then.step) != (then.var, 1, 1):
        return None
    cleaned = fold(Binary("-", first.upper, first.lower))
    whole = fold(Binary("-", then.upper, then.lower))
    if first.upper != then.lower or _multiple(whole) is None or not isinstance(whole, Binary):
        return None
    if whole.right != cleaned:
        return None
    mine = [_at(_unguarded(s, cleaned), then.var, 0) for s in first.body if isinstance(s, Assign)]
    its = [_at(s, then.var, 0) for s in then.body if isinstance(s, Assign)]
    are_alike = mine == its and len(mine) == len(first.body) and len(its) == len(then.body)
    return replace(then, lower=first.lower, span=first.span) if are_alike else None


def _unguarded(stmt: Assign, count: Expr) -> Assign:
    """Return a statement of a loop with so many iterations without asking for any."""
    if stmt.guard is None:
        return stmt
    asked = [one for one in conjuncts(stmt.guard) if one not in _some(count)]
    return stmt if asked else replace(stmt, guard=None)


def _some(count: Expr) -> Sequence[Expr]:
    return [Binary(op, count, Int(0)) for op in ("!=", ">")]
