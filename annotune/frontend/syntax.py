"""pycparser, the library that reads C, for the modules of the front end.

It ships no types: its nodes are `Any` here, and `annotune.ir` is what has types.
"""

from pycparser import c_ast, c_generator  # type: ignore[import-untyped]  # ships no types
from pycparser.c_lexer import CLexer  # type: ignore[import-untyped]  # ships no types
from pycparser.c_parser import CParser, ParseError  # type: ignore[import-untyped]  # as above

__all__ = ["CLexer", "CParser", "ParseError", "c_ast", "c_generator"]
