"""Which variables a function may read after a region, by their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from annotune.frontend.extent import start_of, walk
from annotune.frontend.syntax import c_ast

_NONE: frozenset[str] = frozenset()
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Switch)


def read_after(body: Any, region: Sequence[Any]) -> frozenset[str]:
    """Return the names that may be read after the statements `region` of a function's body.

    The answer errs on the side of yes: a name whose address is taken, or any name at all
    in a function with ``goto``, labels or ``switch``, counts when it is mentioned. A static
    variable is read after the function where a call may read it before it writes it.
    """
    mentioned = frozenset(n.name for n in walk(body) if isinstance(n, c_ast.ID))
    declared = Counter(n.name for n in walk(body) if isinstance(n, c_ast.Decl) and n.name)
    is_hidden = any(declared[name] > 1 for name in _static(body))
    if is_hidden or any(isinstance(n, _JUMPS) for n in walk(body)):
        return mentioned
    at_entry = _Live(body, region, _NONE).statement(body, _NONE, _NONE, _NONE)
    live = _Live(body, region, at_entry & _static(body))
    live.statement(body, live.kept, _NONE, _NONE)
    return live.after | addressed(body)


def _static(body: Any) -> frozenset[str]:
    """Return the variables of a function that keep their value from one call to the next."""
    return frozenset(n.name for n in walk(body) if _is_static(n) and n.name)


def _is_static(node: Any) -> bool:
    return isinstance(node, c_ast.Decl) and "static" in (node.storage or [])


def addressed(body: Any) -> frozenset[str]:
    """Return the names whose address a function takes with ``&``."""
    return frozenset(
        n.expr.name
        for n in walk(body)
        if isinstance(n, c_ast.UnaryOp) and n.op == "&" and isinstance(n.expr, c_ast.ID)
    )


class _Live:
    """Backward liveness over structured C; each method takes what is live after a node.

    `leaves` is live where ``break`` goes, `again` where ``continue`` goes, and `kept` where the
    function ends.
    """

    def __init__(self, body: Any, region: Sequence[Any], kept: frozenset[str]) -> None:
        self.last = region[-1]
        self.kept = kept
        self.after: frozenset[str] = _NONE
        start = start_of(self.last)
        self.around = {
            id(n) for n in walk(body) if isinstance(n, _LOOPS) and self._holds_region(n, start)
        }

    def _holds_region(self, loop: Any, start: int) -> bool:
        # Loops that start later hold no earlier statement.
        return start_of(loop) <= start and any(n is self.last for n in walk(loop))

    def statement(
        self,
        node: Any,
        live: frozenset[str],
        leaves: frozenset[str],
        again: frozenset[str],
    ) -> frozenset[str]:
        """Return what is live before `node`."""
        if node is self.last:
            self.after |= live
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef():
                return live
            case c_ast.Compound():
                return self.block(node.block_items or [], live, leaves, again)
            case c_ast.If():
                if_true = self.statement(node.iftrue, live, leaves, again)
                if_false = self.statement(node.iffalse, live, leaves, again)
                return if_true | if_false | reads(node.cond)
            case c_ast.While():
                return self.loop(node, node.cond, None, live)
            case c_ast.DoWhile():
                return self.loop(node, node.cond, None, live) | reads(node.cond)
            case c_ast.For():
                declared = _declared([node.init])
                inside = self.loop(node, node.cond, node.next, live)
                inside = self.statement(node.init, inside, leaves, again)
                return (inside - declared) | (live & declared)
            case c_ast.DeclList():
                for decl in reversed(node.decls):
                    live = self.statement(decl, live, leaves, again)
                return live
            case c_ast.Decl():
                return live | reads(node.init) | reads(node.type)
            case c_ast.Assignment() if isinstance(node.lvalue, c_ast.ID):
                kept = live - {node.lvalue.name} if node.op == "=" else live | {node.lvalue.name}
                return kept | reads(node.rvalue)
            case c_ast.ExprList():
                for expression in reversed(node.exprs):
                    live = self.statement(expression, live, leaves, again)
                return live
            case c_ast.Break():
                return leaves
            case c_ast.Continue():
                return again
            case c_ast.Return():
                return reads(node.expr) | self.kept
        return live | reads(node)

    def block(
        self,
        items: Sequence[Any],
        live: frozenset[str],
        leaves: frozenset[str],
        again: frozenset[str],
    ) -> frozenset[str]:
        # A variable of the block hides one of the same name, which lives on unseen.
        declared = _declared(items)
        inside = live
        for item in reversed(items):
            inside = self.statement(item, inside, leaves, again)
        return (inside - declared) | (live & declared)

    def loop(self, node: Any, cond: Any, advance: Any, live: frozenset[str]) -> frozenset[str]:
        """Return what is live before the condition of a loop: it may run or be left there."""
        before = live | reads(cond)
        again = self.statement(advance, before, live, live)
        before |= self.statement(node.stmt, again, live, again)
        if id(node) in self.around:
            # What a body makes live does not depend on what is live after it, so one pass finds
            # all; the second lets the region see what the next iteration reads.
            again = self.statement(advance, before, live, live)
            self.statement(node.stmt, again, live, again)
        return before


def _declared(items: Sequence[Any]) -> frozenset[str]:
    names: set[str] = set()
    for item in items:
        if isinstance(item, c_ast.DeclList):
            names |= _declared(item.decls)
        elif isinstance(item, c_ast.Decl) and item.name and not _is_static(item):
            names.add(item.name)
    return frozenset(names)


def reads(node: Any) -> frozenset[str]:
    """Return the names in an expression, all of which it may read."""
    if node is None:
        return _NONE
    return frozenset(n.name for n in walk(node) if isinstance(n, c_ast.ID))
