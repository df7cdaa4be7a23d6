"""Where a program's accesses go: subscripts moved and extents chosen so that all is in range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .program import (
    Affine,
    Apply,
    Array,
    Atom,
    Declare,
    Element,
    Loop,
    Program,
    Scratch,
    Set,
    Stmt,
    Value,
    When,
    operands,
    values_of,
)


def fitted(program: Program) -> Program:
    """Return `program` with subscripts moved and extents chosen so that all stays in range.

    An array's subscripts all move by one distance per dimension, so that which elements meet
    stays as it was drawn.
    """
    lows, highs = _ranges(program)
    shifts: dict[tuple[str, int], int] = {}
    arrays = []
    for array in program.arrays:
        extents = []
        for dim in range(array.rank):
            seen = [low[array.name, dim] for low in lows if (array.name, dim) in low]
            shift = -min(seen, default=0)
            shifts[array.name, dim] = shift
            most = [high.get((array.name, dim), -shift) + shift for high in highs]
            extents.append(_extent(program, array, dim, most))
        arrays.append(replace(array, extents=tuple(extents)))

    def move(element: Element) -> Element:
        at = (a.shifted(shifts[element.array, d]) for d, a in enumerate(element.at))
        return Element(element.array, tuple(at))

    return replace(program, arrays=tuple(arrays), body=moved(program.body, move))


def _extent(program: Program, array: Array, dim: int, most: list[int]) -> Affine:
    """Return an extent over `most` at every size: symbolic where C allows and chance says."""
    names = [n for n in ("n", "m") if n in program.sizes[0]]
    wish = program.seen.get(f"{array.name}.{dim}", 0)
    if array.is_object or array.kind == "local" or not names or wish == 0:
        return Affine((), max(most) + 1 + (wish > 2))
    name = names[wish % len(names)]
    slack = max(top + 1 - sizes[name] for top, sizes in zip(most, program.sizes, strict=True))
    # At sizes between those that are run the array must exist too.
    return Affine(((1, name),), max(0, slack) + (wish > 2))


def _ranges(program: Program) -> tuple[list[dict[tuple[str, int], int]], ...]:
    lows: list[dict[tuple[str, int], int]] = []
    highs: list[dict[tuple[str, int], int]] = []
    for sizes in program.sizes:
        low: dict[tuple[str, int], int] = {}
        high: dict[tuple[str, int], int] = {}
        _widen(program.body, dict(sizes), low, high)
        lows.append(low)
        highs.append(high)
    return lows, highs


def _widen(
    body: tuple[Stmt, ...],
    known: dict[str, int],
    low: dict[tuple[str, int], int],
    high: dict[tuple[str, int], int],
) -> None:
    for stmt in body:
        for value in values_of(stmt):
            for element in operands(value):
                for dim, at in enumerate(element.at) if isinstance(element, Element) else ():
                    where, index = (element.array, dim), at.at(known)
                    low[where] = min(low.get(where, index), index)
                    high[where] = max(high.get(where, index), index)
        match stmt:
            case Loop():
                for number in stmt.values(known):
                    _widen(stmt.body, {**known, stmt.var: number}, low, high)
            case When():
                _widen((*stmt.then, *stmt.otherwise), known, low, high)


def moved(body: tuple[Stmt, ...], move: Callable[[Element], Element]) -> tuple[Stmt, ...]:
    """Return `body` with `move` applied to every element."""

    def inside(value: Value) -> Value:
        match value:
            case Element():
                return move(value)
            case Apply(op, parts):
                return Apply(op, tuple(inside(p) for p in parts))
            case _:
                return value

    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Set(target, op, value):
                place = inside(target)
                assert isinstance(place, Element | Atom)
                out.append(Set(place, op, inside(value)))
            case Declare(name, value):
                out.append(Declare(name, inside(value)))
            case Scratch():
                out.append(stmt)
            case When(condition, then, otherwise):
                out.append(When(inside(condition), moved(then, move), moved(otherwise, move)))
            case Loop():
                out.append(replace(stmt, body=moved(stmt.body, move)))
    return tuple(out)
