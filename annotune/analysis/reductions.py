"""Statements that accumulate, and whether the order of what they accumulate may show.

``x += …``, ``x = x + …`` and ``x = y > x ? y : x``. Those that accumulate into one place by one
operator are one reduction, as many as they are and whatever stands between them.

C's ``a > m ? a : m`` passes over an element that is NaN and keeps a start that is;
``m > a ? m : a`` takes the one, and goes on from what follows the other. Of 0.0 and -0.0, which
are equal, each form keeps one by its place. `docs/reading-c.md` has all forms in a table.

A sum is -0.0 where all that is added is, its start as well. So no partial result may begin at 0.0.
A product of complex numbers has the zeros of its order: -1.0*((1+i)*(1-i)) is -2 - 0i, and
(-1.0*(1+i))*(1-i) is -2 + 0i.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from annotune.frontend.lower.libf2c import bits_operator
from annotune.frozen import dataclass
from annotune.ir.ctype import FLOAT, CType
from annotune.ir.expr import (
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
    place_name,
    variables,
    walk,
)
from annotune.ir.functions import is_integer
from annotune.ir.identity import once_for_each
from annotune.ir.nest import Assign
from annotune.ir.region import Region, types_of
from annotune.ir.typing import ctype, scope_of

# The operator that combines partial results: a - b - c is a - (b + c).
_COMPOUND = {"+=": "+", "-=": "+", "*=": "*"}
_EXTREMA = {
    "min": "min",
    "fmin": "min",
    "fminf": "min",
    "max": "max",
    "fmax": "max",
    "fmaxf": "max",
}


@once_for_each(1 << 14)
def reduction_operator(assign: Assign) -> str | None:
    """Return the operator when `assign` accumulates into its target, one of `Operator`'s.

    None when the statement is no accumulation, or reads its target a second time: in its guard,
    it would depend on what is there already.
    """
    target = assign.target
    if assign.guard is not None and _reads(assign.guard, target):
        return None
    if assign.op != "=":
        return None if _reads(assign.value, target) else _COMPOUND.get(assign.op)
    return _operator_of(assign.value, target, 1) or None


def _operator_of(expr: Expr, target: Access | Var, sign: int) -> str | None:
    """Return the operator by which an expression accumulates into `target`, which it reads once.

    Of a choice each outcome does. Empty for the target itself, None where it is anything else, or
    the target negated; `sign` is that of the expression.
    """
    match expr:
        case Var() | Access() if expr == target:
            return "" if sign == 1 else None
        case Binary("+" | "-" | "*" as op, left, right):
            is_left = _reads(left, target)
            inner, other = (left, right) if is_left else (right, left)
            if _reads(other, target):
                return None
            inner_sign = -sign if op == "-" and not is_left else sign
            own = "*" if op == "*" else "+"
            return own if _operator_of(inner, target, inner_sign) in ("", own) else None
        case Call(function, arguments) if function in _EXTREMA:
            reading = [argument for argument in arguments if _reads(argument, target)]
            is_plain = len(reading) == 1 and isinstance(reading[0], Var | Access | Call | Cast)
            own = _EXTREMA[function]
            return own if is_plain and _operator_of(reading[0], target, sign) in ("", own) else None
        case Cast(_, Call(function, operands)) if own := bits_operator(function):
            reading = [operand for operand in operands if _reads(operand, target)]
            is_one = len(reading) == 1 and sign == 1
            return own if is_one and _operator_of(reading[0], target, sign) in ("", own) else None
        case Select(condition, if_true, if_false):
            extremum = _chosen_extremum(expr, target)
            if extremum is not None or _reads(condition, target):
                return extremum
            found = {_operator_of(outcome, target, sign) for outcome in (if_true, if_false)}
            used = found - {""}
            is_one = len(used) == 1 and used <= {"+", "*"}
            return used.pop() if is_one else None if used else ""
        case _:
            return None


def _chosen_extremum(choice: Select, target: Access | Var) -> str | None:
    """Return ``min`` or ``max`` for ``x > m ? x : m`` and the other spellings of it."""
    pair = (choice.if_true, choice.if_false)
    others = [part for part in pair if part != target]
    if len(others) != 1 or _reads(others[0], target):
        return None
    match choice.condition:
        case Binary("<" | "<=" | ">" | ">=" as op, left, right):
            if pair == (left, right):
                return "min" if op.startswith("<") else "max"
            if pair == (right, left):
                return "max" if op.startswith("<") else "min"
    return None


def _reads(expr: Expr, target: Access | Var) -> bool:
    return any(part == target for part in walk(expr))


_REALS = frozenset({"double", "float"})
# Casts to integers and back give no -0.0, and so does what these give.
_POSITIVE = frozenset({"fabs", "fabsf", "cabs", "exp", "expf", "cosh", "coshf", "hypot", "hypotf"})


@dataclass(frozen=True, slots=True)
class OrderDoubt:
    """Why the extremum that a statement accumulates may depend on the order of its elements.

    `element` is what is compared with the target, None where a function of C's chooses. A NaN
    matters in the start, or in an element (`nan_start`, `nan_element`); `zero` says that zeros of
    both signs may be among the elements, `zero_start` that one of them takes the place of a start
    that is -0.0. `is_narrow` says that an element may round to the target's type.
    """

    element: Expr | None
    nan_start: bool = False
    nan_element: bool = False
    zero: bool = False
    zero_start: bool = False
    is_narrow: bool = False

    @property
    def may_show(self) -> bool:
        """Return whether another order may show, so that the loops may have to run again."""
        return self.nan_start or self.zero_start or self.is_ordered

    @property
    def is_ordered(self) -> bool:
        """Return whether only the order of the text gives C's value in the cases of doubt."""
        return self.nan_element or self.zero


def doubt(region: Region, assign: Assign) -> OrderDoubt | None:
    """Return what is to be doubted of the extremum of reals that a statement accumulates.

    None for other statements, and where the user vouches for finite numbers.
    """
    is_extremum = assign.op == "=" and reduction_operator(assign) in ("min", "max")
    type_ = _type(region, assign.target)
    if not is_extremum or type_ not in _REALS or region.spec.assumptions.finite:
        return None
    value = assign.value
    if not isinstance(value, Select):
        return OrderDoubt(None, nan_start=True)
    takes = value.if_false == assign.target
    element = value.if_true if takes else value.if_false
    is_narrow = type_ == "float" and not _is_float(region, element)
    zero = is_narrow or not _Zeros(region, assign.number).only_positive(element)
    test = value.condition
    assert isinstance(test, Binary)
    takes_equal = takes == test.op.endswith("=")
    return OrderDoubt(element, not takes, not takes, zero, takes_equal and not zero, is_narrow)


def doubts(region: Region, assigns: Sequence[Assign]) -> tuple[OrderDoubt, ...]:
    """Return what is to be doubted of an extremum that several statements accumulate, each's own.

    Each of their forms keeps another one of equal zeros, so that zeros of both signs always show
    the order; between functions of C's alone they do not, since C leaves it open.
    """
    found = tuple(one for one in (doubt(region, a) for a in assigns) if one is not None)
    if len(assigns) < 2 or all(one.element is None for one in found):
        return found
    return tuple(replace(one, zero=True) for one in found)


def rounds_to_integer(region: Region, assign: Assign) -> bool:
    """Return whether an integer accumulates reals, each step of which drops a fraction."""
    return drops_fractions(assign, types_of(region))


def drops_fractions(assign: Assign, types: Mapping[str, str]) -> bool:
    """Return whether an integer accumulates reals; what has no known type may be one.

    `types` are those of the names.
    """
    target, value = (ctype(expr, scope_of(types)) for expr in (assign.target, assign.value))
    return target is not None and target.is_integer and (value is None or value.is_floating)


def adds_to_real(region: Region, assign: Assign) -> bool:
    """Return whether a statement adds to a real number, or subtracts from it."""
    return reduction_operator(assign) == "+" and _type(region, assign.target) in _REALS


def is_narrowed(region: Region, assign: Assign) -> bool:
    """Return whether what a statement computes is rounded to the narrower type of its target."""
    return _type(region, assign.target) == "float" and not _is_float(region, assign.value)


def may_leave_range(region: Region, assign: Assign) -> bool:
    """Return whether a statement multiplies reals, of which some may leave the range of their type.

    Their product with the others need not. Not where the user vouches for finite numbers.
    """
    return _multiplies(region, assign) and _type(region, assign.target) in _REALS


def is_complex_product(region: Region, assign: Assign) -> bool:
    """Return whether a statement multiplies into a complex number, whose zeros show the order.

    Not where the user vouches for finite numbers: the sign of a zero result is free then.
    """
    return _multiplies(region, assign) and "omplex" in _type(region, assign.target)


def _multiplies(region: Region, assign: Assign) -> bool:
    return reduction_operator(assign) == "*" and not region.spec.assumptions.finite


def may_stay_negative_zero(region: Region, assign: Assign) -> bool:
    """Return whether a statement may add terms that are all -0.0, or none, to a real that is -0.0.

    Not where the user vouches for finite numbers: the sign of a zero result is free then.
    """
    type_ = _type(region, assign.target)
    if reduction_operator(assign) != "+" or region.spec.assumptions.finite:
        return False
    if type_ not in _REALS:
        return "complex" in type_ and not _begins(region, assign, _is_plain)
    zeros = _Zeros(region, assign.number)
    is_sure = _surely_runs(region, assign)
    if is_sure and assign.op != "-=" and zeros.only_positive(assign.value):
        return False
    return not _begins(region, assign, zeros.only_positive)


def _surely_runs(region: Region, assign: Assign) -> bool:
    """Return whether a statement runs wherever the outermost loops around it do."""
    around = region.nest.paths()[assign.number]
    inside = {loop.var for loop in around}
    bounds = (bound for loop in around for bound in (loop.lower, loop.upper))
    return assign.guard is None and not any(variables(bound) & inside for bound in bounds)


def _is_plain(expr: Expr) -> bool:
    """Return whether an expression is a number as it is written, which has no sign."""
    return isinstance(expr, Int | Real)


def _begins(region: Region, assign: Assign, holds: Callable[[Expr], bool]) -> bool:
    """Return whether what a statement adds to always begins, just before, as a value that `holds`.

    The statement that gives it that stands around the loops of the sum, or among them.
    """
    around = region.nest.paths()
    writers = [a for a in region.nest.assigns() if not _goes_along(a, assign)]
    writers = [a for a in writers if place_name(a.target) == place_name(assign.target)]
    before = [a for a in writers if a.number < assign.number]
    if not before:
        return False
    first, inside = before[-1], around[assign.number]
    depth = len(around[first.number])

    def is_beside(one: Assign, depth: int) -> bool:
        return list(map(id, around[one.number][:depth])) == list(map(id, inside[:depth]))

    is_just_before = is_beside(first, depth) and not any(
        is_beside(a, depth + 1) for a in writers if len(inside) > depth
    )
    is_same = first.target == assign.target and is_just_before
    return is_same and _is_first(first, assign.number) and holds(first.value)


def _goes_along(other: Assign, assign: Assign) -> bool:
    """Return whether a statement is `assign`, or adds to the same: then no sum of both is lost."""
    is_sum = other.target == assign.target and reduction_operator(other) == "+"
    return is_sum or other.number == assign.number


def needed(assigns: Sequence[Assign], assign: Assign) -> frozenset[int]:
    """Return the statements whose scalars a statement needs, and itself."""
    found = {assign.number}
    waiting = [assign]
    while waiting:
        one = waiting.pop()
        read = {name for part in (*one.sources(), one.target) for name in variables(part)}
        read -= {assign.target.name} if isinstance(assign.target, Var) else set()
        for other in assigns:
            is_read = isinstance(other.target, Var) and other.target.name in read
            if is_read and other.number not in found:
                found.add(other.number)
                waiting.append(other)
    return frozenset(found)


def _type(region: Region, target: Access | Var) -> str:
    return types_of(region).get(place_name(target), "")


def _is_float(region: Region, expr: Expr) -> bool:
    match expr:
        case Var() | Access():
            return _type(region, expr) == "float"
        case Real(text):
            return text[-1] in "fF"
        case Negate(operand):
            return _is_float(region, operand)
        case Binary("+" | "-" | "*" | "/", left, right):
            return _is_float(region, left) and _is_float(region, right)
        case Select(_, if_true, if_false):
            return _is_float(region, if_true) and _is_float(region, if_false)
        case Call(function, _):
            return function in ("fabsf", "sqrtf", "expf", "hypotf")
        case Cast(type_, _):
            return type_ == FLOAT
        case _:
            return False


class _Zeros:
    """Tells which expressions of a statement are never -0.0; a sum rounds to nearest."""

    def __init__(self, region: Region, statement: int) -> None:
        self.region = region
        self.statement = statement
        self.assigned: dict[str, list[Assign]] = {}
        for one in region.nest.assigns():
            if isinstance(one.target, Var):
                self.assigned.setdefault(one.target.name, []).append(one)
        # Of a scalar that is made of itself, the first value and each step tell.
        self.asked: set[str] = set()

    def only_positive(self, expr: Expr) -> bool:
        """Return whether `expr` is never -0.0."""
        match expr:
            case Int() | Real():
                return True
            case Var(name):
                return self._scalar(name)
            case Binary("+", left, right):
                # It takes two of -0.0 to make a third.
                return self.only_positive(left) or self.only_positive(right)
            case Binary("-", left, _):
                return self.only_positive(left)
            case Binary("*", left, right):
                return left == right
            case Select(_, if_true, if_false):
                return self.only_positive(if_true) and self.only_positive(if_false)
            case Call("sqrt" | "sqrtf", (operand,)) | Cast(CType("double"), operand):
                return self._is_integer(operand) or self.only_positive(operand)
            case Cast(CType("float"), operand):
                return self._is_integer(operand)
            case Call(function, _):
                return function in _POSITIVE or is_integer(function)
            case Cast(type_, _):
                return not type_.is_floating
            case _:
                return self._is_integer(expr)

    def _scalar(self, name: str) -> bool:
        if self._is_integer(Var(name)) or name in self.asked:
            return True
        scalar, found = self.region.scalars.get(name), self.assigned.get(name, [])
        if scalar is None or not found or not all(a.op in ("=", "+=") for a in found):
            return False
        if not any(_is_first(a, self.statement) for a in found):
            return False
        self.asked.add(name)
        values = [a for a in found if a.op == "="]
        known = all(self.only_positive(a.value) for a in values)
        self.asked.discard(name)
        return known

    def _is_integer(self, expr: Expr) -> bool:
        types = types_of(self.region)
        match expr:
            case Int():
                return True
            case Var(name) | Access(array=name):
                return types.get(name, "double") not in _REALS | {"double complex", "float complex"}
            case Negate(operand):
                return self._is_integer(operand)
            case Binary("+" | "-" | "*" | "/" | "%", left, right):
                return self._is_integer(left) and self._is_integer(right)
            case Call(function, _):
                return is_integer(function)
            case Cast(type_, _):
                return not type_.is_floating
            case _:
                return False


def _is_first(assign: Assign, statement: int) -> bool:
    return assign.op == "=" and assign.guard is None and assign.number < statement
