from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from pycparser.c_ast import FileAST
from pycparser.c_lexer import Token

@dataclass(slots=True)
class Coord:
    file: str
    line: int
    column: int | None = None

class ParseError(Exception): ...

class CParser:
    # Whatever `lexer` makes: annotune's has members of its own.
    clex: Any
    def __init__(self, lexer: Callable[..., object]) -> None: ...
    def parse(self, text: str, filename: str = "") -> FileAST: ...
    def _peek(self) -> Token | None: ...
    def _parse_error(self, msg: str, coord: Coord | str | None) -> NoReturn: ...
