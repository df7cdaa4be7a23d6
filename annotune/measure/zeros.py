"""Which sums of zeros are -0.0, and whether C says of a region's zeros which sign they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from annotune.analysis.facts import Analysis
from annotune.analysis.reductions import may_stay_negative_zero, reduction_operator
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    substitute,
    walk,
)
from annotune.ir.region import Region
from annotune.measure.borne import EXTREMA, divides
from annotune.measure.elements import Family, family_of

# Of so many names in one term at the most the signs are looked for.
_MANY = 6
_KEEP_SIGN = frozenset({"(double)", "(float)", "sqrt", "sqrtf"})


def fixes_zeros(analysis: Analysis) -> bool:
    """Return whether C says of each zero that a region leaves which sign it has.

    Of two zeros ``fmax`` is either; the user may leave signs open, and a complex sum may lose its
    own where the region overwrites what it is made of (docs/reading-c.md).
    """
    region = analysis.region
    if region.spec.assumptions.finite or divides(region):
        return False
    assigns = region.nest.assigns()
    sources = [e for assign in assigns for s in assign.sources() for e in walk(s)]
    if any(isinstance(e, Call) and e.function in EXTREMA for e in sources):
        return False
    once = {d.source for d in analysis.dependences if d.is_reduction and not d.may_run_again}
    sums = (a for a in assigns if a.number in once and may_stay_negative_zero(region, a))
    return all(_is_real(region, _name(a.target)) for a in sums)


def bears_zeros(analysis: Analysis) -> bool:
    """Return whether a region sums reals, and C says of each zero which sign it has."""
    region = analysis.region
    names = (_name(a.target) for a in region.nest.assigns() if reduction_operator(a) == "+")
    return fixes_zeros(analysis) and any(_is_number(region, name) for name in names)


def changed_names(region: Region) -> frozenset[str]:
    """Return the arrays and scalars that a region changes, where its sums begin."""
    return frozenset(_name(assign.target) for assign in region.nest.assigns())


def _name(target: Access | Var) -> str:
    return target.name if isinstance(target, Var) else target.array


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
        free = _names(region, term) - settled
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


def _names(region: Region, expr: Expr) -> frozenset[str]:
    found = (part.array for part in walk(expr) if isinstance(part, Access))
    scalars = (part.name for part in walk(expr) if isinstance(part, Var))
    return frozenset(name for name in (*found, *scalars) if _is_real(region, name))


def _is_number(region: Region, name: str) -> bool:
    """Return whether an array or a scalar is real or complex."""
    found = region.arrays[name].element if name in region.arrays else region.scalars[name].type
    return family_of(found) in (Family.REAL, Family.COMPLEX)


def _is_real(region: Region, name: str) -> bool:
    if name in region.arrays:
        return family_of(region.arrays[name].element) is Family.REAL
    return name in region.scalars and family_of(region.scalars[name].type) is Family.REAL


def _subsets(names: frozenset[str]) -> Iterator[frozenset[str]]:
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
            return 0 if not _is_real(region, name) else -1 if name in negative else 1
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
        case Call(function, (operand,)) if function in _KEEP_SIGN:
            return _sign(region, operand, negative)
        case _:
            return 0
