"""The simulated loop obeys what any schedule must, and says that it is simulated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import worker_simulation
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from worker_simulation import RECORD, WORKERS, Record, read, simulate, write


def still() -> Callable[[], float]:
    """Return a clock by which a search takes no time."""
    return lambda: 0.0


def record(seconds: list[float], compile_s: float = 0.0) -> Record:
    configs = tuple({"TX": number} for number in range(len(seconds)))
    times = tuple(1.0 + number for number in range(len(seconds)))
    return Record("a law", configs, times, (compile_s,) * len(seconds), tuple(seconds))


@tried(40)
@given(
    st.lists(st.floats(0.01, 10.0), min_size=1, max_size=60),
    st.integers(1, 64),
    st.floats(0.0, 0.1),
)
def test_no_more_is_done_than_workers_can_and_no_worker_waits(
    seconds: list[float], workers: int, lead_s: float
) -> None:
    got = simulate(
        record(seconds), "exhaustive", workers, 1000, clock=still(), lead_s=lead_s, latency_s=0.0
    )
    assert got.trials == len(seconds)
    least = max(sum(seconds) / workers, max(seconds), lead_s * len(seconds))
    assert got.time_s >= least * (1 - 1e-9)
    # Graham's bound on a list of jobs, and the texts, which are made one after the other.
    bound = sum(seconds) / workers + max(seconds) + lead_s * len(seconds)
    assert got.time_s <= bound * (1 + 1e-9)


def test_one_worker_does_one_after_the_other() -> None:
    got = simulate(record([1.0, 2.0, 3.0], 0.5), "random", 1, 3, clock=still(), lead_s=0.0)
    assert got.time_s == pytest.approx(7.5 + 3 * worker_simulation.LATENCY_S)
    assert got.found == 1.0


def test_a_search_that_must_hear_of_its_points_keeps_fewer_workers_busy() -> None:
    same = record([1.0] * 60)

    def rate(name: str) -> float:
        return simulate(same, name, 32, 60, clock=still(), lead_s=0.0).rate

    assert rate("simplex") < rate("random")


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    one = Record("it", ({"TX": 8},), (None,), (0.5,), (1.5,))
    write(one, tmp_path / "one.json.gz")
    assert read(tmp_path / "one.json.gz") == one


def test_the_table_has_every_number_of_workers_and_says_what_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert worker_simulation.main(["--searches", "random", "--seeds", "1", "--budget", "32"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("SIMULATED from ")
    rows = [line.split() for line in said.splitlines() if line.startswith("random")]
    assert [int(row[1]) for row in rows] == list(WORKERS)
    assert read(RECORD).configs
