"""The expressions of a user's function, as text that C and C++ read alike.

A function that computes with numbers alone, as text that C and C++ read alike.

What the two languages read differently is refused with a reason, and so is what a copy of the
function elsewhere, or on a device, would not find: variables of the file, static ones, memory.

The user's functions that a nest calls: what a copy of them needs, or why there can be none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError
from annotune.frontend.lower.names import is_defined, is_generic, lacks_prototype, unlike_library
from annotune.frontend.macro_texts import (
    in_force,
    is_open,
    macro_text,
    open_conditions,
    words_reached,
)
from annotune.frontend.read.filescope import Declaration, File, FileScope
from annotune.frontend.read.parse import parse
from annotune.frontend.read.preprocess import Clean
from annotune.frontend.read.syntax import value_of_tree
from annotune.frontend.read.tokens import WORD, integer
from annotune.frontend.type_premises import types_named
from annotune.frontend.types.kinds import COMPLEX, ELEMENTS
from annotune.frontend.types.symbols import Symbol, Types
from annotune.frozen import dataclass
from annotune.ir.functions import FUNCTIONS
from annotune.ir.region import Condition, Premise, UserFunction

# C++ has no _Bool.
_NUMBERS = ELEMENTS - COMPLEX - {"_Bool"}
_REAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fF]?\Z")
# Each group binds tighter than the next; within the first one C's own order is plain to all.
_GROUPS: Sequence[Mapping[str, int]] = (
    {"*": 2, "/": 2, "%": 2, "+": 1, "-": 1},
    {"<": 1, "<=": 1, ">": 1, ">=": 1, "==": 1, "!=": 1},
    {"&&": 1, "||": 1},
)
_OPERATORS = frozenset({"&", "|", "^", "<<", ">>"}).union(*_GROUPS)
_SIGNS = frozenset({"-", "+", "!", "~"})
_STEPS = frozenset({"++", "--", "p++", "p--"})
# What binds tighter than any operator with two operands.
_PRIMARY = (c_ast.ID, c_ast.ArrayRef, c_ast.FuncCall, c_ast.Constant, c_ast.Cast)


class Unfit(Exception):
    """A function cannot be copied; the text says why."""


def number_type(base: str, what: str) -> str:
    """Return a C type of real numbers or integers, which C++ has as well.

    Raises:
        Unfit: It is none.
    """
    if base not in _NUMBERS:
        raise Unfit(f"{what} is of type '{base}'")
    return base


@dataclass(frozen=True)
class ExpressionText:
    """Writes the expressions of one block of a function.

    `types` are those in force. `outer` writes what a name of the file stands for, or raises why a
    copy cannot have it; `function` gives the number of parameters of one of the user's functions,
    None for what the file does not define. `scopes` are the variables of the function in force,
    and `names` all that it declares.
    """

    types: Types
    outer: Callable[[str], str | Symbol]
    function: Callable[[str], int | None]
    scopes: tuple[dict[str, Symbol], ...] = ()
    names: set[str] = field(default_factory=set)

    def block(self) -> ExpressionText:
        """Return what writes the expressions of a block inside, which may declare more."""
        return replace(self, scopes=(*self.scopes, {}))

    def declare(self, decl: c_ast.Decl, storage: str) -> Symbol:
        """Take in a variable of the function, and return it."""
        symbol = self.types.symbol(decl, storage)
        if self.find(symbol.name) is not None:
            # C++ forbids some of these, such as one in the body of `for (int i …)`.
            raise Unfit(f"its '{symbol.name}' hides another one")
        self.scopes[-1][symbol.name] = symbol
        self.names.add(symbol.name)
        return symbol

    def find(self, name: str) -> Symbol | None:
        """Return the variable of the function that a name means."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def extent(self, node: c_ast.Node) -> int | None:
        """Return the value of a constant expression, None when it is none."""

        def value_of(identifier: c_ast.Node) -> int | None:
            if not isinstance(identifier, c_ast.ID) or self.find(identifier.name) is not None:
                return None
            named = self.outer(identifier.name)
            return integer(named) if isinstance(named, str) else named.value

        return value_of_tree(node, value_of)

    def text(self, node: c_ast.Node) -> str:
        """Return an expression."""
        match node:
            case c_ast.Constant():
                return self._literal(node)
            case c_ast.ID():
                return self._name(node)
            case c_ast.ArrayRef():
                return self._element(node)
            case c_ast.BinaryOp() if node.op in _OPERATORS:
                return self._binary(node)
            case c_ast.UnaryOp() if node.op in _SIGNS:
                return f"{node.op}{self.operand(node.expr)}"
            case c_ast.UnaryOp() if node.op in _STEPS:
                target = self._target(node.expr)
                return f"{target}{node.op[1:]}" if node.op[0] == "p" else f"{node.op}{target}"
            case c_ast.Assignment():
                return f"{self._target(node.lvalue)} {node.op} {self.right(node.rvalue)}"
            case c_ast.TernaryOp():
                parts = (node.cond, node.iftrue, node.iffalse)
                condition, if_true, if_false = map(self.operand, parts)
                return f"{condition} ? {if_true} : {if_false}"
            case c_ast.Cast():
                kind = self.types.scalar(node.to_type) or "another type"
                return f"({number_type(kind, 'a cast')}){self.operand(node.expr)}"
            case c_ast.FuncCall():
                return self._call(node)
            case c_ast.ExprList():
                return ", ".join(self.right(part) for part in node.exprs)
            case c_ast.UnaryOp():
                raise Unfit(f"it uses '{node.op}', which is about memory")
        raise Unfit(f"it holds a {type(node).__name__.lower()}")

    def operand(self, node: c_ast.Node) -> str:
        """Return an expression that stands beside an operator."""
        text = self.text(node)
        return text if isinstance(node, _PRIMARY) else f"({text})"

    def converted(self, node: c_ast.Node, kind: str) -> str:
        """Return an expression in type `kind`, as C converts arguments and initial values."""
        if isinstance(node, c_ast.ID):
            symbol = self.find(node.name)
            if symbol is not None and symbol.base == kind:
                return self.text(node)
        if isinstance(node, c_ast.Constant) and kind == "double" and _REAL.match(node.value):
            is_double = node.value[-1] not in "fF"
            if is_double:
                return self.text(node)
        if isinstance(node, c_ast.Constant) and kind == "int" and node.type == "int":
            return self.text(node)
        return f"({kind}){self.operand(node)}"

    def right(self, node: c_ast.Node) -> str:
        """Return an expression in which a comma would mean something else."""
        text = self.text(node)
        return f"({text})" if isinstance(node, c_ast.ExprList) else text

    def _literal(self, node: c_ast.Constant) -> str:
        text = str(node.value)
        value = integer(text)
        if value is None and not _REAL.match(text):
            # long double is none of a device.
            raise Unfit(f"it uses the literal {text}")
        # A character is an int in C and none in C++.
        return str(value) if node.type == "char" else text

    def _name(self, node: c_ast.ID) -> str:
        symbol = self.find(node.name)
        if symbol is None:
            found = self.outer(node.name)
            if isinstance(found, str):
                return found
            symbol = found
        if symbol.layers:
            raise Unfit(f"it passes on where '{node.name}' is in memory")
        return str(node.name)

    def _element(self, node: c_ast.ArrayRef) -> str:
        indices: list[c_ast.Node] = []
        base: c_ast.Node = node
        while isinstance(base, c_ast.ArrayRef):
            indices.insert(0, base.subscript)
            base = base.name
        symbol = None
        if isinstance(base, c_ast.ID):
            symbol = self.find(base.name) or self.outer(base.name)
        if not isinstance(symbol, Symbol) or len(symbol.layers) != len(indices):
            raise Unfit("it reads memory that is no array of its own")
        return symbol.name + "".join(f"[{self.text(index)}]" for index in indices)

    def _target(self, node: c_ast.Node) -> str:
        """Return what an assignment changes: the function's own."""
        base = node
        while isinstance(base, c_ast.ArrayRef):
            base = base.name
        if not isinstance(base, c_ast.ID):
            raise Unfit("it writes to memory")
        if self.find(base.name) is None:
            raise Unfit(f"it writes '{base.name}', which is not its own")
        return self.text(node)

    def _binary(self, node: c_ast.BinaryOp) -> str:
        left, right = self._side(node, node.left, 0), self._side(node, node.right, 1)
        return f"{left} {node.op} {right}"

    def _side(self, node: c_ast.BinaryOp, part: c_ast.Node, more: int) -> str:
        """Return one side of an operator, without the parentheses that nobody needs."""
        if isinstance(part, c_ast.BinaryOp):
            own, inner = _group(node.op), _group(part.op)
            is_plain = inner < own < len(_GROUPS)
            if own == inner == 0:
                is_plain = _GROUPS[0][part.op] >= _GROUPS[0][node.op] + more
            if is_plain:
                return self.text(part)
        return self.operand(part)

    def _call(self, node: c_ast.FuncCall) -> str:
        if not isinstance(node.name, c_ast.ID) or self.find(node.name.name) is not None:
            raise Unfit("it calls through a pointer")
        name = str(node.name.name)
        arguments = list(node.args.exprs) if node.args is not None else []
        expected = self.function(name)
        if expected is not None:
            texts = [self.right(argument) for argument in arguments]
        elif name in FUNCTIONS and FUNCTIONS[name].result in _NUMBERS:
            kinds = FUNCTIONS[name].parameters
            expected = len(kinds)
            # C++ overloads these by the types of their arguments.
            pairs = zip(arguments, kinds, strict=False)
            texts = [self.converted(argument, kind) for argument, kind in pairs]
        else:
            raise Unfit(f"it calls '{name}', which this file does not define")
        if len(arguments) != expected:
            raise Unfit(f"it calls '{name}' with {len(arguments)} argument(s)")
        return f"{name}({', '.join(texts)})"


def _group(op: str) -> int:
    return next((k for k, group in enumerate(_GROUPS) if op in group), len(_GROUPS))


_INDENT = "    "


def _result(tree: c_ast.FuncDef, types: Types) -> str:
    symbol = types.symbol(tree.decl, "file")
    if [layer.kind for layer in symbol.layers] != ["()"]:
        raise Unfit("it returns no number")
    return number_type(symbol.base, "its value")


def _parameters(tree: c_ast.FuncDef, expr: ExpressionText) -> Iterator[str]:
    """Yield the declarations of the parameters, which become names of the function."""
    if tree.param_decls:
        raise Unfit("its parameters are declared in the style before ANSI C")
    arguments = tree.decl.type.args if isinstance(tree.decl.type, c_ast.FuncDecl) else None
    declared = arguments.params if arguments is not None else []
    for node in declared:
        match node:
            case c_ast.EllipsisParam():
                raise Unfit("it takes a variable number of arguments")
            case c_ast.Decl() if node.name:
                symbol = expr.declare(node, "parameter")
                if symbol.layers:
                    raise Unfit(f"parameter '{node.name}' is no number but a place in memory")
                yield declaration(symbol, expr)
            case c_ast.Decl() | c_ast.Typename() if expr.types.scalar(node) == "void":
                if len(declared) > 1:
                    raise Unfit("a parameter has no name")
            case _:
                raise Unfit("a parameter has no name")


def _items(block: c_ast.Compound, expr: ExpressionText) -> list[str]:
    """Return the lines of a block, without its braces."""
    return [line for item in block.block_items or () for line in _statement(item, expr)]


def _block(node: c_ast.Node, expr: ExpressionText) -> list[str]:
    """Return the lines of a statement that becomes a block, indented, with its last brace."""
    inner = expr.block()
    lines = _items(node, inner) if isinstance(node, c_ast.Compound) else _statement(node, inner)
    return [*_indented(lines), "}"]


def _statement(node: c_ast.Node, expr: ExpressionText) -> list[str]:
    match node:
        case c_ast.Compound():
            return ["{", *_block(node, expr)]
        case c_ast.Decl():
            return _local(node, expr)
        case c_ast.EmptyStatement():
            return []
        case c_ast.If():
            return _if(node, expr)
        case c_ast.For():
            return _for(node, expr.block())
        case c_ast.While():
            return [f"while ({expr.text(node.cond)}) {{", *_block(node.stmt, expr)]
        case c_ast.DoWhile():
            *inner, last = _block(node.stmt, expr)
            return ["do {", *inner, f"{last} while ({expr.text(node.cond)});"]
        case c_ast.Return():
            if node.expr is None:
                raise Unfit("it returns without a value")
            return [f"return {expr.text(node.expr)};"]
        case c_ast.Break():
            return ["break;"]
        case c_ast.Continue():
            return ["continue;"]
        case c_ast.Cast() if expr.types.scalar(node.to_type) == "void":
            # For a compiler that counts what is used.
            return []
        case c_ast.Goto() | c_ast.Label() | c_ast.Switch():
            raise Unfit(f"it holds a '{type(node).__name__.lower()}'")
        case c_ast.Typedef() | c_ast.Pragma() | c_ast.StaticAssert():
            raise Unfit(f"it holds a {type(node).__name__.lower()}")
    return [f"{expr.text(node)};"]


def _if(node: c_ast.If, expr: ExpressionText) -> list[str]:
    head = f"if ({expr.text(node.cond)}) {{"
    *inner, last = _block(node.iftrue, expr)
    if node.iffalse is None:
        return [head, *inner, last]
    if isinstance(node.iffalse, c_ast.If):
        first, *rest = _if(node.iffalse, expr)
        return [head, *inner, f"}} else {first}", *rest]
    return [head, *inner, "} else {", *_block(node.iffalse, expr)]


def _for(node: c_ast.For, expr: ExpressionText) -> list[str]:
    """Return a loop, around it a block with what its head declares."""
    declared: list[str] = []
    start = ""
    if isinstance(node.init, c_ast.DeclList):
        declared = [line for decl in node.init.decls for line in _statement(decl, expr)]
    elif node.init is not None:
        start = expr.text(node.init)
    test = expr.text(node.cond) if node.cond is not None else ""
    step = expr.text(node.next) if node.next is not None else ""
    if len(declared) == 1:
        start = declared.pop().removesuffix(";")
    loop = [f"for ({start}; {test}; {step}) {{", *_block(node.stmt, expr)]
    return ["{", *_indented([*declared, *loop]), "}"] if declared else loop


def _local(node: c_ast.Decl, expr: ExpressionText) -> list[str]:
    storage = {*(node.storage or ()), *(node.funcspec or ())} - {"auto", "register"}
    if storage:
        raise Unfit(f"its '{node.name}' is {' '.join(sorted(storage))}")
    if node.bitsize is not None or not node.name:
        raise Unfit("it declares a type")
    symbol = expr.declare(node, "local")
    if symbol.is_const and node.init is None:
        raise Unfit(f"its constant '{node.name}' has no value")
    return [f"{declaration(symbol, expr)};"]


def declaration(symbol: Symbol, expr: ExpressionText) -> str:
    """Return C that declares a number or an array of numbers, with its value."""
    if symbol.special:
        raise Unfit(f"'{symbol.name}' is {symbol.special}")
    if any(layer.kind != "[]" for layer in symbol.layers):
        raise Unfit(f"'{symbol.name}' is no number but a place in memory")
    element = number_type(symbol.base, f"'{symbol.name}'")
    dims = ""
    for number, layer in enumerate(symbol.layers):
        length = expr.extent(layer.dim) if layer.dim is not None else None
        is_open = layer.dim is None and number == 0 and symbol.init is not None
        if length is None and not is_open:
            raise Unfit(f"the extent of '{symbol.name}' is no constant")
        dims += f"[{'' if length is None else length}]"
    const = "const " if symbol.is_const else ""
    text = f"{const}{element} {symbol.name}{dims}"
    if symbol.init is None:
        return text
    if isinstance(symbol.init, c_ast.InitList) != bool(symbol.layers):
        raise Unfit(f"the value of '{symbol.name}' is no list of its elements")
    is_list = isinstance(symbol.init, c_ast.InitList)
    return f"{text} = {_value(symbol.init, element, expr) if is_list else expr.right(symbol.init)}"


def _value(node: c_ast.Node, element: str, expr: ExpressionText) -> str:
    """Return an initialiser; C++ allows no conversion that may lose a value within braces."""
    if isinstance(node, c_ast.InitList):
        return "{" + ", ".join(_value(part, element, expr) for part in node.exprs) + "}"
    if isinstance(node, c_ast.NamedInitializer):
        raise Unfit("C++ has no designated initialisers for arrays")
    return expr.converted(node, element)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"{_INDENT}{line}" for line in lines]


def user_functions(file: File, names: Iterable[str], place: int) -> tuple[UserFunction, ...]:
    """Return the functions `names` and all that they call, what is called first.

    `place` is where the region stands, with its macros.
    """
    library = _Library(file, place)
    for name in names:
        library.add(name)
    return tuple(library.known.values())


class _Library:
    """The functions read so far."""

    def __init__(self, file: File, place: int) -> None:
        self.file = file
        self.place = place
        self.known: dict[str, UserFunction] = {}

    def add(self, name: str, reading: tuple[str, ...] = ()) -> UserFunction:
        """Return a function, read if it has not been yet; those of `reading` call it."""
        if name not in self.known:
            found = self.file.definition(name)
            try:
                if found is None:
                    raise Unfit("it is not defined in this file, nor in a header that was read")
                made = _Copy(self, found, (*reading, name)).made()
            except Unfit as unfit:
                made = UserFunction(name, reason=str(unfit))
            except AnnotuneError as error:
                made = UserFunction(name, reason=f"in its text, {error.diagnostics[0].message}")
            self.known[name] = made
        return self.known[name]


class _Copy:
    """One function under way to its copy; `reading` are those whose bodies are being read."""

    def __init__(self, library: _Library, found: Declaration, reading: tuple[str, ...]) -> None:
        self.library = library
        self.found = found
        self.reading = reading
        self.file = library.file
        self.scope: FileScope = self.file.scope_of(found)
        self.constants: dict[str, tuple[Symbol, str]] = {}
        self.sources = [found]
        self.needs: dict[str, None] = {}

    def made(self) -> UserFunction:
        """Return the function; Unfit says why it cannot be copied."""
        trees = [n for n in self._parsed(self.found) if isinstance(n, c_ast.FuncDef)]
        if len(trees) != 1:
            raise Unfit("its text is not understood")
        (tree,) = trees
        expr = ExpressionText(self.scope.types, self._outer, self._callee).block()
        function = UserFunction(
            self.found.part.function,
            _result(tree, self.scope.types),
            tuple(_parameters(tree, expr)),
            body=tuple(_items(tree.body, expr)),
            needs=tuple(self.needs),
        )
        twice = expr.names & set(self.constants)
        if twice:
            raise Unfit(f"its '{min(twice)}' hides another one")
        function = replace(function, constants=self._used_constants(function.body))
        self._check_macros(function)
        return replace(function, conditions=self._conditions())

    def _used_constants(self, body: Iterable[str]) -> tuple[str, ...]:
        """Return the constants that the text mentions; of others it shows the value."""
        used = set(WORD.findall(" ".join(body)))
        out: list[str] = []
        for name, (_, text) in reversed(self.constants.items()):
            if name in used:
                used |= set(WORD.findall(text))
                out.insert(0, text)
        return tuple(out)

    def _parsed(self, found: Declaration) -> tuple[c_ast.Node, ...]:
        """Return the trees of a declaration, every macro expanded."""
        clean = found.file.clean
        every = frozenset(clean.macros)
        types = self.scope.types.names()
        return parse(clean, found.file.tokens, found.part, types, erased=every).nodes

    def _callee(self, name: str) -> int | None:
        """Return how many parameters one of the user's functions has, None when it is none."""
        if not is_defined(name, self.file):
            self._check_library(name)
            return None
        if name in self.reading:
            raise Unfit(
                "it calls itself"
                if self.found.part.function == name
                else f"it calls '{name}', which calls it"
            )
        callee = self.library.add(name, self.reading)
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
        for found in reversed(self.file.declarations_of(name, self.found)):
            for node in self._parsed(found):
                if isinstance(node, c_ast.Decl) and node.name == name and node.init is not None:
                    exact = replace(self.scope.types.symbol(node, "file"), value=symbol.value)
                    expr = ExpressionText(self.scope.types, self._outer, _no_call)
                    self.sources.append(found)
                    return exact, f"{declaration(exact, expr)};"
        raise Unfit(f"it uses '{name}', whose value is not in this file")

    def _check_macros(self, function: UserFunction) -> None:
        """Raise where a name of the copy is a macro beside the region."""
        clean = self.file.clean
        text = " ".join([*function.parameters, *function.constants, *function.body])
        for word in sorted(set(WORD.findall(text))):
            if in_force(clean, word, self.library.place)[1] is not None:
                raise Unfit(f"its '{word}' is a macro where the region stands")

    def _conditions(self) -> tuple[Premise, ...]:
        """Return what must hold again: what macros stand for that the file does not settle."""
        out: dict[Premise, None] = {}
        for found in self.sources:
            tokens, clean = found.file.tokens, found.file.clean
            start, end = tokens.starts[found.part.first], tokens.ends[found.part.last]
            for condition in open_conditions(clean, start, end):
                self._check_asked(condition, clean, end)
                out[condition] = None
            # What a header finds defined is the file's; its own it settles itself.
            at = end if found.place is None else found.place[0]
            words = found.file.words(found.part)
            for name in sorted(words_reached(self.file.clean, words, at)):
                out.update(dict.fromkeys(self._asked(name, at)))
            out.update(dict.fromkeys(types_named(words, self.file, self.found, self.scope.types)))
        return tuple(out)

    def _check_asked(self, condition: Condition, clean: Clean, end: int) -> None:
        """Raise where a condition would ask for other macros beside the region."""
        for word in words_reached(clean, WORD.findall(condition.text), end):
            there = in_force(self.file.clean, word, self.library.place)[1]
            if in_force(clean, word, end)[1] != there:
                raise Unfit(f"its '#if' asks for '{word}', which changes in the file")

    def _asked(self, name: str, offset: int) -> list[Premise]:
        """Return the condition under which a macro means the same to another compiler."""
        clean = self.file.clean
        at, macro = in_force(clean, name, offset)
        if at < 0 or macro is None or not is_open(clean, name, offset):
            return []
        is_same = in_force(clean, name, self.library.place) == (at, macro)
        if is_same and macro.value is not None:
            return [Condition(f"{name} == {macro.value}", holds=True)]
        text = macro_text(self.file, name, self.library.place) if is_same else None
        if text is None:
            raise Unfit(f"it uses macro '{name}', which a compiler's -D may change")
        return [text]


def _no_call(name: str) -> int | None:
    raise Unfit("a constant that it uses calls a function")
