"""What a terminal shows of a run: how it goes on, and the final table; and of `doctor`."""

from __future__ import annotations

import io
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from annotune.frozen import dataclass
from annotune.measure.machine import Report
from annotune.measure.trial import Status, Trial
from annotune.printable import one_line, printable
from annotune.report.figures import estimated, share_text, time_text
from annotune.report.summary import (
    COLUMNS,
    LEGEND,
    LEGEND_PREDICTED,
    RowWords,
    asked_rows,
    copied_text,
    finals_texts,
    formulation_texts,
    grid_texts,
    has_prediction,
    heading,
    is_doubtful,
    merged,
    model_texts,
    place_text,
    profile_texts,
    row_words,
    spent_text,
    trials_text,
    winner_texts,
    work_text,
)
from annotune.tuning.results import RegionResult, Results, Row, RowStatus

# Columns of text. From the first on provenance has a column of its own; below the second
# every figure has a line of its own, because a table would break words.
FULL_WIDTH = 116
STACKED_WIDTH = 84
PIPE_WIDTH = 132

_INDENT = 2
_STYLES = {RowStatus.MEASURED: "", RowStatus.PREDICTED: "italic", RowStatus.UNAVAILABLE: "dim"}


Line = Callable[..., Text]


class _Display(Progress):
    """A bar with a line of words below it, where these do not squeeze the bar."""

    words = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the bar and the words."""
        yield self.make_tasks_table(self.tasks)
        if self.words:
            yield Text(f"  {self.words}", no_wrap=True, overflow="ellipsis")


class _Left(ProgressColumn):
    """The time that a stage still takes, and at most what the run's limit leaves."""

    def __init__(self, end_s: float | None) -> None:
        super().__init__()
        self._end_s = end_s

    def render(self, task: Task) -> Text:
        """Return it as ``0:01:30``; without an estimate the limit's, without a limit dashes."""
        known = [] if task.time_remaining is None else [task.time_remaining]
        if self._end_s is not None:
            known.append(max(0.0, self._end_s - time.monotonic()))
        if not known:
            return Text("-:--:--")
        return Text(str(timedelta(seconds=round(min(known)))))


# Without a terminal a line tells so often how far a run is.
EVERY_S = 10.0


class LiveProgress:
    """Shows stages and trials while a run goes on: a bar on a terminal, else a line now and then.

    A context manager: the display is taken down at its end. Trials may end in several threads.
    `end_s` is when the run is to end, of `time.monotonic`. With `is_quiet` nothing is shown.
    """

    def __init__(
        self, console: Console, end_s: float | None = None, is_quiet: bool = False
    ) -> None:
        self._console = console
        self._over = threading.Event()
        self._teller = None
        if not (is_quiet or console.is_terminal):
            self._teller = threading.Thread(target=self._tell_now_and_then, daemon=True)
        self._display = _Display(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            _Left(end_s),
            console=console,
            transient=True,
            disable=is_quiet or not console.is_terminal,
        )
        self._is_unicode = console.encoding.lower().startswith("utf")
        self._lock = threading.Lock()
        self._task: TaskID | None = None
        self._failed: Counter[Status] = Counter()
        self._best: Trial | None = None
        self._least_s = 0.0

    def __enter__(self) -> LiveProgress:
        self._display.start()
        if self._teller is not None:
            self._teller.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._teller is not None:
            self._teller.join()
        self._display.stop()

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Begin a new stage of `total` trials; `least_s` is the roofline's least time, if known."""
        with self._lock:
            if self._task is not None:
                self._display.remove_task(self._task)
            self._failed, self._best, self._least_s = Counter(), None, least_s
            self._display.words = ""
            self._task = self._display.add_task(text, total=total)

    def trial(self, trial: Trial) -> None:
        """Count a finished trial."""
        with self._lock:
            if self._task is None:
                return
            if trial.status is not Status.CORRECT:
                self._failed[trial.status] += 1
            elif trial.time_s and (self._best is None or trial.time_s < _time_s(self._best)):
                self._best = trial
            words = self._words()
            self._display.words = words if self._is_unicode else words.replace("µ", "u")
            self._display.advance(self._task)

    def waits(self, words: str) -> None:
        """Show what the stage waits for, until it goes on."""
        with self._lock:
            self._display.words = words

    def _tell_now_and_then(self) -> None:
        """Print how far the stage is, where there is no bar, until the run is over."""
        while not self._over.wait(EVERY_S):
            for said in self._said():
                self._console.print(said, markup=False, highlight=False, soft_wrap=True)

    def _said(self) -> list[str]:
        """Return how far the stage is, in a line."""
        with self._lock:
            words = f"; {self._display.words}" if self._display.words else ""
            return [
                f"{task.description}: {task.completed:.0f} of {task.total:.0f}{words}"
                for task in self._display.tasks
            ]

    def _words(self) -> str:
        parts = []
        if self._best is not None:
            best = time_text(self._best.time_s)
            parts.append(f"best {estimated(best) if self._best.is_predicted else best}")
            if self._least_s:
                share = share_text(self._least_s / _time_s(self._best))
                parts.append(f"{share} of the roofline")
        if self._failed:
            each = ", ".join(f"{self._failed[s]} {s}" for s in Status if self._failed[s])
            parts.append(f"{self._failed.total()} failed: {each}")
        return "; ".join(parts)


def _time_s(trial: Trial) -> float:
    return trial.time_s or 0.0


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """What ``Console().print`` shows of a run, laid out for the width that it is given."""

    results: Results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = partial(_line, is_ascii=options.ascii_only)
        yield line(f"{one_line(self.results.source)}: annotune {self.results.version}")
        for region in (one for each in self.results.regions for one in each.at_each_size):
            yield Text()
            yield line(heading(region), "bold")
            yield line(work_text(region))
            yield Text()
            yield from _rows(region, options.max_width, line)
            yield Text()
            yield line(trials_text(region))
            found = (winner_texts, formulation_texts, finals_texts)
            said = (*found, grid_texts, model_texts, profile_texts)
            for words in (words for texts in said for words in texts(region)):
                yield line(words)
        yield Text()
        if has_prediction(self.results):
            yield line(LEGEND_PREDICTED, "italic")
        yield line(LEGEND, "dim")
        if spent := spent_text(self.results):
            yield line(spent)
        for warning in merged(self.results.warnings):
            yield line(f"warning: {printable(warning).strip()}", "yellow")


# Columns and lines that a run's own output has at the most for a region.
SHORT_WIDTH = 100


@dataclass(frozen=True, slots=True)
class ShortTable:
    """What ``Console().print`` shows at the end of a run: a table for each region, and warnings."""

    results: Results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = partial(_line, is_ascii=options.ascii_only)
        dots = "..." if options.ascii_only else "…"
        for region in (one for each in self.results.regions for one in each.at_each_size):
            head = line(f"{heading(region)}: {work_text(region)}", "bold")
            if head.cell_len > options.max_width:
                head.truncate(options.max_width - len(dots))
                head.append(dots)
            yield head
            yield _short_rows(asked_rows(region), options.max_width, line, dots)
            yield Text()
        if spent := spent_text(self.results):
            yield line(spent)
        for warning in merged(self.results.warnings):
            yield line(f"warning: {printable(warning).strip()}", "yellow")


DOUBT = "not verified"
# What a narrow terminal goes without, first what stands first; no figure is cut.
_SPARED = ("roofline", "GFLOP/s", "a call")
# In fewer columns of text, too few for the doubt, nobody is told where figures come from.
_LEAST_PLACE = len(DOUBT) + 1


def _short_rows(rows: Iterable[Row], width: int, line: Line, dots: str) -> Table:
    """Return one line for each row; where its figures come from is cut at the end of `width`."""
    every = [(row, row_words(row)) for row in rows]
    copied = [copied_text(row) for row, _ in every]
    columns = {"variant": [words.name for _, words in every]}
    for place, name in enumerate(COLUMNS[:-1]):
        columns[name] = [words.figures[place] for _, words in every]
        if name == COLUMNS[0] and any(copied):
            # A call is the kernels with the copies of the program's arrays.
            columns["a call"] = copied
    gap = 1 if any(copied) else 2

    def room() -> int:
        return width - sum(gap + max(map(len, (name, *own))) for name, own in columns.items())

    for name in _SPARED:
        if room() < 0:
            columns.pop(name, None)
    left = room()
    if left < _LEAST_PLACE:
        # Without the words at the end the time makes room for the doubt.
        pairs = zip(every, columns[COLUMNS[0]], strict=True)
        columns[COLUMNS[0]] = [DOUBT if is_doubtful(row) else time for (row, _), time in pairs]
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="underline")
    for name in columns:
        table.add_column(name, justify="left" if name == "variant" else "right", no_wrap=True)
    if left >= _LEAST_PLACE:
        table.add_column("where from", no_wrap=True)
    for (row, _), *own in zip(every, *columns.values(), strict=True):
        cells = [line(text) for text in own]
        if left >= _LEAST_PLACE:
            cells.append(_place(row, left, line, dots))
        table.add_row(*cells, style=_STYLES[row.status])
    return table


def _place(row: Row, room: int, line: Line, dots: str) -> Text:
    """Return where a row's figures come from, cut at the end of `room`."""
    place = line(f"{f'{DOUBT}; ' * is_doubtful(row)}{place_text(row)}")
    if place.cell_len > room:
        place.truncate(room - len(dots))
        place.append(dots)
    return place


def short_text(results: Results, is_ascii: bool = False) -> str:
    """Return what a run's output has, as plain text."""
    return _plain(ShortTable(results), SHORT_WIDTH, is_ascii)


def results_text(results: Results, width: int = PIPE_WIDTH, is_ascii: bool = False) -> str:
    """Return the same as plain text, for a pipe or a file; lines have at most `width` columns.

    `is_ascii` avoids every other character, for an output that cannot hold them.
    """
    return _plain(ResultsTable(results), width, is_ascii)


def _plain(shown: RenderableType, width: int, is_ascii: bool) -> str:
    # rich asks the file for its encoding, and takes ASCII's frames and dots where it must.
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii" if is_ascii else "utf-8", newline="")
    console = Console(
        file=file, width=width, no_color=True, force_terminal=False, highlight=False, markup=False
    )
    console.print(shown)
    file.flush()
    file.seek(0)
    return "".join(f"{row.rstrip()}\n" for row in file.read().splitlines())


def _line(words: str, style: str = "", is_ascii: bool = False) -> Text:
    """Return words as a line that folds rather than loses anything.

    `is_ascii`: with names for the characters that ASCII lacks.
    """
    if is_ascii:
        words = words.replace("±", "+-").replace("µ", "u").replace("\ufffd", "?")
        words = words.encode("ascii", "backslashreplace").decode("ascii")
    return Text(words, style, overflow="fold")


def _rows(region: RegionResult, width: int, line: Line) -> Iterable[Table | Padding | Text]:
    """Yield the six rows in the layout that fits `width` columns."""
    rows = [(row, row_words(row)) for row in asked_rows(region)]
    if width < STACKED_WIDTH:
        yield from _stacked(rows, line)
        return
    is_full = width >= FULL_WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    table.add_column("variant", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    if is_full:
        table.add_column("where the figures come from", overflow="fold")
    for row, words in rows:
        cells = [line(cell) for cell in (words.name, *words.figures)]
        if is_full:
            cells.append(line(words.provenance))
        table.add_row(*cells, style=_STYLES[row.status])
    yield table
    if not is_full:
        yield Text()
        yield from _provenances(rows, line)


def _provenances(rows: Iterable[tuple[Row, RowWords]], line: Line) -> Iterable[Table]:
    """Yield a second table that says where each row's figures come from."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row, words in rows:
        style = _STYLES[row.status]
        table.add_row(line(words.name), line(words.provenance), style=style)
    yield table


def _stacked(rows: Iterable[tuple[Row, RowWords]], line: Line) -> Iterable[Table | Padding | Text]:
    """Yield each row as a name with its figures below it."""
    for row, words in rows:
        style = _STYLES[row.status]
        yield line(words.name, style or "bold")
        if row.status is not RowStatus.UNAVAILABLE:
            pairs = zip(COLUMNS, words.figures, strict=True)
            figures = ", ".join(f"{name} {text}" for name, text in pairs)
            yield Padding(line(figures, style), (0, 0, 0, _INDENT))
        yield Padding(line(words.provenance, style), (0, 0, 0, _INDENT))


def doctor_json(report: Report) -> dict[str, Any]:
    """Return the report as plain values."""
    items = [asdict(item) for item in report.items]
    return {"schema": 1, "usable": report.is_usable, "items": items}


def doctor_table(report: Report) -> Table:
    """Return the report as a table, one row for each thing looked for."""
    table = Table(box=None, pad_edge=False, show_header=True)
    for head in ("", "what", "found, or what the gap costs and how to close it"):
        table.add_column(head, overflow="fold")
    for item in report.items:
        if item.is_found:
            table.add_row("ok", item.name, " ".join(p for p in (item.version, item.where) if p))
            continue
        words = f"{item.problem}. {item.cost}".strip(". ")
        remedy = f"\n-> {item.remedy}" if item.remedy else ""
        mark = "MISSING" if item.need == "required" else "-"
        table.add_row(mark, item.name, words + remedy)
    return table
