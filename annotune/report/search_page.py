"""What the page says of the search of one target: how it went, what mattered, and the model.

Source: permutation importance, L. Breiman, "Random Forests", Machine Learning 45, 2001,
doi:10.1023/A:1010933404324; half of the mean squared change over the variance estimates the
total-effect index, M. J. W. Jansen, "Analysis of variance designs for model output", Computer
Physics Communications 117, 1999, doi:10.1016/S0010-4655(98)00154-4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotune.measure.trial import Trial
from annotune.printable import one_line
from annotune.report.figures import number_text, share_text, time_text
from annotune.report.plots import (
    Course,
    SearchPlot,
    by_evaluation,
    by_seconds,
    course,
    least_s,
    scatter,
    why_no_convergence,
    why_no_seconds,
)
from annotune.report.summary import PEOPLE_SAY
from annotune.tune.agreement import Agreement, agreement
from annotune.tune.results import RegionResult, Searched
from annotune.tune.search.points import Floats, Points

# A bar of the chart for a share of one, in SVG units; its name stands to its left.
BAR_LENGTH = 240.0
# Characters of a parameter's name that fit there.
NAME_WIDTH = 22
# Parameters beyond this many are left out of the chart, the least important first.
MOST_BARS = 12

CAVEAT = (
    "Importance is permutation importance: how much worse the forest predicts the logarithm of the "
    "time of unseen trials when one parameter is shuffled among them, scaled to estimate the "
    "total-effect index. It counts what a parameter does alone and together with others, so shares "
    "may add up to more than 100%. It holds for the points that the search chose, which are dense "
    "near its best; parameters that constraints tie together share their importance."
)


@dataclass(frozen=True, slots=True)
class ImportanceBar:
    """The importance of a parameter: its length of `BAR_LENGTH`, and the whole name as a title."""

    name: str
    title: str
    length: float
    label: str


@dataclass(frozen=True, slots=True)
class CaptionedPlot:
    """A plot with its caption."""

    plot: SearchPlot
    caption: str


@dataclass(frozen=True, slots=True)
class SearchWords:
    """The search of one target as texts, plots and bars; `missing` says why some are not there."""

    heading: str
    facts: tuple[tuple[str, str], ...]
    figures: tuple[CaptionedPlot, ...]
    bars: tuple[ImportanceBar, ...]
    importance: str
    missing: tuple[str, ...]


def search_words(region: RegionResult, target: str) -> SearchWords:
    """Return what the page shows of the search of `target`."""
    searched = next((s for s in region.searches if s.target == target), None)
    found = course(region, target)
    learnt = importance(trial for _, trial in found.right)
    shown = (*_convergence(region, found), _model(region, target))
    reasons = [one for one in shown if isinstance(one, str)]
    if searched is None:
        reasons.insert(0, "How it was searched: not available because the run did not record it.")
    if learnt.reason:
        reasons.append(f"Importance of parameters: not available because {learnt.reason}.")
    return SearchWords(
        f"Search of {PEOPLE_SAY.get(target, one_line(target))}",
        tuple(_facts(searched)) if searched is not None else (),
        tuple(one for one in shown if isinstance(one, CaptionedPlot)),
        tuple(_bar(name, share) for name, share in learnt.shares[:MOST_BARS]),
        _importance_text(learnt, found),
        tuple(reasons),
    )


def _facts(searched: Searched) -> Iterator[tuple[str, str]]:
    yield "search", f"{one_line(searched.search)}, seed {searched.seed}"
    yield "budget", _budget_text(searched)
    yield "evaluated", f"{_points(searched.evaluated)} in {time_text(searched.time_s)}"
    yield "duplicates", f"{_points(searched.duplicates)} with the program of another, not run again"
    yield "reused", f"{_points(searched.reused)} known from an earlier run"
    inert = one_line(", ".join(searched.inert))
    yield "inert", f"{inert}: no program depends on it" if inert else "no parameter"


def _budget_text(searched: Searched) -> str:
    if searched.budget < searched.legal:
        return f"{searched.budget} of {searched.legal} legal points"
    return f"{searched.budget}, enough for {_points(searched.legal)}, which are all legal ones"


def _points(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"


def _convergence(region: RegionResult, found: Course) -> tuple[CaptionedPlot | str, ...]:
    """Return the plots over evaluations and over seconds, or why there is none."""
    least = least_s(region, found)
    if why := why_no_convergence(found):
        return (f"Convergence: not available because {why}.",)
    plot = by_evaluation(found, least)
    first = CaptionedPlot(plot, _convergence_text(found, plot, least))
    if why := why_no_seconds(found):
        return (first, f"Convergence by time: not available because {why}.")
    return (first, CaptionedPlot(by_seconds(found, least), "The same over the time of the run."))


def _convergence_text(found: Course, plot: SearchPlot, least: float | None) -> str:
    best = min(trial.time_s or 0.0 for _, trial in found.right)
    text = f"Line: the best {found.kind} time so far, {time_text(best)} in the end"
    if least is not None:
        text += f", {share_text(least / best)} of the roofline"
        where = "dashed" if plot.least_y is not None else "below this plot"
        text += f", whose least time is {time_text(least)} ({where})"
    if plot.failed:
        text += f"; crosses: {len(plot.failed)} failed trial{'s' if len(plot.failed) > 1 else ''}"
    if found.elsewhere:
        text += f"; on {one_line(found.device)} alone, without {found.elsewhere} on others"
    return f"{text}."


def _model(region: RegionResult, target: str) -> CaptionedPlot | str:
    found = agreement(target, region.trials)
    plot = scatter(region, target)
    if plot is None:
        return f"Model against measurement: not available because {one_line(found.reason)}."
    return CaptionedPlot(plot, _agreement_text(found))


def _agreement_text(found: Agreement) -> str:
    trials = f"{found.pairs} trial{'' if found.pairs == 1 else 's'}"
    if found.correlation is None:
        text = f"Rank correlation not available because {one_line(found.reason)}; {trials}"
    else:
        sign = "-" if found.correlation < 0 else ""
        rho = number_text(abs(found.correlation))
        text = f"Spearman's rank correlation {sign}{rho} over {trials}"
    return f"{text}; dashed: both times are equal."


def _bar(name: str, share: float) -> ImportanceBar:
    title = one_line(name)
    short = title if len(title) <= NAME_WIDTH else f"{title[: NAME_WIDTH - 1]}…"
    return ImportanceBar(short, title, round(BAR_LENGTH * min(1.0, share), 1), share_text(share))


def _importance_text(learnt: Importance, found: Course) -> str:
    if learnt.explained is None or not learnt.shares:
        return ""
    more = len(learnt.shares) - MOST_BARS
    rest = f" {more} less important ones are not shown." if more > 0 else ""
    return (
        f"Share of the variance of the {found.kind} time that depends on each, learnt from "
        f"{learnt.trials} right trials by a random forest, which explains "
        f"{share_text(learnt.explained)} of the variance of trials it has not seen.{rest}"
    )


# With fewer trials a fifth of them says nothing of a forest fitted to the rest.
LEAST_TRIALS = 20
FOLDS = 5
TREES = 100
# Each axis is shuffled this often in each fold.
SHUFFLES = 10
SEED = 1
# A forest that explains less of trials it has not seen is not worth asking.
LEAST_EXPLAINED = 0.3


@dataclass(frozen=True, slots=True)
class Importance:
    """What share of the variance of the logarithm of the time depends on each axis.

    Alone or together with others, so the shares may add up to more than one. `shares` descend;
    `explained` is the share of the variance of `trials` unseen trials that the forest explains.
    Both are empty or None where `reason` says why.
    """

    shares: tuple[tuple[str, float], ...] = ()
    trials: int = 0
    explained: float | None = None
    reason: str = ""


def importance(trials: Iterable[Trial]) -> Importance:
    """Return the importance of each axis on which right trials, of one kind of time, differ.

    A forest is fitted to four fifths of the trials and asked for the last fifth, five times over;
    then again with the values of one axis shuffled among the trials.
    """
    known = [t for t in trials if t.time_s and not t.is_repeat]
    if len(known) < LEAST_TRIALS:
        reason = f"that takes {LEAST_TRIALS} right trials of different programs, and there are "
        return Importance(trials=len(known), reason=f"{reason}{len(known)}")
    points = Points(tuple(t.config for t in known))
    if not points.axes:
        return Importance(trials=len(known), reason="no parameter differs among the right trials")
    logs = np.log([t.time_s or 1.0 for t in known])
    if logs.max() == logs.min():
        return Importance(trials=len(known), reason="all right trials took the same time")
    variance = float(np.var(logs))
    error, rises = _errors(points.codes.astype(np.float64), logs)
    explained = 1 - error / variance
    if explained < LEAST_EXPLAINED:
        reason = (
            f"a forest fitted to the others explains {max(0.0, explained):.0%} of the variance of "
            f"trials that it has not seen; below {LEAST_EXPLAINED:.0%} its opinion is worthless"
        )
        return Importance(trials=len(known), explained=explained, reason=reason)
    shares = [max(0.0, float(rise) / (2 * variance)) for rise in rises]
    names = [axis.name for axis in points.axes]
    return Importance(_descending(names, shares), len(known), explained)


def _descending(names: Sequence[str], shares: Sequence[float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(zip(names, shares, strict=True), key=lambda one: -one[1]))


def _errors(codes: Floats, logs: Floats) -> tuple[float, Floats]:
    """Return the mean squared error on unseen trials, and how it rises with an axis shuffled.

    `codes` numbers each trial's value on each axis, shape (trials, axes).
    """
    # Slow to import, and needed here alone.
    from sklearn.ensemble import RandomForestRegressor

    random = np.random.default_rng(SEED)
    folds = random.permutation(len(logs)) % FOLDS
    error = 0.0
    rises = np.zeros(codes.shape[1])
    for fold in range(FOLDS):
        unseen = folds == fold
        forest = RandomForestRegressor(TREES, random_state=SEED)
        forest.fit(codes[~unseen], logs[~unseen])
        rest, truth = codes[unseen], logs[unseen]
        right = float(np.sum((forest.predict(rest) - truth) ** 2))
        error += right
        # One in so many shuffled trials keeps its own value, which must not count.
        moved_share = (len(truth) - 1) / len(truth)
        for axis in range(codes.shape[1]):
            moved = _with_shuffled(rest, axis, random)
            wrong = (forest.predict(moved) - np.tile(truth, SHUFFLES)) ** 2
            rises[axis] += (float(np.sum(wrong)) / SHUFFLES - right) / moved_share
    return error / len(logs), rises / len(logs)


def _with_shuffled(codes: Floats, axis: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Return `SHUFFLES` copies of the trials below one another, one axis shuffled in each."""
    moved = np.tile(codes, (SHUFFLES, 1))
    columns = [random.permutation(codes[:, axis]) for _ in range(SHUFFLES)]
    moved[:, axis] = np.concatenate(columns)
    return moved
