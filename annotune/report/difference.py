"""Two runs beside each other: what changed around them, what won in each, and by how much.

Figures are compared where they are of one kind: both measured on one machine, or both predicted for
one device from facts of one kind. What else differs is said before them. Measured ones are told
apart where the intervals of their medians do not meet.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotune.diagnostics import Diagnostic, Span, Template
from annotune.frozen import dataclass
from annotune.measure.trial import Verdict
from annotune.printable import one_line
from annotune.report.answer import answer_of
from annotune.report.figures import MISSING, estimated, number_text, time_text
from annotune.report.results_json import plain, read_results, show_folder
from annotune.report.summary import asked_rows, call_s, people_say
from annotune.report.verdicts import RERUN, spread_text
from annotune.tuning.bench import BUSY_WORDS
from annotune.tuning.results import RegionResult, Results, Row, RowStatus
from annotune.tuning.verdict import compare

SCHEMA = 1
SLOWER = Template(
    "AT667",
    "{row} of {region} takes {after}, where it took {before}: more than {limit} longer",
    "`annotune report` shows each run with its trials; a busy machine is said there",
)
LOST = Template(
    "AT668",
    "{row} of {region} took {before}, and is no longer there: {reason}",
    "`annotune report` shows why; with the same --target and time limit it may come back",
)
NOTHING_ALIKE = Template(
    "AT669",
    "no figure of one run can be compared with one of the other, so that nothing is known to be "
    "no slower",
    "compare runs of the same file and sizes on the same machine, while it is idle",
)
_WIDTH = 100
_HEAD = ("variant", "before", "after", "after/before")


@dataclass(frozen=True, slots=True)
class Change:
    """What differs between two runs beside their times, such as a compiler's version."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class RowPair:
    """A row of both runs. `ratio` is the later time over the earlier one.

    It is None where a figure is missing, the two are not alike, or nothing is concluded from them,
    for a `reason`. `is_slower` where the later one takes longer for certain.
    """

    name: str
    before: Row | None
    after: Row | None
    ratio: float | None
    reason: str = ""
    is_slower: bool = False


@dataclass(frozen=True, slots=True)
class RegionPair:
    """A region of both runs at its `sizes`, with what won in each, in words."""

    function: str
    index: int
    sizes: Mapping[str, int]
    won_before: str
    won_after: str
    rows: tuple[RowPair, ...]

    @property
    def shown(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        place = f"{one_line(self.function)}, region {self.index}"
        return f"{place} at {sizes}" if sizes else place


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs beside each other, by the names of their files."""

    before: str
    after: str
    changes: tuple[Change, ...]
    regions: tuple[RegionPair, ...]

    def slower(self, limit: float) -> tuple[Diagnostic, ...]:
        """Return what takes longer by more than a share `limit` of its time, or is gone.

        Where nothing at all can be compared, that is what is returned.
        """
        where = Span(self.after, 1, 1)
        found: list[Diagnostic] = []
        for region in self.regions:
            for pair in region.rows:
                found += _slower(region, pair, limit, where)
        pairs = (pair for region in self.regions for pair in region.rows)
        if not found and all(pair.ratio is None for pair in pairs):
            found.append(NOTHING_ALIKE.at(where))
        return tuple(found)


def _slower(region: RegionPair, pair: RowPair, limit: float, where: Span) -> Iterator[Diagnostic]:
    said = {"row": people_say(pair.name), "region": region.shown}
    is_tuned = pair.before is not None and pair.before.is_tuned
    if not is_tuned or pair.before is None:
        return
    before = time_text(call_s(pair.before))
    is_more = pair.ratio is not None and pair.ratio > 1 + limit
    if pair.is_slower and is_more and pair.after is not None:
        after = time_text(call_s(pair.after))
        yield SLOWER.at(where, **said, before=before, after=after, limit=f"{100 * limit:g}%")
    elif _is_right(pair.before) and pair.after is not None and not _is_right(pair.after):
        yield LOST.at(where, **said, before=before, reason=pair.reason)


def _is_right(row: Row | None) -> bool:
    """Return whether a row has a time of what passed its check, or of the original."""
    if row is None or row.time_s is None:
        return False
    return row.verified or not row.is_tuned


def difference(before: Path, after: Path) -> Difference:
    """Return the difference between the runs of two folders, or two results files.

    Raises:
        AnnotuneError: One of them is none.
    """
    one, two = (show_folder(p) if p.is_dir() else read_results(p) for p in (before, after))
    pairs = tuple(_regions(one, two))
    changes = (*_changes(one, two), *_of_regions(one, two, pairs))
    shown = tuple(_pair(old, new) for old, new in pairs)
    return Difference(str(before), str(after), changes, shown)


def _regions(one: Results, two: Results) -> Iterator[tuple[RegionResult, RegionResult]]:
    """Yield the regions that both runs have, at the same sizes where both know them."""
    new = {_key(region): region for each in two.regions for region in each.at_each_size}
    for each in one.regions:
        same = [(r, new[_key(r)]) for r in each.at_each_size if _key(r) in new]
        if same:
            yield from same
            continue
        place = each.function, each.index
        other = next((r for r in two.regions if (r.function, r.index) == place), None)
        if other is not None:
            yield each, other


def _key(region: RegionResult) -> tuple[object, ...]:
    return (region.function, region.index, *sorted(region.sizes.items()))


def _changes(one: Results, two: Results) -> Iterator[Change]:
    """Yield what differs around two runs: machine, compilers, flags, annotune."""
    yield from _change("machine", _machines(one), _machines(two))
    yield from _change("device of predictions", one.device, two.device)
    for name in dict.fromkeys((*one.tools, *two.tools)):
        yield from _change(f"compiler {name}", one.tools.get(name, ""), two.tools.get(name, ""))
    for name in dict.fromkeys((*one.commands, *two.commands)):
        old, new = (" or ".join(found.commands.get(name, ())) for found in (one, two))
        yield from _change(f"command of {name}", old, new)
    yield from _change("source", one.source, two.source)
    yield from _change("annotune", one.version, two.version)
    busy = tuple(_busy(found) for found in (one, two))
    if any(busy):
        yield Change("other work on the machine", *busy)


def _change(what: str, before: str, after: str) -> Iterator[Change]:
    if before != after:
        yield Change(what, before, after)


def _machines(results: Results) -> str:
    """Return on what the rows of a run were measured."""
    rows = (row for r in results.regions for one in r.at_each_size for row in one.rows)
    measured = (row.device for row in rows if row.status is RowStatus.MEASURED and row.device)
    return ", ".join(dict.fromkeys(measured))


def _busy(results: Results) -> str:
    found = (words for words in results.warnings if words.startswith(BUSY_WORDS))
    return "; ".join(words.removeprefix(f"{BUSY_WORDS}: ") for words in found)


def _of_regions(
    one: Results, two: Results, pairs: Sequence[tuple[RegionResult, RegionResult]]
) -> Iterator[Change]:
    """Yield the sizes that differ, and the regions that one run alone has."""
    for old, new in pairs:
        yield from _change(f"sizes of {_place(old)}", _sizes(old), _sizes(new))
        work = (f"{r.flop} flop, {r.bytes} bytes" for r in (old, new))
        if _key(old) == _key(new):
            yield from _change(f"work of {_place(old)} at {_sizes(old)}", *work)
    known = {_key(region) for pair in pairs for region in pair}
    for found, is_old in ((one, True), (two, False)):
        for region in (r for each in found.regions for r in each.at_each_size):
            if _key(region) not in known:
                words = f"at {_sizes(region)}"
                yield Change(_place(region), *((words, "") if is_old else ("", words)))


def _place(region: RegionResult) -> str:
    return f"{region.function}, region {region.index}"


def _sizes(region: RegionResult) -> str:
    return ", ".join(f"{name}={value}" for name, value in region.sizes.items()) or "any size"


def _pair(before: RegionResult, after: RegionResult) -> RegionPair:
    old = {row.name: row for row in asked_rows(before)}
    new = {row.name: row for row in asked_rows(after)}
    names = [row.name for row in after.rows if row.name in old or row.name in new]
    names += [name for name in old if name not in names]
    is_alike = _key(before) == _key(after)
    sizes = "" if is_alike else f"at {_sizes(before)}, then at {_sizes(after)}"
    rows = []
    for name in names:
        kinds = _kind(before, old.get(name)), _kind(after, new.get(name))
        pair = _alike(name, old.get(name), new.get(name), kinds, sizes)
        rows.append(_concluded(pair, before, after))
    won = answer_of(before).said, answer_of(after).said
    return RegionPair(after.function, after.index, after.sizes, *won, tuple(rows))


def _kind(region: RegionResult, row: Row | None) -> str:
    """Return of which kind a row's figures are, and of what."""
    if row is None or row.time_s is None:
        return ""
    device = one_line(row.device) or "an unnamed device"
    if row.status is RowStatus.MEASURED:
        return f"measured on {device}"
    model = next((one for one in region.models if one.target == row.name), None)
    is_compiled = model is not None and all(kernel.is_compiled for kernel in model.kernels)
    return f"predicted for {device} by {'ptxas' if is_compiled else 'estimated'} registers"


def _alike(
    name: str, before: Row | None, after: Row | None, kinds: tuple[str, str], sizes: str
) -> RowPair:
    lacking = {
        when: _why(row)
        for when, row in (("before", before), ("after", after))
        if not _is_right(row)
    }
    if lacking:
        same = {*lacking.values()} if len(lacking) == 2 else {}
        each = (f"{when}: {why}" for when, why in lacking.items())
        reason = f"both times: {lacking['after']}" if len(same) == 1 else "; ".join(each)
        return RowPair(name, before, after, None, reason)
    if sizes or kinds[0] != kinds[1]:
        return RowPair(name, before, after, None, sizes or ", then ".join(kinds))
    assert before is not None
    assert after is not None
    old, new = call_s(before), call_s(after)
    ratio = new / old if old and new is not None and math.isfinite(new / old) else None
    return RowPair(name, before, after, ratio, is_slower=ratio is not None and ratio > 1)


def _concluded(pair: RowPair, before: RegionResult, after: RegionResult) -> RowPair:
    """Return a pair with what is concluded of measured times; predicted ones are exact."""
    if pair.ratio is None or pair.before is None or pair.after is None:
        return pair
    if pair.before.status is not RowStatus.MEASURED:
        return pair
    old_s, new_s = _calls_s(before, pair.before), _calls_s(after, pair.after)
    found = compare(new_s, old_s, is_paired=False)
    match found.verdict:
        case Verdict.NOISY:
            reason = f"too noisy, {RERUN}: these are times {spread_text(found)}"
        case Verdict.UNKNOWN:
            reason = "too few runs of the two for a verdict"
        case _:
            return replace(pair, is_slower=found.verdict is Verdict.SLOWER)
    return replace(pair, ratio=None, reason=reason, is_slower=False)


def _calls_s(region: RegionResult, row: Row) -> tuple[float, ...]:
    """Return the times of a measured row's calls, in seconds, empty where one alone is known.

    On a GPU they are those of its kernels with the copies of the median call.
    """
    own = (t for t in region.trials if t.target == row.name and t.config == row.config)
    trial = next((one for one in own if not one.is_predicted and one.times_s), None)
    times_s = () if trial is None else trial.times_s
    times_s = times_s if row.final is None else row.final.times_s
    copies_s = 0.0 if row.end_to_end_s is None else row.end_to_end_s - (row.time_s or 0.0)
    return tuple(time_s + copies_s for time_s in times_s)


def _why(row: Row | None) -> str:
    if row is None:
        return "not asked for"
    return one_line(row.reason) or "no right variant"


def difference_lines(found: Difference) -> Iterator[str]:
    """Yield a difference as lines of text."""
    yield f"before: {one_line(found.before)}"
    yield f"after:  {one_line(found.after)}"
    for change in found.changes:
        yield f"changed: {one_line(change.what)}"
        yield from _wrapped("    before: ", one_line(change.before) or "none")
        yield from _wrapped("    after:  ", one_line(change.after) or "none")
    for region in found.regions:
        yield ""
        yield region.shown
        yield from _wrapped("    before: ", region.won_before)
        yield from _wrapped("    after:  ", region.won_after)
        yield from _table(region)


def _wrapped(head: str, words: str) -> list[str]:
    """Return words behind a head as lines of a terminal."""
    return textwrap.wrap(
        words,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_on_hyphens=False,
    )


def _table(region: RegionPair) -> Iterator[str]:
    cells = [_HEAD, *(_cells(pair) for pair in region.rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEAD))]
    for first, *others in cells:
        right = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
        yield f"  {'  '.join((first.ljust(widths[0]), *right))}"
    for pair in region.rows:
        if pair.reason:
            yield from _wrapped(f"  {people_say(pair.name)}: ", pair.reason)


def _cells(pair: RowPair) -> tuple[str, str, str, str]:
    ratio = MISSING if pair.ratio is None else number_text(pair.ratio)
    return people_say(pair.name), _time(pair.before), _time(pair.after), ratio


def _time(row: Row | None) -> str:
    if row is None or row.time_s is None:
        return MISSING
    time = time_text(call_s(row), None if row.end_to_end_s else row.spread_s)
    return estimated(time) if row.status is RowStatus.PREDICTED else time


def difference_json(found: Difference, slower: Sequence[Diagnostic] = ()) -> dict[str, Any]:
    """Return a difference as plain values for strict JSON."""
    return {
        "schema": SCHEMA,
        "before": found.before,
        "after": found.after,
        "changes": [plain(change) for change in found.changes],
        "regions": [
            {
                "function": region.function,
                "index": region.index,
                "sizes": dict(region.sizes),
                "won": {"before": region.won_before, "after": region.won_after},
                "rows": [_row_json(pair) for pair in region.rows],
            }
            for region in found.regions
        ],
        "slower": [one.message for one in slower],
    }


def _row_json(pair: RowPair) -> dict[str, Any]:
    return {
        "name": pair.name,
        "before": _figures(pair.before),
        "after": _figures(pair.after),
        "ratio": pair.ratio,
        "reason": pair.reason,
    }


def _figures(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    names = ("status", "device", "time_s", "spread_s", "end_to_end_s", "verified", "config")
    found: dict[str, Any] = plain(row)
    return {name: found[name] for name in names}
