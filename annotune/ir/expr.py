"""Expressions of the loop-nest language: all the nodes, and the walks every stage needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from annotune.diagnostics import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Int:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point literal, in the user's own spelling: ``0.5``, ``1e-3f``."""

    text: str


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar by name: an iterator, a size, or a floating-point variable."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """An array element as the user wrote it: one index per pair of brackets."""

    array: str
    indices: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negate:
    """Unary minus."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation: ``+ - * / %``, on integers (with C's truncation) or on reals."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a pure function, such as ``min`` for loop bounds that annotune makes."""

    function: str
    arguments: tuple[Expr, ...]


Expr: TypeAlias = Int | Real | Var | Access | Negate | Binary | Call


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct operands of `expr`, left to right."""
    match expr:
        case Int() | Real() | Var():
            return ()
        case Access(_, indices):
            return indices
        case Negate(operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Call(_, arguments):
            return arguments
        case _:
            assert_never(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything inside it, operands after their operator."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Return `expr` with every node that `change` answers for replaced, outermost first.

    `change` returns None to leave a node and go on with its operands.
    """
    changed = change(expr)
    if changed is not None:
        return changed
    match expr:
        case Int() | Real() | Var():
            return expr
        case Access(array, indices, span):
            return Access(array, tuple(rewrite(i, change) for i in indices), span)
        case Negate(operand):
            return Negate(rewrite(operand, change))
        case Binary(op, left, right):
            return Binary(op, rewrite(left, change), rewrite(right, change))
        case Call(function, arguments):
            return Call(function, tuple(rewrite(a, change) for a in arguments))
        case _:
            assert_never(expr)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return `expr` with each variable named in `values` replaced by its expression."""
    return rewrite(expr, lambda e: values.get(e.name) if isinstance(e, Var) else None)


def variables(expr: Expr) -> frozenset[str]:
    """Return the names of the scalars that `expr` reads; array names are not among them."""
    return frozenset(e.name for e in walk(expr) if isinstance(e, Var))


def accesses(expr: Expr) -> tuple[Access, ...]:
    """Return the array elements that `expr` reads, left to right."""
    return tuple(e for e in walk(expr) if isinstance(e, Access))
