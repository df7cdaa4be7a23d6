"""A file cut into its top-level declarations, and one of them parsed, with exact offsets.

GNU C, C++ linkage and attributes are turned into what pycparser reads, token by token, and names
that can only be types are declared before it, although nothing that was read declares them.

Every coordinate of the syntax tree holds offsets into the user's file: `line` is where a
token starts and `column` where it ends. pycparser only ever copies them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NoReturn

from pycparser import c_ast
from pycparser.c_lexer import CLexer, Token
from pycparser.c_parser import Coord, CParser, ParseError

from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frontend.messages import MISSING_SEMICOLON, SYNTAX, TOO_DEEP, UNEXPECTED_END
from annotune.frontend.read.macros import Expander, Macro
from annotune.frontend.read.preprocess import Clean, Included, Range
from annotune.frontend.read.tokens import IDENTIFIER, PlacedToken, Tokens
from annotune.frozen import dataclass

# Words before a parenthesis that is no parameter list.
_NO_FUNCTION = frozenset(
    {
        *("__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm", "_Alignas"),
        *("char", "double", "float", "int", "long", "short", "signed", "unsigned", "void"),
        *("_Bool", "const"),
    }
)


@dataclass(frozen=True, slots=True)
class TopLevel:
    """One declaration or function definition: token indices `first`..`last`, both inside.

    `body` is the index of a function's opening brace, -1 for a declaration, and `function`
    its name, empty for a declaration.
    """

    first: int
    last: int
    body: int = -1
    function: str = ""


def cut(tokens: Tokens) -> tuple[TopLevel, ...]:
    """Return the top-level declarations of a file, in order; one pass over the tokens."""
    found: list[TopLevel] = []
    first = index = 0
    parameters = name = -1
    while index < len(tokens):
        text = tokens.texts[index]
        if first == index:
            parameters = name = -1
        if text == "(" and index > first and _is_name(tokens, index - 1):
            parameters, name = index, index - 1
            if index == first + 1 and _is_lone_macro(tokens, index):
                found.append(TopLevel(first, tokens.match[index]))
                first = index = tokens.match[index] + 1
                continue
        if text == "{" and parameters >= 0 and _opens_body(tokens, parameters, index):
            last = tokens.match[index] if tokens.match[index] >= 0 else len(tokens) - 1
            found.append(TopLevel(first, last, index, tokens.texts[name]))
            first = index = last + 1
        elif text == "{" and tokens.texts[index - 1 : index] == ['"C"']:
            # extern "C" { … }: go on inside; its closing brace ends an empty declaration.
            first = index = index + 1
        elif text == "}" and first == index:
            first = index = index + 1
        elif text in "([{" and tokens.match[index] > index:
            index = tokens.match[index] + 1
        elif text == ";" and not _is_old_style(tokens, parameters, index):
            found.append(TopLevel(first, index))
            first = index = index + 1
        else:
            index += 1
    if first < len(tokens):
        found.append(TopLevel(first, len(tokens) - 1))
    return tuple(found)


def enclosing(parts: Sequence[TopLevel], token: int) -> TopLevel | None:
    """Return the part that holds the token with index `token`, None between parts."""
    at = bisect_right(parts, token, key=lambda part: part.first) - 1
    return parts[at] if at >= 0 and parts[at].last >= token else None


def _is_name(tokens: Tokens, index: int) -> bool:
    text = tokens.texts[index]
    return bool(IDENTIFIER.match(text)) and text not in _NO_FUNCTION


def _opens_body(tokens: Tokens, parameters: int, brace: int) -> bool:
    closer = tokens.match[parameters]
    return 0 <= closer < brace and "=" not in tokens.texts[closer:brace]


def _is_lone_macro(tokens: Tokens, opener: int) -> bool:
    """Return whether a declaration starts after ``NAME(…)``, which no semicolon ends."""
    closer = tokens.match[opener]
    if closer < 0 or closer + 1 >= len(tokens) or not IDENTIFIER.match(tokens.texts[closer + 1]):
        return False
    if tokens.texts[closer + 1] in _NO_FUNCTION and tokens.texts[closer + 1].startswith("__"):
        return False
    # Old-style parameters stand without parentheses of their own before the body.
    semicolon = closer + 1
    while semicolon < len(tokens) - 1 and tokens.texts[semicolon] not in (";", "{", "("):
        semicolon += 1
    has_parameters = tokens.texts[semicolon] == "("
    return has_parameters or not _is_old_style(tokens, opener, semicolon)


def _is_old_style(tokens: Tokens, parameters: int, semicolon: int) -> bool:
    """Return whether a semicolon ends a parameter's declaration: ``f(a) double *a; {``."""
    closer = tokens.match[parameters] if parameters >= 0 else -1
    if closer < 0 or closer + 1 >= semicolon:
        return False
    names = set(tokens.texts[parameters + 1 : closer]) - {","}
    declared = tokens.texts[closer + 1 : semicolon]
    return bool(IDENTIFIER.match(declared[0])) and not names.isdisjoint(declared)


_TAGS = ("struct", "union", "enum")


def declared_names(
    tokens: Tokens, part: TopLevel, is_macro: Callable[[str, int], bool]
) -> frozenset[str]:
    """Return the declarators, tags and enumerators of a declaration, or a few names more.

    Where a macro stands in it, any word may be one.
    """
    words = range(part.first, part.last + 1)
    if any(is_macro(tokens.texts[i], tokens.starts[i]) for i in words):
        return frozenset(tokens.texts[i] for i in words if is_plain_name(tokens.texts[i]))
    return frozenset(_declared(tokens, part))


def _declared(tokens: Tokens, part: TopLevel) -> Iterator[str]:
    texts = tokens.texts
    index = part.first
    has_value = False
    while index <= part.last:
        text = texts[index]
        following = texts[index + 1] if index < part.last else ""
        if text in _TAGS and is_plain_name(following):
            yield following
        if text == "enum":
            yield from _enumerators(tokens, index, part.last)
        if text == "(" and following == "*" and not has_value:
            # double (*rows)[10], and the names within it.
            closer = tokens.match[index]
            yield from (t for t in texts[index : closer + 1] if is_plain_name(t))
        if text == "{" and not has_value:
            # A struct's members are none, but the tags inside are.
            yield from _tags(tokens, index)
        if text in ("(", "[", "{") and tokens.match[index] > index:
            index = tokens.match[index] + 1
            continue
        is_type = following == "*" or is_plain_name(following)
        if is_plain_name(text) and not has_value and not is_type:
            yield text
        has_value = (has_value or text == "=") and text not in (",", ";")
        index += 1


def _tags(tokens: Tokens, opener: int) -> Iterator[str]:
    closer = tokens.match[opener]
    for index in range(opener + 1, closer):
        if tokens.texts[index] in _TAGS and is_plain_name(tokens.texts[index + 1]):
            yield tokens.texts[index + 1]
        if tokens.texts[index] == "enum":
            yield from _enumerators(tokens, index, closer)


def _enumerators(tokens: Tokens, index: int, last: int) -> Iterator[str]:
    opener = index
    while opener <= last and tokens.texts[opener] not in ("{", ";", ","):
        opener += 1
    if opener > last or tokens.texts[opener] != "{":
        return
    for inner in range(opener + 1, max(opener, tokens.match[opener])):
        if is_plain_name(tokens.texts[inner]) and tokens.texts[inner - 1] in ("{", ","):
            yield tokens.texts[inner]


_KEYWORDS = frozenset(
    {
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double"),
        *("else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long"),
        *("register", "restrict", "return", "short", "signed", "sizeof", "static", "struct"),
        *("switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
        *("_Bool", "_Complex", "_Alignas", "_Alignof", "_Atomic", "_Noreturn"),
        *("_Static_assert", "_Thread_local", "_Generic", "__int128"),
    }
)
_BEGINS_DECLARATION = frozenset(
    {
        *("char", "const", "double", "enum", "extern", "float", "inline", "int", "long", "short"),
        *("signed", "static", "struct", "typedef", "union", "unsigned", "void", "volatile"),
    }
)
# After one of these a declaration may start, so `T * x` declares x.
_BEFORE_DECLARATION = frozenset({"(", ",", ";", "{", "}", "const", "static", "extern", "volatile"})
_POINTER_WORDS = frozenset({"*", "const", "restrict"})
_AFTER_DECLARATOR = frozenset({",", ")", ";", "=", "["})


_OF_STATEMENTS = frozenset(
    {
        *("break", "case", "continue", "default", "do", "else", "for", "goto", "if", "return"),
        *("switch", "while", "sizeof", "_Alignof", "_Generic"),
    }
)


def may_declare(tokens: Tokens, index: int) -> bool:
    """Return whether a statement that begins at a token may be a declaration, by its look."""
    first, second, *_ = (*tokens.texts[index : index + 2], "", "")
    if first in _KEYWORDS:
        return first not in _OF_STATEMENTS
    return bool(IDENTIFIER.match(first)) and (second == "*" or bool(IDENTIFIER.match(second)))


def is_plain_name(text: str) -> bool:
    """Return whether a token is an identifier that a program may declare."""
    return bool(IDENTIFIER.match(text)) and text not in _KEYWORDS and not text.startswith("__")


def likely_types(tokens: Tokens, body: int) -> set[str]:
    """Return the names used as types: ``T x``, and ``T *x`` where one may declare.

    `body` is the index of a function's opening brace, or one past the end.
    """
    texts = tokens.texts
    likely = set()
    for index in range(len(texts) - 1):
        name = texts[index]
        if not is_plain_name(name):
            continue
        follower = texts[index + 1]
        before = texts[index - 1] if index else ";"
        if follower == "*" and before in _BEFORE_DECLARATION:
            # Within parentheses, `f(a * b)` is a product; in a header it declares.
            if before in ("(", ",") and index >= body and not _is_loop_header(tokens, index):
                continue
            if _declares(tokens, index + 1, body):
                likely.add(name)
        elif (is_plain_name(follower) and before not in ("goto", "struct", "union", "enum")) or (
            follower == "(" and before in _BEFORE_DECLARATION and _is_row_pointer(tokens, index)
        ):
            likely.add(name)
    return likely


def _declares(tokens: Tokens, after: int, body: int) -> bool:
    """Return whether the stars from `after` on lead to a declarator."""
    texts = tokens.texts
    while after < len(texts) and texts[after] in _POINTER_WORDS:
        after += 1
    if after >= len(texts) - 1:
        return False
    # A prototype may leave the name out: f(T *, int).
    if texts[after] in (",", ")"):
        return after < body
    return is_plain_name(texts[after]) and texts[after + 1] in _AFTER_DECLARATOR


def _is_loop_header(tokens: Tokens, index: int) -> bool:
    return index >= 2 and tokens.texts[index - 1] == "(" and tokens.texts[index - 2] == "for"


def _is_row_pointer(tokens: Tokens, index: int) -> bool:
    """Return whether ``T (*x)[…`` follows."""
    texts = tokens.texts
    return (
        texts[index + 2 : index + 3] == ["*"]
        and index + 5 < len(texts)
        and is_plain_name(texts[index + 3])
        and texts[index + 4 : index + 6] == [")", "["]
    )


def missing_type(tokens: Tokens, index: int, known: set[str]) -> set[str]:
    """Return the name where the parser stopped, or before it, that may be an unknown type."""
    texts = tokens.texts
    index = min(index, len(texts) - 1)
    before = index - 1
    if before > 0 and texts[before] == ")":
        # A cast, (T) x or (T *) x; a call f(T) is none.
        opener = tokens.match[before]
        if opener < 1 or IDENTIFIER.match(texts[opener - 1]):
            return set()
        before -= 1
    while before > 0 and texts[before] in ("*", "const"):
        before -= 1
    for candidate in (before, index):
        name = texts[max(candidate, 0)]
        if is_plain_name(name) and name not in known:
            return {name}
    return set()


_SPELLINGS = {
    **{f"__{word}": word for word in ("const", "inline", "restrict", "volatile")},
    **{f"__{word}__": word for word in ("const", "inline", "restrict", "signed", "volatile")},
    **{"__complex__": "_Complex", "__alignof__": "_Alignof", "__thread": "_Thread_local"},
}
_DROPPED = frozenset({"__extension__", "__host__", "__device__", "__global__", "__forceinline__"})
_DROPPED_WITH_ARGUMENTS = frozenset(
    {"__attribute__", "__attribute", "__declspec", "_Pragma", "__pragma", "_Alignas", "alignas"}
)
_ASM = frozenset({"__asm__", "__asm", "asm"})
_REALS = frozenset({"double", "float"})
# What may stand before an asm statement; after anything else it names a declared symbol.
_BEFORE_STATEMENT = frozenset({";", "{", "}", ":", ")", "else", "do"})


class _Dialect:
    """The tokens of one declaration, or of a function, as ISO C spells them, at their places."""

    def __init__(self, tokens: Tokens, is_function: bool) -> None:
        self.tokens = tokens
        self.is_function = is_function
        self.kept: list[PlacedToken] = []

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
        return Tokens(self.kept)

    def _keep(self, index: int, text: str) -> None:
        self.kept.append((text, *self.tokens.rows[index][1:]))

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


@dataclass(frozen=True)
class Parsed:
    """The syntax trees of one top-level part, and its tokens, macros expanded."""

    nodes: tuple[c_ast.Node, ...]
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
    whole = Tokens([row for piece in pieces for row in piece.rows])
    return _Dialect(whole, is_function).run()


def _header_tokens(header: Included) -> Tokens:
    own = Tokens.of(header.clean.text)
    found = expanded(header.clean, own, 0, len(own) - 1)
    return at_place(found, header.start, header.end)


def at_place(tokens: Tokens, start: int, end: int) -> Tokens:
    """Return tokens that all stand at one place."""
    return Tokens([(text, start, end, start, end) for text in tokens.texts])


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
        return Parsed((), words)
    mentioned = set(words.texts)
    known = {name for name in types if name in mentioned}
    assumed = likely_types(words, _body(words)) - known
    first_error: int | None = None
    for _ in range(_MAXIMUM_RETRIES):
        parser = _CParser(lexer=partial(_Lexer, words, sorted(known | assumed)))
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
            return Parsed(tuple(tree.ext[len(known | assumed) :]), words)
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


def _syntax(clean: Clean, words: Tokens, index: int) -> Diagnostic:
    if index >= len(words):
        return UNEXPECTED_END.at(clean.source.span(words.starts[-1], words.ends[-1]))
    before = _unended(words, index, clean)
    if before >= 0:
        place = clean.source.span(words.starts[before], words.ends[before])
        return MISSING_SEMICOLON.at(place, token=words.texts[before])
    place = clean.source.span(words.starts[index], words.ends[index])
    return SYNTAX.at(place, token=words.texts[index])


def _unended(words: Tokens, index: int, clean: Clean) -> int:
    """Return behind which token a ';' is missing, as an error at `index` lets guess; -1 is none.

    One that is missing before a function is noticed at its brace, or in the declaration itself.
    """
    body = _body(words)
    if index > body:
        return index - 1 if _ends_statement(words, index, clean, ("{", "}")) else -1
    place = 1
    while place < body:
        begins = words.texts[place] in _BEGINS_DECLARATION
        if (
            begins
            and words.texts[place - 1] not in _KEYWORDS
            and _ends_statement(words, place, clean)
        ):
            return place - 1
        place = max(place, words.match[place]) + 1
    return index - 1 if index < body and _ends_statement(words, index, clean, ("}",)) else -1


def _ends_statement(words: Tokens, index: int, clean: Clean, braces: tuple[str, ...] = ()) -> bool:
    """Return whether a statement ends before a token that begins new on a later line.

    What begins is a word, or one of `braces`. What ends is no head of a loop, behind which braces
    stand.
    """
    if not index:
        return False
    last, begun = words.texts[index - 1], words.texts[index]
    is_end = last in ("]", "++", "--") or last.isidentifier() or last[0].isdigit()
    is_end |= last == "}" and begun in _BEGINS_DECLARATION
    if last == ")":
        opened = words.match[index - 1]
        is_end = opened > 0 and words.texts[opened - 1] not in ("for", "while", "if", "switch")
    lines = [clean.source.span(words.starts[k], words.ends[k]).line for k in (index - 1, index)]
    return is_end and (begun in braces or begun.isidentifier()) and lines[0] < lines[1]


class _TokenOffset(int):
    """An offset that knows the index of its token."""

    index: int


class _CParser(CParser):
    """pycparser's parser, which remembers at which token it gave up."""

    failed_at = 0

    def _parse_error(self, msg: str, coord: Coord | str | None) -> NoReturn:
        line = coord.line if isinstance(coord, Coord) else None
        if not isinstance(line, _TokenOffset):
            # Some of its errors do not say where; the next token is the place.
            token = self._peek()
            line = token.lineno if token is not None else None
        self.failed_at = line.index if isinstance(line, _TokenOffset) else self.clex.count
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
    return token.type


class _Lexer:
    """Gives expanded tokens to pycparser, with offsets for positions, `types` declared first."""

    filename = ""

    def __init__(
        self,
        words: Tokens,
        types: list[str],
        error_func: Callable[[str, int, int], None],
        **_: object,
    ) -> None:
        self.words = words
        self.types = types
        self.error_func = error_func
        self.at = -4 * len(types)
        self.count = len(words)

    def input(self, text: str, filename: str = "") -> None:
        """Start again; the text is that of the tokens."""
        self.at = -4 * len(self.types)

    def token(self) -> Token | None:
        """Return the next token, None at the end."""
        at, words = self.at, self.words
        if at >= self.count:
            return None
        self.at += 1
        if at < 0:
            # typedef int T;
            text = ("typedef", "int", self.types[at // 4], ";")[at % 4]
            return Token(_kind(text), text, words.starts[0], words.starts[0], "")
        text = words.texts[at]
        start = _TokenOffset(words.starts[at])
        start.index = at
        kind = _kind(text)
        if not kind:
            self.error_func(f"'{text}' is no token of C", start, words.ends[at])
        return Token(kind, text, start, words.ends[at], "")
