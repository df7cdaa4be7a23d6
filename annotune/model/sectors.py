"""What a mapping asks of memory, counted without any device: sectors per warp, and per block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.ir.poly import Poly, from_expr
from annotune.model.shape import Shape, in_parts, shape
from annotune.schedule.candidate import Candidate
from annotune.schedule.launch_sizes import ENOUGH_BLOCKS, WARP
from annotune.schedule.units import Unit, with_merged

# Bytes that a device moves at least (CUDA C++ Best Practices Guide, Coalesced Access).
SECTOR_BYTES = 32
_BYTES = {"double": 8, "float": 4, "int": 4}


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
    requested = sum(_of_warp(unit, access, form) for access in _touched(unit))
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


def _of_warp(unit: Unit, access: AccessFacts, form: Shape) -> int:
    """Return the sectors that an access of one full warp touches in all its turns."""
    width = _width(unit, access)
    places = set()
    for lane in range(min(WARP, form.threads)):
        rest, offset = lane, 0
        for name, count in form.thread_trips:
            for part, index in unit.in_parts(name, rest % count):
                offset += (access.strides.get(part) or 0) * index
            rest //= count
        places.add(offset * width // SECTOR_BYTES)
    moving = (n for name, n in form.serial if access.strides.get(name, 0) != 0)
    return len(places) * prod(moving)


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


def _boxes(unit: Unit, form: Shape) -> Iterator[_Box]:
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
        yield _Box(runs * prod(n * length for n, length in rows), last, _width(unit, found[0]))


def _kind(access: AccessFacts, counts: Mapping[str, int]) -> tuple[object, ...]:
    """Return what accesses have in common whose elements lie side by side."""
    parts: list[object] = [access.access.array]
    for index in access.indices:
        factors, rest = _split(from_expr(index), counts)
        parts.append((tuple(sorted((v, str(f)) for v, f in factors.items())), str(_open(rest))))
    return tuple(parts)


def _split(poly: Poly | None, counts: Mapping[str, int]) -> tuple[Mapping[str, Poly], Poly | None]:
    split = None if poly is None else poly.linear_in(tuple(counts))
    return ({}, None) if split is None else split


def _open(rest: Poly | None) -> Poly | None:
    """Return a polynomial without its constant."""
    return None if rest is None else Poly(tuple(term for term in rest.terms if term[0]))


def _reach(
    found: list[AccessFacts], place: int, counts: Mapping[str, int], sizes: Mapping[str, int]
) -> tuple[int, int]:
    """Return how many runs the accesses touch along one dimension, and the elements of each.

    Rows that lie in one dimension, ``A[i*n + j]``, are runs apart where they are longer than
    what is touched of them.
    """
    factors, rest = _split(from_expr(found[0].indices[place]), counts)
    if rest is None:
        return 1, max(counts.values(), default=1)
    at = []
    for access in found:
        _, own = _split(from_expr(access.indices[place]), counts)
        at.append(0 if own is None else dict(own.terms).get((), 0))
    runs, length = 1, 1 + max(at) - min(at)
    steps = ((abs(f.at(sizes).constant or 1), counts[v]) for v, f in factors.items())
    for step, count in sorted(steps):
        if step <= length:
            length += step * (count - 1)
        else:
            runs *= count
    return runs, length


def _width(unit: Unit, access: AccessFacts) -> int:
    array = unit.analysis.region.arrays.get(access.access.array)
    return _BYTES.get(array.element if array is not None else "double", 8)
