"""The user's functions that a nest calls: what a copy of them needs, or why there can be none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from annotune.diagnostics import AnnotuneError
from annotune.frontend.clean import Clean
from annotune.frontend.filescope import Declaration, File, FileScope
from annotune.frontend.function_expr import ExpressionText, Unfit
from annotune.frontend.function_text import FunctionText, declaration
from annotune.frontend.library import is_defined, is_generic, lacks_prototype, unlike_library
from annotune.frontend.open_macros import in_force, is_open, open_conditions, reached
from annotune.frontend.parse import parse
from annotune.frontend.symbols import Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.functions import FUNCTIONS
from annotune.ir.region import Condition, UserFunction


def user_functions(file: File, names: Iterable[str], place: int) -> tuple[UserFunction, ...]:
    """Return the functions `names` and all that they call, what is called first.

    `place` is where the region stands, with its macros.
    """
    library = _Library(file, place)
    for name in names:
        library.add(name)
    return tuple(library.known.values())


class _Library:
    """The functions read so far; `reading` are those whose bodies are being read."""

    def __init__(self, file: File, place: int) -> None:
        self.file = file
        self.place = place
        self.known: dict[str, UserFunction] = {}
        self.reading: list[str] = []

    def add(self, name: str) -> UserFunction:
        """Return a function, read if it has not been yet."""
        if name not in self.known:
            self.reading.append(name)
            try:
                made = self._made(name)
            except Unfit as unfit:
                made = UserFunction(name, reason=str(unfit))
            except AnnotuneError as error:
                made = UserFunction(name, reason=f"in its text, {error.diagnostics[0].message}")
            self.reading.pop()
            self.known[name] = made
        return self.known[name]

    def _made(self, name: str) -> UserFunction:
        found = self.file.definition(name)
        if found is None:
            raise Unfit("it is not defined in this file, nor in a header that was read")
        return _Copy(self, found).made()


class _Copy:
    """One function under way to its copy."""

    def __init__(self, library: _Library, found: Declaration) -> None:
        self.library = library
        self.found = found
        self.file = library.file
        self.scope: FileScope = self.file.scope_of(found)
        self.expr = ExpressionText(self.scope.types, self._outer, self._callee)
        self.constants: dict[str, tuple[Symbol, str]] = {}
        self.sources = [found]
        self.needs: dict[str, None] = {}

    def made(self) -> UserFunction:
        """Return the function; Unfit says why it cannot be copied."""
        trees = [n for n in self._parsed(self.found) if isinstance(n, c_ast.FuncDef)]
        if len(trees) != 1:
            raise Unfit("its text is not understood")
        writer = FunctionText(trees[0], self.expr)
        function = UserFunction(
            self.found.part.function,
            writer.result(),
            writer.parameters(),
            body=writer.body(),
            needs=tuple(self.needs),
        )
        twice = self.expr.names & set(self.constants)
        if twice:
            raise Unfit(f"its '{min(twice)}' hides another one")
        function = replace(function, constants=self._used_constants(function.body))
        self._check_macros(function)
        return replace(function, conditions=self._conditions())

    def _used_constants(self, body: Iterable[str]) -> tuple[str, ...]:
        """Return the constants that the text mentions; of others it shows the value."""
        used = set(re.findall(r"[A-Za-z_]\w*", " ".join(body)))
        out: list[str] = []
        for name, (_, text) in reversed(self.constants.items()):
            if name in used:
                used |= set(re.findall(r"[A-Za-z_]\w*", text))
                out.insert(0, text)
        return tuple(out)

    def _parsed(self, found: Declaration) -> tuple[object, ...]:
        """Return the trees of a declaration, every macro expanded."""
        clean = found.file.clean
        every = frozenset(clean.macros)
        types = self.scope.types.names()
        return parse(clean, found.file.tokens, found.part, types, erased=every).nodes

    # Names ------------------------------------------------------------------------------

    def _callee(self, name: str) -> int | None:
        """Return how many parameters one of the user's functions has, None when it is none."""
        if not is_defined(name, self.file):
            self._check_library(name)
            return None
        if name in self.library.reading:
            raise Unfit(
                "it calls itself"
                if self.found.part.function == name
                else f"it calls '{name}', which calls it"
            )
        callee = self.library.add(name)
        if callee.reason:
            raise Unfit(f"it calls '{name}': {callee.reason}")
        self.needs[name] = None
        return len(callee.parameters)

    def _check_library(self, name: str) -> None:
        """Raise where a function that nothing defines is not the C library's."""
        symbol = self.scope.symbols.get(name)
        clean = self.file.clean
        own = unlike_library(name, symbol, self.scope.types) if symbol and name in FUNCTIONS else ""
        if own:
            raise Unfit(f"it calls a '{name}' of its own: {own}")
        if name in FUNCTIONS and (is_generic(clean) or lacks_prototype(name, clean, symbol)):
            what = "of <tgmath.h>" if is_generic(clean) else "without a declaration"
            raise Unfit(f"it calls '{name}' {what}")

    def _outer(self, name: str) -> str | Symbol:
        """Return the value of an enumerator, or the constant of the file that a name means."""
        if name in self.constants:
            return self.constants[name][0]
        if name in self.scope.enumerators and name not in self.scope.symbols:
            value = self.scope.enumerators[name]
            return str(value) if value >= 0 else f"({value})"
        symbol = self.scope.symbols.get(name)
        if symbol is None:
            raise Unfit(f"it uses '{name}', which nothing that was read declares")
        if not symbol.is_const:
            raise Unfit(f"it uses '{name}', a variable of the file")
        self.constants[name] = self._constant(name, symbol)
        return self.constants[name][0]

    def _constant(self, name: str, symbol: Symbol) -> tuple[Symbol, str]:
        """Return a constant of the file with its declaration."""
        for found in reversed(self.file.declarations_of(name, self.found)):
            for node in self._parsed(found):
                if isinstance(node, c_ast.Decl) and node.name == name and node.init is not None:
                    exact = replace(self.scope.types.symbol(node, "file"), value=symbol.value)
                    expr = ExpressionText(self.scope.types, self._outer, _no_call)
                    self.sources.append(found)
                    return exact, f"{declaration(exact, expr, expr.extent)};"
        raise Unfit(f"it uses '{name}', whose value is not in this file")

    # Macros -----------------------------------------------------------------------------

    def _check_macros(self, function: UserFunction) -> None:
        """Raise where a name of the copy is a macro beside the region."""
        clean = self.file.clean
        text = " ".join([*function.parameters, *function.constants, *function.body])
        for word in sorted(set(re.findall(r"[A-Za-z_]\w*", text))):
            if in_force(clean, word, self.library.place)[1] is not None:
                raise Unfit(f"its '{word}' is a macro where the region stands")

    def _conditions(self) -> tuple[Condition, ...]:
        """Return what must hold again: the values of macros that the file does not settle."""
        out: dict[Condition, None] = {}
        for found in self.sources:
            tokens, clean = found.file.tokens, found.file.clean
            start, end = tokens.starts[found.part.first], tokens.ends[found.part.last]
            for condition in open_conditions(clean, start, end):
                self._check_asked(condition, clean, end)
                out[condition] = None
            # What a header finds defined is the file's; its own it settles itself.
            at = end if found.place is None else found.place[0]
            for name in sorted(reached(self.file.clean, found.file.words(found.part), at)):
                out.update(dict.fromkeys(self._asked(name, at)))
        return tuple(out)

    def _check_asked(self, condition: Condition, clean: Clean, end: int) -> None:
        """Raise where a condition would ask for other macros beside the region."""
        for word in reached(clean, re.findall(r"[A-Za-z_]\w*", condition.text), end):
            there = in_force(self.file.clean, word, self.library.place)[1]
            if in_force(clean, word, end)[1] != there:
                raise Unfit(f"its '#if' asks for '{word}', which changes in the file")

    def _asked(self, name: str, offset: int) -> list[Condition]:
        """Return the condition under which a macro means the same to another compiler."""
        clean = self.file.clean
        at, macro = in_force(clean, name, offset)
        if at < 0 or macro is None or not is_open(clean, name, offset):
            return []
        if macro.value is None or in_force(clean, name, self.library.place) != (at, macro):
            raise Unfit(f"it uses macro '{name}', which a compiler's -D may change")
        return [Condition(f"{name} == {macro.value}", holds=True)]


def _no_call(name: str) -> int | None:
    raise Unfit("a constant that it uses calls a function")
