"""What the loops and tests around a place imply there, at every size.

Asked before a condition is left out of the text, so nothing is implied that is not proven.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import islpy as isl

from annotune.analysis.domains import parameter
from annotune.analysis.poly import Poly, from_expr, variable
from annotune.ir.c_types import is_unsigned_type
from annotune.ir.expr import (
    COMPARISONS,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Var,
    accesses,
    variables,
    walk,
)
from annotune.ir.fold import fold
from annotune.ir.nest import Loop
from annotune.ir.text import print_expr

_ISL = {"==": "="}


@dataclass(frozen=True)
class Known:
    """What holds at one place: the loops around it run, and some tests were true.

    `sizes` are numbers, `unsigned` the names that wrap around below zero. `integers` are the
    names in bounds and tests; nothing is known of others, which may be no numbers at all.
    Whatever is no polynomial, such as ``n / 2``, is an unknown number: a proof that holds for
    any is one. So is a product of names.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    unsigned: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()

    @classmethod
    def of(cls, types: Mapping[str, str], sizes: Mapping[str, int]) -> Known:
        """Return what holds outside all loops: the values of sizes, and the C types of names."""
        unsigned = {name for name, type_ in types.items() if is_unsigned_type(type_)}
        return cls(sizes, frozenset(unsigned), frozenset(sizes))

    def inside(self, loop: Loop) -> Known:
        """Return what holds in an iteration of `loop`."""
        var = Var(loop.var)
        unsigned = self.unsigned | ({loop.var} if loop.root in self.unsigned else set())
        here = self._naming((var, loop.lower, loop.upper), unsigned)
        bounds = [Binary("<=", low, var) for low in _operands(loop.lower, "max")]
        bounds += [Binary("<", var, high) for high in _operands(loop.upper, "min")]
        found = [text for one in bounds if (text := here._compared(one)) is not None]
        distance = here._affine(Binary("-", var, loop.lower))
        if loop.step > 1 and distance is not None:
            found.append(f"{distance} mod {loop.step} = 0")
        return replace(here, facts=(*self.facts, *found))

    def where(self, tests: Iterable[Expr]) -> Known:
        """Return what holds where `tests`, none of which wraps around, do as well."""
        tests = tuple(tests)
        here = self._naming(tests, self.unsigned)
        found = (here._comparison(test) for test in tests)
        return replace(here, facts=(*self.facts, *(text for text in found if text is not None)))

    def implies(self, condition: Expr) -> bool:
        """Return whether `condition` is sure to hold here; False also where nobody knows."""
        return self.without(condition) is None

    def without(self, condition: Expr) -> Expr | None:
        """Return what is left of a condition to be asked here, None where it is sure to hold."""
        match condition:
            case Binary("&&", left, right):
                one, two = self.without(left), self.without(right)
                if one is None or two is None:
                    return two if one is None else one
                return Binary("&&", one, two)
            case Binary("||", left, right):
                one, two = self.without(left), self.without(right)
                return None if one is None or two is None else Binary("||", one, two)
            case _:
                return None if self._is_sure(condition) else condition

    def _is_sure(self, condition: Expr) -> bool:
        if not variables(condition) <= self.integers:
            return False
        text = self._compared(condition)
        return text is not None and _contradict((*self.facts, f"not ({text})"))

    def _naming(self, exprs: Iterable[Expr], unsigned: frozenset[str]) -> Known:
        names = frozenset[str]().union(*map(variables, exprs))
        return replace(self, integers=self.integers | names, unsigned=unsigned)

    def _compared(self, condition: Expr) -> str | None:
        """Return a comparison as isl text where C compares the same numbers."""
        if variables(condition) & self.unsigned and any(map(_subtracts, walk(condition))):
            return None
        return self._comparison(condition)

    def _comparison(self, condition: Expr) -> str | None:
        """Return a comparison as isl text, None for another condition or one that is not affine."""
        if not isinstance(condition, Binary) or condition.op not in COMPARISONS:
            return None
        left, right = self._affine(condition.left), self._affine(condition.right)
        if left is None or right is None:
            return None
        return f"{left} {_ISL.get(condition.op, condition.op)} {right}"

    def _affine(self, expr: Expr) -> str | None:
        if accesses(expr):
            return None  # memory may change between two reads
        poly = from_expr(expr, _unknown)
        if poly is None:
            return None
        terms = (
            f"{factor}*{parameter(monomial)}" if monomial else str(factor)
            for monomial, factor in poly.at(self.sizes).terms
        )
        return f"({' + '.join(terms) or '0'})"


def _subtracts(part: Expr) -> bool:
    is_difference = isinstance(part, Binary) and part.op == "-"
    return is_difference or isinstance(part, Negate) or (isinstance(part, Int) and part.value < 0)


def _unknown(expr: Expr) -> Poly | None:
    """Return the name of an integer that is no polynomial: the same for the same expression."""
    is_number = isinstance(expr, Binary) and expr.op in ("/", "%")
    return variable(print_expr(fold(expr))) if is_number else None


def _operands(bound: Expr, function: str) -> Iterator[Expr]:
    """Yield the values of which `bound` is the least or greatest, `bound` itself if it is none."""
    match bound:
        case Call(name, arguments) if name == function:
            for argument in arguments:
                yield from _operands(argument, function)
        case _:
            yield bound


@lru_cache(maxsize=8192)
def _contradict(facts: tuple[str, ...]) -> bool:
    """Return whether facts cannot all hold, whatever their names are."""
    text = " and ".join(f"({fact})" for fact in facts)
    names = sorted(set(re.findall(r"\bp_\w+", text)))
    return bool(isl.Set(f"[{', '.join(names)}] -> {{ : {text} }}").is_empty())
