"""Plots of a search: the best time so far over the trials, and the model against the clock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from annotune.measure.trial import Status, Trial
from annotune.report.axes import LinearAxis, Tick, linear_axis, log_axis
from annotune.report.figures import short_time_text, time_text
from annotune.tune.results import RegionResult

# In SVG units; text is 12 of them high.
WIDTH, HEIGHT = 480.0, 288.0
LEFT, TOP, RIGHT, BOTTOM = 66.0, 34.0, 468.0, 240.0
# Failed trials have no time; they stand in a line of their own above the others.
FAILED_Y = TOP - 12
# Times beyond these are mistakes, and would break an axis.
_LEAST_S, _MOST_S = 1e-15, 1e15
# One trial is no course.
LEAST_TRIALS = 2


@dataclass(frozen=True, slots=True)
class Dot:
    """A trial; `title` is shown to who points at it."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot, ready to be drawn; `kind` says where its times come from.

    `line` is for a polyline of the class `line_kind`: the ``best`` so far, or where both times are
    ``equal``. `least_y` is where the roofline's least time stands, None where that is off the
    plot or not known.
    """

    name: str
    kind: str
    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    dots: tuple[Dot, ...]
    line: str
    line_kind: str
    failed: tuple[Dot, ...] = ()
    least_y: float | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """The trials of one target in their order, numbered as in the table of all trials.

    Their times are of one kind, measured where there are any, else predicted, and of one device,
    that of the most. Right trials without such a time are left out; `elsewhere` counts those of
    that kind on other devices.
    """

    trials: tuple[tuple[int, Trial], ...]
    is_predicted: bool
    device: str = ""
    elsewhere: int = 0

    @property
    def kind(self) -> str:
        return "predicted" if self.is_predicted else "measured"

    @property
    def right(self) -> tuple[tuple[int, Trial], ...]:
        """Return the right trials with their numbers."""
        return tuple((n, t) for n, t in self.trials if t.status is Status.CORRECT)


def course(region: RegionResult, target: str) -> Course:
    """Return the trials of a target that one plot may show together."""
    own = [(n, t) for n, t in enumerate(region.trials, 1) if t.target == target]
    timed = [t for _, t in own if t.status is Status.CORRECT and _has_time(t)]
    is_predicted = all(t.is_predicted for t in timed)
    devices = Counter(t.device for t in timed if t.is_predicted == is_predicted)
    if not devices:
        failed = tuple((n, t) for n, t in own if t.status is not Status.CORRECT)
        return Course(failed, is_predicted)
    ((device, most),) = devices.most_common(1)
    shown = [
        (n, t)
        for n, t in own
        if t.status is not Status.CORRECT
        or (_has_time(t) and t.is_predicted == is_predicted and t.device == device)
    ]
    return Course(tuple(shown), is_predicted, device, devices.total() - most)


def least_s(region: RegionResult, found: Course) -> float | None:
    """Return the roofline's least time on the device of a course, None without a roof."""
    roof = region.roofs.get(found.device)
    if roof is None or not roof.peak_flop_s or not roof.bandwidth_bytes_s:
        return None
    time = max(region.flop / roof.peak_flop_s, region.bytes / roof.bandwidth_bytes_s)
    return time if _LEAST_S < time < _MOST_S else None


def why_no_convergence(found: Course) -> str:
    """Return why there is no plot of a course, empty where there is one."""
    if not found.right:
        return "no right variant has a time"
    return "" if len(found.trials) >= LEAST_TRIALS else "there was one trial"


def why_no_seconds(found: Course) -> str:
    """Return why a course cannot be shown over seconds, empty where it can."""
    known = all(t.at_s is not None and math.isfinite(t.at_s) for _, t in found.trials)
    return "" if known else "the run did not record when each of its trials ended"


def by_evaluation(found: Course, least: float | None) -> Plot:
    """Return the best time so far against the number of trials."""
    numbers = [float(n) for n, _ in enumerate(found.trials, 1)]
    across = linear_axis(numbers, LEFT, RIGHT, is_count=True)
    return _convergence(found, numbers, across, least, "by evaluation", "evaluation")


def by_seconds(found: Course, least: float | None) -> Plot:
    """Return the best time so far against the seconds since the run began."""
    seconds = [t.at_s or 0.0 for _, t in found.trials]
    across = linear_axis(seconds, LEFT, RIGHT)
    return _convergence(found, seconds, across, least, "by time", "seconds since the run began")


def _convergence(
    found: Course,
    places: Sequence[float],
    across: LinearAxis,
    least: float | None,
    name: str,
    x_title: str,
) -> Plot:
    times = [t.time_s for _, t in found.right if t.time_s]
    # A bound far below every trial would press these together.
    near = [least] if least is not None and least > min(times) / 10 else []
    up = log_axis([*times, *near], BOTTOM, TOP)
    dots, failed, steps = [], [], []
    best = math.inf
    ordered = sorted(zip(places, found.trials, strict=True), key=lambda one: one[0])
    for place, (number, trial) in ordered:
        x = across.at(place)
        if trial.status is not Status.CORRECT:
            failed.append(Dot(x, FAILED_Y, f"trial {number}: {trial.status}"))
            continue
        time = trial.time_s or 0.0
        dots.append(Dot(x, up.at(time), f"trial {number}: {time_text(time, trial.spread_s)}"))
        if time < best:
            steps += [f"{x},{up.at(best)}"] if best < math.inf else []
            steps.append(f"{x},{up.at(time)}")
            best = time
    steps.append(f"{RIGHT},{up.at(best)}")
    return Plot(
        f"Convergence {name}",
        found.kind,
        x_title,
        f"{found.kind} time",
        across.ticks(lambda value: f"{value:g}"),
        up.ticks(short_time_text),
        tuple(dots),
        " ".join(steps),
        "best",
        tuple(failed),
        up.at(near[0]) if near else None,
    )


def scatter(region: RegionResult, target: str) -> Plot | None:
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
    across = log_axis([p for _, p, _ in both], LEFT, RIGHT)
    up = log_axis([t for _, _, t in both], BOTTOM, TOP)
    low, high = max(across.low, up.low), min(across.high, up.high)
    ends = [(low, low), (high, high)] if low < high else []
    return Plot(
        "Model against measurement",
        "measured",
        "predicted time",
        "measured time",
        across.ticks(short_time_text),
        up.ticks(short_time_text),
        tuple(
            Dot(across.at(p), up.at(t), f"trial {n}: predicted {time_text(p)}, {time_text(t)}")
            for n, p, t in both
        ),
        " ".join(f"{across.at(p)},{up.at(t)}" for p, t in ends),
        "equal",
    )


def _has_time(trial: Trial) -> bool:
    return trial.time_s is not None and _LEAST_S < trial.time_s < _MOST_S
