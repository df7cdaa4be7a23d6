"""A file cut into its top-level declarations, without parsing them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from annotune.frontend.tokens import Tokens

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
