"""The figures of `cpu.py`: one row per workload, printed, written and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, log
from pathlib import Path

from annotune.measure.machine import Cpu

TUNED, O3, O2, NAIVE = "tuned OpenMP", "-O3 -march=native", "-O2", "naive OpenMP"
NUMPY, TORCH = "numpy.einsum", "torch.einsum"
VARIANTS = (TUNED, O3, O2, NAIVE, NUMPY, TORCH)
NO_TORCH = "not available: torch is not installed"


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one workload: GFLOP/s by variant, and why a variant has none.

    `stream_gflops` and `peak_gflops` are what the memory and the arithmetic units allow.
    """

    name: str
    group: str
    gflops: Mapping[str, float]
    problems: Mapping[str, str]
    stream_gflops: float
    peak_gflops: float
    times_s: Mapping[str, Sequence[float]] = field(repr=False, default_factory=dict)

    @property
    def as_written(self) -> float:
        """Return the better of the sequential builds."""
        return max(self.gflops.get(O3, 0.0), self.gflops.get(O2, 0.0))

    @property
    def bound(self) -> float:
        return min(self.stream_gflops, self.peak_gflops)

    def gain(self, over: float) -> float | None:
        """Return tuned OpenMP over another figure, None where one of them is missing."""
        tuned = self.gflops.get(TUNED)
        return tuned / over if tuned and over else None


def geometric_mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value]
    return exp(sum(map(log, known)) / len(known)) if known else float("nan")


def write_rows(path: Path, cpu: Cpu, rows: Sequence[Row]) -> None:
    """Write the figures of a run, with all times behind them, to a file."""
    found = {"schema": 1, "cpu": asdict(cpu), "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(found, indent=1) + "\n")


def read_rows(path: Path) -> tuple[Row, ...]:
    """Return the rows that `write_rows` wrote to a file."""
    return tuple(Row(**row) for row in json.loads(path.read_text())["rows"])


def table(rows: Sequence[Row]) -> str:
    """Return the figures as text, a row per workload and then one per group."""
    heads = (*VARIANTS, "bound", "of bound", "x naive", "x written")
    lines = [f"{'GFLOP/s':18}" + "".join(f"{head:>18}" for head in heads)]
    for row in rows:
        figures = [_figure(row.gflops.get(name)) for name in VARIANTS]
        figures += [_figure(row.bound), _figure(row.gflops.get(TUNED, 0) / row.bound, 2)]
        figures += [_figure(row.gain(row.gflops.get(NAIVE, 0)), 2)]
        figures += [_figure(row.gain(row.as_written), 2)]
        lines.append(f"{row.name:18}" + "".join(f"{figure:>18}" for figure in figures))
    for group, of in groups(rows).items():
        figures = [_figure(geometric_mean(r.gflops.get(v) for r in of)) for v in VARIANTS]
        figures += [_figure(geometric_mean(r.bound for r in of))]
        shares = (r.gflops.get(TUNED, 0) / r.bound for r in of)
        figures += [_figure(geometric_mean(shares), 2)]
        figures += [_figure(geometric_mean(r.gain(r.gflops.get(NAIVE, 0)) for r in of), 2)]
        figures += [_figure(geometric_mean(r.gain(r.as_written) for r in of), 2)]
        title = f"all {group}"[:18]
        lines.append(f"{title:18}" + "".join(f"{figure:>18}" for figure in figures))
    lines += [f"{row.name}: {name}: {why}" for row in rows for name, why in _told(row)]
    if any(row.problems.get(TORCH) == NO_TORCH for row in rows):
        lines.append(f"{TORCH}: {NO_TORCH}")
    return "\n".join(lines)


def _told(row: Row) -> list[tuple[str, str]]:
    return [(name, why) for name, why in row.problems.items() if why != NO_TORCH]


def _figure(value: float | None, digits: int = 1) -> str:
    return f"{value:.{digits}f}" if value and value == value else "-"


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the groups that have several rows, for their geometric means."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return {name: of for name, of in found.items() if len(of) > 1}
