"""Trip counts of a kernel by role: what of a unit's loops runs on blocks, threads, and in order.

What one thread of a direct kernel does: its loads, what it holds, and how long it waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.ir.c_types import WORD, element_bytes
from annotune.schedule.candidate import Candidate
from annotune.schedule.launch_sizes import MAX_THREADS, TEAM
from annotune.schedule.units import Unit
from annotune.transforms.tile import deal_name, tile_name


@dataclass(frozen=True, slots=True)
class Shape:
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


def shape(unit: Unit, choice: Candidate) -> Shape:
    """Return what `choice` makes of the unit's loops; unknown trip counts count as one.

    Threads beyond a full block run serially, as the emitted grid does.
    """
    parts = {part for loops in unit.merges for part in loops}
    trips = {name: n or 1 for name, n in unit.trips.items() if name not in parts}
    tiled = {tile_name(loop): (loop, size) for loop, size in choice.tiles}
    blocks = []
    for name in choice.blocks:
        loop, size = tiled.get(name, (name, 1))
        blocks.append((loop, ceil(trips.get(loop, 1) / size)))
    sizes = dict(choice.tiles)
    workers = {deal_name(loop): (loop, count) for loop, count in choice.deals}
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
    return Shape(tuple(threads), tuple(blocks), tuple(serial))


def element_of(unit: Unit, access: AccessFacts) -> int:
    """Return the bytes of an element of what is accessed, those of a double for a private one."""
    array = unit.analysis.region.arrays.get(access.access.array)
    return element_bytes(array.element) if array is not None else WORD


def in_parts(unit: Unit, form: Shape) -> Shape:
    """Return a shape with the loops of the text in the place of merged ones, about as often.

    Neighbouring iterations of a merged loop are all of its inner parts and some of the next.
    """
    left = dict(unit.trips)

    def parted(trips: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
        for name, count in trips:
            parts = unit.parts_of(name)
            for part in reversed(parts) if len(parts) > 1 else ():
                whole = left[part] or 1
                own = max(1, min(whole, count))
                count, left[part] = max(1, round(count / own)), ceil(whole / own)
                yield part, own
            if len(parts) == 1:
                yield name, count

    threads = tuple(parted(form.thread_trips))
    serial = tuple(parted(form.serial))
    return Shape(threads, tuple(parted(form.block_trips)), serial)


def host_trips(unit: Unit, choice: Candidate) -> dict[str, int]:
    """Return the loops that the host runs around the launch, with their trip counts."""
    names = unit.loops_around(unit.leader)
    outer = names[: names.index(unit.band[0].var)] if unit.band else ()
    return {name: unit.trips.get(name) or 1 for name in (*outer, *unit.host)}


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


def thread_work(unit: Unit, choice: Candidate, form: Shape) -> Iterator[ThreadWork]:
    """Yield what a thread does for each statement of a unit."""
    factors = {statement: factor for statement, _, factor in choice.unroll}
    in_register = dict(choice.registers)
    for statement in unit.statements:
        own = {*unit.loops_around(statement)}
        inside = [(name, count) for name, count in form.serial if name in own]
        rolled, flat = _split(inside, factors.get(statement, 1))
        loads = tuple(
            _load(access, rolled, flat, statement in in_register)
            for access in unit.analysis.accesses[statement]
        )
        target = next((a for a in unit.analysis.accesses[statement] if a.is_write), None)
        chain = prod(n for name, n in flat.items() if target and not _moves(target, name))
        iterations = prod(count for _, count in inside)
        unrolled = max(factors.get(statement, 1), prod(flat.values()))
        yield ThreadWork(statement, loads, prod(rolled.values()), chain, iterations, unrolled)


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
    values = prod(count for name, count in flat.items() if _moves(access, name))
    names = list(rolled)
    depth = max((k + 1 for k, name in enumerate(names) if _moves(access, name)), default=0)
    is_hoisted = depth < len(names) and values <= MOST_HELD
    if access.is_write and not keeps:
        is_hoisted = False
    if not is_hoisted:
        depth = len(names)
    runs = values * prod(rolled[name] for name in names[:depth])
    return Load(access, runs, values if is_hoisted else 0)


def _moves(access: AccessFacts, loop: str) -> bool:
    return access.strides.get(loop, 0) != 0


def lanes(unit: Unit, form: Shape, warp_size: int) -> list[dict[str, int]]:
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
