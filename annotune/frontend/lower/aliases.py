"""Plain names for what legacy C spells otherwise: ``*n`` of a Fortran caller, ``grid->nx``,
``offsets[4]`` of a table of integers.

Before a region is lowered, each such place in its syntax tree becomes an identifier of ours with
a declaration of its own. No later stage meets a pointer to a size or a member of a struct.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frontend import messages
from annotune.frontend.lower.names import Names, fixed_extents, pointers_in, sure_pointers
from annotune.frontend.read.constant import integer
from annotune.frontend.read.syntax import c_ast, extent, walk_tree
from annotune.frontend.types.symbols import INTEGERS, Meaning, Symbol, field_of, text_of, type_words
from annotune.ir.c_types import StoredName, may_share
from annotune.ir.region import Alias, Spelling

_STEPS = frozenset({"++", "--", "p++", "p--"})
_CHANGING = _STEPS | {"&"}
_INT_BITS = 32
# An alias is read by the caller's own thread.
PLAIN = frozenset({"", "_Thread_local"})


@dataclass(frozen=True)
class Aliased:
    """A region's statements with plain names in them, and what the names stand for."""

    statements: Sequence[Any]
    formulas: Mapping[str, Any]
    aliases: tuple[Alias, ...] = ()
    spellings: tuple[Spelling, ...] = ()


def with_aliases(
    statements: Sequence[Any],
    formulas: Mapping[str, Any],
    names: Names,
    taken: Iterable[str],
    body: Any,
    region_start: int,
) -> Aliased:
    """Return `statements` with aliases in place; `names` learns their declarations.

    `formulas` are definitions from before the region, in which the same aliases stand.
    `taken` are names that the function, whose body is `body`, or its file use already. The given
    tree stays as it is.

    Raises:
        AnnotuneError: A size behind a pointer or in a struct is changed by the region.
    """
    block = c_ast.Compound(list(statements))
    before = c_ast.ExprList(list(formulas.values()))
    if not any(_may_be_alias(node) for tree in (block, before) for node in walk_tree(tree)):
        return Aliased(statements, formulas)
    block, before = copy.deepcopy(block), copy.deepcopy(before)
    own = frozenset(n.name for n in walk_tree(block) if isinstance(n, c_ast.Decl) and n.name)
    maker = _Maker(names, set(taken), region_start, own)
    stored = [base for node in walk_tree(block) for base in maker.stores(node)]
    maker.written_integers = any(maker.holds_integers(base) for base in stored)
    if not names.are_disjoint:
        maker.written_behind = [(text_of(base), maker.place_of(base)) for base in stored]
    maker.addressed = _addressed(body)
    maker.read_before = frozenset(sure_pointers(body, statements, names, region_start))
    maker.refuse_changes(block)
    _replace(block, maker.replacement)
    _replace(before, maker.replacement)
    if maker.problems:
        raise AnnotuneError(tuple(maker.problems))
    spellings = sorted(maker.spellings, key=lambda s: s.start)
    named = dict(zip(formulas, before.exprs, strict=True))
    return Aliased(block.block_items, named, tuple(maker.aliases.values()), tuple(spellings))


def key(alias: Alias) -> str:
    """Return the name under which a user gives a value to an alias: ``n`` for ``*n``."""
    return alias.spelling.replace("->", ".").split(".")[-1].strip("*() ")


def _addressed(body: Any) -> frozenset[str]:
    """Return the variables of a function whose address, or a part's, it may take."""
    parts = (n.expr for n in walk_tree(body) if isinstance(n, c_ast.UnaryOp) and n.op == "&")
    return frozenset(n.name for part in parts for n in walk_tree(part) if isinstance(n, c_ast.ID))


def _may_be_alias(node: Any) -> bool:
    is_element = isinstance(node, c_ast.ArrayRef) and isinstance(node.subscript, c_ast.Constant)
    return isinstance(node, c_ast.StructRef) or is_element or _dereferenced(node) is not None


def _dereferenced(node: Any) -> Any:
    """Return the identifier that ``*n`` reads through, None when `node` is something else."""
    is_plain = isinstance(node, c_ast.UnaryOp) and node.op == "*"
    return node.expr if is_plain and isinstance(node.expr, c_ast.ID) else None


def _replace(node: Any, change: Callable[[Any], Any]) -> None:
    """Put `change`'s answer in the place of every node below `node` that it has one for."""
    for name, child in node.children():
        new = change(child)
        if new is None:
            _replace(child, change)
            continue
        field_name, bracket, index = name.partition("[")
        if bracket:
            getattr(node, field_name)[int(index.rstrip("]"))] = new
        else:
            setattr(node, field_name, new)


@dataclass
class _Maker:
    """The aliases made so far, by the C text that they stand for.

    `written_integers` says that the region stores integers in memory, which ``*n`` may be;
    `written_behind` are the arrays that it stores into, one perhaps ``&p->nx``. `read_before`
    are the pointers that are read through whether the region's loops run or not, `own` the names
    that the region declares, `addressed` those whose address the function takes.
    """

    names: Names
    taken: set[str]
    region_start: int
    own: frozenset[str]
    written_integers: bool = False
    written_behind: Sequence[tuple[str, StoredName]] = ()
    read_before: frozenset[str] = frozenset()
    addressed: frozenset[str] = frozenset()
    aliases: dict[str, Alias] = field(default_factory=dict)
    spellings: list[Spelling] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    def stores(self, node: Any) -> Iterator[Any]:
        """Yield the array, or the member that points to one, into which `node` stores."""
        base = None
        if isinstance(node, c_ast.Assignment):
            base = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in _STEPS:
            base = node.expr
        # A change of ``*n`` itself, or of a member, is refused for what it is.
        pointer = _dereferenced(base)
        is_size = pointer is not None and self.holds_integers(pointer)
        if not isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp) or is_size:
            return
        while isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.BinaryOp):
            parts = [*base]
            base = parts[0]
        if isinstance(base, c_ast.ID) and base.name in self.own:
            return
        symbol = self._symbol(base)
        if symbol is None or symbol.is_array:
            yield base

    def holds_integers(self, base: Any) -> bool:
        """Return whether what is stored into holds integers, as far as is known."""
        symbol = self._symbol(base)
        return symbol is None or symbol.base in INTEGERS

    def place_of(self, base: Any) -> StoredName:
        """Return what is declared of an array that is stored into; of an unknown one, nothing."""
        symbol = self._symbol(base)
        return (
            StoredName("char", is_pointer=True) if symbol is None else self.names.place_of(symbol)
        )

    def _symbol(self, base: Any) -> Symbol | None:
        if isinstance(base, c_ast.ID):
            return self.names.find(base.name)
        if isinstance(base, c_ast.StructRef):
            record = self._record(base.name)
            decl = field_of(record, base.field.name) if record is not None else None
            return None if decl is None else self.names.file_scope.types.symbol(decl, "file")
        return None

    def refuse_changes(self, block: Any) -> None:
        """Note each place that changes what an alias would stand for."""
        for node in walk_tree(block):
            target = None
            if isinstance(node, c_ast.Assignment):
                target = node.lvalue
            elif isinstance(node, c_ast.UnaryOp) and node.op in _CHANGING:
                target = node.expr
            if isinstance(target, c_ast.StructRef) or self._is_size(target):
                text = text_of(target)
                self.problems.append(messages.ALIAS_CHANGES.at(self.place(target), name=text))

    def replacement(self, node: Any) -> Any:
        """Return the identifier for a node, None where the node stays."""
        symbol = None
        if isinstance(node, c_ast.StructRef):
            symbol = self._member(node)
        elif self._is_size(node):
            pointer = self.names.find(node.expr.name)
            assert pointer is not None
            symbol = Meaning((), pointer.base, pointer.base)
        elif isinstance(node, c_ast.ArrayRef):
            symbol = self._table_element(node)
        if symbol is None:
            return None
        spelling = text_of(node)
        if spelling not in self.aliases:
            self._declare(spelling, symbol, node)
        return self._identifier(node, spelling)

    def _identifier(self, node: Any, spelling: str) -> Any:
        name = self.aliases[spelling].name
        start, end = extent(node, self.names.file.tokens)
        coord = copy.copy(node.coord or _first_coord(node))
        coord.line, coord.column = start, end
        if start < self.region_start:
            return c_ast.ID(name, coord)
        written = self.names.file.clean.text[start:end]
        if "".join(written.split()) != "".join(spelling.split()):
            # The text of a macro's body does not stand in the region.
            problem = messages.ALIAS_IN_MACRO.at(self.place(node), name=spelling, macro=written)
            self.problems.append(problem)
        self.spellings.append(Spelling(start, end, name))
        return c_ast.ID(name, coord)

    def _declare(self, spelling: str, meaning: Meaning, node: Any) -> None:
        name = self._fresh(spelling)
        value = spelling
        unsure = [p for p in pointers_in(node) if p not in self.read_before]
        if unsure:
            # The region may never read through it, and then it may be NULL.
            value = f"{' && '.join(unsure)} ? {spelling} : 0"
        declaration = f"{meaning.declared(name)} = {value};"
        self.aliases[spelling] = Alias(name, spelling, declaration)
        start, end = extent(node, self.names.file.tokens)
        # A parameter: its value is there before the region, and never changes in it.
        self.names.scopes[0][name] = Symbol(
            name, meaning.layers, meaning.base, True, "parameter", start, end, meaning.is_const
        )

    def _fresh(self, spelling: str) -> str:
        words = "".join(c if c.isalnum() or c == "_" else " " for c in spelling).split()
        name = "_".join(words) if len(words) > 1 else f"{words[0]}_"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _is_size(self, node: Any) -> bool:
        """Return whether `node` reads one integer through a pointer that the region keeps."""
        pointer = _dereferenced(node)
        if pointer is None or self.written_integers:
            return False
        symbol = self.names.find(pointer.name)
        return (
            symbol is not None
            and symbol.base in INTEGERS
            and len(symbol.layers) == 1
            and symbol.layers[0].kind == "*"
            and symbol.special in PLAIN
        )

    def _table_element(self, node: Any) -> Meaning | None:
        """Return what one integer of a table is, with constant subscripts in its declared range.

        A declared range, since the alias reads the element also where the region would not.
        """
        places: list[int] = []
        base = node
        while isinstance(base, c_ast.ArrayRef):
            value = integer(getattr(base.subscript, "value", ""))
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
        if not all(0 <= place < extent for place, extent in zip(places, extents, strict=True)):
            return None
        return Meaning((), symbol.base, symbol.base)

    def _member(self, node: Any) -> Meaning | None:
        """Return what a member is, None where it is left to be refused."""
        record = self._record(node.name)
        decl = field_of(record, node.field.name) if record is not None else None
        if decl is None:
            return None
        symbol = self.names.file_scope.types.symbol(decl, "file")
        if symbol.base in ("struct", "union") or not symbol.is_known or symbol.special:
            return None
        owners = (self.names.find(n.name) for n in walk_tree(node.name) if isinstance(n, c_ast.ID))
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
        return Meaning(symbol.layers, symbol.base, spelled, symbol.is_const)

    def _is_in_union(self, node: Any) -> bool:
        """Return whether a member, or a struct that it is in, shares its place with others."""
        if not isinstance(node, c_ast.StructRef):
            return False
        record = self._record(node.name)
        unions = [n for n in walk_tree(record) if isinstance(n, c_ast.Union)]
        own = field_of(record, node.field.name)
        shared = any(own is member for union in unions for member in union.decls or [])
        return shared or (node.type == "." and self._is_in_union(node.name))

    def _refuse_element(self, node: Any, member: Symbol) -> bool:
        """Note that a member may change; a definition from before the region is left unused."""
        own = StoredName("void *" if member.is_array else member.base)
        # A pointer that its own stores change is of no more use to any of them.
        behind = [(name, at) for name, at in self.written_behind if name != text_of(node)]
        shares = [name for name, at in behind if may_share(at, own)]
        if not shares or self._is_out_of_reach(node):
            return False
        start, _ = extent(node, self.names.file.tokens)
        if start >= self.region_start:
            name = text_of(node)
            problem = messages.MAY_BE_ELEMENT.at(self.place(node), name=name, array=shares[0])
            self.problems.append(problem)
        return True

    def _is_out_of_reach(self, node: Any) -> bool:
        """Return whether a member is one of a variable whose address no pointer has."""
        while isinstance(node, c_ast.StructRef) and node.type == ".":
            node = node.name
        symbol = self.names.find(node.name) if isinstance(node, c_ast.ID) else None
        if symbol is None or symbol.is_array or symbol.name in self.addressed:
            return False
        return symbol.storage in ("parameter", "local")

    def _bitfield_of(self, symbol: Symbol, bits: Any) -> Meaning | None:
        """Return what a bit-field is: an int where an int holds all its values (C11 6.3.1.1)."""
        width = self.names.file.value(bits, dict(self.names.file_scope.enumerators))
        if width is None or width > _INT_BITS or symbol.base == "_Bool":
            return None
        base = symbol.base if width == _INT_BITS else "int"
        return Meaning((), base, base)

    def _record(self, node: Any) -> Any:
        """Return the struct that an expression without subscripts names, None for any other."""
        types = self.names.file_scope.types
        match node:
            case c_ast.ID():
                symbol = self.names.find(node.name)
                return symbol.record if symbol is not None and len(symbol.layers) <= 1 else None
            case c_ast.UnaryOp(op="*"):
                return self._record(node.expr)
            case c_ast.StructRef():
                outer = self._record(node.name)
                decl = field_of(outer, node.field.name) if outer is not None else None
                if decl is None or len(types.symbol(decl, "file").layers) > 1:
                    return None
                return types.symbol(decl, "file").record
        return None

    def place(self, node: Any) -> Span:
        return self.names.file.source.span(*extent(node, self.names.file.tokens))


def _first_coord(node: Any) -> Any:
    return next(_coords(node))


def _coords(node: Any) -> Iterator[Any]:
    for inner in walk_tree(node):
        if inner.coord is not None:
            yield inner.coord
