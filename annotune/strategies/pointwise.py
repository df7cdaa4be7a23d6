"""Nests whose every iteration stands alone: the strategies `elementwise` and `stencil`.

The `elementwise` strategy: neighbouring threads on neighbouring elements, in full blocks.

Sources: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory" (a
transposed input through a padded tile); M. Harris, "CUDA Pro Tip: Write Flexible Kernels with
Grid-Stride Loops", NVIDIA Developer Blog, 2013; "Deep Dive into GPU Programming: Experience with
Optimizing Tensor Contractions", a talk at Pacific Northwest National Laboratory (loops as one).

The `stencil` strategy: tiles whose rows share what they read around each point.

Sources: P. Micikevicius, "3D Finite Difference Computation on GPUs using CUDA", GPGPU-2, 2009,
doi:10.1145/1513895.1513905 (a tile with its halo in shared memory, planes marching along the
outer loop); J. Holewinski, L.-N. Pouchet and P. Sadayappan, "High-Performance Code Generation for
Stencil Computations on GPU Architectures", ICS 2012, doi:10.1145/2304576.2304619.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.diagnostics import NOWHERE
from annotune.model.shape import LaunchShape, shape, traffic
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.launch_sizes import DEVICE_THREADS, SURPLUS, WARP
from annotune.schedule.units import Unit, as_merged, refused_merges, with_merged
from annotune.strategies.nests import Pointwise, offsets, pointwise
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile, tile_name
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context, Transform, asked_once


def tiled(
    nest: Pointwise,
    tiles: Sequence[tuple[str, int]],
    threads: Sequence[str],
    reasons: Sequence[Reason],
    staged: Sequence[str] = (),
    padding: int = 0,
    max_blocks: int = 0,
) -> Candidate:
    """Return the choice with `tiles` on blocks, and all other loops after them.

    Loops of tiles that are in `threads` run there, the others inside the thread. A block has
    copies of what it reads of the arrays in `staged`, made before the statements.
    """
    unit, cut = nest.unit, dict(tiles)
    names = [tile_name(n) if n in cut else n for n in nest.loops]
    taken = {n for n in threads if n not in cut}
    blocks = tuple(n for n in names if n not in taken)
    copies: list[Transform] = []
    for array in staged:
        reader = next(a.statement for a in unit.reads if a.access.array == array)
        copies.append(Stage(reader, array, padding=padding))
    copies.sort(key=lambda copy: copy.statement)
    padded = tuple(loop for loop, _ in tiles if loop in threads)
    if copies and padded:
        copies.append(Pad(copies[0].statement, padded))
    return Candidate.of_axes(
        unit.parts,
        *copies,
        tiles=tiles,
        blocks=blocks,
        threads=threads,
        host=unit.host,
        max_blocks=max_blocks,
        reasons=reasons,
    )


def may_copy(nest: Pointwise, choice: Candidate) -> bool:
    """Return whether all the copies of a choice are right, and fit a block."""
    unit = nest.unit
    body, context = unit.body, unit.context
    for step in choice.of(Tile):
        body = step.apply(body, context)
    if choice.mapping is not None:
        body = choice.mapping.apply(body, context)
    for stage in choice.of(Stage):
        if stage.why_not(body, Context(unit.analysis)) is not None:
            return False
        body = stage.apply(body, Context(unit.analysis))
    return True


def tiles_of(nest: Pointwise, loop: str, size: int) -> int:
    """Return how many tiles of a size a loop has."""
    return ceil(nest.trip(loop) / size)


# Threads of a block: the usual starts for full occupancy (CUDA C++ Best Practices Guide,
# Thread and Block Heuristics).
BLOCK_SIZES = (256, 128)
# Elements of one thread, one after the other: further loads on their way while it waits.
PER_THREAD = (2, 4)
# The same where an input is kept for them, in the order of preference: what divides the loop.
# Four took 748 us where one took 869 and eight 747, an outer product of 24^6 on an H200.
ELEMENTS = (4, 3, 2)
# The sides of a tile through which a transposed input goes: 16 doubles are a line of 128 bytes.
SQUARES = (16, 32)
# One more element per row, and neither rows nor columns of a tile meet in a bank.
PADDING = 1
# Loops run as one where that saves this share of the turns: threads may have to divide for it.
FULLER = 0.1
# Threads of a few elements each end together and fill the device to the last; they may ask the
# caches for so many times more. Outer products of 24^6 and 28^6 on an H200 took 775 and 1960 us
# so; by blocks of long threads 777 to 1923 and 2659 to 4071.
MORE_ASKED = 1.5


@asked_once
def elementwise(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the strategy's choices for a unit, the rules' own first, or why it has none."""
    nest = pointwise(unit)
    if isinstance(nest, str):
        return nest
    if any(len(offsets(nest, family)) > 1 for family in nest.families):
        return "an array is read at several places around one"
    across = tuple(f[0] for f in nest.families if _is_across(nest, f[0]))
    every = (*_transposing(nest, across), *_plain(nest))
    flat = tuple(_flat(nest, every[0]))
    if flat and fills_more(unit, flat[0], every[0]):
        every = (*flat, *every)
    return tuple(dict.fromkeys((*every, *flat)))


def _is_across(nest: Pointwise, access: AccessFacts) -> bool:
    """Return whether an input is contiguous in the second loop, where it is not in the first.

    What has not all the loops is read again and again, and stays in the caches.
    """
    if len(nest.loops) < 2 or not all(access.strides.get(n) for n in nest.loops):
        return False
    inner, second = nest.loops[:2]
    strides = access.strides
    return abs(strides.get(second) or 0) == 1 != abs(strides.get(inner) or 0) and inner in strides


def _plain(nest: Pointwise) -> Iterator[Candidate]:
    """Yield blocks of threads along the contiguous loop, then more elements for each thread."""
    inner, *others = nest.loops
    for threads in BLOCK_SIZES:
        lanes = _lanes(nest.trip(inner), threads)
        rows = min(threads // lanes, nest.trip(others[0])) if others else 1
        tiles, axes = [(inner, lanes)], [inner]
        if rows > 1:
            tiles.append((others[0], rows))
            axes.append(others[0])
        why = _plain_reasons(nest, lanes, rows)
        plain = tiled(nest, tiles, axes, why)
        yield plain
        blocks = prod(tiles_of(nest, n, dict(tiles).get(n, 1)) for n in nest.loops)
        for count in PER_THREAD:
            several = Reason("elements", f"{count} per thread", "as another point of the space")
            if rows == 1 and others and nest.trip(others[0]) >= count:
                cut = (*tiles, (others[0], count))
                yield tiled(nest, cut, axes, (*why, several))
            elif blocks >= 2 * count:
                # A thread goes on a grid further: its loads stay coalesced.
                yield tiled(nest, tiles, axes, (*why, several), max_blocks=-(-blocks // count))


def _flat(nest: Pointwise, general: Candidate) -> Iterator[Candidate]:
    """Yield blocks of threads along loops as one: all, or all but one that a thread runs.

    All of them where rows are no multiple of a warp. How often such a loop runs is fixed;
    `general` serves other sizes.
    """
    if not nest.unit.writes:
        return
    yield from _kept(nest, general)
    if len(nest.loops) < 2 or nest.trip(nest.loops[0]) % WARP == 0:
        return
    flat = _as_one(nest, nest.loops)
    if flat is None:
        return
    (name,) = flat.loops
    rule = f"rows of {nest.trip(nest.loops[0])} fill no warps; one index for all{_decoded(flat)}"
    why = Reason("merged", f"{', '.join(flat.unit.merges[-1])} as {name}", rule)
    for choice in _plain(flat):
        reasons = (*choice.reasons, why)
        made = as_merged(choice, flat.unit.merges)
        yield replace(made, general=general, reasons=reasons)


def _kept(nest: Pointwise, general: Candidate) -> Iterator[Candidate]:
    """Yield blocks along all loops but one as one, a few elements along that one per thread.

    Of the loops that some input does not have, so that a thread keeps what it has loaded of
    it, one with which warps ask for the least, about; of these the outermost of what is written.
    Its loads are on their way together.
    """
    written = nest.unit.writes[0]
    reads = [family[0] for family in nest.families]
    found: list[tuple[int, int, Candidate]] = []
    for loop in nest.loops[1:] if len(nest.loops) > 2 else ():
        count = next((n for n in ELEMENTS if nest.trip(loop) % n == 0), ELEMENTS[0])
        total = prod(nest.trip(n) for n in nest.loops)
        if all(read.strides.get(loop) for read in reads) or nest.trip(loop) < count:
            continue
        if total // count < DEVICE_THREADS:
            continue
        flat = _as_one(nest, [n for n in nest.loops if n != loop])
        if flat is None or flat.loops[0] == loop:
            continue
        name = flat.loops[0]
        if _surplus(flat.trip(name), BLOCK_SIZES[0]) > SURPLUS:
            continue
        why = (
            Reason("strategy", "elementwise", "every iteration stands alone"),
            Reason("thread.x", f"{name} by {BLOCK_SIZES[0]}", "contiguous in what is written"),
            Reason(
                "merged",
                f"{', '.join(flat.unit.merges[-1])} as {name}",
                f"all lanes are busy{_decoded(flat)}",
            ),
            Reason("elements", f"{count} of {loop} per thread", "an input stays in its registers"),
        )
        choice = tiled(flat, ((name, BLOCK_SIZES[0]), (loop, count)), (name,), why)
        choice = replace(as_merged(choice, flat.unit.merges), general=general)
        distance = abs(written.strides.get(loop) or 0)
        found.append((traffic(nest.unit, choice).requested, distance, choice))
    most = (1 + FULLER) * min((asked for asked, *_ in found), default=0)
    near = [(distance, choice) for asked, distance, choice in found if asked <= most]
    yield from (choice for _, choice in sorted(near, key=lambda one: -one[0])[:1])


def _as_one(nest: Pointwise, loops: Sequence[str]) -> Pointwise | None:
    """Return the nest with loops as one, in the order of what is written; None if it may not."""
    unit, written = nest.unit, nest.unit.writes[0]
    along = tuple(sorted(loops, key=lambda n: -abs(written.strides.get(n) or 0)))
    if refused_merges(unit, (along,), NOWHERE) is not None:
        return None
    flat = pointwise(with_merged(unit, (along,)))
    return None if isinstance(flat, str) else flat


def _decoded(flat: Pointwise) -> str:
    """Return in words where threads work out the indices of loops that run as one."""
    is_followed = flat.unit.is_followed(flat.loops[0])
    return "" if is_followed else ", worked out by each thread elsewhere"


def fills_more(unit: Unit, flat: Candidate, other: Candidate) -> bool:
    """Return whether loops as one keep more lanes busy than another choice does, or ask for less.

    Either its threads have a few elements each, or that leaves most of a device idle, or its
    warps have a good share of turns more, and ask for as many sectors, or for a good share more.
    What a staged input asks for is not counted here.
    """
    asked, its_asked = (traffic(unit, choice).requested for choice in (flat, other))
    if _keeps(flat) and asked <= MORE_ASKED * its_asked and not other.of(Stage):
        return True
    own, its = (shape(with_merged(unit, c.merges), c) for c in (flat, other))
    threads = own.blocks * own.threads
    if its.blocks * its.threads < min(DEVICE_THREADS, threads // 2):
        return True
    if other.of(Stage):
        # The sides of a square cut short: most lanes would be idle.
        return 2 * _turns(own, flat) <= _turns(its, other)
    if asked > its_asked:
        return False
    is_fuller = _turns(own, flat) <= (1 - FULLER) * _turns(its, other)
    return is_fuller or asked <= (1 - FULLER) * its_asked


def _keeps(choice: Candidate) -> bool:
    """Return whether threads run a few elements each of a loop beside those that run as one."""
    return bool(choice.merges) and len(choice.tiles) > 1


def _turns(form: LaunchShape, choice: Candidate) -> int:
    """Return how often the warps of a launch run a statement, idle lanes and all."""
    padded = {loop for step in choice.of(Pad) for loop in step.loops}
    full = prod(size for loop, size in choice.tiles if loop in padded)
    threads = max(form.threads, full if padded else 1)
    return form.blocks * ceil(threads / WARP) * prod(count for _, count in form.serial)


def _lanes(trip: int, most: int) -> int:
    """Return the length of tiles of the contiguous loop, in whole warps where it is long enough."""
    if trip < WARP:
        return trip
    lengths = [n for n in (most, most // 2, most // 4, most // 8) if WARP <= n <= max(trip, WARP)]
    even = (n for n in lengths if _surplus(trip, n) <= SURPLUS)
    return next(even, lengths[-1] if lengths else WARP)


def _surplus(trip: int, size: int) -> float:
    """Return the share of the iterations of tiles of a size that a loop does not have."""
    return 1 - trip / (ceil(trip / size) * size)


def _transposing(nest: Pointwise, across: tuple[AccessFacts, ...]) -> Iterator[Candidate]:
    """Yield square tiles through which inputs go that are contiguous in the second loop."""
    if not across:
        return
    inner, second = nest.loops[:2]
    arrays = tuple(dict.fromkeys(access.access.array for access in across))
    for side in SQUARES:
        rule = f"contiguous in {second}: read along it, written along {inner}"
        why = (*_plain_reasons(nest, side, side), Reason("staged", ", ".join(arrays), rule))
        tiles = ((inner, side), (second, side))
        choice = tiled(nest, tiles, (inner, second), why, arrays, PADDING)
        if may_copy(nest, choice):
            yield choice


def _plain_reasons(nest: Pointwise, lanes: int, rows: int) -> tuple[Reason, ...]:
    inner, *others = nest.loops
    out = [
        Reason("strategy", "elementwise", "every iteration stands alone"),
        Reason("thread.x", f"{inner} by {lanes}", "contiguous in what is written"),
    ]
    if rows > 1:
        out.append(Reason("thread.y", f"{others[0]} by {rows}", "fills the block"))
    return tuple(out)


# Threads of a tile: whole warps along the contiguous loop, and rows that read each other's.
TILES = ((32, 8), (32, 4), (64, 4), (16, 16), (32, 16), (128, 2))
ALONE = (256, 128)
# Planes that one block marches through.
PLANES = (8, 16)
# Planes that one thread has: those that it reads of their surroundings are 7 for 5, and 3 for one.
FEW_PLANES = (5, 4, 6, 3, 2)
# Threads of a tile with them: seven points at 512 on a side take 619 us so on an H200, and 650 with
# 32 by 8 of them.
MARCHING = ((64, 4), (32, 8))
# From so many reads of a copied element on, copying may pay.
LEAST_READS = 3


@asked_once
def stencil(unit: Unit) -> tuple[Candidate, ...] | str:
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
    yield from _marching(nest)
    for lanes, rows in TILES:
        yield from _tile(nest, ((inner, lanes), (others[0], rows)))
    for planes in PLANES if len(others) > 1 else ():
        for lanes, rows in TILES[:2]:
            yield from _tile(nest, ((inner, lanes), (others[0], rows), (others[1], planes)))


def _marching(nest: Pointwise) -> Iterator[Candidate]:
    """Yield tiles whose threads have a few planes each, where these come out even.

    What a thread reads of one plane it has for the next, in registers, for the compiler writes the
    planes out. There are threads enough to fill a device all the same.
    """
    inner, *others = nest.loops
    if len(others) < 2:
        return
    points = prod(nest.trip(loop) for loop in nest.loops)
    even = [n for n in FEW_PLANES if nest.trip(others[1]) % n == 0 and points >= n * DEVICE_THREADS]
    for planes, (lanes, rows) in product(even, MARCHING):
        one, *_ = _tile(nest, ((inner, lanes), (others[0], rows)))
        made, *_ = _tile(nest, ((inner, lanes), (others[0], rows), (others[1], planes)))
        yield replace(made, general=one)


def _padded(choice: Candidate) -> Candidate:
    """Return a choice whose threads test whether they have a point, rather than run up to an end.

    A loop of one turn or none, whose end a compiler does not see, is unrolled by it: 106 registers
    in place of 22 for seven points, nvcc 13.5 for sm_90.
    """
    loops = tuple(loop for loop, _ in choice.tiles if loop in choice.threads)
    return choice.having(Pad(choice.leader, loops))


def _tile(nest: Pointwise, tiles: Sequence[tuple[str, int]]) -> Iterator[Candidate]:
    """Yield a tile, and the same with copies of what its threads read of each other's."""
    threads = [loop for loop, _ in tiles[:2]]
    why = tuple(_reasons(nest, tiles))
    yield _padded(tiled(nest, tiles, threads, why))
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
