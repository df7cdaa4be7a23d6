"""The `stencil` strategy: tiles whose rows share what they read around each point.

Sources: P. Micikevicius, "3D Finite Difference Computation on GPUs using CUDA", GPGPU-2, 2009,
doi:10.1145/1513895.1513905 (a tile with its halo in shared memory, planes marching along the
outer loop); J. Holewinski, L.-N. Pouchet and P. Sadayappan, "High-Performance Code Generation for
Stencil Computations on GPU Architectures", ICS 2012, doi:10.1145/2304576.2304619.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotune.decide.plan import Candidate, Reason
from annotune.decide.pointwise import Pointwise, may_copy, offsets, pointwise, tiled
from annotune.decide.units import Unit

# Threads of a tile: whole warps along the contiguous loop, and rows that read each other's.
TILES = ((32, 8), (32, 4), (64, 4), (16, 16), (32, 16), (128, 2))
ALONE = (256, 128)
# Planes that one block marches through.
PLANES = (8, 16)
# From so many reads of a copied element on, copying may pay.
LEAST_READS = 3


def alternatives(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's choices for a unit, the rules' own first, or why it has none."""
    nest = pointwise(unit)
    if isinstance(nest, str):
        return nest
    families = [f for f in nest.families if len(offsets(nest, f)) > 1]
    if not families:
        return "no array is read at several places around one"
    return tuple(_choices(nest))


def _choices(nest: Pointwise) -> Iterator[Candidate]:
    """Yield tiles in memory, tiles with a staged halo, and tiles that march through planes."""
    inner, *others = nest.loops
    if not others:
        for size in ALONE:
            yield from _tile(nest, ((inner, size),))
        return
    for lanes, rows in TILES:
        yield from _tile(nest, ((inner, lanes), (others[0], rows)))
    for planes in PLANES if len(others) > 1 else ():
        for lanes, rows in TILES[:2]:
            yield from _tile(nest, ((inner, lanes), (others[0], rows), (others[1], planes)))


def _tile(nest: Pointwise, tiles: Sequence[tuple[str, int]]) -> Iterator[Candidate]:
    """Yield a tile, and the same with copies of what its threads read of each other's."""
    threads = [loop for loop, _ in tiles[:2]]
    why = tuple(_reasons(nest, tiles))
    yield tiled(nest, tiles, threads, why)
    arrays = tuple(_shared(nest, threads))
    if arrays:
        rule = "a tile with its halo in shared memory; each element is used again"
        staged = Reason("staged", ", ".join(arrays), rule)
        choice = tiled(nest, tiles, threads, (*why, staged), arrays)
        if may_copy(nest, choice):
            yield choice


def _shared(nest: Pointwise, threads: Sequence[str]) -> Iterator[str]:
    """Yield the arrays of which one plane of the threads' loops is read often enough."""
    count: dict[str, int] = {}
    for family in nest.families:
        planes: dict[tuple[int, ...], int] = {}
        for offset in offsets(nest, family):
            place = tuple(offset.get(n, 0) for n in nest.loops if n not in threads)
            planes[place] = planes.get(place, 0) + 1
        array = family[0].access.array
        # Two families of an array share no copy.
        count[array] = 0 if array in count else max(planes.values())
    yield from (array for array, reads in count.items() if reads >= LEAST_READS)


def _reasons(nest: Pointwise, tiles: Sequence[tuple[str, int]]) -> Iterator[Reason]:
    arrays = dict.fromkeys(f[0].access.array for f in nest.families if len(offsets(nest, f)) > 1)
    yield Reason("strategy", "stencil", f"reads around a point of {', '.join(arrays)}")
    places = ("thread.x", "thread.y", "planes")
    rules = ("contiguous", "rows read each other's elements", "one after the other in a block")
    for (loop, size), place, rule in zip(tiles, places, rules, strict=False):
        yield Reason(place, f"{loop} by {size}", rule)
