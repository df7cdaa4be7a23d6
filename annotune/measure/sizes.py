"""The sizes at which a region is checked: the tuned ones, smaller ones, and awkward ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from types import MappingProxyType

from annotune.analysis.facts import Analysis
from annotune.ir.expr import Binary, Var
from annotune.ir.nest import Assign
from annotune.ir.region import Region
from annotune.measure.evaluate import evaluate, iterations, known_values
from annotune.measure.harness import signature

Sizes = Mapping[str, int]
NO_SIZES: Sizes = MappingProxyType({})

AWKWARD_ITERATIONS = 300_000
"""How many assignments an awkward run may make: some milliseconds even one thread at a time."""

OTHER_ITERATIONS = 30_000_000
"""How many assignments a run at another problem size may make: a few seconds at the most."""

_ONES = (1,)
# Unequal, so that exchanged extents show; none is a multiple of a tile of 4, 8 or 16.
_SMALL = (2, 3, 4, 5, 6, 7, 3)
# Primes around and past a warp of 32, each unequal to its neighbours.
_PRIMES = (37, 19, 67, 11, 41, 23, 13)
_SMALL_PRIMES = (3, 7, 2, 11, 5, 3, 13)


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
            sizes = _fulfilling(analysis, sizes)
            if sizes == sizes | kept and is_possible(analysis, sizes, limit):
                found.append(sizes)
                break
    scaled = reduced_sizes(analysis, limit) | kept
    # The tuned sizes made smaller keep what the others break: which of them are equal.
    if is_possible(analysis, scaled, limit):
        found.append(scaled)
    return tuple(_distinct(found))


def _fulfilling(analysis: Analysis, sizes: dict[str, int]) -> dict[str, int]:
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
        if iterations(region.nest, values) > limit:
            return False
        for name, array in region.arrays.items():
            shape = analysis.shapes[name]
            first, length = evaluate(shape.lowest, values), evaluate(shape.length, values)
            if length < 0:
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
