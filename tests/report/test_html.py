"""The page of a run: well-formed, alone in the world, and texts stay texts."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import COPY, CPU, CUDA_TEXT, GPU, HOSTILE, RUN, SD_T_D2
from searched_run import SEARCHED
from support.laws import tried

from annotune.measure.trial import Status, Trial
from annotune.printable import one_line
from annotune.report.answer import answer_of, headline
from annotune.report.html import highlight, report_html
from annotune.report.plots import (
    BAR_LENGTH,
    PLOT_HEIGHT,
    PLOT_LEFT,
    PLOT_TOP,
    PLOT_WIDTH,
    bars,
    charts,
    roofline_plot,
)
from annotune.report.summary import PEOPLE_SAY, heading
from annotune.tuning.results import (
    NO_TARGET,
    ROW_NAMES,
    KernelModel,
    Results,
    Row,
    RowStatus,
    Searched,
    TargetModel,
)

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """A page as lists of what stands in it; an element closed out of turn fails the test."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.counts: dict[str, int] = {}
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.styles = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), tag
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.styles += data
        else:
            self.text += data


def is_alone(page: Page) -> bool:
    """Return whether the page names nothing outside itself."""
    tags = {"link", "img", "iframe", "object", "embed", "base", "form", "video", "audio"}
    names = {"src", "href", "srcset", "action", "data", "poster", "xlink:href", "style"}
    refers = any(
        name in names or name.startswith("on") or "://" in value
        for tag, name, value in page.attributes
        # What a link leads to is a part of the page itself.
        if (tag, name, value[:1]) != ("a", "href", "#")
    )
    return not (tags & page.counts.keys() or refers or re.search(r"url\(|@import|://", page.styles))


def test_it_begins_with_the_headline_and_a_line_that_leads_to_each_region() -> None:
    page = Page(report_html(RUN))
    assert page.text.index(headline(RUN)) < page.text.index("what came of it")
    lines = [page.text.index(heading(region)) for region in RUN.regions]
    assert page.text.index("what came of it") < lines[0] < lines[1]
    assert lines[1] < page.text.index("Warnings") < page.text.index("where the figures come from")
    leads_to = {value[1:] for tag, name, value in page.attributes if (tag, name) == ("a", "href")}
    parts = {value for tag, name, value in page.attributes if (tag, name) == ("section", "id")}
    assert leads_to == parts == {"region-1", "region-2"}


def test_a_region_begins_with_what_won_and_how_it_is_linked() -> None:
    text = Page(report_html(RUN)).text
    (command,) = RUN.commands["openmp"]
    for region in RUN.regions:
        assert one_line(answer_of(region).said) in text
    assert text.index(answer_of(SD_T_D2).said) < text.index(command)


def test_a_target_not_asked_for_has_no_row() -> None:
    absent = Row("openacc", RowStatus.UNAVAILABLE, reason=NO_TARGET)
    rows = [absent if row.name == "openacc" else row for row in SD_T_D2.rows]
    page = report_html(replace(RUN, regions=(replace(SD_T_D2, rows=tuple(rows)),)))
    assert '<th scope="row">tuned CUDA</th>' in page
    assert '<th scope="row">tuned OpenACC</th>' not in page


@pytest.mark.alike(2)
@pytest.mark.parametrize("run", [RUN, SEARCHED], ids=["sample", "searched"])
def test_it_is_well_formed_and_alone(run: Results) -> None:
    page = Page(report_html(run))
    assert is_alone(page)
    assert page.counts["script"] == 1
    policy = next(v for _, n, v in page.attributes if n == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none'")


def test_everything_is_there() -> None:
    text = " ".join(Page(report_html(RUN)).text.split())
    table = text.index("where the figures come from")
    places = [text.index(PEOPLE_SAY[name], table) for name in ROW_NAMES]
    assert places == sorted(places)
    for words in (
        "not available because no compiler here makes GPU code of OpenACC",
        "predicted for NVIDIA H200; not verified: at h3u=17",
        "(~412 µs)",
        "14.0 ± 0.3 ms",
        "(~ ) is predicted by the model",
        "9 trials: 4 correct, 5 failed",
        "Search of tuned OpenMP search gp, seed 7 budget 5 of 4536 legal points",
        "Convergence. Lines: the best measured time so far; crosses: 2 failed trials.",
        "tuned OpenMP: 14.0 ms in the end, the time in the table, 38% of the roofline, whose least",
        "5.39 ms (dashed)",
        "Model against measurement: not available because no model predicts it.",
        "measured on AMD EPYC 9534, 8 threads (3 runs)",
        "2.50 s410 ms + 1.20 s",
        "Model of tuned CUDA predicted for NVIDIA H200: (~92.1 µs), (~27.0 ms) with copies",
        "(~80.1 µs) device memory 165, ptxas 62.7 µs, 78% of the prediction not available because",
        "(~12.0 µs) L2 68, estimated 4.00 µs, 33% of the prediction 5.90 µs, 49%",
        "rank correlation of predictions and measurements: -0.731; 12 trials, mean error 1.16x",
        "rank correlation not available because no trial was measured",
        "divides: 16 % 3 is not 0",
        "gcc (Debian 12.2.0-14) 12.2.0",
        "the entry guards against overlap",
        "Not shown here: sd_t_d2_omp.c, results.json",
        one_line(HOSTILE),
        " ".join(CUDA_TEXT.split()),
    ):
        assert words in text


def test_both_grids_of_openacc_stand_below_the_table_and_beside_the_trial() -> None:
    text = Page(report_html(RUN)).text
    assert (
        "gangs x workers x lanes: asked for 4096 x 1 x 256; chosen: not available because" in text
    )
    assert "grid_asked=4096 x 1 x 256, grid_chosen=not available because" in text


def test_a_run_without_prediction_has_no_legend_of_it() -> None:
    assert "(~" not in Page(report_html(replace(RUN, regions=(COPY,)))).text


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "]]>"])
def test_texts_stay_texts_wherever_they_stand(hostile: str) -> None:
    row = replace(SD_T_D2.rows[3], device=hostile, config={hostile: hostile})
    gone = Row("cuda", RowStatus.UNAVAILABLE, reason=hostile)
    trial = Trial(
        hostile,
        {hostile: hostile},
        Status.CORRECT,
        1.0,
        device=hostile,
        reason=f"{hostile}\n{hostile}",
        facts={hostile: hostile},
    )
    roofs = {hostile: next(iter(SD_T_D2.roofs.values()))}
    region = replace(
        SD_T_D2,
        function=hostile,
        sizes={hostile: 1},
        rows=(row, gone),
        trials=(trial,),
        roofs=roofs,
        searches=(Searched("cuda", hostile, 1, 2, 3, 4, inert=(hostile,)),),
    )
    run = Results(
        hostile,
        hostile,
        hostile,
        (region,),
        {hostile: hostile},
        (hostile, "S.c"),
        (hostile,),
        {hostile: hostile, "S.c": hostile},
    )
    page = Page(report_html(run))
    assert is_alone(page)
    assert page.counts["script"] == 1
    assert page.text.count(hostile) >= 20


@tried(100)
@given(st.text(st.characters() | st.sampled_from("\n\r\t/*'\"\\#<>&\x1b\udcff"), max_size=60))
def test_highlighting_keeps_every_character(text: str) -> None:
    page = Page(f"<pre>{highlight(text)}</pre>")
    assert page.counts.keys() <= {"pre", "span"}
    shown = page.text
    assert len(shown) == len(text.replace("\r\n", "\n"))
    assert all(a in (b, "\ufffd") for a, b in zip(shown, text.replace("\r\n", "\n"), strict=True))


def test_highlighting() -> None:
    for number in ("7", "0x1e", "1e-9", "2.5E+3f", "1.0"):
        assert highlight(f"{number}-n") == f'<span class="n">{number}</span>-n'
    assert highlight('#pragma acc loop\nfor (i = 0; /* x */ s[""]') == (
        '<span class="p">#pragma acc loop</span>\n<span class="k">for</span> (i = '
        '<span class="n">0</span>; <span class="c">/* x */</span> s['
        '<span class="s">&#34;&#34;</span>]'
    )


def test_the_page_can_be_written_as_utf8() -> None:
    report_html(replace(RUN, source="\udcff.c", files=("\udcff.c",), texts={"\udcff.c": "\udcff"}))
    assert report_html(RUN).encode("utf-8")


times = st.none() | st.floats(0, allow_nan=False)


@given(time=times, gflops=times, flop=st.integers(0, 10**20), size=st.integers(0, 10**20))
def test_marks_stay_inside_their_charts(
    time: float | None, gflops: float | None, flop: int, size: int
) -> None:
    row = Row("cuda", RowStatus.MEASURED, CPU, time, gflops=gflops)
    region = replace(SD_T_D2, rows=(SD_T_D2.rows[0], row), flop=flop, bytes=size)
    assert all(0 < bar.length <= BAR_LENGTH for bar in bars(region.rows))
    plot = roofline_plot(region, region.rows)
    assert (plot is None) == (flop == 0 or size == 0)
    for point in plot.points if plot else ():
        assert PLOT_LEFT <= point.x <= PLOT_LEFT + PLOT_WIDTH
        assert PLOT_TOP <= point.y <= PLOT_TOP + PLOT_HEIGHT


def test_bars_are_as_long_as_rows_are_fast() -> None:
    found = {bar.name: bar.length for bar in bars(SD_T_D2.rows)}
    assert found["tuned CUDA"] == BAR_LENGTH
    assert found["tuned OpenACC"] == pytest.approx(BAR_LENGTH * 92.1 / 412)
    assert "OpenACC as written" not in found


def test_one_row_is_compared_with_none() -> None:
    assert bars(SD_T_D2.rows[:1]) == ()


def test_measured_and_predicted_rows_have_charts_of_their_own() -> None:
    measured, predicted = charts(SD_T_D2)
    assert (measured.name, predicted.name) == (
        "Measured",
        f"Predicted for {GPU} by estimated registers",
    )
    assert {bar.kind for bar in measured.bars} == {"measured"}
    assert [bar.name for bar in predicted.bars] == ["tuned OpenACC", "tuned CUDA"]
    assert max(bar.length for bar in predicted.bars) == BAR_LENGTH
    for one, device in ((measured, CPU), (predicted, GPU)):
        assert one.roofline is not None
        assert [roof.label.split(":")[0] for roof in one.roofline.roofs] == [device]


def test_predictions_from_unlike_facts_have_charts_of_their_own() -> None:
    kernel = KernelModel((0,), 1e-5, "device memory", 32, True, 1e-6, None, "none")
    by_ptxas = replace(SD_T_D2, models=(TargetModel("cuda", GPU, (kernel,), 1e-3),))
    _, first, second = charts(by_ptxas)
    assert first.name == f"Predicted for {GPU} by ptxas's registers"
    assert second.name == f"Predicted for {GPU} by estimated registers"
    # One row alone is compared with none.
    assert (first.bars, second.bars) == ((), ())
    for one, name in ((first, "tuned CUDA"), (second, "tuned OpenACC")):
        assert one.roofline is not None
        assert [point.label for point in one.roofline.points] == [name]


def test_the_finals_are_told_with_their_interval() -> None:
    page = report_html(RUN)
    assert "finals of tuned OpenMP: 14.0 ms (99% interval 13.9 ms to 14.1 ms)" in page
    assert "a statistical tie with: UF=4, 1.005x (0.991x to 1.020x)" in page
    assert "final 14.1 ms, statistical tie, 1.005x" in page
