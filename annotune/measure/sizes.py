"""The sizes at which a region is checked, and what integer expressions are at given sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice, product
from types import MappingProxyType
from typing import assert_never

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import c_expr
from annotune.ir.expr import Binary, Expr, Int, Var, variables
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Nest, Stmt
from annotune.ir.region import Region
from annotune.measure.harness import signature


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the value of an integer expression, with C's division towards zero.

    Raises:
        ValueError: A name has no value, or the expression is not one of integers.
    """
    folded = fold(expr, values)
    if not isinstance(folded, Int):
        raise ValueError(f"'{c_expr(expr)}' has no value: '{c_expr(folded)}' is left of it")
    return folded.value


def known_values(region: Region, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the integers of `region` by name: `sizes`, and before them what C itself fixes."""
    fixed = {s.name: s.value for s in region.scalars.values() if s.value is not None}
    return {**region.sizes, **sizes, **fixed}


def iterations(nest: Nest, values: Mapping[str, int]) -> int:
    """Return about how many assignments the nest makes.

    Exact for rectangular nests; an inner loop whose bounds depend on an outer one is counted
    at the middle of the outer one's range.

    Raises:
        ValueError: A bound has no value.
    """
    return sum(_count(stmt, values) for stmt in nest.body)


def _count(stmt: Stmt, values: Mapping[str, int]) -> int:
    match stmt:
        case Assign():
            return 1
        case Local() | LocalArray() | Await() | Fetch():
            return 0
        case Loop(var, lower, upper, body, step):
            first, last = evaluate(lower, values), evaluate(upper, values)
            trips = max(0, -((first - last) // step))
            inside = {**values, var: (first + last) // 2}
            return trips * sum(_count(inner, inside) for inner in body) if trips else 0
        case _:
            assert_never(stmt)


Sizes = Mapping[str, int]
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
    assigned = {name for a in region.nest.assigns() for name in _assigned(a)}
    assigned |= {loop.var for loop in region.nest.loops()}
    return tuple(
        name
        for name in signature(region).integers
        if region.scalars[name].value is None and name not in assigned
    )


def tuned_sizes(region: Region) -> dict[str, int]:
    """Return the sizes to tune for; 1 for a flag or a factor, of which nothing needs a value."""
    return {name: region.sizes.get(name, 1) for name in open_sizes(region)}


def _assigned(assign: Assign) -> Iterable[str]:
    return () if not hasattr(assign.target, "name") else (assign.target.name,)


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
    return tuple(_distinct(found))


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
    small = fulfilling(analysis, dict(zip(names, cycle(_MIDDLE), strict=False)))
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
    possible = [one for one in _distinct(found) if is_possible(analysis, one, limit)]
    return tuple(sorted(possible, key=lambda sizes: _iterations(region, sizes)))


def middle_sizes(analysis: Analysis, limit: int = BORDER_ITERATIONS) -> tuple[Sizes, ...]:
    """Return sizes of some ten each at which the original runs; none where C fixes the sizes."""
    names = open_sizes(analysis.region)
    sizes = fulfilling(analysis, dict(zip(names, cycle(_MIDDLE), strict=False)))
    return (sizes,) if names and is_possible(analysis, sizes, limit) else ()


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
    names = open_sizes(analysis.region)
    small = fulfilling(analysis, dict(zip(names, cycle(_MIDDLE), strict=False)))
    found: list[dict[str, int]] = []
    for condition in analysis.conditions:
        match condition:
            case Binary(">=" | ">", Var(name), right) if name in small:
                try:
                    border = evaluate(right, known_values(analysis.region, small))
                except ValueError:
                    continue
                found += [{**small, name: border + step} for step in (-1, 0, 1)]
    return tuple(one for one in _distinct(found) if is_possible(analysis, one, limit))


def fulfilling(analysis: Analysis, sizes: dict[str, int]) -> dict[str, int]:
    """Return `sizes`, some made larger so that kernels run: ``ldc >= n`` needs a larger ldc.

    Where that does not suffice, the original runs, which is right too.
    """
    region, found = analysis.region, dict(sizes)
    for condition in analysis.conditions:
        match condition:
            case Binary(">=" | ">" as op, Var(name), right) if name in found:
                try:
                    least = evaluate(right, known_values(region, found)) + (op == ">")
                except ValueError:
                    continue
                found[name] = max(found[name], least)
    return found


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
    return tuple(s for s in _distinct(found) if s != tuned and is_possible(analysis, s, limit))


def reduced_sizes(analysis: Analysis, limit: int) -> dict[str, int]:
    """Return the tuned sizes, halved together until the nest makes at most `limit` assignments.

    Sizes that are equal stay equal, none falls below 1, and what C fixes stays as it is.
    """
    region = analysis.region
    sizes = {n: region.sizes[n] for n in open_sizes(region) if n in region.sizes}
    while max(sizes.values(), default=1) > 1:
        if _iterations(region, sizes) <= limit:
            break
        sizes = {name: max(1, value // 2) for name, value in sizes.items()}
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
            shape = analysis.shapes[name]
            first, length = evaluate(shape.lowest, values), evaluate(shape.length, values)
            if length < 0 and count:
                return False
            is_whole = None not in array.extents and not array.is_pointer
            declared = math.prod(evaluate(e, values) for e in array.extents if e is not None)
            if is_whole and (first < 0 or first + length > declared):
                return False
    except ValueError:
        return False
    return True


def _iterations(region: Region, sizes: Sizes) -> int:
    try:
        return iterations(region.nest, known_values(region, sizes))
    except ValueError:
        return 0


def _distinct(found: Sequence[dict[str, int]]) -> list[dict[str, int]]:
    return [sizes for number, sizes in enumerate(found) if sizes not in found[:number]]
