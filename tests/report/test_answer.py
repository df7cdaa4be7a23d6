"""What a run ends with: a short table, and a line for each region that says what to link."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console
from sample_run import CPU, GPU, RUN, SD_T_D2

from annotune.measure.trial import Final, Status, Trial, Verdict
from annotune.report.answer import UNPROVED, answer_of, answer_texts
from annotune.report.summary import heading
from annotune.report.terminal import SHORT_WIDTH, ShortTable, short_text
from annotune.tuning.proving import no_time_words
from annotune.tuning.results import NO_TARGET, KernelModel, Row, RowStatus, TargetModel

ORIGINAL = Row("sequential", RowStatus.MEASURED, CPU, 1.0, 0.01)
TUNED = Row("openmp", RowStatus.MEASURED, CPU, 0.25, 0.01, verified=True)
PREDICTED = Row("cuda", RowStatus.PREDICTED, GPU, 1e-3, verified=True)
COMMANDS = {"openmp": ("gcc main.c out/f_omp.c", "icx main.c"), "cuda": ("nvcc main.c out/f.cu",)}
LINES = 12


def answer(*rows: Row, sizes: dict[str, int] | None = None) -> str:
    """Return the one line of a run of one region with these rows, without the region's name."""
    region = replace(SD_T_D2, rows=rows, sizes=sizes or {}, by_size=(), copies=())
    (line,) = answer_texts(replace(RUN, regions=(region,)), COMMANDS)
    assert line.startswith(heading(region))
    return line.removeprefix(heading(region))


def test_it_says_what_won_over_what_on_what_and_how_it_is_linked() -> None:
    assert answer(ORIGINAL, TUNED, PREDICTED, sizes={"n": 8}) == (
        " at n=8: tuned OpenMP wins with 250 ms, 4.00x as fast as the original with 1.00 s, "
        f"measured on {CPU}; link: gcc main.c out/f_omp.c"
    )


def test_an_original_that_is_faster_stays_and_nothing_is_linked() -> None:
    assert answer(ORIGINAL, replace(TUNED, time_s=2.0)) == (
        f": the original stays: sequential takes 1.00 s, tuned OpenMP 2.00 s, measured on {CPU}"
    )


def test_a_tie_is_no_win() -> None:
    said = answer(ORIGINAL, replace(TUNED, time_s=0.999))
    assert said.startswith(": tuned OpenMP takes 999 ms, not distinguishable from sequential with")
    assert "wins" not in said


def test_a_tie_of_times_that_lie_far_apart_says_why() -> None:
    final = Final(Verdict.TIED, 1.0, 0.9, 1.1, 4.0, 0.8, 4.4, (1.0,))
    own = replace(final, verdict=Verdict.WINNER, time_s=0.25, times_s=(0.25,))
    said = answer(replace(ORIGINAL, final=final), replace(TUNED, final=own))
    assert ", not distinguishable from sequential with 1.00 s, since some of its rounds" in said


def test_what_is_right_and_not_written_is_not_linked() -> None:
    said = answer(ORIGINAL, replace(TUNED, reason="it is not written"))
    assert said.endswith(f"measured on {CPU}; it is not written")


def test_the_winner_is_linked_though_no_time_was_left_for_all_proofs() -> None:
    late = no_time_words("where arrays share memory")
    said = answer(ORIGINAL, replace(TUNED, reason=late), PREDICTED)
    assert said.endswith(f"measured on {CPU}; {UNPROVED}; link: gcc main.c out/f_omp.c")


def test_the_speed_up_is_the_tables() -> None:
    # By the rounds of the finals it is another than the quotient of the medians.
    said = answer(ORIGINAL, replace(TUNED, speedup=5.0))
    assert "wins with 250 ms, 5.00x as fast as the original with 1.00 s" in said


def test_one_run_of_the_original_is_told_as_one() -> None:
    once = Trial("sequential", {}, Status.CORRECT, 1.0, device=CPU, times_s=(1.0,))
    region = replace(SD_T_D2, rows=(ORIGINAL, TUNED), trials=(once,), by_size=(), copies=())
    assert "as the original with 1.00 s in one run, measured" in answer_of(region).said
    again = replace(region, trials=(replace(once, times_s=(1.0, 1.0)),))
    assert "as the original with 1.00 s, measured" in answer_of(again).said
    final = Final(Verdict.SLOWER, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, (1.0, 1.0))
    in_turns = replace(region, rows=(replace(ORIGINAL, final=final), TUNED))
    assert "as the original with 1.00 s, measured" in answer_of(in_turns).said


def test_a_call_with_its_copies_stands_beside_the_kernels() -> None:
    region = replace(
        SD_T_D2, rows=(ORIGINAL, replace(PREDICTED, end_to_end_s=5.6e-3)), by_size=(), copies=()
    )
    lines = short_text(replace(RUN, regions=(region,))).splitlines()
    assert re.match(r"variant +time +a call GFLOP/s", lines[1])
    (cuda,) = (one for one in lines if one.startswith("tuned CUDA"))
    assert "(~1.00 ms) (~5.60 ms)" in cuda
    assert cuda.endswith(f"predicted for {GPU}")
    assert "a call" not in short_text(replace(RUN, regions=(replace(region, rows=(TUNED,)),)))


def test_a_prediction_is_told_as_one_where_nothing_measured_is_to_be_linked() -> None:
    said = f"tuned CUDA is predicted to take (~1.00 ms) on {GPU}; link: nvcc main.c out/f.cu"
    assert answer(ORIGINAL, PREDICTED) == f": no tuned variant was measured; {said}"
    assert answer(ORIGINAL, replace(TUNED, time_s=2.0), PREDICTED).endswith(f"; {said}")


def test_predictions_of_unlike_facts_are_told_apart_and_not_ranked() -> None:
    kernel = KernelModel((0,), 1e-5, "device memory", 32, True, 1e-6, None, "none")
    models = (TargetModel("cuda", GPU, (kernel,), 1e-3),)
    rows = (ORIGINAL, PREDICTED, replace(PREDICTED, name="openacc", time_s=1e-4))
    region = replace(SD_T_D2, rows=rows, sizes={}, by_size=(), copies=(), models=models)
    (line,) = answer_texts(replace(RUN, regions=(region,)), COMMANDS)
    assert line.endswith(
        f": no tuned variant was measured; tuned CUDA is predicted to take (~1.00 ms) on {GPU}; "
        f"tuned OpenACC is predicted to take (~100 µs) on {GPU}; link: nvcc main.c out/f.cu"
    )


def test_nothing_right_keeps_the_original() -> None:
    assert answer(ORIGINAL, replace(TUNED, verified=False)).endswith(
        "no variant was verified, the original stays"
    )


@pytest.mark.parametrize(
    ("status", "reason", "is_shown"),
    [
        (RowStatus.UNAVAILABLE, NO_TARGET, False),
        (RowStatus.UNAVAILABLE, "OpenACC is refused", True),
        (RowStatus.MEASURED, NO_TARGET, True),
    ],
)
def test_directives_as_written_are_shown_with_their_target_or_a_time(
    status: RowStatus, reason: str, is_shown: bool
) -> None:
    time_s = 0.5 if status is RowStatus.MEASURED else None
    naive = Row("openacc_naive", status, GPU, time_s, reason="only a GPU can time it")
    absent = Row("openacc", RowStatus.UNAVAILABLE, reason=reason)
    region = replace(SD_T_D2, rows=(ORIGINAL, TUNED, naive, absent), by_size=())
    text = short_text(replace(RUN, regions=(region,)))
    assert ("OpenACC as written" in text) is is_shown


def test_the_table_is_short_and_names_what_was_asked_for() -> None:
    absent = Row("openacc", RowStatus.UNAVAILABLE, reason=NO_TARGET)
    doubtful = replace(TUNED, name="cuda", verified=False, reason="a[3] is 1, expected 2 " * 9)
    region = replace(SD_T_D2, rows=(ORIGINAL, TUNED, absent, doubtful), by_size=())
    busy = "this machine had other work"
    lines = short_text(replace(RUN, regions=(region,), warnings=(busy,))).splitlines()
    assert max(map(len, lines)) <= SHORT_WIDTH
    assert lines[-1] == f"warning: {busy}"
    table = lines[: lines.index("")]
    assert len(table) < LINES
    assert not any(line.startswith("tuned OpenACC") for line in table)
    assert any("not verified; measured" in line and line.endswith("…") for line in table)


def test_every_region_of_a_run_has_its_table_within_the_lines() -> None:
    text = short_text(RUN)
    assert max(map(len, text.splitlines())) <= SHORT_WIDTH
    for region in RUN.regions:
        assert heading(region) in text
    assert short_text(RUN, is_ascii=True).isascii()


def test_a_narrow_terminal_goes_without_columns_and_cuts_no_figure() -> None:
    copied, doubtful = replace(PREDICTED, end_to_end_s=5.6e-3), replace(TUNED, verified=False)
    region = replace(SD_T_D2, rows=(ORIGINAL, doubtful, copied), by_size=())
    results = replace(RUN, regions=(region,), warnings=())
    for width in range(SHORT_WIDTH, 40, -1):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(ShortTable(results))
        lines = console.export_text().splitlines()
        assert max(map(len, lines)) <= width
        for word in ("1.00 ± 0.01 s", "(~1.00 ms)", "not verified"):
            assert any(word in one for one in lines), width
        heads = lines[1].split()
        assert not any("…" in head for head in heads)
        assert ("where" in heads) == (heads[-1] == "from")
    assert heads == ["variant", "time", "speed-up"]
