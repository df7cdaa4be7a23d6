"""The tables of a suite as one page that needs no network, no script and no other file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from annotune.printable import one_line
from annotune.report import plots
from annotune.report.html import environment
from annotune.report.table_text import heading_of
from annotune.report.tables import LEGEND_TABLES, PaperTable, SuiteTables, TableCell, TableLine

# Colours of the curves, in the light and in the dark: of Okabe and Ito's palette, which people
# with other colour vision tell apart (https://jfly.uni-koeln.de/color/, 2008).
_HUES = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#8a6d00", "#7a5195", "#6b7480", "#b3261e"),
)


def tables_html(found: SuiteTables) -> str:
    """Return the page of a suite's tables. It is plain UTF-8 text."""
    return (
        environment()
        .get_template("tables.html.j2")
        .render(
            title=one_line(found.title),
            source=one_line(found.source),
            version=one_line(found.version),
            legend=LEGEND_TABLES,
            warnings=[one_line(words) for words in found.warnings],
            tables=[_table(table) for table in found.tables],
            hues=_HUES,
            plots=plots,
        )
    )


def _table(table: PaperTable) -> dict[str, Any]:
    """Return what the template shows of a table; a cell's note is its number."""
    notes = table.notes
    curves = (plots.curve_plot(one_line(name), own) for name, own in table.plots.items())
    return {
        "heading": heading_of(table),
        "heads": table.heads,
        "columns": [one_line(column) for column in table.columns],
        "lines": [_line(line, notes) for line in table.lines],
        "notes": [one_line(note) for note in notes],
        "plots": [plot for plot in curves if plot is not None],
    }


def _line(line: TableLine, notes: tuple[str, ...]) -> TableLine:
    def shown(cell: TableCell) -> TableCell:
        number = str(notes.index(cell.note) + 1) if cell.note else ""
        return replace(cell, text=one_line(cell.text), note=number)

    return TableLine(tuple(map(one_line, line.about)), tuple(map(shown, line.cells)))
