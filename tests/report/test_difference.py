"""Two runs beside each other: what is compared, what is not, and what is said of both."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from sample_run import CPU, RUN, SD_T_D2, WON
from support.cli import annotune

from annotune.report.results_json import RESULTS_FILE, results_file
from annotune.tuning.bench import BUSY_WORDS
from annotune.tuning.results import RegionResult, Results, Row, RowStatus

ONE = replace(RUN, regions=(SD_T_D2,), warnings=())


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(folder: str, results: Results) -> str:
    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / RESULTS_FILE).write_text(results_file(results))
    return folder


def with_row(name: str, change: Row | None, region: RegionResult = SD_T_D2) -> Results:
    """Return the run with another row in the place of one."""
    rows = (change if row.name == name else row for row in region.rows)
    return replace(ONE, regions=(replace(region, rows=tuple(r for r in rows if r is not None)),))


def row(name: str) -> Row:
    return next(one for one in SD_T_D2.rows if one.name == name)


def timed(name: str, times_s: tuple[float, ...]) -> Row:
    """Return a measured row with other rounds."""
    own = row(name)
    final = replace(WON, time_s=median(times_s), times_s=times_s)
    return replace(own, time_s=median(times_s), final=final)


def slower_by(factor: float) -> Results:
    """Return the run with rounds of OpenMP that all took so many times as long."""
    return with_row("openmp", timed("openmp", tuple(factor * one for one in WON.times_s)))


def test_a_run_is_no_slower_than_itself() -> None:
    folder = written("a", ONE)
    done = annotune("diff", folder, f"{folder}/{RESULTS_FILE}", "--fail-slower", "0%")
    assert done.code == 0, done.err
    assert "changed" not in done.out
    ratios = [line.split()[-1] for line in done.out.splitlines() if line.startswith("  tuned")]
    assert ratios[:2] == ["1.00", "1.00"]
    assert all(len(line) <= 100 for line in done.out.splitlines())


@pytest.mark.parametrize(
    ("factor", "limit", "code"), [(1.2, "10%", 1), (1.2, "25%", 0), (0.5, "10%", 0)]
)
def test_fails_where_a_variant_takes_longer_than_allowed(
    factor: float, limit: str, code: int
) -> None:
    other = slower_by(factor)
    done = annotune("diff", written("a", ONE), written("b", other), "--fail-slower", limit)
    assert done.code == code
    assert ("[AT667]" in done.err) == bool(code)
    told = annotune("diff", "a", "b", "--fail-slower", limit, "--json")
    (region,) = told.json["regions"]
    (found,) = (one for one in region["rows"] if one["name"] == "openmp")
    assert found["ratio"] == pytest.approx(factor)
    assert len(told.json["slower"]) == code
    assert told.code == code


ABOUT = (0.0140, 0.0138, 0.0142, 0.0141, 0.0139, 0.0143, 0.0137, 0.0140, 0.0141)


@pytest.mark.parametrize(
    ("before", "after", "ratio", "reason"),
    [
        pytest.param(
            ABOUT,
            tuple(1.06 * one for one in (*ABOUT[:5], *(0.93 * t for t in ABOUT[:5]))),
            pytest.approx(1.05, rel=0.05),
            "",
            id="intervals that meet",
        ),
        pytest.param(
            ABOUT, (0.013, 0.040, 0.021) * 3, None, "too noisy, rerun on", id="noise after"
        ),
        pytest.param(
            (0.006, 0.030, 0.014) * 3, (0.028,) * 9, None, "too noisy, rerun on", id="and before"
        ),
        pytest.param(ABOUT, (0.030,), None, "too few runs", id="one run"),
        pytest.param(ABOUT[:3], (0.017, 0.0171, 0.0172), None, "too few runs", id="three runs"),
        pytest.param((0.014,), (0.014,) * 9, None, "too few runs", id="one run before"),
    ],
)
def test_only_what_is_slower_for_certain_fails(
    before: tuple[float, ...], after: tuple[float, ...], ratio: float | None, reason: str
) -> None:
    # Predictions are there to be compared in any case.
    runs = [with_row("openmp", timed("openmp", one)) for one in (before, after)]
    folders = [written(name, run) for name, run in zip("ab", runs, strict=True)]
    told = annotune("diff", *folders, "--fail-slower", "1%", "--json")
    assert (told.code, told.json["slower"]) == (0, [])
    (found,) = (one for one in told.json["regions"][0]["rows"] if one["name"] == "openmp")
    assert found["ratio"] == ratio
    assert found["reason"].startswith(reason)
    assert found["reason"] in " ".join(annotune("diff", *folders).out.split())


def test_a_prediction_has_no_noise() -> None:
    own = row("openacc")
    assert own.time_s is not None
    other = with_row("openacc", replace(own, time_s=1.2 * own.time_s))
    done = annotune("diff", written("a", ONE), written("b", other), "--fail-slower", "10%")
    assert done.code == 1
    assert "[AT667]" in done.err


def test_originals_may_take_longer() -> None:
    other = with_row("sequential", timed("sequential", (1.0,) * 9))
    done = annotune("diff", written("a", ONE), written("b", other), "--fail-slower", "10%")
    assert done.code == 0, done.err


def test_figures_of_unlike_machines_are_not_compared() -> None:
    rows = tuple(
        replace(one, device="Other CPU") if one.device == CPU else one for one in SD_T_D2.rows
    )
    other = replace(ONE, regions=(replace(SD_T_D2, rows=rows),), tools={"c": "gcc 99"})
    done = annotune("diff", written("a", ONE), written("b", other))
    assert done.code == 0
    before_the_regions = done.out.partition("\n\n")[0]
    assert "changed: machine" in before_the_regions
    assert "after:  Other CPU" in before_the_regions
    assert "changed: compiler c" in before_the_regions
    told = annotune("diff", "a", "b", "--json").json
    (region,) = told["regions"]
    ratios = {one["name"]: one["ratio"] for one in region["rows"]}
    assert ratios["openmp"] is None
    assert ratios["openacc"] == 1.0
    (found,) = (one for one in region["rows"] if one["name"] == "openmp")
    assert found["reason"] == f"measured on {CPU}, then measured on Other CPU"


def test_a_measured_time_is_not_compared_with_a_predicted_one() -> None:
    other = with_row("openacc", replace(row("openacc"), status=RowStatus.MEASURED))
    told = annotune("diff", written("a", ONE), written("b", other), "--json").json
    (found,) = (one for one in told["regions"][0]["rows"] if one["name"] == "openacc")
    assert found["ratio"] is None
    assert found["reason"].startswith("predicted for")


def test_other_sizes_are_said_and_not_compared() -> None:
    other = replace(ONE, regions=(replace(SD_T_D2, sizes={**SD_T_D2.sizes, "p7u": 32}),))
    done = annotune("diff", written("a", ONE), written("b", other), "--fail-slower", "10%")
    assert done.code == 1
    assert "[AT669]" in done.err
    assert "changed: sizes of sd_t_d2_1, region 1" in done.out
    assert "p7u=32" in done.out


def test_a_target_without_a_right_variant_is_told_and_one_not_asked_for_is_not() -> None:
    lost = Row("openmp", RowStatus.UNAVAILABLE, reason="no variant passed its check")
    done = annotune(
        "diff", written("a", ONE), written("b", with_row("openmp", lost)), "--fail-slower", "5%"
    )
    assert done.code == 1
    assert "[AT668]" in done.err
    assert "no variant passed its check" in done.err
    other = with_row("openmp", replace(lost, reason="not among the targets asked for"))
    done = annotune("diff", "a", written("c", other), "--fail-slower", "5%")
    assert done.code == 0, done.err
    assert "after: not asked for" in done.out


def test_says_which_run_had_a_busy_machine_and_which_regions_one_run_alone_has() -> None:
    other = replace(
        ONE,
        regions=(SD_T_D2, replace(SD_T_D2, index=2)),
        warnings=(f"{BUSY_WORDS}: much on 2 cores",),
    )
    done = annotune("diff", written("a", ONE), written("b", other))
    assert (
        "changed: other work on the machine\n    before: none\n    after:  much on 2 cores"
        in done.out
    )
    assert "changed: sd_t_d2_1, region 2\n    before: none\n    after:  at h1u=16" in done.out


def test_each_problem_size_is_compared_with_its_own() -> None:
    small = replace(SD_T_D2, sizes={"h1u": 8}, by_size=())
    one = replace(ONE, regions=(replace(SD_T_D2, by_size=(small,)),))
    told = annotune("diff", written("a", one), written("b", one), "--json").json
    assert [region["sizes"] for region in told["regions"]] == [dict(SD_T_D2.sizes), {"h1u": 8}]


def test_what_is_no_run_is_refused() -> None:
    folder = written("a", ONE)
    Path("empty").mkdir()
    assert "[AT614]" in annotune("diff", folder, "empty").err
    assert "[AT601]" in annotune("diff", "nowhere.json", folder).err
    done = annotune("diff", folder, "empty", "--json")
    assert (done.code, json.loads(done.out)["diagnostics"][0]["code"]) == (1, "AT614")
    assert annotune("diff", folder, folder, "--fail-slower", "much").code == 2
