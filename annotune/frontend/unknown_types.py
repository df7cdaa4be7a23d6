"""Names that can only be types, although nothing that was read declares them."""

from __future__ import annotations

from annotune.frontend.tokens import IDENTIFIER, Tokens

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
