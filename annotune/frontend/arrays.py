"""The arrays of a region, from their declarations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotune.diagnostics import AnnotuneError
from annotune.frontend.expressions import Expressions
from annotune.frontend.extent import walk
from annotune.frontend.kinds import is_integer
from annotune.frontend.messages import MAY_BE_ELEMENT, SIZE_CHANGES, TWO_MEANINGS
from annotune.frontend.names import Names
from annotune.frontend.ranges import width
from annotune.frontend.stability import Stability
from annotune.frontend.symbols import Layer, Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.c_types import StoredName, may_share
from annotune.ir.expr import Access, Expr, Int, accesses, children, print_expr, variables
from annotune.ir.nest import Nest
from annotune.ir.region import Array, Scalar


def mixes_widths(nest: Nest, scalars: Mapping[str, Scalar]) -> bool:
    """Return whether a subscript is computed in 64 bits because of an iterator, beside narrow ones.

    So is ``a[e * n + j - 1]`` with a long `j` and an unsigned `e`. Where an unrolled loop puts a
    number in the place of `j`, ``e * n - 1`` would go round in 32 bits.
    """
    kinds = {name: scalar.type for name, scalar in scalars.items() if is_integer(scalar.type)}
    wide = {loop.var for loop in nest.loops() if width(kinds.get(loop.var, "int")) == 64}
    narrow = {name for name, kind in kinds.items() if width(kind) < 64}
    if not wide or not narrow:
        return False
    for assign in nest.assigns():
        for access in (assign.target, *(a for e in assign.sources() for a in accesses(e))):
            used = {name for index in children(access) for name in variables(index)}
            if used & wide and used & narrow:
                return True
    return False


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


def refuse_shared(names: Names, nest: Nest, stability: Stability) -> None:
    """Refuse a variable that an array may hold, where the region writes either.

    An array may, when its pointer can have been given the variable's address and its subscripts
    stay inside it, or when the function itself has taken the address. A pointer variable of the
    file may itself be written over, as characters.

    Raises:
        AnnotuneError: There is such a pair.
    """
    if names.are_disjoint:
        return
    assigns = nest.assigns()
    written = {a.target.array if isinstance(a.target, Access) else a.target.name for a in assigns}
    moved = {
        access.array
        for assign in assigns
        for expr in (assign.target, *assign.sources())
        for access in accesses(expr)
        if any(not isinstance(index, Int) for index in access.indices)
    }
    for name in sorted({*names.scalars, *names.arrays}):
        symbol = names.find(name)
        if symbol is None or symbol.storage == "region" or not _is_variable(symbol):
            continue
        is_kept = name in stability.kept
        if not is_kept and symbol.storage != "file":
            continue
        own = StoredName(_POINTER if symbol.is_array else symbol.base)
        changed = written - names.arrays.keys() if symbol.is_array else written
        for array in names.arrays.values():
            # An int holds four elements of an array of characters.
            is_inside = is_kept or array.name not in moved or "char" in array.base
            shares = array.name != name and may_share(names.place_of(array), own)
            if is_inside and shares and ({name} & changed or array.name in written):
                span = names.file.source.span(array.start, array.end)
                raise AnnotuneError.of(MAY_BE_ELEMENT.at(span, name=name, array=array.name))


# The type of a variable that is a pointer; arrays hold none.
_POINTER = "void *"


def _is_variable(symbol: Symbol) -> bool:
    """Return whether a name is one value in memory that may change: a number or a pointer."""
    if symbol.is_array:
        return symbol.layers[0].kind == "*"
    return not symbol.is_const


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
