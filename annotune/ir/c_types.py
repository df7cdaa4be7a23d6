"""C types by their names: how many bytes one takes, on 64-bit Linux, and which are integers."""

from __future__ import annotations

# What a type without a word of its own here takes, such as a pointer or an unknown typedef.
WORD = 8
_BYTES = {
    **{"double": 8, "float": 4, "long": 8, "short": 2, "char": 1, "_Bool": 1, "bool": 1},
    **{f"{sign}int{8 * n}_t": n for sign in ("", "u") for n in (1, 2, 4, 8)},
}
# Integers that C computes with as ints (C17 6.3.1.1).
PROMOTED = frozenset({"short", "char", "_Bool", "signed char", "unsigned char", "unsigned short"})
_PLAIN_INTEGERS = frozenset(("int", "signed", "unsigned"))
_REALS = ("double", "float")
_SIGNED_WORDS = (
    *("signed", "char", "short", "int", "long", "const", "integer", "logical", "bool", "_Bool"),
    *("ssize_t", "ptrdiff_t", "intptr_t", "int8_t", "int16_t", "int32_t", "int64_t"),
)
_UNSIGNED_WORDS = frozenset(
    ("unsigned", "size_t", "uintptr_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")
)
_INTEGER_WORDS = _UNSIGNED_WORDS.union(_SIGNED_WORDS)


def element_bytes(type_: str) -> int:
    """Return the bytes of one element; a complex number has two reals."""
    words = type_.split()
    parts = 2 if {"complex", "_Complex"} & {*words} else 1
    own = next((_BYTES[word] for word in words if word in _BYTES), None)
    if own is None:
        return 4 if _PLAIN_INTEGERS & {*words} else WORD
    return parts * own


def real_bytes(type_: str) -> int | None:
    """Return the bytes of the reals that arithmetic on a type computes with, None for integers."""
    return next((_BYTES[word] for word in type_.split() if word in _REALS), None)


def is_integer_type(type_: str) -> bool:
    """Return whether a C type is known to be an integer one."""
    words = type_.split()
    return bool(words) and all(word in _INTEGER_WORDS for word in words)


def is_unsigned_type(type_: str) -> bool:
    """Return whether values of a C type wrap around at zero."""
    return not _UNSIGNED_WORDS.isdisjoint(type_.split())
