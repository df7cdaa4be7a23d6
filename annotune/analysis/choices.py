"""What an index may be that a condition or memory chooses, as far as the text shows.

``ip = i + 1; if (ip > n) ip = 1; … a[ip]`` reads ``a[i + 1]`` where ``i + 1 <= n`` and ``a[1]``
elsewhere: two references, each with a condition of loops and sizes, which the model knows exactly.
Where values in memory choose, as in ``tab[min(max(k, 1), n - 1)]``, nothing is known but what the
index lies between; it ends a section that a call may touch less of.

Only arrays of unknown length are asked about: of any other all of it counts as touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from operator import is_

from annotune.analysis.statements import (
    WIDE_CASTS,
    DataReference,
    Namer,
    NestStatement,
    Size,
    parts_within,
)
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED, element_bytes, is_integer_type, is_unsigned_type
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    accesses,
    children,
    negated,
    rewrite,
    substitute,
    variables,
    walk,
)
from annotune.ir.fold import fold
from annotune.ir.poly import Poly, integer
from annotune.ir.region import Region

Homes = Mapping[str, tuple[tuple[int, ...], ...]]

# References that one becomes, and values that an index lies between: more say little.
_MOST_CASES = 8
# Stands around what a scalar has kept from memory, which may be another there by now.
_KEPT = "kept@"


@dataclass(frozen=True, slots=True)
class ChosenValue:
    """One value of an index, and the conditions on loops and sizes under which it has that."""

    conditions: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Ends:
    """Expressions one of which a value is not below, and such that one of them it is not above.

    None where nothing is known.
    """

    low: tuple[Poly, ...] | None = None
    high: tuple[Poly, ...] | None = None


def with_choices(
    region: Region, statements: tuple[NestStatement, ...], homes: Homes
) -> tuple[NestStatement, ...]:
    """Return `statements` with what is known of the indices that the text chooses.

    They are the very ones where it chooses none. `homes` are the loops that own private scalars.
    """
    reader = _Choices(region, statements, homes)
    made = tuple(map(reader.statement, statements))
    return statements if all(map(is_, made, statements)) else made


@dataclass(frozen=True)
class _Choices:
    region: Region
    statements: Sequence[NestStatement]
    homes: Homes

    @cached_property
    def namer(self) -> Namer:
        return Namer(self.region, self.written, self.region.nest.iterators())

    @cached_property
    def written(self) -> frozenset[str]:
        return self.region.nest.written_scalars()

    def statement(self, one: NestStatement) -> NestStatement:
        """Return a statement with the cases of its references, and the ends of the others."""
        cases: dict[DataReference, tuple[DataReference, ...]] = {}
        between: dict[str, tuple[Poly, ...]] = {}
        for reference in one.references:
            if not reference.unknown or reference.is_write or not self._is_open(reference.name):
                continue
            found = self._cases(reference, one)
            if found:
                cases[reference] = found
            else:
                between |= self._between(reference, one)
        if not cases and not between:
            return one
        polys = [p for found in cases.values() for r in found for p in r.subscripts]
        polys += [poly for ends in between.values() for poly in ends]
        names = sorted(parts_within((n for p in polys for n in p.names), self.namer.parts))
        parts = {**one.parts, **{name: self.namer.parts[name] for name in names}}
        return replace(one, cases=cases, between=between, parts=parts)

    def _is_open(self, name: str) -> bool:
        """Return whether nothing says how long an array is."""
        array = self.region.arrays.get(name)
        stated = self.region.spec.assumptions.extents
        return array is not None and name not in stated and None in (*array.extents, array.first)

    def _cases(self, reference: DataReference, where: NestStatement) -> tuple[DataReference, ...]:
        """Return the references that one is, each where its conditions hold; none if not known."""
        assert isinstance(reference.access, Access)
        found: list[list[tuple[tuple[Expr, ...], Poly]]] = []
        for index in reference.access.indices:
            whole = self.resolved(index, where.position)
            if not self._is_signed(whole):
                return ()
            one = []
            for case in _cases_of(whole):
                poly = self._plain(case.value, where)
                if poly is None or not all(self._is_fixed(c, where) for c in case.conditions):
                    return ()
                one.append((case.conditions, poly))
            found.append(one)
        chosen = list(product(*found))
        if not 0 < len(chosen) <= _MOST_CASES:
            return ()
        return tuple(
            replace(
                reference,
                subscripts=tuple(poly for _, poly in row),
                conditions=(*reference.conditions, *(c for tests, _ in row for c in tests)),
                unknown=frozenset(),
            )
            for row in chosen
        )

    def _is_fixed(self, condition: Expr, where: NestStatement) -> bool:
        """Return whether loops and unchanged integers alone decide a condition."""
        return not accesses(condition) and all(
            self._is_plain(name, where) for name in variables(condition)
        )

    def _is_plain(self, name: str, where: NestStatement) -> bool:
        scalar = self.region.scalars.get(name)
        is_size = scalar is not None and is_integer_type(scalar.type) and name not in self.written
        return name in where.iterators or (is_size and name not in self.namer.iterators)

    def _plain(self, value: Expr, where: NestStatement) -> Poly | None:
        """Return a value that loops and sizes make as a polynomial; None for any other."""
        if not self._is_fixed(value, where):
            return None
        poly = self.namer.poly(value)
        parts = () if poly is None else parts_within(poly.names, self.namer.parts)
        is_known = all(isinstance(self.namer.parts[name], Size) for name in parts)
        is_linear = poly is not None and poly.linear_in(where.iterators) is not None
        return poly if is_known and is_linear else None

    def _is_signed(self, expr: Expr) -> bool:
        """Return whether C compares no numbers without a sign in `expr`: the text shows none."""
        return not any(map(is_unsigned_type, self._types(expr)))

    def _types(self, expr: Expr) -> Iterator[str]:
        """Yield the types of all that an expression reads, and of its casts."""
        region = self.region
        for part in walk(expr):
            match part:
                case Var(name) if name in region.scalars:
                    yield region.scalars[name].type
                case Access(name, _) if name in region.arrays:
                    yield region.arrays[name].element
                case Cast(type_, _):
                    yield type_.name

    def _keeps(self, type_: str, value: Expr) -> bool:
        """Return whether a scalar of a type holds whatever integer is stored there, unchanged."""
        parts = [t for t in self._types(value) if is_integer_type(t)]
        is_wide = type_ not in PROMOTED and is_integer_type(type_)
        return is_wide and all(element_bytes(t) <= element_bytes(type_) for t in parts)

    def resolved(self, expr: Expr, place: tuple[int, ...], depth: int = 0) -> Expr:
        """Return `expr` at a place of the text with private scalars replaced by what they hold.

        A scalar that the loop which owns it sets in its own body alone holds the value of the last
        of these statements before the place that ran: each runs once in an iteration.
        """
        values: dict[str, Expr] = {}
        for name in sorted(_outside(expr) & self.written):
            value = self._held(name, place, depth)
            if value is not None:
                values[name] = value
        return rewrite(
            expr,
            lambda e: (
                e if isinstance(e, Access) else values.get(e.name) if isinstance(e, Var) else None
            ),
        )

    def _held(self, name: str, place: tuple[int, ...], depth: int) -> Expr | None:
        scalar = self.region.scalars.get(name)
        homes = [h for h in self.homes.get(name, ()) if place[: len(h)] == h]
        if scalar is None or not homes or depth > _MOST_CASES:
            return None
        (home,) = homes
        sets = [
            s
            for s in self.statements
            if s.position[: len(home)] == home and s.assign.target == Var(name)
        ]
        if any(s.position[:-1] != home or s.assign.op != "=" for s in sets):
            return None
        if not all(self._keeps(scalar.type, s.assign.value) for s in sets):
            return None
        held: Expr | None = None
        for one in sets:
            if one.position >= place:
                continue
            value = self._kept(one, self.resolved(one.assign.value, one.position, depth + 1))
            if held is None or one.assign.guard is None:
                # The first that may run does, where none that follows it: the scalar is private.
                held = value
                continue
            before = {name: held}
            guard = self.resolved(substitute(one.assign.guard, before), one.position, depth + 1)
            held = Select(self._kept(one, guard), value, held)
        return held

    def _kept(self, one: NestStatement, expr: Expr) -> Expr:
        """Return `expr` with what a statement reads told from what stands there later."""
        mark = f"{_KEPT}{one.number}"

        def change(part: Expr) -> Expr | None:
            match part:
                case Call(function, _) if function.startswith(_KEPT):
                    return part
                case Access() | Var() if isinstance(part, Access) or part.name in self.written:
                    return Call(mark, (part,))
            return None

        return rewrite(expr, change)

    def _between(
        self, reference: DataReference, where: NestStatement
    ) -> dict[str, tuple[Poly, ...]]:
        """Return the values that unknown names of a reference lie between, of those that do."""
        found: dict[str, tuple[Poly, ...]] = {}
        for name in reference.unknown:
            part = where.parts.get(name)
            whole = self.resolved(Var(name) if part is None else part.expr, where.position)
            if not self._is_signed(whole):
                continue
            ends = self._ends(_with_extrema(whole), where)
            if ends.low is not None and ends.high is not None:
                found[name] = tuple(dict.fromkeys((*ends.low, *ends.high)))
        return {name: ends for name, ends in found.items() if len(ends) <= _MOST_CASES}

    def _ends(self, expr: Expr, where: NestStatement) -> Ends:
        """Return what the integer `expr` lies between."""
        poly = self._plain(expr, where)
        if poly is not None:
            return Ends((poly,), (poly,))
        match expr:
            case Cast(type_, operand) if type_.name in WIDE_CASTS:
                return self._ends(operand, where)
            case Call(function, (operand,)) if function.startswith(_KEPT):
                return Ends()
            case Negate(operand):
                return _scaled(self._ends(operand, where), -1)
            case Binary("+" | "-" as op, left, right):
                other = _scaled(self._ends(right, where), -1 if op == "-" else 1)
                return _sum(self._ends(left, where), other)
            case Binary("*", Int(factor), other) | Binary("*", other, Int(factor)):
                return _scaled(self._ends(other, where), factor)
            case Call("min" | "max" as function, operands):
                sides = [self._ends(one, where) for one in operands]
                if function == "max":
                    return _scaled(_least([_scaled(side, -1) for side in sides]), -1)
                return _least(sides)
            case Select(_, if_true, if_false):
                sides = [self._ends(one, where) for one in (if_true, if_false)]
                return Ends(_all([s.low for s in sides]), _all([s.high for s in sides]))
        return Ends()


_Known = tuple[Poly, ...] | None


def _all(sides: Sequence[_Known]) -> _Known:
    """Return the values of all sides, None where one is not known."""
    known = [side for side in sides if side is not None]
    return None if len(known) < len(sides) else tuple(p for side in known for p in side)


def _least(sides: Sequence[Ends]) -> Ends:
    """Return what the least of several values lies between: it is above none of them."""
    highs = [side.high for side in sides if side.high is not None]
    # The one that says most by itself: a size rather than what loops move.
    highs.sort(key=lambda high: (len({n for poly in high for n in poly.names}), len(high)))
    return Ends(_all([side.low for side in sides]), highs[0] if highs else None)


def _sum(one: Ends, other: Ends) -> Ends:
    def added(a: _Known, b: _Known) -> _Known:
        return None if a is None or b is None else tuple(x + y for x, y in product(a, b))

    return Ends(added(one.low, other.low), added(one.high, other.high))


def _scaled(ends: Ends, factor: int) -> Ends:
    def times(side: _Known) -> _Known:
        return None if side is None else tuple(integer(factor) * poly for poly in side)

    low, high = times(ends.low), times(ends.high)
    return Ends(low, high) if factor >= 0 else Ends(high, low)


def _with_extrema(expr: Expr) -> Expr:
    """Return `expr` with ``a <= b ? a : b`` of integers as the minimum that it is."""

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Select):
            return None
        test, one, other = map(_with_extrema, children(part))
        match test:
            case Binary("<" | "<=", left, right) | Binary(">" | ">=", right, left):
                if (left, right) == (one, other):
                    return Call("min", (one, other))
                if (left, right) == (other, one):
                    return Call("max", (one, other))
        return Select(test, one, other)

    return rewrite(expr, change)


def _cases_of(expr: Expr) -> Iterator[ChosenValue]:
    """Yield the values of an integer expression without a choice in them."""
    match expr:
        case Select(condition, if_true, if_false):
            for sign, value in ((condition, if_true), (negated(condition), if_false)):
                for case in _cases_of(value):
                    yield ChosenValue((sign, *case.conditions), case.value)
        case Call("min" | "max" as function, (one, other)):
            is_first = Binary("<" if function == "min" else ">", one, other)
            yield from _cases_of(Select(is_first, one, other))
        case Binary(op, left, right):
            for first, second in product(_cases_of(left), _cases_of(right)):
                value = fold(Binary(op, first.value, second.value))
                yield ChosenValue((*first.conditions, *second.conditions), value)
        case Negate(operand):
            for case in _cases_of(operand):
                yield ChosenValue(case.conditions, Negate(case.value))
        case Cast(type_, operand) if type_.name in WIDE_CASTS:
            yield from _cases_of(operand)
        case _:
            yield ChosenValue((), expr)


def _outside(expr: Expr) -> frozenset[str]:
    """Return the scalars that `expr` reads outside of subscripts."""
    return variables(rewrite(expr, lambda e: Int(0) if isinstance(e, Access) else None))
