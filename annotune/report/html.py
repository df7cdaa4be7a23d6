"""report.html: a run as one page that needs no network, no script and no other file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from annotune.measure.trial import Status, Trial
from annotune.printable import one_line, printable
from annotune.report import charts, search_plots
from annotune.report.figures import MISSING, estimated, time_text
from annotune.report.finals_text import finals_texts, verdict_text
from annotune.report.highlight import highlight
from annotune.report.model_text import (
    MODEL_COLUMNS,
    agreement_text,
    kernel_words,
    target_text,
    total_text,
)
from annotune.report.search_page import CAVEAT, Search, search_words
from annotune.report.summary import (
    COLUMNS,
    LEGEND,
    LEGEND_PREDICTED,
    TUNED,
    all_rows,
    config_text,
    grid_texts,
    has_prediction,
    heading,
    is_doubtful,
    row_words,
    trials_text,
    winner_texts,
    work_text,
)
from annotune.tune.results import RegionResult, Results, TargetModel

# Characters of a reason that stand in the table; the rest is folded away.
REASON_WIDTH = 160


@dataclass(frozen=True, slots=True)
class _TrialWords:
    """One trial as texts, and the keys by which the page's script sorts its column."""

    number: int
    target: str
    config: str
    status: Status
    time: str
    time_s: float | None
    kind: str
    at: str
    at_s: float | None
    cost: str
    cost_s: float | None
    verified: str
    facts: str
    reason: str
    rest: str


def report_html(results: Results) -> str:
    """Return the page of a run. It is plain UTF-8 text: nothing undecodable is left in it."""
    environment = Environment(
        loader=PackageLoader("annotune", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page = environment.get_template("report.html.j2")
    texts = {one_line(name): results.texts.get(name) for name in results.files}
    return page.render(
        source=one_line(results.source),
        version=one_line(results.version),
        device=one_line(results.device),
        warnings=[printable(warning).strip() for warning in results.warnings],
        tools=_plain(results.tools),
        codes={name: highlight(text) for name, text in texts.items() if text is not None},
        others=[name for name, text in texts.items() if text is None],
        columns=COLUMNS,
        model_columns=MODEL_COLUMNS,
        legend=LEGEND,
        caveat=CAVEAT,
        legend_predicted=LEGEND_PREDICTED if has_prediction(results) else "",
        regions=[_region(one) for each in results.regions for one in each.at_each_size],
        chart=charts,
        plots=search_plots,
    )


def _region(region: RegionResult) -> dict[str, Any]:
    """Return what the template shows of a region."""
    rows = [(row.status, is_doubtful(row), row_words(row)) for row in all_rows(region)]
    return {
        "heading": heading(region),
        "work": work_text(region),
        "rows": rows,
        "winners": (*winner_texts(region), *finals_texts(region), *grid_texts(region)),
        "models": [_model(model) for model in region.models],
        "searches": _searches(region),
        "has_costs": any(_cost_s(trial) is not None for trial in region.trials),
        "has_ends": any(trial.at_s is not None for trial in region.trials),
        "trials_text": trials_text(region),
        "trials": [_trial(number, t) for number, t in enumerate(region.trials, 1)],
        "bars": charts.bars(region),
        "plot": charts.roofline_plot(region),
    }


def _searches(region: RegionResult) -> tuple[Search, ...]:
    """Return what is said of the search of each target that was tried or searched."""
    named = {t.target for t in region.trials} | {s.target for s in region.searches}
    return tuple(search_words(region, target) for target in TUNED if target in named)


def _model(model: TargetModel) -> dict[str, Any]:
    """Return what the template shows of a target's model."""
    return {
        "heading": f"Model of {target_text(model)}",
        "total": total_text(model),
        "kernels": [kernel_words(kernel) for kernel in model.kernels],
        "agreement": agreement_text(model),
    }


def _trial(number: int, trial: Trial) -> _TrialWords:
    time = time_text(trial.time_s, trial.spread_s)
    words = printable(trial.reason).strip()
    first = words.split("\n", 1)[0][:REASON_WIDTH]
    return _TrialWords(
        number=number,
        target=one_line(trial.target),
        config=config_text(trial.config),
        status=trial.status,
        time=estimated(time) if trial.is_predicted else time,
        time_s=trial.time_s,
        kind=_kind(trial),
        at=time_text(trial.at_s),
        at_s=trial.at_s,
        cost=_cost(trial),
        cost_s=_cost_s(trial),
        verified="yes" if trial.verified else "no",
        facts=config_text(trial.facts) if trial.facts else "",
        reason=first,
        rest="" if first == words else words,
    )


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


def _cost(trial: Trial) -> str:
    """Return the seconds in compilers, and in checks and clocks."""
    if _cost_s(trial) is None:
        return MISSING
    return f"{time_text(trial.compile_s)} + {time_text(trial.run_s)}"


def _cost_s(trial: Trial) -> float | None:
    parts = [part for part in (trial.compile_s, trial.run_s) if part is not None]
    return sum(parts) if parts else None


def _plain(values: Mapping[str, str]) -> dict[str, str]:
    return {one_line(name): one_line(value) for name, value in values.items()}
