"""How many bytes a kernel moves between the levels of memory, from strides and trip counts.

What a loop uses again is found in a cache if all that one of its iterations touches fits: the
working sets of nested loops (M. Wolf and M. Lam, "A Data Locality Optimizing Algorithm", PLDI
1991, section 3), with the lines of an array counted as K. Kennedy and K. McKinley do
("Optimizing for Parallelism and Data Locality", ICS 1992). Caches are taken as fully associative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from annotune.analysis.facts import AccessFacts

# Bytes of the smallest transfer between L1, L2 and device memory.
SECTOR_BYTES = 32


@dataclass(frozen=True, slots=True)
class Stream:
    """One array access of a statement: its strides in bytes, None where one is not known.

    `loops` are the loops around the statement; the access uses the same element again in those
    that have stride 0.
    """

    array: str
    strides: Mapping[str, int | None]
    element_bytes: int
    is_write: bool

    @classmethod
    def of(cls, access: AccessFacts, element_bytes: int) -> Stream:
        """Return the access of a statement as a stream."""
        strides = {
            name: None if stride is None else abs(stride) * element_bytes
            for name, stride in access.strides.items()
        }
        return cls(access.access.array, strides, element_bytes, access.is_write)

    def moves(self, loop: str) -> bool:
        """Return whether iterations of `loop` touch different elements."""
        return self.strides.get(loop, 0) != 0

    def touched(self, counts: Mapping[str, int]) -> float:
        """Return the bytes of the sectors that the loops of `counts` touch together.

        Runs of neighbours that begin anywhere share a sector with others at either end.
        """
        run, runs, is_aligned = self.element_bytes, 1, True
        moving = [(self.strides[n], c) for n, c in counts.items() if c > 1 and self.moves(n)]
        for stride, count in sorted(moving, key=lambda pair: (pair[0] is None, pair[0] or 0)):
            if stride is not None and runs == 1 and stride <= max(run, SECTOR_BYTES):
                run += stride * (count - 1)
            else:
                runs *= count
                is_aligned &= stride is not None and stride % SECTOR_BYTES == 0
        whole = ceil(run / SECTOR_BYTES) * SECTOR_BYTES
        return float(runs * (whole if is_aligned else run + SECTOR_BYTES - self.element_bytes))


def fetched(
    streams: Sequence[Stream],
    nest: Sequence[tuple[str, int]],
    together: Mapping[str, int],
    room_bytes: float,
) -> tuple[float, ...]:
    """Return the bytes that each stream brings through a cache of `room_bytes`.

    Args:
        streams: The accesses that share the cache.
        nest: Loops that run in order, outermost first, with their trip counts.
        together: Loops whose iterations run at once, inside the nest.
        room_bytes: What the cache holds for these streams.
    """
    inside = dict(together)
    moved = [stream.touched(inside) for stream in streams]
    footprint = list(moved)
    for loop, count in reversed(nest):
        fits = sum(footprint) <= room_bytes
        inside[loop] = inside.get(loop, 1) * count
        wider = [stream.touched(inside) for stream in streams]
        for k, (before, after) in enumerate(zip(footprint, wider, strict=True)):
            # With room for one iteration, the next one brings only what is new.
            moved[k] *= after / before if fits else count
        footprint = wider
    return tuple(moved)


def read_by_waves(
    streams: Sequence[Stream],
    blocks: Sequence[tuple[str, int]],
    inside: Mapping[str, int],
    at_once: int,
    room_bytes: float,
) -> float:
    """Return the bytes of device memory that all blocks move, with an L2 of `room_bytes`.

    `blocks` are the loops of the grid, x first; so many blocks run at once, in this order.
    """
    whole = {**inside, **{name: inside.get(name, 1) * count for name, count in blocks}}
    least = [stream.touched(whole) for stream in streams]
    names = {name for name, _ in blocks}
    again = [k for k, s in enumerate(streams) if any(not s.moves(n) for n in names)]
    if sum(least[k] for k in again) <= room_bytes:
        return sum(least)
    left, wave = at_once, dict(inside)
    for name, count in blocks:
        own = max(1, min(count, left))
        wave[name] = wave.get(name, 1) * own
        left = max(1, left // own)
    waves = ceil(prod(count for _, count in blocks) / max(1, at_once))
    return sum(max(size, waves * s.touched(wave)) for size, s in zip(least, streams, strict=True))
