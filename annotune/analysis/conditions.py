"""Where a condition holds: exactly for an affine one, from both sides for any other.

And what the loops and tests around a place imply there, at every size: asked before a condition is
left out of the text, so nothing is implied that is not proven.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import islpy as isl

from annotune.analysis.domains import IslSpace, NotLinear, dims, parameter, tuple_text
from annotune.analysis.statements import NestStatement
from annotune.ir.c_types import is_integer_type, is_unsigned_type
from annotune.ir.expr import (
    COMPARISONS,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    accesses,
    extremum_operands,
    negated,
    print_expr,
    subtracts,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.nest import Loop
from annotune.ir.poly import ONE, ZERO, Poly, from_expr, variable
from annotune.ir.region import Region


@dataclass(frozen=True, slots=True)
class Truth:
    """The instances at which a condition `maybe` holds, and those at which it `surely` does.

    Both are equal for a condition that is affine in loops and sizes; values in memory make
    the difference.
    """

    maybe: isl.Set
    surely: isl.Set

    @property
    def is_exact(self) -> bool:
        return bool(self.maybe.is_subset(self.surely))

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.maybe.intersect(other.maybe), self.surely.intersect(other.surely))

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.maybe.union(other.maybe), self.surely.union(other.surely))

    def __invert__(self) -> Truth:
        return Truth(self.surely.complement(), self.maybe.complement())


_COMPARE: Mapping[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}


@dataclass
class ConditionReader:
    """Reads the conditions of one statement.

    With `is_strict`, a product of a loop and a size without a value is `NotLinear`; else
    nothing is known of the comparison that holds it.
    """

    region: Region
    statement: NestStatement
    space: IslSpace
    is_strict: bool
    _known: dict[Expr, Truth] = field(default_factory=dict)

    @cached_property
    def _written(self) -> frozenset[str]:
        return self.region.nest.written_scalars()

    @cached_property
    def _iterators(self) -> frozenset[str]:
        return self.region.nest.iterators()

    def truth(self, condition: Expr) -> Truth:
        """Return where `condition` is not 0.

        Raises:
            NotLinear: Only with more sizes can it be said exactly.
        """
        found = self._known.get(condition)
        if found is None:
            found = self._known[condition] = self._truth(condition)
        return found

    def _truth(self, condition: Expr) -> Truth:
        match condition:
            case Int(value):
                return self._everywhere if value else ~self._everywhere
            case Binary("&&", left, right):
                return self.truth(left) & self.truth(right)
            case Binary("||", left, right):
                return self.truth(left) | self.truth(right)
            case Binary("==", _, Int(0)) if negated(condition) != Binary("==", condition, Int(0)):
                return ~self.truth(negated(condition))
            case Select(chosen, if_true, if_false):
                is_chosen = self.truth(chosen)
                return (is_chosen & self.truth(if_true)) | (~is_chosen & self.truth(if_false))
            case Binary(op, left, right) if op in COMPARISONS:
                return self._compared(op, left, right)
            case _:
                return self._compared("!=", condition, Int(0))

    @property
    def _everywhere(self) -> Truth:
        everything = isl.Set(f"{{ {tuple_text(self.statement)} }}")
        return Truth(everything, everything)

    @property
    def _unknown(self) -> Truth:
        everything = isl.Set(f"{{ {tuple_text(self.statement)} }}")
        return Truth(everything, isl.Set.empty(everything.get_space()))

    def _compared(self, op: str, left: Expr, right: Expr) -> Truth:
        try:
            if may_wrap(left, right, self.region):
                return self._unknown
            one, two = self._value(left), self._value(right)
        except NotLinear:
            if self.is_strict:
                raise
            return self._unknown
        if one is None or two is None:
            return self._unknown
        where = _COMPARE[op](one, two)
        return Truth(where, where)

    def _value(self, expr: Expr) -> isl.PwAff | None:
        """Return an integer expression over the instances; None when memory decides it."""
        poly = from_expr(expr)
        if poly is not None:
            return self._affine(poly) if self._is_fixed(poly) else None
        match expr:
            case Negate(operand):
                value = self._value(operand)
                return None if value is None else value.neg()
            case Binary("+" | "-" as op, left, right):
                return self._both(operator.add if op == "+" else operator.sub, left, right)
            case Binary("*", Int(), _) | Binary("*", _, Int()):
                return self._both(isl.PwAff.mul, expr.left, expr.right)
            case Binary("/" | "%" as op, left, right):
                return self._rounded(op, left, right)
            case Call("min" | "max" as function, (first, *rest)):
                smallest = isl.PwAff.min if function == "min" else isl.PwAff.max
                value = self._value(first)
                for other in rest:
                    next_value = self._value(other)
                    if value is None or next_value is None:
                        return None
                    value = smallest(value, next_value)
                return value
            case Call("abs" | "labs", (operand,)):
                value = self._value(operand)
                return None if value is None else value.max(value.neg())
            case _:
                return None

    def _both(
        self, combine: Callable[[isl.PwAff, isl.PwAff], isl.PwAff], left: Expr, right: Expr
    ) -> isl.PwAff | None:
        one, two = self._value(left), self._value(right)
        return None if one is None or two is None else combine(one, two)

    def _rounded(self, op: str, left: Expr, right: Expr) -> isl.PwAff | None:
        divisor = from_expr(right)
        numerator = self._value(left)
        if divisor is None or numerator is None or not self._is_fixed(divisor):
            return None
        value = divisor.at(self.space.values).constant
        if value is None:
            raise NotLinear(divisor, divisor.names)
        if value <= 0:
            return None
        constant = self._affine(Poly.of({(): value}))
        # Rounded towards zero, as C11 6.5.5 has it.
        return numerator.tdiv_q(constant) if op == "/" else numerator.tdiv_r(constant)

    def _is_fixed(self, poly: Poly) -> bool:
        """Return whether loops around the statement and unchanged integers alone decide it."""
        outside = self._iterators - frozenset(self.statement.iterators)
        return outside.isdisjoint(poly.names) and _are_fixed(poly.names, self.region, self._written)

    def _affine(self, poly: Poly) -> isl.PwAff:
        names = dims(self.statement)
        text = f"{tuple_text(self.statement)} -> [{self.space.affine(poly, names)}]"
        return isl.PwAff(self.space.text(text))


def may_wrap(left: Expr, right: Expr, region: Region) -> bool:
    """Return whether unsigned arithmetic could leave the integers that isl computes with.

    ``i - 1 < n`` is false for an unsigned i of 0, and a negative n compares as a large one.
    """
    scalars = region.scalars
    names = variables(left) | variables(right)
    unsigned = {n for n in names if n in scalars and is_unsigned_type(scalars[n].type)}
    if not unsigned:
        return False
    polys = [from_expr(left), from_expr(right)]
    return unsigned != names or any(
        poly is None or any(factor < 0 for _, factor in poly.terms) for poly in polys
    )


def rooms(conditions: Iterable[Expr], region: Region, written: frozenset[str]) -> Iterator[Poly]:
    """Yield polynomials that are not negative where all `conditions` hold, not all there are."""
    for condition in conditions:
        match condition:
            case Binary("&&", left, right):
                yield from rooms((left, right), region, written)
            case Binary("==", Binary("<" | "<=" | ">" | ">=" as op, left, right), Int(0)):
                # Of integers, whose order is total.
                yield from rooms((Binary(_OPPOSITE[op], left, right),), region, written)
            case Binary("<" | "<=" | ">" | ">=" | "==" as op, left, right):
                one, two = from_expr(left), from_expr(right)
                if one is None or two is None or may_wrap(left, right, region):
                    continue
                if not _are_fixed(one.names | two.names, region, written):
                    continue
                if op in ("<", "<=", "=="):
                    yield two - one - (ONE if op == "<" else ZERO)
                if op in (">", ">=", "=="):
                    yield one - two - (ONE if op == ">" else ZERO)


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _are_fixed(names: Iterable[str], region: Region, written: frozenset[str]) -> bool:
    """Return whether `names` are integers that no statement of the region writes."""
    scalars = region.scalars
    return all(
        name not in written and name in scalars and is_integer_type(scalars[name].type)
        for name in names
    )


_ISL = {"==": "="}


@dataclass(frozen=True)
class Premises:
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
    def of(cls, types: Mapping[str, str], sizes: Mapping[str, int]) -> Premises:
        """Return what holds outside all loops: the values of sizes, and the C types of names."""
        unsigned = {name for name, type_ in types.items() if is_unsigned_type(type_)}
        return cls(sizes, frozenset(unsigned), frozenset(sizes))

    def inside(self, loop: Loop) -> Premises:
        """Return what holds in an iteration of `loop`."""
        var = Var(loop.var)
        unsigned = self.unsigned | ({loop.var} if loop.root in self.unsigned else set())
        here = self._naming((var, loop.lower, loop.upper), unsigned)
        bounds = [Binary("<=", low, var) for low in extremum_operands(loop.lower, "max")]
        bounds += [Binary("<", var, high) for high in extremum_operands(loop.upper, "min")]
        found = [text for one in bounds if (text := here._compared(one)) is not None]
        distance = here._affine(Binary("-", var, loop.lower))
        if loop.step > 1 and distance is not None:
            found.append(f"{distance} mod {loop.step} = 0")
        return replace(here, facts=(*self.facts, *found))

    def where(self, tests: Iterable[Expr]) -> Premises:
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

    def _naming(self, exprs: Iterable[Expr], unsigned: frozenset[str]) -> Premises:
        names = frozenset[str]().union(*map(variables, exprs))
        return replace(self, integers=self.integers | names, unsigned=unsigned)

    def _compared(self, condition: Expr) -> str | None:
        """Return a comparison as isl text where C compares the same numbers."""
        if variables(condition) & self.unsigned and subtracts(condition):
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


def _unknown(expr: Expr) -> Poly | None:
    """Return the name of an integer that is no polynomial: the same for the same expression."""
    is_number = isinstance(expr, Binary) and expr.op in ("/", "%")
    return variable(print_expr(fold(expr))) if is_number else None


@lru_cache(maxsize=8192)
def _contradict(facts: tuple[str, ...]) -> bool:
    """Return whether facts cannot all hold, whatever their names are."""
    text = " and ".join(f"({fact})" for fact in facts)
    names = sorted(set(re.findall(r"\bp_\w+", text)))
    return bool(isl.Set(f"[{', '.join(names)}] -> {{ : {text} }}").is_empty())
