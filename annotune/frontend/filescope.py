"""What the file declares outside its functions, parsed only as far as a function needs it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from annotune.diagnostics import AnnotuneError
from annotune.frontend.constant import evaluate
from annotune.frontend.extent import extent, walk
from annotune.frontend.parse import parse
from annotune.frontend.preprocess import Clean
from annotune.frontend.symbols import Symbol, Types
from annotune.frontend.syntax import c_ast
from annotune.frontend.tokens import Tokens
from annotune.frontend.toplevel import TopLevel, cut

_WORD = re.compile(r"[A-Za-z_$]\w*\Z")
_WORDS = re.compile(r"[A-Za-z_$]\w*")


@dataclass
class FileScope:
    """The names that a function finds declared before it in the file."""

    types: Types
    symbols: dict[str, Symbol] = field(default_factory=dict)
    enumerators: dict[str, int] = field(default_factory=dict)


class File:
    """A preprocessed file, its tokens and its top-level parts, ready to be asked."""

    def __init__(self, clean: Clean) -> None:
        self.clean = clean
        self.source = clean.source
        self.tokens = Tokens(clean.text)
        self.parts = cut(self.tokens)
        self._mentions: dict[str, list[TopLevel]] = defaultdict(list)
        for part in self.parts:
            if part.body < 0:
                for word in self.words(part):
                    self._mentions[word].append(part)

    def words(self, part: TopLevel) -> frozenset[str]:
        """Return the identifiers and keywords of a part."""
        return frozenset(
            text for text in self.tokens.texts[part.first : part.last + 1] if _WORD.match(text)
        )

    def value(self, node: Any, names: dict[str, int]) -> int | None:
        """Return the value of a constant expression, None when it is not constant."""
        start, end = extent(node, self.tokens)
        return self.value_of_text(self.clean.text[start:end], start, names)

    def value_of_text(self, text: str, offset: int, names: dict[str, int]) -> int | None:
        def value_of(name: str) -> int | None:
            macro = self.clean.macro(name, offset)
            return macro.value if macro else names.get(name)

        return evaluate(text, value_of)

    def scope_before(self, function: TopLevel) -> FileScope:
        """Return what the file declares before `function`, of all that `function` mentions."""
        needed = self._needed(function)
        scope = FileScope(Types("f2c.h" in {h.split("/")[-1] for h in self.clean.headers}))
        for part in needed:
            try:
                parsed = parse(self.clean, self.tokens, part, scope.types.names())
            except AnnotuneError:
                # A declaration that is not understood is one that is not there: a name that
                # needs it is refused at its use.
                continue
            for node in parsed.nodes:
                self._declare(node, scope)
        return scope

    def _needed(self, function: TopLevel) -> Iterable[TopLevel]:
        """Return the declarations before `function` that it reaches by names, in file order."""
        waiting = list(self.words(function))
        seen_words = set(waiting)
        found: dict[int, TopLevel] = {}
        while waiting:
            word = waiting.pop()
            more: set[str] = set()
            macro = self.clean.macro(word, self.tokens.starts[function.first])
            if macro and macro.value is None:
                more.update(_WORDS.findall(macro.body))
            for part in self._mentions.get(word, ()):
                if part.first < function.first and part.first not in found:
                    found[part.first] = part
                    more |= self.words(part)
            waiting += more - seen_words
            seen_words |= more
        return [found[first] for first in sorted(found)]

    def _declare(self, node: Any, scope: FileScope) -> None:
        self.enumerate_in(node, scope)
        if isinstance(node, c_ast.Typedef):
            scope.types.typedefs[node.name] = node.type
        elif isinstance(node, c_ast.Decl) and node.name:
            symbol = scope.types.symbol(node, "file")
            if symbol.is_const and symbol.is_integer and node.init is not None:
                symbol = replace(symbol, value=self.value(node.init, scope.enumerators))
            scope.symbols[node.name] = symbol

    def enumerate_in(self, node: Any, scope: FileScope) -> None:
        """Add the enumerators that a declaration defines to `scope`."""
        for inner in walk(node):
            if isinstance(inner, c_ast.EnumeratorList):
                self._enumerate(inner, scope)

    def _enumerate(self, enumerators: Any, scope: FileScope) -> None:
        following: int | None = 0
        for enumerator in enumerators.enumerators:
            if enumerator.value is not None:
                following = self.value(enumerator.value, scope.enumerators)
            if following is None:
                continue
            scope.enumerators[enumerator.name] = following
            following += 1
