"""Where a statement of C ends and which names it uses, read off its tokens alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# A preprocessor's line counts as a blank: what it says of its statement is read elsewhere.
_TOKEN = re.compile(
    r"""
    (?P<blank>^[ \t]*\#(?:\\\r?\n|[^\n])* | //(?:\\\r?\n|[^\n])* | /\*.*?\*/ | \n | [^\S\n]+)
  | (?P<name>[A-Za-z_]\w*)
  | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | \.?\d(?:[eEpP][+-]|[\w.])*
  | -> | \+\+ | -- | <<= | >>= | [-+*/%&|^=!<>]= | && | \|\| | << | >> | .
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CONTROL = frozenset(
    {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break"}
    | {"continue"}
)
_TYPES = frozenset(
    {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool"}
    | {"_Complex", "const", "volatile", "restrict", "register", "static", "extern", "struct"}
    | {"union", "enum", "_Atomic", "_Alignas", "typedef", "inline"}
)
_KEYWORDS = _CONTROL | _TYPES | {"sizeof", "_Alignof", "_Generic", "__typeof__", "__extension__"}
_ASSIGNS = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
)
_STEPS = ("++", "--")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of C that starts at character `start` of its text."""

    text: str
    start: int
    is_name: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def c_tokens(text: str) -> list[Token]:
    """Return the tokens of a C text without blanks, comments and the preprocessor's lines."""
    return [
        Token(match.group(), match.start(), match["name"] is not None)
        for match in _TOKEN.finditer(text)
        if match["blank"] is None
    ]


def after_statement(tokens: Sequence[Token], at: int) -> int:
    """Return the number of the token behind the statement that begins with token `at`.

    Raises:
        ValueError: The text ends inside the statement.
    """
    if at >= len(tokens):
        raise ValueError("there is no statement")
    word = tokens[at].text
    if word == "{":
        return _after_brackets(tokens, at)
    if word == "do":
        return _after_simple(tokens, after_statement(tokens, at + 1))
    if word not in ("for", "while", "if", "switch"):
        return _after_simple(tokens, at)
    at = after_statement(tokens, _after_brackets(tokens, at + 1))
    if word == "if" and at < len(tokens) and tokens[at].text == "else":
        return after_statement(tokens, at + 1)
    return at


def _after_simple(tokens: Sequence[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].text != ";":
        at = _after_brackets(tokens, at) if tokens[at].text in _CLOSING else at + 1
    if at >= len(tokens):
        raise ValueError("a statement does not end")
    return at + 1


def _after_brackets(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for number in range(at, len(tokens)):
        text = tokens[number].text
        depth += (text in _CLOSING) - (text in _CLOSING.values())
        if depth == 0:
            return number + 1
    raise ValueError("a bracket is never closed")


def names_from_outside(tokens: Sequence[Token]) -> dict[str, bool]:
    """Return the names that tokens use and do not declare, and whether each is assigned.

    Functions that are called, members and tags are not among them; types, macros and constants
    that are written like variables are.
    """
    own = declared(tokens)
    found: dict[str, bool] = {}
    for number, token in enumerate(tokens):
        if not token.is_name or token.text in _KEYWORDS or token.text in own:
            continue
        before = tokens[number - 1].text if number else ""
        after = tokens[number + 1].text if number + 1 < len(tokens) else ""
        if before in (".", "->", "struct", "union", "enum", "goto") or after == "(":
            continue
        is_assigned = after in _ASSIGNS or before in _STEPS
        found[token.text] = found.get(token.text, False) or is_assigned
    return found


def declared(tokens: Sequence[Token]) -> set[str]:
    """Return the variables that statements declare, by the places where declarations stand."""
    found: set[str] = set()
    before: tuple[str, str] = ("", "{")
    for number, token in enumerate(tokens):
        starts = before[1] in ("{", "}", ";") or before == ("for", "(")
        if starts and token.is_name and token.text not in _CONTROL:
            found.update(_declarators(tokens, number))
        before = (before[1], token.text)
    return found


def _declarators(tokens: Sequence[Token], at: int) -> list[str]:
    """Return the names that a declaration from token `at` on declares; none if it is none."""
    words: list[str] = []
    begin = at
    while at < len(tokens) and (tokens[at].is_name or tokens[at].text == "*"):
        words += [tokens[at].text] if tokens[at].is_name else []
        at += 1
    if at + 3 < len(tokens) and tokens[begin].text in _TYPES and tokens[at].text == "(":
        # double (*row)[8] = a;
        inside = tokens[at + 2]
        return [inside.text] if tokens[at + 1].text == "*" and inside.is_name else []
    if len(words) < 2 or at >= len(tokens) or tokens[at].text not in ("=", ";", "[", ","):
        return []
    found = [words[-1]]
    while at < len(tokens) and tokens[at].text != ";":
        if tokens[at].text == ",":
            at += 1
            while tokens[at].text == "*":
                at += 1
            found.append(tokens[at].text)
        else:
            at = _after_brackets(tokens, at) if tokens[at].text in _CLOSING else at + 1
    return found
