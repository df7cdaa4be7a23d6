"""The expressions of a user's function, as text that C and C++ read alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from annotune.frontend.constant import integer
from annotune.frontend.constant_tree import value_of_tree
from annotune.frontend.kinds import COMPLEX, ELEMENTS
from annotune.frontend.symbols import Symbol, Types
from annotune.frontend.syntax import c_ast
from annotune.ir.functions import FUNCTIONS

_NUMBERS = ELEMENTS - COMPLEX
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


class ExpressionText:
    """Writes the expressions of one function.

    `types` are those in force. `outer` writes what a name of the file stands for, or raises why a
    copy cannot have it; `function` gives the number of parameters of one of the user's functions,
    None for what the file does not define.
    """

    def __init__(
        self,
        types: Types,
        outer: Callable[[str], str | Symbol],
        function: Callable[[str], int | None],
    ) -> None:
        self.types = types
        self.outer = outer
        self.function = function
        self.scopes: list[dict[str, Symbol]] = [{}]
        self.names: set[str] = set()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Let what is declared within end there."""
        self.scopes.append({})
        yield
        self.scopes.pop()

    def declare(self, symbol: Symbol) -> None:
        """Take in a variable of the function."""
        if self.find(symbol.name) is not None:
            # C++ forbids some of these, such as one in the body of `for (int i …)`.
            raise Unfit(f"its '{symbol.name}' hides another one")
        self.scopes[-1][symbol.name] = symbol
        self.names.add(symbol.name)

    def find(self, name: str) -> Symbol | None:
        """Return the variable of the function that a name means."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def extent(self, node: Any) -> int | None:
        """Return the value of a constant expression, None when it is none."""

        def value_of(identifier: Any) -> int | None:
            if self.find(identifier.name) is not None:
                return None
            named = self.outer(identifier.name)
            return integer(named) if isinstance(named, str) else named.value

        return value_of_tree(node, value_of)

    def text(self, node: Any) -> str:
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

    def operand(self, node: Any) -> str:
        """Return an expression that stands beside an operator."""
        text = self.text(node)
        return text if isinstance(node, _PRIMARY) else f"({text})"

    def converted(self, node: Any, kind: str) -> str:
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

    def right(self, node: Any) -> str:
        """Return an expression in which a comma would mean something else."""
        text = self.text(node)
        return f"({text})" if isinstance(node, c_ast.ExprList) else text

    def _literal(self, node: Any) -> str:
        text = str(node.value)
        if integer(text) is None and not _REAL.match(text):
            # A character is an int in C and none in C++; long double is none of a device.
            raise Unfit(f"it uses the literal {text}")
        return text

    def _name(self, node: Any) -> str:
        symbol = self.find(node.name)
        if symbol is None:
            found = self.outer(node.name)
            if isinstance(found, str):
                return found
            symbol = found
        if symbol.layers:
            raise Unfit(f"it passes on where '{node.name}' is in memory")
        return str(node.name)

    def _element(self, node: Any) -> str:
        indices: list[Any] = []
        while isinstance(node, c_ast.ArrayRef):
            indices.insert(0, node.subscript)
            node = node.name
        symbol = None
        if isinstance(node, c_ast.ID):
            symbol = self.find(node.name) or self.outer(node.name)
        if not isinstance(symbol, Symbol) or len(symbol.layers) != len(indices):
            raise Unfit("it reads memory that is no array of its own")
        return symbol.name + "".join(f"[{self.text(index)}]" for index in indices)

    def _target(self, node: Any) -> str:
        """Return what an assignment changes: the function's own."""
        base = node
        while isinstance(base, c_ast.ArrayRef):
            base = base.name
        if not isinstance(base, c_ast.ID):
            raise Unfit("it writes to memory")
        if self.find(base.name) is None:
            raise Unfit(f"it writes '{base.name}', which is not its own")
        return self.text(node)

    def _binary(self, node: Any) -> str:
        left, right = self._side(node, node.left, 0), self._side(node, node.right, 1)
        return f"{left} {node.op} {right}"

    def _side(self, node: Any, part: Any, more: int) -> str:
        """Return one side of an operator, without the parentheses that nobody needs."""
        if isinstance(part, c_ast.BinaryOp):
            own, inner = _group(node.op), _group(part.op)
            is_plain = inner < own < len(_GROUPS)
            if own == inner == 0:
                is_plain = _GROUPS[0][part.op] >= _GROUPS[0][node.op] + more
            if is_plain:
                return self.text(part)
        return self.operand(part)

    def _call(self, node: Any) -> str:
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
