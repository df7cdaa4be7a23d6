"""One top-level declaration parsed by pycparser, with exact offsets.

Every coordinate of the syntax tree holds offsets into the user's file: `line` is where a
token starts and `column` where it ends. pycparser only ever copies them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from annotune.diagnostics import AnnotuneError
from annotune.frontend.messages import SYNTAX, TOO_DEEP, UNEXPECTED_END
from annotune.frontend.preprocess import Clean, Macro
from annotune.frontend.syntax import CLexer, CParser, ParseError
from annotune.frontend.tokens import Tokens
from annotune.frontend.toplevel import TopLevel

_SPELLINGS = {
    "__restrict__": "restrict",
    "__restrict": "restrict",
    "__const": "const",
    "__const__": "const",
    "__inline__": "inline",
    "__inline": "inline",
    "__volatile__": "volatile",
    "__volatile": "volatile",
    "__signed__": "signed",
}
_DROPPED = frozenset({"__extension__", "__host__", "register"})
_DROPPED_WITH_ARGUMENTS = frozenset(
    {"__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm"}
)
_KEYWORDS = frozenset(
    {
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double"),
        *("else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long"),
        *("register", "restrict", "return", "short", "signed", "sizeof", "static", "struct"),
        *("switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
        *("_Bool", "_Complex", "_Alignas", "_Alignof", "_Atomic", "_Noreturn"),
        *("_Static_assert", "_Thread_local", "_Generic"),
    }
)
_IDENTIFIER = re.compile(r"[A-Za-z_$]\w*\Z")
# After one of these a declaration may start, so `T * x` declares x.
_BEFORE_DECLARATION = frozenset({"(", ",", ";", "{", "}", "const", "static", "extern", "volatile"})
_POINTER_WORDS = frozenset({"*", "const", "restrict", "__restrict__", "__restrict"})
_MAXIMUM_EXPANSIONS = 10_000
_MAXIMUM_RETRIES = 8
_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Parsed:
    """The syntax trees of one top-level part, and the type names nothing declares."""

    nodes: tuple[Any, ...]
    assumed_types: frozenset[str]


def parse(clean: Clean, tokens: Tokens, part: TopLevel, types: Iterable[str]) -> Parsed:
    """Return the syntax tree of one part of the file; `types` are the known type names.

    Raises:
        AnnotuneError: The text is not C; the place is that of the unexpected token.
    """
    start, end = tokens.starts[part.first], tokens.ends[part.last]
    words = set(tokens.texts[part.first : part.last + 1])
    known = {name for name in types if name in words}
    assumed = _likely_types(tokens, part, clean) - known
    first_error: int | None = None
    for _ in range(_MAXIMUM_RETRIES):
        lexer = partial(_Lexer, clean, start, end, sorted(known | assumed))
        parser = CParser(lexer=lexer)
        try:
            tree = parser.parse(clean.text[start:end], "")
        except ParseError as error:
            place = re.search(r":(\d+):(\d+): ", str(error))
            offset = int(place[1]) if place else _next_token(parser, end)
            first_error = offset if first_error is None else first_error
            missing = _missing_type(tokens, part, offset, known | assumed)
            if not missing:
                break
            assumed |= missing
        except RecursionError:
            place_of_part = clean.source.span(start, tokens.ends[part.first])
            raise AnnotuneError.of(TOO_DEEP.at(place_of_part)) from None
        else:
            return Parsed(tuple(tree.ext[len(known | assumed) :]), frozenset(assumed))
    # Assuming types did not help, so the first complaint is the honest one.
    assert first_error is not None
    raise AnnotuneError.of(_syntax(clean, tokens, part, first_error))


def _next_token(parser: Any, end: int) -> int:
    """Return the offset at which the parser stopped; some of its errors do not say."""
    token = parser._peek()
    return token.lineno if token is not None else end


def _syntax(clean: Clean, tokens: Tokens, part: TopLevel, offset: int) -> Any:
    index = tokens.at(offset)
    if index > part.last:
        place = clean.source.span(tokens.starts[part.last], tokens.ends[part.last])
        return UNEXPECTED_END.at(place)
    place = clean.source.span(tokens.starts[index], tokens.ends[index])
    return SYNTAX.at(place, token=tokens.texts[index])


def _likely_types(tokens: Tokens, part: TopLevel, clean: Clean) -> set[str]:
    """Return the names that can only be types: ``T x``, and ``T *x`` where one may declare."""
    texts = tokens.texts
    likely = set()
    for index in range(part.first, part.last - 1):
        name = texts[index]
        if not _IDENTIFIER.match(name) or name in _KEYWORDS or name.startswith("__"):
            continue
        if clean.macro(name, tokens.starts[index]):
            continue
        follower = texts[index + 1]
        before = texts[index - 1] if index > part.first else ";"
        if follower == "*" and before in _BEFORE_DECLARATION:
            after = index + 1
            while after < part.last and texts[after] in _POINTER_WORDS:
                after += 1
            if not _is_plain_name(texts[after]) or texts[after + 1] not in (
                ",",
                ")",
                ";",
                "=",
                "[",
            ):
                continue
            # Within parentheses, `f(a * b)` is a product; in a header it declares.
            if before in ("(", ",") and not part.first <= index < part.body:
                continue
            likely.add(name)
        elif _is_plain_name(follower) and before not in ("goto", "struct", "union", "enum"):
            likely.add(name)
    return likely


def _is_plain_name(text: str) -> bool:
    return bool(_IDENTIFIER.match(text)) and text not in _KEYWORDS and not text.startswith("__")


def _missing_type(tokens: Tokens, part: TopLevel, offset: int, known: set[str]) -> set[str]:
    """Return the name at the place of an error, or before it, that may be an unknown type."""
    index = min(tokens.at(offset), part.last)
    before = index - 1
    if before > part.first and tokens.texts[before] == ")":
        # A cast, (T) x or (T *) x; a call f(T) is none.
        opener = tokens.match[before]
        if opener < 0 or _IDENTIFIER.match(tokens.texts[opener - 1]):
            return set()
        before -= 1
    while before > part.first and tokens.texts[before] in ("*", "const"):
        before -= 1
    for candidate in (before, index):
        name = tokens.texts[max(candidate, part.first)]
        if _is_plain_name(name) and name not in known:
            return {name}
    return set()


class _Lexer(CLexer):  # type: ignore[misc]  # pycparser ships no types
    """pycparser's lexer on one part of the file.

    It gives offsets for positions, declares `types` first, spells GNU keywords as C does,
    drops attributes and expands macros that are not integer constants.
    """

    def __init__(
        self, clean: Clean, start: int, end: int, types: list[str], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.clean = clean
        self.start = start
        self.line_starts = [start]
        at = clean.text.find("\n", start, end)
        while at >= 0:
            self.line_starts.append(at + 1)
            at = clean.text.find("\n", at + 1, end)
        self.prelude = "".join(f"typedef int {name};" for name in types)
        # Tokens to give before reading on, last first, with the macros they come from.
        self.waiting: list[tuple[Any, frozenset[str]]] = []
        self.expansions = 0

    def input(self, text: str, filename: str = "") -> None:
        super().input(self.prelude, filename)
        prelude = []
        while (token := super().token()) is not None:
            token.lineno = token.column = self.start
            prelude.append((token, _NO_NAMES))
        super().input(text, filename)
        self.waiting = prelude[::-1]

    def token(self) -> Any:
        """Return the next token of C proper, None at the end."""
        while (following := self._next()) is not None:
            token, origin = following
            name = token.value
            if name in _DROPPED:
                continue
            if name in _DROPPED_WITH_ARGUMENTS:
                self._skip_arguments()
                continue
            if name in _SPELLINGS:
                token.value = _SPELLINGS[name]
                token.type = token.value.upper()
                return token
            macro = self.clean.macro(name, token.lineno) if token.type == "ID" else None
            if macro is None or macro.is_function or macro.value is not None or name in origin:
                return token
            self._expand(token, macro, origin | {name})
        return None

    def _next(self) -> tuple[Any, frozenset[str]] | None:
        if self.waiting:
            return self.waiting.pop()
        token = super().token()
        if token is None:
            return None
        offset = self.line_starts[token.lineno - 1] + token.column - 1
        token.lineno, token.column = offset, offset + len(token.value)
        return token, _NO_NAMES

    def _skip_arguments(self) -> None:
        depth = 0
        while (following := self._next()) is not None:
            word = following[0].value
            if word in ("volatile", "__volatile__") and depth == 0:
                continue
            depth += (word == "(") - (word == ")")
            if depth == 0:
                return

    def _expand(self, use: Any, macro: Macro, origin: frozenset[str]) -> None:
        """Put the macro's body before the tokens to come, all at the place of its use."""
        self.expansions += 1
        if self.expansions > _MAXIMUM_EXPANSIONS:
            self.error_func("macro expands without end", use.lineno, use.column)
        inner = CLexer(lambda message, _line, _column: self._refuse(message, use))
        inner.input(macro.body, "")
        expansion = []
        while (token := inner.token()) is not None:
            token.lineno, token.column = use.lineno, use.column
            expansion.append((token, origin))
        self.waiting += reversed(expansion)

    def _refuse(self, message: str, use: Any) -> None:
        self.error_func(message, use.lineno, use.column)

    def _error(self, msg: str, pos: int) -> None:
        # pycparser's own positions are lines and columns of the part.
        self.error_func(msg, self.start + pos, self.start + pos + 1)
