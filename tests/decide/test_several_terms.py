"""Sums of which a thread has several terms at once: where, and is it right."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.recipes import Decided, decided_text, pasted
from support.executed import Call, Part, executable

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.schedule.candidate import Candidate
from annotune.strategies.registry import AUTO
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.unroll import Unroll

DOT = """\
void f(int n, double s[restrict 1], const double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = SIZE; } ) @*/
    for (int i = 0; i < n; i++)
        s[0] += a[i] * b[i];
    /*@ end @*/
}
"""
LEAST = 256 * 1024


def dot(size: int) -> str:
    return DOT.replace("SIZE", str(size))


def first(one: Decided) -> Candidate:
    return one.decision.choices[0]


@pytest.mark.parametrize(("size", "terms"), [(100_000_000, 5), (4 * LEAST, 4), (525_312, 2)])
def test_each_thread_has_as_many_terms_as_come_out_even(size: int, terms: int) -> None:
    one = decided_text(dot(size), AUTO)
    choice = first(one)
    assert [(step.loop, step.size) for step in choice.of(Tile)] == [("i", 256 * terms)]
    assert [(step.loop, step.workers) for step in choice.of(Cyclic)] == [("i", 256)]
    assert [step.factor for step in choice.of(Unroll)] == [terms]
    assert verify(certify(one.analysis, one.plan())) == ()


@pytest.mark.parametrize("size", [LEAST, 100_000_001, 5000, 100])
def test_other_sums_have_one(size: int) -> None:
    assert first(decided_text(dot(size), AUTO)).of(Cyclic) == ()


def test_other_sizes_have_one() -> None:
    general = first(decided_text(dot(4 * LEAST), AUTO)).general
    assert general is not None
    assert general.tiles == (("i", 256),)


def test_the_recipe_asks_for_the_same_plan() -> None:
    own = decided_text(dot(5 * LEAST), AUTO)
    again = decided_text(pasted(dot(5 * LEAST), own.region, own.recipe()), AUTO)
    assert again.plan().steps == own.plan().steps
    assert again.recipe() == own.recipe()


def test_it_is_right_at_every_size(tmp_path: Path) -> None:
    program = executable(tmp_path, dot(2 * LEAST))
    sizes = (2 * LEAST, 1, 7, 5003)
    calls = [Call("f", (n, Part(0), Part(1), Part(2)), (1, n, n)) for n in sizes]
    program.check(*calls, launches=True)
