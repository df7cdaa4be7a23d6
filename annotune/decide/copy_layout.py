"""Where the elements of a staged copy stand in shared memory, so that its banks do not collide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product

from annotune.decide.bank_conflicts import WARP, served_at_once, warp_passes
from annotune.decide.contraction_tile import Extent

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
    best = min(
        tried,
        key=lambda padding: _requests(lanes, _strides(rows, padding, multiple), element_bytes),
    )
    strides = _strides(rows, best, multiple)
    return tuple((loop, strides[loop]) for loop, _ in order)


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


def _requests(lanes: Sequence[dict[str, int]], strides: dict[str, int], element_bytes: int) -> int:
    """Return how often the busiest bank is asked for different words."""
    places = (sum(strides[loop] * index for loop, index in lane.items()) for lane in lanes)
    return warp_passes([place * element_bytes for place in places], element_bytes).transactions


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
