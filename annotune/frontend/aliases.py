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
from annotune.frontend.constant import integer
from annotune.frontend.extent import extent, walk
from annotune.frontend.local_arrays import fixed_extents
from annotune.frontend.names import Names
from annotune.frontend.pointers import pointers_in, sure_pointers
from annotune.frontend.symbols import INTEGERS, Layer, Symbol
from annotune.frontend.syntax import c_ast, c_generator
from annotune.ir.region import Alias, Spelling

_STEPS = frozenset({"++", "--", "p++", "p--"})
_CHANGING = _STEPS | {"&"}
_INT_BITS = 32


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
    if not any(_may_be_alias(node) for tree in (block, before) for node in walk(tree)):
        return Aliased(statements, formulas)
    block, before = copy.deepcopy(block), copy.deepcopy(before)
    own = frozenset(n.name for n in walk(block) if isinstance(n, c_ast.Decl) and n.name)
    maker = _Maker(names, set(taken), region_start, own)
    stored = [base for node in walk(block) for base in maker.stores_integers(node)]
    maker.written_integers = bool(stored)
    maker.written_behind = not names.are_disjoint and not all(map(maker.is_object, stored))
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

    `written_integers` says that the region stores integers in memory, which ``*n`` may be, and
    `written_behind` that it does so through a pointer, which may be ``&p->nx``. `read_before` are
    the pointers that are read through whether the region's loops run or not, `own` the names that
    the region declares.
    """

    names: Names
    taken: set[str]
    region_start: int
    own: frozenset[str]
    written_integers: bool = False
    written_behind: bool = False
    read_before: frozenset[str] = frozenset()
    aliases: dict[str, Alias] = field(default_factory=dict)
    spellings: list[Spelling] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    def stores_integers(self, node: Any) -> Iterator[Any]:
        """Yield the array, or the member that points to one, into which `node` stores integers."""
        base = None
        if isinstance(node, c_ast.Assignment):
            base = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in _STEPS:
            base = node.expr
        # A change of ``*n`` itself, or of a member, is refused for what it is.
        if not isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp) or _dereferenced(base) is not None:
            return
        while isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.BinaryOp):
            parts = [*base]
            base = parts[0]
        if isinstance(base, c_ast.ID) and base.name in self.own:
            return
        symbol = self._symbol(base)
        if symbol is None or (symbol.is_array and symbol.base in INTEGERS):
            yield base

    def is_object(self, base: Any) -> bool:
        """Return whether what is stored into is an array itself, nothing that a pointer chooses."""
        symbol = self._symbol(base)
        return symbol is not None and symbol.is_array and not symbol.is_pointer

    def _symbol(self, base: Any) -> Symbol | None:
        if isinstance(base, c_ast.ID):
            return self.names.find(base.name)
        if isinstance(base, c_ast.StructRef):
            record = self._record(base.name)
            decl = _field(record, base.field.name) if record is not None else None
            return None if decl is None else self.names.file_scope.types.symbol(decl, "file")
        return None

    def refuse_changes(self, block: Any) -> None:
        """Note each place that changes what an alias would stand for."""
        for node in walk(block):
            target = None
            if isinstance(node, c_ast.Assignment):
                target = node.lvalue
            elif isinstance(node, c_ast.UnaryOp) and node.op in _CHANGING:
                target = node.expr
            if isinstance(target, c_ast.StructRef) or self._is_size(target):
                text = _text(target)
                self.problems.append(messages.ALIAS_CHANGES.at(self.place(target), name=text))

    def replacement(self, node: Any) -> Any:
        """Return the identifier for a node, None where the node stays."""
        symbol = None
        if isinstance(node, c_ast.StructRef):
            symbol = self._member(node)
        elif self._is_size(node):
            pointer = self.names.find(node.expr.name)
            assert pointer is not None
            symbol = _Meaning((), pointer.base, pointer.base)
        elif isinstance(node, c_ast.ArrayRef):
            symbol = self._table_element(node)
        if symbol is None:
            return None
        spelling = _text(node)
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

    def _declare(self, spelling: str, meaning: _Meaning, node: Any) -> None:
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
            and not symbol.is_volatile
        )

    def _table_element(self, node: Any) -> _Meaning | None:
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
        if symbol.storage not in ("local", "static", "file") or symbol.is_volatile:
            return None
        extents = fixed_extents(symbol, self.names)
        if extents is None or len(extents) != len(places):
            return None
        if not all(0 <= place < extent for place, extent in zip(places, extents, strict=True)):
            return None
        return _Meaning((), symbol.base, symbol.base)

    def _member(self, node: Any) -> _Meaning | None:
        """Return what a member is, None where it is left to be refused."""
        record = self._record(node.name)
        decl = _field(record, node.field.name) if record is not None else None
        if decl is None:
            return None
        symbol = self.names.file_scope.types.symbol(decl, "file")
        if symbol.base in ("struct", "union") or not symbol.is_known or symbol.is_volatile:
            return None
        if symbol.is_array and symbol.layers[0].kind != "*" and self._is_in_union(node):
            # Its elements are those of another member, too, and of another type.
            return None
        if symbol.is_integer and self.written_behind:
            return None
        if decl.bitsize is not None:
            return self._bit_field(symbol, decl.bitsize)
        spelled = _type_words(decl)
        return _Meaning(symbol.layers, symbol.base, spelled, symbol.is_const)

    def _is_in_union(self, node: Any) -> bool:
        """Return whether a member, or a struct that it is in, shares its place with others."""
        if not isinstance(node, c_ast.StructRef):
            return False
        record = self._record(node.name)
        unions = [n for n in walk(record) if isinstance(n, c_ast.Union)]
        own = _field(record, node.field.name)
        shared = any(own is member for union in unions for member in union.decls or [])
        return shared or (node.type == "." and self._is_in_union(node.name))

    def _bit_field(self, symbol: Symbol, bits: Any) -> _Meaning | None:
        """Return what a bit-field is: an int where an int holds all its values (C11 6.3.1.1)."""
        width = self.names.file.value(bits, dict(self.names.file_scope.enumerators))
        if width is None or width > _INT_BITS or symbol.base == "_Bool":
            return None
        base = symbol.base if width == _INT_BITS else "int"
        return _Meaning((), base, base)

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
                decl = _field(outer, node.field.name) if outer is not None else None
                if decl is None or len(types.symbol(decl, "file").layers) > 1:
                    return None
                return types.symbol(decl, "file").record
        return None

    def place(self, node: Any) -> Span:
        return self.names.file.source.span(*extent(node, self.names.file.tokens))


@dataclass(frozen=True, slots=True)
class _Meaning:
    """The type behind an alias: `base` as annotune calls it, `spelled` as the user does."""

    layers: tuple[Layer, ...]
    base: str
    spelled: str
    is_const: bool = False

    def declared(self, name: str) -> str:
        """Return the declaration of `name` up to its value."""
        const = "const " if self.is_const else ""
        if not self.layers:
            return f"const {self.spelled} {name}"
        inner = "".join(f"[{_text(layer.dim)}]" for layer in self.layers[1:] if layer.dim)
        restrict = " restrict" if self.layers[0].is_restrict else ""
        pointer = f"*const{restrict} {name}"
        return f"{const}{self.spelled} " + (f"({pointer}){inner}" if inner else pointer)


def _field(record: Any, name: str) -> Any:
    """Return the declaration of a member, also one of an unnamed struct inside, or None."""
    for decl in record.decls or []:
        if getattr(decl, "name", None) == name:
            return decl
        if getattr(decl, "name", "") is None and isinstance(decl.type, c_ast.Struct | c_ast.Union):
            found = _field(decl.type, name)
            if found is not None:
                return found
    return None


def _type_words(decl: Any) -> str:
    node = decl.type
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    return " ".join(node.type.names) if isinstance(node.type, c_ast.IdentifierType) else "int"


def _text(node: Any) -> str:
    return str(c_generator.CGenerator().visit(node))


def _first_coord(node: Any) -> Any:
    return next(_coords(node))


def _coords(node: Any) -> Iterator[Any]:
    for inner in walk(node):
        if inner.coord is not None:
            yield inner.coord
