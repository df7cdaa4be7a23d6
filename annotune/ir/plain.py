"""Integer expressions as one would write them by hand: equal in value, type, and what overflows.

What has been put together from a text, ``n + 1 - 0 + 1`` or ``i - 1 + 1``, says more than it means.
Three laws hold for what is written in its place:

- It has the same value and the same type for all values of its variables.
- No part of it overflows where no part of the old one did: the value of each part is one that the
  old one had for a part, or lies between two such (`_Sums.is_safe`). Where all is unsigned of
  one type, C computes modulo a power of 2, in which any order is right; the same is asked there.
- Reals, and what is computed of them, stay as they are.

Choices and comparisons are made where it is known how they come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from annotune.frozen import dataclass
from annotune.ir.constants import exact_value
from annotune.ir.ctype import (
    INT,
    LONG,
    LONG_LONG,
    UNSIGNED_INT,
    UNSIGNED_LONG,
    UNSIGNED_LONG_LONG,
    CType,
)
from annotune.ir.expr import (
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
    children,
    is_truth,
    print_expr,
    walk,
)
from annotune.ir.poly import Poly, integer, variable
from annotune.ir.typing import ctype, scope_of

_INT_MAX = 2**31 - 1
_SIGNED = (INT, LONG)
_INTEGERS = (INT, UNSIGNED_INT, LONG, UNSIGNED_LONG)
# Of the same values as another type.
_AS_WIDE = {LONG_LONG: LONG, UNSIGNED_LONG_LONG: UNSIGNED_LONG}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True)
class Plain:
    """Writes expressions plainly. `types` are the C types of scalars, and of arrays' elements.

    Wherever they are computed the comparisons in `held` hold, and `facts`, which are polynomials
    over integers with a sign, are not below 0.
    """

    types: Mapping[str, str]
    facts: tuple[Poly, ...] = ()
    held: frozenset[Expr] = frozenset()
    _known: dict[Expr, Expr] = field(default_factory=dict, compare=False, repr=False)

    def expr(self, expr: Expr) -> Expr:
        """Return the plain form of an expression."""
        found = self._known.get(expr)
        if found is None:
            found = self._known[expr] = self._made(expr)
        return found

    def _made(self, expr: Expr) -> Expr:
        match expr:
            case Int() | Real() | Var():
                return expr
            case Access(array, indices, span):
                return Access(array, tuple(map(self.expr, indices)), span)
            case Call(function, arguments):
                made = tuple(map(self.expr, arguments))
                # Brackets around a number say nothing.
                return (
                    made[0] if not function and isinstance(made[0], Int) else Call(function, made)
                )
            case Cast(type_, operand, is_bare):
                return Cast(type_, self.expr(operand), is_bare)
            case Select():
                return self._choice(expr)
            case Binary(op, left, right) if op in CONNECTIVES:
                return _connected(op, self.expr(left), self.expr(right))
            case Binary(op, left, right) if op in COMPARISONS:
                return self._compared(op, self.expr(left), self.expr(right))
            case Negate(operand):
                return self._computed(Negate(self.expr(operand)))
            case Binary(op, left, right):
                return self._computed(Binary(op, self.expr(left), self.expr(right)))

    def type_of(self, expr: Expr) -> CType | None:
        """Return the type in which C computes with a value, None of one that is not known."""
        found = ctype(expr, scope_of(self.types))
        return None if found is None else _AS_WIDE.get(found, found)

    def _choice(self, expr: Select) -> Expr:
        """Return a choice, or what is chosen where that is known and of the same type."""
        condition = self.expr(expr.condition)
        if_true, if_false = self.expr(expr.if_true), self.expr(expr.if_false)
        if not isinstance(condition, Int):
            return self._extremum(condition, if_true, if_false)
        chosen, type_ = if_true if condition.value else if_false, self.type_of(expr)
        if type_ is not None and type_ == self.type_of(chosen):
            return chosen
        return Select(expr.condition, if_true, if_false)

    def _extremum(self, condition: Expr, if_true: Expr, if_false: Expr) -> Expr:
        """Return a choice; of two integers the lesser or the greater one is always asked alike."""
        match condition:
            case Binary("<=" | ">=" as op, one, two) if {one, two} == {if_true, if_false}:
                if _are_integers(self, one, two) and self.type_of(one) == self.type_of(two):
                    condition = Binary(op[0], one, two)
        return Select(condition, if_true, if_false)

    def _compared(self, op: str, left: Expr, right: Expr) -> Expr:
        if right == Int(0) and is_truth(left):
            if op == "!=":
                return left
            assert isinstance(left, Binary)
            if op == "==" and left.op in COMPARISONS:
                # Of NaN == and != are opposite, the others are not.
                is_exact = left.op in ("==", "!=") or _are_integers(self, left.left, left.right)
                if is_exact:
                    return self._compared(_OPPOSITE[left.op], left.left, left.right)
            return Binary(op, left, right)
        if Binary(op, left, right) in self.held:
            return Int(1)
        if op in ("==", "!=") and Binary(_OPPOSITE[op], left, right) in self.held:
            return Int(0)
        decided = self._decided(op, left, right)
        return Binary(op, left, right) if decided is None else Int(int(decided))

    def _decided(self, op: str, left: Expr, right: Expr) -> bool | None:
        """Return how a comparison of numbers with a sign comes out, None where that is open.

        C compares such by their values, whatever their widths.
        """
        if isinstance(left, Int) and isinstance(right, Int):
            return bool(exact_value(op, left.value, right.value))
        if not self.facts or {self.type_of(left), self.type_of(right)} - {*_SIGNED}:
            return None
        sums = _Sums(self)
        one, two = sums.poly(left), sums.poly(right)
        if not sums.is_signed(left) or not sums.is_signed(right):
            return None
        less, more = two - one, one - two
        if op in (">", "<="):
            op, less, more = {">": "<", "<=": ">="}[op], more, less
        below = self.is_never_negative(less - integer(1))
        not_below = self.is_never_negative(more)
        if op in ("<", ">="):
            return (op == "<") == below if below or not_below else None
        if below or self.is_never_negative(more - integer(1)):
            return op == "!="
        return op == "==" if less.is_zero else None

    def is_never_negative(self, poly: Poly) -> bool:
        """Return whether the facts show that `poly` is at least 0; there may be more that is."""
        constant = poly.constant
        if constant is not None:
            return constant >= 0
        least = {name: variable(name) + integer(low) for name, low in self._least.items()}
        for fact in (None, *self.facts):
            rest = (poly if fact is None else poly - fact).substitute(least)
            known = all(name in least for name in rest.names)
            if known and all(factor >= 0 for _, factor in rest.terms):
                return True
        return False

    @cached_property
    def _least(self) -> dict[str, int]:
        """Return the least value of each name of which a fact tells one."""
        found: dict[str, int] = {}
        for fact in self.facts:
            if len(fact.terms) <= 2 and len(fact.names) == 1:
                (name,) = fact.names
                rest = fact - variable(name)
                if rest.constant is not None:
                    found[name] = max(-rest.constant, found.get(name, -rest.constant))
        return found

    def _computed(self, expr: Negate | Binary) -> Expr:
        """Return a sum, a product or a quotient of parts that are plain already."""
        if isinstance(expr, Binary) and expr.op in ("/", "%"):
            return expr
        type_ = self.type_of(expr)
        if type_ not in _INTEGERS:
            return expr
        shorter = _merged(expr)
        if shorter != expr and self.type_of(shorter) == type_ and self._may_subtract(expr, type_):
            return self.expr(shorter)
        sums = _Sums(self)
        if not sums.are_of_type(expr, type_):
            return expr
        for candidate in sums.candidates(expr):
            if _length(candidate) >= _length(expr):
                continue
            if self.type_of(candidate) == type_ and sums.is_safe(candidate, expr):
                return self.expr(candidate)
        return expr

    def _may_subtract(self, expr: Expr, type_: CType) -> bool:
        """Return whether a sum takes the operand of a minus away: not of one that has gone round.

        ``-u`` of an ``unsigned int`` is 2^32 - u, and adds that much to a long.
        """
        match expr:
            case Binary("+", _, Negate(operand)):
                return self.type_of(operand) in (type_, *_SIGNED)
        return True


@dataclass
class _Sums:
    """What sums and products of whole numbers are: polynomials over their other parts."""

    plain: Plain
    names: dict[Expr, str] = field(default_factory=dict)

    def are_of_type(self, expr: Expr, type_: CType) -> bool:
        """Return whether all parts of a sum, but constants, have one type."""
        atoms = [atom for atom in _atoms(expr) if not isinstance(atom, Int)]
        constants = (atom for atom in _atoms(expr) if isinstance(atom, Int))
        return all(self.plain.type_of(atom) == type_ for atom in atoms) and all(
            self.plain.type_of(one) == INT for one in constants
        )

    def is_signed(self, expr: Expr) -> bool:
        """Return whether all parts of a sum have a sign."""
        return all(self.plain.type_of(atom) in _SIGNED for atom in _atoms(expr))

    def poly(self, expr: Expr) -> Poly:
        """Return a sum as a polynomial."""
        match expr:
            case Int(value):
                return integer(value)
            case Negate(operand):
                return -self.poly(operand)
            case Binary("+", left, right):
                return self.poly(left) + self.poly(right)
            case Binary("-", left, right):
                return self.poly(left) - self.poly(right)
            case Binary("*", left, right):
                return self.poly(left) * self.poly(right)
            case Var(name):
                return variable(name)
            case Cast(operand=Var(), is_bare=True):
                # A number with a name, as it were: no part of it is computed.
                return variable(print_expr(expr))
        return variable(self.names.setdefault(expr, f"#{len(self.names)}"))

    def candidates(self, expr: Expr) -> Iterator[Expr]:
        """Yield shorter forms of a sum, the one nearest to its own first."""
        match expr:
            case Binary("*", Int(1), part) | Binary("*", part, Int(1)):
                yield part
                return
            case Negate(Negate(part)):
                yield part
                return
            case Binary("*", left, right):
                if Int(0) in (left, right):
                    yield Int(0)
                return
        terms = self._collected(expr)
        if not terms:
            yield Int(0)
            return
        yield _summed(terms)
        more = [term for term in terms if term[0] > 0 and term[1] is not None]
        less = [term for term in terms if term[0] < 0 and term[1] is not None]
        constant = [term for term in terms if term[1] is None]
        yield _summed((*more, *less, *constant) if more else (*constant, *less))
        taken = [(-factor, term) for factor, term in (*less, *(c for c in constant if c[0] < 0))]
        added = [*more, *(c for c in constant if c[0] > 0)]
        if len(taken) > 1 and added:
            yield Binary("-", _summed(added), _summed(taken))

    def _collected(self, expr: Expr) -> list[tuple[int, Expr | None]]:
        """Return the summands with their factors, alike ones and constants as one; none is 0."""
        places: dict[Poly, int] = {}
        found: list[tuple[int, Expr | None]] = []
        for factor, term in _summands(expr, 1):
            poly = integer(1) if term is None else self.poly(term)
            if -poly in places:
                poly, factor = -poly, -factor
            place = places.setdefault(poly, len(found))
            if place == len(found):
                found.append((factor, term))
            else:
                found[place] = (found[place][0] + factor, found[place][1])
        return [term for term in found if term[0]]

    def is_safe(self, new: Expr, old: Expr) -> bool:
        """Return whether no part of `new` overflows where none of `old` does.

        A value between two that fit a type fits it.
        """
        before = {self.poly(part) for part in _parts(old)}
        return all(
            part in before
            or (
                any(self.plain.is_never_negative(part - one) for one in before)
                and any(self.plain.is_never_negative(one - part) for one in before)
            )
            for part in map(self.poly, _parts(new))
            if part.constant is None or abs(part.constant) > _INT_MAX
        )


def asked_again(expr: Expr) -> tuple[Expr, ...]:
    """Return the parts that a choice asks about twice, or may choose too: ``x - y`` of its ``abs``.

    They are computed wherever `expr` is, so that a constant before it may be what each of them is.
    The largest come first; there are no variables and constants among them, comparisons, and
    subscripts.
    """
    found: dict[Expr, int] = {}
    for part in _always(expr):
        if isinstance(part, Select):
            times = Counter(one for operand in children(part) for one in _values(operand))
            asked = (one for one in _always(part.condition) if times[one] > 1)
            found |= {one: _length(one) for one in asked if not is_truth(one)}
    kept = (one for one in found if not (isinstance(one, Var | Int | Real) or _is_bare(one)))
    return tuple(sorted(kept, key=lambda one: -found[one]))


def chosen_places(expr: Expr) -> Iterator[tuple[str, Select]]:
    """Yield the choices in subscripts, each with its array, of what is read wherever `expr` is."""
    for part in _always(expr):
        if isinstance(part, Access):
            for index in part.indices:
                yield from chosen_places(index)
                yield from ((part.array, e) for e in _always(index) if isinstance(e, Select))


def _always(expr: Expr) -> Iterator[Expr]:
    """Yield the parts of an expression, less subscripts, that no other part leaves out."""
    yield expr
    match expr:
        case Access():
            return
        case Select(condition, _, _):
            yield from _always(condition)
        case Binary(op, left, _) if op in CONNECTIVES:
            yield from _always(left)
        case _:
            for part in children(expr):
                yield from _always(part)


def _values(expr: Expr) -> Iterator[Expr]:
    """Yield all parts of an expression but subscripts."""
    yield expr
    if not isinstance(expr, Access):
        for part in children(expr):
            yield from _values(part)


def where(conditions: Iterable[Expr], types: Mapping[str, str]) -> Plain:
    """Return what writes expressions where `conditions` hold, which C has computed before."""
    plain = Plain(types)
    conditions = tuple(map(plain.expr, conditions))
    held = (one for one in conditions if isinstance(one, Binary) and one.op in COMPARISONS)
    return Plain(types, _facts(plain, conditions), frozenset(held))


def _facts(plain: Plain, conditions: Iterable[Expr]) -> tuple[Poly, ...]:
    """Return what is never negative where comparisons of numbers with a sign hold."""
    found: list[Poly] = []
    for condition in conditions:
        match condition:
            case Binary("<" | "<=" | ">" | ">=" | "==" as op, left, right):
                sums = _Sums(plain)
                more = sums.poly(right) - sums.poly(left)
                if not (sums.is_signed(left) and sums.is_signed(right)) or sums.names:
                    continue
                if op in (">", ">="):
                    more = -more
                found.append(more - integer(1) if op in ("<", ">") else more)
                found += [-more] if op == "==" else []
    return tuple(dict.fromkeys(found))


def _are_integers(plain: Plain, *exprs: Expr) -> bool:
    return all(plain.type_of(expr) in _INTEGERS for expr in exprs)


def _connected(op: str, left: Expr, right: Expr) -> Expr:
    """Return ``left && right`` or ``left || right``, without an operand that decides nothing."""
    deciding = op == "||"
    if isinstance(left, Int):
        if bool(left.value) == deciding:
            return Int(int(deciding))
        if isinstance(right, Int):
            return Int(int(right.value != 0))
        return right if is_truth(right) else Binary("!=", right, Int(0))
    if isinstance(right, Int) and bool(right.value) != deciding and is_truth(left):
        return left
    return Binary(op, left, right)


def _merged(expr: Negate | Binary) -> Expr:
    """Return a sum without what adds nothing, and two constants at its end as one.

    That is right in each type, with or without a sign, but for a minus (`Plain._may_subtract`).
    """
    match expr:
        case Binary("+" | "-", part, Int(0)) | Binary("+", Int(0), part):
            return part
        case Binary("-", Int(0), part):
            return Negate(part)
        case Binary("+" | "-" as op, Binary("+" | "-" as inner, part, Int(one)), Int(two)):
            total = (one if inner == "+" else -one) + (two if op == "+" else -two)
            if abs(total) <= _INT_MAX and not isinstance(part, Int):
                return _plus(part, total)
        case Binary("+", Int(value), part) if -_INT_MAX <= value < 0:
            return Binary("-", part, Int(-value))
        case Binary("+" | "-" as op, part, Int(value)) if -_INT_MAX <= value < 0:
            return Binary("-" if op == "+" else "+", part, Int(-value))
        case Binary("+", part, Negate(operand)):
            return Binary("-", part, operand)
    return expr


def _plus(part: Expr, value: int) -> Expr:
    if value == 0:
        return part
    return Binary("-" if value < 0 else "+", part, Int(abs(value)))


def _atoms(expr: Expr) -> Iterator[Expr]:
    """Yield the parts of a sum that are no sums, differences or products."""
    match expr:
        case Negate(operand):
            yield from _atoms(operand)
        case Binary("+" | "-" | "*", left, right):
            yield from _atoms(left)
            yield from _atoms(right)
        case _:
            yield expr


def _parts(expr: Expr) -> Iterator[Expr]:
    """Yield a sum, and all sums and products in it."""
    yield expr
    match expr:
        case Negate(operand):
            yield from _parts(operand)
        case Binary("+" | "-" | "*", left, right):
            yield from _parts(left)
            yield from _parts(right)


def _summands(expr: Expr, sign: int) -> Iterator[tuple[int, Expr | None]]:
    """Yield the summands with their constant factors, None for a constant."""
    match expr:
        case Int(value):
            yield sign * value, None
        case Negate(operand):
            yield from _summands(operand, -sign)
        case Binary("+" | "-" as op, left, right):
            yield from _summands(left, sign)
            yield from _summands(right, sign if op == "+" else -sign)
        case Binary("*", Int(value), part) | Binary("*", part, Int(value)):
            yield sign * value, part
        case _:
            yield sign, expr


def _summed(terms: Iterable[tuple[int, Expr | None]]) -> Expr:
    """Return the sum of terms with their factors, in order."""
    total: Expr | None = None
    for factor, term in terms:
        size = abs(factor)
        one = Int(size) if term is None else term if size == 1 else Binary("*", Int(size), term)
        if total is None:
            total = one if factor > 0 else Int(factor) if term is None else Negate(one)
        else:
            total = Binary("-" if factor < 0 else "+", total, one)
    assert total is not None
    return total


def _is_bare(expr: Expr) -> bool:
    """Return whether an expression is a name in another type, which is as short as the name."""
    return isinstance(expr, Cast) and expr.is_bare


def _length(expr: Expr) -> int:
    """Return how long a sum is to read: its parts, parentheses, and a minus that begins it."""
    parts = tuple(part for part in walk(expr) if not _is_bare(part))
    sums = (part.right for part in parts if isinstance(part, Binary) and part.op in ("+", "-"))
    held = sum(isinstance(right, Binary) and right.op in ("+", "-") for right in sums)
    first = expr
    while isinstance(first, Binary):
        first = first.left
    return len(parts) + held + (isinstance(first, Int) and first.value < 0)
