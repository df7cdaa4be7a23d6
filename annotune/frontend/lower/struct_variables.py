"""Structs that a region works with as with so many variables: ``vec d; d.x = …; d.v[k] = …``.

A variable that is a struct, is used member by member wherever the function names it, and whose
address nothing has, is a variable for each member that the region uses: ``d_x`` for ``d.x``. Where
the region sets a member before it reads it, and nothing reads it later, that variable need hold
nothing of the struct's: the emitted text declares it beside the nest.

Members that share their place in a union are left alone unless the function uses one of them only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.frontend import messages
from annotune.frontend.lower.around import read_before_set
from annotune.frontend.lower.members import AliasTable
from annotune.frontend.read.syntax import changed_by, extent, replace_nodes, text_of, walk_tree
from annotune.frontend.types.kinds import ELEMENTS
from annotune.frontend.types.layout import Layouts
from annotune.frontend.types.symbols import Record, Symbol, field_of
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
        self.own = {n.name: n for n in walk_tree(block) if isinstance(n, c_ast.Decl) and n.name}
        self.made: dict[str, Symbol] = {}

    def replace(self, block: c_ast.Compound, statements: Sequence[c_ast.Node]) -> None:
        """Put variables in the place of the members of such structs below `block`."""
        named = [n for n in walk_tree(block) if isinstance(n, c_ast.StructRef)]
        written = {target for n in walk_tree(block) if (target := _variable(changed_by(n)))}
        found = {name for node in named if (name := _variable(node)) in written}
        if not found:
            return
        early = read_before_set(statements)
        members = dict(self._members(self.names.function.body, found))
        for name in sorted(found):
            leaves = members.get(name)
            if leaves and not self._lives(name, leaves, early) and _are_apart(leaves):
                self._declare(name, leaves, {text_of(n) for n in named})
        self._forget(block)
        replace_nodes(block, self._replacement)

    def _record(self, name: str) -> Record | None:
        """Return the struct that a variable is, None where the name is another one's, too."""
        decls = [
            node
            for node in walk_tree(self.names.function.body)
            if isinstance(node, c_ast.Decl) and node.name == name
        ]
        own = self.own.get(name)
        symbol = self.names.find(name)
        if own is not None:
            symbol = self.types.symbol(own, "region")
            if own.init is not None or len(decls) > 1 or self.names.find(name) is not None:
                return None
        elif len(decls) > 1 or symbol is None or symbol.storage == "file":
            return None
        return None if symbol.layers or symbol.special or symbol.is_const else symbol.record

    def _members(
        self, body: c_ast.Node, wanted: set[str]
    ) -> Iterator[tuple[str, dict[str, _Leaf]]]:
        """Yield those of the variables that a function uses by their members alone, with these."""
        for name in wanted:
            record = self._record(name)
            leaves: dict[str, _Leaf] = {}
            if record is not None and self._uses(body, name, record, leaves):
                yield name, leaves

    def _uses(self, node: c_ast.Node, name: str, record: Record, leaves: dict[str, _Leaf]) -> bool:
        """Return whether all uses of a variable below `node` are of members, put into `leaves`."""
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
        written = self.names.function.file.clean.text[start:end]
        if "".join(written.split()) != "".join(text.split()):
            self.table.refuse(messages.ALIAS_IN_MACRO, node, name=text, macro=written)
        self.table.spell(start, end, symbol.name)
        return c_ast.ID(symbol.name, Coord("", start, end))


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
