"""What a candidate makes of a unit's loops, counted without any device.

Trip counts of a kernel by role, on blocks, threads, and in order; what one thread does: its loads,
what it holds, and how long it waits; and what all ask of memory: sectors per warp, and per block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.frozen import dataclass
from annotune.ir.c_types import WORD, element_bytes
from annotune.ir.poly import Poly, from_expr
from annotune.schedule.candidate import Candidate
from annotune.schedule.launch_sizes import ENOUGH_BLOCKS, TEAM, WARP
from annotune.schedule.units import Unit, with_merged
from annotune.transforms.map import MAX_THREADS
from annotune.transforms.tile import tile_name, worker_name


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Trip counts of a kernel by role, at the region's sizes."""

    thread_trips: tuple[tuple[str, int], ...]
    block_trips: tuple[tuple[str, int], ...]
    serial: tuple[tuple[str, int], ...]

    @property
    def threads(self) -> int:
        return prod(n for _, n in self.thread_trips)

    @property
    def blocks(self) -> int:
        return prod(n for _, n in self.block_trips)


def shape(unit: Unit, choice: Candidate) -> LaunchShape:
    """Return what `choice` makes of the unit's loops; a count that varies is its mean.

    Threads beyond a full block run serially, as the emitted grid does.
    """
    parts = {part for loops in unit.merges for part in loops}
    trips = {name: n for name, n in unit.mean_trips.items() if name not in parts}
    tiled = {tile_name(loop): (loop, size) for loop, size in choice.tiles}
    blocks = []
    for name in choice.blocks:
        loop, size = tiled.get(name, (name, 1))
        blocks.append((loop, ceil(trips.get(loop, 1) / size)))
    sizes = dict(choice.tiles)
    workers = {worker_name(loop): (loop, count) for loop, count in choice.cyclic}
    sums = {*choice.shared} - {*unit.parallel}
    threads, room, serial = [], MAX_THREADS, []
    for name in choice.shared:
        loop, dealt = workers.get(name, (name, 0))
        count = min(sizes.get(loop, trips.get(loop, 1)), trips.get(loop, 1))
        if dealt and count > dealt:
            serial.append((loop, ceil(count / dealt)))
            count = dealt
        own = max(1, min(count, TEAM if name in sums else room))
        room //= own
        # Neighbouring workers have neighbouring iterations of the loop that is dealt out.
        threads.append((loop, own))
        if count > own:
            serial.append((loop, ceil(count / own)))
    taken = {tiled.get(n, (n, 1))[0] for n in choice.blocks} | set(choice.shared)
    taken |= {loop for loop, _ in workers.values()}
    order = choice.order or tuple(loop.var for loop in unit.band)
    host = host_trips(unit, choice)
    # A block's part of a loop that no thread shares is run by each of them.
    shared = {workers.get(name, (name, 0))[0] for name in choice.shared}
    alone = (n for n in order if n in sizes and tile_name(n) in choice.blocks and n not in shared)
    lengths = {n: min(sizes[n], trips.get(n, 1)) for n in alone}
    serial += [(n, length) for n, length in lengths.items() if length > 1]
    rest = [n for n in (*order, *trips) if n not in taken and n not in host]
    serial += [(n, trips.get(n, 1)) for n in dict.fromkeys(rest)]
    return LaunchShape(tuple(threads), tuple(blocks), tuple(serial))


def element_of(unit: Unit, access: AccessFacts) -> int:
    """Return the bytes of an element of what is accessed, those of a double for a private one."""
    array = unit.analysis.region.arrays.get(access.access.array)
    return element_bytes(array.element) if array is not None else WORD


def in_parts(unit: Unit, form: LaunchShape) -> LaunchShape:
    """Return a shape with the loops of the text in the place of merged ones, about as often.

    Neighbouring iterations of a merged loop are all of its inner parts and some of the next.
    """
    left = dict(unit.mean_trips)

    def parted(trips: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
        for name, count in trips:
            parts = unit.parts_of(name)
            for part in reversed(parts) if len(parts) > 1 else ():
                whole = left[part]
                own = max(1, min(whole, count))
                count, left[part] = max(1, round(count / own)), ceil(whole / own)
                yield part, own
            if len(parts) == 1:
                yield name, count

    threads = tuple(parted(form.thread_trips))
    serial = tuple(parted(form.serial))
    return LaunchShape(threads, tuple(parted(form.block_trips)), serial)


def host_trips(unit: Unit, choice: Candidate) -> dict[str, int]:
    """Return the loops that the host runs around the launch, with their trip counts."""
    names = unit.loops_around(unit.leader)
    # What stands in no loop of its own is launched in each iteration of those around it.
    outer = names[: names.index(unit.band[0].var)] if unit.band else names
    return {name: unit.mean_trips.get(name, 1) for name in (*outer, *unit.host)}


# Bytes that a device moves at least (CUDA C++ Best Practices Guide, Coalesced Access).
SECTOR_BYTES = 32
# nvcc unrolls a loop of known count that is no longer by itself (seen with counts 24 and 28).
UNROLLED_BY_COMPILER = 32
# Values that stay in registers over a loop at most: 24 doubles were seen to, 28 spilled.
MOST_HELD = 28


@dataclass(frozen=True, slots=True)
class Load:
    """An access of a thread: how often it is executed, and for how many values at a time.

    `held` values stay in registers over loops that do not move them; 0 for what is loaded and
    used at once.
    """

    access: AccessFacts
    runs: int
    held: int


@dataclass(frozen=True, slots=True)
class ThreadWork:
    """What a thread does for one statement, at the region's sizes.

    It runs `rounds` times through the loops that no compiler unrolls; in each round it adds
    `chain` terms to one sum, one after another. `iterations` are those of the statement.
    """

    statement: int
    loads: tuple[Load, ...]
    rounds: int
    chain: int
    iterations: int
    unrolled: int

    @property
    def held(self) -> int:
        """Return the values that a thread holds in registers for the statement."""
        return sum(load.held for load in self.loads)


def thread_work(unit: Unit, choice: Candidate, form: LaunchShape) -> Iterator[ThreadWork]:
    """Yield what a thread does for each statement of a unit."""
    in_register = dict(choice.registers)
    for statement in unit.statements:
        own = {*unit.loops_around(statement)}
        inside = [(name, count) for name, count in form.serial if name in own]
        factor = _unrolled(unit, choice, statement)
        rolled, flat = _split(inside, factor)
        loads = tuple(
            _load(access, rolled, flat, statement in in_register)
            for access in unit.analysis.accesses[statement]
        )
        target = next((a for a in unit.analysis.accesses[statement] if a.is_write), None)
        chain = prod(n for name, n in flat.items() if target and not moves(target, name))
        iterations = prod(count for _, count in inside)
        unrolled = max(factor, prod(flat.values()))
        yield ThreadWork(statement, loads, prod(rolled.values()), chain, iterations, unrolled)


def _unrolled(unit: Unit, choice: Candidate, statement: int) -> int:
    """Return how often the loop of a statement is written out, by a step on it or a neighbour."""
    own = (
        factor
        for number, loop, factor in choice.unroll
        if number == statement or unit.shares(number, statement, loop)
    )
    return next(own, 1)


def _split(inside: Sequence[tuple[str, int]], factor: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the trip counts of the serial loops, and what is unrolled of the innermost one."""
    if not inside:
        return {}, {}
    (*outer, (innermost, count)) = inside
    if count <= max(factor, UNROLLED_BY_COMPILER):
        return dict(outer), {innermost: count}
    return {**dict(outer), innermost: ceil(count / factor)}, {innermost: factor}


def _load(
    access: AccessFacts, rolled: Mapping[str, int], flat: Mapping[str, int], keeps: bool
) -> Load:
    """Return how often an access runs that compilers hoist out of loops that do not move it.

    What the innermost loop moves is loaded for the whole of it first, if that is unrolled and
    registers hold it.
    """
    values = prod(count for name, count in flat.items() if moves(access, name))
    names = list(rolled)
    depth = max((k + 1 for k, name in enumerate(names) if moves(access, name)), default=0)
    is_hoisted = depth < len(names) and values <= MOST_HELD
    if access.is_write and not keeps:
        is_hoisted = False
    if not is_hoisted:
        depth = len(names)
    runs = values * prod(rolled[name] for name in names[:depth])
    return Load(access, runs, values if is_hoisted else 0)


def moves(access: AccessFacts, loop: str) -> bool:
    """Return whether iterations of `loop` touch different elements, so far as it is known."""
    return access.strides.get(loop, 0) != 0


def lanes(unit: Unit, form: LaunchShape, warp_size: int) -> list[dict[str, int]]:
    """Return the thread indices of the first warp's lanes, x fastest, for loops of the text."""
    found = []
    # The lanes' places along each loop are few, and come again and again.
    along = [
        (count, [dict(unit.in_parts(name, index)) for index in range(min(count, warp_size))])
        for name, count in form.thread_trips
    ]
    for lane in range(min(warp_size, max(1, form.threads))):
        rest, place = lane, dict[str, int]()
        for count, places in along:
            place |= places[rest % count]
            rest //= count
        found.append(place)
    return found


def warp_sectors(access: AccessFacts, places: Sequence[Mapping[str, int]], element: int) -> int:
    """Return how many sectors the lanes at `places` touch in one access."""
    moving = [(n, stride) for n, stride in access.strides.items() if stride and n in places[0]]
    offsets = {sum(s * lane[n] for n, s in moving) * element // SECTOR_BYTES for lane in places}
    return len(offsets)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Sectors that all warps of a launch ask for, and that its blocks fetch if each does it once.

    `warps` and `blocks` are those of the launch, idle lanes and all.
    """

    requested: int
    fetched: int
    warps: int
    blocks: int

    def is_less(self, other: Traffic) -> bool:
        """Return whether this is better in one count, and worse in none that matters.

        A launch of few blocks leaves most of a device idle, whatever each of them saves.
        """
        if self.blocks < min(other.blocks, ENOUGH_BLOCKS):
            return False
        own = (self.fetched, self.requested, self.warps)
        its = (other.fetched, other.requested, other.warps)
        return own != its and all(a <= b for a, b in zip(own, its, strict=True))

    def __str__(self) -> str:
        return (
            f"{self.fetched} sectors into {self.blocks} blocks, {self.requested} into "
            f"{self.warps} warps"
        )


def traffic(unit: Unit, choice: Candidate) -> Traffic:
    """Return what a choice asks of memory at the region's sizes, without staged copies."""
    unit = with_merged(unit, choice.merges)
    form = shape(unit, choice)
    places = lanes(unit, form, WARP)
    requested = 0
    # Most accesses move alike.
    known: dict[object, int] = {}
    for access in _touched(unit):
        element = element_of(unit, access)
        key = *access.strides.items(), element
        if key not in known:
            turns = prod(n for name, n in form.serial if moves(access, name))
            known[key] = turns * warp_sectors(access, places, element)
        requested += known[key]
    fetched = sum(box.sectors for box in _boxes(unit, form))
    blocks = form.blocks * _used(unit, choice)
    warps = blocks * ceil(form.threads / WARP)
    full = blocks * max(1.0, form.threads / WARP)
    return Traffic(round(requested * full), round(fetched * blocks), round(warps), form.blocks)


def _used(unit: Unit, choice: Candidate) -> float:
    """Return the share of all tiles' iterations that are inside their loops."""
    trips = [(unit.trips[loop] or size, size) for loop, size in choice.tiles]
    return prod(trip / (ceil(trip / size) * size) for trip, size in trips)


def _touched(unit: Unit) -> Iterator[AccessFacts]:
    for statement in unit.statements:
        yield from unit.analysis.accesses[statement]


@dataclass(frozen=True, slots=True)
class _Box:
    """What a block touches of an array: rows, and elements of `width` bytes in each."""

    rows: int
    length: int
    width: int

    @property
    def sectors(self) -> int:
        # A row begins anywhere in a sector.
        return self.rows * (self.length * self.width // SECTOR_BYTES + 1)


def _boxes(unit: Unit, form: LaunchShape) -> Iterator[_Box]:
    """Yield what a block touches of each array, accesses that differ by constants together."""
    form = in_parts(unit, form)
    counts = dict(form.thread_trips)
    for name, n in form.serial:
        counts[name] = counts.get(name, 1) * n
    groups: dict[tuple[object, ...], list[AccessFacts]] = {}
    for access in _touched(unit):
        groups.setdefault(_kind(access, counts), []).append(access)
    sizes = unit.analysis.region.sizes
    for found in groups.values():
        places = range(len(found[0].indices))
        reaches = [_reach(found, place, counts, sizes) for place in places]
        (*rows, (runs, last)) = reaches or [(1, 1)]
        yield _Box(runs * prod(n * length for n, length in rows), last, element_of(unit, found[0]))


def _kind(access: AccessFacts, counts: Mapping[str, int]) -> tuple[object, ...]:
    """Return what accesses have in common whose elements lie side by side."""
    parts: list[object] = [access.access.array]
    for index in access.indices:
        factors, rest = _linear(from_expr(index), counts)
        parts.append((tuple(sorted((v, str(f)) for v, f in factors.items())), str(_open(rest))))
    return tuple(parts)


def _linear(poly: Poly | None, counts: Mapping[str, int]) -> tuple[Mapping[str, Poly], Poly | None]:
    split = None if poly is None else poly.linear_in(tuple(counts))
    return ({}, None) if split is None else split


def _open(rest: Poly | None) -> Poly | None:
    return None if rest is None else Poly(tuple(term for term in rest.terms if term[0]))


def _reach(
    found: list[AccessFacts], place: int, counts: Mapping[str, int], sizes: Mapping[str, int]
) -> tuple[int, int]:
    """Return how many runs the accesses touch along one dimension, and the elements of each.

    Rows that lie in one dimension, ``A[i*n + j]``, are runs apart where they are longer than
    what is touched of them.
    """
    factors, rest = _linear(from_expr(found[0].indices[place]), counts)
    if rest is None:
        return 1, max(counts.values(), default=1)
    at = []
    for access in found:
        _, own = _linear(from_expr(access.indices[place]), counts)
        at.append(0 if own is None else dict(own.terms).get((), 0))
    runs, length = 1, 1 + max(at) - min(at)
    steps = ((abs(f.at(sizes).constant or 1), counts[v]) for v, f in factors.items())
    for step, count in sorted(steps):
        if step <= length:
            length += step * (count - 1)
        else:
            runs *= count
    return runs, length
