"""Macros as ``#define`` gives them, their values, and those that ISO C's headers define.

Macros expanded where they are used, every token with a place in the user's text.

A token of a macro's body stands at the name of the outermost macro used; a token of an
argument stays where the user wrote it. Integer constants keep their names.

Source:
    Prosser, "Complete Macro Expansion Algorithm", X3J11/86-196, 1986: tokens carry the names
    of the macros that may not expand them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError
from annotune.frontend.messages import MACRO_ARGUMENTS, MACRO_EXPLODES
from annotune.frontend.read.syntax import value_of_tree
from annotune.frontend.read.tokens import (
    IDENTIFIER,
    TOKEN,
    PlacedToken,
    SourceText,
    Tokens,
    integer,
)
from annotune.frozen import dataclass
from annotune.ir.ctype import INT, CType

_DEFINE = re.compile(r"\s*(?P<name>[A-Za-z_$]\w*)(?P<parameters>\([^)]*\))?(?P<body>.*)", re.DOTALL)

_SIGNS = ("-", "+", "~", "!")


@dataclass(frozen=True, slots=True)
class Macro:
    """A ``#define``: its body, and its value when the body is an integer constant.

    `parameters` is None for a macro that takes no arguments. The last parameter of a variadic
    macro takes all the arguments that are left. A stale macro's value has to be found again,
    since a macro in its body means something else by now.
    """

    name: str
    body: str
    parameters: tuple[str, ...] | None = None
    is_variadic: bool = False
    value: int | None = None
    is_stale: bool = False

    @property
    def is_function(self) -> bool:
        return self.parameters is not None

    @property
    def names(self) -> frozenset[str]:
        """Return the identifiers of its body."""
        return frozenset(word for word, _ in body_words(self.body) if IDENTIFIER.match(word))

    @property
    def use(self) -> str:
        """Return the macro with its parameters, as ``#define`` has it."""
        if self.parameters is None:
            return self.name
        *fixed, last = self.parameters or ("",)
        rest = "..." if last == "__VA_ARGS__" else f"{last}..."
        return f"{self.name}({', '.join([*fixed, rest if self.is_variadic else last])})"


def is_one_operand(body: str) -> bool:
    """Return whether a macro's body means the same in any expression as its value of type int.

    ``1 + 2`` without parentheses falls apart in ``2 * N``; ``10u`` and ``10L`` make the
    expression around them unsigned or long.
    """
    words = [text for text, _ in body_words(body)]
    if any(_is_no_int(word) for word in words):
        return False
    while words and words[0] in _SIGNS:
        words = words[1:]
    if len(words) <= 1:
        return True
    depth = 0
    for place, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return place == len(words) - 1
    return False


def _is_no_int(word: str) -> bool:
    if not word[:1].isdigit():
        return False
    is_decimal = word[0] != "0" or len(word) == 1
    value = integer(word)
    return word[-1] in "uUlL" or (not is_decimal and value is not None and value >= 2**31)


def read_define(text: str) -> Macro | None:
    """Return what stands after ``#define``, None when it is none."""
    found = _DEFINE.match(text)
    if found is None:
        return None
    name, body = found["name"], found["body"].strip()
    if found["parameters"] is None:
        return Macro(name, body)
    parameters = [p.strip() for p in found["parameters"][1:-1].split(",")]
    if parameters == [""]:
        return Macro(name, body, ())
    last = parameters[-1]
    if not last.endswith("..."):
        return Macro(name, body, tuple(parameters))
    # GNU C gives the rest a name of its own: `args...`.
    parameters[-1] = last.removesuffix("...").strip() or "__VA_ARGS__"
    return Macro(name, body, tuple(parameters), is_variadic=True)


def reached(names: Iterable[str], leads_to: Callable[[str], AbstractSet[str]]) -> frozenset[str]:
    """Return `names` with all that they lead to, and what those lead to."""
    found = set(names)
    waiting = list(found)
    while waiting:
        more = leads_to(waiting.pop()) - found
        found |= more
        waiting += more
    return frozenset(found)


@lru_cache(maxsize=4096)
def body_words(body: str) -> tuple[tuple[str, bool], ...]:
    """Return the tokens of a macro's body, each with whether white space stands before it."""
    words, last = [], -1
    for found in TOKEN.finditer(body):
        words.append((found[0], found.start() > last >= 0))
        last = found.end()
    return tuple(words)


_INTEGER_TOKEN = re.compile(
    r"\s*(?P<text>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*(?![\w.])|[A-Za-z_]\w*"
    r"|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^()?:])"
)
_PRECEDENCE: Mapping[str, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7,
    ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


def evaluate(text: str, value_of: Callable[[str], int | None], least: CType = INT) -> int | None:
    """Return the value of the integer expression `text`, or None when it is none.

    `value_of` gives the value of a name, None when it has none; `least` is as `value_of_tree` has
    it.
    """
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        found = _INTEGER_TOKEN.match(text, at)
        if not found:
            return None
        tokens.append(found["text"])
        at = found.end()
    try:
        reader = _IntegerReader(tokens)
        tree = reader.conditional()
    except (_NotConstant, RecursionError):
        return None
    if reader.at != len(tokens):
        return None
    return value_of_tree(
        tree, lambda part: value_of(part.name) if isinstance(part, c_ast.ID) else None, least
    )


class _NotConstant(Exception):
    """The text is not an integer constant expression."""


class _IntegerReader:
    """Precedence climbing over the tokens of one expression, which makes a tree of them."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise _NotConstant

    def conditional(self) -> c_ast.Node:
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.next()
        if_true = self.conditional()
        self.expect(":")
        return c_ast.TernaryOp(condition, if_true, self.conditional())

    def binary(self, lowest: int) -> c_ast.Node:
        left = self.unary()
        while (own := _PRECEDENCE.get(self.peek(), 0)) >= lowest:
            op = self.next()
            left = c_ast.BinaryOp(op, left, self.binary(own + 1))
        return left

    def unary(self) -> c_ast.Node:
        token = self.next()
        if token in ("-", "+", "!", "~"):
            return c_ast.UnaryOp(token, self.unary())
        if token == "(":
            inner = self.conditional()
            self.expect(")")
            return inner
        if token[:1].isdigit():
            return c_ast.Constant("int", token)
        if token[:1].isidentifier():
            return c_ast.ID(token)
        raise _NotConstant


_LIMITS = {
    "CHAR_BIT": "8",
    "SCHAR_MAX": "127",
    "SHRT_MAX": "32767",
    "SHRT_MIN": "(-32768)",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647 - 1)",
    "UINT_MAX": "4294967295U",
    "LONG_MAX": "9223372036854775807L",
    "LONG_MIN": "(-9223372036854775807L - 1)",
}
_INTEGERS = {
    "INT32_MAX": "2147483647",
    "INT64_MAX": "9223372036854775807L",
    "UINT32_MAX": "4294967295U",
    "SIZE_MAX": "18446744073709551615UL",
}
_FLOAT = {
    "FLT_EPSILON": "1.19209290e-7f",
    "DBL_EPSILON": "2.2204460492503131e-16",
    "FLT_MAX": "3.40282347e+38f",
    "DBL_MAX": "1.7976931348623157e+308",
    "FLT_MIN": "1.17549435e-38f",
    "DBL_MIN": "2.2250738585072014e-308",
}
_MATH = {
    "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
}
STANDARD_MACROS: Mapping[str, Mapping[str, str]] = {
    "limits.h": _LIMITS,
    "stdint.h": _INTEGERS,
    "inttypes.h": _INTEGERS,
    "float.h": _FLOAT,
    "math.h": _MATH,
    "tgmath.h": _MATH,
    "complex.h": {"complex": "_Complex"},
    "stdbool.h": {"bool": "_Bool", "true": "1", "false": "0"},
    "stdlib.h": {"RAND_MAX": "2147483647", "EXIT_SUCCESS": "0", "EXIT_FAILURE": "1"},
}


# Real code stays far below both; `#define a1 a0*a0`, thirty times over, does not.
_MAXIMUM_USES = 20_000
_MAXIMUM_WORDS = 500_000
_NO_NAMES: frozenset[str] = frozenset()

Lookup = Callable[[str, int], Macro | None]


class ExpandedToken(NamedTuple):
    """A token with its place, and the macros that have made it already."""

    text: str
    start: int
    end: int
    hidden: frozenset[str] = _NO_NAMES
    is_spaced: bool = True


class Expander:
    """Expands the macros that `lookup` finds for a name at an offset.

    `lookup` gives None for a name that is to stay, such as an integer constant.
    """

    def __init__(self, source: SourceText, lookup: Lookup) -> None:
        self.source = source
        self.lookup = lookup
        self.uses = 0
        self.words = 0

    def expand(self, tokens: Tokens, first: int, last: int) -> Tokens:
        """Return the tokens `first` to `last`, both included, with every macro expanded."""
        rows: list[PlacedToken] = []
        index = first
        while index <= last:
            text, start, end = tokens.texts[index], tokens.starts[index], tokens.ends[index]
            if self.lookup(text, start) is None:
                rows.append((text, start, end, start, end))
                index += 1
                continue
            reader = _TokenStream(tokens, index, last)
            words = list(self._expanded(reader))
            index = reader.index
            rows += [(w.text, w.start, w.end, start, tokens.ends[index - 1]) for w in words]
        return Tokens(rows)

    def _expanded(self, reader: _TokenStream) -> Iterator[ExpandedToken]:
        """Yield what the next token becomes, and whatever its expansion draws in."""
        is_first = True
        while is_first or reader.waiting:
            is_first = False
            word = reader.next()
            macro = None
            if word.text not in word.hidden:
                macro = self.lookup(word.text, word.start)
            if macro is None:
                yield word
            elif macro.parameters is None:
                hidden = word.hidden | {macro.name}
                reader.push(self._replaced(macro, word, {}, hidden))
            else:
                closed = reader.arguments()
                if closed is None:
                    yield word
                    continue
                arguments, closer = closed
                bound = self._bound(macro, word, arguments)
                hidden = (word.hidden & closer.hidden) | {macro.name}
                reader.push(self._replaced(macro, word, bound, hidden))

    def _bound(
        self, macro: Macro, use: ExpandedToken, arguments: list[list[ExpandedToken]]
    ) -> dict[str, list[ExpandedToken]]:
        assert macro.parameters is not None
        names = macro.parameters
        if not names and arguments == [[]]:
            arguments = []
        if macro.is_variadic:
            fixed = len(names) - 1
            rest: list[ExpandedToken] = []
            for number, argument in enumerate(arguments[fixed:]):
                if number:
                    rest.append(ExpandedToken(",", use.start, use.end))
                rest += argument
            if len(arguments) >= fixed:
                arguments = [*arguments[:fixed], rest]
        if len(arguments) != len(names):
            raise AnnotuneError.of(
                MACRO_ARGUMENTS.at(
                    self.source.span(use.start, use.end),
                    name=macro.name,
                    expected=len(names),
                    given=len(arguments),
                )
            )
        return dict(zip(names, arguments, strict=True))

    def _replaced(
        self,
        macro: Macro,
        use: ExpandedToken,
        bound: dict[str, list[ExpandedToken]],
        hidden: frozenset[str],
    ) -> list[ExpandedToken]:
        """Return the body of a macro with its arguments in place."""
        out: list[ExpandedToken] = []
        body = body_words(macro.body)
        index = 0
        while index < len(body):
            text, is_spaced = body[index]
            following = body[index + 1][0] if index + 1 < len(body) else ""
            here = ExpandedToken(text, use.start, use.end, hidden, is_spaced)
            if text == "#" and following in bound:
                out.append(here._replace(text=_quoted(bound[following])))
                index += 2
            elif text == "##" and out and following:
                self._paste(out, here, following, bound, macro)
                index += 2
            else:
                if text not in bound:
                    out.append(here)
                elif following == "##":
                    # An empty word keeps the place of an empty argument until it is pasted.
                    out += bound[text] or [here._replace(text="")]
                else:
                    out += _spaced(self._argument(bound[text]), is_spaced)
                index += 1
        words = [w._replace(hidden=w.hidden | hidden) for w in out if w.text]
        words = _spaced(words, use.is_spaced)
        self._count(macro, use, len(words))
        return words

    def _argument(self, words: Sequence[ExpandedToken]) -> list[ExpandedToken]:
        """Return an argument with its own macros expanded, as it stands alone."""
        if not any(self.lookup(w.text, w.start) for w in words):
            return list(words)
        return list(self._expanded(_TokenStream(_NO_TOKENS, 0, -1, words)))

    def _paste(
        self,
        out: list[ExpandedToken],
        here: ExpandedToken,
        following: str,
        bound: dict[str, list[ExpandedToken]],
        macro: Macro,
    ) -> None:
        """Join the last word of `out` with the first of what follows ``##``."""
        right = bound[following] if following in bound else [here._replace(text=following)]
        left = out[-1]
        is_rest = macro.is_variadic and macro.parameters and following == macro.parameters[-1]
        if is_rest and left.text == ",":
            # GNU C: `, ## args` drops the comma when there are no arguments left.
            if right:
                out += self._argument(right)
            else:
                out.pop()
            return
        if not right or (len(right) == 1 and not right[0].text):
            return
        out.pop()
        joined = left.text + right[0].text
        out += [here._replace(text=text, is_spaced=left.is_spaced) for text in _split(joined)]
        out += right[1:]

    def _count(self, macro: Macro, use: ExpandedToken, words: int) -> None:
        self.uses += 1
        self.words += words
        if self.uses > _MAXIMUM_USES or self.words > _MAXIMUM_WORDS:
            span = self.source.span(use.start, use.end)
            raise AnnotuneError.of(MACRO_EXPLODES.at(span, name=macro.name))


class _TokenStream:
    """The words to come: those of expansions first, then the tokens of the text.

    `index` is the first token not read yet, `last` the last that may be.
    """

    def __init__(
        self, tokens: Tokens, index: int, last: int, words: Sequence[ExpandedToken] = ()
    ) -> None:
        self.tokens = tokens
        self.index = index
        self.last = last
        # Last first.
        self.waiting: list[ExpandedToken] = list(words[::-1])

    def push(self, words: Sequence[ExpandedToken]) -> None:
        self.waiting += reversed(words)

    def peek(self) -> ExpandedToken | None:
        if self.waiting:
            return self.waiting[-1]
        if self.index > self.last:
            return None
        return self._token()

    def next(self) -> ExpandedToken:
        if self.waiting:
            return self.waiting.pop()
        word = self._token()
        self.index += 1
        return word

    def _token(self) -> ExpandedToken:
        tokens, at = self.tokens, self.index
        start = tokens.starts[at]
        is_spaced = at == 0 or start > tokens.ends[at - 1]
        return ExpandedToken(tokens.texts[at], start, tokens.ends[at], _NO_NAMES, is_spaced)

    def arguments(self) -> tuple[list[list[ExpandedToken]], ExpandedToken] | None:
        """Return the arguments in the parentheses to come, with the closing one.

        None when there are none, or they are never closed; then nothing is read.
        """
        opener = self.peek()
        if opener is None or opener.text != "(":
            return None
        read = [self.next()]
        arguments: list[list[ExpandedToken]] = [[]]
        depth = 1
        while self.peek() is not None:
            word = self.next()
            read.append(word)
            depth += (word.text == "(") - (word.text == ")")
            if depth == 0:
                return arguments, word
            if word.text == "," and depth == 1:
                arguments.append([])
            else:
                arguments[-1].append(word)
        self.push(read)
        return None


_NO_TOKENS = Tokens(())


def _spaced(words: list[ExpandedToken], is_spaced: bool) -> list[ExpandedToken]:
    """Return words of which the first has the space of the name that they replace."""
    return [words[0]._replace(is_spaced=is_spaced), *words[1:]] if words else words


def _quoted(words: Sequence[ExpandedToken]) -> str:
    parts = []
    for number, word in enumerate(words):
        text = word.text
        if text[:1] in "\"'L" and text[-1:] in "\"'":
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f" {text}" if number and word.is_spaced else text)
    return '"' + "".join(parts) + '"'


def _split(text: str) -> list[str]:
    """Return the tokens of two joined ones: one, unless the user pastes what does not fit."""
    return TOKEN.findall(text)
