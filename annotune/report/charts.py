"""Where the marks of the report's two charts stand, in SVG units; the page draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from annotune.printable import one_line
from annotune.report.figures import number_text
from annotune.report.summary import PEOPLE_SAY, all_rows, is_doubtful, row_words
from annotune.tune.results import RegionResult, Roof, Row, RowStatus

# Both charts are this wide; a label beside a mark needs up to 230 units of it.
WIDTH = 640.0
BAR_X, BAR_LENGTH, BAR_STEP = 150.0, 300.0, 30.0
_LEAST_BAR = 1.5

PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT = 64.0, 26.0, 340.0, 230.0
# Text of 12 units needs this much between two base lines.
_LINE = 15.0
# Beyond this range, in the units of the axes, a figure is a mistake and would break them.
_LEAST_MARK, _MOST_MARK = 1e-30, 1e30


@dataclass(frozen=True, slots=True)
class Bar:
    """A horizontal bar of one row; `length` is None where the row has no figure."""

    y: float
    name: str
    length: float | None
    label: str
    status: RowStatus


@dataclass(frozen=True, slots=True)
class Point:
    """A row in the roofline plot; its label stands at `label_y`, clear of the others."""

    x: float
    y: float
    label_y: float
    label: str
    status: RowStatus


@dataclass(frozen=True, slots=True)
class RoofLine:
    """A device's roof: the slope of its bandwidth, then its peak; `points` is for a polyline."""

    points: str
    label: str
    number: int


@dataclass(frozen=True, slots=True)
class Tick:
    """A power of ten on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class RooflinePlot:
    """A whole roofline plot, logarithmic on both axes."""

    points: tuple[Point, ...]
    roofs: tuple[RoofLine, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def bars(region: RegionResult) -> tuple[Bar, ...]:
    """Return a bar per row on a linear scale, longer is faster; none when no row has a time.

    A bar is flop/s, or runs per second where the region computes nothing.
    """
    rates = [_speed(row) for row in all_rows(region)]
    most = max(rates)
    if not most:
        return ()
    found = []
    for number, (row, rate) in enumerate(zip(all_rows(region), rates, strict=True)):
        words = row_words(row)
        length = max(_LEAST_BAR, BAR_LENGTH * (rate / most)) if rate else None
        unit = " GFLOP/s" if row.gflops is not None else ""
        label = f"{words.figures[1]}{unit}" if unit else words.figures[0]
        if not rate:
            label = "not available" if row.status is RowStatus.UNAVAILABLE else "no figure"
        elif is_doubtful(row):
            label += ", not verified"
        found.append(Bar(number * BAR_STEP, words.name, length, label, row.status))
    return tuple(found)


def _speed(row: Row) -> float:
    """Return runs per second, zero when the row has no time; ratios are those of flop/s."""
    if row.status is RowStatus.UNAVAILABLE or not row.time_s or not math.isfinite(row.time_s):
        return 0.0
    speed = 1.0 / row.time_s
    return speed if math.isfinite(speed) else 0.0


@dataclass(frozen=True, slots=True)
class _Scale:
    """A logarithmic axis from 10**`low` to 10**`high` onto `start` to `end`."""

    low: int
    high: int
    start: float
    end: float

    def at(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)

    def ticks(self) -> tuple[Tick, ...]:
        # At most about ten labels, whatever the range.
        step = max(1, math.ceil((self.high - self.low) / 10))
        exponents = range(self.low, self.high + 1, step)
        return tuple(Tick(self.at(10.0**e), f"{10.0**e:g}") for e in exponents)


def roofline_plot(region: RegionResult) -> RooflinePlot | None:
    """Return the rows under their devices' roofs, or None when there is nothing to plot.

    Source:
        Williams, Waterman and Patterson, "Roofline", Communications of the ACM 52(4),
        2009, doi:10.1145/1498765.1498785.
    """
    rows = [
        row
        for row in all_rows(region)
        if row.status is not RowStatus.UNAVAILABLE and _is_plottable(row.gflops or 0.0)
    ]
    roofs = {
        name: roof
        for name, roof in region.roofs.items()
        if _is_plottable(roof.peak_flop_s / 1e9) and _is_plottable(roof.bandwidth_bytes_s / 1e9)
    }
    if not rows or region.flop <= 0 or region.bytes <= 0:
        return None
    intensity = region.flop / region.bytes
    x, y = _scales(intensity, [row.gflops or 0.0 for row in rows], roofs.values())
    return RooflinePlot(
        _points(rows, intensity, x, y),
        tuple(_roof_line(n, d, roof, x, y) for n, (d, roof) in enumerate(roofs.items())),
        x.ticks(),
        y.ticks(),
    )


def _is_plottable(figure: float) -> bool:
    return _LEAST_MARK < figure < _MOST_MARK


def _scales(
    intensity: float, gflops: Iterable[float], roofs: Iterable[Roof]
) -> tuple[_Scale, _Scale]:
    """Return the axes, whole powers of ten, with every ridge, peak and row inside."""
    known = tuple(roofs)
    xs = [intensity, *(r.peak_flop_s / r.bandwidth_bytes_s for r in known)]
    ys = [*gflops, *(r.peak_flop_s / 1e9 for r in known)]
    across = _Scale(_floor(min(xs) / 2), _ceil(max(xs) * 2), PLOT_LEFT, PLOT_LEFT + PLOT_WIDTH)
    up = _Scale(_floor(min(ys) / 2), _ceil(max(ys) * 2), PLOT_TOP + PLOT_HEIGHT, PLOT_TOP)
    return across, up


def _floor(value: float) -> int:
    return math.floor(math.log10(value))


def _ceil(value: float) -> int:
    return math.ceil(math.log10(value))


def _points(rows: Iterable[Row], intensity: float, x: _Scale, y: _Scale) -> tuple[Point, ...]:
    """Return the rows from the top, their labels pushed down where they would overlap."""
    found: list[Point] = []
    for row in sorted(rows, key=lambda r: -(r.gflops or 0.0)):
        at = y.at(row.gflops or 0.0)
        label_y = max(at, found[-1].label_y + _LINE) if found else at
        words = row_words(row)
        name = f"{PEOPLE_SAY[row.name]}{' (not verified)' if is_doubtful(row) else ''}"
        label = f"{name}, {words.figures[1]}"
        found.append(Point(x.at(intensity), at, label_y, label, row.status))
    return tuple(found)


def _roof_line(number: int, device: str, roof: Roof, x: _Scale, y: _Scale) -> RoofLine:
    """Return the roof's corners inside the plot: where it enters, its ridge, the right edge."""
    peak = roof.peak_flop_s / 1e9
    ridge = roof.peak_flop_s / roof.bandwidth_bytes_s
    slope = roof.bandwidth_bytes_s / 1e9
    # The slope enters through the left edge or through the bottom, whichever comes later.
    start = max(10.0**x.low, 10.0**y.low / slope)
    corners = ((start, start * slope), (ridge, peak), (10.0**x.high, peak))
    points = " ".join(f"{x.at(a)},{y.at(b)}" for a, b in corners)
    label = f"{one_line(device)}: {number_text(peak)} GFLOP/s, {number_text(slope)} GB/s"
    return RoofLine(points, label, number)
