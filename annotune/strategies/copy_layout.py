"""How often shared memory must be passed for one access of a warp: bank conflicts, counted.

Shared memory has 32 banks; successive 4-byte words lie in successive banks, and each bank gives
one word per pass. Threads that read the same word share it (CUDA C++ Programming Guide, Shared
Memory, for compute capability 5.x and later). A warp's 8-byte access is served in halves and
its 16-byte access in quarters (the same guide up to release 8, for compute capability 2.x;
assumption: devices since then do the same, or better where halves share words).

Where the elements of a staged copy stand in shared memory, so that its banks do not collide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product

from annotune.frozen import dataclass
from annotune.schedule.candidate import Extent
from annotune.schedule.launch_sizes import WARP

BANKS = 32
WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Passes:
    """What the warps of one block need for one access: `transactions`, at the least `ideal`.

    `requests` counts the warps; `ideal` is what they would need if no two words of one group
    of lanes that is served together lay in one bank.
    """

    requests: int
    transactions: int
    ideal: int

    def __add__(self, other: Passes) -> Passes:
        return Passes(
            self.requests + other.requests,
            self.transactions + other.transactions,
            self.ideal + other.ideal,
        )


def served_at_once(width_bytes: int) -> int:
    """Return how many lanes of a warp are served together when each accesses so many bytes."""
    return WARP * WORD_BYTES // max(width_bytes, WORD_BYTES)


def warp_passes(addresses: Sequence[int | None], width_bytes: int) -> Passes:
    """Return the passes for one warp, of which lane k accesses `width_bytes` at ``addresses[k]``.

    Args:
        addresses: Bytes from the start of shared memory; None for a lane that takes no part.
        width_bytes: What one lane accesses, at a multiple of it: 1, 2, 4, 8 or 16.

    Raises:
        ValueError: There is no access of this width, or there are more lanes than in a warp.
    """
    if width_bytes not in (1, 2, 4, 8, 16):
        raise ValueError(f"one thread accesses {width_bytes} bytes, expected 1, 2, 4, 8 or 16")
    if len(addresses) > WARP:
        raise ValueError(f"{len(addresses)} lanes, expected at most {WARP}")
    together = served_at_once(width_bytes)
    groups = (addresses[first : first + together] for first in range(0, WARP, together))
    active = [[a for a in group if a is not None] for group in groups]
    counts = [_group_passes(group, width_bytes) for group in active if group]
    return Passes(int(bool(counts)), sum(counts), len(counts))


def _group_passes(addresses: Iterable[int], width_bytes: int) -> int:
    """Return the most different words that lanes served together want of one bank."""
    words = {
        word
        for address in addresses
        for word in range(address // WORD_BYTES, (address + width_bytes - 1) // WORD_BYTES + 1)
    }
    wanted = [0] * BANKS
    for word in words:
        wanted[word % BANKS] += 1
    return max(wanted)


# Elements that lengthen a row at most.
MOST_PADDING = 4


def copy_layout(
    rows: Sequence[Extent], order: Sequence[Extent], element_bytes: int, multiple: int = 1
) -> tuple[tuple[str, int], ...]:
    """Return the stride of each loop of a copy, in the order in which the copy is filled.

    `rows` are the loops of the copy with their extents, from neighbouring elements outward;
    `order` the same from the outermost loop of the filling to the innermost. Each row but the
    first may be longer than it need be, by the least that keeps neighbouring threads, which
    fill consecutive elements of `order`, from meeting in a bank. All are `multiple` elements long
    or so many of them.
    """
    lanes = _lanes(order, element_bytes)
    paddings = product(range(MOST_PADDING + 1), repeat=len(rows) - 1)
    tried = sorted(paddings, key=lambda padding: (sum(padding), padding))
    least, best = 0, dict[str, int]()
    for padding in tried:
        strides = _strides(rows, padding, multiple)
        passes = _passes(lanes, strides, element_bytes)
        if not best or passes.transactions < least:
            least, best = passes.transactions, strides
        if passes.transactions == passes.ideal:
            break
    return tuple((loop, best[loop]) for loop, _ in order)


def _strides(rows: Sequence[Extent], padding: Sequence[int], multiple: int) -> dict[str, int]:
    strides: dict[str, int] = {}
    length = 1
    for (loop, extent), more in zip(rows, (*padding, 0), strict=True):
        strides[loop] = length
        length = -(-(length * extent + more) // multiple) * multiple
    return strides


def _lanes(order: Sequence[Extent], element_bytes: int) -> list[dict[str, int]]:
    """Return the elements, by their place along each loop, that threads fill at once."""
    every = product(*(range(extent) for _, extent in order))
    names = [loop for loop, _ in order]
    together = served_at_once(element_bytes)
    return [dict(zip(names, place, strict=True)) for place in islice(every, together)]


def _passes(lanes: Sequence[dict[str, int]], strides: dict[str, int], element_bytes: int) -> Passes:
    """Return how often the busiest bank is asked for different words, and the least possible."""
    places = (sum(strides[loop] * index for loop, index in lane.items()) for lane in lanes)
    return warp_passes([place * element_bytes for place in places], element_bytes)


def apart(
    loop: str,
    layout: Sequence[Extent],
    threads: Sequence[Extent],
    element_bytes: int,
    multiple: int,
) -> tuple[Extent, ...]:
    """Return a layout in which the outermost rows, those of `loop`, are further apart if need be.

    They are so by the least with which a warp of `threads`, x first, reads one element each in as
    few passes as it can. All distances between them are a `multiple`.
    """
    strides = dict(layout)
    least = -(-strides[loop] // multiple) * multiple

    def passes(distance: int) -> int:
        own, places = strides | {loop: distance}, []
        for lane in range(WARP):
            place, rest = 0, lane
            for name, count in threads:
                place, rest = place + own.get(name, 0) * (rest % count), rest // count
            places.append(None if rest else place * element_bytes)
        return warp_passes(places, element_bytes).transactions

    banks = BANKS * WORD_BYTES // element_bytes
    best = min(range(least, least + banks + 1, multiple), key=lambda n: (passes(n), n))
    return tuple((name, best if name == loop else n) for name, n in layout)


def vector_layout(
    first: Extent,
    order: Sequence[Extent],
    threads: tuple[Extent, Extent],
    element_bytes: int,
    width: int,
    read: int,
) -> tuple[tuple[str, int], ...] | None:
    """Return a layout with the neighbours along `first` side by side, `width` by `width` aligned.

    The other loops follow it outward: threads, then registers, then the rest. Rows are longer by
    the least with which a warp of `threads` reads `read` neighbours per thread in as few passes
    as there are; None where no padding does that.
    """
    rank = {loop: place for place, (loop, _) in enumerate(threads)}
    others = [row for row in order if row != first]
    rows = (first, *sorted(others, key=lambda row: rank.get(row[0], len(rank))))
    lanes = [
        {threads[0][0]: lane % threads[0][1], threads[1][0]: lane // threads[0][1] % threads[1][1]}
        for lane in range(WARP)
    ]
    paddings = product(range(0, width * MOST_PADDING + 1, width), repeat=len(rows) - 1)
    for padding in sorted(paddings, key=lambda p: (sum(p), p)):
        strides = _strides(rows, padding, 1)
        if any(stride % width for loop, stride in strides.items() if loop != first[0]):
            continue
        places = (sum(strides.get(x, 0) * k for x, k in lane.items()) for lane in lanes)
        passes = warp_passes([p * element_bytes for p in places], read * element_bytes)
        if passes.transactions == passes.ideal:
            return tuple((loop, strides[loop]) for loop, _ in order)
    return None


# Elements that lengthen a row at most where a warp reads fragments of matrices.
MOST_APART = 14


def fragment_layout(
    order: Sequence[Extent],
    lanes: Sequence[Mapping[str, int]],
    element_bytes: int,
    steps: Mapping[str, int],
) -> tuple[tuple[str, int], ...]:
    """Return a layout in the order of the filling that `lanes` of a warp read in the fewest passes.

    Neighbours of the innermost loop of `order` stay neighbours, pairs of them aligned where it has
    an even number. Rows of the other loops, which follow it outward, are longer by the least that
    does this. The stride of a loop is a multiple of its number in `steps`.
    """
    rows = tuple(reversed(order))
    unit = 1 if rows[0][1] % 2 else 2
    best: tuple[int, dict[str, int]] | None = None
    paddings = product(range(0, MOST_APART + 1, unit), repeat=len(rows) - 1)
    for padding in sorted(paddings, key=lambda p: (sum(p), p)):
        strides = _strides(rows, padding, unit)
        if any(strides[x] % step for x, step in steps.items()):
            continue
        places = [sum(strides[x] * k for x, k in lane.items()) for lane in lanes]
        passes = warp_passes([p * element_bytes for p in places], element_bytes)
        if best is None or passes.transactions < best[0]:
            best = (passes.transactions, strides)
        if passes.transactions == passes.ideal:
            break
    assert best is not None, "rows without padding have such strides"
    return tuple((loop, best[1][loop]) for loop, _ in order)
