"""One variant's fate: what it was, whether it was right, and how long it took."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from statistics import median
from typing import Annotated, TypeAlias

from msgspec import Meta

from annotune.frozen import dataclass

# What results.json may hold: msgspec reads these types, and makes the JSON schema of them.
Figure: TypeAlias = Annotated[float, Meta(ge=0)]
"""A time, a rate or a ratio: finite."""
NamedValues: TypeAlias = Mapping[str, str | int | float | bool]
"""A configuration, or facts, by name."""
NOT_WRITTEN = {"is_written": False}
"""Marks a field that stays in the process."""
LATER = {"is_later": True}
"""Marks a field that files written by an earlier annotune lack."""

# Why a trial is `reused`, under that name in its facts, where not because another one of the same
# run had the same program.
EARLIER_RUN = "known from an earlier run"

END_TO_END = "end_to_end_s"
"""Among the facts of a trial, the seconds of a whole call, where `time_s` is that of kernels."""

NOTHING_COMPARED = "nothing could be compared"
"""So begins the reason of a trial at sizes at none of which the original itself leaves a result."""


class Status(StrEnum):
    """How a trial ended, in the words of the T4 results format.

    `CORRECT` alone may win. The others name the stage that failed: the compiler, the run (a
    crash or a red zone), the time limit, the comparison with the oracle, a constraint.
    """

    CORRECT = "correct"
    COMPILE = "compile"
    RUNTIME = "runtime"
    TIMEOUT = "timeout"
    CORRECTNESS = "correctness"
    CONSTRAINTS = "constraints"


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """What ``ptxas -v`` says about one kernel: registers per thread, and bytes per thread or block.

    `stack_bytes`, `spill_store_bytes` and `spill_load_bytes` are per thread; `shared_bytes` is
    the static shared memory of a block.
    """

    name: str
    arch: str
    registers: int
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    shared_bytes: int = 0
    barriers: int = 0

    @property
    def plain_name(self) -> str:
        """Return the name in the source of a kernel that stands in no namespace."""
        mangled = re.match(r"_Z(\d+)", self.name)
        if not mangled:
            return self.name
        return self.name[mangled.end() : mangled.end() + int(mangled[1])]

    @property
    def spills(self) -> bool:
        return self.spill_store_bytes > 0 or self.spill_load_bytes > 0


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of repeated runs, in seconds, in the order they were taken."""

    times_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """Return the median time in seconds."""
        return median(self.times_s)

    @property
    def spread_s(self) -> float:
        """Return the interquartile range in seconds."""
        ordered = sorted(self.times_s)
        quarter = len(ordered) // 4
        return ordered[-1 - quarter] - ordered[quarter]


class Verdict(StrEnum):
    """How a program compares with another one; `WINNER` is the fastest of several.

    `NOISY` are times that spread too much to conclude anything, `UNKNOWN` those of which there are
    too few.
    """

    WINNER = "winner"
    TIED = "statistical tie"
    SLOWER = "slower"
    FASTER = "faster"
    NOISY = "too noisy"
    UNKNOWN = "not compared"

    @classmethod
    def _missing_(cls, value: object) -> Verdict | None:
        """Return what a file of an earlier annotune calls otherwise."""
        return cls.TIED if value == "not distinguishable" else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a program that takes `time_s` compares with another one that takes `other_s`.

    Both are medians, in seconds. `speedup` is the other's time over the program's own, with the
    interval from `low` to `high`; None where nothing is concluded. `runs` is how many times there
    are of each: rounds in which both were timed in turns where `is_paired`. `spread` is the larger
    of the two interquartile ranges, as a share of its median. The other's time is no measurement
    where `is_estimated`.
    """

    verdict: Verdict
    time_s: Figure | None = None
    other_s: Figure | None = None
    speedup: Figure | None = None
    low: Figure | None = None
    high: Figure | None = None
    runs: int = 0
    spread: Figure | None = None
    is_paired: bool = False
    is_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Final:
    """What a variant took in the finals, where it and the others were timed in turns.

    `times_s` has the seconds of the quickest run in each round; of rounds with the same number the
    times may be compared. `time_s` is their median, `low_s` and `high_s` its interval. `ratio` is
    that to the winner's time, paired by round, with its interval. All intervals are those of
    `annotune.measure.timing`.
    """

    verdict: Verdict
    time_s: Figure
    low_s: Figure
    high_s: Figure
    ratio: Figure
    ratio_low: Figure
    ratio_high: Figure
    times_s: tuple[Figure, ...]

    @property
    def spread_s(self) -> float:
        """Return the interquartile range of the rounds, in seconds."""
        return Timing(self.times_s).spread_s


@dataclass(frozen=True, slots=True)
class Trial:
    """One variant of one region on one target.

    `time_s` is measured on `device`, or predicted for it when `is_predicted`; None when
    there is neither. `verified` says that every output equalled the oracle's at every size
    tried. `predicted_s` is the model's time whether or not there is a measured one, None where
    no model speaks; `kernels` is what ptxas said of each kernel, if it was asked. `reason` holds
    the compiler's, the checker's or the operating system's words. `times_s` are the raw times
    behind `time_s`; `compile_s` and `run_s` the seconds that this trial took in compilers and in
    checks and clocks, `at_s` those from the start of the run to its end. `final` is what it took
    in the finals, None where it was not among them: `time_s` stays the time of the search.
    """

    target: str
    config: NamedValues
    status: Status
    time_s: Figure | None = None
    spread_s: Figure | None = None
    is_predicted: bool = False
    device: str = ""
    verified: bool = False
    reason: str = ""
    reused: bool = False
    facts: NamedValues = field(default_factory=dict)
    predicted_s: Figure | None = None
    times_s: tuple[Figure, ...] = ()
    compile_s: Figure | None = None
    run_s: Figure | None = None
    at_s: Figure | None = None
    final: Final | None = None
    kernels: Annotated[tuple[KernelFacts, ...], Meta(extra=NOT_WRITTEN)] = field(
        default=(), compare=False, repr=False
    )

    @property
    def is_wrong(self) -> bool:
        """Return whether something was found; where the original gave nothing, nothing was."""
        return not self.verified and not self.reason.startswith(NOTHING_COMPARED)

    @property
    def best_known_s(self) -> float | None:
        """Return the time of the finals where there is one, else that of the search."""
        return self.time_s if self.final is None else self.final.time_s

    @property
    def is_repeat(self) -> bool:
        """Return whether another trial of the same run had the same program, and its times."""
        return self.reused and self.facts.get("reused") != EARLIER_RUN
