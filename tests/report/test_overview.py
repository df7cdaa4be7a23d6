"""What the page begins with: the headline, a line for each region, what concerns all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_run import CPU, GPU, RUN, SD_T_D2, beside

from annotune.report.answer import headline
from annotune.report.html import report_html
from annotune.report.overview import notes_of, overview
from annotune.report.summary import merged, provenance_text
from annotune.tuning.bench import BUSY_WORDS
from annotune.tuning.proving import no_time_words
from annotune.tuning.results import NO_TARGET, RegionResult, Results, Row, RowStatus
from annotune.tuning.verdict import compare, compare_with_estimate

ORIGINAL = Row("sequential", RowStatus.MEASURED, CPU, 1.0, 0.01)


def tuned(time_s: float, name: str = "openmp", device: str = CPU) -> Row:
    """Return a row of a variant that was timed in turns with the original."""
    known = {"verified": True, "comparisons": beside(time_s, 1.0)}
    return Row(name, RowStatus.MEASURED, device, time_s, 0.01, **known)


TUNED = tuned(0.25)
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


def run(*regions: RegionResult, **more: object) -> Results:
    return replace(BASE, regions=regions, **more)  # type: ignore[arg-type]


def test_the_headline_says_what_is_won_and_what_to_link() -> None:
    assert headline(run(region(ORIGINAL, TUNED))) == (
        "Tuned OpenMP wins: 4.0 times as fast as the original; link f_omp.c"
    )


def test_a_small_gain_is_told_finely() -> None:
    found = headline(run(region(ORIGINAL, tuned(0.96))))
    assert found.startswith("Tuned OpenMP wins: 1.04 times as fast")


def test_regions_with_unlike_gains_are_told_from_the_least_to_the_most() -> None:
    found = run(*(region(ORIGINAL, row) for row in (TUNED, tuned(0.02), tuned(0.999))))
    said = "Tuned OpenMP wins: 4.0 to 50 times as fast as the original in 2 of 3 regions; "
    assert headline(found).startswith(said)


def test_the_files_are_those_of_the_target_that_wins_the_most_regions() -> None:
    on_gpu = replace(TUNED, name="cuda", device=GPU)
    found = run(region(ORIGINAL, TUNED), region(ORIGINAL, on_gpu), region(ORIGINAL, on_gpu))
    assert headline(found) == (
        "Tuned CUDA wins: 4.0 times as fast as the original in 2 of 3 regions; "
        "link f.cu and f_cuda.c"
    )


def test_faster_than_the_original_is_no_win_where_directives_are_as_fast() -> None:
    tie = {**TUNED.comparisons, **beside(0.25, 0.251, "openmp_naive")}
    assert headline(run(region(ORIGINAL, replace(TUNED, comparisons=tie)))) == (
        "Tuned OpenMP is 4.0 times as fast as the original; link f_omp.c"
    )


def test_an_estimated_original_gives_an_estimated_gain() -> None:
    first = replace(ORIGINAL, status=RowStatus.PREDICTED, reason="estimated from n=100")
    own = {"sequential": compare_with_estimate((0.25,) * 12, 3.0)}
    found = run(region(first, replace(TUNED, comparisons=own)))
    assert headline(found) == (
        "Tuned OpenMP wins: ~12 times as fast as the original (original estimated); link f_omp.c"
    )
    (row,) = overview(found)
    assert (row.cells["sequential"], row.cells["speed-up"]) == ("~1.00 s", "~12.0x")


def test_what_is_predicted_is_no_gain() -> None:
    assert headline(run(region(ORIGINAL, PREDICTED))) == (
        "No tuned variant was measured to be faster than the original; "
        "tuned CUDA is predicted, never measured; link f.cu and f_cuda.c"
    )


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (tuned(2.0), "No winner: tuned OpenMP is slower than the original, so keep S.c for speed"),
        (tuned(0.999), "No winner: tuned OpenMP is a statistical tie with the original"),
        (
            replace(TUNED, comparisons={"sequential": compare((0.1, 0.3) * 6, (1.0,) * 12)}),
            "No verdict: the times are too noisy, rerun on an idle machine",
        ),
        (
            replace(TUNED, comparisons={"sequential": compare((0.25,) * 12, (1.0,))}),
            "No verdict: tuned OpenMP is right, and was not compared with the original",
        ),
        (
            Row("openmp", RowStatus.UNAVAILABLE, verified=True, reason="no time was left"),
            "No verdict: tuned OpenMP is right, and was not timed",
        ),
    ],
)
def test_what_is_written_is_linked_whatever_came_of_it(own: Row, said: str) -> None:
    assert headline(run(region(ORIGINAL, own), source="S.c")) == f"{said}; link f_omp.c"


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
    noisy = replace(TUNED, comparisons={"sequential": compare((0.1, 0.3) * 6, (1.0,) * 12)})
    once = replace(TUNED, comparisons={"sequential": compare((0.25,) * 12, (1.0,))})
    behind = replace(TUNED, comparisons=TUNED.comparisons | beside(0.25, 0.1, "openmp_naive"))
    own = (tuned(0.999), tuned(2.0), noisy, once, behind)
    found = overview(run(*(region(ORIGINAL, row) for row in own)))
    assert [row.cells["what came of it"] for row in found] == [
        "a statistical tie with the original",
        "the original is faster",
        "too noisy to compare with the original",
        "not compared with the original",
        "OpenMP as written is faster",
    ]
    assert [row.cells["speed-up"] for row in found] == ["1.00x", "0.500x", "-", "-", "4.00x"]


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
    assert "<h1>No variant passed its check" in report_html(run())


def test_what_concerns_one_region_stays_there() -> None:
    absent = Row("openacc", RowStatus.UNAVAILABLE, reason="its loops are serial")
    found = run(region(absent, TUNED), region(TUNED, replace(absent, reason="another")))
    assert not any("serial" in text for text in notes_of(found).texts)
    alone = run(region(absent))
    assert notes_of(alone).told(alone.regions[0]).rows == (absent,)
