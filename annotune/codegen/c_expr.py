"""Expressions as C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotune.frozen import dataclass
from annotune.ir.c_types import is_unsigned_type
from annotune.ir.ctype import INT, LONG, promoted
from annotune.ir.expr import (
    AS_NAMED,
    CHOOSES,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    is_truth,
    print_expr,
    rewrite,
    variables,
    without_extrema,
)


def c_expr(expr: Expr, enclosing: int = 0, texts: Mapping[str, str] = AS_NAMED) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, of `annotune.ir.expr.PRECEDENCE`,
    0 for none; one more for the right operand. `texts` are as `print_expr` has them. The text form
    of the nest language is C already, but that it has no ``!``.
    """
    return print_expr(rewrite(expr, _not), enclosing, texts)


def _not(part: Expr) -> Expr | None:
    """Return ``!(a < b)`` for what the nest has as ``(a < b) == 0``."""
    if isinstance(part, Binary) and part.op == "==" and part.right == Int(0):
        return Call("!", (rewrite(part.left, _not),)) if is_truth(part.left) else None
    return None


def plain_c(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C that needs no function of ours: C itself has no integer `min`."""
    return c_expr(without_extrema(expr), enclosing)


def of_one_sign(expr: Expr, types: Mapping[str, str]) -> Expr:
    """Return `expr` with ``min`` and ``max`` of numbers that C compares by their values.

    `types` are those of the scalars. The lesser of an int -1 and a ``size_t`` is the latter in C.
    """

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in CHOOSES:
            return None
        signs = {is_unsigned_type(types[name]) for name in unwidened(part) if name in types}
        arguments = tuple(rewrite(argument, change) for argument in part.arguments)
        if len(signs) > 1:
            arguments = tuple(Cast(LONG, argument) for argument in arguments)
        return Call(part.function, arguments)

    return rewrite(expr, change)


def unwidened(expr: Expr) -> frozenset[str]:
    """Return the scalars that `expr` reads in their own types: not those of ``(long)n``."""
    return variables(
        rewrite(expr, lambda part: Int(0) if isinstance(part, Cast) and part.is_bare else None)
    )


def in_64_bits(expr: Expr, narrow: Mapping[str, str]) -> Expr:
    """Return `expr` with what it computes of `narrow` scalars computed as longs: ``(long)n * m``.

    `narrow` are names with their types, ``int`` or ``unsigned int``. Where C computes with ints in
    32 bits no number is beyond these, so that this is the same number. Of unsigned ones products
    and their own sums are taken so: differences, and sums with what is below 0, may go round.
    """
    return rewrite(expr, _Widening(narrow).change) if narrow else expr


@dataclass(frozen=True, slots=True)
class _Widening:
    """Computes as longs what C computes of `narrow` scalars: names with their types."""

    narrow: Mapping[str, str]

    def change(self, part: Expr) -> Expr | None:
        """Return sums and products as longs; in what C compares, only subscripts."""
        match part:
            case Binary("+" | "-" | "*"):
                return self.wide(part)[0]
            case Select(condition, one, other) if not self._is_of_ints(condition):
                # As C compares.
                condition = rewrite(condition, self._subscripts)
                return Select(condition, rewrite(one, self.change), rewrite(other, self.change))
        return None

    def wide(self, part: Expr) -> tuple[Expr, str]:
        """Return a part changed, and the type in which C computes it then."""
        match part:
            case Binary("+" | "-" | "*" as op, left, right):
                return self._computed(op, left, right)
            case Binary("/" | "%" as op, left, right):
                (left, kind), (right, other) = self.wide(left), self.wide(right)
                return Binary(op, left, right), _common(kind, other)
            case Negate(operand):
                operand, kind = self.wide(operand)
                return Negate(operand), kind
            case Select(_, left, right) | Call("min" | "max", (left, right)):
                kind = _common(self.wide(left)[1], self.wide(right)[1])
                return rewrite(part, self.change), kind
            case Int():
                return part, "int"
            case Var(name):
                return part, self.narrow.get(name, "long")
            case Call("abs"):
                return rewrite(part, self.change), "int"
            case Cast(type_) if type_.is_integer and promoted(type_).bits == INT.bits:
                return rewrite(part, self.change), promoted(type_).name
        return rewrite(part, self.change), "long"

    def _computed(self, op: str, left: Expr, right: Expr) -> tuple[Expr, str]:
        """Return a sum, difference or product as `wide` does."""
        (left, kind), (right, other) = self.wide(left), self.wide(right)
        if "long" in (kind, other):
            return Binary(op, left, right), "long"
        if isinstance(left, Int) and isinstance(right, Int):
            return Binary(op, left, right), "int"
        may_go_round = op != "*" and "unsigned int" in (kind, other)
        if may_go_round and (op == "-" or _is_below_zero(left, kind, right, other)):
            return Binary(op, left, right), "unsigned int"
        if isinstance(left, Int):
            return Binary(op, left, _long(right)), "long"
        return Binary(op, _long(left), right), "long"

    def _subscripts(self, part: Expr) -> Expr | None:
        if not isinstance(part, Access):
            return None
        indices = tuple(rewrite(index, self.change) for index in part.indices)
        return replace(part, indices=indices)

    def _is_of_ints(self, expr: Expr) -> bool:
        return all(self.narrow.get(name) == "int" for name in variables(expr))


def _common(one: str, other: str) -> str:
    """Return the type in which C computes with numbers of two types."""
    return next(kind for kind in ("long", "unsigned int", "int") if kind in (one, other))


def _is_below_zero(left: Expr, kind: str, right: Expr, other: str) -> bool:
    """Return whether one of two parts, of types `kind` and `other`, may be below 0."""
    parts = ((left, kind), (right, other))
    return any(t == "int" and not (isinstance(e, Int) and e.value >= 0) for e, t in parts)


def _long(expr: Expr) -> Expr:
    return Cast(LONG, expr, is_bare=isinstance(expr, Var))
