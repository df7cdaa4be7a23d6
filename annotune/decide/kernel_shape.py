"""Trip counts of a kernel by role: what of a unit's loops runs on blocks, threads, and in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, prod

from annotune.decide.plan import Candidate
from annotune.decide.rules import MAX_THREADS, TEAM
from annotune.decide.units import Unit
from annotune.transforms.deal import deal_name
from annotune.transforms.tile import tile_name


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
