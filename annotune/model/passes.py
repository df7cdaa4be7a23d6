"""How often the threads of a block ask shared memory and the first-level cache in a nest of theirs.

A warp's access takes one pass over the banks of shared memory for all its lanes if these want
different banks or the same words (CUDA C++ Programming Guide, Shared Memory), and one for each line
of the cache that they touch. What a loop inside a thread does not move is loaded before it and
stays in registers, if these hold it: so passes tell which loops threads should have for themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod

from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access
from annotune.ir.nest import Assign, LocalArray, Loop, walk_stmts
from annotune.ir.poly import from_expr
from annotune.ir.region import flattened
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.units import Unit
from annotune.transforms.transform import Answers, asked_once

# Bytes that the banks of shared memory serve in one pass, and those of a line of the cache (CUDA
# C++ Programming Guide, Compute Capability 8.x and 9.0).
PASS_BYTES = LINE_BYTES = 128
# The most bytes that a thread loads at once.
VECTOR_BYTES = 16
# Values that threads keep of what a loop inside them does not move: 30 doubles of nekbone's ax were
# seen to stay in 126 registers for sm_90, and 36 in 154.
MOST_KEPT = 40


@dataclass(frozen=True, slots=True)
class NestAccess:
    """An access of a statement in a nest: the bytes of an element, and strides in elements.

    `strides` are those of the loops around it, from an `offset` where that is known; `terms` are
    the loops around the statement that are serial in any case, with their trip counts. `is_near`:
    the array is the block's.
    """

    place: Access
    is_write: bool
    is_near: bool
    width: int
    strides: Mapping[str, int]
    terms: tuple[tuple[str, int], ...]
    offset: int | None = None

    @property
    def array(self) -> str:
        return self.place.array

    @property
    def length(self) -> int:
        """Return the terms of the sum that an access is in."""
        return prod(n for _, n in self.terms)

    def moves(self, loop: str) -> bool:
        return self.strides.get(loop, 0) != 0

    def vector(self) -> int:
        """Return how many neighbours a thread loads at once, one term after the other."""
        inner, count = self.terms[-1] if self.terms else ("", 1)
        lanes = VECTOR_BYTES // self.width
        others = (n for loop, n in self.strides.items() if loop != inner)
        is_wide = self.is_near and not self.is_write and self.strides.get(inner) == 1
        return lanes if is_wide and not any(n % lanes for n in (count, *others)) else 1

    def passes(self, lanes: Sequence[Mapping[str, int]]) -> int:
        """Return the passes of one access by threads that stand at `lanes`."""
        size = self.width * self.vector()
        offsets = {sum(self.strides.get(x, 0) * n for x, n in lane.items()) for lane in lanes}
        if not self.is_near:
            return len({offset * self.width // LINE_BYTES for offset in offsets})
        words = Counter(offset * self.width // size % (PASS_BYTES // size) for offset in offsets)
        return max(words.values())


@dataclass(frozen=True)
class NestAccesses:
    """The accesses of a nest whose loops `counts` may be threads, outermost first.

    Of arrays that are `aligned` the compiler loads pairs of neighbours at once.
    """

    accesses: tuple[NestAccess, ...]
    counts: Mapping[str, int]
    aligned: Collection[str] = ()

    @cached_property
    def answers(self) -> Answers:
        return {}

    @asked_once
    def kept(self, inside: Collection[str], pair: str = "") -> int:
        """Return the values that stay in registers over the loops inside a thread.

        Of the loop `pair` it has two points, half of the loop apart, in each of their iterations.
        """
        stay = (a for a in self._reads if self._stays(a, inside))
        return sum(self._runs(a, ()) * self._copies(a, pair) for a in stay)

    @asked_once
    def passes(self, inside: Collection[str], pair: str = "") -> float:
        """Return the passes for one element with these loops inside a thread, in full warps."""
        lanes, warps = self._warps(inside, pair)
        return warps * sum(n * access.passes(lanes) for access, n in self._asked(inside, pair))

    def busy(self, inside: Collection[str], pair: str = "") -> float:
        """Return the passes, or those that bring what is read to registers where these are more.

        Lanes that want the same word share a pass over the banks, and yet each gets its own.
        """
        lanes, warps = self._warps(inside, pair)
        found = 0.0
        for access, n in self._asked(inside, pair):
            brought = access.width * access.vector() * len(lanes) / PASS_BYTES
            found += n * max(access.passes(lanes), 0.0 if access.is_write else brought)
        return warps * found

    def _warps(
        self, inside: Collection[str], pair: str
    ) -> tuple[Sequence[Mapping[str, int]], float]:
        """Return the lanes of a warp, and how many of these the points of an element are."""
        counts = {name: n for name, n in self.counts.items() if name not in inside}
        threads = {name: n // 2 if name == pair else n for name, n in counts.items()}
        lanes = list(_lanes(threads))
        return lanes, prod(threads.values()) / len(lanes)

    @asked_once
    def instructions(self, inside: Collection[str], pair: str = "") -> float:
        """Return the loads and stores of a thread for one of its points, or a pair of them."""
        return sum(n for _, n in self._asked(inside, pair))

    def _asked(self, inside: Collection[str], pair: str = "") -> Iterator[tuple[NestAccess, float]]:
        """Yield each access and how often a thread makes it for one of its points, or a pair."""
        for access in (*self._reads, *(a for a in self.accesses if a.is_write)):
            within = () if self._stays(access, inside) else inside
            times = self._runs(access, within) * self._copies(access, pair)
            yield access, times / access.vector()

    def _copies(self, access: NestAccess, pair: str) -> int:
        """Return how often two points of a thread ask for what they access: once for the same."""
        return 1 if not pair or self._stays(access, (pair,)) else 2

    @property
    def loads(self) -> int:
        """Return the values that a thread loads for one iteration of all loops."""
        return sum(self._runs(a, ()) for a in self._reads)

    def reads(self, array: str) -> int:
        """Return how many elements of an array all points read, the same one each time."""
        own = (a for a in self._reads if a.array == array)
        return prod(self.counts.values()) * sum(self._runs(a, ()) for a in own)

    def scattered(self, inside: Collection[str]) -> frozenset[str]:
        """Return the arrays far away of which a warp asks for twice the lines that it needs."""
        threads = {name: n for name, n in self.counts.items() if name not in inside}
        lanes = list(_lanes(threads))
        far = (a for a in self._reads if not a.is_near)
        needed = 2 * WARP / LINE_BYTES
        return frozenset(a.array for a in far if a.passes(lanes) > needed * a.width)

    @cached_property
    def _reads(self) -> tuple[NestAccess, ...]:
        """Return what is read, once each: the compiler loads no element twice in an iteration."""
        found = {(a.place, a.terms): a for a in self.accesses if not a.is_write}
        second = {id(a) for a in self._seconds() if a.array in self.aligned}
        return tuple(a for a in found.values() if id(a) not in second)

    @property
    def pairs(self) -> frozenset[str]:
        """Return the arrays far away of which points read neighbours that are aligned pairs."""
        return frozenset(a.array for a in self._seconds())

    def _seconds(self) -> Iterator[NestAccess]:
        """Yield the second one of each pair."""
        found = {(a.place, a.terms): a for a in self.accesses if not (a.is_write or a.is_near)}
        places = {(a.array, a.offset, tuple(a.strides.items())) for a in found.values()}
        for a in found.values():
            lanes = VECTOR_BYTES // a.width
            is_even = a.offset is not None and not any(n % lanes for n in a.strides.values())
            if lanes < 2 or not is_even or a.offset is None or a.offset % lanes == 0:
                continue
            if (a.array, a.offset - 1, tuple(a.strides.items())) in places:
                yield a

    def streamed(self, inside: Collection[str]) -> int:
        """Return the values far away that a thread loads in each iteration of its loops."""
        far = (a for a in self._reads if not a.is_near and not self._stays(a, inside))
        return sum(self._runs(a, ()) for a in far)

    def _stays(self, access: NestAccess, inside: Collection[str]) -> bool:
        """Return whether a value stays the same in a thread's loops, however often they run."""
        is_fixed = not access.is_write and not any(map(access.moves, inside))
        return is_fixed and access.array not in self._written

    @cached_property
    def _written(self) -> frozenset[str]:
        return frozenset(access.array for access in self.accesses if access.is_write)

    def _runs(self, access: NestAccess, inside: Collection[str]) -> int:
        own = prod(n for loop, n in access.terms if access.moves(loop))
        return own * prod(self.counts[loop] for loop in inside)


def _lanes(threads: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
    """Yield where the lanes of the first warp stand, the last loop fastest."""
    for lane in range(min(WARP, prod(threads.values()))):
        place, rest = {}, lane
        for name in reversed(tuple(threads)):
            place[name] = rest % threads[name]
            rest //= threads[name]
        yield place


def nest_accesses(
    unit: Unit,
    nest: Loop,
    loops: Sequence[str],
    near: Collection[str],
    aligned: Collection[str] = (),
) -> NestAccesses:
    """Return what the statements of a nest access whose `loops` may be threads, outermost first.

    The arrays `near` are in the block's memory; those that an iteration declares are so, too. The
    compiler knows that others are `aligned`.
    """
    own = _declared(unit)
    assigns = [s for s in walk_stmts((nest,)) if isinstance(s, Assign)]
    # What runs under a condition, as for the last element alone, counts for nothing.
    always = [s for s in assigns if s.guard is None]
    around = unit.analysis.paths[assigns[0].number]
    counts = {x.var: unit.count(x) or 1 for x in around if x.var in loops}
    found: list[NestAccess] = []
    for assign in always:
        path = unit.analysis.paths[assign.number]
        depth = next(k for k, x in enumerate(path) if x.var == nest.var)
        terms = tuple((x.var, unit.count(x) or 1) for x in path[depth:] if x.var not in loops)
        places = [(place, False) for place in assign.reads()] + [(assign.target, True)]
        for place, is_write in places:
            if not isinstance(place, Access):
                continue
            strides, offset = _strides(unit, place, tuple(x.var for x in path))
            element = own[place.array].type if place.array in own else ""
            arrays = unit.analysis.region.arrays
            width = element_bytes(element or arrays[place.array].element)
            is_near = place.array in own or place.array in near
            found.append(NestAccess(place, is_write, is_near, width, strides, terms, offset))
    return NestAccesses(tuple(found), counts, aligned)


@asked_once
def _declared(unit: Unit) -> Mapping[str, LocalArray]:
    """Return the arrays that iterations of a unit declare."""
    return {s.name: s for s in walk_stmts(unit.body) if isinstance(s, LocalArray)}


@asked_once
def _strides(
    unit: Unit, place: Access, loops: tuple[str, ...]
) -> tuple[Mapping[str, int], int | None]:
    """Return the strides of an access along `loops`, as far as they are known, and its offset."""
    sizes, own = unit.analysis.region.sizes, _declared(unit)
    if place.array in own:
        extents = own[place.array].extents
        steps = [prod(extents[k + 1 :]) for k in range(len(extents))]
    else:
        flat = flattened(place, unit.analysis.region.arrays) or place
        assert isinstance(flat, Access)
        place, steps = flat, [1]
    found: dict[str, int] = {}
    offset: int | None = 0
    for index, step in zip(place.indices, steps, strict=True):
        poly = from_expr(index)
        linear = None if poly is None else poly.at(sizes).linear_in(loops)
        if linear is None or linear[1].constant is None:
            offset = None
        elif offset is not None:
            offset += step * linear[1].constant
        for loop, factor in linear[0].items() if linear is not None else ():
            found[loop] = found.get(loop, 0) + step * (factor.constant or 0)
    return found, offset
