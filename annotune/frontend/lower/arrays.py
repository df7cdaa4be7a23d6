"""The arrays of a region, from their declarations, and where their pointers point.

What a pointer variable points into, and how far from its start, as far as the text says it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError
from annotune.frontend.lower.around import Stability
from annotune.frontend.lower.expressions import Expressions
from annotune.frontend.lower.names import Names
from annotune.frontend.messages import MAY_BE_ELEMENT, SIZE_CHANGES, TWO_MEANINGS
from annotune.frontend.read.function_index import MOST_FUNCTIONS, changes_of, index_of
from annotune.frontend.read.macros import reached
from annotune.frontend.read.syntax import (
    extent,
    has_sizeof,
    names_in,
    offset,
    walk_tree,
)
from annotune.frontend.types.kinds import is_integer, width
from annotune.frontend.types.symbols import Layer, Symbol
from annotune.ir.c_types import StoredName, may_share
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Negate,
    accesses,
    children,
    print_expr,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.identity import once_for_each
from annotune.ir.nest import Nest
from annotune.ir.poly import from_expr
from annotune.ir.region import Alias, Array, Assertion, Scalar

_REPEATS = (c_ast.For, c_ast.While, c_ast.DoWhile)


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


def describe(
    symbol: Symbol, names: Names, stability: Stability, has_stated_length: bool = False
) -> Array:
    """Return an array as the declaration gives it, and the annotation its length.

    Raises:
        AnnotuneError: An extent changes after the declaration, or is no integer formula.
    """
    span = names.function.file.source.span(symbol.start, symbol.end)
    for name in (name for layer in symbol.layers for name in names_in(layer.dim)):
        size = names.find(name)
        if size is None:
            continue
        is_set = names.function.changes.get(size.name, -1) > symbol.start
        if is_set or stability.may_change_size(size, symbol.start):
            raise AnnotuneError.of(SIZE_CHANGES.at(span, size=size.name, name=symbol.name))
        if size.start > symbol.start:
            # Declared anew after the array that it measures.
            raise AnnotuneError.of(TWO_MEANINGS.at(span, name=size.name))
    extents = tuple(_extent(layer, Expressions(names)) for layer in symbol.layers)
    names.used.rows |= dict.fromkeys(_row_lengths(symbol, extents, names))
    is_measured = has_stated_length or None not in extents
    first = _first_element(symbol, names) if is_measured and symbol.is_pointer else Int(0)
    if len(extents) > 1 and first != Int(0):
        first = None  # moved by rows
    root, offset = _origin(symbol, names)
    return Array(
        symbol.name,
        symbol.base,
        extents,
        symbol.is_pointer,
        names.is_restrict(symbol),
        symbol.is_const,
        _parameter(symbol, extents),
        span,
        root=root,
        offset=offset,
        first=first,
        is_enumeration=symbol.is_enumeration,
    )


def _first_element(symbol: Symbol, names: Names) -> Expr | None:
    """Return the subscript of the first element of an array whose pointer has been moved.

    After ``--x;`` the n elements that were behind ``x`` are ``x[1]`` to ``x[n]``. None where a move
    is no statement of the function's own that comes before the region, or moves by what the region
    cannot compute again.
    """
    body, start = names.function.body, names.given.start
    first: Expr = Int(0)
    plain = {id(item) for item in body.block_items or []}
    is_repeated = index_of(body).has_jumps or any(
        isinstance(n, _REPEATS) for n in _around(body, names)
    )
    for node in changes_of(body).get(symbol.name, ()):
        if offset(node) >= start and not is_repeated:
            continue
        if isinstance(node, c_ast.Assignment) and node.op == "=" and symbol.storage == "local":
            first = Int(0)
            continue
        step = _step(node, names) if id(node) in plain and not is_repeated else None
        if step is None:
            return None
        first = Binary("+", first, step)
    return fold(first)


def _around(body: c_ast.Compound, names: Names) -> Iterator[c_ast.Node]:
    """Yield the statements of a function that are around the region."""
    start, tokens = names.given.start, names.function.file.tokens
    for item in body.block_items or []:
        begin, end = extent(item, tokens) if item.coord is not None else (start, start)
        if begin < start < end:
            yield from walk_tree(item)


def _step(node: c_ast.Node, names: Names) -> Expr | None:
    """Return how far the elements of an array move from the pointer that a statement changes."""
    match node:
        case c_ast.UnaryOp(op="--" | "p--"):
            return Int(1)
        case c_ast.UnaryOp(op="++" | "p++"):
            return Int(-1)
        case c_ast.Assignment(op="-=" | "+=" as op, rvalue=by):
            parts = [*walk_tree(by)]
            is_plain = all(isinstance(p, c_ast.ID | c_ast.Constant | c_ast.BinaryOp) for p in parts)
            latest = max((names.function.changes.get(n, -1) for n in names_in(by)), default=-1)
            if not is_plain or latest > offset(node):
                return None
            distance = Expressions(names).integer(by)
            return distance if op == "-=" else Negate(distance)
    return None


def refuse_shared(names: Names, nest: Nest, stability: Stability) -> None:
    """Refuse a variable that an array may hold, where the region writes either.

    An array may, when its pointer can have been given the variable's address and its subscripts
    stay inside it, or when the function itself has taken the address. A pointer variable of the
    file may itself be written over, as characters.

    Raises:
        AnnotuneError: There is such a pair.
    """
    if names.given.are_disjoint:
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
    for name in sorted({*names.used.scalars, *names.used.arrays}):
        symbol = names.find(name)
        if symbol is None or symbol.storage == "region" or not _is_variable(symbol):
            continue
        is_kept = name in stability.kept
        if not is_kept and symbol.storage != "file":
            continue
        own = StoredName(_POINTER if symbol.is_array else symbol.base)
        changed = written - names.used.arrays.keys() if symbol.is_array else written
        for array in names.used.arrays.values():
            # An int holds four elements of an array of characters.
            is_inside = is_kept or array.name not in moved or "char" in array.base
            shares = array.name != name and may_share(names.place_of(array), own)
            if is_inside and shares and ({name} & changed or array.name in written):
                span = names.function.file.source.span(array.start, array.end)
                raise AnnotuneError.of(MAY_BE_ELEMENT.at(span, name=name, array=array.name))


# The type of a variable that is a pointer; arrays hold none.
_POINTER = "void *"


def _is_variable(symbol: Symbol) -> bool:
    """Return whether a name is one value in memory that may change: a number or a pointer."""
    if symbol.is_array:
        return symbol.layers[0].kind == "*"
    return not symbol.is_const


def _extent(layer: Layer, expressions: Expressions) -> Expr | None:
    dim = layer.dim
    # [*] and [] say nothing.
    if layer.kind == "*" or dim is None or (isinstance(dim, c_ast.ID) and dim.name == "*"):
        return None
    names = expressions.names
    value = names.fixed_value(dim) if has_sizeof(dim) else None
    if value is None:
        found = expressions.integer(dim)
        if from_expr(found) is not None:
            return found
        # No polynomial tells where a row of N / 2 * 2 + 1 elements ends, but its number does.
        value = names.fixed_value(dim)
    return found if value is None else Int(value)


def _row_lengths(
    symbol: Symbol, extents: Sequence[Expr | None], names: Names
) -> Iterator[Assertion]:
    """Yield what must hold of rows whose lengths the nest has as numbers.

    Those that the file itself gives as numbers stay.
    """
    included = names.function.file.clean.included
    for depth in reversed(range(1, len(extents))):
        dim, extent_given = symbol.layers[depth].dim, extents[depth]
        length = None if extent_given is None else fold(extent_given)
        if not isinstance(length, Int) or dim is None:
            return
        if dim.coord is None:
            # The numbers of a struct, which has assertions of its own.
            continue
        place = offset(dim)
        is_own = not any(one.start <= place <= one.end for one in included)
        if isinstance(dim, c_ast.Constant) and is_own:
            continue
        name = names.function.scope.spelled(symbol.name)
        row = name + "[0]" * depth
        said = f"a row of {row if depth > 1 else name} has {length.value} elements"
        yield Assertion(f"sizeof {row} / sizeof {row}[0] == {length.value}", said)


def constant_lengths(names: Names, arrays: Iterable[Array]) -> Mapping[str, Assertion]:
    """Return what the macros and enumerators are in the extents of array objects."""
    known = names.function.scope.enumerators
    used = {
        name: names.used.scalars[name].value
        for array in arrays
        for extent in (() if array.is_pointer else array.extents)
        for name in sorted(variables(extent) if extent is not None else ())
        if name in names.used.scalars and (names.used.scalars[name].is_macro or name in known)
    }
    spelled = {n: names.function.scope.spelled(n) for n in used}
    found = ((n, spelled[n], v) for n, v in used.items() if v is not None)
    return {n: Assertion(f"{own} == {v}", f"{own} is {v}") for n, own, v in found}


def _parameter(symbol: Symbol, extents: tuple[Expr | None, ...]) -> str:
    """Return the declaration that passes an array to a function."""
    element = f"const {symbol.base}" if symbol.is_const else symbol.base
    brackets = [f"[{print_expr(e)}]" if e is not None else "[]" for e in extents]
    if len(extents) == 1 and symbol.layers[0].kind == "*":
        return f"{element} *{symbol.name}"
    if symbol.layers[0].kind == "*":
        return f"{element} (*{symbol.name})" + "".join(brackets[1:])
    return f"{element} {symbol.name}" + "".join(brackets)


def _origin(symbol: Symbol, names: Names) -> tuple[str, int]:
    """Return the array that a pointer points into and the offset there, in elements.

    ``double *b = a + 1;`` gives ``("a", 1)``. The text says it where the pointer is set once,
    before the region, to a constant place of an array that stays; ``("", 0)`` elsewhere.
    """
    seen = {symbol.name}
    offset = 0
    while True:
        source = _only_source(symbol, names)
        found = _place(source, names) if source is not None else None
        root = names.find(found[0]) if found is not None else None
        if found is None or root is None or root.name in seen or not _is_alike(symbol, root):
            break
        if root.name in names.function.changes and _only_source(root, names) is None:
            break
        seen.add(root.name)
        symbol, offset = root, offset + found[1]
    return (symbol.name, offset) if len(seen) > 1 else ("", 0)


def _is_alike(pointer: Symbol, root: Symbol) -> bool:
    """Return whether both are plain sequences of one type, the root declared first."""
    plain = len(pointer.layers) == len(root.layers) == 1
    return plain and pointer.base == root.base and root.start < pointer.start


def _only_source(symbol: Symbol, names: Names) -> c_ast.Node | None:
    if symbol.storage != "local" or not symbol.is_pointer:
        return None
    sources: list[c_ast.Node | None] = [] if symbol.init is None else [symbol.init]
    for node in changes_of(names.function.body).get(symbol.name, ()):
        is_plain = isinstance(node, c_ast.Assignment) and node.op == "="
        is_before = is_plain and offset(node) < names.given.start
        sources.append(node.rvalue if is_before and isinstance(node, c_ast.Assignment) else None)
    return sources[0] if len(sources) == 1 else None


def _place(node: c_ast.Node, names: Names) -> tuple[str, int] | None:
    """Return the array and the constant offset of ``a``, ``a + 1``, ``&a[1]`` or a cast of them."""
    match node:
        case c_ast.ID():
            symbol = names.find(node.name)
            return (node.name, 0) if symbol is not None and symbol.is_array else None
        case c_ast.Cast():
            return _place(node.expr, names)
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
            return _moved(_place(element.name, names), element.subscript, 1, names)
        case c_ast.BinaryOp(op="+" | "-" as op):
            sign = 1 if op == "+" else -1
            return _moved(_place(node.left, names), node.right, sign, names)
    return None


def _moved(
    start: tuple[str, int] | None, by: c_ast.Node, sign: int, names: Names
) -> tuple[str, int] | None:
    value = names.fixed_value(by)
    return None if start is None or value is None else (start[0], start[1] + sign * value)


def derived_from(names: Names, aliases: Sequence[Alias]) -> frozenset[str]:
    """Return the ``restrict`` pointers from which other pointers of the function may be made.

    What ``b = a + k`` points to may be reached through both names (C11 6.7.3.1).
    """
    mentioned = _sources_of(names.function.body)
    found: set[str] = set()
    for name in mentioned:
        symbol = names.find(name)
        if symbol is not None and symbol.is_pointer and not symbol.is_restrict:
            found |= reached(mentioned[name], lambda other: mentioned.get(other, set()))
    members = {alias.name: alias.key for alias in aliases}
    return frozenset(found) | {alias for alias, member in members.items() if member in found}


@once_for_each(MOST_FUNCTIONS)
def _sources_of(body: c_ast.Node) -> Mapping[str, set[str]]:
    """Return the names in what each variable of a function is set to."""
    mentioned: defaultdict[str, set[str]] = defaultdict(set)
    for node in index_of(body).nodes:
        match node:
            case c_ast.Decl(name=str() as name, init=c_ast.Node() as value) if name:
                mentioned[name].update(_mentions(value))
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
                mentioned[name].update(_mentions(node.rvalue))
            case c_ast.FuncCall(args=c_ast.ExprList() as arguments):
                # A call may store one of its arguments behind another: get(&b, a).
                for argument in arguments.exprs:
                    if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
                        for name in _mentions(argument.expr):
                            mentioned[name].update(_mentions(arguments))
    return mentioned


def _mentions(node: c_ast.Node) -> Iterator[str]:
    """Yield the names in an expression that are evaluated."""
    waiting = [node]
    while waiting:
        match waiting.pop():
            case c_ast.ID(name=name):
                yield name
            case c_ast.UnaryOp(op="sizeof"):
                pass
            case one:
                waiting += [*one][::-1]
