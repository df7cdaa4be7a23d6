"""The final table: whole outputs at every width, and figures that keep their digits."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sample_run import CPU, GPU, RUN, SD_T_D2, beside

from annotune.report import figures
from annotune.report.summary import (
    PEOPLE_SAY,
    model_texts,
    provenance_text,
    row_words,
    trials_text,
    winner_texts,
)
from annotune.report.terminal import ResultsTable, results_text
from annotune.tuning.results import (
    ROW_NAMES,
    CopiesCost,
    KernelModel,
    RegionResult,
    Row,
    RowStatus,
    TargetModel,
)


@pytest.mark.parametrize("width", [132, 100, 60])
def test_whole_output(golden: Golden, width: int) -> None:
    golden.check(f"report/table_{width}.txt", results_text(RUN, width))


def test_whole_output_in_ascii(golden: Golden) -> None:
    text = results_text(RUN, is_ascii=True)
    assert text.isascii()
    golden.check("report/table_ascii.txt", text)


@given(width=st.integers(20, 250))
def test_no_width_is_exceeded_or_loses_a_row(width: int) -> None:
    text = results_text(RUN, width)
    assert max(map(len, text.splitlines())) <= width
    joined = re.sub(r"\s+", "", text)
    places = [joined.index(PEOPLE_SAY[name].replace(" ", "")) for name in ROW_NAMES]
    assert places == sorted(places)
    assert "nvcisnotonPATHorunderNVHPC" in joined


def test_a_terminal_gets_no_control_characters_from_a_reason() -> None:
    file = io.StringIO()
    Console(file=file, force_terminal=True, width=140).print(ResultsTable(RUN))
    assert "\x1b[31mred" not in file.getvalue()
    assert "\x07" not in file.getvalue()
    assert "[bold]no[/bold]" in re.sub("\x1b\\[[0-9;]*m", "", file.getvalue())


@given(
    time=st.floats(1e-12, 1e5),
    status=st.sampled_from([RowStatus.MEASURED, RowStatus.PREDICTED]),
)
def test_a_predicted_figure_never_looks_measured(time: float, status: RowStatus) -> None:
    words = row_words(Row("cuda", status, GPU, time, time / 9, 1 / time, time, time, True))
    for figure in words.figures[:-1]:
        assert figure.startswith("(~") == (status is RowStatus.PREDICTED)
    assert words.provenance == f"{'measured on' if status == 'measured' else 'predicted for'} {GPU}"


def test_a_measured_row_tells_its_prediction_too() -> None:
    row = Row("cuda", RowStatus.MEASURED, GPU, 9e-5, 1e-6, verified=True, predicted_s=8e-5)
    words = row_words(replace(row, predicted_for="NVIDIA A100"))
    assert words.figures[0] == "90.0 ± 1.0 µs"
    assert words.provenance == f"measured on {GPU}, predicted for NVIDIA A100: (~80.0 µs)"


def test_an_unavailable_row_shows_no_figure() -> None:
    words = row_words(Row("cuda", RowStatus.UNAVAILABLE, GPU, 1.0, 1.0, 1.0, 1.0, 1.0, True, "Y"))
    assert set(words.figures) == {"-"}
    assert words.provenance == "not available because Y"


def test_original_is_not_called_verified() -> None:
    assert row_words(Row("sequential", RowStatus.MEASURED, CPU, 1.0)).figures[-1] == "original"


def test_a_winner_that_the_original_beats_says_so() -> None:
    rows = (
        Row("sequential", RowStatus.MEASURED, CPU, 1.0, 0.1),
        Row(
            "openmp",
            RowStatus.MEASURED,
            CPU,
            2.0,
            0.1,
            verified=True,
            comparisons=beside(2.0, 1.0),
        ),
        # Faster, but wrong: it must not win.
        Row("cuda", RowStatus.MEASURED, GPU, 0.1, 0.1, verified=False),
    )
    (line,) = winner_texts(replace(SD_T_D2, rows=rows))
    assert line.startswith("winner: none; the fastest is tuned OpenMP, 2.00 ± 0.10 s, measured on")
    assert line.endswith("; slower than the original: 2.00 s against 1.00 s")
    close = (rows[0], replace(rows[1], comparisons=beside(2.0, 1.99)))
    (line,) = winner_texts(replace(SD_T_D2, rows=close))
    assert line.endswith("; a statistical tie with the original: 2.00 s against 1.99 s")
    behind = replace(rows[1], comparisons=beside(2.0, 9.0) | beside(2.0, 1.5, "openmp_naive"))
    (line,) = winner_texts(replace(SD_T_D2, rows=(rows[0], behind)))
    assert line.startswith("winner: none; the fastest is tuned OpenMP")
    assert line.endswith("; slower than OpenMP as written: 2.00 s against 1.50 s")


def test_the_winner_is_whose_calls_are_fastest() -> None:
    kernels, rival = 1e-4, Row("openmp", RowStatus.MEASURED, CPU, 0.2, 0.01, verified=True)
    rival = replace(rival, comparisons=beside(0.2, 1.0))
    rows = (
        Row("sequential", RowStatus.MEASURED, CPU, 1.0, 0.1),
        rival,
        Row("cuda", RowStatus.MEASURED, GPU, kernels, 0.0, verified=True, end_to_end_s=1.5),
    )
    cost = CopiesCost("cuda", kernels, 1.5 - kernels, 1.0, ("u", "w"), {"n": 40})
    region = replace(SD_T_D2, rows=rows, copies=(cost,))
    first, copies = winner_texts(region)
    assert first.startswith("winner: tuned OpenMP, 200 ± 10 ms")
    assert copies == (
        "copies of tuned CUDA: 1.50 s for kernels of 100 µs, and the original takes 1.00 s: keep "
        "u and w on the device (a block of Data, or --data resident), or leave this region on the "
        "CPU; by an estimate, from about n=40 on a call pays"
    )
    never = replace(region, copies=(replace(cost, arrays=("u", "v", "w"), break_even={}),))
    assert "keep u, v and w on the device" in winner_texts(never)[-1]
    assert winner_texts(never)[-1].endswith("; by an estimate, at no larger sizes a call pays")
    predicted = replace(rows[2], status=RowStatus.PREDICTED)
    (*_, copies) = winner_texts(replace(region, rows=(*rows[:2], predicted)))
    assert copies.startswith(
        f"copies of tuned CUDA, predicted for {GPU}: (~1.50 s) for kernels of (~100 µs), and the "
        "original takes 1.00 s: keep u and w"
    )
    # Of its whole calls.
    won = replace(rows[2], end_to_end_s=0.1, comparisons=beside(0.1, 1.0))
    cheaper = (*rows[:2], won)
    (line,) = winner_texts(replace(SD_T_D2, rows=cheaper))
    assert line.startswith("winner: tuned CUDA, 100 ± 0 µs, measured on")
    # Alone, it is said to lose.
    lost = replace(rows[2], comparisons=beside(1.5, 1.0))
    (first,) = winner_texts(replace(SD_T_D2, rows=(rows[0], lost)))
    assert first.endswith("; slower than the original: 1.50 s against 1.00 s")


def test_trials() -> None:
    assert trials_text(SD_T_D2) == (
        "9 trials: 4 correct, 5 failed (1 compile, 1 runtime, 1 timeout, 1 correctness, "
        "1 constraints); 1 reused"
    )


def test_each_problem_size_has_a_table_of_its_own() -> None:
    other = replace(SD_T_D2, sizes={"h1": 24}, rows=())
    run = replace(RUN, regions=(replace(SD_T_D2, by_size=(other,)),))
    shown = results_text(run)
    first, second = shown.split(SD_T_D2.function)[1:3]
    assert "h1=24" not in first
    assert "h1=24" in second
    assert second.count("it was no part of this run") == len(ROW_NAMES)


@pytest.mark.parametrize(
    ("time", "spread", "text"),
    [
        (12.3e-3, 0.4e-3, "12.3 ± 0.4 ms"),
        (999.96e-6, None, "1.00 ms"),
        (99.96, None, "100 s"),
        (1.0, 1e-6, "1.00 ± <0.01 s"),
        (1.0, 0.0, "1.00 ± 0.00 s"),
        (0.0, None, "0 s"),
        (3e-11, None, "0.0300 ns"),
        (5000.0, 1.0, "5000 ± 1 s"),
        (None, 1.0, "-"),
        (float("nan"), None, "-"),
        (1.0, float("inf"), "1.00 s"),
    ],
)
def test_time(time: float | None, spread: float | None, text: str) -> None:
    assert figures.time_text(time, spread) == text


@given(st.floats(0, 1e300))
def test_three_digits_are_right(value: float) -> None:
    shown = figures.number_text(value)
    assert len(shown) <= 10, shown
    assert float(shown) == pytest.approx(value, rel=0.006, abs=1e-320)


def test_counts() -> None:
    assert figures.count_text(999, "flop") == "999 flop"
    assert figures.count_text(2_147_483_648, "flop") == "2.15 Gflop"
    assert figures.count_text(10**400, "B") == "1.00e+400 B"


def test_predictions_of_other_facts_are_not_compared() -> None:
    kernel = KernelModel((0,), 1e-5, "device memory", 32, True, 1e-6, None, "none")
    compiled = TargetModel("cuda", "H200", (kernel,), 1e-3)
    estimated = replace(compiled, target="openacc", kernels=(replace(kernel, is_compiled=False),))
    rows = [
        Row(name, RowStatus.PREDICTED, "H200", time_s, verified=True)
        for name, time_s in (("openacc", 1e-5), ("cuda", 2e-5))
    ]
    measured = Row("sequential", RowStatus.MEASURED, "EPYC", 1e-4, verified=True)
    place = ("f", 1, 1, {}, 1, 1)
    region = RegionResult(*place, (measured, *rows), (), models=(compiled, estimated))
    _, first, second = winner_texts(region)
    assert first.startswith("best prediction by ptxas's registers: tuned CUDA")
    assert second.startswith("best prediction by estimated registers: tuned OpenACC")
    one = replace(region, models=(compiled, replace(compiled, target="openacc")))
    assert [line.partition(",")[0] for line in winner_texts(one)[1:]] == [
        "best prediction: tuned OpenACC"
    ]
    lost = [line for line in model_texts(region) if "lose" in line]
    assert lost == 2 * [
        "  predicted to lose with its copies to the original, measured on EPYC: 100 µs"
    ]
    slow = replace(measured, time_s=1e-2)
    assert not any("lose" in line for line in model_texts(replace(region, rows=(slow, *rows))))


def test_what_is_right_and_not_written_says_why() -> None:
    row = Row("openmp", RowStatus.MEASURED, "EPYC", 1e-3, verified=True, reason="it is slow")
    assert provenance_text(row) == "measured on EPYC; it is slow"
