"""GNU C, C++ linkage and attributes turned into what pycparser reads, token by token.

One top-level declaration parsed by pycparser, with exact offsets.

Every coordinate of the syntax tree holds offsets into the user's file: `line` is where a
token starts and `column` where it ends. pycparser only ever copies them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from annotune.diagnostics import AnnotuneError
from annotune.frontend.messages import SYNTAX, TOO_DEEP, UNEXPECTED_END
from annotune.frontend.read.macros import Expander, Macro
from annotune.frontend.read.preprocess import Clean, Included
from annotune.frontend.read.syntax import CLexer, CParser, ParseError
from annotune.frontend.read.tokens import IDENTIFIER, Tokens
from annotune.frontend.read.toplevel import TopLevel, likely_types, missing_type

_SPELLINGS = {
    "__restrict__": "restrict",
    "__restrict": "restrict",
    "__const": "const",
    "__const__": "const",
    "__inline__": "inline",
    "__inline": "inline",
    "__forceinline": "inline",
    "__volatile__": "volatile",
    "__volatile": "volatile",
    "__signed__": "signed",
    "__complex__": "_Complex",
    "__alignof__": "_Alignof",
    "__thread": "_Thread_local",
}
_DROPPED = frozenset({"__extension__", "__host__", "__device__", "__global__", "__forceinline__"})
_DROPPED_WITH_ARGUMENTS = frozenset(
    {"__attribute__", "__attribute", "__declspec", "_Pragma", "__pragma", "_Alignas", "alignas"}
)
_ASM = frozenset({"__asm__", "__asm", "asm"})
_REALS = frozenset({"double", "float"})
# What may stand before an asm statement; after anything else it names a declared symbol.
_BEFORE_STATEMENT = frozenset({";", "{", "}", ":", ")", "else", "do"})


def standard_c(tokens: Tokens, is_function: bool) -> Tokens:
    """Return the tokens of one declaration, or of a function, as ISO C spells them."""
    return _Dialect(tokens, is_function).run()


class _Dialect:
    """One pass over the tokens; what it keeps, it keeps at its place."""

    def __init__(self, tokens: Tokens, is_function: bool) -> None:
        self.tokens = tokens
        self.is_function = is_function
        self.kept: list[int] = []
        self.spelled: dict[int, str] = {}

    def run(self) -> Tokens:
        texts = self.tokens.texts
        index = self._linkage()
        while index < len(texts):
            text = texts[index]
            if text in _DROPPED:
                pass
            elif text in _DROPPED_WITH_ARGUMENTS:
                index = self._after_arguments(index)
                continue
            elif text in _ASM:
                index = self._asm(index)
                continue
            elif text == "complex" and not _REALS.isdisjoint(texts[max(0, index - 1) : index + 2]):
                # <complex.h> says so; a type of that name never stands beside another.
                self._keep(index, "_Complex")
            else:
                self._keep(index, _SPELLINGS.get(text, text))
            index += 1
        given = self.tokens
        return Tokens(
            [self.spelled.get(number, "") for number in range(len(self.kept))],
            [given.starts[i] for i in self.kept],
            [given.ends[i] for i in self.kept],
            [given.roots[i] for i in self.kept],
            [given.limits[i] for i in self.kept],
        )

    def _keep(self, index: int, text: str) -> None:
        self.spelled[len(self.kept)] = text
        self.kept.append(index)

    def _linkage(self) -> int:
        """Return where C goes on after ``extern "C" {``, or after the brace that closes one."""
        texts = self.tokens.texts
        index = 0
        while index < len(texts):
            if texts[index : index + 2] == ["extern", '"C"']:
                index += 2
                if texts[index : index + 1] == ["{"] and self.tokens.match[index] < 0:
                    index += 1
            elif texts[index] == "}" and self.tokens.match[index] < 0:
                index += 1
            else:
                break
        return index

    def _after_arguments(self, index: int) -> int:
        opener = index + 1
        while opener < len(self.tokens) and self.tokens.texts[opener] in (
            *("volatile", "__volatile__", "goto", "inline"),
        ):
            opener += 1
        if opener < len(self.tokens) and self.tokens.texts[opener] == "(":
            closer = self.tokens.match[opener]
            return closer + 1 if closer >= 0 else len(self.tokens)
        return opener

    def _asm(self, index: int) -> int:
        """Keep an asm statement as a call with what it reads and where it writes."""
        texts = self.tokens.texts
        after = self._after_arguments(index)
        is_statement = index > 0 and texts[index - 1] in _BEFORE_STATEMENT
        if not self.is_function or not is_statement or after >= len(texts):
            return after
        if "(" not in texts[index:after]:
            return after
        self._keep(index, "asm")
        self._keep(index, "(")
        opener = next(i for i in range(index, after) if texts[i] == "(")
        section = number = 0
        for at in range(opener + 1, after - 1):
            section += texts[at] == ":" and self._is_inside(at, opener)
            if not IDENTIFIER.match(texts[at]):
                continue
            if number:
                self._keep(at, ",")
            # The operands after the first colon are written, those after the second read.
            if section == 1:
                self._keep(at, "&")
            self._keep(at, texts[at])
            number += 1
        self._keep(after - 1, ")")
        return after

    def _is_inside(self, index: int, opener: int) -> bool:
        """Return whether no other parenthesis is open at `index`."""
        before = self.tokens.texts[opener + 1 : index]
        return before.count("(") == before.count(")")


_MAXIMUM_RETRIES = 12
NO_NAMES: frozenset[str] = frozenset()
Range = tuple[int, int]


@dataclass(frozen=True)
class Parsed:
    """The syntax trees of one top-level part, and the type names nothing declares.

    `tokens` are those that were parsed, macros expanded.
    """

    nodes: tuple[Any, ...]
    assumed_types: frozenset[str]
    tokens: Tokens


def expanded(
    clean: Clean,
    tokens: Tokens,
    first: int,
    last: int,
    is_function: bool = False,
    erased: frozenset[str] = NO_NAMES,
) -> Tokens:
    """Return the tokens `first` to `last` of a file as C without macros and extensions.

    Integer constants keep their names, but for the `erased`, which are gone when the text that
    defines them is replaced. Headers included in between take part.
    """

    def lookup(name: str, offset: int) -> Macro | None:
        if name not in clean.macros:
            return None
        macro = clean.macro(name, offset)
        if macro is None or macro.value is None:
            return macro
        return macro if name in erased or not clean.keeps_to_end(name, macro) else None

    expander = Expander(clean.source, lookup)
    pieces, index = [], first
    for header in clean.included:
        at = tokens.at(header.start)
        if first < at <= last:
            pieces.append(expander.expand(tokens, index, at - 1))
            pieces.append(_header_tokens(header))
            index = at
    pieces.append(expander.expand(tokens, index, last))
    return standard_c(_joined(pieces) if len(pieces) > 1 else pieces[0], is_function)


def _header_tokens(header: Included) -> Tokens:
    """Return all the tokens of a header, at the place of its ``#include``."""
    own = Tokens.of(header.clean.text)
    found = expanded(header.clean, own, 0, len(own) - 1)
    return at_place(found, header.start, header.end)


def at_place(tokens: Tokens, start: int, end: int) -> Tokens:
    """Return tokens that all stand at one place."""
    count = len(tokens)
    return Tokens(tokens.texts, [start] * count, [end] * count)


def _joined(pieces: Sequence[Tokens]) -> Tokens:
    return Tokens(
        [t for piece in pieces for t in piece.texts],
        [s for piece in pieces for s in piece.starts],
        [e for piece in pieces for e in piece.ends],
        [r for piece in pieces for r in piece.roots],
        [e for piece in pieces for e in piece.limits],
    )


def parse(
    clean: Clean,
    tokens: Tokens,
    part: TopLevel,
    types: Iterable[str],
    place: Range | None = None,
    erased: frozenset[str] = NO_NAMES,
) -> Parsed:
    """Return the syntax tree of one part of the file; `types` are the known type names.

    All of a header's declarations stand at `place`, that of its ``#include``. `erased` is as in
    `expanded`.

    Raises:
        AnnotuneError: The text is not C; the place is that of the unexpected token.
    """
    words = expanded(clean, tokens, part.first, part.last, part.body >= 0, erased)
    if place is not None:
        words = at_place(words, *place)
    return parse_tokens(clean, words, types)


def parse_tokens(clean: Clean, words: Tokens, types: Iterable[str]) -> Parsed:
    """Return the syntax tree of expanded tokens, which hold one declaration or more."""
    if not len(words):
        return Parsed((), frozenset(), words)
    mentioned = set(words.texts)
    known = {name for name in types if name in mentioned}
    assumed = likely_types(words, _body(words)) - known
    first_error: int | None = None
    for _ in range(_MAXIMUM_RETRIES):
        parser = _Parser(lexer=partial(_Lexer, words, sorted(known | assumed)))
        try:
            tree = parser.parse("", "")
        except ParseError:
            index = parser.failed_at
            first_error = index if first_error is None else first_error
            missing = missing_type(words, index, known | assumed)
            if not missing:
                break
            assumed |= missing
        except RecursionError:
            place_of_part = clean.source.span(words.starts[0], words.ends[0])
            raise AnnotuneError.of(TOO_DEEP.at(place_of_part)) from None
        else:
            nodes = tuple(tree.ext[len(known | assumed) :])
            return Parsed(nodes, frozenset(assumed), words)
    # Assuming types did not help, so the first complaint is the honest one.
    assert first_error is not None
    raise AnnotuneError.of(_syntax(clean, words, first_error))


def _body(words: Tokens) -> int:
    """Return the index of a function's opening brace, or the number of tokens."""
    index = 0
    while index < len(words):
        if words.texts[index] == "{" and index and words.texts[index - 1] in (")", ";"):
            return index
        index = max(index, words.match[index]) + 1
    return index


def _syntax(clean: Clean, words: Tokens, index: int) -> Any:
    if index >= len(words):
        return UNEXPECTED_END.at(clean.source.span(words.starts[-1], words.ends[-1]))
    place = clean.source.span(words.starts[index], words.ends[index])
    return SYNTAX.at(place, token=words.texts[index])


class _Place(int):
    """An offset that knows the index of its token."""

    index: int


class _Parser(CParser):  # type: ignore[misc]  # pycparser ships no types
    """pycparser's parser, which remembers at which token it gave up."""

    failed_at = 0

    def _parse_error(self, msg: str, coord: Any) -> None:
        line = getattr(coord, "line", None)
        if not isinstance(line, _Place):
            # Some of its errors do not say where; the next token is the place.
            token = self._peek()
            line = token.lineno if token is not None else None
        self.failed_at = line.index if isinstance(line, _Place) else self.clex.count
        super()._parse_error(msg, coord)


@lru_cache(maxsize=65536)
def _kind(text: str) -> str:
    """Return what pycparser calls a token, empty when it is none of C."""
    problems: list[str] = []
    lexer = CLexer(lambda message, _line, _column: problems.append(message))
    lexer.input(text)
    token = lexer.token()
    if problems or token is None or token.value != text:
        return ""
    return str(token.type)


class _Lexer:
    """Gives expanded tokens to pycparser, with offsets for positions, `types` declared first."""

    filename = ""

    def __init__(self, words: Tokens, types: list[str], error_func: Any, **_: Any) -> None:
        self.words = words
        self.types = types
        self.error_func = error_func
        self.at = -4 * len(types)
        self.count = len(words)

    def input(self, text: str, filename: str = "") -> None:
        """Start again; the text is that of the tokens."""
        self.at = -4 * len(self.types)

    def token(self) -> Any:
        """Return the next token, None at the end."""
        at, words = self.at, self.words
        if at >= self.count:
            return None
        self.at += 1
        if at < 0:
            # typedef int T;
            text = ("typedef", "int", self.types[at // 4], ";")[at % 4]
            return _Token(_kind(text), text, words.starts[0], words.starts[0])
        text = words.texts[at]
        start = _Place(words.starts[at])
        start.index = at
        kind = _kind(text)
        if not kind:
            self.error_func(f"'{text}' is no token of C", start, words.ends[at])
        return _Token(kind, text, start, words.ends[at])


@dataclass(slots=True)
class _Token:
    """What pycparser reads of a token."""

    type: str
    value: str
    lineno: int
    column: int
    filename: str = ""
