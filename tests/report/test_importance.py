"""Importance of parameters: known functions, and no opinion where there is no ground for one."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from support.laws import IS_THOROUGH

from annotune.measure.trial import Status, Trial
from annotune.report import html
from annotune.report.html import LEAST_TRIALS, importance

AXES: Mapping[str, Sequence[int | str]] = {
    "tile": (1, 2, 4, 8, 16),
    "order": ("ijk", "jki", "kij"),
    "unroll": (1, 2, 4, 8),
}


@pytest.fixture(autouse=True)
def _small_forest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit few trees, which know as well as a hundred what such plain functions depend on."""
    if not IS_THOROUGH:
        monkeypatch.setattr(html, "TREES", 20)


def trials(time: Callable[..., float], count: int = 60) -> list[Trial]:
    """Return some points of the space in a mixed order, each with the time that `time` gives."""
    points = list(itertools.product(*AXES.values()))
    random.Random(5).shuffle(points)
    configs = [dict(zip(AXES, point, strict=True)) for point in points[:count]]
    return [Trial("cuda", c, Status.CORRECT, time(*c.values())) for c in configs]


def test_the_only_axis_that_matters_has_it_all() -> None:
    found = importance(trials(lambda tile, order, unroll: 1e-3 * tile))
    shares = dict(found.shares)
    assert shares["tile"] == pytest.approx(1, abs=0.05)
    assert shares["order"] == pytest.approx(0, abs=0.01)
    assert shares["unroll"] == pytest.approx(0, abs=0.01)
    assert found.explained == pytest.approx(1, abs=0.01)
    assert found.trials == 60


def test_additive_axes_share_the_variance() -> None:
    # In logarithms: 2 ln(2)^2 on `tile` of five powers, 2/9 ln(3)^2 on one of three orders.
    tile, order = 2 * math.log(2) ** 2, 2 / 9 * math.log(3) ** 2
    found = importance(trials(lambda t, o, u: t * (3 if o == "jki" else 1)))
    assert [name for name, _ in found.shares] == ["tile", "order", "unroll"]
    assert found.shares[0][1] == pytest.approx(tile / (tile + order), abs=0.05)
    assert found.shares[1][1] == pytest.approx(order / (tile + order), abs=0.05)


def test_axes_that_matter_only_together_both_do() -> None:
    found = importance(trials(lambda t, o, u: 2.0 if (t > 2) == (u > 2) else 1.0))
    shares = dict(found.shares)
    assert shares["tile"] > 0.7
    assert shares["unroll"] > 0.7
    assert shares["order"] < 0.1


def test_it_is_the_same_twice() -> None:
    made = trials(lambda t, o, u: t + u)
    assert importance(made) == importance(made)


def noise(*_: object) -> float:
    return math.exp(RANDOM.random())


RANDOM = random.Random(3)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ([], "takes 20 right trials of different programs, and there are 0"),
        (trials(lambda t, o, u: t, LEAST_TRIALS - 1), "there are 19"),
        (trials(lambda t, o, u: 1e-3), "took the same time"),
        ([Trial("cuda", {}, Status.CORRECT, 1.0 + n) for n in range(30)], "no parameter differs"),
        (trials(noise), "of the variance of trials that it has not seen"),
    ],
)
def test_no_opinion_without_ground(made: list[Trial], words: str) -> None:
    found = importance(made)
    assert found.shares == ()
    assert words in found.reason


def test_a_program_counts_once() -> None:
    made = trials(lambda t, o, u: t, LEAST_TRIALS)
    again = [replace(made[0], reused=True)] * 100
    assert importance([*made, *again]) == importance(made)
    assert importance([*made[1:], *again]).reason
