"""The tables of a suite as text for a terminal, as CSV and as LaTeX."""

from __future__ import annotations

from annotune.printable import cells, one_line
from annotune.report.tables import LEGEND_TABLES, PaperTable, SuiteTables, TableCell

_GAP = "  "


def tables_text(found: SuiteTables) -> str:
    """Return the tables as plain text, their notes below each."""
    parts = [f"{one_line(found.title)}: annotune {found.version}"]
    parts += (_table_text(table) for table in found.tables)
    parts.append(LEGEND_TABLES)
    parts += (f"warning: {one_line(words)}" for words in found.warnings)
    return "\n\n".join(parts) + "\n"


def _table_text(table: PaperTable) -> str:
    notes = table.notes
    head = (*table.heads, *table.columns)
    rows = [(*line.about, *(_marked(cell, notes) for cell in line.cells)) for line in table.lines]
    shown = [tuple(one_line(text) for text in row) for row in (head, *rows)]
    widths = [max(_width(text) for text in column) for column in zip(*shown, strict=True)]
    left = len(table.heads)
    lines = [one_line(table.title), ""]
    before: tuple[str, ...] = ()
    for row in shown:
        # What stays the same from row to row is said once.
        kept = _repeated(before, row[:left])
        before = row[:left]
        texts = (*(" " * _width(text) for text in row[:kept]), *row[kept:])
        padded = (
            _padded(text, own, number >= left)
            for number, (text, own) in enumerate(zip(texts, widths, strict=True))
        )
        lines.append(_GAP.join(padded).rstrip())
    lines += [""] if notes else []
    lines += (f"[{number}] {one_line(note)}" for number, note in enumerate(notes, 1))
    return "\n".join(lines)


def _repeated(before: tuple[str, ...], about: tuple[str, ...]) -> int:
    """Return how many of the first texts a row has in common with the one before it."""
    same = 0
    while same < len(about) - 1 and before[same : same + 1] == about[same : same + 1]:
        same += 1
    return same


def _marked(cell: TableCell, notes: tuple[str, ...]) -> str:
    return f"{cell.text} [{notes.index(cell.note) + 1}]" if cell.note else cell.text


def _padded(text: str, wanted: int, is_right: bool) -> str:
    blank = " " * (wanted - _width(text))
    return blank + text if is_right else text + blank


def _width(text: str) -> int:
    return sum(map(cells, text))
