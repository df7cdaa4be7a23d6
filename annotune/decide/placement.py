"""Where the loops of a choice run in OpenACC and in OpenMP."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.decide.plan import KernelChoice
from annotune.ir.nest import Level
from annotune.transforms.deal import deal_name
from annotune.transforms.tile import tile_name

# Lanes that run in step on every NVIDIA device; gcc takes no other multiple for a vector.
WARP = 32
# Threads of one gang on every NVIDIA device; gcc ignores larger sizes with a warning.
GANG_LIMIT = 1024
# Threads of which each may have all of 255 registers; libgomp ends a program that asks for more.
SAFE_GANG = 256


def acc_placement(choice: KernelChoice) -> Mapping[str, Level]:
    """Return gang, worker and vector for the loops that `choice` maps, outermost first.

    Block loops share the gangs. Thread x is innermost, so that neighbouring lanes run
    neighbouring iterations; the other threads join the vector. The form of the choice may make
    any of these loops workers.
    """
    owners = {deal_name(loop): tile_name(loop) for loop, _ in choice.deals}
    return _inside_own_tiles(_acc_levels(choice), owners)


def _acc_levels(choice: KernelChoice) -> dict[str, Level]:
    if choice.acc is not None:
        return dict(choice.acc.levels)
    workers = choice.form.workers if choice.form is not None else ()
    gangs = [loop for loop in reversed(choice.blocks) if loop not in workers]
    lanes = [loop for loop in reversed(choice.threads) if loop not in workers]
    levels = dict.fromkeys(gangs, Level.GANG) | dict.fromkeys(workers, Level.WORKER)
    levels |= {loop: Level.VECTOR for _, loop in choice.team}
    return levels | dict.fromkeys(lanes, Level.VECTOR)


def _inside_own_tiles(
    levels: Mapping[str, Level], owners: Mapping[str, str]
) -> Mapping[str, Level]:
    """Return the levels without loops whose tiles run at the same level or further inside.

    `owners` are the loops over the tiles that are dealt out to workers.

    A loop can only stand inside the one that chooses its tile, while gangs hold workers, these
    vectors, and one level counts its loops together before any of them starts. Such a loop
    stays serial.
    """
    order = (Level.GANG, Level.WORKER, Level.VECTOR)

    def is_inside(name: str) -> bool:
        outer = levels.get(owners.get(name, tile_name(name)))
        return outer is None or order.index(outer) < order.index(levels[name])

    return {name: level for name, level in levels.items() if is_inside(name)}


def omp_placement(choice: KernelChoice) -> Mapping[str, Level]:
    """Return the loops that the threads share, and sums that lanes do.

    The threads share the loops of the blocks where no core is named.
    """
    levels = dict.fromkeys(choice.cores or reversed(choice.blocks), Level.CPU_THREAD)
    return levels | {loop: Level.SIMD for _, loop in choice.team if loop not in levels}
