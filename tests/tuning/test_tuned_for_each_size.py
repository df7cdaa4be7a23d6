"""A region tuned for several sizes: time and budget shared, one text checked at all of them."""

from __future__ import annotations

import json
import math
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.regions import text_source

from annotune import pipeline
from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.openmp import OpenMpTarget
from annotune.codegen.several_sizes import at_other_sizes
from annotune.codegen.target import RegionCode
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.ir.region import Region, SourceFile
from annotune.measure.check import BRANCHES, Checker
from annotune.measure.machine import Cpu, NoGpu
from annotune.measure.oracle import Oracle
from annotune.measure.sizes import awkward_sizes, tuned_sizes
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Trial
from annotune.pipeline import Settings
from annotune.report.results_json import results_json
from annotune.schedule.plan import Plan
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.space.variants import Variant
from annotune.tuning import run as tune_run
from annotune.tuning.bench import Bench, Request, Session
from annotune.tuning.config import RunConfig, Stop, Wanted
from annotune.tuning.experiment import Tried
from annotune.tuning.proving import NOT_PROVED
from annotune.tuning.region_run import RegionRun, Sought, Tuned
from annotune.tuning.results import ORIGINALS, Row, Searched
from annotune.tuning.run import AtSize, SizeListener, TimeShares, shares, together, tune_each
from annotune.tuning.tuner import Contest, TargetResult

TOOLS = find_toolchains(os.environ)
needs_openmp = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

TEXT = """\
void f(int n, int m, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n[] = [16,24]; param m = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++)
                y[i*n + j] += x[i*m + k] * x[k*n + j];
    /*@ end @*/
}
"""


@given(st.integers(0, 500), st.integers(1, 9))
def test_a_budget_is_shared_evenly_and_leaves_none_without(budget: int, parts: int) -> None:
    found = shares(budget, parts)
    assert len(found) == parts
    assert min(found) >= 1
    assert max(found) - min(found) <= 1
    assert sum(found) == max(budget, parts)


def test_time_left_over_goes_to_what_comes_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    clock = TimeShares([10.0] * 3)
    assert [clock.next_s() for _ in range(3)] == [10.0, 15.0, 30.0]


def test_what_takes_too_long_leaves_something_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    clock = TimeShares([10.0, 20.0], begun=90.0)
    assert clock.next_s() == pytest.approx(20 / 3)
    monkeypatch.setattr(time, "monotonic", lambda: 129.0)
    assert clock.next_s() == 5.0


def test_time_that_is_kept_is_nobodys_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    clock = TimeShares([10.0] * 3)
    assert [clock.next_s(), clock.next_s(6.0), clock.next_s(29.0)] == [10.0, 12.0, 2.5]
    assert clock.end == 130.0


def test_a_listener_hears_the_sizes() -> None:
    heard: list[str] = []

    class Inner:
        def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
            heard.append(f"{text}, {total}, {least_s}")

        def trial(self, trial: Trial) -> None:
            raise AssertionError

        def waits(self, words: str) -> None:
            heard.append(words)

    listener = SizeListener(Inner(), "n=16")
    listener.stage("tuning cuda", 3, 0.5)
    listener.waits("waiting for process 1")
    assert heard == ["tuning cuda for n=16, 3, 0.5", "waiting for process 1"]


# The text for all sizes ---------------------------------------------------------------------

LATE, IN_TIME = 0.0, math.inf


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[AtSize]:
    """Return `TEXT` as if its first two choices had been tried at both sizes."""
    folder = tmp_path_factory.mktemp("sizes")
    source = text_source(TEXT)
    analysis = analyse(source.regions[0])
    regions = (analysis.region, *at_other_sizes(analysis.region, analysis))
    return [_part(source, one, folder / str(number)) for number, one in enumerate(regions)]


def _part(source: SourceFile, region: Region, folder: Path) -> AtSize:
    analysis, target, device = analyse(region), OpenMpTarget(), load_device("h200")
    base = Base.of(analysis)
    space = region_space(base)
    listing = target.points(base, space, device).listing(2)
    tried = []
    for number, variant in enumerate(listing.variants()):
        code = target.region(variant, False)
        trial = Trial("openmp", variant.config, Status.CORRECT, 1e-3 * (number + 1), verified=True)
        tried.append(Tried(number, trial, variant, code))
    assert tried[0].code != tried[1].code
    bench = Bench(
        Session(RunConfig(jobs=2), cores=2),
        Checker(Oracle(source, analysis, TOOLS, folder)),
        (tuned_sizes(region),),
        awkward_sizes(analysis),
        time.monotonic() + 600,
        "cpu",
    )
    run = RegionRun(bench, base, space, device, Cpu("cpu", 2), Wanted(), NoGpu("none here"))
    account = Searched("openmp", "random", 0, 2, 2, 2)
    contest = Contest(bench, target, "openmp", listing, tuple(tried), tuple(tried), account)
    found = {name: TargetResult(note="not run") for name in ORIGINALS}
    return AtSize(Sought(run, [target], found, {"openmp": contest}), 5.0)


def _together(
    parts: list[AtSize], target: OpenMpTarget | None = None, until: float = IN_TIME
) -> Tuned:
    """Return what comes of the parts where their target is another one."""
    target = target or OpenMpTarget()
    own = []
    for part in parts:
        contests = {n: replace(c, target=target) for n, c in part.sought.contests.items()}
        sought = replace(part.sought, targets=[target], contests=contests)
        own.append(replace(part, sought=sought))
    return together(own, [target], until)


def _rows(found: Tuned) -> list[Row]:
    """Return the row of OpenMP at each of the sizes."""
    every = (one.rows for one in found.result.at_each_size)
    return [next(row for row in rows if row.name == "openmp") for rows in every]


def _trials(found: Tuned) -> list[list[Trial]]:
    return [[t for t in one.trials if t.target == "openmp"] for one in found.result.at_each_size]


class _Wrong(OpenMpTarget):
    """A target whose text for several sizes is wrong where it tests `sizes` and `when`.

    With a plan `only` any text is that has this plan, and no other.
    """

    def __init__(self, sizes: str, when: str = "1", only: Plan | None = None) -> None:
        self.sizes, self.when, self.only = sizes, when, only

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the text, wrong at these sizes."""
        code = super().region(variant, resident)
        head = rf"if \({self.sizes}\) \{{"
        body = re.sub(head, rf"\g<0>\n            if ({self.when}) y[0] += 1;", code.body)
        is_meant = any(one.tuned is self.only for one in variant.by_size)
        if self.only is None:
            is_meant = bool(variant.others)
        return replace(code, body=body) if is_meant else code


@pytest.fixture
def never_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to prove what wins at a size alone."""

    def refuse(*_: object) -> TargetResult:
        raise AssertionError("proved alone")

    monkeypatch.setattr(Contest, "proved", refuse)


@pytest.mark.slow
@needs_openmp
@pytest.mark.usefixtures("never_alone")
def test_the_text_for_all_sizes_is_proved_in_place_of_each(parts: list[AtSize]) -> None:
    found = _together(parts)
    assert found.result.sizes_checked == ({"n": 24, "m": 40},)
    assert [dict(one.sizes) for one in found.result.at_each_size] == [
        {"n": 16, "m": 40},
        {"n": 24, "m": 40},
    ]
    assert "n == 24 && m == 40" in found.codes["openmp"].body
    assert len(found.variants["openmp"].by_size) == 2
    assert found.warnings == ()
    # Every block of the one text has run, and each size tells so.
    for (first, second), row in zip(_trials(found), _rows(found), strict=True):
        assert re.fullmatch(r"all \d+ reached", str(first.facts[BRANCHES]))
        assert BRANCHES not in second.facts
        assert (row.config, row.verified, row.reason) == (first.config, True, "")


@needs_openmp
def test_kernels_for_a_listed_size_run_at_awkward_ones_of_the_rest(parts: list[AtSize]) -> None:
    found = _together(parts, _Wrong("n == 24"))
    (warning,) = found.warnings
    assert re.search(r"correctness: at n=24, m=(?!40\b)\d+: ", warning)
    assert found.variants["openmp"].others == ()


@pytest.mark.slow
@needs_openmp
def test_what_cannot_be_run_for_any_size_of_the_rest_is_left_out(
    parts: list[AtSize], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "if (n == 24)" in _together(parts, until=LATE).codes["openmp"].body
    monkeypatch.setattr(tune_run, "awkward_sizes", lambda analysis, fixed: ())
    found = _together(parts, until=LATE)
    assert "if (n == 24)" not in found.codes["openmp"].body
    assert "n == 24 && m == 40" in found.codes["openmp"].body
    assert found.warnings == ()


@pytest.mark.alike(4)
@needs_openmp
@pytest.mark.parametrize("sizes", ["n == 16 && m == 40", "n == 24 && m == 40"])
@pytest.mark.parametrize(
    ("when", "seen"), [("1", ""), ("x[0] == x[1] && x[1] == x[2]", "on .*: ")], ids=["ever", "odd"]
)
@pytest.mark.parametrize("until", [LATE, IN_TIME], ids=["late", "in time"])
def test_a_text_that_is_wrong_at_one_size_is_not_written(
    parts: list[AtSize], sizes: str, when: str, seen: str, until: float
) -> None:
    found = _together(parts, _Wrong(sizes, when), until)
    (own, _) = parts[0].sought.contests["openmp"].tried
    assert found.codes["openmp"] == own.code
    assert found.variants["openmp"].others == ()
    assert found.result.sizes_checked == ()
    (warning,) = found.warnings
    assert warning.startswith("openmp is tuned for n=16, m=40 alone: the text for several sizes ")
    at = sizes.replace(" == ", "=").replace(" &&", ",")
    assert re.search(f"correctness: at {at}: (threads in .* order: )?{seen}", warning)
    # Each winner has been proved alone, and stays.
    for (first, _), row in zip(_trials(found), _rows(found), strict=True):
        assert str(first.facts[BRANCHES]).startswith("all ")
        assert (row.config, row.reason) == (first.config, "")


@pytest.mark.slow
@needs_openmp
def test_a_winner_that_fails_alone_makes_room_for_the_next(parts: list[AtSize]) -> None:
    second = parts[1].sought.contests["openmp"]
    bad, good = second.tried
    assert bad.variant is not None
    target = _Wrong("n == 24 && m == 40", only=bad.variant.tuned)
    bad = replace(bad, code=target.region(bad.variant, False))
    contest = replace(second, tried=(bad, good), ranked=(bad, good))
    wrong = replace(parts[1].sought, contests={"openmp": contest})
    found = _together([parts[0], replace(parts[1], sought=wrong)], target)
    assert found.warnings == ()
    assert "y[0] += 1" not in found.codes["openmp"].body
    one, other = found.variants["openmp"].by_size
    assert good.variant is not None
    assert other.tuned is good.variant.tuned
    assert one.tuned.constants["n"] == 16
    first, last = _trials(found)
    assert [trial.status for trial in first] == [Status.CORRECT] * 2
    assert [trial.status for trial in last] == [Status.CORRECTNESS, Status.CORRECT]
    assert [row.config for row in _rows(found)] == [first[0].config, last[1].config]
    assert str(last[1].facts[BRANCHES]) == str(first[0].facts[BRANCHES])


@needs_openmp
@pytest.mark.usefixtures("never_alone")
def test_what_there_is_no_time_to_prove_stands_in_the_row_of_each_size(
    parts: list[AtSize], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotune.measure.plan.LONG_ITERATIONS", 0)
    found = _together(parts, until=LATE)
    assert found.result.sizes_checked == ({"n": 24, "m": 40},)
    reasons = {row.reason for row in _rows(found)}
    (reason,) = reasons
    assert reason.startswith("no time was left to prove it at other sizes, ")
    assert ", in each of its branches" in reason
    assert found.warnings == (f"openmp: {reason}; `annotune verify DIR` does it later",)
    for first, second in _trials(found):
        assert first.facts[NOT_PROVED] == reason.partition("prove it ")[2]
        assert NOT_PROVED not in second.facts


@needs_openmp
def test_what_there_is_no_time_to_prove_is_run_at_each_size_all_the_same(
    parts: list[AtSize], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotune.measure.plan.LONG_ITERATIONS", 0)
    monkeypatch.setattr("annotune.measure.plan.SANITIZE_ITERATIONS", 0)
    found = _together(parts, _Wrong("n == 24 && m == 40"), LATE)
    assert found.variants["openmp"].others == ()
    assert "at n=24, m=40: " in found.warnings[-1]


@needs_openmp
def test_what_is_slower_than_the_original_is_in_the_text_all_the_same(parts: list[AtSize]) -> None:
    quick = Trial("sequential", {}, Status.CORRECT, 1e-9, times_s=(1e-9,) * 9, verified=True)
    sought = parts[1].sought
    originals = {**sought.found, "sequential": TargetResult((quick,), Tried(0, quick))}
    slow = replace(parts[1], sought=replace(sought, found=originals))
    found = _together([parts[0], slow])
    assert len(found.variants["openmp"].others) == 1
    assert "n == 24" in found.codes["openmp"].body
    assert [row.verified for row in _rows(found)] == [True, True]
    assert [row.reason for row in _rows(found)] == ["", ""]
    assert "openmp" in _together([slow, slow]).codes


@needs_openmp
def test_a_size_without_a_winner_has_the_general_kernels(parts: list[AtSize]) -> None:
    first, second = parts
    contest = replace(second.sought.contests["openmp"], ranked=())
    none = replace(second, sought=replace(second.sought, contests={"openmp": contest}))
    found = _together([first, none])
    assert "n == 24" not in found.codes["openmp"].body
    assert found.result.sizes_checked == ({"n": 24, "m": 40},)


@pytest.mark.slow
@needs_openmp
def test_run_tunes_each_size_and_writes_one_text(tmp_path: Path) -> None:
    path = tmp_path / "user.c"
    path.write_text(TEXT)
    config = RunConfig(budget=4, time_s=20, compilers=2, jobs=2)
    report = pipeline.run(Settings(path, ("openmp",)), Request(config, os.environ))
    (region,) = results_json(report.results)["regions"]
    assert region["sizes"] == {"n": 16, "m": 40}
    assert region["sizes_checked"] == [{"n": 24, "m": 40}]
    (other,) = region["by_size"]
    assert other["sizes"] == {"n": 24, "m": 40}
    for one in (region, other):
        row = next(row for row in one["rows"] if row["name"] == "openmp")
        assert (row["status"], row["verified"]) == ("measured", True)
        assert len([t for t in one["trials"] if t["target"] == "openmp"]) == 2
    assert other["flop"] == region["flop"] * 24 * 24 // (16 * 16)
    text = report.results.texts["user_omp.c"]
    for n in (16, 24):
        assert f"* f, region 1: tuned for n={n}, m=40, valid for all sizes; " in text
    assert text.count(" us measured on ") == 2
    assert "* f, region 1: for all other sizes the first one's general kernels\n" in text
    json.dumps(region, allow_nan=False)


@needs_openmp
def test_a_size_that_is_refused_leaves_the_others(parts: list[AtSize]) -> None:
    asked: list[tuple[int, int]] = []

    def at_size(number: int, budget: int, share_s: float) -> AtSize:
        asked.append((number, budget))
        if number == 1:
            raise AnnotuneError.of(Template("AT999", "no such size").at(Span("user.c", 1, 1)))
        return parts[0]

    names = ["n=16", "n=24"]
    found = tune_each(names, at_size, 5, TimeShares([300.0, 300.0]), [OpenMpTarget()])
    assert asked == [(0, 3), (1, 2)]
    assert found.codes == {"openmp": parts[0].sought.contests["openmp"].tried[0].code}
    assert found.warnings == ("not tuned for n=24: no such size",)
    # The only one is proved, alone.
    assert str(_trials(found)[0][0].facts[BRANCHES]).startswith("all ")
    with pytest.raises(AnnotuneError):
        tune_each(names[:1], lambda *_: at_size(1, 1, 1.0), 5, TimeShares([1.0]), [])


@needs_openmp
def test_a_run_that_is_ended_begins_no_other_size(parts: list[AtSize]) -> None:
    stop = Stop()
    asked: list[int] = []

    def at_size(number: int, budget: int, share_s: float) -> AtSize:
        asked.append(number)
        stop.set()
        return parts[number]

    found = tune_each(["n=16", "n=24"], at_size, 5, TimeShares([0.5, 0.5]), [OpenMpTarget()], stop)
    assert asked == [0]
    assert list(found.codes) == ["openmp"]
    assert found.warnings == ("not tuned for n=24: the run was ended early",)


@needs_openmp
def test_what_each_size_leaves_to_the_proofs_is_kept_for_them(
    parts: list[AtSize], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    told: list[float] = []

    def at_size(number: int, budget: int, share_s: float) -> AtSize:
        told.append(share_s)
        return parts[number]

    def proved(found: object, targets: object, until: float) -> Tuned:
        told.append(until)
        return Tuned(parts[0].sought.tuned({"openmp": TargetResult()}).result)

    monkeypatch.setattr(tune_run, "together", proved)
    tune_each(["n=16", "n=24"], at_size, 5, TimeShares([20.0, 20.0]), [])
    assert told == [20.0, 35.0, 140.0]
