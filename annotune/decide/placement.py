"""Where the loops of a choice run in OpenACC and in OpenMP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotune.decide.plan import KernelChoice, Reason
from annotune.decide.units import Unit
from annotune.ir.nest import Level

# Lanes that run in step on every NVIDIA device; gcc takes no other multiple for a vector.
WARP = 32


def acc_placement(choice: KernelChoice) -> Mapping[str, Level]:
    """Return gang, worker and vector for the loops that `choice` maps, outermost first.

    Block loops share the gangs. Thread x is innermost, so that neighbouring lanes run
    neighbouring iterations; thread y is the workers, or joins the vector.
    """
    levels = dict.fromkeys(reversed(choice.blocks), Level.GANG)
    if not choice.threads:
        return levels
    fastest, *others = choice.threads
    second = Level.WORKER if choice.workers else Level.VECTOR
    levels |= dict.fromkeys(reversed(others), second)
    return levels | {fastest: Level.VECTOR}


def omp_placement(choice: KernelChoice) -> Mapping[str, Level]:
    """Return the loops that the threads share; those of the blocks where no core is named."""
    return dict.fromkeys(choice.cores or reversed(choice.blocks), Level.CPU_THREAD)


def with_workers(unit: Unit, choice: KernelChoice) -> KernelChoice:
    """Return `choice` with thread y as workers where thread x fills whole warps by itself."""
    if len(choice.threads) < 2:
        return choice
    fastest = choice.threads[0]
    tiled = dict(choice.tiles)
    extent = tiled.get(fastest) or unit.trips[fastest] or 0
    whole = extent > 0 and extent % WARP == 0
    decision = f"{choice.threads[1]} as worker" if whole else "one vector of both thread loops"
    rule = f"{fastest} has {extent} iterations, {'' if whole else 'not '}whole warps of {WARP}"
    reason = Reason("openacc", decision, rule)
    return replace(choice, workers=whole, reasons=(*choice.reasons, reason))
