"""Functions that are to compute the same, as wholes: each beside the original, and in turns.

The original is a region, and each entrant a function of the name and the parameters of the one
around it, as it is handed out: with what it allocates for itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from statistics import median

from annotune.codegen.build import USUAL, optimised
from annotune.codegen.target import RegionCode, Target
from annotune.frozen import dataclass
from annotune.ir.region import Region
from annotune.measure.program import Program
from annotune.measure.timing import is_apart, ratio_interval
from annotune.measure.trial import Trial
from annotune.tuning.bench import Bench
from annotune.tuning.jobs import Contestant
from annotune.tuning.tuner import finals

ORIGINAL = "original"


@dataclass(frozen=True)
class Called:
    """The function around the region, and the names of its parameters."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Entrant:
    """A function's file for a target, under the name that it has here.

    `device` is the text for the device's compiler, empty where there is none; `host` and `nvcc` are
    the flags that it was measured with.
    """

    name: str
    text: str
    device: str = ""
    host: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """How the entrants of a target did: those that do otherwise than the original, with words.

    `calls_s` has the median seconds of one call of those that were timed, and of the original.
    `best` is the name of the fastest, empty where nothing was timed; it is the first of those that
    cannot be told apart from it. It `beats` the original where it can be told from that.
    """

    wrong: Mapping[str, str] = field(default_factory=dict)
    calls_s: Mapping[str, float] = field(default_factory=dict)
    best: str = ""
    beats: bool = False


def beside(
    bench: Bench, function: Called, entrants: Mapping[Target, Sequence[Entrant]], time_s: float
) -> Mapping[str, Standing]:
    """Return by target how functions do beside the original, which is that of the bench.

    Each is compared with it at the tuned sizes and at awkward ones; those of processors are then
    timed in turns, for about `time_s` seconds in all. The entrants of a target come in the order in
    which they are preferred.

    Raises:
        AnnotuneError: The disk is full.
    """
    bench.begin("comparing formulations", sum(map(len, entrants.values())))
    share_s = time_s / len(entrants)
    return {t.name: _standing(bench, t, function, own, share_s) for t, own in entrants.items()}


def _standing(
    bench: Bench, target: Target, function: Called, entrants: Sequence[Entrant], time_s: float
) -> Standing:
    begun = time.monotonic()
    wrong: dict[str, str] = {}
    contestants: list[Contestant] = []
    for number, one in enumerate(entrants):
        program = call_of(bench.checker.oracle.region, target, function, one)
        trial = bench.tell(bench.checker.check(program, bench.plan(target.is_for_cpu)))
        if trial.verified:
            cores, own_s = bench.session.cores, trial.time_s or 0.0
            contestants.append(Contestant(one.name, program, own_s, cores, number))
        else:
            wrong[one.name] = _words(trial)
    if not target.is_for_cpu or not contestants:
        return Standing(wrong)
    original = _original(bench, function)
    left_s = max(1.0, time_s - (time.monotonic() - begun))
    found = finals(bench, (*contestants, original), left_s)
    if not found.ranking:
        return Standing(wrong)
    calls = {name: median(rounds) for name, rounds in found.rounds_s.items()}
    best = found.ranking[0]
    beats = True
    if ORIGINAL in found.rounds_s:
        ratio = ratio_interval(found.rounds_s[ORIGINAL], found.rounds_s[best])
        beats = is_apart(ratio) and ratio.value > 1
    return Standing(wrong, calls, best, beats)


def _original(bench: Bench, function: Called) -> Contestant:
    """Return the original's own function as it is called."""
    oracle = bench.checker.oracle
    own = RegionCode(_call(oracle.region, function, function.name))
    program = Program(ORIGINAL, "c", own, optimisation=(USUAL,))
    took_s = oracle.reference(bench.sizes[0], bench.plan(True).seed).took_s
    return Contestant(ORIGINAL, program, took_s, 1)


def call_of(region: Region, target: Target, function: Called, one: Entrant) -> Program:
    """Return the program that calls an entrant in the place of the region."""
    own = f"{function.name}_called"
    helper = f"#define {function.name} {own}\n{one.text}\n#undef {function.name}\n"
    code = RegionCode(_call(region, function, own), helper, one.device)
    flags = tuple(flag for flag in one.host if flag.startswith("-O"))
    flags = flags if one.device else optimised(one.host)
    return Program(target.name, target.kind, code, one.device, flags, one.nvcc)


def _call(region: Region, function: Called, name: str) -> str:
    """Return the call of a function, with 0 for parameters that the region knows nothing of."""
    known = {*region.arrays, *region.scalars}
    given = (one if one in known else "0" for one in function.arguments)
    return f"{{\n    {name}({', '.join(given)});\n}}\n"


def _words(trial: Trial) -> str:
    return f"{trial.status}: {trial.reason}".partition("\n")[0]
