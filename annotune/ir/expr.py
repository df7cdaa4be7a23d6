"""Expressions of the loop-nest language: all the nodes, the walks every stage needs, and C text."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from functools import reduce
from typing import Any, TypeAlias, assert_never

from annotune.diagnostics import NOWHERE, Span
from annotune.frozen import dataclass
from annotune.ir.ctype import CType
from annotune.ir.functions import c_name, is_integer


@dataclass(frozen=True, slots=True)
class Int:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point literal, in the user's own spelling: ``0.5``, ``1e-3f``."""

    text: str


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar by name: an iterator, a size, or a floating-point variable."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __post_init__(self) -> None:
        assert "(" not in self.name, f"'{self.name}' is no name: a conversion is a Cast"


@dataclass(frozen=True, slots=True)
class Access:
    """An array element as the user wrote it: one index per pair of brackets."""

    array: str
    indices: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negate:
    """Unary minus."""

    operand: Expr


# Of numbers, or of columns of numbers: what Python's operators take.
RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
COMPARISONS = frozenset(RELATIONS)
CONNECTIVES = frozenset({"&&", "||"})


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation: ``+ - * / %``, on integers (with C's truncation) or on reals.

    Comparisons and ``&& ||`` give the integer 0 or 1; the latter read their right operand only
    where the left one does not decide.
    """

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a pure function: ``sqrt(x)``, or ``min`` for loop bounds that annotune makes.

    `annotune.ir.functions` tells what is known of each function.
    """

    function: str
    arguments: tuple[Expr, ...]

    def __post_init__(self) -> None:
        assert "(" not in self.function, f"'{self.function}' is no name: a conversion is a Cast"


@dataclass(frozen=True, slots=True)
class Cast:
    """``(type)operand``: the operand's value converted to another type, as C converts it.

    C text has the operand in parentheses, but for a name where the cast `is_bare`.
    """

    type: CType
    operand: Expr
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """``condition ? if_true : if_false``; only the operand that is chosen is read."""

    condition: Expr
    if_true: Expr
    if_false: Expr


Expr: TypeAlias = Int | Real | Var | Access | Negate | Binary | Call | Cast | Select


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct operands of `expr`, left to right."""
    match expr:
        case Binary(left=left, right=right):
            return (left, right)
        case Int() | Real() | Var():
            return ()
        case Access(indices=indices):
            return indices
        case Negate(operand) | Cast(_, operand):
            return (operand,)
        case Call(_, arguments):
            return arguments
        case Select(condition, if_true, if_false):
            return (condition, if_true, if_false)
        case _:
            assert_never(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything inside it, operands after their operator."""
    # Not by recursion: every level would hand on each of the nodes below it.
    waiting = [expr]
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, (Var, Int)):
            waiting.extend(reversed(children(one)))


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Return `expr` with every node that `change` answers for replaced, outermost first.

    `change` returns None to leave a node and go on with its operands.
    """
    changed = change(expr)
    if changed is not None:
        return changed
    match expr:
        case Int() | Real() | Var():
            return expr
        case Access(array, indices, span):
            return Access(array, tuple(rewrite(i, change) for i in indices), span)
        case Negate(operand):
            return Negate(rewrite(operand, change))
        case Binary(op, left, right):
            return Binary(op, rewrite(left, change), rewrite(right, change))
        case Call(function, arguments):
            return Call(function, tuple(rewrite(a, change) for a in arguments))
        case Cast(type_, operand, is_bare):
            return Cast(type_, rewrite(operand, change), is_bare)
        case Select(condition, if_true, if_false):
            return Select(
                rewrite(condition, change), rewrite(if_true, change), rewrite(if_false, change)
            )
        case _:
            assert_never(expr)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return `expr` with each variable named in `values` replaced by its expression."""
    return rewrite(expr, lambda e: values.get(e.name) if isinstance(e, Var) else None)


def negated(condition: Expr) -> Expr:
    """Return the condition that holds where `condition` does not.

    A comparison stays one: ``(a < b) == 0`` is right for NaN, where ``a >= b`` is not.
    """
    match condition:
        case Int(value):
            return Int(int(value == 0))
        case Binary("==", inner, Int(0)) if is_truth(inner):
            return inner
        case Binary("&&", left, right):
            return Binary("||", negated(left), negated(right))
        case Binary("||", left, right):
            return Binary("&&", negated(left), negated(right))
        case _:
            return Binary("==", condition, Int(0))


def is_truth(expr: Expr) -> bool:
    """Return whether `expr` is 0 or 1 by its operator."""
    return isinstance(expr, Binary) and expr.op in COMPARISONS | CONNECTIVES


def is_real(expr: Expr, reals: Collection[str] = frozenset()) -> bool:
    """Return whether `expr` may be a real, whose operations must stay in order.

    Elements of arrays may be; of scalars those in `reals` are.
    """
    match expr:
        case Real() | Access():
            return True
        case Int():
            return False
        case Var(name):
            return name in reals
        case Call(function, _):
            return not is_integer(function)
        case Cast(type_, _):
            return type_.is_floating
        case Negate(operand):
            return is_real(operand, reals)
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return False
        case Binary(_, one, two) | Select(_, one, two):
            return is_real(one, reals) or is_real(two, reals)
        case _:
            assert_never(expr)


def conjunction(conditions: Iterable[Expr | None]) -> Expr | None:
    """Return that all `conditions` hold, None when there are none; None holds always."""
    present = [condition for condition in conditions if condition is not None]
    return reduce(lambda left, right: Binary("&&", left, right), present) if present else None


def conjuncts(condition: Expr) -> Iterator[Expr]:
    """Yield the operands of all ``&&`` in `condition`, left to right."""
    match condition:
        case Binary("&&", left, right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield condition


def extremum_operands(expr: Expr, function: str) -> tuple[Expr, ...]:
    """Return what `expr` is the ``min`` or ``max`` of, nested ones too; `expr` itself if none."""
    match expr:
        case Call(name, arguments) if name == function:
            return tuple(part for one in arguments for part in extremum_operands(one, function))
        case _:
            return (expr,)


CHOOSES = {"min": "<", "max": ">"}
"""How the first operand of a choice compares with the second where it is the one."""


def without_extrema(expr: Expr) -> Expr:
    """Return `expr` with ``min(a, b)`` as ``a < b ? a : b``, and `max` alike."""

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in CHOOSES:
            return None
        first, *others = (without_extrema(a) for a in part.arguments)
        for other in others:
            first = Select(Binary(CHOOSES[part.function], first, other), first, other)
        return first

    return rewrite(expr, change)


def variables(expr: Expr) -> frozenset[str]:
    """Return the names of the scalars that `expr` reads; array names are not among them."""
    return frozenset(e.name for e in walk(expr) if isinstance(e, Var))


def names_read(expr: Expr) -> frozenset[str]:
    """Return the names of the scalars and arrays that the value of `expr` depends on."""
    return frozenset(place_name(e) for e in walk(expr) if isinstance(e, Var | Access))


def place_name(place: Access | Var) -> str:
    """Return the name of a scalar, or of the array that an access touches."""
    return place.array if isinstance(place, Access) else place.name


def is_coefficient(expr: Expr) -> bool:
    """Return whether `expr` is one element at all times: ``alpha[0]``, which C calls ``*alpha``."""
    return isinstance(expr, Access) and all(isinstance(index, Int) for index in expr.indices)


def subtracts(expr: Expr) -> bool:
    """Return whether anything in `expr` is subtracted, below 0 or has its sign changed."""
    return any(
        isinstance(e, Negate)
        or (isinstance(e, Binary) and e.op == "-")
        or (isinstance(e, Int) and e.value < 0)
        for e in walk(expr)
    )


def accesses(expr: Expr) -> tuple[Access, ...]:
    """Return the array elements that `expr` reads, left to right."""
    return tuple(e for e in walk(expr) if isinstance(e, Access))


# C11 6.5.5 to 6.5.15, loosest first.
SELECT = 1
PRECEDENCE = {
    **{"||": 2, "&&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5},
    **{"+": 6, "-": 6, "*": 7, "/": 7, "%": 7},
}
SUM = PRECEDENCE["+"]
_UNARY = 8


AS_WRITTEN = ""
"""The function of parentheses around a condition in C's own types, where all else is in long."""

AS_NAMED: Mapping[str, str] = {}


def print_expr(expr: Expr, enclosing: int = 0, texts: Mapping[str, str] = AS_NAMED) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, 0 for none. `texts` are what stands
    for some of its variables.
    """
    match expr:
        case Int(value):
            return str(value) if value >= 0 or enclosing <= _UNARY else f"({value})"
        case Real(text):
            return text
        case Var(name):
            return texts.get(name, name)
        case Access(array, indices):
            return array + "".join(f"[{print_expr(index, 0, texts)}]" for index in indices)
        case Negate(operand):
            # One level above unary: -(-x) must not print as the operator of --x.
            text = f"-{print_expr(operand, _UNARY + 1, texts)}"
            return f"({text})" if enclosing > _UNARY else text
        case Binary(op, left, right):
            own = PRECEDENCE[op]
            # C associates to the left, so only the right operand binds tighter:
            # (a - b) - c prints as a - b - c, but a - (b - c) keeps its parentheses.
            first, second = _clear(op, left, own), _clear(op, right, own + 1)
            text = f"{print_expr(left, first, texts)} {op} {print_expr(right, second, texts)}"
            return f"({text})" if own < enclosing else text
        case Call(function, arguments):
            return f"{c_name(function)}({', '.join(print_expr(a, 0, texts) for a in arguments)})"
        case Cast(type_, operand, is_bare):
            text = print_expr(operand, 0, texts)
            return (
                f"({type_}){text}" if is_bare and isinstance(operand, Var) else f"({type_})({text})"
            )
        case Select(condition, if_true, if_false):
            choice = f"{print_expr(if_true, 0, texts)} : {print_expr(if_false, SELECT, texts)}"
            text = f"{print_expr(condition, SELECT + 1, texts)} ? {choice}"
            return f"({text})" if enclosing > SELECT else text
        case _:
            assert_never(expr)


def _clear(op: str, operand: Expr, least: int) -> int:
    """Return the precedence around an operand: parentheses also where compilers warn of none.

    These are ``(a < b) == c`` and ``a || (b && c)`` (gcc's -Wparentheses).
    """
    if op in COMPARISONS:
        return SUM
    return SUM if op == "||" and isinstance(operand, Binary) and operand.op == "&&" else least
