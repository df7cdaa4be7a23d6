"""Whether kernels can be launched in parts, so that copies of some parts run beside others.

Blocks of a kernel know nothing of each other. Where the iterations of a loop on an axis of blocks
differ in nothing but where each array begins for them, fewer blocks, with the pointers moved ahead,
do what some iterations of the whole launch do: the text of the kernel stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

from annotune.analysis.facts import Analysis
from annotune.codegen.cuda.copies import VECTOR_BYTES
from annotune.codegen.cuda.grid import BLOCKS, LaunchGrid
from annotune.codegen.names import written_arrays
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access, Expr, Int, children, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Level, Local, LocalArray, Loop, Stmt, expressions, walk_stmts
from annotune.ir.poly import Poly, from_expr, integer, variable
from annotune.ir.region import Array
from annotune.schedule.plan import Kernel
from annotune.transforms.tree import Body


@dataclass(frozen=True, slots=True)
class Launched:
    """A kernel as it is launched: under its `name`, with pointers to `arrays`.

    Those in `aligned` start at a multiple of `VECTOR_BYTES`.
    """

    name: str
    kernel: Kernel
    grid: LaunchGrid
    arrays: tuple[Array, ...]
    aligned: frozenset[str]


@dataclass(frozen=True, slots=True)
class LaunchParts:
    """Launches that may be made in parts: of the `count` iterations of a loop on blocks.

    `steps` are the elements by which each array lies ahead for the next iteration. `axes` has by
    kernel the axis of the grid, and how many blocks along it one iteration takes.
    """

    count: int
    steps: Mapping[str, int]
    axes: Mapping[str, tuple[Level, int]]

    def joined(self, other: LaunchParts) -> LaunchParts | None:
        """Return the parts of both kernels' launches, None where they are not along one loop."""
        steps = {**self.steps, **other.steps}
        if self.count != other.count or any(steps[a] != n for a, n in self.steps.items()):
            return None
        return LaunchParts(self.count, steps, {**self.axes, **other.axes})


def launch_parts(
    analysis: Analysis, launches: Sequence[Launched], constants: Mapping[str, int]
) -> LaunchParts | None:
    """Return the parts in which the launches of kernels, one after the other, can be made.

    Of several loops that one is chosen with which the most bytes of arrays come part by part; None
    where there is no such loop. Of kernels that have an array in common which one of them writes,
    no two parts may touch the same elements of it.
    """
    if analysis.inspector:
        return None
    best: tuple[int, LaunchParts] | None = None
    for first in _of_kernel(analysis, launches[0], constants):
        found: LaunchParts | None = first
        for launched in launches[1:]:
            own = [_joined(found, one) for one in _of_kernel(analysis, launched, constants)]
            found = next((one for one in own if one is not None), None)
        if found is None or not _are_apart(analysis, launches, found, constants):
            continue
        size = sum(_cut_bytes(analysis, found, array, constants) for array in found.steps)
        if size > 0 and (best is None or size > best[0]):
            best = size, found
    return None if best is None else best[1]


def _joined(one: LaunchParts | None, other: LaunchParts) -> LaunchParts | None:
    return None if one is None else one.joined(other)


def _length(analysis: Analysis, array: str, constants: Mapping[str, int]) -> int | None:
    length = fold(analysis.shapes[array].length, constants)
    return length.value if isinstance(length, Int) else None


def _cut_bytes(
    analysis: Analysis, parts: LaunchParts, array: str, constants: Mapping[str, int]
) -> int:
    """Return the bytes of an array of which each part needs its own, 0 where most need all."""
    length, reach = _length(analysis, array, constants), parts.steps[array] * parts.count
    if length is None or analysis.stays_on_device(array) or 2 * reach <= length:
        return 0
    use = analysis.uses[array]
    ways = int(use.is_read or not use.overwritten) + int(use.is_written)
    return ways * length * element_bytes(analysis.region.arrays[array].element)


def _are_apart(
    analysis: Analysis,
    launches: Sequence[Launched],
    parts: LaunchParts,
    constants: Mapping[str, int],
) -> bool:
    """Return whether no part touches what another one writes, but inside one kernel."""
    shared: set[str] = set()
    for one, two in combinations(launches, 2):
        for writer, other in ((one, two), (two, one)):
            used = {array.name for array in other.arrays}
            shared |= used & written_arrays(writer.kernel.body)
    for name in shared:
        length = _length(analysis, name, constants)
        if length is None or length > parts.steps[name] * parts.count:
            return False
    return True


def _of_kernel(
    analysis: Analysis, launched: Launched, constants: Mapping[str, int]
) -> Iterator[LaunchParts]:
    """Yield the parts of one kernel's launch, for each axis of blocks that allows it."""
    band = launched.kernel.band()
    for level in BLOCKS:
        loops = [loop for loop in band if loop.place is level]
        # Of loops that share an axis the last one runs slowest.
        trip = fold(launched.grid.trips[level], constants) if loops else None
        if not isinstance(trip, Int) or trip.value > launched.grid.limits[level]:
            continue
        slowest = loops[-1]
        count = fold(trip_count(slowest), constants)
        if not isinstance(count, Int) or count.value < 2 or slowest.combines:
            continue
        steps = _Ahead(analysis, slowest, constants).steps(launched)
        if steps is not None:
            axes = {launched.name: (level, trip.value // count.value)}
            yield LaunchParts(count.value, steps, axes)


class _NotAlike(Exception):
    """Iterations differ in more than where arrays begin."""


@dataclass
class _Ahead:
    """Finds how far arrays lie ahead in the next iteration of `loop`, which comes to no other end.

    `moved` is what names, iterators and locals, are more there.
    """

    analysis: Analysis
    loop: Loop
    constants: Mapping[str, int]
    found: dict[str, int] = field(default_factory=dict)
    local: frozenset[str] = frozenset()

    def steps(self, launched: Launched) -> dict[str, int] | None:
        """Return the elements for each array that a kernel gets; None where there is more to it."""
        body = launched.kernel.body
        self.local = frozenset(s.name for s in walk_stmts(body) if isinstance(s, LocalArray))
        try:
            self._walk(body, {})
        except _NotAlike:
            return None
        arrays = {array.name: array for array in launched.arrays}
        steps = {name: self.found.get(name, 0) for name in arrays}
        for name in launched.aligned & steps.keys():
            if steps[name] * element_bytes(arrays[name].element) % VECTOR_BYTES:
                return None
        return steps

    def _walk(self, body: Body, moved: Mapping[str, int]) -> None:
        known = dict(moved)
        for stmt in body:
            match stmt:
                case Loop():
                    self._walk(stmt.body, {**known, stmt.var: self._of_loop(stmt, known)})
                case Local(name=name, value=value) if value is not None:
                    known[name] = self._by(value, known)
                case _:
                    self._check(stmt, known)

    def _of_loop(self, loop: Loop, moved: Mapping[str, int]) -> int:
        """Return how much more the iterator of a loop is."""
        for test in loop.peeled:
            self._same(test, moved)
        lower, upper = self._by(loop.lower, moved), self._by(loop.upper, moved)
        if lower != upper:
            raise _NotAlike
        return lower + (loop.step if loop is self.loop else 0)

    def _by(self, expr: Expr, moved: Mapping[str, int]) -> int:
        """Return how much more an integer is."""
        found = self._difference(expr, moved)
        if found is None:
            self._same(expr, moved)
            return 0
        return found

    def _difference(self, expr: Expr, moved: Mapping[str, int]) -> int | None:
        """Return how much more an expression is, None where it is no polynomial."""
        poly = from_expr(fold(expr, self.constants))
        if poly is None:
            return None
        by = self._moved(poly, moved).constant
        if by is None:
            raise _NotAlike
        return by

    def _moved(self, poly: Poly, moved: Mapping[str, int]) -> Poly:
        ahead = {name: variable(name) + integer(n) for name, n in moved.items() if n}
        return (poly.substitute(ahead) - poly).at(self.constants)

    def _check(self, stmt: Stmt, moved: Mapping[str, int]) -> None:
        for expr in expressions(stmt):
            self._same(expr, moved)

    def _same(self, expr: Expr, moved: Mapping[str, int]) -> None:
        """Check that a value is the same, but for the places of arrays' elements in it."""
        if isinstance(expr, Access):
            self._place(expr, moved)
            return
        if not any(moved.get(name) for name in variables(expr)):
            pass
        elif from_expr(fold(expr, self.constants)) is not None:
            if self._difference(expr, moved):
                raise _NotAlike
            return
        elif not children(expr):
            raise _NotAlike
        for part in children(expr):
            self._same(part, moved)

    def _place(self, access: Access, moved: Mapping[str, int]) -> None:
        """Note how far ahead an element lies; of a local array it is the same one."""
        array = self.analysis.region.arrays.get(access.array)
        is_local = access.array in self.local or array is None
        strides = [] if is_local or array is None else self._strides(array)
        by = 0
        for number, index in enumerate(access.indices):
            own = self._by(index, moved)
            if not own:
                continue
            if is_local or number >= len(strides):
                raise _NotAlike
            by += own * strides[number]
        if not is_local and self.found.setdefault(access.array, by) != by:
            raise _NotAlike

    def _strides(self, array: Array) -> list[int]:
        """Return the elements between neighbours along each dimension of an array."""
        extents = [fold(e, self.constants) for e in array.extents[1:] if e is not None]
        known = [extent.value for extent in extents if isinstance(extent, Int)]
        if len(known) < len(array.extents) - 1:
            raise _NotAlike
        return [prod(known[k:]) for k in range(len(known) + 1)]
