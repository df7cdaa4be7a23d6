"""Loops that count, written with ``while``, as ``for`` loops, and ``do`` that runs once as a block.

``while (k < n) { S; k++; }`` is ``for (; k < n; k++) { S; }``, and ``while (k-- > 0) S;`` is
``for (; k-- > 0;) S;``: the same statements in the same order, as long as no ``continue`` goes past
the step, and nothing that the step names is the body's own.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence

from pycparser import c_ast

from annotune.frontend.read.syntax import (
    HOLDERS,
    STEPS,
    changed_by,
    holds_place,
    names_in,
    replace_everywhere,
    walk_tree,
)
from annotune.ir.expr import COMPARISONS


def counted(statements: Sequence[c_ast.Node]) -> Sequence[c_ast.Node]:
    """Return statements with ``for`` loops for those that count; the given tree stays as it is."""
    kinds = (c_ast.While, c_ast.DoWhile)
    if not any(isinstance(n, kinds) for item in statements for n in walk_tree(item)):
        return statements
    block = c_ast.Compound(copy.deepcopy(list(statements)))
    count_loops(block)
    return block.block_items or []


def count_loops(body: c_ast.Compound, places: Collection[int] = ()) -> None:
    """Put ``for`` loops in the place of the loops of a function that count; the tree changes.

    Loops around one of the `places` in the text stay: a region there may have the step.
    """

    def counted_alone(node: c_ast.Node) -> c_ast.Node | None:
        found = _as_counted(node)
        return None if found is None or holds_place(node, places) else found

    replace_everywhere(body, counted_alone)


def stepping_part(condition: c_ast.Node | None) -> c_ast.UnaryOp | None:
    """Return the step that a loop's one comparison makes itself, ``i--`` in ``i-- > 0``."""
    sides = [condition]
    if isinstance(condition, c_ast.BinaryOp) and condition.op in COMPARISONS:
        sides = [condition.left, condition.right]
    steps = [s for s in sides if isinstance(s, c_ast.UnaryOp) and s.op in STEPS]
    return steps[0] if len(steps) == 1 and isinstance(steps[0].expr, c_ast.ID) else None


def _as_counted(node: c_ast.Node) -> c_ast.Node | None:
    """Return the ``for`` loop that a ``while`` is, None for another statement.

    What macros put into ``do { … } while (0)`` runs once, and is a block.
    """
    if isinstance(node, c_ast.DoWhile):
        is_once = isinstance(node.cond, c_ast.Constant) and node.cond.value == "0"
        return node.stmt if is_once and not _leaves_loop(node.stmt) else None
    if not isinstance(node, c_ast.While):
        return None
    if stepping_part(node.cond) is not None:
        return c_ast.For(None, node.cond, None, node.stmt, node.coord)
    items = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else []
    step = items[-1] if items else None
    target = changed_by(step) if step is not None else None
    if step is None or not isinstance(target, c_ast.ID) or target.name not in names_in(node.cond):
        return None
    if isinstance(step, c_ast.Assignment) and not _is_sum(step):
        return None
    rest = c_ast.Compound(items[:-1], node.stmt.coord)
    parts = list(walk_tree(rest))
    places = [changed_by(part) for part in parts]
    changed = {place.name for place in places if isinstance(place, c_ast.ID)}
    declared = {part.name for part in parts if isinstance(part, c_ast.Decl)}
    if target.name in changed or declared & set(names_in(step)) or _goes_on(rest):
        return None
    return c_ast.For(None, node.cond, step, rest, node.coord)


def _is_sum(step: c_ast.Assignment) -> bool:
    """Return whether an assignment may add something to what it changes."""
    is_plain = isinstance(step.rvalue, c_ast.BinaryOp) and step.rvalue.op in ("+", "-")
    return step.op in ("+=", "-=") or (step.op == "=" and is_plain)


def _leaves_loop(node: c_ast.Node) -> bool:
    """Return whether a statement has a ``break`` or a ``continue`` of the loop around it."""
    if isinstance(node, c_ast.Break | c_ast.Continue):
        return True
    if isinstance(node, c_ast.Switch):
        # A ``break`` leaves the switch, but a ``continue`` the loop.
        return _goes_on(node)
    is_loop = isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile)
    return not is_loop and isinstance(node, HOLDERS) and any(map(_leaves_loop, node))


def _goes_on(node: c_ast.Node) -> bool:
    """Return whether a statement has a ``continue`` of the loop around it, or a jump."""
    if isinstance(node, c_ast.Continue | c_ast.Goto | c_ast.Label):
        return True
    is_loop = isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile)
    if is_loop or not isinstance(node, HOLDERS):
        return any(isinstance(part, c_ast.Goto | c_ast.Label) for part in walk_tree(node))
    return any(map(_goes_on, node))
