"""Who wins: right values are not enough, and a variant that fails makes room for the next."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.flags import Flags
from annotune.codegen.target import RegionCode, Target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Trial, Verdict
from annotune.space.variants import Listing, Variant
from annotune.tuning.bench import Bench, Session
from annotune.tuning.config import RunConfig, Wanted
from annotune.tuning.jobs import Contestant
from annotune.tuning.region_run import LONG_CHECK_S, too_late
from annotune.tuning.tuner import (
    TargetResult,
    baseline,
    measured,
    original_program,
    ran_once,
    unchecked,
)

TOOLS = find_toolchains(os.environ)
pytestmark = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

TEXT = """\
void f(int n, double *restrict y, const double *restrict x)
{
    int i;
    double t;
    /*@ begin PerfTuning (def input_params { param n = 100; }) @*/
    for (i = 0; i < n; i++) {
        t = 2 * x[i];
        y[i] = t;
    }
    /*@ end @*/
}
"""
LOOP = "for (int i = 0; i < n; i++) { t = 2 * x[i]; y[i] = t; }\n"
# With one thread, as here, both give the right values.
RACING = RegionCode(f"\n#pragma omp parallel for\n{LOOP}")
RIGHT = RegionCode(f"\n#pragma omp parallel for private(t)\n{LOOP}")


@dataclass
class _Unshared:
    both: None = None


@dataclass
class _Made:
    """A variant that is nothing but its code."""

    code: RegionCode
    tuned: _Unshared = field(default_factory=_Unshared)
    config: dict[str, str] = field(default_factory=dict)
    flags: Flags = field(default_factory=Flags)
    predicted_s: float | None = None
    model: None = None
    general: None = None
    is_for_tuned_alone: bool = False

    def plans(self) -> tuple[RegionCode]:
        return (self.code,)


class _Target:
    name = "openmp"

    def region(self, variant: _Made, resident: bool) -> RegionCode:
        return variant.code


# Squares overflow at the tuned size, where the original then leaves NaN; at 2 all is well.
OVERFLOWS = """\
void f(int n, double *restrict y, const double *restrict x)
{
    int i, j;
    /*@ begin PerfTuning (def input_params { param n = 100; }) @*/
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            y[i] = y[i] * y[i] + 4 * (x[j] + 2) - y[i] * y[i] * 2;
    /*@ end @*/
}
"""


# Wrong at one problem size alone.
PICKY = RegionCode(f"\nif (n == 77) y[0] = 0.25; else\n#pragma omp parallel for private(t)\n{LOOP}")


def _bench(folder: Path, text: str = TEXT, others: tuple[dict[str, int], ...] = ()) -> Bench:
    source = text_source(text)
    oracle = Oracle(source, analyse(source.regions[0]), TOOLS, folder)
    sizes: tuple[dict[str, int], ...] = ({"n": 100},)
    until = time.monotonic() + 600
    session = Session(RunConfig(), cores=1)
    checker = Checker(oracle)
    return Bench(session, checker, sizes, ({"n": 2},), until, "this CPU", others=others)


def listed(variants: Sequence[Variant]) -> Listing:
    configs, times = (v.config for v in variants), (v.predicted_s for v in variants)
    return Listing(tuple(configs), tuple(times), variants.__getitem__)


def _measured(folder: Path, codes: Sequence[RegionCode], text: str = TEXT) -> Any:
    variants = [cast(Variant, _Made(code)) for code in codes]
    bench = _bench(folder, text)
    return measured(bench, cast(Target, _Target()), "openmp", listed(variants), Wanted()).proved()


def test_a_race_is_no_winner(tmp_path: Path) -> None:
    outcome = _measured(tmp_path, [RACING])
    assert outcome.best is None
    (trial,) = outcome.trials
    assert (trial.status, trial.verified, trial.time_s) == (Status.CORRECTNESS, False, None)
    assert "data race" in trial.reason
    assert "data race" in outcome.note


def test_the_next_best_wins_where_the_fastest_races(tmp_path: Path) -> None:
    outcome = _measured(tmp_path, [RACING, RIGHT])
    assert outcome.code is RIGHT
    assert outcome.best.verified
    assert outcome.trials[1].status is Status.CORRECT


def test_a_winner_is_right_at_the_other_problem_sizes_too(tmp_path: Path) -> None:
    variants = [cast(Variant, _Made(code)) for code in (PICKY, RIGHT)]
    bench = _bench(tmp_path, others=({"n": 31}, {"n": 77}))
    outcome = measured(
        bench, cast(Target, _Target()), "openmp", listed(variants), Wanted()
    ).proved()
    assert outcome.code is RIGHT
    assert outcome.sizes == ({"n": 31}, {"n": 77})
    bench = _bench(tmp_path / "alone", others=({"n": 77},))
    alone = measured(
        bench, cast(Target, _Target()), "openmp", listed(variants[:1]), Wanted()
    ).proved()
    assert (alone.code, alone.trials[0].status) == (None, Status.CORRECTNESS)
    assert alone.trials[0].reason.startswith("at n=77: ")


def test_nothing_is_timed_where_the_original_gives_nothing_to_compare_with(tmp_path: Path) -> None:
    source = text_source(OVERFLOWS)
    place = source.regions[0].extent
    code = RegionCode("{" + OVERFLOWS[place.body_start : place.body_end] + "}")
    outcome = _measured(tmp_path, [code, RegionCode(f"{{ ; {code.body} }}")], OVERFLOWS)
    assert outcome.best is None
    assert "at n=100: the original leaves NaN" in outcome.note


def test_the_finals_have_times_of_their_own_and_the_original_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loops of less than a microsecond differ by chance.
    monkeypatch.setattr("annotune.tuning.tuner.BEATEN", math.inf)
    bench = _bench(tmp_path)
    place = bench.checker.oracle.source.regions[0].extent
    code = RegionCode("{" + TEXT[place.body_start : place.body_end] + "}")
    original = baseline(bench, "sequential", "c", {"original": code}, 1)
    assert original.contestant is not None
    variants = [cast(Variant, _Made(c)) for c in (RIGHT, RegionCode(f"{{ ; {LOOP} }}"))]
    looks: list[int] = []
    outcome = measured(
        bench,
        cast(Target, _Target()),
        "openmp",
        listed(variants),
        Wanted(),
        [original.contestant],
        lambda: looks.append(1),
    ).proved()
    assert outcome.best is not None
    assert outcome.best.final is not None
    assert outcome.best.final.verdict is Verdict.WINNER
    finals = [trial.final for trial in outcome.trials if trial.final is not None]
    assert len(finals) == 2
    assert list(outcome.rivals) == ["sequential"]
    for trial in outcome.trials:
        assert trial.final is not None
        # What the search saw stays, beside what the finals saw.
        assert trial.times_s
        assert trial.times_s != trial.final.times_s
        assert trial.facts["cache"] in ("cold", "warm")
    assert looks == [1]


def test_a_way_to_write_the_original_slower_than_a_timed_one_is_soon_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotune.tuning.tuner.LEAST_BESIDE_S", 0.2)
    forever = RegionCode("{ volatile int on = 1; while (on) ; }")
    codes = {"first": RegionCode(f"{{{LOOP}}}"), "second": forever}
    found = baseline(_bench(tmp_path), "openmp_naive", "openmp", codes, 1)
    first, second = found.trials
    assert found.best is first
    assert second.status is Status.TIMEOUT
    assert "killed after 0.2 s" in second.reason


class _Recorded(Checker):
    """Records the kinds of the programs that it checks."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(oracle)
        self.kinds: list[str] = []

    def check(self, program: Program, plan: CheckPlan) -> Trial:
        self.kinds.append(program.kind)
        return super().check(program, plan)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every original be a slow one."""
    monkeypatch.setattr("annotune.tuning.tuner.ONCE_S", 0.0)


@pytest.mark.usefixtures("impatient")
def test_the_one_run_of_a_slow_original_is_also_its_time(tmp_path: Path) -> None:
    bench = _bench(tmp_path)
    recorded = _Recorded(bench.checker.oracle)
    bench = replace(bench, checker=recorded)
    program = original_program("sequential", "c", "original", RegionCode(f"{{{LOOP}}}"))
    found = ran_once(bench, program)
    assert found is not None
    assert found.best is not None
    assert recorded.kinds == []
    reference = recorded.oracle.reference({"n": 100}, 1)
    assert found.best.times_s == (reference.took_s,)
    assert (found.best.status, found.best.verified) == (Status.CORRECT, True)
    assert found.contestant == Contestant("sequential", program, reference.took_s, 1)


def test_a_quick_original_is_timed_by_itself(tmp_path: Path) -> None:
    program = original_program("sequential", "c", "original", RegionCode(f"{{{LOOP}}}"))
    assert ran_once(_bench(tmp_path), program) is None


@pytest.mark.usefixtures("impatient")
def test_what_leaves_nothing_to_compare_with_runs_once_too(tmp_path: Path) -> None:
    bench = _bench(tmp_path, OVERFLOWS)
    place = bench.checker.oracle.source.regions[0].extent
    code = RegionCode("{" + OVERFLOWS[place.body_start : place.body_end] + "}")
    program = original_program("sequential", "c", "original", code)
    assert ran_once(bench, program) is None
    nothing = baseline(bench, "sequential", "c", {"original": code}, 1)
    assert nothing.best is None
    timed = unchecked(bench, nothing, program, 600.0).best
    assert timed is not None
    assert timed.time_s == bench.checker.oracle.reference({"n": 100}, 1).took_s


def test_an_original_that_was_ended_is_not_run_again(tmp_path: Path) -> None:
    source = text_source(TEXT)
    oracle = Oracle(source, analyse(source.regions[0]), TOOLS, tmp_path, limit_s=0.0)
    bench = replace(_bench(tmp_path / "other"), checker=Checker(oracle))
    reference = oracle.reference({"n": 100}, 1)
    assert reference.took_s == math.inf
    assert reference.problem.startswith("the original killed after")
    program = original_program("sequential", "c", "original", RegionCode(f"{{{LOOP}}}"))
    assert ran_once(bench, program) is None
    nothing = TargetResult((Trial("sequential", {}, Status.RUNTIME),))
    assert unchecked(bench, nothing, program, 600.0) is nothing


def test_of_what_is_predicted_nothing_that_takes_long_is_owed(tmp_path: Path) -> None:
    over = replace(_bench(tmp_path), until=0.0, original_s=LONG_CHECK_S + 50)
    assert "not tried" in too_late(over, is_measured=False)
    assert "70 s" in too_late(over, is_measured=False)
    assert not too_late(over, is_measured=True)
    assert not too_late(replace(over, original_s=LONG_CHECK_S), is_measured=False)
    assert not too_late(replace(over, until=time.monotonic() + 600), is_measured=False)
