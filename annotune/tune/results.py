"""What a run found: rows of the final table and every trial behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from annotune.measure.trial import Final, Trial

# The rows of the final table, in its order: the thesis's five, and tuned OpenMP.
ROW_NAMES = ("sequential", "openmp_naive", "openacc_naive", "openmp", "openacc", "cuda")


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
    `roofline_share` the roofline's least time on that device over `time_s`; `speedup` the
    sequential time over `time_s`, None when the two are not from the same kind of figure.
    `reason` says why a row is unavailable or not verified. `predicted_s` is the model's time of
    the same variant for the device `predicted_for`, also where another one is measured.
    `speedup_low` and `speedup_high` are the speed-up's interval where both times are of the same
    finals, whose figures are in `final`. `end_to_end_s` is the time with copies of what runs on a
    GPU, of which `time_s` is the kernels' alone.
    """

    name: str
    status: RowStatus
    device: str = ""
    time_s: float | None = None
    spread_s: float | None = None
    gflops: float | None = None
    roofline_share: float | None = None
    speedup: float | None = None
    verified: bool = False
    reason: str = ""
    config: Mapping[str, str | int | float] = field(default_factory=dict)
    predicted_s: float | None = None
    predicted_for: str = ""
    speedup_low: float | None = None
    speedup_high: float | None = None
    end_to_end_s: float | None = None
    final: Final | None = None


@dataclass(frozen=True, slots=True)
class Roof:
    """A device's two limits for one region's element type, as `roofline_share` used them.

    `peak_flop_s` is flop/s, `bandwidth_bytes_s` bytes/s.
    """

    peak_flop_s: float
    bandwidth_bytes_s: float


@dataclass(frozen=True, slots=True)
class KernelModel:
    """One kernel of a target's best variant: the model's time and two bounds, in seconds.

    `limit` names the slowest part of the model, `registers` those of a thread: ptxas's where
    `is_compiled`, else an estimate. `magma_s` is the bound of MAGMA's model, None where
    `why_no_magma` says why there is none.
    """

    statements: tuple[int, ...]
    predicted_s: float
    limit: str
    registers: int
    is_compiled: bool
    roofline_s: float
    magma_s: float | None
    why_no_magma: str = ""


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
    copies_s: float | None
    why_no_copies: str = ""
    pairs: int = 0
    correlation: float | None = None
    error: float | None = None
    why_no_correlation: str = ""

    @property
    def predicted_s(self) -> float:
        return sum(kernel.predicted_s for kernel in self.kernels)


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
    legal: int
    budget: int
    evaluated: int
    duplicates: int = 0
    reused: int = 0
    inert: tuple[str, ...] = ()
    time_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RegionResult:
    """One region's table, work and trials. `flop` and `bytes` are those at `sizes`.

    `sizes_checked` are the other problem sizes of the annotation at which every winner was
    compared with the original. `models` has an entry for each target that has a model and a
    winner. `roofs` gives each device's limits, by the device's name in
    the rows. `searches` has an entry for each target that was searched. `by_size` are the same of
    the other problem sizes for which the region was tuned as well.
    """

    function: str
    index: int
    line: int
    sizes: Mapping[str, int]
    flop: int
    bytes: int
    rows: tuple[Row, ...]
    trials: tuple[Trial, ...]
    roofs: Mapping[str, Roof] = field(default_factory=dict)
    sizes_checked: tuple[Mapping[str, int], ...] = ()
    models: tuple[TargetModel, ...] = ()
    searches: tuple[Searched, ...] = ()
    by_size: tuple[RegionResult, ...] = ()

    @property
    def at_each_size(self) -> tuple[RegionResult, ...]:
        """Return the results of every problem size that was tuned for, this one first."""
        return (self, *self.by_size)


@dataclass(frozen=True, slots=True)
class Results:
    """A whole run. `tools` gives each compiler's version, `files` the names of what was written.

    `texts` are the files by name, for the HTML report; they are no part of the JSON.
    """

    version: str
    source: str
    device: str
    regions: tuple[RegionResult, ...]
    tools: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_verified(self) -> bool:
        """Return whether every region has at least one tuned variant that passed its check."""
        tuned = ("openmp", "openacc", "cuda")
        return all(
            any(r.verified for one in region.at_each_size for r in one.rows if r.name in tuned)
            for region in self.regions
        )
