"""What the page says of a search: marks stand where they should, and gaps have their reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_run import CPU, GPU, RUN, SD_T_D2
from searched_run import LONG

from annotune.measure.trial import EARLIER_RUN, Status, Trial
from annotune.report.html import search_words
from annotune.report.plots import (
    BOTTOM,
    FAILED_Y,
    LEFT,
    MOST_TICKS,
    RIGHT,
    TOP,
    SearchPlot,
    by_evaluation,
    by_seconds,
    course,
    linear_axis,
    scatter,
    time_axis,
)
from annotune.tuning.results import RegionResult, agreement

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


def region(*found: Trial) -> RegionResult:
    return replace(SD_T_D2, trials=found, searches=())


def right(time_s: float, **more: float) -> Trial:
    return Trial("cuda", {}, Status.CORRECT, time_s, device=GPU, **more)  # type: ignore[arg-type]


def corners(plot: SearchPlot) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in plot.line.split())
    return [(float(x), float(y)) for x, y in pairs]


@settings(deadline=None)
@given(st.lists(trials, max_size=8))
def test_marks_stand_inside_their_plots(found: list[Trial]) -> None:
    one = region(*found)
    shown = search_words(one, "cuda")
    for figure in shown.figures:
        for dot in figure.plot.dots:
            assert LEFT <= dot.x <= RIGHT
            assert TOP <= dot.y <= BOTTOM
        assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in corners(figure.plot))
        assert all(LEFT <= dot.x <= RIGHT and dot.y == FAILED_Y for dot in figure.plot.failed)
    seen = course(one, "cuda")
    assert len(seen.right) + sum(t.status is not Status.CORRECT for t in found) == len(seen.trials)


@given(st.lists(st.floats(1e-9, 10), min_size=2, max_size=30))
def test_the_line_falls_to_the_best(seconds: list[float]) -> None:
    found = course(region(*(right(s, at_s=n) for n, s in enumerate(seconds))), "cuda")
    for plot in (by_evaluation(found, None), by_seconds(found, None)):
        heights = [y for _, y in corners(plot)]
        # SVG counts from the top.
        assert heights == sorted(heights)
        assert heights[-1] == max(dot.y for dot in plot.dots)
        assert [x for x, _ in corners(plot)] == sorted(x for x, _ in corners(plot))


def test_trials_that_end_out_of_order_are_drawn_in_that_of_time() -> None:
    found = course(region(right(2e-3, at_s=9.0), right(1e-3, at_s=5.0)), "cuda")
    (left_x, left_y), (_, right_y) = corners(by_seconds(found, None))
    assert (left_x, left_y) == (by_seconds(found, None).dots[0].x, right_y)
    assert "1.00 ms" in by_seconds(found, None).dots[0].title
    assert "trial 2" in by_seconds(found, None).dots[0].title


def test_predicted_times_are_not_drawn_among_measured_ones() -> None:
    guess = replace(right(1e-9), is_predicted=True)
    one = region(guess, right(2e-3), right(1e-3))
    found = course(one, "cuda")
    assert [n for n, _ in found.trials] == [2, 3]
    assert found.kind == by_evaluation(found, None).kind == "measured"
    (figure, *_) = search_words(one, "cuda").figures
    assert "1.00 ms in the end" in figure.caption
    alone = course(region(guess, guess), "cuda")
    assert alone.kind == "predicted"
    assert by_evaluation(alone, None).y.title == "predicted time"


def test_devices_are_not_mixed() -> None:
    other = replace(right(1e-9), device="another GPU")
    one = region(right(2e-3), other, right(1e-3))
    assert [n for n, _ in course(one, "cuda").trials] == [1, 3]
    (figure, *_) = search_words(one, "cuda").figures
    assert "1.00 ms in the end, 6.3% of the roofline" in figure.caption
    assert figure.caption.endswith(f"; on {GPU} alone, without 1 on others.")


def test_the_roofline_is_drawn_where_it_is_near() -> None:
    # The sample's bytes over the sample's bandwidth are 62.7 µs.
    near = search_words(region(right(1e-4), right(2e-4)), "cuda").figures[0]
    assert near.plot.least_y is not None
    assert "63% of the roofline, whose least time is 62.7 µs (dashed)" in near.caption
    far = search_words(region(right(1e-2), right(2e-2)), "cuda").figures[0]
    assert far.plot.least_y is None
    assert "whose least time is 62.7 µs (below this plot)" in far.caption


def test_the_model_is_drawn_for_the_pairs_of_its_correlation() -> None:
    plot = scatter(LONG, "cuda")
    assert plot is not None
    found = agreement("cuda", LONG.trials)
    assert len(plot.dots) == found.pairs == 55
    captions = [figure.caption for figure in search_words(LONG, "cuda").figures]
    assert any(f"rank correlation {found.correlation:.3f} over 55 trials" in c for c in captions)


def test_one_program_counts_once_but_an_earlier_run_counts() -> None:
    twice = replace(right(1e-3, predicted_s=1e-3), reused=True)
    earlier = replace(twice, facts={"reused": EARLIER_RUN})
    for one, pairs in ((twice, 0), (earlier, 1)):
        plot = scatter(region(one), "cuda")
        assert (len(plot.dots) if plot else 0) == pairs
        assert agreement("cuda", [one]).pairs == pairs


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((), "Convergence: not available because no right variant has a time."),
        ((right(1.0),), "Convergence: not available because there was one trial."),
        ((right(1.0), right(2.0)), "the run did not record when each of its trials ended."),
        ((right(1.0), right(2.0)), "Model against measurement: not available because no model"),
        ((right(1.0), right(2.0)), "Importance of parameters: not available because that takes 20"),
        ((right(1.0),), "How it was searched: not available because the run did not record it."),
    ],
)
def test_what_is_missing_has_its_reason(found: tuple[Trial, ...], words: str) -> None:
    assert words in " ".join(search_words(region(*found), "cuda").missing)


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
