"""Where a pointer variable points: into which array, and how far from its start.

The values that a region's integers have at the sizes it is tuned for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from annotune.annotation.spec import Value
from annotune.frontend.lower.aliases import key
from annotune.frontend.lower.expressions import Expressions
from annotune.frontend.lower.names import Names
from annotune.frontend.read.constant import integer
from annotune.frontend.read.syntax import c_ast, start_of, walk_tree
from annotune.frontend.types.symbols import Symbol
from annotune.ir.fold import divide, remainder
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
    for node in walk_tree(body):
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
    for node in walk_tree(body):
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


# How many sizes may be made of one another: f2c's are one or two steps from an argument.
_LONGEST_CHAIN = 8


def tuned_sizes(
    names: Names,
    aliases: Sequence[Alias],
    changing: Collection[str],
    given: Mapping[str, Value],
    overrides: Mapping[str, int],
    body: Any,
    region_start: int,
) -> dict[str, int]:
    """Return the sizes that C fixes, over them those of the annotation, then `overrides`.

    What the nest itself changes, `changing`, is no size, whatever its value before is.
    A value for ``n`` is also that of ``*n``, and one for ``nx`` that of ``grid->nx``. An
    integer that the function computes from sizes before the region, such as f2c's
    ``a_dim1 = *lda;``, has the value that those give; emitted code tests it as it tests all.
    """
    sizes = {s.name: s.value for s in names.scalars.values() if s.value is not None}
    chosen: dict[str, int] = {}
    for name, one in given.items():
        value = _whole(one)
        if value is not None and name not in changing:
            chosen[name] = value
    chosen |= {k: v for k, v in overrides.items() if k not in changing}
    known = sizes | chosen
    # A pointer's name stands for what it points to; an array's is no size.
    by_key = {key(alias): alias.name for alias in aliases}
    spelled = {alias.name: alias.spelling for alias in aliases}
    sizes |= {k: v for k, v in chosen.items() if k not in names.arrays and k not in by_key}
    sizes |= {by_key[k]: v for k, v in chosen.items() if k in by_key and by_key[k] not in chosen}
    sources = _sources(body, region_start)
    for name, scalar in names.scalars.items():
        if name not in sizes and name not in changing and scalar.type not in ("double", "float"):
            value = _value_of(spelled.get(name, name), sources, known, _LONGEST_CHAIN)
            symbol = names.find(name)
            if symbol is not None:
                # An unsigned -1 is another number.
                value = symbol.with_value(value).value
            if value is not None:
                sizes[name] = value
    return sizes


def _whole(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sources(body: Any, region_start: int) -> dict[str, Any]:
    """Return the last expression to which each variable is set before the region."""
    found: dict[str, Any] = {}
    for node in walk_tree(body):
        if isinstance(node, c_ast.Decl) and node.init is not None and node.name:
            place, name, value = node.coord.line, node.name, node.init
            if isinstance(value, c_ast.InitList):
                elements = enumerate(value.exprs)
                found |= {f"{name}[{k}]": e for k, e in elements if place < region_start}
        elif isinstance(node, c_ast.Assignment) and (name := _place_name(node.lvalue)):
            value = node.rvalue if node.op == "=" else None
            place = start_of(node.lvalue)
        elif (
            isinstance(node, c_ast.UnaryOp)
            and node.op in ("++", "--", "p++", "p--", "&")
            and isinstance(node.expr, c_ast.ID)
        ):
            place, name, value = node.expr.coord.line, node.expr.name, None
        else:
            continue
        if place < region_start:
            found[name] = value
    return found


def _place_name(node: Any) -> str:
    """Return ``n`` or ``offsets[4]`` for a variable or an element with a constant subscript."""
    if isinstance(node, c_ast.ID):
        return str(node.name)
    is_element = isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ID)
    if is_element and isinstance(node.subscript, c_ast.Constant):
        return f"{node.name.name}[{node.subscript.value}]"
    return ""


def _value_of(
    name: str, sources: Mapping[str, Any], known: Mapping[str, int], steps: int
) -> int | None:
    source = sources.get(name)
    return _value(source, sources, known, steps) if source is not None and steps else None


def _value(
    node: Any, sources: Mapping[str, Any], known: Mapping[str, int], steps: int
) -> int | None:
    """Return the value of an integer expression of sizes, None when it is none."""
    match node:
        case c_ast.Constant():
            return integer(node.value)
        case c_ast.ID():
            if node.name in known:
                return known[node.name]
            return _value_of(node.name, sources, known, steps - 1)
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)):
            return known.get(name)
        case c_ast.ArrayRef():
            return _value_of(_place_name(node), sources, known, steps - 1)
        case c_ast.StructRef():
            return known.get(node.field.name)
        case c_ast.UnaryOp(op="-"):
            operand = _value(node.expr, sources, known, steps)
            return None if operand is None else -operand
        case c_ast.Cast():
            return _value(node.expr, sources, known, steps)
        case c_ast.BinaryOp():
            left = _value(node.left, sources, known, steps)
            right = _value(node.right, sources, known, steps)
            return None if left is None or right is None else _computed(node.op, left, right)
    return None


def _computed(op: str, left: int, right: int) -> int | None:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%" if right != 0:
            return divide(left, right) if op == "/" else remainder(left, right)
    return None
