"""The report's plots: where their marks stand, in SVG units, and what is written beside them.

The page draws them. Text is 12 units high.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from annotune.frozen import dataclass
from annotune.measure.trial import Status, Trial
from annotune.printable import one_line
from annotune.report.figures import number_text, short_time_text, time_text
from annotune.report.summary import all_rows, is_doubtful, people_say, predictions, row_words
from annotune.report.tables import TableCurve
from annotune.tuning.results import RegionResult, Roof, Row, RowStatus

# The bars and the roofline; a label beside a bar needs up to 180 units, one in the roofline 160.
WIDTH = 480.0
BAR_LENGTH = 130.0
_LEAST_BAR = 1.5
PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT = 56.0, 26.0, 250.0, 230.0
# Text needs this much between two base lines.
_LINE = 15.0
# Beyond this range, in the units of the axes, a figure is a mistake and would break them.
_LEAST_MARK, _MOST_MARK = 1e-30, 1e30

# The plots of a search.
SEARCH_WIDTH, SEARCH_HEIGHT = 480.0, 288.0
LEFT, TOP, RIGHT, BOTTOM = 66.0, 34.0, 468.0, 240.0
# Failed trials have no time; they stand in a line of their own above the others.
FAILED_Y = TOP - 12
_LEAST_S, _MOST_S = 1e-15, 1e15
# One trial is no course.
LEAST_TRIALS = 2

# Labels of this many ticks fit on an axis.
MOST_TICKS = 6
# Steps that people count in.
_STEPS = (1, 2, 5)
# A range narrower than this is drawn wider, lest noise look like a trend.
_LEAST_RATIO = 1.2
_MARGIN = 0.04


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """Values from `low` to `high` onto `start` to `end`, with ticks at the values of `marks`.

    A logarithmic one has positive values, and equal ratios are equally long on it.
    """

    low: float
    high: float
    start: float
    end: float
    marks: tuple[float, ...]
    is_logarithmic: bool = False
    label: Callable[[float], str] = "{:g}".format
    title: str = ""

    def at(self, value: float) -> float:
        """Return where `value` stands."""
        if self.is_logarithmic:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)

    def ticks(self) -> tuple[Tick, ...]:
        """Return the labelled places."""
        return tuple(Tick(self.at(mark), self.label(mark)) for mark in self.marks)


def linear_axis(
    values: Iterable[float], start: float, end: float, title: str = "", is_count: bool = False
) -> PlotAxis:
    """Return an axis on which every one of `values` stands; ticks of counts are whole numbers."""
    known = list(values)
    low, high = min(known), max(known)
    room = _MARGIN * (high - low) or 1.0
    marks = _round_values(low - room, high + room, 1.0 if is_count else 0.0)
    return PlotAxis(low - room, high + room, start, end, tuple(marks), title=title)


def time_axis(times_s: Iterable[float], start: float, end: float, title: str = "") -> PlotAxis:
    """Return a logarithmic axis on which all times stand, with a margin."""
    return log_axis(times_s, start, end, title, short_time_text)


def log_axis(
    values: Iterable[float],
    start: float,
    end: float,
    title: str = "",
    label: Callable[[float], str] = "{:g}".format,
) -> PlotAxis:
    """Return a logarithmic axis on which all values stand, with a margin."""
    known = list(values)
    low, high = min(known), max(known)
    if high < low * _LEAST_RATIO:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = middle / math.sqrt(_LEAST_RATIO), middle * math.sqrt(_LEAST_RATIO)
    room = (high / low) ** _MARGIN
    low, high = low / room, high * room
    return PlotAxis(low, high, start, end, tuple(_log_values(low, high)), True, label, title)


def decades(values: Sequence[float], start: float, end: float, title: str = "") -> PlotAxis:
    """Return an axis of whole powers of ten, with a factor of two around every one of `values`."""
    low = math.floor(math.log10(min(values) / 2))
    high = math.ceil(math.log10(max(values) * 2))
    # At most about ten labels, whatever the range.
    exponents = range(low, high + 1, max(1, math.ceil((high - low) / 10)))
    marks = tuple(10.0**e for e in exponents)
    return PlotAxis(10.0**low, 10.0**high, start, end, marks, True, _power_text, title)


# Powers of ten beyond these are written as such.
_LEAST_PLAIN, _MOST_PLAIN = 0.01, 1000.0
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power_text(value: float) -> str:
    """Return a power of ten as people write it: ``100``, ``10⁶``."""
    if _LEAST_PLAIN <= value <= _MOST_PLAIN:
        return f"{value:g}"
    return "10" + str(round(math.log10(value))).translate(_RAISED)


def _log_values(low: float, high: float) -> list[float]:
    """Return at most `MOST_TICKS` round values, far apart by equal ratios."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in (_STEPS, (1, 3), (1,)):
        values = [step * 10.0**e for e in exponents for step in steps]
        inside = [v for v in values if low <= v <= high]
        if len(inside) < 3:
            # Within a decade, equal steps tell more.
            return _round_values(low, high)
        if len(inside) <= MOST_TICKS:
            return inside
    return inside[:: math.ceil(len(inside) / MOST_TICKS)]


def _round_values(low: float, high: float, least_step: float = 0.0) -> list[float]:
    """Return the multiples of 1, 2 or 5 times a power of ten, at most `MOST_TICKS` of them."""
    rough = max(least_step, (high - low) / MOST_TICKS)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (*_STEPS, 10) if s * power >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [step * n for n in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Bar:
    """A horizontal bar of a kind.

    The whole name is the `title`, shown to who points at one that is cut short.
    """

    name: str
    length: float
    label: str
    kind: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Charts:
    """Rows whose figures are of one kind, as bars and under their devices' roofs.

    There are no bars of one row alone, which is not compared with any.
    """

    name: str
    bars: tuple[Bar, ...]
    roofline: RooflinePlot | None


def charts(region: RegionResult) -> tuple[Charts, ...]:
    """Return the charts of the measured rows, and of the predictions from each kind of facts.

    Each kind has axes of its own: what is measured is not compared with what is predicted, and
    neither are predictions from unlike facts or for unlike devices.
    """
    measured = tuple(row for row in all_rows(region) if row.status is RowStatus.MEASURED)
    kinds = [("Measured", measured)]
    for (is_compiled, device), rows in predictions(region).items():
        registers = "ptxas's" if is_compiled else "estimated"
        kinds.append((f"Predicted for {one_line(device)} by {registers} registers", rows))
    made = (Charts(name, bars(rows), roofline_plot(region, rows)) for name, rows in kinds)
    return tuple(one for one in made if one.bars or one.roofline)


def bars(rows: Sequence[Row]) -> tuple[Bar, ...]:
    """Return a bar for each of at least two rows with a time on a linear scale, longer is faster.

    A bar is flop/s, or runs per second where the region computes nothing.
    """
    timed = [(row, rate) for row in rows if (rate := _speed(row))]
    if len(timed) < 2:
        return ()
    most = max(rate for _, rate in timed)
    found = []
    for row, rate in timed:
        words = row_words(row)
        label = words.figures[0] if row.gflops is None else f"{words.figures[1]} GFLOP/s"
        doubt = ", not verified" if is_doubtful(row) else ""
        length = max(_LEAST_BAR, BAR_LENGTH * (rate / most))
        found.append(Bar(words.name, length, f"{label}{doubt}", row.status))
    return tuple(found)


def _speed(row: Row) -> float:
    """Return runs per second, zero when the row has no time; ratios are those of flop/s."""
    if not row.time_s or not math.isfinite(row.time_s):
        return 0.0
    speed = 1.0 / row.time_s
    return speed if math.isfinite(speed) else 0.0


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """A row in the roofline plot; its label stands at `label_y`, clear of the others.

    The whole text is the `title`, shown to who points at it.
    """

    x: float
    y: float
    label_y: float
    label: str
    title: str
    status: RowStatus
    is_doubtful: bool


@dataclass(frozen=True, slots=True)
class RoofLine:
    """A device's roof: the slope of its bandwidth, then its peak; `points` is for a polyline."""

    points: str
    label: str
    number: int


@dataclass(frozen=True, slots=True)
class RooflinePlot:
    """A whole roofline plot, logarithmic on both axes."""

    points: tuple[RooflinePoint, ...]
    roofs: tuple[RoofLine, ...]
    x: PlotAxis
    y: PlotAxis


def roofline_plot(region: RegionResult, own: Iterable[Row]) -> RooflinePlot | None:
    """Return rows of a region under their devices' roofs, None when there is nothing to plot.

    Source:
        Williams, Waterman and Patterson, "Roofline", Communications of the ACM 52(4),
        2009, doi:10.1145/1498765.1498785.
    """
    rows = [row for row in own if _is_plottable(row.gflops or 0.0)]
    devices = {row.device for row in rows}
    roofs = {
        name: roof
        for name, roof in region.roofs.items()
        if name in devices
        and _is_plottable(roof.peak_flop_s / 1e9)
        and _is_plottable(roof.bandwidth_bytes_s / 1e9)
    }
    if not rows or region.flop <= 0 or region.bytes <= 0:
        return None
    intensity = region.flop / region.bytes
    # Every ridge, peak and row is inside.
    xs = [intensity, *(r.peak_flop_s / r.bandwidth_bytes_s for r in roofs.values())]
    ys = [*(row.gflops or 0.0 for row in rows), *(r.peak_flop_s / 1e9 for r in roofs.values())]
    words = "flop per byte of the least memory traffic"
    x = decades(xs, PLOT_LEFT, PLOT_LEFT + PLOT_WIDTH, words)
    y = decades(ys, PLOT_TOP + PLOT_HEIGHT, PLOT_TOP, "GFLOP/s")
    lines = (_roof_line(n, d, roof, x, y) for n, (d, roof) in enumerate(roofs.items()))
    return RooflinePlot(_points(rows, x.at(intensity), y), tuple(lines), x, y)


def _is_plottable(figure: float) -> bool:
    return _LEAST_MARK < figure < _MOST_MARK


def _points(rows: Iterable[Row], x: float, y: PlotAxis) -> tuple[RooflinePoint, ...]:
    """Return the rows from the top, their labels pushed down where they would overlap."""
    found: list[RooflinePoint] = []
    for row in sorted(rows, key=lambda r: -(r.gflops or 0.0)):
        at = y.at(row.gflops or 0.0)
        label_y = max(at, found[-1].label_y + _LINE) if found else at
        name, doubtful = people_say(row.name), is_doubtful(row)
        doubt = ", not verified" if doubtful else ""
        title = f"{name}, {row_words(row).figures[1]} GFLOP/s{doubt}"
        found.append(RooflinePoint(x, at, label_y, name, title, row.status, doubtful))
    return tuple(found)


def _roof_line(number: int, device: str, roof: Roof, x: PlotAxis, y: PlotAxis) -> RoofLine:
    """Return the roof's corners inside the plot: where it enters, its ridge, the right edge."""
    peak = roof.peak_flop_s / 1e9
    ridge = roof.peak_flop_s / roof.bandwidth_bytes_s
    slope = roof.bandwidth_bytes_s / 1e9
    # The slope enters through the left edge or through the bottom, whichever comes later.
    start = max(x.low, y.low / slope)
    corners = ((start, start * slope), (ridge, peak), (x.high, peak))
    points = " ".join(f"{x.at(a)},{y.at(b)}" for a, b in corners)
    label = f"{one_line(device)}: {number_text(peak)} GFLOP/s, {number_text(slope)} GB/s"
    return RoofLine(points, label, number)


@dataclass(frozen=True, slots=True)
class Dot:
    """A trial; `title` is shown to who points at it."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class SearchLine:
    """The trials of one target in a plot, in the colour of its `number`.

    `line` is for a polyline, `mark` the table's time where that is another than the line's end.
    """

    name: str
    number: int
    dots: tuple[Dot, ...]
    line: str
    mark: Dot | None = None


@dataclass(frozen=True, slots=True)
class SearchPlot:
    """A plot of a search's trials; `kind` says where its times come from.

    Its lines are of the class `line_kind`: the ``best`` so far, or where both times are ``equal``.
    `least_y` is where the roofline's least time stands, None where that is off the plot, not known
    or not that of all lines.
    """

    name: str
    kind: str
    x: PlotAxis
    y: PlotAxis
    lines: tuple[SearchLine, ...]
    line_kind: str
    failed: tuple[Dot, ...] = ()
    least_y: float | None = None


@dataclass(frozen=True, slots=True)
class SearchCourse:
    """The trials of one target in their order, numbered as in the table of all trials.

    Their times are of one kind, measured where there are any, else predicted, and of one device,
    that of the most. Right trials without such a time are left out; `on_others` counts those of
    that kind on other devices.
    """

    target: str
    trials: tuple[tuple[int, Trial], ...]
    is_predicted: bool
    device: str = ""
    on_others: int = 0

    @property
    def kind(self) -> str:
        return "predicted" if self.is_predicted else "measured"

    @property
    def right(self) -> tuple[tuple[int, Trial], ...]:
        """Return the right trials with their numbers."""
        return tuple((n, t) for n, t in self.trials if t.status is Status.CORRECT)

    @property
    def best_s(self) -> float:
        """Return the least time of a right trial in the search, in seconds."""
        return min(t.time_s or math.inf for _, t in self.right)


def course(region: RegionResult, target: str) -> SearchCourse:
    """Return the trials of a target that one plot may show together."""
    own = [(n, t) for n, t in enumerate(region.trials, 1) if t.target == target]
    timed = [t for _, t in own if t.status is Status.CORRECT and _has_time(t)]
    is_predicted = all(t.is_predicted for t in timed)
    devices = Counter(t.device for t in timed if t.is_predicted == is_predicted)
    if not devices:
        failed = tuple((n, t) for n, t in own if t.status is not Status.CORRECT)
        return SearchCourse(target, failed, is_predicted)
    ((device, most),) = devices.most_common(1)
    shown = [
        (n, t)
        for n, t in own
        if t.status is not Status.CORRECT
        or (_has_time(t) and t.is_predicted == is_predicted and t.device == device)
    ]
    return SearchCourse(target, tuple(shown), is_predicted, device, devices.total() - most)


def least_s(region: RegionResult, found: SearchCourse) -> float | None:
    """Return the roofline's least time on the device of a course, None without a roof."""
    roof = region.roofs.get(found.device)
    if roof is None or not roof.peak_flop_s or not roof.bandwidth_bytes_s:
        return None
    time = max(region.flop / roof.peak_flop_s, region.bytes / roof.bandwidth_bytes_s)
    return time if _LEAST_S < time < _MOST_S else None


def courses(region: RegionResult) -> tuple[SearchCourse, ...]:
    """Return the courses that one plot of convergence shows, those of the targets in their order.

    They are the measured ones; where there are none, the predicted ones by like facts. A target
    with one trial has no course.
    """
    tuned = [row.name for row in all_rows(region) if row.is_tuned]
    found = [course(region, name) for name in tuned]
    found = [one for one in found if one.right and len(one.trials) >= LEAST_TRIALS]
    measured = [one for one in found if not one.is_predicted]
    if measured or not found:
        return tuple(measured)
    alike = [
        [one for one in found if (one.target, one.device) in {(r.name, r.device) for r in rows}]
        for rows in predictions(region).values()
    ]
    return tuple(next(filter(None, alike), found[:1]))


def table_row(region: RegionResult, found: SearchCourse) -> Row | None:
    """Return the row of a course's target, None where its time is of another kind or device."""
    status = RowStatus.PREDICTED if found.is_predicted else RowStatus.MEASURED
    for row in all_rows(region):
        if row.name == found.target and row.status is status and row.device == found.device:
            return row if row.time_s and _LEAST_S < row.time_s < _MOST_S else None
    return None


def convergence(region: RegionResult, shown: Sequence[SearchCourse]) -> SearchPlot:
    """Return the best time so far of some courses against the number of trials.

    The time in the table stands at the right where the search's own is another.
    """
    leasts = {least_s(region, one) for one in shown}
    least = leasts.pop() if len(leasts) == 1 else None
    times = [t.time_s for one in shown for _, t in one.right if t.time_s]
    rows = [table_row(region, one) for one in shown]
    ends = [row.time_s for row in rows if row is not None and row.time_s]
    # A bound far below every trial would press these together.
    near = [least] if least is not None and least > min(*times, *ends, math.inf) / 10 else []
    numbers = [float(n) for one in shown for n, _ in enumerate(one.trials, 1)]
    across = linear_axis(numbers, LEFT, RIGHT, "evaluation", is_count=True)
    up = time_axis([*times, *ends, *near], BOTTOM, TOP, f"{shown[0].kind} time")
    own = zip(shown, rows, strict=True)
    lines = (_line(n, one, row, across, up) for n, (one, row) in enumerate(own))
    failed = (dot for one in shown for dot in _failed(one, across))
    least_y = up.at(near[0]) if near else None
    parts = tuple(lines), "best", tuple(failed), least_y
    return SearchPlot("Convergence", shown[0].kind, across, up, *parts)


def _failed(found: SearchCourse, across: PlotAxis) -> Iterator[Dot]:
    for place, (number, trial) in enumerate(found.trials, 1):
        if trial.status is not Status.CORRECT:
            yield Dot(across.at(place), FAILED_Y, f"trial {number}: {trial.status}")


def _line(
    number: int, found: SearchCourse, row: Row | None, across: PlotAxis, up: PlotAxis
) -> SearchLine:
    dots, steps = [], []
    best = math.inf
    for place, (trial_number, trial) in enumerate(found.trials, 1):
        if trial.status is not Status.CORRECT:
            continue
        x, time = across.at(place), trial.time_s or 0.0
        said = time_text(time, trial.spread_s)
        dots.append(Dot(x, up.at(time), f"trial {trial_number}: {said}"))
        if time < best:
            steps += [f"{x},{up.at(best)}"] if best < math.inf else []
            steps.append(f"{x},{up.at(time)}")
            best = time
    steps.append(f"{RIGHT},{up.at(best)}")
    name, mark = people_say(found.target), None
    if row is not None and row.time_s and row.time_s != best:
        mark = Dot(RIGHT, up.at(row.time_s), f"{name} in the table: {time_text(row.time_s)}")
    return SearchLine(name, number, tuple(dots), " ".join(steps), mark)


def scatter(region: RegionResult, target: str) -> SearchPlot | None:
    """Return the model's times against the measured ones, None where no trial has both."""
    both = [
        (number, trial.predicted_s or 0.0, trial.time_s or 0.0)
        for number, trial in enumerate(region.trials, 1)
        if trial.target == target
        and trial.status is Status.CORRECT
        and not trial.is_predicted
        and not trial.is_repeat
        and _has_time(trial)
        and _LEAST_S < (trial.predicted_s or 0.0) < _MOST_S
    ]
    if not both:
        return None
    across = time_axis([p for _, p, _ in both], LEFT, RIGHT, "predicted time")
    up = time_axis([t for _, _, t in both], BOTTOM, TOP, "measured time")
    low, high = max(across.low, up.low), min(across.high, up.high)
    ends = [(low, low), (high, high)] if low < high else []
    line = " ".join(f"{across.at(p)},{up.at(t)}" for p, t in ends)
    dots = tuple(
        Dot(across.at(p), up.at(t), f"trial {n}: predicted {time_text(p)}, {time_text(t)}")
        for n, p, t in both
    )
    own = SearchLine(people_say(target), 0, dots, line)
    return SearchPlot("Model against measurement", "measured", across, up, (own,), "equal")


@dataclass(frozen=True, slots=True)
class CurveLine:
    """A curve in a plot: `points` is for a polyline, with dots of a kind, none of a bound.

    The curve's key is the colour of its `number`.
    """

    name: str
    points: str
    dots: tuple[Dot, ...]
    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Curves over the size, rates on a logarithmic axis."""

    name: str
    x: PlotAxis
    y: PlotAxis
    lines: tuple[CurveLine, ...]


# Sizes whose largest is more than so many times the smallest stand on a logarithmic axis.
WIDE_RANGE = 32.0
BOUND_KIND = "bound"


def curve_plot(name: str, curves: Sequence[TableCurve]) -> CurvePlot | None:
    """Return rates in GFLOP/s against the size, None where there is nothing to plot."""
    known = [c for c in curves if all(_is_plottable(y) and x > 0 for x, y in c.points)]
    sizes = [x for curve in known for x, _ in curve.points]
    if not sizes:
        return None
    is_wide = max(sizes) > WIDE_RANGE * min(sizes)
    across = (log_axis if is_wide else linear_axis)(sizes, LEFT, RIGHT, "size")
    up = log_axis([y for curve in known for _, y in curve.points], BOTTOM, TOP, "GFLOP/s")
    lines = tuple(_curve_line(n, curve, across, up) for n, curve in enumerate(known))
    return CurvePlot(name, across, up, lines)


def _curve_line(number: int, curve: TableCurve, across: PlotAxis, up: PlotAxis) -> CurveLine:
    places = [(across.at(x), up.at(y)) for x, y in curve.points]
    points = " ".join(f"{x},{y}" for x, y in places)
    if curve.status is None:
        return CurveLine(one_line(curve.name), points, (), BOUND_KIND, number)
    said = (f"{one_line(curve.name)}: {x:g}, {number_text(y)} GFLOP/s" for x, y in curve.points)
    dots = tuple(Dot(*place, title) for place, title in zip(places, said, strict=True))
    return CurveLine(one_line(curve.name), points, dots, curve.status, number)


def _has_time(trial: Trial) -> bool:
    return trial.time_s is not None and _LEAST_S < trial.time_s < _MOST_S
