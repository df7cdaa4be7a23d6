"""Which values a region bears and what it compares with them, as its expressions tell."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.ir.expr import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    walk,
)
from annotune.ir.functions import FUNCTIONS, is_integer
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.ir.region import Region
from annotune.measure.elements import Family, family_of


def bears_special(region: Region) -> bool:
    """Return whether a region tells special numbers apart, and C gives all that it makes of them.

    It compares reals or multiplies complex numbers, of which an infinity has rules of its own.
    There is no division and no function that is not exact, and no cast of a real to an integer;
    and the user has not vouched for finite numbers.
    """
    types = [array.element for array in region.arrays.values()]
    types += [scalar.type for scalar in region.scalars.values()]
    if region.spec.assumptions.finite:
        return False
    assigns = region.nest.assigns()
    if any(not _is_real(region, a.target) and _gives_real(region, a.value) for a in assigns):
        return False
    sources = [e for assign in assigns for s in assign.sources() for e in walk(s)]
    calls = {e.function for e in sources if isinstance(e, Call)}
    if divides(region) or any(is_integer(name) for name in calls):
        return False
    compared = [e for side in _compared(region) for e in walk(side)]
    extrema = [e for e in sources if isinstance(e, Call) and e.function in EXTREMA]
    has_complex = any(family_of(t) is Family.COMPLEX for t in types)
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
        case Access(array=name) if name in region.arrays:
            return family_of(region.arrays[name].element) is Family.REAL
        case Var(name) if name in region.scalars:
            return family_of(region.scalars[name].type) is Family.REAL
        case _:
            return False


def divides(region: Region) -> bool:
    """Return whether a region divides or calls a function that is not defined everywhere."""
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, Assign):
            if stmt.op == "/=" or any(map(_has_domain, stmt.sources())):
                return True
        elif isinstance(stmt, Local) and stmt.value is not None and _has_domain(stmt.value):
            return True
    return False


def _has_domain(value: Expr) -> bool:
    """Return whether `value` divides or calls a function that is not defined everywhere."""
    return any(
        (isinstance(e, Binary) and e.op == "/")
        or (isinstance(e, Call) and e.function not in _EVERYWHERE)
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
    sources = (e for assign in region.nest.assigns() for s in assign.sources() for e in walk(s))
    for e in sources:
        if isinstance(e, Binary) and e.op in COMPARISONS:
            yield from (e.left, e.right)
