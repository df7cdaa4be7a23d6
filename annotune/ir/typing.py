"""What C knows of an expression before it runs: its type, and the integers that it lies between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import TypeAlias

from annotune.ir.c_types import is_unsigned_type
from annotune.ir.constants import divide
from annotune.ir.ctype import (
    DOUBLE,
    FLOAT,
    FLOAT_COMPLEX,
    INT,
    LONG,
    TYPES,
    UNSIGNED_LONG,
    CType,
    common,
    named,
    promoted,
)
from annotune.ir.expr import (
    AS_WRITTEN,
    COMPARISONS,
    CONNECTIVES,
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
    rewrite,
    subtracts,
    variables,
    walk,
)
from annotune.ir.functions import FUNCTIONS

Interval: TypeAlias = tuple[int, int]
"""The least and the greatest value."""


Scope: TypeAlias = Callable[[str], CType | None]
"""What gives the types of variables, and of the elements of arrays, by their names."""


def scope_of(types: Mapping[str, str]) -> Scope:
    """Return the scope of names whose types C spells so."""
    return lambda name: TYPES.get(types.get(name, ""))


def ctype(expr: Expr, scope: Scope) -> CType | None:
    """Return the type of an expression's value, promoted; None where it is not known."""
    match expr:
        case Int(value):
            return INT if abs(value) < 2**31 else LONG
        case Real(text):
            return real_type(text)
        case Var(name) | Access(name):
            found = scope(name)
            return None if found is None else promoted(found)
        case Negate(operand):
            return ctype(operand, scope)
        case Cast(type_, _):
            return promoted(type_)
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return INT
        case Binary(_, one, other) | Select(_, one, other):
            return _common_type((one, other), scope)
        case Call("min" | "max", arguments):
            return _common_type(arguments, scope)
        case Call(function):
            return named(FUNCTIONS[function].result) if function in FUNCTIONS else None


def _common_type(operands: Iterable[Expr], scope: Scope) -> CType | None:
    found = [ctype(operand, scope) for operand in operands]
    types = [one for one in found if one is not None]
    return reduce(common, types) if len(types) == len(found) else None


def real_type(text: str) -> CType | None:
    """Return the type of a floating-point constant; None of a hexadecimal or a long double one."""
    if text == "I":
        return FLOAT_COMPLEX
    end = text[-1].lower()
    if text.lower().startswith("0x") or end in ("l", "i"):
        return None
    return FLOAT if end == "f" else DOUBLE


def integer_type(text: str, value: int) -> CType:
    """Return the type of an integer constant that C has as `text` (C11 6.4.4.1)."""
    suffix = text[len(text.rstrip("uUlL")) :].lower()
    is_decimal = text[0] != "0"
    for signed in (LONG,) if "l" in suffix else (INT, LONG):
        if "u" not in suffix and value < 2 ** (signed.bits - 1):
            return signed
        if ("u" in suffix or not is_decimal) and value < 2**signed.bits:
            return named(f"unsigned {signed}")
    return UNSIGNED_LONG


Leaf: TypeAlias = Callable[[Var | Access | Cast], Interval | None]
"""What says it of variables, of elements, and of a cast of what nothing else is known of."""


def interval(expr: Expr, leaf: Leaf) -> Interval | None:
    """Return between which integers `expr` lies, computed without an overflow; None if unknown."""
    match expr:
        case Int(value):
            return value, value
        case Var() | Access():
            return leaf(expr)
        case Negate(operand):
            inner = interval(operand, leaf)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return 0, 1
        case Binary(op, left, right):
            one, other = interval(left, leaf), interval(right, leaf)
            return None if one is None or other is None else _computed_interval(op, one, other)
        case Cast(type_, operand):
            inner, held = interval(operand, leaf), type_.limits
            if held is None or inner is None:
                return None if held is None else leaf(expr)
            return inner if held[0] <= inner[0] and inner[1] <= held[1] else held
        case Select(_, if_true, if_false):
            parts = [interval(part, leaf) for part in (if_true, if_false)]
            known = [part for part in parts if part is not None]
            return _hull_of(known) if len(known) == len(parts) else None
        case Call(function, arguments):
            parts = [interval(argument, leaf) for argument in arguments]
            known = [part for part in parts if part is not None]
            return _interval_of_call(function, known) if len(known) == len(parts) else None
        case Real():
            return None


def _hull_of(parts: Iterable[Interval]) -> Interval:
    lows, highs = zip(*parts, strict=True)
    return min(lows), max(highs)


def _interval_of_call(function: str, arguments: list[Interval]) -> Interval | None:
    match function, arguments:
        case "min" | "max", _:
            choose = min if function == "min" else max
            return choose(low for low, _ in arguments), choose(high for _, high in arguments)
        case "abs" | "labs", [(low, high)]:
            return max(0, low, -high), max(-low, high)
    return None


def _computed_interval(op: str, one: Interval, other: Interval) -> Interval | None:
    match op:
        case "+":
            return one[0] + other[0], one[1] + other[1]
        case "-":
            return one[0] - other[1], one[1] - other[0]
        case "*":
            corners = [a * b for a in one for b in other]
            return min(corners), max(corners)
        # A divisor of 0 has no value, so that a range that starts there starts at 1.
        case "/" if other[0] >= 0 and other[1] > 0:
            corners = [divide(a, b) for a in one for b in (max(other[0], 1), other[1])]
            return min(corners), max(corners)
        case "%" if other[0] >= 0 and other[1] > 0:
            # C's remainder has the sign of the dividend.
            most = other[1] - 1
            return max(-most, min(one[0], 0)), min(most, max(one[1], 0))
    return None


def may_wrap(expr: Expr, scope: Mapping[str, str]) -> bool:
    """Return whether C computes what may lie below 0 in a type without a sign."""
    types = (scope[name] for name in variables(expr) if name in scope)
    return subtracts(expr) and any(map(is_unsigned_type, types))


def has_narrowing_cast(expr: Expr) -> bool:
    """Return whether a cast in `expr` may change an integer."""
    return any(
        isinstance(part, Cast)
        and part.type.is_integer
        and (part.type.is_unsigned or part.type.bits < LONG.bits)
        for part in walk(expr)
    )


def in_long(expr: Expr) -> Expr:
    """Return an expression that is computed in 64 bits with a sign, less its switches."""

    def change(part: Expr) -> Expr | None:
        match part:
            case Var(name) | Cast(CType("long"), Var(name)):
                return Cast(LONG, Var(name), is_bare=True)
            case Cast(CType("long"), Cast(type_, operand)) | Cast(type_, operand) if (
                type_.is_unsigned
            ):
                return Cast(LONG, Cast(type_, rewrite(operand, change)))
            case Call(function, _) if function == AS_WRITTEN:
                return part
            case Select(condition, one, other):
                # As C compares, where of two signs the unsigned one wins.
                return Select(condition, rewrite(one, change), rewrite(other, change))
        return None

    return rewrite(expr, change)
