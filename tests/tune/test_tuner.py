"""Who wins: right values are not enough, and a variant that fails makes room for the next."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.flags import Flags
from annotune.codegen.target import RegionCode, Target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Verdict
from annotune.space.variants import Listing, Variant
from annotune.tune.bench import Bench, Session
from annotune.tune.config import RunConfig, Wanted
from annotune.tune.tuner import measured

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
class _Made:
    """A variant that is nothing but its code."""

    code: RegionCode
    config: dict[str, str] = field(default_factory=dict)
    flags: Flags = field(default_factory=Flags)
    predicted_s: float | None = None
    model: None = None

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
    return measured(bench, cast(Target, _Target()), "openmp", listed(variants), Wanted())


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
    outcome = measured(bench, cast(Target, _Target()), "openmp", listed(variants), Wanted())
    assert outcome.code is RIGHT
    assert outcome.sizes == ({"n": 31}, {"n": 77})
    bench = _bench(tmp_path / "alone", others=({"n": 77},))
    alone = measured(bench, cast(Target, _Target()), "openmp", listed(variants[:1]), Wanted())
    assert (alone.code, alone.trials[0].status) == (None, Status.CORRECTNESS)
    assert alone.trials[0].reason.startswith("at n=77: ")


def test_nothing_is_timed_where_the_original_gives_nothing_to_compare_with(tmp_path: Path) -> None:
    source = text_source(OVERFLOWS)
    place = source.regions[0].extent
    code = RegionCode("{" + OVERFLOWS[place.body_start : place.body_end] + "}")
    outcome = _measured(tmp_path, [code, RegionCode(f"{{ ; {code.body} }}")], OVERFLOWS)
    assert outcome.best is None
    assert "at n=100: the original leaves NaN" in outcome.note


def test_the_finals_have_times_of_their_own_and_the_original_in_them(tmp_path: Path) -> None:
    from annotune.tune.tuner import baseline

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
    )
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
