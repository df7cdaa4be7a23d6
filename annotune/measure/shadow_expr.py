"""One expression of a region as its magnitude, and as the count of its roundings.

`annotune.measure.shadow` tells what the two are and makes programs of them.
"""

from __future__ import annotations

from typing import assert_never

from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    variables,
    walk,
)
from annotune.ir.functions import FUNCTIONS, is_integer
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.ir.region import Region
from annotune.measure.elements import Family, family_of
from annotune.measure.harness import integer_names

ABS = "__builtin_fabs"
MAX = "__builtin_fmax"
_COMPLEX_ABS = "__builtin_cabs"

# |max(x, y) - max(x', y')| <= max(|x - x'|, |y - y'|): these round nothing. The absolute value
# of a complex number follows its argument as closely, and rounds as a square root of a sum.
_ROUNDINGS = {"min": 0, "max": 0, "cabs": 3} | {f.name: 0 for f in FUNCTIONS.values() if f.is_exact}

# Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.5: complex arithmetic is as
# accurate as real one up to these numbers of roundings.
_COMPLEX_ROUNDINGS = {"*": 3, "/": 10}


class Values:
    """What is known of a region's names, and the two readings of its expressions.

    `is_linear` turns False once M and n do not bound the error by themselves.
    """

    def __init__(self, region: Region) -> None:
        self.is_linear = True
        self.integers = _integers(region)
        stmts = tuple(walk_stmts(region.nest.body))
        types = {s.name: s.type for s in region.scalars.values()}
        types |= {a.name: a.element for a in region.arrays.values()}
        types |= {s.name: s.type for s in stmts if isinstance(s, Local)}
        self._complex = {n for n, type_ in types.items() if family_of(type_) is Family.COMPLEX}
        written = {name_of(a.target) for a in region.nest.assigns()}
        written |= {s.name for s in stmts if isinstance(s, Local)}
        self._written = written - self.integers
        self._doubtful = self._integers_from_reals(region.nest.assigns())

    def is_certain(self, condition: Expr) -> bool:
        """Return whether the shadow programs see the same condition as the original does.

        It is one of inputs and of integers that no computed real has decided.
        """
        names = {name_of(e) for e in walk(condition) if isinstance(e, Var | Access)}
        return not names & (self._written | self._doubtful)

    def is_complex(self, expr: Expr) -> bool:
        """Return whether `expr` is a complex number."""
        match expr:
            case Call(function, _) if function in FUNCTIONS:
                return family_of(FUNCTIONS[function].result) is Family.COMPLEX
            case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
                return False
            case Access(array, _):
                return array in self._complex
            case Var(name):
                # The imaginary unit of complex.h.
                return name in self._complex or name == "I"
            case Int() | Real():
                return False
            case Negate(operand):
                return self.is_complex(operand)
            case Binary(_, left, right) | Select(_, left, right):
                return self.is_complex(left) or self.is_complex(right)
            case Call(_, arguments):
                return any(map(self.is_complex, arguments))
            case _:
                assert_never(expr)

    def absolute(self, expr: Expr) -> Expr:
        """Return the absolute value of `expr` as it stands."""
        return Call(_COMPLEX_ABS if self.is_complex(expr) else ABS, (expr,))

    def is_exact(self, expr: Expr) -> bool:
        """Return whether `expr` is a constant, an input, or integers alone: no rounding yet."""
        match expr:
            case Int() | Real():
                return True
            case Var() | Access():
                return name_of(expr) not in self._written
            case Negate(operand):
                return self.is_exact(operand)
            case Binary() | Call() | Select():
                leaves = [e for e in walk(expr) if isinstance(e, Var | Real | Access)]
                calls = [e for e in walk(expr) if isinstance(e, Call)]
                return all(
                    isinstance(e, Var | Access) and name_of(e) in self.integers for e in leaves
                ) and all(is_integer(e.function) for e in calls)
            case _:
                assert_never(expr)

    def divisor(self, divisor: Expr) -> Expr:
        """Return the absolute value of a divisor; one that carries an error is not linear."""
        if not self.is_exact(divisor):
            self.is_linear = False
        return self.absolute(divisor)

    def magnitude(self, expr: Expr) -> Expr:
        """Return an upper bound on the sum of the absolute values of the terms of `expr`."""
        if self.is_exact(expr):
            return self.absolute(expr)
        match expr:
            case Negate(operand):
                return self.magnitude(operand)
            case Binary("+" | "-", left, right):
                return Binary("+", self.magnitude(left), self.magnitude(right))
            case Binary("/", left, right):
                return Binary("/", self.magnitude(left), self.divisor(right))
            case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
                return expr if self.is_certain(expr) else Int(1)
            case Binary(op, left, right):
                return Binary(op, self.magnitude(left), self.magnitude(right))
            case Call(function, arguments) if self._roundings(function) is not None:
                return folded(MAX, [self.magnitude(a) for a in arguments])
            case Call():
                self.is_linear = False
                return self.absolute(expr)
            case Access() | Var():
                return self.absolute(expr)
            case Select(condition, if_true, if_false):
                first, second = self.magnitude(if_true), self.magnitude(if_false)
                if self.is_certain(condition):
                    return Select(condition, first, second)
                return folded(MAX, [first, second])
            case Int() | Real():
                raise AssertionError(expr)
            case _:
                assert_never(expr)

    def count(self, expr: Expr) -> Expr:
        """Return the roundings on the longest chain behind the value of `expr`."""
        if self.is_exact(expr):
            return Int(0)
        match expr:
            case Access() | Var():
                return expr
            case Negate(operand):
                return self.count(operand)
            case Binary("+" | "-", left, right):
                longer = folded(MAX, [self.count(left), self.count(right)])
                return plus(longer, Int(1))
            case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
                return Int(0)
            case Binary(op, left, right):
                # (1 + d)^a (1 + d)^b (1 + d): a product has the roundings of both.
                both = plus(self.count(left), self.count(right))
                return plus(both, Int(self.own_roundings(op, expr)))
            case Call(function, arguments):
                own = self._roundings(function)
                longest = folded(MAX, [self.count(a) for a in arguments])
                return plus(longest, Int(1 if own is None else own))
            case Select(condition, if_true, if_false):
                first, second = self.count(if_true), self.count(if_false)
                if self.is_certain(condition) and first != second:
                    return Select(condition, first, second)
                return folded(MAX, [first, second])
            case Int() | Real():
                raise AssertionError(expr)
            case _:
                assert_never(expr)

    def own_roundings(self, op: str, expr: Expr) -> int:
        """Return how many roundings one operation is, with the type of `expr`."""
        return _COMPLEX_ROUNDINGS.get(op, 1) if self.is_complex(expr) else 1

    def _roundings(self, function: str) -> int | None:
        """Return the roundings of a function that magnifies no error, None for any other."""
        if function.startswith("("):
            return None if is_integer(function) else 1
        return _ROUNDINGS.get(function)

    def _integers_from_reals(self, assigns: tuple[Assign, ...]) -> set[str]:
        """Return the integers that computed reals decide, directly or by way of others."""
        found: set[str] = set()
        while True:
            bad = self._written | found
            more = {
                name
                for assign in assigns
                if (name := name_of(assign.target)) in self.integers - found
                and any(_names(source) & bad for source in assign.sources())
            }
            if not more:
                return found
            found |= more


def _integers(region: Region) -> frozenset[str]:
    """Return the scalars and the arrays that hold integers."""
    arrays = (a.name for a in region.arrays.values() if family_of(a.element) is Family.INTEGER)
    return integer_names(region) | frozenset(arrays)


def _names(expr: Expr) -> frozenset[str]:
    return variables(expr) | {e.array for e in walk(expr) if isinstance(e, Access)}


def name_of(place: Access | Var) -> str:
    """Return the name of an element's array or of a scalar."""
    return place.array if isinstance(place, Access) else place.name


def plus(left: Expr, right: Expr) -> Expr:
    """Return a sum of counts, constants computed."""
    if isinstance(left, Int) and isinstance(right, Int):
        return Int(left.value + right.value)
    if right == Int(0):
        return left
    return right if left == Int(0) else Binary("+", left, right)


def folded(function: str, arguments: list[Expr]) -> Expr:
    """Return `function`, of two arguments, over all `arguments`; constants computed."""
    result = arguments[0]
    for argument in arguments[1:]:
        if isinstance(result, Int) and isinstance(argument, Int):
            result = Int(max(result.value, argument.value))
        elif argument == Int(0) or argument == result:
            continue
        else:
            result = argument if result == Int(0) else Call(function, (result, argument))
    return result
