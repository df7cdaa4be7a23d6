"""The loop: what it begins, in which order, what it does not do twice, and when it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest
from tuning.seeded import PATIENCE_S, all_right, bench, listing, searched, with_session

from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Trial
from annotune.tuning.bench import Bench
from annotune.tuning.config import RunConfig, Stop, Wanted
from annotune.tuning.experiment import BATCH, GIVEN_UP, NO_TIME, inert_axes
from annotune.tuning.store import in_memory
from annotune.tuning.tuner import TargetResult

TOOLS = find_toolchains(os.environ)
pytestmark = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

NAMES = ("right", "right too", "same as right", "right at last")


class _Killed(Exception):
    """Stands for a signal that ends the run."""


class _Checker:
    """Finds every variant right without running it; keeps the order, and may end the run."""

    def __init__(self, oracle: Oracle, killer: str = "") -> None:
        self.oracle = oracle
        self.asked: list[str] = []
        self._killer = killer

    def check(self, program: Program, plan: CheckPlan) -> Trial:
        deed = str(program.config["deed"])
        self.asked.append(deed)
        if deed == self._killer:
            raise _Killed
        has_time = plan.timing is not None
        trial = Trial(program.target, dict(program.config), Status.CORRECT, verified=True)
        return replace(trial, time_s=1e-6 if has_time else None, times_s=(1e-6,) * has_time)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench(tmp_path_factory.mktemp("oracle"), 1)


def run(
    made: Bench, killer: str = "", names: Sequence[str] = NAMES, wanted: Wanted | None = None
) -> tuple[TargetResult, list[str]]:
    """Return the outcome of a run, and what was checked in it, the winner's proof included."""
    checker = _Checker(made.checker.oracle, killer)
    # No finals: there is nothing to time.
    until = time.monotonic() + PATIENCE_S
    two = with_session(made, config=RunConfig(jobs=2))
    own = replace(two, checker=cast(Checker, checker), until=until)
    return searched(own, listing(tuple(names)), wanted), checker.asked


def deeds(outcome: TargetResult) -> list[str]:
    return [str(trial.config["deed"]) for trial in outcome.trials]


def test_a_second_run_checks_nothing_and_says_so(made: Bench) -> None:
    own = with_session(made, store=in_memory())
    first, checked = run(own)
    assert sorted(set(checked)) == ["right", "right at last", "right too"]
    assert first.searched is not None
    assert (first.searched.reused, first.searched.duplicates) == (0, 1)
    second, checked = run(own)
    assert checked == []
    assert deeds(second) == deeds(first) == list(NAMES)
    assert second.searched is not None
    assert (second.searched.reused, second.searched.evaluated) == (3, 3)
    assert all(trial.reused for trial in second.trials)
    assert {t.facts["reused"] for t in second.trials} == {
        "known from an earlier run",
        "the same text as another variant",
    }
    assert second.best is not None


def test_other_sizes_and_other_plans_are_other_trials(made: Bench) -> None:
    own = with_session(made, store=in_memory())
    run(own)
    _, checked = run(replace(own, awkward=({"n": 7},)))
    assert set(checked) == {"right", "right at last", "right too"}


def test_what_did_not_end_is_tried_again_after_all_others_and_not_a_third_time(
    made: Bench,
) -> None:
    own = with_session(made, store=in_memory())
    with pytest.raises(_Killed):
        run(own, killer="right")
    with pytest.raises(_Killed):
        _, checked = run(own, killer="right")
    outcome, checked = run(own)
    assert "right" not in checked
    row = outcome.trials[0]
    assert (row.config["deed"], row.status, row.reason) == ("right", Status.RUNTIME, GIVEN_UP)
    # Its twin has the same text.
    assert outcome.trials[2].reason == GIVEN_UP
    assert outcome.best is not None


def test_a_second_chance_comes_last(made: Bench) -> None:
    own = with_session(made, store=in_memory())
    with pytest.raises(_Killed):
        run(own, killer="right", names=("right",))
    outcome, checked = run(own)
    assert list(dict.fromkeys(checked)) == ["right too", "right at last", "right"]
    assert {trial.status for trial in outcome.trials} == {Status.CORRECT}


def test_no_second_chance_where_the_time_is_over(made: Bench) -> None:
    own = with_session(made, store=in_memory())
    with pytest.raises(_Killed):
        run(own, killer="right", names=("right",))
    stop = Stop()
    stop.set()
    outcome, checked = run(with_session(own, stop=stop), names=("right",))
    assert (checked, outcome.trials) == ([], ())
    checker = _Checker(made.checker.oracle)
    two = with_session(own, config=RunConfig(jobs=2))
    late = replace(two, checker=cast(Checker, checker), until=time.monotonic())
    outcome = searched(late, listing(("right", "right too")))
    assert [t.reason for t in outcome.trials if t.status is not Status.CORRECT] == [NO_TIME]


def test_one_right_variant_is_owed_when_the_time_is_over(made: Bench) -> None:
    checker = _Checker(made.checker.oracle)
    one = with_session(made, store=in_memory(), config=RunConfig())
    late = replace(one, checker=cast(Checker, checker), until=time.monotonic())
    names = ("right", "right too", "right at last")
    outcome = searched(late, listing(names))
    assert outcome.best is not None
    assert len(outcome.trials) == 1


def test_the_budget_is_for_different_texts(made: Bench) -> None:
    names = ("right", "same as right", "right too", "right at last")
    own = with_session(made, store=in_memory())
    outcome, _ = run(own, names=names, wanted=Wanted("exhaustive", budget=2))
    assert deeds(outcome) == ["right", "same as right", "right too"]
    assert outcome.searched is not None
    assert (outcome.searched.legal, outcome.searched.budget) == (4, 2)
    assert (outcome.searched.evaluated, outcome.searched.duplicates) == (2, 1)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", ["random", "gp", "tpe", "simplex", "genetic", "annealing"])
def test_every_search_comes_to_an_end(made: Bench, name: str) -> None:
    own = with_session(made, store=in_memory())
    names = (*NAMES, "refused")
    outcome, _ = run(own, names=names, wanted=Wanted(name, seed=1))
    assert outcome.best is not None
    assert 1 <= len(outcome.trials) <= len(names)
    assert len(set(deeds(outcome))) == len(outcome.trials)


class _Compilers:
    """Compile nothing, and keep for which points they were called, and what was checked then."""

    def __init__(self) -> None:
        self.points: set[int] = set()
        self.checking = 0
        self.met = threading.Event()
        self.second_batch = threading.Event()

    def __call__(
        self, programs: Sequence[Program], oracle: Oracle, limit_s: float, arch: str, niceness: int
    ) -> None:
        self.points |= {int(program.config["deed"]) for program in programs}
        if self.checking:
            self.met.set()
        if max(self.points) >= BATCH:
            self.second_batch.set()


class _Watched(_Checker):
    """A checker that others can see at work."""

    def __init__(self, oracle: Oracle, compilers: _Compilers, waits: bool) -> None:
        super().__init__(oracle)
        self._compilers, self._waits = compilers, waits

    def check(self, program: Program, plan: CheckPlan) -> Trial:
        self._compilers.checking += 1
        if self._waits:
            assert self._compilers.second_batch.wait(PATIENCE_S)
        time.sleep(0.005)
        found = super().check(program, plan)
        self._compilers.checking -= 1
        return found


@pytest.mark.parametrize("slots", [1, 2])
def test_compilers_work_ahead_but_never_beside_a_clock_of_this_processor(
    made: Bench, monkeypatch: pytest.MonkeyPatch, slots: int
) -> None:
    compilers = _Compilers()
    monkeypatch.setattr("annotune.tuning.experiment.compile_ahead", compilers)
    monkeypatch.setattr("annotune.tuning.tuner.finalists", lambda _: ())
    checker = _Watched(made.checker.oracle, compilers, waits=slots > 1)
    own = with_session(made, store=in_memory(), config=RunConfig(jobs=slots))
    own = replace(own, checker=cast(Checker, checker), until=time.monotonic() + PATIENCE_S)
    outcome = searched(own, all_right(2 * BATCH + 3))
    assert len(outcome.trials) == len(compilers.points) == 2 * BATCH + 3
    # With a slot that is timed here, the next ones are compiled when the slot is free.
    assert compilers.met.is_set() == (slots > 1)
    assert [t.config["deed"] for t in outcome.trials] == list(range(2 * BATCH + 3))


def test_an_axis_is_inert_where_it_never_changes_the_text() -> None:
    made = [
        ({"UF": 1, "IDLE": 1, "TX": 8}, "a"),
        ({"UF": 1, "IDLE": 2, "TX": 8}, "a"),
        ({"UF": 2, "IDLE": 1, "TX": 8}, "b"),
        ({"UF": 2, "IDLE": 2, "TX": 8}, "b"),
        # No two points differ in TX alone, so nothing is known of it.
        ({"UF": 3, "IDLE": 1, "TX": 16}, "a"),
    ]
    assert inert_axes(made) == ("IDLE",)
    assert inert_axes([*made, ({"UF": 3, "IDLE": 2, "TX": 16}, "c")]) == ()
    assert inert_axes([]) == ()
