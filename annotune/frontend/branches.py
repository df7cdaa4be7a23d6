"""``if`` and ``else`` as guards of their statements, or as a choice of values.

There is no branch in a nest: each statement says when it runs. Where both branches set the same
places, each place is set to a choice, so that it is written in every iteration; and
``if (x > m) m = x;`` is a maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotune.frontend.integers import reads
from annotune.frontend.kinds import COMPLEX, common, is_integer, keeps_values, promoted
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Select,
    Var,
    accesses,
    conjunction,
    conjuncts,
    walk,
)
from annotune.ir.nest import Assign, Loop, Stmt, is_stored, walk_stmts


@dataclass(frozen=True, slots=True)
class Kinds:
    """The C types of an assignment's target and of its value, and whether all of it is kept."""

    target: str
    value: str
    is_kept: bool


def changes_test(
    test: Expr,
    then: Sequence[Stmt],
    otherwise: Sequence[Stmt],
    may_overlap: Callable[[str, str], bool],
) -> bool:
    """Return whether a statement changes what the condition of a later one reads.

    The last statement may: its own condition is computed before it.
    """
    body = [*then, *otherwise]
    last = body[-1:] if body and isinstance(body[-1], Assign) else []
    earlier = body[: len(body) - len(last)]
    targets = {_name(s) for s in walk_stmts(tuple(earlier)) if isinstance(s, Assign)}
    if not targets.isdisjoint(reads(test)):
        return True
    return any(may_overlap(a.array, target) for a in accesses(test) for target in targets)


def _name(stmt: Assign) -> str:
    target = stmt.target
    return target.array if isinstance(target, Access) else target.name


def merged(
    test: Expr, then: Sequence[Stmt], otherwise: Sequence[Stmt], kinds: Mapping[int, Kinds]
) -> list[Stmt] | None:
    """Return both branches as one sequence of choices, None where they are not alike."""
    if not otherwise and len(then) == 1:
        extremum = _extremum(test, then[0], kinds)
        return None if extremum is None else [extremum]
    if not then or len(then) != len(otherwise):
        return None
    pairs = [_merged(test, a, b, kinds) for a, b in zip(then, otherwise, strict=True)]
    return [pair for pair in pairs if pair is not None] if None not in pairs else None


def _merged(test: Expr, one: Stmt, other: Stmt, kinds: Mapping[int, Kinds]) -> Stmt | None:
    if not (_is_plain(one) and _is_plain(other)):
        return None
    assert isinstance(one, Assign)
    assert isinstance(other, Assign)
    if one.target != other.target:
        return None
    a, b = (promoted(kinds[stmt.number].value) for stmt in (one, other))
    kind, base = common(a, b), kinds[one.number].target
    is_exact = a == b or (kind not in COMPLEX and keeps_values(a, kind) and keeps_values(b, kind))
    if is_exact:
        return replace(one, value=Select(test, one.value, other.value))
    if not (is_integer(a) and is_integer(b) and is_integer(promoted(base))):
        return None
    # C converts each to the target's type, while a choice would first convert one to the other's.
    first, second = (Call(f"({base})", (stmt.value,)) for stmt in (one, other))
    return replace(one, value=Select(test, first, second))


def _is_plain(stmt: Stmt) -> bool:
    return (
        isinstance(stmt, Assign) and stmt.op == "=" and stmt.guard is None and (not is_stored(stmt))
    )


def _extremum(test: Expr, stmt: Stmt, kinds: Mapping[int, Kinds]) -> Stmt | None:
    """Return ``if (x > m) m = x;`` as ``m = x > m ? x : m``, None for anything else."""
    if not _is_plain(stmt):
        return None
    assert isinstance(stmt, Assign)
    kind = kinds[stmt.number]
    match test:
        case Binary("<" | "<=" | ">" | ">=", left, right):
            sides = {left, right} == {stmt.value, stmt.target} and left != right
            if sides and kind.is_kept:
                return replace(stmt, value=Select(test, stmt.value, stmt.target))
    return None


def guarded(body: Sequence[Stmt], test: Expr, stored: frozenset[str] = frozenset()) -> list[Stmt]:
    """Return statements that run only where `test` holds.

    A condition of ours is stored always, so that each iteration writes it before it reads it;
    it then holds only where `test` does. `stored` are such conditions.
    """
    stored |= {_name(s) for s in body if isinstance(s, Assign) and is_stored(s)}
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            upper = stmt.upper
            if any(_may_fail(bound) for bound in (stmt.lower, stmt.upper)):
                # n / m is not to be computed where the user asked for m first.
                upper = Select(test, stmt.upper, stmt.lower)
            found.append(replace(stmt, upper=upper, body=tuple(guarded(stmt.body, test, stored))))
        elif isinstance(stmt, Assign) and is_stored(stmt):
            found.append(replace(stmt, value=Binary("&&", test, stmt.value)))
        elif isinstance(stmt, Assign) and not _implies(stmt.guard, stored):
            found.append(replace(stmt, guard=_guard(test, stmt.guard)))
        else:
            found.append(stmt)
    return found


def _guard(outer: Expr, inner: Expr | None) -> Expr | None:
    """Return that both conditions hold, asking memory last.

    An element is read for iterations at which the statement may run, and for no others.
    """
    both = conjunction((outer, inner))
    assert both is not None
    parts = list(conjuncts(both))
    ordered = sorted(parts, key=_asks_more)
    return both if ordered == parts else conjunction(ordered)


def _asks_more(condition: Expr) -> bool:
    """Return whether a condition reads memory, calls a function or may trap."""
    calls = any(isinstance(part, Call) for part in walk(condition))
    return calls or bool(accesses(condition)) or _may_fail(condition)


def _implies(guard: Expr | None, stored: frozenset[str]) -> bool:
    """Return whether a guard holds only where one of the stored conditions does."""
    match guard:
        case Var(name):
            return name in stored
        case Binary("&&", left, right):
            return _implies(left, stored) or _implies(right, stored)
    return False


def _may_fail(bound: Expr) -> bool:
    """Return whether computing a bound may trap: a division by what may be 0."""
    return any(
        isinstance(part, Binary) and part.op in ("/", "%") and not isinstance(part.right, Int)
        for part in walk(bound)
    )
