"""What is known of the workloads of a suite, and the tables of it as values.

A figure is measured or predicted, and says so; one in which a prediction takes part is predicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import chain
from math import inf

from annotune.frozen import dataclass
from annotune.measure.trial import Comparison, Status, Trial, Verdict
from annotune.report.suite import Workload
from annotune.tuning.ablation import KINDS, STEPS_AXIS
from annotune.tuning.proving import NO_TIME_TO_PROVE
from annotune.tuning.results import FIRST_ALONE, RegionResult, Row, RowStatus

LEGEND_TABLES = (
    "(~ ) is predicted by the model for the device named, never measured, or has a predicted time "
    "in it; every other figure is measured. Of several functions it is the geometric mean."
)


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell: its `text`, and the `value` for other programs, where it is a figure.

    Words have no `status`. `note` says why there is no figure, or what is to be known of it.
    """

    text: str
    value: float | None = None
    status: RowStatus | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class TableLine:
    """A row of a table: what it is about, a text for each head, and a cell for each column."""

    about: tuple[str, ...]
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class TableCurve:
    """A line of a plot: figures in GFLOP/s at sizes, of one `status`; a bound has None."""

    name: str
    points: tuple[tuple[float, float], ...]
    status: RowStatus | None = None


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as a paper prints it, its figures in `unit`, and plots of it by their names.

    `heads` name what stands before the `columns`.
    """

    title: str
    unit: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    lines: tuple[TableLine, ...]
    plots: Mapping[str, tuple[TableCurve, ...]] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of the cells, each once; a cell is marked by the number of its own."""
        cells = (cell for line in self.lines for cell in line.cells)
        return tuple(dict.fromkeys(cell.note for cell in cells if cell.note))


@dataclass(frozen=True, slots=True)
class SuiteTables:
    """All tables of the suite of a file, and the `version` of annotune that made them."""

    title: str
    source: str
    version: str
    tables: tuple[PaperTable, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionTime:
    """What one run of a version takes, in `time_s` seconds, or `why` that is not known.

    `flop` are those of the run. `note` says what is to be known of the time. `comparisons` are
    those with versions of the original, by their names; of several regions those that conclude
    nothing.
    """

    status: RowStatus
    device: str = ""
    time_s: float | None = None
    flop: int = 0
    why: str = ""
    note: str = ""
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)

    @property
    def gflops(self) -> float | None:
        """Return 1e9 flop/s, None where there is no time, or nothing is computed."""
        return self.flop / self.time_s / 1e9 if self.time_s and self.flop else None


def no_time(why: str) -> VersionTime:
    """Return what stands for a time that is not known."""
    return VersionTime(RowStatus.UNAVAILABLE, why=why)


Regions = tuple[RegionResult, ...]


@dataclass(frozen=True)
class FirstChoices:
    """What a strategy chooses first: a `run` of it by kinds of steps, and `forecasts` of the same.

    `why` says why there was no run. `grids` are those of all steps, by target.
    """

    run: Regions = ()
    forecasts: tuple[Regions, ...] = ()
    why: str = ""
    grids: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def upto(self, target: str, kind: str) -> tuple[VersionTime, ...]:
        """Return the times of a target's choice up to a kind of steps, each for another device.

        Nothing where it has no such steps.
        """
        every = (self.run, *self.forecasts)
        if not any(kind in _kinds(trial) for trial in _trials(chain(*every), target)):
            return (no_time(self.why),) if self.why and kind == KINDS[0] else ()
        each = (_upto(regions, target, kind) for regions in every)
        return _best_known([one for one in each if one is not None], self.why)


@dataclass(frozen=True)
class WorkloadResult:
    """What is known of a workload: its `run`, and `forecasts` for devices, of what was not run.

    Each has the regions of the function. `why` says why there was no run. `first` are the first
    choices of some strategies.
    """

    workload: Workload
    run: Regions = ()
    forecasts: tuple[Regions, ...] = ()
    why: str = ""
    first: Mapping[str, FirstChoices] = field(default_factory=dict)

    @property
    def function(self) -> str:
        return self.workload.function

    def versions(self, name: str) -> tuple[VersionTime, ...]:
        """Return the times of a version, each for another device; measured before predicted."""
        each = (_together(regions, name) for regions in (self.run, *self.forecasts))
        return _best_known([one for one in each if one is not None], self.why)

    def on(self, name: str, device: str) -> VersionTime:
        """Return the time of a version on a device; that of the processor goes with every one."""
        return _of_device(self.versions(name), device, name in _OF_HOST)

    def original_beside(self, first: FirstChoices) -> VersionTime:
        """Return the time of the original that was taken beside first choices, else the run's."""
        beside = _together(first.run, "sequential")
        return beside if beside is not None and beside.time_s else self.on("sequential", "")

    def bound(self, device: str) -> float | None:
        """Return the GFLOP/s that the roof of a device allows, None where it is not known."""
        for regions in (self.run, *self.forecasts):
            least = [_least_s(region, device) for region in regions]
            flop = sum(region.flop for region in regions)
            if least and flop and all(least):
                return flop / sum(time_s or 0.0 for time_s in least) / 1e9
        return None


# What runs on the processor, whatever device it is compared with.
_OF_HOST = ("sequential", "openmp_naive", "openmp")


def _best_known(each: Sequence[VersionTime], why: str) -> tuple[VersionTime, ...]:
    """Return the first time of every device, or one that says why there is none."""
    found: dict[str, VersionTime] = {}
    for one in each:
        if one.time_s is not None:
            found.setdefault(one.device, one)
    if found:
        return tuple(found.values())
    said = (one.why for one in each if one.why)
    return (no_time(why or next(said, "it was not among what was run")),)


def _of_device(known: Sequence[VersionTime], device: str, is_of_host: bool) -> VersionTime:
    same = next((one for one in known if one.device == device), None)
    if same is not None:
        return same
    if len(known) == 1 and (is_of_host or known[0].time_s is None):
        return known[0]
    return no_time(f"it has no time on {device}")


def _together(regions: Regions, name: str) -> VersionTime | None:
    """Return the time of all regions of a function, None where not all have the version."""
    rows = [row for region in regions for row in region.rows if row.name == name]
    if not rows or len(rows) < len(regions):
        return None
    alone = {one.target for r in regions for one in r.searches if one.budget == FIRST_ALONE}
    note = NOT_SEARCHED if name in alone else ""
    return _sum(regions, [_of_row(row, note) for row in rows])


NOT_SEARCHED = "the first choice of the rules alone was measured, without a search"


def _of_row(row: Row, note: str) -> VersionTime:
    if row.time_s is None:
        return no_time(row.reason or NOT_KNOWN)
    if row.status is not RowStatus.MEASURED:
        note = ""
    elif NO_TIME_TO_PROVE in row.reason:
        note = "; ".join(filter(None, (note, row.reason)))
    # Tables are of kernels, whose whole calls are compared.
    compared = row.comparisons if row.end_to_end_s is None else {}
    return VersionTime(row.status, row.device, row.time_s, note=note, comparisons=compared)


NOT_KNOWN = "no reason was recorded"


def _sum(regions: Regions, each: Sequence[VersionTime]) -> VersionTime:
    lacking = next((one for one in each if one.time_s is None), None)
    if lacking is not None:
        return lacking
    if len({(one.status, one.device) for one in each}) > 1:
        return no_time("its regions were not all timed on one device")
    flop = sum(region.flop for region in regions)
    time_s = sum(one.time_s or 0.0 for one in each)
    note = "; ".join(dict.fromkeys(one.note for one in each if one.note))
    compared = each[0].comparisons if len(each) == 1 else _open_ones(each)
    made = (each[0].status, each[0].device, time_s, flop)
    return VersionTime(*made, note=note, comparisons=compared)


def _open_ones(each: Sequence[VersionTime]) -> dict[str, Comparison]:
    """Return the comparisons of several regions that conclude nothing: so does their sum."""
    every = (pair for one in each for pair in one.comparisons.items())
    return {name: one for name, one in every if one.verdict in (Verdict.NOISY, Verdict.UNKNOWN)}


def _upto(regions: Regions, target: str, kind: str) -> VersionTime | None:
    """Return the time of regions with their steps up to a kind, None where one was not tried."""
    each: list[VersionTime] = []
    for region in regions:
        some = {*KINDS[: KINDS.index(kind) + 1]}
        own = [trial for trial in _trials((region,), target) if {*_kinds(trial)} <= some]
        if not own:
            return None
        each.append(_of_trial(max(own, key=lambda trial: len(_kinds(trial)))))
    return _sum(regions, each) if each else None


def _trials(regions: Sequence[RegionResult] | chain[RegionResult], target: str) -> list[Trial]:
    return [t for region in regions for t in region.trials if t.target == target]


def first_fact(regions: Regions, version: str, name: str) -> str:
    """Return a fact of the trials of a version: of the fastest right one that knows it, or any."""
    known = [trial for trial in _trials(regions, version) if name in trial.facts]

    def time_s(trial: Trial) -> float:
        is_right = trial.status is Status.CORRECT and trial.best_known_s is not None
        return (trial.best_known_s or 0.0) if is_right else inf

    return str(min(known, key=time_s).facts[name]) if known else ""


def _kinds(trial: Trial) -> tuple[str, ...]:
    """Return the kinds of steps that a trial has, nothing for one of a search."""
    said = str(trial.config.get(STEPS_AXIS, ""))
    return tuple(said.split(", ")) if said else ()


def _of_trial(trial: Trial) -> VersionTime:
    time_s = trial.best_known_s
    if trial.status is not Status.CORRECT or time_s is None:
        return no_time(trial.reason.split("\n", 1)[0] or NOT_KNOWN)
    status = RowStatus.PREDICTED if trial.is_predicted else RowStatus.MEASURED
    return VersionTime(status, trial.device, time_s)


def _least_s(region: RegionResult, device: str) -> float | None:
    roof = region.roofs.get(device)
    if roof is None or not roof.peak_flop_s or not roof.bandwidth_bytes_s:
        return None
    return max(region.flop / roof.peak_flop_s, region.bytes / roof.bandwidth_bytes_s) or None
