"""report.html: a run as one page that needs no network, no script and no other file.

Source of the importance of parameters: permutation importance, L. Breiman, "Random Forests",
Machine Learning 45, 2001, doi:10.1023/A:1010933404324; half of the mean squared change over the
variance estimates the total-effect index, M. J. W. Jansen, "Analysis of variance designs for model
output", Computer Physics Communications 117, 1999, doi:10.1016/S0010-4655(98)00154-4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from annotune.frozen import dataclass
from annotune.measure.trial import Status, Trial
from annotune.printable import one_line, printable
from annotune.report import plots
from annotune.report.answer import answer_of, headline
from annotune.report.figures import MISSING, estimated, number_text, share_text, time_text
from annotune.report.overview import notes_of, overview
from annotune.report.plots import (
    Bar,
    SearchCourse,
    SearchPlot,
    convergence,
    course,
    courses,
    least_s,
    scatter,
    table_row,
)
from annotune.report.summary import (
    COLUMNS,
    LEGEND,
    LEGEND_PREDICTED,
    MODEL_COLUMNS,
    agreement_text,
    all_rows,
    asked_rows,
    config_text,
    finals_texts,
    formulation_texts,
    grid_texts,
    has_prediction,
    heading,
    is_doubtful,
    kernel_words,
    people_say,
    predictions,
    profile_texts,
    row_words,
    target_text,
    total_text,
    trials_text,
    verdict_text,
    winner_texts,
    work_text,
)
from annotune.tuning.results import (
    Agreement,
    RegionResult,
    Results,
    Searched,
    TargetModel,
    agreement,
)
from annotune.tuning.search.points import Floats, Points

# Characters of a reason that stand in the table; the rest is folded away.
REASON_WIDTH = 160
# A bar of the chart for a share of one, in SVG units; its name stands to its left.
BAR_LENGTH = 200.0
# A share below this is drawn and told as less than it.
LEAST_SHARE = 0.01
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

# With fewer trials a fifth of them says nothing of a forest fitted to the rest.
LEAST_TRIALS = 20
FOLDS = 5
TREES = 100
# Each axis is shuffled this often in each fold.
SHUFFLES = 10
SEED = 1
# A forest that explains less of trials it has not seen is not worth asking.
LEAST_EXPLAINED = 0.3

_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while template typename nullptr bool "
    "__global__ __device__ __host__ __shared__ __restrict__ __syncthreads __launch_bounds__ "
    "blockIdx threadIdx blockDim gridDim size_t"
)

# Classes are one letter: a page holds thousands of these.
_TOKEN = re.compile(
    r"(?P<c>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r"|(?P<s>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<p>^[ \t]*\#(?:\\\n|[^\n])*)"
    rf"|(?P<k>\b(?:{_KEYWORDS.replace(' ', '|')})\b)"
    r"|(?P<n>\b(?:0[xX]\w*|\d[\w.]*(?:(?<=[eE])[+-]\d\w*)?))",
    re.DOTALL | re.MULTILINE,
)


def environment() -> Environment:
    """Return what renders the pages: everything foreign is escaped."""
    return Environment(
        loader=PackageLoader("annotune", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def report_html(results: Results) -> str:
    """Return the page of a run. It is plain UTF-8 text: nothing undecodable is left in it."""
    page = environment().get_template("report.html.j2")
    texts = {one_line(name): results.texts.get(name) for name in results.files}
    each = [one for region in results.regions for one in region.at_each_size]
    notes = notes_of(results)
    return page.render(
        source=one_line(results.source),
        version=one_line(results.version),
        device=one_line(results.device),
        headline=one_line(headline(results)),
        overview=overview(results),
        notes=notes.texts,
        tools={one_line(k): one_line(v) for k, v in results.tools.items()},
        codes={name: highlight(text) for name, text in texts.items() if text is not None},
        others=[name for name, text in texts.items() if text is None],
        commands=[one_line(text) for texts in results.commands.values() for text in texts],
        columns=COLUMNS,
        model_columns=MODEL_COLUMNS,
        legend=LEGEND,
        caveat=CAVEAT,
        legend_predicted=LEGEND_PREDICTED if has_prediction(results) else "",
        regions=[{**_answer(results, one), **_region(notes.told(one))} for one in each],
        plots=plots,
    )


def answer_html(results: Results) -> str:
    """Return what a run achieved, its warnings and the regions' tables, as a part of a page."""
    part = environment().get_template("answer.html.j2")
    each = [one for region in results.regions for one in region.at_each_size]
    notes = notes_of(results)
    return part.render(
        headline=one_line(headline(results)),
        notes=notes.texts,
        columns=COLUMNS,
        regions=[{**_answer(results, one), **_table(notes.told(one))} for one in each],
    )


def _answer(results: Results, region: RegionResult) -> dict[str, Any]:
    """Return what came of a region, and the command that links it, if any."""
    found = answer_of(region)
    command = next(iter(results.commands.get(found.target, ())), "")
    return {"answer": one_line(found.said), "link": one_line(command)}


def _region(region: RegionResult) -> dict[str, Any]:
    """Return what else the template shows of a region."""
    return {
        **_table(region),
        "winners": (
            *winner_texts(region),
            *formulation_texts(region),
            *finals_texts(region),
            *grid_texts(region),
        ),
        "profiles": profile_texts(region),
        "models": [_model(model) for model in region.models],
        "searches": _searches(region),
        "has_costs": any(_cost_s(trial) is not None for trial in region.trials),
        "has_ends": any(trial.at_s is not None for trial in region.trials),
        "trials_text": trials_text(region),
        "trials": [
            {**_trial(number, t), "group": sorting_group(region, t)}
            for number, t in enumerate(region.trials, 1)
        ],
        "charts": plots.charts(region),
        "convergence": convergence_words(region),
    }


def _table(region: RegionResult) -> dict[str, Any]:
    """Return the table of a region, and what stands above it."""
    rows = [(row.status, is_doubtful(row), row_words(row)) for row in asked_rows(region)]
    return {"heading": heading(region), "work": work_text(region), "rows": rows}


def _searches(region: RegionResult) -> tuple[SearchWords, ...]:
    """Return what is said of the search of each target that was tried or searched."""
    named = {t.target for t in region.trials} | {s.target for s in region.searches}
    tuned = [row.name for row in all_rows(region) if row.is_tuned]
    return tuple(search_words(region, target) for target in tuned if target in named)


def _model(model: TargetModel) -> dict[str, Any]:
    """Return what the template shows of a target's model."""
    return {
        "heading": f"Model of {target_text(model)}",
        "total": total_text(model),
        "kernels": [kernel_words(kernel) for kernel in model.kernels],
        "agreement": agreement_text(model),
    }


def _trial(number: int, trial: Trial) -> dict[str, Any]:
    """Return a trial as texts, and the keys by which the page's script sorts its column."""
    time = time_text(trial.time_s, trial.spread_s)
    words = printable(trial.reason).strip()
    first = words.split("\n", 1)[0][:REASON_WIDTH]
    cost_s = _cost_s(trial)
    cost = f"{time_text(trial.compile_s)} + {time_text(trial.run_s)}"
    return {
        "number": number,
        "target": one_line(trial.target),
        "config": config_text(trial.config),
        "status": trial.status,
        "time": estimated(time) if trial.is_predicted else time,
        "time_s": trial.time_s,
        "kind": _kind(trial),
        "at": time_text(trial.at_s),
        "at_s": trial.at_s,
        "cost": MISSING if cost_s is None else cost,
        "cost_s": cost_s,
        "verified": "yes" if trial.verified else "no",
        "facts": config_text(trial.facts) if trial.facts else "",
        "reason": first,
        "rest": "" if first == words else words,
    }


def sorting_group(region: RegionResult, trial: Trial) -> int:
    """Return in which group a trial's time is sorted: measured ones come first.

    Predictions follow, each kind of facts by itself, then what belongs to no row.
    """
    if not trial.is_predicted:
        return 0
    kinds = enumerate(predictions(region).values(), 1)
    own = trial.target, trial.device
    of = (n for n, rows in kinds if own in {(row.name, row.device) for row in rows})
    return next(of, 1 + len(predictions(region)))


def _kind(trial: Trial) -> str:
    """Return where a trial's time comes from, and whether an earlier trial's was taken."""
    device = one_line(trial.device) or "an unnamed device"
    if trial.time_s is None:
        words = MISSING
    else:
        words = f"{'predicted for' if trial.is_predicted else 'measured on'} {device}"
    if trial.times_s:
        words += f" ({len(trial.times_s)} run{'' if len(trial.times_s) == 1 else 's'})"
    if trial.final is not None:
        words += f"; {verdict_text(trial.final)}"
    return f"{words}, reused" if trial.reused else words


def _cost_s(trial: Trial) -> float | None:
    """Return the seconds in compilers, and in checks and clocks."""
    parts = [part for part in (trial.compile_s, trial.run_s) if part is not None]
    return sum(parts) if parts else None


def highlight(text: str) -> Markup:
    """Return C text, escaped, its tokens in ``<span class=…>``; every character is kept.

    Unprintable characters are replaced as `printable` does, and carriage returns dropped.
    """
    text = printable(text.replace("\r\n", "\n"))
    parts: list[Markup] = []
    done = 0
    for found in _TOKEN.finditer(text):
        parts.append(Markup.escape(text[done : found.start()]))
        kind = found.lastgroup
        assert kind is not None
        parts.append(Markup('<span class="{}">{}</span>').format(kind, found.group()))
        done = found.end()
    parts.append(Markup.escape(text[done:]))
    return Markup("").join(parts)


@dataclass(frozen=True, slots=True)
class CaptionedPlot:
    """A plot with its caption, and what is said of each of its lines."""

    plot: SearchPlot
    caption: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchWords:
    """The search of one target as texts, plots and bars; `missing` says why some are not there."""

    heading: str
    facts: tuple[tuple[str, str], ...]
    figures: tuple[CaptionedPlot, ...]
    bars: tuple[Bar, ...]
    importance: str
    missing: tuple[str, ...]


def search_words(region: RegionResult, target: str) -> SearchWords:
    """Return what the page shows of the search of `target`."""
    searched = next((s for s in region.searches if s.target == target), None)
    found = course(region, target)
    learnt = importance(trial for _, trial in found.right)
    model = _model_plot(region, target)
    reasons = [model] if isinstance(model, str) else []
    if searched is None:
        reasons.insert(0, "How it was searched: not available because the run did not record it.")
    if learnt.reason:
        reasons.append(f"Importance of parameters: not available because {learnt.reason}.")
    return SearchWords(
        f"Search of {people_say(target)}",
        tuple(_facts(searched)) if searched is not None else (),
        () if isinstance(model, str) else (model,),
        tuple(bar_of(name, share) for name, share in learnt.shares[:MOST_BARS]),
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


def convergence_words(region: RegionResult) -> CaptionedPlot | str:
    """Return the plot of a region's search, or why there is none."""
    shown = courses(region)
    if not shown:
        is_right = any(t.status is Status.CORRECT and t.time_s for t in region.trials)
        why = "each target had one trial with a time" if is_right else "no right variant has a time"
        return f"Convergence: not available because {why}."
    plot = convergence(region, shown)
    failed = len(plot.failed)
    caption = f"Lines: the best {plot.kind} time so far"
    caption += f"; crosses: {failed} failed trial{'s' * (failed > 1)}." if failed else "."
    return CaptionedPlot(plot, caption, tuple(_course_text(region, one, plot) for one in shown))


def _course_text(region: RegionResult, found: SearchCourse, plot: SearchPlot) -> str:
    """Return how a course ends: its best time, that of the table, and the bound."""
    text = f"{people_say(found.target)}: {time_text(found.best_s)} in the end"
    text += f", {_table_text(region, found)}"
    least = least_s(region, found)
    if least is not None:
        text += f", {share_text(least / found.best_s)} of the roofline"
        where = "dashed" if plot.least_y is not None else "not drawn"
        text += f", whose least time is {time_text(least)} ({where})"
    if found.on_others:
        text += f", on {one_line(found.device)} alone, without {found.on_others} on others"
    return text


def _table_text(region: RegionResult, found: SearchCourse) -> str:
    """Return how the best of a course and the time in the table belong together."""
    row = table_row(region, found)
    if row is None:
        return "while the table has no such time"
    if row.time_s == found.best_s:
        return "the time in the table"
    if row.final is not None:
        return f"{time_text(row.time_s)} when timed again in the finals, as the table has it (mark)"
    return f"while the table has {time_text(row.time_s)} of the variant that was written (mark)"


def _model_plot(region: RegionResult, target: str) -> CaptionedPlot | str:
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


def bar_of(name: str, share: float) -> Bar:
    """Return the bar of a parameter's share of the variance; tiny ones are told as such."""
    title = one_line(name)
    short = title if len(title) <= NAME_WIDTH else f"{title[: NAME_WIDTH - 1]}…"
    length = max(1.0, BAR_LENGTH * min(1.0, share))
    text = share_text(share) if share >= LEAST_SHARE else f"< {LEAST_SHARE:.0%}"
    return Bar(short, length, text, "share", title)


def _importance_text(learnt: Importance, found: SearchCourse) -> str:
    if learnt.explained is None or not learnt.shares:
        return ""
    more = len(learnt.shares) - MOST_BARS
    rest = f" {more} less important ones are not shown." if more > 0 else ""
    return (
        f"Share of the variance of the {found.kind} time that depends on each, learnt from "
        f"{learnt.trials} right trials by a random forest, which explains "
        f"{share_text(learnt.explained)} of the variance of trials it has not seen.{rest}"
    )


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
    if find_spec("sklearn") is None:
        reason = "that takes scikit-learn, not installed here: pip install 'annotune[search]'"
        return Importance(trials=len(known), reason=reason)
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
