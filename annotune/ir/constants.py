"""What C computes of integers that are known (C11 6.5 and 6.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from annotune.frozen import dataclass
from annotune.ir.ctype import INT, LONG, CType, TypeKind, common, promoted
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    RELATIONS,
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
)


def divide(left: int, right: int) -> int:
    """Return ``left / right`` as C computes it, rounded toward zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: int, right: int) -> int:
    """Return ``left % right`` as C computes it, with the sign of `left`."""
    return left - right * divide(left, right)


_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "%": remainder,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}
_SHIFTS = frozenset({"<<", ">>"})
OPERATORS = COMPARISONS | CONNECTIVES | _ARITHMETIC.keys()


def exact_value(op: str, left: int, right: int) -> int | None:
    """Return ``left op right`` among all the integers, None where C gives it no value."""
    if op in CONNECTIVES:
        return int(bool(left and right) if op == "&&" else bool(left or right))
    if op in COMPARISONS:
        return int(RELATIONS[op](left, right))
    if (op in ("/", "%") and right == 0) or (op in _SHIFTS and not 0 <= right < LONG.bits):
        return None
    return _ARITHMETIC[op](left, right)


@dataclass(frozen=True, slots=True)
class Constant:
    """The value of an integer expression, and its type; None where that is not known.

    What is computed of values without a type is taken to overflow nowhere.
    """

    value: int
    type: CType | None = None

    def converted_to(self, target: CType) -> Constant | None:
        """Return the value in another type (C11 6.3.1.3), None in one of no integers."""
        held = target.limits
        if held is None:
            return None
        if target.kind is TypeKind.BOOLEAN:
            return Constant(int(self.value != 0), target)
        if held[0] <= self.value <= held[1]:
            return Constant(self.value, target)
        return Constant((self.value - held[0]) % 2**target.bits + held[0], target)


def computed(op: str, left: Constant | None, right: Constant | None) -> Constant | None:
    """Return ``left op right`` as C computes it; None where C gives it no value, or it is unknown.

    Operands are None where they have no value; `&&` and `||` may do without the right one.
    """
    if op in CONNECTIVES and left is not None and bool(left.value) == (op == "||"):
        return Constant(int(op == "||"), INT if left.type is not None else None)
    if left is None or right is None:
        return None
    if left.type is None or right.type is None:
        return _of_open_type(op, left, right)
    type_ = promoted(left.type) if op in _SHIFTS else common(left.type, right.type)
    one = left.converted_to(type_)
    other = right if op in _SHIFTS else right.converted_to(type_)
    if one is None or other is None or (op in _SHIFTS and other.value >= type_.bits):
        return None
    value = exact_value(op, one.value, other.value)
    if value is None or op in COMPARISONS | CONNECTIVES:
        return None if value is None else Constant(value, INT)
    found = Constant(value, type_).converted_to(type_)
    # An overflow with a sign is undefined (C11 6.5).
    return found if type_.is_unsigned or found == Constant(value, type_) else None


def _of_open_type(op: str, left: Constant, right: Constant) -> Constant | None:
    """Return ``left op right`` where types are not known: a number that it has in any of them."""
    value = exact_value(op, left.value, right.value)
    types = [promoted(one.type) for one in (left, right) if one.type is not None]
    unsigned = next((one for one in types if one.is_unsigned), None)
    if value is None or op in COMPARISONS | CONNECTIVES or unsigned is None:
        return None if value is None else Constant(value)
    return Constant(value, unsigned) if 0 <= value < 2 ** (INT.bits - 1) else None


def negated_constant(operand: Constant | None) -> Constant | None:
    """Return ``-operand``."""
    return None if operand is None else computed("-", Constant(0, operand.type), operand)


def inverted_constant(operand: Constant | None) -> Constant | None:
    """Return ``~operand``."""
    return None if operand is None else computed("-", Constant(-1, operand.type), operand)


def chosen_constant(
    condition: Constant | None, if_true: Constant | None, if_false: Constant | None
) -> Constant | None:
    """Return ``condition ? if_true : if_false``, in the type of both where it is known."""
    if condition is None:
        return None
    chosen, other = (if_true, if_false) if condition.value else (if_false, if_true)
    if chosen is None or chosen.type is None or other is None or other.type is None:
        return chosen
    return chosen.converted_to(common(chosen.type, other.type))


def value_at(expr: Expr, known: Mapping[str, int], in_long: bool = False) -> int | None:
    """Return the value of an integer expression at known sizes, None where it is not known.

    A cast is made as C makes it. What is computed from one to an unsigned type has no value here
    where it might go round: sizes are expressions among all the integers too. It has one if it is
    computed `in_long`, as the ends of arrays are.
    """
    found = _constant_at(expr, known, in_long)
    return None if found is None else found.value


def _constant_at(expr: Expr, known: Mapping[str, int], in_long: bool) -> Constant | None:
    match expr:
        case Int(value):
            return Constant(value)
        case Var(name):
            return Constant(known[name]) if name in known else None
        case Negate(operand):
            inner = _constant_at(operand, known, in_long)
            return None if inner is None else _of_open_type("-", Constant(0), inner)
        case Cast(type_, operand):
            inner = _constant_at(operand, known, in_long)
            made = None if inner is None else inner.converted_to(type_)
            return Constant(made.value) if in_long and made is not None else made
        case Binary(op, left, right):
            one, other = _constant_at(left, known, in_long), _constant_at(right, known, in_long)
            if op in CONNECTIVES or one is None or other is None:
                return computed(op, one, other)
            return _of_open_type(op, one, other)
        case Select(condition, if_true, if_false):
            parts = (_constant_at(part, known, in_long) for part in (condition, if_true, if_false))
            return chosen_constant(*parts)
        case Call(function, arguments):
            found = [_constant_at(argument, known, in_long) for argument in arguments]
            constants = [one for one in found if one is not None]
            return _constant_of_call(function, constants) if len(constants) == len(found) else None
        case Real() | Access():
            return None


def _constant_of_call(function: str, arguments: list[Constant]) -> Constant | None:
    match function, arguments:
        case "min" | "max", [_, *_]:
            choose = min if function == "min" else max
            return choose(arguments, key=lambda argument: argument.value)
        case "abs" | "labs", [operand]:
            return Constant(abs(operand.value), operand.type)
    return None
