"""The accesses of a planned kernel to the user's arrays, with what a warp's lanes touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

from annotune.analysis.facts import Analysis
from annotune.codegen.cuda.grid import THREADS, grid
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access, Expr, Int, accesses, print_expr, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Assign, Level, Loop
from annotune.model.shape import SECTOR_BYTES
from annotune.schedule.plan import Kernel
from machine_code.parts import spelled_out, with_parts

WARP = 32
_OWN = (Level.SERIAL, Level.BLOCK_X, Level.BLOCK_Y, Level.BLOCK_Z, *THREADS)


@dataclass(frozen=True, slots=True)
class GlobalAccess:
    """One access to an array in device memory: what the warps of a block touch by it once.

    `sectors` are those of 32 bytes that all warps touch, `least` what they would if the elements
    lay side by side; `run_bytes` is the shortest piece of neighbouring bytes that a warp touches.
    `is_copy` marks copies that all threads of a block make together. `repeats` tells how often
    the kernel accesses each element; one copy serves all threads of a block.
    """

    array: str
    text: str
    is_write: bool
    is_copy: bool
    sectors: int
    least: int
    run_bytes: int
    repeats: int

    @property
    def factor(self) -> float:
        """Return how many times the least number of sectors is touched."""
        return self.sectors / self.least if self.least else 1.0


def global_accesses(
    kernel: Kernel, analysis: Analysis, sizes: Mapping[str, int]
) -> tuple[GlobalAccess, ...]:
    """Return every access of `kernel` to the region's arrays, in the order of the text.

    Blocks and serial loops stand at their first iteration, where tiles are whole; lanes that a
    condition leaves out there are counted, since at that place none is.
    """
    block = prod(grid(kernel, sizes).threads)
    found = []
    for assign, loops, parts in with_parts(kernel.body):
        for named, is_write in _accesses(assign):
            if named.array in analysis.region.arrays:
                access = spelled_out(named, parts)
                found.append(_counted(access, is_write, analysis, loops, sizes, block))
    return tuple(found)


def _accesses(assign: Assign) -> Iterator[tuple[Access, bool]]:
    for source in assign.sources():
        yield from ((access, False) for access in accesses(source))
    if isinstance(assign.target, Access):
        if assign.op != "=":
            yield assign.target, False
        yield assign.target, True


def _counted(
    access: Access,
    is_write: bool,
    analysis: Analysis,
    loops: Sequence[Loop],
    sizes: Mapping[str, int],
    block: int,
) -> GlobalAccess:
    values = dict(sizes)
    counts = {}
    for loop in loops:
        first = fold(loop.lower, values)
        known = {name: value for name, value in values.items() if name != loop.var}
        count = fold(trip_count(loop), known)
        values[loop.var] = first.value if isinstance(first, Int) else 0
        counts[loop.var] = count.value if isinstance(count, Int) else 1
    dealt = [loop for loop in loops if loop.place not in _OWN]
    # Of the loops that all threads share the innermost varies fastest, of the axes x.
    threads = dealt[::-1] or [loop for level in THREADS for loop in loops if loop.place is level]
    element = element_bytes(analysis.region.arrays[access.array].element)
    lengths = [fold(x, sizes) for x in analysis.shapes[access.array].extents[1:] if x is not None]

    addresses = [
        _place(access.indices, lengths, known) * element
        for known in _lanes(threads, counts, values)
    ]
    sectors = least = 0
    runs = []
    for first_thread in range(0, len(addresses), block):
        together = addresses[first_thread : first_thread + block]
        for lane in range(0, len(together), WARP):
            touched = sorted(set(together[lane : lane + WARP]))
            sectors += len({address // SECTOR_BYTES for address in touched})
            least += -(-len(touched) * element // SECTOR_BYTES)
            runs += _runs(touched, element)
    moving = _moving(access, loops)
    shared = (*dealt, *(x for x in loops if x.place in THREADS)) if dealt else ()
    again = prod(counts[x.var] for x in loops if x.var not in moving and x not in shared)
    return GlobalAccess(
        access.array, print_expr(access), is_write, bool(dealt), sectors, least, min(runs), again
    )


def _lanes(
    threads: Sequence[Loop], counts: Mapping[str, int], values: Mapping[str, int]
) -> Iterator[Mapping[str, int]]:
    """Yield the values of all iterators in each lane; the first of `threads` varies fastest."""
    names = [loop.var for loop in reversed(threads)]
    ranges = [
        [values[loop.var] + k * loop.step for k in range(max(1, counts[loop.var]))]
        for loop in reversed(threads)
    ]
    for lane in product(*ranges):
        yield {**values, **dict(zip(names, lane, strict=True))}


def _moving(access: Access, loops: Sequence[Loop]) -> frozenset[str]:
    """Return the loops that move an access, those over tiles among them."""
    names = frozenset[str]().union(*(variables(index) for index in access.indices))
    for loop in reversed(loops):
        if loop.var in names:
            names |= variables(loop.lower) | variables(loop.upper)
    return names


def _runs(addresses: Sequence[int], element: int) -> list[int]:
    """Return the bytes of each piece of neighbours among sorted addresses."""
    found = [element]
    for before, after in pairwise(addresses):
        if after - before == element:
            found[-1] += element
        else:
            found.append(element)
    return found


def _place(indices: Sequence[Expr], lengths: Sequence[Expr], values: Mapping[str, int]) -> int:
    """Return the element that indices name; `lengths` are those of all dimensions but the first.

    Raises:
        ValueError: An index or a length has no value.
    """
    place = 0
    inner = lengths if len(indices) > 1 else ()
    for index, length in zip(indices, (Int(1), *inner), strict=True):
        own = fold(index, values)
        if not isinstance(own, Int) or not isinstance(length, Int):
            raise ValueError(f"an index has no value: {print_expr(index)}")
        place = place * length.value + own.value
    return place
