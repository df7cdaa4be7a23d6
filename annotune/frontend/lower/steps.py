"""Steps in the middle of an expression as statements: ``a[k++] = x`` is ``a[k] = x; k++``.

What `++` before a variable gives is what it holds once it has moved, what `++` behind it gives is
what it held before (C11 6.5.2.4, 6.5.3.1). So the one may move before the statement and the other
behind it, as far as the statement names the variable once and computes the step whenever it runs:
no other part of it may see whether the variable has moved, as C has it (6.5). A condition is
computed before its branches, so that none of its steps moves behind it.

What stands before a comma is done before what stands behind it, and no other part of the statement
may see whether it is done (6.5.17, 6.5): ``y = (d = x, d + 1)`` is ``d = x; y = d + 1;`` where the
statement computes it whenever it runs.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from annotune.frontend.lower.names import Names
from annotune.frontend.read.syntax import STEPS, changed_by, names_in, replace_nodes, walk_tree


def stepped(statements: Sequence[c_ast.Node], names: Names) -> Sequence[c_ast.Node]:
    """Return statements none of which steps a number while it computes something else.

    Where C leaves open what the number is, or a condition in the expression decides whether it
    moves, the step stays, and is refused. The given tree stays as it is.
    """
    blocks = (c_ast.Compound, c_ast.For, c_ast.While, c_ast.If, c_ast.Label, c_ast.ExprList)
    nodes = (node for item in statements for node in walk_tree(item))
    if not any(_stepped(part) for n in nodes if not isinstance(n, blocks) for part in n):
        return statements

    def is_array(name: str) -> bool:
        symbol = names.find(name)
        return symbol is not None and symbol.is_array

    block = c_ast.Compound(copy.deepcopy(list(statements)))
    return [part for item in block.block_items or [] for part in _statement(item, is_array)]


def sequenced(statements: Sequence[c_ast.Node]) -> Sequence[c_ast.Node]:
    """Return statements in which what stands before a comma is a statement of its own.

    A comma behind a condition in the expression stays, and is refused. The given tree stays as it
    is.
    """
    if not any(map(_comma, (n for item in statements for n in walk_tree(item)))):
        return statements
    block = c_ast.Compound(copy.deepcopy(list(statements)))
    return [part for item in block.block_items or [] for part in _in_sequence(item)]


def _comma(node: c_ast.Node) -> c_ast.ExprList | None:
    """Return the commas in an operand of a node, None where there is none."""
    is_call = isinstance(node, c_ast.FuncCall | c_ast.For | c_ast.Compound)
    found = [] if is_call else [n for n in node if isinstance(n, c_ast.ExprList)]
    return found[0] if found else None


def _in_sequence(node: c_ast.Node) -> list[c_ast.Node]:
    """Return what becomes of a statement."""

    def within(inner: c_ast.Node) -> c_ast.Node:
        made = _in_sequence(inner)
        return made[0] if len(made) == 1 else c_ast.Compound(made, inner.coord)

    match node:
        case c_ast.Compound():
            items = node.block_items or []
            node.block_items = [part for item in items for part in _in_sequence(item)]
        case c_ast.ExprList() | c_ast.DeclList():
            return [part for item in node for part in _in_sequence(item)]
        case c_ast.For() | c_ast.Label():
            node.stmt = within(node.stmt)
        case c_ast.If():
            holder = c_ast.UnaryOp("!", node.cond, node.cond.coord)
            first = _before(holder)
            node.cond, node.iftrue = holder.expr, within(node.iftrue)
            node.iffalse = None if node.iffalse is None else within(node.iffalse)
            return [*first, node]
        case c_ast.Assignment() | c_ast.Decl() | c_ast.UnaryOp():
            return [*_before(node), node]
    return [node]


def _before(node: c_ast.Node) -> list[c_ast.Node]:
    """Take what stands before commas out of an expression, and return it in order."""
    found: list[c_ast.Node] = []
    while (comma := _comma(node)) is not None and any(part is comma for part in _sure(node)):
        *others, last = comma.exprs
        for other in others:
            found += _before(other)
            if any(changed_by(part) is not None for part in walk_tree(other)):
                found.append(other)
        _replace(node, comma, last)
    for part in _sure(node):
        found += _before(part)
    return found


def _replace(node: c_ast.Node, old: c_ast.Node, new: c_ast.Node) -> None:
    replace_nodes(node, lambda part: new if part is old else None)


def always(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield the parts of an expression that are evaluated whenever it is."""
    yield node
    for part in _sure(node):
        yield from always(part)


def _sure(node: c_ast.Node) -> list[c_ast.Node]:
    """Return the operands that are evaluated whenever an expression is."""
    match node:
        case c_ast.TernaryOp():
            return [node.cond]
        case c_ast.BinaryOp(op="&&" | "||"):
            return [node.left]
        case c_ast.UnaryOp(op="sizeof"):
            return []
    return [*node]


def _statement(node: c_ast.Node, is_array: Callable[[str], bool]) -> list[c_ast.Node]:
    """Return what becomes of a statement."""

    def within(inner: c_ast.Node) -> c_ast.Node:
        made = _statement(inner, is_array)
        return made[0] if len(made) == 1 else c_ast.Compound(made, inner.coord)

    match node:
        case c_ast.Compound():
            items = node.block_items or []
            node.block_items = [part for item in items for part in _statement(item, is_array)]
        case c_ast.ExprList() | c_ast.DeclList():
            return [part for item in node for part in _statement(item, is_array)]
        case c_ast.For() | c_ast.While() | c_ast.Label():
            node.stmt = within(node.stmt)
        case c_ast.If():
            first = [one for one in _steps(node.cond, is_array) if not one.op.startswith("p")]
            _name_alone(node, first)
            node.iftrue = within(node.iftrue)
            node.iffalse = None if node.iffalse is None else within(node.iffalse)
            return [*first, node]
        case c_ast.Assignment() | c_ast.Decl() | c_ast.UnaryOp():
            steps = _steps(node, is_array)
            _name_alone(node, steps)
            behind = [one for one in steps if one.op.startswith("p")]
            return [*(one for one in steps if one not in behind), node, *behind]
    return [node]


def _steps(node: c_ast.Node, is_array: Callable[[str], bool]) -> list[c_ast.UnaryOp]:
    """Return the steps in an expression, or in a statement that is one, that may move out of it."""
    mentioned = Counter(names_in(node))
    own = node.name if isinstance(node, c_ast.Decl) else None
    return [
        part
        for part in always(node)
        if part is not node
        and isinstance(part, c_ast.UnaryOp)
        and (name := _stepped(part))
        and mentioned[name] == 1
        and name != own
        and not is_array(name)
    ]


def _stepped(node: c_ast.Node) -> str | None:
    """Return the variable that an expression steps, None for another expression."""
    if isinstance(node, c_ast.UnaryOp) and node.op in STEPS and isinstance(node.expr, c_ast.ID):
        return node.expr.name
    return None


def _name_alone(node: c_ast.Node, steps: Sequence[c_ast.UnaryOp]) -> None:
    """Put the variables that move in the place of their steps."""
    moved = {id(step): step.expr for step in steps}
    replace_nodes(node, lambda part: copy.deepcopy(moved[id(part)]) if id(part) in moved else None)
