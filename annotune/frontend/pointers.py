"""The pointers through which a function reads, and those that it surely has read through.

A name for ``p->nx`` is given its value before a region. Where the region reads it only under a
condition, or in a loop that may not run, `p` may be NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from annotune.frontend.names import Names
from annotune.frontend.syntax import c_ast, c_generator


def pointers_in(node: Any) -> Iterator[str]:
    """Yield the pointers that a place such as ``p->grid->nx`` is read through, outermost first."""
    match node:
        case c_ast.StructRef():
            yield from pointers_in(node.name)
            if node.type == "->":
                yield _text(node.name)
        case c_ast.UnaryOp(op="*"):
            yield from pointers_in(node.expr)
            yield _text(node.expr)


def sure_pointers(
    body: Any, statements: Sequence[Any], names: Names, region_start: int
) -> Iterator[str]:
    """Yield the pointers that a function reads through before a region's first iteration."""
    for item in body.block_items or []:
        is_plain = isinstance(item, c_ast.Decl | c_ast.Assignment) and item.coord is not None
        if is_plain and item.coord.line < region_start:
            # What is set again since may be NULL by now.
            yield from (p for p in _read_through(item) if p not in names.changes)
    for loop in statements:
        if isinstance(loop, c_ast.For):
            yield from _read_through(loop.init)
            yield from _read_through(loop.cond)


def _read_through(node: Any) -> Iterator[str]:
    """Yield the pointers that evaluating an expression surely reads through."""
    if node is None or (isinstance(node, c_ast.UnaryOp) and node.op in ("&", "sizeof")):
        return
    parts = [*node]
    if isinstance(node, c_ast.TernaryOp) or (
        isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||")
    ):
        parts = parts[:1]
    yield from pointers_in(node)
    for part in parts:
        yield from _read_through(part)


def _text(node: Any) -> str:
    return str(c_generator.CGenerator().visit(node))
