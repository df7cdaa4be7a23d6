"""What a run found: rows of the final table and every trial behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from annotune.measure.trial import Trial

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
    `reason` says why a row is unavailable or not verified.
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


@dataclass(frozen=True, slots=True)
class Roof:
    """A device's two limits for one region's element type, as `roofline_share` used them.

    `peak_flop_s` is flop/s, `bandwidth_bytes_s` bytes/s.
    """

    peak_flop_s: float
    bandwidth_bytes_s: float


@dataclass(frozen=True, slots=True)
class RegionResult:
    """One region's table, work and trials. `flop` and `bytes` are those at `sizes`.

    `sizes_checked` are the other problem sizes of the annotation at which every winner was
    compared with the original. `roofs` gives each device's limits, by the device's name in
    the rows.
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
            any(row.verified for row in region.rows if row.name in tuned) for region in self.regions
        )
