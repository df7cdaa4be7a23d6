"""The `elementwise` strategy: neighbouring threads on neighbouring elements, in full blocks.

Sources: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory" (a
transposed input through a padded tile); M. Harris, "CUDA Pro Tip: Write Flexible Kernels with
Grid-Stride Loops", NVIDIA Developer Blog, 2013; "Deep Dive into GPU Programming: Experience with
Optimizing Tensor Contractions", a talk at Pacific Northwest National Laboratory (loops as one).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.decide.kernel_shape import Shape, shape
from annotune.decide.merged import refused_merges, with_merged
from annotune.decide.plan import KernelChoice, Reason
from annotune.decide.pointwise import Pointwise, may_copy, offsets, pointwise, tiled, tiles_of
from annotune.decide.rules import WARP
from annotune.decide.sectors import traffic
from annotune.decide.units import Unit
from annotune.diagnostics import NOWHERE

# Threads of a block: the usual starts for full occupancy (CUDA C++ Best Practices Guide,
# Thread and Block Heuristics).
BLOCK_SIZES = (256, 128)
# Elements of one thread, one after the other: further loads on their way while it waits.
PER_THREAD = (2, 4)
# The sides of a tile through which a transposed input goes: 16 doubles are a line of 128 bytes.
SQUARES = (16, 32)
# One more element per row, and neither rows nor columns of a tile meet in a bank.
PADDING = 1
# A tile's surplus above this share of it is worth a narrower one.
SURPLUS = 0.2
# Loops run as one where that saves this share of the turns: threads may have to divide for it.
FULLER = 0.1
# Threads that an H200 runs at once.
AT_ONCE = 132 * 2048


def alternatives(unit: Unit) -> tuple[KernelChoice, ...] | str:
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
    """Return whether an input is contiguous in the second loop, where it is not in the first."""
    if len(nest.loops) < 2:
        return False
    inner, second = nest.loops[:2]
    strides = access.strides
    return abs(strides.get(second) or 0) == 1 != abs(strides.get(inner) or 0) and inner in strides


def _plain(nest: Pointwise) -> Iterator[KernelChoice]:
    """Yield blocks of threads along the contiguous loop, then more elements for each thread."""
    inner, *others = nest.loops
    for threads in BLOCK_SIZES:
        lanes = _lanes(nest.trip(inner), threads)
        rows = min(threads // lanes, nest.trip(others[0])) if others else 1
        tiles, axes = [(inner, lanes)], [inner]
        if rows > 1:
            tiles.append((others[0], rows))
            axes.append(others[0])
        why = _reasons(nest, lanes, rows)
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


def _flat(nest: Pointwise, general: KernelChoice) -> Iterator[KernelChoice]:
    """Yield blocks of threads along all loops as one, where rows are no multiple of a warp.

    How often such a loop runs is fixed; `general` serves other sizes.
    """
    unit = nest.unit
    if len(nest.loops) < 2 or nest.trip(nest.loops[0]) % WARP == 0:
        return
    written = unit.writes[0]
    along = sorted(nest.loops, key=lambda n: -abs(written.strides.get(n) or 0))
    merges = (tuple(along),)
    if refused_merges(unit, merges, NOWHERE) is not None:
        return
    flat = pointwise(with_merged(unit, merges))
    if isinstance(flat, str):
        return
    (name,) = flat.loops
    decoded = "" if flat.unit.is_followed(name) else ", worked out by each thread elsewhere"
    rule = f"rows of {nest.trip(nest.loops[0])} fill no warps; one index for all{decoded}"
    why = Reason("merged", f"{', '.join(along)} as {name}", rule)
    for choice in _plain(flat):
        yield replace(choice, merges=merges, elsewhere=general, reasons=(*choice.reasons, why))


def fills_more(unit: Unit, flat: KernelChoice, other: KernelChoice) -> bool:
    """Return whether loops as one keep more lanes busy than another choice does.

    Either that leaves most of a device idle, or its warps have a good share of turns more, and
    ask for as many sectors. A staged input asks for fewer than are counted here.
    """
    own, its = (shape(with_merged(unit, c.merges), c) for c in (flat, other))
    threads = own.blocks * own.threads
    if its.blocks * its.threads < min(AT_ONCE, threads // 2):
        return True
    if other.blocking or traffic(unit, flat).requested > traffic(unit, other).requested:
        return False
    return _turns(own) <= (1 - FULLER) * _turns(its)


def _turns(form: Shape) -> int:
    """Return how often the warps of a launch run a statement, idle lanes and all."""
    return form.blocks * ceil(form.threads / WARP) * prod(count for _, count in form.serial)


def _lanes(trip: int, most: int) -> int:
    """Return the length of tiles of the contiguous loop, in whole warps where it is long enough."""
    if trip < WARP:
        return trip
    lengths = [n for n in (most, most // 2, most // 4, most // 8) if WARP <= n <= max(trip, WARP)]
    even = (n for n in lengths if 1 - trip / (-(-trip // n) * n) <= SURPLUS)
    return next(even, lengths[-1] if lengths else WARP)


def _transposing(nest: Pointwise, across: tuple[AccessFacts, ...]) -> Iterator[KernelChoice]:
    """Yield square tiles through which inputs go that are contiguous in the second loop."""
    if not across:
        return
    inner, second = nest.loops[:2]
    arrays = tuple(dict.fromkeys(access.access.array for access in across))
    for side in SQUARES:
        rule = f"contiguous in {second}: read along it, written along {inner}"
        why = (*_reasons(nest, side, side), Reason("staged", ", ".join(arrays), rule))
        tiles = ((inner, side), (second, side))
        choice = tiled(nest, tiles, (inner, second), why, arrays, PADDING)
        if may_copy(nest, choice):
            yield choice


def _reasons(nest: Pointwise, lanes: int, rows: int) -> tuple[Reason, ...]:
    inner, *others = nest.loops
    out = [
        Reason("strategy", "elementwise", "every iteration stands alone"),
        Reason("thread.x", f"{inner} by {lanes}", "contiguous in what is written"),
    ]
    if rows > 1:
        out.append(Reason("thread.y", f"{others[0]} by {rows}", "fills the block"))
    return tuple(out)
