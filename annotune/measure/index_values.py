"""Which values an integer array may hold, so that every subscript made of them stays inside.

For ``x[col[i]]`` the elements of `col` are indices of `x`; for ``x[first[i] + j]`` they leave
room for `j`. A subscript is solved as a linear formula and the answer is checked by intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import c_expr
from annotune.ir.expr import Access, Expr, Int, Var, accesses, rewrite, substitute, variables
from annotune.ir.expr import children as operands
from annotune.ir.nest import walk_paths
from annotune.ir.region import Region
from annotune.measure.evaluate import evaluate
from annotune.measure.intervals import Interval, interval, loop_ranges

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
