"""How many bytes an element of a C type takes, on 64-bit Linux."""

from __future__ import annotations

# What a type without a word of its own here takes, such as a pointer or an unknown typedef.
WORD = 8
_BYTES = {
    **{"double": 8, "float": 4, "long": 8, "short": 2, "char": 1, "_Bool": 1, "bool": 1},
    **{f"{sign}int{8 * n}_t": n for sign in ("", "u") for n in (1, 2, 4, 8)},
}
# Integers that C computes with as ints (C17 6.3.1.1).
PROMOTED = frozenset({"short", "char", "_Bool", "signed char", "unsigned char", "unsigned short"})
_INTEGER_WORDS = frozenset(("int", "signed", "unsigned"))
_REALS = ("double", "float")


def element_bytes(type_: str) -> int:
    """Return the bytes of one element; a complex number has two reals."""
    words = type_.split()
    parts = 2 if {"complex", "_Complex"} & {*words} else 1
    own = next((_BYTES[word] for word in words if word in _BYTES), None)
    if own is None:
        return 4 if _INTEGER_WORDS & {*words} else WORD
    return parts * own


def real_bytes(type_: str) -> int | None:
    """Return the bytes of the reals that arithmetic on a type computes with, None for integers."""
    return next((_BYTES[word] for word in type_.split() if word in _REALS), None)
