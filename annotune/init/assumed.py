"""Sizes that C leaves open and nobody gives: values at which a nest is worth tuning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from annotune.frontend.loop_places import LoopPlace
from annotune.frontend.read.tokens import WORD
from annotune.frontend.types.symbols import REALS
from annotune.ir.constants import value_at
from annotune.ir.expr import Binary, Expr, accesses, variables
from annotune.ir.fold import trip_count
from annotune.ir.nest import Assign, Loop, expressions, walk_stmts
from annotune.ir.poly import Poly, from_expr, integer
from annotune.ir.region import Region

# Iterations of a nest at assumed sizes: some 10 ms on one core, and no array beyond 128 MiB.
_ITERATIONS = 1 << 24
_LARGEST_SIZE, LEAST_SIZE = 1 << 20, 16
# Where a size is in subscripts alone, it is the length of rows, of which there are as many.
_LARGEST_ROW = 1 << 12


def assumed_sizes(
    region: Region, known: Mapping[str, int], around: Sequence[LoopPlace] = ()
) -> dict[str, int]:
    """Return a value for each open size of a region that is not `known` already.

    Arrays that C declares say how many elements there are. The iterator of a loop `around` the
    nest is in the middle of its range. All others are alike, so that rows are as long as the loops
    over them, but for what only counts steps, or where loops begin.
    """
    open_ = [name for name in open_sizes(region) if name not in known]
    known = {**region.known_sizes, **known}
    limits = {name: value for name, value in _limits(region, known).items() if name in open_}
    bounds, steps = _in_bounds(region), _increments(region)
    ones = [n for n in open_ if n in steps - bounds or _only_shortens(region, n)]
    known = {**dict.fromkeys(ones, 1), **known, **limits}
    least = _scale(region, known)
    if any(name not in bounds | steps for name in open_):
        least = min(least, _LARGEST_ROW)
    found = {name: known.get(name, least) for name in open_}
    for loop in around:
        if loop.iterator in open_ and (middle := loop.middle(known | found)) is not None:
            found[loop.iterator] = middle
    return found


def open_sizes(region: Region) -> tuple[str, ...]:
    """Return the integers in bounds, subscripts and extents that C leaves open, in text order."""
    exprs: list[Expr] = []
    for stmt in walk_stmts(region.nest.body):
        own = expressions(stmt)
        exprs += own if isinstance(stmt, Loop) else ()
        exprs += [index for expr in own for access in accesses(expr) for index in access.indices]
    arrays = (region.arrays[n] for n in sorted(region.nest.arrays()) if n in region.arrays)
    exprs += [extent for array in arrays for extent in array.extents if extent is not None]
    names = {name for expr in exprs for name in variables(expr)}
    stated = region.spec.assumptions.extents
    texts = (text for array in region.arrays for text in stated.get(array, ()))
    names |= {word for text in texts for word in WORD.findall(text)}
    fixed = region.known_sizes.keys() | region.nest.iterators() | region.nest.written_scalars()
    open_ = (s.name for s in region.scalars.values() if s.type not in REALS)
    return tuple(name for name in open_ if name in names - fixed)


def _in_bounds(region: Region) -> frozenset[str]:
    """Return the names that decide how often loops run, or how long arrays are."""
    loops = (expr for loop in region.nest.loops() for expr in (loop.lower, loop.upper))
    extents = (extent for array in region.arrays.values() for extent in array.extents)
    exprs = (expr for expr in (*loops, *extents) if expr is not None)
    return frozenset(name for expr in exprs for name in variables(expr))


def _increments(region: Region) -> frozenset[str]:
    """Return the names that are only the distance of one element from the next, as ``incx`` is.

    Each array that one stands in is used at one place alone, which one loop moves.
    """
    places: dict[str, set[tuple[Expr, ...]]] = {}
    exprs = (expr for stmt in walk_stmts(region.nest.body) for expr in expressions(stmt))
    for access in (one for expr in exprs for one in accesses(expr)):
        places.setdefault(access.array, set()).add(access.indices)
    moving = region.nest.iterators()
    names: set[str] = set()
    others: set[str] = set()
    for found in places.values():
        used = {name for indices in found for index in indices for name in variables(index)}
        is_single = len(found) == 1 and len(used & moving) <= 1
        (names if is_single else others).update(used - moving)
    return frozenset(names - others)


def _only_shortens(region: Region, name: str) -> bool:
    """Return whether loops run less often the larger a size is: they begin or end there."""
    shortens = set()
    for loop in region.nest.loops():
        distance = from_expr(Binary("-", loop.upper, loop.lower))
        if distance is not None:
            shortens |= {factor < 0 for names, factor in distance.terms if name in names}
        elif name in (*variables(loop.lower), *variables(loop.upper)):
            shortens.add(name not in variables(loop.upper))
    return shortens == {True}


def _limits(region: Region, known: Mapping[str, int]) -> dict[str, int]:
    """Return the largest values at which the nest stays in the arrays that C declares."""
    found: dict[str, int] = {}
    paths = region.nest.paths()
    for assign in region.nest.assigns():
        for index, extent in _indices(region, assign):
            length = value_at(extent, known)
            last = None if length is None else _last(index, paths[assign.number], known)
            if length is None or last is None:
                continue
            names = [(name, factor) for name, factor in last.terms if name]
            rest = (last - Poly.of(dict(names))).constant
            if len(names) == 1 and names[0][1] == 1 and len(names[0][0]) == 1 and rest is not None:
                ((name,), _), largest = names[0], length - 1 - rest
                if largest > 0:
                    found[name] = min(largest, found.get(name, largest))
    return found


def _indices(region: Region, assign: Assign) -> Iterator[tuple[Expr, Expr]]:
    """Yield the subscripts of an assignment with the extents of their dimensions."""
    for access in (one for expr in expressions(assign) for one in accesses(expr)):
        array = region.arrays.get(access.array)
        extents = array.extents if array is not None else ()
        if len(extents) == len(access.indices):
            pairs = zip(access.indices, extents, strict=True)
            yield from ((index, extent) for index, extent in pairs if extent is not None)


def _last(index: Expr, path: Sequence[Loop], known: Mapping[str, int]) -> Poly | None:
    """Return a subscript where each loop is in its last iteration, None where it is no sum."""
    found = from_expr(index)
    for loop in reversed(path):
        upper = from_expr(loop.upper)
        if found is None or upper is None:
            return None
        found = found.substitute({loop.var: upper - integer(1)})
    return None if found is None else found.at(known)


def _scale(region: Region, known: Mapping[str, int]) -> int:
    """Return a power of two for the open sizes, at which the nest is worth tuning."""
    paths = region.nest.paths().values()
    counts = [value_at(trip_count(loop), known) for path in paths for loop in path]
    fixed = [count for count in counts if count is not None]
    if len(fixed) == len(counts):
        # What is in no bound is the length of rows, of which the loops run through one.
        return 1 << (max((1, *fixed)) - 1).bit_length()
    size = _LARGEST_SIZE
    while size > LEAST_SIZE and any(_count(path, known, size) > _ITERATIONS for path in paths):
        size //= 2
    return size


def _count(path: Sequence[Loop], known: Mapping[str, int], size: int) -> int:
    """Return how often the innermost of some loops runs where all open sizes are alike."""
    names = {name for loop in path for name in (*variables(loop.lower), *variables(loop.upper))}
    at = {**dict.fromkeys(names - {loop.var for loop in path}, size), **known}
    counts = (value_at(trip_count(loop), at) for loop in path)
    return prod(size if count is None else max(1, count) for count in counts)
