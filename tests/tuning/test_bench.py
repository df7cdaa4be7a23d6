"""What each of several runs at once may hold."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from annotune.measure.check import Checker
from annotune.tuning.bench import COPIES, LEAST_MIB, SLOWER_PLAYED, Bench, Session
from annotune.tuning.config import RunConfig


def bench(arrays_mib: int = 0, jobs: int = 8, memory_mib: int = 64_000) -> Bench:
    """Return a bench of a region whose arrays take so much."""
    work = SimpleNamespace(bytes_read=arrays_mib << 20, bytes_written=0)
    oracle = SimpleNamespace(analysis=SimpleNamespace(total=work))
    checker = cast(Checker, SimpleNamespace(oracle=oracle))
    session = Session(RunConfig(jobs=jobs), cores=4, memory_mib=memory_mib)
    return Bench(session, checker, ({"n": 9},), (), 0.0, "this CPU")


def test_what_is_timed_has_the_machine_for_itself_and_checks_share_it() -> None:
    assert bench().plan(is_timed=True).limits.memory_mib == 64_000
    assert bench().plan(is_timed=False).limits.memory_mib == 8_000


def test_a_share_is_never_too_little_for_the_region_s_arrays() -> None:
    assert bench(5_000).plan(is_timed=False).limits.memory_mib == LEAST_MIB + COPIES * 5_000
    assert bench(jobs=64 * 64).plan(is_timed=False).limits.memory_mib == LEAST_MIB


def test_no_limit_stays_none() -> None:
    assert bench(9, memory_mib=0).plan(is_timed=False).limits.memory_mib == 0


def test_what_is_as_slow_as_the_original_is_not_given_up() -> None:
    short = replace(bench(), limit_s=5.0)
    assert short.plan(is_timed=False).limits.run_s == 5.0
    assert replace(short, original_s=0.1).plan(is_timed=False).limits.run_s == 5.0
    limits = replace(short, original_s=60.0).plan(is_timed=False).limits
    assert (limits.run_s, limits.compile_s) == (60.0 * SLOWER_PLAYED, 5.0)
