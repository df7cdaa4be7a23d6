"""A file cut into its top-level declarations, without parsing them.

Names that can only be types, although nothing that was read declares them.

The names that a top-level declaration may declare, told from its tokens alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from annotune.frontend.read.tokens import IDENTIFIER, Tokens

# Words before a parenthesis that is no parameter list.
_NO_FUNCTION = frozenset(
    {
        *("__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm", "_Alignas"),
        *("char", "double", "float", "int", "long", "short", "signed", "unsigned", "void"),
        *("_Bool", "const"),
    }
)
_NAME = re.compile(r"[A-Za-z_$]\w*\Z")


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
    return bool(_NAME.match(text)) and text not in _NO_FUNCTION


def _opens_body(tokens: Tokens, parameters: int, brace: int) -> bool:
    """Return whether the brace opens a function's body, and not an initialiser."""
    closer = tokens.match[parameters]
    return 0 <= closer < brace and "=" not in tokens.texts[closer:brace]


def _is_lone_macro(tokens: Tokens, opener: int) -> bool:
    """Return whether a declaration starts after ``NAME(…)``, which no semicolon ends."""
    closer = tokens.match[opener]
    if closer < 0 or closer + 1 >= len(tokens) or not _NAME.match(tokens.texts[closer + 1]):
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
    return bool(_NAME.match(declared[0])) and not names.isdisjoint(declared)


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
# After one of these a declaration may start, so `T * x` declares x.
_BEFORE_DECLARATION = frozenset({"(", ",", ";", "{", "}", "const", "static", "extern", "volatile"})
_POINTER_WORDS = frozenset({"*", "const", "restrict"})
_AFTER_DECLARATOR = frozenset({",", ")", ";", "=", "["})


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
    """Yield the enumerators in the braces after ``enum`` at `index`."""
    opener = index
    while opener <= last and tokens.texts[opener] not in ("{", ";", ","):
        opener += 1
    if opener > last or tokens.texts[opener] != "{":
        return
    for inner in range(opener + 1, max(opener, tokens.match[opener])):
        if is_plain_name(tokens.texts[inner]) and tokens.texts[inner - 1] in ("{", ","):
            yield tokens.texts[inner]
