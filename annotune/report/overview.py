"""What the page begins with: a line for each region, and what concerns more than one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotune.frozen import dataclass
from annotune.measure.trial import Verdict
from annotune.printable import one_line, printable
from annotune.report.figures import MISSING, estimated, time_text
from annotune.report.summary import (
    asked_rows,
    best_predictions,
    call_s,
    fastest_row,
    heading,
    merged,
    original_text,
    people_say,
)
from annotune.report.verdicts import (
    THE_ORIGINAL,
    is_win,
    speedup_text,
    strongest_rival,
    with_original,
)
from annotune.tuning.proving import NO_TIME_TO_PROVE
from annotune.tuning.results import RegionResult, Results, Row, RowStatus


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A region at its sizes as texts; `cells` has one for each column by its name."""

    heading: str
    sizes: str
    cells: Mapping[str, str]


def overview(results: Results) -> tuple[OverviewRow, ...]:
    """Return a line for each region at each of its sizes; no column is empty in all of them."""
    rows = [_row(one) for region in results.regions for one in region.at_each_size]
    kept = {name for row in rows for name, text in row.cells.items() if text != MISSING}
    return tuple(
        replace(row, cells={n: text for n, text in row.cells.items() if n in kept}) for row in rows
    )


def _row(region: RegionResult) -> OverviewRow:
    """Return the line of a region; measured and predicted times have columns of their own."""
    best = fastest_row(region, RowStatus.MEASURED)
    predicted = "; ".join(
        f"{people_say(row.name)} {estimated(time_text(call_s(row)))} on {one_line(row.device)}"
        for _, row in best_predictions(region)
    )
    return OverviewRow(
        heading(region),
        one_line(", ".join(f"{k}={v}" for k, v in region.sizes.items())),
        {
            "sequential": original_text(region),
            "tuned and measured": (
                MISSING if best is None else f"{people_say(best.name)} {time_text(call_s(best))}"
            ),
            "speed-up": MISSING if best is None else speedup_text(best),
            "predicted, never measured": predicted or MISSING,
            "what came of it": _verdict(best),
        },
    )


_VERDICTS = {
    Verdict.FASTER: "{name} is faster than {other}",
    Verdict.SLOWER: "{other} is faster",
    Verdict.TIED: "a statistical tie with {other}",
    Verdict.NOISY: "too noisy to compare with {other}",
    Verdict.UNKNOWN: "not compared with {other}",
}


def _verdict(best: Row | None) -> str:
    if best is None:
        return "no tuned variant was measured"
    if is_win(best):
        return f"{people_say(best.name)} wins"
    beside, other = with_original(best), THE_ORIGINAL
    rival = strongest_rival(best)
    if beside is not None and beside.verdict is Verdict.FASTER and rival is not None:
        other, beside = people_say(rival[0]), rival[1]
    verdict = Verdict.UNKNOWN if beside is None else beside.verdict
    return _VERDICTS[verdict].format(name=people_say(best.name), other=other)


@dataclass(frozen=True, slots=True)
class Notes:
    """What is told once for all regions: `texts`, and the number of that of a row's reason."""

    texts: tuple[str, ...]
    numbers: Mapping[str, int]

    def told(self, region: RegionResult) -> RegionResult:
        """Return a region whose rows refer to the notes for what stands there."""
        return replace(region, rows=tuple(map(self._row, region.rows)))

    def _row(self, row: Row) -> Row:
        number = self.numbers.get(row.reason)
        if number is None:
            return row
        is_absent = row.status is RowStatus.UNAVAILABLE
        return replace(row, reason=f"{'of' if is_absent else 'see'} note {number} above")


def notes_of(results: Results) -> Notes:
    """Return the warnings of a run, and why a row has figures in no region."""
    each = [one for region in results.regions for one in region.at_each_size]
    texts = [printable(warning).strip() for warning in merged(results.warnings)]
    rows = [row for region in each for row in asked_rows(region) if row.reason]
    numbers = {
        row.reason: number
        for row in rows
        for number, text in enumerate(texts, 1)
        if row.reason.startswith(NO_TIME_TO_PROVE) and row.reason in text
    }
    absent = [row for row in rows if row.status is RowStatus.UNAVAILABLE]
    for reason in dict.fromkeys(row.reason for row in absent):
        names = [row.name for row in absent if row.reason == reason]
        if len(each) > 1 and any(names.count(name) == len(each) for name in names):
            said = ", ".join(map(people_say, dict.fromkeys(names)))
            texts.append(f"{said}: not available because {one_line(reason)}")
            numbers[reason] = len(texts)
    return Notes(tuple(texts), numbers)
