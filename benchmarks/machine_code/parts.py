"""Accesses with the names that a kernel declares for parts of its iterators spelled out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotune.ir.expr import Access, Expr, substitute
from annotune.ir.nest import Assign, Local, Loop, walk_places
from annotune.transforms.tree import Body


def with_parts(body: Body) -> Iterator[tuple[Assign, tuple[Loop, ...], Mapping[str, Expr]]]:
    """Yield each assignment with the loops around it and the scalars declared for it.

    These are what they are at their start, by iterators and sizes: a name may be another scalar in
    another loop.
    """
    scopes: dict[tuple[int, ...], dict[str, Expr]] = {}
    for stmt, loops, place in walk_places(body):
        known: dict[str, Expr] = {}
        for depth in range(len(place)):
            known |= scopes.get(place[:depth], {})
        if isinstance(stmt, Local) and stmt.value is not None:
            scopes.setdefault(place[:-1], {})[stmt.name] = substitute(stmt.value, known)
        elif isinstance(stmt, Assign):
            yield stmt, loops, known


def spelled_out(access: Access, parts: Mapping[str, Expr]) -> Access:
    """Return an access whose subscripts name iterators and sizes alone."""
    return Access(access.array, tuple(substitute(i, parts) for i in access.indices), access.span)
