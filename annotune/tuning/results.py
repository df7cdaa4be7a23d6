"""What a run found: rows of the final table and every trial behind them.

And how well the model's order of the trials agrees with that of the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from math import exp, log, sqrt
from typing import Annotated, TypeAlias

from msgspec import Meta

from annotune.frozen import dataclass
from annotune.measure.trial import LATER, Comparison, Figure, Final, NamedValues, Status, Trial

# The rows of every final table, in its order: the thesis's five, and tuned OpenMP.
ROW_NAMES = ("sequential", "openmp_naive", "openacc_naive", "openmp", "openacc", "cuda")
ORIGINALS = ("sequential", "openmp_naive", "openacc_naive")
# Those of targets that were asked for stand behind them.
_ALL_NAMES = (*ROW_NAMES, "openmp_target")

# The name under which the configuration of a variant has its formulation, where there are several.
FORMULATION = "formulation"

RowName: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": list(_ALL_NAMES)})]

# Why a row has no figures where its target was no part of the run.
NO_TARGET = "not among the targets asked for"
# Why it has none where somebody ended the run.
ENDED_EARLY = "the run was ended before its turn came"
Count: TypeAlias = Annotated[int, Meta(ge=0)]


class RowStatus(StrEnum):
    """Where a row's time comes from: a clock, the model, or nowhere."""

    MEASURED = "measured"
    PREDICTED = "predicted"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the final table of a region.

    `time_s` and `spread_s` (interquartile range) are seconds of one run of the region,
    measured on or predicted for `device`; `gflops` is 1e9 flop per second;
    `roofline_share` the roofline's least time on that device over `time_s`; `speedup` that of the
    comparison with "sequential", None where that concludes nothing or is with an estimate.
    `reason` says why a row is unavailable, not verified, not timed, or what there was no time to
    prove of it. `predicted_s` is the model's time of the same variant for the device
    `predicted_for`, also where another one is measured.
    `speedup_low` and `speedup_high` are the speed-up's interval. What the row took in the finals is
    in `final`. `end_to_end_s` is the time with copies of what runs on a
    GPU, of which `time_s` is the kernels' alone; it is predicted where that is. `comparisons` are
    those with the rows of the original, by their names; of whole calls where it runs on a GPU.
    """

    name: RowName
    status: RowStatus
    device: str = ""
    time_s: Figure | None = None
    spread_s: Figure | None = None
    gflops: Figure | None = None
    roofline_share: Figure | None = None
    speedup: Figure | None = None
    verified: bool = False
    reason: str = ""
    config: NamedValues = field(default_factory=dict)
    predicted_s: Figure | None = None
    predicted_for: str = ""
    speedup_low: Figure | None = None
    speedup_high: Figure | None = None
    end_to_end_s: Figure | None = None
    final: Final | None = None
    comparisons: Annotated[Mapping[str, Comparison], Meta(extra=LATER)] = field(
        default_factory=dict
    )

    @property
    def is_tuned(self) -> bool:
        """Return whether it is a target's, and none of the original's."""
        return self.name not in ORIGINALS


@dataclass(frozen=True, slots=True)
class Roof:
    """A device's two limits for one region's element type, as `roofline_share` used them.

    `peak_flop_s` is flop/s, `bandwidth_bytes_s` bytes/s.
    """

    peak_flop_s: Figure
    bandwidth_bytes_s: Figure


@dataclass(frozen=True, slots=True)
class KernelModel:
    """One kernel of a target's best variant: the model's time and two bounds, in seconds.

    `limit` names the slowest part of the model, `registers` those of a thread: ptxas's where
    `is_compiled`, else an estimate. `magma_s` is the bound of MAGMA's model, None where
    `why_no_magma` says why there is none. `occupancy` is the share of a multiprocessor's threads
    that are resident, `bytes_s` what passes each place in bytes/s.
    """

    statements: tuple[Count, ...]
    predicted_s: Figure
    limit: str
    registers: Count
    is_compiled: bool
    roofline_s: Figure
    magma_s: Figure | None
    why_no_magma: str = ""
    occupancy: Figure | None = None
    bytes_s: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TargetModel:
    """What the model says of a target's best variant on `device`, and how right it was.

    `copies_s` is the predicted time of the copies between host and device, None where
    `why_no_copies` says why it is not known. `pairs` counts the trials both predicted and
    measured; over these, `correlation` is Spearman's, None where `why_no_correlation` says why
    there is none, and `error` the geometric mean of the larger over the smaller time.
    """

    target: str
    device: str
    kernels: tuple[KernelModel, ...]
    copies_s: Figure | None
    why_no_copies: str = ""
    pairs: Count = 0
    correlation: float | None = None
    error: Figure | None = None
    why_no_correlation: str = ""

    @property
    def predicted_s(self) -> float:
        return sum(kernel.predicted_s for kernel in self.kernels)


# Places that data pass, as they are called in tables.
MEMORY, SHARED = "device memory", "shared memory"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profiler counted of the kernels of a target's best variant, in `time_s` seconds.

    `bytes_s` are bytes/s by place: device memory, L2, shared memory. `warp_efficiency` is the share
    of a warp's threads that take part in an instruction, `occupancy` that of a multiprocessor's
    warps that are resident while it works. All are None where `reason` says why nothing is known.
    """

    time_s: Figure | None = None
    bytes_s: Mapping[str, Figure] = field(default_factory=dict)
    warp_efficiency: Figure | None = None
    occupancy: Figure | None = None
    reason: str = ""
    target: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """How the variants of one target were chosen.

    `search` is its name, `seed` that of its random numbers, `legal` the number of legal points and
    `budget` how many of these could be tried. `evaluated` points were; `duplicates` were the same
    text as another and took its result, `reused` were known from an earlier run. `inert` are the
    axes that changed no text. `time_s` is the seconds it took.
    """

    target: str
    search: str
    seed: int
    legal: Count
    budget: Count
    evaluated: Count
    duplicates: Count = 0
    reused: Count = 0
    inert: tuple[str, ...] = ()
    time_s: Figure = 0.0


FIRST_ALONE = 1
"""The budget of what looks at the first choice of the rules alone, which is no search."""


@dataclass(frozen=True, slots=True)
class FormulationResult:
    """One formulation of a tensor program: what it takes, and what came of it on each target.

    `flop` and `bytes` are those of one run and of all its tensors, temporaries among them; those
    of an iteration of common loops count for one. The rows are of the targets alone: one for which
    it was not `tried` says why, with the model's time of the first choice, if any. `calls_s`
    has by target the seconds of one call of its function, with what that allocates for itself,
    where it was timed in turns with those of the other formulations; "sequential" is the original,
    in the first formulation. What is handed out for the `chosen` targets is made of this one.
    """

    name: str
    flop: Count
    bytes: Count
    rows: tuple[Row, ...]
    tried: tuple[str, ...] = ()
    calls_s: Mapping[str, Figure] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CopiesCost:
    """A target whose kernels beat the original, and whose calls with their copies do not.

    The figures are seconds of one call, those of kernels and copies predicted for the device of the
    row where the row is; the original's is measured. `arrays` are those that make up nearly all of
    the copies. `break_even` are the least sizes at which a call is estimated to pay, empty where
    none does, and None where that is not known.
    """

    target: str
    kernels_s: Figure
    copies_s: Figure
    original_s: Figure
    arrays: tuple[str, ...] = ()
    break_even: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class RecordedInputs:
    """The inputs at a region's sizes, where a program has recorded them.

    All calls at these sizes took `share` of the region's time there; on `calls` of them every
    winner was checked, and the first was timed.
    """

    calls: Count
    share: Annotated[float, Meta(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class RegionResult:
    """One region's table, work and trials. `flop` and `bytes` are those at `sizes`.

    `sizes_checked` are the other problem sizes of the annotation at which every winner was
    compared with the original. `models` has an entry for each target that has a model and a
    winner. `roofs` gives each device's limits, by the device's name in
    the rows. `searches` has an entry for each target that was searched. `by_size` are the same of
    the other problem sizes for which the region was tuned as well. `profiles` are of the targets
    that a GPU has measured, `copies` of those whose copies cost what their kernels gain. `recorded`
    is None where inputs were made for the run. `recipes` make the text of each target again that
    has one, from the region whose hash is `digest`.
    """

    function: str
    index: Count
    line: Count
    sizes: Mapping[str, int]
    flop: Count
    bytes: Count
    rows: tuple[Row, ...]
    trials: tuple[Trial, ...]
    roofs: Mapping[str, Roof] = field(default_factory=dict)
    sizes_checked: tuple[Mapping[str, int], ...] = ()
    models: tuple[TargetModel, ...] = ()
    searches: tuple[Searched, ...] = ()
    by_size: tuple[RegionResult, ...] = ()
    profiles: tuple[Profile, ...] = ()
    formulations: Annotated[tuple[FormulationResult, ...], Meta(extra=LATER)] = ()
    copies: Annotated[tuple[CopiesCost, ...], Meta(extra=LATER)] = ()
    recorded: Annotated[RecordedInputs | None, Meta(extra=LATER)] = None
    digest: Annotated[str, Meta(extra=LATER)] = ""
    recipes: Annotated[Mapping[str, str], Meta(extra=LATER)] = field(default_factory=dict)

    @property
    def at_each_size(self) -> tuple[RegionResult, ...]:
        """Return the results of every problem size that was tuned for, this one first."""
        return (self, *self.by_size)


@dataclass(frozen=True, slots=True)
class Reading:
    """The options by which a run read its source; paths are seen from the source's folder.

    The `place` of the source itself is seen from the folder of the results, empty without one.
    `sizes` are those of ``--set``; `annotation`, `spec` and the `formulation` of a tensor file are
    empty where none was named. Files that are `standalone` have the runtime in them.
    """

    function: str = ""
    sizes: NamedValues = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    annotation: str = ""
    spec: str = ""
    formulation: str = ""
    place: Annotated[str, Meta(extra=LATER)] = ""
    standalone: Annotated[bool, Meta(extra=LATER)] = False


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds that a run has spent on each of what it does; their sum is that of the command.

    `reading_s` are those of parsing, analysis and all that is not named further; `original_s` of
    the original in its forms, `variants_s` of making, compiling, checking and timing the variants
    of searches, `checks_s` of what a text that is about to win must stand, `finals_s` of finals.
    """

    reading_s: Figure = 0.0
    original_s: Figure = 0.0
    variants_s: Figure = 0.0
    checks_s: Figure = 0.0
    finals_s: Figure = 0.0

    @property
    def total_s(self) -> float:
        """Return the seconds of all."""
        return sum((self.reading_s, self.original_s, self.variants_s, self.checks_s, self.finals_s))


@dataclass(frozen=True, slots=True)
class Results:
    """A whole run. `tools` gives each compiler's version, `files` the names of what was written.

    `commands` make programs of the files of each target, in their folder: one of them will do.
    `texts` are the files by name, for the HTML report, and `folder` is where they lie, empty where
    they do not; these are no part of the JSON. `spent` is where the time of the run went.
    """

    version: str
    source: str
    device: str
    regions: tuple[RegionResult, ...]
    tools: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folder: str = ""
    reading: Reading = field(default_factory=Reading)
    spent: Spent = field(default_factory=Spent)

    @property
    def is_verified(self) -> bool:
        """Return whether some region has at least one tuned variant that passed its check."""
        return any(
            any(r.verified for one in region.at_each_size for r in one.rows if r.is_tuned)
            for region in self.regions
        )


# With two pairs a rank correlation is 1 or -1 whatever the model.
LEAST_PAIRS = 3
# e to this power is still a float; times further apart are no times.
_LARGEST_LOG = 700.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """The trials of one target that were both predicted and measured.

    `correlation` is Spearman's of both times, None where `reason` says why there is none;
    `error` the geometric mean of the larger over the smaller time of each pair, None for no pair.
    """

    target: str
    pairs: int
    correlation: float | None = None
    error: float | None = None
    reason: str = ""


def agreement(target: str, trials: Iterable[Trial]) -> Agreement:
    """Return how the predictions of a target's trials agree with the measured times."""
    own = [t for t in trials if t.target == target and t.status is Status.CORRECT]
    # One program counts once, also where several points have it.
    own = [t for t in own if not t.is_repeat]
    timed = [t for t in own if t.time_s and not t.is_predicted]
    both = [(t.predicted_s, t.time_s) for t in timed if t.predicted_s and t.time_s]
    if not timed:
        return Agreement(target, 0, reason="no trial was measured")
    if not both:
        return Agreement(target, 0, reason="no model predicts it")
    apart = sum(abs(log(predicted) - log(time)) for predicted, time in both) / len(both)
    error = exp(apart) if apart < _LARGEST_LOG else None
    if len(both) < LEAST_PAIRS:
        reason = f"a rank correlation needs {LEAST_PAIRS} trials, and there are {len(both)}"
        return Agreement(target, len(both), None, error, reason)
    correlation = spearman([p for p, _ in both], [t for _, t in both])
    reason = "" if correlation is not None else "all predictions or all times are equal"
    return Agreement(target, len(both), correlation, error, reason)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, None where one side has a single rank.

    Equal values share the mean of their ranks, and the correlation is Pearson's of the ranks.

    Source:
        C. Spearman, "The Proof and Measurement of Association between Two Things", American
        Journal of Psychology 15(1), 1904.
    """
    one, two = _ranks(first), _ranks(second)
    mean = (len(one) + 1) / 2
    product = sum((a - mean) * (b - mean) for a, b in zip(one, two, strict=True))
    spread = sqrt(sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in two))
    return product / spread if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank from 1; equal ones share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for rank, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(rank)
    return [sum(places[value]) / len(places[value]) for value in values]
