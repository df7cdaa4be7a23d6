"""Expressions and conditions as isl text, at known sizes: what a certificate is written in.

Apart from the analysis, so that its checker sees the conditions of the nest by other means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotune.analysis.statements import WIDE_CASTS
from annotune.codegen.c_expr import c_expr
from annotune.frozen import dataclass
from annotune.ir.constants import value_at
from annotune.ir.expr import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    children,
    negated,
    rewrite,
    substitute,
)
from annotune.ir.fold import fold

ALWAYS, NEVER = "0 = 0", "0 = 1"


@dataclass(frozen=True, slots=True)
class Case:
    """A value where a condition holds; the cases of an expression cover everything."""

    where: str
    value: str


@dataclass(frozen=True, slots=True)
class IslText:
    """Writes expressions over `names`, the isl names of loops; `sizes` are put in as numbers."""

    names: Mapping[str, str]
    sizes: Mapping[str, int]

    def cases(self, expr: Expr) -> tuple[Case, ...] | None:
        """Return an integer expression, None where memory decides it or it is not affine."""
        match expr:
            case Int(value):
                return (Case(ALWAYS, f"({value})"),)
            case Var(name) if name in self.names:
                return (Case(ALWAYS, self.names[name]),)
            case Var(name) if name in self.sizes:
                return (Case(ALWAYS, f"({self.sizes[name]})"),)
            case Negate(operand):
                inner = self.cases(operand)
                return inner and tuple(Case(c.where, f"(-{c.value})") for c in inner)
            case Binary("+" | "-" as op, left, right):
                return self._joined(left, right, f"({{}} {op} {{}})")
            case Binary("*", left, right):
                return self._scaled(left, right)
            case Binary("/" | "%" as op, left, right):
                return self._rounded(op, left, right)
            case Call("min" | "max" as function, (first, second)):
                return self._chosen(Binary("<" if function == "min" else ">", first, second), expr)
            case Select(condition, _, _):
                return self._chosen(condition, expr)
            case Cast(type_, operand) if type_.name in WIDE_CASTS:
                return self.cases(operand)
            case Call() | Cast():
                # A cast of what sizes alone decide.
                known = value_at(expr, self.sizes)
                return None if known is None else (Case(ALWAYS, f"({known})"),)
            case _:
                return None

    def _scaled(self, left: Expr, right: Expr) -> tuple[Case, ...] | None:
        """Return a product one factor of which is a number; isl knows no other."""
        for factor, other in ((left, right), (right, left)):
            number, cases = self._number(factor), self.cases(other)
            if number is not None and cases is not None:
                return tuple(Case(c.where, f"({number}*{c.value})") for c in cases)
        return None

    def _number(self, expr: Expr) -> int | None:
        """Return the value of what sizes alone decide, their casts made, None of anything else."""
        known = fold(expr, self.sizes)
        return known.value if isinstance(known, Int) else value_at(expr, self.sizes)

    def _joined(self, left: Expr, right: Expr, form: str) -> tuple[Case, ...] | None:
        one, two = self.cases(left), self.cases(right)
        if one is None or two is None:
            return None
        return tuple(
            Case(_both(a.where, b.where), form.format(a.value, b.value)) for a in one for b in two
        )

    def _rounded(self, op: str, left: Expr, right: Expr) -> tuple[Case, ...] | None:
        """Return C's quotient or remainder: towards zero, where isl rounds down."""
        numerator = self.cases(left)
        step, found = self._number(right), list[Case]()
        if numerator is None or step is None or step <= 0:
            return None
        for case in numerator:
            up, down = f"(-floor((-{case.value})/{step}))", f"floor({case.value}/{step})"
            for sign, quotient in ((">=", down), ("<", up)):
                where = _both(case.where, f"{case.value} {sign} 0")
                rest = f"({case.value} - {step}*{quotient})"
                found.append(Case(where, quotient if op == "/" else rest))
        return tuple(found)

    def _chosen(self, condition: Expr, expr: Expr) -> tuple[Case, ...] | None:
        if_true, if_false = children(expr)[-2:]
        one, two = self.cases(if_true), self.cases(if_false)
        maybe, surely = self.where(condition)
        if one is None or two is None or maybe != surely:
            return None
        chosen = [Case(_both(maybe, case.where), case.value) for case in one]
        return (*chosen, *(Case(_both(f"not ({maybe})", case.where), case.value) for case in two))

    def where(self, condition: Expr) -> tuple[str, str]:
        """Return where `condition` may hold and where it surely does; equal when it is affine."""
        match condition:
            case Binary("&&" | "||" as op, left, right):
                word = "and" if op == "&&" else "or"
                one, two = self.where(left), self.where(right)
                return f"({one[0]} {word} {two[0]})", f"({one[1]} {word} {two[1]})"
            case Binary("==", _, Int(0)) if negated(condition) != Binary("==", condition, Int(0)):
                maybe, surely = self.where(negated(condition))
                return f"(not {surely})", f"(not {maybe})"
            case Binary(op, left, right) if op in COMPARISONS:
                return self._compared(op, left, right)
            case _:
                return self._compared("!=", condition, Int(0))

    def _compared(self, op: str, left: Expr, right: Expr) -> tuple[str, str]:
        sign = {"==": "=", "!=": "!="}.get(op, op)
        found = self._joined(left, right, f"{{}} {sign} {{}}")
        if found is None:
            return f"({ALWAYS})", f"({NEVER})"
        text = " or ".join(f"({case.where} and {case.value})" for case in found)
        return f"({text})", f"({text})"


def affine_text(expr: Expr, values: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    """Return an integer expression as isl text; variables are `values`, isl text too, or `sizes`.

    Equal texts are one variable to what collects its terms.
    """
    names = {text: f"#{number}" for number, text in enumerate(dict.fromkeys(values.values()))}
    own: dict[str, Expr] = {name: Var(names[text]) for name, text in values.items()}
    return _affine(substitute(expr, own), {name: text for text, name in names.items()}, sizes)


def _affine(expr: Expr, texts: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    """Return what `affine_text` does for an expression whose variables `texts` are isl text."""
    known = dict(texts)

    def of_isl(part: Expr) -> Expr | None:
        decided = isinstance(part, Call | Cast | Select)
        value = value_at(part, sizes) if decided else None
        if value is not None:
            return Int(value)
        match part:
            case Cast(type_, operand) if type_.name in WIDE_CASTS:
                return rewrite(operand, of_isl)
            case Binary("/" | "%" as op, left, Int(step)) if step > 0:
                # Towards zero, where isl rounds down; a choice may not stand inside a sum there.
                whole = _affine(left, known, sizes)
                up, down = f"floor((-({whole}))/{step})", f"floor(({whole})/{step})"
                quotient = f"(max({down}, 0) - max({up}, 0))"
                name = f"#{len(known)}"
                known[name] = quotient if op == "/" else f"({whole} - {step}*{quotient})"
                return Var(name)
        return None

    return c_expr(rewrite(fold(expr, sizes), of_isl), texts=known)


def _both(one: str, two: str) -> str:
    if ALWAYS in (one, two):
        return two if one == ALWAYS else one
    return f"{one} and {two}"


def reads_of(
    expr: Expr, conditions: tuple[Expr, ...] = ()
) -> Iterator[tuple[Access | Var, tuple[Expr, ...]]]:
    """Yield what `expr` reads, with what C tests before it reads that."""
    match expr:
        case Access() | Var():
            yield expr, conditions
        case Binary("&&" | "||" as op, left, right):
            yield from reads_of(left, conditions)
            tested = left if op == "&&" else negated(left)
            yield from reads_of(right, (*conditions, tested))
            return
        case Select(condition, if_true, if_false):
            yield from reads_of(condition, conditions)
            yield from reads_of(if_true, (*conditions, condition))
            yield from reads_of(if_false, (*conditions, negated(condition)))
            return
    for child in children(expr):
        yield from reads_of(child, conditions)
