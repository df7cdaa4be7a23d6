"""Whether kernels can be launched in parts, so that copies of some parts run beside others.

Blocks of a kernel know nothing of each other. Where the iterations of a loop on an axis of blocks
differ in nothing but where each array begins for them, fewer blocks, with the pointers moved ahead,
do what some iterations of the whole launch do: the text of the kernel stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from math import prod

from annotune.analysis.facts import Analysis
from annotune.codegen.cuda.copies import VECTOR_BYTES
from annotune.codegen.cuda.grid import BLOCKS, LaunchGrid
from annotune.codegen.names import written_arrays
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access, Expr, Int, accesses, children, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Level, Local, LocalArray, Loop, Stmt, expressions, walk_stmts
from annotune.ir.poly import ZERO, Poly, from_expr, integer, variable
from annotune.ir.region import Array
from annotune.schedule.plan import Kernel
from annotune.transforms.tree import Body

ENOUGH = 8
"""With so many parts the copies that nothing runs beside are an eighth, and more gain little."""


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
class Inner:
    """The `count` iterations of a second loop on the axis; for each arrays lie `steps` ahead.

    Of the arrays in `strips` an iteration of both loops touches strips of that many neighbours,
    each as far behind the one before it as all iterations of this loop take, and nothing else.
    """

    count: int
    steps: Mapping[str, int]
    strips: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LaunchParts:
    """Launches that may be made in parts: of the `count` iterations of a loop on blocks.

    `steps` are the elements by which each array lies ahead for the next iteration. `axes` has by
    kernel the axis of the grid, and how many blocks along it one iteration takes, `loops` the loop.
    With `inner` each iteration of that loop is in turn one for each of the next loop on the axis.
    """

    count: int
    steps: Mapping[str, int]
    axes: Mapping[str, tuple[Level, int]]
    loops: Mapping[str, Loop]
    inner: Inner | None = None

    @property
    def iterations(self) -> int:
        """Return how many parts there may be."""
        return self.count * (1 if self.inner is None else self.inner.count)

    def joined(self, other: LaunchParts) -> LaunchParts | None:
        """Return the parts of both kernels' launches, None where they are not along one loop."""
        steps = {**self.steps, **other.steps}
        if self.count != other.count or any(steps[a] != n for a, n in self.steps.items()):
            return None
        axes, loops = {**self.axes, **other.axes}, {**self.loops, **other.loops}
        return LaunchParts(self.count, steps, axes, loops)


def launch_parts(
    analysis: Analysis,
    launches: Sequence[Launched],
    constants: Mapping[str, int],
    fits: Callable[[LaunchParts], bool] | None = None,
) -> LaunchParts | None:
    """Return the parts in which the launches of kernels, one after the other, can be made.

    Of several loops that one is chosen with which the most bytes of arrays come part by part; None
    where there is no such loop. Of kernels that have an array in common which one of them writes,
    no two parts may touch the same elements of it. With `fits` they are those of one loop that it
    takes.
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
        if fits is not None and not fits(found):
            continue
        size = sum(_cut_bytes(analysis, found, array, constants) for array in found.steps)
        if size > 0 and (best is None or size > best[0]):
            best = size, found
    if best is None:
        return None
    parts = best[1]
    is_alone = len(launches) == 1 and parts.count < ENOUGH and fits is None
    return _with_inner(analysis, launches[0], parts, constants) if is_alone else parts


def _joined(one: LaunchParts | None, other: LaunchParts) -> LaunchParts | None:
    return None if one is None else one.joined(other)


def length_of(analysis: Analysis, array: str, constants: Mapping[str, int]) -> int | None:
    """Return the elements of an array's section, None where they are not known."""
    length = fold(analysis.shapes[array].length, constants)
    return length.value if isinstance(length, Int) else None


def _cut_bytes(
    analysis: Analysis, parts: LaunchParts, array: str, constants: Mapping[str, int]
) -> int:
    """Return the bytes of an array of which each part needs its own, 0 where most need all."""
    length, reach = length_of(analysis, array, constants), parts.steps[array] * parts.count
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
        length = length_of(analysis, name, constants)
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
            yield LaunchParts(count.value, steps, axes, {launched.name: slowest})


def _with_inner(
    analysis: Analysis, launched: Launched, parts: LaunchParts, constants: Mapping[str, int]
) -> LaunchParts:
    """Return parts along two loops of an axis, if all arrays that come in parts allow it."""
    level, blocks = parts.axes[launched.name]
    loops = [loop for loop in launched.kernel.band() if loop.place is level]
    if len(loops) < 2:
        return parts
    inner, outer = loops[-2:]
    count = fold(trip_count(inner), constants)
    steps = _Ahead(analysis, inner, constants).steps(launched)
    if not isinstance(count, Int) or count.value < 2 or inner.combines or steps is None:
        return parts
    strips: dict[str, int] = {}
    for name in parts.steps:
        if not _cut_bytes(analysis, parts, name, constants):
            continue
        pitch = count.value * steps[name]
        length = length_of(analysis, name, constants)
        is_whole = analysis.shapes[name].lowest == Int(0) and analysis.shapes[name].touched is None
        is_exact = length == parts.count * parts.steps[name] and is_whole
        if pitch <= 0 or parts.steps[name] % pitch or not is_exact:
            return parts
        places = _Places(analysis, (outer, inner), constants, name)
        if not places.are_in(launched.kernel.body, parts.steps[name], steps[name], pitch):
            return parts
        strips[name] = steps[name]
    axes = {launched.name: (level, blocks // count.value)}
    return replace(parts, axes=axes, inner=Inner(count.value, steps, strips))


class _NotAlike(Exception):
    """Iterations differ in more than where arrays begin."""


def _strides(array: Array, access: Access, constants: Mapping[str, int]) -> list[int]:
    """Return the elements between neighbours along each index of an access.

    What merged loops touch has one index for all dimensions.
    """
    if len(access.indices) == 1:
        return [1]
    if len(access.indices) != len(array.extents):
        raise _NotAlike
    extents = [fold(extent, constants) for extent in array.extents[1:] if extent is not None]
    known = [extent.value for extent in extents if isinstance(extent, Int)]
    if len(known) < len(array.extents) - 1:
        raise _NotAlike
    return [prod(known[k:]) for k in range(len(known) + 1)]


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
        strides = [] if is_local or array is None else _strides(array, access, self.constants)
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


@dataclass
class _Places:
    """Finds whether the elements of an array lie in strips, by the ranges of all loops.

    `ranges` has the last number of each loop's iterations, counted from 0.
    """

    analysis: Analysis
    loops: tuple[Loop, Loop]
    constants: Mapping[str, int]
    array: str
    ranges: dict[str, int] = field(default_factory=dict)
    found: list[Poly] = field(default_factory=list)

    def are_in(self, body: Body, step: int, strip: int, pitch: int) -> bool:
        """Return whether each iteration of both loops touches its strips alone.

        For one of the first loop they begin `step` elements behind those of the one before, for
        one of the second `strip` elements.
        """
        try:
            self._walk(body, {})
        except _NotAlike:
            return False
        ahead = tuple(loop.var for loop in self.loops)
        for place in self.found:
            split = place.linear_in([*ahead, *self.ranges])
            if split is None or not split[1].names.isdisjoint(self.ranges):
                return False
            factors = {name: factor.constant for name, factor in split[0].items()}
            own = (factors.pop(ahead[0], None), factors.pop(ahead[1], None))
            first = split[1].constant
            if own != (step, strip) or first is None or first < 0:
                return False
            row, low = divmod(first, pitch)
            for name, factor in factors.items():
                if factor is None or factor < 0:
                    return False
                row += factor // pitch * self.ranges[name] if factor % pitch == 0 else 0
                low += factor * self.ranges[name] if factor % pitch else 0
            if row >= step // pitch or low >= strip:
                return False
        return True

    def _walk(self, body: Body, values: Mapping[str, Poly]) -> None:
        known = dict(values)
        for stmt in body:
            for expr in expressions(stmt):
                self._note(expr, known)
            if isinstance(stmt, Loop):
                self._walk(stmt.body, {**known, stmt.var: self._iterator(stmt, known)})
            elif isinstance(stmt, Local) and stmt.value is not None:
                value = self._value(stmt.value, known)
                known[stmt.name] = variable(stmt.name) if value is None else value

    def _iterator(self, loop: Loop, known: Mapping[str, Poly]) -> Poly:
        lower, count = self._value(loop.lower, known), None
        upper = self._value(loop.upper, known)
        if lower is not None and upper is not None:
            count = (upper - lower).constant
        if lower is None or count is None or count < 1:
            raise _NotAlike
        turn = next((x.var for x in self.loops if x is loop), f"{loop.var} {len(self.ranges)}")
        if turn != loop.var:
            self.ranges[turn] = (count - 1) // loop.step
        return lower + integer(loop.step) * variable(turn)

    def _value(self, expr: Expr, known: Mapping[str, Poly]) -> Poly | None:
        poly = from_expr(fold(expr, self.constants))
        return None if poly is None else poly.substitute(known).at(self.constants)

    def _note(self, expr: Expr, known: Mapping[str, Poly]) -> None:
        for access in accesses(expr):
            if access.array != self.array:
                continue
            array = self.analysis.region.arrays[self.array]
            place = ZERO
            for index, stride in zip(
                access.indices, _strides(array, access, self.constants), strict=True
            ):
                value = self._value(index, known)
                if value is None:
                    raise _NotAlike
                place = place + integer(stride) * value
            self.found.append(place)
