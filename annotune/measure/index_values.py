"""Which values an integer array may hold, so that every subscript made of them stays inside.

For ``x[col[i]]`` the elements of `col` are indices of `x`; for ``x[first[i] + j]`` they leave
room for `j`. A subscript is solved as a linear formula and the answer is checked by intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeAlias

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import c_expr
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    accesses,
    rewrite,
    substitute,
    variables,
)
from annotune.ir.expr import children as operands
from annotune.ir.fold import divide
from annotune.ir.functions import is_integer
from annotune.ir.nest import Loop, walk_paths
from annotune.ir.region import Region
from annotune.measure.sizes import evaluate

Interval: TypeAlias = tuple[int, int]
"""The least and the greatest value."""

Ranges: TypeAlias = Mapping[str, Interval]


def interval(expr: Expr, names: Ranges, arrays: Ranges) -> Interval | None:
    """Return an interval that holds every value of `expr`, None where none is known.

    `names` are the ranges of scalars, `arrays` those of the elements of arrays.
    """
    match expr:
        case Int(value):
            return value, value
        case Var(name):
            return names.get(name)
        case Access(array, _):
            return arrays.get(array)
        case Negate(operand):
            inner = interval(operand, names, arrays)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return 0, 1
        case Binary(op, left, right):
            return _combined(op, interval(left, names, arrays), interval(right, names, arrays))
        case Select(_, if_true, if_false):
            return _hull(interval(if_true, names, arrays), interval(if_false, names, arrays))
        case Call(function, arguments):
            return _call(function, [interval(a, names, arrays) for a in arguments])
        case _:
            return None


def loop_ranges(loops: tuple[Loop, ...], values: Mapping[str, int]) -> dict[str, Interval] | None:
    """Return the range of every iterator of nested `loops`, None where one runs no iteration.

    `values` are the sizes. An iterator whose bounds are not known is left out.
    """
    names: dict[str, Interval] = {name: (value, value) for name, value in values.items()}
    for loop in loops:
        lower, upper = (interval(e, names, {}) for e in (loop.lower, loop.upper))
        names.pop(loop.var, None)
        if lower is None or upper is None:
            continue
        if lower[0] >= upper[1]:
            return None
        names[loop.var] = lower[0], upper[1] - 1
    return names


def _hull(left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    return min(left[0], right[0]), max(left[1], right[1])


def _combined(op: str, left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    match op:
        case "+":
            return left[0] + right[0], left[1] + right[1]
        case "-":
            return left[0] - right[1], left[1] - right[0]
        case "*":
            corners = [a * b for a in left for b in right]
            return min(corners), max(corners)
        case "/" if right[0] > 0:
            corners = [divide(a, b) for a in left for b in right]
            return min(corners), max(corners)
        case "%" if right[0] > 0:
            # C's remainder has the sign of the dividend.
            most = right[1] - 1
            return (0 if left[0] >= 0 else -most), (0 if left[1] <= 0 else min(most, left[1]))
        case _:
            return None


def _call(function: str, arguments: list[Interval | None]) -> Interval | None:
    known = [a for a in arguments if a is not None]
    if len(known) != len(arguments) or not known:
        return None
    if function in ("min", "max"):
        choose = min if function == "min" else max
        return choose(a[0] for a in known), choose(a[1] for a in known)
    if function.startswith("(") and is_integer(function):
        return known[0]
    if function in ("abs", "labs"):
        low, high = known[0]
        return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    return None


# Definitions of one written scalar that are tried in a subscript; more is no index any more.
_MANY = 16


@dataclass(frozen=True, slots=True)
class _Subscript:
    """One subscript with integer arrays in it: where it may point, with iterators' ranges."""

    access: Access
    formula: Expr
    inside: Interval
    names: Mapping[str, Interval]

    @property
    def arrays(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(a.array for a in _outermost(self.formula)))

    def lies_inside(self, ranges: Mapping[str, Interval]) -> bool:
        found = interval(self.formula, self.names, ranges)
        return found is not None and self.inside[0] <= found[0] and found[1] <= self.inside[1]


def index_ranges(analysis: Analysis, values: Mapping[str, int]) -> dict[str, Interval]:
    """Return the values that each array used in subscripts may hold at the sizes `values`.

    Raises:
        ValueError: No values are known that keep every subscript inside its array.
    """
    subscripts = tuple(_subscripts(analysis, values))
    ranges: dict[str, Interval] = {}
    for one in subscripts:
        for array, found in _solved(one).items():
            known = ranges.get(array, found)
            ranges[array] = max(known[0], found[0]), min(known[1], found[1])
    for array, (low, high) in ranges.items():
        if low > high:
            raise ValueError(f"no values of '{array}' keep all subscripts inside their arrays")
    for one in subscripts:
        while not one.lies_inside(ranges):
            if all(ranges[name][0] == ranges[name][1] for name in one.arrays):
                text = c_expr(one.access)
                raise ValueError(f"no values of '{one.arrays[0]}' are known to keep {text} inside")
            for name in one.arrays:
                low, high = ranges[name]
                ranges[name] = low, (low + high) // 2
    return ranges


def _solved(one: _Subscript) -> dict[str, Interval]:
    """Return a range for each array of a subscript, as if the subscript were linear in them."""
    zeros = dict.fromkeys(one.arrays, (0, 0))
    rest = interval(one.formula, one.names, zeros)
    if rest is None:
        raise ValueError(f"nothing is known of the subscript in {c_expr(one.access)}")
    share = len(one.arrays)
    out: dict[str, Interval] = {}
    for array in one.arrays:
        unit = interval(one.formula, one.names, {**zeros, array: (1, 1)})
        factor = unit[0] - rest[0] if unit is not None else 0
        if factor == 0:
            # Behind a division or a remainder: the halving below finds what fits.
            out[array] = 0, max(0, one.inside[1])
            continue
        least = -((rest[0] - one.inside[0]) // share)
        most = (one.inside[1] - rest[1]) // share
        low, high = (least, most) if factor > 0 else (-most, -least)
        out[array] = -(-low // abs(factor)), high // abs(factor)
    return out


def _subscripts(analysis: Analysis, values: Mapping[str, int]) -> Iterator[_Subscript]:
    """Yield the subscripts with integer arrays in them, scalars replaced by what they hold."""
    region = analysis.region
    definitions = _definitions(region)
    for assign, loops in walk_paths(region.nest.body):
        names = loop_ranges(loops, values)
        if names is None:
            continue
        for source in (assign.target, *assign.sources()):
            for access in accesses(source):
                for position, index in enumerate(access.indices):
                    for formula in _resolved(index, definitions):
                        if not _outermost(formula):
                            continue
                        inside = _inside(analysis, access, position, values)
                        yield _Subscript(access, formula, inside, names)


def _outermost(expr: Expr) -> tuple[Access, ...]:
    """Return the elements read in `expr` that stand in no other one's subscript."""
    if isinstance(expr, Access):
        return (expr,)
    return tuple(found for child in operands(expr) for found in _outermost(child))


def _definitions(region: Region) -> dict[str, list[Expr]]:
    """Return what is assigned to each written scalar; iterators are none of them."""
    iterators = {loop.var for loop in region.nest.loops()}
    found: dict[str, list[Expr]] = {}
    for assign in region.nest.assigns():
        if isinstance(assign.target, Var) and assign.target.name not in iterators:
            found.setdefault(assign.target.name, []).append(assign.value)
    return found


def _resolved(index: Expr, definitions: Mapping[str, list[Expr]]) -> Iterator[Expr]:
    """Yield `index` with its written scalars replaced, once for each of their definitions."""
    names = sorted(_outside(index) & set(definitions))
    if not names:
        yield index
        return
    for choice in islice(product(*(definitions[name] for name in names)), _MANY):
        values = dict(zip(names, choice, strict=True))
        # A scalar that is made of itself has no formula; its name stays and has no range.
        yield substitute(index, {n: v for n, v in values.items() if n not in variables(v)})


def _outside(expr: Expr) -> frozenset[str]:
    return variables(rewrite(expr, lambda e: Int(0) if isinstance(e, Access) else None))


def _inside(
    analysis: Analysis, access: Access, position: int, values: Mapping[str, int]
) -> Interval:
    """Return the first and the last index of one dimension of an array."""
    extents = analysis.region.arrays[access.array].extents
    extent = extents[position] if position < len(extents) else None
    if extent is not None:
        return 0, evaluate(extent, values) - 1
    shape = analysis.shapes[access.array]
    first, length = evaluate(shape.lowest, values), evaluate(shape.length, values)
    inner = 1
    for size in extents[position + 1 :]:
        inner *= evaluate(size, values) if size is not None else 1
    return first // inner, (first + length) // inner - 1
