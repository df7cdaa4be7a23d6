"""The numbers of C a region works on, and which special ones it bears: NaN, zeros of a sign."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from enum import StrEnum
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from annotune.analysis.facts import Analysis
from annotune.analysis.reductions import may_stay_negative_zero, reduction_operator
from annotune.frozen import dataclass
from annotune.ir.ctype import CType
from annotune.ir.expr import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    accesses,
    names_read,
    substitute,
    variables,
    walk,
)
from annotune.ir.functions import FUNCTIONS, is_integer
from annotune.ir.nest import Assign, Local, Loop, expressions, walk_stmts
from annotune.ir.region import Region
from annotune.transforms.tree import target_name

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


def plain_type(type_: str) -> str:
    """Return a C type without qualifiers, its words one blank apart."""
    return " ".join(_QUALIFIERS.sub("", type_).split())


@cache
def element_of(type_: str) -> Element:
    """Return what a C type is on 64-bit Linux; ValueError for one that is no number here."""
    words = tuple(plain_type(type_).split())
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


ENTRY = "annotune_call"
"""``void annotune_call(void **arrays, long long *integers, double *reals)`` of every library."""

_F2C_INTEGERS = frozenset({"integer", "logical", "ftnlen"})


@dataclass(frozen=True, slots=True)
class EntryArguments:
    """The names that `ENTRY` takes, in the order in which it takes them.

    `integers`, `reals` and `complexes` are the scalars that the region uses and does not
    declare itself; complex ones are passed as two reals each, behind the `reals`. `written`
    are the scalars whose value after the region matters and is passed back.
    """

    arrays: tuple[str, ...]
    integers: tuple[str, ...]
    reals: tuple[str, ...]
    written: frozenset[str]
    complexes: tuple[str, ...] = ()

    def slots(self) -> tuple[str, ...]:
        """Return the scalar that each double of the call's `reals` belongs to."""
        return (*self.reals, *(name for name in self.complexes for _ in range(2)))


def signature(region: Region) -> EntryArguments:
    """Return what the wrapper of `region` takes, whichever body stands in it."""
    passed = [s for s in region.scalars.values() if not s.is_local and not s.is_macro]
    integers = integer_names(region)
    changed = region.nest.written_scalars() | region.nest.iterators()
    others = [s for s in passed if s.name not in integers]
    pairs = tuple(s.name for s in others if family_of(s.type) is Family.COMPLEX)
    return EntryArguments(
        tuple(region.arrays),
        tuple(s.name for s in passed if s.name in integers),
        tuple(s.name for s in others if s.name not in pairs),
        frozenset(s.name for s in passed if s.name in changed and s.read_after),
        pairs,
    )


def integer_names(region: Region) -> frozenset[str]:
    """Return the integer scalars of `region`: by their type, or by standing in a subscript.

    A type may be the user's own name, so what a variable is used for speaks as well.
    """
    found = set(_index_names(region))
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, Local) and _is_integer_type(stmt.type):
            found.add(stmt.name)
    for scalar in region.scalars.values():
        if scalar.value is not None or _is_integer_type(scalar.type):
            found.add(scalar.name)
    return frozenset(found)


def _index_names(region: Region) -> Iterator[str]:
    """Yield the names in loop headers, subscripts and extents."""
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, Loop):
            yield stmt.var
            yield from variables(stmt.lower) | variables(stmt.upper)
        for access in (a for expr in expressions(stmt) for a in accesses(expr)):
            for index in access.indices:
                yield from variables(index)
    for array in region.arrays.values():
        for extent in array.extents:
            if extent is not None:
                yield from variables(extent)


def _is_integer_type(type_: str) -> bool:
    return plain_type(type_) in _F2C_INTEGERS or family_of(type_) is Family.INTEGER


def bears_special(region: Region) -> bool:
    """Return whether a region tells special numbers apart, and C gives all that it makes of them.

    It compares reals or multiplies complex numbers, of which an infinity has rules of its own.
    There is no division and no function that is not exact, and no cast of a real to an integer;
    and the user has not vouched for finite numbers.
    """
    if region.spec.assumptions.finite:
        return False
    assigns = region.nest.assigns()
    if any(not _is_real(region, a.target) and _gives_real(region, a.value) for a in assigns):
        return False
    calls = {e.function for e in _computed(region) if isinstance(e, Call)}
    casts = (e.type for e in _computed(region) if isinstance(e, Cast))
    if divides(region) or any(map(is_integer, calls)) or any(not t.is_floating for t in casts):
        return False
    compared = [e for side in _compared(region) for e in walk(side)]
    extrema = [e for e in _computed(region) if isinstance(e, Call) and e.function in EXTREMA]
    has_complex = any(
        _family(region, n) is Family.COMPLEX for n in (*region.arrays, *region.scalars)
    )
    return has_complex or any(_is_real(region, e) for e in (*compared, *extrema))


EXTREMA = ("fmax", "fmin", "fmaxf", "fminf")
"""The functions of C's library that choose one of two reals."""


def _gives_real(region: Region, expr: Expr) -> bool:
    match expr:
        case Select(_, if_true, if_false):
            return _gives_real(region, if_true) or _gives_real(region, if_false)
        case Binary(op, left, right) if op not in COMPARISONS:
            return _gives_real(region, left) or _gives_real(region, right)
        case Negate(operand):
            return _gives_real(region, operand)
        case _:
            return _is_real(region, expr)


def _is_real(region: Region, expr: Expr) -> bool:
    match expr:
        case Real():
            return True
        case Call(function, _):
            return function in EXTREMA
        case Access(array=name) | Var(name):
            return _family(region, name) is Family.REAL
        case _:
            return False


def divides(region: Region) -> bool:
    """Return whether a region divides or calls a function that is not defined everywhere."""
    divided = any(assign.op == "/=" for assign in region.nest.assigns())
    return divided or any(map(_has_domain, values_of(region)))


def values_of(region: Region) -> Iterator[Expr]:
    """Yield the conditions and the values that statements compute."""
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, Assign):
            yield from stmt.sources()
        elif isinstance(stmt, Local) and stmt.value is not None:
            yield stmt.value


def _has_domain(value: Expr) -> bool:
    """Return whether `value` divides or calls a function that is not defined everywhere."""
    return any(
        (isinstance(e, Binary) and e.op == "/")
        or (isinstance(e, Call) and e.function not in _EVERYWHERE)
        or isinstance(e, Cast)
        for e in walk(value)
    )


# Functions that give a number for every number, and casts.
_EVERYWHERE = {"min", "max"} | {f.name for f in FUNCTIONS.values() if f.is_exact}


def compared_integers(region: Region) -> set[int]:
    """Return the integer constants that the region compares something with."""
    return {side.value for side in _compared(region) if isinstance(side, Int)}


def compared_reals(region: Region) -> set[float]:
    """Return the constants that the region compares something with, whole ones too."""
    reals = (side.text.rstrip("fFlL") for side in _compared(region) if isinstance(side, Real))
    return {*map(float, reals), *map(float, compared_integers(region))}


def _compared(region: Region) -> Iterator[Expr]:
    """Yield both sides of each comparison."""
    for e in _computed(region):
        if isinstance(e, Binary) and e.op in COMPARISONS:
            yield from (e.left, e.right)


def _computed(region: Region) -> Iterator[Expr]:
    """Yield all that stands in a value or a condition, parts of expressions too."""
    return (e for assign in region.nest.assigns() for s in assign.sources() for e in walk(s))


# Of so many names in one term at the most the signs are looked for.
_MANY = 6


def fixes_zeros(analysis: Analysis) -> bool:
    """Return whether C says of each zero that a region leaves which sign it has.

    Of two zeros ``fmax`` is either; the user may leave signs open, and a complex sum may lose its
    own where the region overwrites what it is made of (docs/reading-c.md).
    """
    region = analysis.region
    if region.spec.assumptions.finite or divides(region):
        return False
    if any(isinstance(e, Call) and e.function in EXTREMA for e in _computed(region)):
        return False
    once = {d.source for d in analysis.dependences if d.is_reduction and not d.may_run_again}
    assigns = region.nest.assigns()
    sums = (a for a in assigns if a.number in once and may_stay_negative_zero(region, a))
    return all(_holds_reals(region, target_name(a)) for a in sums)


def bears_zeros(analysis: Analysis) -> bool:
    """Return whether a region sums reals, and C says of each zero which sign it has."""
    region = analysis.region
    sums = (target_name(a) for a in region.nest.assigns() if reduction_operator(a) == "+")
    families = (_family(region, name) for name in sums)
    return fixes_zeros(analysis) and any(f in (Family.REAL, Family.COMPLEX) for f in families)


def changed_names(region: Region) -> frozenset[str]:
    """Return the arrays and scalars that a region changes, where its sums begin."""
    return frozenset(map(target_name, region.nest.assigns()))


def negative_names(region: Region) -> frozenset[str]:
    """Return what must be -0.0, and all else 0.0, for the sums of a region to be -0.0.

    That is what the region changes, and as few of the factors as make all terms of a sum so. Of
    sums that want one name to be both, the first has it.
    """
    assigns = region.nest.assigns()
    made = {a.target.name: a.value for a in assigns if isinstance(a.target, Var) and a.op == "="}
    negative = settled = changed_names(region)
    for assign in assigns:
        if reduction_operator(assign) != "+":
            continue
        op = assign.op.removesuffix("=")
        value = assign.value if not op else Binary(op, assign.target, assign.value)
        # Also of a sum that the region begins itself: its terms show what is lost on the way.
        name = assign.target.name if isinstance(assign.target, Var) else ""
        term = _unfolded(value, {n: v for n, v in made.items() if n != name})
        free = {n for n in names_read(term) if _holds_reals(region, n)} - settled
        for chosen in _subsets(free):
            if _sign(region, term, negative | chosen) == -1:
                negative |= chosen
                settled |= free
                break
    return negative


def _unfolded(value: Expr, made: Mapping[str, Expr]) -> Expr:
    """Return a term with the scalars that the region makes replaced by what they are made of."""
    for _ in made:
        value = substitute(value, {n: v for n, v in made.items() if Var(n) not in walk(v)})
    return value


def _family(region: Region, name: str) -> Family | None:
    """Return the family of an array's elements or of a scalar."""
    if name in region.arrays:
        return family_of(region.arrays[name].element)
    return family_of(region.scalars[name].type) if name in region.scalars else None


def _holds_reals(region: Region, name: str) -> bool:
    return _family(region, name) is Family.REAL


def _subsets(names: Set[str]) -> Iterator[frozenset[str]]:
    for count in range(len(names) + 1 if len(names) <= _MANY else 0):
        yield from map(frozenset, combinations(sorted(names), count))


def _sign(region: Region, expr: Expr, negative: frozenset[str]) -> int:
    """Return -1 or 1, the sign of an expression of zeros and numbers; 0 where it is not known."""

    def signs(*parts: Expr) -> list[int]:
        return [_sign(region, part, negative) for part in parts]

    match expr:
        case Int(value):
            return 1 if value >= 0 else -1
        case Real():
            return 1
        case Var(name) | Access(array=name):
            return 0 if not _holds_reals(region, name) else -1 if name in negative else 1
        case Negate(operand):
            return -_sign(region, operand, negative)
        case Binary("*", left, right):
            one, two = signs(left, right)
            return one * two
        case Binary("+" | "-" as op, left, right):
            one, two = signs(left, right)
            two = two if op == "+" else -two
            # It takes two of -0.0 to make a third.
            return 1 if 1 in (one, two) else min(one, two) if 0 not in (one, two) else 0
        case Select(_, if_true, if_false):
            one, two = signs(if_true, if_false)
            return one if one == two else 0
        case Call("sqrt" | "sqrtf", (operand,)) | Cast(CType("double" | "float"), operand):
            return _sign(region, operand, negative)
        case _:
            return 0
