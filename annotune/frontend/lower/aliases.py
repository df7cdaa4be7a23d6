"""Plain names for what legacy C spells otherwise: ``*n`` of a Fortran caller, ``grid->nx``,
``offsets[4]`` of a table of integers.

Before a region is lowered, each such place in its syntax tree becomes an identifier of ours with
a declaration of its own. No later stage meets a pointer to a size or a member of a struct.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.diagnostics import AnnotuneError
from annotune.frontend import messages
from annotune.frontend.lower.libf2c import BY_VALUE
from annotune.frontend.lower.members import PLAIN, AliasTable, ElementMembers, PointerText
from annotune.frontend.lower.names import Names, fixed_extents
from annotune.frontend.lower.pointers import MovedPointers
from annotune.frontend.lower.respelled import WholeExpressions, respelled
from annotune.frontend.lower.row_pointers import RowPointers
from annotune.frontend.lower.struct_variables import StructVariables
from annotune.frontend.lower.swaps import SwappedPointers
from annotune.frontend.read.function_index import MOST_FUNCTIONS, index_of
from annotune.frontend.read.syntax import (
    CHANGES,
    base_of,
    changed_by,
    extent,
    names_in,
    offset,
    pointers_in,
    replace_nodes,
    text_of,
    walk_tree,
)
from annotune.frontend.read.tokens import WORD, integer
from annotune.frontend.types.kinds import COMPLEX, ELEMENTS
from annotune.frontend.types.symbols import (
    INTEGERS,
    REALS,
    Layer,
    Meaning,
    Record,
    Symbol,
    field_of,
    type_words,
)
from annotune.frozen import dataclass
from annotune.ir.c_types import StoredName, may_share
from annotune.ir.identity import once_for_each
from annotune.ir.region import Alias, Spelling

_INT_BITS = 32


@dataclass(frozen=True, slots=True)
class TextAround:
    """C that a region's text needs by itself: `declarations` before it, what is set `behind` it.

    `pointers` are variables that the text sets and the nest has no name for, `live` integers of
    ours that are read behind the region. `tests` are variables of ours that say whether the nest is
    what the text means.
    """

    declarations: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    live: frozenset[str] = frozenset()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Aliased:
    """A region's statements with plain names in them, and what the names stand for."""

    statements: Sequence[c_ast.Node]
    formulas: Mapping[str, c_ast.Node]
    aliases: tuple[Alias, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    around: TextAround = field(default_factory=TextAround)


def with_aliases(
    statements: Sequence[c_ast.Node],
    formulas: Mapping[str, c_ast.Node],
    names: Names,
    made: Sequence[c_ast.Node],
    pointers: PointerText,
    stated: Iterable[str] = (),
) -> Aliased:
    """Return `statements` with aliases in place; `names` learns their declarations.

    The statements have become the `made` ones already, which took `pointers` away.
    `formulas` are definitions from before the region, in which the same aliases stand; `stated` are
    names in extents of the annotation, ``n`` of which means ``*n`` where it is a pointer. No alias
    has a name that the function or its file use already. The given tree stays as it is.

    Raises:
        AnnotuneError: A size behind a pointer or in a struct is changed by the region.
    """
    block = c_ast.Compound(list(made))
    measured = [node for name in stated if (node := _dereference(names.find(name))) is not None]
    before = c_ast.ExprList([*formulas.values(), *measured])
    by_value = [place for node in walk_tree(block) if (place := _by_value(node)) >= 0]
    alike = any(_may_be_alias(node, names) for t in (block, before) for node in walk_tree(t))
    if not alike and not by_value:
        return Aliased(made, formulas, around=_around((), pointers, c_ast.ExprList([]), ()))
    block, before = copy.deepcopy(block), copy.deepcopy(before)
    table = AliasTable.of(names)
    block = SwappedPointers(table, statements, pointers).replace(block)
    tests = RowPointers(table, block).replace(block)
    block = MovedPointers(table, statements, pointers).replace(block)
    whole = WholeExpressions(block, names.function.tokens, names.function.file.source.text)
    outside = c_ast.ExprList(pointers.expressions())
    StructVariables(table, block).replace(block, statements, pointers)
    elements = ElementMembers(table)
    elements.replace(block)
    maker = _AliasMaker(table, statements, block)
    maker.refuse_changes(block)
    maker.refuse_moved(elements.roots.values())
    for tree in (block, before, outside):
        replace_nodes(tree, maker.replacement)
    spellings = _spellings(table, whole, by_value, is_moved=pointers.is_moved)
    if table.problems:
        raise AnnotuneError(tuple(table.problems))
    return Aliased(
        block.block_items or [],
        dict(zip(formulas, before.exprs, strict=False)),
        tuple(table.aliases.values()),
        spellings,
        _around(table.declarations.values(), pointers, outside, tests),
    )


def _around(
    declarations: Iterable[str],
    pointers: PointerText,
    outside: c_ast.ExprList,
    tests: tuple[str, ...],
) -> TextAround:
    """Return what the text of a region needs around it, in plain names."""
    values = iter(outside.exprs)
    declared = list(declarations)
    for declaration, value in pointers.starts:
        start = "" if value is None else f" = {text_of(next(values))}"
        declared.append(f"{declaration}{start};")
    behind = [f"{index} = {name} - {text_of(next(values))};" for index, name, _ in pointers.behind]
    live = frozenset(pointers.live)
    return TextAround(
        tuple(declared), (*behind, *pointers.told), tuple(pointers.names), live, tests
    )


def _spellings(
    table: AliasTable, whole: WholeExpressions, by_value: Sequence[int], is_moved: bool
) -> tuple[Spelling, ...]:
    """Return where the text of a region has plain names, and expressions that are written anew.

    The text of pointers that move is not that of the tree, where they are numbers.
    """
    source = table.names.function.file.source
    found = list(table.unspelled)
    for place in by_value:
        word = WORD.match(source.text, place)
        span = source.span(place, word.end() if word else place + 1)
        name = word[0] if word else ""
        found.append((messages.CALL.at(span, name=name, hint=""), place))
    written = []
    for problem, place in found:
        around = None if is_moved else whole.around(place)
        if around is None:
            table.problems.append(problem)
        else:
            written.append(around)
    spellings = respelled(list(table.spellings.values()), written, source.text)
    return tuple(sorted(spellings, key=lambda s: s.start))


def _by_value(node: c_ast.Node) -> int:
    """Return where a call stands that is one by value in the tree alone; -1 for other nodes."""
    place = node.coord
    return place.line if place is not None and place.file == BY_VALUE else -1


def _dereference(pointer: Symbol | None) -> c_ast.UnaryOp | None:
    """Return ``*n`` of a pointer, as if it stood in its declaration, None for others."""
    if pointer is None or [layer.kind for layer in pointer.layers] != ["*"]:
        return None
    place = Coord("", pointer.start, pointer.end)
    return c_ast.UnaryOp("*", c_ast.ID(pointer.name, place), place)


def _whole(node: c_ast.Node, is_owner: bool = False) -> Iterator[str]:
    """Yield the variables and members that stand in an expression by themselves, no owners."""
    if isinstance(node, c_ast.ID | c_ast.StructRef) and not is_owner:
        yield text_of(node)
    match node:
        case c_ast.StructRef():
            yield from _whole(node.name, True)
        case _:
            for part in node:
                yield from _whole(part)


@once_for_each(MOST_FUNCTIONS)
def _names_with_address(body: c_ast.Node) -> frozenset[str]:
    parts = (n.expr for n in index_of(body).of_kind(c_ast.UnaryOp) if n.op == "&")
    return frozenset(name for part in parts for name in names_in(part))


def sure_pointers(statements: Sequence[c_ast.Node], names: Names) -> Iterator[str]:
    """Yield the pointers that a function reads through before a region's first iteration."""
    function = names.function
    for item in function.body.block_items or []:
        is_plain = isinstance(item, c_ast.Decl | c_ast.Assignment) and item.coord is not None
        if is_plain and offset(item) < names.given.start:
            # What is set again since may be NULL by now.
            yield from (p for p in _read_through(item) if p not in function.changes)
    for loop in statements:
        if isinstance(loop, c_ast.For):
            yield from _read_through(loop.init)
            yield from _read_through(loop.cond)


def _read_through(node: c_ast.Node | None) -> Iterator[str]:
    """Yield the pointers that evaluating an expression surely reads through."""
    match node:
        case None | c_ast.UnaryOp(op="&" | "sizeof"):
            return
        case c_ast.TernaryOp() | c_ast.BinaryOp(op="&&" | "||"):
            parts = [*node][:1]
        case _:
            parts = [*node]
    yield from pointers_in(node)
    for part in parts:
        yield from _read_through(part)


def _may_be_alias(node: c_ast.Node, names: Names) -> bool:
    moved = changed_by(node)
    if isinstance(moved, c_ast.ID):
        symbol = names.find(moved.name)
        return symbol is not None and symbol.is_array
    if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.PtrDecl):
        return True
    if isinstance(node, c_ast.ID):
        symbol = names.find(node.name)
        return symbol is not None and symbol.record is not None
    if isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ID):
        symbol = names.find(node.name.name)
        if symbol is not None and "*" in [layer.kind for layer in symbol.layers[1:]]:
            return True
    is_element = isinstance(node, c_ast.ArrayRef) and isinstance(node.subscript, c_ast.Constant)
    return isinstance(node, c_ast.StructRef) or is_element or _dereferenced(node) is not None


def _dereferenced(node: c_ast.Node | None) -> c_ast.ID | None:
    """Return the identifier that ``*n`` reads through, None when `node` is something else."""
    match node:
        case c_ast.UnaryOp(op="*", expr=c_ast.ID() as pointer):
            return pointer
    return None


def _is_beside(one: str, other: str) -> bool:
    """Return whether two members are different ones of one struct, by their C text."""
    first, second = (re.match(r"(.*(?:->|\.))(\w+)$", text) for text in (one, other))
    if first is None or second is None:
        return False
    return first[1] == second[1] and first[2] != second[2]


class _AliasMaker:
    """The aliases made so far, by the C text that they stand for.

    `written_integers` are the places where the region stores integers, one perhaps ``*n``, and
    `written_behind` all that it stores into, one perhaps ``&p->nx``. `changed` are the members and
    the integers behind pointers among them, by their C text. `read_before`
    are the pointers that are read through whether the region's loops run or not, `own` the names
    that the region declares, `addressed` those whose address the function takes.
    """

    def __init__(
        self, table: AliasTable, statements: Sequence[c_ast.Node], block: c_ast.Compound
    ) -> None:
        names = table.names
        function = names.function
        self.table = table
        self.names = names
        self.own = {n.name for n in walk_tree(block) if isinstance(n, c_ast.Decl) and n.name}
        self.addressed = _names_with_address(function.body)
        self.read_before = frozenset(sure_pointers(statements, names))
        stored = [base for node in walk_tree(block) for base in self.stores(node)]
        targets = (changed_by(node) for node in walk_tree(block))
        self.changed = {text_of(one) for one in targets if isinstance(one, c_ast.StructRef)}
        self.written_integers = [base for base in stored if self.holds_integers(base)]
        self.written_behind: list[tuple[str, StoredName]] = []
        if not names.given.are_disjoint:
            self.written_behind = [(text_of(base), self.place_of(base)) for base in stored]

    def stores(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        """Yield the array, or the member that points to one or is a number, that `node` changes."""
        base = changed_by(node)
        if not isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.StructRef):
            return
        place = base_of(base)
        if isinstance(place, c_ast.ID) and place.name in self.own:
            return
        symbol = self._symbol(place)
        if symbol is None or symbol.is_array or place is base:
            yield place

    def holds_integers(self, base: c_ast.Node) -> bool:
        """Return whether what is stored into holds integers, as far as is known."""
        symbol = self._symbol(base)
        return symbol is None or symbol.base in INTEGERS

    def place_of(self, base: c_ast.Node) -> StoredName:
        """Return what is declared of what is stored into; of an unknown one, nothing."""
        symbol = self._symbol(base)
        if symbol is None:
            return StoredName("char", is_pointer=True)
        if not symbol.is_array:
            # A member: another pointer may be to the same struct.
            return StoredName(symbol.base, is_pointer=True)
        return self.names.place_of(symbol)

    def _symbol(self, base: c_ast.Node) -> Symbol | None:
        if isinstance(base, c_ast.ID):
            return self.names.find(base.name)
        decl = self._declaration(base) if isinstance(base, c_ast.StructRef) else None
        return None if decl is None else self.names.function.scope.types.symbol(decl, "file")

    def _declaration(self, member: c_ast.StructRef) -> c_ast.Decl | None:
        record = self._record(member.name)
        return field_of(record, member.field.name) if record is not None else None

    def refuse_changes(self, block: c_ast.Node) -> None:
        """Note each place that changes what has no address, or what an alias stands for."""
        for node in walk_tree(block):
            target = changed_by(node, CHANGES)
            if not isinstance(target, c_ast.StructRef):
                continue
            symbol, decl = self._symbol(target), self._declaration(target)
            is_number = symbol is not None and not symbol.layers and symbol.base in ELEMENTS
            is_plain = is_number and decl is not None and decl.bitsize is None
            if not is_plain or changed_by(node) is None or self._is_in_union(target):
                self.table.refuse(messages.ALIAS_CHANGES, target, name=text_of(target))

    def refuse_moved(self, roots: Iterable[c_ast.Node]) -> None:
        """Note the arrays of structs whose pointer a store of the region may change."""
        for root in roots:
            symbol = self._symbol(root)
            if not isinstance(root, c_ast.StructRef) or symbol is None:
                continue
            if symbol.layers[0].kind == "*":
                self._refuse_element(root, symbol)

    def replacement(self, node: c_ast.Node) -> c_ast.Node | None:
        """Return an identifier for a node, or what one points to; None where the node stays."""
        match node:
            case c_ast.StructRef():
                if self._stays_in_memory(node):
                    return self._in_memory(node)
                meaning = self._member(node)
            case c_ast.ArrayRef():
                meaning = self._table_element(node)
            case _:
                size = self._size(node)
                meaning = None if size is None else Meaning((), size.base, size.base)
        if meaning is None:
            return None
        spelling = text_of(node)
        if spelling not in self.table.aliases:
            self._declare(spelling, meaning, node)
        return self._identifier(node, spelling, self.table.aliases[spelling].name)

    def _stays_in_memory(self, node: c_ast.StructRef) -> bool:
        """Return whether a number in a member changes in the region, or may as an element does."""
        symbol, decl = self._symbol(node), self._declaration(node)
        if symbol is None or decl is None or symbol.layers or symbol.special:
            return False
        if decl.bitsize is not None or offset(node) < self.names.given.start:
            return False
        if text_of(node) in self.changed:
            return True
        # Integers may be sizes, which are to be known before the nest.
        return symbol.base in REALS | COMPLEX and bool(self._sharing(node, symbol))

    def _in_memory(self, node: c_ast.StructRef) -> c_ast.Node:
        """Return a member as the one element of an array: ``*s_sum`` with `s_sum` its address."""
        symbol, decl = self._symbol(node), self._declaration(node)
        assert symbol is not None
        assert decl is not None
        spelling = f"&{text_of(node)}"
        if spelling not in self.table.aliases:
            is_const = text_of(node) not in self.changed
            meaning = Meaning((Layer("*"),), symbol.base, type_words(decl), is_const)
            self._declare(spelling, meaning, node)
        pointer = self._identifier(node, text_of(node), self.table.aliases[spelling].name, "(*{})")
        return c_ast.UnaryOp("*", pointer, pointer.coord)

    def _identifier(self, node: c_ast.Node, spelling: str, name: str, form: str = "{}") -> c_ast.ID:
        start, end = extent(node, self.names.function.file.tokens)
        identifier = c_ast.ID(name, Coord("", start, end))
        if start < self.names.given.start:
            return identifier
        written = self.names.function.file.clean.text[start:end]
        if "".join(written.split()) != "".join(spelling.split()):
            # The text of a macro's body does not stand in the region.
            self.table.refuse(messages.ALIAS_IN_MACRO, node, name=spelling, macro=written)
        self.table.spell(start, end, form.format(name))
        return identifier

    def _declare(self, spelling: str, meaning: Meaning, node: c_ast.Node) -> None:
        name = self.table.fresh(spelling)
        value = spelling
        unsure = [p for p in pointers_in(node) if p not in self.read_before]
        if unsure:
            # The region may never read through it, and then it may be NULL.
            value = f"{' && '.join(unsure)} ? {spelling} : 0"
        declaration = f"{meaning.declared(name)} = {value};"
        layers = meaning.layers
        if spelling.startswith("&") and not unsure:
            # Of what is an element for sure, a device may have it all.
            layers = (Layer("[]", c_ast.Constant("int", "1")),)
        start, end = extent(node, self.names.function.file.tokens)
        self.table.declare(
            Alias(name, spelling, declaration),
            Symbol(
                name,
                layers,
                meaning.base,
                is_known=True,
                storage="parameter",
                start=start,
                end=end,
                is_const=meaning.is_const,
            ),
        )

    def _size(self, node: c_ast.Node) -> Symbol | None:
        """Return the pointer, kept by the region, through which `node` reads one integer."""
        pointer = _dereferenced(node)
        symbol = self.names.find(pointer.name) if pointer is not None else None
        if symbol is None or symbol.base not in INTEGERS or symbol.special not in PLAIN:
            return None
        if any(self._may_be(base, symbol) for base in self.written_integers):
            return None
        return symbol if [layer.kind for layer in symbol.layers] == ["*"] else None

    def _may_be(self, base: c_ast.Node, pointer: Symbol) -> bool:
        """Return whether a store into `base` may change the integer behind a pointer."""
        if isinstance(base, c_ast.ID) and base.name == pointer.name:
            return True
        if self._is_at_home(base):
            return False
        shares = may_share(self.place_of(base), self.names.place_of(pointer))
        return shares and not self.names.given.are_disjoint

    def _is_at_home(self, base: c_ast.Node) -> bool:
        """Return whether no pointer leads into an array: the function only names its elements."""
        symbol = self.names.find(base.name) if isinstance(base, c_ast.ID) else None
        if symbol is None or symbol.storage not in ("local", "static"):
            return False
        if any(layer.kind != "[]" for layer in symbol.layers) or symbol.name in self.addressed:
            return False
        named = Counter(names_in(self.names.function.body))[symbol.name]
        elements = index_of(self.names.function.body).of_kind(c_ast.ArrayRef)
        used = sum(isinstance(n.name, c_ast.ID) and n.name.name == symbol.name for n in elements)
        # An element of an array of rows is a pointer, too.
        return len(symbol.layers) == 1 and named == used

    def _table_element(self, node: c_ast.ArrayRef) -> Meaning | None:
        """Return what one integer of a table is, with constant subscripts in its declared range.

        A declared range, since the alias reads the element also where the region would not.
        """
        places: list[int] = []
        base: c_ast.Node = node
        while isinstance(base, c_ast.ArrayRef):
            subscript = base.subscript
            value = integer(subscript.value) if isinstance(subscript, c_ast.Constant) else None
            places.insert(0, -1 if value is None else value)
            base = base.name
        symbol = self.names.find(base.name) if isinstance(base, c_ast.ID) else None
        if symbol is None or symbol.base not in INTEGERS or self.written_integers:
            return None
        if symbol.storage not in ("local", "static", "file") or symbol.special not in PLAIN:
            return None
        extents = fixed_extents(symbol, self.names)
        if extents is None or len(extents) != len(places):
            return None
        start, end = extent(node, self.names.function.file.tokens)
        if ";" in self.names.function.file.clean.text[start:end]:
            # Of a row that a pointer names: it stands at no one place.
            return None
        is_there = all(0 <= place < size for place, size in zip(places, extents, strict=True))
        return Meaning((), symbol.base, symbol.base) if is_there else None

    def _member(self, node: c_ast.StructRef) -> Meaning | None:
        """Return what a member is, None where it is left to be refused."""
        decl = self._declaration(node)
        if decl is None:
            return None
        symbol = self.names.function.scope.types.symbol(decl, "file")
        if symbol.base in ("struct", "union") or not symbol.is_known or symbol.special:
            return None
        owners = map(self.names.find, names_in(node.name))
        if any(owner is not None and owner.special not in PLAIN for owner in owners):
            return None
        if symbol.is_array and symbol.layers[0].kind != "*" and self._is_in_union(node):
            # Its elements are those of another member, too, and of another type.
            return None
        is_value = not symbol.is_array or symbol.layers[0].kind == "*"
        if is_value and self._refuse_element(node, symbol):
            return None
        if decl.bitsize is not None:
            return self._bitfield_of(symbol, decl.bitsize)
        spelled = type_words(decl)
        is_const = symbol.is_const or (not is_value and self._is_in_const(node))
        return Meaning(symbol.layers, symbol.base, spelled, is_const)

    def _is_in_const(self, node: c_ast.Node) -> bool:
        """Return whether a member is one of a struct that is not to be changed."""
        while isinstance(node, c_ast.StructRef):
            owner = self._symbol(node.name)
            if owner is not None and owner.is_const:
                return True
            if node.type == "->":
                return False
            node = node.name
        return False

    def _is_in_union(self, node: c_ast.Node) -> bool:
        """Return whether a member, or a struct that it is in, shares its place with others."""
        if not isinstance(node, c_ast.StructRef):
            return False
        record, own = self._record(node.name), self._declaration(node)
        unions = [n for n in walk_tree(record) if isinstance(n, c_ast.Union)]
        shared = any(own is member for union in unions for member in union.decls or [])
        shared = shared and not self._is_only_view(node)
        return shared or (node.type == "." and self._is_in_union(node.name))

    def _is_only_view(self, node: c_ast.StructRef) -> bool:
        """Return whether the function uses a union by this member alone, and has no address of it.

        Then it is as good as a struct, as is a COMMON block that each Fortran routine sees one way.
        """
        owner = text_of(node.name)
        is_variable = node.type == "." and "->" not in owner and "*" not in owner
        if not is_variable or self.addressed & set(names_in(node.name)):
            return False
        body = self.names.function.body
        fields = {
            one.field.name
            for one in index_of(body).of_kind(c_ast.StructRef)
            if text_of(one.name) == owner
        }
        return fields == {node.field.name} and owner not in set(_whole(body))

    def _refuse_element(self, node: c_ast.Node, member: Symbol) -> bool:
        """Note that a member may change; a definition from before the region is left unused."""
        shares = self._sharing(node, member)
        if not shares:
            return False
        start, _ = extent(node, self.names.function.file.tokens)
        if start >= self.names.given.start:
            shown = {"name": text_of(node), "array": shares[0]}
            self.table.refuse(messages.MAY_BE_ELEMENT, node, **shown)
        return True

    def _sharing(self, node: c_ast.Node, member: Symbol) -> list[str]:
        """Return what the region stores into and a member may be a part of."""
        own = StoredName("void *" if member.is_array else member.base)
        # A pointer that its own stores change is of no more use to any of them.
        behind = [(name, at) for name, at in self.written_behind if name != text_of(node)]
        shares = [name for name, at in behind if may_share(at, own)]
        beside = {name for name in self.changed if _is_beside(name, text_of(node))}
        shares = [name for name in shares if name not in beside]
        return [] if self._is_out_of_reach(node) else shares

    def _is_out_of_reach(self, node: c_ast.Node) -> bool:
        """Return whether a member is one of a variable whose address no pointer has."""
        while isinstance(node, c_ast.StructRef) and node.type == ".":
            node = node.name
        symbol = self.names.find(node.name) if isinstance(node, c_ast.ID) else None
        if symbol is None or symbol.is_array or symbol.name in self.addressed:
            return False
        return symbol.storage in ("parameter", "local")

    def _bitfield_of(self, symbol: Symbol, bits: c_ast.Node) -> Meaning | None:
        """Return what a bit-field is: an int where an int holds all its values (C11 6.3.1.1)."""
        width = self.names.function.file.value(bits, self.names.function.scope.enumerators.get)
        if width is None or width > _INT_BITS or symbol.base == "_Bool":
            return None
        base = symbol.base if width == _INT_BITS else "int"
        return Meaning((), base, base)

    def _record(self, node: c_ast.Node) -> Record | None:
        """Return the struct that an expression without subscripts names, None for any other."""
        match node:
            case c_ast.UnaryOp(op="*"):
                return self._record(node.expr)
            case c_ast.ID() | c_ast.StructRef():
                symbol = self._symbol(node)
                return symbol.record if symbol is not None and len(symbol.layers) <= 1 else None
        return None
