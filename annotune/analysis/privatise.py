"""Scalars that each iteration of a loop writes before it reads, and where a schedule keeps them.

The walk follows the text: where may the value that a read sees come from? Loops may run no
iteration, so a value also flows around a loop; that is sound for every size. A guarded
statement writes on some paths only, and a read under a guard sees those paths alone.

A private scalar lives in one iteration of its home, a loop of the text. A schedule may run several
lives side by side once each has an element of a local array instead (scalar expansion; Allen and
Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby, product
from typing import TypeAlias

from annotune.analysis.statements import Statement
from annotune.ir.expr import Access, Binary, Expr, Int, Var, accesses, negated, variables
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, LocalArray, Loop, Stmt


class Origin(Enum):
    """Who wrote the value that a scalar has, seen from one iteration of a loop."""

    OUTSIDE = "before or outside the loop"
    HERE = "this iteration of the loop"
    PAST = "an earlier iteration of the loop"


# Tests and their outcomes, all of which hold on a path.
Outcomes: TypeAlias = frozenset[tuple[Expr, bool]]
# On which paths the value has which origin.
State: TypeAlias = frozenset[tuple[Origin, Outcomes]]

_ALWAYS: Outcomes = frozenset()
# Paths kept apart for one scalar, and ways to fulfil one condition; beyond, less is known.
_MOST_PATHS = 64
_MOST_WAYS = 8


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Where a written scalar lives: the innermost loops to whose iterations it is private.

    `homes` are positions of loops in the text. Every statement that uses the scalar is in
    exactly one of them. `is_array` marks an array that the region declares in a loop.
    """

    name: str
    homes: tuple[tuple[int, ...], ...]
    is_array: bool = False

    def home(self, position: tuple[int, ...]) -> tuple[int, ...]:
        """Return the home of the statement at `position`."""
        return next(home for home in self.homes if position[: len(home)] == home)

    def is_private_to(self, loop: tuple[int, ...]) -> bool:
        """Return whether each iteration of `loop` has a scalar of its own: a home is in it."""
        return any(home[: len(loop)] == loop for home in self.homes)


def lifetime(name: str, statements: tuple[Statement, ...]) -> Lifetime | None:
    """Return where the written scalar `name` lives, None when it is private to no loop."""
    users = [s for s in statements if any(r.name == name for r in s.references)]
    homes: dict[tuple[int, ...], None] = {}
    walked = _with_tests(name, users, statements)
    known: dict[tuple[int, ...], bool] = {}
    for user in users:
        home = None
        for loop in reversed(user.loops):
            if loop.position not in known:
                known[loop.position] = _is_home(name, loop.position, walked)
            if known[loop.position]:
                home = loop.position
                break
        if home is None:
            return None
        homes.setdefault(home)
    # A home inside another home of the same scalar: the outer one is the scalar's.
    outer = [h for h in homes if not any(h != o and h[: len(o)] == o for o in homes)]
    return Lifetime(name, tuple(outer))


def _with_tests(
    name: str, users: list[Statement], statements: Sequence[Statement]
) -> list[Statement]:
    """Return the users and every statement that changes what their conditions read."""
    tested = {
        read
        for user in users
        for reference in user.references
        if reference.name == name
        for condition in reference.conditions
        for read in _reads_of(condition)
    }
    return [s for s in statements if s in users or s.references[-1].name in tested]


def _reads_of(condition: Expr) -> frozenset[str]:
    return variables(condition) | {access.array for access in accesses(condition)}


def _is_home(name: str, loop: tuple[int, ...], users: list[Statement]) -> bool:
    """Return whether every read inside `loop` sees its own iteration, and none outside sees it."""
    walk = _Walk(name, loop)
    walk.body(users, (), frozenset({(Origin.OUTSIDE, _ALWAYS)}))
    return all(
        origins <= {Origin.HERE} if inside else Origin.PAST not in origins
        for inside, origins in walk.found
    )


class _Walk:
    """Collects for each read of `name`, in or out of `loop`, where its value may come from."""

    def __init__(self, name: str, loop: tuple[int, ...]) -> None:
        self.name, self.loop = name, loop
        self.found: list[tuple[bool, frozenset[Origin]]] = []

    def body(self, users: list[Statement], place: tuple[int, ...], state: State) -> State:
        """Return the state after the body at `place`, given the one before it."""
        depth = len(place)
        children: dict[tuple[int, ...], list[Statement]] = {}
        for user in users:
            children.setdefault(user.position[: depth + 1], []).append(user)
        for child, inner in sorted(children.items()):
            if child == inner[0].position:
                state = self.statement(inner[0], state)
            else:
                state = self.iterations(inner, child, state)
        return state

    def iterations(self, inner: list[Statement], child: tuple[int, ...], state: State) -> State:
        """Return the state after a loop, which may run any number of times."""
        var = inner[0].loops[len(child) - 1].var
        state = _forget(state, {var})
        while True:
            after = _forget(self.body(inner, child, state), {var})
            if child == self.loop:
                past = {Origin.HERE: Origin.PAST}
                after = frozenset((past.get(origin, origin), paths) for origin, paths in after)
            new = frozenset(path for path in after if not _is_covered(path, state))
            if not new:
                return state
            state = _bounded(state | new)

    def statement(self, user: Statement, state: State) -> State:
        inside = user.position[: len(self.loop)] == self.loop
        for read in user.references:
            if read.name == self.name and not read.is_write:
                ways = _ways(read.conditions)
                seen = {o for o, paths in state if any(_agree(paths, way) for way in ways)}
                self.found.append((inside, frozenset(seen)))
        target = user.assign.target
        if isinstance(target, Var) and target.name == self.name:
            state = self.written(user, Origin.HERE if inside else Origin.OUTSIDE, state)
        return _forget(state, {user.references[-1].name})

    def written(self, user: Statement, origin: Origin, state: State) -> State:
        guard = user.assign.guard
        if guard is None:
            return frozenset({(origin, _ALWAYS)})
        new = {(origin, way) for way in _ways((guard,))}
        for old, paths in state:
            for way in _ways((negated(guard),)):
                if _agree(paths, way):
                    new.add((old, paths | way))
        return _bounded(frozenset(new))


def _is_covered(path: tuple[Origin, Outcomes], state: State) -> bool:
    """Return whether `state` says as much already: the same origin under fewer outcomes."""
    return any(origin is path[0] and outcomes <= path[1] for origin, outcomes in state)


def _bounded(state: State) -> State:
    """Return `state`, with less said of its paths when there are too many."""
    if len(state) <= _MOST_PATHS:
        return state
    return frozenset((origin, _ALWAYS) for origin, _ in state)


def _forget(state: State, changed: set[str]) -> State:
    """Return `state` without the outcomes of tests that read what changed."""
    return frozenset(
        (origin, frozenset(t for t in paths if changed.isdisjoint(_reads_of(t[0]))))
        for origin, paths in state
    )


def _agree(paths: Outcomes, way: Outcomes) -> bool:
    return not any((test, not outcome) in paths for test, outcome in way)


def _ways(conditions: Iterable[Expr]) -> tuple[Outcomes, ...]:
    """Return the outcomes of tests under which all `conditions` hold, one entry per way."""
    found: list[Outcomes] = [_ALWAYS]
    for condition in conditions:
        found = [a | b for a, b in product(found, _ways_of(condition)) if _agree(a, b)]
        if len(found) > _MOST_WAYS:
            return (_ALWAYS,)
    return tuple(found)


def _ways_of(condition: Expr) -> tuple[Outcomes, ...]:
    match condition:
        case Int(value):
            return (_ALWAYS,) if value else ()
        case Binary("&&", left, right):
            return _ways((left, right))
        case Binary("||", left, right):
            return (*_ways((left,)), *_ways((right,)))
        case Binary("==", inner, Int(0)) if negated(condition) == inner:
            match inner:
                case Binary("&&" | "||", _, _):
                    return _ways((negated(inner),))
            return tuple(_flipped(way) for way in _ways_of(inner))
        case Binary("!=", left, right):
            return (frozenset({(Binary("==", left, right), False)}),)
        case Var():
            # The stored outcome of a test: what it is not, `negated` compares with 0.
            return (frozenset({(Binary("==", condition, Int(0)), False)}),)
        case _:
            return (frozenset({(condition, True)}),)


def _flipped(way: Outcomes) -> Outcomes:
    ((test, outcome),) = way
    return frozenset({(test, not outcome)})


def broken_lifetimes(
    homes: Mapping[str, Mapping[int, tuple[int, ...]]],
    iterators: Mapping[int, Sequence[str]],
    around: Mapping[int, Sequence[tuple[str, int]]],
    order: Mapping[int, tuple[int, ...]],
) -> Iterator[tuple[str, str]]:
    """Yield each private variable, with its loop, whose iterations another order lets overlap.

    Args:
        homes: For each private variable the statements that use it, with their homes.
        iterators: For each statement number its original loops, outermost first.
        around: For each statement number the loops around it in the new order, outermost
            first, as a name and a place in the text.
        order: For each statement number its position in the new text.
    """
    for name, used in homes.items():
        users = sorted(used, key=lambda number: order[number])
        own = [used[number] for number in users]
        runs = [home for home, _ in groupby(own)]
        for home in dict.fromkeys(own):
            members = [u for u, where in zip(users, own, strict=True) if where == home]
            needed = iterators[members[0]][: len(home)]
            shared = _common([around[member] for member in members])
            # Two lifetimes of one variable must not interleave either.
            if not set(needed) <= shared or runs.count(home) > 1:
                yield name, needed[-1]


def _common(paths: Sequence[Sequence[tuple[str, int]]]) -> set[str]:
    """Return the names of the loops that surround all statements with these `paths`."""
    shared: set[str] = set()
    for levels in zip(*paths, strict=False):
        if len(set(levels)) > 1:
            break
        shared.add(levels[0][0])
    return shared


Homes = Mapping[str, Mapping[int, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Element:
    """Where a statement finds the value of a private scalar.

    `declared` is the position of the array's declaration in the text, `around` are the loops
    around that, outermost first, and `inside` the loops between it and the statement.
    """

    array: LocalArray
    declared: tuple[int, ...]
    around: tuple[Loop, ...]
    inside: tuple[Loop, ...]
    indices: tuple[Expr, ...]

    def picks(self) -> frozenset[str]:
        """Return the loops inside whose iterations differ in an index, those around standing."""
        inner = {loop.var: loop for loop in self.inside}
        found = (_moved_by(index, inner) for index in self.indices)
        return frozenset(name for name in found if name)


def _moved_by(index: Expr, inner: Mapping[str, Loop]) -> str:
    """Return the one loop of `inner` that an index counts from a place known outside."""
    match index:
        case Binary("/", distance, Int(step)):
            name = _moved_by(distance, inner)
            # Such an iterator moves by whole steps, and each of them is another quotient.
            return name if name and inner[name].step == step else ""
        case _:
            used = variables(index) & inner.keys()
            name = next(iter(used)) if len(used) == 1 else ""
            rest = variables(fold(Binary("-", index, Var(name)))) if name else used
            return "" if name in rest else name


def elements(body: tuple[Stmt, ...]) -> dict[str, dict[int, Element]]:
    """Return for each scalar that arrays of `body` stand for where statements find it.

    A statement that uses several elements is left out.
    """
    found: dict[str, dict[int, Element]] = {}
    for number, element in _walk(body, (), (), {}):
        found.setdefault(element.array.stands_for, {})[number] = element
    return found


def _walk(
    body: tuple[Stmt, ...],
    loops: tuple[Loop, ...],
    place: tuple[int, ...],
    known: Mapping[str, tuple[LocalArray, tuple[int, ...], int]],
) -> Iterator[tuple[int, Element]]:
    """Yield each statement's elements; `known` are the arrays declared around, with the depth."""
    known = dict(known)
    for index, stmt in enumerate(body):
        match stmt:
            case LocalArray(name, stands_for=scalar):
                if scalar:
                    known[name] = stmt, (*place, index), len(loops)
                else:
                    known.pop(name, None)
            case Loop():
                yield from _walk(stmt.body, (*loops, stmt), (*place, index), known)
            case Assign(number):
                used = {(a.array, a.indices) for a in _accesses(stmt) if a.array in known}
                names = [name for name, _ in used]
                for name, indices in used:
                    if names.count(name) == 1:
                        array, declared, depth = known[name]
                        around, inside = loops[:depth], loops[depth:]
                        yield number, Element(array, declared, around, inside, indices)


def _accesses(assign: Assign) -> list[Access]:
    return [found for part in (assign.target, *assign.sources()) for found in accesses(part)]


def without_arrays(
    homes: Homes, iterators: Mapping[int, Sequence[str]], body: tuple[Stmt, ...]
) -> Homes:
    """Return `homes` less the lives that have elements of their own in `body`.

    Args:
        homes: For each private variable the statements that use it, with their homes.
        iterators: For each statement number its original loops, outermost first.
        body: The region as scheduled.
    """
    found = elements(body)
    out = {}
    for name, used in homes.items():
        own = found.get(name, {})
        apart = {
            home for home in set(used.values()) if own and _is_apart(home, used, own, iterators)
        }
        left = {number: home for number, home in used.items() if home not in apart}
        if left:
            out[name] = left
    return out


def _is_apart(
    home: tuple[int, ...],
    used: Mapping[int, tuple[int, ...]],
    own: Mapping[int, Element],
    iterators: Mapping[int, Sequence[str]],
) -> bool:
    """Return whether each iteration of the loop at `home` has one element, and no other has it."""
    members = [number for number, where in used.items() if where == home]
    if not all(number in own for number in members):
        return False
    places = [own[number] for number in members]
    if len({(p.declared, p.indices) for p in places}) > 1:
        return False
    needed = set(iterators[members[0]][: len(home)])
    around = {loop.var: loop for loop in places[0].around}
    # One array for each iteration of these, which must be chosen by the life alone.
    is_one = all(loop.root in needed for loop in around.values())
    return is_one and all(needed <= around.keys() | place.picks() for place in places)


def has_array_around(found: Mapping[str, Mapping[int, Element]], name: str, loop: Loop) -> bool:
    """Return whether all iterations of `loop` share the array that stands for a scalar."""
    return any(
        any(inner is loop for inner in element.inside) for element in found.get(name, {}).values()
    )
