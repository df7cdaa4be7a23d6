"""Cuts a failing program down: fewer statements, loops and arrays, simpler subscripts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from .nests import finished
from .program import (
    Affine,
    Apply,
    Array,
    Atom,
    Declare,
    Element,
    Loop,
    Program,
    Set,
    Stmt,
    Value,
    When,
)

T = TypeVar("T")


def reduced(
    one: T, simpler: Callable[[T], Iterator[T]], is_wrong: Callable[[T], bool], limit_s: float
) -> T:
    """Return the simplest variation of `one` found within `limit_s` that is still wrong."""
    end = time.monotonic() + limit_s
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for candidate in simpler(one):
            if time.monotonic() > end:
                break
            if is_wrong(candidate):
                one, changed = candidate, True
                break
    return one


def smaller(program: Program) -> Iterator[Program]:
    """Yield programs that are a step simpler, the largest steps first."""
    for body in _bodies(program.body):
        if body:
            yield finished(replace(program, body=body))
    if len(program.sizes) > 1:
        yield finished(replace(program, sizes=program.sizes[:1]))
        yield finished(replace(program, sizes=program.sizes[:-1]))
    if program.defined:
        yield finished(replace(program, defined=()))
    if program.iterators_outside:
        yield replace(program, iterators_outside=False)
    for k, array in enumerate(program.arrays):
        for simple in _arrays(array):
            arrays = (*program.arrays[:k], simple, *program.arrays[k + 1 :])
            yield finished(replace(program, arrays=arrays))
    if any(program.seen.values()):
        yield finished(replace(program, seen={}))


def _arrays(array: Array) -> Iterator[Array]:
    if not array.is_object and array.kind != "shaped":
        yield replace(array, kind="shaped")
    if array.element != "double":
        yield replace(array, element="double")


def _bodies(body: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
    """Yield bodies with a statement less, or with a simpler one."""
    for k, stmt in enumerate(body):
        before, after = body[:k], body[k + 1 :]
        yield (*before, *after)
        for parts in _simpler(stmt):
            yield (*before, *parts, *after)


def _simpler(stmt: Stmt) -> Iterator[tuple[Stmt, ...]]:
    match stmt:
        case Loop():
            for inner in _bodies(stmt.body):
                if inner:
                    yield (replace(stmt, body=inner),)
            yield from ((loop,) for loop in _loops(stmt))
        case When(condition, then, otherwise):
            yield then
            if otherwise:
                yield otherwise
                yield (replace(stmt, otherwise=()),)
            yield from ((replace(stmt, then=t),) for t in _bodies(then) if t)
            yield from ((replace(stmt, otherwise=o),) for o in _bodies(otherwise))
            yield from ((replace(stmt, condition=c),) for c in _values(condition, True))
        case Set(target, op, value):
            yield from ((Set(target, op, v),) for v in _values(value))
            if isinstance(target, Element):
                yield from ((Set(t, op, value),) for t in _elements(target))
            if op != "=":
                yield (Set(target, "=", value),)
        case Declare(_, value):
            yield from ((replace(stmt, value=v),) for v in _values(value))


def _loops(loop: Loop) -> Iterator[Loop]:
    if loop.is_down or loop.step > 1:
        yield replace(loop, is_down=False, step=1)
    if loop.is_inclusive:
        yield replace(loop, is_inclusive=False)
    if loop.lower != Affine():
        yield replace(loop, lower=Affine())
    if loop.upper not in (Affine(((1, "n"),)), Affine((), 2)):
        yield replace(loop, upper=Affine(((1, "n"),)))
    if loop.upper != Affine((), 2):
        yield replace(loop, upper=Affine((), 2))


def _values(value: Value, is_condition: bool = False) -> Iterator[Value]:
    match value:
        case Apply(op, parts):
            if not is_condition or op in ("&&", "||", "!"):
                yield from parts[1:] if op == "?:" else parts
            for k, part in enumerate(parts):
                for simple in _values(part, is_condition and op in ("&&", "||", "!")):
                    yield Apply(op, (*parts[:k], simple, *parts[k + 1 :]))
        case Element():
            yield Atom("1.0")
            yield from _elements(value)


def _elements(element: Element) -> Iterator[Element]:
    for k, at in enumerate(element.at):
        simple = [Affine(at.terms[:1])] if at.terms else []
        for one in (*simple, Affine()):
            if one != at:
                yield Element(element.array, (*element.at[:k], one, *element.at[k + 1 :]))


def shorter(data: bytes) -> Iterator[bytes]:
    """Yield texts with a part left out, large parts first."""
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2 if len(data) < 4000 else 4
