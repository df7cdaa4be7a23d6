"""report.html: a run as one page that needs no network, no script and no other file."""

from __future__ import annotations

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from annotune.measure.trial import Trial
from annotune.printable import one_line, printable
from annotune.report import plots
from annotune.report.figures import MISSING, estimated, time_text
from annotune.report.search_page import CAVEAT, SearchWords, search_words
from annotune.report.summary import (
    COLUMNS,
    LEGEND,
    LEGEND_PREDICTED,
    MODEL_COLUMNS,
    agreement_text,
    all_rows,
    config_text,
    finals_texts,
    grid_texts,
    has_prediction,
    heading,
    is_doubtful,
    kernel_words,
    row_words,
    target_text,
    total_text,
    trials_text,
    verdict_text,
    winner_texts,
    work_text,
)
from annotune.tune.results import TUNED, RegionResult, Results, TargetModel

# Characters of a reason that stand in the table; the rest is folded away.
REASON_WIDTH = 160

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
        tools={one_line(k): one_line(v) for k, v in results.tools.items()},
        codes={name: highlight(text) for name, text in texts.items() if text is not None},
        others=[name for name, text in texts.items() if text is None],
        columns=COLUMNS,
        model_columns=MODEL_COLUMNS,
        legend=LEGEND,
        caveat=CAVEAT,
        legend_predicted=LEGEND_PREDICTED if has_prediction(results) else "",
        regions=[_region(one) for each in results.regions for one in each.at_each_size],
        plots=plots,
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
        "bars": plots.bars(region),
        "plot": plots.roofline_plot(region),
    }


def _searches(region: RegionResult) -> tuple[SearchWords, ...]:
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
