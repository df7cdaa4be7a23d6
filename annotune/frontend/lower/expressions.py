"""Conditions: what ``if``, ``?:``, ``!`` and ``&&`` ask of a value.

Calls in a nest: of the functions that annotune knows, and of those the user vouches for.

C expressions turned into expressions of the loop-nest language, or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pycparser import c_ast

from annotune.annotation.messages import did_you_mean
from annotune.diagnostics import AnnotuneError, Template
from annotune.frontend import messages
from annotune.frontend.lower.libf2c import (
    LIBRARY,
    called_functions,
    integer_type,
    of_bits,
    uses_integer,
)
from annotune.frontend.lower.names import (
    Names,
    is_generic,
    lacks_prototype,
    may_come_from_headers,
    own_meaning,
)
from annotune.frontend.lower.unsigned import (
    UNSIGNED,
    arithmetic,
    converted,
    may_go_round,
    signed,
)
from annotune.frontend.read.parse import parse
from annotune.frontend.read.syntax import extent, offset, text_of
from annotune.frontend.read.tokens import integer
from annotune.frontend.types.kinds import (
    COMPLEX,
    ELEMENTS,
    Typed,
    cast,
    common,
    constant,
    goes_round,
    is_integer,
    is_unsigned,
    literal_type,
    modular,
    promoted,
    width,
    without_type,
)
from annotune.frontend.types.symbols import INTEGERS, REALS, Symbol
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED
from annotune.ir.ctype import LONG, UNSIGNED_INT, named
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
)
from annotune.ir.functions import FUNCTIONS, Function, own_name
from annotune.ir.region import UserFunction
from annotune.ir.typing import has_narrowing_cast

_OPPOSITE: Mapping[str, str] = {
    **{"<": ">=", "<=": ">", ">": "<=", ">=": "<"},
    **{"==": "!=", "!=": "=="},
}
_OTHER = {"&&": "||", "||": "&&"}


def condition(node: c_ast.Node, holds: bool, expressions: Expressions) -> Expr:
    """Return an expression that is 1 where the condition `node` is as `holds` says, else 0.

    Comparisons of integers are turned round; for reals ``!(a < b)`` is not ``a >= b``, since
    both are false for NaN.
    """
    match node:
        case c_ast.UnaryOp(op="!"):
            return condition(node.expr, not holds, expressions)
        case c_ast.BinaryOp(op="&&" | "||"):
            left = condition(node.left, holds, expressions)
            right = condition(node.right, holds, expressions)
            return Binary(node.op if holds else _OTHER[node.op], left, right)
        case c_ast.BinaryOp(op="==" | "!=", right=c_ast.Constant(value="0")) if _is_class(
            node.left
        ):
            return condition(node.left, holds == (node.op == "!="), expressions)
        case c_ast.BinaryOp() if node.op in COMPARISONS:
            return _comparison(node, holds, expressions)
        case c_ast.FuncCall(name=c_ast.ID() as callee) if _is_class(node):
            _check_known(callee, expressions)
            return _of_class(node, holds, expressions)
    value = expressions.exact_value(node)
    match without_type(value).expr:
        case Int(constant):
            return Int(int((constant != 0) == holds))
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES and holds:
            return value.expr
    return Binary("!=" if holds else "==", value.expr, Int(0))


# What ``math.h`` asks of a real, as an expression of x that is not 0 where it is so (C11 7.12.3).
# No NaN is equal to itself, and none is above or below anything.
_GREATEST = Real("1.7976931348623157e308")
_CLASSES: Mapping[str, Callable[[Expr], Expr]] = {
    "isnan": lambda x: Binary("!=", x, x),
    "isinf": lambda x: Binary(">", Call("fabs", (x,)), _GREATEST),
    "isfinite": lambda x: Binary("<=", Call("fabs", (x,)), _GREATEST),
    "signbit": lambda x: Binary("<", Call("copysign", (Real("1.0"), x)), Real("0.0")),
}


def _is_class(node: c_ast.Node) -> bool:
    """Return whether an expression asks what kind of number a real is."""
    callee = node.name if isinstance(node, c_ast.FuncCall) else None
    return isinstance(callee, c_ast.ID) and callee.name in _CLASSES


def _of_class(node: c_ast.FuncCall, holds: bool, expressions: Expressions) -> Expr:
    """Return whether a real is of a kind, such as not a number."""
    name, arguments = expressions.text(node.name), [*(node.args or ())]
    if len(arguments) != 1:
        shown = {"name": name, "expected": 1, "given": len(arguments)}
        raise expressions.refuse(messages.ARGUMENTS, node, **shown)
    value = expressions.exact_value(arguments[0])
    if value.kind not in REALS:
        raise expressions.refuse(messages.CLASS_OF_INTEGER, node, name=name, type=value.kind)
    asked = _CLASSES[name](cast(value, "double"))
    return asked if holds else Binary("==", asked, Int(0))


def _comparison(node: c_ast.BinaryOp, holds: bool, expressions: Expressions) -> Expr:
    left, right = expressions.exact_value(node.left), expressions.exact_value(node.right)
    kind = common(left.kind, right.kind)
    is_ordered = node.op not in ("==", "!=")
    if kind in COMPLEX and is_ordered:
        raise expressions.operator(node, node.op)
    a, b = (compared(without_type(side), kind, expressions) for side in (left, right))
    if holds:
        return Binary(node.op, a, b)
    if is_integer(kind) or not is_ordered:
        return Binary(_OPPOSITE[node.op], a, b)
    return Binary("==", Binary(node.op, a, b), Int(0))


def compared(side: Typed, kind: str, expressions: Expressions) -> Expr:
    """Return one side of a comparison made in type `kind`.

    C turns a negative number into a large one where the other side is unsigned; a cast says so,
    and keeps every later stage from taking the comparison for one of integers.
    """
    changes = is_unsigned(kind) and not is_unsigned(side.kind)
    if changes and not expressions.names.is_nonnegative(side.expr):
        return Cast(named(kind), side.expr)
    return side.expr


_EXTREMA = {"min": "<=", "max": ">="}
# f2c.h: dmin(a, b) is (doublereal)min(a, b).
_F2C = {"dmin": "min", "dmax": "max", "dabs": "abs"}


def call(node: c_ast.FuncCall, expressions: Expressions) -> Typed:
    """Return the value of a function call.

    Raises:
        AnnotuneError: The function may have effects, or is given the wrong arguments.
    """
    callee, names = node.name, expressions.names
    if not isinstance(callee, c_ast.ID):
        raise _unknown(callee, expressions.text(callee), expressions)
    if (
        _is_class(node)
        and not own_meaning(callee.name, names)
        and callee.name not in names.given.pure
    ):
        raise expressions.refuse(messages.CLASS_AS_NUMBER, node, name=callee.name)
    if callee.name in LIBRARY:
        return _of_library(node, LIBRARY[callee.name], expressions)
    is_vouched = callee.name in names.given.pure
    if not is_vouched:
        _check_known(callee, expressions)
    arguments = [expressions.exact_value(a) for a in (node.args.exprs if node.args else ())]
    if is_vouched:
        return _vouched(callee, arguments, expressions)
    made = _macro(callee.name, arguments, expressions)
    if made is not None:
        return made
    if callee.name not in FUNCTIONS:
        raise _unknown(callee, callee.name, expressions)
    function = _generic(callee, arguments, expressions)
    expected, given = len(function.parameters), len(arguments)
    if expected != given:
        raise expressions.refuse(
            messages.ARGUMENTS, node, name=function.name, expected=expected, given=given
        )
    # C converts arguments by itself; in C++, and so in CUDA, ``sqrt`` and ``abs`` are overloaded
    # and would compute in the argument's type.
    pairs = zip(arguments, function.parameters, strict=True)
    converted = tuple(cast(argument, kind) for argument, kind in pairs)
    return Typed(Call(function.name, converted), function.result)


def _check_known(callee: c_ast.ID, expressions: Expressions) -> None:
    name, clean = callee.name, expressions.names.function.file.clean
    if not (name in FUNCTIONS or name in _EXTREMA or name in _F2C or name in _CLASSES):
        raise _unknown(callee, name, expressions)
    reason = own_meaning(name, expressions.names)
    if (
        not reason
        and name in _CLASSES
        and not ({"math.h", "tgmath.h"} & clean.headers or may_come_from_headers(clean))
    ):
        reason = "<math.h> declares it, and is not included"
    if not reason and name in _EXTREMA and not may_come_from_headers(clean):
        reason = "the C library has none, and no macro of the name is defined"
    if reason:
        vouch = f"if it has no effects, say so: def assume {{ arg pure = ['{name}']; }}"
        raise _foreign(callee, reason, vouch, expressions)


def _generic(callee: c_ast.ID, arguments: Sequence[Typed], expressions: Expressions) -> Function:
    """Return the function that a name means for these arguments.

    Under <tgmath.h> that is the one for float where no argument is wider.
    """
    names, name = expressions.names, callee.name
    clean, known = names.function.file.clean, FUNCTIONS[name]
    kinds = {argument.kind for argument in arguments}
    reason = help_ = ""
    as_given = tuple(argument.kind for argument in arguments) == known.parameters
    # A float becomes a double on its way.
    if lacks_prototype(name, clean, names.find(name)) and (not as_given or "float" in kinds):
        reason = "without its parameters declared C does not convert what it is given"
        help_ = f"include <{known.header}>"
    twin = FUNCTIONS.get(f"{name}f")
    is_complex = known.header == "complex.h"
    if is_generic(clean) and (twin is not None or is_complex):
        if kinds != {"double complex"} if is_complex else kinds & COMPLEX:
            reason = "in <tgmath.h> it is one for such a type"
            help_ = "include <math.h> and <complex.h>"
        elif twin is not None and kinds == {"float"}:
            return twin
    if reason:
        raise _foreign(callee, reason, help_, expressions)
    return known


def _unknown(callee: c_ast.Node, name: str, expressions: Expressions) -> AnnotuneError:
    # A slip of the hand seldom changes the first letter: printf is no rintf.
    hint = did_you_mean(name, [known for known in FUNCTIONS if known[0] == name[0]])
    hint = f"{hint} " if hint.startswith("did") else ""
    return expressions.refuse(messages.CALL, callee, name=name, hint=hint)


def _foreign(callee: c_ast.ID, reason: str, help_: str, expressions: Expressions) -> AnnotuneError:
    shown = {"name": callee.name, "reason": reason, "help": help_}
    return expressions.refuse(messages.OWN_FUNCTION, callee, **shown)


def _macro(name: str, arguments: Sequence[Typed], expressions: Expressions) -> Typed | None:
    """Return a call of min, max or f2c's abs, which headers define as macros; else None."""
    is_f2c = expressions.names.function.file.clean.has_f2c
    plain = _F2C.get(name, name) if is_f2c else name
    kinds = [argument.kind for argument in arguments]
    if not COMPLEX.isdisjoint(kinds):
        return None
    made: Typed | None = None
    if is_f2c and plain == "abs" and len(arguments) == 1:
        (x,) = arguments
        made = Typed(Select(Binary(">=", x.expr, Int(0)), x.expr, Negate(x.expr)), x.kind)
    elif plain in _EXTREMA and len(arguments) == 2:
        kind = common(*kinds)
        a, b = (argument.expr for argument in arguments)
        if is_integer(kind):
            a, b = (compared(argument, kind, expressions) for argument in arguments)
        if is_integer(kind) and expressions.in_index:
            made = Typed(Call(plain, (a, b)), kind)
        elif is_integer(kind) or is_f2c:
            made = Typed(Select(Binary(_EXTREMA[plain], a, b), a, b), kind)
    if made is None or plain == name:
        return made
    return Typed(cast(made, "double"), "double")


def _of_library(node: c_ast.FuncCall, function: UserFunction, expressions: Expressions) -> Typed:
    """Return a call of a function of f2c's library, as one of a function that the user vouches for.

    Its integers are those of the header that says what they are.
    """
    names = expressions.names
    integer = integer_type(names.function.scope.types)
    if integer is None and uses_integer(function):
        problem = messages.UNKNOWN_TYPE.at(names.place(node), type="integer", name=function.name)
        raise AnnotuneError.of(problem)
    result = integer if function.result == "integer" and integer else function.result
    for name in called_functions([function]):
        reason = own_meaning(name, names)
        if reason:
            raise _foreign(c_ast.ID(name, node.coord), reason, "", expressions)
    names.used.functions.setdefault(function.name)
    arguments = [expressions.exact_value(a).expr for a in node.args or ()]
    return Typed(Cast(named(result), Call(function.name, tuple(arguments))), result)


def _vouched(callee: c_ast.ID, arguments: Sequence[Typed], expressions: Expressions) -> Typed:
    """Return the call of a function that the annotation lists as pure.

    Its type stands beside it as a cast: no later stage knows the function.
    """
    names, name = expressions.names, callee.name
    symbol = names.find(name) or defined_function(name, names)
    if symbol is None:
        raise expressions.refuse(messages.UNDECLARED, callee, name=name)
    kinds = [layer.kind for layer in symbol.layers]
    result = promoted(symbol.base)
    if kinds != ["()"] or not (is_integer(result) or result in REALS | COMPLEX):
        raise expressions.refuse(messages.RETURNS, callee, name=name, type=symbol.base)
    names.used.functions.setdefault(name)
    called = Call(own_name(name), tuple(argument.expr for argument in arguments))
    return Typed(Cast(named(result), called), result)


def defined_function(name: str, names: Names) -> Symbol | None:
    """Return what the file, or a header it reads, defines as function `name`; else None."""
    found = names.function.file.definition(name)
    if found is None:
        return None
    types = names.function.file.scope_of(found).types
    parsed = parse(found.file.clean, found.file.tokens, found.part, types.names())
    trees = [tree for tree in parsed.nodes if isinstance(tree, c_ast.FuncDef)]
    return types.symbol(trees[0].decl, "file") if trees else None


# An address: the array, the subscripts given so far, and an offset not yet in one.
_Address = tuple[Symbol, tuple[Expr, ...], Expr | None]
_IMAGINARY_UNITS = frozenset({"I", "_Complex_I"})
BITS = frozenset({"&", "|", "^"})
# What the values of C's types decide, where sums and products agree up to what goes round.
ROUNDING = frozenset({"/", "%", ">>", *BITS})
# A shift by more bits would leave nothing of an int.
_LARGEST_SHIFT = 30


@dataclass(frozen=True)
class Expressions:
    """The lowering of expressions at the place of `names`.

    `in_index` says that the value becomes part of a subscript or of a loop's bound: integers
    are plain numbers there, without the types that they have in C; `is_rounded` says that it is a
    part of what these round.
    """

    names: Names
    in_index: bool = False
    is_rounded: bool = False

    def index(self) -> Expressions:
        """Return the lowering of what is part of a subscript or bound."""
        return Expressions(self.names, in_index=True)

    def refuse(self, template: Template, node: c_ast.Node, **values: object) -> AnnotuneError:
        """Return the refusal of a syntax tree, at its place."""
        return AnnotuneError.of(template.at(self.names.place(node), **values))

    def text(self, node: c_ast.Node) -> str:
        """Return a syntax tree as the user wrote it."""
        start, end = extent(node, self.names.function.file.tokens)
        return " ".join(self.names.function.file.clean.text[start:end].split())

    def integer(self, node: c_ast.Node) -> Expr:
        """Return an integer expression of a subscript or a bound; reals are refused."""
        return self.whole(node).expr

    def whole(self, node: c_ast.Node) -> Typed:
        """Return what `integer` does, with its C type."""
        index = self.index()
        value = index.value(node)
        if is_integer(value.kind) and goes_round(self.names.resolved(value.expr)):
            value = index.exact_value(node)
        if not is_integer(value.kind):
            raise self.refuse(messages.NOT_INTEGER, node)
        return value

    def value(self, node: c_ast.Node) -> Typed:
        """Return the value of an expression."""
        match node:
            case c_ast.Constant():
                return self._literal(node)
            case c_ast.ID():
                return self._name(node)
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                access, element = self.element(node)
                return Typed(access, promoted(element))
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.Cast():
                return self._cast(node)
            case c_ast.TernaryOp():
                return self._choice(node)
            case c_ast.FuncCall():
                return call(node, self)
            case c_ast.StructRef():
                raise self.refuse(messages.STRUCT_MEMBER, node, name=self.text(node))
            case c_ast.Assignment():
                raise self.refuse(messages.NESTED_ASSIGNMENT, node)
        raise self.refuse(messages.STATEMENT, node)

    def exact(self, lower: Callable[[Expressions], Typed]) -> Typed:
        """Return a value for what is more than a sum or a product of it, as C's types reduce it.

        The plain numbers of a subscript agree with C's values up to what goes round in a type,
        which a quotient, a comparison or a conversion to a real would show. `lower` gives the
        value as the expressions that it is given have it.
        """
        plain = lower(self)
        if not self.in_index:
            return plain
        computed = lower(Expressions(self.names, is_rounded=True))
        return computed if has_narrowing_cast(self.names.resolved(computed.expr)) else plain

    def exact_value(self, node: c_ast.Node) -> Typed:
        """Return the exact value of an expression."""
        return self.exact(lambda expressions: expressions.value(node))

    def element(self, node: c_ast.ArrayRef | c_ast.UnaryOp) -> tuple[Access, str]:
        """Return the array element that ``a[i][j]`` or ``*(p + i)`` names, and its type."""
        symbol, indices = self._place(node)
        self._check_array(symbol, node)
        expected, given = len(symbol.layers), len(indices)
        if given != expected:
            shown = {"name": symbol.name, "expected": expected, "given": given}
            raise self.refuse(messages.SUBSCRIPTS, node, **shown)
        if symbol.storage != "region":
            self.names.used.arrays.setdefault(symbol.name, symbol)
        return Access(symbol.name, indices, self.names.place(node)), symbol.base

    def _check_array(self, symbol: Symbol, node: c_ast.Node) -> None:
        """Refuse an array that annotune cannot work on."""
        kinds = [layer.kind for layer in symbol.layers]
        name = symbol.name
        if "()" in kinds:
            raise self.refuse(messages.CALL, node, name=name, hint="")
        if "*" in kinds[1:]:
            raise self.refuse(messages.POINTER_TO_POINTER, node, name=name)
        if symbol.guess:
            # Scalars of either length are computed with as long; what is in memory is as it is.
            raise self.refuse(messages.UNKNOWN_TYPE, node, type=symbol.guess, name=name)
        if symbol.base in ("struct", "union"):
            raise self.refuse(messages.STRUCT_MEMBER, node, name=name)
        if symbol.base not in ELEMENTS:
            raise self.refuse(messages.ELEMENT_TYPE, node, name=name, type=symbol.base)

    def _place(self, node: c_ast.ArrayRef | c_ast.UnaryOp) -> tuple[Symbol, tuple[Expr, ...]]:
        """Return what an lvalue names; its subscripts may be fewer than the dimensions."""
        if isinstance(node, c_ast.ArrayRef):
            symbol, indices, offset = self._address(node.name)
            index = self.integer(node.subscript)
            if offset is not None:
                index = self._of_numbers("+", offset, index, "long")
            return symbol, (*indices, index)
        symbol, indices, offset = self._address(node.expr)
        return symbol, (*indices, offset if offset is not None else Int(0))

    def _address(self, node: c_ast.Node) -> _Address:
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
                return (*self._place(node), None)
            case c_ast.BinaryOp(op="+" | "-"):
                return self._moved(node)
            case c_ast.UnaryOp(op="p++" | "p--" | "++" | "--"):
                raise self.refuse(messages.POINTER_CHANGES, node, name=self.text(node.expr))
        # Whatever else gives a pointer is refused for what it is: a call, a member, a cast.
        self.value(node)
        raise self.refuse(messages.STATEMENT, node)

    def _moved(self, node: c_ast.BinaryOp) -> _Address:
        """Return the address ``p + i``, ``i + p`` or ``p - i``."""
        pointer, distance = node.left, node.right
        if node.op == "+" and not self.is_pointer(pointer):
            pointer, distance = distance, pointer
        symbol, indices, offset = self._address(pointer)
        step = self.integer(distance)
        if offset is not None:
            return symbol, indices, self._of_numbers(node.op, offset, step, "long")
        if node.op == "-":
            step = Int(-step.value) if isinstance(step, Int) else Negate(self._as_long(step))
        return symbol, indices, step

    def is_pointer(self, node: c_ast.Node) -> bool:
        """Return whether an expression is an array or a pointer into one."""
        match node:
            case c_ast.ID():
                symbol = self.names.find(node.name)
                return symbol is not None and symbol.is_array
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                base = node.name if isinstance(node, c_ast.ArrayRef) else node.expr
                return self.is_pointer(base)
            case c_ast.BinaryOp(op="+" | "-"):
                return self.is_pointer(node.left) or self.is_pointer(node.right)
        return False

    def _name(self, node: c_ast.ID) -> Typed:
        clean = self.names.function.file.clean
        if node.name in _IMAGINARY_UNITS and self.names.find(node.name) is None:
            has_complex = "complex.h" in clean.headers
            if has_complex and clean.macro(node.name, offset(node)) is None:
                return Typed(Real("I"), "float complex")
        return self.names.read(node, self.in_index, self.is_rounded)

    def _literal(self, node: c_ast.Constant) -> Typed:
        if "int" in node.type or node.type in ("long", "unsigned long", "char"):
            value = integer(node.value)
            if value is not None:
                kind = "int" if node.type == "char" else literal_type(node.value, value)
                self.names.used.is_wide |= node.type != "char" and "l" in node.value.lower()
                return Typed(Int(value) if self.in_index else constant(value, kind), kind)
        if node.type in REALS:
            return Typed(Real(node.value), node.type)
        raise self.refuse(messages.LITERAL, node, text=node.value)

    def _unary(self, node: c_ast.UnaryOp) -> Typed:
        if node.op == "-":
            operand = self.value(node.expr)
            if is_unsigned(operand.kind) and not self.in_index:
                return Typed(modular(Typed(Negate(operand.expr), operand.kind)), operand.kind)
            if isinstance(operand.expr, Int) and operand.expr.value > 0:
                return Typed(Int(-operand.expr.value), operand.kind)
            if self.in_index and operand.kind != UNSIGNED:
                return Typed(Negate(self._as_long(operand.expr)), operand.kind)
            return Typed(Negate(operand.expr), operand.kind)
        if node.op == "+":
            return self.value(node.expr)
        if node.op == "!":
            return Typed(condition(node, True, self), "int")
        if node.op in ("++", "--", "p++", "p--"):
            raise self.refuse(messages.NESTED_ASSIGNMENT, node)
        if node.op == "sizeof":
            return self._size_of_operand(node)
        operand = self.exact_value(node.expr)
        if node.op != "~" or not is_integer(operand.kind):
            raise self.refuse(messages.OPERATOR, node, op=node.op)
        # All bits but those of x: what is left of all of them, which are -1 with a sign.
        ones = 2 ** width(operand.kind) - 1 if is_unsigned(operand.kind) else -1
        known = without_type(operand).expr
        if isinstance(known, Int):
            return Typed(Int(ones - known.value), operand.kind)
        return self.computed("-", Typed(Int(ones), operand.kind), operand, node)

    def _size_of_operand(self, node: c_ast.UnaryOp) -> Typed:
        """Return how many bytes a type, or a variable of a size that C fixes, has."""
        value = self.names.fixed_value(node)
        if value is None:
            start, end = self.names.extent_of_size(node)
            source = self.names.function.file.source
            text = self.names.function.file.clean.text[start:end]
            raise AnnotuneError.of(messages.UNKNOWN_SIZE.at(source.span(start, end), text=text))
        return Typed(Int(value), "unsigned long")

    def _binary(self, node: c_ast.BinaryOp) -> Typed:
        if node.op in COMPARISONS | CONNECTIVES:
            return Typed(condition(node, True, self), "int")
        value = self.exact_value if node.op in ROUNDING else self.value
        left, right = value(node.left), value(node.right)
        if node.op in BITS:
            left, right = self._fixed(left, node.left), self._fixed(right, node.right)
        return self.computed(node.op, left, right, node)

    def _fixed(self, value: Typed, node: c_ast.Node) -> Typed:
        """Return the number of a constant expression, `value` of any other."""
        number = self.names.fixed_value(node) if is_integer(value.kind) else None
        return value if number is None else Typed(Int(number), value.kind)

    def computed(self, op: str, left: Typed, right: Typed, node: c_ast.Node) -> Typed:
        """Return ``left op right``, which stands at `node`; exact operands for `ROUNDING`."""
        if op in ("<<", ">>"):
            return self._shifted(op, left, right, node)
        if op in BITS:
            return self._bits(op, left, right, node)
        kind = common(left.kind, right.kind)
        if op not in ("+", "-", "*", "/", "%") or (op == "%" and not is_integer(kind)):
            raise self.operator(node, op)
        if is_unsigned(kind) and (op in ROUNDING or not self.in_index):
            return arithmetic(op, left, right, kind, self.names)
        # Where the other operand is of the type anyway, a constant need not say it.
        first = without_type(left) if right.kind == kind else left
        second = without_type(right) if left.kind == kind and first is left else right
        if self.in_index:
            return Typed(self._of_numbers(op, first.expr, second.expr, kind), kind)
        return Typed(Binary(op, first.expr, second.expr), kind)

    def _of_numbers(self, op: str, left: Expr, right: Expr, kind: str) -> Expr:
        """Return a part of a subscript that C computes in type `kind`.

        Where that has a sign, what the emitted C would compute without one is made a long.
        """
        whole = Binary(op, left, right)
        is_unsigned_sum = self.names.type_of(whole) == UNSIGNED_INT
        if kind == UNSIGNED and not is_unsigned_sum:
            # A long in it, as of a cast to int, keeps the sum from going round: nor may a part.
            return Binary(op, self._as_number(left), self._as_number(right))
        if kind == UNSIGNED or not is_unsigned_sum:
            return whole
        if op != "-" and all(map(self._has_no_sign, (left, right))):
            # The same number, less what goes round in C too.
            return whole
        return Binary(op, self._as_long(left), self._as_long(right))

    def _has_no_sign(self, number: Expr) -> bool:
        if isinstance(number, Int):
            return number.value >= 0
        return self.names.type_of(number) == UNSIGNED_INT

    def _as_number(self, number: Expr) -> Expr:
        """Return what C computes without a sign as the number that it stands for."""
        whole = self.names.resolved(number)
        return signed(whole, self.names) if may_go_round(whole, self.names) else number

    def _as_long(self, number: Expr) -> Expr:
        is_one = self.names.type_of(number) == UNSIGNED_INT
        return Cast(LONG, number) if is_one else number

    def _shifted(self, op: str, left: Typed, right: Typed, node: c_ast.Node) -> Typed:
        """Return a shift by a constant, as a product or a quotient rounded down."""
        by, x = without_type(right).expr, left.expr
        if not (is_integer(left.kind) and isinstance(by, Int) and 0 <= by.value <= _LARGEST_SHIFT):
            raise self.operator(node, op)
        power = 2**by.value
        if op == "<<":
            # An int, beside which the other operand keeps its type.
            return self.computed("*", left, Typed(Int(power), "int"), node)
        quotient = Binary("/", x, Int(power))
        if is_unsigned(left.kind) or self.names.is_nonnegative(x):
            return Typed(quotient, left.kind)
        # C's division rounds towards zero, its shift down (as every compiler here has it). No part
        # leaves the type, not even where x is its least number.
        below = Binary("-", Binary("/", Binary("+", x, Int(1)), Int(power)), Int(1))
        return Typed(Select(Binary(">=", x, Int(0)), quotient, below), left.kind)

    def _bits(self, op: str, left: Typed, right: Typed, node: c_ast.Node) -> Typed:
        """Return ``x & 7`` as ``x % 8`` and ``x ^ 1`` as ``x - 2 * (x % 2) + 1``, for x from 0 on.

        The last bits of a number that is not negative are what a power of two leaves of it, in
        every type that holds it; no step of the second sum is above the greater of both values.
        So ``x & ~7`` is ``x - x % 8``, and ``2 * x | 1`` is ``2 * x + 1``, whose bits are apart.
        What else there is stays C's own operator, in a function.
        """
        kind = common(left.kind, right.kind)
        if not is_integer(kind):
            raise self.operator(node, op)
        if isinstance(without_type(left).expr, Int):
            left, right = right, left
        known = without_type(right).expr
        mask = known.value if isinstance(known, Int) else 0

        def number(value: int) -> Typed:
            return Typed(Int(value) if self.in_index else constant(value, right.kind), right.kind)

        if op == "|" and 0 < mask < _factor(left.expr):
            return self.computed("+", left, right, node)
        is_low = 0 < mask < 2**_LARGEST_SHIFT and not mask & (mask + 1)
        count = mask + 1 if is_low else _unmasked(mask, kind)
        is_sum = (op == "&" and count) or (op == "^" and mask == 1)
        if is_sum and self.names.is_nonnegative(left.expr):
            rest = self.computed("%", left, number(count), node)
            if op == "&":
                return rest if is_low else self.computed("-", left, rest, node)
            twice = self.computed("*", number(2), rest, node)
            return self.computed("+", self.computed("-", left, twice, node), number(1), node)
        self.names.used.functions.setdefault(of_bits(op, kind))
        return Typed(Cast(named(kind), Call(of_bits(op, kind), (left.expr, right.expr))), kind)

    def operator(self, node: c_ast.Node, op: str) -> AnnotuneError:
        """Return the refusal of an operator, at the operator itself where it is a binary one."""
        if not isinstance(node, c_ast.BinaryOp):
            return self.refuse(messages.OPERATOR, node, op=op)
        tokens = self.names.function.file.tokens
        index = tokens.at(extent(node.left, tokens)[1])
        while tokens.texts[index] == ")" and index + 1 < len(tokens):
            index += 1
        span = self.names.function.file.source.span(tokens.starts[index], tokens.ends[index])
        return AnnotuneError.of(messages.OPERATOR.at(span, op=op))

    def _choice(self, node: c_ast.TernaryOp) -> Typed:
        """Return ``c ? a : b``; in a bound or subscript ``a < b ? a : b`` is a minimum."""
        if_true, if_false = self.value(node.iftrue), self.value(node.iffalse)
        kind = common(if_true.kind, if_false.kind)
        test = condition(node.cond, True, self)
        chosen = Select(test, if_true.expr, if_false.expr)
        extremum = _extremum(chosen) if self.in_index and is_integer(kind) else None
        if extremum is not None:
            return Typed(extremum, kind)
        if self.in_index and kind != UNSIGNED and self.names.type_of(chosen) == UNSIGNED_INT:
            chosen = Select(test, self._as_long(if_true.expr), self._as_long(if_false.expr))
        if is_unsigned(kind):
            sides = map(self.exact_value, (node.iftrue, node.iffalse))
            chosen = Select(test, *(converted(side, kind, self.names) for side in sides))
        if {if_true.kind, if_false.kind} & COMPLEX:
            chosen = Select(test, cast(if_true, kind), cast(if_false, kind))
        return Typed(chosen, kind)

    def number(self, value: Typed, kind: str) -> Expr:
        """Return a part of a subscript that C converts to type `kind`, as a plain number."""
        if isinstance(value.expr, Var | Access) or (value.kind, kind) != (UNSIGNED, "int"):
            return value.expr
        # What has gone round below 0 has its sign again.
        return signed(self.names.resolved(value.expr), self.names)

    def _cast(self, node: c_ast.Cast) -> Typed:
        """Return the operand of a cast, converted where the cast changes it."""
        target = self.names.function.scope.types.scalar(node.to_type)
        if target == "_Bool":
            return Typed(cast(self.exact_value(node.expr), target), "int")
        if target not in ELEMENTS:
            words = text_of(node.to_type)
            raise self.refuse(messages.CAST, node, type=words)
        operand = self.value(node.expr)
        if target in INTEGERS and is_integer(operand.kind):
            self.names.used.is_wide |= "long" in target
            if target == operand.kind or (self.in_index and target not in PROMOTED):
                return Typed(self.number(operand, target), target)
            return Typed(Cast(named(target), operand.expr), promoted(target))
        return Typed(cast(self.exact_value(node.expr), target), promoted(target))


def _factor(expr: Expr) -> int:
    """Return the power of two that a product is a multiple of, by a factor that is one; else 1."""
    match expr:
        case Binary("*", part, Int(by)) | Binary("*", Int(by), part) if by > 0:
            return (by & -by) * _factor(part)
        case Cast(type_, operand) if type_.is_integer:
            # The last bits stay in every integer type.
            return _factor(operand)
    return 1


def _unmasked(mask: int, kind: str) -> int:
    """Return 8 for ``~7`` in an integer type, 0 for what is no such mask."""
    count = 2 ** width(kind) - mask % 2 ** width(kind)
    return count if 1 < count < 2**_LARGEST_SHIFT and not count & (count - 1) else 0


def _extremum(chosen: Select) -> Expr | None:
    """Return an integer choice of the smaller or larger of two as a call, None for any other."""
    match chosen.condition:
        case Binary("<" | "<=" | ">" | ">=" as op, left, right):
            pair = (chosen.if_true, chosen.if_false)
            if pair == (left, right):
                return Call("min" if op.startswith("<") else "max", pair)
            if pair == (right, left):
                return Call("max" if op.startswith("<") else "min", pair)
    return None
