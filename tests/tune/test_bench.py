"""What each of several runs at once may hold."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from annotune.measure.check import Checker
from annotune.tune.bench import COPIES, LEAST_MIB, Bench

BENCH = Bench(cast(Checker, None), ({"n": 9},), (), 4, 8, 0.0, "this CPU", memory_mib=64_000)


def test_what_is_timed_has_the_machine_for_itself_and_checks_share_it() -> None:
    assert BENCH.plan(is_timed=True).limits.memory_mib == 64_000
    assert BENCH.plan(is_timed=False).limits.memory_mib == 8_000


def test_a_share_is_never_too_little_for_the_region_s_arrays() -> None:
    large = replace(BENCH, arrays_mib=5_000)
    assert large.plan(is_timed=False).limits.memory_mib == LEAST_MIB + COPIES * 5_000
    assert replace(BENCH, jobs=64 * 64).plan(is_timed=False).limits.memory_mib == LEAST_MIB


def test_no_limit_stays_none() -> None:
    assert replace(BENCH, memory_mib=0, arrays_mib=9).plan(is_timed=False).limits.memory_mib == 0
