"""One name for each variable of a region, whatever its scopes: ``int i = n; for (int i = 0; …)``.

Nests, formulas and all later stages know variables by their names. So before a region is lowered,
the tree of its function gets names that are unique in the region. What the region declares keeps
the user's name, since recipes and messages use it; what that hides has a name of ours everywhere in
the function, an alias like that of a member of a struct: ``i_outer``. Where the region declares a
name again with another type, or in the scope of the first, that one becomes ``i_2``.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from pycparser import c_ast

from annotune.annotation.regions import AnnotationBlock
from annotune.diagnostics import AnnotuneError
from annotune.frontend import messages
from annotune.frontend.read.region_finder import ParsedFunction, changes_in, find
from annotune.frontend.read.syntax import HOLDERS, changed_by, text_of, token_place, walk_tree
from annotune.frontend.types.kinds import COMPLEX
from annotune.frontend.types.symbols import INTEGERS, REALS, Meaning, Symbol
from annotune.frozen import dataclass
from annotune.ir.region import Alias, Spelling

Tree = TypeVar("Tree", bound=c_ast.Node | None)

_NUMBERS = INTEGERS | REALS | COMPLEX


@dataclass(frozen=True)
class UniqueNames:
    """A function in whose region no two variables have one name.

    `aliases` declare the names of ours, and `spellings` are the places of these in the region.
    """

    function: ParsedFunction
    aliases: tuple[Alias, ...] = ()
    spellings: tuple[Spelling, ...] = ()


def with_unique_names(function: ParsedFunction, block: AnnotationBlock) -> UniqueNames:
    """Return a function with unique names in the region of a block; the given tree stays.

    Raises:
        AnnotuneError: What the region hides is used in it, and can have no other name there.
    """
    place = find(function, block.body_start, block.body_end, block.span)
    groups = _alike(function, _resolve_statements(place.statements))
    outer = {name: function.scope.find(name, place.scopes) for name, _ in groups}
    hidden = {
        name: symbol
        for name, symbol in outer.items()
        if (name in function.scope.enumerators if symbol is None else not _is_function(symbol))
    }
    if not hidden and len(outer) == len(groups):
        return UniqueNames(function)
    own = replace(function, tree=copy.deepcopy(function.tree), scope=function.scope.copy())
    place = find(own, block.body_start, block.body_end, block.span)
    return _Renaming(own, place.statements, hidden).done()


def _is_function(symbol: Symbol) -> bool:
    return "()" in {layer.kind for layer in symbol.layers}


def _walk_identifiers(node: c_ast.Node | None) -> Iterator[c_ast.ID]:
    """Yield the identifiers of a tree that name no member."""
    waiting = [node] if node is not None else []
    while waiting:
        match waiting.pop():
            case c_ast.ID() as identifier:
                yield identifier
            case c_ast.StructRef(name=owner):
                waiting.append(owner)
            case c_ast.NamedInitializer(expr=value):
                waiting.append(value)
            case one:
                waiting += [*one]


def _resolve_names(node: c_ast.Node, scope: dict[str, c_ast.Decl]) -> Iterator[_Meaning]:
    """Yield the identifiers of a statement with what declares them in it, None for others.

    A declaration comes with what it hides. `scope` has the declarations in force, and learns those
    of the statement.
    """
    match node:
        case c_ast.DeclList():
            for decl in node.decls:
                yield from _resolve_names(decl, scope)
        case c_ast.Decl():
            yield from ((one, scope.get(one.name)) for one in _walk_identifiers(node.type))
            if node.name:
                yield node, scope.get(node.name)
                scope[node.name] = node
            yield from ((one, scope.get(one.name)) for one in _walk_identifiers(node.init))
        case c_ast.For():
            inner = dict(scope)
            for part in (node.init, node.cond, node.next, node.stmt):
                yield from _resolve_names(part, inner) if part is not None else ()
        case _ if isinstance(node, HOLDERS):
            inner = dict(scope)
            for part in node:
                yield from _resolve_names(part, inner)
        case _:
            yield from ((one, scope.get(one.name)) for one in _walk_identifiers(node))


_Meaning: TypeAlias = tuple[c_ast.ID | c_ast.Decl, c_ast.Decl | None]


def _resolve_statements(statements: Sequence[c_ast.Node]) -> list[_Meaning]:
    """Return the names of a region in text order, with what declares or hides them in it."""
    scope: dict[str, c_ast.Decl] = {}
    return [pair for one in statements for pair in _resolve_names(one, scope)]


def _alike(
    function: ParsedFunction, meanings: Sequence[_Meaning]
) -> dict[tuple[str, str], list[c_ast.Decl]]:
    """Return the declarations of a region that may share a name, by that and by their type.

    They are alike, and none is in the scope of another.
    """
    groups: dict[tuple[str, str], list[c_ast.Decl]] = {}
    for one, earlier in meanings:
        if isinstance(one, c_ast.Decl) and one.name:
            kind = _declared_kind(function, one)
            if earlier is not None:
                kind += f" in {id(earlier)}"
            groups.setdefault((one.name, kind), []).append(one)
    return groups


def _declared_kind(function: ParsedFunction, decl: c_ast.Decl) -> str:
    """Return the type of a declaration, for two to be compared."""
    symbol = function.scope.types.symbol(decl, "region")
    layers = "".join(f"{one.kind}{text_of(one.dim) if one.dim else ''}" for one in symbol.layers)
    return f"{symbol.base}{layers}{id(symbol.record) if symbol.record else ''}"


# What may leave out a statement of the region.
_JUMPS = (c_ast.Goto, c_ast.Break, c_ast.Continue, c_ast.Return)


class _Renaming:
    """The names of a region and of the function around it, whose tree changes."""

    def __init__(
        self,
        function: ParsedFunction,
        statements: Sequence[c_ast.Node],
        hidden: Mapping[str, Symbol | None],
    ) -> None:
        self.function = function
        self.statements = statements
        self.hidden = hidden
        self.meanings = _resolve_statements(statements)
        words = function.file.words(function.part)
        self.taken = {*words, *function.scope.symbols, *function.file.clean.macros}
        self.spellings: list[Spelling] = []

    def done(self) -> UniqueNames:
        """Return the function with its new names."""
        self._rename_declared_again()
        outer = {name: self._fresh(f"{name}_outer") for name in self.hidden}
        aliases = [self._alias(name, outer[name]) for name in self.hidden]
        for one, declaration in self.meanings:
            if isinstance(one, c_ast.ID) and declaration is None and one.name in outer:
                self._rename_hidden(one, outer[one.name])
        self._rename_around(outer)
        self._rename_in_types(outer)
        scope, changes = self.function.scope, changes_in(self.function.tree.body)
        for name, new in outer.items():
            # No use of the old name means what the file has by it any more.
            if name in scope.symbols:
                scope.symbols[new] = replace(scope.symbols.pop(name), name=new)
            if name in scope.enumerators:
                scope.enumerators[new] = scope.enumerators.pop(name)
            scope.spellings[new] = name
        function = replace(self.function, changes=changes)
        return UniqueNames(function, tuple(aliases), tuple(self.spellings))

    def _fresh(self, wanted: str) -> str:
        name = wanted
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    # What the region declares -------------------------------------------------------------

    def _rename_declared_again(self) -> None:
        """Rename the declarations that are not like the first one of their name."""
        firsts: dict[str, str] = {}
        for (name, kind), decls in _alike(self.function, self.meanings).items():
            if firsts.setdefault(name, kind) != kind:
                self._rename_own(name, decls)

    def _rename_own(self, name: str, decls: Sequence[c_ast.Decl]) -> None:
        places = {id(decl) for decl in decls}
        pairs = ((one, decl) for one, decl in self.meanings if id(decl) in places)
        uses = [one for one, _ in pairs if isinstance(one, c_ast.ID)]
        texts = [self._text_place(decl) for decl in decls]
        texts += [self._text_place(use) for use in uses]
        if None in texts:
            # A macro makes it: it keeps its name, and is refused.
            return
        number = 2
        while f"{name}_{number}" in self.taken:
            number += 1
        new = self._fresh(f"{name}_{number}")
        self.spellings += [Spelling(*place, new) for place in texts if place is not None]
        for decl in decls:
            _rename_declaration(decl, new)
        for use in uses:
            use.name = new

    def _text_place(self, node: c_ast.ID | c_ast.Decl) -> tuple[int, int] | None:
        """Return the place of a name in the user's text, None where a macro makes it."""
        if isinstance(node, c_ast.Decl):
            symbol = self.function.scope.types.symbol(node, "region")
            place = symbol.start, symbol.end
        else:
            place = token_place(node)
        return place if self.function.file.clean.text[slice(*place)] == node.name else None

    # What it hides ------------------------------------------------------------------------

    def _alias(self, name: str, new: str) -> Alias:
        """Return the declaration of a hidden variable's new name."""
        symbol = self.hidden[name]
        targets = (changed_by(n) for one in self.statements for n in walk_tree(one))
        outer = {id(one) for one, decl in self.meanings if decl is None}
        is_set = any(
            isinstance(target, c_ast.ID) and target.name == name and id(target) in outer
            for target in targets
        )
        if symbol is None:
            return Alias(new, name, f"const int {new} = {name};")
        base = symbol.base.replace("complex", "_Complex")
        if is_set and not symbol.layers:
            # To read what nobody has set yet is a warning of compilers.
            value = "" if self._is_overwritten(name, outer) else f" = {name}"
            return Alias(new, name, f"{base} {new}{value};", f"{name} = {new};")
        if symbol.base in _NUMBERS and symbol.is_pointer != bool(symbol.layers):
            return Alias(new, name, f"const __typeof__(&{name}[0]) {new} = {name};")
        if symbol.base in _NUMBERS:
            declared = Meaning(symbol.layers, base, base, symbol.is_const).declared(new)
            return Alias(new, name, f"{declared} = {name};")
        value = f"&{name}[0]" if symbol.layers else name
        return Alias(new, name, f"const __typeof__({value}) {new} = {name};")

    def _is_overwritten(self, name: str, outer: Collection[int]) -> bool:
        """Return whether the region sets a hidden variable before anything reads it."""

        def has_use(node: c_ast.Node) -> bool:
            return any(
                isinstance(one, c_ast.ID) and one.name == name and id(one) in outer
                for one in walk_tree(node)
            )

        if any(isinstance(n, _JUMPS) for one in self.statements for n in walk_tree(one)):
            return False
        for statement in self.statements:
            first = statement.init if isinstance(statement, c_ast.For) else statement
            if (
                isinstance(first, c_ast.Assignment)
                and first.op == "="
                and isinstance(first.lvalue, c_ast.ID)
                and has_use(first.lvalue)
            ):
                return not has_use(first.rvalue)
            if has_use(statement):
                return False
        return False

    def _rename_hidden(self, use: c_ast.ID, new: str) -> None:
        """Give a use in the region its new name.

        Raises:
            AnnotuneError: It is no number, nor a pointer to some, or a macro makes it.
        """
        symbol, place = self.hidden[use.name], self._text_place(use)
        is_plain = symbol is None or (
            symbol.base in _NUMBERS and symbol.is_pointer == bool(symbol.layers)
        )
        if place is None or not is_plain or (symbol is not None and symbol.special):
            span = self.function.file.source.span(*token_place(use))
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=use.name))
        self.spellings.append(Spelling(*place, new))
        use.name = new

    def _rename_around(self, outer: Mapping[str, str]) -> None:
        """Give what is hidden its new name in the rest of the function."""
        region = {id(statement) for statement in self.statements}
        waiting: list[c_ast.Node] = [self.function.tree]
        while waiting:
            node = waiting.pop()
            if id(node) in region:
                continue
            match node:
                case c_ast.ID(name=name) if name in outer:
                    node.name = outer[name]
                case c_ast.Decl(name=str() as name) if name in outer:
                    _rename_declaration(node, outer[name])
                case c_ast.Enumerator(name=name) if name in outer:
                    node.name = outer[name]
                case c_ast.StructRef():
                    waiting.append(node.name)
                    continue
                case c_ast.NamedInitializer():
                    waiting.append(node.expr)
                    continue
            waiting += [*node]

    def _rename_in_types(self, outer: Mapping[str, str]) -> None:
        """Give what is hidden its new name in the lengths that the file's declarations have."""
        scope = self.function.scope
        types = scope.types
        layers = [layer for symbol in scope.symbols.values() for layer in symbol.layers]
        trees = [*types.typedefs.values(), *types.records.values(), *(one.dim for one in layers)]
        nodes = (node for tree in trees for node in walk_tree(tree))
        if not any(isinstance(node, c_ast.ID) and node.name in outer for node in nodes):
            return
        # Each struct has one tree still, wherever it is named.
        copies: dict[int, object] = {}

        def renamed(tree: Tree) -> Tree:
            new = copy.deepcopy(tree, copies)
            for node in walk_tree(new):
                if isinstance(node, c_ast.ID):
                    node.name = outer.get(node.name, node.name)
            return new

        for name, node in types.typedefs.items():
            types.typedefs[name] = renamed(node)
        for name, record in types.records.items():
            types.records[name] = renamed(record)
        for name, symbol in scope.symbols.items():
            own = tuple(replace(one, dim=renamed(one.dim)) for one in symbol.layers)
            of_own = None if symbol.record is None else renamed(symbol.record)
            scope.symbols[name] = replace(symbol, layers=own, record=of_own)


def _rename_declaration(decl: c_ast.Decl, name: str) -> None:
    decl.name = name
    for inner in walk_tree(decl.type):
        if isinstance(inner, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl):
            continue
        if isinstance(inner, c_ast.TypeDecl):
            inner.declname = name
        return
