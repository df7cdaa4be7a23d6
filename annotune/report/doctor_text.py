"""What `doctor` prints: what is here, and for each gap its cost and the command against it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table

from annotune.measure.doctor import Report


def doctor_json(report: Report) -> dict[str, Any]:
    """Return the report as plain values."""
    items = [{**asdict(item), "need": str(item.need)} for item in report.items]
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
