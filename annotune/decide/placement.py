"""Where the loops of a choice run in OpenACC and in OpenMP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotune.decide.direct import choose
from annotune.decide.plan import KernelChoice, Reason
from annotune.decide.units import Unit
from annotune.ir.nest import Level
from annotune.transforms.tile import tile_name

# Lanes that run in step on every NVIDIA device; gcc takes no other multiple for a vector.
WARP = 32
# Threads of one gang on every NVIDIA device; gcc ignores larger sizes with a warning.
GANG_LIMIT = 1024


def acc_placement(choice: KernelChoice) -> Mapping[str, Level]:
    """Return gang, worker and vector for the loops that `choice` maps, outermost first.

    Block loops share the gangs. Thread x is innermost, so that neighbouring lanes run
    neighbouring iterations; thread y is the workers, or joins the vector.
    """
    return _inside_own_tiles(_acc_levels(choice))


def _acc_levels(choice: KernelChoice) -> dict[str, Level]:
    if choice.acc is not None:
        levels = dict.fromkeys(choice.acc.gang, Level.GANG)
        levels |= dict.fromkeys(choice.acc.worker, Level.WORKER)
        return levels | dict.fromkeys(choice.acc.vector, Level.VECTOR)
    levels = dict.fromkeys(reversed(choice.blocks), Level.GANG)
    levels |= {loop: Level.VECTOR for _, loop in choice.team}
    if not choice.threads:
        return levels
    fastest, *others = choice.threads
    second = Level.WORKER if choice.workers else Level.VECTOR
    levels |= dict.fromkeys(reversed(others), second)
    return levels | {fastest: Level.VECTOR}


def _inside_own_tiles(levels: Mapping[str, Level]) -> Mapping[str, Level]:
    """Return the levels without loops whose tiles run at the same level or further inside.

    A loop can only stand inside the one that chooses its tile, while gangs hold workers, these
    vectors, and one level counts its loops together before any of them starts. Such a loop
    stays serial.
    """
    order = (Level.GANG, Level.WORKER, Level.VECTOR)

    def is_inside(name: str) -> bool:
        outer = levels.get(tile_name(name))
        return outer is None or order.index(outer) < order.index(levels[name])

    return {name: level for name, level in levels.items() if is_inside(name)}


def omp_placement(choice: KernelChoice) -> Mapping[str, Level]:
    """Return the loops that the threads share, and sums that lanes do.

    The threads share the loops of the blocks where no core is named.
    """
    levels = dict.fromkeys(choice.cores or reversed(choice.blocks), Level.CPU_THREAD)
    return levels | {loop: Level.SIMD for _, loop in choice.team if loop not in levels}


def with_workers(unit: Unit, choice: KernelChoice) -> KernelChoice:
    """Return `choice` with thread y as workers where thread x fills whole warps by itself.

    OpenACC has no barrier for the threads of a gang: in place of copies that they share it has
    the choice of the `direct` strategy.

    What the recipe's own ``acc`` maps is left as it says, without tiles that it does not name.
    """
    if choice.contract is not None:
        choice = replace(choose(unit), acc=choice.acc)
    if choice.acc is not None:
        named = {*choice.acc.gang, *choice.acc.worker, *choice.acc.vector}
        kept = tuple(t for t in choice.tiles if tile_name(t[0]) in named)
        return replace(choice, tiles=kept)
    if len(choice.threads) < 2:
        return choice
    fastest = choice.threads[0]
    tiled = dict(choice.tiles)
    extent = tiled.get(fastest) or unit.trips.get(fastest) or 0
    whole = extent > 0 and extent % WARP == 0
    decision = f"{choice.threads[1]} as worker" if whole else "one vector of both thread loops"
    rule = f"{fastest} has {extent} iterations, {'' if whole else 'not '}whole warps of {WARP}"
    reason = Reason("openacc", decision, rule)
    return replace(choice, workers=whole, reasons=(*choice.reasons, reason))
