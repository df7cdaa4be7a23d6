"""The arrays of a region, from their declarations.

Integers that a function computes once before a region, as formulas of what they are made of.

``const int w = x_max + 4;`` in front of a nest over ``a[k*w + j]`` proves for all sizes what
``w`` alone does not: that a row holds every ``j``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotune.diagnostics import NOWHERE, AnnotuneError
from annotune.frontend.lower.expressions import Expressions
from annotune.frontend.lower.names import Formula, Names
from annotune.frontend.lower.stability import Stability
from annotune.frontend.messages import MAY_BE_ELEMENT, SIZE_CHANGES, TWO_MEANINGS
from annotune.frontend.read.syntax import c_ast, walk_tree
from annotune.frontend.types.kinds import (
    Typed,
    goes_round,
    is_integer,
    keeps_values,
    may_wrap,
    width,
)
from annotune.frontend.types.symbols import Layer, Symbol
from annotune.ir.c_types import StoredName, may_share
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Var,
    accesses,
    children,
    print_expr,
    variables,
)
from annotune.ir.expr import walk as walk_expr
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
        for node in walk_tree(layer.dim) if layer.dim is not None else ():
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


_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Switch)
_PLAIN = (Int, Var, Negate, Binary)


def definitions(
    body: Any, statements: Sequence[Any], names: Names, given: Iterable[str], region_start: int
) -> dict[str, Any]:
    """Return the syntax tree that each integer of a region is set to, once and for all.

    Left out are the `given` names, which have values of their own, and what may have changed
    since, as `Stability` tells.
    """
    if any(isinstance(node, _JUMPS) for node in walk_tree(body)):
        # A jump may leave out an assignment that the text shows.
        return {}
    found = _single_assignments(body, region_start)
    stability = Stability.of(body, names, region_start)
    kept: dict[str, Any] = {}
    waiting = [
        n.name for n in walk_tree(c_ast.Compound(list(statements))) if isinstance(n, c_ast.ID)
    ]
    waiting += _names_in_extents(waiting, names)
    seen = set(given)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        symbol = names.find(name)
        if name not in found or symbol is None or not symbol.is_integer:
            continue
        value, place = found[name]
        if symbol.value is None and _holds(symbol, value, place, stability):
            kept[name] = value
            waiting += [n.name for n in walk_tree(value) if isinstance(n, c_ast.ID)]
    return kept


def _holds(symbol: Symbol, value: Any, place: int, stability: Stability) -> bool:
    """Return whether a variable that is set at `place` alone still is what `value` is."""
    if not stability.is_alone(symbol):
        return False
    if stability.is_in_memory(symbol) and stability.memory_changes(place):
        return False
    return stability.keeps(value, place)


def learn(formulas: Mapping[str, Any], names: Names) -> None:
    """Give `names` the formula of each defined integer that is one of sums and products."""
    waiting = dict(formulas)
    while waiting:
        # A definition may use others, which are read first.
        ready = [
            name
            for name, value in waiting.items()
            if not any(isinstance(n, c_ast.ID) and n.name in waiting for n in walk_tree(value))
        ]
        if not ready:
            return
        for name in ready:
            value = waiting.pop(name)
            noted = dict(names.arrays), dict(names.scalars), dict(names.meanings)
            called = dict(names.functions)
            formula = _formula(name, value, names)
            if formula is not None:
                names.formulas[name] = formula
            else:
                # The region does not use what the definition is made of.
                names.arrays, names.scalars, names.meanings = noted
                names.functions = called


def _formula(name: str, value: Any, names: Names) -> Formula | None:
    """Return the formula of a defined integer, None where it is none of sums and products."""
    try:
        read, exact, computed = _read(value, names)
    except AnnotuneError:
        return None
    type_ = _symbol(name, names).base
    is_plain = _is_polynomial(read.expr) and not goes_round(read.expr)
    if not is_plain or not keeps_values(read.kind, type_):
        return None
    is_plain = not may_wrap(exact.expr)
    kept = read.expr if is_plain else exact.expr
    if is_plain and width(type_) == 64:
        # With its casts: a product of ints may be no int.
        kept = computed.expr
    if type_ != "int" and (is_plain or exact.kind != type_):
        kept = Call(f"({type_})", (kept,))
    return Formula(read.expr, kept)


def _read(value: Any, names: Names) -> tuple[Typed, Typed, Typed]:
    """Return a definition as a plain number, as one with what goes round, and as C has it."""
    expressions = Expressions(names)
    with expressions.index():
        read, exact = expressions.value(value), expressions.exact_value(value)
    return read, exact, expressions.value(value)


def declarations(statements: Sequence[Any], names: Names, defined: Iterable[str]) -> list[str]:
    """Return C for the integers that a region's text mentions and its nest does not.

    Their values are what the text itself sets, or the formulas of those in `defined`.
    """
    out: list[str] = []
    fixed = {name: names.formulas[name].index for name in defined if name in names.formulas}
    for node in walk_tree(c_ast.Compound(list(statements))):
        name = node.name if isinstance(node, c_ast.ID) else ""
        symbol = names.find(name) if name else None
        if symbol is None or not symbol.is_integer or symbol.storage == "region":
            continue
        if name in names.scalars or names.constant(name, node.coord.line, NOWHERE) is not None:
            continue
        value = f" = {print_expr(fixed[name])}" if name in fixed else ""
        out.append(f"{symbol.base} {name}{value};")
    return list(dict.fromkeys(out))


def set_in_text(statements: Sequence[Any], names: Names, nest: Nest) -> tuple[str, ...]:
    """Return the integers that a region's text sets and its nest knows as formulas alone."""
    known = names.assigned | {loop.var for loop in nest.loops()}
    out: list[str] = []
    for node in walk_tree(c_ast.Compound(list(statements))):
        name = node.name if isinstance(node, c_ast.ID) else ""
        if name in known or name not in names.written | names.loop_names:
            continue
        symbol = names.find(name)
        if symbol is not None and symbol.is_integer and symbol.storage != "region":
            out.append(name)
    return tuple(dict.fromkeys(out))


def _symbol(name: str, names: Names) -> Symbol:
    symbol = names.find(name)
    assert symbol is not None, "a definition has a declaration"
    return symbol


def _is_polynomial(expr: Expr) -> bool:
    return all(
        isinstance(e, _PLAIN) and (not isinstance(e, Binary) or e.op in ("+", "-", "*"))
        for e in walk_expr(expr)
    )


def _single_assignments(body: Any, region_start: int) -> dict[str, tuple[Any, int]]:
    """Return the value of each variable that is set exactly once, and where."""
    found: dict[str, list[tuple[Any, int]]] = {}
    top = {id(item) for item in body.block_items or []}
    for node in walk_tree(body):
        if isinstance(node, c_ast.Decl) and node.name and node.init is not None:
            found.setdefault(node.name, []).append((node.init, node.coord.line))
        elif isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
            # Under an if or in a loop it may never run.
            is_plain = node.op == "=" and id(node) in top
            value = node.rvalue if is_plain else None
            found.setdefault(node.lvalue.name, []).append((value, node.lvalue.coord.line))
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--", "&"):
            for inner in walk_tree(node.expr):
                if isinstance(inner, c_ast.ID):
                    found.setdefault(inner.name, []).append((None, -1))
    return {
        name: sets[0]
        for name, sets in found.items()
        if len(sets) == 1 and sets[0][0] is not None and sets[0][1] < region_start
    }


def _names_in_extents(used: Iterable[str], names: Names) -> list[str]:
    out: list[str] = []
    for name in used:
        symbol = names.find(name)
        for layer in symbol.layers if symbol is not None else ():
            if layer.dim is not None:
                out += [n.name for n in walk_tree(layer.dim) if isinstance(n, c_ast.ID)]
    return out
