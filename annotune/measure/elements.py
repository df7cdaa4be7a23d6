"""The C types of array elements and scalars, as numpy and the comparison see them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

# The upper half says NaN, the lower one is a payload of its own.
_POISON = {8: 0x7FFA_0BAD_C0DE_0000, 4: 0x7FFA_0BAD, 2: 0x7BAD, 1: 0x5B}
"""The bits of one component that nobody has written, by its size in bytes."""

_QUALIFIERS = re.compile(r"\b(static|extern|register|volatile|const|restrict)\b")


class Family(StrEnum):
    """How values are compared: exactly, or by real numbers within a tolerance."""

    INTEGER = "integer"
    REAL = "real"
    COMPLEX = "complex"


@dataclass(frozen=True, slots=True)
class Element:
    """A number as C stores it. A complex one has two components, its real part first."""

    family: Family
    dtype: np.dtype[Any]

    @property
    def component(self) -> np.dtype[Any]:
        """Return the type of a component: a number is its own one, unless it is complex."""
        if self.family is Family.COMPLEX:
            return np.dtype(f"f{self.dtype.itemsize // 2}")
        return self.dtype

    @property
    def poison_bits(self) -> int:
        """Return the bits that each component of a number holds before it is written."""
        return _POISON[self.component.itemsize]


_REALS = {("double",): "f8", ("float",): "f4"}
_COMPLEX = {"double": "c16", "float": "c8"}
_WIDTHS = {"char": 1, "short": 2, "long": 8, "_Bool": 1}
_FIXED = {
    **{
        f"{sign}int{8 * n}_t": f"{kind}{n}"
        for sign, kind in (("", "i"), ("u", "u"))
        for n in (1, 2, 4, 8)
    },
    **{"size_t": "u8", "ssize_t": "i8", "ptrdiff_t": "i8", "intptr_t": "i8", "uintptr_t": "u8"},
    **{"bool": "u1", "_Bool": "u1"},
}


@cache
def element_of(type_: str) -> Element:
    """Return what a C type is on 64-bit Linux; ValueError for one that is no number here."""
    words = tuple(_QUALIFIERS.sub("", type_).split())
    if words in _REALS:
        return Element(Family.REAL, np.dtype(_REALS[words]))
    if len(words) == 1 and words[0] in _FIXED:
        return Element(Family.INTEGER, np.dtype(_FIXED[words[0]]))
    if set(words) & {"complex", "_Complex"}:
        parts = [w for w in words if w in _COMPLEX]
        if len(parts) == 1 and len(words) == 2:
            return Element(Family.COMPLEX, np.dtype(_COMPLEX[parts[0]]))
    elif words and set(words) <= {"int", "signed", "unsigned", *_WIDTHS}:
        size = next((_WIDTHS[w] for w in words if w in _WIDTHS), 4)
        return Element(Family.INTEGER, np.dtype(f"{'u' if 'unsigned' in words else 'i'}{size}"))
    raise ValueError(f"'{type_}' is no number that can be compared")


def family_of(type_: str) -> Family | None:
    """Return the family of a C type, None where annotune does not know the type."""
    try:
        return element_of(type_).family
    except ValueError:
        return None


def components(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `values` as what is compared: a complex number is its two parts, one by one."""
    if values.dtype.kind != "c":
        return values
    return values.view(np.dtype(f"f{values.dtype.itemsize // 2}"))


def bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the bits of the components of `values`."""
    parts = components(values)
    return parts.view(np.dtype(f"u{parts.dtype.itemsize}"))


def poisoned(element: Element, count: int) -> npt.NDArray[Any]:
    """Return `count` numbers none of whose components has been written."""
    per_number = element.dtype.itemsize // element.component.itemsize
    unsigned = np.dtype(f"u{element.component.itemsize}")
    return np.full(count * per_number, element.poison_bits, unsigned).view(element.dtype)


def is_poison(values: npt.NDArray[Any], element: Element) -> npt.NDArray[np.bool_]:
    """Return for each component of `values` whether it is still what `poisoned` put there."""
    return np.asarray(bits(values) == element.poison_bits)
