"""The arrays that a schedule gives to private scalars: has each life an element of its own?

A private scalar lives in one iteration of its home, a loop of the text. A schedule may run several
lives side by side once each has an element of a local array instead (scalar expansion; Allen and
Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotune.ir.expr import Access, Binary, Expr, Int, Var, accesses, variables
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, LocalArray, Loop, Stmt

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
