"""Whose function a name is: the C library's, as annotune knows it, or one of the user's own."""

from __future__ import annotations

import re
from typing import Any

from annotune.frontend.lower.names import Names
from annotune.frontend.read.filescope import File
from annotune.frontend.read.preprocess import Clean, is_standard
from annotune.frontend.read.syntax import c_ast
from annotune.frontend.types.symbols import Symbol, Types
from annotune.ir.functions import FUNCTIONS

# How a header that a compiler has read is called: by the directive that asks for it.
_DIRECTIVE = re.compile(r"#[ \t]*include[ \t]*[<\"]([^>\"]+)")


def own_meaning(name: str, names: Names) -> str:
    """Return why `name`, a function that annotune knows, is not that one here; else nothing."""
    symbol = names.find(name)
    if symbol is not None and [layer.kind for layer in symbol.layers] != ["()"]:
        return "a variable has the name"
    if is_defined(name, names.file):
        return "the program defines it itself"
    return "" if symbol is None else unlike_library(name, symbol, names.file_scope.types)


def is_defined(name: str, file: File) -> bool:
    """Return whether the file, or a header of the user's, defines function `name`."""
    found = file.definition(name)
    if found is None:
        return False
    header = _DIRECTIVE.match(found.file.source.path)
    return header is None or not is_standard(header[1])


def unlike_library(name: str, symbol: Symbol, types: Types) -> str:
    """Return how a declaration differs from the C library's; nothing where it says the same."""
    known = FUNCTIONS.get(name)
    if known is None:
        return "it is declared, and the C library has none"
    (layer,) = symbol.layers
    given = None if layer.dim is None else tuple(_type(p, types) for p in layer.dim.params)
    # Empty parentheses leave the parameters open.
    if symbol.base == known.result and given in (None, known.parameters):
        return ""
    return f"the C library's is {known.result} {name}({', '.join(known.parameters)})"


def _type(parameter: Any, types: Types) -> str:
    is_plain = isinstance(parameter, c_ast.Decl | c_ast.Typename)
    return (types.scalar(parameter) if is_plain else None) or "another type"


def may_come_from_headers(clean: Clean) -> bool:
    """Return whether a header that was not read may say what a name is."""
    return any(not is_standard(unread.name) for unread in clean.unread)


def is_generic(clean: Clean) -> bool:
    """Return whether the names of ``math.h`` choose their function by the argument's type."""
    return "tgmath.h" in clean.headers


def lacks_prototype(name: str, clean: Clean, symbol: Symbol | None) -> bool:
    """Return whether C hands the known function `name` its arguments as they are.

    Of what nothing declares, compilers know the parameters, but for ``abs``: its result is what C
    takes any name to have.
    """
    if FUNCTIONS[name].header in clean.headers or may_come_from_headers(clean):
        return False
    if symbol is None:
        return name == "abs"
    return symbol.layers[0].dim is None
