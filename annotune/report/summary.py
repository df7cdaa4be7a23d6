"""What the terminal and the page say of a region: six rows in words, trials, and winners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from annotune.measure.trial import Status, Verdict
from annotune.printable import one_line
from annotune.report.figures import (
    MISSING,
    count_text,
    estimated,
    factor_text,
    number_text,
    share_text,
    time_text,
)
from annotune.tune.results import ROW_NAMES, RegionResult, Results, Row, RowStatus

PEOPLE_SAY: Mapping[str, str] = {
    "sequential": "sequential",
    "openmp_naive": "OpenMP as written",
    "openacc_naive": "OpenACC as written",
    "openmp": "tuned OpenMP",
    "openacc": "tuned OpenACC",
    "cuda": "tuned CUDA",
}
TUNED = ("openmp", "openacc", "cuda")

LEGEND_PREDICTED = (
    "(~ ) is predicted by the model for the device named, never measured; "
    "every other figure of the table is measured."
)
LEGEND = (
    "time: of one run of the region, ± interquartile range; roofline: share of the least time "
    "that the device's peak and memory bandwidth allow, above 100% where a cache holds the data; "
    "speed-up: sequential time over this time, given only between figures of one kind. "
    "Measured on a GPU, time is that of the kernels, without copies."
)


GRID_UNITS = "gangs x workers x lanes"
_GRIDS = ("grid_asked", "grid_chosen")


@dataclass(frozen=True, slots=True)
class RowWords:
    """One row of the final table as texts.

    `figures` has a cell for each of `COLUMNS`; `provenance` says where they come from.
    """

    name: str
    figures: tuple[str, ...]
    provenance: str


COLUMNS = ("time", "GFLOP/s", "roofline", "speed-up", "verified")


def all_rows(region: RegionResult) -> tuple[Row, ...]:
    """Return the six rows in the order of `ROW_NAMES`; one that is missing is unavailable."""
    known = {row.name: row for row in region.rows}
    absent = RowStatus.UNAVAILABLE
    return tuple(
        known.get(name) or Row(name, absent, reason="it was no part of this run")
        for name in ROW_NAMES
    )


def row_words(row: Row) -> RowWords:
    """Return what a reader is told of `row`; figures only where it has any."""
    name = PEOPLE_SAY.get(row.name, row.name)
    if row.status is RowStatus.UNAVAILABLE:
        return RowWords(name, len(COLUMNS) * (MISSING,), provenance_text(row))
    cells: tuple[str, ...] = (
        time_text(row.time_s, row.spread_s),
        number_text(row.gflops),
        share_text(row.roofline_share),
        factor_text(row.speedup),
    )
    if row.status is RowStatus.PREDICTED:
        cells = tuple(map(estimated, cells))
    return RowWords(name, (*cells, _verified_text(row)), provenance_text(row))


def provenance_text(row: Row) -> str:
    """Return where a row's figures come from, and why it is not verified if it is not."""
    reason = one_line(row.reason)
    device = one_line(row.device) or "an unnamed device"
    match row.status:
        case RowStatus.UNAVAILABLE:
            return f"not available because {reason or 'no reason was recorded'}"
        case RowStatus.MEASURED:
            words = f"measured on {device}"
            if row.predicted_s is not None:
                time = estimated(time_text(row.predicted_s))
                words += f", predicted for {one_line(row.predicted_for)}: {time}"
            if row.end_to_end_s is not None:
                words += f", with copies {time_text(row.end_to_end_s)}"
        case RowStatus.PREDICTED:
            words = f"predicted for {device}"
    if not is_doubtful(row):
        return words
    return f"{words}; not verified: {reason or 'no reason was recorded'}"


def is_doubtful(row: Row) -> bool:
    """Return whether a row has figures of a program that did not pass its check."""
    return not (row.status is RowStatus.UNAVAILABLE or row.verified or row.name == "sequential")


def _verified_text(row: Row) -> str:
    # The others are compared with it, so it cannot itself be right or wrong.
    if row.name == "sequential":
        return "original"
    return "yes" if row.verified else "NO"


def winner(region: RegionResult, status: RowStatus) -> Row | None:
    """Return the fastest verified tuned row of one kind of figure.

    Measured and predicted times are never compared with each other.
    """
    found = [
        row
        for row in all_rows(region)
        if row.name in TUNED and row.verified and row.status is status and row.time_s is not None
    ]
    return min(found, key=lambda row: row.time_s or 0.0, default=None)


def winner_texts(region: RegionResult) -> tuple[str, ...]:
    """Return a line for the fastest measured and one for the fastest predicted variant."""
    lines: list[str] = []
    measured = winner(region, RowStatus.MEASURED)
    if measured is None:
        lines.append("winner: none, no tuned variant was measured and verified")
    else:
        lines.append(f"winner: {_variant_text(measured)}{_beaten_by(region, measured)}")
    predicted = winner(region, RowStatus.PREDICTED)
    if predicted is not None:
        lines.append(f"best prediction: {_variant_text(predicted)}")
    return tuple(lines)


def grid_texts(region: RegionResult) -> tuple[str, ...]:
    """Return a line for each row of OpenACC's: the grid asked for, and what a compiler chose."""
    lines = []
    for row in all_rows(region):
        own = (t for t in region.trials if t.target == row.name and t.config == row.config)
        trial = next((t for t in own if "grid_asked" in t.facts), None)
        if trial is not None:
            asked, chosen = (one_line(str(trial.facts.get(n, ""))) for n in _GRIDS)
            name = PEOPLE_SAY.get(row.name, row.name)
            lines.append(f"grid of {name}, {GRID_UNITS}: asked for {asked}; chosen: {chosen}")
    return tuple(lines)


def _variant_text(row: Row) -> str:
    words = row_words(row)
    return f"{words.name}, {words.figures[0]}, {words.provenance}; {config_text(row.config)}"


def _beaten_by(region: RegionResult, best: Row) -> str:
    """Return a clause when untuned code is as fast: a reader must not have to find that out."""
    rivals = [
        row
        for row in all_rows(region)
        if row.name not in TUNED
        and row.status is RowStatus.MEASURED
        and (row.verified or row.name == "sequential")
        and row.time_s is not None
    ]
    rival = min(rivals, key=lambda row: row.time_s or 0.0, default=None)
    if rival is None:
        return ""
    assert rival.time_s is not None
    assert best.time_s is not None
    name = PEOPLE_SAY[rival.name]
    time = time_text(rival.time_s, rival.spread_s)
    words = {
        Verdict.TIED: f"; not distinguishable from {name}, {time}",
        Verdict.FASTER: f"; {name} is faster, {time}",
    }
    if rival.final is not None and best.final is not None and rival.device == best.device:
        return words.get(rival.final.verdict, "")
    # Half an interquartile range on either side: intervals that overlap tell nothing apart.
    noise = 0.5 * ((rival.spread_s or 0.0) + (best.spread_s or 0.0))
    if abs(rival.time_s - best.time_s) <= noise:
        return words[Verdict.TIED]
    return words[Verdict.FASTER] if rival.time_s < best.time_s else ""


def config_text(config: Mapping[str, str | int | float]) -> str:
    """Return a configuration on one line: ``UF=4, S0.block=i``."""
    return one_line(", ".join(f"{k}={v}" for k, v in config.items())) or "no parameters"


def trials_text(region: RegionResult) -> str:
    """Return how many trials there were, how many were correct, and how the others failed."""
    counts = Counter(trial.status for trial in region.trials)
    correct = counts.pop(Status.CORRECT, 0)
    number = len(region.trials)
    text = f"{number} trial{'' if number == 1 else 's'}: {correct} correct"
    if counts:
        each = ", ".join(f"{counts[s]} {s}" for s in Status if counts[s])
        text += f", {counts.total()} failed ({each})"
    unchecked = sum(t.status is Status.CORRECT and not t.verified for t in region.trials)
    if unchecked:
        text += f"; {unchecked} of the correct ones not compared with the original"
    reused = sum(t.reused for t in region.trials)
    text = f"{text}; {reused} reused" if reused else text
    known = sum(searched.reused for searched in region.searches)
    variants = sum(searched.evaluated for searched in region.searches)
    return f"{text}; {known} of {variants} variants known from an earlier run" if known else text


def work_text(region: RegionResult) -> str:
    """Return the sizes and the work of a region at them, and where else its winners are right."""
    sizes = one_line(", ".join(f"{k}={v}" for k, v in region.sizes.items()))
    work = f"{count_text(region.flop, 'flop')}, {count_text(region.bytes, 'B')} at the least"
    text = f"{sizes}; {work}" if sizes else work
    others = [", ".join(f"{k}={v}" for k, v in one.items()) for one in region.sizes_checked]
    return f"{text}; also checked at {one_line('; '.join(others))}" if others else text


def heading(region: RegionResult) -> str:
    """Return how a region is called: its function, number and line."""
    return f"{one_line(region.function)}, region {region.index} (line {region.line})"


def has_prediction(results: Results) -> bool:
    """Return whether any row of the tables is predicted."""
    each = (one for region in results.regions for one in region.at_each_size)
    return any(row.status is RowStatus.PREDICTED for one in each for row in one.rows)
