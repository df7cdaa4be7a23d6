"""Batches grow to what compiles in a few seconds; a part is of one command, and none is lost."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.codegen.target import RegionCode
from annotune.measure.program import TOGETHER, Program
from annotune.measure.trial import Status, Trial
from annotune.tuning.experiment import (
    BATCH,
    COMPILING_S,
    MOST,
    Batches,
    proofs_s,
    seconds_each,
)

FLAGS = (("-O1",), ("-O2",), ("-O3", "-funroll-loops"))


def program(flags: tuple[str, ...]) -> Program:
    return Program("openmp", "openmp", RegionCode(""), optimisation=flags)


@given(
    flags=st.lists(st.sampled_from(FLAGS), max_size=60),
    compilers=st.integers(1, 8),
    times=st.lists(st.floats(0, 10), min_size=3, max_size=3),
)
def test_a_part_is_of_one_command_and_every_program_is_in_one(
    flags: list[tuple[str, ...]], compilers: int, times: list[float]
) -> None:
    programs = [program(one) for one in flags]
    batches = Batches(compilers, 0.1)
    for one, each_s in zip(FLAGS, times, strict=True):
        batches.learn(program(one), each_s)
    parts = batches.parts(programs)
    assert sorted(place for part in parts for place in part) == list(range(len(programs)))
    assert all(len({flags[place] for place in part}) == 1 for part in parts)
    share = ceil(len(programs) / compilers)
    assert all(1 <= len(part) <= min(TOGETHER, share) for part in parts)


def test_what_takes_longest_is_begun_first() -> None:
    programs = [program(FLAGS[k % 3]) for k in range(12)]
    batches = Batches(2, 0.1)
    for flags, each_s in zip(FLAGS, (0.1, 0.3, 0.2), strict=True):
        batches.learn(program(flags), each_s)
    assert [programs[part[0]].optimisation for part in batches.parts(programs)] == [
        FLAGS[1],
        FLAGS[2],
        FLAGS[0],
    ]


def test_a_batch_is_what_compiles_in_a_few_seconds() -> None:
    batches = Batches(2, original_s=COMPILING_S / 10)
    assert batches.size == 20
    batches.learn(program(FLAGS[0]), COMPILING_S / 20)
    assert batches.size == 40
    batches.learn(program(FLAGS[0]), COMPILING_S)
    assert batches.size == BATCH
    batches.learn(program(FLAGS[0]), 0.0)
    assert batches.size == MOST
    assert Batches(2, original_s=0.0).size == 2 * TOGETHER


def test_compilers_work_beside_each_other_and_beside_the_clock_of_a_gpu() -> None:
    some = [Trial("cuda", {}, Status.CORRECT, compile_s=4.0, run_s=run_s) for run_s in (0.4, 0.6)]
    # One after the other waits for this processor's clock, and for the slower of two otherwise.
    assert seconds_each(some, 1, 1, is_quiet=True) == pytest.approx(4.5)
    assert seconds_each(some, 1, 1, is_quiet=False) == pytest.approx(4.0)
    assert seconds_each(some, 1, 16, is_quiet=True) == pytest.approx(0.75)
    assert seconds_each(some, 1, 16, is_quiet=False) == pytest.approx(0.5)
    assert seconds_each(some, 4, 16, is_quiet=False) == pytest.approx(0.25)


def test_proofs_that_are_made_together_take_as_long_as_the_longest() -> None:
    one = Trial("cuda", {}, Status.CORRECT, compile_s=2.0, run_s=1.0)
    alone, two, many = (proofs_s(10.0, one, jobs) for jobs in (1, 2, 64))
    assert alone > two > many > one.compile_s + one.run_s
    assert two == pytest.approx(10.0 + 4 * 2.0)
    assert proofs_s(10.0, one, 1000) == many
