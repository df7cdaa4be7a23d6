"""C types by their names: their bytes, on 64-bit Linux, which are integers, which may share memory.

Every stage asks here whether two names may stand for one place: the front end before it moves a
read behind a store, the analysis before it takes two arrays for disjoint, and the code generators
before they leave out a test at run time.
"""

from __future__ import annotations

from typing import Protocol

from annotune.frozen import dataclass

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


class Shareable(Protocol):
    """What a declaration says of an array, a variable or a member of a struct.

    `element` is the C type of what is stored there. `is_pointer` tells a pointer to memory that
    others may name too from an object of its own. `is_restrict` says that what the region
    reaches through it is reached through nothing else, where it is written.
    """

    @property
    def element(self) -> str: ...

    @property
    def is_pointer(self) -> bool: ...

    @property
    def is_restrict(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class StoredName:
    """What is declared of a name that no `Array` describes; an object where it is no pointer."""

    element: str
    is_pointer: bool = False
    is_restrict: bool = False


def may_share(one: Shareable, other: Shareable) -> bool:
    """Return whether two names that a region uses, one of them to write, may share memory.

    Two objects are disjoint, and so is what a ``restrict`` pointer reaches (C11 6.7.3.1). An object
    is accessed in its declared type alone (6.5). Memory behind two pointers may have no declared
    type: there a store makes the type, so that a float may be written over an int that was read
    before, and types show nothing.
    """
    return not (one.is_restrict or other.is_restrict) and may_share_unchanged(one, other)


def may_share_unchanged(one: Shareable, other: Shareable) -> bool:
    """Return whether two names that a region only reads may share memory, ``restrict`` or not."""
    if one.is_pointer and other.is_pointer:
        return True
    return (one.is_pointer or other.is_pointer) and may_access(one.element, other.element)


def may_access(one: str, other: str) -> bool:
    """Return whether C lets one object be accessed in both types (C11 6.5, paragraph 7).

    A type may be accessed in its unsigned or signed form too, a complex number as its parts
    (6.2.5), and everything as characters.
    """
    plain = [_plain(type_) for type_ in (one, other)]
    return "char" in plain or plain[0] == plain[1]


def _plain(type_: str) -> str:
    """Return a C type without its sign and qualifiers; that of its parts for a complex one."""
    ignored = ("const", "signed", "unsigned", "complex", "_Complex")
    words = [word for word in type_.split() if word not in ignored]
    if words != ["int"]:
        words = [word for word in words if word != "int"]
    return " ".join(words) or "int"
