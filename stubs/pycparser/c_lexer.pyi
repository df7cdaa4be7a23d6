from collections.abc import Callable
from dataclasses import dataclass

@dataclass(slots=True)
class Token:
    type: str
    value: str
    lineno: int
    column: int
    filename: str

class CLexer:
    def __init__(self, error_func: Callable[[str, int, int], None]) -> None: ...
    def input(self, text: str, filename: str = "") -> None: ...
    def token(self) -> Token | None: ...
