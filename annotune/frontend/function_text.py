"""A function that computes with numbers alone, as text that C and C++ read alike.

What the two languages read differently is refused with a reason, and so is what a copy of the
function elsewhere, or on a device, would not find: variables of the file, static ones, memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from annotune.frontend.function_expr import ExpressionText, Unfit, number_type
from annotune.frontend.symbols import Symbol
from annotune.frontend.syntax import c_ast

_INDENT = "    "


class FunctionText:
    """Writes one function; `expr` writes its expressions and knows its names."""

    def __init__(self, tree: Any, expr: ExpressionText) -> None:
        self.tree = tree
        self.expr = expr

    def result(self) -> str:
        """Return the type of the function's value."""
        symbol = self.expr.types.symbol(self.tree.decl, "file")
        if [layer.kind for layer in symbol.layers] != ["()"]:
            raise Unfit("it returns no number")
        return number_type(symbol.base, "its value")

    def parameters(self) -> tuple[str, ...]:
        """Return the declarations of the parameters, which become names of the function."""
        arguments = self.tree.decl.type.args
        if self.tree.param_decls:
            raise Unfit("its parameters are declared in the style before ANSI C")
        out = []
        for node in arguments.params if arguments is not None else ():
            if isinstance(node, c_ast.EllipsisParam):
                raise Unfit("it takes a variable number of arguments")
            if isinstance(node, c_ast.Decl) and node.name:
                out.append(self._parameter(node))
            elif len(arguments.params) > 1 or self.expr.types.scalar(node) != "void":
                raise Unfit("a parameter has no name")
        return tuple(out)

    def _parameter(self, node: Any) -> str:
        symbol = self.expr.types.symbol(node, "parameter")
        if symbol.layers:
            raise Unfit(f"parameter '{node.name}' is no number but a place in memory")
        self.expr.declare(symbol)
        return self._declaration(symbol)

    def body(self) -> tuple[str, ...]:
        """Return the lines of the function's block, without its braces."""
        return tuple(self._items(self.tree.body))

    # Statements -------------------------------------------------------------------------

    def _items(self, block: Any) -> list[str]:
        return [line for item in block.block_items or () for line in self._statement(item)]

    def _block(self, node: Any) -> list[str]:
        """Return the lines of a statement that becomes a block, indented, with its last brace."""
        with self.expr.scope():
            inner = self._items(node) if isinstance(node, c_ast.Compound) else self._statement(node)
        return [*_indented(inner), "}"]

    def _statement(self, node: Any) -> list[str]:
        expr = self.expr
        match node:
            case c_ast.Compound():
                return ["{", *self._block(node)]
            case c_ast.Decl():
                return self._local(node)
            case c_ast.EmptyStatement():
                return []
            case c_ast.If():
                return self._if(node)
            case c_ast.For():
                return self._for(node)
            case c_ast.While():
                return [f"while ({expr.text(node.cond)}) {{", *self._block(node.stmt)]
            case c_ast.DoWhile():
                *inner, last = self._block(node.stmt)
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
            case _:
                return [f"{expr.text(node)};"]

    def _if(self, node: Any) -> list[str]:
        head = f"if ({self.expr.text(node.cond)}) {{"
        if node.iffalse is None:
            return [head, *self._block(node.iftrue or c_ast.EmptyStatement())]
        *inner, _ = self._block(node.iftrue or c_ast.EmptyStatement())
        if isinstance(node.iffalse, c_ast.If):
            first, *rest = self._if(node.iffalse)
            return [head, *inner, f"}} else {first}", *rest]
        return [head, *inner, "} else {", *self._block(node.iffalse)]

    def _for(self, node: Any) -> list[str]:
        """Return a loop, around it a block with what its head declares."""
        with self.expr.scope():
            declared: list[str] = []
            start = ""
            if isinstance(node.init, c_ast.DeclList):
                declared = [line for decl in node.init.decls for line in self._local(decl)]
            elif node.init is not None:
                start = self.expr.text(node.init)
            test = self.expr.text(node.cond) if node.cond is not None else ""
            step = self.expr.text(node.next) if node.next is not None else ""
            if len(declared) == 1:
                start = declared.pop().removesuffix(";")
            loop = [f"for ({start}; {test}; {step}) {{", *self._block(node.stmt)]
        return ["{", *_indented([*declared, *loop]), "}"] if declared else loop

    # Declarations -----------------------------------------------------------------------

    def _local(self, node: Any) -> list[str]:
        storage = {*(node.storage or ()), *(node.funcspec or ())} - {"auto", "register"}
        if storage:
            raise Unfit(f"its '{node.name}' is {' '.join(sorted(storage))}")
        if node.bitsize is not None or not node.name:
            raise Unfit("it declares a type")
        symbol = self.expr.types.symbol(node, "local")
        self.expr.declare(symbol)
        if symbol.is_const and node.init is None:
            raise Unfit(f"its constant '{node.name}' has no value")
        return [f"{self._declaration(symbol)};"]

    def _declaration(self, symbol: Symbol) -> str:
        """Return the declaration of a variable of the function, with its value."""
        return declaration(symbol, self.expr, self.expr.extent)


def declaration(symbol: Symbol, expr: ExpressionText, extent: Callable[[Any], int | None]) -> str:
    """Return C that declares a number or an array of numbers, with its value."""
    if symbol.special:
        raise Unfit(f"'{symbol.name}' is {symbol.special}")
    if any(layer.kind != "[]" for layer in symbol.layers):
        raise Unfit(f"'{symbol.name}' is no number but a place in memory")
    element = number_type(symbol.base, f"'{symbol.name}'")
    dims = ""
    for number, layer in enumerate(symbol.layers):
        length = extent(layer.dim) if layer.dim is not None else None
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


def _value(node: Any, element: str, expr: ExpressionText) -> str:
    """Return an initialiser; C++ allows no conversion that may lose a value within braces."""
    if isinstance(node, c_ast.InitList):
        return "{" + ", ".join(_value(part, element, expr) for part in node.exprs) + "}"
    if isinstance(node, c_ast.NamedInitializer):
        raise Unfit("C++ has no designated initialisers for arrays")
    return expr.converted(node, element)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"{_INDENT}{line}" for line in lines]
