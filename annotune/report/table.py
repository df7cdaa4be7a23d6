"""The final table in a terminal or a pipe: six rows per region, trials, winners, legend."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from annotune.printable import one_line, printable
from annotune.report.finals_text import finals_texts
from annotune.report.model_text import model_texts
from annotune.report.summary import (
    COLUMNS,
    LEGEND,
    LEGEND_PREDICTED,
    RowWords,
    all_rows,
    grid_texts,
    has_prediction,
    heading,
    row_words,
    trials_text,
    winner_texts,
    work_text,
)
from annotune.tune.results import RegionResult, Results, Row, RowStatus

# Columns of text. From the first on provenance has a column of its own; below the second
# every figure has a line of its own, because a table would break words.
FULL_WIDTH = 116
STACKED_WIDTH = 84
PIPE_WIDTH = 132

_INDENT = 2
_STYLES = {RowStatus.MEASURED: "", RowStatus.PREDICTED: "italic", RowStatus.UNAVAILABLE: "dim"}


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """What rich prints for a run, laid out for the width that it is given."""

    results: Results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        make = _Ascii() if options.ascii_only else _Unicode()
        yield make.line(f"{one_line(self.results.source)}: annotune {self.results.version}")
        for region in (one for each in self.results.regions for one in each.at_each_size):
            yield Text()
            yield make.line(heading(region), "bold")
            yield make.line(work_text(region))
            yield Text()
            yield from _rows(region, options.max_width, make)
            yield Text()
            yield make.line(trials_text(region))
            said = (winner_texts, finals_texts, grid_texts, model_texts)
            for words in (words for texts in said for words in texts(region)):
                yield make.line(words)
        yield Text()
        if has_prediction(self.results):
            yield make.line(LEGEND_PREDICTED, "italic")
        yield make.line(LEGEND, "dim")
        for warning in self.results.warnings:
            yield make.line(f"warning: {printable(warning).strip()}", "yellow")


def results_table(results: Results) -> ResultsTable:
    """Return what ``Console().print`` shows of a run, at any width."""
    return ResultsTable(results)


def results_text(results: Results, width: int = PIPE_WIDTH, is_ascii: bool = False) -> str:
    """Return the same as plain text, for a pipe or a file; lines have at most `width` columns.

    `is_ascii` avoids every other character, for an output that cannot hold them.
    """
    # rich asks the file for its encoding, and takes ASCII's frames and dots where it must.
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii" if is_ascii else "utf-8", newline="")
    console = Console(
        file=file, width=width, no_color=True, force_terminal=False, highlight=False, markup=False
    )
    console.print(ResultsTable(results))
    file.flush()
    file.seek(0)
    return "".join(f"{line.rstrip()}\n" for line in file.read().splitlines())


class _Unicode:
    """Makes texts for an output that takes every character."""

    def line(self, words: str, style: str = "") -> Text:
        """Return words as a line that folds rather than loses anything."""
        return Text(self.words(words), style, overflow="fold")

    def words(self, words: str) -> str:
        """Return `words` in the output's characters."""
        return words


class _Ascii(_Unicode):
    """Makes texts for an output that takes ASCII alone."""

    def words(self, words: str) -> str:
        """Return `words` with names for the characters that ASCII lacks."""
        plain = words.replace("±", "+-").replace("µ", "u").replace("\ufffd", "?")
        return plain.encode("ascii", "backslashreplace").decode("ascii")


def _rows(region: RegionResult, width: int, make: _Unicode) -> Iterable[Table | Padding | Text]:
    """Yield the six rows in the layout that fits `width` columns."""
    rows = [(row, row_words(row)) for row in all_rows(region)]
    if width < STACKED_WIDTH:
        yield from _stacked(rows, make)
        return
    is_full = width >= FULL_WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    table.add_column("variant", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    if is_full:
        table.add_column("where the figures come from", overflow="fold")
    for row, words in rows:
        cells = [make.line(cell) for cell in (words.name, *words.figures)]
        if is_full:
            cells.append(make.line(words.provenance))
        table.add_row(*cells, style=_STYLES[row.status])
    yield table
    if not is_full:
        yield Text()
        yield from _provenances(rows, make)


def _provenances(rows: Iterable[tuple[Row, RowWords]], make: _Unicode) -> Iterable[Table]:
    """Yield a second table that says where each row's figures come from."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row, words in rows:
        style = _STYLES[row.status]
        table.add_row(make.line(words.name), make.line(words.provenance), style=style)
    yield table


def _stacked(
    rows: Iterable[tuple[Row, RowWords]], make: _Unicode
) -> Iterable[Table | Padding | Text]:
    """Yield each row as a name with its figures below it."""
    for row, words in rows:
        style = _STYLES[row.status]
        yield make.line(words.name, style or "bold")
        if row.status is not RowStatus.UNAVAILABLE:
            pairs = zip(COLUMNS, words.figures, strict=True)
            figures = ", ".join(f"{name} {text}" for name, text in pairs)
            yield Padding(make.line(figures, style), (0, 0, 0, _INDENT))
        yield Padding(make.line(words.provenance, style), (0, 0, 0, _INDENT))
