"""What the page says of a search: marks stand where they should, and gaps have their reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_run import CPU, GPU, RUN, SD_T_D2
from searched_run import LONG

from annotune.measure.trial import EARLIER_RUN, Final, Status, Trial, Verdict
from annotune.report.html import (
    CaptionedPlot,
    bar_of,
    convergence_words,
    search_words,
    sorting_group,
)
from annotune.report.plots import (
    BOTTOM,
    FAILED_Y,
    LEFT,
    MOST_TICKS,
    RIGHT,
    TOP,
    SearchLine,
    SearchPlot,
    convergence,
    course,
    courses,
    linear_axis,
    scatter,
    time_axis,
)
from annotune.tuning.results import (
    KernelModel,
    RegionResult,
    Row,
    RowStatus,
    TargetModel,
    agreement,
)

times = st.none() | st.floats(0, allow_nan=False) | st.floats(1e-6, 1e-3)
trials = st.builds(
    Trial,
    st.just("cuda"),
    st.just({}),
    st.sampled_from(Status),
    times,
    is_predicted=st.booleans(),
    device=st.sampled_from((CPU, GPU)),
    reused=st.booleans(),
    predicted_s=times,
    at_s=st.floats(0, 1e9),
)


def region(*found: Trial, rows: tuple[Row, ...] = ()) -> RegionResult:
    return replace(SD_T_D2, trials=found, searches=(), rows=rows)


def right(time_s: float, **more: Any) -> Trial:
    return Trial("cuda", {}, Status.CORRECT, time_s, **{"device": GPU, **more})


def corners(line: SearchLine) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in line.line.split())
    return [(float(x), float(y)) for x, y in pairs]


def plots_of(one: RegionResult) -> list[SearchPlot]:
    shown = courses(one)
    found = [figure.plot for figure in search_words(one, "cuda").figures]
    return [convergence(one, shown), *found] if shown else found


@settings(deadline=None)
@given(st.lists(trials, max_size=8))
def test_marks_stand_inside_their_plots(found: list[Trial]) -> None:
    row = Row("cuda", RowStatus.MEASURED, GPU, 1e-4, verified=True)
    one = region(*found, rows=(row,))
    for plot in plots_of(one):
        for line in plot.lines:
            for dot in (*line.dots, *([line.mark] if line.mark else [])):
                assert LEFT <= dot.x <= RIGHT
                assert TOP <= dot.y <= BOTTOM
            assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in corners(line))
        assert all(LEFT <= dot.x <= RIGHT and dot.y == FAILED_Y for dot in plot.failed)
    seen = course(one, "cuda")
    assert len(seen.right) + sum(t.status is not Status.CORRECT for t in found) == len(seen.trials)


@given(st.lists(st.floats(1e-9, 10), min_size=2, max_size=30))
def test_the_line_falls_to_the_best(seconds: list[float]) -> None:
    one = region(*(right(s) for s in seconds))
    (line,) = convergence(one, courses(one)).lines
    heights = [y for _, y in corners(line)]
    # SVG counts from the top.
    assert heights == sorted(heights)
    assert heights[-1] == max(dot.y for dot in line.dots)
    assert [x for x, _ in corners(line)] == sorted(x for x, _ in corners(line))
    assert line.mark is None


def test_predicted_times_are_not_drawn_among_measured_ones() -> None:
    guess = replace(right(1e-9), is_predicted=True)
    one = region(guess, right(2e-3), right(1e-3))
    assert [n for n, _ in course(one, "cuda").trials] == [2, 3]
    shown = convergence_words(one)
    assert isinstance(shown, CaptionedPlot)
    assert shown.plot.kind == "measured"
    assert "1.00 ms in the end" in shown.keys[0]
    alone = region(guess, guess)
    assert convergence(alone, courses(alone)).y.title == "predicted time"
    other = [replace(t, target="openmp", is_predicted=False, device=CPU) for t in (guess, guess)]
    (only,) = courses(region(guess, guess, *other))
    assert (only.target, only.kind) == ("openmp", "measured")


def test_a_region_has_one_plot_for_all_targets_that_were_measured() -> None:
    shown = convergence_words(LONG)
    assert isinstance(shown, CaptionedPlot)
    assert [line.name for line in shown.plot.lines] == ["tuned OpenMP", "tuned CUDA"]
    assert len(shown.keys) == 2
    # Each has the bound of its own device.
    assert shown.plot.least_y is None


def test_predictions_from_unlike_facts_are_not_drawn_together() -> None:
    kernel = KernelModel((0,), 1e-5, "device memory", 32, True, 1e-6, None, "none")
    rows = tuple(
        Row(name, RowStatus.PREDICTED, GPU, 1e-4, verified=True) for name in ("cuda", "openacc")
    )
    guess = replace(right(1e-4), is_predicted=True)
    found = (guess, guess, *(replace(guess, target="openacc") for _ in range(2)))
    one = region(*found, rows=rows)
    alike = replace(one, models=())
    unlike = replace(one, models=(TargetModel("cuda", GPU, (kernel,), 1e-3),))
    # Nor are they sorted together in the table of trials.
    assert [sorting_group(unlike, trial) for trial in (right(1.0), *found)] == [0, 1, 1, 2, 2]
    assert [sorting_group(alike, trial) for trial in found] == [1, 1, 1, 1]
    assert [c.target for c in courses(alike)] == ["openacc", "cuda"]
    assert [c.target for c in courses(unlike)] == ["cuda"]


def test_the_best_of_the_plot_is_the_tables_or_it_says_why_not() -> None:
    row = Row("cuda", RowStatus.MEASURED, GPU, 1e-3, verified=True)
    final = Final(Verdict.WINNER, 3e-3, 3e-3, 3e-3, 1.0, 1.0, 1.0, (3e-3, 3e-3))
    again = replace(row, time_s=3e-3, final=final)
    absent = replace(row, status=RowStatus.UNAVAILABLE, time_s=None)
    for own, words, has_mark in (
        (row, "1.00 ms in the end, the time in the table", False),
        (again, "3.00 ms when timed again in the finals, as the table has it", True),
        (replace(row, time_s=2e-3), "while the table has 2.00 ms of the variant that was", True),
        (absent, "1.00 ms in the end, while the table has no such time", False),
    ):
        shown = convergence_words(region(right(2e-3), right(1e-3), rows=(own,)))
        assert isinstance(shown, CaptionedPlot)
        assert words in shown.keys[0]
        (line,) = shown.plot.lines
        assert (line.mark is not None) == has_mark
        if line.mark is not None:
            assert line.mark.y == shown.plot.y.at(own.time_s or 0.0)


def test_devices_are_not_mixed() -> None:
    other = replace(right(1e-9), device="another GPU")
    one = region(right(2e-3), other, right(1e-3))
    assert [n for n, _ in course(one, "cuda").trials] == [1, 3]
    shown = convergence_words(one)
    assert isinstance(shown, CaptionedPlot)
    assert "6.3% of the roofline" in shown.keys[0]
    assert shown.keys[0].endswith(f", on {GPU} alone, without 1 on others")


def least_of(*seconds: float) -> tuple[float | None, str]:
    """Return where the bound stands in the plot of these times, and what is said of it."""
    shown = convergence_words(region(*map(right, seconds)))
    assert isinstance(shown, CaptionedPlot)
    return shown.plot.least_y, shown.keys[0]


def test_the_roofline_is_drawn_where_it_is_near() -> None:
    # The sample's bytes over the sample's bandwidth are 62.7 µs.
    near, said = least_of(1e-4, 2e-4)
    assert near is not None
    assert "63% of the roofline, whose least time is 62.7 µs (dashed)" in said
    far, said = least_of(1e-2, 2e-2)
    assert far is None
    assert "whose least time is 62.7 µs (not drawn)" in said


def test_the_model_is_drawn_for_the_pairs_of_its_correlation() -> None:
    plot = scatter(LONG, "cuda")
    assert plot is not None
    found = agreement("cuda", LONG.trials)
    assert len(plot.lines[0].dots) == found.pairs == 55
    captions = [figure.caption for figure in search_words(LONG, "cuda").figures]
    assert any(f"rank correlation {found.correlation:.3f} over 55 trials" in c for c in captions)


def test_one_program_counts_once_but_an_earlier_run_counts() -> None:
    twice = replace(right(1e-3, predicted_s=1e-3), reused=True)
    earlier = replace(twice, facts={"reused": EARLIER_RUN})
    for one, pairs in ((twice, 0), (earlier, 1)):
        plot = scatter(region(one), "cuda")
        assert (len(plot.lines[0].dots) if plot else 0) == pairs
        assert agreement("cuda", [one]).pairs == pairs


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((right(1.0), right(2.0)), "Model against measurement: not available because no model"),
        ((right(1.0), right(2.0)), "Importance of parameters: not available because that takes 20"),
        ((right(1.0),), "How it was searched: not available because the run did not record it."),
    ],
)
def test_what_is_missing_has_its_reason(found: tuple[Trial, ...], words: str) -> None:
    assert words in " ".join(search_words(region(*found), "cuda").missing)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((), "no right variant has a time"),
        ((right(1.0),), "each target had one trial with a time"),
    ],
)
def test_a_region_without_a_course_says_why(found: tuple[Trial, ...], words: str) -> None:
    assert convergence_words(region(*found)) == f"Convergence: not available because {words}."


def test_no_share_is_told_in_digits_that_mean_nothing() -> None:
    for share, words in ((1.3e-17, "< 1%"), (0.0099, "< 1%"), (0.01, "1%"), (0.123, "12%")):
        assert bar_of("UF", share).label == words


def test_how_it_was_searched() -> None:
    facts = dict(search_words(RUN.regions[0], "openmp").facts)
    assert facts == {
        "search": "gp, seed 7",
        "budget": "5 of 4536 legal points",
        "evaluated": "5 points in 64.2 s",
        "duplicates": "1 point with the program of another, not run again",
        "reused": "0 points known from an earlier run",
        "inert": "S0.unroll_h7: no program depends on it",
    }


def test_a_budget_beyond_the_space_is_enough() -> None:
    facts = dict(search_words(RUN.regions[0], "cuda").facts)
    assert facts["budget"] == "100, enough for 3 points, which are all legal ones"
    assert facts["reused"] == "0 points known from an earlier run"
    assert facts["inert"] == "no parameter"


def test_names_of_parameters_are_shortened_and_kept() -> None:
    name = "a parameter with a name that goes on and on"
    made = [Trial("cuda", {name: n // 8}, Status.CORRECT, 2.0 ** (n // 8)) for n in range(40)]
    (bar,) = search_words(region(*made), "cuda").bars
    assert (len(bar.name), bar.name[-1], bar.title) == (22, "…", name)


@given(st.floats(1e-12, 1e12), st.floats(1.001, 1e6), st.booleans())
def test_axes_have_round_ticks_inside_and_not_too_many(
    low: float, ratio: float, is_log: bool
) -> None:
    values = [low, low * ratio]
    axis = time_axis(values, 0, 100) if is_log else linear_axis(values, 0, 100)
    assert all(0 <= axis.at(value) <= 100 for value in values)
    ticks = replace(axis, label="{:.9g}".format).ticks()
    assert len({tick.label for tick in ticks}) == len(ticks)
    assert 2 <= len(ticks) <= MOST_TICKS + 1
    assert all(0 <= tick.at <= 100 for tick in ticks)


@given(st.integers(1, 5))
def test_counts_have_whole_ticks(count: int) -> None:
    ticks = linear_axis(range(1, count + 1), 0, 100, is_count=True).ticks()
    assert all(tick.label.lstrip("-").isdigit() for tick in ticks)
