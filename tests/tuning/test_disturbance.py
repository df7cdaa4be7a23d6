"""A busy machine is told of, by what tasks waited or else by its load."""

from __future__ import annotations

from annotune.measure.check import WAITED
from annotune.measure.trial import Status, Trial
from annotune.tuning.bench import BUSY_WORDS, busy_words
from annotune.tuning.region_run import disturbed
from annotune.tuning.tuner import TargetResult


def _trials(*shares: float) -> list[Trial]:
    return [Trial("openmp", {}, Status.CORRECT, 1.0, facts={WAITED: share}) for share in shares]


def test_a_quiet_machine_is_not_spoken_of() -> None:
    assert busy_words(_trials(0.0, 0.02, 0.5), 0.05, 9.0, 2) == ()
    assert busy_words([], None, 0.1, 2) == ()
    assert busy_words([], None, None, 2) == ()


def test_waiting_tasks_are_told_with_the_load() -> None:
    (words,) = busy_words(_trials(0.3, 0.4, 0.0), None, 3.25, 2)
    assert "waited for a processor in 30% of the timed runs" in words
    assert "a load of 3.2 before the search on 2 cores" in words


def test_without_such_a_count_the_load_decides() -> None:
    known = [Trial("openmp", {}, Status.CORRECT, 1.0, reused=True, facts={WAITED: 0.9})]
    assert busy_words(known, None, 0.2, 4) == ()
    (words,) = busy_words(known, None, 3.0, 4)
    assert "a load of 3.0" in words
    assert "waited" not in words


def test_busy_finals_are_told_after_a_quiet_search() -> None:
    (words,) = busy_words(_trials(0.0, 0.0), 0.25, None, 2)
    assert words.endswith("tasks waited for a processor in 25% of the timed runs on 2 cores")


def test_where_only_the_original_is_timed_it_is_told_too() -> None:
    found = {"sequential": TargetResult(tuple(_trials(1.0))), "cuda": TargetResult()}
    (words,) = disturbed(found, 3.0, 2)["sequential"].warnings
    assert words.startswith(BUSY_WORDS)
    found["sequential"] = TargetResult(tuple(_trials(0.0)))
    assert disturbed(found, 3.0, 2)["sequential"].warnings == ()
