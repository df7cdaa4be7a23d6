"""The tables of a suite as values: what its runs measured and the model predicts, laid out.

A figure is measured or predicted, and says so; one in which a prediction takes part is predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from annotune.report.figures import MISSING, estimated, factor_text, number_text
from annotune.report.suite import Suite, TableWish, Workload, WorkloadFamily
from annotune.report.summary import people_say
from annotune.tune.results import ORIGINALS, RegionResult, RowStatus

LEGEND_TABLES = (
    "(~ ) is predicted by the model for the device named, never measured, or has a predicted time "
    "in it; every other figure is measured. Of several functions it is the geometric mean."
)


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell: its `text`, and the `value` with its `unit` for other programs.

    `note` says why there is no figure, or what is to be known of it.
    """

    text: str
    value: float | None = None
    unit: str = ""
    status: RowStatus = RowStatus.MEASURED
    note: str = ""


@dataclass(frozen=True, slots=True)
class TableLine:
    """A row of a table: what it is about, a text for each head, and a cell for each column."""

    about: tuple[str, ...]
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as a paper prints it. `heads` name what stands before the `columns`."""

    title: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    lines: tuple[TableLine, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of the cells, each once; a cell is marked by the number of its own."""
        cells = (cell for line in self.lines for cell in line.cells)
        return tuple(dict.fromkeys(cell.note for cell in cells if cell.note))


@dataclass(frozen=True, slots=True)
class SuiteTables:
    """All tables of a suite, and the `version` of annotune that made them."""

    title: str
    version: str
    tables: tuple[PaperTable, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionTime:
    """What one run of a version takes, in `time_s` seconds, or `why` that is not known.

    `flop` are those of the run.
    """

    status: RowStatus
    device: str = ""
    time_s: float | None = None
    flop: int = 0
    why: str = ""

    @property
    def gflops(self) -> float | None:
        """Return 1e9 flop/s, None where there is no time, or nothing is computed."""
        return self.flop / self.time_s / 1e9 if self.time_s and self.flop else None


@dataclass(frozen=True)
class WorkloadResult:
    """What is known of a workload: its `run`, and `forecasts` of devices that it did not run on.

    Each has the regions of the function. `why` says why there was no run, or what it lacks.
    """

    workload: Workload
    run: tuple[RegionResult, ...] = ()
    forecasts: tuple[tuple[RegionResult, ...], ...] = ()
    why: str = ""

    @property
    def function(self) -> str:
        return self.workload.function

    def versions(self, name: str) -> tuple[VersionTime, ...]:
        """Return the times of a version, each for another device; measured before predicted."""
        found: dict[str, VersionTime] = {}
        missing: list[VersionTime] = []
        for regions in (self.run, *self.forecasts):
            one = _together(regions, name)
            if one is None:
                continue
            if one.status is RowStatus.UNAVAILABLE:
                missing.append(one)
            elif one.device not in found:
                found[one.device] = one
        if found:
            return tuple(found.values())
        why = self.why or next((one.why for one in missing), "it was not among what was run")
        return (VersionTime(RowStatus.UNAVAILABLE, why=why),)

    def on(self, name: str, device: str) -> VersionTime:
        """Return the time of a version on a device; of one that no device has its only time."""
        known = self.versions(name)
        same = next((one for one in known if one.device == device), None)
        if same is not None:
            return same
        if len(known) == 1 and (name in _OF_HOST or known[0].time_s is None):
            return known[0]
        return VersionTime(RowStatus.UNAVAILABLE, why=f"it has no time on {device}")


# What runs on the processor, whatever device it is compared with.
_OF_HOST = ("sequential", "openmp_naive", "openmp")


def _together(regions: Sequence[RegionResult], name: str) -> VersionTime | None:
    """Return the time of all regions of a function, None where no row has the version."""
    rows = [row for region in regions for row in region.rows if row.name == name]
    if not rows or len(rows) < len(regions):
        return None
    lacking = next((row for row in rows if row.time_s is None), None)
    if lacking is not None:
        return VersionTime(RowStatus.UNAVAILABLE, why=lacking.reason or "no reason was recorded")
    kinds, devices = {row.status for row in rows}, {row.device for row in rows}
    if len(kinds) > 1 or len(devices) > 1:
        why = "its regions were not all timed on one device"
        return VersionTime(RowStatus.UNAVAILABLE, why=why)
    time_s = sum(row.time_s or 0.0 for row in rows)
    flop = sum(region.flop for region in regions)
    return VersionTime(rows[0].status, rows[0].device, time_s, flop)


def tables_of(
    suite: Suite, results: Sequence[WorkloadResult], version: str, warnings: Sequence[str] = ()
) -> SuiteTables:
    """Return the tables that a suite asks for, of what is known of its workloads."""
    known = {result.workload.key: result for result in results}
    found = tuple(_LAYOUTS[wish.layout](wish, known) for wish in suite.tables)
    return SuiteTables(suite.title, version, found, tuple(warnings))


Known = Mapping[tuple[object, ...], WorkloadResult]


def _at(
    family: WorkloadFamily, label: str, known: Known, functions: Sequence[str] | None = None
) -> list[WorkloadResult]:
    """Return the results of a family at one size, those of some functions if these are given."""
    own = (work for work in family.workloads if work.label == label)
    return [known[w.key] for w in own if functions is None or w.function in functions]


def _devices(family: WorkloadFamily, version: str, known: Known) -> tuple[str, ...]:
    """Return the devices that a version has times on, one without a name where it has none."""
    times = (one for work in family.workloads for one in known[work.key].versions(version))
    return tuple(dict.fromkeys(one.device for one in times if one.time_s is not None)) or ("",)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one workload adds to a figure: its own `value`, or `why` it has none."""

    name: str
    value: float | None
    status: RowStatus = RowStatus.MEASURED
    why: str = ""


def _figure(parts: Sequence[_Part], unit: str, text: Callable[[float | None], str]) -> TableCell:
    """Return the geometric mean of the values that there are, and which ones there are not."""
    if not parts:
        return TableCell("", unit=unit, status=RowStatus.UNAVAILABLE)
    values = [part.value for part in parts if part.value]
    lacking = [part for part in parts if not part.value]
    said = ""
    if lacking:
        names = ", ".join(part.name for part in lacking)
        said = f"not available because {lacking[0].why or NOT_KNOWN}"
        if len(parts) > 1:
            said = f"{names}: {said}"
        if values:
            said = f"of {len(values)} of {len(parts)} functions; {said}"
    if not values:
        return TableCell(MISSING, None, unit, RowStatus.UNAVAILABLE, said)
    mean = values[0] if len(values) == 1 else exp(sum(map(log, values)) / len(values))
    is_predicted = any(p.value and p.status is RowStatus.PREDICTED for p in parts)
    shown = estimated(text(mean)) if is_predicted else text(mean)
    status = RowStatus.PREDICTED if is_predicted else RowStatus.MEASURED
    return TableCell(shown, mean, unit, status, said)


NOT_KNOWN = "no reason was recorded"


def _rate(results: Iterable[WorkloadResult], version: str, device: str) -> TableCell:
    """Return the GFLOP/s of a version."""
    parts = []
    for result in results:
        one = result.on(version, device)
        why = one.why if one.time_s is None else "nothing is computed"
        parts.append(_Part(result.function, one.gflops, one.status, why))
    return _figure(parts, "GFLOP/s", number_text)


def _speedup(results: Iterable[WorkloadResult], version: str, other: str, device: str) -> TableCell:
    """Return the time of another version over that of `version` on a device."""
    parts = []
    for result in results:
        own, over = result.on(version, device), result.on(other, device)
        value = over.time_s / own.time_s if own.time_s and over.time_s else None
        is_predicted = RowStatus.PREDICTED in (own.status, over.status)
        status = RowStatus.PREDICTED if is_predicted else RowStatus.MEASURED
        why = own.why
        if own.time_s is not None or not result.run:
            why = over.why if not result.run else f"{people_say(other)}: {over.why}"
        parts.append(_Part(result.function, value, status, why))
    return _figure(parts, "x", factor_text)


def _labels(families: Iterable[WorkloadFamily]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for family in families for label in family.labels))


def _versions(wish: TableWish, known: Known) -> PaperTable:
    """Return a row for each version of a family, and a column for each size: Figs 5.1 to 5.4."""
    labels = _labels(wish.families)
    lines: list[TableLine] = []
    for family in wish.families:
        for name in dict.fromkeys((*ORIGINALS, *wish.of)):
            for device in _devices(family, name, known):
                cells = (_rate(_at(family, label, known), name, device) for label in labels)
                about = (family.name, people_say(name), device)
                lines.append(TableLine(about, tuple(cells)))
    return PaperTable(wish.title, ("benchmark", "GFLOP/s of", "device"), labels, tuple(lines))


def _speedups(wish: TableWish, known: Known) -> PaperTable:
    """Return a row for each size, version and device, and a column for each other version.

    So are the thesis's Tables 5.1, 5.2 and 5.5.
    """
    lines: list[TableLine] = []
    for family in wish.families:
        for label in family.labels:
            own = _at(family, label, known)
            for name in wish.of:
                for device in _devices(family, name, known):
                    cells = (_speedup(own, name, other, device) for other in wish.over)
                    about = (family.name, label, people_say(name), device)
                    lines.append(TableLine(about, tuple(cells)))
    columns = tuple(f"over {people_say(other)}" for other in wish.over)
    return PaperTable(
        wish.title, ("benchmark", "size", "speed-up of", "device"), columns, tuple(lines)
    )


def _rates(wish: TableWish, known: Known) -> PaperTable:
    """Return a row for each function, then their mean, and a column for each size.

    So is Figure 11 of Kim et al.
    """
    labels = _labels(wish.families)
    lines: list[TableLine] = []
    for family in wish.families:
        groups: dict[str, tuple[str, ...]] = {name: (name,) for name in family.functions}
        if len(groups) > 1:
            groups[f"all of {family.name}"] = family.functions
        for version in wish.of:
            for device in _devices(family, version, known):
                for name, own in groups.items():
                    found = (
                        [r for r in _at(family, x, known) if r.function in own] for x in labels
                    )
                    cells = tuple(_rate(results, version, device) for results in found)
                    lines.append(TableLine((name, people_say(version), device), cells))
    return PaperTable(wish.title, ("function", "GFLOP/s of", "device"), labels, tuple(lines))


_LAYOUTS: Mapping[str, Callable[[TableWish, Known], PaperTable]] = {
    "versions": _versions,
    "speedups": _speedups,
    "rates": _rates,
}
