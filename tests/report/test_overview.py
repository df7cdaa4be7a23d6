"""What the page begins with: the headline, a line for each region, what concerns all of them."""

from __future__ import annotations

from dataclasses import replace

from sample_run import CPU, GPU, RUN, SD_T_D2

from annotune.report.answer import headline
from annotune.report.html import report_html
from annotune.report.overview import notes_of, overview
from annotune.report.summary import merged, provenance_text
from annotune.tuning.bench import BUSY_WORDS
from annotune.tuning.proving import no_time_words
from annotune.tuning.results import NO_TARGET, RegionResult, Results, Row, RowStatus

ORIGINAL = Row("sequential", RowStatus.MEASURED, CPU, 1.0, 0.01)
TUNED = Row("openmp", RowStatus.MEASURED, CPU, 0.25, 0.01, verified=True)
PREDICTED = Row("cuda", RowStatus.PREDICTED, GPU, 1e-3, verified=True)
LATE = no_time_words("where arrays share memory")
BASE = replace(
    RUN,
    files=("f_omp.c", "f.cu", "f_cuda.c", "results.json"),
    commands={
        "openmp": ("gcc -O3 main.c f_omp.c -lm",),
        "cuda": ("nvcc main.c f.cu f_cuda.c",),
    },
    warnings=(),
)


def region(*rows: Row) -> RegionResult:
    return replace(SD_T_D2, rows=rows, by_size=(), copies=(), models=())


def run(*regions: RegionResult, **more: tuple[str, ...]) -> Results:
    return replace(BASE, regions=regions, **more)  # type: ignore[arg-type]


def test_the_headline_says_what_is_won_and_what_to_link() -> None:
    assert headline(run(region(ORIGINAL, TUNED))) == (
        "4.0 times faster than sequential; link f_omp.c"
    )


def test_a_small_gain_is_told_finely() -> None:
    slow = replace(TUNED, time_s=0.96, spread_s=0.0)
    assert headline(run(region(ORIGINAL, slow))).startswith("1.04 times faster")


def test_regions_with_unlike_gains_are_told_from_the_least_to_the_most() -> None:
    faster, tie = replace(TUNED, time_s=0.02), replace(TUNED, time_s=0.999)
    found = run(*(region(ORIGINAL, row) for row in (TUNED, faster, tie)))
    assert headline(found).startswith("4.0 to 50 times faster than sequential in 2 of 3 regions; ")


def test_the_files_are_those_of_the_target_that_wins_the_most_regions() -> None:
    on_gpu = replace(TUNED, name="cuda", device=GPU)
    found = run(region(ORIGINAL, TUNED), region(ORIGINAL, on_gpu), region(ORIGINAL, on_gpu))
    assert headline(found) == (
        "4.0 times faster than sequential in 2 of 3 regions; link f.cu and f_cuda.c"
    )


def test_what_is_predicted_is_no_gain() -> None:
    assert headline(run(region(ORIGINAL, PREDICTED))) == (
        "No tuned variant was measured to be faster than the untuned ones; "
        "tuned CUDA is predicted, never measured; link f.cu and f_cuda.c"
    )
    slow = replace(TUNED, time_s=2.0)
    assert headline(run(region(ORIGINAL, slow))) == (
        "No tuned variant is faster than the untuned ones"
    )


def test_a_tie_is_linked_and_no_gain() -> None:
    tie = replace(TUNED, time_s=0.999)
    assert headline(run(region(ORIGINAL, tie))) == (
        "No tuned variant is clearly faster than the untuned ones; link f_omp.c"
    )


def test_measured_and_predicted_times_have_columns_of_their_own() -> None:
    (row,) = overview(run(region(ORIGINAL, TUNED, PREDICTED)))
    assert row.cells == {
        "sequential": "1.00 s",
        "tuned and measured": "tuned OpenMP 250 ms",
        "speed-up": "4.00x",
        "predicted, never measured": f"tuned CUDA (~1.00 ms) on {GPU}",
        "what came of it": "tuned OpenMP wins",
    }


def test_a_column_that_is_empty_everywhere_is_left_out() -> None:
    rows = overview(run(region(ORIGINAL), region(ORIGINAL, TUNED)))
    assert ["predicted, never measured" in row.cells for row in rows] == [False, False]
    assert rows[0].cells["speed-up"] == "-"
    assert rows[0].cells["what came of it"] == "no tuned variant was measured"


def test_the_overview_tells_ties_and_losses() -> None:
    tie, loss = replace(TUNED, time_s=0.999), replace(TUNED, time_s=2.0)
    found = overview(run(*(region(ORIGINAL, row) for row in (tie, loss))))
    assert [row.cells["what came of it"] for row in found] == [
        "not distinguishable from sequential",
        "sequential is faster",
    ]


def test_what_concerns_several_targets_or_regions_is_one_warning() -> None:
    busy = [f"{BUSY_WORDS}: tasks waited in {share}%" for share in (30, 100, 60)]
    assert merged(("cuda: late", "openmp: late", *busy, "x")) == (
        f"{BUSY_WORDS}, in 3 searches; in the worst of them: tasks waited in 100%",
        "cuda, openmp: late",
        "x",
    )
    assert merged(busy[:1]) == tuple(busy[:1])


def test_a_row_refers_to_the_warning_that_has_its_reason() -> None:
    late = [replace(row, reason=LATE) for row in (TUNED, PREDICTED)]
    found = run(region(ORIGINAL, *late), warnings=(f"openmp: {LATE}; more", f"cuda: {LATE}; more"))
    notes = notes_of(found)
    assert notes.texts == (f"openmp, cuda: {LATE}; more",)
    told = notes.told(found.regions[0])
    assert [row.reason for row in told.rows] == ["", "see note 1 above", "see note 1 above"]


def test_why_a_row_is_absent_from_all_regions_is_said_once() -> None:
    absent = Row("openacc", RowStatus.UNAVAILABLE, reason="there is no GPU")
    unasked = replace(absent, name="cuda", reason=NO_TARGET)
    found = run(region(ORIGINAL, absent, unasked), region(absent, TUNED, unasked))
    notes = notes_of(found)
    assert "tuned OpenACC: not available because there is no GPU" in notes.texts
    number = notes.texts.index("tuned OpenACC: not available because there is no GPU") + 1
    told = notes.told(found.regions[0]).rows[1]
    assert provenance_text(told) == f"not available because of note {number} above"
    assert not any(NO_TARGET in text for text in notes.texts)


def test_a_run_without_a_region_has_a_page() -> None:
    assert "<h1>No tuned variant" in report_html(run())


def test_what_concerns_one_region_stays_there() -> None:
    absent = Row("openacc", RowStatus.UNAVAILABLE, reason="its loops are serial")
    found = run(region(absent, TUNED), region(TUNED, replace(absent, reason="another")))
    assert not any("serial" in text for text in notes_of(found).texts)
    alone = run(region(absent))
    assert notes_of(alone).told(alone.regions[0]).rows == (absent,)
