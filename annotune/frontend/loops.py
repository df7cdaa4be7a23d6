"""The header of a ``for`` loop, normalised to ``var in lower:upper step n``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotune.diagnostics import AnnotuneError, Span
from annotune.frontend import messages
from annotune.frontend.expressions import Expressions
from annotune.frontend.extent import walk
from annotune.frontend.names import Names
from annotune.frontend.symbols import INTEGERS, NARROW, Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.expr import Binary, Expr, Int
from annotune.ir.fold import fold

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Header:
    """A counted loop's header; `symbol` is its iterator."""

    symbol: Symbol
    lower: Expr
    upper: Expr
    step: int


def iterator_of(loop: Any) -> tuple[str, Any, Any] | None:
    """Return a loop's iterator, its start, and the node to point at; None without one."""
    first = loop.init
    if isinstance(first, c_ast.DeclList) and len(first.decls) == 1:
        decl = first.decls[0]
        return (decl.name, decl.init, decl) if decl.init is not None else None
    if isinstance(first, c_ast.Assignment) and isinstance(first.lvalue, c_ast.ID):
        return (first.lvalue.name, first.rvalue, first.lvalue) if first.op == "=" else None
    return None


def header(loop: Any, expressions: Expressions) -> Header:
    """Return the normal form of a loop's header, or raise why it has none.

    The iterator must be declared already when the header itself declares it.
    """
    names = expressions.names
    started = iterator_of(loop)
    if started is None:
        if loop.init is None:
            raise AnnotuneError.of(messages.LOOP_START.at(_name_span(loop, names)))
        raise expressions.refuse(messages.LOOP_START, loop.init)
    var, start, place = started
    if var in names.iterators:
        raise AnnotuneError.of(messages.ITERATOR_REUSED.at(_name_span(place, names), var=var))
    symbol = names.symbol(c_ast.ID(var, place.coord))
    if symbol.is_array or symbol.base not in INTEGERS or symbol.base in NARROW:
        span = _name_span(place, names)
        raise AnnotuneError.of(messages.ITERATOR_TYPE.at(span, var=var, type=symbol.base))
    names.use(symbol)
    step = _step(loop, var, expressions)
    op, bound = _condition(loop, var, expressions)
    if any(isinstance(n, c_ast.ID) and n.name == var for n in walk(bound)):
        raise expressions.refuse(messages.LOOP_CONDITION, loop.cond, var=var)
    _check_changes(loop, var, expressions)
    lower, upper = _bound(start, var, expressions), _bound(bound, var, expressions)
    if op == "<=":
        upper = fold(Binary("+", upper, Int(1)))
    return Header(symbol, lower, upper, step)


def _name_span(place: Any, names: Names) -> Span:
    """Return the place of a declared name, an identifier or a statement's keyword."""
    return names.file.source.span(place.coord.line, place.coord.column)


def _step(loop: Any, var: str, expressions: Expressions) -> int:
    """Return the positive constant by which a loop advances."""
    advance = loop.next
    if advance is None:
        raise expressions.refuse(messages.LOOP_STEP, loop.init, var=var)
    match advance:
        case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=name)) if name == var:
            return 1
        case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=name)) if name == var:
            raise expressions.refuse(messages.COUNTS_DOWN, advance, var=var)
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=name)) if name == var:
            by = _constant(advance.rvalue, expressions)
            step = by if by is None or op == "+=" else -by
        case c_ast.Assignment(
            op="=", lvalue=c_ast.ID(name=name), rvalue=c_ast.BinaryOp(op="+" | "-" as op) as moved
        ) if name == var:
            step = _moved(moved, var, op, expressions)
        case _:
            raise expressions.refuse(messages.LOOP_STEP, advance, var=var)
    if step is not None and step < 0:
        raise expressions.refuse(messages.COUNTS_DOWN, advance, var=var)
    if not step:
        raise expressions.refuse(messages.LOOP_STEP, advance, var=var)
    return step


def _moved(moved: Any, var: str, op: str, expressions: Expressions) -> int | None:
    """Return the step of ``i = i + 2`` or ``i = 2 + i``, None when it is not constant."""
    left, right = moved.left, moved.right
    if op == "+" and not (isinstance(left, c_ast.ID) and left.name == var):
        left, right = right, left
    if not (isinstance(left, c_ast.ID) and left.name == var):
        return None
    by = _constant(right, expressions)
    return -by if by is not None and op == "-" else by


def _constant(node: Any, expressions: Expressions) -> int | None:
    """Return the value of a step that C fixes, None for any other."""
    names = expressions.names
    known = dict(names.file_scope.enumerators)
    for name in (n.name for n in walk(node) if isinstance(n, c_ast.ID)):
        symbol = names.find(name)
        if symbol is not None and symbol.value is not None:
            known[name] = symbol.value
        elif symbol is not None:
            known.pop(name, None)
    return names.file.value(node, known)


def _condition(loop: Any, var: str, expressions: Expressions) -> tuple[str, Any]:
    """Return ``<`` or ``<=`` and the bound of a loop's condition."""
    condition = loop.cond
    if condition is None:
        raise expressions.refuse(messages.LOOP_CONDITION, loop.init, var=var)
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _MIRRORED:
        raise expressions.refuse(messages.LOOP_CONDITION, condition, var=var)
    op, left, right = condition.op, condition.left, condition.right
    if not (isinstance(left, c_ast.ID) and left.name == var):
        op, left, right = _MIRRORED[op], right, left
    if not (isinstance(left, c_ast.ID) and left.name == var):
        raise expressions.refuse(messages.LOOP_CONDITION, condition, var=var)
    if op.startswith(">"):
        raise expressions.refuse(messages.COUNTS_DOWN, condition, var=var)
    return op, right


def _bound(node: Any, var: str, expressions: Expressions) -> Expr:
    for inner in walk(node):
        if isinstance(inner, c_ast.ArrayRef) or (
            isinstance(inner, c_ast.UnaryOp) and inner.op == "*"
        ):
            name = expressions.text(inner.name if isinstance(inner, c_ast.ArrayRef) else inner.expr)
            raise expressions.refuse(messages.BOUND_READS_ARRAY, inner, var=var, name=name)
    return expressions.integer(node)


def _check_changes(loop: Any, var: str, expressions: Expressions) -> None:
    """Refuse a loop whose iterator or bound its own body changes."""
    changed = expressions.assigned(loop.stmt)
    if var in changed:
        inner_loops = [n for n in walk(loop.stmt) if isinstance(n, c_ast.For)]
        reused = [f for f in map(iterator_of, inner_loops) if f and f[0] == var]
        if reused and not isinstance(reused[0][2], c_ast.Decl):
            raise expressions.refuse(messages.ITERATOR_REUSED, reused[0][2], var=var)
        raise expressions.refuse(messages.ITERATOR_CHANGES, changed[var], var=var)
    for name in sorted(n.name for n in walk(loop.cond) if isinstance(n, c_ast.ID)):
        if name in changed:
            raise expressions.refuse(messages.BOUND_CHANGES, changed[name], name=name, var=var)
