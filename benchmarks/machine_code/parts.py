"""Accesses with the names that a kernel declares for parts of its iterators spelled out."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.ir.expr import Access, Expr, substitute
from annotune.ir.nest import Local, walk_stmts
from annotune.transforms.tree import Body


def parts_of(body: Body) -> Mapping[str, Expr]:
    """Return what each scalar that a kernel declares is at its start, by iterators and sizes."""
    found: dict[str, Expr] = {}
    for stmt in walk_stmts(body):
        if isinstance(stmt, Local) and stmt.value is not None:
            found[stmt.name] = substitute(stmt.value, found)
    return found


def spelled_out(access: Access, parts: Mapping[str, Expr]) -> Access:
    """Return an access whose subscripts name iterators and sizes alone."""
    return Access(access.array, tuple(substitute(i, parts) for i in access.indices), access.span)
