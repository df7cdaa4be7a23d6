"""Structs that a region works with as with so many variables: ``vec d; d.x = …; d.v[k] = …``.

A variable that is a struct, is used member by member wherever the function names it, and whose
address nothing has, is a variable for each member that the region uses: ``d_x`` for ``d.x``. Where
the region sets a member before it reads it, and nothing reads it later, that variable need hold
nothing of the struct's: the emitted text declares it beside the nest.

Members that share their place in a union are left alone unless the function uses one of them only.

A struct that is copied as a whole is copied member by member before: ``q = p[i];`` is
``q.x = p[i].x; q.y = p[i].y;``. C says of such a copy that the two are one object or have nothing
in common (C11 6.5.16.1), so that no member is overwritten before it is read; what else may be read
on the right, as in ``b[i] = (vec){b[i].y, b[i].x};``, is put into a struct of its own first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.diagnostics import AnnotuneError
from annotune.frontend import messages
from annotune.frontend.lower.around import read_before_set, reads
from annotune.frontend.lower.members import AliasTable, PointerText
from annotune.frontend.read.function_index import index_of
from annotune.frontend.read.syntax import (
    changed_by,
    extent,
    replace_nodes,
    text_of,
    token_place,
    walk_tree,
)
from annotune.frontend.types.kinds import ELEMENTS
from annotune.frontend.types.layout import Layouts
from annotune.frontend.types.symbols import Record, Symbol, field_of
from annotune.frozen import dataclass
from annotune.ir.region import Alias


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A member that holds numbers: from byte `start` of its struct to byte `end`."""

    symbol: Symbol
    start: int
    end: int


class StructVariables:
    """The struct variables of a region that are so many variables for its nest."""

    def __init__(self, table: AliasTable, block: c_ast.Compound) -> None:
        self.table = table
        self.names = table.names
        function = table.names.function
        self.types = function.scope.types
        self.layouts = Layouts(
            self.types, lambda node: function.file.value(node, function.scope.constant)
        )
        self.copies = WholeStructs(table, block)
        self.own = self.copies.own
        self.made: dict[str, Symbol] = {}

    def replace(
        self, block: c_ast.Compound, statements: Sequence[c_ast.Node], text: PointerText
    ) -> None:
        """Put variables in the place of the members of such structs below `block`.

        `statements` are what it was made of; what their `text` needs for it is noted.
        """
        self.copies.replace(block)
        self.region = {id(node) for node in statements}
        named = [n for n in walk_tree(block) if isinstance(n, c_ast.StructRef)]
        written = {target for n in walk_tree(block) if (target := _variable(changed_by(n)))}
        found = {name for node in named if (name := _variable(node)) in written}
        if not found:
            return
        early = read_before_set([block])
        members = dict(self._members(block, found))
        for name in sorted(found):
            leaves = members.get(name)
            if leaves and not self._lives(name, leaves, early) and _are_apart(leaves):
                self._declare(name, leaves, {text_of(n) for n in named})
        self._forget(block)
        replace_nodes(block, self._replacement)
        made = {place.split(".")[0] for place in self.made}
        for node in walk_tree(block):
            if isinstance(node, c_ast.ID) and node.name in self.copies.whole - made:
                problem = messages.ALIAS_CHANGES.at(self.names.place(node), name=node.name)
                raise AnnotuneError.of(problem)
        decls = {
            n.name: n.type for n in walk_tree(self.names.function.tree) if isinstance(n, c_ast.Decl)
        }
        for name in sorted(made - self.own.keys()):
            text.starts.append((text_of(_declaration(name, decls[name])), None))
            if name in self.copies.whole:
                # The text goes on with the struct.
                text.names.append(name)

    def _record(self, name: str) -> Record | None:
        """Return the struct that a variable is, None where the name is another one's, too."""
        decls = index_of(self.names.function.body).declarations.get(name, ())
        own = self.own.get(name)
        symbol = self.names.find(name)
        if own is not None:
            symbol = self.types.symbol(own, "region")
            if own.init is not None or len(decls) > 1 or self.names.find(name) is not None:
                return None
        elif len(decls) > 1 or symbol is None or symbol.storage == "file":
            return None
        is_set = symbol.is_const and name not in self.copies.whole
        return None if symbol.layers or symbol.special or is_set else symbol.record

    def _members(
        self, block: c_ast.Node, wanted: set[str]
    ) -> Iterator[tuple[str, dict[str, _Leaf]]]:
        """Yield those of the variables that a function uses by their members alone, with these.

        In the region that is so of the `block` that has become of it.
        """
        body = self.names.function.body
        for name in wanted:
            record = self._record(name)
            leaves: dict[str, _Leaf] = {}
            if record is not None and all(
                self._uses(part, name, record, leaves) for part in (body, block)
            ):
                yield name, leaves

    def _uses(self, node: c_ast.Node, name: str, record: Record, leaves: dict[str, _Leaf]) -> bool:
        """Return whether all uses of a variable below `node` are of members, put into `leaves`."""
        if id(node) in self.region:
            return True
        depth = 0
        place: c_ast.Node = node
        while isinstance(place, c_ast.ArrayRef):
            place, depth = place.name, depth + 1
        if _variable(place) == name and isinstance(place, c_ast.StructRef):
            leaf = self._leaf(place, record)
            if leaf is None or len(leaf.symbol.layers) != depth:
                return False
            leaves[text_of(place)] = leaf
            subscripts = []
            while isinstance(node, c_ast.ArrayRef):
                subscripts.append(node.subscript)
                node = node.name
            return all(self._uses(part, name, record, leaves) for part in subscripts)
        if isinstance(node, c_ast.ID):
            return node.name != name
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            return name not in {n.name for n in walk_tree(node) if isinstance(n, c_ast.ID)}
        parts = [node.name] if isinstance(node, c_ast.StructRef) else [*node]
        return all(self._uses(part, name, record, leaves) for part in parts)

    def _leaf(self, place: c_ast.StructRef, record: Record) -> _Leaf | None:
        """Return what a member of a variable is, None where it is no number or array of these."""
        start = 0
        inside: Record | None = record
        symbol: Symbol | None = None
        for field in _path(place):
            decl = field_of(inside, field) if inside is not None else None
            if inside is None or decl is None or decl.bitsize is not None:
                return None
            if symbol is not None and symbol.layers:
                return None
            offset = self.layouts.offset(inside, field)
            if offset is None:
                return None
            start += offset
            symbol = self.types.symbol(decl, "local")
            inside = symbol.record
        if symbol is None or symbol.record is not None or symbol.special or symbol.is_const:
            return None
        room = self.layouts.room(symbol.layers, symbol.base, None)
        is_plain = symbol.base in ELEMENTS and all(layer.kind == "[]" for layer in symbol.layers)
        return _Leaf(symbol, start, start + room.bytes) if is_plain and room is not None else None

    def _lives(self, name: str, leaves: dict[str, _Leaf], early: frozenset[str]) -> bool:
        """Return whether a struct brings values into the region or out of it."""
        if name in self.own:
            return False
        around = self.names.given.live_after | early
        outer = {f"{name}.{text.split('.')[1]}" for text in leaves}
        return name in around or not outer.isdisjoint(around)

    def _declare(self, name: str, leaves: dict[str, _Leaf], used: set[str]) -> None:
        for text, leaf in leaves.items():
            if text not in used:
                continue
            own = self.table.fresh(text)
            dims = "".join(f"[{text_of(layer.dim)}]" for layer in leaf.symbol.layers if layer.dim)
            owner = self.own.get(name) or self.names.find(name)
            assert owner is not None
            symbol = Symbol(
                own,
                leaf.symbol.layers,
                leaf.symbol.base,
                is_known=True,
                storage="local",
                start=leaf.symbol.start,
                end=leaf.symbol.end,
            )
            self.made[text] = symbol
            self.table.declare(Alias(own, text, f"{symbol.base} {own}{dims};"), symbol)

    def _forget(self, block: c_ast.Compound) -> None:
        """Leave out the declarations of such structs."""
        gone = {text.split(".")[0] for text in self.made} & self.own.keys()

        def change(node: c_ast.Node) -> c_ast.Node | None:
            is_gone = isinstance(node, c_ast.Decl) and node.name in gone
            return c_ast.EmptyStatement(node.coord) if is_gone else None

        if gone:
            replace_nodes(block, change)

    def _replacement(self, node: c_ast.Node) -> c_ast.Node | None:
        if not isinstance(node, c_ast.StructRef):
            return None
        text = text_of(node)
        symbol = self.made.get(text)
        if symbol is None:
            return None
        start, end = extent(node, self.names.function.file.tokens)
        if text.split(".")[0] in self.copies.whole:
            return c_ast.ID(symbol.name, Coord("", start, end))
        written = self.names.function.file.clean.text[start:end]
        if "".join(written.split()) != "".join(text.split()):
            self.table.refuse(messages.ALIAS_IN_MACRO, node, name=text, macro=written)
        self.table.spell(start, end, symbol.name)
        return c_ast.ID(symbol.name, Coord("", start, end))


# A struct of more numbers is not copied one by one.
_MOST_NUMBERS = 64

# From a struct to a number in it: the names of members, and numbers of elements.
_Way: TypeAlias = tuple[str | int, ...]


class WholeStructs:
    """The structs that a region copies as a whole; the variables among them are `whole`."""

    def __init__(self, table: AliasTable, block: c_ast.Compound) -> None:
        self.table = table
        function = table.names.function
        self.types = function.scope.types
        self.own = {n.name: n for n in walk_tree(block) if isinstance(n, c_ast.Decl) and n.name}
        self.scope = {name: self.types.symbol(decl, "region") for name, decl in self.own.items()}
        self.names = replace(table.names, scopes=[*table.names.scopes, self.scope])
        self.addressed = index_of(function.body).addressed
        targets = [changed_by(n) for n in walk_tree(block)]
        self.set = {_variable(n) or _named(n) for n in targets if n is not None} | {*self.own}
        self.whole: set[str] = set()

    def replace(self, block: c_ast.Compound) -> None:
        """Put copies of their numbers in the place of copies of structs below `block`."""
        for parent in [*walk_tree(block)]:
            match parent:
                case c_ast.Compound():
                    parent.block_items = [self._copied(n) for n in parent.block_items or []]
                case c_ast.For() | c_ast.Label():
                    parent.stmt = self._copied(parent.stmt)
                case c_ast.If():
                    parent.iftrue = self._copied(parent.iftrue)
                    if parent.iffalse is not None:
                        parent.iffalse = self._copied(parent.iffalse)

    def _copied(self, node: c_ast.Node) -> c_ast.Node:
        """Return what becomes of a statement."""
        match node:
            case c_ast.Decl(name=str() as name, init=c_ast.Node() as value) if name:
                made = self._assigned(c_ast.ID(name, node.coord), value)
                if made is None:
                    return node
                node.init = None
                return c_ast.Compound([node, *made], node.coord)
            case c_ast.Assignment(op="=", lvalue=target, rvalue=value):
                made = self._assigned(target, value)
                return node if made is None else c_ast.Compound(made, node.coord)
        return node

    def _assigned(self, target: c_ast.Node, value: c_ast.Node) -> list[c_ast.Node] | None:
        """Return assignments of the numbers of a struct, None for what is no such copy."""
        symbol = self.names.declared(target)
        if symbol is None or symbol.record is None or symbol.layers or symbol.special:
            return None
        if isinstance(value, c_ast.CompoundLiteral):
            value = value.init
        is_list = isinstance(value, c_ast.InitList)
        source = None if is_list else self.names.declared(value)
        is_alike = source is not None and source.record is symbol.record and not source.layers
        is_copy = (is_list or is_alike) and not any(map(changed_by, walk_tree(value)))
        is_known = self._is_known(target) and (is_list or self._is_known(value))
        if not is_copy or not is_known or not _is_plain(target):
            return None
        name = _named(target)
        read = {place.split(".")[0] for place in reads(value)}
        if name in read if name else is_list or not _is_plain(value):
            return self._through_another(target, symbol, value)
        ways = self._ways(symbol.record, self._wanted(name))
        place = Coord("", *token_place(_first(target)))
        given = None if ways is None else self._values(value, symbol.record, ways, place)
        if ways is None or given is None:
            return None
        self.whole |= {one.name for one in (target, value) if isinstance(one, c_ast.ID)}
        return [
            c_ast.Assignment("=", _at(target, way), one, place)
            for way, one in zip(ways, given, strict=True)
        ]

    def _is_known(self, place: c_ast.Node) -> bool:
        """Return whether a struct is a variable that the region sets, or an element of an array."""
        if isinstance(place, c_ast.ID):
            symbol = self.names.find(place.name)
            is_own = symbol is not None and symbol.storage in ("region", "local", "parameter")
            return is_own and place.name in self.set and place.name not in self.addressed
        parts = [*_parts(place)]
        return isinstance(parts[-1], c_ast.ID) and any(map(_number, parts))

    def _through_another(
        self, target: c_ast.Node, symbol: Symbol, value: c_ast.Node
    ) -> list[c_ast.Node] | None:
        """Return assignments by way of a variable, for a value that may read what they change."""
        name = self.table.fresh(f"{self.types.name_of(symbol.record)} copy")
        place = Coord("", *token_place(_first(target)))
        assert symbol.record is not None
        decl = _declaration(name, c_ast.TypeDecl(name, [], [], symbol.record), place)
        self.own[name] = decl
        self.set.add(name)
        self.scope[name] = replace(symbol, name=name, storage="region", is_const=False)
        first = self._assigned(c_ast.ID(name, place), value)
        second = self._assigned(target, c_ast.ID(name, place))
        return None if first is None or second is None else [decl, *first, *second]

    def _wanted(self, name: str) -> frozenset[str] | None:
        """Return the members of a variable that are asked for, None where that may be all."""
        nodes = index_of(self.table.names.function.body).nodes
        owners = [n for n in nodes if isinstance(n, c_ast.StructRef) and _named(n.name) == name]
        targets = [n for n in nodes if isinstance(n, c_ast.Assignment) and _named(n.lvalue) == name]
        whole = sum(_named(n) == name for n in nodes) - len(owners) - len(targets)
        return frozenset(n.field.name for n in owners) if owners and not whole else None

    def _ways(self, record: Record, wanted: frozenset[str] | None = None) -> list[_Way] | None:
        """Return the ways to the numbers of a struct, None where there is more in it."""
        found: list[_Way] = []
        for decl in record.decls or []:
            if wanted is not None and isinstance(decl, c_ast.Decl) and decl.name not in wanted:
                continue
            if isinstance(record, c_ast.Union) or not isinstance(decl, c_ast.Decl):
                return None
            inside = self._inside(self.types.symbol(decl, "file")) if decl.name else None
            if inside is None or decl.name is None or decl.bitsize is not None:
                return None
            found += [(decl.name, *way) for way in inside]
        return found if len(found) <= _MOST_NUMBERS else None

    def _inside(self, symbol: Symbol) -> list[_Way] | None:
        if symbol.special:
            return None
        if symbol.layers:
            first, *others = symbol.layers
            function = self.table.names.function
            dim = first.dim if first.kind == "[]" else None
            count = None if dim is None else function.file.value(dim, function.scope.constant)
            inner = self._inside(replace(symbol, layers=tuple(others)))
            if count is None or inner is None or not 0 < count <= _MOST_NUMBERS:
                return None
            return [(k, *way) for k in range(count) for way in inner]
        if symbol.record is not None:
            return self._ways(symbol.record)
        return [()] if symbol.base in ELEMENTS else None

    def _values(
        self, value: c_ast.Node, record: Record, ways: Sequence[_Way], place: Coord
    ) -> list[c_ast.Node] | None:
        """Return what the numbers of a struct are set to; those that a list leaves out are 0."""
        if not isinstance(value, c_ast.InitList):
            return [_at(value, way) for way in ways]
        all_ways = self._ways(record)
        given = None if all_ways is None else self._listed(value.exprs, all_ways)
        if given is None:
            return None
        return [given.get(way) or c_ast.Constant("int", "0", place) for way in ways]

    def _listed(
        self, values: Sequence[c_ast.Node], ways: Sequence[_Way]
    ) -> dict[_Way, c_ast.Node] | None:
        """Return the values of a list without braces in it, all by name or none, by their ways."""
        found: dict[_Way, c_ast.Node] = {}
        named = [one for one in values if isinstance(one, c_ast.NamedInitializer)]
        if len(values) > len(ways) or (named and len(named) < len(values)):
            return None
        for own, one in zip(ways, values, strict=False):
            way, value = own, one
            if isinstance(one, c_ast.NamedInitializer):
                way, value = tuple(n.name for n in one.name if isinstance(n, c_ast.ID)), one.expr
                if len(one.name) != len(way) or way not in ways:
                    return None
            symbol = self.names.declared(value)
            if isinstance(value, c_ast.InitList) or (symbol is not None and symbol.record):
                return None
            found[way] = value
        return found


def _at(struct: c_ast.Node, way: _Way) -> c_ast.Node:
    """Return a number in a struct."""
    place = Coord("", *token_place(_first(struct)))
    made = copy.deepcopy(struct)
    for step in way:
        if isinstance(step, str):
            made = c_ast.StructRef(made, ".", c_ast.ID(step, place), place)
        else:
            made = c_ast.ArrayRef(made, c_ast.Constant("int", str(step), place), place)
    return made


def _first(node: c_ast.Node) -> c_ast.Node:
    return next(n for n in walk_tree(node) if n.coord is not None)


def _named(node: c_ast.Node) -> str:
    return node.name if isinstance(node, c_ast.ID) else ""


def _parts(place: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield a place and what it is a part of, up to a variable."""
    yield place
    if isinstance(place, c_ast.ArrayRef | c_ast.BinaryOp | c_ast.StructRef) or _is_read(place):
        yield from _parts(next(iter(place)))


def _number(part: c_ast.Node) -> c_ast.Node | None:
    """Return what says which element of an array it is."""
    match part:
        case c_ast.ArrayRef(subscript=number) | c_ast.BinaryOp(right=number):
            return number
    return None


def _is_plain(place: c_ast.Node) -> bool:
    """Return whether what says which element it is reads no memory, which a copy might change."""
    memory = (c_ast.ArrayRef, c_ast.StructRef, c_ast.FuncCall)
    numbers = [number for part in _parts(place) if (number := _number(part)) is not None]
    nodes = (n for number in numbers for n in walk_tree(number))
    return not any(isinstance(n, memory) or _is_read(n) for n in nodes)


def _is_read(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "*"


def _declaration(name: str, type_: c_ast.Node, place: Coord | None = None) -> c_ast.Decl:
    return c_ast.Decl(name, [], [], [], [], type_, None, None, place)


def _variable(node: c_ast.Node | None) -> str:
    """Return the variable that a member, or an element of one, is in without a pointer; else ""."""
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    if not isinstance(node, c_ast.StructRef):
        return ""
    while isinstance(node, c_ast.StructRef) and node.type == ".":
        node = node.name
    return node.name if isinstance(node, c_ast.ID) else ""


def _path(place: c_ast.StructRef) -> tuple[str, ...]:
    """Return the names of the members on the way to one, the outermost first."""
    before = _path(place.name) if isinstance(place.name, c_ast.StructRef) else ()
    return (*before, place.field.name)


def _are_apart(leaves: dict[str, _Leaf]) -> bool:
    """Return whether no two members share memory."""
    ordered = sorted(leaves.values(), key=lambda leaf: leaf.start)
    return all(one.end <= other.start for one, other in pairwise(ordered))
