"""Under which types of the user's headers, and of enumerations, a region is what was read.

A header may be written anew without the file's being touched, and of enumerations a compiler
chooses the type. The nest was made with certain types: the emitted text has the compiler test that
the numbers that the region names, and the types that it names, still have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from annotune.frontend.lower.expressions import defined_function
from annotune.frontend.lower.names import Names
from annotune.frontend.macro_texts import (
    is_from_header,
    is_of_header,
    words_between,
    words_declaring,
)
from annotune.frontend.read.filescope import Declaration, File
from annotune.frontend.read.region_finder import ParsedFunction
from annotune.frontend.read.syntax import names_in, text_of, walk_tree
from annotune.frontend.types.kinds import COMPLEX
from annotune.frontend.types.symbols import INTEGERS, REALS, Layer, Symbol, Types, field_of
from annotune.ir.region import Assertion

_NUMBERS = INTEGERS | REALS | COMPLEX
_INT_BITS = 32


def types_read(
    names: Names,
    statements: Sequence[c_ast.Node],
    formulas: Mapping[str, c_ast.Node],
    place: tuple[int, int],
) -> tuple[Assertion, ...]:
    """Return what must hold of types for a region at `place`.

    `formulas` are definitions from before it that the nest uses, by the variables that they define.
    """
    finder = _TypeFinder(names, statements)
    here = names.function.file.declaration(names.function.part)
    words = words_between(names.function.file, *place)
    found = list(types_named(words, names.function.file, here, names.function.scope.types))
    for node in (*statements, *formulas.values(), *map(c_ast.ID, formulas)):
        found += finder.of_places(node)
    ours = names.function.scope.spellings
    for symbol in names.used.meanings.values():
        if symbol.name not in ours and symbol.storage != "region":
            found += finder.of_places(c_ast.ID(symbol.name))
    return tuple(dict.fromkeys((*found, *_types_of_macros(names))))


def types_named(
    words: Iterable[str], file: File, here: Declaration, types: Types
) -> Iterator[Assertion]:
    """Yield what the types are that `words` before a function name, where that may be otherwise."""
    for word in sorted(words):
        named = types.typedefs.get(word)
        tag = f"enum {word}"
        if tag in types.enumerations:
            yield from _has_type(tag, f"({tag})0", types.enumerations[tag])
        if named is None:
            continue
        layers: list[Layer] = []
        base, is_known = types.base_of(named, layers)
        is_number = is_known and all(layer.kind != "()" for layer in layers)
        if is_number and (types.is_enumeration(named) or is_from_header(word, file, here)):
            value = f"*({word} *)0"
            yield from _has_type(word, f"({value}){'[0]' * len(layers)}" if layers else value, base)


def _types_of_macros(names: Names) -> Iterator[Assertion]:
    """Yield that integers of headers' macros are of the type that was read."""
    clean, start = names.function.file.clean, names.given.start
    for scalar in names.used.scalars.values():
        name = names.function.scope.spelled(scalar.name)
        if scalar.is_macro and is_of_header(clean, name, start):
            yield from _has_type(name, name, scalar.type)


class _TypeFinder:
    """The types of the numbers that a region names."""

    def __init__(self, names: Names, statements: Sequence[c_ast.Node]) -> None:
        self.names = names
        self.function: ParsedFunction = names.function
        self.types = names.function.scope.types
        self.here = self.function.file.declaration(self.function.part)
        block = c_ast.Compound([*statements])
        decls = (node for node in walk_tree(block) if isinstance(node, c_ast.Decl) and node.name)
        self.own = {decl.name: self.types.symbol(decl, "region") for decl in decls}

    def of_places(self, node: c_ast.Node) -> Iterator[Assertion]:
        """Yield the types of all places that a tree names."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
                yield from self._of_call(node.name.name)
            place, numbers = self._without_numbers(node)
            if place is not None:
                yield from self._of_place(place)
            waiting += numbers

    def _of_call(self, name: str) -> Iterator[Assertion]:
        """Yield the type of what a function returns that a header declares or has types for."""
        file = self.function.file
        symbol, defined = (
            self.names.find(name) or defined_function(name, self.names),
            file.definition(name),
        )
        dim = symbol.layers[0].dim if symbol is not None and len(symbol.layers) == 1 else None
        if symbol is None or not isinstance(dim, c_ast.ParamList):
            return
        trees = [p.type for p in dim if isinstance(p, c_ast.Decl | c_ast.Typename)]
        parameters = [self.types.base_of(tree, []) for tree in trees]
        if any(base in ("struct", "union") for base, _ in parameters):
            return
        words = file.words(defined.part) if defined is not None and defined.file is file else set()
        is_open = is_from_header(name, file, self.here) or (defined and defined.file is not file)
        if is_open or self._has_open_type(words_declaring(self.function, [symbol]) | words):
            zeros = ", ".join("0" for base, _ in parameters if base != "void")
            yield from _has_type(f"{name}()", f"{name}({zeros})", symbol.base)

    def _without_numbers(self, node: c_ast.Node) -> tuple[c_ast.Node | None, list[c_ast.Node]]:
        """Return a place with 0 for its subscripts, None for no place, and what else it is made of.

        ``s[i].v[k]`` is ``s[0].v[0]`` and `i` and `k`.
        """
        match node:
            case c_ast.ID():
                return node, []
            case c_ast.FuncCall(name=c_ast.ID()):
                return None, [*(node.args or ())]
            case c_ast.StructRef():
                inner, numbers = self._without_numbers(node.name)
                made = c_ast.StructRef(inner, node.type, node.field) if inner else None
                return made, numbers
            case c_ast.ArrayRef(name=pointer, subscript=number):
                inner, numbers = self._without_numbers(pointer)
                numbers = [*numbers, number]
            case c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+" | "-") as moved):
                sides = [moved.left, moved.right]
                if not self._is_pointer(sides[0]):
                    sides.reverse()
                inner, numbers = self._without_numbers(sides[0])
                numbers = [*numbers, sides[1]]
            case c_ast.UnaryOp(op="*"):
                inner, numbers = self._without_numbers(node.expr)
            case _:
                return None, [*node]
        zero = c_ast.Constant("int", "0")
        return (c_ast.ArrayRef(inner, zero) if inner is not None else None), numbers

    def _is_pointer(self, node: c_ast.Node) -> bool:
        place, _ = self._without_numbers(node)
        symbol = self._symbol_declared_by(place) if place is not None else None
        return symbol is not None and symbol.is_array

    def _symbol_declared_by(self, place: c_ast.Node) -> Symbol | None:
        """Return what is declared of a place, of which the region may declare the variable."""
        match place:
            case c_ast.ID(name=name) if name in self.own:
                return self.own[name]
            case c_ast.ArrayRef(name=inner):
                symbol = self._symbol_declared_by(inner)
                if symbol is None or not symbol.layers:
                    return None
                return replace(symbol, layers=symbol.layers[1:])
            case c_ast.StructRef(name=inner):
                owner = self._symbol_declared_by(inner)
                decl = field_of(owner.record, place.field.name) if owner and owner.record else None
                return None if decl is None else self.types.symbol(decl, "file")
        return self.names.declared(place)

    def _of_place(self, place: c_ast.Node) -> Iterator[Assertion]:
        symbol, roots = self._symbol_declared_by(place), [*names_in(place)]
        if symbol is None or not symbol.is_known or not roots:
            return
        root = self.own.get(roots[0]) or self.names.find(roots[0])
        if root is None or not (symbol.is_enumeration or self._is_open(root)):
            return
        text = self._text_of(place)
        value, base = text, symbol.base
        if isinstance(place, c_ast.StructRef):
            owner = self._symbol_declared_by(place.name)
            decl = field_of(owner.record, place.field.name) if owner and owner.record else None
            if decl is not None and decl.bitsize is not None:
                bits = self.function.file.value(decl.bitsize, self.function.scope.constant)
                value, base = f"+{text}", base if bits == _INT_BITS else "int"
        first = "[0]" * len(symbol.layers)
        if text and all(layer.kind != "()" for layer in symbol.layers):
            yield from _has_type(f"{text}{first}", f"{value}{first}", base)

    def _text_of(self, place: c_ast.Node) -> str:
        """Return C for a place as it may be named before the region, empty where there is none."""
        spelled = self.function.scope.spelled
        root = next(names_in(place))
        own, text = self.own.get(root), text_of(place)
        if own is None:
            return re.sub(rf"^(\W*){root}\b", rf"\g<1>{spelled(root)}", text)
        struct = self.types.name_of(own.record)
        if not struct or root == text:
            return ""
        stars = "*" * len(own.layers)
        made = f"(({struct} {stars})0)" if stars else f"(*({struct} *)0)"
        return re.sub(rf"^(\W*){root}\b", rf"\g<1>{made}", text)

    def _is_open(self, root: Symbol) -> bool:
        """Return whether a header of the user's says what a variable, or a part of one, is."""
        file = self.function.file
        name = self.function.scope.spelled(root.name)
        if root.storage == "file" and is_from_header(name, file, self.here):
            return True
        return self._has_open_type(words_declaring(self.function, [root], is_alone=True))

    def _has_open_type(self, words: Iterable[str]) -> bool:
        file = self.function.file
        return any(is_from_header(word, file, self.here, is_type=True) for word in words)


def _has_type(name: str, value: str, base: str) -> Iterator[Assertion]:
    """Yield that a value is of type `base`, if that is a type of numbers."""
    if base not in _NUMBERS:
        return
    kinds = [base.replace(" complex", " _Complex")]
    # long and long long are one.
    kinds += [base.replace("long", "long long")] if base in ("long", "unsigned long") else []
    cases = ", ".join(f"{kind}: 1" for kind in kinds)
    yield Assertion(f"_Generic({value}, {cases}, default: 0)", f"{name} is of {base}")
