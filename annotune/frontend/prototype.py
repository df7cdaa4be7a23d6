"""What a function of a C file takes and returns, as whoever calls it from outside must know."""

from __future__ import annotations

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError, Template
from annotune.frontend.macro_texts import is_static
from annotune.frontend.read.filescope import File
from annotune.frontend.read.ladder import Ladder
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.frontend.read.region_finder import ParsedFunction, function_at
from annotune.frontend.read.syntax import text_of
from annotune.frontend.read.tokens import SourceText
from annotune.frontend.types.symbols import Layer, Symbol
from annotune.frozen import dataclass

NOT_CALLABLE = Template(
    "AT680",
    "'{name}' cannot be called from outside of C: {reason}",
    "call it from C, or write a function around it that takes numbers and arrays of numbers",
)


@dataclass(frozen=True, slots=True)
class Formal:
    """A parameter: a number of the C type `type`, or an array of such.

    `lengths` are what C says of an array's axes, outermost first, empty where it says nothing; None
    for a number. A pointer to numbers `is_flat`: C knows neither axes nor lengths. `declared` is
    the parameter as a declaration of C.
    """

    name: str
    type: str
    declared: str
    lengths: tuple[str, ...] | None = None
    is_flat: bool = False
    is_const: bool = False


@dataclass(frozen=True, slots=True)
class Prototype:
    """A function's name, the C type of its result, and its parameters in order.

    One that `is_static` is called inside its file alone.
    """

    name: str
    result: str
    formals: tuple[Formal, ...]
    is_static: bool = False

    def __str__(self) -> str:
        return f"{self.result} {self.name}({', '.join(one.declared for one in self.formals)})"


def prototype(path: str, text: str, name: str, search: HeaderSearch) -> Prototype:
    """Return what the function `name` of a C text takes and returns.

    Raises:
        AnnotuneError: The text is not C, or the function takes or returns something else than
            numbers and arrays of numbers.
    """
    ladder = Ladder(SourceText(path, text), search)
    refusal: AnnotuneError | None = None
    for rung in ladder.rungs():
        try:
            return _prototype(rung.file, name)
        except AnnotuneError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _prototype(file: File, name: str) -> Prototype:
    part = next((one for one in file.parts if one.function == name and one.body >= 0), None)
    if part is None:
        raise AnnotuneError.of(
            NOT_CALLABLE.at(file.source.span(0, 1), name=name, reason="the file does not define it")
        )
    function = function_at(file, part, places=None)
    symbol = function.scope.types.symbol(function.tree.decl, "file")
    if [layer.kind for layer in symbol.layers] != ["()"]:
        raise _unfit(function, symbol, "it returns no number")
    formals = tuple(_formal(function, node) for node in _declared(function, symbol))
    return Prototype(name, _type(function, symbol, "its result"), formals, is_static(function))


def _declared(function: ParsedFunction, symbol: Symbol) -> list[c_ast.Decl]:
    """Return the declarations of the parameters."""
    declarator = function.tree.decl.type
    arguments = declarator.args if isinstance(declarator, c_ast.FuncDecl) else None
    found = arguments.params if arguments is not None else []
    if function.tree.param_decls:
        raise _unfit(function, symbol, "its parameters are declared in the style before ANSI C")
    match found:
        case [c_ast.Typename() as only] if function.scope.types.scalar(only) == "void":
            return []
    named = [one for one in found if isinstance(one, c_ast.Decl) and one.name]
    if len(named) < len(found):
        raise _unfit(function, symbol, "a parameter has no name, or their number varies")
    return named


def _formal(function: ParsedFunction, node: c_ast.Decl) -> Formal:
    symbol = function.scope.types.symbol(node, "parameter")
    what = f"its parameter '{symbol.name}'"
    type_ = _type(function, symbol, what)
    declared = text_of(node)
    if type_ == "void":
        raise _unfit(function, symbol, f"{what} points to no numbers")
    if not symbol.layers:
        return Formal(symbol.name, type_, declared)
    outer, *inner = symbol.layers
    if outer.kind == "()" or any(layer.kind != "[]" for layer in inner):
        raise _unfit(function, symbol, f"{what} is no array of numbers in one piece of memory")
    is_flat = outer.kind == "*" and not inner
    lengths = tuple(map(_length, symbol.layers))
    return Formal(symbol.name, type_, declared, lengths, is_flat, symbol.is_const)


def _length(layer: Layer) -> str:
    return text_of(layer.dim) if layer.dim is not None else ""


def _type(function: ParsedFunction, symbol: Symbol, what: str) -> str:
    """Return the plain C type of what a declaration stores."""
    if symbol.guess:
        raise _unfit(function, symbol, f"{what} is f2c's '{symbol.guess}', whose header is missing")
    if symbol.base in ("struct", "union") or not symbol.is_known:
        raise _unfit(function, symbol, f"{what} has the type '{symbol.base}'")
    return symbol.base


def _unfit(function: ParsedFunction, symbol: Symbol, reason: str) -> AnnotuneError:
    place = function.file.source.span(symbol.start, symbol.end)
    problem = NOT_CALLABLE.at(place, name=function.part.function, reason=reason)
    return AnnotuneError.of(problem)
