"""What a region declares itself: scalars, and small arrays that each iteration has anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from annotune.diagnostics import AnnotuneError
from annotune.frontend import messages
from annotune.frontend.names import Names
from annotune.frontend.symbols import Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.nest import LocalArray, Stmt


def declare(decl: Any, names: Names) -> Symbol:
    """Take in a declaration of the region and return what it declares.

    Raises:
        AnnotuneError: It is ``static`` or ``extern``, or an array that is not one of each
            iteration alone, with extents that C fixes.
    """
    symbol = names.file_scope.types.symbol(decl, "region")
    span = names.file.source.span(symbol.start, symbol.end)
    # Also where it is refused: its uses need no refusal of their own.
    names.declare(symbol, span)
    if "extern" in (decl.storage or []) or "static" in (decl.storage or []):
        raise AnnotuneError.of(messages.SCALAR_TYPE.at(span, name=decl.name, type=decl.storage[0]))
    if symbol.is_array:
        is_small = names.iterators and fixed_extents(symbol, names) is not None
        earlier = names.meanings.get(symbol.name)
        if not is_small:
            raise AnnotuneError.of(messages.LOCAL_ARRAY.at(span, name=decl.name))
        if earlier is not None and fixed_extents(earlier, names) != fixed_extents(symbol, names):
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=decl.name))
    return symbol


def fixed_extents(symbol: Symbol, names: Names) -> tuple[int, ...] | None:
    """Return the extents of an array as C fixes them, None where one is open or below 1."""
    if any(layer.kind != "[]" for layer in symbol.layers):
        return None
    known = dict(names.file_scope.enumerators)
    for scope in [names.file_scope.symbols, *names.scopes]:
        for name, other in scope.items():
            known.pop(name, None)
            if other.value is not None:
                known[name] = other.value
    found = [
        names.fixed_value(layer.dim, known) if layer.dim is not None else None
        for layer in symbol.layers
    ]
    fixed = tuple(value for value in found if value is not None and value > 0)
    return fixed if len(fixed) == len(found) else None


def local_array(symbol: Symbol, names: Names) -> LocalArray:
    """Return the statement that declares an array, which `declare` has accepted."""
    fixed = fixed_extents(symbol, names)
    assert fixed is not None
    return LocalArray(symbol.name, symbol.base, fixed)


def declared_once(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Return a loop's body with one declaration of each array that several of its blocks have.

    A nest has no blocks of its own. The arrays of one name are alike, and start without values.
    """
    seen: set[str] = set()
    kept: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, LocalArray) or stmt.name not in seen:
            kept.append(stmt)
        if isinstance(stmt, LocalArray):
            seen.add(stmt.name)
    return tuple(kept)


def initial(name: str, shape: tuple[int, ...], init: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each element of an array with the expression that ``{…}`` starts it with.

    What the braces leave out starts at 0 (C11 6.7.9).

    Raises:
        ValueError: The braces name elements, hold too many, or nest otherwise than the array.
    """
    for places in product(*map(range, shape)):
        element: Any = c_ast.ID(name, init.coord)
        for place in places:
            element = c_ast.ArrayRef(element, c_ast.Constant("int", str(place)), init.coord)
        yield element, _start_of(init, shape, places)


def _start_of(init: Any, shape: tuple[int, ...], places: tuple[int, ...]) -> Any:
    for extent, place in zip(shape, places, strict=True):
        is_list = isinstance(init, c_ast.InitList)
        named = is_list and any(isinstance(e, c_ast.NamedInitializer) for e in init.exprs)
        if not is_list or named or len(init.exprs) > extent:
            raise ValueError
        if place >= len(init.exprs):
            return c_ast.Constant("int", "0", init.coord)
        init = init.exprs[place]
    if isinstance(init, c_ast.InitList):
        raise ValueError
    return init
