"""What a run ends with: a short table, and a line for each region that says what to link."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console
from sample_run import CPU, GPU, RUN, SD_T_D2, beside

from annotune.measure.trial import Final, Status, Trial, Verdict
from annotune.report.answer import UNPROVED, NextSteps, answer_of, answer_texts, closing_texts
from annotune.report.summary import heading, original_text
from annotune.report.terminal import SHORT_WIDTH, ShortTable, short_text
from annotune.tuning.proving import no_time_words
from annotune.tuning.results import ENDED_EARLY as ENDED
from annotune.tuning.results import NO_TARGET, KernelModel, Results, Row, RowStatus, TargetModel
from annotune.tuning.verdict import compare, compare_with_estimate

ORIGINAL = Row("sequential", RowStatus.MEASURED, CPU, 1.0, 0.01)
TUNED = Row(
    "openmp", RowStatus.MEASURED, CPU, 0.25, 0.01, verified=True, comparisons=beside(0.25, 1.0)
)
PREDICTED = Row("cuda", RowStatus.PREDICTED, GPU, 1e-3, verified=True)
LINK = "gcc main.c out/f_omp.c"
STEPS = NextSteps(
    {"openmp": (LINK, "icx main.c"), "cuda": ("nvcc main.c out/f.cu",)},
    "annotune run S.c",
    "annotune report out",
    "annotune verify out",
)
LINES = 12


def one_region(*rows: Row, sizes: dict[str, int] | None = None) -> Results:
    """Return a run of one region with these rows."""
    region = replace(SD_T_D2, rows=rows, sizes=sizes or {}, by_size=(), copies=())
    return replace(RUN, regions=(region,), source="S.c")


def answer(*rows: Row, sizes: dict[str, int] | None = None) -> str:
    """Return the one line of a run of one region with these rows, without the region's name."""
    (line,) = answer_texts(one_region(*rows, sizes=sizes))
    assert line.startswith(heading(SD_T_D2))
    return line.removeprefix(heading(SD_T_D2))


def closing(*rows: Row) -> str:
    """Return the last line of such a run."""
    (line,) = closing_texts(one_region(*rows), STEPS)
    return line


def compared(own_s: Sequence[float], other_s: Sequence[float], name: str = "sequential") -> Row:
    """Return the row of a variant that had these rounds with a row of the original's."""
    others = {} if name == "sequential" else TUNED.comparisons
    return replace(TUNED, comparisons={**others, name: compare(own_s, other_s)})


NOISY = compared((17.1e-3, 2e-3, 33e-3) * 4, (19.5e-3,) * 12)
ONCE = compared((9.82e-6,) * 12, (2.67e-3,))
SLOWER = compared((1.9e-3,) * 12, (1.2e-3,) * 12)
TIE = compared((0.999,) * 12, (1.0,) * 12)


def test_it_says_what_won_over_what_on_what_and_how_it_is_linked() -> None:
    assert answer(ORIGINAL, TUNED, PREDICTED, sizes={"n": 8}) == (
        " at n=8: tuned OpenMP wins with 250 ms, 4.00x as fast as the original with 1.00 s, "
        f"measured on {CPU}"
    )
    assert closing(ORIGINAL, TUNED, PREDICTED) == (
        f"tuned OpenMP wins: 4.0 times as fast as the original; next: {LINK}"
    )


def test_what_is_slower_than_the_original_says_so_and_how_it_is_linked_all_the_same() -> None:
    assert answer(ORIGINAL, SLOWER) == (
        f": tuned OpenMP is slower than the original: 1.90 ms against 1.20 ms, measured on {CPU}"
    )
    assert closing(ORIGINAL, SLOWER) == (
        f"no winner: tuned OpenMP is slower than the original, so keep S.c for speed; next: {LINK}"
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (TIE, "tuned OpenMP is a statistical tie with the original: 999 ms against 1.00 s"),
        (
            NOISY,
            "tuned OpenMP is too noisy to compare with the original, rerun on an idle machine: "
            "17.1 ms against 19.5 ms, which spread by more than 100%",
        ),
        (
            ONCE,
            "tuned OpenMP is not compared with the original: 2.67 ms in one run is no sample; "
            "a longer --time has more runs",
        ),
        (
            compared((1.0,) * 3, (1.4,) * 3),
            "tuned OpenMP is not compared with the original: 1.00 s against 1.40 s in 3 rounds are "
            "too few to be sure; a longer --time has more",
        ),
        (
            compared((), (5.1,) * 2),
            "tuned OpenMP is not compared with the original: its 5.10 s was not taken in the same "
            "rounds",
        ),
        (
            replace(TUNED, comparisons={}),
            "tuned OpenMP takes 250 ms, not compared with the original, which has no time",
        ),
        (
            replace(TUNED, comparisons={"sequential": compare_with_estimate((0.1,) * 12, 0.15)}),
            "tuned OpenMP is not compared with the original: its ~150 ms is estimated, and too "
            "near",
        ),
        (
            compared((0.25,) * 12, (0.251,) * 12, "openmp_naive"),
            "tuned OpenMP takes 250 ms, 4.00x as fast as the original with 1.00 s, a statistical "
            "tie with OpenMP as written with 251 ms",
        ),
        (
            compared((0.25,) * 12, (0.1,) * 12, "openmp_naive"),
            "no winner: OpenMP as written takes 100 ms, and tuned OpenMP takes 250 ms, 4.00x as "
            "fast as the original with 1.00 s",
        ),
        (
            compared((0.25,) * 12, (0.2, 0.9) * 6, "openmp_naive"),
            "tuned OpenMP takes 250 ms, 4.00x as fast as the original with 1.00 s; too noisy to "
            "compare with OpenMP as written with 550 ms",
        ),
    ],
)
def test_what_does_not_win_says_what_it_is_instead(row: Row, said: str) -> None:
    found = answer(ORIGINAL, row)
    assert found == f": {said}, measured on {CPU}"
    assert not re.search(r"\bwins?\b|distinguishable", found)
    # Its file is written.
    assert answer_of(one_region(ORIGINAL, row).regions[0]).target == "openmp"


def test_an_estimated_original_is_told_as_one() -> None:
    own = {"sequential": compare_with_estimate((0.1,) * 12, 1.2)}
    assert answer(ORIGINAL, replace(TUNED, comparisons=own)) == (
        ": tuned OpenMP wins with 100 ms, ~12.0x as fast as the original (original estimated) with "
        f"~1.20 s, measured on {CPU}"
    )


def test_noise_asks_for_the_same_run_again() -> None:
    assert closing(ORIGINAL, NOISY) == (
        "no verdict: the times are too noisy, rerun on an idle machine; next: annotune run S.c"
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            (ORIGINAL, TIE),
            f"no winner: tuned OpenMP is a statistical tie with the original; {LINK}",
        ),
        (
            (ORIGINAL, ONCE),
            "no verdict: tuned OpenMP is right, and was not compared with the original; " + LINK,
        ),
        (
            (ORIGINAL, PREDICTED),
            "no tuned variant was measured to be faster than the original; tuned CUDA is "
            "predicted, never measured; nvcc main.c out/f.cu",
        ),
        (
            (ORIGINAL, replace(TUNED, status=RowStatus.UNAVAILABLE, time_s=None, comparisons={})),
            f"no verdict: tuned OpenMP is right, and was not timed; {LINK}",
        ),
        (
            (ORIGINAL, replace(TUNED, verified=False)),
            "no variant passed its check, and nothing is written; annotune report out",
        ),
        (
            (ORIGINAL, replace(TUNED, status=RowStatus.UNAVAILABLE, verified=False, reason=ENDED)),
            "the run was ended before a variant was verified, and nothing is written; "
            "annotune run S.c",
        ),
        ((ORIGINAL,), "no variant passed its check, and nothing is written; annotune report out"),
    ],
)
def test_the_last_line_always_ends_with_a_command(rows: tuple[Row, ...], said: str) -> None:
    before, _, command = said.rpartition("; ")
    assert closing(*rows) == f"{before}; next: {command}"


def test_regions_that_are_slower_in_the_files_to_link_are_named() -> None:
    regions = [
        replace(SD_T_D2, rows=(ORIGINAL, row), sizes={}, by_size=(), index=number)
        for number, row in enumerate((TUNED, SLOWER, TIE, SLOWER), 1)
    ]
    told = [*closing_texts(replace(RUN, regions=tuple(regions)), STEPS)]
    assert told == [
        "to keep the original where it is faster, take away the annotation of "
        "sd_t_d2_1, region 2 (line 14) and of sd_t_d2_1, region 4 (line 14)",
        f"tuned OpenMP wins: 4.0 times as fast as the original in 1 of 4 regions; next: {LINK}",
    ]


def test_the_winner_is_linked_though_no_time_was_left_for_all_proofs() -> None:
    late = replace(TUNED, reason=no_time_words("where arrays share memory"))
    assert answer(ORIGINAL, late, PREDICTED).endswith(f"measured on {CPU}; {UNPROVED}")
    assert closing(ORIGINAL, late, PREDICTED).endswith(f"; next: {LINK}")


def test_one_run_of_the_original_is_told_as_one() -> None:
    once = Trial("sequential", {}, Status.CORRECT, 1.0, device=CPU, times_s=(1.0,))
    region = replace(SD_T_D2, rows=(ORIGINAL, TUNED), trials=(once,), by_size=(), copies=())
    assert original_text(region) == "1.00 s in one run"
    assert original_text(replace(region, trials=(replace(once, times_s=(1.0, 1.0)),))) == "1.00 s"
    final = Final(Verdict.SLOWER, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, (1.0, 1.0))
    in_turns = replace(region, rows=(replace(ORIGINAL, final=final), TUNED))
    assert original_text(in_turns) == "1.00 s"
    estimated = replace(ORIGINAL, status=RowStatus.PREDICTED)
    assert original_text(replace(region, rows=(estimated, TUNED), trials=())) == "~1.00 s"


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
    said = f"tuned CUDA is predicted to take (~1.00 ms) on {GPU}"
    assert answer(ORIGINAL, PREDICTED) == f": no tuned variant was measured; {said}"
    assert answer(ORIGINAL, SLOWER, PREDICTED).endswith(f"; {said}")
    assert closing(ORIGINAL, SLOWER, PREDICTED).endswith("; next: nvcc main.c out/f.cu")


def test_predictions_of_unlike_facts_are_told_apart_and_not_ranked() -> None:
    kernel = KernelModel((0,), 1e-5, "device memory", 32, True, 1e-6, None, "none")
    models = (TargetModel("cuda", GPU, (kernel,), 1e-3),)
    rows = (ORIGINAL, PREDICTED, replace(PREDICTED, name="openacc", time_s=1e-4))
    region = replace(SD_T_D2, rows=rows, sizes={}, by_size=(), copies=(), models=models)
    (line,) = answer_texts(replace(RUN, regions=(region,)))
    assert line.endswith(
        f": no tuned variant was measured; tuned CUDA is predicted to take (~1.00 ms) on {GPU}; "
        f"tuned OpenACC is predicted to take (~100 µs) on {GPU}"
    )


@pytest.mark.parametrize("row", [TUNED, replace(TUNED, status=RowStatus.UNAVAILABLE, time_s=None)])
def test_what_is_written_without_all_its_checks_is_told_with_the_exit_code(row: Row) -> None:
    reason = no_time_words("with its text for n=8 which nothing has run")
    run = one_region(ORIGINAL, replace(row, verified=False, reason=reason))
    assert not run.is_verified  # exit code 3
    assert next(answer_texts(run)).endswith(f"tuned OpenMP is written and not verified: {reason}")
    (line,) = closing_texts(run, STEPS)
    assert line == (
        "no variant passed all its checks: tuned OpenMP is written, and not verified; "
        "next: annotune verify out"
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
