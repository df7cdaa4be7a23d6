"""The arrays of a region, from their declarations."""

from __future__ import annotations

from typing import Any

from annotune.diagnostics import AnnotuneError
from annotune.frontend.expressions import Expressions
from annotune.frontend.extent import walk
from annotune.frontend.messages import SIZE_CHANGES, TWO_MEANINGS
from annotune.frontend.stability import Stability
from annotune.frontend.symbols import Layer, Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.expr import Expr
from annotune.ir.region import Array
from annotune.ir.text import print_expr


def describe(symbol: Symbol, expressions: Expressions, stability: Stability) -> Array:
    """Return an array as the declaration gives it.

    Raises:
        AnnotuneError: An extent changes after the declaration, or is no integer formula.
    """
    names = expressions.names
    span = names.file.source.span(symbol.start, symbol.end)
    for layer in symbol.layers:
        for node in walk(layer.dim) if layer.dim is not None else ():
            size = names.find(node.name) if isinstance(node, c_ast.ID) else None
            if size is None:
                continue
            is_set = names.changes.get(size.name, -1) > symbol.start
            if is_set or stability.may_change_size(size, symbol.start):
                raise AnnotuneError.of(SIZE_CHANGES.at(span, size=size.name, name=symbol.name))
            if size.start > symbol.start:
                # Declared anew after the array that it measures.
                raise AnnotuneError.of(TWO_MEANINGS.at(span, name=size.name))
    extents = tuple(_extent(layer, expressions) for layer in symbol.layers)
    return Array(
        symbol.name,
        symbol.base,
        extents,
        symbol.is_pointer,
        names.is_restrict(symbol),
        symbol.is_const,
        _parameter(symbol, extents),
        span,
    )


def _extent(layer: Layer, expressions: Expressions) -> Expr | None:
    dim: Any = layer.dim
    # [*] and [] say nothing.
    if layer.kind == "*" or dim is None or (isinstance(dim, c_ast.ID) and dim.name == "*"):
        return None
    return expressions.integer(dim)


def _parameter(symbol: Symbol, extents: tuple[Expr | None, ...]) -> str:
    """Return the declaration that passes an array to a function."""
    element = f"const {symbol.base}" if symbol.is_const else symbol.base
    brackets = [f"[{print_expr(e)}]" if e is not None else "[]" for e in extents]
    if len(extents) == 1 and symbol.layers[0].kind == "*":
        return f"{element} *{symbol.name}"
    if symbol.layers[0].kind == "*":
        return f"{element} (*{symbol.name})" + "".join(brackets[1:])
    return f"{element} {symbol.name}" + "".join(brackets)
