"""Whether two names may stand for one place in memory, as far as declarations tell.

Every stage asks here: the front end before it moves a read behind a store, the analysis before it
takes two arrays for apart, and the code generators before they leave out a test at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


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

    Two objects are apart, and so is what a ``restrict`` pointer reaches (C11 6.7.3.1). An object
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
