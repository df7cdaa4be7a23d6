"""The nests whose trials are counted are the same for annotune and for Orio."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import trial_rate
from trial_rate import FLAGS, FORMS, NESTS, grid_of, orio_file, orio_rate, our_rate, prepared

from annotune.tuning.store import in_memory


@pytest.mark.alike(2)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NESTS)
def test_a_nest_has_variants_with_all_flags(name: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(trial_rate.our_file(NESTS[name], form))
    bench, listing = prepared(tmp_path / "nest.c", in_memory())
    assert {config["flags"] for config in listing.configs} == set(FLAGS)
    # An open size is checked at awkward values too, a fixed one has none.
    assert len(bench.awkward) > 2 if form == "open" else not bench.awkward


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
def test_every_variant_is_right_and_on_the_record(tmp_path: Path) -> None:
    rate = our_rate(NESTS["axpy"], "fixed", 4, tmp_path)
    assert rate.variants == 4
    assert "all right" in rate.did
    assert (tmp_path / "trials.sqlite").exists()
