"""The sizes at which a region is checked, and what integers are at given sizes.

That of an integer expression is its value or an interval; that of an integer array those values
with which every subscript made of them stays inside. For ``x[col[i]]`` the elements of `col` are
indices of `x`; for ``x[first[i] + j]`` they leave room for `j`. A subscript is solved as a linear
formula and the answer is checked by intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import cycle, islice, product
from types import MappingProxyType
from typing import TypeAlias, TypeVar, assert_never

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import c_expr
from annotune.frozen import dataclass
from annotune.ir.constants import value_at
from annotune.ir.expr import (
    Access,
    Binary,
    Cast,
    Expr,
    Int,
    Var,
    accesses,
    rewrite,
    substitute,
    variables,
)
from annotune.ir.expr import children as operands
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Nest, Stmt, walk_paths
from annotune.ir.region import Region, flattened
from annotune.ir.typing import Interval, interval
from annotune.measure.values import signature


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the value of an integer expression, with C's division towards zero.

    Raises:
        ValueError: A name has no value, or the expression is not one of integers.
    """
    value = value_at(expr, values)
    if value is None:
        left = c_expr(fold(expr, values))
        raise ValueError(f"'{c_expr(expr)}' has no value: '{left}' is left of it")
    return value


def known_values(region: Region, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the integers of `region` by name: `sizes`, and before them what C itself fixes."""
    fixed = {s.name: s.value for s in region.scalars.values() if s.value is not None}
    return {**region.sizes, **sizes, **fixed}


Trips: TypeAlias = Callable[[Loop, int, int], tuple[int, int]]
"""What is run of a loop with so many loops around it and so many iterations of its own.

How many of these, and how many tests are made beside.
"""


def _all_trips(_: Loop, depth: int, trips: int) -> tuple[int, int]:
    return trips, 0


def iterations(nest: Nest, values: Mapping[str, int], trips_of: Trips = _all_trips) -> int:
    """Return about how many assignments the nest makes.

    Exact for rectangular nests; an inner loop whose bounds depend on an outer one is counted
    at the middle of the outer one's range. `trips_of` says what is run of each loop.

    Raises:
        ValueError: A bound has no value.
    """
    return sum(_count(stmt, values, trips_of, 0) for stmt in nest.body)


def _count(stmt: Stmt, values: Mapping[str, int], trips_of: Trips, depth: int) -> int:
    match stmt:
        case Assign():
            return 1
        case Local() | LocalArray() | Await() | Fetch():
            return 0
        case Loop(var, lower, upper, body, step):
            first, last = evaluate(lower, values), evaluate(upper, values)
            trips = max(0, -((first - last) // step))
            inside = {**values, var: (first + last) // 2}
            if not trips:
                return 0
            kept, tests = trips_of(stmt, depth, trips)
            return kept * sum(_count(s, inside, trips_of, depth + 1) for s in body) + tests
        case _:
            assert_never(stmt)


Sizes = Mapping[str, int]
T = TypeVar("T", bound=Sizes)
NO_SIZES: Sizes = MappingProxyType({})

AWKWARD_ITERATIONS = 300_000
"""How many assignments an awkward run may make: some milliseconds even one thread at a time."""

OTHER_ITERATIONS = 30_000_000
"""How many assignments a run at another problem size may make: a few seconds at the most."""

BORDER_ITERATIONS = 3_000_000
"""How many assignments a run at a border may make; there are many of them, of the winner alone."""

COMBINATIONS = 1000
"""So many of small sizes are looked at."""

_ONES = (1,)
_FEW = (1, 3, 7)
# Unequal, so that exchanged extents show; none is a multiple of a tile of 4, 8 or 16.
_SMALL = (2, 3, 4, 5, 6, 7, 3)
# Primes around and past a warp of 32, each unequal to its neighbours.
_PRIMES = (37, 19, 67, 11, 41, 23, 13)
_SMALL_PRIMES = (3, 7, 2, 11, 5, 3, 13)
# Where what is rarely run is looked at: numbers enough for every outcome of a comparison.
_MIDDLE = (11, 13, 7, 9, 5, 6, 4)
# Past 8 and 16 bits, and 1 in as many: what is cut short is small, also where it bounds no loop.
# The second is past a grid's y and z axes too.
_LONG = (257, 65_537)


def open_sizes(region: Region) -> tuple[str, ...]:
    """Return the integers that C leaves open, in the region's order: those a caller passes."""
    assigned = region.nest.written_scalars() | region.nest.iterators()
    return tuple(
        name
        for name in signature(region).integers
        if region.scalars[name].value is None and name not in assigned
    )


def tuned_sizes(region: Region) -> dict[str, int]:
    """Return the sizes to tune for; 1 for a flag or a factor, of which nothing needs a value."""
    return {name: region.sizes.get(name, 1) for name in open_sizes(region)}


def awkward_sizes(
    analysis: Analysis, limit: int = AWKWARD_ITERATIONS, fixed: Sizes = NO_SIZES
) -> tuple[dict[str, int], ...]:
    """Return small size sets that find what tuned sizes hide, the cheapest first.

    All ones, small unequal extents, and primes past a warp; only for the sizes that C leaves
    open. A set with more than `limit` assignments, or at which the original itself would
    leave a declared array, is replaced by a smaller one or left out; where a proof has a
    condition, such as ``ldc >= n``, it is made to hold. All sets have the `fixed` sizes. Nothing is
    returned for a region whose sizes C fixes.
    """
    names, kept = open_sizes(analysis.region), dict(fixed)
    if not names:
        return ()
    found: list[dict[str, int]] = []
    for choices in ((_ONES,), (_SMALL,), (_PRIMES, _SMALL_PRIMES)):
        for values in choices:
            sizes = dict(zip(names, cycle(values), strict=False)) | kept
            sizes = fulfilling(analysis, sizes)
            if sizes == sizes | kept and is_possible(analysis, sizes, limit):
                found.append(sizes)
                break
    scaled = reduced_sizes(analysis, limit) | kept
    # The tuned sizes made smaller keep what the others break: which of them are equal.
    if is_possible(analysis, scaled, limit):
        found.append(scaled)
    return distinct(found)


def border_sizes(analysis: Analysis, limit: int = BORDER_ITERATIONS) -> tuple[Sizes, ...]:
    """Return sizes at the borders of what emitted code may tell apart, the cheapest first.

    From the tuned sizes one is changed at a time: one more, one less, double; with all doubled
    these find a test that takes other sizes for the tuned ones. From small sizes one at a time
    becomes 0, for which no loop runs, and then long: past 8 bits, and past 16 or a grid's shorter
    axes. Small ones that break a condition of the proofs by one, or just meet it, come beside.
    Left out is what makes more than `limit` assignments or what C cannot call.
    """
    region = analysis.region
    names = open_sizes(region)
    if not names:
        return ()
    tuned = tuned_sizes(region)
    small = _middle(analysis)
    # Three of what has a border on both sides have one inside. What bounds no loop may stand in a
    # condition on one, which holds at some of three where it is 1.
    bounds = {n for x in region.nest.loops() for b in (x.lower, x.upper) for n in variables(b)}
    short = {name: 3 if name in bounds else 1 for name in names}
    found = [{**tuned, name: tuned[name] + step} for name in names for step in (1, -1)]
    found += [{**tuned, name: 2 * tuned[name]} for name in names]
    found.append({name: 2 * value for name, value in tuned.items()})
    found += [{**small, name: 0} for name in names]
    found.append(dict.fromkeys(names, 0))
    found += [fulfilling(analysis, {**short, name: n}) for name in names for n in _LONG]
    found += map(dict, condition_sizes(analysis, limit))
    possible = [one for one in distinct(found) if is_possible(analysis, one, limit)]
    return tuple(sorted(possible, key=lambda sizes: _iterations(region, sizes)))


def middle_sizes(analysis: Analysis, limit: int = BORDER_ITERATIONS) -> tuple[Sizes, ...]:
    """Return sizes of some ten each at which the original runs; none where C fixes the sizes."""
    sizes = _middle(analysis)
    return (sizes,) if sizes and is_possible(analysis, sizes, limit) else ()


def _middle(analysis: Analysis) -> dict[str, int]:
    names = open_sizes(analysis.region)
    return fulfilling(analysis, dict(zip(names, cycle(_MIDDLE), strict=False)))


def small_sizes(analysis: Analysis, limit: int = AWKWARD_ITERATIONS) -> Iterator[Sizes]:
    """Yield sizes of 1 to 7 in many combinations, of which the first sizes change fastest."""
    names = open_sizes(analysis.region)
    for values in islice(product(_FEW, repeat=len(names)), COMBINATIONS) if names else ():
        sizes = fulfilling(analysis, dict(zip(names, reversed(values), strict=True)))
        if is_possible(analysis, sizes, limit):
            yield sizes


def condition_sizes(analysis: Analysis, limit: int = BORDER_ITERATIONS) -> tuple[Sizes, ...]:
    """Return sizes with one changed, so that a condition of the proofs is or is not just met.

    Where it is not met the proofs say nothing, and a text must not do as if it were.
    """
    small = _middle(analysis)
    found = [
        {**small, name: border + step}
        for name, _, border in _borders(analysis, small)
        for step in (-1, 0, 1)
    ]
    return tuple(one for one in distinct(found) if is_possible(analysis, one, limit))


def fulfilling(analysis: Analysis, sizes: dict[str, int]) -> dict[str, int]:
    """Return `sizes`, some made larger so that kernels run: ``ldc >= n`` needs a larger ldc.

    Where that does not suffice, the original runs, which is right too.
    """
    found = dict(sizes)
    for _ in analysis.conditions:
        before = dict(found)
        for name, op, border in _borders(analysis, found):
            found[name] = max(found[name], border + (op == ">"))
        if found == before:
            break
    return found


def _borders(analysis: Analysis, sizes: Sizes) -> Iterator[tuple[str, str, int]]:
    """Yield the size on the left of each condition of the proofs, its relation, and the right.

    Of a sum on the left that is its last size. What has been yielded may change `sizes` for the
    others.
    """
    for condition in analysis.conditions:
        match condition:
            case Binary(">=" | ">" as op, Var(name), right) if name in sizes:
                border = right
            case Binary(">=" | ">" as op, Binary("+", rest, Var(name)), right) if name in sizes:
                border = Binary("-", right, rest)
            case _:
                continue
        with suppress(ValueError):
            yield name, op, evaluate(border, known_values(analysis.region, sizes))


def other_sizes(analysis: Analysis, limit: int = OTHER_ITERATIONS) -> tuple[dict[str, int], ...]:
    """Return the annotation's other problem sizes, as far as a call decides them.

    What C fixes has one value. Sets with more than `limit` assignments are left out, and those at
    which the original would leave a declared array.
    """
    region = analysis.region
    names = open_sizes(region)
    tuned = {name: region.sizes[name] for name in names if name in region.sizes}
    found = []
    for sizes in region.other_sizes:
        if any(sizes.get(name, value) != value for name, value in region.constants.items()):
            continue
        found.append({name: sizes[name] for name in names if name in sizes})
    return tuple(s for s in distinct(found) if s != tuned and is_possible(analysis, s, limit))


def reduced_sizes(analysis: Analysis, limit: int, by: float = 2.0) -> dict[str, int]:
    """Return the tuned sizes, divided together `by` a number again and again.

    The nest then makes at most `limit` assignments. Sizes that are equal stay equal, none falls
    below 1, and what C fixes stays as it is.
    """
    region = analysis.region
    tuned = {n: region.sizes[n] for n in open_sizes(region) if n in region.sizes}
    sizes, divisor = tuned, 1.0
    while max(sizes.values(), default=1) > 1:
        if _iterations(region, sizes) <= limit:
            break
        divisor *= by
        sizes = {name: max(1, int(value / divisor)) for name, value in tuned.items()}
    return sizes


def is_possible(analysis: Analysis, sizes: Sizes, limit: int) -> bool:
    """Return whether the original runs at `sizes` inside its arrays and within `limit`."""
    region = analysis.region
    values = known_values(region, sizes)
    try:
        count = iterations(region.nest, values)
        if count > limit:
            return False
        for name, array in region.arrays.items():
            first, end = touched_ends(analysis, name, values)
            if end < first and count:
                return False
            is_whole = None not in array.extents and not array.is_pointer
            declared = math.prod(evaluate(e, values) for e in array.extents if e is not None)
            if is_whole and (first < 0 or end > declared):
                return False
    except ValueError:
        return False
    return True


def touched_ends(analysis: Analysis, name: str, values: Mapping[str, int]) -> Interval:
    """Return the first element of an array that a call touches, and the one after the last.

    Where sizes break a condition of the proofs, these say nothing of what the nest as written
    touches: all its subscripts count then.

    Raises:
        ValueError: A size has no value.
    """
    shape = analysis.shapes[name]
    first = evaluate(shape.lowest, values)
    end = first + evaluate(shape.length, values)
    if all(evaluate(one, values) for one in analysis.conditions):
        return first, end
    found = [(first, end)] if first < end else []
    for assign, loops in walk_paths(analysis.region.nest.body):
        ranges = loop_ranges(loops, values)
        if ranges is None:
            continue
        for access in (one for e in (assign.target, *assign.sources()) for one in accesses(e)):
            if access.array == name:
                flat = flattened(access, analysis.region.arrays) or access
                known = next((_interval_at(one, ranges) for one in operands(flat)), None)
                found += [] if known is None else [(known[0], known[1] + 1)]
    if not found:
        return first, end
    return min(low for low, _ in found), max(high for _, high in found)


def _iterations(region: Region, sizes: Sizes) -> int:
    try:
        return iterations(region.nest, known_values(region, sizes))
    except ValueError:
        return 0


def distinct(found: Sequence[T]) -> tuple[T, ...]:
    """Return each of several sizes once, where it stood first."""
    return tuple(sizes for number, sizes in enumerate(found) if sizes not in found[:number])


Ranges: TypeAlias = Mapping[str, Interval]
_NO_RANGES: Ranges = MappingProxyType({})


def _interval_at(expr: Expr, names: Ranges, arrays: Ranges = _NO_RANGES) -> Interval | None:
    """Return between which integers `expr` lies, None where that is not known.

    `names` are the ranges of scalars, `arrays` those of the elements of arrays. All that a type
    holds is no range to make inputs for.
    """

    def leaf(place: Var | Access | Cast) -> Interval | None:
        match place:
            case Var(name):
                return names.get(name)
            case Access(array):
                return arrays.get(array)
            case Cast():
                return None

    return interval(expr, leaf)


def loop_ranges(loops: tuple[Loop, ...], values: Mapping[str, int]) -> dict[str, Interval] | None:
    """Return the range of every iterator of nested `loops`, None where one runs no iteration.

    `values` are the sizes. An iterator whose bounds are not known is left out.
    """
    names: dict[str, Interval] = {name: (value, value) for name, value in values.items()}
    for loop in loops:
        lower, upper = (_interval_at(e, names) for e in (loop.lower, loop.upper))
        names.pop(loop.var, None)
        if lower is None or upper is None:
            continue
        if lower[0] >= upper[1]:
            return None
        names[loop.var] = lower[0], upper[1] - 1
    return names


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
        found = _interval_at(self.formula, self.names, ranges)
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
    for array, ends in analysis.region.index_ranges.items():
        first, last = (values[name] for name in ends)
        known = ranges.get(array, (first, last))
        ranges[array] = max(known[0], first), min(known[1], last)
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
    rest = _interval_at(one.formula, one.names, zeros)
    if rest is None:
        raise ValueError(f"nothing is known of the subscript in {c_expr(one.access)}")
    share = len(one.arrays)
    out: dict[str, Interval] = {}
    for array in one.arrays:
        unit = _interval_at(one.formula, one.names, {**zeros, array: (1, 1)})
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
    iterators = region.nest.iterators()
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
    array = analysis.region.arrays[access.array]
    extents = array.extents
    extent = extents[position] if position < len(extents) else None
    if extent is not None and (position or array.first is not None):
        start = 0 if position or array.first is None else evaluate(array.first, values)
        return start, start + evaluate(extent, values) - 1
    shape = analysis.shapes[access.array]
    first, length = evaluate(shape.lowest, values), evaluate(shape.length, values)
    inner = 1
    for size in extents[position + 1 :]:
        inner *= evaluate(size, values) if size is not None else 1
    return first // inner, (first + length) // inner - 1
