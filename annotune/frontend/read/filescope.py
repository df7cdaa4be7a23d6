"""What the file and its headers declare outside functions, parsed only as far as one needs it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import islice

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError
from annotune.frontend.read.macros import reached
from annotune.frontend.read.parse import (
    TopLevel,
    at_place,
    cut,
    declared_names,
    expanded,
    parse,
    parse_tokens,
)
from annotune.frontend.read.preprocess import Clean, Range, Unread, without_comments
from annotune.frontend.read.syntax import offset, value_of_tree, walk_tree
from annotune.frontend.read.tokens import IDENTIFIER, SourceText, Tokens
from annotune.frontend.types.symbols import Symbol, Types, enumeration_key, type_of_enumeration
from annotune.frozen import dataclass

_WORD = re.compile(r"\b(?P<word>[A-Za-z_]\w*)(?P<call>\s*\()?")
_F2C_STRUCTS = {
    "complex": "typedef struct { float r, i; } complex;",
    "doublecomplex": "typedef struct { double r, i; } doublecomplex;",
}


@dataclass
class FileScope:
    """The names that a function finds declared before it in the file.

    `spellings` are what the user writes, around a region, for names of ours in it.
    """

    types: Types
    symbols: dict[str, Symbol] = field(default_factory=dict)
    enumerators: dict[str, int] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)

    def find(self, name: str, scopes: Sequence[Mapping[str, Symbol]]) -> Symbol | None:
        """Return the innermost declaration of `name`, None when there is none."""
        inner = (scope[name] for scope in reversed(scopes) if name in scope)
        return next(inner, self.symbols.get(name))

    def constant(self, name: str, scopes: Sequence[Mapping[str, Symbol]] = ()) -> int | None:
        """Return the value of an enumerator or a variable that keeps its own; None for others."""
        symbol = self.find(name, scopes)
        return symbol.value if symbol is not None else self.enumerators.get(name)

    def copy(self) -> FileScope:
        """Return a scope for one place of a function, which may declare more."""
        own = dict(self.symbols), dict(self.enumerators), dict(self.spellings)
        return FileScope(self.types.copy(), *own)

    def spelled(self, name: str) -> str:
        """Return what the user calls a name, around a region that hides it."""
        return self.spellings.get(name, name)


@dataclass(frozen=True)
class Declaration:
    """A top-level part of the file or of a header.

    `order` are the offsets that lead to it, those of each ``#include`` first; `place` is that of
    the outermost ``#include``, None for the file's own.
    """

    file: File
    part: TopLevel
    order: tuple[int, ...]
    place: Range | None


@dataclass(frozen=True)
class Spelled:
    """The words of a file and of its headers, in all branches: `words` in order, each once.

    `uncalled` are those that stand somewhere without an opening parenthesis behind them.
    """

    words: Sequence[str]
    uncalled: frozenset[str]

    @classmethod
    def of(cls, clean: Clean) -> Spelled:
        """Return the words of a file."""
        found: set[str] = set()
        uncalled: set[str] = set()
        for source in _sources(clean):
            for match in _WORD.finditer(without_comments(source)):
                found.add(match["word"])
                if not match["call"]:
                    uncalled.add(match["word"])
        return cls(sorted(found), frozenset(uncalled))

    def beginning(self, start: str) -> Iterator[str]:
        """Yield the words that are longer than `start` and begin with it."""
        for word in islice(self.words, bisect_right(self.words, start), None):
            if not word.startswith(start):
                return
            yield word


def words_of_headers(clean: Clean) -> Iterator[str]:
    """Yield the words of the headers that were read, in all branches."""
    for header in clean.included:
        for source in _sources(header.clean):
            yield from (found["word"] for found in _WORD.finditer(without_comments(source)))


def unread_headers(clean: Clean) -> Iterator[Unread]:
    """Yield the headers that were not read, those of headers too."""
    yield from clean.unread
    for header in clean.included:
        yield from unread_headers(header.clean)


def _sources(clean: Clean) -> Iterator[SourceText]:
    yield clean.source
    for header in clean.included:
        yield from _sources(header.clean)


class File:
    """A preprocessed file, its tokens and its top-level parts, ready to be asked."""

    def __init__(self, clean: Clean) -> None:
        self.clean = clean
        self.source = clean.source
        # What is known of each part, by its first and last token.
        self._words: dict[tuple[int, int], frozenset[str]] = {}
        self._plain_texts: dict[tuple[int, int], str] = {}
        self.tokens = Tokens.of(clean.text)
        self.parts = tuple(self._named(part) for part in cut(self.tokens))

    @cached_property
    def spelled(self) -> Spelled:
        """Return the words of the file, worked out once for all its regions."""
        return Spelled.of(self.clean)

    def _named(self, part: TopLevel) -> TopLevel:
        """Return a function under the name that its macros give it."""
        if part.body < 0 or self.clean.macro(part.function, self.tokens.starts[part.first]) is None:
            return part
        try:
            header = expanded(self.clean, self.tokens, part.first, part.body)
        except AnnotuneError:
            return part
        names = [again.function for again in cut(header) if again.function]
        return replace(part, function=names[-1]) if names else part

    def words(self, part: TopLevel) -> frozenset[str]:
        """Return the identifiers and keywords of a part."""
        found = self._words.get((part.first, part.last))
        if found is None:
            texts = set(self.tokens.texts[part.first : part.last + 1])
            found = self._words[part.first, part.last] = frozenset(filter(IDENTIFIER.match, texts))
        return found

    def plain_text(self, part: TopLevel) -> str:
        """Return the text of a part without comments."""
        found = self._plain_texts.get((part.first, part.last))
        if found is None:
            first, last = self.tokens.starts[part.first], self.tokens.ends[part.last]
            text = SourceText(self.source.path, self.source.text[first:last])
            found = self._plain_texts[part.first, part.last] = without_comments(text)
        return found

    def value(
        self,
        node: c_ast.Node,
        value_of: Callable[[str], int | None],
        size_of: Callable[[c_ast.Node], int | None] = lambda _: None,
    ) -> int | None:
        """Return the value of a constant expression, None when it is not constant.

        `value_of` gives the value of a name that is no macro, None when it has none, and `size_of`
        that of the operand of a ``sizeof``.
        """

        def value(part: c_ast.Node) -> int | None:
            if isinstance(part, c_ast.UnaryOp) and part.op == "sizeof":
                return size_of(part.expr)
            if not isinstance(part, c_ast.ID):
                return None
            macro = self.clean.macro(part.name, offset(part))
            return macro.value if macro else value_of(part.name)

        return value_of_tree(node, value)

    def reach(self, function: TopLevel) -> frozenset[str]:
        """Return the words of a function and of all macros that they lead to."""

        def leads_to(name: str) -> set[str]:
            history = self.clean.macros.get(name, ())
            return {word for _, macro in history if macro is not None for word in macro.names}

        return reached(self.words(function), leads_to)

    def declaration(self, part: TopLevel) -> Declaration:
        """Return one of the file's own parts as what other declarations stand before."""
        return Declaration(self, part, (self.tokens.starts[part.first],), None)

    def scope_of(self, function: Declaration, names: Iterable[str] = ()) -> FileScope:
        """Return what is declared before a function of the file or of a header it reads.

        That is what its text leads to, and `names`, which stand elsewhere.
        """
        scope = FileScope(Types.of(self.clean.has_f2c))
        words = set(function.file.words(function.part))
        for found in self._needed(function, names):
            self._read(found, scope)
            words |= found.file.words(found.part)
        self._add_f2c(scope, words, function.order[0])
        return scope

    def definition(self, name: str) -> Declaration | None:
        """Return where the file, or a header it reads, defines function `name`."""
        return self._definitions.get(name)

    @cached_property
    def _definitions(self) -> dict[str, Declaration]:
        found = [one for one in self._declarations((), None) if one.part.body >= 0]
        # Of two, the first.
        return {one.part.function: one for one in reversed(found)}

    def declarations_of(self, name: str, before: Declaration) -> list[Declaration]:
        """Return the declarations before a function that may declare `name`, in order."""
        found = self._declared_by.get(name, ())
        return [declaration for declaration in found if declaration.order < before.order]

    @cached_property
    def _declared_by(self) -> dict[str, list[Declaration]]:
        found: defaultdict[str, list[Declaration]] = defaultdict(list)
        for declaration in self._declarations((), None):
            file, part = declaration.file, declaration.part
            if part.body < 0:
                for name in declared_names(file.tokens, part, file.is_macro):
                    found[name].append(declaration)
        return found

    def _read(self, found: Declaration, scope: FileScope) -> None:
        """Add what one declaration declares; one that is not understood is not there.

        A name that needs it is refused at its use.
        """
        file, part = found.file, found.part
        try:
            types = scope.types.names()
            parsed = parse(file.clean, file.tokens, part, types, found.place)
        except AnnotuneError:
            return
        for node in parsed.nodes:
            self._declare(node, scope)

    def _needed(self, function: Declaration, names: Iterable[str]) -> Iterable[Declaration]:
        """Return the declarations before `function` that it and `names` reach, in file order."""
        end = function.order
        waiting = [*function.file.reach(function.part), *names]
        seen_words = set(waiting)
        found: dict[tuple[int, ...], Declaration] = {}
        while waiting:
            word = waiting.pop()
            more: set[str] = set()
            for declaration in self._declared_by.get(word, ()):
                if declaration.order < end and declaration.order not in found:
                    found[declaration.order] = declaration
                    more |= declaration.file.reach(declaration.part)
            waiting += more - seen_words
            seen_words |= more
        return [found[order] for order in sorted(found)]

    def is_macro(self, name: str, offset: int) -> bool:
        """Return whether a name is a macro that does more than stand for an integer."""
        if name not in self.clean.macros:
            return False
        macro = self.clean.macro(name, offset)
        return macro is not None and macro.value is None

    def _declarations(self, order: tuple[int, ...], place: Range | None) -> Iterator[Declaration]:
        for part in self.parts:
            yield Declaration(self, part, (*order, self.tokens.starts[part.first]), place)
        for header in self.clean.included:
            where = place or (header.start, header.end)
            yield from File(header.clean)._declarations((*order, header.start), where)

    def _add_f2c(self, scope: FileScope, words: set[str], start: int) -> None:
        """Declare f2c's complex types where nothing that was read does."""
        for name, text in _F2C_STRUCTS.items():
            is_f2c = name == "doublecomplex" or self.clean.has_f2c
            if name in words and is_f2c and name not in scope.types.typedefs:
                words_of_it = at_place(Tokens.of(text), start, start)
                for node in parse_tokens(self.clean, words_of_it, scope.types.names()).nodes:
                    self._declare(node, scope)

    def _declare(self, node: c_ast.Node, scope: FileScope) -> None:
        self.enumerate_in(node, scope)
        scope.types.learn(node)
        if isinstance(node, c_ast.Typedef):
            scope.types.typedefs[node.name] = node.type
        elif isinstance(node, c_ast.Decl) and node.name:
            symbol = scope.types.symbol(node, "file")
            if symbol.is_const and symbol.is_integer and node.init is not None:
                symbol = symbol.with_value(self.value(node.init, scope.enumerators.get))
            scope.symbols[node.name] = symbol

    def enumerate_in(self, node: c_ast.Node, scope: FileScope) -> None:
        """Add the enumerations that a declaration defines, and their enumerators, to `scope`."""
        for inner in walk_tree(node):
            if isinstance(inner, c_ast.Enum) and inner.values is not None:
                values = list(self._values_of_enumerators(inner.values, scope))
                scope.types.enumerations.pop(enumeration_key(inner), None)
                kind = type_of_enumeration(values)
                if kind is not None:
                    scope.types.enumerations[enumeration_key(inner)] = kind

    def _values_of_enumerators(
        self, listed: c_ast.EnumeratorList, scope: FileScope
    ) -> Iterator[int | None]:
        """Yield the values of enumerators, None for what is not known, once `scope` has them."""
        following: int | None = 0
        for one in listed:
            if not isinstance(one, c_ast.Enumerator):
                continue
            if one.value is not None:
                following = self.value(one.value, scope.enumerators.get)
            yield following
            if following is not None:
                scope.enumerators[one.name] = following
                following += 1
