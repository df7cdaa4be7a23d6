"""The names that a top-level declaration may declare, told from its tokens alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from annotune.frontend.tokens import Tokens
from annotune.frontend.toplevel import TopLevel
from annotune.frontend.unknown_types import is_plain_name

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
