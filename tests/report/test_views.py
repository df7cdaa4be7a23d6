"""A run's results as rows, data frames, grids and a part of a notebook's page."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from math import isnan
from typing import Any

import pytest
from sample_run import BLOCK, CPU, HOSTILE
from sample_run import RUN as RESULTS

import annotune
from annotune.report import views
from annotune.report.html import report_html
from annotune.report.views import RunResults
from annotune.tuning.results import NO_TARGET

RUN = RunResults.of(RESULTS)
FIRST = RESULTS.regions[0]


def test_the_same_results_have_views() -> None:
    assert RUN.regions is RESULTS.regions
    assert replace(RUN, source="b.c").table() == RUN.table()
    assert RUN.is_verified == RESULTS.is_verified


def test_the_table_has_a_row_for_each_variant_and_place() -> None:
    table = RUN.table()
    each = [one for region in RESULTS.regions for one in region.at_each_size]
    asked = [row for region in each for row in region.rows if row.reason != NO_TARGET]
    assert len(table) >= len(asked)
    (row,) = (r for r in table if (r["function"], r["variant"]) == (FIRST.function, "openmp"))
    assert row["time_s"] == 0.01402
    assert row["status"] == "measured"
    assert row["size.h1u"] == 16
    assert row["config.S0.block"] == "h2,p6"
    assert (row["device"], row["verified"]) == (CPU, True)


def test_every_trial_is_listed() -> None:
    trials = [one for one in RUN.trials() if one["function"] == FIRST.function]
    assert len(trials) == len(FIRST.trials)
    assert [one["final_s"] for one in trials[:3]] == [0.01402, 0.0141, None]
    assert trials[7]["reason"] == HOSTILE
    assert trials[0]["config.UF"] == 8


def test_it_is_told_in_a_few_lines() -> None:
    text = repr(RUN)
    assert text.startswith(f"<annotune results of {RESULTS.source}>\n")
    assert f"{FIRST.function}" in text
    assert len(text.splitlines()) == 2 + sum(len(r.at_each_size) for r in RESULTS.regions)


class _Tags(HTMLParser):
    """Collects the tags of a text, each of which is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_notebook_shows_the_answer_and_the_tables_of_the_page() -> None:
    shown, page = RUN._repr_html_(), report_html(RESULTS)
    found = _Tags(shown)
    assert not found.open
    assert found.seen.count("table") == sum(len(r.at_each_size) for r in RESULTS.regions)
    assert not {"script", "html", "body"} & {*found.seen}
    for cell in re.findall(r'<t[hd][ >].*?</t[hd]>|<p class="answer">.*?</p>', shown):
        assert cell in page
    assert HOSTILE not in shown


def test_data_frames_have_these_rows() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = RUN.to_pandas()
    assert len(frame) == len(RUN.table())
    best = frame[(frame.function == FIRST.function) & (frame.variant == "openmp")]
    assert best.time_s.iloc[0] == 0.01402
    trials = RUN.to_pandas("trials")
    assert isinstance(trials, pandas.DataFrame)
    assert (trials[trials.target == "openmp"].status == "correct").sum() >= 3


def test_trials_are_a_grid_over_the_axes() -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    grid = RUN.to_xarray("openmp")
    assert dict(grid.sizes) == {"UF": 5, "S0.block": 2, "S0.thread": 2, "S0.unroll_h7": 2}
    assert grid.UF.values.tolist() == [2, 4, 8, 16, 32]
    assert grid.time_s.attrs == {"units": "s"}
    assert float(grid.time_s.sel(BLOCK)) == 0.01402
    tried = {"S0.block": "", "S0.thread": "", "S0.unroll_h7": ""}
    assert isnan(float(grid.time_s.sel(UF=16, **tried)))
    assert str(grid.status.sel(UF=16, **tried).values) == "compile"
    assert grid.attrs["target"] == "openmp"
    with pytest.raises(ValueError, match="no trial is of 'opnmp'; there are some of openmp"):
        RUN.to_xarray("opnmp")


def test_a_grid_keeps_the_fastest_trial_of_a_point_and_what_never_varies() -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    one = FIRST.trials[0]
    config = {"UF": 1, "flags": "-O2"}
    times = (0.3, 0.1, None, 0.2)
    trials = (
        *(replace(one, config=config, time_s=t) for t in times),
        replace(one, config=config, time_s=0.01, is_predicted=True),
        replace(one, config={**config, "UF": 2}),
    )
    grid = RunResults.of(replace(RESULTS, regions=(replace(FIRST, trials=trials),))).to_xarray(
        "openmp"
    )
    assert grid.time_s.values.tolist() == [0.1, one.time_s]
    assert (grid.attrs["flags"], grid.attrs["size.h1u"]) == ("-O2", 16)


def test_a_grid_that_memory_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    monkeypatch.setattr(views, "MOST_POINTS", 39)
    with pytest.raises(ValueError, match="the grid has 40 points"):
        RUN.to_xarray("openmp")


@pytest.mark.parametrize("package", ["pandas", "xarray"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    view = RUN.to_pandas if package == "pandas" else lambda: RUN.to_xarray("openmp")
    with pytest.raises(ImportError, match=re.escape("pip install 'annotune[notebook]'")):
        view()


TEXT = """\
void f(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 400; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = 2 * a[i];
    /*@ end @*/
}
"""


def test_what_check_and_emit_give_is_told_in_a_line() -> None:
    found = annotune.check(TEXT)
    assert repr(found) == "<annotune check of source.c: 1 regions, accepted>"
    assert "tile(0" in str(found) or "cuda(0" in str(found)
    made = annotune.emit(TEXT, target="openmp")
    assert repr(made) == "<annotune emission of source.c: _omp.c>"
