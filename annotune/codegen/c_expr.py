"""Expressions as C."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from annotune.analysis.named import is_unsigned_type
from annotune.ir.expr import Binary, Call, Expr, Int, Select, Var, rewrite, variables
from annotune.ir.text import print_expr

_CHOOSES = {"min": "<", "max": ">"}


def c_expr(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, of `annotune.ir.text.PRECEDENCE`,
    0 for none; one more for the right operand. The text form of the nest language is C already.
    """
    return print_expr(expr, enclosing)


def plain_c(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C that needs no function of ours: C itself has no integer `min`."""
    return c_expr(without_extrema(expr), enclosing)


def of_one_sign(expr: Expr, types: Mapping[str, str]) -> Expr:
    """Return `expr` with ``min`` and ``max`` of numbers that C compares by their values.

    `types` are those of the scalars. The lesser of an int -1 and a ``size_t`` is the latter in C.
    """

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in _CHOOSES:
            return None
        signs = {is_unsigned_type(types[name]) for name in variables(part) if name in types}
        arguments = tuple(rewrite(argument, change) for argument in part.arguments)
        if len(signs) > 1:
            arguments = tuple(Call("(long)", (argument,)) for argument in arguments)
        return Call(part.function, arguments)

    return rewrite(expr, change)


def without_extrema(expr: Expr) -> Expr:
    """Return `expr` with ``min(a, b)`` as ``a < b ? a : b``, and `max` alike."""

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in _CHOOSES:
            return None
        first, *others = (without_extrema(a) for a in part.arguments)
        for other in others:
            first = Select(Binary(_CHOOSES[part.function], first, other), first, other)
        return first

    return rewrite(expr, change)


def in_64_bits(expr: Expr, ints: Collection[str]) -> Expr:
    """Return `expr` with what it computes of `ints` alone computed in 64 bits: ``(long)n * m``.

    Where C computes such in 32 bits no number is beyond these, so that this is the same number.
    """
    if not ints:
        return expr

    def change(part: Expr) -> Expr | None:
        return wide(part)[0] if isinstance(part, Binary) and part.op in "+-*" else None

    def wide(part: Expr) -> tuple[Expr, bool]:
        """Return a part changed, and whether it is still one of 32 bits."""
        match part:
            case Binary("+" | "-" | "*" as op, left, right):
                (left, is_narrow), (right, is_other) = wide(left), wide(right)
                is_less = isinstance(right, Int) and (op == "-" or isinstance(left, Int))
                if is_narrow and is_other and is_less:
                    # No size is so far below 0.
                    return Binary(op, left, right), True
                if is_narrow and is_other and isinstance(left, Int):
                    right = _long(right)
                elif is_narrow and is_other:
                    left = _long(left)
                return Binary(op, left, right), False
            case Int():
                return part, True
            case Var(name):
                return part, name in ints
        return rewrite(part, change), False

    return rewrite(expr, change)


def _long(expr: Expr) -> Expr:
    return Var(f"(long){expr.name}") if isinstance(expr, Var) else Call("(long)", (expr,))
