"""What the page says of the search of one target: how it went, what mattered, and the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotune.printable import one_line
from annotune.report.figures import number_text, share_text, time_text
from annotune.report.importance import Importance, importance
from annotune.report.search_plots import (
    Course,
    Plot,
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
class Bar:
    """The importance of a parameter: its length of `BAR_LENGTH`, and the whole name as a title."""

    name: str
    title: str
    length: float
    label: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with its caption."""

    plot: Plot
    caption: str


@dataclass(frozen=True, slots=True)
class Search:
    """The search of one target as texts, plots and bars; `missing` says why some are not there."""

    heading: str
    facts: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]
    bars: tuple[Bar, ...]
    importance: str
    missing: tuple[str, ...]


def search_words(region: RegionResult, target: str) -> Search:
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
    return Search(
        f"Search of {PEOPLE_SAY.get(target, one_line(target))}",
        tuple(_facts(searched)) if searched is not None else (),
        tuple(one for one in shown if isinstance(one, Figure)),
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


def _convergence(region: RegionResult, found: Course) -> tuple[Figure | str, ...]:
    """Return the plots over evaluations and over seconds, or why there is none."""
    least = least_s(region, found)
    if why := why_no_convergence(found):
        return (f"Convergence: not available because {why}.",)
    plot = by_evaluation(found, least)
    first = Figure(plot, _convergence_text(found, plot, least))
    if why := why_no_seconds(found):
        return (first, f"Convergence by time: not available because {why}.")
    return (first, Figure(by_seconds(found, least), "The same over the time of the run."))


def _convergence_text(found: Course, plot: Plot, least: float | None) -> str:
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


def _model(region: RegionResult, target: str) -> Figure | str:
    found = agreement(target, region.trials)
    plot = scatter(region, target)
    if plot is None:
        return f"Model against measurement: not available because {one_line(found.reason)}."
    return Figure(plot, _agreement_text(found))


def _agreement_text(found: Agreement) -> str:
    trials = f"{found.pairs} trial{'' if found.pairs == 1 else 's'}"
    if found.correlation is None:
        text = f"Rank correlation not available because {one_line(found.reason)}; {trials}"
    else:
        sign = "-" if found.correlation < 0 else ""
        rho = number_text(abs(found.correlation))
        text = f"Spearman's rank correlation {sign}{rho} over {trials}"
    return f"{text}; dashed: both times are equal."


def _bar(name: str, share: float) -> Bar:
    title = one_line(name)
    short = title if len(title) <= NAME_WIDTH else f"{title[: NAME_WIDTH - 1]}…"
    return Bar(short, title, round(BAR_LENGTH * min(1.0, share), 1), share_text(share))


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
