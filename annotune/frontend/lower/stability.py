"""Which variables a function may read after a region, by their names.

Whether what a value is made of stays the same from one place of a function to its region.

Names are looked at one by one. Memory is looked at as a whole: a call, or a store of anything but
a real, may change every global, every member and whatever stands behind a pointer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotune.frontend.lower.library import own_meaning
from annotune.frontend.lower.names import Names
from annotune.frontend.read.syntax import c_ast, start_of, walk_tree
from annotune.frontend.types.kinds import COMPLEX
from annotune.frontend.types.symbols import REALS, Symbol
from annotune.ir.functions import FUNCTIONS

_NONE: frozenset[str] = frozenset()
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Switch)


def read_after(body: Any, region: Sequence[Any]) -> frozenset[str]:
    """Return the names that may be read after the statements `region` of a function's body.

    The answer errs on the side of yes: a name whose address is taken, or any name at all
    in a function with ``goto``, labels or ``switch``, counts when it is mentioned. A static
    variable is read after the function where a call may read it before it writes it.
    """
    mentioned = frozenset(n.name for n in walk_tree(body) if isinstance(n, c_ast.ID))
    declared = Counter(n.name for n in walk_tree(body) if isinstance(n, c_ast.Decl) and n.name)
    is_hidden = any(declared[name] > 1 for name in _static(body))
    if is_hidden or any(isinstance(n, _JUMPS) for n in walk_tree(body)):
        return mentioned
    at_entry = _Live(body, region, _NONE).statement(body, _NONE, _NONE, _NONE)
    live = _Live(body, region, at_entry & _static(body))
    live.statement(body, live.kept, _NONE, _NONE)
    return live.after | addressed(body)


def _static(body: Any) -> frozenset[str]:
    """Return the variables of a function that keep their value from one call to the next."""
    return frozenset(n.name for n in walk_tree(body) if _is_static(n) and n.name)


def _is_static(node: Any) -> bool:
    return isinstance(node, c_ast.Decl) and "static" in (node.storage or [])


def addressed(body: Any) -> frozenset[str]:
    """Return the names whose address a function takes with ``&``."""
    return frozenset(
        n.expr.name
        for n in walk_tree(body)
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
            id(n) for n in walk_tree(body) if isinstance(n, _LOOPS) and self._holds_region(n, start)
        }

    def _holds_region(self, loop: Any, start: int) -> bool:
        # Loops that start later hold no earlier statement.
        return start_of(loop) <= start and any(n is self.last for n in walk_tree(loop))

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
    return frozenset(n.name for n in walk_tree(node) if isinstance(n, c_ast.ID))


_STEPS = ("++", "--", "p++", "p--")


@dataclass(frozen=True)
class Stability:
    """What the text of a function may change, and where; places are offsets into the file.

    `addressed` are the variables whose address is taken, `kept` those of them where it goes
    somewhere else than to a call. `declared` has the places at which each name is declared in
    the body, `stores` those of calls and stores that may change an integer in memory, `loops`
    the first and last place of each loop around the region.
    """

    names: Names
    addressed: frozenset[str]
    kept: frozenset[str]
    declared: Mapping[str, frozenset[int]]
    stores: tuple[int, ...]
    loops: tuple[tuple[int, int], ...]
    region_start: int

    @classmethod
    def of(cls, body: Any, names: Names, region_start: int) -> Stability:
        """Return what the function with this `body` may change around a region."""
        declared: defaultdict[str, set[int]] = defaultdict(set)
        for node in walk_tree(body):
            if isinstance(node, c_ast.Decl) and node.name:
                declared[node.name].add(names.file_scope.types.symbol(node, "local").start)
        spans = ((start_of(n), _last(n)) for n in walk_tree(body) if isinstance(n, _LOOPS))
        places = {name: frozenset(found) for name, found in declared.items()}
        return cls(
            names,
            addressed(body),
            _kept_addresses(body),
            places,
            tuple(_stores(body, names, places)),
            tuple((first, last) for first, last in spans if first <= region_start <= last),
            region_start,
        )

    def keeps(self, value: Any, place: int) -> bool:
        """Return whether an expression at `place` still has its value in the region."""
        in_memory = False
        for node in _parts(value):
            match node:
                case c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                    in_memory = True
                case c_ast.ID():
                    symbol = self.names.find(node.name)
                    if symbol is None:
                        continue  # a constant
                    if not self.is_alone(symbol) or not self._is_set_before(symbol, place):
                        return False
                    in_memory |= self.is_in_memory(symbol)
                case c_ast.FuncCall() | c_ast.ArrayRef() | c_ast.Assignment():
                    return False
                case c_ast.UnaryOp(op=op) if op in _STEPS:
                    return False
        return not (in_memory and self.memory_changes(place))

    def is_alone(self, symbol: Symbol) -> bool:
        """Return whether no other variable of the function has the same name."""
        return self.declared.get(symbol.name, frozenset()) <= {symbol.start}

    def is_in_memory(self, symbol: Symbol) -> bool:
        """Return whether a variable may change without being named."""
        if symbol.is_const:
            return False
        return symbol.storage in ("file", "static") or symbol.name in self.addressed

    def may_change_size(self, symbol: Symbol, place: int) -> bool:
        """Return whether memory may give a size of an array another value after `place`.

        A call is not taken to keep the address that it is given: ``scanf("%d", &n)``.
        """
        is_shared = symbol.storage in ("file", "static") and not symbol.is_const
        return (is_shared or symbol.name in self.kept) and self.memory_changes(place)

    def memory_changes(self, place: int) -> bool:
        """Return whether anything after `place` and before the region may change memory.

        In a loop around the region that starts later, all that follows comes before it, too.
        """
        is_again = any(first > place for first, _ in self.loops)
        return any(
            place <= store and (is_again or store < self.region_start) for store in self.stores
        )

    def _is_set_before(self, symbol: Symbol, place: int) -> bool:
        # Two statements of one macro stand at one place.
        return symbol.start < place and self.names.changes.get(symbol.name, -1) < place


def _last(node: Any) -> int:
    places = [n.coord.line for n in walk_tree(node) if getattr(n, "coord", None) is not None]
    return int(max(places))


def _parts(node: Any) -> Iterator[Any]:
    """Yield an expression and its operands; a member's name is none."""
    yield node
    for child in [node.name] if isinstance(node, c_ast.StructRef) else node:
        yield from _parts(child)


def _kept_addresses(body: Any) -> frozenset[str]:
    """Return the variables whose address goes somewhere else than straight to a call."""
    given = {id(a) for n in walk_tree(body) if isinstance(n, c_ast.FuncCall) for a in _arguments(n)}
    return frozenset(
        node.expr.name
        for node in walk_tree(body)
        if isinstance(node, c_ast.UnaryOp)
        and node.op == "&"
        and isinstance(node.expr, c_ast.ID)
        and id(node) not in given
    )


def _arguments(call: Any) -> Sequence[Any]:
    return call.args.exprs if call.args is not None else ()


def _stores(body: Any, names: Names, declared: Mapping[str, frozenset[int]]) -> Iterator[int]:
    """Yield the places of calls and stores that may change an integer in memory."""
    for node in walk_tree(body):
        target = None
        if isinstance(node, c_ast.FuncCall):
            if not _is_harmless(node.name, names):
                yield start_of(node)
        elif isinstance(node, c_ast.Assignment):
            target = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in _STEPS:
            target = node.expr
        if target is None or isinstance(target, c_ast.ID):
            continue
        if _may_be_integer(target, names, declared):
            yield start_of(target)


def _is_harmless(function: Any, names: Names) -> bool:
    """Return whether calls of a function change nothing."""
    name = function.name if isinstance(function, c_ast.ID) else ""
    return name in names.pure or (name in FUNCTIONS and not own_meaning(name, names))


def _may_be_integer(target: Any, names: Names, declared: Mapping[str, frozenset[int]]) -> bool:
    while isinstance(target, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.BinaryOp):
        match target:
            case c_ast.ArrayRef():
                target = target.name
            case c_ast.UnaryOp():
                target = target.expr
            case _:
                target = target.left
    symbol = names.find(target.name) if isinstance(target, c_ast.ID) else None
    if symbol is None or not declared.get(symbol.name, frozenset()) <= {symbol.start}:
        return True
    return symbol.base not in REALS | COMPLEX
