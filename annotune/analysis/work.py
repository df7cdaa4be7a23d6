"""Work at the region's sizes: operations, strides, instances and distinct elements touched.

Instances and elements are counted, in closed form for boxes, else by listing iterations; what is
too many to list is bounded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from annotune.analysis.facts import AccessFacts, Work
from annotune.analysis.model import Model
from annotune.analysis.statements import (
    Counted,
    DataReference,
    Halved,
    NamedPart,
    NestStatement,
    Rounded,
    Size,
    moving_parts,
    plain_names,
)
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import (
    COMPARISONS,
    RELATIONS,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Var,
    accesses,
    children,
    is_real,
    negated,
    variables,
)
from annotune.ir.functions import FUNCTIONS, is_integer
from annotune.ir.nest import Assign
from annotune.ir.poly import ZERO, Poly, to_expr
from annotune.ir.region import Region

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[np.int64]
    Truths: TypeAlias = NDArray[np.bool_] | bool

_REAL_TYPES = frozenset(("double", "float", "long double"))


def operations(assign: Assign, region: Region) -> int:
    """Return the floating-point operations of one instance of `assign`."""
    reals = {scalar.name for scalar in region.scalars.values() if scalar.type in _REAL_TYPES}
    compound = 0 if assign.op == "=" else 1
    return compound + sum(_count(source, reals) for source in assign.sources())


def _count(expr: Expr, reals: Collection[str]) -> int:
    if isinstance(expr, Access):
        return 0  # subscripts are integer arithmetic
    inside = sum(_count(child, reals) for child in children(expr))
    match expr:
        case Binary(op, left, right) if op in COMPARISONS:
            return inside + int(is_real(left, reals) or is_real(right, reals))
        case Binary():
            return inside + int(is_real(expr, reals))
        case Call(function, _) if function in FUNCTIONS and not is_integer(function):
            return inside + FUNCTIONS[function].flops
    return inside


def missing_for_work(model: Model) -> tuple[str, ...]:
    """Return the sizes without a value that the amount of work depends on."""
    polys: list[Poly] = []
    for statement in model.statements:
        polys += [p for loop in statement.loops for p in (*loop.lower, *loop.upper)]
    for layout in model.layouts.values():
        polys += layout.flat or ()
    iterators = model.region.nest.iterators()
    names = {name for poly in polys for name in poly.names} - model.values.keys()
    parts = {name: part for s in model.statements for name, part in s.parts.items()}
    unknown = {n for s in model.statements for r in s.references for n in r.unknown}
    plain = plain_names(names - unknown, parts)
    # What C's types make of known sizes need not be known.
    plain |= {name for name in names if isinstance(parts.get(name), Size)}
    return tuple(sorted(plain - iterators - model.values.keys()))


def statement_work(model: Model, statement: NestStatement) -> Work:
    """Return the work of all instances of one statement."""
    instances = instance_count(statement, model.values)
    flop = instances * operations(statement.assign, model.region)
    return replace(_work(model, flop, statement.references), runs=instances)


def total_work(model: Model, work: Mapping[int, Work]) -> Work:
    """Return the region's work: every touched element is read once and written once."""
    flop = sum(one.flop for one in work.values())
    return _work(model, flop, [r for s in model.statements for r in s.references])


def _work(model: Model, flop: int, references: Iterable[DataReference]) -> Work:
    read: defaultdict[str, list[DataReference]] = defaultdict(list)
    written: defaultdict[str, list[DataReference]] = defaultdict(list)
    for reference in dict.fromkeys(references):
        if isinstance(reference.access, Access):
            (written if reference.is_write else read)[reference.name].append(reference)
    return Work(flop, _bytes(model, read), _bytes(model, written))


def _bytes(model: Model, touched: Mapping[str, list[DataReference]]) -> int:
    sizes = model.values
    total = 0
    for name, references in touched.items():
        flat = model.addresses[name]
        array = model.region.arrays.get(name)
        if array is None:
            continue  # a local array needs no memory traffic
        addresses = [
            (model.statement(r.statement), flat[r])
            for r in references
            if r in flat and not r.unknown
        ]
        count = distinct_elements(addresses, sizes)
        gathers = {r.statement for r in references if r.unknown}
        if gathers:
            # Which elements a gather reads is not known: at most one in each run, or all.
            count += sum(instance_count(model.statement(g), sizes) for g in gathers)
            whole = model.whole_length(name)
            length = None if whole is None else whole.at(sizes).constant
            count = count if length is None else min(count, length)
        total += element_bytes(array.element) * count
    return total


def access_facts(model: Model) -> dict[int, tuple[AccessFacts, ...]]:
    """Return the facts of each statement's array accesses, reads first, as often as written."""
    flat = {r: p for found in model.addresses.values() for r, p in found.items()}
    sizes = model.values
    found: dict[int, tuple[AccessFacts, ...]] = {}
    for statement in model.statements:
        facts = []
        named = {name: part.expr for name, part in statement.parts.items()}
        for reference in statement.references:
            if isinstance(reference.access, Access) and reference.name in model.region.arrays:
                rows = model.rows.get(reference, reference.subscripts)
                indices = tuple(to_expr(row, opaque=named) for row in rows)
                strides = _strides(statement, flat.get(reference), sizes)
                facts.append(
                    AccessFacts(
                        reference.access, statement.number, reference.is_write, indices, strides
                    )
                )
        found[statement.number] = tuple(facts)
    return found


def _strides(
    statement: NestStatement, address: Poly | None, sizes: Mapping[str, int]
) -> dict[str, int | None]:
    """Return for each loop how far one iteration moves `address`, in elements."""
    split = None if address is None else address.linear_in(statement.moving)
    if address is None or split is None:
        return dict.fromkeys(statement.iterators)
    irregular = plain_names(split[0].keys() - set(statement.iterators), statement.parts)
    through_memory = irregular - set(statement.iterators) - sizes.keys()
    strides: dict[str, int | None] = {}
    for loop in statement.loops:
        factor = split[0].get(loop.var, ZERO).at(sizes).constant
        is_regular = factor is not None and loop.var not in irregular and not through_memory
        strides[loop.var] = factor * loop.loop.step if factor is not None and is_regular else None
    return strides


# Instances, and bytes of a map of touched elements, above which a footprint is bounded
# rather than counted: about 50 ms of numpy.
ENUMERATION_LIMIT = 4_000_000
MAP_LIMIT = 64_000_000
# Bytes of a map for each address of 8 bytes.
CLOSE = 16


@dataclass(frozen=True, slots=True)
class Progression:
    """The addresses ``offset + sum(stride * 0..count-1)``; strides positive and ascending."""

    offset: int
    sides: tuple[tuple[int, int], ...]

    @property
    def last(self) -> int:
        return self.offset + sum(stride * (count - 1) for stride, count in self.sides)

    @property
    def points(self) -> int:
        return prod(count for _, count in self.sides)

    @property
    def is_distinct(self) -> bool:
        """Return whether all points are proven to be different addresses."""
        reach = 0
        for stride, count in self.sides:
            if stride <= reach:
                return False
            reach += stride * (count - 1)
        return True

    @property
    def is_interval(self) -> bool:
        return self.sides in ((), *(((1, count),) for _, count in self.sides))


def progression(offset: int, sides: Sequence[tuple[int, int]]) -> Progression:
    """Return the same addresses with positive strides, merged where they join without gaps."""
    merged: list[tuple[int, int]] = []
    for stride, count in sides:
        if stride < 0:
            offset += stride * (count - 1)
    for stride, count in sorted((abs(s), c) for s, c in sides if s != 0 and c > 1):
        if merged:
            small, have = merged[-1]
            if stride % small == 0 and stride // small <= have:
                merged[-1] = (small, have + stride // small * (count - 1))
                continue
        merged.append((stride, count))
    return Progression(offset, tuple(merged))


def box(statement: NestStatement, sizes: Mapping[str, int]) -> list[tuple[int, int, int]] | None:
    """Return first value, step and trip count of each loop; None when one depends on another."""
    sides = []
    for loop in statement.loops:
        lower = [bound.at(sizes).constant for bound in loop.lower]
        upper = [bound.at(sizes).constant for bound in loop.upper]
        if None in lower or None in upper:
            return None
        first = max(value for value in lower if value is not None)
        end = min(value for value in upper if value is not None)
        step = loop.loop.step
        sides.append((first, step, max(0, -(-(end - first) // step))))
    return sides


def instance_count(statement: NestStatement, sizes: Mapping[str, int]) -> int:
    """Return how often `statement` runs.

    A guard counts as far as loops and sizes decide it; where memory does, it counts as true.
    An estimate where more than `ENUMERATION_LIMIT` iterations of loops decide how often
    inner ones run: the middle iteration then stands for all.
    """
    guard = statement.assign.guard
    sides = box(statement, sizes)
    if sides is not None and guard is None:
        return prod(count for _, _, count in sides)
    import numpy as np

    bounds = [b.names for loop in statement.loops for b in (*loop.lower, *loop.upper)]
    used = plain_names({name for names in bounds for name in names}, statement.parts)
    used |= frozenset() if guard is None else _decided_by(guard)
    rows = _IterationRows(statement, sizes)
    weights = np.ones(1, dtype=np.int64)
    is_complete = True
    for loop in statement.loops:
        first, trips = rows.ends(loop)
        if loop.var in used and int(trips.sum()) <= ENUMERATION_LIMIT:
            rows, old = rows.listed(loop, first, trips)
            weights = weights[old]
            continue
        weights = weights * trips
        if loop.var in used:
            middle = first + np.maximum(trips, 1) // 2 * loop.loop.step
            rows = replace(rows, columns={**rows.columns, loop.var: middle})
            is_complete = False
    if guard is not None and is_complete:
        _, may_hold = rows.truth(guard)
        weights = weights * may_hold
    return int(weights.sum())


@dataclass(frozen=True, slots=True)
class _IterationRows:
    """Iterations of the loops around a statement, one in each of `count` rows.

    `columns` have the values of loop variables; a loop without a column is not listed.
    """

    statement: NestStatement
    sizes: Mapping[str, int]
    columns: Mapping[str, Column] = field(default_factory=dict)
    count: int = 1

    def ends(self, loop: Counted) -> tuple[Column, Column]:
        """Return the first value of `loop` in each row, and how often it runs there."""
        import numpy as np

        first = np.maximum.reduce([self.at(bound) for bound in loop.lower])
        end = np.minimum.reduce([self.at(bound) for bound in loop.upper])
        return first, np.maximum(0, -(-(end - first) // loop.loop.step))

    def listed(self, loop: Counted, first: Column, trips: Column) -> tuple[_IterationRows, Column]:
        """Return a row for each iteration of `loop`, and of which row here each is one."""
        import numpy as np

        old = np.repeat(np.arange(self.count), trips)
        place = np.arange(len(old)) - np.repeat(np.cumsum(trips) - trips, trips)
        columns = {name: column[old] for name, column in self.columns.items()}
        columns[loop.var] = first[old] + place * loop.loop.step
        return replace(self, columns=columns, count=len(old)), old

    def at(self, poly: Poly) -> Column:
        import numpy as np

        total = np.zeros(self.count, dtype=np.int64)
        for monomial, factor in poly.at(self.sizes).terms:
            term = np.full(self.count, factor, dtype=np.int64)
            for name in monomial:
                part = self.statement.parts.get(name)
                if isinstance(part, Rounded):
                    left, right = self.at(part.left), self.at(part.right)
                    # The model has shown that nothing here is negative.
                    term = term * (left // right if part.op == "/" else left % right)
                elif isinstance(part, Halved):
                    term = term * (self.at(part.twice) // 2)
                else:
                    term = term * self.columns[name]
            total = total + term
        return total

    def truth(self, condition: Expr) -> tuple[Truths, Truths]:
        """Return in which rows a condition surely holds, and in which it may."""
        match condition:
            case Binary("&&", left, right):
                one, two = self.truth(left), self.truth(right)
                return one[0] & two[0], one[1] & two[1]
            case Binary("||", left, right):
                one, two = self.truth(left), self.truth(right)
                return one[0] | two[0], one[1] | two[1]
            case Binary("==", _, Int(0)) if negated(condition) != Binary("==", condition, Int(0)):
                surely, maybe = self.truth(negated(condition))
                return _not(maybe), _not(surely)
            case Binary(op, left, right) if op in COMPARISONS:
                pass
            case _:
                op, left, right = "!=", condition, Int(0)
        first, second = self._value(left), self._value(right)
        if first is None or second is None:
            return False, True
        holds: Truths = RELATIONS[op](first, second)
        return holds, holds

    def _value(self, expr: Expr) -> Column | int | None:
        """Return an integer expression in each row; None where memory decides it."""
        import numpy as np

        match expr:
            case Int(value):
                return value
            case Var(name):
                return self.columns[name] if name in self.columns else self.sizes.get(name)
        values = [self._value(child) for child in children(expr)]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        match expr:
            case Negate():
                return -known[0]
            case Binary("+" | "-" | "*" | "/" | "%" as op):
                return _arithmetic(op, *known)
            case Call("min" | "max" as function, (_, _)):
                smaller: Column = np.minimum(known[0], known[1])
                return smaller if function == "min" else known[0] + known[1] - smaller
        return None


def _arithmetic(op: str, one: Column | int, two: Column | int) -> Column | int | None:
    import numpy as np

    match op:
        case "+":
            return one + two
        case "-":
            return one - two
        case "*":
            return one * two
    if not np.all(two):
        return None
    # Towards zero, as in C.
    quotient: Column = np.sign(one) * np.sign(two) * (np.abs(one) // np.abs(two))
    return quotient if op == "/" else one - two * quotient


def _decided_by(condition: Expr) -> frozenset[str]:
    """Return the scalars that decide a condition, so far as no element of an array does."""
    match condition:
        case Binary("&&" | "||", left, right):
            return _decided_by(left) | _decided_by(right)
        case Binary("==", Binary() as inner, Int(0)):
            return _decided_by(inner)
        case _:
            return frozenset() if accesses(condition) else variables(condition)


def _not(truths: Truths) -> Truths:
    return not truths if isinstance(truths, bool) else ~truths


def distinct_elements(
    addresses: Sequence[tuple[NestStatement, Poly]], sizes: Mapping[str, int]
) -> int:
    """Return how many different elements all `addresses` touch together.

    Exact for boxes whose strides nest and for anything small enough to list; otherwise an
    upper bound, the sum of the parts or the span between the outermost addresses.
    """
    parts: dict[Progression, None] = {}
    listed: list[Column] = []
    unknown = 0
    for statement, address in addresses:
        sides = box(statement, sizes)
        is_plain = moving_parts(statement.parts).isdisjoint(address.names)
        column = None if sides is not None and is_plain else _list(statement, address, sizes)
        if column is None and not is_plain:
            unknown += instance_count(statement, sizes)
        elif column is None:
            parts.setdefault(_part(statement, address, sides or hull(statement, sizes), sizes))
        else:
            listed.append(column)
    if len(parts) == 1 and not listed:
        (only,) = parts
        if only.is_distinct:
            return unknown + only.points
    if not listed and all(part.is_interval for part in parts):
        return unknown + _union_of_intervals(parts)
    return unknown + _marked(tuple(parts), listed)


def _part(
    statement: NestStatement,
    address: Poly,
    sides: Sequence[tuple[int, int, int]],
    sizes: Mapping[str, int],
) -> Progression:
    split = address.at(sizes).linear_in(statement.iterators)
    assert split is not None
    offset = split[1].constant
    assert offset is not None, "a size without a value"
    steps = []
    for var, (first, step, count) in zip(statement.iterators, sides, strict=True):
        factor = split[0].get(var, ZERO).constant
        assert factor is not None, "a size without a value"
        offset += factor * first
        steps.append((factor * step, count))
    return progression(offset, steps)


def hull(statement: NestStatement, sizes: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Return a box around all instances: first value, step and trip count of each loop."""
    ranges: dict[str, tuple[int, int]] = {}
    sides = []
    for loop in statement.loops:
        lows = [_extremes(bound, ranges, sizes, statement.parts)[0] for bound in loop.lower]
        ends = [_extremes(bound, ranges, sizes, statement.parts)[1] for bound in loop.upper]
        first, end = max(lows), min(ends)
        # Rows of a triangle need not start on one step, so the hull takes every value.
        sides.append((first, 1, max(0, end - first)))
        ranges[loop.var] = (first, max(first, end - 1))
    return sides


def _extremes(
    poly: Poly,
    ranges: Mapping[str, tuple[int, int]],
    sizes: Mapping[str, int],
    parts: Mapping[str, NamedPart],
) -> tuple[int, int]:
    """Return bounds of a polynomial that is linear in the names of `ranges` and in parts."""
    low = high = 0
    for monomial, factor in poly.at(sizes).terms:
        least, greatest = 1, 1
        part = parts.get(monomial[0]) if monomial else None
        if isinstance(part, Rounded):
            first, last = _extremes(part.left, ranges, sizes, parts)
            divisor = part.right.at(sizes).constant
            assert divisor is not None, "a size without a value"
            least, greatest = first // divisor, last // divisor
            if part.op == "%":
                least, greatest = 0, min(last, divisor - 1)
        elif monomial:
            least, greatest = ranges[monomial[0]]
        low += min(factor * least, factor * greatest)
        high += max(factor * least, factor * greatest)
    return low, high


def _list(statement: NestStatement, address: Poly, sizes: Mapping[str, int]) -> Column | None:
    """Return the distinct addresses of a nest whose loops depend on each other.

    None when there are too many to list.
    """
    parts = statement.parts
    used = set(plain_names(address.names, parts))
    for loop in reversed(statement.loops):
        if loop.var in used:
            names = {n for b in (*loop.lower, *loop.upper) for n in b.names}
            used |= plain_names(names, parts)
    rows = _IterationRows(statement, sizes)
    for loop in statement.loops:
        if loop.var not in used:
            continue
        first, trips = rows.ends(loop)
        if int(trips.sum()) > ENUMERATION_LIMIT:
            return None
        rows, _ = rows.listed(loop, first, trips)
    return _distinct(rows.at(address))


def _distinct(addresses: Column) -> Column:
    """Return each of the addresses once, in ascending order."""
    import numpy as np

    if not len(addresses):
        return addresses
    lowest, span = int(addresses.min()), int(addresses.max()) - int(addresses.min()) + 1
    # A map of what lies close together is filled in a tenth of the time of a sort.
    if span > min(MAP_LIMIT, CLOSE * len(addresses)):
        return np.unique(addresses)
    touched = np.zeros(span, dtype=bool)
    touched[addresses - lowest] = True
    return np.flatnonzero(touched) + lowest


def _union_of_intervals(parts: Iterable[Progression]) -> int:
    total, reached = 0, None
    for part in sorted(parts, key=lambda p: p.offset):
        begin = part.offset if reached is None else max(part.offset, reached)
        total += max(0, part.last + 1 - begin)
        reached = part.last + 1 if reached is None else max(reached, part.last + 1)
    return total


def _marked(parts: Sequence[Progression], listed: Sequence[Column]) -> int:
    import numpy as np

    ends = [(part.offset, part.last) for part in parts]
    ends += [(int(column[0]), int(column[-1])) for column in listed if len(column)]
    if not ends:
        return 0
    lowest, span = min(a for a, _ in ends), max(b for _, b in ends) - min(a for a, _ in ends) + 1
    points = sum(part.points for part in parts) + sum(len(column) for column in listed)
    if span > MAP_LIMIT or points > ENUMERATION_LIMIT * 4:
        return min(points, span)
    touched = np.zeros(span, dtype=bool)
    for part in parts:
        shape = tuple(count for _, count in part.sides)
        strides = tuple(stride for stride, _ in part.sides)
        start = touched[part.offset - lowest :]
        np.lib.stride_tricks.as_strided(start, shape, strides)[...] = True
    for column in listed:
        touched[column - lowest] = True
    return int(touched.sum())
