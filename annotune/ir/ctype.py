"""C types as values: what kind of number a type holds, how wide it is, and how it converts.

Widths are those of 64-bit Linux. The rules are those of C11 6.2.5, 6.3.1.1 and 6.3.1.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType

from annotune.frozen import dataclass


class TypeKind(Enum):
    """What the values of a type are."""

    BOOLEAN = "boolean"
    CHARACTER = "character"
    """A plain ``char``, which is signed or not as the implementation chooses."""
    INTEGER = "integer"
    REAL = "real"
    COMPLEX = "complex"
    POINTER = "pointer"


@dataclass(frozen=True, slots=True)
class CType:
    """A C type of numbers, or of a pointer to some.

    `name` is how C spells it: ``size_t`` and ``unsigned long`` differ in that alone. `bits` are
    those of the value; a complex number has them for each of its parts. `rank` orders the types
    of integers, and those of reals after them: an operation has the type of the higher rank. An
    enumeration is the integer type that its compiler chooses.
    """

    name: str
    kind: TypeKind
    bits: int
    rank: int
    is_signed: bool = True

    def __str__(self) -> str:
        return self.name

    @property
    def is_integer(self) -> bool:
        """Return whether values are integers, truth values and characters included."""
        return self.kind in (TypeKind.BOOLEAN, TypeKind.CHARACTER, TypeKind.INTEGER)

    @property
    def is_unsigned(self) -> bool:
        """Return whether the type holds no negative number, and its arithmetic is modular."""
        return not self.is_signed and self.kind is TypeKind.INTEGER

    @property
    def is_floating(self) -> bool:
        return self.kind in (TypeKind.REAL, TypeKind.COMPLEX)

    @property
    def limits(self) -> tuple[int, int] | None:
        """Return the least and the greatest value of an integer type, None for another type.

        A plain ``char`` may hold what a signed and what an unsigned one does.
        """
        if not self.is_integer:
            return None
        if self.kind is TypeKind.CHARACTER:
            return -(2 ** (self.bits - 1)), 2**self.bits - 1
        if self.is_signed:
            return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1
        return 0, 2**self.bits - 1

    @property
    def part(self) -> CType:
        """Return the type of the parts of a complex number; another type is its own part."""
        return named(self.name.split()[0]) if self.kind is TypeKind.COMPLEX else self


def _integer_type_of(name: str, bits: int, rank: int, is_signed: bool = True) -> CType:
    return CType(name, TypeKind.INTEGER, bits, rank, is_signed)


# Ranks of integers (C11 6.3.1.1), and above them of reals.
_CHAR, _SHORT, _INT, _LONG, _LONG_LONG, _FLOAT, _DOUBLE = range(1, 8)

BOOL = CType("_Bool", TypeKind.BOOLEAN, 1, 0, is_signed=False)
CHAR = CType("char", TypeKind.CHARACTER, 8, _CHAR)
INT = _integer_type_of("int", 32, _INT)
UNSIGNED_INT = _integer_type_of("unsigned int", 32, _INT, is_signed=False)
LONG = _integer_type_of("long", 64, _LONG)
UNSIGNED_LONG = _integer_type_of("unsigned long", 64, _LONG, is_signed=False)
SIZE = _integer_type_of("size_t", 64, _LONG, is_signed=False)
LONG_LONG = _integer_type_of("long long", 64, _LONG_LONG)
UNSIGNED_LONG_LONG = _integer_type_of("unsigned long long", 64, _LONG_LONG, is_signed=False)
FLOAT = CType("float", TypeKind.REAL, 32, _FLOAT)
DOUBLE = CType("double", TypeKind.REAL, 64, _DOUBLE)
FLOAT_COMPLEX = CType("float complex", TypeKind.COMPLEX, 32, _FLOAT)
DOUBLE_COMPLEX = CType("double complex", TypeKind.COMPLEX, 64, _DOUBLE)

_ALL = (
    *(BOOL, CHAR, _integer_type_of("signed char", 8, _CHAR)),
    _integer_type_of("unsigned char", 8, _CHAR, is_signed=False),
    *(
        _integer_type_of("short", 16, _SHORT),
        _integer_type_of("unsigned short", 16, _SHORT, is_signed=False),
    ),
    *(INT, UNSIGNED_INT, LONG, UNSIGNED_LONG, SIZE, LONG_LONG, UNSIGNED_LONG_LONG),
    *(FLOAT, DOUBLE, FLOAT_COMPLEX, DOUBLE_COMPLEX),
    CType("float _Complex", TypeKind.COMPLEX, 32, _FLOAT),
    CType("double _Complex", TypeKind.COMPLEX, 64, _DOUBLE),
)
TYPES: Mapping[str, CType] = MappingProxyType({type_.name: type_ for type_ in _ALL})
"""The types of numbers by their names."""


def named(name: str) -> CType:
    """Return the type that C calls `name`, which the IR must know."""
    return TYPES[name]


@lru_cache
def pointer_to(element: str) -> CType:
    """Return the type of a pointer to elements of a type that C spells `element`."""
    return CType(f"{element} *", TypeKind.POINTER, 64, 0)


def promoted(type_: CType) -> CType:
    """Return the type in which C computes with values of a type: ``int`` for narrower integers."""
    return INT if type_.is_integer and type_.rank < INT.rank else type_


def common(one: CType, other: CType) -> CType:
    """Return the type of ``one op other``, by the usual arithmetic conversions (C11 6.3.1.8)."""
    if TypeKind.COMPLEX in (one.kind, other.kind):
        return DOUBLE_COMPLEX if DOUBLE.rank in (one.rank, other.rank) else FLOAT_COMPLEX
    one, other = promoted(one), promoted(other)
    lower, higher = sorted((one, other), key=lambda type_: (type_.rank, type_.is_unsigned))
    if lower.is_unsigned and higher.is_integer and not keeps_values(lower, higher):
        # A long long ranks above an unsigned long, but does not hold all of its values.
        return named(f"unsigned {higher.name}")
    return higher


# Bits of an integer that a real holds exactly.
_MANTISSA = {FLOAT.bits: 24, DOUBLE.bits: 53}


def keeps_values(source: CType, target: CType) -> bool:
    """Return whether every value of the one type is one of the other."""
    if target.kind is TypeKind.COMPLEX or source.kind is TypeKind.COMPLEX:
        return target.kind is TypeKind.COMPLEX and source.part.bits <= target.part.bits
    held, limits = source.limits, target.limits
    if target.kind is TypeKind.REAL:
        if held is None:
            return source.kind is TypeKind.REAL and source.bits <= target.bits
        return max(-held[0] - 1, held[1]) < 1 << _MANTISSA[target.bits]
    if held is None or limits is None:
        return False
    if target.kind is TypeKind.CHARACTER:
        return source == target
    return limits[0] <= held[0] and held[1] <= limits[1]
