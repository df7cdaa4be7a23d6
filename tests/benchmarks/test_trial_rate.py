"""The nests whose trials are counted are the same for annotune and for Orio."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import trial_rate
from trial_rate import FLAGS, NESTS, grid_of, orio_file, orio_rate, our_rate, programs

from annotune.settings import Settings


@pytest.mark.parametrize("name", NESTS)
def test_a_nest_has_variants_with_all_flags(name: str, tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(trial_rate.our_file(NESTS[name]))
    variants, _, plan = programs(Settings(tmp_path / "nest.c", ("openmp",)), 64)
    assert {" ".join(one.optimisation[1:]) for one in variants} == set(FLAGS)
    # The size stays open, so that awkward ones are checked too.
    assert len(plan.sizes) > 2


def test_orio_gets_the_grid_that_is_asked_for() -> None:
    text = orio_file(NESTS["mm"], (4, 3))
    assert "param UI[] = [1, 2, 3, 4];" in text
    assert "param UJ[] = [1, 2, 3];" in text
    assert f"param CFLAGS[] = {list(FLAGS)};" in text


@pytest.mark.parametrize(
    ("points", "axes", "grid"), [(10, 1, (10,)), (10, 2, (5, 2)), (16, 2, (4, 4)), (7, 2, (7, 1))]
)
def test_a_grid_has_as_many_points_as_there_are_variants(
    points: int, axes: int, grid: tuple[int, ...]
) -> None:
    assert grid_of(points, axes) == grid


def test_without_orio_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = [sys.executable, "-c", "import sys; sys.exit('ERROR: No matching distribution')"]
    monkeypatch.setattr(trial_rate, "installation", lambda _: fails)
    told = orio_rate(NESTS["axpy"], 8, tmp_path)
    assert told == f"{trial_rate.ORIO} cannot be installed: ERROR: No matching distribution"


@pytest.mark.slow
def test_every_variant_is_right(tmp_path: Path) -> None:
    rate = our_rate(NESTS["axpy"], 8, tmp_path)
    assert rate.variants == 8
    assert "all right" in rate.did
