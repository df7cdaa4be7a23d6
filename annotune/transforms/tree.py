"""Walks and edits of a region's body that every transform shares.

A body is a tuple of statements; each top-level loop of a distributed body is one nest. A
statement's loops fall into perfect *bands*; a band ends where a loop holds more than the
next loop, and only the loops of one band may change places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from typing import TypeGuard

from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Select,
    Var,
    children,
    names_read,
    place_name,
    variables,
)
from annotune.ir.fold import fold, trip_count
from annotune.ir.identity import once_for_each
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Await,
    Fetch,
    Level,
    Local,
    LocalArray,
    Loop,
    Stmt,
    expressions,
    map_assigns,
    walk_stmts,
)

Body = tuple[Stmt, ...]


def numbers(stmt: Stmt) -> frozenset[int]:
    """Return the numbers of the region's own assignments in `stmt`."""
    if isinstance(stmt, Loop):
        return _inside_of(stmt).numbers
    is_own = isinstance(stmt, Assign) and stmt.number != NO_STATEMENT
    return frozenset({stmt.number}) if is_own and isinstance(stmt, Assign) else frozenset()


def path(body: Body, statement: int) -> tuple[Loop, ...]:
    """Return the loops around `statement`, outermost first; KeyError when it is not there."""
    return _found(body, statement)[1]


def named_loop(body: Body, statement: int, name: str) -> Loop:
    """Return the loop of this name around `statement`, the outermost of several."""
    return next(loop for loop in path(body, statement) if loop.var == name)


def find_assign(body: Body, statement: int) -> Assign:
    """Return the assignment with this number; KeyError when it is not there."""
    return _found(body, statement)[0]


@dataclass(frozen=True, slots=True)
class _Inside:
    """The assignments in a loop, with the loops around each, and which of them the region has.

    Of several with one number it is the first.
    """

    found: Mapping[int, tuple[Assign, tuple[Loop, ...]]]
    numbers: frozenset[int]


# By identity, with the loop itself, which keeps that. To compare two loops costs a walk.
_KNOWN: dict[int, tuple[Loop, _Inside]] = {}
_MOST_KNOWN = 1 << 14


def _inside_of(loop: Loop) -> _Inside:
    """Return what is in a loop, looked for once: a step of a schedule leaves most loops alone."""
    known = _KNOWN.get(id(loop))
    if known is not None and known[0] is loop:
        return known[1]
    found: dict[int, tuple[Assign, tuple[Loop, ...]]] = {}
    waiting: list[tuple[Stmt, tuple[Loop, ...]]] = [(loop, ())]
    while waiting:
        stmt, around = waiting.pop()
        if isinstance(stmt, Loop):
            inside = (*around, stmt)
            waiting.extend(zip(reversed(stmt.body), repeat(inside)))
        elif isinstance(stmt, Assign):
            found.setdefault(stmt.number, (stmt, around))
    result = _Inside(found, frozenset(found.keys() - {NO_STATEMENT}))
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[id(loop)] = loop, result
    return result


def _found(body: Body, statement: int) -> tuple[Assign, tuple[Loop, ...]]:
    """Return the assignment with a number, and the loops around it.

    Most questions about a region are about one of its statements, and begin here.
    """
    stmt = body[top_of(body, statement)]
    if isinstance(stmt, Loop):
        return _inside_of(stmt).found[statement]
    assert isinstance(stmt, Assign), "nothing else has statements"
    return stmt, ()


def top_of(body: Body, statement: int) -> int:
    """Return the index in `body` of the top-level statement that holds `statement`."""
    return _tops_of(body)[statement]


# As `_KNOWN`, for whole bodies.
_KNOWN_TOPS: dict[int, tuple[Body, Mapping[int, int]]] = {}
_MOST_TOPS = 1 << 9


def _tops_of(body: Body) -> Mapping[int, int]:
    """Return the index in `body` of the first top-level statement with each assignment."""
    known = _KNOWN_TOPS.get(id(body))
    if known is not None and known[0] is body:
        return known[1]
    tops: dict[int, int] = {}
    # From the last to the first, which counts where there are several.
    for index in range(len(body) - 1, -1, -1):
        stmt = body[index]
        if isinstance(stmt, Loop):
            tops |= dict.fromkeys(_inside_of(stmt).found, index)
        elif isinstance(stmt, Assign):
            tops[stmt.number] = index
    _keep_tops(body, tops)
    return tops


def _keep_tops(body: Body, tops: Mapping[int, int]) -> None:
    if len(_KNOWN_TOPS) >= _MOST_TOPS:
        _KNOWN_TOPS.clear()
    _KNOWN_TOPS[id(body)] = body, tops


def target_name(assign: Assign) -> str:
    """Return the name of the scalar or the array that a statement writes."""
    return place_name(assign.target)


def mapped(body: Body, change: Callable[[Stmt], Iterable[Stmt] | None]) -> Body:
    """Return `body` with every statement that `change` answers for replaced, outermost first.

    `change` returns None to leave a statement and go on inside it. Where it does so for all, the
    body is the same object.
    """
    out: list[Stmt] = []
    is_same = True
    for stmt in body:
        changed = change(stmt)
        if changed is not None:
            out.extend(changed)
            is_same = False
        elif isinstance(stmt, Loop):
            inside = mapped(stmt.body, change)
            is_same &= inside is stmt.body
            out.append(with_body(stmt, inside))
        else:
            out.append(stmt)
    return body if is_same else tuple(out)


def replace_loop(body: Body, old: Loop, new: Iterable[Stmt]) -> Body:
    """Return `body` with the loop `old`, the very object, replaced by `new`."""
    own = next(iter(_inside_of(old).found), None)
    top = None if own is None else _tops_of(body).get(own)
    whole = body if top is None else body[top : top + 1]
    made = mapped(whole, lambda stmt: new if stmt is old else None)
    if top is None:
        return made
    if made is not whole:
        return _with_top(body, top, made)
    # Copies, and statements that stand in several nests, have one number there.
    return mapped(body, lambda stmt: new if stmt is old else None)


def _with_top(body: Body, top: int, made: Body) -> Body:
    """Return `body` with other statements in the place of one, and where each statement is then.

    A step changes one nest of a region: the others need not be looked at again.
    """
    changed = (*body[:top], *made, *body[top + 1 :])
    old, new = body[top], made[0] if len(made) == 1 else None
    match old, new:
        case Loop(), Loop() if _inside_of(old).found.keys() == _inside_of(new).found.keys():
            _keep_tops(changed, _tops_of(body))
    return changed


def changed_statements(old: Stmt, new: Stmt) -> frozenset[int]:
    """Return the statements of a nest in those parts that a step has put in the place of others.

    All others stand in the same loops, and in the same order before and after these parts.
    """
    match old, new:
        case Loop(), Loop() if len(old.body) == len(new.body) and with_body(new, old.body) == old:
            parts = zip(old.body, new.body, strict=True)
            found = (changed_statements(one, two) for one, two in parts if one is not two)
            return frozenset[int]().union(*found)
    return numbers(old) | numbers(new)


def with_body(loop: Loop, body: Body) -> Loop:
    """Return `loop` around another body; the same object when nothing changes."""
    if body is loop.body:
        return loop
    if len(body) == len(loop.body) and all(a is b for a, b in zip(body, loop.body, strict=True)):
        return loop
    return replace(loop, body=body)


def restrict(stmt: Stmt, keep: frozenset[int]) -> Stmt | None:
    """Return `stmt` with only the statements in `keep` and what they use, or None for none."""
    match stmt:
        case Assign():
            return stmt if stmt.number in keep else None
        case Local() | LocalArray() | Await():
            return stmt
        case Fetch():
            # What it is for may be gone.
            return None
        case Loop():
            inner = tuple(s for child in stmt.body if (s := restrict(child, keep)) is not None)
            if any(map(is_declaration, inner)):
                used = {name for s in walk_stmts(inner) for name in used_names(s)}
                inner = tuple(s for s in inner if not is_declaration(s) or s.name in used)
            return with_body(stmt, inner) if inner else None


def is_declaration(stmt: Stmt) -> TypeGuard[Local | LocalArray]:
    return isinstance(stmt, Local | LocalArray)


@once_for_each(1 << 14)
def used_names(stmt: Stmt) -> frozenset[str]:
    """Return the names that a statement reads or writes; of a loop those of its bounds."""
    return frozenset[str]().union(*map(names_read, expressions(stmt)))


def declared_name(stmt: Stmt) -> str:
    """Return the name of the iterator or the variable that a statement brings, empty for none."""
    match stmt:
        case Loop(var=name) | Local(name) | LocalArray(name):
            return name
        case Assign() | Await() | Fetch():
            return ""


def fresh_name(wanted: str, body: Body, others: Iterable[str] = ()) -> str:
    """Return `wanted`, numbered when `body` or `others` already have that name."""
    taken = {*others, *all_names(body)}
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}{count}"
    return name


def all_names(body: Body) -> frozenset[str]:
    """Return the names that `body` declares or uses."""
    every = [*walk_stmts(body)]
    return frozenset(map(declared_name, every)).union(*map(used_names, every))


def exchanged(body: Body, places: Mapping[Access | Var, Access | Var]) -> Body:
    """Return `body` with others in the places of some elements and scalars of its assignments."""

    def other(expr: Expr) -> Expr | None:
        return places.get(expr) if isinstance(expr, Access | Var) else None

    return map_assigns(body, lambda assign: assign.rewritten(other))


def only_fetches(loop: Loop) -> bool:
    """Return whether a loop does nothing but ask for lines of memory."""
    return all(only_fetches(s) if isinstance(s, Loop) else isinstance(s, Fetch) for s in loop.body)


def bands(body: Body, statement: int) -> tuple[tuple[Loop, ...], ...]:
    """Return the loops around `statement` cut into perfect bands, outermost first.

    In a band every loop but the last holds exactly one statement, the next loop, so its
    loops may be reordered; the last one holds more, or the assignments.
    """
    out: list[tuple[Loop, ...]] = []
    band: list[Loop] = []
    for loop in path(body, statement):
        band.append(loop)
        if len(loop.body) != 1 or not isinstance(loop.body[0], Loop):
            out.append(tuple(band))
            band = []
    return tuple(out)


def band_with(body: Body, statement: int, names: Iterable[str]) -> tuple[Loop, ...] | None:
    """Return the perfect band around `statement` that has all the loops in `names`, if any."""
    wanted = set(names)
    for band in bands(body, statement):
        if wanted <= {loop.var for loop in band}:
            return band
    return None


def nest_loops(loops: Iterable[Loop], innermost: Body) -> Body:
    """Return the loops nested in the given order, outermost first, around `innermost`."""
    body = innermost
    for loop in reversed(tuple(loops)):
        body = (replace(loop, body=body),)
    return body


def in_order(body: Body, loops: frozenset[int]) -> Body:
    """Return `body` with the loops whose identities are in `loops` run in order."""

    def serial(stmt: Stmt) -> Body | None:
        if not isinstance(stmt, Loop) or id(stmt) not in loops:
            return None
        return (replace(stmt, body=in_order(stmt.body, loops), place=Level.SERIAL),)

    return mapped(body, serial)


def picks_piece(outer: Loop, loop: Loop) -> bool:
    """Return whether `outer` does no more to the bounds of `loop` than to pick a piece of one loop.

    No piece is empty where that loop is not: a tile starts inside it, and a worker has an
    iteration.
    """
    is_over = bool(outer.tile_of or outer.deal_of)
    return is_over and outer.var != loop.var and outer.root == loop.root


def bound_names(loop: Loop) -> frozenset[str]:
    """Return the scalars that the bounds of `loop` read."""
    return variables(loop.lower) | variables(loop.upper)


def same_bounds(first: Loop, second: Loop, fold: Callable[[Expr], Expr]) -> bool:
    """Return whether two loops have equal bounds and step once `fold` has simplified them."""
    return (
        first.step == second.step
        and fold(first.lower) == fold(second.lower)
        and fold(first.upper) == fold(second.upper)
    )


def local_types(body: Body) -> dict[str, str]:
    """Return the types of the variables that `body` declares."""
    return {s.name: s.type for s in walk_stmts(body) if isinstance(s, Local | LocalArray)}


def is_surely_touched(body: Body, target: Access | Var) -> bool:
    """Return whether a statement of `body` itself touches `target` whenever `body` runs."""
    return any(
        isinstance(stmt, Assign)
        and stmt.guard is None
        and (stmt.target == target or target in surely_read(stmt.value))
        for stmt in body
    )


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


def full_end(loop: Loop) -> Expr:
    """Return the end of a loop; of one that may be cut short, that of a full tile."""
    match loop.upper:
        case Call("min", (full, _)):
            return full
        case upper:
            return upper


def cut_end(loop: Loop) -> Expr | None:
    """Return the bound that may cut a tile short, None where there is none."""
    match loop.upper:
        case Call("min", (_, end)):
            return end
        case _:
            return None


def cut_ends(loop: Loop) -> tuple[Expr, ...]:
    """Return all bounds that may cut a tile short, the least of which does."""
    found: list[Expr] = []
    end = cut_end(loop)
    while end is not None:
        match end:
            case Call("min", (first, rest)):
                found.append(first)
                end = rest
            case _:
                found.append(end)
                end = None
    return tuple(found)


def full_length(loop: Loop, constants: Mapping[str, int]) -> int | None:
    """Return the most iterations of a loop, None where it is not known."""
    for end in (full_end(loop), *cut_ends(loop)):
        distance = fold(Binary("-", end, loop.lower), constants)
        if isinstance(distance, Int) and distance.value > 0:
            return -(-distance.value // loop.step)
    return None


def turn(loop: Loop) -> Expr:
    """Return how many iterations of a loop come before this one."""
    distance = Binary("-", Var(loop.var), loop.lower)
    return fold(distance if loop.step == 1 else Binary("/", distance, Int(loop.step)))
