"""Where a pointer variable points: into which array, and how far from its start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotune.frontend.aliases import key
from annotune.frontend.expressions import Expressions
from annotune.frontend.extent import walk
from annotune.frontend.names import Names
from annotune.frontend.symbols import Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.region import Alias

_STEPS = {"+": 1, "-": -1}
_CHANGING = frozenset({"++", "--", "p++", "p--", "&"})


def origin(
    symbol: Symbol, body: Any, region_start: int, expressions: Expressions
) -> tuple[str, int]:
    """Return the array that a pointer points into and the offset there, in elements.

    ``double *b = a + 1;`` gives ``("a", 1)``. The text says it where the pointer is set once,
    before the region, to a constant place of an array that stays; ``("", 0)`` elsewhere.
    """
    seen = {symbol.name}
    offset = 0
    while True:
        source = _only_source(symbol, body, region_start)
        found = _place(source, expressions) if source is not None else None
        if found is None:
            break
        root = expressions.names.find(found[0])
        if root is None or root.name in seen or not _is_alike(symbol, root):
            break
        is_moved = root.name in expressions.names.changes
        if is_moved and _only_source(root, body, region_start) is None:
            break
        seen.add(root.name)
        symbol, offset = root, offset + found[1]
    return (symbol.name, offset) if len(seen) > 1 else ("", 0)


def derived_from(body: Any, names: Names, aliases: Sequence[Alias]) -> frozenset[str]:
    """Return the ``restrict`` pointers from which other pointers of the function may be made.

    What ``b = a + k`` points to may be reached through both names (C11 6.7.3.1).
    """
    mentioned: defaultdict[str, set[str]] = defaultdict(set)
    for node in walk(body):
        if isinstance(node, c_ast.Decl) and node.name and node.init is not None:
            mentioned[node.name].update(_mentions(node.init))
        elif isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
            mentioned[node.lvalue.name].update(_mentions(node.rvalue))
        elif isinstance(node, c_ast.FuncCall) and node.args is not None:
            # A call may store one of its arguments behind another: get(&b, a).
            for argument in node.args.exprs:
                if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
                    for name in _mentions(argument.expr):
                        mentioned[name].update(_mentions(node.args))
    found: set[str] = set()
    for name in mentioned:
        symbol = names.find(name)
        if symbol is not None and symbol.is_pointer and not symbol.is_restrict:
            found |= _reached(name, mentioned)
    members = {alias.name: key(alias) for alias in aliases}
    return frozenset(found) | {alias for alias, member in members.items() if member in found}


def _mentions(node: Any) -> Iterator[str]:
    """Yield the names in an expression that are evaluated."""
    if isinstance(node, c_ast.ID):
        yield node.name
    if not (isinstance(node, c_ast.UnaryOp) and node.op == "sizeof"):
        for child in node:
            yield from _mentions(child)


def _reached(name: str, mentioned: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for other in mentioned.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _is_alike(pointer: Symbol, root: Symbol) -> bool:
    """Return whether both are plain sequences of one type, the root declared first."""
    plain = len(pointer.layers) == len(root.layers) == 1
    return plain and pointer.base == root.base and root.start < pointer.start


def _only_source(symbol: Symbol, body: Any, region_start: int) -> Any:
    """Return the expression that a local pointer is set to, None if there are several or none."""
    if symbol.storage != "local" or not symbol.is_pointer:
        return None
    sources = [symbol.init] if symbol.init is not None else []
    for node in walk(body):
        if isinstance(node, c_ast.Assignment) and _names(node.lvalue, symbol):
            is_plain = node.op == "=" and node.coord.line < region_start
            sources.append(node.rvalue if is_plain else None)
        elif isinstance(node, c_ast.UnaryOp) and node.op in _CHANGING and _names(node.expr, symbol):
            sources.append(None)
    return sources[0] if len(sources) == 1 else None


def _names(node: Any, symbol: Symbol) -> bool:
    return isinstance(node, c_ast.ID) and node.name == symbol.name


def _place(node: Any, expressions: Expressions) -> tuple[str, int] | None:
    """Return the array and the constant offset of ``a``, ``a + 1``, ``&a[1]`` or a cast of them."""
    match node:
        case c_ast.ID():
            symbol = expressions.names.find(node.name)
            return (node.name, 0) if symbol is not None and symbol.is_array else None
        case c_ast.Cast():
            return _place(node.expr, expressions)
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
            return _moved(_place(element.name, expressions), element.subscript, 1, expressions)
        case c_ast.BinaryOp(op="+" | "-"):
            start = _place(node.left, expressions)
            return _moved(start, node.right, _STEPS[node.op], expressions)
    return None


def _moved(
    start: tuple[str, int] | None, by: Any, sign: int, expressions: Expressions
) -> tuple[str, int] | None:
    names = expressions.names
    known = dict(names.file_scope.enumerators)
    for scope in [names.file_scope.symbols, *names.scopes]:
        known |= {name: s.value for name, s in scope.items() if s.value is not None}
    value = names.fixed_value(by, known)
    return None if start is None or value is None else (start[0], start[1] + sign * value)
