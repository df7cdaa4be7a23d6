"""Integer polynomials over names, as frozen values: the arithmetic of linearised subscripts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from math import gcd
from typing import TypeAlias, assert_never

from annotune.frozen import dataclass
from annotune.ir.constants import exact_value
from annotune.ir.ctype import CType
from annotune.ir.expr import Access, Binary, Call, Cast, Expr, Int, Negate, Real, Select, Var

Monomial: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """A sum of integer multiples of products of names, in one canonical order.

    `terms` holds no zero coefficient, so that equal polynomials are equal values. A
    polynomial has no truth value of its own: zero is asked for with `is_zero`, because a
    subscript that is 0 is still a subscript.
    """

    terms: tuple[tuple[Monomial, int], ...] = ()

    @classmethod
    def of(cls, terms: Mapping[Monomial, int]) -> Poly:
        """Return the polynomial with these coefficients."""
        kept = [(monomial, factor) for monomial, factor in terms.items() if factor != 0]
        return cls(tuple(sorted(kept, key=lambda term: (-len(term[0]), term[0]))))

    def __bool__(self) -> bool:
        raise TypeError("a polynomial has no truth value: compare it, or ask is_zero")

    @property
    def is_zero(self) -> bool:
        return not self.terms

    @property
    def constant(self) -> int | None:
        """Return the value of a polynomial without names, else None."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[0][0] == () else None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for monomial, _ in self.terms for name in monomial)

    @property
    def leading(self) -> tuple[Monomial, int]:
        """Return the term of the highest degree, the last in the alphabet among equals."""
        return max(self.terms, key=lambda term: (len(term[0]), term[0]))

    @property
    def is_even(self) -> bool:
        """Return whether the value is even whatever integers the names are: ``n * n + n``."""
        # A square is odd where its root is; of sums of products without squares none is always 0.
        odd: set[frozenset[str]] = set()
        for monomial, factor in self.terms:
            if factor % 2:
                odd ^= {frozenset(monomial)}
        return not odd

    def __add__(self, other: Poly) -> Poly:
        total = dict(self.terms)
        for monomial, factor in other.terms:
            total[monomial] = total.get(monomial, 0) + factor
        return Poly.of(total)

    def __neg__(self) -> Poly:
        return Poly(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def __mul__(self, other: Poly) -> Poly:
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                monomial = tuple(sorted(left + right))
                total[monomial] = total.get(monomial, 0) + a * b
        return Poly.of(total)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        for monomial, factor in sorted(self.terms, key=lambda term: term[1] < 0):
            digits = [str(abs(factor))] if abs(factor) != 1 or not monomial else []
            term = "*".join([*digits, *monomial])
            sign = "-" if factor < 0 else "+"
            text += f" {sign} {term}" if text else ("-" if factor < 0 else "") + term
        return text

    def substitute(self, values: Mapping[str, Poly]) -> Poly:
        """Return the polynomial with each name in `values` replaced."""
        if not any(name in values for name in self.names):
            return self
        total = ZERO
        for monomial, factor in self.terms:
            term = integer(factor)
            for name in monomial:
                term = term * values.get(name, variable(name))
            total = total + term
        return total

    def at(self, values: Mapping[str, int]) -> Poly:
        """Return the polynomial with each name in `values` replaced by its number."""
        return self.substitute({name: integer(values[name]) for name in self.names & set(values)})

    def divide(self, divisor: Poly) -> tuple[Poly, Poly]:
        """Return quotient and remainder; no term of the remainder holds the leading monomial.

        The divisor may be a sum, such as the row length ``x_max + 4``.
        """
        head, head_factor = divisor.leading
        rest, quotient, remainder = self, ZERO, ZERO
        while rest.terms:
            monomial, factor = rest.leading
            left = _without(monomial, head)
            if left is not None and factor % head_factor == 0:
                step = Poly.of({left: factor // head_factor})
                quotient, rest = quotient + step, rest - step * divisor
            else:
                term = Poly.of({monomial: factor})
                remainder, rest = remainder + term, rest - term
        return quotient, remainder

    def primitive(self) -> Poly:
        """Return the polynomial without its integer content, its leading term positive."""
        content = gcd(*(factor for _, factor in self.terms)) or 1
        if self.terms and self.leading[1] < 0:
            content = -content
        return Poly(tuple((monomial, factor // content) for monomial, factor in self.terms))

    def linear_in(self, iterators: Collection[str]) -> tuple[dict[str, Poly], Poly] | None:
        """Return each iterator's coefficient and the rest; None where iterators multiply."""
        factors: dict[str, Poly] = {}
        rest: dict[Monomial, int] = {}
        for monomial, factor in self.terms:
            inside = [name for name in monomial if name in iterators]
            if len(inside) > 1:
                return None
            if inside:
                left = _without(monomial, (inside[0],))
                assert left is not None
                term = Poly.of({left: factor})
                factors[inside[0]] = factors.get(inside[0], ZERO) + term
            else:
                rest[monomial] = factor
        return factors, Poly.of(rest)


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """Return `monomial` divided by `part`, None when it does not divide."""
    left = list(monomial)
    for name in part:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def integer(value: int) -> Poly:
    """Return a constant polynomial."""
    return Poly((((), value),)) if value else ZERO


def variable(name: str) -> Poly:
    """Return the polynomial that is one name."""
    return Poly((((name,), 1),))


def product(factors: Iterable[Poly]) -> Poly:
    """Return the product of `factors`, 1 when there are none."""
    total = ONE
    for factor in factors:
        total = total * factor
    return total


ZERO = Poly()
ONE = Poly((((), 1),))


def from_expr(expr: Expr, other: Callable[[Expr], Poly | None] = lambda _: None) -> Poly | None:
    """Return `expr` as a polynomial, None where it is none: a call, an element, n / 2.

    `other` may give a polynomial for such a part, as a rule a name that stands for it.
    """
    match expr:
        case Int(value):
            return integer(value)
        case Var(name) | Cast(CType("long"), Var(name)):
            return variable(name)
        case Negate(operand):
            inner = from_expr(operand, other)
            return None if inner is None else -inner
        case Binary("+" | "-" | "*" | "/" | "%" as op, left, right):
            a, b = from_expr(left, other), from_expr(right, other)
            combined = None if a is None or b is None else _combine(op, a, b)
            return other(expr) if combined is None else combined
        case Binary() | Real() | Access() | Call() | Cast() | Select():
            return other(expr)
        case _:
            assert_never(expr)


def _combine(op: str, a: Poly, b: Poly) -> Poly | None:
    if op == "+":
        return a + b
    if op == "-":
        return a - b
    if op == "*":
        return a * b
    x, y = a.constant, b.constant
    if x is None or y is None:
        return a if op == "/" and y == 1 else None
    found = exact_value(op, x, y)
    return None if found is None else integer(found)


def to_expr(
    poly: Poly, order: Iterable[str] = (), opaque: Mapping[str, Expr] | None = None
) -> Expr:
    """Return `poly` as C would write it, a name of `order` before those after it.

    `opaque` gives the expressions that some names stand for, such as a rounded division.
    """
    rank = {name: place for place, name in enumerate(order)}
    known = opaque or {}
    total: Expr | None = None
    # n - i rather than -i + n: a positive term first, where there is one.
    for monomial, factor in sorted(poly.terms, key=lambda term: term[1] < 0):
        names = sorted(monomial, key=lambda name: (rank.get(name, len(rank)), name))
        factors: list[Expr] = [known[name] if name in known else Var(name) for name in names]
        if abs(factor) != 1 or not factors:
            factors.insert(0, Int(abs(factor)))
        term = reduce(lambda left, right: Binary("*", left, right), factors)
        if total is None:
            total = _negative(term) if factor < 0 else term
        else:
            total = Binary("-" if factor < 0 else "+", total, term)
    return Int(0) if total is None else total


def _negative(term: Expr) -> Expr:
    return Int(-term.value) if isinstance(term, Int) else Negate(term)
