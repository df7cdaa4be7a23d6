"""C expressions turned into expressions of the loop-nest language, or refused."""

from __future__ import annotations

from typing import Any

from annotune.diagnostics import AnnotuneError, Template
from annotune.frontend import messages
from annotune.frontend.constant import integer
from annotune.frontend.extent import assigned_in, extent
from annotune.frontend.names import Names, Typed
from annotune.frontend.symbols import INTEGERS, NARROW, REALS, Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.expr import Access, Binary, Expr, Int, Negate, Real

# An address: the array, the subscripts given so far, and an offset not yet in one.
_Address = tuple[Symbol, tuple[Expr, ...], Expr | None]


class Expressions:
    """The lowering of expressions where `names` are declared."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.subscript_depth = 0
        self._assigned: dict[int, dict[str, Any]] = {}

    def refuse(self, template: Template, node: Any, **values: Any) -> AnnotuneError:
        """Return the refusal of a syntax tree, at its place."""
        return AnnotuneError.of(template.at(self.names.place(node), **values))

    def assigned(self, body: Any) -> dict[str, Any]:
        """Return what `assigned_in` finds in a loop's body, looked for once."""
        if id(body) not in self._assigned:
            self._assigned[id(body)] = assigned_in(body)
        return self._assigned[id(body)]

    def text(self, node: Any) -> str:
        """Return a syntax tree as the user wrote it."""
        start, end = extent(node, self.names.file.tokens)
        return " ".join(self.names.file.clean.text[start:end].split())

    def integer(self, node: Any) -> Expr:
        """Return an integer expression; reals are refused."""
        value = self.value(node)
        if value.kind != "int":
            raise self.refuse(messages.NOT_INTEGER, node)
        return value.expr

    def value(self, node: Any) -> Typed:
        """Return the value of an expression."""
        match node:
            case c_ast.Constant():
                return self._literal(node)
            case c_ast.ID():
                return self.names.read(node)
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                access, element = self.element(node)
                return Typed(access, element)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.Cast():
                return self._cast(node)
            case c_ast.TernaryOp():
                raise self.refuse(messages.GUARD, node, word="?:")
            case c_ast.FuncCall():
                raise self.refuse(messages.CALL, node.name, name=self.text(node.name))
            case c_ast.StructRef():
                raise self.refuse(messages.STRUCT_MEMBER, node, name=self.text(node))
            case c_ast.Assignment():
                raise self.refuse(messages.NESTED_ASSIGNMENT, node)
        raise self.refuse(messages.STATEMENT, node)

    def element(self, node: Any) -> tuple[Access, str]:
        """Return the array element that ``a[i][j]`` or ``*(p + i)`` names, and its type."""
        symbol, indices, _ = self._place(node)
        self.check_array(symbol, node)
        expected = len(symbol.layers)
        if len(indices) != expected:
            raise self.refuse(
                messages.SUBSCRIPTS,
                node,
                name=symbol.name,
                expected=expected,
                given=len(indices),
            )
        self.names.use_array(symbol)
        return Access(symbol.name, indices, self.names.place(node)), symbol.base

    def check_array(self, symbol: Symbol, node: Any) -> None:
        """Refuse an array that annotune cannot work on."""
        kinds = [layer.kind for layer in symbol.layers]
        name = symbol.name
        if "()" in kinds:
            raise self.refuse(messages.CALL, node, name=name)
        if "*" in kinds[1:]:
            raise self.refuse(messages.POINTER_TO_POINTER, node, name=name)
        if symbol.storage == "region":
            raise self.refuse(messages.LOCAL_ARRAY, node, name=name)
        if symbol.base in INTEGERS:
            template = messages.INDIRECT if self.subscript_depth else messages.INTEGER_ARRAY
            raise self.refuse(template, node, name=name)
        if symbol.base in ("struct", "union"):
            raise self.refuse(messages.STRUCT_MEMBER, node, name=name)
        if symbol.base not in REALS:
            raise self.refuse(messages.ELEMENT_TYPE, node, name=name, type=symbol.base)

    def _place(self, node: Any) -> _Address:
        """Return what an lvalue names; its subscripts may be fewer than the dimensions."""
        if isinstance(node, c_ast.ArrayRef):
            symbol, indices, offset = self._address(node.name)
            index = self._subscript(node.subscript)
            if offset is not None:
                index = Binary("+", offset, index)
            return symbol, (*indices, index), None
        symbol, indices, offset = self._address(node.expr)
        return symbol, (*indices, offset if offset is not None else Int(0)), None

    def _address(self, node: Any) -> _Address:
        """Return the array and the subscripts that a pointer expression stands for."""
        match node:
            case c_ast.ID():
                symbol = self.names.symbol(node)
                if not symbol.is_array:
                    raise self.refuse(
                        messages.SUBSCRIPTS, node, name=node.name, expected=0, given=1
                    )
                return symbol, (), None
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                return self._place(node)
            case c_ast.BinaryOp(op="+" | "-"):
                return self._moved(node)
            case c_ast.UnaryOp(op="p++" | "p--" | "++" | "--"):
                raise self.refuse(messages.POINTER_CHANGES, node, name=self.text(node.expr))
        # Whatever else gives a pointer is refused for what it is: a call, a member, a cast.
        self.value(node)
        raise self.refuse(messages.STATEMENT, node)

    def _moved(self, node: Any) -> _Address:
        """Return the address ``p + i``, ``i + p`` or ``p - i``."""
        pointer, distance = node.left, node.right
        if node.op == "+" and not self._is_pointer(pointer):
            pointer, distance = distance, pointer
        symbol, indices, offset = self._address(pointer)
        step = self._subscript(distance)
        if offset is not None:
            return symbol, indices, Binary(node.op, offset, step)
        if node.op == "-":
            step = Int(-step.value) if isinstance(step, Int) else Negate(step)
        return symbol, indices, step

    def _is_pointer(self, node: Any) -> bool:
        match node:
            case c_ast.ID():
                symbol = self.names.find(node.name)
                return symbol is not None and symbol.is_array
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                base = node.name if isinstance(node, c_ast.ArrayRef) else node.expr
                return self._is_pointer(base)
            case c_ast.BinaryOp(op="+" | "-"):
                return self._is_pointer(node.left) or self._is_pointer(node.right)
        return False

    def _subscript(self, node: Any) -> Expr:
        self.subscript_depth += 1
        try:
            return self.integer(node)
        finally:
            self.subscript_depth -= 1

    def _literal(self, node: Any) -> Typed:
        if "int" in node.type or node.type in ("long", "unsigned long"):
            value = integer(node.value)
            if value is not None:
                self.names.is_wide |= "l" in node.value.lower()
                return Typed(Int(value), "int")
        if node.type in REALS:
            return Typed(Real(node.value), node.type)
        raise self.refuse(messages.LITERAL, node, text=node.value)

    def _unary(self, node: Any) -> Typed:
        if node.op == "-":
            operand = self.value(node.expr)
            if isinstance(operand.expr, Int) and operand.expr.value > 0:
                return Typed(Int(-operand.expr.value), "int")
            return Typed(Negate(operand.expr), operand.kind)
        if node.op == "+":
            return self.value(node.expr)
        if node.op in ("++", "--", "p++", "p--"):
            raise self.refuse(messages.NESTED_ASSIGNMENT, node)
        raise self.refuse(messages.OPERATOR, node, op=node.op)

    def _binary(self, node: Any) -> Typed:
        if node.op not in ("+", "-", "*", "/", "%", "<<"):
            raise self._operator(node)
        left, right = self.value(node.left), self.value(node.right)
        kind = _common(left.kind, right.kind)
        if node.op == "<<":
            if kind == "int" and isinstance(right.expr, Int) and 0 <= right.expr.value < 31:
                return Typed(Binary("*", left.expr, Int(2**right.expr.value)), kind)
            raise self._operator(node)
        if node.op == "%" and kind != "int":
            raise self._operator(node)
        return Typed(Binary(node.op, left.expr, right.expr), kind)

    def _operator(self, node: Any) -> AnnotuneError:
        """Return the refusal of a binary operator, at the operator itself."""
        tokens = self.names.file.tokens
        index = tokens.at(extent(node.left, tokens)[1])
        while tokens.texts[index] == ")" and index + 1 < len(tokens):
            index += 1
        span = self.names.file.source.span(tokens.starts[index], tokens.ends[index])
        return AnnotuneError.of(messages.OPERATOR.at(span, op=node.op))

    def _cast(self, node: Any) -> Typed:
        """Return the operand of a cast that changes nothing, or of one between integers."""
        target = self.names.file_scope.types.scalar(node.to_type)
        operand = self.value(node.expr)
        if target in INTEGERS and target not in NARROW and operand.kind == "int":
            self.names.is_wide |= "long" in target
            return operand
        if target == operand.kind:
            return operand
        if target in REALS and isinstance(operand.expr, Int):
            suffix = "f" if target == "float" else ""
            if abs(operand.expr.value) < 2**24 and operand.expr.value >= 0:
                return Typed(Real(f"{operand.expr.value}.0{suffix}"), target)
        words = self.text(node)[1:].split(")")[0].strip()
        raise self.refuse(messages.CAST, node, type=words)


def _common(left: str, right: str) -> str:
    """Return the kind of a value computed from two kinds, as C converts them."""
    if "double" in (left, right):
        return "double"
    return "float" if "float" in (left, right) else "int"
