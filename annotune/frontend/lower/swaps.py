"""Pointers that change places: ``tmp = a; a = b; b = tmp;`` behind a stencil in a time loop.

A loop whose iterations change which pointer is which, in the same way each, has as many kinds of
iterations as it takes for all to be in their places again, two for a swap. It becomes a loop over
so many of its iterations, each with the names that its pointers have at the start of the loop, and
the iterations that are left. That is what C computes: no statement but these assigns the pointers,
nothing has their addresses, and an assignment of a pointer changes no memory (C11 6.5.16). Behind
the nest, pointers that are read later are given the places that as many iterations leave them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.frontend.lower.members import AliasTable, PointerText, set_pointers
from annotune.frontend.read.syntax import (
    assigned_in,
    changed_by,
    names_in,
    replace_nodes,
    text_of,
    token_place,
    walk_tree,
)
from annotune.frontend.types.kinds import ELEMENTS
from annotune.frontend.types.symbols import Symbol
from annotune.frozen import dataclass
from annotune.ir.region import Alias

# Three arrays take turns in a wave equation; of more kinds of iterations the text would be long.
_MOST_KINDS = 4


class _NotSwapped(Exception):
    """A use of the pointers that is no change of places, of which each is known."""


@dataclass(frozen=True, slots=True)
class _TimeLoop:
    """A loop that counts up by 1: `trips` of its iterations, from `first` on, end before `end`."""

    var: str
    type: str
    first: c_ast.Node
    end: c_ast.Node
    trips: c_ast.Node


class SwappedPointers:
    """The pointers that change places in a region, and the names that stand for them.

    `places` are the pointers by the names that they had at the start, None where that is open.
    Behind the nest they are, by the number that is `counted`, what `ends` says.
    """

    def __init__(
        self, table: AliasTable, statements: Sequence[c_ast.Node], text: PointerText
    ) -> None:
        self.table = table
        self.names = table.names
        self.statements = statements
        self.text = text
        self.pointers: dict[str, Symbol] = {}
        self.counted: c_ast.Node | None = None
        self.ends: list[dict[str, str]] = []

    def replace(self, block: c_ast.Compound) -> c_ast.Compound:
        """Return a block in which no pointer changes its place, where that is known."""
        self.pointers = self._pointers(block)
        outer = [n for n, symbol in self.pointers.items() if symbol.storage != "region"]
        if not outer:
            return block
        places: dict[str, str | None] = {name: name for name in outer}
        try:
            items = self._items(copy.deepcopy(block.block_items or []), places)
            if not self.ends:
                place = self._place()
                self.counted = c_ast.Constant("long int", "1L", place)
                self.ends = [{n: n for n in places}, {n: at for n, at in places.items() if at}]
            items += self._behind()
        except _NotSwapped:
            return block
        made = c_ast.Compound(items, block.coord)
        self.text.is_moved = True
        types = {decl.name: decl.type for decl in _declared(self.names.function.tree)}
        left = set(names_in(made))
        for name in (n for n in outer if n not in left):
            self.text.names.append(name)
            decl = c_ast.Decl(name, [], [], [], [], types[name], None, None)
            self.text.starts.append((text_of(decl), None))
        return made

    def _pointers(self, block: c_ast.Compound) -> dict[str, Symbol]:
        """Return the pointers of one type that the region sets to one another, and no others."""
        every = set_pointers(block, self.statements, self.names)
        # What the text says of pointers to pointers and to structs has names of its own.
        found = {
            s.name: s
            for s in every
            if s.base in ELEMENTS and all(layer.kind == "[]" for layer in s.layers[1:])
        }
        sources = [*_sources(block)]
        while True:
            known = {n for n, value in sources if _name(value) in found}
            wrong = {n for n, value in sources if not _name(value) or n not in known}
            left = {n: s for n, s in found.items() if n in known - wrong}
            if len(left) == len(found):
                break
            found = left
        kinds = {
            (s.base, s.is_const, *(text_of(x.dim) if x.dim else "" for x in s.layers))
            for s in found.values()
        }
        return found if len(kinds) == 1 else {}

    def _items(
        self, items: Sequence[c_ast.Node], places: dict[str, str | None]
    ) -> list[c_ast.Node]:
        """Return statements with the names that pointers had, and note the places they take."""
        made: list[c_ast.Node] = []
        for item in items:
            if self.ends and self._sets(item):
                # A loop has left them in places that are open.
                raise _NotSwapped
            match item:
                case c_ast.Decl(name=str() as name) if name in self.pointers:
                    places[name] = None if item.init is None else places.get(_name(item.init))
                case c_ast.Assignment(lvalue=c_ast.ID(name=name)) if name in self.pointers:
                    places[name] = places.get(_name(item.rvalue))
                case c_ast.ExprList() | c_ast.DeclList():
                    made += self._items([*item], places)
                case c_ast.Compound():
                    made.append(c_ast.Compound(self._items(item.block_items or [], places)))
                case c_ast.For() if self._sets(item):
                    made += self._loop(item, places)
                case _:
                    if self._sets(item):
                        raise _NotSwapped
                    made.append(self._renamed(item, places))
        return made

    def _sets(self, node: c_ast.Node) -> bool:
        """Return whether a statement changes a pointer, or declares one."""
        named = {*(name for name, _ in _sources(node)), *(d.name for d in _declared(node))}
        return not named.isdisjoint(self.pointers)

    def _renamed(self, node: c_ast.Node, places: Mapping[str, str | None]) -> c_ast.Node:
        def place(name: c_ast.ID) -> c_ast.Node | None:
            if name.name not in self.pointers:
                return None
            found = places.get(name.name)
            if found is None:
                raise _NotSwapped
            return c_ast.ID(found, name.coord)

        (made,) = _renamed([node], place)
        return made

    def _loop(self, node: c_ast.For, places: dict[str, str | None]) -> list[c_ast.Node]:
        """Return the loops that a loop with such changes becomes."""
        counted = self._counted(node)
        inside: dict[str, str | None] = {n: n for n in places}
        body = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
        items = self._items(body, inside)
        ends = self._ends(items, inside)
        if any(places[name] is None for name in ends[0]) or self.ends:
            raise _NotSwapped
        kinds = [{n: str(places[at]) for n, at in end.items()} for end in ends]
        for name in places:
            if len(ends) > 1 or name not in ends[0]:
                places[name] = None
        copies = [[self._renamed(item, {**kind}) for item in items] for kind in kinds]
        if len(ends) > 1:
            self.ends = kinds
        return self._loops(node, counted, copies)

    def _ends(
        self, items: Sequence[c_ast.Node], inside: Mapping[str, str | None]
    ) -> list[dict[str, str]]:
        """Return the places after no iteration, one, and so on, until all are as they were."""
        block = c_ast.Compound([*items])
        live = {n for n in self.names.given.live_after if n in self.pointers}
        named = (set(names_in(block)) | live) & inside.keys()
        while True:
            more = {inside[name] for name in named} - named
            if not more:
                break
            if None in more:
                raise _NotSwapped
            named |= {name for name in more if name is not None}
        # In the order of the text, which names are made of.
        step = {name: str(at) for name, at in inside.items() if name in named}
        ends = [{name: name for name in step}]
        while (last := {name: ends[-1][at] for name, at in step.items()}) != ends[0]:
            ends.append(last)
            if len(ends) > _MOST_KINDS:
                raise _NotSwapped
        return ends

    def _counted(self, node: c_ast.For) -> _TimeLoop:
        """Return how a loop counts.

        Raises:
            _NotSwapped: It does not count up by 1, or its bounds may change in it.
        """
        var, first = "", None
        match node.init:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
                var, first, symbol = name, node.init.rvalue, self.names.find(name)
            case c_ast.DeclList(decls=[c_ast.Decl(name=str() as name, init=c_ast.Node()) as decl]):
                var, first = name, decl.init
                symbol = self.names.function.scope.types.symbol(decl, "region")
            case _:
                raise _NotSwapped
        cond = node.cond
        is_step = isinstance(node.next, c_ast.UnaryOp) and node.next.op in ("++", "p++")
        changed = {*assigned_in(node.stmt), *(decl.name or "" for decl in _declared(node.stmt))}
        if not is_step or not isinstance(cond, c_ast.BinaryOp) or _name(cond.left) != var:
            raise _NotSwapped
        is_below = cond.op == "<"
        at = first.value if isinstance(first, c_ast.Constant) else ""
        kinds = {*self._types(cond.right, changed)}
        if first is None or at != ("0" if is_below else "1") or var in changed:
            raise _NotSwapped
        # The number of an iteration is to be of the iterator's type.
        own = symbol.base if symbol is not None and symbol.base in ("int", "long") else ""
        if not own or not kinds <= {"int", own} or cond.op not in ("<", "<="):
            raise _NotSwapped
        end = cond.right if is_below else c_ast.BinaryOp("+", cond.right, first, cond.coord)
        return _TimeLoop(var, own, first, end, cond.right)

    def _types(self, bound: c_ast.Node, changed: set[str]) -> Iterator[str]:
        """Yield the types that a bound is made of; members and sizes by reference stay anyway."""
        for part in walk_tree(bound):
            match part:
                case c_ast.ID(name=name) if name in changed or name in self.pointers:
                    raise _NotSwapped
                case c_ast.ID(name=name):
                    symbol = self.names.find(name)
                    if symbol is not None and not symbol.layers and symbol.record is None:
                        yield symbol.base
                case c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                    member = self.names.declared(part)
                    yield member.base if member is not None else ""
                case c_ast.Constant(type=kind):
                    yield kind.removesuffix(" int")
                case c_ast.BinaryOp(op="+" | "-" | "*"):
                    pass
                case _:
                    raise _NotSwapped

    def _loops(
        self, node: c_ast.For, counted: _TimeLoop, copies: Sequence[Sequence[c_ast.Node]]
    ) -> list[c_ast.Node]:
        """Return a loop over as many iterations as there are `copies`, and what is left of it."""
        place, count = self._place(), c_ast.Constant("int", str(len(copies)))
        count.coord = place
        turns = c_ast.BinaryOp("/", copy.deepcopy(counted.trips), count, place)
        rest = c_ast.BinaryOp("%", copy.deepcopy(counted.trips), count, place)
        turn = self._integer(f"{counted.var} turn", counted.type)

        def at(start: c_ast.Node, by: int, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
            whole = c_ast.BinaryOp("*", start, count, place)
            first = by + (counted.trips is not counted.end)
            number = c_ast.BinaryOp("+", whole, c_ast.Constant("int", str(first), place), place)
            return _renamed(items, lambda name: number if name.name == counted.var else None)

        body = [part for k, items in enumerate(copies) for part in at(turn, k, items)]
        start = c_ast.Assignment("=", turn, c_ast.Constant("int", "0", place), place)
        cond = c_ast.BinaryOp("<", turn, turns, place)
        step = c_ast.UnaryOp("p++", turn, place)
        made: list[c_ast.Node] = [c_ast.For(start, cond, step, c_ast.Compound(body), node.coord)]
        for k, items in enumerate(copies[:-1]):
            test = c_ast.BinaryOp(">", rest, c_ast.Constant("int", str(k), place), place)
            made.append(c_ast.If(test, c_ast.Compound(at(turns, k, items)), None, place))
        some = c_ast.BinaryOp(">", counted.trips, c_ast.Constant("int", "0", place), place)
        if counted.var in self.names.given.live_after and isinstance(node.init, c_ast.Assignment):
            last = c_ast.TernaryOp(some, counted.end, counted.first, place)
            made.append(c_ast.Assignment("=", node.init.lvalue, last, place))
        nothing = c_ast.Constant("int", "0", place)
        self.counted = c_ast.TernaryOp(some, rest, nothing, place)
        return copy.deepcopy(made)

    def _behind(self) -> list[c_ast.Node]:
        """Return what counts the places of the pointers that are read later, which it notes."""
        first = self.ends[0]
        live = [n for n in first if n in self.names.given.live_after]
        moved = [n for n in live if any(end.get(n) != n for end in self.ends)]
        if any(n not in end for n in live for end in self.ends):
            raise _NotSwapped
        if not moved or self.counted is None:
            return []
        # One that is elsewhere after each number of iterations tells that number.
        sure = [n for n in moved if len({end[n] for end in self.ends}) == len(self.ends)]
        if not sure:
            raise _NotSwapped
        number = self._integer(f"{sure[0]} moved", "long", is_live=True)
        lines, tests = [], []
        ends = self.ends[-1].values()
        starts = {n: self.table.fresh(f"{n} before") for n in dict.fromkeys((*moved, *ends))}
        for k, end in enumerate(self.ends[1:], 1):
            new = {n: self.table.fresh(f"{n} behind") for n in moved}
            lines.append(f"if ({number.name} == {k}) {{")
            lines += [f"  __typeof__({n}) {new[n]} = {end[n]};" for n in moved]
            lines += [f"  {n} = {new[n]};" for n in moved]
            lines.append("}")
            tests.append(f"{sure[0]} == {starts.get(end[sure[0]], end[sure[0]])} ? {k} : ")
        symbol = self.names.scopes[0][number.name]
        declaration = f"{symbol.base} {number.name} = 0;"
        spelling = f"how {', '.join(moved)} have moved"
        self.table.declare(Alias(number.name, spelling, declaration, "\n".join(lines)), symbol)
        self.text.live.add(number.name)
        self.text.starts += [(f"__typeof__({n}) {own} = {n}", None) for n, own in starts.items()]
        self.text.told.append(f"{number.name} = {''.join(tests)}0;")
        return [c_ast.Assignment("=", number, self.counted, number.coord)]

    def _integer(self, spelling: str, type_: str, is_live: bool = False) -> c_ast.ID:
        """Return an integer of ours."""
        name, place = self.table.fresh(spelling), self._place()
        assert place.column is not None
        storage = "local" if is_live else "region"
        symbol = Symbol(name, (), type_, True, storage, place.line, place.column)
        self.names.scopes[0][name] = symbol
        return c_ast.ID(name, place)

    def _place(self) -> Coord:
        first = next(n for n in walk_tree(self.statements[0]) if n.coord is not None)
        return Coord("", *token_place(first))


def _sources(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """Yield the variables that statements change, with what they are set to."""
    for inner in walk_tree(node):
        match inner:
            case c_ast.Decl(name=str() as name, init=c_ast.Node() as value) if name:
                yield name, value
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
                yield name, inner.rvalue
            case _:
                target = changed_by(inner)
                if isinstance(target, c_ast.ID):
                    yield target.name, inner


def _name(node: c_ast.Node | None) -> str:
    return node.name if isinstance(node, c_ast.ID) else ""


def _declared(node: c_ast.Node) -> Iterator[c_ast.Decl]:
    return (n for n in walk_tree(node) if isinstance(n, c_ast.Decl) and n.name)


def _renamed(
    items: Sequence[c_ast.Node], place: Callable[[c_ast.ID], c_ast.Node | None]
) -> list[c_ast.Node]:
    """Return statements with what `place` says for their variables; members keep their names."""

    def change(part: c_ast.Node) -> c_ast.Node | None:
        match part:
            case c_ast.ID():
                found = place(part)
                return None if found is None else copy.deepcopy(found)
            case c_ast.StructRef():
                (owner,) = _renamed([part.name], place)
                return c_ast.StructRef(owner, part.type, part.field, part.coord)
        return None

    holder = c_ast.Compound(copy.deepcopy([*items]))
    replace_nodes(holder, change)
    return holder.block_items or []
