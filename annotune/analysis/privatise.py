"""Scalars that each iteration of a loop writes before it reads.

The walk follows the text: where may the value that a read sees come from? Loops may run no
iteration, so a value also flows around a loop; that is sound for every size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from annotune.analysis.statements import Statement, read_statements, written_scalars
from annotune.ir.expr import Var
from annotune.ir.region import Region


class Origin(Enum):
    """Who wrote the value that a scalar has, seen from one iteration of a loop."""

    OUTSIDE = "before or outside the loop"
    HERE = "this iteration of the loop"
    PAST = "an earlier iteration of the loop"


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Where a written scalar lives: the innermost loops to whose iterations it is private.

    `homes` are positions of loops in the text. Every statement that uses the scalar is in
    exactly one of them.
    """

    name: str
    homes: tuple[tuple[int, ...], ...]

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
    for user in users:
        candidates = [loop.position for loop in reversed(user.loops)]
        home = next((loop for loop in candidates if _is_home(name, loop, users)), None)
        if home is None:
            return None
        homes.setdefault(home)
    # A home inside another home of the same scalar: the outer one is the scalar's.
    outer = [h for h in homes if not any(h != o and h[: len(o)] == o for o in homes)]
    return Lifetime(name, tuple(outer))


def _is_home(name: str, loop: tuple[int, ...], users: list[Statement]) -> bool:
    """Return whether every read inside `loop` sees its own iteration, and none outside sees it."""
    for inside, origins in _reads(name, loop, users):
        if inside and origins != {Origin.HERE}:
            return False
        if not inside and Origin.PAST in origins:
            return False
    return True


def _reads(
    name: str, loop: tuple[int, ...], users: list[Statement]
) -> Iterator[tuple[bool, frozenset[Origin]]]:
    """Yield for each read of `name`, in or out of `loop`, where its value may come from."""
    found: list[tuple[bool, frozenset[Origin]]] = []
    _walk(name, loop, users, (), frozenset({Origin.OUTSIDE}), found)
    yield from found


def _walk(
    name: str,
    loop: tuple[int, ...],
    users: list[Statement],
    place: tuple[int, ...],
    before: frozenset[Origin],
    found: list[tuple[bool, frozenset[Origin]]],
) -> frozenset[Origin]:
    """Return the origins after the body at `place`, given those before it."""
    depth = len(place)
    children: dict[tuple[int, ...], list[Statement]] = {}
    for user in users:
        children.setdefault(user.position[: depth + 1], []).append(user)
    state = before
    for child, inner in sorted(children.items()):
        if child == inner[0].position:
            state = _assign(name, inner[0], child[: len(loop)] == loop, state, found)
            continue
        # Twice around: the second time with what the first iteration leaves behind.
        for _ in range(2):
            after = _walk(name, loop, inner, child, state, found)
            if child == loop:
                after = frozenset(Origin.PAST if o is Origin.HERE else o for o in after)
            state |= after
    return state


def _assign(
    name: str,
    user: Statement,
    inside: bool,
    state: frozenset[Origin],
    found: list[tuple[bool, frozenset[Origin]]],
) -> frozenset[Origin]:
    reads = [r for r in user.references if r.name == name and not r.is_write]
    if reads:
        found.append((inside, state))
    target = user.assign.target
    if isinstance(target, Var) and target.name == name:
        return frozenset({Origin.HERE if inside else Origin.OUTSIDE})
    return state


def broken_lifetimes(
    region: Region,
    around: Mapping[int, Sequence[tuple[str, int]]],
    order: Mapping[int, tuple[int, ...]],
) -> Iterator[tuple[str, str]]:
    """Yield each private scalar, with its loop, whose iterations another order lets overlap.

    Args:
        around: For each statement number the loops around it in the new order, outermost
            first, as a name and a place in the text.
        order: For each statement number its position in the new text.
    """
    statements = read_statements(region)
    for name in sorted(written_scalars(region)):
        life = lifetime(name, statements)
        if life is None:
            continue
        users = [s for s in statements if any(r.name == name for r in s.references)]
        users.sort(key=lambda s: order[s.number])
        homes = [life.home(user.position) for user in users]
        runs = [home for home, _ in groupby(homes)]
        for home in dict.fromkeys(homes):
            members = [u for u, where in zip(users, homes, strict=True) if where == home]
            needed = members[0].iterators[: len(home)]
            shared = _common([around[member.number] for member in members])
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
