"""What the function around a region does: before it, as far as that holds in it, and after it.

Which variables it may read after the region, by their names. Whether what a value is made of stays
the same from one place to the region: names are looked at one by one, memory as a whole: a call, or
a store of anything but a real, may change every global, every member and whatever stands behind a
pointer. Integers that it computes once before the region, as formulas of what they are made of, and
the values that they have at the sizes that the region is tuned for.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from annotune.annotation.spec import Value
from annotune.diagnostics import NOWHERE, AnnotuneError
from annotune.frontend.lower.expressions import Expressions
from annotune.frontend.lower.libf2c import LIBRARY
from annotune.frontend.lower.names import IntegerFormula, Names, own_meaning
from annotune.frontend.read.function_index import (
    MOST_FUNCTIONS,
    MOST_STATEMENTS,
    Loop,
    index_of,
)
from annotune.frontend.read.syntax import (
    CHANGES,
    HOLDERS,
    STEPS,
    assigned_in,
    base_of,
    changed_by,
    is_table,
    last_of,
    names_in,
    offset,
    start_of,
    value_of_tree,
    walk_tree,
)
from annotune.frontend.types.kinds import COMPLEX, goes_round, keeps_values, width
from annotune.frontend.types.symbols import REALS, Symbol
from annotune.frozen import dataclass
from annotune.ir.ctype import named
from annotune.ir.expr import Binary, Cast, Expr, Int, Negate, Var, print_expr
from annotune.ir.expr import walk as walk_expr
from annotune.ir.functions import FUNCTIONS
from annotune.ir.identity import once_for_each
from annotune.ir.nest import Nest
from annotune.ir.region import Alias
from annotune.ir.typing import has_narrowing_cast

_NONE: frozenset[str] = frozenset()
_NONE_OF_LOOPS: frozenset[int] = frozenset()


def read_after(body: c_ast.Compound, region: Sequence[c_ast.Node]) -> frozenset[str]:
    """Return the names that may be read after the statements `region` of a function's body.

    The answer errs on the side of yes: a name whose address is taken, or any name at all in a
    function with ``goto`` or ``switch`` and two variables of one name, counts when it is mentioned.
    A static variable is read after the function where a call may read it before it writes it.
    """
    return _liveness_of(body).after(region[-1])


class _Liveness:
    """What may be read after each statement of a function, followed once for all its regions."""

    def __init__(self, body: c_ast.Node) -> None:
        self.body = body
        self.index = index_of(body)
        declared = self.index.declarations
        # They keep their value from one call to the next.
        static = frozenset(n for n, decls in declared.items() if any(map(_is_static, decls)))
        # A jump out of a block may lead to where its names mean something else.
        hidden = declared if self.index.has_jumps else static
        self.every = reads(body) if any(len(declared[n]) > 1 for n in hidden) else None
        at_entry = _NONE if self.every is not None else _Live(_NONE, _NONE_OF_LOOPS).whole(body)
        self.kept = frozenset(name for name in at_entry if name.split(".")[0] in static)
        self.again = _NONE_OF_LOOPS
        self.found: Mapping[int, frozenset[str]] | None = None

    def after(self, statement: c_ast.Node) -> frozenset[str]:
        """Return the names that may be read after one of the function's statements."""
        if self.every is not None:
            return self.every
        around = frozenset(id(loop) for loop in self.index.loops_around(statement))
        if self.found is None or not around <= self.again:
            # Another region in other loops: likely there are more.
            outer = self.index.outer_loops() if self.found is not None else ()
            self.again |= around | frozenset(map(id, outer))
            live = _Live(self.kept, self.again)
            live.whole(self.body)
            self.found = live.after
        return self.found.get(id(statement), _NONE) | self.index.addressed


@once_for_each(MOST_FUNCTIONS)
def _liveness_of(body: c_ast.Node) -> _Liveness:
    return _Liveness(body)


def read_before_set(region: Sequence[c_ast.Node], after: frozenset[str] = _NONE) -> frozenset[str]:
    """Return the names that statements may read before they set them, members as `reads` does.

    The names in `after` are read behind the statements.
    """
    block = c_ast.Compound(list(region))
    return _Live(after, _NONE_OF_LOOPS).whole(block)


def _is_static(node: c_ast.Decl) -> bool:
    return "static" in (node.storage or []) and not is_table(node)


class _Live:
    """Backward liveness over structured C; each method takes what is live after a node.

    `leaves` is live where ``break`` goes, `again` where ``continue`` goes, and `kept` where the
    function ends; `labels` is what is known to be live where ``goto`` goes, `cases` where the
    ``switch`` goes that is being looked at. `after` is what is found to be live after each
    statement, by its identity: all of it where the loops around the statement are among those whose
    identities are in `loops`.
    """

    def __init__(self, kept: frozenset[str], loops: frozenset[int]) -> None:
        self.kept = kept
        self.loops = loops
        self.after: dict[int, frozenset[str]] = {}
        self.labels: dict[str, frozenset[str]] = {}
        self.cases: frozenset[str] | None = None

    def whole(self, body: c_ast.Node) -> frozenset[str]:
        """Return what is live before a function's body, its jumps followed as often as it takes."""
        while True:
            known = dict(self.labels)
            before = self.statement(body, self.kept, _NONE, _NONE)
            if self.labels == known:
                return before

    def statement(
        self,
        node: c_ast.Node | None,
        live: frozenset[str],
        leaves: frozenset[str],
        again: frozenset[str],
    ) -> frozenset[str]:
        """Return what is live before `node`."""
        if node is not None:
            known = self.after.get(id(node))
            self.after[id(node)] = live if known is None else known | live
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef():
                return live
            case c_ast.Compound():
                return self.block(node.block_items or [], live, leaves, again)
            case c_ast.If():
                if_true = self.statement(node.iftrue, live, leaves, again)
                if_false = self.statement(node.iffalse, live, leaves, again)
                return evaluated(node.cond, if_true | if_false)
            case c_ast.While():
                return self.loop(node, None, live)
            case c_ast.DoWhile():
                return self.loop(node, None, live) | reads(node.cond)
            case c_ast.For():
                declared = _declared([node.init] if node.init is not None else [])
                inside = self.loop(node, node.next, live)
                inside = self.statement(node.init, inside, leaves, again)
                return _without(inside, declared) | _of(live, declared)
            case c_ast.DeclList() | c_ast.ExprList():
                for part in reversed([*node]):
                    live = self.statement(part, live, leaves, again)
                return live
            case c_ast.Decl():
                return evaluated(node.init, live) | reads(node.type)
        return self.jump(node, live, leaves, again)

    def jump(
        self,
        node: c_ast.Node,
        live: frozenset[str],
        leaves: frozenset[str],
        again: frozenset[str],
    ) -> frozenset[str]:
        """Return what is live before a jump or where one leads to, or before an expression."""
        match node:
            case c_ast.Label():
                live = self.statement(node.stmt, live, leaves, again)
                self.labels[node.name] = live | self.labels.get(node.name, _NONE)
                return live
            case c_ast.Goto():
                return self.labels.get(node.name, _NONE)
            case c_ast.Switch():
                return self.switch(node, live, again)
            case c_ast.Case() | c_ast.Default():
                for part in reversed(node.stmts or []):
                    live = self.statement(part, live, leaves, again)
                self.cases = live | (self.cases or _NONE)
                return live
            case c_ast.Break():
                return leaves
            case c_ast.Continue():
                return again
            case c_ast.Return():
                return evaluated(node.expr, self.kept)
        return evaluated(node, live)

    def block(
        self,
        items: Sequence[c_ast.Node],
        live: frozenset[str],
        leaves: frozenset[str],
        again: frozenset[str],
    ) -> frozenset[str]:
        # From its declaration on a variable of the block hides one of the same name, which lives on
        # unseen, to wherever the block is left.
        declared = _declared(items)
        hidden = _of(live | leaves | again | self.kept, declared)
        inside = _without(live, declared)
        for item in reversed(items):
            inside = self.statement(item, inside, leaves, again)
            own = _declared([item])
            if own:
                inside = _without(inside, own) | _of(hidden, own)
        return inside

    def switch(
        self, node: c_ast.Switch, live: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        """Return what is live before a ``switch``: it goes to any of its cases, or to none."""
        around, self.cases = self.cases, _NONE
        self.statement(node.stmt, live, live, again)
        found, self.cases = self.cases, around
        return evaluated(node.cond, live | found)

    def loop(self, node: Loop, advance: c_ast.Node | None, live: frozenset[str]) -> frozenset[str]:
        """Return what is live before the condition of a loop: it may run or be left there."""
        before = evaluated(node.cond, live)
        again = self.statement(advance, before, live, live)
        before |= self.statement(node.stmt, again, live, again)
        if id(node) in self.loops or self.labels or self.cases is not None:
            # What a body makes live does not depend on what is live after it: one pass finds all,
            # and the second lets the region, a label and a case see what the next iteration reads.
            again = self.statement(advance, before, live, live)
            self.statement(node.stmt, again, live, again)
        return before


def _declared(items: Sequence[c_ast.Node]) -> frozenset[str]:
    names: set[str] = set()
    for item in items:
        if isinstance(item, c_ast.DeclList):
            names |= _declared(item.decls)
        elif isinstance(item, c_ast.Decl) and item.name and not _is_static(item):
            names.add(item.name)
    return frozenset(names)


def _of(names: frozenset[str], owners: Collection[str]) -> frozenset[str]:
    """Return those of `names` that are variables of `owners`, or members of one."""
    return frozenset(name for name in names if name.split(".")[0] in owners)


def _without(names: frozenset[str], owners: Collection[str]) -> frozenset[str]:
    return names - _of(names, owners)


def _is_own(place: c_ast.StructRef) -> bool:
    """Return whether a member is one of a variable, reached through no pointer."""
    if place.type != ".":
        return False
    inner = place.name
    return isinstance(inner, c_ast.ID) or (isinstance(inner, c_ast.StructRef) and _is_own(inner))


def _member(place: c_ast.StructRef) -> str:
    """Return the name under which the outermost member of a variable lives: ``d.x``."""
    inner = place.name
    if isinstance(inner, c_ast.StructRef):
        return _member(inner)
    assert isinstance(inner, c_ast.ID)
    return f"{inner.name}.{place.field.name}"


def reads(node: c_ast.Node | None) -> frozenset[str]:
    """Return the names in an expression, all of which it may read.

    A member of a variable is one of its own, ``d.x``; the variable as a whole is all its members.
    """
    found: set[str] = set()
    waiting = [node] if node is not None else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, c_ast.StructRef):
            if _is_own(one):
                found.add(_member(one))
            else:
                waiting.append(one.name)
            continue
        if isinstance(one, c_ast.ID):
            found.add(one.name)
        waiting += [*one]
    return frozenset(found)


def evaluated(node: c_ast.Node | None, live: frozenset[str]) -> frozenset[str]:
    """Return what is live before an expression, with `live` after it.

    ``(d__1 = x, abs(d__1))`` does not read what was in ``d__1``. Of operands without an order C
    lets none read what another assigns, so that they may be taken from the last to the first.
    """
    # A long sum is deeper than Python can call.
    waiting = [node] if node is not None else []
    while waiting:
        match one := waiting.pop():
            case c_ast.ID(name=name):
                live = live if name in live else live | {name}
            case c_ast.StructRef() if _is_own(one):
                live |= {_member(one)}
            case c_ast.StructRef():
                waiting.append(one.name)
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
                live = _without(live, {name}) if one.op == "=" else live | {name}
                waiting.append(one.rvalue)
            case c_ast.Assignment(op="=", lvalue=c_ast.StructRef() as place) if _is_own(place):
                # A struct in it is set in part.
                live -= {_member(place)} if isinstance(place.name, c_ast.ID) else _NONE
                waiting.append(one.rvalue)
            case c_ast.TernaryOp():
                live = evaluated(one.iftrue, live) | evaluated(one.iffalse, live)
                waiting.append(one.cond)
            case c_ast.BinaryOp(op="&&" | "||"):
                live |= evaluated(one.right, live)
                waiting.append(one.left)
            case _:
                waiting += [*one]
    return live


@dataclass(frozen=True)
class Stability:
    """What the text of a function may change, and where; places are offsets into the file.

    `addressed` are the variables whose address is taken, `kept` those of them where it goes
    somewhere else than to a call. `stores` are the places of calls and stores that may change an
    integer in memory, `loops` the first and last place of each loop around the region.
    """

    names: Names
    addressed: frozenset[str]
    kept: frozenset[str]
    stores: tuple[int, ...]
    loops: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, names: Names) -> Stability:
        """Return what the function around a region may change."""
        index, start = index_of(names.function.body), names.given.start
        return cls(
            names,
            index.addressed,
            index.given_away,
            tuple(_places_of_stores(names)),
            tuple((first, last) for _, first, last in index.loops if first <= start <= last),
        )

    def keeps(self, value: c_ast.Node, place: int) -> bool:
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
                case c_ast.UnaryOp(op=op) if op in STEPS:
                    return False
        return not (in_memory and self.memory_changes(place))

    def keeps_near(self, name: c_ast.ID, value: c_ast.Node, place: int) -> bool:
        """Return whether memory keeps a variable, and what it is set to, from `place` on.

        What sets a variable of them by name is looked for elsewhere.
        """
        in_memory = False
        for node in (name, *_parts(value)):
            match node:
                case c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                    in_memory = True
                case c_ast.ID():
                    symbol = self.names.find(node.name)
                    in_memory |= symbol is not None and self.is_in_memory(symbol)
                    if symbol is not None and symbol.start > place:
                        return False
                case c_ast.FuncCall() | c_ast.ArrayRef() | c_ast.Assignment():
                    return False
                case c_ast.UnaryOp(op=op) if op in STEPS:
                    return False
        return not (in_memory and any(place <= s < self.names.given.start for s in self.stores))

    def is_alone(self, symbol: Symbol) -> bool:
        """Return whether no other variable of the function has the same name."""
        return _is_declared_once(symbol, self.names)

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
            place <= store and (is_again or store < self.names.given.start) for store in self.stores
        )

    def _is_set_before(self, symbol: Symbol, place: int) -> bool:
        # Two statements of one macro stand at one place.
        return symbol.start < place and self.names.function.changes.get(symbol.name, -1) < place


def _parts(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield an expression and its operands; a member's name is none."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [one.name] if isinstance(one, c_ast.StructRef) else [*one][::-1]


def _is_declared_once(symbol: Symbol, names: Names) -> bool:
    """Return whether the function declares no other variable of this name."""
    types = names.function.scope.types
    decls = index_of(names.function.body).declarations.get(symbol.name, ())
    return all(types.symbol(decl, "local").start == symbol.start for decl in decls)


def _places_of_stores(names: Names) -> Iterator[int]:
    """Yield the places of calls and stores that may change an integer in memory."""
    changes = _changes_of_memory(names.function.body)
    for function, place in changes.calls:
        if not _is_harmless(function, names):
            yield place
    for name, places in changes.stores.items():
        if _may_be_integer(name, names):
            yield from places


@dataclass(frozen=True)
class _MemoryChanges:
    """What may change memory in a function: what it calls, and where; where it stores.

    The places of stores are by the name of the variable that leads there, empty for none.
    """

    calls: Sequence[tuple[c_ast.Node, int]]
    stores: Mapping[str, Sequence[int]]


@once_for_each(MOST_FUNCTIONS)
def _changes_of_memory(body: c_ast.Node) -> _MemoryChanges:
    calls: list[tuple[c_ast.Node, int]] = []
    stores: defaultdict[str, list[int]] = defaultdict(list)
    index = index_of(body)
    for node in index.nodes:
        target = changed_by(node)
        if isinstance(node, c_ast.FuncCall):
            calls.append((node.name, index.extents[id(node)][0]))
        elif target is not None and not isinstance(target, c_ast.ID):
            base = base_of(target)
            name = base.name if isinstance(base, c_ast.ID) else ""
            stores[name].append(index.extents[id(target)][0])
    return _MemoryChanges(calls, stores)


def _is_harmless(function: c_ast.Node, names: Names) -> bool:
    name = function.name if isinstance(function, c_ast.ID) else ""
    if name in names.given.pure or name in LIBRARY:
        return True
    return name in FUNCTIONS and not own_meaning(name, names)


def _may_be_integer(name: str, names: Names) -> bool:
    """Return whether what a variable leads to may be an integer."""
    symbol = names.find(name) if name else None
    if symbol is None or not _is_declared_once(symbol, names):
        return True
    return symbol.base not in REALS | COMPLEX


def definitions(
    statements: Sequence[c_ast.Node], names: Names, given: Iterable[str]
) -> dict[str, c_ast.Node]:
    """Return the syntax tree that each integer of a region is set to, once and for all.

    ``const int w = x_max + 4;`` in front of a nest over ``a[k*w + j]`` proves for all sizes what
    ``w`` alone does not: that a row holds every ``j``. Left out are the `given` names, which have
    values of their own, and what may have changed since, as `Stability` tells.
    """
    stability = Stability.of(names)
    # A jump may leave out an assignment that the text shows, but none just before the region.
    body = names.function.body
    found = {} if index_of(body).has_jumps else _single_assignments(body)
    near = _just_before(statements, stability)
    kept: dict[str, c_ast.Node] = {}
    waiting = list(names_in(c_ast.Compound(list(statements))))
    symbols = [symbol for name in waiting if (symbol := names.find(name)) is not None]
    waiting += [n for s in symbols for layer in s.layers for n in names_in(layer.dim)]
    seen = set(given)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        symbol = names.find(name)
        if symbol is None or not symbol.is_integer or symbol.value is not None:
            continue
        value = near.get(name)
        once, place = found.get(name, (None, -1))
        if value is None and once is not None and place < names.given.start:
            value = once if _holds(symbol, once, place, stability) else None
        if value is not None:
            kept[name] = value
            waiting += names_in(value)
    return kept


def _just_before(statements: Sequence[c_ast.Node], stability: Stability) -> dict[str, c_ast.Node]:
    """Return what variables are set to by the statements of a region's block that run before it.

    Every way to the region leads through these, one after the other, as far back as the last
    label. Left out are those of which a later one, or the region, changes what they are made of.
    """
    block = list(_block_with(stability.names.function.body, statements[0]))
    at = next((k for k, item in enumerate(block) if item is statements[0]), 0)
    changed = set[str]().union(*map(_variables_changed_by, statements))
    found: dict[str, c_ast.Node] = {}
    for item in reversed(block[:at]):
        if _has_label(item):
            break
        match item:
            case c_ast.Decl(name=str() as name, init=c_ast.Node() as value):
                # A static variable has the value of its declaration in the first call alone.
                is_set = bool(name) and not _is_static(item)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                is_set = True
            case _:
                is_set = False
        if is_set and name not in changed and changed.isdisjoint(names_in(value)):
            is_itself = name in names_in(value)
            if not is_itself and stability.keeps_near(c_ast.ID(name), value, last_of(item)):
                found[name] = value
        changed |= _variables_changed_by(item)
    return found


def _block_with(body: c_ast.Node, statement: c_ast.Node) -> Iterable[c_ast.Node]:
    """Return the statements of the block that `statement` stands in."""
    around = index_of(body).parent_of(statement)
    return around.block_items or () if isinstance(around, c_ast.Compound) else ()


@once_for_each(MOST_STATEMENTS)
def _has_label(item: c_ast.Node) -> bool:
    labels = (c_ast.Label, c_ast.Case, c_ast.Default)
    return any(isinstance(node, labels) for node in walk_tree(item))


@once_for_each(MOST_STATEMENTS)
def _variables_changed_by(item: c_ast.Node) -> frozenset[str]:
    """Return the variables that a statement sets, declares, or gives away the address of."""
    places = [changed_by(node, CHANGES) for node in walk_tree(item)]
    declared = {n.name for n in walk_tree(item) if isinstance(n, c_ast.Decl) and n.name}
    return frozenset(declared | {p.name for p in places if isinstance(p, c_ast.ID)})


def _holds(symbol: Symbol, value: c_ast.Node, place: int, stability: Stability) -> bool:
    """Return whether a variable that is set at `place` alone still is what `value` is."""
    if not stability.is_alone(symbol):
        return False
    if stability.is_in_memory(symbol) and stability.memory_changes(place):
        return False
    return stability.keeps(value, place)


@once_for_each(MOST_FUNCTIONS)
def _single_assignments(body: c_ast.Compound) -> Mapping[str, tuple[c_ast.Node, int]]:
    """Return the value of each variable that a function sets exactly once, and where."""
    found: defaultdict[str, list[tuple[c_ast.Node | None, int]]] = defaultdict(list)
    top = {id(item) for item in body.block_items or []}
    for node in index_of(body).nodes:
        match node:
            case c_ast.Decl(name=str() as name, init=c_ast.Node() as value) if name:
                found[name].append((value, offset(node)))
            case c_ast.Assignment(lvalue=c_ast.ID() as target):
                # Under an if or in a loop it may never run.
                is_plain = node.op == "=" and id(node) in top
                found[target.name].append((node.rvalue if is_plain else None, offset(target)))
            case c_ast.UnaryOp() if node.op in CHANGES:
                for name in names_in(node.expr):
                    found[name].append((None, -1))
    return {
        name: (value, place)
        for name, ((value, place), *others) in found.items()
        if not others and value is not None
    }


def learn(formulas: Mapping[str, c_ast.Node], names: Names) -> Names:
    """Return names with the formula of each defined integer that is one of sums and products."""
    waiting = dict(formulas)
    while True:
        # A definition may use others, which are read first.
        ready = [n for n, value in waiting.items() if waiting.keys().isdisjoint(names_in(value))]
        if not ready:
            return names
        for name in ready:
            tried = replace(names, used=names.used.copy())
            formula = _formula(name, waiting.pop(name), tried)
            if formula is not None:
                names = tried
                names.formulas[name] = formula
            # Else the region does not use what the definition is made of.
            names.used.is_wide |= tried.used.is_wide


def _formula(name: str, value: c_ast.Node, names: Names) -> IntegerFormula | None:
    index = Expressions(names).index()
    try:
        # As a plain number, as one with what goes round, and as C has it.
        read, exact = index.value(value), index.exact_value(value)
        computed = Expressions(names).value(value)
    except AnnotuneError:
        return None
    symbol = names.find(name)
    assert symbol is not None, "a definition has a declaration"
    base = symbol.base
    is_plain = all(map(_is_polynomial, walk_expr(read.expr))) and not goes_round(read.expr)
    if not is_plain or not keeps_values(read.kind, base):
        return None
    is_plain = not has_narrowing_cast(exact.expr)
    kept = read.expr if is_plain else exact.expr
    if is_plain and width(base) == 64:
        # With its casts: a product of ints may be no int.
        kept = computed.expr
    if base != "int" and (is_plain or exact.kind != base):
        kept = Cast(named(base), kept)
    return IntegerFormula(read.expr, kept)


def _is_polynomial(part: Expr) -> bool:
    return isinstance(part, Int | Var | Negate) or (
        isinstance(part, Binary) and part.op in ("+", "-", "*")
    )


def declarations(
    statements: Sequence[c_ast.Node], names: Names, defined: Iterable[str]
) -> tuple[str, ...]:
    """Return C for the numbers that a region's text mentions and its nest does not.

    Their values are what the text itself sets, or the formulas of those in `defined`.
    """
    out: list[str] = []
    fixed = {name: names.formulas[name].index for name in defined if name in names.formulas}
    for node, symbol in _numbers(statements, names):
        name = symbol.name
        is_constant = names.constant(name, offset(node), NOWHERE) is not None
        if name not in names.used.scalars and not is_constant:
            value = f" = {print_expr(fixed[name])}" if name in fixed else ""
            out.append(f"{symbol.base} {name}{value};")
    out += [f"{start.spelling} = {start.name};" for start in names.used.starts]
    return tuple(dict.fromkeys(out))


def set_in_text(statements: Sequence[c_ast.Node], names: Names, nest: Nest) -> tuple[str, ...]:
    """Return the numbers that a region's text sets and its nest knows as formulas alone."""
    block = c_ast.Compound(list(statements))
    written = frozenset(assigned_in(block)) | names.sets.loop_names
    known = names.sets.assigned | {loop.var for loop in nest.loops()}
    known |= {a.target.name for a in nest.assigns() if isinstance(a.target, Var)}
    found = (symbol.name for _, symbol in _numbers(statements, names))
    return tuple(dict.fromkeys(n for n in found if n in written - known))


def _numbers(statements: Sequence[c_ast.Node], names: Names) -> Iterator[tuple[c_ast.ID, Symbol]]:
    """Yield the identifiers that are numbers declared outside a region, with what they mean."""
    for node in walk_tree(c_ast.Compound(list(statements))):
        symbol = names.find(node.name) if isinstance(node, c_ast.ID) else None
        if symbol is None or symbol.is_array or symbol.storage == "region" or not symbol.is_known:
            continue
        if isinstance(node, c_ast.ID) and (symbol.is_integer or symbol.base in REALS | COMPLEX):
            yield node, symbol


# How many sizes may be made of one another: f2c's are one or two steps from an argument.
_LONGEST_CHAIN = 8


def tuned_sizes(
    names: Names,
    aliases: Sequence[Alias],
    changing: Collection[str],
    given: Mapping[str, Value],
    overrides: Mapping[str, int],
) -> dict[str, int]:
    """Return the sizes that C fixes, over them those of the annotation, then `overrides`.

    What the nest itself changes, `changing`, is no size, whatever its value before is.
    A value for ``n`` is also that of ``*n``, and one for ``nx`` that of ``grid->nx``, and of a
    plain ``nx`` beside it. An
    integer that the function computes from sizes before the region, such as f2c's
    ``a_dim1 = *lda;``, has the value that those give; emitted code tests it as it tests all.
    """
    scalars = names.used.scalars
    sizes = {s.name: s.value for s in scalars.values() if s.value is not None}
    wholes = {name: _whole(value) for name, value in given.items()} | dict(overrides)
    # A pointer's name stands for what it points to; an array's is no size.
    by_key = {alias.key: alias.name for alias in aliases}
    fixed = {n: v for n, v in wholes.items() if n not in changing or n in by_key}
    chosen = {name: value for name, value in fixed.items() if value is not None}
    computed = _Sizes(_sources(names), sizes | chosen)
    spelled = {alias.name: alias.spelling for alias in aliases}
    plain = [k for k in chosen if k not in by_key or (k in scalars and k not in changing)]
    sizes |= {k: chosen[k] for k in plain if k not in names.used.arrays}
    named = {by_key[k]: v for k, v in chosen.items() if k in by_key}
    # What the nest calls it, such as the distance of rows, wins over what that stands for.
    sizes |= named | {k: v for k, v in chosen.items() if k in by_key.values()}
    for name, scalar in scalars.items():
        if name not in sizes and name not in changing and scalar.type not in ("double", "float"):
            value = computed.of(name)
            value = computed.of(spelled[name]) if value is None and name in spelled else value
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


def _sources(names: Names) -> dict[str, c_ast.Node | None]:
    """Return what each integer is set to before a region; what branches set is a choice."""
    found: dict[str, c_ast.Node | None] = dict(names.used.guessed)
    body = names.function.body
    _set_in(body, names.given.start, found, index_of(body).extents)
    return found


def _set_in(
    node: c_ast.Node | None,
    start: int,
    found: dict[str, c_ast.Node | None],
    extents: Mapping[int, tuple[int, int]],
) -> dict[str, c_ast.Node | None]:
    """Return `found` once it has what `node` sets in the text before `start`."""
    first, last = extents.get(id(node), (start - 1, start))
    if node is None or first >= start:
        return found
    if last < start and not _has_branches(node):
        found.update(_sets_in(node))
        return found
    match node:
        case c_ast.If():
            sides = (node.iftrue, node.iffalse)
            ways = [side for side in sides if _holds_place(side, start, extents)]
            if ways:
                return _set_in(ways[0], start, found, extents)
            then, other = (_set_in(side, start, dict(found), extents) for side in sides)
            for name in then.keys() | other.keys():
                one, two = then.get(name), other.get(name)
                chosen = c_ast.TernaryOp(node.cond, one, two) if one and two else None
                found[name] = one if one is two else chosen
            return found
    if isinstance(node, HOLDERS):
        for child in node:
            _set_in(child, start, found, extents)
    else:
        for part in walk_tree(node):
            _set_by(part, start, found)
    return found


@once_for_each(MOST_STATEMENTS)
def _has_branches(item: c_ast.Node) -> bool:
    return any(isinstance(node, c_ast.If) for node in walk_tree(item))


@once_for_each(MOST_STATEMENTS)
def _sets_in(item: c_ast.Node) -> Mapping[str, c_ast.Node | None]:
    """Return what a statement without branches sets, whatever follows it."""
    found: dict[str, c_ast.Node | None] = {}
    for part in walk_tree(item):
        _set_by(part, sys.maxsize, found)
    return found


def _set_by(node: c_ast.Node, start: int, found: dict[str, c_ast.Node | None]) -> None:
    """Note in `found` what an assignment, a declaration or a step sets before `start`."""
    match node:
        case c_ast.Decl(name=str() as name, init=c_ast.Node() as value) if name:
            if offset(node) < start:
                elements = value.exprs if isinstance(value, c_ast.InitList) else ()
                found |= {f"{name}[{k}]": element for k, element in enumerate(elements)}
                found[name] = value
        case c_ast.Assignment():
            name = _place_name(node.lvalue)
            if name and start_of(node.lvalue) < start:
                found[name] = node.rvalue if node.op == "=" else None
        case c_ast.UnaryOp(expr=c_ast.ID() as target) if node.op in CHANGES:
            if offset(target) < start:
                found[target.name] = None


def _holds_place(
    node: c_ast.Node | None, place: int, extents: Mapping[int, tuple[int, int]]
) -> bool:
    first, last = extents.get(id(node), (place, place))
    return first < place <= last


def _place_name(node: c_ast.Node) -> str:
    """Return ``n`` or ``offsets[4]`` for a variable or an element with a constant subscript."""
    match node:
        case c_ast.ID(name=name):
            return name
        case c_ast.ArrayRef(name=c_ast.ID(name=name), subscript=c_ast.Constant(value=value)):
            return f"{name}[{value}]"
    return ""


@dataclass(frozen=True)
class _Sizes:
    """What is `known`, and the `sources` of what the function sets before a region."""

    sources: Mapping[str, c_ast.Node | None]
    known: Mapping[str, int]

    def of(self, name: str, steps: int = _LONGEST_CHAIN) -> int | None:
        """Return the value that a name is set to, made of others by so many `steps` at most."""
        source = self.sources.get(name)
        return self._value(source, steps) if source is not None and steps else None

    def _value(self, node: c_ast.Node, steps: int) -> int | None:
        return value_of_tree(node, lambda part: self._value_of_place(part, steps))

    def _value_of_place(self, node: c_ast.Node, steps: int) -> int | None:
        match node:
            case c_ast.ID(name=name):
                return self.known[name] if name in self.known else self.of(name, steps - 1)
            case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)):
                return self.known.get(name)
            case c_ast.ArrayRef():
                return self.of(_place_name(node), steps - 1)
            case c_ast.StructRef():
                return self.known.get(node.field.name)
            case c_ast.Cast():
                return self._value(node.expr, steps)
        return None
