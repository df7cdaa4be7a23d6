"""Members of the elements of arrays of structs, as elements of arrays of numbers.

``p[i].pos[k]`` of a struct of seven doubles is ``p_[i][3 + k]`` of ``double (*p_)[7]``: a row for
each struct, in which the members stand where C's layout has them. A member of another type that
the region does not use is a gap in the row, which nothing touches.

Why that is exact: an element of the array has the address and the type of the member (C11 6.2.6.1,
6.5 paragraph 7), and two places of the region are one in memory where they are one in the array,
since both follow from the same number of bytes. That the struct has so many bytes, and its members
these offsets, the emitted C has the compiler test. Where members of several types are used, their
arrays would lie in one another: the region is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.diagnostics import Diagnostic, Template
from annotune.frontend import messages
from annotune.frontend.lower.names import Names
from annotune.frontend.read.function_index import index_of
from annotune.frontend.read.syntax import (
    CHANGES,
    changed_by,
    extent,
    names_in,
    replace_nodes,
    text_of,
    walk_tree,
)
from annotune.frontend.read.tokens import WORD
from annotune.frontend.types.kinds import ELEMENTS
from annotune.frontend.types.layout import Layouts
from annotune.frontend.types.symbols import Layer, Record, Symbol, field_of
from annotune.frozen import dataclass
from annotune.ir.region import Alias, Spelling

# An alias is read by the caller's own thread.
PLAIN = frozenset({"", "_Thread_local"})


@dataclass
class AliasTable:
    """The aliases made so far, by the C text that they stand for, and where they stand.

    `taken` are the names that no alias may have. Whoever compiles the text of the region by itself
    puts `declarations` before it. `unspelled` are places where an alias stands and the text has
    other words, with the problem that this would be.
    """

    names: Names
    taken: set[str]
    aliases: dict[str, Alias] = field(default_factory=dict)
    spellings: dict[tuple[int, int], Spelling] = field(default_factory=dict)
    declarations: dict[str, str] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    unspelled: list[tuple[Diagnostic, int]] = field(default_factory=list)

    @classmethod
    def of(cls, names: Names) -> AliasTable:
        """Return a table without aliases, none of which may be called as what is there."""
        file, scope = names.function.file, names.function.scope
        words = file.words(names.function.part)
        taken = {*words, *scope.symbols, *file.clean.macros, *names.used.scalars}
        return cls(names, taken.union(*names.scopes))

    def fresh(self, spelling: str) -> str:
        """Return a name that is made of the words of `spelling` and is nobody's."""
        words = "".join(c if c.isalnum() or c == "_" else " " for c in spelling).split()
        name = "_".join(words) if len(words) > 1 else f"{words[0]}_"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def declare(self, alias: Alias, symbol: Symbol) -> None:
        """Take in an alias and what its declaration says."""
        self.aliases[alias.spelling] = alias
        scope = self.names.function.scope
        spelled = WORD.sub(lambda word: scope.spelled(word[0]), alias.spelling)
        is_plain = spelled[0] not in "*&" and " " not in spelled
        scope.spellings[symbol.name] = spelled if is_plain else f"({spelled})"
        # A parameter: its value is there before the region, and never changes in it.
        self.names.scopes[0][symbol.name] = symbol

    def spell(self, start: int, end: int, name: str) -> None:
        """Note that a place of the region's text is `name` in plain names."""
        if start >= self.names.given.start:
            self.spellings[start, end] = Spelling(start, end, name)

    def refuse(self, template: Template, node: c_ast.Node, **values: str) -> None:
        """Note that a place is refused, or has no text that can be changed."""
        problem = template.at(self.names.place(node), **values)
        if template is messages.ALIAS_IN_MACRO:
            place, _ = extent(node, self.names.function.file.tokens)
            self.unspelled.append((problem, place))
            return
        self.problems.append(problem)


@dataclass
class PointerText:
    """What the text of a region needs around it, where pointers of the function move in it.

    `names` are those pointers, `starts` C for their declarations but for values, and these. `live`
    are the integers of those that are read later: each, the pointer and its array, are in `behind`.
    What else the text leaves is `told` behind it. Where one `is_moved`, the text is not that of the
    tree, in which it is a number.
    """

    names: list[str] = field(default_factory=list)
    starts: list[tuple[str, c_ast.Node | None]] = field(default_factory=list)
    behind: list[tuple[str, str, c_ast.Node]] = field(default_factory=list)
    live: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)
    is_moved: bool = False

    def expressions(self) -> list[c_ast.Node]:
        """Return the values of the declarations, and the arrays behind the text, in this order."""
        values = [value for _, value in self.starts if value is not None]
        return [*values, *(root for _, _, root in self.behind)]


def set_pointers(
    block: c_ast.Node, statements: Sequence[c_ast.Node], names: Names
) -> Iterator[Symbol]:
    """Yield the pointers that `block` sets or declares, and that nothing else changes.

    `block` is what has become of the `statements` of the region.
    """
    index = index_of(names.function.body)
    decls = index.declarations
    types = names.function.scope.types
    own = {id(node) for node in walk_tree(c_ast.Compound([*statements]))}
    taken = index.addressed
    for name in dict.fromkeys(_set_in(block)):
        here = [decl for decl in decls.get(name, []) if id(decl) in own]
        outer = names.find(name)
        if here and (len(here) < len(decls[name]) or outer is not None):
            continue
        symbols = [types.symbol(decl, "region") for decl in here]
        if not here and outer is not None and len(decls.get(name, [])) <= 1:
            symbols = [outer]
        alike = {(s.base, len(s.layers), types.name_of(s.record)) for s in symbols}
        if len(alike) != 1 or name in taken:
            continue
        symbol = symbols[0]
        is_own = symbol.storage in ("region", "local", "parameter")
        if (
            is_own
            and symbol.special in PLAIN
            and [layer.kind for layer in symbol.layers][:1] == ["*"]
        ):
            yield symbol


def _set_in(block: c_ast.Node) -> Iterator[str]:
    """Yield the variables that statements set, move or declare with a value."""
    for node in walk_tree(block):
        target = changed_by(node)
        if isinstance(target, c_ast.ID):
            yield target.name
        elif isinstance(node, c_ast.Decl) and node.name:
            yield node.name


@dataclass(frozen=True, slots=True)
class _Spot:
    """What an expression names in an array of structs.

    `root` is the array, `row` C for the struct in it. `symbol` declares what is named: its `layers`
    are those left. From the first member on there is an `offset` in bytes, and `terms`, numbers
    with the bytes that each counts. `path` is what C calls the member in its struct, and `place`
    where its name stands. A struct that ``->`` reaches without a subscript `is_bare`.
    """

    root: c_ast.Node
    row: c_ast.Node
    symbol: Symbol
    offset: int | None = None
    terms: tuple[tuple[c_ast.Node, int], ...] = ()
    place: Coord | None = None
    is_bare: bool = True
    path: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it is a number in a member."""
        return self.offset is not None and not self.symbol.layers and self.symbol.record is None


@dataclass(frozen=True, slots=True)
class _View:
    """An array of numbers over an array of structs: `element` is the type, `length` of a row.

    `cast` is the type of a pointer to the first of the structs.
    """

    name: str
    element: str
    bytes: int
    length: int
    cast: str


class ElementMembers:
    """The members of elements of arrays of structs that a region uses."""

    def __init__(self, table: AliasTable) -> None:
        self.table = table
        self.names = table.names
        function = table.names.function
        self.types = function.scope.types
        self.layouts = Layouts(self.types, self._constant)
        self.views: dict[str, _View | None] = {}
        self.roots: dict[str, c_ast.Node] = {}
        self.own: frozenset[str] = frozenset()

    def replace(self, block: c_ast.Node) -> None:
        """Put elements of arrays of numbers in the place of the members below `block`."""
        decls = (node for node in walk_tree(block) if isinstance(node, c_ast.Decl))
        self.own = frozenset(decl.name for decl in decls if decl.name)
        found = [spot for node in walk_tree(block) if (spot := self._number(node)) is not None]
        roots = {text_of(spot.root): spot for spot in found if not spot.is_bare}
        for text, root in roots.items():
            spots = [spot for spot in found if text_of(spot.root) == text]
            self.views[text] = self._view(text, root, spots)
            self.roots[text] = root.root
        self._refuse_changes(block)
        if roots:
            replace_nodes(block, self._replacement)

    def _refuse_changes(self, block: c_ast.Node) -> None:
        """Note each place that changes where an array of structs is."""
        moved = {name for root in self.roots.values() for name in names_in(root)}
        for node in walk_tree(block):
            target = changed_by(node, CHANGES)
            if isinstance(target, c_ast.ID) and target.name in moved:
                self.table.refuse(messages.ALIAS_CHANGES, target, name=target.name)

    def _constant(self, node: c_ast.Node) -> int | None:
        return self.names.function.file.value(node, self.names.function.scope.constant)

    def _number(self, node: c_ast.Node) -> _Spot | None:
        if not isinstance(node, c_ast.StructRef | c_ast.ArrayRef):
            return None
        spot = self._spot(node)
        return spot if spot is not None and spot.is_number else None

    def _spot(self, node: c_ast.Node) -> _Spot | None:
        """Return what an expression names in an array of structs, None where it is in none."""
        match node:
            case c_ast.ID():
                is_own = node.name in self.own
                return None if is_own else self._root(node, self.names.find(node.name))
            case c_ast.StructRef():
                inside = self._spot(node.name)
                if inside is not None and node.type == "->":
                    inside = _element(inside, node.field.coord)
                if inside is None or (inside.is_bare and self._is_array(node)):
                    return self._root(node, self.declared(node))
                return self._member(inside, node)
            case c_ast.ArrayRef():
                inside = self._spot(node.name)
                return None if inside is None else self._subscripted(inside, node)
            case c_ast.UnaryOp(op="*"):
                inside = self._spot(node.expr)
                if inside is None or inside.offset is not None or not inside.symbol.layers:
                    return None
                return _below(inside, c_ast.UnaryOp("*", inside.row, node.coord))
            case c_ast.BinaryOp(op="+" | "-"):
                return self._moved(node)
        return None

    def declared(self, node: c_ast.Node) -> Symbol | None:
        """Return what declares a variable, or a member that is reached without subscripts."""
        match node:
            case c_ast.ID():
                return None if node.name in self.own else self.names.find(node.name)
            case c_ast.UnaryOp(op="*"):
                symbol = self.declared(node.expr)
                return symbol if symbol is not None and len(symbol.layers) == 1 else None
            case c_ast.StructRef():
                owner = self.declared(node.name)
                if owner is None or owner.record is None or len(owner.layers) > 1:
                    return None
                decl = field_of(owner.record, node.field.name)
                return None if decl is None else self.types.symbol(decl, "file")
        return None

    def _root(self, node: c_ast.Node, symbol: Symbol | None) -> _Spot | None:
        if symbol is None or symbol.record is None or not symbol.layers:
            return None
        if "()" in {layer.kind for layer in symbol.layers} or "*" in {
            layer.kind for layer in symbol.layers[1:]
        }:
            return None
        return _Spot(node, node, symbol)

    def _is_array(self, node: c_ast.StructRef) -> bool:
        symbol = self.declared(node)
        return symbol is not None and symbol.record is not None and bool(symbol.layers)

    def _member(self, owner: _Spot, node: c_ast.StructRef) -> _Spot | None:
        record = owner.symbol.record
        decl = field_of(record, node.field.name) if record is not None else None
        if record is None or decl is None or owner.symbol.layers:
            return None
        start = self.layouts.offset(record, node.field.name)
        symbol = self.types.symbol(decl, "file")
        if start is None or decl.bitsize is not None or symbol.special or not symbol.is_known:
            return None
        if any(layer.kind != "[]" for layer in symbol.layers):
            return None
        return replace(
            owner,
            symbol=replace(symbol, is_const=symbol.is_const or owner.symbol.is_const),
            offset=(owner.offset or 0) + start,
            place=node.field.coord,
            path=f"{owner.path}.{node.field.name}",
        )

    def _subscripted(self, inside: _Spot, node: c_ast.ArrayRef) -> _Spot | None:
        if not inside.symbol.layers:
            return None
        if inside.offset is None:
            return _below(inside, c_ast.ArrayRef(inside.row, node.subscript, node.coord))
        symbol = replace(inside.symbol, layers=inside.symbol.layers[1:])
        size = self.layouts.room(symbol.layers, symbol.base, symbol.record)
        if size is None:
            return None
        return replace(
            inside,
            symbol=symbol,
            terms=(*inside.terms, (node.subscript, size.bytes)),
            path=f"{inside.path}[0]",
        )

    def _moved(self, node: c_ast.BinaryOp) -> _Spot | None:
        for side, other in ((node.left, node.right), (node.right, node.left)):
            inside = self._spot(side)
            if inside is None or inside.offset is not None or not inside.symbol.layers:
                continue
            pair = (inside.row, other) if side is node.left else (other, inside.row)
            return replace(inside, row=c_ast.BinaryOp(node.op, *pair, node.coord), is_bare=False)
        return None

    def _view(self, text: str, root: _Spot, spots: list[_Spot]) -> _View | None:
        """Return the array of numbers for an array of structs, None where there is none."""
        symbol = self.declared(root.root)
        if symbol is None or symbol.special not in PLAIN:
            return None
        owners = map(self.names.find, names_in(root.root))
        if any(owner is not None and owner.special not in PLAIN for owner in owners):
            return None
        elements = {spot.symbol.base: spot for spot in reversed(spots)}
        if len(elements) > 1:
            first, other = spots[0], next(s for s in spots if s.symbol.base != spots[0].symbol.base)
            shown = {"name": text, "one": first.symbol.base, "other": other.symbol.base}
            self.table.refuse(messages.MIXED_MEMBERS, root.root, **shown)
            return None
        (element,) = elements
        size = self.layouts.room((), symbol.base, symbol.record)
        own = self.layouts.room((), element, None)
        if element not in ELEMENTS or size is None or own is None or size.bytes % own.bytes:
            return None
        struct = self.types.name_of(symbol.record)
        if not struct:
            return None
        const = "const " if symbol.is_const else ""
        inner = "".join(f"[{text_of(layer.dim)}]" for layer in symbol.layers[1:] if layer.dim)
        cast = f"{const}{struct} (*){inner}" if inner else f"{const}{struct} *"
        length = size.bytes // own.bytes
        view = _View(self.table.fresh(text), element, own.bytes, length, cast)
        self._declare(text, root, symbol, view, spots)
        return view

    def _declare(
        self, text: str, root: _Spot, symbol: Symbol, view: _View, spots: list[_Spot]
    ) -> None:
        row = Layer("[]", c_ast.Constant("int", str(view.length)))
        layers = (*symbol.layers, row)
        inner = "".join(f"[{text_of(layer.dim)}]" for layer in layers[1:] if layer.dim)
        const = "const " if symbol.is_const else ""
        restrict = " restrict" if symbol.is_restrict else ""
        made = f"{const}{view.element} (*const{restrict} {view.name}){inner}"
        value = f"({const}{view.element} (*){inner}){text}"
        checks = self._checks(text, symbol, view, spots)
        is_name = isinstance(root.root, c_ast.ID)
        start, end = extent(root.root, self.names.function.file.tokens)
        self.table.declare(
            Alias(view.name, text, "\n".join([f"{made} = {value};", *checks])),
            replace(
                symbol,
                name=view.name,
                layers=layers,
                base=view.element,
                record=None,
                storage="parameter",
                init=None,
                # The extents of a variable are those that its declaration found.
                start=symbol.start if is_name else start,
                end=symbol.end if is_name else end,
            ),
        )

    def _checks(self, text: str, symbol: Symbol, view: _View, spots: list[_Spot]) -> Iterator[str]:
        """Yield assertions of the layout; of one type alone, the size shows that it has no gap."""
        struct = f"{text}{'[0]' * len(symbol.layers)}"
        words = f"annotune read this region where {struct}"
        size, again = view.bytes * view.length, "; run annotune again"
        yield f'_Static_assert(sizeof({struct}) == {size}, "{words} has {size} bytes{again}");'
        if self._is_full(symbol.record, view.element):
            return
        for path, start in sorted({(s.path.lstrip("."), s.offset) for s in spots}):
            place = f"__builtin_offsetof(__typeof__({struct}), {path})"
            said = f"{words}.{path} is at byte {start}{again}"
            yield f'_Static_assert({place} == {start}, "{said}");'

    def _is_full(self, record: Record | None, element: str) -> bool:
        """Return whether all members of a struct are numbers of one type."""
        for decl in (record.decls or []) if isinstance(record, c_ast.Struct) else [None]:
            if not isinstance(decl, c_ast.Decl) or decl.name is None:
                return False
            symbol = self.types.symbol(decl, "file")
            if any(layer.kind != "[]" for layer in symbol.layers):
                return False
            if symbol.base != element and not self._is_full(symbol.record, element):
                return False
        return True

    def _replacement(self, node: c_ast.Node) -> c_ast.Node | None:
        spot = self._number(node)
        view = self.views.get(text_of(spot.root)) if spot is not None else None
        if spot is None or view is None:
            return None
        assert spot.offset is not None
        if spot.offset % view.bytes or any(size % view.bytes for _, size in spot.terms):
            return None
        self._spell(spot.root, view)
        column: c_ast.Node = c_ast.Constant("int", str(spot.offset // view.bytes), spot.place)
        for number, size in spot.terms:
            factor = c_ast.Constant("int", str(size // view.bytes), spot.place)
            term = c_ast.BinaryOp("*", factor, number) if size > view.bytes else number
            column = c_ast.BinaryOp("+", column, term)
        start, end = extent(spot.root, self.names.function.file.tokens)
        name = c_ast.ID(view.name, Coord("", start, end))
        row = spot.row if spot.row is not spot.root else name
        new = c_ast.ArrayRef(row, column, node.coord)
        replace_nodes(new, lambda part: name if part is spot.root else None)
        replace_nodes(new, self._replacement)
        return new

    def _spell(self, root: c_ast.Node, view: _View) -> None:
        """Note how the region's text comes to the array of structs by the view's name."""
        start, end = extent(root, self.names.function.file.tokens)
        written, text = self.names.function.file.clean.text[start:end], text_of(root)
        if "".join(written.split()) == "".join(text.split()):
            self.table.spell(start, end, f"(({view.cast}){view.name})")
        elif not isinstance(root, c_ast.ID):
            self.table.refuse(messages.ALIAS_IN_MACRO, root, name=text, macro=written)
        if isinstance(root, c_ast.ID):
            # A macro may name the array, or a pointer into it be set from it elsewhere.
            declaration = f"{view.cast.replace('*', f'*{text}', 1)} = ({view.cast}){view.name};"
            self.table.declarations[text] = declaration


def _element(pointer: _Spot, place: Coord | None) -> _Spot | None:
    """Return the struct that a pointer into an array of structs points to."""
    if pointer.offset is not None or len(pointer.symbol.layers) != 1:
        return None
    row: c_ast.Node = c_ast.UnaryOp("*", pointer.row, pointer.row.coord)
    if not isinstance(pointer.row, c_ast.BinaryOp):
        row = c_ast.ArrayRef(pointer.row, c_ast.Constant("int", "0", place), pointer.row.coord)
    return replace(
        pointer,
        row=row,
        symbol=replace(pointer.symbol, layers=()),
    )


def _below(inside: _Spot, row: c_ast.Node) -> _Spot:
    """Return what a subscript or ``*`` makes of an array of structs."""
    symbol = replace(inside.symbol, layers=inside.symbol.layers[1:])
    return replace(inside, row=row, symbol=symbol, is_bare=False)
