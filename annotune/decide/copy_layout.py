"""Where the elements of a staged copy stand in shared memory, so that its banks do not collide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from annotune.decide.contraction_tile import Extent

# Shared memory has 32 banks of 4 bytes, each serving one word at a time; accesses of 8 bytes are
# served for half a warp at once (CUDA C++ Programming Guide, Shared Memory).
BANKS = 32
BANK_BYTES = 4
WARP = 32
MOST_PADDING = 4


def copy_layout(
    rows: Sequence[Extent], order: Sequence[Extent], element_bytes: int
) -> tuple[tuple[str, int], ...]:
    """Return the stride of each loop of a copy, in the order in which the copy is filled.

    `rows` are the loops of the copy with their extents, from neighbouring elements outward;
    `order` the same from the outermost loop of the filling to the innermost. Each row but the
    first may be longer than it need be, by the least that keeps neighbouring threads, which
    fill consecutive elements of `order`, from meeting in a bank.
    """
    lanes = _lanes(order, element_bytes)
    paddings = product(range(MOST_PADDING + 1), repeat=len(rows) - 1)
    tried = sorted(paddings, key=lambda padding: (sum(padding), padding))
    best = min(tried, key=lambda padding: _requests(lanes, _strides(rows, padding), element_bytes))
    strides = _strides(rows, best)
    return tuple((loop, strides[loop]) for loop, _ in order)


def _strides(rows: Sequence[Extent], padding: Sequence[int]) -> dict[str, int]:
    strides: dict[str, int] = {}
    length = 1
    for (loop, extent), more in zip(rows, (*padding, 0), strict=True):
        strides[loop] = length
        length = length * extent + more
    return strides


def _lanes(order: Sequence[Extent], element_bytes: int) -> list[dict[str, int]]:
    """Return the elements, by their place along each loop, that threads fill at once."""
    every = product(*(range(extent) for _, extent in order))
    together = WARP * BANK_BYTES // element_bytes if element_bytes > BANK_BYTES else WARP
    names = [loop for loop, _ in order]
    return [dict(zip(names, place, strict=True)) for place in islice(every, together)]


def _requests(lanes: Sequence[dict[str, int]], strides: dict[str, int], element_bytes: int) -> int:
    """Return how often the busiest bank is asked for different words."""
    words: dict[int, set[int]] = {}
    for place in lanes:
        at = sum(strides[loop] * index for loop, index in place.items())
        for word in _words(at, element_bytes):
            words.setdefault(word % BANKS, set()).add(word)
    return max(map(len, words.values()), default=0)


def _words(at: int, element_bytes: int) -> Iterator[int]:
    count = max(1, element_bytes // BANK_BYTES)
    yield from range(at * count, (at + 1) * count)
