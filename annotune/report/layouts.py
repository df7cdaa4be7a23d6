"""The layouts of tables: what their rows and columns are, as papers print them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import exp, log

from annotune.frozen import dataclass
from annotune.measure.trial import Verdict
from annotune.report.figures import MISSING, estimated, factor_text, number_text
from annotune.report.suite import Suite, TableWish, WorkloadFamily
from annotune.report.summary import (
    PROFILE_COLUMNS,
    model_profile,
    people_say,
    profile_values,
    profile_words,
)
from annotune.report.tables import (
    NOT_KNOWN,
    FirstChoices,
    PaperTable,
    SuiteTables,
    TableCell,
    TableCurve,
    TableLine,
    VersionTime,
    WorkloadResult,
    first_fact,
)
from annotune.report.verdicts import beside_text
from annotune.tuning.ablation import KINDS
from annotune.tuning.results import ORIGINALS, Profile, RegionResult, RowStatus

RATE, SPEEDUP = "GFLOP/s", "speed-up"
BOUND = "bound of the roofline"
# The version that one has without a tool, by the target that is better.
_AS_WRITTEN = {"openmp": "openmp_naive", "openacc": "openacc_naive"}

Known = Mapping[tuple[object, ...], WorkloadResult]


def tables_of(
    suite: Suite, results: Sequence[WorkloadResult], version: str, warnings: Sequence[str] = ()
) -> SuiteTables:
    """Return the tables that a suite asks for, of what is known of its workloads."""
    known = {result.workload.key: result for result in results}
    found = tuple(_LAYOUTS[wish.layout](wish, known) for wish in suite.tables)
    return SuiteTables(suite.title, suite.path.name, version, found, tuple(warnings))


def _at(
    family: WorkloadFamily, label: str, known: Known, functions: Sequence[str] | None = None
) -> list[WorkloadResult]:
    """Return the results of a family at one size, those of some functions if these are given."""
    own = (work for work in family.workloads if work.label == label)
    return [known[w.key] for w in own if functions is None or w.function in functions]


def _labels(families: Iterable[WorkloadFamily]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for family in families for label in family.labels))


def _devices(times: Iterable[VersionTime]) -> tuple[str, ...]:
    """Return the devices that there are times on, one without a name where there are none."""
    return tuple(dict.fromkeys(one.device for one in times if one.time_s is not None)) or ("",)


def _versions_of(
    family: WorkloadFamily, names: Iterable[str], known: Known
) -> Iterator[tuple[str, str]]:
    """Yield each version with each of its devices."""
    for name in dict.fromkeys(names):
        times = (one for work in family.workloads for one in known[work.key].versions(name))
        for device in _devices(times):
            yield name, device


@dataclass(frozen=True, slots=True)
class _Part:
    """What one workload adds to a figure: its own `value`, or `why` it has none.

    `note` says what is to be known of the value.
    """

    name: str
    value: float | None
    status: RowStatus = RowStatus.MEASURED
    why: str = ""
    note: str = ""


_EMPTY = TableCell("")


def _figure(parts: Sequence[_Part], text: Callable[[float | None], str]) -> TableCell:
    """Return the geometric mean of the values that there are, and which ones there are not."""
    if not parts:
        return _EMPTY
    values = [part.value for part in parts if part.value]
    said = _lacking(parts)
    if said and values:
        said = f"of {len(values)} of {len(parts)} functions; {said}"
    if not values:
        return TableCell(MISSING, None, RowStatus.UNAVAILABLE, said)
    mean = _mean(values)
    said = "; ".join(filter(None, (said, _to_be_known(parts))))
    if any(part.value and part.status is RowStatus.PREDICTED for part in parts):
        return TableCell(estimated(text(mean)), mean, RowStatus.PREDICTED, said)
    return TableCell(text(mean), mean, RowStatus.MEASURED, said)


def _lacking(parts: Sequence[_Part]) -> str:
    """Return why parts have no value, with their names where others differ; nothing for none."""
    names: dict[str, list[str]] = {}
    for part in parts:
        if not part.value:
            names.setdefault(part.why or NOT_KNOWN, []).append(part.name)
    is_of_all = len(names) == 1 and all(not part.value for part in parts)
    return "; ".join(
        f"{'' if is_of_all else ', '.join(own) + ': '}not available because {why}"
        for why, own in names.items()
    )


def _to_be_known(parts: Sequence[_Part]) -> str:
    """Return the notes of parts with a value, with their names where not all have the same."""
    names: dict[str, list[str]] = {}
    for part in parts:
        if part.value and part.note:
            names.setdefault(part.note, []).append(part.name)
    count = sum(bool(part.value) for part in parts)
    return "; ".join(
        note if len(own) == count else f"{', '.join(own)}: {note}" for note, own in names.items()
    )


def _mean(values: Sequence[float]) -> float:
    """Return the geometric mean, of one value itself."""
    return values[0] if len(values) == 1 else exp(sum(map(log, values)) / len(values))


def _rate(results: Iterable[WorkloadResult], version: str, device: str) -> TableCell:
    """Return the GFLOP/s of a version."""
    parts = []
    for result in results:
        one = result.on(version, device)
        why = one.why if one.time_s is None else "nothing is computed"
        parts.append(_Part(result.function, one.gflops, one.status, why, one.note))
    return _figure(parts, number_text)


def _of_two_kinds(own: VersionTime, over: VersionTime) -> str:
    """Return which time of a ratio is measured and which predicted, nothing for two of a kind."""
    if own.status is over.status:
        return ""
    ours, theirs = (
        f"predicted for {one.device}"
        if one.status is RowStatus.PREDICTED
        else f"measured on {one.device}"
        for one in (own, over)
    )
    return f"a time {ours} beside one {theirs}"


def _ratio(result: WorkloadResult, own: VersionTime, over: VersionTime, other: str) -> _Part:
    """Return the time of another version over one's own, by the verdict where there is one."""
    found = own.comparisons.get(other)
    if found is not None and found.verdict in (Verdict.NOISY, Verdict.UNKNOWN):
        return _Part(result.function, None, why=f"it is {beside_text(found, people_say(other))}")
    if own.time_s and over.time_s:
        is_predicted = RowStatus.PREDICTED in (own.status, over.status)
        status = RowStatus.PREDICTED if is_predicted else RowStatus.MEASURED
        said = (_of_two_kinds(own, over), own.note, over.note)
        note = "; ".join(dict.fromkeys(filter(None, said)))
        times = found.speedup if found is not None else None
        return _Part(result.function, times or over.time_s / own.time_s, status, note=note)
    why = own.why
    if own.time_s or not result.run:
        why = f"{people_say(other)}: {over.why}" if result.run else over.why
    return _Part(result.function, None, why=why)


def _speedup(results: Iterable[WorkloadResult], version: str, other: str, device: str) -> TableCell:
    """Return the speed-up of a version on a device over another version."""
    parts = [_ratio(r, r.on(version, device), r.on(other, device), other) for r in results]
    return _figure(parts, factor_text)


def _versions(wish: TableWish, known: Known) -> PaperTable:
    """Return a row for each version of a family, and a column for each size: Figs 5.1 to 5.4."""
    labels = _labels(wish.families)
    lines: list[TableLine] = []
    for family in wish.families:
        for name, device in _versions_of(family, (*ORIGINALS, *wish.of), known):
            cells = (_rate(_at(family, label, known), name, device) for label in labels)
            lines.append(TableLine((family.name, people_say(name), device), tuple(cells)))
    heads = ("benchmark", "version", "device")
    return PaperTable(wish.title, RATE, heads, labels, tuple(lines))


def _speedups(wish: TableWish, known: Known) -> PaperTable:
    """Return a row for each size, version and device, and a column for each other version.

    So are the thesis's Tables 5.1, 5.2 and 5.5.
    """
    lines: list[TableLine] = []
    for family in wish.families:
        for label in family.labels:
            own = _at(family, label, known)
            for name, device in _versions_of(family, wish.of, known):
                cells = (_speedup(own, name, other, device) for other in wish.over)
                about = (family.name, label, people_say(name), device)
                lines.append(TableLine(about, tuple(cells)))
    columns = tuple(f"over {people_say(other)}" for other in wish.over)
    heads = ("benchmark", "size", "version", "device")
    return PaperTable(wish.title, SPEEDUP, heads, columns, tuple(lines))


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
        for version, device in _versions_of(family, wish.of, known):
            for name, own in groups.items():
                each = (_at(family, label, known, own) for label in labels)
                cells = tuple(_rate(results, version, device) for results in each)
                lines.append(TableLine((name, people_say(version), device), cells))
    heads = ("function", "version", "device")
    return PaperTable(wish.title, RATE, heads, labels, tuple(lines))


def _curve(wish: TableWish, known: Known) -> PaperTable:
    """Return the rows of `versions` and the bound on each device, and a plot for each family.

    So is Figure 3 of Abdelfattah et al.
    """
    labels = _labels(wish.families)
    lines: list[TableLine] = []
    plots: dict[str, tuple[TableCurve, ...]] = {}
    for family in wish.families:
        shown = [*_versions_of(family, (*ORIGINALS, *wish.of), known)]
        rows = {
            (people_say(name), device): [_rate(_at(family, x, known), name, device) for x in labels]
            for name, device in shown
        }
        devices = dict.fromkeys(device for _, device in shown if device)
        bounds = {
            (BOUND, device): [_bound(_at(family, label, known), device) for label in labels]
            for device in devices
        }
        every = {**rows, **bounds}
        lines += (TableLine((family.name, *key), tuple(cells)) for key, cells in every.items())
        curves = (_as_curve(key, cells, labels) for key, cells in every.items())
        plots[family.name] = tuple(curve for curve in curves if len(curve.points) > 1)
    heads = ("benchmark", "version", "device")
    return PaperTable(wish.title, RATE, heads, labels, tuple(lines), plots)


def _bound(results: Sequence[WorkloadResult], device: str) -> TableCell:
    """Return the geometric mean of what a device's roof allows, where it is known."""
    values = [value for result in results if (value := result.bound(device)) is not None]
    if not values or len(values) < len(results):
        return _EMPTY
    mean = _mean(values)
    return TableCell(estimated(number_text(mean)), mean, RowStatus.PREDICTED)


def _as_curve(
    key: tuple[str, str], cells: Sequence[TableCell], labels: Sequence[str]
) -> TableCurve:
    """Return a row as a line of a plot; the sizes are the numbers in their names."""
    places = [_place(label, number) for number, label in enumerate(labels, 1)]
    points = [(x, c.value) for x, c in zip(places, cells, strict=True) if c.value is not None]
    kinds = {cell.status for cell in cells if cell.value is not None}
    name, device = key
    status = None
    if name != BOUND:
        is_measured = kinds == {RowStatus.MEASURED}
        status = RowStatus.MEASURED if is_measured else RowStatus.PREDICTED
    return TableCurve(f"{name}, {device}", tuple(sorted(points)), status)


def _place(label: str, number: int) -> float:
    found = re.search(r"\d+(\.\d+)?", label)
    return float(found[0]) if found else float(number)


def _ablation(wish: TableWish, known: Known) -> PaperTable:
    """Return a row for each size, target and device, and a column for each kind of steps.

    Figures are speed-ups over the original: as written, with the steps up to each kind, and of the
    search's best. So is the thesis's Table 5.3.
    """
    lines: list[TableLine] = []
    kinds: set[str] = set()
    for family in wish.families:
        for label in family.labels:
            own = _at(family, label, known)
            for target in (name for name in wish.of if name not in ORIGINALS):
                first = [(r, r.first.get(wish.strategy, FirstChoices())) for r in own]
                times = (one for _, f in first for kind in KINDS for one in f.upto(target, kind))
                for device in _devices(times):
                    cells = {kind: _stage(first, target, kind, device) for kind in KINDS}
                    kinds |= {kind for kind, cell in cells.items() if cell is not _EMPTY}
                    lines.append(_ablated(family, label, target, device, own, cells))
    shown = tuple(kind for kind in KINDS if kind in kinds)
    columns = ("as written", *(f"{'' if n == 0 else '+ '}{k}" for n, k in enumerate(shown)))
    kept = [0, *(1 + n for n, kind in enumerate(KINDS) if kind in kinds), 1 + len(KINDS)]
    cut = tuple(TableLine(x.about, tuple(x.cells[n] for n in kept)) for x in lines)
    heads = ("benchmark", "size", "target", "device")
    return PaperTable(wish.title, SPEEDUP, heads, (*columns, "tuned"), cut)


def _ablated(
    family: WorkloadFamily,
    label: str,
    target: str,
    device: str,
    own: Sequence[WorkloadResult],
    cells: Mapping[str, TableCell],
) -> TableLine:
    plain = _AS_WRITTEN.get(target)
    first = _EMPTY if plain is None else _speedup(own, plain, "sequential", device)
    last = _speedup(own, target, "sequential", device)
    about = (family.name, label, target, device)
    return TableLine(about, (first, *cells.values(), last))


def _stage(
    results: Sequence[tuple[WorkloadResult, FirstChoices]], target: str, kind: str, device: str
) -> TableCell:
    """Return the speed-up over the original of first choices up to a kind of steps."""
    parts: list[_Part] = []
    for result, first in results:
        known = first.upto(target, kind)
        if known:
            one = next((one for one in known if one.device == device), known[0])
            parts.append(_ratio(result, one, result.original_beside(first), "sequential"))
    return _figure(parts, factor_text)


def _grids(wish: TableWish, known: Known) -> PaperTable:
    """Return a row for each function and size, and the grids of each target: Table 5.4."""
    lines: list[TableLine] = []
    for family in wish.families:
        for work in sorted(family.workloads, key=lambda w: family.functions.index(w.function)):
            result = known[work.key]
            first = result.first.get(wish.strategy, FirstChoices())
            cells = (_grid(result, first, version, name) for _, version, name in _GRID_COLUMNS)
            lines.append(TableLine((work.function, work.label), tuple(cells)))
    columns = tuple(head for head, _, _ in _GRID_COLUMNS)
    unit = "gangs x workers x lanes of OpenACC; blocks and threads of CUDA, x first"
    return PaperTable(wish.title, unit, ("function", "size"), columns, tuple(lines))


_GRID_COLUMNS = (
    ("OpenACC as written, chosen", "openacc_naive", "grid_chosen"),
    ("OpenACC, asked for", "openacc", ""),
    ("OpenACC, chosen", "openacc", "grid_chosen"),
    ("CUDA, blocks", "cuda", "0"),
    ("CUDA, threads", "cuda", "1"),
)
_NOT_CHOSEN = "not available because "


def _grid(result: WorkloadResult, first: FirstChoices, version: str, name: str) -> TableCell:
    if name == "grid_chosen":
        said = first_fact(first.run, version, name) or first_fact(result.run, version, name)
        if said and not said.startswith(_NOT_CHOSEN):
            return TableCell(said)
        why = said.removeprefix(_NOT_CHOSEN) or result.why or "no compiler was asked here"
        return TableCell(MISSING, None, RowStatus.UNAVAILABLE, f"{_NOT_CHOSEN}{why}")
    said = first.grids.get(version, ("", ""))[int(name or "0")]
    return TableCell(said) if said else _EMPTY


def _profile(wish: TableWish, known: Known) -> PaperTable:
    """Return two rows for each function, size and target: what was counted, and the model's.

    So are the thesis's Figures 3.8 and 5.8.
    """
    lines: list[TableLine] = []
    for family in wish.families:
        for work in sorted(family.workloads, key=lambda w: family.functions.index(w.function)):
            result = known[work.key]
            for target in wish.of:
                about = (work.function, work.label, people_say(target))
                lines += _profiled(result, target, about)
    heads = ("function", "size", "version", "figures")
    unit = "bytes/s; shares of one"
    return PaperTable(wish.title, unit, heads, PROFILE_COLUMNS, tuple(lines))


NOT_COUNTED = "no GPU was measured under a profiler"
NOT_MODELLED = "the model does not speak of it"


def _profiled(result: WorkloadResult, target: str, about: tuple[str, ...]) -> Iterator[TableLine]:
    """Yield the rows of a target: nothing where neither a GPU nor a model speaks of it."""
    said = (_modelled(regions, target) for regions in (result.run, *result.forecasts))
    models = {one.device: one for one in said if one is not None}
    counted = (profile for region in result.run for profile in region.profiles)
    own = next((profile for profile in counted if profile.target == target), None)
    if models or own is not None:
        where = "counted" if own is None or own.reason else f"counted on {own.device}"
        why = NOT_COUNTED if own is None else own.reason
        yield TableLine((*about, where), _counted(own, why))
    for device, one in models.items():
        yield TableLine((*about, f"model of {device}"), _counted(one, NOT_MODELLED, True))


def _modelled(regions: Sequence[RegionResult], target: str) -> Profile | None:
    """Return what the model says of a function of one region."""
    return model_profile(regions[0], target) if len(regions) == 1 else None


def _counted(found: Profile | None, why: str, is_predicted: bool = False) -> tuple[TableCell, ...]:
    """Return the cells of a profile, one for each of `PROFILE_COLUMNS`."""
    cells: list[TableCell] = []
    for text, value in zip(profile_words(found), profile_values(found), strict=True):
        if value is None:
            note = f"not available because {why or NOT_KNOWN}"
            cells.append(TableCell(MISSING, None, RowStatus.UNAVAILABLE, note))
        elif is_predicted:
            cells.append(TableCell(estimated(text), value, RowStatus.PREDICTED))
        else:
            cells.append(TableCell(text, value, RowStatus.MEASURED))
    return tuple(cells)


_LAYOUTS: Mapping[str, Callable[[TableWish, Known], PaperTable]] = {
    "versions": _versions,
    "speedups": _speedups,
    "rates": _rates,
    "curve": _curve,
    "ablation": _ablation,
    "grids": _grids,
    "profile": _profile,
}
